//! [`Fixes`]: the changes that mend faults, as code actions: those of `lint --fix`, and the words
//! that were meant by mistyped ones. Changes of several files are in [`super::reference_fixes`].
//!
//! A change is found with its fault, and belongs to the text in which the fault was found: another
//! text has no code actions until it is checked.

use super::reference_fixes::{self, OldReference, ReferenceFix};
use super::texts::{Texts, Units, uri_of};
use super::{Contents, Files};
use crate::diag::{Diagnostic, Mend, nearest};
use lsp_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionParams, Diagnostic as Shown, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Position, Range, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use rustomize_base::shown;
use rustomize_yaml::Place;
use rustomize_yaml::scalar::on_one_line;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The changes that mend the faults of the open files.
#[derive(Default)]
pub(crate) struct Fixes {
    of_files: BTreeMap<PathBuf, FixesOfFile>,
    of_references: Vec<ReferenceFix>,
}

/// The changes of a file, and the text in which its faults were found.
struct FixesOfFile {
    text: Arc<str>,
    fixes: Vec<Fix>,
}

/// The change that mends a fault.
struct Fix {
    fault: Shown,
    /// The place of the change, counted from 1.
    line: usize,
    column: usize,
    title: String,
    change: Change,
}

/// The change at a place of a text.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// `old` becomes `new`, as in `lint --fix`.
    Sure { old: String, new: String },
    /// The key or value `typed` becomes `meant`.
    Word { typed: String, meant: String },
}

impl Fixes {
    /// Creates an empty list for the texts of the open files.
    pub(crate) fn of(texts: &Contents) -> Fixes {
        let empty = |text: &Arc<str>| FixesOfFile { text: Arc::clone(text), fixes: Vec::new() };
        let of_files = texts.iter().map(|(path, text)| (path.clone(), empty(text))).collect();
        Fixes { of_files, of_references: Vec::new() }
    }

    /// Adds the changes that mend a fault, if its file is open.
    pub(crate) fn add(&mut self, fault: &Diagnostic, as_shown: &Shown) {
        let Some(Place { file, line, column }) = fault.place() else { return };
        let Some(of_file) = self.of_files.get_mut(Path::new(file)) else { return };
        of_file.fixes.extend(changes(fault).into_iter().map(|change| Fix {
            fault: as_shown.clone(),
            line: *line,
            column: *column,
            title: title(fault, &change),
            change,
        }));
    }

    /// Adds the changes that mend references, of which some are in open files.
    pub(crate) fn add_references(&mut self, fixes: Vec<ReferenceFix>) {
        self.of_references = fixes;
    }

    /// Returns true for a file whose faults have code actions.
    pub(crate) fn has(&self, file: &Path) -> bool {
        self.of_files.contains_key(file)
    }

    /// The code actions for a part of an open file. There is none for a file outside of the open
    /// directories, nor for a text that has changed since its faults were found. O(text + faults
    /// of the file).
    pub(crate) fn actions(
        &self,
        texts: &Texts,
        files: &Files,
        folders: &[PathBuf],
        params: &CodeActionParams,
    ) -> Vec<CodeAction> {
        let Some(open) = texts.file(&params.text_document.uri) else { return Vec::new() };
        let Some(of_file) = self.of_files.get(&open.path).filter(|of_file| of_file.text == open.text) else {
            return Vec::new();
        };
        let is_inside = folders.iter().any(|folder| open.path.starts_with(folder));
        if !is_inside || !wants_fixes(&params.context) {
            return Vec::new();
        }
        let here = |fault: &Shown| touches(fault.range, params.range);
        let of_references = self.of_references.iter().filter_map(|fix| {
            let faults = fix.faults.iter().filter(|(file, fault)| *file == open.path && here(fault));
            let faults: Vec<Shown> = faults.map(|(_, fault)| fault.clone()).collect();
            if faults.is_empty() {
                return None;
            }
            let edit = fix.edit(texts, files, folders)?;
            Some(action(reference_fixes::TITLE.to_owned(), faults, edit, true))
        });
        let of_references: Vec<CodeAction> = of_references.collect();
        if of_file.fixes.is_empty() {
            return of_references;
        }
        let Some(uri) = uri_of(&open.path) else { return Vec::new() };
        let text_document = OptionalVersionedTextDocumentIdentifier { uri, version: Some(open.version) };
        let lines: Vec<&str> = open.text.split('\n').collect();
        let of_fix = |fix: &Fix| {
            let edit = fix.edit(&lines, texts.units);
            let edit = edit.filter(|edit| here(&fix.fault) || touches(edit.range, params.range))?;
            let edit = TextDocumentEdit { text_document: text_document.clone(), edits: vec![OneOf::Left(edit)] };
            let changes = Some(DocumentChanges::Edits(vec![edit]));
            let edit = WorkspaceEdit { document_changes: changes, ..WorkspaceEdit::default() };
            let is_sure = matches!(fix.change, Change::Sure { .. });
            Some(action(fix.title.clone(), vec![fix.fault.clone()], edit, is_sure))
        };
        of_file.fixes.iter().filter_map(of_fix).chain(of_references).collect()
    }
}

