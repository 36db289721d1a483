//! The language server: answers an editor in which a user writes kustomizations.
//!
//! * [`Server`]: reads the editor's messages in order and answers them.
//! * [`message`]: messages on a stream, with limits.
//! * [`texts`]: the texts of open files, and places in the protocol's form.
//! * [`check`]: builds the roots that a change can affect, on a thread of its own, and sends the
//!   faults.
//! * [`fixes`]: the changes that mend the faults; [`reference_fixes`]: those of several files.
//! * [`cursor`]: the field of a YAML text that a place is in, also while the text is not valid
//!   YAML.
//! * [`completion`]: names, words, files and resources to complete. [`paths`]: paths of fields to
//!   complete.
//! * [`fields`]: the fields of kustomizations and their documentation.
//! * [`links`]: the files, bases and resources that a place names.
//! * [`references`]: the entries that name a file or a resource; [`renames`]: new names of files.
//!
//! Plugins and helm run only if the program that starts the server allows them: an editor builds
//! on every keystroke, in directories that the user may only have opened to read.

mod check;
mod completion;
mod cursor;
mod fields;
mod fixes;
mod links;
mod message;
mod paths;
mod reference_fixes;
mod references;
mod renames;
mod texts;

// The modules of this crate name those of the engine by their own paths.
use rustomize_engine::{config, diag, load, pipeline, resource, schema, stage, transformer, workspace};

use crate::diag::Error;
use crate::load::{Memory, Overlay};
use crate::stage::Options;
use check::{CheckRequest, Checker};
use lsp_server::{ErrorCode, Notification, RequestId, Response};
use lsp_types::notification::{self as note, Notification as _};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability, CompletionOptions,
    CompletionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    FileOperationFilter, FileOperationPattern, FileOperationRegistrationOptions, GotoDefinitionParams, HoverParams,
    HoverProviderCapability, InitializeParams, MessageType, OneOf, PositionEncodingKind, ReferenceParams,
    RenameFilesParams, RenameParams, ServerCapabilities, ShowMessageParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, WorkspaceFileOperationsServerCapabilities, WorkspaceServerCapabilities,
};
use message::{Editor, Incoming, Received};
use rustomize_engine::check::Known as Kubernetes;
use rustomize_sources::Disk;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;
use texts::{Texts, Units};

/// Files of the disk, under the texts of the editor.
type Files = Overlay<Disk>;

/// The fault of a request, for the editor.
type Fault = (ErrorCode, String);

/// The largest number of files that one request may rename: an editor renames a directory as one.
const MAX_RENAMES: usize = 1_000;

/// At most this many directories are searched for kustomizations. An editor may have opened the
/// directory of the whole system: then only the kustomizations around the open files are checked.
const MAX_DIRECTORIES: usize = 20_000;

/// Speaks the protocol until the editor ends it. `options` gives the options for building the root
/// in a directory. Resources are held to `schemas`, if there are some. A build that runs at the end
/// goes on, on its own thread.
///
/// # Errors
/// The stream has no frames of messages, or the editor ends without a shutdown.
pub fn serve(
    mut input: impl BufRead,
    output: impl Write + Send + 'static,
    schemas: Option<Kubernetes>,
    options: impl Fn(&str) -> Result<Options, Error> + Send + 'static,
) -> Result<(), String> {
    let editor = Editor::new(output);
    let Some(params) = initialized(&mut input, &editor)? else {
        return Err("the editor ended before 'initialize'".to_owned());
    };
    let units = units(&params);
    let folders = folders(&params);
    let to_editor = editor.clone();
    let send = move |message| to_editor.send(&message);
    let checker =
        Checker::start(folders.clone(), units, schemas, send, options).map_err(|e| format!("no thread starts: {e}"))?;
    Server { editor, checker, folders, texts: Texts::new(units), has_shut_down: false }.run(&mut input)
}

