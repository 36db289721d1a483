//! Installing for a directory: what its `plugins.yaml` requires, one plugin, one plugin more.

use super::Installer;
use crate::diag::{Error, Result};
use crate::fetch::Base;
use crate::fetch::identity::PluginId;
use crate::id::name::Platform;
use crate::id::requirement::Requirement;
use crate::id::shell::in_directory;
use crate::id::source::Source;
use crate::id::version::Constraint;
use crate::load::clean;
use crate::load::path::is_absolute;
use crate::policy::Policy;
use crate::policy::amend::quoted;
use crate::policy::lock::{self, Lock};
use crate::policy::project_directory::ProjectDirectory;
use crate::policy::requirements::{self, Requirements};
use crate::store::discover::{Installed, candidates, choose};
use crate::store::record::AskedBy;
use rustomize_files::atomic;
use rustomize_files::{self as files, RECORD};
use rustomize_plugins::failure::bad_plugin;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

/// The locked versions that an installation may replace.
#[derive(Clone, Copy, Debug)]
pub enum Upgrade<'u> {
    /// None that the requirements still allow.
    Nothing,
    All,
    /// The versions of the plugins with these names.
    Named(&'u [String]),
}

/// Options of locking a directory.
#[derive(Clone, Debug)]
pub struct RelockOptions<'r> {
    pub upgrade: Upgrade<'r>,
    /// Lets a new version be lower than a locked one.
    pub allows_older: bool,
    /// Leaves the file as it is.
    pub is_check: bool,
    /// The digests of the images of container functions.
    pub images: BTreeMap<String, String>,
}

/// A plugin to add to a `plugins.yaml`.
#[derive(Clone, Debug)]
pub struct Addition<'a> {
    /// The name for the file.
    pub name: &'a str,
    pub source: Source,
    /// Any version: what is found decides.
    pub constraint: Constraint,
    /// The place that the plugin is fetched from; empty for the releases of its source.
    pub from: &'a str,
}

/// The requirements of a directory, which has to have the file.
///
/// # Errors
/// The file is missing, or does not have its form.
pub fn required(directory: &Path) -> Result<Vec<Requirement>> {
    let path = directory.join(requirements::FILE);
    if path.is_file() {
        return Ok(Requirements::read(directory)?.plugins);
    }
    Err(bad_plugin(format!("'{}' does not exist", clean(&path.to_string_lossy())))
        .hint("it is the file that requires plugins for a kustomization")
        .hint(format!(
            "require a plugin, which makes the file: {}",
            in_directory("rustomize plugin add SOURCE", directory)
        ))
        .hint("install a plugin without it: rustomize plugin install SOURCE"))
}

/// An installed plugin of the user that will do for a requirement: one that its constraint allows,
/// or a higher version than the exact one that it names.
///
/// # Errors
/// The requirement's `from` is not valid.
pub fn sufficient(root: &Path, wanted: &Requirement, base: &Base, policy: &Policy) -> Result<Option<Installed>> {
    let (id, exact) = (PluginId::of(wanted, base)?, wanted.constraint.exact());
    let constraint = if exact.is_some() { Constraint::default() } else { wanted.constraint.clone() };
    let any = Requirement { constraint, ..wanted.clone() };
    // What another project or plugin brought becomes the user's when it is installed by name.
    let is_there = |installed: &Installed| {
        installed.meets(&any, &id)
            && installed.record.asked_by == AskedBy::User
            && exact.as_ref().is_none_or(|exact| installed.file.version >= *exact)
            && policy.trust.check_installed(installed).is_ok()
    };
    Ok(choose(candidates(root, &id.source, &Platform::host()), is_there))
}

/// The requirement of one plugin that no file requires.
pub fn alone(source: Source, constraint: Constraint, from: String) -> Requirement {
    let name = source.name().to_owned();
    Requirement { name, source, constraint, from, parameters: String::new(), provides: Vec::new(), place: None }
}

