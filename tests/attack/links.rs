//! Links and pipes that a tree has in the places that a command writes and reads.

use crate::support::{Tree, git};
use rustomize::load::cache::Cache;
use rustomize::load::sum;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: n}\n";

/// A tree that builds, with a directory and a file of the user beside it.
fn tree() -> Tree {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    tree.write("r.yaml", MAP);
    tree.write("../home/file", "mine\n");
    tree.write("../home/dir/mine", "mine\n");
    tree
}

/// Expects that what belongs to the user is as it was.
#[track_caller]
fn is_untouched(tree: &Tree, what: &str) {
    assert_eq!(fs::read_to_string(tree.home().join("file")).unwrap(), "mine\n", "{what}");
    let names: Vec<_> = fs::read_dir(tree.home().join("dir")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["mine"], "{what}");
}

#[test]
fn nothing_is_written_through_a_link_of_the_tree() {
    let words = ["is a link, and no link is followed there"];
    for (args, link, to) in [
        (&["build", "-o", "out.yaml"][..], "out.yaml", "file"),
        (&["build", "-o", "out.yaml"], "out.yaml", "new"),
        (&["build", "-o", "out/x.yaml"], "out", "dir"),
        (&["build", "-o", "./a/../out/x.yaml"], "out", "dir"),
        (&["build", "-o", "out"], "out", "dir"),
        (&["build", "--all", ".", "-o", "out/deep"], "out", "dir"),
        (&["build", "-o", "x.yaml", "--depfile", "out.d"], "out.d", "file"),
        (&["build", "-o", "x.yaml", "--trace", "out.json"], "out.json", "file"),
        (&["explain", ".", "--html", "out.html"], "out.html", "file"),
        (&["plugin", "header", "-o", "out.h"], "out.h", "file"),
        (&["cfg", "cat", "r.yaml", "--dest", "out.yaml"], "out.yaml", "file"),
    ] {
        let tree = tree();
        fs::create_dir(tree.path().join("a")).unwrap();
        symlink(tree.home().join(to), tree.path().join(link)).unwrap();
        let run = tree.run(args);
        run.fails_with(&words);
        is_untouched(&tree, &args.join(" "));
        assert!(!tree.home().join("new").exists());
        // As a path from the root of the system.
        let absolute: Vec<String> = args
            .iter()
            .map(
                |arg| if arg.contains("out") { tree.path().join(arg).display().to_string() } else { (*arg).to_owned() },
            )
            .collect();
        tree.run(&absolute.iter().map(String::as_str).collect::<Vec<_>>()).fails_with(&words);
        is_untouched(&tree, &absolute.join(" "));
    }
}

#[test]
fn one_link_in_a_directory_stops_all_writes_to_it() {
    let tree = tree();
    fs::create_dir(tree.path().join("out")).unwrap();
    symlink(tree.home().join("file"), tree.path().join("out/n_v1_configmap_b.yaml")).unwrap();
    let map = |name: &str, namespace: &str| {
        format!("---\n{}", MAP.replace("name: a, namespace: n", &format!("name: {name}, namespace: {namespace}")))
    };
    tree.write("r.yaml", &[map("a", "n"), map("b", "n"), map("c", "m")].concat());
    tree.run(&["build", "-o", "out"]).fails_with(&["is a link, and no link is followed there"]);
    is_untouched(&tree, "build -o out");
    assert_eq!(fs::read_dir(tree.path().join("out")).unwrap().count(), 1, "nothing else is there");
}

