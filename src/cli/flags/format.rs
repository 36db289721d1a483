//! How a report is printed.

use clap::{Args, ValueEnum};

/// How a report is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// How a command prints the things that it found or did.
#[derive(Args, Clone, Copy)]
pub struct Printing {
    /// How to print: text or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}
