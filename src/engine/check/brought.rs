//! [`Kinds`]: finds the fields that a patch would bring and that the kind of a resource does not
//! have.
//!
//! A field counts as known if any version of Kubernetes has it. Null values and the directive
//! `$patch` bring nothing; the other directives of kubectl are unknown fields. Other tools replace
//! names with `$`, braces, `%` or `<`, and names as `REPLACE_ME`.

use super::kubernetes::Known;
use super::rules::{Rule, RuleId, Shape, Struct, Table};
use super::walk::is_of_sops;
use super::way::{Step, shown};
use super::{Definitions, definitions};
use crate::diag::{is_placeholder, nearest};
use crate::resource::ResMap;
use crate::schema::Gvk;
use rustomize_yaml::{Node, Pos, Value};

/// The most unknown fields that are looked for in a patch or an operation.
pub(crate) const MOST_UNKNOWN: usize = 100;

/// At most this many mappings inside each other are searched for a field of the same name.
const DEPTH_OF_HINTS: usize = 3;

/// The schemas of the kinds that patches are for.
#[derive(Debug)]
pub(crate) struct Kinds<'a> {
    known: &'static Known,
    /// The CustomResourceDefinitions of the tree.
    definitions: Definitions<'a>,
}

/// A field that the schema of a kind does not have.
#[derive(Debug)]
pub(crate) struct Unknown<'n> {
    way: Vec<Step<'n>>,
    /// The place of its name.
    pub pos: Pos,
    /// The field that is most likely meant.
    pub hint: Option<String>,
}

impl Unknown<'_> {
    /// The path, as messages show it.
    pub(crate) fn path(&self) -> String {
        shown(&self.way)
    }

    /// Returns true if a resource has the field, in any item of the lists on the way.
    pub(crate) fn is_in(&self, resource: &Node<'_>) -> bool {
        has(resource, &self.way)
    }
}

fn has(node: &Node<'_>, way: &[Step<'_>]) -> bool {
    let Some((step, rest)) = way.split_first() else { return true };
    match (step, node.value()) {
        (Step::Field(name), Value::Mapping(fields)) => fields.get(name).is_some_and(|value| has(value, rest)),
        (Step::Item(_), Value::Sequence(items)) => items.iter().any(|item| has(item, rest)),
        _ => false,
    }
}

impl<'a> Kinds<'a> {
    /// The kinds of Kubernetes, and the wanted ones among those that the tree defines. O(resources
    /// + size of the wanted definitions).
    pub(crate) fn new(map: &ResMap<'a>, is_wanted: impl Fn(&str) -> bool) -> Self {
        Kinds { known: Known::of_all(), definitions: definitions(map, is_wanted) }
    }

    /// Returns true for a kind of a group of Kubernetes itself.
    pub(crate) fn is_of_kubernetes(&self, gvk: &Gvk<'_>) -> bool {
        self.known.has_group(gvk.group)
    }

    /// The unknown fields in a patch that has the form of a resource. O(size of the patch).
    pub(crate) fn unknown<'n>(&self, gvk: &Gvk<'_>, patch: &'n Node<'_>) -> Vec<Unknown<'n>> {
        let mut found = Vec::new();
        let is_custom = match self.definitions.get(gvk) {
            Some(definition) => {
                definition.table().into_iter().for_each(|table| search(table, 0, patch, Vec::new(), &mut found));
                true
            }
            None => false,
        };
        match (self.known.rule(gvk), patch.get("metadata")) {
            (_, Some(metadata)) if is_custom => {
                search(self.known.table(), self.known.metadata(), metadata, vec![Step::Field("metadata")], &mut found);
            }
            (Some(rule), _) if !is_custom => search(self.known.table(), rule, patch, Vec::new(), &mut found),
            _ => {}
        }
        found
    }

    /// The unknown fields on a way into a resource, or else in the value that is put there.
    pub(crate) fn unknown_at<'n>(
        &self,
        gvk: &Gvk<'_>,
        way: &[&'n str],
        value: Option<&'n Node<'_>>,
    ) -> Vec<Unknown<'n>> {
        let known = self.known;
        let start = match (self.definitions.get(gvk), way) {
            (Some(_), ["metadata", ..]) => Some((known.table(), known.metadata(), 1)),
            (Some(definition), _) => definition.table().map(|table| (table, 0, 0)),
            (None, _) => known.rule(gvk).map(|rule| (known.table(), rule, 0)),
        };
        let mut found = Vec::new();
        let Some((table, mut id, first)) = start else { return found };
        let mut steps: Vec<Step<'n>> = way[..first].iter().map(|name| Step::Field(name)).collect();
        for name in &way[first..] {
            let Some(rule) = table.rules.get(id as usize) else { return found };
            id = match &rule.shape {
                Shape::List(of) => {
                    steps.push(Step::Item(name.parse().unwrap_or_default()));
                    *of
                }
                Shape::Map(of) => {
                    steps.push(Step::Field(name));
                    *of
                }
                Shape::Struct(fields) => {
                    steps.push(Step::Field(name));
                    match fields.field(name).map(|field| field.rule).or(fields.rest) {
                        Some(rule) => rule,
                        None if is_replaced(name) => return found,
                        None => {
                            found.push(Unknown { way: steps, pos: Pos::NONE, hint: hint(table, fields, name) });
                            return found;
                        }
                    }
                }
                _ => return found,
            };
        }
        value.into_iter().for_each(|value| search(table, id, value, steps.clone(), &mut found));
        found
    }
}

