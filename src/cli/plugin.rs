//! `plugin`: makes, installs and lists plugins.

use super::args::Format;
use super::plugin_args::{Language, Plugin, PluginCommand, Printing};
use super::report::Report;
use super::{
    cache, managed, plugin_author, plugin_host, plugin_install, plugin_look, plugin_run, plugin_share, plugin_trust,
    plugin_why, signals, writer,
};
use crate::manager::author::scaffold;
use crate::manager::id::name::Platform;
use crate::manager::id::source::{Source, SourceError};
use crate::manager::id::version::Constraint;
use crate::manager::store::discover::candidates;
use crate::manager::store::{place, root};
use crate::plugin::{PluginOptions, go};
use crate::shell::quoted;
use anyhow::{Result, anyhow, bail};
use serde_json::json;

/// Runs `plugin`.
///
/// # Errors
/// The subcommand fails.
pub fn run(args: &PluginCommand) -> Result<()> {
    let is_json = args.json;
    let json = |printing: Printing| is_json || printing.output == Format::Json;
    let variable = |name: &str| std::env::var_os(name);
    let options = PluginOptions {
        host: plugin_host::program(),
        go_hosts: cache::go_hosts(),
        stderr: writer::relay,
        shows_stderr: true,
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
        Plugin::Install(args) => return plugin_install::install(args, json(args.printing), &options),
        Plugin::New { directory, lang, role, bundle } => {
            let language = match lang {
                Language::Bash => scaffold::Language::Bash,
                Language::Python => scaffold::Language::Python,
                Language::Go => scaffold::Language::Go,
                Language::Rust => scaffold::Language::Rust,
                Language::C => scaffold::Language::C,
            };
            let new = match bundle {
                true => scaffold::NewPlugin::Bundle,
                false => scaffold::NewPlugin::Plugin(language, (*role).into()),
            };
            for path in scaffold::scaffold(directory, new)? {
                report.add(path.display().to_string(), json!({ "path": path }));
            }
            let test = directory.join("test.sh");
            writer::say(&format!("Test it: {}", quoted(&test.to_string_lossy())));
        }
        Plugin::Add(args) => return plugin_install::add(args, json(args.printing), &options),
        Plugin::Describe(args) => return plugin_author::describe(args, &options),
        Plugin::Header(args) => return plugin_author::header(args),
        Plugin::Package(args) => return plugin_author::package(args, is_json, &options),
        Plugin::Verify { project, printing } => {
            return plugin_look::verify(project.path(), json(*printing), &options);
        }
        Plugin::Why(args) => return plugin_why::why(args, json(args.printing), &options),
        Plugin::Trust(args) => return plugin_trust::trust(args, is_json),
        Plugin::Prune(args) => return plugin_look::prune(args, json(args.printing)),
        Plugin::Sync(args) => return plugin_share::sync(args, json(args.printing), &options),
        Plugin::Export(args) => return plugin_share::export(args, json(args.printing), &options),
        Plugin::Run(args) => return plugin_run::run(args),
        Plugin::Lock(args) => return plugin_install::lock(args, json(args.printing), &options),
        Plugin::Update(args) => return plugin_install::update(args, json(args.printing), &options),
        Plugin::List { directory, printing } => return plugin_look::list(directory, json(*printing), &options),
        Plugin::Remove { what, printing } => {
            let (source, constraint) = halves(what);
            let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
            let root = root::root(variable)?;
            let mut found = candidates(&root, &source, &Platform::host());
            if !constraint.is_any() {
                found.retain(|c| c.verdict.as_ref().is_ok_and(|i| constraint.allows(&i.file.version)));
            }
            if found.is_empty() {
                bail!(
                    "no installed version of '{source}' in '{}' is {constraint}\n  hint: see what is installed: rustomize plugin list",
                    root.display()
                );
            }
            let root = plugin_install::locked_root()?;
            for path in place::remove(&root, &found)? {
                report.add(path.display().to_string(), json!({ "path": path }));
            }
            return report.print(json(*printing));
        }
    }
    report.print(is_json)
}

/// Splits `host/owner/name@1.2` into source and constraint; the constraint is empty if the text has
/// none. An `@` before the first slash does not count.
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
/// The text is not a valid source.
pub fn parse(source: &str) -> Result<Source> {
    source.parse().map_err(|e: SourceError| {
        let hint = e.hint().map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
        anyhow!("the source '{source}' {e}{hint}")
    })
}

/// Reads a constraint; an empty text allows every version.
///
/// # Errors
/// The text is not a valid constraint.
pub fn constraint_of(text: &str) -> Result<Constraint> {
    Ok(if text.is_empty() { Constraint::default() } else { text.parse()? })
}

fn add_built(report: &mut Report, built: &go::Built) {
    let modes = built.modes.join(", ");
    let value = json!({ "path": built.path, "modes": built.modes, "go": built.go });
    report.add(format!("{}: {modes} ({})", built.path.display(), built.go), value);
}
