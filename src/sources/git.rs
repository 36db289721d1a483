//! Clones of git repositories, through the `git` command: one directory for each version of each
//! repository.
//!
//! A version is identified by its commit. The first clone of a repository takes the commands that
//! upstream runs. Later clones ask for the commit of a reference, and clone it if the cache lacks
//! it. A full commit hash that the cache has needs no network. Versions are kept in `git/<hash of
//! the URL>/<commit>`, where they are put in one step: builds that run side by side share them, and
//! an interrupted clone leaves no directory that looks complete.

use super::cache::{self, Cache, Shelf};
use super::git_command::{Filters, GitCommand, VARIABLE};
use super::place::{CACHE, SERVER};
use super::{RepoSpec, host};
use crate::diag::{Code, Error, Result};
use hashbrown::HashMap;
use rustomize_files::{Directory, RECORD};
use rustomize_process::{Children, Failure, Inherited, Launch, Limits, PrivateDirectory};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// The largest output of git: lists of references are long in some repositories.
const MAX_OUTPUT: u64 = 64 << 20;

/// The number of fetches that run side by side.
const FETCHES: usize = 8;

/// Variables that would point git at a repository of the user, or change its behavior.
const WITHOUT: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
    "GIT_EXTERNAL_DIFF",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
];

/// The identity of a version of a repository: URL, reference, submodules.
type Key = (String, String, bool);

/// The directory of all repositories in the cache.
const KIND: &str = "git";

/// A version of a repository, on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cloned {
    pub directory: PathBuf,
    /// The commit; empty if git does not tell it.
    pub commit: String,
    /// The source of the clone, in the words of `--verbose`.
    pub from: &'static str,
}

/// The clones of a build.
pub struct Git {
    /// The directory that keeps versions between builds.
    cache: Option<Cache>,
    offline: bool,
    /// The time limit of one command, for a reference without a limit.
    timeout: Option<Duration>,
    children: Children,
    known: Mutex<HashMap<Key, Cloned>>,
    /// Clones that the cache does not keep: they are removed when the build ends.
    temporary: Mutex<Vec<PrivateDirectory>>,
}

impl Git {
    /// The clones of a build, none so far.
    pub fn new(cache: Option<PathBuf>, offline: bool, timeout: Option<Duration>, children: Children) -> Self {
        let cache = cache.map(Cache::new);
        Git { cache, offline, timeout, children, known: Mutex::default(), temporary: Mutex::default() }
    }

    /// The directory that holds a version of a repository.
    ///
    /// # Errors
    /// As [`Git::clone`].
    pub fn checkout(&self, spec: &RepoSpec) -> Result<PathBuf> {
        Ok(self.clone(spec)?.directory)
    }

    /// A version of a repository.
    ///
    /// # Errors
    /// git is missing, fails or takes too long, or the build is offline and the cache lacks the
    /// version.
    pub fn clone(&self, spec: &RepoSpec) -> Result<Cloned> {
        self.clone_at(spec, None).map_err(|e| e.context(fetching(spec)))
    }

    /// The version of a repository that has the commit `commit`. A commit that is in the cache
    /// needs no network.
    ///
    /// # Errors
    /// As [`Git::clone`], or the reference now stands for another commit.
    pub fn pinned(&self, spec: &RepoSpec, commit: &str) -> Result<Cloned> {
        let moved = |now: &str| {
            let name = if spec.reference.is_empty() { "HEAD" } else { &spec.reference };
            let shown = host::without_user(&spec.url);
            Error::new(Code::Checksum, format!("'{name}' of '{shown}' is now {now}, and the lock has {commit}"))
        };
        let known = lock(&self.known).get(&key(spec)).cloned();
        let found = known.or_else(|| {
            let directory = self.version(spec, commit)?;
            Some(Cloned { directory, commit: commit.to_owned(), from: CACHE })
        });
        let found = match found {
            Some(found) => found,
            None if is_commit(&spec.reference) && spec.reference != commit => return Err(moved(&spec.reference)),
            None if self.offline => return Err(self.lacks(spec).context(fetching(spec))),
            None => {
                let asked = if is_commit(&spec.reference) { None } else { self.commit_of(spec)? };
                if let Some(now) = asked.filter(|now| now != commit) {
                    return Err(moved(&now));
                }
                self.clone_at(spec, Some(commit.to_owned())).map_err(|e| e.context(fetching(spec)))?
            }
        };
        if found.commit != commit {
            return Err(moved(&found.commit));
        }
        lock(&self.known).insert(key(spec), found.clone());
        Ok(found)
    }

