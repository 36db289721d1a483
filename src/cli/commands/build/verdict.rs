//! The findings of `validate --schema`: all are errors, except a deprecated version of an API.

use crate::check::Findings;
use crate::cli::messages::Messages;
use crate::diag::Code;
use anyhow::{Result, bail};

/// The number of findings that are errors.
#[derive(Default)]
pub(crate) struct Verdict {
    errors: usize,
    left_out: usize,
}

impl Verdict {
    /// Prints the findings of a root.
    pub(crate) fn add(&mut self, findings: Findings, root: Option<&str>, messages: &mut Messages) {
        self.left_out += findings.left_out;
        for finding in findings.shown {
            if matches!(finding.code(), Code::DeprecatedApi | Code::NeedlessNamespace) {
                messages.finding(&finding, root);
            } else {
                self.errors += 1;
                messages.error(&finding.into_error(), root);
            }
        }
    }

    /// Ends the command.
    ///
    /// # Errors
    /// A resource does not fit its schema.
    pub(crate) fn end(self) -> Result<()> {
        let word = if self.errors == 1 { "fault" } else { "faults" };
        match (self.errors, self.left_out) {
            (0, 0) => Ok(()),
            (errors, 0) => bail!("{errors} {word} in the resources"),
            (errors, more) => bail!("{errors} {word} in the resources, and {more} findings that are not shown"),
        }
    }
}
