//! The faults of several roots.

use crate::cli::messages::Messages;
use crate::diag;
use anyhow::{Result, bail};
use rustomize_base::meter::FastIndexMap;

/// The faults of all roots: each fault once, with the roots in which it occurs.
#[derive(Default)]
pub(super) struct Failures {
    count: usize,
    by_fault: FastIndexMap<String, (diag::Error, Vec<String>)>,
}

impl Failures {
    /// The number of roots that failed.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns true if no root failed.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the fault of a root.
    pub(super) fn add(&mut self, root: &str, error: diag::Error) {
        self.count += 1;
        let (_, roots) = self.by_fault.entry(error.fault()).or_insert_with(|| (error, Vec::new()));
        roots.push(root.to_owned());
    }

    /// Prints each fault.
    ///
    /// # Errors
    /// A root failed.
    pub(super) fn report(self, all: usize, messages: &mut Messages) -> Result<()> {
        for (error, roots) in self.by_fault.values() {
            messages.error(error, Some(&roots.join(", ")));
        }
        match self.count {
            0 => Ok(()),
            n => bail!("{n} of {all} roots failed"),
        }
    }
}
