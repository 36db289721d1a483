//! [`Definition`]: a version of a kind that a CustomResourceDefinition defines, compiled.
//!
//! Nothing that the definition gets wrong is an error here: a part that says nothing of use allows
//! every value, and the manifest itself is held to the schema of its own kind.

use super::kind::api_version;
use super::rules::{Field, Limit, Rule, RuleId, Shape, Struct, Table};
use crate::diag::{Code, Warning};
use crate::resource::Resource;
use rustomize_base::meter::FastSet;
use rustomize_go_regexp::GoRegex;
use rustomize_yaml::{Node, Pos, Scalar};

/// The deepest nesting of a schema that is compiled. Deeper fields may have any value.
const MOST_DEPTH: usize = 200;

/// Group and kind that a manifest defines.
pub(super) fn defined_kind<'a>(manifest: &Node<'a>) -> Option<(&'a str, &'a str)> {
    let spec = manifest.get("spec")?;
    Some((spec.get_text("group")?, spec.get("names")?.get_text("kind")?))
}

/// A version of a defined kind.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    state: State,
    /// The names of the versions that are served.
    served: Vec<&'a str>,
    /// `Cluster` or `Namespaced`.
    scope: Option<&'a str>,
    table: Option<Table<'a>>,
}

/// The state of a version, as its definition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Served,
    Deprecated,
    /// The version does not exist, or is not served.
    Missing,
}

impl<'a> Definition<'a> {
    /// Compiles the schema of a version. O(size of the manifest).
    pub(super) fn new(manifest: &Node<'a>, version: &str) -> Self {
        let spec = manifest.get("spec");
        let is_true = |node: Option<&Node<'_>>, field: &str| node.and_then(|n| n.get_text(field)) == Some("true");
        let versions: Vec<&Node<'a>> =
            spec.and_then(|spec| spec.get("versions")?.as_sequence()).into_iter().flatten().collect();
        let own = versions.iter().copied().find(|node| node.get_text("name") == Some(version));
        let mut served: Vec<&'a str> = versions
            .iter()
            .filter(|node| node.get_text("served") != Some("false"))
            .filter_map(|node| node.get_text("name"))
            .collect();
        // The older form has one version and one schema for all.
        let only = spec.and_then(|spec| spec.get_text("version")).filter(|_| versions.is_empty());
        served.extend(only);
        let state = match () {
            () if !served.contains(&version) => State::Missing,
            () if is_true(own, "deprecated") => State::Deprecated,
            () => State::Served,
        };
        let schema = own.and_then(|own| own.get("schema")).or_else(|| spec?.get("validation"));
        let schema = schema.and_then(|schema| schema.get("openAPIV3Schema")).filter(|_| state != State::Missing);
        let keeps = spec.and_then(|spec| spec.get_text("preserveUnknownFields"));
        let is_old = manifest.get_text("apiVersion") == Some("apiextensions.k8s.io/v1beta1");
        let keeps_unknown = keeps == Some("true") || is_old && keeps != Some("false");
        let scope = spec.and_then(|spec| spec.get_text("scope"));
        Definition { state, served, scope, table: schema.map(|schema| Compiler::compile(schema, keeps_unknown)) }
    }

    /// The scope of the kind, if the definition says it.
    pub(super) fn scope(&self) -> Option<&'a str> {
        self.scope
    }

    /// The rules; the first one is for the resource.
    pub(super) fn table(&self) -> Option<&Table<'a>> {
        self.table.as_ref()
    }

    /// The finding about a version that is deprecated or not served.
    pub(super) fn unusual_version(&self, resource: &Resource<'_>) -> Option<Warning> {
        let gvk = &resource.id().gvk;
        let named = format!("{} of {}", gvk.kind, api_version(gvk));
        let (code, message) = match self.state {
            State::Served => return None,
            State::Deprecated => {
                (Code::DeprecatedApi, format!("{named} is deprecated: its CustomResourceDefinition says so"))
            }
            State::Missing => (
                Code::UnknownKind,
                format!("{named} is not served: its CustomResourceDefinition does not have this version"),
            ),
        };
        let others: Vec<&str> = self.served.iter().copied().filter(|version| *version != gvk.version).collect();
        let pos = resource.node().get("apiVersion").map_or(Pos::NONE, Node::pos);
        let warning = Warning::new(code, message).at(pos).at(resource.pos());
        let warning = warning.in_field("apiVersion").in_resource(resource.id());
        let hint = (!others.is_empty()).then(|| format!("it serves {}", others.join(", ")));
        Some(hint.into_iter().fold(warning, Warning::hint))
    }
}

/// Makes rules of the schema objects of a definition.
struct Compiler<'a> {
    table: Table<'a>,
    /// True if fields that no schema names are kept everywhere.
    keeps_unknown: bool,
}

