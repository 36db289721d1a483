//! `cfg` and `fn run`: each command of testdata/package on the files of its case. kustomize's
//! status, output and files are recorded in `recorded/`.
//! `UPDATE=1 cargo test --test main package::` records them again, where kustomize is in PATH.

use crate::edit::words;
use crate::support::{Run, Tree, files, in_path, run, split};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/package")
}

/// Runs a program in a tree, with stdin from the file behind `<`, and a stand-in for docker.
fn ran(program: &Path, tree: &Tree, line: &str) -> Run {
    let (line, input) = line.split_once(" < ").map_or((line, None), |(line, input)| (line, Some(input)));
    #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
    let mut command = Command::new(program);
    #[expect(clippy::disallowed_methods, reason = "where the programs of this machine are")]
    let path = format!("{}:{}", tree.path().join("bin").display(), std::env::var("PATH").unwrap());
    command.args(words(line)).current_dir(tree.path()).env("PATH", path).env("HOME", tree.home());
    command.env("KRM_FN_RUNTIME", "docker").env("TMPDIR", tree.tmp());
    match input {
        Some(input) => command.stdin(fs::File::open(tree.path().join(input)).unwrap()),
        None => command.stdin(Stdio::null()),
    };
    run(&mut command)
}

/// The state that a run left: its status, what it printed, and all files.
fn outcome(tree: &Tree, command: &str, run: &Run) -> Value {
    let name = |path: &Path| path.strip_prefix(tree.path()).unwrap().to_string_lossy().into_owned();
    let own = |text: String| text.replace(&tree.path().display().to_string(), "TREE");
    let files: serde_json::Map<String, Value> = files(&tree.path(), "")
        .iter()
        .map(|path| (name(path), json!(own(fs::read_to_string(path).unwrap()))))
        .filter(|(name, _)| name != "commands" && !name.starts_with("bin/"))
        .collect();
    json!({"command": command, "status": run.status, "stdout": own(run.stdout.clone()), "files": files})
}

fn of_files(files: &[(String, String)]) -> Tree {
    let tree = Tree::new("");
    files.iter().for_each(|(name, text)| tree.write(name, text));
    tree
}

#[test]
fn each_command_does_what_kustomize_does() {
    let (mut faults, mut count) = (Vec::new(), 0);
    for path in files(&folder(), ".cases") {
        let (_, mut files) = split(&fs::read_to_string(&path).unwrap());
        let at = files.iter().position(|(name, _)| name == "commands").unwrap();
        let commands = files.remove(at).1;
        let record = folder().join("recorded").join(path.with_extension("jsonl").file_name().unwrap());
        if let (true, Some(kustomize)) = (std::env::var_os("UPDATE").is_some(), in_path("kustomize")) {
            let mut rows = String::new();
            for command in commands.lines() {
                let tree = of_files(&files);
                let run = ran(&kustomize, &tree, command);
                rows.push_str(&format!("{}\n", outcome(&tree, command, &run)));
            }
            fs::create_dir_all(record.parent().unwrap()).unwrap();
            fs::write(&record, rows).unwrap();
        }
        let recorded = fs::read_to_string(&record).unwrap_or_default();
        let mut recorded = recorded.lines();
        for command in commands.lines() {
            count += 1;
            let theirs: Value = serde_json::from_str(recorded.next().unwrap_or("null")).unwrap();
            let tree = of_files(&files);
            let run = ran(Path::new(env!("CARGO_BIN_EXE_rustomize")), &tree, command);
            let stderr = run.stderr.clone();
            let ours = outcome(&tree, command, &run);
            if ours != theirs {
                faults.push(format!("{}: {command}\n  {ours}\n  {theirs}\n  {stderr}", path.display()));
            }
        }
    }
    assert!(count > 200, "{count} commands");
    assert!(faults.is_empty(), "{} differences of {count}:\n{}", faults.len(), faults.join("\n"));
}

/// Where kustomize prints an error among the resources and exits with 0, nothing is printed.
#[test]
fn faults_are_errors() {
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
fn owners_are_shown_once_each() {
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
        ran(Path::new(env!("CARGO_BIN_EXE_rustomize")), &tree, "cfg tree - < list.yaml")
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
