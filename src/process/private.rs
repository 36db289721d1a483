//! Directories that only this user can look into and that must not outlive a build.
//!
//! They are removed when they are dropped, or by [`remove_all`] when a build is ended. If a process
//! was killed, a later process removes its directories: each is locked as long as its process
//! lives.

use super::Children;
use super::directory::{create, lock, make, remove};
use rustomize_files::{PREFIX, is_temporary};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The end of the names of directories that are locked.
const LOCKED: &str = ".locked";

/// The beginnings of the names of such directories.
const PREFIXES: [&str; 3] = ["rustomize-", "kustomize-", "partial-"];

/// The number of tries of a step that another process may disturb.
const ROUNDS: usize = 16;

/// Removes directories.
pub(super) fn remove_all(directories: Vec<PathBuf>) {
    for directory in directories {
        remove(&directory);
    }
}

/// A directory that only this user can look into, removed when it is dropped and by
/// [`Children::end`].
pub struct PrivateDirectory {
    /// Empty if it was kept.
    path: PathBuf,
    children: Children,
    /// As long as this is open, other processes do not treat the directory as a forgotten one.
    _lock: Option<File>,
}

impl PrivateDirectory {
    /// Makes a locked directory, which a later process removes if this one is killed.
    pub(super) fn locked(children: &Children, parent: &Path, prefix: &str) -> io::Result<Self> {
        // The names of temporary files and directories beside each other have one form.
        let suffix = if prefix == PREFIX { "" } else { LOCKED };
        for _ in 0..ROUNDS {
            let mut directory = PrivateDirectory::make(children, parent, prefix, suffix)?;
            // Before the directory is locked, another process may treat it as a forgotten one.
            match lock(&directory.path) {
                Ok(lock) if directory.path.is_dir() => {
                    directory._lock = Some(lock);
                    return Ok(directory);
                }
                Ok(_) => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock) => {}
                // If the system cannot lock directories, later processes remove none.
                Err(e) if e.kind() == io::ErrorKind::Unsupported => return Ok(directory),
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("its directory is removed again and again"))
    }

    fn make(children: &Children, parent: &Path, prefix: &str, suffix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let path = children.list(|| make(builder.prefix(prefix).suffix(suffix), parent))?;
        Ok(PrivateDirectory { path, children: children.clone(), _lock: None })
    }

    /// The place of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file in the directory that only this user can read.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(&self, name: &str) -> io::Result<File> {
        create(&self.path.join(name))
    }

    /// Renames the directory to `place` in one step, and keeps it.
    ///
    /// # Errors
    /// The directory cannot be renamed: then it is removed.
    pub fn keep_as(mut self, place: &Path) -> io::Result<()> {
        fs::rename(&self.path, place)?;
        self.children.unlist(&std::mem::take(&mut self.path));
        Ok(())
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // The directory is removed first: if the build is ended in between, it is still on the
            // list.
            remove(&self.path);
            self.children.unlist(&self.path);
        }
    }
}

/// Removes the directories that killed processes of this user have left in the place for temporary
/// files.
pub(super) fn sweep(parent: &Path) {
    sweep_those(parent, is_locked);
}

/// Removes the directories that killed processes of this user have left in a directory that is
/// written to.
pub(super) fn sweep_beside(parent: &Path) {
    sweep_those(parent, |name| is_locked(name) || is_temporary(name));
}

fn is_locked(name: &OsStr) -> bool {
    let is_ours = |name: &str| name.ends_with(LOCKED) && PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    name.to_str().is_some_and(is_ours)
}

fn sweep_those(parent: &Path, is_ours: impl Fn(&OsStr) -> bool) {
    for entry in fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok) {
        if is_ours(&entry.file_name())
            && let Ok(_lock) = lock(&entry.path())
        {
            remove(&entry.path());
        }
    }
}
