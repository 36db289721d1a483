//! Workers: installed plugins that are started once for a build and called over frames. Real
//! processes in the sandbox of this system; those that break the rules, too.

use crate::support::plugins::require;
use crate::support::{Run, Tree, in_path, skip};
use std::fs;

const SDK: &str = include_str!("../plugin/sdk/python/rustomize_plugin.py");

const TREE: &str = "-- kustomization.yaml --
resources: [cm.yaml]
generators: [one.yaml, two.yaml]
transformers: [label.yaml]
validators: [label.yaml]
-- cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
-- one.yaml --
apiVersion: ex.io/v1
kind: Counted
metadata: {name: one}
-- two.yaml --
apiVersion: ex.io/v1
kind: Counted
metadata: {name: two}
-- label.yaml --
apiVersion: ex.io/v1
kind: Counted
metadata: {name: label}
";

/// A plugin in Python with all roles. `CALLS` counts the calls of a process.
const COUNTED: &str = r#"
from dataclasses import dataclass
import rustomize_plugin

CALLS = [0]

@dataclass
class Counted(rustomize_plugin.Plugin):
    """Counts its calls."""

    VERSION = "1.0.0"
    API_VERSION = "ex.io/v1"
    WORKER = True
    fails: bool = False

    def count(self):
        print("for people")
        CALLS[0] += 1
        if self.fails:
            raise rustomize_plugin.Error("it is told to fail")
        return str(CALLS[0])

    def generate(self, call):
        metadata = {"name": call.name}
        return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"call": self.count()}}]

    def transform(self, call, resources):
        for resource in resources:
            resource["metadata"].setdefault("labels", {})["call"] = self.count()
        return resources

    def validate(self, call, resources):
        self.count()

if __name__ == "__main__":
    rustomize_plugin.main(Counted)
"#;

const LISTS: &str = "generators: [{apiVersion: ex.io/v1, kind: Counted}]
transformers: [{apiVersion: ex.io/v1, kind: Counted}]
validators: [{apiVersion: ex.io/v1, kind: Counted}]
";

/// Installs a plugin in Python from a directory of the tree.
fn install(tree: &Tree, main: &str, worker: &str) -> Run {
    let manifest = format!(
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: python\nformat: json\n{worker}{LISTS}"
    );
    tree.write("plugin/plugin.yaml", &manifest);
    tree.write("plugin/main.py", main);
    tree.write("plugin/rustomize_plugin.py", SDK);
    require(tree, "{counted: {source: h.io/acme/counted, from: ./plugin}}");
    tree.run(&["plugin", "install"])
}

fn has_python() -> bool {
    if in_path("python3").is_none() {
        skip("no python3");
        return false;
    }
    true
}

#[test]
fn a_worker_is_started_once_for_a_build_and_serves_all_roles() {
    if !has_python() {
        return;
    }
    let tree = Tree::new(TREE);
    install(&tree, COUNTED, "worker: true\n").ok();
    let run = tree.build(&[]);
    assert!(run.stderr.contains("for people"), "what a worker prints is shown: {}", run.stderr);
    let out = run.ok();
    tree.assert_nothing_left();
    // The generators are the first two calls of one process, and the transformer counts on.
    for (name, call) in [("one", 1), ("two", 2)] {
        let object = out.split("---\n").find(|object| object.contains(&format!("name: {name}\n"))).unwrap();
        assert!(object.contains(&format!("data:\n  call: \"{call}\"\n")), "{out}");
    }
    assert!(out.contains("    call: \"3\"\n") && out.contains("    call: \"5\"\n"), "{out}");
    // Without the word of its manifest each call is a process of its own, with the same result but
    // for the counts.
    let apart = COUNTED.replace("WORKER = True", "WORKER = False").replace("print(\"for people\")", "pass");
    install(&tree, &apart, "").ok();
    let apart = tree.build(&[]).ok();
    let uncounted = |text: &str| text.lines().filter(|line| !line.contains("call: ")).collect::<Vec<_>>().join("\n");
    assert_eq!(uncounted(&apart), uncounted(&out));
    assert!(!apart.contains("call: \"5\""), "{apart}");
}

#[test]
fn an_error_of_a_call_is_one_error_of_the_build() {
    if !has_python() {
        return;
    }
    let tree = Tree::new(TREE);
    install(&tree, COUNTED, "worker: true\n").ok();
    tree.write("two.yaml", "apiVersion: ex.io/v1\nkind: Counted\nmetadata: {name: two}\nfails: true\n");
    let run = tree.build(&[]);
    assert_eq!(run.stderr.matches("it is told to fail").count(), 1, "{}", run.stderr);
    run.fails_with(&["failed: it is told to fail", "two.yaml:1:1"]);
    tree.assert_nothing_left();
}

/// A worker by hand: `ANSWER` is what it does with a request of the number `number`.
const BY_HAND: &str = r#"
import json, os, sys, time
def frame(kind, content):
    sys.stdout.buffer.write(bytes([kind]) + len(content).to_bytes(8, "little") + content)
    sys.stdout.buffer.flush()
