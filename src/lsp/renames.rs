//! Renames of files: each kustomization that names a renamed file gets its new path.

use super::Files;
use super::fixes::as_written;
use super::links::{PlacedText, kustomizations, names_files, path_start, texts_of, written};
use super::texts::{Texts, path_of, uri_of};
use crate::load::{clean, kustomization_file};
use lsp_types::{
    AnnotatedTextEdit, DocumentChangeOperation, DocumentChanges, FileRename, OneOf,
    OptionalVersionedTextDocumentIdentifier, RenameFile, ResourceOp, TextDocumentEdit, TextDocumentPositionParams,
    TextEdit, WorkspaceEdit,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

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
        .filter(|t| kustomization_file::is_one(&path) && t.line() == here && t.column() <= column)
        .max_by_key(|t| t.column());
    let Some(own) = own.filter(|own| names_files(&own.path)) else { return Ok(None) };
    let value = &own.text[path_start(&own.path, &own.text)..];
    let directory = directory(&path);
    let old = PathBuf::from(clean(&directory.join(value).to_string_lossy()));
    if !old.exists() {
        return Err(format!("'{value}' does not exist"));
    }
    if new_name.trim().is_empty() || new_name.contains(char::is_control) || new_name.ends_with('/') {
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
        // An alias has the place of its anchor, which is changed once.
        let mut seen = BTreeSet::new();
        let named = texts_of(&text).into_iter().filter(|found| names_files(&found.path));
        for found in named.filter(|found| seen.insert(found.offset())) {
            let start = path_start(&found.path, &found.text);
            let value = &found.text[start..];
            let named = PathBuf::from(clean(&directory.join(value).to_string_lossy()));
            let new = moved(&named, renames).unwrap_or(named);
            if value.contains('\n') || new == Path::new(&clean(&new_directory.join(value).to_string_lossy())) {
                continue;
            }
            let edit = replaced(texts, &text, &found, start, &relative(new_directory, &new));
            edits.entry(file.clone()).or_default().extend(edit);
        }
    }
    let edit = |(file, mut edits): (PathBuf, Vec<TextEdit>)| {
        edits.sort_by_key(|edit| edit.range.start);
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

/// The edit that gives a text another end, from a byte on; `None` if the text is not written as it
/// reads, or the new one cannot be written there.
fn replaced(texts: &Texts, text: &str, found: &PlacedText, from: usize, new: &str) -> Option<TextEdit> {
    let (kept, old) = found.text.split_at(from);
    let quote = text[found.offset()..].chars().next().filter(|c| matches!(c, '"' | '\''));
    let new_text = as_written(new, quote)?;
    if quote.is_some() || from == 0 || new_text == new {
        return Some(TextEdit { range: written(texts, text, found, from, old)?, new_text });
    }
    // Quotes are around the whole text.
    let new_text = as_written(&format!("{kept}{new}"), quote)?;
    Some(TextEdit { range: written(texts, text, found, 0, &found.text)?, new_text })
}

/// The path of `path` from a directory.
fn relative(directory: &Path, path: &Path) -> String {
    let same = directory.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = directory.components().skip(same).map(|_| "..".to_owned());
    let down = path.components().skip(same).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::super::texts::Units;
    use super::*;

    /// The first place and the edit of each path in a text, when the path becomes another one.
    fn check(text: &str, new: &str, expect: &[&str]) {
        for units in [Units::Utf8, Units::Utf16] {
            let texts = Texts::new(units);
            let found: Vec<String> = texts_of(text)
                .iter()
                .filter(|found| names_files(&found.path))
                .map(|found| {
                    let from = path_start(&found.path, &found.text);
                    let Some(TextEdit { range, new_text }) = replaced(&texts, text, found, from, new) else {
                        return "none".to_owned();
                    };
                    let [start, end] = [range.start, range.end].map(|at| units.offset(text, at));
                    let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
                    let line = text[line_start..].lines().next().unwrap();
                    format!("{}{new_text}{}", &line[..start - line_start], &line[end - line_start..])
                })
                .collect();
            assert_eq!(found, expect, "{units:?}");
        }
    }

    #[test]
    fn a_path_is_written_as_yaml_wherever_it_is() {
        check("resources:\n- a.yaml # x\n- 'ß😀'\n", "b", &["- b # x", "- 'b'"]);
        check(
            "# 😀\nresources: ['😀', b.yaml, \"c\"]",
            "d, e",
            &[
                "resources: ['d, e', b.yaml, \"c\"]",
                "resources: ['😀', 'd, e', \"c\"]",
                "resources: ['😀', b.yaml, \"d, e\"]",
            ],
        );
        check("resources: [a]", "b: c", &["resources: ['b: c']"]);
        check("resources: [a]", "# b", &["resources: ['# b']"]);
        check("resources: ['a', \"b\"]", "c'\"", &["resources: ['c''\"', \"b\"]", "resources: ['a', \"c'\\\"\"]"]);
        check("configMapGenerator: [{files: [k=a]}]", "b", &["configMapGenerator: [{files: [k=b]}]"]);
        check("configMapGenerator: [{files: [k=a]}]", "b #c", &["configMapGenerator: [{files: ['k=b #c']}]"]);
        // Neither is written as it reads.
        check("resources:\n- >-\n  a\n- \"\\x61\"\n", "b", &["none", "none"]);
        // An alias becomes what its anchor becomes.
        check("resources: [&a x, *a]", "b", &["resources: [&a b, *a]", "resources: [&a b, *a]"]);
    }
}
