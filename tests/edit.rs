//! `edit`: what is not a case of testdata/edit, and real kustomizations.

use crate::support::edit::{arguments, essence, is_kustomization, kustomization, kustomize, of_files, ours, words};
use crate::support::{Tree, files, in_path, skip};
use rustomize::load::{Disk, Memory, Overlay, RemoteOptions, Restrictor};
use rustomize::{Options, Workspace};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `fix` prints is kustomize's own.
#[test]
fn fix_says_what_it_did() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\nkind: A\nmetadata: {name: a}\n");
    let said = tree.run(&["edit", "fix"]).ok();
    assert!(said.starts_with("\nFixed fields:\n  patchesJson6902 -> patches\n"), "{said}");
    assert!(said.ends_with("in a clean git repository where the change is easy to undo.\n"), "{said}");
    let said = tree.run(&["edit", "fix", "--vars"]).ok();
    assert!(said.ends_with("  commonLabels -> labels\n  vars -> replacements\n"), "{said}");
    tree.write("kustomization.yaml", "resources: [a.yaml, b.yaml]\n");
    let said = tree.run(&["edit", "fix"]).ok();
    assert!(said.contains("\nWarning: 'Fixed' kustomization now produces the error when running"), "{said}");
}

/// `edit remove` has what kustomize adds and sets, but cannot remove.
#[test]
fn entries_are_removed_that_kustomize_cannot_remove() {
    let tree = Tree::new(
        "-- kustomization.yaml --
resources: [a.yaml]
images: # pinned
- name: gate
  newTag: \"1\"
- name: lock
  newTag: \"2\"
replicas: [{name: web, count: 2}]
generators: [g.yaml, h.yaml]
validators: [v.yaml]
configurations: [c.yaml]
",
    );
    let misspelt = tree.run(&["edit", "remove", "image", "lock", "gatr"]);
    misspelt.fails_with(&["'images' has no entry named gatr", "did you mean 'gate'?"]);
    for words in ["image gate", "replicas web", "generator g*", "validator v.yaml", "configuration c.yaml"] {
        let words: Vec<&str> = ["edit", "remove"].into_iter().chain(words.split(' ')).collect();
        tree.run(&words).ok();
    }
    let after = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    assert_eq!(after, "resources: [a.yaml]\nimages: # pinned\n- name: lock\n  newTag: \"2\"\ngenerators: [h.yaml]\n");
    tree.run(&["edit", "remove", "replicas", "web"]).fails_with(&["'replicas' has no entry named web"]);
}

/// `commonLabels`, which `edit set label` writes as kustomize does, changes selectors, too.
#[test]
fn a_label_of_two_fields_is_noted() {
    let tree = Tree::new("-- kustomization.yaml --\nlabels: [{pairs: {ver: a}}]\n");
    let note = "'labels' has ver, too";
    let said = |words: &[&str]| tree.run(words).stderr;
    assert!(said(&["edit", "set", "label", "ver:b"]).contains(note));
    assert!(said(&["edit", "add", "label", "ver:c", "--force"]).contains(note));
    assert_eq!(said(&["edit", "set", "label", "other:b"]), "");
    assert_eq!(said(&["edit", "add", "label", "ver:d", "--force", "--without-selector"]), "");
}

#[test]
fn built_in_plugins_are_listed() {
    let tree = Tree::new("");
    let listed = tree.run(&["edit", "alpha-list-builtin-plugin"]).ok();
    assert!(listed.starts_with("Builtin plugins:\n\n * AnnotationsTransformer\n"), "{listed}");
    assert_eq!(listed.lines().count(), 20);
}

