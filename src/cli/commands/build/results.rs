//! The use that a command makes of the results of builds.

use crate::cli::messages::Messages;
use crate::diag::Warning;
use anyhow::{Result, bail};

/// The use that a command makes of the results of builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// `build`: they are written to stdout or to files.
    Written,
    /// `validate`: they are made and dropped.
    Dropped,
}

/// Takes warnings, which are printed already, and findings for errors.
///
/// # Errors
/// There is one.
pub fn strictly(warnings: usize, findings: &[Warning], messages: &mut Messages) -> Result<()> {
    findings.iter().for_each(|finding| messages.finding(finding, None));
    match (warnings, findings.len()) {
        (0, 0) => Ok(()),
        (warnings, findings) => bail!("--strict: warnings: {warnings}, findings: {findings}"),
    }
}
