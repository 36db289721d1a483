//! `edit`: each command of testdata/edit on the files of its case. kustomize's status, words, files
//! and builds are recorded in `recorded/`, and what the kustomization file looks like here in
//! `results/`. `UPDATE=1 cargo test --test main edit::` writes both, where kustomize is in PATH.

use crate::support::{Run, Tree, files, in_path, run, skip, split};
use rustomize::load::{Disk, Memory, Overlay, RemoteOptions, Restrictor};
use rustomize::tree::Heap;
use rustomize::{Options, Workspace};
use rustomize_yaml::first_document;
use rustomize_yaml::json::{from_yaml_1_1, write};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Words that say the same as kustomize's, and more: where, or without what only Go prints. Those
/// of kustomize, and those here.
const OTHER_WORDS: [(&str, &str); 6] = [
    ("invalid Kustomization: json: unknown field \"nope\"", "invalid Kustomization: unknown field \"nope\""),
    ("must build at directory: not a valid directory", "no such file or directory"),
    ("literal sources [nope]: invalid literal source nope", "invalid literal source"),
    ("env source files: [nope]: evalsymlink failure", "'nope': no such file or directory"),
    ("patch types.Patch{", "already in kustomization file"),
    ("well-defined vars that were never replaced", ""),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/edit")
}

/// The words of a command, which may be in single quotes.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut in_quotes, mut is_word) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (in_quotes, is_word) = (!in_quotes, true),
            ' ' if !in_quotes => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

/// A text as a reader of YAML 1.1 sees it.
fn decoded(text: &str) -> Value {
    let heap = Heap::new();
    let arena = heap.arena();
    let Some(mut node) = first_document(arena, arena.add_source("file", text.to_owned())).unwrap() else {
        return json!({});
    };
    from_yaml_1_1(arena, &mut node);
    let mut out = String::new();
    write(&mut out, &node);
    serde_json::from_str(&out).unwrap()
}

/// All documents of a text, as [`decoded`] reads one.
pub fn decoded_all(text: &str) -> Vec<Value> {
    text.split("\n---\n").map(decoded).collect()
}

/// A kustomization as kustomize reads it: without empty fields, with its type, under current names.
/// Images and replicas are sorted, which kustomize does to the file, and so are literals, which it
/// writes in random order.
pub fn kustomization(text: &str) -> Value {
    let Value::Object(fields) = decoded(text) else { panic!("no kustomization:\n{text}") };
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let lower = |name: &str| name[..1].to_lowercase() + &name[1..];
    let mut fields: BTreeMap<String, Value> =
        fields.into_iter().filter(|(_, value)| !is_empty(value)).map(|(name, value)| (lower(&name), value)).collect();
    let kind = fields.entry("kind".into()).or_insert_with(|| json!("Kustomization")).clone();
    let version = if kind == "Component" { "v1alpha1" } else { "v1beta1" };
    fields.entry("apiVersion".into()).or_insert_with(|| json!(format!("kustomize.config.k8s.io/{version}")));
    for (old, new) in [("bases", "resources"), ("imageTags", "images")] {
        if let Some(Value::Array(items)) = fields.remove(old) {
            let list = fields.entry(new.into()).or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().extend(items);
        }
    }
    for field in ["configMapGenerator", "secretGenerator"] {
        let entries = fields.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten();
        for entry in entries.filter_map(Value::as_object_mut) {
            if let Some(env) = entry.remove("env") {
                entry.entry("envs").or_insert_with(|| json!([])).as_array_mut().unwrap().push(env);
            }
            if let Some(Value::Array(literals)) = entry.get_mut("literals") {
                literals.sort_by_key(ToString::to_string);
            }
        }
    }
    for field in ["images", "replicas"] {
        if let Some(Value::Array(items)) = fields.get_mut(field) {
            items.sort_by_key(|item| item["name"].as_str().unwrap_or_default().to_owned());
        }
    }
    fields.into_iter().collect()
}

fn is_kustomization(name: &str) -> bool {
    ["kustomization.yaml", "Kustomization"].contains(&name)
}

/// The files of a tree, and what they say.
fn contents(tree: &Tree) -> BTreeMap<String, String> {
    let name = |path: &Path| path.strip_prefix(tree.path()).unwrap().to_string_lossy().into_owned();
    files(&tree.path(), "").iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The first words of an error, and the notes. Dates, usage and what begins with `#` or a blank are
/// left out.
fn said(stderr: &str, is_kustomize: bool) -> Vec<String> {
    let is_date = |word: &str| word.len() == 10 && word.starts_with("20") && word.contains('/');
    let note = |line: &str| match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
        [date, _, note] if is_date(date) => Some(note.to_owned()),
        _ if line.starts_with("Error: ") || !is_kustomize => Some(line.to_owned()),
        _ => None,
    };
    // Ours has lines of a file, which begin with their number; kustomize's notes begin with a date.
    let is_of_file = |line: &str| !is_kustomize && line.starts_with(|c: char| c.is_ascii_digit());
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with([' ', '#', '-']) && !is_of_file(line);
    stderr.lines().filter(is_said).filter_map(note).collect()
}

/// True if words are kustomize's, or words of ours that take their place.
fn same_words(ours: &[String], theirs: &[Value]) -> bool {
    let stands_for = |theirs: &str| OTHER_WORDS.iter().find(|(words, _)| theirs.contains(words)).map(|(_, ours)| *ours);
    let theirs: Vec<&str> = theirs.iter().map(|line| line.as_str().unwrap()).collect();
    let theirs: Vec<&str> = theirs.into_iter().filter(|line| stands_for(line) != Some("")).collect();
    let is_same = |ours: &String, theirs: &str| stands_for(theirs).map_or(ours == theirs, |words| ours.contains(words));
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
}

