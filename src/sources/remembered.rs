//! [`Remembered`]: the files of this machine for a program that looks at the same ones again and
//! again, as a language server does at each keystroke.
//!
//! An answer about a path is kept together with the directory that holds the path, as long as the
//! system says that nothing in that directory has changed: by its number, and the times of its last
//! changes. So one call of the system stands for all that was asked about a directory. The bytes of
//! small files are kept in the same way. Answers are asked of the disk each time
//! * for a path with a link in it, which may lead to another place without a change here;
//! * in a directory that does not exist, and in one that was changed a moment ago: a further change
//!   could have the same time;
//! * for faults other than a missing file, such as a missing permission.

use super::{Disk, reach};
use hashbrown::HashMap;
use rustomize_engine::load::loader::{Entry, Loader, NotOpened, OpenFile, Opened};
use rustomize_engine::load::{FileLimit, clean};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

/// The largest file whose bytes are kept.
const MOST_BYTES: usize = 64 << 10;

/// The time after which a further change has another time, in a file system that counts parts of a
/// second: systems take the time of their last tick, of which there are at least 64 a second.
const TICK: Duration = Duration::from_millis(50);

/// The same in a file system that counts seconds, or every other second.
const SECONDS: Duration = Duration::from_secs(3);

/// The files of this machine, with what is known of them. Copies know the same.
#[derive(Clone, Default)]
pub struct Remembered {
    shared: Arc<Shared>,
}

struct Shared {
    disk: RwLock<Arc<Disk>>,
    known: Mutex<Known>,
    /// The present time.
    now: fn() -> SystemTime,
}

impl Default for Shared {
    fn default() -> Self {
        Shared { disk: RwLock::default(), known: Mutex::default(), now: SystemTime::now }
    }
}

#[derive(Default)]
struct Known {
    directories: HashMap<PathBuf, Directory>,
    files: HashMap<PathBuf, (Stamp, Arc<[u8]>)>,
}

/// A directory, and the answers about what is in it.
struct Directory {
    /// `None` if no answer may be kept.
    stamp: Option<Stamp>,
    entries: Option<Vec<Entry>>,
    /// Whether each name is that of a directory.
    directories: HashMap<OsString, Answer>,
    /// Whether each name is that of something that can be opened.
    files: HashMap<OsString, Answer>,
}

/// An answer about a path whose place is the path itself.
#[derive(Clone, Copy)]
enum Answer {
    Exists,
    Not(io::ErrorKind),
}

/// A state of a file or directory: an equal one is the same state.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
    #[cfg(unix)]
    node: NodeStamp,
}

/// The state of a file or directory in a file system of Unix.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct NodeStamp {
    device: u64,
    /// The number of the file on the device.
    number: u64,
    /// The time of the last change of anything, in seconds and nanoseconds.
    changed: (i64, i64),
}

impl Stamp {
    /// The state of a file or directory that was not changed a moment ago.
    fn of(path: &Path, now: SystemTime) -> Option<Stamp> {
        let metadata = path.metadata().ok()?;
        let modified = metadata.modified().ok()?;
        let stamp = Stamp {
            modified,
            length: metadata.len(),
            #[cfg(unix)]
            node: {
                use std::os::unix::fs::MetadataExt as _;
                let changed = (metadata.ctime(), metadata.ctime_nsec());
                NodeStamp { device: metadata.dev(), number: metadata.ino(), changed }
            },
        };
        stamp.changes().into_iter().all(|change| is_past(change, now)).then_some(stamp)
    }

    /// The times of the last changes.
    #[cfg(unix)]
    fn changes(&self) -> [SystemTime; 2] {
        let (seconds, nanoseconds) = self.node.changed;
        let since = Duration::new(seconds.unsigned_abs(), u32::try_from(nanoseconds).unwrap_or_default());
        [self.modified, SystemTime::UNIX_EPOCH + since]
    }

    #[cfg(not(unix))]
    fn changes(&self) -> [SystemTime; 1] {
        [self.modified]
    }
}

/// Returns true if no later change can have the time of this one.
fn is_past(change: SystemTime, now: SystemTime) -> bool {
    let part = change.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().subsec_nanos();
    now.duration_since(change).is_ok_and(|age| age > if part == 0 { SECONDS } else { TICK })
}

