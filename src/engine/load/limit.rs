//! [`FileLimit`]: the largest size of a file that is read as a whole.

use std::io;

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
}
