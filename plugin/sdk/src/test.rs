//! For tests of plugins: calls through the structs and functions of the interface, with the encoding that a build uses.

use crate::{Exported, Plugin};
use rustomize_plugin_abi::{Asked, Mode, guest};

/// What a plugin generates for a configuration, as YAML documents.
///
/// # Errors
/// What the plugin says.
pub fn generate<P: Plugin>(config: &str) -> Result<String, String> {
    call::<P>(Mode::Generate, config, "")
}

/// What a plugin makes of resources, as YAML documents.
///
/// # Errors
/// What the plugin says.
pub fn transform<P: Plugin>(config: &str, resources: &str) -> Result<String, String> {
    call::<P>(Mode::Transform, config, resources)
}

/// Whether a plugin finds resources right.
///
/// # Errors
/// What the plugin says.
pub fn validate<P: Plugin>(config: &str, resources: &str) -> Result<(), String> {
    call::<P>(Mode::Validate, config, resources).map(drop)
}

/// Calls a plugin in the working directory.
fn call<P: Plugin>(mode: Mode, config: &str, resources: &str) -> Result<String, String> {
    let root = std::env::current_dir().map_err(|e| e.to_string())?;
    let asked = Asked { mode, config, root: &root.to_string_lossy(), resources, options: "{}" };
    guest::call::<Exported<P>>(&asked).map_err(|e| e.to_string())
}
