//! [`Loader`]: the source of the files of a build: the disk, memory, or the disk with unsaved texts
//! in place of some of its files.

use super::limit::FileLimit;
use super::path::clean;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The source of files. A build reads all bytes of this machine through it; remote files and clones
/// of repositories are read in other ways.
///
/// A place is absolute and without links. Two paths lead to one file if their places are equal.
pub trait Loader: Send + Sync {
    /// The place of a directory. A relative path begins at the working directory of the process.
    ///
    /// # Errors
    /// The path does not exist ([`io::ErrorKind::NotFound`]), or is not a directory
    /// ([`io::ErrorKind::NotADirectory`]).
    fn directory(&self, path: &Path) -> io::Result<PathBuf>;

    /// Opens a file. Its place decides whether it may be read, before it is read.
    ///
    /// # Errors
    /// The file cannot be opened. A directory is an error here or in [`Opened::read`].
    fn open(&self, path: &Path) -> Result<Opened, NotOpened>;

    /// The entries of a directory, in any order. A link counts as a file, wherever it leads.
    ///
    /// # Errors
    /// The directory cannot be read.
    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>>;
}

/// A file or directory in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: OsString,
    pub is_directory: bool,
}

/// A file that was opened.
#[derive(Debug)]
pub struct Opened {
    /// Absolute, without links.
    pub place: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    File(Box<dyn OpenFile>),
    Bytes(Arc<[u8]>),
}

/// A file that a loader has opened and not read yet.
pub trait OpenFile: fmt::Debug + Send {
    /// As [`Opened::read`].
    ///
    /// # Errors
    /// As [`Opened::read`].
    fn read(self: Box<Self>, limit: FileLimit) -> io::Result<Vec<u8>>;
}

impl Opened {
    /// A file that is read later. A directory or pipe is refused when it is read.
    pub fn file(place: PathBuf, file: impl OpenFile + 'static) -> Self {
        Opened { place, content: Content::File(Box::new(file)) }
    }

    /// A file in memory.
    pub fn bytes(place: PathBuf, bytes: Arc<[u8]>) -> Self {
        Opened { place, content: Content::Bytes(bytes) }
    }

    /// Reads the file. O(size).
    ///
    /// # Errors
    /// The entry is not a regular file ([`io::ErrorKind::IsADirectory`], or
    /// [`io::ErrorKind::InvalidInput`] for a pipe or device), is too large, or cannot be read.
    pub fn read(self, limit: FileLimit) -> io::Result<Vec<u8>> {
        match self.content {
            Content::Bytes(bytes) => limit.check(bytes.len() as u64).map(|()| bytes.to_vec()),
            Content::File(file) => file.read(limit),
        }
    }
}

/// The reason why a file was not opened.
#[derive(Debug)]
pub struct NotOpened {
    /// The place of the path, if something exists there.
    pub place: Option<PathBuf>,
    pub error: io::Error,
}

impl From<io::Error> for NotOpened {
    fn from(error: io::Error) -> Self {
        NotOpened { place: None, error }
    }
}

/// Files in memory, by absolute path; a relative path begins at `/`. Links do not exist.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, Arc<[u8]>>,
}

impl Memory {
    /// An empty set of files.
    pub fn new() -> Self {
        Memory::default()
    }

    /// Sets the content of a file.
    pub fn set(&mut self, path: impl AsRef<Path>, content: impl Into<Vec<u8>>) {
        self.files.insert(absolute(path.as_ref()), content.into().into());
    }

    /// Removes a file; returns false if it does not exist.
    pub fn remove(&mut self, path: impl AsRef<Path>) -> bool {
        self.files.remove(&absolute(path.as_ref())).is_some()
    }

    fn has_directory(&self, place: &Path) -> bool {
        let below = self.files.range::<Path, _>((Bound::Excluded(place), Bound::Unbounded));
        below.take(1).any(|(file, _)| file.starts_with(place))
    }

    fn opened(&self, place: &Path) -> Option<Opened> {
        Some(Opened::bytes(place.to_owned(), Arc::clone(self.files.get(place)?)))
    }
}

impl<P: AsRef<Path>, C: Into<Vec<u8>>> FromIterator<(P, C)> for Memory {
    fn from_iter<I: IntoIterator<Item = (P, C)>>(files: I) -> Self {
        let mut memory = Memory::new();
        files.into_iter().for_each(|(path, content)| memory.set(path, content));
        memory
    }
}

