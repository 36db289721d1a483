//! [`ProjectDirectory`]: a directory with files that say which plugins a tree uses, and whose files
//! these may be.

use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use rustomize_base::shell::quoted;
use rustomize_files::{self as files, Directory, PlainFile};
use std::io;
use std::path::{Path, PathBuf};

/// The users whose files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owners {
    /// Every user: the directory was named, or belongs to the tree that is built.
    #[default]
    Anyone,
    /// This user and root. The directory is above the tree that is built, so a person who may write
    /// to a shared directory must not decide for its users.
    UserOrRoot,
}

/// A directory with `plugins.yaml`, `plugins.lock` or `rustomize.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectDirectory {
    pub path: PathBuf,
    pub owners: Owners,
}

impl ProjectDirectory {
    /// A directory that was named, with files of any user.
    pub fn named(path: &Path) -> ProjectDirectory {
        ProjectDirectory { path: path.to_owned(), owners: Owners::Anyone }
    }

    /// The text of a file of the directory; `None` without the file. The owner is that of the file
    /// which is read, even if another one takes its place meanwhile. O(size).
    ///
    /// # Errors
    /// The file cannot be read, is not a plain file, or belongs to a user who does not count.
    pub fn read(&self, name: &str) -> Result<Option<String>> {
        let path = self.path.join(name);
        let cannot = |e: io::Error| Error::io(&e, format!("cannot read '{}': {e}", path.display()));
        let opened = match self.owners {
            Owners::Anyone => files::open(&path),
            Owners::UserOrRoot => Directory::open(&self.path).and_then(|held| held.file(Path::new(name))),
        };
        let file = match opened {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) if is_other(&e) && self.owners == Owners::UserOrRoot => {
                return Err(self.refused(&path, "is not a regular file"));
            }
            opened => opened.map_err(cannot)?,
        };
        if let Some(other) = other_owner(&file).filter(|_| self.owners == Owners::UserOrRoot) {
            return Err(self.refused(&path, &format!("belongs to the user {other}")));
        }
        file.read_text(FileLimit::default().0).map(Some).map_err(cannot)
    }

    fn refused(&self, path: &Path, fault: &str) -> Error {
        let message = format!("'{}' is above the kustomization and {fault}", path.display());
        let directory = quoted(&self.path.to_string_lossy());
        Error::new(Code::Refused, message)
            .hint(format!("if you trust that directory: export RUSTOMIZE_SAFE_DIRECTORIES={directory}"))
    }
}

/// Returns true if an error says that something else than a plain file is there.
fn is_other(e: &io::Error) -> bool {
    files::is_refusal(e) || e.kind() == io::ErrorKind::IsADirectory
}

/// The owner of a file, unless that is this user or root.
fn other_owner(file: &PlainFile) -> Option<u32> {
    let own = [0, files::own_user()];
    Some(file.facts().owner).filter(|owner| !own.contains(owner))
}
