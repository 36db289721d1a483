//! [`Staged`]: a file that appears whole, or not at all.

use super::modes::{own_user, permit};
use super::{Directory, Kind};
use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::hash::BuildHasher;
use std::io::{self, Seek, Write};
use std::path::Path;

/// The beginning of the names of temporary files and directories of this program.
pub const PREFIX: &str = ".rustomize-";

/// The length of the random part of the name of a temporary file.
const LENGTH: usize = 6;

/// The number of names that are tried for a temporary file.
const TRIES: u32 = 64;

/// A file that is not in its place yet. It is removed if it is dropped before [`Staged::put`].
#[derive(Debug)]
pub struct Staged {
    directory: Directory,
    /// The name of the file in the directory; empty once the file is in its place.
    name: OsString,
    file: File,
}

impl Staged {
    /// Makes an empty file with a random name, which only this user can read.
    ///
    /// # Errors
    /// The file cannot be made in the directory.
    pub fn new_in(directory: &Directory) -> io::Result<Staged> {
        for _ in 0..TRIES {
            let name = OsString::from(format!("{PREFIX}{}", random()));
            match directory.create(Path::new(&name), 0o600) {
                Ok(file) => {
                    let staged = Staged { directory: directory.try_clone()?, name, file };
                    if staged.is_locked() {
                        return Ok(staged);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The content so far, from its beginning, even if another file has taken the name by now.
    ///
    /// # Errors
    /// The system cannot seek in the file.
    pub fn reread(&mut self) -> io::Result<&File> {
        self.file.seek(io::SeekFrom::Start(0))?;
        Ok(&self.file)
    }

    /// Locks the file, so that no other process takes it for a leftover of a killed process.
    /// Returns false if another process has done so already. On a file system without locks no
    /// process removes leftovers.
    fn is_locked(&self) -> bool {
        match self.file.try_lock() {
            Ok(()) => self.directory.facts(Path::new(&self.name)).is_ok(),
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => true,
        }
    }

    /// Renames the file to its place in a directory of the same file system, with the permissions
    /// `mode`. A file or link that has the name is replaced.
    ///
    /// # Errors
    /// The permissions cannot be set, or the file cannot be renamed. It is removed then.
    pub fn put(mut self, directory: &Directory, path: &Path, mode: u32) -> io::Result<()> {
        permit(&self.file, mode)?;
        self.directory.rename(Path::new(&self.name), directory, path)?;
        self.name.clear();
        Ok(())
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    /// The content cannot be written to the disk.
    pub fn sync_all(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// As [`Staged::put`], but waits until the content is on the disk before it renames the file.
    ///
    /// # Errors
    /// As [`Staged::sync_all`] and [`Staged::put`]. The file is removed then.
    pub fn put_for_good(self, directory: &Directory, path: &Path, mode: u32) -> io::Result<()> {
        self.file.sync_all()?;
        self.put(directory, path, mode)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = self.directory.remove(Path::new(&self.name));
        }
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns true for a name of a temporary file or directory of this program.
pub fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| random.len() == LENGTH && random.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Removes the temporary files that killed processes of this user have left in a directory: a
/// process that lives holds the lock of its files. A file that cannot be removed stays. O(entries).
pub fn sweep(directory: &Directory) {
    for (name, kind) in directory.entries().unwrap_or_default() {
        let path = Path::new(&name);
        if kind != Kind::File || !is_temporary(&name) {
            continue;
        }
        if let Ok(left) = directory.file(path)
            && left.facts().owner == own_user()
            && left.into_file().try_lock().is_ok()
        {
            let _ = directory.remove(path);
        }
    }
}

/// [`LENGTH`] random letters or digits. The standard library draws the keys of its hash tables from
/// the random numbers of the system.
pub(super) fn random() -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut number = RandomState::new().hash_one(std::process::id());
    let mut letter = || {
        let letter = LETTERS[(number % 36) as usize];
        number /= 36;
        char::from(letter)
    };
    (0..LENGTH).map(|_| letter()).collect()
}
