//! `--crd-merge-keys`: lists of custom resources, merged by the keys that CustomResourceDefinitions
//! in the tree name.

use crate::support::Tree;

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.ex.io}
spec:
  group: ex.io
  scope: Cluster
  names: {kind: App, plural: apps}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              routes:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [host, port]
                items:
                  type: object
                  properties:
                    weights:
                      type: array
                      x-kubernetes-list-type: map
                      x-kubernetes-list-map-keys: [to]
                      items: {type: object}
              names:
                type: array
                items: {type: string}
";

const APP: &str = "apiVersion: ex.io/v1
kind: App
metadata: {name: a}
spec:
  routes:
  - {host: a.io, port: 80, weights: [{to: a, w: 1}]}
  - {host: a.io, port: 81}
  names: [one]
";

const PATCH: &str = "apiVersion: ex.io/v1
kind: App
metadata: {name: a}
spec:
  routes:
  - {host: a.io, port: 80, weights: [{to: b, w: 2}]}
  names: [two]
";

fn tree(kustomization: &str) -> Tree {
    let files = format!("-- crd.yaml --\n{DEFINITION}-- app.yaml --\n{APP}-- patch.yaml --\n{PATCH}");
    Tree::new(&format!("{files}-- kustomization.yaml --\n{kustomization}"))
}

const MERGED: &str = "  routes:
  - host: a.io
    port: 80
    weights:
    - to: b
      w: 2
    - to: a
      w: 1
  - host: a.io
    port: 81
";

const REPLACED: &str = "  routes:
  - host: a.io
    port: 80
    weights:
    - to: b
      w: 2
";

#[test]
fn a_definition_among_the_resources_or_in_crds_names_the_keys() {
    let with_resource = "namespace: ns\nresources: [crd.yaml, app.yaml]\npatches: [{path: patch.yaml}]\n";
    let tree = tree(with_resource);
    let plain = tree.run(&["build"]).ok();
    assert!(plain.contains(REPLACED) && !plain.contains("port: 81"), "off by default: {plain}");
    let merged = tree.run(&["build", "--crd-merge-keys"]).ok();
    assert!(merged.contains(MERGED), "{merged}");
    assert!(merged.contains("  names:\n  - two\n  routes"), "a list without keys is replaced: {merged}");
    assert!(merged.contains("namespace: ns"), "the definition says nothing of the scope here: {merged}");
    tree.write("kustomization.yaml", "resources: [app.yaml]\ncrds: [crd.yaml]\npatches: [{path: patch.yaml}]\n");
    tree.run(&["build"]).fails_with(&["unable to parse open API definition"]);
    assert!(tree.run(&["build", "--crd-merge-keys"]).ok().contains(MERGED));
}

#[test]
fn a_definition_of_a_base_is_known_above_it_and_an_openapi_file_wins() {
    let tree = tree("");
    tree.write("base/kustomization.yaml", "resources: [../crd]\n");
    tree.write("crd/kustomization.yaml", "resources: [crd.yaml]\n");
    tree.write("crd/crd.yaml", DEFINITION);
    tree.write("kustomization.yaml", "resources: [base, app.yaml]\npatches: [{path: patch.yaml}]\n");
    assert!(tree.run(&["build", "--crd-merge-keys"]).ok().contains(MERGED));
    assert!(tree.run(&["build", "--crd-merge-keys", ".", "base", "."]).ok().contains(MERGED), "several roots");
    tree.write("schema.json", r#"{"definitions": {}}"#);
    tree.write(
        "kustomization.yaml",
        "resources: [base, app.yaml]\nopenapi: {path: schema.json}\npatches: [{path: patch.yaml}]\n",
    );
    assert!(tree.run(&["build", "--crd-merge-keys"]).ok().contains(MERGED), "it does not know the kind");
    let schema = r#"{"definitions": {"x": {"x-kubernetes-group-version-kind": [{"group": "ex.io", "version": "v1", "kind": "App"}]}}}"#;
    tree.write("schema.json", schema);
    assert!(tree.run(&["build", "--crd-merge-keys"]).ok().contains(REPLACED), "it knows the kind, without keys");
}

#[test]
fn odd_definitions_change_nothing() {
    for (from, to) in [
        ("  versions:", "  other:"),
        ("spec:\n  group", "spec: []\nother:\n  group"),
        ("x-kubernetes-list-map-keys: [host, port]", "x-kubernetes-list-map-keys: host"),
        ("x-kubernetes-list-type: map", "x-kubernetes-list-type: atomic"),
        ("group: ex.io", "group: other.io"),
        ("openAPIV3Schema:", "openAPIV3Schema: []\n      other:"),
    ] {
        let tree = tree("resources: [crd.yaml, app.yaml]\npatches: [{path: patch.yaml}]\n");
        tree.write("crd.yaml", &DEFINITION.replacen(from, to, 1));
        let built = tree.run(&["build", "--crd-merge-keys"]).ok();
        assert!(!built.contains("port: 81"), "{to}: {built}");
    }
}
