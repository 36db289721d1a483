//! `--depfile`: the input files of a result, as a rule of make, for make and ninja.

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// A result, and its input files.
pub(crate) struct Rule {
    pub target: PathBuf,
    /// Absolute paths without links.
    pub files: Vec<PathBuf>,
}

/// Writes rules into a file. A path below the current directory is written relative to it, as make
/// and ninja name their files.
///
/// # Errors
/// The file cannot be written, or a file name has a line break, which a depfile cannot express.
pub(crate) fn write(path: &Path, rules: &[Rule]) -> Result<()> {
    let here = std::env::current_dir().and_then(dunce::canonicalize).unwrap_or_default();
    let mut text = String::new();
    for Rule { target, files } in rules {
        text.push_str(&escaped(target)?);
        text.push(':');
        for file in files {
            text.push_str(" \\\n  ");
            text.push_str(&escaped(file.strip_prefix(&here).unwrap_or(file))?);
        }
        text.push('\n');
    }
    crate::output::write_text(&text, path)
}

/// A path with the escapes of make.
fn escaped(path: &Path) -> Result<String> {
    let Some(text) = path.to_str().filter(|text| !text.contains(['\n', '\r'])) else {
        bail!("a depfile cannot hold the file name {path:?}: it is not UTF-8, or has a line break");
    };
    Ok(text.replace('$', "$$").replace('#', "\\#").replace(' ', "\\ "))
}
