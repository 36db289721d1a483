//! The number of threads of a build shows neither in its output nor in its messages.

use rustomize::load::Memory;
use rustomize::{Options, Workspace, build};
use std::fmt::Write;
use std::num::NonZero;

/// All stages that look at one resource at a time, and what comes behind them.
const KUSTOMIZATION: &str = "\
resources: [all.yaml]
namePrefix: p-
nameSuffix: -s
namespace: shop
commonLabels: {part: of}
labels: [{pairs: {team: checkout}, includeTemplates: true}]
commonAnnotations: {note: 'on'}
images: [{name: hub.example.com/app, newTag: '2'}, {name: 'hub.example.com/app:2', newName: other}]
replicas: [{name: app-3, count: 7}]
configMapGenerator: [{name: made, literals: [a=b]}]
replacements:
- source: {kind: ConfigMap, name: settings-1, fieldPath: data.k}
  targets: [{select: {kind: Deployment}, fieldPaths: [spec.template.metadata.annotations.k], options: {create: true}}]
";

/// So many resources are worth several threads, and so is their text.
const APPLICATIONS: usize = 1_500;

/// Applications; those at `broken` have labels that are a list.
fn applications(broken: &[usize]) -> String {
    let mut text = String::new();
    for i in 0..APPLICATIONS {
        let labels = if broken.contains(&i) { "[a]" } else { "{tier: back}" };
        let _ = write!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{i}\ndata:\n  k: v{i}\n  text: {}\n\
             ---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{i}\n  labels: {labels}\nspec:\n  \
             template:\n    spec:\n      containers:\n      - name: main\n        image: hub.example.com/app:1\n        \
             envFrom:\n        - configMapRef:\n            name: settings-{i}\n",
            "x".repeat(80),
        );
    }
    text
}

/// The output of a build with so many threads, or its error.
fn built(jobs: usize, text: &str) -> Result<String, String> {
    built_by(jobs, KUSTOMIZATION, text)
}

fn built_by(jobs: usize, kustomization: &str, text: &str) -> Result<String, String> {
    let mut files = Memory::new();
    files.set("kustomization.yaml", kustomization);
    files.set("all.yaml", text);
    let workspace = Workspace::with_jobs(NonZero::new(jobs).unwrap());
    let built = build(&workspace, &files, ".", &Options::default());
    assert!(built.warnings.iter().all(|warning| warning.message().contains("'commonLabels' is deprecated")));
    built.value.and_then(|output| output.print()).map_err(|e| e.to_string())
}

#[test]
fn any_number_of_threads_prints_the_same_bytes() {
    let text = applications(&[]);
    let alone = built(1, &text).unwrap();
    assert!(alone.contains("image: other:2\n") && alone.contains("name: p-settings-1499-s\n"));
    for jobs in [2, 7] {
        assert!(built(jobs, &text).unwrap() == alone, "{jobs} jobs");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_error() {
    let first = built(1, &applications(&[400])).unwrap_err();
    assert!(first.contains("expected a mapping, found a list"), "{first}");
    let text = applications(&[400, 401, 1_300]);
    for jobs in [1, 2, 7] {
        assert_eq!(built(jobs, &text).unwrap_err(), first, "{jobs} jobs");
    }
}

/// Three strategic merge patches for each application, in three rounds, and one more patch in the
/// first place of the second round, another in the last one.
fn patches(second: &str, last: &str) -> String {
    let mut text = "resources: [all.yaml]\npatches:\n".to_owned();
    for round in 0..3 {
        text.push_str(if round == 1 { second } else { "" });
        for i in 0..APPLICATIONS {
            let _ = write!(
                text,
                "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-{i}, labels: \
                 {{round: r{round}}}}}\n    spec: {{replicas: {round}, r{round}: {i}}}\n",
            );
        }
    }
    text + last
}

/// A patch for the label that only the first round sets, one that cannot be merged, and one for a
/// resource that is not there.
const OF_FIRST_ROUND: &str =
    "- target: {labelSelector: round=r0}\n  patch: '- {op: add, path: /spec/seen, value: true}'\n";
const UNMERGED: &str =
    "- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: app-9}, spec: {template: [a]}}'\n";
const UNKNOWN: &str = "- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: nowhere}}'\n";

#[test]
fn patches_by_name_on_any_number_of_threads() {
    let text = applications(&[]);
    let alone = built_by(1, &patches(OF_FIRST_ROUND, ""), &text).unwrap();
    assert_eq!(alone.matches("    round: r2\n").count(), APPLICATIONS);
    assert_eq!(alone.matches("  seen: true\n").count(), APPLICATIONS);
    assert!(alone.contains("  r0: 1499\n  r1: 1499\n  r2: 1499\n  replicas: 2\n"));
    for jobs in [2, 7] {
        assert!(built_by(jobs, &patches(OF_FIRST_ROUND, ""), &text).unwrap() == alone, "{jobs} jobs");
    }
    // Of two faulty patches the first one is named first.
    for (second, last, fault) in [
        (UNMERGED, UNKNOWN, "expected a mapping, the patch has a list"),
        (UNKNOWN, UNMERGED, "there is no apps/v1 Deployment nowhere"),
    ] {
        for jobs in [1, 2, 7] {
            let error = built_by(jobs, &patches(second, last), &text).unwrap_err();
            assert!(error.lines().next().unwrap().contains(fault), "{jobs} jobs: {error}");
        }
    }
}
