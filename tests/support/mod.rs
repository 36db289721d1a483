//! What the programs of tests share: a directory with files, and the command run in it. Each
//! program (`main`, `cases`, `attack`, `differential`) includes this module.

#![allow(dead_code, reason = "each program uses a part")]

pub mod bundles;
pub mod compiler;
pub mod edit;
pub mod environments;
pub mod findings;
pub mod fleet;
pub mod go;
pub mod isolation;
pub mod localize;
pub mod packages;
pub mod plugins;
pub mod reference;
pub mod servers;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The program that is tested: the one that `RUSTOMIZE_PROGRAM` names, such as that of a release,
/// or the one that cargo has built with the tests.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| match std::env::var_os("RUSTOMIZE_PROGRAM") {
        Some(path) => fs::canonicalize(path).unwrap().into_os_string().into_string().unwrap(),
        None => env!("CARGO_BIN_EXE_rustomize").to_owned(),
    })
}

/// The status and output of a run of the command.
pub struct Run {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Expects success, and gives stdout.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.status, Some(0), "stderr:\n{}", self.stderr);
        self.stdout
    }

    /// Expects an error that says all of `words`, and nothing on stdout.
    #[track_caller]
    pub fn fails_with(self, words: &[&str]) -> String {
        assert_eq!(self.status, Some(1), "stdout:\n{}stderr:\n{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "an error leaves nothing on stdout");
        for word in words {
            assert!(self.stderr.contains(word), "'{word}' is not in:\n{}", self.stderr);
        }
        self.stderr
    }
}

/// A temporary directory: `tree` holds the files, `tmp` is the command's place for temporary files,
/// `home` its home.
pub struct Tree {
    directory: TempDir,
    pub variables: BTreeMap<&'static str, String>,
}

impl Tree {
    /// Writes the files of a txtar text: `-- name --` starts a file. One that starts with `#!` can
    /// be run.
    pub fn new(txtar: &str) -> Tree {
        let tree = Tree { directory: TempDir::new().unwrap(), variables: BTreeMap::new() };
        for directory in ["tree", "tmp", "home"] {
            fs::create_dir(tree.directory.path().join(directory)).unwrap();
        }
        for (name, text) in split(txtar).1 {
            tree.write(&name, &text);
        }
        tree
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    /// The rows of `plugin list`: source, version and state of each.
    pub fn listed(&self) -> Vec<String> {
        let text = self.run(&["plugin", "list", "-o", "json"]).ok();
        let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
        let cell = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let shown = |row: &serde_json::Value| {
            let version = match cell(row, "version") {
                version if version.is_empty() => cell(row, "constraint"),
                version => format!("v{version}"),
            };
            format!("{} {version} {}", cell(row, "source"), cell(row, "state"))
        };
        rows.as_array().unwrap().iter().map(shown).collect()
    }

    pub fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    pub fn tmp(&self) -> PathBuf {
        self.directory.path().join("tmp")
    }

    /// Writes a file below the tree; `../home/x` lands in the home.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Puts an executable where the configuration `apiVersion: ex.io/v1, kind: <kind>` finds it.
    pub fn plugin(&self, kind: &str, script: &str) {
        self.write(&format!("../home/.config/kustomize/plugin/ex.io/v1/{}/{kind}", kind.to_lowercase()), script);
    }

    pub fn command(&self, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "this is the outside of the command")]
        let mut command = Command::new(program());
        command.args(args).current_dir(self.path()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.home()).env("TMPDIR", self.tmp());
        command.envs(&self.variables);
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        run(&mut self.command(args))
    }

    /// Runs a command line on a terminal, and gives all that the terminal gets. `None` without the
    /// program `script`.
    pub fn run_on_terminal(&self, arguments: &str) -> Option<Run> {
        in_path("script")?;
        let line = format!("{} {arguments}", program());
        #[expect(clippy::disallowed_methods, reason = "the terminal is another program's")]
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(self.path()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.home()).env("TMPDIR", self.tmp());
        command.envs(&self.variables);
        Some(run(&mut command))
    }

    /// `build` with plugins enabled.
    pub fn build(&self, args: &[&str]) -> Run {
        let run = self.run(&[&["build", "--enable-alpha-plugins"], args].concat());
        self.assert_nothing_left();
        run
    }

    /// Nothing may stay behind in the place for temporary files, but the cache of an ordinary user
    /// whose home cannot be written to.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let cache = format!("rustomize-{}", rustix::process::geteuid().as_raw());
        let names = fs::read_dir(self.tmp()).unwrap().map(|e| e.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| *name != *cache).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

pub fn run(command: &mut Command) -> Run {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let shown = |bytes| if is_under_wine() { with_own_paths(&text(bytes)) } else { text(bytes) };
    Run { status: status.code(), stdout: shown(&stdout), stderr: shown(&stderr) }
}

/// Returns true if the program that is tested is one for Windows, as `.ci/windows` says by a
/// variable.
pub fn is_under_wine() -> bool {
    std::env::var_os("RUSTOMIZE_UNDER_WINE").is_some()
}

/// A text of a program under wine with the paths of this machine: `Z:` is its root directory there.
fn with_own_paths(text: &str) -> String {
    let mut parts = text.split("Z:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['\'', '"', '\n', ' ', '`', ',']).unwrap_or(part.len());
        out += &part[..end].replace('\\', "/");
        out += &part[end..];
    }
    out
}

/// Prints that a test, or a part of a test, is skipped, and why. With `RUSTOMIZE_TESTS=all` the
/// test fails instead: a machine that sets the variable promises everything that the tests need.
/// `RUSTOMIZE_TESTS='all but go_examples shells'` leaves out the tests of those two files.
#[track_caller]
pub fn skip(why: &str) {
    let promised = std::env::var_os("RUSTOMIZE_TESTS").and_then(|value| value.into_string().ok()).unwrap_or_default();
    let here = Path::new(std::panic::Location::caller().file()).file_stem().unwrap_or_default();
    let is_promised = match promised.strip_prefix("all but ") {
        Some(but) => but.split(' ').all(|name| *name != *here),
        None => promised == "all",
    };
    assert!(!is_promised, "RUSTOMIZE_TESTS={promised}, and this test is skipped: {why}");
    println!("skipped: {why}");
}

/// Runs git in a directory, with a neutral user and without the machine's configuration.
#[track_caller]
pub fn git(directory: &Path, args: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "repositories that are cloned are made with git itself")]
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The head of a txtar text and its files.
pub fn split(txtar: &str) -> (String, Vec<(String, String)>) {
    let mut head = String::new();
    let mut files: Vec<(String, String)> = Vec::new();
    for line in txtar.split_inclusive('\n') {
        let name = line.trim_end().strip_prefix("-- ").and_then(|l| l.strip_suffix(" --"));
        match (name, files.last_mut()) {
            (Some(name), _) => files.push((name.to_owned(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => head.push_str(line),
        }
    }
    (head, files)
}

/// The folders of the crates in the workspace, but for the one at the top.
pub fn members() -> Vec<String> {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let list = manifest.split_once("\nmembers = [").unwrap().1.split(']').next().unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// All files below a directory with an ending, sorted.
pub fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut queue = vec![directory.to_owned()];
    while let Some(directory) = queue.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                queue.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A program in PATH.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}
