//! `plugin build`: a Go plugin from its unchanged source.

use super::built::add_built;
use crate::flags::complete;
use crate::report::Report;
use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_plugins::{PluginOptions, go};
use std::path::PathBuf;

/// Build a Go plugin, written for kustomize, from its unchanged source
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Build {
    /// The directory with the source
    #[arg(value_name = "DIR", default_value = ".", add = ArgValueCompleter::new(complete::directories))]
    pub directory: PathBuf,

    /// Where to put the shared object [default: DIR/KIND.so]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const ABOUT: &str = "Build a Go plugin, written for kustomize, from its unchanged source: the package main that declares \
    KustomizePlugin, with or without a go.mod. The result is a shared object that any version of rustomize loads, without Go. The \
    source and its go.mod stay as they are. Needs Go 1.24 or later and a C compiler.";

const EXAMPLES: &str = "Examples:
  # Build StringPrefixer.go into StringPrefixer.so beside it
  rustomize plugin build ~/.config/kustomize/plugin/someteam.example.com/v1/stringprefixer";

/// Runs `plugin build`.
///
/// # Errors
/// Go is missing, or the source does not build.
pub(crate) fn run(args: &Build, is_json: bool, options: &PluginOptions) -> Result<()> {
    let mut report = Report::default();
    add_built(&mut report, &go::build(&args.directory, args.output.as_deref(), options)?);
    report.print(is_json)
}
