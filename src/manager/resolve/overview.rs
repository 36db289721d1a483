//! The installed and the required plugins, as `plugin list`, `plugin verify` and `plugin sync
//! --placement` see them.

use super::project::Need;
use super::tiers::{is_users, not_installed, provider};
use super::{Provider, Resolver};
use crate::author::bundle;
use crate::author::describe::{Component, Role};
use crate::diag::Result;
use crate::fetch::origin::Origin;
use crate::id::source::Source;
use crate::id::version::{ApiVersion, Version};
use crate::policy::ADD_SOURCE;
use crate::store::discover::{Candidate, Installed, Refusal};
use rustomize_plugins::failure::bad_plugin;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A plugin that is installed, or that should be.
#[derive(Debug)]
pub struct PluginRow {
    /// `None` for a file outside of the directories of sources.
    pub source: Option<Source>,
    pub origin: Origin,
    pub state: PluginState,
    /// The file or directory; `None` for an absent plugin.
    pub path: Option<PathBuf>,
    /// The `plugins.yaml` files that require it, each with the name that it gives the plugin.
    pub required_by: Vec<(PathBuf, String)>,
}

/// The state of a plugin.
#[derive(Debug)]
pub enum PluginState {
    Installed(PluginDetails),
    /// The installation did not finish, for this reason.
    Present(String),
    /// It cannot be used: why.
    Refused(String),
    /// It is required and not installed; the constraint on its version.
    Absent(String),
}

/// Details of an installed plugin.
#[derive(Debug)]
pub struct PluginDetails {
    pub version: Version,
    pub api: ApiVersion,
    /// The sum of its content.
    pub sum: String,
    /// The components that it provides, each with its role.
    pub provides: Vec<(Role, Component)>,
    /// The names of the schemas of a bundle; `None` for a plugin.
    pub schemas: Option<Vec<String>>,
}

impl PluginDetails {
    /// The kinds that the plugin provides, each once, with the names of components without a kind;
    /// then the number of schemas.
    pub fn summary(&self) -> String {
        let mut shown: Vec<String> = Vec::new();
        for (_, component) in &self.provides {
            let text = component.title();
            if !shown.contains(&text) {
                shown.push(text);
            }
        }
        match self.schemas.as_ref().map_or(0, Vec::len) {
            0 => {}
            1 => shown.push("1 schema".to_owned()),
            n => shown.push(format!("{n} schemas")),
        }
        shown.join(", ")
    }
}

