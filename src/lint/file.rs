//! Findings in a kustomization file.

use crate::diag::{Code, Warning};
use crate::yaml::{Arena, Node, Source, Value, documents};
use std::collections::BTreeMap;

/// The findings in a file, whose first document is `node`. O(size of the file).
pub fn findings<'a>(arena: Arena<'a>, source: &'a Source, node: Option<&Node<'a>>) -> Vec<Warning> {
    let mut found = Vec::new();
    if let Some(node) = node {
        repeated_keys(node, &mut found);
    }
    if let Some(second) = documents(arena, source).ok().and_then(|all| all.into_iter().nth(1))
        && !second.is_null()
    {
        let message = "kustomize reads the first document of this file, and no other";
        found.push(Warning::new(Code::ExtraDocument, message).at(second.pos()));
    }
    found
}

/// Adds a finding for each key that has a later one of the same text in its mapping.
fn repeated_keys(node: &Node<'_>, found: &mut Vec<Warning>) {
    match node.value() {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter().for_each(|item| repeated_keys(item, found)),
        Value::Mapping(mapping) => {
            let mut last = BTreeMap::new();
            for entry in mapping.iter() {
                if let Some(earlier) = last.insert(entry.key().text(), entry.key().pos()) {
                    let message =
                        format!("the key '{}' is given again below: this one does not count", entry.key().text());
                    found.push(Warning::new(Code::DuplicateKey, message).at(earlier));
                }
                repeated_keys(entry.value(), found);
            }
        }
    }
}
