//! Advice for paths that lead nowhere: the file or directory that was most likely meant.

use super::kustomization_file;
use super::loader::{Entry, Loader};
use super::path::clean;
use crate::diag::{Code, Diagnostic, Error, nearest};
use rustomize_base::windows_path::slashed;
use std::path::{Path, PathBuf};

/// The beginnings of addresses.
const SCHEMES: [&str; 6] = ["https", "http", "ssh", "git", "oci", "file"];

/// The error about a missing file, with the name of a file or directory that may be meant, where
/// nothing is at `place`. Other errors stay as they are. O(entries of the directory).
pub(super) fn advised(error: Error, loader: &dyn Loader, place: &Path, typed: &str) -> Error {
    if error.code() != Code::MissingFile {
        return error;
    }
    error.hint(advice(loader, place, typed).unwrap_or_else(|| match typed.starts_with('/') {
        true => "write a path relative to the directory of the file that names it".to_owned(),
        false => OTHERWISE.to_owned(),
    }))
}

/// The first file in a directory, in the order of names. O(entries of the directory).
pub(super) fn file_in(loader: &dyn Loader, directory: &Path) -> Option<String> {
    let entries = loader.list(directory).unwrap_or_default().into_iter();
    entries.filter(|entry| !entry.is_directory).filter_map(|entry| entry.name.into_string().ok()).min()
}

/// The advice about a path that is a pattern.
pub const PATTERN: &str = "patterns are not expanded: list each file";

/// The advice about a path that resembles nothing.
const OTHERWISE: &str = "add it, or correct its path, which begins in the directory of the file that names it";

/// At most this many directories are listed in a hint.
const LISTED: usize = 5;

/// Directories are looked for in this many levels below one, and at most this many in a level.
const LEVELS: usize = 3;
const LOOKED_AT: usize = 1000;

/// The error about a directory that a user has named and that does not exist, with the directories
/// near it that have a kustomization, unless the error names one that may be meant. O(entries of
/// the directories that are looked at).
pub(super) fn advised_of_roots(error: Error, loader: &dyn Loader, place: &Path) -> Error {
    let is_unadvised = |fault: &Diagnostic| {
        let is_general = |hint: &String| hint == OTHERWISE || hint.starts_with("write a path relative");
        fault.code() == Code::MissingFile && fault.hints().iter().all(is_general)
    };
    error.advised(|fault| {
        is_unadvised(fault).then(|| match roots_near(loader, place)[..] {
            [] => "name a directory with a kustomization: no directory near it has one".to_owned(),
            [ref only] if Path::new(only).file_name() == place.file_name() => format!("did you mean '{only}'?"),
            [ref only] => format!("'{only}' has a kustomization"),
            ref some => format!("directories that have a kustomization: {}", some.join(", ")),
        })
    })
}

/// The directories with a kustomization that a path to nothing may mean: those with its last name,
/// else the first ones. They are below the nearest directory above that exists. O(directories that
/// are looked at).
fn roots_near(loader: &dyn Loader, place: &Path) -> Vec<String> {
    let named = |path: &Path| if path.as_os_str().is_empty() { Path::new(".").to_owned() } else { path.to_owned() };
    let above = place.ancestors().skip(1).map(named).find(|above| loader.directory(above).is_ok());
    let Some(above) = above else { return Vec::new() };
    let below = |directory: &Path| -> Vec<PathBuf> {
        let entries = loader.list(directory).unwrap_or_default().into_iter();
        let is_seen = |entry: &Entry| entry.is_directory && !entry.name.to_string_lossy().starts_with('.');
        let mut found: Vec<PathBuf> = entries.filter(is_seen).map(|entry| directory.join(entry.name)).collect();
        found.sort();
        found
    };
    let is_root = |path: &&PathBuf| kustomization_file::name_in(loader, path).is_some();
    let (mut level, mut roots) = (vec![above], Vec::new());
    for _ in 0..LEVELS {
        level = level.iter().flat_map(|directory| below(directory)).take(LOOKED_AT).collect();
        roots.extend(level.iter().filter(is_root).cloned());
    }
    let shown = |path: &PathBuf| slashed(path.strip_prefix(".").unwrap_or(path).to_owned()).display().to_string();
    let is_same = |root: &&PathBuf| root.file_name() == place.file_name();
    let same: Vec<String> = roots.iter().filter(is_same).map(shown).collect();
    let found = if same.is_empty() { roots.iter().map(shown).collect() } else { same };
    found.into_iter().take(LISTED).collect()
}

