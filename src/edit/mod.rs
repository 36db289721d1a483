//! Changes kustomization files, for `rustomize edit`: as `kustomize edit` does, except that all
//! bytes that a change does not concern stay as they are.
//!
//! * [`place`]: the kustomization file of the working directory; finding it, locking it, writing
//!   it.
//! * [`draft`]: its fields, for changes.
//! * [`glob`]: the files that a pattern matches.
//! * [`lists`], [`texts`], [`metadata`], [`images`], [`replicas`], [`generators`], [`patches`]: the
//!   changes, one file for each kind of field.
//! * [`mend`]: the changes that mend findings of `lint`.
//! * [`fix`]: turns deprecated fields into current ones; [`vars`]: turns variables into
//!   replacements.
//!
//! Each change takes its arguments as they were typed. It checks them before it reads the file, in
//! kustomize's order and with its messages.

pub mod draft;
pub mod fix;
pub mod generators;
pub mod glob;
pub mod images;
pub mod lists;
pub mod mend;
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
