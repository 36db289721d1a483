//! How a build finds and calls plugins, as kustomize documents it: the table K of
//! docs/requirements.md. Most of its tests are in tests/plugin.rs, tests/hostile.rs and
//! tests/go.rs.

use super::{names, object};
use crate::manager::{install, script};
use crate::servers::{Files, git_server};
use crate::support::{Tree, git, run, skip};
use std::fs;
use std::process::Stdio;

/// Prints a ConfigMap with the name of its configuration object, with programs that need no PATH.
const MAKE: &str = "#!/bin/sh\n/bin/sed -n 's/^  name: \\(.*\\)/apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: \\1}\\ndata: {v: made}/p' \"$1\"\n";

#[test]
fn generators_and_transformers_are_lists_of_strings() {
    let tree = Tree::new("");
    tree.write("g.yaml", &object("Make", "g"));
    tree.write("t.yaml", &object("Change", "t"));
    tree.plugin("Make", MAKE);
    tree.plugin("Change", "#!/bin/sh\nsed s/made/changed/\n");
    let built = |text: &str| {
        tree.write("kustomization.yaml", text);
        tree.build(&[])
    };
    assert!(built("generators:\n- g.yaml\ntransformers:\n- t.yaml\n").ok().contains("v: changed\n"));
    for field in ["generators", "transformers"] {
        built(&format!("{field}: {{a: b}}\n")).fails_with(&["expected a list", field, "kustomization.yaml:1:"]);
        built(&format!("{field}: g.yaml\n")).fails_with(&["expected a list", field]);
        built(&format!("{field}: [{{a: b}}]\n")).fails_with(&["expected a string"]);
        built(&format!("{field}: [[g.yaml]]\n")).fails_with(&["expected a string"]);
    }
}

#[test]
fn an_entry_is_a_file_a_kustomization_or_a_url_of_one() {
    let tree = Tree::new("");
    tree.plugin("Make", MAKE);
    tree.plugin("Change", "#!/bin/sh\nname=$(sed -n 's/^  name: //p' \"$1\")\nsed \"s/v: old/v: by-$name/\"\n");
    let folder = |place: &str, name: &str| {
        tree.write(&format!("{place}/kustomization.yaml"), "resources: [object.yaml]\n");
        tree.write(&format!("{place}/object.yaml"), &object("Make", name));
        tree.write(&format!("{place}/change/kustomization.yaml"), "resources: [object.yaml]\n");
        tree.write(&format!("{place}/change/object.yaml"), &object("Change", name));
    };
    folder("conf", "near");
    folder("../home/repositories/work/conf", "far");
    let repositories = tree.home().join("repositories");
    git(&repositories.join("work"), &["init", "-q", "-b", "main"]);
    git(&repositories.join("work"), &["add", "."]);
    git(&repositories.join("work"), &["commit", "-qm", "one"]);
    git(&repositories.join("work"), &["tag", "v1"]);
    // The tag keeps its commit when the branch moves on.
    folder("../home/repositories/work/conf", "later");
    git(&repositories.join("work"), &["commit", "-qam", "two"]);
    git(&repositories, &["clone", "-q", "--bare", "work", "conf.git"]);
    let files = Files::default();
    files.put("/g.yaml", object("Make", "served"));
    let server = git_server(repositories.clone(), files);
    let absolute = tree.path().join("conf").to_string_lossy().into_owned();
    let cloned = format!("file://{}", repositories.join("work").display());
    for (entry, change, want) in [
        ("conf/object.yaml".to_owned(), "conf/change/object.yaml".to_owned(), "near"),
        ("conf".to_owned(), "conf/change".to_owned(), "near"),
        (absolute.clone(), format!("{absolute}/change"), "near"),
        (
            format!("http://{server}/conf.git//conf?ref=v1"),
            format!("http://{server}/conf.git//conf/change?ref=v1"),
            "far",
        ),
        (format!("{cloned}//conf?ref=main"), format!("{cloned}//conf/change?ref=main"), "later"),
    ] {
        tree.write("kustomization.yaml", &format!("generators: ['{entry}']\n"));
        let out = tree.build(&[]).ok();
        assert!(out.contains(&format!("  name: {want}\n")), "{entry}: {out}");
        tree.write(
            "kustomization.yaml",
            &format!("configMapGenerator: [{{name: a, literals: [v=old]}}]\ntransformers: ['{change}']\n"),
        );
        let out = tree.build(&[]).ok();
        assert!(out.contains(&format!("  v: by-{want}\n")), "{change}: {out}");
    }
    // Under the load restrictor, as everything else: a file outside of the root is not read.
    tree.write("app/kustomization.yaml", "generators: [../conf/object.yaml]\n");
    tree.build(&["app"]).fails_with(&["security", "is not in or below"]);
    tree.write("kustomization.yaml", &format!("generators: ['http://{server}/none.git//conf?ref=v1']\n"));
    tree.build(&[]).fails_with(&["none.git", "generators"]);
}

