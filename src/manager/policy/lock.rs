//! [`Lock`]: `plugins.lock`, the file beside `plugins.yaml` that records exactly what was
//! installed.
//!
//! Its entries are by plugin, which is a source and an origin: what `plugins.yaml` requires has its
//! source as its key, and so has a dependency, unless the key is one of another plugin.
//!
//! It is JSON, with sorted keys and one value on a line: what two people add merges
//! without a conflict.

use super::project_directory::ProjectDirectory;
use crate::author::describe::{Component, Role};
use crate::author::manifest::BUNDLE_RUNTIME;
use crate::diag::{Code, Error, Result};
use crate::fetch::identity::PluginId;
use crate::fetch::origin::Origin;
use crate::fetch::{Base, Download};
use crate::id::location::Location;
use crate::id::name::Platform;
use crate::id::shell::in_directory;
use crate::id::source::Source;
use crate::id::version::Version;
use rustomize_base::shell::quoted;
use rustomize_files::atomic;
use rustomize_plugins::permissions::Permissions;
use rustomize_yaml::Place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "plugins.lock";

/// The form of the file.
const LOCK_VERSION: u32 = 1;

/// All plugins that a `plugins.yaml` needs, and those that they need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lock {
    lock_version: u32,
    /// By source, or `SOURCE from ORIGIN`: see [`Lock::key`].
    pub plugins: BTreeMap<String, LockedPlugin>,
    /// The digests of container functions' images, by their names as they are written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
}

/// The entry of a plugin: its version, and a download with its sums for each platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LockedPlugin {
    pub version: String,
    /// The highest version that was locked before, if that is another one: going back to a lower
    /// version than this needs a word of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest: Option<String>,
    /// The version of the interface, as in `x1.0`.
    pub api: String,
    /// The constraint of the requirement; for people.
    pub constraint: String,
    /// Where it is fetched from, as the requirement says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// The place that a dependency came from, where `from` does not say it: a path in the directory
    /// of another plugin. A path begins in the directory of the lock.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// The parameters that each call gets, as JSON.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// The runtime, if the plugin is a directory; `bundle` for a bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    pub provides: Vec<LockedComponent>,
    /// The permissions that it asks for.
    #[serde(default, skip_serializing_if = "Permissions::is_empty")]
    pub permissions: Permissions,
    /// The keys of the plugins that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// By `<os>_<arch>`, or `any_any`.
    pub platforms: BTreeMap<String, LockedDownload>,
}

/// A component of a locked plugin: a kind that it provides, or a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LockedComponent {
    /// `None` for the plugins of a bundle, which may take every role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// A download that was fetched and unpacked once, with its sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LockedDownload {
    pub url: String,
    /// In bytes; of a directory, those of its files.
    pub size: u64,
    /// The SHA-256 of what the URL gives; none for a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// The sum of the unpacked plugin: see [`crate::id::content::sum`].
    pub content: String,
}

impl Default for Lock {
    fn default() -> Self {
        Lock { lock_version: LOCK_VERSION, plugins: BTreeMap::new(), images: BTreeMap::new() }
    }
}

impl Lock {
    /// Reads the file of a directory; `None` without one.
    ///
    /// # Errors
    /// The file cannot be read, or is malformed.
    pub fn read(directory: &Path) -> Result<Option<Lock>> {
        Lock::read_in(&ProjectDirectory::named(directory))
    }

    /// As [`Lock::read`], of a directory whose files may have to belong to the user.
    ///
    /// # Errors
    /// As [`Lock::read`] and [`ProjectDirectory::read`].
    pub fn read_in(directory: &ProjectDirectory) -> Result<Option<Lock>> {
        let text = directory.read(FILE)?;
        text.map(|text| Lock::parse(&directory.path.join(FILE).display().to_string(), text.as_bytes())).transpose()
    }

    /// Reads the text of a lock file, which errors call `shown`.
    ///
    /// # Errors
    /// The text is not a lock.
    pub fn parse(shown: &str, text: &[u8]) -> Result<Lock> {
        let lock: Lock = serde_json::from_slice(text).map_err(|e| {
            let place = Place { file: shown.to_owned(), line: e.line(), column: e.column() };
            let directory = Path::new(shown).parent().unwrap_or(Path::new(""));
            let again = in_directory("rustomize plugin lock", directory);
            Error::new(Code::NotYaml, format!("'{shown}' is not a valid lock file: {e}"))
                .at(Some(place))
                .hint(format!("if a merge broke it, write it again: rm {} && {again}", quoted(shown)))
        })?;
        if lock.lock_version != LOCK_VERSION {
            let message = format!(
                "'{shown}' has lockVersion {}; this version of rustomize reads {LOCK_VERSION}",
                lock.lock_version
            );
            let place = Place { file: shown.to_owned(), line: 1, column: 1 };
            return Err(Error::new(Code::BadValue, message).at(Some(place)).hint(
                match lock.lock_version > LOCK_VERSION {
                    true => "a newer rustomize wrote it: install that version",
                    false => "delete the file, then write it with 'rustomize plugin lock'",
                },
            ));
        }
        Ok(lock)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Writes the file of a directory, in one step.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let path = directory.join(FILE);
        atomic::write(&path, self.text().as_bytes(), 0o644)
            .map_err(|e| Error::io(&e, format!("cannot write '{}': {e}", path.display())))
    }

