//! The faults of several roots.

use crate::groups::{Grouping, Groups};
use crate::messages::{Messages, with_project_files};
use anyhow::{Result, bail};
use rustomize_base::meter::FastMap;
use rustomize_engine::diag::{self, Code, Diagnostic};

/// The faults of all roots: each fault once, with the roots in which it occurs.
pub(super) struct Failures {
    count: usize,
    faults: Groups<Diagnostic>,
    /// The number of faults that an error does not keep, by its texts: a base has it for each root.
    left_out: FastMap<String, usize>,
    code: Option<Code>,
}

impl Default for Failures {
    /// No faults, for a command that has no `--each`.
    fn default() -> Failures {
        Failures::new(false)
    }
}

impl Failures {
    /// No faults. With `is_each`, each root has a fault of its own.
    pub(super) fn new(is_each: bool) -> Failures {
        let faults = Groups::new(Grouping::said(is_each));
        Failures { count: 0, faults, left_out: FastMap::default(), code: None }
    }

    /// The number of roots that failed.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns true if no root failed.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the faults of a root.
    pub(super) fn add(&mut self, root: &str, error: &diag::Error) {
        self.count += 1;
        let error = &*with_project_files(error);
        error.faults().for_each(|fault| self.faults.add(fault.clone(), Some(root)));
        if error.left_out() > 0 {
            self.code = Some(error.code());
            self.left_out.insert(error.fault(), error.left_out());
        }
    }

    /// Prints each fault.
    pub(super) fn print(self, messages: &mut Messages) {
        for (i, group) in self.faults.end().iter().enumerate() {
            messages.between_faults(i);
            messages.fault(&group.message, &group.occurrences);
        }
        if let Some(code) = self.code {
            messages.left_out(code, self.left_out.into_values().sum());
        }
    }

    /// Prints each fault.
    ///
    /// # Errors
    /// A root failed.
    pub(super) fn report(self, all: usize, messages: &mut Messages) -> Result<()> {
        let count = self.count;
        self.print(messages);
        match count {
            0 => Ok(()),
            n => bail!("{n} of {all} roots failed"),
        }
    }
}
