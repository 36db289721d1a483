//! KRM functions: executables, and containers through a stand-in for the engine that records what
//! it is called with.

use crate::support::{Tree, in_path};

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: one\n";

/// A kustomization with a ConfigMap and one transformer that is a function.
fn tree(annotation: &str, script: &str) -> Tree {
    let tree = Tree::new("");
    tree.write("kustomization.yaml", "resources: [a.yaml]\ntransformers: [f.yaml]\n");
    tree.write("a.yaml", CONFIG_MAP);
    tree.write(
        "f.yaml",
        &format!("apiVersion: ex.io/v1\nkind: F\nmetadata:\n  name: f\n  annotations:\n{annotation}spec:\n  a: b\n"),
    );
    tree.write("fn.sh", script);
    tree
}

const EXEC: &str = "    config.kubernetes.io/function: |\n      exec: {path: ./fn.sh}\n";

fn build(tree: &Tree, args: &[&str]) -> crate::support::Run {
    tree.build(&[&["--enable-exec"], args].concat())
}

#[test]
fn an_executable_changes_what_it_reads() {
    let printed = build(&tree(EXEC, "#!/bin/sh\nsed 's/x: one/x: two/'\n"), &[]).ok();
    assert_eq!(printed, "apiVersion: v1\ndata:\n  x: two\nkind: ConfigMap\nmetadata:\n  name: a\n");
}

#[test]
fn every_spelling_of_the_annotation_counts() {
    let spellings = [
        "    config.k8s.io/function: |\n      exec: {path: ./fn.sh}\n",
        "    other: x\n  configFn:\n    exec: {path: ./fn.sh}\n",
    ];
    for spelling in spellings {
        assert!(
            build(&tree(spelling, "#!/bin/sh\nsed 's/x: one/x: two/'\n"), &[]).ok().contains("x: two"),
            "{spelling}"
        );
    }
}

#[test]
fn an_executable_needs_a_flag_of_its_own() {
    let tree = tree(EXEC, "#!/bin/sh\ncat\n");
    tree.build(&[]).fails_with(&[
        "functions that are executables are disabled; unable to run './fn.sh'",
        "--enable-exec",
        "f.yaml",
    ]);
    tree.run(&["build", "--enable-exec"]).fails_with(&["external plugins disabled", "--enable-alpha-plugins"]);
}

#[test]
fn a_generator_reads_its_own_configuration() {
    let tree = tree(
        EXEC,
        "#!/bin/sh\ngrep -c 'a: b' > count; echo 'kind: ResourceList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: made, annotations: {kustomize.config.k8s.io/needs-hash: \"true\"}}}'\n",
    );
    tree.write("kustomization.yaml", "generators: [f.yaml]\n");
    assert!(build(&tree, &[]).ok().contains("name: made-"));
    let count = std::fs::read_to_string(tree.path().join("count")).unwrap();
    assert_eq!(count.trim(), "2", "as the only item and as the functionConfig");
}

#[test]
fn results_are_shown_and_may_fail_the_build() {
    let script = "#!/bin/sh\ncat\ncat <<E\nresults:\n- message: no limits\n  severity: warning\n  resourceRef: {kind: ConfigMap, name: a}\n  field: {path: data.x}\nE\n";
    let tree = tree(EXEC, script);
    let run = build(&tree, &[]);
    assert!(run.stderr.contains("[warning] no limits (ConfigMap a) at data.x"), "{}", run.stderr);
    run.ok();
    build(&tree, &["--fail-on-results", "error"]).ok();
    build(&tree, &["--fail-on-results", "warning"]).fails_with(&["no limits", "--fail-on-results"]);
}

