//! Copies the remote parts that a build has used beside its kustomization, and locks them.
//!
//! A copy is made in a directory of its own and renamed to its place, which its version and its sum
//! determine. The lock is written when all copies exist, and copies that it does not name are
//! removed afterwards. So an interruption never leaves a lock without its copies.

use super::FileLimit;
use super::lock::{FILE, Part, Pin, RemoteLock, VENDOR, copy_path};
use super::remote::{RemoteParts, Used};
use super::sum::{self, sha256};
use crate::diag::{Code, Error, Result};
use hashbrown::HashSet;
use rustomize_files::atomic;
use rustomize_files::{Directory, Opened, folder_of};
use rustomize_process::Children;
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
    let held = Directory::open(directory).map_err(|e| cannot(directory, &e))?;
    let work = match is_kept {
        true => {
            let made = held.make(Path::new(VENDOR), 0o755);
            made.map_err(|e| Error::io(&e, format!("cannot make the directory '{}': {e}", top.display())))?;
            children.directory_in(&top, atomic::PREFIX)
        }
        false => children.directory("rustomize-"),
    };
    let work = work.map_err(|e| cannot(&top, &e))?;
    let held_work = Directory::open(work.path()).map_err(|e| cannot(&top, &e))?;
    for (i, (part, used)) in used.into_iter().enumerate() {
        let staged = work.path().join(i.to_string());
        let pin = stage(parts, &part, &used, &staged).map_err(|e| e.context(format!("copying {part}")))?;
        let path = copy_path(&part, &pin);
        let place = top.join(&path);
        if is_kept && !has(&place, &pin) {
            let top = held.below(Path::new(VENDOR));
            let put = top.and_then(|top| put(&held_work, Path::new(&i.to_string()), &top, &path));
            put.map_err(|e| cannot(&place, &e))?;
        }
        lock.set(part, pin);
    }
    drop(work);
    let file = directory.join(FILE);
    atomic::write(&file, lock.print()?.as_bytes(), 0o644).map_err(|e| cannot(&file, &e))?;
    if copies == Copies::Kept {
        remove_others(&held, &lock).map_err(|e| cannot(&top, &e))?;
    }
    Ok(lock)
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
    let found = match Opened::entry(place) {
        Ok(Opened::Directory(_)) => sum::directory(place).ok(),
        Ok(Opened::File(file)) => file.read_all(FileLimit::default().0).ok().map(|content| sha256(&content)),
        Err(_) => None,
    };
    found.is_some_and(|found| found == pin.content)
}

/// Renames a copy to its place below `top`, and replaces a damaged copy there.
fn put(work: &Directory, staged: &Path, top: &Directory, place: &Path) -> io::Result<()> {
    let folder = top.make(folder_of(place), 0o755)?;
    let name = Path::new(place.file_name().unwrap_or_default());
    folder.remove(name)?;
    work.rename(staged, &folder, name)
}

/// Removes the copies that a lock does not name, and directories that become empty. Files of the
/// user beside the directories of copies stay.
fn remove_others(directory: &Directory, lock: &RemoteLock) -> io::Result<()> {
    // Without copies, or where a link is in their place, there is nothing to remove.
    let Ok(top) = directory.below(Path::new(VENDOR)) else { return Ok(()) };
    let wanted: HashSet<PathBuf> = lock.parts().map(|(part, pin)| copy_path(&part, pin)).collect();
    for kind in super::cache::KINDS {
        let Ok(folder) = top.below(Path::new(kind)) else { continue };
        for (name, _) in folder.entries()? {
            if !wanted.contains(&Path::new(kind).join(&name)) {
                folder.remove(Path::new(&name))?;
            }
        }
        // This fails if a copy remains in the directory.
        let _ = top.remove_empty(Path::new(kind));
    }
    let _ = directory.remove_empty(Path::new(VENDOR));
    Ok(())
}
