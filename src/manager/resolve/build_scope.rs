//! [`BuildScope`]: where a build looks for plugins, before any file of them is read.

use super::inputs::Inputs;
use super::project::{Project, upwards};
use super::schemas;
use crate::diag::Result;
use crate::install::session::LazyInstaller;
use crate::load::Root;
use crate::policy::environment::Environment;
use crate::policy::machine::Machine;
use crate::policy::project_directory::ProjectDirectory;
use crate::policy::{Policy, image};
use crate::store::root::RootError;
use rustomize_plugins::PluginOptions;
use rustomize_plugins::options::Images;
use std::path::{Path, PathBuf};

/// The directory and the environment of a build, and whether it installs missing plugins.
#[derive(Clone, Debug)]
pub struct BuildScope {
    pub machine: Machine,
    /// The directory that is built.
    pub directory: PathBuf,
    pub environment: Option<Environment>,
    /// True if only locked plugins are used.
    pub is_frozen: bool,
    /// The options of plugins that are installed because the build needs them; `None` leaves
    /// plugins missing.
    pub installs: Option<PluginOptions>,
}

/// The places in which a build looks for plugins, and the rules for them.
#[derive(Debug, Default)]
pub struct InputsAndPolicy {
    pub inputs: Inputs,
    pub policy: Policy,
}

impl BuildScope {
    /// The inputs and the policy of the build. A machine without a home has no plugins.
    ///
    /// # Errors
    /// The directory of plugins is not known, or a file cannot be read or is not valid.
    pub fn inputs(&self) -> Result<InputsAndPolicy> {
        let is_homeless = matches!(self.machine.plugins(), Err(RootError::NoHome));
        if is_homeless && Project::read(&ProjectDirectory::named(&self.directory))?.is_empty() {
            return Ok(InputsAndPolicy::default());
        }
        let policy = self.machine.policy(Some(self.is_frozen))?;
        Ok(InputsAndPolicy { inputs: self.inputs_for(&policy)?, policy })
    }

    fn inputs_for(&self, policy: &Policy) -> Result<Inputs> {
        let inputs = Inputs::of(&self.machine, &self.directory, self.environment.as_ref(), policy)?;
        let installer = |options: &PluginOptions| {
            let (machine, options) = (self.machine.clone(), options.clone());
            LazyInstaller { machine, options, is_frozen: policy.is_frozen }
        };
        Ok(Inputs { install: self.installs.as_ref().map(installer), ..inputs })
    }

    /// The files with schemas of the bundles that the directory and the environment require. A
    /// machine without a home has none. Trust rules are read where there is a bundle.
    ///
    /// # Errors
    /// A required bundle cannot be installed or used.
    pub fn required_schemas(&self) -> Result<Vec<PathBuf>> {
        // A fault of the root is reported to the first object that asks for a plugin.
        if self.machine.plugins().is_err() {
            return Ok(Vec::new());
        }
        let unread = Policy { is_frozen: self.is_frozen, ..Policy::default() };
        let bundles = self.inputs_for(&unread)?.required_bundles(&unread)?;
        match bundles.is_empty() {
            true => Ok(Vec::new()),
            false => schemas::schemas(&bundles, &self.machine.trust()?),
        }
    }

    /// The images that run in place of those that objects name.
    pub fn images(&self) -> Images {
        let (machine, directory, is_frozen) = (self.machine.clone(), self.directory.clone(), self.is_frozen);
        Images::new(move |root, written| {
            image::for_build(&lock_directories(&machine, root, &directory), is_frozen, written)
        })
    }
}

/// The directories whose `plugins.lock` counts for the images of a root, nearest first: for a root
/// of this machine those from it upwards, then those from the built directory upwards. The lock of
/// a clone does not count.
fn lock_directories(machine: &Machine, root: &Root, built: &Path) -> Vec<ProjectDirectory> {
    let safe = machine.safe_directories();
    let mut found = if root.remote().is_none() { upwards(&root.real, None, &safe) } else { Vec::new() };
    if let Ok(built) = dunce::canonicalize(built) {
        found.extend(upwards(&built, None, &safe));
    }
    found
}
