//! The colours of the terminal: every terminal of this system has them.

/// Does nothing: the colours are always on.
pub(super) fn enable() {}

/// Does nothing: nothing was changed.
pub(super) fn restore() {}

/// Returns true.
pub(super) fn are_on_stdout() -> bool {
    true
}

/// As [`are_on_stdout`].
pub(super) fn are_on_stderr() -> bool {
    true
}
