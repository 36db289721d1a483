//! The formats of errors and warnings: for people with the line of the file, for programs as data.

use crate::support::Tree;
use serde_json::Value;

/// An overlay whose base has a list in place of a text.
const TREE: &str = "\
-- over/kustomization.yaml --
resources: [../base]
-- base/kustomization.yaml --
images:
- name: x
  newTag: [1] # a list
";

/// The stderr of a failed build of `over`, with flags such as `--error-format`.
#[track_caller]
fn said(tree: &str, args: &[&str]) -> String {
    let tree = Tree::new(tree);
    let run = tree.run(&[&["build", "over"], args].concat());
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
    run.stderr
}

#[test]
fn human_format_shows_the_line() {
    let human = "\
Error: expected a string, found a list
 --> base/kustomization.yaml:3:11
  |
3 |   newTag: [1] # a list
  |           ^^^
  |
  = in field 'images.newTag'
  = invalid Kustomization
  = accumulating resources from '../base' of over/kustomization.yaml
  = hint: write one text here
";
    assert_eq!(said(TREE, &[]), human);
    assert_eq!(said(TREE, &["--color", "never"]), human);
    let colored = said(TREE, &["--color", "always"]);
    assert!(colored.starts_with("\u{1b}[") && colored.contains("newTag: [1]"), "{colored}");
    assert!(colored.contains("for more: rustomize explain wrong-type"), "{colored}");
}

#[test]
fn short_format_prints_one_line_each() {
    let short = "base/kustomization.yaml:3:11: error: expected a string, found a list [wrong-type]\n";
    assert_eq!(said(TREE, &["--error-format", "short"]), short);
}

#[test]
fn json_format_prints_one_object_each() {
    let object: Value = serde_json::from_str(&said(TREE, &["--error-format", "json"])).unwrap();
    let place = |value: &Value| (value["file"].clone(), value["line"].clone(), value["column"].clone());
    assert_eq!(object["severity"], "error");
    assert_eq!(object["code"], "wrong-type");
    assert_eq!(object["message"], "expected a string, found a list");
    assert_eq!(object["field"], "images.newTag");
    assert_eq!(place(&object), ("base/kustomization.yaml".into(), 3.into(), 11.into()));
    assert_eq!(object["endColumn"], 14);
    assert_eq!(place(&object["chain"][1]), ("over/kustomization.yaml".into(), 1.into(), 13.into()));
}

#[test]
fn sarif_format_prints_a_document() {
    let document: Value = serde_json::from_str(&said(TREE, &["--error-format", "sarif"])).unwrap();
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&document["version"], &result["ruleId"]), (&"2.1.0".into(), &"wrong-type".into()));
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "base/kustomization.yaml");
    assert_eq!(location["region"]["startLine"], 3);
}

#[test]
fn github_format_prints_workflow_commands() {
    let github = "::error file=base/kustomization.yaml,line=3,col=11,title=wrong-type::expected a string, found a list\
                  %0Ainvalid Kustomization%0Aaccumulating resources from '../base' of over/kustomization.yaml\
                  %0Ahint: write one text here\n";
    assert_eq!(said(TREE, &["--error-format", "github"]), github);
}

#[test]
fn values_of_secrets_are_not_shown() {
    let tree = "\
-- over/kustomization.yaml --
resources: [secret.yaml]
-- over/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: a}
data:
  key: aHVudGVyMg==
   other: x
";
    for format in ["human", "short", "json", "sarif", "github"] {
        let said = said(tree, &["--error-format", format]);
        assert!(said.contains("secret.yaml") && !said.contains("aHVudGVyMg"), "{said}");
    }
}

#[test]
fn errors_of_every_root_are_printed() {
    let tree = Tree::new(TREE);
    tree.write("bad/kustomization.yaml", "nameprefixes: x\n");
    let run = tree.run(&["build", "over", "bad", "--keep-going", "--error-format", "json"]);
    let objects: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let roots: Vec<&Value> = objects.iter().map(|object| &object["root"]).collect();
    assert_eq!(roots, [&"over".into(), &"bad".into(), &Value::Null]);
    assert_eq!(objects[2]["message"], "2 of 2 roots failed");
}

