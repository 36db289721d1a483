//! Go plugins, built by a real Go from unchanged source against the real packages of kustomize.
//! Where there is no Go, no C compiler or no way to those packages, the tests say so.

use crate::support::go::{build, can_build, command, copy, go, home, source, variables};
use crate::support::{Tree, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const PODS: &str = "-- pods.yaml --\n# first\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a # kept\nspec:\n  volumes:\n  - name: v\n    configMap: {name: cm}\n\
    ---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n";

fn config(kind: &str, name: &str, more: &str) -> String {
    format!("apiVersion: ex.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{more}")
}

#[test]
fn a_plugin_is_built_beside_its_source() {
    let Some(home) = home() else { return };
    for (kind, modes) in [
        ("DatePrefixer", "transform, validate"),
        ("StringPrefixer", "transform, validate"),
        ("SomeServiceGenerator", "generate"),
        ("SecretsFromDatabase", "generate"),
        ("CalvinDuplicator", "transform, validate"),
        ("EncodedSecrets", "generate"),
        ("LoaderOnce", "generate"),
        ("Both", "generate, transform, validate"),
    ] {
        let folder = home.directory.join("ex.io/v1").join(kind.to_lowercase());
        assert!(home.said.contains(&format!("{kind}.so: {modes} (go1.")), "{}", home.said);
        let mut left: Vec<String> =
            fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        left.retain(|name| *name != format!("{kind}.so"));
        // Nothing else was added, and nothing that was there is another.
        for name in left.iter().filter(|name| folder.join(name).is_file()) {
            let before = source(&kind.to_lowercase()).join(name);
            assert_eq!(fs::read(folder.join(name)).unwrap(), fs::read(before).unwrap());
        }
    }
}

#[test]
fn both_forms_of_config_are_taken() {
    let old = format!(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\n{}-- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: of-the-file}}\n",
        config("LoaderOnce", "g", "file: cm.yaml\n")
    );
    let Some(run) = build(&old, &[]) else { return };
    assert_eq!(run.ok(), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: of-the-file\n");
    // The form of today.
    let new = format!("{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [t.yaml]\n-- t.yaml --\n");
    let out = build(&(new + &config("StringPrefixer", "x", "")), &[]).unwrap().ok();
    assert!(out.contains("name: x-a\n"), "{out}");
    build(&old.replace("file: cm.yaml", "file: ../x"), &[]).unwrap().fails_with(&["no such file"]);
    build(&old.replace("file: cm.yaml", "file: /etc/passwd"), &[])
        .unwrap()
        .fails_with(&["security; file '/etc/passwd' is not in or below"]);
    build(&old.replace("file: cm.yaml", "file: /etc/hostname"), &["--load-restrictor", "LoadRestrictionsNone"])
        .unwrap()
        .fails_with(&["plugin ex.io/v1 LoaderOnce g"]);
}

#[test]
fn methods_decide_where_a_plugin_can_stand() {
    let tree =
        format!("{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [t.yaml]\n-- t.yaml --\n");
    let Some(run) = build(&(tree.clone() + &config("StringPrefixer", "x", "")), &[]) else { return };
    let out = run.ok();
    assert!(out.contains("name: x-a\n") && out.matches("name: x-cm\n").count() == 2, "{out}");
    build(&(tree.clone() + &config("SomeServiceGenerator", "x", "")), &[]).unwrap().fails_with(&[
        "t.yaml:1:1",
        "is not a transformer",
        "it can: generate",
    ]);
    build(
        &tree
            .replace("transformers", "validators")
            .replace("pods.yaml]", "pods.yaml]\n")
            .replace("t.yaml --\n", &format!("t.yaml --\n{}", config("StringPrefixer", "x", ""))),
        &[],
    )
    .unwrap()
    .fails_with(&["validator shouldn't modify"]);
}

#[test]
fn a_plugin_that_does_both_generates_with_the_generators() {
    let tree = format!(
        "{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ngenerators: [t.yaml]\ntransformers: [t.yaml]\n-- t.yaml --\n{}",
        config("Both", "b", "")
    );
    let Some(run) = build(&tree, &[]) else { return };
    assert_eq!(run.stderr, "a word on stdout\n");
    let out = run.ok();
    // Three: the transformer has seen what was generated. The hash comes last.
    assert_eq!(out.matches("seen: \"3\"").count(), 3, "{out}");
    assert!(out.contains("name: made-"), "{out}");
}

