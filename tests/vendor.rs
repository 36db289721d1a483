//! Remote parts that are kept and locked: `--offline`, `vendor`, `--locked` and `cache`, with real
//! repositories, servers on the loopback address, and a stand-in for helm.

use crate::artifacts::push;
use crate::support::servers::{Files, git_server, sha256};
use crate::support::{Run, Tree, git};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Pulls a chart that has the content of `$CHART`, and prints its values as a ConfigMap.
const HELM: &str = r##"#!/bin/bash
case $1 in
version) echo v3.14.1;;
pull) echo "$*" >> "$CALLS"; mkdir -p "$4/app/templates"; cp "$CHART" "$4/app/values.yaml"; echo x > "$4/app/templates/x";;
template)
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: chart}\ndata:\n  values: |\n'
  while [ $# -gt 0 ]; do [ "$1" = -f ] && sed 's/^/    /' "$2"; shift; done;;
esac
"##;

fn config_map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{v: '{value}'}}\n")
}

/// A tree with one remote part of each kind: a repository whose base names a file and a chart, and
/// an artifact.
struct Remotes {
    tree: Tree,
    files: Files,
    server: String,
    repository: String,
}

impl Remotes {
    fn new() -> Remotes {
        let mut tree = Tree::new("");
        let files = Files::default();
        let server = files.serve();
        files.put("/file.yaml", config_map("file", "1"));
        push(
            &files,
            "a/b",
            "v1",
            &[("kustomization.yaml", "resources: [x.yaml]\n"), ("x.yaml", &config_map("art", "1"))],
        );
        tree.write("repo/base/kustomization.yaml", &format!(
            "resources: [../shared, 'http://{server}/file.yaml']\nhelmCharts: [{{name: app, repo: 'https://charts.example.com', version: 1.2.3, releaseName: r}}]\n"
        ));
        tree.write("repo/shared/kustomization.yaml", "resources: [s.yaml]\n");
        tree.write("repo/shared/s.yaml", &config_map("shared", "1"));
        let repo = tree.path().join("repo");
        git(&repo, &["init", "-q", "-b", "main"]);
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "-qm", "one"]);
        git(&repo, &["tag", "v1"]);
        let repository = format!("file://{}", repo.display());
        tree.write("app/kustomization.yaml", &format!("resources: [../layer, 'oci://{server}/a/b:v1']\n"));
        tree.write("layer/kustomization.yaml", &format!("resources: ['{repository}//base?ref=v1']\n"));
        tree.write("../home/helm", HELM);
        tree.write("../home/chart", "c: 1\n");
        for (name, file) in [("CALLS", "calls"), ("CHART", "chart")] {
            tree.variables.insert(name, tree.home().join(file).display().to_string());
        }
        Remotes { tree, files, server, repository }
    }

    fn run(&self, verb: &str, args: &[&str]) -> Run {
        let helm = self.tree.home().join("helm").display().to_string();
        let run = self.tree.run(&[&[verb, "--enable-helm", "--helm-command", &helm, "app"], args].concat());
        self.tree.assert_nothing_left();
        run
    }

    /// Takes everything away that is not on this machine.
    fn cut_off(&self) {
        let paths = ["/file.yaml".to_owned(), "/v2/a/b/manifests/v1".to_owned()];
        paths.iter().for_each(|path| self.files.put(path, "gone"));
        fs::rename(self.tree.path().join("repo"), self.tree.path().join("gone")).unwrap();
        fs::remove_file(self.tree.home().join("chart")).unwrap();
    }

    fn forget_cache(&self) {
        fs::remove_dir_all(self.tree.home().join(".cache")).unwrap();
    }

    fn lock(&self) -> String {
        fs::read_to_string(self.tree.path().join("app/kustomization.lock")).unwrap()
    }
}

