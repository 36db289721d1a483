//! Puts plugins in their place, and removes them.
//!
//! A plugin is made ready aside and then renamed to its place, so an installation that fails
//! changes nothing that works. A process that is killed at any step leaves the plugin that was
//! installed before, or one that is marked as not complete, which the next run installs again.

use super::discover::Candidate;
use super::exclusive::{ExclusiveRoot, name_of};
use super::installed_artifacts;
use super::sibling_files::{partial, suffix_of_sum, sum_name};
use crate::diag::{Error, Result};
use crate::id::content;
use crate::id::name::{BESIDE, MADE_SUFFIX};
use rustomize_files::{Directory, Kind, Opened, Staged, folder_of};
use rustomize_plugins::failure;
use std::io;
use std::path::{Path, PathBuf};

/// Puts a plugin, a file or a directory that is complete, where it is found, in place of an older
/// one with its name. `beside` are the texts of files beside it, by the ends of their names. Gives
/// the plugin's sum. O(bytes of the plugin).
///
/// # Errors
/// The plugin or a file beside it cannot be written.
pub fn put(root: &ExclusiveRoot, staged: &Path, to: &Path, beside: &[(&str, String)]) -> Result<String> {
    let cannot = || failure::cannot("write", to);
    let below = root.below(staged)?;
    let is_directory = root.held().facts(below).map_err(cannot())?.kind == Kind::Directory;
    let made = if is_directory { installed_artifacts::text(staged)? } else { None };
    if !is_directory {
        root.held().permit(below, 0o755).map_err(cannot())?;
        root.held().sync(below).map_err(cannot())?;
    }
    let sum = Opened::entry(staged).and_then(content::sum_of).map_err(cannot())?;
    // Every file is written before the older plugin is moved away: if the disk is full, it stays.
    let made = made.map(|text| (MADE_SUFFIX, text));
    let sum_line = (suffix_of_sum(is_directory), format!("{sum}\n"));
    let texts = beside.iter().cloned().chain(made).chain([sum_line]);
    let files = texts.map(|(suffix, text)| Ok((sum_name(to, suffix), root.staged(&text)?)));
    let files: Vec<(PathBuf, Staged)> = files.collect::<io::Result<_>>().map_err(cannot())?;
    let placed = replace(root, below, to, files);
    if placed.is_err() {
        remove_empty_above(root, to);
    }
    placed.map(|()| sum)
}

/// Renames a plugin, which is `staged` below the root, and the files beside it to their places. If
/// one of them cannot be renamed, what was installed comes back.
fn replace(root: &ExclusiveRoot, staged: &Path, to: &Path, files: Vec<(PathBuf, Staged)>) -> Result<()> {
    let cannot = || failure::cannot("write", to);
    let (name, marker) = (name_of(to).map_err(cannot())?, partial(to));
    let folder = root.make_folder(folder_of(to))?;
    let (old, new) = (root.stage()?, root.stage()?);
    root.write(&marker, "its installation did not finish", 0o644)?;
    let renamed = || {
        take_away(&folder, name, old.held())?;
        root.held().rename(staged, &folder, name)?;
        files.into_iter().try_for_each(|(path, file)| file.put(&folder, name_of(&path)?, 0o644))
    };
    let renamed = renamed().map_err(cannot());
    if renamed.is_err() {
        let restored = take_away(&folder, name, new.held()).and_then(|()| take_away(old.held(), name, &folder));
        restored.map_err(cannot())?;
    }
    folder.remove(name_of(&marker).map_err(cannot())?).map_err(cannot())?;
    renamed
}

/// Puts a plugin whose installation failed where it would be found, with the files beside it, and
/// the reason: it is present and not installed. A plugin that is installed there stays as it is.
///
/// # Errors
/// The plugin or a file beside it cannot be written.
pub fn put_failed(
    root: &ExclusiveRoot,
    staged: &Path,
    to: &Path,
    beside: &[(&str, String)],
    why: &Error,
) -> Result<()> {
    let cannot = || failure::cannot("write", to);
    let folder = root.make_folder(folder_of(to))?;
    let (name, marker) = (name_of(to).map_err(cannot())?, partial(to));
    let has = |path: &Path| folder.facts(path).is_ok();
    if has(name) && !has(name_of(&marker).map_err(cannot())?) {
        return Ok(());
    }
    root.write(&marker, &why.to_string(), 0o644)?;
    let old = root.stage()?;
    take_away(&folder, name, old.held()).map_err(cannot())?;
    root.held().rename(root.below(staged)?, &folder, name).map_err(cannot())?;
    beside.iter().try_for_each(|(suffix, text)| root.write(&sum_name(to, suffix), text, 0o644))
}

/// Moves a plugin, and the files beside it, to another directory. The sum is moved first: without
/// it a plugin is not considered.
fn take_away(folder: &Directory, name: &Path, to: &Directory) -> io::Result<()> {
    for old in BESIDE.map(|suffix| sum_name(name, suffix)).iter().map(PathBuf::as_path).chain([name]) {
        match folder.rename(old, to, old) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

/// Removes installed plugins and the files beside them, then directories that are empty. Gives the
/// paths of the binaries.
///
/// # Errors
/// A file cannot be removed.
pub fn remove(root: &ExclusiveRoot, candidates: &[Candidate]) -> Result<Vec<PathBuf>> {
    let held = root.held();
    for Candidate { path, .. } in candidates {
        // Without its sum a binary is not considered: the sum is removed first.
        let beside = BESIDE.map(|suffix| sum_name(path, suffix));
        for file in beside.iter().chain([path, &partial(path)]) {
            held.remove(root.below(file)?).map_err(failure::cannot("remove", file))?;
        }
        remove_empty_above(root, path);
    }
    Ok(candidates.iter().map(|candidate| candidate.path.clone()).collect())
}

/// Removes the directories above a path, up to the root, as long as they are empty.
fn remove_empty_above(root: &ExclusiveRoot, path: &Path) {
    let above = root.below(path).into_iter().flat_map(|path| path.ancestors().skip(1));
    for folder in above.take_while(|folder| !folder.as_os_str().is_empty()) {
        if root.held().remove_empty(folder).is_err() {
            return;
        }
    }
}
