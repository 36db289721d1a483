//! Findings of `lint` and `validate`, as texts that can be compared.

use super::Tree;
use std::fmt::Write;

/// Runs the check over a tree and returns the findings, a line each, hints behind them.
pub fn findings(tree: &Tree, flags: &[&str]) -> (Option<i32>, String) {
    let run = tree.run(&[&["validate", "--schema", "--error-format", "json"], flags].concat());
    assert_eq!(run.stdout, "");
    let mut text = String::new();
    for line in run.stderr.lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let cell = |name: &str| message[name].as_str().unwrap_or("-").to_owned();
        if cell("code") == "usage" {
            writeln!(text, "{}", cell("message")).unwrap();
            continue;
        }
        let place = format!("{}:{}:{}", cell("file"), message["line"], message["column"]);
        write!(text, "{} {} {place} {}: {}", cell("severity"), cell("code"), cell("resource"), cell("message"))
            .unwrap();
        for hint in message["hints"].as_array().unwrap() {
            write!(text, " ({})", hint.as_str().unwrap()).unwrap();
        }
        text.push('\n');
    }
    (run.status, text)
}

/// The codes of the findings, and the status.
pub fn lint(tree: &Tree, args: &[&str]) -> (Vec<String>, Option<i32>) {
    let run = tree.run(&[&["lint", "--error-format", "json"], args].concat());
    assert_eq!(run.stdout, "");
    let code =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["code"].as_str().unwrap().to_owned();
    (run.stderr.lines().map(code).collect(), run.status)
}
