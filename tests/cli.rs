//! The command: flags, output, exit status, and what it says to bad input.

use crate::support::{Run, Tree, run};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const ONE: &str = "-- kustomization.yaml --\nresources: [cm.yaml]\n-- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: n\n";

/// A kustomization and one resource file, and what the error says.
#[track_caller]
fn check_error(files: &str, words: &[&str]) {
    let tree = Tree::new(files);
    tree.build(&[]).fails_with(words);
}

/// The command remembers directories, and forgets them where it may not open more files.
#[test]
fn many_directories_need_few_open_files() {
    let base = |i: usize| format!("-- d{i}/kustomization.yaml --\nresources: [../d{}]\n", i + 1);
    let last = "-- d60/kustomization.yaml --\nresources: [cm.yaml]\n-- d60/cm.yaml --\nkind: A\nmetadata: {name: a}\n";
    let tree = Tree::new(&((0..60).map(base).collect::<String>() + last));
    let built = |limit: u32| {
        #[expect(clippy::disallowed_methods, reason = "a shell sets the limit")]
        let mut shell = Command::new("sh");
        let line = format!("ulimit -n {limit}; exec {} build d0", crate::support::program());
        shell.args(["-c", &line]).current_dir(tree.path()).env("HOME", tree.home());
        run(&mut shell)
    };
    assert!(built(20).ok().contains("name: a"));
    built(4).fails_with(&["Too many open files", "ulimit -n"]);
}

#[test]
fn faults_of_kustomization_files() {
    check_error("", &["unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization'"]);
    check_error(
        "-- kustomization.yaml --\nresources: []\n-- Kustomization --\nresources: []\n",
        &["Found multiple kustomization files", "Kustomization"],
    );
    check_error("-- kustomization.yaml --\n# nothing\n", &["kustomization.yaml is empty"]);
    check_error("-- kustomization.yaml --\nresources: [\n", &["kustomization.yaml:", "invalid Kustomization"]);
    check_error(
        "-- kustomization.yaml --\nnamePrefx: a\n",
        &["unknown field \"namePrefx\"", "kustomization.yaml:1:1", "did you mean 'namePrefix'?"],
    );
    check_error(
        "-- kustomization.yaml --\nimages:\n- name: a\n  newtag: 1\n  nam: x\n",
        &["unknown field \"nam\"", ":4:3"],
    );
    check_error(
        "-- kustomization.yaml --\nnamePrefix: 5\n",
        &["expected a string, found a number (5)", ":1:13", "quotes"],
    );
    check_error("-- kustomization.yaml --\nnamespace: yes\n", &["expected a string, found a boolean"]);
    check_error("-- kustomization.yaml --\nresources: a.yaml\n", &["expected a list", ":1:12"]);
    check_error(
        "-- kustomization.yaml --\nkind: Kustomisation\nresources: []\n",
        &["kind should be Kustomization or Component"],
    );
    check_error(
        "-- kustomization.yaml --\napiVersion: v1\nresources: []\n",
        &["apiVersion for Kustomization should be kustomize.config.k8s.io/v1beta1"],
    );
    check_error("-- kustomization.yaml --\nvalidators: [v.yaml]\n", &["'v.yaml': no such file", "'validators'"]);
}

#[test]
fn faults_of_resources() {
    let file = |text: &str| format!("-- kustomization.yaml --\nresources: [r.yaml]\n-- r.yaml --\n{text}");
    check_error(
        "-- kustomization.yaml --\nresources: [r.yaml]\n",
        &["'r.yaml': no such file", "of kustomization.yaml"],
    );
    check_error(&file("a: [1\nb: 2\n"), &["hint: ", "r.yaml:"]);
    check_error(&file("a: b\n\tc: d\n"), &["hint: ", "r.yaml:"]);
    check_error(&file("kind: A\n"), &["missing metadata.name", "r.yaml:1:1"]);
    check_error(&file("metadata: {name: a}\n"), &["missing kind"]);
    check_error(&file("just text\n"), &["missing Resource metadata"]);
    check_error(
        &file("kind: A\nmetadata: {name: a}\nx: 1\nx: 2\n"),
        &["mapping key \"x\" already defined", "r.yaml:4:1"],
    );
    check_error(&file("kind: A\nmetadata: {name: a}\nx: .inf\n"), &["r.yaml:3:4"]);
    check_error(&file("kind: A\nmetadata: {name: a}\nx: &x\n  y: *x\n"), &["alias", "r.yaml:4:"]);
    let bomb: String =
        (1..12).map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", "))).collect();
    check_error(&file(&format!("kind: A\nmetadata: {{name: a}}\na0: &a0 [x]\n{bomb}")), &["aliases add more than"]);
    check_error(
        &file(&format!("kind: A\nmetadata: {{name: a}}\nx: {}{}\n", "[".repeat(3000), "]".repeat(3000))),
        &["r.yaml:3:"],
    );
    check_error(&file("kind: FooList\nitems: 5\n"), &["expected array in FooList/items"]);
    check_error(
        "-- kustomization.yaml --\nresources: [a.yaml, b.yaml]\n-- a.yaml --\nkind: A\nmetadata: {name: a}\n-- b.yaml --\n# first\nkind: A\nmetadata: {name: a}\n",
        &["already registered id", "b.yaml:2:1", "a.yaml:1:1"],
    );
}

