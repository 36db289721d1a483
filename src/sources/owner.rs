//! The owners of directories, and the permissions of others.

use rustix::fs::{FileType, Mode};
use rustix::io::Errno;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Permissions that others must not have in a directory of the cache.
const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);

/// Makes a directory, and missing directories above it, with access for this user alone.
///
/// # Errors
/// A directory cannot be made.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Returns true if the path does not exist, or is a directory of this user that others cannot write
/// to.
pub(crate) fn is_mine(path: &Path) -> bool {
    let there = match rustix::fs::lstat(path) {
        Ok(there) => there,
        Err(e) => return matches!(e, Errno::NOENT | Errno::NOTDIR),
    };
    let is_directory = FileType::from_raw_mode(there.st_mode).is_dir();
    let is_mine = there.st_uid == rustix::process::geteuid().as_raw();
    is_directory && is_mine && !Mode::from_raw_mode(there.st_mode).intersects(OTHERS_WRITE)
}

/// Returns true if a path leads to nothing, or to a directory of this user or of root in which
/// others cannot rename entries that are not theirs.
pub(crate) fn is_sound(named: &Path) -> bool {
    let there = match rustix::fs::stat(named) {
        Ok(there) => there,
        Err(e) => return matches!(e, Errno::NOENT | Errno::NOTDIR),
    };
    let mode = Mode::from_raw_mode(there.st_mode);
    let owners = [0, rustix::process::geteuid().as_raw()];
    owners.contains(&there.st_uid) && (mode.contains(Mode::SVTX) || !mode.intersects(OTHERS_WRITE))
}
