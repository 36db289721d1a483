//! `plugin run`: one call of a plugin, outside of a build.

use super::plugin_args::{Run, RunAs};
use super::{output, plugin_flags, writer};
use crate::load::Disk;
use crate::manager::resolve::COMPONENT;
use crate::pipeline::Call;
use crate::stage::{Mode, Options};
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Runs `plugin run`.
///
/// # Errors
/// The plugin cannot be found, or fails. Nothing was printed on stdout then.
pub fn run(args: &Run) -> Result<()> {
    let file = Path::new(&args.what);
    let folder = file.parent().filter(|folder| file.is_file() && !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let config = match file.is_file() {
        true => std::fs::read_to_string(file).with_context(|| format!("cannot read '{}'", args.what))?,
        false => config_for(&args.what),
    };
    let mode = match args.role {
        RunAs::Generator => Mode::Generate,
        RunAs::Transformer => Mode::Transform,
        RunAs::Validator => Mode::Validate,
    };
    let mut resources = String::new();
    if mode != Mode::Generate {
        std::io::stdin().read_to_string(&mut resources).context("cannot read the resources on stdin")?;
    }
    let (plugins, schemas) = plugin_flags::options(&args.plugins, true, folder, args.offline, true)?;
    let options = Options { schemas, plugins: Arc::new(plugins), ..Options::default() };
    let (workspace, disk) = (Workspace::new(), Disk::new());
    let call = Call { name: &args.what, config, mode, resources };
    let called = workspace::call(&workspace, &disk, &folder.to_string_lossy(), call, &options);
    for warning in called.warnings {
        writer::say(&warning.to_string());
    }
    output::write(&called.value?, None)
}

/// A configuration object that says no more than for which plugin it is.
fn config_for(what: &str) -> String {
    let text = |text: &str| serde_json::Value::from(text);
    let (api_version, kind, annotations) = match what.rsplit_once('/') {
        Some((api_version, kind)) => (api_version, kind, serde_json::json!({})),
        None => ("rustomize.dev/v1", "Component", serde_json::json!({ COMPONENT: what })),
    };
    serde_json::json!({
        "apiVersion": text(api_version), "kind": text(kind), "metadata": {"name": "run", "annotations": annotations},
    })
    .to_string()
}
