//! [`Installer`]: from a requirement to a plugin that runs (U37 to U45). It is the one way, whoever asks.
//!
//! For each requirement: resolve it to a version and what there is of that; fetch and unpack it; install what it needs; put it where it
//! is found and make what its language needs; ask it what it does. What came out of it is what the lock file says.

use super::archive::unpack;
use super::content;
use super::describe::{Command, DescribeError, Description};
use super::discover::{Installed, candidates};
use super::fetch::{Artifact, Base, Content, Transfer};
use super::location::Location;
use super::lock::{Lock, Locked, Pinned, Provided};
use super::manifest::Manifest;
use super::name::{FileName, PREFIX, Platform};
use super::permissions::Permissions;
use super::place::LockedRoot;
use super::requirements::Requirement;
use super::runtime;
use super::source::Source;
use super::trust::Trust;
use super::version::{Version, VersionError};
use crate::diag::{Error, ErrorKind, Result};
use crate::plugin::PluginOptions;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// What happens, for whoever watches.
#[derive(Debug)]
pub enum Event<'e> {
    /// Something is fetched.
    Fetching { url: &'e str },
    /// A plugin asks for what nothing grants yet.
    Asks { source: &'e Source, beyond: &'e Permissions },
    /// A plugin is there, and was before.
    Kept(&'e Installed),
    /// A plugin is there now.
    Installed(&'e Installed),
    /// A release is not what it is called; the next lower one is tried.
    Skipped { source: &'e Source, why: &'e Error },
}

/// Installs plugins below one root.
pub struct Installer<'i> {
    pub root: &'i LockedRoot,
    pub transfer: &'i Transfer,
    pub options: &'i PluginOptions,
    /// Whose plugins may be installed.
    pub trust: &'i Trust,
    /// What is locked already; its versions and sums are kept where the requirements allow them.
    pub known: Lock,
    /// Only what is locked is installed.
    pub is_frozen: bool,
    /// Whether the lock that comes out has all platforms, or this one.
    pub all_platforms: bool,
    /// Told what happens.
    pub events: &'i dyn Fn(Event<'_>),
    /// What was installed, and so is locked now.
    pub lock: Lock,
    /// The same, by source.
    pub done: BTreeMap<Source, Installed>,
}

/// Something that may be the version that is wanted.
struct Choice {
    version: Option<Version>,
    /// What there is of it; asked for when it is its turn, where it is not locked.
    artifacts: Vec<Artifact>,
    /// What it is locked as.
    pinned: Option<Pinned>,
}

/// A plugin that was fetched and lies in a directory of its own.
struct Unpacked {
    /// The file or directory that is the plugin.
    path: PathBuf,
    pinned: Pinned,
    /// Where its own relative paths begin.
    base: Base,
    /// What holds it.
    staged: TempDir,
}

fn fault(message: String) -> Error {
    Error::new(ErrorKind::Plugin, message)
}