#[test]
fn offline_names_all_that_is_missing_and_the_command_that_fetches_it() {
    let remotes = Remotes::new();
    let said = remotes.run("build", &["--offline"]).fails_with(&[
        "2 remote parts are missing",
        &format!("the repository '{}?ref=v1'", remotes.repository),
        "layer/kustomization.yaml:1:13",
        &format!("the artifact 'oci://{}/a/b:v1'", remotes.server),
        "app/kustomization.yaml:1:23",
        "rustomize build --enable-helm app > /dev/null",
    ]);
    assert!(!said.contains("file.yaml'"), "the file is named in a repository that is missing: {said}");
    // A repository in the cache names its own remote parts.
    remotes.tree.write("app/kustomization.yaml", "resources: [../repo/base]\n");
    remotes.run("build", &["--offline"]).fails_with(&[
        "2 remote parts are missing",
        &format!("the file 'http://{}/file.yaml'", remotes.server),
        "the chart 'https://charts.example.com app 1.2.3'",
    ]);
}

#[test]
fn what_a_build_has_fetched_serves_offline_builds() {
    let remotes = Remotes::new();
    let built = remotes.run("build", &[]).ok();
    for name in ["name: shared", "name: file", "name: art", "c: 1"] {
        assert!(built.contains(name), "{name}: {built}");
    }
    remotes.cut_off();
    assert_eq!(remotes.run("build", &["--offline"]).ok(), built);
    assert!(remotes.run("build", &["--offline", "--remote-cache", "nowhere"]).status == Some(1));
    // Without --offline each server is asked: nothing old is used.
    remotes.run("build", &[]).fails_with(&["git ls-remote"]);
}

#[test]
fn a_chart_comes_out_of_the_cache_without_a_pull_and_without_a_change_of_the_tree() {
    let remotes = Remotes::new();
    remotes.tree.write(
        "app/kustomization.yaml",
        "helmCharts: [{name: app, repo: 'https://h.io', version: '1', releaseName: r}]\n",
    );
    let built = remotes.run("build", &[]).ok();
    fs::remove_dir_all(remotes.tree.path().join("app/charts")).unwrap();
    assert_eq!(remotes.run("build", &["--offline"]).ok(), built);
    assert!(!remotes.tree.path().join("app/charts").exists());
    let calls = fs::read_to_string(remotes.tree.home().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "{calls}");
    // An inline value meets the values of a chart that is not in the tree.
    let inline =
        "helmCharts: [{name: app, repo: 'https://h.io', version: '1', releaseName: r, valuesInline: {d: 2}}]\n";
    remotes.tree.write("app/kustomization.yaml", inline);
    assert!(remotes.run("build", &["--offline"]).ok().contains("c: 1\n    d: 2"));
}

#[test]
fn a_vendored_tree_builds_without_network_and_cache() {
    let remotes = Remotes::new();
    let built = remotes.run("build", &[]).ok();
    remotes.forget_cache();
    assert_eq!(remotes.run("vendor", &[]).ok(), "");
    let lock = remotes.lock();
    for part in ["\"git\"", "\"files\"", "\"charts\"", "\"artifacts\"", "https://charts.example.com app 1.2.3"] {
        assert!(lock.contains(part), "{part}: {lock}");
    }
    remotes.run("vendor", &[]).ok();
    assert_eq!(remotes.lock(), lock, "the same parts give the same bytes");
    remotes.forget_cache();
    remotes.cut_off();
    assert_eq!(remotes.run("build", &["--locked", "--offline"]).ok(), built);
    assert_eq!(remotes.run("build", &["--locked", "--offline"]).ok(), built, "a build changes no copy");
    assert_eq!(remotes.run("build", &["--locked"]).ok(), built, "nor does it need the network");
}

#[test]
fn a_lock_without_copies_is_held_to_what_servers_have() {
    let remotes = Remotes::new();
    let built = remotes.run("build", &[]).ok();
    remotes.run("vendor", &["--lock-only"]).ok();
    assert!(!remotes.tree.path().join("app/.kustomization.vendor").exists());
    assert_eq!(remotes.run("build", &["--locked", "--offline"]).ok(), built, "the cache has what is locked");
    remotes.forget_cache();
    remotes
        .run("build", &["--locked", "--offline"])
        .fails_with(&["remote parts are missing", "build --enable-helm --locked app"]);
    assert_eq!(remotes.run("build", &["--locked"]).ok(), built);
}

