//! Copies the remote parts that a build has used beside its kustomization, and locks them.
//!
//! A copy is made in a directory of its own and renamed to its place, which its version and its sum
//! determine. The lock is written when all copies exist, and copies that it does not name are
//! removed afterwards. So an interruption never leaves a lock without its copies.

use super::lock::{FILE, Part, Pin, RemoteLock, VENDOR, copy_path};
use super::remote::{RemoteParts, Used};
use super::sum::{self, sha256};
use crate::atomic;
use crate::diag::{Code, Error, Result};
use crate::process::Children;
use hashbrown::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The choice between keeping and dropping the copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// The copies and the lock are written.
    Kept,
    /// Only the lock is written.
    Dropped,
}

/// Locks the remote parts of a build in `directory`, and returns the lock.
///
/// # Errors
/// A part cannot be copied, or a file cannot be written. The lock remains unchanged then.
pub fn write(parts: &RemoteParts, directory: &Path, copies: Copies, children: &Children) -> Result<RemoteLock> {
    let top = directory.join(VENDOR);
    let mut lock = RemoteLock::new();
    let used = parts.used();
    let is_kept = copies == Copies::Kept && !used.is_empty();
    let cannot = |place: &Path, e: &io::Error| Error::io(e, format!("cannot write '{}': {e}", place.display()));
    let work = match is_kept {
        true => {
            make_directory(&top)?;
            children.directory_in(&top, atomic::PREFIX)
        }
        false => children.directory("rustomize-"),
    };
    let work = work.map_err(|e| cannot(&top, &e))?;
    for (i, (part, used)) in used.into_iter().enumerate() {
        let staged = work.path().join(i.to_string());
        let pin = stage(parts, &part, &used, &staged).map_err(|e| e.context(format!("copying {part}")))?;
        let place = top.join(copy_path(&part, &pin));
        if is_kept && !has(&place, &pin) {
            make_directory(place.parent().unwrap_or(&top))?;
            put(&staged, &place).map_err(|e| cannot(&place, &e))?;
        }
        lock.set(part, pin);
    }
    drop(work);
    let file = directory.join(FILE);
    atomic::write(&file, lock.print()?.as_bytes(), 0o644).map_err(|e| cannot(&file, &e))?;
    if copies == Copies::Kept {
        remove_others(&top, &lock).map_err(|e| cannot(&top, &e))?;
    }
    Ok(lock)
}

/// Makes a directory, unless it exists. A link is refused: the copies would be written elsewhere.
fn make_directory(path: &Path) -> Result<()> {
    let made = match path.symlink_metadata() {
        Ok(is) if is.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other("it is a link or a file")),
        Err(_) => fs::create_dir(path),
    };
    made.map_err(|e| Error::io(&e, format!("cannot make the directory '{}': {e}", path.display())))
}

/// Makes the copy of a part, and returns its pin.
fn stage(parts: &RemoteParts, part: &Part, used: &Used, staged: &Path) -> Result<Pin> {
    let cannot = |e: io::Error| Error::io(&e, format!("cannot copy {part}: {e}"));
    let version = match used {
        Used::File(content) => {
            fs::write(staged, content).map_err(cannot)?;
            return Ok(Pin { version: String::new(), content: sha256(content) });
        }
        Used::Clone(_, cloned) if cloned.commit.is_empty() => {
            return Err(Error::new(Code::FetchFailed, format!("git does not say which commit {part} is")));
        }
        Used::Clone(spec, cloned) => {
            let tracked: HashSet<String> = parts.tracked(spec, cloned)?.into_iter().collect();
            sum::copy(&cloned.directory, staged, |name| tracked.contains(name)).map_err(cannot)?;
            cloned.commit.clone()
        }
        Used::Directory { version, place } => {
            sum::copy(place, staged, |_| true).map_err(cannot)?;
            version.clone()
        }
    };
    let content = sum::directory(staged).map_err(cannot)?;
    Ok(Pin { version, content })
}

/// Returns true if a place has the copy that a pin describes.
fn has(place: &Path, pin: &Pin) -> bool {
    let found = match place.symlink_metadata() {
        Ok(is) if is.is_dir() => sum::directory(place).ok(),
        Ok(is) if is.is_file() => fs::read(place).ok().map(|content| sha256(&content)),
        _ => None,
    };
    found.is_some_and(|found| found == pin.content)
}

/// Renames a copy to its place, and replaces a damaged copy there.
fn put(staged: &Path, place: &Path) -> io::Result<()> {
    remove(place)?;
    fs::rename(staged, place)
}

/// Removes a file, a link or a directory, if it exists.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(is) if is.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Removes the copies that a lock does not name, and directories that become empty. Files of the
/// user beside the directories of copies stay.
fn remove_others(top: &Path, lock: &RemoteLock) -> io::Result<()> {
    if !top.symlink_metadata().is_ok_and(|is| is.is_dir()) {
        return Ok(());
    }
    let wanted: HashSet<PathBuf> = lock.parts().map(|(part, pin)| top.join(copy_path(&part, pin))).collect();
    for kind in super::cache::KINDS {
        let folder = top.join(kind);
        if !folder.symlink_metadata().is_ok_and(|is| is.is_dir()) {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if !wanted.contains(&path) {
                remove(&path)?;
            }
        }
        // This fails if a copy remains in the directory.
        let _ = fs::remove_dir(&folder);
    }
    let _ = fs::remove_dir(top);
    Ok(())
}
