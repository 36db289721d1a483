//! Programs that call kustomize: each test runs the commands of one of them, in its order, with its
//! arguments and file names. It runs them twice, with `kustomize` on PATH being this tool and being
//! kustomize (`.ci/oracle`), and compares status, stdout and files. The root of the file
//! system and the home are read-only, as in the containers of these programs: only the tree and
//! TMPDIR can be written to.
//!
//! Flux calls no program, but the Go library of kustomize: docs/gitops/flux.md.

use crate::support::edit::{essence, kustomization};
use crate::support::reference::kustomize;
use crate::support::{Run, Tree, files, git, in_path, run, skip};
use rustomize::Compat;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Makes all but `$TREE` and `$TMPDIR` read-only, and runs its arguments in `$PLACE`.
const READ_ONLY: &str = r#"set -e
for place in "$TREE" "$TMPDIR" "$HOME"; do mount --bind "$place" "$place"; done
for place in / /tmp "$HOME"; do ! mountpoint -q "$place" || mount -o remount,bind,ro "$place"; done
cd "$PLACE"
exec "$@""#;

/// The arguments of `unshare` for mounts of one's own: an ordinary user needs to be root in a
/// namespace.
fn unshare() -> &'static [&'static str] {
    if rustix::process::geteuid().is_root() { &["-m"] } else { &["-rm"] }
}

/// True where a test can make its mounts read-only; elsewhere a message says so.
static CAN_BE_READ_ONLY: LazyLock<bool> = LazyLock::new(|| {
    let world = World::new("", Path::new("/bin/true"), true);
    let script =
        "! touch /made 2>/dev/null && ! touch \"$HOME/made\" 2>/dev/null && touch \"$TMPDIR/made\" \"$TREE/made\"";
    let can = world.run(".", &["sh", "-c", script]).status == Some(0);
    if !can {
        skip("unshare cannot make mounts read-only: callers run in a file system that can be written to");
    }
    can
});

/// A tree, and the `kustomize` that is on PATH there.
struct World {
    tree: Tree,
    is_read_only: bool,
}

impl World {
    fn new(txtar: &str, program: &Path, is_read_only: bool) -> World {
        let tree = Tree::new(txtar);
        let bin = tree.home().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(program, bin.join("kustomize")).unwrap();
        World { tree, is_read_only }
    }

    /// Runs a program of PATH in a directory of the tree.
    fn run(&self, place: &str, words: &[&str]) -> Run {
        let tree = self.tree.path().canonicalize().unwrap();
        let words = words.iter().map(|word| word.replace("{tree}", &tree.to_string_lossy()));
        let (program, first): (&str, &[&str]) = if self.is_read_only { ("unshare", unshare()) } else { ("sh", &[]) };
        let script = if self.is_read_only { READ_ONLY } else { "cd \"$PLACE\"\nexec \"$@\"" };
        #[expect(clippy::disallowed_methods, reason = "callers start programs")]
        let mut command = Command::new(program);
        command.args(first);
        if self.is_read_only {
            command.arg("sh");
        }
        command.args(["-c", script, "sh"]).args(words).env_clear();
        let path = std::env::var_os("PATH").unwrap();
        let path = format!("{}:{}", self.tree.home().join("bin").display(), path.to_string_lossy());
        command.env("PATH", path).env("HOME", self.tree.home()).env("TMPDIR", self.tree.tmp());
        command.env("TREE", &tree).env("PLACE", tree.join(place));
        run(&mut command)
    }

    /// The files of the tree: kustomizations as they are read, the others as they are.
    fn files(&self) -> BTreeMap<PathBuf, Value> {
        let name = |path: &Path| path.strip_prefix(self.tree.path()).unwrap().to_owned();
        let value = |path: &Path| {
            let text = fs::read_to_string(path).unwrap();
            let is_kustomization = path.file_name().is_some_and(|name| name == "kustomization.yaml");
            if is_kustomization { json!(essence(&kustomization(&text))) } else { json!(text) }
        };
        files(&self.tree.path(), "").iter().map(|path| (name(path), value(path))).collect()
    }
}

/// The newest kustomize, or whatever kustomize is on PATH.
fn oracle() -> Option<PathBuf> {
    let built = kustomize();
    if built.is_file() { Some(built) } else { in_path("kustomize") }
}

