//! Items back into the files of a directory.

use super::Item;
use super::annotations::{self, INDEX, PATH};
use super::function::set_path;
use super::write::{self, Writing};
use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use crate::load::path::{self, clean};
use rustomize_files::{self as files, Directory, Kind};
use rustomize_yaml::Arena;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The files of items, relative to their directory.
pub fn files(items: &[Item<'_>]) -> BTreeSet<String> {
    items.iter().filter_map(|item| annotations::get(item, PATH[0]).map(str::to_owned)).collect()
}

/// Writes items into the files that their annotations name, and removes the files of `before` that
/// no item names any more. Everything is printed and checked before anything is written; each file
/// is replaced in one step.
///
/// # Errors
/// A path leads out of the directory or through a link, or a file cannot be written.
pub fn write<'a>(arena: Arena<'a>, place: &Path, mut items: Vec<Item<'a>>, before: &BTreeSet<String>) -> Result<()> {
    let root = if place.is_dir() { place } else { files::folder_of(place) };
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
            *count = count.saturating_add(1);
            INDEX.into_iter().try_for_each(|key| annotations::set(arena, &mut item, key, &index))?;
        }
        by_file.entry(path).or_default().push(item);
    }
    let failed = |path: &str, e: &io::Error| Error::io(e, format!("'{}': {e}", root.join(path).display()));
    let directory = Directory::open(root).map_err(|e| failed("", &e))?;
    let (mut kept, mut changed) = (BTreeSet::new(), Vec::new());
    for (path, mut items) in by_file {
        let path = checked(&path, root)?;
        let index = |item: &Item<'_>| annotations::get(item, INDEX[0]).and_then(|index| index.parse::<i64>().ok());
        items.sort_by_key(index);
        let text = write::print(arena, &items, &Writing::default())?;
        if !is_written(&directory, &path, &text)? {
            changed.push((path.clone(), text));
        }
        kept.insert(path);
    }
    for (path, text) in &changed {
        replace(&directory, Path::new(path), text).map_err(|e| failed(path, &e))?;
    }
    for gone in before.iter().filter(|file| !kept.contains(&clean(file))) {
        let is_directory = directory.facts(Path::new(gone)).is_ok_and(|facts| facts.kind == Kind::Directory);
        if !is_directory {
            directory.remove(Path::new(gone)).map_err(|e| failed(gone, &e))?;
        }
    }
    Ok(())
}

/// The path of a file below the directory, without `.`, `..` and superfluous slashes.
fn checked(path: &str, root: &Path) -> Result<String> {
    let hint = "correct the annotation config.kubernetes.io/path, or the function that sets it";
    if path.starts_with('/') || path::is_absolute(path) {
        return Err(Error::new(Code::OutsideRoot, "package paths may not be absolute paths").hint(hint));
    }
    let cleaned = clean(path);
    if let Some(fault) = path::fault(path) {
        return Err(Error::new(Code::OutsideRoot, format!("'{path}' {fault}")).hint(hint));
    }
    // On Windows a path that begins with '\\' is cleaned to one of the whole drive.
    if cleaned.contains("..") || cleaned.starts_with('/') {
        let fault = format!("resource must be written under package {}: {cleaned}", root.display());
        return Err(Error::new(Code::OutsideRoot, fault).hint(hint));
    }
    Ok(cleaned)
}

/// Returns true if a file has this text already. A link to such a file counts as well.
fn is_written(directory: &Directory, path: &str, text: &str) -> Result<bool> {
    let hint = "write to plain files of the directory: nothing is written through a link";
    match directory.read(Path::new(path), FileLimit::default().0) {
        Ok(old) => Ok(old == text.as_bytes()),
        Err(e) if e.kind() == io::ErrorKind::IsADirectory => {
            let fault = format!("config.kubernetes.io/path cannot be a directory: {path}");
            Err(Error::new(Code::BadValue, fault))
        }
        Err(e) if files::is_refusal(&e) => match files::read(&directory.path().join(path), FileLimit::default().0) {
            Ok(old) if old == text.as_bytes() => Ok(true),
            _ => Err(Error::new(Code::Refused, e.to_string()).hint(hint)),
        },
        // The file does not exist, or cannot be replaced either.
        Err(_) => Ok(false),
    }
}

/// Writes a file in one step. Its permissions stay.
fn replace(directory: &Directory, path: &Path, text: &str) -> io::Result<()> {
    let mode = directory.facts(path).map_or(0o644, |facts| facts.mode);
    let folder = directory.make(path.parent().unwrap_or(Path::new("")), 0o777)?;
    files::sweep(&folder);
    folder.write(Path::new(path.file_name().unwrap_or_default()), text.as_bytes(), mode)
}
