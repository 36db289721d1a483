//! Bundles of plugins, environments, and how machines get them from a server: the table M of
//! docs/requirements.md. Real servers and clients, each a process of its own.

use super::{names, object};
use crate::support::bundles::{archive, bundle as installable, manifest};
use crate::support::environments::{CRD, OPEN_API, Server, bundle, environment, environments, export, synced};
use crate::support::packages::host;
use crate::support::plugins::{require, root, tree};
use crate::support::servers::{Files, registry, sha256};
use crate::support::{Tree, run, skip};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;

/// A file of a bundle in the environment `prod`.
fn file(tree: &Tree, path: &str, text: &str) {
    tree.write(&format!("../home/.config/rustomize/environments/prod/modules/{path}"), text);
}

/// A generator, a transformer or a validator, as it is called.
const ANY: &str = "#!/bin/sh\nname=$(sed -n 's/^  name: //p' \"$1\")\n\
    if [ \"$KUSTOMIZE_PLUGIN_MODE\" = generate ]; then\n  printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: old}\\n'\n\
    elif [ \"$name\" = check ]; then\n  all=$(cat); case $all in *old-change*) exit 0;; esac; echo 'it is not changed' >&2; exit 1\n\
    else\n  sed \"s/v: old/&-$name/\"\nfi\n";

/// A machine that serves the environment `prod`, with two bundles.
fn serving() -> Tree {
    let host = tree();
    bundle(&host, "prod/modules/a", "first");
    file(&host, "a/plugin/ex.io/v1/made/data/lines.txt", "data");
    file(&host, "b/plugin/ex.io/v1/unused/Unused", "#!/bin/sh\n");
    file(&host, "a/schemas/fleet.yaml", CRD);
    file(&host, "b/schemas/deep/raft.json", OPEN_API);
    host
}

/// A machine whose environment `prod` is that of a server.
fn client(server: &Server) -> Tree {
    let client = tree();
    environment(&client, "prod", &format!("sync: {}\n", server.url));
    client
}

/// Runs `plugin sync`, and returns its summary.
fn sync(client: &Tree) -> String {
    client.run(&["plugin", "sync", "--environment", "prod"]).ok()
}

/// Where a file of the environment is after a sync.
fn place(client: &Tree, path: &str) -> PathBuf {
    client.home().join(".cache/rustomize/sync/prod/current").join(path)
}

const MADE: &str = "plugin/ex.io/v1/made/Made";

