//! [`Lock`]: `plugins.lock`, which stands beside `plugins.yaml` and says exactly what was
//! installed.
//!
//! It is JSON, by source, with sorted keys and one value on a line: what two people add merges
//! without a conflict.

use crate::atomic;
use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use crate::manager::author::describe::Role;
use crate::manager::author::manifest::BUNDLE_RUNTIME;
use crate::manager::fetch::Artifact;
use crate::manager::id::name::Platform;
use crate::manager::id::source::Source;
use crate::manager::id::version::Version;
use crate::plugin::permissions::Permissions;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
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
    /// By source.
    pub plugins: BTreeMap<String, Locked>,
    /// The digests of container functions' images, by their names as they are written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Locked {
    pub version: String,
    /// The version of the interface, as in `x1.0`.
    pub api: String,
    /// What the requirements allowed; for people.
    pub constraint: String,
    /// Where it is fetched from, as the requirement says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// What it is told in each call, as JSON.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub parameters: String,
    /// What runs it, if it is a directory; `bundle` for a bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    pub provides: Vec<Provided>,
    /// What it asks for.
    #[serde(default, skip_serializing_if = "Permissions::is_empty")]
    pub permissions: Permissions,
    /// The sources of the plugins that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// By `<os>_<arch>`, or `any_any`.
    pub platforms: BTreeMap<String, Pinned>,
}

/// One thing that a plugin does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provided {
    pub role: Role,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// What there is for a platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pinned {
    pub url: String,
    /// In bytes; of a directory, those of its files.
    pub size: u64,
    /// The SHA-256 of what the URL gives; none for a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// The sum of the unpacked plugin: see [`crate::manager::id::content::sum`].
    pub content: String,
}

impl Default for Lock {
    fn default() -> Self {
        Lock { lock_version: LOCK_VERSION, plugins: BTreeMap::new(), images: BTreeMap::new() }
    }
}

impl Lock {
    /// Reads the one of a directory; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not of its form.
    pub fn read(directory: &Path) -> Result<Option<Lock>> {
        let path = directory.join(FILE);
        let text = match FileLimit::default().read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::new(Code::Io, format!("cannot read '{}': {e}", path.display()))),
        };
        Lock::parse(&path.display().to_string(), &text).map(Some)
    }

    /// Reads the text of a lock file, which errors call `shown`.
    ///
    /// # Errors
    /// It is not of its form.
    pub fn parse(shown: &str, text: &[u8]) -> Result<Lock> {
        let lock: Lock = serde_json::from_slice(text).map_err(|e| {
            Error::new(Code::Input, format!("'{shown}' is not a valid lock file: {e}"))
                .hint("if a merge broke it, delete the file, then write it again: rustomize plugin lock")
        })?;
        if lock.lock_version != LOCK_VERSION {
            let message = format!(
                "'{shown}' has lockVersion {}; this version of rustomize reads {LOCK_VERSION}",
                lock.lock_version
            );
            return Err(Error::new(Code::Input, message));
        }
        Ok(lock)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Writes the one of a directory, in one step.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let path = directory.join(FILE);
        atomic::write(&path, self.text().as_bytes(), 0o644)
            .map_err(|e| Error::new(Code::Io, format!("cannot write '{}': {e}", path.display())))
    }

    /// What is locked for a source.
    pub fn of(&self, source: &Source) -> Option<&Locked> {
        self.plugins.get(&source.to_string())
    }
}

impl Locked {
    /// Whether it is a bundle.
    pub fn is_bundle(&self) -> bool {
        self.runtime.as_deref() == Some(BUNDLE_RUNTIME)
    }

    /// The version, if the file holds one.
    pub fn version(&self) -> Option<Version> {
        self.version.parse().ok()
    }

    /// What there is for a machine.
    pub fn pinned(&self, host: &Platform) -> Option<(Platform, &Pinned)> {
        [host.clone(), Platform::any()].into_iter().find_map(|p| Some((p.clone(), self.platforms.get(&p.to_string())?)))
    }
}

impl Pinned {
    /// As what it is fetched.
    pub fn artifact(&self, platform: Platform) -> Artifact {
        let size = self.archive.is_some().then_some(self.size);
        Artifact { platform, url: self.url.clone(), size, sha256: self.archive.clone() }
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
