//! Items back into the files of a directory.

use super::annotations::{self, INDEX, PATH};
use super::function::set_path;
use super::write::{self, Writing};
use super::{Item, read};
use crate::atomic;
use crate::diag::{Code, Error, Result};
use crate::yaml::Arena;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of items, relative to their directory.
pub fn files(items: &[Item<'_>]) -> BTreeSet<String> {
    items.iter().filter_map(|item| annotations::get(item, PATH[0]).map(str::to_owned)).collect()
}

/// Writes items into the files that their annotations name, and removes the files of `before` that
/// have none any more. Everything is printed and checked before anything is written; each file is
/// replaced in one step.
///
/// # Errors
/// A path leads out of the directory, or a file cannot be written.
pub fn write<'a>(arena: Arena<'a>, place: &Path, mut items: Vec<Item<'a>>, before: &BTreeSet<String>) -> Result<()> {
    let root = if place.is_dir() { place } else { place.parent().unwrap_or(Path::new(".")) };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for item in &mut items {
        set_path(arena, item, "")?;
        let path = annotations::get(item, PATH[0]).unwrap_or_default().to_owned();
        if let Some(index) = annotations::get(item, INDEX[0]).and_then(|index| index.parse::<usize>().ok()) {
            let count = counts.entry(path).or_default();
            *count = (*count).max(index);
        }
    }
    let mut by_file: BTreeMap<String, Vec<Item<'a>>> = BTreeMap::new();
    for mut item in items {
        let path = annotations::get(&item, PATH[0]).unwrap_or_default().to_owned();
        if annotations::get(&item, INDEX[0]).is_none() {
            let count = counts.entry(path.clone()).or_default();
            let index = count.to_string();
            *count += 1;
            INDEX.into_iter().try_for_each(|key| annotations::set(arena, &mut item, key, &index))?;
        }
        by_file.entry(path).or_default().push(item);
    }
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    for (path, mut items) in by_file {
        check(&path, root)?;
        let index = |item: &Item<'_>| annotations::get(item, INDEX[0]).and_then(|index| index.parse::<i64>().ok());
        items.sort_by_key(index);
        let text = write::print(arena, &items, &Writing::default())?;
        texts.push((root.join(path), text));
    }
    for (path, text) in &texts {
        let failed = |e: std::io::Error| Error::io(&e, format!("'{}': {e}", path.display()));
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
            continue;
        }
        atomic::write(path, text.as_bytes(), 0o644).map_err(failed)?;
    }
    for gone in before.iter().filter(|file| !texts.iter().any(|(path, _)| *path == root.join(file))) {
        let path = root.join(gone);
        fs::remove_file(&path).map_err(|e| Error::io(&e, format!("'{}': {e}", path.display())))?;
    }
    Ok(())
}

/// Refuses a path that leads out of the directory, directly or through a link.
fn check(path: &str, root: &Path) -> Result<()> {
    if path.starts_with('/') {
        return Err(Error::new(Code::OutsideRoot, "package paths may not be absolute paths"));
    }
    let cleaned = read::clean(path);
    if cleaned.contains("..") {
        let fault = format!("resource must be written under package {}: {cleaned}", root.display());
        return Err(Error::new(Code::OutsideRoot, fault));
    }
    if root.join(path).is_dir() {
        let fault = format!("config.kubernetes.io/path cannot be a directory: {path}");
        return Err(Error::new(Code::BadValue, fault));
    }
    // The nearest directory that exists has to be in the root when links are followed.
    let mut directory = root.join(&cleaned);
    while directory.pop() && !directory.exists() {}
    let real = |path: &Path| fs::canonicalize(path).ok();
    match (real(&directory), real(root)) {
        (Some(directory), Some(root)) if directory.starts_with(&root) => Ok(()),
        _ => {
            let fault = format!("a link in the path '{path}' leads out of {}", root.display());
            Err(Error::new(Code::OutsideRoot, fault))
        }
    }
}
