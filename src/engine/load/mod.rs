//! The only module that reads the files of a build: files below a kustomization root, under a load
//! restrictor, and remote files.
//!
//! * [`common`]: the texts and remote parts that builds share.
//! * [`remote`]: the remote parts of builds, as a build asks for them.
//! * [`repo_spec`]: references to git repositories; [`artifact_reference`]: references to
//!   directories in OCI registries; [`host`]: the one spelling of a host.
//! * [`loader`]: the sources of files; [`limit`]: the limits on the size of files.
//!
//! The files of this machine and what is fetched are behind [`Loader`] and [`remote::Fetch`]:
//! nothing here calls the system.

pub mod artifact_reference;
mod chain;
pub mod common;
pub mod host;
pub mod kustomization_file;
pub mod limit;
pub mod loader;
mod missing;
pub mod path;
pub mod remote;
pub mod repo_spec;

pub use common::Common;
pub use limit::FileLimit;
pub use loader::{Loader, Memory, Overlay};
pub use missing::{PATTERN, nearest_path};
pub use path::{clean, is_url, join};
pub use remote::{Fetch, NoRemotes, Remotes};
pub use repo_spec::RepoSpec;

use crate::diag::{Code, Error, Result};
use artifact_reference::ArtifactReference;
use chain::Chain;
use loader::{Entry, Opened};
use remote::artifact_in;
use rustomize_base::observe::Work;
use rustomize_base::parallel;
use rustomize_yaml::encoding::{self, Text};
use rustomize_yaml::{Arena, Source};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The files that a kustomization may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restrictor {
    /// Files in or below the directory of the kustomization, after symlinks are resolved.
    #[default]
    RootOnly,
    /// Any file.
    None,
}

impl Restrictor {
    /// The name of the flag's value.
    pub fn as_str(self) -> &'static str {
        match self {
            Restrictor::RootOnly => "LoadRestrictionsRootOnly",
            Restrictor::None => "LoadRestrictionsNone",
        }
    }
}

/// Opening a file takes as long as reading this number of bytes of YAML.
const FILE: usize = 4 << 10;

/// Files of a build: each text is read once.
pub struct Files<'a> {
    pub arena: Arena<'a>,
    loader: &'a dyn Loader,
    restrictor: Restrictor,
    limit: FileLimit,
    common: Arc<Common<'a>>,
    /// The places of the files that were read.
    read: RefCell<Vec<PathBuf>>,
}

/// The directory of a kustomization.
#[derive(Clone, Debug)]
pub struct Root {
    /// Absolute, without symlinks.
    pub real: Rc<Path>,
    /// The name in messages: the directory as the user named it, from the directory where the build
    /// started.
    pub shown: String,
    /// The path from the directory where the build started, or from the top of the repository.
    relative: String,
    /// The repository or artifact that it belongs to.
    remote: Option<Rc<Remote>>,
    /// The real paths of the roots that led here, this one last.
    chain: Rc<Chain>,
}

/// A clone of a repository, or an unpacked artifact.
#[derive(Debug)]
pub struct Remote {
    /// The reference, as it was written.
    pub raw: String,
    /// The URL of the repository.
    pub url: String,
    /// The version in the reference.
    pub reference: String,
    /// The real path of the clone. Its files must not name files outside of the clone.
    pub directory: PathBuf,
}

impl Root {
    /// The path of a file that this root names, from the directory where the build started or from
    /// the top of the repository.
    pub fn relative(&self, path: &str) -> String {
        join(&self.relative, path)
    }

    /// The number of roots that led here, this one included.
    pub fn depth(&self) -> usize {
        self.chain.depth
    }

    /// The repository that this root was cloned from.
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_deref()
    }
}

/// An error from loading a text as a file.
#[derive(Debug)]
pub struct NotLoaded {
    /// True if no file has this name, but a directory may have it.
    pub missing: bool,
    pub error: Error,
}

impl From<NotLoaded> for Error {
    fn from(n: NotLoaded) -> Error {
        n.error
    }
}

impl<'a> Files<'a> {
    /// The files of a build. Texts that another build with the same `common` has read are not read
    /// again.
    pub fn new(
        arena: Arena<'a>,
        loader: &'a dyn Loader,
        restrictor: Restrictor,
        limit: FileLimit,
        common: Arc<Common<'a>>,
    ) -> Self {
        Files { arena, loader, restrictor, limit, common, read: RefCell::default() }
    }

