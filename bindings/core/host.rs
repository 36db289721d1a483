//! [`Host`]: the program around the core, which has the files and the remote parts of builds.

use crate::wire::{Connection, broken};
use rustomize_base::observe::Observer;
use rustomize_engine::diag::{Code, Error, Result};
use rustomize_engine::load::artifact_reference::ArtifactReference;
use rustomize_engine::load::loader::{Entry, NotOpened, OpenFile, Opened};
use rustomize_engine::load::remote::ChartName;
use rustomize_engine::load::{Fetch, FileLimit, Loader, Memory, NoRemotes, NotLoaded, Remotes, RepoSpec};
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The program around the core.
pub(crate) struct Host(Mutex<Line>);

/// The connection to the host.
struct Line {
    connection: Connection,
    /// True once the host has broken the protocol: it is asked nothing more.
    is_broken: bool,
}

/// The answer of a host that failed.
#[derive(Debug)]
struct Refusal {
    place: Option<PathBuf>,
    error: io::Error,
}

/// The text of a request, and the files that came before it; `None` if none came.
pub(crate) type NextRequest = (Vec<u8>, Option<Memory>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    pub(crate) fn new(connection: Connection) -> Self {
        Host(Mutex::new(Line { connection, is_broken: false }))
    }

    /// Reads the next request; `None` at the end of the input.
    ///
    /// # Errors
    /// The host has broken the protocol, or the stream fails.
    pub(crate) fn next_request(&self) -> io::Result<Option<NextRequest>> {
        let mut line = lock(&self.0);
        if line.is_broken {
            return Err(broken("an answer was expected"));
        }
        let mut files = None;
        while let Some(message) = line.connection.read()? {
            match message.kind {
                b'R' => return Ok(Some((message.payload, files))),
                b'F' => {
                    let mut path = message.payload;
                    let Some(end) = path.iter().position(|byte| *byte == 0) else {
                        return Err(broken("a file has no path"));
                    };
                    let content = path.split_off(end + 1);
                    path.truncate(end);
                    let path = String::from_utf8(path).map_err(|_| broken("the path of a file is not UTF-8"))?;
                    files.get_or_insert_with(Memory::new).set(path, content);
                }
                _ => return Err(broken("a request was expected")),
            }
        }
        Ok(None)
    }

    /// Writes a piece of the output.
    ///
    /// # Errors
    /// The stream fails.
    pub(crate) fn put(&self, piece: &str) -> io::Result<()> {
        lock(&self.0).connection.write(b'y', piece.as_bytes())
    }

    /// Writes the last message of a request.
    ///
    /// # Errors
    /// The host has broken the protocol, or the stream fails.
    pub(crate) fn end(&self, end: &Value) -> io::Result<()> {
        let mut line = lock(&self.0);
        if line.is_broken {
            return Err(broken("an answer was expected"));
        }
        line.connection.write(b'.', end.to_string().as_bytes())
    }

    /// Asks the host, and waits for its answer.
    fn ask(&self, kind: u8, payload: &[u8]) -> Result<Vec<u8>, Refusal> {
        let mut line = lock(&self.0);
        if line.is_broken {
            return Err(broken("an answer was expected").into());
        }
        let answered = line.connection.write(kind, payload).and_then(|()| line.connection.read());
        match answered {
            Ok(Some(message)) if message.kind == b'+' => Ok(message.payload),
            Ok(Some(message)) if message.kind == b'-' => Err(Refusal::parse(&message.payload)),
            answered => {
                line.is_broken = true;
                Err(answered.err().unwrap_or_else(|| broken("an answer was expected")).into())
            }
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal { place: None, error }
    }
}

impl Refusal {
    fn parse(payload: &[u8]) -> Refusal {
        let (letter, rest) = payload.split_first().unwrap_or((&b'o', b""));
        let kind = match letter {
            b'n' => io::ErrorKind::NotFound,
            b'd' => io::ErrorKind::IsADirectory,
            b'f' => io::ErrorKind::NotADirectory,
            b'p' => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        let text = String::from_utf8_lossy(rest);
        let (place, message) = text.split_once('\0').unwrap_or(("", &text));
        let place = Some(PathBuf::from(place)).filter(|place| place.is_absolute());
        Refusal { place, error: io::Error::new(kind, message.to_owned()) }
    }
}

/// The place that the host has answered.
fn place(answer: Vec<u8>) -> io::Result<PathBuf> {
    let place = String::from_utf8(answer).map_err(|_| io::Error::other("its path is not UTF-8"))?;
    match place.starts_with('/') {
        true => Ok(place.into()),
        false => Err(io::Error::other(format!("the place '{place}' is not absolute"))),
    }
}

/// Files of the host.
#[derive(Clone)]
pub(crate) struct HostFiles {
    host: Arc<Host>,
    questions: &'static Questions,
}

/// The kinds of the messages that ask for files.
struct Questions {
    /// Asks for the place of a directory.
    directory: u8,
    /// Asks for the place of a file.
    open: u8,
    /// Asks for the content of a file.
    read: u8,
    /// Asks for the entries of a directory.
    list: u8,
}

/// The questions about the files of builds.
const OF_BUILDS: Questions = Questions { directory: b'd', open: b'o', read: b'r', list: b'l' };

/// The questions about the files of clones.
const OF_CLONES: Questions = Questions { directory: b'D', open: b'O', read: b'R', list: b'L' };

impl HostFiles {
    /// The files of builds.
    pub(crate) fn of_builds(host: &Arc<Host>) -> Self {
        HostFiles { host: Arc::clone(host), questions: &OF_BUILDS }
    }

    /// The files of clones.
    fn of_clones(host: &Arc<Host>) -> Self {
        HostFiles { host: Arc::clone(host), questions: &OF_CLONES }
    }

    fn ask(&self, question: u8, path: &Path) -> Result<Vec<u8>, Refusal> {
        self.host.ask(question, path.to_string_lossy().as_bytes())
    }
}

impl Loader for HostFiles {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        place(self.ask(self.questions.directory, path).map_err(|refusal| refusal.error)?)
    }

    fn open(&self, path: &Path) -> Result<Opened, NotOpened> {
        let answer =
            self.ask(self.questions.open, path).map_err(|Refusal { place, error }| NotOpened { place, error })?;
        let place = place(answer)?;
        let file = HostFile { files: self.clone(), place: place.clone() };
        Ok(Opened::file(place, file))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        let answer = self.ask(self.questions.list, directory).map_err(|refusal| refusal.error)?;
        let items = answer.split(|byte| *byte == 0).filter_map(<[u8]>::split_first);
        let entry = |(kind, name): (&u8, &[u8])| Entry {
            name: String::from_utf8_lossy(name).into_owned().into(),
            is_directory: *kind == b'd',
        };
        Ok(items.map(entry).collect())
    }
}

/// A file of the host that was opened.
struct HostFile {
    files: HostFiles,
    place: PathBuf,
}

impl fmt::Debug for HostFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}

