//! Private directories on Windows: as private as the directory that holds them, and the directory
//! of temporary files belongs to one user. A file beside a directory is its lock. The system
//! removes the file when its process ends.

use super::GRACE;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The end of the name of the file that is the lock of a directory.
const LOCK: &str = ".lock";

/// The flag of a file that the system removes when it is closed.
const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;

/// The error for a file that another process has opened for itself.
const ERROR_SHARING_VIOLATION: i32 = 32;

/// The time between two tries to remove a directory.
const PAUSE: Duration = Duration::from_millis(10);

/// Makes a directory in another one.
pub(super) fn make(builder: &mut tempfile::Builder<'_, '_>, parent: &Path) -> io::Result<PathBuf> {
    Ok(builder.tempdir_in(parent)?.keep())
}

/// Makes a file.
pub(super) fn create(path: &Path) -> io::Result<File> {
    File::create_new(path)
}

/// Locks a directory by a file beside it, which this process alone may open.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process has locked it, [`io::ErrorKind::NotADirectory`]
/// if it is a link or a file.
pub(super) fn lock(path: &Path) -> io::Result<File> {
    if !path.symlink_metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mut beside = OsString::from(path);
    beside.push(LOCK);
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false).share_mode(0);
    match options.custom_flags(FILE_FLAG_DELETE_ON_CLOSE).open(beside) {
        Err(e) if e.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Err(io::ErrorKind::WouldBlock.into()),
        opened => opened,
    }
}

/// Removes a directory with all its content, as far as that is possible. A file that a process has
/// open cannot be removed, and a process that was ended has its files open for a moment longer.
pub(super) fn remove(path: &Path) {
    let deadline = Instant::now() + GRACE;
    while rustomize_files::remove(path).is_err() && Instant::now() < deadline {
        std::thread::sleep(PAUSE);
    }
}
