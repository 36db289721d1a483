//! The files that an installation makes on this machine (a virtual environment, a binary, packages)
//! are not part of a plugin's content. They have checksums of their own, in a file beside the
//! plugin.

use super::beside::sum_name;
use super::exclusive::ExclusiveRoot;
use crate::diag::{Code, Error, Result};
use crate::manager::author::client::NeededPlugin;
use crate::manager::author::manifest::DENO_DIRECTORY;
use crate::manager::id::content::{self, MADE, NODE_MODULES, is_executable, sha256};
use crate::manager::id::name::MADE_SUFFIX;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The sums of what was made, by its name in the plugin's directory.
pub(in crate::manager) type Sums = BTreeMap<String, String>;

/// The sums of the files in a plugin's directory now. O(bytes).
///
/// # Errors
/// It cannot be read, or holds something else than files, directories and links.
fn now(plugin: &Path) -> io::Result<Sums> {
    let mut sums = Sums::new();
    let modules = plugin.join(NODE_MODULES);
    if modules.symlink_metadata().is_ok() {
        sums.insert(NODE_MODULES.to_owned(), sum(&modules)?);
    }
    let entries = match fs::read_dir(plugin.join(MADE)) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(sums),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let entry = entry?;
        sums.insert(format!("{MADE}/{}", entry.file_name().display()), sum(&entry.path())?);
    }
    Ok(sums)
}

/// The sum of a file, a link, or a directory with all that is in it; links are not followed.
fn sum(path: &Path) -> io::Result<String> {
    let mut lines = Vec::new();
    let mut queue = vec![(String::new(), path.to_owned())];
    while let Some((name, path)) = queue.pop() {
        let kind = path.symlink_metadata()?.file_type();
        if kind.is_dir() {
            lines.push(format!("d {name:?}"));
            for entry in fs::read_dir(&path)?.collect::<io::Result<Vec<_>>>()? {
                let is_deno = path.ends_with(Path::new(MADE).join(DENO_DIRECTORY));
                if !(is_deno && is_analysis(&entry.file_name().to_string_lossy())) {
                    queue.push((format!("{name}/{}", entry.file_name().display()), entry.path()));
                }
            }
        } else if kind.is_symlink() {
            lines.push(format!("l {name:?} {:?}", fs::read_link(&path)?));
        } else if kind.is_file() {
            let opened = File::open(&path)?;
            let mark = if is_executable(&opened)? { 'x' } else { '-' };
            lines.push(format!("{} {mark} {name:?}", sha256(opened)?));
        } else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a file"));
        }
    }
    lines.sort();
    sha256(lines.join("\n").as_bytes())
}

/// Returns whether an entry of deno's directory is a database of imports and exports, as
/// `dep_analysis_cache_v2`. Deno writes it each time that it runs outside of a sandbox. It holds no
/// code, and is in no sum.
fn is_analysis(name: &str) -> bool {
    name.contains("_analysis_cache_v")
}

/// Removes these databases from a directory of deno.
///
/// # Errors
/// It is not a directory, or cannot be read or written.
pub(in crate::manager) fn remove_analyses(directory: &Path) -> io::Result<()> {
    // The tool that wrote it may have put a link to a directory of the user there.
    if !directory.symlink_metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if is_analysis(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The sums of what was made when a plugin was installed; none where nothing was.
fn recorded(plugin: &Path) -> io::Result<Sums> {
    match fs::read_to_string(sum_name(plugin, MADE_SUFFIX)) {
        Ok(text) => Ok(text
            .lines()
            .filter_map(|line| line.split_once("  "))
            .map(|(sum, name)| (name.to_owned(), sum.to_owned()))
            .collect()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Sums::new()),
        Err(e) => Err(e),
    }
}

fn write(root: &ExclusiveRoot, plugin: &Path, sums: &Sums) -> Result<()> {
    let text: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    root.write(&sum_name(plugin, MADE_SUFFIX), &text, 0o644)
}

fn cannot(plugin: &Path) -> impl FnOnce(io::Error) -> Error {
    let message = format!("cannot read what was made in '{}'", plugin.display());
    move |e| Error::io(&e, format!("{message}: {e}"))
}

/// Notes what was made of a plugin that is being installed.
///
/// # Errors
/// It cannot be read, or the file not be written.
pub(in crate::manager) fn record(root: &ExclusiveRoot, plugin: &Path) -> Result<()> {
    let sums = now(plugin).map_err(cannot(plugin))?;
    if sums.is_empty() { Ok(()) } else { write(root, plugin, &sums) }
}

/// Records the checksum of one entry of [`MADE`] again, and leaves the others as they are.
///
/// # Errors
/// As [`record`].
pub(in crate::manager) fn record_again(root: &ExclusiveRoot, plugin: &Path, name: &str) -> Result<()> {
    let mut sums = recorded(plugin).map_err(cannot(plugin))?;
    let path = plugin.join(MADE).join(name);
    if path.exists() {
        sums.insert(format!("{MADE}/{name}"), sum(&path).map_err(cannot(plugin))?);
    }
    write(root, plugin, &sums)
}

/// The name of a file or directory that differs from its state after the installation. O(bytes).
///
/// # Errors
/// It cannot be read.
pub(in crate::manager) fn differing(plugin: &Path) -> io::Result<Option<String>> {
    let (was, is) = (recorded(plugin)?, now(plugin)?);
    let names = was.keys().chain(is.keys());
    Ok(names.filter(|name| was.get(*name) != is.get(*name)).min().cloned())
}

/// Holds what a plugin needs to what was installed for it. O(bytes of them).
///
/// # Errors
/// One is something else now, or is gone.
pub fn verify(clients: &[NeededPlugin]) -> Result<()> {
    let is_made = |path: &Path| !path.is_dir() || matches!(differing(path), Ok(None));
    let is_same = |client: &NeededPlugin| content::sum(&client.path).is_ok_and(|sum| sum == client.sum);
    match clients.iter().find(|client| !is_same(client) || !is_made(&client.path)) {
        None => Ok(()),
        Some(client) => {
            let message = format!("its dependency '{}' has changed since it was installed", client.path.display());
            Err(Error::new(Code::Checksum, message).hint("install it again: rustomize plugin install"))
        }
    }
}
