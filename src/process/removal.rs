//! [`Removal`]: a command that removes what a child has made outside of its own processes, as a
//! container that a daemon runs.

use super::child::Child;
use super::orphans;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a removal may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest id, in bytes.
const LONGEST: usize = 256;

/// A command that removes what a child has made, and the file in which the child notes its id.
#[derive(Clone, Debug)]
pub struct Removal {
    pub program: PathBuf,
    /// The arguments before the id.
    pub args: Vec<OsString>,
    /// The file with the id. Where there is none, the child has made nothing.
    pub file: PathBuf,
}

impl Removal {
    /// Runs the command, if the child has noted an id, and waits for it. A failure is not told: the
    /// child has failed before, and that is told.
    pub(super) fn run(&self) {
        let Ok(id) = std::fs::read_to_string(&self.file) else { return };
        let id = id.trim();
        if id.is_empty() || id.len() > LONGEST || id.starts_with('-') {
            return;
        }
        let args = self.args.iter().cloned().chain([OsString::from(id)]);
        let expression = duct::cmd(self.program.as_os_str(), args).unchecked();
        // With a mark that no child has: whoever ends strays leaves this one.
        let mark = format!("{}-removal", std::process::id());
        let expression = expression.env(orphans::VARIABLE, mark).stdin_null().stdout_null().stderr_null();
        if let Ok(child) = Child::start(expression) {
            let _ = child.handle.wait_deadline(Instant::now() + PATIENCE);
            child.end();
        }
    }
}
