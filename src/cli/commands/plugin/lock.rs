//! `plugin lock`: plugins.lock.

use super::images::{ImageLocking, images_of};
use crate::flags::format::Printing;
use crate::flags::project::Project;
use crate::flags::transfer::TransferFlags;
use crate::machine::machine;
use crate::report::Report;
use anyhow::{Result, bail};
use clap::Args;
use rustomize_manager::id::shell::in_directory;
use rustomize_manager::install::project::{RelockOptions, Upgrade};
use rustomize_manager::policy::lock::{self, Lock};
use rustomize_manager::policy::requirements;
use rustomize_plugins::PluginOptions;
use serde_json::json;

/// Write plugins.lock: the exact versions and sums of what plugins.yaml names
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(crate) struct LockFlags {
    #[command(flatten)]
    pub project: Project,

    /// Write nothing, and fail if plugins.lock would change
    #[arg(long)]
    pub check: bool,

    /// Lock an image, too, that no YAML file below the directory names, as that of a function in a
    /// remote base; may be repeated
    #[arg(long, value_name = "IMAGE")]
    pub image: Vec<String>,

    /// The same as 'rustomize plugin update [NAME]...'
    #[arg(long, hide = true, num_args = 0.., value_name = "NAME")]
    pub upgrade: Option<Vec<String>>,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
}

const ABOUT: &str = "Write plugins.lock beside plugins.yaml, for you to commit. It has the version of each plugin, what the plugin provides, and for each platform \
    the address, size and checksums of its file. Locked versions stay if plugins.yaml allows them.";

/// Runs `plugin lock`.
///
/// # Errors
/// The installer fails, or with `--check` the file would change.
pub(crate) fn run(args: &LockFlags, is_json: bool, options: &PluginOptions) -> Result<()> {
    let upgrade = match args.upgrade.as_deref() {
        None => Upgrade::Nothing,
        Some([]) => Upgrade::All,
        Some(names) => Upgrade::Named(names),
    };
    let directory = args.project.path();
    let machine = machine();
    let policy = machine.policy(Some(args.check))?;
    let _lock = machine.lock_project(directory);
    let images = images_of(directory, &args.image, ImageLocking { upgrade, is_check: args.check }, args.transfer)?;
    let done = machine.install(args.transfer.into(), &policy, options, |installer| {
        installer.lock_project(directory, &RelockOptions { upgrade, allows_older: false, is_check: args.check, images })
    })?;
    if !args.check {
        return locked(&done.lock).print(is_json);
    }
    if done.value {
        bail!(
            "'{}' does not match '{}'\n  hint: lock again, then commit it: {}",
            directory.join(lock::FILE).display(),
            requirements::FILE,
            in_directory("rustomize plugin lock", directory)
        );
    }
    Ok(())
}

/// The report of a lock file, for people and programs.
fn locked(lock: &Lock) -> Report {
    let mut report = Report::default();
    for (source, locked) in &lock.plugins {
        let platforms: Vec<&str> = locked.platforms.keys().map(String::as_str).collect();
        let value = json!({ "source": source, "version": locked.version, "platforms": platforms });
        report.add(format!("{source} v{}: {}", locked.version, platforms.join(", ")), value);
    }
    for (image, digest) in &lock.images {
        report.add(format!("{image}: {digest}"), json!({ "image": image, "digest": digest }));
    }
    report
}
