//! From documents to resources: empty ones are dropped, lists are replaced by their items.

use super::Build;
use crate::diag::{Error, Result};
use crate::resource::Resource;
use crate::yaml::{Node, Value, reprint};
use std::collections::VecDeque;

/// Makes resources of the documents of one text, which know what the build's schema says of their
/// scope. Items of a `...List` come after all other documents of the file. O(n).
///
/// # Errors
/// A document without kind or name, or a list whose items are no list.
pub fn documents_to_resources<'a>(build: &mut Build<'a>, nodes: Vec<Node<'a>>) -> Result<Vec<Resource<'a>>> {
    let arena = build.arena;
    let mut queue: VecDeque<Node<'a>> = match <[Node<'a>; 1]>::try_from(nodes) {
        Ok([only]) => unwrap_list(only).into(),
        Err(nodes) => nodes.into(),
    };
    let mut resources = Vec::with_capacity(queue.len());
    while let Some(mut node) = queue.pop_front() {
        if node.is_null_or_empty() && !is_empty_text(&node) {
            continue;
        }
        let kind = node.get_text("kind").unwrap_or_default();
        let is_list = kind.ends_with("List");
        if is_list {
            // Upstream decodes a list as a whole, and looks for items then.
            reprint::check_decoded(&node).map_err(|m| Error::malformed(arena, m))?;
        }
        if is_list && node.get("items").is_some() {
            let kind = kind.to_owned();
            let Some(items) = node.as_mapping_mut().and_then(|m| m.remove("items")) else {
                continue;
            };
            match items.value {
                Value::Sequence(items) => {
                    for mut item in items {
                        reprint::through_map(arena, &mut item).map_err(|m| Error::malformed(arena, m))?;
                        queue.extend(unwrap_list(item));
                    }
                }
                _ if items.is_null() => {}
                _ => {
                    let message = format!("expected array in {kind}/items, but found {}", items.shape());
                    return Err(Error::input(message).at(arena.place(items.pos)));
                }
            }
            continue;
        }
        resources.push(Resource::new(arena, node)?);
    }
    build.schema.note_scope(&mut resources);
    Ok(resources)
}

/// The items of a `List` or `ResourceList` that is the only document of its file; else the document
/// itself.
fn unwrap_list(mut node: Node<'_>) -> Vec<Node<'_>> {
    let is_list = matches!(node.get_text("kind"), Some("List" | "ResourceList"));
    if !is_list || (node.get("items").is_none() && node.get("functionConfig").is_none()) {
        return vec![node];
    }
    match node.as_mapping_mut().and_then(|m| m.remove("items")) {
        Some(Node { value: Value::Sequence(items), .. }) => items.into_items(),
        None => Vec::new(),
        Some(other) if other.is_null() => Vec::new(),
        Some(other) => {
            if let Some(m) = node.as_mapping_mut() {
                m.insert("items", other);
            }
            vec![node]
        }
    }
}

/// An empty text in quotes is a document, and no resource.
fn is_empty_text(node: &Node<'_>) -> bool {
    node.as_scalar().is_some_and(|s| !s.is_null())
}
