//! Many entries for one resource or one list: work that once grew as the square of the entries.
//! Sizes are such that large lists and mappings are divided into chunks (src/yaml/tree).

use super::{Files, file, in_memory, lines, resources};
use rustomize::{Options, Workspace, build};
use rustomize_base::meter;
use std::num::NonZero;

/// Steps for each byte of the input and the output may grow by this factor from the smaller to the
/// larger size. Look-ups in large mappings take n log n comparisons: the logarithm of 4,000 is 1.2
/// times that of 1,000.
const SLACK: f64 = 1.25;

/// Holds the steps for each byte of input and output to those at a quarter of the size.
#[track_caller]
fn check(what: &str, entries: usize, options: &Options, files: impl Fn(usize) -> Files) {
    let per_byte = |n: usize| {
        let files = files(n);
        let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
        let (in_memory, workspace) = (in_memory(&files), Workspace::with_jobs(NonZero::<usize>::MIN));
        meter::reset();
        let output = build(&workspace, &in_memory, "root", options).value.unwrap();
        let printed = output.print().unwrap();
        meter::taken() as f64 / (bytes + printed.len()) as f64
    };
    // The first build of a process makes tables, which the others find.
    per_byte(entries);
    let (small, large) = (per_byte(entries), per_byte(4 * entries));
    assert!(small > 0.001, "{what}: the steps are not counted");
    assert!(
        large <= small * SLACK,
        "{what}: {small:.2} steps a byte for {entries} entries, {large:.2} for 4 times that"
    );
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  k: v\n";

/// One resource, and a kustomization.
fn one(resource: String, kustomization: String) -> Files {
    vec![file("one.yaml", resource), file("kustomization.yaml", format!("resources: [one.yaml]\n{kustomization}"))]
}

/// One ConfigMap with some keys, and JSON patches for it: one with all operations, or one for each.
fn operations(keys: usize, items: usize, operations: impl Fn(usize) -> String, n: usize, are_apart: bool) -> Files {
    let keys = lines(keys, |i| format!("  k{i}: v\n"));
    let items = lines(items, |i| format!("- i{i}\n"));
    let resource = format!("{CONFIG_MAP}{keys}items:\n- first\n{items}");
    let patch = |operations: String| format!("- target: {{kind: ConfigMap}}\n  patch: |-\n{operations}");
    let operation = |i| format!("    - {{{}}}\n", operations(i));
    let patches = if are_apart { lines(n, |i| patch(operation(i))) } else { patch(lines(n, operation)) };
    one(resource, format!("patches:\n{patches}"))
}

#[test]
fn operations_of_json_patches() {
    const N: usize = 4_000;
    for are_apart in [false, true] {
        let check = |what: &str, keys: usize, items: usize, operation: fn(usize, usize) -> String| {
            let what = format!("{what}, {}", if are_apart { "a patch for each" } else { "in one patch" });
            check(&what, N / 4, &Options::default(), |n| {
                operations(keys * n, items * n, |i| operation(i, n), n, are_apart)
            });
        };
        check("inserts at the front", 0, 0, |i, _| format!("op: add, path: /items/0, value: x{i}"));
        check("inserts in the middle", 0, 1, |i, n| format!("op: add, path: /items/{}, value: x{i}", n / 2));
        check("removals at the front", 0, 1, |_, _| "op: remove, path: /items/0".to_owned());
        check("moves of items", 0, 1, |_, n| format!("op: move, from: /items/{}, path: /items/0", n - 1));
        check("new keys from behind", 0, 0, |i, n| format!("op: add, path: /data/n{}, value: x", n - i));
        check("removals of keys", 1, 0, |i, _| format!("op: remove, path: /data/k{i}"));
        check("moves of keys", 1, 0, |i, n| format!("op: move, from: /data/k{i}, path: /data/m{}", n - i));
    }
}

#[test]
fn pairs_of_labels_and_annotations() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: one}\nspec: {template: {spec: {}}}\n";
    for field in ["commonLabels:\n", "commonAnnotations:\n", "labels:\n- includeSelectors: true\n  pairs:\n"] {
        check(field, 1_500, &Options::default(), |n| {
            // Every second key is there already, so the places of a value are made alike.
            let pairs = |indent: &str, step: usize| lines(n / step, |i| format!("{indent}l{}: v\n", i * step));
            let map = if field.contains("nnot") { "annotations" } else { "labels" };
            let own = format!("  {map}:\n{}", pairs("    ", 2).replace(": v", ": 'v'"));
            let resource = deployment.replace("metadata: {name: one}\n", &format!("metadata:\n  name: one\n{own}"));
            one(resource, format!("{field}{}", pairs("    ", 1)))
        });
    }
}

