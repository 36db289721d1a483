//! [`FileLimit`]: the largest size of a file that is read as a whole.

use rustomize_files as files;
use std::fs::File;
use std::io;
#[cfg(not(unix))]
use std::io::Read;
use std::path::Path;

/// The largest size of a file, in bytes. A sparse file may claim terabytes without using the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimit(pub u64);

impl Default for FileLimit {
    fn default() -> Self {
        FileLimit(256 << 20)
    }
}

impl FileLimit {
    /// Reserves memory for a file that claims to have `size` bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`], or [`io::ErrorKind::OutOfMemory`] if memory is short.
    pub fn room(self, size: u64) -> io::Result<Vec<u8>> {
        self.check(size)?;
        let mut bytes = Vec::new();
        FileLimit::grow(&mut bytes, size.saturating_add(1))?;
        Ok(bytes)
    }

    /// Reserves memory for more bytes of a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`].
    pub fn grow(bytes: &mut Vec<u8>, more: u64) -> io::Result<()> {
        let no_memory = || io::Error::new(io::ErrorKind::OutOfMemory, format!("there is no memory for {more} bytes"));
        let more = usize::try_from(more).map_err(|_| no_memory())?;
        bytes.try_reserve_exact(more).map_err(|_| no_memory())
    }

    /// Refuses a size above the limit.
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`].
    pub fn check(self, size: u64) -> io::Result<()> {
        match size > self.0 {
            true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} bytes", self.0))),
            false => Ok(()),
        }
    }

    /// The content of a plain file; links are followed. O(size).
    ///
    /// # Errors
    /// The file cannot be read, is not a plain file, or is too large.
    pub fn read(self, path: &Path) -> io::Result<Vec<u8>> {
        files::read(path, self.0)
    }

    /// The content of an open file that claims to have `size` bytes. O(size), and a single call of
    /// the system if the claim is true.
    ///
    /// # Errors
    /// As [`FileLimit::read`].
    pub fn read_opened(self, file: &File, size: u64) -> io::Result<Vec<u8>> {
        let mut bytes = self.room(size)?;
        loop {
            if bytes.len() == bytes.capacity() {
                self.check(bytes.len() as u64)?;
                let more = bytes.len() as u64;
                FileLimit::grow(&mut bytes, more)?;
            }
            let n = read_some(file, &mut bytes)?;
            if n == 0 || bytes.len() as u64 == size {
                return self.check(bytes.len() as u64).map(|()| bytes);
            }
        }
    }

    /// As [`FileLimit::read`], for a text.
    ///
    /// # Errors
    /// As [`FileLimit::read`], or the content is not UTF-8.
    pub fn read_to_string(self, path: &Path) -> io::Result<String> {
        String::from_utf8(self.read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
    }
}

/// Reads into the memory that is left. Returns the number of bytes, which is 0 at the end of the
/// file.
#[cfg(unix)]
fn read_some(file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        match rustix::io::read(file, rustix::buffer::spare_capacity(bytes)) {
            Err(rustix::io::Errno::INTR) => {}
            read => return read.map_err(io::Error::from),
        }
    }
}

/// Reads all of the rest that fits. Returns the number of bytes.
#[cfg(not(unix))]
fn read_some(file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let room = (bytes.capacity() - bytes.len()) as u64;
    file.take(room).read_to_end(bytes)
}
