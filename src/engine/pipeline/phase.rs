//! [`Phase`]: a list of entries that are all tried, although one of them has a fault.

use crate::diag::{Errors, Result};
use crate::load::remote::is_remote;

/// The work on a list of entries. After the first fault files are still read, so that their faults
/// are reported too. Nothing is fetched or built then, and no program runs.
#[derive(Default)]
pub(super) struct Phase(Errors);

impl Phase {
    /// Returns true if no entry has had a fault.
    pub(super) fn is_sound(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if an entry is still read.
    pub(super) fn reads(&self, entry: &str) -> bool {
        self.is_sound() || !is_remote(entry)
    }

    /// Returns the value of an entry, or notes its faults.
    pub(super) fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        self.0.note(result)
    }

    /// Ends the phase: returns `value`, or all faults.
    pub(super) fn end<T>(self, value: T) -> Result<T> {
        self.0.end(value)
    }
}