/// testdata/deviations/function-aliases.md
#[test]
fn a_function_answers_with_aliases() {
    let tree = tree(
        EXEC,
        "#!/bin/sh\ncat >/dev/null\ncat <<'E'\nkind: ResourceList\nitems:\n\
         - {apiVersion: &v v1, kind: ConfigMap, metadata: {name: a, labels: &l {x: 'y'}, annotations: *l}}\n\
         - {apiVersion: *v, kind: Secret, metadata: {name: b, labels: *l}}\nE\n",
    );
    let built = build(&tree, &[]).ok();
    assert_eq!(built.matches("    x: \"y\"\n").count(), 3, "{built}");
    assert!(!built.contains(['&', '*']), "{built}");
}

#[test]
fn a_wrong_annotation_is_told_with_its_field() {
    let tree = tree("    config.kubernetes.io/function: |\n      starlark: {path: x}\n", "");
    build(&tree, &[]).fails_with(&[
        "unknown field \"starlark\"",
        "loader: failed to get FunctionSpec: config.kubernetes.io/function",
    ]);
}

#[test]
fn a_function_that_fails_fails_the_build() {
    let exits = tree(EXEC, "#!/bin/sh\ncat >/dev/null\necho oh no >&2\nexit 4\n");
    let said = build(&exits, &[]).fails_with(&["exit status: 4", "oh no", "f.yaml"]);
    assert_eq!(said.matches("oh no").count(), 1, "what a function says is shown once:\n{said}");
    let prints = tree(EXEC, "#!/bin/sh\ncat >/dev/null\necho 'a: [b'\n");
    build(&prints, &[]).fails_with(&["the output of the plugin is not YAML", "the output of function ex.io/v1 F f"]);
    let missing = tree("    config.kubernetes.io/function: |\n      exec: {path: no-such-function}\n", "");
    build(&missing, &[]).fails_with(&["'no-such-function' cannot be started"]);
    let hangs = tree(EXEC, "#!/bin/sh\nsleep 60\n");
    build(&hangs, &["--plugin-timeout", "200ms"]).fails_with(&["took longer than 0.2 s"]);
}

#[test]
fn no_items_remove_everything() {
    let tree = tree(EXEC, "#!/bin/sh\ncat >/dev/null\necho 'kind: ResourceList'\n");
    assert_eq!(build(&tree, &[]).ok(), "");
}

/// An engine that records its arguments, a line each, and runs `sed`.
const ENGINE: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$RECORD\"\nsed 's/x: one/x: two/'\n";

fn container(spec: &str, args: &[&str]) -> (crate::support::Run, Vec<String>) {
    let mut tree = tree(&format!("    config.kubernetes.io/function: |\n      container: {spec}\n"), "");
    tree.write("engine", ENGINE);
    let record = tree.tmp().parent().unwrap().join("record").to_string_lossy().into_owned();
    tree.variables.insert("RECORD", record.clone());
    tree.variables.insert("KRM_FN_RUNTIME", tree.path().join("engine").to_string_lossy().into_owned());
    let run = tree.build(args);
    let recorded = std::fs::read_to_string(record).unwrap_or_default();
    let root = tree.path().to_string_lossy().into_owned();
    (run, recorded.lines().map(|line| line.replace(&root, "$ROOT")).collect())
}

#[test]
fn a_container_runs_as_nobody_without_network() {
    let (run, args) = container("{image: example.com/f:v1}", &[]);
    assert!(run.ok().contains("x: two"));
    let wanted = "run --rm -i -a STDIN -a STDOUT -a STDERR --network none --user nobody --security-opt=no-new-privileges \
                  -e LOG_TO_STDERR=true -e STRUCTURED_RESULTS=true example.com/f:v1";
    assert_eq!(args.join(" "), wanted);
    // With a time limit of the user's the engine notes the id, by which a container is removed.
    let (run, args) = container("{image: example.com/f:v1}", &["--plugin-timeout", "1h"]);
    assert!(run.ok().contains("x: two"));
    let [first, cidfile, file, rest @ ..] = args.as_slice() else { panic!("{args:?}") };
    assert!(first == "run" && cidfile == "--cidfile" && file.ends_with("/id"), "{args:?}");
    assert_eq!(format!("run {}", rest.join(" ")), wanted);
}

