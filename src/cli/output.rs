//! Where the result goes: all of it or nothing.

use crate::atomic::Staged;
use crate::resource::{ResMap, Resource};
use crate::resource::{print_in_pieces, print_one};
use crate::yaml::Arena;
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
pub fn write(arena: &Arena, map: &ResMap<'_>, path: Option<&Path>) -> Result<()> {
    match path {
        Some(directory) if directory.is_dir() => write_directory(arena, map, directory),
        Some(file) => {
            let text = print_in_pieces(arena, map)?;
            write_file(file, &text).with_context(|| format!("open {}", file.display()))
        }
        None => {
            let text = print_in_pieces(arena, map)?;
            let mut out = std::io::stdout().lock();
            write_all(&mut out, &text)?;
            Ok(out.flush()?)
        }
    }
}

fn write_all(out: &mut impl Write, pieces: &[String]) -> std::io::Result<()> {
    pieces.iter().try_for_each(|piece| out.write_all(piece.as_bytes()))
}

/// Replaces a file as a whole. What is no regular file is written to directly.
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

/// The permissions of a file that is there, or of a new one.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).map_or_else(|_| 0o666 & !umask(), |existing| existing.permissions().mode())
}

fn umask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(mask);
    mask.bits()
}

/// One file for each object. Of equal names the later one wins, cluster-scoped objects last.
fn write_directory(arena: &Arena, map: &ResMap<'_>, directory: &Path) -> Result<()> {
    let namespaced = || map.iter().filter(|r| !r.id().is_cluster_scoped());
    let mut namespaces: Vec<&str> = namespaced().map(|r| r.id().effective_namespace()).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    let several = namespaces.len() > 1;
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    let cluster_scoped = map.iter().filter(|r| r.id().is_cluster_scoped());
    for resource in namespaced().chain(cluster_scoped) {
        let mut text = String::new();
        print_one(arena, resource, &mut text)?;
        texts.insert(directory.join(file_name(resource, several)), text);
    }
    let mut staged = Vec::new();
    for (path, text) in &texts {
        staged
            .push((stage(path, std::slice::from_ref(text)).with_context(|| format!("open {}", path.display()))?, path));
    }
    for (file, path) in staged {
        file.put(path, mode(path)).with_context(|| format!("open {}", path.display()))?;
    }
    Ok(())
}

fn file_name(resource: &Resource<'_>, with_namespace: bool) -> String {
    let id = resource.id();
    let namespace = if with_namespace && !id.is_cluster_scoped() { id.effective_namespace() } else { "" };
    let parts = [namespace, id.gvk.group, id.gvk.version, id.gvk.kind, id.name];
    let parts: Vec<String> = parts.iter().filter(|p| !p.is_empty()).map(|p| p.to_lowercase()).collect();
    parts.join("_") + ".yaml"
}
