//! Changes kustomization files, for `rustomize edit`: as `kustomize edit` does, except that all
//! bytes that a change does not concern stay as they are. Beside that, what other commands do with
//! the files of users: [`create`] writes new kustomizations, [`localize`] copies a kustomization
//! with all that it names, [`package`] has the resources of directories, with their comments.
//!
//! * [`place`]: the kustomization file of the working directory; finding it, locking it, writing
//!   it.
//! * [`batch`]: files of several directories that are changed together; [`change`]: one of them.
//! * [`draft`]: its fields, for changes.
//! * [`glob`]: the files that a pattern matches.
//! * [`lists`], [`texts`], [`metadata`], [`images`], [`replicas`], [`generators`], [`patches`]: the
//!   changes, one file for each kind of field.
//! * [`mend`]: the changes that mend findings of `lint`; [`name_references`]: the entries of
//!   `configurations` that do.
//! * [`promote`]: copies the versions that one kustomization pins to another.
//! * [`fix`]: turns deprecated fields into current ones; [`vars`]: turns variables into
//!   replacements.
//!
//! Each change takes its arguments as they were typed. It checks them before it reads the file, in
//! kustomize's order and with its messages.

pub mod batch;
pub mod change;
pub mod draft;
pub mod fix;
pub mod generators;
pub mod glob;
pub mod images;
pub mod lists;
pub mod mend;
pub mod metadata;
pub mod name_references;
pub mod patches;
pub mod place;
pub mod promote;
pub mod replicas;
pub mod texts;
pub mod vars;

pub mod create;
pub mod localize;
pub mod package;

pub use change::Change;
pub use place::Place;

// The modules of this crate name those of the engine by their own paths.
use rustomize_engine::{config, diag, generator, load, merge, pipeline, resource, schema, stage, workspace};

use crate::diag::{Code, Error};

/// An error of the command line, in kustomize's words.
fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
}

/// An error of the command line, with a command that works as an example.
fn usage_as(message: impl Into<String>, example: &str) -> Error {
    usage(message).hint(format!("write it as in: rustomize edit {example}"))
}

/// A list as Go's `%v` prints it.
fn shown<T: AsRef<str>>(words: &[T]) -> String {
    format!("[{}]", words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" "))
}