#[test]
fn a_tag_that_moved_is_an_error_that_shows_both_commits() {
    let remotes = Remotes::new();
    let repo = remotes.tree.path().join("repo");
    let first = git(&repo, &["rev-parse", "HEAD"]);
    remotes.run("vendor", &["--lock-only"]).ok();
    git(&repo, &["commit", "-qm", "two", "--allow-empty"]);
    git(&repo, &["tag", "-f", "v1"]);
    let second = git(&repo, &["rev-parse", "HEAD"]);
    let before = remotes.run("build", &["--locked"]).ok();
    assert!(before.contains("name: shared"), "the cache has the commit: nobody has to look");
    remotes.forget_cache();
    let words = [first.as_str(), &second, "'v1' of", "layer/kustomization.yaml", "rustomize vendor app"];
    remotes.run("build", &["--locked"]).fails_with(&words);
    remotes.run("vendor", &["--lock-only"]).ok();
    assert!(remotes.lock().contains(&second) && !remotes.lock().contains(&first));
}

#[test]
fn a_file_a_chart_or_an_artifact_that_changed_is_an_error_that_shows_both_sums() {
    let remotes = Remotes::new();
    let direct = |entry: &str| remotes.tree.write("app/kustomization.yaml", entry);
    let file = format!("resources: ['http://{}/file.yaml']\n", remotes.server);
    direct(&file);
    remotes.run("vendor", &["--lock-only"]).ok();
    remotes.files.put("/file.yaml", config_map("file", "2"));
    remotes.forget_cache();
    let sums = [sha256(config_map("file", "1").as_bytes()), sha256(config_map("file", "2").as_bytes())];
    remotes.run("build", &["--locked"]).fails_with(&[&sums[0], &sums[1], "has changed", "rustomize vendor app"]);
    assert!(remotes.run("build", &[]).ok().contains("'2'") || remotes.run("build", &[]).ok().contains("\"2\""));

    direct("helmCharts: [{name: app, repo: 'https://h.io', version: '1', releaseName: r}]\n");
    remotes.run("vendor", &["--lock-only"]).ok();
    let home = remotes.tree.path().join("app/charts/app-1");
    remotes.tree.write("../home/chart", "c: 2\n");
    fs::write(home.join("app/values.yaml"), "edited: true\n").unwrap();
    remotes.run("build", &["--locked"]).fails_with(&["app/charts/app-1/app' differs from the lock for the chart"]);
    fs::remove_dir_all(&home).unwrap();
    assert!(remotes.run("build", &["--locked"]).ok().contains("c: 1"), "the cache has what is locked");
    remotes.forget_cache();
    remotes.run("build", &["--locked"]).fails_with(&["the chart 'https://h.io app 1' has changed"]);
    assert!(!home.join("app").exists(), "a chart that is not the locked one does not stay");

    direct(&format!("resources: ['oci://{}/a/b:v1']\n", remotes.server));
    remotes.run("vendor", &["--lock-only"]).ok();
    let old = remotes.lock();
    let old = old.split('"').find(|text| text.starts_with("sha256:")).unwrap().to_owned();
    let new = push(&remotes.files, "a/b", "v1", &[("kustomization.yaml", "resources: []\nnamePrefix: x-\n")]);
    remotes.forget_cache();
    remotes.run("build", &["--locked"]).fails_with(&[&old, &new, "is now"]);
}

