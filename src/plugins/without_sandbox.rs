//! Systems other than Linux do not have a sandbox.

use super::confinement::{Sandbox, SandboxPart};
use std::io;

/// Restricts nothing, and says so.
///
/// # Errors
/// Never.
pub(crate) fn enter(_: &Sandbox) -> io::Result<Vec<SandboxPart>> {
    let effect = "terminal, files, network, system calls and signals are restricted";
    let missing = "terminal, files, network, system calls and signals are not restricted: this is not Linux";
    Ok(vec![SandboxPart::new("sandbox", effect, Some(missing.to_owned()))])
}
