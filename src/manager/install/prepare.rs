//! [`Preparer`]: the steps of an installation that are done for several plugins at once: choosing
//! versions, fetching, unpacking into a stage.

use crate::author::manifest::Manifest;
use crate::diag::{Code, Error, Result};
use crate::fetch::archive::unpack;
use crate::fetch::identity::PluginId;
use crate::fetch::origin::Origin;
use crate::fetch::{Base, Download, FetchedContent, Transfer, is_repository, unsigned};
use crate::id::content;
use crate::id::location::Location;
use crate::id::name::{PREFIX, Platform};
use crate::id::requirement::Requirement;
use crate::id::shell::in_directory;
use crate::id::source::Source;
use crate::id::version::Version;
use crate::install::InstallEvent;
use crate::policy::Policy;
use crate::policy::lock::{Lock, LockedDownload, LockedPlugin};
use crate::policy::trust::SignedBy;
use crate::store::discover::{Installed, candidates, choose};
use crate::store::exclusive::ExclusiveRoot;
use rustomize_base::shell::quoted;
use rustomize_files::{Directory, Temporary, shown};
use rustomize_plugins::failure::bad_plugin;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The directory in a stage that has the unpacked plugin.
const CONTENT: &str = "content";

/// Prepares plugins below one root. It writes only to stages of the root.
pub(super) struct Preparer<'i> {
    pub(super) root: &'i ExclusiveRoot,
    pub(super) transfer: &'i Transfer,
    pub(super) policy: &'i Policy,
    pub(super) known: &'i Lock,
    /// The directory with plugins.yaml, for the commands in hints.
    pub(super) project: &'i Path,
    pub(super) events: &'i (dyn Fn(InstallEvent<'_>) + Sync),
    /// True if an installed version is taken, where it is allowed, before others are asked for.
    pub(super) prefers_installed: bool,
    /// True if a lock entry with this machine's platform alone gets the others: what a build has
    /// locked of an installed plugin has no others.
    pub(super) completes: bool,
}

/// A version that a requirement allows, with its downloads.
pub(super) struct VersionChoice {
    /// `None` where only the plugin itself knows its version.
    pub(super) version: Option<Version>,
    /// The files of the version, by platform; empty until the choice is tried, unless it is locked.
    pub(super) downloads: Vec<Download>,
    /// The entry of the lock file, or the download of an installed plugin.
    pub(super) pinned: Option<LockedDownload>,
    /// True if the lock file has this version.
    pub(super) is_locked: bool,
    /// The files for this machine, if they were fetched before the choice is tried.
    pub(super) staged: Option<UnpackedPlugin>,
}

/// The files of a plugin that can be installed: unpacked in a stage, or installed already.
pub(super) struct UnpackedPlugin {
    /// The file or directory that is the plugin.
    pub(super) path: PathBuf,
    /// The plugin, if it is installed as it is locked, and was not fetched.
    pub(super) kept: Option<Installed>,
    pub(super) pinned: LockedDownload,
    /// The signer and the statement of the signature, where a signature is asked for.
    pub(super) signed: Option<SignedBy>,
    /// The directory of its own relative paths; that of the requirement for an archive and for a
    /// plugin that was not fetched.
    pub(super) base: Base,
    /// The directory that is removed with this value, if the plugin was fetched.
    pub(super) stage: Option<Temporary>,
    /// The address or the directory that it was fetched from, as errors show it.
    pub(super) shown: String,
}

impl UnpackedPlugin {
    /// An error with the plugin's place, where it names the stage.
    pub(super) fn moved(&self, e: Error, to: &Path) -> Error {
        e.with_path(&self.path.to_string_lossy(), &to.to_string_lossy())
    }

    /// Compares the version of a plugin with the version in its signature.
    ///
    /// # Errors
    /// The two versions differ.
    pub(super) fn check_signed_version(&self, version: &Version) -> Result<()> {
        match self.signed.as_ref().map(|signed| &signed.statement.version).filter(|signed| *signed != version) {
            None => Ok(()),
            Some(signed) => {
                let message = format!("the signature of '{}' is for v{signed}, and not for v{version}", self.shown);
                Err(bad_plugin(message).with_code(Code::PluginRefused).hint("nothing was installed"))
            }
        }
    }