    /// Clones a version. `commit` is the commit of the reference, if it is known already.
    fn clone_at(&self, spec: &RepoSpec, commit: Option<String>) -> Result<Cloned> {
        if let Some(known) = lock(&self.known).get(&key(spec)) {
            return Ok(known.clone());
        }
        let clone = match self.cached(spec, commit)? {
            Some(cached) => cached,
            None => {
                let clone = self.start(spec)?;
                self.fetch(spec, &clone)?;
                self.finish(spec, clone)?
            }
        };
        if !clone.commit.is_empty() {
            lock(&self.known).insert(key(spec), clone.clone());
        }
        Ok(clone)
    }

    /// The tracked files of a clone and of its submodules.
    ///
    /// # Errors
    /// git is missing, fails or takes too long.
    pub fn tracked(&self, spec: &RepoSpec, clone: &Path) -> Result<Vec<String>> {
        let listed = self.git(spec, clone, GitCommand::new("ls-files", &["-z", "--recurse-submodules"]))?;
        Ok(listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// The commit that a reference stands for now. It takes one round trip, unless the reference is
    /// a full commit hash.
    ///
    /// # Errors
    /// git is missing, fails or takes too long, the repository lacks the reference, or this run is
    /// offline.
    pub fn commit(&self, spec: &RepoSpec) -> Result<String> {
        if is_commit(&spec.reference) {
            return Ok(spec.reference.clone());
        }
        if self.offline {
            let message = format!(
                "'{}' would be asked for the commit of '{}', and this run is offline",
                spec.url, spec.reference
            );
            return Err(Error::new(Code::NotFetched, message));
        }
        self.commit_of(spec)?
            .ok_or_else(|| Error::new(Code::Absent, format!("'{}' has no '{}'", spec.url, spec.reference)))
    }

    /// The time when the version in a clone was committed, if git tells it.
    ///
    /// # Errors
    /// git is missing, fails or takes too long.
    pub fn time(&self, spec: &RepoSpec, clone: &Path) -> Result<Option<SystemTime>> {
        let printed = self.git(
            spec,
            clone,
            GitCommand::new("show", &["--no-patch", "--no-show-signature", "--format=%ct", "HEAD"]),
        )?;
        Ok(printed.trim().parse().ok().map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)))
    }

    /// The tags of a repository and the commits that they stand for. One round trip.
    ///
    /// # Errors
    /// git is missing, fails or takes too long, or this run is offline.
    pub fn tags(&self, spec: &RepoSpec) -> Result<Vec<(String, String)>> {
        if self.offline {
            let message = format!("'{}' would be asked for its tags, and this run is offline", spec.url);
            return Err(Error::new(Code::NotFetched, message).hint("run the command without --offline"));
        }
        let directory = self.work_directory()?;
        let printed =
            self.git(spec, directory.path(), GitCommand::new("ls-remote", &["--tags"]).with_words(&[&spec.url]))?;
        let mut tags: Vec<(String, String)> = Vec::new();
        for (commit, name) in printed.lines().filter_map(|line| line.split_once('\t')) {
            let Some(tag) = name.strip_prefix("refs/tags/") else { continue };
            // After an annotated tag comes the commit that it stands for.
            match (tag.strip_suffix("^{}"), tags.last_mut()) {
                (Some(_), Some(last)) => commit.clone_into(&mut last.1),
                _ => tags.push((tag.to_owned(), commit.to_owned())),
            }
        }
        Ok(tags)
    }

