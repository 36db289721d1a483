//! [`Place`]: where a user wants a file to be written.

use super::{Directory, Facts, Kind, Staged, is_link};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The place that a user has named for an output file.
///
/// A path that is relative, or below the working directory, may lead through a tree of somebody
/// else, such as a cloned repository: no link after the last `..` is followed, neither in place of
/// a directory nor in place of the file. Any other path names a place of this machine, such as
/// `/dev/stdout`: its links are followed.
#[derive(Debug)]
pub struct Place {
    directory: Directory,
    name: PathBuf,
    /// The path as the user named it, or the path that its links lead to if they are followed.
    path: PathBuf,
    /// True if the links of the path are followed.
    follows_links: bool,
}

impl Place {
    /// The place at a path, in a directory that exists.
    ///
    /// # Errors
    /// The directory cannot be opened, or a link is in the way.
    pub fn of(path: &Path) -> io::Result<Place> {
        Place::in_directory(path, |base, below| base.below(below))
    }

    /// The place at a path. Directories that do not exist are made.
    ///
    /// # Errors
    /// A directory cannot be made or opened, or a link is in the way.
    pub fn made(path: &Path) -> io::Result<Place> {
        Place::in_directory(path, |base, below| base.make(below, 0o777))
    }

    fn in_directory(path: &Path, open: impl Fn(&Directory, &Path) -> io::Result<Directory>) -> io::Result<Place> {
        let no_name = || io::Error::new(io::ErrorKind::InvalidInput, format!("'{}' names no file", path.display()));
        let parts = split(path);
        let follows_links = parts.is_none();
        let (base, below) = match parts {
            Some(parts) => parts,
            None => {
                // A link such as /dev/stdout can lead to a pipe, which has no path.
                let real = dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
                let (folder, name) = (real.parent().ok_or_else(no_name)?, real.file_name().ok_or_else(no_name)?);
                // Directories that do not exist are made below the last one that exists.
                let known = folder.ancestors().find(|above| above.is_dir()).unwrap_or(folder);
                let rest = folder.strip_prefix(known).unwrap_or(Path::new(""));
                (known.to_owned(), rest.join(name))
            }
        };
        let name = PathBuf::from(below.file_name().ok_or_else(no_name)?);
        let base = Directory::open(&base)?;
        let folder = below.parent().unwrap_or(Path::new(""));
        let directory = if folder.as_os_str().is_empty() { base } else { open(&base, folder)? };
        let path = directory.path().join(&name);
        Ok(Place { directory, name, path, follows_links })
    }

    /// The facts of the file at the place; `None` if the place is empty.
    ///
    /// # Errors
    /// The entry is a link, or its facts cannot be read.
    pub fn facts(&self) -> io::Result<Option<Facts>> {
        if self.follows_links && fs::metadata(&self.path).is_ok_and(|of| !of.is_file() && !of.is_dir()) {
            let kind = Kind::Other;
            return Ok(Some(Facts { kind, size: 0, mode: 0, owner: 0, group: 0, identity: (0, 0), changed: None }));
        }
        match self.directory.facts(&self.name) {
            Ok(facts) if facts.kind == Kind::Link => Err(is_link(self.path.clone())),
            Ok(facts) => Ok(Some(facts)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// A new file beside the place, which [`Place::put`] renames.
    ///
    /// # Errors
    /// The file cannot be made in the directory of the place.
    pub fn stage(&self) -> io::Result<Staged> {
        Staged::new_in(&self.directory)
    }

    /// Renames a file to the place. A file there is replaced.
    ///
    /// # Errors
    /// As [`Staged::put`].
    pub fn put(&self, staged: Staged, mode: u32) -> io::Result<()> {
        staged.put(&self.directory, &self.name, mode)
    }

    /// The directory of the place.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Opens a pipe or a device at the place for writing: no file can take its place.
    ///
    /// # Errors
    /// The pipe or the device cannot be opened.
    pub fn open_other(&self) -> io::Result<File> {
        fs::OpenOptions::new().write(true).open(&self.path)
    }
}

/// The directory of a path in which no link is followed, and the path below it; `None` for a path
/// in which links are followed.
fn split(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let named = parts.iter().rposition(|part| *part == Component::ParentDir).map_or(0, |i| i + 1);
    let below: PathBuf = parts[named..].iter().filter(|part| **part != Component::CurDir).collect();
    if path.is_relative() {
        let above = parts[..named].iter().copied().filter(|part| *part != Component::CurDir);
        let base = std::iter::once(Component::CurDir).chain(above).collect();
        return Some((base, below));
    }
    let base: PathBuf = parts[..named].iter().collect();
    let whole = if named == 0 { below } else { dunce::canonicalize(base).ok()?.join(below) };
    let here = dunce::canonicalize(".").ok()?;
    let below = whole.strip_prefix(&here).ok().filter(|below| !below.as_os_str().is_empty())?;
    here.parent().is_some().then(|| (here.clone(), below.to_owned()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Place, split};
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn links_are_followed_only_outside_of_trees() {
        let shown = |path: &str| split(Path::new(path)).map(|(base, below)| format!("{base:?} {below:?}"));
        assert_eq!(shown("out/x.yaml").unwrap(), r#""." "out/x.yaml""#);
        assert_eq!(shown("./a/../../b/./c").unwrap(), r#""./a/../.." "b/c""#);
        assert_eq!(shown("/dev/null"), None);
        let here = Path::new(".").canonicalize().unwrap();
        assert_eq!(split(&here.join("a/b")), Some((here.clone(), "a/b".into())));
        assert_eq!(split(&here.join("../b")), None);
        let around = here.join("..").join(here.file_name().unwrap());
        assert_eq!(split(&around.join("b")), Some((here.clone(), "b".into())));
    }

    #[test]
    fn a_link_that_a_user_names_elsewhere_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::fs::write(folder.path().join("real/file"), "old").unwrap();
        symlink("real", folder.path().join("dir")).unwrap();
        symlink("real/file", folder.path().join("link")).unwrap();
        for name in ["dir/file", "link", "dir/new/file"] {
            let place = Place::made(&folder.path().join(name)).unwrap();
            let mut staged = place.stage().unwrap();
            staged.write_all(name.as_bytes()).unwrap();
            place.put(staged, 0o644).unwrap();
        }
        assert_eq!(std::fs::read(folder.path().join("real/file")).unwrap(), b"link");
        assert_eq!(std::fs::read(folder.path().join("real/new/file")).unwrap(), b"dir/new/file");
    }
}
