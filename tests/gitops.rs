//! Builds where GitOps runs them: hooks of git and of pre-commit, post-renderers, KRM functions.

use crate::support::reference::kustomize;
use crate::support::{Run, Tree, git, in_path, run, skip};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SHOP: &str = "\
-- base/kustomization.yaml --
resources: [map.yaml]
-- base/map.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
-- overlays/north/kustomization.yaml --
resources: [../../base]
namePrefix: north-
-- overlays/south/kustomization.yaml --
resources: [../../base]
namePrefix: south-
-- notes.txt --
notes
";

/// A repository with [`SHOP`] as its first commit, and the tool on PATH.
fn repository() -> Tree {
    let tree = Tree::new(SHOP);
    let bin = tree.home().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(crate::support::program(), bin.join("rustomize")).unwrap();
    git(&tree.path(), &["init", "-q", "-b", "main"]);
    git(&tree.path(), &["config", "user.name", "t"]);
    git(&tree.path(), &["config", "user.email", "t@example.com"]);
    git(&tree.path(), &["add", "."]);
    git(&tree.path(), &["commit", "-q", "-m", "first"]);
    tree
}

/// A program of PATH in the repository, as its user runs it.
fn user(tree: &Tree, words: &[&str]) -> Run {
    #[expect(clippy::disallowed_methods, reason = "what a user types")]
    let mut command = Command::new(words[0]);
    let path = format!("{}:{}", tree.home().join("bin").display(), std::env::var_os("PATH").unwrap().to_string_lossy());
    command.args(&words[1..]).current_dir(tree.path()).env_clear().stdin(Stdio::null());
    command.env("PATH", path).env("HOME", tree.home()).env("TMPDIR", tree.tmp()).envs(&tree.variables);
    run(&mut command)
}

fn commits(tree: &Tree) -> usize {
    git(&tree.path(), &["rev-list", "HEAD"]).lines().count()
}

