//! Bundles, environments, `plugin export --mounts` and `plugin sync`. A real file server, and
//! clients that are processes of their own.

use crate::support::Tree;
use crate::support::environments::{
    CRD, OPEN_API, Server, bundle, environment, environments, export, exported, synced,
};
use crate::support::plugins::{require, script};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const TREE: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n";

fn tree() -> Tree {
    Tree::new(TREE)
}

#[test]
fn a_bundle_on_the_module_path_is_enabled_without_a_further_step() {
    let mut tree = tree();
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
    bundle(&tree, "default/modules/one", "one");
    assert!(tree.build(&[]).ok().contains("v: one"));
    // Others have an environment of their own; the first directory of the module path wins.
    bundle(&tree, "prod/modules/one", "prod");
    bundle(&tree, "prod/first/any", "first");
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: prod"));
    environment(&tree, "prod", "modulePath: [first, modules]\n");
    tree.variables.insert("RUSTOMIZE_ENVIRONMENT", "prod".to_owned());
    assert!(tree.build(&[]).ok().contains("v: first"));
    tree.build(&["--environment", "none"]).fails_with(&["the environment 'none' does not exist"]);
    // A placed plugin comes first, as ever; so does a required one.
    tree.plugin(
        "Made",
        "#!/bin/sh\nprintf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {v: placed}\n'",
    );
    assert!(tree.build(&[]).ok().contains("v: placed"));
    fs::remove_dir_all(tree.home().join(".config/kustomize")).unwrap();
    // M34: self-made, or from anywhere: M28, a file that is not named by the rules is not loaded.
    let made = environments(&tree).join("prod/first/any/plugin/ex.io/v1/made");
    fs::rename(made.join("Made"), made.join("made-it")).unwrap();
    let said = tree.run(&["plugin", "doctor"]).ok();
    assert!(said.contains("In bundles of the environment 'prod'"), "{said}");
    assert!(said.contains("first/any/plugin/ex.io/v1/made: not loaded: it is not named as <apiVersion>/"), "{said}");
    assert!(said.contains("modules/one/plugin/ex.io/v1/made: for ex.io/v1/made"), "{said}");
    let said = tree.run(&["plugin", "doctor", "ex.io/v1/Made"]).ok();
    assert!(said.contains("first/any/plugin/ex.io/v1/made/Made: does not exist"), "{said}");
    fs::remove_dir_all(environments(&tree).join("prod/modules")).unwrap();
    tree.build(&[]).fails_with(&["unable to find plugin root"]);
}

#[test]
fn an_environment_has_requirements_and_a_lock_of_its_own() {
    let tree = tree();
    bundle(&tree, "prod/modules/one", "bundle");
    tree.write("../home/.config/rustomize/environments/prod/app", &script("1.0.0", "required"));
    let file = "apiVersion: rustomize.dev/v1\nkind: PluginRequirements\nrequires: {app: {source: h.io/acme/app, from: ./app}}\n";
    tree.write("../home/.config/rustomize/environments/prod/plugins.yaml", file);
    tree.build(&["--environment", "prod", "--offline"])
        .fails_with(&["'app' (h.io/acme/app, any version) is required and not installed"]);
    let prod = environments(&tree).join("prod");
    tree.run(&["plugin", "install", "--directory", &prod.to_string_lossy()]).ok();
    assert!(prod.join("plugins.lock").is_file() && !tree.path().join("plugins.lock").exists());
    // A requirement beats the plugins of a bundle, and the kustomization's own beats the
    // environment's.
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: required"));
    tree.write("own", &script("2.0.0", "own"));
    require(&tree, "{own: {source: h.io/acme/own, from: ./own}}");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--environment", "prod"]).ok().contains("v: own"));
}

