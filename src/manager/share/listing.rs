//! [`Listing`]: the files of a mount of `plugin serve`, and their metadata. Requests that come
//! while the mount is listed share the next list, and a file is hashed again only after it has
//! changed.

use super::mounts::{Files, Metadata};
use crate::manager::id::content;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

/// How long a file has to be unchanged for its sum to be kept: a file system may give two changes
/// that are closer the same time.
const SETTLED: Duration = Duration::from_secs(2);

/// A mount.
#[derive(Default)]
pub(super) struct Listing {
    /// When the last list was begun. Locked while the mount is listed.
    began: Mutex<Option<Instant>>,
    /// The last list.
    files: RwLock<Arc<Files>>,
    sums: Mutex<Sums>,
}

impl Listing {
    /// The place of a file in the last list. A link that has replaced the file is not followed.
    pub fn last(&self, path: &str) -> Option<PathBuf> {
        let file = self.files.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()?;
        fs::canonicalize(&file).is_ok_and(|now| now == file).then_some(file)
    }

    /// The files, in a list that was begun after `asked`. `list` makes one: O(files of the
    /// bundles).
    ///
    /// # Errors
    /// Those of `list`.
    pub fn since(&self, asked: Instant, list: impl FnOnce() -> io::Result<Files>) -> io::Result<Arc<Files>> {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        if began.is_none_or(|began| began < asked) {
            let now = Instant::now();
            let files = Arc::new(list()?);
            *self.files.write().unwrap_or_else(PoisonError::into_inner) = files;
            *began = Some(now);
        }
        Ok(Arc::clone(&self.files.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The metadata of listed files. O(files, and bytes of those that have changed).
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn metadata(&self, files: &Files) -> io::Result<Vec<Metadata>> {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.keep(files);
        let now = SystemTime::now();
        files.iter().map(|(path, file)| metadata(path, file, &mut sums, now)).collect()
    }
}

fn metadata(path: &str, file: &Path, sums: &mut Sums, now: SystemTime) -> io::Result<Metadata> {
    let opened = File::open(file)?;
    let of = opened.metadata()?;
    let mode = if of.mode() & 0o111 == 0 { 0o644 } else { 0o755 };
    let sha256 = sums.of(file, &of, now, || content::sha256(opened))?;
    Ok(Metadata { path: path.to_owned(), size: of.len(), mode, uid: of.uid(), gid: of.gid(), sha256 })
}

/// What differs between two states of a file: device, inode, size, and when it was modified and
/// changed, in seconds and nanoseconds.
type State = (u64, u64, u64, [i64; 4]);

/// The sums of files, each with the state that it is of.
#[derive(Default)]
struct Sums(BTreeMap<PathBuf, (State, String)>);

impl Sums {
    /// Forgets files that are no longer listed.
    fn keep(&mut self, files: &Files) {
        let listed: std::collections::BTreeSet<&PathBuf> = files.values().collect();
        self.0.retain(|file, _| listed.contains(file));
    }

    /// The sum of a file, by `hash` if the file has changed since it was hashed.
    fn of(
        &mut self,
        file: &Path,
        of: &fs::Metadata,
        now: SystemTime,
        hash: impl FnOnce() -> io::Result<String>,
    ) -> io::Result<String> {
        let state = (of.dev(), of.ino(), of.len(), [of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()]);
        if let Some((_, sum)) = self.0.get(file).filter(|(known, _)| *known == state) {
            return Ok(sum.clone());
        }
        let sum = hash()?;
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(of.ctime()).unwrap_or_default());
        if now.duration_since(changed).is_ok_and(|age| age > SETTLED) {
            self.0.insert(file.to_owned(), (state, sum.clone()));
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Files, Instant, Listing, Sums, SystemTime};
    use std::fs;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn s13_requests_at_the_same_time_share_one_list() {
        let (listing, lists, barrier) = (Listing::default(), AtomicUsize::new(0), Barrier::new(8));
        let list = || {
            lists.fetch_add(1, Ordering::Relaxed);
            Ok(Files::from([("a".to_owned(), "/a".into())]))
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let asked = Instant::now();
                    barrier.wait();
                    assert_eq!(listing.since(asked, list).unwrap().len(), 1);
                });
            }
        });
        assert_eq!(lists.load(Ordering::Relaxed), 1);
        // A later request sees what is there by then.
        listing.since(Instant::now(), list).unwrap();
        assert_eq!(lists.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn s13_a_file_is_hashed_again_after_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, mut sums, mut hashed) = (folder.path().join("a"), Sums::default(), 0);
        let later = SystemTime::now() + Duration::from_secs(60);
        let mut ask = |sums: &mut Sums, now| {
            let hash = || {
                hashed += 1;
                Ok(fs::read_to_string(&file).unwrap())
            };
            let sum = sums.of(&file, &file.metadata().unwrap(), now, hash).unwrap();
            (sum, hashed)
        };
        fs::write(&file, "one").unwrap();
        // The sum of a file that may change again within the same instant is not kept.
        assert_eq!(ask(&mut sums, SystemTime::now()), ("one".to_owned(), 1));
        assert_eq!(ask(&mut sums, later), ("one".to_owned(), 2));
        assert_eq!(ask(&mut sums, later), ("one".to_owned(), 2));
        fs::write(&file, "other").unwrap();
        assert_eq!(ask(&mut sums, later), ("other".to_owned(), 3));
        sums.keep(&Files::new());
        assert_eq!(ask(&mut sums, later), ("other".to_owned(), 4));
    }
}
