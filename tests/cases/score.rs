//! How much errors help: each case that must fail gets a point for its cause, one for its place
//! with the line of the file, and one for a hint. The cases are those of testdata/errors, of
//! testdata/mistakes, and the error cases of the conformance suite where it is beside the checkout.
//! A case of ours gets its points only for the cause, place and hint that it wants.

use crate::case::{Case, place_line};
use crate::conformance::{facts, sentences, stderr_of, suite};
use crate::support::{files, skip};
use crate::testdata;
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    vec![Trial::test("score", || Ok(check()?)), Trial::test("score/kinds", || Ok(check_kinds()?))]
}

/// The mean that all cases together must reach.
const MEAN: f64 = 2.8;

/// The mean that the kinds of mistakes must reach.
const MEAN_OF_KINDS: f64 = 2.85;

/// A case of the conformance suite whose fault no file has: the argument of the command is wrong.
const WITHOUT_A_PLACE: &str = "build-Validation-3";

/// The score of an error.
struct Score {
    name: String,
    has_cause: bool,
    has_place: bool,
    has_hint: bool,
    stderr: String,
}

impl Score {
    /// The score of an error of the conformance suite. `sentence` names the cause.
    fn of_suite(name: &str, root: &Path, stderr: String, sentence: &str) -> Score {
        let has_hint = hints(&stderr).next().is_some();
        Score {
            name: name.to_owned(),
            has_cause: stderr.contains(sentence),
            has_place: name == WITHOUT_A_PLACE || place_line(&stderr).is_some_and(|at| shows_line(&stderr, root, at)),
            has_hint,
            stderr,
        }
    }

    /// The score of a case: each point is for what the case wants.
    fn of_case(path: &Path) -> Score {
        let case = Case::read(path);
        let ran = case.run();
        let stderr = ran.stderr;
        let wanted = |key: &str| case.wanted.iter().find(|(k, _)| k == key).map_or("", |(_, words)| words);
        let has_hint = hints(&stderr).any(|hint| hint.contains(wanted("hint")));
        let has_place = match wanted("place").split_once(' ') {
            Some(("word", word)) => stderr.contains(word),
            Some(("none:", _)) => true,
            _ => {
                let place = wanted("place");
                place_line(&stderr) == Some(place) && shows_line(&stderr, &ran.tree.path(), place)
            }
        };
        Score {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            has_cause: first_line(&stderr).contains(wanted("cause")),
            has_place,
            has_hint,
            stderr,
        }
    }

    fn points(&self) -> u8 {
        [self.has_cause, self.has_place, self.has_hint].map(u8::from).iter().sum()
    }
}

/// The first line of an error, behind the warnings; without an error that of the first finding.
fn first_line(stderr: &str) -> &str {
    let begins = |begin: &'static str| stderr.lines().find(|line| line.starts_with(begin));
    begins("Error: ").or_else(|| begins("Warning: ")).unwrap_or_default()
}

/// The lines with hints.
fn hints(stderr: &str) -> impl Iterator<Item = &str> {
    let lines = stderr.lines().map(|line| line.trim_start_matches([' ', '=']));
    lines.filter(|line| line.starts_with("hint:") || line.starts_with("tip:"))
}

/// Returns true if an error shows a line of the file, with a mark below it. It need not show one of
/// a file in which lines may be secret.
fn shows_line(stderr: &str, root: &Path, place: &str) -> bool {
    let is_marked = |line: &str| line.trim_start_matches([' ', '|']).starts_with('^');
    if stderr.lines().any(is_marked) {
        return true;
    }
    let file = place.split(':').next().unwrap_or_default();
    let text = fs::read_to_string(root.join(file)).unwrap_or_default().to_lowercase();
    ["kind: secret", "kind\": \"secret", "secretgenerator", "password", "token"].iter().any(|word| text.contains(word))
}

fn check() -> Result<(), String> {
    let paths = ["errors", "mistakes"].map(|folder| files(&testdata(folder), ".txtar"));
    let mut scores: Vec<Score> = paths.iter().flatten().map(|path| Score::of_case(path)).collect();
    match suite() {
        Some(suite) => {
            for (name, (sentence, _)) in sentences() {
                let case = suite.join(&name);
                let (tree, stderr) = stderr_of(&case, &facts(&case));
                scores.push(Score::of_suite(&name, &tree.path(), stderr, &sentence));
            }
        }
        None => skip("the conformance suite is not there"),
    }
    assert!(scores.len() > 150, "the cases were not found");
    assess(scores, "cases", MEAN)
}

/// Each kind of mistake that people make has a case in testdata/mistakes/kinds.tsv: an error of the
/// command, or a finding of `lint` where a build says nothing.
fn check_kinds() -> Result<(), String> {
    let table = fs::read_to_string(testdata("mistakes/kinds.tsv")).unwrap();
    let rows: Vec<(&str, &str)> = table.lines().map(|line| line.split_once('\t').unwrap()).collect();
    let cases: BTreeSet<&str> = rows.iter().map(|(_, case)| *case).collect();
    assert_eq!(cases.len(), rows.len(), "a case is of one kind");
    let scores = rows.iter().map(|(kind, case)| {
        let score = Score::of_case(&testdata(&format!("{case}.txtar")));
        Score { name: format!("{kind} ({})", score.name), ..score }
    });
    assess(scores.collect(), "kinds of mistakes", MEAN_OF_KINDS)
}

/// Prints the mean of scores. It must reach `least`, and each score must have 2 points.
fn assess(mut scores: Vec<Score>, what: &str, least: f64) -> Result<(), String> {
    let mean = scores.iter().map(|score| f64::from(score.points())).sum::<f64>() / scores.len() as f64;
    println!("the mean of {} {what} is {mean:.2} of 3", scores.len());
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
    match mean >= least && low.is_empty() {
        true => Ok(()),
        false => Err(format!("the mean is {mean:.2}; these help too little:\n{low}")),
    }
}