/// A tree whose plugin home has a genuine Go plugin, made as kustomize's docs say, and its file;
/// `None` where there is no Go.
fn genuine() -> Option<(Tree, PathBuf)> {
    if !can_build() {
        skip("no Go, no C compiler, or no way to sigs.k8s.io/kustomize/api");
        return None;
    }
    let tree = Tree::new(&format!(
        "{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [t.yaml]\n-- t.yaml --\n{}",
        config("StringPrefixer", "x", "")
    ));
    let folder = tree.home().join(".config/kustomize/plugin/ex.io/v1/stringprefixer");
    copy(&source("stringprefixer"), &folder);
    fs::write(folder.join("go.mod"), fs::read(source("both").join("go.mod")).unwrap()).unwrap();
    let made = go(
        &folder,
        &["build", "-mod=mod", "-trimpath", "-buildmode=plugin", "-o", "StringPrefixer.so", "StringPrefixer.go"],
    );
    assert!(made.is_some());
    Some((tree, folder.join("StringPrefixer.so")))
}

#[test]
fn a_genuine_go_plugin_is_refused_with_what_to_do_and_can_be_adopted() {
    let Some((mut tree, path)) = genuine() else { return };
    let file = path.to_string_lossy().into_owned();
    let adopts = format!(
        "let builds make that program with --adopt-go-plugins, or make it once: rustomize plugin adopt {file}\n"
    );
    let said = tree.build(&[]).fails_with(&[
        "t.yaml:1:1",
        "is a Go plugin (go1.",
        "sigs.k8s.io/kustomize/api v0.21.1, -trimpath) that was not adopted",
        &adopts,
        &format!(
            "{}', which replaces the file: rustomize plugin build {}",
            path.with_extension("go").display(),
            path.parent().unwrap().display()
        ),
    ]);
    assert!(!said.contains("needs Go"), "{said}");
    fs::remove_file(path.with_extension("go")).unwrap();
    let said = crate::support::run(tree.command(&["build", "--enable-alpha-plugins"]).env("PATH", "/nowhere"));
    let said = said.fails_with(&[&adopts, "needs Go and a C compiler on this machine: ", "no 'go' program on path"]);
    assert!(!said.contains("which replaces the file"), "{said}");
    let adopt = |tree: &Tree, file: &str| crate::support::run(&mut command(tree, &["plugin", "adopt", file]));
    assert!(adopt(&tree, &file).ok().contains("transform, validate (go1."));
    tree.assert_nothing_left();
    let out = tree.build(&[]).ok();
    assert!(out.contains("name: x-a\n") && out.matches("name: x-cm\n").count() == 2, "{out}");
    // The plugin exists: nothing is built again, and Go is not needed.
    let mut again = tree.command(&["plugin", "adopt", &file]);
    assert!(crate::support::run(again.env("PATH", "/nowhere")).ok().contains("transform, validate"));
    adopt(&tree, "/etc/passwd").fails_with(&["is a text file"]);
    tree.variables.insert("XDG_CACHE_HOME", tree.home().join("other").to_string_lossy().into_owned());
    tree.build(&[]).fails_with(&["is a Go plugin"]);
}

