//! Patterns in Go's syntax, held to what Go says: to the recorded answers, to a real Go, and to a
//! real Go about random patterns.

#![allow(clippy::disallowed_methods, reason = "the test runs Go, and is told how much to do")]

use rustomize_go_regexp::GoRegex;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A pattern with Go's error, or with texts that match and texts that do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
struct Answer {
    pattern: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    error: String,
    yes: Vec<String>,
    no: Vec<String>,
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/go_regexp")
}

fn recorded(name: &str) -> String {
    std::fs::read_to_string(directory().join(name)).unwrap()
}

fn answers(text: &str) -> Vec<Answer> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Our answer about the pattern and the texts of an answer.
fn ours(answer: &Answer) -> Answer {
    let mut ours = Answer { pattern: answer.pattern.clone(), ..Answer::default() };
    match GoRegex::new(&answer.pattern) {
        Ok(regex) => {
            let texts = answer.yes.iter().chain(&answer.no).cloned();
            (ours.yes, ours.no) = texts.partition(|text| regex.is_match(text));
        }
        Err(e) => ours.error = e.to_string(),
    }
    ours
}

fn check(answers: &[Answer]) {
    let different: Vec<String> = answers
        .iter()
        .map(|go| (go, ours(go)))
        .filter(|(go, ours)| *go != ours)
        .map(|(go, ours)| format!("Go:   {go:?}\nours: {ours:?}\n"))
        .collect();
    assert!(different.is_empty(), "{} patterns differ:\n{}", different.len(), different.join("\n"));
}

/// The output of the program in testdata/go_regexp; nothing without Go.
fn go(mode: &str, input: &str) -> Option<String> {
    let mut command = Command::new("go");
    command.args(["run", "answer.go", mode]).current_dir(directory());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the Go program fails");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn recorded_answers() {
    let answers = answers(&recorded("matches.jsonl"));
    let refused = answers.iter().filter(|answer| !answer.error.is_empty()).count();
    let texts: usize = answers.iter().map(|answer| answer.yes.len() + answer.no.len()).sum();
    assert!(refused > 150 && texts > 10_000, "{refused} refused, {texts} texts");
    check(&answers);
}

#[test]
fn what_was_recorded_is_what_go_says() {
    for (mode, name) in [("match", "matches.jsonl"), ("sets", "sets.tsv"), ("folding", "folding.txt")] {
        let recorded = recorded(name);
        let Some(printed) = go(mode, &recorded) else {
            crate::support::skip("no Go");
            return;
        };
        assert_eq!(printed, recorded, "{name}");
    }
}

/// Pieces of patterns: all that has a meaning somewhere, and some plain characters.
const PIECES: &[&str] = &[
    "a",
    "b",
    "c",
    "A",
    "k",
    "é",
    "σ",
    "0",
    "1",
    "7",
    "2",
    "(",
    ")",
    "(",
    ")",
    "(?",
    "(?:",
    "(?i)",
    "(?i",
    "(?s)",
    "(?m)",
    "(?U)",
    "(?-",
    "(?P<",
    "(?<",
    "<",
    ">",
    "n",
    ":",
    "?",
    "*",
    "+",
    "|",
    "|",
    ".",
    "^",
    "$",
    "[",
    "]",
    "[",
    "]",
    "[^",
    "-",
    "[:",
    ":]",
    "[[:alpha:]]",
    "[:^digit:]",
    "{",
    "}",
    "{2}",
    "{1,2}",
    "{0}",
    "{,2}",
    ",",
    "\\",
    "\\",
    "\\d",
    "\\W",
    "\\s",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\Q",
    "\\E",
    "\\pL",
    "\\P{Greek}",
    "\\p{^Lu}",
    "\\p",
    "\\x41",
    "\\x{e9}",
    "\\x",
    "\\101",
    "\\0",
    "\\n",
    "\\.",
    "&&",
    "--",
    "~~",
    "#",
    " ",
    "\n",
    "_",
    "/",
    "z",
];

/// Pieces of texts.
const CHARS: &[&str] = &[
    "a", "b", "c", "A", "K", "\u{212a}", "é", "Σ", "ς", "0", "7", "2", "-", "_", "[", "]", "{", "}", "&", "\n", " ",
    ".", "/",
];

fn random(random: &mut fastrand::Rng, pieces: &[&str], most: usize) -> String {
    (0..random.usize(0..=most)).map(|_| pieces[random.usize(0..pieces.len())]).collect()
}

/// `RUSTOMIZE_PATTERNS=200000 RUSTOMIZE_SEED=7 cargo test --test main go_regexp -- --nocapture`
/// for more of them.
#[test]
fn random_patterns() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let count = number("RUSTOMIZE_PATTERNS").unwrap_or(2000);
    let seed = number("RUSTOMIZE_SEED").unwrap_or(1);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut questions = String::new();
    for _ in 0..count {
        let pattern = random(&mut rng, PIECES, 9);
        let no = (0..12).map(|_| random(&mut rng, CHARS, 4)).collect();
        let question = Answer { pattern, no, ..Answer::default() };
        questions += &serde_json::to_string(&question).unwrap();
        questions.push('\n');
    }
    let Some(said) = go("match", &questions) else {
        crate::support::skip("no Go");
        return;
    };
    let answers = answers(&said);
    let accepted = answers.iter().filter(|answer| answer.error.is_empty()).count();
    println!("{accepted} of {count} patterns are accepted");
    assert!(accepted * 4 > answers.len(), "hardly any pattern is accepted");
    check(&answers);
}
