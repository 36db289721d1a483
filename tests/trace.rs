//! The trace of who wrote which field, for builds that ask; other builds do not change.

use crate::support::{Tree, files, split};
use rustomize::load::{Disk, Memory};
use rustomize::{Options, Output, PluginOptions, Runners, Workspace, build};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// One of each kind of step.
const TREE: &str = "\
-- kustomization.yaml --
resources: [base]
images: [{name: nginx, newTag: v2}]
patches:
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec: {replicas: 3}
- target: {kind: Deployment}
  patch: |
    - {op: replace, path: /spec/replicas, value: 4}
    - {op: remove, path: /metadata/annotations/old}
replacements:
- source: {kind: Deployment, fieldPath: spec.replicas}
  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.replicas]}]
transformers: [copy.yaml]
-- copy.yaml --
apiVersion: ex.io/v1
kind: Copy
metadata: {name: copy}
-- base/kustomization.yaml --
resources: [web.yaml]
namePrefix: blue-
namespace: north
labels: [{pairs: {tier: front}}]
configMapGenerator: [{name: settings, literals: [replicas=0]}]
-- base/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {old: '1', b/c: d}}
spec:
  replicas: 1
  template:
    spec:
      containers: [{name: nginx, image: nginx, envFrom: [{configMapRef: {name: settings}}]}]
";

/// One write to a field: the step, the value before and after, and the place of the entry.
fn written(output: &Output<'_>, kind: &str, path: &str) -> Vec<String> {
    let resource = output.resources().find(|resource| resource.id().gvk.kind == kind).unwrap();
    let writes = output.history(resource).filter(|write| &*write.path == path);
    let shown = writes.map(|write| {
        let place = output.place(write.entry).map_or_else(String::new, |place| {
            let file = Path::new(&place.file);
            let file: Vec<_> = file.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
            format!(" {}:{}", file[0], place.line)
        });
        format!("{} {} -> {}{place}", write.step, write.before.unwrap_or("none"), write.after.unwrap_or("none"))
    });
    shown.collect()
}

#[test]
fn trace_shows_which_step_wrote_a_field() {
    let tree = Tree::new(TREE);
    // Prints the Deployment with another number of replicas, behind the ConfigMap.
    tree.plugin("Copy", "#!/bin/sh\nsed 's/replicas: 4/replicas: 5/'\n");
    let homes = vec![tree.home().join(".config/kustomize/plugin")];
    let plugins = PluginOptions { enabled: true, homes, ..PluginOptions::default() };
    let options = Options { plugins: Arc::new(Runners::new(plugins)), trace: true, ..Options::default() };
    let root = tree.path().to_string_lossy().into_owned();
    let (workspace, disk) = (Workspace::new(), Disk::new());
    let output = build(&workspace, &disk, &root, &options).value.unwrap();
    let of = |kind: &str, path: &str| written(&output, kind, path);
    assert_eq!(of("Deployment", ""), ["resources none -> none kustomization.yaml:1"]);
    assert_eq!(of("Deployment", "/metadata/name"), ["PrefixTransformer web -> blue-web kustomization.yaml:2"]);
    assert_eq!(of("Deployment", "/metadata/namespace"), ["NamespaceTransformer none -> north kustomization.yaml:3"]);
    assert_eq!(of("Deployment", "/metadata/labels/tier"), ["LabelTransformer none -> front kustomization.yaml:4"]);
    assert_eq!(
        of("Deployment", "/spec/replicas"),
        [
            "PatchTransformer 1 -> 3 kustomization.yaml:3",
            "PatchTransformer 3 -> 4 kustomization.yaml:3",
            "Copy 4 -> 5 copy.yaml:1",
        ]
    );
    assert_eq!(of("Deployment", "/metadata/annotations/old"), ["PatchTransformer 1 -> none kustomization.yaml:3"]);
    let image = "/spec/template/spec/containers/0/image";
    assert_eq!(of("Deployment", image), ["ImageTagTransformer nginx -> nginx:v2 kustomization.yaml:2"]);
    let reference = "/spec/template/spec/containers/0/envFrom/0/configMapRef/name";
    let references = of("Deployment", reference);
    assert!(references[0].starts_with("NameReferenceTransformer settings -> blue-settings-"), "{references:?}");
    assert_eq!(of("ConfigMap", ""), ["ConfigMapGenerator none -> none kustomization.yaml:5"]);
    assert_eq!(of("ConfigMap", "/data/replicas"), ["ReplacementTransformer 0 -> 4 kustomization.yaml:13"]);
    let names = of("ConfigMap", "/metadata/name");
    assert_eq!(names[0], "PrefixTransformer settings -> blue-settings kustomization.yaml:2");
    assert!(names[1].starts_with("HashTransformer blue-settings -> blue-settings-"), "{names:?}");
}

#[test]
fn trace_shows_removed_and_added_resources() {
    let files = Memory::from_iter([
        (
            "kustomization.yaml",
            "resources: [a.yaml, b.yaml]\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, $patch: delete}'}]\n",
        ),
        ("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
        ("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"),
    ]);
    let options = Options { trace: true, ..Options::default() };
    let workspace = Workspace::new();
    let output = build(&workspace, &files, ".", &options).value.unwrap();
    let writes: Vec<_> = output.writes().map(|write| (write.step, write.resource.name, &*write.path)).collect();
    assert_eq!(writes, [("resources", "a", ""), ("PatchTransformer", "a", ""), ("resources", "b", "")]);
    let untraced = build(&workspace, &files, ".", &Options::default()).value.unwrap();
    assert_eq!(untraced.writes().count(), 0);
}

/// Every root of every case, with a trace and without one.
#[test]
fn a_trace_changes_no_byte() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let (mut built, mut writes) = (0, 0);
    for case in files(&testdata, ".txtar") {
        let (_, files) = split(&fs::read_to_string(&case).unwrap());
        let is_root = |name: &str| matches!(name.rsplit('/').next(), Some("kustomization.yaml"));
        let roots: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).filter(|name| is_root(name)).collect();
        let memory = Memory::from_iter(files.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        for root in roots {
            let directory = root.rsplit_once('/').map_or(".", |(directory, _)| directory);
            let (plain, traced) = (Workspace::new(), Workspace::new());
            let options = Options { trace: true, ..Options::default() };
            let plain = build(&plain, &memory, directory, &Options::default());
            let traced = build(&traced, &memory, directory, &options);
            writes += traced.value.as_ref().map_or(0, |output| output.writes().count());
            built += usize::from(traced.value.is_ok());
            let [plain, traced] = [plain, traced].map(|built| {
                let printed = built.value.and_then(|output| output.print()).map_err(|e| e.to_string());
                (printed, built.warnings.iter().map(ToString::to_string).collect::<Vec<_>>())
            });
            assert_eq!(plain, traced, "{}: {directory}", case.display());
        }
    }
    assert!(built > 200 && writes > 1_000, "{built} built, {writes} writes");
}
