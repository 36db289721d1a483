//! The mistakes that people make: each case of testdata/mistakes is a tree with one, and the whole
//! text that the command says about it. `UPDATE=1 cargo test mistakes` rewrites that text. The file
//! `want` of a case says what has to be in it:
//!
//! * `cause`: words of the first line of the error;
//! * `place`: the place that the error must show with its line; or `word`, and a word of the
//!   command line that the error must name; or `none`, and the reason;
//! * `hint`: words of a hint; without words any hint;
//! * `also`: words of another error of the same run.

use crate::suite::tree_of;
use crate::support::{Run, Tree, files, split};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The wanted parts of a case, by `cause`, `place`, `hint` and `also`.
pub type Wanted = Vec<(String, String)>;

/// A case that was run.
pub struct Mistake {
    pub path: PathBuf,
    pub wanted: Wanted,
    pub run: Run,
    pub tree: Tree,
    /// The text of the case up to its snapshot, and the snapshot.
    text: String,
    snapshot: String,
}

impl Mistake {
    /// The stderr of the command, with `$TREE` for the directory.
    pub fn stderr(&self) -> String {
        let home = self.tree.home();
        let text = self.run.stderr.replace(&*self.tree.path().to_string_lossy(), "$TREE");
        text.replace(&*home.to_string_lossy(), "$HOME")
    }

    fn new(path: PathBuf) -> Mistake {
        let whole = fs::read_to_string(&path).unwrap();
        let (text, snapshot) = whole.split_once("-- stderr --\n").unwrap_or((&whole, ""));
        let (_, files) = split(text);
        let file = |name: &str| files.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str());
        let wanted = file("want").unwrap().lines().map(|line| line.split_once(':').unwrap());
        let wanted = wanted.map(|(word, words)| (word.to_owned(), words.trim().to_owned())).collect();
        let args: Vec<&str> = file("args").unwrap_or("build").split_whitespace().collect();
        let files: Vec<_> = files.iter().filter(|(name, _)| name != "want").cloned().collect();
        let tree = tree_of(&files);
        let run = tree.run(&args);
        let (text, snapshot) = (text.to_owned(), snapshot.to_owned());
        Mistake { path, wanted, run, tree, text, snapshot }
    }
}

/// All cases, run.
pub fn mistakes() -> impl Iterator<Item = Mistake> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/mistakes");
    files(&directory, ".txtar").into_iter().map(Mistake::new)
}

#[test]
fn mistakes_are_explained() {
    let update = std::env::var_os("UPDATE").is_some();
    let (mut count, mut failures) = (0, String::new());
    for mistake in mistakes() {
        count += 1;
        let (name, stderr) = (mistake.path.file_stem().unwrap().to_string_lossy(), mistake.stderr());
        if (mistake.run.status, mistake.run.stdout.as_str()) != (Some(1), "") {
            let _ = writeln!(failures, "{name}: status {:?}, stdout:\n{}", mistake.run.status, mistake.run.stdout);
        }
        for (_, words) in mistake.wanted.iter().filter(|(word, _)| word == "also") {
            if !stderr.contains(words) {
                let _ = writeln!(failures, "{name} does not say '{words}' too:\n{stderr}");
            }
        }
        match stderr == mistake.snapshot {
            true => {}
            false if update => fs::write(&mistake.path, mistake.text + "-- stderr --\n" + &stderr).unwrap(),
            false => {
                let _ = writeln!(failures, "{name} says:\n{stderr}--- expected:\n{}", mistake.snapshot);
            }
        }
    }
    assert!(count >= 110, "the cases were not found");
    assert!(failures.is_empty(), "{failures}");
}
