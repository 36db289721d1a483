//! Fields of kustomizations: their names, their shapes, and the help texts about them. The
//! descriptions of `config::record` have all of these.

use super::cursor::Cursor;
use super::texts::Texts;
use super::{Files, links};
use crate::config::{Described, Field, Kustomization, Record, Shape};
use crate::load::kustomization_file;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Range, TextDocumentPositionParams};
use std::fmt::Write as _;

/// The record at a position, and its field if the field is known.
pub(crate) struct FoundField {
    pub record: &'static Record,
    pub field: Option<&'static Field>,
}

/// The field of a record; names are written in any case, as kustomize reads them.
fn field(record: &'static Record, name: &str) -> Option<&'static Field> {
    record.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))
}

/// The record and field that a path of names leads to.
pub(crate) fn find(path: &[String]) -> Option<FoundField> {
    let mut found = FoundField { record: Kustomization::SHAPE.record()?, field: None };
    for (i, name) in path.iter().enumerate() {
        found.field = Some(field(found.record, name)?);
        if i + 1 < path.len() {
            found.record = found.field?.shape.record()?;
        }
    }
    Some(found)
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

pub(crate) fn is_list_of_texts(field: &Field) -> bool {
    matches!(field.shape, Shape::List(Shape::Text))
}

/// A shape in words.
pub(crate) fn shape(shape: &Shape) -> String {
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