/// The files of a mount, as the server lists them.
fn listed(server: &Server, mount: &str) -> (u16, Vec<serde_json::Value>) {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let url = format!("{}/v3/file_metadatas/{mount}?environment=prod", server.url);
    let mut response = agent.get(url).call().unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    (response.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
}

fn paths(files: &[serde_json::Value]) -> Vec<String> {
    files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_bundle_has_several_kinds_of_plugins() {
    let tree = tree();
    for kind in ["Made", "Changed", "Checked"] {
        file(&tree, &format!("b/plugin/ex.io/v1/{}/{kind}", kind.to_lowercase()), ANY);
        tree.write(&format!("{kind}.yaml"), &object(kind, if kind == "Checked" { "check" } else { "change" }));
    }
    let all = "generators: [Made.yaml]\ntransformers: [Changed.yaml]\nvalidators: [Checked.yaml]\n";
    tree.write("kustomization.yaml", all);
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: old-change\n"));
    tree.write("kustomization.yaml", &all.replace("transformers: [Changed.yaml]\n", ""));
    tree.build(&["--environment", "prod"]).fails_with(&["it is not changed", "running the validator"]);
}

#[test]
fn a_bundle_is_installed_like_a_plugin_and_needs_no_further_step() {
    let tree = tree();
    tree.write("kustomization.yaml", "resources: [fleet.yaml]\nnamespace: sea\ngenerators: [g.yaml]\n");
    tree.write("fleet.yaml", "apiVersion: ex.io/v1\nkind: Fleet\nmetadata: {name: fleet}\n");
    tree.write("../home/tools.tar.gz", "");
    let path = tree.home().join("tools.tar.gz");
    fs::write(&path, archive(&installable("tools", "1.2.0"))).unwrap();
    tree.run(&["plugin", "install", "--path", path.to_str().unwrap(), "h.io/acme/tools"]).ok();
    assert!(tree.build(&[]).ok().contains("v: 1.2.0\n"));
    // A project that requires it has its schemas, too.
    require(&tree, "{tools: {source: h.io/acme/tools}}");
    let out = tree.build(&["--offline"]).ok();
    assert!(out.contains("v: 1.2.0\n") && out.ends_with("kind: Fleet\nmetadata:\n  name: fleet\n"), "{out}");
    fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    // One directory with one sum, as of a plugin.
    let place = root(&tree).join("h.io/acme/tools");
    let name = "rustomize-plugin-tools_v1.2.0_x1.0_any_any";
    assert_eq!(names(&place), [name.to_owned(), format!("{name}_H1SUM"), format!("{name}_IDENTITY")]);
    tree.run(&["plugin", "remove", "h.io/acme/tools"]).ok();
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
}

#[test]
fn a_bundle_comes_from_a_registry_or_is_made_by_its_user() {
    let tree = tree();
    let (os, arch) = host();
    let content = archive(&installable("tools", "1.2.0"));
    // A registry, and a plain file server.
    let (registry, blobs) = registry("acme/tools", "v1.2.0", &[(os, arch, content.clone())]);
    let files = Files::default();
    files.put("/tools-1.2.0.tar.gz", content);
    let file = format!("http://{}/tools-{{version}}.tar.gz", files.serve());
    for from in [format!("oci://{registry}/acme/tools"), file] {
        require(&tree, &format!("{{tools: {{source: h.io/acme/tools, version: 1.2.0, from: '{from}'}}}}"));
        assert!(tree.build(&[]).ok().contains("v: 1.2.0\n"), "{from}");
        // Once: the next build has what was installed.
        let _ = (files.asked(), blobs.asked());
        assert!(tree.build(&["--frozen"]).ok().contains("v: 1.2.0\n"), "{from}");
        assert_eq!((files.asked(), blobs.asked()), (0, 0), "{from}");
        fs::remove_dir_all(root(&tree)).unwrap();
        fs::remove_file(tree.path().join("plugins.lock")).unwrap();
    }
    fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    // By hand on a module path, without a manifest.
    bundle(&tree, "default/modules/own", "by hand");
    assert!(tree.build(&[]).ok().contains("v: by hand\n"));
    // By hand with a manifest, required where it is.
    bundle(&tree, "default/modules/own", "required");
    file_of_default(&tree, "own/plugin.yaml", &manifest("own", "0.1.0"));
    let own = environments(&tree).join("default/modules/own");
    fs::rename(&own, tree.path().join("own")).unwrap();
    require(&tree, "{own: {source: h.io/me/own, from: ./own}}");
    assert!(tree.build(&[]).ok().contains("v: required\n"));
}

fn file_of_default(tree: &Tree, path: &str, text: &str) {
    tree.write(&format!("../home/.config/rustomize/environments/default/modules/{path}"), text);
}

#[test]
fn a_bundle_is_for_the_environment_that_has_it_on_its_module_path() {
    let tree = tree();
    bundle(&tree, "prod/modules/one", "prod");
    bundle(&tree, "prod/shared/one", "shared");
    bundle(&tree, "other/modules/one", "other");
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: prod\n"));
    assert!(tree.build(&["--environment", "other"]).ok().contains("v: other\n"));
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    environment(&tree, "prod", "modulePath: [shared]\n");
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: shared\n"));
    environment(&tree, "prod", "modulePath: [nowhere]\n");
    tree.build(&["--environment", "prod"]).fails_with(&["unable to find plugin root"]);
}

#[test]
fn a_build_reads_bundles_where_they_are() {
    let tree = tree();
    let script =
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: \"%s\"}\\n' \"$0\"\n";
    file(&tree, "one/plugin/ex.io/v1/made/Made", script);
    let own = environments(&tree).join("prod/modules/one/plugin/ex.io/v1/made/Made");
    assert!(tree.build(&["--environment", "prod"]).ok().contains(&format!("v: {}\n", own.display())));
    assert!(!tree.home().join(".cache/rustomize/sync").exists(), "nothing was copied");
    file(&tree, "one/plugin/ex.io/v1/made/Made", &script.replace("$0", "changed"));
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: changed\n"));
}

#[test]
fn every_build_of_an_environment_with_a_server_syncs_first() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    for round in ["first", "second", "third"] {
        bundle(&host, "prod/modules/a", round);
        export(&host, "prod");
        let out = client.build(&["--environment", "prod"]).ok();
        assert!(out.contains(&format!("v: {round}\n")), "{out}");
        assert_eq!(server.asked().0, 3, "both mounts were asked for, one of them again");
    }
    bundle(&host, "prod/modules/a", "fourth");
    export(&host, "prod");
    for flag in ["--no-sync", "--offline"] {
        assert!(client.build(&["--environment", "prod", flag]).ok().contains("v: third\n"));
        assert_eq!(server.asked(), (0, 0), "{flag}");
    }
    // A build without plugins needs no bundles.
    client.write("kustomization.yaml", "configMapGenerator: [{name: a}]\n");
    client.run(&["build", "--environment", "prod"]).ok();
    assert_eq!(server.asked(), (0, 0), "without the flag");
    client.build(&["--environment", "prod"]).ok();
    assert_eq!(server.asked().0, 3, "with the flag, though nothing needs a plugin");
}

#[test]
fn what_a_build_has_synced_it_uses() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    assert!(!client.home().join(".cache").exists());
    assert!(client.build(&["--environment", "prod"]).ok().contains("v: first\n"));
}

