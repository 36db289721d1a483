//! `lsp`: the language server, on stdin and stdout.

use crate::flags::build::BuildFlags;
use crate::flags::hidden::hidden;
use crate::flags::remote::RemoteFlags;
use crate::flags::schemas::SchemaFlags;
use crate::request::BuildRequest;
use crate::writer;
use anyhow::{Result, anyhow};
use clap::Args;
use rustomize_base::observe::Observer;
use rustomize_engine::diag::{Code, Error};
use rustomize_lsp as lsp;

/// `lsp`.
#[derive(Args)]
#[command(long_about = ABOUT)]
#[command(mut_args(hidden(["output", "layout", "timings", "trace", "verbose", "depfile", "directory"])))]
pub(crate) struct Lsp {
    /// Accepted for editors that pass it: the server speaks on stdin and stdout anyway
    #[arg(long, hide = true)]
    pub stdio: bool,

    #[command(flatten)]
    pub schemas: SchemaFlags,

    #[command(flatten)]
    pub build: BuildFlags,
}

const ABOUT: &str = "Serve an editor, by the Language Server Protocol on stdin and stdout: faults of the kustomizations that \
    a change can affect, while it is typed; fields, words, files and names to complete; docs; the file, base or resource that a \
    place names; files that get another name. Plugins and helm run only with the flags of 'build' that allow them.";

/// Runs `lsp`, until the editor ends it.
///
/// # Errors
/// A message that does not follow the protocol, or an end without a shutdown.
pub(crate) fn run(args: Lsp) -> Result<()> {
    // No server is asked on each keystroke.
    let Lsp { stdio: _, schemas, build } = args;
    let remote = RemoteFlags { offline: true, ..build.remote };
    // The faults that the server sends include findings of lint.
    let request = BuildRequest::new(BuildFlags { remote, ..build }, Observer::default())?.with_findings(Vec::new());
    let mut request = request.with_schemas(&schemas)?;
    let schemas = request.known.take();
    let options = move |root: &str| request.options(root).map_err(|e| Error::new(Code::Usage, format!("{e:#}")));
    lsp::serve(std::io::stdin().lock(), writer::protocol(), schemas, options).map_err(|message| anyhow!(message))
}
