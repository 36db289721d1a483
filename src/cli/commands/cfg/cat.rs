//! `cfg cat`: prints the resources of a directory.

use super::input::{LocalArgs, packages_in_turn, stdin};
use crate::flags::complete;
use crate::flags::switch::{Switch, is_on};
use crate::{output, writer};
use anyhow::{Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use rustomize_edit::package::filter;
use rustomize_edit::package::read::{self, Annotate, Below, Files};
use rustomize_edit::package::write::{self, PrintStyle, Writing};
use rustomize_edit::package::{Item, annotations};
use rustomize_yaml::noted::Noted;
use rustomize_yaml::{Arena, Heap};
use std::path::{Path, PathBuf};

pub(super) const EXAMPLES: &str = "Examples:
  # Print the resources of a directory, with their fields in the usual order
  rustomize cfg cat my-dir

  # Print them as the input of a function
  rustomize cfg cat my-dir --wrap-kind ResourceList --wrap-version config.kubernetes.io/v1 --function-config fn.yaml";

/// `cfg cat`.
#[derive(Args)]
pub(crate) struct Cat {
    /// The directory, or a file; without it, stdin
    #[arg(value_name = "DIR", add = ArgValueCompleter::new(complete::directories))]
    pub directory: Option<String>,

    /// Sort the fields of each resource: --format=false keeps their order
    #[arg(long, switch())]
    pub format: Option<bool>,

    /// Add annotations that say which file a resource is from
    #[arg(long, switch())]
    pub annotate: Option<bool>,

    /// The kind of a list around the resources
    #[arg(long, value_name = "KIND", allow_hyphen_values = true)]
    pub wrap_kind: Option<String>,

    /// The apiVersion of that list
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true)]
    pub wrap_version: Option<String>,

    /// A file with the functionConfig of that list
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub function_config: Option<PathBuf>,

    /// Styles of the output: FlowStyle prints braces, TaggedStyle a tag; the others change nothing
    #[arg(long, value_name = "STYLE", value_delimiter = ',', allow_hyphen_values = true)]
    pub style: Vec<String>,

    /// Leave out comments
    #[arg(long, switch())]
    pub strip_comments: Option<bool>,

    #[command(flatten)]
    pub local: LocalArgs,

    /// Write to this file
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub dest: Option<PathBuf>,

    /// Print packages below the directory, too: directories with a Krmfile
    #[arg(short = 'R', long, switch())]
    pub recurse_subpackages: Option<bool>,
}

/// The styles that kustomize knows.
const STYLES: [&str; 6] =
    ["TaggedStyle", "DoubleQuotedStyle", "SingleQuotedStyle", "LiteralStyle", "FoldedStyle", "FlowStyle"];

/// Runs `cfg cat`. Nothing is printed if a file cannot be read.
///
/// # Errors
/// A file cannot be read, or its resources cannot be printed.
pub(super) fn run(args: &Cat) -> Result<()> {
    let printed = match &args.directory {
        None => {
            let heap = Heap::new();
            let arena = heap.arena();
            let content = read::stream(arena, "stdin", stdin()?, Annotate::Index)?;
            print(arena, content.items, args)?
        }
        Some(root) => packages_in_turn(root, args.recurse_subpackages.unwrap_or(true), |package| {
            let heap = Heap::new();
            let arena = heap.arena();
            let items = read::directory(arena, Path::new(package), Files::Yaml, Below::OwnPackage)?;
            print(arena, items, args)
        })?,
    };
    match args.dest.as_deref().filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => output::write_text(&printed, path),
        None => Ok(writer::data([printed])?),
    }
}

fn print<'a>(arena: Arena<'a>, items: Vec<Item<'a>>, args: &Cat) -> Result<String> {
    let mut items = annotations::step(arena, items, |items| Ok(filter::local(items, args.local.chosen())))?;
    if args.format.unwrap_or(true)
        && let Some(found) = items
    {
        items = annotations::step(arena, found, |mut items| {
            items.iter_mut().try_for_each(filter::format)?;
            Ok(items)
        })?;
    }
    if is_on(args.strip_comments)
        && let Some(found) = items
    {
        items = annotations::step(arena, found, |mut items| {
            items.iter_mut().for_each(|item| item.document.root.strip_comments());
            Ok(items)
        })?;
    }
    let Some(items) = items else { return Ok(String::new()) };
    let wrap_kind = args.wrap_kind.as_deref().filter(|kind| !kind.is_empty());
    let style = |name: &str| args.style.iter().any(|style| style == name);
    let writing = Writing {
        keeps_annotations: is_on(args.annotate),
        keeps_path: false,
        wrapping: wrap_kind.map(|kind| (kind, args.wrap_version.as_deref().unwrap_or_default())),
        function_config: function_config(arena, args)?,
        style: PrintStyle {
            is_given: STYLES.into_iter().any(style),
            in_braces: style("FlowStyle"),
            is_tagged: style("TaggedStyle"),
        },
    };
    Ok(write::print(arena, &items, &writing)?)
}

fn function_config<'a>(arena: Arena<'a>, args: &Cat) -> Result<Option<Noted<'a>>> {
    let Some(path) = args.function_config.as_deref().filter(|path| !path.as_os_str().is_empty()) else {
        return Ok(None);
    };
    let mut configs = match args.annotate.unwrap_or(false) {
        true => read::directory(arena, path, Files::Yaml, Below::All)?,
        false => read::plain(arena, path)?,
    };
    match (configs.pop(), configs.len()) {
        (Some(config), 0) => Ok(Some(config.document.root)),
        (config, others) => {
            bail!(
                "expected exactly 1 functionConfig, found {}\n  hint: name a file with one document",
                others + usize::from(config.is_some())
            )
        }
    }
}
