//! The targets of a place in a file: the files and bases that a kustomization names, and the
//! resources that a target selects.

use super::check::Known;
use super::texts::{Texts, Units, uri_of};
use super::{Contents, Files, MAX_DIRECTORIES};
use crate::load::{FileLimit, Loader, kustomization_file};
use lsp_types::{Location, Position, Range, TextDocumentPositionParams};
use rustomize_base::meter;
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
    let path = kustomization.parent()?.join(&value[path_start(field, value)..]);
    match files.directory(&path) {
        Ok(directory) => kustomization_file::place_in(files, &directory),
        Err(_) => files.open(&path).ok().map(|opened| opened.place),
    }
}

/// The byte of a value with which its path begins: behind the last `=` in a field whose values are
/// `key=path`.
pub(crate) fn path_start(field: &[String], value: &str) -> usize {
    let has_keys = field.last().is_some_and(|name| name == "files");
    value.rfind('=').filter(|_| has_keys).map_or(0, |end| end + 1)
}

/// A text of a document, and its place.
pub(crate) struct PlacedText {
    /// The fields around it, outermost first.
    pub path: Vec<String>,
    pub text: String,
    start: Start,
    /// The number of the innermost mapping around it: fields of one mapping have one number.
    pub mapping: usize,
}

impl PlacedText {
    /// The byte of the file with which it begins.
    pub(crate) fn offset(&self) -> usize {
        self.start.offset
    }

    /// The line where it begins, counted from 1.
    pub(crate) fn line(&self) -> usize {
        self.start.lines + 1
    }

    /// The character of the line where it begins, counted from 1.
    pub(crate) fn column(&self) -> usize {
        self.start.chars + 1
    }
}

/// The texts of the documents of a file; empty for a file that is not valid YAML. O(text × log
/// texts).
pub(crate) fn texts_of(text: &str) -> Vec<PlacedText> {
    let heap = Heap::new();
    let arena = heap.arena();
    let source = arena.add_file("", text.to_owned().into());
    let mut found = Vec::new();
    for document in documents(arena, source).unwrap_or_default() {
        collect(&document, &mut Around::default(), &mut |around, node, text| {
            if let Some((_, offset)) = heap.outermost(node.pos()) {
                let (path, text) = (around.path.clone(), text.to_owned());
                let start = Start { offset, ..Start::default() };
                found.push(PlacedText { path, text, start, mapping: around.mapping });
            }
        });
    }
    place(text, &mut found);
    found
}

/// The place of a byte of a text: how many bytes are before it, how many lines, and how many
/// characters, bytes and units of UTF-16 of its own line.
#[derive(Clone, Copy, Default)]
struct Start {
    offset: usize,
    lines: usize,
    chars: usize,
    bytes: usize,
    utf16: usize,
}

impl Start {
    /// The place behind the next characters of the text.
    fn behind(mut self, passed: &str) -> Start {
        meter::count_text(passed);
        self.offset += passed.len();
        for c in passed.chars() {
            self = match c {
                '\n' => Start { lines: self.lines + 1, offset: self.offset, ..Start::default() },
                c => Start {
                    chars: self.chars + 1,
                    bytes: self.bytes + c.len_utf8(),
                    utf16: self.utf16 + c.len_utf16(),
                    ..self
                },
            };
        }
        self
    }

    fn position(self, units: Units) -> Position {
        let column = match units {
            Units::Utf8 => self.bytes,
            Units::Utf16 => self.utf16,
        };
        Position::new(u32::try_from(self.lines).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}

/// Finds the places of texts whose offsets are known, in one walk over the text of the file: an
/// alias has the place of its anchor, so the offsets are in no order.
fn place(text: &str, found: &mut [PlacedText]) {
    let mut order: Vec<&mut PlacedText> = found.iter_mut().collect();
    order.sort_by_key(|found| found.start.offset);
    let mut at = Start::default();
    for found in order {
        let end = text.floor_char_boundary(found.start.offset).max(at.offset);
        at = at.behind(&text[at.offset..end]);
        found.start = at;
    }
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
        |t: &&PlacedText| t.line() == line && t.column() <= column && column <= t.column() + t.text.chars().count() + 2;
    found.iter().filter(is_here).max_by_key(|t| t.column())
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
    let selected = match kustomization_file::is_one(&path) {
        true => own.or_else(|| found.iter().find(|t| t.line() == here)).and_then(|own| selected(&found, own)),
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
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let end = start + text[start..].find('\n').map_or(text.len() - start, |end| end + 1);
    let offset = |node: &Node<'_>| heap.outermost(node.pos()).map_or(usize::MAX, |(_, offset)| offset);
    let document = documents.iter().rev().find(|document| offset(document) < end)?;
    let name = document.get("metadata")?.get("name")?;
    let kind = document.get("kind")?;
    let is_here = [name, kind].iter().any(|node| (start..end).contains(&offset(node)));
    is_here.then(|| {
        Some((document.get_text("kind")?.to_owned(), document.get("metadata")?.get_text("name")?.to_owned()))
    })?
}

/// The range of a part of a text; `None` if the part is not written as it reads. O(text of the
/// part and before it).
pub(crate) fn written(texts: &Texts, text: &str, found: &PlacedText, from: usize, part: &str) -> Option<Range> {
    let opened = &text[found.start.offset..];
    let before = opened.get(..usize::from(opened.starts_with(['"', '\''])) + from)?;
    let start = found.start.behind(before);
    text[start.offset..]
        .starts_with(part)
        .then(|| Range::new(start.position(texts.units), start.behind(part).position(texts.units)))
}

/// The kustomization files at and below the open directories, as the editor has them, in the first
/// [`MAX_DIRECTORIES`].
pub(crate) fn kustomizations(texts: &Texts, files: &Files, folders: &[PathBuf]) -> Contents {
    let open: BTreeMap<PathBuf, _> = texts.contents().into_iter().collect();
    let mut found: Contents =
        open.iter().filter(|(path, _)| kustomization_file::is_one(path)).map(|(p, t)| (p.clone(), t.clone())).collect();
    let mut queue: Vec<PathBuf> = folders.to_vec();
    for _ in 0..MAX_DIRECTORIES {
        let Some(directory) = queue.pop() else { break };
        for entry in files.list(&directory).unwrap_or_default() {
            let path = directory.join(&entry.name);
            if entry.is_directory && !entry.name.as_encoded_bytes().starts_with(b".") {
                queue.push(path);
            } else if kustomization_file::is_one(&path) && !open.contains_key(&path) {
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
    use super::*;

    #[test]
    fn places_of_many_texts_take_linear_time() {
        for separator in [", ", ",\n  "] {
            let steps = |n: usize| {
                let text = format!("resources: [{}]", format!("a.yaml{separator}").repeat(n));
                let texts = Texts::new(Units::Utf16);
                meter::reset();
                let found = texts_of(&text);
                assert!(found.iter().all(|found| written(&texts, &text, found, 0, &found.text).is_some()));
                meter::taken()
            };
            assert!(steps(4_000) <= 5 * steps(1_000), "{} steps, {}", steps(1_000), steps(4_000));
        }
    }

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