#[test]
fn labels_from_behind() {
    check("labels from behind", 1_000, &Options::default(), |n| {
        one(CONFIG_MAP.to_owned(), format!("labels:\n{}", lines(n, |i| format!("- pairs: {{l{}: v}}\n", n - i))))
    });
}

/// Labels and annotations share their values between their places. A replacement elsewhere in the
/// resource does not look at these.
#[test]
fn replacements_beside_shared_values() {
    check("replacements beside shared annotations", 250, &Options::default(), |n| {
        let containers = lines(n, |i| format!("      - {{name: c{i}, image: i{i}}}\n"));
        let deployment = format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      containers:\n{containers}"
        );
        let pairs = lines(n, |i| format!("  a{i}: v\n"));
        let replacement = "- source: {kind: ConfigMap, fieldPath: data.k}\n  targets:\n  - select: {kind: Deployment}\n    \
            fieldPaths: [data.x]\n    options: {create: true}\n";
        let kustomization = format!("commonAnnotations:\n{pairs}replacements:\n{}", replacement.repeat(n));
        one(format!("{CONFIG_MAP}{deployment}"), kustomization)
    });
}

#[test]
fn patterns_of_images() {
    let check = |what: &str, name: fn(usize) -> String| {
        check(what, 100, &Options::default(), |n| {
            let images = lines(n, |i| format!("- {{name: '{}', newTag: '2'}}\n", name(i)));
            vec![
                file("all.yaml", resources(n)),
                file("kustomization.yaml", format!("resources: [all.yaml]\nimages:\n{images}")),
            ]
        });
    };
    check("one pattern many times", |_| "hub.example.com/other/ap+".to_owned());
    check("a pattern for each image", |i| format!("hub.example.com/team/app-{i}x*"));
}

#[test]
fn selectors_by_keys() {
    let selectors: [(&str, &str); 4] = [
        ("annotationSelector", "a{}"),
        ("labelSelector", "a{}"),
        ("annotationSelector", "a{}>5"),
        ("annotationSelector", "a{}=7"),
    ];
    for (field, selector) in selectors {
        check(&format!("{field} {selector}"), 100, &Options::default(), |n| {
            let map = if field.starts_with('l') { "labels" } else { "annotations" };
            let resource = |i| {
                let metadata = format!("metadata:\n  name: one-{i}\n  {map}: {{a{i}: '7'}}\n");
                format!("---\n{}", CONFIG_MAP.replace("metadata:\n  name: one\n", &metadata))
            };
            let patch = |i: usize| {
                let selector = selector.replace("{}", &i.to_string());
                format!(
                    "- target: {{{field}: '{selector}'}}\n  patch: |-\n    - {{op: add, path: /data/x, value: y}}\n"
                )
            };
            one(lines(n, resource), format!("patches:\n{}", lines(n, patch)))
        });
    }
}

/// Each resource has each patch in its annotation: the output is quadratic, as kustomize's.
#[test]
fn annotations_about_transformers() {
    check("transformerAnnotations", 60, &Options::default(), |n| {
        let patch = |i| {
            let operation = "    - {op: add, path: /spec/x, value: y}\n";
            format!("- target: {{kind: Deployment, name: app-{i}}}\n  patch: |-\n{operation}")
        };
        let text = format!("buildMetadata: [transformerAnnotations]\npatches:\n{}", lines(n, patch));
        vec![file("all.yaml", resources(n)), file("kustomization.yaml", format!("resources: [all.yaml]\n{text}"))]
    });
}

