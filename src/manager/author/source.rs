//! [`find`]: the plugin in the directory in which its author works.

use super::manifest::Manifest;
use crate::diag::{Code, Error};
use rustomize_base::shell::quoted;
use std::path::{Path, PathBuf};

/// A plugin on the disk of its author.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// A directory with `plugin.yaml`.
    Directory(PathBuf),
    /// An executable, which describes itself.
    Executable(PathBuf),
}

/// Finds the plugin at a path, which is an executable, a directory with `plugin.yaml`, or a
/// directory that [`scaffold`](super::scaffold) has written: there the plugin is in `plugin` or
/// `bundle`, or it is the one file in `bin`. Returns `None` if there is none.
pub fn find(path: &Path) -> Option<Found> {
    if path.is_file() {
        return Some(Found::Executable(path.to_owned()));
    }
    let places = [path.to_owned(), path.join("plugin"), path.join("bundle")];
    let directory = places.into_iter().find(|place| Manifest::is_in(place));
    directory.map(Found::Directory).or_else(|| only_file(&path.join("bin")).map(Found::Executable))
}

/// The error about a path where [`find`] finds nothing. `also` is another way to name a plugin.
pub fn missing(path: &Path, also: &str) -> Error {
    let message = match path.exists() {
        true => format!("'{}' is not a plugin: it has no plugin.yaml and no executable in 'bin'", path.display()),
        false => format!("'{}': no such file or directory", path.display()),
    };
    let test = path.join("test.sh");
    let hint = match test.is_file() {
        true => format!("build it first: {}", quoted(&test.display().to_string())),
        false => format!("name the directory of a plugin.yaml, an executable{also}"),
    };
    Error::new(Code::Usage, message).hint(hint)
}

/// The file of a directory that has one file. Hidden files and links do not count: a link may lead
/// to a file of somebody else.
fn only_file(directory: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(directory).ok()?.filter_map(Result::ok);
    let is_hidden = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    let files = entries.filter(|entry| !is_hidden(entry) && entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut files = files.map(|entry| entry.path());
    let first = files.next();
    first.filter(|_| files.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::{Found, find};

    #[test]
    fn a_plugin_is_found_where_a_new_one_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str| {
            std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            std::fs::write(path(name), "").unwrap();
            path(name)
        };
        assert_eq!(find(&path("none")), None);
        let program = write("rust/bin/label");
        write("rust/bin/.crates.toml");
        assert_eq!(find(&path("rust")), Some(Found::Executable(program.clone())));
        assert_eq!(find(&program), Some(Found::Executable(program.clone())));
        std::fs::rename(&program, path("rust/label")).unwrap();
        std::os::unix::fs::symlink(path("rust/label"), &program).unwrap();
        assert_eq!(find(&path("rust")), None, "a link");
        std::fs::rename(path("rust/label"), &program).unwrap();
        write("rust/bin/other");
        assert_eq!(find(&path("rust")), None, "two programs");
        write("rust/bundle/plugin.yaml");
        assert_eq!(find(&path("rust")), Some(Found::Directory(path("rust/bundle"))));
        write("rust/plugin/plugin.yaml");
        assert_eq!(find(&path("rust")), Some(Found::Directory(path("rust/plugin"))));
        write("rust/plugin.yaml");
        assert_eq!(find(&path("rust")), Some(Found::Directory(path("rust"))));
    }
}