/// Answers messages until `initialize` comes, and returns its parameters; `None` if the editor
/// ends.
fn initialized<W: Write>(input: &mut impl BufRead, editor: &Editor<W>) -> Result<Option<InitializeParams>, String> {
    loop {
        let call = match message::read(input).map_err(|e| e.to_string())? {
            Received::Call(call) => call,
            Received::Answer => continue,
            Received::Refused(code, why) => {
                editor.refuse(code, &why);
                continue;
            }
            Received::End => return Ok(None),
        };
        let Some(id) = call.id.clone() else {
            if call.method == note::Exit::METHOD {
                return Ok(None);
            }
            continue;
        };
        let params = match call.method == ask::Initialize::METHOD {
            true => call.params().map_err(|e| (ErrorCode::InvalidParams, e.to_string())),
            false => Err((ErrorCode::ServerNotInitialized, "'initialize' comes first".to_owned())),
        };
        match params {
            Ok(params) => {
                let answer = json!({
                    "capabilities": capabilities(units(&params)),
                    "serverInfo": {"name": "rustomize", "version": env!("CARGO_PKG_VERSION")},
                });
                editor.send(&Response::new_ok(id, answer).into());
                return Ok(Some(params));
            }
            Err((code, message)) => editor.send(&Response::new_err(id, code as i32, message).into()),
        }
    }
}

/// The unit of columns: bytes if the editor can count them, else UTF-16 as every editor can.
fn units(params: &InitializeParams) -> Units {
    let known = params.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
    let has_bytes = known.is_some_and(|known| known.contains(&PositionEncodingKind::UTF8));
    if has_bytes { Units::Utf8 } else { Units::Utf16 }
}

/// The directories that the editor has open.
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    #[expect(deprecated, reason = "older editors send the root in one of these alone")]
    let (root, path) = (params.root_uri.as_ref(), params.root_path.as_ref());
    let folders = params.workspace_folders.iter().flatten().filter_map(|folder| texts::path_of(&folder.uri));
    let folders: Vec<PathBuf> = folders.collect();
    match folders.is_empty() {
        true => root.and_then(texts::path_of).or_else(|| texts::path(path?)).into_iter().collect(),
        false => folders,
    }
}

