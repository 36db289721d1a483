//! The colours of a console of Windows, which shows them once it was told to.

use crate::writer;
use rustomize_plugin_abi::console::Colors;
use std::sync::OnceLock;

/// The consoles of this process, once they show colours.
static COLORS: OnceLock<Colors> = OnceLock::new();

/// Lets the console show colours.
pub(super) fn enable() {
    COLORS.get_or_init(Colors::enable);
}

/// Gives the console the mode that it had. In a pipeline it stays: the next program shows its own
/// colours on the same console.
pub(super) fn restore() {
    if writer::stdout_is_terminal()
        && let Some(colors) = COLORS.get()
    {
        colors.restore();
    }
}

/// Returns false if stdout is a console without colours.
pub(super) fn are_on_stdout() -> bool {
    COLORS.get().is_none_or(Colors::stdout)
}

/// Returns false if stderr is a console without colours.
pub(super) fn are_on_stderr() -> bool {
    COLORS.get().is_none_or(Colors::stderr)
}
