//! The server of the Model Context Protocol: by the client of the protocol's authors, by lines that
//! are not messages, and by calls that name files elsewhere.

use crate::support::{Tree, git, skip};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const SHOP: &str = "\
-- base/kustomization.yaml --
resources: [web.yaml]
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  template:
    spec:
      containers: [{name: web, image: web:1.4}]
-- prod/kustomization.yaml --
resources: [../base]
replicas: [{name: web, count: 3}]
-- broken/kustomization.yaml --
resources: [../base]
patches:
- path: nothing.yaml
-- unused/kustomization.yaml --
resources: [../base]
images: [{name: api, newTag: '2'}]
";

/// A server, and its client, which is this test.
struct Session {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Session {
    fn start(tree: &Tree, directories: &[&str]) -> Session {
        let mut command = tree.command(&[&["mcp"], directories].concat());
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        Session { server, input, output, last: 0 }
    }

    fn line(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn send(&mut self, message: Value) {
        self.line(&message.to_string());
    }

    #[track_caller]
    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: '{line}'"))
    }

    /// The answer to a request.
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        let answer = self.receive();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    /// The text of a tool's result, which is an error or none.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value, is_error: bool) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], is_error, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes stdin, and expects that the server ends well.
    fn end(self) {
        let Session { mut server, input, .. } = self;
        drop(input);
        assert!(server.wait().unwrap().success());
    }
}

#[track_caller]
fn has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "'{word}' is not in:\n{text}");
    }
}

#[test]
fn the_client_of_the_protocols_authors_calls_every_tool() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/mcp/bin/python");
    if !python.exists() {
        return skip("this checkout has no target/mcp: .ci/mcp makes it");
    }
    let tree = Tree::new(SHOP);
    git(&tree.path(), &["init", "-q"]);
    git(&tree.path(), &["add", "."]);
    git(&tree.path(), &["commit", "-qm", "shop"]);
    tree.write(
        "base/web.yaml",
        &std::fs::read_to_string(tree.path().join("base/web.yaml")).unwrap().replace("1.4", "1.5"),
    );
    let built = tree.run(&["build", "prod"]).ok();
    let calls = [
        ("build", json!({"directory": "prod"}), false, vec![built.as_str()]),
        (
            "build",
            json!({"directory": "broken"}),
            true,
            vec!["broken/kustomization.yaml:3:", "error: ", "nothing.yaml"],
        ),
        ("lint", json!({"directory": "unused"}), false, vec!["unused/kustomization.yaml:2:", "[no-effect]"]),
        ("lint", json!({"directory": "prod"}), false, vec!["the result is empty"]),
        (
            "explain",
            json!({"directory": "prod", "resource": "web", "field": "spec.replicas"}),
            false,
            vec!["prod/kustomization.yaml:2"],
        ),
        // The other roots are explained beside the fault.
        ("explain", json!({"file": "base/web.yaml", "line": 5}), true, vec!["prod  overridden, 3", "nothing.yaml"]),
        ("explain", json!({"code": "no-match"}), false, vec!["no-match"]),
        ("diff", json!({"old": "base", "new": "prod"}), false, vec!["replicas", "3"]),
        ("diff", json!({"since": "HEAD", "leaves": true}), true, vec!["broken/kustomization.yaml:3:"]),
        ("diff", json!({"since": "HEAD", "directories": ["prod"]}), false, vec!["web:1.4", "web:1.5"]),
        ("affected", json!({"files": ["base/web.yaml"], "leaves": true}), false, vec!["broken\nprod\nunused\n"]),
        ("tree", json!({"directory": "prod"}), false, vec!["base", "web.yaml"]),
        ("images", json!({"directory": "prod"}), false, vec!["web:1.5", "base/web.yaml:8"]),
        ("images", json!({"directory": "prod", "set": ["web:2"]}), false, vec!["web:2"]),
        (
            "schema",
            json!({"kind": "Deployment", "field": "spec.strategy"}),
            false,
            vec!["rollingUpdate: object", "type: string"],
        ),
        ("schema", json!({"kind": "Deploymen"}), true, vec!["hint: similar kinds are apps/v1/Deployment"]),
        ("edit", json!({"directory": "prod", "words": ["set", "namespace", "blue"]}), false, vec!["+namespace: blue"]),
        ("edit", json!({"directory": "prod", "words": ["set", "namespaec"]}), true, vec!["namespaec"]),
    ];
    let input: Vec<Value> = calls.iter().map(|(tool, arguments, ..)| json!([tool, arguments])).collect();
    let before = tree.run(&["build", "prod"]).ok();
    #[expect(clippy::disallowed_methods, reason = "the client is another program's")]
    let mut client = Command::new(python);
    client.arg("tests/mcp/client.py").arg(crate::support::program()).arg(tree.path());
    client.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut client = client.spawn().unwrap();
    client.stdin.take().unwrap().write_all(Value::from(input).to_string().as_bytes()).unwrap();
    let printed = String::from_utf8(client.wait_with_output().unwrap().stdout).unwrap();
    let mut lines = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let names = lines.next().unwrap();
    assert_eq!(
        names,
        json!(["rustomize", "build", "lint", "explain", "diff", "affected", "tree", "images", "schema", "edit"])
    );
    let results: Vec<Value> = lines.collect();
    assert_eq!(results.len(), calls.len(), "{printed}");
    for ((tool, arguments, is_error, words), result) in calls.iter().zip(&results) {
        assert_eq!(result["isError"], *is_error, "{tool} {arguments}: {result}");
        has(result["text"].as_str().unwrap(), words);
    }
    assert_eq!(results[1]["messages"][0]["line"], 3, "{}", results[1]);
    assert_eq!(tree.run(&["build", "prod"]).ok(), before, "nothing was written");
    tree.assert_nothing_left();
}

