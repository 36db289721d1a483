//! The plugin manager, from the outside. Real executables, installed and run.

use crate::support::plugins::{install, require, root, script, script_with, tree};
use std::fs;

#[test]
fn a_local_binary_is_installed_under_a_source() {
    let tree = tree();
    let said = install(&tree, "h.io/acme/app", &script("1.2.3", "one")).ok();
    assert!(said.starts_with("h.io/acme/app v1.2.3: "), "{said}");
    // P04, P17, P24, P26 to P29: the directories are made, the binary is named, its sum is beside
    // it.
    let folder = root(&tree).join("h.io/acme/app");
    let mut names: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let [binary, identity, sum] = names.as_slice() else { panic!("{names:?}") };
    assert!(binary.starts_with("rustomize-plugin-app_v1.2.3_x1.0_"), "{binary}");
    assert_eq!((identity, sum), (&format!("{binary}_IDENTITY"), &format!("{binary}_SHA256SUM")));
    let identity: serde_json::Value = serde_json::from_slice(&fs::read(folder.join(identity)).unwrap()).unwrap();
    let sum = fs::read_to_string(folder.join(sum)).unwrap();
    assert_eq!(sum.trim_end().len(), 64);
    for (field, value) in [("source", "h.io/acme/app"), ("version", "1.2.3"), ("sum", sum.trim_end())] {
        assert_eq!(identity[field], value);
    }
    assert!(identity["origin"].as_str().unwrap().ends_with("/home/built"), "{identity}");
    assert!(tree.build(&[]).ok().contains("v: one\n"));
    assert_eq!(tree.listed(), ["h.io/acme/app v1.2.3 installed"]);
}

#[test]
fn an_install_without_a_source_is_refused() {
    let tree = tree();
    let run = tree.run(&["plugin", "install", "--path", "x"]);
    assert!(run.status == Some(1) && run.stderr.contains("<SOURCE[@CONSTRAINT]|NAME>"), "{}", run.stderr);
    for source in ["https://h.io/a/b", "h.io/a", "h.io/a/../b", "h.io/a/rustomize-plugin-b"] {
        install(&tree, source, &script("1.0.0", "x")).fails_with(&["the source '"]);
    }
    assert!(!root(&tree).exists());
}

#[test]
fn directory_that_cannot_be_created_is_named() {
    let tree = tree();
    tree.write("../home/.config/rustomize/plugins/h.io", "a file in the way");
    install(&tree, "h.io/acme/app", &script("1.0.0", "x"))
        .fails_with(&["cannot make the directories of", "h.io/acme/app"]);
}

#[test]
fn the_plugin_path_beats_the_configuration_directory() {
    let mut tree = tree();
    let (path, other) = (tree.home().join("path"), tree.home().join("config"));
    tree.variables.insert("RUSTOMIZE_CONFIG_DIR", other.to_string_lossy().into_owned());
    tree.variables.insert("RUSTOMIZE_PLUGIN_PATH", path.to_string_lossy().into_owned());
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    assert!(path.join("h.io/acme/app").is_dir() && !other.exists());
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    tree.variables.insert("RUSTOMIZE_PLUGIN_PATH", "/a:/b".to_owned());
    tree.build(&[]).fails_with(&["RUSTOMIZE_PLUGIN_PATH=/a", "RUSTOMIZE_PLUGIN_PATH=/b"]);
}

#[test]
fn a_required_plugin_beats_other_installed_plugins() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "acme1")).ok();
    install(&tree, "h.io/acme/app", &script("1.5.0", "acme2")).ok();
    install(&tree, "h.io/other/app", &script("9.0.0", "other")).ok();
    require(&tree, "{app: {source: h.io/acme/app, version: '~> 1.0'}}");
    assert!(tree.build(&[]).ok().contains("v: acme2\n"));
    require(&tree, "{app: {source: h.io/acme/app, version: '< 1.5'}}");
    assert!(tree.build(&[]).ok().contains("v: acme1\n"));
    require(&tree, "{app: {source: h.io/acme/app, version: '> 2'}}");
    tree.build(&["--offline"]).fails_with(&[
        "plugins.yaml:",
        "'app' (h.io/acme/app, > 2) is required and not installed",
        "rustomize plugin install",
    ]);
}

