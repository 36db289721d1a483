//! `plugin describe`, `plugin verify` and `plugin prune`: what there is, and what of it nothing
//! needs.

use super::args::Install;
use super::managed::{environment, manager, policy};
use super::plugin::{constraint_of, halves, parse};
use super::plugin_install::{install_one, locked_root};
use super::report::Report;
use crate::manager::author::describe::Description;
use crate::manager::author::manifest::Manifest;
use crate::manager::id::name::Platform;
use crate::manager::policy::lock::Lock;
use crate::manager::resolve::Manager;
use crate::manager::store::discover::{Candidate, Refusal, all, candidates, choose};
use crate::manager::store::place;
use crate::plugin::PluginOptions;
use crate::plugin::program::Command;
use anyhow::{Result, anyhow, bail};
use serde_json::json;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs `plugin describe`.
///
/// # Errors
/// There is no such plugin, or it does not describe itself.
pub fn describe(what: &str, offline: bool, options: &PluginOptions) -> Result<()> {
    let path = Path::new(what);
    let description = if path.is_dir() {
        let manifest = Manifest::read(path)?;
        match manifest.says_what() {
            true => manifest.description,
            false => Description::ask(&manifest.command(&path.canonicalize()?), options)
                .map_err(|e| anyhow!("'{what}' does not describe itself: {e}"))?,
        }
    } else if path.is_file() {
        Description::ask(&Command::of_binary(&path.canonicalize()?), options)
            .map_err(|e| anyhow!("'{what}' does not describe itself: {e}"))?
    } else {
        let manager = manager(Path::new("."), None, policy(None)?)?;
        let named = manager.requirements().find(|(_, wanted)| wanted.name == what);
        let (source, constraint) = halves(what);
        let source = named.map_or_else(|| parse(source), |(_, wanted)| Ok(wanted.source.clone()))?;
        let found = choose(candidates(&manager.root, &source, &Platform::host()), &constraint_of(constraint)?);
        let installed = match found {
            Some(verified) => Some(verified.installed),
            None => {
                let install = Install { offline, ..Install::of(Path::new(".")) };
                install_one(&install, what, options)?.into_iter().find(|installed| installed.source == source)
            }
        };
        let Some(installed) = installed else { bail!("no plugin of '{source}' is installed") };
        let description = manager.describe(options, &installed);
        (*description.map_err(|e| anyhow!("'{}': {e}", installed.path.display()))?).clone()
    };
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&description)?)?;
    Ok(())
}

/// Runs `plugin verify`. What is known of plugins from before does not count: each is asked again.
///
/// # Errors
/// Something is wrong with one of them; everything that is was printed then.
pub fn verify(directory: &Path, is_json: bool, options: &PluginOptions) -> Result<()> {
    let manager = Manager { cache: None, ..manager(directory, environment(None)?.as_ref(), policy(None)?)? };
    let mut report = Report::default();
    let mut wrong = 0;
    let mut say = |what: String, verdict: Result<(), String>| {
        wrong += usize::from(verdict.is_err());
        let value = json!({ "what": what, "isRight": verdict.is_ok(), "reason": verdict.as_ref().err() });
        report.add(format!("{what}: {}", verdict.err().unwrap_or_else(|| "ok".to_owned())), value);
    };
    for candidate in all(&manager.root, &Platform::host()).into_iter().map(Candidate::verified) {
        let verdict = match &candidate.verdict {
            Ok(installed) => manager.describe(options, installed).map(drop).map_err(|e| e.to_string()),
            Err(why) => Err(why.to_string()),
        };
        say(candidate.path.display().to_string(), verdict);
    }
    for (project, requirement) in manager.requirements() {
        let verdict = match manager.installed(project, requirement) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err("it is required and not installed".to_owned()),
            Err(e) => Err(e.to_string()),
        };
        say(format!("{} ({})", requirement.name, requirement.source), verdict);
    }
    report.print(is_json)?;
    match wrong {
        0 => Ok(()),
        n => bail!("{n} of them {} not as they should be", if n == 1 { "is" } else { "are" }),
    }
}

/// Runs `plugin prune`.
///
/// # Errors
/// A lock file cannot be read, or a file not removed.
pub fn prune(directories: &[PathBuf], is_dry: bool, is_json: bool) -> Result<()> {
    let mut needed: HashSet<(String, String)> = HashSet::new();
    for directory in directories {
        let lock = Lock::read(directory)?.unwrap_or_default();
        needed.extend(lock.plugins.into_iter().map(|(source, locked)| (source, locked.version)));
    }
    let root = locked_root()?;
    let mut candidates: Vec<Candidate> =
        all(root.path(), &Platform::host()).into_iter().map(Candidate::verified).collect();
    // Of each source they come best first.
    let mut last = None;
    candidates.retain(|candidate| {
        let is_best = last != candidate.source;
        last.clone_from(&candidate.source);
        match &candidate.verdict {
            Ok(installed) => {
                let version = (installed.source.to_string(), installed.file.version.to_string());
                !is_best && !needed.contains(&version)
            }
            Err(why) => matches!(why, Refusal::Partial(_)),
        }
    });
    let paths: Vec<PathBuf> = match is_dry {
        true => candidates.into_iter().map(|candidate| candidate.path).collect(),
        false => place::remove(root.path(), &candidates)?,
    };
    let mut report = Report::default();
    for path in paths {
        report.add(path.display().to_string(), json!({ "path": path }));
    }
    report.print(is_json)
}
