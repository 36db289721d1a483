//! Objects of built-in kinds: fields that kustomize ignores, and objects that change nothing.

use super::for_kinds::dotted_paths;
use super::parts::fields;
use crate::config::record::Shape;
use crate::diag::{Code, Warning, nearest};
use crate::resource::Resource;
use rustomize_yaml::Key;

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

/// The finding about each field that the kind does not have: kustomize ignores it.
fn unknown_fields(object: &Resource<'_>, kind: &str, records: &[Shape]) -> Vec<Warning> {
    let records = || records.iter().filter_map(Shape::record);
    if records().any(|record| record.is_open) {
        return Vec::new();
    }
    let names = || records().flat_map(|record| record.fields).map(|field| field.name);
    let own = ["apiVersion", "kind", "metadata"];
    let is_known = |key: &str| own.into_iter().chain(names()).any(|name| name.eq_ignore_ascii_case(key));
    let entries = object.node().as_mapping().into_iter().flat_map(|fields| fields.iter());
    let unknown = entries.map(|entry| entry.key()).filter(|key| !is_known(key.text()));
    let finding = |key: &Key<'_>| {
        let message = format!("the kind {kind} has no field '{}': kustomize ignores it", key.text());
        let hint = match nearest(key.text(), names()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("the fields are: {}", names().collect::<Vec<_>>().join(", ")),
        };
        Warning::new(Code::UnknownField, message).at(key.pos()).hint(hint)
    };
    unknown.map(finding).collect()
}
