//! Objects of built-in kinds: fields that kustomize ignores, and objects that change nothing.

use super::for_kinds::dotted_paths;
use super::parts::fields;
use crate::config::record::{Record, Shape};
use crate::diag::{Code, Warning, nearest};
use crate::resource::Resource;
use rustomize_yaml::{Key, Node, Value};

/// The findings about an object of a built-in kind, whose fields are those of `records`. O(size of
/// the object).
pub fn findings(object: &Resource<'_>, kind: &str, records: &[Shape]) -> Vec<Warning> {
    let mut found = unknown_fields(object, kind, records);
    let specs = || fields(object.node()).filter(|(name, _)| name.eq_ignore_ascii_case("fieldSpecs"));
    found.extend(specs().flat_map(|(_, specs)| dotted_paths(specs)));
    let needs_specs = matches!(kind, "AnnotationsTransformer" | "LabelTransformer");
    if needs_specs && specs().all(|(_, specs)| specs.is_null_or_empty()) {
        let message = format!("the {kind} has no 'fieldSpecs': it changes nothing");
        let map = if kind == "LabelTransformer" { "labels" } else { "annotations" };
        let hint = format!("add the fields to change, as in fieldSpecs: [{{path: metadata/{map}, create: true}}]");
        found.push(Warning::new(Code::NoEffect, message).at(object.pos()).hint(hint));
    }
    found
}

/// The findings about fields that the kind, and the mappings inside it, do not have: kustomize
/// ignores them. O(size of the object).
fn unknown_fields(object: &Resource<'_>, kind: &str, records: &[Shape]) -> Vec<Warning> {
    let records: Vec<&Record> = records.iter().filter_map(Shape::record).collect();
    let mut search = Search { kind, way: Vec::new(), found: Vec::new() };
    search.fields(object.node(), &records, &["apiVersion", "kind", "metadata"]);
    search.found
}

/// The search for unknown fields of an object.
struct Search<'k, 'n> {
    kind: &'k str,
    /// The fields that lead to the mapping that is searched.
    way: Vec<&'n str>,
    found: Vec<Warning>,
}

impl<'n> Search<'_, 'n> {
    /// Looks at the fields of a mapping that has those of some records, and `own` ones.
    fn fields(&mut self, node: &'n Node<'_>, records: &[&'static Record], own: &[&'static str]) {
        if records.iter().any(|record| record.is_open) {
            return;
        }
        let known = || records.iter().flat_map(|record| record.fields);
        for entry in node.as_mapping().into_iter().flat_map(|fields| fields.iter()) {
            let name = entry.key().text();
            match known().find(|field| field.name.eq_ignore_ascii_case(name)) {
                Some(field) => {
                    self.way.push(name);
                    self.value(entry.value(), &field.shape);
                    self.way.pop();
                }
                None if own.iter().any(|own| own.eq_ignore_ascii_case(name)) => {}
                None => {
                    let names: Vec<&str> = known().map(|field| field.name).collect();
                    self.found.push(self.finding(entry.key(), &names));
                }
            }
        }
    }

    fn value(&mut self, node: &'n Node<'_>, shape: &'static Shape) {
        match (node.value(), shape) {
            (Value::Mapping(_), Shape::Record(record)) => self.fields(node, &[record], &[]),
            (Value::Sequence(items), Shape::List(of)) => items.iter().for_each(|item| self.value(item, of)),
            _ => {}
        }
    }

    /// The finding about a field beside which there may be others of these names.
    fn finding(&self, key: &Key<'_>, names: &[&str]) -> Warning {
        let place = match self.way[..] {
            [] => String::new(),
            ref way => format!(" in '{}'", way.join(".")),
        };
        let message = format!("the kind {} has no field '{}'{place}: kustomize ignores it", self.kind, key.text());
        let hint = match nearest(key.text(), names.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("the fields are: {}", names.join(", ")),
        };
        Warning::new(Code::UnknownField, message).at(key.pos()).hint(hint)
    }
}
