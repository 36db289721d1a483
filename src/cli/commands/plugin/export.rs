//! `plugin export`: installed plugins for kustomize, and bundles for a web server.

use crate::flags::format::Printing;
use crate::flags::switch::Switch;
use crate::machine::machine;
use crate::report::{Report, path_value};
use crate::writer;
use anyhow::{Result, bail};
use clap::{ArgGroup, Args};
use rustomize_manager::install::session::LazyInstaller;
use rustomize_manager::policy::environment::Environment;
use rustomize_manager::resolve::Resolver;
use rustomize_manager::resolve::inputs::Inputs;
use rustomize_manager::share::{export, placement};
use rustomize_plugins::PluginOptions;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write installed plugins for kustomize and kubectl, or bundles for a web server
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(group(ArgGroup::new("place").required(true).args(["placement", "mounts"])))]
pub(crate) struct Export {
    /// The plugin directory to write to, as KUSTOMIZE_PLUGIN_HOME names it
    #[arg(value_name = "DIR")]
    pub placement: Option<PathBuf>,

    /// Write the bundles of an environment for a web server, which machines sync from
    #[arg(long, value_name = "DIR", conflicts_with_all = ["directory", "dry_run", "frozen"])]
    pub mounts: Option<PathBuf>,

    /// The environment whose bundles are written [default: RUSTOMIZE_ENVIRONMENT, or 'default']
    #[arg(long, value_name = "NAME", requires = "mounts")]
    pub environment: Option<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Print what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Export only locked plugins [default: whether CI is set]
    #[arg(long, switch())]
    pub frozen: Option<bool>,

    #[command(flatten)]
    pub printing: Printing,
}

const ABOUT: &str = "Write the required plugins into a plugin directory, as KUSTOMIZE_PLUGIN_HOME names it, so that kustomize and kubectl run them. Without \
    plugins.yaml, all installed plugins are written.\n\nFiles of an earlier export that are not needed any more are removed. Other files stay as they are.\n\n\
    With --mounts, write the bundles on the module path of an environment as files that any web server serves: 'rustomize plugin sync --environment NAME --from URL' \
    copies them to another machine. The directory is for one environment. A server gives the old state or the new one, also while this command runs.";

const EXAMPLES: &str = "Examples:
  # For kustomize and kubectl
  rustomize plugin export ~/.config/kustomize/plugin

  # For the machines that sync from https://plugins.example.com/prod
  rustomize plugin export --mounts /srv/www/prod --environment prod";

/// Runs `plugin export`.
///
/// # Errors
/// A plugin is not installed, another file is in its place, or the environment does not exist.
pub(crate) fn run(args: &Export, is_json: bool, options: &PluginOptions) -> Result<()> {
    if let Some(mounts) = &args.mounts {
        let environment = existing(args.environment.as_deref())?;
        let export::ExportChanges { written, removed } = export::export(&environment, mounts)?;
        return changes(&written, &removed).print(is_json);
    }
    let (Some(placement), directory) = (&args.placement, args.directory.as_path()) else {
        bail!("'plugin export' needs a directory\n  hint: rustomize plugin export DIR, or --mounts DIR");
    };
    lay(placement, directory, Laying { frozen: args.frozen, is_dry_run: args.dry_run }, options)?.print(is_json)
}

/// The environment with a name, or the default one.
pub(crate) fn existing(named: Option<&str>) -> Result<Environment> {
    let machine = machine();
    if let Some(environment) = machine.environment(named)? {
        return Ok(environment);
    }
    bail!(
        "the environment 'default' does not exist\n  hint: make it below '{}', or name another with --environment NAME",
        machine.configuration()?.join("environments").display()
    )
}

/// The report of files that were written and removed.
fn changes(written: &[PathBuf], removed: &[PathBuf]) -> Report {
    let mut report = Report::default();
    for (sign, change, paths) in [("+", "written", written), ("-", "removed", removed)] {
        for path in paths {
            report.add(format!("{sign} {}", path.display()), json!({ "path": path_value(path), "change": change }));
        }
    }
    report
}

/// How plugins are laid into a plugin directory.
pub(crate) struct Laying {
    /// The flag `--frozen`.
    pub frozen: Option<bool>,
    /// True if nothing is written.
    pub is_dry_run: bool,
}

/// Lays the plugins of a directory into a plugin directory of kustomize.
pub(crate) fn lay(
    placement: &Path,
    directory: &Path,
    Laying { frozen, is_dry_run }: Laying,
    options: &PluginOptions,
) -> Result<Report> {
    let machine = machine();
    let policy = machine.policy(frozen)?;
    let inputs = Inputs::of(&machine, directory, None, &policy)?;
    let missing = LazyInstaller { machine: machine.clone(), options: options.clone(), is_frozen: policy.is_frozen };
    for project in inputs.own_projects()? {
        let is_missing = |need| matches!(inputs.required(&project, need, &policy), Ok(None));
        if project.needs.iter().any(is_missing) {
            missing.install(&project.place())?;
        }
    }
    // The installation above changed the directory of installed plugins.
    let inputs = Inputs::of(&machine, directory, None, &policy)?;
    let everything = Resolver { inputs: &inputs, policy: &policy, options }.everything()?;
    let changes = placement::lay(placement, &everything, is_dry_run)?;
    for (source, why) in &changes.left_out {
        writer::say(&format!("Left out: {source}: {why}"));
    }
    Ok(self::changes(&changes.written, &changes.removed))
}
