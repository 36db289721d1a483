//! A txtar case that builds a tree: its parts, and what the command prints for it.

use crate::support::{Tree, split};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The names of files that are not part of the tree.
const EXPECTATIONS: [&str; 6] = ["args", "env", "modes", "stderr", "stdout", "want"];

/// A case as its file has it.
pub struct Case {
    /// The text that says what the case shows.
    pub head: String,
    /// What the error must say, whatever else it says: `cause`, `place`, `hint` and `also`, with
    /// the words of each.
    pub wanted: Vec<(String, String)>,
    files: Vec<(String, String)>,
}

/// A run of the command on the tree of a case. Temporary directories are `$TREE`, `$HOME` and
/// `$TMPDIR` in its output.
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub tree: Tree,
}

impl Case {
    pub fn read(path: &Path) -> Case {
        let (head, files) = split(&fs::read_to_string(path).unwrap());
        let mut case = Case { head, wanted: Vec::new(), files };
        let lines = case.file("want").unwrap_or_default().lines().map(|line| line.split_once(':').unwrap());
        case.wanted = lines.map(|(key, words)| (key.to_owned(), words.trim().to_owned())).collect();
        case
    }

    pub fn file(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str())
    }

    /// The tree of the case, with its environment.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new("");
        for (name, text) in self.files.iter().filter(|(name, _)| !EXPECTATIONS.contains(&name.as_str())) {
            match name.split_once(" -> ") {
                Some((link, target)) => std::os::unix::fs::symlink(target, tree.path().join(link)).unwrap(),
                None => tree.write(name, text),
            }
        }
        for line in self.file("modes").unwrap_or_default().lines() {
            let (mode, name) = line.split_once(' ').unwrap();
            let mode = fs::Permissions::from_mode(u32::from_str_radix(mode, 8).unwrap());
            fs::set_permissions(tree.path().join(name), mode).unwrap();
        }
        for line in self.file("env").unwrap_or_default().lines() {
            let (name, value) = line.split_once('=').unwrap();
            let value = value.replace("$TREE", &tree.path().to_string_lossy());
            tree.variables.insert(Box::leak(name.to_owned().into_boxed_str()), value);
        }
        tree
    }

    pub fn run(&self) -> Ran {
        let tree = self.tree();
        let args: Vec<&str> = self.file("args").unwrap_or("build").split_whitespace().collect();
        let run = tree.run(&args);
        let directories = [("$TREE", tree.path()), ("$HOME", tree.home()), ("$TMPDIR", tree.tmp())];
        let named = |text: String| {
            let text = directories.iter().fold(text, |text, (name, path)| text.replace(&*path.to_string_lossy(), name));
            without_times(&without_random_names(&text))
        };
        Ran { status: run.status, stdout: named(run.stdout), stderr: named(run.stderr), tree }
    }
}

/// A text in which each private directory is `$TMPDIR/PRIVATE`: their names are random.
fn without_random_names(text: &str) -> String {
    let mut parts = text.split("$TMPDIR/rustomize-");
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        named.push_str("$TMPDIR/PRIVATE");
        named.push_str(&part[part.find(['/', '\'', '\n']).unwrap_or(part.len())..]);
    }
    named
}

/// A text in which curl, which git calls, waited N milliseconds for a connection.
fn without_times(text: &str) -> String {
    let (start, end) = ("to connect to 127.0.0.1 port 9 after ", " ms");
    let Some((before, rest)) = text.split_once(start) else { return text.to_owned() };
    match rest.split_once(end) {
        Some((time, after)) if time.bytes().all(|b| b.is_ascii_digit()) => format!("{before}{start}N{end}{after}"),
        _ => text.to_owned(),
    }
}

/// The line of an error that says its place: `--> file:line:column`, without the arrow.
pub fn place_line(stderr: &str) -> Option<&str> {
    stderr.lines().find_map(|line| line.trim_start().strip_prefix("--> "))
}

/// The text of a case in which one file has another content. A file without content is left out. A
/// new one is the last, but before `stdout`.
pub fn replaced(text: &str, name: &str, content: &str) -> String {
    let is_head = |line: &str| line.starts_with("-- ") && line.trim_end().ends_with(" --");
    let own_head = format!("-- {name} --");
    let mut parts: Vec<String> = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if is_head(line) {
            parts.push(String::new());
        }
        parts.last_mut().unwrap().push_str(line);
    }
    let starts_with = |part: &String, head: &str| part.lines().next() == Some(head);
    let own = if content.is_empty() && name != "stdout" { String::new() } else { format!("{own_head}\n{content}") };
    match parts.iter().position(|part| starts_with(part, &own_head)) {
        Some(at) => parts[at] = own,
        None => {
            let end = parts.iter().position(|part| starts_with(part, "-- stdout --")).unwrap_or(parts.len());
            parts.insert(end, own);
        }
    }
    parts.concat()
}
