//! Writing the result: all of it or nothing.

use crate::writer;
use anyhow::{Context, Result};
use rustomize_base::shell::quoted;
use rustomize_engine::diag;
use rustomize_engine::resource::Resource;
use rustomize_engine::workspace::Output;
use rustomize_files::{self as files, Kind, Place, Staged};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes the result to stdout, a file, or into a directory.
///
/// # Errors
/// A resource cannot be printed, or the output cannot be written. No file is incomplete then.
pub(super) fn write(output: &Output<'_>, path: Option<&Path>) -> Result<()> {
    match path {
        Some(directory) if is_directory(directory) => {
            let files = files(output)?.into_iter().map(|(name, text)| (directory.join(name), vec![text]));
            write_files(directory, files.collect())
        }
        Some(file) => {
            let text = output.print_in_pieces()?;
            write_file(file, &text).map_err(|e| not_written(file, e))
        }
        None => {
            let text = output.print_in_pieces()?;
            Ok(writer::data(&text)?)
        }
    }
}

/// Returns true for a directory, and for a path that names one by a separator at its end.
fn is_directory(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    path.is_dir() || last.is_some_and(|byte| std::path::is_separator(char::from(*byte)))
}

/// The error for a file that cannot be written.
fn not_written(file: &Path, error: anyhow::Error) -> anyhow::Error {
    let shown = file.display();
    let Some(fault) = error.downcast_ref::<std::io::Error>() else {
        return error.context(format!("'{shown}' cannot be written"));
    };
    if writer::is_closed_pipe(fault) {
        return error;
    }
    match file.parent() {
        Some(folder) if fault.kind() == std::io::ErrorKind::NotFound && !folder.exists() => {
            without_folder(file, folder).into()
        }
        _ if files::is_refusal(fault) => {
            let message = format!("'{shown}' is not written: {fault}");
            diag::Error::io(fault, message).hint("name the place that the link leads to").into()
        }
        _ => {
            // The system's own words end with the number of the error.
            let why = if fault.get_ref().is_some() { fault.to_string() } else { fault.kind().to_string() };
            let message = format!("'{shown}' cannot be written: {why}");
            let hint = match file.ancestors().skip(1).find(|above| above.exists()) {
                Some(above) if !above.is_dir() => format!("'{}' is a file: name another place", above.display()),
                _ if file.is_dir() => format!("'{shown}' is a directory: name a file, as in {shown}/all.yaml"),
                _ => "name a file that you may write to".to_owned(),
            };
            diag::Error::io(fault, message).hint(hint).into()
        }
    }
}

/// The error for a file whose directory does not exist.
pub(super) fn without_folder(file: &Path, folder: &Path) -> diag::Error {
    let (shown, folder) = (file.display(), folder.display());
    let message = format!("'{shown}' cannot be written: there is no directory '{folder}'");
    let hint = format!("make the directory first: mkdir -p {}", quoted(&folder.to_string()));
    diag::Error::new(diag::Code::MissingFile, message).hint(hint)
}

/// Writes a text that is not the result of a build as a file that appears whole.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_text(text: &str, file: &Path) -> Result<()> {
    write_file(file, &[text.to_owned()]).with_context(|| format!("open {}", file.display()))
}

fn write_all(out: &mut impl Write, pieces: &[String]) -> std::io::Result<()> {
    pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))
}

/// Replaces a whole file, at a [`Place`]. A pipe or a device is written to directly.
fn write_file(path: &Path, text: &[String]) -> Result<()> {
    let place = Place::of(path)?;
    if place.facts()?.is_some_and(|facts| facts.kind == Kind::Other) {
        return Ok(write_all(&mut place.open_other()?, text)?);
    }
    files::sweep(place.directory());
    let staged = stage(&place, text)?;
    Ok(place.put(staged, mode(&place)?)?)
}

/// A complete file beside its final place.
fn stage(place: &Place, text: &[String]) -> Result<Staged> {
    let mut staged = place.stage()?;
    write_all(&mut staged, text)?;
    Ok(staged)
}

/// The permissions of an existing file, or of a new one.
fn mode(place: &Place) -> std::io::Result<u32> {
    Ok(place.facts()?.map_or_else(files::new_file_mode, |existing| existing.mode & 0o7777))
}

/// One file for each object, by its name. Of equal names the later one is kept; cluster-scoped
/// objects come last.
///
/// # Errors
/// A resource cannot be printed, or its file would not be in the directory. kustomize writes the
/// file of a resource in the namespace `../a` outside of the directory.
pub(super) fn files(output: &Output<'_>) -> diag::Result<BTreeMap<String, String>> {
    let namespaced = || output.resources().filter(|r| !r.id().is_cluster_scoped());
    let mut namespaces: Vec<&str> = namespaced().map(|r| r.id().effective_namespace()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let several = namespaces.len() > 1;
    let cluster_scoped = output.resources().filter(|r| r.id().is_cluster_scoped());
    let named = |resource: &Resource<'_>| checked(file_name(resource, several), resource);
    namespaced().chain(cluster_scoped).map(|r| Ok((named(r)?, output.print_one(r)?))).collect()
}

/// The name of a resource's file, if it is one name below a directory.
fn checked(name: String, resource: &Resource<'_>) -> diag::Result<String> {
    let fault = match name.contains(std::path::is_separator) {
        true => Some("is a path"),
        false => files::name_fault(name.as_ref()),
    };
    let Some(fault) = fault else { return Ok(name) };
    let message = format!("{} cannot have a file of its own: '{name}' {fault}", resource.id());
    let error = diag::Error::new(diag::Code::Refused, message).at(resource.pos());
    Err(error.hint("correct its name, its kind or its namespace, or write all resources to one file"))
}

/// Writes files below a directory, which is made if it is missing. All files are written before the
/// first is put in its place.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write_files(directory: &Path, texts: Vec<(PathBuf, Vec<String>)>) -> Result<()> {
    let open = |path: &Path| format!("open {}", path.display());
    let mut staged = Vec::new();
    let mut swept = BTreeSet::new();
    for (path, text) in &texts {
        let mut stage_one = || {
            let place = Place::made(path)?;
            // A directory or a link in the place is an error here, before any file is put in its
            // place.
            let mode = mode(&place)?;
            if swept.insert(place.directory().path().to_owned()) {
                files::sweep(place.directory());
            }
            Ok::<_, anyhow::Error>((stage(&place, text)?, place, mode))
        };
        staged.push((stage_one().with_context(|| open(path))?, path));
    }
    if texts.is_empty() {
        Place::made(&directory.join("any")).with_context(|| open(directory))?;
    }
    staged.into_iter().try_for_each(|((file, place, mode), path)| place.put(file, mode).with_context(|| open(path)))
}

fn file_name(resource: &Resource<'_>, with_namespace: bool) -> String {
    let id = resource.id();
    let namespace = if with_namespace && !id.is_cluster_scoped() { id.effective_namespace() } else { "" };
    let parts = [namespace, id.gvk.group, id.gvk.version, id.gvk.kind, id.name];
    let parts: Vec<String> = parts.iter().filter(|p| !p.is_empty()).map(|p| p.to_lowercase()).collect();
    parts.join("_") + ".yaml"
}
