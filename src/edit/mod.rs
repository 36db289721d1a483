//! Changes kustomization files, for `rustomize edit`: as `kustomize edit` does, but for the bytes
//! that a change is not about, which stay.
//!
//! * [`place`]: the kustomization file of the working directory; finding it, locking it, writing
//!   it.
//! * [`draft`]: its fields, for changes.
//! * [`glob`]: which files a pattern names.
//! * [`lists`], [`texts`], [`metadata`], [`images`], [`replicas`], [`generators`], [`patches`]: the
//!   changes, one file for each kind of field.
//! * [`fix`]: deprecated fields into current ones; [`vars`]: variables into replacements.
//!
//! Each change takes its arguments as they were typed, and checks them before it reads the file, in
//! kustomize's order and with its messages.

pub mod draft;
pub mod fix;
pub mod generators;
pub mod glob;
pub mod images;
pub mod lists;
pub mod metadata;
pub mod patches;
pub mod place;
pub mod replicas;
pub mod texts;
pub mod vars;

pub use place::Place;

use crate::diag::{Code, Error};

/// An error of the command line, in kustomize's words.
fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
}

/// A list as Go's `%v` prints it.
fn shown<T: AsRef<str>>(words: &[T]) -> String {
    format!("[{}]", words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" "))
}
