//! Installed plugins that run: how they speak, what they may do, and what comes from PATH. Real
//! executables, in the sandbox of this system.

use crate::support::Tree;
use crate::support::compiler::cc;
use crate::support::plugins::{require, root, script};
use rustomize::load::Disk;
use rustomize::{FixedHost, PluginOptions};
use rustomize::{Options, Workspace, build};
use rustomize_manager::policy::Policy;
use rustomize_manager::policy::environment::Environment;
use rustomize_manager::resolve::inputs::Inputs;
use rustomize_manager::resolve::plugins::{Managed, ManagedPlugins};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const HEAD: &str = "apiVersion: rustomize.dev/v1\n";

const TREE: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n-- beside --\nof the root\n";

/// A directory that is a plugin: bash, with more lines in its manifest.
fn directory(tree: &Tree, path: &str, version: &str, more: &str, script: &str) {
    let manifest = format!(
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: {version}\nruntime: bash\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n{more}"
    );
    tree.write(&format!("{path}/plugin.yaml"), &manifest);
    tree.write(&format!("{path}/main.sh"), script);
}

/// Prints a ConfigMap with what the shell left in `v`.
const MADE: &str =
    "\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata:\\n  name: made\\ndata:\\n  v: \"%s\"\\n' \"$v\"\n";

/// The same as the only item of a ResourceList.
const MADE_ITEM: &str = "\nprintf 'kind: ResourceList\\nitems:\\n- apiVersion: v1\\n  kind: ConfigMap\\n  metadata:\\n    name: made\\n  data:\\n    v: \"%s\"\\n' \"$v\"\n";

#[track_caller]
fn says(out: &str, v: &str) {
    assert!(out.contains(&format!("  v: {v}\n")), "{v} is not in:\n{out}");
}

#[test]
fn a_plugin_may_speak_as_a_function() {
    let tree = Tree::new(TREE);
    let script = format!("v=$(grep -c 'kind: ResourceList'; echo \"$#\")\nv=$(echo $v){MADE_ITEM}");
    directory(&tree, "plugins/app", "1.0.0", "protocol: krm\n", &script);
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "1 0");
    // kustomize speaks otherwise with what is placed: it is left out, and that is said.
    let run = tree.run(&["plugin", "sync", "--placement", "../home/placed"]);
    assert!(run.stderr.contains("h.io/acme/app") && run.stderr.contains("ResourceList"), "{}", run.stderr);
    assert_eq!(run.ok(), "");
    assert!(!tree.home().join("placed/ex.io").exists());
}

