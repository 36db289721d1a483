//! `edit`: each command of testdata/edit on the files of its case. kustomize's status, words, files
//! and builds are recorded in `recorded/`, and what the kustomization file looks like here in
//! `results/`. `UPDATE=1` writes both, where kustomize is in PATH.

use crate::support::edit::{arguments, is_kustomization, kustomization, kustomize, of_files, ours, words};
use crate::support::{Run, Tree, files, in_path, split};
use crate::{is_update, of_file, testdata};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that say the same as kustomize's, and more: where, or without what only Go prints. Those
/// of kustomize, and those here.
const OTHER_WORDS: [(&str, &str); 6] = [
    ("invalid Kustomization: json: unknown field \"nope\"", "invalid Kustomization: unknown field \"nope\""),
    ("must build at directory: not a valid directory", "no such file or directory"),
    ("literal sources [nope]: invalid literal source nope", "invalid literal source"),
    ("env source files: [nope]: evalsymlink failure", "'nope': no such file or directory"),
    ("patch types.Patch{", "already in kustomization file"),
    ("well-defined vars that were never replaced", ""),
];

pub fn tests() -> Vec<Trial> {
    files(&folder(), ".edits").iter().map(|path| of_file(path, check)).collect()
}

fn folder() -> PathBuf {
    testdata("edit")
}

/// The files of a tree, and what they say.
fn contents(tree: &Tree) -> BTreeMap<String, String> {
    let name = |path: &Path| path.strip_prefix(tree.path()).unwrap().to_string_lossy().into_owned();
    files(&tree.path(), "").iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The first words of an error, and the notes. Dates, usage and what begins with `#` or a blank are
/// left out.
fn said(stderr: &str, is_kustomize: bool) -> Vec<String> {
    let is_date = |word: &str| word.len() == 10 && word.starts_with("20") && word.contains('/');
    let note = |line: &str| match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
        [date, _, note] if is_date(date) => Some(note.to_owned()),
        _ if line.starts_with("Error: ") || !is_kustomize => Some(line.to_owned()),
        _ => None,
    };
    // Ours has lines of a file, which begin with their number; kustomize's notes begin with a date.
    let is_of_file = |line: &str| !is_kustomize && line.starts_with(|c: char| c.is_ascii_digit());
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with([' ', '#', '-']) && !is_of_file(line);
    stderr.lines().filter(is_said).filter_map(note).collect()
}

/// True if words are kustomize's, or words of ours that take their place.
fn same_words(ours: &[String], theirs: &[Value]) -> bool {
    let stands_for = |theirs: &str| OTHER_WORDS.iter().find(|(words, _)| theirs.contains(words)).map(|(_, ours)| *ours);
    let theirs: Vec<&str> = theirs.iter().map(|line| line.as_str().unwrap()).collect();
    let theirs: Vec<&str> = theirs.into_iter().filter(|line| stands_for(line) != Some("")).collect();
    let is_same = |ours: &String, theirs: &str| stands_for(theirs).map_or(ours == theirs, |words| ours.contains(words));
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
}

/// The state that a run left, in a form that can be compared.
fn outcome(tree: &Tree, run: &Run, build: &Run, is_kustomize: bool) -> Value {
    let files = contents(tree);
    let (kustomizations, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        files.into_iter().partition(|(name, _)| is_kustomization(name));
    let read: BTreeMap<&String, Value> =
        kustomizations.iter().map(|(name, text)| (name, kustomization(text))).collect();
    let built = (build.status == Some(0)).then_some(&build.stdout);
    json!({
        "status": run.status,
        "said": said(&run.stderr, is_kustomize),
        "kustomization": read,
        "others": others,
        "build": built,
    })
}

/// Runs each command of a case on its files.
fn check(path: &Path) -> Result<(), String> {
    let mut faults = Vec::new();
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let (_, mut files) = split(&fs::read_to_string(path).unwrap());
    let at = files.iter().position(|(name, _)| name == "commands").unwrap();
    let commands = files.remove(at).1;
    let record = folder().join(format!("recorded/{name}.jsonl"));
    let results = folder().join(format!("results/{name}.txt"));
    let is_update = is_update() && in_path("kustomize").is_some();
    let recorded = fs::read_to_string(&record).unwrap_or_default();
    let mut recorded = recorded.lines();
    let (mut new_record, mut new_results) = (String::new(), String::new());
    for command in commands.lines() {
        let words = words(command);
        let theirs = if is_update {
            let tree = of_files(&files);
            let run = kustomize(&tree, &arguments("edit", &words)).unwrap();
            let build = kustomize(&tree, &["build".to_owned()]).unwrap();
            let mut outcome = outcome(&tree, &run, &build, true);
            outcome["command"] = json!(command);
            outcome
        } else {
            serde_json::from_str(recorded.next().unwrap_or("null")).unwrap()
        };
        let tree = of_files(&files);
        let run = ours(&tree, &arguments("edit", &words));
        let mut outcome = outcome(&tree, &run, &tree.run(&["build"]), false);
        let said = said(&run.stderr, false);
        let mut wrong = |what: &str, ours: &dyn std::fmt::Debug, theirs: &dyn std::fmt::Debug| {
            faults.push(format!("{name}: {command}: {what}\n  {ours:?}\n  {theirs:?}"));
        };
        if theirs["command"] != *command {
            wrong("is not recorded: run this test with UPDATE=1 and kustomize in PATH", &command, &theirs["command"]);
            continue;
        }
        if !same_words(&said, theirs["said"].as_array().unwrap()) {
            wrong("says", &said, &theirs["said"]);
        }
        for part in ["status", "kustomization", "others", "build"] {
            if outcome[part] != theirs[part] {
                wrong(part, &outcome[part].take(), &theirs[part]);
            }
        }
        let texts = contents(&tree).into_iter().filter(|(name, _)| is_kustomization(name));
        let text: String = texts.map(|(_, text)| text).collect();
        let before: String =
            files.iter().filter(|(name, _)| is_kustomization(name)).map(|(_, text)| text.as_str()).collect();
        let shown = if text == before { "(as it was)\n".to_owned() } else { text };
        writeln!(new_results, "=== {command}\n{shown}").unwrap();
        writeln!(new_record, "{theirs}").unwrap();
    }
    if is_update {
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        fs::create_dir_all(results.parent().unwrap()).unwrap();
        fs::write(&record, new_record).unwrap();
        fs::write(&results, &new_results).unwrap();
    }
    if fs::read_to_string(&results).unwrap_or_default() != new_results {
        faults.push(format!("{name}: the files are not those of {}:\n{new_results}", results.display()));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}
