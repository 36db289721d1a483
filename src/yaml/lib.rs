//! YAML as kustomize reads and prints it. Knows nothing of Kubernetes.
//!
//! * [`tree`]: a document's values, borrowing their text from an [`Arena`] and its [`texts`].
//! * [`encoding`]: bytes into text; [`document`]: a file's text into documents; [`reader`]: a
//!   document into a tree.
//! * [`places`]: lines and columns of many positions.
//! * [`scalar`]: the types of plain scalars; `style`: the styles that a text may have; [`natural`]:
//!   the order of keys.
//! * [`emit`]: the tree into text, byte for byte as go-yaml v2 prints it; [`json`]: into and out of
//!   JSON; [`spelling`]: trees with the spelling of JSON;
//!   [`noted`]: a tree with its comments, as go-yaml v3 prints it; [`rewrite`]: a text with its
//!   comments after a change.
//! * [`reprint`]: the changes to a tree when kustomize prints it and reads it again in the middle
//!   of a build; [`values`]: aliases and merge keys in values of charts, which are merged before
//!   they are decoded.

pub mod arena;
mod bytes;
pub mod change;
pub mod document;
pub mod emit;
pub mod encoding;
pub mod json;
pub mod natural;
pub mod noted;
pub mod places;
mod reader;
pub mod reprint;
pub mod rewrite;
pub mod scalar;
pub mod spelling;
mod style;
pub mod texts;
pub mod tree;
pub mod values;

pub use arena::{Arena, Arenas, Heap, Place, Source};
pub use document::{Malformed, document_in_text, documents, first_document, read_documents, values_document};
pub use tree::edit::ValueMut;
pub use tree::mapping::{Entries, Entry, Key, Mapping};
pub use tree::node::{Node, Pos, Scalar, Style, Tag, Value};
pub use tree::sequence::{Items, Sequence};
pub use tree::shared;
