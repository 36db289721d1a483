//! Users, permissions and limits of Unix. `without_modes.rs` is the twin for other systems.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// The number of the user of this process; 0 on systems without such numbers.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The permissions of a file; those of most files on systems without them.
pub fn mode(of: &Metadata) -> u32 {
    of.permissions().mode() & 0o7777
}

/// Returns true if the owner, the group or others may execute a file; always on systems without
/// such permissions, where the name says it.
pub fn is_executable(file: &Metadata) -> bool {
    file.permissions().mode() & 0o111 != 0
}

/// Returns true for a file that is marked as read-only. Unix has no such mark: the permissions of
/// the directory decide whether a file can be replaced.
pub fn refuses_writing(_: &Metadata) -> bool {
    false
}

/// Gives a file permissions; does nothing on systems without them.
///
/// # Errors
/// The system refuses.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// As [`set_mode`], for an open file.
pub(crate) fn permit(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Makes a directory, and those above it that are missing. The group and others may not write to
/// them, even if the mask of this process allows it, as that of many jobs in CI does.
///
/// # Errors
/// A directory cannot be made.
pub fn make_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}

/// The permissions that this process gives to a new file: all may read and write it, but for what
/// the mask of the process takes away.
#[allow(clippy::useless_conversion, reason = "a mode has 16 bits on macOS")]
pub fn new_file_mode() -> u32 {
    // The mask can only be read by setting it: what another thread makes meanwhile is for this user
    // alone.
    let mask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    rustix::process::umask(mask);
    // macOS has fewer bits.
    #[allow(clippy::useless_conversion, reason = "not on macOS")]
    let taken = u32::from(mask.bits());
    0o666 & !taken
}

/// Returns true if the system runs no program of a directory, as an option of its mount says.
///
/// # Errors
/// The system does not say.
#[cfg(target_os = "linux")]
pub fn refuses_programs(directory: &Path) -> io::Result<bool> {
    Ok(rustix::fs::statvfs(directory)?.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC))
}

/// Returns false: the system does not say.
///
/// # Errors
/// None here.
#[cfg(not(target_os = "linux"))]
pub fn refuses_programs(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Asks the system for a number of descriptors at least, for a command that holds many files open.
/// The system may give fewer. Does nothing on systems without such a limit.
pub fn raise_descriptors(wanted: u64) {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_some_and(|current| current < wanted) {
        let current = now.maximum.map_or(wanted, |maximum| wanted.min(maximum));
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: now.maximum });
    }
}
