//! `plugin describe`, `plugin header` and `plugin package`: for authors of plugins.

use super::managed::{self, inputs, policy};
use super::output;
use super::plugin::{constraint_of, halves, parse};
use super::plugin_args::{Install, TransferFlags};
use super::plugin_install::install_one;
use super::report::Report;
use super::writer::{self, Shown};
use crate::diag::{Code, Error};
use crate::manager::author::describe::Description;
use crate::manager::author::export::{self, ManifestFields};
use crate::manager::author::manifest::Manifest;
use crate::manager::author::package::{self, PackageOptions};
use crate::manager::author::sign::SigningKey;
use crate::manager::author::source::{Found, find, missing};
use crate::manager::fetch::identity::PluginId;
use crate::manager::id::name::Platform;
use crate::manager::install::describe::describe as describe_directory;
use crate::manager::install::project::alone;
use crate::manager::resolve::project::Need;
use crate::manager::store::discover::{Installed, candidates, choose};
use crate::manager::store::record::AskedBy;
use crate::plugin::PluginOptions;
use crate::plugin::program::Command;
use crate::shell::quoted;
use crate::shown;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// `plugin describe`
#[derive(Args)]
pub struct Describe {
    /// The source of a plugin, or its name in plugins.yaml, or the path of an executable or a
    /// directory
    #[arg(value_name = "SOURCE[@CONSTRAINT]|NAME|PATH")]
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
pub enum Form {
    Json,
    Yaml,
    Markdown,
}

/// `plugin header`
#[derive(Args)]
pub struct Header {
    /// Write it to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `plugin package`
#[derive(Args)]
pub struct Package {
    /// The directory of a plugin or a bundle, as 'plugin new' writes it or with plugin.yaml, or an
    /// executable for this machine
    #[arg(value_name = "PATH", default_value = ".")]
    pub what: PathBuf,

    /// The directory for the files
    #[arg(short, long, value_name = "DIR", default_value = "dist")]
    pub output: PathBuf,

    /// The plugin's name [default: what plugin.yaml says, or the name of the file or directory]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// An executable, a shared object or the directory of a bundle for another platform, as in
    /// linux_arm64=FILE; may be repeated
    #[arg(long = "platform", value_name = "OS_ARCH=FILE", value_parser = platform)]
    pub platforms: Vec<(Platform, PathBuf)>,

    /// Sign the files with this secret key of minisign; its password is asked for, or in
    /// RUSTOMIZE_MINISIGN_PASSWORD; needs --source
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// The source under which others install the plugin, as in github.com/acme/app: each signature
    /// names it, so that it is not one of another plugin
    #[arg(long, value_name = "SOURCE")]
    pub source: Option<String>,
}

/// Reads `linux_arm64=FILE`.
fn platform(text: &str) -> Result<(Platform, PathBuf), String> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let parts = text.split_once('=').and_then(|(platform, file)| Some((platform.split_once('_')?, file)));
    match parts {
        Some(((os, arch), file)) if is_word(os) && is_word(arch) && !file.is_empty() => {
            Ok((Platform { os: os.to_owned(), arch: arch.to_owned() }, file.into()))
        }
        _ => Err("expected OS_ARCH=FILE, as in linux_arm64=build/label".to_owned()),
    }
}

/// The described plugin.
struct Described {
    description: Description,
    name: String,
    /// The file or directory that is the plugin.
    path: PathBuf,
}

/// Runs `plugin describe`.
///
/// # Errors
/// The plugin does not exist, does not describe itself, or lacks the form.
pub fn describe(args: &Describe, options: &PluginOptions) -> Result<()> {
    let described = described(args, options)?;
    let Described { description, name, .. } = &described;
    // Only JSON has all that the plugin says.
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
            let own = path.canonicalize()?;
            let manifest = Manifest::read(&path)?;
            let description = describe_directory(&manifest, &own, options)?;
            let name = if manifest.name.is_empty() { file_name(&own) } else { manifest.name.clone() };
            return Ok(Described { description, name, path: own });
        }
        Some(Found::Executable(path)) => {
            let own = path.canonicalize()?;
            let name = own.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let said = Description::ask(&Command::of_binary(&own), options);
            let description = said.map_err(|e| anyhow!("'{what}' does not describe itself: {e}"))?;
            return Ok(Described { description, name, path: own });
        }
        None if Path::new(what).is_dir() => return Err(missing(Path::new(what), "").into()),
        None => {}
    }
    let inputs = inputs(Path::new("."), None, &policy(None)?)?;
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
    // Without a requirement, what the user installed under the source will do, wherever it is from.
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

/// A manifest to begin with.
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

/// Runs `plugin header`.
///
/// # Errors
/// It cannot be written.
pub fn header(args: &Header) -> Result<()> {
    match &args.output {
        Some(file) => output::write_text(rustomize_plugin_abi::HEADER, file),
        None => Ok(writer::data([rustomize_plugin_abi::HEADER])?),
    }
}

/// The variable with the password of a key.
const PASSWORD: &str = "RUSTOMIZE_MINISIGN_PASSWORD";

/// Runs `plugin package`.
///
/// # Errors
/// The plugin could not be installed, or the key cannot be used. Nothing is written then.
pub fn package(args: &Package, is_json: bool, options: &PluginOptions) -> Result<()> {
    let password = || {
        if let Some(password) = managed::variable(PASSWORD) {
            return Ok(password.to_string_lossy().into_owned());
        }
        rpassword::prompt_password("Password of the key: ").map_err(|_| {
            Error::new(Code::Usage, "the key has a password, and there is no terminal to ask for it")
                .hint(format!("put it into the variable {PASSWORD}"))
        })
    };
    let key = args.key.as_deref().map(|path| SigningKey::read(path, password)).transpose()?;
    let source = args.source.as_deref().map(parse).transpose()?;
    let wanted = PackageOptions {
        what: &args.what,
        describe: &|manifest, directory| describe_directory(manifest, directory, options),
        name: args.name.as_deref(),
        files: &args.platforms,
        out: &args.output,
        key: key.as_ref(),
        source: source.as_ref(),
    };
    let mut report = Report::default();
    for path in package::package(&wanted, options)? {
        report.add(path.display().to_string(), json!({ "path": path }));
    }
    report.print(is_json)?;
    if let Some((key, source)) = key.zip(source) {
        let line =
            format!("Whoever installs it checks that with: rustomize plugin trust {source} --key {}", key.public());
        writer::say(&line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{platform, runtime_of};

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

    #[test]
    fn a_platform_is_a_system_a_processor_and_a_file() {
        let (found, file) = platform("linux_arm64=a=b").unwrap();
        assert_eq!((found.to_string().as_str(), file.to_str()), ("linux_arm64", Some("a=b")));
        for text in ["linux=x", "linux_arm64", "linux_arm64=", "_x=y", "Linux_arm64=x", "linux_a/b=x"] {
            assert!(platform(text).is_err(), "{text}");
        }
    }
}
