//! [`SearchPath`]: the directories in which programs are looked for.

use crate::host::Host;
use std::env::consts::EXE_EXTENSION;
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

    /// The first path of a program that `is_right` accepts. On Windows its name may lack `.exe`.
    pub fn find(&self, name: impl AsRef<Path>, is_right: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let name = name.as_ref();
        let of_system = name.with_added_extension(EXE_EXTENSION);
        let has_end = EXE_EXTENSION.is_empty() || name.extension().is_some_and(|end| end == EXE_EXTENSION);
        let names = [Some(name), Some(&*of_system).filter(|_| !has_end)];
        let paths = self.0.iter().flat_map(|folder| names.into_iter().flatten().map(|name| folder.join(name)));
        paths.into_iter().find(|path| is_right(path))
    }

    /// The value of the variable; empty if the directories cannot be in one.
    pub fn value(&self) -> OsString {
        std::env::join_paths(&self.0).unwrap_or_default()
    }
}

impl From<&OsStr> for SearchPath {
    /// The directories of a value of the variable.
    fn from(value: &OsStr) -> SearchPath {
        SearchPath(std::env::split_paths(value).filter(|folder| folder.is_absolute()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::SearchPath;
    use crate::host::FixedHost;
    use std::path::Path;

    #[test]
    fn the_first_directory_with_the_program_counts() {
        let variables = [("PATH".to_owned(), "bin::/a:.:/b".into())].into();
        let path = SearchPath::of(&FixedHost { variables, ..FixedHost::default() });
        assert_eq!(path.find("app", |_| true).as_deref(), Some(Path::new("/a/app")));
        assert_eq!(path.find("app", |path| path.starts_with("/b")).as_deref(), Some(Path::new("/b/app")));
        assert_eq!(path.value(), "/a:/b");
    }
}
