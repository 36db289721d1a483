//! `doctor`: what this machine can do for builds.

use crate::flags::format::Format;
use crate::machine::{in_path, machine_without_cache};
use crate::report::path_value;
use crate::writer::{self, Shown};
use crate::{host, plugin_host, plugin_options};
use anyhow::Result;
use clap::Args;
use rustomize_plugins::isolation::parts;
use rustomize_plugins::{container_engine, locate};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// `doctor`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// How to print: text or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}

const EXAMPLES: &str = "Examples:
  # Fail a CI job on a machine that cannot isolate plugins
  rustomize doctor -o json | jq -e '.isolation.enforced'";

/// Runs `doctor`. A missing feature of the machine is not an error.
///
/// # Errors
/// The report cannot be printed.
pub(crate) fn run(args: &Doctor) -> Result<()> {
    let report = report();
    match args.output {
        Format::Json => writer::print_json(report)?,
        Format::Text => writer::print(&Shown::message(&text(&report)))?,
    }
    Ok(())
}

/// The programs that some builds call, and their purposes.
const PROGRAMS: [(&str, &[&str], &str); 4] = [
    ("git", &["git"], "remote kustomizations"),
    ("helm", &["helm"], "helmCharts"),
    ("Go", &["go"], "rustomize plugin build"),
    ("C compiler", &["cc", "gcc", "clang"], "rustomize plugin build"),
];

fn report() -> Value {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let homes = locate::homes(variable);
    let home = homes.iter().find(|home| home.is_dir());
    let mut programs: Vec<Value> = PROGRAMS
        .iter()
        .map(|(what, names, used_for)| {
            let path = names.iter().find_map(in_path);
            json!({ "name": what, "usedFor": used_for, "path": path.as_deref().map(path_value) })
        })
        .collect();
    programs.insert(2, container_engine());
    if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
        programs.push(shared_objects());
    }
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "isolation": isolation(),
        "trust": trust(),
        "pluginHome": { "path": home.map(|home| path_value(home)), "lookedFor": values(&homes) },
        "programs": programs,
    })
}

/// The program that runs containers: the one that the user names, or the first that answers; and
/// the answers of all programs that were tried.
fn container_engine() -> Value {
    let engine = plugin_options::engine();
    let answers = match engine.named() {
        Some(_) => Vec::new(),
        None => engine.answers(host::children()),
    };
    let found = engine
        .named()
        .or_else(|| answers.iter().find(|answer| answer.failure.is_none()).map(|answer| Path::new(answer.name)));
    let path = found
        .and_then(|program| if program.components().count() > 1 { Some(program.to_owned()) } else { in_path(program) });
    let asked: Vec<Value> =
        answers.iter().map(|answer| json!({ "name": answer.name, "failure": answer.failure })).collect();
    let variable = engine.named().map(|_| container_engine::VARIABLE);
    json!({
        "name": "container engine", "usedFor": "KRM functions in containers", "path": path.filter(|path| path.is_file()).as_deref().map(path_value),
        "namedBy": variable, "asked": asked,
    })
}

/// What a static program lacks.
fn shared_objects() -> Value {
    let asked = json!([{ "name": "this program", "failure": "it is static: take the one for glibc" }]);
    json!({ "name": "shared objects", "usedFor": "plugins that are shared objects", "path": null, "asked": asked })
}

/// The report of a child process that confines itself.
fn isolation() -> Value {
    let parts = plugin_host::program().and_then(|program| parts(host::children(), &program));
    let Some(parts) = parts else {
        return json!({ "enforced": false, "missing": ["a process that confines itself could not be started"] });
    };
    let missing: Vec<&str> = parts.iter().filter_map(|part| part.missing.as_deref()).collect();
    json!({ "enforced": missing.is_empty(), "missing": missing, "parts": parts })
}

/// The files with the trust rules that apply.
fn trust() -> Value {
    let machine = machine_without_cache();
    let own = machine.trust_file().ok().map(|file| file.path).filter(|path| path.is_file());
    json!({ "path": own.as_deref().map(path_value), "others": values(&machine.other_trust_files()) })
}

/// Paths as values of JSON.
fn values(paths: &[PathBuf]) -> Vec<Value> {
    paths.iter().map(|path| path_value(path)).collect()
}

/// The reason why a program is missing: the answers of the programs that were tried, or that none
/// was found.
fn lack(program: &Value) -> String {
    let asked = program["asked"].as_array().into_iter().flatten();
    let words: Vec<String> = asked
        .filter_map(|asked| Some(format!("{} ({})", asked["name"].as_str()?, asked["failure"].as_str()?)))
        .collect();
    match program["namedBy"].as_str() {
        Some(variable) => format!("{variable} names a program that does not exist"),
        None if words.is_empty() => "not in PATH".to_owned(),
        None => words.join(", "),
    }
}

fn text(report: &Value) -> String {
    let mut out = format!("rustomize {}\n\nIsolation of plugins (--plugin-isolation)\n", env!("CARGO_PKG_VERSION"));
    let isolation = &report["isolation"];
    for part in isolation["parts"].as_array().into_iter().flatten() {
        let text = |key: &str| part[key].as_str();
        let (state, words) = text("missing").map_or(("ok", text("effect")), |missing| ("missing", Some(missing)));
        out.push_str(&format!("  {state:<8} {}: {}\n", text("name").unwrap_or_default(), words.unwrap_or_default()));
    }
    out.push_str(match (isolation["enforced"].as_bool(), isolation["parts"].is_array()) {
        (Some(true), _) => "  'strict' works here\n",
        (_, true) => "  'strict' refuses plugins here: a part is missing\n",
        (_, false) => "  missing  a process that confines itself could not be started\n",
    });
    out.push_str("\nPlugin home\n");
    match report["pluginHome"]["path"].as_str() {
        Some(path) => out.push_str(&format!("  ok       {path}\n")),
        None => {
            let looked = report["pluginHome"]["lookedFor"].as_array().into_iter().flatten();
            let looked: Vec<&str> = looked.filter_map(Value::as_str).collect();
            out.push_str(&format!("  none     looked for {}\n", looked.join(", ")));
        }
    }
    out.push_str("\nTrust rules\n");
    match report["trust"]["path"].as_str() {
        Some(path) => out.push_str(&format!("  ok       {path}\n")),
        None => out.push_str("  none     plugins of every source may be installed, unless a file below forbids it\n"),
    }
    for other in report["trust"]["others"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        out.push_str(&format!("  also     {other}: only its denials apply\n"));
    }
    out.push_str("\nPrograms\n");
    for program in report["programs"].as_array().into_iter().flatten() {
        let text = |key: &str| program[key].as_str().unwrap_or_default().to_owned();
        let (state, place) = match program["path"].as_str() {
            Some(path) => ("ok", path.to_owned()),
            None => ("missing", lack(program)),
        };
        out.push_str(&format!("  {state:<8} {}: {place} (for {})\n", text("name"), text("usedFor")));
    }
    out
}