/// The advice for a typed path with nothing at `place`; `None` if nothing there resembles it.
/// O(entries of the directory).
fn advice(loader: &dyn Loader, place: &Path, typed: &str) -> Option<String> {
    if let Some((scheme, rest)) = typed.split_once("://") {
        let near = nearest(scheme, SCHEMES).filter(|near| *near != scheme)?;
        return Some(format!("did you mean '{near}://{rest}'?"));
    }
    if typed.contains(" - ") {
        return Some("two items of a list are read as one text: align each '-' of the list with the first one".into());
    }
    if typed.contains("${") || typed.contains("$(") {
        return Some("variables are not replaced in paths: write the path itself".into());
    }
    if let Some(names) = several(loader, place, typed) {
        return Some(format!("write each file as an item of its own: [{}]", names.join(", ")));
    }
    if typed.contains(['*', '?']) {
        return Some(PATTERN.to_owned());
    }
    corrected(loader, place, typed).map(|path| format!("did you mean '{path}'?"))
}

/// The path that exists and is most like one that leads nowhere, from the working directory of the
/// loader. O(entries of the directories on the way).
pub fn nearest_path(loader: &dyn Loader, typed: &str) -> Option<String> {
    corrected(loader, Path::new(typed), typed).filter(|path| path != typed)
}

/// The path that exists and differs from a typed one in mistyped names alone. O(entries of the
/// directories on the way).
fn corrected(loader: &dyn Loader, place: &Path, typed: &str) -> Option<String> {
    let typed = typed.trim_end_matches('/');
    let is_dots = |part: &&str| matches!(*part, "." | "..");
    let dots: usize = typed.split('/').take_while(is_dots).map(|part| part.len() + 1).sum();
    let (dots, rest) = typed.split_at_checked(dots)?;
    let base = place.to_str()?.trim_end_matches('/').strip_suffix(rest)?;
    let mut path = String::new();
    for name in rest.split('/') {
        let whole = format!("{path}{name}");
        let there = clean(&format!("{base}{whole}"));
        let there = Path::new(&there);
        let is_there = loader.directory(there).is_ok() || loader.open(there).is_ok();
        path = if is_there { whole } else { format!("{path}{}", near(loader, there)?) };
        path.push('/');
    }
    path.pop();
    Some(format!("{dots}{path}"))
}

/// The files that a text names, if there are several: all of them exist. `place` is that of the
/// text, read as one path.
fn several<'t>(loader: &dyn Loader, place: &Path, typed: &'t str) -> Option<Vec<&'t str>> {
    let names: Vec<&str> = typed.split([',', ' ', '\n']).filter(|name| !name.is_empty()).collect();
    let base = place.to_str()?.strip_suffix(typed)?;
    let exists = |name: &&str| {
        let path = clean(&format!("{base}{name}"));
        loader.open(Path::new(&path)).is_ok() || loader.directory(Path::new(&path)).is_ok()
    };
    (names.len() > 1 && names.iter().all(exists)).then_some(names)
}

/// The name in a directory that is most like the last one of a path. Names with the same extension
/// come first, and are compared without it: two short names with `.yaml` behind them are much
/// alike.
fn near(loader: &dyn Loader, place: &Path) -> Option<String> {
    let typed = place.file_name()?.to_string_lossy();
    let directory = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = loader.list(directory).ok()?.into_iter().filter_map(|entry| entry.name.into_string().ok());
    let names: Vec<String> = names.filter(|name| *name != typed).collect();
    let (stem, extension) = typed.rfind('.').map_or((&*typed, ""), |dot| typed.split_at(dot));
    let (alike, others): (Vec<&str>, Vec<&str>) =
        names.iter().map(String::as_str).partition(|name| name.ends_with(extension));
    let stems = alike.iter().map(|name| &name[..name.len() - extension.len()]);
    let of_extension = nearest(stem, stems).map(|stem| format!("{stem}{extension}"));
    let shortened = || {
        let mut begin = names.iter().filter(|name| is_beginning(name, &typed));
        begin.next().filter(|_| begin.next().is_none()).cloned()
    };
    of_extension.or_else(|| nearest(&typed, others).map(str::to_owned)).or_else(shortened)
}

/// True if one of two names is the beginning of the other, as `prod` of `production`.
fn is_beginning(name: &str, typed: &str) -> bool {
    let (short, long) = if name.len() < typed.len() { (name, typed) } else { (typed, name) };
    short.len() >= SHORTEST && long.starts_with(short) && !long[short.len()..].starts_with('.')
}

/// Shorter beginnings say nothing.
const SHORTEST: usize = 3;