#[test]
fn a_lock_that_disagrees_with_the_tree_is_an_error_that_names_both() {
    let remotes = Remotes::new();
    remotes.run("build", &["--locked"]).fails_with(&["there is no 'app/kustomization.lock'", "rustomize vendor app"]);
    remotes.run("vendor", &[]).ok();
    git(&remotes.tree.path().join("repo"), &["tag", "v2"]);
    let repository = &remotes.repository;
    remotes.tree.write("layer/kustomization.yaml", &format!("resources: ['{repository}//base?ref=v2']\n"));
    let both = [format!("'{repository}?ref=v2' is not in the lock"), format!("which has '{repository}?ref=v1'")];
    remotes.run("build", &["--locked"]).fails_with(&[&both[0], &both[1], "layer/kustomization.yaml:1:13"]);
    // A copy that somebody has edited.
    remotes.tree.write("layer/kustomization.yaml", &format!("resources: ['{repository}//base?ref=v1']\n"));
    let copies = remotes.tree.path().join("app/.kustomization.vendor");
    let copy = fs::read_dir(copies.join("git")).unwrap().next().unwrap().unwrap().path();
    fs::write(copy.join("shared/s.yaml"), config_map("shared", "evil")).unwrap();
    remotes
        .run("build", &["--locked"])
        .fails_with(&["differs from the lock for the repository", "rustomize vendor app"]);
    // Making the lock again makes the copy again.
    remotes.run("vendor", &[]).ok();
    assert!(!remotes.run("build", &["--locked"]).ok().contains("evil"));
}

#[test]
fn each_kind_of_copy_is_held_to_its_sum() {
    let remotes = Remotes::new();
    remotes.run("vendor", &[]).ok();
    let copies = remotes.tree.path().join("app/.kustomization.vendor");
    let built = remotes.run("build", &["--locked", "--offline"]).ok();
    for (kind, file, part) in [
        ("git", "shared/s.yaml", "the repository"),
        ("files", "", "the file"),
        ("charts", "values.yaml", "the chart"),
        ("artifacts", "x.yaml", "the artifact"),
    ] {
        let copy = fs::read_dir(copies.join(kind)).unwrap().next().unwrap().unwrap().path();
        let damaged = if file.is_empty() { copy } else { copy.join(file) };
        let before = fs::read(&damaged).unwrap();
        fs::write(&damaged, [&before[..], b"# more\n"].concat()).unwrap();
        remotes
            .run("build", &["--locked", "--offline"])
            .fails_with(&[&format!("differs from the lock for {part}"), "rustomize vendor app"]);
        fs::write(&damaged, before).unwrap();
        assert_eq!(remotes.run("build", &["--locked", "--offline"]).ok(), built, "{kind}");
    }
}

#[test]
fn a_lock_of_another_form_and_links_among_the_copies_are_refused() {
    let remotes = Remotes::new();
    remotes.run("vendor", &[]).ok();
    let lock = remotes.lock();
    let refused = |from: &str, to: &str, words: &[&str]| {
        remotes.tree.write("app/kustomization.lock", &lock.replacen(from, to, 1));
        remotes.run("build", &["--locked"]).fails_with(&[words, &["app/kustomization.lock"]].concat());
    };
    refused("\"lockVersion\": 1", "\"lockVersion\": 2, \"new\": []", &["its format is 2", "newer rustomize"]);
    refused("\"git\"", "\"hg\"", &["unknown field `hg`"]);
    refused("\"content\": \"", "\"content\": \"../../../", &["is not valid"]);
    refused("{", "", &["line 2"]);
    refused(&lock, "", &["EOF"]);
    remotes.tree.write("app/kustomization.lock", &lock);
    let copies = remotes.tree.path().join("app/.kustomization.vendor");
    fs::rename(&copies, remotes.tree.path().join("elsewhere")).unwrap();
    symlink(remotes.tree.path().join("elsewhere"), &copies).unwrap();
    remotes.run("build", &["--locked"]).fails_with(&["security", ".kustomization.vendor' is a link"]);
    remotes.run("vendor", &[]).fails_with(&[".kustomization.vendor' is a link"]);
    assert_eq!(remotes.lock(), lock);
    // The directory of a kind, and a copy.
    fs::remove_file(&copies).unwrap();
    fs::rename(remotes.tree.path().join("elsewhere"), &copies).unwrap();
    let copy = fs::read_dir(copies.join("git")).unwrap().next().unwrap().unwrap().path();
    for place in [copies.join("git"), copy] {
        let elsewhere = remotes.tree.path().join("elsewhere");
        fs::rename(&place, &elsewhere).unwrap();
        symlink(&elsewhere, &place).unwrap();
        let name = place.file_name().unwrap().to_str().unwrap();
        remotes.run("build", &["--locked"]).fails_with(&["security", &format!("{name}' is a link")]);
        fs::remove_file(&place).unwrap();
        fs::rename(&elsewhere, &place).unwrap();
    }
    remotes.run("build", &["--locked"]).ok();
}

