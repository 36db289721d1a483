//! [`StagedPlugin`]: a plugin whose manifest was read, for all later steps of an installation.

use super::describe::describe;
use super::prepare::{UnpackedPlugin, is_local, is_of_this_machine};
use crate::author::describe::{DescribeError, Description};
use crate::author::manifest::{Manifest, Runtime};
use crate::diag::Result;
use crate::fetch::is_repository;
use crate::id::requirement::Requirement;
use crate::id::version::{Version, VersionError};
use rustomize_plugins::PluginOptions;
use rustomize_plugins::failure::bad_plugin;
use rustomize_process::Launch;
use std::path::{Path, PathBuf};

/// A plugin in a stage or in its place.
#[derive(Clone, Debug)]
pub(super) struct StagedPlugin {
    /// The file or directory that is the plugin.
    pub(super) path: PathBuf,
    /// The manifest of a directory; `None` for a file.
    pub(super) manifest: Option<Manifest>,
    /// The checksum of the content.
    pub(super) sum: String,
}

impl StagedPlugin {
    /// Reads the manifest of an unpacked plugin.
    ///
    /// # Errors
    /// The manifest cannot be read, or is not valid.
    pub(super) fn read(unpacked: &UnpackedPlugin) -> Result<StagedPlugin> {
        let path = unpacked.path.clone();
        let manifest = path.is_dir().then(|| Manifest::read(&path)).transpose()?;
        Ok(StagedPlugin { path, manifest, sum: unpacked.pinned.content.clone() })
    }

    /// The same plugin in another place.
    pub(super) fn at(&self, path: &Path) -> StagedPlugin {
        StagedPlugin { path: path.to_owned(), ..self.clone() }
    }

    /// Returns true if the plugin is a bundle.
    pub(super) fn is_bundle(&self) -> bool {
        self.manifest.as_ref().is_some_and(Manifest::is_bundle)
    }

    /// The launch of the plugin.
    pub(super) fn launch(&self) -> Launch {
        match &self.manifest {
            Some(manifest) => manifest.launch(&self.path),
            None => Launch::new(&self.path),
        }
    }

    /// The kind of a plugin that no other plugin can call, and what its user does instead.
    pub(super) fn why_not_called(&self) -> Option<(&'static str, &'static str)> {
        match self.manifest.as_ref()?.runtime {
            Runtime::SharedObject => Some((
                "a shared object",
                "depend on a program, or on a plugin with a runtime: only a build loads shared objects",
            )),
            Runtime::Bundle => {
                Some(("a bundle", "depend on a plugin, or make a bundle of this plugin and the other bundle"))
            }
            _ => None,
        }
    }

    /// The description of the plugin: that of its manifest, or else its answer.
    ///
    /// # Errors
    /// The plugin does not describe itself.
    pub(super) fn describe(&self, options: &PluginOptions) -> Result<Description> {
        let shown = self.path.display().to_string();
        match &self.manifest {
            Some(manifest) if manifest.says_what() => Ok(manifest.description.clone()),
            Some(manifest) => Ok(manifest.complete(ask(self.launch(), options, &shown)?)),
            None => ask(self.launch(), options, &shown),
        }
    }

    /// The plugins that the plugin depends on. One that was fetched as `unpacked` names no place of
    /// this machine.
    ///
    /// # Errors
    /// A dependency is on this machine, or beside a plugin that came in an archive.
    pub(super) fn dependencies(&self, unpacked: &UnpackedPlugin) -> Result<Vec<Requirement>> {
        let needs = self.manifest.as_ref().map(|manifest| manifest.dependencies.clone()).unwrap_or_default();
        let is_archive = unpacked.pinned.archive.is_some();
        let is_fetched = is_archive || is_repository(&unpacked.pinned.url);
        let hint = "its author has to name a place where the dependency is released";
        if let Some(need) = needs.iter().find(|need| is_fetched && is_of_this_machine(need)) {
            let message = format!("it depends on '{}' from '{}', a repository of this machine", need.name, need.from);
            return Err(bad_plugin(message).hint(hint));
        }
        match needs.iter().find(|need| is_archive && is_local(need)) {
            Some(local) => {
                let message = format!(
                    "it depends on '{}' from '{}', and an archive has no directory for that path",
                    local.name, local.from
                );
                Err(bad_plugin(message).hint(hint))
            }
            None => Ok(needs),
        }
    }

    /// The version that a plugin in a directory states itself, where neither its manifest nor a tag
    /// does.
    ///
    /// # Errors
    /// Its manifest has a description without a version, or the plugin does not describe itself.
    pub(super) fn own_version(&self, manifest: &Manifest, options: &PluginOptions) -> Result<Version> {
        let unknown = |why: String| {
            let error = bad_plugin(format!("its version is not known: {why}"));
            error.hint(format!("put 'version: 1.2.3' into its {}", Manifest::name_in(&self.path)))
        };
        if manifest.says_what() {
            return Err(unknown("its manifest does not name it".to_owned()));
        }
        let described = describe(manifest, &self.path, options);
        let description = described.map_err(|e| unknown(e.message().to_owned()))?;
        description.version.parse().map_err(|e: VersionError| unknown(e.to_string()))
    }
}

/// The answer of a plugin that is asked what it does. Errors call the plugin `shown`.
///
/// # Errors
/// The plugin does not describe itself.
pub(super) fn ask(launch: Launch, options: &PluginOptions, shown: &str) -> Result<Description> {
    Description::ask(launch, options).map_err(|e| {
        let hint = match &e {
            DescribeError::Form(_) => {
                "run with the argument 'describe' it prints one JSON object: {\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"generators\": [...], ...}"
            }
            _ => "check that it is executable and built for this machine",
        };
        bad_plugin(format!("'{shown}' cannot be installed: {e}")).hint(hint)
    })
}
