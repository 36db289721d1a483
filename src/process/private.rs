//! Directories that only this user can look into, for what must not stay behind.
//!
//! They are removed when they are dropped, by [`remove_all`] for a signal, and by a later process
//! where one was killed: each is locked as long as its process lives.

use super::was_ended;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// The end of the names of directories that are locked.
const LOCKED: &str = ".locked";

/// How such names begin.
const PREFIXES: [&str; 2] = ["rustomize-", "kustomize-"];

/// How often a directory is removed that something still writes into.
const ROUNDS: usize = 16;

static DIRECTORIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every directory of this process. [`was_ended`] says so already: no other one is made.
pub(super) fn remove_all() {
    let directories = std::mem::take(&mut *DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner));
    for directory in directories {
        let _ = remove(&directory);
    }
}

/// A directory that only this user can look into, removed when it is dropped and by
/// [`end_all`](super::end_all).
pub struct PrivateDirectory {
    /// Empty if it was kept.
    path: PathBuf,
    /// As long as this is open, no other process takes the directory for a forgotten one.
    _lock: Option<OwnedFd>,
}

impl PrivateDirectory {
    /// Makes one in the system's place for temporary files. The first one of a process removes
    /// those that killed processes of this user have left there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(prefix: &str) -> io::Result<Self> {
        static SWEEP: Once = Once::new();
        let parent = tempfile::env::temp_dir();
        SWEEP.call_once(|| sweep(&parent));
        for _ in 0..ROUNDS {
            let mut directory = PrivateDirectory::make(&parent, prefix, LOCKED)?;
            // Before it is locked, another process may take it for a forgotten one.
            match lock(&directory.path) {
                Ok(lock) if directory.path.is_dir() => {
                    directory._lock = Some(lock);
                    return Ok(directory);
                }
                Ok(_) | Err(Errno::NOENT | Errno::WOULDBLOCK) => {}
                // Where nobody can lock it, nobody removes it.
                Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(directory),
                Err(e) => return Err(e.into()),
            }
        }
        Err(io::Error::other("its directory is removed again and again"))
    }

    /// Makes one in another directory.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        PrivateDirectory::make(parent, prefix, "")
    }

    fn make(parent: &Path, prefix: &str, suffix: &str) -> io::Result<Self> {
        let mut directories = DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner);
        if was_ended() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(suffix).permissions(Permissions::from_mode(0o700));
        let path = builder.tempdir_in(parent)?.keep();
        directories.push(path.clone());
        Ok(PrivateDirectory { path, _lock: None })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it another name in one step, and keeps it.
    ///
    /// # Errors
    /// It cannot be renamed: then it is removed.
    pub fn keep_as(mut self, place: &Path) -> io::Result<()> {
        fs::rename(&self.path, place)?;
        forget(&std::mem::take(&mut self.path));
        Ok(())
    }
}

fn forget(path: &Path) {
    DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner).retain(|d| *d != path);
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // First this: a signal in between finds it all the same.
            let _ = remove(&self.path);
            forget(&self.path);
        }
    }
}

/// Removes a directory with all that is in it, also where a plugin has taken rights away, or still
/// writes.
fn remove(path: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for _ in 0..ROUNDS {
        last = fs::remove_dir_all(path);
        match &last {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err() => return Ok(()),
            Err(_) => open_up(path),
        }
    }
    last
}

/// Gives this user all rights to a directory, and to those below it. Each is opened in the one
/// above it: a link that takes the place of one meanwhile leads nowhere.
fn open_up(path: &Path) {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(opened) = rustix::fs::open(path, flags, Mode::empty()) else { return };
    let same = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    let _ = fs::set_permissions(&same, Permissions::from_mode(0o700));
    let entries = fs::read_dir(&same).into_iter().flatten().filter_map(Result::ok);
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let below: Vec<PathBuf> = directories.map(|entry| entry.path()).collect();
    below.iter().for_each(|path| open_up(path));
}

/// Locks a directory of this user that nobody else can look into.
///
/// # Errors
/// [`Errno::WOULDBLOCK`] if another process has it, [`Errno::PERM`] if it is something else.
fn lock(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&opened)?;
    let is_private = stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o077 == 0;
    if !is_private {
        return Err(Errno::PERM);
    }
    rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
    Ok(opened)
}

/// Removes the directories that killed processes of this user have left.
fn sweep(parent: &Path) {
    let is_ours = |name: &str| name.ends_with(LOCKED) && PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    for entry in fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_str().is_some_and(is_ours)
            && let Ok(_lock) = lock(&entry.path())
        {
            let _ = remove(&entry.path());
        }
    }
}
