//! `create`: what is not a case of testdata/create.

use crate::support::Tree;
use std::fs;
use std::os::unix::fs::symlink;

/// Of many at once, one writes the file.
#[test]
fn a_file_is_never_replaced() {
    let tree = Tree::new("");
    let start = |i: usize| tree.command(&["create", "--nameprefix", &format!("p{i}-")]).spawn().unwrap();
    let children: Vec<_> = (0..8).map(start).collect();
    let good = children.into_iter().filter_map(|mut child| child.wait().unwrap().success().then_some(())).count();
    assert_eq!(good, 1);
    let before = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    tree.run(&["create"]).fails_with(&["kustomization file already exists", "rustomize edit"]);
    assert_eq!(fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap(), before);
}

/// A link in the place of the file is not followed, wherever it leads.
#[test]
fn a_link_in_the_place_of_the_file_is_not_followed() {
    let tree = Tree::new("");
    symlink("elsewhere", tree.path().join("kustomization.yaml")).unwrap();
    tree.run(&["create"]).fails_with(&["kustomization file already exists"]);
    assert!(!tree.path().join("elsewhere").exists());
}

/// An unreadable file or directory ends the search, as in kustomize, and nothing is written.
#[test]
fn a_search_that_fails_writes_nothing() {
    let tree = Tree::new("-- sub/a.yaml --\nkind: A\n");
    symlink("sub", tree.path().join("link")).unwrap();
    tree.run(&["create", "--autodetect"]).fails_with(&["'link'"]);
    assert!(!tree.path().join("kustomization.yaml").exists());
}

/// The result can be built and edited.
#[test]
fn a_new_file_builds() {
    let tree = Tree::new("-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    tree.run(&["init", "--autodetect", "--nameprefix", "b-"]).ok();
    assert!(tree.run(&["build"]).ok().contains("name: b-a"));
    tree.run(&["edit", "set", "namespace", "ns"]).ok();
    assert!(tree.run(&["build"]).ok().contains("namespace: ns"));
}
