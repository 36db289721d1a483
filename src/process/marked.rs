//! [`Marked`]: a command that can be started.

/// A command that can be started, with the mark that its children inherit.
pub(super) struct Marked {
    pub(super) expression: duct::Expression,
    pub(super) mark: String,
    /// True if the command is a keeper.
    #[cfg_attr(windows, expect(dead_code, reason = "to end a keeper is to end its child there"))]
    pub(super) is_kept: bool,
}
