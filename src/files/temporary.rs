//! [`Temporary`]: a directory that is removed when it is dropped.

use super::Directory;
use super::staged::random;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The number of names that are tried.
const TRIES: u32 = 64;

/// A directory with a random name that only this user can look into. The directory and all its
/// content are removed when it is dropped.
#[derive(Debug)]
pub struct Temporary {
    parent: Directory,
    name: OsString,
    held: Directory,
}

impl Temporary {
    /// Makes an empty directory whose name begins with `prefix`.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn new_in(parent: &Directory, prefix: &str) -> io::Result<Temporary> {
        for _ in 0..TRIES {
            let name = OsString::from(format!("{prefix}{}", random()));
            match parent.make_new(Path::new(&name), 0o700) {
                Ok(held) => return Ok(Temporary { parent: parent.try_clone()?, name, held }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The path of the directory, for messages and for programs that need a path.
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// The directory.
    pub fn held(&self) -> &Directory {
        &self.held
    }

    /// Renames the directory to a place where nothing exists, and keeps it.
    ///
    /// # Errors
    /// The directory cannot be renamed. It is removed then.
    pub fn keep_as(self, to: &Directory, path: &Path) -> io::Result<()> {
        self.parent.rename(Path::new(&self.name), to, path)
    }

    /// The name of the directory.
    pub fn name(&self) -> PathBuf {
        PathBuf::from(&self.name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = self.parent.remove(Path::new(&self.name));
    }
}
