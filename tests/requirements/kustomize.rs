//! How a build finds and calls plugins, as kustomize documents it: the table K of
//! docs/requirements.md. Most of its tests are in tests/plugin.rs, tests/attack/hostile.rs and
//! tests/go.rs.

use super::{names, object};
use crate::support::plugins::{install, script};
use crate::support::servers::{Files, git_server};
use crate::support::{Tree, git, run, skip};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
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
    // A plugin of that kustomization is a child of the keeper that the build has started, and the
    // build has not called itself.
    let kind = "apiVersion: ex.io/v1\\nkind: Make";
    tree.plugin(
        "Parent",
        &format!("#!/bin/sh\nset -- $(cat /proc/$PPID/stat)\nprintf \"{kind}\\nmetadata: {{name: of-$4}}\\n\"\n"),
    );
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

/// Opens the kustomization in the language server, and waits until the server has said something of
/// a file.
fn open_in_editor(tree: &Tree, flags: &[&str]) {
    let mut command = tree.command(&[&["lsp"], flags].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    let root = format!("file://{}", tree.path().canonicalize().unwrap().display());
    let document = serde_json::json!({
        "uri": format!("{root}/kustomization.yaml"), "languageId": "yaml", "version": 1,
        "text": fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap(),
    });
    let folders = serde_json::json!([{ "uri": root, "name": "tree" }]);
    let mut input = server.stdin.take().unwrap();
    for mut message in [
        serde_json::json!({ "id": 1, "method": "initialize", "params": { "capabilities": {}, "workspaceFolders": folders } }),
        serde_json::json!({ "method": "initialized", "params": {} }),
        serde_json::json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } }),
    ] {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }
    let mut output = BufReader::new(server.stdout.take().unwrap());
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server has ended");
        let Some(length) = line.trim_end().strip_prefix("Content-Length: ") else { continue };
        let mut content = vec![0; length.parse::<usize>().unwrap() + "\r\n".len()];
        output.read_exact(&mut content).unwrap();
        let answer = String::from_utf8(content).unwrap();
        if answer.contains("publishDiagnostics") && !answer.contains("\"diagnostics\":[]") {
            break;
        }
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn only_builds_and_calls_by_hand_run_plugins() {
    const FLAG: &str = "--enable-alpha-plugins";
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml, h.yaml]\n");
    tree.write("g.yaml", &object("Make", "g"));
    tree.write("h.yaml", &object("Made", "h"));
    let work = "#!/bin/sh\necho 'at work' >&2\n";
    let placed = tree.home().join(".config/kustomize/plugin/ex.io/v1/make/Make");
    let make = MAKE.replace("#!/bin/sh\n", &format!("{work}touch \"$HOME/ran\"\n"));
    tree.plugin("Make", &make);
    let installed =
        script("1.0.0", "x").replace("         printf", "printf").replace("\nprintf", "\necho 'at work' >&2\nprintf");
    assert!(installed.contains("at work"));
    install(&tree, "h.io/acme/app", &installed).ok();
    tree.write("app", &installed);
    git(&tree.path(), &["init", "-q", "-b", "main"]);
    git(&tree.path(), &["add", "."]);
    let has_run = || {
        let has_run = tree.home().join("ran").exists();
        if has_run {
            fs::remove_file(tree.home().join("ran")).unwrap();
        }
        has_run
    };
    let is_at_work = |args: &[&str]| {
        let run = tree.run(args);
        (run.stdout + &run.stderr).contains("at work") | has_run()
    };
    // The commands that build: with the flag they run plugins, without it they do not.
    let builds: &[(&str, &[&str])] = &[
        ("build", &[]),
        ("validate", &[]),
        ("lint", &[]),
        ("explain", &[]),
        ("images", &[]),
        ("diff", &[".", "."]),
        ("vendor", &[]),
    ];
    for (name, args) in builds {
        assert!(is_at_work(&[&[*name, FLAG], *args].concat()), "{name} with the flag");
        assert!(!is_at_work(&[&[*name], *args].concat()), "{name} without the flag");
        assert!(!is_at_work(&[name, FLAG, "--help"]), "{name} --help");
        let _ = fs::remove_file(tree.path().join("kustomization.lock"));
    }
    // Those that other programs call, or that run until they are interrupted.
    let list = "kind: ResourceList\nitems: []\nfunctionConfig: {kind: Kustomization, generators: [g.yaml]}\n";
    tree.write("list.yaml", list);
    for flags in [&[FLAG][..], &[]] {
        let mut command = tree.command(&[&["krm-function"], flags].concat());
        run(command.stdin(fs::File::open(tree.path().join("list.yaml")).unwrap()));
        assert_eq!(has_run(), !flags.is_empty(), "krm-function {flags:?}");
        assert_eq!(is_at_work(&[&["hook", "run", "pre-commit", "--"], flags].concat()), !flags.is_empty(), "{flags:?}");
    }
    // The server says something of a file that has a fault.
    tree.plugin("Make", &format!("{make}exit 1\n"));
    for flags in [&[FLAG][..], &[]] {
        open_in_editor(&tree, flags);
        assert_eq!(has_run(), !flags.is_empty(), "lsp {flags:?}");
    }
    tree.plugin("Make", &make);
    for flags in [&[FLAG][..], &[]] {
        let mut watch = tree.command(&[&["watch"], flags].concat()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(watch.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("waiting for changes")), "watch {flags:?}");
        watch.kill().unwrap();
        watch.wait().unwrap();
        assert_eq!(has_run(), !flags.is_empty(), "watch {flags:?}");
    }
    assert!(is_at_work(&["plugin", "run", "g.yaml"]));
    // No other command has the flag, or runs a plugin.
    let elsewhere = ["krm-function", "lsp", "watch"];
    let tops = commands(&tree, &[]);
    assert!(tops.len() > builds.len() + elsewhere.len(), "{tops:?}");
    for name in tops.iter().filter(|name| *name != "help") {
        let is_build = builds.iter().any(|(known, _)| known == name) || elsewhere.contains(&name.as_str());
        assert_eq!(tree.run(&[name, "--help"]).ok().contains(FLAG), is_build, "{name} --help");
        if !is_build && name != "plugin" {
            assert!(!is_at_work(&[name]) && !is_at_work(&[name, "."]) && !is_at_work(&[name, FLAG]), "{name}");
        }
    }
    let path = placed.to_string_lossy().into_owned();
    let of_plugin: &[(&str, &[&str])] = &[
        ("install", &["--path", "app", "h.io/acme/other"]),
        ("new", &["made"]),
        ("add", &["h.io/acme/app", "--from", "./app"]),
        ("describe", &["h.io/acme/app"]),
        ("why", &["ex.io/v1/Made"]),
        ("trust", &["h.io/acme/*"]),
        ("package", &["app"]),
        ("export", &["placed"]),
        ("adopt", &[&path]),
        ("remove", &["h.io/acme/app"]),
    ];
    // A command that comes later is tried without arguments. A server does not end.
    let mut all = commands(&tree, &["plugin"]);
    all.retain(|name| !["run", "serve", "help"].contains(&name.as_str()));
    all.sort_by_key(|name| name == "remove");
    assert!(of_plugin.iter().all(|(name, _)| all.contains(&(*name).to_owned())), "{all:?}");
    for name in &all {
        let given = of_plugin.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, args)| *args);
        assert!(!is_at_work(&[&["plugin", name], given].concat()), "plugin {name}");
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
    if !crate::support::go::can_build() {
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
    let build = || run(&mut crate::support::go::command(&tree, &["plugin", "build", &folder.to_string_lossy()]));
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

#[test]
fn configurations_are_made_and_changed_by_a_kustomization_of_their_own() {
    let tree = Tree::new(
        "-- kustomization.yaml --\ngenerators: [conf]\n\
         -- conf/kustomization.yaml --\nresources: [g.yaml]\ngenerators: [more.yaml]\ntransformers: [mark.yaml]\nnamePrefix: long-\n\
         patches: [{target: {kind: Make}, patch: '[{\"op\": \"add\", \"path\": \"/word\", \"value\": \"patched\"}]'}]\n",
    );
    tree.write("conf/g.yaml", &object("Make", "g"));
    tree.write("conf/more.yaml", &object("More", "more"));
    tree.write("conf/mark.yaml", &object("Mark", "mark"));
    // Prints the name, the word and the mark of its object.
    let read = |field: &str| format!("$(sed -n 's/^{field}: //p' \"$1\")");
    let made = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: \"%s\"}\\ndata: {v: \"%s %s\"}\\n'";
    tree.plugin(
        "Make",
        &format!("#!/bin/sh\n{made} \"{}\" \"{}\" \"{}\"\n", read("  name"), read("word"), read("mark")),
    );
    // The generator and the transformer of the configurations.
    tree.plugin("More", "#!/bin/sh\nprintf 'apiVersion: ex.io/v1\\nkind: Make\\nmetadata:\\n  name: made\\n'\n");
    tree.plugin("Mark", "#!/bin/sh\nsed 's/^kind: Make/&\\nmark: marked/'\n");
    let out = tree.build(&[]).ok();
    for name in ["long-g", "long-made"] {
        assert!(
            out.contains(&format!("data:\n  v: patched marked\nkind: ConfigMap\nmetadata:\n  name: {name}\n")),
            "{out}"
        );
    }
    assert_eq!(out.matches("kind: ").count(), 2, "the objects themselves are not in the output: {out}");
}

#[test]
fn plugins_and_built_in_transformers_have_the_same_standing() {
    let tree = Tree::new(
        "-- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
         -- b.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: b}\nprefix: b-\nfieldSpecs: [{path: metadata/name}]\n\
         -- e.yaml --\napiVersion: builtin\nkind: SuffixTransformer\nmetadata: {name: e}\nsuffix: -e\nfieldSpecs: [{path: metadata/name}]\n\
         -- c.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: c}\nprefix: c-\nfieldSpecs: [{path: metadata/name}]\n\
         -- one.yaml --\napiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: one}\nliterals: [v=1]\noptions: {disableNameSuffixHash: true}\n\
         -- two.yaml --\napiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: two}\nliterals: [v=1]\noptions: {disableNameSuffixHash: true}\n",
    );
    tree.write("x.yaml", &object("Change", "x"));
    tree.write("made.yaml", &object("Make", "made"));
    tree.plugin("Change", "#!/bin/sh\nsed 's/^  name: /&x-/'\n");
    tree.plugin("Make", MAKE);
    let names = |out: &str| -> Vec<String> {
        out.lines().filter_map(|line| line.strip_prefix("  name: ")).map(str::to_owned).collect()
    };
    let transformed = |list: &str| {
        tree.write("kustomization.yaml", &format!("resources: [cm.yaml]\ntransformers: [{list}]\n"));
        names(&tree.build(&[]).ok())
    };
    assert_eq!(transformed("b.yaml, x.yaml, e.yaml, c.yaml"), ["c-x-b-a-e"]);
    assert_eq!(transformed("x.yaml, b.yaml, c.yaml"), ["c-b-x-a"]);
    assert_eq!(transformed("b.yaml, c.yaml, x.yaml"), ["x-c-b-a"]);
    let generated = |list: &str| {
        tree.write("kustomization.yaml", &format!("generators: [{list}]\nsortOptions: {{order: fifo}}\n"));
        names(&tree.build(&[]).ok())
    };
    assert_eq!(generated("one.yaml, made.yaml, two.yaml"), ["one", "made", "two"]);
    assert_eq!(generated("made.yaml, two.yaml, one.yaml"), ["made", "two", "one"]);
}