#[test]
fn a_build_adopts_a_genuine_go_plugin_with_the_users_word() {
    let Some((tree, path)) = genuine() else { return };
    let before = fs::read(&path).unwrap();
    let build = ["build", "--enable-alpha-plugins"];
    let with_flag = [&build[..], &["--adopt-go-plugins"]].concat();
    crate::support::run(&mut command(&tree, &build)).fails_with(&["that was not adopted", "--adopt-go-plugins"]);
    let without_go = crate::support::run(tree.command(&with_flag).env("PATH", "/nowhere"));
    without_go.fails_with(&["no 'go' program on path", "adopting the plugin '", "t.yaml:1:1"]);
    let adopted = crate::support::run(&mut command(&tree, &with_flag));
    assert!(adopted.stderr.contains("Adopting the Go plugin '"), "{}", adopted.stderr);
    assert!(adopted.ok().contains("name: x-a\n"));
    tree.assert_nothing_left();
    // It is remembered: no flag, no Go and no word about it.
    let again = crate::support::run(tree.command(&build).env("PATH", "/nowhere"));
    assert_eq!(again.stderr, "");
    assert!(again.ok().contains("name: x-a\n"));
    assert!(fs::read(&path).unwrap() == before, "the user's file stays for kustomize");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program that has a terminal for us")]
fn a_user_at_a_terminal_is_asked() {
    use std::io::Write;
    if crate::support::in_path("script").is_none() {
        return skip("no program 'script'");
    }
    let Some((tree, _)) = genuine() else { return };
    let answer = |answer: &str, more: &[(&str, &str)]| {
        let line = format!("{} build --enable-alpha-plugins; echo status $?", crate::support::program());
        let mut script = Command::new("script");
        script.args(["-qc", &line, "/dev/null"]).current_dir(tree.path()).stdin(std::process::Stdio::piped());
        script.stdout(std::process::Stdio::piped()).env("HOME", tree.home()).env("TMPDIR", tree.tmp()).env_remove("CI");
        let mut child = script.envs(variables()).envs(more.iter().copied()).spawn().unwrap();
        // The end of the input comes after the answer: without a question nobody waits for it.
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
    };
    let question = "Build it now? [y/N]";
    let said = answer("yes\n", &[("CI", "true")]);
    assert!(!said.contains(question) && said.contains("that was not adopted"), "{said}");
    let said = answer("no\n", &[]);
    assert!(said.contains(question) && said.contains("that was not adopted") && said.contains("status 1"), "{said}");
    let said = answer("yes\n", &[]);
    assert!(said.contains(question) && said.contains("name: x-a") && said.contains("status 0"), "{said}");
    let said = answer("", &[]);
    assert!(!said.contains(question) && said.contains("name: x-a"), "{said}");
}

#[test]
fn the_go_mod_of_a_plugin_is_honoured() {
    let tree = format!(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\n{}-- hidden --\nd29yZHM=",
        config("EncodedSecrets", "g", "name: s\nfile: hidden\n")
    );
    let Some(run) = build(&tree, &[]) else { return };
    let out = run.ok();
    assert!(out.contains("data:\n  text: d29yZHM=\nkind: Secret\nmetadata:\n  name: s"), "{out}");
    let text = fs::read(home().unwrap().directory.join("ex.io/v1/encodedsecrets/EncodedSecrets.so")).unwrap();
    let has = |words: &str| memchr::memmem::find(&text, words.as_bytes()).is_some();
    assert!(has("sigs.k8s.io/kustomize/api\tv0.20.1") && has("github.com/go-errors/errors\tv1.4.2"));
    build(&tree.replace("d29yZHM=", "%"), &[]).unwrap().fails_with(&["decoding hidden: illegal base64"]);
}

#[test]
fn configurations_of_go_plugins_are_made_by_kustomizations() {
    let tree = format!(
        "{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [conf]\n\
         -- conf/kustomization.yaml --\nresources: [t.yaml]\nnamePrefix: long-\n-- conf/t.yaml --\n{}",
        config("StringPrefixer", "x", "")
    );
    if let Some(run) = build(&tree, &[]) {
        assert!(run.ok().contains("name: long-x-a\n"));
    }
}

#[test]
fn go_plugins_stand_among_built_in_ones() {
    let tree = format!(
        "{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [one.yaml, two.yaml, three.yaml, four.yaml]\n\
         -- one.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {{name: p}}\nprefix: b-\nfieldSpecs: [{{path: metadata/name}}]\n\
         -- two.yaml --\n{}-- three.yaml --\napiVersion: builtin\nkind: SuffixTransformer\nmetadata: {{name: s}}\nsuffix: -e\nfieldSpecs: [{{path: metadata/name}}]\n\
         -- four.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {{name: q}}\nprefix: c-\nfieldSpecs: [{{path: metadata/name}}]\n",
        config("StringPrefixer", "x", "")
    );
    if let Some(run) = build(&tree, &[]) {
        let out = run.ok();
        assert!(out.contains("name: c-x-b-a-e\n") && out.matches("name: c-x-b-cm-e\n").count() == 2, "{out}");
    }
}

#[test]
fn the_public_shapes_of_go_plugins_run_unchanged() {
    let generate = |kind: &str, more: &str| {
        build(
            &format!("-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\n{}", config(kind, "g", more)),
            &[],
        )
    };
    let Some(run) = generate("SomeServiceGenerator", "service: web\nport: \"8080\"\n") else { return };
    assert_eq!(
        run.ok(),
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n  - port: 8080\n  selector:\n    tier: web\n"
    );
    let secret = generate("SecretsFromDatabase", "keys: [USER, PASSWORD]\n").unwrap().ok();
    assert!(secret.contains("data:\n  PASSWORD: czNjcj10\n  USER: cmVhZGVy\nkind: Secret\n"), "{secret}");
    generate("SecretsFromDatabase", "keys: [NO]\n").unwrap().fails_with(&["no such key: NO", "g.yaml:1:1"]);
    let transform = |kind: &str, more: &str| {
        let tree =
            format!("{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [t.yaml]\n-- t.yaml --\n");
        build(&(tree + &config(kind, "t", more)), &[]).unwrap()
    };
    let dated = transform("DatePrefixer", "").ok();
    assert!(dated.contains("name: 2026-01-31-a\n") && dated.matches("name: 2026-01-31-cm\n").count() == 2, "{dated}");
    let doubled = transform("CalvinDuplicator", "name: cm\ncount: 3\n").ok();
    assert!(doubled.contains("name: cm-1\n") && doubled.contains("name: cm-2\n"), "{doubled}");
}

#[test]
fn a_go_plugin_that_misbehaves_hurts_only_itself() {
    for (act, words) in [
        ("error", "no such thing"),
        ("panic", "it panicked: oh no"),
        ("nil", "nil pointer dereference"),
        ("goroutine", "panic: in a goroutine"),
        ("exit", "exit status: 9"),
        ("stack", "stack overflow"),
        ("goexit", "ended in the middle of a call"),
        ("deadlock", "took longer than 2 s"),
        ("loop", "took longer than 2 s"),
    ] {
        let tree =
            format!("{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [t.yaml]\n-- t.yaml --\n");
        // Go's own limit for a stack is a gigabyte: filling it takes a while.
        let limit = if words.contains("took longer") { "2s" } else { "2m" };
        let Some(run) = build(&(tree + &config("Faulty", "t", &format!("act: {act}\n"))), &["--plugin-timeout", limit])
        else {
            return;
        };
        let said = run.fails_with(&["t.yaml:1:1"]);
        assert!(said.contains(words), "{act}: {said}");
    }
}

#[test]
fn plugins_see_what_the_command_line_says() {
    let tree =
        format!("-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\n{}", config("GeneralConfig", "g", ""));
    let shown = |args: &[&str]| Some(build(&tree, args)?.ok());
    let Some(plain) = shown(&[]) else { return };
    let functions = r#"{"EnableExec":false,"Network":false,"NetworkName":"bridge","Mounts":[],"Env":[],"AsCurrentUser":false,"WorkingDir":""}"#;
    let helm = r#"{"Enabled":true,"Command":"helm","ApiVersions":[],"KubeVersion":"","Debug":false}"#;
    assert!(plain.contains(&format!("config: '[{helm},{functions},true,true]'")), "{plain}");
    let flags = "--helm-command myhelm --helm-api-versions a/v1 --helm-api-versions b/v2 --helm-kube-version 1.30 --helm-debug --enable-exec \
                 --network --network-name mine --mount type=bind,src=/a,dst=/b -e A=b --as-current-user";
    let said = shown(&flags.split_whitespace().collect::<Vec<_>>()).unwrap();
    let functions = r#"{"EnableExec":true,"Network":true,"NetworkName":"mine","Mounts":["type=bind,src=/a,dst=/b"],"Env":["A=b"],"AsCurrentUser":true,"WorkingDir":""}"#;
    let helm = r#"{"Enabled":true,"Command":"myhelm","ApiVersions":["a/v1","b/v2"],"KubeVersion":"1.30","Debug":true}"#;
    assert!(said.contains(&format!("config: '[{helm},{functions},true,true]'")), "{said}");
}

#[test]
fn old_modules_are_built_and_too_old_ones_told() {
    if !can_build() {
        skip("no Go, no C compiler, or no way to sigs.k8s.io/kustomize/api");
        return;
    }
    let tree = Tree::new("");
    let text = "package main\n\nimport \"sigs.k8s.io/kustomize/api/resmap\"\n\ntype plugin struct{}\n\nvar KustomizePlugin plugin\n\n\
        func (p *plugin) Config(_ *resmap.PluginHelpers, _ []byte) error { return nil }\n\n\
        func (p *plugin) Transform(m resmap.ResMap) error {\n\tm.Resources()[0].SetName(\"old\")\n\treturn nil\n}\n";
    tree.write("Old.go", text);
    let build = |module: &str| {
        tree.write("go.mod", module);
        let run = crate::support::run(&mut command(&tree, &["plugin", "build", "."]));
        assert_eq!(fs::read_to_string(tree.path().join("go.mod")).unwrap(), module, "the user's file stays");
        tree.assert_nothing_left();
        run
    };
    let module = |go: &str, more: &str| format!("module example.com/old\n\n{go}\n\n{more}\n");
    let said = build(&module("go 1.14", "require sigs.k8s.io/kustomize/api v0.8.8")).ok();
    assert!(said.contains("Old.so: transform, validate"), "{said}");
    tree.write("../home/.config/kustomize/plugin/ex.io/v1/old/Old.go", text);
    fs::copy(tree.path().join("Old.so"), tree.home().join(".config/kustomize/plugin/ex.io/v1/old/Old.so")).unwrap();
    for (name, text) in crate::support::split(&format!(
        "{PODS}-- kustomization.yaml --\nresources: [pods.yaml]\ntransformers: [t.yaml]\n-- t.yaml --\n{}",
        config("Old", "x", "")
    ))
    .1
    {
        tree.write(&name, &text);
    }
    assert!(tree.build(&[]).ok().contains("  name: old"));
    // Variables belong to a resource, whatever a plugin calls it.
    tree.write("kustomization.yaml", "resources: [base]\ntransformers: [t.yaml]\n");
    let var = "resources: [cm.yaml]\nvars: [{name: V, objref: {apiVersion: v1, kind: ConfigMap, name: a}}]\n";
    tree.write("base/kustomization.yaml", var);
    tree.write("base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {v: $(V)}}\n");
    let out = tree.build(&[]).ok();
    assert!(out.contains("    v: old\n") && out.contains("  name: old\n"), "{out}");
    let oldest = "the oldest that works is sigs.k8s.io/kustomize/api v0.8.8";
    build(&module("go 1.14", "require sigs.k8s.io/kustomize/api v0.8.7"))
        .fails_with(&["the plugin is for sigs.k8s.io/kustomize/api v0.8.7", oldest]);
    // A module that names no version gets the promised one.
    build(&module("", "")).ok();
    let built = fs::read(tree.path().join("Old.so")).unwrap();
    let has = |words: &str| memchr::memmem::find(&built, words.as_bytes()).is_some();
    assert!(has("sigs.k8s.io/kustomize/api\tv0.21.1") && !has("sigs.k8s.io/kustomize/api\tv0.21.2"));
    tree.write("Old.go", &text.replace("kustomize/api/resmap", "kustomize/api/nowhere"));
    let said =
        build(&module("go 1.24", "require sigs.k8s.io/kustomize/api v0.21.1")).fails_with(&["kustomize/api/nowhere"]);
    assert!(!said.contains("requires go"), "{said}");
    tree.write("Old.go", &text.replace("kustomize/api/resmap", "kustomize/v3/pkg/resmap"));
    build(&module("go 1.12", "require sigs.k8s.io/kustomize/v3 v3.3.1"))
        .fails_with(&["the plugin is for sigs.k8s.io/kustomize/v3/pkg/resmap", oldest]);
}

#[test]
fn what_cannot_be_built_is_an_error_and_leaves_what_was_there() {
    let tree = Tree::new("");
    let place = tree.path();
    let build = |variables: &[(&str, &str)]| {
        let mut command = tree.command(&["plugin", "build", "."]);
        command.envs(variables.iter().copied());
        let run = crate::support::run(&mut command);
        tree.assert_nothing_left();
        run
    };
    build(&[]).fails_with(&["no Go file in", "var KustomizePlugin"]);
    tree.write("Kind.go", "package main\n\nvar KustomizePlugin = broken\n");
    tree.write("Kind.so", "the old one");
    build(&[("PATH", "/nowhere")]).fails_with(&["no 'go' program on path"]);
    tree.run(&["plugin", "build", "nowhere"]).fails_with(&["cannot find 'nowhere'"]);
    if !can_build() {
        skip("no Go, no C compiler, or no way to sigs.k8s.io/kustomize/api");
        return;
    }
    let run = |variables: BTreeMap<&'static str, String>| {
        crate::support::run(command(&tree, &["plugin", "build", "."]).envs(variables))
    };
    run(BTreeMap::from([("CC", "/nowhere/cc".to_owned())])).fails_with(&["no C compiler", "'/nowhere/cc'", "CC"]);
    run(BTreeMap::new()).fails_with(&["'go build' in", "failed", "undefined: broken"]);
    tree.write("Kind.go", "package main\n\nvar KustomizePlugin int\n");
    run(BTreeMap::new()).fails_with(&["has no method that this knows", "Generate()"]);
    tree.assert_nothing_left();
    assert_eq!(fs::read_to_string(place.join("Kind.so")).unwrap(), "the old one");
}
