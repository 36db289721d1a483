//! The files that change in directories, as the kernel tells them (inotify).

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;
use rustomize_base::parallel;
use rustomize_engine::diag::Error;
use rustomize_files::is_temporary;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time without a change after which changes are complete: an editor writes a file in several
/// steps, and git many files.
const QUIET: Duration = Duration::from_millis(50);

/// The longest time that changes are gathered.
const PATIENCE: Duration = Duration::from_secs(2);

/// The size of the memory for events.
const ROOM: usize = 64 << 10;

/// What changes: all that a build can read.
const WATCHED: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR);

/// A change that was seen.
enum Seen {
    File(PathBuf),
    /// The kernel has dropped events.
    Unknown,
}

/// Files that have changed; `None` if that is not known.
pub(crate) type Changed = Option<BTreeSet<PathBuf>>;

/// The watched directories.
struct Watched {
    kernel: OwnedFd,
    /// The directory of each watch.
    directories: HashMap<i32, PathBuf>,
    known: BTreeSet<PathBuf>,
    /// A directory whose files do not count: results are written there.
    left_out: Option<PathBuf>,
}

/// Watches directories on a thread of its own.
pub(crate) struct Watcher {
    watched: Arc<Mutex<Watched>>,
    seen: Receiver<Seen>,
}

impl Watcher {
    /// A watcher of no directories yet. Files in `left_out` do not count.
    ///
    /// # Errors
    /// The system gives no watcher, or no thread.
    pub(crate) fn start(left_out: Option<PathBuf>) -> io::Result<Watcher> {
        let kernel = init(CreateFlags::CLOEXEC)?;
        let reader = kernel.try_clone()?;
        let watched = Watched { kernel, directories: HashMap::new(), known: BTreeSet::new(), left_out };
        let watched = Arc::new(Mutex::new(watched));
        let (send, seen) = channel();
        let shared = Arc::clone(&watched);
        parallel::thread("watch").spawn(move || read(&reader, &shared, &send))?;
        Ok(Watcher { watched, seen })
    }

    /// Watches a directory, and all below it with `Depth::All`. Hidden directories below it are
    /// left out, and links are not followed. A directory that is watched already is left out.
    ///
    /// # Errors
    /// The system gives no more watches. A directory that does not exist is not an error.
    pub(crate) fn add(&self, directory: &Path, depth: Depth) -> Result<(), Error> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(place) = dunce::canonicalize(directory) else { return Ok(()) };
        if watched.known.contains(&place) {
            return Ok(());
        }
        watched.add(&place, depth).map(drop)
    }

    /// Waits for changes until there are none for a moment. Returns `None` once the watcher has
    /// ended.
    pub(crate) fn wait(&self) -> Option<Changed> {
        let mut changed = Some(BTreeSet::new());
        let mut note = |seen| match seen {
            Seen::File(path) => drop(changed.as_mut().map(|changed| changed.insert(path))),
            Seen::Unknown => changed = None,
        };
        note(self.seen.recv().ok()?);
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.seen.recv_timeout(QUIET) {
                Ok(seen) => note(seen),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        Some(changed)
    }
}

/// The directories that are watched with a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The directory alone.
    One,
    /// All directories below it.
    All,
}

impl Watched {
    /// Watches a directory, and returns the files in all new directories.
    fn add(&mut self, directory: &Path, depth: Depth) -> Result<Vec<PathBuf>, Error> {
        let (mut files, mut queue) = (Vec::new(), vec![directory.to_owned()]);
        while let Some(directory) = queue.pop() {
            if self.left_out.as_ref().is_some_and(|left_out| directory.starts_with(left_out)) {
                continue;
            }
            match add_watch(&self.kernel, &directory, WATCHED) {
                Ok(watch) => drop(self.directories.insert(watch, directory.clone())),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => continue,
                Err(fault) => return Err(refused(fault, self.directories.len())),
            }
            // A directory may have changed before it was watched: its files are looked at after it.
            self.known.insert(directory.clone());
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let is_hidden = entry.file_name().as_bytes().starts_with(b".");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => {
                        if depth == Depth::All && !is_hidden {
                            queue.push(entry.path());
                        }
                    }
                    _ => files.push(entry.path()),
                }
            }
        }
        Ok(files)
    }
}

/// The error of a system that gives no more watches.
fn refused(fault: Errno, count: usize) -> Error {
    let fault = io::Error::from(fault);
    let error = Error::io(&fault, format!("cannot watch more than {count} directories: {fault}"));
    error.hint("watch fewer directories, or raise the limit: sysctl fs.inotify.max_user_watches=524288")
}

/// Reads events until the kernel refuses, and sends the changed files.
fn read(kernel: &OwnedFd, watched: &Mutex<Watched>, send: &Sender<Seen>) {
    let mut room = vec![MaybeUninit::uninit(); ROOM];
    let mut reader = Reader::new(kernel, &mut room);
    loop {
        let event = match reader.next() {
            Ok(event) => event,
            Err(Errno::INTR) => continue,
            Err(_) => return,
        };
        let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            if send.send(Seen::Unknown).is_err() {
                return;
            }
            continue;
        }
        if event.events().contains(ReadFlags::IGNORED) {
            if let Some(gone) = watched.directories.remove(&event.wd()) {
                watched.known.remove(&gone);
            }
            continue;
        }
        let Some(directory) = watched.directories.get(&event.wd()).cloned() else { continue };
        let name = OsStr::from_bytes(event.file_name().map(std::ffi::CStr::to_bytes).unwrap_or_default());
        if name.is_empty() || is_temporary(name) {
            continue;
        }
        let path = directory.join(name);
        let mut files = Vec::new();
        let is_directory = event.events().contains(ReadFlags::ISDIR);
        let is_new = event.events().intersects(ReadFlags::CREATE.union(ReadFlags::MOVED_TO));
        if is_directory && is_new && !name.as_bytes().starts_with(b".") {
            files = watched.add(&path, Depth::All).unwrap_or_default();
        }
        for file in std::iter::once(path).chain(files) {
            if send.send(Seen::File(file)).is_err() {
                return;
            }
        }
    }
}