/// The state that a run left, in a form that can be compared.
fn outcome(tree: &Tree, run: &Run, build: &Run, is_kustomize: bool) -> Value {
    let files = contents(tree);
    let (kustomizations, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        files.into_iter().partition(|(name, _)| is_kustomization(name));
    let read: BTreeMap<&String, Value> =
        kustomizations.iter().map(|(name, text)| (name, kustomization(text))).collect();
    let built = (build.status == Some(0)).then_some(&build.stdout);
    json!({
        "status": run.status,
        "said": said(&run.stderr, is_kustomize),
        "kustomization": read,
        "others": others,
        "build": built,
    })
}

/// kustomize in a tree; `None` without it.
fn kustomize(tree: &Tree, args: &[String]) -> Option<Run> {
    let program = in_path("kustomize")?;
    #[expect(clippy::disallowed_methods, reason = "the program that results are compared with")]
    let mut command = Command::new(program);
    command.args(args).current_dir(tree.path()).env("HOME", tree.home()).stdin(Stdio::null());
    Some(run(&mut command))
}

fn of_files(files: &[(String, String)]) -> Tree {
    let tree = Tree::new("");
    files.iter().for_each(|(name, text)| tree.write(name, text));
    tree
}

fn arguments(verb: &str, rest: &[String]) -> Vec<String> {
    std::iter::once(verb.to_owned()).chain(rest.iter().cloned()).collect()
}

fn ours(tree: &Tree, args: &[String]) -> Run {
    tree.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

/// One case: each of its commands on its files.
fn check_case(path: &Path, faults: &mut Vec<String>) -> usize {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let (_, mut files) = split(&fs::read_to_string(path).unwrap());
    let at = files.iter().position(|(name, _)| name == "commands").unwrap();
    let commands = files.remove(at).1;
    let record = folder().join(format!("recorded/{name}.jsonl"));
    let results = folder().join(format!("results/{name}.txt"));
    let is_update = std::env::var_os("UPDATE").is_some() && in_path("kustomize").is_some();
    let recorded = fs::read_to_string(&record).unwrap_or_default();
    let mut recorded = recorded.lines();
    let (mut new_record, mut new_results) = (String::new(), String::new());
    for command in commands.lines() {
        let words = words(command);
        let theirs = if is_update {
            let tree = of_files(&files);
            let run = kustomize(&tree, &arguments("edit", &words)).unwrap();
            let build = kustomize(&tree, &["build".to_owned()]).unwrap();
            let mut outcome = outcome(&tree, &run, &build, true);
            outcome["command"] = json!(command);
            outcome
        } else {
            serde_json::from_str(recorded.next().unwrap_or("null")).unwrap()
        };
        let tree = of_files(&files);
        let run = ours(&tree, &arguments("edit", &words));
        let mut outcome = outcome(&tree, &run, &tree.run(&["build"]), false);
        let said = said(&run.stderr, false);
        let mut wrong = |what: &str, ours: &dyn std::fmt::Debug, theirs: &dyn std::fmt::Debug| {
            faults.push(format!("{name}: {command}: {what}\n  {ours:?}\n  {theirs:?}"));
        };
        if theirs["command"] != *command {
            wrong("is not recorded: run this test with UPDATE=1 and kustomize in PATH", &command, &theirs["command"]);
            continue;
        }
        if !same_words(&said, theirs["said"].as_array().unwrap()) {
            wrong("says", &said, &theirs["said"]);
        }
        for part in ["status", "kustomization", "others", "build"] {
            if outcome[part] != theirs[part] {
                wrong(part, &outcome[part].take(), &theirs[part]);
            }
        }
        let texts = contents(&tree).into_iter().filter(|(name, _)| is_kustomization(name));
        let text: String = texts.map(|(_, text)| text).collect();
        let before: String =
            files.iter().filter(|(name, _)| is_kustomization(name)).map(|(_, text)| text.as_str()).collect();
        let shown = if text == before { "(as it was)\n".to_owned() } else { text };
        writeln!(new_results, "=== {command}\n{shown}").unwrap();
        writeln!(new_record, "{theirs}").unwrap();
    }
    if is_update {
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        fs::create_dir_all(results.parent().unwrap()).unwrap();
        fs::write(&record, new_record).unwrap();
        fs::write(&results, &new_results).unwrap();
    }
    if fs::read_to_string(&results).unwrap_or_default() != new_results {
        faults.push(format!("{name}: the files are not those of {}:\n{new_results}", results.display()));
    }
    commands.lines().count()
}

#[test]
fn every_verb_and_flag_does_what_kustomize_does() {
    let mut faults = Vec::new();
    let count: usize = files(&folder(), ".edits").iter().map(|path| check_case(path, &mut faults)).sum();
    assert!(count > 250, "{count} commands");
    assert!(faults.is_empty(), "{} faults of {count} commands:\n{}", faults.len(), faults.join("\n"));
}

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

/// Files that cannot be changed are left as they are, with a word.
#[test]
fn what_cannot_be_changed_is_left() {
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
fn words_that_are_no_verbs() {
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

/// The rest of a value when keys are in lower case and nothing is empty, zero or off: kustomize
/// writes all fields again.
pub fn essence(value: &Value) -> Option<Value> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Number(n) if n.as_i64() == Some(0) => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) => {
            let items: Vec<Value> = items.iter().filter_map(essence).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(fields) => {
            let fields = fields.iter().filter_map(|(name, value)| Some((name.to_lowercase(), essence(value)?)));
            let fields: serde_json::Map<String, Value> = fields.collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        other => Some(other.clone()),
    }
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
