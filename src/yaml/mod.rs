//! YAML as kustomize reads and prints it. Knows nothing of Kubernetes.
//!
//! * [`node`]: the tree, borrowing its text from an [`Arena`] and its [`texts`].
//! * [`encoding`]: bytes into text; [`document`]: a file's text into documents; [`reader`]: a
//!   document into a tree.
//! * [`scalar`]: the types of plain scalars; [`natural`]: the order of keys; [`shared`]: values
//!   that stand in several places.
//! * [`emit`]: the tree into text, byte for byte as go-yaml v2 prints it; [`json`]: into and out of
//!   JSON;
//!   [`rewrite`]: a text with its comments, as go-yaml v3 prints it.
//! * [`reprint`]: what a tree is after kustomize has printed it and read it again in the middle
//!   of a build.

pub mod arena;
pub mod document;
pub mod emit;
pub mod encoding;
pub mod json;
pub mod natural;
pub mod node;
mod reader;
pub mod reprint;
pub mod rewrite;
pub mod scalar;
pub mod shared;
pub mod texts;

pub use arena::{Arena, Heap, Place, Source};
pub use document::{Malformed, documents, first_document};
pub use node::{Entry, Key, Mapping, Node, Pos, Scalar, Sequence, Style, Tag, Value};
