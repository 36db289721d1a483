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
use rustomize_files::{Directory, Kind, Opened, folder_of};
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
    let folder = root.make_folder(folder_of(to))?;
    root.write(&partial(to), "its installation did not finish", 0o644)?;
    let old = root.stage()?;
    take_away(&folder, name_of(to).map_err(cannot())?, old.held()).map_err(cannot())?;
    rename(root, staged, &folder, to)?;
    let made = made.map(|text| (MADE_SUFFIX, text));
    let sum_line = (suffix_of_sum(is_directory), format!("{sum}\n"));
    for (suffix, text) in beside.iter().cloned().chain(made).chain([sum_line]) {
        root.write(&sum_name(to, suffix), &text, 0o644)?;
    }
    folder.remove(name_of(&partial(to)).map_err(cannot())?).map_err(cannot())?;
    Ok(sum)
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
    rename(root, staged, &folder, to)?;
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

fn rename(root: &ExclusiveRoot, staged: &Path, folder: &Directory, to: &Path) -> Result<()> {
    let below = root.below(staged)?;
    name_of(to).and_then(|name| root.held().rename(below, folder, name)).map_err(failure::cannot("write", to))
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
        let folders = root.below(path)?.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        for folder in folders {
            if held.remove_empty(folder).is_err() {
                break;
            }
        }
    }
    Ok(candidates.iter().map(|candidate| candidate.path.clone()).collect())
}
