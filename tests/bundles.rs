//! Bundles that are installed: from every kind of source, with their dependencies, each version for
//! its own project. Real servers on this machine, real git.

use crate::support::bundles::{Bundle, MADE, archive, bundle, manifest};
use crate::support::environments::CRD;
use crate::support::packages::host;
use crate::support::plugins::{require, root, script};
use crate::support::servers::{Files, git_server, registry, sha256};
use crate::support::{Tree, git};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A kustomization that asks for the kind `Made`, and has a resource that a schema of the bundle
/// describes: without the schema it gets a namespace.
const TREE: &str = "-- kustomization.yaml --
resources: [fleet.yaml]
namespace: sea
generators: [g.yaml]
-- fleet.yaml --
apiVersion: ex.io/v1
kind: Fleet
metadata: {name: fleet}
-- g.yaml --
apiVersion: ex.io/v1
kind: Made
metadata: {name: g}
";

fn write(tree: &Tree, directory: &str, bundle: &Bundle) {
    for (path, text) in bundle {
        tree.write(&format!("{directory}/{path}"), text);
    }
}

/// True if a build knows the plugin and the schema of a version.
#[track_caller]
fn assert_known(out: &str, version: &str) {
    assert!(out.contains(&format!("v: {version}\n")), "{out}");
    let fleet = out.split("---\n").find(|document| document.contains("kind: Fleet")).unwrap();
    assert!(!fleet.contains("namespace"), "{fleet}");
}

fn lock(tree: &Tree) -> serde_json::Value {
    serde_json::from_slice(&fs::read(tree.path().join("plugins.lock")).unwrap()).unwrap()
}

/// Requires a bundle, installs it on this machine and on another, and builds with it.
#[track_caller]
fn installs(tree: &Tree, requirement: &str, version: &str) {
    require(tree, requirement);
    tree.run(&["plugin", "install"]).ok();
    assert_known(&tree.build(&[]).ok(), version);
    let locked = fs::read(tree.path().join("plugins.lock")).unwrap();
    fs::remove_dir_all(root(tree)).unwrap();
    assert_known(&tree.build(&["--frozen"]).ok(), version);
    assert_known(&tree.build(&["--frozen", "--offline"]).ok(), version);
    assert_eq!(fs::read(tree.path().join("plugins.lock")).unwrap(), locked);
    assert!(tree.run(&["plugin", "verify"]).ok().ends_with(": ok\n"));
    let lock = lock(tree);
    let entry = lock["plugins"].as_object().unwrap().values().next().unwrap();
    assert_eq!((&entry["runtime"], &entry["version"]), (&"bundle".into(), &version.into()));
    fs::remove_dir_all(root(tree)).unwrap();
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
}

#[test]
fn a_bundle_comes_from_a_path_git_an_archive_and_a_registry() {
    let tree = Tree::new(TREE);
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    installs(&tree, "{tools: {source: h.io/acme/tools, from: ./tools}}", "1.0.0");
    // Two versions in a repository, below a directory.
    let repositories = tree.home().join("repositories");
    fs::create_dir_all(&repositories).unwrap();
    git(&repositories, &["init", "-q", "-b", "main", "work"]);
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        write(&tree, "../home/repositories/work/tools", &bundle("tools", version));
        git(&repositories.join("work"), &["add", "."]);
        git(&repositories.join("work"), &["commit", "-qm", version]);
        git(&repositories.join("work"), &["tag", &format!("v{version}")]);
    }
    git(&repositories, &["clone", "-q", "--bare", "work", "tools.git"]);
    let server = git_server(repositories, Files::default());
    let from = format!("git::http://{server}/tools.git//tools");
    installs(&tree, &format!("{{tools: {{source: h.io/acme/tools, version: '~> 1.0', from: '{from}'}}}}"), "1.1.0");
    let files = Files::default();
    files.put("/tools_1.2.0.tar.gz", archive(&bundle("tools", "1.2.0")));
    let from = format!("http://{}/tools_{{version}}.tar.gz", files.serve());
    installs(&tree, &format!("{{tools: {{source: h.io/acme/tools, version: 1.2.0, from: '{from}'}}}}"), "1.2.0");
    let (os, arch) = host();
    let (oci, _) = registry("acme/tools", "v1.3.0", &[(os, arch, archive(&bundle("tools", "1.3.0")))]);
    installs(&tree, &format!("{{tools: {{source: h.io/acme/tools, from: 'oci://{oci}/acme/tools'}}}}"), "1.3.0");
}

