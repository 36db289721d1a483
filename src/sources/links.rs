//! The places that paths lead to when links are followed.

use hashbrown::HashSet;
use rustomize_engine::diag::{Code, Error, Result};
use rustomize_engine::load::Root;
use std::fs::DirEntry;
use std::path::{Component, Path, PathBuf};

/// The place of a path when all links are followed. Parts that do not exist yet are appended as
/// they are. `None` if the place cannot be told.
pub fn real(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    let new = path.strip_prefix(existing).ok()?;
    if new.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let mut real = dunce::canonicalize(existing).ok()?;
    real.extend(new);
    Some(real)
}

/// Returns true if a path leads to a place in a directory, and so does every link below that place,
/// and below the targets of those links. The path of the directory must not contain links.
/// O(entries below them).
pub fn stays_in(directory: &Path, path: &Path) -> bool {
    let mut seen = HashSet::new();
    let mut queue = vec![path.to_owned()];
    while let Some(path) = queue.pop() {
        let Some(real) = real(&path).filter(|real| real.starts_with(directory)) else { return false };
        let entries = std::fs::read_dir(&real).into_iter().flatten().flatten();
        if seen.insert(real) {
            let leads_on = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
            queue.extend(entries.filter(leads_on).map(|entry| entry.path()));
        }
    }
    true
}

/// Refuses a path that leads out of the repository that a root was cloned from; all links below the
/// path are checked. A root that was not cloned may name any path.
///
/// # Errors
/// The path leads out of the repository.
pub fn hold(root: &Root, path: &Path) -> Result<()> {
    match root.remote() {
        Some(remote) if !stays_in(&remote.directory, path) => {
            let message = "security; charts of kustomizations found in cloned git repos must be within the repo";
            Err(Error::new(Code::OutsideRoot, format!("{message}, '{}' is not", path.display())))
        }
        _ => Ok(()),
    }
}
