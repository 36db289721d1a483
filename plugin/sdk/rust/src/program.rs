//! A plugin as a program: with a file as argument it is an exec plugin, without it a KRM function.

use crate::documents;
use crate::{Error, Exported, Plugin, Result, Role, mode};
use kube_core::DynamicObject;
use rustomize_plugin_abi::frame::{Frame, answer, head};
use rustomize_plugin_abi::{Asked, CallError, Guest, Mode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;

/// The variable in which rustomize names the role under which the plugin is listed. kustomize does
/// not set it.
const ROLE: &str = "RUSTOMIZE_PLUGIN_ROLE";

/// The `main` of a program that is a plugin.
///
/// With an argument it is an exec plugin: the argument names the file with the configuration, the
/// environment names the mode, and resources come on stdin. The argument `describe` prints
/// [`describe`](crate::describe) as JSON, and `describe --manifest FILE.so` prints the
/// `plugin.yaml` of a directory with that shared object. For a configuration file with the name
/// `describe`, write `./describe`.
///
/// Without an argument it is a KRM function: it reads and prints a ResourceList. As a function, a
/// plugin with several roles transforms if it can, otherwise it validates, otherwise it generates.
///
/// rustomize sets `RUSTOMIZE_PLUGIN_ROLE` to the role under which the plugin is listed. kustomize
/// sets `KUSTOMIZE_PLUGIN_MODE`, which is the same for a transformer and a validator: under
/// kustomize, a plugin with both roles transforms.
pub fn main<P: Plugin>() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let first = args.next();
    let is_function = first.is_none();
    let done = match first {
        Some(word) if word == "describe" => describe::<P>(args),
        Some(word) if word == "worker" && P::IS_WORKER => return worker::<P>(),
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

/// Answers requests until stdin ends. A panic ends the process, and so the build.
fn worker<P: Plugin>() -> ExitCode {
    match answer_all::<P>(&mut std::io::stdin().lock(), &mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "Error: {}", crate::words(&*e));
            ExitCode::FAILURE
        }
    }
}

fn answer_all<P: Plugin>(requests: &mut impl Read, answers: &mut impl Write) -> Result<()> {
    send(answers, answer::OUTPUT, &[], "{}")?;
    let mut frame = Frame::default();
    while frame.read(requests)? {
        let asked = frame.asked().ok_or("malformed request")?;
        let options: Value = serde_json::from_str(asked.options)?;
        let number = options["request"].as_u64().ok_or("the request has no number")?.to_le_bytes();
        let mode = nearest::<P>(asked.mode);
        match Exported::<P>::run(Asked { mode, ..asked }) {
            Ok(printed) => send(answers, answer::OUTPUT, &number, &printed)?,
            Err(CallError::Failed(why)) => send(answers, answer::FAILED, &number, &why)?,
            Err(other) => send(answers, answer::FAILED, &number, &other.to_string())?,
        }
    }
    Ok(())
}

/// Writes a frame whose content is the number of a request and a text.
fn send(answers: &mut impl Write, kind: u8, number: &[u8], text: &str) -> Result<()> {
    answers.write_all(&head(kind, number.len() + text.len()))?;
    answers.write_all(number)?;
    answers.write_all(text.as_bytes())?;
    Ok(answers.flush()?)
}

/// The description of the plugin, in the form that the other arguments ask for.
fn describe<P: Plugin>(mut args: impl Iterator<Item = OsString>) -> Result<String> {
    let usage = "expected: describe, or describe --manifest FILE.so";
    match (args.next(), args.next(), args.next()) {
        (None, ..) => Ok(serde_json::to_string_pretty(&crate::describe::<P>())? + "\n"),
        (Some(flag), Some(entry), None) if flag == "--manifest" => {
            Ok(crate::manifest::<P>(entry.to_str().ok_or("the name of the shared object is not valid UTF-8")?))
        }
        _ => Err(usage.into()),
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
    let config = std::fs::read_to_string(file)
        .map_err(|e| format!("cannot read the configuration '{}': {e}", file.to_string_lossy()))?;
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let (role, mode) = (variable(ROLE), variable("KUSTOMIZE_PLUGIN_MODE"));
    let wanted = match (role.as_str(), mode.as_str()) {
        ("generator", _) | ("", "generate") => Some(Mode::Generate),
        ("transformer", _) | ("", "transform") => Some(Mode::Transform),
        ("validator", _) => Some(Mode::Validate),
        ("", "") => None,
        ("", other) => return Err(format!("KUSTOMIZE_PLUGIN_MODE is '{other}': expected generate or transform").into()),
        (other, _) => return Err(format!("{ROLE} is '{other}': expected generator, transformer or validator").into()),
    };
    let resources = if wanted == Some(Mode::Generate) || only_generates::<P>() { String::new() } else { read_stdin()? };
    // Outside of a build no variable names the mode: a plugin with several roles looks at stdin.
    let mode = wanted.unwrap_or(match resources.is_empty() && can::<P>(Role::Generator) {
        true => Mode::Generate,
        false => Mode::Transform,
    });
    call::<P>(nearest::<P>(mode), &config, &resources)
}

fn can<P: Plugin>(role: Role) -> bool {
    P::ROLES.contains(&role)
}

fn only_generates<P: Plugin>() -> bool {
    P::ROLES == [Role::Generator]
}

/// The plugin's own mode that serves a wanted mode. A transformer that changes nothing is a
/// validator, and kustomize tells a validator to transform.
fn nearest<P: Plugin>(mode: Mode) -> Mode {
    match mode {
        Mode::Transform if !can::<P>(Role::Transformer) && can::<P>(Role::Validator) => Mode::Validate,
        Mode::Validate if !can::<P>(Role::Validator) && can::<P>(Role::Transformer) => Mode::Transform,
        mode => mode,
    }
}

/// The input of a KRM function.
#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    items: Vec<Value>,
    #[serde(rename = "functionConfig", default)]
    config: Value,
}

fn function<P: Plugin>() -> Result<String> {
    let text = read_stdin()?;
    let list: ResourceList = documents::parse(&text).map_err(|e| format!("stdin is not a ResourceList: {e}"))?;
    let config = list.config.to_string();
    let given: Vec<DynamicObject> =
        list.items.into_iter().map(serde_json::from_value).collect::<std::result::Result<_, _>>()?;
    let role = [Role::Transformer, Role::Validator, Role::Generator].into_iter().find(|role| can::<P>(*role));
    let mode = mode(role.ok_or("this plugin has no role")?);
    let resources = if mode == Mode::Generate { String::new() } else { documents::print(&given) };
    let printed = call::<P>(mode, &config, &resources)?;
    let mut made = documents::Documents::parse(&printed)?.objects();
    if mode == Mode::Generate {
        // All items are kept except the configuration itself, which kustomize passes to a generator
        // as an item.
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
