//! The form of a report.

use clap::{Args, ValueEnum};

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// The form in which a command prints its report.
#[derive(Args, Clone, Copy)]
pub(crate) struct Printing {
    /// How to print: text or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}