#[test]
fn a_bundle_of_a_release_is_held_to_its_sums_its_signature_and_its_rule() {
    let tree = Tree::new(TREE);
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let sign = |says: &str, bytes: &[u8]| {
        minisign::sign(Some(&pair.pk), &pair.sk, bytes, Some(says), None).unwrap().into_string()
    };
    let repositories = tree.home().join("repositories/acme");
    fs::create_dir_all(&repositories).unwrap();
    git(&repositories, &["init", "-q", "-b", "main", "work"]);
    git(&repositories.join("work"), &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&repositories.join("work"), &["tag", "v1.0.0"]);
    git(&repositories, &["clone", "-q", "--bare", "work", "rustomize-plugin-tools.git"]);
    let files = Files::default();
    let stem = "/acme/rustomize-plugin-tools/releases/download/v1.0.0/rustomize-plugin-tools_v1.0.0";
    let name = "rustomize-plugin-tools_v1.0.0_x1.0_any_any.tar.gz";
    let bytes = archive(&bundle("tools", "1.0.0"));
    files.put(&format!("{stem}_SHA256SUMS"), format!("{}  {name}\n", sha256(&bytes)));
    files.put(&format!("{stem}_x1.0_any_any.tar.gz"), "something else");
    let server = git_server(tree.home().join("repositories"), files.clone());
    let requirement = format!("{{tools: {{source: '{server}/acme/tools'}}}}");
    require(&tree, &requirement);
    tree.run(&["plugin", "install"]).fails_with(&["is not what was announced"]);
    files.put(&format!("{stem}_x1.0_any_any.tar.gz"), bytes.clone());
    let trust = |rules: &str| {
        let text = format!("apiVersion: rustomize.dev/v1\nkind: TrustPolicy\nrules: {rules}\n");
        tree.write("../home/.config/rustomize/trust.yaml", &text);
    };
    trust("[{source: h.io/**}]");
    tree.run(&["plugin", "install"]).fails_with(&["no rule", "/acme/tools"]);
    let key = pair.pk.to_base64();
    trust(&format!("[{{source: '{server}/acme/*', require: minisign, keys: ['{key}']}}]"));
    tree.run(&["plugin", "install"]).fails_with(&["404", ".minisig"]);
    assert!(!root(&tree).join(&server).exists());
    files.put(&format!("{stem}_x1.0_any_any.tar.gz.minisig"), {
        let source = format!("{server}/acme/tools");
        let says = |source: &str| crate::support::packages::statement(source, "1.0.0", "any_any", &bytes);
        files.put(&format!("{stem}_x1.0_any_any.tar.gz.minisig"), sign(&says("h.io/acme/tools"), &bytes));
        tree.run(&["plugin", "install"]).fails_with(&["is for the plugin 'h.io/acme/tools'"]);
        sign(&says(&source), &bytes)
    });
    installs(&tree, &requirement, "1.0.0");
    // A rule that denies the source takes the plugins and the schemas away.
    tree.run(&["plugin", "install"]).ok();
    trust(&format!("[{{source: '{server}/**', deny: true}}]"));
    tree.build(&[]).fails_with(&["is denied by"]);
}

