//! [`Inputs`]: where plugins are looked for, and what was found there so far.

use super::project::{Need, Project, upwards};
use super::{PluginRequest, Provider};
use crate::author::describe::{Component, Description, Role};
use crate::author::manifest::Manifest;
use crate::diag::{Code, Result};
use crate::fetch::identity::PluginId;
use crate::id::content;
use crate::id::location::Location;
use crate::id::name::Platform;
use crate::id::shell::in_directory;
use crate::id::version::Version;
use crate::install::session::LazyInstaller;
use crate::policy::Policy;
use crate::policy::environment::{Environment, MachineBundle, SyncedBundle};
use crate::policy::machine::{Machine, MachineError};
use crate::policy::project_directory::ProjectDirectory;
use crate::store::description_cache::{description_file, failure_file, keep};
use crate::store::discover::{Candidate, Installed, Refusal, all, candidates};
use crate::store::verified_copy::VerifiedCopy;
use rustomize_base::search_path::SearchPath;
use rustomize_plugins::PluginOptions;
use rustomize_plugins::failure::bad_plugin;
use rustomize_process::Children;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where plugins are looked for. Each place is looked at when an object first asks for a plugin
/// that an earlier place does not have, and only once.
#[derive(Clone, Default)]
pub struct Inputs {
    /// The directory of installed plugins.
    pub root: PathBuf,
    /// Where descriptions are kept between builds; `None` for nowhere.
    pub cache: Option<PathBuf>,
    /// True if each plugin is asked what it does, whatever it said before.
    pub asks_again: bool,
    /// The directory that the build was called for, without links. Its requirements count for every
    /// object, behind those of the object's own root.
    pub top: Option<PathBuf>,
    /// The directory of the environment, whose requirements count behind those of the tree.
    pub environment: Option<PathBuf>,
    /// Directories in which a `plugins.yaml` above a root may belong to another user.
    pub safe: Vec<PathBuf>,
    /// The bundles of the environment, in the order of its module path.
    pub bundles: Vec<MachineBundle>,
    /// The synced bundle of the environment.
    pub synced: Option<SyncedBundle>,
    /// The directories with programs that may be plugins.
    pub path: SearchPath,
    /// Installs missing plugins; `None` leaves them missing.
    pub install: Option<LazyInstaller>,
    /// Results of earlier look-ups.
    pub known: Lookups,
}

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inputs").field("root", &self.root).field("top", &self.top).finish_non_exhaustive()
    }
}

/// The root, apiVersion, kind, component and role that an object asks for.
type RequestKey = (PathBuf, String, String, Option<String>, Role);

/// The answers to earlier requests, so that a build looks at nothing twice.
#[derive(Clone, Debug, Default)]
pub struct Lookups {
    /// By directory.
    projects: RefCell<BTreeMap<ProjectDirectory, Arc<Project>>>,
    /// By the directory of the project, and the plugin.
    required: RefCell<BTreeMap<(PathBuf, PluginId), Option<Installed>>>,
    installed: OnceCell<Arc<Vec<Candidate>>>,
    /// Plugins whose content was compared with its sum, by path.
    verified: RefCell<BTreeMap<PathBuf, Installed>>,
    /// Copies that run, by the path of the plugin.
    copies: RefCell<BTreeMap<PathBuf, VerifiedCopy>>,
    /// Descriptions by the sum of the content.
    descriptions: RefCell<BTreeMap<String, Arc<Description>>>,
    /// Why plugins did not describe themselves, by the sum of the content.
    failures: RefCell<BTreeMap<String, String>>,
    providers: RefCell<BTreeMap<RequestKey, Provider>>,
}

/// The hint of an error that locking mends.
pub(super) fn relock(directory: &Path) -> String {
    format!("lock it, then commit plugins.lock: {}", in_directory("rustomize plugin lock", directory))
}

impl Inputs {
    /// Where the plugins of a directory and an environment are looked for: nothing was looked at
    /// yet.
    ///
    /// # Errors
    /// The directory of plugins is not known, or a file of the environment cannot be read or is
    /// not valid.
    pub fn of(
        machine: &Machine,
        directory: &Path,
        environment: Option<&Environment>,
        policy: &Policy,
    ) -> std::result::Result<Inputs, MachineError> {
        let is_ignored = || machine.host.set_variable("RUSTOMIZE_IGNORE_AMBIENT_PLUGINS").is_some();
        let has_programs = !policy.is_frozen && !is_ignored();
        let path = if has_programs { SearchPath::of(&*machine.host) } else { SearchPath::default() };
        let mut inputs = Inputs {
            root: machine.plugins()?,
            cache: machine.cache.clone(),
            top: dunce::canonicalize(directory).ok(),
            safe: machine.safe_directories(),
            path,
            ..Inputs::default()
        };
        if let Some(environment) = environment {
            inputs.environment = Some(environment.directory.clone());
            inputs.bundles = environment.bundles()?;
            inputs.bundles.retain(|bundle| !bundle.is_synced());
            inputs.synced = environment.synced_bundle()?;
        }
        Ok(inputs)
    }