/// The ids of required plugins.
fn ids(wanted: &[Requirement], base: &Base) -> Result<HashSet<PluginId>> {
    wanted.iter().map(|wanted| PluginId::of(wanted, base)).collect()
}

impl Installer<'_> {
    /// Begins the work on a project, with the lock that it has.
    fn begin(&mut self, directory: &Path, lock: Option<Lock>) {
        directory.clone_into(&mut self.project);
        self.known = lock.unwrap_or_default();
        self.before = self.known.clone();
    }

    /// Begins the work on a project whose installed plugins stay as they are. A lock that may
    /// change gets the sums for all platforms.
    fn take_installed(&mut self, directory: &Path, lock: Option<Lock>) {
        self.begin(directory, lock);
        self.prefers_installed = true;
        self.all_platforms = !self.policy.is_frozen;
    }

    /// Installs what the `plugins.yaml` of a directory requires, and locks what was not locked.
    ///
    /// # Errors
    /// A plugin cannot be installed; or only locked plugins may be, and nothing is locked.
    pub fn install_project(&mut self, directory: &ProjectDirectory) -> Result<()> {
        let wanted = Requirements::read_in(directory)?.plugins;
        let known = Lock::read_in(directory)?;
        let directory = directory.path.as_path();
        if self.policy.is_frozen && known.is_none() {
            let path = directory.join(lock::FILE);
            let shown = clean(&path.to_string_lossy());
            let message = format!("'{shown}' does not exist, and only locked plugins may be installed");
            let command = in_directory("rustomize plugin lock", directory);
            return Err(bad_plugin(message).hint(format!("write it, then commit it: {command}")));
        }
        self.take_installed(directory, known.clone());
        let base = Base::new(directory);
        self.install(&wanted, &base)?;
        self.lock = self.keyed(&ids(&wanted, &base)?, Lock::default());
        self.lock.images.clone_from(&self.known.images);
        if !self.policy.is_frozen && known.as_ref() != Some(&self.lock) {
            self.lock.write(directory)?;
        }
        Ok(())
    }

    /// Installs one of the plugins that the `plugins.yaml` of a directory requires, and locks it.
    ///
    /// # Errors
    /// The plugin cannot be installed.
    pub fn install_required(&mut self, directory: &Path, wanted: Requirement) -> Result<()> {
        let known = Lock::read(directory)?;
        self.take_installed(directory, known.clone());
        let base = Base::new(directory);
        self.install(&[wanted], &base)?;
        if self.policy.is_frozen {
            return Ok(());
        }
        let all = ids(&Requirements::read(directory)?.plugins, &base)?;
        self.lock = self.keyed(&all, self.known.clone());
        if known.as_ref() == Some(&self.lock) { Ok(()) } else { self.lock.write(directory) }
    }

    /// Installs one plugin that no file requires: see [`alone`]. Relative locations are those of
    /// `directory`.
    ///
    /// # Errors
    /// The plugin cannot be installed.
    pub fn install_alone(&mut self, directory: &Path, wanted: Requirement) -> Result<()> {
        self.all_platforms = false;
        self.asked_by = AskedBy::User;
        self.install(&[wanted], &Base::new(directory))
    }

    /// Makes the lock of a directory: the exact versions and sums of its requirements, and the
    /// digests of images. Gives whether it differs from the file.
    ///
    /// # Errors
    /// A plugin cannot be installed, or a name is not one of `plugins.yaml` or of an image.
    pub fn lock_project(&mut self, directory: &Path, relock: &RelockOptions<'_>) -> Result<bool> {
        let RelockOptions { upgrade, allows_older, is_check, ref images } = *relock;
        let has_file = directory.join(requirements::FILE).is_file();
        // A directory may have images to lock and no plugins.
        let wanted = if images.is_empty() || has_file { required(directory)? } else { Vec::new() };
        let old = Lock::read(directory)?;
        self.begin(directory, old.clone());
        self.allows_older = allows_older;
        self.completes = !self.policy.is_frozen;
        if let Upgrade::Named(names) = upgrade
            && let Some(unknown) =
                names.iter().find(|name| !images.contains_key(*name) && !wanted.iter().any(|w| w.name == **name))
        {
            let known: Vec<&str> = wanted.iter().map(|w| w.name.as_str()).collect();
            let message =
                format!("{} does not name a plugin '{unknown}', and no image has that name", requirements::FILE);
            return Err(bad_plugin(message).hint(format!("it names {}", known.join(", "))));
        }
        match upgrade {
            Upgrade::Nothing => {}
            Upgrade::All => self.known.plugins.clear(),
            Upgrade::Named(names) => {
                let mut by_source: BTreeMap<String, &String> = BTreeMap::new();
                for w in &wanted {
                    by_source.entry(w.source.to_string()).or_insert(&w.name);
                }
                let is_named = |key: &String| by_source.get(key).is_some_and(|name| names.contains(name));
                self.known.plugins.retain(|key, _| !is_named(key));
            }
        }
        self.all_platforms = true;
        let base = Base::new(directory);
        self.install(&wanted, &base)?;
        self.lock = self.keyed(&ids(&wanted, &base)?, Lock::default());
        self.lock.images.clone_from(images);
        let is_other = old.as_ref() != Some(&self.lock);
        if is_other && !is_check {
            self.lock.write(directory)?;
        }
        Ok(is_other)
    }

    /// Installs one plugin more, adds it to the `plugins.yaml` of a directory, and locks it.
    /// Without a constraint the file gets the compatible versions of the one that was found, as
    /// with cargo. No file changes before the plugin is installed.
    ///
    /// # Errors
    /// The file has it already, or the plugin cannot be installed.
    pub fn add(&mut self, directory: &Path, addition: &Addition<'_>) -> Result<()> {
        let Addition { name, source, constraint, from } = addition;
        let path = directory.join(requirements::FILE);
        let cannot = |e: io::Error| Error::io(&e, format!("cannot read '{}': {e}", path.display()));
        let old = match files::read_text(&path, RECORD) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(cannot)?,
        };
        let line = |constraint: &str| {
            let version =
                if constraint.is_empty() { String::new() } else { format!(", version: {}", quoted(constraint)) };
            let from = if from.is_empty() { String::new() } else { format!(", from: {}", quoted(from)) };
            format!("{{source: {source}{version}{from}}}")
        };
        let said = if constraint.is_any() { String::new() } else { constraint.to_string() };
        let text = requirements::with(&old, name, &line(&said))?;
        let wanted = Requirements::parse(&path.display().to_string(), text.clone())?.plugins;
        self.begin(directory, Lock::read(directory)?);
        self.all_platforms = true;
        let base = Base::new(directory);
        self.install(&wanted, &base)?;
        self.lock = self.keyed(&ids(&wanted, &base)?, Lock::default());
        self.lock.images.clone_from(&self.known.images);
        let added = wanted.iter().find(|wanted| wanted.name == *name);
        let added = added.map(|wanted| PluginId::of(wanted, &base)).transpose()?;
        let found = added.and_then(|id| self.done.get(&id)).map(|done| done.installed.file.version.to_string());
        let is_released = !from.starts_with('.') && !is_absolute(from) && !from.contains("{version}");
        let compatible = found.filter(|_| constraint.is_any() && is_released).map(|version| {
            let (minor, _) = version.rsplit_once('.').unwrap_or((&version, ""));
            format!("~> {minor}")
        });
        let text = match compatible {
            None => text,
            Some(compatible) => {
                if let Some(locked) = self.lock.plugins.get_mut(&source.to_string()) {
                    locked.constraint.clone_from(&compatible);
                }
                requirements::with(&old, name, &line(&compatible))?
            }
        };
        let cannot = |e: io::Error| Error::io(&e, format!("cannot write '{}': {e}", path.display()));
        atomic::write(&path, text.as_bytes(), 0o644).map_err(cannot)?;
        self.lock.write(directory)
    }
}
