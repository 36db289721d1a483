//! Answers requests.

use crate::host::{Host, HostFiles};
use crate::request::{BuildOptions, DiffSide, Request, codes};
use rustomize_engine::diag::{Code, Diagnostic, Error, Result, Warned, Warning};
use rustomize_engine::diff::{self, Masks, Summary};
use rustomize_engine::lint::settings::{FILE, Settings};
use rustomize_engine::load::{FileLimit, Loader, Memory};
use rustomize_engine::schema::Schemas;
use rustomize_engine::stage::documents::resources_in;
use rustomize_engine::{Compat, Options, Output, Resource, Workspace, build};
use rustomize_results::explain::view::View;
use rustomize_results::explain::{field, json as explanation, select};
use rustomize_results::{diff as difference, message};
use rustomize_yaml::{Arena, Heap, encoding};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// The members of the last message of a request.
type Members = Map<String, Value>;

/// Answers a request, and returns its last message. `files` has the files of the request; without
/// them the host is asked.
pub(crate) fn answer(host: &Arc<Host>, text: &[u8], files: Option<Memory>) -> Value {
    let loader: Box<dyn Loader> = match files {
        Some(files) => Box::new(files),
        None => Box::new(HostFiles::of_builds(host)),
    };
    let mut warnings = Vec::new();
    let done = Request::parse(text).and_then(|request| run(host, &*loader, request, &mut warnings));
    let mut members = done.unwrap_or_else(|error| failure(&error));
    members.entry("ok").or_insert(true.into());
    members.insert("warnings".to_owned(), messages(&warnings));
    Value::Object(members)
}

fn messages<'m, M: std::ops::Deref<Target = Diagnostic> + 'm>(all: impl IntoIterator<Item = &'m M>) -> Value {
    all.into_iter().map(|one| message(one)).collect()
}

fn failure(error: &Error) -> Members {
    let faults: Vec<&Diagnostic> = error.faults().collect();
    Members::from_iter([
        ("ok".to_owned(), false.into()),
        ("errors".to_owned(), messages(&faults)),
        ("leftOut".to_owned(), error.left_out().into()),
        ("text".to_owned(), error.to_string().into()),
    ])
}

fn run(host: &Arc<Host>, loader: &dyn Loader, request: Request, warnings: &mut Vec<Warning>) -> Result<Members> {
    let workspace = Workspace::new();
    let mut built = |root: &str, options: &Options| {
        let Warned { value, warnings: said } = build(&workspace, loader, root, options);
        warnings.extend(said);
        value
    };
    match request {
        Request::Build { root, options } => {
            let output = built(&root, &options.resolve(host)?)?;
            for piece in output.print_in_pieces()? {
                host.put(&piece).map_err(|e| Error::new(Code::Io, format!("the output cannot be written: {e}")))?;
            }
            Ok(Members::from_iter([files(&output)]))
        }
        Request::Lint { root, options, warn, allow } => {
            let (warn, allow) = (codes(&warn)?, codes(&allow)?);
            let options = Options { lint: true, lint_also: warn, ..options.resolve(host)? };
            let output = built(&root, &options)?;
            output.check_printable()?;
            // As the command does, `lint` returns these warnings as findings.
            let is_finding = |warning: &Warning| matches!(warning.code(), Code::Deprecated | Code::Unused);
            let (said, rest) = std::mem::take(warnings).into_iter().partition(is_finding);
            *warnings = rest;
            let settings = settings(loader, &root, options.file_limit)?;
            let found: Vec<Warning> = Vec::into_iter(said).chain(output.findings().iter().cloned()).collect();
            let kept = found.iter().filter(|finding| {
                let place = finding.place().and_then(|place| real(loader, &place.file));
                let is_allowed = settings.iter().any(|of| of.allows(finding.code(), place.as_deref()));
                !allow.contains(&finding.code()) && !is_allowed
            });
            Ok(Members::from_iter([("findings".to_owned(), messages(kept)), files(&output)]))
        }
        Request::Explain { root, options, resource, field, shows_secrets } => {
            let options = Options { trace: true, ..options.resolve(host)? };
            let output = built(&root, &options)?;
            let Some(history) = output.trace() else {
                return Err(Error::new(Code::Internal, "the build has no trace"));
            };
            let view = View::new(&root, &output, history, shows_secrets);
            let explained = match resource.as_deref() {
                None if field.is_some() => {
                    return Err(Error::new(Code::Usage, "a field is explained of a resource: name the resource"));
                }
                None => explanation::all(&view),
                Some(word) => {
                    let resource = select::resource(&view, word)?;
                    let fields = field::fields(&view, &resource, field.as_deref())?;
                    explanation::one(&view, &resource, &fields)
                }
            };
            Ok(Members::from_iter([("explanation".to_owned(), explained), files(&output)]))
        }
        Request::Diff { before, after, options, shows_secrets } => {
            let options: BuildOptions = options;
            let options = options.resolve(host)?;
            let mut text = |side: DiffSide| match side {
                DiffSide::Root(root) => built(&root, &options)?.print().map(|text| (root, text)),
                DiffSide::Text(text) => Ok(("text".to_owned(), text)),
            };
            let (before, after) = (text(before)?, text(after)?);
            let compared = compare(before, after, shows_secrets)?;
            Ok(Members::from_iter([("difference".to_owned(), compared)]))
        }
        Request::Version {} => {
            let versions: Vec<&str> = Compat::all().map(Compat::version).collect();
            Ok(Members::from_iter([
                ("version".to_owned(), env!("CARGO_PKG_VERSION").into()),
                ("kustomize".to_owned(), versions.into()),
            ]))
        }
    }
}

