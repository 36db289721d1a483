//! Commands over many directories, on the fleet of testdata/fleet.

use crate::support::fleet::{fleet, fleet_in_git};
use crate::support::{Tree, git};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::BufRead;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The texts of all plain files of a tree.
fn texts(tree: &Tree) -> BTreeMap<PathBuf, String> {
    let files = crate::support::files(&tree.path(), "").into_iter().filter(|file| file.is_file());
    files.map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect()
}

#[test]
fn the_fleet_builds_without_a_finding() {
    let tree = fleet();
    let built = tree.run(&["build", "--all"]).ok();
    assert_eq!(built.lines().filter(|line| line.starts_with("# Root: ")).count(), 160);
    let lint = tree.run(&["lint", "--all"]);
    assert_eq!((lint.status, lint.stderr.as_str()), (Some(0), ""));
}

#[test]
fn an_edit_of_all_changes_each_kustomization_and_says_which() {
    let tree = fleet();
    let before = texts(&tree);
    let edit = ["edit", "set", "annotation", "owner:shop", "--all", "services", "--leaves"];
    let dry = tree.run(&[&edit[..], &["--dry-run"]].concat());
    assert!(dry.stderr.contains("kustomizations: 120\n") && dry.stderr.ends_with("would change: 120 of 120\n"));
    assert_eq!(dry.stdout.matches("+commonAnnotations:\n+  owner: shop\n").count(), 120, "{}", dry.stdout);
    assert_eq!(texts(&tree), before, "--dry-run has written");
    let done = tree.run(&edit);
    assert!(done.stderr.ends_with("changed: 120 of 120\n"), "{}", done.stderr);
    let changed: Vec<&str> = done.stdout.lines().collect();
    assert_eq!((changed.len(), changed[0]), (120, "changed services/accounts/dev/kustomization.yaml"));
    let after = texts(&tree);
    let differ = after.iter().filter(|(file, text)| before[*file] != **text);
    assert!(differ.clone().all(|(_, text)| text.ends_with("commonAnnotations:\n  owner: shop\n")));
    assert_eq!(differ.count(), 120);
    // Once all have it, nothing changes.
    let again = tree.run(&edit);
    assert!(again.stdout.is_empty() && again.stderr.ends_with("changed: 0 of 120\n"), "{}", again.stderr);
    // For programs.
    let edit = ["edit", "set", "namespace", "x", "--all", "services/accounts", "--all=services/orders", "-o", "json"];
    let value = json(&tree.run(&edit).ok());
    assert_eq!(value["roots"].as_array().unwrap().len(), 8);
    assert_eq!(value["written"], true);
    assert_eq!(value["changes"][0]["file"], "services/accounts/base/kustomization.yaml");
    assert!(value["changes"][0]["diff"].as_str().unwrap().ends_with("+namespace: x\n"));
}

const FEW: &str = "\
-- a/kustomization.yaml --
# first
resources: [m.yaml]
-- a/m.yaml --
kind: A
-- b/kustomization.yaml --
resources: [m.yaml] # second
namePrefix: red
-- b/m.yaml --
kind: A
-- part/kustomization.yaml --
kind: Component
-- other/text --
x
";

