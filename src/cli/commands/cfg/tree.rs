//! `cfg tree`: shows the resources of a directory as a tree.

use super::input::{LocalArgs, stdin};
use crate::flags::complete;
use crate::flags::switch::Switch;
use crate::writer::{self, Shown};
use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_edit::package::filter;
use rustomize_edit::package::read::{self, Annotate, Below, Files};
use rustomize_edit::package::tree::{self, Field, Structure};
use rustomize_edit::package::{annotations, query};
use rustomize_engine::load::clean;
use rustomize_yaml::Heap;
use std::path::Path;

pub(super) const EXAMPLES: &str = "Examples:
  # Show the resources of a directory
  rustomize cfg tree my-dir

  # Show replicas, and names and images of containers, too
  rustomize cfg tree my-dir --replicas --image --name

  # Show an annotation
  rustomize cfg tree my-dir --field metadata.annotations.foo

  # Show what a cluster has, by owners
  kubectl get all -o yaml | rustomize cfg tree - --field 'status.conditions[type=Ready].status'";

/// `cfg tree`.
#[derive(Args)]
pub(crate) struct Tree {
    /// The directory or file, or - for stdin [default: .]
    #[arg(value_name = "DIR", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::directories))]
    pub directory: Option<String>,

    /// Show the names of containers
    #[arg(long, switch())]
    pub name: Option<bool>,

    /// Show images
    #[arg(long, switch())]
    pub image: Option<bool>,

    /// Show commands
    #[arg(long, switch())]
    pub command: Option<bool>,

    /// Show arguments
    #[arg(long, switch())]
    pub args: Option<bool>,

    /// Show environments
    #[arg(long, switch())]
    pub env: Option<bool>,

    /// Show replicas
    #[arg(long, switch())]
    pub replicas: Option<bool>,

    /// Show resources of containers
    #[arg(long, switch())]
    pub resources: Option<bool>,

    /// Show ports
    #[arg(long, switch())]
    pub ports: Option<bool>,

    /// Show all of these
    #[arg(long, switch())]
    pub all: Option<bool>,

    /// Show the field at a path; may be repeated
    #[arg(long, value_name = "PATH", value_delimiter = ',', allow_hyphen_values = true)]
    pub field: Vec<String>,

    #[command(flatten)]
    pub local: LocalArgs,

    /// The structure: directory or owners [default: owners, if a resource has an owner]
    #[arg(long, value_name = "STRUCTURE", allow_hyphen_values = true)]
    pub graph_structure: Option<String>,
}

/// The places of containers in workloads.
const CONTAINERS: [&[&str]; 3] = [
    &["spec", "containers"],
    &["spec", "template", "spec", "containers"],
    &["spec", "jobTemplate", "spec", "template", "spec", "containers"],
];

/// Runs `cfg tree`.
///
/// # Errors
/// A file cannot be read, or a path is not valid.
pub(super) fn run(args: &Tree) -> Result<()> {
    let heap = Heap::new();
    let arena = heap.arena();
    let (root, items) = match args.directory.as_deref().unwrap_or(".") {
        "-" => (".".to_owned(), read::stream(arena, "stdin", stdin()?, Annotate::Index)?.items),
        root => (clean(root), read::directory(arena, Path::new(root), Files::Yaml, Below::All)?),
    };
    let fields = fields(args)?;
    let Some(items) = annotations::step(arena, items, |items| Ok(filter::local(items, args.local.chosen())))? else {
        return Ok(());
    };
    let structure = match args.graph_structure.as_deref() {
        Some("directory") => Structure::Directories,
        Some("owners") => Structure::Owners,
        _ => Structure::Found,
    };
    let tree = tree::print(arena, items, &root, &fields, structure).map_err(|e| e.located(&heap))?;
    Ok(writer::print(&Shown::values(&tree))?)
}

/// The fields that the flags ask for.
fn fields(args: &Tree) -> Result<Vec<Field>> {
    let mut fields = Vec::new();
    for path in &args.field {
        fields.push(Field::new(query::path(path)?));
    }
    let is_on = |flag: Option<bool>| flag.unwrap_or(args.all == Some(true));
    let path = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    let of_containers = [
        (args.name, "name"),
        (args.image, "image"),
        (args.command, "command"),
        (args.args, "args"),
        (args.env, "env"),
        (args.resources, "resources"),
        (args.ports, "ports"),
    ];
    for (_, name) in of_containers.into_iter().filter(|(flag, _)| is_on(*flag)) {
        let at = |containers: &&[&str]| Field::new(path(&[containers, &["[name=.*]", name][..]].concat()));
        fields.extend(CONTAINERS.iter().map(at));
    }
    for (flag, name) in [(args.replicas, "replicas"), (args.ports, "ports")] {
        if is_on(flag) {
            fields.push(Field::new(path(&["spec", name])));
        }
    }
    Ok(fields)
}