    /// An error with the place that the plugin was fetched from, where it names the stage.
    pub(super) fn named(&self, e: Error) -> Error {
        match &self.stage {
            Some(stage) => e.with_path(&stage.path().join(CONTENT).to_string_lossy(), &self.shown),
            None => e,
        }
    }
}

impl Preparer<'_> {
    /// Chooses the versions that a requirement allows, best first, and stages the first of them.
    /// Relative paths are those of `base`.
    ///
    /// # Errors
    /// The source is not trusted, none of its versions is allowed, or the first of them cannot be
    /// fetched or unpacked.
    pub(super) fn prepare(&self, wanted: &Requirement, base: &Base) -> Result<Vec<VersionChoice>> {
        let id = PluginId::of(wanted, base)?;
        self.policy.trust.rule(&id.source, &id.origin)?;
        let location = wanted.location().map_err(|e| bad_plugin(e.to_string()))?;
        let mut choices = self.choices(wanted, &id, &location)?;
        if let Some(first) = choices.first_mut() {
            self.complete(wanted, first)?;
            if let Some(download) = first.download() {
                first.staged = Some(self.stage(wanted, first, download, base)?);
            }
        }
        Ok(choices)
    }

    /// Stages a choice: takes the installed plugin if it is as locked, and fetches it otherwise.
    ///
    /// # Errors
    /// The choice cannot be fetched or unpacked.
    pub(super) fn stage(
        &self,
        wanted: &Requirement,
        choice: &VersionChoice,
        download: &Download,
        base: &Base,
    ) -> Result<UnpackedPlugin> {
        match self.kept(wanted, choice, download, base)? {
            Some(kept) => Ok(kept),
            None => self.unpacked(wanted, download, base),
        }
    }

    /// Asks the source which files the chosen version has, unless the resolver already knew.
    ///
    /// # Errors
    /// The source does not answer.
    pub(super) fn complete(&self, wanted: &Requirement, choice: &mut VersionChoice) -> Result<()> {
        if choice.downloads.is_empty() {
            let location = wanted.location().map_err(|e| bad_plugin(e.to_string()))?;
            choice.downloads = self.transfer.downloads(&wanted.source, &location, choice.version.as_ref())?;
        }
        Ok(())
    }

    /// The installed plugin of a choice, if it is as locked, or was unpacked from the same
    /// download. Plugins of the tree may change, and are always read again.
    fn kept(
        &self,
        wanted: &Requirement,
        choice: &VersionChoice,
        download: &Download,
        base: &Base,
    ) -> Result<Option<UnpackedPlugin>> {
        if is_local(wanted) {
            return Ok(None);
        }
        let id = PluginId::of(wanted, base)?;
        let pinned = choice.pinned.clone().or_else(|| self.unpacked_before(&id, choice, download));
        let (Some(pinned), Some(version)) = (pinned, &choice.version) else { return Ok(None) };
        let installed = self.present(&id, version, &pinned.content);
        Ok(installed.map(|installed| UnpackedPlugin {
            path: installed.path.clone(),
            kept: Some(installed),
            pinned,
            signed: None,
            base: base.clone(),
            stage: None,
            shown: String::new(),
        }))
    }

    /// The lock entry of an installed plugin of this download. The address or the announced sum of
    /// the download has to say its content: behind another address there may be other bytes now.
    fn unpacked_before(&self, id: &PluginId, choice: &VersionChoice, download: &Download) -> Option<LockedDownload> {
        let (url, sum) = (&download.url, &download.sha256);
        if sum.is_none() && !is_repository(url) && !url.starts_with("oci://") {
            return None;
        }
        let found = candidates(self.root.path(), &id.source, &Platform::host());
        found.into_iter().filter_map(|candidate| candidate.verdict.ok()).find_map(|installed| {
            let known = pinned_by(&installed).filter(|_| installed.is_of(id))?;
            let is_same = known.url == *url && (sum.is_none() || known.archive == *sum);
            (is_same && Some(&installed.file.version) == choice.version.as_ref()).then_some(known)
        })
    }

    /// The installed version that a requirement without a lock entry takes.
    fn installed(&self, wanted: &Requirement, id: &PluginId) -> Option<VersionChoice> {
        let is_allowed = |installed: &Installed| {
            installed.meets(wanted, id)
                && installed.is_lockable(wanted, id)
                && self.policy.trust.check_installed(installed).is_ok()
        };
        let found = candidates(self.root.path(), &id.source, &Platform::host());
        let installed = choose(found, is_allowed)?;
        let (platform, pinned) = (&installed.record.download.as_ref()?.platform, pinned_by(&installed)?);
        let (os, arch) = platform.split_once('_')?;
        let download = pinned.download(Platform { os: os.to_owned(), arch: arch.to_owned() });
        let (version, downloads) = (Some(installed.file.version), vec![download]);
        Some(VersionChoice { version, downloads, pinned: Some(pinned), is_locked: false, staged: None })
    }

    /// The versions that a requirement allows, best first.
    fn choices(&self, wanted: &Requirement, id: &PluginId, location: &Location) -> Result<Vec<VersionChoice>> {
        let host = Platform::host();
        // A plugin of the tree may change, and is locked again unless the policy is frozen.
        let may_change = matches!(location, Location::Local(_)) && !self.policy.is_frozen;
        let known = self.known.of(self.project, id).filter(|locked| locked.from == wanted.from && !may_change);
        let known = known.filter(|locked| locked.version().is_some_and(|v| wanted.constraint.allows(&v)));
        if let Some(locked) = known {
            let Some((platform, pinned)) = locked.pinned(&host) else {
                let message = format!("plugins.lock has no file of v{} for {host}", locked.version);
                return Err(bad_plugin(message).hint(self.relock(wanted)));
            };
            let others = locked.platforms.iter().filter(|(name, _)| **name != platform.to_string());
            let others = others.filter_map(|(name, pinned)| {
                let (os, arch) = name.split_once('_')?;
                Some(pinned.download(Platform { os: os.to_owned(), arch: arch.to_owned() }))
            });
            self.check_urls(wanted, location, locked)?;
            let lacks_others = locked.platforms.len() == 1 && platform == host && !self.transfer.offline;
            let more = match self.completes && lacks_others {
                true => self.transfer.downloads(&wanted.source, location, locked.version().as_ref())?,
                false => Vec::new(),
            };
            let others = others.chain(more.into_iter().filter(|other| other.platform != host));
            let downloads = [pinned.download(platform.clone())].into_iter().chain(others).collect();
            return Ok(vec![VersionChoice {
                version: locked.version(),
                downloads,
                pinned: Some(pinned.clone()),
                is_locked: true,
                staged: None,
            }]);
        }
        if self.policy.is_frozen {
            let message = format!(
                "plugin '{}' is not locked as plugins.yaml requires it, and this command cannot change the lock",
                wanted.name
            );
            let command = in_directory("rustomize plugin lock", self.project);
            return Err(bad_plugin(message).hint(format!("lock it, then commit plugins.lock: {command}")));
        }
        // A version that was locked before says which ones are too old.
        if self.prefers_installed
            && !is_local(wanted)
            && self.known.of(self.project, id).is_none()
            && let Some(installed) = self.installed(wanted, id)
        {
            return Ok(vec![installed]);
        }
        let versions = match self.transfer.versions(&wanted.source, location)? {
            None => vec![wanted.constraint.exact()],
            Some(all) => {
                let allowed = all.iter().rev().filter(|version| wanted.constraint.allows(version));
                let allowed: Vec<Option<Version>> = allowed.cloned().map(Some).collect();
                if allowed.is_empty() {
                    let there: Vec<String> = all.iter().map(|version| format!("v{version}")).collect();
                    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                    return Err(bad_plugin(format!("no version is {}; the versions are: {there}", wanted.constraint))
                        .hint("correct 'version' of the requirement, or leave it out"));
                }
                allowed
            }
        };
        Ok(versions.into_iter().map(VersionChoice::of).collect())
    }

    /// Checks that the URLs of a lock file are those of the requirement, whose place is trusted.
    fn check_urls(&self, wanted: &Requirement, location: &Location, locked: &LockedPlugin) -> Result<()> {
        for (platform, pinned) in &locked.platforms {
            if location.gives(&wanted.source, &pinned.url, locked.version().as_ref(), platform) {
                continue;
            }
            let message =
                format!("plugins.lock fetches it from '{}', which is not where plugins.yaml fetches it", pinned.url);
            return Err(bad_plugin(message).hint(self.relock(wanted)));
        }
        Ok(())
    }

    /// The hint of an error that another choice of a version mends.
    fn relock(&self, wanted: &Requirement) -> String {
        let command = format!("rustomize plugin update {}", quoted(&wanted.name));
        format!("lock it again: {}", in_directory(&command, self.project))
    }

    /// An installed plugin with a version and a content, of the same origin.
    pub(super) fn present(&self, id: &PluginId, version: &Version, content: &str) -> Option<Installed> {
        let found = candidates(self.root.path(), &id.source, &Platform::host());
        let wanted = found.into_iter().filter_map(|c| c.verdict.ok()).filter(|installed| {
            installed.is_of(id)
                && installed.file.version == *version
                && installed.sum == content
                // A plugin that was installed before a signature was required is fetched again.
                && self.policy.trust.check_installed(installed).is_ok()
        });
        for installed in wanted {
            match installed.verify() {
                Ok(_) => return Some(installed),
                Err(why) => (self.events)(InstallEvent::Changed { source: &id.source, why: &why }),
            }
        }
        None
    }

    /// Fetches a download and unpacks it where it can be renamed from.
    pub(super) fn unpacked(&self, wanted: &Requirement, download: &Download, base: &Base) -> Result<UnpackedPlugin> {
        let (source, origin) = (&wanted.source, Origin::of(wanted, base)?);
        (self.events)(InstallEvent::Fetching { url: &download.url });
        let stage = self.root.stage()?;
        let content = stage.path().join(CONTENT);
        let made = stage.held().make_new(Path::new(CONTENT), 0o755);
        let made = made.map_err(|e| bad_plugin(format!("cannot write to '{}': {e}", content.display())))?;
        let fetched = self.transfer.fetch(download, base)?;
        let mut signed = None;
        let ruling = self.policy.trust.rule(source, &origin)?;
        ruling.check_age(&download.url, fetched.released, self.transfer.now())?;
        match &fetched.content {
            // Before the archive is unpacked.
            FetchedContent::Bytes(bytes) if ruling.wants_signature() => {
                let signature = self.transfer.signature(download)?;
                signed = Some(ruling.check_signature(download, source, bytes, &signature)?);
            }
            FetchedContent::Directory(_) if ruling.wants_signature() => return Err(unsigned(&download.url)),
            _ => {}
        }
        let fetched = fetched.content;
        let (size, archive) = match &fetched {
            FetchedContent::Bytes(bytes) => {
                unpack(&download.url, bytes, &format!("{PREFIX}{}", source.name()), &content)?;
                let sum = content::sha256(&bytes[..]).map_err(|e| bad_plugin(e.to_string()))?;
                (Some(bytes.len() as u64), Some(sum))
            }
            FetchedContent::Directory(directory) => {
                let cannot = |e: std::io::Error| bad_plugin(format!("cannot copy '{}': {e}", download.url));
                Directory::open(&directory.directory).and_then(|own| content::copy(&own, &made)).map_err(cannot)?;
                (None, None)
            }
        };
        let path = plugin_in(&content, source).ok_or_else(|| {
            let error = bad_plugin(format!("'{}' does not hold a plugin '{}'", download.url, source.name()));
            error.hint(format!(
                "it has to hold one file, a file '{PREFIX}{}...', or a directory with plugin.yaml",
                source.name()
            ))
        })?;
        let cannot = |e: std::io::Error| bad_plugin(format!("cannot read '{}': {e}", download.url));
        if let Some(own) = content::own_in(&path).map_err(cannot)? {
            let message = format!("'{}' holds '{own}', a name of files that belong to one machine", download.url);
            return Err(bad_plugin(message).hint("nothing was installed; its author has to leave that out"));
        }
        if !path.is_dir() {
            content::check_program(&path).map_err(|e| {
                let what = match &fetched {
                    FetchedContent::Bytes(_) => "it is neither an archive nor a program".to_owned(),
                    FetchedContent::Directory(_) => {
                        let name = shown(path.file_name().unwrap_or_default());
                        format!("it has no plugin.yaml, and its file '{name}' is not a program")
                    }
                };
                let message = format!("'{}' cannot be installed: {what}: {e}", download.url);
                bad_plugin(message).hint("a plugin is a program, an archive, or a directory with plugin.yaml")
            })?;
        }
        let sum = content::sum(&path).map_err(cannot)?;
        let files =
            if path.is_dir() { content::files(&path).map_err(cannot)? } else { vec![(String::new(), path.clone())] };
        let bytes = || files.iter().map(|(_, file)| file.metadata().map_or(0, |m| m.len())).sum();
        make_executable(&path).map_err(cannot)?;
        let pinned =
            LockedDownload { url: download.url.clone(), size: size.unwrap_or_else(bytes), archive, content: sum };
        let shown = match &fetched {
            FetchedContent::Directory(own) if is_local(wanted) => own.directory.display().to_string(),
            _ => download.url.clone(),
        };
        let base = base_of(fetched, base);
        Ok(UnpackedPlugin { path, kept: None, pinned, signed, base, stage: Some(stage), shown })
    }
}

