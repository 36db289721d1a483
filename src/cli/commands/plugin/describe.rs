//! `plugin describe`: the plugin's own description.

use super::install::{Install, install_one};
use super::named::{constraint_of, halves, parse};
use crate::flags::complete;
use crate::flags::transfer::TransferFlags;
use crate::machine::machine;
use crate::writer::{self, Shown};
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use rustomize_base::shell::quoted;
use rustomize_base::shown;
use rustomize_engine::diag::{Code, Error};
use rustomize_manager::author::describe::Description;
use rustomize_manager::author::export::{self, ManifestFields};
use rustomize_manager::author::manifest::Manifest;
use rustomize_manager::author::source::{Found, find, missing};
use rustomize_manager::fetch::identity::PluginId;
use rustomize_manager::id::name::Platform;
use rustomize_manager::install::describe::describe as describe_directory;
use rustomize_manager::install::project::alone;
use rustomize_manager::resolve::inputs::Inputs;
use rustomize_manager::resolve::project::Need;
use rustomize_manager::store::discover::{Installed, candidates, choose};
use rustomize_manager::store::record::AskedBy;
use rustomize_plugins::PluginOptions;
use rustomize_process::Launch;
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Print what a plugin says of itself: as JSON, as a plugin.yaml, as a page of documentation,
/// or the schema of its configuration; a plugin that is not installed is installed first
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Describe {
    /// The source of a plugin, or its name in plugins.yaml, or the path of an executable or a
    /// directory
    #[arg(value_name = "SOURCE[@CONSTRAINT]|NAME|PATH", add = ArgValueCompleter::new(complete::plugins))]
    pub what: String,

    /// Fetch nothing: the plugin is installed
    #[arg(long)]
    pub offline: bool,

    /// Print the JSON Schema of its configuration objects
    #[arg(long, conflicts_with = "output")]
    pub schema: bool,

    /// The kind whose schema is printed, where the plugin has several
    #[arg(long, value_name = "KIND", requires = "schema")]
    pub kind: Option<String>,

    /// How to print: json; yaml, as a plugin.yaml that says the same; or markdown, as a page of
    /// documentation
    #[arg(short, long, value_name = "FORMAT", default_value = "json")]
    pub output: Form,
}

/// How a description is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Json,
    Yaml,
    Markdown,
}

const EXAMPLES: &str = "Examples:
  # a plugin.yaml to begin with, for a script that describes itself
  rustomize plugin describe ./label.py -o yaml > plugin.yaml

  # a page of documentation
  rustomize plugin describe ./label -o markdown > docs/label.md

  # the schema of a kind, for an editor
  rustomize plugin describe github.com/acme/label --schema --kind TeamLabel > team-label.json";

/// The described plugin.
struct Described {
    description: Description,
    name: String,
    /// The file or directory of the plugin.
    path: PathBuf,
}

/// Runs `plugin describe`.
///
/// # Errors
/// The plugin does not exist, does not describe itself, or lacks the requested form.
pub(crate) fn run(args: &Describe, options: &PluginOptions) -> Result<()> {
    let described = described(args, options)?;
    let Described { description, name, .. } = &described;
    // Only JSON has all parts of a description.
    if let Some(what) = description.left_out().filter(|_| args.schema || args.output != Form::Json) {
        writer::say(&format!("{name}: {what}"));
    }
    if args.schema {
        let schema = export::schema(description, args.kind.as_deref())?;
        return Ok(writer::print_values_json(&json!(schema))?);
    }
    let text = match args.output {
        Form::Json => return Ok(writer::data([shown::json(serde_json::to_string_pretty(description)? + "\n")])?),
        Form::Yaml => as_manifest(&described)?,
        Form::Markdown => export::page(name, description)?,
    };
    Ok(writer::print(&Shown::values(&text))?)
}

