//! `cache`: shows and empties the directory that keeps remote parts between builds.

use crate::cache;
use crate::flags::format::Format;
use crate::writer::{self, Shown};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use rustomize_base::shown;
use rustomize_files as files;
use rustomize_sources::cache::{Cache, KINDS, NAME};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// `cache`.
#[derive(Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct CacheCommand {
    #[command(subcommand)]
    pub verb: CacheVerb,
}

/// The verbs of `cache`.
#[derive(Subcommand)]
pub(crate) enum CacheVerb {
    /// Print the directory
    Dir,
    /// List the remote parts, with the size of each
    List {
        /// How to print: text or json
        #[arg(short, long, value_name = "FORMAT", default_value = "text")]
        output: Format,
    },
    /// Remove all remote parts; builds fetch what they need again
    Clean,
}

/// The most bytes that are read of the name of a part.
const LONGEST_NAME: u64 = 64 << 10;

/// A remote part in the cache.
struct KeptPart {
    kind: &'static str,
    /// The name of the part; empty if the cache does not know its name.
    name: String,
    /// The number of its versions.
    versions: usize,
    bytes: u64,
}

/// Runs `cache`.
///
/// # Errors
/// No directory can be a cache, or the cache cannot be read or changed.
pub(crate) fn run(command: &CacheCommand) -> Result<()> {
    let directory = cache::writable()
        .or_else(cache::of_user)
        .context("no directory can be a cache\n  hint: set HOME, XDG_CACHE_HOME, RUSTOMIZE_CACHE_DIR or TMPDIR")?;
    match &command.verb {
        CacheVerb::Dir => writer::data([format!("{}\n", directory.display())])?,
        CacheVerb::List { output } => list(&directory, *output)?,
        CacheVerb::Clean => clean(&directory)?,
    }
    Ok(())
}

/// The parts of one kind, each with its directory.
fn kept(directory: &Path, kind: &'static str) -> io::Result<Vec<KeptPart>> {
    let folder = directory.join(kind);
    if !folder.symlink_metadata().is_ok_and(|is| is.is_dir()) {
        return Ok(Vec::new());
    }
    let mut parts = Vec::new();
    for shelf in fs::read_dir(folder)? {
        let shelf = shelf?.path();
        if !shelf.symlink_metadata()?.is_dir() {
            continue;
        }
        let names = fs::read_dir(&shelf)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        let names = names.collect::<io::Result<Vec<String>>>()?;
        let versions = names.iter().filter(|name| *name != NAME && !name.starts_with("ref-")).count();
        let name = shelf.join(NAME);
        let is_short = name.symlink_metadata().is_ok_and(|is| is.is_file() && is.len() <= LONGEST_NAME);
        let name = if is_short { fs::read_to_string(name).unwrap_or_default() } else { String::new() };
        parts.push(KeptPart { kind, name, versions, bytes: size(&shelf)? });
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(parts)
}

/// The bytes of the files below a directory. Links are not followed.
fn size(directory: &Path) -> io::Result<u64> {
    let (mut bytes, mut queue) = (0, vec![directory.to_owned()]);
    while let Some(directory) = queue.pop() {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => queue.push(entry.path()),
                kind if kind.is_file() => bytes += entry.metadata()?.len(),
                _ => {}
            }
        }
    }
    Ok(bytes)
}

fn list(directory: &Path, output: Format) -> Result<()> {
    let mut all = Vec::new();
    for kind in KINDS {
        let cannot = || format!("cannot read '{}'", directory.join(kind).display());
        all.extend(kept(directory, kind).with_context(cannot)?);
    }
    if output == Format::Json {
        let row = |part: &KeptPart| json!({ "kind": part.kind, "name": part.name, "versions": part.versions, "bytes": part.bytes });
        return Ok(writer::print_json(all.iter().map(row).collect())?);
    }
    let mut text = String::new();
    for KeptPart { kind, name, versions, bytes } in &all {
        let name = if name.is_empty() { "(unknown)".into() } else { shown::line(name) };
        text.push_str(&format!("{kind}\t{name}\t{versions}\t{bytes}\n"));
    }
    Ok(writer::print(&Shown::message(&text))?)
}

/// Removes the directories of remote parts. They are renamed while no build uses the cache, and
/// removed then: a build that begins meanwhile fetches its parts again.
fn clean(directory: &Path) -> Result<()> {
    let cache = Cache::new(directory.to_owned());
    let cannot = |folder: &Path| format!("cannot remove '{}'", folder.display());
    if directory.symlink_metadata().is_err() {
        return Ok(());
    }
    let wait = || writer::say(&format!("waiting for the builds that use '{}'", directory.display()));
    let alone = cache.alone(wait);
    for old in left(directory) {
        files::remove(&old).with_context(|| cannot(&old))?;
    }
    let old = tempfile::Builder::new().prefix(files::PREFIX).tempdir_in(directory);
    let old = old.with_context(|| cannot(directory))?;
    for kind in KINDS {
        let folder: PathBuf = cache.all(kind);
        if folder.symlink_metadata().is_err() {
            continue;
        }
        if !cache.is_private(&folder) {
            bail!("'{}' is a link, or other users may change it: remove it yourself", folder.display());
        }
        fs::rename(&folder, old.path().join(kind)).with_context(|| cannot(&folder))?;
    }
    drop(alone);
    files::remove(old.path()).with_context(|| cannot(old.path()))
}

/// The directories that killed processes have left when they emptied the cache.
fn left(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let is_left = |entry: &fs::DirEntry| {
        files::is_temporary(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    entries.filter(is_left).map(|entry| entry.path()).collect()
}
