//! Little memory, a small stack, and small inputs with huge outputs: each ends with an error of the
//! command, and with nothing on stdout.

use crate::support::{Run, Tree, run};
use std::process::Command;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

/// Runs the command under limits of the shell.
fn limited(tree: &Tree, limits: &str, args: &[&str]) -> Run {
    let mut command = tree.command(&[]);
    let program = command.get_program().to_owned();
    #[expect(clippy::disallowed_methods, reason = "the limits are the shell's")]
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]).arg(program).args(args).current_dir(tree.path());
    shell.env_clear().envs(command.env("PATH", "/usr/bin:/bin").get_envs().filter_map(|(k, v)| Some((k, v?))));
    run(&mut shell)
}

/// Expects that a run succeeds, or fails as an error of the command.
#[track_caller]
fn is_orderly(run: &Run, limits: &str) {
    assert!(matches!(run.status, Some(0 | 1)), "{limits}: {:?} {}", run.status, run.stderr);
    assert!(!run.stderr.contains("panicked"), "{limits}: {}", run.stderr);
    assert!(run.status == Some(0) || (run.stdout.is_empty() && !run.stderr.is_empty()), "{limits}: {}", run.stderr);
}

#[test]
fn too_little_memory_is_a_clean_error() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\nnamePrefix: p-\ncommonLabels: {a: b}\n");
    let map =
        |n: usize| format!("---\n{}data: {{k: {}}}\n", MAP.replace("name: a", &format!("name: a{n}")), "x".repeat(900));
    tree.write("r.yaml", &(0..20_000).map(map).collect::<String>());
    let want = tree.run(&["build"]).ok();
    let mut built = 0;
    for mebibytes in [90, 100, 125, 150, 200, 300, 400, 600, 1_000] {
        let limits = format!("ulimit -v {}", mebibytes << 10);
        let run = limited(&tree, &limits, &["build"]);
        is_orderly(&run, &limits);
        built += usize::from(run.status == Some(0));
        assert!(run.status == Some(1) || run.stdout == want, "{limits}");
    }
    assert!(built > 0, "a thousand mebibytes are not enough");
}

#[test]
fn small_stack_is_enough_or_a_clean_error() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    tree.write("r.yaml", &format!("{MAP}data: {}1{}\n", "{b: ".repeat(900), "}".repeat(900)));
    let want = tree.run(&["build"]).ok();
    for kibibytes in [32, 64, 128, 512, 4_096] {
        let run = limited(&tree, &format!("ulimit -s {kibibytes}"), &["build"]);
        assert!(run.ok() == want, "{kibibytes} KiB");
    }
}

/// Builds a tree in at most two gibibytes, and expects the error of the budget, which is a quarter.
#[track_caller]
fn is_too_large(tree: &Tree) {
    let run = limited(tree, "ulimit -v 2097152", &["build"]);
    run.fails_with(&["the steps of the build make more than 536870912 bytes", "--build-size-limit sets the limit"]);
}

/// As [`is_too_large`], with a budget of 32 MiB.
#[track_caller]
fn is_too_large_for_the_flag(tree: &Tree) {
    let run = limited(tree, "ulimit -v 2097152", &["build", "--build-size-limit", "32MiB"]);
    run.fails_with(&["the steps of the build make more than 33554432 bytes", "--build-size-limit sets the limit"]);
}

#[test]
fn repeated_text_replacement_draws_on_the_budget() {
    let vars = "vars: [{name: A, objref: {apiVersion: v1, kind: ConfigMap, name: a}, fieldref: {fieldpath: data.k}}]\n";
    let tree = Tree::new("");
    tree.write("kustomization.yaml", &format!("resources: [r.yaml]\n{vars}configurations: [c.yaml]\n"));
    tree.write("c.yaml", "varReference: [{kind: ConfigMap, path: data/x}, {kind: ConfigMap, path: list}]\n");
    let value = "x".repeat(1 << 20);
    tree.write("r.yaml", &format!("{MAP}data: {{k: {value}, x: {}}}\n", "$(A)".repeat(10_000)));
    is_too_large(&tree);
    // One text in many places takes no memory, but much output.
    tree.write("r.yaml", &format!("{MAP}data: {{k: {value}}}\nlist: [{}]\n", "$(A), ".repeat(10_000)));
    is_too_large_for_the_flag(&tree);
    tree.write("r.yaml", &format!("{MAP}data: {{k: v, x: $(A)}}\n"));
    assert!(tree.run(&["build"]).ok().contains("x: v\n"));
}

#[test]
fn file_under_many_keys_draws_on_the_budget() {
    for (field, character) in [("configMapGenerator", 'x'), ("configMapGenerator", '\u{0}'), ("secretGenerator", 'x')] {
        let tree = Tree::new("");
        tree.write("big", &character.to_string().repeat(10 << 20));
        let files: String = (0..1_000).map(|n| format!("  - k{n}=big\n")).collect();
        tree.write("kustomization.yaml", &format!("{field}:\n- name: a\n  files:\n{files}"));
        is_too_large(&tree);
    }
}