#[test]
fn a_bad_candidate_gives_way_and_is_listed() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "good")).ok();
    let folder = root(&tree).join("h.io/acme/app");
    let good = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| !p.to_string_lossy().ends_with("SUM"))
        .unwrap();
    // P48: a higher version by its name, another by what it says. P26: one without a sum.
    let copy = |version: &str, with_sum: bool| {
        let name = good.file_name().unwrap().to_string_lossy().replace("1.0.0", version);
        fs::copy(&good, folder.join(&name)).unwrap();
        if with_sum {
            fs::copy(format!("{}_SHA256SUM", good.display()), folder.join(format!("{name}_SHA256SUM"))).unwrap();
        }
    };
    copy("1.0.1", true);
    copy("1.0.2", false);
    assert!(tree.build(&[]).ok().contains("v: good\n"));
    let list = tree.run(&["plugin", "list", "-o", "json"]).ok();
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let states: Vec<&str> = list.as_array().unwrap().iter().map(|c| c["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["refused", "installed", "refused"]);
    assert!(list[0]["reason"].as_str().unwrap().contains("it says that it is version 1.0.0"), "{list}");
    assert!(list[2]["reason"].as_str().unwrap().contains("sum file"), "{list}");
}

#[test]
fn components_are_addressed_by_the_plugins_name() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script_with("1.0.0", "x1.0", r#"["app", "extra"]"#, "x")).ok();
    let object = |name: &str| {
        tree.write(
            "g.yaml",
            &format!(
                "apiVersion: any/v1\nkind: Any\nmetadata:\n  name: g\n  annotations: {{rustomize.dev/plugin: {name}}}\n"
            ),
        );
        tree.build(&[])
    };
    assert!(object("app-extra").ok().contains("c: extra\n"));
    assert!(object("app").ok().contains("c: app\n"));
    object("app-none").fails_with(&["no installed plugin provides 'app-none'", "plugin list"]);
}

#[test]
fn a_plugin_is_described_once_for_each_content() {
    let mut tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "x")).ok();
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    tree.variables.insert("LANG", "fail".to_owned());
    assert!(tree.build(&[]).ok().contains("v: x\n"));
    fs::remove_dir_all(tree.home().join(".cache")).unwrap();
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
}

#[test]
fn a_description_is_asked_for_in_a_sandbox_and_with_limits() {
    let tree = tree();
    let describe = |body: &str| format!("#!/bin/sh\n[ \"$1\" = describe ] || exit 1\n{body}\n");
    let good = "echo '{\"version\": \"1.0.0\", \"api_version\": \"x1.0\"}'";
    install(&tree, "h.io/a/app", &describe("exit 3")).fails_with(&["'describe' failed: exit status: 3"]);
    install(&tree, "h.io/a/app", &describe(&format!("{good}; echo more")))
        .fails_with(&["printed no description", "trailing"]);
    install(&tree, "h.io/a/app", &describe("cat /dev/zero")).fails_with(&["printed more than 1048576 bytes"]);
    install(&tree, "h.io/a/app", &describe("echo '[]'")).fails_with(&["printed no description", "one JSON object"]);
    let written = tree.home().join("written");
    install(&tree, "h.io/a/app", &describe(&format!("echo x 2>/dev/null > '{}'\n{good}", written.display()))).ok();
    if tree.run(&["doctor", "-o", "json"]).ok().contains("\"enforced\": true") {
        assert!(!written.exists());
    }
}

#[test]
fn malformed_versions_are_refused() {
    let tree = tree();
    let refused = |version: &str, api: &str, words: &str| {
        install(&tree, "h.io/a/app", &script_with(version, api, "[]", "x")).fails_with(&[words]);
    };
    refused("1.00.01", "x1.0", "invalid version");
    refused("1.0.0-rc1", "x1.0", "a pre-release other than -dev");
    refused("1.0.0+meta", "x1.0", "build metadata");
    refused("1.0.0", "1.0", "invalid version");
    refused("1.0.0", "x2.0", "it is for x2.0, this is x1.0");
    refused("1.0.0", "x1.7", "it is for x1.7, this is x1.0");
    install(&tree, "h.io/a/app", &script("1.0.0-dev", "x")).ok();
}

#[test]
fn two_sources_for_one_kind_are_an_error_that_says_what_settles_it() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "acme")).ok();
    install(&tree, "h.io/other/app", &script("2.0.0", "other")).ok();
    let said =
        tree.build(&[]).fails_with(&["g.yaml:1:1", "several installed plugins", "'h.io/acme/app', 'h.io/other/app'"]);
    let line = "requires: {app: {source: h.io/other/app, version: '2.0.0'}}";
    assert!(said.contains(line), "{said}");
    require(&tree, line.trim_start_matches("requires: "));
    assert!(tree.build(&[]).ok().contains("v: other\n"));
}

