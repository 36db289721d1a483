//! `create` and `localize`: each command of testdata/create and testdata/localize on the files of
//! its case. The status of kustomize, its error, and the files that it left are recorded in
//! `recorded/`; `UPDATE=1` records them again if kustomize is in PATH.
//!
//! The file `commands` of a case has one command in a line; after ` => ` are words of rustomize's
//! error. tests/support/localize.rs has the other files.

use crate::support::localize::{Case, kustomize, words};
use crate::support::{files, in_path, split};
use crate::{is_update, of_file, testdata};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Errors of kustomize for `create`, by what they contain, with those that say the same here.
const OTHER_WORDS: [(&str, &str); 1] = [("has no match: must build at directory", "no such file or directory")];

pub fn tests() -> Vec<Trial> {
    let of_folder = |folder: &'static str| {
        let paths = files(&testdata(folder), ".commands").into_iter();
        paths.map(move |path| of_file(&path, move |path| check(path, folder)))
    };
    ["create", "localize"].into_iter().flat_map(of_folder).collect()
}

/// Holds each command of a case to its record.
fn check(path: &Path, folder: &str) -> Result<(), String> {
    let is_update = is_update() && in_path("kustomize").is_some();
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let (_, mut given) = split(&fs::read_to_string(path).unwrap());
    let at = given.iter().position(|(name, _)| name == "commands").unwrap();
    let commands = given.remove(at).1;
    let record = testdata(folder).join(format!("recorded/{name}.jsonl"));
    let recorded = fs::read_to_string(&record).unwrap_or_default();
    let (mut recorded, mut new_record, mut faults) = (recorded.lines(), String::new(), String::new());
    for line in commands.lines() {
        let command = line.split_once(" => ").map_or(line, |(command, _)| command);
        let arguments = |case: &Case| [vec![folder.to_owned()], words(&case.filled(command))].concat();
        let theirs = match is_update {
            true => {
                let case = Case::new(&given);
                let run = kustomize(&case, &arguments(&case));
                let mut outcome = case.outcome(&run);
                outcome["command"] = json!(command);
                outcome
            }
            false => serde_json::from_str(recorded.next().unwrap_or("null")).unwrap(),
        };
        writeln!(new_record, "{theirs}").unwrap();
        let case = Case::new(&given);
        let args = arguments(&case);
        let run = case.tree.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let ours = case.outcome(&run);
        if let Err(fault) = compare(line, folder, &ours, &theirs, &run.stderr) {
            writeln!(faults, "{command}: {fault}\n{}", run.stderr).unwrap();
        }
        case.tree.assert_nothing_left();
    }
    if is_update {
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        fs::write(&record, new_record).unwrap();
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

/// Compares what a line of a case's commands did here and in kustomize.
fn compare(line: &str, folder: &str, ours: &Value, theirs: &Value, stderr: &str) -> Result<(), String> {
    if !line.starts_with(theirs["command"].as_str().unwrap_or("\0")) {
        return Err("is not recorded: run this test with UPDATE=1 and kustomize in PATH".to_owned());
    }
    let is_ours_alone = line.ends_with("(here alone)");
    if ours["status"] != theirs["status"] && !is_ours_alone {
        return Err(format!("status {} and not {}: {}", ours["status"], theirs["status"], theirs["error"]));
    }
    if ours["status"] != json!(0) {
        if ours["left"] != json!({}) {
            return Err(format!("left {}", ours["left"]));
        }
        let theirs = theirs["error"].as_str().unwrap();
        let error = ours["error"].as_str().unwrap();
        let other = OTHER_WORDS.iter().find(|(words, _)| theirs.contains(words));
        let is_same = other.map_or(error == theirs, |(_, words)| error.contains(words));
        if folder == "create" && !is_same {
            return Err(format!("says {error}\nand not {theirs}"));
        }
        let wanted = line.split_once(" => ").map_or("", |(_, wanted)| wanted);
        let wanted = wanted.trim_end_matches("(here alone)").trim();
        if folder == "localize" && (wanted.is_empty() || !stderr.contains(wanted)) {
            return Err(format!("does not say '{wanted}'; kustomize says {theirs}"));
        }
        return Ok(());
    }
    let (left, wanted) = (ours["left"].as_object().unwrap(), theirs["left"].as_object().unwrap());
    let mut names = left.keys().chain(wanted.keys());
    match names.find(|name| left.get(*name) != wanted.get(*name)) {
        Some(name) if !is_ours_alone => Err(format!(
            "{name} is\n{:?}\nand not\n{:?}",
            left.get(name).map(Value::as_str),
            wanted.get(name).map(Value::as_str)
        )),
        _ => Ok(()),
    }
}