#[test]
fn lines_that_are_not_messages_are_refused() {
    let tree = Tree::new(SHOP);
    let mut session = Session::start(&tree, &[]);
    for (line, code) in [
        ("{", -32700),
        ("null", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        (&"[".repeat(1 << 20), -32700),
        (&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(5 << 20)), -32600),
    ] {
        session.line(line);
        let answer = session.receive();
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&Value::Null, Some(code)), "{answer}");
    }
    let version = |session: &mut Session, asked: Value| {
        session.ask("initialize", json!({"protocolVersion": asked}))["result"]["protocolVersion"].clone()
    };
    assert_eq!(version(&mut session, json!("2024-11-05")), "2024-11-05");
    assert_eq!(version(&mut session, json!("1999-01-01")), "2025-11-25");
    session.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    session.send(json!({"jsonrpc": "2.0", "method": "notifications/of-tomorrow"}));
    assert_eq!(session.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(session.ask("resources/list", json!({}))["error"]["code"], -32601);
    let unknown = session.ask("tools/call", json!({"name": "apply"}));
    assert_eq!(unknown["error"]["code"], -32602);
    has(unknown["error"]["message"].as_str().unwrap(), &["unknown tool 'apply'", "build, lint, explain"]);
    session.end();
}

#[test]
fn a_call_reads_nothing_outside_of_the_directories() {
    let tree = Tree::new(SHOP);
    let secret = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s3cret}\n";
    tree.write("../outside/kustomization.yaml", "resources: [s3cret.yaml]\n");
    tree.write("../outside/s3cret.yaml", secret);
    tree.write("../rustomize.yaml", "lint: s3cret\n");
    tree.write("up/kustomization.yaml", "resources: [../../outside]\n");
    tree.write("file/kustomization.yaml", "resources: [../../outside/s3cret.yaml]\n");
    tree.write("none/kustomization.yaml", "resources: [../../outside/no-file.yaml]\n");
    tree.write("link/kustomization.yaml", "resources: [linked.yaml]\n");
    tree.write("fetched/kustomization.yaml", "resources: ['http://127.0.0.1:1/s3cret.yaml']\n");
    symlink("../../outside/s3cret.yaml", tree.path().join("link/linked.yaml")).unwrap();
    symlink("../outside", tree.path().join("linked")).unwrap();
    std::fs::create_dir(tree.path().join("linked-file")).unwrap();
    symlink("../../outside/kustomization.yaml", tree.path().join("linked-file/kustomization.yaml")).unwrap();
    let mut session = Session::start(&tree, &["."]);
    let outside = tree.path().join("../outside");
    for (tool, arguments) in [
        ("build", json!({"directory": "../outside"})),
        ("build", json!({"directory": outside.to_str().unwrap()})),
        ("build", json!({"directory": "linked"})),
        ("build", json!({"directory": "up"})),
        ("build", json!({"directory": "file"})),
        ("build", json!({"directory": "none"})),
        ("build", json!({"directory": "link"})),
        ("build", json!({"directory": "linked-file"})),
        ("build", json!({"directory": "fetched"})),
        ("lint", json!({"directory": "link"})),
        ("explain", json!({"directory": "link"})),
        ("explain", json!({"file": "link/linked.yaml", "line": 1})),
        ("diff", json!({"old": "base", "new": "link"})),
        ("diff", json!({"old": "base", "new": "link/linked.yaml"})),
        ("diff", json!({"old": "base", "new": "-"})),
        ("affected", json!({"files": ["../outside/s3cret.yaml"]})),
        ("edit", json!({"directory": "linked", "words": ["set", "namespace", "x"]})),
        ("edit", json!({"directory": "linked-file", "words": ["set", "namespace", "x"]})),
        ("edit", json!({"words": ["set", "namespace", "x", "-C", "../outside"]})),
        ("edit", json!({"words": ["set", "namespace", "x", "--all", "../outside"]})),
        ("edit", json!({"directory": "prod", "words": ["add", "resource", "../../outside/*.yaml"]})),
        ("edit", json!({"directory": "prod", "words": ["add", "resource", "../../outside/s3cret.yaml"]})),
        ("edit", json!({"directory": "prod", "words": ["add", "resource", "http://127.0.0.1:1/s3cret.yaml"]})),
    ] {
        let answer = session.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let asked = arguments.to_string();
        assert!(!text.contains("name: s3cret"), "{tool} {asked}: {answer}");
        assert!(!text.contains("s3cret.yaml\n+"), "{tool} {asked}: {answer}");
        assert!(answer["result"]["isError"] == true || text.contains("has no match"), "{tool} {asked}: {answer}");
    }
    // A file or links in the place of a directory '.git' lead to another repository.
    let outside = outside.canonicalize().unwrap();
    git(&outside, &["init", "-q"]);
    git(&outside, &["add", "."]);
    git(&outside, &["commit", "-qm", "s3cret"]);
    let since = |session: &mut Session| session.call("diff", json!({"since": "HEAD", "directories": ["."]}), true);
    let kept = tree.path().join(".git");
    tree.write("kustomization.yaml", "resources: [s3cret.yaml]\n");
    tree.write("s3cret.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n");
    std::fs::write(&kept, format!("gitdir: {}\n", outside.join(".git").display())).unwrap();
    has(&since(&mut session), &["git keeps this repository at", "outside of the directories"]);
    for links in [&["objects", "refs"][..], &["objects/pack"]] {
        let _ = std::fs::remove_file(&kept).or_else(|_| std::fs::remove_dir_all(&kept));
        git(&tree.path(), &["init", "-q"]);
        for link in links {
            std::fs::remove_dir_all(kept.join(link)).unwrap();
            symlink(outside.join(".git").join(link), kept.join(link)).unwrap();
        }
        has(&since(&mut session), &["git keeps this repository at", "outside of the directories"]);
    }
    std::fs::remove_dir_all(&kept).unwrap();
    git(&tree.path(), &["init", "-q"]);
    tree.write(".git/objects/info/alternates", &format!("{}\n", outside.join(".git/objects").display()));
    has(&since(&mut session), &["the repository has objects of another one"]);
    // The two missing files differ in nothing: no file elsewhere is shown to exist.
    let file = session.call("build", json!({"directory": "file"}), true);
    let none = session.call("build", json!({"directory": "none"}), true);
    assert_eq!(file.replace("s3cret", "no-file").replace("file/", "none/"), none);
    session.call("build", json!({"directory": "prod"}), false);
    session.end();
    let kept = std::fs::read_to_string(tree.path().join("../outside/kustomization.yaml")).unwrap();
    assert_eq!(kept, "resources: [s3cret.yaml]\n");
    assert_eq!(std::fs::read_to_string(tree.path().join("prod/kustomization.yaml")).unwrap().lines().count(), 2);
    tree.assert_nothing_left();
}

