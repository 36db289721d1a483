//! Go plugins, built by the Go of this machine from unchanged source.

use super::{Run, Tree, skip};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The plugins of testdata/go, each built once for all tests, in the layout of a plugin home.
///
/// They are in target: a value that all tests share is never dropped, so nothing would remove a
/// temporary directory.
pub struct Home {
    pub directory: PathBuf,
    /// What `plugin build` said.
    pub said: String,
}

/// Runs Go, and gives what it printed; `None` if it failed.
#[expect(clippy::disallowed_methods, reason = "a real Go")]
pub fn go(directory: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("go").args(args).current_dir(directory).env("GOWORK", "off").output().ok()?;
    if !output.status.success() {
        println!("go {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Where this machine's Go keeps what it has fetched and built: tests have homes of their own.
pub fn variables() -> BTreeMap<&'static str, String> {
    let names = ["GOCACHE", "GOMODCACHE", "GOPATH"];
    let values = go(Path::new("."), &[&["env"], &names[..]].concat()).unwrap();
    names.into_iter().zip(values.lines().map(str::to_owned)).collect()
}

pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/go").join(name)
}

/// Copies a directory with files and one level of directories.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}

/// The command, with the variables of this machine's Go.
pub fn command(tree: &Tree, args: &[&str]) -> Command {
    let mut command = tree.command(args);
    command.envs(variables());
    command
}

/// Returns true if Go plugins can be built here: tried once.
pub fn can_build() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let directory = TempDir::new().unwrap();
        let has_compiler = super::compiler::has_compiler();
        has_compiler
            && go(directory.path(), &["mod", "init", "example.com/probe"]).is_some()
            && go(directory.path(), &["mod", "download", "sigs.k8s.io/kustomize/api@v0.21.1"]).is_some()
    })
}

pub fn home() -> Option<&'static Home> {
    static HOME: OnceLock<Option<Home>> = OnceLock::new();
    let home = HOME.get_or_init(|| {
        if !can_build() {
            return None;
        }
        let tree = Tree::new("");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(concat!("go-plugins-", env!("CARGO_CRATE_NAME")));
        // An earlier run of the tests has built plugins there.
        let _ = fs::remove_dir_all(&directory);
        let mut said = String::new();
        for entry in fs::read_dir(source("")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let place = directory.join("ex.io/v1").join(&name);
            copy(&source(&name), &place);
            let run = super::run(&mut command(&tree, &["plugin", "build", &place.to_string_lossy()]));
            said += &run.ok();
            tree.assert_nothing_left();
        }
        Some(Home { directory, said })
    });
    if home.is_none() {
        skip("no Go, no C compiler, or no way to sigs.k8s.io/kustomize/api");
    }
    home.as_ref()
}

/// Builds the plugin in a directory to a file in the tree's home, leaving the directory alone;
/// `None` where there is no Go.
pub fn build_plugin(tree: &Tree, directory: &Path) -> Option<PathBuf> {
    if !can_build() {
        skip("no Go, no C compiler, or no way to sigs.k8s.io/kustomize/api");
        return None;
    }
    let output = tree.home().join("built.so");
    let args = ["plugin", "build", &directory.to_string_lossy(), "--output", &output.to_string_lossy()];
    super::run(&mut command(tree, &args)).ok();
    Some(output)
}

/// Builds a tree with the plugins; `None` where there is no Go.
pub fn build(txtar: &str, args: &[&str]) -> Option<Run> {
    let home = home()?;
    let mut tree = Tree::new(txtar);
    tree.variables.insert("KUSTOMIZE_PLUGIN_HOME", home.directory.to_string_lossy().into_owned());
    Some(tree.build(args))
}
