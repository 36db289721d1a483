//! Installed plugins in the layout of kustomize's plugin home, so that kustomize and kubectl run
//! them, too.
//!
//! Each kind gets a file `<apiVersion>/<kind in lower case>/<kind>` that starts the plugin where it
//! is installed. A list beside these files says which of them were exported. The list may have been
//! written by somebody else, so it is only believed about plain files below the directory that are
//! such launchers, with the sum that the list has. Nothing else is changed or removed.

use crate::author::describe::Protocol;
use crate::diag::{Code, Error, Result};
use crate::id::content::sha256;
use crate::id::shell::assignments;
use crate::resolve::Provider;
use crate::stage::format::Format;
use crate::store::exclusive::ExclusiveRoot;
use rustomize_base::shell::quoted;
use rustomize_files::{Directory, Kind, RECORD};
use rustomize_plugins::failure::cannot;
use rustomize_plugins::program::PARAMETERS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The file that says what was laid.
const LAID: &str = ".rustomize-placed.json";

/// The files that were laid into a directory: the SHA-256 of each, by path.
#[derive(Debug, Default, Serialize, Deserialize)]
struct LaidFiles {
    files: BTreeMap<String, String>,
}

/// The files that were changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PlacementChanges {
    pub written: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
    /// The sources of plugins that kustomize cannot run, each with why.
    pub left_out: Vec<(String, &'static str)>,
}

/// Lays plugins into a directory, and takes away what was laid there before and is not among them.
///
/// # Errors
/// Two of them are for one kind, somebody has put a file of that name there, or it cannot be
/// written. Nothing was changed then, but for the last.
pub fn lay(directory: &Path, plugins: &[Provider], is_dry: bool) -> Result<PlacementChanges> {
    let root = if is_dry { None } else { Some(ExclusiveRoot::lock(directory, || {})?) };
    let list = directory.join(LAID);
    let held = match Directory::open(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        held => Some(held.map_err(cannot("open", directory))?),
    };
    let text = held.as_ref().map_or(Err(io::ErrorKind::NotFound.into()), |held| held.read(Path::new(LAID), RECORD));
    let before: LaidFiles = match text {
        Ok(text) => serde_json::from_slice(&text).map_err(|e| {
            Error::new(Code::NotYaml, format!("'{}' is not a valid list of exported plugins: {e}", list.display()))
        })?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => LaidFiles::default(),
        Err(e) => return Err(cannot("read", &list)(e)),
    };
    let mut left_out: Vec<(String, &'static str)> =
        plugins.iter().filter_map(|found| Some((found.installed.source.to_string(), foreign(found)?))).collect();
    left_out.dedup();
    let wanted = launchers(plugins)?;
    let found = |path: &String| held.as_ref().map_or(Ok(Found::Nothing), |held| find(held, path, &before));
    let mut states: BTreeMap<&String, Found> = BTreeMap::new();
    for path in wanted.keys().chain(before.files.keys()) {
        let state = match found(path) {
            // What the list names, and cannot be read below the directory, is not a launcher.
            Err(_) if !wanted.contains_key(path) => Found::Other(Vec::new()),
            state => state.map_err(cannot("read", &directory.join(path)))?,
        };
        // An export that was cut off has noted a launcher with its old sum and written the new one.
        let is_new = |text: &String| before.files.contains_key(path) && state.has(text);
        let is_kept = wanted.get(path).is_some_and(|text| !state.is_ours() && !is_new(text));
        if is_kept {
            let message = format!("'{}' exists and was not exported by rustomize", directory.join(path).display());
            return Err(Error::new(Code::Exists, message)
                .hint("placed plugins are kept: move that file away, or do not require a plugin of that kind"));
        }
        states.insert(path, state);
    }
    let mut after = LaidFiles::default();
    let mut changes = PlacementChanges { left_out, ..PlacementChanges::default() };
    for (path, text) in &wanted {
        let sum = sha256(text.as_bytes()).map_err(cannot("read", &list))?;
        after.files.insert(path.clone(), sum);
        if !states.get(path).is_some_and(|state| state.has(text)) {
            changes.written.push(directory.join(path));
        }
    }
    let is_unwanted = |path: &&String| !wanted.contains_key(*path) && matches!(states.get(path), Some(Found::Ours(_)));
    changes.removed = before.files.keys().filter(is_unwanted).map(|path| directory.join(path)).collect();
    let is_listed = before.files == after.files;
    let Some(root) = root.filter(|_| !changes.written.is_empty() || !is_listed) else {
        return Ok(changes);
    };
    // Whoever is cut off has not laid anything that the list does not know.
    let both =
        LaidFiles { files: after.files.iter().chain(&before.files).map(|(k, v)| (k.clone(), v.clone())).collect() };
    root.write(&list, &serde_json::to_string_pretty(&both).unwrap_or_default(), 0o644)?;
    for (path, text) in &wanted {
        if changes.written.contains(&directory.join(path)) {
            root.write(&directory.join(path), text, 0o755)?;
        }
    }
    for path in &changes.removed {
        let below = root.below(path)?;
        root.held().remove(below).map_err(cannot("remove", path))?;
        for folder in below.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            if root.held().remove_empty(folder).is_err() {
                break;
            }
        }
    }
    root.write(&list, &(serde_json::to_string_pretty(&after).unwrap_or_default() + "\n"), 0o644)?;
    Ok(changes)
}

