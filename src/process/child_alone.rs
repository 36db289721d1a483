//! [`Child`] on systems without process groups: processes that it has started do not end with it.

use std::io;

/// A running process.
pub(super) struct Child {
    pub(super) handle: duct::Handle,
}

impl Child {
    /// Starts a process. The expression's ends of pipes are closed then.
    pub(super) fn start(expression: duct::Expression) -> io::Result<Child> {
        Ok(Child { handle: expression.start()? })
    }

    /// Ends the process.
    pub(super) fn end(&self) {
        let _ = self.handle.kill();
    }

    /// Ends nothing: the child does not have a group.
    pub(super) fn end_group(&self) {}
}