#[test]
fn a_trace_of_steps_that_each_change_one_resource() {
    let options = Options { trace: true, ..Options::default() };
    let replica: fn(usize) -> String = |i| format!("- {{name: app-{i}, count: 2}}\n");
    let fields = [
        ("replicas", replica),
        ("transformers", |i| {
            let object = "  apiVersion: builtin\n  kind: PatchTransformer\n";
            let patch = "  patch: '[{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": 1}]'\n";
            format!("- |-\n{object}  metadata: {{name: p{i}}}\n  target: {{kind: Deployment, name: app-{i}}}\n{patch}")
        }),
    ];
    for (field, entry) in fields {
        check(field, 100, &options, |n| {
            let text = format!("resources: [all.yaml]\n{field}:\n{}", lines(n, entry));
            vec![file("all.yaml", resources(n)), file("kustomization.yaml", text)]
        });
    }
}

#[test]
fn items_of_a_list_by_name() {
    let deployment = |n: usize| {
        let containers = lines(n, |i| format!("      - {{name: c{i}, image: i{i}}}\n"));
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      containers:\n{containers}"
        )
    };
    let replacements = |n: usize, source: fn(usize) -> String, target: fn(usize) -> String| {
        let entry = |i: usize| format!("- source: {}\n  targets:\n  - select: {}\n", source(i), target(i));
        one(format!("{CONFIG_MAP}---\n{}", deployment(n)), format!("replacements:\n{}", lines(n, entry)))
    };
    const ITEM: &str = "spec.template.spec.containers";
    check("targets in one list", 250, &Options::default(), |n| {
        let target = |i| format!("{{kind: Deployment}}\n    fieldPaths: ['{ITEM}.[name=c{i}].image']");
        replacements(n, |_| "{kind: ConfigMap, fieldPath: data.k}".to_owned(), target)
    });
    check("sources in one list", 250, &Options::default(), |n| {
        let source = |i| format!("{{kind: Deployment, fieldPath: '{ITEM}.[name=c{i}].image'}}");
        replacements(n, source, |_| "{kind: ConfigMap}\n    fieldPaths: [data.k]".to_owned())
    });
    check("a long name", 4_000, &Options::default(), |n| {
        let name = "x".repeat(n);
        let entry = format!(
            "- source: {{kind: ConfigMap, fieldPath: data.k}}\n  targets:\n  - select: {{kind: Deployment}}\n    \
            fieldPaths: ['{ITEM}.[name={name}].image']\n"
        );
        let resource = deployment(1).replace("name: c0", &format!("name: {name}"));
        one(format!("{CONFIG_MAP}---\n{resource}"), format!("replacements:\n{entry}"))
    });
}

#[test]
fn pieces_of_one_long_text() {
    check("pieces of one text", 500, &Options::default(), |n| {
        let text = vec!["y"; n].join("-");
        let target = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n";
        let entry = |i| {
            format!(
                "- source: {{kind: ConfigMap, name: one, fieldPath: data.k}}\n  targets:\n  - select: {{name: two}}\n    \
                fieldPaths: [data.text]\n    options: {{delimiter: '-', index: {i}}}\n"
            )
        };
        one(format!("{CONFIG_MAP}---\n{target}data: {{text: {text}}}\n"), format!("replacements:\n{}", lines(n, entry)))
    });
}

#[test]
fn objects_of_transformers_in_the_kustomization() {
    check("annotations of one resource", 250, &Options::default(), |n| {
        let entry = |i| {
            format!(
                "- |-\n  apiVersion: builtin\n  kind: AnnotationsTransformer\n  metadata: {{name: t{i}}}\n  \
                annotations: {{a{i}: x}}\n  fieldSpecs: [{{path: metadata/annotations, create: true}}]\n"
            )
        };
        one(CONFIG_MAP.to_owned(), format!("transformers:\n{}", lines(n, entry)))
    });
}

#[test]
fn bases_below_bases() {
    check("a chain of bases", 250, &Options::default(), |n| {
        let base = |i: usize| {
            let text =
                if i == n { "resources: [one.yaml]\n".to_owned() } else { format!("resources: [../b{}]\n", i + 1) };
            file(&format!("../b{i}/kustomization.yaml"), text)
        };
        let mut files: Files = (1..=n).map(base).collect();
        files.push(file(&format!("../b{n}/one.yaml"), CONFIG_MAP.to_owned()));
        files.push(file("kustomization.yaml", "resources: [../b1]\n".to_owned()));
        files
    });
}