/// The code action that mends faults.
fn action(title: String, faults: Vec<Shown>, edit: WorkspaceEdit, is_sure: bool) -> CodeAction {
    CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(faults),
        edit: Some(edit),
        is_preferred: is_sure.then_some(true),
        ..CodeAction::default()
    }
}

/// Returns true if two parts of a text touch.
fn touches(one: Range, other: Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// The reference to a renamed resource that a finding is about.
pub(crate) fn old_reference(fault: &Diagnostic, as_shown: &Shown) -> Option<OldReference> {
    let Some(Mend::NameReference(entry)) = fault.mend() else { return None };
    let file = PathBuf::from(&fault.place()?.file);
    Some(OldReference { file, fault: as_shown.clone(), entry: entry.clone() })
}

/// Returns true if the editor asks for changes that mend faults.
fn wants_fixes(context: &CodeActionContext) -> bool {
    let is_wanted = |kind: &CodeActionKind| *kind == CodeActionKind::EMPTY || *kind == CodeActionKind::QUICKFIX;
    context.only.as_ref().is_none_or(|only| only.iter().any(is_wanted))
}

impl Fix {
    /// The edit of a text with these lines; `None` if the text to replace is not at the place.
    /// O(line).
    fn edit(&self, lines: &[&str], units: Units) -> Option<TextEdit> {
        let line = *lines.get(self.line.checked_sub(1)?)?;
        let (start, _) = line.char_indices().nth(self.column.checked_sub(1)?)?;
        let (start, old, new) = match &self.change {
            Change::Sure { old, new } => (start, old, new.clone()),
            Change::Word { typed, meant } => {
                let quote = line[start..].chars().next().filter(|c| matches!(c, '"' | '\''));
                let start = start + quote.map_or(0, char::len_utf8);
                let behind = line[start..].strip_prefix(typed.as_str())?;
                (start, typed, ends_word(behind, quote).then(|| as_written(meant, quote))??)
            }
        };
        let end = line[start..].starts_with(old.as_str()).then_some(start + old.len())?;
        let number = u32::try_from(self.line - 1).ok()?;
        let position = |offset: usize| Position::new(number, units.length(&line[..offset]));
        Some(TextEdit { range: Range::new(position(start), position(end)), new_text: new })
    }
}

/// Returns true if a key or value ends before the rest of a line.
fn ends_word(behind: &str, quote: Option<char>) -> bool {
    if let Some(quote) = quote {
        return behind.starts_with(quote);
    }
    let rest = behind.trim_start();
    let is_end =
        rest.is_empty() || rest.starts_with([',', ']', '}']) || rest.len() < behind.len() && rest.starts_with('#');
    is_end || behind.strip_prefix(':').is_some_and(|value| value.trim_start().len() < value.len() || value.is_empty())
}

/// A word as a key or value of one line, between quotes that exist, or with quotes of its own where
/// it needs them; `None` for a word with control characters.
pub(crate) fn as_written(word: &str, quote: Option<char>) -> Option<String> {
    match quote {
        Some('"') => Some(word.replace('\\', r"\\").replace('"', "\\\"")),
        Some(_) => Some(word.replace('\'', "''")),
        None => Some(on_one_line(word).into_owned()),
    }
    .filter(|_| !word.contains(char::is_control))
}

/// The changes that mend a fault: the sure one, else one for each word that may be meant.
fn changes(fault: &Diagnostic) -> Vec<Change> {
    match fault.mend() {
        Some(Mend::Text { old, new }) => return vec![Change::Sure { old: old.clone(), new: new.clone() }],
        // A change of other files: see `ReferenceFix`.
        Some(Mend::NameReference(_)) => return Vec::new(),
        None => {}
    }
    let words = fault.hints().iter().flat_map(|hint| suggested(hint));
    let change = |meant: &str| {
        // The message quotes several words; the mistyped one resembles the one that is meant.
        let typed = quoted(fault.message()).find(|typed| *typed != meant && nearest(typed, [meant]).is_some())?;
        Some(Change::Word { typed: typed.to_owned(), meant: meant.to_owned() })
    };
    words.filter_map(change).collect()
}

/// The words that a hint suggests: those of "did you mean 'a'?" and "did you mean 'a' or 'b'?".
fn suggested(hint: &str) -> Vec<&str> {
    let words = hint.strip_prefix("did you mean ").and_then(|rest| rest.strip_suffix('?'));
    let words = words.map(|words| words.strip_prefix("the kind ").unwrap_or(words));
    let each = words.into_iter().flat_map(|words| words.split(" or "));
    let bare = each.map(|word| word.strip_prefix('\'')?.strip_suffix('\'').filter(|word| !word.contains('\'')));
    bare.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The texts between two quotes of a message. An apostrophe is a quote, too, so that the text
/// between any two that follow each other counts. Of a path of fields, the last name
/// is such a text, too.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    let between = |quote: char| {
        let parts: Vec<&str> = message.split(quote).collect();
        let inner = 1..parts.len().max(2) - 1;
        parts[inner].to_vec()
    };
    let texts = between('\'').into_iter().chain(between('"')).filter(|text| !text.is_empty());
    texts.flat_map(|text| [text, text.rsplit('.').next().unwrap_or(text)])
}