#[test]
fn an_installed_bundle_that_nothing_requires_gives_its_plugins_and_no_schemas() {
    let tree = Tree::new(TREE);
    write(&tree, "../home/tools", &bundle("tools", "1.0.0"));
    let path = tree.home().join("tools");
    let install = || tree.run(&["plugin", "install", "--path", path.to_str().unwrap(), "h.io/acme/tools"]).ok();
    // Other bundles on a machine change no field of a tree.
    #[track_caller]
    fn assert_plugins_alone(out: &str, version: &str) {
        assert!(out.contains(&format!("v: {version}\n")) && out.contains("  namespace: sea\n"), "{out}");
    }
    install();
    assert_plugins_alone(&tree.build(&[]).ok(), "1.0.0");
    // The highest version.
    write(&tree, "../home/tools", &bundle("tools", "1.10.0"));
    install();
    assert_plugins_alone(&tree.build(&[]).ok(), "1.10.0");
    assert_eq!(tree.listed(), ["h.io/acme/tools v1.10.0 installed", "h.io/acme/tools v1.0.0 installed"]);
    // Not where only what is locked may be used, and not what was changed.
    tree.build(&["--frozen"]).fails_with(&["is not locked"]);
    let best = root(&tree).join("h.io/acme/tools/rustomize-plugin-tools_v1.10.0_x1.0_any_any");
    fs::write(best.join("plugin/ex.io/v1/made/values.txt"), "changed").unwrap();
    assert_plugins_alone(&tree.build(&[]).ok(), "1.0.0");
    let said = tree.run(&["plugin", "verify"]);
    assert!(said.status == Some(1) && said.stdout.contains("its content has changed"), "{}", said.stdout);
    // The bundle is removed as a whole.
    tree.run(&["plugin", "uninstall", "h.io/acme/tools"]).ok();
    assert!(!root(&tree).join("h.io").exists());
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
}

#[test]
fn each_project_has_its_own_version_of_a_bundle() {
    let tree = Tree::new("");
    for (site, version) in [("north", "1.0.0"), ("south", "2.0.0")] {
        for (name, text) in crate::support::split(TREE).1 {
            tree.write(&format!("{site}/{name}"), &text);
        }
        write(&tree, &format!("{site}/tools"), &bundle("tools", version));
        let text = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires: {tools: {source: h.io/acme/tools, from: ./tools}}\n";
        tree.write(&format!("{site}/plugins.yaml"), text);
        tree.run(&["plugin", "install", "--directory", site]).ok();
    }
    for (site, version) in [("north", "1.0.0"), ("south", "2.0.0"), ("north", "1.0.0")] {
        assert_known(&tree.build(&[site, "--frozen"]).ok(), version);
    }
}

#[test]
fn two_versions_of_a_bundle_in_one_build_are_those_of_their_projects_or_an_error() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [north, south]\n");
    for (site, version) in [("north", "1.0.0"), ("south", "2.0.0")] {
        for (name, text) in crate::support::split(TREE).1 {
            let suffix = if name == "kustomization.yaml" { format!("nameSuffix: -{site}\n") } else { String::new() };
            tree.write(&format!("{site}/{name}"), &format!("{text}{suffix}"));
        }
        write(&tree, &format!("{site}/tools"), &bundle("tools", version));
        let text = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires: {tools: {source: h.io/acme/tools, from: ./tools}}\n";
        tree.write(&format!("{site}/plugins.yaml"), text);
        tree.run(&["plugin", "install", "--directory", site]).ok();
    }
    let out = tree.build(&["--frozen"]).ok();
    let of = |site: &str| {
        let made = format!("name: made-{site}\n");
        out.split("---\n").find(|document| document.contains(&made)).unwrap_or_else(|| panic!("{out}"))
    };
    assert!(of("north").contains("v: 1.0.0\n") && of("south").contains("v: 2.0.0\n"), "{out}");
    // Two bundles of one project that need two versions of a third one do not get two.
    for (name, version) in [("one", "1.0.0"), ("two", "2.0.0")] {
        let need =
            format!("dependencies: {{tools: {{source: h.io/acme/tools, version: {version}, from: ../tools}}}}\n");
        tree.write(&format!("{name}/plugin.yaml"), &format!("{}{need}", manifest(name, "1.0.0")));
    }
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    require(&tree, "{one: {source: h.io/acme/one, from: ./one}, two: {source: h.io/acme/two, from: ./two}}");
    tree.run(&["plugin", "install"]).fails_with(&["2.0.0 is required here, and v1.0.0 elsewhere", "one version"]);
    assert!(!tree.path().join("plugins.lock").exists());
}

