//! `plugin install`: installs the plugins of plugins.yaml, or one plugin.

use super::named::{constraint_of, halves, parse};
use crate::flags::format::{Format, Printing};
use crate::flags::switch::Switch;
use crate::flags::transfer::TransferFlags;
use crate::machine::machine;
use crate::report::{Report, path_value};
use crate::writer;
use anyhow::{Result, bail};
use clap::Args;
use rustomize_base::shell::quoted;
use rustomize_manager::fetch::Base;
use rustomize_manager::id::requirement::Requirement;
use rustomize_manager::install::Installer;
use rustomize_manager::install::project::{alone, required, sufficient};
use rustomize_manager::policy::project_directory::ProjectDirectory;
use rustomize_manager::policy::requirements::Requirements;
use rustomize_manager::store::discover::Installed;
use rustomize_plugins::PluginOptions;
use serde_json::json;
use std::path::PathBuf;

/// Install the plugins that plugins.yaml names, or one
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Install {
    /// The source, as in github.com/acme/app, with a constraint on the version; or the name in
    /// plugins.yaml
    #[arg(value_name = "SOURCE[@CONSTRAINT]|NAME")]
    pub what: Option<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Install SOURCE as the command line says, even if plugins.yaml requires it otherwise
    #[arg(long, requires = "what")]
    pub no_project: bool,

    /// An executable, or a directory with plugin.yaml, to install for SOURCE
    #[arg(long, value_name = "FILE", requires = "what", conflicts_with = "from")]
    pub path: Option<PathBuf>,

    /// Where to fetch SOURCE: https://..., git::..., oci://...
    /// [default: the releases of its repository]
    #[arg(long, value_name = "LOCATION", requires = "what")]
    pub from: Option<String>,

    /// Install a version that CONSTRAINT allows, even if a higher version is installed
    #[arg(long, requires = "what")]
    pub exact: bool,

    /// Install only locked plugins, and fail if plugins.lock does not match
    /// [default: whether CI is set]
    #[arg(long, switch())]
    pub frozen: Option<bool>,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
}

impl Install {
    /// The flags that install one plugin for the current directory.
    pub(crate) fn of(what: &str, transfer: TransferFlags) -> Install {
        Install {
            what: Some(what.to_owned()),
            directory: PathBuf::from("."),
            no_project: false,
            path: None,
            from: None,
            exact: false,
            frozen: None,
            transfer,
            printing: Printing { output: Format::Text },
        }
    }
}

const ABOUT: &str = "Install the plugins that plugins.yaml in the directory names, or the one that SOURCE names.\n\n\
    Required plugins are installed as plugins.lock says; plugins that are not locked yet are added to it. With --frozen, which is the default where CI is \
    set and is not 'false' or '0', only locked plugins are installed. A plugin that plugins.yaml does not name is installed without a change to either file.";

const EXAMPLES: &str = "Examples:
  # The plugins of ./plugins.yaml
  rustomize plugin install

  # One plugin, in the highest version that the constraint allows
  rustomize plugin install 'github.com/acme/app@~> 1.2'

  # From a registry
  rustomize plugin install --from oci://registry.example.com/acme/app example.com/acme/app@1.2.3

  # From a file that was built on this machine
  rustomize plugin install --path ./app example.com/acme/app
";

/// Runs `plugin install`.
///
/// # Errors
/// The installer fails.
pub(crate) fn run(args: &Install, is_json: bool, options: &PluginOptions) -> Result<()> {
    let installed = match &args.what {
        Some(what) => install_one(args, what, options)?,
        None => {
            required(&args.directory)?;
            let machine = machine();
            let policy = machine.policy(args.frozen)?;
            let _lock = machine.lock_project(&args.directory);
            let directory = ProjectDirectory::named(&args.directory);
            let install = |installer: &mut Installer<'_>| installer.install_project(&directory);
            machine.install(args.transfer.into(), &policy, options, install)?.installed
        }
    };
    report(&installed).print(is_json)
}

/// Installs a single plugin, and what it needs. Where the `plugins.yaml` of the directory names it,
/// as that and `plugins.lock` say.
///
/// # Errors
/// The installer fails.
pub(crate) fn install_one(args: &Install, what: &str, options: &PluginOptions) -> Result<Vec<Installed>> {
    let machine = machine();
    let policy = machine.policy(args.frozen)?;
    if !args.no_project && args.path.is_none() && args.from.is_none() {
        let is_named = |r: &Requirement| r.name == what || r.source.to_string() == what;
        let named = Requirements::read(&args.directory)?.plugins.into_iter().find(is_named);
        if let Some(wanted) = named {
            let _lock = machine.lock_project(&args.directory);
            let install = |installer: &mut Installer<'_>| installer.install_required(&args.directory, wanted);
            return Ok(machine.install(args.transfer.into(), &policy, options, install)?.installed);
        }
    }
    let (source, constraint) = halves(what);
    let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
    let from = match (&args.path, &args.from) {
        (Some(_), _) if !constraint.is_any() => {
            bail!("'{what}' has a constraint, and --path names the exact plugin\n  hint: leave the constraint out")
        }
        (Some(path), _) => std::path::absolute(path)?.display().to_string(),
        (None, Some(from)) => from.clone(),
        (None, None) => String::new(),
    };
    let add = format!("rustomize plugin add {}", quoted(what));
    let add = if from.is_empty() { add } else { format!("{add} --from {}", quoted(&from)) };
    policy.check_unlocked(&format!("'{source}'"), &add, &args.directory)?;
    let wanted = alone(source, constraint, from);
    let base = Base::new(&args.directory);
    if args.path.is_none()
        && !args.exact
        && let Some(there) = sufficient(&machine.plugins()?, &wanted, &base, &policy)?
    {
        let constraint = &wanted.constraint;
        if !constraint.allows(&there.file.version) {
            let version = &there.file.version;
            writer::say(&format!(
                "v{version} is installed, which is higher, and is kept; --exact installs {constraint}"
            ));
        }
        return Ok(vec![there]);
    }
    let install = |installer: &mut Installer<'_>| installer.install_alone(&args.directory, wanted);
    Ok(machine.install(args.transfer.into(), &policy, options, install)?.installed)
}

/// The report of the installed plugins.
pub(crate) fn report(done: &[Installed]) -> Report {
    let mut report = Report::default();
    for installed in done {
        let (source, version) = (installed.source.to_string(), installed.file.version.to_string());
        let line = format!("{source} v{version}: {}", installed.path.display());
        let value = json!({ "source": source, "version": version, "sha256": installed.sum, "path": path_value(&installed.path) });
        report.add(line, value);
    }
    report
}
