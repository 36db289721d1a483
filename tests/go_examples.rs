//! kustomize's own example plugins, unchanged: fetched as Go modules, so the tests need a module
//! proxy that has them, and are skipped without one. Their output is compared with kustomize, if
//! kustomize can load them, and with the results that their own tests expect.

use crate::support::go::{copy, go, variables};
use crate::support::{Tree, in_path, run, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The modules of the examples, and their apiVersion.
const MODULES: &str = "sigs.k8s.io/kustomize/plugin";
const API_VERSION: &str = "someteam.example.com/v1";

/// Puts an example into the plugin home of a tree, and gives its directory; `None` where it cannot
/// be fetched.
fn place(tree: &Tree, kind: &str) -> Option<PathBuf> {
    let name = kind.to_lowercase();
    let module = format!("{MODULES}/{API_VERSION}/{name}@master");
    let Some(said) = in_path("go").and_then(|_| go(&tree.tmp(), &["mod", "download", "-json", &module])) else {
        skip(&format!("no Go, or no module proxy that has {module}"));
        return None;
    };
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let folder = tree.home().join(".config/kustomize/plugin").join(API_VERSION).join(&name);
    copy(Path::new(said["Dir"].as_str().unwrap()), &folder);
    // The files of Go's cache can be neither written to nor run.
    for entry in fs::read_dir(&folder).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
    Some(folder)
}

fn config(kind: &str, more: &str) -> String {
    format!("apiVersion: {API_VERSION}\nkind: {kind}\nmetadata:\n  name: example\n{more}")
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\ndata:\n  fruit: apple\n";

/// A tree with a ConfigMap and a configuration object in a field of the kustomization.
fn tree(field: &str, config: &str) -> Tree {
    let tree = Tree::new("");
    tree.write("kustomization.yaml", &format!("resources: [cm.yaml]\n{field}: [p.yaml]\n"));
    tree.write("cm.yaml", CONFIG_MAP);
    tree.write("p.yaml", config);
    tree
}

/// The output of our build, which is also that of kustomize.
#[track_caller]
fn build(tree: &Tree) -> String {
    let printed = tree.run(&["build", "--enable-alpha-plugins"]).ok();
    let Some(kustomize) = in_path("kustomize") else {
        println!("not compared: no kustomize in PATH");
        return printed;
    };
    #[expect(clippy::disallowed_methods, reason = "the real kustomize")]
    let mut command = Command::new(kustomize);
    command.args(["build", "--enable-alpha-plugins"]).current_dir(tree.path()).env_clear().stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", tree.home()).env("TMPDIR", tree.tmp());
    assert_eq!(printed, run(command.envs(&tree.variables)).ok());
    printed
}

/// The examples in Bash that make and change a ConfigMap.
fn build_bash() {
    let here = tree("generators", &config("BashedConfigMap", "argsOneLiner: alice myMomsMaidenName\n"));
    if place(&here, "BashedConfigMap").is_none() {
        return;
    }
    let printed = build(&here);
    assert!(printed.contains("  password: myMomsMaidenName\n  username: alice\n"), "{printed}");
    assert!(printed.contains("  name: example-configmap-test-"), "it has a hash: {printed}");
    let here = tree("transformers", &config("SedTransformer", "argsOneLiner: s/apple/orange/g s/fruit/food/\n"));
    if place(&here, "SedTransformer").is_some() {
        let printed = build(&here);
        assert!(printed.contains("data:\n  food: orange\n"), "{printed}");
    }
}

/// The examples in Bash that fetch what they make.
fn build_fetching() {
    let mut here = tree("generators", "");
    if place(&here, "ChartInflator").is_none() {
        return;
    }
    // Helm 2, which the example calls, is gone: a stand-in prints a chart as it finds the chart.
    let place_of = |name: &str| here.path().join(name).display().to_string();
    here.write("helm", "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = template ] && t=1; shift; done\n[ -z \"$t\" ] || cat \"$1\"/*.yml\n");
    here.write("charts/fruit/values.yaml", "");
    here.write("charts/fruit/a.yml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: of-the-chart\n");
    let more = format!("chartName: fruit\nchartHome: {}\nhelmBin: {}\n", place_of("charts"), place_of("helm"));
    here.write("p.yaml", &config("ChartInflator", &more));
    let printed = build(&here);
    assert!(printed.contains("  name: of-the-chart\n"), "{printed}");
    // go-getter copies a directory here, as it would fetch one.
    here.write("bin/go-getter", "#!/bin/sh\ncp -r \"$1\" \"$2\"\n");
    let more = format!("url: {}\nsubPath: fruit\ncommand: cat a.yml\n", place_of("charts"));
    here.write("p.yaml", &config("GoGetter", &more));
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    let path = format!("{}:{path}", here.path().join("bin").display());
    here.variables.insert("PATH", path);
    if place(&here, "GoGetter").is_some() {
        let printed = build(&here);
        assert!(printed.contains("  name: of-the-chart\n"), "{printed}");
    }
}

/// Builds a tree with an example in Go, made from its unchanged source; `None` if the source cannot
/// be fetched.
fn build_go(kind: &str, field: &str, more: &str) -> Option<String> {
    if !crate::support::compiler::has_compiler() {
        skip("no C compiler");
        return None;
    }
    let here = tree(field, &config(kind, more));
    let folder = place(&here, kind)?;
    // In kustomize's repository the plugin uses the packages of the same commit, in directories
    // beside it. A fetched module lacks these directories, so it gets the packages of kustomize
    // v5.8.1.
    let replaced = ["-dropreplace=sigs.k8s.io/kustomize/api", "-dropreplace=sigs.k8s.io/kustomize/kyaml"];
    let required = ["-require=sigs.k8s.io/kustomize/api@v0.21.1", "-require=sigs.k8s.io/kustomize/kyaml@v0.21.1"];
    go(&folder, &[&["mod", "edit"], &replaced[..], &required[..]].concat()).unwrap();
    let mut command = here.command(&["plugin", "build", &folder.to_string_lossy()]);
    run(command.envs(variables())).ok();
    Some(here.run(&["build", "--enable-alpha-plugins"]).ok())
}

#[test]
fn examples_in_bash_and_in_go_run_from_their_unchanged_source() {
    build_bash();
    build_fetching();
    let Some(printed) = build_go("SomeServiceGenerator", "generators", "port: \"12345\"\n") else { return };
    assert!(printed.contains("kind: Service\nmetadata:\n  labels:\n    app: dev\n  name: example\n"), "{printed}");
    assert!(printed.contains("spec:\n  ports:\n  - port: 12345\n  selector:\n    app: dev\n"), "{printed}");
    if let Some(printed) = build_go("SecretsFromDatabase", "generators", "keys: [ROCKET, VEGETABLE]\n") {
        assert!(printed.contains("data:\n  ROCKET: U2F0dXJuVg==\n  VEGETABLE: Y2Fycm90\nkind: Secret\n"), "{printed}");
    }
    if let Some(printed) = build_go("StringPrefixer", "transformers", "") {
        assert!(printed.contains("  name: example-cm\n"), "{printed}");
    }
    if let Some(printed) = build_go("DatePrefixer", "transformers", "") {
        assert!(printed.contains("  name: 2018-05-11-cm\n"), "{printed}");
    }
}
