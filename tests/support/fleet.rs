//! The fleet of testdata/fleet: 40 services with three environments each.

use super::{Tree, git, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A tree with the fleet.
#[track_caller]
pub fn fleet() -> Tree {
    let tree = Tree::new("");
    fs::remove_dir(tree.path()).unwrap();
    make(&tree.path());
    tree
}

/// A tree with the fleet, which is a repository of git with one commit, named `main`.
#[track_caller]
pub fn fleet_in_git() -> Tree {
    let tree = fleet();
    git(&tree.path(), &["init", "-q", "-b", "main"]);
    git(&tree.path(), &["add", "."]);
    git(&tree.path(), &["commit", "-q", "-m", "The fleet"]);
    tree
}

/// Writes the fleet into a new directory.
#[track_caller]
pub fn make(directory: &Path) {
    #[expect(clippy::disallowed_methods, reason = "the script that makes the fleet")]
    let mut command = Command::new("/bin/sh");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fleet/make");
    run(command.arg(script).arg(directory)).ok();
}
