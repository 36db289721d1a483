//! The roots of a command: the named ones, or those below the named directories.

use crate::flags::roots::Shard;
use crate::request::BuildRequest;
use crate::variable::variable;
use anyhow::{Context, Error, Result, anyhow};
use rustomize_base::windows_path::slashed;
use rustomize_base::{os_text, shown};
use rustomize_engine::diag;
use rustomize_engine::load::{FileLimit, clean, kustomization_file, nearest_path};
use rustomize_engine::pipeline::affected::affected;
use rustomize_engine::pipeline::roots::{FoundRoot, find, find_component};
use rustomize_sources::Disk;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// A root to build.
#[derive(Clone)]
pub(super) struct Chosen {
    /// The directory, relative to the working directory of the command.
    pub path: String,
    /// The path of its result below the output directory, without an extension.
    pub name: PathBuf,
    /// True if another kustomization that was found lists it.
    pub is_used: bool,
}

/// The directories of the roots that the arguments name.
///
/// # Errors
/// A directory cannot be read, or is without kustomizations.
pub(super) fn directories(request: &BuildRequest) -> Result<Vec<String>> {
    Ok(chosen(request)?.into_iter().map(|root| root.path).collect())
}

/// The roots that the arguments name, each with its name.
///
/// # Errors
/// A directory cannot be read, or is without kustomizations.
pub(super) fn chosen(request: &BuildRequest) -> Result<Vec<Chosen>> {
    let here = [".".to_owned()];
    let directories = if request.directories.is_empty() { &here } else { request.directories.as_slice() };
    let name = |path: &str, below: &str| {
        let (path, below) = (PathBuf::from(clean(path)), PathBuf::from(clean(below)));
        let rest = path.strip_prefix(below).unwrap_or(&path).components();
        let rest: PathBuf = rest.filter(|part| matches!(part, Component::Normal(_))).collect();
        if rest.as_os_str().is_empty() { own_name(&path) } else { rest }
    };
    if !request.roots.all {
        let root = |path: &String| Chosen { path: path.clone(), name: name(path, "."), is_used: false };
        return Ok(directories.iter().map(root).collect());
    }
    let changed = request.roots.affected_by.as_deref().map(file_names).transpose()?;
    let mut all = Vec::new();
    for directory in directories {
        let found = find(&Disk::new(), directory, request.file_limit).map_err(|e| cannot_look(directory, &e))?;
        let found = match &changed {
            Some(changed) => affected(&Disk::new(), found, changed.clone(), request.file_limit),
            None if found.is_empty() => return Err(none_found(directory, request.file_limit)),
            None => found,
        };
        let wanted = found.into_iter().filter(|root| !(request.roots.leaves && root.is_used));
        all.extend(wanted.map(|FoundRoot { path, is_used }| Chosen { name: name(&path, directory), path, is_used }));
    }
    Ok(all)
}

/// The error about a directory without roots.
pub(super) fn none_found(directory: &str, limit: FileLimit) -> Error {
    match find_component(&Disk::new(), directory, limit) {
        None => anyhow!("there is no kustomization at or below '{directory}'"),
        Some(component) => anyhow!(
            "there are only Components at and below '{directory}'\n  hint: a Component is built as a part of others: name \
            a kustomization that lists '{}' in 'components'",
            shown::line(&component)
        ),
    }
}

/// The error about a directory below which no kustomizations can be looked for.
pub(super) fn cannot_look(directory: &str, fault: &io::Error) -> Error {
    match fault.kind() {
        ErrorKind::NotFound => missing(directory),
        _ => diag::Error::io(fault, format!("cannot look for kustomizations in '{directory}': {fault}")).into(),
    }
}

/// The real path of a directory that a user has named.
///
/// # Errors
/// It cannot be reached.
pub(super) fn real(directory: &str) -> Result<PathBuf> {
    dunce::canonicalize(directory).map_err(|e| match e.kind() {
        ErrorKind::NotFound => missing(directory),
        _ => anyhow!("'{directory}': {e}"),
    })
}

/// The error about a directory that does not exist. Its hint names the directory that is most
/// likely meant.
pub(super) fn missing(directory: &str) -> Error {
    let error = diag::Error::new(diag::Code::MissingFile, format!("'{directory}': no such file or directory"));
    match nearest_path(&Disk::new(), directory) {
        Some(near) => error.hint(format!("did you mean '{near}'?")).into(),
        None => error.into(),
    }
}

/// The names of files. `-` means the names on stdin.
///
/// # Errors
/// stdin cannot be read.
pub(super) fn file_names(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for file in files {
        if file.as_os_str() != "-" {
            names.push(file.clone());
            // A directory stands for the files below it.
            names.extend(files_below(file));
            continue;
        }
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).context("cannot read the names of files on stdin")?;
        let end = if text.contains(&0) { 0 } else { b'\n' };
        let lines = text.split(|&byte| byte == end).filter(|name| !name.is_empty());
        names.extend(lines.map(|name| PathBuf::from(os_text::from_bytes(name.to_vec()))));
    }
    Ok(names)
}

/// The files in a directory and in those below it; none for a file. Directories whose names begin
/// with a dot, and links, are left out.
fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![path.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_hidden => directories.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

/// The kustomization file of a root on this machine, as messages name it.
pub(super) fn kustomization_file(root: &str) -> Option<String> {
    let file = Path::new(root).join(kustomization_file::name_in(&Disk::new(), Path::new(root))?);
    let file = file.strip_prefix(".").unwrap_or(&file).to_owned();
    Some(slashed(file).display().to_string())
}

/// The own name of a directory that the user calls `.` or `..`.
fn own_name(path: &Path) -> PathBuf {
    let real = dunce::canonicalize(path).ok();
    real.as_deref().and_then(Path::file_name).unwrap_or("root".as_ref()).into()
}

/// The roots of one part. Neighbours, which cost about the same, go to different parts.
///
/// # Errors
/// The environment does not have the number of the part.
pub(super) fn part(roots: Vec<Chosen>, shard: Option<Shard>) -> Result<Vec<Chosen>> {
    let Some(Shard { index, count }) = shard else { return Ok(roots) };
    let index = match index {
        Some(index) => index,
        None => variable("JOB_COMPLETION_INDEX")
            .and_then(|text| text.to_str()?.parse().ok())
            .filter(|index| *index < count.get())
            .with_context(|| {
                format!("--shard {count} needs JOB_COMPLETION_INDEX, a number below {count}: say --shard I/{count}")
            })?,
    };
    Ok(roots.into_iter().skip(index).step_by(count.get()).collect())
}
