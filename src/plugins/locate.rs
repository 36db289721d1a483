//! Where the plugin for a configuration object is found:
//! `<home>/<group>/<version>/<lower case kind>/<kind>`, on Windows with `.exe`,
//! or a shared object, `<kind>.so` or `<kind>.dll`.

use super::classify::{ABI_SYMBOL, SharedObject, classify};
use super::program::is_script;
use super::shared_object::{LoadableObject, SharedObjectFile, SharedObjectLoader};
use super::{PluginOptions, go};
use crate::diag::{Code, Error, Result, nearest};
use crate::resource::ResId;
use rustomize_base::shell::quoted;
use rustomize_base::windows_path::name_fault;
use std::env::consts::EXE_SUFFIX;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The end of the name of a shared object.
pub const SHARED_OBJECT_SUFFIX: &str = if cfg!(windows) { ".dll" } else { ".so" };

/// The directories that may hold plugins, in upstream's order: `$KUSTOMIZE_PLUGIN_HOME`,
/// `$XDG_CONFIG_HOME/kustomize/plugin`, `$HOME/.config/kustomize/plugin`, `$HOME/kustomize/plugin`.
/// The first that exists is the home; later ones are not looked into.
pub fn homes(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let set = |name| variable(name).filter(|v| !v.as_os_str().is_empty());
    let mut homes: Vec<PathBuf> = Vec::new();
    homes.extend(set("KUSTOMIZE_PLUGIN_HOME"));
    homes.extend(set("XDG_CONFIG_HOME").map(|v| v.join("kustomize/plugin")));
    if let Some(home) = set("HOME") {
        homes.push(home.join(".config/kustomize/plugin"));
        homes.push(home.join("kustomize/plugin"));
    }
    homes
}

/// The plugin of an object in a plugin directory.
#[derive(Debug)]
pub enum Placed {
    Executable(PathBuf),
    SharedObject {
        object: LoadableObject,
        /// A file that would come first if it could be run.
        instead_of: Option<PathBuf>,
    },
}

impl Placed {
    /// The executable or the shared object.
    pub fn path(&self) -> &Path {
        match self {
            Placed::Executable(path) => path,
            Placed::SharedObject { object, .. } => &object.file.path,
        }
    }
}

/// The plugin that is placed for a configuration object: an executable, then a shared object;
/// `None` if nothing is.
///
/// # Errors
/// The file there cannot be run.
pub fn locate(options: &PluginOptions, id: &ResId<'_>) -> Result<Option<Placed>> {
    match options.homes.iter().find(|home| home.is_dir()) {
        Some(home) => look_in(home, options, id, loader_of_placed),
        None => Ok(None),
    }
}

/// Finds the program that loads a shared object. The second path is where an executable would take
/// precedence.
type FindLoader = fn(&Path, &Path, &PluginOptions) -> Result<SharedObjectLoader>;

/// The same in one directory that is laid out as a plugin home.
///
/// # Errors
/// As [`locate`].
pub fn locate_in(home: &Path, options: &PluginOptions, id: &ResId<'_>) -> Result<Option<Placed>> {
    let placed = |path: &Path, executable: &Path, options: &PluginOptions| {
        loader_of(&SharedObjectFile::placed(path.to_owned()), executable, options)
    };
    look_in(home, options, id, placed)
}

fn look_in(home: &Path, options: &PluginOptions, id: &ResId<'_>, find_loader: FindLoader) -> Result<Option<Placed>> {
    let fault = |message: String| Error::new(Code::PluginRefused, message);
    let place = place(home, id)?;
    let (path, shared_object) = (with_end(&place, EXE_SUFFIX), with_end(&place, SHARED_OBJECT_SUFFIX));
    let executable = is_executable(&path);
    if executable == Some(true) {
        return Ok(Some(Placed::Executable(path)));
    }
    if cfg!(windows) && File::open(&place).is_ok_and(|file| is_script(&file)) {
        return Ok(Some(Placed::Executable(place)));
    }
    if shared_object.exists() {
        let loader = find_loader(&shared_object, &path, options)?;
        let instead_of = executable.map(|_| path);
        return Ok(Some(Placed::SharedObject { object: LoadableObject::placed(shared_object, loader), instead_of }));
    }
    if executable == Some(false) {
        let error = fault(format!("unexecutable plugin at: '{}'", path.display()));
        let file = quoted(&path.to_string_lossy());
        return Err(error.hint(format!("make it executable: chmod +x {file}")));
    }
    Ok(None)
}