    /// Fetches several references side by side. Errors are ignored: [`Git::checkout`] meets them
    /// again.
    pub fn prefetch(&self, specs: Vec<RepoSpec>) {
        let mut wanted: Vec<RepoSpec> = Vec::new();
        for spec in specs {
            if !wanted.iter().any(|w| key(w) == key(&spec)) && !lock(&self.known).contains_key(&key(&spec)) {
                wanted.push(spec);
            }
        }
        if wanted.len() < 2 || self.offline {
            return;
        }
        for batch in wanted.chunks(FETCHES) {
            std::thread::scope(|scope| {
                for spec in batch {
                    // A reference that no thread fetches is fetched when it is used.
                    let fetch = move || drop(self.checkout_if_known(spec));
                    let _ = std::thread::Builder::new().spawn_scoped(scope, fetch);
                }
            });
        }
    }

    /// As [`Git::checkout`], but only if git tells the commit. Otherwise the clone cannot be
    /// shared, and the repository is cloned when it is used.
    fn checkout_if_known(&self, spec: &RepoSpec) -> Result<()> {
        match self.commit_of(spec)? {
            None => Ok(()),
            commit => self.clone_at(spec, commit).map(drop),
        }
    }

    /// The versions of a repository in the cache.
    fn shelf(&self, spec: &RepoSpec) -> Option<Shelf> {
        Some(self.cache.as_ref()?.shelf(KIND, &spec.url))
    }

    /// A commit in the cache.
    fn version(&self, spec: &RepoSpec, commit: &str) -> Option<PathBuf> {
        self.shelf(spec).filter(|_| is_commit(commit))?.version(&version_name(commit, spec.submodules))
    }

    /// The error for a version that an offline build lacks.
    fn lacks(&self, spec: &RepoSpec) -> Error {
        let part = format!("the repository '{}'", host::without_user(&spec.name()));
        cache::lacks(&part, self.shelf(spec).as_ref())
    }

    /// A version in the cache.
    fn cached(&self, spec: &RepoSpec, commit: Option<String>) -> Result<Option<Cloned>> {
        let version = |commit: &str| {
            let directory = self.version(spec, commit)?;
            Some(Cloned { directory, commit: commit.to_owned(), from: CACHE })
        };
        if let Some(known) = version(&spec.reference) {
            return Ok(Some(known));
        }
        let shelf = self.shelf(spec);
        if self.offline {
            let last = shelf.and_then(|shelf| shelf.last(&spec.reference)).unwrap_or_default();
            return version(&last).map(Some).ok_or_else(|| self.lacks(spec));
        }
        if !shelf.is_some_and(|shelf| shelf.exists()) {
            return Ok(None);
        }
        let commit = match commit {
            None => self.commit_of(spec)?,
            known => known,
        };
        let cached = commit.and_then(|commit| version(&commit));
        // The reference may stand for another commit since the version was fetched.
        if let (Some(cached), Some(shelf)) = (&cached, self.shelf(spec)) {
            shelf.note(&spec.reference, &cached.commit);
        }
        Ok(cached)
    }

    /// The commit that a reference stands for now, if the repository tells it.
    fn commit_of(&self, spec: &RepoSpec) -> Result<Option<String>> {
        let directory = self.work_directory()?;
        let reference = if spec.reference.is_empty() { "HEAD" } else { &spec.reference };
        let peeled = format!("{reference}^{{}}");
        let words = [spec.url.as_str(), reference, &peeled];
        let printed = self.git(spec, directory.path(), GitCommand::new("ls-remote", &[]).with_words(&words))?;
        let lines: Vec<(&str, &str)> = printed.lines().filter_map(|line| line.split_once('\t')).collect();
        let named = |name: String| lines.iter().find(|(_, n)| *n == name).map(|(commit, _)| (*commit).to_owned());
        // The order is the one in which git itself looks up a name.
        let names = ["", "refs/", "refs/tags/", "refs/heads/"];
        let found = names.into_iter().find_map(|start| {
            named(format!("{start}{reference}^{{}}")).or_else(|| named(format!("{start}{reference}")))
        });
        Ok(found.filter(|commit| is_commit(commit)))
    }

