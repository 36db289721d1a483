//! `plugin sync`: the bundles of an environment from its server.

use super::export::{Laying, existing, lay};
use crate::flags::format::Printing;
use crate::flags::switch::Switch;
use crate::machine::machine;
use crate::report::Report;
use anyhow::{Result, bail};
use clap::Args;
use rustomize_manager::policy::ADD_SOURCE;
use rustomize_manager::share::sync::SyncCounts;
use rustomize_plugins::PluginOptions;
use serde_json::json;
use std::path::PathBuf;

/// Get the bundles of an environment from its server
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(crate) struct Sync {
    /// The environment [default: RUSTOMIZE_ENVIRONMENT, or 'default']
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,

    /// The URL of the server [default: the one in environment.yaml]
    #[arg(long, value_name = "URL")]
    pub from: Option<String>,

    /// The same as 'rustomize plugin export DIR'
    #[arg(long, hide = true, value_name = "DIR", conflicts_with_all = ["environment", "from"])]
    pub placement: Option<PathBuf>,

    /// The directory with plugins.yaml
    #[arg(hide = true, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Print what would be done, and do nothing
    #[arg(long, hide = true, requires = "placement")]
    pub dry_run: bool,

    /// Sync nothing, because synced bundles are not locked [default: whether CI is set]
    #[arg(long, switch())]
    pub frozen: Option<bool>,

    #[command(flatten)]
    pub printing: Printing,
}

const ABOUT: &str = "Make the bundles that were synced for an environment the same as those of its server. Only files that differ are fetched. Files that the \
    server no longer has are deleted. The old files stay in use until all new ones have arrived.";

/// Runs `plugin sync`.
///
/// # Errors
/// The server of the environment is not trusted, or cannot be asked.
pub(crate) fn run(args: &Sync, is_json: bool, options: &PluginOptions) -> Result<()> {
    if let Some(placement) = &args.placement {
        return lay(placement, &args.directory, Laying { frozen: args.frozen, is_dry_run: args.dry_run }, options)?
            .print(is_json);
    }
    let environment = existing(args.environment.as_deref())?;
    let Some(server) = args.from.as_deref().or(environment.sync.as_deref()) else {
        bail!(
            "the environment '{}' does not name its server\n  hint: give --from URL, or write 'sync: URL' into its environment.yaml",
            environment.name
        );
    };
    let machine = machine();
    let policy = machine.policy(args.frozen)?;
    let what = format!("a bundle that is synced for '{}'", environment.name);
    policy.check_unlocked(&what, ADD_SOURCE, &args.directory)?;
    let SyncCounts { files, fetched, removed } = machine.sync(&environment, server, &policy)?;
    let value = json!({ "environment": environment.name, "files": files, "fetched": fetched, "removed": removed });
    let mut report = Report::default();
    report.add(format!("{}: {files} files, {fetched} fetched, {removed} removed", environment.name), value);
    report.print(is_json)
}
