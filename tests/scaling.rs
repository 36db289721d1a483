//! Linear time, measured in steps and not by the clock: twice the input may cost twice the steps.

use crate::support::Tree;
use rustomize::{pipeline, yaml};
use std::fmt::Write;

fn resources(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = write!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{i}\ndata:\n  k: v\n---\napiVersion: apps/v1\nkind: Deployment\n\
             metadata:\n  name: app-{i}\n  labels: {{tier: back}}\nspec:\n  template:\n    spec:\n      containers:\n      - name: main\n        image: hub.example.com/team/app-{i}:1\n        \
             envFrom:\n        - configMapRef:\n            name: settings-{i}\n"
        );
    }
    text
}

/// Steps of a build with `n` applications and a kustomization made for them.
fn steps(n: usize, kustomization: &dyn Fn(usize) -> String) -> u64 {
    let tree = Tree::new("");
    tree.write("all.yaml", &resources(n));
    tree.write("base/all.yaml", &resources(n));
    tree.write("base/kustomization.yaml", "resources: [all.yaml]\nnamePrefix: b-\n");
    tree.write("kustomization.yaml", &kustomization(n));
    let arena = yaml::Arena::new();
    let session = pipeline::Session::new(&arena, pipeline::Options::default());
    yaml::steps::reset();
    let map = pipeline::build(&session, &tree.path().to_string_lossy()).unwrap();
    pipeline::print(&arena, &map).unwrap();
    yaml::steps::taken()
}

/// Steps per application may grow by this factor from 100 to 800: the order of the output takes n log n.
const SLACK: f64 = 1.25;

#[track_caller]
fn check(what: &str, kustomization: impl Fn(usize) -> String) {
    let per_application = |n: usize| steps(n, &kustomization) as f64 / n as f64;
    let (small, large) = (per_application(100), per_application(800));
    assert!(small > 10.0, "{what}: the steps are not counted");
    assert!(large <= small * SLACK, "{what}: {small:.0} steps an application for 100, {large:.0} for 800");
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

#[test]
fn reading_and_printing() {
    check("plain", |_| "resources: [all.yaml]\n".into());
}

#[test]
fn field_transformers_and_references() {
    check("fields", |_| {
        "resources: [all.yaml]\nnamePrefix: p-\nnamespace: ns\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n\
         commonAnnotations: {c: d}\nimages: [{name: hub.example.com/team/app-1, newTag: '2'}]\n"
            .into()
    });
}

#[test]
fn layers() {
    check("layers", |_| "resources: [base]\nnameSuffix: -s\n".into());
}

#[test]
fn a_patch_for_each_resource() {
    check("strategic merge patches", |n| {
        "resources: [all.yaml]\npatches:\n".to_owned()
            + &lines(n, |i| {
                format!(
                    "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-{i}}}\n    spec: {{replicas: 3}}\n"
                )
            })
    });
    check("deleting patches", |n| {
        "resources: [all.yaml]\npatches:\n".to_owned()
            + &lines(n / 2, |i| {
                format!(
                    "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-{i}}}\n    $patch: delete\n"
                )
            })
    });
    check("JSON patches", |n| {
        "resources: [all.yaml]\npatches:\n".to_owned()
            + &lines(n, |i| {
                format!(
                    "- target: {{kind: Deployment, name: app-{i}}}\n  patch: '[{{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": 1}}]'\n"
                )
            })
    });
}

#[test]
fn generators() {
    check("generated", |n| {
        "resources: [all.yaml]\nconfigMapGenerator:\n".to_owned()
            + &lines(n, |i| format!("- {{name: gen-{i}, literals: [a=b]}}\n"))
    });
    check("merged", |n| {
        "resources: [all.yaml]\nconfigMapGenerator:\n".to_owned()
            + &lines(n, |i| format!("- {{name: settings-{i}, behavior: merge, literals: [a=b]}}\n"))
    });
}

