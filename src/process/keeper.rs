//! The keeper of a child: a process between a build and the child, which ends all that the child
//! has started.
//!
//! The keeper adopts what its descendants leave behind, so every process that a child starts stays
//! below the keeper: in whatever group or session, with whatever variables. The keeper ends them
//! when the child has ended, when the build says so, and when the build itself ends, even if it is
//! killed. It also holds them to limits: the system limits the memory of each process, and the
//! keeper looks several times a second at the number of the processes and at their memory together.

use super::child::{END, OUTPUT_HAS_ENDED, become_command};
use super::orphans::children_of;
use super::{GRACE, LOOK, Limits};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, setpgid, setrlimit, wait,
};
use rustomize_plugin_abi::fork::{Blocked, end_by, fork};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// The first argument of a program that is asked to be a keeper: `ARGUMENT KEEPING PROGRAM
/// ARGUMENT...`. Two versions of the tool do not understand each other.
pub const ARGUMENT: &str = concat!("__keeper@", env!("CARGO_PKG_VERSION"));

/// The signal that the system sends when the build, or a thread of it, has ended.
const PARENT_HAS_ENDED: Signal = Signal::HUP;

/// True if this system has keepers.
pub(super) const IS_KNOWN_HERE: bool = true;

/// The output of a keeper whose program cannot be started; the number of the error follows.
const NOT_STARTED: &[u8] = b"\0rustomize: not started: ";

/// The time between two rounds of ending processes.
const ROUND: Duration = Duration::from_millis(5);

/// The orders for a keeper, passed as JSON in an argument.
#[derive(Debug, Serialize, Deserialize)]
pub struct Keeping {
    /// The process whose end is the end of the child.
    parent: i32,
    /// Bytes of memory; `None` for no limit.
    memory: Option<u64>,
    /// Processes and threads at a time; `None` for no limit.
    processes: Option<u64>,
    /// True if processes that the child has started may outlive it until its output has ended: they
    /// may pass it on.
    waits_for_output: bool,
}

impl Keeping {
    /// The orders for the keeper of a child whose output is read to its end.
    pub(super) fn until_output_ends(limits: &Limits) -> Keeping {
        Keeping { waits_for_output: true, ..Keeping::until_child_ends(limits) }
    }

    /// The orders for the keeper of a child that is talked to as long as it runs.
    pub(super) fn until_child_ends(limits: &Limits) -> Keeping {
        let parent = getpid().as_raw_nonzero().get();
        Keeping { parent, memory: limits.memory, processes: limits.processes, waits_for_output: false }
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

    fn is_orphaned(&self) -> bool {
        getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != self.parent)
    }
}

/// The error of a program that could not be started, if `printed` is from a keeper that says so.
pub(super) fn not_started(printed: &[u8]) -> Option<io::Error> {
    let number = std::str::from_utf8(printed.strip_prefix(NOT_STARTED)?).ok()?;
    Some(io::Error::from_raw_os_error(number.parse().ok()?))
}

/// Becomes the keeper of a new process, which goes on with `run`. Gives the status with which this
/// process ends, whichever of the two it is.
///
/// # Errors
/// The system refuses a process, a limit or a signal.
pub fn keep(keeping: &Keeping, run: impl FnOnce(&Keeping) -> ExitCode) -> io::Result<ExitCode> {
    let signals = Blocked::new(&[Signal::CHILD, PARENT_HAS_ENDED, END, OUTPUT_HAS_ENDED])?;
    set_child_subreaper(Some(getpid()))?;
    set_parent_process_death_signal(Some(PARENT_HAS_ENDED))?;
    // For the case that the build has ended before the line above.
    if keeping.is_orphaned() {
        return Ok(ExitCode::FAILURE);
    }
    let keeper = getpid();
    match fork()? {
        Some(child) => Ok(Keeper { keeping, signals, child, status: None }.watch()),
        None => {
            signals.unblock();
            set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(keeper) {
                return Ok(ExitCode::FAILURE);
            }
            setpgid(None, None)?;
            limit(keeping)?;
            Ok(run(keeping))
        }
    }
}

/// Becomes a program. Its name is looked for in PATH.
pub fn become_program(keeping: &Keeping, program: &Path, args: impl Iterator<Item = OsString>) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "this process was started with limits, for this program")]
    let mut command = Command::new(program);
    let e = become_command(command.args(args));
    match keeping.waits_for_output {
        true => {
            let number = e.raw_os_error().unwrap_or_default();
            let _ = io::stdout().write_all(&[NOT_STARTED, number.to_string().as_bytes()].concat());
        }
        false => {
            let _ = writeln!(io::stderr(), "Error: '{}' cannot be started: {e}", program.display());
        }
    }
    ExitCode::FAILURE
}

