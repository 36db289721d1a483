//! Locks of directories on Windows, and directories that other users cannot write to.

use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// The flag of a file that the system removes when it is closed.
const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;

/// The errors of a file that another process has opened for itself, or that is being removed.
const SHARING_VIOLATION: i32 = 32;
const ACCESS_DENIED: i32 = 5;

/// The time between two tries to open a file for this process alone.
const PAUSE: Duration = Duration::from_millis(10);

/// The number of tries for a file that is being removed.
const TRIES: u32 = 100;

/// Takes the lock of a directory, which a process holds while it reads, changes and writes a file
/// there. If another process has the lock, calls `waiting` and waits. `None` for a directory that
/// does not exist, or if the place for temporary files cannot be written to.
///
/// This system locks no directories: a file among the temporary files of the
/// user stands for the lock. The system removes the file when its process ends.
pub fn lock(directory: &Path, waiting: impl FnOnce()) -> Option<File> {
    let mut name = DefaultHasher::new();
    dunce::canonicalize(directory).ok()?.to_string_lossy().to_lowercase().hash(&mut name);
    let place = std::env::temp_dir().join(format!("rustomize-{:016x}.lock", name.finish()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    let (mut waiting, mut denied) = (Some(waiting), 0);
    loop {
        match options.open(&place) {
            Ok(lock) => return Some(lock),
            Err(e) if e.raw_os_error() == Some(SHARING_VIOLATION) => {}
            Err(e) if e.raw_os_error() == Some(ACCESS_DENIED) && denied < TRIES => denied += 1,
            Err(_) => return None,
        }
        if let Some(waiting) = waiting.take() {
            waiting();
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns true if a path is in the profile of the user, whose lists of access keep other users
/// away, but for administrators. Links are followed; the end of the path need not exist.
pub fn is_in_profile(path: &Path) -> bool {
    let Some(profile) = std::env::home_dir().and_then(|home| dunce::canonicalize(home).ok()) else { return false };
    let there = path.ancestors().find_map(|above| dunce::canonicalize(above).ok());
    there.is_some_and(|there| there != profile && there.starts_with(&profile))
}
