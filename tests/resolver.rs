//! The choice of a plugin for a configuration object: the order of the places, the files above a
//! root, and `plugin why`, which shows both. Real plugins, installed and run.

use crate::support::plugins::{install, root, script, tree};
use crate::support::{Tree, git, skip};
use std::fs;

const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires:\n";
const OBJECT: &str = "apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n";

/// A repository with a base that lists the object, two overlays on that base, and a plugin `app`.
fn repository() -> Tree {
    let tree = Tree::new("");
    tree.write("base/kustomization.yaml", "generators: [g.yaml]\n");
    tree.write("base/g.yaml", OBJECT);
    for overlay in ["one", "two"] {
        tree.write(
            &format!("overlays/{overlay}/kustomization.yaml"),
            &format!("namespace: {overlay}\nresources: [../../base]\n"),
        );
    }
    tree.write("plugins/app", &script("1.0.0", "app"));
    tree.write("plugins/other", &script("1.0.0", "other"));
    git(&tree.path(), &["init", "-q", "-b", "main"]);
    tree
}

fn build(tree: &Tree, directory: &str) -> crate::support::Run {
    let run = tree.run(&["build", "--enable-alpha-plugins", directory]);
    tree.assert_nothing_left();
    run
}

#[test]
fn a_base_brings_the_plugins_that_it_requires() {
    let tree = repository();
    tree.write("base/plugins.yaml", &format!("{HEAD}  app: {{source: h.io/acme/app, from: ../plugins/app}}\n"));
    for overlay in ["one", "two"] {
        let out = build(&tree, &format!("overlays/{overlay}")).ok();
        assert!(out.contains("v: app\n") && out.contains(&format!("namespace: {overlay}\n")), "{out}");
    }
    // The lock is beside the file that requires the plugin, and nowhere else.
    assert!(tree.path().join("base/plugins.lock").is_file());
    assert!(!tree.path().join("overlays/one/plugins.lock").exists());
    let frozen = ["build", "--enable-alpha-plugins", "--frozen", "overlays/one"];
    assert!(tree.run(&frozen).ok().contains("v: app\n"));
    fs::remove_file(tree.path().join("base/plugins.lock")).unwrap();
    tree.run(&frozen).fails_with(&["plugin 'app' (h.io/acme/app) is required and not locked", "base/plugins.yaml:4:3"]);
}

#[test]
fn overlays_share_the_file_at_the_top_of_the_repository_and_the_nearest_wins() {
    let tree = repository();
    tree.write("plugins.yaml", &format!("{HEAD}  app: {{source: h.io/acme/app, from: ./plugins/app}}\n"));
    assert!(build(&tree, "overlays/two").ok().contains("v: app\n"));
    assert!(tree.path().join("plugins.lock").is_file());
    // A file that is nearer to the object says something else of the same name.
    tree.write("base/plugins.yaml", &format!("{HEAD}  app: {{source: h.io/acme/other, from: ../plugins/other}}\n"));
    assert!(build(&tree, "overlays/two").ok().contains("v: other\n"));
    fs::remove_file(tree.path().join("base/plugins.yaml")).unwrap();
    // Files above the repository do not count.
    fs::rename(tree.path().join("plugins.yaml"), tree.path().join("../plugins.yaml")).unwrap();
    fs::remove_dir_all(root(&tree)).unwrap();
    build(&tree, "overlays/two").fails_with(&["unable to find plugin root"]);
}

#[test]
fn the_requirements_of_the_directory_that_is_built_count_for_its_bases() {
    let tree = repository();
    let file = format!("{HEAD}  app: {{source: h.io/acme/app, from: ../../plugins/app}}\n");
    tree.write("overlays/one/plugins.yaml", &file);
    assert!(build(&tree, "overlays/one").ok().contains("v: app\n"));
    fs::remove_dir_all(root(&tree)).unwrap();
    build(&tree, "overlays/two").fails_with(&["unable to find plugin root"]);
}

