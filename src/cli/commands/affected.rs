//! `affected`: lists the roots that a change of files can affect. Nothing is built.

use crate::commands::diff::since::{Range, Revision, changed};
use crate::flags::complete;
use crate::flags::format::Format;
use crate::messages::Messages;
use crate::roots::{cannot_look, file_names};
use crate::writer::{self, Shown};
use crate::{git, host};
use anyhow::{Context, Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_engine::load::{FileLimit, nearest_path};
use rustomize_engine::pipeline::affected::affected;
use rustomize_engine::pipeline::roots::{FoundRoot, find};
use rustomize_sources::Disk;
use serde_json::Value;
use std::path::{Path, PathBuf};

const ABOUT: &str = "List the kustomizations that a change of files can affect: those that name one of them, and all that have such a \
    kustomization as a base or component. Nothing is built, and no plugin runs. A deleted file counts as if it existed. \
    If there are none, nothing is printed.";

const EXAMPLES: &str = "Examples:
  # The overlays that a base's file is part of
  rustomize affected base/deployment.yaml --leaves

  # The overlays that a branch changes, as a matrix for CI: one line with a JSON array
  rustomize affected --since origin/main...HEAD --leaves -o json

  # Check those alone
  rustomize affected --since origin/main | xargs -r rustomize validate --schema";

/// `affected`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Affected {
    /// The files, or directories for all files in them; '-' reads the names from stdin, one a line,
    /// or with NUL between them
    #[arg(value_name = "FILE", required_unless_present = "since", add = ArgValueCompleter::new(complete::files))]
    pub files: Vec<PathBuf>,

    /// The files that differ between this commit and the working tree, or two commits: OLD..NEW
    ///
    /// OLD...NEW compares NEW with the commit where it branched off from OLD. The kustomizations
    /// are those of the newer side.
    #[arg(long, value_name = "REVISION")]
    pub since: Option<String>,

    /// Look for kustomizations at and below DIR; may be repeated [default: .]
    #[arg(long = "in", value_name = "DIR", add = ArgValueCompleter::new(complete::directories))]
    pub directories: Vec<String>,

    /// Leave out the kustomizations that others use
    #[arg(long)]
    pub leaves: bool,

    /// How to print the kustomizations: text, with a line for each, or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub output: Format,
}

/// Runs `affected`.
///
/// # Errors
/// A directory or a commit does not exist, or stdout is closed.
pub(crate) fn run(args: &Affected, messages: &Messages) -> Result<()> {
    let mut files: Vec<PathBuf> = Vec::new();
    let here = std::env::current_dir().context("cannot find the working directory")?;
    files.extend(file_names(&args.files)?.into_iter().map(|file| here.join(file)));
    let roots = match &args.since {
        None => roots(args, files)?,
        Some(range) => since(args, range, files)?,
    };
    if roots.is_empty()
        && let Some(missing) = args.files.iter().find(|file| file.as_os_str() != "-" && !file.exists())
    {
        let near = missing.to_str().and_then(|missing| nearest_path(&Disk::new(), missing));
        let near = near.map_or_else(String::new, |near| format!(": did you mean '{near}'?"));
        messages.note(&format!("'{}' does not exist, and no kustomization names it{near}", missing.display()));
    }
    match args.output {
        Format::Text => Ok(writer::data(roots.iter().map(|root| format!("{}\n", Shown::item(root))))?),
        Format::Json => {
            let all = roots.into_iter().map(Value::String).collect();
            Ok(writer::print(&Shown::values(&format!("{}\n", Shown::json(all))))?)
        }
    }
}

/// The roots that files can affect, in the order of their directories and paths.
fn roots(args: &Affected, files: Vec<PathBuf>) -> Result<Vec<String>> {
    let here = [".".to_owned()];
    let directories = if args.directories.is_empty() { &here } else { args.directories.as_slice() };
    let limit = FileLimit::default();
    let mut found: Vec<FoundRoot> = Vec::new();
    for directory in directories {
        found.extend(find(&Disk::new(), directory, limit).map_err(|e| cannot_look(directory, &e))?);
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    let affected = affected(&Disk::new(), found, files, limit).into_iter();
    Ok(affected.filter(|root| !(args.leaves && root.is_used)).map(|root| root.path).collect())
}

/// As [`roots`], for the files that differ between two states of the repository as well.
fn since(args: &Affected, range: &str, mut files: Vec<PathBuf>) -> Result<Vec<String>> {
    let top = git::top()?;
    let prefix = git::prefix()?;
    if let Some(outside) = args.directories.iter().find(|directory| Path::new(directory).is_absolute()) {
        bail!("'{outside}' is not named from the working directory, as --since needs it");
    }
    let range = Range::parse(&top, range)?;
    let changed = changed(&top, &range)?;
    let Some(Revision { commit, .. }) = &range.new else {
        files.extend(changed.into_iter().map(|file| top.join(file)));
        return roots(args, files);
    };
    let directory = host::children().directory("rustomize-affected-").context("no directory for the files of git")?;
    let new = git::export(&top, directory.path(), "new", Some(commit))?;
    let moved = files.iter().map(|file| file.strip_prefix(&top).map_or_else(|_| file.clone(), |file| new.join(file)));
    let files = moved.chain(changed.into_iter().map(|file| new.join(file))).collect();
    let there = new.join(prefix);
    if there.is_dir() { git::within(&there, || roots(args, files)) } else { Ok(Vec::new()) }
}
