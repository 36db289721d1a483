//! `cfg` and `fn run`: what is not a case of testdata/package.

use crate::support::{Tree, run};
use std::fs;

/// Where kustomize prints an error among the resources and exits with 0, nothing is printed.
#[test]
fn cfg_faults_are_errors() {
    let tree = Tree::new(
        "-- good.yaml --\nkind: A\nmetadata: {name: a}\n-- pkg/Krmfile --\n\n-- pkg/bad.yaml --\na: [\n\
         -- good/g.yaml --\nkind: A\n",
    );
    tree.run(&["cfg", "cat", "pkg"]).fails_with(&["bad.yaml:"]);
    tree.run(&["cfg", "count", "."]).fails_with(&["bad.yaml:"]);
    tree.run(&["cfg", "cat", "."]).fails_with(&["bad.yaml:"]);
    tree.run(&["cfg", "grep", "kind=A", "."]).fails_with(&["bad.yaml:"]);
    tree.run(&["cfg", "grep", "kind.x=A", "good.yaml"]).fails_with(&["expected MappingNode but got ScalarNode"]);
    tree.run(&["cfg", "grep", "kind=(", "good.yaml"]).fails_with(&["missing closing )"]);
    tree.run(&["cfg", "grep"]).fails_with(&["missing required argument: QUERY"]);
    tree.run(&["cfg", "grep", "a=b=c", "good.yaml"]).fails_with(&["ambiguous match"]);
    tree.write("keys/keys.yaml", "? a\n: b\n");
    tree.run(&["cfg", "cat", "keys/keys.yaml"]).fails_with(&["keys.yaml:1:1", "explicit keys"]);
    tree.write("good/.krmignore", "x\n");
    tree.run(&["cfg", "tree", "good"]).fails_with(&[".krmignore"]);
    tree.run(&["cfg", "cat", "nope"]).fails_with(&["'nope'"]);
    tree.write("secret/s.yaml", "kind: Secret\n---\nkind: Secret\nmetadata: hunter2\n");
    for command in ["cat", "tree", "count"] {
        let stderr = tree.run(&["cfg", command, "secret"]).fails_with(&["expected MappingNode", "s.yaml:4:11", "hint"]);
        assert!(!stderr.contains("hunter2"), "{stderr}");
    }
    tree.write("key/s.yaml", "# above\nkind: Secret\nmetadata: {name: s}\ndata: [hunter2]\n");
    let stderr =
        tree.run(&["cfg", "grep", "data.password=1", "key"]).fails_with(&["expected MappingNode", "s.yaml:2:1"]);
    assert!(!stderr.contains("hunter2"), "{stderr}");
}

/// A chain of owners fills no stack, and resources with one name are shown once each.
#[test]
fn each_owner_is_shown_once() {
    let chain = |length: usize| -> String {
        let item = |i: usize| match i {
            0 => "- {kind: P, metadata: {name: p0}}\n".to_owned(),
            _ => format!("- {{kind: P, metadata: {{name: p{i}, ownerReferences: [{{kind: P, name: p{}}}]}}}}\n", i - 1),
        };
        format!("apiVersion: v1\nkind: List\nitems:\n{}", (0..length).map(item).collect::<String>())
    };
    let tree = Tree::new("");
    let shown = |text: &str| {
        tree.write("list.yaml", text);
        let mut command = tree.command(&["cfg", "tree", "-"]);
        run(command.stdin(fs::File::open(tree.path().join("list.yaml")).unwrap()))
    };
    assert_eq!(shown(&chain(900)).ok().lines().count(), 901);
    shown(&chain(20_000)).fails_with(&["more than 1000 resources", "--graph-structure directory"]);
    // Each level has each name twice: a walk over all ways would take 2^40 steps.
    let twice: String = chain(40)
        .lines()
        .flat_map(|line| [line, line].into_iter().take(1 + usize::from(line.starts_with('-'))))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(shown(&twice).ok().lines().count(), 81);
}

/// A function that is an executable runs only if the flag is given, and a failed one writes
/// nothing.
#[test]
fn functions_are_contained() {
    let function = "apiVersion: x/v1\nkind: Fn\nmetadata:\n  name: f\n  annotations:\n    \
        config.kubernetes.io/function: |\n      exec: {path: ./fn.sh}\n";
    let tree = Tree::new(&format!(
        "-- d/a.yaml --\nkind: A\nmetadata: {{name: a}}\n-- d/fn.yaml --\n{function}\
         -- fn.sh --\n#!/bin/sh\ntouch ran\ncat\n-- bad.sh --\n#!/bin/sh\ncat\necho oops >&2\nexit 3\n\
         -- out.sh --\n#!/bin/sh\nsed \"s#path: 'a.yaml'#path: '../a.yaml'#\"\n"
    ));
    let ran = tree.path().join("ran");
    let run = tree.run(&["fn", "run", "d"]);
    assert!(run.stderr.contains("pass --enable-exec"), "{}", run.stderr);
    run.ok();
    assert!(!ran.exists(), "an executable ran without the flag");
    tree.run(&["fn", "run", "d", "--exec-path", "./fn.sh"]).fails_with(&["must specify --enable-exec"]);
    assert!(!ran.exists(), "an executable ran without the flag");
    tree.run(&["fn", "run", "d", "--", "a=b"]).fails_with(&["must specify --image"]);
    tree.run(&["fn", "run", "d", "e"]).fails_with(&["0 or 1 arguments supported"]);
    let before = fs::read_to_string(tree.path().join("d/a.yaml")).unwrap();
    tree.run(&["fn", "run", "d", "--enable-exec", "--exec-path", "./bad.sh"]).fails_with(&["oops"]);
    tree.run(&["fn", "run", "d", "--enable-exec", "--exec-path", "./out.sh"]).fails_with(&["..", "a.yaml"]);
    assert_eq!(fs::read_to_string(tree.path().join("d/a.yaml")).unwrap(), before);
    assert!(!tree.path().join("a.yaml").exists(), "a file was written outside of the directory");
    tree.run(&["fn", "run", "d", "--enable-exec"]).ok();
    assert!(ran.exists(), "the flag enables the executable");
}
