//! [`Installer`]: from a requirement to a plugin that runs. Every command and every build installs
//! through it.
//!
//! For each requirement: resolve it to a version and the files of that version; fetch and unpack
//! it; install the plugins that it needs; make the files that its language needs and move it to its
//! place; ask it what it does. The lock file records the result.

pub mod describe;
pub mod pinned;
mod prepare;
pub mod project;
mod runtime;
mod sdk;
mod staged;
pub mod session;
mod workshop;

use crate::author::describe::Description;
use crate::diag::{Code, Error, Result};
use crate::fetch::identity::PluginId;
use crate::fetch::origin::Origin;
use crate::fetch::{Base, Download, Transfer};
use crate::id::name::{FileName, IDENTITY_SUFFIX, Platform};
use crate::id::requirement::Requirement;
use crate::id::shell::in_directory;
use crate::id::source::Source;
use crate::id::version::{Version, VersionError};
use crate::policy::Policy;
use crate::policy::lock::{Lock, LockedComponent, LockedDownload, LockedPlugin};
use crate::policy::trust::grant;
use crate::store::discover::{Installed, Refusal, place_of};
use crate::store::exclusive::ExclusiveRoot;
use crate::store::place;
use crate::store::record::{AskedBy, Record, RecordedDownload};
use crate::store::sibling_files::sum_name;
use prepare::{Preparer, UnpackedPlugin, VersionChoice, base_of, is_local, side_by_side};
use rustomize_base::host::Progress;
use rustomize_plugins::PluginOptions;
use rustomize_plugins::failure::bad_plugin;
use rustomize_plugins::permissions::Permissions;
use sdk::LinkedPlugin;
use staged::{StagedPlugin, ask};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// A step of an installation that the user is told.
#[derive(Debug)]
pub enum InstallEvent<'e> {
    /// A file is fetched.
    Fetching { url: &'e str },
    /// A plugin asks for permissions that nothing grants yet.
    Asks { source: &'e Source, origin: &'e Origin, beyond: &'e Permissions },
    /// A plugin provides components that no build uses: these, in words.
    LeftOut { source: &'e Source, what: String },
    /// An installed plugin was changed, so it is installed again.
    Changed { source: &'e Source, why: &'e Refusal },
    /// A release does not match its name; the next lower one is tried.
    Skipped { source: &'e Source, why: &'e Error },
}

impl InstallEvent<'_> {
    /// Shows the event to the user.
    pub fn tell(&self, progress: &dyn Progress) {
        let is_shown = matches!(self, InstallEvent::Fetching { .. }) && progress.shows_files();
        if !is_shown {
            progress.say(&self.to_string());
        }
    }
}

impl fmt::Display for InstallEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallEvent::Fetching { url } => write!(f, "Fetching {url}"),
            InstallEvent::LeftOut { source, what } => write!(f, "{source}: {what}"),
            InstallEvent::Changed { source, why } => write!(f, "Installing {source} again: {why}"),
            InstallEvent::Skipped { source, why } => write!(f, "Skipping a version of {source}: {why}"),
            InstallEvent::Asks { source, origin, beyond } => {
                let command = grant(source, origin, beyond);
                write!(f, "{source} asks for {beyond}, and does not run before that is granted: {command}")
            }
        }
    }
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

/// Most plugins that one installation installs because others depend on them.
const MOST_DEPENDENCIES: usize = 1000;

/// Most plugins in a chain of dependencies.
const MOST_DEPTH: usize = 32;

/// Most versions of one plugin that are tried.
const MOST_TRIES: usize = 10;

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
    /// The lock with the versions that are replaced: a new version is not lower than these.
    pub before: Lock,
    /// True if a new version may be lower than a locked one.
    pub allows_older: bool,
    /// True if an installed version is taken, where it is allowed, before others are asked for.
    pub prefers_installed: bool,
    /// True if locked versions get the platforms that the lock lacks.
    pub completes: bool,
    /// The one who asks for the installation.
    pub asked_by: AskedBy,
    /// True if the new lock has all platforms; it has that of this machine alone otherwise.
    pub all_platforms: bool,
    /// Called with each event.
    pub events: &'i (dyn Fn(InstallEvent<'_>) + Sync),
    /// The number of plugins that are prepared at once.
    pub parallel: usize,
    /// The choices of requirements that were prepared side by side.
    prepared: HashMap<DownloadKey, Result<Vec<VersionChoice>>>,
    /// The lock of the plugins that were installed, for a directory.
    pub lock: Lock,
    /// The installed plugins.
    done: BTreeMap<PluginId, DonePlugin>,
    /// How many of them others depend on.
    dependencies: usize,
}

