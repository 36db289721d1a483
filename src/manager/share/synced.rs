//! The schemas of a build, after its environment was synced.

use super::sync::{self, SyncCounts};
use crate::install::session::TransferOptions;
use crate::policy::environment::{Environment, MachineBundle};
use crate::policy::machine::{Machine, MachineError, Result};
use crate::policy::{ADD_SOURCE, Policy};
use crate::resolve::build_scope::BuildScope;
use std::path::PathBuf;

/// Whether a build syncs its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncing {
    Syncs,
    /// It uses the files of the last sync.
    UsesLastSync,
}

impl Machine {
    /// Makes the synced files of an environment the same as those of its server.
    ///
    /// # Errors
    /// The server is not trusted or cannot be asked, or a file cannot be written.
    pub fn sync(&self, environment: &Environment, server: &str, policy: &Policy) -> Result<SyncCounts> {
        let server = server.trim_end_matches('/');
        policy.trust.check_server(server, &environment.name)?;
        let Some(place) = &environment.synced else {
            let message = "the directory for synced files is not known";
            let hint = "set HOME, XDG_CACHE_HOME or RUSTOMIZE_CACHE_DIR";
            return Err(MachineError::Lack(format!("{message}\n  hint: {hint}")));
        };
        let transfer = self.transfer(TransferOptions::default(), None);
        Ok(sync::sync(&transfer, server, &environment.name, place)?)
    }
}

impl BuildScope {
    /// The files with schemas of bundles, those that count first at the front. An environment is
    /// synced first of all, unless only locked plugins are used: bundles are in no lock file.
    ///
    /// # Errors
    /// The environment cannot be synced, its synced schemas may not be used, or a required bundle
    /// cannot be installed or used.
    pub fn schemas(&self, syncing: Syncing) -> Result<Vec<PathBuf>> {
        let may_sync = syncing == Syncing::Syncs && !self.is_frozen;
        if let Some(environment) = &self.environment
            && let Some(server) = environment.sync.as_deref().filter(|_| may_sync)
        {
            let policy = self.machine.policy(Some(self.is_frozen))?;
            let words = || format!("syncing the environment '{}' (--no-sync takes it as it is)", environment.name);
            self.machine.sync(environment, server, &policy).map_err(|e| e.context(words()))?;
        }
        let bundles = self.environment.as_ref().map_or(Ok(Vec::new()), Environment::bundles)?;
        let bundled: Vec<PathBuf> = bundles.iter().flat_map(MachineBundle::schemas).collect();
        if let Some(synced) = self.environment.as_ref().map_or(Ok(None), Environment::synced_bundle)?
            && !synced.bundle.schemas().is_empty()
        {
            let policy = self.machine.policy(Some(self.is_frozen))?;
            let what = format!("a schema that was synced for '{}'", synced.environment);
            policy.check_unlocked(&what, ADD_SOURCE, &self.directory)?;
            synced.check(&policy.trust)?;
        }
        let required = self.required_schemas()?;
        // Of two schemas for one kind the later counts.
        Ok(required.into_iter().chain(bundled).rev().collect())
    }
}
