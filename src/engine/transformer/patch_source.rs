//! Patches as they are written: files and inline texts, read on all cores if there are many.

use super::json_patch::{self, Operation};
use crate::config::Selector;
use crate::config::kustomization::Patch;
use crate::diag::{Code, Diagnostic, Error, Errors, Result};
use crate::load::{Root, path};
use crate::resource::{Matcher, Resource};
use crate::stage::{Build, resources_in, scoped_resources_in};
use rustomize_base::parallel;
use rustomize_yaml::{Arena, Source, first_document, json};
use std::path::PathBuf;

/// The content of a patch.
#[derive(Debug)]
pub(super) enum Content<'a> {
    StrategicMerge(Vec<Resource<'a>>),
    Json(Vec<Operation<'a>>),
}

/// A patch that was read.
pub(super) struct Read<'a> {
    pub content: Content<'a>,
    pub target: Option<Matcher<'a>>,
    /// The name of the patch in errors.
    pub name: String,
}

/// How a field writes its patches.
pub(super) struct Form {
    /// True if blanks around an inline text are ignored.
    is_trimmed: bool,
    read: for<'a> fn(Arena<'a>, &'a Source) -> Result<Content<'a>>,
}

/// Strategic merge patches and JSON patches, as `patches` has them.
pub(super) const EITHER: Form = Form { is_trimmed: true, read: content };

/// JSON patches, as `patchesJson6902` has them.
pub(super) const OPERATIONS: Form = Form { is_trimmed: false, read: operations };

/// Where a patch is written.
struct Written<'a> {
    source: &'a Source,
    target: Option<Matcher<'a>>,
    name: String,
}

/// Reads patches, in order, and makes a `T` of each. O(size of their texts).
///
/// # Errors
/// The errors of all patches that cannot be read, or that `make` refuses.
pub(super) fn read_all<'a, T>(
    build: &mut Build<'a>,
    root: &Root,
    patches: &[Patch<'a>],
    form: &Form,
    make: impl Fn(&Patch<'a>, Read<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let paths: Vec<&str> = patches.iter().map(|patch| patch.path).collect();
    let mut ahead = build.cx.files.ahead(root, &paths, |_, source| Some(source)).into_iter();
    let found: Vec<Result<Written<'a>>> =
        patches.iter().map(|patch| written(build, root, patch, ahead.next().flatten(), form)).collect();
    let sources: Vec<&'a Source> = found.iter().flatten().map(|written| written.source).collect();
    let (arena, others) = (build.arena, build.arena.others());
    let read_run = |arena| move |run: &[&'a Source]| -> Vec<_> { run.iter().map(|s| (form.read)(arena, s)).collect() };
    let contents = match arena.threads(sources.iter().map(|source| source.text.len()).sum()) {
        1 => vec![read_run(arena)(&sources)],
        threads => parallel::runs(&sources, threads, || read_run(others.arena())),
    };
    let mut contents = contents.into_iter().flatten();
    let (mut made, mut errors) = (Vec::with_capacity(patches.len()), Errors::default());
    for (patch, found) in patches.iter().zip(found) {
        let read = found.and_then(|written| {
            let content = contents.next().unwrap_or_else(|| Ok(Content::StrategicMerge(Vec::new())))?;
            Ok(Read { content, target: written.target, name: written.name })
        });
        let read = read.map_err(|e| advised_of_target(e, patch).at(patch.pos));
        let Some(mut read) = errors.note(read) else { continue };
        if let Content::StrategicMerge(documents) = &mut read.content {
            build.schema.note_scope(build.arena, documents)?;
        }
        made.extend(errors.note(make(patch, read)));
    }
    errors.end(made)
}

/// The advice for a text that names no resource.
const NAMELESS: &str = "name its resource by apiVersion, kind and metadata.name, or add a 'target' to the entry";

/// The error about a patch that names no resource, although its entry has a target: kustomize asks
/// for a kind and a name in any case.
fn advised_of_target(error: Error, patch: &Patch<'_>) -> Error {
    let Some(target) = &patch.target else { return error };
    let is_plain = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let kind = Some(target.kind).filter(is_plain).unwrap_or("ConfigMap");
    let hint = format!(
        "the target selects the resources, and the patch needs a kind and any name besides: kind: {kind} and metadata: {{name: any}}"
    );
    error.advised(|fault| fault.hints().iter().any(|known| known == NAMELESS).then(|| hint.clone()))
}

/// The error about the file of a patch. A text of several lines is the patch itself. On Windows its
/// colons make it a path that is refused.
fn advised_of_path(error: Error, patch: &Patch<'_>) -> Error {
    let is_no_file = error.code() == Code::MissingFile || path::fault(patch.path).is_some();
    match patch.path.contains('\n') && is_no_file {
        true => Error::new(Code::MissingFile, "'path' has a text of several lines, which is not the name of a file")
            .hint("write the text of a patch under 'patch': patch: |-"),
        false => error,
    }
}

/// The advice for an inline patch that is the name of a file.
fn path_in_place_of_patch(text: &str) -> Option<String> {
    let is_path =
        !text.contains(char::is_whitespace) && [".yaml", ".yml", ".json"].iter().any(|end| text.ends_with(end));
    is_path.then(|| format!("this is the name of a file: write path: {text}"))
}

/// Finds out where a patch is written. `ahead` is its file, if that was read already.
fn written<'a>(
    build: &mut Build<'a>,
    root: &Root,
    patch: &Patch<'a>,
    ahead: Option<(PathBuf, &'a Source)>,
    form: &Form,
) -> Result<Written<'a>> {
    let whole = patch.patch.text;
    let inline = if form.is_trimmed { whole.trim() } else { whole };
    let (source, name) = match (inline.is_empty(), patch.path.is_empty()) {
        (true, true) => {
            return Err(Error::new(Code::ConflictingFields, "must specify one of patch and path in patches entry")
                .hint("add 'path: FILE', or the patch itself under 'patch: |'"));
        }
        (false, false) => {
            return Err(Error::new(Code::ConflictingFields, "patch and path can't be set at the same time")
                .hint("remove one of the two"));
        }
        (true, false) => {
            let source = match ahead {
                Some((place, source)) => {
                    build.cx.files.note_local(root, &place);
                    source
                }
                None => build.cx.files.text(root, patch.path).map_err(|e| advised_of_path(e.into(), patch))?,
            };
            (source, format!("the patch {}", source.name))
        }
        (false, true) => {
            let lines_before = whole.find(inline).map_or(0, |at| whole[..at].matches('\n').count());
            let name = "an inline patch".to_owned();
            let source = build.arena.add_inline(name, inline, patch.patch.pos, lines_before);
            (source, "an inline patch".to_owned())
        }
    };
    let matcher = |target: &Selector<'a>| Matcher::new(target).map_err(|e| e.at(target.pos));
    Ok(Written { source, target: patch.target.as_ref().map(matcher).transpose()?, name })
}

/// Reads a patch: strategic merge if its documents read as resources, else JSON.
fn content<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Content<'a>> {
    // kustomize takes a patch without documents, or with an empty list as its only one, for a
    // strategic merge patch that changes nothing. Before, it was a JSON patch, which needs a
    // target.
    let compat = arena.compat();
    let nothing = || match compat {
        _ if compat.takes_empty_patches() => Ok(Content::StrategicMerge(Vec::new())),
        _ if compat.takes_patches_of_comments() || source.text.is_empty() => Ok(Content::Json(Vec::new())),
        _ => {
            let message = format!("illegally qualifies as both an SM and JSON patch: '{}'", source.name);
            Err(Error::new(Code::BadPatch, message).hint(format!("kustomize {compat} refuses a patch without content")))
        }
    };
    if source.text.starts_with('[') {
        return match operations(arena, source)? {
            Content::Json(operations) if operations.is_empty() => nothing(),
            content => Ok(content),
        };
    }
    let fault = match unscoped(arena, source) {
        Ok(documents) if documents.is_empty() => return nothing(),
        Ok(documents) => return Ok(Content::StrategicMerge(documents)),
        Err(e) => e,
    };
    match first_document(arena, source) {
        Ok(None) => nothing(),
        Ok(Some(node)) if node.is_null() => nothing(),
        Ok(Some(node)) if node.as_sequence().is_some() => operations(arena, source),
        Ok(Some(node)) if node.get("op").is_some() => {
            let link = format!("unable to parse SM or JSON patch from '{}'", source.name);
            let hint = "a JSON patch is a list: write '- ' in front of each operation";
            Err(fault.advised(|_| Some(hint.to_owned())).context(link))
        }
        _ => {
            let is_nameless = |fault: &Diagnostic| fault.code() == Code::NotAResource;
            let advice = || path_in_place_of_patch(&source.text).unwrap_or_else(|| NAMELESS.to_owned());
            let fault = fault.advised(|fault| is_nameless(fault).then(advice));
            Err(fault.context(format!("unable to parse SM or JSON patch from '{}'", source.name)))
        }
    }
}

