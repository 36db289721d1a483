//! The hash of a resource's content that its name gets.
//!
//! For ConfigMaps and Secrets it is a hash of their data. For all other kinds kustomize hashes the
//! JSON of its parser's nodes, with styles, comments, lines and columns. That JSON is known for a
//! resource that is as it was read from a file.

use crate::diag::{Code, Error, Result};
use crate::resource::Resource;
use rustomize_yaml::noted::dump::{self, Unknown};
use rustomize_yaml::{Arena, Node, Value, json, reprint};
use sha2::{Digest, Sha256};

/// The ten characters. `text` is a buffer for the hashed text. O(size of the data).
///
/// # Errors
/// The data cannot be printed; or the resource is neither a ConfigMap nor a Secret, and a
/// step has changed it, or a plugin has made it.
pub(super) fn hash<'a>(arena: Arena<'a>, resource: &Resource<'a>, text: &mut String) -> Result<String> {
    let node = resource.node();
    text.clear();
    text.push('{');
    match resource.id().gvk.kind {
        "ConfigMap" => {
            if node.get("binaryData").is_some_and(|n| n.as_mapping().is_some()) {
                member(arena, text, "binaryData", node.get("binaryData"))?;
            }
            member(arena, text, "data", node.get("data"))?;
            text.push_str("\"kind\":\"ConfigMap\",\"name\":\"\"}");
        }
        "Secret" => {
            member(arena, text, "data", node.get("data"))?;
            text.push_str("\"kind\":\"Secret\",\"name\":\"\",");
            if node.get("stringData").is_some_and(|n| n.as_mapping().is_some()) {
                member(arena, text, "stringData", node.get("stringData"))?;
            }
            member(arena, text, "type", node.get("type"))?;
            text.pop();
            text.push('}');
        }
        _ => {
            text.clear();
            of_nodes(arena, resource, text)?;
        }
    }
    Ok(encode(&Sha256::digest(text.as_bytes())))
}

/// Returns true if kustomize has noted something about a resource in internal annotations: a name
/// or namespace that it had, its prefixes, its origin, or that it was generated.
fn has_history(resource: &Resource<'_>) -> bool {
    let is_noted = resource.notes().is_some_and(|notes| {
        let is_marked = notes.helm_generated || notes.allows_name_change || notes.allows_kind_change;
        notes.origin.is_some() || !notes.transformations.is_empty() || is_marked
    });
    let has_names =
        !(resource.previous().is_empty() && resource.prefixes().is_empty() && resource.suffixes().is_empty());
    has_names || is_noted || resource.behavior.is_some()
}

/// Appends the JSON of the parser's nodes for a resource.
fn of_nodes<'a>(arena: Arena<'a>, resource: &Resource<'a>, text: &mut String) -> Result<()> {
    let reason = match dump::as_read(arena, resource.node(), text) {
        Err(reason) => reason,
        Ok(()) if has_history(resource) => Unknown::Changed,
        Ok(()) => return Ok(()),
    };
    let (why, hint) = match reason {
        Unknown::NotFromFile => (
            "this one is not from a file",
            "remove the annotation that asks for it: kustomize.config.k8s.io/needs-hash in what a plugin prints, \
             internal.config.kubernetes.io/needsHashSuffix elsewhere",
        ),
        Unknown::Changed => (
            "a step has changed this one",
            "give the resource its final name, namespace, labels and images in its file, or remove the annotation \
             internal.config.kubernetes.io/needsHashSuffix",
        ),
        Unknown::Parts => (
            "this one has merge keys, explicit keys, rare tags or carriage returns",
            "write the resource without them, or remove the annotation internal.config.kubernetes.io/needsHashSuffix",
        ),
    };
    let id = resource.id();
    let message = format!(
        "{id} asks for a name hash, which only ConfigMap and Secret can have, and a resource that is as in its file: {why}"
    );
    Err(Error::new(Code::BadValue, message).hint(hint))
}

/// One member of the hashed text, followed by a comma. A missing value is an empty string there. A
/// scalar, also a null, is its text as written. A list is null.
fn member<'a>(arena: Arena<'a>, text: &mut String, name: &str, value: Option<&Node<'a>>) -> Result<()> {
    json::write_string(text, name);
    text.push(':');
    match value {
        None => text.push_str("\"\""),
        Some(node) => match node.value() {
            Value::Scalar(scalar) => json::write_string(text, scalar.text()),
            Value::Sequence(_) => text.push_str("null"),
            Value::Mapping(_) => json::write(text, &*reprint::printed(arena, node)?),
        },
    }
    text.push(',');
    Ok(())
}

/// The first ten hex digits, with digits that look like letters replaced, so that no word comes
/// out.
fn encode(digest: &[u8]) -> String {
    let digit = |d: u8| match char::from_digit(u32::from(d), 16).unwrap_or('0') {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        c => c,
    };
    digest.iter().take(5).flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::{Heap, documents};

    #[track_caller]
    fn check(text: &str, want: &str) {
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("r.yaml", text.to_owned());
        let node = documents(arena, source).unwrap().remove(0);
        assert_eq!(hash(arena, &Resource::unchecked(node), &mut String::new()).unwrap(), want, "{text}");
    }

    #[test]
    fn recorded_hashes() {
        check("kind: ConfigMap\n", "6ct58987ht");
        check("kind: ConfigMap\ndata: {a: b}\n", "4h2mbtbbt6");
        check("kind: Secret\ntype: Opaque\ndata: {}\n", "46f8b28mk5");
        check("kind: ConfigMap\ndata: {}\n", "42745tchd9");
        check("kind: ConfigMap\ndata: 31\n", "tmdmkfhg2k");
    }
}
