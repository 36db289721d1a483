//! The txtar cases: trees, arguments, and all that the command prints for them. testdata/README.md
//! describes them.

use crate::case::{Case, Ran, place_line, replaced};
use crate::support::files;
use crate::{is_update, of_file, testdata};
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories of cases that are not builds with their output: other modules run them.
const OTHERS: [&str; 3] = ["check", "lint", "pages"];

pub fn tests() -> Vec<Trial> {
    let is_other = |path: &PathBuf| OTHERS.iter().any(|name| path.starts_with(testdata(name)));
    let mut names = BTreeMap::new();
    let mut tests = Vec::new();
    for path in files(&testdata(""), ".txtar").into_iter().filter(|path| !is_other(path)) {
        let name = path.file_stem().unwrap().to_owned();
        let other = names.insert(name, path.clone());
        tests.push(of_file(&path, move |path| match other {
            Some(other) => Err(format!("{} has the same name", other.display())),
            None => check(path),
        }));
    }
    tests
}

fn check(path: &Path) -> Result<(), String> {
    let case = Case::read(path);
    if case.head.trim().is_empty() {
        return Err("the head does not say what the case shows".into());
    }
    let ran = case.run();
    let stdout = case.file("stdout");
    let status = i32::from(stdout.is_none());
    if ran.status != Some(status) {
        return Err(format!("exit status {:?}, expected {status}; stderr:\n{}", ran.status, ran.stderr));
    }
    if stdout.is_none() {
        check_error(&case, &ran)?;
    }
    // The recorded output of kustomize is not ours to rewrite.
    let is_recorded = case.head.starts_with("Recorded from kustomize");
    let is_stdout_fixed = is_recorded || stdout.is_none();
    for (name, printed, is_fixed) in [("stdout", &ran.stdout, is_stdout_fixed), ("stderr", &ran.stderr, false)] {
        let expected = case.file(name).unwrap_or_default();
        if printed == expected {
            continue;
        }
        if !is_update() || is_fixed {
            return Err(format!("{name} is\n{printed}--- expected\n{expected}"));
        }
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, replaced(&text, name, printed)).unwrap();
    }
    Ok(())
}

/// Checks that an error says its place, and all that the case wants it to say: a snapshot that was
/// rewritten cannot lose these.
fn check_error(case: &Case, ran: &Ran) -> Result<(), String> {
    let says = |words: &str| ran.stderr.contains(words);
    let place = place_line(&ran.stderr);
    for (key, words) in &case.wanted {
        let is_said = match (key.as_str(), words.split_once(' ')) {
            ("place", Some(("word", word))) => says(word),
            ("place", Some(("none:", _))) => place.is_none(),
            ("place", _) => place == Some(words),
            _ => says(words),
        };
        if !is_said {
            return Err(format!("stderr lacks what the case wants, '{key}: {words}':\n{}", ran.stderr));
        }
    }
    match place.is_some() || case.wanted.iter().any(|(key, _)| key == "place") {
        true => Ok(()),
        false => Err(format!("stderr does not say the place of the fault:\n{}", ran.stderr)),
    }
}