#[test]
fn the_files_of_every_bundle_are_synced_whether_used_or_not() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    client.build(&["--environment", "prod"]).ok();
    let found = synced(&client, "prod");
    let want = [
        MADE,
        "plugin/ex.io/v1/made/data/lines.txt",
        "plugin/ex.io/v1/unused/Unused",
        "schemas/deep/raft.json",
        "schemas/fleet.yaml",
    ];
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), want);
}

#[test]
fn a_server_has_two_mounts_with_the_files_of_all_bundles() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let (status, plugins) = listed(&server, "plugins");
    assert_eq!(status, 200);
    assert_eq!(paths(&plugins), ["ex.io/v1/made/Made", "ex.io/v1/made/data/lines.txt", "ex.io/v1/unused/Unused"]);
    let (status, schemas) = listed(&server, "schemas");
    assert_eq!(status, 200);
    assert_eq!(paths(&schemas), ["deep/raft.json", "fleet.yaml"]);
    for other in ["plugin", "pluginfacts", "modules", ""] {
        assert_eq!(listed(&server, other).0, 404, "{other}");
    }
    // A bundle that comes later is in them.
    file(&host, "c/schemas/late.yaml", CRD);
    export(&host, "prod");
    assert_eq!(paths(&listed(&server, "schemas").1), ["deep/raft.json", "fleet.yaml", "late.yaml"]);
}

#[test]
fn the_mounts_become_two_directories_with_all_that_is_below_them() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    sync(&client);
    let mut folders = names(&place(&client, ""));
    folders.retain(|name| name != "server");
    assert_eq!(folders, ["plugin", "schemas"]);
    assert_eq!(fs::read_to_string(place(&client, "plugin/ex.io/v1/made/data/lines.txt")).unwrap(), "data");
    assert_eq!(fs::read_to_string(place(&client, "schemas/deep/raft.json")).unwrap(), OPEN_API);
}

#[test]
fn a_list_of_a_mount_has_path_sum_size_mode_and_owner() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let (_, plugins) = listed(&server, "plugins");
    let files = [("a", "ex.io/v1/made/Made"), ("a", "ex.io/v1/made/data/lines.txt"), ("b", "ex.io/v1/unused/Unused")];
    let want = files.map(|(bundle, file)| {
        let path = environments(&host).join("prod/modules").join(bundle).join("plugin").join(file);
        let (text, metadata) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap());
        serde_json::json!({
            "path": file,
            "sha256": sha256(&text),
            "size": text.len(),
            "mode": if file.ends_with(".txt") { 0o644 } else { 0o755 },
            "uid": metadata.uid(),
            "gid": metadata.gid(),
        })
    });
    assert_eq!(plugins, want);
}

