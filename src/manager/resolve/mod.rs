//! [`Manager`]: which installed plugin a configuration object is for (P38 to P58).
//!
//! What `plugins.yaml` requires is looked at first, then everything that is installed. A plugin is
//! described only when a build asks for a kind that nobody placed, and once for each content.

pub mod plugins;

use crate::atomic;
use crate::diag::{Code, Error, Result};
use crate::manager::author::client;
use crate::manager::author::describe::{Component, Description, Protocol, Role};
use crate::manager::author::manifest::Manifest;
use crate::manager::id::content;
use crate::manager::id::location::Location;
use crate::manager::id::name::Platform;
use crate::manager::id::requirement::{Provided, Requirement};
use crate::manager::id::source::Source;
use crate::manager::policy::Policy;
use crate::manager::policy::environment::SyncedBundle;
use crate::manager::policy::lock::Lock;
use crate::manager::policy::requirements::Requirements;
use crate::manager::policy::trust::not_granted;
use crate::manager::store::discover::{Candidate, Installed, Refusal, Verified, all, candidates, choose};
use crate::manager::store::held;
use crate::manager::store::made;
use crate::plugin::PluginOptions;
use crate::plugin::isolation::Level;
use crate::plugin::locate::{Placed, locate_in};
use crate::plugin::permissions::Permissions;
use crate::plugin::program::Command;
use crate::plugin::program::HeldCopy;
use crate::process::Children;
use crate::resource::ResId;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A configuration object's annotation with the name of the component that it is for:
/// `<plugin>-<component>`, or `<plugin>` alone (P45).
pub const COMPONENT: &str = "rustomize.dev/plugin";

/// What is known of managed plugins.
#[derive(Clone, Debug, Default)]
pub struct Manager {
    /// Where they lie.
    pub root: PathBuf,
    /// Where descriptions are kept; `None` for nowhere.
    pub cache: Option<PathBuf>,
    /// What is needed: by the kustomization, then by the environment.
    pub projects: Vec<Project>,
    /// The homes of the environment's bundles, first that has something.
    pub bundles: Vec<PathBuf>,
    /// What was synced for the environment, behind its bundles.
    pub synced: Option<SyncedBundle>,
    /// What may be used.
    pub policy: Policy,
    /// The directories with programs that may be plugins (U08); none where those do not count.
    pub path: Vec<PathBuf>,
    /// What was looked at so far.
    pub looked: Looked,
}

/// The apiVersion and the kind of a configuration object, the component that it asks for, and where
/// it stands.
type Asked = (String, String, Option<String>, Role);

/// What a manager has found: a build looks at nothing twice.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    /// By the directory of the project and the source of the plugin.
    installed: RefCell<BTreeMap<(PathBuf, Source), Option<Verified>>>,
    all: OnceCell<Arc<Vec<Candidate>>>,
    /// What holds to its sum, by its path.
    verified: RefCell<BTreeMap<PathBuf, Verified>>,
    /// What runs, by its path.
    held: RefCell<BTreeMap<PathBuf, Arc<HeldCopy>>>,
    /// What is used.
    found: RefCell<BTreeMap<Asked, Found>>,
    /// By the sum of the content.
    descriptions: RefCell<BTreeMap<String, Arc<Description>>>,
}

/// A `plugins.yaml` and what belongs to it.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The directory of the file.
    pub directory: PathBuf,
    pub requirements: Requirements,
    /// What exactly is needed, if that was locked.
    pub lock: Option<Lock>,
}

impl Project {
    /// Reads what a directory has of it.
    ///
    /// # Errors
    /// A file cannot be read, or is not of its form.
    pub fn read(directory: &Path) -> Result<Project> {
        let (requirements, lock) = (Requirements::read(directory)?, Lock::read(directory)?);
        Ok(Project { directory: directory.to_owned(), requirements, lock })
    }
}

/// What is used for a configuration object.
#[derive(Debug)]
pub enum Use {
    /// An installed plugin.
    Installed(Box<Found>),
    /// What a bundle has for it.
    Bundled(Placed),
    /// What was synced for it: somebody else's, as an installed plugin, and granted nothing.
    Synced(Placed),
    /// A program in PATH that is called as its kind and role say.
    Ambient(PathBuf),
}