#[test]
fn name_of_a_resource_leads_no_file_out_of_the_directory() {
    let map = |name: &str, namespace: &str| {
        format!(
            "---\n{}",
            MAP.replace("name: a, namespace: n", &format!("name: \"{name}\", namespace: \"{namespace}\""))
        )
    };
    let absolute = tree().home().join("dir").display().to_string();
    for (name, namespace) in [
        ("b", "../home/dir/x"),
        ("b", "../x"),
        ("b", absolute.as_str()),
        ("../../x", "m"),
        ("/x", "m"),
        ("a/b", "m"),
        ("a\\eb", "m"),
    ] {
        let tree = tree();
        tree.write("r.yaml", &[map("a", "n"), map(name, namespace)].concat());
        fs::create_dir(tree.path().join("out")).unwrap();
        for args in [&["build", "-o", "out"][..], &["build", "--all", ".", "-o", "out/deep", "--layout", "resource"]] {
            tree.run(args).fails_with(&["cannot have a file of its own"]);
            is_untouched(&tree, namespace);
            assert_eq!(fs::read_dir(tree.path().join("out")).unwrap().count(), 0, "{namespace} {name}");
            assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 3, "{namespace} {name}");
        }
    }
    let tree = tree();
    tree.write("r.yaml", &[map("system:a", "n"), map("..", "m")].concat());
    fs::create_dir(tree.path().join("out")).unwrap();
    tree.run(&["build", "-o", "out"]).ok();
    assert!(tree.path().join("out/n_v1_configmap_system:a.yaml").exists());
}

#[test]
fn link_outside_the_tree_is_followed() {
    let tree = tree();
    let link = tree.home().join("link");
    symlink("file", &link).unwrap();
    tree.run(&["build", "-o", link.to_str().unwrap()]).ok();
    assert!(fs::read_to_string(tree.home().join("file")).unwrap().contains("ConfigMap"));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(tree.run(&["build", "-o", "/dev/stdout"]).ok().contains("ConfigMap"));
}

#[test]
fn git_hook_is_not_written_through_a_link() {
    let tree = tree();
    git(&tree.path(), &["init", "-q"]);
    let hook = tree.path().join(".git/hooks/pre-commit");
    let _ = fs::remove_file(&hook);
    symlink(tree.home().join("file"), &hook).unwrap();
    tree.run(&["hook", "install"]).fails_with(&["was not installed"]);
    tree.run(&["hook", "install", "--force"]).ok();
    assert!(hook.symlink_metadata().unwrap().is_file(), "the link is replaced");
    is_untouched(&tree, "hook install");
    fs::remove_dir_all(tree.path().join(".git/hooks")).unwrap();
    symlink(tree.home().join("dir"), tree.path().join(".git/hooks")).unwrap();
    tree.run(&["hook", "install"]).fails_with(&["is a link, and no link is followed there"]);
    is_untouched(&tree, "hook install");
}

#[test]
fn function_writes_through_no_link() {
    let home_file = "kind: A\nmetadata: {name: a}\n";
    let change = "#!/bin/sh\nsed 's/name: a/name: b/'\n";
    let move_there = "#!/bin/sh\nsed \"s#path: 'r.yaml'#path: 'out/mine'#\"\n";
    for (link, to, function) in [("d/link.yaml", "file.yaml", change), ("d/out", "dir", move_there)] {
        let tree = tree();
        tree.write("../home/file.yaml", home_file);
        tree.write("d/r.yaml", MAP);
        tree.write("fn.sh", function);
        tree.write("same.sh", "#!/bin/sh\ncat\n");
        symlink(tree.home().join(to), tree.path().join(link)).unwrap();
        let run = |program: &str| tree.run(&["fn", "run", "d", "--enable-exec", "--exec-path", program]);
        run("./fn.sh").fails_with(&["is a link, and no link is followed there", "hint"]);
        is_untouched(&tree, link);
        assert_eq!(fs::read_to_string(tree.home().join("file.yaml")).unwrap(), home_file);
        assert_eq!(fs::read_to_string(tree.path().join("d/r.yaml")).unwrap(), MAP, "nothing else is written");
        // A link whose content stays is none of its business.
        let before = fs::read_to_string(tree.home().join("file.yaml")).unwrap();
        run("./same.sh").ok();
        assert_eq!(fs::read_to_string(tree.home().join("file.yaml")).unwrap(), before);
        assert!(tree.path().join(link).is_symlink());
    }
}

/// Makes a pipe, which nobody writes to.
fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    assert!(path.metadata().unwrap().file_type().is_fifo());
}

