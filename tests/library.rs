//! The face of the library: builds from disk, from memory, and from the disk under texts that are
//! not saved yet.

use crate::support::Tree;
use rustomize::diag::{Result, Severity};
use rustomize::load::loader::{Entry, NotOpened, Opened};
use rustomize::load::{Disk, Loader, Memory, Overlay};
use rustomize::{Children, Options, PluginOptions, Runners, Workspace, build};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Threads of one program can share these.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Disk>();
    is_shared::<Memory>();
    is_shared::<Overlay<Disk>>();
    is_shared::<Options>();
};

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n";

fn printed(workspace: &Workspace, loader: &dyn Loader, root: &str) -> Result<String> {
    build(workspace, loader, root, &Options::default()).value?.print()
}

/// Roots that would leave something behind if a build left anything: a schema of their own, the
/// built-in one used or chosen, configurations, vars, origins.
fn roots() -> Memory {
    let schema = r#"{"definitions": {"io.ex.v1.Thing": {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"type": "object"},
            "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}},
        "x-kubernetes-group-version-kind": [{"group": "ex.io", "kind": "Thing", "version": "v1"}]}}}"#;
    let thing = "apiVersion: ex.io/v1\nkind: Thing\nmetadata: {name: t}\nitems:\n- {name: a, v: 1}\n";
    let patch = "patches:\n- patch: |\n    apiVersion: ex.io/v1\n    kind: Thing\n    metadata: {name: t}\n    items:\n    - {name: b, v: 2}\n";
    Memory::from_iter([
        ("own/kustomization.yaml", format!("resources: [t.yaml]\nopenapi: {{path: schema.json}}\n{patch}")),
        ("own/schema.json", schema.to_owned()),
        ("own/t.yaml", thing.to_owned()),
        ("none/kustomization.yaml", format!("resources: [t.yaml]\n{patch}")),
        ("none/t.yaml", thing.to_owned()),
        ("builtin/kustomization.yaml", format!("resources: [t.yaml]\nopenapi: {{version: v1.21.2}}\n{patch}")),
        ("builtin/t.yaml", thing.to_owned()),
        ("origins/kustomization.yaml", "resources: [../none]\nbuildMetadata: [originAnnotations]\n".to_owned()),
        ("prefix/kustomization.yaml", "resources: [../none]\nnamePrefix: p-\nconfigurations: [c.yaml]\n".to_owned()),
        ("prefix/c.yaml", "namePrefix:\n- {path: metadata/name, kind: Thing}\n".to_owned()),
        ("broken/kustomization.yaml", "resources: [nothing.yaml]\n".to_owned()),
    ])
}

#[test]
fn builds_of_one_workspace_give_what_each_alone_gives_in_any_order() {
    let files = roots();
    let names = ["own", "none", "builtin", "origins", "prefix", "broken"];
    let alone = names.map(|root| printed(&Workspace::new(), &files, root).map_err(|e| e.to_string()));
    assert!(alone[..5].iter().all(Result::is_ok) && alone[5].is_err(), "{alone:?}");
    assert_ne!(alone[0], alone[1], "the schema counts");
    for shift in 0..names.len() {
        let workspace = Workspace::new();
        for i in (0..2 * names.len()).map(|i| (i * (shift + 1) + shift) % names.len()) {
            let got = printed(&workspace, &files, names[i]).map_err(|e| e.to_string());
            assert_eq!(got, alone[i], "{} in the order {shift}", names[i]);
        }
    }
}

#[test]
fn outputs_live_as_long_as_their_workspace() {
    let files = roots();
    let workspace = Workspace::new();
    let outputs = ["none", "prefix"].map(|root| build(&workspace, &files, root, &Options::default()).value.unwrap());
    assert!(outputs[0].print().unwrap().contains("name: t\n"));
    let read: Vec<String> = outputs[1].files().iter().map(|file| file.to_string_lossy().into_owned()).collect();
    let want = ["/none/kustomization.yaml", "/none/t.yaml", "/prefix/c.yaml", "/prefix/kustomization.yaml"];
    assert_eq!(read, want);
    let prefixed = outputs[1].print().unwrap();
    assert!(prefixed.contains("name: p-"), "{prefixed}");
}

