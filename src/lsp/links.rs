//! The targets of a place in a file: the files and bases that a kustomization names, and the
//! resources that a target selects. Renames files in every kustomization that names them.

use super::check::Known;
use super::texts::{Texts, Units, is_kustomization, path_of, uri_of};
use super::{Contents, Files, MAX_DIRECTORIES};
use crate::config::kustomization::FILE_NAMES;
use crate::load::{FileLimit, Loader, clean};
use lsp_types::{
    AnnotatedTextEdit, DocumentChangeOperation, DocumentChanges, FileRename, Location, OneOf,
    OptionalVersionedTextDocumentIdentifier, Position, Range, RenameFile, ResourceOp, TextDocumentEdit,
    TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};
use rustomize_yaml::places::Places;
use rustomize_yaml::{Heap, Node, Value, documents, encoding};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The fields whose values are paths, or have a path behind `=`.
const PATHS: [&str; 19] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
    "crds",
    "configurations",
    "patchesStrategicMerge",
    "patches.path",
    "patchesJson6902.path",
    "replacements.path",
    "openapi.path",
    "configMapGenerator.files",
    "configMapGenerator.envs",
    "secretGenerator.files",
    "secretGenerator.envs",
    "helmCharts.valuesFile",
    "helmCharts.additionalValuesFiles",
];

/// The fields that select resources by kind and name.
const SELECTORS: [&str; 6] = [
    "patches.target",
    "patchesJson6902.target",
    "replacements.source",
    "replacements.targets.select",
    "vars.objref",
    "replicas",
];

/// Returns true if the values of a field are paths.
pub(crate) fn names_files(path: &[String]) -> bool {
    PATHS.contains(&path.join(".").as_str())
}

/// Returns true for the fields of a selector.
pub(crate) fn selects(path: &[String]) -> bool {
    path.split_last().is_some_and(|(_, above)| SELECTORS.contains(&above.join(".").as_str()))
}

/// The file that a value of a field of a kustomization names: for a directory, its kustomization.
/// `None` if the file does not exist.
pub(crate) fn target(files: &Files, kustomization: &Path, field: &[String], value: &str) -> Option<PathBuf> {
    if !names_files(field) || value.contains('\n') {
        return None;
    }
    let value = if has_keys(field) { value.rsplit_once('=').map_or(value, |(_, path)| path) } else { value };
    let path = kustomization.parent()?.join(value);
    match files.directory(&path) {
        Ok(directory) => {
            FILE_NAMES.iter().find_map(|name| files.open(&directory.join(name)).ok()).map(|opened| opened.place)
        }
        Err(_) => files.open(&path).ok().map(|opened| opened.place),
    }
}

/// Returns true for a field whose values are `key=path`.
pub(crate) fn has_keys(field: &[String]) -> bool {
    field.last().is_some_and(|name| name == "files")
}

/// A text of a document, and its place.
pub(crate) struct PlacedText {
    /// The fields around it, outermost first.
    pub path: Vec<String>,
    pub text: String,
    /// The line and character where it begins, counted from 1.
    pub line: usize,
    column: usize,
    /// The number of the innermost mapping around it: fields of one mapping have one number.
    pub mapping: usize,
}

/// The texts of the documents of a file; empty for a file that is not valid YAML. O(text).
pub(crate) fn texts_of(text: &str) -> Vec<PlacedText> {
    let heap = Heap::new();
    let arena = heap.arena();
    let source = arena.add_file("", text.to_owned().into());
    let places = Places::new(&heap);
    let mut found = Vec::new();
    for document in documents(arena, source).unwrap_or_default() {
        collect(&document, &mut Around::default(), &mut |around, node, text| {
            if let Some(spot) = places.spot(node.pos()) {
                found.push(PlacedText {
                    path: around.path.clone(),
                    text: text.to_owned(),
                    line: spot.line,
                    column: spot.column,
                    mapping: around.mapping,
                });
            }
        });
    }
    found
}

/// The fields and the innermost mapping around a node.
#[derive(Default)]
struct Around {
    path: Vec<String>,
    mapping: usize,
    /// The number of mappings so far.
    mappings: usize,
}