/// Limits this process, and each that it starts.
fn limit(keeping: &Keeping) -> io::Result<()> {
    if let Some(bytes) = keeping.memory {
        // What can be written and is its own: address space that is only reserved does not count.
        // Node.js and Deno reserve more than most machines have.
        let now = rustix::process::getrlimit(Resource::Data);
        let bytes = now.maximum.map_or(bytes, |most| most.min(bytes));
        setrlimit(Resource::Data, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
    }
    // If memory runs out, the system ends the child before the build. Systems without this file do
    // not offer the choice.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    Ok(())
}

struct Keeper<'k> {
    keeping: &'k Keeping,
    signals: Blocked,
    child: Pid,
    /// How the child has ended.
    status: Option<WaitStatus>,
}

impl Keeper<'_> {
    /// Waits until the child has ended, or has to end. Then ends all that it has left.
    fn watch(mut self) -> ExitCode {
        // The streams are the child's: their other ends see when it closes them. Stderr is kept for
        // the message about a limit.
        if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdin(&null);
            let _ = rustix::stdio::dup2_stdout(&null);
        }
        // Root may: then a thousand processes of the child do not keep this one from its turn.
        let _ = rustix::process::setpriority_process(None, -20);
        let mut output_has_ended = !self.keeping.waits_for_output;
        let has_limits = self.keeping.memory.is_some() || self.keeping.processes.is_some();
        let mut is_whole = true;
        let is_alone = loop {
            match self.signals.wait(LOOK) {
                Some(signal) if signal == END.as_raw() => is_whole = false,
                Some(signal) if signal == OUTPUT_HAS_ENDED.as_raw() => output_has_ended = true,
                Some(_) => {}
                None if has_limits => {
                    if let Some(excess) = self.excess() {
                        let _ = writeln!(io::stderr(), "Error: {excess}");
                        is_whole = false;
                    }
                }
                None => {}
            }
            // This process adopts what the child leaves: without children, nothing is left.
            let is_alone = self.reap_all();
            is_whole &= !self.keeping.is_orphaned();
            if !is_whole || self.status.is_some() && output_has_ended {
                break is_alone;
            }
        };
        if !is_alone {
            if is_whole {
                self.let_pass_on();
            }
            self.end_all();
        }
        match self.status.filter(|_| is_whole) {
            Some(status) => as_exit_code(status),
            None => ExitCode::FAILURE,
        }
    }

    /// Waits a moment for processes that hold the child's stderr: they may pass on what it has
    /// written.
    fn let_pass_on(&mut self) {
        let Ok(own) = fs::read_link("/proc/self/fd/2") else { return };
        let holds =
            |pid: Pid| fs::read_link(format!("/proc/{}/fd/2", pid.as_raw_nonzero())).is_ok_and(|stderr| stderr == own);
        let end = Instant::now() + GRACE;
        while Instant::now() < end && children_of("self").into_iter().any(holds) {
            self.signals.wait(ROUND);
            self.reap_all();
        }
    }

    /// Takes the status of each process that has ended. Returns true if no process is left.
    fn reap_all(&mut self) -> bool {
        loop {
            match self.reap() {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Takes the status of one process that has ended; `None` if none has.
    fn reap(&mut self) -> rustix::io::Result<Option<Pid>> {
        Ok(wait(WaitOptions::NOHANG)?.map(|(pid, status)| {
            if pid == self.child {
                self.status = Some(status);
            }
            pid
        }))
    }

    /// Ends all processes below this one, until there is none. A process that loses its parent in
    /// one round is a child of this one in the next. Only children are ended, because the number of
    /// a child is not given to another process before this one has taken its status.
    fn end_all(&mut self) {
        loop {
            for pid in children_of("self") {
                let _ = kill_process(pid, Signal::KILL);
            }
            if self.reap_all() {
                return;
            }
            // A process that ends says so by a signal.
            self.signals.wait(ROUND);
        }
    }

    /// The limit that the processes exceed together, in words. O(processes).
    fn excess(&self) -> Option<String> {
        let (mut memory, mut processes) = (0, 0);
        let mut below = children_of("self");
        while let Some(pid) = below.pop() {
            let pid = pid.as_raw_nonzero().to_string();
            below.extend(children_of(&pid));
            let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { continue };
            let number = |field: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(field))?;
                line.split_whitespace().next()?.parse::<u64>().ok()
            };
            processes += number("Threads:").unwrap_or(0);
            memory += ["RssAnon:", "RssShmem:"].iter().filter_map(|field| number(field)).sum::<u64>() * 1024;
        }
        if let Some(most) = self.keeping.memory.filter(|&most| memory > most) {
            return Some(format!("more than {most} bytes of memory are in use: --plugin-memory-limit sets the limit"));
        }
        let most = self.keeping.processes.filter(|&most| processes > most)?;
        Some(format!("more than {most} processes and threads run: --plugin-process-limit sets the limit"))
    }
}

/// Ends this process as the child has ended, if a signal has ended it.
fn as_exit_code(status: WaitStatus) -> ExitCode {
    if let Some(signal) = status.terminating_signal() {
        // No memory dump of this process.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        end_by(signal);
    }
    let code = status.exit_status().unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
