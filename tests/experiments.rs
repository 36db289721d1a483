//! The recorded YAML experiments: each is a resource file and what a build with it prints, or that
//! it fails.

use crate::support::Tree;
use base64::Engine;
use rustomize::load::Disk;
use rustomize::{Compat, Options, Workspace, build};

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

#[test]
fn every_experiment_prints_what_was_recorded() {
    let recorded = include_str!("../testdata/yaml/experiments.jsonl");
    // The version that they are recorded from.
    let options = Options { compat: Compat::parse("5.8.1").unwrap(), ..Options::default() };
    let mut failures = Vec::new();
    let mut count = 0;
    for (i, line) in recorded.lines().enumerate() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
        std::fs::write(tree.path().join("r.yaml"), bytes(&case["resource"]).unwrap()).unwrap();
        let (workspace, disk) = (Workspace::new(), Disk::new());
        let built = build(&workspace, &disk, &tree.path().to_string_lossy(), &options).value;
        let printed = built.and_then(|output| output.print());
        count += 1;
        match (bytes(&case["output"]), printed) {
            (Some(want), Ok(got)) if want == got.as_bytes() => {}
            (None, Err(_)) => {}
            (want, got) => failures.push(format!("experiment {}: {got:?}, expected {want:?}", i + 1)),
        }
    }
    assert_eq!(count, 341);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
