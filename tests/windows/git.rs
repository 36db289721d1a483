//! git for Windows under wine: RUSTOMIZE_WINDOWS_GIT names a `git.exe`, and without it these tests
//! are left out. The repositories are made by the git of this machine.

use super::{GENERATOR, MAP, compile_shared_object, is_windows, z};
use crate::support::{Tree, git};
use std::fs;
use std::path::{Path, PathBuf};

/// A tree with git in PATH, whose settings convert line ends as those of git for Windows do.
fn tree_with_git(txtar: &str) -> Option<Tree> {
    if !is_windows() {
        return None;
    }
    let Some(program) = std::env::var_os("RUSTOMIZE_WINDOWS_GIT").map(PathBuf::from) else {
        println!("skipped: RUSTOMIZE_WINDOWS_GIT names no git.exe");
        return None;
    };
    let mut tree = Tree::new(txtar);
    tree.variables.insert("UNDER_WINE_PATH", format!(r"C:\windows\system32;{}", z(program.parent().unwrap())));
    // The files belong to a user of this machine, whom wine does not know.
    tree.write("../home/.gitconfig", "[core]\n\tautocrlf = true\n[safe]\n\tdirectory = *\n");
    Some(tree)
}

/// Puts the files of a directory into a commit with the tag v1.0.0.
fn commit(directory: &Path) {
    git(directory, &["init", "-q", "-b", "main"]);
    git(directory, &["add", "."]);
    git(directory, &["commit", "-qm", "one"]);
    git(directory, &["tag", "v1.0.0"]);
}

/// The URL of a repository of this machine.
fn url(directory: &Path) -> String {
    format!("file:///Z:{}", directory.display())
}

#[test]
fn a_remote_base_has_the_bytes_of_other_systems() {
    let Some(tree) = tree_with_git("") else { return };
    tree.write("../home/shared/base/kustomization.yaml", "resources: [map.yaml]\nconfigMapGenerator: [{name: text, files: [text], options: {disableNameSuffixHash: true}}]\n");
    tree.write("../home/shared/base/map.yaml", MAP);
    tree.write("../home/shared/base/text", "one\ntwo\n");
    let repository = tree.home().join("shared");
    commit(&repository);
    let want = format!(
        "{MAP}---\napiVersion: v1\ndata:\n  text: |\n    one\n    two\nkind: ConfigMap\nmetadata:\n  name: text\n"
    );
    for reference in ["main", "v1.0.0"] {
        tree.write("kustomization.yaml", &format!("resources: ['{}//base?ref={reference}']\n", url(&repository)));
        assert_eq!(tree.run(&["build"]).ok(), want, "{reference}");
        assert_eq!(tree.run(&["build", "--offline"]).ok(), want, "{reference}");
    }
    tree.write("kustomization.yaml", &format!("resources: ['{}//base?ref=nothing']\n", url(&repository)));
    tree.run(&["build"]).fails_with(&["nothing", "git fetch"]);
    // The commit is locked, and a copy of the files has the sum of other systems.
    tree.write("kustomization.yaml", &format!("resources: ['{}//base?ref=main']\n", url(&repository)));
    tree.run(&["vendor"]).ok();
    fs::rename(&repository, tree.home().join("elsewhere")).unwrap();
    assert_eq!(tree.run(&["build", "--locked"]).ok(), want);
    tree.assert_nothing_left();
}

#[test]
fn a_commit_is_compared_with_the_working_tree() {
    let Some(tree) = tree_with_git("") else { return };
    for name in ["app", "other"] {
        tree.write(&format!("{name}/kustomization.yaml"), "resources: [map.yaml]\n");
        tree.write(&format!("{name}/map.yaml"), &MAP.replace("map", name));
    }
    commit(&tree.path());
    assert_eq!(tree.run(&["diff", "--since", "HEAD"]).ok(), "");
    assert_eq!(tree.run(&["affected", "--since", "HEAD"]).ok(), "");
    // The working tree has the line ends of this system, which are not a change.
    tree.write("other/map.yaml", &MAP.replace("map", "other").replace('\n', "\r\n"));
    tree.write("app/map.yaml", &format!("{MAP}data: {{v: one}}\n").replace('\n', "\r\n"));
    let differs = tree.run(&["diff", "--since", "HEAD"]);
    assert_eq!(differs.status, Some(1), "{}", differs.stderr);
    assert!(differs.stdout.contains("# Root: app\n"), "{}", differs.stdout);
    assert!(!differs.stdout.contains("other"), "{}", differs.stdout);
    assert_eq!(tree.run(&["affected", "--since", "v1.0.0"]).ok(), "app\n");
    tree.assert_nothing_left();
}

#[test]
fn a_plugin_is_added_from_a_repository() {
    let Some(tree) = tree_with_git(GENERATOR) else { return };
    let manifest = "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: app\nversion: 1.0.0\nruntime: so\n\
                    entry: plugin.dll\ngenerators: [{apiVersion: ex.io/v1, kind: Made}]\n";
    tree.write("../home/app/plugin.yaml", manifest);
    let made = r#"return text(&response->output, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-git}\n");"#;
    compile_shared_object(&tree, "../home/app/plugin.dll", made);
    let repository = tree.home().join("app");
    commit(&repository);
    let from = format!("git::{}", url(&repository));
    let said = tree.run(&["plugin", "add", "h.io/acme/app", "--from", &from]).ok();
    assert!(said.contains("h.io/acme/app v1.0.0"), "{said}");
    fs::rename(&repository, tree.home().join("elsewhere")).unwrap();
    assert!(tree.build(&["--frozen"]).ok().contains("name: from-git\n"));
}
