//! `localize`: each command of testdata/localize on the files of its case. The status of kustomize,
//! its error, and the files that it left are recorded in `recorded/`;
//! `UPDATE=1 cargo test --test main localize create::` records them again if kustomize is in PATH.
//!
//! The file `commands` of a case has one command in a line; after ` => ` are words of rustomize's
//! error. `links` has symbolic links, as `PATH -> TARGET`. Files below `repo/` are a repository
//! with the tag v1. Files below `server/` and the repository are served over HTTP: `{repo}` and
//! `{http}` are placeholders for their URLs without the scheme.

use crate::servers::{Files, git_server};
use crate::support::{Run, Tree, files, git, in_path, run, skip, split};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tree with the servers of a case.
struct Case {
    tree: Tree,
    /// The placeholders in files and commands, with their values.
    names: Vec<(&'static str, String)>,
    before: BTreeMap<String, String>,
}

impl Case {
    fn new(given: &[(String, String)]) -> Case {
        let tree = Tree::new("");
        let outside = tree.path().parent().unwrap().join("outside");
        let served = Files::default();
        let mut names = vec![("{repo}", outside.join("repo.git").to_string_lossy().into_owned())];
        if given.iter().any(|(name, _)| name.starts_with("repo/") || name.starts_with("server/")) {
            names.push(("{http}", git_server(outside.clone(), served.clone())));
        }
        let filled = |text: &str| names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
        fs::create_dir_all(&outside).unwrap();
        for (name, text) in given.iter().filter(|(name, _)| name != "links") {
            match name.strip_prefix("server/") {
                Some(path) => served.put(&format!("/{path}"), filled(text)),
                None if name.starts_with("repo/") => tree.write(&format!("../outside/{name}"), &filled(text)),
                None => tree.write(name, &filled(text)),
            }
        }
        for (_, text) in given.iter().filter(|(name, _)| name == "links") {
            for (path, target) in text.lines().map(|line| line.split_once(" -> ").unwrap()) {
                let path = tree.path().join(path.replace("repo/", "../outside/repo/"));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                symlink(target, path).unwrap();
            }
        }
        if outside.join("repo").is_dir() {
            let repo = outside.join("repo");
            git(&repo, &["init", "-q", "-b", "main"]);
            git(&repo, &["add", "."]);
            git(&repo, &["commit", "-qm", "one"]);
            git(&repo, &["tag", "v1"]);
            git(&repo, &["branch", "release/1"]);
            git(&outside, &["clone", "-q", "--bare", "repo", "repo.git"]);
        }
        let before = contents(&tree.path());
        Case { tree, names, before }
    }

    fn filled(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// A text in which the paths and URLs of this run are replaced by placeholders.
    fn named(&self, text: &str) -> String {
        let directory = self.tree.path().to_string_lossy().into_owned();
        self.names.iter().fold(text.replace(&directory, "{tree}"), |text, (name, value)| {
            let value = value.trim_end_matches(".git");
            text.replace(value, name).replace("{repo}.git", "{repo}")
        })
    }

    /// The files that a command has created or changed.
    fn left(&self) -> BTreeMap<String, String> {
        let is_new = |(name, text): &(String, String)| self.before.get(name) != Some(text);
        let after = contents(&self.tree.path()).into_iter().filter(is_new);
        after.map(|(name, text)| (self.named(&name), self.named(&text))).collect()
    }

    fn outcome(&self, run: &Run) -> Value {
        let error = run.stderr.lines().find_map(|line| line.strip_prefix("Error: ")).unwrap_or_default();
        json!({ "status": run.status, "error": self.named(error), "left": self.left() })
    }
}

/// The files and empty directories below a directory. A link is given with its target.
fn contents(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut queue = vec![directory.to_owned()];
    while let Some(folder) = queue.pop() {
        if folder != directory && fs::read_dir(&folder).unwrap().next().is_none() {
            found.insert(format!("{}/", folder.strip_prefix(directory).unwrap().display()), String::new());
        }
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_string_lossy().into_owned();
            match fs::symlink_metadata(&path).unwrap().file_type() {
                kind if kind.is_dir() => queue.push(path),
                kind if kind.is_symlink() => {
                    found.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
                }
                _ => {
                    let bytes = fs::read(&path).unwrap();
                    found.insert(name, String::from_utf8(bytes).unwrap_or_else(|e| format!("{:?}", e.into_bytes())));
                }
            }
        }
    }
    found
}

/// The words of a command; single quotes are kept together.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let mut words = vec![String::new()];
    for (i, part) in parts {
        if i % 2 == 1 {
            words.last_mut().unwrap().push_str(part);
            continue;
        }
        for (j, piece) in part.split(' ').enumerate() {
            if j > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(piece);
        }
    }
    let is_empty_quoted = line.contains("''");
    words.into_iter().filter(|word| !word.is_empty() || is_empty_quoted).collect()
}