/// A file keeps its mode and the link that leads to it, and nothing else stays behind.
#[test]
fn a_file_is_replaced_in_one_step() {
    let tree = Tree::new("-- real/k.yaml --\n# y\r\nnamePrefix: a # x\r\n");
    let (place, link) = (tree.path().join("real/k.yaml"), tree.path().join("kustomization.yaml"));
    fs::set_permissions(&place, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/k.yaml", &link).unwrap();
    let before = place.metadata().unwrap().ino();
    tree.run(&["edit", "set", "nameprefix", "b"]).ok();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(place.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_ne!(place.metadata().unwrap().ino(), before, "another file has taken the place");
    assert_eq!(fs::read_to_string(&place).unwrap(), "# y\r\nnamePrefix: b # x\r\n");
    assert_eq!(fs::read_dir(tree.path().join("real")).unwrap().count(), 1);
    // An edit without effect writes nothing.
    let now = place.metadata().unwrap().ino();
    tree.run(&["edit", "set", "nameprefix", "b"]).ok();
    assert_eq!(place.metadata().unwrap().ino(), now);
}

/// None of many changes at once is lost.
#[test]
fn changes_at_once_wait_for_each_other() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: []\n");
    let add = |i: usize| tree.command(&["edit", "add", "resource", "--no-verify", &format!("r{i}.yaml")]).spawn();
    let children: Vec<_> = (0..16).map(|i| add(i).unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_unstable();
    let mut wanted: Vec<String> = (0..16).map(|i| format!("- r{i}.yaml")).collect();
    wanted.sort_unstable();
    assert_eq!(lines, wanted);
}

/// A pattern that stands among the resources gives way to the files that it matches, so that the
/// kustomization can be built. A file that is named like a pattern stays.
#[test]
fn patterns_among_resources_become_files() {
    let tree = Tree::new("-- kustomization.yaml --\nresources:\n- parts/*.yaml\n- '[x].yaml'\n");
    for (file, name) in [("parts/a.yaml", "a"), ("parts/b.yaml", "b"), ("[x].yaml", "c"), ("x.yaml", "d")] {
        tree.write(file, &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"));
    }
    tree.run(&["build"]).fails_with(&["rustomize edit add resource 'parts/*.yaml'"]);
    let run = tree.run(&["edit", "add", "resource", "parts/*.yaml", "[x].yaml"]);
    assert!(run.stderr.contains("resource parts/*.yaml is replaced by the files that it matches"), "{}", run.stderr);
    let text = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    assert_eq!(text, "resources:\n- '[x].yaml'\n- parts/a.yaml\n- parts/b.yaml\n- x.yaml\n");
    tree.run(&["build"]).ok();
}

/// Files that cannot be changed are left as they are, with a word.
#[test]
fn file_that_edit_cannot_change_is_left() {
    let check = |text: &str, args: &[&str], words: &[&str]| {
        let tree = Tree::new("");
        tree.write("kustomization.yaml", text);
        tree.run(&[&["edit"], args].concat()).fails_with(words);
        assert_eq!(fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap(), text);
    };
    let add = ["add", "resource", "--no-verify", "x"];
    let text = "resources: &r\n- a.yaml\ncomponents: *r\n";
    check(text, &add, &["'kustomization.yaml' was not changed", "aliases", "by hand"]);
    check("resources: [a]\nRESOURCES: [b]\n", &add, &["'resources' is given twice", "under one key"]);
    check("resources: [a\n", &add, &["invalid Kustomization: ", "kustomization.yaml:"]);
    check("resources: a\n", &add, &["invalid Kustomization: expected a list", "kustomization.yaml:1:12"]);
}

/// Help answers a missing verb; an unknown verb and an unknown flag are errors.
#[test]
fn missing_verb_prints_help_and_unknown_verb_fails() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: []\n");
    for args in [&["edit"][..], &["edit", "set"]] {
        let help = tree.run(args).ok();
        assert!(help.contains("Usage: rustomize edit"), "{args:?}: {help}");
    }
    tree.run(&["edit", "bogus"]).fails_with(&["'bogus'", "add, set, remove"]);
    tree.run(&["edit", "set", "bogus", "x"]).fails_with(&["'bogus'", "image, replicas"]);
    tree.run(&["edit", "set", "image", "--bogus"]).fails_with(&["--bogus"]);
    // A flag that is given twice has its last value, as in kustomize.
    tree.run(&["edit", "add", "patch", "--path", "a", "--path", "b"]).ok();
    let text = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    assert_eq!(text, "resources: []\npatches:\n- path: b\n");
}

/// Commands that apply to every kustomization.
const COMMANDS: [&str; 9] = [
    "set namespace edited-ns",
    "set nameprefix edited-",
    "add resource --no-verify edited.yaml",
    "add label edited:yes --without-selector",
    "add annotation edited:1 --force",
    "set image edited=example.com/x:1 nginx=*:2",
    "set replicas edited=3",
    "add patch --path edited.yaml --kind Edited",
    "fix",
];

/// The kustomization files of real projects, and whether kustomize is in PATH to compare with;
/// `None` without these projects.
fn real_files() -> Option<(Vec<PathBuf>, bool)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/realworld/src");
    let Ok(root) = root.canonicalize() else {
        skip("real kustomizations are not here");
        return None;
    };
    let is_compared = in_path("kustomize").is_some();
    if !is_compared {
        println!("not compared: no kustomize in PATH");
    }
    let is_file = |path: &PathBuf| path.file_name().is_some_and(|name| is_kustomization(&name.to_string_lossy()));
    Some((files(&root, "").into_iter().filter(is_file).collect(), is_compared))
}

/// The kustomization files of real projects: each command gives what it gives in kustomize, and no
/// comment is lost.
#[test]
fn real_kustomizations() {
    let Some((paths, is_compared)) = real_files() else { return };
    let texts = paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap()));
    let mut texts: Vec<(PathBuf, String)> = texts.collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    texts.dedup_by(|a, b| a.1 == b.1);
    assert!(texts.len() > 300, "{} files", texts.len());
    let mut faults = Vec::new();
    for (i, (path, text)) in texts.iter().enumerate() {
        let command = COMMANDS[i % COMMANDS.len()];
        let args = arguments("edit", &words(command));
        let files = [("kustomization.yaml".to_owned(), text.clone())];
        let (tree, reference) = (of_files(&files), of_files(&files));
        let run = ours(&tree, &args);
        let theirs = is_compared.then(|| kustomize(&reference, &args).unwrap());
        let read = |tree: &Tree| fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
        if let Some(theirs) = theirs {
            if run.status != theirs.status {
                let [ours, theirs] = [run.status, theirs.status];
                faults.push(format!("{}: {command}: {ours:?} {theirs:?}\n{}", path.display(), run.stderr));
            } else if essence(&kustomization(&read(&tree))) != essence(&kustomization(&read(&reference))) {
                faults.push(format!("{}: {command}:\n{}\n{}", path.display(), read(&tree), read(&reference)));
            }
        }
        let comments = |text: &str| text.lines().filter(|line| line.trim_start().starts_with('#')).count();
        if comments(text) != comments(&read(&tree)) {
            faults.push(format!("{}: {command}: comments\n{text}\n{}", path.display(), read(&tree)));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), texts.len(), faults.join("\n"));
}