#[test]
fn requested_permissions_must_be_granted() {
    let tree = Tree::new(TREE);
    tree.write("../home/.secret/key", "hunter2");
    let script = format!(
        "v=\"$(cat beside) $(cat {}/.secret/key 2>/dev/null || echo refused) ${{TOKEN:-unset}} ${{OTHER:-unset}}\"{MADE}",
        tree.home().display()
    );
    let asks = "permissions: {read: [~/.secret], env: [TOKEN]}\n";
    directory(&tree, "plugins/app", "1.0.0", "", &script);
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    let mut tree = tree;
    tree.variables.insert("TOKEN", "t".to_owned());
    tree.variables.insert("OTHER", "o".to_owned());
    tree.run(&["plugin", "install"]).ok();
    // One that asks for nothing has the tree, and neither the user's files nor his variables.
    says(&tree.build(&["--offline"]).ok(), "of the root refused unset unset");
    says(&tree.build(&["--offline", "--plugin-isolation", "off"]).ok(), "of the root hunter2 t o");
    says(&tree.build(&["--offline", "--plugin-allow-env", "OTHER"]).ok(), "of the root refused unset o");
    // Requested permissions are shown at installation, locked, and not granted before the user
    // grants them.
    directory(&tree, "plugins/app", "1.0.1", asks, &script);
    let run = tree.run(&["plugin", "install"]);
    let from = tree.path().canonicalize().unwrap().join("plugins/app").display().to_string();
    let grant =
        format!("rustomize plugin trust h.io/acme/app --from {from} --allow-read '~/.secret' --allow-env TOKEN");
    let grant = grant.as_str();
    assert!(
        run.stderr.contains("asks for reading ~/.secret, the variable TOKEN") && run.stderr.contains(grant),
        "{}",
        run.stderr
    );
    run.ok();
    let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    assert!(lock.contains("\"~/.secret\"") && lock.contains("\"TOKEN\""), "{lock}");
    tree.build(&["--offline"])
        .fails_with(&["'h.io/acme/app' asks for reading ~/.secret, the variable TOKEN, which is not granted", grant]);
    // Flags grant to all plugins, the user's own rule to one.
    tree.build(&["--offline", "--plugin-allow-env", "TOKEN"]).fails_with(&["asks for reading ~/.secret, which"]);
    // As a shell writes `~/.secret`; and a variable that is not set is granted, too.
    let secret = tree.home().join(".secret").display().to_string();
    let flags = ["--offline", "--plugin-allow-env", "TOKEN", "--plugin-allow-read", &secret];
    says(&tree.build(&flags).ok(), "of the root hunter2 t unset");
    tree.variables.remove("TOKEN");
    says(&tree.build(&flags).ok(), "of the root hunter2 unset unset");
    tree.variables.insert("TOKEN", "t".to_owned());
    let trust = ["plugin", "trust", "h.io/acme/app", "--allow-read", &secret, "--allow-env", "TOK*"];
    tree.run(&trust).ok();
    tree.build(&["--offline"]).fails_with(&["which is not granted"]);
    tree.run(&[&trust[..], &["--from", "./plugins/app"]].concat()).ok();
    says(&tree.build(&["--offline"]).ok(), "of the root hunter2 t unset");
    // Other sources are as free as before.
    let rules = fs::read_to_string(tree.home().join(".config/rustomize/trust.yaml")).unwrap();
    assert!(rules.contains("'**'"), "{rules}");
}

#[test]
fn request_for_a_unix_socket_warns_that_all_are_reachable() {
    let tree = Tree::new(TREE);
    let socket = tree.home().join("s").display().to_string();
    let asks = format!("permissions: {{sockets: [{socket}]}}\n");
    directory(&tree, "plugins/app", "1.0.0", &asks, &format!("v=one{MADE}"));
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    let said = format!("asks for every UNIX socket that you may connect to, for {socket}");
    let grant = format!("--allow-socket {socket}");
    let run = tree.run(&["plugin", "install"]);
    assert!(run.stderr.contains(&said) && run.stderr.contains(&grant), "{}", run.stderr);
    run.ok();
    tree.build(&["--offline"]).fails_with(&[&said, "which is not granted", &grant]);
    says(&tree.build(&["--offline", "--plugin-allow-socket", &socket]).ok(), "one");
    tree.run(&["plugin", "trust", "h.io/acme/app", "--from", "./plugins/app", "--allow-socket", &socket]).ok();
    says(&tree.build(&["--offline"]).ok(), "one");
}

#[test]
fn repository_can_request_permissions_but_not_grant_them() {
    let mut tree = Tree::new(TREE);
    let script = format!("v=one{MADE}");
    directory(&tree, "plugins/app", "1.0.0", "", &script);
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    tree.variables.insert("CI", "true".to_owned());
    says(&tree.build(&["--offline"]).ok(), "one");
    // A grown permission in CI: the installed plugin is not the locked one.
    directory(&tree, "plugins/app", "1.0.1", "permissions: {network: true}\n", &script);
    tree.run(&["plugin", "install"]).fails_with(&["is not what was locked"]);
    tree.build(&["--offline"]).fails_with(&["has changed since it was locked"]);
    // Locked again by the author of the change: the permission is still not granted.
    tree.variables.remove("CI");
    tree.run(&["plugin", "lock"]).ok();
    tree.variables.insert("CI", "true".to_owned());
    tree.build(&["--offline"]).fails_with(&["asks for the network, which is not granted", "--allow-net"]);
    // A lock that hides what the plugin asks for does not help.
    let lock = tree.path().join("plugins.lock");
    let text = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, text.replace("\"network\": true", "\"network\": false")).unwrap();
    tree.build(&["--offline", "--plugin-allow-net"])
        .fails_with(&["asks for the network; plugins.lock does not have that permission"]);
    fs::write(&lock, text).unwrap();
    // An organisation's file sets a ceiling, and says so where it is installed.
    tree.write(
        "../home/trust.yaml",
        "apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules:\n- source: h.io/acme/*\n  from: '**'\n  permissions: {env: [A]}\n",
    );
    tree.variables.insert("RUSTOMIZE_TRUST", tree.home().join("trust.yaml").display().to_string());
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.run(&["plugin", "install"]).fails_with(&["asks for the network, which is not granted", "trust.yaml:4"]);
    // A new source in CI.
    tree.variables.remove("RUSTOMIZE_TRUST");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}, b: {source: h.io/acme/b, from: ./plugins/b}}");
    tree.run(&["plugin", "install"]).fails_with(&["h.io/acme/b", "not locked"]);
}

