//! The only door to bytes: files below a kustomization root, under a load restrictor.

mod path;

pub use path::{clean, join};

use crate::diag::{Error, ErrorKind, Result};
use crate::yaml::{Arena, Source};
use hashbrown::HashMap;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Which files a kustomization may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restrictor {
    /// Files in or below the directory of the kustomization, after symlinks are resolved.
    #[default]
    RootOnly,
    /// Any file.
    None,
}

/// Files of a build: each text is read once, each directory resolved once.
pub struct Files<'a> {
    pub arena: &'a Arena,
    restrictor: Restrictor,
    sources: RefCell<HashMap<PathBuf, &'a Source>>,
    directories: RefCell<HashMap<PathBuf, Rc<Directory>>>,
}

/// The directory of a kustomization.
#[derive(Clone, Debug)]
pub struct Root {
    /// Absolute, without symlinks.
    pub real: Rc<Path>,
    /// What messages call it: as the user named it, from the directory the build started in.
    pub shown: String,
    /// The real paths of the roots that led here, this one last.
    chain: Rc<Chain>,
}

#[derive(Debug)]
struct Chain {
    real: Rc<Path>,
    parent: Option<Rc<Chain>>,
}

/// Why a text could not be loaded as a file.
#[derive(Debug)]
pub struct NotLoaded {
    /// There is no file of this name, but there may be a directory.
    pub missing: bool,
    pub error: Error,
}

impl From<NotLoaded> for Error {
    fn from(n: NotLoaded) -> Error {
        n.error
    }
}

impl<'a> Files<'a> {
    /// Nothing is read yet.
    pub fn new(arena: &'a Arena, restrictor: Restrictor) -> Self {
        Files { arena, restrictor, sources: RefCell::default(), directories: RefCell::default() }
    }

    /// The root a build starts at.
    ///
    /// # Errors
    /// It is no directory.
    pub fn root(&self, argument: &str) -> Result<Root> {
        let real = directory(Path::new(argument), argument)?;
        let chain = Rc::new(Chain { real: real.clone(), parent: None });
        Ok(Root { real, shown: clean(argument), chain })
    }

    /// The root of a base or component that `root` names. Directories are not restricted.
    ///
    /// # Errors
    /// It is no directory, the path is empty or absolute (unless `allow_absolute`), or the directory is or contains one
    /// on the way here: a cycle.
    pub fn base(&self, root: &Root, path: &str, allow_absolute: bool) -> Result<Root> {
        if path.is_empty() {
            return Err(Error::input("new root cannot be empty"));
        }
        if path.starts_with('/') && !allow_absolute {
            let error = Error::input(format!("new root '{path}' cannot be absolute"));
            return Err(error.hint("name the directory relative to the kustomization"));
        }
        let real = directory(&root.real.join(path), path)?;
        let mut link = Some(&root.chain);
        while let Some(chain) = link {
            if chain.real.starts_with(&real) {
                let message =
                    format!("cycle detected: '{}' contains '{}', which led here", real.display(), chain.real.display());
                return Err(Error::input(message));
            }
            link = chain.parent.as_ref();
        }
        let chain = Rc::new(Chain { real: real.clone(), parent: Some(root.chain.clone()) });
        Ok(Root { real, shown: join(&root.shown, path), chain })
    }