    /// The projects whose requirements count for an object, nearest first.
    ///
    /// # Errors
    /// A file cannot be read, does not have its form, or belongs to another user.
    pub fn projects(&self, request: &PluginRequest<'_>) -> Result<Vec<Arc<Project>>> {
        let own = match request.clone {
            // The files of a clone are requests: see `Resolver::requested_by_clone`.
            Some(_) => Vec::new(),
            None => upwards(request.directory, None, &self.safe),
        };
        self.read_all(own.into_iter().chain(self.above_top()).chain(self.of_environment()))
    }

    /// The projects of the tree that the build was called for, and of the environment.
    ///
    /// # Errors
    /// As [`Inputs::projects`].
    pub fn own_projects(&self) -> Result<Vec<Arc<Project>>> {
        self.read_all(self.above_top().into_iter().chain(self.of_environment()))
    }

    pub(super) fn above_top(&self) -> Vec<ProjectDirectory> {
        self.top.as_deref().map_or(Vec::new(), |top| upwards(top, None, &self.safe))
    }

    /// The directory of the environment, which the user has named.
    pub(super) fn of_environment(&self) -> Option<ProjectDirectory> {
        self.environment.as_deref().map(ProjectDirectory::named)
    }

    fn read_all(&self, directories: impl Iterator<Item = ProjectDirectory>) -> Result<Vec<Arc<Project>>> {
        let mut projects: Vec<Arc<Project>> = Vec::new();
        for directory in directories {
            if !projects.iter().any(|known| known.directory == directory.path) {
                projects.push(self.project(&directory)?);
            }
        }
        Ok(projects)
    }

    /// The project of a directory.
    ///
    /// # Errors
    /// As [`Project::read`].
    pub fn project(&self, directory: &ProjectDirectory) -> Result<Arc<Project>> {
        if let Some(known) = self.known.projects.borrow().get(directory) {
            return Ok(known.clone());
        }
        let project = Arc::new(Project::read(directory)?);
        self.known.projects.borrow_mut().insert(directory.clone(), project.clone());
        Ok(project)
    }

    /// Installs the plugins that a project requires, if one of them is missing, and gives the
    /// project as it is then.
    ///
    /// # Errors
    /// A plugin cannot be installed.
    pub fn complete(&self, project: Arc<Project>, policy: &Policy) -> Result<Arc<Project>> {
        let Some(install) = &self.install else { return Ok(project) };
        // The error of a plugin that cannot be used belongs to the object that asks for it.
        let is_missing = |need: &Need| matches!(self.required(&project, need, policy), Ok(None));
        // What is used is locked, whoever installed it: an installation comes to the same lock.
        let is_lockable = |need: &Need| {
            let installed = self.required(&project, need, policy).ok().flatten();
            installed.is_some_and(|installed| installed.is_lockable(&need.wanted, &need.id))
        };
        let may_lock = project.lock.is_none() && !project.is_empty() && !policy.is_frozen;
        let locks = may_lock && project.needs.iter().all(is_lockable);
        if !locks && !project.needs.iter().chain(&self.brought(&project, policy)).any(is_missing) {
            return Ok(project);
        }
        install.install(&project.place())?;
        self.known.projects.borrow_mut().remove(&project.place());
        self.known.required.borrow_mut().retain(|(directory, _), _| *directory != project.directory);
        self.project(&project.place())
    }

    /// The requirements of the bundles that a project requires, directly or through other bundles.
    /// Plugins that the project requires itself are left out. Bundles that cannot be used have no
    /// requirements.
    pub fn brought(&self, project: &Project, policy: &Policy) -> Vec<Need> {
        let mut brought: Vec<Need> = Vec::new();
        let mut known: HashSet<PluginId> = project.needs.iter().map(|need| need.id.clone()).collect();
        let mut queue = project.needs.clone();
        while let Some(need) = queue.pop() {
            let Ok(Some(installed)) = self.required(project, &need, policy) else { continue };
            let Ok(Some(bundle)) = installed.bundle() else { continue };
            for need in Need::all(bundle.dependencies, &installed.base()).unwrap_or_default() {
                if known.insert(need.id.clone()) {
                    queue.push(need.clone());
                    brought.push(need);
                }
            }
        }
        brought.sort_by(|a, b| a.id.cmp(&b.id));
        brought
    }

