//! The two mounts of an environment: the files of all its bundles, by kind (M09).
//!
//! `plugins` has the files of `plugin/`, which is laid out as a plugin home; `schemas` those of
//! `schemas/`.

use crate::manager::id::content;
use crate::manager::policy::environment::{Environment, is_schema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A mount: its name for clients, and the directory of a bundle that it has the files of.
pub const MOUNTS: [(&str, &str); 2] = [("plugins", "plugin"), ("schemas", "schemas")];

/// A file of a mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
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

/// The files of a mount, by their path below it.
pub type Files = BTreeMap<String, PathBuf>;

/// The files of a mount, by their path below it. What is not named by the rules is left out (M28);
/// of bundles that have the same the first counts.
///
/// # Errors
/// A directory cannot be read.
pub fn files(environment: &Environment, mount: &str) -> io::Result<Files> {
    let Some((_, folder)) = MOUNTS.iter().find(|(name, _)| *name == mount) else { return Ok(BTreeMap::new()) };
    // What was synced from elsewhere is not served again.
    let own = Environment { synced: None, ..environment.clone() };
    let bundles = own.bundles().map_err(|e| io::Error::other(e.to_string()))?;
    let mut all = BTreeMap::new();
    for bundle in bundles {
        let top = bundle.directory.join(folder);
        if !top.is_dir() {
            continue;
        }
        // Without links.
        let top = fs::canonicalize(top)?;
        if mount == "schemas" {
            for (path, file) in content::files(&top)? {
                if is_schema(&path) {
                    all.entry(path).or_insert(file);
                }
            }
            continue;
        }
        for (kind, directory) in kinds(&top)? {
            let prefix = format!("{kind}/");
            // A plugin is of one bundle, and never mixed of two.
            if all.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix)) {
                continue;
            }
            for (path, file) in content::files(&directory)? {
                all.insert(format!("{prefix}{path}"), file);
            }
        }
    }
    Ok(all)
}

/// The directories of plugins in one that is laid out as a plugin home: those with an executable or
/// a shared object that is named as they are.
///
/// # Errors
/// It cannot be read.
pub fn kinds(home: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    Ok(sorted_out(home)?.0)
}

/// The directories in it that hold files and no plugin that is named as they are.
///
/// # Errors
/// It cannot be read.
pub fn strays(home: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(sorted_out(home)?.1)
}

/// The directories with plugins, each with its kind, and those with something else.
type SortedOut = (Vec<(String, PathBuf)>, Vec<PathBuf>);

fn sorted_out(home: &Path) -> io::Result<SortedOut> {
    let (mut found, mut strays) = SortedOut::default();
    let mut queue = vec![(String::new(), home.to_owned())];
    while let Some((path, directory)) = queue.pop() {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut below = Vec::new();
        let (mut is_kind, mut has_files) = (false, false);
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let file = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                below.push((if path.is_empty() { file } else { format!("{path}/{file}") }, entry.path()));
            } else {
                let bare = file.strip_suffix(".so").unwrap_or(&file);
                has_files = true;
                is_kind |= !path.is_empty() && bare.to_lowercase() == name;
            }
        }
        match (is_kind, has_files) {
            (true, _) => found.push((path, directory)),
            (false, true) => {
                strays.push(directory);
                queue.extend(below);
            }
            (false, false) => queue.extend(below),
        }
    }
    found.sort();
    strays.sort();
    Ok((found, strays))
}
