//! [`Removal`]: a command that removes an object that a child has made outside of its own
//! processes, such as a container that a daemon runs.

use super::marked::Marked;
use super::{Children, PrivateDirectory, orphans};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time limit of a removal.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

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

    /// The directory of the file with the id.
    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The program and its arguments, without the id.
    pub(super) fn command(&self) -> impl Iterator<Item = &OsStr> {
        [self.program.as_os_str()].into_iter().chain(self.args.iter().map(OsString::as_os_str))
    }

    /// Runs the command, if the child has noted an id, and waits for the command. A failure is not
    /// reported: the child has failed before, and that is reported.
    pub(super) fn run(&self, children: &Children) {
        let Some(id) = id(self.directory()) else { return };
        // The mark is one that no child has, so that a search for strays does not end this process.
        let mark = children.mark();
        let expression = expression(self.program.as_os_str(), &self.args, &id).env(orphans::VARIABLE, &mark);
        if let Ok(child) = children.start_also_after_end(Marked { expression, mark, is_kept: false }) {
            let _ = child.handle.wait_deadline(Instant::now() + PATIENCE);
            child.end();
            children.forget(&child);
        }
    }
}

/// The command that removes the object with an id.
pub(super) fn expression(program: &OsStr, args: &[OsString], id: &str) -> duct::Expression {
    let args = args.iter().cloned().chain([OsString::from(id)]);
    duct::cmd(program, args).unchecked().stdin_null().stdout_null().stderr_null()
}

/// The id that is noted in a directory.
pub(super) fn id(directory: &Path) -> Option<String> {
    let id = std::fs::read_to_string(directory.join(ID)).ok()?;
    let id = id.trim();
    let is_id = !id.is_empty() && id.len() <= LONGEST && !id.starts_with('-');
    is_id.then(|| id.to_owned())
}
