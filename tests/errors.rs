//! The error cases of the conformance suite, if it is beside the checkout: each must fail, and
//! say the sentence and the place that testdata/errors/sentences.tsv has for it. The cases of
//! testdata/errors show the same causes without the suite.

use crate::suite::place_line;
use crate::support::Tree;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

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

#[test]
fn error_cases_name_their_cause() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = root.join("../shared/conformance/cases");
    if !suite.is_dir() {
        crate::support::skip("the conformance suite is not there");
        return;
    }
    let sentences = fs::read_to_string(root.join("testdata/errors/sentences.tsv")).unwrap();
    let mut sentences: BTreeMap<&str, (&str, &str)> = sentences
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once('\t')?;
            Some((name, rest.split_once('\t')?))
        })
        .collect();
    let mut failures = String::new();
    for entry in fs::read_dir(suite).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let facts = fs::read(entry.path().join("case.json")).unwrap();
        let facts: serde_json::Value = serde_json::from_slice(&facts).unwrap();
        if facts["exit"] == 0 {
            continue;
        }
        let Some((sentence, place)) = sentences.remove(name.as_str()) else {
            let _ = writeln!(failures, "{name} has no sentence");
            continue;
        };
        let (_, stderr) = stderr_of(&entry.path(), &facts);
        if !stderr.contains(sentence) {
            let _ = writeln!(failures, "{name} does not say '{sentence}' but:\n{stderr}");
        }
        let said = place_line(&stderr).unwrap_or("in no file");
        if said != place {
            let _ = writeln!(failures, "{name} is {said}, not {place}:\n{stderr}");
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(sentences.is_empty(), "there are no cases for {sentences:?}");
}
