//! The cases of testdata, each a test with its name: `cargo test --test cases img-places` runs one.
//! A case is a file, or a line of a file of records. Adding one needs no Rust.

#![allow(unreachable_pub, reason = "`pub` is for the other modules of this program")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod case;
mod check;
mod codes;
mod commands;
mod conformance;
mod edit;
mod lint;
mod package;
mod pages;
mod score;
#[path = "../support/mod.rs"]
mod support;
mod txtar;
mod yaml;

use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A file below testdata.
fn testdata(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(below)
}

/// Returns true if expectations are to be rewritten.
fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// A test of a file below testdata, named by the file's path without its ending.
fn of_file(path: &Path, test: impl FnOnce(&Path) -> Result<(), String> + Send + 'static) -> Trial {
    let name = path.strip_prefix(testdata("")).unwrap().with_extension("");
    let path = path.to_owned();
    Trial::test(name.to_string_lossy(), move || Ok(test(&path)?))
}

/// The tests, of which those that another system cannot pass are ignored: the file that
/// `RUSTOMIZE_DIFFERENCES` names has a line for each, with its name and the reason.
fn without_differences(tests: Vec<Trial>) -> Vec<Trial> {
    let Some(file) = std::env::var_os("RUSTOMIZE_DIFFERENCES") else { return tests };
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut differ: BTreeMap<&str, &str> = lines.map(|line| line.split_once(": ").unwrap()).collect();
    let tests = tests.into_iter().map(|test| {
        let differs = differ.remove(test.name()).is_some();
        test.with_ignored_flag(differs)
    });
    let tests = tests.collect();
    assert!(differ.is_empty(), "there are no such cases: {:?}", differ.keys());
    tests
}

fn main() -> ExitCode {
    let kinds = [
        txtar::tests(),
        yaml::tests(),
        check::tests(),
        lint::tests(),
        edit::tests(),
        commands::tests(),
        package::tests(),
        codes::tests(),
        pages::tests(),
        conformance::tests(),
        score::tests(),
    ];
    assert!(kinds.iter().all(|tests| !tests.is_empty()), "a kind of case was not found");
    let tests = without_differences(kinds.into_iter().flatten().collect());
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