#[test]
fn sums_and_owners_are_compared_with_the_local_files() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    sync(&client);
    let before = synced(&client, "prod");
    server.asked();
    // As many bytes, and the time of before: the sum alone tells.
    let made = place(&client, MADE);
    let (text, modified) = (fs::read_to_string(&made).unwrap(), fs::metadata(&made).unwrap().modified().unwrap());
    fs::write(&made, text.replace("first", "worst")).unwrap();
    fs::File::options().write(true).open(&made).unwrap().set_modified(modified).unwrap();
    assert_eq!(sync(&client), "prod: 5 files, 1 fetched, 0 removed\n");
    assert_eq!((synced(&client, "prod"), server.asked().1), (before, 1));
    if !rustix::process::geteuid().is_root() {
        return skip("only root has files of other owners");
    }
    let owner = |path: &PathBuf| fs::metadata(path).map(|of| (of.uid(), of.gid())).unwrap();
    chown(&made, Some(1), Some(1)).unwrap();
    assert_eq!(sync(&client), "prod: 5 files, 0 fetched, 0 removed\n");
    assert_eq!((owner(&made), server.asked().1), ((0, 0), 0), "the owner is right again, and nothing was fetched");
    // The owner on the server does not count: that user could change what this one runs.
    let source = environments(&host).join("prod/modules/a").join(MADE);
    chown(&source, Some(1), Some(2)).unwrap();
    export(&host, "prod");
    sync(&client);
    assert_eq!(owner(&made), (0, 0));
}

#[test]
fn local_files_that_the_server_does_not_have_are_deleted() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    sync(&client);
    let before = synced(&client, "prod");
    fs::write(place(&client, "plugin/ex.io/v1/made/stray"), "").unwrap();
    fs::create_dir_all(place(&client, "schemas/own")).unwrap();
    fs::write(place(&client, "schemas/own/stray.yaml"), "").unwrap();
    assert_eq!(sync(&client), "prod: 5 files, 0 fetched, 2 removed\n");
    assert_eq!(synced(&client, "prod"), before);
    fs::remove_dir_all(environments(&host).join("prod/modules/b")).unwrap();
    export(&host, "prod");
    assert_eq!(sync(&client), "prod: 3 files, 0 fetched, 2 removed\n");
    assert!(!place(&client, "plugin/ex.io/v1/unused").exists());
}

#[test]
fn only_missing_files_and_those_that_differ_are_fetched() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    assert_eq!(sync(&client), "prod: 5 files, 5 fetched, 0 removed\n");
    assert_eq!(server.asked(), (3, 5));
    assert_eq!(sync(&client), "prod: 5 files, 0 fetched, 0 removed\n");
    assert_eq!(server.asked(), (3, 0));
    fs::remove_file(place(&client, "schemas/fleet.yaml")).unwrap();
    bundle(&host, "prod/modules/a", "newer");
    export(&host, "prod");
    assert_eq!(sync(&client), "prod: 5 files, 2 fetched, 0 removed\n");
    assert_eq!(server.asked(), (3, 2));
}

#[test]
fn permissions_are_those_of_the_server() {
    let host = serving();
    let server = Server::start(&host, "prod");
    let client = client(&server);
    sync(&client);
    let mode = |path: &str| fs::metadata(place(&client, path)).unwrap().permissions().mode() & 0o777;
    let lines = "plugin/ex.io/v1/made/data/lines.txt";
    assert_eq!((mode(MADE), mode(lines)), (0o755, 0o644));
    fs::set_permissions(place(&client, MADE), fs::Permissions::from_mode(0o600)).unwrap();
    let source = environments(&host).join("prod/modules/a").join(lines);
    fs::set_permissions(source, fs::Permissions::from_mode(0o700)).unwrap();
    export(&host, "prod");
    assert_eq!(sync(&client), "prod: 5 files, 0 fetched, 0 removed\n");
    assert_eq!((mode(MADE), mode(lines)), (0o755, 0o755));
}