/// The title of a change. Its words are shown only if the message of the fault has them, too: the
/// text that changes may be a secret.
fn title(fault: &Diagnostic, change: &Change) -> String {
    let replace = |old: &str, new: &str| format!("Replace '{old}' with '{new}'");
    let title = match change {
        Change::Word { typed, meant } => replace(typed, meant),
        Change::Sure { old, new } if quoted(fault.message()).any(|text| text == old) => replace(old, new),
        Change::Sure { .. } => format!("Mend {}", fault.code().as_str()),
    };
    shown::lines(&shown::masked(&title)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, Warning};
    use crate::load::Memory;
    use lsp_types::{TextDocumentIdentifier, TextDocumentItem};
    use rustomize_sources::Disk;

    const FILE: &str = "/w/a.yaml";

    /// The actions at a finding on line 1, as `title: edited line`.
    #[track_caller]
    fn check(line: &str, column: usize, finding: Warning, want: &[&str]) {
        let place = Place { file: FILE.into(), line: 1, column };
        let found = actions(line, line, &finding.at(Some(place)), "/w");
        assert_eq!(found, want, "{line}");
    }

    /// The actions of a finding that a check of one text has found, in another text.
    fn actions(checked: &str, now: &str, finding: &Warning, folder: &str) -> Vec<String> {
        let mut texts = Texts::new(Units::Utf8);
        let uri: lsp_types::Uri = format!("file://{FILE}").parse().unwrap();
        texts.open(TextDocumentItem::new(uri.clone(), "yaml".to_owned(), 4, now.to_owned())).unwrap();
        let mut fixes = Fixes::of(&vec![(FILE.into(), checked.into())]);
        fixes.add(finding, &Shown::default());
        let params = CodeActionParams {
            text_document: TextDocumentIdentifier::new(uri),
            range: Range::new(Position::new(0, 0), Position::new(9, 0)),
            context: CodeActionContext::default(),
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
        };
        let shown = |action: CodeAction| {
            let Some(DocumentChanges::Edits(edits)) = action.edit.unwrap().document_changes else { panic!() };
            let OneOf::Left(edit) = edits[0].edits[0].clone() else { panic!() };
            let mut line = now.to_owned();
            let (start, end) = (edit.range.start.character as usize, edit.range.end.character as usize);
            line.replace_range(start..end, &edit.new_text);
            format!("{}: {line}", action.title)
        };
        let files = Files::new(Disk::new(), Memory::new());
        fixes.actions(&texts, &files, &[folder.into()], &params).into_iter().map(shown).collect()
    }

    fn warning(message: &str, hint: &str) -> Warning {
        Warning::new(Code::NoEffect, message).hint(hint)
    }

    #[test]
    fn a_word_is_replaced_as_it_is_written() {
        let name = || warning("no image has the name 'ngnx'", "did you mean 'nginx'?");
        let titled = |line: &str| format!("Replace 'ngnx' with 'nginx': {line}");
        check("- name: ngnx # x", 9, name(), &[&titled("- name: nginx # x")]);
        check("- ß: \"ngnx\"", 6, name(), &[&titled("- ß: \"nginx\"")]);
        check("ngnx: 1", 1, name(), &[&titled("nginx: 1")]);
        check("ngnx:", 1, name(), &[&titled("nginx:")]);
        check("[ngnx, b]", 2, name(), &[&titled("[nginx, b]")]);
        // The place has another text, a longer word, or an escape.
        for (line, column) in [("- name: ngnx", 3), ("ngnxs", 1), ("ngnx b", 1), ("'ngnx b'", 1), ("\"ngnx\\n\"", 1)] {
            check(line, column, name(), &[]);
        }
        let version = warning("no name '1.19'", "did you mean '1.10'?");
        check("a: 1.19", 4, version, &["Replace '1.19' with '1.10': a: '1.10'"]);
        let path = warning("'../bse' does not exist", "did you mean '../base'?");
        check("- ../bse", 3, path, &["Replace '../bse' with '../base': - ../base"]);
    }

    #[test]
    fn only_words_that_are_suggested_are_offered() {
        let hints = |hint: &str| warning("unknown kind 'Depoyment' of the name 'web'", hint);
        let fixed = "Replace 'Depoyment' with 'Deployment': kind: Deployment";
        check("kind: Depoyment", 7, hints("did you mean 'Deployment'?"), &[fixed]);
        check("kind: Depoyment", 7, hints("did you mean the kind 'Deployment'?"), &[fixed]);
        check("kind: Depoyment", 7, hints("did you mean 'Deployment' or 'web'?"), &[fixed]);
        for hint in
            ["write 'Deployment'", "did you mean 'Deployment' by 'x'?", "did you mean 'Service'?", "did you mean ?"]
        {
            check("kind: Depoyment", 7, hints(hint), &[]);
        }
        let apostrophe = warning("Kubernetes' tables have no kind 'Depoyment'", "did you mean 'Deployment'?");
        check("kind: Depoyment", 7, apostrophe, &[fixed]);
        let path = warning("unknown field 'spec.portss' of Service", "did you mean 'ports'?");
        check("portss:", 1, path, &["Replace 'portss' with 'ports': ports:"]);
        // The place is that of the name, and the hint is about the kind.
        check("name: web", 7, hints("did you mean 'Deployment'?"), &[]);
    }

    #[test]
    fn a_sure_change_shows_no_value_that_its_message_hides() {
        let finding =
            || Warning::new(Code::EnvSyntax, "the value has quotes").mended(Mend::text("\"hunter2\"", "hunter2"));
        check("A=\"hunter2\"", 3, finding(), &["Mend env-syntax: A=hunter2"]);
        check("A=\"hunter3\"", 3, finding(), &[]);
    }

    #[test]
    fn another_text_or_directory_has_no_change() {
        let place = Place { file: FILE.into(), line: 1, column: 1 };
        let finding = Warning::new(Code::KindCase, "").at(Some(place)).mended(Mend::text("a", "b"));
        assert_eq!(actions("a", "a", &finding, "/w"), ["Mend kind-case: b"]);
        assert_eq!(actions("a", "a\n", &finding, "/w"), Vec::<String>::new());
        assert_eq!(actions("a", "a", &finding, "/w/b"), Vec::<String>::new());
    }
}
