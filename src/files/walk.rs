//! A walk over all entries below a directory.

use super::{Directory, Kind, shown};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The largest depth of a tree that is walked; each level keeps a descriptor open.
const LEVELS: usize = 128;

/// An entry that a walk finds.
#[derive(Debug)]
pub struct Member<'d> {
    /// The directory that holds the entry.
    pub directory: &'d Directory,
    /// The name of the entry there.
    pub name: OsString,
    /// The path of the entry below the directory where the walk began.
    pub path: PathBuf,
    pub kind: Kind,
}

impl Directory {
    /// Visits all entries below the directory, sorted by name in each directory, a directory before
    /// its content. No link is followed. `visit` returns whether the content of an entry that is a
    /// directory is visited. O(entries), with sorting.
    ///
    /// # Errors
    /// A directory cannot be read, is too deep, or `visit` fails.
    pub fn walk(&self, visit: &mut dyn FnMut(&Member<'_>) -> io::Result<bool>) -> io::Result<()> {
        self.walk_below(Path::new(""), 0, visit)
    }

    fn walk_below(
        &self,
        above: &Path,
        depth: usize,
        visit: &mut dyn FnMut(&Member<'_>) -> io::Result<bool>,
    ) -> io::Result<()> {
        if depth == LEVELS {
            let message = format!("'{}' is deeper than {LEVELS} directories", shown(above.as_os_str()));
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        for (name, kind) in self.entries()? {
            let member = Member { directory: self, path: above.join(&name), name, kind };
            if visit(&member)? && kind == Kind::Directory {
                self.below(Path::new(&member.name))?.walk_below(&member.path, depth + 1, visit)?;
            }
        }
        Ok(())
    }
}
