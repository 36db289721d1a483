//! Whose a directory is, on systems that are not Unix: nobody knows, so none is trusted.

use std::io;
use std::path::Path;

/// Makes a directory, and those above it that are missing.
///
/// # Errors
/// It cannot be made.
pub fn make(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Whether a path is known to be a directory of this user: never.
pub fn is_mine(_path: &Path) -> bool {
    false
}

/// Whether a place is known to be safe from other users: never.
pub fn is_sound(_named: &Path) -> bool {
    false
}

/// Makes no link: other systems ask for the kind of its target.
///
/// # Errors
/// Always.
pub fn link(_target: &Path, _place: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
