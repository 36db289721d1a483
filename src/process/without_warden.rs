//! Systems other than Unix have no warden: what a killed process leaves stays there.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// The warden of this process.
pub(super) struct Warden(());

impl Warden {
    /// Starts nothing.
    ///
    /// # Errors
    /// Always.
    pub(super) fn start(_: &Path) -> io::Result<Warden> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The process.
    pub(super) fn pid(&self) -> Option<u32> {
        None
    }

    /// Waits for nothing.
    pub(super) fn dismiss(&self) {}

    /// Says nothing.
    pub(super) fn add(&self, _: &Path) {}

    /// Says nothing.
    pub(super) fn forget(&self, _: &Path) {}

    /// Says nothing.
    pub(super) fn add_command<'w>(&self, _: &'w Path, _: impl Iterator<Item = &'w OsStr>) {}
}