    /// Makes a directory with an empty repository.
    fn start(&self, spec: &RepoSpec) -> Result<PrivateDirectory> {
        let directory = self.work_directory()?;
        self.git(spec, directory.path(), GitCommand::new("init", &[]))?;
        let words = ["origin", spec.url.as_str()];
        self.git(spec, directory.path(), GitCommand::new("remote", &["add"]).with_words(&words))?;
        Ok(directory)
    }

    /// A directory for git to work in, on the file system of the cache if there is a cache.
    fn work_directory(&self) -> Result<PrivateDirectory> {
        let Some(cache) = self.cache.as_ref().filter(|cache| cache.is_private(&cache.all(KIND))) else {
            return self.children.directory("kustomize-").map_err(|e| no_directory(&e));
        };
        let made = cache.work_directory(KIND, &self.children);
        let parent = || format!("making a directory below '{}'", cache.named().display());
        made.map_err(|e| no_directory(&e).context(parent()))
    }

    fn fetch(&self, spec: &RepoSpec, clone: &PrivateDirectory) -> Result<()> {
        let cannot = |e: io::Error| Error::io(&e, format!("a clone cannot be changed: {e}"));
        let reference = if spec.reference.is_empty() { "HEAD" } else { &spec.reference };
        let words = [spec.url.as_str(), reference];
        self.git(spec, clone.path(), GitCommand::new("fetch", &["--depth=1"]).with_words(&words))?;
        // These attributes win over those of the repository, which can name filters of the user's.
        let info = clone.path().join(".git/info");
        fs::create_dir_all(&info).and_then(|()| fs::write(info.join("attributes"), "* -filter\n")).map_err(cannot)?;
        self.git(spec, clone.path(), GitCommand::new("checkout", &["FETCH_HEAD"]))?;
        // Most repositories name no filter, and have no submodules: git is not asked for more.
        let names_filters = names_filters(clone.path());
        let has_submodules = spec.submodules && clone.path().join(".gitmodules").symlink_metadata().is_ok();
        let filters = match names_filters || has_submodules {
            // A git without filters ends with an error.
            true => self.git(spec, clone.path(), Filters::LIST).unwrap_or_default(),
            false => String::new(),
        };
        let filters = Filters::all_except_lfs(filters.as_bytes());
        if names_filters {
            // Files of git-lfs are written once more, by its filter.
            fs::remove_file(info.join("attributes")).map_err(cannot)?;
            fs::remove_file(clone.path().join(".git/index")).map_err(cannot)?;
            let again = GitCommand::new("checkout", &["--force", "FETCH_HEAD"]);
            self.git_with(spec, clone.path(), again, &filters)?;
        }
        if spec.submodules {
            // A repository from the network must not name a submodule on this machine.
            let update = GitCommand::new("submodule", &["update", "--init", "--recursive"]);
            let update = if spec.is_of_this_machine() { update } else { update.without_files() };
            self.git_with(spec, clone.path(), update, &filters)?;
        }
        forget_users(&clone.path().join(".git"))
            .map_err(|e| Error::io(&e, format!("the settings of a clone cannot be changed: {e}")))
    }

    /// Moves a clone into the cache. Another build may have done so first.
    fn finish(&self, spec: &RepoSpec, clone: PrivateDirectory) -> Result<Cloned> {
        let directory = clone.path().to_owned();
        let commit = self.git(spec, &directory, GitCommand::new("rev-parse", &["HEAD"])).unwrap_or_default();
        let commit = Some(commit.trim()).filter(|commit| is_commit(commit)).unwrap_or_default().to_owned();
        let version = version_name(&commit, spec.submodules);
        let shelf = self.shelf(spec).filter(|shelf| !commit.is_empty() && shelf.place(&version).is_some());
        let Some(shelf) = shelf else {
            lock(&self.temporary).push(clone);
            return Ok(Cloned { directory, commit, from: SERVER });
        };
        let directory = shelf.keep(clone, &version).map_err(|e| no_directory(&e))?;
        shelf.note(&spec.reference, &commit);
        Ok(Cloned { directory, commit, from: SERVER })
    }

    /// Runs git and returns its output.
    fn git(&self, spec: &RepoSpec, directory: &Path, command: GitCommand<'_>) -> Result<String> {
        self.git_with(spec, directory, command, &Filters::default())
    }

