//! `plugin prune`: removes installed versions that nothing needs.

use crate::flags::format::Printing;
use crate::machine::machine;
use crate::report::{Report, path_value};
use anyhow::Result;
use clap::Args;
use rustomize_manager::fetch::identity::PluginId;
use rustomize_manager::id::name::Platform;
use rustomize_manager::id::source::Source;
use rustomize_manager::policy::lock::{Lock, source_of};
use rustomize_manager::store::discover::{Candidate, Refusal, all};
use rustomize_manager::store::place;
use serde_json::json;
use std::collections::HashSet;
use std::path::PathBuf;

/// Remove installed versions that no plugins.lock names
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Prune {
    /// A directory whose plugins.lock names what is needed; may be repeated
    #[arg(long = "directory", value_name = "DIR", default_value = ".")]
    pub directories: Vec<PathBuf>,

    /// The same as --directory DIR
    #[arg(hide = true, value_name = "DIR", conflicts_with = "directories")]
    pub positional: Vec<PathBuf>,

    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub printing: Printing,
}

const ABOUT: &str = "Remove installed versions that nothing needs. The versions in plugins.lock of each directory are kept, and so is the highest version of each \
    source. Plugins whose installation did not finish are removed.";

/// Runs `plugin prune`.
///
/// # Errors
/// A lock file cannot be read, or a file cannot be removed.
pub(crate) fn run(args: &Prune, is_json: bool) -> Result<()> {
    let directories = if args.positional.is_empty() { &args.directories } else { &args.positional };
    let mut needed: HashSet<(PluginId, String)> = HashSet::new();
    for directory in directories {
        let lock = Lock::read(directory)?.unwrap_or_default();
        for (key, locked) in &lock.plugins {
            let Ok(source) = source_of(key).parse::<Source>() else { continue };
            needed.insert((locked.id(&source, directory), locked.version.clone()));
        }
    }
    let root = machine().lock_plugins()?;
    let mut candidates: Vec<Candidate> =
        all(root.path(), &Platform::host()).into_iter().map(Candidate::verified).collect();
    // The versions of each source are sorted, the best first.
    let mut last = None;
    candidates.retain(|candidate| {
        let is_best = last != candidate.source;
        last.clone_from(&candidate.source);
        match &candidate.verdict {
            Ok(installed) => {
                let version = (installed.id(), installed.file.version.to_string());
                !is_best && !needed.contains(&version)
            }
            Err(why) => matches!(why, Refusal::Partial(_)),
        }
    });
    let paths: Vec<PathBuf> = match args.dry_run {
        true => candidates.into_iter().map(|candidate| candidate.path).collect(),
        false => place::remove(&root, &candidates)?,
    };
    let mut report = Report::default();
    for path in paths {
        report.add(path.display().to_string(), json!({ "path": path_value(&path) }));
    }
    report.print(is_json)
}
