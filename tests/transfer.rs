//! How plugins are fetched: several at once, with bars on a terminal, as somebody, and by one way
//! with everything else.

use crate::support::Tree;
use crate::support::plugins::{require, script};
use crate::support::servers::{Files, Reply, serve, sha256};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

const TREE: &str = "-- kustomization.yaml --\ngenerators: [g.yaml]\n-- g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata:\n  name: g\n";

/// Answers no request before as many are there at once.
struct Gate {
    waiting: Mutex<(usize, bool)>,
    changed: Condvar,
    wanted: usize,
}

impl Gate {
    fn new(wanted: usize) -> Gate {
        Gate { waiting: Mutex::default(), changed: Condvar::new(), wanted }
    }

    /// Waits for all others at the gate; false if they do not come.
    fn pass(&self) -> bool {
        let mut state = self.waiting.lock().unwrap();
        state.0 += 1;
        state.1 |= state.0 >= self.wanted;
        self.changed.notify_all();
        let wait = Duration::from_secs(20);
        let (mut state, _) = self.changed.wait_timeout_while(state, wait, |(_, is_open)| !*is_open).unwrap();
        state.0 -= 1;
        state.1
    }
}

#[test]
fn plugins_are_fetched_at_once_and_as_many_as_is_said() {
    let requires = |server: &str| {
        let line = |name: &str| format!("{name}: {{source: h.io/acme/{name}, from: 'http://{server}/{name}'}}");
        format!("{{{}}}", ["a", "b", "c", "d"].map(line).join(", "))
    };
    for (parallel, wanted) in [("4", 4), ("2", 2)] {
        let gate = Gate::new(wanted);
        let server = serve(move |request| match gate.pass() {
            true => Reply::ok(script("1.0.0", request.path.trim_start_matches('/'))),
            false => Reply("500 Too Few", Vec::new(), Vec::new()),
        });
        let tree = Tree::new(TREE);
        require(&tree, &requires(&server));
        let out = tree.run(&["plugin", "install", "--parallel", parallel]).ok();
        assert_eq!(out.lines().count(), 4, "{out}");
    }
    // The first one in the file is the one whose error is shown, whatever comes first.
    let server = serve(|request| match request.path.as_str() {
        "/b" | "/d" => Reply("403 Forbidden", Vec::new(), Vec::new()),
        path => Reply::ok(script("1.0.0", path)),
    });
    let tree = Tree::new(TREE);
    require(&tree, &requires(&server));
    let variable = format!("RUSTOMIZE_TOKEN_{}", server.replace(['.', ':'], "_"));
    tree.run(&["plugin", "install"]).fails_with(&["installing 'b'", "403", &format!("set {variable} to TOKEN")]);
}

#[test]
fn credentials_are_sent_to_the_private_server_alone() {
    let variable = |server: &str| format!("RUSTOMIZE_TOKEN_{}", server.replace(['.', ':'], "_"));
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let others = seen.clone();
    let elsewhere = serve(move |request| {
        others.lock().unwrap().push(request.headers.get("authorization").cloned());
        Reply::ok(script("1.0.0", "private"))
    });
    let target = format!("http://{elsewhere}/app");
    let server = serve(move |request| {
        let given = request.headers.get("authorization").map(String::as_str);
        match (request.path.as_str(), given) {
            ("/app", Some("Bearer hunter2")) | ("/basic", Some("Basic dTpodW50ZXIy")) => {
                Reply::ok(script("1.0.0", "private"))
            }
            ("/away", _) => Reply("302 Found", vec![("Location".to_owned(), target.clone())], Vec::new()),
            _ => Reply("401 Unauthorized", Vec::new(), Vec::new()),
        }
    });
    let install = |path: &str, secret: &str| {
        let tree = Tree::new(TREE);
        let from = format!("http://{server}/{path}");
        let mut command = tree.command(&["plugin", "install", "--from", &from, "h.io/acme/app"]);
        crate::support::run(command.env(variable(&server), secret))
    };
    install("app", "").fails_with(&["401", &variable(&server)]);
    let wrong = install("app", "wrong-secret").fails_with(&["401"]);
    assert!(!wrong.contains("wrong-secret"), "{wrong}");
    install("app", "hunter2").ok();
    install("basic", "u:hunter2").ok();
    // A server that it leads to is another one.
    install("away", "hunter2").ok();
    assert_eq!(*seen.lock().unwrap(), [None]);
}