/// Builds a kustomization with another text in place of the one on the disk.
fn built(file: &Path, text: &str) -> Result<String, String> {
    let texts = Memory::from_iter([(file, text)]);
    let (workspace, loader) = (Workspace::new(), Overlay::new(Disk::new(), texts));
    let remote = Arc::new(RemoteOptions { offline: true, ..RemoteOptions::default() });
    let options = Options { remote, restrictor: Restrictor::None, ..Options::default() };
    let root = file.parent().unwrap().to_string_lossy().into_owned();
    let built = rustomize::build(&workspace, &loader, &root, &options);
    built.value.and_then(|output| output.print()).map_err(|e| e.to_string())
}

/// Real kustomizations that build: after an edit they build what they build after the same edit
/// with kustomize, and an edit that is taken back leaves what was built before it.
#[test]
fn real_kustomizations_build_the_same_after_an_edit() {
    const EDITS: [&str; 5] = [
        "set namespace edited-ns",
        "set nameprefix edited-",
        "add label edited:yes --without-selector",
        "set image nginx=*:2",
        "fix",
    ];
    let Some((paths, is_compared)) = real_files() else { return };
    let (mut count, mut faults) = (0, Vec::new());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let Ok(before) = built(&path, &text) else { continue };
        count += 1;
        // Every third one: each takes five processes.
        if count % 3 != 0 {
            continue;
        }
        let command = EDITS[count / 3 % EDITS.len()];
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (tree, reference) = (Tree::new(""), Tree::new(""));
        // `fix` asks which patches are files.
        let folder = path.parent().unwrap();
        for file in files(folder, "") {
            let Ok(text) = fs::read_to_string(&file) else { continue };
            let file = file.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            tree.write(&file, &text);
            reference.write(&file, &text);
        }
        let args = arguments("edit", &words(command));
        let read = |tree: &Tree| fs::read_to_string(tree.path().join(&name)).unwrap();
        let status = ours(&tree, &args).status;
        let after = built(&path, &read(&tree));
        if is_compared {
            let theirs = kustomize(&reference, &args).unwrap().status;
            if status != theirs || after.ok() != built(&path, &read(&reference)).ok() {
                faults.push(format!("{}: {command}: {status:?} {theirs:?}\n{}", path.display(), read(&tree)));
            }
        }
        // Annotations that no kustomization has are added and removed again.
        tree.write(&name, &text);
        ours(&tree, &["edit", "add", "annotation", "edited-by-a-test:x"].map(str::to_owned));
        if built(&path, &read(&tree)).as_ref() == Ok(&before) && !before.is_empty() {
            faults.push(format!("{}: an annotation changed nothing", path.display()));
        }
        ours(&tree, &["edit", "remove", "annotation", "edited-by-a-test"].map(str::to_owned));
        if built(&path, &read(&tree)).as_ref() != Ok(&before) {
            faults.push(format!("{}: taken back\n{}", path.display(), read(&tree)));
        }
    }
    assert!(count > 300, "{count} kustomizations build");
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
}

/// An edit waits for the lock of its directory, and reads the file only then: an edit that was made
/// while it waited is kept. Without the lock, as where a file system has none, it is lost.
#[test]
fn an_edit_reads_the_file_when_it_has_the_lock() {
    let tree = Tree::new("-- kustomization.yaml --\nresources: [a.yaml]\n");
    let directory = fs::File::open(tree.path()).unwrap();
    directory.lock().unwrap();
    let mut child = tree.command(&["edit", "add", "resource", "--no-verify", "c.yaml"]).spawn().unwrap();
    // The child is in its wait for the lock when the system says so.
    let waits = || {
        let stack = fs::read_to_string(format!("/proc/{}/syscall", child.id())).unwrap_or_default();
        stack.starts_with(&format!("{} ", libc_flock()))
    };
    while !waits() {
        std::thread::yield_now();
    }
    tree.write("kustomization.yaml", "resources: [a.yaml, b.yaml]\n");
    assert_eq!(child.try_wait().unwrap(), None);
    directory.unlock().unwrap();
    assert!(child.wait().unwrap().success());
    let text = fs::read_to_string(tree.path().join("kustomization.yaml")).unwrap();
    assert_eq!(text, "resources: [a.yaml, b.yaml, c.yaml]\n");
}

/// The number of the system call for locks.
fn libc_flock() -> u32 {
    if cfg!(target_arch = "aarch64") { 32 } else { 73 }
}