    /// The same files for another build: each build keeps its own list of the files that it has
    /// read.
    #[must_use]
    pub fn fork(&self) -> Self {
        Files::new(self.arena, self.loader, self.restrictor, self.limit, Arc::clone(&self.common))
    }

    /// Remembers a file that a build depends on and that is read elsewhere.
    pub fn note(&self, place: &Path) {
        self.read.borrow_mut().push(place.to_owned());
    }

    /// The files of this machine that were read so far, sorted. Clones of repositories are left
    /// out: their version is in the reference.
    pub fn read(&self) -> Vec<PathBuf> {
        let mut places = self.read.borrow().clone();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Clones the repositories that entries name, side by side. Entries that name a file or
    /// directory here are skipped.
    pub fn prefetch<'e>(&self, root: &Root, entries: impl Iterator<Item = &'e str>) {
        let loader = self.loader(root);
        let is_here = |entry: &str| {
            let path = root.real.join(entry);
            !is_url(entry) && (loader.open(&path).is_ok() || loader.directory(&path).is_ok())
        };
        let references = entries.filter_map(|entry| Some((entry, reference(root, entry)?)));
        let elsewhere = references.filter(|(entry, _)| !is_here(entry));
        self.common.remote.prefetch(elsewhere.filter_map(|(_, reference)| reference.ok()).collect());
    }

    /// The files and directories of a root; none if they cannot be listed.
    pub fn list(&self, root: &Root) -> Vec<Entry> {
        self.loader(root).list(&root.real).unwrap_or_default()
    }

    /// Returns true if a root has a file with this path.
    pub fn has(&self, root: &Root, path: &Path) -> bool {
        self.loader(root).open(&root.real.join(path)).is_ok()
    }

    /// The loader of the files of a root.
    fn loader(&self, root: &Root) -> &dyn Loader {
        if root.remote.is_some() { self.machine() } else { self.loader }
    }

    /// The root at which a build starts: a repository, else a directory.
    ///
    /// # Errors
    /// The argument is not a directory, or the repository cannot be cloned.
    pub fn root(&self, argument: &str) -> Result<Root> {
        if let Some(spec) = RepoSpec::parse(argument) {
            return self.clone(&spec, None);
        }
        if let Some(reference) = artifact_in(argument) {
            return self.unpack(&reference?, None);
        }
        let path = Path::new(argument);
        let real =
            directory(self.loader, path, argument).map_err(|e| missing::advised_of_roots(e, self.loader, path))?;
        let chain = Chain::new(&real, None, None);
        Ok(Root { real, shown: clean(argument), relative: ".".to_owned(), remote: None, chain })
    }

    /// The root in a clone of a repository.
    fn clone(&self, spec: &RepoSpec, parent: Option<&Root>) -> Result<Root> {
        check_cycle(&spec.raw, parent)?;
        let directory = self.common.remote.repository(spec)?;
        let version = if spec.reference.is_empty() { String::new() } else { format!("@{}", spec.reference) };
        let url = spec.url.split_once("://").map_or(spec.url.as_str(), |(_, rest)| rest);
        let url = url.rsplit_once('@').map_or(url, |(_, host)| host);
        let remote =
            Remote { raw: spec.raw.clone(), url: spec.url.clone(), reference: spec.reference.clone(), directory };
        self.checked_out(remote, &format!("{url}{version}"), &spec.path, parent)
    }

    /// The root in an artifact.
    fn unpack(&self, reference: &ArtifactReference, parent: Option<&Root>) -> Result<Root> {
        check_cycle(&reference.raw, parent)?;
        let remote = Remote {
            raw: reference.raw.clone(),
            url: format!("oci://{}", reference.repository),
            reference: reference.version.clone(),
            directory: self.common.remote.artifact(reference)?,
        };
        let name = format!("{}@{}", reference.repository, reference.version);
        self.checked_out(remote, &name, &reference.path, parent)
    }