impl VersionChoice {
    /// A version whose downloads are not known yet.
    fn of(version: Option<Version>) -> VersionChoice {
        VersionChoice { version, downloads: Vec::new(), pinned: None, is_locked: false, staged: None }
    }

    /// The file for this machine: that of its platform, or the one for every platform.
    pub(super) fn download(&self) -> Option<&Download> {
        let platforms = [Platform::host(), Platform::any()];
        platforms.into_iter().find_map(|p| self.downloads.iter().find(|a| a.platform == p))
    }
}

/// The lock entry of an installed plugin, if its record says where it came from.
fn pinned_by(installed: &Installed) -> Option<LockedDownload> {
    let known = installed.record.download.clone()?;
    let content = installed.sum.clone();
    Some(LockedDownload { url: known.url, size: known.size, archive: known.archive, content })
}

/// Maps items on some threads: the work waits for servers and disks. Results keep the order of the
/// items.
pub(super) fn side_by_side<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::default();
    let take_turns = || {
        while let Some((i, item)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?))) {
            let result = work(item);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((i, result));
        }
    };
    std::thread::scope(|scope| {
        // Where the system gives fewer threads, there are fewer turns at once.
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            if std::thread::Builder::new().spawn_scoped(scope, take_turns).is_err() {
                break;
            }
        }
        take_turns();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns whether a plugin is fetched from a path of the tree.
pub(super) fn is_local(need: &Requirement) -> bool {
    matches!(need.location(), Ok(Location::Local(_)))
}

/// Returns whether a plugin is fetched from a git repository of this machine.
pub(super) fn is_of_this_machine(need: &Requirement) -> bool {
    matches!(need.location(), Ok(Location::Git(spec)) if spec.is_of_this_machine())
}

/// The directory of a plugin's relative paths; for an archive, that of the requirement.
pub(super) fn base_of(content: FetchedContent, base: &Base) -> Base {
    match content {
        FetchedContent::Directory(own) => own,
        FetchedContent::Bytes(_) => base.clone(),
    }
}

/// The file or directory of the plugin in the fetched content.
fn plugin_in(content: &Path, source: &Source) -> Option<PathBuf> {
    if Manifest::is_in(content) {
        return Some(content.to_owned());
    }
    let entries: Vec<PathBuf> = fs::read_dir(content).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // Many archives hold one directory.
    if let [only] = entries.as_slice()
        && only.is_dir()
    {
        return plugin_in(only, source);
    }
    let files: Vec<&PathBuf> = entries.iter().filter(|path| path.is_file()).collect();
    let start = format!("{PREFIX}{}", source.name());
    let is_named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start));
    let named: Vec<&PathBuf> = files.iter().copied().filter(|path| is_named(path)).collect();
    match (named.as_slice(), files.as_slice()) {
        ([path], _) | ([], [path]) => Some((*path).clone()),
        _ => None,
    }
}

fn make_executable(path: &Path) -> std::io::Result<()> {
    if path.is_dir() { Ok(()) } else { rustomize_files::set_mode(path, 0o755) }
}