#[test]
fn a_kustomization_entry_is_built_in_this_process() {
    let tree = Tree::new("");
    tree.write("kustomization.yaml", "generators: [conf]\n");
    tree.write("conf/kustomization.yaml", "resources: [g.yaml]\nnamePrefix: pre-\n");
    tree.write("conf/g.yaml", &object("Make", "g"));
    tree.plugin("Make", MAKE);
    // No program is found that could build it.
    let mut command = tree.command(&["build", "--enable-alpha-plugins"]);
    let out = run(command.env("PATH", "/nowhere")).ok();
    assert!(out.contains("name: pre-g\n"), "{out}");
    // A plugin of that kustomization is a child of the build, which has not called itself.
    let kind = "apiVersion: ex.io/v1\\nkind: Make";
    tree.plugin("Parent", &format!("#!/bin/sh\nprintf \"{kind}\\nmetadata: {{name: of-$PPID}}\\n\"\n"));
    tree.write("conf/kustomization.yaml", "generators: [p.yaml]\n");
    tree.write("conf/p.yaml", &object("Parent", "p"));
    let mut command = tree.command(&["build", "--enable-alpha-plugins"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    let own = child.id();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(out.contains(&format!("name: of-{own}\n")), "{own}: {out}");
}

#[test]
fn a_configuration_is_an_object_with_a_kind_and_a_name() {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml]\n");
    tree.plugin("Make", MAKE);
    for (text, words) in [
        ("apiVersion: ex.io/v1\nkind: Make\n", "missing metadata.name"),
        ("apiVersion: ex.io/v1\nkind: Make\nmetadata: {labels: {a: b}}\n", "missing metadata.name"),
        ("apiVersion: ex.io/v1\nmetadata: {name: g}\n", "missing kind"),
        ("- apiVersion: ex.io/v1\n  kind: Make\n  metadata: {name: g}\n", "g.yaml:1:1"),
        ("just a text\n", "g.yaml"),
        ("apiVersion: ex.io/v1\nkind: [Make]\nmetadata: {name: g}\n", "g.yaml:"),
    ] {
        tree.write("g.yaml", text);
        tree.build(&[]).fails_with(&[words, "g.yaml"]);
    }
    tree.write("g.yaml", &object("Make", "g"));
    tree.build(&[]).ok();
}

#[test]
fn the_executable_is_named_by_the_kind_and_comes_first() {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml]\n");
    tree.write("g.yaml", &object("Make", "g"));
    let folder = "../home/.config/kustomize/plugin/ex.io/v1/make";
    for other in ["make", "MAKE", "Make.sh", "plugin"] {
        tree.write(&format!("{folder}/{other}"), MAKE);
    }
    tree.build(&[]).fails_with(&["no plugin for ex.io/v1 Make g", "make/Make'"]);
    // Beside it is a shared object that cannot be loaded: it is not looked at.
    tree.write(&format!("{folder}/Make.so"), "no ELF");
    tree.build(&[]).fails_with(&["Make.so"]);
    tree.write(&format!("{folder}/Make"), MAKE);
    assert!(tree.build(&[]).ok().contains("v: made\n"));
}

/// The commands that a help lists.
fn commands(tree: &Tree, args: &[&str]) -> Vec<String> {
    let help = tree.run(&[args, &["--help"]].concat()).ok();
    let list = help.split("\n\nOptions:").next().unwrap().split("Usage: ").nth(1).unwrap();
    // Descriptions continue in lines that are indented deeper.
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn only_builds_and_calls_by_hand_run_plugins() {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml, h.yaml]\n");
    tree.write("g.yaml", &object("Make", "g"));
    tree.write("h.yaml", &object("Made", "h"));
    let work = "#!/bin/sh\necho 'at work' >&2\n";
    let placed = tree.home().join(".config/kustomize/plugin/ex.io/v1/make/Make");
    tree.plugin("Make", &MAKE.replace("#!/bin/sh\n", &format!("{work}touch \"$HOME/ran\"\n")));
    let installed =
        script("1.0.0", "x").replace("         printf", "printf").replace("\nprintf", "\necho 'at work' >&2\nprintf");
    assert!(installed.contains("at work"));
    install(&tree, "h.io/acme/app", &installed).ok();
    tree.write("app", &installed);
    let path = placed.to_string_lossy().into_owned();
    let of_plugin: &[(&str, &[&str])] = &[
        ("install", &["--path", "app", "h.io/acme/other"]),
        ("new", &["made"]),
        ("add", &["h.io/acme/app", "--from", "./app"]),
        ("describe", &["h.io/acme/app"]),
        ("why", &["ex.io/v1/Made"]),
        ("trust", &["h.io/acme/*"]),
        ("export", &["placed"]),
        ("adopt", &[&path]),
        ("remove", &["h.io/acme/app"]),
    ];
    let is_at_work = |args: &[&str]| {
        let run = tree.run(args);
        let has_run = tree.home().join("ran").exists();
        if has_run {
            fs::remove_file(tree.home().join("ran")).unwrap();
        }
        (run.stdout + &run.stderr).contains("at work") || has_run
    };
    for args in [
        &["build", "--enable-alpha-plugins"][..],
        &["validate", "--enable-alpha-plugins"],
        &["explain", "--enable-alpha-plugins"],
        &["plugin", "run", "g.yaml"],
    ] {
        assert!(is_at_work(args), "{args:?}");
    }
    for args in [&["build"][..], &["validate"], &["explain"], &["build", "--help"], &["version"], &["doctor"]] {
        assert!(!is_at_work(args), "{args:?}");
    }
    // A command that comes later is tried without arguments. A server does not end.
    let mut all = commands(&tree, &["plugin"]);
    all.retain(|name| !["run", "serve", "help"].contains(&name.as_str()));
    all.sort_by_key(|name| name == "remove");
    assert!(of_plugin.iter().all(|(name, _)| all.contains(&(*name).to_owned())), "{all:?}");
    for name in &all {
        let given = of_plugin.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, args)| *args);
        assert!(!is_at_work(&[&["plugin", name], given].concat()), "plugin {name}");
    }
    let tops: Vec<String> = commands(&tree, &[]);
    for name in tops.iter().filter(|name| !["build", "validate", "explain", "plugin", "help"].contains(&name.as_str()))
    {
        assert!(!is_at_work(&[name]), "{name}");
    }
}

