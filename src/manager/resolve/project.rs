//! [`Project`]: the `plugins.yaml` and `plugins.lock` of one directory, and the directories in
//! which these files are looked for.

use crate::diag::{Code, Error, Result};
use crate::manager::id::requirement::Requirement;
use crate::manager::id::source::Source;
use crate::manager::policy::lock::{self, Lock, LockedPlugin};
use crate::manager::policy::requirements::{self, Requirements};
use std::path::{Path, PathBuf};

/// A `plugins.yaml` with the `plugins.lock` beside it.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The directory of both files.
    pub directory: PathBuf,
    pub requirements: Requirements,
    /// `None` where nothing was locked yet.
    pub lock: Option<Lock>,
}

impl Project {
    /// Reads the two files of a directory; a missing file is the same as an empty one.
    ///
    /// # Errors
    /// A file cannot be read, or does not have its form.
    pub fn read(directory: &Path) -> Result<Project> {
        let (requirements, lock) = (Requirements::read(directory)?, Lock::read(directory)?);
        Ok(Project { directory: directory.to_owned(), requirements, lock })
    }

    /// Returns whether the project requires no plugin.
    pub fn is_empty(&self) -> bool {
        self.requirements.plugins.is_empty()
    }

    /// The lock entry of a source.
    pub fn locked(&self, source: &Source) -> Option<&LockedPlugin> {
        self.lock.as_ref()?.of(source)
    }

    /// The requirement with a name, or with a source as it is written.
    pub fn requirement(&self, named: &str) -> Option<&Requirement> {
        self.requirements.plugins.iter().find(|r| r.name == named || r.source.to_string() == named)
    }

    /// The path of `plugins.yaml`.
    pub fn file(&self) -> PathBuf {
        self.directory.join(requirements::FILE)
    }
}

/// The directories whose `plugins.yaml` and `plugins.lock` count for a root: see [`upwards_with`].
///
/// # Errors
/// As [`upwards_with`].
pub fn upwards(root: &Path, top: Option<&Path>, safe: &[PathBuf]) -> Result<Vec<PathBuf>> {
    upwards_with(&[requirements::FILE, lock::FILE], root, top, safe)
}

/// The directories whose files with some names count for a root, nearest first: the root's own,
/// and those above it up to the top of its repository. Without a repository only the root's own.
/// Directories without such a file are left out.
///
/// `top` ends the search where the root was cloned: it is the directory of the clone. Files above
/// the root have to belong to the user, or be below a directory of `safe`: a person who may write
/// to a shared parent directory must not decide for its users.
///
/// # Errors
/// A file above the root is a link or belongs to another user.
pub fn upwards_with(names: &[&str], root: &Path, top: Option<&Path>, safe: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let is_top = |directory: &Path| match top {
        Some(top) => directory == top,
        None => directory.join(".git").symlink_metadata().is_ok(),
    };
    let Some(last) = root.ancestors().position(is_top) else {
        let own = has_files(names, root).then(|| root.to_owned());
        return Ok(own.into_iter().collect());
    };
    let mut found = Vec::new();
    for directory in root.ancestors().take(last + 1).filter(|directory| has_files(names, directory)) {
        if directory != root {
            check_owner(names, directory, safe)?;
        }
        found.push(directory.to_owned());
    }
    Ok(found)
}

fn has_files(names: &[&str], directory: &Path) -> bool {
    names.iter().any(|name| directory.join(name).symlink_metadata().is_ok())
}

/// Checks that the files of a directory above a root are files of this user or of root.
fn check_owner(names: &[&str], directory: &Path, safe: &[PathBuf]) -> Result<()> {
    if safe.iter().any(|safe| directory.starts_with(safe)) {
        return Ok(());
    }
    for name in names {
        let path = directory.join(name);
        let Ok(there) = path.symlink_metadata() else { continue };
        let fault = match (there.is_file(), owner(&there)) {
            (false, _) => "is not a regular file".to_owned(),
            (true, Some(other)) => format!("belongs to the user {other}"),
            (true, None) => continue,
        };
        let message = format!("'{}' is above the kustomization and {fault}", path.display());
        return Err(Error::new(Code::Refused, message).hint(format!(
            "if you trust that directory: export RUSTOMIZE_SAFE_DIRECTORIES='{}'",
            directory.display()
        )));
    }
    Ok(())
}

/// The owner of a file, unless that is this user or root.
#[cfg(unix)]
fn owner(there: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let own = [0, rustix::process::geteuid().as_raw()];
    Some(there.uid()).filter(|uid| !own.contains(uid))
}

/// None: the owners of files are not looked at on this system.
#[cfg(not(unix))]
fn owner(_: &std::fs::Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::upwards;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn found(root: &Path, top: Option<&Path>) -> Vec<String> {
        let found: Vec<PathBuf> = upwards(root, top, &[]).unwrap();
        found.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn requirements_are_looked_for_up_to_the_top_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let repository = folder.path().canonicalize().unwrap().join("repository");
        let root = repository.join("apps/one");
        fs::create_dir_all(&root).unwrap();
        for directory in [&root, &repository, &repository.join("..")] {
            fs::write(directory.join("plugins.yaml"), "").unwrap();
        }
        assert_eq!(found(&root, None), ["one"]);
        fs::create_dir(repository.join(".git")).unwrap();
        assert_eq!(found(&root, None), ["one", "repository"]);
        assert_eq!(found(&root, Some(&repository.join("apps"))), ["one"]);
    }

    #[test]
    fn a_link_above_the_root_is_refused_unless_its_directory_is_safe() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let root = top.join("app");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir(top.join(".git")).unwrap();
        fs::write(top.join("real.yaml"), "").unwrap();
        std::os::unix::fs::symlink("real.yaml", top.join("plugins.yaml")).unwrap();
        let error = upwards(&root, None, &[]).unwrap_err().to_string();
        assert!(error.contains("is not a regular file"), "{error}");
        assert_eq!(upwards(&root, None, std::slice::from_ref(&top)).unwrap(), [top]);
    }
}