#[test]
fn a_commit_that_does_not_build_is_refused() {
    let tree = repository();
    user(&tree, &["rustomize", "hook", "install"]).ok();
    let hook = tree.path().join(".git/hooks/pre-commit");
    assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(fs::read_to_string(&hook).unwrap().ends_with("\nexec rustomize hook run pre-commit\n"));
    let commit = |tree: &Tree| user(tree, &["git", "commit", "-q", "-m", "next"]);
    // A commit succeeds if it affects no kustomization, or if all that it affects build.
    tree.write("notes.txt", "other\n");
    tree.write("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n");
    git(&tree.path(), &["add", "."]);
    commit(&tree).ok();
    assert_eq!(commits(&tree), 2);
    // A broken base is refused, once for all overlays, with the place of the fault.
    tree.write("base/map.yaml", "apiVersion: v1\nkind: [\n");
    git(&tree.path(), &["add", "."]);
    let refused = commit(&tree);
    assert_eq!((refused.status, commits(&tree)), (Some(1), 2), "{}", refused.stderr);
    for words in ["the staged files do not build", "base/map.yaml:", "in base, overlays/north, overlays/south"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    // The index counts, and not the working tree: neither a repair that is not staged, nor a
    // file that git does not know.
    tree.write("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n");
    assert_eq!(commit(&tree).status, Some(1));
    tree.write("overlays/north/kustomization.yaml", "resources: [../../base, new.yaml]\n");
    tree.write("overlays/north/new.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n");
    git(&tree.path(), &["add", "base", "overlays/north/kustomization.yaml"]);
    let refused = commit(&tree);
    assert!(refused.status == Some(1) && refused.stderr.contains("'new.yaml'"), "{}", refused.stderr);
    git(&tree.path(), &["add", "."]);
    commit(&tree).ok();
    // A deleted file, and `commit -a`, which has an index of its own.
    fs::remove_file(tree.path().join("overlays/north/new.yaml")).unwrap();
    let refused = user(&tree, &["git", "commit", "-q", "-a", "-m", "gone"]);
    assert!(refused.status == Some(1) && refused.stderr.contains("in overlays/north"), "{}", refused.stderr);
    assert_eq!(commits(&tree), 3);
    user(&tree, &["git", "commit", "-q", "--no-verify", "-a", "-m", "gone"]).ok();
    assert_eq!(commits(&tree), 4);
    // A root that the commit does not affect may be broken.
    tree.write("overlays/south/kustomization.yaml", "resources: [../../base]\nnamePrefix: s-\n");
    user(&tree, &["git", "commit", "-q", "-a", "-m", "south"]).ok();
    tree.assert_nothing_left();
}

#[test]
fn a_push_that_does_not_build_is_refused() {
    let tree = repository();
    let remote = tree.home().join("remote.git");
    git(&tree.home(), &["init", "-q", "--bare", "remote.git"]);
    git(&tree.path(), &["remote", "add", "origin", &remote.to_string_lossy()]);
    user(&tree, &["rustomize", "hook", "install", "--pre-push", "--", "--load-restrictor", "LoadRestrictionsNone"])
        .ok();
    let hook = fs::read_to_string(tree.path().join(".git/hooks/pre-push")).unwrap();
    assert!(hook.ends_with("hook run pre-push -- --load-restrictor LoadRestrictionsNone\n"), "{hook}");
    let push = |what: &str| user(&tree, &["git", "push", "-q", "origin", what]);
    push("main").ok();
    tree.write("base/map.yaml", "kind: [\n");
    git(&tree.path(), &["commit", "-q", "-a", "-m", "broken"]);
    let refused = push("main");
    assert_eq!(refused.status, Some(1));
    for words in ["the commits for refs/heads/main do not build", "base/map.yaml:", "overlays/north"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    assert_eq!(push("main:other").status, Some(1), "a branch that the remote does not have");
    assert_eq!(git(&remote, &["rev-list", "main"]).lines().count(), 1);
    // The pushed commit counts, and not the working tree.
    push("main~1:refs/heads/old").ok();
    tree.write("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    assert_eq!(push("main").status, Some(1));
    git(&tree.path(), &["commit", "-q", "-a", "-m", "repaired"]);
    push("main").ok();
    push(":old").ok();
    tree.assert_nothing_left();
}

#[test]
fn hooks_of_others_stay() {
    let tree = repository();
    let hook = tree.path().join(".git/hooks/pre-commit");
    let foreign = "#!/bin/sh\nexit 0\n";
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, foreign).unwrap();
    let hook_command = |words: &[&str]| tree.run(&[&["hook"], words].concat());
    hook_command(&["install"]).fails_with(&["was not installed", "rustomize hook run pre-commit", "--force"]);
    hook_command(&["uninstall"]).fails_with(&["was not installed by rustomize, and is kept"]);
    assert_eq!(fs::read_to_string(&hook).unwrap(), foreign);
    hook_command(&["install", "--force", "--", "--helm-command", "a helm's"]).ok();
    let text = fs::read_to_string(&hook).unwrap();
    assert!(text.ends_with(" hook run pre-commit -- --helm-command 'a helm'\\''s'\n"), "{text}");
    // It is installed again with other flags, and removed.
    hook_command(&["install"]).ok();
    assert!(fs::read_to_string(&hook).unwrap().ends_with(" hook run pre-commit\n"));
    hook_command(&["uninstall"]).ok();
    assert!(!hook.exists());
    hook_command(&["uninstall"]).ok();
    // A link is replaced, and its target stays.
    let elsewhere = tree.home().join("theirs");
    fs::write(&elsewhere, foreign).unwrap();
    symlink(&elsewhere, &hook).unwrap();
    hook_command(&["install", "--force"]).ok();
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), foreign);
    // Flags that cannot be are refused before anything is written.
    assert_ne!(hook_command(&["install", "--pre-push", "--", "--nope"]).status, Some(0));
    assert!(!tree.path().join(".git/hooks/pre-push").exists());
    // `core.hooksPath` counts.
    git(&tree.path(), &["config", "core.hooksPath", "hooks"]);
    hook_command(&["install"]).ok();
    assert!(tree.path().join("hooks/pre-commit").exists());
    let mut outside = tree.command(&["hook", "install"]);
    outside.current_dir(tree.tmp()).env("GIT_CEILING_DIRECTORIES", tree.tmp().parent().unwrap());
    run(&mut outside).fails_with(&["not a git repository"]);
}