/// A plugin that was found for a configuration object.
#[derive(Clone, Debug)]
pub struct Found {
    pub installed: Installed,
    /// The binary whose content was held to its sum, still open.
    pub opened: Option<Arc<File>>,
    pub command: Command,
    pub component: Component,
    pub protocol: Protocol,
    /// What it is told in each call, as JSON; empty for nothing.
    pub parameters: String,
    /// What it asks for, and was granted.
    pub permissions: Permissions,
}

/// How a build gets to know of installed plugins: when the first object asks for one that nobody
/// has placed. A build that needs none looks for none.
#[derive(Clone, Default)]
pub struct Managed(Option<Arc<dyn Fn() -> Result<Option<Manager>> + Send + Sync>>);

impl Managed {
    /// What makes it known.
    pub fn new(make: impl Fn() -> Result<Option<Manager>> + Send + Sync + 'static) -> Managed {
        Managed(Some(Arc::new(make)))
    }

    /// Makes it known.
    ///
    /// # Errors
    /// A file cannot be read, or is not of its form; something that is needed cannot be installed.
    pub fn make(&self) -> Result<Option<Manager>> {
        self.0.as_ref().map_or(Ok(None), |make| make())
    }
}

impl fmt::Debug for Managed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Managed").field(&self.0.is_some()).finish()
    }
}

fn fault(message: String) -> Error {
    Error::new(Code::Plugin, message)
}

impl Manager {
    /// The plugin for a configuration object, `None` if no installed one is for it. `asked` is the
    /// object's annotation [`COMPONENT`].
    ///
    /// # Errors
    /// One that is required is not installed, two plugins are for it and nothing says which, or its
    /// source is not trusted.
    pub fn find(
        &self,
        options: &PluginOptions,
        id: &ResId<'_>,
        role: Role,
        asked: Option<&str>,
    ) -> Result<Option<Use>> {
        let wanted = Wanted { id, role, asked };
        let key = (api_version(id), id.gvk.kind.to_owned(), asked.map(str::to_owned), role);
        if let Some(known) = self.looked.found.borrow().get(&key) {
            return Ok(Some(Use::Installed(Box::new(known.clone()))));
        }
        let mut found = None;
        for project in &self.projects {
            found = found.or(self.required(project, options, &wanted)?);
        }
        if found.is_none() {
            // Nothing that is not locked is even asked what it does.
            self.policy.check_unlocked(&format!("a plugin for {id}"))?;
        }
        if found.is_none() && asked.is_none() {
            for home in &self.bundles {
                if let Some(bundled) = locate_in(home, options, id)? {
                    return Ok(Some(Use::Bundled(bundled)));
                }
            }
            if let Some(bundle) = &self.synced
                && let Some(synced) = locate_in(&bundle.bundle.home(), options, id)?
            {
                bundle.check(&self.policy.trust)?;
                return Ok(Some(Use::Synced(synced)));
            }
        }
        let found = match found {
            None => self.discovered(options, &wanted)?,
            required => required,
        };
        let Some(found) = found else { return Ok(self.ambient(id, role).map(Use::Ambient)) };
        let (source, origin) = (&found.installed.source, found.installed.origin());
        self.policy.trust.check_installed(&found.installed)?;
        let (flags, home) = (options.isolation.permissions(), options.home());
        let beyond = self.policy.trust.ungranted(source, &origin, &found.permissions, &flags, home.as_deref())?;
        if !beyond.is_empty() && options.isolation.installed != Level::Off {
            return Err(not_granted(source, &origin, &beyond));
        }
        self.looked.found.borrow_mut().insert(key, found.clone());
        Ok(Some(Use::Installed(Box::new(found))))
    }