#[test]
fn a_vendor_that_fails_leaves_the_lock_and_one_that_succeeds_removes_old_copies() {
    let remotes = Remotes::new();
    remotes.run("vendor", &[]).ok();
    let lock = remotes.lock();
    let first = remotes.tree.path().join("app/kustomization.yaml");
    let text = fs::read_to_string(&first).unwrap();
    fs::write(&first, format!("{text}patches: [{{path: missing.yaml}}]\n")).unwrap();
    remotes.run("vendor", &[]).fails_with(&["missing.yaml"]);
    assert_eq!(remotes.lock(), lock);
    fs::write(&first, format!("resources: ['http://{}/file.yaml']\n", remotes.server)).unwrap();
    let copies = remotes.tree.path().join("app/.kustomization.vendor");
    fs::write(copies.join("README"), "of the user").unwrap();
    remotes.run("vendor", &[]).ok();
    let names = |folder: &str| fs::read_dir(copies.join(folder)).map(|all| all.count()).unwrap_or(0);
    assert_eq!((names(""), names("files"), names("git")), (2, 1, 0));
    // A tree without remote parts has an empty lock, which is held to.
    fs::write(&first, "namePrefix: x-\nresources: [a.yaml]\n").unwrap();
    remotes.tree.write("app/a.yaml", &config_map("a", "1"));
    remotes.run("vendor", &[]).ok();
    assert_eq!(remotes.lock(), "{\n  \"lockVersion\": 1\n}\n");
    assert!(remotes.run("build", &["--locked"]).ok().contains("x-a"));
}

#[test]
fn only_what_git_has_is_copied_and_links_stay_inside() {
    let remotes = Remotes::new();
    let repo = remotes.tree.path().join("repo");
    symlink("../shared/s.yaml", repo.join("base/inside.yaml")).unwrap();
    symlink("/etc/passwd", repo.join("base/outside")).unwrap();
    remotes.tree.write("repo/base/.hidden", "x");
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "links"]);
    git(&repo, &["tag", "-f", "v1"]);
    remotes.run("vendor", &[]).ok();
    let copies = remotes.tree.path().join("app/.kustomization.vendor/git");
    let copy = fs::read_dir(copies).unwrap().next().unwrap().unwrap().path();
    assert!(copy.join("base/inside.yaml").symlink_metadata().unwrap().is_symlink());
    assert!(copy.join("base/outside").symlink_metadata().is_err(), "a build would refuse it");
    assert!(copy.join("base/.hidden").is_file() && !copy.join(".git").exists());
    assert!(!copy.join("base/charts").exists(), "a pulled chart is not a file of the commit");
}

#[test]
fn the_lock_of_a_remote_root_is_not_used() {
    let remotes = Remotes::new();
    let entry = format!("{}//shared?ref=v1", remotes.repository);
    for verb in ["build", "vendor"] {
        let args: &[&str] = if verb == "build" { &[verb, "--locked", &entry] } else { &[verb, &entry] };
        assert_eq!(remotes.tree.run(args).status, Some(1));
    }
    remotes.tree.run(&["vendor", "--locked", "app"]).fails_with(&["leave --locked out"]);
}

