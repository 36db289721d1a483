//! Directories that only this user can look into, for what must not stay behind.
//!
//! They are removed when they are dropped, by [`remove_all`] for whoever ends a build, and by a
//! later process where one was killed: each is locked as long as its process lives.

use super::Children;
use super::directory::{create, lock, make, remove};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The end of the names of directories that are locked.
const LOCKED: &str = ".locked";

/// How such names begin.
const PREFIXES: [&str; 2] = ["rustomize-", "kustomize-"];

/// How often is tried what another process may hinder.
const ROUNDS: usize = 16;

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
    _lock: Option<File>,
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
                Ok(_) => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock) => {}
                // Where nobody can lock it, nobody removes it.
                Err(e) if e.kind() == io::ErrorKind::Unsupported => return Ok(directory),
                Err(e) => return Err(e),
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
        let path = children.list(|| make(builder.prefix(prefix).suffix(suffix), parent))?;
        Ok(PrivateDirectory { path, children: children.clone(), _lock: None })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a file in it that only this user can read.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(&self, name: &str) -> io::Result<File> {
        create(&self.path.join(name))
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
