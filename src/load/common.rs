//! What builds that share their files have in common: texts, clones of repositories, and what was
//! fetched. A build on its own has one for itself.

use super::git::Git;
use super::http::Http;
use super::{NotLoaded, RemoteOptions, RepoSpec};
use crate::diag::Result;
use crate::meter::FastMap;
use crate::process::Children;
use crate::yaml::encoding::Text;
use crate::yaml::{Arena, Source};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How long one fetch over HTTP may take unless an option says so.
const HTTP_TIMEOUT: Duration = Duration::from_secs(60);

/// Texts, clones and fetched files, each read once.
pub struct Common<'a> {
    /// Texts by their places, without links, and by what messages call them.
    sources: Mutex<FastMap<(PathBuf, String), &'a Source>>,
    pub(super) git: Git,
    remote: RemoteOptions,
    http: OnceLock<Http>,
    /// What was fetched, by URL.
    fetched: Mutex<FastMap<String, Arc<[u8]>>>,
}

/// The value behind a lock. No value here is half changed when a thread panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Common<'a> {
    /// Nothing is read yet.
    pub fn new(remote: RemoteOptions, children: Children) -> Self {
        Common {
            sources: Mutex::default(),
            git: Git::new(remote.cache.clone(), remote.offline, remote.timeout, children),
            remote,
            http: OnceLock::new(),
            fetched: Mutex::default(),
        }
    }

    /// The text of a file at a place that messages call `name`; `read` gives the text if nobody has
    /// asked for it before. Two threads that ask at the same time both read it, and get one source.
    pub(super) fn source(
        &self,
        arena: Arena<'a>,
        place: &Path,
        name: &str,
        read: impl FnOnce() -> Result<Text, NotLoaded>,
    ) -> Result<&'a Source, NotLoaded> {
        let key = (place.to_owned(), name.to_owned());
        if let Some(source) = lock(&self.sources).get(&key) {
            return Ok(source);
        }
        let text = read()?;
        Ok(lock(&self.sources).entry(key).or_insert_with_key(|(_, name)| arena.add_file(name, text)))
    }

    /// What a server has at a URL.
    pub(super) fn fetch(&self, url: &str) -> Result<Arc<[u8]>, NotLoaded> {
        if let Some(bytes) = lock(&self.fetched).get(url) {
            return Ok(Arc::clone(bytes));
        }
        let client = self.http.get_or_init(|| {
            Http::new(self.remote.timeout.unwrap_or(HTTP_TIMEOUT), self.remote.size_limit, self.remote.offline)
        });
        // What cannot be fetched may be a repository.
        let may_be_git = RepoSpec::parse(url).is_some();
        let bytes = client.get(url).map_err(|f| NotLoaded { missing: may_be_git, error: f.error })?;
        Ok(Arc::clone(lock(&self.fetched).entry(url.to_owned()).or_insert_with(|| bytes.into())))
    }
}