#[test]
fn faults_of_roots() {
    check_error(
        "-- kustomization.yaml --\nresources: [a]\n-- a/kustomization.yaml --\nresources: [../b]\n-- b/kustomization.yaml --\nresources: [../a]\n",
        &["cycle detected", "of b/kustomization.yaml"],
    );
    check_error("-- kustomization.yaml --\nresources: [.]\n", &["cycle detected"]);
    check_error("-- kustomization.yaml --\nresources: [/]\n", &["cannot be absolute"]);
    check_error(
        "-- kustomization.yaml --\nresources: [c]\n-- c/kustomization.yaml --\nkind: Component\n resources: []\n",
        &["c/kustomization.yaml"],
    );
    check_error(
        "-- kustomization.yaml --\nresources: [https://127.0.0.1:9/x]\n",
        &["'https://127.0.0.1:9/x' cannot be fetched", "of kustomization.yaml"],
    );
    let tree = Tree::new(
        "-- o/kustomization.yaml --\nresources: [../secret.yaml]\n-- secret.yaml --\nkind: A\nmetadata: {name: a}\n",
    );
    tree.run(&["build", "o"]).fails_with(&["security", "is not in or below"]);
    tree.run(&["build", "o", "--load-restrictor", "LoadRestrictionsNone"]).ok();
    std::os::unix::fs::symlink("../secret.yaml", tree.path().join("o/link.yaml")).unwrap();
    tree.write("o/kustomization.yaml", "resources: [link.yaml]\n");
    tree.run(&["build", "o"]).fails_with(&["security"]);
    tree.run(&["build", "nowhere"]).fails_with(&["'nowhere': no such file or directory"]);
    tree.run(&["build", "secret.yaml"]).fails_with(&["'secret.yaml' is a file, not a directory"]);
    tree.run(&["build", "a", "o"]).fails_with(&["'a': no such file or directory", "in a"]);
}

#[test]
fn faults_of_generators_and_patches() {
    let with = |fields: &str| {
        format!(
            "-- kustomization.yaml --\nresources: [d.yaml]\n{fields}-- d.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{replicas: 1}}\n"
        )
    };
    check_error(&with("configMapGenerator: [{name: c, literals: [secretvalue]}]\n"), &["expected key=value"]);
    check_error(&with("configMapGenerator: [{name: c, literals: [a=1, a=2]}]\n"), &["illegally repeats the key `a`"]);
    check_error(&with("configMapGenerator: [{literals: [a=1]}]\n"), &["must have a name"]);
    check_error(
        &with("configMapGenerator: [{name: c, behavior: merge}]\n"),
        &["does not exist; cannot merge or replace"],
    );
    check_error(&with("secretGenerator: [{name: c, files: [nope]}]\n"), &["'nope': no such file"]);
    check_error(&with("patches: [{patch: 'kind: Deployment\n\n    metadata: {name: x}'}]\n"), &["no resource matches"]);
    check_error(&with("patches: [{path: nope.yaml}]\n"), &["'nope.yaml': no such file"]);
    check_error(&with("patches: [{}]\n"), &["must specify one of patch and path"]);
    check_error(
        &with("patches: [{patch: '[{\"op\": \"remove\", \"path\": \"/x\"}]', target: {kind: Deployment}}]\n"),
        &["nonexistent key: x"],
    );
    check_error(
        &with("patches: [{patch: '[{\"op\": 1', target: {kind: Deployment}}]\n"),
        &["unable to parse SM or JSON patch"],
    );
    check_error(
        &with("patches: [{patch: '- op: add\n\n    path: /a\n\n    value: 1', target: {name: '('}}]\n"),
        &["error parsing regexp: missing closing )"],
    );
    check_error(&with("replicas: [{name: x, count: 2}]\n"), &["resource with name x does not match"]);
}