#[test]
fn remote_requirement_runs_only_after_the_local_tree_locks_it() {
    let tree = repository();
    tree.write("base/plugins.yaml", &format!("{HEAD}  app: {{source: h.io/acme/app, from: ../plugins/app}}\n"));
    git(&tree.path(), &["add", "."]);
    git(&tree.path(), &["commit", "-qm", "one"]);
    let url = format!("file://{}", tree.path().display());
    tree.write("../local/kustomization.yaml", &format!("resources: ['{url}//base']\n"));
    let refused = build(&tree, "../local");
    refused.fails_with(&["requires the plugin 'app' (h.io/acme/app)", "rustomize plugin add h.io/acme/app"]);
    assert!(!root(&tree).exists(), "nothing is installed");
    // An installed plugin of that kind does not take its place.
    install(&tree, "h.io/acme/any", &script("1.0.0", "any")).ok();
    build(&tree, "../local").fails_with(&["requires the plugin 'app'"]);
    let local = tree.path().join("../local");
    let (local, from) = (local.to_string_lossy().into_owned(), tree.path().join("plugins/app"));
    let from = from.to_string_lossy().into_owned();
    tree.run(&["plugin", "add", "h.io/acme/app", "--from", &from, "--directory", &local]).ok();
    assert!(build(&tree, "../local").ok().contains("v: app\n"));
}

#[test]
fn a_file_above_the_root_belongs_to_the_user_or_is_refused() {
    let mut tree = repository();
    tree.write("real.yaml", &format!("{HEAD}  app: {{source: h.io/acme/app, from: ./plugins/app}}\n"));
    let file = tree.path().join("plugins.yaml");
    std::os::unix::fs::symlink("real.yaml", &file).unwrap();
    build(&tree, "base").fails_with(&["is above the kustomization and is not a regular file"]);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    build(&tree, "base").fails_with(&["is above the kustomization and is not a regular file"]);
    fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("nowhere", &file).unwrap();
    build(&tree, "base").fails_with(&["is above the kustomization and is not a regular file"]);
    fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    build(&tree, "base").fails_with(&["is above the kustomization and is not a regular file"]);
    fs::remove_file(&file).unwrap();
    fs::write(&file, [b'a', 0xff, 0xfe]).unwrap();
    build(&tree, "base").fails_with(&["cannot read", "plugins.yaml"]);
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    if fs::File::open(&file).is_err() {
        build(&tree, "base").fails_with(&["cannot read", "plugins.yaml"]);
    }
    fs::remove_file(&file).unwrap();
    fs::copy(tree.path().join("real.yaml"), &file).unwrap();
    if std::os::unix::fs::chown(&file, Some(12345), None).is_err() {
        return skip("a file cannot be given to another user: not run as root");
    }
    let run = build(&tree, "base");
    assert!(!root(&tree).exists());
    // The hint works where it is pasted.
    assert!(run.stderr.contains("belongs to the user 12345"), "{}", run.stderr);
    let hint = run.stderr.lines().find_map(|line| line.split_once("export RUSTOMIZE_SAFE_DIRECTORIES=")).unwrap().1;
    tree.variables.insert("RUSTOMIZE_SAFE_DIRECTORIES", hint.trim_matches('\'').to_owned());
    assert!(build(&tree, "base").ok().contains("v: app\n"));
    // In the directory that is built itself, the user has named the file.
    tree.variables.remove("RUSTOMIZE_SAFE_DIRECTORIES");
    tree.write("kustomization.yaml", "resources: [base]\n");
    build(&tree, ".").fails_with(&["belongs to the user 12345"]);
    fs::rename(tree.path().join("base/g.yaml"), tree.path().join("g.yaml")).unwrap();
    tree.write("kustomization.yaml", "generators: [g.yaml]\n");
    assert!(build(&tree, ".").ok().contains("v: app\n"));
}

/// Removes the plugin of a place.
type Empty<'e> = dyn Fn(&Tree) + 'e;

