//! Directories that only their user can look into, by the permissions of Unix: making and
//! locking them.

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Makes a directory in another one.
pub(super) fn make(builder: &mut tempfile::Builder<'_, '_>, parent: &Path) -> io::Result<PathBuf> {
    Ok(builder.permissions(Permissions::from_mode(0o700)).tempdir_in(parent)?.keep())
}

/// Makes a file.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Locks a directory of this user that other users cannot look into.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process has locked it, [`io::ErrorKind::Unsupported`]
/// if the system cannot lock it, [`io::ErrorKind::PermissionDenied`] if it is not such a directory.
pub(super) fn lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&opened)?;
    let is_private = stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o077 == 0;
    if !is_private {
        return Err(Errno::PERM.into());
    }
    match rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(opened.into()),
        Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => Err(io::ErrorKind::Unsupported.into()),
        Err(e) => Err(e.into()),
    }
}

/// Removes a directory with all its content, as far as that is possible.
pub(super) fn remove(path: &Path) {
    let _ = rustomize_files::remove(path);
}
