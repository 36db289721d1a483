//! Whose a directory is, and who may change it.

use rustix::fs::{FileType, Mode};
use rustix::io::Errno;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// What others may not have in a directory of the cache.
const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);

/// Makes a directory, and those above it that are missing, for this user alone.
///
/// # Errors
/// It cannot be made.
pub fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Whether a path is a directory of this user that others may not write to, or nothing.
pub fn is_mine(path: &Path) -> bool {
    let there = match rustix::fs::lstat(path) {
        Ok(there) => there,
        Err(e) => return matches!(e, Errno::NOENT | Errno::NOTDIR),
    };
    let is_directory = FileType::from_raw_mode(there.st_mode).is_dir();
    let is_mine = there.st_uid == rustix::process::geteuid().as_raw();
    is_directory && is_mine && !Mode::from_raw_mode(there.st_mode).intersects(OTHERS_WRITE)
}

/// Whether a path leads to a directory of this user or root in which others rename nothing of
/// theirs, or to nothing.
pub fn is_sound(named: &Path) -> bool {
    let there = match rustix::fs::stat(named) {
        Ok(there) => there,
        Err(e) => return matches!(e, Errno::NOENT | Errno::NOTDIR),
    };
    let mode = Mode::from_raw_mode(there.st_mode);
    let owners = [0, rustix::process::geteuid().as_raw()];
    owners.contains(&there.st_uid) && (mode.contains(Mode::SVTX) || !mode.intersects(OTHERS_WRITE))
}

/// Makes a link that leads to `target`.
///
/// # Errors
/// It cannot be made.
pub fn link(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}