#[test]
fn several_directories_may_be_read() {
    let tree = Tree::new(SHOP);
    tree.write("other/kustomization.yaml", "resources: [../base]\n");
    let mut session = Session::start(&tree, &["prod", "base"]);
    has(&session.call("build", json!({}), false), &["replicas: 3"]);
    has(&session.call("build", json!({"directory": "../base"}), false), &["replicas: 1"]);
    let refused = session.call("build", json!({"directory": "../other"}), true);
    has(&refused, &["'../other' is outside of the directories of this server", "hint: name a path at or below "]);
    session.end();
    tree.run(&["mcp", "nowhere"]).fails_with(&["cannot read the directory 'nowhere'"]);
    tree.run(&["mcp", "base/web.yaml"]).fails_with(&["'base/web.yaml' is not a directory"]);
}

#[test]
fn a_long_result_is_cut_and_the_rest_can_be_had() {
    let tree = Tree::new(SHOP);
    let line = |i: usize| format!("  key-{i}: {}\n", "v".repeat(90));
    let data: String = (0..1000).map(line).collect();
    tree.write("large/kustomization.yaml", "resources: [map.yaml]\n");
    tree.write("large/map.yaml", &format!("apiVersion: v1\ndata:\n{data}kind: ConfigMap\nmetadata: {{name: large}}\n"));
    let whole = tree.run(&["build", "large"]).ok();
    let mut session = Session::start(&tree, &[]);
    let (mut found, mut calls) = (String::new(), 0);
    loop {
        calls += 1;
        let part = session.call("build", json!({"directory": "large", "offset": found.len()}), false);
        assert!(part.len() < 41_000);
        let (text, end) = part.rsplit_once("\n[").unwrap();
        found.push_str(text);
        if end.contains("this is the end") {
            break;
        }
        has(end, &["cut: ", &format!("\"offset\": {}]", found.len())]);
    }
    assert_eq!((found == whole, calls), (true, whole.len() / 40_000 + 1));
    session.end();
}

