//! Names, addresses and files that would be taken for trusted ones.

use crate::manager::{require, tree};
use crate::support::Tree;
use std::fs;
use std::os::unix::fs::symlink;

/// A directory that is a plugin, for the kind `Made`.
fn directory(tree: &Tree, path: &str, more: &str) {
    tree.write(
        &format!("{path}/plugin.yaml"),
        &format!(
            "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: 1.0.0\nruntime: bash\n\
             generators: [{{apiVersion: ex.io/v1, kind: Made}}]\n{more}"
        ),
    );
    let main = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: local}\\n'\n";
    tree.write(&format!("{path}/main.sh"), main);
}

#[test]
fn s1_a_file_is_never_written_through_a_link() {
    let tree = tree();
    directory(&tree, "plugins/app", "");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.write("../home/.bashrc", "mine\n");
    for name in [".plugins.lock.partial", "laid/.lock", "laid/.rustomize-lock"] {
        tree.write(&format!("{name}.beside"), "");
        let target = if name.starts_with(".plugins") { ".bashrc" } else { "made-through-a-link" };
        symlink(tree.home().join(target), tree.path().join(name)).unwrap();
    }
    assert!(tree.build(&[]).ok().contains("v: local"));
    assert_eq!(fs::read_to_string(tree.home().join(".bashrc")).unwrap(), "mine\n");
    assert!(tree.path().join("plugins.lock").is_file());
    // The directories on the way to what is laid, too.
    let _ = tree.run(&["plugin", "sync", "--placement", "laid"]);
    assert!(!tree.home().join("made-through-a-link").exists(), "a lock file was made through a link");
    fs::create_dir(tree.home().join("elsewhere")).unwrap();
    fs::create_dir(tree.path().join("other")).unwrap();
    symlink(tree.home().join("elsewhere"), tree.path().join("other/ex.io")).unwrap();
    tree.run(&["plugin", "sync", "--placement", "other"]).fails_with(&["other/ex.io' is a link"]);
    assert_eq!(fs::read_dir(tree.home().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn s12_what_a_user_has_in_the_directory_of_a_placement_stays() {
    let tree = tree();
    directory(&tree, "plugins/app", "");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.write("laid/.staging/thesis", "years of work");
    tree.run(&["plugin", "sync", "--placement", "laid"]).ok();
    let thesis = fs::read_to_string(tree.path().join("laid/.staging/thesis")).unwrap_or_default();
    assert_eq!(thesis, "years of work", "a directory of the user is gone");
    assert!(tree.path().join("laid/ex.io/v1/made/Made").is_file());
    // Nothing of its own stays behind but the lock and the list.
    let names = fs::read_dir(tree.path().join("laid")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, [".rustomize-lock", ".rustomize-placed.json", ".staging", "ex.io"]);
}
