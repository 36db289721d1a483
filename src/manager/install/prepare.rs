//! [`Preparer`]: what of an installation can be done for several plugins at once: finding versions,
//! fetching, unpacking.

use crate::diag::{Code, Error, Result};
use crate::manager::author::manifest::Manifest;
use crate::manager::fetch::archive::unpack;
use crate::manager::fetch::origin::Origin;
use crate::manager::fetch::{Artifact, Base, Content, Transfer};
use crate::manager::id::content;
use crate::manager::id::location::Location;
use crate::manager::id::name::{PREFIX, Platform};
use crate::manager::id::requirement::Requirement;
use crate::manager::id::shell::{in_directory, quoted};
use crate::manager::id::source::Source;
use crate::manager::id::version::Version;
use crate::manager::install::Event;
use crate::manager::policy::Policy;
use crate::manager::policy::lock::{Lock, Locked, Pinned};
use crate::manager::store::discover::{Installed, candidates};
use crate::manager::store::locked::LockedRoot;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use tempfile::TempDir;

/// Prepares plugins below one root. It changes nothing but what lies in the root's place for that.
pub(super) struct Preparer<'i> {
    pub(super) root: &'i LockedRoot,
    pub(super) transfer: &'i Transfer,
    pub(super) policy: &'i Policy,
    pub(super) known: &'i Lock,
    /// The directory with plugins.yaml, for the commands in hints.
    pub(super) project: &'i Path,
    pub(super) events: &'i (dyn Fn(Event<'_>) + Sync),
}

/// What was found out and fetched for a requirement.
pub(super) struct Prepared {
    /// What may be the version that is wanted, best first.
    pub(super) choices: Vec<Choice>,
    /// The first of them, if there is something of it for this machine.
    pub(super) ready: Option<Ready>,
}

/// What is there of a choice.
pub(super) enum Ready {
    /// It is installed as what it is locked as, and stays.
    Kept(Installed, Pinned),
    Unpacked(Unpacked),
}

/// Something that may be the version that is wanted.
pub(super) struct Choice {
    pub(super) version: Option<Version>,
    /// What there is of it; asked for when it is its turn, where it is not locked.
    pub(super) artifacts: Vec<Artifact>,
    /// What it is locked as.
    pub(super) pinned: Option<Pinned>,
}

/// A plugin that was fetched and lies in a directory of its own.
pub(super) struct Unpacked {
    /// The file or directory that is the plugin.
    pub(super) path: PathBuf,
    pub(super) pinned: Pinned,
    /// The key that has signed it, where a signature is asked for.
    pub(super) signer: Option<String>,
    /// Where it came from.
    pub(super) origin: Origin,
    /// Where its own relative paths begin.
    pub(super) base: Base,
    /// What holds it.
    pub(super) _staged: TempDir,
}

fn fault(message: String) -> Error {
    Error::new(Code::Plugin, message)
}