/// A git that never ends lets a call wait: only a cancelled call ends.
#[test]
fn a_cancelled_call_is_not_answered_and_ends() {
    let mut tree = Tree::new(SHOP);
    tree.write("bin/git", "#!/bin/sh\nexec sleep 600\n");
    git(&tree.path(), &["init", "-q"]);
    let path = format!("{}:{}", tree.path().join("bin").display(), std::env::var_os("PATH").unwrap().display());
    tree.variables.insert("PATH", path);
    let mut session = Session::start(&tree, &[]);
    let call = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "diff", "arguments": {"since": "HEAD"}}});
    session.send(call(json!("a")));
    session.send(call(json!("a")));
    let twice = session.receive();
    assert_eq!((&twice["id"], &twice["error"]["code"]), (&json!("a"), &json!(-32600)), "{twice}");
    session.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}}));
    session.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "none"}}));
    session.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}));
    assert_eq!(session.ask("ping", json!({}))["result"], json!({}));
    has(&session.call("build", json!({"directory": "prod"}), false), &["replicas: 3"]);
    session.end();
    tree.assert_nothing_left();
}

#[test]
fn calls_that_wait_are_bounded_and_end_with_the_server() {
    let mut tree = Tree::new(SHOP);
    tree.write("bin/git", "#!/bin/sh\nexec sleep 600\n");
    git(&tree.path(), &["init", "-q"]);
    let path = format!("{}:{}", tree.path().join("bin").display(), std::env::var_os("PATH").unwrap().display());
    tree.variables.insert("PATH", path);
    let mut session = Session::start(&tree, &[]);
    for id in 0..400 {
        session.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "diff", "arguments": {"since": "HEAD"}}}));
    }
    let refused = session.receive();
    assert_eq!(refused["error"]["code"], -32000, "{refused}");
    let Session { mut server, input, output, .. } = session;
    #[expect(clippy::disallowed_methods, reason = "the client ends the server")]
    let killed = Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(killed.success());
    assert_eq!(server.wait().unwrap().code(), Some(130));
    drop((input, output));
    tree.assert_nothing_left();
}