/// The lock of an earlier version had each kind of a bundle once for each role.
#[test]
fn old_lock_with_roles_of_a_bundle_is_rewritten() {
    let tree = Tree::new(TREE);
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    require(&tree, "{tools: {source: h.io/acme/tools, from: ./tools}}");
    tree.run(&["plugin", "install"]).ok();
    let new = fs::read(tree.path().join("plugins.lock")).unwrap();
    let mut old = lock(&tree);
    let roles = ["generator", "transformer", "validator"];
    let provides = roles.map(|role| serde_json::json!({"role": role, "apiVersion": "ex.io/v1", "kind": "Made"}));
    old["plugins"]["h.io/acme/tools"]["provides"] = provides.as_slice().into();
    tree.write("plugins.lock", &serde_json::to_string_pretty(&old).unwrap());
    assert_known(&tree.build(&["--frozen"]).ok(), "1.0.0");
    assert!(tree.run(&["plugin", "verify"]).ok().ends_with(": ok\n"));
    tree.run(&["plugin", "lock", "--check"]).fails_with(&["does not match", "rustomize plugin lock"]);
    tree.run(&["plugin", "lock"]).ok();
    assert_eq!(fs::read(tree.path().join("plugins.lock")).unwrap(), new);
    // A role that no version has is an error with its place.
    old["plugins"]["h.io/acme/tools"]["provides"][0]["role"] = "mutator".into();
    tree.write("plugins.lock", &serde_json::to_string_pretty(&old).unwrap());
    tree.build(&["--frozen"]).fails_with(&["is not a valid lock file", "unknown variant `mutator`", "plugins.lock:"]);
}

#[test]
fn two_bundles_with_one_kind_are_an_error() {
    let tree = Tree::new(TREE);
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    tree.write("app", &script("1.0.0", "app"));
    let tools = "tools: {source: h.io/acme/tools, from: ./tools";
    let app = "app: {source: h.io/acme/app, from: ./app";
    require(&tree, &format!("{{{tools}}}, {app}}}}}"));
    tree.run(&["plugin", "install"]).ok();
    tree.build(&[]).fails_with(&["several installed plugins are for", "'h.io/acme/tools'", "'h.io/acme/app'"]);
    // The file settles it, and so does a requirement of one alone.
    let other = ", provides: [{apiVersion: ex.io/v1, kind: Other}]";
    require(&tree, &format!("{{{tools}{other}}}, {app}}}}}"));
    assert!(tree.build(&[]).ok().contains("v: app\n"));
    require(&tree, &format!("{{{tools}}}}}"));
    assert_known(&tree.build(&[]).ok(), "1.0.0");
    // Nothing requires them any more, and nobody but this project did.
    require(&tree, "{}");
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    for (name, path) in [("tools", "tools"), ("app", "app")] {
        let path = tree.path().join(path).to_string_lossy().into_owned();
        tree.run(&["plugin", "install", "--path", &path, &format!("h.io/acme/{name}")]).ok();
    }
    tree.build(&[]).fails_with(&["several installed plugins are for"]);
    // A placed plugin comes first, as ever.
    tree.plugin(
        "Made",
        "#!/bin/sh\nprintf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {v: placed}\n'",
    );
    assert!(tree.build(&[]).ok().contains("v: placed"));
}