    /// Runs git without some filters, and returns its output.
    fn git_with(
        &self,
        spec: &RepoSpec,
        directory: &Path,
        command: GitCommand<'_>,
        filters: &Filters,
    ) -> Result<String> {
        let timeout = if spec.has_timeout { spec.timeout } else { self.timeout.unwrap_or(spec.timeout) };
        let settings = String::from_utf8_lossy(&command.settings(filters)).into_owned();
        // Nobody can answer a question.
        let variables = [("GIT_TERMINAL_PROMPT".into(), "0".into()), (VARIABLE.into(), settings.into())];
        let launch = Launch::new("git").args(command.arguments()?).in_directory(directory).variables(variables);
        let launch = Launch { inherits: Inherited::AllBut(WITHOUT), ..launch };
        let limits = Limits { timeout: Some(timeout), output: MAX_OUTPUT, ..Limits::default() };
        let shown = command.shown();
        let printed = self.children.run(launch.limited(limits)).map_err(|failed| {
            let said = failed.stderr.trim_end().replace('\n', "\n    ");
            let fault = |message: String| Error::new(Code::FetchFailed, message);
            match failed.failure {
                Failure::NotStarted(e) if e.kind() == io::ErrorKind::NotFound => {
                    fault("no 'git' program on path".to_owned())
                        .hint("install git: remote kustomizations are cloned with it")
                }
                Failure::NotStarted(e) => fault(format!("'{shown}' cannot be started: {e}")),
                Failure::TimedOut(t) => fault(format!("hit {} s timeout running '{shown}'", t.as_secs_f64()))
                    .with_code(Code::Timeout)
                    .hint("the reference takes '?timeout=120', the build --remote-timeout"),
                Failure::TooMuchOutput(n) => fault(format!("'{shown}' printed more than {n} bytes")),
                Failure::Status(status) | Failure::Ended(status) => {
                    fault(format!("failed to run '{shown}': {status}\n    {said}"))
                        .hint("correct the address or the 'ref', or see whether git can reach the repository")
                }
                Failure::Io(e) => fault(format!("talking to '{shown}' failed: {e}")),
            }
        })?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if attributes in a clone may name filters. O(files of the clone).
fn names_filters(clone: &Path) -> bool {
    let mut found = false;
    let walked = Directory::open(clone).and_then(|clone| {
        clone.walk(&mut |member| {
            if member.name == ".gitattributes" {
                let text = member.directory.read(Path::new(&member.name), RECORD);
                found |= text.is_ok_and(|text| memchr::memmem::find(&text, b"filter").is_some());
            }
            Ok(member.path != Path::new(".git"))
        })
    });
    found || walked.is_err()
}

/// Removes the users of URLs, who may have a password, from git's settings in a directory of
/// repositories: of a clone and its submodules. git copies them from the URL that it fetches.
fn forget_users(repositories: &Path) -> io::Result<()> {
    let mut queue: Vec<PathBuf> = repositories.is_dir().then(|| repositories.to_owned()).into_iter().collect();
    while let Some(directory) = queue.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                queue.push(entry.path());
            } else if kind.is_file() && entry.file_name() == "config" {
                let settings = fs::read(entry.path())?;
                let settings = String::from_utf8_lossy(&settings);
                let without: String = settings.split_inclusive('\n').map(|line| host::replace_user(line, "")).collect();
                if without != *settings {
                    fs::write(entry.path(), without)?;
                }
            }
        }
    }
    Ok(())
}

fn no_directory(e: &io::Error) -> Error {
    let error = Error::io(e, format!("no directory for a clone: {e}"));
    error.hint("--remote-cache DIR, RUSTOMIZE_CACHE_DIR or TMPDIR names a directory that can be written to")
}

fn key(spec: &RepoSpec) -> Key {
    (spec.url.clone(), spec.reference.clone(), spec.submodules)
}

/// Returns true if a text is a full commit hash.
pub fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn version_name(commit: &str, submodules: bool) -> String {
    if submodules { format!("{commit}-submodules") } else { commit.to_owned() }
}

fn fetching(spec: &RepoSpec) -> String {
    format!("fetching '{}'", spec.raw)
}
