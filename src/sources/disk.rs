//! [`Disk`]: the files of this machine.

use super::limit::read_opened;
use super::reach;
use hashbrown::HashMap;
use rustomize_base::windows_path::{name_fault, slashed};
use rustomize_engine::load::FileLimit;
use rustomize_engine::load::loader::{Entry, Loader, NotOpened, OpenFile, Opened};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The place of a path: absolute, without links, on Windows with `/` between its names.
fn real(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path).map(slashed)
}

/// Refuses a path that names something else than it seems to name, and one that no file can have,
/// as only Windows knows them: nothing is there.
fn check(path: &Path) -> io::Result<()> {
    let is_bad = |name: &str| name_fault(name).is_some() || name.contains(['*', '?', '<', '>', '|', '"']);
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    match cfg!(windows) && names.into_iter().any(|name| is_bad(&name)) {
        true => Err(io::ErrorKind::NotFound.into()),
        false => Ok(()),
    }
}

/// A file of the system.
#[derive(Debug)]
struct DiskFile(File);

impl OpenFile for DiskFile {
    fn read(self: Box<Self>, limit: FileLimit) -> io::Result<Vec<u8>> {
        let metadata = self.0.metadata()?;
        match metadata.file_type() {
            kind if kind.is_file() => read_opened(limit, &self.0, metadata.len()),
            kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

/// The number of the system's error for a process that has as many open files as it may.
#[cfg(unix)]
const TOO_MANY_OPEN: i32 = rustix::io::Errno::MFILE.raw_os_error();
#[cfg(not(unix))]
const TOO_MANY_OPEN: i32 = 4;

/// The files of this machine. It remembers the directories that it has seen, so a new one is made
/// for each look at the disk.
#[derive(Default)]
pub struct Disk {
    directories: RwLock<HashMap<PathBuf, Arc<Directory>>>,
}

impl Disk {
    /// The files of this machine, with nothing remembered yet.
    pub fn new() -> Self {
        Disk::default()
    }

    /// A directory that was resolved before.
    fn known(&self, path: &Path) -> Option<Arc<Directory>> {
        self.directories.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// A directory, resolved once.
    fn resolved(&self, path: &Path) -> io::Result<Arc<Directory>> {
        if let Some(directory) = self.known(path) {
            return Ok(directory);
        }
        if let Some(directory) = self.below_known(path) {
            return Ok(directory);
        }
        let directory = self.with_room(|| Directory::open(path))?;
        Ok(self.remember(path, directory))
    }

    /// Opens something. Where the process may not have more open files, the remembered directories
    /// are closed, and it is opened again.
    fn with_room<T>(&self, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match open() {
            Err(error) if error.raw_os_error() == Some(TOO_MANY_OPEN) => {
                self.directories.write().unwrap_or_else(PoisonError::into_inner).clear();
                open()
            }
            opened => opened,
        }
    }

    /// A directory whose directory was resolved before. The system then looks up one name, however
    /// deep the directory is. `None` if that directory is not known, or has no such directory: a
    /// link may lead to one.
    fn below_known(&self, path: &Path) -> Option<Arc<Directory>> {
        let directory = self.known(path.parent()?)?.open_directory(path.file_name()?.as_ref())?;
        Some(self.remember(path, directory))
    }

    fn remember(&self, path: &Path, directory: Directory) -> Arc<Directory> {
        let directory = Arc::new(directory);
        let mut directories = self.directories.write().unwrap_or_else(PoisonError::into_inner);
        directories.insert(path.to_owned(), Arc::clone(&directory));
        directory
    }
}

impl Loader for Disk {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        reach::check(path)?;
        if let Some(known) = self.known(path).or_else(|| self.below_known(path)) {
            return Ok(known.real.clone());
        }
        check(path)?;
        // Most paths here are files, or name nothing: one call of the system says so.
        if path.metadata()?.is_dir() { real(path) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// The path of the directory is walked once, whatever the number of its files.
    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        reach::check(path)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(NotOpened { place: Some(path.to_owned()), error: io::ErrorKind::IsADirectory.into() });
        };
        check(path)?;
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let directory = self.resolved(parent)?;
        let place = slashed(directory.real.join(name));
        match self.with_room(|| directory.open_file(name.as_ref())) {
            Ok(Some(file)) => Ok(Opened::file(place, DiskFile(file))),
            // A link: its target counts.
            Ok(None) => {
                let place = real(&place)?;
                let (parent, name) = (place.parent().unwrap_or(Path::new("/")), place.file_name().unwrap_or_default());
                let opened = Directory::open(parent).and_then(|directory| directory.open_file(name.as_ref()));
                match opened {
                    Ok(Some(file)) => Ok(Opened::file(place, DiskFile(file))),
                    Ok(None) => Err(NotOpened { place: Some(place), error: io::Error::other("it became a link") }),
                    Err(error) => Err(NotOpened { place: Some(place), error }),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error.into()),
            Err(error) => Err(NotOpened { place: Some(place), error }),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        reach::check(directory)?;
        list(directory)
    }
}

/// The names in a directory of the system.
fn list(directory: &Path) -> io::Result<Vec<Entry>> {
    let entry =
        |entry: std::fs::DirEntry| Ok(Entry { name: entry.file_name(), is_directory: entry.file_type()?.is_dir() });
    std::fs::read_dir(directory)?.map(|found| found.and_then(entry)).collect()
}

/// A directory whose path was resolved: files in it are opened without walking the path again.
struct Directory {
    real: PathBuf,
    #[cfg(unix)]
    handle: std::os::fd::OwnedFd,
}

#[cfg(unix)]
impl Directory {
    fn open(path: &Path) -> io::Result<Self> {
        let real = real(path)?;
        let handle = rustix::fs::open(&real, Self::FLAGS, rustix::fs::Mode::empty())?;
        Ok(Directory { real, handle })
    }

    #[cfg(target_os = "linux")]
    const FLAGS: rustix::fs::OFlags =
        rustix::fs::OFlags::DIRECTORY.union(rustix::fs::OFlags::PATH).union(rustix::fs::OFlags::CLOEXEC);
    #[cfg(not(target_os = "linux"))]
    const FLAGS: rustix::fs::OFlags = rustix::fs::OFlags::DIRECTORY.union(rustix::fs::OFlags::CLOEXEC);

    /// A directory in this one; `None` for a link, and for anything else that is not a directory.
    fn open_directory(&self, name: &Path) -> Option<Self> {
        let flags = Self::FLAGS | rustix::fs::OFlags::NOFOLLOW;
        let handle = rustix::fs::openat(&self.handle, name, flags, rustix::fs::Mode::empty()).ok()?;
        Some(Directory { real: self.real.join(name), handle })
    }

    /// Opens an entry; `None` for a link. A pipe does not block.
    fn open_file(&self, name: &Path) -> io::Result<Option<File>> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(file) => Ok(Some(file.into())),
            Err(rustix::io::Errno::LOOP) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}

#[cfg(not(unix))]
impl Directory {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Directory { real: real(path)? })
    }

    /// Finds nothing: the name that a directory has may differ from `name` in its case.
    fn open_directory(&self, _: &Path) -> Option<Self> {
        None
    }

    /// Opens an entry; `None` for a link, and for an entry whose name has letters in another case.
    fn open_file(&self, name: &Path) -> io::Result<Option<File>> {
        let path = slashed(self.real.join(name));
        match real(&path)? == path {
            false => Ok(None),
            // The system would speak of missing permission.
            true if path.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            true => File::open(path).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Disk, FileLimit, Loader};
    use rustomize_engine::load::{Memory, Overlay};
    use std::io;
    use std::path::Path;

    fn read(loader: &dyn Loader, path: &Path) -> io::Result<Vec<u8>> {
        loader.open(path).map_err(|e| e.error)?.read(FileLimit::default())
    }

    #[test]
    fn texts_over_the_disk_count_by_place_and_where_no_file_is() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::write(real.join("saved"), "old").unwrap();
        std::os::unix::fs::symlink("saved", real.join("link")).unwrap();
        let mut above = Memory::from_iter([(real.join("saved"), "new"), (real.join("added"), "text")]);
        above.set(real.join("more/deep"), "d");
        let overlay = Overlay::new(Disk::new(), above);
        for (path, text) in [("saved", "new"), ("link", "new"), ("added", "text"), ("more/deep", "d")] {
            assert_eq!(read(&overlay, &real.join(path)).unwrap(), text.as_bytes(), "{path}");
        }
        assert_eq!(overlay.directory(&real.join("more")).unwrap(), real.join("more"));
        assert_eq!(read(&overlay, &real.join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