#[test]
fn what_a_container_gets_is_asked_for_and_allowed() {
    let spec = "{image: i, network: true, mounts: [{type: bind, src: ./data, dst: /data, rw: true}], envs: [B=2, A=1, PASSED]}";
    let (run, args) = container(spec, &["--network", "-e", "A=9", "--mount", "type=tmpfs,dst=/tmp"]);
    run.ok();
    let args = args.join(" ");
    assert!(args.contains("--network host"), "{args}");
    assert!(
        args.contains(
            "--mount type=bind,source=$ROOT/data,target=/data --mount type=tmpfs,source=$ROOT,target=/tmp,readonly"
        ),
        "{args}"
    );
    assert!(args.ends_with("-e A=9 -e B=2 -e LOG_TO_STDERR=true -e STRUCTURED_RESULTS=true -e PASSED i"), "{args}");
    container(spec, &[]).0.fails_with(&["network required but not enabled with --network"]);
    for source in ["/etc", "../up", "a/../../up"] {
        let spec = format!("{{image: i, mounts: [{{type: bind, src: {source}, dst: /x}}]}}");
        container(&spec, &[]).0.fails_with(&["mount paths must be under the current kustomization directory"]);
    }
}

/// A tree with a container function and programs in a PATH of its own, each of which notes in
/// `asked` that it was called.
fn engines(programs: &[(&str, &str)]) -> Tree {
    let mut tree = tree("    config.kubernetes.io/container: example.com/f:v1\n", "");
    for (name, script) in programs {
        let note = format!("echo \"{name} $1\" >> {}/asked", tree.path().display());
        tree.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{note}\n{script}\n"));
    }
    // The programs that the scripts need, and no engine of this machine.
    for program in ["sh", "cat", "sed", "sleep", "dirname"] {
        std::os::unix::fs::symlink(in_path(program).unwrap(), tree.path().join("bin").join(program)).unwrap();
    }
    tree.variables.insert("PATH", format!("{}/bin", tree.path().display()));
    tree
}

fn asked(tree: &Tree) -> String {
    std::fs::read_to_string(tree.path().join("asked")).unwrap_or_default().replace('\n', ", ")
}

const NO_DAEMON: &str = "echo 'Cannot connect to the Docker daemon at unix:///x.sock.' >&2; exit 1";
const WORKS: &str = "[ $1 = ps ] || sed 's/x: one/x: two/'";

#[test]
fn the_first_engine_that_answers_runs_containers() {
    let tree = engines(&[("docker", NO_DAEMON), ("podman", WORKS), ("nerdctl", WORKS)]);
    assert!(tree.build(&[]).ok().contains("x: two"));
    assert_eq!(asked(&tree), "docker ps, podman ps, podman run, ");
    let tree = engines(&[("docker", WORKS), ("podman", WORKS)]);
    assert!(tree.build(&[]).ok().contains("x: two"));
    assert_eq!(asked(&tree), "docker ps, docker run, ", "docker comes first, as under kustomize");
}

#[test]
fn engines_are_asked_once_and_only_for_containers() {
    let tree = engines(&[("docker", NO_DAEMON), ("podman", WORKS)]);
    std::fs::create_dir_all(tree.path().join("b")).unwrap();
    for name in ["kustomization.yaml", "a.yaml", "f.yaml"] {
        std::fs::copy(tree.path().join(name), tree.path().join("b").join(name)).unwrap();
    }
    tree.build(&[".", "b"]).ok();
    assert_eq!(asked(&tree).matches("docker").count(), 1, "{}", asked(&tree));
    assert_eq!(asked(&tree).matches("podman ps").count(), 1, "{}", asked(&tree));
    assert_eq!(asked(&tree).matches("podman run").count(), 2, "{}", asked(&tree));
    let tree = engines(&[("docker", WORKS)]);
    tree.write("kustomization.yaml", "resources: [a.yaml]\n");
    tree.build(&[]).ok();
    assert_eq!(asked(&tree), "");
}