impl Remembered {
    /// Forgets what has changed on the disk, for another look at it. O(known directories and
    /// files): one call of the system for each.
    pub fn look_again(&self) {
        let now = (self.shared.now)();
        *self.shared.disk.write().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        let mut known = self.known();
        let Known { directories, files } = &mut *known;
        directories.retain(|path, directory| directory.stamp.is_some() && directory.stamp == Stamp::of(path, now));
        files.retain(|path, (stamp, _)| Some(*stamp) == Stamp::of(path, now));
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn disk(&self) -> Arc<Disk> {
        Arc::clone(&self.shared.disk.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The known answer about a path, or the one that `ask` gets; `None` if no answer about the
    /// path may be kept.
    fn kept(&self, path: &Path, kind: Kind, ask: impl FnOnce() -> Option<Answer>) -> Option<Answer> {
        let (parent, name) = (path.parent().filter(|_| path.is_absolute())?, path.file_name()?);
        if let Some(directory) = self.known().directories.get_mut(parent) {
            directory.stamp?;
            if let Some(known) = kind.answers(directory).get(name) {
                return Some(*known);
            }
        } else {
            if !self.begin(parent) {
                return None;
            }
        }
        let answer = ask()?;
        self.keep(parent, name, kind, answer);
        Some(answer)
    }

    /// Notes the state of a directory before anything is asked about it. Returns true if answers
    /// may be kept.
    fn begin(&self, path: &Path) -> bool {
        let stamp = Stamp::of(path, (self.shared.now)());
        let stamp = stamp.filter(|_| self.disk().directory(path).is_ok_and(|place| place == path));
        let directory = Directory { stamp, entries: None, directories: HashMap::new(), files: HashMap::new() };
        self.known().directories.insert(path.to_owned(), directory);
        stamp.is_some()
    }

    fn keep(&self, parent: &Path, name: &OsStr, kind: Kind, answer: Answer) {
        if let Some(directory) = self.known().directories.get_mut(parent) {
            kind.answers(directory).insert(name.to_owned(), answer);
        }
    }

    /// A path without `..`, if it leads to the same place: if there is no link before the `..`, and
    /// no further one behind.
    fn without_parents<'p>(&self, path: &'p Path) -> std::borrow::Cow<'p, Path> {
        let is_parent = |part: Component<'_>| part == Component::ParentDir;
        if !path.components().any(is_parent) {
            return path.into();
        }
        let before: PathBuf = path.components().take_while(|part| !is_parent(*part)).collect();
        let behind = path.components().skip_while(|part| !is_parent(*part)).skip_while(|part| is_parent(*part));
        let is_plain = !behind.clone().any(is_parent) && self.directory(&before).is_ok_and(|place| place == before);
        if is_plain { PathBuf::from(clean(&path.to_string_lossy())).into() } else { path.into() }
    }
}

/// What is asked about a name.
#[derive(Clone, Copy)]
enum Kind {
    Directory,
    File,
}

impl Kind {
    fn answers(self, directory: &mut Directory) -> &mut HashMap<OsString, Answer> {
        match self {
            Kind::Directory => &mut directory.directories,
            Kind::File => &mut directory.files,
        }
    }
}

/// The answer that may be kept about a path, for which the disk has given a place or a fault.
fn answer(path: &Path, place: Result<&Path, io::ErrorKind>) -> Option<Answer> {
    match place {
        Ok(place) => (place == path).then_some(Answer::Exists),
        Err(kind @ (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)) => {
            let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
            (!is_link).then_some(Answer::Not(kind))
        }
        Err(_) => None,
    }
}

impl Loader for Remembered {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        let path = &*self.without_parents(path);
        reach::check(path)?;
        let mut asked = None;
        let kept = self.kept(path, Kind::Directory, || {
            let found = asked.insert(self.disk().directory(path));
            answer(path, found.as_deref().map_err(io::Error::kind))
        });
        match (asked, kept) {
            (Some(asked), _) => asked,
            (None, Some(Answer::Exists)) => Ok(path.to_owned()),
            (None, Some(Answer::Not(kind))) => Err(kind.into()),
            (None, None) => self.disk().directory(path),
        }
    }

    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        reach::check(path)?;
        let mut asked = None;
        let kept = self.kept(path, Kind::File, || {
            let found = asked.insert(self.disk().open(path));
            answer(path, found.as_ref().map(|opened| &*opened.place).map_err(|e| e.error.kind()))
        });
        match (asked, kept) {
            (asked, Some(Answer::Exists)) => {
                if let Some((_, bytes)) = self.known().files.get(path) {
                    return Ok(Opened::bytes(path.to_owned(), Arc::clone(bytes)));
                }
                let opened = asked.and_then(Result::ok);
                Ok(Opened::file(path.to_owned(), Later { of: self.clone(), path: path.to_owned(), opened }))
            }
            (Some(asked), _) => asked,
            (None, Some(Answer::Not(kind))) => Err(io::Error::from(kind).into()),
            (None, None) => self.disk().open(path),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        reach::check(directory)?;
        let is_new = match self.known().directories.get(directory) {
            Some(Directory { stamp: Some(_), entries: Some(entries), .. }) => return Ok(entries.clone()),
            known => known.is_none(),
        };
        if is_new && directory.is_absolute() {
            self.begin(directory);
        }
        let entries = self.disk().list(directory)?;
        if let Some(known) = self.known().directories.get_mut(directory) {
            known.entries = Some(entries.clone());
        }
        Ok(entries)
    }
}

/// A file that exists, and is read later.
struct Later {
    of: Remembered,
    path: PathBuf,
    /// The file, if it was opened.
    opened: Option<Opened>,
}

