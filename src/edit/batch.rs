//! [`Batch`]: files of several directories that are changed or made together. All changes are
//! prepared before the first file is written, so that an error leaves every file as it was.

use super::change::Change;
use super::place;
use crate::diag::{Code, Error, Result};
use rustomize_base::shell::quoted;
use rustomize_files::atomic::Staged;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Changes of files, and the locks of the directories that are changed.
pub struct Batch {
    /// The directories that have all the files.
    within: Vec<PathBuf>,
    locks: Vec<File>,
    changes: BTreeMap<PathBuf, Change>,
    /// The files that the batch makes.
    new: BTreeMap<PathBuf, NewFile>,
}

/// A file that does not exist yet.
struct NewFile {
    /// The file as messages name it.
    name: String,
    text: String,
}

impl Batch {
    /// A batch of changes of files at and below directories.
    ///
    /// # Errors
    /// A directory does not exist.
    pub fn within<P: AsRef<Path>>(directories: impl IntoIterator<Item = P>) -> Result<Batch> {
        let real = |directory: P| {
            let directory = directory.as_ref();
            dunce::canonicalize(directory)
                .map_err(|fault| Error::io(&fault, format!("'{}': {fault}", directory.display())))
        };
        let within = directories.into_iter().map(real).collect::<Result<_>>()?;
        Ok(Batch { within, locks: Vec::new(), changes: BTreeMap::new(), new: BTreeMap::new() })
    }

    /// Returns true for a file without links that is at or below a directory of the batch.
    pub fn has(&self, path: &Path) -> bool {
        self.within.iter().any(|within| path.starts_with(within))
    }

