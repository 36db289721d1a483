//! Where the runtimes of plugins have their files: on Windows in other places than elsewhere.

use std::env::consts::EXE_EXTENSION;
use std::path::{Path, PathBuf};

/// The null device, in the letters of Python's `os.devnull`: pip compares them.
pub(crate) const EMPTY: &str = if cfg!(windows) { "nul" } else { "/dev/null" };

/// The interpreter of a virtual environment of Python.
pub(crate) fn python_of(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { r"Scripts\python.exe" } else { "bin/python" })
}

/// The directory in a virtual environment of Python that holds `site-packages`: on Windows itself,
/// elsewhere in a directory for the version of Python.
pub(crate) const PYTHON_LIBRARIES: &str = if cfg!(windows) { "Lib" } else { "lib" };

/// The place of npm's program in the installation that a path of Node's program belongs to; `None`
/// if the path has no directory.
pub(crate) fn npm_of(node: &Path) -> Option<PathBuf> {
    let folder = node.parent()?;
    let modules = if cfg!(windows) { folder.join("node_modules") } else { folder.parent()?.join("lib/node_modules") };
    Some(modules.join("npm").join("bin").join("npm-cli.js"))
}

/// The name of npm's program in PATH, which has to be JavaScript. On Windows the file `npm` is a
/// shell script, so another name is looked for.
pub(crate) const NPM: &str = if cfg!(windows) { "npm-cli.js" } else { "npm" };

/// The program of a plugin in Go, in the directory of what the installation makes.
pub(crate) fn go_program(made: &Path) -> PathBuf {
    made.join("bin").join("plugin").with_extension(EXE_EXTENSION)
}
