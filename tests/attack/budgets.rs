//! Input that would fill memory, disk or time.

use super::secrets::as_ordinary_user;
use crate::support::plugins::{require, script};
use crate::support::servers::{Files, Reply, serve, sha256};
use crate::support::{Run, Tree, git};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustomize::Children;
use rustomize_manager::fetch::{FetchLimits, Transfer};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tar::{EntryType, Header};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

/// A build of a ConfigMap with the lines, and of what the kustomization does with it.
fn build(lines: &str, rest: &str) -> Run {
    let tree = Tree::new("");
    tree.write("kustomization.yaml", &format!("resources: [r.yaml]\n{rest}"));
    tree.write("r.yaml", &format!("{MAP}{lines}"));
    tree.run(&["build"])
}

/// A build of a ConfigMap that JSON patches are applied to.
fn patched(lines: &str, operations: &str) -> Run {
    let tree = Tree::new(
        "-- kustomization.yaml --\nresources: [r.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]\n",
    );
    tree.write("r.yaml", &format!("{MAP}{lines}"));
    tree.write("p.yaml", operations);
    tree.run(&["build"])
}

/// Mappings in mappings.
fn nested(levels: usize) -> String {
    format!("{}1{}", "{b: ".repeat(levels), "}".repeat(levels))
}

#[test]
fn copies_of_copies_stop_at_the_budget() {
    let twice = |n: usize| format!("- {{op: copy, from: /data, path: /data/x{n}}}\n");
    let run = patched("data: {k: v}\n", &(0..21).map(twice).collect::<String>());
    run.fails_with(&["p.yaml:19:3", "copies add more than 1000000 nodes to the resource"]);
    // A text takes room too.
    let text = format!("data: {{k: {}}}\nlist: []\n", "x".repeat(1 << 20));
    patched(&text, &"- {op: copy, from: /data/k, path: /list/-}\n".repeat(70))
        .fails_with(&["p.yaml:62:3", "copies add"]);
    assert!(patched("data: {k: v}\n", "- {op: copy, from: /data/k, path: /data/l}\n").ok().contains("l: v\n"));
}

#[test]
fn patches_that_double_a_list_stop_at_the_budget() {
    let service =
        |ports: &str| format!("apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec: {{ports: [{ports}]}}\n");
    let ports = ["{port: 80, protocol: TCP, x: 1}, {port: 81, y: 1}", "{port: 80, protocol: UDP, y: 1}"];
    let build = |times: usize| {
        let tree = Tree::new("");
        tree.write("r.yaml", &service("{protocol: UDP, x: 1}, {port: 80, protocol: TCP}"));
        ports.iter().enumerate().for_each(|(i, ports)| tree.write(&format!("p{i}.yaml"), &service(ports)));
        let patches: String = (0..times).map(|i| format!("- path: p{}.yaml\n", i % 2)).collect();
        tree.write("kustomization.yaml", &format!("resources: [r.yaml]\npatches:\n{patches}"));
        tree.run(&["build"])
    };
    assert!(build(6).ok().contains("x: 1"));
    build(200).fails_with(&["copies add more than 1000000 nodes to the resource"]);
}

#[test]
fn nested_moves_stay_within_the_depth_limit() {
    let step = format!(
        "- {{op: move, from: /a, path: /t}}\n- {{op: add, path: /a, value: {}}}\n- {{op: move, from: /t, path: /a{}}}\n",
        nested(900),
        "/b".repeat(899)
    );
    let deep = format!("a: {}\n", nested(900));
    patched(&deep, &step.repeat(12)).fails_with(&["p.yaml:3:3", "nested deeper than 1000 levels"]);
    let replaced = format!("- {{op: replace, path: /a{}, value: {}}}\n", "/b".repeat(899), nested(900));
    patched(&deep, &replaced).fails_with(&["p.yaml:1:", "nested deeper than 1000 levels"]);
    let entry = format!(
        "replacements:\n- source: {{kind: ConfigMap, fieldPath: a}}\n  targets:\n  - select: {{kind: ConfigMap}}\n    \
         options: {{create: true}}\n    fieldPaths: [c{}]\n",
        ".b".repeat(899)
    );
    build(&deep, &entry).fails_with(&["nested deeper than 1000 levels", "replacing in ConfigMap"]);
}