    /// Locks directories until the batch is written or dropped. A directory that another command
    /// changes is waited for. All commands lock in the order of the paths, so none waits for a
    /// command that waits for it.
    ///
    /// # Errors
    /// The system gives no more descriptors.
    pub fn lock<P: AsRef<Path>>(&mut self, directories: impl IntoIterator<Item = P>) -> Result<()> {
        let mut places: Vec<PathBuf> =
            directories.into_iter().filter_map(|directory| dunce::canonicalize(directory).ok()).collect();
        places.sort_unstable();
        places.dedup();
        // One for each lock, and those of each new file.
        rustomize_files::raise_descriptors(64 + 4 * places.len() as u64);
        for place in places {
            match place::lock(&place) {
                Some(lock) => self.locks.push(lock),
                None => {
                    // A file system without locks is no reason to stop: `edit` works there as well.
                    if let Err(fault) = File::open(&place) {
                        let error = Error::io(&fault, format!("cannot lock '{}': {fault}", place.display()));
                        return Err(error.hint("change fewer directories at once"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a change. A second change of a file takes the text after the first one as its start.
    ///
    /// # Errors
    /// The file is outside of the directory of the batch, is not a plain file, or is read-only.
    pub fn add(&mut self, change: Change) -> Result<()> {
        let name = &change.name;
        self.check(name, &change.path)?;
        let facts =
            fs::metadata(&change.path).map_err(|fault| Error::io(&fault, format!("cannot read '{name}': {fault}")))?;
        if !facts.is_file() {
            return Err(Error::new(Code::Io, format!("'{name}' is not a plain file")));
        }
        if facts.permissions().readonly() {
            let hint = format!("let it be written: chmod u+w {}", quoted(name));
            return Err(Error::new(Code::Permission, format!("'{name}' is read-only")).hint(hint));
        }
        match self.changes.get_mut(&change.path) {
            Some(first) => first.after = change.after,
            None => drop(self.changes.insert(change.path.clone(), change)),
        }
        Ok(())
    }

    /// Adds a file that does not exist yet. It is written before the changes, which may name it.
    ///
    /// # Errors
    /// The file is outside of the directory of the batch.
    pub fn create(&mut self, name: String, path: PathBuf, text: String) -> Result<()> {
        self.check(&name, &path)?;
        self.new.insert(path, NewFile { name, text });
        Ok(())
    }

    /// Refuses a file outside of the directories of the batch.
    fn check(&self, name: &str, path: &Path) -> Result<()> {
        if self.has(path) {
            return Ok(());
        }
        let message =
            format!("'{name}' leads to '{}', which is outside of the directory that is changed", path.display());
        Err(Error::new(Code::OutsideRoot, message).hint("name a directory that has both"))
    }

    /// The text of a file after the changes so far; `None` if no change concerns the file.
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.changes.get(path).map(|change| change.after.as_str())
    }

    /// The changes, in the order of their paths. Files that stay as they are are left out.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.values().filter(|change| change.before != change.after)
    }

    /// Writes all files: each is complete beside its place before the first is put there.
    ///
    /// # Errors
    /// A file has changed or was made meanwhile, or cannot be written. All files are as they were
    /// then; a file that could not be restored is named.
    pub fn write(self) -> Result<()> {
        let cannot = |name: &str, fault: &io::Error| Error::io(fault, format!("cannot write '{name}': {fault}"));
        let mut ready = Vec::new();
        for change in self.changes() {
            let unchanged = |fault: io::Error| cannot(&change.name, &fault).hint(UNCHANGED);
            let now = fs::read(&change.path).map_err(unchanged)?;
            if now != change.before.as_bytes() {
                let message = format!("'{}' has changed meanwhile", change.name);
                return Err(Error::new(Code::Io, message).hint("no file has changed here: run the command again"));
            }
            ready.push((change, stage(change).map_err(unchanged)?));
        }
        let mut written = Written::default();
        for (path, file) in &self.new {
            if let Err(fault) = place::write_new(path, file.text.as_bytes()) {
                return Err(cannot(&file.name, &fault).hint(written.undone()));
            }
            written.new.push((path, &file.name));
        }
        for (change, staged) in ready {
            let put = match staged {
                Some((file, mode)) => file.put_for_good(&change.path, mode),
                None => Err(ErrorKind::PermissionDenied.into()),
            };
            // A file that cannot be replaced, as one with a mount of its own, is written in place.
            let put = put.or_else(|_| place::write_in_place(&change.path, &change.after, change.before.as_bytes()));
            if let Err(fault) = put {
                return Err(cannot(&change.name, &fault).hint(written.undone()));
            }
            written.changes.push(change);
        }
        Ok(())
    }
}

/// The hint that a failed command has changed nothing.
const UNCHANGED: &str = "no file has changed";

/// The files that were written so far.
#[derive(Default)]
struct Written<'b> {
    changes: Vec<&'b Change>,
    /// The paths and the names of new files.
    new: Vec<(&'b Path, &'b str)>,
}

impl Written<'_> {
    /// Gives changed files their former texts and removes new files. Returns the hint that says
    /// which files remain as they were written.
    fn undone(self) -> String {
        let is_left = |change: &&&Change| place::write(&change.path, change.before.as_bytes()).is_err();
        let changes = self.changes.iter().filter(is_left).map(|change| change.name.as_str());
        let new = self.new.iter().filter(|(path, _)| fs::remove_file(path).is_err()).map(|(_, name)| *name);
        let left: Vec<&str> = changes.chain(new).collect();
        match left.is_empty() {
            true => UNCHANGED.to_owned(),
            false => format!("restore these files, which have changed: {}", left.join(", ")),
        }
    }
}

/// The new text beside the place of a file, and the mode of the file. `None` in a directory that
/// takes no new file: the file itself can be written then.
fn stage(change: &Change) -> io::Result<Option<(Staged, u32)>> {
    match Staged::beside(&change.path) {
        Ok(mut staged) => {
            staged.write_all(change.after.as_bytes())?;
            Ok(Some((staged, rustomize_files::mode(&fs::metadata(&change.path)?))))
        }
        Err(_) => fs::OpenOptions::new().append(true).open(&change.path).map(|_| None),
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, UNCHANGED, Written};
    use std::fs;

    #[test]
    fn a_failed_batch_restores_files_and_names_those_that_it_cannot_restore() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let change = |name: &str| {
            fs::write(path(name), "after").unwrap();
            Change { name: name.to_owned(), path: path(name), before: "before".to_owned(), after: "after".to_owned() }
        };
        let (kept, gone, new) = (change("kept.yaml"), change("gone.yaml"), path("new.yaml"));
        fs::write(&new, "").unwrap();
        let written = Written { changes: vec![&kept], new: vec![(&new, "new.yaml")] };
        assert_eq!(written.undone(), UNCHANGED);
        assert_eq!(fs::read_to_string(&kept.path).unwrap(), "before");
        assert!(!new.exists());
        fs::remove_file(&gone.path).unwrap();
        let written = Written { changes: vec![&kept, &gone], new: vec![(&new, "new.yaml")] };
        assert_eq!(written.undone(), "restore these files, which have changed: gone.yaml, new.yaml");
    }
}
