//! Counts of which each is far beyond what people write. A debug build takes them at a tenth of the
//! size; `RUSTOMIZE_LARGE=1 cargo test --release large -- --nocapture` takes all of them, and
//! prints the times for docs/performance.md.

use super::{Files, file, lines, resources, steps_taken};
use std::time::Instant;

/// Steps for each byte of the input. Labels take up to 18, all others at most 8.
const STEPS: u64 = 24;

/// Builds files for as many entries as are named, or a tenth of them, and holds the steps to the
/// size of the files.
#[track_caller]
fn check(what: &str, entries: usize, files: impl Fn(usize) -> Files) {
    let is_full = std::env::var_os("RUSTOMIZE_LARGE").is_some();
    let files = files(if is_full { entries } else { entries / 10 });
    let size: usize = files.iter().map(|(_, text)| text.len()).sum();
    let start = Instant::now();
    let steps = steps_taken(&files);
    println!("{what}: {size} bytes, {} ms, {steps} steps", start.elapsed().as_millis());
    assert!(steps <= STEPS * size as u64, "{what}: {steps} steps for {size} bytes");
}

/// A kustomization over some applications.
fn kustomization(n: usize, field: &str, line: impl Fn(usize) -> String) -> Files {
    let text = format!("resources: [all.yaml]\n{field}:\n{}", lines(n, line));
    vec![file("all.yaml", resources(n)), file("kustomization.yaml", text)]
}

#[test]
fn large_10_000_patches() {
    check("10,000 patches", 10_000, |n| {
        kustomization(n, "patches", |i| {
            let object = format!("apiVersion: apps/v1, kind: Deployment, metadata: {{name: app-{i}}}");
            format!("- patch: '{{{object}, spec: {{replicas: 3}}}}'\n")
        })
    });
    check("10,000 JSON patches", 10_000, |n| {
        kustomization(n, "patches", |i| {
            let patch = "'[{\"op\": \"add\", \"path\": \"/spec/replicas\", \"value\": 3}]'";
            format!("- {{target: {{kind: Deployment, name: app-{i}}}, patch: {patch}}}\n")
        })
    });
}

#[test]
fn large_5_000_replacements() {
    check("5,000 replacements", 5_000, |n| {
        kustomization(n, "replacements", |i| {
            let target = format!("select: {{kind: Deployment, name: app-{i}}}, fieldPaths: [spec.x]");
            format!(
                "- source: {{kind: ConfigMap, name: settings-{i}, fieldPath: data.k}}\n  targets: [{{{target}, options: {{create: true}}}}]\n"
            )
        })
    });
}

#[test]
fn large_2_000_vars() {
    check("2,000 vars", 2_000, |n| {
        let mut files = kustomization(n, "vars", |i| {
            let object = format!("{{apiVersion: v1, kind: ConfigMap, name: settings-{i}}}");
            format!("- {{name: V{i}, objref: {object}, fieldref: {{fieldpath: data.k}}}}\n")
        });
        let arguments = lines(n, |i| format!("        - $(V{i})\n"));
        let job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: job}\nspec:\n  template:\n    spec:\n      containers:\n      - name: main\n        args:\n";
        files[0].1 += &format!("{job}{arguments}");
        files
    });
}

#[test]
fn large_2_000_labels() {
    let pairs = |n| lines(n, |i| format!("    l{i}: v\n"));
    check("2,000 labels", 2_000, |n| {
        let text = format!("resources: [all.yaml]\nlabels:\n- includeSelectors: true\n  pairs:\n{}", pairs(n));
        vec![file("all.yaml", resources(1)), file("kustomization.yaml", text)]
    });
    check("2,000 entries of labels", 2_000, |n| {
        let text = lines(n, |i| format!("- pairs: {{l{i}: v}}\n"));
        let text = format!("resources: [all.yaml]\nlabels:\n{text}");
        vec![file("all.yaml", resources(1)), file("kustomization.yaml", text)]
    });
}

#[test]
fn large_list_of_a_million_items() {
    check("a list of a million items", 1_000_000, |n| {
        let items = lines(n, |i| format!("- item-{i}\n"));
        let text = format!("apiVersion: example.com/v1\nkind: Long\nmetadata: {{name: long}}\nitems:\n{items}");
        let kustomization = "resources: [long.yaml]\nnamePrefix: p-\ncommonLabels: {a: b}\n";
        vec![file("long.yaml", text), file("kustomization.yaml", kustomization)]
    });
    check("merging two lists of a hundred thousand items", 100_000, |n| {
        let items = |step: usize| lines(n, |i| format!("          - {{name: e{}, value: v}}\n", i * step));
        let deployment = |step| {
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: long}}\nspec:\n  template:\n    spec:\n      containers:\n        - name: main\n          env:\n{}",
                items(step)
            )
        };
        vec![
            file("long.yaml", deployment(1)),
            file("patch.yaml", deployment(2)),
            file("kustomization.yaml", "resources: [long.yaml]\npatches: [{path: patch.yaml}]\n"),
        ]
    });
}

#[test]
fn large_100_000_documents() {
    check("100,000 documents", 100_000, |n| {
        let one = |i| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m-{i}}}\ndata: {{k: v}}\n");
        let kustomization = "resources: [all.yaml]\nnamePrefix: p-\nnamespace: all\n";
        vec![file("all.yaml", lines(n, one)), file("kustomization.yaml", kustomization)]
    });
}