#[test]
fn flags_for_functions_are_accepted_without_functions() {
    let tree = Tree::new(ONE);
    let plain = tree.run(&["build"]).ok();
    let flags = [&["--enable-exec"][..], &["--network"], &["--network-name", "x"], &["-e", "A=b"], &["--mount", "x"]];
    for flag in flags.into_iter().chain([&["--as-current-user"][..], &["--enable-exec=false"]]) {
        assert_eq!(tree.run(&[&["build"], flag].concat()).ok(), plain);
    }
}

#[test]
fn wrong_flags_are_told() {
    let tree = Tree::new(ONE);
    tree.run(&["build", "--reorder", "up"]).fails_with(&["illegal flag value --reorder up"]);
    tree.run(&["build", "--load-restrictor", "x"]).fails_with(&["illegal flag value --load-restrictor x"]);
    tree.run(&["build", "--nonsense"]).fails_with(&["--nonsense"]);
}

#[test]
fn output_goes_to_a_file_as_a_whole_or_not_at_all() {
    let tree = Tree::new(ONE);
    let out = tree.path().join("out.yaml");
    fs::write(&out, "before").unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(tree.run(&["build", "-o", "out.yaml"]).ok(), "");
    assert!(fs::read_to_string(&out).unwrap().starts_with("apiVersion: v1\n"));
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o640);
    tree.write("cm.yaml", "kind: A\nmetadata: {name: a}\nx: .nan\n");
    tree.run(&["build", "-o", "out.yaml"]).fails_with(&["cm.yaml:3:4"]);
    assert!(fs::read_to_string(&out).unwrap().starts_with("apiVersion: v1\n"), "the old file stays");
    tree.run(&["build", "-o", "no/such/dir.yaml"]).fails_with(&[]);
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 3, "no temporary file stays");
}

#[test]
fn output_goes_into_a_directory_one_file_for_each_object() {
    let tree = Tree::new(ONE);
    tree.write("cm.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: D, namespace: n}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n");
    fs::create_dir(tree.path().join("out")).unwrap();
    assert_eq!(tree.run(&["build", "-o", "out"]).ok(), "");
    let mut names: Vec<_> =
        fs::read_dir(tree.path().join("out")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["default_v1_configmap_c.yaml", "n_apps_v1_deployment_d.yaml", "v1_namespace_n.yaml"]);
}

