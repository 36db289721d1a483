//! The language server, driven by a client of another library over stdin and stdout; and by bytes
//! that are not messages.

use crate::support::{Tree, is_under_wine};
use async_lsp::lsp_types::notification::PublishDiagnostics;
use async_lsp::lsp_types::{
    CodeActionContext, CodeActionKind, CodeActionOrCommand, CodeActionParams, CompletionItem, CompletionParams,
    CompletionResponse, CompletionTextEdit, Diagnostic, DiagnosticSeverity, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentChangeOperation, DocumentChanges, FileRename,
    GotoDefinitionParams, GotoDefinitionResponse, HoverContents, HoverParams, InitializeParams, InitializedParams,
    Location, NumberOrString, OneOf, Position, Range, ReferenceContext, ReferenceParams, RenameFilesParams,
    RenameParams, ResourceOp, TextDocumentContentChangeEvent, TextDocumentIdentifier, TextDocumentItem,
    TextDocumentPositionParams, Url, VersionedTextDocumentIdentifier, WorkspaceEdit, WorkspaceFolder,
};
use async_lsp::router::Router;
use async_lsp::{LanguageServer, MainLoop, ServerSocket};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

/// The faults that the server has sent last, for each file.
type Faults = BTreeMap<Url, Vec<Diagnostic>>;

/// The time limit of a server in a test. No passing test reaches it.
const LIMIT: Duration = Duration::from_secs(60);

struct Editor {
    tree: Tree,
    server: ServerSocket,
    faults: watch::Receiver<Faults>,
    versions: BTreeMap<String, i32>,
    ended: JoinHandle<()>,
    child: tokio::process::Child,
}

/// The drive of this machine's files in URIs.
fn drive() -> &'static str {
    if is_under_wine() { "/Z:" } else { "" }
}

/// The URI of a file, as an editor beside the server names it.
fn uri_of(path: &Path) -> Url {
    let mut uri = Url::from_file_path(path).unwrap();
    uri.set_path(&format!("{}{}", drive(), uri.path()));
    uri
}

