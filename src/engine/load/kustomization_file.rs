//! The file that makes a directory a kustomization.

use super::Loader;
use std::path::{Path, PathBuf};

/// The names a kustomization file may have.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The name of the kustomization file that a path leads to; `None` for the path of another file.
pub fn name_of(path: &Path) -> Option<&'static str> {
    FILE_NAMES.into_iter().find(|name| path.ends_with(name))
}

/// Returns true for the path of a kustomization file.
pub fn is_one(path: &Path) -> bool {
    name_of(path).is_some()
}

/// The name of the kustomization file in a directory; `None` for a directory without one. A build
/// refuses a directory with several; this is the first.
pub fn name_in(loader: &dyn Loader, directory: &Path) -> Option<&'static str> {
    FILE_NAMES.into_iter().find(|name| loader.open(&directory.join(name)).is_ok())
}

/// The path of the kustomization file in a directory, without links; `None` for a directory without
/// one.
pub fn place_in(loader: &dyn Loader, directory: &Path) -> Option<PathBuf> {
    FILE_NAMES.into_iter().find_map(|name| loader.open(&directory.join(name)).ok()).map(|opened| opened.place)
}