/// The messages of a build whose only resource has this text.
#[track_caller]
fn said_of(resource: &str) -> String {
    let tree = Tree::new("-- over/kustomization.yaml --\nresources: [r.yaml]\n");
    tree.write("over/r.yaml", resource);
    let run = tree.run(&["build", "over"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
    run.stderr
}

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

#[test]
fn a_fault_in_a_line_of_100_mb_is_shown_with_its_surroundings() {
    // 100 MB take half a minute in a debug build.
    let half = if std::env::var_os("RUSTOMIZE_LARGE").is_some() { 50 << 20 } else { 5 << 20 };
    let said = said_of(&format!("{HEAD}data: {{a: {}, b: {{c}}: d, e: {}}}\n", "x".repeat(half), "y".repeat(half)));
    assert!(said.contains(&format!("--> over/r.yaml:4:{}", half + 19)), "{said}");
    let longest = said.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 400 && said.contains("b: {c}"), "the longest line has {longest} characters:\n{said}");
}

#[test]
fn marks_are_below_wide_characters_and_tabs() {
    let said = said_of(&format!("{HEAD}data:\n  说明: 你好: x\n"));
    assert!(said.contains("--> over/r.yaml:5:9\n"), "{said}");
    assert!(said.contains("5 |   说明: 你好: x\n  |             ^"), "{said}");
    let said = said_of(&format!("{HEAD}data: {{a:\tb:\tc: d}}\n"));
    assert!(said.contains("--> over/r.yaml:4:"), "{said}");
    let line = said.lines().position(|line| line.starts_with("4 |")).unwrap();
    let at = |line: &str, mark: char| line.chars().take_while(|c| *c != mark).count();
    let (text, marks) = (said.lines().nth(line).unwrap(), said.lines().nth(line + 1).unwrap());
    assert!(!text.contains('\t') && at(marks, '^') < text.chars().count(), "{said}");
}

#[test]
fn crlf_lines_and_the_last_line_are_shown() {
    let said = said_of("apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: a}\r\ndata: b: c\r\n");
    assert!(
        said.contains("--> over/r.yaml:4:8\n") && said.contains("4 | data: b: c\n") && !said.contains('\r'),
        "{said}"
    );
    let said = said_of(&format!("{HEAD}data: b: c"));
    assert!(said.contains("--> over/r.yaml:4:8\n") && said.contains("4 | data: b: c\n"), "{said}");
    let said = said_of(&format!("{HEAD}data: {{b: \"c"));
    assert!(said.contains("--> over/r.yaml:4:"), "{said}");
}

/// The tree of a plugin whose script has these lines.
fn tree_of_plugin(kustomization: &str, script: &str) -> Tree {
    let tree = Tree::new("-- made.yaml --\napiVersion: ex.io/v1\nkind: Maker\nmetadata: {name: m}\n");
    tree.write("kustomization.yaml", kustomization);
    tree.plugin("Maker", &format!("#!/bin/sh\n{script}\n"));
    tree
}

#[test]
fn shown_line_is_the_one_that_was_read() {
    // The plugin runs when the resource was read, and labels are set after it has run.
    let kustomization = "resources: [r.yaml]\ngenerators: [made.yaml]\nlabels: [{pairs: {a: b}}]\n";
    for change in ["rm r.yaml", "echo > r.yaml", "head -c 9 /dev/zero > r.yaml", "seq 1 9999 > r.yaml"] {
        let tree = tree_of_plugin(kustomization, change);
        tree.write("r.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: [wrong]\n");
        let said = tree.build(&[]).fails_with(&["--> r.yaml:5:11", "5 |   labels: [wrong]\n", "^^^^^^^"]);
        assert_eq!(said.matches(" --> ").count(), 1, "{said}");
    }
}

#[test]
fn the_output_of_a_plugin_is_shown_at_its_line_unless_it_may_be_secret() {
    let shown = "--> the output of plugin ex.io/v1 Maker m:2:8";
    let tree = tree_of_plugin("generators: [made.yaml]\n", "printf 'apiVersion: v1\\nkind: a: b\\n'");
    tree.build(&[]).fails_with(&[shown, "2 | kind: a: b\n"]);
    let of_resource = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {nam: a}\\n'";
    let tree = tree_of_plugin("generators: [made.yaml]\n", of_resource);
    tree.build(&[]).fails_with(&["missing metadata.name in ConfigMap", "1 | apiVersion: v1\n", "did you mean 'name'"]);
    // The fault is in another document than the Secret, and in a Secret whose kind comes later.
    for output in ["kind: Secret\\ndata: {a: hunter2}\\n---\\nb: hunter2: c\\n", "data: hunter2: c\\nkind: Secret\\n"] {
        let tree = tree_of_plugin("generators: [made.yaml]\n", &format!("printf '{output}'"));
        for format in ["human", "short", "json", "sarif", "github"] {
            let said = tree.build(&["--error-format", format]).fails_with(&["the output of plugin ex.io/v1 Maker m"]);
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}

#[test]
fn all_faults_of_a_file_are_shown_up_to_a_limit() {
    let fields: String = (0..30).map(|i| format!("wrong{i}: x\n")).collect();
    let tree = Tree::new("");
    tree.write("kustomization.yaml", &fields);
    let said = tree.run(&["build"]).fails_with(&["unknown field \"wrong0\"", "10 more errors are not shown"]);
    assert_eq!(said.matches("Error: unknown field").count(), 20, "{said}");
    for format in ["short", "json", "github"] {
        let said = tree.run(&["build", "--error-format", format]).fails_with(&["10 more errors are not shown"]);
        assert_eq!(said.lines().count(), 21, "{format}: {said}");
    }
    let places = |said: &str| said.matches("kustomization.yaml:").count();
    assert_eq!(places(&tree.run(&["build", "--error-format", "short"]).stderr), 20);
}

#[test]
fn values_of_literals_are_not_shown() {
    for generator in ["secretGenerator", "configMapGenerator"] {
        let tree = Tree::new("");
        tree.write("kustomization.yaml", &format!("{generator}:\n- name: a\n  literals:\n  - password_hunter2\n"));
        let said = tree.run(&["build"]).fails_with(&["invalid literal source", "--> kustomization.yaml:4:5"]);
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn sarif_document_explains_its_rules() {
    let document: Value = serde_json::from_str(&said(TREE, &["--error-format", "sarif"])).unwrap();
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0]["id"], "wrong-type");
    assert!(rules[0]["shortDescription"]["text"].as_str().unwrap().ends_with('.'), "{rules:?}");
}
