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
fn people_see_the_line() {
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
fn a_line_each() {
    let short = "base/kustomization.yaml:3:11: error: expected a string, found a list [wrong-type]\n";
    assert_eq!(said(TREE, &["--error-format", "short"]), short);
}

#[test]
fn an_object_each() {
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
fn a_document_for_code_scanning() {
    let document: Value = serde_json::from_str(&said(TREE, &["--error-format", "sarif"])).unwrap();
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&document["version"], &result["ruleId"]), (&"2.1.0".into(), &"wrong-type".into()));
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "base/kustomization.yaml");
    assert_eq!(location["region"]["startLine"], 3);
}

#[test]
fn a_command_of_github_actions() {
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
fn every_root_has_its_errors() {
    let tree = Tree::new(TREE);
    tree.write("bad/kustomization.yaml", "nameprefixes: x\n");
    let run = tree.run(&["build", "over", "bad", "--keep-going", "--error-format", "json"]);
    let objects: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let roots: Vec<&Value> = objects.iter().map(|object| &object["root"]).collect();
    assert_eq!(roots, [&"over".into(), &"bad".into(), &Value::Null]);
    assert_eq!(objects[2]["message"], "2 of 2 roots failed");
}
