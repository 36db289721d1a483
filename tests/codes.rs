//! `explain` of codes. tests/cases/codes.rs tries the example of each page.

use crate::support::Tree;
use rustomize::diag::Code;

#[test]
fn explain_prints_the_page_of_a_code() {
    let tree = Tree::new("");
    let page = tree.run(&["explain", "no-match"]).ok();
    assert!(page.starts_with("no-match\n\nAn entry is for resources that do not exist.\n\nWhy\n"), "{page}");
    assert!(page.contains("\n    -- patch.yaml --\n") && !page.contains("```"), "{page}");
    let list = tree.run(&["explain", "--list"]).ok();
    assert_eq!(list.lines().count(), Code::all().count());
    tree.run(&["explain", "no-macth"]).fails_with(&["'no-macth': no such file", "rustomize explain no-match"]);
    // A directory of that name is a root.
    tree.write("usage/kustomization.yaml", "configMapGenerator: [{name: settings}]\n");
    assert!(tree.run(&["explain", "usage"]).ok().contains("settings"));
}
