//! The owners of directories on Windows: what is in the profile of the user is the user's.

use rustomize_files::is_in_profile;
use std::io;
use std::path::Path;

/// Makes a directory, and missing directories above it. Below the profile of the user its list of
/// access is that of the profile.
///
/// # Errors
/// A directory cannot be made.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Returns true if the path does not exist, or is a directory in the profile of the user.
pub(crate) fn is_mine(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(there) => there.is_dir() && is_in_profile(path),
        Err(e) => matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

/// Returns true if a path leads to nothing, or to a directory in the profile of the user.
pub(crate) fn is_sound(named: &Path) -> bool {
    match named.metadata() {
        Ok(there) => there.is_dir() && is_in_profile(named),
        Err(e) => matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}