/// pre-commit itself, from PATH or from target/pre-commit.
fn pre_commit() -> Option<PathBuf> {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pre-commit/bin/pre-commit");
    if venv.is_file() { Some(venv) } else { in_path("pre-commit") }
}

/// The hooks that this repository offers, in a repository of their own: pre-commit clones it.
#[test]
fn pre_commit_builds_what_changed_files_affect() {
    let Some(program) = pre_commit() else {
        return skip("no pre-commit: run .ci/pre-commit");
    };
    let mut tree = repository();
    tree.variables.insert("PRE_COMMIT_HOME", tree.home().join("pre-commit").to_string_lossy().into_owned());
    let hooks = tree.home().join("hooks");
    fs::create_dir(&hooks).unwrap();
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml"),
        hooks.join(".pre-commit-hooks.yaml"),
    )
    .unwrap();
    git(&hooks, &["init", "-q"]);
    git(&hooks, &["add", "."]);
    git(&hooks, &["commit", "-q", "-m", "hooks"]);
    let revision = git(&hooks, &["rev-parse", "HEAD"]);
    let config = format!(
        "repos:\n- repo: {}\n  rev: {revision}\n  hooks:\n  - id: rustomize-validate-system\n",
        hooks.display()
    );
    tree.write(".pre-commit-config.yaml", &config);
    let program = program.to_string_lossy().into_owned();
    user(&tree, &[&program, "install"]).ok();
    git(&tree.path(), &["add", "."]);
    user(&tree, &["git", "commit", "-q", "-m", "config"]).ok();
    tree.write("overlays/north/kustomization.yaml", "resources: [../../base, gone.yaml]\n");
    let refused = user(&tree, &["git", "commit", "-q", "-a", "-m", "broken"]);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(refused.status == Some(1) && said.contains("'gone.yaml'") && said.contains("Failed"), "{said}");
    assert!(!said.contains("overlays/south"), "{said}");
    assert_eq!(commits(&tree), 2);
    // A broken kustomization that the files do not affect is left alone.
    user(&tree, &["git", "commit", "-q", "--no-verify", "-a", "-m", "broken"]).ok();
    tree.write("overlays/south/kustomization.yaml", "resources: [../../base]\n");
    user(&tree, &["git", "commit", "-q", "-a", "-m", "south"]).ok();
    assert_eq!(commits(&tree), 4);
    assert_eq!(user(&tree, &[&program, "run", "--all-files"]).status, Some(1));
}

fn with_stdin(tree: &Tree, args: &[&str], stdin: &str) -> Run {
    let mut child =
        tree.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that fails early reads nothing.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let done = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: done.status.code(), stdout: text(done.stdout), stderr: text(done.stderr) }
}

const RENDERED: &str =
    "---\n# Source: web/templates/service.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n";

#[test]
fn stdin_takes_the_place_of_a_file() {
    let tree = Tree::new(
        "-- render/kustomization.yaml --\nresources: [all.yaml]\nnamePrefix: p-\n-- render/used.yaml --\nkind: [\n",
    );
    let args = ["build", "render", "--stdin-as", "all.yaml"];
    let printed = with_stdin(&tree, &args, RENDERED).ok();
    assert_eq!(printed, "apiVersion: v1\nkind: Service\nmetadata:\n  name: p-web\n");
    assert!(!tree.path().join("render/all.yaml").exists());
    // As with the file that it stands for.
    tree.write("render/all.yaml", RENDERED);
    assert_eq!(printed, tree.run(&["build", "render"]).ok());
    // stdin hides the file on the disk.
    tree.write("render/all.yaml", "kind: [\n");
    assert_eq!(printed, with_stdin(&tree, &args, RENDERED).ok());
    with_stdin(&tree, &args, "kind: [\n").fails_with(&["all.yaml:"]);
    with_stdin(&tree, &["build", "render", "--stdin-as", "used.yaml"], RENDERED).fails_with(&["all.yaml:"]);
    tree.write("render/all.yaml", RENDERED);
    with_stdin(&tree, &["build", "render", "--stdin-as", "used.yaml"], RENDERED)
        .fails_with(&["does not read 'used.yaml'", "edit add resource --no-verify used.yaml"]);
    with_stdin(&tree, &["build", "none", "--stdin-as", "all.yaml"], RENDERED).fails_with(&["'none'"]);
    assert_ne!(with_stdin(&tree, &["build", "--all", "--stdin-as", "all.yaml"], RENDERED).status, Some(0));
}