#[test]
fn two_environments_with_different_versions_in_one_process_are_both_right() {
    use rustomize::Gvk;
    use rustomize::PluginOptions;
    use rustomize::ResId;
    use rustomize_manager::author::describe::Role;
    use rustomize_manager::policy::Policy;
    use rustomize_manager::policy::environment::Environment;
    use rustomize_manager::resolve::inputs::Inputs;
    use rustomize_manager::resolve::{Chosen, PluginRequest, Resolver, Thoroughness};
    use rustomize_plugins::locate::Placed;
    let tree = tree();
    bundle(&tree, "one/modules/b", "one");
    bundle(&tree, "two/modules/b", "two");
    let configuration = tree.home().join(".config/rustomize");
    environment(&tree, "three", "");
    let inputs = ["one", "two", "three"].map(|name| {
        let environment = Environment::read(&configuration, None, Some(name)).unwrap().unwrap();
        Inputs { bundles: environment.bundles().unwrap(), ..Inputs::default() }
    });
    let id = ResId::new(Gvk::new("ex.io/v1", "Made"), "g", "");
    for _ in 0..2 {
        let found = inputs.each_ref().map(|inputs| {
            let (policy, options) = (Policy::default(), PluginOptions::default());
            let resolver = Resolver { inputs, policy: &policy, options: &options };
            let directory = &tree.path();
            let (role, component, is_function, clone) = (Role::Generator, None, false, None);
            let request = PluginRequest { id: &id, role, component, is_function, directory, clone };
            match resolver.resolve(&request, Thoroughness::FirstFound).chosen.unwrap() {
                Some(Chosen::Placed(_, Placed::Executable(path))) => Some(path),
                None => None,
                other => panic!("{other:?}"),
            }
        });
        let made = |name: &str| Some(environments(&tree).join(name).join("modules/b/plugin/ex.io/v1/made/Made"));
        assert_eq!(found, [made("one"), made("two"), None]);
    }
    for name in ["one", "two", "one"] {
        assert!(tree.build(&["--environment", name]).ok().contains(&format!("v: {name}")));
    }
    tree.build(&["--environment", "three"]).fails_with(&["unable to find plugin root"]);
}

