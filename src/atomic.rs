//! [`Staged`]: files that appear whole, or not at all. Everything that this program keeps for the
//! user is written this way.
//!
//! The content is written to a new file with a random name in a directory of the caller's choice.
//! Then the file is renamed to its place. A link at that place is replaced, never followed.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// The beginning of the names of temporary files and directories of this program.
pub const PREFIX: &str = ".rustomize-";

/// A file that is not in its place yet. It is removed if it is dropped before [`Staged::put`].
pub struct Staged(NamedTempFile);

impl Staged {
    /// Makes an empty file in the directory of its place.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn beside(place: &Path) -> io::Result<Staged> {
        Staged::new_in(folder_of(place))
    }

    /// Makes an empty file in a directory on the file system of its place.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new_in(folder: &Path) -> io::Result<Staged> {
        Ok(Staged(Builder::new().prefix(PREFIX).tempfile_in(folder)?))
    }

    /// Puts the file in its place, with the permissions `mode`.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn put(self, place: &Path, mode: u32) -> io::Result<()> {
        permit(self.0.as_file(), mode)?;
        self.0.persist(place)?;
        Ok(())
    }

    /// As [`Staged::put`], but waits until the content is on the disk before it renames the file.
    ///
    /// # Errors
    /// It cannot be written or renamed.
    pub fn put_for_good(self, place: &Path, mode: u32) -> io::Result<()> {
        self.0.as_file().sync_all()?;
        self.put(place, mode)
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

/// Gives a file permissions.
#[cfg(unix)]
fn permit(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Does nothing: on this system a file keeps the permissions that its directory gives it.
#[cfg(not(unix))]
fn permit(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Writes a file of the user in one step.
///
/// # Errors
/// The file cannot be written. Its place is unchanged then.
pub fn write(place: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut staged = Staged::beside(place)?;
    staged.write_all(content)?;
    staged.put_for_good(place, mode)
}

/// The directory of a file.
pub fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