    /// The plugin that a `plugins.yaml` requires for a configuration object.
    fn required(&self, project: &Project, options: &PluginOptions, wanted: &Wanted<'_>) -> Result<Option<Found>> {
        let mut missing: Option<&Requirement> = None;
        let mut required: Vec<Found> = Vec::new();
        let mut misplaced: Option<Error> = None;
        for requirement in &project.requirements.plugins {
            if !may_provide(requirement, wanted.id, wanted.asked) {
                continue;
            }
            match self.installed(project, requirement).map_err(|e| e.at(requirement.place.clone()))? {
                Some(verified) => {
                    let component = match self.component(options, &verified.installed, &requirement.name, wanted) {
                        Ok(component) => component,
                        Err(NoComponent::Misplaced(error)) => {
                            misplaced.get_or_insert(error);
                            None
                        }
                        Err(NoComponent::Refused(why)) => return Err(unusable(requirement, &why)),
                    };
                    if let Some((description, component)) = component {
                        let locked = project.lock.as_ref().and_then(|lock| lock.of(&requirement.source));
                        let beyond = locked.map(|locked| description.permissions.beyond(&locked.permissions, None));
                        if let Some(beyond) = beyond.filter(|beyond| !beyond.is_empty()) {
                            let message =
                                format!("'{}' asks for {beyond}, which plugins.lock does not say", requirement.source);
                            return Err(fault(message).hint("run 'rustomize plugin lock' and commit plugins.lock"));
                        }
                        let found = found(&verified, &description, component)?;
                        required.push(Found { parameters: requirement.parameters.clone(), ..found });
                    }
                }
                None => missing = missing.or(Some(requirement)),
            }
        }
        match required.len() {
            0 => misplaced.map_or(Ok(()), Err)?,
            1 => return Ok(required.pop()),
            _ => return Err(ambiguous(wanted.id, &required)),
        }
        // The explicit requirement beats whatever lies about (P42), also where it is not there.
        if let Some(requirement) = missing {
            return Err(not_installed(requirement));
        }
        Ok(None)
    }

    /// The plugin for a configuration object that nobody requires and that is there.
    fn discovered(&self, options: &PluginOptions, wanted: &Wanted<'_>) -> Result<Option<Found>> {
        let mut discovered: Vec<Found> = Vec::new();
        let mut misplaced: Option<Error> = None;
        let is_required = |c: &Candidate| self.requirements().any(|(_, r)| Some(&r.source) == c.source.as_ref());
        let everything = self.looked.all.get_or_init(|| Arc::new(all(&self.root, &Platform::host())));
        for group in everything.chunk_by(|a, b| a.source == b.source).filter(|group| !is_required(&group[0])) {
            // They come best first; one that is not what its name says gives way to the next (P43).
            for installed in group.iter().filter_map(|c| c.verdict.as_ref().ok()) {
                match self.component(options, installed, installed.source.name(), wanted) {
                    Err(NoComponent::Refused(_)) => {}
                    Err(NoComponent::Misplaced(error)) => {
                        misplaced.get_or_insert(error);
                        break;
                    }
                    Ok(None) => break,
                    // Only what is used is hashed.
                    Ok(Some((description, component))) => {
                        let Some(verified) = self.verified(installed) else { continue };
                        discovered.push(found(&verified, &description, component)?);
                        break;
                    }
                }
            }
        }
        match (discovered.len(), misplaced) {
            (0, Some(misplaced)) => Err(misplaced),
            (0 | 1, _) => Ok(discovered.pop()),
            _ => Err(ambiguous(wanted.id, &discovered)),
        }
    }

    /// An installed plugin, if its content is what it should be.
    fn verified(&self, installed: &Installed) -> Option<Verified> {
        if let Some(known) = self.looked.verified.borrow().get(&installed.path) {
            return Some(known.clone());
        }
        let verified = installed.verify().ok()?;
        self.looked.verified.borrow_mut().insert(installed.path.clone(), verified.clone());
        Some(verified)
    }

    /// A copy of an installed plugin that runs in its place. One build makes one.
    ///
    /// # Errors
    /// It cannot be copied, or is not what was installed.
    pub fn held(&self, installed: &Installed, children: &Children) -> std::result::Result<Arc<HeldCopy>, Refusal> {
        if let Some(known) = self.looked.held.borrow().get(&installed.path) {
            return Ok(known.clone());
        }
        let held = Arc::new(held::copy(installed, children)?);
        self.looked.held.borrow_mut().insert(installed.path.clone(), held.clone());
        Ok(held)
    }

