//! [`Cache`]: the directories that keep remote parts between builds. Their content is trusted, so
//! only directories that no other user can change are used.
//!
//! Each remote part has a [`Shelf`], `<kind>/<hash of its name>`, with one entry for each version.
//! Entries appear complete. The file `ref-<hash>` has the version that a reference stood for when
//! it was last asked for. The file `name` contains the name of the part, for people who look into
//! the cache. No link of the cache is followed.

use super::host;
use super::owner::{is_mine, is_sound, make};
use super::sum::sha256;
use crate::diag::{Code, Error};
use rustomize_files::{self as files, Directory, Staged};
use rustomize_process::{Children, PrivateDirectory};
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The directories of the cache that hold remote parts.
pub const KINDS: [&str; 4] = ["git", "files", "charts", "artifacts"];

/// The file with the name of a shelf's part.
pub const NAME: &str = "name";

/// The place that a user has named for remote parts.
///
/// A process that uses the cache holds a shared lock of its directory, and one that empties it
/// holds it alone: so nothing is removed that a build still reads.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
    /// The lock, once the directory exists; `None` inside if the file system has no locks.
    lock: Arc<OnceLock<Option<File>>>,
}

/// The versions of one remote part.
#[derive(Clone, Debug)]
pub struct Shelf {
    cache: Cache,
    /// The name of the part, without the user of a URL.
    name: String,
    /// Below the directory of the cache.
    below: PathBuf,
    directory: PathBuf,
}

impl Cache {
    /// A cache in a directory, which need not exist.
    pub fn new(directory: PathBuf) -> Self {
        Cache { directory, lock: Arc::default() }
    }

    /// Lets nobody empty the cache as long as this value or a copy of it exists. Waits for a
    /// process that empties it now. Does nothing if the cache does not exist.
    fn hold(&self) {
        if self.lock.get().is_none()
            && let Ok(directory) = File::open(&self.directory)
        {
            self.lock.get_or_init(|| directory.lock_shared().ok().map(|()| directory));
        }
    }

    /// Waits until no other process uses the cache, and lets none use it as long as the result
    /// exists; `wait` is called if there is one. `None` on a file system without locks, or if the
    /// cache does not exist.
    pub fn alone(&self, wait: impl FnOnce()) -> Option<File> {
        let directory = File::open(&self.directory).ok()?;
        match directory.try_lock() {
            Ok(()) => return Some(directory),
            Err(TryLockError::WouldBlock) => wait(),
            Err(TryLockError::Error(_)) => return None,
        }
        directory.lock().ok().map(|()| directory)
    }

    /// The place as it was named.
    pub fn named(&self) -> &Path {
        &self.directory
    }

    /// The directory of all parts of a kind.
    pub fn all(&self, kind: &str) -> PathBuf {
        self.directory.join(kind)
    }

    /// The versions of a remote part.
    pub fn shelf(&self, kind: &str, name: &str) -> Shelf {
        self.hold();
        let below = Path::new(kind).join(hash(name));
        let directory = self.directory.join(&below);
        Shelf { cache: self.clone(), name: host::without_user(name), below, directory }
    }

    /// Returns true if no other user can change a directory of the cache or put another one into
    /// its place. For this, the directory and those above it, up to the place that the user named,
    /// must be directories of this user that others cannot write to, as far as they exist. The
    /// named place itself may also be a link, or a directory in which only owners can rename
    /// entries.
    pub fn is_private(&self, path: &Path) -> bool {
        let below = path.ancestors().take_while(|above| *above != self.directory);
        below.into_iter().all(is_mine) && is_sound(&self.directory)
    }

    /// Makes a directory for an unfinished part of a kind, on the file system of the cache. Parts
    /// that a killed process left unfinished are removed.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn work_directory(&self, kind: &str, children: &Children) -> io::Result<PrivateDirectory> {
        let parent = self.all(kind);
        make(&parent)?;
        self.hold();
        children.directory_in(&parent, "partial-")
    }
}

