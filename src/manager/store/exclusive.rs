//! [`ExclusiveRoot`]: a directory with plugins that one process writes to.

use crate::atomic::{self, Staged};
use crate::diag::{Code, Error, Result};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(super) fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let message = format!("cannot {what} '{}'", path.display());
    move |e| Error::io(&e, format!("{message}: {e}"))
}

/// A root, or another directory with plugins, that nobody else writes to while this value lives.
pub struct ExclusiveRoot {
    path: PathBuf,
    /// Where plugins lie while they are made ready: on the file system of the root, and gone with
    /// this value.
    staging: TempDir,
    _lock: File,
}

/// The file in a root that is locked.
const LOCK: &str = ".rustomize-lock";

/// The beginning of the name of the directory below a root that holds what is made ready. What
/// follows is random: nothing of the user is called so.
const STAGING: &str = ".rustomize-staging-";

/// How many random characters follow [`STAGING`].
const RANDOM: usize = 6;

/// Removes what those have left who were killed. The caller has the lock: it is nobody's who lives.
fn clear(root: &Path) -> Result<()> {
    let is_random = |end: &str| end.len() == RANDOM && end.bytes().all(|b| b.is_ascii_alphanumeric());
    for entry in fs::read_dir(root).map_err(io("read", root))?.filter_map(std::result::Result::ok) {
        let is_ours = entry.file_name().to_str().and_then(|name| name.strip_prefix(STAGING)).is_some_and(is_random);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            fs::remove_dir_all(entry.path()).map_err(io("clear", &entry.path()))?;
        }
    }
    Ok(())
}

impl ExclusiveRoot {
    /// Waits until nobody else writes to a root, and clears away what somebody who was killed has
    /// left. `waiting` is called if it is not free.
    ///
    /// # Errors
    /// The root cannot be made or written to.
    pub fn lock(root: &Path, waiting: impl FnOnce()) -> Result<ExclusiveRoot> {
        fs::create_dir_all(root).map_err(io("make the directory", root))?;
        let path = root.join(LOCK);
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let lock = File::options().create(true).truncate(false).write(true).custom_flags(no_link).open(&path);
        let lock = lock.map_err(io("write", &path))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            waiting();
            lock.lock().map_err(io("lock", &path))?;
        }
        clear(root)?;
        let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(root).map_err(io("write to", root))?;
        Ok(ExclusiveRoot { path: root.to_owned(), staging, _lock: lock })
    }

    /// The root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An empty directory for something that is made ready.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn stage(&self) -> Result<TempDir> {
        TempDir::new_in(self.staging.path()).map_err(io("write to", self.staging.path()))
    }

    /// Writes a file below the root, in one step, and waits until it is kept. Directories are made.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path, text: &str, mode: u32) -> Result<()> {
        self.make_folder(atomic::folder_of(path))?;
        let write = || {
            let mut staged = Staged::new_in(self.staging.path())?;
            staged.write_all(text.as_bytes())?;
            staged.put_for_good(path, mode)
        };
        write().map_err(io("write", path))
    }

    /// Makes a directory below the root, and those above it. None of them is a link to elsewhere.
    ///
    /// # Errors
    /// One is a link, or cannot be made.
    pub fn make_folder(&self, folder: &Path) -> Result<()> {
        let below = folder.ancestors().take_while(|above| above.starts_with(&self.path) && *above != self.path);
        if let Some(link) = below.filter(|above| above.is_symlink()).last() {
            let message = format!("'{}' is a link, and rustomize does not write through links", link.display());
            return Err(Error::new(Code::Refused, message).hint("remove it, or name the directory that it leads to"));
        }
        fs::create_dir_all(folder).map_err(io("make the directories of", folder))
    }
}
