//! [`Checker`]: builds the roots that a change can affect, on a thread of its own, and sends the
//! faults and the findings of lint to the editor. Changes that arrive during a build are checked
//! together after it.

use super::fixes::{Fixes, old_reference};
use super::reference_fixes::{self, OldReference};
use super::texts::{Units, uri_of};
use super::{Contents, Files, Kubernetes, MAX_DIRECTORIES};
use crate::config::Decoder;
use crate::config::kustomization::Kustomization;
use crate::diag::{Code, Diagnostic, Error, Severity};
use crate::load::{FileLimit, Loader, Memory, Overlay, kustomization_file};
use crate::pipeline::affected::affected;
use crate::pipeline::roots::find_in_few;
use crate::stage::Options;
use crate::transformer::image_tag::split;
use crate::workspace::{Output, Together, build_all};
use lsp_server::{Message, Notification};
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::{
    Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Position,
    PublishDiagnosticsParams, Range,
};
use rustomize_base::meter::FastSet;
use rustomize_base::parallel;
use rustomize_base::shown;
use rustomize_sources::{Disk, Remembered};
use rustomize_yaml::{Heap, Node, Value, documents, first_document};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The state of the editor that is to be checked.
pub(crate) struct CheckRequest {
    /// The texts of the open files.
    pub texts: Contents,
}

/// A resource of the last build of a root.
#[derive(Clone, Debug)]
pub(crate) struct KnownResource {
    pub kind: String,
    /// The present name, then the earlier ones.
    pub names: Vec<String>,
    /// The present namespace, and the earlier ones; for a Namespace, its names.
    pub namespaces: BTreeSet<String>,
    /// The names of its images, without tags.
    pub images: BTreeSet<String>,
    pub file: PathBuf,
    /// The line where the resource begins, counted from 0.
    pub line: u32,
}

/// The resources of each root, from its last build without a fault.
pub(crate) type Known = BTreeMap<String, Vec<KnownResource>>;

/// Builds on a thread of its own.
pub(crate) struct Checker {
    latest: Arc<Latest>,
    known: Arc<Mutex<Known>>,
    fixes: Arc<Mutex<Fixes>>,
}

/// The last state of the editor that is not checked yet. Only the last one counts, so that a long
/// build does not gather the texts of all changes since.
#[derive(Default)]
struct Latest {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    /// Everything is checked.
    #[default]
    Checked,
    Waiting(CheckRequest),
    /// The server has ended.
    Ended,
}

impl Latest {
    fn put(&self, state: State) {
        *lock(&self.state) = state;
        self.changed.notify_one();
    }

    /// Waits for a state; `None` once the server has ended.
    fn take(&self) -> Option<CheckRequest> {
        let is_idle = |state: &mut State| matches!(state, State::Checked);
        let waited = self.changed.wait_while(lock(&self.state), is_idle);
        match std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner)) {
            State::Waiting(request) => Some(request),
            State::Checked | State::Ended => None,
        }
    }
}

impl Checker {
    /// Starts the thread, which ends when the checker is dropped and its build is done. `send`
    /// sends a message to the editor.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(crate) fn start(
        folders: Vec<PathBuf>,
        units: Units,
        schemas: Option<Kubernetes>,
        send: impl Fn(Message) + Send + 'static,
        options: impl Fn(&str) -> Result<Options, Error> + Send + 'static,
    ) -> io::Result<Checker> {
        let latest = Arc::<Latest>::default();
        let known = Arc::<Mutex<Known>>::default();
        let fixes = Arc::<Mutex<Fixes>>::default();
        let (to_known, to_fixes) = (Arc::clone(&known), Arc::clone(&fixes));
        let worker = Worker {
            folders,
            units,
            schemas,
            send,
            options,
            known: to_known,
            fixes: to_fixes,
            shown: BTreeSet::new(),
            tree: Remembered::default(),
        };
        let requests = Arc::clone(&latest);
        parallel::thread("check").spawn(move || worker.run(&requests))?;
        Ok(Checker { latest, known, fixes })
    }

    /// Asks for a check. A thread that has panicked checks nothing more; the rest of the server
    /// continues.
    pub(crate) fn check(&self, request: CheckRequest) {
        self.latest.put(State::Waiting(request));
    }

    /// The resources that are known so far.
    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }

    /// The changes that mend the faults that the editor shows.
    pub(crate) fn fixes(&self) -> MutexGuard<'_, Fixes> {
        lock(&self.fixes)
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        self.latest.put(State::Ended);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The faults of files, in the order in which they were found.
struct Faults {
    units: Units,
    by_file: BTreeMap<PathBuf, FaultsOfFile>,
    fixes: Fixes,
    /// The references to renamed resources that the faults are about.
    references: Vec<OldReference>,
}