#[test]
fn placed_plugins_come_first_and_a_build_without_the_flag_runs_none() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "managed")).ok();
    tree.run(&["build"]).fails_with(&["external plugins disabled"]);
    tree.plugin("Made", "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: placed}\\n'\n");
    assert!(tree.build(&[]).ok().contains("name: placed\n"));
}

#[test]
fn removed_plugin_is_gone() {
    let tree = tree();
    for version in ["1.0.0", "2.0.0"] {
        install(&tree, "h.io/acme/app", &script(version, version)).ok();
    }
    assert!(tree.run(&["plugin", "remove", "h.io/acme/app@< 2"]).ok().contains("_v1.0.0_"));
    assert_eq!(tree.listed(), ["h.io/acme/app v2.0.0 installed"]);
    tree.run(&["plugin", "remove", "h.io/acme/app@> 5"]).fails_with(&["'h.io/acme/app' is not installed"]);
    tree.run(&["plugin", "remove", "h.io/acme/app"]).ok();
    assert_eq!(tree.run(&["plugin", "list"]).ok(), "");
    assert!(root(&tree).is_dir() && !root(&tree).join("h.io").exists());
}

#[test]
fn a_binary_that_was_swapped_does_not_run() {
    let tree = tree();
    install(&tree, "h.io/acme/app", &script("1.0.0", "good")).ok();
    let folder = root(&tree).join("h.io/acme/app");
    let binary = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| !p.to_string_lossy().ends_with("SUM"))
        .unwrap();
    fs::write(&binary, script("1.0.0", "swapped")).unwrap();
    tree.build(&[]).fails_with(&[
        "unable to find plugin root",
        "installed files that cannot be used: 1",
        "plugin list",
    ]);
    assert!(tree.run(&["plugin", "list"]).ok().contains("its content has changed since it was installed"));
}

#[test]
fn every_command_that_prints_also_prints_json() {
    let tree = tree();
    tree.write("app", &script("1.0.0", "app"));
    require(&tree, "{app: {source: h.io/acme/app, from: ./app}}");
    let json = |args: &[&str]| -> serde_json::Value {
        // `new` and `describe` know the older spelling alone.
        let spelling: &[&str] =
            if matches!(args[0], "new" | "describe" | "trust") { &["--json"] } else { &["-o", "json"] };
        let text = tree.run(&[&["plugin"], args, spelling].concat()).ok();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {text}"))
    };
    let installed = json(&["install"]);
    assert!(installed[0]["source"] == "h.io/acme/app" && installed[0]["version"] == "1.0.0", "{installed}");
    assert_eq!(json(&["lock"])[0]["platforms"], serde_json::json!(["any_any"]));
    assert_eq!(json(&["list"])[0]["state"], "installed");
    assert_eq!(json(&["verify"])[0]["isRight"], true);
    assert_eq!(json(&["describe", "h.io/acme/app"])["version"], "1.0.0");
    let looked = json(&["why", "ex.io/v1/Made"]);
    let tiers: Vec<&str> = looked.as_array().unwrap().iter().map(|l| l["tier"].as_str().unwrap()).collect();
    assert_eq!(tiers, ["placed", "required", "path", "verdict"]);
    assert!(looked[3]["verdict"].as_str().unwrap().starts_with("A build uses "), "{looked}");
    assert!(looked[1]["verdict"] == "used" && looked[3]["isUsed"] == true, "{looked}");
    assert_eq!(json(&["export", "../home/placed"])[0]["change"], "written");
    assert!(json(&["trust", "h.io/acme/*"])[0]["rule"].as_str().unwrap().contains("h.io/acme/*"));
    assert_eq!(json(&["new", "../home/made"])[0].as_object().unwrap().len(), 1);
    assert_eq!(json(&["prune"]), serde_json::json!([]));
    assert_eq!(json(&["remove", "h.io/acme/app"]).as_array().unwrap().len(), 1);
    // The answer contains the fault, and the status says so.
    let run = tree.run(&["plugin", "verify", "--json"]);
    assert!(run.status == Some(1) && run.stdout.contains("\"isRight\": false"), "{}", run.stdout);
}
