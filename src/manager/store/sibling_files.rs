//! The files beside an installed plugin: its sum, where it came from, whether it is complete.

use crate::id::name::{SUM_SUFFIX, TREE_SUM_SUFFIX};
use std::path::{Path, PathBuf};

/// The path of the file with a plugin's sum.
pub fn sum_file(plugin: &Path) -> PathBuf {
    sum_name(plugin, suffix_of_sum(plugin.is_dir()))
}

/// The end of the name of the file with a plugin's sum.
pub fn suffix_of_sum(is_directory: bool) -> &'static str {
    if is_directory { TREE_SUM_SUFFIX } else { SUM_SUFFIX }
}

/// A path with something behind its name.
pub fn sum_name(plugin: &Path, suffix: &str) -> PathBuf {
    let mut name = plugin.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The path that says that a plugin is not complete: written before anything else, removed last.
pub fn partial(binary: &Path) -> PathBuf {
    let mut name = binary.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}
