//! [`Change`]: the change of a file, which is not written yet.

use std::path::PathBuf;

/// A file with its text before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file as messages name it.
    pub name: String,
    /// The file that the name leads to, without links.
    pub path: PathBuf,
    pub before: String,
    pub after: String,
}