/// A step of a caller: the directory below the tree in which it runs, and its words.
type Step<'s> = (&'s str, &'s [&'s str]);

/// Status and stdout of each of a caller's steps, and the files at the end.
type Outcome = (Vec<(Option<i32>, String)>, BTreeMap<PathBuf, Value>);

fn outcome(program: &Path, txtar: &str, steps: &[Step<'_>]) -> Outcome {
    let world = World::new(txtar, program, *CAN_BE_READ_ONLY);
    let tree = world.tree.path().canonicalize().unwrap().to_string_lossy().into_owned();
    let mut runs = Vec::new();
    for (place, words) in steps {
        let done = world.run(place, words);
        assert_eq!(done.status, Some(0), "{}: {words:?}: {}", program.display(), done.stderr);
        runs.push((done.status, done.stdout.replace(&tree, "TREE")));
    }
    world.tree.assert_nothing_left();
    (runs, world.files())
}

/// Runs the steps of a caller with this tool, and gives what they printed; compares that and the
/// files with what they are with kustomize.
#[track_caller]
fn check(txtar: &str, steps: &[Step<'_>]) -> Vec<String> {
    let ours = outcome(Path::new(crate::support::program()), txtar, steps);
    match oracle() {
        Some(oracle) => assert_eq!(ours, outcome(&oracle, txtar, steps)),
        None => skip("no kustomize to compare with: run .ci/oracle"),
    }
    ours.0.into_iter().map(|(_, stdout)| stdout).collect()
}

/// An application with a base, a component and an overlay.
const SHOP: &str = "\
-- base/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- deployment.yaml
-- base/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: web:1
      - name: side
        image: nginx
-- component/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
commonAnnotations: {component: here}
-- overlay/kustomization.yaml --
# The shop.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../base
configMapGenerator:
- name: settings
  literals: [log=debug]
";

/// `util/kustomize/kustomize.go` of argoproj/argo-cd: `Build` edits the checked-out tree, then
/// builds the absolute path from the root of the repository. Without overrides it only builds.
#[test]
fn argo_cd() {
    let edits: &[Step<'_>] = &[
        ("overlay", &["kustomize", "edit", "set", "nameprefix", "--", "-odd-"]),
        ("overlay", &["kustomize", "edit", "set", "nameprefix", "--", "staging-"]),
        ("overlay", &["kustomize", "edit", "set", "namesuffix", "--", "-blue"]),
        (
            "overlay",
            &[
                "kustomize",
                "edit",
                "set",
                "image",
                "web=registry.example/shop/web:1.5",
                "nginx@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3",
            ],
        ),
        ("overlay", &["kustomize", "edit", "set", "replicas", "web=3"]),
        (
            "overlay",
            &["kustomize", "edit", "add", "label", "--force", "--without-selector", "--include-templates", "team:blue"],
        ),
        ("overlay", &["kustomize", "edit", "add", "annotation", "--force", "note:x y:z"]),
        ("overlay", &["kustomize", "edit", "set", "namespace", "--", "shop"]),
        ("overlay", &["kustomize", "edit", "add", "component", "../component"]),
        (".", &["kustomize", "build", "{tree}/overlay", "--load-restrictor", "LoadRestrictionsNone"]),
        (".", &["kustomize", "build", "{tree}/overlay"]),
    ];
    let printed = check(SHOP, edits);
    assert_eq!(printed[9], printed[10]);
    for words in ["name: staging-web-blue\n", "namespace: shop\n", "replicas: 3\n", "team: blue\n", "component: here\n"]
    {
        assert!(printed[10].contains(words), "{words}:\n{}", printed[10]);
    }
    // Labels without flags, as an Application with commonLabels alone has them.
    check(
        SHOP,
        &[
            ("overlay", &["kustomize", "edit", "add", "label", "a:b", "c:d"]),
            (".", &["kustomize", "build", "{tree}/overlay"]),
        ],
    );
}

/// Argo CD reads the version to decide whether components and capabilities of helm are allowed.
#[test]
fn argo_cd_reads_the_version() {
    let read = |program: &Path| {
        let world = World::new("", program, *CAN_BE_READ_ONLY);
        let printed = world.run(".", &["kustomize", "version", "--short"]).ok();
        // What `versionWithBinaryPath` and `getSemver` do with it.
        let text = printed.trim().trim_start_matches('{').trim_end_matches('}').trim().replace("  ", " ");
        let text = text.trim_start_matches("kustomize/").trim_start_matches('v').to_owned();
        text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>()
    };
    assert_eq!(read(Path::new(crate::support::program())), Compat::default().version());
    let built = kustomize();
    if built.is_file() {
        assert_eq!(read(&built), Compat::default().version());
    }
}

/// A remote base where only TMPDIR can be written to: the clones are kept there. git is real, and
/// so is the repository.
#[test]
fn argo_cd_with_a_remote_base() {
    let prepare = |tree: &Tree| {
        let repository = tree.home().join("remote");
        fs::create_dir(&repository).unwrap();
        git(&repository, &["init", "-q", "-b", "main"]);
        fs::create_dir(repository.join("app")).unwrap();
        fs::write(repository.join("app/kustomization.yaml"), "resources: [map.yaml]\n").unwrap();
        fs::write(repository.join("app/map.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: remote}\n")
            .unwrap();
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-q", "-m", "app"]);
        let text = format!("resources:\n- file://{}//app?ref=main\n", repository.canonicalize().unwrap().display());
        tree.write("app/kustomization.yaml", &text);
    };
    let built = |program: &Path| {
        let world = World::new("", program, *CAN_BE_READ_ONLY);
        prepare(&world.tree);
        let first = world.run("app", &["kustomize", "edit", "set", "nameprefix", "--", "p-"]);
        assert_eq!(first.status, Some(0), "{}", first.stderr);
        let twice = [(); 2].map(|()| world.run(".", &["kustomize", "build", "{tree}/app"]).ok());
        assert_eq!(twice[0], twice[1]);
        world.tree.assert_nothing_left();
        let cache = world.tree.tmp().join(format!("rustomize-{}/git", rustix::process::geteuid().as_raw()));
        (twice[0].clone(), cache.is_dir())
    };
    let (printed, is_cached) = built(Path::new(crate::support::program()));
    assert!(is_cached || !*CAN_BE_READ_ONLY, "the clone is kept for the next build");
    assert!(printed.contains("name: p-remote\n"), "{printed}");
    match oracle() {
        Some(oracle) => assert_eq!(printed, built(&oracle).0),
        None => skip("no kustomize to compare with: run .ci/oracle"),
    }
}

/// `kustomize.go` and `patch.go` of helmfile/chartify, by which helmfile renders a kustomization as
/// a chart: edits in a directory of its own, then builds with the output in front of the command.
#[test]
fn helmfile() {
    let tree =
        &format!("{SHOP}-- work/kustomization.yaml --\nkind: \"\"\napiversion: \"\"\nresources:\n- ../overlay\n");
    let printed = check(
        tree,
        &[
            ("work", &["kustomize", "version"]),
            (
                "work",
                &[
                    "kustomize",
                    "edit",
                    "set",
                    "image",
                    "web=registry.example/web:2@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3",
                ],
            ),
            ("work", &["kustomize", "edit", "set", "nameprefix", "acme-"]),
            ("work", &["kustomize", "edit", "set", "namesuffix", "--", "-acme"]),
            ("work", &["kustomize", "edit", "set", "namespace", "shop"]),
            (
                "work",
                &[
                    "kustomize",
                    "-o",
                    "{tree}/kustomized.yaml",
                    "build",
                    "--enable-alpha-plugins",
                    "--load-restrictor=LoadRestrictionsNone",
                    "--enable-helm",
                    "{tree}/work",
                ],
            ),
            (
                "work",
                &[
                    "kustomize",
                    "--output",
                    "{tree}/all.patched.yaml",
                    "build",
                    "--enable-alpha-plugins",
                    "{tree}/overlay",
                ],
            ),
            (
                "work",
                &[
                    "kustomize",
                    "build",
                    "{tree}/overlay",
                    "--output",
                    "{tree}/helmx.2.patched.yaml",
                    "--enable-alpha-plugins",
                ],
            ),
        ],
    );
    assert_eq!(printed[1..], [""; 7], "{printed:?}");
}

/// `pkg/skaffold/render/renderer/kustomize/kustomize.go` of GoogleContainerTools/skaffold: build
/// arguments, then the path. It asks for the version first (`KustomizeBinaryCheck`).
#[test]
fn skaffold() {
    let steps: &[Step<'_>] = &[
        (".", &["kustomize", "version"]),
        (".", &["kustomize", "build", "--load-restrictor", "LoadRestrictionsNone", "--reorder", "none", "overlay"]),
        (".", &["kustomize", "build", "overlay"]),
    ];
    assert!(check(SHOP, steps)[1].contains("kind: Deployment\n"));
}

/// `internal/tiltfile/files.go` of tilt-dev/tilt: flags, then a path from the working directory.
#[test]
fn tilt() {
    check(
        SHOP,
        &[
            (".", &["kustomize", "build", "--enable-helm", "--load-restrictor=LoadRestrictionsRootOnly", "overlay"]),
            ("overlay", &["kustomize", "build", "."]),
            ("component", &["kustomize", "build", "../base"]),
        ],
    );
}

/// `pkg/devspace/deploy/deployer/kubectl/builder.go` of devspace-sh/devspace: the path, then the
/// arguments of the deployment.
#[test]
fn devspace() {
    check(
        SHOP,
        &[
            (".", &["kustomize", "build", "overlay"]),
            (
                ".",
                &[
                    "kustomize",
                    "build",
                    "overlay",
                    "--load-restrictor",
                    "LoadRestrictionsNone",
                    "--enable-alpha-plugins",
                ],
            ),
        ],
    );
}

/// `KustomizeTemplateUtils.java` of spinnaker/rosco: it downloads the files below a directory, and
/// builds that.
#[test]
fn rosco() {
    check(SHOP, &[(".", &["kustomize", "build", "{tree}/overlay"])]);
}

/// `testdata/project-v4/Makefile` of kubernetes-sigs/kubebuilder: the recipes of `build-installer`
/// and `deploy`, run by make, with a kubectl that keeps what it is given.
#[test]
fn kubebuilder() {
    if in_path("make").is_none() {
        return skip("no make");
    }
    const PROJECT: &str = "\
-- Makefile --
IMG ?= controller:latest
KUSTOMIZE ?= kustomize
KUBECTL ?= ./kubectl
SHELL = /usr/bin/env bash -o pipefail
.SHELLFLAGS = -ec

build-installer:
\tmkdir -p dist
\tcd config/manager && $(KUSTOMIZE) edit set image controller=${IMG}
\t$(KUSTOMIZE) build config/default > dist/install.yaml

deploy:
\tcd config/manager && $(KUSTOMIZE) edit set image controller=${IMG}
\t$(KUSTOMIZE) build config/default | $(KUBECTL) apply -f -

install:
\t$(KUSTOMIZE) build config/crd | $(KUBECTL) apply -f -
-- kubectl --
#!/bin/sh
cat >> applied.yaml
-- config/crd/kustomization.yaml --
resources:
- bases/guest.yaml
# +kubebuilder:scaffold:crdkustomizeresource
-- config/crd/bases/guest.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: guests.example.com
spec: {group: example.com}
-- config/manager/kustomization.yaml --
resources:
- manager.yaml
-- config/manager/manager.yaml --
apiVersion: v1
kind: Namespace
metadata:
  name: system
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: controller-manager
  namespace: system
spec:
  template:
    spec:
      containers:
      - image: controller:latest
        name: manager
-- config/default/kustomization.yaml --
namespace: project-system
namePrefix: project-
resources:
- ../crd
- ../manager
#- ../prometheus
patches:
# [METRICS] The following patch will enable the metrics endpoint.
- path: manager_metrics_patch.yaml
  target:
    kind: Deployment
-- config/default/manager_metrics_patch.yaml --
- op: add
  path: /spec/template/spec/containers/0/args
  value: ['--metrics-bind-address=:8443']
";
    check(
        PROJECT,
        &[
            (".", &["make", "-s", "install"]),
            (".", &["make", "-s", "deploy", "IMG=registry.example/controller:v1"]),
            (".", &["make", "-s", "build-installer", "IMG=registry.example/controller:v2"]),
        ],
    );
}
