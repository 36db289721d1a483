//! KRM functions: executables, and containers through a stand-in for the engine that records what
//! it is called with.

use crate::support::Tree;

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
    build(&exits, &[]).fails_with(&["exit status: 4", "oh no", "f.yaml"]);
    let prints = tree(EXEC, "#!/bin/sh\ncat >/dev/null\necho 'a: [b'\n");
    build(&prints, &[]).fails_with(&["the plugin printed no YAML", "the output of function F.v1.ex.io/f.[noNs]"]);
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

#[test]
fn the_legacy_annotation_names_an_image() {
    let mut tree = tree("    config.kubernetes.io/container: legacy:v1\n", "");
    tree.write("bin/docker", "#!/bin/sh\nfor last; do :; done\nsed \"s/x: one/x: $last/\"\n");
    let path = format!("{}/bin:{}", tree.path().display(), std::env::var_os("PATH").unwrap().to_string_lossy());
    tree.variables.insert("PATH", path);
    assert!(tree.build(&[]).ok().contains("x: legacy:v1"));
}
