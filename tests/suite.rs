//! The txtar cases of testdata: see testdata/README.md. `UPDATE=1 cargo test` rewrites what they
//! expect on stdout; `RUSTOMIZE_CASE=NAME` runs the case `NAME.txtar` alone.

use crate::support::{Tree, files, split};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories of cases that tests of their own run: tests/check.rs, tests/lint.rs,
/// tests/mistakes.rs and tests/pages.rs.
const OTHERS: [&str; 4] = ["check", "lint", "mistakes", "pages"];

#[test]
fn cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let update = std::env::var_os("UPDATE").is_some();
    let only = std::env::var_os("RUSTOMIZE_CASE");
    let is_meant = |name: &OsStr| only.as_ref().is_none_or(|only| only == name);
    let mut names = BTreeMap::new();
    let mut failures = String::new();
    let has_own_test = |path: &PathBuf| OTHERS.iter().any(|name| path.starts_with(root.join(name)));
    let cases: Vec<PathBuf> = files(&root, ".txtar").into_iter().filter(|path| !has_own_test(path)).collect();
    assert!(cases.len() > 50, "the cases were not found");
    for path in &cases {
        let name = path.file_stem().unwrap();
        if let Some(other) = names.insert(name, path) {
            let _ = writeln!(failures, "{} and {} have one name", path.display(), other.display());
        }
        if !is_meant(name) {
            continue;
        }
        if let Err(why) = case(path, update) {
            let _ = writeln!(failures, "=== {}\n{why}", path.strip_prefix(&root).unwrap().display());
        }
    }
    assert!(names.keys().any(|name| is_meant(name)), "no case has the name of RUSTOMIZE_CASE");
    assert!(failures.is_empty(), "{failures}");
}

/// Cases of faults that are in no file.
pub const WITHOUT_A_PLACE: [&str; 1] = ["directory-missing.txtar"];

/// The line of an error that says its place: `--> file:line:column`.
pub fn place_line(stderr: &str) -> Option<&str> {
    stderr.lines().map(str::trim_start).find(|line| line.starts_with("--> "))
}

/// The tree of a case, without its arguments and its expected output.
pub fn tree_of(files: &[(String, String)]) -> Tree {
    let mut tree = Tree::new("");
    let env = files.iter().find(|(n, _)| n == "env").map_or("", |(_, text)| text.as_str());
    for (name, text) in files.iter().filter(|(n, _)| !matches!(n.as_str(), "stdout" | "stderr" | "args" | "env")) {
        match name.split_once(" -> ") {
            Some((link, target)) => std::os::unix::fs::symlink(target, tree.path().join(link)).unwrap(),
            None => tree.write(name, text),
        }
    }
    for line in env.lines() {
        let (name, value) = line.split_once('=').unwrap();
        let value = value.replace("$TREE", &tree.path().to_string_lossy());
        tree.variables.insert(Box::leak(name.to_owned().into_boxed_str()), value);
    }
    tree
}

fn case(path: &Path, update: bool) -> Result<(), String> {
    let text = fs::read_to_string(path).unwrap();
    let (head, files) = split(&text);
    if head.trim().is_empty() {
        return Err("the head does not say what the case shows".into());
    }
    let file = |name: &str| files.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str());
    let tree = tree_of(&files);
    let args: Vec<&str> = file("args").unwrap_or("build").split_whitespace().collect();
    let run = tree.run(&args);
    let stdout = run.stdout.replace(&*tree.path().to_string_lossy(), "$TREE");
    let wanted = file("stdout");
    let status = i32::from(wanted.is_none());
    if run.status != Some(status) {
        return Err(format!("exit status {:?}, expected {status}; stderr:\n{}", run.status, run.stderr));
    }
    let stderr = run.stderr.replace(&*tree.path().to_string_lossy(), "$TREE");
    for line in file("stderr").unwrap_or_default().lines() {
        if !stderr.contains(line) {
            return Err(format!("stderr does not say '{line}' but:\n{}", run.stderr));
        }
    }
    if wanted.is_none() {
        let Some(said) = file("stderr") else { return Err("the case expects neither stdout nor stderr".into()) };
        let place = place_line(&stderr);
        let is_of_a_file = !WITHOUT_A_PLACE.iter().any(|name| path.ends_with(name));
        if place.is_some() != is_of_a_file || place.is_some_and(|place| !said.lines().any(|line| line == place)) {
            return Err(format!("the case does not say the place of the fault, which is {place:?}"));
        }
    }
    if stdout == wanted.unwrap_or_default() {
        return Ok(());
    }
    // The recorded output of kustomize is not ours to rewrite.
    let recorded = head.starts_with("Recorded from kustomize");
    if update
        && !recorded
        && let Some(old) = wanted
    {
        let at = text.rfind("-- stdout --\n").unwrap() + "-- stdout --\n".len();
        fs::write(path, format!("{}{stdout}{}", &text[..at], &text[at + old.len()..])).unwrap();
        return Ok(());
    }
    Err(format!("stdout is\n{stdout}--- expected\n{}", wanted.unwrap_or_default()))
}