fn capabilities(units: Units) -> ServerCapabilities {
    let renamed = FileOperationRegistrationOptions {
        filters: vec![FileOperationFilter {
            scheme: Some("file".to_owned()),
            pattern: FileOperationPattern { glob: "**/*".to_owned(), ..FileOperationPattern::default() },
        }],
    };
    ServerCapabilities {
        position_encoding: Some(units.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([" ", "/", "-"].map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        rename_provider: Some(OneOf::Left(true)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: None,
            file_operations: Some(WorkspaceFileOperationsServerCapabilities {
                will_rename: Some(renamed),
                ..WorkspaceFileOperationsServerCapabilities::default()
            }),
        }),
        ..ServerCapabilities::default()
    }
}

/// One session with an editor.
struct Server<W> {
    editor: Editor<W>,
    checker: Checker,
    folders: Vec<PathBuf>,
    texts: Texts,
    has_shut_down: bool,
}

impl<W: Write> Server<W> {
    fn run(mut self, input: &mut impl BufRead) -> Result<(), String> {
        loop {
            match message::read(input).map_err(|e| e.to_string())? {
                Received::Call(call) => match call.id.clone() {
                    Some(id) => self.answer(id, &call),
                    None if call.method == note::Exit::METHOD => break,
                    None => self.note(&call),
                },
                // The server asks the editor nothing.
                Received::Answer => {}
                Received::Refused(code, why) => self.editor.refuse(code, &why),
                Received::End => break,
            }
        }
        match self.has_shut_down {
            true => Ok(()),
            false => Err("the editor ended without a shutdown".to_owned()),
        }
    }

    /// Answers a request. Requests are answered in the order in which they arrive.
    fn answer(&mut self, id: RequestId, call: &Incoming) {
        let result = match call.method.as_str() {
            _ if self.has_shut_down => Err((ErrorCode::InvalidRequest, "the server has shut down".to_owned())),
            ask::Shutdown::METHOD => {
                self.has_shut_down = true;
                Ok(Value::Null)
            }
            ask::Initialize::METHOD => Err((ErrorCode::InvalidRequest, "'initialize' comes once".to_owned())),
            ask::Completion::METHOD => with(call, |p: CompletionParams| {
                let at = p.text_document_position;
                Ok(completion::complete(&self.texts, &self.files(), &self.checker.known(), &at))
            }),
            ask::HoverRequest::METHOD => with(call, |p: HoverParams| {
                Ok(fields::hover(&self.texts, &self.files(), &p.text_document_position_params))
            }),
            ask::GotoDefinition::METHOD => with(call, |p: GotoDefinitionParams| {
                let at = p.text_document_position_params;
                Ok(links::definitions(&self.texts, &self.files(), &self.checker.known(), &at))
            }),
            ask::References::METHOD => with(call, |p: ReferenceParams| {
                Ok(references::references(&self.texts, &self.files(), &self.folders, &self.checker.known(), &p))
            }),
            ask::CodeActionRequest::METHOD => with(call, |p: CodeActionParams| {
                Ok(self.checker.fixes().actions(&self.texts, &self.files(), &self.folders, &p))
            }),
            ask::Rename::METHOD => with(call, |p: RenameParams| {
                let at = p.text_document_position;
                renames::rename(&self.texts, &self.files(), &self.folders, &at, &p.new_name)
                    .map_err(|message| (ErrorCode::RequestFailed, message))
            }),
            ask::WillRenameFiles::METHOD => with(call, |p: RenameFilesParams| match p.files.len() > MAX_RENAMES {
                true => Err((ErrorCode::InvalidParams, format!("more than {MAX_RENAMES} files are renamed"))),
                false => Ok(renames::renamed(&self.texts, &self.files(), &self.folders, &p.files)),
            }),
            method => Err((ErrorCode::MethodNotFound, format!("'{method}' is not known"))),
        };
        let response = match result {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        self.editor.send(&response.into());
    }

    /// Takes a notification. A notification about a file that is not open, or with other parameters
    /// than the protocol's, changes nothing: the protocol has no answer to a notification.
    fn note(&mut self, call: &Incoming) {
        let changed = match call.method.as_str() {
            note::DidOpenTextDocument::METHOD => {
                let params = call.params().ok();
                params.map(|DidOpenTextDocumentParams { text_document }| self.texts.open(text_document))
            }
            note::DidChangeTextDocument::METHOD => {
                let params = call.params().ok();
                params.map(|DidChangeTextDocumentParams { text_document, content_changes }| {
                    self.texts.change(&text_document.uri, text_document.version, content_changes)
                })
            }
            note::DidCloseTextDocument::METHOD => {
                let params = call.params().ok();
                params.map(|DidCloseTextDocumentParams { text_document }| Ok(self.texts.close(&text_document.uri)))
            }
            note::DidSaveTextDocument::METHOD | note::DidChangeWatchedFiles::METHOD => Some(Ok(true)),
            _ => None,
        };
        match changed {
            Some(Ok(true)) => self.checker.check(CheckRequest { texts: self.texts.contents() }),
            Some(Err(why)) => {
                self.checker.check(CheckRequest { texts: self.texts.contents() });
                let params = ShowMessageParams { typ: MessageType::WARNING, message: why };
                self.editor.send(&Notification::new(note::ShowMessage::METHOD.to_owned(), params).into());
            }
            Some(Ok(false)) | None => {}
        }
    }

    /// The files as the editor has them.
    fn files(&self) -> Files {
        let above: Memory = self.texts.contents().iter().map(|(path, text)| (path, text.as_bytes())).collect();
        Overlay::new(Disk::new(), above)
    }
}

/// The answer to a request with parameters of a type.
fn with<P: DeserializeOwned, R: Serialize>(
    call: &Incoming,
    answer: impl FnOnce(P) -> Result<R, Fault>,
) -> Result<Value, Fault> {
    let params = call.params().map_err(|e| (ErrorCode::InvalidParams, e.to_string()))?;
    let answer = answer(params)?;
    serde_json::to_value(answer).map_err(|e| (ErrorCode::InternalError, e.to_string()))
}

/// The texts of open files, by path, shared with the thread that builds.
type Contents = Vec<(PathBuf, Arc<str>)>;