#[test]
fn a_program_in_path_is_a_plugin_unless_only_what_is_locked_may_run() {
    let mut tree = Tree::new(TREE);
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    let bin = tree.home().join("bin");
    tree.variables.insert("PATH", format!("{}:{path}", bin.display()));
    tree.write("../home/bin/rustomize-generator-made", &format!("#!/bin/sh\nv=path{MADE}"));
    let run = tree.build(&[]);
    assert!(run.stderr.contains("rustomize-generator-made' in PATH is used for ex.io/v1 Made g"), "{}", run.stderr);
    says(&run.ok(), "path");
    let said = tree.run(&["plugin", "why", "ex.io/v1/Made"]).ok();
    assert!(said.contains("PATH\n") && said.contains("rustomize-generator-made: used\n"), "{said}");
    // As a transformer it has another name; a file that is not a program is refused.
    tree.write("kustomization.yaml", "transformers: [g.yaml]\nresources: [cm.yaml]\n");
    tree.write("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    tree.write("../home/bin/rustomize-transformer-made", "cat\n");
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    tree.write("../home/bin/rustomize-transformer-made", "#!/bin/sh\nsed 's/name: a/name: b/'\n");
    assert!(tree.build(&[]).ok().contains("name: b"));
    tree.write("kustomization.yaml", "validators: [g.yaml]\nresources: [cm.yaml]\n");
    tree.write("../home/bin/rustomize-validator-made", "#!/bin/sh\necho no >&2\nexit 1\n");
    tree.build(&[]).fails_with(&["rustomize-validator-made' failed: exit status: 1"]);
    // Everything else comes before it.
    tree.write("kustomization.yaml", "generators: [g.yaml]\n");
    crate::support::plugins::install(&tree, "h.io/acme/app", &script("1.0.0", "installed")).ok();
    says(&tree.build(&[]).ok(), "installed");
    fs::remove_dir_all(root(&tree)).unwrap();
    let locked = "only locked plugins may be used";
    for (name, value, words) in
        [("RUSTOMIZE_IGNORE_AMBIENT_PLUGINS", "1", "unable to find plugin root"), ("CI", "true", locked)]
    {
        tree.variables.insert(name, value.to_owned());
        tree.build(&[]).fails_with(&[words]);
        tree.variables.remove(name);
    }
    tree.build(&["--frozen"]).fails_with(&[locked]);
}

#[test]
fn a_runtime_that_is_not_known_is_a_program_that_runs_the_files() {
    let mut tree = Tree::new(TREE);
    let manifest = format!(
        "{HEAD}kind: Plugin\nversion: 1.0.0\nruntime: upper\ngenerators: [{{apiVersion: ex.io/v1, kind: Made}}]\n"
    );
    tree.write("plugins/app/plugin.yaml", &manifest);
    tree.write("plugins/app/main", "hello");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).fails_with(&["'rustomize-runtime-upper' is not in PATH, and the plugin needs it"]);
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
    let program = format!(
        "#!/bin/sh\ncase \"$1\" in\ninstall-deps) mkdir -p \"$2/.rustomize\" && echo made > \"$2/.rustomize/deps\" ;;\n\
         run) v=\"$(tr a-z A-Z < \"$2\") $(cat \"$(dirname \"$2\")/.rustomize/deps\") $(grep -c kind \"$3\") $#\"{MADE};;\nesac\n"
    );
    tree.write("../home/bin/rustomize-runtime-upper", &program);
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "HELLO made 1 3");
}

