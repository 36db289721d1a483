//! `cfg grep`: prints the resources that match a query.

use super::input::{packages_in_turn, stdin};
use crate::flags::switch::Switch;
use crate::writer;
use anyhow::{Result, bail};
use clap::Args;
use rustomize_edit::package::query::Query;
use rustomize_edit::package::read::{self, Annotate, Below, Files};
use rustomize_edit::package::write::{self, Writing};
use rustomize_edit::package::{Item, annotations};
use rustomize_engine::diag;
use rustomize_yaml::{Arena, Heap};
use std::path::Path;

pub(super) const ABOUT: &str = "Print the resources of a directory, or of stdin, that match a query: a path and a condition. The parts of a \
    path are separated by dots, '[name=web]' chooses items of a list, and a backslash before a dot makes it a part of a \
    name or value. '=' compares with a pattern, '<', '<=', '>' and '>=' compare quantities.";

pub(super) const EXAMPLES: &str = "Examples:
  # Find Deployments
  rustomize cfg grep kind=Deployment my-dir

  # Find resources with an image
  rustomize cfg grep 'spec.template.spec.containers[name=nginx].image=nginx:1\\.7\\.9' my-dir

  # Find workloads with more than three replicas
  rustomize cfg grep 'spec.replicas>3' my-dir | rustomize cfg tree -";

/// `cfg grep`.
#[derive(Args)]
pub(crate) struct Grep {
    /// The query, and the directory or file; without it, stdin
    #[arg(value_name = "QUERY> <DIR", num_args = 0..=2)]
    pub words: Vec<String>,

    /// Leave out the annotations that say which file a resource is from: --annotate=false
    #[arg(long, switch())]
    pub annotate: Option<bool>,

    /// Print the resources that do not match
    #[arg(long, switch())]
    pub invert_match: Option<bool>,

    /// Search packages below the directory, too: directories with a Krmfile
    #[arg(short = 'R', long, switch())]
    pub recurse_subpackages: Option<bool>,
}

/// Runs `cfg grep`. Nothing is printed if a file cannot be read.
///
/// # Errors
/// The query is not valid or does not fit a resource, or a file cannot be read.
pub(super) fn run(args: &Grep) -> Result<()> {
    let Some(query) = args.words.first() else {
        bail!("missing required argument: QUERY\n  hint: a query is as in: rustomize cfg grep kind=Deployment my-dir")
    };
    let query = Query::new(query)?;
    let printed = match args.words.get(1) {
        None => {
            let heap = Heap::new();
            let arena = heap.arena();
            print(arena, read::stream(arena, "stdin", stdin()?, Annotate::Index)?.items, &query, args)?
        }
        Some(root) => packages_in_turn(root, args.recurse_subpackages.unwrap_or(true), |package| {
            let heap = Heap::new();
            let arena = heap.arena();
            let items = read::directory(arena, Path::new(package), Files::Yaml, Below::OwnPackage)?;
            Ok(print(arena, items, &query, args)?)
        })?,
    };
    Ok(writer::data([printed])?)
}

fn print<'a>(arena: Arena<'a>, items: Vec<Item<'a>>, query: &Query, args: &Grep) -> diag::Result<String> {
    let is_inverted = args.invert_match.unwrap_or(false);
    let found = annotations::step(arena, items, |items| {
        let test = query.test(arena)?;
        let mut found = Vec::new();
        for item in items {
            let place = item.document.pos(item.root());
            if test(item.root()).map_err(|e| e.at(place).located(arena.heap()))? != is_inverted {
                found.push(item);
            }
        }
        Ok(found)
    })?;
    let writing = Writing { keeps_annotations: args.annotate.unwrap_or(true), keeps_path: true, ..Writing::default() };
    write::print(arena, &found.unwrap_or_default(), &writing)
}
