//! [`Marked`]: a command that can be started.

/// A command that can be started, with the mark that its children inherit.
pub(super) struct Marked {
    pub(super) expression: duct::Expression,
    pub(super) mark: String,
    /// True if the command is a keeper.
    pub(super) is_kept: bool,
}
