//! `plugin list`, `verify` and `prune`: installed plugins, and those that nothing
//! needs.

use super::managed::{environment, inputs, policy};
use super::plugin_args::Prune;
use super::plugin_install::locked_root;
use super::report::Report;
use crate::manager::fetch::identity::PluginId;
use crate::manager::id::name::Platform;
use crate::manager::id::source::Source;
use crate::manager::policy::lock::{Lock, source_of};
use crate::manager::resolve::Resolver;
use crate::manager::resolve::inputs::Inputs;
use crate::manager::resolve::overview::{PluginRow, PluginState};
use crate::manager::store::discover::{Candidate, Refusal, all};
use crate::manager::store::place;
use crate::plugin::PluginOptions;
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Runs `plugin list`.
///
/// # Errors
/// A `plugins.yaml` or `plugins.lock` cannot be read.
pub fn list(directory: &Path, is_json: bool, options: &PluginOptions) -> Result<()> {
    let policy = policy(None)?;
    let inputs = inputs(directory, environment(None)?.as_ref(), &policy)?;
    let rows = Resolver { inputs: &inputs, policy: &policy, options }.rows()?;
    let mut report = Report::default();
    let cells: Vec<[String; 5]> = rows.iter().map(cells).collect();
    let head = ["NAME", "VERSION", "STATE", "PROVIDES", "REQUIRED BY"].map(str::to_owned);
    let width = |i: usize| cells.iter().chain([&head]).map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let line = |row: &[String; 5]| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
        (padded.collect::<String>() + &row[4]).trim_end().to_owned()
    };
    if !cells.is_empty() {
        report.head(line(&head));
    }
    for (row, cells) in rows.iter().zip(&cells) {
        report.add(line(cells), row_value(row));
        if let PluginState::Present(why) | PluginState::Refused(why) = &row.state {
            report.head(format!("  {why}"));
        }
    }
    report.print(is_json)
}

/// The cells of a row of `plugin list`.
fn cells(row: &PluginRow) -> [String; 5] {
    let path = || row.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let name = row.source.as_ref().map_or_else(path, ToString::to_string);
    let required_by = row.required_by.iter().map(|(file, _)| file.display().to_string());
    let (version, state, provides) = match &row.state {
        PluginState::Installed(details) => (format!("v{}", details.version), "installed", details.summary()),
        PluginState::Present(_) => (String::new(), "present", String::new()),
        PluginState::Refused(_) => (String::new(), "refused", String::new()),
        PluginState::Absent(constraint) => (constraint.clone(), "absent", String::new()),
    };
    [name, version, state.to_owned(), provides, required_by.collect::<Vec<_>>().join(", ")]
}

/// A row of `plugin list` for programs.
fn row_value(row: &PluginRow) -> Value {
    let mut value = json!({
        "source": row.source.as_ref().map(ToString::to_string),
        "name": row.source.as_ref().map(|source| source.name().to_owned()),
        "path": row.path,
        "requiredBy": row.required_by.iter().map(|(file, name)| json!({ "file": file, "name": name })).collect::<Vec<_>>(),
    });
    let more = match &row.state {
        PluginState::Installed(details) => json!({
            "state": "installed", "version": details.version.to_string(), "apiVersion": details.api.to_string(),
            "sha256": details.sum, "schemas": details.schemas,
            "provides": details.provides.iter().map(|(role, c)| json!({
                "role": role, "name": c.name, "apiVersion": c.api_version, "kind": c.kind,
            })).collect::<Vec<_>>(),
        }),
        PluginState::Present(why) => json!({ "state": "present", "reason": why }),
        PluginState::Refused(why) => json!({ "state": "refused", "reason": why }),
        PluginState::Absent(constraint) => json!({ "state": "absent", "constraint": constraint }),
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

/// Runs `plugin verify`. What plugins said before does not count: each is asked again, and what it
/// says now is kept.
///
/// # Errors
/// A plugin has a fault; all plugins were printed then.
pub fn verify(directory: &Path, is_json: bool, options: &PluginOptions) -> Result<()> {
    let policy = policy(None)?;
    let inputs = Inputs { asks_again: true, ..inputs(directory, environment(None)?.as_ref(), &policy)? };
    let rows = Resolver { inputs: &inputs, policy: &policy, options }.rows()?;
    let mut report = Report::default();
    let mut wrong = 0;
    for row in &rows {
        let names = row.required_by.iter().map(|(_, name)| name.clone());
        let what = match (&row.path, &row.source) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(source)) => format!("{} ({source})", names.collect::<Vec<_>>().join(", ")),
            (None, None) => names.collect::<Vec<_>>().join(", "),
        };
        let reason = match &row.state {
            PluginState::Installed(_) => None,
            PluginState::Present(why) | PluginState::Refused(why) => Some(why.clone()),
            PluginState::Absent(_) => Some("it is required and not installed".to_owned()),
        };
        wrong += usize::from(reason.is_some());
        let value = json!({ "what": what, "isRight": reason.is_none(), "reason": reason });
        report.add(format!("{what}: {}", reason.as_deref().unwrap_or("ok")), value);
    }
    report.print(is_json)?;
    match wrong {
        0 => Ok(()),
        n => bail!("plugins with a fault: {n}; each is listed with its reason"),
    }
}

/// Runs `plugin prune`.
///
/// # Errors
/// A lock file cannot be read, or a file not removed.
pub fn prune(args: &Prune, is_json: bool) -> Result<()> {
    let directories = if args.positional.is_empty() { &args.directories } else { &args.positional };
    let mut needed: HashSet<(PluginId, String)> = HashSet::new();
    for directory in directories {
        let lock = Lock::read(directory)?.unwrap_or_default();
        for (key, locked) in &lock.plugins {
            let Ok(source) = source_of(key).parse::<Source>() else { continue };
            needed.insert((locked.id(&source, directory), locked.version.clone()));
        }
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
        report.add(path.display().to_string(), json!({ "path": path }));
    }
    report.print(is_json)
}