fn collect<'n>(node: &'n Node<'_>, around: &mut Around, found: &mut dyn FnMut(&Around, &'n Node<'_>, &str)) {
    match node.value() {
        Value::Scalar(scalar) => found(around, node, scalar.text()),
        Value::Sequence(items) => items.iter().for_each(|item| collect(item, around, found)),
        Value::Mapping(fields) => {
            around.mappings += 1;
            let outer = std::mem::replace(&mut around.mapping, around.mappings);
            for entry in fields.iter() {
                around.path.push(entry.key().text().to_owned());
                collect(entry.value(), around, found);
                around.path.pop();
            }
            around.mapping = outer;
        }
    }
}

/// The text that a byte on a line of a file is in or after.
pub(crate) fn text_at<'f>(found: &'f [PlacedText], text: &str, line: usize, offset: usize) -> Option<&'f PlacedText> {
    let column = 1 + text[text[..offset].rfind('\n').map_or(0, |i| i + 1)..offset].chars().count();
    let is_here =
        |t: &&PlacedText| t.line == line && t.column <= column && column <= t.column + t.text.chars().count() + 2;
    found.iter().filter(is_here).max_by_key(|t| t.column)
}

/// The locations of the file or the resources that a place names. O(text + known resources).
pub(crate) fn definitions(
    texts: &Texts,
    files: &Files,
    known: &Known,
    at: &TextDocumentPositionParams,
) -> Vec<Location> {
    let Some((path, text, offset)) = texts.at(at) else { return Vec::new() };
    let found = texts_of(&text);
    let here = at.position.line as usize + 1;
    let own = text_at(&found, &text, here, offset);
    if let Some(file) = own.and_then(|own| target(files, &path, &own.path, &own.text)) {
        return start_of(&file).into_iter().collect();
    }
    let selected = match is_kustomization(&path) {
        true => own.or_else(|| found.iter().find(|t| t.line == here)).and_then(|own| selected(&found, own)),
        false => resource_at(&text, here),
    };
    let Some((kind, name)) = selected else { return Vec::new() };
    let fits = |kind: &str, wanted: &str| wanted.is_empty() || kind == wanted;
    let places: BTreeSet<(&Path, u32)> = known
        .values()
        .flatten()
        .filter(|r| fits(&r.kind, &kind) && (name.is_empty() || r.names.contains(&name)))
        .map(|r| (r.file.as_path(), r.line))
        .filter(|(file, _)| *file != path)
        .collect();
    places.into_iter().filter_map(|(file, line)| location(file, line)).collect()
}

fn start_of(file: &Path) -> Option<Location> {
    location(file, 0)
}

fn location(file: &Path, line: u32) -> Option<Location> {
    let at = Position::new(line, 0);
    Some(Location::new(uri_of(file)?, Range::new(at, at)))
}

/// The kind and name of the selector that has a text.
pub(crate) fn selected(found: &[PlacedText], own: &PlacedText) -> Option<(String, String)> {
    if !selects(&own.path) {
        return None;
    }
    let beside = |name: &str| {
        let is_it = |t: &&PlacedText| t.mapping == own.mapping && t.path.last().is_some_and(|last| last == name);
        found.iter().find(is_it).map(|t| t.text.clone()).unwrap_or_default()
    };
    let (kind, name) = (beside("kind"), beside("name"));
    (!kind.is_empty() || !name.is_empty()).then_some((kind, name))
}

/// The kind and name of the resource whose `kind` or `metadata` a line has.
pub(crate) fn resource_at(text: &str, line: usize) -> Option<(String, String)> {
    let heap = Heap::new();
    let arena = heap.arena();
    let documents = documents(arena, arena.add_file("", text.to_owned().into())).ok()?;
    let places = Places::new(&heap);
    let starts = |node: &Node<'_>| places.line(node.pos()).map_or(usize::MAX, |(_, line)| line);
    let document = documents.iter().rev().find(|document| starts(document) <= line)?;
    let name = document.get("metadata")?.get("name")?;
    let kind = document.get("kind")?;
    let is_here = [name, kind].iter().any(|node| starts(node) == line);
    is_here.then(|| {
        Some((document.get_text("kind")?.to_owned(), document.get("metadata")?.get_text("name")?.to_owned()))
    })?
}