/// Adds the unknown fields in a value.
fn search<'n>(table: &Table<'_>, rule: RuleId, node: &'n Node<'_>, way: Vec<Step<'n>>, found: &mut Vec<Unknown<'n>>) {
    if let Some(rule) = table.rules.get(rule as usize) {
        Search { table, way, found }.value(rule, node);
    }
}

struct Search<'t, 'n> {
    table: &'t Table<'t>,
    way: Vec<Step<'n>>,
    found: &'t mut Vec<Unknown<'n>>,
}

impl<'t, 'n> Search<'t, 'n> {
    fn value(&mut self, rule: &'t Rule<'t>, node: &'n Node<'_>) {
        match (node.value(), &rule.shape) {
            (Value::Mapping(mapping), Shape::Struct(fields)) if node.get_text("$patch") != Some("delete") => {
                for entry in mapping.iter() {
                    let (key, value) = (entry.key(), entry.value());
                    let rule = match fields.field(key.text()) {
                        Some(field) => Some(field.rule),
                        None if is_of_kubectl(key.text()) => {
                            let way = [&self.way[..], &[Step::Field(key.text())]].concat();
                            let hint = Some(
                                "remove it: of the directives of kubectl, kustomize knows '$patch' alone".to_owned(),
                            );
                            self.found.push(Unknown { way, pos: key.pos(), hint });
                            continue;
                        }
                        None if value.is_null() || is_replaced(key.text()) => continue,
                        None if self.way.is_empty() && is_of_sops(key.text(), value) => continue,
                        None => fields.rest,
                    };
                    match rule {
                        Some(rule) => self.part(rule, Step::Field(key.text()), value),
                        None if self.found.len() >= MOST_UNKNOWN => return,
                        None => {
                            let way = [&self.way[..], &[Step::Field(key.text())]].concat();
                            let hint = hint(self.table, fields, key.text());
                            self.found.push(Unknown { way, pos: key.pos(), hint });
                        }
                    }
                }
            }
            (Value::Mapping(mapping), Shape::Map(of)) => {
                mapping.iter().for_each(|entry| self.part(*of, Step::Field(entry.key().text()), entry.value()));
            }
            (Value::Sequence(items), Shape::List(of)) => {
                items.iter().enumerate().for_each(|(i, item)| self.part(*of, Step::Item(i), item));
            }
            _ => {}
        }
    }

    fn part(&mut self, rule: RuleId, step: Step<'n>, node: &'n Node<'_>) {
        let Some(rule) = self.table.rules.get(rule as usize) else { return };
        if node.as_scalar().is_none() {
            self.way.push(step);
            self.value(rule, node);
            self.way.pop();
        }
    }
}

/// Returns true for a directive of kubectl's merge patches that kustomize prints as a field.
fn is_of_kubectl(name: &str) -> bool {
    name == "$retainKeys" || ["$setElementOrder/", "$deleteFromPrimitiveList/"].iter().any(|of| name.starts_with(of))
}

/// Returns true for a directive, and for a name that another tool replaces, such as `REPLACE_ME`.
fn is_replaced(name: &str) -> bool {
    is_placeholder(name) || name.contains('_') && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// The field that a name stands for: one of nearly that name beside it, or one of that name further
/// inside.
fn hint(table: &Table<'_>, fields: &Struct<'_>, name: &str) -> Option<String> {
    // A path of a JSON patch has slashes.
    if let Some((first, _)) = name.split_once('.')
        && fields.field(first).is_some()
    {
        return Some(format!("did you mean '/{}'?", name.replace('.', "/")));
    }
    if let Some(near) = nearest(name, fields.fields().iter().map(|field| field.name)) {
        return Some(format!("did you mean '{near}'?"));
    }
    let inside = (1..=DEPTH_OF_HINTS).find_map(|depth| inside(table, fields, name, depth));
    inside.map(|path| format!("did you mean '{path}'?"))
}

/// The path of a field with a name that is this many mappings further inside.
fn inside(table: &Table<'_>, fields: &Struct<'_>, name: &str, depth: usize) -> Option<String> {
    if depth == 0 {
        return fields.field(name).map(|_| name.to_owned());
    }
    fields.fields().iter().filter(|field| !matches!(field.name, "metadata" | "status")).find_map(|field| {
        let Shape::Struct(fields) = &table.rules.get(field.rule as usize)?.shape else { return None };
        inside(table, fields, name, depth - 1).map(|path| format!("{}.{path}", field.name))
    })
}
