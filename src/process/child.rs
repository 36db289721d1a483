//! [`Child`]: a running process, and the process group that it leads.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A running process.
pub(super) struct Child {
    pub(super) handle: duct::Handle,
    group: Option<Pid>,
}

impl Child {
    /// Starts a process in a process group of its own. The expression's ends of pipes are closed
    /// then.
    pub(super) fn start(expression: duct::Expression) -> io::Result<Child> {
        let expression = expression.before_spawn(|command| {
            command.process_group(0);
            name(command);
            Ok(())
        });
        let handle = expression.start()?;
        let group = handle.pids().first().and_then(|&pid| Pid::from_raw(pid as i32));
        Ok(Child { handle, group })
    }

    /// Returns true if the process has this id.
    pub(super) fn is(&self, pid: Pid) -> bool {
        self.group == Some(pid)
    }

    /// Ends the process group, and the process itself: a process that confines itself is in no
    /// group of its own for a moment.
    pub(super) fn end(&self) {
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

/// Gives a program that is started by its descriptor its path as argument 0, as other programs have
/// it.
pub(crate) fn name(command: &mut Command) {
    let program = Path::new(command.get_program());
    if program.starts_with("/proc/self/fd")
        && let Ok(path) = std::fs::read_link(program)
    {
        command.arg0(path);
    }
}