/// The edit that renames the file that a place names, with its path in each kustomization that
/// names it. `None` if the place names no file.
///
/// # Errors
/// The new name cannot be the name of a file.
pub(crate) fn rename(
    texts: &Texts,
    files: &Files,
    folders: &[PathBuf],
    at: &TextDocumentPositionParams,
    new_name: &str,
) -> Result<Option<WorkspaceEdit>, String> {
    let Some((path, text, offset)) = texts.at(at) else { return Ok(None) };
    let found = texts_of(&text);
    let column = 1 + text[text[..offset].rfind('\n').map_or(0, |i| i + 1)..offset].chars().count();
    let here = at.position.line as usize + 1;
    let own = found
        .iter()
        .filter(|t| is_kustomization(&path) && t.line == here && t.column <= column)
        .max_by_key(|t| t.column);
    let Some(own) = own.filter(|own| names_files(&own.path)) else { return Ok(None) };
    let value =
        if has_keys(&own.path) { own.text.rsplit_once('=').map_or(&*own.text, |(_, path)| path) } else { &own.text };
    let directory = path.parent().unwrap_or(Path::new("/"));
    let old = PathBuf::from(clean(&directory.join(value).to_string_lossy()));
    if !old.exists() {
        return Err(format!("'{value}' does not exist"));
    }
    if new_name.trim().is_empty() || new_name.contains('\n') || new_name.ends_with('/') {
        return Err(format!("'{new_name}' is not the name of a file"));
    }
    let new = PathBuf::from(clean(&directory.join(new_name).to_string_lossy()));
    if new.exists() {
        return Err(format!("'{new_name}' exists"));
    }
    let (Some(old_uri), Some(new_uri)) = (uri_of(&old), uri_of(&new)) else { return Ok(None) };
    let moved = RenameFile { old_uri, new_uri, options: None, annotation_id: None };
    let mut changes: Vec<DocumentChangeOperation> =
        edits(texts, files, folders, &[(old, new)].into()).into_iter().map(DocumentChangeOperation::Edit).collect();
    changes.push(DocumentChangeOperation::Op(ResourceOp::Rename(moved)));
    Ok(Some(WorkspaceEdit { document_changes: Some(DocumentChanges::Operations(changes)), ..WorkspaceEdit::default() }))
}

/// The edit of the kustomizations that name renamed files.
pub(crate) fn renamed(
    texts: &Texts,
    files: &Files,
    folders: &[PathBuf],
    renames: &[FileRename],
) -> Option<WorkspaceEdit> {
    let path = |uri: &str| path_of(&uri.parse().ok()?);
    let renames: Renames = renames.iter().filter_map(|r| Some((path(&r.old_uri)?, path(&r.new_uri)?))).collect();
    let edits = edits(texts, files, folders, &renames);
    let changes = Some(DocumentChanges::Edits(edits)).filter(|_| !renames.is_empty());
    changes.map(|changes| WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() })
}

/// The new paths of renamed files and directories, by their old ones.
type Renames = BTreeMap<PathBuf, PathBuf>;

/// The edits of all kustomizations in the open directories whose paths to files change: those that
/// name a renamed file or a file below a renamed directory, and those below a renamed directory
/// that name a file outside of it. A path between two files that move together stays as it is
/// written. O(text of all kustomizations).
fn edits(texts: &Texts, files: &Files, folders: &[PathBuf], renames: &Renames) -> Vec<TextDocumentEdit> {
    let mut edits: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    for (file, text) in kustomizations(texts, files, folders) {
        let directory = directory(&file);
        let moved_file = moved(&file, renames);
        let new_directory = moved_file.as_deref().map_or(directory, self::directory);
        let lines: Vec<&str> = text.split('\n').collect();
        for found in texts_of(&text).into_iter().filter(|found| names_files(&found.path)) {
            let (key, value) = match found.text.rsplit_once('=').filter(|_| has_keys(&found.path)) {
                Some((key, value)) => (key.len() + 1, value),
                None => (0, found.text.as_str()),
            };
            let named = PathBuf::from(clean(&directory.join(value).to_string_lossy()));
            let new = moved(&named, renames).unwrap_or(named);
            if value.contains('\n') || new == Path::new(&clean(&new_directory.join(value).to_string_lossy())) {
                continue;
            }
            let new_text = relative(new_directory, &new);
            if let Some(range) = written(texts.units, &lines, &found, key, value) {
                edits.entry(file.clone()).or_default().push(TextEdit { range, new_text });
            }
        }
    }
    let edit = |(file, edits): (PathBuf, Vec<TextEdit>)| {
        let text_document = OptionalVersionedTextDocumentIdentifier { uri: uri_of(&file)?, version: None };
        let edits = edits.into_iter().map(OneOf::<TextEdit, AnnotatedTextEdit>::Left).collect();
        Some(TextDocumentEdit { text_document, edits })
    };
    edits.into_iter().filter_map(edit).collect()
}