fn described(args: &Describe, options: &PluginOptions) -> Result<Described> {
    let what = args.what.as_str();
    match find(Path::new(what)) {
        Some(Found::Directory(path)) => {
            let own = dunce::canonicalize(&path)?;
            let manifest = Manifest::read(&path)?;
            let description = describe_directory(&manifest, &own, options)?;
            let name = if manifest.name.is_empty() { file_name(&own) } else { manifest.name.clone() };
            return Ok(Described { description, name, path: own });
        }
        Some(Found::Executable(path)) => {
            let own = dunce::canonicalize(&path)?;
            let name = own.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let said = Description::ask(Launch::new(&own), options);
            let description = said.map_err(|e| anyhow!("'{what}' does not describe itself: {e}"))?;
            return Ok(Described { description, name, path: own });
        }
        None if Path::new(what).is_dir() => return Err(missing(Path::new(what), "").into()),
        None => {}
    }
    let machine = machine();
    let inputs = Inputs::of(&machine, Path::new("."), None, &machine.policy(None)?)?;
    let projects = inputs.own_projects()?;
    let named = projects.iter().find_map(|project| project.need(what));
    let need = match named {
        Some(need) => need.clone(),
        None => {
            let (source, constraint) = halves(what);
            let wanted = alone(parse(source)?, constraint_of(constraint)?, String::new());
            Need { id: PluginId::own(wanted.source.clone()), wanted }
        }
    };
    let source = &need.id.source;
    // Without a requirement, a plugin that the user installed under the source is taken, whatever
    // its origin.
    let is_users = |installed: &Installed| installed.record.asked_by == AskedBy::User;
    let is_meant = |installed: &Installed| match named {
        Some(_) => installed.meets(&need.wanted, &need.id),
        None => is_users(installed) && need.wanted.constraint.allows(&installed.file.version),
    };
    let found = choose(candidates(&inputs.root, source, &Platform::host()), is_meant);
    let installed = match found {
        Some(installed) => Some(installed),
        None => {
            let transfer = TransferFlags { offline: args.offline, ..TransferFlags::default() };
            install_one(&Install::of(what, transfer), what, options)?
                .into_iter()
                .find(|installed| installed.source == *source)
        }
    };
    let Some(installed) = installed else { bail!("no plugin of '{source}' is installed") };
    let description = inputs.describe(options, &installed);
    let description = (*description.map_err(|e| anyhow!("'{}': {e}", installed.path.display()))?).clone();
    Ok(Described { description, name: source.name().to_owned(), path: installed.path })
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A manifest as a starting point for the author.
fn as_manifest(described: &Described) -> Result<String> {
    let Described { description, name, path } = described;
    if path.is_dir() {
        let manifest = Manifest::read(path)?;
        if manifest.is_bundle() {
            return Ok(export::bundle_manifest(&manifest)?);
        }
        let head = ManifestFields { name, runtime: manifest.runtime.name(), entry: &manifest.entry };
        return Ok(export::manifest(&head, description)?);
    }
    let entry = file_name(path);
    let Some(runtime) = runtime_of(path)? else {
        let message = format!("'{}' is not a script that a runtime runs, so it has no plugin.yaml", path.display());
        let hint = format!(
            "a compiled plugin installs as it is: rustomize plugin package {}",
            quoted(&path.to_string_lossy())
        );
        return Err(Error::new(Code::Usage, message).hint(hint).into());
    };
    Ok(export::manifest(&ManifestFields { name, runtime, entry: &entry }, description)?)
}

/// The runtime that runs a script, by its first line.
fn runtime_of(path: &Path) -> Result<Option<&'static str>> {
    const MOST: u64 = 256;
    let mut line = Vec::new();
    BufReader::new(std::fs::File::open(path)?.take(MOST)).read_until(b'\n', &mut line)?;
    let line = String::from_utf8_lossy(&line).into_owned();
    let Some(command) = line.strip_prefix("#!") else { return Ok(None) };
    let mut words = command.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='));
    let program = program.unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Ok(match program {
        "sh" | "bash" | "dash" => Some("bash"),
        "python" => Some("python"),
        "node" | "nodejs" => Some("nodejs"),
        "deno" => Some("deno"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::runtime_of;

    #[test]
    fn the_first_line_of_a_script_names_its_runtime() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        for (line, want) in [
            ("#!/bin/sh -eu", Some("bash")),
            ("#!/usr/bin/env python3.13", Some("python")),
            ("#!/usr/bin/env -S FOO=1 node --flag", Some("nodejs")),
            ("#! /opt/deno run", Some("deno")),
            ("#!/usr/bin/ruby", None),
            ("#!", None),
            ("\u{7f}ELF", None),
            ("", None),
        ] {
            std::fs::write(&file, format!("{line}\n")).unwrap();
            assert_eq!(runtime_of(&file).unwrap(), want, "{line}");
        }
    }
}
