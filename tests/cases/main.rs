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
    libtest_mimic::run(&Arguments::from_args(), kinds.into_iter().flatten().collect()).exit_code()
}
