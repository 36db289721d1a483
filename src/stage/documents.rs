//! From documents to resources: empty ones are dropped, lists are replaced by their items.

use super::Build;
use crate::diag::{Error, Result};
use crate::parallel;
use crate::resource::{RESOURCE, Resource};
use crate::yaml::{Arena, Node, reprint};

/// Makes resources of the documents of one text, which know what the build's schema says of their
/// scope. Items of a `...List` come after all other documents of the file. O(n), on all cores if
/// there are many.
///
/// # Errors
/// A document without kind or name, or a list whose items are no list.
pub fn documents_to_resources<'a>(build: &mut Build<'a>, nodes: Vec<Node<'a>>) -> Result<Vec<Resource<'a>>> {
    let mut resources = resources_of(build.arena, nodes)?;
    build.schema.note_scope(&mut resources);
    Ok(resources)
}

/// As [`documents_to_resources`], of resources that do not know their scope yet.
///
/// # Errors
/// As there.
pub fn resources_of<'a>(arena: Arena<'a>, nodes: Vec<Node<'a>>) -> Result<Vec<Resource<'a>>> {
    let mut nodes: Vec<Node<'a>> = match <[Node<'a>; 1]>::try_from(nodes) {
        Ok([only]) => unwrap_list(only),
        Err(nodes) => nodes,
    };
    let mut resources = Vec::with_capacity(nodes.len());
    while !nodes.is_empty() {
        let (heap, threads) = (arena.heap(), arena.threads(nodes.len() * RESOURCE));
        let made = match threads {
            1 => vec![made_of(&mut nodes, arena)],
            _ => parallel::runs_mut(&mut nodes, threads, || {
                let arena = heap.arena();
                move |run: &mut [_]| made_of(run, arena)
            }),
        };
        nodes = Vec::new();
        for document in made.into_iter().flatten() {
            match document? {
                Document::Empty => {}
                Document::Resource(resource) => resources.push(resource),
                Document::List(mut list) => {
                    // Upstream decodes a list as a whole, and looks for items then.
                    reprint::check_decoded(&list)?;
                    match list.as_mapping_mut().and_then(|m| m.remove("items")) {
                        Some(items) => add_items(arena, &list, items, &mut nodes)?,
                        None => resources.push(Resource::new(arena, list)?),
                    }
                }
            }
        }
    }
    Ok(resources)
}

/// What a document is.
enum Document<'a> {
    Empty,
    Resource(Resource<'a>),
    /// Its kind ends in `List`.
    List(Node<'a>),
}

/// What documents are. The nodes are taken out.
fn made_of<'a>(nodes: &mut [Node<'a>], arena: Arena<'a>) -> Vec<Result<Document<'a>>> {
    let made = |node: &mut Node<'a>| {
        let node = std::mem::take(node);
        if node.is_null_or_empty() && !is_empty_text(&node) {
            return Ok(Document::Empty);
        }
        let is_list = node.get_text("kind").is_some_and(|kind| kind.ends_with("List"));
        if is_list { Ok(Document::List(node)) } else { Resource::new(arena, node).map(Document::Resource) }
    };
    nodes.iter_mut().map(made).collect()
}

/// Adds the items of a list to the documents that are still to be looked at.
fn add_items<'a>(arena: Arena<'a>, list: &Node<'a>, items: Node<'a>, nodes: &mut Vec<Node<'a>>) -> Result<()> {
    match items.into_sequence() {
        Ok(items) => {
            for mut item in items {
                reprint::through_map(arena, &mut item)?;
                nodes.extend(unwrap_list(item));
            }
        }
        Err(items) if items.is_null() => {}
        Err(items) => {
            let kind = list.get_text("kind").unwrap_or_default();
            let message = format!("expected array in {kind}/items, but found {}", items.shape());
            return Err(Error::input(message).at(items.pos()));
        }
    }
    Ok(())
}

/// The items of a `List` or `ResourceList` that is the only document of its file; else the document
/// itself.
fn unwrap_list(mut node: Node<'_>) -> Vec<Node<'_>> {
    let is_list = matches!(node.get_text("kind"), Some("List" | "ResourceList"));
    if !is_list || (node.get("items").is_none() && node.get("functionConfig").is_none()) {
        return vec![node];
    }
    match node.as_mapping_mut().and_then(|m| m.remove("items")).map(Node::into_sequence) {
        Some(Ok(items)) => items.into_iter().collect(),
        None => Vec::new(),
        Some(Err(other)) if other.is_null() => Vec::new(),
        Some(Err(other)) => {
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