impl Shelf {
    /// Returns true if the shelf has ever had a version.
    pub fn exists(&self) -> bool {
        self.open().is_ok()
    }

    /// Opens the directory of the shelf.
    fn open(&self) -> io::Result<Directory> {
        Directory::open(&self.cache.directory)?.below(&self.below)
    }

    /// Returns true if a version is a directory.
    fn has_directory(&self, version: &str) -> bool {
        self.open().and_then(|shelf| shelf.below(Path::new(version))).is_ok()
    }

    /// The place of a version, if an entry may be put there.
    pub fn place(&self, version: &str) -> Option<PathBuf> {
        let place = self.directory.join(version);
        self.cache.is_private(&place).then_some(place)
    }

    /// A version that is a directory.
    pub fn version(&self, version: &str) -> Option<PathBuf> {
        self.place(version).filter(|_| self.has_directory(version))
    }

    /// The content of a version that is a file and is named by its SHA-256; `None` for a damaged
    /// file.
    pub fn file(&self, sum: &str) -> Option<Vec<u8>> {
        if !self.cache.is_private(&self.directory) {
            return None;
        }
        let content = self.open().ok()?.read(Path::new(sum), u64::MAX).ok()?;
        (sha256(&content) == sum).then_some(content)
    }

    /// The version that a reference stood for when it was last noted.
    pub fn last(&self, reference: &str) -> Option<String> {
        self.open().ok()?.read_text(Path::new(&reference_name(reference)), files::RECORD).ok()
    }

    /// Notes which version a reference stands for, for later offline builds. If the note cannot be
    /// written, it is left out: an offline build then reports that it needs the network.
    pub fn note(&self, reference: &str, version: &str) {
        if self.last(reference).is_some_and(|last| last == version) {
            return;
        }
        let _ = self.write(NAME, self.name.as_bytes());
        let _ = self.write(&reference_name(reference), version.as_bytes());
    }

    /// Keeps a directory as a version. Another build may have done so first.
    ///
    /// # Errors
    /// The directory cannot be renamed.
    pub fn keep(&self, made: PrivateDirectory, version: &str) -> io::Result<PathBuf> {
        make(&self.directory)?;
        let place = self.directory.join(version);
        match made.keep_as(&place) {
            Err(e) if !self.has_directory(version) => Err(e),
            _ => Ok(place),
        }
    }

    /// Keeps a file under its SHA-256. A link that has the name is replaced.
    ///
    /// # Errors
    /// The cache is not this user's alone, cannot be written to, or is full.
    pub fn keep_file(&self, content: &[u8], sum: &str) -> io::Result<()> {
        if !self.cache.is_private(&self.directory) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        make(&self.directory)?;
        if self.open()?.file(Path::new(sum)).is_ok() {
            return Ok(());
        }
        self.write(sum, content)
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let shelf = self.open()?;
        let mut staged = Staged::new_in(&shelf)?;
        staged.write_all(content)?;
        staged.put(&shelf, Path::new(name), 0o600)
    }
}

/// The error for a part that an offline build does not have. `shelf` is its place in the cache, if
/// there is a cache.
pub fn lacks(part: &str, shelf: Option<&Shelf>) -> Error {
    let fault = |why: &str| Error::new(Code::NotFetched, format!("{part} {why}, and this build is offline"));
    match shelf {
        None => fault("cannot be cached").hint("--remote-cache or RUSTOMIZE_CACHE_DIR names a directory"),
        Some(shelf) if shelf.cache.is_private(&shelf.directory) => fault("is not in the cache"),
        Some(shelf) => fault("is not in a cache of your own")
            .context(format!("looking into '{}', which other users may change", shelf.directory.display()))
            .hint("--remote-cache or RUSTOMIZE_CACHE_DIR names a directory that only you can write to"),
    }
}

/// A file name for a text.
pub fn hash(text: &str) -> String {
    sha256(text.as_bytes())[..32].to_owned()
}

fn reference_name(reference: &str) -> String {
    format!("ref-{}", hash(reference))
}
