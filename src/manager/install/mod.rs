//! [`Installer`]: from a requirement to a plugin that runs (U37 to U45). It is the one way, whoever
//! asks.
//!
//! For each requirement: resolve it to a version and what there is of that; fetch and unpack it;
//! install what it needs; put it where it is found and make what its language needs; ask it what it
//! does. The lock file records the result.

pub mod describe;
pub mod pinned;
mod prepare;
pub mod project;
mod runtime;
mod sdk;
pub mod session;
mod workshop;

use crate::diag::{Code, Error, Result};
use crate::manager::author::describe::{DescribeError, Description};
use crate::manager::author::manifest::{Manifest, Runtime};
use crate::manager::fetch::identity::PluginId;
use crate::manager::fetch::origin::Origin;
use crate::manager::fetch::{Base, Download, Transfer, is_repository};
use crate::manager::id::name::{FileName, IDENTITY_SUFFIX, Platform};
use crate::manager::id::requirement::Requirement;
use crate::manager::id::shell::in_directory;
use crate::manager::id::source::Source;
use crate::manager::id::version::{Version, VersionError};
use crate::manager::policy::Policy;
use crate::manager::policy::lock::{Lock, LockedComponent, LockedDownload, LockedPlugin};
use crate::manager::policy::trust::grant;
use crate::manager::store::beside::sum_name;
use crate::manager::store::discover::{Installed, Refusal, place_of};
use crate::manager::store::exclusive::ExclusiveRoot;
use crate::manager::store::place;
use crate::manager::store::record::{AskedBy, Record, RecordedDownload};
use crate::plugin::PluginOptions;
use crate::plugin::permissions::Permissions;
use prepare::{Preparer, StagedPlugin, VersionChoice, base_of, is_local, is_of_this_machine, side_by_side};
use rustomize_base::host::Progress;
use rustomize_process::Launch;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
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
    /// The same with the versions that are to be replaced: a new version is not lower than these.
    pub before: Lock,
    /// True if a new version may be lower than a locked one.
    pub allows_older: bool,
    /// True if an installed version is taken, where it is allowed, before others are asked for.
    pub prefers_installed: bool,
    /// True if locked versions get the platforms that the lock lacks.
    pub completes: bool,
    /// Whose wish the installation is.
    pub asked_by: AskedBy,
    /// True if the new lock has all platforms; it has that of this machine alone otherwise.
    pub all_platforms: bool,
    /// Told what happens.
    pub events: &'i (dyn Fn(InstallEvent<'_>) + Sync),
    /// How many plugins are prepared at once.
    pub parallel: usize,
    /// The choices of requirements that were prepared side by side.
    prepared: HashMap<DownloadKey, Result<Vec<VersionChoice>>>,
    /// The lock of the plugins that were installed, for a directory.
    pub lock: Lock,
    /// The installed plugins.
    pub done: BTreeMap<PluginId, Installed>,
    /// Their entries of the lock, without keys, and the plugins that each needs.
    entries: BTreeMap<PluginId, (LockedPlugin, Vec<PluginId>)>,
    /// How many of them others depend on.
    dependencies: usize,
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
        let (known, before, lock, done, entries, prepared, project) = Default::default();
        let (all_platforms, parallel) = (true, PARALLEL);
        let (allows_older, prefers_installed, completes, asked_by) = (false, false, false, AskedBy::Project);
        Installer {
            root,
            transfer,
            options,
            policy,
            project,
            known,
            before,
            allows_older,
            prefers_installed,
            completes,
            asked_by,
            all_platforms,
            events,
            parallel,
            prepared,
            lock,
            done,
            entries,
            dependencies: 0,
        }
    }

    fn preparer(&self) -> Preparer<'_> {
        let Installer { root, transfer, policy, events, prefers_installed, completes, .. } = *self;
        let (known, project) = (&self.known, self.project.as_path());
        Preparer { root, transfer, policy, events, known, project, prefers_installed, completes }
    }

    /// Installs what is required, and what that needs. Relative paths are those of `base`.
    ///
    /// # Errors
    /// One cannot be resolved, fetched, unpacked or run. What was installed before it stays.
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
            return Err(fault(format!("these plugins depend on each other in a circle: {circle}")));
        }
        if let Some(done) = self.done.get(&id) {
            if wanted.constraint.allows(&done.file.version) {
                return Ok(());
            }
            let message = format!("{} is required here, and v{} elsewhere", wanted.constraint, done.file.version);
            return Err(fault(message).hint("one build uses one version of a plugin: widen one of the constraints"));
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
                return Err(fault(message).hint("name a version that is known to work: version: '= 1.2.3'"));
            }
            self.preparer().complete(wanted, &mut choice)?;
            chain.push(id.clone());
            let tried = self.take(wanted, &id, &mut choice, base, chain);
            chain.pop();
            match tried {
                Ok((installed, entry)) => {
                    self.entries.insert(id.clone(), entry);
                    self.done.insert(id, installed);
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
        id: &PluginId,
        choice: &mut VersionChoice,
        base: &Base,
        chain: &mut Vec<PluginId>,
    ) -> std::result::Result<(Installed, (LockedPlugin, Vec<PluginId>)), NotTaken> {
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
        if !choice.is_locked {
            self.check_not_older(wanted, id, &file.version)?;
        }
        // A plugin that was not fetched is fetched only for dependencies in its own repository.
        let own = match staged.kept.is_some() && needs.iter().any(is_local) {
            true => base_of(self.transfer.fetch(&download, base)?.content, base),
            false => staged.base.clone(),
        };
        self.install_below(&needs, &own, chain)?;
        let needs = needs.into_iter().map(|need| Ok((PluginId::of(&need, &own)?, need)));
        let needs: Vec<(PluginId, Requirement)> = needs.collect::<Result<_>>()?;
        self.check_callable(&staged.path, &needs)?;
        let record = Record {
            origin: id.origin.clone(),
            within: id.within.clone(),
            signer: staged.signed.as_ref().map(|signed| signed.key.clone()),
            asked_by: if chain.len() > 1 { AskedBy::Plugin } else { self.asked_by },
            download: Some(recorded(&download.platform, &staged.pinned)),
        };
        let present = || self.preparer().present(id, &file.version, &staged.pinned.content);
        let (installed, description) = match staged.kept.clone().or_else(present) {
            Some(there) => {
                self.link(&there.path, &needs)?;
                let description = self.describe(&there.path)?;
                (self.recorded_again(there, &record)?, description)
            }
            None => self.commit(&staged, file, record, id, &needs)?,
        };
        let locked = self.locked(wanted, &installed, description, staged.pinned, &download, choice, base)?;
        Ok((installed, (locked, needs.into_iter().map(|(id, _)| id).collect())))
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
        Err(fault(message)
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
        for id in self.entries.keys() {
            let is_kept = |kept: &LockedPlugin| kept.id(&id.source, &self.project) != *id;
            let is_taken = sources.contains(&id.source)
                || last.is_some_and(|last| last.source == id.source)
                || kept.plugins.get(&id.source.to_string()).is_some_and(is_kept);
            keys.insert(id, Lock::key(&self.project, id, is_taken && !required.contains(id)));
            last = Some(id);
        }
        let mut lock = kept;
        for (id, (locked, needs)) in &self.entries {
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
        staged: &StagedPlugin,
        file: FileName,
        record: Record,
        id: &PluginId,
        needs: &[(PluginId, Requirement)],
    ) -> Result<(Installed, Description)> {
        let source = id.source.clone();
        let target = place_of(self.root.path(), id, &file);
        let beside = [(IDENTITY_SUFFIX, record.text(&source, &file.version, &staged.pinned.content))];
        let description = match self.finish(id, staged, needs) {
            Ok(description) => description,
            Err(why) => {
                let why = staged.moved(why, &target);
                place::put_failed(self.root, &staged.path, &target, &beside, &why)?;
                return Err(why);
            }
        };
        let sum = place::put(self.root, &staged.path, &target, &beside)?;
        Ok((Installed { source, record, path: target, file, sum }, description))
    }

    /// Makes a staged plugin complete, and asks it what it does.
    fn finish(&self, id: &PluginId, staged: &StagedPlugin, needs: &[(PluginId, Requirement)]) -> Result<Description> {
        let path = &staged.path;
        if path.is_dir() {
            let work = self.root.stage()?;
            let manifest = Manifest::read(path)?;
            manifest.check_entry(path)?;
            runtime::prepare(&manifest, path, work.held(), self.options)?;
            self.link(path, needs)?;
        }
        let description = self.describe(path)?;
        let (home, asked) = (self.options.home(), &description.permissions);
        self.policy.trust.rule(&id.source, &id.origin)?.check_permissions(id, asked, home.as_deref())?;
        Ok(description)
    }

    /// Holds what a plugin needs to what it can call: programs. A bundle calls nothing: it brings
    /// what it depends on.
    fn check_callable(&self, plugin: &Path, needs: &[(PluginId, Requirement)]) -> Result<()> {
        if needs.is_empty() || is_bundle(plugin)? {
            return Ok(());
        }
        for (id, need) in needs {
            let Some(installed) = self.done.get(id).filter(|installed| installed.path.is_dir()) else {
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
    fn link(&self, plugin: &Path, needs: &[(PluginId, Requirement)]) -> Result<()> {
        if !plugin.is_dir() || is_bundle(plugin)? {
            return Ok(());
        }
        let mut given = Vec::new();
        for (id, need) in needs {
            if let Some(installed) = self.done.get(id) {
                let launch = installed.launch("").map_err(|why| fault(why.to_string()))?;
                given.push((need, installed, self.describe(&installed.path)?, launch));
            }
        }
        sdk::link(self.root, plugin, &given)
    }

    /// The description of a plugin, unpacked or installed.
    fn describe(&self, plugin: &Path) -> Result<Description> {
        if !plugin.is_dir() {
            return ask(Launch::new(plugin), self.options, &plugin.display().to_string());
        }
        let manifest = Manifest::read(plugin)?;
        match manifest.says_what() {
            true => Ok(manifest.description),
            false => {
                let said = ask(manifest.launch(plugin), self.options, &plugin.display().to_string())?;
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
            let description = ask(Launch::new(&staged.path), self.options, &staged.pinned.url)?;
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
        staged.check_signed_version(&version)?;
        if !wanted.constraint.allows(&version) {
            return Err(not_this(format!("it is v{version}; {} is required", wanted.constraint)));
        }
        Ok(FileName { name, version, api, platform })
    }

    /// The version that a plugin in a directory states itself, where neither its manifest nor a tag
    /// does.
    ///
    /// # Errors
    /// Its manifest has a description without a version, or the plugin does not describe itself.
    fn own_version(&self, manifest: &Manifest, staged: &StagedPlugin) -> Result<Version> {
        let unknown = |why: String| {
            let error = fault(format!("its version is not known: {why}"));
            error.hint(format!("put 'version: 1.2.3' into its {}", Manifest::name_in(&staged.path)))
        };
        if manifest.says_what() {
            return Err(unknown("its manifest does not name it".to_owned()));
        }
        let described = describe::describe(manifest, &staged.path, self.options);
        let description = described.map_err(|e| unknown(e.message().to_owned()))?;
        description.version.parse().map_err(|e: VersionError| unknown(e.to_string()))
    }

    /// The entry of a plugin in the lock file.
    #[expect(clippy::too_many_arguments, reason = "all that an installation has found out, once")]
    fn locked(
        &self,
        wanted: &Requirement,
        installed: &Installed,
        description: Description,
        pinned: LockedDownload,
        download: &Download,
        choice: &VersionChoice,
        base: &Base,
    ) -> Result<LockedPlugin> {
        let mut platforms = BTreeMap::from([(download.platform.to_string(), pinned)]);
        let (id, own) = (PluginId::of(wanted, base)?, installed.file.version.to_string());
        let known = self.known.of(&self.project, &id).filter(|known| known.version == own);
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
        let manifest = if installed.path.is_dir() { Some(Manifest::read(&installed.path)?) } else { None };
        let provides = match manifest.as_ref().is_some_and(Manifest::is_bundle) {
            // A bundle has each of its kinds in every role.
            true => description.generators.iter().map(|component| LockedComponent::new(None, component)).collect(),
            false => {
                description.components().map(|(role, component)| LockedComponent::new(Some(role), component)).collect()
            }
        };
        let runtime = manifest.map(|manifest| manifest.runtime.name().to_owned());
        let before = self.before.of(&self.project, &id).filter(|_| !self.allows_older);
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
    Err(fault(format!("more than {most} {what}, which is the limit")).hint("make one plugin of several"))
}

/// The download of a plugin for its record.
fn recorded(platform: &Platform, pinned: &LockedDownload) -> RecordedDownload {
    let LockedDownload { url, size, archive, .. } = pinned.clone();
    RecordedDownload { platform: platform.to_string(), url, size, archive }
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

fn ask(launch: Launch, options: &PluginOptions, shown: &str) -> Result<Description> {
    Description::ask(launch, options).map_err(|e| {
        let hint = match &e {
            DescribeError::Form(_) => "run with the argument 'describe' it prints one JSON object: {\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"generators\": [...], ...}",
            _ => "check that it is executable and built for this machine",
        };
        fault(format!("'{shown}' cannot be installed: {e}")).hint(hint)
    })
}
