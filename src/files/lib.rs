//! Files and directories that other people's code could have touched: the content of plugins, of
//! caches, of projects, and everything that an installation step or a plugin may write.
//!
//! All of them are opened, created, renamed and removed here, by these rules:
//!
//! * A [`Directory`] is held by its descriptor. A path below it is walked name by name, and no name
//!   may be a link. So nothing outside of the directory is reached, whatever others do meanwhile.
//! * A file is opened without waiting, and its kind is then read from the descriptor: only a plain
//!   file is read. A pipe or a device is an error.
//! * The [`Facts`] of a file, such as its owner, come from the descriptor that is read.
//! * A file appears whole, by [`Staged`], and replaces any entry with its name.
//! * A tree is removed by descriptors; a link in it is removed and not followed.
//!
//! A killed process leaves temporary files and directories in the places that it wrote to.
//! [`sweep`] removes them before another process writes there.
//!
//! A place that a user has named for the output of a command is a [`Place`], which decides where
//! links are followed; [`atomic`] writes files there that appear whole. A path that a user has
//! named, such as a directory of plugins, may contain links: [`Directory::open`] and [`open`]
//! follow them. [docs/design.md](../../docs/design.md) gives the reasons for these means.

pub mod atomic;
#[cfg(unix)]
mod directory;
#[cfg(not(unix))]
#[path = "without_descriptors.rs"]
mod directory;
#[cfg_attr(windows, path = "lock_file.rs")]
#[cfg_attr(not(any(unix, windows)), path = "without_lock.rs")]
mod lock;
#[cfg_attr(not(unix), path = "without_modes.rs")]
mod modes;
mod name;
mod place;
#[cfg(unix)]
mod removal;
mod staged;
mod temporary;
mod walk;
#[cfg(test)]
#[cfg(unix)]
mod tests;

pub use directory::{Directory, open};
#[cfg(windows)]
pub use lock::is_in_profile;
pub use lock::lock;
pub use modes::{
    is_executable, make_folders, mode, new_file_mode, own_user, raise_descriptors, refuses_programs, refuses_writing,
    set_mode,
};
pub use name::{name_fault, shown};
pub use place::Place;
pub use staged::{PREFIX, Staged, is_temporary, sweep};
pub use temporary::Temporary;
pub use walk::Member;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The kind of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// The facts of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub kind: Kind,
    /// The number of bytes that the file claims to have.
    pub size: u64,
    /// The permissions; 0 on systems without them.
    pub mode: u32,
    /// The number of the owner; 0 on systems without owners.
    pub owner: u32,
    /// The number of the group; 0 on systems without groups.
    pub group: u32,
    /// The number of the file system, and the number of the file in it; zeros on systems without
    /// them.
    pub identity: (u64, u64),
    /// The time of the last change, in seconds and nanoseconds; `None` on systems without it.
    pub changed: Option<(i64, u64)>,
}

impl Facts {
    /// Returns true if the owner, the group or others may execute the file.
    pub fn is_executable(&self) -> bool {
        !cfg!(unix) || self.mode & 0o111 != 0
    }
}

/// A plain file that is open for reading, with the facts of its descriptor.
#[derive(Debug)]
pub struct PlainFile {
    file: File,
    facts: Facts,
}

impl PlainFile {
    /// The facts of the file when it was opened.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The open file.
    pub fn into_file(self) -> File {
        self.file
    }

    /// The content of the file. O(size).
    ///
    /// # Errors
    /// [`io::ErrorKind::FileTooLarge`] if the file has more than `limit` bytes,
    /// [`io::ErrorKind::OutOfMemory`] if memory is short, or the error of the system.
    pub fn read_all(self, limit: u64) -> io::Result<Vec<u8>> {
        let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {limit} bytes"));
        if self.facts.size > limit {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let expected = usize::try_from(self.facts.size.saturating_add(1)).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(expected).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        self.file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
    }

    /// As [`PlainFile::read_all`], for a text.
    ///
    /// # Errors
    /// As [`PlainFile::read_all`], or the content is not UTF-8.
    pub fn read_text(self, limit: u64) -> io::Result<String> {
        let bytes = self.read_all(limit)?;
        String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
    }
}

impl Read for PlainFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

/// A plain file or a directory that is open.
#[derive(Debug)]
pub enum Opened {
    File(PlainFile),
    Directory(Directory),
}

impl Opened {
    /// Opens a file or directory that a user has named: links are followed.
    ///
    /// # Errors
    /// The entry is neither a plain file nor a directory, or cannot be opened.
    pub fn named(path: &Path) -> io::Result<Opened> {
        match open(path) {
            Err(e) if e.kind() == io::ErrorKind::IsADirectory => Ok(Opened::Directory(Directory::open(path)?)),
            file => Ok(Opened::File(file?)),
        }
    }