impl<'i> Installer<'i> {
    /// One that has installed nothing yet, and that may lock what is not locked, for all platforms.
    pub fn new(
        root: &'i LockedRoot,
        transfer: &'i Transfer,
        options: &'i PluginOptions,
        trust: &'i Trust,
        events: &'i dyn Fn(Event<'_>),
    ) -> Self {
        let (known, lock, done) = Default::default();
        Installer { root, transfer, options, trust, known, is_frozen: false, all_platforms: true, events, lock, done }
    }

    /// Installs what is required, and what that needs. Relative paths are those of `base`.
    ///
    /// # Errors
    /// One cannot be resolved, fetched, unpacked or run. What was installed before it stays.
    pub fn install(&mut self, wanted: &[Requirement], base: &Base) -> Result<()> {
        self.install_below(wanted, base, &mut Vec::new())
    }

    fn install_below(&mut self, wanted: &[Requirement], base: &Base, chain: &mut Vec<Source>) -> Result<()> {
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
            return Err(fault(format!("plugins need each other in a circle: {circle}")));
        }
        if let Some(done) = self.done.get(&wanted.source) {
            if wanted.constraint.allows(&done.file.version) {
                return Ok(());
            }
            let message = format!("{} is wanted here, and v{} elsewhere", wanted.constraint, done.file.version);
            return Err(fault(message).hint("one build uses one version of a plugin: widen one of the constraints"));
        }
        self.trust.rule(&wanted.source)?;
        let location = wanted.location().map_err(|e| fault(e.to_string()))?;
        let mut last = None;
        for mut choice in self.choices(wanted, &location)? {
            if choice.artifacts.is_empty() {
                choice.artifacts = self.transfer.artifacts(&wanted.source, &location, choice.version.as_ref())?;
            }
            chain.push(wanted.source.clone());
            let tried = self.take(wanted, &choice, base, chain);
            chain.pop();
            match tried {
                Ok((installed, locked)) => {
                    self.lock.plugins.insert(wanted.source.to_string(), locked);
                    self.done.insert(wanted.source.clone(), installed);
                    return Ok(());
                }
                Err(Tried::NotThis(why)) if choice.pinned.is_none() => {
                    (self.events)(Event::Skipped { source: &wanted.source, why: &why });
                    last = Some(why);
                }
                Err(Tried::NotThis(why) | Tried::Failed(why)) => return Err(why),
            }
        }
        Err(last.unwrap_or_else(|| fault(format!("there is no version that is {}", wanted.constraint))))
    }

    /// What may be the version that is wanted, best first.
    fn choices(&self, wanted: &Requirement, location: &Location) -> Result<Vec<Choice>> {
        let host = Platform::host();
        // What lies in the tree may change, and is locked anew where that is meant to happen.
        let may_change = matches!(location, Location::Local(_)) && !self.is_frozen;
        let known = self.known.of(&wanted.source).filter(|locked| locked.from == wanted.from && !may_change);
        let known = known.filter(|locked| locked.version().is_some_and(|v| wanted.constraint.allows(&v)));
        if let Some(locked) = known {
            let Some((platform, pinned)) = locked.pinned(&host) else {
                let message = format!("plugins.lock has nothing of v{} for {host}", locked.version);
                return Err(
                    fault(message).hint(format!("lock it anew: rustomize plugin lock --upgrade {}", wanted.name))
                );
            };
            let others = locked.platforms.iter().filter(|(name, _)| **name != platform.to_string());
            let others = others.filter_map(|(name, pinned)| {
                let (os, arch) = name.split_once('_')?;
                Some(pinned.artifact(Platform { os: os.to_owned(), arch: arch.to_owned() }))
            });
            let artifacts = [pinned.artifact(platform.clone())].into_iter().chain(others).collect();
            return Ok(vec![Choice { version: locked.version(), artifacts, pinned: Some(pinned.clone()) }]);
        }
        if self.is_frozen {
            let message =
                "it is not locked, or as something that is not allowed any more, and what is locked may not change"
                    .to_owned();
            return Err(fault(message)
                .hint("run 'rustomize plugin lock' where that is meant to happen, and commit plugins.lock"));
        }
        let versions = match self.transfer.versions(&wanted.source, location)? {
            None => vec![wanted.constraint.exact()],
            Some(all) => {
                let allowed = all.iter().rev().filter(|version| wanted.constraint.allows(version));
                let allowed: Vec<Option<Version>> = allowed.cloned().map(Some).collect();
                if allowed.is_empty() {
                    let there: Vec<String> = all.iter().map(|version| format!("v{version}")).collect();
                    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                    return Err(fault(format!("there is no version that is {}; there is {there}", wanted.constraint)));
                }
                allowed
            }
        };
        Ok(versions.into_iter().map(|version| Choice { version, artifacts: Vec::new(), pinned: None }).collect())
    }

    fn take(
        &mut self,
        wanted: &Requirement,
        choice: &Choice,
        base: &Base,
        chain: &mut Vec<Source>,
    ) -> std::result::Result<(Installed, Locked), Tried> {
        let host = Platform::host();
        let artifact = [host.clone(), Platform::any()].into_iter();
        let artifact = artifact.into_iter().find_map(|p| choice.artifacts.iter().find(|a| a.platform == p));
        let Some(artifact) = artifact else {
            let there: Vec<String> = choice.artifacts.iter().map(|a| a.platform.to_string()).collect();
            return Err(Tried::NotThis(fault(format!("there is nothing for {host}, but for {}", there.join(", ")))));
        };
        if let (Some(pinned), Some(version)) = (&choice.pinned, &choice.version)
            && !is_local(wanted)
            && let Some(installed) = self.present(&wanted.source, version, &pinned.content)
        {
            let description = self.describe(&installed.path)?;
            let needs = self.needs(&installed.path, pinned.archive.is_some())?;
            // Where it came from is looked at only for paths that begin there.
            let own = match needs.iter().any(is_local) {
                true => base_of(self.transfer.fetch(artifact, base)?.content, base),
                false => base.clone(),
            };
            self.install_below(&needs, &own, chain)?;
            (self.events)(Event::Kept(&installed));
            let locked = self.locked(wanted, &installed, description, needs, pinned.clone(), artifact, choice, base)?;
            return Ok((installed, locked));
        }
        let unpacked = self.unpacked(&wanted.source, artifact, base)?;
        if let Some(pinned) = choice.pinned.as_ref().filter(|pinned| pinned.content != unpacked.pinned.content) {
            let found = &unpacked.pinned.content;
            let message =
                format!("'{}' is not what was locked: {found}, plugins.lock says {}", artifact.url, pinned.content);
            let hint = match is_local(wanted) {
                true => "run 'rustomize plugin lock' and commit plugins.lock",
                false => "somebody changed it: nothing was installed",
            };
            return Err(Tried::Failed(fault(message).hint(hint)));
        }
        let needs = self.needs(&unpacked.path, unpacked.pinned.archive.is_some())?;
        let file = self.file_name(wanted, choice, &unpacked)?;
        self.install_below(&needs, &unpacked.base, chain)?;
        let target = self.root.path().join(wanted.source.directory()).join(file.to_string());
        let source = wanted.source.clone();
        let (installed, description) = match self.present(&source, &file.version, &unpacked.pinned.content) {
            Some(there) => {
                (self.events)(Event::Kept(&there));
                let description = self.describe(&there.path)?;
                (there, description)
            }
            None => {
                // A plugin that cannot say what it does, or may not do it, is not installed.
                let finish = || {
                    if target.is_dir() {
                        runtime::prepare(&Manifest::read(&target)?, &target, self.options)?;
                    }
                    let description = self.describe(&target)?;
                    if let Some(rule) = self.trust.rule(&wanted.source)? {
                        rule.check_permissions(&wanted.source, &description.permissions)?;
                    }
                    Ok(description)
                };
                let (sum, description) = self.root.put(&unpacked.path, &target, finish)?;
                let installed = Installed { source, path: target, file, sum };
                (self.events)(Event::Installed(&installed));
                (installed, description)
            }
        };
        drop(unpacked.staged);
        let locked = self.locked(wanted, &installed, description, needs, unpacked.pinned, artifact, choice, base)?;
        Ok((installed, locked))
    }

    /// An installed plugin that is just what is wanted.
    fn present(&self, source: &Source, version: &Version, content: &str) -> Option<Installed> {
        let found = candidates(self.root.path(), source, &Platform::host()).into_iter().filter_map(|c| c.verdict.ok());
        let mut wanted = found.filter(|installed| installed.file.version == *version && installed.sum == content);
        wanted.find(|installed| installed.verify().is_ok())
    }

    /// What a plugin says of itself where it lies.
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

    /// The plugins that one needs.
    fn needs(&self, plugin: &Path, is_archive: bool) -> Result<Vec<Requirement>> {
        let needs = if plugin.is_dir() { Manifest::read(plugin)?.dependencies } else { Vec::new() };
        match needs.iter().find(|need| is_archive && is_local(need)) {
            Some(local) => {
                let message = format!(
                    "it needs '{}' from '{}', and an archive has no place where that is",
                    local.name, local.from
                );
                Err(fault(message).hint("its author has to say where that is released"))
            }
            None => Ok(needs),
        }
    }

    /// Which file a plugin becomes: it says itself which version it is, and is held to what it was taken for.
    fn file_name(
        &self,
        wanted: &Requirement,
        choice: &Choice,
        unpacked: &Unpacked,
    ) -> std::result::Result<FileName, Tried> {
        let name = wanted.source.name().to_owned();
        let not_this = |e: String| Tried::NotThis(fault(e));
        let (said, api, platform) = if unpacked.path.is_dir() {
            let manifest = Manifest::read(&unpacked.path)?;
            if !manifest.name.is_empty() && manifest.name != name {
                return Err(not_this(format!("it is the plugin '{}', not '{name}'", manifest.name)));
            }
            let platform = manifest.platform();
            (manifest.version, manifest.api, platform)
        } else {
            let command = Command::of_binary(&unpacked.path);
            let description = ask(&command, self.options, &unpacked.pinned.url)?;
            let wrong = |e: VersionError| not_this(format!("it says of its version: {e}"));
            let version: Version = description.version.parse().map_err(wrong)?;
            let api = description.api_version.parse().map_err(wrong)?;
            description.check(&version, api).map_err(|e| not_this(e.to_string()))?;
            (Some(version), api, Platform::host())
        };
        let version = match (said, &choice.version) {
            (Some(said), Some(taken)) if said != *taken => {
                return Err(not_this(format!("it says that it is v{said}, and was taken for v{taken}")));
            }
            (Some(said), _) => said,
            (None, Some(taken)) => taken.clone(),
            (None, None) => {
                let error = fault("nothing says which version it is".to_owned());
                return Err(Tried::Failed(error.hint("put 'version: 1.2.3' into its plugin.yaml")));
            }
        };
        if !wanted.constraint.allows(&version) {
            return Err(not_this(format!("it is v{version}, wanted is {}", wanted.constraint)));
        }
        Ok(FileName { name, version, api, platform })
    }

    /// Fetches an artifact and unpacks it where it can be renamed from.
    fn unpacked(&self, source: &Source, artifact: &Artifact, base: &Base) -> Result<Unpacked> {
        (self.events)(Event::Fetching { url: &artifact.url });
        let staged = self.root.stage()?;
        let content = staged.path().join("content");
        fs::create_dir(&content).map_err(|e| fault(format!("cannot write to '{}': {e}", content.display())))?;
        let fetched = self.transfer.fetch(artifact, base)?;
        if let Some(rule) = self.trust.rule(source)? {
            rule.check_age(&artifact.url, fetched.released, SystemTime::now())?;
            match &fetched.content {
                // Before anything of it is unpacked.
                Content::Bytes(bytes) if rule.wants_signature() => {
                    rule.check_signature(&artifact.url, bytes, &self.transfer.signature(artifact)?)?;
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
            let error = fault(format!("'{}' holds no plugin '{}'", artifact.url, source.name()));
            error
                .hint(format!("it is one file, a file '{PREFIX}{}...', or a directory with plugin.yaml", source.name()))
        })?;
        let cannot = |e: std::io::Error| fault(format!("cannot read '{}': {e}", artifact.url));
        let sum = content::sum(&path).map_err(cannot)?;
        let files =
            if path.is_dir() { content::files(&path).map_err(cannot)? } else { vec![(String::new(), path.clone())] };
        let bytes = || files.iter().map(|(_, file)| file.metadata().map_or(0, |m| m.len())).sum();
        make_executable(&path).map_err(cannot)?;
        let pinned = Pinned { url: artifact.url.clone(), size: size.unwrap_or_else(bytes), archive, content: sum };
        Ok(Unpacked { path, pinned, base: base_of(fetched, base), staged })
    }

    /// What the lock file says of a plugin.
    #[expect(clippy::too_many_arguments, reason = "all that an installation has found out, once")]
    fn locked(
        &self,
        wanted: &Requirement,
        installed: &Installed,
        description: Description,
        needs: Vec<Requirement>,
        pinned: Pinned,
        artifact: &Artifact,
        choice: &Choice,
        base: &Base,
    ) -> Result<Locked> {
        let mut platforms = BTreeMap::from([(artifact.platform.to_string(), pinned)]);
        let known = self.known.of(&wanted.source).filter(|known| known.version == installed.file.version.to_string());
        for other in choice.artifacts.iter().filter(|other| other.platform != artifact.platform) {
            let name = other.platform.to_string();
            let pinned = match known.and_then(|known| known.platforms.get(&name)).filter(|_| choice.pinned.is_some()) {
                Some(known) => known.clone(),
                None if !self.all_platforms => continue,
                None => match self.unpacked(&wanted.source, other, base) {
                    Ok(unpacked) => unpacked.pinned,
                    // No list has promised it: there is none for that platform.
                    Err(e) if e.kind() == ErrorKind::Absent => continue,
                    Err(e) => return Err(e.context(format!("locking it for {name}"))),
                },
            };
            platforms.insert(name, pinned);
        }
        let beyond =
            self.trust.ungranted(&wanted.source, &description.permissions, &self.options.isolation.permissions())?;
        if !beyond.is_empty() {
            (self.events)(Event::Asks { source: &wanted.source, beyond: &beyond });
        }
        let provides = description.components().map(|(role, component)| Provided {
            role,
            name: component.name.clone(),
            api_version: component.api_version.clone(),
            kind: component.kind.clone(),
        });
        let runtime = if installed.path.is_dir() {
            Some(Manifest::read(&installed.path)?.runtime.name().to_owned())
        } else {
            None
        };
        Ok(Locked {
            version: installed.file.version.to_string(),
            api: installed.file.api.to_string(),
            constraint: wanted.constraint.to_string(),
            from: wanted.from.clone(),
            runtime,
            provides: provides.collect(),
            permissions: description.permissions.clone(),
            dependencies: needs.iter().map(|need| need.source.to_string()).collect(),
            platforms,
        })
    }
}

fn is_local(need: &Requirement) -> bool {
    matches!(need.location(), Ok(Location::Local(_)))
}

/// Where the relative paths of a plugin begin: an archive has no place of its own.
fn base_of(content: Content, base: &Base) -> Base {
    match content {
        Content::Directory(own) => own,
        Content::Bytes(_) => base.clone(),
    }
}

/// Why a choice was not taken.
enum Tried {
    /// It is not what it was taken for: another may be.
    NotThis(Error),
    Failed(Error),
}

impl From<Error> for Tried {
    fn from(e: Error) -> Self {
        Tried::Failed(e)
    }
}

fn ask(command: &Command, options: &PluginOptions, shown: &str) -> Result<Description> {
    Description::ask(command, options).map_err(|e| {
        let hint = match &e {
            DescribeError::Form(_) => "run with the argument 'describe' it prints one JSON object: {\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"generators\": [...], ...}",
            _ => "is it executable, and for this machine?",
        };
        fault(format!("'{shown}' is no plugin that can be installed: {e}")).hint(hint)
    })
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
