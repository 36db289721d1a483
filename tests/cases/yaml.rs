//! The recorded YAML experiments: each is a resource and what a build with it prints, or the code
//! of its error. `UPDATE=1` records the codes.

use crate::support::{Tree, run};
use crate::{is_update, testdata};
use base64::Engine;
use libtest_mimic::Trial;
use std::fs;
use std::sync::Mutex;

/// Held while the file of all experiments is rewritten.
static REWRITES: Mutex<()> = Mutex::new(());

pub fn tests() -> Vec<Trial> {
    let recorded = fs::read_to_string(testdata("yaml/experiments.jsonl")).unwrap();
    let lines = recorded.lines().map(str::to_owned).enumerate();
    lines.map(|(i, line)| Trial::test(format!("yaml/experiment-{}", i + 1), move || Ok(check(i, &line)?))).collect()
}

/// A text, or bytes that are no UTF-8 as base64.
fn bytes(value: &serde_json::Value) -> Option<Vec<u8>> {
    match value {
        serde_json::Value::String(text) => Some(text.clone().into_bytes()),
        serde_json::Value::Object(object) => {
            let text = object["base64"].as_str().unwrap();
            Some(base64::engine::general_purpose::STANDARD.decode(text).unwrap())
        }
        _ => None,
    }
}

fn check(i: usize, line: &str) -> Result<(), String> {
    let case: serde_json::Value = serde_json::from_str(line).unwrap();
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    fs::write(tree.path().join("r.yaml"), bytes(&case["resource"]).unwrap()).unwrap();
    // The version that they are recorded from.
    let ran = run(&mut tree.command(&["build", "--compat", "5.8.1", "--error-format", "json"]));
    let says = || format!("status {:?}\n{}{}", ran.status, ran.stdout, ran.stderr);
    if let Some(output) = bytes(&case["output"]) {
        let is_same = ran.status == Some(0) && ran.stdout.as_bytes() == output;
        let expected = String::from_utf8_lossy(&output);
        return if is_same { Ok(()) } else { Err(format!("{}--- expected\n{expected}", says())) };
    }
    let values = ran.stderr.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut errors = values.filter(|value| value["severity"] == "error");
    let code = errors.next().map_or(serde_json::Value::Null, |error| error["code"].clone());
    if (ran.status, ran.stdout.as_str()) != (Some(1), "") || code.is_null() {
        return Err(format!("{}--- expected an error with a code", says()));
    }
    if code == case["code"] {
        return Ok(());
    }
    if !is_update() {
        return Err(format!("{}--- expected the code {}", says(), case["code"]));
    }
    let _held = REWRITES.lock().unwrap();
    let text = fs::read_to_string(testdata("yaml/experiments.jsonl")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let before = lines[i].split(", \"code\": ").next().unwrap().trim_end_matches('}');
    let rewritten = format!("{before}, \"code\": {code}}}");
    lines[i] = &rewritten;
    fs::write(testdata("yaml/experiments.jsonl"), lines.join("\n") + "\n").unwrap();
    Ok(())
}