impl Editor {
    async fn start(txtar: &str, flags: &[&str]) -> Editor {
        let tree = Tree::new(txtar);
        let (sent, faults) = watch::channel(Faults::new());
        let (mainloop, mut server) = MainLoop::new_client(|_| {
            let mut router = Router::new(sent);
            router.notification::<PublishDiagnostics>(|sent, params| {
                sent.send_modify(|faults| drop(faults.insert(params.uri, params.diagnostics)));
                ControlFlow::Continue(())
            });
            router
        });
        let mut command = tokio::process::Command::from(tree.command(&[&["lsp"], flags].concat()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let (output, input) = (child.stdout.take().unwrap().compat(), child.stdin.take().unwrap().compat_write());
        let ended = tokio::spawn(async move { drop(mainloop.run_buffered(output, input).await) });
        let root = uri_of(&tree.path());
        let folders = Some(vec![WorkspaceFolder { uri: root, name: "tree".to_owned() }]);
        let params = InitializeParams { workspace_folders: folders, ..InitializeParams::default() };
        let answer = server.initialize(params).await.unwrap();
        assert_eq!(answer.server_info.unwrap().name, "rustomize");
        server.initialized(InitializedParams {}).unwrap();
        Editor { tree, server, faults, versions: BTreeMap::new(), ended, child }
    }

    fn uri(&self, file: &str) -> Url {
        uri_of(&self.tree.path().canonicalize().unwrap().join(file))
    }

    /// The URI of the tree as a directory.
    fn root(&self) -> Url {
        let mut root = self.uri("");
        root.path_segments_mut().unwrap().push("");
        root
    }

    /// Opens a file of the tree, with another text than that of the disk.
    fn open(&mut self, file: &str, text: &str) {
        self.versions.insert(file.to_owned(), 1);
        let text_document = TextDocumentItem::new(self.uri(file), "yaml".to_owned(), 1, text.to_owned());
        self.server.did_open(DidOpenTextDocumentParams { text_document }).unwrap();
    }

    /// Puts a text in the place of the part between two places.
    fn edit(&mut self, file: &str, range: Option<((u32, u32), (u32, u32))>, text: &str) {
        let version = self.versions.get_mut(file).unwrap();
        *version += 1;
        let at = |(line, character)| Position::new(line, character);
        let range = range.map(|(start, end)| Range::new(at(start), at(end)));
        let text_document = VersionedTextDocumentIdentifier::new(self.uri(file), self.versions[file]);
        let change = TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() };
        let params = DidChangeTextDocumentParams { text_document, content_changes: vec![change] };
        self.server.did_change(params).unwrap();
    }

    fn close(&mut self, file: &str) {
        let text_document = TextDocumentIdentifier::new(self.uri(file));
        self.server.did_close(DidCloseTextDocumentParams { text_document }).unwrap();
    }

    /// Waits until the faults of a file are these, as `line:column-line:column code message`.
    async fn sees(&mut self, file: &str, wanted: &[&str]) {
        let uri = self.uri(file);
        let shown = |faults: &Faults| -> Vec<String> {
            let place = |at: Position| format!("{}:{}", at.line, at.character);
            let of_file = faults.get(&uri).into_iter().flatten();
            let shown = of_file.map(|fault| {
                let code = match &fault.code {
                    Some(NumberOrString::String(code)) => code.as_str(),
                    _ => "",
                };
                let message = fault.message.lines().next().unwrap_or_default();
                format!("{}-{} {code} {message}", place(fault.range.start), place(fault.range.end))
            });
            shown.collect()
        };
        let waited = tokio::time::timeout(LIMIT, self.faults.wait_for(|faults| shown(faults) == wanted)).await.is_ok();
        assert!(waited, "{file} has {:?}", shown(&self.faults.borrow()));
    }

    fn at(&self, file: &str, line: u32, character: u32) -> TextDocumentPositionParams {
        TextDocumentPositionParams::new(TextDocumentIdentifier::new(self.uri(file)), Position::new(line, character))
    }

    async fn completions(&mut self, file: &str, line: u32, character: u32) -> Vec<CompletionItem> {
        let params = CompletionParams {
            text_document_position: self.at(file, line, character),
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
            context: None,
        };
        match self.server.completion(params).await.unwrap() {
            Some(CompletionResponse::Array(items)) => items,
            other => panic!("{other:?}"),
        }
    }

    async fn labels(&mut self, file: &str, line: u32, character: u32) -> Vec<String> {
        self.completions(file, line, character).await.into_iter().map(|item| item.label).collect()
    }

    async fn hover(&mut self, file: &str, line: u32, character: u32) -> String {
        let text_document_position_params = self.at(file, line, character);
        let params = HoverParams { text_document_position_params, work_done_progress_params: Default::default() };
        match self.server.hover(params).await.unwrap().map(|hover| hover.contents) {
            Some(HoverContents::Markup(markup)) => markup.value,
            None => String::new(),
            other => panic!("{other:?}"),
        }
    }

    /// The places that a place leads to, as `file:line`.
    async fn definitions(&mut self, file: &str, line: u32, character: u32) -> Vec<String> {
        let params = GotoDefinitionParams {
            text_document_position_params: self.at(file, line, character),
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
        };
        let Some(GotoDefinitionResponse::Array(found)) = self.server.definition(params).await.unwrap() else {
            panic!("no list")
        };
        let root = self.root();
        let shown = |Location { uri, range }| format!("{}:{}", root.make_relative(&uri).unwrap(), range.start.line);
        found.into_iter().map(shown).collect()
    }

    /// The places that name the file or resource of a place, as `file:line:column`.
    async fn references(&mut self, file: &str, line: u32, character: u32, with_own: bool) -> Vec<String> {
        let params = ReferenceParams {
            text_document_position: self.at(file, line, character),
            context: ReferenceContext { include_declaration: with_own },
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
        };
        let found = self.server.references(params).await.unwrap().unwrap_or_default();
        let root = self.root();
        let shown = |Location { uri, range }| {
            format!("{}:{}:{}", root.make_relative(&uri).unwrap(), range.start.line, range.start.character)
        };
        found.into_iter().map(shown).collect()
    }

    /// A change as lines: `file range -> text`, `old => new` for a file that is renamed, and
    /// `+ file` for a new one.
    fn shown(&self, edit: WorkspaceEdit) -> Vec<String> {
        let root = self.root();
        let file = |uri: &Url| root.make_relative(uri).unwrap();
        let mut lines = Vec::new();
        let changes = match edit.document_changes.unwrap() {
            DocumentChanges::Edits(edits) => edits.into_iter().map(DocumentChangeOperation::Edit).collect(),
            DocumentChanges::Operations(operations) => operations,
        };
        for change in changes {
            match change {
                DocumentChangeOperation::Edit(edit) => {
                    for part in edit.edits {
                        let OneOf::Left(part) = part else { panic!("{part:?}") };
                        let Range { start, end } = part.range;
                        let file = file(&edit.text_document.uri);
                        let mut line = String::new();
                        let _ = write!(
                            line,
                            "{file} {}:{}-{} -> {}",
                            start.line, start.character, end.character, part.new_text
                        );
                        lines.push(line);
                    }
                }
                DocumentChangeOperation::Op(ResourceOp::Rename(rename)) => {
                    lines.push(format!("{} => {}", file(&rename.old_uri), file(&rename.new_uri)));
                }
                DocumentChangeOperation::Op(ResourceOp::Create(create)) => {
                    lines.push(format!("+ {}", file(&create.uri)));
                }
                other => panic!("{other:?}"),
            }
        }
        lines
    }

    /// The code actions of a kind at a place: each its title, then its edits as [`Editor::shown`]
    /// has them.
    async fn actions(&mut self, file: &str, line: u32, character: u32, only: Option<CodeActionKind>) -> Vec<String> {
        let at = Position::new(line, character);
        let params = CodeActionParams {
            text_document: TextDocumentIdentifier::new(self.uri(file)),
            range: Range::new(at, at),
            context: CodeActionContext { only: only.map(|kind| vec![kind]), ..CodeActionContext::default() },
            work_done_progress_params: Default::default(),
            partial_result_params: Default::default(),
        };
        let mut lines = Vec::new();
        for action in self.server.code_action(params).await.unwrap().unwrap_or_default() {
            let CodeActionOrCommand::CodeAction(action) = action else { panic!("{action:?}") };
            assert_eq!(action.kind, Some(CodeActionKind::QUICKFIX));
            assert!(action.diagnostics.is_some_and(|faults| !faults.is_empty()));
            let edit = action.edit.unwrap();
            if let Some(DocumentChanges::Edits(edits)) = &edit.document_changes {
                assert_eq!(edits[0].text_document.version, Some(self.versions[file]));
            }
            let preferred = if action.is_preferred == Some(true) { " (preferred)" } else { "" };
            lines.push(format!("{}{preferred}", action.title));
            lines.extend(self.shown(edit));
        }
        lines
    }

    /// Asks until there is an answer: what a build has found is known once it has ended.
    async fn until_some<T>(&mut self, ask: impl AsyncFn(&mut Editor) -> Vec<T>) -> Vec<T> {
        let asked = async {
            loop {
                let found = ask(self).await;
                if !found.is_empty() {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LIMIT, asked).await.unwrap_or_default()
    }

    async fn end(mut self) {
        self.server.shutdown(()).await.unwrap();
        self.server.exit(()).unwrap();
        assert!(self.child.wait().await.unwrap().success());
        self.ended.await.unwrap();
    }
}

/// Runs a test with an editor.
fn with_editor(txtar: &str, test: impl AsyncFnOnce(&mut Editor)) {
    with_flags(&[], txtar, test);
}

/// Runs a test with an editor that starts the server with these flags.
fn with_flags(flags: &[&str], txtar: &str, test: impl AsyncFnOnce(&mut Editor)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut editor = Editor::start(txtar, flags).await;
        test(&mut editor).await;
        editor.end().await;
    });
}

const TREE: &str = "\
-- base/kustomization.yaml --
resources:
- web.yaml
- \"config/settings.yaml\"
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
-- base/config/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
-- over/kustomization.yaml --
resources:
- ../base
patches:
- path: patch.yaml
  target:
    kind: Deployment
    name: web
-- over/patch.yaml --
- op: replace
  path: /spec/replicas
  value: 3
-- south/kustomization.yaml --
resources:
- ../base/config/settings.yaml
configMapGenerator:
- name: texts
  files: [web=../base/web.yaml]
";

const OVER: &str =
    "resources:\n- ../base\npatches:\n- path: patch.yaml\n  target:\n    kind: Deployment\n    name: web\n";

#[test]
fn faults_are_shown_while_a_text_is_typed() {
    with_editor(TREE, async |editor| {
        editor.open("over/kustomization.yaml", OVER);
        editor.sees("over/kustomization.yaml", &[]).await;
        editor.edit("over/kustomization.yaml", Some(((0, 0), (0, 9))), "resurces");
        let fault = "unknown field 'resurces' in the kustomization";
        let faults = editor.faults.wait_for(|faults| faults.values().any(|faults| !faults.is_empty())).await.unwrap();
        let found = faults.values().flatten().next().unwrap().clone();
        drop(faults);
        assert_eq!((found.range.start, found.range.end), (Position::new(0, 0), Position::new(0, 8)), "{found:?}");
        assert!(found.message.contains("resurces") && found.message.contains("resources"), "{fault}: {found:?}");
        editor.edit("over/kustomization.yaml", Some(((0, 0), (0, 8))), "resources");
        editor.sees("over/kustomization.yaml", &[]).await;
        // A text of a base that is not saved counts for the overlay.
        editor.open("base/web.yaml", "kind: Deployment\nmetadata:\n  name: web\n");
        let missing = |faults: &Faults| faults.values().flatten().any(|fault| fault.message.contains("/spec/replicas"));
        let seen = tokio::time::timeout(LIMIT, editor.faults.wait_for(missing)).await.is_ok();
        assert!(seen, "{:?}", editor.faults.borrow());
        editor.close("base/web.yaml");
        editor.sees("over/kustomization.yaml", &[]).await;
        editor.sees("over/patch.yaml", &[]).await;
    });
}

/// The server remembers which roots a text can affect, and sees what changes on the disk without
/// being told.
#[test]
fn roots_that_come_and_change_meanwhile_are_seen() {
    with_editor(TREE, async |editor| {
        let has_fault = |uri: Url| move |faults: &Faults| faults.get(&uri).is_some_and(|faults| !faults.is_empty());
        let (over, west) = (editor.uri("over/patch.yaml"), editor.uri("west/patch.yaml"));
        editor.open("base/web.yaml", "kind: Deployment\nmetadata:\n  name: web\n");
        tokio::time::timeout(LIMIT, editor.faults.wait_for(has_fault(over))).await.unwrap().unwrap();
        editor.tree.write("west/kustomization.yaml", OVER);
        editor.tree.write("west/patch.yaml", "- op: replace\n  path: /spec/paused\n  value: true\n");
        editor.edit("base/web.yaml", None, "kind: Deployment\nmetadata: {name: web}\n");
        tokio::time::timeout(LIMIT, editor.faults.wait_for(has_fault(west.clone()))).await.unwrap().unwrap();
        // The root does not use the base any more.
        editor.tree.write("west/kustomization.yaml", &OVER.replace("../base", "../south"));
        editor.edit("base/web.yaml", None, "kind: Deployment\nmetadata: {name: 'web'}\n");
        editor.sees("west/patch.yaml", &[]).await;
        editor.tree.write("west/kustomization.yaml", OVER);
        editor.edit("base/web.yaml", None, "kind: Deployment\nmetadata: {name: web}\n");
        tokio::time::timeout(LIMIT, editor.faults.wait_for(has_fault(west))).await.unwrap().unwrap();
    });
}

/// Findings come with the faults, for a text that is not saved, too; a comment allows one.
#[test]
fn findings_of_lint_are_warnings() {
    with_editor(TREE, async |editor| {
        let images = "images:\n- name: nowhere\n  newTag: '2'";
        editor.open("over/kustomization.yaml", &format!("{OVER}{images}\n"));
        let has_finding = |faults: &Faults| faults.values().any(|faults| !faults.is_empty());
        let seen = tokio::time::timeout(LIMIT, editor.faults.wait_for(has_finding)).await.unwrap().unwrap().clone();
        let (uri, found) = seen.iter().find(|(_, faults)| !faults.is_empty()).unwrap();
        assert_eq!((uri, found.len()), (&editor.uri("over/kustomization.yaml"), 1), "{found:?}");
        assert_eq!(found[0].severity, Some(DiagnosticSeverity::WARNING));
        assert_eq!(found[0].code, Some(NumberOrString::String("no-effect".to_owned())));
        assert_eq!(found[0].range.start.line, 8, "the line of the entry: {found:?}");
        editor.edit(
            "over/kustomization.yaml",
            None,
            &format!("{OVER}images:\n- name: nowhere # lint: allow no-effect later\n  newTag: '2'\n"),
        );
        editor.sees("over/kustomization.yaml", &[]).await;
    });
}

const SERVICE: &str = "\
-- kustomization.yaml --
resources: [service.yaml]
-- service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  portss: []
";

#[test]
fn resources_are_held_to_schemas_if_a_flag_asks_for_it() {
    let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  portss: []\n";
    let fault = "5:2-5:8 unknown-field-of-kind";
    for flags in [&["--schema"][..], &["--kubernetes-version", "1.31"], &[]] {
        with_flags(flags, SERVICE, async |editor| {
            editor.open("service.yaml", text);
            // The faults of a check are sent in the order of the files.
            editor.open("z.yaml", "a: b: c\n");
            let has_other = |faults: &Faults| {
                faults.iter().any(|(uri, faults)| uri.path().ends_with("z.yaml") && !faults.is_empty())
            };
            let seen = tokio::time::timeout(LIMIT, editor.faults.wait_for(has_other)).await.unwrap().unwrap().clone();
            let found = seen.get(&editor.uri("service.yaml")).into_iter().flatten();
            let found: Vec<_> = found
                .map(|found| {
                    let Some(NumberOrString::String(code)) = &found.code else { panic!("{found:?}") };
                    let Range { start, end } = found.range;
                    format!("{}:{}-{}:{} {code}", start.line, start.character, end.line, end.character)
                })
                .collect();
            let wanted: &[&str] = if flags.is_empty() { &[] } else { &[fault] };
            assert_eq!(found, wanted, "{flags:?}");
            if !flags.is_empty() {
                let actions = editor.actions("service.yaml", 5, 3, None).await;
                assert_eq!(actions, ["Replace 'portss' with 'ports'", "service.yaml 5:2-8 -> ports"]);
                editor.edit("service.yaml", Some(((5, 2), (5, 8))), "ports");
                editor.sees("service.yaml", &[]).await;
            }
        });
    }
}

#[test]
fn a_text_that_no_root_has_is_read_by_itself() {
    with_editor("", async |editor| {
        editor.open("lonely.yaml", "a: ß: [\n");
        let has_fault = |faults: &Faults| faults.values().any(|faults| !faults.is_empty());
        let faults = editor.faults.wait_for(has_fault).await.unwrap().clone();
        assert_eq!(faults.into_keys().collect::<Vec<_>>(), [editor.uri("lonely.yaml")]);
        editor.edit("lonely.yaml", None, "a: b\n");
        editor.sees("lonely.yaml", &[]).await;
    });
}

#[test]
fn fields_words_files_and_names_are_completed() {
    with_editor(TREE, async |editor| {
        editor.open("over/kustomization.yaml", OVER);
        editor.sees("over/kustomization.yaml", &[]).await;
        let top = editor.labels("over/kustomization.yaml", 7, 0).await;
        assert!(top.contains(&"namePrefix".to_owned()) && !top.contains(&"resources".to_owned()), "{top:?}");
        let in_patch = editor.labels("over/kustomization.yaml", 3, 3).await;
        assert!(in_patch.contains(&"options".to_owned()) && !in_patch.contains(&"target".to_owned()), "{in_patch:?}");
        let kinds = editor.labels("over/kustomization.yaml", 5, 10).await;
        assert!(kinds.contains(&"StatefulSet".to_owned()), "{kinds:?}");
        // Names of resources are known from the build of the text before.
        let names = editor.until_some(async |editor| editor.labels("over/kustomization.yaml", 6, 10).await).await;
        assert_eq!(names, ["settings", "web"]);
        editor.edit("over/kustomization.yaml", Some(((1, 2), (1, 9))), "../base/con");
        let items = editor.completions("over/kustomization.yaml", 1, 13).await;
        let item = items.iter().find(|item| item.label == "../base/config").unwrap_or_else(|| panic!("{items:?}"));
        let Some(CompletionTextEdit::Edit(edit)) = &item.text_edit else { panic!("{item:?}") };
        assert_eq!((edit.range.start.character, edit.range.end.character), (2, 13));
        editor.edit("over/kustomization.yaml", Some(((2, 0), (7, 0))), "sortOptions:\n  order: \n");
        assert_eq!(editor.labels("over/kustomization.yaml", 3, 9).await, ["fifo", "legacy"]);
    });
}

const IMAGES: &str = "\
-- base/kustomization.yaml --
resources: [web.yaml]
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  template:
    spec:
      initContainers:
      - name: wait
        image: busybox@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
      containers:
      - name: web
        image: registry.example.com:5000/shop/web:1.2
-- other/kustomization.yaml --
resources: [other.yaml]
-- other/other.yaml --
apiVersion: v1
kind: Pod
metadata:
  name: other
  namespace: tools
spec:
  containers:
  - name: other
    image: nginx:1
-- over/kustomization.yaml --
resources:
- ../base
";

#[test]
fn images_operations_behaviors_and_namespaces_are_completed() {
    with_editor(IMAGES, async |editor| {
        let file = "over/kustomization.yaml";
        let patch =
            "patches:\n- target:\n    kind: Deployment\n  patch: |-\n    - op: add\n      path: /metadata/labels\n";
        let generator = "configMapGenerator:\n- name: texts\n  behavior: create\n";
        let images = "images:\n- name: busybox\n";
        let text = format!("resources:\n- ../base\n{images}namespace: shop\n{generator}{patch}      value: {{a: b}}\n");
        let other = "apiVersion: v1\nkind: Pod\nmetadata: {name: other, namespace: tools}\nspec: {containers: [{image: nginx}]}\n";
        editor.open("other/other.yaml", other);
        editor.open(file, &text);
        let names = editor.until_some(async |editor| {
            let names = editor.labels(file, 3, 8).await;
            if names.contains(&"busybox".to_owned()) { names } else { Vec::new() }
        });
        // Only the images of this root are offered.
        assert_eq!(names.await, ["busybox", "registry.example.com:5000/shop/web"]);
        assert_eq!(editor.labels(file, 4, 11).await, ["shop", "tools"]);
        assert_eq!(editor.labels(file, 7, 12).await, ["create", "merge", "replace"]);
        let operations = ["add", "remove", "replace", "move", "copy", "test"];
        assert_eq!(editor.labels(file, 12, 10).await, operations);
        editor.open("over/patch.yaml", "- op: re\n  path: /spec\n");
        assert_eq!(editor.labels("over/patch.yaml", 0, 8).await, operations);
        let items = editor.completions("over/patch.yaml", 0, 8).await;
        let Some(CompletionTextEdit::Edit(edit)) = &items[0].text_edit else { panic!("{items:?}") };
        assert_eq!((edit.range.start.character, edit.range.end.character), (6, 8));
        // The path of an operation, a mapping that is not an operation, and a merge patch.
        let paths = editor.labels("over/patch.yaml", 1, 9).await;
        assert!(paths.contains(&"/spec".to_owned()), "{paths:?}");
        editor.edit("over/patch.yaml", None, "op: re\n");
        assert_eq!(editor.labels("over/patch.yaml", 0, 6).await, Vec::<String>::new());
        editor.edit(file, None, "patches:\n- patch: |-\n    op: re\n");
        assert_eq!(editor.labels(file, 2, 10).await, Vec::<String>::new());
        // A component is not built on its own: it may be used with any root.
        editor.open("part/kustomization.yaml", "kind: Component\nimages:\n- name: x\n");
        assert!(editor.labels("part/kustomization.yaml", 2, 8).await.contains(&"nginx".to_owned()));
    });
}

const PATHS: &str = "\
-- base/kustomization.yaml --
resources: [web.yaml, settings.yaml]
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {example.com/team: red}
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx:1
      - name: log
        image: log:1
        env: []
-- base/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  a.yaml: x
  region: north
-- over/kustomization.yaml --
resources:
- ../base
";

#[test]
fn paths_of_fields_are_completed() {
    with_editor(PATHS, async |editor| {
        let file = "over/kustomization.yaml";
        // The resources are those of the last build without a fault.
        editor.open(file, "resources: [../base]\nimages:\n- name: x\n");
        editor.until_some(async |editor| editor.labels(file, 2, 8).await).await;
        let replacements = "resources: [../base]
replacements:
- source:
    kind: ConfigMap
    name: settings
    fieldPath: data.re
  targets:
  - select: {kind: Deployment}
    fieldPaths:
    - spec.template.spec.containers.[name=log].e
    - metadata.labels.
  - select: {kind: Deployment, name: web}
    fieldPaths: [spec.template.spec.containers.]
patches:
- target: {kind: Deployment}
  patch: |-
    - op: replace
      path: /metadata/labels/
    - {op: add, path: /spec/template/spec/containers/0/}
";
        editor.edit(file, None, replacements);
        let sources = editor.labels(file, 5, 22).await;
        assert_eq!(sources, ["data.a\\.yaml", "data.region"]);
        let items = editor.completions(file, 5, 22).await;
        let Some(CompletionTextEdit::Edit(edit)) = &items[1].text_edit else { panic!("{items:?}") };
        assert_eq!((edit.range.start.character, edit.range.end.character), (15, 22));
        let prefix = "spec.template.spec.containers.";
        let of_one = ["env", "image", "name"].map(|name| format!("{prefix}[name=log].{name}"));
        assert_eq!(editor.labels(file, 9, 48).await, of_one);
        assert_eq!(editor.labels(file, 10, 22).await, ["metadata.labels.example\\.com/team"]);
        let of_all = ["*", "0", "1", "[name=log]", "[name=web]"].map(|name| format!("{prefix}{name}"));
        assert_eq!(editor.labels(file, 12, 47).await, of_all);
        assert_eq!(editor.labels(file, 17, 30).await, ["/metadata/labels/example.com~1team"]);
        let of_first = ["image", "name"].map(|name| format!("/spec/template/spec/containers/0/{name}"));
        assert_eq!(editor.labels(file, 18, 55).await, of_first);
        // A patch in a file of its own may be for each resource.
        editor.open("over/patch.yaml", "- op: test\n  path: /\n");
        let first = editor.labels("over/patch.yaml", 1, 9).await;
        assert_eq!(first, ["apiVersion", "data", "kind", "metadata", "spec"].map(|name| format!("/{name}")));
        // Other fields that are called path.
        editor.open("over/config.yaml", "namePrefix:\n- path: me\n");
        assert_eq!(editor.labels("over/config.yaml", 1, 10).await, Vec::<String>::new());
    });
}

const NAMED: &str = "\
-- base/kustomization.yaml --
namePrefix: a-
resources:
- web.yaml
- service.yaml
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
-- base/service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: web
-- over/kustomization.yaml --
resources:
- ../base
components:
- ../part
patches:
- target: {kind: Deployment, name: web}
  patch: |-
    - {op: add, path: /spec/replicas, value: 1}
- target: {kind: Service, name: web}
  patch: |-
    - {op: add, path: /spec/type, value: ClusterIP}
-- part/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
replicas:
- name: a-web
  count: 2
-- texts/kustomization.yaml --
configMapGenerator:
- name: texts
  files: [\"web=../base/web.yaml\"]
-- west/kustomization.yaml --
resources:
- web.yaml
patches:
- target: {kind: Deployment, name: web}
  patch: |-
    - {op: add, path: /spec/replicas, value: 1}
-- west/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
";

#[test]
fn a_file_and_a_resource_lead_to_the_entries_that_name_them() {
    with_editor(NAMED, async |editor| {
        let web = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";
        editor.open("base/web.yaml", web);
        let file = ["base/kustomization.yaml:2:2", "texts/kustomization.yaml:2:15"];
        assert_eq!(editor.references("base/web.yaml", 0, 3, false).await, file);
        // The directory west has a Deployment of that name, too, and base has a Service.
        let resource = [
            "base/kustomization.yaml:2:2",
            "over/kustomization.yaml:5:35",
            "part/kustomization.yaml:3:8",
            "texts/kustomization.yaml:2:15",
        ];
        let found = editor.until_some(async |editor| {
            let found = editor.references("base/web.yaml", 3, 9, false).await;
            // The name with the prefix is known once the root is built.
            if found.len() == resource.len() { found } else { Vec::new() }
        });
        assert_eq!(found.await, resource);
        editor.open("base/service.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n");
        let service = ["base/kustomization.yaml:3:2", "over/kustomization.yaml:8:32"];
        assert_eq!(editor.references("base/service.yaml", 3, 9, false).await, service);
        let over = editor.tree.path().join("over/kustomization.yaml");
        editor.open("over/kustomization.yaml", &std::fs::read_to_string(over).unwrap());
        // An entry leads to all entries for its file, and a selector to those of its resource.
        assert_eq!(editor.references("over/kustomization.yaml", 1, 4, false).await, ["over/kustomization.yaml:1:2"]);
        assert_eq!(editor.references("over/kustomization.yaml", 8, 33, false).await, service);
        let with_own = [service[0], "base/service.yaml:0:0", service[1]];
        assert_eq!(editor.references("over/kustomization.yaml", 8, 33, true).await, with_own);
        assert_eq!(editor.references("west/web.yaml", 3, 9, false).await, Vec::<String>::new(), "it is not open");
    });
}

#[test]
fn a_field_tells_what_it_is_for() {
    with_editor(TREE, async |editor| {
        editor.open("over/kustomization.yaml", OVER);
        let shown = editor.hover("over/kustomization.yaml", 2, 3).await;
        assert!(shown.starts_with("**patches** (list, each: Patch)\n\nPatches of either form"), "{shown}");
        let shown = editor.hover("over/kustomization.yaml", 3, 12).await;
        assert!(shown.starts_with("**patches.path**") && shown.contains("over/patch.yaml"), "{shown}");
        editor.open("base/web.yaml", "kind: Deployment\n");
        assert_eq!(editor.hover("base/web.yaml", 0, 2).await, "");
    });
}

#[test]
fn entries_targets_and_patches_lead_to_their_places() {
    with_editor(TREE, async |editor| {
        editor.open("over/kustomization.yaml", OVER);
        editor.sees("over/kustomization.yaml", &[]).await;
        assert_eq!(editor.definitions("over/kustomization.yaml", 1, 5).await, ["base/kustomization.yaml:0"]);
        assert_eq!(editor.definitions("over/kustomization.yaml", 3, 10).await, ["over/patch.yaml:0"]);
        let found = editor.until_some(async |editor| editor.definitions("over/kustomization.yaml", 6, 11).await).await;
        assert_eq!(found, ["base/web.yaml:0"]);
        let found = editor.until_some(async |editor| editor.definitions("over/kustomization.yaml", 5, 11).await).await;
        assert_eq!(found, ["base/web.yaml:0"]);
        editor.open("over/web.yaml", "kind: Deployment\nmetadata:\n  name: web\n");
        assert_eq!(editor.definitions("over/web.yaml", 2, 9).await, ["base/web.yaml:0"]);
        assert_eq!(editor.definitions("over/web.yaml", 1, 1).await, Vec::<String>::new());
    });
}

#[test]
fn a_file_gets_another_name_wherever_it_is_named() {
    with_editor(TREE, async |editor| {
        editor.open("base/kustomization.yaml", "resources:\n- web.yaml\n- \"config/settings.yaml\"\n");
        let params = |editor: &Editor, line, name: &str| RenameParams {
            text_document_position: editor.at("base/kustomization.yaml", line, 6),
            new_name: name.to_owned(),
            work_done_progress_params: Default::default(),
        };
        let asked = params(editor, 2, "settings/all.yaml");
        let edit = editor.server.rename(asked).await.unwrap().unwrap();
        assert_eq!(
            editor.shown(edit),
            [
                "base/kustomization.yaml 2:3-23 -> settings/all.yaml",
                "south/kustomization.yaml 1:2-30 -> ../base/settings/all.yaml",
                "base/config/settings.yaml => base/settings/all.yaml",
            ]
        );
        let asked = params(editor, 1, "config/settings.yaml");
        let refused = editor.server.rename(asked).await.unwrap_err();
        assert!(refused.to_string().contains("exists"), "{refused}");
        let renamed = FileRename {
            old_uri: editor.uri("base/web.yaml").to_string(),
            new_uri: editor.uri("over/w b.yaml").to_string(),
        };
        let edit = editor.server.will_rename_files(RenameFilesParams { files: vec![renamed] }).await.unwrap().unwrap();
        let changed = [
            "base/kustomization.yaml 1:2-10 -> ../over/w b.yaml",
            "south/kustomization.yaml 4:14-30 -> ../over/w b.yaml",
        ];
        assert_eq!(editor.shown(edit), changed);
    });
}

const NESTED: &str = "\
-- common/kustomization.yaml --
namePrefix: a-
-- base/kustomization.yaml --
resources:
- web.yaml
- ./inner
- ../common
- https://example.com/web.yaml
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
-- base/inner/kustomization.yaml --
resources:
- ../more.yaml
- ../../common
- ../../base/web.yaml
-- over/kustomization.yaml --
resources:
- ../base
- ../base/inner
- ../common
";

/// Paths between two files that move together stay as they are written.
#[test]
fn a_directory_gets_another_name_without_its_inner_paths() {
    with_editor(NESTED, async |editor| {
        editor.open("over/kustomization.yaml", "resources:\n- ../base\n- ../base/inner\n- ../common\n");
        let asked = RenameParams {
            text_document_position: editor.at("over/kustomization.yaml", 1, 6),
            new_name: "../basis".to_owned(),
            work_done_progress_params: Default::default(),
        };
        let edit = editor.server.rename(asked).await.unwrap().unwrap();
        let changed = [
            "base/inner/kustomization.yaml 3:2-21 -> ../web.yaml",
            "over/kustomization.yaml 1:2-9 -> ../basis",
            "over/kustomization.yaml 2:2-15 -> ../basis/inner",
            "base => basis",
        ];
        assert_eq!(editor.shown(edit), changed);
        let renames = async |editor: &mut Editor, from: &str, to: &str| {
            let (old_uri, new_uri) = (editor.uri(from).to_string(), editor.uri(to).to_string());
            let params = RenameFilesParams { files: vec![FileRename { old_uri, new_uri }] };
            let edit = editor.server.will_rename_files(params).await.unwrap().unwrap();
            editor.shown(edit)
        };
        // Paths that lead out of a directory begin where it will be.
        let changed = [
            "base/inner/kustomization.yaml 2:2-14 -> ../../../common",
            "base/inner/kustomization.yaml 3:2-21 -> ../web.yaml",
            "base/kustomization.yaml 3:2-11 -> ../../common",
            "over/kustomization.yaml 1:2-9 -> ../apps/basis",
            "over/kustomization.yaml 2:2-15 -> ../apps/basis/inner",
        ];
        assert_eq!(renames(editor, "base", "apps/basis").await, changed);
        // A kustomization file that moves alone leaves its files behind.
        let changed = [
            "over/kustomization.yaml 1:2-9 -> base",
            "over/kustomization.yaml 2:2-15 -> base/inner",
            "over/kustomization.yaml 3:2-11 -> common",
        ];
        assert_eq!(renames(editor, "over/kustomization.yaml", "kustomization.yaml").await, changed);
    });
}

const MISTYPED: &str = "\
-- kustomization.yaml --
resources:
- web.yaml
- settings.yaml
-- web.yaml --
apiVersion: apps/v1
kind: deployment
metadata:
  name: web
-- settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
";

#[test]
fn a_fault_with_a_sure_change_has_a_code_action() {
    with_editor(MISTYPED, async |editor| {
        editor.open("web.yaml", "# web\napiVersion: apps/v1\nkind: deployment\nmetadata:\n  name: web\n");
        let found = editor.until_some(async |editor| editor.actions("web.yaml", 2, 8, None).await).await;
        let change = ["Replace 'deployment' with 'Deployment' (preferred)", "web.yaml 2:6-16 -> Deployment"];
        assert_eq!(found, change);
        assert_eq!(editor.actions("web.yaml", 2, 8, Some(CodeActionKind::QUICKFIX)).await, change);
        assert_eq!(editor.actions("web.yaml", 2, 8, Some(CodeActionKind::EMPTY)).await, change);
        for (line, only) in [(1, None), (2, Some(CodeActionKind::REFACTOR))] {
            assert_eq!(editor.actions("web.yaml", line, 8, only).await, Vec::<String>::new());
        }
        editor.edit("web.yaml", Some(((2, 6), (2, 16))), "Deployment");
        editor.sees("web.yaml", &[]).await;
        assert_eq!(editor.actions("web.yaml", 2, 8, None).await, Vec::<String>::new());
    });
}

#[test]
fn a_mistyped_word_has_a_code_action() {
    with_editor(MISTYPED, async |editor| {
        let file = "kustomization.yaml";
        editor.open(file, "resurces:\n- web.yaml\n");
        let found = editor.until_some(async |editor| editor.actions(file, 0, 3, None).await).await;
        assert_eq!(found, ["Replace 'resurces' with 'resources'", "kustomization.yaml 0:0-8 -> resources"]);
        // A file that is not open has no version that an edit could name.
        editor.close(file);
        assert_eq!(editor.actions(file, 0, 3, None).await, Vec::<String>::new());
        editor.open(file, "resources:\n- \"setings.yaml\" # ß\n");
        let found = editor.until_some(async |editor| editor.actions(file, 1, 4, None).await).await;
        assert_eq!(
            found,
            ["Replace 'setings.yaml' with 'settings.yaml'", "kustomization.yaml 1:3-15 -> settings.yaml"]
        );
        // A fault whose hint is not a word to write.
        editor.edit(file, None, "resources: web.yaml\n");
        let has_other = |faults: &Faults| faults.values().flatten().any(|fault| !fault.message.contains("setings"));
        let seen = tokio::time::timeout(LIMIT, editor.faults.wait_for(has_other)).await.is_ok();
        assert!(seen, "{:?}", editor.faults.borrow());
        assert_eq!(editor.actions(file, 0, 12, None).await, Vec::<String>::new());
    });
}

const RENAMED: &str = "-- site/kustomization.yaml --
resources: [../base]
namePrefix: dev-
-- base/kustomization.yaml --
resources: [route.yaml, web.yaml]
-- base/web.yaml --
apiVersion: v1
kind: Service
metadata: {name: web}
-- base/route.yaml --
";

const ROUTE: &str = "apiVersion: example.com/v1
kind: Route
metadata: {name: web}
spec:
  serviceName: web
  backendRef: {name: web}
";

#[test]
fn a_reference_to_a_former_name_has_a_code_action() {
    with_editor(RENAMED, async |editor| {
        editor.open("base/route.yaml", ROUTE);
        let found = editor.until_some(async |editor| editor.actions("base/route.yaml", 4, 16, None).await).await;
        let title = "List the reference in 'name-references.yaml' (preferred)";
        let specs = "  - {kind: Route, group: example.com, path: spec/backendRef/name}
  - {kind: Route, group: example.com, path: spec/serviceName}
";
        let entries = format!("nameReference:\n- kind: Service\n  fieldSpecs:\n{specs}");
        let listed = "base/kustomization.yaml 1:0-0 -> configurations:\n- name-references.yaml\n";
        let new = [
            title.to_owned(),
            "+ base/name-references.yaml".to_owned(),
            format!("base/name-references.yaml 0:0-0 -> {entries}"),
            listed.to_owned(),
        ];
        assert_eq!(found, new);
        assert_eq!(editor.actions("base/route.yaml", 2, 3, None).await, Vec::<String>::new());
        // The kustomization has another text than when the change was made.
        editor.open("base/kustomization.yaml", "resources: [route.yaml, web.yaml]\nnamePrefix: a-\n");
        let is_changed = async |editor: &mut Editor| {
            let found = editor.actions("base/route.yaml", 4, 16, None).await;
            if found.iter().any(|line| line.contains("2:0-0")) { found } else { Vec::new() }
        };
        let found = editor.until_some(is_changed).await;
        assert_eq!(found[3], listed.replace("1:0", "2:0"));
        // The entries have an effect.
        editor.open("base/name-references.yaml", &entries);
        editor.edit(
            "base/kustomization.yaml",
            None,
            "resources: [route.yaml, web.yaml]\nconfigurations: [name-references.yaml]\n",
        );
        editor.sees("base/route.yaml", &[]).await;
        assert_eq!(editor.actions("base/route.yaml", 4, 16, None).await, Vec::<String>::new());
    });
}

#[test]
fn a_reference_that_an_entry_does_not_surely_mend_has_no_code_action() {
    with_editor(RENAMED, async |editor| {
        editor.open("base/name-references.yaml", "images: []\n");
        editor.open("base/route.yaml", ROUTE);
        let message = "old-name the Service 'web' is named 'dev-web' in the output: kustomize does not update this \
                       reference";
        let wanted = [format!("4:15-4:18 {message}"), format!("5:21-5:24 {message}")];
        editor.sees("base/route.yaml", &wanted.each_ref().map(String::as_str)).await;
        assert_eq!(editor.actions("base/route.yaml", 4, 16, None).await, Vec::<String>::new());
    });
}

#[test]
fn a_file_outside_of_the_open_directories_has_no_code_action() {
    let outside = Tree::new(MISTYPED);
    with_editor(MISTYPED, async |editor| {
        let file = outside.path().canonicalize().unwrap().join("web.yaml");
        let file = file.to_str().unwrap();
        editor.open(file, "apiVersion: apps/v1\nkind: deployment\nmetadata:\n  name: web\n");
        editor.sees(file, &["1:6-1:16 kind-case Kubernetes has no kind 'deployment' in this group"]).await;
        assert_eq!(editor.actions(file, 1, 8, None).await, Vec::<String>::new());
    });
}

/// Runs the server with these bytes on stdin, and gives its status and output.
fn raw(bytes: &[u8]) -> (Option<i32>, String) {
    let tree = Tree::new(TREE);
    let mut command = tree.command(&["lsp"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        output.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    // The server may have ended before it has read everything.
    let _ = input.write_all(bytes);
    drop(input);
    let ended = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!errors.contains("panicked"), "{errors}");
    (ended.status.code(), reader.join().unwrap())
}

/// A message with its header.
fn message(text: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

fn started() -> String {
    message(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#)
        + &message(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#)
}

#[test]
fn invalid_bytes_end_the_language_server() {
    for bytes in ["", "nonsense", "Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length: 5\r\n\r\n{"] {
        assert_eq!(raw(bytes.as_bytes()).0, Some(1), "{bytes}");
        assert_eq!(raw(format!("{}{bytes}", started()).as_bytes()).0, Some(1), "{bytes}");
    }
    let exit = message(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert_eq!(raw(format!("{}{exit}", started()).as_bytes()).0, Some(1), "an end without a shutdown");
}

#[test]
fn announced_message_size_reserves_no_memory() {
    for size in ["4294967296", "42949672960", "9223372036854775808", "18446744073709551615"] {
        let (status, output) = raw(format!("{}Content-Length: {size}\r\n\r\n{{}}", started()).as_bytes());
        assert_eq!(status, Some(1), "{output}");
    }
    let head = "X".repeat(1 << 20);
    assert_eq!(raw(format!("{}{head}", started()).as_bytes()).0, Some(1));
}

#[test]
fn oversized_or_invalid_request_is_a_protocol_error() {
    let open = |uri: &str, text: &str| {
        message(&format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"{uri}","languageId":"yaml","version":1,"text":"{text}"}}}}}}"#
        ))
    };
    let end =
        message(r#"{"jsonrpc":"2.0","id":7,"method":"shutdown"}"#) + &message(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let mut messages = vec![
        message(&"x".repeat((64 << 20) + 1)),
        message("{"),
        message("[]"),
        message(&deep),
        open(&format!("file://{}/x/kustomization.yaml", drive()), &"- a\\n".repeat(10_000_000)),
        open(&format!("file://{}/{}kustomization.yaml", drive(), "a/".repeat(500_000)), "resources: []"),
        open(&format!("file://{}/{}kustomization.yaml", drive(), "%61".repeat(300_000)), "resources: []"),
    ];
    // Five open files are larger together than all may be.
    messages.extend((0..5).map(|n| open(&format!("file://{}/x/{n}.yaml", drive()), &"x".repeat(60 << 20))));
    let (status, output) = raw((started() + &messages.concat() + &end).as_bytes());
    assert_eq!(status, Some(0), "{output:.2000}");
    for part in [
        r#""error":{"code":-32600,"message":"a message of 67108865 bytes is larger than 67108864 bytes"}"#,
        r#""error":{"code":-32700,"#,
        r#""code":-32600,"message":"a message is not a JSON object""#,
        r#""id":2,"error":{"code":-32602"#,
        r#"the open files are larger than 268435456 bytes together"#,
        r#""id":7,"result":null"#,
    ] {
        assert!(output.contains(part), "{part}: {output:.2000}");
    }
}

