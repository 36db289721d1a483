//! The error cases of the conformance suite, if it is beside the checkout: each must fail, and
//! say the sentence and the place that testdata/errors/sentences.tsv has for it. The cases of
//! testdata/errors show the same causes without the suite.

use crate::case::place_line;
use crate::support::{Tree, skip};
use crate::testdata;
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of the suite's cases, if it is beside the checkout.
pub fn suite() -> Option<PathBuf> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/cases");
    suite.is_dir().then_some(suite)
}

/// The cases of sentences.tsv: the name of each, its sentence, and its place.
pub fn sentences() -> BTreeMap<String, (String, String)> {
    let text = fs::read_to_string(testdata("errors/sentences.tsv")).unwrap();
    let row = |line: &str| {
        let mut cells = line.split('\t').map(str::to_owned);
        Some((cells.next()?, (cells.next()?, cells.next()?)))
    };
    text.lines().filter_map(row).collect()
}

/// What a case says of itself.
pub fn facts(case: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap()
}

pub fn tests() -> Vec<Trial> {
    let Some(suite) = suite() else {
        return vec![Trial::test("conformance", || {
            skip("the conformance suite is not there");
            Ok(())
        })];
    };
    let mut sentences = sentences();
    let mut tests = Vec::new();
    for entry in fs::read_dir(suite).unwrap().map(Result::unwrap) {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let facts = facts(&path);
        if facts["exit"] != 0 {
            let sentence = sentences.remove(&name);
            tests.push(Trial::test(format!("conformance/{name}"), move || Ok(check(&path, &facts, sentence)?)));
        }
    }
    let without_case = sentences.into_keys();
    tests.extend(
        without_case
            .map(|name| Trial::test(format!("conformance/{name}"), || Err("the suite has no such case".into()))),
    );
    tests
}

/// Copies a directory with its links and permissions.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&path, &target),
            kind if kind.is_symlink() => std::os::unix::fs::symlink(fs::read_link(&path).unwrap(), target).unwrap(),
            _ => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}

/// The tree of a case and its stderr, with paths from its root.
pub fn stderr_of(case: &Path, facts: &serde_json::Value) -> (Tree, String) {
    let mut tree = Tree::new("");
    let root = tree.path();
    if case.join("in").is_dir() {
        copy(&case.join("in"), &root);
    }
    let texts = |field: &str| {
        let list = facts[field].as_array().cloned().unwrap_or_default();
        list.iter().map(|v| v.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    texts("emptydirs").iter().for_each(|directory| fs::create_dir_all(root.join(directory)).unwrap());
    // The version that the cases are recorded from.
    tree.variables.insert("RUSTOMIZE_COMPAT", "5.8.1".to_owned());
    for (name, value) in facts["env"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap().replace("<IN>", &root.to_string_lossy());
        tree.variables.insert(Box::leak(name.clone().into_boxed_str()), value);
    }
    let mut args = vec!["build".to_owned()];
    args.extend(texts("flags"));
    args.push(facts["root"].as_str().unwrap().to_owned());
    let run = tree.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{}: {}", case.display(), run.stderr);
    let stderr = run.stderr.replace(&format!("{}/", root.display()), "");
    (tree, stderr.replace(&*root.to_string_lossy(), "."))
}

/// Checks that the error of a case has its sentence and its place.
fn check(path: &Path, facts: &serde_json::Value, sentence: Option<(String, String)>) -> Result<(), String> {
    let Some((sentence, place)) = sentence else { return Err("the case has no sentence".into()) };
    let (_, stderr) = stderr_of(path, facts);
    if !stderr.contains(&sentence) {
        return Err(format!("stderr does not say '{sentence}' but:\n{stderr}"));
    }
    let said = place_line(&stderr).map_or("in no file".to_owned(), |place| format!("--> {place}"));
    match said == place {
        true => Ok(()),
        false => Err(format!("the place is {said}, not {place}:\n{stderr}")),
    }
}
