//! `--compat` and its like: the version of kustomize that a build answers to. What each version
//! does is in testdata/versions.

use crate::support::{Run, Tree, run};
use rustomize::load::Memory;
use rustomize::{Compat, Options, Workspace, build};
use std::os::unix::fs::symlink;

/// A StatefulSet whose claims get a label of templates to v5.8.1.
const DATABASE: &str = "\
-- kustomization.yaml --
resources: [database.yaml, other.yaml]
buildMetadata: [managedByLabel]
labels:
- pairs: {team: shop}
  includeTemplates: true
-- other.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
-- database.yaml --
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: database}
spec:
  volumeClaimTemplates:
  - metadata: {name: data}
";

/// The version that a build's label names.
fn version(run: &Run) -> String {
    let label =
        run.stdout.lines().find_map(|line| line.trim().strip_prefix("app.kubernetes.io/managed-by: kustomize-"));
    label.unwrap_or_else(|| panic!("{}", run.stderr)).to_owned()
}

#[test]
fn the_flag_then_the_variable_then_the_file_then_the_name_of_the_program_say_the_version() {
    let mut tree = Tree::new(DATABASE);
    let link = tree.path().join("kustomize-v5.4.2");
    symlink(crate::support::program(), &link).unwrap();
    let as_link = |tree: &Tree, args: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
        let mut command = std::process::Command::new(&link);
        run(command.args(args).current_dir(tree.path()).env_clear().envs(&tree.variables))
    };
    assert_eq!(version(&tree.run(&["build"])), "v5.8.3");
    assert_eq!(version(&as_link(&tree, &["build"])), "v5.4.2");
    assert_eq!(as_link(&tree, &["version"]).ok(), "v5.4.2\n");
    tree.write("rustomize.yaml", "compat: flux-2.6\n");
    assert_eq!(version(&as_link(&tree, &["build"])), "v5.6.0");
    tree.variables.insert("RUSTOMIZE_COMPAT", "kubectl-1.34".to_owned());
    assert_eq!(version(&as_link(&tree, &["build"])), "v5.7.1");
    assert_eq!(version(&as_link(&tree, &["build", "--compat", "5.8.2"])), "v5.8.2");
    tree.variables.insert("RUSTOMIZE_COMPAT", String::new());
    assert_eq!(version(&tree.run(&["build"])), "v5.6.0");
}

#[test]
fn the_nearest_file_that_names_a_version_counts_for_each_root() {
    let tree = Tree::new("-- .git/HEAD --\n");
    for (root, settings) in [("a", "compat: 5.7.1\n"), ("b", "lint: {}\n"), ("b/c", "")] {
        tree.write(
            &format!("{root}/kustomization.yaml"),
            "configMapGenerator: [{name: a}]\nbuildMetadata: [managedByLabel]\n",
        );
        if !settings.is_empty() {
            tree.write(&format!("{root}/rustomize.yaml"), settings);
        }
    }
    tree.write("rustomize.yaml", "compat: 5.5.0\n");
    let printed = tree.run(&["build", "--all"]).ok();
    for (version, count) in [("v5.7.1", 1), ("v5.5.0", 2)] {
        assert_eq!(printed.matches(&format!("kustomize-{version}")).count(), count, "{printed}");
    }
}

