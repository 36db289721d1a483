//! The source and constraint that a user types, as in `host/owner/name@1.2`.

use anyhow::{Result, anyhow};
use rustomize_manager::id::source::{Source, SourceError};
use rustomize_manager::id::version::Constraint;

/// Splits `host/owner/name@1.2` into source and constraint; the constraint is empty if the text has
/// none. An `@` before the first slash does not count.
pub(crate) fn halves(what: &str) -> (&str, &str) {
    let start = what.find('/').unwrap_or(0);
    match what[start..].find('@') {
        Some(at) => (&what[..start + at], &what[start + at + 1..]),
        None => (what, ""),
    }
}

/// Reads a source.
///
/// # Errors
/// The text is not a valid source.
pub(crate) fn parse(source: &str) -> Result<Source> {
    source.parse().map_err(|e: SourceError| {
        let hint = e.hint().map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
        anyhow!("the source '{source}' {e}{hint}")
    })
}

/// Reads a constraint; an empty text allows every version.
///
/// # Errors
/// The text is not a valid constraint.
pub(crate) fn constraint_of(text: &str) -> Result<Constraint> {
    Ok(if text.is_empty() { Constraint::default() } else { text.parse()? })
}
