//! [`Removal`]: a command that removes an object that a child has made outside of its own
//! processes, such as a container that a daemon runs.

use super::{Children, PrivateDirectory, orphans};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time limit of a removal.
const PATIENCE: Duration = Duration::from_secs(20);

/// The length of the longest id, in bytes.
const LONGEST: usize = 256;

/// The name of the file with the id.
const ID: &str = "id";

/// A command that removes an object of a child, and the file in which the child notes the object's
/// id.
pub struct Removal {
    program: PathBuf,
    /// The arguments before the id.
    args: Vec<OsString>,
    /// The directory of the file. It is removed with the last user of this.
    directory: PrivateDirectory,
}

impl Removal {
    /// A removal by `program`, with the arguments `args` and then the id. The directory must have
    /// no other use.
    pub fn new(program: PathBuf, args: Vec<OsString>, directory: PrivateDirectory) -> Self {
        Removal { program, args, directory }
    }

    /// The file in which the child notes the id. The child makes it: without the file there is
    /// nothing to remove.
    pub fn file(&self) -> PathBuf {
        self.directory.path().join(ID)
    }

    /// Runs the command, if the child has noted an id, and waits for it. A failure is not reported:
    /// the child has failed before, and that is reported.
    pub(super) fn run(&self, children: &Children) {
        let Ok(id) = std::fs::read_to_string(self.file()) else { return };
        let id = id.trim();
        if id.is_empty() || id.len() > LONGEST || id.starts_with('-') {
            return;
        }
        let args = self.args.iter().cloned().chain([OsString::from(id)]);
        let expression = duct::cmd(self.program.as_os_str(), args).unchecked();
        // The mark is one that no child has, so that a search for strays does not end this process.
        let mark = format!("{}-removal", std::process::id());
        let expression = expression.env(orphans::VARIABLE, mark).stdin_null().stdout_null().stderr_null();
        if let Ok(child) = children.start_also_after_end(expression) {
            let _ = child.handle.wait_deadline(Instant::now() + PATIENCE);
            child.end();
            children.forget(&child);
        }
    }
}