    /// The root at a path in the directory of a repository or artifact. Messages call the directory
    /// `name`.
    fn checked_out(&self, remote: Remote, name: &str, path: &str, parent: Option<&Root>) -> Result<Root> {
        let in_reference = |e: Error| e.context(format!("in '{}'", remote.raw));
        let top = directory(self.machine(), &remote.directory, &remote.raw)?;
        let real = directory(self.machine(), &top.join(path), path).map_err(in_reference)?;
        if !real.starts_with(&top) {
            return Err(in_reference(Error::new(
                Code::OutsideRoot,
                format!("'{path}' refers to directory outside of repo"),
            )));
        }
        Ok(Root {
            chain: Chain::new(&real, Some(remote.raw.clone()), parent.map(|p| &p.chain)),
            real,
            shown: join(name, path),
            // Upstream's name for the top of a repository in origins.
            relative: if path.is_empty() { "notCloned".to_owned() } else { path.to_owned() },
            remote: Some(Rc::new(Remote { directory: top.to_path_buf(), ..remote })),
        })
    }

    /// The remote parts of this build and of builds that share its files.
    pub fn remote_parts(&self) -> &dyn Fetch {
        &*self.common.remote
    }

    /// The files of this machine, whatever the build reads its own files from: clones of
    /// repositories, artifacts, and schemas of kinds.
    pub fn machine(&self) -> &dyn Loader {
        self.common.remote.machine()
    }

    /// The root of a base or component that `root` names: a repository, else a directory. Any
    /// directory may be named, except that a clone may only name directories in it.
    ///
    /// # Errors
    /// The directory does not exist, the repository cannot be cloned, the path is empty or absolute
    /// (unless `allow_absolute`), or the directory is or contains a root on the way here: a cycle.
    pub fn base(&self, root: &Root, path: &str, allow_absolute: bool) -> Result<Root> {
        if path.is_empty() {
            return Err(Error::new(Code::MissingField, "new root cannot be empty")
                .hint("write the path of a directory, or remove the entry"));
        }
        if path::is_absolute(path) && !allow_absolute {
            let error = Error::new(Code::OutsideRoot, format!("new root '{path}' cannot be absolute"));
            return Err(error.hint("name the directory relative to the kustomization"));
        }
        if let Some(spec) = reference(root, path) {
            return self.clone(&spec?, Some(root));
        }
        if let Some(reference) = artifact_in(path) {
            return self.unpack(&reference?, Some(root));
        }
        if self.arena.compat().refuses_ambiguous_paths()
            && path.split(['/', path::SEPARATOR]).any(|part| part != ".." && part.contains(".."))
        {
            let hint = "write each entry of a list in a line of its own, with the same indentation";
            return Err(
                Error::new(Code::BadValue, format!("path '{path}' is ambiguous: it has '..' in a name")).hint(hint)
            );
        }
        check_path(path)?;
        let real = directory(self.loader(root), &root.real.join(path), path)?;
        if let Some(remote) = &root.remote
            && !real.starts_with(&remote.directory)
        {
            let message = "security; bases in kustomizations found in cloned git repos must be within the repo";
            return Err(Error::new(Code::OutsideRoot, format!("{message}, '{path}' is not")));
        }
        if let Some(led_here) = root.chain.in_or_below(&real) {
            let message =
                format!("cycle detected: '{}' contains '{}', which led here", real.display(), led_here.display());
            // A directory above one that led here need not have led here itself.
            let hint = match led_here == &*real || root.chain.has(&real) {
                true => "remove the entry that leads back",
                false => {
                    "a base may not be above the kustomization that names it: move its files into a directory of their own beside that one, as in ../base"
                }
            };
            return Err(Error::new(Code::Cycle, message).hint(hint));
        }
        let chain = Chain::new(&real, None, Some(&root.chain));
        Ok(Root {
            real,
            shown: join(&root.shown, path),
            relative: root.relative(path),
            remote: root.remote.clone(),
            chain,
        })
    }

