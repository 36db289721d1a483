//! Changes of files of several directories: shown, and then written.

use crate::line_diff;
use crate::messages::Messages;
use crate::writer::{self, Shown};
use anyhow::Result;
use rustomize_edit::Change;
use rustomize_edit::batch::Batch;
use rustomize_engine::load::clean;
use serde_json::{Value, json};

/// The form in which changes are shown.
#[derive(Clone, Copy)]
pub(super) struct Showing {
    /// True to show the changed lines, and to write nothing.
    pub is_dry: bool,
    pub is_json: bool,
}

/// The name of a file below a directory, as the user names the directory.
pub(super) fn below(directory: &str, file: &str) -> String {
    if file.starts_with('/') || file.contains("://") {
        return file.to_owned();
    }
    clean(&format!("{directory}/{file}"))
}

/// A change for programs.
pub(super) fn value(change: &Change) -> Value {
    json!({"file": change.name, "diff": line_diff::print(change, false)})
}

/// Prints the changed lines of files to stdout.
///
/// # Errors
/// stdout is closed.
pub(super) fn show_lines<'c>(changes: impl Iterator<Item = &'c Change>, messages: &Messages) -> Result<()> {
    let is_colored = messages.colors_stdout();
    let text: String = changes.map(|change| line_diff::print(change, is_colored)).collect();
    Ok(writer::print(&if is_colored { Shown::colored(&text) } else { Shown::values(&text) })?)
}

/// Writes the changes of a batch unless they are only shown. `summary` has the other members of the
/// value for programs.
///
/// # Errors
/// A file cannot be written, or stdout is closed. No file has changed then.
pub(super) fn finish(batch: Batch, showing: Showing, mut summary: Value, messages: &Messages) -> Result<()> {
    if showing.is_json {
        summary["written"] = Value::Bool(!showing.is_dry);
        summary["changes"] = batch.changes().map(value).collect();
    }
    let names: Vec<String> = batch.changes().map(|change| change.name.clone()).collect();
    if showing.is_dry {
        if !showing.is_json {
            show_lines(batch.changes(), messages)?;
        }
    } else {
        batch.write()?;
        if !showing.is_json {
            let lines = names.iter().map(|name| format!("changed {}\n", Shown::item(name)));
            writer::data(lines)?;
        }
    }
    if showing.is_json {
        writer::print_json(summary)?;
    }
    Ok(())
}
