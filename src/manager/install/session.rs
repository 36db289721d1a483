//! Installing on a [`Machine`]: its directory of plugins is locked, and its host shows what
//! happens.

use super::{InstallEvent, Installer, PARALLEL};
use crate::fetch::{FetchLimits, Transfer};
use crate::policy::Policy;
use crate::policy::lock::Lock;
use crate::policy::machine::{Machine, Result};
use crate::policy::project_directory::ProjectDirectory;
use crate::store::description_cache;
use crate::store::discover::Installed;
use rustomize_base::host::Progress;
use rustomize_plugins::PluginOptions;
use std::sync::Arc;

/// How plugins are fetched.
#[derive(Clone, Copy, Debug)]
pub struct TransferOptions {
    /// True if nothing is fetched.
    pub offline: bool,
    /// The number of plugins that are fetched and unpacked at the same time.
    pub parallel: usize,
    /// The largest size of a plugin's file, in bytes.
    pub size_limit: u64,
}

impl Default for TransferOptions {
    fn default() -> Self {
        TransferOptions { offline: false, parallel: PARALLEL, size_limit: FetchLimits::default().size }
    }
}

/// The result of an installation.
pub struct Installation<T> {
    /// The installed plugins, also those that others depend on.
    pub installed: Vec<Installed>,
    /// The lock of the plugins.
    pub lock: Lock,
    /// The value that the installation gives.
    pub value: T,
}

/// Installs the plugins that a build needs and that are missing.
#[derive(Clone, Debug)]
pub struct LazyInstaller {
    pub machine: Machine,
    pub options: PluginOptions,
    /// True if only locked plugins are installed.
    pub is_frozen: bool,
}

impl LazyInstaller {
    /// Installs the plugins that the `plugins.yaml` of a directory requires.
    ///
    /// # Errors
    /// A plugin cannot be installed.
    pub fn install(&self, directory: &ProjectDirectory) -> Result<()> {
        let policy = self.machine.policy(Some(self.is_frozen))?;
        let _lock = self.machine.lock_project(&directory.path);
        let transfer = TransferOptions::default();
        let install = |installer: &mut Installer<'_>| installer.install_project(directory);
        self.machine.install(transfer, &policy, &self.options, install).map(drop)
    }
}

impl Machine {
    /// The client that fetches files, with the tokens of the user. `progress` shows the files.
    pub fn transfer(&self, options: TransferOptions, progress: Option<&Arc<dyn Progress>>) -> Transfer {
        let limits = FetchLimits { size: options.size_limit, ..FetchLimits::default() };
        let transfer = Transfer::new(limits, self.cache.clone(), options.offline, self.children.clone());
        let transfer = transfer.for_host(&self.host);
        match progress.filter(|progress| progress.shows_files()).map(Arc::clone) {
            Some(progress) => transfer.watched(Box::new(move |url, bytes, size| progress.received(url, bytes, size))),
            None => transfer,
        }
    }

    /// Calls `install` with an installer for the plugins of this machine.
    ///
    /// # Errors
    /// The directory of plugins is not known or cannot be written to, or `install` fails.
    pub fn install<T>(
        &self,
        transfer: TransferOptions,
        policy: &Policy,
        options: &PluginOptions,
        install: impl FnOnce(&mut Installer<'_>) -> crate::diag::Result<T>,
    ) -> Result<Installation<T>> {
        let root = self.lock_plugins()?;
        let progress = self.host.progress();
        let parallel = transfer.parallel;
        let transfer = self.transfer(transfer, Some(&progress));
        let tell = |event: InstallEvent<'_>| event.tell(&*progress);
        let mut installer = Installer::new(&root, &transfer, options, policy, &tell);
        installer.parallel = parallel;
        let value = install(&mut installer)?;
        if let Some(cache) = &self.cache {
            installer.installed().for_each(|installed| description_cache::forget_failure(cache, &installed.sum));
        }
        Ok(Installation { installed: installer.installed().cloned().collect(), lock: installer.lock, value })
    }
}