#[test]
fn the_schemas_of_bundles_have_a_mount_and_a_directory_of_their_own() {
    let host = serving();
    file(&host, "b/schemas/README", "no schema");
    file(&host, "b/facts.d/datacenter.yaml", "a: b");
    let server = Server::start(&host, "prod");
    assert_eq!(paths(&listed(&server, "schemas").1), ["deep/raft.json", "fleet.yaml"]);
    let client = client(&server);
    sync(&client);
    assert_eq!(names(&place(&client, "schemas")), ["deep", "fleet.yaml"]);
    let found = synced(&client, "prod");
    assert!(!found.keys().any(|path| path.contains("datacenter")), "{:?}", found.keys());
    // A build with the environment knows from the schema that Fleet is not namespaced.
    client.write("kustomization.yaml", "resources: [fleet.yaml]\nnamespace: sea\n");
    client.write("fleet.yaml", "apiVersion: ex.io/v1\nkind: Fleet\nmetadata: {name: fleet}\n");
    assert!(!client.build(&["--environment", "prod"]).ok().contains("namespace"));
    assert!(client.run(&["build"]).ok().contains("namespace: sea"));
    // A build reads the schemas of all bundles: an export leaves none out.
    let same = ["plugin", "export", "--mounts", "same", "--environment", "prod"];
    file(&host, "b/schemas/fleet.yaml", CRD);
    host.run(&same).ok();
    file(&host, "b/schemas/fleet.yaml", &CRD.replace("Fleet", "Other"));
    host.run(&same).fails_with(&["a/schemas/fleet.yaml' and '", "b/schemas/fleet.yaml' have one name"]);
}

#[test]
fn the_plugins_of_bundles_have_a_mount_and_a_directory_of_their_own() {
    let host = serving();
    file(&host, "b/lib/other/Other", "#!/bin/sh\n");
    let server = Server::start(&host, "prod");
    assert_eq!(paths(&listed(&server, "plugins").1).len(), 3);
    let client = client(&server);
    sync(&client);
    assert_eq!(names(&place(&client, "plugin/ex.io/v1")), ["made", "unused"]);
    assert!(client.build(&["--environment", "prod", "--no-sync"]).ok().contains("v: first\n"));
}

#[test]
fn files_that_are_not_named_by_the_rules_are_not_loaded() {
    let tree = tree();
    bundle(&tree, "prod/modules/one", "one");
    let home = environments(&tree).join("prod/modules/one/plugin");
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: one\n"));
    let good = home.join("ex.io/v1/made/Made");
    let stray = ": not loaded: it is not named as <apiVersion>/";
    // The last two are named for other kinds.
    for (place, listed) in [
        ("ex.io/v1/made/made-it", format!("ex.io/v1/made{stray}")),
        ("ex.io/v1/Made", format!("ex.io/v1{stray}")),
        ("Made", format!("one/plugin{stray}")),
        ("ex.io/made/Made", "one/plugin/ex.io/made: for ex.io/made\n".to_owned()),
        ("v1/ex.io/made/Made", "one/plugin/v1/ex.io/made: for v1/ex.io/made\n".to_owned()),
    ] {
        let to = home.join(place);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(&good, &to).unwrap();
        tree.build(&["--environment", "prod"]).fails_with(&["unable to find plugin root"]);
        let mut command = tree.command(&["plugin", "doctor"]);
        let said = crate::support::run(command.env("RUSTOMIZE_ENVIRONMENT", "prod")).ok();
        assert!(said.contains(&listed), "{place}: {said}");
        fs::create_dir_all(good.parent().unwrap()).unwrap();
        fs::rename(&to, &good).unwrap();
    }
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: one\n"));
    // Directories that modules of other tools have, and files that are not schemas.
    let here = "not loaded: a bundle has 'plugin' and 'schemas'";
    for (place, listed) in [
        ("plugins/ex.io/v1/more/More", format!("one/plugins: {here}; plugins are in 'plugin'\n")),
        ("lib/puppet/type/more.rb", format!("one/lib: {here}; plugins are in 'plugin', kinds of resources in")),
        ("functions/more.pp", format!("one/functions: {here}; a kustomization does not call functions\n")),
        ("facts.d/more.yaml", format!("one/facts.d: {here}; a build does not gather facts\n")),
        ("anything/more.yaml", format!("one/anything: {here}\n")),
        ("schemas/more.txt", "one/schemas/more.txt: not loaded: the name of a schema ends in .yaml, ".to_owned()),
    ] {
        file(&tree, &format!("one/{place}"), "#!/bin/sh\n");
        let said = run(tree.command(&["plugin", "doctor"]).env("RUSTOMIZE_ENVIRONMENT", "prod")).ok();
        assert!(said.contains(&listed), "{place}: {said}");
    }
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: one\n"));
    // The same of a bundle that is installed.
    let mut tools = installable("tools", "1.2.0");
    tools.insert("functions/more.pp", "more".to_owned());
    let path = tree.home().join("tools.tar.gz");
    fs::write(&path, archive(&tools)).unwrap();
    tree.run(&["plugin", "install", "--path", path.to_str().unwrap(), "h.io/acme/tools"]).ok();
    let said = tree.run(&["plugin", "doctor"]).ok();
    assert!(said.contains(&format!("_any_any/functions: {here}; a kustomization")), "{said}");
}

