//! What the commands of `cfg` read: packages of a directory, or stdin.

use crate::package::read;
use anyhow::{Context, Result};
use std::io::Read;

/// The text on stdin.
///
/// # Errors
/// It cannot be read.
pub fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read stdin")?;
    Ok(text)
}

/// Prints each package of a directory, as kustomize does: with `---` after each one that prints
/// anything, and a line end between two packages.
///
/// # Errors
/// The packages cannot be found, or one cannot be printed.
pub fn packages_in_turn(root: &str, is_deep: bool, mut print: impl FnMut(&str) -> Result<String>) -> Result<String> {
    let mut printed = String::new();
    for (i, package) in read::packages(root, is_deep)?.iter().enumerate() {
        printed.push_str(if i == 0 { "" } else { "\n" });
        let text = print(package)?;
        if !text.is_empty() {
            printed.push_str(&text);
            printed.push_str("---");
        }
    }
    Ok(printed.strip_suffix("---").map(str::to_owned).unwrap_or(printed))
}