#[test]
fn the_cache_is_listed_and_emptied() {
    let mut remotes = Remotes::new();
    assert_eq!(remotes.tree.run(&["cache", "list"]).ok(), "");
    remotes.run("build", &[]).ok();
    let directory = remotes.tree.home().join(".cache/rustomize");
    assert_eq!(remotes.tree.run(&["cache", "dir"]).ok(), format!("{}\n", directory.display()));
    let listed = remotes.tree.run(&["cache", "list"]).ok();
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').take(3).collect()).collect();
    let (file, artifact) = (format!("http://{}/file.yaml", remotes.server), format!("{}/a/b", remotes.server));
    let want = [
        ["git", &remotes.repository, "1"],
        ["files", &file, "1"],
        ["charts", "https://charts.example.com app 1.2.3", "1"],
        ["artifacts", &artifact, "1"],
    ];
    assert_eq!(rows, want);
    let json: serde_json::Value =
        serde_json::from_str(&remotes.tree.run(&["cache", "list", "-o", "json"]).ok()).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 4);
    // Files for plugins are in the same directory, and stay.
    fs::create_dir(directory.join("go-hosts")).unwrap();
    assert_eq!(remotes.tree.run(&["cache", "clean"]).ok(), "");
    let left: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["go-hosts"]);
    remotes.tree.variables.insert("RUSTOMIZE_CACHE_DIR", remotes.tree.path().join("named").display().to_string());
    assert!(remotes.tree.run(&["cache", "dir"]).ok().ends_with("/tree/named\n"));
    // A link is not followed.
    fs::create_dir_all(remotes.tree.path().join("named")).unwrap();
    symlink(remotes.tree.path().join("repo"), remotes.tree.path().join("named/git")).unwrap();
    remotes.tree.run(&["cache", "clean"]).fails_with(&["is a link"]);
    assert!(remotes.tree.path().join("repo/base").is_dir());
}