#[test]
fn a_bundle_has_the_name_of_its_directory_and_the_first_of_a_name_counts() {
    let tree = tree();
    bundle(&tree, "prod/one/b", "one");
    bundle(&tree, "prod/two/b", "two");
    bundle(&tree, "prod/two/.git", "version control");
    let more = "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: more}\\n'\n";
    for place in ["two/b", "two/c"] {
        let kind = if place == "two/c" { "Another" } else { "More" };
        let path = format!("{place}/plugin/ex.io/v1/{}/{kind}", kind.to_lowercase());
        tree.write(&format!("../home/.config/rustomize/environments/prod/{path}"), more);
    }
    tree.write("more.yaml", &object("More", "m"));
    tree.write("another.yaml", &object("Another", "a"));
    let built = |path: &str, entry: &str| {
        environment(&tree, "prod", &format!("modulePath: [{path}]\n"));
        tree.write("kustomization.yaml", &format!("generators: [{entry}]\n"));
        tree.build(&["--environment", "prod"])
    };
    assert!(built("one, two", "g.yaml").ok().contains("v: one\n"));
    assert!(built("two, one", "g.yaml").ok().contains("v: two\n"));
    // Nothing of the second bundle of a name counts. A bundle of another name does.
    built("one, two", "more.yaml").fails_with(&["unable to find plugin root"]);
    built("two, one", "more.yaml").ok();
    built("one, two", "another.yaml").ok();
    // Two names in one directory are two bundles, and neither comes first.
    bundle(&tree, "prod/one/a", "twice");
    let said = built("one, two", "g.yaml").fails_with(&["several bundles of one directory are for ex.io/v1 Made g"]);
    assert!(said.contains("prod/one/a', '") && said.contains("prod/one/b'"), "{said}");
    let why = run(tree.command(&["plugin", "why", "ex.io/v1/Made"]).env("RUSTOMIZE_ENVIRONMENT", "prod")).ok();
    assert!(!why.contains(": used\n") && why.contains("A build fails: several bundles"), "{why}");
    tree.run(&["plugin", "export", "--mounts", "www", "--environment", "prod"])
        .fails_with(&["prod/one/b' have a plugin"]);
    // The order of the module path settles it.
    bundle(&tree, "prod/zero/z", "zero");
    assert!(built("zero, one, two", "g.yaml").ok().contains("v: zero\n"));
    let why = run(tree.command(&["plugin", "why", "ex.io/v1/Made"]).env("RUSTOMIZE_ENVIRONMENT", "prod")).ok();
    assert_eq!(why.matches(": used\n").count(), 1, "{why}");
    tree.run(&["plugin", "export", "--mounts", "www", "--environment", "prod"]).ok();
}

