//! Images of container functions in plugins.lock: what a tag stood for when it was locked is what
//! runs. A registry on this machine, and a stand-in for the engine that notes what it runs.

use crate::support::servers::{Files, registry, sha256};
use crate::support::{Run, Tree};
use std::fs;

/// A tree with a function that is an image of the registry, and an engine that notes the image.
fn tree(image: &str) -> Tree {
    let mut tree = Tree::new(
        "-- kustomization.yaml --\nresources: [a.yaml]\ntransformers: [f.yaml]\n\
         -- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n",
    );
    tree.write("f.yaml", &function(image));
    tree.write("../home/engine", "#!/bin/sh\nfor last; do :; done\necho \"$last\" > \"$HOME/ran\"\ncat\n");
    tree.variables.insert("KRM_FN_RUNTIME", tree.home().join("engine").to_string_lossy().into_owned());
    tree
}

fn function(image: &str) -> String {
    format!(
        "apiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: |\n      container: {{image: '{image}'}}\n"
    )
}

/// The image that a build runs.
#[track_caller]
fn ran(tree: &Tree, args: &[&str]) -> String {
    let _ = fs::remove_file(tree.home().join("ran"));
    tree.build(args).ok();
    fs::read_to_string(tree.home().join("ran")).unwrap().trim_end().to_owned()
}

fn lock(tree: &Tree, args: &[&str]) -> Run {
    tree.run(&[&["plugin", "lock"], args].concat())
}

fn locked(tree: &Tree) -> serde_json::Value {
    serde_json::from_slice(&fs::read(tree.path().join("plugins.lock")).unwrap()).unwrap()
}

/// The digest of what a tag of `x/fn` stands for.
fn digest(files: &Files, tag: &str) -> String {
    format!("sha256:{}", sha256(&files.get(&format!("/v2/x/fn/manifests/{tag}")).2))
}

fn function_registry() -> (String, Files) {
    registry("x/fn", "v1", &[("linux", "amd64", b"amd64".to_vec()), ("linux", "arm64", b"arm64".to_vec())])
}

