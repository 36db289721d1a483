//! The walk over a resource: each value is held to its rule. Without recursion, so that depth costs
//! memory alone.

use super::kept_quotes::WrittenResource;
use super::kubernetes::Known;
use super::rules::{Limit, Rule, RuleId, Shape, Struct, Table};
use super::unions::Pair;
use super::way::{Step, shown};
use crate::diag::{Code, Warning, is_encrypted, nearest};
use crate::resource::Resource;
use rustomize_base::meter::FastSet;
use rustomize_yaml::places::Places;
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::{Mapping, Node, Pos, Scalar, Value};
use std::cell::OnceCell;

/// Checks a resource by the rule of its kind. `places` are those of its files.
pub(super) fn builtin<'a>(
    places: &Places<'a>,
    resource: &Resource<'a>,
    known: &Known,
    rule: RuleId,
    findings: &mut Vec<Warning>,
) {
    let own = OnceCell::new();
    let written = WrittenResource::at(resource.pos(), places, &own);
    let mut walk = Walk { written, resource, visits: Vec::new(), findings };
    walk.value(resource.node(), known.table(), rule, TOP, Step::Field(""));
    walk.run();
}

/// Checks a resource by the rules of its definition, and its metadata by those of Kubernetes.
/// `places` are those of its files.
pub(super) fn custom<'a>(
    places: &Places<'a>,
    resource: &Resource<'a>,
    table: &Table<'_>,
    known: &Known,
    findings: &mut Vec<Warning>,
) {
    let own = OnceCell::new();
    let written = WrittenResource::at(resource.pos(), places, &own);
    let mut walk = Walk { written, resource, visits: Vec::new(), findings };
    walk.value(resource.node(), table, 0, TOP, Step::Field(""));
    if let Some(metadata) = resource.node().get("metadata") {
        walk.value(metadata, known.table(), known.metadata(), 0, Step::Field("metadata"));
    }
    walk.run();
}

/// The parent of the resource itself.
const TOP: u32 = u32::MAX;

/// A list or mapping, and the way to it.
struct Visit<'n, 'a, 't> {
    node: &'n Node<'a>,
    table: &'t Table<'t>,
    rule: &'t Rule<'t>,
    /// The visit of the value that has this one.
    parent: u32,
    step: Step<'n>,
}

/// The value that a finding is about: where it is in the resource, and in the sources.
#[derive(Clone, Copy)]
struct At<'n> {
    parent: u32,
    step: Step<'n>,
    pos: Pos,
}

struct Walk<'n, 'a, 't, 'f, 'o> {
    written: WrittenResource<'f, 'a, 'o>,
    resource: &'n Resource<'a>,
    /// Values that were visited, then those that will be.
    visits: Vec<Visit<'n, 'a, 't>>,
    findings: &'f mut Vec<Warning>,
}

impl<'n, 'a, 't> Walk<'n, 'a, 't, '_, '_> {
    fn run(&mut self) {
        let mut next = 0;
        while let Some(&Visit { node, table, rule, .. }) = self.visits.get(next) {
            let at = next as u32;
            match (node.value(), &rule.shape) {
                (Value::Sequence(items), Shape::List(of)) => {
                    for (i, item) in items.iter().enumerate() {
                        self.value(item, table, *of, at, Step::Item(i));
                    }
                }
                (Value::Mapping(mapping), Shape::Map(of)) => {
                    for entry in mapping.iter() {
                        self.value(entry.value(), table, *of, at, Step::Field(entry.key().text()));
                    }
                }
                (Value::Mapping(mapping), Shape::Struct(fields)) => self.fields(mapping, fields, table, at),
                _ => {}
            }
            next += 1;
        }
    }

