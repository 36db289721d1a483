//! [`ReferenceFix`]: the change that mends references to renamed resources, as `lint --fix` makes
//! it: a file of `configurations` gets entries, and the kustomization lists the file.

use super::Files;
use super::texts::{Texts, Units, uri_of};
use crate::diag::{Error, NameReference};
use crate::load::{FileLimit, Loader, Memory, kustomization_file};
use crate::stage::Options;
use lsp_types::{
    CreateFile, CreateFileOptions, Diagnostic as Shown, DocumentChangeOperation, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Range, ResourceOp, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use rustomize_edit::name_references::{FILE, Mended, Referring, mended};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The title of the change.
pub(crate) const TITLE: &str = "List the reference in 'name-references.yaml'";

/// A reference to a renamed resource.
pub(crate) struct OldReference {
    pub file: PathBuf,
    pub fault: Shown,
    pub entry: NameReference,
}

/// The change that mends all references of one kustomization.
pub(crate) struct ReferenceFix {
    pub faults: Vec<(PathBuf, Shown)>,
    /// The file of `configurations`, then the kustomization, which names it.
    changes: [Change; 2],
}

/// The change of a file.
struct Change {
    path: PathBuf,
    /// `None` if the file does not exist.
    before: Option<String>,
    after: String,
}

/// The changes that mend references. `unsaved` has the texts of `files` that the editor has open.
/// Left out are references for which an entry is not sure to help. Builds each kustomization with
/// such references once.
pub(crate) fn of(
    references: Vec<OldReference>,
    files: &Files,
    unsaved: &Memory,
    options: &impl Fn(&str) -> Result<Options, Error>,
) -> Vec<ReferenceFix> {
    let mut by_kustomization: BTreeMap<(PathBuf, &'static str), Vec<OldReference>> = BTreeMap::new();
    for reference in references {
        if let Some(place) = kustomization_above(files, &reference.file) {
            by_kustomization.entry(place).or_default().push(reference);
        }
    }
    let fix = |((directory, name), references): ((PathBuf, &'static str), Vec<OldReference>)| {
        let (path, list) = (directory.join(name), directory.join(FILE));
        let before = text(files, &path).ok()??;
        let listed = text(files, &list).ok()?;
        let named: Vec<PathBuf> = references.iter().map(|reference| reference.file.clone()).collect();
        let entries: BTreeSet<NameReference> = references.iter().map(|reference| reference.entry.clone()).collect();
        let options = options(directory.to_str()?).ok()?;
        let (directory, entries_before) = (&*directory, listed.as_deref());
        let referring = Referring { directory, name, text: &before, entries: entries_before, files: &named };
        let Mended { kustomization, entries } = mended(&referring, &entries, unsaved.clone(), &options).ok()?;
        let changes = [
            Change { path: list, before: listed, after: entries },
            Change { path, before: Some(before), after: kustomization },
        ];
        let faults = references.into_iter().map(|reference| (reference.file, reference.fault)).collect();
        Some(ReferenceFix { faults, changes })
    };
    by_kustomization.into_iter().filter_map(fix).collect()
}

/// The nearest directory at or above that of a file with a kustomization, without links, and the
/// name of the kustomization.
fn kustomization_above(files: &Files, file: &Path) -> Option<(PathBuf, &'static str)> {
    file.ancestors().skip(1).find_map(|directory| {
        let name = kustomization_file::name_in(files, directory)?;
        Some((files.directory(directory).ok()?, name))
    })
}

/// The text of a file; `None` if the file does not exist.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
fn text(files: &Files, path: &Path) -> io::Result<Option<String>> {
    let opened = match files.open(path) {
        Ok(opened) => opened,
        Err(fault) if fault.error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(fault.error),
    };
    let bytes = opened.read(FileLimit::default())?;
    String::from_utf8(bytes.to_vec()).map(Some).map_err(|_| ErrorKind::InvalidData.into())
}

impl ReferenceFix {
    /// The edit of the files as the editor has them now; `None` if one of them has another text
    /// than that for which the change was made, or is outside of the open directories.
    pub(crate) fn edit(&self, texts: &Texts, files: &Files, folders: &[PathBuf]) -> Option<WorkspaceEdit> {
        let mut operations = Vec::new();
        for change in self.changes.iter().filter(|change| change.before.as_deref() != Some(&*change.after)) {
            let is_inside = folders.iter().any(|folder| change.path.starts_with(folder));
            if !is_inside || text(files, &change.path).ok()? != change.before {
                return None;
            }
            let uri = uri_of(&change.path)?;
            if change.before.is_none() {
                let options = Some(CreateFileOptions { overwrite: Some(false), ignore_if_exists: Some(false) });
                let new = CreateFile { uri: uri.clone(), options, annotation_id: None };
                operations.push(DocumentChangeOperation::Op(ResourceOp::Create(new)));
            }
            let version = texts.file(&uri).map(|open| open.version);
            let text_document = OptionalVersionedTextDocumentIdentifier { uri, version };
            let edits =
                vec![OneOf::Left(replaced(texts.units, change.before.as_deref().unwrap_or_default(), &change.after))];
            operations.push(DocumentChangeOperation::Edit(TextDocumentEdit { text_document, edits }));
        }
        let changes = Some(DocumentChanges::Operations(operations));
        Some(WorkspaceEdit { document_changes: changes, ..WorkspaceEdit::default() })
    }
}

/// The edit that makes a text of another one. Lines that both begin or end with stay.
fn replaced(units: Units, before: &str, after: &str) -> TextEdit {
    let is_same = |(a, b): &(&str, &str)| a == b;
    let lines = || before.split_inclusive('\n').zip(after.split_inclusive('\n'));
    let start: usize = lines().take_while(is_same).map(|(line, _)| line.len()).sum();
    let ends = before[start..].split_inclusive('\n').rev().zip(after[start..].split_inclusive('\n').rev());
    let end: usize = ends.take_while(is_same).map(|(line, _)| line.len()).sum();
    let position = |offset| units.position(before, offset);
    let range = Range::new(position(start), position(before.len() - end));
    TextEdit { range, new_text: after[start..after.len() - end].to_owned() }
}
