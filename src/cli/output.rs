//! Writing the result: all of it or nothing.

use super::writer;
use crate::atomic::Staged;
use crate::diag;
use crate::resource::Resource;
use crate::shell::quoted;
use crate::workspace::Output;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Writes the result to stdout, a file, or into a directory.
///
/// # Errors
/// A resource cannot be printed, or the output cannot be written; nothing is half written then.
pub fn write(output: &Output<'_>, path: Option<&Path>) -> Result<()> {
    match path {
        Some(directory) if directory.is_dir() => {
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

/// The error for a file that cannot be written.
fn not_written(file: &Path, error: anyhow::Error) -> anyhow::Error {
    let shown = file.display();
    let Some(fault) = error.downcast_ref::<std::io::Error>() else {
        return error.context(format!("'{shown}' cannot be written"));
    };
    if fault.kind() == std::io::ErrorKind::BrokenPipe {
        return error;
    }
    match file.parent() {
        Some(folder) if fault.kind() == std::io::ErrorKind::NotFound && !folder.exists() => {
            without_folder(file, folder).into()
        }
        _ => {
            let message = format!("'{shown}' cannot be written: {}", fault.kind());
            diag::Error::io(fault, message).hint("name a file that you may write to").into()
        }
    }
}

/// The error for a file whose directory does not exist.
pub fn without_folder(file: &Path, folder: &Path) -> diag::Error {
    let (shown, folder) = (file.display(), folder.display());
    let message = format!("'{shown}' cannot be written: there is no directory '{folder}'");
    let hint = format!("make the directory first: mkdir -p {}", quoted(&folder.to_string()));
    diag::Error::new(diag::Code::MissingFile, message).hint(hint)
}

/// Writes a text that is not the result of a build as a file that appears whole.
///
/// # Errors
/// It cannot be written.
pub fn write_text(text: &str, file: &Path) -> Result<()> {
    write_file(file, &[text.to_owned()]).with_context(|| format!("open {}", file.display()))
}

fn write_all(out: &mut impl Write, pieces: &[String]) -> std::io::Result<()> {
    pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))
}

/// Replaces a whole file. A file that is not a regular file is written to directly.
fn write_file(path: &Path, text: &[String]) -> Result<()> {
    if path.exists() && !path.is_file() {
        return Ok(write_all(&mut File::create(path)?, text)?);
    }
    // The user names this place: a link there is meant, as with kustomize.
    let path = if path.exists() { path.canonicalize()? } else { path.to_owned() };
    Ok(stage(&path, text)?.put(&path, mode(&path))?)
}

/// A complete file beside its final place.
fn stage(path: &Path, text: &[String]) -> Result<Staged> {
    let mut staged = Staged::beside(path)?;
    write_all(&mut staged, text)?;
    Ok(staged)
}

/// The permissions of an existing file, or of a new one.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).map_or_else(|_| 0o666 & !umask(), |existing| existing.permissions().mode())
}

fn umask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(mask);
    mask.bits()
}

/// One file for each object, by its name. Of equal names the later one wins, cluster-scoped objects
/// last.
///
/// # Errors
/// A resource cannot be printed.
pub fn files(output: &Output<'_>) -> diag::Result<BTreeMap<String, String>> {
    let namespaced = || output.resources().filter(|r| !r.id().is_cluster_scoped());
    let mut namespaces: Vec<&str> = namespaced().map(|r| r.id().effective_namespace()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let several = namespaces.len() > 1;
    let cluster_scoped = output.resources().filter(|r| r.id().is_cluster_scoped());
    let named = |resource: &Resource<'_>| file_name(resource, several);
    namespaced().chain(cluster_scoped).map(|r| Ok((named(r), output.print_one(r)?))).collect()
}

/// Writes files below a directory, which is made if it is not there. None is put in its place
/// before all are written.
///
/// # Errors
/// A file cannot be written.
pub fn write_files(directory: &Path, texts: Vec<(PathBuf, Vec<String>)>) -> Result<()> {
    let open = |path: &Path| format!("open {}", path.display());
    fs::create_dir_all(directory).with_context(|| open(directory))?;
    let mut staged = Vec::new();
    for (path, text) in &texts {
        let folder = path.parent().unwrap_or(directory);
        fs::create_dir_all(folder).with_context(|| open(folder))?;
        staged.push((stage(path, text).with_context(|| open(path))?, path));
    }
    staged.into_iter().try_for_each(|(file, path)| file.put(path, mode(path)).with_context(|| open(path)))
}

fn file_name(resource: &Resource<'_>, with_namespace: bool) -> String {
    let id = resource.id();
    let namespace = if with_namespace && !id.is_cluster_scoped() { id.effective_namespace() } else { "" };
    let parts = [namespace, id.gvk.group, id.gvk.version, id.gvk.kind, id.name];
    let parts: Vec<String> = parts.iter().filter(|p| !p.is_empty()).map(|p| p.to_lowercase()).collect();
    parts.join("_") + ".yaml"
}
