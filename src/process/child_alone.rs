//! [`Child`] on systems without process groups: processes that it has started do not end with it.

use super::marked::Marked;
use std::io;

/// A running process.
pub(super) struct Child {
    pub(super) handle: duct::Handle,
    mark: String,
    is_kept: bool,
}

impl Child {
    /// Starts a process. The expression's ends of pipes are closed then.
    pub(super) fn start(marked: Marked) -> io::Result<Child> {
        let Marked { expression, mark, is_kept } = marked;
        Ok(Child { handle: expression.start()?, mark, is_kept })
    }

    /// The mark that its children inherit.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns true if the child is a keeper, which no child is here.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Says nothing to anybody.
    pub(super) fn output_has_ended(&self) {}

    /// Ends the process.
    pub(super) fn end(&self) {
        let _ = self.handle.kill();
    }

    /// Ends the process.
    pub(super) fn kill(&self) {
        self.end();
    }

    /// Ends nothing: the child does not have a group.
    pub(super) fn end_group(&self) {}
}

/// Does nothing: this system passes on what the caller has marked for that, and names no such
/// files.
pub fn withhold_files() {}
