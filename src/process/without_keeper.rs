//! Systems other than Linux do not have keepers: no system call there finds what a child has
//! started.

use super::Limits;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// True if this system has keepers.
pub(super) const IS_KNOWN_HERE: bool = false;

/// The orders for a keeper.
#[derive(Debug, Serialize, Deserialize)]
pub struct Keeping {}

impl Keeping {
    /// The orders for no keeper.
    pub(super) fn until_output_ends(limits: &Limits) -> Keeping {
        Keeping::until_child_ends(limits)
    }

    /// The orders for no keeper.
    pub(super) fn until_child_ends(_: &Limits) -> Keeping {
        Keeping {}
    }

    /// Fails.
    pub(super) fn arguments(&self, _: &Path, _: &[OsString]) -> io::Result<Vec<OsString>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns `None`: no keeper prints anything.
pub(super) fn not_started(_: &[u8]) -> Option<io::Error> {
    None
}
