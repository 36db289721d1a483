//! The two mounts of an environment: the files of all its bundles, by kind.
//!
//! `plugins` has the files of `plugin/`, which is laid out as a plugin home; `schemas` those of
//! `schemas/`.

use crate::author::bundle::{PLUGINS, SCHEMAS, is_schema, kinds};
use crate::diag::{Code, Error, Result};
use crate::id::content;
use crate::policy::environment::{Environment, MachineBundle};
use rustomize_files::{name_fault, shown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A mount: its name for clients, and the directory of a bundle that it has the files of.
pub const MOUNTS: [(&str, &str); 2] = [("plugins", PLUGINS), ("schemas", SCHEMAS)];

/// Where a server has the lists of its mounts, below its URL.
pub const LISTS: &str = "v3/file_metadatas";

/// Where a server has the contents of files, by their sums.
pub const CONTENTS: &str = "v3/file_content";

/// Returns whether a text is a SHA-256 in hex, as lists have it.
pub fn is_sum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// A file of a mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountedFile {
    /// Below the mount, with slashes.
    pub path: String,
    pub sha256: String,
    /// In bytes.
    pub size: u64,
    /// Its permissions, as a number.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}

impl MountedFile {
    /// Reads the list of a mount, which a server has sent. `url` names the list in errors.
    ///
    /// # Errors
    /// The text is not a list of files, or a file has a path, a mode or a sum that is refused.
    pub fn listed(text: &[u8], url: &str) -> Result<Vec<MountedFile>> {
        let files: Vec<MountedFile> = serde_json::from_slice(text)
            .map_err(|e| Error::new(Code::FetchFailed, format!("the answer of '{url}' is not a list of files: {e}")))?;
        files.iter().try_for_each(|file| file.check(url))?;
        Ok(files)
    }

    fn check(&self, url: &str) -> Result<()> {
        let MountedFile { path, sha256, mode, .. } = self;
        let refused = |what: &str| {
            let message = format!("'{url}' names the file '{}'{what}", shown(path.as_ref()));
            Err(Error::new(Code::Refused, message).hint("nothing was changed"))
        };
        let is_path = Path::new(path).components().all(|c| matches!(c, Component::Normal(_))) && !path.is_empty();
        if !is_path || path.contains('\\') {
            return refused(", which is not a path below the mount");
        }
        if mode & !0o777 != 0 {
            return refused(&format!(" with mode {mode:o}: a mode has permissions alone, at most 777"));
        }
        if let Some(fault) = name_fault(path.as_ref()) {
            return refused(&format!(", which {fault}"));
        }
        if !is_sum(sha256) {
            return refused(" without a SHA-256 in hex");
        }
        if mode & 0o400 == 0 {
            let message = format!("'{url}' names the file '{path}' with mode {mode:o}");
            return Err(Error::new(Code::Refused, message).hint("its owner could not read it: nothing was changed"));
        }
        Ok(())
    }
}

/// The files of a mount, by their path below it.
pub type Files = BTreeMap<String, PathBuf>;

/// The files of a mount, by their path below it. Files that the rules do not name are left out.
/// Of two directories of the module path the first counts, as in a build.
///
/// # Errors
/// A directory cannot be read, two bundles of one directory have plugins for one kind, or two
/// bundles have other schemas in files of one name.
pub fn files(environment: &Environment, mount: &str) -> io::Result<Files> {
    let Some((_, folder)) = MOUNTS.iter().find(|(name, _)| *name == mount) else { return Ok(BTreeMap::new()) };
    // Bundles that were synced from elsewhere are not served again.
    let own = Environment { synced: None, ..environment.clone() };
    let bundles = own.bundles().map_err(|e| io::Error::other(e.to_string()))?;
    let mut all: Files = BTreeMap::new();
    let mut owners: BTreeMap<String, &MachineBundle> = BTreeMap::new();
    for bundle in &bundles {
        let top = bundle.directory.join(folder);
        if !top.is_dir() {
            continue;
        }
        // Without links.
        let top = dunce::canonicalize(top)?;
        if mount == "schemas" {
            for (path, file) in content::files(&top)? {
                if !is_schema(&path) {
                    continue;
                }
                // A build reads the schemas of all bundles: none is left out.
                if let Some(other) = all.get(&path).filter(|other| !is_same(other, &file)) {
                    let message = format!("'{}' and '{}' have one name: rename one", other.display(), file.display());
                    return Err(io::Error::other(message));
                }
                all.insert(path, file);
            }
            continue;
        }
        for (kind, directory) in kinds(&top)? {
            // A plugin is of one bundle, and never mixed of two.
            match owners.get(&kind) {
                Some(other) if other.folder() != bundle.folder() => continue,
                Some(other) => {
                    let both = [other, bundle].map(|bundle| format!("'{}'", bundle.directory.display()));
                    let message = format!("{} have a plugin for '{kind}' each: leave one out", both.join(" and "));
                    return Err(io::Error::other(message));
                }
                None => drop(owners.insert(kind.clone(), bundle)),
            }
            for (path, file) in content::files(&directory)? {
                all.insert(format!("{kind}/{path}"), file);
            }
        }
    }
    Ok(all)
}

/// Returns whether two files can be read and have the same bytes.
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other)
}