/// Reads a JSON patch, which may be written in YAML.
fn operations<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Content<'a>> {
    let text = source.text.as_str();
    if text.starts_with('[') {
        let node = json::parse(arena, text).map_err(|e| {
            let message = format!("unable to parse SM or JSON patch from '{}': {}", source.name, json::message(&e));
            let offset = json::offset(&e, text);
            let comma = text[..offset].rfind(',').filter(|_| e.to_string().contains("trailing comma"));
            let hint = match comma {
                Some(_) => "remove the comma: JSON has none behind the last item",
                None => "a patch that starts with '[' must be strict JSON: put its keys and texts in double quotes, or write it in lines that begin with '- op:'",
            };
            Error::new(Code::BadPatch, message).at(source.pos(comma.unwrap_or(offset))).hint(hint)
        })?;
        return json_patch::from_json(arena, text, &node).map(Content::Json);
    }
    match first_document(arena, source)? {
        None => Ok(Content::Json(Vec::new())),
        Some(node) if node.as_sequence().is_some() => json_patch::from_yaml(arena, &node).map(Content::Json),
        Some(node) => {
            let message = format!("a JSON patch is a list of operations, found {}", node.shape());
            let hint = match node.get("kind").is_some() || node.get("metadata").is_some() {
                true => "this is a strategic merge patch: list it under 'patches'",
                false => "write it as in - {op: replace, path: /spec/replicas, value: 3}",
            };
            Err(Error::new(Code::BadPatch, message).at(node.pos()).hint(hint))
        }
    }
}

/// The documents of a text as resources, which know their scope; a list is replaced by its items.
///
/// # Errors
/// The text is not YAML, or a document is not a resource.
pub(super) fn resources<'a>(build: &mut Build<'a>, source: &'a Source) -> Result<Vec<Resource<'a>>> {
    scoped_resources_in(build, source, Error::from)
}

fn unscoped<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Vec<Resource<'a>>> {
    resources_in(arena, source, Error::from).map(|resources| resources.all)
}
