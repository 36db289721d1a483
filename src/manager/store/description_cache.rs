//! The cache of descriptions: the answers of plugins that were asked before, by the sums of their
//! content.

use rustomize_files::{atomic, make_folders};
use std::fs;
use std::path::{Path, PathBuf};

/// The file with the description of a plugin.
pub fn description_file(cache: &Path, sum: &str) -> PathBuf {
    cache.join("describe").join(format!("{sum}.json"))
}

/// The file with the reason why a plugin did not describe itself.
pub fn failure_file(cache: &Path, sum: &str) -> PathBuf {
    cache.join("describe").join(format!("{sum}.failed"))
}

/// Forgets that a plugin did not describe itself: it was installed, and so it has.
pub fn forget_failure(cache: &Path, sum: &str) {
    let _ = fs::remove_file(failure_file(cache, sum));
}

/// Writes an answer in one step.
///
/// # Errors
/// The file cannot be written.
pub fn keep(path: &Path, text: &[u8]) -> std::io::Result<()> {
    make_folders(atomic::folder_of(path))?;
    atomic::write(path, text, 0o600)
}
