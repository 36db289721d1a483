//! The only door to bytes: files below a kustomization root, under a load restrictor.

mod path;

pub use path::{clean, join};

use crate::diag::{Error, ErrorKind, Result};
use crate::yaml::{Arena, Source};
use hashbrown::HashMap;
use std::cell::RefCell;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
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
    directories: RefCell<HashMap<PathBuf, Rc<Path>>>,
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
        let real = self.resolve(root, path)?;
        if let Some(source) = self.sources.borrow().get(&real) {
            return Ok(source);
        }
        let bytes = read(&real, path)?;
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
        read(&self.resolve(root, path)?, path)
    }

    /// The real path of a file, under the restrictor. Parent directories are resolved once.
    fn resolve(&self, root: &Root, path: &str) -> Result<PathBuf, NotLoaded> {
        let joined = if path.starts_with('/') { clean(path) } else { join(&root.real.to_string_lossy(), path) };
        let joined = Path::new(&joined);
        let (Some(parent), Some(name)) = (joined.parent(), joined.file_name()) else {
            return Err(not_loaded(Error::input(format!("'{path}' must resolve to a file"))));
        };
        let known = self.directories.borrow().get(parent).cloned();
        let parent = match known {
            Some(real) => real,
            None => {
                let real: Rc<Path> = parent.canonicalize().map_err(|e| missing(path, &e))?.into();
                self.directories.borrow_mut().insert(parent.to_owned(), real.clone());
                real
            }
        };
        let mut real = parent.join(name);
        if real.is_symlink() {
            real = real.canonicalize().map_err(|e| missing(path, &e))?;
        }
        if self.restrictor == Restrictor::RootOnly && !real.starts_with(&root.real) {
            let message = format!("security; file '{}' is not in or below '{}'", real.display(), root.real.display());
            let hint = "move it there, or allow it with --load-restrictor LoadRestrictionsNone";
            return Err(NotLoaded { missing: real.is_dir(), error: Error::input(message).hint(hint) });
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

/// Reads a regular file. The path is resolved, so a link here was put there since: it is not followed.
fn read(real: &Path, named: &str) -> Result<Vec<u8>, NotLoaded> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(real);
    let mut file = file.map_err(|e| missing(named, &e))?;
    let metadata = file.metadata().map_err(|e| missing(named, &e))?;
    if !metadata.is_file() {
        let error = Error::new(ErrorKind::Io, format!("'{named}' must resolve to a file"));
        return Err(NotLoaded { missing: metadata.is_dir(), error });
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    file.read_to_end(&mut bytes).map_err(|e| missing(named, &e))?;
    Ok(bytes)
}