/// helm itself, with the build as its post-renderer.
#[test]
fn helm_renders_through_a_build() {
    if in_path("helm").is_none() {
        return skip("no helm");
    }
    let tree = Tree::new(
        "-- chart/Chart.yaml --\napiVersion: v2\nname: web\nversion: 0.1.0\n-- chart/templates/service.yaml --\n\
         apiVersion: v1\nkind: Service\nmetadata: {name: web}\n-- render/kustomization.yaml --\nresources: [all.yaml]\n\
         namePrefix: p-\n",
    );
    tree.write("post", &format!("#!/bin/sh\nexec {} build render --stdin-as all.yaml\n", crate::support::program()));
    let printed = user(&tree, &["helm", "template", "web", "chart", "--post-renderer", "./post"]).ok();
    assert!(printed.contains("name: p-web"), "{printed}");
}

const LIST: &str = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Service
  metadata: {name: web}
  data: |
    a

    b
functionConfig:
  apiVersion: kustomize.config.k8s.io/v1beta1
  kind: Kustomization
  metadata: {name: f, annotations: {config.kubernetes.io/local-config: 'true'}}
  namePrefix: p-
  patches: [{path: patch.yaml}]
  configMapGenerator: [{name: c, literals: [a=yes], options: {disableNameSuffixHash: true}}]
";

#[test]
fn a_build_is_a_function() {
    let tree = Tree::new(
        "-- d/patch.yaml --\napiVersion: v1\nkind: Service\nmetadata: {name: web, labels: {a: b}}\n-- d/kustomization.yaml --\nresources: [own.yaml]\n",
    );
    let want = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  data:
    a: \"yes\"
  kind: ConfigMap
  metadata:
    name: p-c
- apiVersion: v1
  data: |
    a

    b
  kind: Service
  metadata:
    labels:
      a: b
    name: p-web
";
    let printed = with_stdin(&tree, &["krm-function", "d"], LIST).ok();
    assert_eq!(printed, want);
    let empty =
        "kind: ResourceList\nitems: []\nfunctionConfig: {kind: Kustomization, namePrefix: p-, resources: [../e]}\n";
    tree.write("e/kustomization.yaml", "resources: [m.yaml]\nnameSuffix: -s\n");
    tree.write("e/m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n");
    assert!(with_stdin(&tree, &["krm-function", "d"], empty).ok().ends_with("    name: p-m-s\n"));
    with_stdin(&tree, &["krm-function"], "kind: List\n").fails_with(&["is not a ResourceList"]);
    with_stdin(&tree, &["krm-function"], "kind: ResourceList\nfunctionConfig: {kind: ConfigMap}\n")
        .fails_with(&["must be of kind Kustomization"]);
    with_stdin(&tree, &["krm-function"], "a: [\n").fails_with(&["stdin"]);
    with_stdin(&tree, &["krm-function"], &LIST.replace("namePrefix", "namePrefixes")).fails_with(&["namePrefixes"]);
}

/// A kustomization with a transformer that runs a build: called by kustomize, and by this tool.
#[test]
fn a_build_is_a_transformer_of_another_one() {
    let tree = Tree::new(&format!(
        "\
-- kustomization.yaml --
resources: [service.yaml]
transformers: [inner.yaml]
namePrefix: outer-
-- service.yaml --
# a comment
apiVersion: v1
kind: Service
metadata:
  name: web
-- inner.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
metadata:
  name: inner
  annotations:
    config.kubernetes.io/function: |
      exec:
        path: ./inner
nameSuffix: -inner
commonAnnotations: {{inner: build}}
-- inner --
#!/bin/sh
exec {} krm-function
",
        crate::support::program()
    ));
    let args = ["build", "--enable-alpha-plugins", "--enable-exec"];
    let printed = tree.run(&args).ok();
    assert!(printed.contains("name: outer-web-inner") && printed.contains("inner: build"), "{printed}");
    let built = kustomize();
    if !built.is_file() {
        return skip("no kustomize to compare with: run .ci/oracle");
    }
    assert_eq!(user(&tree, &[&[built.to_str().unwrap()], &args[..]].concat()).ok(), printed);
}
