//! Where the runtimes of plugins have their files: on Windows in other places than elsewhere.

use std::env::consts::EXE_EXTENSION;
use std::path::{Path, PathBuf};

/// The null device, spelt as `os.devnull`, which pip compares.
pub(crate) const EMPTY: &str = if cfg!(windows) { "nul" } else { "/dev/null" };

/// The interpreter of a virtual environment of Python.
pub(crate) fn python_of(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { r"Scripts\python.exe" } else { "bin/python" })
}

/// The directory in a virtual environment of Python that has `site-packages`, or, outside of
/// Windows, has a directory for the version with it.
pub(crate) const PYTHON_LIBRARIES: &str = if cfg!(windows) { "Lib" } else { "lib" };

/// The program of npm that comes with a program of Node; `None` if that has no directory.
pub(crate) fn npm_of(node: &Path) -> Option<PathBuf> {
    let folder = node.parent()?;
    let modules = if cfg!(windows) { folder.join("node_modules") } else { folder.parent()?.join("lib/node_modules") };
    Some(modules.join("npm").join("bin").join("npm-cli.js"))
}

/// The program of npm in PATH. On Windows only Node's own directory has one in JavaScript: the file
/// `npm` there is a script of sh.
pub(crate) const NPM: &str = if cfg!(windows) { "npm-cli.js" } else { "npm" };

/// The program of a plugin in Go, in the directory of what the installation makes.
pub(crate) fn go_program(made: &Path) -> PathBuf {
    made.join("bin").join("plugin").with_extension(EXE_EXTENSION)
}