#[test]
fn a_tag_is_resolved_once_and_its_digest_runs() {
    let (address, files) = function_registry();
    let image = format!("{address}/x/fn:v1");
    let tree = tree(&image);
    assert_eq!(ran(&tree, &["--frozen"]), image, "without a lock, as under kustomize");
    let first = digest(&files, "v1");
    assert_eq!(lock(&tree, &[]).ok(), format!("{image}: {first}\n"));
    assert_eq!(locked(&tree)["images"][&image], *first);
    assert_eq!(ran(&tree, &["--frozen"]), format!("{address}/x/fn@{first}"));
    // The tag moves: what was locked stays until it is upgraded.
    files.put("/v2/x/fn/manifests/v1", r#"{"schemaVersion": 2, "layers": []}"#);
    let second = digest(&files, "v1");
    assert_ne!(first, second);
    files.asked();
    lock(&tree, &[]).ok();
    lock(&tree, &["--check"]).ok();
    assert_eq!(files.asked(), 0, "the registry is not asked again");
    assert_eq!(ran(&tree, &[]), format!("{address}/x/fn@{first}"));
    lock(&tree, &[".", "--upgrade", &image]).ok();
    assert_eq!(ran(&tree, &[]), format!("{address}/x/fn@{second}"));
    // A function that is gone is forgotten with an upgrade.
    tree.write("f.yaml", &function(&format!("{address}/x/fn@{first}")));
    lock(&tree, &[]).ok();
    assert_eq!(locked(&tree)["images"][&image], *second);
    assert_eq!(ran(&tree, &["--frozen"]), format!("{address}/x/fn@{first}"), "a digest is used as it is");
    tree.write("plugins.yaml", "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires: {}\n");
    lock(&tree, &["--upgrade"]).ok();
    assert!(locked(&tree).get("images").is_none());
}

#[test]
fn a_lock_counts_for_every_root_below_it_in_the_repository() {
    let (address, files) = function_registry();
    let image = format!("{address}/x/fn:v1");
    let tree = tree(&image);
    fs::create_dir(tree.path().join(".git")).unwrap();
    tree.write("overlay/kustomization.yaml", "resources: [base]\n");
    for file in ["kustomization.yaml", "a.yaml", "f.yaml"] {
        fs::create_dir_all(tree.path().join("overlay/base")).unwrap();
        fs::rename(tree.path().join(file), tree.path().join("overlay/base").join(file)).unwrap();
    }
    lock(&tree, &[]).ok();
    let pinned = format!("{address}/x/fn@{}", digest(&files, "v1"));
    assert_eq!(ran(&tree, &["--frozen", "overlay"]), pinned);
    assert_eq!(ran(&tree, &["overlay/base"]), pinned);
    // The nearest lock that has the image counts.
    let other = format!("sha256:{}", "1".repeat(64));
    tree.write(
        "overlay/base/plugins.lock",
        &serde_json::json!({
            "lockVersion": 1, "plugins": {}, "images": {&image: &other}
        })
        .to_string(),
    );
    assert_eq!(ran(&tree, &["overlay"]), format!("{address}/x/fn@{other}"));
}

#[test]
fn an_image_that_is_not_locked_is_refused_where_only_what_is_locked_may_be_used() {
    let (address, files) = function_registry();
    let tree = tree(&format!("{address}/x/fn:v1"));
    lock(&tree, &[]).ok();
    files.put("/v2/x/fn/manifests/v2", r#"{"schemaVersion": 2, "layers": []}"#);
    let other = format!("{address}/x/fn:v2");
    tree.write("f.yaml", &function(&other));
    assert_eq!(ran(&tree, &[]), other);
    lock(&tree, &["--check"]).fails_with(&[&format!("the image '{other}' is not locked"), "rustomize plugin lock"]);
    let said = tree.build(&["--frozen"]).fails_with(&[
        &format!("the image '{other}' is not in '"),
        "only what is locked may be used",
        "f.yaml:1:1",
    ]);
    // The command of the hint, as it is printed.
    let hint = said.lines().find_map(|line| Some(line.split_once("rustomize plugin lock ")?.1)).unwrap();
    let args: Vec<&str> = hint.split(' ').map(|word| word.trim_matches('\'')).collect();
    lock(&tree, &args).ok();
    assert_eq!(ran(&tree, &["--frozen"]), format!("{address}/x/fn@{}", digest(&files, "v2")));
}

#[test]
fn images_are_found_wherever_files_name_them() {
    let (address, files) = function_registry();
    for tag in ["deep", "inline", "second", "legacy", "field", "hidden", "named"] {
        files.put(&format!("/v2/x/fn/manifests/{tag}"), format!(r#"{{"layers": [], "x": "{tag}"}}"#));
    }
    let image = |tag: &str| format!("{address}/x/fn:{tag}");
    let tree = tree(&image("v1"));
    tree.write("overlay/deep/g.yml", &format!("{}---\n{}", function(&image("deep")), function(&image("second"))));
    tree.write(".git/f.yaml", &function(&image("hidden")));
    tree.write("chart/f.yaml", &format!("{{{{ if .x }}}}\n{}", function(&image("hidden"))));
    let inline: String = function(&image("inline")).lines().map(|line| format!("  {line}\n")).collect();
    tree.write("inline/kustomization.yaml", &format!("transformers:\n- |\n{inline}"));
    let head = "apiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: f\n";
    tree.write(
        "legacy.yaml",
        &format!("{head}  annotations:\n    config.kubernetes.io/container: {}\n", image("legacy")),
    );
    tree.write("field.yaml", &format!("{head}  configFn:\n    container: {{image: '{}'}}\n", image("field")));
    lock(&tree, &["--image", &image("named")]).ok();
    let locked = locked(&tree);
    let found: Vec<&str> =
        locked["images"].as_object().unwrap().keys().map(|key| key.rsplit(':').next().unwrap()).collect();
    assert_eq!(found, ["deep", "field", "inline", "legacy", "named", "second", "v1"]);
}

#[test]
fn an_image_that_cannot_be_locked_is_an_error_and_the_lock_stays() {
    let (address, files) = function_registry();
    let tree = tree(&format!("{address}/x/fn:v1"));
    lock(&tree, &[]).ok();
    let before = fs::read(tree.path().join("plugins.lock")).unwrap();
    let none = format!("{address}/x/fn:none");
    lock(&tree, &["--image", &none]).fails_with(&["404", &format!("locking the image '{none}'")]);
    lock(&tree, &["--image", "Not An Image"]).fails_with(&["'Not An Image' is not a valid name of an image"]);
    files.put("/v2/x/fn/manifests/html", "<html>");
    lock(&tree, &["--image", &format!("{address}/x/fn:html")]).fails_with(&["unexpected answer of"]);
    assert_eq!(fs::read(tree.path().join("plugins.lock")).unwrap(), before);
    // A digest that somebody has written into the lock becomes no other argument.
    let text = String::from_utf8(before).unwrap().replace("sha256:", "sha256:x --privileged ");
    tree.write("plugins.lock", &text);
    tree.build(&[]).fails_with(&["has no valid digest for the image", "f.yaml:1:1"]);
}

#[test]
fn the_images_of_a_lock_survive_an_installation() {
    let (address, _files) = function_registry();
    let image = format!("{address}/x/fn:v1");
    let tree = tree(&image);
    lock(&tree, &[]).ok();
    tree.write("made", &crate::support::plugins::script("1.0.0", "made"));
    crate::support::plugins::require(&tree, "{app: {source: h.io/acme/app, from: ./made}}");
    tree.run(&["plugin", "install"]).ok();
    let locked = locked(&tree);
    assert!(locked["images"][&image].is_string() && locked["plugins"]["h.io/acme/app"].is_object(), "{locked}");
}