/// The advice where no plugin directory exists.
pub const SET_HOME: &str = "set KUSTOMIZE_PLUGIN_HOME to the directory that holds your plugins";

/// The advice where a plugin directory has nothing like the wanted plugin.
pub const PUT_THERE: &str =
    "put an executable there; it is called with the name of a file that holds the configuration";

/// Why nothing was found for a configuration object: where it was looked for.
pub fn nothing(options: &PluginOptions, id: &ResId<'_>) -> Error {
    let fault = |message: String| Error::new(Code::PluginMissing, message);
    let home = options.homes.iter().find(|home| home.is_dir());
    let place = match home.map(|home| place(home, id)) {
        Some(Ok(place)) => place,
        None => {
            let tried: Vec<String> = options.homes.iter().map(|h| format!("'{}'", h.display())).collect();
            let error = fault(format!("unable to find plugin root - tried: {}", tried.join(", ")));
            return error.hint(SET_HOME);
        }
        Some(Err(e)) => return e,
    };
    let [executable, shared_object] = [EXE_SUFFIX, SHARED_OBJECT_SUFFIX].map(|end| with_end(&place, end));
    let (shown, shared_object) = (executable.display(), shared_object.display());
    let error = fault(format!("no plugin for {id}: neither '{shown}' nor '{shared_object}' is there"));
    error.hint(match (id.gvk.version, home.and_then(|home| misplaced(home, &place, id))) {
        ("", _) => "the configuration has no apiVersion, which is a part of the plugin's path".to_owned(),
        (_, Some(hint)) => hint,
        _ => PUT_THERE.to_owned(),
    })
}

/// The advice about a plugin that was most likely meant and is placed where `id` does not lead;
/// `None` without such a plugin. O(files of the plugin directory).
pub fn placed_elsewhere(options: &PluginOptions, id: &ResId<'_>) -> Option<String> {
    let home = options.homes.iter().find(|home| home.is_dir())?;
    misplaced(home, &place(home, id).ok()?, id)
}

/// The advice about a plugin that is placed where `id` does not lead: its directory or file has
/// other letters, it is for another version, or its kind has a similar name. O(files of the home).
fn misplaced(home: &Path, place: &Path, id: &ResId<'_>) -> Option<String> {
    let file = |path: &Path| quoted(&path.to_string_lossy());
    let same =
        |path: &Path, other: &Path| path.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase();
    let directory = place.parent()?;
    let above = directory.parent()?;
    if let Some(other) = entries(above).into_iter().find(|path| same(path, directory) && path != directory) {
        return Some(format!("the name of the directory is in lower case: mv {} {}", file(&other), file(directory)));
    }
    if let Some(other) = entries(directory).into_iter().find(|path| same(path, place) && path != place) {
        return Some(format!("the name of the file is that of the kind: mv {} {}", file(&other), file(place)));
    }
    let kinds = placed_kinds(home);
    if let Some((version, kind)) = kinds.iter().find(|(_, kind)| kind == id.gvk.kind) {
        return Some(format!("there is one for {version} {kind}: write 'apiVersion: {version}'"));
    }
    let near = nearest(id.gvk.kind, kinds.iter().map(|(_, kind)| kind.as_str()))?;
    Some(format!("did you mean '{near}'?"))
}

