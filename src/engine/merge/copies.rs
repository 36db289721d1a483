//! The limits of copies by patches and replacements: a few hundred bytes of copies of copies would
//! fill the memory, and copies inside of copies the stack. kustomize has a limit for JSON patches
//! (`AccumulatedCopySizeLimit` of its library) and does not set it.

use crate::diag::{Code, Error, Result};
use rustomize_yaml::document::MAX_DEPTH;
use rustomize_yaml::{Node, Value};

/// Nodes that copies may add to one resource in one step, as for aliases.
const MAX_NODES: usize = 1_000_000;

/// A text counts as another node for each of these bytes: printed, each copy takes them again.
const BYTES_OF_A_NODE: usize = 64;

/// Bytes of a text that is made of other texts.
const MAX_TEXT: usize = 64 << 20;

/// How much one step may still copy into one resource.
pub struct Copies {
    left: usize,
    /// True if one place of a shared value was set, and the others have the old value.
    is_ahead: bool,
}

impl Default for Copies {
    fn default() -> Self {
        Copies { left: MAX_NODES, is_ahead: false }
    }
}

impl Copies {
    /// A copy of a node. O(nodes).
    ///
    /// # Errors
    /// The copies have too many nodes.
    pub fn copy<'a>(&mut self, node: &Node<'a>) -> Result<Node<'a>> {
        self.left = self.left.checked_sub(weight(node)).ok_or_else(|| {
            Error::new(Code::TooLarge, format!("copies add more than {MAX_NODES} nodes to the resource"))
                .hint(format!("a text counts as one node more for each {BYTES_OF_A_NODE} bytes"))
        })?;
        Ok(node.clone())
    }

    /// Notes a node that was set.
    pub fn note(&mut self, node: &Node<'_>) {
        self.is_ahead |= node.is_ahead();
    }

    /// Returns true if a noted node shares its value with other places, which still have the old
    /// one. Forgets the notes.
    pub fn take_ahead(&mut self) -> bool {
        std::mem::take(&mut self.is_ahead)
    }
}

/// The size of a copy, in nodes.
fn weight(node: &Node<'_>) -> usize {
    1 + match node.value() {
        Value::Scalar(scalar) => scalar.text().len() / BYTES_OF_A_NODE,
        Value::Sequence(items) => items.iter().map(weight).sum(),
        Value::Mapping(m) => m.iter().map(|e| e.key().text().len() / BYTES_OF_A_NODE + weight(e.value())).sum(),
    }
}

/// Checks the depth of a node that is put at a path: documents have a limit. O(nodes).
///
/// # Errors
/// The path and the node together are deeper than a document may be.
pub fn check_depth(path: usize, node: &Node<'_>) -> Result<()> {
    match is_within(node, MAX_DEPTH.saturating_sub(path)) {
        true => Ok(()),
        false => {
            Err(Error::new(Code::TooLarge, format!("the resource would be nested deeper than {MAX_DEPTH} levels")))
        }
    }
}

/// Returns true if a node has at most this many levels of mappings and lists.
fn is_within(node: &Node<'_>, levels: usize) -> bool {
    let below = |node: &Node<'_>| levels > 0 && is_within(node, levels - 1);
    match node.value() {
        Value::Scalar(_) => true,
        Value::Sequence(items) => items.iter().all(below),
        Value::Mapping(m) => m.iter().all(|e| below(e.value())),
    }
}

/// Checks the length of a text that was made of others.
///
/// # Errors
/// The text is longer than its limit.
pub fn check_text(text: &str) -> Result<&str> {
    match text.len() > MAX_TEXT {
        true => Err(Error::new(Code::TooLarge, format!("the replaced text would be longer than {MAX_TEXT} bytes"))),
        false => Ok(text),
    }
}