#[test]
fn a_bundle_brings_its_dependencies_plugins_and_bundles() {
    let tree = Tree::new(TREE);
    let needs = |text: &str, needs: &str| format!("{text}dependencies: {needs}\n");
    // A bundle of one bundle, which needs a plugin.
    let all = "{base: {source: h.io/acme/base, from: ../base}}";
    tree.write("all/plugin.yaml", &needs(&manifest("all", "1.0.0"), all));
    let mut base = bundle("base", "1.0.0");
    let app = "{app: {source: h.io/acme/app, version: '~> 1.0', from: ../app}}";
    base.insert("plugin.yaml", needs(&manifest("base", "1.0.0"), app));
    write(&tree, "base", &base);
    let other = r#"[{"name": "other", "apiVersion": "ex.io/v1", "kind": "Other"}]"#;
    tree.write(
        "app",
        &crate::support::plugins::script_with("1.0.0", "x1.0", other, "other").replace("name: made", "name: o"),
    );
    tree.write("other.yaml", "apiVersion: ex.io/v1\nkind: Other\nmetadata: {name: o}\n");
    let kustomization = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    tree.write("kustomization.yaml", &kustomization.replace("[g.yaml]", "[g.yaml, other.yaml]"));
    require(&tree, "{all: {source: h.io/acme/all, from: ./all}}");
    tree.run(&["plugin", "install"]).ok();
    let check = |args: &[&str]| {
        let out = tree.build(args).ok();
        assert_known(&out, "1.0.0");
        assert!(out.contains("v: other\n"), "{out}");
    };
    check(&["--frozen", "--offline"]);
    let locked = lock(&tree);
    let sources: Vec<&String> = locked["plugins"].as_object().unwrap().keys().collect();
    assert_eq!(sources, ["h.io/acme/all", "h.io/acme/app", "h.io/acme/base"]);
    assert_eq!(locked["plugins"]["h.io/acme/all"]["dependencies"], serde_json::json!(["h.io/acme/base"]));
    // A build installs them all, and also a missing one.
    fs::remove_dir_all(root(&tree)).unwrap();
    check(&["--frozen"]);
    fs::remove_dir_all(root(&tree).join("h.io/acme/base")).unwrap();
    tree.build(&["--offline"]).fails_with(&["'base' (h.io/acme/base, any version) is required and not installed"]);
    check(&[]);
    // A tree that requires a plugin for the kind does not get that of the dependency.
    tree.write("own", &script("1.0.0", "own"));
    require(&tree, "{all: {source: h.io/acme/all, from: ./all}, own: {source: h.io/acme/own, from: ./own}}");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&[]).ok().contains("v: own\n"));
    // A circle is shown, and nothing is installed.
    base.insert("plugin.yaml", needs(&manifest("base", "1.0.0"), "{all: {source: h.io/acme/all, from: ../all}}"));
    write(&tree, "base", &base);
    fs::remove_dir_all(root(&tree)).unwrap();
    fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    let circle = "in a circle: h.io/acme/all -> h.io/acme/base -> h.io/acme/all";
    tree.run(&["plugin", "install"]).fails_with(&[circle]);
    assert!(!root(&tree).join("h.io").exists());
    // A plugin calls what it needs, and nobody calls a bundle.
    let plugin =
        "apiVersion: rustomize.dev/v1\nkind: Plugin\nname: caller\nversion: 1.0.0\nruntime: bash\ngenerators: [x]\n";
    tree.write("caller/plugin.yaml", &needs(plugin, "{tools: {source: h.io/acme/tools, from: ../tools}}"));
    tree.write("caller/main.sh", "exit 1\n");
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    require(&tree, "{caller: {source: h.io/acme/caller, from: ./caller}}");
    tree.run(&["plugin", "install"]).fails_with(&["'tools' (h.io/acme/tools) is a bundle; a plugin cannot call it"]);
}

#[test]
fn the_plugins_of_a_bundle_are_confined_and_get_what_it_was_granted() {
    let tree = Tree::new(TREE);
    let secret = tree.home().join("secret");
    fs::write(&secret, "secret").unwrap();
    let mut tools = bundle("tools", "1.0.0");
    let reads = MADE.replace("${0%/*}/values.txt", secret.to_str().unwrap());
    tools.insert("plugin/ex.io/v1/made/Made", reads);
    write(&tree, "tools", &tools);
    require(&tree, "{tools: {source: h.io/acme/tools, from: ./tools}}");
    tree.run(&["plugin", "install"]).ok();
    let run = tree.build(&[]);
    assert!(!run.stdout.contains("v: secret") && run.stderr.contains("Permission denied"), "{}", run.stderr);
    let permissions = format!("permissions: {{read: ['{}']}}\n", secret.display());
    tools.insert("plugin.yaml", manifest("tools", "1.0.1") + &permissions);
    write(&tree, "tools", &tools);
    tree.run(&["plugin", "lock"]).ok();
    tree.build(&[]).fails_with(&["rustomize plugin trust h.io/acme/tools", "--allow-read"]);
    let out = tree.build(&["--plugin-allow-read", secret.to_str().unwrap()]).ok();
    assert!(out.contains("v: secret\n"), "{out}");
}

