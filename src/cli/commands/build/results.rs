//! The use that a command makes of the results of builds.

use crate::groups::Group;
use crate::messages::{Messages, RootNaming};
use anyhow::{Result, bail};
use rustomize_engine::diag::Warning;

/// The use that a command makes of the results of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// `build` writes the results to stdout or to files.
    Written,
    /// `validate` makes the results and drops them.
    Dropped,
}

/// Counts warnings, which are printed already, and prints findings, which count as errors.
///
/// # Errors
/// There is a warning or a finding.
pub(crate) fn strictly(warnings: usize, findings: &[Group<Warning>], messages: &mut Messages) -> Result<()> {
    findings.iter().for_each(|finding| messages.finding(finding, RootNaming::OfSeveral));
    match (warnings, findings.len()) {
        (0, 0) => Ok(()),
        (warnings, findings) => bail!("--strict: warnings: {warnings}, findings: {findings}"),
    }
}
