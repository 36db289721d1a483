//! [`Directory`] on Unix: held by its descriptor.

use super::{Facts, Kind, PlainFile, Staged, is_link, names, not_below, plain, removal};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The flags that open a directory to hold it: without the right to read it, where the system can.
#[cfg(target_os = "linux")]
const HOLD: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const HOLD: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// The flags that open a file to read it: a pipe is not waited for, and a terminal does not become
/// that of the process.
const READ: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A directory that is held by its descriptor: it stays the same directory, even if it is renamed
/// or another one takes its place. The paths of its methods are below it, and no name in them may
/// be a link, unless the method says otherwise.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    /// The path that the directory was opened by, for messages.
    path: PathBuf,
}

/// Opens a plain file that a user has named: links are followed.
///
/// # Errors
/// The entry is not a plain file, or cannot be opened.
pub fn open(path: &Path) -> io::Result<PlainFile> {
    let opened = rustix::fs::open(path, READ | OFlags::RDONLY, Mode::empty())?;
    let facts = facts_of(&rustix::fs::fstat(&opened)?);
    plain(opened.into(), facts, path)
}

impl Directory {
    /// Opens a directory that a user has named: links are followed.
    ///
    /// # Errors
    /// The entry is not a directory, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Directory> {
        let descriptor = rustix::fs::open(path, HOLD, Mode::empty())?;
        Ok(Directory { descriptor, path: path.to_owned() })
    }

    /// The path that the directory was opened by. It may lead elsewhere by now: it is for messages,
    /// and for programs that need a path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another handle of the same directory.
    ///
    /// # Errors
    /// The process has too many descriptors.
    pub fn try_clone(&self) -> io::Result<Directory> {
        Ok(Directory { descriptor: self.descriptor.try_clone()?, path: self.path.clone() })
    }

    /// Opens a directory below this one.
    ///
    /// # Errors
    /// The entry is not a directory or cannot be opened, or a name in the path is a link.
    pub fn below(&self, path: &Path) -> io::Result<Directory> {
        let mut held = Holder::Same(self);
        for name in names(path)? {
            held = Holder::Below(held.step(name)?);
        }
        held.into_directory()
    }

    /// Opens a directory below this one. The directory and those above it are made if they do not
    /// exist, with the permissions `mode` as far as the umask allows them.
    ///
    /// # Errors
    /// A directory cannot be made or opened, or a name in the path is a link.
    pub fn make(&self, path: &Path, mode: u32) -> io::Result<Directory> {
        let mut held = Holder::Same(self);
        for name in names(path)? {
            held = Holder::Below(match rustix::fs::mkdirat(&held.descriptor, name, Mode::from_raw_mode(mode as _)) {
                Ok(()) | Err(Errno::EXIST) => held.step(name)?,
                // On a read-only file system the directory may exist.
                Err(e) => held.step(name).map_err(|_| e)?,
            });
        }
        held.into_directory()
    }

    /// Makes a directory that does not exist yet.
    ///
    /// # Errors
    /// An entry with this name exists, or the directory cannot be made.
    pub fn make_new(&self, path: &Path, mode: u32) -> io::Result<Directory> {
        let (folder, name) = self.holder(path)?;
        rustix::fs::mkdirat(&folder.descriptor, name, Mode::from_raw_mode(mode as _))?;
        folder.step(name)
    }

    /// Opens a plain file for reading.
    ///
    /// # Errors
    /// The entry is not a plain file or cannot be opened, or a name in the path is a link.
    pub fn file(&self, path: &Path) -> io::Result<PlainFile> {
        let (folder, name) = self.holder(path)?;
        let flags = READ | OFlags::RDONLY | OFlags::NOFOLLOW;
        let opened = rustix::fs::openat(&folder.descriptor, name, flags, Mode::empty());
        let opened = opened.map_err(|e| folder.explain(name, e))?;
        let facts = facts_of(&rustix::fs::fstat(&opened)?);
        plain(opened.into(), facts, &folder.path.join(name))
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
        let (folder, name) = self.holder(path)?;
        let stat = rustix::fs::statat(&folder.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(facts_of(&stat))
    }

    /// The target of a link, as it is written.
    ///
    /// # Errors
    /// The entry is not a link.
    pub fn target(&self, path: &Path) -> io::Result<PathBuf> {
        let (folder, name) = self.holder(path)?;
        let target = rustix::fs::readlinkat(&folder.descriptor, name, Vec::new())?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// The names and kinds of the entries, sorted by name. O(entries), with sorting.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = rustix::fs::openat(&self.descriptor, c".", flags, Mode::empty())?;
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::new(listed)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => kind_of(FileType::from_raw_mode(stat.st_mode)),
                    Err(Errno::NOENT) => continue,
                    Err(e) => return Err(e.into()),
                },
                known => kind_of(known),
            };
            found.push((OsStr::from_bytes(CStr::to_bytes(name)).to_owned(), kind));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// Makes a file that does not exist yet, with the permissions `mode`, and opens it for reading
    /// and writing.
    ///
    /// # Errors
    /// An entry with this name exists, or the file cannot be made.
    pub fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        let (folder, name) = self.holder(path)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder.descriptor, name, flags, Mode::from_raw_mode(mode as _))?.into();
        // The umask may have taken some permissions away.
        super::modes::permit(&file, mode)?;
        Ok(file)
    }

    /// Opens a plain file that this program locks, and makes it if it does not exist.
    ///
    /// # Errors
    /// The entry is not a plain file, or cannot be made or opened.
    pub fn lock_file(&self, path: &Path) -> io::Result<File> {
        let (folder, name) = self.holder(path)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | READ;
        let opened = rustix::fs::openat(&folder.descriptor, name, flags, Mode::from_raw_mode(0o600));
        let opened = opened.map_err(|e| folder.explain(name, e))?;
        let facts = facts_of(&rustix::fs::fstat(&opened)?);
        Ok(plain(opened.into(), facts, &folder.path.join(name))?.into_file())
    }

    /// Writes a file in one step, and waits until its content is on the disk. A file or link that
    /// has the name is replaced.
    ///
    /// # Errors
    /// The file cannot be written. Its place is unchanged then.
    pub fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        let (folder, name) = self.holder(path)?;
        let mut staged = Staged::new_in(&folder)?;
        staged.write_all(content)?;
        staged.put_for_good(&folder, Path::new(name), mode)
    }

    /// Makes a link to a target, which need not exist.
    ///
    /// # Errors
    /// An entry with this name exists, or the link cannot be made.
    pub fn link(&self, target: &Path, path: &Path) -> io::Result<()> {
        let (folder, name) = self.holder(path)?;
        Ok(rustix::fs::symlinkat(target, &folder.descriptor, name)?)
    }

    /// Sets the permissions of a plain file or a directory.
    ///
    /// # Errors
    /// The entry is neither a plain file nor a directory, or belongs to another user.
    pub fn permit(&self, path: &Path, mode: u32) -> io::Result<()> {
        let (folder, name) = self.holder(path)?;
        let flags = READ | OFlags::RDONLY | OFlags::NOFOLLOW;
        let opened = rustix::fs::openat(&folder.descriptor, name, flags, Mode::empty());
        let opened = opened.map_err(|e| folder.explain(name, e))?;
        let facts = facts_of(&rustix::fs::fstat(&opened)?);
        if facts.kind != Kind::Directory {
            let file = plain(opened.into(), facts, &folder.path.join(name))?;
            return super::modes::permit(&file.file, mode);
        }
        Ok(rustix::fs::fchmod(&opened, Mode::from_raw_mode(mode as _))?)
    }

    /// Renames an entry, which may be a link itself. A file or link that has the new name is
    /// replaced.
    ///
    /// # Errors
    /// The new place is on another file system, or the entry cannot be renamed.
    pub fn rename(&self, path: &Path, to: &Directory, new: &Path) -> io::Result<()> {
        let ((from, old_name), (to, new_name)) = (self.holder(path)?, to.holder(new)?);
        Ok(rustix::fs::renameat(&from.descriptor, old_name, &to.descriptor, new_name)?)
    }

    /// Waits until the content of a plain file is on the disk.
    ///
    /// # Errors
    /// As [`Directory::file`], or the system refuses.
    pub fn sync(&self, path: &Path) -> io::Result<()> {
        self.file(path)?.into_file().sync_all()
    }

    /// Exchanges two entries in one step.
    ///
    /// # Errors
    /// The file system cannot do that, or an entry does not exist.
    pub fn exchange(&self, path: &Path, other: &Directory, with: &Path) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(self, path, other, with, rustix::fs::RenameFlags::EXCHANGE)?)
    }

    /// Removes a file, a link, or a directory with all its content at any depth, even if its owner
    /// has taken permissions away. Succeeds if the entry does not exist. O(entries).
    ///
    /// # Errors
    /// The entry cannot be removed, or a name before the last is a link.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        match self.holder(path) {
            Ok((folder, name)) => Ok(removal::remove(folder.descriptor.as_fd(), name)?),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Removes a directory that is empty.
    ///
    /// # Errors
    /// The directory is not empty, or the entry is not a directory.
    pub fn remove_empty(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.holder(path)?;
        Ok(rustix::fs::unlinkat(&folder.descriptor, name, AtFlags::REMOVEDIR)?)
    }

    /// The directory that holds an entry, and the name of the entry there.
    fn holder<'s, 'p>(&'s self, path: &'p Path) -> io::Result<(Holder<'s>, &'p OsStr)> {
        let mut names = names(path)?;
        let last = names.pop().ok_or_else(|| not_below(path))?;
        let mut held = Holder::Same(self);
        for name in names {
            held = Holder::Below(held.step(name)?);
        }
        Ok((held, last))
    }

    /// Opens a directory in this one.
    fn step(&self, name: &OsStr) -> io::Result<Directory> {
        let opened = rustix::fs::openat(&self.descriptor, name, HOLD | OFlags::NOFOLLOW, Mode::empty());
        let descriptor = opened.map_err(|e| self.explain(name, e))?;
        Ok(Directory { descriptor, path: self.path.join(name) })
    }

    /// The error of an entry that cannot be opened: a link is called by its name.
    fn explain(&self, name: &OsStr, e: Errno) -> io::Error {
        let stat = matches!(e, Errno::LOOP | Errno::NOTDIR | Errno::MLINK)
            .then(|| rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW));
        match stat {
            Some(Ok(stat)) if FileType::from_raw_mode(stat.st_mode).is_symlink() => is_link(self.path.join(name)),
            // A socket cannot be opened.
            _ if e == Errno::NXIO => super::refused(self.path.join(name), "is a pipe, a socket or a device"),
            _ => e.into(),
        }
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A directory, or one below it that was opened for a single call.
enum Holder<'d> {
    Same(&'d Directory),
    Below(Directory),
}

impl Holder<'_> {
    fn into_directory(self) -> io::Result<Directory> {
        match self {
            Holder::Same(directory) => directory.try_clone(),
            Holder::Below(directory) => Ok(directory),
        }
    }
}

impl std::ops::Deref for Holder<'_> {
    type Target = Directory;

    fn deref(&self) -> &Directory {
        match self {
            Holder::Same(directory) => directory,
            Holder::Below(directory) => directory,
        }
    }
}

fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "the types of these fields differ between systems"
)]
fn facts_of(stat: &Stat) -> Facts {
    Facts {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: stat.st_size as u64,
        mode: u32::from(stat.st_mode) & 0o7777,
        owner: stat.st_uid,
        group: stat.st_gid,
        identity: (stat.st_dev as u64, stat.st_ino as u64),
        changed: Some((stat.st_mtime as i64, stat.st_mtime_nsec as u64)),
    }
}
