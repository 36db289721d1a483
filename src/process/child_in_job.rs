//! [`Child`] on Windows: a process that ends with its keeper's job.

use super::marked::Marked;
use std::io;
use std::os::windows::process::CommandExt;
use std::process::Command;

/// The flag of a process that a Ctrl-C of the console does not reach: the build ends it.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// A running process: the keeper of another one, or a process without a keeper.
pub(super) struct Child {
    pub(super) handle: duct::Handle,
    mark: String,
}

impl Child {
    /// Starts a process. The expression's ends of pipes are closed then.
    pub(super) fn start(marked: Marked) -> io::Result<Child> {
        let Marked { expression, mark, is_kept: _ } = marked;
        let expression = expression.before_spawn(|command| {
            set_apart(command);
            Ok(())
        });
        Ok(Child { handle: expression.start()?, mark })
    }

    /// The mark that its children inherit.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns false: a keeper needs no time to end the others, as the system does it.
    pub(super) fn is_kept(&self) -> bool {
        false
    }

    /// Says nothing: a keeper ends once the child has ended.
    pub(super) fn output_has_ended(&self) {}

    /// Ends the process. If it is a keeper, the system ends all processes of its job.
    pub(super) fn end(&self) {
        let _ = self.handle.kill();
    }

    /// As [`Child::end`].
    pub(super) fn kill(&self) {
        self.end();
    }

    /// Ends nothing: the processes of a job have ended with the keeper.
    pub(super) fn end_group(&self) {}
}

/// Starts a command apart from this process: no Ctrl-C of the console reaches it.
pub(super) fn set_apart(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// Does nothing: this system passes on what the caller has marked for that, and names no such
/// files.
pub fn withhold_files() {}