    /// Loads a text that `root` names. O(size); a text that was loaded before costs a look-up.
    ///
    /// # Errors
    /// The file cannot be read, is not a regular file, is not valid UTF-8, or the restrictor
    /// forbids it.
    pub fn text(&self, root: &Root, path: &str) -> Result<&'a Source, NotLoaded> {
        if is_url(path) {
            let text = || decoded(self.common.remote.file(path)?.to_vec(), path);
            return self.common.source(self.arena, Path::new(path), path, text);
        }
        let (source, place) = self.below(root).text(self.arena, path)?;
        self.note_local(root, &place);
        Ok(source)
    }

    /// As [`Files::text`], for a file of the root that may be missing: then the result is `None`.
    ///
    /// # Errors
    /// The errors of [`Files::text`] about a file that exists.
    pub fn text_if_any(&self, root: &Root, name: &str) -> Result<Option<&'a Source>> {
        let below = RootFiles { gives_advice: false, ..self.below(root) };
        match below.text(self.arena, name) {
            Ok((source, place)) => {
                self.note_local(root, &place);
                Ok(Some(source))
            }
            Err(e) if e.missing => Ok(None),
            Err(e) => Err(e.error),
        }
    }

    /// Loads the texts at `paths` that look like files, on all cores if they are many, and makes an
    /// `R` of each. The result has `None` for a text that cannot be loaded or that `make` refuses:
    /// its error is reported when the build reaches the file. A build that uses a text
    /// [notes](Files::note_local) its place.
    pub fn ahead<R: Send>(
        &self,
        root: &Root,
        paths: &[&str],
        make: impl Fn(Arena<'a>, &'a Source) -> Option<R> + Sync,
    ) -> Vec<Option<(PathBuf, R)>> {
        let threads = self.arena.threads(paths.len() * FILE).min(paths.len());
        if threads <= 1 {
            return Vec::new();
        }
        let (others, files, make) = (self.arena.others(), self.below(root), &make);
        let load_runs = || {
            let arena = others.arena();
            let load = move |path: &&str| {
                let looks_like_file = !is_url(path) && Path::new(path).extension().is_some();
                let (source, place) = looks_like_file.then(|| files.text(arena, path).ok())??;
                Some((place, make(arena, source)?))
            };
            move |run: &[&str]| run.iter().map(&load).collect::<Vec<_>>()
        };
        parallel::runs(paths, threads, load_runs).into_iter().flatten().collect()
    }

    /// Access to the files that `root` names, for any thread.
    fn below<'f>(&'f self, root: &'f Root) -> RootFiles<'f, 'a> {
        RootFiles {
            common: &self.common,
            loader: self.loader(root),
            real: &root.real,
            shown: &root.shown,
            // A clone is restricted whatever the options say.
            is_restricted: self.restrictor == Restrictor::RootOnly || root.remote.is_some(),
            limit: self.limit,
            gives_advice: true,
        }
    }

    /// Loads bytes that `root` names.
    ///
    /// # Errors
    /// As [`Files::text`], except for UTF-8.
    pub fn bytes(&self, root: &Root, path: &str) -> Result<Vec<u8>, NotLoaded> {
        self.bytes_and_place(root, path).map(|(bytes, _)| bytes)
    }

    /// Loads bytes that `root` names. Returns them with their place; for a file over HTTP, the
    /// place is `None`.
    ///
    /// # Errors
    /// As [`Files::bytes`].
    pub fn bytes_and_place(&self, root: &Root, path: &str) -> Result<(Vec<u8>, Option<PathBuf>), NotLoaded> {
        if is_url(path) {
            return Ok((self.common.remote.file(path)?.to_vec(), None));
        }
        let below = self.below(root);
        let file = below.open(path).map_err(|e| below.naming_a_file(e, path))?;
        let place = file.place.clone();
        let noted = self.common.observer.begin(Work::File, || join(&root.shown, path));
        let bytes = read(file, path, self.limit).map_err(|e| below.naming_a_file(e, path))?;
        drop(noted);
        self.note_local(root, &place);
        Ok((bytes, Some(place)))
    }

    /// Remembers a file that a build depends on, unless it is in a clone.
    pub fn note_local(&self, root: &Root, place: &Path) {
        if root.remote.is_none() {
            self.note(place);
        }
    }
}

/// Access to the files that one root names; several threads may use it at the same time.
#[derive(Clone, Copy)]
struct RootFiles<'f, 'a> {
    common: &'f Common<'a>,
    loader: &'f dyn Loader,
    real: &'f Path,
    shown: &'f str,
    is_restricted: bool,
    limit: FileLimit,
    /// True if the error about a missing file names one that may be meant.
    gives_advice: bool,
}

