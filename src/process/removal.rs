//! [`Removal`]: a command that removes what a child has made outside of its own processes, as a
//! container that a daemon runs.

use super::{Children, PrivateDirectory, orphans};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a removal may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest id, in bytes.
const LONGEST: usize = 256;

/// The name of the file with the id.
const ID: &str = "id";

/// A command that removes what a child has made, and the file in which the child notes its id.
pub struct Removal {
    program: PathBuf,
    /// The arguments before the id.
    args: Vec<OsString>,
    /// Where the file is. The directory is removed with the last user of this.
    directory: PrivateDirectory,
}

impl Removal {
    /// A removal by `program`, whose last argument is the id, behind `args`. The directory is one
    /// that nobody else uses.
    pub fn new(program: PathBuf, args: Vec<OsString>, directory: PrivateDirectory) -> Self {
        Removal { program, args, directory }
    }

    /// The file in which the child notes the id. It is not there yet: a child that does not make it
    /// has made nothing.
    pub fn file(&self) -> PathBuf {
        self.directory.path().join(ID)
    }

    /// Runs the command, if the child has noted an id, and waits for it. A failure is not told: the
    /// child has failed before, and that is told.
    pub(super) fn run(&self, children: &Children) {
        let Ok(id) = std::fs::read_to_string(self.file()) else { return };
        let id = id.trim();
        if id.is_empty() || id.len() > LONGEST || id.starts_with('-') {
            return;
        }
        let args = self.args.iter().cloned().chain([OsString::from(id)]);
        let expression = duct::cmd(self.program.as_os_str(), args).unchecked();
        // With a mark that no child has: whoever ends strays leaves this one.
        let mark = format!("{}-removal", std::process::id());
        let expression = expression.env(orphans::VARIABLE, mark).stdin_null().stdout_null().stderr_null();
        if let Ok(child) = children.start_also_after_end(expression) {
            let _ = child.handle.wait_deadline(Instant::now() + PATIENCE);
            child.end();
            children.forget(&child);
        }
    }
}
