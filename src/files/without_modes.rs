//! Systems whose files have neither owners with numbers nor permissions of Unix: `modes.rs` says
//! what each function is for.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Returns 0, the owner in the facts of every file.
pub fn own_user() -> u32 {
    0
}

/// The permissions of most files.
pub fn mode(_: &Metadata) -> u32 {
    0o644
}

/// Returns true for a file with content: its name says whether it is a program. An empty file of a
/// program's name opens a shop of the system.
pub fn is_executable(file: &Metadata) -> bool {
    file.len() > 0
}

/// Returns true for a file that is read-only.
pub fn refuses_writing(file: &Metadata) -> bool {
    file.permissions().readonly()
}

/// Does nothing: a file keeps the permissions that its directory gives it.
///
/// # Errors
/// None here.
pub fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// As [`set_mode`].
pub(crate) fn permit(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Makes a directory, and those above it that are missing, with the permissions of their place.
///
/// # Errors
/// A directory cannot be made.
pub fn make_folders(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// The permissions that a new file would have.
pub fn new_file_mode() -> u32 {
    0o666
}

/// Returns false: programs run in every directory.
///
/// # Errors
/// None here.
pub fn refuses_programs(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Does nothing: the system has no limit that a process could raise.
pub fn raise_descriptors(_: u64) {}