    /// The installed plugin of a requirement: the locked one, or else the highest version that is
    /// allowed. `None` if it is not installed.
    ///
    /// # Errors
    /// The lock contradicts the requirement, or the installed plugin.
    pub fn required(&self, project: &Project, need: &Need, policy: &Policy) -> Result<Option<Installed>> {
        let key = (project.directory.clone(), need.id.clone());
        if let Some(known) = self.known.required.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = self.look_for(project, need, policy)?;
        self.known.required.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    fn look_for(&self, project: &Project, need: &Need, policy: &Policy) -> Result<Option<Installed>> {
        let Need { wanted, id } = need;
        let found = candidates(&self.root, &wanted.source, &Platform::host());
        let name = format!("plugin '{}' ({})", wanted.name, wanted.source);
        let relock = relock(&project.directory);
        let reinstall = format!("install it again: {}", in_directory("rustomize plugin install", &project.directory));
        let changed = |version: &Version, why: &Refusal| {
            bad_plugin(format!("{name} v{version} has changed since it was installed: {why}"))
        };
        // A lock entry of the same source from elsewhere is not one of this plugin.
        let is_own = project.needs.iter().any(|own| own.id == *id);
        let elsewhere = || project.lock.as_ref()?.of_source(&wanted.source).find(|_| is_own);
        let Some(locked) = project.locked(id).or_else(elsewhere) else {
            if policy.is_frozen || project.lock.is_some() {
                return Err(bad_plugin(format!("{name} is required and not locked"))
                    .with_code(Code::PluginRefused)
                    .hint(relock));
            }
            let mut best = found.into_iter().filter_map(|candidate| candidate.verdict.ok());
            let best = best.find(|installed| installed.meets(wanted, id));
            let verified = best.map(|best| best.verify().map_err(|why| changed(&best.file.version, &why))).transpose();
            return verified.map_err(|e| e.hint(reinstall));
        };
        if locked.from != wanted.from || locked.id(&wanted.source, &project.directory) != *id {
            let place = if locked.origin.is_empty() { &locked.from } else { &locked.origin };
            let message = format!("{name} is locked from '{place}', and required from '{}'", wanted.from);
            return Err(bad_plugin(message).hint(relock));
        }
        let version = locked.version().filter(|version| wanted.constraint.allows(version));
        let Some(version) = version else {
            let message = format!("{name} is locked as v{}, which is not {}", locked.version, wanted.constraint);
            return Err(bad_plugin(message).hint(relock));
        };
        // The paths of what a bundle brings do not begin here.
        if let Ok(Location::Local(path)) = wanted.location()
            && is_own
            && let Some(pinned) = locked.platforms.values().next()
            && let Ok(found) = content::sum(&project.directory.join(&path))
            // The lock has the sum of a file itself, or the sum of a directory's files.
            && found != *pinned.archive.as_ref().unwrap_or(&pinned.content)
        {
            let message = format!("{name}: '{}' has changed since it was locked", path.display());
            return Err(bad_plugin(message).hint(relock));
        }
        let Some((_, pinned)) = locked.pinned(&Platform::host()) else {
            let message = format!("{name} is locked as v{version}, without a file for {}", Platform::host());
            return Err(bad_plugin(message).hint(relock));
        };
        let is_wanted = |there: &Installed| there.file.version == version && there.is_of(id);
        let there = found.into_iter().filter_map(|c| c.verdict.ok()).filter(is_wanted);
        let (there, refused): (Vec<_>, Vec<_>) = there.map(|installed| installed.verify()).partition(Result::is_ok);
        let there: Vec<Installed> = there.into_iter().filter_map(Result::ok).collect();
        let is_there = !there.is_empty();
        // Nothing is fetched in its place: who changed it is not known.
        if let Some(why) = refused.into_iter().find_map(Result::err).filter(|_| !is_there) {
            return Err(changed(&version, &why).hint(reinstall));
        }
        match there.into_iter().find(|there| there.sum == pinned.content) {
            Some(verified) => Ok(Some(verified)),
            None if is_there => {
                let message = format!("{name} v{version} is installed with another checksum than plugins.lock has");
                Err(bad_plugin(message).hint(reinstall))
            }
            None => Ok(None),
        }
    }

    /// The kinds of the plugins that have described themselves so far, each with its apiVersion, in
    /// order. Nothing runs for it.
    pub fn known_kinds(&self) -> Vec<String> {
        let known = self.known.descriptions.borrow();
        let components =
            known.values().flat_map(|description| description.components().map(|(_, component)| component));
        let kinds: BTreeSet<String> = components.filter(|c| !c.kind.is_empty()).map(Component::title).collect();
        kinds.into_iter().collect()
    }

    /// All files in the directory of installed plugins that are named as plugins.
    pub fn installed(&self) -> Arc<Vec<Candidate>> {
        self.known.installed.get_or_init(|| Arc::new(all(&self.root, &Platform::host()))).clone()
    }

    /// An installed plugin whose content has its sum. O(bytes of the plugin), once.
    ///
    /// # Errors
    /// The content differs, or cannot be read.
    pub fn verified(&self, installed: &Installed) -> std::result::Result<Installed, Refusal> {
        if let Some(known) = self.known.verified.borrow().get(&installed.path) {
            return Ok(known.clone());
        }
        let verified = installed.verify()?;
        self.known.verified.borrow_mut().insert(installed.path.clone(), verified.clone());
        Ok(verified)
    }

    /// A copy of an installed plugin that runs in its place. One build makes one.
    ///
    /// # Errors
    /// The plugin cannot be copied, or has changed since it was installed.
    pub fn copy(&self, installed: &Installed, children: &Children) -> std::result::Result<VerifiedCopy, Refusal> {
        if let Some(known) = self.known.copies.borrow().get(&installed.path) {
            return Ok(known.clone());
        }
        let copy = VerifiedCopy::of(installed, children)?;
        self.known.copies.borrow_mut().insert(installed.path.clone(), copy.clone());
        Ok(copy)
    }

    /// The description of an installed plugin, compared with its file name. The cache has the
    /// descriptions of plugins that were asked before.
    ///
    /// # Errors
    /// The plugin does not answer, or contradicts its file name.
    pub fn describe(
        &self,
        options: &PluginOptions,
        installed: &Installed,
    ) -> std::result::Result<Arc<Description>, Refusal> {
        if let Some(known) = self.known.descriptions.borrow().get(&installed.sum) {
            return Ok(known.clone());
        }
        if let Some(why) = self.known.failures.borrow().get(&installed.sum) {
            return Err(Refusal::NotDescribed(why.clone()));
        }
        let description = Arc::new(self.learn(options, installed)?);
        self.known.descriptions.borrow_mut().insert(installed.sum.clone(), description.clone());
        Ok(description)
    }

    fn learn(&self, options: &PluginOptions, installed: &Installed) -> std::result::Result<Description, Refusal> {
        let manifest = installed.path.is_dir().then(|| Manifest::read(&installed.path)).transpose();
        let manifest = manifest.map_err(Refusal::Directory)?;
        if let Some(manifest) = manifest.as_ref().filter(|manifest| manifest.says_what()) {
            return Ok(manifest.description.clone());
        }
        let kept = self.cache.as_ref().map(|cache| description_file(cache, &installed.sum));
        let failed = self.cache.as_ref().map(|cache| failure_file(cache, &installed.sum));
        let before = |path: &Option<PathBuf>| fs::read(path.as_ref().filter(|_| !self.asks_again)?).ok();
        if let Some(why) = before(&failed) {
            return Err(Refusal::NotDescribed(String::from_utf8_lossy(&why).into_owned()));
        }
        let known = before(&kept).and_then(|text| Description::parse(&text).ok());
        let description = match known {
            Some(description) => description,
            None => {
                // A plugin whose content differs from its sum is not run, not even to describe it.
                let copy = self.copy(installed, &options.children)?;
                let asked = Description::ask(copy.launch, options);
                // Without the files the next build asks again.
                match &asked {
                    Ok(description) => {
                        kept.map(|path| keep(&path, &serde_json::to_vec(description).unwrap_or_default()));
                        failed.map(fs::remove_file);
                    }
                    Err(why) if why.is_of_content() => {
                        failed.map(|path| keep(&path, why.to_string().as_bytes()));
                        self.known.failures.borrow_mut().insert(installed.sum.clone(), why.to_string());
                    }
                    Err(_) => {}
                }
                asked.map_err(Refusal::Describe)?
            }
        };
        description.check(&installed.file.version, installed.file.api).map_err(Refusal::Describe)?;
        Ok(match manifest {
            Some(manifest) => manifest.complete(description),
            None => description,
        })
    }

    /// The provider that an earlier object of the same kind got.
    pub(super) fn known_provider(&self, request: &PluginRequest<'_>) -> Option<Provider> {
        self.known.providers.borrow().get(&asked(request)).cloned()
    }

    /// Keeps a provider for later objects of the same kind.
    pub(super) fn keep_provider(&self, request: &PluginRequest<'_>, provider: &Provider) {
        self.known.providers.borrow_mut().insert(asked(request), provider.clone());
    }
}

fn asked(request: &PluginRequest<'_>) -> RequestKey {
    let component = request.component.map(str::to_owned);
    (request.directory.to_owned(), request.api_version(), request.id.gvk.kind.to_owned(), component, request.role)
}
