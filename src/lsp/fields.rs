//! Fields of kustomizations: their names, words, files and resources to complete, and the help
//! texts about them. All of it comes from the descriptions of `config::record`.

use super::check::{Known, KnownResource};
use super::cursor::Cursor;
use super::texts::Texts;
use super::{Files, links, paths};
use crate::config::{Described, Field, Kustomization, Record, Shape};
use crate::load::{Loader, kustomization_file};
use crate::resource::Behavior;
use crate::schema::builtin_kinds;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, Hover, HoverContents, MarkupContent,
    MarkupKind, Range, TextDocumentPositionParams, TextEdit,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The operations of a JSON patch.
const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// The record at a position, and its field if the field is known.
struct FoundField {
    record: &'static Record,
    field: Option<&'static Field>,
}

/// The field of a record; names are written in any case, as kustomize reads them.
fn field(record: &'static Record, name: &str) -> Option<&'static Field> {
    record.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))
}

/// The record and field that a path of names leads to.
fn find(path: &[String]) -> Option<FoundField> {
    let mut found = FoundField { record: Kustomization::SHAPE.record()?, field: None };
    for (i, name) in path.iter().enumerate() {
        found.field = Some(field(found.record, name)?);
        if i + 1 < path.len() {
            found.record = found.field?.shape.record()?;
        }
    }
    Some(found)
}

/// The possible completions at a place. O(size of the text and of the directory that is named
/// there).
pub(crate) fn complete(
    texts: &Texts,
    files: &Files,
    known: &Known,
    at: &TextDocumentPositionParams,
) -> Vec<CompletionItem> {
    let Some((path, text, offset)) = texts.at(at) else { return Vec::new() };
    let (cursor, around) = match in_operation(&path, &text, offset) {
        Some(InOperation { cursor, around }) => (cursor, Some(around)),
        None => match Cursor::at(&text, offset).filter(|_| kustomization_file::is_one(&path)) {
            Some(cursor) => (cursor.in_braces(&text, offset), None),
            None => return Vec::new(),
        },
    };
    let typed = text[cursor.word.start..offset.max(cursor.word.start)].trim_start_matches(['"', '\'']);
    let [start, end] = [offset - typed.len(), cursor.word.end.max(offset)].map(|at| texts.units.position(&text, at));
    let range = Range::new(start, end);
    let edit = |new_text: String| Some(CompletionTextEdit::Edit(TextEdit { range, new_text }));
    let value = |label: String, kind: CompletionItemKind| CompletionItem {
        text_edit: edit(label.clone()),
        kind: Some(kind),
        label,
        ..CompletionItem::default()
    };
    let word = |word: &str| value(word.to_owned(), CompletionItemKind::ENUM_MEMBER);
    let directory = path.parent().and_then(Path::to_str).unwrap_or("/");
    // The resources of this root; a component is in others.
    let own = || match known.get(directory) {
        Some(resources) => resources.iter().collect::<Vec<&KnownResource>>(),
        None => known.values().flatten().collect(),
    };
    let field_paths = |style: paths::Style, field: &[String]| {
        let kinds = paths::kinds_beside(&text, field, style, at.position.line as usize + 1);
        let (all, mut of_kinds) = (own(), own());
        of_kinds.retain(|resource| kinds.contains(&resource.kind));
        let resources = if of_kinds.is_empty() { all } else { of_kinds };
        let found = paths::complete(files, resources.into_iter(), style, typed);
        found.into_iter().map(|path| value(path, CompletionItemKind::FIELD)).collect()
    };
    if let Some(around) = around {
        return match cursor.path.last().map(String::as_str) {
            Some("op") => OPERATIONS.map(word).into(),
            _ => field_paths(paths::Style::Slashes, &around),
        };
    }
    if let Some(style) = paths::style_of(&cursor.path) {
        return field_paths(style, &cursor.path);
    }
    let found = find(&cursor.path);
    let mut items = Vec::new();
    if cursor.in_key {
        let record = match &found {
            Some(FoundField { record, field: None }) => Some(*record),
            Some(FoundField { field: Some(field), .. }) => field.shape.record(),
            None => None,
        };
        let is_given = |field: &Field| cursor.siblings.iter().any(|name| name.eq_ignore_ascii_case(field.name));
        let fields = record.into_iter().flat_map(|record| record.fields).filter(|field| !is_given(field));
        items.extend(fields.map(|field| CompletionItem {
            label: field.name.to_owned(),
            kind: Some(CompletionItemKind::FIELD),
            deprecated: field.is_deprecated.then_some(true),
            detail: Some(shape(&field.shape)),
            documentation: Some(Documentation::String(field.doc.to_owned())),
            text_edit: edit(format!("{}: ", field.name)),
            // Fields that are deprecated come last.
            sort_text: Some(format!("{}{}", u8::from(field.is_deprecated), field.name)),
            ..CompletionItem::default()
        }));
    }
    let Some(FoundField { field: Some(field), .. }) = found else { return items };
    let is_text_item = cursor.in_key && matches!(field.shape, Shape::List(Shape::Text));
    if cursor.in_key && !is_text_item {
        return items;
    }
    items.extend(field.words.iter().copied().map(word));
    if field.shape == Shape::Boolean {
        items.extend(["true", "false"].map(|word| value(word.to_owned(), CompletionItemKind::KEYWORD)));
    }
    if links::names_files(&cursor.path) {
        let names = file_names(files, path.parent().unwrap_or(Path::new("/")), typed);
        items.extend(names.into_iter().map(|(name, kind)| value(name, kind)));
    }
    match cursor.path.join(".").as_str() {
        "configMapGenerator.behavior" | "secretGenerator.behavior" => items.extend(Behavior::WORDS.map(word)),
        "images.name" => {
            let names: BTreeSet<&String> = own().into_iter().flat_map(|r| &r.images).collect();
            items.extend(names.into_iter().map(|name| value(name.clone(), CompletionItemKind::VALUE)));
        }
        _ if field.name == "namespace" => {
            let names: BTreeSet<&String> = known.values().flatten().flat_map(|r| &r.namespaces).collect();
            items.extend(names.into_iter().map(|name| value(name.clone(), CompletionItemKind::REFERENCE)));
        }
        _ => {}
    }
    if links::selects(&cursor.path) {
        let names: BTreeSet<String> = match field.name {
            "kind" => builtin_kinds().map(str::to_owned).chain(resources(known, |r| vec![r.kind.clone()])).collect(),
            "name" => resources(known, |r| r.names.clone()).collect(),
            _ => BTreeSet::new(),
        };
        items.extend(names.into_iter().map(|name| value(name, CompletionItemKind::REFERENCE)));
    }
    items
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

/// The texts of the known resources.
fn resources<'k>(
    known: &'k Known,
    texts: impl Fn(&KnownResource) -> Vec<String> + 'k,
) -> impl Iterator<Item = String> + 'k {
    known.values().flatten().flat_map(texts)
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