#[test]
fn prefixes_of_many_layers_draw_on_the_budget() {
    let tree = Tree::new("");
    let prefix = "p".repeat(100_000);
    for layer in 0..200 {
        let below = if layer == 199 { "../r.yaml".to_owned() } else { format!("../l{}", layer + 1) };
        let text = format!("resources: [{below}]\nnamePrefix: {prefix}\n");
        tree.write(&format!("l{layer}/kustomization.yaml"), &text);
    }
    tree.write("l199/r.yaml", MAP);
    tree.write("r.yaml", MAP);
    tree.write("l199/kustomization.yaml", &format!("resources: [r.yaml]\nnamePrefix: {prefix}\n"));
    tree.write("kustomization.yaml", "resources: [l0]\n");
    is_too_large(&tree);
}

#[test]
fn bases_doubled_by_each_layer_draw_on_the_budget() {
    let tree = Tree::new("");
    for layer in 0..40 {
        let both = format!("resources: [../b{layer}, ../c{layer}]\n");
        let below = if layer == 39 { "r.yaml".to_owned() } else { format!("../a{}", layer + 1) };
        tree.write(&format!("a{layer}/kustomization.yaml"), &both);
        for side in ["b", "c"] {
            let text = format!("resources: [{below}]\nnamePrefix: {side}\n");
            tree.write(&format!("{side}{layer}/kustomization.yaml"), &text);
            tree.write(&format!("{side}{layer}/r.yaml"), MAP);
        }
    }
    tree.write("kustomization.yaml", "resources: [a0]\n");
    is_too_large_for_the_flag(&tree);
}

#[test]
fn anchor_with_many_aliases_draws_on_the_budget() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    tree.write("r.yaml", &format!("{MAP}data: &a {{k: {}}}\nlist: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(10_000)));
    is_too_large_for_the_flag(&tree);
}

#[test]
fn patch_of_many_resources_draws_on_the_budget() {
    let tree = Tree::new("");
    let name = |n: usize| format!("---\n{}", MAP.replace("name: a", &format!("name: a{n}")));
    tree.write("r.yaml", &(0..5_000).map(name).collect::<String>());
    let list = format!("[{}]", ["{\"a\": \"b\"}"; 10_000].join(", "));
    for (file, patch) in [
        ("p.yaml", format!("{MAP}list: {list}\n")),
        ("p.yaml", format!("[{{\"op\": \"add\", \"path\": \"/list\", \"value\": {list}}}]\n")),
    ] {
        tree.write(file, &patch);
        tree.write("kustomization.yaml", "resources: [r.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]\n");
        is_too_large_for_the_flag(&tree);
    }
}

#[test]
fn replacement_of_many_fields_draws_on_the_budget() {
    let tree = Tree::new("");
    let paths: String = (0..10_000).map(|n| format!("      - data.x{n}\n")).collect();
    let entry = "replacements:\n- source: {kind: ConfigMap, fieldPath: data.k}\n  targets:\n  - select: {kind: ConfigMap}\n    \
         options: {create: true}\n    fieldPaths:\n";
    tree.write("kustomization.yaml", &format!("resources: [r.yaml]\n{entry}{paths}"));
    tree.write("r.yaml", &format!("{MAP}data: {{k: {}}}\n", "x".repeat(200 << 10)));
    is_too_large_for_the_flag(&tree);
}

#[test]
fn flag_sets_the_build_size_limit() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    tree.write("r.yaml", &format!("{MAP}data: {{k: {}}}\n", "x".repeat(1 << 20)));
    tree.run(&["build", "--build-size-limit", "4MiB"]).ok();
    let words =
        ["the steps of the build make more than 1048576 bytes of texts, copies and output", "--build-size-limit"];
    tree.run(&["build", "--build-size-limit", "1MiB"]).fails_with(&words);
    tree.run(&["build", "--build-size-limit", "1MiB", "-o", "out"]).fails_with(&words);
    assert!(!tree.path().join("out").exists());
}

#[test]
fn stderr_of_a_plugin_is_shown_up_to_a_limit() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Any\nmetadata: {name: g}\n",
    );
    for endless in ["tr '\\0' x < /dev/zero", "yes"] {
        let text = MAP.replace('\n', "\\n");
        tree.plugin("Any", &format!("#!/bin/sh\n{endless} | head -c 20000000 >&2\necho last >&2\nprintf '{text}'\n"));
        let run = tree.run(&["build", "--enable-alpha-plugins"]);
        assert!(run.stderr.len() < 17 << 20, "{endless}: {}", run.stderr.len());
        assert!(run.stderr.ends_with("no more is shown)\n"), "{endless}: {}", &run.stderr[run.stderr.len() - 200..]);
        assert!(run.ok().contains("name: a"), "{endless}");
    }
}