fn kustomize(case: &Case, args: &[String]) -> Run {
    #[expect(clippy::disallowed_methods, reason = "the program that results are compared with")]
    let mut command = Command::new(in_path("kustomize").unwrap());
    command.args(args).current_dir(case.tree.path()).env("HOME", case.tree.home()).stdin(Stdio::null());
    run(&mut command)
}

/// Holds each command of a folder to its record, and gives their number. `others` are errors of
/// kustomize, by what they contain, with ours.
pub fn check_folder(folder: &str, others: &[(&str, &str)]) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder);
    let is_update = std::env::var_os("UPDATE").is_some() && in_path("kustomize").is_some();
    let (mut faults, mut count) = (String::new(), 0);
    for path in files(&root, ".commands") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (_, mut given) = split(&fs::read_to_string(&path).unwrap());
        let at = given.iter().position(|(name, _)| name == "commands").unwrap();
        let commands = given.remove(at).1;
        let record = root.join(format!("recorded/{name}.jsonl"));
        let recorded = fs::read_to_string(&record).unwrap_or_default();
        let (mut recorded, mut new_record) = (recorded.lines(), String::new());
        for line in commands.lines() {
            count += 1;
            let (command, wanted) = line.split_once(" => ").unwrap_or((line, ""));
            let arguments = |case: &Case| [vec![folder.to_owned()], words(&case.filled(command))].concat();
            let theirs = match is_update {
                true => {
                    let case = Case::new(&given);
                    let run = kustomize(&case, &arguments(&case));
                    let mut outcome = case.outcome(&run);
                    outcome["command"] = json!(command);
                    outcome
                }
                false => serde_json::from_str(recorded.next().unwrap_or("null")).unwrap(),
            };
            writeln!(new_record, "{theirs}").unwrap();
            let case = Case::new(&given);
            let args = arguments(&case);
            let run = case.tree.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
            let ours = case.outcome(&run);
            let fault = fault(line, folder, &ours, &theirs, others, wanted, &run.stderr);
            if let Some(fault) = fault {
                writeln!(faults, "{name}: {command}: {fault}\n{}", run.stderr).unwrap();
            }
            case.tree.assert_nothing_left();
        }
        if is_update {
            fs::create_dir_all(record.parent().unwrap()).unwrap();
            fs::write(&record, new_record).unwrap();
        }
    }
    assert!(faults.is_empty(), "{faults}");
    count
}

fn fault(
    line: &str,
    folder: &str,
    ours: &Value,
    theirs: &Value,
    others: &[(&str, &str)],
    wanted: &str,
    stderr: &str,
) -> Option<String> {
    if !line.starts_with(theirs["command"].as_str().unwrap_or("\0")) {
        return Some("is not recorded: run this test with UPDATE=1 and kustomize in PATH".to_owned());
    }
    let is_ours_alone = line.ends_with("(here alone)");
    if ours["status"] != theirs["status"] && !is_ours_alone {
        return Some(format!("status {} and not {}: {}", ours["status"], theirs["status"], theirs["error"]));
    }
    if ours["status"] != json!(0) {
        if ours["left"] != json!({}) {
            return Some(format!("left {}", ours["left"]));
        }
        let theirs = theirs["error"].as_str().unwrap();
        let error = ours["error"].as_str().unwrap();
        let other = others.iter().find(|(words, _)| theirs.contains(words));
        let is_same = other.map_or(error == theirs, |(_, words)| error.contains(words));
        if folder == "create" && !is_same {
            return Some(format!("says {error}\nand not {theirs}"));
        }
        let wanted = wanted.trim_end_matches("(here alone)").trim();
        if folder == "localize" && (wanted.is_empty() || !stderr.contains(wanted)) {
            return Some(format!("does not say '{wanted}'; kustomize says {theirs}"));
        }
        return None;
    }
    let (left, wanted) = (ours["left"].as_object().unwrap(), theirs["left"].as_object().unwrap());
    let other = left.keys().chain(wanted.keys()).find(|name| left.get(*name) != wanted.get(*name));
    other.filter(|_| !is_ours_alone).map(|name| {
        format!(
            "{name} is\n{:?}\nand not\n{:?}",
            left.get(name).map(Value::as_str),
            wanted.get(name).map(Value::as_str)
        )
    })
}

