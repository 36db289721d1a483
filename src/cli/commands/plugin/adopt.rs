//! `plugin adopt`: a Go plugin whose source is lost.

use super::built::add_built;
use crate::report::Report;
use anyhow::Result;
use clap::Args;
use rustomize_plugins::{PluginOptions, go};
use std::path::PathBuf;

/// Make a Go plugin usable that was built with -buildmode=plugin and whose source is lost
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Adopt {
    /// The Go plugin
    #[arg(value_name = "FILE.so")]
    pub file: PathBuf,
}

const ABOUT: &str = "Make a Go plugin usable that was built with -buildmode=plugin and whose source is lost. Such a file can \
    only be loaded by a Go program of just its versions and flags: this builds that program, once, into the user's cache directory. \
    Needs the plugin's version of Go, its modules and a C compiler. Where there is the source, 'plugin build' is better.";

/// Runs `plugin adopt`.
///
/// # Errors
/// The file is not a Go plugin, or the program that loads it does not build.
pub(crate) fn run(args: &Adopt, is_json: bool, options: &PluginOptions) -> Result<()> {
    let mut report = Report::default();
    add_built(&mut report, &go::adopt(&args.file, options)?);
    report.print(is_json)
}
