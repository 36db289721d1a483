//! [`SearchPath`]: the directories in which programs are looked for.

use crate::host::Host;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The absolute directories of the variable `PATH`, in its order. Others begin at the working
/// directory, which may be a tree, or a clone, with a program of somebody else: Go, and so
/// upstream, refuses such a program, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// The directories of a host.
    pub fn of(host: &dyn Host) -> SearchPath {
        host.variable("PATH").map_or_else(SearchPath::default, |value| SearchPath::from(&*value))
    }

    /// The first path of a program that `is_right` accepts. On Windows its name may lack `.exe`,
    /// and `python3` may be `python.exe`, as its makers name it there.
    pub fn find(&self, name: impl AsRef<Path>, is_right: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let names = names_on(cfg!(windows), name.as_ref());
        let paths = self.0.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        paths.into_iter().find(|path| is_right(path))
    }

    /// The value of the variable; empty if the directories cannot be in one.
    pub fn value(&self) -> OsString {
        std::env::join_paths(&self.0).unwrap_or_default()
    }
}

/// The names that the file of a program may have.
fn names_on(windows: bool, name: &Path) -> Vec<PathBuf> {
    let mut names = vec![name.to_owned()];
    if windows && name.extension().is_none_or(|end| !end.eq_ignore_ascii_case("exe")) {
        names.push(name.with_added_extension("exe"));
    }
    if windows && name == Path::new("python3") {
        names.push("python.exe".into());
    }
    names
}

impl From<&OsStr> for SearchPath {
    /// The directories of a value of the variable.
    fn from(value: &OsStr) -> SearchPath {
        SearchPath(std::env::split_paths(value).filter(|folder| folder.is_absolute()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{SearchPath, names_on};
    use crate::host::FixedHost;
    use std::path::{Path, PathBuf};

    #[test]
    fn the_first_directory_with_the_program_counts() {
        let variables = [("PATH".to_owned(), "bin::/a:.:/b".into())].into();
        let path = SearchPath::of(&FixedHost { variables, ..FixedHost::default() });
        assert_eq!(path.find("app", |_| true).as_deref(), Some(Path::new("/a/app")));
        assert_eq!(path.find("app", |path| path.starts_with("/b")).as_deref(), Some(Path::new("/b/app")));
        assert_eq!(path.value(), "/a:/b");
    }

    #[test]
    fn programs_of_windows_end_in_exe() {
        let names = |windows, name: &str| names_on(windows, Path::new(name));
        let paths = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
        assert_eq!(names(false, "python3"), paths(&["python3"]));
        assert_eq!(names(true, "git"), paths(&["git", "git.exe"]));
        assert_eq!(names(true, "git.EXE"), paths(&["git.EXE"]));
        assert_eq!(names(true, "python3"), paths(&["python3", "python3.exe", "python.exe"]));
        assert_eq!(names(true, "python3.11"), paths(&["python3.11", "python3.11.exe"]));
    }
}