#[test]
fn each_copy_is_kustomizes() {
    let count = check_folder("localize", &[]);
    assert!(count > 60, "{count} commands");
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// The result and its place are told, and nothing else stays.
#[test]
fn it_says_what_it_did() {
    let tree = Tree::new(&format!("-- a/kustomization.yaml --\nresources: [a.yaml]\n-- a/a.yaml --\n{MAP}"));
    let run = tree.run(&["localize", "a", "out"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let place = fs::canonicalize(tree.path()).unwrap().join("out");
    let place = place.display();
    let verified = "VERIFICATION SUCCESS: `kustomize build` for a and";
    assert_eq!(
        run.stderr,
        format!("{verified} {place} are the same after localization.\nSUCCESS: localized \"a\" to directory {place}\n")
    );
    assert_eq!(run.stdout, "");
    let run = tree.run(&["localize", "a", "other", "--no-verify"]);
    assert!(!run.stderr.contains("VERIFICATION") && run.stderr.contains("SUCCESS: localized \"a\""), "{}", run.stderr);
    let mut names: Vec<_> = fs::read_dir(tree.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "other", "out"]);
}

/// kustomize compares two empty texts. Here a copy that builds to something else is an error, and
/// is not left.
#[test]
fn a_copy_that_builds_to_something_else_is_refused() {
    let tree = Tree::new("-- a/kustomization.yaml --\nresources: [a.yaml]\n");
    // Chart homes come along without the links in them, which the build of the copy misses.
    tree.write("a/kustomization.yaml", "resources: [r.yaml]\nhelmCharts: [{name: c}]\n");
    tree.write("a/r.yaml", MAP);
    tree.write("a/charts/c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n");
    tree.write("a/charts/c/values.yaml", "{}\n");
    tree.write("a/t.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-link}\n");
    fs::create_dir_all(tree.path().join("a/charts/c/templates")).unwrap();
    symlink("../../../t.yaml", tree.path().join("a/charts/c/templates/t.yaml")).unwrap();
    if in_path("helm").is_none() {
        return skip("helm is not in PATH");
    }
    tree.run(&["localize", "a", "out"]).fails_with(&["must specify --enable-helm", "--no-verify"]);
    assert!(!tree.path().join("out").exists());
    tree.run(&["localize", "a", "out", "--enable-helm"]).fails_with(&["VERIFICATION FAILED"]);
    assert!(!tree.path().join("out").exists());
    fs::remove_file(tree.path().join("a/charts/c/templates/t.yaml")).unwrap();
    fs::copy(tree.path().join("a/t.yaml"), tree.path().join("a/charts/c/templates/t.yaml")).unwrap();
    tree.run(&["localize", "a", "out", "--enable-helm"]).ok();
    assert!(tree.path().join("out/charts/c/templates/t.yaml").exists());
}

/// Annotations that say where a resource comes from differ, and count for nothing.
#[test]
fn origins_do_not_count() {
    let case = Case::new(&[
        (
            "a/kustomization.yaml".to_owned(),
            "resources: ['http://{http}/m.yaml']\nbuildMetadata: [originAnnotations]\n".to_owned(),
        ),
        ("server/m.yaml".to_owned(), MAP.to_owned()),
    ]);
    case.tree.run(&["localize", "a", "out"]).ok();
    assert!(case.tree.path().join("out/localized-files/127.0.0.1/m.yaml").exists());
}

/// A base of many layers is copied once: the work is linear.
#[test]
fn diamonds_are_copied_once() {
    let tree = Tree::new("");
    const DEPTH: usize = 40;
    for i in 0..DEPTH {
        let resources =
            if i + 1 == DEPTH { "[]\nnamePrefix: x".to_owned() } else { format!("[../l{0}, ../r{0}]", i + 1) };
        for side in ["l", "r"] {
            tree.write(&format!("{side}{i}/kustomization.yaml"), &format!("resources: {resources}\n"));
        }
    }
    tree.run(&["localize", "l0", "out", "--scope", ".", "--no-verify"]).ok();
    assert_eq!(files(&tree.path().join("out"), ".yaml").len(), 2 * DEPTH - 1);
}

/// Many layers do not use up the stack.
#[test]
fn deep_chains_are_copied() {
    let tree = Tree::new("-- end/kustomization.yaml --\nnamePrefix: x\n");
    const DEPTH: usize = 1500;
    for i in 0..DEPTH {
        let next = if i + 1 == DEPTH { "end".to_owned() } else { format!("l{}", i + 1) };
        tree.write(&format!("l{i}/kustomization.yaml"), &format!("resources: [../{next}]\n"));
    }
    tree.run(&["localize", "l0", "out", "--scope", ".", "--no-verify"]).ok();
    assert_eq!(files(&tree.path().join("out"), ".yaml").len(), DEPTH + 1);
}

/// Without a server nothing is left, and the error names the URL.
#[test]
fn without_network_nothing_is_left() {
    let tree = Tree::new("-- a/kustomization.yaml --\nresources: ['http://127.0.0.1:9/m.yaml']\n");
    tree.run(&["localize", "a", "out"]).fails_with(&["http://127.0.0.1:9/m.yaml", "a/kustomization.yaml:1"]);
    assert_eq!(contents(&tree.path()).len(), 1);
    tree.assert_nothing_left();
}

/// kustomize copies the copy into itself until a path is too long.
#[test]
fn a_copy_among_the_charts_that_are_copied_ends() {
    let tree = Tree::new("-- a/kustomization.yaml --\nhelmCharts: [{name: c}]\n-- a/charts/c/Chart.yaml --\nname: c\n");
    tree.run(&["localize", "a", "a/charts/out", "--no-verify"]).ok();
    let copied = contents(&tree.path().join("a/charts/out"));
    assert_eq!(copied.keys().collect::<Vec<_>>(), ["charts/c/Chart.yaml", "kustomization.yaml"]);
}

/// A file without a key has the key that it has in the original, where kustomize takes the name of
/// the file behind a link.
#[test]
fn a_link_keeps_its_key() {
    let tree =
        Tree::new("-- a/kustomization.yaml --\nconfigMapGenerator: [{name: c, files: [l.txt]}]\n-- a/r.txt --\nx\n");
    symlink("r.txt", tree.path().join("a/l.txt")).unwrap();
    tree.run(&["localize", "a", "out"]).ok();
    let text = fs::read_to_string(tree.path().join("out/kustomization.yaml")).unwrap();
    assert_eq!(text, "configMapGenerator:\n- files:\n  - l.txt=r.txt\n  name: c\n");
}

/// A pipe is not read.
#[test]
fn files_that_are_none_are_refused() {
    let tree = Tree::new("-- a/kustomization.yaml --\nhelmGlobals: {chartHome: home}\nnamePrefix: x\n");
    fs::create_dir(tree.path().join("a/home")).unwrap();
    let pipe = tree.path().join("a/home/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    tree.run(&["localize", "a", "out", "--no-verify"]).fails_with(&["is not a file"]);
    assert!(!tree.path().join("out").exists());
}

/// Real kustomizations: the copies are kustomize's, byte for byte.
#[test]
fn real_kustomizations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/realworld/src");
    if !root.is_dir() {
        return skip("real kustomizations are not here");
    }
    if in_path("kustomize").is_none() {
        return skip("kustomize is not in PATH");
    }
    let is_root = |path: &PathBuf| path.ends_with("kustomization.yaml");
    // Remote ones would ask servers.
    let is_local = |path: &PathBuf| !fs::read_to_string(path).unwrap_or_default().contains("://");
    let found: Vec<PathBuf> = files(&root, "kustomization.yaml").into_iter().filter(is_root).filter(is_local).collect();
    let every = if std::env::var_os("RUSTOMIZE_LARGE").is_some() { 1 } else { 25 };
    let (mut faults, mut same) = (Vec::new(), 0);
    for file in found.iter().step_by(every) {
        let case = Case::new(&[]);
        let (target, scope) = (file.parent().unwrap(), file.strip_prefix(&root).unwrap().components().next().unwrap());
        let scope = root.join(scope);
        let args = |out: &str| -> Vec<String> {
            let scope = scope.to_string_lossy().into_owned();
            ["localize", &target.to_string_lossy(), out, "--no-verify", "--scope", &scope].map(str::to_owned).to_vec()
        };
        let theirs = kustomize(&case, &args("theirs"));
        let ours = case.tree.run(&args("ours").iter().map(String::as_str).collect::<Vec<_>>());
        let [ours_left, theirs_left] = ["ours", "theirs"].map(|name| {
            let place = case.tree.path().join(name);
            if place.is_dir() { contents(&place) } else { BTreeMap::new() }
        });
        match ours.status == theirs.status && ours_left == theirs_left {
            true => same += 1,
            false => faults.push(format!("{}\n{}\n{}", file.display(), ours.stderr, theirs.stderr)),
        }
    }
    println!("{same} copies are the same");
    assert!(faults.is_empty() && same > 10, "{same}; {}", faults.join("\n"));
}