#[test]
fn replacements_of_copies_stop_at_the_budget() {
    let paths: String = (0..21).map(|n| format!(", data.x{n}")).collect();
    let entry = format!(
        "replacements:\n- source: {{kind: ConfigMap, fieldPath: data}}\n  targets:\n  - select: {{kind: ConfigMap}}\n    \
         options: {{create: true}}\n    fieldPaths: [{}]\n",
        &paths[2..]
    );
    build("data: {k: v}\n", &entry).fails_with(&["copies add more than 1000000 nodes", "replacing in ConfigMap"]);
    // A text that is appended to itself.
    let twice = "- source: {kind: ConfigMap, fieldPath: data.k}\n  targets:\n  - select: {kind: ConfigMap}\n    \
         options: {delimiter: ',', index: 99999999}\n    fieldPaths: [data.k]\n";
    let run =
        build(&format!("data: {{k: {}}}\n", "x".repeat(1 << 16)), &format!("replacements:\n{}", twice.repeat(11)));
    run.fails_with(&["the replaced text would be longer than 67108864 bytes"]);
}

#[test]
fn a_path_has_a_limited_number_of_parts() {
    let path = ".a".repeat(60_000);
    let entry = format!(
        "replacements:\n- sourceValue: x\n  targets:\n  - select: {{kind: ConfigMap}}\n    options: {{create: true}}\n    fieldPaths: [data{path}]\n"
    );
    build("data: {}\n", &entry).fails_with(&["a field path has 60001 parts, more than 1000"]);
    let source = format!(
        "replacements:\n- source: {{kind: ConfigMap, fieldPath: data{path}}}\n  targets:\n  - select: {{kind: ConfigMap}}\n"
    );
    build("data: {}\n", &source).fails_with(&["a field path has 60001 parts, more than 1000"]);
}

#[test]
fn a_file_has_a_limited_size() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    let sparse = |name: &str| fs::File::create(tree.path().join(name)).unwrap().set_len(1 << 42).unwrap();
    let words = ["cannot be read: it is larger than 268435456 bytes", "--file-size-limit sets the limit"];
    sparse("r.yaml");
    tree.run(&["build"]).fails_with(&[&words[..], &["'r.yaml'"]].concat());
    tree.write("r.yaml", &format!("{MAP}data: {{k: v}}\n"));
    tree.run(&["build", "--file-size-limit", "1KiB"]).ok();
    tree.run(&["build", "--file-size-limit", "16B"]).fails_with(&["is larger than 16 bytes", "--file-size-limit"]);
    tree.write("kustomization.yaml", "configMapGenerator: [{name: g, files: [big]}]\n");
    sparse("big");
    tree.run(&["build"]).fails_with(&[&words[..], &["'big'"]].concat());
    sparse("plugins.yaml");
    tree.write("kustomization.yaml", "generators: [g.yaml]\n");
    tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n");
    tree.build(&[]).fails_with(&["plugins.yaml': it is larger than 268435456 bytes"]);
    fs::remove_file(tree.path().join("plugins.yaml")).unwrap();
    sparse("kustomization.yaml");
    tree.run(&["build"]).fails_with(&[&words[..], &["'kustomization.yaml'"]].concat());
}

#[test]
fn build_works_when_threads_cannot_be_started() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    let map =
        |n: usize| format!("---\n{}data: {{k: {}}}\n", MAP.replace("name: a", &format!("name: a{n}")), "x".repeat(900));
    tree.write("r.yaml", &(0..2_000).map(map).collect::<String>());
    for name in ["one", "two", "three"] {
        tree.write(name, &script("1.0.0", name));
    }
    let each = |name: &str| format!("  {name}: {{source: h.io/acme/{name}, from: ./{name}}}\n");
    require(&tree, &format!("\n{}", ["one", "two", "three"].map(each).concat()));
    let repositories = ["a", "b", "c"].map(|name| {
        tree.write(&format!("{name}/kustomization.yaml"), "resources: [r.yaml]\n");
        tree.write(&format!("{name}/r.yaml"), &MAP.replace("name: a", &format!("name: {name}")));
        let repository = tree.path().join(name);
        git(&repository, &["init", "-q", "-b", "main"]);
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "-qm", "x"]);
        format!("file://{}", repository.display())
    });
    // The repositories belong to whoever runs the tests.
    tree.write("../home/.gitconfig", "[safe]\n\tdirectory = *\n");
    tree.write("remote/kustomization.yaml", &format!("resources: ['{}']\n", repositories.join("', '")));
    let want = tree.run(&["build"]).ok();
    let (mut installed, mut fetched, mut said) = (0, 0, String::new());
    for threads in 1..8 {
        let Some(mut command) = as_ordinary_user(&tree, &["prlimit", &format!("--nproc={threads}")]) else { return };
        let run = crate::support::run(command.arg("build"));
        assert!(run.ok() == want, "{threads} threads");
    }
    // Three plugins are asked at once, each in a process that another one keeps.
    for threads in 1..20 {
        let Some(mut command) = as_ordinary_user(&tree, &["prlimit", &format!("--nproc={threads}")]) else { return };
        let run = crate::support::run(command.args(["plugin", "install"]));
        assert!(matches!(run.status, Some(0 | 1)), "{threads} threads: {:?} {}", run.status, run.stderr);
        assert!(!run.stderr.contains("panicked"), "{threads} threads: {}", run.stderr);
        installed += usize::from(run.status == Some(0));
        said = run.stderr;
    }
    // Clones are fetched side by side; git has processes and threads of its own, and a keeper.
    for threads in 1..32 {
        let Some(mut command) = as_ordinary_user(&tree, &["prlimit", &format!("--nproc={threads}")]) else { return };
        let run = crate::support::run(command.args(["build", "remote"]));
        assert!(matches!(run.status, Some(0 | 1)), "{threads} threads: {:?} {}", run.status, run.stderr);
        assert!(!run.stderr.contains("panicked"), "{threads} threads: {}", run.stderr);
        fetched += usize::from(run.status == Some(0));
    }
    // Other processes of this user count, unless the command ran as a user of its own.
    let is_root = rustix::process::geteuid().is_root();
    assert!(installed > 0 || !is_root, "twenty threads are not enough for an installation: {said}");
    assert!(fetched > 0 || !is_root, "thirty threads are not enough");
}

