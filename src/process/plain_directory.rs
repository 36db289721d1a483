//! Private directories on systems that are not Unix: as private as the directory that holds them.
//! On Windows the directory of temporary files belongs to one user.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Makes a directory in another one.
pub(super) fn make(builder: &mut tempfile::Builder<'_, '_>, parent: &Path) -> io::Result<PathBuf> {
    Ok(builder.tempdir_in(parent)?.keep())
}

/// Makes a file.
pub(super) fn create(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// Locks nothing: the directories of a killed process are not removed by later processes.
///
/// # Errors
/// Always.
pub(super) fn lock(_path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a directory with all its content, as far as that is possible.
pub(super) fn remove(path: &Path) {
    let _ = rustomize_files::remove(path);
}
