//! [`RemoteParts`]: the remote parts of builds: repositories, files over HTTP, charts, artifacts. A
//! build fetches each part once, and notes which version it has used.
//!
//! A build fetches each part from its source, and keeps a copy. The copies serve builds that are
//! offline or held to a lock: see docs/design.md.

use super::RemoteOptions;
use super::artifacts::Artifacts;
use super::cache::{self, Cache, Shelf};
use super::disk::Disk;
use super::git::{Cloned, Git};
use super::http::Http;
use super::lock::{Kind, Lock, Part, Pin, check_content};
use super::place::{BESIDE_LOCK, CACHE, SERVER};
use super::sum::{self, sha256};
use crate::diag::{Code, Error, Result};
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_base::observe::{Noted, Observer, Work};
use rustomize_base::shell::quoted;
use rustomize_base::shown;
use rustomize_engine::load::artifact_reference::ArtifactReference;
use rustomize_engine::load::remote::{ChartName, Fetch, Remotes};
use rustomize_engine::load::{FileLimit, Loader, NotLoaded, RepoSpec, host};
use rustomize_process::PrivateDirectory;
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The time limit of one fetch over HTTP, unless an option sets another one.
const HTTP_TIMEOUT: Duration = Duration::from_secs(60);

/// The reference under which a shelf of charts or files notes its last version.
const LATEST: &str = "";

/// The remote parts of builds that share their files.
pub struct RemoteParts {
    options: RemoteOptions,
    cache: Option<Cache>,
    /// Reads clones and artifacts.
    disk: Disk,
    git: Git,
    http: OnceLock<Http>,
    artifacts: OnceLock<Artifacts>,
    /// Files that were fetched, by URL.
    fetched: Mutex<FastMap<String, Arc<[u8]>>>,
    /// Directories of artifacts, by name.
    unpacked: Mutex<FastMap<String, PathBuf>>,
    /// Charts that were pulled for remote roots.
    pulled: Mutex<BTreeMap<Part, PathBuf>>,
    /// Clones whose content was compared with the lock.
    checked: Mutex<FastSet<PathBuf>>,
    /// Artifacts and charts that the cache does not keep: they are removed when the build ends.
    temporary: Mutex<Vec<PrivateDirectory>>,
    used: Mutex<BTreeMap<Part, Used>>,
    observer: Observer,
}

/// The version of a part that a build has used.
#[derive(Clone, Debug)]
pub enum Used {
    /// A clone of a repository.
    Clone(Box<RepoSpec>, Cloned),
    /// A directory, with the digest of an artifact; empty for a chart.
    Directory { version: String, place: PathBuf },
    /// The content of a file.
    File(Arc<[u8]>),
}

