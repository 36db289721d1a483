//! The files that an installation makes on this machine (a virtual environment, a binary, packages)
//! are not part of a plugin's content. They have checksums of their own, in a file beside the
//! plugin.

use super::exclusive::ExclusiveRoot;
use super::sibling_files::sum_name;
use crate::author::client::NeededPlugin;
use crate::author::manifest::DENO_DIRECTORY;
use crate::diag::{Code, Error, Result};
use crate::id::content::{self, MADE, NODE_MODULES, sha256};
use crate::id::name::MADE_SUFFIX;
use rustomize_files::{self as files, Directory, Kind, RECORD, name_fault, shown};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The sums of the files that an installation made, by their names in the plugin's directory.
pub(crate) type Sums = BTreeMap<String, String>;

/// The entries in a plugin's directory that its installation has made, as paths in it.
///
/// # Errors
/// The directory cannot be read, or a name has a character that cannot be seen.
pub(crate) fn entries(plugin: &Directory) -> io::Result<Vec<(PathBuf, Kind)>> {
    let mut found = Vec::new();
    if let Some(facts) = existing(plugin.facts(Path::new(NODE_MODULES)))? {
        found.push((PathBuf::from(NODE_MODULES), facts.kind));
    }
    let Some(made) = existing(plugin.below(Path::new(MADE)))? else { return Ok(found) };
    for (name, kind) in made.entries()? {
        if let Some(fault) = name_fault(&name) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("'{}' {fault}", shown(&name))));
        }
        found.push((Path::new(MADE).join(name), kind));
    }
    Ok(found)
}

/// `None` for something that does not exist.
fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// The sums of the files in a plugin's directory now. O(bytes).
///
/// # Errors
/// The directory cannot be read, or contains other entries than files, directories and links.
fn now(plugin: &Directory) -> io::Result<Sums> {
    let mut sums = Sums::new();
    for (path, kind) in entries(plugin)? {
        sums.insert(path.to_string_lossy().into_owned(), sum(plugin, &path, kind)?);
    }
    Ok(sums)
}

/// The sum of a file, a link, or a directory with all that is in it; links are not followed. It is
/// that of one line for each of them, sorted, with its kind and its path in quotes.
fn sum(plugin: &Directory, top: &Path, kind: Kind) -> io::Result<String> {
    let mut lines = Vec::new();
    let folder = plugin.below(top.parent().unwrap_or(Path::new("")))?;
    let name = top.file_name().unwrap_or_default();
    lines.push(line(&folder, name, OsStr::new(""), kind)?);
    if kind == Kind::Directory {
        folder.below(Path::new(name))?.walk(&mut |member| {
            if is_analysis(&top.join(&member.path)) {
                return Ok(false);
            }
            let mut path = OsString::from("/");
            path.push(&member.path);
            lines.push(line(member.directory, &member.name, &path, member.kind)?);
            Ok(true)
        })?;
    }
    lines.sort();
    sha256(lines.join("\n").as_bytes())
}

/// The line for an entry called `name` in a directory, with the path `shown`.
fn line(directory: &Directory, name: &OsStr, shown: &OsStr, kind: Kind) -> io::Result<String> {
    let name = Path::new(name);
    Ok(match kind {
        Kind::Directory => format!("d {shown:?}"),
        Kind::Link => format!("l {shown:?} {:?}", directory.target(name)?),
        Kind::File => {
            let file = directory.file(name)?;
            let mark = if file.facts().is_executable() { 'x' } else { '-' };
            format!("{} {mark} {shown:?}", sha256(file)?)
        }
        Kind::Other => return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a file")),
    })
}

/// Returns whether a path in a plugin's directory is that of a database of imports and exports in
/// deno's directory, as `dep_analysis_cache_v2`. Deno writes it each time that it runs outside of a
/// sandbox. It holds no code, and is in no sum.
fn is_analysis(path: &Path) -> bool {
    let is_in_deno = path.parent() == Some(&Path::new(MADE).join(DENO_DIRECTORY));
    is_in_deno && is_database(&path.file_name().unwrap_or_default().to_string_lossy())
}

fn is_database(name: &str) -> bool {
    name.contains("_analysis_cache_v")
}

/// Removes these databases from a directory of deno.
///
/// # Errors
/// The directory cannot be read or written.
pub(crate) fn remove_analyses(directory: &Directory) -> io::Result<()> {
    for (name, _) in directory.entries()? {
        if is_database(&name.to_string_lossy()) {
            directory.remove(Path::new(&name))?;
        }
    }
    Ok(())
}