    /// What a program in PATH is called that is for a kind of configuration objects (U08).
    pub fn ambient_name(id: &ResId<'_>, role: Role) -> String {
        format!("rustomize-{role}-{}", id.gvk.kind.to_lowercase())
    }

    /// The program in PATH that is called so.
    pub fn ambient(&self, id: &ResId<'_>, role: Role) -> Option<PathBuf> {
        let name = Manager::ambient_name(id, role);
        let is_name = !name.contains(['/', '\0']);
        let mut programs = self.path.iter().filter(|_| is_name).map(|folder| folder.join(&name));
        programs.find(|program| File::open(program).and_then(|file| content::is_executable(&file)).is_ok_and(|is| is))
    }

    /// What is installed for a requirement: what is locked, or else the highest version that is
    /// allowed.
    ///
    /// # Errors
    /// Something else is locked than what is required, or than what is installed.
    pub fn installed(&self, project: &Project, requirement: &Requirement) -> Result<Option<Verified>> {
        let key = (project.directory.clone(), requirement.source.clone());
        if let Some(known) = self.looked.installed.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = self.look_for(project, requirement)?;
        self.looked.installed.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    fn look_for(&self, project: &Project, requirement: &Requirement) -> Result<Option<Verified>> {
        let found = candidates(&self.root, &requirement.source, &Platform::host());
        let name = format!("plugin '{}' ({})", requirement.name, requirement.source);
        let relock = "run 'rustomize plugin lock' and commit plugins.lock";
        let Some(locked) = project.lock.as_ref().and_then(|lock| lock.of(&requirement.source)) else {
            if self.policy.is_frozen || project.lock.is_some() {
                return Err(fault(format!("{name} is required and not locked")).hint(relock));
            }
            return Ok(choose(found, &requirement.constraint));
        };
        if locked.from != requirement.from {
            let message = format!("{name} is locked from '{}', and required from '{}'", locked.from, requirement.from);
            return Err(fault(message).hint(relock));
        }
        let version = locked.version().filter(|version| requirement.constraint.allows(version));
        let Some(version) = version else {
            let message = format!("{name} is locked as v{}, which is not {}", locked.version, requirement.constraint);
            return Err(fault(message).hint(relock));
        };
        if let Ok(Location::Local(path)) = requirement.location()
            && let Some(pinned) = locked.platforms.values().next()
            && let Ok(found) = content::sum(&project.directory.join(&path))
            // Of a file its own sum is known; of a directory that of its files.
            && found != *pinned.archive.as_ref().unwrap_or(&pinned.content)
        {
            let message = format!("{name} in '{}' has changed since it was locked", path.display());
            return Err(fault(message).hint("install and lock it anew: rustomize plugin install"));
        }
        let Some((_, pinned)) = locked.pinned(&Platform::host()) else {
            let message = format!("{name} is locked as v{version}, with nothing for {}", Platform::host());
            return Err(fault(message).hint(relock));
        };
        let there = found.into_iter().filter_map(|c| c.verdict.ok()).filter(|i| i.file.version == version);
        let (there, refused): (Vec<_>, Vec<_>) = there.map(|installed| installed.verify()).partition(Result::is_ok);
        let there: Vec<Verified> = there.into_iter().filter_map(Result::ok).collect();
        let is_there = !there.is_empty();
        if let Some(why) = refused.into_iter().find_map(Result::err).filter(|_| !is_there && self.policy.is_frozen) {
            let message = format!("{name} v{version} is not what was installed: {why}");
            return Err(fault(message).hint("install it anew: rustomize plugin install"));
        }
        match there.into_iter().find(|there| there.installed.sum == pinned.content) {
            Some(verified) => Ok(Some(verified)),
            None if is_there => {
                let message =
                    format!("{name} v{version} is installed, but as something else than what plugins.lock says");
                Err(fault(message).hint("install it anew: rustomize plugin install"))
            }
            None => Ok(None),
        }
    }

    /// All that is required, and by what.
    pub fn requirements(&self) -> impl Iterator<Item = (&Project, &Requirement)> {
        self.projects.iter().flat_map(|project| project.requirements.plugins.iter().map(move |r| (project, r)))
    }

    /// Everything that the requirements' plugins do; without requirements, what all installed
    /// plugins do, each in its highest version.
    ///
    /// # Errors
    /// One that is required is not installed, or is not what is locked, or does not say what it
    /// does.
    pub fn everything(&self, options: &PluginOptions) -> Result<Vec<Found>> {
        let mut plugins: Vec<(Verified, String)> = Vec::new();
        for (project, requirement) in self.requirements() {
            let installed = self.installed(project, requirement).map_err(|e| e.at(requirement.place.clone()))?;
            plugins.push((installed.ok_or_else(|| not_installed(requirement))?, requirement.parameters.clone()));
        }
        if self.requirements().next().is_none() {
            self.policy.check_unlocked("what is installed, and no plugins.yaml requires,")?;
            let found = all(&self.root, &Platform::host());
            let best = found.chunk_by(|a, b| a.source == b.source).filter_map(|group| group.first());
            let best = best.filter_map(|candidate| candidate.verdict.as_ref().ok()?.verify().ok());
            plugins.extend(best.map(|verified| (verified, String::new())));
        }
        let mut everything = Vec::new();
        for (verified, parameters) in plugins {
            self.policy.trust.check_installed(&verified.installed)?;
            let wrong = |why: Refusal| fault(format!("'{}': {why}", verified.installed.path.display()));
            let description = self.describe(options, &verified.installed).map_err(wrong)?;
            for (_, component) in description.components() {
                let found = found(&verified, &description, component.clone())?;
                everything.push(Found { parameters: parameters.clone(), ..found });
            }
        }
        Ok(everything)
    }

    /// How many files below the root are named as plugins and not considered. O(bytes of them).
    pub fn refused(&self) -> usize {
        all(&self.root, &Platform::host()).into_iter().map(Candidate::verified).filter(|c| c.verdict.is_err()).count()
    }

    /// The component of a plugin that a configuration object is for.
    fn component(
        &self,
        options: &PluginOptions,
        installed: &Installed,
        name: &str,
        wanted: &Wanted<'_>,
    ) -> std::result::Result<Option<(Arc<Description>, Component)>, NoComponent> {
        let description = self.describe(options, installed).map_err(NoComponent::Refused)?;
        let is_for = |component: &Component| match wanted.asked {
            Some(asked) => {
                asked == name && is_default(component, name) || asked == format!("{name}-{}", component.name)
            }
            None => component.kind == wanted.id.gvk.kind && component.api_version == api_version(wanted.id),
        };
        let all: Vec<(Role, &Component)> =
            description.components().filter(|(_, component)| is_for(component)).collect();
        match (all.iter().find(|(role, _)| *role == wanted.role), all.first()) {
            (Some((_, component)), _) => {
                let component = (*component).clone();
                Ok(Some((description, component)))
            }
            (None, None) => Ok(None),
            (None, Some((role, _))) => {
                let message = format!("'{}' is a {role} for {}, not a {}", installed.source, wanted.id, wanted.role);
                Err(NoComponent::Misplaced(fault(message).hint(format!("list the object under '{role}s'"))))
            }
        }
    }

    /// What an installed plugin says of itself, from the cache if it was asked before (P46), held
    /// to its name (P48, P50).
    ///
    /// # Errors
    /// It does not say, or something else than its name.
    pub fn describe(
        &self,
        options: &PluginOptions,
        installed: &Installed,
    ) -> std::result::Result<Arc<Description>, Refusal> {
        if let Some(known) = self.looked.descriptions.borrow().get(&installed.sum) {
            return Ok(known.clone());
        }
        let description = Arc::new(self.learn(options, installed)?);
        self.looked.descriptions.borrow_mut().insert(installed.sum.clone(), description.clone());
        Ok(description)
    }

    fn learn(&self, options: &PluginOptions, installed: &Installed) -> std::result::Result<Description, Refusal> {
        let manifest = installed.path.is_dir().then(|| Manifest::read(&installed.path)).transpose();
        let manifest = manifest.map_err(Refusal::Directory)?;
        if let Some(manifest) = manifest.as_ref().filter(|manifest| manifest.says_what()) {
            return Ok(manifest.description.clone());
        }
        let kept = self.cache.as_ref().map(|cache| cache.join("describe").join(format!("{}.json", installed.sum)));
        let known = kept.as_ref().and_then(|path| Description::parse(&fs::read(path).ok()?).ok());
        let description = match known {
            Some(description) => description,
            None => {
                // What does not hold to its sum is not run, not even to ask it.
                let description = Description::ask(&self.held(installed, &options.children)?.command, options)
                    .map_err(Refusal::Describe)?;
                // Without it the next build asks again.
                if let Some(path) = &kept {
                    let _ = keep(path, &description);
                }
                description
            }
        };
        description.check(&installed.file.version, installed.file.api).map_err(Refusal::Describe)?;
        Ok(match manifest {
            Some(manifest) => manifest.complete(description),
            None => description,
        })
    }
}

/// What an object asks for, and where it stands.
struct Wanted<'w> {
    id: &'w ResId<'w>,
    role: Role,
    /// The component that it names.
    asked: Option<&'w str>,
}

