//! [`Staged`]: files that appear whole, or not at all. Everything that this program keeps for the
//! user is written this way.
//!
//! The content is written to a new file with a random name in a directory of the caller's choice.
//! Then the file is renamed to its place. A link at that place is replaced, never followed.

use crate::Directory;
use std::io::{self, Write};
use std::path::Path;

pub use crate::{PREFIX, folder_of};

/// A file that is not in its place yet. It is removed if it is dropped before
/// [`Staged::put_for_good`].
pub struct Staged(crate::Staged);

impl Staged {
    /// Makes an empty file in the directory of its place.
    ///
    /// # Errors
    /// As [`Staged::new_in`].
    pub fn beside(place: &Path) -> io::Result<Staged> {
        Staged::new_in(folder_of(place))
    }

    /// Makes an empty file in a directory on the file system of its place.
    ///
    /// # Errors
    /// The directory cannot be opened, or the file cannot be made in it.
    pub fn new_in(folder: &Path) -> io::Result<Staged> {
        Ok(Staged(crate::Staged::new_in(&Directory::open(folder)?)?))
    }

    /// Puts the file in its place, with the permissions `mode`, once its content is on the disk.
    ///
    /// # Errors
    /// The content cannot be written to the disk, or the file cannot be renamed. It is removed
    /// then.
    pub fn put_for_good(self, place: &Path, mode: u32) -> io::Result<()> {
        self.0.put_for_good(&Directory::open(folder_of(place))?, name_of(place)?, mode)
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The name of a file in its directory.
fn name_of(place: &Path) -> io::Result<&Path> {
    place.file_name().map(Path::new).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Writes a file of the user in one step.
///
/// # Errors
/// The file cannot be written. Its place is unchanged then.
pub fn write(place: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    crate::sweep(&Directory::open(folder_of(place))?);
    let mut staged = Staged::beside(place)?;
    staged.write_all(content)?;
    staged.put_for_good(place, mode)
}

#[cfg(test)]
mod tests {
    use super::write;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_link_is_replaced_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (place, other) = (folder.path().join("place"), folder.path().join("other"));
        fs::write(&other, "other").unwrap();
        symlink(&other, &place).unwrap();
        write(&place, b"new", 0o640).unwrap();
        assert_eq!((fs::read(&place).unwrap(), fs::read(&other).unwrap()), (b"new".to_vec(), b"other".to_vec()));
        let is = place.symlink_metadata().unwrap();
        assert!(is.is_file() && is.permissions().mode() & 0o777 == 0o640);
        assert!(write(&folder.path().join("no/place"), b"", 0o644).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