#[test]
fn a_password_of_a_url_is_in_no_lock_and_no_list() {
    let tree = Tree::new("");
    let files = Files::default();
    files.put("/file.yaml", config_map("file", "1"));
    tree.write("served/work/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("served/work/a.yaml", &config_map("a", "1"));
    let served = tree.path().join("served");
    git(&served.join("work"), &["init", "-q", "-b", "main"]);
    git(&served.join("work"), &["add", "."]);
    git(&served.join("work"), &["commit", "-qm", "one"]);
    git(&served, &["clone", "-q", "--bare", "work", "r.git"]);
    let server = format!("http://u:hunter2@{}", git_server(served, files));
    tree.write("app/kustomization.yaml", &format!("resources: ['{server}/r.git?ref=main', '{server}/file.yaml']\n"));
    let built = tree.run(&["vendor", "app"]).ok() + &tree.run(&["build", "app", "--locked"]).ok();
    assert!(built.contains("name: a\n") && built.contains("name: file\n"), "{built}");
    let lock = fs::read_to_string(tree.path().join("app/kustomization.lock")).unwrap();
    for list in [lock, tree.run(&["cache", "list"]).ok(), tree.run(&["cache", "list", "-o", "json"]).ok()] {
        assert!(list.contains("/r.git") && list.contains("/file.yaml"), "{list}");
        assert!(!list.contains("hunter2"), "{list}");
    }
    for copy in crate::support::files(&tree.path().join("app/.kustomization.vendor"), "") {
        assert!(!String::from_utf8_lossy(&fs::read(&copy).unwrap()).contains("hunter2"), "{}", copy.display());
    }
}

#[test]
fn a_file_in_the_cache_that_somebody_has_damaged_is_not_used() {
    let remotes = Remotes::new();
    remotes.tree.write("app/kustomization.yaml", &format!("resources: ['http://{}/file.yaml']\n", remotes.server));
    remotes.run("build", &[]).ok();
    let folder =
        fs::read_dir(remotes.tree.home().join(".cache/rustomize/files")).unwrap().next().unwrap().unwrap().path();
    let kept = folder.join(sha256(config_map("file", "1").as_bytes()));
    fs::write(kept, config_map("file", "evil")).unwrap();
    remotes.run("build", &["--offline"]).fails_with(&["is not in the cache"]);
}

#[test]
fn a_cache_that_cannot_be_written_to_keeps_nothing_and_fails_no_build() {
    let remotes = Remotes::new();
    let charts = "helmCharts: [{name: app, repo: 'https://h.io', version: '1', releaseName: r}]\n";
    let file = format!("resources: ['http://{}/file.yaml']\n", remotes.server);
    remotes.tree.write("app/kustomization.yaml", &format!("{file}{charts}"));
    remotes.tree.write("file", "");
    let built = remotes.run("build", &["--remote-cache", "file/cache"]).ok();
    assert!(built.contains("name: file") && built.contains("c: 1"));
    remotes.run("build", &["--remote-cache", "file/cache", "--offline"]).fails_with(&["is not in the cache"]);
    remotes.run("vendor", &["--remote-cache", "file/cache"]).ok();
    assert_eq!(remotes.run("build", &["--remote-cache", "file/cache", "--offline", "--locked"]).ok(), built);
}

#[test]
fn several_roots_have_a_lock_each() {
    let remotes = Remotes::new();
    remotes.tree.write("apps/one/kustomization.yaml", &format!("resources: ['http://{}/file.yaml']\n", remotes.server));
    remotes.tree.write("apps/two/kustomization.yaml", &format!("resources: ['oci://{}/a/b:v1']\n", remotes.server));
    remotes.tree.run(&["build", "--locked", "apps/one", "apps/two"]).fails_with(&["in apps/one", "there is no"]);
    remotes.tree.run(&["vendor", "--all", "apps"]).ok();
    // The copies have kustomizations, too, but are not roots.
    let built = remotes.tree.run(&["build", "--locked", "--offline", "--all", "apps", "--remote-cache", "none"]).ok();
    assert_eq!(built.matches("# Root: ").count(), 2, "{built}");
    assert!(built.contains("name: file") && built.contains("name: art"));
}

/// The only entry of a directory that is a directory.
fn only_directory(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut directories: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    assert_eq!(directories.len(), 1, "{directories:?}");
    directories.remove(0)
}

#[test]
fn a_directory_of_the_cache_that_was_changed_is_named_with_the_command_that_mends_it() {
    let remotes = Remotes::new();
    let repo = remotes.tree.path().join("repo");
    symlink("/etc/passwd", repo.join("outside")).unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "a link that a copy does not have"]);
    git(&repo, &["tag", "-f", "v1"]);
    let built = remotes.run("build", &[]).ok();
    remotes.run("vendor", &["--lock-only"]).ok();
    let cache = remotes.tree.home().join(".cache/rustomize");
    for (kind, changed, part) in [
        ("git", "shared/s.yaml", "the repository"),
        ("git", "shared/added.yaml", "the repository"),
        ("charts", "values.yaml", "the chart"),
        ("charts", "templates/added.yaml", "the chart"),
        ("artifacts", "x.yaml", "the artifact"),
        ("artifacts", "added.yaml", "the artifact"),
    ] {
        assert_eq!(remotes.run("build", &["--locked", "--offline"]).ok(), built, "{kind}");
        let place = only_directory(&only_directory(&cache.join(kind)));
        let before = fs::read(place.join(changed)).unwrap_or_default();
        fs::write(place.join(changed), [&before[..], b"# more\n"].concat()).unwrap();
        let mended = format!("rm -r {}", place.display());
        for args in [&["--locked"][..], &["--locked", "--offline"]] {
            let said = remotes
                .run("build", args)
                .fails_with(&[&format!("'{}' differs from the lock for {part}", place.display()), &mended]);
            assert!(!said.contains("rustomize vendor"), "the changed content would be locked: {said}");
        }
        #[expect(clippy::disallowed_methods, reason = "a hint is pasted into a shell")]
        let mut pasted = std::process::Command::new("sh");
        assert_eq!(crate::support::run(pasted.args(["-c", &mended])).status, Some(0));
        assert_eq!(remotes.run("build", &["--locked"]).ok(), built, "{kind}");
    }
}

