//! Putting plugins where they are found, and taking them away (P23 to P32, U43 to U45).
//!
//! Whoever is killed at any step leaves what was there before, or a plugin that is marked as not
//! complete, and which the next run installs again.

use super::beside::{partial, sum_file, sum_name};
use super::discover::Candidate;
use super::exclusive::{ExclusiveRoot, io};
use super::made;
use crate::diag::Result;
use crate::manager::id::content;
use crate::manager::id::name::BESIDE;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Puts a staged plugin, a file or a directory, where it is found. `finish` does what is to be
/// done where it lies; until that is done it is present and not installed, and so it stays,
/// with the reason, if that fails (U43 to U45). Gives its sum, and what `finish` gave.
///
/// # Errors
/// It cannot be written, or what `finish` says.
pub fn put<T>(
    root: &ExclusiveRoot,
    staged: &Path,
    to: &Path,
    finish: impl FnOnce() -> Result<T>,
) -> Result<(String, T)> {
    let cannot = || io("write", to);
    let folder = to.parent().unwrap_or(root.path());
    root.make_folder(folder)?;
    let marker = partial(to);
    root.write(&marker, "its installation did not finish", 0o644)?;
    // An older sum of the same name is removed first: a new plugin is never held to it.
    let beside = BESIDE.map(|suffix| sum_name(to, suffix));
    for old in beside.into_iter().chain([to.to_owned()]) {
        let removed = if old.is_dir() { fs::remove_dir_all(&old) } else { fs::remove_file(&old) };
        match removed {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(cannot()(e)),
            _ => {}
        }
    }
    if staged.is_file() {
        fs::set_permissions(staged, fs::Permissions::from_mode(0o755)).map_err(cannot())?;
        File::open(staged).and_then(|file| file.sync_all()).map_err(cannot())?;
    }
    fs::rename(staged, to).map_err(cannot())?;
    let finished = match finish() {
        Ok(finished) => finished,
        Err(e) => {
            root.write(&marker, &e.to_string(), 0o644)?;
            return Err(e);
        }
    };
    let sum = content::sum(to).map_err(cannot())?;
    if to.is_dir() {
        made::record(root, to)?;
    }
    root.write(&sum_file(to), &format!("{sum}\n"), 0o644)?;
    fs::remove_file(marker).map_err(cannot())?;
    Ok((sum, finished))
}

/// Removes installed plugins and the files beside them, then directories that are empty. Gives the
/// paths of the binaries.
///
/// # Errors
/// A file cannot be removed.
pub fn remove(root: &Path, candidates: &[Candidate]) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for candidate in candidates {
        let path = &candidate.path;
        // Without its sum a binary is not considered: the sum is removed first.
        let beside = BESIDE.map(|suffix| sum_name(path, suffix));
        for file in beside.iter().chain([path, &partial(path)]) {
            let removed = if file.is_dir() { fs::remove_dir_all(file) } else { fs::remove_file(file) };
            match removed {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io("remove", file)(e)),
                _ => {}
            }
        }
        let mut folder = path.parent();
        while let Some(empty) = folder.filter(|folder| *folder != root && folder.starts_with(root)) {
            if fs::remove_dir(empty).is_err() {
                break;
            }
            folder = empty.parent();
        }
        removed.push(path.clone());
    }
    Ok(removed)
}
