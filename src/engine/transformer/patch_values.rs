//! Values of earlier patches that a later patch of the same kustomization replaces or removes. A
//! build that is not asked for findings has none of this.
//!
//! Left out are fields that identify a resource or an item of a list, equal values, and the items
//! of lists that are not merged by exactly one key.

use crate::diag::{Code, Warning};
use crate::resource::ResMap;
use crate::schema::Schema;
use crate::stage::Overridden;
use rustomize_base::meter::FastMap;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Arena, Entry, Mapping, Node, Pos, Sequence, Value};
use std::collections::BTreeMap;

/// The fields of a resource that say its kind, and those of its metadata that say its name.
const OF_KIND: [&str; 2] = ["apiVersion", "kind"];
const OF_NAME: [&str; 2] = ["name", "namespace"];

/// The fields by which patches find items of lists.
const OF_ITEM: [&str; 13] = [
    "containerPort",
    "devicePath",
    "id",
    "ip",
    "key",
    "mountPath",
    "name",
    "port",
    "protocol",
    "topologyKey",
    "type",
    "uid",
    "whenUnsatisfiable",
];

/// Notes the values that a strategic merge patch is about to replace or remove in a resource.
/// O(size of the patch + items of the lists that it changes + size of what it removes).
pub(super) fn note_merge(overridden: &Overridden, resource: &Node<'_>, patch: &Node<'_>, schema: Schema<'_>) {
    let (Some(old), Some(new)) = (resource.as_mapping(), patch.as_mapping()) else { return };
    match new.get("$patch").filter(|directive| !directive.is_null()) {
        None => fields(overridden, (old, new), schema, &OF_KIND),
        Some(directive) if patch.get_text("$patch") == Some("delete") => {
            let fields = old.iter().filter(|entry| !OF_KIND.contains(&entry.key().text()));
            fields.for_each(|entry| match (entry.key().text(), entry.value().as_mapping()) {
                ("metadata", Some(metadata)) => {
                    let rest = metadata.iter().filter(|entry| !OF_NAME.contains(&entry.key().text()));
                    rest.for_each(|entry| displaced(overridden, entry.value(), None, directive.pos()));
                }
                _ => displaced(overridden, entry.value(), None, directive.pos()),
            });
        }
        // Replacing the whole resource does nothing.
        Some(_) => {}
    }
}

/// Notes the values of a mapping that one of a patch is about to replace or remove, but for the
/// fields in `kept`.
fn fields(overridden: &Overridden, (old, new): (&Mapping<'_>, &Mapping<'_>), schema: Schema<'_>, kept: &[&str]) {
    let is_root = kept == OF_KIND;
    for entry in new.iter().filter(|entry| !kept.contains(&entry.key().text())) {
        let name = entry.key().text();
        let Some(value) = old.get(name) else { continue };
        match (value.as_mapping(), entry.value().as_mapping()) {
            (Some(old), Some(new)) if is_root && name == "metadata" => {
                if !new.contains("$patch") {
                    fields(overridden, (old, new), schema.field(name), &OF_NAME);
                }
            }
            _ if is_root && name == "metadata" => {}
            _ => merged(overridden, value, entry.value(), schema.field(name)),
        }
    }
}

/// Notes the values that a value of a patch is about to replace or remove.
fn merged(overridden: &Overridden, old: &Node<'_>, new: &Node<'_>, schema: Schema<'_>) {
    if new.is_null() {
        return displaced(overridden, old, None, new.pos());
    }
    match (old.value(), new.value()) {
        (Value::Mapping(fields_of_old), Value::Mapping(fields_of_new)) => match new.get_text("$patch") {
            Some("delete") => displaced(overridden, old, None, new.pos()),
            Some("replace") => displaced(overridden, old, Some(new), new.pos()),
            _ => fields(overridden, (fields_of_old, fields_of_new), schema, &[]),
        },
        (Value::Sequence(items_of_old), Value::Sequence(items_of_new)) => match schema.merge_keys() {
            None => displaced(overridden, old, Some(new), new.pos()),
            Some([key]) if !key.is_empty() => items(overridden, (items_of_old, items_of_new), key, schema.items()),
            Some(_) => {}
        },
        (Value::Scalar(_), Value::Scalar(_)) => displaced(overridden, old, Some(new), new.pos()),
        // The merge fails.
        _ => {}
    }
}

