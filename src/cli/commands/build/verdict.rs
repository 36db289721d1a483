//! The findings of `validate --schema`: all are errors, except a deprecated version of an
//! API and a needless namespace.

use crate::groups::{Grouping, Groups};
use crate::messages::{Messages, RootNaming};
use anyhow::{Result, bail};
use rustomize_engine::check::Findings;
use rustomize_engine::diag::{Code, Warning};

/// Returns true for a code whose findings a server takes.
fn is_warning(code: Code) -> bool {
    matches!(code, Code::DeprecatedApi | Code::NeedlessNamespace)
}

/// The findings of all roots.
pub(crate) struct Verdict {
    groups: Groups<Warning>,
    errors: usize,
    left_out: usize,
}

impl Verdict {
    /// No findings. With `is_each`, the findings of each resource are printed.
    pub(crate) fn new(is_each: bool) -> Verdict {
        Verdict { groups: Groups::new(Grouping::found(is_each)), errors: 0, left_out: 0 }
    }

    /// Adds the findings of a root.
    pub(crate) fn add(&mut self, findings: Findings, root: Option<&str>) {
        self.left_out += findings.left_out;
        for finding in findings.shown {
            self.errors += usize::from(!is_warning(finding.code()));
            self.groups.add(finding, root);
        }
    }

    /// Prints the findings, and ends the command.
    ///
    /// # Errors
    /// A resource does not fit its schema.
    pub(crate) fn end(self, messages: &mut Messages) -> Result<()> {
        let mut places = 0;
        for group in self.groups.end() {
            let is_warning = is_warning(group.message.code());
            places += usize::from(!is_warning);
            if is_warning {
                messages.finding(&group, RootNaming::Always);
            } else {
                messages.fault(&group.message.into_error(), &group.occurrences);
            }
        }
        let word = if self.errors == 1 { "fault" } else { "faults" };
        let at = match places {
            places if places == self.errors => String::new(),
            1 => ", at 1 place".to_owned(),
            places => format!(", at {places} places"),
        };
        match (self.errors, self.left_out) {
            (0, 0) => Ok(()),
            (errors, 0) => bail!("{errors} {word} in the resources{at}"),
            (errors, more) => bail!("{errors} {word} in the resources{at}, and {more} findings that are not shown"),
        }
    }
}
