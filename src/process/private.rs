//! Directories that only this user can look into, for what must not stay behind.
//!
//! They are removed when they are dropped, by [`remove_all`] for whoever ends a build, and by a later process
//! where one was killed: each is locked as long as its process lives.

use super::Children;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The end of the names of directories that are locked.
const LOCKED: &str = ".locked";

/// How such names begin.
const PREFIXES: [&str; 2] = ["rustomize-", "kustomize-"];

/// How often is tried what another process may hinder.
const ROUNDS: usize = 16;

/// How deep a directory may be that is removed.
const LEVELS: usize = 1_000_000;

/// Removes directories.
pub(super) fn remove_all(directories: Vec<PathBuf>) {
    for directory in directories {
        let _ = remove(&directory);
    }
}

/// A directory that only this user can look into, removed when it is dropped and by
/// [`Children::end`].
pub struct PrivateDirectory {
    /// Empty if it was kept.
    path: PathBuf,
    children: Children,
    /// As long as this is open, no other process takes the directory for a forgotten one.
    _lock: Option<OwnedFd>,
}

impl PrivateDirectory {
    /// Makes one that is locked, which a later process removes if this one is killed.
    pub(super) fn locked(children: &Children, parent: &Path, prefix: &str) -> io::Result<Self> {
        for _ in 0..ROUNDS {
            let mut directory = PrivateDirectory::make(children, parent, prefix, LOCKED)?;
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

    /// Makes one that no other process looks for.
    pub(super) fn unlocked(children: &Children, parent: &Path, prefix: &str) -> io::Result<Self> {
        PrivateDirectory::make(children, parent, prefix, "")
    }

    fn make(children: &Children, parent: &Path, prefix: &str, suffix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(suffix).permissions(Permissions::from_mode(0o700));
        let path = children.list(|| Ok(builder.tempdir_in(parent)?.keep()))?;
        Ok(PrivateDirectory { path, children: children.clone(), _lock: None })
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
        self.children.unlist(&std::mem::take(&mut self.path));
        Ok(())
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // First this: whoever ends the build in between finds it all the same.
            let _ = remove(&self.path);
            self.children.unlist(&self.path);
        }
    }
}

/// Removes a directory with all that is in it, however deep that is, also where a plugin has taken
/// rights away, or still writes.
fn remove(path: &Path) -> io::Result<()> {
    match open_up(rustix::fs::CWD, path) {
        Ok(top) => clear(&top)?,
        Err(Errno::NOENT) => return Ok(()),
        Err(e) => return Err(e.into()),
    }
    fs::remove_dir(path)
}

/// Removes what is in a directory. O(entries at any depth).
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

/// Removes an entry of a directory. The directories in it come up to `top` first, under new names:
/// so no depth fills the stack, or takes more than a few descriptors.
fn take_away(top: &OwnedFd, name: &CStr, new: &str) -> Result<(), Errno> {
    if unlink(top, name)? {
        return Ok(());
    }
    let directory = open_up(top, name)?;
    for (i, inner) in names(&directory)?.iter().enumerate() {
        if !unlink(&directory, inner)? {
            // One that this user may not write to cannot be moved.
            open_up(&directory, inner.as_c_str())?;
            rustix::fs::renameat(&directory, inner, top, format!("{new}-{i}"))?;
        }
    }
    rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)
}

/// Removes an entry that is not a directory; `false` for one that is.
fn unlink(directory: &OwnedFd, name: &CStr) -> Result<bool, Errno> {
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

/// Opens a directory, to which this user gets all rights. A link in its place leads nowhere.
#[cfg(target_os = "linux")]
fn open_up(parent: impl AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(parent, name, flags | OFlags::PATH, Mode::empty())?;
    let _ = rustix::fs::chmod(format!("/proc/self/fd/{}", opened.as_raw_fd()), Mode::RWXU);
    rustix::fs::openat(&opened, c".", flags | OFlags::RDONLY, Mode::empty())
}

/// As on Linux, by the name, which may be another directory's by the second call.
#[cfg(not(target_os = "linux"))]
fn open_up(parent: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<OwnedFd, Errno> {
    let _ = rustix::fs::chmodat(&parent, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW);
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&parent, name, flags | OFlags::RDONLY, Mode::empty())
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
pub(super) fn sweep(parent: &Path) {
    let is_ours = |name: &str| name.ends_with(LOCKED) && PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    for entry in fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_name().to_str().is_some_and(is_ours)
            && let Ok(_lock) = lock(&entry.path())
        {
            let _ = remove(&entry.path());
        }
    }
}
