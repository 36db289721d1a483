//! The files that change in directories, on systems other than Linux: the directories are looked at
//! several times a second. A change of a file that leaves its size and its time as they were is not
//! seen.

use rustomize_engine::diag::Error;
use rustomize_files::is_temporary;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// The longest time that changes are gathered.
const PATIENCE: Duration = Duration::from_secs(2);

/// Files that have changed; `None` if that is not known, which it always is here.
pub(crate) type Changed = Option<BTreeSet<PathBuf>>;

/// The size of a file, and the time of its last change.
type Stamp = (u64, Option<SystemTime>);

/// The watched directories.
struct Watched {
    directories: BTreeMap<PathBuf, Depth>,
    files: BTreeMap<PathBuf, Stamp>,
}

/// Watches directories.
pub(crate) struct Watcher {
    watched: Mutex<Watched>,
    /// A directory whose files do not count: results are written there.
    left_out: Option<PathBuf>,
}

impl Watcher {
    /// A watcher of no directories yet. Files in `left_out` do not count.
    ///
    /// # Errors
    /// None here.
    pub(crate) fn start(left_out: Option<PathBuf>) -> io::Result<Watcher> {
        let watched = Watched { directories: BTreeMap::new(), files: BTreeMap::new() };
        Ok(Watcher { watched: Mutex::new(watched), left_out })
    }

    /// Watches a directory, and all below it with `Depth::All`. Hidden directories below it are
    /// left out, and links are not followed. A directory that is watched already is left out.
    ///
    /// # Errors
    /// None here.
    pub(crate) fn add(&self, directory: &Path, depth: Depth) -> Result<(), Error> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(place) = dunce::canonicalize(directory) else { return Ok(()) };
        let is_watched = |(above, known): (&PathBuf, &Depth)| match known {
            Depth::All => place.starts_with(above),
            Depth::One => depth == Depth::One && place == *above,
        };
        if !watched.directories.iter().any(is_watched) {
            self.look(&place, depth, &mut watched.files);
            watched.directories.insert(place, depth);
        }
        Ok(())
    }

    /// Waits for changes until there are none for a moment. Never returns `None` here.
    pub(crate) fn wait(&self) -> Option<Changed> {
        let mut changed = BTreeSet::new();
        let mut start = None;
        loop {
            std::thread::sleep(PAUSE);
            let new = self.changes();
            let is_quiet = new.is_empty();
            changed.extend(new);
            let begun = match start {
                None if is_quiet => continue,
                None => *start.insert(Instant::now()),
                Some(begun) => begun,
            };
            if is_quiet || begun.elapsed() >= PATIENCE {
                return Some(Some(changed));
            }
        }
    }

    /// The files that have changed since the last look. O(files).
    fn changes(&self) -> BTreeSet<PathBuf> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = BTreeMap::new();
        for (directory, depth) in &watched.directories {
            self.look(directory, *depth, &mut now);
        }
        let before = std::mem::replace(&mut watched.files, now);
        let now = &watched.files;
        let paths = before.keys().chain(now.keys());
        paths.filter(|path| before.get(*path) != now.get(*path)).cloned().collect()
    }

    /// Notes the files of a directory.
    fn look(&self, directory: &Path, depth: Depth, files: &mut BTreeMap<PathBuf, Stamp>) {
        let mut queue = vec![directory.to_owned()];
        while let Some(directory) = queue.pop() {
            if self.left_out.as_ref().is_some_and(|left_out| directory.starts_with(left_out)) {
                continue;
            }
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let Ok(there) = entry.metadata() else { continue };
                match there.is_dir() {
                    true if depth == Depth::All && !name.as_encoded_bytes().starts_with(b".") => {
                        queue.push(entry.path());
                    }
                    true => {}
                    false if is_temporary(&name) => {}
                    false => drop(files.insert(entry.path(), (there.len(), there.modified().ok()))),
                }
            }
        }
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
