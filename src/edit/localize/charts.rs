//! Directories of charts: each is copied as it is, except for the links in it.

use super::copy::{At, Copier};
use super::names;
use crate::diag::{Code, Error, Result};
use crate::load::clean;
use crate::load::path::is_absolute;

/// The directory of charts if a file does not name one.
const DEFAULT: &str = "charts";

impl Copier<'_, '_> {
    /// Copies the directory of charts that a field names, and returns its path in the copy. An
    /// empty field means the default directory, and stays empty. The path of a directory that does
    /// not exist is kept: helm makes the directory.
    ///
    /// # Errors
    /// The path is absolute, or the directory is out of bounds or cannot be copied.
    pub(super) fn charts(&mut self, at: &At<'_>, entry: &str) -> Result<String> {
        if is_absolute(entry) {
            return Err(Error::new(Code::OutsideRoot, format!("absolute path \"{entry}\" not handled in alpha")));
        }
        let path = clean(if entry.is_empty() { DEFAULT } else { entry });
        let copied = self.charts_at(at, &path);
        let copied = copied.map_err(|e| e.prefixed(&format!("unable to copy home \"{entry}\": ")))?;
        Ok(if entry.is_empty() { String::new() } else { copied })
    }

    fn charts_at(&mut self, at: &At<'_>, path: &str) -> Result<String> {
        if !at.root.real.join(path).exists() {
            return Ok(path.to_owned());
        }
        let home = self.base(at, path).map_err(|e| e.prefixed("invalid chart home: "))?;
        // The default directory is found by its name, wherever it leads.
        let place = if path == DEFAULT { path.to_owned() } else { names::relative(&at.root.real, &home.real)? };
        if !self.tree.has(&at.to, &place)? {
            self.tree.copy(&home.real, &at.to, &place)?;
        }
        Ok(place)
    }
}