/// The state of a place for a launcher.
enum Found {
    Nothing,
    /// A launcher that was exported: its text.
    Ours(Vec<u8>),
    /// Something that somebody else has put there: its text, if it is a plain file.
    Other(Vec<u8>),
}

impl Found {
    /// Returns true if the place may be written to.
    fn is_ours(&self) -> bool {
        !matches!(self, Found::Other(_))
    }

    fn has(&self, text: &str) -> bool {
        matches!(self, Found::Ours(there) | Found::Other(there) if there == text.as_bytes())
    }
}

/// Looks at a place below a directory, which a list may name as that of a launcher.
fn find(held: &Directory, path: &str, list: &LaidFiles) -> io::Result<Found> {
    let place = Path::new(path);
    let text = match held.facts(place) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Ok(facts) if facts.kind != Kind::File => return Ok(Found::Other(Vec::new())),
        facts => facts.and_then(|_| held.read(place, RECORD))?,
    };
    let is_launcher = || {
        let mut lines = text.split(|byte| *byte == b'\n');
        lines.next() == Some(b"#!/bin/sh".as_slice())
            && lines.next().is_some_and(|line| line.ends_with(MARK.as_bytes()))
    };
    let is_listed = list.files.get(path).is_some_and(|sum| sha256(&text[..]).is_ok_and(|found| found == *sum));
    Ok(if is_listed && is_launcher() { Found::Ours(text) } else { Found::Other(text) })
}

/// The end of the second line of each launcher.
const MARK: &str = ", written by 'rustomize plugin export'.";

/// Why kustomize cannot run a plugin that is placed.
fn foreign(found: &Provider) -> Option<&'static str> {
    match found.protocol {
        Protocol::Exec if found.format == Format::Json => Some("it reads JSON, and kustomize gives plugins YAML"),
        Protocol::Exec => None,
        Protocol::Krm => Some("it uses a ResourceList, and kustomize calls placed plugins without one"),
        Protocol::SharedObject => Some("it is a shared object, and only rustomize can load it"),
    }
}

/// The files to lay, by path.
fn launchers(plugins: &[Provider]) -> Result<BTreeMap<String, String>> {
    let mut files: BTreeMap<String, (String, &Provider)> = BTreeMap::new();
    for found in plugins {
        let component = &found.component;
        if component.kind.is_empty() || component.api_version.is_empty() || foreign(found).is_some() {
            continue;
        }
        // An older version has installed plugins without this check.
        if let Some(fault) = component.fault() {
            return Err(Error::new(Code::BadPlugin, fault));
        }
        let path = format!("{}/{}/{}", component.api_version, component.kind.to_lowercase(), component.kind);
        if let Some((_, other)) = files.get(&path) {
            // One plugin may do several things with one kind.
            if other.installed == found.installed {
                continue;
            }
            let message = format!("'{}' and '{}' are both for {path}", other.installed.source, found.installed.source);
            return Err(Error::new(Code::BadPlugin, message).hint("require one of them in plugins.yaml"));
        }
        files.insert(path, (launcher(found)?, found));
    }
    Ok(files.into_iter().map(|(path, (text, _))| (path, text)).collect())
}

/// A script that starts a plugin where it is installed.
fn launcher(found: &Provider) -> Result<String> {
    let launch = &found.launch;
    let words = [launch.program.as_os_str()].into_iter().chain(launch.args.iter().map(|arg| arg.as_os_str()));
    let mut command = String::new();
    for word in words {
        let word = word.to_str().ok_or_else(|| {
            Error::new(Code::BadPlugin, format!("the path '{}' is not valid UTF-8", found.installed.path.display()))
        })?;
        command.push_str(&format!("{} ", quoted(word)));
    }
    let own = assignments(&launch.variables);
    let parameters = match found.parameters.as_str() {
        "" => String::new(),
        text => format!("{PARAMETERS}={} ", quoted(text)),
    };
    Ok(format!(
        "#!/bin/sh\n# {} v{}{MARK}\nRUSTOMIZE_PLUGIN_COMPONENT={} {parameters}{own}exec {command}\"$@\"\n",
        found.installed.source,
        found.installed.file.version,
        quoted(&found.component.name),
    ))
}
