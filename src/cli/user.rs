//! The user of this process, by the numbers and permissions of Unix.

use rustix::fs::{Access, Mode};
use std::path::{Path, PathBuf};

/// Returns true if this process is root's.
pub(super) fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// The user of this process, in the form of container engines.
pub(super) fn for_containers() -> Option<String> {
    Some(format!("{}:{}", rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw()))
}

/// Returns true if this process may make entries in a directory that exists.
pub(super) fn may_write_to(directory: &Path) -> bool {
    rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// A directory of this user alone below `parent`, made if it is missing. `None` if another user has
/// made the directory or can write to it: its content would be trusted.
pub(super) fn private_directory(parent: &Path) -> Option<PathBuf> {
    let user = rustix::process::geteuid();
    let path = parent.join(format!("rustomize-{}", user.as_raw()));
    // `mkdir` also fails if the directory exists. The check below reports all other errors.
    let _ = rustix::fs::mkdir(&path, Mode::RWXU);
    let there = rustix::fs::lstat(&path).ok()?;
    let is_directory = rustix::fs::FileType::from_raw_mode(there.st_mode).is_dir();
    let is_mine =
        there.st_uid == user.as_raw() && Mode::from_raw_mode(there.st_mode) & Mode::from(0o077) == Mode::empty();
    (is_directory && is_mine).then_some(path)
}