impl Preparer<'_> {
    /// Prepares what is required. Relative paths are those of `base`.
    ///
    /// # Errors
    /// Its source is not trusted, there is no version that is wanted, or the first one cannot be
    /// fetched or unpacked.
    pub(super) fn prepare(&self, wanted: &Requirement, base: &Base) -> Result<Prepared> {
        self.policy.trust.rule(&wanted.source, &Origin::of(wanted, base)?)?;
        let location = wanted.location().map_err(|e| fault(e.to_string()))?;
        let mut choices = self.choices(wanted, &location)?;
        let mut ready = None;
        if let Some(first) = choices.first_mut() {
            self.complete(wanted, first)?;
            if let Some(artifact) = first.artifact() {
                ready = Some(self.ready(wanted, first, artifact, base)?);
            }
        }
        Ok(Prepared { choices, ready })
    }

    /// What is installed of a choice, or else what was fetched of it.
    ///
    /// # Errors
    /// It cannot be fetched or unpacked.
    pub(super) fn ready(
        &self,
        wanted: &Requirement,
        choice: &Choice,
        artifact: &Artifact,
        base: &Base,
    ) -> Result<Ready> {
        match self.kept(wanted, choice, base)? {
            Some((installed, pinned)) => Ok(Ready::Kept(installed, pinned)),
            None => self.unpacked(wanted, artifact, base).map(Ready::Unpacked),
        }
    }

    /// Finds out what there is of a choice, where that is not known.
    ///
    /// # Errors
    /// It cannot be asked for.
    pub(super) fn complete(&self, wanted: &Requirement, choice: &mut Choice) -> Result<()> {
        if choice.artifacts.is_empty() {
            let location = wanted.location().map_err(|e| fault(e.to_string()))?;
            choice.artifacts = self.transfer.artifacts(&wanted.source, &location, choice.version.as_ref())?;
        }
        Ok(())
    }

    /// What is installed of a choice, and stays. What lies in the tree is looked at anew.
    fn kept(&self, wanted: &Requirement, choice: &Choice, base: &Base) -> Result<Option<(Installed, Pinned)>> {
        let pinned = choice.pinned.as_ref().filter(|_| !is_local(wanted));
        let (Some(pinned), Some(version)) = (pinned, &choice.version) else { return Ok(None) };
        let installed = self.present(&wanted.source, &Origin::of(wanted, base)?, version, &pinned.content);
        Ok(installed.map(|installed| (installed, pinned.clone())))
    }

    /// What may be the version that is wanted, best first.
    fn choices(&self, wanted: &Requirement, location: &Location) -> Result<Vec<Choice>> {
        let host = Platform::host();
        // What lies in the tree may change, and is locked anew where that is meant to happen.
        let may_change = matches!(location, Location::Local(_)) && !self.policy.is_frozen;
        let known = self.known.of(&wanted.source).filter(|locked| locked.from == wanted.from && !may_change);
        let known = known.filter(|locked| locked.version().is_some_and(|v| wanted.constraint.allows(&v)));
        if let Some(locked) = known {
            let Some((platform, pinned)) = locked.pinned(&host) else {
                let message = format!("plugins.lock has no file of v{} for {host}", locked.version);
                return Err(fault(message).hint(self.relock(wanted)));
            };
            let others = locked.platforms.iter().filter(|(name, _)| **name != platform.to_string());
            let others = others.filter_map(|(name, pinned)| {
                let (os, arch) = name.split_once('_')?;
                Some(pinned.artifact(Platform { os: os.to_owned(), arch: arch.to_owned() }))
            });
            self.check_urls(wanted, location, locked)?;
            let artifacts = [pinned.artifact(platform.clone())].into_iter().chain(others).collect();
            return Ok(vec![Choice { version: locked.version(), artifacts, pinned: Some(pinned.clone()) }]);
        }
        if self.policy.is_frozen {
            let message =
                "it is not locked as plugins.yaml requires it, and this command cannot change the lock".to_owned();
            let command = in_directory("rustomize plugin lock", self.project);
            return Err(fault(message).hint(format!("lock it, then commit plugins.lock: {command}")));
        }
        let versions = match self.transfer.versions(&wanted.source, location)? {
            None => vec![wanted.constraint.exact()],
            Some(all) => {
                let allowed = all.iter().rev().filter(|version| wanted.constraint.allows(version));
                let allowed: Vec<Option<Version>> = allowed.cloned().map(Some).collect();
                if allowed.is_empty() {
                    let there: Vec<String> = all.iter().map(|version| format!("v{version}")).collect();
                    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                    return Err(fault(format!("no version is {}; the versions are: {there}", wanted.constraint)));
                }
                allowed
            }
        };
        Ok(versions.into_iter().map(|version| Choice { version, artifacts: Vec::new(), pinned: None }).collect())
    }

    /// Holds the URLs of a lock file to what the requirement says: trust is in the place that is
    /// named there.
    fn check_urls(&self, wanted: &Requirement, location: &Location, locked: &Locked) -> Result<()> {
        for (platform, pinned) in &locked.platforms {
            if location.gives(&wanted.source, &pinned.url, locked.version().as_ref(), platform) {
                continue;
            }
            let message =
                format!("plugins.lock fetches it from '{}', which is not where plugins.yaml fetches it", pinned.url);
            return Err(fault(message).hint(self.relock(wanted)));
        }
        Ok(())
    }

    /// The hint of an error that another choice of a version mends.
    fn relock(&self, wanted: &Requirement) -> String {
        let command = format!("rustomize plugin update {}", quoted(&wanted.name));
        format!("lock it again: {}", in_directory(&command, self.project))
    }

    /// An installed plugin that is just what is wanted, and came from there.
    pub(super) fn present(
        &self,
        source: &Source,
        origin: &Origin,
        version: &Version,
        content: &str,
    ) -> Option<Installed> {
        let found = candidates(self.root.path(), source, &Platform::host()).into_iter().filter_map(|c| c.verdict.ok());
        let mut wanted = found.filter(|installed| installed.file.version == *version && installed.sum == content);
        // What was installed before a signature was asked for is fetched anew.
        let is_trusted =
            |there: &Installed| there.origin() == *origin && self.policy.trust.check_installed(there).is_ok();
        wanted.find(|installed| is_trusted(installed) && installed.verify().is_ok())
    }

    /// Fetches an artifact and unpacks it where it can be renamed from.
    pub(super) fn unpacked(&self, wanted: &Requirement, artifact: &Artifact, base: &Base) -> Result<Unpacked> {
        let (source, origin) = (&wanted.source, Origin::of(wanted, base)?);
        (self.events)(Event::Fetching { url: &artifact.url });
        let staged = self.root.stage()?;
        let content = staged.path().join("content");
        fs::create_dir(&content).map_err(|e| fault(format!("cannot write to '{}': {e}", content.display())))?;
        let fetched = self.transfer.fetch(artifact, base)?;
        let mut signer = None;
        if let Some(rule) = self.policy.trust.rule(source, &origin)? {
            rule.check_age(&artifact.url, fetched.released, SystemTime::now())?;
            match &fetched.content {
                // Before anything of it is unpacked.
                Content::Bytes(bytes) if rule.wants_signature() => {
                    let signature = self.transfer.signature(artifact)?;
                    signer = Some(rule.check_signature(&artifact.url, bytes, &signature)?.to_owned());
                }
                Content::Directory(_) if rule.wants_signature() => drop(self.transfer.signature(artifact)?),
                _ => {}
            }
        }
        let fetched = fetched.content;
        let (size, archive) = match &fetched {
            Content::Bytes(bytes) => {
                unpack(&artifact.url, bytes, &format!("{PREFIX}{}", source.name()), &content)?;
                let sum = content::sha256(&bytes[..]).map_err(|e| fault(e.to_string()))?;
                (Some(bytes.len() as u64), Some(sum))
            }
            Content::Directory(directory) => {
                let cannot = |e: std::io::Error| fault(format!("cannot copy '{}': {e}", artifact.url));
                content::copy(&directory.directory, &content).map_err(cannot)?;
                (None, None)
            }
        };
        let path = plugin_in(&content, source).ok_or_else(|| {
            let error = fault(format!("'{}' does not hold a plugin '{}'", artifact.url, source.name()));
            error.hint(format!(
                "it has to hold one file, a file '{PREFIX}{}...', or a directory with plugin.yaml",
                source.name()
            ))
        })?;
        let cannot = |e: std::io::Error| fault(format!("cannot read '{}': {e}", artifact.url));
        if let Some(own) = content::own_in(&path).map_err(cannot)? {
            let message = format!("'{}' holds '{own}', a name of files that belong to one machine", artifact.url);
            return Err(fault(message).hint("nothing was installed; its author has to leave that out"));
        }
        let sum = content::sum(&path).map_err(cannot)?;
        let files =
            if path.is_dir() { content::files(&path).map_err(cannot)? } else { vec![(String::new(), path.clone())] };
        let bytes = || files.iter().map(|(_, file)| file.metadata().map_or(0, |m| m.len())).sum();
        make_executable(&path).map_err(cannot)?;
        let pinned = Pinned { url: artifact.url.clone(), size: size.unwrap_or_else(bytes), archive, content: sum };
        Ok(Unpacked { path, pinned, signer, origin, base: base_of(fetched, base), _staged: staged })
    }
}

impl Choice {
    /// What there is of it for this machine.
    pub(super) fn artifact(&self) -> Option<&Artifact> {
        let platforms = [Platform::host(), Platform::any()];
        platforms.into_iter().find_map(|p| self.artifacts.iter().find(|a| a.platform == p))
    }
}

/// Does something for each of several items, for some of them at once, and gives what came out of
/// it in their order.
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

/// Whether what is needed lies beside what needs it.
pub(super) fn is_local(need: &Requirement) -> bool {
    matches!(need.location(), Ok(Location::Local(_)))
}

/// Whether what is needed lies in a repository that git reads from this machine.
pub(super) fn is_of_this_machine(need: &Requirement) -> bool {
    matches!(need.location(), Ok(Location::Git(spec)) if spec.is_of_this_machine())
}

/// Where the relative paths of a plugin begin: an archive has no place of its own.
pub(super) fn base_of(content: Content, base: &Base) -> Base {
    match content {
        Content::Directory(own) => own,
        Content::Bytes(_) => base.clone(),
    }
}

/// The file or directory in what was fetched that is the plugin.
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

#[cfg(unix)]
fn make_executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if path.is_dir() { Ok(()) } else { fs::set_permissions(path, fs::Permissions::from_mode(0o755)) }
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
