//! [`FileLimit`]: how large a file may be that is read as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a file. A sparse file says that it has terabytes, and takes no room on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimit(pub u64);

impl Default for FileLimit {
    fn default() -> Self {
        FileLimit(256 << 20)
    }
}

impl FileLimit {
    /// Room for a file that says that it has `size` bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`], or [`io::ErrorKind::OutOfMemory`] where there is no memory
    /// for it.
    pub fn room(self, size: u64) -> io::Result<Vec<u8>> {
        self.check(size)?;
        let mut bytes = Vec::new();
        FileLimit::grow(&mut bytes, size.saturating_add(1))?;
        Ok(bytes)
    }

    /// Makes room for more bytes of a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`].
    pub fn grow(bytes: &mut Vec<u8>, more: u64) -> io::Result<()> {
        let no_memory = || io::Error::new(io::ErrorKind::OutOfMemory, format!("there is no memory for {more} bytes"));
        let more = usize::try_from(more).map_err(|_| no_memory())?;
        bytes.try_reserve_exact(more).map_err(|_| no_memory())
    }

    /// Holds a size to the limit.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`].
    pub fn check(self, size: u64) -> io::Result<()> {
        match size > self.0 {
            true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} bytes", self.0))),
            false => Ok(()),
        }
    }

    /// The content of a file. O(size).
    ///
    /// # Errors
    /// It cannot be read, or is too large.
    pub fn read(self, path: &Path) -> io::Result<Vec<u8>> {
        let file = File::open(path)?;
        let mut bytes = self.room(file.metadata()?.len())?;
        file.take(self.0.saturating_add(1)).read_to_end(&mut bytes)?;
        self.check(bytes.len() as u64)?;
        Ok(bytes)
    }

    /// As [`FileLimit::read`], for a text.
    ///
    /// # Errors
    /// As [`FileLimit::read`], or it is not UTF-8.
    pub fn read_to_string(self, path: &Path) -> io::Result<String> {
        String::from_utf8(self.read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
    }
}