    fn fields(&mut self, mapping: &'n Mapping<'a>, fields: &'t Struct<'t>, table: &'t Table<'t>, at: u32) {
        let mut required = 0;
        for entry in mapping.iter() {
            let (name, value) = (entry.key().text(), entry.value());
            let step = Step::Field(name);
            match (fields.field(name), fields.rest) {
                (Some(field), _) => {
                    let is_nullable = table.rules.get(field.rule as usize).is_none_or(|rule| rule.is_nullable);
                    required += usize::from(field.is_required && (is_nullable || !value.is_null()));
                    self.value(value, table, field.rule, at, step);
                }
                (None, Some(rest)) => self.value(value, table, rest, at, step),
                (None, None) if at == 0 && is_of_sops(name, value) => {}
                (None, None) => {
                    let near = nearest(name, fields.fields().iter().map(|field| field.name));
                    let names = || fields.fields().iter().map(|field| field.name).collect::<Vec<_>>();
                    let listed = || names().len() <= LISTED && !names().is_empty();
                    let hint = near.map(|near| format!("did you mean '{near}'?"));
                    let hint =
                        hint.or_else(|| listed().then(|| format!("the fields here are: {}", names().join(", "))));
                    let pos = Some(entry.key().pos()).filter(|pos| pos.is_in_source()).unwrap_or(value.pos());
                    self.find(Code::UnknownFieldOfKind, At { parent: at, step, pos }, hint, |of, path| {
                        format!("unknown field '{path}' of {of}")
                    });
                }
            }
        }
        if required < fields.required() && !self.is_status(at) {
            self.missing(mapping, fields, at);
        }
        if let Some(pair) = fields.union().and_then(|union| union.excluded(self.resource.id().gvk.kind, mapping)) {
            self.excluded(&pair, at);
        }
    }

    /// Adds the finding about two fields of which a server takes one.
    fn excluded(&mut self, Pair { old, new }: &Pair<'n, 'a>, at: u32) {
        let (old, name) = (old.key().text(), new.key().text());
        // A patch that changes the type leaves its key.
        let own = Some(new.key().pos()).filter(|pos| pos.is_in_source() && name != "type");
        let pos = own.unwrap_or(new.value().pos());
        // The type of a strategy stays.
        let (rule, hint) = match new.value().as_scalar().filter(|_| name == "type") {
            Some(kind) => {
                let kind = kind.text();
                let rule = format!("'{old}', which does not go with the type '{kind}'");
                (rule, format!("remove '{old}'; a patch that sets the type sets '{old}: null', too"))
            }
            None => {
                let rule = format!("'{old}' and '{name}', of which a server takes one");
                (rule, format!("remove one of the two; a patch that brings '{name}' sets '{old}: null', too"))
            }
        };
        self.find(
            Code::ConflictingFieldsOfKind,
            At { parent: at, step: Step::Field(""), pos },
            Some(hint),
            |of, path| format!("'{path}' of {of} has {rule}"),
        );
    }

    fn missing(&mut self, mapping: &Mapping<'a>, fields: &'t Struct<'t>, at: u32) {
        let present: FastSet<&str> = mapping.iter().filter(|e| !e.value().is_null()).map(|e| e.key().text()).collect();
        let pos = self.visits.get(at as usize).map_or(Pos::NONE, |visit| visit.node.pos());
        let names: Vec<&'t str> = fields.fields().iter().filter(|f| f.is_required).map(|f| f.name).collect();
        for name in names.into_iter().filter(|name| !present.contains(name)) {
            // A null that counts as a value is in the mapping.
            if mapping.get(name).is_some_and(Node::is_null)
                && fields.field(name).is_some_and(|f| self.takes_null(at, f.rule))
            {
                continue;
            }
            let hint = Some(format!("add '{name}'"));
            self.find(Code::MissingFieldOfKind, At { parent: at, step: Step::Field(""), pos }, hint, |of, path| {
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                format!("{of} needs the field '{path}'")
            });
        }
    }

    fn takes_null(&self, at: u32, rule: RuleId) -> bool {
        let visit = self.visits.get(at as usize);
        visit.and_then(|visit| visit.table.rules.get(rule as usize)).is_some_and(|rule| rule.is_nullable)
    }

