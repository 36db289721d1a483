//! Completions: names of fields, words, files, kinds, names and images, and paths of fields.

use super::check::{Known, KnownResource};
use super::cursor::Cursor;
use super::fields::{self, FoundField};
use super::texts::Texts;
use super::{Files, links, paths};
use crate::config::{Field, Record, Shape};
use crate::load::{Loader, kustomization_file};
use crate::resource::Behavior;
use crate::schema::builtin_kinds;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, Range, TextDocumentPositionParams, TextEdit,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The operations of a JSON patch.
const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// The possible completions at a place. O(size of the text and of the directory that is named
/// there).
pub(crate) fn complete(
    texts: &Texts,
    files: &Files,
    known: &Known,
    at: &TextDocumentPositionParams,
) -> Vec<CompletionItem> {
    Completion::at(texts, files, known, at).map(|completion| completion.items()).unwrap_or_default()
}

/// A value that is being typed, with its file and the resources that are known.
struct Completion<'s> {
    files: &'s Files,
    known: &'s Known,
    path: PathBuf,
    text: Arc<str>,
    cursor: Cursor,
    /// The field of the kustomization that has the patch, if the value is in an operation of a JSON
    /// patch; empty in a file that is a patch.
    around: Option<Vec<String>>,
    /// The byte of the text where the value begins, without a quote in front.
    start: usize,
    /// The byte of the text behind which the value is completed.
    offset: usize,
    /// The place of the text that a completion replaces.
    range: Range,
    /// The number of the line, from 1.
    line: usize,
}

impl<'s> Completion<'s> {
    /// The value at a place; `None` where nothing is completed.
    fn at(
        texts: &Texts,
        files: &'s Files,
        known: &'s Known,
        at: &TextDocumentPositionParams,
    ) -> Option<Completion<'s>> {
        let (path, text, offset) = texts.at(at)?;
        let (cursor, around) = match in_operation(&path, &text, offset) {
            Some(InOperation { cursor, around }) => (cursor, Some(around)),
            None if kustomization_file::is_one(&path) => (Cursor::at(&text, offset)?.in_braces(&text, offset), None),
            None => return None,
        };
        let typed = text[cursor.word.start..offset.max(cursor.word.start)].trim_start_matches(['"', '\'']);
        let start = offset - typed.len();
        let [from, to] = [start, cursor.word.end.max(offset)].map(|at| texts.units.position(&text, at));
        let line = at.position.line as usize + 1;
        Some(Completion { files, known, path, text, cursor, around, start, offset, range: Range::new(from, to), line })
    }

    fn items(&self) -> Vec<CompletionItem> {
        if let Some(around) = &self.around {
            return match self.cursor.path.last().map(String::as_str) {
                Some("op") => self.words(OPERATIONS),
                _ => self.field_paths(paths::Style::Slashes, around),
            };
        }
        if let Some(style) = paths::style_of(&self.cursor.path) {
            return self.field_paths(style, &self.cursor.path);
        }
        let found = fields::find(&self.cursor.path);
        if !self.cursor.in_key {
            return found.and_then(|found| found.field).map(|field| self.values(field)).unwrap_or_default();
        }
        let Some(FoundField { record, field }) = found else { return Vec::new() };
        let Some(field) = field else { return self.names(record) };
        match field.shape.record() {
            Some(record) => self.names(record),
            None if fields::is_list_of_texts(field) => self.values(field),
            None => Vec::new(),
        }
    }

    /// The text of the value in front of the cursor.
    fn typed(&self) -> &str {
        &self.text[self.start..self.offset]
    }

    fn edit(&self, new_text: String) -> Option<CompletionTextEdit> {
        Some(CompletionTextEdit::Edit(TextEdit { range: self.range, new_text }))
    }

    fn value(&self, label: String, kind: CompletionItemKind) -> CompletionItem {
        CompletionItem { text_edit: self.edit(label.clone()), kind: Some(kind), label, ..CompletionItem::default() }
    }

    fn all(&self, labels: impl IntoIterator<Item = String>, kind: CompletionItemKind) -> Vec<CompletionItem> {
        labels.into_iter().map(|label| self.value(label, kind)).collect()
    }

    fn words<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Vec<CompletionItem> {
        self.all(words.into_iter().map(str::to_owned), CompletionItemKind::ENUM_MEMBER)
    }

    /// The fields of a record that the mapping around the cursor does not have.
    fn names(&self, record: &Record) -> Vec<CompletionItem> {
        let is_given = |field: &Field| self.cursor.siblings.iter().any(|name| name.eq_ignore_ascii_case(field.name));
        let item = |field: &Field| CompletionItem {
            label: field.name.to_owned(),
            kind: Some(CompletionItemKind::FIELD),
            deprecated: field.is_deprecated.then_some(true),
            detail: Some(fields::shape(&field.shape)),
            documentation: Some(Documentation::String(field.doc.to_owned())),
            text_edit: self.edit(format!("{}: ", field.name)),
            // Fields that are deprecated come last.
            sort_text: Some(format!("{}{}", u8::from(field.is_deprecated), field.name)),
            ..CompletionItem::default()
        };
        record.fields.iter().filter(|field| !is_given(field)).map(item).collect()
    }

    /// The values of a field.
    fn values(&self, field: &Field) -> Vec<CompletionItem> {
        let mut items = self.words(field.words.iter().copied());
        if field.shape == Shape::Boolean {
            items.extend(self.all(["true", "false"].map(str::to_owned), CompletionItemKind::KEYWORD));
        }
        if links::names_files(&self.cursor.path) {
            let directory = self.path.parent().unwrap_or(Path::new("/"));
            let names = file_names(self.files, directory, self.typed());
            items.extend(names.into_iter().map(|(name, kind)| self.value(name, kind)));
        }
        match self.cursor.path.join(".").as_str() {
            "configMapGenerator.behavior" | "secretGenerator.behavior" => items.extend(self.words(Behavior::WORDS)),
            "images.name" => {
                let names: BTreeSet<&String> = self.own_resources().into_iter().flat_map(|r| &r.images).collect();
                items.extend(self.all(names.into_iter().cloned(), CompletionItemKind::VALUE));
            }
            _ if field.name == "namespace" => {
                let names: BTreeSet<&String> = self.resources().flat_map(|r| &r.namespaces).collect();
                items.extend(self.all(names.into_iter().cloned(), CompletionItemKind::REFERENCE));
            }
            _ => {}
        }
        if links::selects(&self.cursor.path) {
            let names: BTreeSet<String> = match field.name {
                "kind" => self.resources().map(|r| r.kind.clone()).chain(builtin_kinds().map(str::to_owned)).collect(),
                "name" => self.resources().flat_map(|r| r.names.clone()).collect(),
                _ => BTreeSet::new(),
            };
            items.extend(self.all(names, CompletionItemKind::REFERENCE));
        }
        items
    }

    /// The paths of fields of the resources whose kinds the entry around the value names; of all
    /// resources if none has such a kind.
    fn field_paths(&self, style: paths::Style, field: &[String]) -> Vec<CompletionItem> {
        let kinds = paths::kinds_beside(&self.text, field, style, self.line);
        let mut resources = self.own_resources();
        if resources.iter().any(|resource| kinds.contains(&resource.kind)) {
            resources.retain(|resource| kinds.contains(&resource.kind));
        }
        let found = paths::complete(self.files, resources.into_iter(), style, self.typed());
        self.all(found, CompletionItemKind::FIELD)
    }

    /// All known resources.
    fn resources(&self) -> impl Iterator<Item = &'s KnownResource> {
        self.known.values().flatten()
    }

    /// The resources of the root of the file. The file of a component has those of all roots.
    fn own_resources(&self) -> Vec<&'s KnownResource> {
        let directory = self.path.parent().and_then(Path::to_str).unwrap_or("/");
        match self.known.get(directory) {
            Some(resources) => resources.iter().collect(),
            None => self.resources().collect(),
        }
    }
}

