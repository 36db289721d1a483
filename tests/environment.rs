//! Bundles, environments, `plugin serve` and `plugin sync`. Real servers and clients, each a process
//! of its own.

use crate::manager::{require, script};
use crate::support::Tree;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};

const TREE: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n";

fn tree() -> Tree {
    Tree::new(TREE)
}

pub fn environments(tree: &Tree) -> PathBuf {
    tree.home().join(".config/rustomize/environments")
}

/// Puts a plugin into a bundle of an environment.
pub fn bundle(tree: &Tree, path: &str, v: &str) {
    let script = format!(
        "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: made}}\\ndata: {{v: {v}}}\\n'\n"
    );
    tree.write(&format!("../home/.config/rustomize/environments/{path}/plugin/ex.io/v1/made/Made"), &script);
}

pub fn environment(tree: &Tree, name: &str, text: &str) {
    let text = format!("apiVersion: rustomize.dev/v1\nkind: Environment\n{text}");
    tree.write(&format!("../home/.config/rustomize/environments/{name}/environment.yaml"), &text);
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
    // What somebody has placed by hand comes first, as ever; what is required, too.
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
    // What is required beats what a bundle has, and the kustomization's own beats the
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
    use rustomize::internal::Placed;
    use rustomize::internal::manager::Role;
    use rustomize::internal::manager::{Bundle, Environment};
    use rustomize::internal::manager::{Chosen, Inputs, Policy, Request, Resolver};
    let tree = tree();
    bundle(&tree, "one/modules/b", "one");
    bundle(&tree, "two/modules/b", "two");
    let configuration = tree.home().join(".config/rustomize");
    let inputs = ["one", "two"].map(|name| {
        let environment = Environment::read(&configuration, None, Some(name)).unwrap().unwrap();
        Inputs { bundles: environment.bundles().unwrap().iter().map(Bundle::home).collect(), ..Inputs::default() }
    });
    let id = ResId::new(Gvk::new("ex.io/v1", "Made"), "g", "");
    for _ in 0..2 {
        let found = inputs.each_ref().map(|inputs| {
            let (policy, options) = (Policy::default(), PluginOptions::default());
            let resolver = Resolver { inputs, policy: &policy, options: &options };
            let directory = &tree.path();
            let (role, component, is_function, clone) = (Role::Generator, None, false, None);
            let request = Request { id: &id, role, component, is_function, directory, clone };
            match resolver.resolve(&request, false).chosen.unwrap() {
                Some(Chosen::Placed(_, Placed::Executable(path))) => path,
                other => panic!("{other:?}"),
            }
        });
        assert!(
            found[0].starts_with(environments(&tree).join("one"))
                && found[1].starts_with(environments(&tree).join("two"))
        );
    }
    for name in ["one", "two", "one"] {
        assert!(tree.build(&["--environment", name]).ok().contains(&format!("v: {name}")));
    }
}

/// A server of an environment, ended when it is dropped.
pub struct Server {
    child: Child,
    pub url: String,
    log: BufReader<std::process::ChildStderr>,
}

