//! Systems other than Linux do not have keepers: no system call there finds what a child has
//! started.

use super::Limits;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The first argument of a program that is asked to be a keeper, which it refuses here.
pub const ARGUMENT: &str = concat!("__keeper@", env!("CARGO_PKG_VERSION"));

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

/// Fails.
///
/// # Errors
/// Always: this system has no keepers.
pub fn keep(_: &Keeping, _: impl FnOnce(&Keeping) -> ExitCode) -> io::Result<ExitCode> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Fails: only a keeper becomes a program.
pub fn become_program(_: &Keeping, _: &Path, _: impl Iterator<Item = OsString>) -> ExitCode {
    ExitCode::FAILURE
}

/// Returns `None`: no keeper prints anything.
pub(super) fn not_started(_: &[u8]) -> Option<io::Error> {
    None
}
