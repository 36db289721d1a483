//! [`RootSettings`]: the settings in files `rustomize.yaml` for a root.

use crate::machine::machine_without_cache;
use rustomize_base::compat::Compat;
use rustomize_engine::diag::{Result, Warning};
use rustomize_engine::lint::settings::{FILE, Settings};
use rustomize_manager::policy::project_directory::ProjectDirectory;
use rustomize_manager::resolve::project::upwards_with;
use rustomize_sources::reach;
use std::path::{Path, PathBuf};

/// The `rustomize.yaml` of a root's directory and of those above it, up to the top of the
/// repository.
#[derive(Debug, Default)]
pub(super) struct RootSettings(Vec<Settings>);

impl RootSettings {
    /// Reads the files for a root. A root that is not a directory of this machine has none.
    ///
    /// # Errors
    /// A file cannot be read, is not valid, or is above the root and belongs to another user.
    pub(super) fn above(root: &str) -> Result<RootSettings> {
        let settings = |directory: ProjectDirectory| {
            let text = directory.read(FILE)?;
            text.map(|text| Settings::parse(&directory.path, text)).transpose()
        };
        let found = directories(root).into_iter().filter_map(|directory| settings(directory).transpose());
        Ok(RootSettings(found.collect::<Result<_>>()?))
    }

    /// The findings that no file turns off.
    pub(super) fn others(&self, mut findings: Vec<Warning>) -> Vec<Warning> {
        if !self.0.is_empty() {
            findings.retain(|finding| {
                let file = finding.place().and_then(|place| real(&place.file));
                !self.0.iter().any(|settings| settings.allows(finding.code(), file.as_deref()))
            });
        }
        findings
    }
}

/// The version of kustomize in the nearest `rustomize.yaml` of a root that names one.
///
/// # Errors
/// As [`RootSettings::above`], except for errors in the settings of `lint`.
pub(super) fn compat(root: &str) -> Result<Option<Compat>> {
    for directory in directories(root) {
        let named = directory.read(FILE)?.map(|text| Settings::compat(&directory.path, text)).transpose()?;
        if let Some(compat) = named.flatten() {
            return Ok(Some(compat));
        }
    }
    Ok(None)
}

/// The directories with settings for a root: its own and those above it, the nearest first.
fn directories(root: &str) -> Vec<ProjectDirectory> {
    let root = dunce::canonicalize(root);
    let found = root.map_or_else(
        |_| Vec::new(),
        |root| upwards_with(&[FILE], &root, None, &machine_without_cache().safe_directories()),
    );
    found.into_iter().filter(|directory| reach::check(&directory.path).is_ok()).collect()
}

/// The path of a file. Links in its directory are resolved.
pub(super) fn real(file: &str) -> Option<PathBuf> {
    let file = Path::new(file);
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(dunce::canonicalize(directory).ok()?.join(file.file_name()?))
}
