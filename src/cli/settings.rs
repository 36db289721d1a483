//! [`Found`]: what the files `rustomize.yaml` say for a root.

use super::managed;
use crate::compat::Compat;
use crate::diag::{Result, Warning};
use crate::lint::settings::{FILE, Settings};
use crate::manager::policy::project_directory::ProjectDirectory;
use crate::manager::resolve::project::upwards_with;
use std::path::{Path, PathBuf};

/// The `rustomize.yaml` of a root's directory and of those above it, up to the top of the
/// repository.
#[derive(Debug, Default)]
pub struct Found(Vec<Settings>);

impl Found {
    /// Reads the files for a root. A root that is not a directory of this machine has none.
    ///
    /// # Errors
    /// A file cannot be read, is not valid, or is above the root and belongs to another user.
    pub fn above(root: &str) -> Result<Found> {
        let Ok(root) = Path::new(root).canonicalize() else { return Ok(Found::default()) };
        let directories = upwards_with(&[FILE], &root, None, &managed::safe_directories());
        let read = |directory: ProjectDirectory| {
            let text = directory.read(FILE)?;
            text.map(|text| Settings::parse(&directory.path, text)).transpose()
        };
        Ok(Found(directories.into_iter().filter_map(|directory| read(directory).transpose()).collect::<Result<_>>()?))
    }

    /// The version of kustomize that the nearest file names, of those that name one.
    pub fn compat(&self) -> Option<Compat> {
        self.0.iter().find_map(|settings| settings.compat)
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
