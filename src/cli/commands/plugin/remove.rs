//! `plugin remove`: removes installed plugins.

use super::named::{constraint_of, halves, source_of};
use crate::flags::complete;
use crate::flags::format::Printing;
use crate::machine::machine;
use crate::report::{Report, path_value};
use anyhow::{Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_manager::id::name::Platform;
use rustomize_manager::store::discover::candidates;
use rustomize_manager::store::place;
use serde_json::json;

/// Remove an installed plugin
#[derive(Args)]
pub(crate) struct Remove {
    /// The source, or its name in plugins.yaml, or the last part of the source; with a constraint
    /// if only some versions are to be removed, as in 'github.com/acme/app@< 2'
    #[arg(value_name = "SOURCE[@CONSTRAINT]|NAME", add = ArgValueCompleter::new(complete::plugins))]
    pub what: String,

    #[command(flatten)]
    pub printing: Printing,
}

/// Runs `plugin remove`.
///
/// # Errors
/// No installed plugin matches, or a file cannot be removed.
pub(crate) fn run(args: &Remove, is_json: bool) -> Result<()> {
    let (source, constraint) = halves(&args.what);
    let machine = machine();
    let root = machine.plugins()?;
    let (source, constraint) = (source_of(source, &root)?, constraint_of(constraint)?);
    let mut found = candidates(&root, &source, &Platform::host());
    if !constraint.is_any() {
        found.retain(|c| c.verdict.as_ref().is_ok_and(|i| constraint.allows(&i.file.version)));
    }
    if found.is_empty() {
        let which = if constraint.is_any() { String::new() } else { format!(" in a version that is {constraint}") };
        bail!(
            "'{source}' is not installed in '{}'{which}\n  hint: see what is installed: rustomize plugin list",
            root.display()
        );
    }
    let root = machine.lock_plugins()?;
    let mut report = Report::default();
    for path in place::remove(&root, &found)? {
        report.add(path.display().to_string(), json!({ "path": path_value(&path) }));
    }
    report.print(is_json)
}
