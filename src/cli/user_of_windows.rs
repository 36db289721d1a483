//! The user of this process on Windows, where directories have lists of access: what lies in a
//! user's profile is closed to other users, but for administrators.

use rustomize_files::is_in_profile;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns false: no user is root here.
pub(super) fn is_root() -> bool {
    false
}

/// Returns `None`: users have no numbers here, and a container runs as if none were named.
pub(super) fn for_containers() -> Option<String> {
    None
}

/// Returns true if a directory is not read-only. Only a try can show what its list of access says.
pub(super) fn may_write_to(directory: &Path) -> bool {
    directory.metadata().is_ok_and(|there| !there.permissions().readonly())
}

/// A directory below `parent`, made if it is missing. `None` outside of the user's profile, and for
/// a link or a file in its place.
pub(super) fn private_directory(parent: &Path) -> Option<PathBuf> {
    let path = parent.join("rustomize-cache");
    let _ = fs::create_dir(&path);
    let there = path.symlink_metadata().ok()?;
    (there.is_dir() && is_in_profile(&path)).then_some(path)
}
