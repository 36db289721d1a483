//! Advice for paths that lead nowhere: the file or directory that was most likely meant.

use super::loader::Loader;
use crate::diag::{Code, Error, nearest};
use std::path::Path;

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
        false => "add it, or correct its path, which begins in the directory of the file that names it".to_owned(),
    }))
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
    if typed.contains(['*', '?']) {
        return Some("patterns are not expanded: list each file".into());
    }
    let before = |path: &'_ str| path.rsplit_once('/').map_or(String::new(), |(before, _)| format!("{before}/"));
    if let Some(name) = near(loader, place) {
        return Some(format!("did you mean '{}{name}'?", before(typed)));
    }
    let (above, last) = typed.rsplit_once('/')?;
    let name = near(loader, place.parent()?)?;
    Some(format!("did you mean '{}{name}/{last}'?", before(above)))
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
    of_extension.or_else(|| nearest(&typed, others).map(str::to_owned))
}
