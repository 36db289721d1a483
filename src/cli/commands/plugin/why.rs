//! `plugin why`: which plugin a build uses for a configuration object, and why.

use crate::flags::format::Printing;
use crate::flags::role::RunAs;
use crate::machine::machine;
use crate::report::{Report, path_value};
use crate::variable::variable;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use rustomize_engine::config::read_alone;
use rustomize_engine::resource::ResId;
use rustomize_engine::schema::Gvk;
use rustomize_manager::author::bundle;
use rustomize_manager::author::describe::Role;
use rustomize_manager::id::shell::in_directory;
use rustomize_manager::policy::Policy;
use rustomize_manager::policy::environment::Environment;
use rustomize_manager::resolve::inputs::Inputs;
use rustomize_manager::resolve::overview::PluginState;
use rustomize_manager::resolve::project::{Need, Project};
use rustomize_manager::resolve::{COMPONENT, PluginRequest, Resolution, Resolver, Thoroughness, Tier};
use rustomize_plugins::function::is_function;
use rustomize_plugins::{PluginOptions, locate};
use rustomize_yaml::Node;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Show which plugin a build uses for a kind of configuration objects, and why
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Why {
    /// The kind, as in example.com/v1/Made, or the file with a configuration object; without it,
    /// everything that is installed
    #[arg(value_name = "APIVERSION/KIND|FILE")]
    pub what: Option<String>,

    /// The role of the plugin [default: the first role that has a plugin]
    #[arg(long = "as", value_name = "ROLE")]
    pub role: Option<RunAs>,

    /// The directory of the kustomization that lists the object
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    #[command(flatten)]
    pub printing: Printing,
}

const ABOUT: &str = "Show which plugin a build uses for a kind of configuration objects, and why: each place where plugins are looked for, in \
    order, with the plugins there, and the reason why each is used or not. A build asks the same places in the same order.\n\nWithout a kind, show all installed and required plugins with their kinds.";

const EXAMPLES: &str = "Examples:
  # Which plugin is used for this kind here?
  rustomize plugin why example.com/v1/Made

  # And for the object in this file, below 'transformers'?
  rustomize plugin why overlays/prod/label.yaml --as transformer

  # Everything that is installed, for programs
  rustomize plugin why -o json";

/// The object that the user asks about.
struct Asked {
    api_version: String,
    kind: String,
    component: Option<String>,
    is_function: bool,
}

/// Runs `plugin why`.
///
/// # Errors
/// A file of the directory cannot be read.
pub(crate) fn run(args: &Why, is_json: bool, options: &PluginOptions) -> Result<()> {
    let machine = machine();
    let environment = machine.environment(None)?;
    let policy = machine.policy(None)?;
    let inputs = Inputs::of(&machine, &args.directory, environment.as_ref(), &policy)?;
    let homes = locate::homes(|name| variable(name).map(Into::into));
    let options = PluginOptions { homes, ..options.clone() };
    let resolver = Resolver { inputs: &inputs, policy: &policy, options: &options };
    match &args.what {
        None => everything(&resolver, environment.as_ref())?.print(is_json),
        Some(what) => trace(args, &asked(what)?, &resolver)?.print(is_json),
    }
}

/// The object that a word names: a file with an object, or an apiVersion and kind.
fn asked(what: &str) -> Result<Asked> {
    let path = Path::new(what);
    if path.is_file() {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read '{what}'"))?;
        return Ok(read_alone(what, text, |_, node| {
            let null = Node::null();
            let node = node.unwrap_or(&null);
            let text = |key: &str| node.get_text(key).unwrap_or_default().to_owned();
            let annotations = node.get("metadata").and_then(|metadata| metadata.get("annotations"));
            let component = annotations.and_then(|a| a.get_text(COMPONENT)).map(str::to_owned);
            Ok(Asked { api_version: text("apiVersion"), kind: text("kind"), component, is_function: is_function(node) })
        })?);
    }
    let (api_version, kind) = what.rsplit_once('/').ok_or_else(|| {
        anyhow!("'{what}' is neither a file nor a kind of configuration objects\n  hint: write a kind as example.com/v1/Made")
    })?;
    Ok(Asked { api_version: api_version.to_owned(), kind: kind.to_owned(), component: None, is_function: false })
}

