//! What a killed process leaves, and what runs beside a process that removes.

use crate::support::{Tree, git, run};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

/// The temporary entries in a directory.
fn left(directory: &Path) -> usize {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".rustomize-")).count()
}

#[test]
fn leftovers_of_a_killed_process_are_removed_by_the_next() {
    for (args, folder) in [
        (&["build", "-o", "x.yaml"][..], ""),
        (&["build", "-o", "out"], "out"),
        (&["edit", "set", "nameprefix", "p-"], ""),
        (&["explain", ".", "--html", "x.html"], ""),
        (&["vendor"], ""),
    ] {
        let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
        tree.write("r.yaml", MAP);
        let folder = tree.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(".rustomize-aB3xyz"), "left").unwrap();
        // A process that lives holds the lock of its file. Others have names like ours.
        let lives = File::create(folder.join(".rustomize-alive1")).unwrap();
        lives.lock().unwrap();
        fs::write(folder.join(".rustomize-abc123"), "").unwrap();
        let held = File::open(folder.join(".rustomize-abc123")).unwrap();
        held.lock().unwrap();
        tree.run(args).ok();
        assert!(!folder.join(".rustomize-aB3xyz").exists(), "{args:?}");
        assert_eq!(left(&folder), 2, "{args:?}");
        drop((lives, held));
        // The same edit again would write nothing.
        let again = if args[0] == "edit" { &["edit", "set", "namesuffix", "--", "-s"] } else { args };
        tree.run(again).ok();
        assert_eq!(left(&folder), 0, "{args:?}");
    }
}

#[test]
fn files_half_written_by_a_killed_process_are_removed() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [r.yaml]\n");
    let map = |n: usize| format!("---\n{}", MAP.replace("name: a", &format!("name: a{n}")));
    tree.write("r.yaml", &(0..400).map(map).collect::<String>());
    fs::create_dir(tree.path().join("out")).unwrap();
    let mut killed = 0;
    for _ in 0..20 {
        let mut child = tree.command(&["build", "-o", "out"]).stdin(Stdio::null()).spawn().unwrap();
        // Killed as soon as it has begun to write, if it is seen to.
        while child.try_wait().unwrap().is_none() {
            if left(&tree.path().join("out")) > 0 {
                let _ = child.kill();
                break;
            }
        }
        child.wait().unwrap();
        killed += usize::from(left(&tree.path().join("out")) > 0);
    }
    assert!(killed > 0, "none was killed in time");
    tree.run(&["build", "-o", "out"]).ok();
    assert_eq!(left(&tree.path().join("out")), 0);
}

#[test]
fn builds_and_cache_removal_wait_for_each_other() {
    let tree = Tree::new("");
    let repository = tree.path().join("base");
    let files: String = (0..50).map(|n| format!(", r{n}.yaml")).collect();
    tree.write("base/kustomization.yaml", &format!("resources: [{}]\n", &files[2..]));
    for n in 0..50 {
        tree.write(&format!("base/r{n}.yaml"), &MAP.replace("name: a", &format!("name: a{n}")));
    }
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "-qm", "x"]);
    // The repository belongs to whoever runs the tests.
    tree.write("../home/.gitconfig", "[safe]\n\tdirectory = *\n");
    tree.write("kustomization.yaml", &format!("resources: ['file://{}']\n", repository.display()));
    let want = tree.run(&["build"]).ok();
    std::thread::scope(|scope| {
        let builds: Vec<_> =
            (0..2).map(|_| scope.spawn(|| (0..8).map(|_| tree.run(&["build"])).collect::<Vec<_>>())).collect();
        while builds.iter().any(|build| !build.is_finished()) {
            tree.run(&["cache", "clean"]).ok();
        }
        for run in builds.into_iter().flat_map(|build| build.join().unwrap()) {
            assert!(run.ok() == want);
        }
    });
    tree.run(&["cache", "clean"]).ok();
    let cache = tree.home().join(".cache/rustomize");
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0, "the cache is empty");
}

#[test]
fn cache_removal_says_that_it_waits() {
    let tree = Tree::new("");
    let cache = tree.home().join(".cache/rustomize");
    fs::create_dir_all(cache.join("git/left")).unwrap();
    fs::create_dir_all(cache.join(".rustomize-abcdef/git")).unwrap();
    let held = File::open(&cache).unwrap();
    held.lock_shared().unwrap();
    let mut child = tree.command(&["cache", "clean"]).stderr(Stdio::piped()).spawn().unwrap();
    let (mut said, mut errors) = (vec![0; 11], child.stderr.take().unwrap());
    errors.read_exact(&mut said).unwrap();
    assert_eq!(said, b"waiting for");
    assert!(cache.join("git/left").exists());
    drop(held);
    assert!(child.wait().unwrap().success());
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0);
    run(&mut tree.command(&["cache", "clean"])).ok();
}