impl Server {
    pub fn start(tree: &Tree, environment: &str) -> Server {
        let mut command = tree.command(&["plugin", "serve", "--environment", environment, "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim_end().rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{line}");
        let log = BufReader::new(child.stderr.take().unwrap());
        Server { child, url, log }
    }

    /// What it was asked for until now: metadata and content.
    pub fn asked(&mut self) -> (usize, usize) {
        // A request of ours is the end of what came before.
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
        agent.get(format!("{}/end", self.url)).call().unwrap();
        let mut counts = (0, 0);
        loop {
            let mut line = String::new();
            self.log.read_line(&mut line).unwrap();
            match line {
                _ if line.contains("GET /end") => return counts,
                _ if line.contains("GET /v3/file_metadatas/") => counts.0 += 1,
                _ if line.contains("GET /v3/file_content/") => counts.1 += 1,
                other => panic!("{other}"),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub fn synced(tree: &Tree, name: &str) -> BTreeMap<String, (Vec<u8>, u32)> {
    let current = tree.home().join(".cache/rustomize/sync").join(name).join("current");
    let mut found = BTreeMap::new();
    let mut queue = vec![(String::new(), current)];
    while let Some((prefix, folder)) = queue.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                queue.push((format!("{name}/"), entry.path()));
            } else if name != "server" {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                found.insert(name, (fs::read(entry.path()).unwrap(), mode));
            }
        }
    }
    found
}

#[test]
fn a_sync_fetches_what_differs_and_removes_what_the_server_no_longer_has() {
    let host = tree();
    bundle(&host, "prod/modules/b", "second");
    bundle(&host, "prod/modules/a", "first");
    host.write("../home/.config/rustomize/environments/prod/modules/a/plugin/ex.io/v1/made/data/lines.txt", "data");
    host.write(
        "../home/.config/rustomize/environments/prod/modules/b/plugin/ex.io/v1/made/other.txt",
        "of another bundle",
    );
    host.write(
        "../home/.config/rustomize/environments/prod/modules/b/plugin/ex.io/v1/stray/note.txt",
        "not by the rules",
    );
    host.write(
        "../home/.config/rustomize/environments/prod/modules/b/schemas/crd with space.yaml",
        "definitions: {}\n",
    );
    host.write("../home/.config/rustomize/environments/prod/modules/b/schemas/README", "no schema");
    let mut server = Server::start(&host, "prod");
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
    assert_eq!(server.asked(), (2, 3));
    // M12, M14: a second run asks for the metadata, and for nothing else.
    assert_eq!(client.run(&["plugin", "sync", "--environment", "prod"]).ok(), "prod: 3 files, 0 fetched, 0 removed\n");
    assert_eq!(server.asked(), (2, 0));
    // M13, M14, M15: what was changed here, what came in between, what has other permissions.
    let place = client.home().join(".cache/rustomize/sync/prod/current/plugin/ex.io/v1/made");
    fs::write(place.join("Made"), "#!/bin/sh\nexit 1\n").unwrap();
    fs::write(place.join("stray"), "").unwrap();
    fs::set_permissions(place.join("data/lines.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(client.run(&["plugin", "sync", "--environment", "prod"]).ok(), "prod: 3 files, 1 fetched, 1 removed\n");
    assert_eq!(server.asked(), (2, 1));
    assert_eq!(synced(&client, "prod"), files);
    // What is gone there goes here.
    bundle(&host, "prod/modules/a", "newer");
    fs::remove_file(environments(&host).join("prod/modules/b/schemas/crd with space.yaml")).unwrap();
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

#[test]
fn a_server_gives_what_it_lists_and_nothing_else() {
    let host = tree();
    bundle(&host, "prod/modules/a", "first");
    let server = Server::start(&host, "prod");
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let get = |path: &str| {
        let mut response = agent.get(format!("{}{path}", server.url)).call().unwrap();
        (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
    };
    assert_eq!(get("/v3/file_content/plugins/ex.io/v1/made/Made?environment=prod").0, 200);
    for path in [
        "/",
        "/v3/file_metadatas/other?environment=prod",
        "/v3/file_metadatas/plugins?environment=test",
        "/v3/file_content/plugins/../../environment.yaml?environment=prod",
        "/v3/file_content/plugins/%2e%2e/%2e%2e/environment.yaml?environment=prod",
        "/v3/file_content/plugins//etc/passwd?environment=prod",
        "/v3/file_content/plugins/ex.io/v1/made?environment=prod",
    ] {
        assert_eq!(get(path).0, 404, "{path}");
    }
    // What comes after a list is found, what goes is missed, and a link is not followed.
    let made = environments(&host).join("prod/modules/a/plugin/ex.io/v1/made");
    fs::write(made.join("values.yaml"), "later").unwrap();
    let later = "/v3/file_content/plugins/ex.io/v1/made/values.yaml?environment=prod";
    assert_eq!(get(later), (200, "later".to_owned()));
    fs::remove_file(made.join("values.yaml")).unwrap();
    assert_eq!(get(later).0, 404);
    fs::write(host.home().join("secret"), "secret").unwrap();
    fs::write(made.join("values.yaml"), "later").unwrap();
    assert_eq!(get(later).0, 200);
    fs::remove_file(made.join("values.yaml")).unwrap();
    std::os::unix::fs::symlink(host.home().join("secret"), made.join("values.yaml")).unwrap();
    let (status, body) = get(later);
    assert!(status != 200 && !body.contains("secret"), "{status} {body}");
    let mut stream = std::net::TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    std::io::Write::write_all(&mut stream, b"POST / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 405 "), "{said}");
}

#[test]
fn a_server_that_lies_changes_nothing() {
    let client = tree();
    let file = |path: &str, sum: &str, mode: u32| {
        format!(r#"[{{"path": "{path}", "sha256": "{sum}", "size": 1, "mode": {mode}, "uid": 0, "gid": 0}}]"#)
    };
    let sum = crate::servers::sha256(b"x");
    let lists = [
        (file("../x", &sum, 0o644), "which is not a valid mode"),
        (file("/x", &sum, 0o644), "which is not a valid mode"),
        (file("x", &sum, 0o4755), "which is not a valid mode"),
        (file("x", &"0".repeat(64), 0o644), "differs from the list of the server"),
        ("{}".to_owned(), "is not a list of files"),
    ];
    for (list, words) in lists {
        let address = crate::servers::serve(move |request| match request.path.as_str() {
            path if path.starts_with("/v3/file_metadatas/plugins") => crate::servers::Reply::ok(list.clone()),
            path if path.starts_with("/v3/file_metadatas/") => crate::servers::Reply::ok("[]"),
            _ => crate::servers::Reply::ok("x"),
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

/// A kind that Kubernetes does not have: of the whole cluster, with a list that is a map and a
/// reference.
pub const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.ex.io}
spec:
  group: ex.io
  scope: Cluster
  names: {kind: Fleet, plural: fleets}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              ships:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  properties:
                    settings:
                      type: object
                      x-kubernetes-object-ref-api-version: v1
                      x-kubernetes-object-ref-kind: ConfigMap
";

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

/// The same kind of knowledge as OpenAPI.
pub const OPEN_API: &str = r##"{"definitions": {
  "ex.Raft": {"x-kubernetes-group-version-kind": [{"group": "ex.io", "version": "v1", "kind": "Raft"}], "properties": {"spec": {"$ref": "#/definitions/ex.Spec"}}},
  "ex.Spec": {"properties": {"logs": {"type": "array", "items": {"$ref": "#/definitions/ex.Log"}, "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "id"}}},
  "ex.Log": {"properties": {"id": {"type": "string"}}}}}"##;

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
    // What is none is said with its place.
    tree.variables.insert("RUSTOMIZE_ENVIRONMENT", "default".to_owned());
    for (text, words) in [("a: 1\n", "a schema is a CustomResourceDefinition"), ("a: [\n", "fleet.yaml:")] {
        tree.write("../home/.config/rustomize/environments/default/modules/sea/schemas/fleet.yaml", text);
        tree.build(&[]).fails_with(&[words, "schemas/fleet.yaml:"]);
    }
}