impl OpenFile for HostFile {
    fn read(self: Box<Self>, limit: FileLimit) -> io::Result<Vec<u8>> {
        let bytes = self.files.ask(self.files.questions.read, &self.place).map_err(|refusal| refusal.error)?;
        limit.check(bytes.len() as u64).map(|()| bytes)
    }
}

/// Remote parts that the host fetches: repositories, and files over HTTP.
pub(crate) struct HostRemotes(pub Arc<Host>);

impl Remotes for HostRemotes {
    fn open(self: Arc<Self>, _: &Observer) -> Arc<dyn Fetch> {
        Arc::new(HostParts {
            clones: HostFiles::of_clones(&self.0),
            host: Arc::clone(&self.0),
            fetched: Mutex::default(),
            cloned: Mutex::default(),
        })
    }

    fn is_like(&self, other: &dyn Remotes) -> bool {
        (other as &dyn Any).is::<HostRemotes>()
    }
}

/// The remote parts of one request, each asked for once.
struct HostParts {
    host: Arc<Host>,
    clones: HostFiles,
    fetched: Mutex<BTreeMap<String, Arc<[u8]>>>,
    cloned: Mutex<BTreeMap<String, PathBuf>>,
}

impl Fetch for HostParts {
    fn machine(&self) -> &dyn Loader {
        &self.clones
    }

    fn repository(&self, spec: &RepoSpec) -> Result<PathBuf> {
        let name = spec.name();
        if let Some(known) = lock(&self.cloned).get(&name) {
            return Ok(known.clone());
        }
        let question = json!({
            "raw": spec.raw,
            "url": spec.url,
            "path": spec.path,
            "ref": spec.reference,
            "submodules": spec.submodules,
            "timeout": u64::try_from(spec.timeout.as_millis()).unwrap_or(u64::MAX),
        });
        let answer = self.host.ask(b'g', question.to_string().as_bytes()).map_err(|refusal| refusal.error);
        let directory = answer.and_then(place).map_err(|e| Error::new(Code::FetchFailed, e.to_string()))?;
        lock(&self.cloned).insert(name, directory.clone());
        Ok(directory)
    }

    fn artifact(&self, reference: &ArtifactReference) -> Result<PathBuf> {
        NoRemotes::new().artifact(reference)
    }

    fn file(&self, url: &str) -> Result<Arc<[u8]>, NotLoaded> {
        if let Some(known) = lock(&self.fetched).get(url) {
            return Ok(Arc::clone(known));
        }
        let answer = self.host.ask(b'h', url.as_bytes()).map_err(|Refusal { error, .. }| NotLoaded {
            missing: error.kind() == io::ErrorKind::NotFound && RepoSpec::parse(url).is_some(),
            error: Error::new(Code::FetchFailed, error.to_string()),
        })?;
        let bytes: Arc<[u8]> = answer.into();
        lock(&self.fetched).insert(url.to_owned(), Arc::clone(&bytes));
        Ok(bytes)
    }

    fn chart(&self, chart: ChartName<'_>, home: &Path) -> Result<Option<PathBuf>> {
        NoRemotes::new().chart(chart, home)
    }

    fn keep_chart(&self, chart: ChartName<'_>, pulled: &Path) -> Result<()> {
        NoRemotes::new().keep_chart(chart, pulled)
    }

    fn take_chart(&self, chart: ChartName<'_>, pulled: &Path) -> Result<PathBuf> {
        NoRemotes::new().take_chart(chart, pulled)
    }
}
