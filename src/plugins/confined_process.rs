//! The process of a plugin: it confines itself, then opens a shared object or becomes another
//! program.

use super::confinement::{Confinement, SandboxPart};
use super::sandbox::enter;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustomize_process::{become_command, withhold_files};
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// Becomes the process of a shared object, which answers on stdout what is asked on stdin, until
/// stdin ends.
///
/// # Errors
/// The process cannot be set up. The plugin was not opened then.
pub fn serve(path: &Path, confinement: &Confinement) -> io::Result<Infallible> {
    // A plugin prints to stdout: not between our frames.
    let input = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let output = File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    confine(confinement)?;
    rustomize_plugin_abi::process::serve(path, input, output)
}

/// Becomes another program, confined.
///
/// # Errors
/// The program cannot be started.
pub fn exec(program: &Path, args: impl Iterator<Item = OsString>, confinement: &Confinement) -> io::Result<Infallible> {
    confine(confinement)?;
    if confinement.sandbox.is_some() {
        // The file of the program is open for this process alone.
        withhold_files();
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this process was started with limits, and becomes what it was started for"
    )]
    let mut command = Command::new(program);
    Err(become_command(command.args(args)))
}

/// Confines this process, which has one thread yet, and says what the system cannot enforce.
fn confine(confinement: &Confinement) -> io::Result<()> {
    let missing = report(confinement)?.into_iter().filter_map(|part| part.missing).collect();
    for missing in confinement.sandbox.as_ref().map_or(Ok(Vec::new()), |sandbox| sandbox.decide(missing))? {
        // The end of a pipe to whoever asked for this process.
        let _ = writeln!(io::stderr(), "Warning: plugin isolation: {missing}");
    }
    Ok(())
}

/// Confines this process, which has one thread yet, as far as the system can, and gives the parts
/// of the sandbox.
///
/// # Errors
/// The system refuses a limit, or leaves this process half way.
pub fn report(confinement: &Confinement) -> io::Result<Vec<SandboxPart>> {
    // No memory dump: it would hold what the plugin was given.
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    confinement.sandbox.as_ref().map_or(Ok(Vec::new()), enter)
}