/// Why a plugin has nothing for an object.
enum NoComponent {
    /// It does not say what it does, or not what its name says.
    Refused(Refusal),
    /// It is for such objects in another place.
    Misplaced(Error),
}

/// What is required and does not say what it does may be the one that is wanted: nothing takes its
/// place.
fn unusable(requirement: &Requirement, why: &Refusal) -> Error {
    fault(format!("plugin '{}' ({}) cannot be used: {why}", requirement.name, requirement.source))
        .at(requirement.place.clone())
        .hint("it is required, and nothing else takes its place: 'rustomize plugin verify' says more")
}

/// A plugin, and what of it is meant.
fn found(verified: &Verified, description: &Description, component: Component) -> Result<Found> {
    let Verified { installed, opened } = verified.clone();
    let wrong = |why: Refusal| fault(format!("'{}': {why}", installed.path.display()));
    let command = installed.command().map_err(wrong)?;
    made::verify(&client::clients(&installed.path))
        .map_err(|e| e.context(format!("looking at {}", installed.source)))?;
    let (protocol, permissions) = (description.protocol, description.permissions.clone());
    Ok(Found { installed, opened, command, component, protocol, parameters: String::new(), permissions })
}

/// Writes a description in one step.
fn keep(path: &Path, description: &Description) -> std::io::Result<()> {
    fs::create_dir_all(atomic::folder_of(path))?;
    atomic::write(path, &serde_json::to_vec(description)?, 0o600)
}