#[test]
fn a_sync_fetches_what_differs_and_removes_what_the_server_no_longer_has() {
    let host = tree();
    // Of two directories of the module path the first decides.
    environment(&host, "prod", "modulePath: [modules, later]\n");
    bundle(&host, "prod/later/b", "second");
    bundle(&host, "prod/modules/a", "first");
    host.write("../home/.config/rustomize/environments/prod/modules/a/plugin/ex.io/v1/made/data/lines.txt", "data");
    host.write(
        "../home/.config/rustomize/environments/prod/later/b/plugin/ex.io/v1/made/other.txt",
        "of another bundle",
    );
    host.write(
        "../home/.config/rustomize/environments/prod/later/b/plugin/ex.io/v1/stray/note.txt",
        "not by the rules",
    );
    host.write("../home/.config/rustomize/environments/prod/later/b/schemas/crd with space.yaml", "definitions: {}\n");
    host.write("../home/.config/rustomize/environments/prod/later/b/schemas/README", "no schema");
    let server = Server::start(&host, "prod");
    let client = tree();
    environment(&client, "prod", &format!("sync: {}\n", server.url));
    // M05, M06: the build syncs first, and uses it in the same run.
    assert!(client.build(&["--environment", "prod"]).ok().contains("v: first"));
    // M07, M09, M10, M17: everything of every bundle, one plugin never mixed of two; M28: the rest
    // is left out.
    let files = synced(&client, "prod");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["plugin/ex.io/v1/made/Made", "plugin/ex.io/v1/made/data/lines.txt", "schemas/crd with space.yaml"]
    );
    // M11, M15.
    assert_eq!((files[names[0]].1, files[names[1]].1), (0o755, 0o644));
    assert_eq!(server.asked(), (3, 3));
    // M12, M14: a second run asks for the metadata, and for nothing else.
    assert_eq!(client.run(&["plugin", "sync", "--environment", "prod"]).ok(), "prod: 3 files, 0 fetched, 0 removed\n");
    assert_eq!(server.asked(), (3, 0));
    // M13, M14, M15: what was changed here, what came in between, what has other permissions.
    let place = client.home().join(".cache/rustomize/sync/prod/current/plugin/ex.io/v1/made");
    fs::write(place.join("Made"), "#!/bin/sh\nexit 1\n").unwrap();
    fs::write(place.join("stray"), "").unwrap();
    fs::set_permissions(place.join("data/lines.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(client.run(&["plugin", "sync", "--environment", "prod"]).ok(), "prod: 3 files, 1 fetched, 1 removed\n");
    assert_eq!(server.asked(), (3, 1));
    assert_eq!(synced(&client, "prod"), files);
    // Files that the server no longer has are deleted.
    bundle(&host, "prod/modules/a", "newer");
    fs::remove_file(environments(&host).join("prod/later/b/schemas/crd with space.yaml")).unwrap();
    export(&host, "prod");
    assert_eq!(client.run(&["plugin", "sync", "--environment", "prod"]).ok(), "prod: 2 files, 1 fetched, 1 removed\n");
    assert!(client.build(&["--environment", "prod", "--no-sync"]).ok().contains("v: newer"));
    server.asked();
    client.build(&["--environment", "prod", "--offline"]).ok();
    assert_eq!(server.asked(), (0, 0));
    // A server that has gone leaves what is here.
    drop(server);
    client.build(&["--environment", "prod"]).fails_with(&["cannot be fetched", "--no-sync"]);
    assert!(client.build(&["--environment", "prod", "--no-sync"]).ok().contains("v: newer"));
    client.assert_nothing_left();
}

/// All files below a directory with their content, but for the lock.
fn all_in(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = crate::support::files(directory, "").into_iter().filter(|path| !path.ends_with(".rustomize-lock"));
    files.map(|path| (path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

#[test]
fn an_export_has_what_it_lists_and_nothing_else() {
    let host = tree();
    bundle(&host, "prod/modules/a", "first");
    let made = environments(&host).join("prod/modules/a/plugin/ex.io/v1/made");
    fs::write(made.join("values.yaml"), "one").unwrap();
    fs::write(made.join("same.yaml"), "one").unwrap();
    let said = export(&host, "prod");
    assert_eq!(said.lines().filter(|line| line.starts_with("+ ")).count(), 4, "two contents and two lists: {said}");
    let www = exported(&host);
    let first = all_in(&www);
    let lists = ["plugins", "schemas"].map(|mount| Path::new("v3/file_metadatas").join(mount));
    let content = |text: &str| Path::new("v3/file_content").join(crate::support::servers::sha256(text.as_bytes()));
    assert_eq!(first.len(), 4);
    assert_eq!((&first[&lists[1]][..], &first[&content("one")][..]), (&b"[]"[..], &b"one"[..]));
    // A web server, which is another user, reads all files.
    for path in first.keys() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&www.join(path)), 0o644, "{path:?}");
        assert_eq!(mode(www.join(path).parent().unwrap()) & 0o055, 0o055, "{path:?}");
    }
    // Nothing new: nothing is written.
    assert_eq!(export(&host, "prod"), "");
    // The contents of the state before stay; those before it go. Other files are nobody's business.
    fs::write(www.join("index.html"), "own").unwrap();
    fs::write(www.join("v3/file_content/README"), "own").unwrap();
    fs::write(made.join("values.yaml"), "two").unwrap();
    fs::remove_file(made.join("same.yaml")).unwrap();
    export(&host, "prod");
    let second = all_in(&www);
    assert!(second.contains_key(&content("one")) && second.contains_key(&content("two")));
    fs::write(made.join("values.yaml"), "three").unwrap();
    let said = export(&host, "prod");
    assert!(said.contains(&format!("- {}", www.join(content("one")).display())), "{said}");
    let third = all_in(&www);
    assert!(!third.contains_key(&content("one")) && third.contains_key(&content("two")));
    assert!(third.contains_key(Path::new("index.html")) && third.contains_key(Path::new("v3/file_content/README")));
    // Files that the host has synced itself are not served again.
    host.write("../home/.cache/rustomize/sync/prod/current/plugin/ex.io/v1/other/Other", "#!/bin/sh\n");
    assert_eq!(export(&host, "prod"), "");
    // A link in a bundle, which may lead anywhere, is refused, and changes nothing.
    std::os::unix::fs::symlink("/etc/passwd", made.join("link.yaml")).unwrap();
    let to = www.to_str().unwrap();
    let run = || host.run(&["plugin", "export", "--mounts", to, "--environment", "prod"]);
    run().fails_with(&["link.yaml' is neither a file nor a directory"]);
    assert_eq!(all_in(&www), third);
    fs::remove_file(made.join("link.yaml")).unwrap();
    // A damaged file is repaired.
    fs::write(www.join(content("three")), "broken").unwrap();
    run().ok();
    assert_eq!(all_in(&www), third);
    host.assert_nothing_left();
}

#[test]
fn client_during_an_export_gets_the_old_state() {
    let host = tree();
    bundle(&host, "prod/modules/a", "1.0.0");
    host.write("../home/.config/rustomize/environments/prod/modules/a/schemas/a.yaml", "definitions: {} # 1.0.0\n");
    export(&host, "prod");
    let www = exported(&host);
    // Exports at a certain request, and says how many requests there were.
    let sync_with_export_at = |at: usize, version: &'static str| {
        let (client, asked) = (tree(), Arc::new(AtomicUsize::new(0)));
        environment(&client, "prod", "");
        let (home, counter, files) = (host.home(), asked.clone(), www.clone());
        let address = crate::support::servers::serve(move |request| {
            if counter.fetch_add(1, Ordering::SeqCst) == at {
                publish(&home, version);
            }
            let path = request.path.split('?').next().unwrap().trim_start_matches('/');
            fs::read(files.join(path))
                .map_or_else(|_| crate::support::servers::Reply::not_found(), crate::support::servers::Reply::ok)
        });
        client.run(&["plugin", "sync", "--environment", "prod", "--from", &format!("http://{address}")]).ok();
        let state = synced(&client, "prod");
        let text = |path: &str| String::from_utf8(state[path].0.clone()).unwrap();
        let made = text("plugin/ex.io/v1/made/Made");
        let schema = text("schemas/a.yaml");
        (made, schema, asked.load(Ordering::SeqCst))
    };
    let is_of = |(made, schema, _): &(String, String, usize), version: &str| {
        made.contains(&format!("{{v: {version}}}")) && schema.contains(&format!("# {version}\n"))
    };
    // Before the first list the new state; between the lists the new one, which is read again; then
    // the old one, whose contents stay.
    let all = [(0, "1.0.1", "1.0.1", 5), (1, "1.0.2", "1.0.2", 7), (2, "1.0.3", "1.0.3", 7), (3, "1.0.4", "1.0.3", 5)];
    for (at, version, wanted, requests) in all {
        let found = sync_with_export_at(at, version);
        assert!(is_of(&found, wanted), "an export at request {at}: {found:?}");
        assert_eq!(found.2, requests, "an export at request {at}");
    }
    // A server whose lists change all the time ends in an error, not in a loop.
    let client = tree();
    environment(&client, "prod", "");
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let address = crate::support::servers::serve(move |_| {
        let n = count.fetch_add(1, Ordering::SeqCst);
        crate::support::servers::Reply::ok(format!("[{}]", " ".repeat(n)))
    });
    let sync = ["plugin", "sync", "--environment", "prod", "--from", &format!("http://{address}")];
    client.run(&sync).fails_with(&["has changed 5 times while the lists were read", "sync again"]);
    assert_eq!(asked.load(Ordering::SeqCst), 11, "the first list, and five times the second and the first");
}