#[test]
fn generators_run_when_the_resources_are_there() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [g.yaml]\nresources: [base]\nsortOptions: {order: fifo}\n\
         -- base/kustomization.yaml --\nresources: [cm.yaml]\n\
         -- base/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\ndata: {a: \"1\"}\n",
    );
    tree.write("g.yaml", &object("Make", "g"));
    let printed = |metadata: &str| {
        format!("#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {metadata}\\ndata: {{b: \"2\"}}\\n'\n")
    };
    // The output of the plugin is merged into an existing resource.
    tree.plugin("Make", &printed("{name: first, annotations: {kustomize.config.k8s.io/behavior: merge}}"));
    assert!(tree.build(&[]).ok().contains("data:\n  a: \"1\"\n  b: \"2\"\n"));
    tree.plugin("Make", &printed("{name: second}"));
    let out = tree.build(&[]).ok();
    assert!(out.find("name: first").unwrap() < out.find("name: second").unwrap(), "{out}");
}

#[test]
fn the_full_set_passes_the_built_in_transformers_before_the_users() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ntransformers: [t.yaml]\nresources: [cm.yaml]\ngenerators: [g.yaml]\nnamePrefix: pre-\nlabels: [{pairs: {l: v}}]\nnamespace: space\n\
         -- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    tree.write("g.yaml", &object("Make", "made"));
    tree.write("t.yaml", &object("Change", "t"));
    tree.plugin("Make", MAKE);
    tree.plugin("Change", "#!/bin/sh\ntee \"$HOME/seen\"\n");
    let out = tree.build(&[]).ok();
    let seen = fs::read_to_string(tree.home().join("seen")).unwrap();
    for word in ["name: pre-a\n", "name: pre-made\n"] {
        assert!(seen.contains(word) && out.contains(word), "{seen}");
    }
    assert_eq!((seen.matches("l: v\n").count(), seen.matches("\n  namespace: space\n").count()), (2, 2), "{seen}");
}

#[test]
fn a_go_plugin_is_a_package_main_with_the_variable_of_a_plugin() {
    if !crate::go::can_build() {
        return skip("no Go, no C compiler, or no way to sigs.k8s.io/kustomize/api");
    }
    let tree = Tree::new("");
    let source = |package: &str, variable: &str| {
        format!(
            "package {package}\n\nimport \"sigs.k8s.io/kustomize/api/resmap\"\n\ntype plugin struct{{}}\n\nvar {variable} plugin\n\n\
             func (p *plugin) Config(_ *resmap.PluginHelpers, _ []byte) error {{ return nil }}\n\n\
             func (p *plugin) Transform(m resmap.ResMap) error {{\n\tm.Resources()[0].SetName(\"of-go\")\n\treturn nil\n}}\n"
        )
    };
    let folder = tree.home().join(".config/kustomize/plugin/ex.io/v1/change");
    let build = || run(&mut crate::go::command(&tree, &["plugin", "build", &folder.to_string_lossy()]));
    let place = |text: &str| tree.write("../home/.config/kustomize/plugin/ex.io/v1/change/Change.go", text);
    for (text, words) in [
        (source("main", "Plugin"), "declares 'var KustomizePlugin'"),
        (source("other", "KustomizePlugin"), "found packages other"),
    ] {
        place(&text);
        build().fails_with(&[words]);
        assert_eq!(names(&folder), ["Change.go"]);
    }
    place(&source("main", "KustomizePlugin"));
    assert!(build().ok().contains("Change.so: transform, validate"));
    tree.write("kustomization.yaml", "resources: [cm.yaml]\ntransformers: [t.yaml]\n");
    tree.write("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    tree.write("t.yaml", &object("Change", "t"));
    assert!(tree.build(&[]).ok().contains("name: of-go\n"));
}