impl<'a> Compiler<'a> {
    fn compile(schema: &Node<'a>, keeps_unknown: bool) -> Table<'a> {
        let mut compiler = Compiler { table: Table::default(), keeps_unknown };
        let root = compiler.add(Rule::of(Shape::Any));
        let mut rule = compiler.rule(schema, MOST_DEPTH);
        if let Shape::Struct(fields) = &mut rule.shape {
            *fields = compiler.with_fields_of_objects(std::mem::take(fields));
        }
        compiler.table.rules[root as usize] = rule;
        compiler.table
    }

    fn add(&mut self, rule: Rule<'a>) -> RuleId {
        self.table.rules.push(rule);
        (self.table.rules.len() - 1) as RuleId
    }

    /// A rule and its number.
    fn part(&mut self, schema: &Node<'a>, depth: usize) -> RuleId {
        let rule = self.rule(schema, depth);
        self.add(rule)
    }

    fn rule(&mut self, schema: &Node<'a>, depth: usize) -> Rule<'a> {
        let says = |field: &str| schema.get_text(field) == Some("true");
        let mut rule = Rule { shape: Shape::Any, is_nullable: says("nullable"), limit: None };
        if depth == 0 {
            return rule;
        }
        rule.shape = match schema.get_text("type") {
            _ if says("x-kubernetes-int-or-string") => Shape::IntOrString,
            Some("string") => Shape::Text,
            Some("integer") if schema.get_text("format") == Some("int32") => Shape::Int32,
            Some("integer") => Shape::Int64,
            Some("number") => Shape::Number,
            Some("boolean") => Shape::Bool,
            Some("array") => match schema.get("items") {
                Some(items) => Shape::List(self.part(items, depth - 1)),
                None => Shape::List(self.add(Rule::of(Shape::Any))),
            },
            Some("object") => self.mapping(schema, depth),
            _ => Shape::Any,
        };
        rule.limit = limit(schema);
        rule
    }

    fn mapping(&mut self, schema: &Node<'a>, depth: usize) -> Shape<'a> {
        let says = |field: &str| schema.get_text(field) == Some("true");
        let mut fields = Vec::new();
        let required: FastSet<&str> = texts(schema.get("required")).map(|scalar| scalar.text()).collect();
        for entry in schema.get("properties").and_then(Node::as_mapping).into_iter().flat_map(|m| m.iter()) {
            let (name, property) = (entry.key().text(), entry.value());
            // A server fills in a default before it asks for required fields.
            let is_required = required.contains(name) && property.get("default").is_none();
            fields.push(Field { name, rule: self.part(property, depth - 1), is_required });
        }
        let others = schema.get("additionalProperties").filter(|others| !others.is_null());
        let is_false = others.and_then(Node::as_scalar).is_some_and(|scalar| scalar.text() == "false");
        let keeps = self.keeps_unknown || says("x-kubernetes-preserve-unknown-fields");
        let rest = match others {
            Some(others) if !is_false => Some(self.part(others, depth - 1)),
            _ => keeps.then(|| self.add(Rule::of(Shape::Any))),
        };
        if fields.is_empty()
            && let Some(rest) = rest
        {
            return Shape::Map(rest);
        }
        let fields = Struct::new(fields, rest);
        Shape::Struct(if says("x-kubernetes-embedded-resource") { self.with_fields_of_objects(fields) } else { fields })
    }

    /// Adds the fields that each object has. A server checks these by itself.
    fn with_fields_of_objects(&mut self, fields: Struct<'a>) -> Struct<'a> {
        let any = self.add(Rule::of(Shape::Any));
        let own = ["apiVersion", "kind", "metadata"];
        let others = fields.fields().iter().filter(|field| !own.contains(&field.name)).copied();
        let own = own.map(|name| Field { name, rule: any, is_required: false });
        Struct::new(others.chain(own).collect(), fields.rest)
    }
}

/// The scalars of a list.
fn texts<'n, 'a>(node: Option<&'n Node<'a>>) -> impl Iterator<Item = &'n Scalar<'a>> {
    node.and_then(Node::as_sequence).into_iter().flatten().filter_map(Node::as_scalar)
}

fn limit<'a>(schema: &Node<'a>) -> Option<Box<Limit<'a>>> {
    let choices: Vec<&'a str> = texts(schema.get("enum")).map(|scalar| scalar.text()).collect();
    // A pattern that Go does not take, or that is too large, is not checked.
    let pattern = schema.get_text("pattern");
    let pattern = pattern.and_then(|text| Some((GoRegex::new(text).ok()?, text)));
    (!choices.is_empty() || pattern.is_some()).then(|| Box::new(Limit { choices, pattern }))
}