#[test]
fn memory_is_restricted_as_the_disk_is() {
    let files = Memory::from_iter([
        ("app/kustomization.yaml", "resources: [../other/service.yaml]\n"),
        ("other/service.yaml", SERVICE),
        ("cycle/kustomization.yaml", "resources: [../cycle]\n"),
    ]);
    let error = printed(&Workspace::new(), &files, "app").unwrap_err().to_string();
    assert!(error.contains("security; file '/other/service.yaml' is not in or below '/app'"), "{error}");
    let error = printed(&Workspace::new(), &files, "cycle").unwrap_err().to_string();
    assert!(error.contains("cycle"), "{error}");
    let error = printed(&Workspace::new(), &files, "none").unwrap_err().to_string();
    assert!(error.contains("'none': no such file or directory"), "{error}");
}

#[test]
fn texts_that_are_not_saved_count_over_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("kustomization.yaml"), "resources: [service.yaml]\n").unwrap();
    std::fs::write(root.join("service.yaml"), SERVICE).unwrap();
    let shown = root.to_string_lossy();
    let saved = printed(&Workspace::new(), &Disk::new(), &shown).unwrap();
    let mut above = Memory::new();
    above.set(root.join("kustomization.yaml"), "resources: [service.yaml, new.yaml]\n");
    above.set(root.join("new.yaml"), SERVICE.replace("web", "new"));
    let overlay = Overlay::new(Disk::new(), above);
    let unsaved = printed(&Workspace::new(), &overlay, &shown).unwrap();
    assert!(saved.contains("name: web") && !saved.contains("name: new"), "{saved}");
    assert!(unsaved.contains("name: web") && unsaved.contains("name: new"), "{unsaved}");
}

/// Fails at the nth file.
struct Failing {
    files: Memory,
    left: std::sync::atomic::AtomicUsize,
}

impl Loader for Failing {
    fn directory(&self, path: &Path) -> io::Result<PathBuf> {
        self.files.directory(path)
    }

    fn open(&self, path: &Path) -> std::result::Result<Opened, NotOpened> {
        use std::sync::atomic::Ordering;
        let is_there = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok();
        if is_there { self.files.open(path) } else { Err(io::Error::other("the server has gone").into()) }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.files.list(directory)
    }
}

