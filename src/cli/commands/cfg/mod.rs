//! `cfg`: counts, prints and searches the resources below a directory, without a build.

mod cat;
mod grep;
pub(crate) mod input;
mod tree;

use crate::commands::cfg::input::stdin;
use crate::flags::complete;
use crate::flags::switch::Switch;
use crate::writer::{self, Shown};
use anyhow::Result;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use rustomize_base::shown;
use rustomize_edit::package::Item;
use rustomize_edit::package::read::{self, Annotate, Below, Files};
use rustomize_yaml::Heap;
use std::collections::BTreeMap;
use std::path::Path;

/// `cfg`.
#[derive(Args)]
pub(crate) struct Cfg {
    #[command(subcommand)]
    pub command: CfgCommand,
}

/// The commands of `cfg`.
#[derive(Subcommand)]
pub(crate) enum CfgCommand {
    /// Count the resources of a directory, or of stdin
    Count(Count),
    /// Print the resources of a directory, or of stdin
    #[command(after_long_help = cat::EXAMPLES)]
    Cat(cat::Cat),
    /// Print the resources of a directory, or of stdin, that match a query
    #[command(long_about = grep::ABOUT, after_long_help = grep::EXAMPLES)]
    Grep(grep::Grep),
    /// Show the resources of a directory, or of stdin, as a tree
    #[command(after_long_help = tree::EXAMPLES)]
    Tree(tree::Tree),
}

/// `cfg count`.
#[derive(Args)]
pub(crate) struct Count {
    /// The directory, or a file; without it, stdin
    #[arg(value_name = "DIR", add = ArgValueCompleter::new(complete::directories))]
    pub directory: Option<String>,

    /// Count each kind: --kind=false prints one number
    #[arg(long, switch())]
    pub kind: Option<bool>,

    /// Count packages below the directory, too: directories with a Krmfile
    #[arg(short = 'R', long, switch())]
    pub recurse_subpackages: Option<bool>,
}

/// Runs `cfg`.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn run(args: &Cfg) -> Result<()> {
    match &args.command {
        CfgCommand::Count(count) => self::count(count),
        CfgCommand::Cat(cat) => cat::run(cat),
        CfgCommand::Grep(grep) => grep::run(grep),
        CfgCommand::Tree(tree) => tree::run(tree),
    }
}

/// Prints the counts of each package, or of stdin. Nothing is printed if a file cannot be read.
fn count(args: &Count) -> Result<()> {
    let by_kind = args.kind.unwrap_or(true);
    let mut printed = String::new();
    match &args.directory {
        None => {
            let heap = Heap::new();
            let items = read::stream(heap.arena(), "stdin", stdin()?, Annotate::Nothing)?.items;
            printed.push_str(&counts(&kinds(&items), by_kind));
        }
        Some(root) => {
            for (i, package) in read::packages(root, args.recurse_subpackages.unwrap_or(true))?.iter().enumerate() {
                let heap = Heap::new();
                let items = read::directory(heap.arena(), Path::new(package), Files::Yaml, Below::OwnPackage)?;
                let between = if i == 0 { "" } else { "\n" };
                let counts = counts(&kinds(&items), by_kind);
                printed.push_str(&format!("{between}{}/\n{counts}", shown::line(package)));
            }
        }
    }
    Ok(writer::print(&Shown::message(&printed))?)
}

fn counts(kinds: &[String], by_kind: bool) -> String {
    if !by_kind {
        return format!("{}\n", kinds.len());
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in kinds {
        *counts.entry(kind).or_default() += 1;
    }
    counts.iter().map(|(kind, count)| format!("{}: {count}\n", shown::line(kind))).collect()
}

/// The kind of each resource; an empty text for a document without a kind.
fn kinds(items: &[Item<'_>]) -> Vec<String> {
    items.iter().map(|item| item.text("kind").to_owned()).collect()
}
