//! [`Child`] on systems without process groups: what it has started does not end with it.

use std::io;

/// A process that runs.
pub(super) struct Child {
    pub(super) handle: duct::Handle,
}

impl Child {
    /// Starts a process. The expression's ends of pipes are closed then.
    pub(super) fn start(expression: duct::Expression) -> io::Result<Child> {
        Ok(Child { handle: expression.start()? })
    }

    /// Ends it.
    pub(super) fn end(&self) {
        let _ = self.handle.kill();
    }

    /// Ends nothing: the child does not have a group.
    pub(super) fn end_group(&self) {}
}