#[test]
fn pipe_or_device_is_refused_without_waiting() {
    let with_plugin = ["build", "--enable-alpha-plugins"];
    for (file, args) in [
        ("kustomization.yaml", &["build"][..]),
        ("r.yaml", &["build"]),
        ("plugins.yaml", &with_plugin),
        ("plugins.lock", &with_plugin),
        ("kustomization.lock", &["build", "--locked"]),
        ("rustomize.yaml", &["lint"]),
        ("../home/.config/rustomize/trust.yaml", &with_plugin),
        ("kustomization.yaml", &["edit", "add", "resource", "--no-verify", "x.yaml"]),
        ("kustomization.yaml", &["tree"]),
        ("kustomization.yaml", &["lint"]),
        ("plugin.go", &["plugin", "build", "."]),
    ] {
        for is_device in [false, true] {
            let tree = tree();
            if args == with_plugin {
                tree.write("kustomization.yaml", "generators: [g.yaml]\n");
                tree.write("g.yaml", "apiVersion: ex.io/v1\nkind: Made\nmetadata: {name: g}\n");
                tree.write("plugins.yaml", "apiVersion: rustomize.dev/v1\nkind: Plugins\nplugins: {}\n");
            }
            let place = tree.path().join(file);
            pipe(&place);
            if is_device {
                fs::remove_file(&place).unwrap();
                symlink("/dev/zero", &place).unwrap();
            }
            let run = tree.run(args);
            // `tree` shows what cannot be read among the parts.
            let is_shown = args == ["tree"] && run.stdout.contains("(cannot be read)");
            assert!(run.status == Some(1) || is_shown, "{file} {args:?}: {:?} {}", run.status, run.stderr);
        }
    }
}

#[test]
fn links_and_pipes_in_the_cache_are_not_read() {
    let tree = tree();
    let cache = Cache::new(tree.home().join("cache"));
    let shelf = cache.shelf("files", "https://h.io/x");
    let sum = sum::sha256(b"mine\n");
    let keep = || {
        shelf.keep_file(b"mine\n", &sum).unwrap();
        shelf.note("latest", &sum);
        assert_eq!(shelf.file(&sum).unwrap(), b"mine\n");
        assert_eq!(shelf.last("latest").unwrap(), sum);
    };
    keep();
    let kind = tree.home().join("cache/files");
    let place = fs::read_dir(&kind).unwrap().next().unwrap().unwrap().path();
    for entry in fs::read_dir(&place).unwrap() {
        // The same content, elsewhere.
        let entry = entry.unwrap();
        fs::copy(entry.path(), tree.home().join(entry.file_name())).unwrap();
    }
    for is_pipe in [false, true] {
        for entry in fs::read_dir(&place).unwrap().map(|entry| entry.unwrap()) {
            match is_pipe {
                true => pipe(&entry.path()),
                false => {
                    fs::remove_file(entry.path()).unwrap();
                    symlink(tree.home().join(entry.file_name()), entry.path()).unwrap();
                }
            }
        }
        assert_eq!((shelf.file(&sum), shelf.last("latest")), (None, None), "{is_pipe}");
        // What is kept again takes the place of a link or pipe.
        keep();
    }
    // The whole shelf.
    fs::rename(&place, tree.home().join("elsewhere")).unwrap();
    symlink(tree.home().join("elsewhere"), &place).unwrap();
    assert_eq!((shelf.file(&sum), shelf.last("latest"), shelf.exists()), (None, None, false));
}

#[test]
fn sum_of_a_directory_follows_no_link() {
    let tree = tree();
    symlink(tree.home().join("dir"), tree.path().join("link")).unwrap();
    let refused = sum::directory(&tree.path().join("link")).unwrap_err();
    assert!(refused.to_string().contains("is a link"), "{refused}");
    let refused = sum::copy(&tree.path().join("link"), &tree.path().join("copy"), |_| true).unwrap_err();
    assert!(refused.to_string().contains("is a link"), "{refused}");
    pipe(&tree.home().join("dir/pipe"));
    let refused = sum::directory(&tree.home().join("dir")).unwrap_err();
    assert!(refused.to_string().contains("is neither a file"), "{refused}");
}
