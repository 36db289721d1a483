//! The data that builds with the same files share: texts, clones of repositories, and fetched
//! files. A single build has such data for itself.

use super::NotLoaded;
use super::remote::{Fetch, Remotes};
use crate::diag::Result;
use rustomize_base::meter::FastMap;
use rustomize_base::observe::Observer;
use rustomize_yaml::encoding::Text;
use rustomize_yaml::{Arena, Source};
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Texts and remote parts, each read once.
pub struct Common<'a> {
    /// Texts by their places, without links, and by their names in messages. A path would be
    /// hashed part by part.
    sources: Mutex<FastMap<(OsString, String), &'a Source>>,
    pub remote: Arc<dyn Fetch>,
    /// Notes the reading of files.
    pub observer: Observer,
}

/// The value behind a lock. A thread that panics leaves no value half changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Common<'a> {
    /// Shared data without any text or remote part.
    pub fn new(remotes: &Arc<dyn Remotes>, observer: Observer) -> Self {
        let remote = Arc::clone(remotes).open(&observer);
        Common { sources: Mutex::default(), remote, observer }
    }

    /// The text of a file at a place that messages call `name`; `read` reads the text if no build
    /// has asked for it before. Two threads that ask at the same time both read it, and get one
    /// source.
    pub(super) fn source(
        &self,
        arena: Arena<'a>,
        place: &Path,
        name: &str,
        read: impl FnOnce() -> Result<Text, NotLoaded>,
    ) -> Result<&'a Source, NotLoaded> {
        let key = (place.as_os_str().to_owned(), name.to_owned());
        if let Some(source) = lock(&self.sources).get(&key) {
            return Ok(source);
        }
        let text = read()?;
        Ok(lock(&self.sources).entry(key).or_insert_with_key(|(_, name)| arena.add_file(name, text)))
    }
}
