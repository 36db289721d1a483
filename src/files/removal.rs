//! Removing trees by descriptors, at any depth, even if their owner has taken permissions away or
//! still writes.

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The number of tries of a step that another process may disturb.
const ROUNDS: usize = 16;

/// The largest depth of a directory that is removed.
const LEVELS: usize = 1_000_000;

/// Removes an entry of a directory, with all its content. Succeeds if it does not exist.
pub(super) fn remove(folder: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> Result<(), Errno> {
    if unlink(folder, name)? {
        return Ok(());
    }
    match open_up(folder, name) {
        Ok(top) => clear(&top)?,
        Err(Errno::NOENT) => return Ok(()),
        Err(e) => return Err(e),
    }
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// Removes the content of a directory. O(entries at any depth).
fn clear(top: &OwnedFd) -> Result<(), Errno> {
    let mut tries = 0;
    for round in 0..LEVELS {
        let names = names(top)?;
        if names.is_empty() {
            return Ok(());
        }
        let mut last = Ok(());
        let mut is_stuck = true;
        for (i, name) in names.iter().enumerate() {
            match take_away(top, name, &format!("{round}-{i}")) {
                Ok(()) => is_stuck = false,
                Err(e) => last = Err(e),
            }
        }
        tries = if is_stuck { tries + 1 } else { 0 };
        if tries == ROUNDS {
            return last;
        }
    }
    Err(Errno::NOTEMPTY)
}

/// Removes an entry of a directory. The directories in it are first moved up to `top`, under new
/// names. So no depth fills the stack, or takes more than a few descriptors.
fn take_away(top: &OwnedFd, name: &CStr, new: &str) -> Result<(), Errno> {
    if unlink(top, name)? {
        return Ok(());
    }
    let directory = open_up(top, name)?;
    for (i, inner) in names(&directory)?.iter().enumerate() {
        if !unlink(&directory, inner)? {
            // A directory that this user cannot write to cannot be moved.
            open_up(&directory, inner.as_c_str())?;
            rustix::fs::renameat(&directory, inner, top, format!("{new}-{i}"))?;
        }
    }
    rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)
}

/// Removes an entry that is not a directory; returns `false` for a directory.
fn unlink(directory: impl AsFd, name: impl rustix::path::Arg) -> Result<bool, Errno> {
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(e) => Err(e),
    }
}

/// The names of the entries of a directory.
fn names(directory: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let entries = rustix::fs::Dir::read_from(directory)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_owned()));
    names.filter(|name| !matches!(name.as_deref().map(CStr::to_bytes), Ok(b"." | b".."))).collect()
}

/// Opens a directory and gives this user all permissions. A link in its place is not followed.
#[cfg(target_os = "linux")]
fn open_up(parent: impl AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(parent, name, flags | OFlags::PATH, Mode::empty())?;
    let _ = rustix::fs::chmod(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&opened)), Mode::RWXU);
    rustix::fs::openat(&opened, c".", flags | OFlags::RDONLY, Mode::empty())
}

/// As on Linux, but by the name, which may be the name of another directory by the second call.
#[cfg(not(target_os = "linux"))]
fn open_up(parent: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<OwnedFd, Errno> {
    let _ = rustix::fs::chmodat(&parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW);
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&parent, name, flags | OFlags::RDONLY, Mode::empty())
}