    /// Loads a text that `root` names. O(size); a text that was loaded before costs a look-up.
    ///
    /// # Errors
    /// It cannot be read, is no file, lies where the restrictor forbids it, or is no UTF-8.
    pub fn text(&self, root: &Root, path: &str) -> Result<&'a Source, NotLoaded> {
        let (real, file) = self.open(root, path)?;
        if let Some(source) = self.sources.borrow().get(&real) {
            return Ok(source);
        }
        let bytes = read(&file, path)?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let place = format!("byte {}", e.utf8_error().valid_up_to());
            not_loaded(Error::input(format!("'{path}' is not valid UTF-8 at {place}")))
        })?;
        let source = self.arena.add_file(join(&root.shown, path), text);
        self.sources.borrow_mut().insert(real, source);
        Ok(source)
    }

    /// Loads bytes that `root` names.
    ///
    /// # Errors
    /// As [`Files::text`], less UTF-8.
    pub fn bytes(&self, root: &Root, path: &str) -> Result<Vec<u8>, NotLoaded> {
        let (_, file) = self.open(root, path)?;
        read(&file, path)
    }

    /// Opens a file, under the restrictor, and tells its real path. Parent directories are resolved once.
    fn open(&self, root: &Root, path: &str) -> Result<(PathBuf, OwnedFd), NotLoaded> {
        let joined = if path.starts_with('/') { clean(path) } else { join(&root.real.to_string_lossy(), path) };
        let joined = Path::new(&joined);
        let (Some(parent), Some(name)) = (joined.parent(), joined.file_name()) else {
            // The root of the file system.
            return Err(NotLoaded { missing: true, error: Error::input(format!("'{path}' must resolve to a file")) });
        };
        let known = self.directories.borrow().get(parent).cloned();
        let directory = match known {
            Some(directory) => directory,
            None => {
                let directory = Rc::new(Directory::open(parent).map_err(|e| missing(path, &e))?);
                self.directories.borrow_mut().insert(parent.to_owned(), directory.clone());
                directory
            }
        };
        let real = directory.real.join(name);
        match directory.open_file(name) {
            Ok(file) => self.restrict(root, real, false).map(|real| (real, file)),
            Err(Errno::LOOP) => {
                // A link: what it leads to counts.
                let real = real.canonicalize().map_err(|e| missing(path, &e))?;
                let real = self.restrict(root, real.clone(), real.is_dir())?;
                let (parent, name) = (real.parent().unwrap_or(Path::new("/")), real.file_name().unwrap_or_default());
                let file = Directory::open(parent).and_then(|d| d.open_file(name).map_err(io::Error::from));
                file.map_err(|e| missing(path, &e)).map(|file| (real, file))
            }
            Err(e) => {
                self.restrict(root, real.clone(), real.is_dir())?;
                Err(missing(path, &e.into()))
            }
        }
    }

    /// Refuses a real path that the restrictor forbids.
    fn restrict(&self, root: &Root, real: PathBuf, is_directory: bool) -> Result<PathBuf, NotLoaded> {
        if self.restrictor == Restrictor::RootOnly && !real.starts_with(&root.real) {
            let message = format!("security; file '{}' is not in or below '{}'", real.display(), root.real.display());
            let hint = "move it there, or allow it with --load-restrictor LoadRestrictionsNone";
            return Err(NotLoaded { missing: is_directory || real.is_dir(), error: Error::input(message).hint(hint) });
        }
        Ok(real)
    }
}

fn not_loaded(error: Error) -> NotLoaded {
    NotLoaded { missing: false, error }
}

fn missing(path: &str, e: &io::Error) -> NotLoaded {
    let error = match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            Error::new(ErrorKind::Io, format!("'{path}': no such file or directory"))
        }
        _ => Error::new(ErrorKind::Io, format!("'{path}' cannot be read: {e}")),
    };
    NotLoaded { missing: true, error }
}

fn directory(path: &Path, named: &str) -> Result<Rc<Path>> {
    let real = path.canonicalize().map_err(|e| missing(named, &e).error)?;
    if real.is_dir() {
        Ok(real.into())
    } else {
        Err(Error::new(ErrorKind::Io, format!("'{named}': file is not directory")))
    }
}

/// A directory whose path was resolved: files in it are opened without walking the path again.
struct Directory {
    real: PathBuf,
    handle: OwnedFd,
}

impl Directory {
    fn open(path: &Path) -> io::Result<Self> {
        let real = path.canonicalize()?;
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&real, flags, Mode::empty())?;
        Ok(Directory { real, handle })
    }

    /// Opens an entry, unless it is a link. A pipe does not block.
    fn open_file(&self, name: &OsStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(&self.handle, name, flags, Mode::empty())
    }
}

/// Reads a regular file.
fn read(file: &OwnedFd, named: &str) -> Result<Vec<u8>, NotLoaded> {
    let stat = rustix::fs::fstat(file).map_err(|e| missing(named, &e.into()))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        let error = Error::new(ErrorKind::Io, format!("'{named}' must resolve to a file"));
        return Err(NotLoaded { missing: kind == FileType::Directory, error });
    }
    let mut bytes: Vec<u8> = Vec::with_capacity(usize::try_from(stat.st_size).unwrap_or(0) + 1);
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes)) {
            // As long as it said it is: there is no more to come.
            Ok(n) if n == 0 || bytes.len() as i64 == stat.st_size => return Ok(bytes),
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(missing(named, &e.into())),
        }
    }
}
