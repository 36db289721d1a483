//! The process of a plugin on systems without a sandbox: it says what it cannot enforce, then opens
//! a shared object or runs another program.

use super::confinement::{Confinement, SandboxPart};
use super::sandbox::enter;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// Becomes the process of a shared object, which answers on stdout what is asked on stdin, until
/// stdin ends.
///
/// # Errors
/// The process cannot be set up. The plugin was not opened then.
#[cfg(windows)]
pub fn serve(path: &Path, confinement: &Confinement) -> io::Result<Infallible> {
    confine(confinement)?;
    // A plugin prints to stdout: not between our frames.
    let (requests, answers) = rustomize_plugin_abi::process::take_pipes()?;
    rustomize_plugin_abi::process::serve(path, requests, answers)
}

/// Becomes the process of a shared object.
///
/// # Errors
/// Always: this system opens none.
#[cfg(not(windows))]
pub fn serve(_: &Path, _: &Confinement) -> io::Result<Infallible> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Runs another program, and ends as it does.
///
/// # Errors
/// The program cannot be started, or the sandbox is strict.
pub fn exec(program: &Path, args: impl Iterator<Item = OsString>, confinement: &Confinement) -> io::Result<Infallible> {
    confine(confinement)?;
    #[expect(clippy::disallowed_methods, reason = "this process was started with limits, for this program")]
    let ended = Command::new(program).args(args).status()?;
    std::process::exit(ended.code().unwrap_or(1))
}

/// Says what the system cannot enforce.
fn confine(confinement: &Confinement) -> io::Result<()> {
    let missing = report(confinement)?.into_iter().filter_map(|part| part.missing).collect();
    for missing in confinement.sandbox.as_ref().map_or(Ok(Vec::new()), |sandbox| sandbox.decide(missing))? {
        // The end of a pipe to whoever asked for this process.
        let _ = writeln!(io::stderr(), "Warning: plugin isolation: {missing}");
    }
    Ok(())
}

/// The parts of the sandbox, all of which are missing.
///
/// # Errors
/// None here.
pub fn report(confinement: &Confinement) -> io::Result<Vec<SandboxPart>> {
    confinement.sandbox.as_ref().map_or(Ok(Vec::new()), enter)
}
