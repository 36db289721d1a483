//! `tree`: the parts of kustomizations, as a tree or as a graph. Nothing is built.

pub(crate) mod text;

use crate::flags::complete;
use crate::roots::{cannot_look, missing, none_found};
use crate::writer::{self, Shown};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use rustomize_base::shell::quoted;
use rustomize_engine::load::FileLimit;
use rustomize_engine::pipeline::outline::{Kind, Outline, outline};
use rustomize_engine::pipeline::roots::{FoundRoot, find};
use rustomize_sources::Disk;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

const EXAMPLES: &str = "Examples:
  # The overlay of the working directory
  rustomize tree

  # All kustomizations below a directory, as a picture
  rustomize tree --all deploy -o dot | dot -Tsvg > deploy.svg

Nothing is built, fetched or run: remote parts are named. '(*)' is for a directory whose parts are shown above.";

/// `tree`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Tree {
    /// The directories with the kustomizations [default: .]
    #[arg(value_name = "DIR", add = ArgValueCompleter::new(complete::kustomizations))]
    pub directories: Vec<String>,

    /// Show every kustomization at and below DIR, each that others use below its users
    #[arg(long)]
    pub all: bool,

    /// How to print the parts
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: TreeFormat,
}

/// How parts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TreeFormat {
    /// A tree for people
    Text,
    /// A graph for Graphviz
    Dot,
    /// A graph for Markdown pages that draw Mermaid
    Mermaid,
    /// One JSON object, for programs
    Json,
}

/// Runs `tree`.
///
/// # Errors
/// A directory lacks a kustomization, or stdout is closed.
pub(crate) fn run(args: &Tree) -> Result<()> {
    let outline = outline(&Disk::new(), &roots(args)?, FileLimit::default());
    if let Some(nothing) = outline.roots.iter().find(|root| outline.parts[**root].kind == Kind::Missing) {
        let name = &outline.parts[*nothing].name;
        let below = find(&Disk::new(), name, FileLimit::default()).unwrap_or_default();
        if !Path::new(name).exists() {
            return Err(missing(name));
        }
        let hint = match below.is_empty() {
            true => String::new(),
            false => format!("\n  hint: look below it: rustomize tree --all {}", quoted(name)),
        };
        bail!("'{name}' has no kustomization{hint}");
    }
    let printed = match args.output {
        TreeFormat::Text => text::print(&outline),
        TreeFormat::Dot => dot(&outline),
        TreeFormat::Mermaid => mermaid(&outline),
        TreeFormat::Json => return Ok(writer::print_json(json(&outline))?),
    };
    Ok(writer::print(&Shown::values(&printed))?)
}

/// The roots to show. With --all, the roots that no other kustomization uses come first.
fn roots(args: &Tree) -> Result<Vec<String>> {
    let here = [".".to_owned()];
    let directories = if args.directories.is_empty() { &here } else { args.directories.as_slice() };
    if !args.all {
        return Ok(directories.to_vec());
    }
    let mut all: Vec<FoundRoot> = Vec::new();
    for directory in directories {
        let found = find(&Disk::new(), directory, FileLimit::default()).map_err(|e| cannot_look(directory, &e))?;
        if found.is_empty() {
            return Err(none_found(directory, FileLimit::default()));
        }
        all.extend(found);
    }
    all.sort_by_key(|root| root.is_used);
    Ok(all.into_iter().map(|root| root.path).collect())
}

/// A graph for Graphviz. Texts are in quotes, in which Graphviz has one escape.
fn dot(outline: &Outline) -> String {
    let label = |text: &str| format!("\"{}\"", text::name(text).replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = "digraph kustomizations {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for (at, part) in outline.parts.iter().enumerate() {
        let style = match part.kind {
            Kind::Kustomization => "style=bold",
            Kind::Component => "style=\"bold,rounded\"",
            Kind::Plugin => "shape=component",
            Kind::Remote | Kind::Chart => "style=dashed",
            Kind::Missing | Kind::Unreadable => "color=red",
            Kind::File | Kind::Inline => "shape=note",
        };
        let _ = writeln!(out, "  p{at} [label={}, {style}];", label(&part.name));
    }
    for (at, part) in outline.parts.iter().enumerate() {
        for link in &part.links {
            let _ = writeln!(out, "  p{at} -> p{} [label={}];", link.to, label(link.field));
        }
    }
    out.push_str("}\n");
    out
}

/// A graph for Mermaid. Characters that have a meaning in Mermaid or HTML are written as their
/// numbers.
fn mermaid(outline: &Outline) -> String {
    let label = |text: &str| {
        let is_plain =
            |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '/' | '-' | '_' | ':' | '=' | '@' | '?');
        text::name(text)
            .chars()
            .map(|c| if is_plain(c) { c.to_string() } else { format!("#{};", u32::from(c)) })
            .collect::<String>()
    };
    let mut out = "graph LR\n".to_owned();
    for (at, part) in outline.parts.iter().enumerate() {
        let (open, close) = match part.kind {
            Kind::Kustomization | Kind::Unreadable | Kind::Missing => ("[", "]"),
            Kind::Component => ("(", ")"),
            Kind::Plugin => ("[[", "]]"),
            Kind::Remote | Kind::Chart => ("([", "])"),
            Kind::File | Kind::Inline => ("[/", "/]"),
        };
        let _ = writeln!(out, "  p{at}{open}\"{}\"{close}", label(&part.name));
    }
    for (at, part) in outline.parts.iter().enumerate() {
        for link in &part.links {
            let _ = writeln!(out, "  p{at} -->|{}| p{}", link.field, link.to);
        }
    }
    out
}

fn json(outline: &Outline) -> Value {
    let part = |(at, part): (usize, &rustomize_engine::pipeline::outline::Part)| {
        let links = part.links.iter().map(|link| json!({"field": link.field, "to": link.to}));
        json!({"id": at, "kind": part.kind.as_str(), "name": part.name, "links": links.collect::<Vec<_>>()})
    };
    let parts: Vec<_> = outline.parts.iter().enumerate().map(part).collect();
    json!({"roots": outline.roots, "parts": parts})
}
