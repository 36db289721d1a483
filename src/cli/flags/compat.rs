//! The version of kustomize that a command is for, as a value of `--compat`.

use rustomize_base::compat::{Compat, UnknownVersion};

/// The versions that `--compat` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Versions {
    /// The first of the two versions that `diff` compares.
    pub old: Option<Compat>,
    pub new: Compat,
}

/// Reads a version.
///
/// # Errors
/// The text is not the name of a known version.
pub(crate) fn version(text: &str) -> Result<Versions, String> {
    known(text).map(|new| Versions { old: None, new })
}

/// Reads a version, or two as `OLD..NEW`. A version that is left out is the newest.
///
/// # Errors
/// A text is not the name of a known version.
pub(crate) fn range(text: &str) -> Result<Versions, String> {
    let Some((old, new)) = text.split_once("..") else { return version(text) };
    let version = |text: &str| if text.is_empty() { Ok(Compat::default()) } else { known(text) };
    Ok(Versions { old: Some(version(old)?), new: version(new)? })
}

fn known(text: &str) -> Result<Compat, String> {
    Compat::parse(text).map_err(|e| format!("{e}: the known ones are {}", UnknownVersion::known()))
}