/// The member with the files that a build read.
fn files(output: &Output<'_>) -> (String, Value) {
    let files = output.files();
    ("files".to_owned(), files.iter().map(|file| file.to_string_lossy()).collect())
}

/// The files `rustomize.yaml` of a root's directory and of those above it.
///
/// # Errors
/// A file cannot be read, or is not valid.
fn settings(loader: &dyn Loader, root: &str, limit: FileLimit) -> Result<Vec<Settings>> {
    let Ok(place) = loader.directory(Path::new(root)) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for directory in place.ancestors() {
        let Ok(opened) = loader.open(&directory.join(FILE)) else { continue };
        let name = opened.place.display().to_string();
        let bytes = opened.read(limit).map_err(|e| Error::io(&e, format!("'{name}' cannot be read: {e}")))?;
        let invalid = |e: encoding::Invalid| {
            Error::new(Code::Encoding, format!("'{name}' is not valid {} at byte {}", e.encoding, e.offset))
        };
        found.push(Settings::parse(directory, encoding::decode(bytes).map_err(invalid)?.text)?);
    }
    Ok(found)
}

/// The path of a file that a message names, without links in its directory.
fn real(loader: &dyn Loader, file: &str) -> Option<std::path::PathBuf> {
    let file = Path::new(file);
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(loader.directory(directory).ok()?.join(file.file_name()?))
}

/// Compares two texts, each with its name in messages.
///
/// # Errors
/// The resources of a side cannot be read.
fn compare(before: (String, String), after: (String, String), shows_secrets: bool) -> Result<Value> {
    let heap = Heap::new();
    let arena = heap.arena();
    let read = |side| resources(arena, side).map_err(|e: Error| e.located(&heap));
    let (mut before, mut after) = (read(before)?, read(after)?);
    if !shows_secrets {
        let mut masks = Masks::new(arena);
        before.iter_mut().chain(&mut after).for_each(|resource| masks.hide(resource));
    }
    let schemas = Schemas::default();
    let changes = diff::compare(&before, &after, &schemas);
    let summary = Summary { same: changes.same, ..Summary::of(&changes) };
    Ok(json!({
        "summary": difference::summary(&summary),
        "resources": changes.resources.iter().map(difference::change).collect::<Vec<_>>(),
    }))
}

fn resources<'a>(arena: Arena<'a>, (name, text): (String, String)) -> Result<Vec<Resource<'a>>> {
    let source = arena.add_file(name, text.into());
    Ok(resources_in(arena, source, Error::from)?.all)
}
