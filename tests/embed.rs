//! The packages for JavaScript and Python: their own tests, and packages that are installed as users
//! install them. `bindings/js/pack` makes what the tests of JavaScript need.

use crate::docs::{Shell, walk_in};
use crate::support::{Tree, in_path, program, run, skip};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn bindings(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings").join(name)
}

/// Returns true if there are a core and Node to run it.
fn has_core() -> bool {
    bindings("js/core.wasm").exists() && in_path("node").is_some()
}

#[expect(clippy::disallowed_methods, reason = "other languages call the packages")]
fn command(program: &str) -> Command {
    Command::new(program)
}

#[test]
fn the_package_for_javascript_passes_its_tests() {
    if !has_core() {
        return skip("there is no bindings/js/core.wasm, which bindings/js/pack makes, or no node");
    }
    run(command("node").arg("--test").current_dir(bindings("js"))).ok();
}

#[test]
fn the_package_for_python_passes_its_tests() {
    let Some(python) = in_path("python3") else { return skip("there is no python3") };
    let mut tests = command(python.to_str().unwrap());
    tests.args(["-m", "unittest", "tests/test_rustomize.py"]).current_dir(bindings("python"));
    run(tests.env("RUSTOMIZE", program()).env("PYTHONDONTWRITEBYTECODE", "1")).ok();
}

#[test]
fn the_page_about_javascript_runs_word_for_word() {
    if !has_core() || !Path::new("/usr/bin/node").exists() {
        return skip("the page needs bindings/js/core.wasm, which bindings/js/pack makes, and node in /usr/bin");
    }
    let shell = Shell::new();
    std::fs::create_dir(shell.directory.join("node_modules")).unwrap();
    symlink(bindings("js"), shell.directory.join("node_modules/rustomize")).unwrap();
    walk_in("docs/embed/javascript.md", shell);
}

/// The files of a program in JavaScript or Python that builds a tree.
const USERS: &str = "\
-- build.mjs --
import {build} from 'rustomize';
const files = {'kustomization.yaml': 'resources: [a.yaml]\\n', 'a.yaml': 'apiVersion: v1\\nkind: A\\nmetadata: {name: a}\\n'};
process.stdout.write((await build(files)).yaml);
-- build.py --
import rustomize
files = {'kustomization.yaml': 'resources: [a.yaml]\\n', 'a.yaml': 'apiVersion: v1\\nkind: A\\nmetadata: {name: a}\\n'}
print(rustomize.build(files), end='')
";

const BUILT: &str = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n";

#[test]
fn the_packed_package_for_javascript_installs_and_runs() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/embed")
        .join(format!("rustomize-{}.tgz", env!("CARGO_PKG_VERSION")));
    if !package.exists() || in_path("npm").is_none() {
        return skip("there is no package in target/embed, which bindings/js/pack makes, or no npm");
    }
    let tree = Tree::new(USERS);
    let mut install = command("npm");
    install.args(["install", "--offline", "--no-audit", "--no-fund"]).arg(&package).current_dir(tree.path());
    run(install.env("HOME", tree.home())).ok();
    assert_eq!(run(command("node").arg("build.mjs").current_dir(tree.path())).ok(), BUILT);
}

#[test]
fn the_wheel_installs_and_runs() {
    let Some(python) = in_path("python3") else { return skip("there is no python3") };
    let tree = Tree::new(USERS);
    let python = |args: &[&str]| {
        let mut command = command(python.to_str().unwrap());
        command.args(args).current_dir(tree.path());
        command
    };
    if run(&mut python(&["-m", "venv", "env"])).status != Some(0) {
        return skip("python3 has no venv with pip");
    }
    // Debug information would make the wheel ten times as large.
    let programs = tree.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    let stripped = in_path("strip").map(|strip| {
        run(command(strip.to_str().unwrap()).arg("-o").arg(programs.join("rustomize")).arg(program())).status
    });
    if stripped != Some(Some(0)) {
        std::fs::copy(program(), programs.join("rustomize")).unwrap();
    }
    let script = bindings("python/wheel");
    let platform = format!("linux_{}", std::env::consts::ARCH);
    let made = run(&mut python(&[script.to_str().unwrap(), "programs", &platform, "."])).ok();
    let name = made.trim();
    let inside = tree.path().join("env/bin");
    run(command(inside.join("pip").to_str().unwrap())
        .args(["install", "--quiet", "--no-index", name])
        .current_dir(tree.path()))
    .ok();
    assert_eq!(
        run(command(inside.join("python").to_str().unwrap()).arg("build.py").current_dir(tree.path())).ok(),
        BUILT
    );
    let version = run(command(inside.join("rustomize").to_str().unwrap()).arg("version")).ok();
    assert!(version.contains("5.8.3"), "{version}");
}
