//! The keeper of a child on Windows: a process between a build and the child. It is in a job with
//! the child and all that the child starts. The system holds the processes of a job to limits, and
//! ends all of them when the keeper ends: when the child has ended, or when the build ends the
//! keeper.

use super::Limits;
use rustomize_plugin_abi::job::{Job, JobLimits};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

/// The first argument of a program that is asked to be a keeper: `ARGUMENT KEEPING PROGRAM
/// ARGUMENT...`. Two versions of the tool do not understand each other.
pub const ARGUMENT: &str = concat!("__keeper@", env!("CARGO_PKG_VERSION"));

/// True if this system has keepers.
pub(super) const IS_KNOWN_HERE: bool = true;

/// The output of a keeper whose program cannot be started; the number of the error follows.
const NOT_STARTED: &[u8] = b"\0rustomize: not started: ";

/// The number of the system's error for a file that does not exist.
const FILE_NOT_FOUND: i32 = 2;

/// The orders for a keeper, passed as JSON in an argument.
#[derive(Debug, Serialize, Deserialize)]
pub struct Keeping {
    /// Bytes of memory; `None` for no limit.
    memory: Option<u64>,
    /// Processes at a time; `None` for no limit.
    processes: Option<u64>,
    /// True if the output is read to its end, and then checked for [`NOT_STARTED`].
    has_output: bool,
}

impl Keeping {
    /// The orders for the keeper of a child whose output is read to its end.
    pub(super) fn until_output_ends(limits: &Limits) -> Keeping {
        Keeping { has_output: true, ..Keeping::until_child_ends(limits) }
    }

    /// The orders for the keeper of a child that is talked to as long as it runs.
    pub(super) fn until_child_ends(limits: &Limits) -> Keeping {
        Keeping { memory: limits.memory, processes: limits.processes, has_output: false }
    }

    /// The arguments of the keeper of a program.
    pub(super) fn arguments(&self, program: &Path, args: &[OsString]) -> io::Result<Vec<OsString>> {
        // The working directory may be another one there. A name alone is looked for in PATH.
        let program = match program.components().count() {
            1 => program.to_owned(),
            _ => std::path::absolute(program)?,
        };
        let own = [ARGUMENT.into(), serde_json::to_string(self)?.into(), program.into_os_string()];
        Ok(own.into_iter().chain(args.iter().cloned()).collect())
    }
}

/// The error of a program that could not be started, if `printed` is from a keeper that says so.
pub(super) fn not_started(printed: &[u8]) -> Option<io::Error> {
    let number = std::str::from_utf8(printed.strip_prefix(NOT_STARTED)?).ok()?;
    Some(io::Error::from_raw_os_error(number.parse().ok()?))
}

/// Becomes a keeper, which goes on with `run` in its job.
///
/// # Errors
/// The system refuses the job.
pub fn keep(keeping: &Keeping, run: impl FnOnce(&Keeping) -> ExitCode) -> io::Result<ExitCode> {
    let processes = keeping.processes.map(|most| u32::try_from(most.saturating_add(1)).unwrap_or(u32::MAX));
    Job::of_this_process(JobLimits { memory: keeping.memory, processes })?.for_life();
    Ok(run(keeping))
}

/// Runs a program, whose name is looked for in PATH, and ends as it does.
pub fn become_program(keeping: &Keeping, program: &Path, args: impl Iterator<Item = OsString>) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "this process was started with limits, for this program")]
    let ended = Command::new(program).args(args).status();
    let e = match ended {
        // The exit status of a program has 32 bits here.
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(e) => e,
    };
    match keeping.has_output {
        true => {
            // The standard library looks for a name in PATH itself, and its error has no number.
            let number = e.raw_os_error().unwrap_or(FILE_NOT_FOUND);
            let _ = io::stdout().write_all(&[NOT_STARTED, number.to_string().as_bytes()].concat());
        }
        false => {
            let _ = writeln!(io::stderr(), "Error: '{}' cannot be started: {e}", program.display());
        }
    }
    ExitCode::FAILURE
}
