//! Attacks by files: links, odd names, lists that somebody else has written, and changes between a
//! check and its use.

use super::installing::{TREE, installed, manifest, tree};
use super::secrets::as_ordinary_user;
use crate::support::environments::environment;
use crate::support::plugins::{require, root};
use crate::support::servers::{Files, Reply, serve, sha256};
use crate::support::{Tree, git, run};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;

const OWN: &str = "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: own}\\n'\n";

/// Puts a program for the runtime `probe` into PATH. Its steps run `script`: `$2` is the plugin.
fn runtime(tree: &mut Tree, script: &str) {
    let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
    tree.variables.insert("PATH", format!("{}:{path}", tree.home().join("bin").display()));
    let text = format!("#!/bin/bash\ncase \"$1\" in\ninstall-deps) {script};;\nrun) . \"$2\";;\nesac\nexit 0\n");
    tree.write("../home/bin/rustomize-runtime-probe", &text);
}

#[test]
fn link_made_by_an_installation_step_is_not_followed() {
    for link in [".rustomize/sdk", ".rustomize"] {
        let mut tree = tree("probe", &[("main", OWN)]);
        tree.write("../home/precious/thesis/text", "years of work");
        let precious = tree.home().join("precious");
        runtime(&mut tree, &format!("rm -rf \"$2/{link}\"; ln -s '{}' \"$2/{link}\"; exit 0", precious.display()));
        let run = tree.run(&["plugin", "install"]);
        let text = fs::read_to_string(precious.join("thesis/text")).unwrap_or_default();
        assert_eq!(text, "years of work", "{link}: a directory of the user is gone\n{}", run.stderr);
        assert_eq!(fs::read_dir(&precious).unwrap().count(), 1, "{link}: something was written through the link");
        if link == ".rustomize/sdk" {
            run.fails_with(&["sdk' is a link"]);
        }
        tree.assert_nothing_left();
    }
}

#[test]
fn unreadable_leftovers_of_installation_are_removed() {
    let mut tree = tree("probe", &[("main", OWN)]);
    runtime(
        &mut tree,
        "mkdir -p \"$HOME/closed/deep\"; touch \"$HOME/closed/deep/x\"; chmod 0 \"$HOME/closed/deep\" \"$HOME/closed\"",
    );
    let check = || {
        let left = fs::read_dir(root(&tree)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = left.filter(|name| name.starts_with(".rustomize-staging")).collect();
        assert!(left.is_empty(), "{left:?}");
    };
    tree.run(&["plugin", "install"]).ok();
    check();
    if let Some(mut command) = as_ordinary_user(&tree, &[]) {
        fs::remove_dir_all(root(&tree)).unwrap();
        run(command.args(["plugin", "install"])).ok();
        check();
    }
}

/// Two lists of files with different programs `main.sh`, and one listing of sums and names.
fn twins() -> [Vec<(String, String)>; 2] {
    let (good, evil) = (OWN.to_owned(), OWN.replace("own", "evil"));
    let (e, c, g) = (sha256(evil.as_bytes()), sha256(b"c"), sha256(good.as_bytes()));
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let first = vec![file(&format!("a\n{e} - main.sh\n{c} - n"), "c"), file("main.sh", &good)];
    let second = vec![file("a", "c"), file("main.sh", &evil), file(&format!("n\n{g} - main.sh"), "c")];
    [first, second]
}

#[test]
fn different_directories_have_different_sums() {
    let [first, second] = twins();
    let tree = tree("bash", &[]);
    let write = |files: &[(String, String)]| files.iter().for_each(|(n, t)| tree.write(&format!("plugins/app/{n}"), t));
    write(&first);
    tree.run(&["plugin", "install"]).fails_with(&["has a character in its name that cannot be seen"]);
    // Names without such characters are locked, and others do not pass for them.
    for (name, _) in &first {
        fs::remove_file(tree.path().join("plugins/app").join(name)).unwrap();
    }
    tree.write("plugins/app/main.sh", OWN);
    tree.run(&["plugin", "install"]).ok();
    write(&second);
    tree.run(&["plugin", "install", "--frozen"]).fails_with(&["has a character in its name that cannot be seen"]);
    assert!(!tree.build(&["--frozen"]).stdout.contains("evil"));
}

#[test]
fn file_names_with_control_characters_are_refused() {
    let manifest = manifest("bash");
    for name in ["a\nb", "a\u{1b}[2Jb", "a\u{202e}b", "deep\r/b"] {
        let files = Files::default();
        files.put(
            "/app.tar.gz",
            crate::support::packages::tar_gz(&[("plugin.yaml", &manifest), ("main.sh", OWN), (name, "")]),
        );
        let address = files.serve();
        let tree = Tree::new(TREE);
        let from = format!("http://{address}/app.tar.gz");
        require(&tree, &format!("{{app: {{source: h.io/acme/app, version: 1.0.0, from: '{from}'}}}}"));
        let said = tree.run(&["plugin", "install"]).fails_with(&["has a character in its name that cannot be seen"]);
        assert!(!said.contains(name), "{said}");
        // The same in a repository.
        let tree = Tree::new(TREE);
        let repository = tree.home().join("app");
        for (path, text) in [("plugin.yaml", manifest.as_str()), ("main.sh", OWN), (name, "")] {
            tree.write(&format!("../home/app/{path}"), text);
        }
        for args in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "one"], &["tag", "v1.0.0"]] {
            git(&repository, args);
        }
        let from = format!("git::file://{}", repository.display());
        require(&tree, &format!("{{app: {{source: h.io/acme/app, version: 1.0.0, from: '{from}'}}}}"));
        tree.run(&["plugin", "install"]).fails_with(&["has a character in its name that cannot be seen"]);
    }
    // And on a server of bundles.
    let client = crate::support::plugins::tree();
    environment(&client, "prod", "");
    let sum = sha256(b"x");
    let list = format!(r#"[{{"path": "a\nb", "sha256": "{sum}", "size": 1, "mode": 420, "uid": 0, "gid": 0}}]"#);
    let address = serve(move |request| match request.path.as_str() {
        path if path.starts_with("/v3/file_metadatas/plugins") => Reply::ok(list.clone()),
        path if path.starts_with("/v3/file_metadatas/") => Reply::ok("[]"),
        _ => Reply::ok("x"),
    });
    let from = format!("http://{address}");
    let sync = ["plugin", "sync", "--environment", "prod", "--from", &from];
    client.run(&sync).fails_with(&["which has a character in its name that cannot be seen"]);
}