/// Each place has a plugin that prints the place's name; one place after the other is emptied.
#[test]
fn why_names_the_plugin_that_a_build_uses_and_the_places_that_it_shadows() {
    let mut tree = tree();
    let placed = script("1.0.0", "placed");
    tree.plugin("Made", &placed);
    tree.write("required", &script("1.0.0", "required"));
    crate::support::plugins::require(&tree, "{req: {source: h.io/acme/req, from: ./required}}");
    tree.run(&["plugin", "install"]).ok();
    tree.write(
        "../home/.config/rustomize/environments/default/modules/b/plugin/ex.io/v1/made/Made",
        &script("1.0.0", "bundle"),
    );
    install(&tree, "h.io/acme/app", &script("1.0.0", "installed")).ok();
    tree.write("../home/bin/rustomize-generator-made", &script("1.0.0", "path"));
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
    let why = |tree: &Tree| -> serde_json::Value {
        let text = tree.run(&["plugin", "why", "ex.io/v1/Made", "--as", "generator", "-o", "json"]).ok();
        serde_json::from_str(&text).unwrap()
    };
    let home = tree.home().join(".config");
    let empty: [(&str, Box<Empty<'_>>); 5] = [
        ("placed", Box::new(|_| fs::remove_dir_all(home.join("kustomize")).unwrap())),
        ("required", Box::new(|tree| fs::remove_file(tree.path().join("plugins.yaml")).unwrap())),
        ("bundle", Box::new(|_| fs::remove_dir_all(home.join("rustomize/environments")).unwrap())),
        ("installed", Box::new(|tree| fs::remove_dir_all(root(tree)).unwrap())),
        ("path", Box::new(|tree| fs::remove_dir_all(tree.home().join("bin")).unwrap())),
    ];
    for (i, (place, remove)) in empty.iter().enumerate() {
        let out = build(&tree, ".").ok();
        assert!(out.contains(&format!("v: {place}\n")), "{place}: {out}");
        let steps = why(&tree);
        let steps = steps.as_array().unwrap();
        let used: Vec<&str> =
            steps.iter().filter(|s| s["verdict"] == "used").map(|s| s["tier"].as_str().unwrap()).collect();
        assert_eq!(used, [*place], "{steps:#?}");
        let chosen = steps.iter().find(|step| step["verdict"] == "used").unwrap();
        assert_eq!(steps.last().unwrap()["what"], chosen["what"]);
        for (later, _) in &empty[i + 1..] {
            let of_later = |s: &&serde_json::Value| s["tier"] == *later;
            let verdicts: Vec<&str> = steps.iter().filter(of_later).map(|s| s["verdict"].as_str().unwrap()).collect();
            let is_shadowed = verdicts.iter().any(|verdict| verdict.starts_with("not used: an earlier place"));
            // Several installed plugins for one kind would be an error of their tier.
            assert!(is_shadowed || *later == "installed", "{place}, {later}: {verdicts:?}");
        }
        remove(&tree);
    }
    assert_eq!(why(&tree).as_array().unwrap().last().unwrap()["isUsed"], false);
    build(&tree, ".").fails_with(&["unable to find plugin root"]);
}

#[test]
fn why_reads_the_object_of_a_file() {
    let tree = tree();
    let app = script("1.0.0", "app").replace("\"name\": \"made\"", "\"name\": \"extra\"");
    install(&tree, "h.io/acme/app", &app).ok();
    let annotated =
        |annotation: &str| OBJECT.replace("  name: g", &format!("  name: g\n  annotations: {{{annotation}}}"));
    tree.write("object.yaml", &annotated("rustomize.dev/plugin: app-extra"));
    let said = tree.run(&["plugin", "why", "object.yaml"]).ok();
    assert!(said.contains("Installed, and not required") && said.contains("A build uses "), "{said}");
    tree.write("object.yaml", &annotated("rustomize.dev/plugin: app-none"));
    let said = tree.run(&["plugin", "why", "object.yaml"]).ok();
    assert!(said.contains("A build fails: no plugin is for ex.io/v1/Made"), "{said}");
    tree.write("object.yaml", &annotated("config.kubernetes.io/function: 'exec: {path: ./x}'"));
    let said = tree.run(&["plugin", "why", "object.yaml"]).ok();
    assert!(said.contains("A build runs the function that the object names"), "{said}");
    tree.run(&["plugin", "why", "Made"]).fails_with(&["write a kind as example.com/v1/Made"]);
}

#[test]
fn update_takes_the_newest_versions_that_are_allowed() {
    let tree = tree();
    let repository = tree.home().join("repository");
    let manifest = |version: &str| {
        let text = format!(
            "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: {version}\nruntime: bash\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n"
        );
        tree.write("../home/repository/plugin.yaml", &text);
        tree.write("../home/repository/main.sh", &script(version, version));
        if version == "1.0.0" {
            git(&repository, &["init", "-q", "-b", "main"]);
        }
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-qm", version]);
        git(&repository, &["tag", &format!("v{version}")]);
    };
    manifest("1.0.0");
    let from = format!("git::file://{}", repository.display());
    tree.run(&["plugin", "add", "h.io/acme/app", "--from", &from]).ok();
    manifest("1.1.0");
    manifest("2.0.0");
    assert!(build(&tree, ".").ok().contains("v: 1.0.0\n"), "the lock decides");
    let said = tree.run(&["plugin", "upgrade", "app"]).ok();
    assert_eq!(said, "h.io/acme/app v1.0.0 -> v1.1.0\n");
    assert!(build(&tree, ".").ok().contains("v: 1.1.0\n"));
    assert_eq!(tree.run(&["plugin", "update"]).ok(), "h.io/acme/app v1.1.0: the newest that is allowed\n");
    tree.run(&["plugin", "update", "none"]).fails_with(&["does not name a plugin 'none'", "it names app"]);
}