#[test]
fn charts_of_a_remote_base_are_not_pulled_into_its_clone() {
    let remotes = Remotes::new();
    let base = "helmCharts: [{name: app, repo: 'https://h.io', version: '1', releaseName: r, valuesFile: charts/app-1/app/values.yaml}]\n";
    remotes.tree.write("repo/base/kustomization.yaml", base);
    remotes.tree.write("repo/other/kustomization.yaml", &format!("namePrefix: x-\n{base}"));
    let repo = remotes.tree.path().join("repo");
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "two"]);
    let repository = &remotes.repository;
    remotes.tree.write(
        "app/kustomization.yaml",
        &format!("resources: ['{repository}//base?ref=main', '{repository}//other?ref=main']\n"),
    );
    let open = remotes.tree.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let without_cache = remotes.run("build", &["--remote-cache", "open"]).ok();
    let calls = || fs::read_to_string(remotes.tree.home().join("calls")).unwrap().lines().count();
    assert_eq!(calls(), 1, "a build pulls a chart once");
    let built = remotes.run("build", &[]).ok();
    assert!(built == without_cache && built.matches("c: 1").count() == 2, "{built}");
    let clone = only_directory(&only_directory(&remotes.tree.home().join(".cache/rustomize/git")));
    let left = git(&clone, &["status", "--porcelain", "--ignored"]);
    assert_eq!(left, "", "the clone in the cache has changed");
    remotes.run("vendor", &["--lock-only"]).ok();
    assert_eq!(calls(), 3);
    assert_eq!(remotes.run("build", &["--locked", "--offline"]).ok(), built);
    assert_eq!(calls(), 3, "a locked build takes the chart of the cache");
}

#[test]
fn a_password_of_a_url_is_in_no_file_of_the_cache() {
    let tree = Tree::new("");
    for name in ["inner", "outer"] {
        tree.write(&format!("served/{name}/kustomization.yaml"), "resources: [a.yaml]\n");
        tree.write(&format!("served/{name}/a.yaml"), &config_map(name, "1"));
        git(&tree.path().join("served").join(name), &["init", "-q", "-b", "main"]);
    }
    let served = tree.path().join("served");
    let commit = |name: &str| {
        git(&served.join(name), &["add", "."]);
        git(&served.join(name), &["commit", "-qm", "one"]);
        git(&served, &["clone", "-q", "--bare", name, &format!("{name}.git")]);
    };
    commit("inner");
    // A relative address is that of the outer repository, with its user.
    git(&served.join("outer"), &["submodule", "--quiet", "add", "../inner", "in"]);
    tree.write("served/outer/.gitmodules", "[submodule \"in\"]\n\tpath = in\n\turl = ../inner.git\n");
    tree.write("served/outer/kustomization.yaml", "resources: [a.yaml, in]\n");
    commit("outer");
    let server = format!("http://u:hunter2@{}", git_server(served, Files::default()));
    tree.write("app/kustomization.yaml", &format!("resources: ['{server}/outer.git?ref=main']\n"));
    let built = tree.run(&["build", "app"]).ok();
    assert!(built.contains("name: inner\n") && built.contains("name: outer\n"), "{built}");
    let cache = tree.home().join(".cache/rustomize");
    let files = crate::support::files(&cache, "");
    assert!(files.iter().any(|file| file.ends_with(".git/modules/in/config")), "{files:?}");
    for file in files {
        let content = fs::read(&file).unwrap();
        assert!(!content.windows(7).any(|text| text == b"hunter2"), "{}", file.display());
    }
    // git still works in the clone.
    tree.run(&["vendor", "app"]).ok();
    assert_eq!(tree.run(&["build", "app", "--locked", "--offline"]).ok(), built);
}

#[test]
fn what_a_killed_fetch_left_in_the_cache_is_removed_by_the_next_one() {
    let mut remotes = Remotes::new();
    let git = crate::support::in_path("git").unwrap();
    // The build is killed, and the warden that would remove what it leaves.
    let kill = "build=$(cut -d' ' -f4 /proc/$PPID/stat)\nkill -9 $(pgrep -P $build -f __warden) $build";
    let script = format!("#!/bin/sh\n[ $1 != fetch ] || {{\n{kill}\n}}\nexec {} \"$@\"\n", git.display());
    remotes.tree.write("bin/git", &script);
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    remotes.tree.variables.insert("PATH", format!("{}:{path}", remotes.tree.path().join("bin").display()));
    assert_eq!(remotes.tree.run(&["build", "layer"]).status, None, "it is killed");
    let cache = remotes.tree.home().join(".cache/rustomize/git");
    assert!(only_directory(&cache).join(".git/config").is_file());
    remotes.tree.variables.remove("PATH");
    remotes.run("build", &[]).ok();
    assert!(only_directory(&cache).join("name").is_file(), "the repository alone");
}
