//! `plugin add`: adds a plugin to plugins.yaml.

use super::install::report;
use super::named::{constraint_of, halves, parse};
use crate::flags::format::Printing;
use crate::flags::transfer::TransferFlags;
use crate::machine::machine;
use anyhow::Result;
use clap::Args;
use rustomize_base::windows_path::slashed;
use rustomize_manager::install::project::Addition;
use rustomize_plugins::PluginOptions;
use std::path::PathBuf;

/// Add a plugin to plugins.yaml, and install and lock it
#[derive(Args)]
pub(crate) struct Add {
    /// The source, as in github.com/acme/app, with a constraint on the version
    /// [default: the highest version and above, below the next major version]
    #[arg(value_name = "SOURCE[@CONSTRAINT]")]
    pub what: String,

    /// The name in plugins.yaml [default: the last part of SOURCE]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Where to fetch it: https://..., git::..., oci://..., ./path
    /// [default: the releases of its repository]
    #[arg(long, value_name = "LOCATION")]
    pub from: Option<String>,

    /// The directory with plugins.yaml; the file is made if it is missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
}

/// Runs `plugin add`. plugins.yaml and plugins.lock change only after the plugin is installed.
///
/// # Errors
/// The plugin is required already, or the installer fails.
pub(crate) fn run(args: &Add, is_json: bool, options: &PluginOptions) -> Result<()> {
    let (source, constraint) = halves(&args.what);
    let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
    let name = args.name.clone().unwrap_or_else(|| source.name().to_owned());
    let from = args.from.as_deref().unwrap_or_default();
    // plugins.yaml and plugins.lock are read on all systems.
    let with_slashes = slashed(from.into()).to_string_lossy().into_owned();
    let from = if from.starts_with('.') { &with_slashes } else { from };
    let addition = Addition { name: &name, source, constraint, from };
    let machine = machine();
    let _lock = machine.lock_project(&args.directory);
    let policy = machine.policy(Some(false))?;
    let done = machine
        .install(args.transfer.into(), &policy, options, |installer| installer.add(&args.directory, &addition))?;
    report(&done.installed).print(is_json)
}