/// The directory of a file.
fn directory(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

/// The new path of a file that is renamed, or is below a renamed directory; `None` for any other
/// one. The innermost renamed directory counts.
fn moved(file: &Path, renames: &Renames) -> Option<PathBuf> {
    let (old, new) = file.ancestors().find_map(|above| renames.get_key_value(above))?;
    let rest = file.strip_prefix(old).ok()?;
    let new = if rest.as_os_str().is_empty() { new.clone() } else { new.join(rest) };
    Some(PathBuf::from(clean(&new.to_string_lossy())))
}

/// The range of a part of a text in a file with these lines; `None` if the part is not written as
/// it reads. O(line).
pub(crate) fn written(units: Units, lines: &[&str], found: &PlacedText, from: usize, part: &str) -> Option<Range> {
    let line = *lines.get(found.line - 1)?;
    let start = line.char_indices().nth(found.column - 1)?.0;
    let start = start + usize::from(line[start..].starts_with(['"', '\''])) + from;
    line.get(start..)?.starts_with(part).then(|| {
        let number = u32::try_from(found.line - 1).unwrap_or(u32::MAX);
        let position = |offset: usize| Position::new(number, units.length(&line[..offset]));
        Range::new(position(start), position(start + part.len()))
    })
}

/// The path of `path` from a directory.
fn relative(directory: &Path, path: &Path) -> String {
    let same = directory.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = directory.components().skip(same).map(|_| "..".to_owned());
    let down = path.components().skip(same).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The kustomization files at and below the open directories, as the editor has them, in the first
/// [`MAX_DIRECTORIES`].
pub(crate) fn kustomizations(texts: &Texts, files: &Files, folders: &[PathBuf]) -> Contents {
    let open: BTreeMap<PathBuf, _> = texts.contents().into_iter().collect();
    let mut found: Contents =
        open.iter().filter(|(path, _)| is_kustomization(path)).map(|(p, t)| (p.clone(), t.clone())).collect();
    let mut queue: Vec<PathBuf> = folders.to_vec();
    for _ in 0..MAX_DIRECTORIES {
        let Some(directory) = queue.pop() else { break };
        for entry in files.list(&directory).unwrap_or_default() {
            let path = directory.join(&entry.name);
            if entry.is_directory && !entry.name.as_encoded_bytes().starts_with(b".") {
                queue.push(path);
            } else if is_kustomization(&path) && !open.contains_key(&path) {
                let bytes = files.open(&path).ok().and_then(|opened| opened.read(FileLimit::default()).ok());
                let text = bytes.and_then(|bytes| encoding::decode(bytes).ok());
                found.extend(text.map(|text| (path, text.text.into())));
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::{resource_at, texts_of};
    use rustomize_base::meter;

    #[test]
    fn the_texts_of_a_file_take_linear_time() {
        let shapes: [fn(usize) -> String; 2] = [
            |n| (0..n).map(|i| format!("- {{kind: Pod, name: p{i}}}\n")).collect(),
            |n| format!("[{}]", "x, ".repeat(n)),
        ];
        for shape in shapes {
            let steps = |n: usize| {
                let text = shape(n);
                meter::reset();
                assert!(texts_of(&text).len() >= n);
                meter::taken()
            };
            assert!(steps(8_000) <= 5 * steps(2_000), "{} steps, {}", steps(2_000), steps(8_000));
        }
    }

    #[test]
    fn the_resource_of_a_line_takes_linear_time() {
        let steps = |n: usize| {
            let text: String = (0..n).map(|i| format!("---\nkind: Pod\nmetadata: {{name: p{i}}}\n")).collect();
            meter::reset();
            assert_eq!(resource_at(&text, 3), Some(("Pod".to_owned(), "p0".to_owned())));
            meter::taken()
        };
        assert!(steps(4_000) <= 5 * steps(1_000), "{} steps, {}", steps(1_000), steps(4_000));
    }
}