#[test]
fn other_names_are_errors_with_the_list() {
    let mut tree = Tree::new(DATABASE);
    let known = "5.4.2, 5.4.3, 5.5.0, 5.6.0, 5.7.0, 5.7.1, 5.8.0, 5.8.1, 5.8.2, 5.8.3";
    for (name, words) in
        [("5.9.0", "newer"), ("5.4.1", "older"), ("5.7.2", "not a version"), ("kubctl-1.34", "not a version")]
    {
        let refused = tree.run(&["build", "--compat", name]);
        assert_eq!((refused.status, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
        assert!(refused.stderr.contains(words) && refused.stderr.contains(known), "{}", refused.stderr);
    }
    tree.write("rustomize.yaml", "compat: 5.9.0\n");
    tree.run(&["build"]).fails_with(&["newer than kustomize 5.8.3", "rustomize.yaml:1:9", known]);
    tree.write("rustomize.yaml", "");
    tree.variables.insert("RUSTOMIZE_COMPAT", "argo-3.2".to_owned());
    tree.run(&["build"]).fails_with(&["'argo-3.2'", "in the variable RUSTOMIZE_COMPAT", known]);
}

#[test]
fn dangerous_input_is_refused_in_every_version() {
    for version in Compat::all().map(Compat::version) {
        let tree = Tree::new("-- kustomization.yaml --\nhelmCharts: [{name: a, releaseName: --post-renderer=x}]\n");
        tree.write("rustomize.yaml", &format!("compat: {version}\n"));
        tree.run(&["build", "--enable-helm", "--helm-command", "true"]).fails_with(&["may not begin with '-'"]);
        let tree = Tree::new("-- kustomization.yaml --\nresources: ['--upload-pack=x//a?ref=b']\n");
        tree.write("rustomize.yaml", &format!("compat: {version}\n"));
        assert_eq!(tree.run(&["build"]).status, Some(1), "{version}");
    }
}

#[test]
fn a_difference_of_versions_names_the_behaviours_and_what_nobody_can_change() {
    let tree = Tree::new(DATABASE);
    tree.write(
        "kustomization.yaml",
        &DATABASE[DATABASE.find("resources").unwrap()..DATABASE.find("-- other").unwrap()]
            .replace("buildMetadata: [managedByLabel]\n", ""),
    );
    let differs = tree.run(&["diff", "--compat", "5.8.1.."]);
    assert_eq!(differs.status, Some(1), "{}", differs.stderr);
    assert_eq!(
        differs.stdout,
        "1 changed, 1 the same; 1 in fields that nobody can change in a cluster
kustomize v5.8.1 -> v5.8.3
1 resource in 1 root:
- 'labels' with 'includeTemplates' labels the volume claim templates of StatefulSets, too.
+ 'labels' with 'includeTemplates' leaves the volume claim templates of StatefulSets as they are.

# Root: .

changed StatefulSet.apps database
@ spec.volumeClaimTemplates[0].metadata.labels: Kubernetes refuses this change: the object must be deleted and created again
- spec.volumeClaimTemplates[0].metadata.labels:
-   team: shop
"
    );
    let json = tree.run(&["diff", "--compat", "5.8.3..kubectl-1.37", "-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let behaviours = &json["upgrade"]["behaviours"];
    assert_eq!(behaviours.as_array().map(Vec::len), Some(1), "{behaviours}");
    assert_eq!(behaviours[0]["name"], "labels_volume_claims_with_templates");
    let [before, after] = ["before", "after"].map(|side| behaviours[0][side].as_str().unwrap());
    assert!(before.ends_with("leaves the volume claim templates of StatefulSets as they are."), "{before}");
    assert!(after.ends_with("labels the volume claim templates of StatefulSets, too."), "{after}");
    assert_eq!((&behaviours[0]["resources"], &behaviours[0]["roots"]), (&1.into(), &1.into()));
    for format in ["markdown", "html"] {
        let printed = tree.run(&["diff", "--compat", "5.8.3..kubectl-1.37", "-o", format]).stdout;
        assert!(
            printed.contains("leaves the volume claim") && printed.contains("labels the volume claim"),
            "{printed}"
        );
    }
    assert_eq!(json["summary"]["unchangeable"], 1);
    assert_eq!(tree.run(&["diff", "--compat", "5.8.2..5.8.3", "--all"]).status, Some(0));
    // A version that refuses the tree cannot be compared.
    tree.write(
        "kustomization.yaml",
        "replacements: [{sourceValue: x, targets: [{select: {kind: A}, fieldPaths: [a]}]}]\n",
    );
    let refused = tree.run(&["diff", "--compat", "5.6.0..5.8.3"]);
    assert_eq!((refused.status, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("as of v5.6.0"), "{}", refused.stderr);
    let both = tree.run(&["diff", "--compat", "5.6.0..5.8.3", "--since", "HEAD"]);
    assert!(both.status == Some(2) && both.stderr.contains("leave out --since"), "{}", both.stderr);
}

/// A behaviour that no build asks for needs no build of its own.
#[test]
fn a_difference_of_versions_takes_few_builds() {
    let tree = Tree::new(DATABASE);
    tree.write("kustomization.yaml", "resources: [database.yaml, other.yaml]\ntransformers: [f.yaml]\nlabels:\n- pairs: {team: shop}\n  includeTemplates: true\n");
    tree.write(
        "f.yaml",
        "apiVersion: v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n    config.kubernetes.io/function: \"exec: {path: ./f.sh}\"\n",
    );
    tree.write("f.sh", "#!/bin/sh\necho >> calls\ncat\n");
    let args = ["diff", "--compat", "5.4.2..5.8.3", "--enable-alpha-plugins", "--enable-exec"];
    let run = tree.run(&args);
    assert!(run.stdout.contains("\n1 resource in 1 root:\n- 'labels' with"), "{} {}", run.stdout, run.stderr);
    let calls = std::fs::read_to_string(tree.path().join("calls")).unwrap().lines().count();
    assert!(calls <= 24, "{calls} builds");
}

#[test]
fn a_program_builds_several_versions_side_by_side() {
    let files = [
        ("/kustomization.yaml", "resources: [a.yaml]\nimages: [{name: x, newTag: '2'}]\n"),
        (
            "/a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {volumes: [{name: v, image: {reference: x}}]}\n",
        ),
    ];
    let files: Memory = files.map(|(path, text)| (path.to_owned(), text)).into_iter().collect();
    let printed = |compat| {
        let workspace = Workspace::new();
        let options = Options { compat, ..Options::default() };
        build(&workspace, &files, "/", &options).value.unwrap().print().unwrap()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = Compat::all().map(|compat| (compat, scope.spawn(move || printed(compat)))).collect();
        for (compat, thread) in threads {
            let is_changed = thread.join().unwrap().contains("reference: x:2");
            assert_eq!(is_changed, compat.images_of_volumes(), "{compat}");
        }
    });
}