/// The part that a chart is.
fn chart_part(chart: &ChartName<'_>) -> Part {
    let devel = if chart.devel { " --devel" } else { "" };
    let repo = chart.repo.strip_suffix('/').unwrap_or(chart.repo);
    Part::new(Kind::Chart, format!("{repo} {} {}{devel}", chart.name, chart.version).trim_end())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RemoteParts {
    /// Remote parts for builds with these options, none of them fetched yet.
    pub fn new(options: RemoteOptions, observer: Observer) -> Self {
        RemoteParts {
            cache: options.cache.clone().map(Cache::new),
            disk: Disk::new(),
            git: Git::new(options.cache.clone(), options.offline, options.timeout, options.children.clone()),
            options,
            http: OnceLock::new(),
            artifacts: OnceLock::new(),
            fetched: Mutex::default(),
            unpacked: Mutex::default(),
            pulled: Mutex::default(),
            checked: Mutex::default(),
            temporary: Mutex::default(),
            used: Mutex::default(),
            observer,
        }
    }

    /// The parts that the builds have used.
    pub fn used(&self) -> BTreeMap<Part, Used> {
        lock(&self.used).clone()
    }

    /// The lock that builds are held to.
    fn held_to(&self) -> Option<&Lock> {
        self.options.lock.as_deref()
    }

    fn note(&self, part: Part, used: Used) {
        lock(&self.used).entry(part).or_insert(used);
    }

    /// Notes that a part is fetched, or taken from where it is kept.
    fn observe(&self, part: &Part) -> Noted {
        self.observer.begin(Work::Fetch, || shown::masked(&part.name).into_owned())
    }

    fn shelf(&self, part: &Part) -> Option<Shelf> {
        Some(self.cache.as_ref()?.shelf(part.kind.directory(), &part.name))
    }

    /// The error for a part that an offline build lacks.
    fn lacks(&self, part: &Part) -> Error {
        cache::lacks(&part.to_string(), self.shelf(part).as_ref())
    }

    /// The pin of a part, if the builds are held to a lock.
    fn pin(&self, part: &Part) -> Result<Option<(&Lock, &Pin)>> {
        match self.held_to() {
            None => Ok(None),
            Some(lock) => Ok(Some((lock, lock.pin(part)?))),
        }
    }

    /// The version of a repository that a lock has. Its content is checked once in a build.
    fn pinned(&self, spec: &RepoSpec, part: &Part, (held, pin): (&Lock, &Pin)) -> Result<Cloned> {
        let cloned = self.git.pinned(spec, &pin.version).map_err(|e| match e.code() {
            Code::Checksum => held.advised(e),
            _ => e,
        })?;
        if !lock(&self.checked).contains(&cloned.directory) {
            self.check_kept(held, part, pin, &cloned.directory)?;
            lock(&self.checked).insert(cloned.directory.clone());
        }
        Ok(cloned)
    }

    /// Checks that a directory has the content that a lock gives for a part. The directory is in
    /// the cache, or was fetched by this build.
    fn check_kept(&self, held: &Lock, part: &Part, pin: &Pin, place: &Path) -> Result<()> {
        let is_cached = self.cache.as_ref().is_some_and(|cache| place.starts_with(cache.named()));
        check_content(part, pin, place).map_err(|e| match is_cached {
            // Locking the tree again would lock the content of the cache.
            true => e.hint(format!("fetch it again, after: rm -r {}", quoted(&place.to_string_lossy()))),
            false => held.advised(e),
        })
    }

    /// The tracked files of a clone.
    ///
    /// # Errors
    /// git is missing, fails or takes too long.
    pub fn tracked(&self, spec: &RepoSpec, cloned: &Cloned) -> Result<Vec<String>> {
        self.git.tracked(spec, &cloned.directory)
    }

    fn http(&self) -> Http {
        let timeout = self.options.timeout.unwrap_or(HTTP_TIMEOUT);
        Http::new(timeout, self.options.size_limit, self.options.offline)
    }

    fn read_file(&self, part: &Part, url: &str, may_be_git: bool, noted: &Noted) -> Result<Vec<u8>> {
        let shelf = self.shelf(part);
        if let Some((lock, pin)) = self.pin(part)? {
            if let Some(copied) = lock.copied_file(part, pin, FileLimit(self.options.size_limit))? {
                noted.says(|| BESIDE_LOCK.to_owned());
                return Ok(copied);
            }
            if let Some(kept) = shelf.as_ref().and_then(|shelf| shelf.file(&pin.content)) {
                noted.says(|| CACHE.to_owned());
                return Ok(kept);
            }
        }
        if self.options.offline {
            noted.says(|| CACHE.to_owned());
            let kept = shelf.and_then(|shelf| shelf.file(&shelf.last(LATEST)?));
            return kept.filter(|_| self.held_to().is_none()).ok_or_else(|| self.lacks(part));
        }
        noted.says(|| SERVER.to_owned());
        let bytes = self.http.get_or_init(|| self.http()).get(url).map_err(|fault| fault.error)?;
        let found = sha256(&bytes);
        if let Some((lock, pin)) = self.pin(part)?
            && found != pin.content
        {
            let message = format!("{part} has changed: its SHA-256 is {found}, and the lock has {}", pin.content);
            return Err(lock.advised(Error::new(Code::Checksum, message)));
        }
        // A web page of a repository host differs each time, and a build cannot use it.
        let is_page = may_be_git && bytes.trim_ascii_start().starts_with(b"<");
        if let Some(shelf) = shelf.filter(|_| !is_page)
            && shelf.keep_file(&bytes, &found).is_ok()
        {
            shelf.note(LATEST, &found);
        }
        Ok(bytes)
    }

    /// The digest and the directory of an artifact.
    fn unpack(&self, part: &Part, reference: &ArtifactReference, noted: &Noted) -> Result<(String, PathBuf)> {
        let cache = self.cache.as_ref().filter(|cache| cache.is_private(&cache.all(Kind::Artifact.directory())));
        let shelf = cache.map(|cache| cache.shelf(Kind::Artifact.directory(), &reference.repository));
        let kept = |digest: &str| {
            let entry = digest.strip_prefix("sha256:").filter(|sum| sum::is_sha256(sum))?;
            let place = shelf.as_ref()?.version(entry)?;
            noted.says(|| format!("{CACHE}, {digest}"));
            Some((digest.to_owned(), place))
        };
        let pin = self.pin(part)?;
        if let Some((lock, pin)) = pin {
            if let Some(place) = lock.copied_directory(part, pin)? {
                noted.says(|| BESIDE_LOCK.to_owned());
                return Ok((pin.version.clone(), place));
            }
            if let Some(kept) = kept(&pin.version) {
                self.check_kept(lock, part, pin, &kept.1)?;
                return Ok(kept);
            }
        }
        let moved = |now: &str| match pin {
            Some((lock, pin)) if pin.version != now => {
                let message = format!("{part} is now {now}, and the lock has {}", pin.version);
                Err(lock.advised(Error::new(Code::Checksum, message)))
            }
            _ => Ok(()),
        };
        if self.options.offline {
            let last = match reference.is_digest() {
                true => Some(reference.version.clone()),
                false => shelf.as_ref().and_then(|shelf| shelf.last(&reference.version)),
            };
            let last = last.and_then(|digest| kept(&digest)).filter(|_| pin.is_none());
            return last.ok_or_else(|| self.lacks(part));
        }
        let artifacts = self.artifacts.get_or_init(|| Artifacts::new(self.http(), self.options.secrets.0));
        if let Some(kept) = kept(&reference.version) {
            moved(&kept.0)?;
            return Ok(kept);
        }
        let digest = artifacts.digest(reference)?;
        moved(&digest)?;
        let note = |shelf: &Shelf| shelf.note(&reference.version, &digest);
        if let Some(kept) = kept(&digest) {
            shelf.iter().for_each(note);
            return Ok(kept);
        }
        let no_directory = |e: std::io::Error| {
            let error = Error::io(&e, format!("no directory for an artifact: {e}"));
            error.hint("--remote-cache DIR, RUSTOMIZE_CACHE_DIR or TMPDIR names a directory that can be written to")
        };
        let made = match cache {
            Some(cache) => cache.work_directory(Kind::Artifact.directory(), &self.options.children),
            None => self.options.children.directory("kustomize-"),
        };
        let made = made.map_err(no_directory)?;
        noted.says(|| format!("{SERVER}, {digest}"));
        artifacts.fetch(reference, &digest, made.path())?;
        let place = match &shelf {
            Some(shelf) => {
                let entry = digest.strip_prefix("sha256:").unwrap_or(&digest);
                let place = shelf.keep(made, entry).map_err(no_directory)?;
                note(shelf);
                place
            }
            None => {
                let place = made.path().to_owned();
                lock(&self.temporary).push(made);
                place
            }
        };
        if let Some((lock, pin)) = pin {
            self.check_kept(lock, part, pin, &place)?;
        }
        Ok((digest, place))
    }

    /// A chart in the cache, found by its sum.
    fn kept_chart(&self, part: &Part, content: &str) -> Option<PathBuf> {
        self.shelf(part).filter(|_| sum::is_sha256(content))?.version(content)
    }

    /// Copies a chart into the cache, and returns its place there; `None` if the cache cannot keep
    /// it.
    fn copy_chart(&self, part: &Part, pulled: &Path) -> Result<Option<PathBuf>> {
        let content = sum::directory(pulled)
            .map_err(|e| Error::io(&e, format!("the chart '{}' cannot be read: {e}", pulled.display())))?;
        if let Some((lock, pin)) = self.pin(part)?
            && content != pin.content
        {
            let message = format!("{part} has changed: its sum is {content}, and the lock has {}", pin.content);
            return Err(lock.advised(Error::new(Code::Checksum, message)));
        }
        let (Some(cache), Some(shelf)) = (&self.cache, self.shelf(part)) else { return Ok(None) };
        if shelf.place(&content).is_none() {
            return Ok(None);
        }
        let kept = cache.work_directory(Kind::Chart.directory(), &self.options.children).and_then(|made| {
            sum::copy(pulled, made.path(), |_| true)?;
            shelf.keep(made, &content)
        });
        if kept.is_ok() {
            shelf.note(LATEST, &content);
        }
        Ok(kept.ok())
    }
}

impl Remotes for RemoteOptions {
    fn open(self: Arc<Self>, observer: &Observer) -> Arc<dyn Fetch> {
        Arc::new(RemoteParts::new((*self).clone(), observer.clone()))
    }

    fn is_offline(&self) -> bool {
        self.offline
    }

    fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    fn is_like(&self, other: &dyn Remotes) -> bool {
        (other as &dyn Any).downcast_ref().is_some_and(|other| self.is_same(other))
    }
}

/// Gives the same parts to each build, to somebody who asks for the [used](RemoteParts::used) ones
/// afterwards.
impl Remotes for RemoteParts {
    fn open(self: Arc<Self>, _: &Observer) -> Arc<dyn Fetch> {
        self
    }

    fn is_offline(&self) -> bool {
        self.options.offline
    }

    fn is_locked(&self) -> bool {
        self.options.lock.is_some()
    }

    fn is_like(&self, other: &dyn Remotes) -> bool {
        (other as &dyn Any).downcast_ref::<RemoteParts>().is_some_and(|other| std::ptr::eq(self, other))
    }
}

impl Fetch for RemoteParts {
    fn machine(&self) -> &dyn Loader {
        &self.disk
    }

    /// A version of a repository.
    fn repository(&self, spec: &RepoSpec) -> Result<PathBuf> {
        let part = Part::new(Kind::Git, &spec.name());
        let noted = self.observe(&part);
        let cloned = match self.pin(&part)? {
            None => self.git.clone(spec)?,
            Some((lock, pin)) => match lock.copied_directory(&part, pin)? {
                Some(directory) => Cloned { directory, commit: pin.version.clone(), from: BESIDE_LOCK },
                None => self.pinned(spec, &part, (lock, pin))?,
            },
        };
        noted.says(|| format!("{}, commit {}", cloned.from, cloned.commit));
        let directory = cloned.directory.clone();
        // The URL of a repository is first tried as the URL of a file. The server may have had a
        // page there, which is not used.
        lock(&self.used).remove(&Part::new(Kind::File, &spec.raw));
        self.note(part, Used::Clone(Box::new(spec.clone()), cloned));
        Ok(directory)
    }

    /// Clones several repositories side by side, unless a lock fixes their versions.
    fn prefetch(&self, specs: Vec<RepoSpec>) {
        if self.options.lock.is_none() {
            self.git.prefetch(specs);
        }
    }

    /// The directory of an artifact.
    fn artifact(&self, reference: &ArtifactReference) -> Result<PathBuf> {
        let part = Part::new(Kind::Artifact, &reference.name());
        if let Some(known) = lock(&self.unpacked).get(&part.name) {
            return Ok(known.clone());
        }
        let noted = self.observe(&part);
        let (version, place) =
            self.unpack(&part, reference, &noted).map_err(|e| e.context(fetching(&reference.raw)))?;
        lock(&self.unpacked).insert(part.name.clone(), place.clone());
        self.note(part, Used::Directory { version, place: place.clone() });
        Ok(place)
    }

    /// The file that a server has at a URL.
    fn file(&self, url: &str) -> Result<Arc<[u8]>, NotLoaded> {
        if let Some(bytes) = lock(&self.fetched).get(url) {
            return Ok(Arc::clone(bytes));
        }
        // A server does not see the fragment of a URL.
        let part = Part::new(Kind::File, url.split('#').next().unwrap_or_default());
        // A URL that does not lead to a file may lead to a repository.
        let may_be_git = RepoSpec::parse(url).is_some();
        let noted = self.observe(&part);
        let bytes =
            self.read_file(&part, url, may_be_git, &noted).map_err(|error| NotLoaded { missing: may_be_git, error })?;
        let bytes = Arc::clone(lock(&self.fetched).entry(url.to_owned()).or_insert_with(|| bytes.into()));
        self.note(part, Used::File(Arc::clone(&bytes)));
        Ok(bytes)
    }

    /// The directory of a chart that need not be pulled: `home` if the chart home has the chart,
    /// else the copy beside the lock, or a copy in the cache for a build that is offline or held to
    /// a lock. `None` for a chart that must be pulled.
    fn chart(&self, chart: ChartName<'_>, home: &Path) -> Result<Option<PathBuf>> {
        let part = chart_part(&chart);
        let pin = self.pin(&part)?;
        let pulled = || lock(&self.pulled).get(&part).cloned();
        let found = match pin {
            Some((lock, pin)) if home.is_dir() => {
                check_content(&part, pin, home).map_err(|e| lock.advised(e))?;
                Some(home.to_owned())
            }
            Some((held, pin)) => match held.copied_directory(&part, pin)? {
                None => {
                    let kept = self.kept_chart(&part, &pin.content);
                    kept.iter().try_for_each(|place| self.check_kept(held, &part, pin, place))?;
                    kept.or_else(pulled)
                }
                copied => copied,
            },
            None if home.is_dir() => Some(home.to_owned()),
            None if self.options.offline => {
                let last = self.shelf(&part).and_then(|shelf| shelf.last(LATEST));
                last.and_then(|last| self.kept_chart(&part, &last))
            }
            None => pulled(),
        };
        match &found {
            Some(place) => self.note(part, Used::Directory { version: String::new(), place: place.clone() }),
            None if self.options.offline => return Err(self.lacks(&part)),
            None => {}
        }
        Ok(found)
    }

    /// Notes a chart that was pulled into its chart home, and keeps a copy in the cache for later
    /// offline builds. An error of the cache is ignored.
    fn keep_chart(&self, chart: ChartName<'_>, pulled: &Path) -> Result<()> {
        let part = chart_part(&chart);
        self.copy_chart(&part, pulled)?;
        self.note(part, Used::Directory { version: String::new(), place: pulled.to_owned() });
        Ok(())
    }

    /// Keeps a copy of a chart that was pulled for a remote root, in the cache or for this build,
    /// and returns its place. The clones and artifacts of the cache never change.
    fn take_chart(&self, chart: ChartName<'_>, pulled: &Path) -> Result<PathBuf> {
        let part = chart_part(&chart);
        let place = match self.copy_chart(&part, pulled)? {
            Some(kept) => kept,
            None => {
                let cannot = |e: std::io::Error| Error::io(&e, format!("{part} cannot be copied: {e}"));
                let made = self.options.children.directory("kustomize-").map_err(cannot)?;
                sum::copy(pulled, made.path(), |_| true).map_err(cannot)?;
                let place = made.path().to_owned();
                lock(&self.temporary).push(made);
                place
            }
        };
        let place = lock(&self.pulled).entry(part.clone()).or_insert(place).clone();
        self.note(part, Used::Directory { version: String::new(), place: place.clone() });
        Ok(place)
    }
}

fn fetching(reference: &str) -> String {
    format!("fetching '{}'", host::without_user(reference))
}