/// A tree that needs a plugin which is an archive in it.
fn archive(entries: &[(EntryType, usize)], times: usize) -> Tree {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let mut append = |name: &str, kind: EntryType, content: &[u8]| {
        let mut header = Header::new_ustar();
        header.set_path(name).unwrap();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o755);
        header.set_cksum();
        gzip.write_all(header.as_bytes()).unwrap();
        gzip.write_all(content).unwrap();
        gzip.write_all(&vec![0; content.len().next_multiple_of(512) - content.len()]).unwrap();
    };
    for (kind, size) in entries.iter().cycle().take(times) {
        append("long", *kind, &vec![b'n'; *size]);
    }
    append("rustomize-plugin-app", EntryType::Regular, script("1.0.0", "x").as_bytes());
    gzip.write_all(&[0; 1024]).unwrap();
    let tree = Tree::new("");
    fs::write(tree.path().join("app.tar.gz"), gzip.finish().unwrap()).unwrap();
    require(&tree, "{app: {source: h.io/acme/app, from: ./app.tar.gz}}");
    tree
}

#[test]
fn archive_headers_count_toward_the_size_limit() {
    let words = ["app.tar.gz' is refused", "the head of an entry has more than 1048576 bytes", "nothing was installed"];
    for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader, EntryType::XGlobalHeader] {
        let tree = archive(&[(kind, 3 << 20)], 1);
        tree.run(&["plugin", "install"]).fails_with(&words);
        tree.assert_nothing_left();
    }
    let tree = archive(&[(EntryType::XGlobalHeader, 900 << 10)], 180);
    tree.run(&["plugin", "install"]).fails_with(&["app.tar.gz' is refused", "is too large when it is unpacked"]);
    archive(&[(EntryType::XGlobalHeader, 1 << 10)], 3).run(&["plugin", "install"]).ok();
}

#[test]
fn an_archive_has_a_limited_number_of_entries() {
    let tree = archive(&[(EntryType::XGlobalHeader, 0)], 100_001);
    tree.run(&["plugin", "install"]).fails_with(&["it has more than 100000 entries"]);
}

#[test]
fn a_repository_has_a_limited_number_of_tags() {
    let tree = Tree::new("");
    tree.write("repository/plugin.yaml", "");
    let repository = tree.path().join("repository");
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "x"]);
    let commit = git(&repository, &["rev-parse", "HEAD"]);
    let line = |n: usize| format!("{commit} refs/tags/t{n:06}\n");
    let tags: String = (0..100_001).map(line).collect();
    fs::write(repository.join(".git/packed-refs"), format!("# pack-refs with: peeled fully-peeled sorted \n{tags}"))
        .unwrap();
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: 'git::file://{}'}}}}", repository.display()));
    tree.run(&["plugin", "install"]).fails_with(&["has more than 100000 tags", "in 'from'"]);
    let all: Vec<String> = (0..100_001).map(|n| format!("\"t{n}\"")).collect();
    let files = Files::default();
    files.put("/v2/acme/app/tags/list?n=1000", format!("{{\"tags\": [{}]}}", all.join(",")));
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: 'oci://{}/acme/app'}}}}", files.serve()));
    tree.run(&["plugin", "install"]).fails_with(&["/acme/app' has more than 100000 tags"]);
}

