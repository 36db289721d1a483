//! `cfg` and `fn run`: each command of testdata/package on the files of its case. kustomize's
//! status, output and files are recorded in `recorded/`; `UPDATE=1` records them again, where
//! kustomize is in PATH.

use crate::support::edit::{of_files, words};
use crate::support::{Run, Tree, files, in_path, program, run, split};
use crate::{is_update, of_file, testdata};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

pub fn tests() -> Vec<Trial> {
    files(&testdata("package"), ".cases").iter().map(|path| of_file(path, check)).collect()
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

fn check(path: &Path) -> Result<(), String> {
    let (_, mut files) = split(&fs::read_to_string(path).unwrap());
    let at = files.iter().position(|(name, _)| name == "commands").unwrap();
    let commands = files.remove(at).1;
    let record = testdata("package/recorded").join(path.with_extension("jsonl").file_name().unwrap());
    if let (true, Some(kustomize)) = (is_update(), in_path("kustomize")) {
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
    let mut faults = String::new();
    for command in commands.lines() {
        let theirs: Value = serde_json::from_str(recorded.next().unwrap_or("null")).unwrap();
        let tree = of_files(&files);
        let run = ran(Path::new(program()), &tree, command);
        let stderr = run.stderr.clone();
        let ours = outcome(&tree, command, &run);
        if ours != theirs {
            faults += &format!("{command}\n  {ours}\n  {theirs}\n  {stderr}\n");
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}
