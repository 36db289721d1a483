//! How much errors help: each case that must fail gets a point for its cause, one for its place
//! with the line of the file, and one for a hint. The cases are those of testdata/errors, of
//! testdata/mistakes, and the error cases of the conformance suite where it is beside the checkout.
//! A mistake gets its points only for the cause, place and hint that its case wants.

use crate::errors::stderr_of;
use crate::mistakes::{Mistake, mistakes};
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

/// The score of an error.
struct Score {
    name: String,
    has_cause: bool,
    has_place: bool,
    has_hint: bool,
    stderr: String,
}

impl Score {
    /// The score of an error, as people see it. `sentence` names the cause.
    fn of(name: &str, root: &Path, stderr: String, sentence: &str) -> Score {
        let has_hint = hints(&stderr).next().is_some();
        let has_no_place = WITHOUT_A_PLACE.iter().any(|(without, _)| *without == name);
        Score {
            name: name.to_owned(),
            has_cause: stderr.contains(sentence),
            has_place: has_no_place || place_line(&stderr).is_some_and(|place| shows_line(&stderr, root, place)),
            has_hint,
            stderr,
        }
    }

    /// The score of a mistake: each point is for what its case wants.
    fn of_mistake(mistake: &Mistake) -> Score {
        let stderr = mistake.stderr();
        let wanted = |key: &str| mistake.wanted.iter().find(|(k, _)| k == key).map_or("", |(_, words)| words);
        let has_hint = hints(&stderr).any(|hint| hint.contains(wanted("hint")));
        let has_place = match wanted("place").split_once(' ') {
            Some(("word", word)) => stderr.contains(word),
            Some(("none:", _)) => true,
            _ => {
                let place = format!("--> {}", wanted("place"));
                place_line(&stderr) == Some(&place) && shows_line(&stderr, &mistake.tree.path(), &place)
            }
        };
        Score {
            name: mistake.path.file_stem().unwrap().to_string_lossy().into_owned(),
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

/// The first line of an error, behind the warnings.
fn first_line(stderr: &str) -> &str {
    let is_error = |line: &&str| line.starts_with("Error: ") || line.starts_with("error: ");
    stderr.lines().find(is_error).unwrap_or_default()
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
    let file = place.trim_start_matches("--> ").split(':').next().unwrap_or_default();
    let text = fs::read_to_string(root.join(file)).unwrap_or_default().to_lowercase();
    ["kind: secret", "kind\": \"secret", "secretgenerator", "password", "token"].iter().any(|word| text.contains(word))
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
        scores.push(Score::of(&name, &tree.path(), stderr, sentence));
    }
}

/// The error cases of the conformance suite.
fn of_suite(suite: &Path, sentences: &str, scores: &mut Vec<Score>) {
    for line in sentences.lines() {
        let mut cells = line.split('\t');
        let (Some(name), Some(sentence), Some(_)) = (cells.next(), cells.next(), cells.next()) else { continue };
        let case = suite.join(name);
        let facts = serde_json::from_slice(&fs::read(case.join("case.json")).unwrap()).unwrap();
        let (tree, stderr) = stderr_of(&case, &facts);
        scores.push(Score::of(name, &tree.path(), stderr, sentence));
    }
}

#[test]
fn errors_help() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut scores = Vec::new();
    of_files(&root.join("testdata/errors"), &mut scores);
    scores.extend(mistakes().map(|mistake| Score::of_mistake(&mistake)));
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
