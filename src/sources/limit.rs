//! [`ReadFile`]: reads files as a whole, up to a limit.

use super::reach;
use rustomize_engine::load::FileLimit;
use rustomize_files as files;
use std::fs::File;
use std::io;
#[cfg(not(unix))]
use std::io::Read;
use std::path::Path;

/// Reads files of this machine, up to a limit.
pub trait ReadFile {
    /// The content of a plain file; links are followed. O(size).
    ///
    /// # Errors
    /// The file cannot be read, is not a plain file, or is too large.
    fn read(self, path: &Path) -> io::Result<Vec<u8>>;

    /// As [`ReadFile::read`], for a text.
    ///
    /// # Errors
    /// As [`ReadFile::read`], or the content is not UTF-8.
    fn read_to_string(self, path: &Path) -> io::Result<String>;
}

impl ReadFile for FileLimit {
    fn read(self, path: &Path) -> io::Result<Vec<u8>> {
        reach::check(path)?;
        files::read(path, self.0)
    }

    fn read_to_string(self, path: &Path) -> io::Result<String> {
        String::from_utf8(self.read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
    }
}

/// The content of an open file that claims to have `size` bytes. O(size), and a single call of the
/// system if the claim is true.
///
/// # Errors
/// As [`ReadFile::read`].
pub fn read_opened(limit: FileLimit, file: &File, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = limit.room(size)?;
    loop {
        if bytes.len() == bytes.capacity() {
            limit.check(bytes.len() as u64)?;
            let more = bytes.len() as u64;
            FileLimit::grow(&mut bytes, more)?;
        }
        let n = read_some(file, &mut bytes)?;
        if n == 0 || bytes.len() as u64 == size {
            return limit.check(bytes.len() as u64).map(|()| bytes);
        }
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