/// A component with no name of its own, or the plugin's, is addressed by the plugin's name (P45).
fn is_default(component: &Component, name: &str) -> bool {
    component.name.is_empty() || component.name == name || component.name == "default"
}

fn api_version(id: &ResId<'_>) -> String {
    match id.gvk.group {
        "" => id.gvk.version.to_owned(),
        group => format!("{group}/{}", id.gvk.version),
    }
}

/// Whether a requirement may be meant, as far as the file says.
fn may_provide(requirement: &Requirement, id: &ResId<'_>, asked: Option<&str>) -> bool {
    match asked {
        Some(asked) => asked == requirement.name || asked.starts_with(&format!("{}-", requirement.name)),
        None => {
            let is_kind = |p: &Provided| p.kind == id.gvk.kind && p.api_version == api_version(id);
            requirement.provides.is_empty() || requirement.provides.iter().any(is_kind)
        }
    }
}

fn not_installed(requirement: &Requirement) -> Error {
    let Requirement { name, source, constraint, .. } = requirement;
    let error = fault(format!("plugin '{name}' ({source}, {constraint}) is required and not installed"));
    error.at(requirement.place.clone()).hint("install it: rustomize plugin install")
}

/// Two plugins for one kind (P56, P57): both, and what settles it.
fn ambiguous(id: &ResId<'_>, found: &[Found]) -> Error {
    let sources: Vec<String> = found.iter().map(|f| format!("'{}'", f.installed.source)).collect();
    let lines = found.iter().map(|f| {
        format!(
            "\n    requires: {{{}: {{source: {}, version: '{}'}}}}",
            f.installed.source.name(),
            f.installed.source,
            f.installed.file.version
        )
    });
    let lines: String = lines.collect();
    fault(format!("several installed plugins are for {id}: {}", sources.join(", ")))
        .hint(format!("say in plugins.yaml which one is meant, as one of{lines}"))
}