#[test]
fn closed_stdout_exits_silently() {
    let tree = Tree::new(ONE);
    let big: String =
        (0..20_000).map(|i| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{i}\n")).collect();
    tree.write("cm.yaml", &big);
    let mut child = tree.command(&["build"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

#[test]
fn versions_in_kustomizes_formats() {
    let tree = Tree::new("");
    let own = concat!("v5.8.3+rustomize.", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(tree.run(&["version"]).ok(), own);
    let json: serde_json::Value = serde_json::from_str(&tree.run(&["version", "-o", "json"]).ok()).unwrap();
    assert_eq!(json["version"], own.trim());
    assert!(tree.run(&["version", "-o", "yaml"]).ok().contains("goArch: "));
    tree.run(&["version", "--short", "-o", "json"]).fails_with(&["mutually exclusive"]);
    for flag in ["-V", "--version"] {
        let said = concat!("rustomize ", env!("CARGO_PKG_VERSION"), " (kustomize v5.8.3)\n");
        assert_eq!(tree.run(&[flag]).ok(), said);
    }
}

/// Argo CD and chartify take the first version that they find in the output, by the grammar of
/// semantic versions, and choose flags by it: it has to compare as kustomize's.
#[test]
fn programs_that_ask_for_the_version_find_that_of_kustomize() {
    let tree = Tree::new("");
    let kustomize = semver::Version::new(5, 8, 3);
    // `version --short` in Argo CD: braces off, two blanks to one, then the first version.
    let short = tree.run(&["version", "--short"]).ok();
    let short = short.trim().trim_start_matches('{').trim_end_matches('}').trim().replace("  ", " ");
    let short = short.split(' ').next().unwrap().strip_prefix('v').unwrap();
    // `version` in chartify: with a `v` in front, the first version.
    let plain = tree.run(&["version"]).ok();
    for version in [short, plain.trim().strip_prefix('v').unwrap()] {
        let version = semver::Version::parse(version).unwrap();
        assert_eq!(version.cmp_precedence(&kustomize), std::cmp::Ordering::Equal, "{version}");
        assert_eq!(version.build.as_str(), concat!("rustomize.", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn called_as_kustomize_it_speaks_as_kustomize() {
    let tree = Tree::new(ONE);
    let link = tree.path().join("kustomize");
    std::os::unix::fs::symlink(crate::support::program(), &link).unwrap();
    let as_kustomize = |args: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
        let mut command = std::process::Command::new(&link);
        run(command.args(args).current_dir(tree.path()))
    };
    assert_eq!(as_kustomize(&["version"]).ok(), "v5.8.3\n");
    let help = as_kustomize(&["build", "--help"]).ok();
    assert!(help.contains("kustomize build") && !help.contains("rustomize"), "{help}");
    assert!(as_kustomize(&["build", "."]).ok().contains("name: a"));
}

#[test]
fn warnings_do_not_touch_the_output() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nbases: []\nresources: [cm.yaml]\ncommonLabels: {a: b}\n-- cm.yaml --\nkind: A\nmetadata: {name: a}\n",
    );
    let run = tree.run(&["build"]);
    assert_eq!(
        run.stderr,
        "# Warning: 'bases' is deprecated. Please use 'resources' instead. Run 'kustomize edit fix' to update your Kustomization automatically.\n\
         # Warning: 'commonLabels' is deprecated. Please use 'labels' instead. Run 'kustomize edit fix' to update your Kustomization automatically.\n"
    );
    assert!(run.ok().starts_with("kind: A\n"));
}

#[test]
fn flags_may_come_before_the_command() {
    let tree = Tree::new(ONE);
    let output = tree.path().join("out.yaml");
    let output = output.to_str().unwrap();
    let plain = tree.run(&["build", "."]).ok();
    for before in
        [&["-o", output][..], &["--output", output], &[&format!("--output={output}")], &[&format!("-o{output}")]]
    {
        let words = [before, &["build", "--enable-alpha-plugins", "."]].concat();
        assert_eq!(tree.run(&words).ok(), "", "{words:?}");
        assert_eq!(fs::read_to_string(output).unwrap(), plain, "{words:?}");
        fs::remove_file(output).unwrap();
    }
    for words in [
        &["--stack-trace", "build", "."][..],
        &["--stack-trace=true", "build"],
        &["build", "--stack-trace", "."],
        &["build", ".", "--stack-trace"],
        &["--load-restrictor", "LoadRestrictionsNone", "build", "."],
        &["--enable-helm", "build", "."],
        &["build", "--", "."],
    ] {
        assert_eq!(tree.run(words).ok(), plain, "{words:?}");
    }
    assert_eq!(tree.run(&["--stack-trace", "version"]).ok(), tree.run(&["version"]).ok());
    assert!(tree.run(&["-h", "build"]).ok().contains("Change kustomizations:"), "help of the program");
    tree.run(&["--unknown", "build", "."]).fails_with(&["'.'"]);
    tree.run(&["--unknown=x", "build", "."]).fails_with(&["'--unknown'"]);
    tree.run(&["--stack-trace=maybe", "build", "."]).fails_with(&["maybe"]);
}

#[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
fn command_of(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Runs the command as somebody who is not root, in a tree that all may enter.
fn build_as_user(tree: &Tree) -> Run {
    let is_root = fs::metadata(tree.path()).unwrap().uid() == 0;
    let mut binary = PathBuf::from(crate::support::program());
    if is_root {
        // The directory of the binary may be closed to others. A process of its own copies it: a
        // file that another thread's child still has open for writing cannot be run.
        let copy = tree.path().join("rustomize");
        let copied = command_of("cp").arg(&binary).arg(&copy).status().unwrap();
        assert!(copied.success());
        binary = copy;
    }
    for directory in [tree.path().parent().unwrap(), &tree.path()] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = command_of(binary);
    command.arg("build").current_dir(tree.path()).env_clear();
    if is_root {
        command.uid(65534).gid(65534);
    }
    run(&mut command)
}

#[test]
fn files_that_may_not_be_read() {
    for (file, kustomization) in [
        ("cm.yaml", "resources: [cm.yaml]"),
        ("cm.yaml", "resources: [b.yaml]\npatches: [{path: cm.yaml}]"),
        ("cm.yaml", "configMapGenerator: [{name: a, files: [cm.yaml]}]"),
        ("cm.yaml", "configMapGenerator: [{name: a, envs: [cm.yaml]}]"),
        ("cm.yaml", "resources: [b.yaml]\ntransformers: [cm.yaml]"),
        ("cm.yaml", "resources: [b.yaml]\nreplacements: [{path: cm.yaml}]"),
        ("kustomization.yaml", "resources: [cm.yaml]"),
    ] {
        let tree = Tree::new(ONE);
        tree.write("kustomization.yaml", &format!("{kustomization}\n"));
        tree.write("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n");
        fs::set_permissions(tree.path().join(file), fs::Permissions::from_mode(0o000)).unwrap();
        let said = build_as_user(&tree).fails_with(&[file, "permission denied", "hint: it exists"]);
        assert!(!said.contains("no such file") && !said.contains("directory"), "{kustomization}:\n{said}");
    }
}
