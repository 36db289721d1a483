//! `lsp`: the language server, on stdin and stdout.

use super::args::Build;
use super::{build, writer};
use crate::diag::{Code, Error};
use crate::lsp;
use anyhow::{Result, anyhow};
use clap::Args;

/// `lsp`.
#[derive(Args)]
#[command(mut_arg("output", |flag| flag.hide(true)), mut_arg("layout", |flag| flag.hide(true)))]
#[command(mut_arg("timings", |flag| flag.hide(true)), mut_arg("trace", |flag| flag.hide(true)))]
#[command(mut_arg("verbose", |flag| flag.hide(true)))]
#[command(mut_arg("depfile", |flag| flag.hide(true)), mut_arg("directory", |flag| flag.hide(true)))]
pub struct Lsp {
    /// Accepted for editors that pass it: the server speaks on stdin and stdout anyway
    #[arg(long, hide = true)]
    pub stdio: bool,

    #[command(flatten)]
    pub build: Build,
}

pub const LSP: &str = "Serve an editor, by the Language Server Protocol on stdin and stdout: faults of the kustomizations that \
    a change can affect, while it is typed; fields, words, files and names to complete; docs; the file, base or resource that a \
    place names; files that get another name. Plugins and helm run only with the flags of 'build' that allow them.";

/// Runs `lsp`, until the editor ends it.
///
/// # Errors
/// A message that is not one of the protocol, or an end without a shutdown.
pub fn run(args: Lsp) -> Result<()> {
    // A server on the network is not asked at every keystroke. Findings come with the faults.
    let flags = Build { offline: true, lint: true, ..args.build };
    let options =
        move |root: &str| build::options(&flags, root, false).map_err(|e| Error::new(Code::Usage, format!("{e:#}")));
    lsp::serve(std::io::stdin().lock(), writer::protocol(), options).map_err(|message| anyhow!(message))
}
