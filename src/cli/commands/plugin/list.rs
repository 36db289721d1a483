//! `plugin list`: installed and required plugins.

use crate::flags::format::Printing;
use crate::machine::machine;
use crate::report::{Report, path_value};
use anyhow::Result;
use clap::Args;
use rustomize_manager::resolve::Resolver;
use rustomize_manager::resolve::inputs::Inputs;
use rustomize_manager::resolve::overview::{PluginRow, PluginState};
use rustomize_plugins::PluginOptions;
use serde_json::{Value, json};
use std::path::PathBuf;

/// List installed and required plugins: their state, and what each provides
#[derive(Args)]
#[command(long_about = ABOUT)]
pub(crate) struct List {
    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    #[command(flatten)]
    pub printing: Printing,
}

const ABOUT: &str = "List the installed and the required plugins, with the state of each: installed; present (its installation did not finish); refused (it cannot be \
    used); absent (required and not installed). Each row says what the plugin provides, and which plugins.yaml requires it.";

/// Runs `plugin list`.
///
/// # Errors
/// A `plugins.yaml` or `plugins.lock` cannot be read.
pub(crate) fn run(args: &List, is_json: bool, options: &PluginOptions) -> Result<()> {
    let machine = machine();
    let policy = machine.policy(None)?;
    let inputs = Inputs::of(&machine, &args.directory, machine.environment(None)?.as_ref(), &policy)?;
    let rows = Resolver { inputs: &inputs, policy: &policy, options }.rows()?;
    let mut report = Report::default();
    let cells: Vec<[String; 5]> = rows.iter().map(cells).collect();
    let head = ["NAME", "VERSION", "STATE", "PROVIDES", "REQUIRED BY"].map(str::to_owned);
    let width = |i: usize| cells.iter().chain([&head]).map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let line = |row: &[String; 5]| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
        (padded.collect::<String>() + &row[4]).trim_end().to_owned()
    };
    if !cells.is_empty() {
        report.head(line(&head));
    }
    for (row, cells) in rows.iter().zip(&cells) {
        report.add(line(cells), row_value(row));
        if let PluginState::Present(why) | PluginState::Refused(why) = &row.state {
            report.head(format!("  {why}"));
        }
    }
    report.print(is_json)
}

/// The cells of a row of `plugin list`.
fn cells(row: &PluginRow) -> [String; 5] {
    let path = || row.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let name = row.source.as_ref().map_or_else(path, ToString::to_string);
    let required_by = row.required_by.iter().map(|(file, _)| file.display().to_string());
    let (version, state, provides) = match &row.state {
        PluginState::Installed(details) => (format!("v{}", details.version), "installed", details.summary()),
        PluginState::Present(_) => (String::new(), "present", String::new()),
        PluginState::Refused(_) => (String::new(), "refused", String::new()),
        PluginState::Absent(constraint) => (constraint.clone(), "absent", String::new()),
    };
    [name, version, state.to_owned(), provides, required_by.collect::<Vec<_>>().join(", ")]
}

/// A row of `plugin list` for programs.
fn row_value(row: &PluginRow) -> Value {
    let mut value = json!({
        "source": row.source.as_ref().map(ToString::to_string),
        "name": row.source.as_ref().map(|source| source.name().to_owned()),
        "path": row.path.as_deref().map(path_value),
        "requiredBy": row.required_by.iter().map(|(file, name)| json!({ "file": path_value(file), "name": name })).collect::<Vec<_>>(),
    });
    let more = match &row.state {
        PluginState::Installed(details) => json!({
            "state": "installed", "version": details.version.to_string(), "apiVersion": details.api.to_string(),
            "sha256": details.sum, "schemas": details.schemas,
            "provides": details.provides.iter().map(|(role, c)| json!({
                "role": role, "name": c.name, "apiVersion": c.api_version, "kind": c.kind,
            })).collect::<Vec<_>>(),
        }),
        PluginState::Present(why) => json!({ "state": "present", "reason": why }),
        PluginState::Refused(why) => json!({ "state": "refused", "reason": why }),
        PluginState::Absent(constraint) => json!({ "state": "absent", "constraint": constraint }),
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}
