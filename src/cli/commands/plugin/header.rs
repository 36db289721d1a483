//! `plugin header`: the C header of shared objects.

use crate::{output, writer};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;

/// Print the C header of plugins that are shared objects
#[derive(Args)]
pub(crate) struct Header {
    /// Write it to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Runs `plugin header`.
///
/// # Errors
/// The header cannot be written.
pub(crate) fn run(args: &Header) -> Result<()> {
    match &args.output {
        Some(file) => output::write_text(rustomize_plugin_abi::HEADER, file),
        None => Ok(writer::data([rustomize_plugin_abi::HEADER])?),
    }
}