/// A value in an operation of a JSON patch.
struct InOperation {
    cursor: Cursor,
    /// The field of the kustomization that has the patch; empty in a file that is a patch.
    around: Vec<String>,
}

/// The value of `op`, `path` or `from` in an operation of a JSON patch: in a file that is a list,
/// or in a patch inside a kustomization that is one.
fn in_operation(path: &Path, text: &str, offset: usize) -> Option<InOperation> {
    let (around, cursor) = match kustomization_file::is_one(path) {
        true => {
            let (field, cursor) = Cursor::in_block(text, offset)?;
            let is_patch = ["patches.patch", "patchesJson6902.patch"].contains(&field.join(".").as_str());
            (field, is_patch.then_some(cursor)?)
        }
        false => (Vec::new(), Cursor::at(text, offset)?),
    };
    let cursor = cursor.in_braces(text, offset);
    let is_value = cursor.in_list && !cursor.in_key && cursor.path.len() == 1;
    let is_known = matches!(cursor.path.last().map(String::as_str), Some("op" | "path" | "from"));
    (is_value && is_known).then_some(InOperation { cursor, around })
}

/// The files and directories that a typed path may lead to, each as the completed path.
fn file_names(files: &Files, directory: &Path, typed: &str) -> Vec<(String, CompletionItemKind)> {
    let typed = typed.rsplit_once('=').map_or(typed, |(_, path)| path);
    let above = typed.rfind('/').map_or("", |i| &typed[..=i]);
    let Ok(place) = files.directory(&directory.join(above)) else { return Vec::new() };
    let mut entries = files.list(&place).unwrap_or_default();
    entries.sort();
    let is_hidden =
        |name: &str| name.starts_with('.') || above.is_empty() && kustomization_file::FILE_NAMES.contains(&name);
    let names = entries.into_iter().filter_map(|entry| Some((entry.name.into_string().ok()?, entry.is_directory)));
    let shown = names.filter(|(name, _)| !is_hidden(name)).map(|(name, is_directory)| {
        let kind = if is_directory { CompletionItemKind::FOLDER } else { CompletionItemKind::FILE };
        (format!("{above}{name}"), kind)
    });
    let up = format!("{above}..");
    let has_up = above.is_empty() || above.ends_with("../");
    has_up.then_some((up, CompletionItemKind::FOLDER)).into_iter().chain(shown).collect()
}