/// A path from `/`, without `.` and `..`.
fn absolute(path: &Path) -> PathBuf {
    clean(&Path::new("/").join(path).to_string_lossy()).into()
}

impl Loader for Memory {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        let place = absolute(path);
        match self.files.contains_key(&place) {
            true => Err(io::ErrorKind::NotADirectory.into()),
            false if self.has_directory(&place) => Ok(place),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        let place = absolute(path);
        match self.opened(&place) {
            Some(opened) => Ok(opened),
            None if self.has_directory(&place) => {
                Err(NotOpened { place: Some(place), error: io::ErrorKind::IsADirectory.into() })
            }
            None => Err(io::Error::from(io::ErrorKind::NotFound).into()),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let place = absolute(directory);
        let mut entries: Vec<Entry> = Vec::new();
        for file in self.files.range::<Path, _>((Bound::Excluded(&*place), Bound::Unbounded)).map(|(file, _)| file) {
            let Ok(below) = file.strip_prefix(&place) else { break };
            let mut parts = below.components();
            let name = parts.next().map(|part| part.as_os_str().to_owned()).unwrap_or_default();
            // Files of one directory come one after the other.
            if entries.last().is_none_or(|last| last.name != name) {
                entries.push(Entry { name, is_directory: parts.next().is_some() });
            }
        }
        Ok(entries)
    }
}

/// The files of another loader, some of them replaced by texts that an editor has not saved yet. A
/// text belongs to the place of a file, or to a path that does not exist in the other loader.
pub struct Overlay<L> {
    below: L,
    above: Memory,
}

impl<L: Loader> Overlay<L> {
    /// Puts texts, by path, over the files of a loader.
    pub fn new(below: L, above: Memory) -> Self {
        Overlay { below, above }
    }

    /// The place that a path would have in the other loader if its file existed.
    fn place(&self, path: &Path) -> PathBuf {
        let parent = path.parent().and_then(|parent| self.below.directory(parent).ok());
        match (parent, path.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => absolute(path),
        }
    }
}

impl<L: Loader> Loader for Overlay<L> {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        self.below.directory(path).or_else(|e| match e.kind() {
            io::ErrorKind::NotFound => self.above.directory(&self.place(path)),
            _ => Err(e),
        })
    }

    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        match self.below.open(path) {
            Ok(opened) => Ok(self.above.opened(&opened.place).unwrap_or(opened)),
            Err(e) if e.error.kind() == io::ErrorKind::NotFound => self.above.opened(&self.place(path)).ok_or(e),
            Err(e) => Err(e),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let below = match self.below.list(directory) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed?,
        };
        let place = self.directory(directory)?;
        Ok(below.into_iter().chain(self.above.list(&place)?).collect::<BTreeSet<_>>().into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{FileLimit, Loader, Memory};
    use std::io;
    use std::path::Path;

    fn read(loader: &dyn Loader, path: &Path) -> io::Result<(String, Vec<u8>)> {
        let opened = loader.open(path).map_err(|e| e.error)?;
        Ok((opened.place.to_string_lossy().into_owned(), opened.read(FileLimit::default())?))
    }

    #[test]
    fn memory_has_files_and_the_directories_above_them() {
        let memory = Memory::from_iter([("app/base/a.yaml", "a"), ("/app/b.yaml", "b")]);
        assert_eq!(read(&memory, Path::new("/app/x/../b.yaml")).unwrap(), ("/app/b.yaml".to_owned(), b"b".to_vec()));
        assert_eq!(memory.directory(Path::new("app/base/..")).unwrap(), Path::new("/app"));
        assert_eq!(memory.directory(Path::new("/")).unwrap(), Path::new("/"));
        let kind = |path: &str| read(&memory, Path::new(path)).unwrap_err().kind();
        assert_eq!((kind("app"), kind("ap")), (io::ErrorKind::IsADirectory, io::ErrorKind::NotFound));
        let kind = |path: &str| memory.directory(Path::new(path)).unwrap_err().kind();
        assert_eq!((kind("app/b.yaml"), kind("ap")), (io::ErrorKind::NotADirectory, io::ErrorKind::NotFound));
    }
}
