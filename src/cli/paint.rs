//! [`Paint`]: texts in the colours of a terminal.

/// Colours for a terminal, or none.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    pub is_colored: bool,
}

impl Paint {
    /// No colours.
    pub(crate) const PLAIN: Paint = Paint { is_colored: false };

    fn with(self, code: &str, text: &str) -> String {
        if self.is_colored { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A heading.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// A text of less weight.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// A text that was removed or replaced.
    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    /// A new text.
    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// A text about others: a step, a note, or the head of some lines.
    pub(crate) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }
}
