//! `validate --schema`: the kinds of all cases, hostile input, and what is not a case of
//! testdata/check.

use crate::support::findings::findings;
use crate::support::{Tree, files, split};
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn testdata(below: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(below)
}

#[test]
fn each_code_has_a_case_that_fires() {
    let all: String =
        files(&testdata("check"), ".txtar").iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for code in [
        "unknown-field-of-kind",
        "wrong-type-of-kind",
        "missing-field-of-kind",
        "unknown-kind",
        "deprecated-api",
        "removed-api",
        "conflicting-fields-of-kind",
        "needless-namespace",
    ] {
        assert!(all.contains(&format!(" {code} ")), "{code}");
    }
}

#[test]
fn values_of_secrets_are_in_no_message() {
    let text = fs::read_to_string(testdata("check/secret_values_are_not_shown.txtar")).unwrap();
    for format in ["human", "short", "json", "sarif", "github"] {
        let run = Tree::new(&text).run(&["validate", "--schema", "--error-format", format]);
        assert_eq!(run.status, Some(1));
        assert!(run.stderr.contains("wrong-type-of-kind") || format == "human", "{}", run.stderr);
        assert!(!run.stderr.contains("4711") && !run.stderr.contains("hunter2"), "{format}: {}", run.stderr);
    }
}

#[test]
fn an_unknown_version_is_an_error_with_the_list() {
    let tree = Tree::new("-- kustomization.yaml --\nnamePrefix: a-\n");
    tree.run(&["validate", "--kubernetes-version", "1.2"]).fails_with(&[
        "'1.2'",
        "1.29",
        "1.37",
        "hint: known versions",
    ]);
    let all = tree.run(&["validate", "--kubernetes-version", ""]);
    assert_eq!(all.status, Some(1));
}

#[test]
fn findings_of_several_roots_name_their_root() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {prots: []}\n";
    let kustomization = "resources: [a.yaml]\n";
    let tree = Tree::new(&format!(
        "-- one/kustomization.yaml --\n{kustomization}-- one/a.yaml --\n{service}-- two/kustomization.yaml --\n\
         {kustomization}-- two/a.yaml --\n{service}"
    ));
    let run = tree.run(&["validate", "--all", "--schema"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    for text in ["in one", "in two", "did you mean 'ports'", "2 faults in the resources"] {
        assert!(run.stderr.contains(text), "{text}: {}", run.stderr);
    }
    assert_eq!(tree.run(&["validate", "--all"]).status, Some(0));
}

#[test]
fn outputs_of_kustomize_fit_the_schemas() {
    // These cases are meant to be read, so that their resources are as a server wants them, though
    // short.
    let (mut resources, mut codes) = (0, std::collections::BTreeMap::<String, usize>::new());
    let tree = Tree::new("");
    for directory in ["reference"] {
        for (i, path) in files(&testdata(directory), ".txtar").iter().enumerate() {
            let (_, parts) = split(&fs::read_to_string(path).unwrap());
            let Some((_, output)) = parts.iter().find(|(name, _)| name == "stdout" || name == "expected") else {
                continue;
            };
            resources += output.matches("kind: ").count();
            let name = format!("{directory}{i}");
            tree.write(&format!("{name}/kustomization.yaml"), "resources: [all.yaml]\n");
            tree.write(&format!("{name}/all.yaml"), output);
        }
    }
    let run = tree.run(&["validate", "--all", "--keep-going", "--schema", "--error-format", "json"]);
    for line in run.stderr.lines() {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        *codes.entry(message["code"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert!(resources > 20, "{resources}");
    for code in ["unknown-field-of-kind", "wrong-type-of-kind", "unknown-kind"] {
        assert_eq!(codes.get(code), None, "{}", run.stderr);
    }
}

/// A definition of `App` in example.com whose schema is `schema`, and a resource of this kind.
fn custom(schema: &str, resource: &str) -> Tree {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [crd.yaml, app.yaml]\n");
    let head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: apps.example.com}\n\
        spec: {group: example.com, scope: Cluster, names: {kind: App, plural: apps}, versions: [{name: v1, served: true, \
        storage: true, schema: {openAPIV3Schema: ";
    tree.write("crd.yaml", &format!("{head}{schema}}}}}]}}\n"));
    tree.write("app.yaml", &format!("apiVersion: example.com/v1\nkind: App\nmetadata: {{name: a}}\n{resource}\n"));
    tree
}

#[test]
fn deep_schemas_and_resources_end() {
    let schema = "{type: object, properties: {s: ".repeat(450) + "{type: string}" + &"}}".repeat(450);
    let resource = format!("s: {}x{}", "{s: ".repeat(449), "}".repeat(449));
    let (status, found) = findings(&custom(&schema, &resource), &[]);
    assert_eq!((status, found.as_str()), (Some(0), ""));
    let wrong = format!("s: {}1{}", "{s: ".repeat(100), "}".repeat(100));
    let (status, found) = findings(&custom(&schema, &wrong), &[]);
    assert_eq!(status, Some(1));
    assert!(found.contains("expected a mapping in 's.s.s"), "{found}");
    // Deeper input is refused by the reader, before the check.
    let deep = format!("s: {}x{}", "{s: ".repeat(10_000), "}".repeat(10_000));
    let (status, found) = findings(&custom("{type: object}", &deep), &[]);
    assert_eq!(status, Some(1));
    assert!(found.contains("nested deeper than"), "{found}");
}

#[test]
fn schema_of_10_megabytes_is_read_once() {
    let mut schema = String::from("{type: object, properties: {");
    for i in 0..120_000 {
        write!(schema, "field_{i}: {{type: string, description: {}}}, ", "long ".repeat(10).trim()).unwrap();
    }
    assert!(schema.len() > 10_000_000);
    let mut resource = String::new();
    for i in (0..120_000).step_by(1_000) {
        writeln!(resource, "field_{i}: x").unwrap();
    }
    resource.push_str("feild_7: 1\n");
    let (status, found) = findings(&custom(&(schema + "}}"), &resource), &[]);
    assert_eq!(status, Some(1));
    assert!(found.contains("'feild_7'") && found.lines().count() == 2, "{found}");
}

#[test]
fn ten_thousand_findings_are_counted() {
    let mut text = String::from("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n");
    for i in 0..10_000 {
        writeln!(text, "  k{i}: {i}").unwrap();
    }
    let tree = Tree::new("-- kustomization.yaml --\nresources: [a.yaml]\n");
    tree.write("a.yaml", &text);
    let (status, found) = findings(&tree, &[]);
    assert_eq!((status, found.lines().count()), (Some(1), 1_001));
    assert!(
        found.contains("1000 faults in the resources, and 9000 findings that are not shown"),
        "{}",
        found.lines().last().unwrap()
    );
}
