//! `lint`: testdata/lint has a folder for each code, with a tree that fires and one that does not.

use crate::support::Tree;
use std::collections::BTreeSet;
use std::fs;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/lint");

fn tree(case: &str) -> Tree {
    Tree::new(&fs::read_to_string(format!("{CASES}/{case}.txtar")).unwrap())
}

/// The codes of the findings, and the status.
fn lint(tree: &Tree, args: &[&str]) -> (Vec<String>, Option<i32>) {
    let run = tree.run(&[&["lint", "--error-format", "json"], args].concat());
    assert_eq!(run.stdout, "");
    let code =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["code"].as_str().unwrap().to_owned();
    (run.stderr.lines().map(code).collect(), run.status)
}

#[test]
fn each_code_fires_and_is_silent() {
    let codes = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let codes: BTreeSet<String> = codes.collect();
    let known = rustomize::diag::Code::FINDINGS.iter().map(|code| code.as_str().to_owned());
    assert_eq!(codes, known.collect());
    for code in codes {
        let fires = tree(&format!("{code}/fires"));
        let (found, status) = lint(&fires, &[]);
        assert!(!found.is_empty() && found.iter().all(|found| *found == code), "{code}: {found:?}");
        assert_eq!(status, Some(1), "{code}");
        assert_eq!(lint(&fires, &["-A", &code]), (vec![], Some(0)), "{code}");
        let silent = lint(&tree(&format!("{code}/silent")), &[]);
        assert_eq!(silent, (vec![], Some(0)), "{code}");
    }
}

#[test]
fn each_kind_of_entry_without_effect_is_found() {
    let (found, _) = lint(&tree("no-effect/fires"), &[]);
    assert_eq!(found.len(), 4);
}

#[test]
fn a_strict_build_takes_findings_for_errors() {
    let tree = tree("no-effect/fires");
    let usual = tree.run(&["build"]);
    assert_eq!((usual.status, usual.stderr.as_str()), (Some(0), ""));
    let strict = tree.run(&["build", "--strict"]);
    assert_eq!((strict.status, strict.stdout.as_str()), (Some(1), ""));
}

#[test]
fn a_finding_of_a_shared_base_is_printed_once() {
    let tree = Tree::new("");
    tree.write("base/kustomization.yaml", "namePrefix: a-\nimages: [{name: x, newTag: b}]\n");
    for root in ["one", "two", "three"] {
        tree.write(&format!("{root}/kustomization.yaml"), "resources: [../base]\nnameSuffix: -x\n");
    }
    assert_eq!(lint(&tree, &["one", "two", "three"]), (vec!["no-effect".to_owned()], Some(1)));
}

/// A component works on whatever its users have: an entry may have an effect for another one.
#[test]
fn an_entry_of_a_component_may_be_without_effect() {
    let tree = Tree::new("");
    let head = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    tree.write("part/kustomization.yaml", &format!("{head}images: [{{name: x, newTag: b}}]\n"));
    tree.write("root/kustomization.yaml", "components: [../part]\nnameSuffix: -x\n");
    assert_eq!(lint(&tree, &["root"]), (vec![], Some(0)));
    assert_eq!(lint(&tree, &["part"]), (vec![], Some(0)));
}
