//! `plugin run`: one call of a plugin, outside of a build.

use crate::flags::plugins::PluginFlags;
use crate::flags::role::RunAs;
use crate::plugin_options::{BuildPlugins, PluginPlace, of_directory};
use crate::{output, writer};
use anyhow::{Context, Result};
use clap::Args;
use rustomize_engine::pipeline::Call;
use rustomize_engine::stage::{Mode, Options};
use rustomize_engine::workspace::{self, Workspace};
use rustomize_manager::resolve::COMPONENT;
use rustomize_manager::share::synced::Syncing;
use rustomize_sources::{Disk, RemoteOptions};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Call a plugin once, outside of a build
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Run {
    /// The file with the configuration object, or its kind, or the name of what a plugin provides
    #[arg(value_name = "CONFIG|APIVERSION/KIND|NAME")]
    pub what: String,

    /// The role in which it is called
    #[arg(long = "as", value_name = "ROLE", default_value = "generator")]
    pub role: RunAs,

    #[command(flatten)]
    pub plugins: PluginFlags,

    /// Fetch nothing: fail if a needed plugin is not installed
    #[arg(long)]
    pub offline: bool,
}

const ABOUT: &str = "Call a plugin once, outside of a build, and print its output. CONFIG is the file with its configuration object, as 'generators' and \
    'transformers' list it, or the kind of such an object, as in example.com/v1/Made, or the name of what an installed plugin provides. A transformer or \
    validator gets the resources on stdin.";

const EXAMPLES: &str = "Examples:
  # Run a generator with its configuration object
  rustomize plugin run generator.yaml

  # Run a transformer on resources
  rustomize plugin run transformer.yaml --as transformer < resources.yaml

  # The generator 'coffees' of the installed plugin 'app'
  rustomize plugin run app-coffees";

/// Runs `plugin run`.
///
/// # Errors
/// The plugin cannot be found, or fails. Nothing was printed on stdout then.
pub(crate) fn run(args: &Run) -> Result<()> {
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
    let place = PluginPlace { directory: folder, offline: args.offline, syncing: Syncing::Syncs };
    let BuildPlugins { plugins, schemas } = of_directory(&args.plugins, place)?;
    let remote = Arc::new(RemoteOptions::default());
    let options = Options { schemas, plugins: Arc::new(plugins), remote, ..Options::default() };
    let (workspace, disk) = (Workspace::new(), Disk::new());
    let call = Call { name: &args.what, config, mode, resources };
    let called = workspace::call(&workspace, &disk, &folder.to_string_lossy(), call, &options);
    for warning in called.warnings {
        writer::say(&warning.to_string());
    }
    output::write(&called.value?, None)
}

/// A configuration object that only says which plugin it is for.
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