/// A generator in C, that says which one it is and may put another one in its own place.
const C: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "describe")) {
        puts("{\"version\": \"1.0.0\", \"api_version\": \"x1.0\", \"generators\": [{\"apiVersion\": \"ex.io/v1\", \"kind\": \"Made\"}]}");
        return 0;
    }
    if (getenv("OTHER")) rename(getenv("OTHER"), getenv("OWN"));
    const char *name = strrchr(argv[0], '/');
    printf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made%d\ndata:\n  v: %s\n  name: %s\n", (int)strlen(argv[1]), V, name ? name + 1 : argv[0]);
    return 0;
}
"#;

#[test]
fn hashed_program_is_the_one_that_runs() {
    let mut tree = Tree::new(TREE);
    tree.write("kustomization.yaml", "generators: [g.yaml, second.yaml]\n");
    tree.write("second.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: h\n");
    tree.write("../home/plugin.c", C);
    for (name, v) in [("good", "good"), ("other", "swapped")] {
        let made = cc(&tree.home().join("plugin.c"), &tree.home().join(name), &[&format!("-DV=\"{v}\"")]);
        if made.is_none() {
            crate::support::skip("no C compiler");
            return;
        }
    }
    let good = tree.home().join("good").display().to_string();
    let path = tree.run(&["plugin", "install", "--path", &good, "h.io/acme/app"]).ok();
    let path = path.trim_end().rsplit(' ').next().unwrap().to_owned();
    let own = Path::new(&path).file_name().unwrap().to_str().unwrap().to_owned();
    // In the sandbox, and without.
    for isolation in ["auto", "strict", "off"] {
        let out = tree.build(&["--plugin-isolation", isolation]).ok();
        assert!(out.matches("v: good\n").count() == 2 && out.contains(&format!("name: {own}\n")), "{out}");
    }
    // Its first call puts something else in its place: the second one still runs what was looked
    // at, and the next build nothing.
    tree.variables.insert("OTHER", tree.home().join("other").display().to_string());
    tree.variables.insert("OWN", path.clone());
    let out = tree.build(&["--plugin-isolation", "off"]).ok();
    assert_eq!(out.matches("v: good\n").count(), 2, "{out}");
    assert!(!tree.home().join("other").exists(), "nothing was swapped");
    tree.build(&[]).fails_with(&["installed files that cannot be used: 1"]);
}

/// A plugin in Python that is started once, and generates `v: VALUE`.
const WORKER: &str = r#"
from dataclasses import dataclass
import rustomize_plugin

@dataclass
class Worked(rustomize_plugin.Plugin):
    VERSION = "1.0.0"
    API_VERSION = "ex.io/v1"
    WORKER = True

    def generate(self, call):
        metadata = {"name": "worker"}
        return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": "VALUE"}}]

rustomize_plugin.main(Worked)
"#;