#[test]
fn private_registry_token_needs_credentials() {
    let content = script("1.0.0", "private").into_bytes();
    let layer = format!(r#"{{"mediaType": "x", "digest": "sha256:{}", "size": {}}}"#, sha256(&content), content.len());
    let manifest =
        format!(r#"{{"schemaVersion": 2, "config": {{"digest": "sha256:0", "size": 2}}, "layers": [{layer}]}}"#);
    let files = Files::default();
    files.put("/v2/acme/app/tags/list?n=1000", r#"{"tags": ["1.0.0"]}"#);
    files.put("/v2/acme/app/manifests/1.0.0", manifest);
    files.put(&format!("/v2/acme/app/blobs/sha256:{}", sha256(&content)), content);
    let server = serve(move |request| {
        let given = request.headers.get("authorization").map(String::as_str);
        let host = &request.headers["host"];
        if request.path.starts_with("/token") {
            // token:hunter2
            let is_known = given == Some("Basic dG9rZW46aHVudGVyMg==");
            return if is_known {
                Reply::ok(r#"{"token": "for-them"}"#)
            } else {
                Reply("401 No", Vec::new(), Vec::new())
            };
        }
        match given {
            Some("Bearer for-them") => files.get(&request.path),
            _ => {
                let wants = format!("Bearer realm=\"http://{host}/token\",service=\"test\"");
                Reply("401 Unauthorized", vec![("WWW-Authenticate".to_owned(), wants)], Vec::new())
            }
        }
    });
    let tree = Tree::new(TREE);
    let from = format!("oci://{server}/acme/app");
    let args = ["plugin", "install", "--from", &from, "h.io/acme/app"];
    tree.run(&args).fails_with(&["401", "RUSTOMIZE_TOKEN_"]);
    let variable = format!("RUSTOMIZE_TOKEN_{}", server.replace(['.', ':'], "_"));
    crate::support::run(tree.command(&args).env(variable, "hunter2")).ok();
    assert!(tree.build(&[]).ok().contains("v: private"));
}

#[test]
fn progress_is_bars_on_a_terminal_and_lines_elsewhere() {
    let big = format!("{}# {}\n", script("1.0.0", "big"), "x".repeat(1 << 20));
    let files = Files::default();
    files.put("/app", big);
    let from = format!("http://{}/app", files.serve());
    let mut tree = Tree::new(TREE);
    let run = tree.run(&["plugin", "install", "--from", &from, "h.io/acme/app"]);
    assert_eq!(run.stderr, format!("Fetching {from}\n"));
    tree.variables.extend([("TERM", "xterm".to_owned()), ("COLUMNS", "120".to_owned())]);
    let install = format!("plugin install --exact --from {from} h.io/acme/app@1.0.0");
    let Some(out) = tree.run_on_terminal(&install) else {
        crate::support::skip("no program 'script'");
        return;
    };
    let out = out.ok();
    assert!(out.contains(&from) && out.contains("MiB") && !out.contains("Fetching"), "{out:?}");
    assert!(out.contains("h.io/acme/app v1.0.0: "), "{out:?}");
}

#[test]
fn sync_downloads_like_remote_files() {
    // One way to servers: each answer that is refused is refused for both, with the same words.
    type Answer = fn(&str) -> Reply;
    let answers: [(&str, Answer); 5] = [
        ("redirects to 'ftp://h.io/x'", |_| {
            Reply("302 Found", vec![("Location".to_owned(), "ftp://h.io/x".to_owned())], Vec::new())
        }),
        ("redirects more than 10 times", |path| {
            Reply("302 Found", vec![("Location".to_owned(), path.to_owned())], Vec::new())
        }),
        ("403", |_| Reply("403 Forbidden", Vec::new(), Vec::new())),
        ("503", |_| Reply("503 Service Unavailable", Vec::new(), Vec::new())),
        ("cannot be read", |_| {
            Reply("200 OK", vec![("Content-Length".to_owned(), "1000".to_owned())], b"a: b".to_vec())
        }),
    ];
    for (words, answer) in answers {
        let server = serve(move |request| answer(&request.path));
        let tree = Tree::new("-- kustomization.yaml --\nresources: []\n");
        tree.write("kustomization.yaml", &format!("resources: ['http://{server}/cm.yaml']\n"));
        let remote = tree.run(&["build"]).fails_with(&[words]);
        let text = format!("apiVersion: rustomize.dev/v1\nkind: Environment\nsync: http://{server}\n");
        tree.write("../home/.config/rustomize/environments/prod/environment.yaml", &text);
        let synced = tree.run(&["plugin", "sync", "--environment", "prod"]).fails_with(&[words]);
        // The first line, without the URL.
        let why =
            |said: &str, path: &str| said.lines().next().unwrap().replace(&format!("'http://{server}{path}'"), "'URL'");
        let listed = "/v3/file_metadatas/plugins?environment=prod";
        assert_eq!(why(&remote, "/cm.yaml"), why(&synced, listed));
    }
}

#[test]
fn every_caller_installs_the_same_from_a_registry() {
    let (os, arch) = crate::support::packages::host();
    let content = script("1.4.0", "registry").into_bytes();
    let (server, _) = crate::support::servers::registry("acme/app", "v1.4.0", &[(os, arch, content)]);
    let line = format!("{{app: {{source: h.io/acme/app, version: '~> 1.2', from: 'oci://{server}/acme/app'}}}}");
    let add = ["plugin", "add", "h.io/acme/app@~> 1.2", "--from", &format!("oci://{server}/acme/app")];
    let callers: &[(&[&str], bool)] = &[
        (&["build", "--enable-alpha-plugins"], true),
        (&["validate", "--enable-alpha-plugins"], true),
        (&["lint", "--enable-alpha-plugins"], true),
        (&["explain", "--enable-alpha-plugins"], true),
        (&["diff", "--enable-alpha-plugins", ".", "."], true),
        (&["vendor", "--enable-alpha-plugins"], true),
        (&["plugin", "run", "g.yaml"], true),
        (&["plugin", "update"], true),
        (&["plugin", "install"], true),
        // U32: by its name or its source, as the project says.
        (&["plugin", "install", "app"], true),
        (&["plugin", "install", "h.io/acme/app"], true),
        (&["plugin", "lock"], true),
        (&["plugin", "describe", "app"], true),
        (&["plugin", "describe", "h.io/acme/app"], true),
        (&["plugin", "sync", "--placement", "../home/placed"], true),
        (&["plugin", "export", "../home/placed"], true),
        (&add, false),
    ];
    let mut seen: Option<(Vec<String>, String)> = None;
    for (args, is_required) in callers {
        let tree = Tree::new(TREE);
        if *is_required {
            require(&tree, &line);
        }
        tree.run(args).ok();
        let folder = crate::support::plugins::root(&tree).join("h.io/acme/app");
        let mut files: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let lock = std::fs::read_to_string(tree.path().join("plugins.lock")).unwrap();
        match &seen {
            None => seen = Some((files, lock)),
            Some(first) => assert_eq!((&files, &lock), (&first.0, &first.1), "{args:?}"),
        }
        assert!(tree.build(&["--frozen", "--offline"]).ok().contains("v: registry"), "{args:?}");
    }
    // Not aware of the project, the source has releases of its own, and those are nowhere.
    let tree = Tree::new(TREE);
    require(&tree, &line);
    let other = ["plugin", "install", "--no-project", "--from", &format!("oci://{server}/acme/app"), "h.io/acme/app"];
    tree.run(&other).ok();
    assert!(!tree.path().join("plugins.lock").exists());
}

#[test]
fn oversized_unreachable_or_truncated_downloads_are_refused() {
    let (os, arch) = crate::support::packages::host();
    let files = Files::default();
    let release = "/acme/rustomize-plugin-app/releases/download/v1.1.0/app";
    for path in ["/app", release] {
        files.put(path, format!("{}# {}\n", script("1.0.0", "x"), "x".repeat(4096)));
    }
    let server = files.serve();
    let tree = Tree::new(TREE);
    let from =
        |from: &str, more: &[&str]| tree.run(&[&["plugin", "install", "--from", from, "h.io/acme/app"], more].concat());
    from(&format!("http://{server}/app"), &["--size-limit", "2KiB"])
        .fails_with(&["larger than 2048 bytes", "--size-limit"]);
    // Nobody listens there.
    from("http://127.0.0.1:9/app", &[]).fails_with(&["cannot be fetched", "installing 'app'"]);
    // A lock that says another size than the file has.
    require(&tree, &format!("{{app: {{source: '{server}/acme/app', version: 1.1.0}}}}"));
    let lock = tree.path().join("plugins.lock");
    let known = format!(
        r#"{{"lockVersion": 1, "plugins": {{"{server}/acme/app": {{"version": "1.1.0", "api": "x1.0", "constraint": "1.1.0", "provides": [], "platforms": {{
            "{os}_{arch}": {{"url": "http://{server}{release}", "size": 1, "archive": "{0}", "content": "{0}"}}}}}}}}}}"#,
        "0".repeat(64)
    );
    std::fs::write(&lock, known).unwrap();
    tree.run(&["plugin", "install", "--frozen"]).fails_with(&["has ", "bytes, 1 were announced"]);
    std::fs::remove_file(&lock).unwrap();
    assert!(!crate::support::plugins::root(&tree).join(&server).exists());
}

#[test]
fn build_works_with_a_read_only_home() {
    let mut tree = Tree::new(TREE);
    crate::support::plugins::install(&tree, "h.io/acme/app", &script("1.0.0", "there")).ok();
    let root = crate::support::plugins::root(&tree).display().to_string();
    // A place where not even the superuser makes a directory.
    for (name, value) in
        [("HOME", "/proc/nobody"), ("XDG_CACHE_HOME", "/proc/nobody"), ("RUSTOMIZE_PLUGIN_PATH", root.as_str())]
    {
        tree.variables.insert(name, value.to_owned());
    }
    assert!(tree.build(&[]).ok().contains("v: there"));
    tree.variables.insert("RUSTOMIZE_PLUGIN_PATH", "/proc/nobody/plugins".to_owned());
    tree.run(&["plugin", "install", "--path", "/bin/true", "h.io/acme/app"]).fails_with(&["/proc/nobody/plugins"]);
}