/// Writes another version into the bundle `a` of a home, and exports it. A server's thread has no
/// tree.
fn publish(home: &Path, version: &str) {
    let bundle = home.join(".config/rustomize/environments/prod/modules/a");
    for (path, mark) in [("plugin/ex.io/v1/made/Made", "{v: "), ("schemas/a.yaml", "# ")] {
        let path = bundle.join(path);
        let text = fs::read_to_string(&path).unwrap();
        let (start, rest) = text.split_once(mark).unwrap();
        let end = &rest[rest.find(['}', '\n']).unwrap()..];
        fs::write(&path, format!("{start}{mark}{version}{end}")).unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
    let mut command = std::process::Command::new(crate::support::program());
    command.args(["plugin", "export", "--environment", "prod", "--mounts"]).arg(home.join("www"));
    crate::support::run(command.env_clear().env("HOME", home)).ok();
}

#[test]
fn export_goes_to_its_own_directory() {
    let host = tree();
    bundle(&host, "prod/modules/a", "first");
    let run = |to: &str| host.run(&["plugin", "export", "--environment", "prod", "--mounts", to]);
    host.write("file", "text");
    run("file").fails_with(&["'file' is not a directory", "does not exist yet"]);
    run("file/below").fails_with(&["file/below"]);
    for other in ["full/notes", "served/v3/api.json", "mixed/v3/file_content/notes"] {
        host.write(other, "own");
    }
    host.write("mixed/other", "own");
    for to in ["full", "served", "mixed"] {
        let before = all_in(&host.path().join(to));
        run(to).fails_with(&[&format!("'{to}' is not empty, and has no earlier export")]);
        assert_eq!(all_in(&host.path().join(to)), before);
        assert!(!host.path().join(to).join(".rustomize-lock").exists());
    }
    // An empty one will do, and what an export that was cut off has left.
    fs::create_dir_all(host.path().join("cut/v3/file_content")).unwrap();
    host.write("cut/.rustomize-lock", "");
    host.write("cut/.rustomize-staging-abcdef/x", "");
    run("cut").ok();
    assert_eq!(all_in(&host.path().join("cut")).len(), 3);
    // A link in its place is not followed.
    fs::create_dir(host.path().join("linked")).unwrap();
    fs::create_dir(host.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", host.path().join("linked/v3")).unwrap();
    run("linked").fails_with(&["does not write through links"]);
    assert_eq!(fs::read_dir(host.path().join("elsewhere")).unwrap().count(), 0);
    host.run(&["plugin", "export"]).fails_with(&["--mounts"]);
    host.run(&["plugin", "export", "x", "--mounts", "y"]).fails_with(&["cannot be used with"]);
    host.run(&["plugin", "export", "--mounts", "y"]).fails_with(&["the environment 'default' does not exist"]);
    if rustix::process::geteuid().is_root() {
        return;
    }
    fs::create_dir(host.path().join("closed")).unwrap();
    fs::set_permissions(host.path().join("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    run("closed").fails_with(&["cannot write", "Permission denied"]);
}

#[test]
fn malformed_list_of_a_server_changes_nothing() {
    let client = tree();
    let file = |path: &str, sum: &str, mode: u32| {
        format!(r#"[{{"path": "{path}", "sha256": "{sum}", "size": 1, "mode": {mode}, "uid": 0, "gid": 0}}]"#)
    };
    let sum = crate::support::servers::sha256(b"x");
    let lists = [
        (file("../x", &sum, 0o644), "names the file '../x', which is not a path below the mount"),
        (file("/x", &sum, 0o644), "names the file '/x', which is not a path below the mount"),
        (file("a\\\\x", &sum, 0o644), "which is not a path below the mount"),
        (file("x", &sum, 0o4755), "names the file 'x' with mode 4755: a mode has permissions alone"),
        (file("x", &"0".repeat(64), 0o644), "differs from the list of the server"),
        (file("x", &format!("../{}", &sum[3..]), 0o644), "without a SHA-256 in hex"),
        ("{}".to_owned(), "is not a list of files"),
    ];
    for (list, words) in lists {
        let address = crate::support::servers::serve(move |request| match request.path.as_str() {
            path if path.starts_with("/v3/file_metadatas/plugins") => crate::support::servers::Reply::ok(list.clone()),
            path if path.starts_with("/v3/file_metadatas/") => crate::support::servers::Reply::ok("[]"),
            _ => crate::support::servers::Reply::ok("x"),
        });
        environment(&client, "prod", "");
        client
            .run(&["plugin", "sync", "--environment", "prod", "--from", &format!("http://{address}")])
            .fails_with(&[words]);
        assert!(!client.home().join(".cache/rustomize/sync/prod/current").exists());
    }
    environment(&client, "prod", "");
    client.run(&["plugin", "sync", "--environment", "prod"]).fails_with(&["does not name its server", "--from URL"]);
}

const FLEET: &str = "-- kustomization.yaml --
resources: [fleet.yaml, raft.yaml]
namespace: sea
configMapGenerator: [{name: map, literals: [a=b]}]
patches: [{path: patch.yaml}]
-- fleet.yaml --
apiVersion: ex.io/v1
kind: Fleet
metadata: {name: fleet}
spec:
  ships:
  - {name: one, settings: {name: map}}
  - {name: two, size: 1}
-- raft.yaml --
apiVersion: ex.io/v1
kind: Raft
metadata: {name: raft}
spec:
  logs: [{id: a, size: 1}, {id: b}]
-- patch.yaml --
apiVersion: ex.io/v1
kind: Fleet
metadata: {name: fleet}
spec:
  ships:
  - {name: two, size: 2}
---
apiVersion: ex.io/v1
kind: Raft
metadata: {name: raft}
spec:
  logs: [{id: b, size: 2}]
";

#[test]
fn a_build_knows_the_kinds_of_its_bundles_merge_keys_scope_and_references() {
    let mut tree = Tree::new(FLEET);
    let schema = |name: &str, text: &str| {
        tree.write(&format!("../home/.config/rustomize/environments/default/modules/sea/schemas/{name}"), text);
    };
    // Nothing is known: lists are replaced, everything has a namespace, nothing is a reference. So
    // it stays without the flag.
    let unknown = tree.build(&[]).ok();
    assert!(
        !unknown.contains("name: one")
            && !unknown.contains("id: a")
            && unknown.contains("name: fleet\n  namespace: sea\n")
    );
    schema("fleet.yaml", CRD);
    schema("raft.json", OPEN_API);
    schema("README.md", "no schema");
    assert_eq!(tree.run(&["build"]).ok(), unknown);
    let known = tree.build(&[]).ok();
    let fleet = known.split("---\n").find(|document| document.contains("kind: Fleet")).unwrap();
    assert!(!fleet.contains("namespace:"), "{fleet}");
    assert!(fleet.contains("- name: one\n") && fleet.contains("  - name: two\n    size: 2\n"), "{fleet}");
    assert!(fleet.contains("    settings:\n      name: map-"), "{fleet}");
    let raft = known.split("---\n").find(|document| document.contains("kind: Raft")).unwrap();
    assert!(raft.contains("- id: a\n    size: 1\n") && raft.contains("- id: b\n    size: 2\n"), "{raft}");
    assert!(raft.contains("namespace: sea"), "{raft}");
    // A kustomization's own file wins, and what bundles know of other kinds stays.
    let own = OPEN_API.replace("\"merge\"", "\"replace\"");
    tree.write("own.json", &own);
    tree.write(
        "kustomization.yaml",
        &format!("openapi: {{path: own.json}}\n{}", FLEET.split("-- ").nth(1).unwrap().split_once('\n').unwrap().1),
    );
    let known = tree.build(&[]).ok();
    assert!(known.contains("name: one") && !known.contains("id: a"), "{known}");
    // Served and synced, they are known elsewhere.
    let server = Server::start(&tree, "default");
    let mut client = Tree::new(FLEET);
    environment(&client, "default", &format!("sync: {}\n", server.url));
    assert!(client.build(&[]).ok().contains("    settings:\n      name: map-"));
    drop(server);
    assert!(client.build(&["--no-sync"]).ok().contains("    settings:\n      name: map-"));
    client.variables.insert("RUSTOMIZE_ENVIRONMENT", "default".to_owned());
    client.build(&[]).fails_with(&["syncing the environment 'default'", "--no-sync"]);
    // A malformed entry is reported with its place.
    tree.variables.insert("RUSTOMIZE_ENVIRONMENT", "default".to_owned());
    for (text, words) in [("a: 1\n", "a schema is a CustomResourceDefinition"), ("a: [\n", "fleet.yaml:")] {
        tree.write("../home/.config/rustomize/environments/default/modules/sea/schemas/fleet.yaml", text);
        tree.build(&[]).fails_with(&[words, "schemas/fleet.yaml:"]);
    }
}