impl<'a> RootFiles<'_, 'a> {
    /// Loads the text of a file. Returns it with its place. O(size); a text that was loaded before
    /// costs a look-up.
    ///
    /// # Errors
    /// As [`Files::text`].
    pub(crate) fn text(self, arena: Arena<'a>, path: &str) -> Result<(&'a Source, PathBuf), NotLoaded> {
        let file = self.open(path)?;
        let place = file.place.clone();
        let text = || {
            let _noted = self.common.observer.begin(Work::File, || join(self.shown, path));
            decoded(read(file, path, self.limit)?, path)
        };
        let source = self.common.source(arena, &place, &join(self.shown, path), text)?;
        Ok((source, place))
    }

    /// Opens a file, under the restrictor.
    fn open(self, path: &str) -> Result<Opened, NotLoaded> {
        // A reference to a repository is not a path.
        check_path(path).map_err(|error| NotLoaded { missing: true, error })?;
        let joined = self.joined(path);
        if self.is_restricted && !path::is_on_same_drive(&self.real.to_string_lossy(), &joined) {
            return Err(not_loaded(self.outside(Path::new(&joined))));
        }
        if joined == "/" {
            return Err(NotLoaded {
                missing: true,
                error: Error::new(Code::MissingFile, format!("'{path}' must resolve to a file")).hint(NAME_A_FILE),
            });
        }
        match self.loader.open(Path::new(&joined)) {
            Ok(file) => self.restrict(&file.place).map(|()| file),
            Err(e) => {
                e.place.map_or(Ok(()), |place| self.restrict(&place))?;
                let mut unopened = unopened(path, &e.error);
                // Linux opens directories as files, and its read says that it is one.
                if self.gives_advice && e.error.kind() != io::ErrorKind::IsADirectory {
                    unopened.error = missing::advised(unopened.error, self.loader, Path::new(&joined), path);
                }
                Err(unopened)
            }
        }
    }

    /// The absolute path that a path from the root's directory leads to.
    fn joined(self, path: &str) -> String {
        if path::is_absolute(path) { clean(path) } else { join(&self.real.to_string_lossy(), path) }
    }

    /// The error about a directory in place of a file, with the name of a file in it. Other errors
    /// stay as they are. O(entries of the directory).
    fn naming_a_file(self, unread: NotLoaded, path: &str) -> NotLoaded {
        let is_of_directory = unread.error.code() == Code::MissingFile && !path.is_empty();
        let file = is_of_directory.then(|| missing::file_in(self.loader, Path::new(&self.joined(path)))).flatten();
        let Some(file) = file else { return unread };
        let hint = format!("it is a directory: name each of its files, as in {}", join(path, &file));
        NotLoaded { error: unread.error.advised(|_| Some(hint.clone())), ..unread }
    }

    /// Refuses a place that the restrictor forbids.
    fn restrict(self, place: &Path) -> Result<(), NotLoaded> {
        if self.is_restricted && !place.starts_with(self.real) {
            let is_directory = self.loader.directory(place).is_ok();
            return Err(NotLoaded { missing: is_directory, error: self.outside(place) });
        }
        Ok(())
    }

    /// The error about a place that the restrictor forbids.
    fn outside(self, place: &Path) -> Error {
        let message = format!("security; file '{}' is not in or below '{}'", place.display(), self.real.display());
        let hint = "move it there, or allow it with --load-restrictor LoadRestrictionsNone";
        Error::new(Code::OutsideRoot, message).hint(hint)
    }
}

/// Refuses a path that names something else than it seems to name.
fn check_path(path: &str) -> Result<()> {
    match path::fault(path) {
        None => Ok(()),
        Some(fault) => Err(Error::new(Code::OutsideRoot, format!("'{path}' {fault}")).hint("name a file or directory")),
    }
}

/// Refuses a reference that led to the root that names it now.
fn check_cycle(raw: &str, parent: Option<&Root>) -> Result<()> {
    if parent.is_some_and(|parent| parent.chain.names(raw)) {
        return Err(Error::new(Code::Cycle, format!("cycle detected: '{raw}' led here"))
            .hint("remove the entry that leads back"));
    }
    Ok(())
}

/// The repository that an entry of `root` names; `None` if the entry is a path. A cloned root must
/// not name a repository on this machine, because the entry was written elsewhere.
fn reference(root: &Root, entry: &str) -> Option<Result<RepoSpec>> {
    let spec = RepoSpec::parse(entry)?;
    if root.remote.is_none() || !spec.is_of_this_machine() {
        return Some(Ok(spec));
    }
    let message = "security; kustomizations found in cloned git repos must not name repositories of this machine";
    let error = Error::new(Code::OutsideRoot, format!("{message}, as '{entry}' is"));
    Some(Err(error.hint("name it in a kustomization of yours, or by the URL of its server")))
}

