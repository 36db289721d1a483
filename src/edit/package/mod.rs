//! Directories of resources, as kustomize's `cfg` commands see them: every YAML file is read with
//! its comments, nothing is built.
//!
//! * [`read`]: files and texts into [`Item`]s, each with annotations that say where it is from.
//! * [`annotations`]: these annotations, and what a step may do to them.
//! * [`filter`]: steps that leave out items or change them; [`query`] finds the values of a path;
//!   [`quantity`] compares quantities.
//! * [`mod@write`]: items into text.
//! * [`tree`]: items as a tree for people.
//! * [`function`]: the resources of a call of a function; [`comments`]: their comments and order,
//!   copied to what it prints; [`store`]: items back into files.
//!
//! *Invariant*: an item is printed as kustomize prints it: its order, comments, anchors and styles
//! are those of its file, unless a step changes them.

pub mod annotations;
pub mod comments;
pub mod filter;
pub mod function;
pub mod quantity;
pub mod query;
pub mod read;
pub mod store;
pub mod tree;
pub mod write;

use crate::diag::{Code, Error};
use rustomize_yaml::noted::{Document, Noted};

/// A resource of a directory, or any other document.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The document; that of an item of a list has no comments above and below itself.
    pub document: Document<'a>,
}

impl<'a> Item<'a> {
    /// The root of the document.
    pub fn root(&self) -> &Noted<'a> {
        &self.document.root
    }

    /// The text of a field of the top, or an empty text.
    pub fn text(&self, key: &str) -> &'a str {
        self.root().get_text(key).unwrap_or_default()
    }

    /// The text of a field of `metadata`, or an empty text.
    pub fn metadata(&self, key: &str) -> &'a str {
        self.root().get("metadata").and_then(|metadata| metadata.get_text(key)).unwrap_or_default()
    }
}

/// The error for a node of another kind than the one that a path needs. The content is not in the
/// message, because it can be secret.
fn wrong_kind(expected: &str, node: &Noted<'_>) -> Error {
    Error::new(Code::WrongType, format!("wrong node kind: expected {expected} but got {}", node.kind()))
}