#[test]
fn an_edit_in_another_directory_is_as_if_it_ran_there() {
    let tree = Tree::new(FEW);
    let read = |file: &str| fs::read_to_string(tree.path().join(file)).unwrap();
    let done = tree.run(&["edit", "-C", "a", "set", "namespace", "blue"]);
    assert_eq!((done.status, done.stdout.as_str(), done.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(read("a/kustomization.yaml"), "# first\nresources: [m.yaml]\nnamespace: blue\n");
    // Names are those of the directory.
    tree.run(&["edit", "add", "resource", "../b", "-C", "a"]).ok();
    assert_eq!(read("a/kustomization.yaml"), "# first\nresources: [m.yaml, ../b]\nnamespace: blue\n");
    let dry = tree.run(&["edit", "set", "nameprefix", "blue", "-C", "b", "--dry-run"]).ok();
    let want = "--- kustomization.yaml\n+++ kustomization.yaml\n@@ -1,2 +1,2 @@\n resources: [m.yaml] # second\n-namePrefix: red\n+namePrefix: blue\n";
    assert_eq!(dry, want);
    assert!(read("b/kustomization.yaml").ends_with("namePrefix: red\n"));
    tree.run(&["edit", "-C", "none", "set", "namespace", "blue"])
        .fails_with(&["cannot change to the directory 'none'"]);
    tree.run(&["edit", "-C", "other", "set", "namespace", "blue"]).fails_with(&["Missing kustomization file"]);
    tree.run(&["edit", "set", "namespace", "n", "--leaves"]).fails_with(&["--leaves is for --all"]);
}

#[test]
fn an_edit_of_all_that_fails_in_one_place_changes_none() {
    let check = |spoil: &dyn Fn(&Tree), edit: &[&str], words: &[&str]| {
        let tree = Tree::new(FEW);
        spoil(&tree);
        let before = texts(&tree);
        let failed = tree.run(&[&["edit"], edit].concat());
        let said = failed.fails_with(words);
        assert!(said.contains("no file has changed") || words[0].ends_with("no such file or directory"), "{said}");
        assert_eq!(texts(&tree), before, "{words:?}");
    };
    let set = ["set", "namespace", "n", "--all"];
    let link = |from: &str, to: PathBuf| symlink(to, from).unwrap();
    check(
        &|tree| tree.write("b/kustomization.yaml", "resources: [\n"),
        &set,
        &["Error: invalid Kustomization", " --> b/kustomization.yaml:2:1", "in b\n", "1 of 2 roots failed"],
    );
    let add = ["add", "resource", "n.yaml", "--all"];
    check(&|tree| tree.write("a/n.yaml", "kind: A\n"), &add, &["n.yaml", "in b\n", "1 of 2 roots failed"]);
    let lock = |tree: &Tree| {
        let place = tree.path().join("b/kustomization.yaml");
        fs::set_permissions(place, fs::Permissions::from_mode(0o444)).unwrap();
    };
    check(&lock, &set, &["'b/kustomization.yaml' is read-only", "chmod u+w b/kustomization.yaml"]);
    let outside = |tree: &Tree| {
        tree.write("../home/k.yaml", "resources: []\n");
        fs::create_dir(tree.path().join("c")).unwrap();
        let name = tree.path().join("c/kustomization.yaml");
        link(name.to_str().unwrap(), tree.home().join("k.yaml"));
    };
    check(&outside, &set, &["'c/kustomization.yaml' leads to '", "outside of the directory that is changed"]);
    let two = |tree: &Tree| tree.write("b/Kustomization", "resources: []\n");
    check(&two, &set, &["Found multiple kustomization file", "in b\n"]);
    let pipe = |tree: &Tree| {
        fs::create_dir(tree.path().join("c")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            tree.path().join("c/kustomization.yaml"),
            rustix::fs::FileType::Fifo,
            0o644.into(),
            0,
        )
        .unwrap();
    };
    check(&pipe, &set, &["kustomization.yaml", "in c\n"]);
    check(&|_| {}, &["set", "namespace", "n", "--all", "none"], &["'none': no such file or directory"]);
    let tree = Tree::new(FEW);
    tree.run(&["edit", "set", "namespace", "n", "--all", "other"]).fails_with(&["there is no kustomization"]);
    tree.run(&["edit", "fix", "--vars", "--all"]).fails_with(&["one directory at a time"]);
}

/// Two kustomizations with one file, behind a link, get one change.
#[test]
fn a_file_that_two_directories_share_is_changed_once() {
    let tree = Tree::new(FEW);
    fs::create_dir(tree.path().join("c")).unwrap();
    symlink("../a/kustomization.yaml", tree.path().join("c/kustomization.yaml")).unwrap();
    let done = tree.run(&["edit", "add", "annotation", "k:v", "--all"]);
    assert!(done.stderr.ends_with("changed: 2 of 3\n"), "{}", done.stderr);
    let text = fs::read_to_string(tree.path().join("a/kustomization.yaml")).unwrap();
    assert_eq!(text, "# first\nresources: [m.yaml]\ncommonAnnotations:\n  k: v\n");
    assert!(tree.path().join("c/kustomization.yaml").is_symlink());
}

/// No change is lost, whichever directories the edits have in common.
#[test]
fn edits_of_all_at_once_wait_for_each_other() {
    let tree = Tree::new(FEW);
    let edit = |i: usize, place: &[&str]| {
        let label = format!("l{i}:v");
        tree.command(&[&["edit", "add", "label", &label, "--without-selector"], place].concat()).spawn().unwrap()
    };
    let children: Vec<_> = (0..12).map(|i| edit(i, [&["--all"][..], &["-C", "b"]][i % 2])).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let count = |root: &str| {
        let text = fs::read_to_string(tree.path().join(root).join("kustomization.yaml")).unwrap();
        (0..12).filter(|i| text.contains(&format!("l{i}: v"))).count()
    };
    assert_eq!((count("a"), count("b")), (6, 12));
}

/// `fix` of all says which builds print other bytes.
#[test]
fn fix_of_all_changes_deprecated_fields() {
    let tree = Tree::new(FEW);
    tree.write("b/kustomization.yaml", "bases: [../a]\ncommonLabels: {k: v}\n");
    tree.write("a/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    let done = tree.run(&["edit", "fix", "--all"]);
    assert!(!done.stderr.contains("Warning: "), "{}", done.stderr);
    let text = fs::read_to_string(tree.path().join("b/kustomization.yaml")).unwrap();
    assert!(text.contains("resources: [../a]") && text.contains("includeSelectors: true"), "{text}");
    assert_eq!(done.stdout, "changed a/kustomization.yaml\nchanged b/kustomization.yaml\n");
}

/// The roots that `affected` prints.
fn affected(tree: &Tree, args: &[&str]) -> Vec<String> {
    let run = tree.run(&[&["affected"], args].concat());
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{args:?}");
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn affected_lists_the_kustomizations_that_files_are_part_of() {
    let tree = fleet();
    let of_orders = ["services/orders/base", "services/orders/dev", "services/orders/prod", "services/orders/staging"];
    assert_eq!(affected(&tree, &["services/orders/base/deployment.yaml"]), of_orders);
    assert_eq!(affected(&tree, &["services/orders/base/service.yaml", "--leaves"]), of_orders[1..]);
    assert_eq!(affected(&tree, &["services/orders/prod/memory.yaml"]), ["services/orders/prod"]);
    assert_eq!(affected(&tree, &["components/observed/metrics.yaml"]).len(), 120);
    assert_eq!(affected(&tree, &["components/observed/metrics.yaml", "--in", "services/orders"]).len(), 3);
    let in_two = ["--in", "services/orders", "--in", "services/carts", "--in", "services/carts/dev"];
    assert_eq!(affected(&tree, &[&["components/observed/metrics.yaml"], &in_two[..]].concat()).len(), 6);
    // A directory stands for the files below it, and a deleted file counts.
    assert_eq!(affected(&tree, &["services/orders/base"]), of_orders);
    fs::remove_file(tree.path().join("services/orders/prod/memory.yaml")).unwrap();
    assert_eq!(affected(&tree, &["services/orders/prod/memory.yaml"]), ["services/orders/prod"]);
    let typo = tree.run(&["affected", "services/orders/prod/memry.yaml"]);
    let note = "'services/orders/prod/memry.yaml' does not exist, and no kustomization names it\n";
    assert_eq!((typo.status, typo.stdout.as_str(), typo.stderr.as_str()), (Some(0), "", note));
    // For programs: an array in one line.
    let printed = tree.run(&["affected", "services/orders/base/settings.env", "--leaves", "-o", "json"]).ok();
    assert_eq!(printed, "[\"services/orders/dev\",\"services/orders/prod\",\"services/orders/staging\"]\n");
    assert_eq!(tree.run(&["affected", "README.md", "-o", "json"]).ok(), "[]\n");
    tree.run(&["affected"]).fails_with(&["<FILE>"]);
    tree.run(&["affected", "x", "--in", "none"]).fails_with(&["'none': no such file or directory"]);
}

#[test]
fn affected_since_a_commit_lists_what_has_changed() {
    let tree = fleet_in_git();
    assert!(affected(&tree, &["--since", "HEAD"]).is_empty());
    let env = "services/orders/base/settings.env";
    tree.write(env, "LOG_LEVEL=debug\n");
    tree.write("services/carts/prod/new.yaml", "kind: A\n");
    assert_eq!(affected(&tree, &["--since", "main"]).len(), 4);
    git(&tree.path(), &["checkout", "-q", "-b", "topic"]);
    git(&tree.path(), &["commit", "-q", "-a", "-m", "b"]);
    assert!(affected(&tree, &["--since", "HEAD"]).is_empty());
    let leaves = ["services/orders/dev", "services/orders/prod", "services/orders/staging"];
    assert_eq!(affected(&tree, &["--since", "main..topic", "--leaves"]), leaves);
    assert_eq!(affected(&tree, &["--since", "main...", "--leaves", "services/carts/dev/memory.yaml"]).len(), 4);
    // The kustomizations of a range are those of its newer side.
    fs::remove_dir_all(tree.path().join("services/orders/dev")).unwrap();
    assert_eq!(affected(&tree, &["--since", "main..topic", "--leaves"]), leaves);
    assert_eq!(affected(&tree, &["--since", "main", "--leaves"]), leaves[1..]);
    // Names begin at the working directory.
    let mut below = tree.command(&["affected", "--since", "main", "--leaves"]);
    let run = crate::support::run(below.current_dir(tree.path().join("services/orders")));
    assert_eq!(run.ok(), "prod\nstaging\n");
    tree.run(&["affected", "--since", "nope"]).fails_with(&["git knows no commit 'nope'"]);
    tree.assert_nothing_left();
    fleet().run(&["affected", "--since", "HEAD"]).fails_with(&["not a git repository"]);
}

const PROXY: &str = "registry.example:5000/network/proxy";

#[test]
fn images_are_listed_with_the_line_that_sets_them() {
    let tree = fleet();
    let listed = tree.run(&["images", "services/orders", "--leaves"]).ok();
    let squeeze =
        |text: &str| text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    let want = [
        "registry.example:5000/network/proxy:2.1.3 services/orders/prod/kustomization.yaml:21 services/orders/prod",
        "registry.example:5000/network/proxy:2.1.4 services/orders/staging/kustomization.yaml:21 services/orders/staging",
        "registry.example:5000/network/proxy:2.2.0 services/orders/dev/kustomization.yaml:21 services/orders/dev",
        // The overlay sets the tag that the base sets as well.
        "registry.example:5000/shop/orders:1.32.0 services/orders/prod/kustomization.yaml:17 services/orders/prod",
        "registry.example:5000/shop/orders:1.33.0 services/orders/staging/kustomization.yaml:17 services/orders/staging",
        "registry.example:5000/shop/orders:1.34.0-rc.1 services/orders/dev/kustomization.yaml:17 services/orders/dev",
    ];
    assert_eq!(squeeze(&listed), want);
    // A base is a kustomization, too.
    let with_base = squeeze(&tree.run(&["images", "services/orders"]).ok());
    assert!(
        with_base.contains(&"proxy services/orders/base/deployment.yaml:30 services/orders/base".to_owned()),
        "{with_base:?}"
    );
    assert_eq!(with_base.len(), 8);
    let all = json(&tree.run(&["images", "--leaves", "-o", "json"]).ok());
    assert_eq!(all.as_array().unwrap().len(), 240);
    let first = &all[0];
    assert_eq!((&first["name"], &first["tag"], &first["set"]), (&PROXY.into(), &"2.1.3".into(), &"images".into()));
    assert_eq!(first["roots"].as_array().unwrap().len(), 1);
    assert_eq!(first["place"], "services/accounts/prod/kustomization.yaml:21");
}

#[test]
fn an_image_is_raised_everywhere() {
    let tree = fleet();
    let before = texts(&tree);
    let few = ["images", "set", "proxy:2.3.0", "--all", "services/orders", "--leaves", "--dry-run"];
    let dry = tree.run(&few).ok();
    assert!(dry.starts_with(&format!("{PROXY}:2.1.3 -> {PROXY}:2.3.0 in services/orders/prod\n")), "{dry}");
    assert_eq!(dry.matches("\n+  newTag: \"2.3.0\"\n").count(), 3);
    assert_eq!(texts(&tree), before, "--dry-run has written");
    let set = ["images", "set", "proxy:2.3.0", "--all", "services", "--leaves"];
    let done = tree.run(&set).ok();
    assert_eq!(done.lines().filter(|line| line.starts_with("changed services/")).count(), 120, "{done}");
    let after = texts(&tree);
    let differ = |before: &BTreeMap<PathBuf, String>, after: &BTreeMap<PathBuf, String>| {
        before.iter().filter(|(file, text)| after[*file] != **text).count()
    };
    assert_eq!(differ(&before, &after), 120);
    let orders = fs::read_to_string(tree.path().join("services/orders/prod/kustomization.yaml")).unwrap();
    assert!(orders.contains("# The team of the network raises this one in all services.\n- name: proxy\n  newName: registry.example:5000/network/proxy\n  newTag: \"2.3.0\"\n"), "{orders}");
    assert!(done.starts_with(&format!("{PROXY}:2.1.3 -> {PROXY}:2.3.0 in 40 kustomizations\n")), "{done}");
    let again = tree.run(&few);
    assert_eq!((again.stdout.as_str(), again.status), ("", Some(0)));
    assert!(again.stderr.contains("nothing to change"), "{}", again.stderr);
    // With the bases, that of the base is raised as well; the other services stay.
    let value = tree.run(&["images", "set", "shop/orders:2.0.0", "--all", "services/orders", "-o", "json"]).ok();
    let value = json(&value);
    assert_eq!(value["changes"].as_array().unwrap().len(), 4, "{value}");
    assert_eq!(value["images"].as_array().unwrap().len(), 3);
    assert_eq!(differ(&after, &texts(&tree)), 4);
}

const IMAGES: &str = "\
-- base/kustomization.yaml --
resources: [pod.yaml]
-- base/pod.yaml --
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers:
  - {name: i, image: 'reg.example:5000/tools/init:1'} # quoted
  containers:
  - name: a
    image: web # no tag
  - name: b
    image: db@sha256:00
  - name: c
    image: side:$(TAG)
-- plain/kustomization.yaml --
resources: [../base]
-- patched/kustomization.yaml --
resources: [../base]
images:
- name: web
  newName: reg.example:5000/web
patches:
- patch: |-
    apiVersion: v1
    kind: Pod
    metadata: {name: p}
    spec:
      containers:
      - name: b
        image: db:9@sha256:11
-- pinned/kustomization.yaml --
resources: [../base]
components: [../part]
-- part/kustomization.yaml --
kind: Component
images:
- {name: web, newTag: '3', digest: sha256:33}
";

#[test]
fn images_are_set_where_they_are_set() {
    let check = |words: &[&str], files: &[(&str, &str)]| {
        let tree = Tree::new(IMAGES);
        let before = texts(&tree);
        let done = tree.run(&[&["images", "set"], words].concat());
        assert_eq!(done.status, Some(0), "{words:?}: {}{}", done.stdout, done.stderr);
        let after = texts(&tree);
        let changed = after.iter().filter(|(file, text)| before[*file] != **text);
        let name = |file: &PathBuf| file.strip_prefix(tree.path()).unwrap().display().to_string();
        let changed: Vec<(String, String)> = changed.map(|(file, text)| (name(file), text.clone())).collect();
        assert_eq!(changed.len(), files.len(), "{words:?}: {changed:#?}");
        for ((file, text), (want, part)) in changed.iter().zip(files) {
            assert_eq!(file, want, "{words:?}");
            assert!(text.contains(part), "{words:?}: '{part}' is not in {text}");
        }
        done.stderr
    };
    // In a file, in quotes; the port of a registry is not a tag.
    check(
        &["init:2", "--all"],
        &[("base/pod.yaml", "  - {name: i, image: 'reg.example:5000/tools/init:2'} # quoted\n")],
    );
    check(
        &["reg.example:5000/tools/init@sha256:aa", "--all"],
        &[("base/pod.yaml", "'reg.example:5000/tools/init@sha256:aa'}")],
    );
    // The name without a port, in one root; that of the other root has another name.
    check(
        &["reg.example:5000/web:7", "--all", "patched"],
        &[("patched/kustomization.yaml", "newName: reg.example:5000/web\n  newTag: \"7\"\n")],
    );
    // A component sets a tag and a digest.
    check(
        &["web:4", "--all"],
        &[
            ("base/pod.yaml", "    image: web:4 # no tag\n"),
            ("part/kustomization.yaml", "- {name: web, newTag: '4'}\n"),
        ],
    );
    check(
        &["db:8@sha256:88", "--all"],
        &[
            ("base/pod.yaml", "    image: db:8@sha256:88\n"),
            ("patched/kustomization.yaml", "        image: db:8@sha256:88\n"),
        ],
    );
    // What is outside of the directory stays: the kustomization gets an entry.
    check(&["db:8", "plain"], &[("plain/kustomization.yaml", "images:\n- name: db\n  newTag: \"8\"\n")]);
    // Variables stay.
    let said = check(&["side:1", "--all"], &[]);
    assert!(said.contains("base/pod.yaml:13: 'side:$(TAG)' has a variable and stays\n"), "{said}");
}

#[test]
fn images_that_cannot_be_set_change_nothing() {
    let check = |text: &str, words: &[&str], parts: &[&str]| {
        let tree = Tree::new(&format!("{IMAGES}{text}"));
        let before = texts(&tree);
        tree.run(&[&["images", "set"], words].concat()).fails_with(parts);
        assert_eq!(texts(&tree), before);
    };
    check("", &["wen:1", "--all"], &["no image is named 'wen'", "did you mean 'web'?"]);
    check("", &["web:1", "--all", "none"], &["'none'"]);
    check("", &["web", "--all"], &["no word is an image with a version"]);
    check("", &["web:1", "web:2", "--all"], &["'web' is given twice"]);
    check("", &["a=b:1", "--all"], &["'a=b:1' is not an image with a version"]);
    let two = "-- two/kustomization.yaml --\nresources: [../base]\nimages: [{name: web, newName: x/tools}, {name: db, newName: y/tools}]\n";
    check(two, &["tools:1", "--all"], &["'tools' names 2 images", "x/tools", "y/tools"]);
    check(
        "-- broken/kustomization.yaml --\nresources: [gone.yaml]\n",
        &["web:1", "--all"],
        &["gone.yaml", "no file has changed", "1 of 5 roots failed"],
    );
    check("", &["web:4", "reg.example:5000/web:5", "--all"], &["base/pod.yaml:9: images that would get different"]);
    // An entry for several images.
    let pattern = "-- many/kustomization.yaml --\nresources: [../base]\nimages: [{name: 'web|db', newTag: '1'}]\n";
    check(pattern, &["web:2", "--all", "many"], &["'many' would get the image 'db:2', too"]);
    let tree = Tree::new(IMAGES);
    fs::set_permissions(tree.path().join("base/pod.yaml"), fs::Permissions::from_mode(0o444)).unwrap();
    let before = texts(&tree);
    tree.run(&["images", "set", "web:4", "--all"]).fails_with(&["'base/pod.yaml' is read-only"]);
    assert_eq!(texts(&tree), before);
    // The list has the others.
    let tree = Tree::new(&format!("{IMAGES}-- broken/kustomization.yaml --\nresources: [gone.yaml]\n"));
    let listed = tree.run(&["images"]);
    assert!(listed.status == Some(1) && listed.stdout.contains("db:9@sha256:11"), "{}", listed.stdout);
    assert!(listed.stderr.contains("1 of 5 roots failed"), "{}", listed.stderr);
}

#[test]
fn pins_are_promoted_and_nothing_else() {
    let tree = fleet();
    let (staging, prod) = ("services/orders/staging", "services/orders/prod");
    let before = texts(&tree);
    let file = tree.path().join(prod).join("kustomization.yaml");
    let dry = tree.run(&["promote", staging, prod, "--dry-run"]).ok();
    let want = "\
images: registry.example:5000/shop/orders: 1.32.0 -> 1.33.0
images: proxy: 2.1.3 -> 2.1.4
--- services/orders/prod/kustomization.yaml
+++ services/orders/prod/kustomization.yaml
@@ -14,11 +14,11 @@
 
 images:
 - name: registry.example:5000/shop/orders
-  newTag: \"1.32.0\"
+  newTag: \"1.33.0\"
 # The team of the network raises this one in all services.
 - name: proxy
   newName: registry.example:5000/network/proxy
-  newTag: \"2.1.3\"
+  newTag: \"2.1.4\"
 
 patches:
 - path: memory.yaml
";
    assert_eq!(dry, want);
    // Nobody has agreed.
    let asked = tree.run(&["promote", staging, prod]);
    assert!(asked.status == Some(1) && asked.stdout == want, "{}", asked.stdout);
    assert!(asked.stderr.contains(&format!("hint: rustomize promote {staging} {prod} --yes")), "{}", asked.stderr);
    assert_eq!(texts(&tree), before, "it has written");
    let done = tree.run(&["promote", staging, prod, "--yes"]).ok();
    assert_eq!(done, format!("{want}changed {prod}/kustomization.yaml\n"));
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, before[&file].replace("\"1.32.0\"", "\"1.33.0\"").replace("\"2.1.3\"", "\"2.1.4\""));
    let again = tree.run(&["promote", staging, prod, "--yes"]);
    let note = format!("'{prod}' has the pins of '{staging}' already\n");
    assert_eq!((again.status, again.stdout.as_str(), again.stderr), (Some(0), "", note));
    // From dev, the replicas alone, for programs.
    let dev = "services/orders/dev";
    let value = json(&tree.run(&["promote", dev, prod, "--only", "replicas", "--yes", "-o", "json"]).ok());
    let pin = &value["pins"][0];
    assert_eq!((&pin["kind"], &pin["before"], &pin["after"]), (&"replicas".into(), &"2".into(), &"1".into()));
    assert_eq!((value["written"].clone(), value["changes"].as_array().unwrap().len()), (true.into(), 1));
    let replicas = format!("{}  count: 1\n", "replicas:\n- name: orders\n");
    assert!(fs::read_to_string(&file).unwrap().contains(&replicas));
}

#[test]
fn a_promotion_asks_on_a_terminal() {
    let tree = Tree::new(
        "-- a/kustomization.yaml --\nimages: [{name: web, newTag: v2}]\n-- b/kustomization.yaml --\nimages: [{name: web, newTag: v1}]\n",
    );
    let Some(asked) = tree.run_on_terminal("promote a b --color never") else {
        return crate::support::skip("the program script is not in PATH");
    };
    assert!(asked.stdout.contains("Write these lines? [y/N] "), "{}", asked.stdout);
    let text = fs::read_to_string(tree.path().join("b/kustomization.yaml")).unwrap();
    assert_eq!(text, "images: [{name: web, newTag: v1}]\n", "no answer is no");
}

#[test]
fn a_promotion_that_fails_changes_nothing() {
    let files = "-- a/kustomization.yaml --\nimages: [{name: web, newTag: v2}]\n-- b/kustomization.yaml --\nimages:\n- {name: web, newTag: v1}\n";
    let check = |spoil: &dyn Fn(&Tree), words: &[&str], parts: &[&str]| {
        let tree = Tree::new(files);
        spoil(&tree);
        let before = texts(&tree);
        let failed = tree.run(&[&["promote"], words].concat());
        assert_eq!(failed.status, Some(1), "{parts:?}");
        for part in parts {
            assert!(failed.stderr.contains(part), "'{part}' is not in {}", failed.stderr);
        }
        assert_eq!(texts(&tree), before);
    };
    let yes = ["a", "b", "--yes"];
    check(
        &|tree| tree.write("a/kustomization.yaml", "images: [{nam: web}]\n"),
        &yes,
        &["a/kustomization.yaml:1:11", "nam"],
    );
    check(&|tree| tree.write("b/kustomization.yaml", "images: [\n"), &yes, &["b/kustomization.yaml:2:1"]);
    let lock = |tree: &Tree| {
        let place = tree.path().join("b/kustomization.yaml");
        fs::set_permissions(place, fs::Permissions::from_mode(0o444)).unwrap();
    };
    check(&lock, &yes, &["'b/kustomization.yaml' is read-only", "chmod u+w b/kustomization.yaml"]);
    check(&|_| {}, &["a", "none", "--yes"], &["'none'"]);
    check(&|tree| tree.write("c/text", ""), &["c", "b", "--yes"], &["in c", "Missing kustomization file"]);
    check(&|_| {}, &["a", "a", "--yes"], &["FROM and TO are one kustomization"]);
    check(&|_| {}, &["a", "b", "-o", "json"], &["--yes or --dry-run"]);
    check(&|tree| tree.write("b/Kustomization", ""), &yes, &["Found multiple kustomization file"]);
    let outside = |tree: &Tree| {
        fs::rename(tree.path().join("b/kustomization.yaml"), tree.path().join("k.yaml")).unwrap();
        symlink("../k.yaml", tree.path().join("b/kustomization.yaml")).unwrap();
    };
    check(&outside, &yes, &["'b/kustomization.yaml' leads to '", "outside of the directory"]);
}

/// A `watch` that runs, and the lines of its stderr.
struct Watch {
    child: std::process::Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Watch {
    fn start(tree: &Tree, args: &[&str]) -> Watch {
        let mut command = tree.command(&[&["watch"], args].concat());
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in std::io::BufReader::new(stderr).lines() {
                let _ = send.send(line.unwrap());
            }
        });
        Watch { child, lines }
    }

    /// The lines up to the end of a round.
    #[track_caller]
    fn round(&self) -> String {
        let mut text = String::new();
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| panic!("it waits: {text}"));
            text += &format!("{line}\n");
            if line.ends_with("waiting for changes") || line.contains("\"event\":\"watched\"") {
                return text;
            }
        }
    }

    /// Expects that nothing more is said for a moment.
    #[track_caller]
    fn is_quiet(&self) {
        assert_eq!(self.lines.recv_timeout(Duration::from_millis(700)).ok(), None);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn watch_looks_again_at_what_a_change_touches() {
    let tree = fleet();
    let watch = Watch::start(&tree, &["services"]);
    assert!(watch.round().starts_with("no fault in 160 kustomizations ("));
    // A file of a base.
    tree.write("services/orders/base/settings.env", "LOG_LEVEL debug\n");
    let said = watch.round();
    assert!(said.starts_with("changed: services/orders/base/settings.env; kustomizations: 4\n"), "{said}");
    assert!(said.contains("[env-syntax]") || said.contains("settings.env:1:"), "{said}");
    assert!(said.contains("\nfaults in 4 kustomizations ("), "{said}");
    tree.write("services/orders/base/settings.env", "LOG_LEVEL=debug\n");
    let said = watch.round();
    assert!(said.contains("\nno fault in 4 kustomizations ("), "{said}");
    // A component that is not below the directory.
    let metrics = fs::read_to_string(tree.path().join("components/observed/metrics.yaml")).unwrap();
    tree.write("components/observed/metrics.yaml", &metrics.replace("9090", "9091"));
    let said = watch.round();
    assert!(said.starts_with("changed: components/observed/metrics.yaml; kustomizations: 120\n"), "{said}");
    // A file that nothing reads, and a new kustomization in a new directory.
    tree.write("services/orders/README.md", "words\n");
    watch.is_quiet();
    tree.write("services/orders/test/kustomization.yaml", "resources: [../base, gone.yaml]\n");
    let said = watch.round();
    assert!(said.contains("gone.yaml") && said.contains("\nfaults in 1 kustomizations ("), "{said}");
    tree.write("services/orders/test/kustomization.yaml", "resources: [\n");
    assert!(watch.round().contains("\nfaults in 1 kustomizations ("));
    // A base that is moved away breaks its users.
    fs::rename(tree.path().join("services/carts/base"), tree.path().join("services/carts/gone")).unwrap();
    let said = watch.round();
    assert!(said.contains("services/carts/prod") && said.contains("\nfaults in "), "{said}");
}

#[test]
fn watch_builds_into_a_directory() {
    let tree = Tree::new(FEW.replace("kind: A\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n").as_str());
    let watch = Watch::start(&tree, &[".", "-o", "out", "--error-format", "json"]);
    let value = json(watch.round().lines().last().unwrap());
    assert_eq!((&value["ok"], value["roots"].as_array().unwrap().len()), (&true.into(), 2));
    let read = |name: &str| fs::read_to_string(tree.path().join("out").join(name)).unwrap();
    assert!(read("b.yaml").contains("name: redm"), "{}", read("b.yaml"));
    let a = fs::metadata(tree.path().join("out/a.yaml")).unwrap().modified().unwrap();
    watch.is_quiet();
    tree.write("b/kustomization.yaml", "resources: [m.yaml]\nnamePrefix: new-\n");
    let value = json(watch.round().lines().last().unwrap());
    assert_eq!(value["roots"], serde_json::json!(["b"]));
    assert!(read("b.yaml").contains("name: new-m"), "{}", read("b.yaml"));
    assert_eq!(fs::metadata(tree.path().join("out/a.yaml")).unwrap().modified().unwrap(), a);
    watch.is_quiet();
    tree.run(&["watch", "none"]).fails_with(&["'none': no such file or directory"]);
    tree.run(&["watch", "other"]).fails_with(&["there is no kustomization at or below 'other'"]);
    tree.run(&["watch", "--error-format", "sarif"]).fails_with(&["cannot print one SARIF document"]);
}
