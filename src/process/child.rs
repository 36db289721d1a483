//! [`Child`]: a running process, and the process group that it leads.

use super::marked::Marked;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::convert::Infallible;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The signal by which a build tells a keeper that the output of the child has ended.
pub(super) const OUTPUT_HAS_ENDED: Signal = Signal::USR1;

/// The signal by which a build tells a keeper to end the child and all that it has started.
pub(super) const END: Signal = Signal::TERM;

/// A running process, or the keeper of one.
pub(super) struct Child {
    pub(super) handle: duct::Handle,
    group: Option<Pid>,
    mark: String,
    is_kept: bool,
}

impl Child {
    /// Starts a process in a process group of its own. The expression's ends of pipes are closed
    /// then.
    pub(super) fn start(marked: Marked) -> io::Result<Child> {
        let Marked { expression, mark, is_kept } = marked;
        let expression = expression.before_spawn(|command| {
            set_apart(command);
            name(command);
            Ok(())
        });
        let handle = started(|| expression.start())?;
        let group = handle.pids().first().and_then(|&pid| Pid::from_raw(pid as i32));
        Ok(Child { handle, group, mark, is_kept })
    }

    /// Returns true if the process has this id.
    pub(super) fn is(&self, pid: Pid) -> bool {
        self.group == Some(pid)
    }

    /// The mark that its children inherit.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns true if a keeper ends what the child has started.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Says to the keeper that the output of the child has ended.
    pub(super) fn output_has_ended(&self) {
        self.tell(OUTPUT_HAS_ENDED);
    }

    fn tell(&self, signal: Signal) {
        if let Some(keeper) = self.group.filter(|_| self.is_kept) {
            let _ = kill_process(keeper, signal);
        }
    }

    /// Ends the child and all that it has started, or tells its keeper to do so.
    pub(super) fn end(&self) {
        match self.is_kept {
            true => self.tell(END),
            false => self.kill(),
        }
    }

    /// Ends the process group, and the process itself: a process that confines itself is in no
    /// group of its own for a moment.
    pub(super) fn kill(&self) {
        self.end_group();
        if let Some(leader) = self.group {
            let _ = kill_process(leader, Signal::KILL);
        }
    }

    /// Ends the process group.
    pub(super) fn end_group(&self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Keeps files that the caller of this process left open, except the three streams, from the
/// children of this process.
pub fn withhold_files() {
    close_fds::set_fds_cloexec(3, &[]);
}

/// Starts a command apart from this process, in a process group of its own: a signal to the group
/// of this process does not reach it.
pub(super) fn set_apart(command: &mut Command) {
    command.process_group(0);
}

/// The times that a busy program is tried, and the time before the second try, which doubles for
/// each further one: half a second in all.
const TRIES: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_millis(16);

/// Starts a program, and tries again if its file is busy: a file that has just been written stays
/// open in each process that was started meanwhile, until that process becomes its own program.
pub(super) fn started<T>(mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for waits in 0..TRIES - 1 {
        match start() {
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy => std::thread::sleep(FIRST_WAIT * 2_u32.pow(waits)),
            result => return result,
        }
    }
    start()
}

/// Becomes a program. A busy one is tried again, as in [`started`]. Returns the reason if that
/// fails.
pub fn become_command(command: &mut Command) -> io::Error {
    name(command);
    match started(|| Err::<Infallible, _>(command.exec())) {
        Err(e) => e,
    }
}

/// Sets argument 0 of a program that is started by its descriptor to its path, as other programs
/// have it.
pub(super) fn name(command: &mut Command) {
    let program = Path::new(command.get_program());
    if program.starts_with("/proc/self/fd")
        && let Ok(path) = std::fs::read_link(program)
    {
        // A file in memory has the path of the file that it is a copy of as its name.
        let name = path.to_str().and_then(|path| path.strip_prefix("/memfd:")?.strip_suffix(" (deleted)"));
        command.arg0(name.map_or(path.as_path(), Path::new));
    }
}

#[cfg(test)]
mod tests {
    use super::{TRIES, started};
    use std::io::{self, ErrorKind};

    #[test]
    fn a_busy_program_is_tried_again_and_other_errors_are_final() {
        let tries_of = |faults: &[ErrorKind]| {
            let mut tries = 0;
            let result = started(|| {
                tries += 1;
                faults.get(tries - 1).map_or(Ok(()), |kind| Err(io::Error::from(*kind)))
            });
            (tries, result.map_err(|e| e.kind()))
        };
        let busy = ErrorKind::ExecutableFileBusy;
        assert_eq!(tries_of(&[busy, busy]), (3, Ok(())));
        assert_eq!(tries_of(&[busy; 9]), (TRIES as usize, Err(busy)));
        assert_eq!(tries_of(&[busy, ErrorKind::NotFound]), (2, Err(ErrorKind::NotFound)));
    }
}