/// The faults of a file.
#[derive(Default)]
struct FaultsOfFile {
    shown: Vec<Shown>,
    /// The ranges and messages of `shown`.
    known: FastSet<(Range, String)>,
}

struct Worker<S, O> {
    folders: Vec<PathBuf>,
    units: Units,
    /// The kinds that resources are held to; `None` without the schema check.
    schemas: Option<Kubernetes>,
    send: S,
    options: O,
    known: Arc<Mutex<Known>>,
    fixes: Arc<Mutex<Fixes>>,
    /// The files whose faults the editor shows.
    shown: BTreeSet<PathBuf>,
    /// The directories and kustomizations that decide which roots a text can affect. Most of them
    /// stay as they are from keystroke to keystroke. Builds read the disk again.
    tree: Remembered,
}

impl<S: Fn(Message), O: Fn(&str) -> Result<Options, Error>> Worker<S, O> {
    fn run(mut self, latest: &Latest) {
        while let Some(request) = latest.take() {
            let faults = self.check(&request.texts);
            self.publish(faults);
        }
    }

    /// The faults of the open files, and of the roots that they can affect.
    fn check(&self, texts: &Contents) -> Faults {
        let (fixes, by_file, references) = (Fixes::of(texts), BTreeMap::new(), Vec::new());
        let mut faults = Faults { units: self.units, by_file, fixes, references };
        for (path, text) in texts {
            if let Err(error) = check_text(path, text) {
                faults.add_all(&error, path);
            }
        }
        let above: Memory = texts.iter().map(|(path, text)| (path, text.as_bytes())).collect();
        self.tree.look_again();
        let tree = Overlay::new(self.tree.clone(), above.clone());
        let files = Overlay::new(Disk::new(), above.clone());
        let (mut roots, mut options): (Vec<String>, Vec<Options>) = Default::default();
        for root in self.roots(&tree, texts) {
            match (self.options)(&root) {
                Ok(found) => {
                    roots.push(root);
                    options.push(found);
                }
                Err(error) => faults.add_all(&error, &kustomization_file(&files, &root)),
            }
        }
        let together = Together { jobs: parallel::cores(), keep_going: true };
        let schemas = self.schemas.as_ref();
        let built = build_all(
            &files,
            &roots,
            |i| options[i].clone(),
            together,
            |_, output| {
                let checked = schemas.map(|schemas| output.check(schemas)).transpose()?;
                let findings = [output.findings(), &checked.unwrap_or_default().shown].concat();
                Ok((resources(&output), findings))
            },
        );
        for (root, built) in roots.into_iter().zip(built) {
            let Some(built) = built else { continue };
            let file = kustomization_file(&files, &root);
            for warning in &built.warnings {
                faults.add(warning, &file);
            }
            match built.value {
                Ok((resources, findings)) => {
                    findings
                        .iter()
                        .filter(|finding| is_in_a_file(finding))
                        .for_each(|finding| faults.add(finding, &file));
                    lock(&self.known).insert(root, resources);
                }
                Err(error) => faults.add_all(&error, &file),
            }
        }
        let references = std::mem::take(&mut faults.references);
        // Without an open file among them, nothing can ask for the change.
        if references.iter().any(|reference| faults.fixes.has(&reference.file)) {
            faults.fixes.add_references(reference_fixes::of(references, &files, &above, &self.options));
        }
        faults
    }