/// The trace of an object: every place that was looked at, in order.
fn trace(args: &Why, asked: &Asked, resolver: &Resolver<'_>) -> Result<Report> {
    let directory = dunce::canonicalize(&args.directory).with_context(|| format!("'{}'", args.directory.display()))?;
    let id = ResId::new(Gvk::new(&asked.api_version, &asked.kind), "any", "");
    let request = |role| PluginRequest {
        id: &id,
        role,
        component: asked.component.as_deref(),
        is_function: asked.is_function,
        directory: &directory,
        clone: None,
    };
    let roles = match args.role {
        Some(role) => vec![role.into()],
        None => vec![Role::Generator, Role::Transformer, Role::Validator],
    };
    // The first role with a plugin, else the first whose plugin cannot be used, else the first.
    let rank = |resolution: &Resolution| match resolution.chosen {
        Ok(Some(_)) => 0,
        Err(_) => 1,
        Ok(None) => 2,
    };
    let found = roles.into_iter().map(|role| (role, resolver.resolve(&request(role), Thoroughness::AllTiers)));
    let Some((role, resolution)) = found.min_by_key(|(_, resolution)| rank(resolution)) else {
        return Ok(Report::default());
    };
    let mut report = Report::default();
    let mut last = None;
    for step in &resolution.trace {
        if last != Some(step.tier) {
            report.head(title(step.tier, &request(role)));
            last = Some(step.tier);
        }
        let value = json!({ "tier": step.tier.name(), "what": step.what, "verdict": step.verdict.to_string() });
        report.add(format!("  {}: {}", step.what, step.verdict), value);
    }
    let verdict = match &resolution.chosen {
        Ok(Some(chosen)) => match chosen.path() {
            Some(path) => format!("A build uses {}, as a {role}", path.display()),
            None => "A build runs the function that the object names".to_owned(),
        },
        Ok(None) => format!("A build fails: no plugin is for {}/{}", asked.api_version, asked.kind),
        Err(e) => format!("A build fails: {e}"),
    };
    let path = resolution.chosen.as_ref().ok().and_then(|chosen| chosen.as_ref()?.path());
    let is_used = matches!(resolution.chosen, Ok(Some(_)));
    let value = json!({ "tier": "verdict", "what": path.map(path_value), "verdict": verdict, "isUsed": is_used });
    report.add(verdict, value);
    Ok(report)
}

/// The first of a tier's lines.
fn title(tier: Tier, request: &PluginRequest<'_>) -> String {
    match tier {
        Tier::Function => "The function that the object names".to_owned(),
        Tier::Placed => "Placed by hand".to_owned(),
        Tier::Required => "Required by plugins.yaml".to_owned(),
        Tier::Bundle => "Bundles of the environment".to_owned(),
        Tier::Synced => "Synced bundles of the environment".to_owned(),
        Tier::Installed => "Installed, and not required".to_owned(),
        Tier::Path => format!("A program '{}' in PATH", Resolver::program_name(request)),
    }
}

/// Everything that is installed or required, with its kinds.
fn everything(resolver: &Resolver<'_>, environment: Option<&Environment>) -> Result<Report> {
    let mut report = Report::default();
    report.head("Required by plugins.yaml".to_owned());
    for project in resolver.inputs.own_projects()? {
        for need in &project.needs {
            let wanted = &need.wanted;
            let what = format!("{} ({}, {})", wanted.name, wanted.source, wanted.constraint);
            let state = required_state(resolver.inputs, resolver.policy, &project, need);
            report.add(format!("  {what}: {state}"), json!({ "tier": "required", "what": what, "verdict": state }));
        }
    }
    if let Some(environment) = environment {
        report.head(format!("In bundles of the environment '{}'", environment.name));
        for own in environment.bundles()? {
            let home = own.home();
            let kinds = bundle::kinds(&home).unwrap_or_default().into_iter();
            let kinds = kinds.map(|(kind, path)| (path, format!("for {kind}")));
            for (path, state) in kinds.chain(not_loaded(&own.directory)) {
                let value = json!({ "tier": "bundle", "what": path_value(&path), "verdict": state });
                report.add(format!("  {}: {state}", path.display()), value);
            }
        }
    }
    report.head(format!("Installed below {}", resolver.inputs.root.display()));
    for row in resolver.rows()? {
        let Some(path) = row.path else { continue };
        let is_bundle = matches!(&row.state, PluginState::Installed(details) if details.schemas.is_some());
        let state = match row.state {
            PluginState::Installed(details) => {
                format!("v{}, for {}", details.version, details.summary())
            }
            PluginState::Present(why) | PluginState::Refused(why) | PluginState::Absent(why) => {
                format!("refused: {why}")
            }
        };
        let value = json!({ "tier": "installed", "what": path_value(&path), "verdict": state });
        report.add(format!("  {}: {state}", path.display()), value);
        for (path, state) in not_loaded(&path).filter(|_| is_bundle) {
            let value = json!({ "tier": "installed", "what": path_value(&path), "verdict": state });
            report.add(format!("  {}: {state}", path.display()), value);
        }
    }
    Ok(report)
}

/// The parts of a bundle that builds do not read, each with the reason; the bundle itself if it
/// cannot be read.
fn not_loaded(directory: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let unread = |e: std::io::Error| vec![(directory.to_owned(), format!("it cannot be read: {e}"))];
    let ignored = bundle::ignored(directory).unwrap_or_else(unread).into_iter();
    ignored.map(|(path, why)| (path, format!("not loaded: {why}")))
}

fn required_state(inputs: &Inputs, policy: &Policy, project: &Project, need: &Need) -> String {
    match inputs.required(project, need, policy) {
        Ok(Some(installed)) => format!("v{}", installed.file.version),
        Ok(None) => {
            format!("not installed; install it: {}", in_directory("rustomize plugin install", &project.directory))
        }
        Err(e) => format!("refused: {e}"),
    }
}