#[test]
fn without_an_engine_the_error_says_what_was_tried() {
    let tree = engines(&[("docker", NO_DAEMON)]);
    tree.build(&[]).fails_with(&[
        "function ex.io/v1 F f is the image 'example.com/f:v1'",
        "no container engine answers: docker (Cannot connect to the Docker daemon at unix:///x.sock.), podman (not in PATH), nerdctl (not in PATH)",
        "KRM_FN_RUNTIME=podman rustomize build",
        "f.yaml:1:1",
    ]);
    let doctor = tree.run(&["doctor"]).ok();
    assert!(doctor.contains("missing  container engine: docker (Cannot connect to"), "{doctor}");
    let report: serde_json::Value = serde_json::from_str(&tree.run(&["doctor", "-o", "json"]).ok()).unwrap();
    let engine = report["programs"].as_array().unwrap().iter().find(|p| p["name"] == "container engine").unwrap();
    assert_eq!(engine["asked"][2]["failure"], "not in PATH", "{engine}");
    let tree = engines(&[("docker", NO_DAEMON), ("podman", WORKS)]);
    let doctor = tree.run(&["doctor"]).ok();
    assert!(doctor.contains(&format!("ok       container engine: {}/bin/podman", tree.path().display())), "{doctor}");
}

#[test]
fn an_engine_that_is_named_is_not_asked() {
    let mut tree = engines(&[("docker", WORKS), ("mine", WORKS)]);
    tree.variables.insert("KRM_FN_RUNTIME", "mine".to_owned());
    assert!(tree.build(&[]).ok().contains("x: two"));
    assert_eq!(asked(&tree), "mine run, ");
    let doctor = tree.run(&["doctor"]).ok();
    assert!(doctor.contains(&format!("ok       container engine: {}/bin/mine", tree.path().display())), "{doctor}");
    tree.variables.insert("KRM_FN_RUNTIME", "/nowhere/engine".to_owned());
    tree.build(&[]).fails_with(&["'/nowhere/engine' cannot be started"]);
    let doctor = tree.run(&["doctor"]).ok();
    assert!(doctor.contains("KRM_FN_RUNTIME names a program that does not exist"), "{doctor}");
}

/// A client of an engine whose container runs on when the client is ended, as that of a daemon
/// does: it notes the container's id, and then does `end`.
fn client(end: &str) -> Tree {
    let client = "cd $(dirname $0)/..\n[ $1 = ps ] && exit\n[ $1 = rm ] && { echo \"$2 $3\" > removed; exit; }\n\
                  while [ $1 != --cidfile ]; do shift; done\necho 0123abcd > $2\n: > started\n";
    engines(&[("docker", &format!("{client}{end}"))])
}

#[test]
fn a_container_that_fails_or_does_not_end_is_removed() {
    for (end, limit, words) in [("exit 125", "1h", "exit status: 125"), ("sleep 60", "3s", "took longer than 3 s")] {
        let tree = client(end);
        tree.build(&["--plugin-timeout", limit]).fails_with(&[words]);
        assert_eq!(std::fs::read_to_string(tree.path().join("removed")).unwrap(), "-f 0123abcd\n");
    }
}

#[test]
fn an_interrupted_build_removes_its_container() {
    let tree = client("sleep 60");
    let mut command = tree.command(&["build", "--enable-alpha-plugins", "--plugin-timeout", "1m"]);
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    while !tree.path().join("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_to_string(tree.path().join("removed")).unwrap(), "-f 0123abcd\n");
    tree.assert_nothing_left();
}

#[test]
fn the_legacy_annotation_names_an_image() {
    let mut tree = tree("    config.kubernetes.io/container: legacy:v1\n", "");
    tree.write("bin/docker", "#!/bin/sh\nfor last; do :; done\nsed \"s/x: one/x: $last/\"\n");
    let path = format!("{}/bin:{}", tree.path().display(), std::env::var_os("PATH").unwrap().to_string_lossy());
    tree.variables.insert("PATH", path);
    assert!(tree.build(&[]).ok().contains("x: legacy:v1"));
}