/// A plugin that was installed.
struct DonePlugin {
    installed: Installed,
    plugin: StagedPlugin,
    description: Description,
    /// Its entry of the lock, without the keys of the plugins that it needs.
    locked: LockedPlugin,
    needs: Vec<PluginId>,
}

/// The choice of a version that is tried, and its download for this machine.
struct Attempt<'a> {
    wanted: &'a Requirement,
    id: &'a PluginId,
    base: &'a Base,
    choice: &'a VersionChoice,
    download: &'a Download,
    plugin: StagedPlugin,
    pinned: LockedDownload,
}

/// A plugin that another one needs, and the requirement for it.
struct Dependency {
    id: PluginId,
    wanted: Requirement,
}

impl<'i> Installer<'i> {
    /// An installer that may lock unlocked plugins, for all platforms.
    pub fn new(
        root: &'i ExclusiveRoot,
        transfer: &'i Transfer,
        options: &'i PluginOptions,
        policy: &'i Policy,
        events: &'i (dyn Fn(InstallEvent<'_>) + Sync),
    ) -> Self {
        Installer {
            root,
            transfer,
            options,
            policy,
            project: PathBuf::new(),
            known: Lock::default(),
            before: Lock::default(),
            allows_older: false,
            prefers_installed: false,
            completes: false,
            asked_by: AskedBy::Project,
            all_platforms: true,
            events,
            parallel: PARALLEL,
            prepared: HashMap::new(),
            lock: Lock::default(),
            done: BTreeMap::new(),
            dependencies: 0,
        }
    }

    /// The plugins that were installed.
    pub fn installed(&self) -> impl Iterator<Item = &Installed> {
        self.done.values().map(|done| &done.installed)
    }

    fn preparer(&self) -> Preparer<'_> {
        let Installer { root, transfer, policy, events, prefers_installed, completes, .. } = *self;
        let (known, project) = (&self.known, self.project.as_path());
        Preparer { root, transfer, policy, events, known, project, prefers_installed, completes }
    }

    /// Installs required plugins and the plugins that they need. Relative paths are those of
    /// `base`.
    ///
    /// # Errors
    /// A plugin cannot be resolved, fetched, unpacked or run. Plugins that were installed before it
    /// stay.
    pub fn install(&mut self, wanted: &[Requirement], base: &Base) -> Result<()> {
        self.install_below(wanted, base, &mut Vec::new())
    }

    fn install_below(&mut self, wanted: &[Requirement], base: &Base, chain: &mut Vec<PluginId>) -> Result<()> {
        // One after the other is put in its place; what comes before that is done for several at
        // once.
        let is_new = |wanted: &&Requirement| {
            PluginId::of(wanted, base).is_ok_and(|id| !self.done.contains_key(&id) && !chain.contains(&id))
        };
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

    fn one(&mut self, wanted: &Requirement, base: &Base, chain: &mut Vec<PluginId>) -> Result<()> {
        let id = PluginId::of(wanted, base)?;
        if chain.contains(&id) {
            let names = chain.iter().chain([&id]).map(|id| id.source.to_string());
            let circle = names.collect::<Vec<_>>().join(" -> ");
            return Err(bad_plugin(format!("these plugins depend on each other in a circle: {circle}")));
        }
        if let Some(done) = self.done.get(&id) {
            let version = &done.installed.file.version;
            if wanted.constraint.allows(version) {
                return Ok(());
            }
            let message = format!("{} is required here, and v{version} elsewhere", wanted.constraint);
            return Err(
                bad_plugin(message).hint("one build uses one version of a plugin: widen one of the constraints")
            );
        }
        if !chain.is_empty() {
            self.dependencies += 1;
            check_limit(self.dependencies, MOST_DEPENDENCIES, "plugins that others depend on")?;
            check_limit(chain.len(), MOST_DEPTH, "plugins in a chain of dependencies")?;
        }
        let prepared = match self.prepared.remove(&DownloadKey::of(wanted, base)) {
            Some(prepared) => prepared,
            None => self.preparer().prepare(wanted, base),
        };
        let mut last = None;
        for (tries, mut choice) in prepared?.into_iter().enumerate() {
            if tries == MOST_TRIES {
                let why = last.take().map_or_else(String::new, |why: Error| format!("; the last: {why}"));
                let message = format!("{MOST_TRIES} versions are not what they say, so no other is tried{why}");
                return Err(bad_plugin(message).hint("name a version that is known to work: version: '= 1.2.3'"));
            }
            self.preparer().complete(wanted, &mut choice)?;
            chain.push(id.clone());
            let tried = self.take(wanted, &id, &mut choice, base, chain);
            chain.pop();
            match tried {
                Ok(done) => {
                    self.done.insert(id, done);
                    return Ok(());
                }
                Err(NotTaken::NotThis(why)) if choice.pinned.is_none() => {
                    (self.events)(InstallEvent::Skipped { source: &wanted.source, why: &why });
                    last = Some(why);
                }
                Err(NotTaken::NotThis(why) | NotTaken::Failed(why)) => return Err(why),
            }
        }
        Err(last.unwrap_or_else(|| bad_plugin(format!("no version is {}", wanted.constraint))))
    }

    /// Installs a choice, after all plugins that it needs.
    fn take(
        &mut self,
        wanted: &Requirement,
        id: &PluginId,
        choice: &mut VersionChoice,
        base: &Base,
        chain: &mut Vec<PluginId>,
    ) -> std::result::Result<DonePlugin, NotTaken> {
        let host = Platform::host();
        let Some(download) = choice.download().cloned() else {
            let there: Vec<String> = choice.downloads.iter().map(|a| a.platform.to_string()).collect();
            return Err(NotTaken::NotThis(bad_plugin(format!(
                "it has no file for {host}, only for {}",
                there.join(", ")
            ))));
        };
        let unpacked = match choice.staged.take() {
            Some(staged) => staged,
            None => self.preparer().stage(wanted, choice, &download, base)?,
        };
        if let Some(pinned) = choice.pinned.as_ref().filter(|pinned| pinned.content != unpacked.pinned.content) {
            let found = &unpacked.pinned.content;
            let message =
                format!("'{}' is not what was locked: {found}, plugins.lock says {}", download.url, pinned.content);
            let hint = match is_local(wanted) {
                true => {
                    let command = in_directory("rustomize plugin lock", &self.project);
                    format!("lock it, then commit plugins.lock: {command}")
                }
                false => "the file was changed since; nothing was installed".to_owned(),
            };
            return Err(NotTaken::Failed(bad_plugin(message).hint(hint)));
        }
        let plugin = StagedPlugin::read(&unpacked).map_err(|e| unpacked.named(e))?;
        let needs = plugin.dependencies(&unpacked).map_err(|e| unpacked.named(e))?;
        let file = match &unpacked.kept {
            Some(kept) => kept.file.clone(),
            None => {
                let named = self.file_name(wanted, choice, &plugin, &unpacked);
                named.map_err(|tried| tried.map(|e| unpacked.named(e)))?
            }
        };
        if !choice.is_locked {
            self.check_not_older(wanted, id, &file.version)?;
        }
        // A plugin that was not fetched is fetched only for dependencies in its own repository.
        let own = match unpacked.kept.is_some() && needs.iter().any(is_local) {
            true => base_of(self.transfer.fetch(&download, base)?.content, base),
            false => unpacked.base.clone(),
        };
        self.install_below(&needs, &own, chain)?;
        let needs = needs.into_iter().map(|wanted| Ok(Dependency { id: PluginId::of(&wanted, &own)?, wanted }));
        let needs: Vec<Dependency> = needs.collect::<Result<_>>()?;
        self.check_callable(&plugin, &needs)?;
        let record = Record {
            origin: id.origin.clone(),
            within: id.within.clone(),
            signer: unpacked.signed.as_ref().map(|signed| signed.key.clone()),
            asked_by: if chain.len() > 1 { AskedBy::Plugin } else { self.asked_by },
            download: Some(recorded(&download.platform, &unpacked.pinned)),
        };
        let present = || self.preparer().present(id, &file.version, &plugin.sum);
        let (installed, description) = match unpacked.kept.clone().or_else(present) {
            Some(there) => {
                let plugin = plugin.at(&there.path);
                self.link(&plugin, &needs)?;
                let description = plugin.describe(self.options)?;
                (self.recorded_again(there, &record)?, description)
            }
            None => self.commit(&plugin, Commit { id, file, record, unpacked: &unpacked }, &needs)?,
        };
        let plugin = plugin.at(&installed.path);
        let pinned = unpacked.pinned;
        let attempt = Attempt { wanted, id, base, choice, download: &download, plugin, pinned };
        let locked = self.locked(&attempt, &installed, &description)?;
        let needs = needs.into_iter().map(|need| need.id).collect();
        Ok(DonePlugin { installed, plugin: attempt.plugin, description, locked, needs })
    }

    /// Refuses to go back to a version that is lower than one that was locked before, unless the
    /// requirement does not allow that one any more. A plugin of the tree has the version that the
    /// tree says.
    fn check_not_older(&self, wanted: &Requirement, id: &PluginId, version: &Version) -> Result<()> {
        let known = self.before.of(&self.project, id).filter(|locked| locked.from == wanted.from);
        let Some(known) = known.filter(|_| !self.allows_older && !is_local(wanted)) else { return Ok(()) };
        let seen = known.versions_seen().filter(|seen| wanted.constraint.allows(seen)).max();
        let Some(seen) = seen.filter(|seen| seen > version) else { return Ok(()) };
        let message = format!("v{version} is the highest version that its host offers, and v{seen} was locked before");
        let command = in_directory("rustomize plugin update --allow-older", &self.project);
        Err(bad_plugin(message)
            .with_code(Code::PluginRefused)
            .hint("whoever withholds a version can keep a fault in use; ask the author why it is gone")
            .hint(format!("if the older version is right: {command}")))
    }

    /// Completes the record of an installed plugin: who asks for it now, and its download.
    fn recorded_again(&self, there: Installed, record: &Record) -> Result<Installed> {
        let is_users = [there.record.asked_by, record.asked_by].contains(&AskedBy::User);
        let asked_by = if is_users { AskedBy::User } else { there.record.asked_by };
        let download = there.record.download.clone().or_else(|| record.download.clone());
        let completed = Record { asked_by, download, ..there.record.clone() };
        if completed != there.record {
            self.write_record(&completed, &there.source, &there.file, &there.sum, &there.path)?;
        }
        Ok(Installed { record: completed, ..there })
    }

    fn write_record(&self, record: &Record, source: &Source, file: &FileName, sum: &str, path: &Path) -> Result<()> {
        let text = record.text(source, &file.version, sum);
        self.root.write(&sum_name(path, IDENTITY_SUFFIX), &text, 0o644)
    }

    /// Makes the lock of what was installed. `required` are the plugins that `plugins.yaml` names:
    /// no other plugin has their sources as its key. Entries of `kept` stay.
    fn keyed(&self, required: &HashSet<PluginId>, kept: Lock) -> Lock {
        let sources: HashSet<&Source> = required.iter().map(|id| &id.source).collect();
        let mut keys: BTreeMap<&PluginId, String> = BTreeMap::new();
        let mut last: Option<&PluginId> = None;
        // Of one source its own place comes first, so the keys do not depend on who was first.
        for id in self.done.keys() {
            let is_kept = |kept: &LockedPlugin| kept.id(&id.source, &self.project) != *id;
            let is_taken = sources.contains(&id.source)
                || last.is_some_and(|last| last.source == id.source)
                || kept.plugins.get(&id.source.to_string()).is_some_and(is_kept);
            keys.insert(id, Lock::key(&self.project, id, is_taken && !required.contains(id)));
            last = Some(id);
        }
        let mut lock = kept;
        for (id, DonePlugin { locked, needs, .. }) in &self.done {
            let dependencies = needs.iter().filter_map(|need| keys.get(need).cloned()).collect();
            lock.plugins.insert(keys[id].clone(), LockedPlugin { dependencies, ..locked.clone() });
        }
        lock
    }

    /// Makes the files that a staged plugin's language needs, and moves the plugin to its place. A
    /// plugin that cannot describe itself, or asks for denied permissions, is not installed. All
    /// this is done aside, so that an installed plugin stays if it fails.
    fn commit(
        &self,
        plugin: &StagedPlugin,
        commit: Commit<'_>,
        needs: &[Dependency],
    ) -> Result<(Installed, Description)> {
        let Commit { id, file, record, unpacked } = commit;
        let source = id.source.clone();
        let target = place_of(self.root.path(), id, &file);
        let beside = [(IDENTITY_SUFFIX, record.text(&source, &file.version, &plugin.sum))];
        let description = match self.finish(id, plugin, needs) {
            Ok(description) => description,
            Err(why) => {
                let why = unpacked.moved(why, &target);
                place::put_failed(self.root, &plugin.path, &target, &beside, &why)?;
                return Err(why);
            }
        };
        let sum = place::put(self.root, &plugin.path, &target, &beside)?;
        Ok((Installed { source, record, path: target, file, sum }, description))
    }

    /// Makes a staged plugin complete, and asks it what it does.
    fn finish(&self, id: &PluginId, plugin: &StagedPlugin, needs: &[Dependency]) -> Result<Description> {
        if let Some(manifest) = &plugin.manifest {
            let work = self.root.stage()?;
            manifest.check_entry(&plugin.path)?;
            runtime::prepare(manifest, &plugin.path, work.held(), self.options)?;
            self.link(plugin, needs)?;
        }
        let description = plugin.describe(self.options)?;
        let (home, asked) = (self.options.home(), &description.permissions);
        self.policy.trust.rule(&id.source, &id.origin)?.check_permissions(id, asked, home.as_deref())?;
        Ok(description)
    }

    /// Checks that each dependency is a program. Bundles are exempt: they contain their
    /// dependencies.
    fn check_callable(&self, plugin: &StagedPlugin, needs: &[Dependency]) -> Result<()> {
        if plugin.is_bundle() {
            return Ok(());
        }
        for Dependency { id, wanted } in needs {
            if let Some((what, hint)) = self.done.get(id).and_then(|done| done.plugin.why_not_called()) {
                let message = format!("'{}' ({}) is {what}; a plugin cannot call it", wanted.name, wanted.source);
                return Err(bad_plugin(message).at(wanted.place.clone()).hint(hint));
            }
        }
        Ok(())
    }

    /// Gives a directory a way to the plugins that it needs, which are installed.
    fn link(&self, plugin: &StagedPlugin, needs: &[Dependency]) -> Result<()> {
        if plugin.manifest.is_none() || plugin.is_bundle() {
            return Ok(());
        }
        let needed = needs.iter().filter_map(|Dependency { id, wanted }| {
            let done = self.done.get(id)?;
            let (installed, description) = (&done.installed, &done.description);
            Some(LinkedPlugin { wanted, installed, description, launch: done.plugin.launch() })
        });
        sdk::link(self.root, &plugin.path, &needed.collect::<Vec<_>>())
    }

    /// The name of the file that a plugin becomes. The plugin states its own version, which must be
    /// the expected one.
    fn file_name(
        &self,
        wanted: &Requirement,
        choice: &VersionChoice,
        plugin: &StagedPlugin,
        unpacked: &UnpackedPlugin,
    ) -> std::result::Result<FileName, NotTaken> {
        let name = wanted.source.name().to_owned();
        let not_this = |e: String| NotTaken::NotThis(bad_plugin(e));
        let (said, api, platform) = if let Some(manifest) = &plugin.manifest {
            if !manifest.name.is_empty() && manifest.name != name {
                let what = if manifest.is_bundle() { "bundle" } else { "plugin" };
                let error = bad_plugin(format!("it is the {what} '{}', not '{name}'", manifest.name));
                let hint = "the last part of 'source' is the name in plugin.yaml: correct one of the two";
                return Err(NotTaken::NotThis(error.hint(hint)));
            }
            let platform = manifest.platform.clone();
            let version = match (&manifest.version, &choice.version) {
                (None, None) => Some(plugin.own_version(manifest, self.options)?),
                _ => manifest.version.clone(),
            };
            (version, manifest.api, platform)
        } else {
            let description = ask(plugin.launch(), self.options, &unpacked.pinned.url)?;
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
            (None, None) => return Err(NotTaken::Failed(bad_plugin("its version is not known".to_owned()))),
        };
        unpacked.check_signed_version(&version)?;
        if !wanted.constraint.allows(&version) {
            return Err(not_this(format!("it is v{version}; {} is required", wanted.constraint)));
        }
        Ok(FileName { name, version, api, platform })
    }

    /// The entry of a plugin in the lock file.
    fn locked(&self, attempt: &Attempt<'_>, installed: &Installed, description: &Description) -> Result<LockedPlugin> {
        let Attempt { wanted, id, base, choice, download, plugin, pinned } = attempt;
        let mut platforms = BTreeMap::from([(download.platform.to_string(), pinned.clone())]);
        let own = installed.file.version.to_string();
        let known = self.known.of(&self.project, id).filter(|known| known.version == own);
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
        let pinned = |(_, other): &(String, &Download)| {
            let staged = preparer.unpacked(wanted, other, base)?;
            staged.check_signed_version(&installed.file.version)?;
            Ok(staged.pinned)
        };
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
        let origin = &id.origin;
        let (trust, asked) = (&self.policy.trust, &description.permissions);
        let beyond = trust.ungranted(&wanted.source, origin, asked, &flags, home.as_deref())?;
        if !beyond.is_empty() {
            (self.events)(InstallEvent::Asks { source: &wanted.source, origin, beyond: &beyond });
        }
        if let Some(what) = description.left_out() {
            (self.events)(InstallEvent::LeftOut { source: &wanted.source, what });
        }
        let provides = match plugin.is_bundle() {
            // A bundle has each of its kinds in every role.
            true => description.generators.iter().map(|component| LockedComponent::new(None, component)).collect(),
            false => {
                description.components().map(|(role, component)| LockedComponent::new(Some(role), component)).collect()
            }
        };
        let runtime = plugin.manifest.as_ref().map(|manifest| manifest.runtime.name().to_owned());
        let before = self.before.of(&self.project, id).filter(|_| !self.allows_older);
        let highest = before.into_iter().flat_map(LockedPlugin::versions_seen).max();
        let highest = highest.filter(|highest| *highest > installed.file.version).map(|highest| highest.to_string());
        // Where `from` says it, the origin goes without saying.
        let says_it = Origin::of(wanted, &Base::new(&self.project))? == *origin;
        let origin = if says_it { String::new() } else { origin.written_in(&self.project) };
        Ok(LockedPlugin {
            version: own,
            highest,
            api: installed.file.api.to_string(),
            constraint: wanted.constraint.to_string(),
            from: wanted.from.clone(),
            origin,
            parameters: wanted.parameters.clone(),
            runtime,
            provides,
            permissions: description.permissions.clone(),
            dependencies: Vec::new(),
            platforms,
        })
    }
}

/// Holds a number to a limit.
fn check_limit(found: usize, most: usize, what: &str) -> Result<()> {
    if found <= most {
        return Ok(());
    }
    Err(bad_plugin(format!("more than {most} {what}, which is the limit")).hint("make one plugin of several"))
}

/// The download of a plugin for its record.
fn recorded(platform: &Platform, pinned: &LockedDownload) -> RecordedDownload {
    let LockedDownload { url, size, archive, .. } = pinned.clone();
    RecordedDownload { platform: platform.to_string(), url, size, archive }
}

/// A plugin that is moved to its place.
struct Commit<'c> {
    id: &'c PluginId,
    file: FileName,
    record: Record,
    unpacked: &'c UnpackedPlugin,
}

/// Why a choice was not taken.
enum NotTaken {
    /// The candidate is not the expected plugin: the next may be.
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
