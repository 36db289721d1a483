//! [`Tree`]: the files of the copy while it is made.

use crate::diag::{Code, Error, Result};
use crate::load::{join, path};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of the copy. It contains no links.
pub(super) struct Tree {
    top: PathBuf,
    /// The directory that contains the directory of the copy; its name is in no path of the copy.
    around: PathBuf,
}

impl Tree {
    /// An empty copy in the directory `top`, which is in `around`.
    pub(super) fn new(top: PathBuf, around: PathBuf) -> Self {
        Tree { top, around }
    }

    /// The place of a path below a directory of the copy.
    ///
    /// # Errors
    /// The path leads out of the copy.
    fn place(&self, directory: &str, path: &str) -> Result<PathBuf> {
        let joined = join(directory, path);
        let is_elsewhere = joined == ".." || joined.starts_with("../") || joined.starts_with('/');
        if is_elsewhere || path::is_absolute(&joined) || path::fault(&joined).is_some() {
            return Err(Error::new(Code::OutsideRoot, format!("'{path}' leads out of the localize destination")));
        }
        Ok(self.top.join(joined))
    }

    /// Writes a file, and makes the directories above it.
    ///
    /// # Errors
    /// The path leads out of the copy, or cannot be written.
    pub(super) fn write(&self, directory: &str, path: &str, content: &[u8]) -> Result<()> {
        let place = self.place(directory, path)?;
        let written = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&place, content));
        written.map_err(|fault| unusable(&format!("unable to localize file \"{path}\""), &fault))
    }

    /// Makes a directory, and the directories above it.
    ///
    /// # Errors
    /// As [`Tree::write`].
    pub(super) fn make(&self, directory: &str, path: &str) -> Result<()> {
        let place = self.place(directory, path)?;
        fs::create_dir_all(place).map_err(|fault| unusable(&format!("unable to create root \"{path}\""), &fault))
    }

    /// Returns true if the copy has a file or directory at a path.
    ///
    /// # Errors
    /// The path leads out of the copy.
    pub(super) fn has(&self, directory: &str, path: &str) -> Result<bool> {
        Ok(self.place(directory, path)?.exists())
    }

    /// Copies a directory, except for the links in it. O(its size).
    ///
    /// # Errors
    /// The path leads out of the copy; a file cannot be read or written.
    pub(super) fn copy(&self, from: &Path, directory: &str, path: &str) -> Result<()> {
        let to = self.place(directory, path)?;
        self.copy_below(from, &to).map_err(|fault| unusable(&format!("unable to copy directory {from:?}"), &fault))
    }

    fn copy_below(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut directories = vec![(from.to_owned(), to.to_owned())];
        while let Some((from, to)) = directories.pop() {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                let (kind, path, to) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
                match kind {
                    kind if kind.is_dir() && path != self.around => directories.push((path, to)),
                    kind if kind.is_file() => fs::write(to, fs::read(path)?)?,
                    kind if kind.is_symlink() || kind.is_dir() => {}
                    _ => return Err(io::Error::other(format!("'{}' is not a file", path.display()))),
                }
            }
        }
        Ok(())
    }
}

fn unusable(what: &str, fault: &io::Error) -> Error {
    Error::io(fault, format!("{what}: {fault}"))
}
