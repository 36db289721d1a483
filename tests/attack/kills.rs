//! Installation and sync, killed at any moment: nothing is lost, nothing that is half there is
//! used, and the next run repairs it.
//!
//! Some kills in every test run; `RUSTOMIZE_KILLS=500` for many.

use crate::support::plugins::{require, root, script_with};
use crate::support::{Run, Tree};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "a test of another length is asked for by name")]
fn times() -> u64 {
    std::env::var("RUSTOMIZE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(16)
}

const OBJECTS: &str = "apiVersion: ex.io/v1\nkind: Binary\nmetadata: {name: x}\n---\napiVersion: ex.io/v1\nkind: Folder\nmetadata: {name: x}\n";

/// Plugins of a version: a file and a directory, both with something in them that takes a while to
/// write.
fn plugins(tree: &Tree, version: &str) {
    let ballast = format!("# {}\n", "ballast ".repeat(50_000));
    let generators = r#"[{"name": "made", "apiVersion": "ex.io/v1", "kind": "Binary"}]"#;
    let binary = script_with(version, "x1.0", generators, version).replace("name: made", "name: binary");
    tree.write(&format!("plugins/{version}/binary"), &format!("{binary}{ballast}"));
    tree.write(
        &format!("plugins/{version}/folder/plugin.yaml"),
        &format!("apiVersion: rustomize.dev/v1\nkind: Plugin\nversion: {version}\nruntime: bash\ngenerators: [{{apiVersion: ex.io/v1, kind: Folder}}]\n"),
    );
    let main =
        format!("printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: folder}}\\ndata: {{v: {version}}}\\n'\n");
    tree.write(&format!("plugins/{version}/folder/main.sh"), &main);
    for n in 0..20 {
        tree.write(&format!("plugins/{version}/folder/data/{n}"), &ballast[..10_000 * (n + 1)]);
    }
    require(
        tree,
        &format!(
            "\n  binary: {{source: h.io/acme/binary, version: '{version}', from: ./plugins/{version}/binary}}\n  folder: {{source: h.io/acme/folder, version: '{version}', from: ./plugins/{version}/folder}}\n"
        ),
    );
}

fn tree() -> Tree {
    let tree = Tree::new("-- kustomization.yaml --\ngenerators: [g.yaml]\n");
    tree.write("g.yaml", OBJECTS);
    tree
}

/// A build. Files in the place for temporary files do not count: a killed process cannot remove
/// them.
fn build(tree: &Tree) -> Run {
    tree.run(&["build", "--enable-alpha-plugins", "--offline"])
}

/// Runs the command and kills it after a while; whether it was killed.
fn killed(tree: &Tree, args: &[&str], after: Duration) -> bool {
    let mut command = tree.command(args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut queue = vec![directory.to_owned()];
    while let Some(folder) = queue.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                queue.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

/// Nothing that is not complete, and nothing that was only on the way.
fn is_clean(directory: &Path) -> bool {
    let is_left = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.ends_with(".partial") || name.starts_with(".rustomize-staging-")
    };
    !files(directory).iter().any(is_left)
}

#[test]
fn killed_installation_loses_nothing_and_is_repaired() {
    let tree = tree();
    plugins(&tree, "1.0.0");
    tree.run(&["plugin", "install"]).ok();
    let start = Instant::now();
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.run(&["plugin", "install"]).ok();
    let whole = start.elapsed();
    let (yaml, lock) = (tree.path().join("plugins.yaml"), tree.path().join("plugins.lock"));
    let old = build(&tree).ok();
    let (old_yaml, old_lock) = (fs::read(&yaml).unwrap(), fs::read(&lock).unwrap());
    let mut random = fastrand::Rng::with_seed(7);
    let mut kills = 0;
    for round in 1..=times() {
        plugins(&tree, &format!("2.0.{round}"));
        let new_yaml = fs::read(&yaml).unwrap();
        let remove = || {
            for name in ["binary", "folder"] {
                tree.run(&["plugin", "remove", &format!("h.io/acme/{name}@2.0.{round}")]).ok();
            }
        };
        if !killed(&tree, &["plugin", "install"], whole.mul_f64(random.f64())) {
            remove();
            continue;
        }
        kills += 1;
        // The lock is the old one or the new one, and a build has all of what that says, or says
        // what is missing.
        let run = build(&tree);
        match run.status {
            Some(0) => assert!(run.stdout.contains(&format!("v: 2.0.{round}"))),
            _ => assert!(run.stderr.contains("plugin install") || run.stderr.contains("plugin lock"), "{}", run.stderr),
        }
        // All files from before still exist.
        let new_lock = fs::read(&lock).unwrap();
        fs::write(&yaml, &old_yaml).unwrap();
        fs::write(&lock, &old_lock).unwrap();
        assert_eq!(build(&tree).ok(), old, "kill {kills}");
        fs::write(&yaml, &new_yaml).unwrap();
        fs::write(&lock, &new_lock).unwrap();
        // The next run repairs it.
        tree.run(&["plugin", "install"]).ok();
        let built = build(&tree).ok();
        assert_eq!(built.matches(&format!("v: 2.0.{round}")).count(), 2, "{built}");
        assert!(is_clean(&root(&tree)), "kill {kills}");
        assert!(!tree.path().join(".plugins.lock.partial").exists());
        remove();
    }
    println!("{kills} kills of {} runs, each within {whole:?}", times());
    assert!(kills > 0, "no run was killed");
}

#[test]
fn killed_sync_leaves_a_working_state() {
    let tree = tree();
    plugins(&tree, "1.0.0");
    tree.run(&["plugin", "install"]).ok();
    let sync = ["plugin", "sync", "--placement", "home"];
    let start = Instant::now();
    tree.run(&sync).ok();
    let whole = start.elapsed();
    let home = tree.path().join("home");
    let laid = |kind: &str| fs::read(home.join("ex.io/v1").join(kind.to_lowercase()).join(kind)).ok();
    let both = (laid("Binary").unwrap(), laid("Folder").unwrap());
    let mut random = fastrand::Rng::with_seed(8);
    let (yaml, lock) =
        (fs::read(tree.path().join("plugins.yaml")).unwrap(), fs::read(tree.path().join("plugins.lock")).unwrap());
    let mut kills = 0;
    for _ in 0..times() {
        // From both to one, or from nothing to both.
        if random.bool() {
            require(&tree, "{folder: {source: h.io/acme/folder, from: ./plugins/1.0.0/folder}}");
        } else {
            fs::remove_dir_all(&home).unwrap();
        }
        kills += usize::from(killed(&tree, &sync, whole.mul_f64(random.f64())));
        // Each file that exists is complete.
        assert!(laid("Binary").is_none_or(|text| text == both.0) && laid("Folder").is_none_or(|text| text == both.1));
        fs::write(tree.path().join("plugins.yaml"), &yaml).unwrap();
        fs::write(tree.path().join("plugins.lock"), &lock).unwrap();
        tree.run(&sync).ok();
        assert_eq!((laid("Binary"), laid("Folder")), (Some(both.0.clone()), Some(both.1.clone())));
        assert!(is_clean(&home));
    }
    println!("{kills} kills of {} runs, each within {whole:?}", times());
    assert!(kills > 0, "no run was killed");
}

#[test]
fn killed_environment_sync_leaves_old_or_new_state() {
    let host = Tree::new("");
    let ballast = format!("# {}\n", "ballast ".repeat(20_000));
    // Two plugins and a file beside each; all say the same version, or it is a mix.
    let publish = |version: &str| {
        for kind in ["Binary", "Folder"] {
            let name = kind.to_lowercase();
            let folder = format!("../home/.config/rustomize/environments/prod/modules/m/plugin/ex.io/v1/{name}");
            let script = format!(
                "#!/bin/sh\nprintf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {{name: {name}}}\\ndata: {{v: {version}, data: \"%s\"}}\\n' \"$(head -n 1 \"$(dirname \"$0\")/data\")\"\n"
            );
            host.write(&format!("{folder}/{kind}"), &format!("{script}{ballast}"));
            host.write(&format!("{folder}/data"), &format!("{version}\n{ballast}"));
        }
    };
    let client = tree();
    let is_of = |out: &str, version: &str| {
        out.matches(&format!("v: {version}\n")).count() == 2 && out.matches(&format!("data: {version}\n")).count() == 2
    };
    publish("1.0.0");
    let server = crate::support::environments::Server::start(&host, "prod");
    let text = format!("apiVersion: rustomize.dev/v1\nkind: Environment\nsync: {}\n", server.url);
    client.write("../home/.config/rustomize/environments/prod/environment.yaml", &text);
    let sync = ["plugin", "sync", "--environment", "prod"];
    let start = Instant::now();
    client.run(&sync).ok();
    let whole = start.elapsed();
    let place = client.home().join(".cache/rustomize/sync/prod");
    let mut random = fastrand::Rng::with_seed(9);
    let mut old = "1.0.0".to_owned();
    let mut kills = 0;
    for round in 1..=times() {
        let new = format!("2.0.{round}");
        publish(&new);
        crate::support::environments::export(&host, "prod");
        kills += usize::from(killed(&client, &sync, whole.mul_f64(random.f64() * 1.2)));
        let built = client.run(&["build", "--enable-alpha-plugins", "--environment", "prod", "--no-sync"]).ok();
        assert!(is_of(&built, &old) || is_of(&built, &new), "kill {kills}: {built}");
        client.run(&sync).ok();
        let built = client.run(&["build", "--enable-alpha-plugins", "--environment", "prod", "--no-sync"]).ok();
        assert!(is_of(&built, &new), "kill {kills}: {built}");
        assert!(is_clean(&place), "kill {kills}: {:?}", files(&place));
        let generations = fs::read_dir(&place).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
        // The link, what counts, and what a build may still read.
        assert!(generations <= 3, "kill {kills}: {:?}", fs::read_dir(&place).unwrap().collect::<Vec<_>>());
        old = new;
    }
    println!("{kills} kills of {} runs, each within {whole:?}", times());
    assert!(kills > 0, "no run was killed");
}

#[test]
fn killed_export_serves_old_or_new_state() {
    let host = Tree::new("");
    let ballast = format!("# {}\n", "ballast ".repeat(20_000));
    // A plugin and a schema; both say the same version, or it is a mix.
    let publish = |version: &str| {
        let module = "../home/.config/rustomize/environments/prod/modules/m";
        host.write(&format!("{module}/plugin/ex.io/v1/made/Made"), &format!("#!/bin/sh\n# {version}\n{ballast}"));
        host.write(&format!("{module}/schemas/a.yaml"), &format!("definitions: {{}}\n# {version}\n{ballast}"));
    };
    publish("1.0.0");
    let server = crate::support::environments::Server::start(&host, "prod");
    let client = tree();
    let text = format!("apiVersion: rustomize.dev/v1\nkind: Environment\nsync: {}\n", server.url);
    client.write("../home/.config/rustomize/environments/prod/environment.yaml", &text);
    let www = host.home().join("www");
    let export = ["plugin", "export", "--environment", "prod", "--mounts", www.to_str().unwrap()];
    publish("1.0.1");
    let start = Instant::now();
    host.run(&export).ok();
    let whole = start.elapsed();
    // The versions that a client gets.
    let served = || {
        client.run(&["plugin", "sync", "--environment", "prod"]).ok();
        let files = crate::support::environments::synced(&client, "prod");
        let version = |text: &[u8]| String::from_utf8_lossy(text).lines().nth(1).unwrap().to_owned();
        let found: BTreeSet<String> = files.values().map(|(text, _)| version(text)).collect();
        assert_eq!((files.len(), found.len()), (2, 1), "{found:?}");
        found.into_iter().next().unwrap()
    };
    let mut random = fastrand::Rng::with_seed(10);
    let mut old = "1.0.1".to_owned();
    let mut kills = 0;
    for round in 1..=times() {
        let new = format!("2.0.{round}");
        publish(&new);
        kills += usize::from(killed(&host, &export, whole.mul_f64(random.f64() * 1.2)));
        let found = served();
        assert!(found == format!("# {old}") || found == format!("# {new}"), "kill {kills}: {found}");
        host.run(&export).ok();
        assert_eq!(served(), format!("# {new}"), "kill {kills}");
        assert!(is_clean(&www), "kill {kills}: {:?}", files(&www));
        old = new;
    }
    println!("{kills} kills of {} runs, each within {whole:?}", times());
    assert!(kills > 0, "no run was killed");
}

#[test]
fn export_killed_between_its_lists_serves_old_state() {
    let host = Tree::new("");
    // The list of plugins is short. The system kills a process that writes the one of schemas.
    let publish = |version: &str| {
        let module = "../home/.config/rustomize/environments/prod/modules/m";
        host.write(&format!("{module}/plugin/ex.io/v1/made/Made"), &format!("#!/bin/sh\n# {version}\n"));
        for n in 0..200 {
            host.write(&format!("{module}/schemas/{n}.yaml"), &format!("definitions: {{}}\n# {version}\n"));
        }
    };
    publish("1.0.0");
    let www = host.home().join("www");
    let export = ["plugin", "export", "--environment", "prod", "--mounts", www.to_str().unwrap()];
    host.run(&export).ok();
    let lists = || ["plugins", "schemas"].map(|mount| fs::read(www.join("v3/file_metadatas").join(mount)).unwrap());
    let old = lists();
    assert!(old[0].len() < 4 << 10 && old[1].len() > 20 << 10, "{} {}", old[0].len(), old[1].len());
    publish("2.0.0");
    #[expect(clippy::disallowed_methods, reason = "a shell sets the limit")]
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 16 && exec \"$0\" \"$@\"", crate::support::program()]).args(export);
    limited
        .env_clear()
        .env("HOME", host.home())
        .env("TMPDIR", host.tmp())
        .env("PATH", std::env::var_os("PATH").unwrap());
    limited.current_dir(host.path());
    assert_eq!(crate::support::run(&mut limited).status, None, "it is killed");
    assert!(lists() == old, "one list is new, or both are");
    host.run(&export).ok();
    assert!(lists() != old && is_clean(&www));
}