/// Notes the values of the items of a list that is merged by a key.
fn items(overridden: &Overridden, (old, new): (&Sequence<'_>, &Sequence<'_>), key: &str, schema: Schema<'_>) {
    let mut by_text: FastMap<&str, &Node<'_>> =
        new.iter().filter_map(|item| Some((item.get_text(key)?, item))).collect();
    // An item with a directive alone is about the list as a whole.
    if by_text.len() < new.len() {
        return;
    }
    for item in old.iter() {
        if let Some(new) = item.get_text(key).and_then(|text| by_text.remove(text)) {
            match new.get_text("$patch") {
                Some("delete") => displaced_item(overridden, item, None, new.pos()),
                Some("replace") => displaced_item(overridden, item, Some(new), new.pos()),
                _ => merged(overridden, item, new, schema),
            }
        }
    }
}

/// Notes the values that an operation of a JSON patch has replaced or removed at a path: `by` is
/// the place of the operation. O(size of both).
pub(super) fn note_operation(
    overridden: &Overridden,
    path: &[&str],
    (old, new): (&Node<'_>, Option<&Node<'_>>),
    by: Pos,
) {
    let is_item = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    match path {
        [] | ["kind" | "apiVersion" | "metadata"] | ["metadata", "name" | "namespace"] => {}
        [.., item, field] if is_item(item) && OF_ITEM.contains(field) => {}
        [.., item] if is_item(item) => displaced_item(overridden, old, new, by),
        _ => displaced(overridden, old, new, by),
    }
}

/// Notes the texts in a value in whose place a patch puts another one, or nothing. `by` is the
/// place of the later value. O(size of both).
fn displaced(overridden: &Overridden, old: &Node<'_>, new: Option<&Node<'_>>, by: Pos) {
    match (old.value(), new.map(Node::value)) {
        (Value::Mapping(old), Some(Value::Mapping(new))) => {
            old.iter().for_each(|entry| displaced(overridden, entry.value(), new.get(entry.key().text()), by));
        }
        (Value::Mapping(old), _) => {
            old.iter().map(Entry::value).for_each(|value| displaced(overridden, value, None, by))
        }
        (Value::Sequence(old), Some(Value::Sequence(new))) if is_same_list(old, new) => {}
        (Value::Sequence(old), _) => old.iter().for_each(|item| displaced_item(overridden, item, None, by)),
        (Value::Scalar(old_text), Some(Value::Scalar(new_text))) if old_text.text() == new_text.text() => {}
        (Value::Scalar(_), _) => overridden.note_by(old.pos(), by),
    }
}

/// As [`displaced`], of an item of a list.
fn displaced_item(overridden: &Overridden, old: &Node<'_>, new: Option<&Node<'_>>, by: Pos) {
    let Some(fields) = old.as_mapping() else { return displaced(overridden, old, new, by) };
    for entry in fields.iter().filter(|entry| !OF_ITEM.contains(&entry.key().text())) {
        displaced(overridden, entry.value(), new.and_then(|new| new.get(entry.key().text())), by);
    }
}

/// Returns true if two values have the same fields, items and texts.
fn is_same(a: &Node<'_>, b: &Node<'_>) -> bool {
    match (a.value(), b.value()) {
        (Value::Scalar(a), Value::Scalar(b)) => a.text() == b.text(),
        (Value::Sequence(a), Value::Sequence(b)) => is_same_list(a, b),
        (Value::Mapping(a), Value::Mapping(b)) => {
            let has_same = |entry: &Entry<'_>| b.get(entry.key().text()).is_some_and(|b| is_same(entry.value(), b));
            a.len() == b.len() && a.iter().all(has_same)
        }
        _ => false,
    }
}

fn is_same_list(a: &Sequence<'_>, b: &Sequence<'_>) -> bool {
    a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b))
}

/// One finding for each later value that has replaced or removed values of a patch of which nothing
/// is left in any resource: at the first one of these. As [`Overridden::gone`].
pub(super) fn findings(overridden: &Overridden, arena: Arena<'_>, map: &ResMap<'_>) -> Vec<Warning> {
    let mut by_later: BTreeMap<(Pos, Option<usize>), (Pos, usize)> = BTreeMap::new();
    for (old, by) in overridden.gone(map) {
        let key = (by, overridden.patches.number(old));
        by_later.entry(key).and_modify(|(_, count)| *count += 1).or_insert((old, 1));
    }
    let places = Places::new(arena.heap());
    let finding = |((by, _), (old, count)): ((Pos, Option<usize>), (Pos, usize))| {
        let message = match count {
            1 => "this value is not in the output: a later patch replaces or removes it".to_owned(),
            _ => format!("{count} values from here on are not in the output: a later patch replaces or removes them"),
        };
        let later = places.place(by).map_or_else(String::new, |place| format!(": the later one is at {place}"));
        Warning::new(Code::Overridden, message).at(old).hint(format!("remove one of the two{later}"))
    };
    by_later.into_iter().map(finding).collect()
}