    /// The entry of a plugin, for the lock of a directory. O(entries of its source).
    pub fn of(&self, directory: &Path, id: &PluginId) -> Option<&LockedPlugin> {
        self.of_source(&id.source).find(|locked| locked.id(&id.source, directory) == *id)
    }

    /// The entries of a source: several, if its plugins come from several places.
    pub fn of_source(&self, source: &Source) -> impl Iterator<Item = &LockedPlugin> {
        let (plain, from) = (source.to_string(), format!("{source}{FROM}"));
        let end = format!("{from}{}", char::MAX);
        self.plugins.get(&plain).into_iter().chain(self.plugins.range(from..end).map(|(_, locked)| locked))
    }

    /// The key for a plugin: its source, or with its origin if `is_taken` says that the source is
    /// the key of another plugin.
    pub fn key(directory: &Path, id: &PluginId, is_taken: bool) -> String {
        match (is_taken, id.origin.written_in(directory)) {
            (false, _) => id.source.to_string(),
            (true, place) if place.is_empty() => format!("{}{FROM}its own place{}", id.source, id.within),
            (true, place) => format!("{}{FROM}{place}{}", id.source, id.within),
        }
    }
}

/// What stands between a source and an origin in a key. No source has a blank.
const FROM: &str = " from ";

/// The source of a key of [`Lock::plugins`].
pub fn source_of(key: &str) -> &str {
    key.split_once(FROM).map_or(key, |(source, _)| source)
}

impl LockedPlugin {
    /// Returns whether it is a bundle.
    pub fn is_bundle(&self) -> bool {
        self.runtime.as_deref() == Some(BUNDLE_RUNTIME)
    }

    /// Which plugin it is, as the lock of a directory says it.
    pub fn id(&self, source: &Source, directory: &Path) -> PluginId {
        let said = match Location::parse(&self.from) {
            Ok(location) => PluginId::at(source, &location, &Base::new(directory)),
            Err(_) => PluginId { origin: Origin::Elsewhere(self.from.clone()), ..PluginId::own(source.clone()) },
        };
        match self.origin.is_empty() {
            true => said,
            false => PluginId { origin: Origin::read_in(&self.origin, directory), ..said },
        }
    }

    /// The version, if the file holds one.
    pub fn version(&self) -> Option<Version> {
        self.version.parse().ok()
    }

    /// The versions that were locked: this one, and the highest before.
    pub fn versions_seen(&self) -> impl Iterator<Item = Version> {
        [Some(&self.version), self.highest.as_ref()].into_iter().flatten().filter_map(|text| text.parse().ok())
    }

    /// The entry for a platform: its own, or the one for every platform.
    pub fn pinned(&self, host: &Platform) -> Option<(Platform, &LockedDownload)> {
        [host.clone(), Platform::any()].into_iter().find_map(|p| Some((p.clone(), self.platforms.get(&p.to_string())?)))
    }
}

impl LockedComponent {
    /// The entry of a component.
    pub fn new(role: Option<Role>, component: &Component) -> LockedComponent {
        let (name, api_version, kind) = (component.name.clone(), component.api_version.clone(), component.kind.clone());
        LockedComponent { role, name, api_version, kind }
    }
}

impl LockedDownload {
    /// The download that a lock file names.
    pub fn download(&self, platform: Platform) -> Download {
        let size = self.archive.is_some().then_some(self.size);
        Download { platform, url: self.url.clone(), size, sha256: self.archive.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::Lock;
    use std::fs;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Lock::read(folder.path()).unwrap(), None);
        Lock::default().write(folder.path()).unwrap();
        assert_eq!(Lock::read(folder.path()).unwrap(), Some(Lock::default()));
        for (text, words) in [
            ("{", "not a valid lock file"),
            ("{\"lockVersion\": 2, \"plugins\": {}}", "lockVersion 2"),
            ("{\"lockVersion\": 1, \"plugins\": {}, \"x\": 1}", "unknown field"),
        ] {
            fs::write(folder.path().join("plugins.lock"), text).unwrap();
            let error = Lock::read(folder.path()).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
