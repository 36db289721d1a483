//! `plugin`: makes, installs and lists plugins.

use super::args::{Format, Language, Plugin, PluginCommand};
use super::report::Report;
use super::{cache, managed, plugin_doctor, plugin_host, plugin_install, plugin_look, plugin_run, signals};
use crate::manager::author::scaffold;
use crate::manager::id::name::Platform;
use crate::manager::id::requirement::Requirement;
use crate::manager::id::source::{Source, SourceError};
use crate::manager::id::version::Constraint;
use crate::manager::resolve::Project;
use crate::manager::store::discover::{Candidate, Refusal, all, candidates};
use crate::manager::store::{place, root};
use crate::plugin::{PluginOptions, go};
use anyhow::{Result, anyhow, bail};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Runs `plugin`.
///
/// # Errors
/// What the subcommand says.
pub fn run(args: &PluginCommand) -> Result<()> {
    let is_json = args.json;
    let variable = |name: &str| std::env::var_os(name);
    let options = PluginOptions {
        host: plugin_host::program(),
        go_hosts: cache::go_hosts(),
        stderr: |bytes| drop(std::io::stderr().write_all(bytes)),
        variable: managed::variable,
        children: signals::children().clone(),
        ..PluginOptions::default()
    };
    let mut report = Report::default();
    match &args.command {
        Plugin::Build { directory, output } => {
            let built = go::build(directory, output.as_deref(), &options)?;
            add_built(&mut report, &built);
        }
        Plugin::Adopt { file } => {
            let built = go::adopt(file, &options)?;
            add_built(&mut report, &built);
        }
        Plugin::Install(args) => return plugin_install::install(args, is_json, &options),
        Plugin::New { directory, lang } => {
            let language = match lang {
                Language::Bash => scaffold::Language::Bash,
                Language::Python => scaffold::Language::Python,
                Language::Go => scaffold::Language::Go,
                Language::Rust => scaffold::Language::Rust,
            };
            for path in scaffold::scaffold(directory, language)? {
                report.add(path.display().to_string(), json!({ "path": path }));
            }
            writeln!(std::io::stderr(), "Test it: {}", directory.join("test.sh").display())?;
        }
        Plugin::Add(args) => return plugin_install::add(args, is_json, &options),
        Plugin::Describe { what, offline } => return plugin_look::describe(what, *offline, &options),
        Plugin::Verify { directory } => return plugin_look::verify(directory, is_json, &options),
        Plugin::Doctor { kind, directory } => {
            return plugin_doctor::doctor(kind.as_deref(), directory, is_json, &options);
        }
        Plugin::Trust(args) => return plugin_install::add_trust(args, is_json),
        Plugin::Prune { directories, dry_run } => return plugin_look::prune(directories, *dry_run, is_json),
        Plugin::Serve(args) => return plugin_install::serve(args),
        Plugin::Sync(args) => return plugin_install::sync(args, is_json, &options),
        Plugin::Run(args) => return plugin_run::run(args),
        Plugin::Lock(args) => return plugin_install::lock(args, is_json, &options),
        Plugin::List { output } => {
            let environment = managed::environment(None)?;
            let manager = managed::manager(Path::new("."), environment.as_ref(), managed::policy(None)?)?;
            let found: Vec<Candidate> =
                all(&manager.root, &Platform::host()).into_iter().map(Candidate::verified).collect();
            let is_absent = |(project, wanted): &(&Project, &Requirement)| {
                let present = found.iter().any(|c| c.source.as_ref() == Some(&wanted.source) && c.verdict.is_err());
                !present && matches!(manager.installed(project, wanted), Ok(None))
            };
            let absent: Vec<&Requirement> =
                manager.requirements().filter(is_absent).map(|(_, wanted)| wanted).collect();
            return list(&found, &absent).print(is_json || *output == Format::Json);
        }
        Plugin::Remove { what } => {
            let (source, constraint) = halves(what);
            let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
            let root = root::root(variable)?;
            let mut found = candidates(&root, &source, &Platform::host());
            if !constraint.is_any() {
                found.retain(|c| c.verdict.as_ref().is_ok_and(|i| constraint.allows(&i.file.version)));
            }
            if found.is_empty() {
                bail!("no plugin of '{source}' is installed in '{}' that is {constraint}", root.display());
            }
            let root = plugin_install::locked_root()?;
            for path in place::remove(root.path(), &found)? {
                report.add(path.display().to_string(), json!({ "path": path }));
            }
        }
    }
    report.print(is_json)
}

/// A source and a constraint, as in `host/owner/name@1.2`; an empty text is none. What is before
/// the first slash has no constraint.
pub fn halves(what: &str) -> (&str, &str) {
    let start = what.find('/').unwrap_or(0);
    match what[start..].find('@') {
        Some(at) => (&what[..start + at], &what[start + at + 1..]),
        None => (what, ""),
    }
}

/// Reads a source.
///
/// # Errors
/// It is none.
pub fn parse(source: &str) -> Result<Source> {
    source.parse().map_err(|e: SourceError| {
        let hint = e.hint().map_or_else(String::new, |hint| format!("\n  {hint}"));
        anyhow!("the source '{source}' {e}{hint}")
    })
}

/// Reads a constraint; an empty text is none.
///
/// # Errors
/// It is of no such form.
pub fn constraint_of(text: &str) -> Result<Constraint> {
    Ok(if text.is_empty() { Constraint::default() } else { text.parse()? })
}

/// What a candidate is that is not considered (U43).
fn state(why: &Refusal) -> &'static str {
    if matches!(why, Refusal::Partial(_)) { "present" } else { "refused" }
}

fn add_built(report: &mut Report, built: &go::Built) {
    let modes = built.modes.join(", ");
    let value = json!({ "path": built.path, "modes": built.modes, "go": built.go });
    report.add(format!("{}: {modes} ({})", built.path.display(), built.go), value);
}

/// All candidates, those that are not considered with their reason, and what is required and not
/// there (U43).
fn list(found: &[Candidate], absent: &[&Requirement]) -> Report {
    let mut report = Report::default();
    for candidate in found {
        match &candidate.verdict {
            Ok(installed) => report.add(
                format!("{} v{} {}", installed.source, installed.file.version, installed.file.api),
                json!({
                    "source": installed.source.to_string(), "name": installed.source.name(), "state": "installed",
                    "version": installed.file.version.to_string(), "apiVersion": installed.file.api.to_string(),
                    "sha256": installed.sum, "path": candidate.path,
                }),
            ),
            Err(why) => report.add(
                format!("{}: {}: {why}", state(why), candidate.path.display()),
                json!({
                    "source": candidate.source.as_ref().map(ToString::to_string), "state": state(why),
                    "reason": why.to_string(), "path": candidate.path,
                }),
            ),
        }
    }
    for wanted in absent {
        report.add(
            format!("absent: {} ({}, {})", wanted.name, wanted.source, wanted.constraint),
            json!({
                "source": wanted.source.to_string(), "name": wanted.name, "state": "absent",
                "constraint": wanted.constraint.to_string(),
            }),
        );
    }
    report
}
