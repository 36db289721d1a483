//! [`Directory`] on systems that are not Unix: a path. Each method looks for links by name before
//! its call, so another process can still put a link there in between.

use super::{Facts, Kind, PlainFile, Staged, is_link, names, not_below, plain};
use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A directory. The paths of its methods are below it, and no name in them may be a link, unless
/// the method says otherwise.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

/// Opens a plain file that a user has named: links are followed.
///
/// # Errors
/// The entry is not a plain file, or cannot be opened.
pub fn open(path: &Path) -> io::Result<PlainFile> {
    if fs::metadata(path)?.is_dir() {
        // The system would speak of missing permission.
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let file = File::open(path)?;
    let facts = facts_of(&file.metadata()?);
    plain(file, facts, path)
}

impl Directory {
    /// Opens a directory that a user has named: links are followed.
    ///
    /// # Errors
    /// The entry does not exist, or is not a directory.
    pub fn open(path: &Path) -> io::Result<Directory> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Directory { path: path.to_owned() }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another handle of the same directory.
    pub fn try_clone(&self) -> io::Result<Directory> {
        Ok(Directory { path: self.path.clone() })
    }

    /// Opens a directory below this one.
    ///
    /// # Errors
    /// The entry does not exist or is not a directory, or a name in the path is a link.
    pub fn below(&self, path: &Path) -> io::Result<Directory> {
        let mut held = self.try_clone()?;
        for name in names(path)? {
            held = held.step(Path::new(name))?;
        }
        Ok(held)
    }

    /// Opens a directory below this one. The directory and those above it are made if they do not
    /// exist.
    ///
    /// # Errors
    /// A directory cannot be made or opened, or a name in the path is a link.
    pub fn make(&self, path: &Path, _mode: u32) -> io::Result<Directory> {
        let mut held = self.try_clone()?;
        for name in names(path)? {
            match fs::create_dir(held.path.join(name)) {
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                _ => held = held.step(Path::new(name))?,
            }
        }
        Ok(held)
    }

    /// Makes a directory that does not exist yet.
    ///
    /// # Errors
    /// An entry with this name exists, or the directory cannot be made.
    pub fn make_new(&self, path: &Path, _mode: u32) -> io::Result<Directory> {
        let path = self.place(path)?;
        fs::create_dir(&path)?;
        Ok(Directory { path })
    }

    /// Opens a plain file for reading.
    ///
    /// # Errors
    /// The entry is not a plain file or cannot be opened, or a name in the path is a link.
    pub fn file(&self, path: &Path) -> io::Result<PlainFile> {
        let path = self.place(path)?;
        let facts = facts_of(&fs::symlink_metadata(&path)?);
        match facts.kind {
            Kind::Link => Err(is_link(path)),
            Kind::Directory => Err(io::ErrorKind::IsADirectory.into()),
            _ => plain(File::open(&path)?, facts, &path),
        }
    }

    /// The content of a plain file. O(size).
    ///
    /// # Errors
    /// As [`Directory::file`] and [`PlainFile::read_all`].
    pub fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.file(path)?.read_all(limit)
    }

    /// As [`Directory::read`], for a text.
    ///
    /// # Errors
    /// As [`Directory::file`] and [`PlainFile::read_text`].
    pub fn read_text(&self, path: &Path, limit: u64) -> io::Result<String> {
        self.file(path)?.read_text(limit)
    }

    /// The facts of an entry, which may be a link itself.
    ///
    /// # Errors
    /// The entry does not exist, or a name before it is a link.
    pub fn facts(&self, path: &Path) -> io::Result<Facts> {
        Ok(facts_of(&fs::symlink_metadata(self.place(path)?)?))
    }

    /// The target of a link, as it is written.
    ///
    /// # Errors
    /// The entry is not a link.
    pub fn target(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(self.place(path)?)
    }

    /// The names and kinds of the entries, sorted by name. O(entries), with sorting.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
        let entries = fs::read_dir(&self.path)?;
        let entries = entries.map(|entry| entry.and_then(|e| Ok((e.file_name(), kind_of(e.file_type()?)))));
        let mut found = entries.collect::<io::Result<Vec<_>>>()?;
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// Makes a file that does not exist yet, and opens it for writing.
    ///
    /// # Errors
    /// An entry with this name exists, or the file cannot be made.
    pub fn create(&self, path: &Path, _mode: u32) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.place(path)?)
    }

    /// Opens a plain file that this program locks, and makes it if it does not exist.
    ///
    /// # Errors
    /// The entry is a link, or cannot be made or opened.
    pub fn lock_file(&self, path: &Path) -> io::Result<File> {
        let path = self.place(path)?;
        match path.is_symlink() {
            true => Err(is_link(path)),
            false => OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path),
        }
    }

    /// Writes a file in one step, and waits until its content is on the disk. A file or link that
    /// has the name is replaced.
    ///
    /// # Errors
    /// The file cannot be written. Its place is unchanged then.
    pub fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        let place = self.place(path)?;
        let folder = Directory { path: super::folder_of(&place).to_owned() };
        let mut staged = Staged::new_in(&folder)?;
        staged.write_all(content)?;
        staged.put_for_good(self, path, mode)
    }

    /// Refuses to make a link: these systems ask for the kind of the target.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`].
    pub fn link(&self, _target: &Path, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Does nothing: on this system an entry keeps the permissions that its directory gives it.
    pub fn permit(&self, _path: &Path, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// Renames an entry, which may be a link itself. A file or link that has the new name is
    /// replaced.
    ///
    /// # Errors
    /// The new place is on another file system or is a file that is read-only, or the entry cannot
    /// be renamed.
    pub fn rename(&self, path: &Path, to: &Directory, new: &Path) -> io::Result<()> {
        let (from, to) = (self.place(path)?, to.place(new)?);
        // The standard library would replace the file, and other programs of the system do not.
        if fs::symlink_metadata(&to).is_ok_and(|there| there.is_file() && crate::refuses_writing(&there)) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        fs::rename(from, to)
    }

    /// Waits until the content of a plain file is on the disk.
    ///
    /// # Errors
    /// As [`Directory::file`], or the system refuses.
    pub fn sync(&self, path: &Path) -> io::Result<()> {
        // Only a file that is open for writing can be waited for.
        let place = self.file(path).and_then(|_| self.place(path))?;
        OpenOptions::new().write(true).open(place)?.sync_all()
    }

    /// Exchanges two entries, in three steps: for a moment the second place is empty.
    ///
    /// # Errors
    /// An entry does not exist, or cannot be renamed. Both are in their places then.
    pub fn exchange(&self, path: &Path, other: &Directory, with: &Path) -> io::Result<()> {
        let (own, theirs) = (self.place(path)?, other.place(with)?);
        let aside = own.with_added_extension(super::staged::random());
        fs::rename(&theirs, &aside)?;
        match fs::rename(&own, &theirs) {
            Ok(()) => fs::rename(&aside, &own),
            Err(e) => fs::rename(&aside, &theirs).and(Err(e)),
        }
    }

    /// Removes a file, a link, or a directory with all its content. Succeeds if the entry does not
    /// exist. O(entries).
    ///
    /// # Errors
    /// The entry cannot be removed, or a name before the last is a link.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let path = self.place(path)?;
        let removed = match fs::symlink_metadata(&path) {
            Ok(is) if is.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(e) => Err(e),
        };
        match removed {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Removes a directory that is empty.
    ///
    /// # Errors
    /// The directory is not empty, or the entry is not a directory.
    pub fn remove_empty(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(self.place(path)?)
    }

    /// The path of an entry. No name before its last is a link.
    fn place(&self, path: &Path) -> io::Result<PathBuf> {
        let mut names = names(path)?;
        let last = names.pop().ok_or_else(|| not_below(path))?;
        let mut held = self.try_clone()?;
        for name in names {
            held = held.step(Path::new(name))?;
        }
        Ok(held.path.join(last))
    }

    fn step(&self, name: &Path) -> io::Result<Directory> {
        let path = self.path.join(name);
        match kind_of(fs::symlink_metadata(&path)?.file_type()) {
            Kind::Directory => Ok(Directory { path }),
            Kind::Link => Err(is_link(path)),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }
}

fn kind_of(kind: FileType) -> Kind {
    match () {
        () if kind.is_symlink() => Kind::Link,
        () if kind.is_dir() => Kind::Directory,
        () if kind.is_file() => Kind::File,
        () => Kind::Other,
    }
}

fn facts_of(of: &Metadata) -> Facts {
    Facts {
        kind: kind_of(of.file_type()),
        size: of.len(),
        mode: 0,
        owner: 0,
        group: 0,
        identity: (0, 0),
        changed: None,
    }
}
