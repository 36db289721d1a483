//! The language server: what an editor asks while kustomizations are written.
//!
//! * [`Server`]: reads the editor's messages in order and answers them.
//! * [`texts`]: the texts of open files, and places in the protocol's form.
//! * [`check`]: builds what a change can affect, on a thread of its own, and sends the faults.
//! * [`cursor`]: which field of a YAML text a place is in, also while the text cannot be read.
//! * [`fields`]: fields, words and file names to complete; the documentation of a field.
//! * [`links`]: the files, bases and resources that a place names; the new names of files.
//!
//! Plugins and helm run only if the program that starts the server allows them: an editor builds
//! on every keystroke, in directories that the user may only have opened to read.

mod check;
mod cursor;
mod fields;
mod links;
mod texts;

use crate::diag::Error;
use crate::load::{Disk, Memory, Overlay};
use crate::stage::Options;
use check::{Checker, Request as Check};
use lsp_server::{Connection, ErrorCode, Message, Notification, RequestId, Response};
use lsp_types::notification::{self as note, Notification as _};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    CompletionOptions, CompletionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, FileOperationFilter, FileOperationPattern, FileOperationRegistrationOptions,
    GotoDefinitionParams, HoverParams, HoverProviderCapability, InitializeParams, OneOf, PositionEncodingKind,
    RenameFilesParams, RenameParams, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind,
    WorkspaceFileOperationsServerCapabilities, WorkspaceServerCapabilities,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use texts::{Texts, Units};

/// Files of the disk, under the texts of the editor.
type Files = Overlay<Disk>;

/// The fault of a request, for the editor.
type Fault = (ErrorCode, String);

/// Speaks the protocol until the editor ends it. `options` gives the options for building the root
/// in a directory.
///
/// # Errors
/// A message is not one of the protocol, or the editor ends without a shutdown.
pub fn serve(
    connection: &Connection,
    options: impl Fn(&str) -> Result<Options, Error> + Send + 'static,
) -> Result<(), String> {
    let (id, params) = connection.initialize_start().map_err(|e| e.to_string())?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|e| format!("initialize: {e}"))?;
    let units = units(&params);
    let answer = json!({
        "capabilities": capabilities(units),
        "serverInfo": {"name": "rustomize", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, answer).map_err(|e| e.to_string())?;
    let folders = folders(&params);
    let editor = connection.sender.clone();
    // An editor that is gone reads no message.
    let send = move |message| drop(editor.send(message));
    let checker = Checker::start(folders.clone(), units, send, options);
    Server { connection, checker, folders, texts: Texts::new(units) }.run()
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
        true => root.and_then(texts::path_of).or(path.map(PathBuf::from)).into_iter().collect(),
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
struct Server<'c> {
    connection: &'c Connection,
    checker: Checker,
    folders: Vec<PathBuf>,
    texts: Texts,
}

impl Server<'_> {
    fn run(mut self) -> Result<(), String> {
        for message in &self.connection.receiver {
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request).map_err(|e| e.to_string())? {
                        return Ok(());
                    }
                    self.answer(request.id, &request.method, request.params);
                }
                Message::Notification(notification) if notification.method == note::Exit::METHOD => {
                    return Err("the editor ended without a shutdown".to_owned());
                }
                Message::Notification(notification) => self.note(notification),
                // The server asks the editor nothing.
                Message::Response(_) => {}
            }
        }
        Err("the editor closed the connection without a shutdown".to_owned())
    }

    /// Answers a request, each in the order in which they come.
    fn answer(&self, id: RequestId, method: &str, params: Value) {
        let result = match method {
            ask::Completion::METHOD => with(params, |p: CompletionParams| {
                let at = p.text_document_position;
                Ok(fields::complete(&self.texts, &self.files(), &self.checker.known(), &at))
            }),
            ask::HoverRequest::METHOD => with(params, |p: HoverParams| {
                Ok(fields::hover(&self.texts, &self.files(), &p.text_document_position_params))
            }),
            ask::GotoDefinition::METHOD => with(params, |p: GotoDefinitionParams| {
                let at = p.text_document_position_params;
                Ok(links::definitions(&self.texts, &self.files(), &self.checker.known(), &at))
            }),
            ask::Rename::METHOD => with(params, |p: RenameParams| {
                let at = p.text_document_position;
                links::rename(&self.texts, &self.files(), &self.folders, &at, &p.new_name)
                    .map_err(|message| (ErrorCode::RequestFailed, message))
            }),
            ask::WillRenameFiles::METHOD => with(params, |p: RenameFilesParams| {
                Ok(links::renamed(&self.texts, &self.files(), &self.folders, &p.files))
            }),
            _ => Err((ErrorCode::MethodNotFound, format!("'{method}' is not known"))),
        };
        let response = match result {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        // An editor that is gone reads no answer.
        let _ = self.connection.sender.send(Message::Response(response));
    }

    /// Takes a notification. A notification about a file that is not open, or with other parameters
    /// than the protocol's, changes nothing: the protocol lacks an answer for it.
    fn note(&mut self, Notification { method, params }: Notification) {
        let changed = match method.as_str() {
            note::DidOpenTextDocument::METHOD => serde_json::from_value(params)
                .ok()
                .is_some_and(|DidOpenTextDocumentParams { text_document }| self.texts.open(text_document)),
            note::DidChangeTextDocument::METHOD => serde_json::from_value(params).ok().is_some_and(
                |DidChangeTextDocumentParams { text_document, content_changes }| {
                    self.texts.change(&text_document.uri, text_document.version, content_changes)
                },
            ),
            note::DidCloseTextDocument::METHOD => serde_json::from_value(params)
                .ok()
                .is_some_and(|DidCloseTextDocumentParams { text_document }| self.texts.close(&text_document.uri)),
            note::DidSaveTextDocument::METHOD | note::DidChangeWatchedFiles::METHOD => true,
            _ => false,
        };
        if changed {
            self.checker.check(Check { texts: self.texts.contents() });
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
    params: Value,
    answer: impl FnOnce(P) -> Result<R, Fault>,
) -> Result<Value, Fault> {
    let params = serde_json::from_value(params).map_err(|e| (ErrorCode::InvalidParams, e.to_string()))?;
    let answer = answer(params)?;
    serde_json::to_value(answer).map_err(|e| (ErrorCode::InternalError, e.to_string()))
}

/// The texts of open files, by path, shared with the thread that builds.
type Contents = Vec<(PathBuf, Arc<str>)>;
