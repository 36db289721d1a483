//! Locks of directories.

use std::fs::{File, TryLockError};
use std::path::Path;

/// Takes the lock of a directory, which a process holds while it reads, changes and writes a file
/// there. If another process has the lock, calls `waiting` and waits. The lock is that of the
/// directory, because its files are replaced. `None` on a file system without locks.
pub fn lock(directory: &Path, waiting: impl FnOnce()) -> Option<File> {
    let directory = File::open(directory).ok()?;
    match directory.try_lock() {
        Err(TryLockError::WouldBlock) => {
            waiting();
            directory.lock().ok()?;
        }
        other => other.ok()?,
    }
    Some(directory)
}
