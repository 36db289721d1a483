//! Words of a file that would become options of the programs that are started.

use crate::servers::{Files, git_server};
use crate::support::{Run, Tree, git};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: VALUE}\n";

/// Makes a directory of the tree a repository with one commit, which is returned.
fn commit(tree: &Tree, name: &str) -> String {
    let directory = tree.path().join(name);
    git(&directory, &["init", "-q", "-b", "main"]);
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "-qm", "one"]);
    git(&directory, &["rev-parse", "HEAD"])
}

fn url(tree: &Tree, name: &str) -> String {
    format!("file://{}", tree.path().join(name).display())
}

/// Builds a kustomization with one remote base.
fn build_of(tree: &Tree, entry: &str, args: &[&str]) -> Run {
    tree.write("app/kustomization.yaml", &format!("resources: [\"{entry}\"]\n"));
    let run = tree.run(&[&["build", "app"], args].concat());
    tree.assert_nothing_left();
    run
}

/// A file that a command of the attacker makes.
fn mark(tree: &Tree) -> PathBuf {
    tree.path().join("mark")
}

#[test]
fn c1_a_reference_is_no_option_of_git() {
    let tree = Tree::new("");
    let mark = mark(&tree);
    let upload = format!("--upload-pack=id%3E{}%3B", mark.display());
    let refused = |run: Run, how: &str| {
        assert!(!mark.exists(), "{how}: a command ran");
        run.fails_with(&["git", "begins with '-'"]);
        assert!(!mark.exists());
    };
    for parameter in ["ref", "version"] {
        let entry = format!("file:///x?{parameter}={upload}");
        refused(build_of(&tree, &entry, &[]), parameter);
        tree.write("app/kustomization.yaml", &format!("components: [\"{entry}\"]\n"));
        refused(tree.run(&["build", "app"]), "a component");
        tree.write("app/kustomization.yaml", &format!("resources: [\"{entry}\", \"{entry}x\"]\n"));
        refused(tree.run(&["build", "app"]), "two at once");
        refused(tree.run(&["build", &entry]), "the argument");
        refused(tree.run(&["plugin", "install", "--from", &format!("git::{entry}"), "h.io/acme/x"]), "a plugin");
    }
    // What a base from elsewhere says.
    for entry in [format!("https://h.invalid/o/r?ref={upload}"), format!("git@h.invalid:o/r?ref={upload}")] {
        tree.write("repo/kustomization.yaml", &format!("resources: [\"{entry}\"]\n"));
        commit(&tree, "repo");
        refused(build_of(&tree, &url(&tree, "repo"), &[]), "inside a remote base");
        fs::remove_dir_all(tree.path().join("repo")).unwrap();
    }
    build_of(&tree, "https://h.invalid/o/r?ref=a%0Ab", &[]).fails_with(&["control character"]);
}

