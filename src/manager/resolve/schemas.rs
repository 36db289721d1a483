//! The schemas of required bundles, which a build knows.
//!
//! A plugin is looked for when an object asks for it. No object asks for a schema: a build needs
//! the schemas from its beginning, so required bundles are installed before it. An installed bundle
//! that is not required gives a build only its plugins: other plugins of a machine change no patch,
//! and cost no time.

use super::inputs::Inputs;
use super::project::{Need, Project};
use super::tiers::not_installed;
use crate::author::bundle;
use crate::diag::Result;
use crate::policy::Policy;
use crate::policy::lock::LockedPlugin;
use crate::policy::requirements::Requirements;
use crate::policy::trust::Trust;
use crate::store::discover::Installed;
use rustomize_plugins::failure::bad_plugin;
use std::path::PathBuf;
use std::sync::Arc;

/// The files with schemas of required bundles.
///
/// # Errors
/// A bundle is not trusted, or a file cannot be read.
pub fn schemas(bundles: &[Installed], trust: &Trust) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for bundle in bundles {
        trust.check_installed(bundle)?;
        files.extend(schemas_of(bundle)?);
    }
    Ok(files)
}

impl Inputs {
    /// The bundles that the tree and the environment require, and those that they bring, an earlier
    /// one before a later one. Missing ones are installed, if this installs anything: see
    /// [`Inputs::complete`]. O(files of the bundles).
    ///
    /// # Errors
    /// A required bundle is not installed, or contradicts its lock entry.
    pub fn required_bundles(&self, policy: &Policy) -> Result<Vec<Installed>> {
        let mut bundles = Vec::new();
        for project in self.projects_with_bundles(policy)? {
            let own = project.needs.iter().filter(|need| may_be_bundle(&project, need));
            let all: Vec<Need> = own.cloned().chain(self.brought(&project, policy)).collect();
            for need in all {
                let is_locked = project.locked(&need.id).is_some();
                // Without a lock entry nothing says that it is a bundle. An object that asks for it
                // gets the error.
                if !is_locked && (policy.is_frozen || project.lock.is_some()) {
                    continue;
                }
                match self.required(&project, &need, policy).map_err(|e| e.at(need.wanted.place.clone()))? {
                    Some(installed) if is_bundle(&installed)? => bundles.push(installed),
                    None if is_locked => return Err(not_installed(&project, &need.wanted)),
                    _ => {}
                }
            }
        }
        Ok(bundles)
    }

    /// The projects of the tree and of the environment that may require a bundle, with everything
    /// installed that can be.
    fn projects_with_bundles(&self, policy: &Policy) -> Result<Vec<Arc<Project>>> {
        let mut projects: Vec<Arc<Project>> = Vec::new();
        for directory in self.above_top().into_iter().chain(self.of_environment()) {
            // kustomize gives the name no meaning: another file may have it.
            if projects.iter().any(|known| known.directory == directory.path) || !Requirements::are_in(&directory)? {
                continue;
            }
            let project = self.project(&directory)?;
            if project.needs.iter().any(|need| may_be_bundle(&project, need)) {
                projects.push(self.complete(project, policy)?);
            }
        }
        Ok(projects)
    }
}

/// Returns whether a requirement is a bundle, as far as the lock says.
fn may_be_bundle(project: &Project, need: &Need) -> bool {
    project.locked(&need.id).is_none_or(LockedPlugin::is_bundle)
}

fn is_bundle(installed: &Installed) -> Result<bool> {
    let bundle = installed.bundle().map_err(|why| bad_plugin(format!("'{}': {why}", installed.path.display())))?;
    Ok(bundle.is_some())
}

fn schemas_of(bundle: &Installed) -> Result<Vec<PathBuf>> {
    let cannot = |e| bad_plugin(format!("the schemas of '{}' cannot be read: {e}", bundle.path.display()));
    Ok(bundle::schemas(&bundle.path).map_err(cannot)?.into_iter().map(|(_, path)| path).collect())
}