/// The plugins that are placed below a home: the apiVersion and the kind of each, in order.
pub fn placed_kinds(home: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let kinds = |directory: &Path, version: &str| -> Vec<(String, String)> {
        let name = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
        let files = entries(directory).into_iter().flat_map(|folder| {
            let of_folder = name(&folder);
            let files = entries(&folder).into_iter().filter(|path| path.is_file()).filter_map(move |path| name(&path));
            files.filter(move |kind| of_folder.as_ref().is_some_and(|folder| folder.eq_ignore_ascii_case(kind)))
        });
        files.map(|kind| (version.to_owned(), kind)).collect()
    };
    for group in entries(home) {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // Kinds without a group are one level higher.
        found.extend(kinds(&group, &name(&group)));
        for version in entries(&group) {
            found.extend(kinds(&version, &format!("{}/{}", name(&group), name(&version))));
        }
    }
    found.dedup();
    found
}

/// The paths in a directory, in order; none if it cannot be read.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// Returns true if Windows has a directory or file with this name, and nothing else.
fn names_an_entry(name: &str) -> bool {
    !name.contains('\\') && name_fault(name).is_none()
}

/// The path of the plugin for a configuration object, without the end of its name.
fn place(home: &Path, id: &ResId<'_>) -> Result<PathBuf> {
    let fault = |message: String| Error::new(Code::BadValue, message);
    let gvk = &id.gvk;
    let is_name = |part: &str| !matches!(part, "." | "..") && (cfg!(unix) || names_an_entry(part));
    let safe = |part: &str| part.split('/').all(is_name) && !part.contains('\0');
    if !(safe(gvk.group) && safe(gvk.version) && safe(gvk.kind)) || gvk.kind.contains('/') {
        return Err(fault(format!("{id} does not name a plugin: its apiVersion and kind become a path")));
    }
    let mut directory = home.to_owned();
    for part in [gvk.group, gvk.version] {
        if !part.is_empty() {
            directory.push(part);
        }
    }
    directory.push(gvk.kind.to_lowercase());
    let path = directory.join(gvk.kind);
    Ok(std::path::absolute(&path).unwrap_or(path))
}

/// [`loader_of`] a shared object that the user has placed: a genuine Go plugin is adopted, if the
/// user lets it.
fn loader_of_placed(path: &Path, executable: &Path, options: &PluginOptions) -> Result<SharedObjectLoader> {
    let file = SharedObjectFile::placed(path.to_owned());
    match loader_of(&file, executable, options) {
        Err(refused) if !go::adopt_first(path, options)? => Err(refused),
        Err(_) => loader_of(&file, executable, options),
        found => found,
    }
}

/// The program that loads a shared object. Other files are refused: each class has an error
/// of its own.
///
/// # Errors
/// The file cannot be read, or is no shared object that a program loads.
pub fn loader_of(file: &SharedObjectFile, executable: &Path, options: &PluginOptions) -> Result<SharedObjectLoader> {
    let fault = |what: String| Error::new(Code::BadPlugin, format!("the plugin '{}' {what}", file.shown.display()));
    let instead = format!("an executable '{}' would be used instead", executable.display());
    Err(match classify(&file.path) {
        Err(unusable) => fault(unusable.to_string()).hint(unusable.hint()),
        Ok(SharedObject::Plugin) => return Ok(SharedObjectLoader::Helper),
        Ok(SharedObject::Foreign) => {
            fault(format!("is a shared object without '{ABI_SYMBOL}': no plugin")).hint(instead)
        }
        Ok(SharedObject::GoPlugin(built)) => {
            let host = options.go_hosts.as_deref().map(|hosts| go::host_for(&built, hosts));
            match host.filter(|host| host.is_file()) {
                Some(host) => return Ok(SharedObjectLoader::GoProgram(host)),
                None => go::not_adopted(&file.shown, &built, options),
            }
        }
    })
}

/// A path with more at the end of its name.
fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns whether there is a file that may be run; `None` if there is nothing.
fn is_executable(path: &Path) -> Option<bool> {
    let metadata = path.metadata().ok()?;
    // Any execute bit will do, as upstream.
    Some(metadata.is_file() && rustomize_files::is_executable(&metadata))
}