made = b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}}\n'
def answer(number, kind=0, content=made):
    frame(kind, number.to_bytes(8, "little") + content)
def half(content, announced=100):
    sys.stdout.buffer.write(bytes([0]) + announced.to_bytes(8, "little") + content)
    sys.stdout.buffer.flush()
HELLO
number = 0
while head := sys.stdin.buffer.read(9):
    sys.stdin.buffer.read(int.from_bytes(head[1:], "little"))
    number += 1
    ANSWER
"#;

#[test]
fn a_worker_that_breaks_the_rules_costs_one_clear_error() {
    if !has_python() {
        return;
    }
    let tree = Tree::new(TREE);
    tree.write("kustomization.yaml", "generators: [one.yaml, two.yaml]\n");
    let hello = "frame(0, b'{}')";
    let cases: [(&str, &str, &[&str]); 17] = [
        (hello, "os._exit(3)", &["ended in the middle of a call: exit status: 3"]),
        (hello, "os.abort()", &["ended in the middle of a call: signal: 6"]),
        (hello, "answer(number); answer(number)", &["broke the rules of workers", "answered"]),
        (hello, "answer(number + 1)", &["it answered another request than the one that was asked"]),
        (hello, "frame(0, b'short')", &["too short for the number of the request"]),
        (hello, "answer(number, kind=9)", &["a frame of an unknown kind"]),
        (hello, "time.sleep(600)", &["took longer than 2 s"]),
        (hello, "print('hello'); sys.stdout.flush(); answer(number)", &["plugin ex.io/v1 Counted one"]),
        (hello, "frame(0, b'x' * (3 << 20))", &["printed more than 1048576 bytes"]),
        ("frame(0, b'no object')", "answer(number)", &["its first frame is not a JSON object"]),
        ("sys.exit(4)", "answer(number)", &["ended in the middle of a call: exit status: 4"]),
        (hello, "answer(number); os._exit(5)", &["ended in the middle of a call: exit status: 5", "two.yaml"]),
        (hello, "half(b'x'); os._exit(6)", &["ended in the middle of a call: exit status: 6"]),
        (hello, "half(b'x'); time.sleep(600)", &["took longer than 2 s"]),
        (hello, "half(b'', 1 << 63)", &["printed more than 1048576 bytes"]),
        (hello, "os.close(1); time.sleep(600)", &["it closed the pipe that its answers come through"]),
        // A child of the worker has its pipe, and answers when the worker has ended.
        (hello, "os.fork() or (time.sleep(60), answer(number)); os._exit(7)", &["exit status: 7"]),
    ];
    for (hello, answer, words) in cases {
        install(&tree, &BY_HAND.replace("HELLO", hello).replace("ANSWER", answer), "worker: true\n").ok();
        let run = tree.build(&["--plugin-timeout", "2s", "--plugin-output-limit", "1MiB"]);
        assert_eq!(run.stdout, "", "{answer}");
        assert_eq!(run.stderr.matches("Error: ").count(), 1, "{answer}: {}", run.stderr);
        run.fails_with(words);
        tree.assert_nothing_left();
    }
}

#[test]
fn a_worker_answers_late_and_is_waited_for() {
    if !has_python() {
        return;
    }
    let tree = Tree::new(TREE);
    tree.write("kustomization.yaml", "generators: [one.yaml]\n");
    let late = BY_HAND.replace("HELLO", "frame(0, b'{}')").replace("ANSWER", "time.sleep(0.3); answer(number)");
    install(&tree, &late, "worker: true\n").ok();
    assert!(tree.build(&[]).ok().contains("name: made"));
}

#[test]
fn roots_that_are_confined_have_workers_of_their_own() {
    if !has_python() {
        return;
    }
    let tree = Tree::new(TREE);
    install(&tree, COUNTED, "worker: true\n").ok();
    tree.write("kustomization.yaml", "resources: [a, b]\n");
    for root in ["a", "b"] {
        tree.write(&format!("{root}/kustomization.yaml"), &format!("namePrefix: {root}-\ngenerators: [one.yaml]\n"));
        fs::copy(tree.path().join("one.yaml"), tree.path().join(root).join("one.yaml")).unwrap();
    }
    let out = tree.build(&[]).ok();
    assert_eq!(out.matches("call: \"1\"").count(), 2, "{out}");
    let shared = tree.build(&["--plugin-isolation", "off"]).ok();
    assert!(shared.contains("call: \"1\"") && shared.contains("call: \"2\""), "{shared}");
}

#[test]
fn only_an_exec_plugin_is_a_worker() {
    let tree = Tree::new(TREE);
    let refused = install(&tree, COUNTED, "protocol: krm\nworker: true\n");
    assert!(refused.stderr.contains("format") || refused.stderr.contains("only a plugin with the protocol 'exec'"));
    assert_eq!(refused.status, Some(1));
}