impl Resolver<'_> {
    /// Every installed plugin, by source, and every missing required plugin. The content of each is
    /// compared with its checksum: O(bytes of all).
    ///
    /// # Errors
    /// A `plugins.yaml` or a `plugins.lock` cannot be read.
    pub fn rows(&self) -> Result<Vec<PluginRow>> {
        let projects = self.inputs.own_projects()?;
        let mut required: Vec<(PathBuf, Need, Result<Option<Installed>>)> = Vec::new();
        for project in &projects {
            let brought = self.inputs.brought(project, self.policy);
            for need in project.needs.iter().chain(&brought) {
                required.push((project.file(), need.clone(), self.inputs.required(project, need, self.policy)));
            }
        }
        let mut by_path: HashMap<&Path, Vec<(PathBuf, String)>> = HashMap::new();
        for (file, Need { wanted, .. }, found) in &required {
            if let Ok(Some(installed)) = found {
                by_path.entry(&installed.path).or_default().push((file.clone(), wanted.name.clone()));
            }
        }
        let mut rows: Vec<PluginRow> = Vec::new();
        for candidate in self.inputs.installed().iter() {
            rows.push(PluginRow {
                source: candidate.source.clone(),
                origin: candidate.origin.clone(),
                state: self.state(candidate),
                path: Some(candidate.path.clone()),
                required_by: by_path.get(candidate.path.as_path()).cloned().unwrap_or_default(),
            });
        }
        let is_unusable = |row: &&PluginRow| !matches!(row.state, PluginState::Installed(_));
        let of_row = |row: &PluginRow| Some((row.source.clone()?, row.origin.clone()));
        let unusable: HashSet<(Source, Origin)> = rows.iter().filter(is_unusable).filter_map(of_row).collect();
        for (file, Need { wanted, id }, found) in &required {
            let state = match found {
                Ok(Some(_)) => continue,
                // The row of the file itself says why it cannot be used.
                Ok(None) | Err(_) if unusable.contains(&(id.source.clone(), id.origin.clone())) => continue,
                Ok(None) => PluginState::Absent(wanted.constraint.to_string()),
                Err(e) => PluginState::Refused(e.to_string()),
            };
            let required_by = vec![(file.clone(), wanted.name.clone())];
            let (source, origin) = (Some(id.source.clone()), id.origin.clone());
            rows.push(PluginRow { source, origin, state, path: None, required_by });
        }
        Ok(rows)
    }

    fn state(&self, candidate: &Candidate) -> PluginState {
        let installed = candidate.verdict.as_ref().map_err(|why| match why {
            Refusal::Partial(_) => PluginState::Present(why.to_string()),
            _ => PluginState::Refused(why.to_string()),
        });
        let installed = match installed {
            Ok(installed) => installed,
            Err(state) => return state,
        };
        let known = || {
            let description =
                self.inputs.verified(installed).and_then(|_| self.inputs.describe(self.options, installed))?;
            let schemas = match installed.bundle()? {
                Some(_) => Some(bundle::schemas(&installed.path).map_err(Refusal::Io)?),
                None => None,
            };
            Ok::<_, Refusal>((description, schemas.map(|all| all.into_iter().map(|(name, _)| name).collect())))
        };
        match known() {
            Err(why) => PluginState::Refused(why.to_string()),
            Ok((description, schemas)) => PluginState::Installed(PluginDetails {
                schemas,
                version: installed.file.version.clone(),
                api: installed.file.api,
                sum: installed.sum.clone(),
                provides: description.components().map(|(role, component)| (role, component.clone())).collect(),
            }),
        }
    }

    /// Every component of the required plugins; without requirements, of all installed plugins,
    /// each in its highest version.
    ///
    /// # Errors
    /// A required plugin is not installed, is not the locked one, or does not describe itself.
    pub fn everything(&self) -> Result<Vec<Provider>> {
        let projects = self.inputs.own_projects()?;
        let mut plugins: Vec<(Installed, String)> = Vec::new();
        for project in &projects {
            let brought = self.inputs.brought(project, self.policy);
            for need in project.needs.iter().chain(&brought) {
                let wanted = &need.wanted;
                let installed = self.inputs.required(project, need, self.policy);
                let installed = installed.map_err(|e| e.at(wanted.place.clone()))?;
                plugins.push((installed.ok_or_else(|| not_installed(project, wanted))?, wanted.parameters.clone()));
            }
        }
        if projects.iter().all(|project| project.is_empty()) {
            let directory = self.inputs.top.as_deref().unwrap_or(Path::new("."));
            self.policy.check_unlocked("an installed plugin that no plugins.yaml requires", ADD_SOURCE, directory)?;
            let found = self.inputs.installed();
            let own = |candidate: &Candidate| candidate.verdict.as_ref().ok().filter(|there| is_users(there)).cloned();
            let best = found.chunk_by(|a, b| a.source == b.source).filter_map(|group| group.iter().find_map(own));
            let best = best.filter_map(|installed| self.inputs.verified(&installed).ok());
            plugins.extend(best.map(|verified| (verified, String::new())));
        }
        let mut everything = Vec::new();
        for (installed, parameters) in plugins {
            self.policy.trust.check_installed(&installed)?;
            let wrong = |why: Refusal| bad_plugin(format!("'{}': {why}", installed.path.display()));
            let description = self.inputs.describe(self.options, &installed).map_err(wrong)?;
            for (_, component) in description.components() {
                let provider = provider(&installed, &description, component.clone())?;
                everything.push(Provider { parameters: parameters.clone(), ..provider });
            }
        }
        Ok(everything)
    }
}