#[test]
fn c1_a_remote_base_names_no_repository_of_this_machine() {
    let tree = Tree::new("");
    tree.write("private/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("private/a.yaml", &CONFIG_MAP.replace("VALUE", "secret"));
    commit(&tree, "private");
    let private = url(&tree, "private");
    assert!(build_of(&tree, &private, &[]).ok().contains("secret"), "the user's own tree may name it");
    let upper = private.replace("file", "git::FILE");
    for (i, entries) in [format!("['{private}']"), format!("['{upper}', '{private}?ref=main']")].iter().enumerate() {
        for field in ["resources", "components"] {
            let name = format!("base-{i}-{field}");
            tree.write(&format!("{name}/kustomization.yaml"), &format!("{field}: {entries}\n"));
            commit(&tree, &name);
            build_of(&tree, &url(&tree, &name), &[]).fails_with(&["security", "of this machine", &private[7..]]);
        }
    }
}

#[test]
fn c1_a_plugin_from_elsewhere_needs_no_repository_of_this_machine() {
    let tree = Tree::new("");
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: NAME\nversion: 0.1.0\nruntime: bash\ngenerators: [{apiVersion: ex.io/v1, kind: NAME}]\n";
    tree.write("private/plugin.yaml", &manifest.replace("NAME", "private"));
    commit(&tree, "private");
    git(&tree.path().join("private"), &["tag", "v0.1.0"]);
    let needs =
        format!("dependencies: {{private: {{source: h.io/acme/private, from: 'git::{}'}}}}\n", url(&tree, "private"));
    tree.write("top/plugin.yaml", &(manifest.replace("NAME", "top") + &needs));
    tree.write("top/main.sh", "");
    tree.write("private/main.sh", "");
    commit(&tree, "top");
    git(&tree.path().join("top"), &["tag", "v0.1.0"]);
    let from = format!("git::{}", url(&tree, "top"));
    tree.run(&["plugin", "install", "--from", &from, "h.io/acme/top"]).fails_with(&["of this machine", "private"]);
}

/// A repository whose tree has the programs that the user's git would call by relative paths.
#[test]
fn c1_nothing_of_a_clone_runs() {
    let tree = Tree::new("");
    let mark = mark(&tree);
    let evil = format!("#!/bin/sh\necho $0 >> {}\n", mark.display());
    tree.write("repo/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("repo/a.yaml", &CONFIG_MAP.replace("VALUE", "1"));
    tree.write("repo/hooks/post-checkout", &evil);
    let one = commit(&tree, "repo");
    let ext = format!("ext::sh -c touch% {}", mark.display());
    tree.write("repo/.gitmodules", &format!("[submodule \"s\"]\n\tpath = s\n\turl = {ext}\n"));
    let repo = tree.path().join("repo");
    git(&repo, &["update-index", "--add", "--cacheinfo", &format!("160000,{one},s")]);
    git(&repo, &["add", ".gitmodules"]);
    git(&repo, &["commit", "-qm", "two"]);
    tree.write("../home/.gitconfig", "[core]\n\thooksPath = hooks\n[protocol \"ext\"]\n\tallow = always\n");
    let said = |reference: &str| build_of(&tree, &format!("{}?{reference}", url(&tree, "repo")), &[]);
    assert!(said("submodules=false").ok().contains("name: a"));
    assert!(!mark.exists(), "ran: {}", fs::read_to_string(&mark).unwrap());
    said("ref=main").fails_with(&["git submodule update"]);
    assert!(!mark.exists(), "ran: {}", fs::read_to_string(&mark).unwrap());
}

#[test]
fn c1_a_submodule_from_elsewhere_is_no_repository_of_this_machine() {
    let tree = Tree::new("");
    tree.write("private/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("private/a.yaml", &CONFIG_MAP.replace("VALUE", "secret"));
    let private = commit(&tree, "private");
    tree.write("repo/kustomization.yaml", "resources: [s]\n");
    let text = format!("[submodule \"s\"]\n\tpath = s\n\turl = {}\n", tree.path().join("private").display());
    tree.write("repo/.gitmodules", &text);
    commit(&tree, "repo");
    let repo = tree.path().join("repo");
    git(&repo, &["update-index", "--add", "--cacheinfo", &format!("160000,{private},s")]);
    git(&repo, &["commit", "-qm", "two"]);
    git(&tree.path(), &["clone", "-q", "--bare", "repo", "served.git"]);
    // As it was before git itself forbade this.
    tree.write("../home/.gitconfig", "[protocol \"file\"]\n\tallow = always\n");
    let server = git_server(tree.path(), Files::default());
    build_of(&tree, &format!("http://{server}/served.git"), &[]).fails_with(&["git submodule update"]);
}

/// A tree whose cache has a clone, the address of its base, and the place of the clone.
fn cached() -> (Tree, String, PathBuf) {
    let tree = Tree::new("");
    tree.write("repo/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("repo/a.yaml", &CONFIG_MAP.replace("VALUE", "real"));
    let commit = commit(&tree, "repo");
    let entry = format!("{}?ref={commit}", url(&tree, "repo"));
    assert!(build_of(&tree, &entry, &[]).ok().contains("real"));
    let git = tree.home().join(".cache/rustomize/git");
    let repository = fs::read_dir(&git).unwrap().next().unwrap().unwrap().path();
    (tree, entry, repository.join(format!("{commit}-submodules")))
}

/// Builds with a clone in the cache that somebody has changed.
#[track_caller]
fn is_not_used(tree: &Tree, entry: &str, version: &Path) {
    fs::write(version.join("a.yaml"), CONFIG_MAP.replace("VALUE", "planted")).unwrap();
    let built = build_of(tree, entry, &[]).ok();
    assert!(built.contains("real") && !built.contains("planted"), "{built}");
    build_of(tree, entry, &["--offline"]).fails_with(&["offline"]);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn m6_a_clone_that_others_may_write_to_is_not_used() {
    for (above, mode) in [(0, 0o777), (0, 0o770), (1, 0o777), (1, 0o1777), (1, 0o720), (2, 0o777), (3, 0o777)] {
        let (tree, entry, version) = cached();
        set_mode(version.ancestors().nth(above).unwrap(), mode);
        is_not_used(&tree, &entry, &version);
    }
    // Where only the owner of an entry may rename it, what is ours is ours.
    let (tree, entry, version) = cached();
    set_mode(version.ancestors().nth(3).unwrap(), 0o1777);
    fs::rename(tree.path().join("repo"), tree.path().join("gone")).unwrap();
    assert!(build_of(&tree, &entry, &[]).ok().contains("real"));
}

#[test]
fn m6_a_clone_that_is_a_link_is_not_used() {
    for above in [0, 1, 2] {
        let (tree, entry, version) = cached();
        let link = version.ancestors().nth(above).unwrap();
        let elsewhere = tree.home().join("elsewhere");
        fs::rename(link, &elsewhere).unwrap();
        symlink(&elsewhere, link).unwrap();
        is_not_used(&tree, &entry, &version);
    }
}

#[test]
fn m6_a_clone_of_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root gives files to other users");
        return;
    }
    for above in [0, 1, 2, 3] {
        let (tree, entry, version) = cached();
        std::os::unix::fs::chown(version.ancestors().nth(above).unwrap(), Some(1), None).unwrap();
        is_not_used(&tree, &entry, &version);
    }
}
