//! [`Installer`]: from a requirement to a plugin that runs (U37 to U45). It is the one way, whoever
//! asks.
//!
//! For each requirement: resolve it to a version and what there is of that; fetch and unpack it;
//! install what it needs; put it where it is found and make what its language needs; ask it what it
//! does. The lock file records the result.

pub mod describe;
mod pinned;
mod prepare;
pub mod project;
mod runtime;
mod sdk;
mod workshop;

use crate::diag::{Code, Error, Result};
use crate::manager::author::describe::{DescribeError, Description};
use crate::manager::author::manifest::{Manifest, Runtime};
use crate::manager::fetch::origin::Origin;
use crate::manager::fetch::{Base, Download, Transfer, is_repository};
use crate::manager::id::name::{FileName, ORIGIN_SUFFIX, Platform, SIGNED_SUFFIX};
use crate::manager::id::requirement::Requirement;
use crate::manager::id::shell::in_directory;
use crate::manager::id::source::Source;
use crate::manager::id::version::{Version, VersionError};
use crate::manager::policy::Policy;
use crate::manager::policy::lock::{Lock, LockedComponent, LockedDownload, LockedPlugin};
use crate::manager::store::discover::{Installed, Refusal};
use crate::manager::store::exclusive::ExclusiveRoot;
use crate::manager::store::place;
use crate::plugin::PluginOptions;
use crate::plugin::permissions::Permissions;
use crate::plugin::program::Command;
use prepare::{Preparer, StagedPlugin, VersionChoice, base_of, is_local, is_of_this_machine, side_by_side};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A step of an installation, for progress.
#[derive(Debug)]
pub enum InstallEvent<'e> {
    /// Something is fetched.
    Fetching { url: &'e str },
    /// A plugin asks for what nothing grants yet.
    Asks { source: &'e Source, origin: &'e Origin, beyond: &'e Permissions },
    /// A plugin does something that no build uses: what, in words.
    LeftOut { source: &'e Source, what: String },
    /// An installed plugin was changed, so it is installed again.
    Changed { source: &'e Source, why: &'e Refusal },
    /// A release does not match its name; the next lower one is tried.
    Skipped { source: &'e Source, why: &'e Error },
}

/// The parts of a requirement that decide which download is fetched for it. Requirements with equal
/// keys share the download.
#[derive(PartialEq, Eq, Hash)]
struct DownloadKey {
    source: Source,
    constraint: String,
    from: String,
    base: Base,
}

impl DownloadKey {
    fn of(wanted: &Requirement, base: &Base) -> DownloadKey {
        let (source, constraint) = (wanted.source.clone(), wanted.constraint.to_string());
        DownloadKey { source, constraint, from: wanted.from.clone(), base: base.clone() }
    }
}

/// How many plugins are prepared at once by default.
pub const PARALLEL: usize = 4;

/// Installs plugins below one root: it chooses a version, fetches it into a stage and commits it.
pub struct Installer<'i> {
    pub root: &'i ExclusiveRoot,
    pub transfer: &'i Transfer,
    pub options: &'i PluginOptions,
    /// The rules of which plugins may be installed.
    pub policy: &'i Policy,
    /// The directory with plugins.yaml, for the commands in hints; empty for the current one.
    pub project: PathBuf,
    /// The lock file so far; its versions and sums are kept where the requirements allow them.
    pub known: Lock,
    /// True if the new lock has all platforms; it has that of this machine alone otherwise.
    pub all_platforms: bool,
    /// Told what happens.
    pub events: &'i (dyn Fn(InstallEvent<'_>) + Sync),
    /// How many plugins are prepared at once.
    pub parallel: usize,
    /// The choices of requirements that were prepared side by side.
    prepared: HashMap<DownloadKey, Result<Vec<VersionChoice>>>,
    /// The lock of the plugins that were installed.
    pub lock: Lock,
    /// The installed plugins, by source.
    pub done: BTreeMap<Source, Installed>,
}

fn fault(message: String) -> Error {
    Error::new(Code::BadPlugin, message)
}

