//! `plugin sync` and `export`: bundles from and for other machines, installed plugins for
//! kustomize.

use super::managed::{environment, inputs, policy, variable};
use super::plugin_args::{Export, Sync};
use super::plugin_install::{install_missing, transfer};
use super::report::Report;
use super::writer;
use crate::manager::fetch::FetchLimits;
use crate::manager::policy::environment::Environment;
use crate::manager::policy::{ADD_SOURCE, Policy};
use crate::manager::resolve::Resolver;
use crate::manager::share::sync::{self, SyncCounts};
use crate::manager::share::{export, placement};
use crate::manager::store::root;
use crate::plugin::PluginOptions;
use anyhow::{Result, bail};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Runs `plugin export`.
///
/// # Errors
/// A plugin is not installed, another file is in its place, or the environment does not exist.
pub fn export(args: &Export, is_json: bool, options: &PluginOptions) -> Result<()> {
    if let Some(mounts) = &args.mounts {
        let environment = existing(args.environment.as_deref())?;
        let export::ExportChanges { written, removed } = export::export(&environment, mounts)?;
        return changes(&written, &removed).print(is_json);
    }
    let (Some(placement), directory) = (&args.placement, args.directory.as_path()) else {
        bail!("'plugin export' needs a directory\n  hint: rustomize plugin export DIR, or --mounts DIR");
    };
    lay(placement, directory, (args.frozen, args.dry_run), options)?.print(is_json)
}

/// The environment with a name, or the default one.
fn existing(named: Option<&str>) -> Result<Environment> {
    if let Some(environment) = environment(named)? {
        return Ok(environment);
    }
    bail!(
        "the environment 'default' does not exist\n  hint: make it below '{}', or name another with --environment NAME",
        root::configuration(variable)?.join("environments").display()
    )
}

/// The report of files that were written and removed.
fn changes(written: &[PathBuf], removed: &[PathBuf]) -> Report {
    let mut report = Report::default();
    for (sign, paths) in [("+", written), ("-", removed)] {
        for path in paths {
            let change = if sign == "+" { "written" } else { "removed" };
            report.add(format!("{sign} {}", path.display()), json!({ "path": path, "change": change }));
        }
    }
    report
}

/// Lays the plugins of a directory into a plugin directory of kustomize; `frozen` and `is_dry` are
/// the flags of the command.
fn lay(
    placement: &Path,
    directory: &Path,
    (frozen, is_dry): (Option<bool>, bool),
    options: &PluginOptions,
) -> Result<Report> {
    let policy = policy(frozen)?;
    let inputs = inputs(directory, None, &policy)?;
    for project in inputs.own_projects()? {
        let is_missing = |need| matches!(inputs.required(&project, need, &policy), Ok(None));
        if project.needs.iter().any(is_missing) {
            install_missing(&project.place(), policy.is_frozen, options)?;
        }
    }
    // The installation above changed the directory of installed plugins.
    let inputs = super::managed::inputs(directory, None, &policy)?;
    let everything = Resolver { inputs: &inputs, policy: &policy, options }.everything()?;
    let changes = placement::lay(placement, &everything, is_dry)?;
    for (source, why) in &changes.left_out {
        writer::say(&format!("Left out: {source}: {why}"));
    }
    Ok(self::changes(&changes.written, &changes.removed))
}

/// Runs `plugin sync`.
///
/// # Errors
/// The server of the environment is not trusted, or cannot be asked.
pub fn sync(args: &Sync, is_json: bool, options: &PluginOptions) -> Result<()> {
    if let Some(placement) = &args.placement {
        return lay(placement, &args.directory, (args.frozen, args.dry_run), options)?.print(is_json);
    }
    let environment = existing(args.environment.as_deref())?;
    let Some(server) = args.from.as_deref().or(environment.sync.as_deref()) else {
        bail!(
            "the environment '{}' does not name its server\n  hint: give --from URL, or write 'sync: URL' into its environment.yaml",
            environment.name
        );
    };
    let policy = policy(args.frozen)?;
    let what = format!("a bundle that is synced for '{}'", environment.name);
    policy.check_unlocked(&what, ADD_SOURCE, &args.directory)?;
    let SyncCounts { files, fetched, removed } = sync_environment(&environment, server, &policy)?;
    let value = json!({ "environment": environment.name, "files": files, "fetched": fetched, "removed": removed });
    let mut report = Report::default();
    report.add(format!("{}: {files} files, {fetched} fetched, {removed} removed", environment.name), value);
    report.print(is_json)
}

/// Makes what was synced for an environment the same as what its server has.
///
/// # Errors
/// The server is not trusted or cannot be asked, or a file cannot be written.
pub fn sync_environment(environment: &Environment, server: &str, policy: &Policy) -> Result<SyncCounts> {
    let server = server.trim_end_matches('/');
    policy.trust.check_server(server, &environment.name)?;
    let Some(place) = &environment.synced else {
        bail!("the directory for synced files is not known\n  hint: set HOME, XDG_CACHE_HOME or RUSTOMIZE_CACHE_DIR")
    };
    Ok(sync::sync(&transfer(false, FetchLimits::default().size, None), server, &environment.name, place)?)
}
