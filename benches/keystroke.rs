//! How long the language server takes to answer a keystroke, in a tree of 2,000 files: 100
//! applications, each a base of 15 files with a kustomization, under 4 overlays. Each keystroke is
//! a change of a text that is not saved. It is answered when the faults of the file have come back.
//!
//! `cargo bench --bench keystroke`, or with the path of another program behind `--`.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a bench that cannot go on ends")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

const APPLICATIONS: usize = 100;
const FILES: usize = 15;
const OVERLAYS: usize = 4;
const KEYSTROKES: usize = 40;

fn main() {
    let program = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_rustomize").to_owned());
    let tree = tempfile::TempDir::new().unwrap();
    let root = tree.path().canonicalize().unwrap();
    let files = write(&root);
    let mut editor = Editor::start(&program, &root);
    println!("{files} files");
    for (what, file) in [
        ("the kustomization of an overlay", "app-7/overlay-2/kustomization.yaml"),
        ("a resource of a base", "app-7/base/file-3.yaml"),
    ] {
        for (state, mut times) in ["builds", "cannot be read"].into_iter().zip(editor.type_into(&root.join(file))) {
            times.sort_unstable();
            let [median, worst] = [times[times.len() / 2], times[times.len() - 1]].map(milliseconds);
            println!("{what}, a text that {state}: median {median:.1} ms, worst {worst:.1} ms");
        }
    }
    drop(editor.input);
    let _ = editor.child.wait();
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Writes the tree, and returns the number of its files.
fn write(root: &Path) -> usize {
    let mut count = 0;
    let mut file = |path: String, text: String| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        count += 1;
    };
    for app in 0..APPLICATIONS {
        let names: Vec<String> = (0..FILES).map(|i| format!("file-{i}.yaml")).collect();
        for (i, name) in names.iter().enumerate() {
            let text = format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{i}}}\nspec:\n  replicas: 1\n  selector: \
                 {{matchLabels: {{app: web-{i}}}}}\n  template:\n    metadata: {{labels: {{app: web-{i}}}}}\n    spec:\n      \
                 containers:\n      - name: web\n        image: example.com/web:1.0\n        ports: [{{containerPort: 80}}]\n"
            );
            file(format!("app-{app}/base/{name}"), text);
        }
        file(format!("app-{app}/base/kustomization.yaml"), format!("resources: [{}]\n", names.join(", ")));
        for overlay in 0..OVERLAYS {
            let text = format!(
                "resources: [../base]\nnamePrefix: o{overlay}-\nnamespace: app-{app}\nimages: [{{name: example.com/web, \
                 newTag: '2'}}]\nlabels: [{{pairs: {{tier: front}}}}]\n"
            );
            file(format!("app-{app}/overlay-{overlay}/kustomization.yaml"), text);
        }
    }
    count
}

/// An editor that has the tree open.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Editor {
    fn start(program: &str, root: &Path) -> Editor {
        let mut command = std::process::Command::new(program);
        let mut child = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut editor = Editor { child, input, output };
        let folder = json!({"uri": uri(root), "name": "tree"});
        let params = json!({"processId": null, "rootUri": null, "capabilities": {}, "workspaceFolders": [folder]});
        editor.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        while editor.receive()["id"] != 1 {}
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim_end() {
                "" => break,
                head => length = head.strip_prefix("Content-Length: ").map_or(length, |n| n.parse().unwrap()),
            }
        }
        let mut text = vec![0; length];
        self.output.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Waits until the faults of a file have a word in them.
    fn sees(&mut self, uri: &str, word: &str) {
        loop {
            let message = self.receive();
            let is_of_file = message["params"]["uri"] == uri;
            if is_of_file && message["params"]["diagnostics"].to_string().contains(word) {
                return;
            }
        }
    }

    /// Types into a file, so that by turns it is as on the disk and cannot be read. Returns the times
    /// of both.
    fn type_into(&mut self, path: &Path) -> [Vec<Duration>; 2] {
        let (uri, text) = (uri(path), fs::read_to_string(path).unwrap());
        let wrong = format!("{text}bad: [\n");
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": wrong});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
        self.sees(&uri, "message");
        let mut times = [Vec::new(), Vec::new()];
        for i in 0..KEYSTROKES {
            let (text, wanted) = [(&text, "[]"), (&wrong, "message")][i % 2];
            let start = Instant::now();
            let document = json!({"uri": uri, "version": i + 2});
            let changes = json!([{"text": text}]);
            self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
            self.sees(&uri, wanted);
            times[i % 2].push(start.elapsed());
        }
        self.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
        times
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