#[test]
fn messages_that_do_not_fit_are_answered_and_change_nothing() {
    let uri = r#""textDocument":{"uri":"file:///x/kustomization.yaml","version":7}"#;
    let huge = "a".repeat(20_000_000);
    let messages = [
        // Before it was opened, of another type, with a place that no text has.
        format!(r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{{uri},"contentChanges":[{{"text":"a"}}]}}}}"#),
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":5}"#.to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"file:///x/kustomization.yaml","languageId":"yaml","version":1,"text":"{huge}"}}}}}}"#
        ),
        r#"{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///x/kustomization.yaml"},"position":{"line":4294967295,"character":4294967295}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":[]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":4,"method":"workspace/unknown","params":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":9,"result":null}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"method":"shutdown"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"exit"}"#.to_owned(),
    ];
    let bytes = started()
        + &messages
            .iter()
            .map(|text| message(&text.replace("file://", &format!("file://{}", drive()))))
            .collect::<String>();
    let (status, output) = raw(bytes.as_bytes());
    assert_eq!(status, Some(0), "{output}");
    for part in [
        r#""id":2,"result":null"#,
        r#""id":3,"error":{"code":-32602"#,
        r#""id":4,"error":{"code":-32601"#,
        r#""id":5,"result":null"#,
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
}