#[test]
fn endless_registry_listing_is_abandoned() {
    let tree = Tree::new("");
    let count = Arc::new(AtomicUsize::new(0));
    let asked = count.clone();
    let address = serve(move |_| {
        let n = asked.fetch_add(1, Ordering::Relaxed);
        let next = vec![("Link".to_owned(), format!("</v2/acme/app/tags/list?last={n}>; rel=\"next\""))];
        Reply("200 OK", next, b"{\"tags\": [\"v1.0.0\"]}".to_vec())
    });
    require(&tree, &format!("{{app: {{source: h.io/acme/app, from: 'oci://{address}/acme/app'}}}}"));
    tree.run(&["plugin", "install"]).fails_with(&["lists its tags in more than 1000 pages"]);
    assert_eq!(count.load(Ordering::Relaxed), 1000);
}

#[test]
fn retries_and_redirects_share_one_time_limit() {
    // Whoever connects is never answered, and never turned away.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let connected = count.clone();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            connected.fetch_add(1, Ordering::Relaxed);
            open.push(stream);
        }
    });
    let limits = FetchLimits { timeout: Duration::from_millis(300), size: 1 << 20 };
    let transfer = Transfer::new(limits, None, false, Children::new());
    let error = transfer.get(&format!("http://{address}/x")).unwrap_err().to_string();
    assert!(error.contains("did not answer in time"), "{error}");
    assert_eq!(count.load(Ordering::Relaxed), 1);
    // One step of many takes less than the time, all of them more.
    let asked = Arc::new(AtomicUsize::new(0));
    let steps = asked.clone();
    let address = serve(move |_| {
        let n = steps.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(150));
        Reply("302 Found", vec![("Location".to_owned(), format!("/{n}"))], Vec::new())
    });
    let error = transfer.get(&format!("http://{address}/x")).unwrap_err().to_string();
    assert!(error.contains("did not answer in time"), "{error}");
    assert!(asked.load(Ordering::Relaxed) < 10);
    // The second try would be in time if it had a time of its own.
    let asked = Arc::new(AtomicUsize::new(0));
    let tries = asked.clone();
    let address = serve(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
        0 => Reply("503 Service Unavailable", Vec::new(), Vec::new()),
        _ => {
            std::thread::sleep(Duration::from_millis(250));
            Reply::ok("late")
        }
    });
    let error = transfer.get(&format!("http://{address}/x")).unwrap_err().to_string();
    assert!(error.contains("did not answer in time"), "{error}");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    // A chain of redirects that takes no time has a limit of its own.
    let asked = Arc::new(AtomicUsize::new(0));
    let steps = asked.clone();
    let address = serve(move |_| {
        let n = steps.fetch_add(1, Ordering::Relaxed);
        Reply("302 Found", vec![("Location".to_owned(), format!("/{n}"))], Vec::new())
    });
    let limits = FetchLimits { timeout: Duration::from_secs(600), size: 1 << 20 };
    let error = Transfer::new(limits, None, false, Children::new()).get(&format!("http://{address}/x")).unwrap_err();
    assert!(error.to_string().contains("redirects more than 10 times"), "{error}");
}

#[test]
fn synced_file_without_read_permission_is_refused() {
    let content = b"#!/bin/sh\n";
    let listed = |mode: u32| {
        let sum = sha256(content);
        format!(
            r#"[{{"path": "ex.io/v1/made/Made", "sha256": "{sum}", "size": {}, "mode": {mode}, "uid": 0, "gid": 0}}]"#,
            content.len()
        )
    };
    let files = Files::default();
    files.put("/v3/file_metadatas/schemas?environment=prod", "[]");
    files.put(&format!("/v3/file_content/{}?environment=prod", sha256(content)), &content[..]);
    files.put("/v3/file_metadatas/plugins?environment=prod", listed(0));
    let address = files.serve();
    let tree = Tree::new("");
    fs::create_dir_all(tree.home().join(".config/rustomize/environments/prod")).unwrap();
    let sync = || tree.run(&["plugin", "sync", "--environment", "prod", "--from", &format!("http://{address}")]);
    sync().fails_with(&["names the file 'ex.io/v1/made/Made' with mode 0", "nothing was changed"]);
    files.put("/v3/file_metadatas/plugins?environment=prod", listed(0o755));
    sync().ok();
}