#[test]
fn two_environments_in_one_process_have_their_own_versions_whatever_runs_them() {
    let tree = Tree::new(TREE);
    let generators = ["Made", "Listed", "Loaded", "Worked"];
    let has_python = crate::support::in_path("python3").is_some();
    let any = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/plugin/any.c");
    let include = format!("-I{}", Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/abi/include").display());
    let mut has_compiler = true;
    for kind in generators {
        tree.write(&format!("{kind}.yaml"), &format!("apiVersion: ex.io/v1\nkind: {kind}\nmetadata:\n  name: g\n"));
    }
    for (name, version) in [("one", "1.0.0"), ("two", "2.0.0")] {
        let folder = format!("../home/.config/rustomize/environments/{name}");
        let v = |kind: &str| format!("v={name}-{kind}");
        directory(&tree, &format!("{folder}/exec"), version, "", &(v("exec") + &MADE.replace("made", "exec")));
        directory(
            &tree,
            &format!("{folder}/krm"),
            version,
            "protocol: krm\n",
            &(v("krm") + &MADE_ITEM.replace("made", "krm")),
        );
        directory(&tree, &format!("{folder}/so"), version, "", "");
        for (directory, runtime, kind) in [("krm", "bash", "Listed"), ("so", "so", "Loaded")] {
            let manifest = tree.path().join(&folder).join(directory).join("plugin.yaml");
            let text = fs::read_to_string(&manifest).unwrap();
            fs::write(&manifest, text.replace("Made", kind).replace("runtime: bash", &format!("runtime: {runtime}")))
                .unwrap();
        }
        let act = format!("-DACT=out = made(\"{name}-so\")");
        let object = tree.path().join(&folder).join("so/plugin.so");
        has_compiler &= cc(&any, &object, &["-shared", "-fPIC", &include, &act]).is_some();
        let worker = format!("{folder}/worker");
        tree.write(
            &format!("{worker}/plugin.yaml"),
            &format!(
                "{HEAD}kind: Plugin\nversion: {version}\nruntime: python\nformat: json\nworker: true\ngenerators: [{{apiVersion: ex.io/v1, kind: Worked}}]\n"
            ),
        );
        tree.write(&format!("{worker}/main.py"), &WORKER.replace("VALUE", &format!("{name}-worker")));
        tree.write(&format!("{worker}/rustomize_plugin.py"), include_str!("../plugin/sdk/python/rustomize_plugin.py"));
        let line = |name: &str, is_there: bool| match is_there {
            true => format!("  {name}: {{source: h.io/acme/{name}, from: ./{name}}}\n"),
            false => String::new(),
        };
        let all = [("exec", true), ("krm", true), ("so", has_compiler), ("worker", has_python)];
        let lines: String = all.map(|(name, is_there)| line(name, is_there)).concat();
        let file = format!("{HEAD}kind: PluginRequirements\nrequires:\n{lines}");
        tree.write(&format!("{folder}/plugins.yaml"), &file);
        let folder = tree.path().join(&folder).canonicalize().unwrap();
        tree.run(&["plugin", "install", "--directory", &folder.to_string_lossy()]).ok();
    }
    let all = [
        ("Made", "exec", true),
        ("Listed", "krm", true),
        ("Loaded", "so", has_compiler),
        ("Worked", "worker", has_python),
    ];
    let runners: Vec<&str> = all.iter().filter(|(.., is_there)| *is_there).map(|(_, runner, _)| *runner).collect();
    if runners.len() < all.len() {
        crate::support::skip(&format!("no C compiler or no python3: only {runners:?} are tried"));
    }
    let entries: Vec<String> =
        all.iter().filter(|(.., is_there)| *is_there).map(|(kind, ..)| format!("{kind}.yaml")).collect();
    tree.write("kustomization.yaml", &format!("generators: [{}]\n", entries.join(", ")));
    // Two builds in one process, in turn: neither sees the other's.
    let configuration = tree.home().join(".config/rustomize");
    let plugins = root(&tree);
    let managed = |name: &str| {
        let environment = Environment::read(&configuration, None, Some(name)).unwrap().unwrap();
        let inputs = Inputs {
            root: plugins.clone(),
            environment: Some(environment.directory.clone()),
            bundles: environment.bundles().unwrap(),
            ..Inputs::default()
        };
        let manager = Managed::in_places(inputs, Policy::default());
        let helper = Some(env!("CARGO_BIN_EXE_rustomize-plugin-host").into());
        let host = Arc::new(FixedHost { helper, ..FixedHost::default() });
        let plugins = PluginOptions { enabled: true, host, ..PluginOptions::default() };
        Options { plugins: Arc::new(ManagedPlugins::new(plugins, manager)), ..Options::default() }
    };
    let (workspace, disk) = (Workspace::new(), Disk::new());
    let environments = ["one", "two"].map(|name| (name, managed(name)));
    for round in 0..2 {
        for (name, options) in &environments {
            let output = build(&workspace, &disk, &tree.path().to_string_lossy(), options).value.unwrap();
            let out = output.print().unwrap();
            for runner in &runners {
                assert!(out.contains(&format!("v: {name}-{runner}\n")), "round {round}: {out}");
            }
        }
    }
}

#[test]
fn plugin_run_calls_a_plugin_once_by_its_configuration_its_kind_or_its_name() {
    let tree = Tree::new(TREE);
    let script = format!("v=\"$(grep -c . \"$1\") $(cat beside 2>/dev/null) $KUSTOMIZE_PLUGIN_MODE\"{MADE}");
    directory(&tree, "plugins/app", "1.0.0", "", &script);
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    let run = |args: &[&str]| tree.run(&[&["plugin", "run", "--offline"], args].concat());
    says(&run(&["g.yaml"]).ok(), "4 of the root generate");
    says(&run(&["ex.io/v1/Made"]).ok(), "5 of the root generate");
    says(&run(&["app"]).ok(), "6 of the root generate");
    run(&["other"]).fails_with(&["no installed plugin provides 'other'"]);
    run(&["ex.io/v1/Other"]).fails_with(&["unable to find plugin root", "ex.io/v1/Other:1"]);
    run(&["plugins/app/main.sh"]).fails_with(&["main.sh"]);
    // A transformer gets the resources on stdin, and no output exists if it fails.
    tree.plugin("Turned", "#!/bin/sh\n[ -z \"$FAIL\" ] || exit 4\nsed 's/name: a/name: b/'\n");
    let turned = |variables: &[(&str, &str)], role: &str| {
        let mut command = tree.command(&["plugin", "run", "ex.io/v1/Turned", "--as", role]);
        fs::write(tree.home().join("in.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n").unwrap();
        command.stdin(fs::File::open(tree.home().join("in.yaml")).unwrap()).envs(variables.iter().copied());
        crate::support::run(&mut command)
    };
    assert_eq!(turned(&[], "transformer").ok(), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n");
    turned(&[("FAIL", "1")], "transformer").fails_with(&["failed: exit status: 4"]);
    turned(&[("FAIL", "1")], "validator").fails_with(&["failed: exit status: 4"]);
    tree.assert_nothing_left();
}

#[test]
fn a_build_that_needs_no_installed_plugin_looks_for_none() {
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [cm.yaml]\n-- cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    // Each of these files would be an error for whoever reads it.
    for file in ["plugins.yaml", "plugins.lock", "../home/.config/rustomize/trust.yaml"] {
        tree.write(file, "{");
    }
    assert!(tree.build(&["--frozen"]).ok().contains("name: a"));
    tree.plugin("Made", &format!("#!/bin/sh\nv=placed{MADE}"));
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n");
    tree.write("kustomization.yaml", "generators: [g.yaml]\n");
    says(&tree.build(&[]).ok(), "placed");
    fs::remove_dir_all(tree.home().join(".config/kustomize")).unwrap();
    for file in ["../home/.config/rustomize/trust.yaml", "plugins.yaml", "plugins.lock"] {
        tree.build(&[]).fails_with(&[file.rsplit('/').next().unwrap()]);
        let nothing = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\n";
        tree.write(
            file,
            &nothing.replace(
                "PluginRequirements",
                if file.ends_with("trust.yaml") { "TrustPolicy" } else { "PluginRequirements" },
            ),
        );
    }
}

#[test]
fn a_plugin_calls_what_it_needs_and_only_what_was_installed() {
    let tree = Tree::new(TREE);
    let lib = "print('library of', __import__('sys').argv[1])\n";
    let manifest = |runtime: &str, version: &str, more: &str| {
        format!(
            "{HEAD}kind: Plugin\nversion: {version}\nruntime: {runtime}\ngenerators: [{{apiVersion: ex.io/v1, kind: {more}\n"
        )
    };
    tree.write("plugins/lib/plugin.yaml", &manifest("python", "0.3.0", "Lib}]"));
    tree.write("plugins/lib/main.py", lib);
    let needs = "Made}]\ndependencies: {lib: {source: h.io/acme/lib, from: ../lib}}";
    tree.write("plugins/app/plugin.yaml", &manifest("bash", "1.0.0", needs));
    let sdk = "\"$(dirname \"$0\")/.rustomize/sdk/lib";
    tree.write(
        "plugins/app/main.sh",
        &format!("v=\"$({sdk}/call\" me) $(grep -c '\"version\": \"0.3.0\"' {sdk}/plugin.json\")\"{MADE}"),
    );
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    for isolation in ["auto", "strict", "off"] {
        says(&tree.build(&["--offline", "--plugin-isolation", isolation]).ok(), "library of me 2");
    }
    // A new version of what it needs is given to what stays as it is.
    tree.write("plugins/lib/plugin.yaml", &manifest("python", "0.4.0", "Lib}]"));
    tree.write("plugins/lib/main.py", &lib.replace("library", "new library"));
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "new library of me 0");
    let installed = root(&tree).join("h.io/acme/lib");
    let installed = installed.join("rustomize-plugin-lib_v0.4.0_x1.0_any_any/main.py");
    fs::write(&installed, "print('swapped')\n").unwrap();
    tree.build(&["--offline"]).fails_with(&["rustomize-plugin-lib_v0.4.0", "has changed since it was installed"]);
}

#[test]
fn plugins_of_each_role_share_one_interface_and_validators_run_before_printing() {
    let tree = Tree::new(TREE);
    let script = "case $KUSTOMIZE_PLUGIN_MODE in\ngenerate) v=made ;;\n*) [ -z \"$(grep -l wrong \"$1\")\" ] || { echo 'it is wrong' >&2; exit 1; }; sed 's/v: made/v: turned/'; exit ;;\nesac\n[ \"$(cat \"$1\" | grep -c end)\" = 0 ] || kill -9 $$";
    directory(
        &tree,
        "plugins/app",
        "1.0.0",
        "transformers: [{apiVersion: ex.io/v1, kind: Turned}]\nvalidators: [{apiVersion: ex.io/v1, kind: Checked}]\n",
        &format!("{script}{MADE}"),
    );
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    tree.write("kustomization.yaml", "generators: [g.yaml]\ntransformers: [t.yaml]\nvalidators: [c.yaml]\n");
    tree.write("t.yaml", "apiVersion: ex.io/v1\nkind: Turned\nmetadata:\n  name: t\n");
    tree.write("c.yaml", "apiVersion: ex.io/v1\nkind: Checked\nmetadata:\n  name: c\n");
    // The validator is asked last, and would turn nothing more.
    says(&tree.build(&["--offline"]).ok(), "turned");
    tree.write("c.yaml", "apiVersion: ex.io/v1\nkind: Checked\nmetadata:\n  name: wrong\n");
    tree.build(&["--offline"]).fails_with(&["it is wrong", "running the validator"]);
    // The end of a plugin does not end the build: it is another process.
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: end\n");
    tree.build(&["--offline"]).fails_with(&["signal: 9"]);
}

#[test]
fn shared_object_process_serves_the_whole_build() {
    let tree = Tree::new(TREE);
    tree.write("kustomization.yaml", "generators: [g.yaml, h.yaml]\n");
    tree.write("h.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: h\n");
    directory(&tree, "plugins/app", "1.0.0", "", "");
    let manifest = fs::read_to_string(tree.path().join("plugins/app/plugin.yaml")).unwrap();
    tree.write("plugins/app/plugin.yaml", &manifest.replace("runtime: bash", "runtime: so"));
    let base = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", base.join("plugin/abi/include").display());
    let act = "-DACT=static char t[99]; sprintf(t, \"kind: ConfigMap\\napiVersion: v1\\nmetadata: {name: call%d}\\n\", calls); out = t";
    let object = tree.path().join("plugins/app/plugin.so");
    if cc(&base.join("testdata/plugin/any.c"), &object, &["-shared", "-fPIC", &include, act]).is_none() {
        crate::support::skip("no C compiler");
        return;
    }
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    let list = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    assert!(list.contains("\"runtime\": \"so\""), "{list}");
    let out = tree.build(&["--offline"]).ok();
    assert!(out.contains("name: call1") && out.contains("name: call2"), "{out}");
    let run = tree.run(&["plugin", "sync", "--placement", "../home/placed"]);
    assert!(run.stderr.contains("shared object, and only rustomize can load it"), "{}", run.stderr);
}

#[test]
fn a_requirement_names_a_plugin_and_its_parameters() {
    let tree = Tree::new(TREE);
    let script = |more: &str| format!("v=$(echo \"${{RUSTOMIZE_PLUGIN_PARAMETERS:-none}}\" | tr '\"' .){more}");
    directory(&tree, "plugins/app", "1.0.0", "", &(script("") + MADE));
    let requires = |parameters: &str| {
        require(&tree, &format!("{{app: {{source: h.io/acme/app, from: ./plugins/app, parameters: {parameters}}}}}"));
    };
    requires("{b: [1, x], a: {deep: true}}");
    tree.run(&["plugin", "install"]).ok();
    let lock = fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
    assert!(lock.contains(r#""parameters": "{\"a\":{\"deep\":true},\"b\":[1,\"x\"]}""#), "{lock}");
    let out = tree.build(&["--offline"]).ok();
    assert!(out.contains("v: '{.a.:{.deep.:true},.b.:[1,.x.]}'"), "{out}");
    // Other parameters are another lock.
    requires("{b: 2}");
    tree.run(&["plugin", "lock", "--check"]).fails_with(&["does not match"]);
    requires("{}");
    tree.run(&["plugin", "lock"]).ok();
    says(&tree.build(&["--offline"]).ok(), "'{}'");
    requires("null");
    says(&tree.build(&["--offline"]).ok(), "none");
    // The file of the plugin itself says what its dependency is told.
    tree.write(
        "plugins/lib/plugin.yaml",
        &format!(
            "{HEAD}kind: Plugin\nversion: 1.0.0\nruntime: bash\ngenerators: [{{apiVersion: ex.io/v1, kind: Lib}}]\n"
        ),
    );
    tree.write("plugins/lib/main.sh", "echo \"lib $RUSTOMIZE_PLUGIN_PARAMETERS\" | tr '\"' .\n");
    let needs = "dependencies: {lib: {source: h.io/acme/lib, from: ../lib, parameters: {x: y}}}\n";
    directory(
        &tree,
        "plugins/app",
        "1.0.0",
        needs,
        &format!("v=$(\"$(dirname \"$0\")/.rustomize/sdk/lib/call\"){MADE}"),
    );
    tree.run(&["plugin", "install"]).ok();
    let out = tree.build(&["--offline"]).ok();
    assert!(out.contains("lib {.x.:.y.}"), "{out}");
}

/// With a stand-in for deno, which says how it is called.
#[test]
fn deno_keeps_what_it_fetches_with_the_plugin_and_finds_it_in_the_sandbox() {
    let mut tree = Tree::new(TREE);
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
    let deno = format!(
        "#!/bin/sh\ncase \"$1\" in\ncache) mkdir -p \"$DENO_DIR\" && echo fetched > \"$DENO_DIR/deps\" ;;\n\
         run) v=\"$(cat \"$DENO_DIR/deps\") $(echo \"$*\" | grep -c -- '--allow-all --cached-only .*/main.ts ')\"{MADE};;\nesac\n"
    );
    tree.write("../home/bin/deno", &deno);
    directory(&tree, "plugins/app", "1.0.0", "", "");
    let manifest = fs::read_to_string(tree.path().join("plugins/app/plugin.yaml")).unwrap();
    tree.write("plugins/app/plugin.yaml", &manifest.replace("runtime: bash", "runtime: deno"));
    tree.write("plugins/app/main.ts", "");
    tree.write("plugins/app/deno.lock", "{}");
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    tree.run(&["plugin", "install"]).ok();
    says(&tree.build(&["--offline"]).ok(), "fetched 1");
    // Where kustomize starts it, too.
    tree.run(&["plugin", "sync", "--placement", "../home/placed"]).ok();
    tree.variables.insert("KUSTOMIZE_PLUGIN_HOME", tree.home().join("placed").display().to_string());
    fs::remove_dir_all(tree.path().join("plugins")).unwrap();
    fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    says(&tree.build(&["--offline"]).ok(), "fetched 1");
}