/// Copies the files that an installation made into a copy of the plugin. Returns true if one of
/// them is a program or a library, which the system has to run from there.
///
/// # Errors
/// A directory cannot be read or written.
pub(crate) fn copy(plugin: &Directory, to: &Directory) -> io::Result<bool> {
    let mut runs = false;
    let mut one = |from: &Directory, name: &OsStr, to: &Directory, kind: Kind| -> io::Result<()> {
        let name = Path::new(name);
        match kind {
            Kind::Directory => drop(to.make(name, 0o755)?),
            Kind::Link => to.link(&from.target(name)?, name)?,
            Kind::File => {
                let file = from.file(name)?;
                let mode = if file.facts().is_executable() { 0o755 } else { 0o644 };
                let (mut file, mut made) = (file.into_file(), to.create(name, mode)?);
                let mut start = Vec::new();
                (&mut file).take(4).read_to_end(&mut start)?;
                runs |= start == b"\x7fELF";
                io::Write::write_all(&mut made, &start)?;
                io::copy(&mut file, &mut made)?;
            }
            Kind::Other => return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a file")),
        }
        Ok(())
    };
    for (top, kind) in entries(plugin)? {
        let folder = top.parent().unwrap_or(Path::new(""));
        let (from, into, name) = (plugin.below(folder)?, to.make(folder, 0o755)?, top.file_name().unwrap_or_default());
        one(&from, name, &into, kind)?;
        if kind == Kind::Directory {
            let into = into.below(Path::new(name))?;
            from.below(Path::new(name))?.walk(&mut |member| {
                if is_analysis(&top.join(&member.path)) {
                    return Ok(false);
                }
                let folder = into.below(member.path.parent().unwrap_or(Path::new("")))?;
                one(member.directory, &member.name, &folder, member.kind)?;
                Ok(true)
            })?;
        }
    }
    Ok(runs)
}

/// The sums of what was made when a plugin was installed; none where nothing was.
fn recorded(plugin: &Path) -> io::Result<Sums> {
    let text = existing(files::read_text(&sum_name(plugin, MADE_SUFFIX), RECORD))?.unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once("  "));
    Ok(lines.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect())
}

fn text_of(sums: &Sums) -> String {
    sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect()
}

fn cannot(plugin: &Path) -> impl FnOnce(io::Error) -> Error {
    let message = format!("cannot read what was made in '{}'", plugin.display());
    move |e| Error::io(&e, format!("{message}: {e}"))
}

/// The text of the file with the sums of what was made of a plugin; `None` if nothing was made.
///
/// # Errors
/// The directory cannot be read.
pub(crate) fn text(plugin: &Path) -> Result<Option<String>> {
    let sums = files::directory(plugin).and_then(|plugin| now(&plugin)).map_err(cannot(plugin))?;
    Ok((!sums.is_empty()).then(|| text_of(&sums)))
}

/// Records the checksum of one entry of [`MADE`] again, and leaves the others as they are.
///
/// # Errors
/// The entry cannot be read, or the file cannot be written.
pub(crate) fn record_again(root: &ExclusiveRoot, plugin: &Path, name: &str) -> Result<()> {
    let mut sums = recorded(plugin).map_err(cannot(plugin))?;
    let again = || -> io::Result<Option<String>> {
        let (held, path) = (files::directory(plugin)?, Path::new(MADE).join(name));
        existing(held.facts(&path))?.map(|facts| sum(&held, &path, facts.kind)).transpose()
    };
    if let Some(sum) = again().map_err(cannot(plugin))? {
        sums.insert(format!("{MADE}/{name}"), sum);
    }
    root.write(&sum_name(plugin, MADE_SUFFIX), &text_of(&sums), 0o644)
}

/// The name of a file or directory that differs from its state after the installation. O(bytes).
///
/// # Errors
/// The plugin cannot be read.
pub(crate) fn differing(plugin: &Path) -> io::Result<Option<String>> {
    differing_of(plugin, &files::directory(plugin)?)
}

/// As [`differing`], of a copy of an installed plugin.
///
/// # Errors
/// The copy cannot be read.
pub(crate) fn differing_of(plugin: &Path, copy: &Directory) -> io::Result<Option<String>> {
    let (was, is) = (recorded(plugin)?, now(copy)?);
    let names = was.keys().chain(is.keys());
    Ok(names.filter(|name| was.get(*name) != is.get(*name)).min().cloned())
}

/// Checks that the plugins that a plugin needs are those that were installed for it. O(bytes).
///
/// # Errors
/// A plugin changed, or is missing.
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