#[test]
fn images_and_replicas() {
    check("images", |n| {
        "resources: [all.yaml]\nimages:\n".to_owned()
            + &lines(n, |i| format!("- {{name: hub.example.com/team/app-{i}, newTag: '2'}}\n"))
    });
    check("images that become each other", |n| {
        let name = |i| format!("hub.example.com/team/app-{i}");
        "resources: [all.yaml]\nimages:\n".to_owned()
            + &lines(n, |i| format!("- {{name: {}, newName: {}}}\n", name(i), name(i + 1)))
    });
    check("images by a pattern", |_| {
        "resources: [all.yaml]\nimages: [{name: 'hub[.]example[.]com/team/app-\\d+', newTag: '2'}]\n".into()
    });
    check("replicas", |n| {
        "resources: [all.yaml]\nreplicas:\n".to_owned() + &lines(n, |i| format!("- {{name: app-{i}, count: 2}}\n"))
    });
}

#[test]
fn one_large_mapping() {
    check("a large ConfigMap", |n| {
        "resources: [all.yaml]\nconfigMapGenerator:\n- name: large\n  literals:\n".to_owned()
            + &lines(n * 4, |i| format!("  - key-{i}=v\n"))
    });
}

#[test]
fn replacements() {
    let one = |i: usize| {
        format!(
            "- source: {{kind: ConfigMap, name: settings-{i}, fieldPath: data.k}}\n  targets:\n  - select: {{kind: Deployment, name: app-{i}}}\n    \
             fieldPaths: [spec.x]\n    options: {{create: true}}\n"
        )
    };
    check("replacements by name", |n| {
        // One that touches a name keeps them from running in one pass, which is for few of them.
        let renaming = one(0).replace("spec.x", "metadata.labels.x");
        "resources: [all.yaml]\nreplacements:\n".to_owned() + &renaming + &lines(n, one)
    });
    check("replacements of a kind", |_| {
        "resources: [all.yaml]\nreplacements:\n".to_owned() + &lines(5, |_| one(0).replace(", name: app-0", ""))
    });
}

/// Two patches, each with a list of `n` items of one container: the second one meets what the first one left.
fn lists_of(field: &str, item: impl Fn(usize) -> String) -> impl Fn(usize) -> String {
    move |n| {
        let patch = |from: usize| {
            let items: Vec<String> = (from..from + n).map(&item).collect();
            format!(
                "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: app-0}}\n    \
                 spec: {{template: {{spec: {{containers: [{{name: main, {field}: [{}]}}]}}}}}}\n",
                items.join(", ")
            )
        };
        format!("resources: [all.yaml]\npatches:\n{}{}", patch(0), patch(n / 2))
    }
}

#[test]
fn lists_merged_by_key() {
    check("one key", lists_of("env", |i| format!("{{name: e{i}, value: v}}")));
    check("one key and twins", lists_of("env", |i| format!("{{name: e{}, value: v}}", i / 2)));
    check(
        "one key, at times missing",
        lists_of("env", |i| if i % 3 == 0 { "{value: v}".to_owned() } else { format!("{{name: e{i}}}") }),
    );
    check(
        "one key, at times empty",
        lists_of("env", |i| if i % 3 == 0 { "{name: '', value: v}".to_owned() } else { format!("{{name: e{i}}}") }),
    );
    check("two keys", lists_of("ports", |i| format!("{{containerPort: {i}, protocol: TCP}}")));
    check(
        "two keys, at times one",
        lists_of("ports", |i| {
            let protocol = if i % 2 == 0 { ", protocol: TCP" } else { "" };
            format!("{{containerPort: {i}{protocol}}}")
        }),
    );
    check("two keys, never the first", lists_of("ports", |i| format!("{{protocol: P{i}}}")));
    check(
        "two keys with one text in common",
        lists_of("ports", |i| match i % 4 {
            0 => "{containerPort: 80}".to_owned(),
            1 => format!("{{protocol: P{i}}}"),
            _ => format!("{{containerPort: 80, protocol: P{i}}}"),
        }),
    );
}
