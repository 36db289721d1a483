//! The directories that this process may read, if a caller has named some: [`limit_to`] is called
//! once, before anything is read, and holds for all of the process, as a working directory does.
//!
//! Each file and directory that a user or a kustomization can name is checked where it is opened:
//! by [`super::Disk`], by [`super::ReadFile`], and by the commands that list directories. The
//! check follows links. It is no sandbox: programs that a build starts are not held to it.

use super::links;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static DIRECTORIES: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// Lets this process read only at and below directories. The first call counts.
///
/// # Errors
/// A directory does not exist. Nothing may be read then.
pub fn limit_to(directories: impl IntoIterator<Item = PathBuf>) -> io::Result<()> {
    let real: io::Result<Vec<PathBuf>> = directories.into_iter().map(|directory| directory.canonicalize()).collect();
    let (real, result) = match real {
        Ok(real) => (real, Ok(())),
        Err(error) => (Vec::new(), Err(error)),
    };
    DIRECTORIES.get_or_init(|| real);
    result
}

/// Returns true if [`limit_to`] was called.
pub fn is_limited() -> bool {
    DIRECTORIES.get().is_some()
}

/// Refuses a path that leads out of the directories. O(length of the path), and O(1) without a
/// limit.
///
/// # Errors
/// The path leads out of all of them, or its place cannot be told. Whether something is there is
/// not said.
pub fn check(path: &Path) -> io::Result<()> {
    match DIRECTORIES.get() {
        Some(directories) if !is_in(directories, path) => {
            let why = "it is outside of the directories that may be read";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
        }
        _ => Ok(()),
    }
}

/// Returns true if a path leads to a place in one of the directories, whose paths have no links.
pub fn is_in(directories: &[PathBuf], path: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    links::real(&path).is_some_and(|real| directories.iter().any(|directory| real.starts_with(directory)))
}

#[cfg(test)]
mod tests {
    use super::is_in;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_parents_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let own = top.join("own");
        std::fs::create_dir_all(own.join("below")).unwrap();
        std::fs::write(top.join("secret"), "s").unwrap();
        symlink("../secret", own.join("out")).unwrap();
        symlink("below", own.join("in")).unwrap();
        symlink("nowhere", own.join("dangling")).unwrap();
        let allowed = [own.clone()];
        for path in ["", "below", "below/new/file", "in/new", "below/.."] {
            assert!(is_in(&allowed, &own.join(path)), "{path}");
        }
        for path in ["..", "../secret", "out", "dangling", "below/../../secret", "new/../../secret", "../own2"] {
            assert!(!is_in(&allowed, &own.join(path)), "{path}");
        }
    }
}
