//! [`Report`]: the results of a command, for people and for programs.

use crate::writer::{self, Shown};
use anyhow::Result;
use serde_json::Value;
use std::path::Path;

/// A path as a value of JSON, whose texts are UTF-8: other bytes of a path are replaced, as where
/// people read it.
pub(super) fn path_value(path: &Path) -> Value {
    Value::from(path.to_string_lossy())
}

/// For people a line for each result, for programs a JSON array with an object for each.
#[derive(Default)]
pub(super) struct Report {
    lines: Vec<String>,
    values: Vec<Value>,
}

impl Report {
    /// Adds a result.
    pub(super) fn add(&mut self, line: String, value: Value) {
        self.lines.push(line);
        self.values.push(value);
    }

    /// Adds a line that explains the lines after it.
    pub(super) fn head(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Prints the report to stdout.
    ///
    /// # Errors
    /// stdout is closed.
    pub(super) fn print(&self, is_json: bool) -> Result<()> {
        if is_json {
            return Ok(writer::print_json(Value::Array(self.values.clone()))?);
        }
        let lines = self.lines.iter().map(|line| format!("{}\n", Shown::item(line)));
        Ok(writer::data(lines)?)
    }
}
