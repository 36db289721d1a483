//! The installer, for commands and builds.

use crate::cli::flags::transfer::TransferFlags;
use crate::cli::machine::{policy, secret};
use crate::cli::progress::Progress;
use crate::cli::variable::variable;
use crate::cli::{cache, signals, writer};
use crate::manager::fetch::{FetchLimits, Transfer};
use crate::manager::install::{InstallEvent, Installer};
use crate::manager::policy::Policy;
use crate::manager::policy::lock::Lock;
use crate::manager::policy::project_directory::ProjectDirectory;
use crate::manager::resolve::inputs::forget_failure;
use crate::manager::store::discover::Installed;
use crate::manager::store::exclusive::ExclusiveRoot;
use crate::manager::store::root;
use crate::plugin::PluginOptions;
use anyhow::Result;
use rustomize_files as files;
use std::fs::File;
use std::path::Path;

/// Locks the directory of installed plugins, so that no other process writes to it.
///
/// # Errors
/// The directory does not exist and cannot be made.
pub fn locked_root() -> Result<ExclusiveRoot> {
    let waiting = || writer::say("Waiting until another installation ends");
    Ok(ExclusiveRoot::lock(&root::root(variable)?, waiting)?)
}

/// Makes the client that fetches files, with the tokens of the environment.
pub fn transfer(offline: bool, size: u64, progress: Option<&Progress>) -> Transfer {
    let cache = cache::writable();
    let transfer =
        Transfer::new(FetchLimits { size, ..FetchLimits::default() }, cache, offline, signals::children().clone())
            .with_secrets(secret);
    match progress.and_then(Progress::watch) {
        Some(watch) => transfer.watched(watch),
        None => transfer,
    }
}

/// Calls `install` with an installer that reports on stderr. Returns the installed plugins, the
/// lock, and the result of `install`.
pub fn installing<T>(
    flags: TransferFlags,
    policy: &Policy,
    options: &PluginOptions,
    install: impl FnOnce(&mut Installer<'_>) -> crate::diag::Result<T>,
) -> Result<(Vec<Installed>, Lock, T)> {
    let root = locked_root()?;
    let progress = Progress::new();
    let transfer = transfer(flags.offline, flags.size_limit, Some(&progress));
    let tell = |event: InstallEvent<'_>| progress.tell(event);
    let mut installer = Installer::new(&root, &transfer, options, policy, &tell);
    installer.parallel = flags.parallel;
    let given = install(&mut installer)?;
    for (installed, cache) in installer.done.values().zip(std::iter::repeat(cache::writable())) {
        cache.inspect(|cache| forget_failure(cache, &installed.sum));
    }
    Ok((installer.done.into_values().collect(), installer.lock, given))
}

/// Takes the lock of the plugin files of a directory, and waits for other commands that change
/// them. Taken before [`locked_root`], so that two commands never wait for each other.
pub fn lock_project(directory: &Path) -> Option<File> {
    files::lock(directory, || writer::say("Waiting until another command ends"))
}

/// Installs the plugins that the `plugins.yaml` of a directory names, for a build that needs them.
///
/// # Errors
/// The installer fails.
pub fn install_missing(directory: &ProjectDirectory, is_frozen: bool, options: &PluginOptions) -> Result<()> {
    let policy = policy(Some(is_frozen))?;
    let flags = TransferFlags::default();
    let _lock = lock_project(&directory.path);
    installing(flags, &policy, options, |installer| installer.install_project(directory)).map(drop)
}