/// The help text about the field at a place.
pub(crate) fn hover(texts: &Texts, files: &Files, at: &TextDocumentPositionParams) -> Option<Hover> {
    let (path, text, offset) = texts.at(at)?;
    if !kustomization_file::is_one(&path) {
        return None;
    }
    let cursor = Cursor::at(&text, offset)?;
    let mut names = cursor.path.clone();
    let word = text[cursor.word.clone()].trim_matches(['"', '\'']);
    let is_item = cursor.in_key && find(&names).is_some_and(|found| found.field.is_some_and(is_list_of_texts));
    if cursor.in_key && !is_item {
        names.push(word.to_owned());
    }
    let field = find(&names)?.field?;
    let mut shown = format!("**{}** ({})\n\n{}", names.join("."), shape(&field.shape), field.doc);
    if !field.words.is_empty() {
        let words: Vec<String> = field.words.iter().map(|word| format!("`{word}`")).collect();
        let _ = write!(shown, "\n\nOne of {}.", words.join(", "));
    }
    if field.is_deprecated {
        shown += "\n\nDeprecated: `rustomize edit fix` replaces it.";
    }
    if let Some(target) = links::target(files, &path, &names, word) {
        let _ = write!(shown, "\n\n{}", target.display());
    }
    let range =
        Range::new(texts.units.position(&text, cursor.word.start), texts.units.position(&text, cursor.word.end));
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: shown });
    Some(Hover { contents, range: Some(range) })
}

fn is_list_of_texts(field: &Field) -> bool {
    matches!(field.shape, Shape::List(Shape::Text))
}

/// A shape in words.
fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Text => "text".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Anything => "any value".to_owned(),
        Shape::Texts => "texts by name".to_owned(),
        Shape::List(item) => format!("list, each: {}", self::shape(item)),
        Shape::Record(record) => record.name.to_owned(),
    }
}