#[test]
fn installed_artifacts_have_one_sum_for_one_content() {
    let mut tree = tree("probe", &[("main", OWN)]);
    runtime(&mut tree, "mkdir -p \"$2/.rustomize/made\"; touch \"$2/.rustomize/made/\"$'x\\xff'");
    tree.run(&["plugin", "install"]).ok();
    tree.run(&["plugin", "verify"]).ok();
    let made = installed(&tree).join(".rustomize/made");
    fs::rename(made.join(OsStr::from_bytes(b"x\xff")), made.join(OsStr::from_bytes(b"x\xfe"))).unwrap();
    let said = tree.run(&["plugin", "verify"]);
    assert!(said.status == Some(1) && said.stdout.contains("'.rustomize/made'"), "{}", said.stdout);
}

#[test]
fn forged_export_list_cannot_remove_other_files() {
    let tree = tree("bash", &[("main.sh", OWN)]);
    tree.run(&["plugin", "install"]).ok();
    tree.write("precious", "years of work");
    tree.write("elsewhere/ex.io/v1/other/Other", "#!/bin/sh\n# of the user\n");
    tree.write("out/ex.io/v1/own/Own", "#!/bin/sh\n# of the user\n");
    tree.write("out/README", "of the user");
    symlink(tree.path().join("elsewhere/ex.io"), tree.path().join("out/linked")).unwrap();
    let files = [
        ("../precious", "years of work"),
        ("ex.io/v1/own/Own", "#!/bin/sh\n# of the user\n"),
        ("linked/v1/other/Other", "#!/bin/sh\n# of the user\n"),
        ("README", "of the user"),
    ];
    let list = |more: &str| {
        let listed = files.iter().map(|(name, text)| format!("\"{name}\": \"{}\"", sha256(text.as_bytes())));
        let absolute = format!("\"{}\": \"{}\"", tree.path().join("precious").display(), sha256(b"years of work"));
        let all: Vec<String> = listed.chain([absolute]).collect();
        tree.write("out/.rustomize-placed.json", &format!("{{\"files\": {{{}{more}}}}}", all.join(", ")));
    };
    let check = || {
        for (name, text) in files {
            assert_eq!(fs::read_to_string(tree.path().join("out").join(name)).unwrap_or_default(), text, "{name}");
        }
    };
    list("");
    tree.run(&["plugin", "export", "out"]).ok();
    check();
    assert!(tree.path().join("out/ex.io/v1/made/Made").is_file());
    // A plugin of the user for a kind that is exported.
    fs::remove_dir_all(tree.path().join("out/ex.io/v1/made")).unwrap();
    let own = "#!/bin/sh\n# the user's own\n";
    tree.write("out/ex.io/v1/made/Made", own);
    list(&format!(", \"ex.io/v1/made/Made\": \"{}\"", sha256(own.as_bytes())));
    tree.run(&["plugin", "export", "out"]).fails_with(&["exists and was not exported by rustomize"]);
    assert_eq!(fs::read_to_string(tree.path().join("out/ex.io/v1/made/Made")).unwrap(), own);
    check();
}

