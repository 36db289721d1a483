//! [`Project`]: the `plugins.yaml` and `plugins.lock` of one directory, and the directories in
//! which these files are looked for.

use crate::diag::Result;
use crate::fetch::Base;
use crate::fetch::identity::PluginId;
use crate::id::requirement::Requirement;
use crate::policy::lock::{self, Lock, LockedPlugin};
use crate::policy::project_directory::{Owners, ProjectDirectory};
use crate::policy::requirements::{self, Requirements};
use std::path::{Path, PathBuf};

/// A `plugins.yaml` with the `plugins.lock` beside it.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The directory of both files.
    pub directory: PathBuf,
    /// The users whose files are read there.
    pub owners: Owners,
    /// The plugins that the file requires, in its order.
    pub needs: Vec<Need>,
    /// `None` where nothing was locked yet.
    pub lock: Option<Lock>,
}

/// A requirement, and the plugin that it means. No plugin of another origin meets it.
#[derive(Clone, Debug)]
pub struct Need {
    pub wanted: Requirement,
    pub id: PluginId,
}

impl Need {
    /// Finds out what requirements mean. Relative paths are those of `base`.
    ///
    /// # Errors
    /// The `from` of one is not valid.
    pub fn all(wanted: Vec<Requirement>, base: &Base) -> Result<Vec<Need>> {
        wanted.into_iter().map(|wanted| Ok(Need { id: PluginId::of(&wanted, base)?, wanted })).collect()
    }
}

impl Project {
    /// Reads the two files of a directory; a missing file is the same as an empty one.
    ///
    /// # Errors
    /// A file cannot be read, does not have its form, or belongs to a user who does not count.
    pub fn read(directory: &ProjectDirectory) -> Result<Project> {
        let (requirements, lock) = (Requirements::read_in(directory)?, Lock::read_in(directory)?);
        let ProjectDirectory { path, owners } = directory.clone();
        let needs = Need::all(requirements.plugins, &Base::new(&path))?;
        Ok(Project { directory: path, owners, needs, lock })
    }

    /// The directory, for reading its files again.
    pub fn place(&self) -> ProjectDirectory {
        ProjectDirectory { path: self.directory.clone(), owners: self.owners }
    }

    /// Returns whether the project requires no plugin.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// The lock entry of a plugin.
    pub fn locked(&self, id: &PluginId) -> Option<&LockedPlugin> {
        self.lock.as_ref()?.of(&self.directory, id)
    }

    /// The requirement with a name, or with a source as it is written.
    pub fn need(&self, named: &str) -> Option<&Need> {
        self.needs.iter().find(|need| need.wanted.name == named || need.wanted.source.to_string() == named)
    }

    /// The path of `plugins.yaml`.
    pub fn file(&self) -> PathBuf {
        self.directory.join(requirements::FILE)
    }
}

/// The directories whose `plugins.yaml` and `plugins.lock` count for a root: see [`upwards_with`].
pub fn upwards(root: &Path, top: Option<&Path>, safe: &[PathBuf]) -> Vec<ProjectDirectory> {
    upwards_with(&[requirements::FILE, lock::FILE], root, top, safe)
}

/// The directories whose files with some names count for a root, nearest first: the root's own,
/// and those above it up to the top of its repository. Without a repository only the root's own.
/// Directories without such a file are left out.
///
/// `top` ends the search where the root was cloned: it is the directory of the clone. Files above
/// the root have to belong to the user, or be below a directory of `safe`: reading them checks it.
pub fn upwards_with(names: &[&str], root: &Path, top: Option<&Path>, safe: &[PathBuf]) -> Vec<ProjectDirectory> {
    let is_top = |directory: &Path| match top {
        Some(top) => directory == top,
        None => directory.join(".git").symlink_metadata().is_ok(),
    };
    let last = root.ancestors().position(is_top).unwrap_or(0);
    let found = root.ancestors().take(last + 1).filter(|directory| has_files(names, directory));
    let is_own = |directory: &Path| directory == root || safe.iter().any(|safe| directory.starts_with(safe));
    let owners = |directory: &Path| if is_own(directory) { Owners::Anyone } else { Owners::UserOrRoot };
    found.map(|directory| ProjectDirectory { path: directory.to_owned(), owners: owners(directory) }).collect()
}

fn has_files(names: &[&str], directory: &Path) -> bool {
    names.iter().any(|name| directory.join(name).symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use super::{Project, upwards};
    use std::fs;
    use std::path::{Path, PathBuf};

    fn found(root: &Path, top: Option<&Path>) -> Vec<String> {
        let found = upwards(root, top, &[]).into_iter().map(|directory| directory.path);
        found.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
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
        let read = |safe: &[PathBuf]| Project::read(&upwards(&root, None, safe)[0]).map_err(|e| e.to_string());
        let error = read(&[]).unwrap_err();
        assert!(error.contains("is not a regular file"), "{error}");
        assert_eq!(read(std::slice::from_ref(&top)).unwrap().directory, top);
    }
}