#[test]
fn synced_files_are_in_the_cache_directory() {
    let host = serving();
    let server = Server::start(&host, "prod");
    // The variables of a user, and the place that they lead to.
    let mut client = client(&server);
    let (xdg, own) = (client.home().join("xdg"), client.home().join("own"));
    let default = client.home().join(".cache/rustomize");
    for (name, value, cache) in [
        ("HOME", client.home(), default),
        ("XDG_CACHE_HOME", xdg.clone(), xdg.join("rustomize")),
        ("RUSTOMIZE_CACHE_DIR", own.clone(), own),
    ] {
        client.variables.insert(name, value.to_string_lossy().into_owned());
        assert!(!cache.exists());
        assert_eq!(sync(&client), "prod: 5 files, 5 fetched, 0 removed\n");
        assert!(cache.join("sync/prod/current").join(MADE).is_file(), "{name}");
        assert!(client.build(&["--environment", "prod", "--no-sync"]).ok().contains("v: first\n"), "{name}");
    }
    // Of the machine for root without a home, and on Windows.
    let with = |is_windows, is_root, known: &[(&str, &str)]| {
        let variable = |name: &str| known.iter().find(|(n, _)| *n == name).map(|(_, v)| PathBuf::from(v));
        rustomize_cli::cache_directory(is_windows, is_root, variable).map(|path| path.display().to_string())
    };
    assert_eq!(with(false, true, &[]).as_deref(), Some("/var/cache/rustomize"));
    assert_eq!(with(false, false, &[]), None);
    let windows = [("HOME", "/home/u"), ("PROGRAMDATA", "/data")];
    assert_eq!(with(true, false, &windows).as_deref(), Some("/data/rustomize/cache"));
}

#[test]
fn a_bundle_with_one_of_each_kind_is_loaded_completely() {
    let mut tree = tree();
    tree.variables.insert("RUSTOMIZE_ENVIRONMENT", "prod".to_owned());
    for kind in ["Made", "Changed", "Checked"] {
        file(&tree, &format!("all/plugin/ex.io/v1/{}/{kind}", kind.to_lowercase()), ANY);
        tree.write(&format!("{kind}.yaml"), &object(kind, if kind == "Checked" { "check" } else { "change" }));
    }
    file(&tree, "all/schemas/fleet.yaml", CRD);
    file(&tree, "all/schemas/raft.json", OPEN_API);
    let base = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", base.join("plugin/abi/include").display());
    let folder = environments(&tree).join("prod/modules/all/plugin/ex.io/v1/loaded");
    fs::create_dir_all(&folder).unwrap();
    let act = "-DACT=out = made(\"of-c\")";
    let arguments = ["-shared", "-fPIC", &include, act];
    let source = base.join("testdata/plugin/any.c");
    if crate::support::compiler::cc(&source, &folder.join("Loaded.so"), &arguments).is_none() {
        return skip("no C compiler");
    }
    tree.write("Loaded.yaml", &object("Loaded", "l"));
    tree.write(
        "kustomization.yaml",
        "resources: [fleet.yaml]\nnamespace: sea\ngenerators: [Made.yaml]\ntransformers: [Changed.yaml]\nvalidators: [Checked.yaml]\npatches: [{path: patch.yaml}]\n",
    );
    tree.write(
        "fleet.yaml",
        "apiVersion: ex.io/v1\nkind: Fleet\nmetadata: {name: fleet}\n---\napiVersion: ex.io/v1\nkind: Raft\nmetadata: {name: raft}\nspec: {logs: [{id: a}, {id: b}]}\n",
    );
    tree.write(
        "patch.yaml",
        "apiVersion: ex.io/v1\nkind: Raft\nmetadata: {name: raft}\nspec: {logs: [{id: b, size: 2}]}\n",
    );
    let out = tree.build(&[]).ok();
    // The three executables, the two schemas.
    assert!(out.contains("v: old-change\n"), "{out}");
    assert!(out.contains("kind: Fleet\nmetadata:\n  name: fleet\n---"), "no namespace: {out}");
    assert!(out.contains("  - id: b\n    size: 2\n  - id: a\n"), "merged by id: {out}");
    // The shared object.
    tree.write("kustomization.yaml", "generators: [Loaded.yaml]\n");
    assert!(tree.build(&[]).ok().contains("v: of-c\n"));
}