    /// The roots that the open files can affect, in the open directories and around the files.
    fn roots(&self, files: &dyn Loader, texts: &Contents) -> Vec<String> {
        let limit = FileLimit::default();
        let mut directories: BTreeSet<&Path> = self.folders.iter().map(PathBuf::as_path).collect();
        let is_outside = |directory: &&Path| !self.folders.iter().any(|folder| directory.starts_with(folder));
        directories.extend(texts.iter().filter_map(|(path, _)| path.parent()).filter(is_outside));
        let found = directories
            .into_iter()
            .filter_map(|directory| find_in_few(files, directory.to_str()?, limit, MAX_DIRECTORIES).ok());
        let changed = texts.iter().map(|(path, _)| path.clone());
        affected(files, found.flatten().collect(), changed, limit).into_iter().map(|root| root.path).collect()
    }

    /// Sends the faults of each file, and an empty list for a file whose faults are gone.
    fn publish(&mut self, faults: Faults) {
        // An editor may ask for code actions as soon as it shows a fault.
        *lock(&self.fixes) = faults.fixes;
        let mut by_file = faults.by_file;
        let now: BTreeSet<PathBuf> = by_file.keys().cloned().collect();
        for file in self.shown.union(&now) {
            let Some(uri) = uri_of(file) else { continue };
            let diagnostics = by_file.remove(file).unwrap_or_default().shown;
            let params = PublishDiagnosticsParams { uri, diagnostics, version: None };
            (self.send)(Notification::new(PublishDiagnostics::METHOD.to_owned(), params).into());
        }
        self.shown = now;
    }
}

/// Reads a text by itself: so the faults of its YAML, and of the fields of a kustomization, are
/// found even if no root has the file.
fn check_text(path: &Path, text: &str) -> Result<(), Error> {
    let heap = Heap::new();
    let arena = heap.arena();
    let is_kustomization = kustomization_file::is_one(path);
    if !is_kustomization && !path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
        return Ok(());
    }
    let source = arena.add_file(path.to_string_lossy(), text.to_owned().into());
    let checked = match is_kustomization {
        true => first_document(arena, source).map_err(Error::from).and_then(|node| {
            // An empty kustomization is an error only if it is built.
            let Some(node) = node else { return Ok(()) };
            Kustomization::from_node(Some(&node), &Decoder::strict(arena)).map(drop)
        }),
        false => documents(arena, source).map(drop).map_err(Error::from),
    };
    checked.map_err(|e| e.located(&heap))
}

/// Returns true if a finding is in a file of this machine, and not in a text that a build step
/// made.
fn is_in_a_file(finding: &Diagnostic) -> bool {
    finding.place().is_some_and(|place| Path::new(&place.file).is_absolute())
}

/// The kustomization file of a root; its directory, if the file is missing.
fn kustomization_file(files: &Files, root: &str) -> PathBuf {
    kustomization_file::place_in(files, Path::new(root)).unwrap_or_else(|| PathBuf::from(root))
}

/// The resources of a built root that come from files.
fn resources(output: &Output<'_>) -> Vec<KnownResource> {
    let places = output.places();
    let known = output.resources().filter_map(|resource| {
        let (source, line) = places.line(resource.pos())?;
        let mut names: Vec<String> = resource.any_ids().map(|id| id.name.to_owned()).collect();
        names.dedup();
        let kind = resource.id().gvk.kind.to_owned();
        // A resource that had no namespace is noted as one of 'default'.
        let earlier = resource.any_ids().map(|id| id.namespace).filter(|name| *name != "default");
        let namespaces = earlier.chain([resource.id().namespace]).filter(|name| !name.is_empty()).map(str::to_owned);
        let namespaces = match kind.as_str() {
            "Namespace" => names.iter().cloned().collect(),
            _ => namespaces.collect(),
        };
        let images = images(resource.node());
        Some(KnownResource { kind, names, namespaces, images, file: PathBuf::from(&source.name), line: row(line) })
    });
    known.collect()
}

