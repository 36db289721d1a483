//! `cfg count`: the resources below a directory, by kind. And the commands of kustomize for
//! directories of resources that do not exist here: an error says what to use.

use super::switch::switch;
use super::writer::{self, Shown};
use crate::diag::{Code, Error};
use crate::load::FileLimit;
use crate::shown;
use crate::yaml::{Heap, Malformed, documents};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file that makes a package of its own of a directory.
const PACKAGE_FILE: &str = "Krmfile";

/// The file with patterns of files to leave out, which only kustomize reads.
const IGNORE_FILE: &str = ".krmignore";

/// `cfg`.
#[derive(Args)]
pub struct Cfg {
    #[command(subcommand)]
    pub command: CfgCommand,
}

/// The commands of `cfg`.
#[derive(Subcommand)]
pub enum CfgCommand {
    /// Count the resources of a directory, or of stdin
    Count(Count),
    /// Not implemented: print the resources of a directory
    #[command(hide = true)]
    Cat(Anything),
    /// Not implemented: print the resources that match a query
    #[command(hide = true)]
    Grep(Anything),
    /// Not implemented: print the resources of a directory as a tree
    #[command(hide = true)]
    Tree(Anything),
}

/// `cfg count`.
#[derive(Args)]
pub struct Count {
    /// The directory, or a file; without it, stdin
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Count each kind: --kind=false prints one number
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub kind: Option<bool>,

    /// Count packages below the directory, too: directories with a Krmfile
    #[arg(short = 'R', long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub recurse_subpackages: Option<bool>,
}

/// The arguments of a command that does not exist here.
#[derive(Args)]
pub struct Anything {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub arguments: Vec<std::ffi::OsString>,
}

/// `fn`.
#[derive(Args)]
pub struct Fn {
    #[command(subcommand)]
    pub command: FnCommand,
}

/// The commands of `fn`.
#[derive(Subcommand)]
pub enum FnCommand {
    /// Not implemented: run the functions of a directory
    Run(Anything),
}

/// Runs `cfg`.
///
/// # Errors
/// A file cannot be read, or the command does not exist here.
pub fn run(args: &Cfg) -> Result<()> {
    let (command, instead) = match &args.command {
        CfgCommand::Count(count) => return self::count(count),
        CfgCommand::Cat(_) => ("cat", "'cat DIR/*.yaml' prints files, 'rustomize build' a kustomization"),
        CfgCommand::Grep(_) => ("grep", "pipe 'rustomize build' into yq: yq 'select(.kind == \"Deployment\")'"),
        CfgCommand::Tree(_) => ("tree", "'rustomize cfg count DIR' counts the resources of each kind"),
    };
    bail!("'cfg {command}' is an alpha command of kustomize that does not exist here: {instead}")
}

/// Refuses `fn run`.
///
/// # Errors
/// Always.
pub fn refuse(args: &Fn) -> Result<()> {
    let FnCommand::Run(_) = args.command;
    bail!(
        "'fn run' is an alpha command of kustomize that does not exist here: list the functions in 'transformers' of a \
         kustomization and run 'rustomize build --enable-alpha-plugins --enable-exec', or call one function with \
         'rustomize plugin run'"
    )
}

/// Prints the counts of each package, or of stdin. Nothing is printed if a file cannot be read.
fn count(args: &Count) -> Result<()> {
    let by_kind = args.kind.unwrap_or(true);
    let mut printed = String::new();
    match &args.directory {
        None => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read stdin")?;
            printed.push_str(&counts(&kinds("stdin", text)?, by_kind));
        }
        Some(directory) => {
            let packages = packages(directory, args.recurse_subpackages.unwrap_or(true))?;
            for (i, package) in packages.iter().enumerate() {
                let mut found = Vec::new();
                for file in &package.files {
                    found.extend(kinds(&file.display().to_string(), read(file)?)?);
                }
                let between = if i == 0 { "" } else { "\n" };
                printed.push_str(&format!(
                    "{between}{}/\n{}",
                    shown::line(&package.path.to_string_lossy()),
                    counts(&found, by_kind)
                ));
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

fn read(file: &Path) -> Result<String> {
    let limit = FileLimit::default().0;
    let mut text = Vec::new();
    let open = fs::File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    open.take(limit + 1).read_to_end(&mut text).with_context(|| format!("cannot read {}", file.display()))?;
    if text.len() as u64 > limit {
        bail!("{} is larger than {limit} bytes", file.display());
    }
    String::from_utf8(text).with_context(|| format!("{} is not text in UTF-8", file.display()))
}

/// The kind of each document of a text; an empty text for a document without a kind.
fn kinds(name: &str, text: String) -> Result<Vec<String>> {
    let heap = Heap::new();
    let arena = heap.arena();
    let malformed = |m: Malformed| Error::from(m).located(&heap);
    let nodes = documents(arena, arena.add_source(name, text)).map_err(malformed)?;
    if let Some(other) = nodes.iter().find(|node| node.as_mapping().is_none()) {
        let fault = format!("expected a resource, found {}", other.shape());
        return Err(Error::new(Code::BadValue, fault).at(other.pos()).located(&heap).into());
    }
    Ok(nodes.iter().map(|node| node.get_text("kind").unwrap_or_default().to_owned()).collect())
}

/// A directory that is counted by itself, and its files.
struct Package {
    path: PathBuf,
    files: Vec<PathBuf>,
}

/// The directory and the packages below it, by path.
fn packages(directory: &Path, with_below: bool) -> Result<Vec<Package>> {
    let own = Package { path: directory.to_owned(), files: Vec::new() };
    if fs::symlink_metadata(directory).with_context(|| format!("cannot read {}", directory.display()))?.is_file() {
        return Ok(vec![Package { files: vec![directory.to_owned()], ..own }]);
    }
    let mut packages = vec![own];
    let mut open = vec![(directory.to_owned(), 0)];
    while let Some((directory, package)) = open.pop() {
        let entries = fs::read_dir(&directory).with_context(|| format!("cannot list {}", directory.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", directory.display()))?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            let path = if directory == Path::new(".") { PathBuf::from(&name) } else { directory.join(&name) };
            if name == IGNORE_FILE {
                bail!("{}: files with patterns to leave out are not supported", path.display());
            }
            if kind.is_dir() {
                let is_package = fs::symlink_metadata(path.join(PACKAGE_FILE)).is_ok();
                if !is_package {
                    open.push((path, package));
                } else if with_below {
                    packages.push(Package { path: path.clone(), files: Vec::new() });
                    open.push((path, packages.len() - 1));
                }
            } else if kind.is_file() && path.extension().is_some_and(|e| e == "yaml" || e == "yml") {
                packages[package].files.push(path);
            }
        }
    }
    for package in &mut packages {
        package.files.sort();
    }
    packages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(packages)
}
