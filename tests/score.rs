//! How much errors help: each case that must fail gets a point for its cause, one for its place with
//! the line of the file, and one for a hint. The cases are those of testdata/errors and
//! the error cases of the conformance suite where it is beside the checkout.

use crate::errors::stderr_of;
use crate::suite::{place_line, tree_of};
use crate::support::{files, split};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The mean that all cases together must reach.
const MEAN: f64 = 2.8;

/// Cases of faults that no file has, and why.
const WITHOUT_A_PLACE: [(&str, &str); 2] = [
    ("directory-missing", "the argument of the command is wrong"),
    ("build-Validation-3", "the argument of the command is wrong"),
];

/// What an error says of its case.
struct Score {
    name: String,
    has_cause: bool,
    has_place: bool,
    has_hint: bool,
    stderr: String,
}

impl Score {
    /// The score of an error, as people see it. `sentence` names the cause.
    fn of(name: &str, stderr: String, sentence: &str) -> Score {
        let is_marked = |line: &str| line.trim_start_matches([' ', '|']).starts_with('^');
        // A line that may hold a secret is not shown.
        let is_secret = stderr.contains("ecret");
        let has_line = stderr.lines().any(|line| line.contains('^') && is_marked(line)) || is_secret;
        let has_no_place = WITHOUT_A_PLACE.iter().any(|(without, _)| *without == name);
        Score {
            name: name.to_owned(),
            has_cause: stderr.contains(sentence),
            has_place: has_no_place || (place_line(&stderr).is_some() && has_line),
            has_hint: stderr.lines().any(|line| line.trim_start_matches([' ', '=']).starts_with("hint:")),
            stderr,
        }
    }

    fn points(&self) -> u8 {
        [self.has_cause, self.has_place, self.has_hint].map(u8::from).iter().sum()
    }
}

/// The cases of a directory of txtar files.
fn of_files(directory: &Path, scores: &mut Vec<Score>) {
    for path in files(directory, ".txtar") {
        let (_, files) = split(&fs::read_to_string(&path).unwrap());
        let file = |name: &str| files.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str());
        let Some(expected) = file("stderr") else { continue };
        let sentence = expected.lines().find(|line| !line.starts_with("--> ")).unwrap_or_default();
        let args: Vec<&str> = file("args").unwrap_or("build").split_whitespace().collect();
        let tree = tree_of(&files);
        let stderr = tree.run(&args).stderr.replace(&*tree.path().to_string_lossy(), "$TREE");
        let name = path.file_stem().unwrap().to_string_lossy();
        scores.push(Score::of(&name, stderr, sentence));
    }
}

/// The error cases of the conformance suite.
fn of_suite(suite: &Path, sentences: &str, scores: &mut Vec<Score>) {
    for line in sentences.lines() {
        let mut cells = line.split('\t');
        let (Some(name), Some(sentence), Some(_)) = (cells.next(), cells.next(), cells.next()) else { continue };
        let case = suite.join(name);
        let facts = serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap();
        scores.push(Score::of(name, stderr_of(&case, &facts), sentence));
    }
}

#[test]
fn errors_help() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut scores = Vec::new();
    of_files(&root.join("testdata/errors"), &mut scores);
    let suite = root.join("../shared/conformance/cases");
    match suite.is_dir() {
        true => {
            let sentences = fs::read_to_string(root.join("testdata/errors/sentences.tsv")).unwrap();
            of_suite(&suite, &sentences, &mut scores);
        }
        false => crate::support::skip("the conformance suite is not there"),
    }
    assert!(scores.len() > 150, "the cases were not found");
    let mean = scores.iter().map(|score| f64::from(score.points())).sum::<f64>() / scores.len() as f64;
    println!("the mean of {} cases is {mean:.2} of 3", scores.len());
    let mut low = String::new();
    scores.sort_by_key(Score::points);
    for score in scores.iter().filter(|score| score.points() < 3) {
        let lacks = [(score.has_cause, "cause"), (score.has_place, "place"), (score.has_hint, "hint")];
        let lacks: Vec<&str> = lacks.iter().filter(|(has, _)| !has).map(|(_, what)| *what).collect();
        println!("{} of 3, lacks {}: {}", score.points(), lacks.join(" and "), score.name);
        if score.points() < 2 || std::env::var_os("RUSTOMIZE_WHY").is_some() {
            let _ = writeln!(low, "=== {} lacks {}:\n{}", score.name, lacks.join(" and "), score.stderr);
        }
    }
    assert!(mean >= MEAN && low.is_empty(), "the mean is {mean:.2}; these help too little:\n{low}");
}
