//! [`ExclusiveRoot`]: a directory with plugins that one process writes to.

use crate::diag::{Code, Error, Result};
use rustomize_files::{self as files, Directory, Kind, Staged, Temporary, folder_of};
use rustomize_plugins::failure::cannot;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A root, or another directory with plugins, that no other process writes to while this value
/// exists.
pub struct ExclusiveRoot {
    path: PathBuf,
    held: Directory,
    /// The directory in which plugins are made ready: on the file system of the root, and removed
    /// with this value.
    staging: Temporary,
    _lock: File,
}

/// The file in a root that is locked.
const LOCK: &str = ".rustomize-lock";

/// The beginning of the name of the directory below a root in which plugins are made ready. Random
/// characters follow: the user has no directory with such a name.
const STAGING: &str = ".rustomize-staging-";

/// How many random characters follow [`STAGING`].
const RANDOM: usize = 6;

/// Removes the directories that killed processes have left. The caller has the lock, so no process
/// that runs uses one of them.
fn clear(root: &Directory) -> Result<()> {
    let is_random = |end: &str| end.len() == RANDOM && end.bytes().all(|b| b.is_ascii_alphanumeric());
    for (name, kind) in root.entries().map_err(cannot("read", root.path()))? {
        let is_ours = name.to_str().and_then(|name| name.strip_prefix(STAGING)).is_some_and(is_random);
        if is_ours && kind == Kind::Directory {
            root.remove(Path::new(&name)).map_err(cannot("clear", &root.path().join(&name)))?;
        }
    }
    Ok(())
}

impl ExclusiveRoot {
    /// Waits until no other process writes to a root, and removes what killed processes have left.
    /// `waiting` is called if another process writes to the root.
    ///
    /// # Errors
    /// The root cannot be made or written to.
    pub fn lock(root: &Path, waiting: impl FnOnce()) -> Result<ExclusiveRoot> {
        files::make_folders(root).map_err(cannot("make the directory", root))?;
        let held = Directory::open(root).map_err(cannot("open", root))?;
        let path = root.join(LOCK);
        let lock = held.lock_file(Path::new(LOCK)).map_err(cannot("write", &path))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            waiting();
            lock.lock().map_err(cannot("lock", &path))?;
        }
        clear(&held)?;
        let staging = Temporary::new_in(&held, STAGING).map_err(cannot("write to", root))?;
        Ok(ExclusiveRoot { path: root.to_owned(), held, staging, _lock: lock })
    }

    /// The root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The root, held.
    pub fn held(&self) -> &Directory {
        &self.held
    }

    /// An empty directory for something that is made ready.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn stage(&self) -> Result<Temporary> {
        Temporary::new_in(self.staging.held(), "").map_err(cannot("write to", self.staging.path()))
    }

    /// Writes a file below the root, in one step, and waits until it is kept. Directories are made.
    ///
    /// # Errors
    /// The file cannot be written, or a directory above it is a link.
    pub fn write(&self, path: &Path, text: &str, mode: u32) -> Result<()> {
        let folder = self.make_folder(folder_of(path))?;
        let write = || self.staged(text)?.put(&folder, name_of(path)?, mode);
        write().map_err(cannot("write", path))
    }

    /// Writes a file that is not in its place yet, and waits until it is kept.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn staged(&self, text: &str) -> io::Result<Staged> {
        let mut staged = Staged::new_in(self.staging.held())?;
        staged.write_all(text.as_bytes())?;
        staged.sync_all()?;
        Ok(staged)
    }

    /// Makes a directory below the root, and those above it. None of them is a link to elsewhere.
    ///
    /// # Errors
    /// A directory is a link, or cannot be made.
    pub fn make_folder(&self, folder: &Path) -> Result<Directory> {
        let below = self.below(folder)?;
        self.held.make(below, 0o755).map_err(|e| match files::is_refusal(&e) {
            true => Error::new(Code::Refused, format!("rustomize does not write through links: {e}"))
                .hint("remove it, or name the directory that it leads to"),
            false => cannot("make the directories of", folder)(e),
        })
    }

    /// A path below the root, without the root.
    ///
    /// # Errors
    /// The path is elsewhere.
    pub fn below<'p>(&self, path: &'p Path) -> Result<&'p Path> {
        let elsewhere = |_| Error::new(Code::Internal, format!("'{}' is not below the root", path.display()));
        path.strip_prefix(&self.path).map_err(elsewhere)
    }
}

/// The name of an entry in its directory.
pub(super) fn name_of(path: &Path) -> io::Result<&Path> {
    path.file_name().map(Path::new).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
