//! [`Allowed`]: the findings that `rustomize.yaml` allows for a root.

use super::managed;
use crate::diag::{Result, Warning};
use crate::lint::settings::{FILE, Settings};
use crate::manager::policy::project_directory::ProjectDirectory;
use crate::manager::resolve::project::upwards_with;
use std::path::{Path, PathBuf};

/// The `rustomize.yaml` of a root's directory and of those above it, up to the top of the
/// repository.
#[derive(Debug, Default)]
pub struct Allowed(Vec<Settings>);

impl Allowed {
    /// Reads the files for a root. A root that is not a directory of this machine has none.
    ///
    /// # Errors
    /// A file cannot be read, is not valid, or is above the root and belongs to another user.
    pub fn of(root: &str) -> Result<Allowed> {
        let Ok(root) = Path::new(root).canonicalize() else { return Ok(Allowed::default()) };
        let directories = upwards_with(&[FILE], &root, None, &managed::safe_directories());
        let read = |directory: ProjectDirectory| {
            let text = directory.read(FILE)?;
            text.map(|text| Settings::parse(&directory.path, text)).transpose()
        };
        Ok(Allowed(directories.into_iter().filter_map(|directory| read(directory).transpose()).collect::<Result<_>>()?))
    }

    /// The findings that no file allows.
    pub fn others(&self, mut findings: Vec<Warning>) -> Vec<Warning> {
        if !self.0.is_empty() {
            findings.retain(|finding| {
                let file = finding.place().and_then(|place| real(&place.file));
                !self.0.iter().any(|settings| settings.allows(finding.code(), file.as_deref()))
            });
        }
        findings
    }
}

/// The path of a file, without links in its directory.
pub fn real(file: &str) -> Option<PathBuf> {
    let file = Path::new(file);
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(directory.canonicalize().ok()?.join(file.file_name()?))
}