#[test]
fn what_is_not_a_bundle_is_refused_and_leaves_nothing() {
    let tree = Tree::new(TREE);
    require(&tree, "{tools: {source: h.io/acme/tools, from: ./tools}}");
    let good = manifest("tools", "1.0.0");
    let install = |words: &[&str]| {
        tree.run(&["plugin", "install"]).fails_with(words);
        assert!(!root(&tree).join("h.io").exists(), "{words:?}");
        assert!(!tree.path().join("plugins.lock").exists(), "{words:?}");
        tree.assert_nothing_left();
    };
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    let huge = format!("{good}# {}\n", "x".repeat(1 << 20));
    for (text, words) in [
        (good.replace("apiVersion: rustomize.dev/v1\n", ""), "missing field \"apiVersion\""),
        (good.replace("Bundle", "bundle"), "kind should be Bundle, not 'bundle'"),
        (good.replace("kind: Bundle\n", ""), "missing field \"kind\""),
        (good.replace("name: tools\n", ""), "missing field \"name\""),
        (good.replace("version: 1.0.0\n", ""), "missing field \"version\""),
        (good.replace("1.0.0", "1.0"), "plugin.yaml:4:"),
        (good.replace("1.0.0", "[1]"), "plugin.yaml:4:"),
        (good.replace("name: tools", "name: {a: b}"), "plugin.yaml:3:"),
        (format!("{good}runtime: bash\n"), "unknown field \"runtime\""),
        (format!("{good}provides: []\n"), "unknown field \"provides\""),
        (format!("{good}permissions: all\n"), "plugin.yaml:5:"),
        (format!("{good}dependencies: [a]\n"), "'dependencies' is a mapping of names to plugins"),
        (format!("{good}dependencies: {{a: {{source: nowhere}}}}\n"), "the source 'nowhere'"),
        (format!("{good}dependencies: {{a: {{source: h.io/a/b, from: /abs}}}}\n"), "is a path of one machine"),
        (good.replace("tools", "other"), "it is the bundle 'other', not 'tools'"),
        (huge, "cannot read"),
        (String::new(), "is empty"),
    ] {
        tree.write("tools/plugin.yaml", &text);
        install(&[words]);
    }
    tree.write("tools/plugin.yaml", &good);
    let made = tree.path().join("tools/plugin/ex.io/v1/made");
    // Each fault is made, seen and mended.
    let link = |to: &Path| symlink(to, made.join("link")).unwrap();
    for to in [Path::new("/etc/passwd"), Path::new("values.txt"), Path::new("../../../..")] {
        link(to);
        install(&["link' is neither a file nor a directory"]);
        fs::remove_file(made.join("link")).unwrap();
    }
    rustix::fs::mknodat(rustix::fs::CWD, made.join("pipe"), rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
    install(&["pipe' is neither a file nor a directory"]);
    fs::remove_file(made.join("pipe")).unwrap();
    fs::write(made.join("Made.so"), "x").unwrap();
    install(&["is for the same kind as 'plugin/ex.io/v1/made/Made", "leave one of the two files out"]);
    fs::remove_file(made.join("Made.so")).unwrap();
    fs::set_permissions(made.join("Made"), fs::Permissions::from_mode(0o644)).unwrap();
    install(&["'plugin/ex.io/v1/made/Made' is not executable", "chmod +x"]);
    fs::remove_dir_all(tree.path().join("tools/plugin")).unwrap();
    tree.write("tools/plugin", "a file");
    install(&["plugin' is not a directory"]);
    fs::remove_file(tree.path().join("tools/plugin")).unwrap();
    fs::remove_dir_all(tree.path().join("tools/schemas")).unwrap();
    install(&["the bundle has no plugin, no schema and no dependency", "<apiVersion>/<kind in lower case>/<Kind>"]);
    // A bundle of schemas alone is one.
    tree.write("tools/schemas/fleet.yaml", CRD);
    tree.run(&["plugin", "install"]).ok();
    tree.write("kustomization.yaml", "resources: [fleet.yaml]\nnamespace: sea\n");
    assert!(!tree.build(&[]).ok().contains("namespace"));
    assert!(tree.run(&["build"]).ok().contains("namespace"), "without the flag nothing is known");
}

#[test]
fn the_lists_show_bundles() {
    let tree = Tree::new(TREE);
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    require(&tree, "{tools: {source: h.io/acme/tools, from: ./tools}}");
    tree.run(&["plugin", "install"]).ok();
    let said = tree.run(&["plugin", "list"]).ok();
    assert!(said.contains("installed  ex.io/v1/Made, 1 schema  "), "{said}");
    // The lock has each kind of the bundle once, for every role.
    let made = serde_json::json!([{"apiVersion": "ex.io/v1", "kind": "Made", "name": "made"}]);
    assert_eq!(lock(&tree)["plugins"]["h.io/acme/tools"]["provides"], made);
    let rows: serde_json::Value = serde_json::from_str(&tree.run(&["plugin", "list", "-o", "json"]).ok()).unwrap();
    assert_eq!(rows[0]["schemas"], serde_json::json!(["fleet.yaml"]));
    let roles: Vec<&str> =
        rows[0]["provides"].as_array().unwrap().iter().map(|p| p["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["generator", "transformer", "validator"]);
    let place = root(&tree).join("h.io/acme/tools/rustomize-plugin-tools_v1.0.0_x1.0_any_any");
    let said = tree.run(&["plugin", "why", "ex.io/v1/Made"]).ok();
    assert!(said.contains(&format!("{}: used", place.display())), "{said}");
    let said = tree.run(&["plugin", "why"]).ok();
    assert!(said.contains(&format!("{}: v1.0.0, for ex.io/v1/Made, 1 schema\n", place.display())), "{said}");
    let described = tree.run(&["plugin", "describe", "tools", "-o", "yaml"]).ok();
    assert!(described.starts_with("apiVersion: rustomize.dev/v1\nkind: Bundle\nname: tools\nversion: 1.0.0\n"));
    assert!(!described.contains("runtime") && !described.contains("generators"), "{described}");
    let page = tree.run(&["plugin", "describe", "tools", "-o", "markdown"]).ok();
    assert_eq!(page.matches("## Made").count(), 1, "{page}");
    assert!(page.contains("| role | `generator, transformer, validator` |"), "{page}");
    let described = tree.run(&["plugin", "describe", "./tools"]).ok();
    assert!(described.contains("\"kind\": \"Made\""), "{described}");
    // By the name of the bundle and the kind, and for kustomize.
    let run = tree.run(&["plugin", "run", "tools-made"]).ok();
    assert!(run.contains("v: 1.0.0\n"), "{run}");
    tree.run(&["plugin", "export", "laid"]).ok();
    let laid = tree.path().join("laid/ex.io/v1/made/Made");
    assert!(fs::read_to_string(&laid).unwrap().contains("plugin/ex.io/v1/made/Made"), "what is laid starts the file");
}

#[test]
fn new_bundle_test_package_serve_install_lock_build() {
    let author = Tree::new("");
    author.run(&["plugin", "new", "team-tools", "--bundle"]).ok();
    author.run(&["plugin", "new", "other", "--bundle", "--lang", "c"]).fails_with(&["--lang"]);
    #[expect(clippy::disallowed_methods, reason = "the script that comes with the bundle")]
    let mut test = std::process::Command::new("bash");
    #[expect(clippy::disallowed_methods, reason = "where the tools are")]
    let path = std::env::var("PATH").unwrap();
    let tool = Path::new(crate::support::program()).parent().unwrap();
    test.arg(author.path().join("team-tools/test.sh"));
    test.env("PATH", format!("{}:{path}", tool.display())).env("HOME", author.home());
    assert!(crate::support::run(&mut test).ok().ends_with("ok\n"));
    // Packaged twice it is the same bytes, whatever was installed for its test.
    let package = |out: &str| author.run(&["plugin", "package", "team-tools", "-o", out]).ok();
    package("one");
    package("two");
    let name = "rustomize-plugin-team-tools_v0.1.0_x1.0_any_any.tar.gz";
    let bytes = fs::read(author.path().join("one").join(name)).unwrap();
    assert!(bytes == fs::read(author.path().join("two").join(name)).unwrap());
    let sums = fs::read_to_string(author.path().join("one/rustomize-plugin-team-tools_v0.1.0_SHA256SUMS")).unwrap();
    assert_eq!(sums, format!("{}  {name}\n", sha256(&bytes)));
    let files = Files::default();
    files.put(&format!("/0.1.0/{name}"), bytes);
    let from = format!("http://{}/{{version}}/{}", files.serve(), name.replace("0.1.0", "{version}"));
    let user = Tree::new("");
    for entry in fs::read_dir(author.path().join("team-tools/example")).unwrap().map(|entry| entry.unwrap()) {
        fs::copy(entry.path(), user.path().join(entry.file_name())).unwrap();
    }
    fs::remove_file(user.path().join("plugins.lock")).unwrap();
    require(&user, &format!("{{tools: {{source: h.io/acme/team-tools, version: 0.1.0, from: '{from}'}}}}"));
    user.run(&["plugin", "install"]).ok();
    let expected = fs::read_to_string(user.path().join("expected.yaml")).unwrap();
    assert_eq!(user.build(&["--frozen", "--offline"]).ok(), expected);
}

#[test]
fn what_could_not_be_installed_is_not_packaged() {
    let tree = Tree::new("");
    write(&tree, "tools", &bundle("tools", "1.0.0"));
    let fails = |words: &[&str]| {
        tree.run(&["plugin", "package", "tools", "-o", "dist"]).fails_with(words);
        assert!(!tree.path().join("dist").exists());
    };
    tree.write("tools/plugin.yaml", &manifest("tools", "1.0.0-dev"));
    fails(&["is not a release"]);
    let needs = "dependencies: {base: {source: h.io/acme/base, from: ../base}}\n";
    tree.write("tools/plugin.yaml", &(manifest("tools", "1.0.0") + needs));
    fails(&["it needs 'base' from '../base', a place of this machine"]);
    tree.write("tools/plugin.yaml", &manifest("tools", "1.0.0"));
    symlink("values.txt", tree.path().join("tools/plugin/ex.io/v1/made/link")).unwrap();
    fails(&["is neither a file nor a directory"]);
    fs::remove_file(tree.path().join("tools/plugin/ex.io/v1/made/link")).unwrap();
    // A compiled plugin makes a bundle one for this platform; DIR is the one for another.
    let (os, arch) = host();
    fs::write(tree.path().join("tools/plugin/ex.io/v1/made/Made"), b"\x7fELF here").unwrap();
    write(&tree, "../home/arm", &bundle("tools", "1.0.0"));
    write(&tree, "../home/later", &bundle("tools", "1.0.1"));
    let flag = |directory: &str| format!("--platform=plan9_mips={}", tree.home().join(directory).display());
    tree.run(&["plugin", "package", "tools", "-o", "dist", &flag("later")])
        .fails_with(&["is not the same version of the same bundle"]);
    tree.run(&["plugin", "package", "tools", "-o", "dist", &flag("arm")]).ok();
    for platform in [format!("{os}_{arch}"), "plan9_mips".to_owned()] {
        let name = format!("rustomize-plugin-tools_v1.0.0_x1.0_{platform}.tar.gz");
        assert!(tree.path().join("dist").join(&name).is_file(), "{name}");
    }
}

#[test]
fn an_error_of_a_shared_object_in_a_bundle_names_the_file_that_the_user_knows() {
    let tree = Tree::new(TREE);
    let mut tools = bundle("tools", "1.0.0");
    tools.remove("plugin/ex.io/v1/made/Made");
    tools.insert("plugin/ex.io/v1/made/Made.so", "this is text".to_owned());
    write(&tree, "tools", &tools);
    require(&tree, "{tools: {source: h.io/acme/tools, from: ./tools}}");
    tree.run(&["plugin", "install"]).ok();
    let said = tree.build(&[]).stderr;
    let file = root(&tree).join("h.io/acme/tools");
    assert!(said.contains(&format!("the plugin '{}/", file.display())), "{said}");
    assert!(said.contains("/plugin/ex.io/v1/made/Made.so'") && !said.contains("rustomize-plugin-/"), "{said}");
    assert!(!said.contains(&tree.tmp().display().to_string()), "it names the copy that runs: {said}");
}
