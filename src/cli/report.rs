//! [`Report`]: what a command has found or done, for people and for programs.

use crate::cli::writer::{self, Shown};
use anyhow::Result;
use serde_json::Value;

/// For people a line for each thing, for programs a JSON array with an object for each.
#[derive(Default)]
pub struct Report {
    lines: Vec<String>,
    values: Vec<Value>,
}

impl Report {
    /// One thing more.
    pub fn add(&mut self, line: String, value: Value) {
        self.lines.push(line);
        self.values.push(value);
    }

    /// A line that says how to read the next ones.
    pub fn head(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Prints it to stdout.
    ///
    /// # Errors
    /// It cannot be printed.
    pub fn print(&self, is_json: bool) -> Result<()> {
        if is_json {
            return Ok(writer::print_json(Value::Array(self.values.clone()))?);
        }
        let lines = self.lines.iter().map(|line| format!("{}\n", Shown::item(line)));
        Ok(writer::data(lines)?)
    }
}