/// So many bases, and so many components, need more stack than a thread has.
#[test]
fn layers_upon_layers_are_built() {
    let mut files = roots();
    files.set("b0/kustomization.yaml", "resources: [map.yaml]\n");
    files.set("b0/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    files.set("c0/kustomization.yaml", "kind: Component\nnamePrefix: c-\n");
    for (i, above) in (0..1_000).zip(1..) {
        files.set(format!("b{above}/kustomization.yaml"), format!("resources: [../b{i}]\n"));
        files.set(format!("c{above}/kustomization.yaml"), format!("kind: Component\ncomponents: [../c{i}]\n"));
    }
    files.set("top/kustomization.yaml", "resources: [../b1000]\ncomponents: [../c1000]\n");
    let printed = printed(&Workspace::new(), &files, "top").unwrap();
    assert_eq!(printed, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c-m\n");
}

#[test]
fn a_loader_that_fails_in_the_middle_fails_the_build() {
    let whole = printed(&Workspace::new(), &roots(), "prefix").unwrap();
    let mut failed = 0;
    for n in 0.. {
        let loader = Failing { files: roots(), left: n.into() };
        match printed(&Workspace::new(), &loader, "prefix") {
            Ok(output) => {
                assert_eq!(output, whole);
                break;
            }
            Err(e) => {
                assert!(e.to_string().contains("the server has gone"), "after {n} files: {e}");
                failed += 1;
            }
        }
    }
    assert!(failed > 3, "it failed {failed} times");
}

#[test]
fn errors_and_warnings_have_places() {
    let files = Memory::from_iter([
        ("base/kustomization.yaml", "resources: [a.yaml]\nnamePrefix: p-\ncommonLabels: {a: b}\n"),
        ("base/a.yaml", "kind: Role\nmetadata: {name: a}\n"),
        ("kustomization.yaml", "resources:\n- base\npatches:\n- patch: |\n\n    kind: Role\n    metadata: {name: b}\n"),
    ]);
    let workspace = Workspace::new();
    let built = build(&workspace, &files, ".", &Options::default());
    let [warning] = built.warnings.as_slice() else { panic!("{:?}", built.warnings) };
    assert_eq!(warning.place().map(ToString::to_string).as_deref(), Some("base/kustomization.yaml:3:1"));
    let Err(error) = built.value else { panic!("it builds") };
    assert!(error.message().contains("no resource matches"), "{error}");
    assert_eq!(error.place().map(ToString::to_string).as_deref(), Some("kustomization.yaml:6:5"));
}

/// The parts of an error that programs read, each by itself.
#[test]
fn errors_are_data() {
    let files = Memory::from_iter([
        ("base/kustomization.yaml", "resources: [a.yaml]\npatches:\n- path: p.yaml\n"),
        (
            "base/a.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: c}]}}}\n",
        ),
        (
            "base/p.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec: wrong\n",
        ),
        ("kustomization.yaml", "resources:\n- base\n"),
        ("typo/kustomization.yaml", "commonLables: {}\n"),
        ("twice/kustomization.yaml", "resources: [a.yaml, a.yaml]\n"),
        ("twice/a.yaml", "kind: Role\nmetadata: {name: a}\n"),
    ]);
    let workspace = Workspace::new();
    let fault = |root: &str| build(&workspace, &files, root, &Options::default()).value.map(drop).unwrap_err();
    let error = fault(".");
    assert_eq!((error.severity(), error.code().as_str()), (Severity::Error, "wrong-type"));
    assert_eq!(error.place().map(ToString::to_string).as_deref(), Some("base/p.yaml:6:11"));
    assert_eq!(error.field().as_deref(), Some("spec.template.spec"));
    assert_eq!(error.resource(), Some("apps/v1 Deployment a"));
    let chain: Vec<_> = error.chain().iter().map(|link| link.place().map(ToString::to_string)).collect();
    assert_eq!(chain.last(), Some(&Some("kustomization.yaml:2:3".to_owned())), "{error}");
    assert!(chain.contains(&Some("base/kustomization.yaml:3:3".to_owned())), "{chain:?}");
    let error = fault("typo");
    assert_eq!(
        (error.code().as_str(), error.hints()),
        ("unknown-field", &["did you mean 'commonLabels'?".to_owned()][..])
    );
    let error = fault("twice");
    assert_eq!((error.code().as_str(), error.resource()), ("duplicate-id", Some("Role a")));
    let warnings = build(&workspace, &roots(), "own", &Options::default()).warnings;
    assert!(warnings.is_empty(), "{warnings:?}");
    let old = Memory::from_iter([("kustomization.yaml", "commonLabels: {a: b}\n")]);
    let warnings = build(&workspace, &old, ".", &Options::default()).warnings;
    assert_eq!((warnings[0].severity(), warnings[0].code().as_str()), (Severity::Warning, "deprecated"));
}

/// A server ends a build whose plugin hangs: the plugin and its directory go, and the next build
/// runs, with children of its own.
#[test]
fn a_build_can_be_ended_and_the_next_one_runs() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [slow.yaml]\n\
         -- slow.yaml --\napiVersion: example.com/v1\nkind: Slow\nmetadata: {name: slow}\n",
    );
    let home = tree.path().join("plugins");
    let program = home.join("example.com/v1/slow/Slow");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let write = |script: &str| {
        fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let started = tree.path().join("started");
    let options = |children: &Children| {
        let children = children.clone();
        let plugins = PluginOptions { enabled: true, homes: vec![home.clone()], children, ..PluginOptions::default() };
        Options { plugins: Arc::new(Runners::new(plugins)), ..Options::default() }
    };
    let disk = Disk::new();
    let root = tree.path().to_string_lossy().into_owned();
    write(&format!("echo \"$1\" > {0}.new; mv {0}.new {0}; exec sleep 1000", started.display()));
    let (first, second) = (Children::new(), Children::new());
    std::thread::scope(|scope| {
        let hanging = scope.spawn(|| build(&Workspace::new(), &disk, &root, &options(&first)).value.map(drop));
        while !started.exists() {
            std::thread::yield_now();
        }
        first.end();
        assert!(hanging.join().unwrap().is_err());
    });
    let configuration = fs::read_to_string(&started).unwrap();
    assert!(!Path::new(configuration.trim()).exists());
    write("echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: done}}'");
    let workspace = Workspace::new();
    let output = build(&workspace, &disk, &root, &options(&second)).value.unwrap();
    assert!(output.print().unwrap().contains("name: done"));
    // A build that was ended starts nothing any more.
    assert!(build(&workspace, &disk, &root, &options(&first)).value.is_err());
}