    /// Returns true for a visit inside the status, which a server does not take from a manifest.
    fn is_status(&self, at: u32) -> bool {
        let mut first = Step::Field("");
        let mut at = at;
        while let Some(visit) = self.visits.get(at as usize).filter(|visit| visit.parent != TOP) {
            (first, at) = (visit.step, visit.parent);
        }
        matches!(first, Step::Field("status"))
    }

    /// Checks a value by a rule. The values inside it are visited later.
    fn value(&mut self, node: &'n Node<'a>, table: &'t Table<'t>, rule: RuleId, parent: u32, step: Step<'n>) {
        let Some(rule) = table.rules.get(rule as usize) else { return };
        let fits = match (node.value(), &rule.shape) {
            (_, Shape::Any) => true,
            (Value::Scalar(scalar), _) if is_placeholder(scalar.text()) => return,
            (Value::Scalar(scalar), shape) => is_of(scalar, shape),
            (Value::Sequence(_), Shape::List(_)) | (Value::Mapping(_), Shape::Map(_) | Shape::Struct(_)) => {
                self.visits.push(Visit { node, table, rule, parent, step });
                return;
            }
            _ => false,
        };
        let place = At { parent, step, pos: node.pos() };
        if !fits {
            let (expected, found) = (rule.shape.words(), node.shape());
            let hint = node.as_scalar().and_then(|scalar| mend(scalar, &rule.shape)).map(|mend| match mend {
                Mend::AddQuotes => "put the value into quotes".to_owned(),
                Mend::LeaveOutQuotes => self.written.hint(node.pos(), &self.way(parent, step)),
            });
            let hint = hint.or_else(|| other_shape(node, &rule.shape, step).map(str::to_owned));
            self.find(Code::WrongTypeOfKind, place, hint, |of, path| {
                format!("expected {expected} in '{path}' of {of}, found {found}")
            });
        } else if let (Some(limit), Some(scalar)) = (&rule.limit, node.as_scalar())
            && let Some(expected) = excess(scalar, limit)
        {
            self.find(Code::WrongTypeOfKind, place, None, |of, path| {
                format!("expected {expected} in '{path}' of {of}")
            });
        }
    }

    /// The way from the resource to a value.
    fn way(&self, parent: u32, step: Step<'n>) -> Vec<Step<'n>> {
        let (mut steps, mut at) = (vec![step], parent);
        while let Some(visit) = self.visits.get(at as usize) {
            steps.push(visit.step);
            at = visit.parent;
        }
        steps.reverse();
        steps
    }

    /// Adds a finding. `message` gets the kind and name of the resource, and the path of the value.
    fn find(&mut self, code: Code, at: At<'n>, hint: Option<String>, message: impl FnOnce(&str, &str) -> String) {
        let At { parent, step, pos } = at;
        let path = shown(&self.way(parent, step));
        let id = self.resource.id();
        let message = message(&format!("{} '{}'", id.gvk.kind, id.name), &path);
        let warning = Warning::new(code, message).at(pos).at(self.resource.pos());
        let warning = warning.in_field(path).in_resource(self.resource.id());
        self.findings.push(hint.into_iter().fold(warning, Warning::hint));
    }
}

/// At most this many fields are listed in a hint.
const LISTED: usize = 12;

/// The advice for a value whose shape is another one.
fn other_shape(node: &Node<'_>, wanted: &Shape, step: Step<'_>) -> Option<&'static str> {
    match (node.value(), wanted) {
        (Value::Mapping(_), Shape::Text) if matches!(step, Step::Field("matchLabels")) => {
            Some("write the labels in place of 'matchLabels'")
        }
        (Value::Mapping(_) | Value::Scalar(_), Shape::List(_)) => Some("write '- ' in front of each item"),
        (Value::Sequence(_), Shape::Map(_) | Shape::Struct(_)) => Some("leave out the '- ': one mapping belongs here"),
        (Value::Sequence(_) | Value::Mapping(_), Shape::Text) => Some("write one text here"),
        _ => None,
    }
}

