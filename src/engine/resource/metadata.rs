//! The maps of strings of metadata, and the fields that identify a resource, read and written as
//! upstream does.

use crate::diag::nearest;
use rustomize_yaml::{Entry, Mapping, Node, Pos, Scalar, Tag, Value, json};

/// See [`super::Resource::stringify_metadata`]; `parent` is the mapping that holds `map`. If it
/// holds two maps of that name, the entries of the first are put into the second, as upstream does.
pub fn stringify<'a>(parent: &mut Mapping<'a>, map: &'a str) {
    make_map_of_strings(parent, map);
    if parent.iter().filter(|entry| entry.key().text() == map).count() > 1 {
        let first = parent.remove(map).map(Node::into_value);
        let second = parent.get_mut(map).and_then(Node::as_mapping_mut);
        if let (Some(Value::Mapping(first)), Some(second)) = (first, second) {
            second.put_all(first.into_entries());
        }
    }
}

fn make_map_of_strings<'a>(parent: &mut Mapping<'a>, map: &'a str) {
    let Some(node) = parent.get_mut(map) else {
        return;
    };
    if node.as_sequence().is_some() {
        let entries = texts(node).into_iter().map(|(key, s)| Entry::new(key, Node::string(s.text())));
        let mut mapping = Mapping::from_entries(entries.collect());
        mapping.keep_last_of_each();
        *node = mapping.into();
    }
    match node.as_mapping_mut() {
        Some(entries) if !entries.is_empty() => {
            entries.set_braces(false);
            entries.keep_last_of_each();
            for (_, value) in entries.iter_mut() {
                make_string(value);
            }
        }
        _ => drop(parent.remove(map)),
    }
}

/// Replaces a value by the string of its text; a value that is not a scalar becomes empty.
pub(super) fn make_string(value: &mut Node<'_>) {
    let text = value.scalar_text();
    value.put(json::new_string(text), Pos::NONE);
}

/// The entries of a map of strings as upstream sees them: keys and values by turns, so that a list
/// of texts is a map, too. The text of a value that is not a scalar is empty.
pub fn texts<'a>(map: &Node<'a>) -> Vec<(&'a str, Scalar<'a>)> {
    let scalar = |node: &Node<'a>| node.as_scalar().copied().unwrap_or(Scalar::string(""));
    match map.value() {
        Value::Scalar(_) => Vec::new(),
        Value::Mapping(m) => m.iter().map(|e| (e.key().text(), scalar(e.value()))).collect(),
        Value::Sequence(items) => {
            let mut items = items.iter();
            let pair = || Some((scalar(items.next()?).text(), scalar(items.next()?)));
            std::iter::from_fn(pair).collect()
        }
    }
}

/// The place of an empty key in a map of strings, which upstream cannot write.
pub fn empty_key(map: &Node<'_>) -> Option<Pos> {
    match map.value() {
        Value::Scalar(_) => None,
        Value::Mapping(m) => m.get("").map(Node::pos),
        Value::Sequence(_) => texts(map).iter().any(|(key, _)| key.is_empty()).then_some(map.pos()),
    }
}

/// The mapping at `key`, made if it is missing or null; `None` if the value is not a mapping.
pub fn mapping_in<'m, 'a>(parent: &'m mut Mapping<'a>, key: &'a str) -> Option<&'m mut Mapping<'a>> {
    let node = parent.get_or_insert_with(key, || Mapping::new().into());
    if node.is_null() {
        node.put(Mapping::new(), Pos::NONE);
    }
    node.as_mapping_mut()
}

/// Sets a text without a type, as upstream sets the fields that identify a resource: in the style
/// of the old value, or else in quotes if YAML 1.1 would not read the text as a string.
pub fn set_untyped<'a>(mapping: &mut Mapping<'a>, field: &'a str, text: &'a str) {
    let old = mapping.get(field).and_then(Node::as_scalar);
    let style = old.map_or_else(|| json::new_string(text).style(), |old| old.style());
    let new = Scalar::new(text, style, Tag::Untyped).tagged(old.is_some_and(Scalar::is_tagged));
    mapping.insert(field, new.into());
}

/// The hint of an error about a resource without `metadata.name`.
pub(super) fn hint_of_name(node: &Node<'_>) -> String {
    let metadata = node.get("metadata");
    match metadata.map(Node::value) {
        Some(Value::Sequence(_)) => "write 'metadata' as a mapping: leave out the '-' in front of 'name'".to_owned(),
        None | Some(Value::Scalar(_)) if node.get("name").is_some() => {
            "indent the field 'name', so that it is below 'metadata'".to_owned()
        }
        None => hint_of_field(Some(node), "metadata", "add the field 'name' below 'metadata'"),
        Some(_) => hint_of_field(metadata, "name", "add the field 'name' below 'metadata'"),
    }
}

/// The hint of an error about a mapping in which the field `name` is missing or empty. It names the
/// empty field, or a field with a similar name; if the mapping has neither, it is `otherwise`.
pub(super) fn hint_of_field(node: Option<&Node<'_>>, name: &str, otherwise: &str) -> String {
    let keys = || node.and_then(Node::as_mapping).into_iter().flat_map(Mapping::iter).map(|entry| entry.key().text());
    if keys().any(|key| key == name) {
        return format!("give the field '{name}' a text that is not empty");
    }
    match keys().find(|key| nearest(key, [name]).is_some()) {
        Some(typed) => format!("did you mean '{name}' by '{typed}'?"),
        None => otherwise.to_owned(),
    }
}