impl<'i> Installer<'i> {
    /// One that has installed nothing yet, and that may lock what is not locked, for all platforms.
    pub fn new(
        root: &'i ExclusiveRoot,
        transfer: &'i Transfer,
        options: &'i PluginOptions,
        policy: &'i Policy,
        events: &'i (dyn Fn(InstallEvent<'_>) + Sync),
    ) -> Self {
        let (known, lock, done, prepared, project) = Default::default();
        let (all_platforms, parallel) = (true, PARALLEL);
        Installer {
            root,
            transfer,
            options,
            policy,
            project,
            known,
            all_platforms,
            events,
            parallel,
            prepared,
            lock,
            done,
        }
    }

    fn preparer(&self) -> Preparer<'_> {
        let Installer { root, transfer, policy, events, .. } = *self;
        Preparer { root, transfer, policy, events, known: &self.known, project: &self.project }
    }

    /// Installs what is required, and what that needs. Relative paths are those of `base`.
    ///
    /// # Errors
    /// One cannot be resolved, fetched, unpacked or run. What was installed before it stays.
    pub fn install(&mut self, wanted: &[Requirement], base: &Base) -> Result<()> {
        self.install_below(wanted, base, &mut Vec::new())
    }

    fn install_below(&mut self, wanted: &[Requirement], base: &Base, chain: &mut Vec<Source>) -> Result<()> {
        // One after the other is put in its place; what comes before that is done for several at
        // once.
        let is_new = |wanted: &&Requirement| !self.done.contains_key(&wanted.source) && !chain.contains(&wanted.source);
        let new: Vec<&Requirement> = wanted.iter().filter(is_new).collect();
        if new.len() > 1 {
            let preparer = self.preparer();
            let prepared = side_by_side(self.parallel, &new, |wanted| preparer.prepare(wanted, base));
            self.prepared.extend(new.iter().map(|wanted| DownloadKey::of(wanted, base)).zip(prepared));
        }
        for requirement in wanted {
            let at = |e: Error| e.context(format!("installing '{}' ({})", requirement.name, requirement.source));
            self.one(requirement, base, chain).map_err(at).map_err(|e| e.at(requirement.place.clone()))?;
        }
        Ok(())
    }

    fn one(&mut self, wanted: &Requirement, base: &Base, chain: &mut Vec<Source>) -> Result<()> {
        if chain.contains(&wanted.source) {
            let names = chain.iter().chain([&wanted.source]).map(ToString::to_string);
            let circle = names.collect::<Vec<_>>().join(" -> ");
            return Err(fault(format!("these plugins depend on each other in a circle: {circle}")));
        }
        if let Some(done) = self.done.get(&wanted.source) {
            if wanted.constraint.allows(&done.file.version) {
                return Ok(());
            }
            let message = format!("{} is required here, and v{} elsewhere", wanted.constraint, done.file.version);
            return Err(fault(message).hint("one build uses one version of a plugin: widen one of the constraints"));
        }
        let prepared = match self.prepared.remove(&DownloadKey::of(wanted, base)) {
            Some(prepared) => prepared,
            None => self.preparer().prepare(wanted, base),
        };
        let mut last = None;
        for mut choice in prepared? {
            self.preparer().complete(wanted, &mut choice)?;
            chain.push(wanted.source.clone());
            let tried = self.take(wanted, &mut choice, base, chain);
            chain.pop();
            match tried {
                Ok((installed, locked)) => {
                    self.lock.plugins.insert(wanted.source.to_string(), locked);
                    self.done.insert(wanted.source.clone(), installed);
                    return Ok(());
                }
                Err(NotTaken::NotThis(why)) if choice.pinned.is_none() => {
                    (self.events)(InstallEvent::Skipped { source: &wanted.source, why: &why });
                    last = Some(why);
                }
                Err(NotTaken::NotThis(why) | NotTaken::Failed(why)) => return Err(why),
            }
        }
        Err(last.unwrap_or_else(|| fault(format!("no version is {}", wanted.constraint))))
    }

    /// Installs a choice, after all that it needs, and gives its entry of the lock file.
    fn take(
        &mut self,
        wanted: &Requirement,
        choice: &mut VersionChoice,
        base: &Base,
        chain: &mut Vec<Source>,
    ) -> std::result::Result<(Installed, LockedPlugin), NotTaken> {
        let host = Platform::host();
        let Some(download) = choice.download().cloned() else {
            let there: Vec<String> = choice.downloads.iter().map(|a| a.platform.to_string()).collect();
            return Err(NotTaken::NotThis(fault(format!("it has no file for {host}, only for {}", there.join(", ")))));
        };
        let staged = match choice.staged.take() {
            Some(staged) => staged,
            None => self.preparer().stage(wanted, choice, &download, base)?,
        };
        if let Some(pinned) = choice.pinned.as_ref().filter(|pinned| pinned.content != staged.pinned.content) {
            let found = &staged.pinned.content;
            let message =
                format!("'{}' is not what was locked: {found}, plugins.lock says {}", download.url, pinned.content);
            let hint = match is_local(wanted) {
                true => {
                    let command = in_directory("rustomize plugin lock", &self.project);
                    format!("lock it, then commit plugins.lock: {command}")
                }
                false => "the file was changed since; nothing was installed".to_owned(),
            };
            return Err(NotTaken::Failed(fault(message).hint(hint)));
        }
        let needs = self.needs(&staged.path, &staged.pinned).map_err(|e| staged.named(e))?;
        let file = match &staged.kept {
            Some(kept) => kept.file.clone(),
            None => self.file_name(wanted, choice, &staged).map_err(|tried| tried.map(|e| staged.named(e)))?,
        };
        // A plugin that was not fetched is fetched only for dependencies in its own repository.
        let own = match staged.kept.is_some() && needs.iter().any(is_local) {
            true => base_of(self.transfer.fetch(&download, base)?.content, base),
            false => staged.base.clone(),
        };
        self.install_below(&needs, &own, chain)?;
        self.check_callable(&staged.path, &needs)?;
        let present = || self.preparer().present(&wanted.source, &staged.origin, &file.version, &staged.pinned.content);
        let (installed, description) = match staged.kept.clone().or_else(present) {
            Some(there) => {
                self.link(&there.path, &needs)?;
                let description = self.describe(&there.path)?;
                (there, description)
            }
            None => self.commit(wanted, &staged, file, &needs)?,
        };
        let locked = self.locked(wanted, &installed, description, needs, staged.pinned, &download, choice, base)?;
        Ok((installed, locked))
    }

    /// Makes the files that a staged plugin's language needs, and moves the plugin to its place. A
    /// plugin that cannot describe itself, or asks for denied permissions, is not installed. All
    /// this is done aside, so that an installed plugin stays if it fails.
    fn commit(
        &self,
        wanted: &Requirement,
        staged: &StagedPlugin,
        file: FileName,
        needs: &[Requirement],
    ) -> Result<(Installed, Description)> {
        let source = wanted.source.clone();
        let target = self.root.path().join(source.directory()).join(file.to_string());
        let description = match self.finish(&source, staged, needs) {
            Ok(description) => description,
            Err(why) => {
                let why = staged.moved(why, &target);
                place::put_failed(self.root, &staged.path, &target, &why)?;
                return Err(why);
            }
        };
        let mut beside = Vec::new();
        if let Origin::Elsewhere(place) = &staged.origin {
            beside.push((ORIGIN_SUFFIX, format!("{place}\n")));
        }
        if let Some(signer) = &staged.signer {
            beside.push((SIGNED_SUFFIX, format!("{signer}\n")));
        }
        let sum = place::put(self.root, &staged.path, &target, &beside)?;
        Ok((Installed { source, path: target, file, sum, opened: None }, description))
    }

    /// Makes a staged plugin complete, and asks it what it does.
    fn finish(&self, source: &Source, staged: &StagedPlugin, needs: &[Requirement]) -> Result<Description> {
        let path = &staged.path;
        if path.is_dir() {
            let work = self.root.stage()?;
            let manifest = Manifest::read(path)?;
            manifest.check_entry(path)?;
            runtime::prepare(&manifest, path, work.held(), self.options)?;
            self.link(path, needs)?;
        }
        let description = self.describe(path)?;
        if let Some(rule) = self.policy.trust.rule(source, &staged.origin)? {
            let (home, asked) = (self.options.home(), &description.permissions);
            rule.check_permissions(source, &staged.origin, asked, home.as_deref())?;
        }
        Ok(description)
    }

    /// Holds what a plugin needs to what it can call: programs. A bundle calls nothing: it brings
    /// what it depends on.
    fn check_callable(&self, plugin: &Path, needs: &[Requirement]) -> Result<()> {
        if needs.is_empty() || is_bundle(plugin)? {
            return Ok(());
        }
        for need in needs {
            let Some(installed) = self.done.get(&need.source).filter(|installed| installed.path.is_dir()) else {
                continue;
            };
            let (what, hint) = match Manifest::read(&installed.path)?.runtime {
                Runtime::SharedObject => (
                    "a shared object",
                    "depend on a program, or on a plugin with a runtime: only a build loads shared objects",
                ),
                Runtime::Bundle => {
                    ("a bundle", "depend on a plugin, or make a bundle of this plugin and the other bundle")
                }
                _ => continue,
            };
            let message = format!("'{}' ({}) is {what}; a plugin cannot call it", need.name, need.source);
            return Err(fault(message).at(need.place.clone()).hint(hint));
        }
        Ok(())
    }

    /// Gives a directory a way to the plugins that it needs, which are installed (U41).
    fn link(&self, plugin: &Path, needs: &[Requirement]) -> Result<()> {
        if !plugin.is_dir() || is_bundle(plugin)? {
            return Ok(());
        }
        let mut given = Vec::new();
        for need in needs {
            if let Some(installed) = self.done.get(&need.source) {
                let command = installed.command().map_err(|why| fault(why.to_string()))?;
                given.push((need, installed, self.describe(&installed.path)?, command));
            }
        }
        sdk::link(self.root, plugin, &given)
    }

    /// The description of a plugin, unpacked or installed.
    fn describe(&self, plugin: &Path) -> Result<Description> {
        if !plugin.is_dir() {
            return ask(&Command::of_binary(plugin), self.options, &plugin.display().to_string());
        }
        let manifest = Manifest::read(plugin)?;
        match manifest.says_what() {
            true => Ok(manifest.description),
            false => {
                let said = ask(&manifest.command(plugin), self.options, &plugin.display().to_string())?;
                Ok(manifest.complete(said))
            }
        }
    }

    /// The plugins that one needs. What was fetched names no place of this machine.
    fn needs(&self, plugin: &Path, pinned: &LockedDownload) -> Result<Vec<Requirement>> {
        let needs = if plugin.is_dir() { Manifest::read(plugin)?.dependencies } else { Vec::new() };
        let is_archive = pinned.archive.is_some();
        if let Some(need) =
            needs.iter().find(|need| (is_archive || is_repository(&pinned.url)) && is_of_this_machine(need))
        {
            let message = format!("it depends on '{}' from '{}', a repository of this machine", need.name, need.from);
            return Err(fault(message).hint("its author has to name a place where the dependency is released"));
        }
        match needs.iter().find(|need| is_archive && is_local(need)) {
            Some(local) => {
                let message = format!(
                    "it depends on '{}' from '{}', and an archive has no directory for that path",
                    local.name, local.from
                );
                Err(fault(message).hint("its author has to name a place where the dependency is released"))
            }
            None => Ok(needs),
        }
    }

    /// The name of the file that a plugin becomes. The plugin states its own version, which must be
    /// the expected one.
    fn file_name(
        &self,
        wanted: &Requirement,
        choice: &VersionChoice,
        staged: &StagedPlugin,
    ) -> std::result::Result<FileName, NotTaken> {
        let name = wanted.source.name().to_owned();
        let not_this = |e: String| NotTaken::NotThis(fault(e));
        let (said, api, platform) = if staged.path.is_dir() {
            let manifest = Manifest::read(&staged.path)?;
            if !manifest.name.is_empty() && manifest.name != name {
                let what = if manifest.is_bundle() { "bundle" } else { "plugin" };
                return Err(not_this(format!("it is the {what} '{}', not '{name}'", manifest.name)));
            }
            let platform = manifest.platform.clone();
            let version = match (&manifest.version, &choice.version) {
                (None, None) => Some(self.own_version(&manifest, staged)?),
                _ => manifest.version,
            };
            (version, manifest.api, platform)
        } else {
            let command = Command::of_binary(&staged.path);
            let description = ask(&command, self.options, &staged.pinned.url)?;
            let wrong = |e: VersionError| not_this(format!("its own version is not valid: {e}"));
            let version: Version = description.version.parse().map_err(wrong)?;
            let api = description.api_version.parse().map_err(wrong)?;
            description.check(&version, api).map_err(|e| not_this(e.to_string()))?;
            (Some(version), api, Platform::host())
        };
        let version = match (said, &choice.version) {
            (Some(said), Some(taken)) if said != *taken => {
                return Err(not_this(format!("it describes itself as v{said}; v{taken} was expected")));
            }
            (Some(said), _) => said,
            (None, Some(taken)) => taken.clone(),
            (None, None) => return Err(NotTaken::Failed(fault("its version is not known".to_owned()))),
        };
        if !wanted.constraint.allows(&version) {
            return Err(not_this(format!("it is v{version}; {} is required", wanted.constraint)));
        }
        Ok(FileName { name, version, api, platform })
    }

    /// The version that a plugin in a directory states itself, where neither its manifest nor a tag
    /// does. The packages of its language are not installed yet.
    fn own_version(&self, manifest: &Manifest, staged: &StagedPlugin) -> Result<Version> {
        let unknown = |why: String| {
            let error = fault(format!("its version is not known: {why}"));
            error.hint(format!("put 'version: 1.2.3' into its {}", Manifest::name_in(&staged.path)))
        };
        if manifest.says_what() {
            return Err(unknown("its manifest does not name it".to_owned()));
        }
        let asked = Description::ask(&manifest.command(&staged.path), self.options);
        let description = asked.map_err(|e| unknown(e.to_string()))?;
        description.version.parse().map_err(|e: VersionError| unknown(e.to_string()))
    }

    /// The entry of a plugin in the lock file.
    #[expect(clippy::too_many_arguments, reason = "all that an installation has found out, once")]
    fn locked(
        &self,
        wanted: &Requirement,
        installed: &Installed,
        description: Description,
        needs: Vec<Requirement>,
        pinned: LockedDownload,
        download: &Download,
        choice: &VersionChoice,
        base: &Base,
    ) -> Result<LockedPlugin> {
        let mut platforms = BTreeMap::from([(download.platform.to_string(), pinned)]);
        let known = self.known.of(&wanted.source).filter(|known| known.version == installed.file.version.to_string());
        let mut unknown = Vec::new();
        for other in choice.downloads.iter().filter(|other| other.platform != download.platform) {
            let name = other.platform.to_string();
            match known.and_then(|known| known.platforms.get(&name)).filter(|_| choice.pinned.is_some()) {
                Some(known) => drop(platforms.insert(name, known.clone())),
                None if self.all_platforms => unknown.push((name, other)),
                None => {}
            }
        }
        let preparer = self.preparer();
        // Only what it is known by is wanted: the files go at once.
        let pinned = |(_, other): &(String, &Download)| Ok(preparer.unpacked(wanted, other, base)?.pinned);
        let pinned: Vec<Result<LockedDownload>> = side_by_side(self.parallel, &unknown, pinned);
        for ((name, _), pinned) in unknown.into_iter().zip(pinned) {
            match pinned {
                Ok(pinned) => drop(platforms.insert(name, pinned)),
                // No list has promised a file for that platform.
                Err(e) if e.code() == Code::Absent => {}
                Err(e) => return Err(e.context(format!("locking it for {name}"))),
            }
        }
        let (flags, home) = (self.options.isolation.permissions(), self.options.home());
        let origin = Origin::of(wanted, base)?;
        let (trust, asked) = (&self.policy.trust, &description.permissions);
        let beyond = trust.ungranted(&wanted.source, &origin, asked, &flags, home.as_deref())?;
        if !beyond.is_empty() {
            (self.events)(InstallEvent::Asks { source: &wanted.source, origin: &origin, beyond: &beyond });
        }
        if let Some(what) = description.left_out() {
            (self.events)(InstallEvent::LeftOut { source: &wanted.source, what });
        }
        let manifest = if installed.path.is_dir() { Some(Manifest::read(&installed.path)?) } else { None };
        let provides = match manifest.as_ref().is_some_and(Manifest::is_bundle) {
            // A bundle has each of its kinds in every role.
            true => description.generators.iter().map(|component| LockedComponent::new(None, component)).collect(),
            false => {
                description.components().map(|(role, component)| LockedComponent::new(Some(role), component)).collect()
            }
        };
        let runtime = manifest.map(|manifest| manifest.runtime.name().to_owned());
        Ok(LockedPlugin {
            version: installed.file.version.to_string(),
            api: installed.file.api.to_string(),
            constraint: wanted.constraint.to_string(),
            from: wanted.from.clone(),
            parameters: wanted.parameters.clone(),
            runtime,
            provides,
            permissions: description.permissions.clone(),
            dependencies: needs.iter().map(|need| need.source.to_string()).collect(),
            platforms,
        })
    }
}

/// Returns whether what was unpacked or installed is a bundle.
fn is_bundle(path: &Path) -> Result<bool> {
    Ok(path.is_dir() && Manifest::read(path)?.is_bundle())
}

/// Why a choice was not taken.
enum NotTaken {
    /// It is not what it was taken for: another may be.
    NotThis(Error),
    Failed(Error),
}

impl NotTaken {
    /// The same with another error.
    fn map(self, map: impl FnOnce(Error) -> Error) -> NotTaken {
        match self {
            NotTaken::NotThis(e) => NotTaken::NotThis(map(e)),
            NotTaken::Failed(e) => NotTaken::Failed(map(e)),
        }
    }
}

impl From<Error> for NotTaken {
    fn from(e: Error) -> Self {
        NotTaken::Failed(e)
    }
}

fn ask(command: &Command, options: &PluginOptions, shown: &str) -> Result<Description> {
    Description::ask(command, options).map_err(|e| {
        let hint = match &e {
            DescribeError::Form(_) => "run with the argument 'describe' it prints one JSON object: {\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"generators\": [...], ...}",
            _ => "check that it is executable and built for this machine",
        };
        fault(format!("'{shown}' cannot be installed: {e}")).hint(hint)
    })
}
