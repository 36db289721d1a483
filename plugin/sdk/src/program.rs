//! A plugin as a program: an exec plugin where it is given a file, a KRM function where it is not.

use crate::documents;
use crate::{Error, Exported, Plugin, Result};
use kube_core::DynamicObject;
use rustomize_plugin_abi::{Asked, CallError, Guest, Mode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;

/// The `main` of a program that is a plugin.
///
/// With an argument it is an exec plugin: the argument names the file with the configuration, `KUSTOMIZE_PLUGIN_MODE` says what is wanted,
/// and resources come on stdin. Without one it is a KRM function: a ResourceList comes on stdin and goes to stdout. As a function, a plugin
/// that transforms does so; else it validates; else it generates. An exec plugin is not told that it stands under `validators`: one that
/// transforms does so there, too, and the build refuses what it changes.
pub fn main<P: Plugin>() -> ExitCode {
    let config = std::env::args_os().nth(1);
    let is_function = config.is_none();
    let done = match config {
        Some(file) => exec::<P>(&file),
        None => function::<P>(),
    };
    let text = match done {
        Ok(text) => text,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "Error: {}", crate::words(&*e));
            if is_function {
                let list = json!({
                    "apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [],
                    "results": [{ "message": crate::words(&*e), "severity": "error" }],
                });
                let _ = writeln!(std::io::stdout(), "{list}");
            }
            return ExitCode::FAILURE;
        }
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn call<P: Plugin>(mode: Mode, config: &str, resources: &str) -> Result<String> {
    let root = std::env::var("KUSTOMIZE_PLUGIN_CONFIG_ROOT")
        .or_else(|_| std::env::current_dir().map(|path| path.to_string_lossy().into_owned()))?;
    let asked = Asked { mode, config, root: &root, resources, options: "{}" };
    Exported::<P>::run(asked).map_err(|e| match e {
        CallError::Failed(why) => Error::from(why),
        other => Error::from(other.to_string()),
    })
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn exec<P: Plugin>(file: &OsString) -> Result<String> {
    let config = std::fs::read_to_string(file)?;
    let asked = std::env::var("KUSTOMIZE_PLUGIN_MODE").unwrap_or_default();
    let can = |mode| P::MODES.contains(&mode);
    match asked.as_str() {
        // kustomize itself does not say: a plugin that does one thing knows, one that does several looks at stdin.
        "generate" => call::<P>(Mode::Generate, &config, ""),
        "" if can(Mode::Generate) && !can(Mode::Transform) => call::<P>(Mode::Generate, &config, ""),
        "transform" if !can(Mode::Transform) && can(Mode::Validate) => {
            call::<P>(Mode::Validate, &config, &read_stdin()?)
        }
        "" | "transform" => {
            let resources = read_stdin()?;
            let mode = match asked.as_str() {
                "" if resources.is_empty() && can(Mode::Generate) => Mode::Generate,
                _ => Mode::Transform,
            };
            call::<P>(mode, &config, &resources)
        }
        other => Err(format!("KUSTOMIZE_PLUGIN_MODE is '{other}'; it is generate or transform").into()),
    }
}

/// What a KRM function reads.
#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    items: Vec<Value>,
    #[serde(rename = "functionConfig", default)]
    config: Value,
}

fn function<P: Plugin>() -> Result<String> {
    let text = read_stdin()?;
    let list: ResourceList = documents::parse(&text).map_err(|e| format!("stdin holds no ResourceList: {e}"))?;
    let config = list.config.to_string();
    let given: Vec<DynamicObject> =
        list.items.into_iter().map(serde_json::from_value).collect::<std::result::Result<_, _>>()?;
    let mode = [Mode::Transform, Mode::Validate, Mode::Generate].into_iter().find(|mode| P::MODES.contains(mode));
    let mode = mode.ok_or("this plugin does nothing")?;
    let resources = if mode == Mode::Generate { String::new() } else { documents::print(&given) };
    let printed = call::<P>(mode, &config, &resources)?;
    let mut made = documents::Documents::parse(&printed)?.objects();
    if mode == Mode::Generate {
        // What was there stays, but for the configuration itself, which kustomize hands to a generator as an item.
        let config: Option<DynamicObject> = serde_json::from_value(list.config).ok();
        let is_config = |item: &DynamicObject| {
            config
                .as_ref()
                .is_some_and(|config| config.types == item.types && config.metadata.name == item.metadata.name)
        };
        made = given.into_iter().filter(|item| !is_config(item)).chain(made).collect();
    }
    let list = json!({ "apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": made });
    Ok(list.to_string() + "\n")
}
