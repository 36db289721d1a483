//! `mcp`: serves programs that work with language models, by the Model Context Protocol on stdin
//! and stdout.
//!
//! * [`protocol`]: messages on a stream, with limits.
//! * [`tools`]: the tools, their parameters, and the command of this program for each call.
//! * [`call`]: runs the command of a call, and makes a bounded result of its output.
//! * [`server`]: answers messages, and runs several calls at a time.
//!
//! A call runs this program once more, with [`READS_BELOW`]. So a tool prints what its command
//! prints, a call can be cancelled at any moment, and one that fails leaves nothing in the server.

pub(crate) mod protocol;
pub(crate) mod tools;
pub(crate) mod call;
pub(crate) mod server;

use crate::flags::complete;
use crate::signals;
use crate::variable::variable;
use crate::writer;
use anyhow::{Context, Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_sources::reach;
use server::Server;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable with the directories that a process may read, as in `PATH`.
const READS_BELOW: &str = "RUSTOMIZE_READS_BELOW";

const ABOUT: &str = "Serve programs that work with language models, by the Model Context Protocol (MCP) on stdin and stdout. The \
    tools build, lint, explain and compare kustomizations, list what a change affects, list images, show the fields of a kind, \
    and show the lines that an edit would change. No tool writes a file, fetches anything, or runs a plugin or helm. Files \
    outside of the directories are not read, also not through links.";

const EXAMPLES: &str = "Examples:
  # For a program that takes a table of servers
  {\"mcpServers\": {\"rustomize\": {\"command\": \"rustomize\", \"args\": [\"mcp\", \"/home/you/deploy\"]}}}

  # What the server offers
  npx @modelcontextprotocol/inspector --cli rustomize mcp . --method tools/list";

/// `mcp`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Mcp {
    /// The directories that the tools may read; relative paths of calls begin at the first one
    /// [default: .]
    #[arg(value_name = "DIR", add = ArgValueCompleter::new(complete::directories))]
    pub directories: Vec<PathBuf>,
}

/// Runs `mcp`, until the client closes stdin.
///
/// # Errors
/// A directory does not exist, or stdin cannot be read.
pub(crate) fn run(args: &Mcp) -> Result<()> {
    let here = [PathBuf::from(".")];
    let named = if args.directories.is_empty() { &here } else { args.directories.as_slice() };
    let mut directories = Vec::new();
    for directory in named {
        let shown = directory.display();
        let real = directory.canonicalize().with_context(|| format!("cannot read the directory '{shown}'"))?;
        if !real.is_dir() {
            bail!("'{shown}' is not a directory: name the directory with the kustomizations");
        }
        reach::check(&real).with_context(|| format!("cannot read the directory '{shown}'"))?;
        directories.push(real);
    }
    let reads_below = std::env::join_paths(&directories).context("the path of a directory has a ':'")?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let server = Arc::new(Server::new(program, directories, reads_below, writer::protocol()));
    let ended = Arc::clone(&server);
    signals::end_with_signals(move || ended.end_calls()).context("cannot wait for signals")?;
    server.serve(&mut std::io::stdin().lock()).context("cannot read stdin")
}

/// Limits this process to the directories in [`READS_BELOW`], if it is set.
///
/// # Errors
/// A directory does not exist.
pub(crate) fn limit_reads() -> Result<()> {
    let Some(directories) = variable(READS_BELOW) else { return Ok(()) };
    let directories = std::env::split_paths(&directories).filter(|path| !path.as_os_str().is_empty());
    reach::limit_to(directories).with_context(|| format!("in the variable {READS_BELOW}"))
}