fn decoded(bytes: Vec<u8>, path: &str) -> Result<Text, NotLoaded> {
    encoding::decode(bytes).map_err(|e| {
        not_loaded(Error::new(Code::Encoding, format!("'{path}' is not valid {} at byte {}", e.encoding, e.offset)))
    })
}

fn not_loaded(error: Error) -> NotLoaded {
    NotLoaded { missing: false, error }
}

fn unopened(path: &str, e: &io::Error) -> NotLoaded {
    let error = match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            Error::new(Code::MissingFile, format!("'{path}': no such file or directory"))
        }
        io::ErrorKind::IsADirectory => {
            Error::new(Code::MissingFile, format!("'{path}' must resolve to a file")).hint(NAME_A_FILE)
        }
        io::ErrorKind::PermissionDenied => Error::io(e, format!("'{path}' cannot be read: permission denied"))
            .hint("it exists, and this user may not read it: change its permissions, as with chmod"),
        // The kind of a circle of links has no stable name in the standard library.
        _ if e.raw_os_error() == Some(LINKS_IN_A_CIRCLE) => Error::io(e, format!("'{path}' cannot be read: {e}"))
            .hint("it is a link that leads back to itself: remove it"),
        _ if e.raw_os_error() == Some(TOO_MANY_OPEN) => Error::io(e, format!("'{path}' cannot be read: {e}"))
            .hint("raise the limit of open files, as with: ulimit -n 1024"),
        _ => Error::io(e, format!("'{path}' cannot be read: {e}")).hint("see whether another program can read it"),
    };
    // A file without read permission exists, and a loader that fails does not know if a file
    // exists: in both cases no directory is looked for.
    let missing = !matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Other)
        && e.raw_os_error() != Some(TOO_MANY_OPEN);
    NotLoaded { missing, error }
}

/// The advice about a path to something else than a file.
const NAME_A_FILE: &str = "write the path of a file, or remove the entry";

/// The number of the system's error for links that lead to each other, on Linux.
const LINKS_IN_A_CIRCLE: i32 = 40;

/// The number of the system's error for a process that has as many open files as it may, on Linux
/// and macOS.
const TOO_MANY_OPEN: i32 = 24;

/// Returns true if a path that is not a directory is a file, which may be unreadable.
fn is_file(loader: &dyn Loader, path: &Path) -> bool {
    let is_missing = |e: io::ErrorKind| matches!(e, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    loader.open(path).map_or_else(|e| !is_missing(e.error.kind()), |_| true)
}

fn directory(loader: &dyn Loader, path: &Path, named: &str) -> Result<Rc<Path>> {
    loader.directory(path).map(Rc::from).map_err(|e| match e.kind() {
        io::ErrorKind::NotADirectory if is_file(loader, path) => {
            let error = Error::new(Code::WrongKind, format!("'{named}' is a file, not a directory"));
            let (above, name) = named.rsplit_once('/').unwrap_or((".", named));
            match name.to_lowercase().starts_with("kustomization") {
                true => error.hint(format!("name the directory of the kustomization: '{above}'")),
                false => error.hint("name a directory with a kustomization; files are listed under 'resources'"),
            }
        }
        _ => missing::advised(unopened(named, &e).error, loader, path, named),
    })
}

/// Reads a regular file.
fn read(file: Opened, named: &str, limit: FileLimit) -> Result<Vec<u8>, NotLoaded> {
    let no_file = || Error::new(Code::MissingFile, format!("'{named}' must resolve to a file")).hint(NAME_A_FILE);
    file.read(limit).map_err(|e| match e.kind() {
        io::ErrorKind::IsADirectory => NotLoaded { missing: true, error: no_file() },
        io::ErrorKind::InvalidInput => not_loaded(no_file()),
        io::ErrorKind::FileTooLarge => {
            let error = Error::new(Code::TooLarge, format!("'{named}' cannot be read: {e}"));
            not_loaded(error.hint("--file-size-limit sets the limit"))
        }
        io::ErrorKind::OutOfMemory => not_loaded(Error::new(Code::TooLarge, format!("'{named}' cannot be read: {e}"))),
        _ => unopened(named, &e),
    })
}