/// The names of the images in a resource: of all fields `image`, at any depth. O(size of the
/// resource).
fn images(node: &Node<'_>) -> BTreeSet<String> {
    let (mut names, mut open) = (BTreeSet::new(), vec![node]);
    while let Some(node) = open.pop() {
        match node.value() {
            Value::Mapping(fields) => {
                for field in fields.iter() {
                    match (field.key().text(), field.value().as_scalar()) {
                        ("image", Some(image)) => drop(names.insert(split(image.text()).0.to_owned())),
                        (_, Some(_)) => {}
                        (_, None) => open.push(field.value()),
                    }
                }
            }
            Value::Sequence(items) => open.extend(items.iter()),
            Value::Scalar(_) => {}
        }
    }
    names.remove("");
    names
}

/// A line of a file, counted from 0.
fn row(line: usize) -> u32 {
    line.saturating_sub(1).try_into().unwrap_or(u32::MAX)
}

impl Faults {
    /// Adds the faults of an error.
    fn add_all(&mut self, error: &Error, file: &Path) {
        error.faults().for_each(|fault| self.add(fault, file));
    }

    /// Adds a fault. A fault without a place belongs to `file`.
    fn add(&mut self, fault: &Diagnostic, file: &Path) {
        let file = fault.place().map_or_else(|| file.to_owned(), |place| PathBuf::from(&place.file));
        let range = range(fault, self.units);
        let hints = fault.hints().iter().map(|hint| format!("\nhint: {hint}"));
        let field = fault.field().map(|field| format!("\nin field '{field}'"));
        let message = [fault.message().to_owned()].into_iter().chain(field).chain(hints).collect::<String>();
        let message = shown(&message);
        let around = fault.chain().iter().filter_map(|link| {
            let place = link.place()?;
            let at = Position::new(row(place.line), row(place.column));
            let location = Location::new(uri_of(Path::new(&place.file))?, Range::new(at, at));
            Some(DiagnosticRelatedInformation { location, message: shown(link.text()) })
        });
        let around: Vec<_> = around.collect();
        let of_file = self.by_file.entry(file).or_default();
        // Several roots have one base.
        if !of_file.known.insert((range, message.clone())) {
            return;
        }
        let as_shown = Shown {
            range,
            severity: Some(severity(fault)),
            code: Some(NumberOrString::String(fault.code().as_str().to_owned())),
            source: Some("rustomize".to_owned()),
            message,
            related_information: Some(around).filter(|around| !around.is_empty()),
            ..Shown::default()
        };
        self.fixes.add(fault, &as_shown);
        self.references.extend(old_reference(fault, &as_shown));
        of_file.shown.push(as_shown);
    }
}

/// A text as a person may read it.
fn shown(text: &str) -> String {
    shown::lines(&shown::masked(text)).into_owned()
}

fn severity(fault: &Diagnostic) -> DiagnosticSeverity {
    match (fault.severity(), fault.code()) {
        (Severity::Error, _) => DiagnosticSeverity::ERROR,
        (Severity::Warning, Code::Deprecated | Code::Unused) => DiagnosticSeverity::INFORMATION,
        (Severity::Warning, _) => DiagnosticSeverity::WARNING,
    }
}

/// The range of a fault: of the key or value, where its line is known.
fn range(fault: &Diagnostic, units: Units) -> Range {
    let Some(place) = fault.place() else { return Range::default() };
    let line = row(place.line);
    match fault.excerpt().filter(|excerpt| !excerpt.is_cut()) {
        Some(excerpt) => {
            let marked = excerpt.marked();
            let column = |offset: usize| Position::new(line, units.length(&excerpt.line()[..offset]));
            Range::new(column(marked.start), column(marked.end))
        }
        None => {
            let at = Position::new(line, row(place.column));
            Range::new(at, at)
        }
    }
}
