//! The trees of `create` and `localize`, with the servers that they name.
//!
//! `links` has symbolic links, as `PATH -> TARGET`. Files below `repo/` are a repository with the
//! tag v1. Files below `server/` and the repository are served over HTTP: `{repo}` and `{http}` are
//! placeholders for their URLs without the scheme.

use super::servers::{Files, git_server};
use super::{Run, Tree, git, in_path, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// A tree with the servers of a case.
pub struct Case {
    pub tree: Tree,
    /// The placeholders in files and commands, with their values.
    names: Vec<(&'static str, String)>,
    before: BTreeMap<String, String>,
}

impl Case {
    pub fn new(given: &[(String, String)]) -> Case {
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

    pub fn filled(&self, text: &str) -> String {
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

    pub fn outcome(&self, run: &Run) -> Value {
        let error = run.stderr.lines().find_map(|line| line.strip_prefix("Error: ")).unwrap_or_default();
        json!({ "status": run.status, "error": self.named(error), "left": self.left() })
    }
}

/// The files and empty directories below a directory. A link is given with its target.
pub fn contents(directory: &Path) -> BTreeMap<String, String> {
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
pub fn words(line: &str) -> Vec<String> {
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

pub fn kustomize(case: &Case, args: &[String]) -> Run {
    #[expect(clippy::disallowed_methods, reason = "the program that results are compared with")]
    let mut command = Command::new(in_path("kustomize").unwrap());
    command.args(args).current_dir(case.tree.path()).env("HOME", case.tree.home()).stdin(Stdio::null());
    run(&mut command)
}
