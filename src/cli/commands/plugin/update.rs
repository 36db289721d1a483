//! `plugin update`: installs the newest versions that plugins.yaml allows.

use super::images::{ImageLocking, images_of};
use crate::flags::format::Printing;
use crate::flags::transfer::TransferFlags;
use crate::machine::machine;
use crate::report::Report;
use anyhow::Result;
use clap::Args;
use rustomize_manager::install::project::{RelockOptions, Upgrade};
use rustomize_manager::policy::lock::Lock;
use rustomize_plugins::PluginOptions;
use serde_json::json;
use std::path::PathBuf;

/// Take the newest versions that plugins.yaml allows
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Update {
    /// The names of plugins in plugins.yaml [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Take the newest version that a host offers, even if a higher one was locked before
    #[arg(long)]
    pub allow_older: bool,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
}

const ABOUT: &str = "Install the newest versions that plugins.yaml allows, and write them to plugins.lock.\n\n\
    The lock remembers the highest version of each plugin. If a host offers only lower versions than that, the command fails: --allow-older takes them.";

const EXAMPLES: &str = "Examples:
  # All plugins of ./plugins.yaml
  rustomize plugin update

  # Only the plugin 'app'
  rustomize plugin update app";

/// Runs `plugin update`.
///
/// # Errors
/// The installer fails.
pub(crate) fn run(args: &Update, is_json: bool, options: &PluginOptions) -> Result<()> {
    let upgrade = if args.names.is_empty() { Upgrade::All } else { Upgrade::Named(&args.names) };
    let machine = machine();
    let _lock = machine.lock_project(&args.directory);
    let before = Lock::read(&args.directory)?.unwrap_or_default();
    let images = images_of(&args.directory, &[], ImageLocking { upgrade, is_check: false }, args.transfer)?;
    let policy = machine.policy(Some(false))?;
    let done = machine.install(args.transfer.into(), &policy, options, |installer| {
        installer.lock_project(
            &args.directory,
            &RelockOptions { upgrade, allows_older: args.allow_older, is_check: false, images },
        )
    })?;
    let lock = done.lock;
    let mut report = Report::default();
    for (source, locked) in &lock.plugins {
        let old = before.plugins.get(source).map(|old| old.version.clone());
        let version = &locked.version;
        let line = match &old {
            Some(old) if old == version => format!("{source} v{version}: the newest that is allowed"),
            Some(old) => format!("{source} v{old} -> v{version}"),
            None => format!("{source} v{version}: new"),
        };
        report.add(line, json!({ "source": source, "oldVersion": old, "version": version }));
    }
    for (image, digest) in lock.images.iter().filter(|(image, digest)| before.images.get(*image) != Some(*digest)) {
        let old = before.images.get(image);
        report.add(format!("{image} -> {digest}"), json!({ "image": image, "oldDigest": old, "digest": digest }));
    }
    report.print(is_json)
}