    /// Opens an entry of a directory that a user has named. The entry itself is not a link.
    ///
    /// # Errors
    /// As [`Opened::named`], or the entry is a link.
    pub fn entry(path: &Path) -> io::Result<Opened> {
        let name = Path::new(path.file_name().ok_or_else(|| not_below(path))?);
        let folder = Directory::open(folder_of(path))?;
        match folder.file(name) {
            Err(e) if e.kind() == io::ErrorKind::IsADirectory => Ok(Opened::Directory(folder.below(name)?)),
            file => Ok(Opened::File(file?)),
        }
    }
}

/// Opens a directory in a directory that a user has named. The last name of the path is not a link.
///
/// # Errors
/// The entry is not a directory, is a link, or cannot be opened.
pub fn directory(path: &Path) -> io::Result<Directory> {
    let name = path.file_name().ok_or_else(|| not_below(path))?;
    Directory::open(folder_of(path))?.below(Path::new(name))
}

/// The largest size of a file that this program writes for itself, and of a list that it reads: 64
/// MiB.
pub const RECORD: u64 = 64 << 20;

/// The content of a plain file that a user has named: links are followed. O(size).
///
/// # Errors
/// As [`open`] and [`PlainFile::read_all`].
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    open(path)?.read_all(limit)
}

/// The text of a plain file that a user has named: links are followed. O(size).
///
/// # Errors
/// As [`open`] and [`PlainFile::read_text`].
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    open(path)?.read_text(limit)
}

/// Removes a file, a link, or a directory with all its content. The directory above it may be named
/// through links; nothing else is followed. Succeeds if nothing exists there. O(entries).
///
/// # Errors
/// The path has no last name, or an entry cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| not_below(path))?;
    match Directory::open(folder_of(path)) {
        Ok(folder) => folder.remove(Path::new(name)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
        Err(e) => Err(e),
    }
}

/// Returns true for a file, or a link to one, that may be executed.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && is_executable(&file))
}

/// The directory of a path.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns true if an error says that a link, a pipe or a device is in the place of a plain file or
/// a directory.
pub fn is_refusal(e: &io::Error) -> bool {
    e.get_ref().is_some_and(|inner| inner.is::<Refusal>())
}

/// The reason why an entry is not used.
#[derive(Debug)]
struct Refusal {
    path: PathBuf,
    why: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' {}", shown(self.path.as_os_str()), self.why)
    }
}

impl std::error::Error for Refusal {}

fn refused(path: PathBuf, why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, Refusal { path, why })
}

fn is_link(path: PathBuf) -> io::Error {
    refused(path, "is a link, and no link is followed there")
}

/// Returns an open file if it is a plain one.
fn plain(file: File, facts: Facts, path: &Path) -> io::Result<PlainFile> {
    match facts.kind {
        Kind::File => Ok(PlainFile { file, facts }),
        Kind::Directory => Err(io::ErrorKind::IsADirectory.into()),
        Kind::Link => Err(is_link(path.to_owned())),
        Kind::Other => Err(refused(path.to_owned(), "is a pipe, a socket or a device, and not a plain file")),
    }
}

fn not_below(path: &Path) -> io::Error {
    let message = format!("'{}' is not the path of an entry below a directory", shown(path.as_os_str()));
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// The names of a path below a directory, which has neither `..` nor a root.
fn names(path: &Path) -> io::Result<Vec<&std::ffi::OsStr>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => match name::name_fault(name).filter(|_| cfg!(windows)) {
                Some(fault) => {
                    let message = format!("'{}' {fault}", shown(path.as_os_str()));
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
                }
                None => names.push(name),
            },
            Component::CurDir => {}
            _ => return Err(not_below(path)),
        }
    }
    Ok(names)
}
