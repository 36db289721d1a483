//! `localize`: what is not a case of testdata/localize, and real kustomizations.

use crate::support::localize::{Case, contents, kustomize};
use crate::support::{Tree, files, in_path, skip};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// The result and its place are told, and nothing else stays.
#[test]
fn localize_says_what_it_did() {
    let tree = Tree::new(&format!("-- a/kustomization.yaml --\nresources: [a.yaml]\n-- a/a.yaml --\n{MAP}"));
    let run = tree.run(&["localize", "a", "out"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let place = fs::canonicalize(tree.path()).unwrap().join("out");
    let place = place.display();
    let verified = "VERIFICATION SUCCESS: `kustomize build` for a and";
    assert_eq!(
        run.stderr,
        format!("{verified} {place} are the same after localization.\nSUCCESS: localized \"a\" to directory {place}\n")
    );
    assert_eq!(run.stdout, "");
    let run = tree.run(&["localize", "a", "other", "--no-verify"]);
    assert!(!run.stderr.contains("VERIFICATION") && run.stderr.contains("SUCCESS: localized \"a\""), "{}", run.stderr);
    let mut names: Vec<_> = fs::read_dir(tree.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "other", "out"]);
}

/// kustomize compares two empty texts. Here a copy that builds to something else is an error, and
/// is not left.
#[test]
fn a_copy_that_builds_to_something_else_is_refused() {
    let tree = Tree::new("-- a/kustomization.yaml --\nresources: [a.yaml]\n");
    // Chart homes come along without the links in them, which the build of the copy misses.
    tree.write("a/kustomization.yaml", "resources: [r.yaml]\nhelmCharts: [{name: c}]\n");
    tree.write("a/r.yaml", MAP);
    tree.write("a/charts/c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    tree.write("a/charts/c/values.yaml", "{}\n");
    tree.write("a/t.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-link}\n");
    fs::create_dir_all(tree.path().join("a/charts/c/templates")).unwrap();
    symlink("../../../t.yaml", tree.path().join("a/charts/c/templates/t.yaml")).unwrap();
    if in_path("helm").is_none() {
        return skip("helm is not in PATH");
    }
    tree.run(&["localize", "a", "out"]).fails_with(&["must specify --enable-helm", "--no-verify"]);
    assert!(!tree.path().join("out").exists());
    tree.run(&["localize", "a", "out", "--enable-helm"]).fails_with(&["VERIFICATION FAILED"]);
    assert!(!tree.path().join("out").exists());
    fs::remove_file(tree.path().join("a/charts/c/templates/t.yaml")).unwrap();
    fs::copy(tree.path().join("a/t.yaml"), tree.path().join("a/charts/c/templates/t.yaml")).unwrap();
    tree.run(&["localize", "a", "out", "--enable-helm"]).ok();
    assert!(tree.path().join("out/charts/c/templates/t.yaml").exists());
}

/// Annotations that say where a resource comes from differ, and count for nothing.
#[test]
fn origins_do_not_count() {
    let case = Case::new(&[
        (
            "a/kustomization.yaml".to_owned(),
            "resources: ['http://{http}/m.yaml']\nbuildMetadata: [originAnnotations]\n".to_owned(),
        ),
        ("server/m.yaml".to_owned(), MAP.to_owned()),
    ]);
    case.tree.run(&["localize", "a", "out"]).ok();
    assert!(case.tree.path().join("out/localized-files/127.0.0.1/m.yaml").exists());
}

/// A base of many layers is copied once: the work is linear.
#[test]
fn diamonds_are_copied_once() {
    let tree = Tree::new("");
    const DEPTH: usize = 40;
    for i in 0..DEPTH {
        let resources =
            if i + 1 == DEPTH { "[]\nnamePrefix: x".to_owned() } else { format!("[../l{0}, ../r{0}]", i + 1) };
        for side in ["l", "r"] {
            tree.write(&format!("{side}{i}/kustomization.yaml"), &format!("resources: {resources}\n"));
        }
    }
    tree.run(&["localize", "l0", "out", "--scope", ".", "--no-verify"]).ok();
    assert_eq!(files(&tree.path().join("out"), ".yaml").len(), 2 * DEPTH - 1);
}

/// Many layers do not use up the stack.
#[test]
fn deep_chains_are_copied() {
    let tree = Tree::new("-- end/kustomization.yaml --\nnamePrefix: x\n");
    const DEPTH: usize = 1500;
    for i in 0..DEPTH {
        let next = if i + 1 == DEPTH { "end".to_owned() } else { format!("l{}", i + 1) };
        tree.write(&format!("l{i}/kustomization.yaml"), &format!("resources: [../{next}]\n"));
    }
    tree.run(&["localize", "l0", "out", "--scope", ".", "--no-verify"]).ok();
    assert_eq!(files(&tree.path().join("out"), ".yaml").len(), DEPTH + 1);
}

/// Without a server nothing is left, and the error names the URL.
#[test]
fn failed_download_leaves_nothing() {
    let tree = Tree::new("-- a/kustomization.yaml --\nresources: ['http://127.0.0.1:9/m.yaml']\n");
    tree.run(&["localize", "a", "out"]).fails_with(&["http://127.0.0.1:9/m.yaml", "a/kustomization.yaml:1"]);
    assert_eq!(contents(&tree.path()).len(), 1);
    tree.assert_nothing_left();
}

/// kustomize copies the copy into itself until a path is too long.
#[test]
fn a_copy_among_the_charts_that_are_copied_ends() {
    let tree = Tree::new("-- a/kustomization.yaml --\nhelmCharts: [{name: c}]\n-- a/charts/c/Chart.yaml --\nname: c\n");
    tree.run(&["localize", "a", "a/charts/out", "--no-verify"]).ok();
    let copied = contents(&tree.path().join("a/charts/out"));
    assert_eq!(copied.keys().collect::<Vec<_>>(), ["charts/c/Chart.yaml", "kustomization.yaml"]);
}

/// A file without a key has the key that it has in the original, where kustomize takes the name of
/// the file behind a link.
#[test]
fn a_link_keeps_its_key() {
    let tree =
        Tree::new("-- a/kustomization.yaml --\nconfigMapGenerator: [{name: c, files: [l.txt]}]\n-- a/r.txt --\nx\n");
    symlink("r.txt", tree.path().join("a/l.txt")).unwrap();
    tree.run(&["localize", "a", "out"]).ok();
    let text = fs::read_to_string(tree.path().join("out/kustomization.yaml")).unwrap();
    assert_eq!(text, "configMapGenerator:\n- files:\n  - l.txt=r.txt\n  name: c\n");
}

/// A pipe is not read.
#[test]
fn pipes_are_refused() {
    let tree = Tree::new("-- a/kustomization.yaml --\nhelmGlobals: {chartHome: home}\nnamePrefix: x\n");
    fs::create_dir(tree.path().join("a/home")).unwrap();
    let pipe = tree.path().join("a/home/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    tree.run(&["localize", "a", "out", "--no-verify"]).fails_with(&["is not a file"]);
    assert!(!tree.path().join("out").exists());
}

/// Real kustomizations: the copies are kustomize's, byte for byte.
#[test]
fn real_kustomizations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/realworld/src");
    if !root.is_dir() {
        return skip("real kustomizations are not here");
    }
    if in_path("kustomize").is_none() {
        return skip("kustomize is not in PATH");
    }
    let is_root = |path: &PathBuf| path.ends_with("kustomization.yaml");
    // Remote ones would ask servers.
    let is_local = |path: &PathBuf| !fs::read_to_string(path).unwrap_or_default().contains("://");
    let found: Vec<PathBuf> = files(&root, "kustomization.yaml").into_iter().filter(is_root).filter(is_local).collect();
    let every = if std::env::var_os("RUSTOMIZE_LARGE").is_some() { 1 } else { 25 };
    let (mut faults, mut same) = (Vec::new(), 0);
    for file in found.iter().step_by(every) {
        let case = Case::new(&[]);
        let (target, scope) = (file.parent().unwrap(), file.strip_prefix(&root).unwrap().components().next().unwrap());
        let scope = root.join(scope);
        let args = |out: &str| -> Vec<String> {
            let scope = scope.to_string_lossy().into_owned();
            ["localize", &target.to_string_lossy(), out, "--no-verify", "--scope", &scope].map(str::to_owned).to_vec()
        };
        let theirs = kustomize(&case, &args("theirs"));
        let ours = case.tree.run(&args("ours").iter().map(String::as_str).collect::<Vec<_>>());
        let [ours_left, theirs_left] = ["ours", "theirs"].map(|name| {
            let place = case.tree.path().join(name);
            if place.is_dir() { contents(&place) } else { BTreeMap::new() }
        });
        match ours.status == theirs.status && ours_left == theirs_left {
            true => same += 1,
            false => faults.push(format!("{}\n{}\n{}", file.display(), ours.stderr, theirs.stderr)),
        }
    }
    println!("{same} copies are the same");
    assert!(faults.is_empty() && same > 10, "{same}; {}", faults.join("\n"));
}
