//! The source and constraint that a user types, as in `host/owner/name@1.2`.

use anyhow::{Result, anyhow};
use rustomize_base::shell::quoted;
use rustomize_engine::diag::nearest;
use rustomize_manager::id::name::Platform;
use rustomize_manager::id::source::{Source, SourceError};
use rustomize_manager::id::version::{Constraint, ConstraintError};
use rustomize_manager::policy::requirements::Requirements;
use rustomize_manager::store::discover::all;
use std::collections::BTreeSet;
use std::path::Path;

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
        let hint = meant(source, &e).or_else(|| e.hint()).map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
        anyhow!("the source '{source}' {e}{hint}")
    })
}

/// The advice about a text that is not a source: the source of a repository, a name for a file that
/// is fetched, or the plugin of a similar name.
fn meant(typed: &str, fault: &SourceError) -> Option<String> {
    match fault {
        SourceError::Scheme => {
            let rest = typed.split_once("://").map_or(typed, |(_, rest)| rest);
            let rest = rest.trim_end_matches('/').trim_end_matches(".git");
            let is_archive = [".tar.gz", ".tgz", ".zip", ".yaml"].iter().any(|end| rest.ends_with(end));
            if let Ok(source) = rest.parse::<Source>()
                && !is_archive
            {
                return Some(format!("write it as '{source}'"));
            }
            let file = rest.rsplit('/').next().unwrap_or_default();
            let name = file.strip_prefix("rustomize-plugin-").unwrap_or(file);
            let name = name.split(['_', '.']).next().filter(|name| !name.is_empty()).unwrap_or("app");
            let from = quoted(typed);
            Some(format!(
                "give the plugin a source of your own: rustomize plugin add example.com/you/{name} --from {from}"
            ))
        }
        SourceError::TooShort => {
            let names = Requirements::read(Path::new(".")).ok()?.plugins;
            let near = nearest(typed, names.iter().map(|wanted| wanted.name.as_str()))?;
            Some(format!("did you mean '{near}' of plugins.yaml?"))
        }
        _ => None,
    }
}

/// Reads a source, or the short name of a plugin: that of a `plugins.yaml` in the working
/// directory, or the last part of the source of an installed plugin.
///
/// # Errors
/// The text is neither, or several installed plugins have the name.
pub(crate) fn source_of(typed: &str, root: &Path) -> Result<Source> {
    if typed.contains('/') {
        return parse(typed);
    }
    let required = Requirements::read(Path::new(".")).unwrap_or_default().plugins;
    if let Some(wanted) = required.iter().find(|wanted| wanted.name == typed) {
        return Ok(wanted.source.clone());
    }
    let installed = all(root, &Platform::host()).into_iter().filter_map(|candidate| candidate.source);
    let named: BTreeSet<Source> = installed.filter(|source| source.name() == typed).collect();
    match Vec::from_iter(named).as_slice() {
        [only] => Ok(only.clone()),
        [] => parse(typed),
        several => {
            let several: Vec<String> = several.iter().map(Source::to_string).collect();
            Err(anyhow!("'{typed}' names several plugins\n  hint: name one of them: {}", several.join(", ")))
        }
    }
}

/// Reads a constraint; an empty text allows every version.
///
/// # Errors
/// The text is not a valid constraint.
pub(crate) fn constraint_of(text: &str) -> Result<Constraint> {
    match text {
        "" => Ok(Constraint::default()),
        text => text.parse().map_err(|e: ConstraintError| anyhow!("{e}\n  hint: {}", e.hint())),
    }
}