#[test]
fn unwanted_launcher_is_removed() {
    let tree = tree("bash", &[("main.sh", OWN)]);
    tree.run(&["plugin", "install"]).ok();
    tree.run(&["plugin", "export", "out"]).ok();
    let launcher = tree.path().join("out/ex.io/v1/made/Made");
    let text = fs::read_to_string(&launcher).unwrap();
    let again = || {
        tree.run(&["plugin", "install"]).ok();
        fs::remove_file(&launcher).unwrap();
        tree.run(&["plugin", "export", "out"]).ok();
        require(&tree, "{}");
        tree.run(&["plugin", "remove", "h.io/acme/app"]).ok();
    };
    again();
    tree.run(&["plugin", "export", "out", "--dry-run"]).ok();
    assert!(launcher.is_file());
    // One that the user has changed is the user's.
    fs::write(&launcher, format!("{text}# changed\n")).unwrap();
    tree.run(&["plugin", "export", "out"]).ok();
    assert!(launcher.is_file());
    require(&tree, "{app: {source: h.io/acme/app, from: ./plugins/app}}");
    again();
    tree.run(&["plugin", "export", "out"]).ok();
    assert!(!tree.path().join("out/ex.io").exists());
}

#[test]
fn modes_and_owners_sent_by_a_server_are_ignored() {
    let client = crate::support::plugins::tree();
    let file = |path: &str, mode: u32| {
        let sum = sha256(b"x");
        format!(r#"{{"path": "{path}", "sha256": "{sum}", "size": 1, "mode": {mode}, "uid": 12345, "gid": 12345}}"#)
    };
    let list = format!("[{}, {}]", file("ex.io/v1/made/Made", 0o777), file("ex.io/v1/made/data/text", 0o666));
    let address = serve(move |request| match request.path.as_str() {
        path if path.starts_with("/v3/file_metadatas/plugins") => Reply::ok(list.clone()),
        path if path.starts_with("/v3/file_metadatas/") => Reply::ok("[]"),
        _ => Reply::ok("x"),
    });
    environment(&client, "prod", "");
    let from = format!("http://{address}");
    let sync = ["plugin", "sync", "--environment", "prod", "--from", &from];
    client.run(&sync).ok();
    let current = client.home().join(".cache/rustomize/sync/prod/current/plugin/ex.io/v1/made");
    let own = rustix::process::geteuid().as_raw();
    for (path, mode) in [("Made", 0o755), ("data/text", 0o644)] {
        let is = fs::metadata(current.join(path)).unwrap();
        assert_eq!((is.mode() & 0o7777, is.uid()), (mode, own), "{path}");
    }
    // They are the same at the next sync, too.
    assert!(client.run(&sync).ok().contains("0 fetched"));
    fs::set_permissions(current.join("Made"), fs::Permissions::from_mode(0o777)).unwrap();
    client.run(&sync).ok();
    assert_eq!(fs::metadata(current.join("Made")).unwrap().mode() & 0o7777, 0o755);
}

/// Runs a command as often as there are lists of arguments, all at once, and gives what failed.
fn at_once(tree: &Tree, all: &[Vec<String>]) -> Vec<String> {
    let start = |args: &Vec<String>| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        tree.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = all.iter().map(start).collect();
    let outputs = running.into_iter().map(|child| child.wait_with_output().unwrap());
    let failed = outputs.filter(|output| !output.status.success());
    failed.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect()
}

#[test]
fn concurrent_changes_are_all_kept() {
    let tree = Tree::new("");
    let words = |line: String| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let all: Vec<_> = (0..20).map(|n| words(format!("plugin trust h.io/acme/p{n}"))).collect();
    assert_eq!(at_once(&tree, &all), Vec::<String>::new());
    let text = fs::read_to_string(tree.home().join(".config/rustomize/trust.yaml")).unwrap();
    let missing: Vec<usize> = (0..20).filter(|n| !text.contains(&format!("'h.io/acme/p{n}'"))).collect();
    assert!(missing.is_empty(), "the rules for {missing:?} are missing:\n{text}");
}

#[test]
fn concurrently_added_requirements_are_all_kept() {
    let tree = Tree::new(TREE);
    let mut roots = Vec::new();
    for n in 0..6 {
        tree.write(
            &format!("plugins/p{n}/plugin.yaml"),
            &manifest("bash").replace("name: app", &format!("name: p{n}")),
        );
        tree.write(&format!("plugins/p{n}/main.sh"), OWN);
        // Each with a directory of plugins of its own, so that nothing else makes them wait.
        roots.push(tree.home().join(format!("root{n}")));
    }
    let start = |n: usize| {
        let (source, from) = (format!("h.io/acme/p{n}"), format!("./plugins/p{n}"));
        let mut command = tree.command(&["plugin", "add", &source, "--from", &from]);
        command.env("RUSTOMIZE_PLUGIN_PATH", &roots[n]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..6).map(start).collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for file in ["plugins.yaml", "plugins.lock"] {
        let text = fs::read_to_string(tree.path().join(file)).unwrap();
        let missing: Vec<usize> = (0..6).filter(|n| !text.contains(&format!("h.io/acme/p{n}"))).collect();
        assert!(missing.is_empty(), "{file} lacks {missing:?}:\n{text}");
    }
}

#[test]
fn failed_installation_keeps_the_working_plugin() {
    let mut tree = tree("probe", &[("main", OWN)]);
    runtime(&mut tree, "[ ! -e \"$2/broken\" ] || exit 7");
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--frozen"]).ok().contains("v: own"));
    tree.write("plugins/app/broken", "");
    tree.run(&["plugin", "install"]).fails_with(&["failed: exit"]);
    assert_eq!(tree.listed()[0], "h.io/acme/app v1.0.0 installed");
    fs::remove_file(tree.path().join("plugins/app/broken")).unwrap();
    assert!(tree.build(&["--frozen"]).ok().contains("v: own"));
    tree.run(&["plugin", "verify"]).ok();
    // Without an older one, what failed is listed with the reason.
    fs::remove_dir_all(root(&tree)).unwrap();
    tree.write("plugins/app/broken", "");
    tree.run(&["plugin", "install"]).fails_with(&["failed: exit"]);
    assert!(tree.run(&["plugin", "list"]).ok().contains("it is not installed"), "{:?}", tree.listed());
}

#[test]
fn build_does_not_refetch_a_changed_plugin() {
    for is_locked in [true, false] {
        let tree = tree("bash", &[("main.sh", OWN)]);
        tree.run(&["plugin", "install"]).ok();
        if !is_locked {
            fs::remove_file(tree.path().join("plugins.lock")).unwrap();
        }
        let main = installed(&tree).join("main.sh");
        fs::write(&main, OWN.replace("own", "evil")).unwrap();
        tree.build(&[]).fails_with(&["has changed since it was installed", "rustomize plugin install"]);
        assert!(fs::read_to_string(&main).unwrap().contains("evil"), "it was replaced");
        // What the hint says installs it again, and says why.
        let run = tree.run(&["plugin", "install"]);
        assert!(run.stderr.contains("has changed since it was installed"), "{}", run.stderr);
        run.ok();
        assert!(tree.build(&[]).ok().contains("v: own"));
    }
}

#[test]
fn non_program_is_not_run_and_not_quoted_in_errors() {
    let texts = [
        "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n",
        "root:$y$c2VjcmV0:19000:0:99999:7:::\n",
        "touch MARK; echo c2VjcmV0\n",
        "\u{feff}#!/bin/sh\necho c2VjcmV0\n",
        "",
    ];
    for text in texts {
        let tree = Tree::new(TREE);
        let mark = tree.home().join("mark");
        tree.write("../home/.ssh/id", &text.replace("MARK", &mark.display().to_string()));
        require(&tree, "{app: {source: h.io/acme/app, from: ../home/.ssh/id}}");
        let path = tree.home().join(".ssh/id").display().to_string();
        let commands: [&[&str]; 4] = [
            &["plugin", "install"],
            &["build", "--enable-alpha-plugins"],
            &["plugin", "lock"],
            &["plugin", "install", "h.io/acme/other", "--path", &path],
        ];
        for args in commands {
            let said = tree.run(args).fails_with(&["is neither an archive nor a program"]);
            assert!(!said.contains("c2VjcmV0") && !said.contains("OPENSSH"), "{args:?}: {said}");
            assert!(!mark.exists(), "{args:?}: its lines were run");
        }
        assert!(!root(&tree).join("h.io").exists(), "something of it is kept");
    }
}

/// A build whose first plugin, which is placed, runs `script` when the second one was checked.
fn changed_after_its_check(tree: &Tree, script: &str) -> String {
    tree.write("kustomization.yaml", "generators: [a.yaml, g.yaml]\n");
    tree.write("a.yaml", "apiVersion: ex.io/v1\nkind: First\nmetadata: {name: a}\n");
    tree.plugin("First", &format!("#!/bin/sh\n{script}\n"));
    tree.build(&[]).ok()
}

#[test]
fn installed_artifacts_cannot_change_after_the_check() {
    let mut tree = tree("probe", &[("main", "")]);
    runtime(&mut tree, "mkdir -p \"$2/.rustomize\"; echo \"v=own\" > \"$2/.rustomize/lib\"");
    // The program of the runtime reads what was made beside the plugin.
    let made = "printf \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: made}\\ndata: {v: $v}\\n\"";
    let text = fs::read_to_string(tree.home().join("bin/rustomize-runtime-probe")).unwrap();
    let text = text.replace(". \"$2\"", &format!(". \"$(dirname \"$2\")/.rustomize/lib\"; {made}"));
    tree.write("../home/bin/rustomize-runtime-probe", &text);
    tree.run(&["plugin", "install"]).ok();
    assert!(tree.build(&["--frozen"]).ok().contains("v: own"));
    let lib = installed(&tree).join(".rustomize/lib");
    let built = changed_after_its_check(&tree, &format!("echo v=evil > '{}'", lib.display()));
    assert!(built.contains("v: own") && !built.contains("evil"), "{built}");
    tree.build(&["--frozen"]).fails_with(&["'.rustomize/lib'", "made when it was installed"]);
}

/// Another user swaps the file all the time; the build may find the user's own or refuse it.
#[test]
fn requirements_file_cannot_be_swapped_after_the_owner_check() {
    if !rustix::process::geteuid().is_root() {
        crate::support::skip("only root has files of two users");
        return;
    }
    let tree = Tree::new(
        "-- app/kustomization.yaml --\ngenerators: [g.yaml]\n-- app/g.yaml --\napiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n",
    );
    fs::create_dir(tree.path().join(".git")).unwrap();
    let (place, new) = (tree.path().join("plugins.yaml"), tree.path().join("new"));
    let sides = ["good", "evil"].map(|name| {
        require(
            &tree,
            &format!("{{{name}: {{source: h.io/{name}/{name}, provides: [{{apiVersion: ex.io/v1, kind: Made}}]}}}}"),
        );
        let side = tree.path().join(name);
        fs::rename(&place, &side).unwrap();
        side
    });
    std::os::unix::fs::chown(&sides[1], Some(12345), Some(12345)).unwrap();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                for side in &sides {
                    fs::hard_link(side, &new).unwrap();
                    fs::rename(&new, &place).unwrap();
                    // The user's own is there for most of the time: looks at the owner find that,
                    // and the one that reads the file may find the other.
                    let looks = if *side == sides[0] { 150 } else { 0 };
                    (0..looks).for_each(|_| drop(place.metadata()));
                }
            }
        });
        let build = || tree.run(&["build", "--enable-alpha-plugins", "--offline", "app"]);
        let said: Vec<String> = (0..200).map(|_| build().fails_with(&[])).collect();
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        said
    });
    assert!(said.iter().any(|text| text.contains("belongs to the user 12345")), "{}", said[0]);
    assert!(said.iter().any(|text| text.contains("h.io/good/good")), "{}", said[0]);
    let evil: Vec<&String> = said.iter().filter(|text| text.contains("h.io/evil/evil")).collect();
    assert!(evil.is_empty(), "{}", evil[0]);
}