impl std::fmt::Debug for Later {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Later").field(&self.path).finish()
    }
}

impl OpenFile for Later {
    fn read(self: Box<Self>, limit: FileLimit) -> io::Result<Vec<u8>> {
        let Later { of, path, opened } = *self;
        let now = of.shared.now;
        let before = Stamp::of(&path, now());
        let opened = match opened {
            Some(opened) => opened,
            None => of.disk().open(&path).map_err(|e| e.error)?,
        };
        let bytes = opened.read(limit)?;
        if let Some(stamp) = before.filter(|before| Some(*before) == Stamp::of(&path, now()))
            && bytes.len() <= MOST_BYTES
        {
            of.known().files.insert(path, (stamp, bytes.as_slice().into()));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{Remembered, Shared};
    use rustomize_engine::load::{FileLimit, Loader};
    use std::fs;
    use std::path::Path;
    use std::sync::{Arc, Mutex, RwLock};
    use std::time::{Duration, SystemTime};

    /// A memory for which all changes so far are long ago.
    fn later() -> Remembered {
        let now = || SystemTime::now() + Duration::from_secs(3600);
        Remembered { shared: Arc::new(Shared { disk: RwLock::default(), known: Mutex::default(), now }) }
    }

    /// What a path is: `directory`, the text of a file, or the kind of the fault.
    fn ask(files: &dyn Loader, path: &Path) -> String {
        if files.directory(path).is_ok() {
            return "directory".to_owned();
        }
        match files.open(path).map_err(|e| e.error).and_then(|opened| opened.read(FileLimit::default())) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.kind().to_string(),
        }
    }

    /// The names in a directory.
    fn list(files: &dyn Loader, path: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            files.list(path).unwrap().into_iter().map(|entry| entry.name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A change of a tree: its name, the files and directories that it changes, and what it does.
    type Change = (&'static str, &'static [&'static str], fn(&Path) -> std::io::Result<()>);

    /// Sets the time of the last change, which the system counts in ticks.
    fn set_time(path: &Path, count: usize) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_000_500) * count as u32;
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn each_change_is_seen_by_the_next_look() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("app")).unwrap();
        let (old, new) = (later(), Remembered::default());
        let changes: [Change; 9] = [
            ("a file comes", &["app"], |root| fs::write(root.join("app/a"), "1")),
            ("a file is written", &["app/a"], |root| fs::write(root.join("app/a"), "2")),
            ("a file becomes a directory", &["app"], |root| {
                fs::remove_file(root.join("app/a"))?;
                fs::create_dir(root.join("app/a"))
            }),
            ("a directory goes", &["app"], |root| fs::remove_dir(root.join("app/a"))),
            ("a link to nothing comes", &["app"], |root| {
                std::os::unix::fs::symlink(root.join("far"), root.join("app/a"))
            }),
            ("the link leads to a file", &["."], |root| fs::write(root.join("far"), "far")),
            ("the link leads to a directory", &["."], |root| {
                fs::remove_file(root.join("far"))?;
                fs::create_dir(root.join("far"))
            }),
            ("a directory gets another name", &["."], |root| fs::rename(root.join("app"), root.join("old"))),
            ("a link takes its place", &["."], |root| std::os::unix::fs::symlink("old", root.join("app"))),
        ];
        for (i, (change, changed, make)) in changes.into_iter().enumerate() {
            make(&root).unwrap();
            changed.iter().for_each(|path| set_time(&root.join(path), i + 1));
            for files in [&old, &new] {
                files.look_again();
                let disk = crate::Disk::new();
                for path in ["app", "app/a", "app/../app/a", "app/a/..", "app/a/../a", "far", "old/a"] {
                    let path = root.join(path);
                    let want = ask(&disk, &path);
                    assert_eq!(
                        [ask(files, &path), ask(files, &path)],
                        [&*want, &*want],
                        "{change}: {}",
                        path.display()
                    );
                    let place = |files: &dyn Loader| files.directory(&path).ok();
                    assert_eq!(place(files), place(&disk), "{change}: {}", path.display());
                }
                assert_eq!(list(files, &root), list(&disk, &root), "{change}");
            }
        }
    }

    #[test]
    fn the_disk_is_asked_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("a"), "1").unwrap();
        let files = later();
        assert_eq!((ask(&files, &root.join("a")), list(&files, &root)), ("1".to_owned(), vec!["a".to_owned()]));
        // Without another look the answers stay.
        fs::write(root.join("a"), "2").unwrap();
        fs::write(root.join("b"), "2").unwrap();
        set_time(&root.join("a"), 1);
        set_time(&root, 1);
        assert_eq!((ask(&files, &root.join("a")), list(&files, &root)), ("1".to_owned(), vec!["a".to_owned()]));
        files.look_again();
        assert_eq!(ask(&files, &root.join("a")), "2");
        assert_eq!(list(&files, &root), ["a", "b"]);
    }
}