/// Returns true if a scalar is of a type. A null is of every type: a server takes it for a missing
/// value.
fn is_of(scalar: &Scalar<'_>, shape: &Shape<'_>) -> bool {
    let kind = scalar.kind();
    let is_text = matches!(kind, Kind::Str | Kind::Timestamp | Kind::Binary);
    let is_number = matches!(kind, Kind::Int | Kind::Float);
    kind == Kind::Null
        || match shape {
            Shape::Any => true,
            Shape::Text => is_text,
            Shape::Bool => kind == Kind::Bool,
            Shape::Number => is_number,
            Shape::Int32 => is_number && integer(scalar).is_some_and(|n| i32::try_from(n).is_ok()),
            Shape::Int64 => is_number && integer(scalar).is_some(),
            Shape::Quantity => is_text || is_number,
            Shape::IntOrString => is_text || is_number && integer(scalar).is_some(),
            Shape::List(_) | Shape::Map(_) | Shape::Struct(_) => false,
        }
}

/// Returns true for a text that another tool replaces or decrypts before a server sees it:
/// `${REPLICAS}` by Flux, `{{ .Values.replicas }}` by Helm, `ENC[...]` by sops. Its value can be of
/// any type.
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let is_replaced = text.starts_with("${") && text.ends_with('}') || text.starts_with("{{") && text.ends_with("}}");
    is_replaced || is_encrypted(text)
}

/// The value of a number that is whole. JSON does not tell 1.0 from 1.
fn integer(scalar: &Scalar<'_>) -> Option<i64> {
    match scalar::int(scalar.text()) {
        Some(scalar::Int::Signed(n)) => Some(n),
        Some(scalar::Int::Unsigned(_)) => None,
        None => {
            let float = scalar::float(scalar.text())?;
            (float.fract() == 0.0 && float.abs() < 9e18).then_some(float as i64)
        }
    }
}

/// The change of quotes that mends a value.
enum Mend {
    AddQuotes,
    LeaveOutQuotes,
}

/// The change that makes a scalar one of the type, where quotes are all that is wrong.
fn mend(scalar: &Scalar<'_>, shape: &Shape<'_>) -> Option<Mend> {
    match (scalar.kind(), shape) {
        (Kind::Str, Shape::Int32 | Shape::Int64 | Shape::Number | Shape::Bool) => {
            let unquoted = Scalar::plain(scalar.text());
            (unquoted.kind() != Kind::Null && is_of(&unquoted, shape)).then_some(Mend::LeaveOutQuotes)
        }
        (Kind::Int | Kind::Float | Kind::Bool, Shape::Text) => Some(Mend::AddQuotes),
        _ => None,
    }
}

/// The values that a limit allows, in words, if a scalar is not among them.
fn excess(scalar: &Scalar<'_>, limit: &Limit<'_>) -> Option<String> {
    if scalar.is_null() {
        return None;
    }
    let text = scalar.text();
    if !limit.choices.is_empty() && !limit.choices.contains(&text) {
        let shown: Vec<String> = limit.choices.iter().take(8).map(|choice| format!("'{choice}'")).collect();
        let more =
            if limit.choices.len() > 8 { format!(" or {} others", limit.choices.len() - 8) } else { String::new() };
        let before = if shown.len() == 1 { "" } else { "one of " };
        return Some(format!("{before}{}{more}", shown.join(", ")));
    }
    let (pattern, written) = limit.pattern.as_ref()?;
    (!pattern.is_match(text)).then(|| format!("a text that matches {written}"))
}

/// Returns true for the field that sops adds to an encrypted resource: a controller decrypts the
/// resource, and removes the field, before a server sees it.
pub(super) fn is_of_sops(name: &str, value: &Node<'_>) -> bool {
    name == "sops" && value.get("mac").is_some()
}
