//! The form of messages, and their colours.

use crate::flags::heading;
use clap::{Args, ValueEnum};
use std::ffi::OsString;

/// How errors and warnings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorFormat {
    /// For people: with the line of the file, how the build came there, and hints
    #[default]
    Human,
    /// A line each: FILE:LINE:COLUMN: error: MESSAGE [CODE]
    Short,
    /// A JSON object each, in a line of its own
    Json,
    /// One SARIF 2.1.0 document, for code scanning
    Sarif,
    /// Commands of GitHub Actions, which show each message on its line of a pull request
    Github,
}

impl ErrorFormat {
    /// The format that refused arguments ask for: the last format that they name.
    pub(crate) fn of_refused(arguments: impl Iterator<Item = OsString>) -> ErrorFormat {
        const FLAG: &str = "--error-format";
        let arguments: Vec<OsString> = arguments.collect();
        let value = |i: usize, word: &OsString| {
            let rest = word.to_str()?.strip_prefix(FLAG)?;
            let next = || arguments.get(i + 1)?.to_str().filter(|_| rest.is_empty());
            ErrorFormat::from_str(rest.strip_prefix('=').or_else(next)?, false).ok()
        };
        arguments.iter().enumerate().filter_map(|(i, word)| value(i, word)).next_back().unwrap_or_default()
    }
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Returns true if text is coloured; `is_shown` is true for text that goes to a terminal with
    /// colours.
    pub(crate) fn is_used(self, is_shown: bool) -> bool {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Color::Auto => is_shown && !is_set("NO_COLOR") && !is_dumb(),
            Color::Always => true,
            Color::Never => false,
        }
    }
}

/// The form and the colours of messages.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LookFlags {
    /// How errors and warnings are printed to stderr
    #[arg(long, value_name = "FORMAT", default_value = "human", global = true, help_heading = heading::MESSAGES, display_order = 1000, hide_short_help = true)]
    pub error_format: ErrorFormat,

    /// When errors and differences are coloured
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = heading::MESSAGES, display_order = 1001, hide_short_help = true)]
    pub color: Color,
}
