//! The directory of a bundle: `plugin`, laid out as a plugin directory, and `schemas`.
//!
//! The path of a file says what it is for: `plugin/<apiVersion>/<kind in lower case>/<Kind>` is an
//! executable for that kind, `<Kind>.so` a shared object for it. On Windows they are `<Kind>.exe`
//! and `<Kind>.dll`, and `<Kind>` may be a script. Other files there belong to the plugin beside
//! them.

use super::describe::Component;
use crate::diag::{Code, Error, Result};
use crate::id::content;
use rustomize_plugins::locate::SHARED_OBJECT_SUFFIX;
use rustomize_plugins::program::{is_binary, is_script};
use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::EXE_SUFFIX;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The directory with the plugins of a bundle.
pub const PLUGINS: &str = "plugin";

/// The directory with the schemas of a bundle.
pub const SCHEMAS: &str = "schemas";

/// Most parts of an apiVersion: a group and a version.
const MOST_PARTS: usize = 2;

/// Returns whether a file in `schemas` is a schema, by its name.
pub fn is_schema(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
}

/// The files with schemas of a bundle, sorted by name; none without the directory.
///
/// # Errors
/// The directory cannot be read, or has something else than files and directories.
pub fn schemas(directory: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let folder = directory.join(SCHEMAS);
    let mut files = if folder.is_dir() { content::files(&folder)? } else { Vec::new() };
    files.retain(|(name, _)| is_schema(name));
    Ok(files)
}

/// The plugins of a bundle that has a manifest.
#[derive(Debug, Default)]
pub(super) struct BundlePlugins {
    /// Each kind, with the file that is the plugin for it.
    pub components: Vec<Component>,
    /// True if a plugin is compiled for one kind of machines.
    pub is_native: bool,
}

/// Reads the plugins of a bundle that has a manifest. O(files log files).
///
/// # Errors
/// A plugin is not executable, a kind has two plugins, or the directory cannot be read or has
/// something else than files and directories.
pub(super) fn contents(directory: &Path) -> Result<BundlePlugins> {
    contents_on(&Ends::here(), directory)
}

fn contents_on(ends: &Ends, directory: &Path) -> Result<BundlePlugins> {
    let home = directory.join(PLUGINS);
    let fault = |path: &str, why: &str| Error::new(Code::BadPlugin, format!("'{PLUGINS}/{path}' {why}"));
    let cannot = |e: io::Error| {
        Error::new(Code::BadPlugin, format!("the bundle cannot be read: {e}"))
            .hint("a bundle has files and directories, and no links")
    };
    let mut files = match home.symlink_metadata() {
        Err(_) => Vec::new(),
        Ok(there) if there.is_dir() => content::files(&home).map_err(cannot)?,
        Ok(_) => return Err(Error::new(Code::BadPlugin, format!("'{}' is not a directory", home.display()))),
    };
    // A directory for a kind comes before those in it.
    files.sort_by_key(|(path, _)| path.matches('/').count());
    // By directory and kind.
    let mut found: BTreeMap<(String, String), BundlePlugin> = BTreeMap::new();
    let mut folders: BTreeSet<String> = BTreeSet::new();
    for (path, file) in files {
        let Some((folder, kind, end)) = ends.kind_of(&path) else { continue };
        // An apiVersion has few parts, so that a directory has few above it.
        if folder.match_indices('/').any(|(end, _)| folders.contains(&folder[..end])) {
            continue;
        }
        folders.insert(folder.to_owned());
        let opened = File::open(&file).map_err(cannot)?;
        let form = ends.form(end, &opened).map_err(cannot)?;
        let is_native = form == Form::SharedObject || is_binary(&opened);
        let key = (folder.to_owned(), kind.to_owned());
        let plugin = BundlePlugin { form, is_native, path };
        let counts = match found.remove(&key) {
            None => plugin,
            Some(other) => {
                let (first, second) = if other.form >= plugin.form { (other, plugin) } else { (plugin, other) };
                if matches!((first.form, second.form), (Form::Program, Form::Program | Form::SharedObject)) {
                    let why = format!("is for the same kind as '{PLUGINS}/{}'", first.path);
                    return Err(fault(&second.path, &why).hint("leave one of the two files out"));
                }
                first
            }
        };
        found.insert(key, counts);
    }
    let mut contents = BundlePlugins::default();
    for ((folder, kind), plugin) in found {
        if plugin.form == Form::Data {
            let hint = match ends.program {
                "" => format!("make it executable: chmod +x {PLUGINS}/{}", plugin.path),
                end => format!("name a program '{kind}{end}', or begin a script with '#!' and its interpreter"),
            };
            return Err(fault(&plugin.path, "is not executable").hint(hint));
        }
        let (api_version, name) = folder.rsplit_once('/').unwrap_or_default();
        contents.is_native |= plugin.is_native;
        contents.components.push(Component {
            name: name.to_owned(),
            api_version: api_version.to_owned(),
            kind,
            entry: format!("{PLUGINS}/{}", plugin.path),
            ..Component::default()
        });
    }
    Ok(contents)
}

/// A file that is named for a kind.
struct BundlePlugin {
    /// Below the directory of plugins.
    path: String,
    form: Form,
    is_native: bool,
}

/// How a file with the name of a kind runs. If a kind has two files, the greater form is its
/// plugin: on Windows a script beside an `.exe` is there for other systems. A program beside a
/// shared object is an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// It does not run here.
    Data,
    SharedObject,
    /// A script, on Windows.
    Script,
    Program,
}

/// The ends of the names of plugins on a system.
struct Ends {
    program: &'static str,
    shared_object: &'static str,
}

impl Ends {
    const fn here() -> Ends {
        Ends { program: EXE_SUFFIX, shared_object: SHARED_OBJECT_SUFFIX }
    }

    /// The name without an end, and the end, in small letters; the whole name and "" without one.
    /// On Windows the case of the letters does not matter.
    fn split<'n>(&self, name: &'n str) -> (&'n str, &'static str) {
        let has = |end: &&'static str| {
            let found = name.len().checked_sub(end.len()).and_then(|at| name.get(at..)).unwrap_or_default();
            !end.is_empty() && (found == *end || !self.program.is_empty() && found.eq_ignore_ascii_case(end))
        };
        let end = [self.program, self.shared_object].into_iter().find(has).unwrap_or_default();
        (&name[..name.len() - end.len()], end)
    }

    /// The directory, the kind and the end of a file that is named as a plugin: of
    /// `ex.io/v1/made/Made.so` they are `ex.io/v1/made`, `Made` and `.so`.
    fn kind_of<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str, &'static str)> {
        let (folder, file) = path.rsplit_once('/')?;
        let (api_version, name) = folder.rsplit_once('/')?;
        let (kind, end) = self.split(file);
        let is_plugin = kind.to_lowercase() == name && api_version.split('/').count() <= MOST_PARTS;
        is_plugin.then_some((folder, kind, end))
    }

    /// The form of a file with an end.
    fn form(&self, end: &str, file: &File) -> io::Result<Form> {
        Ok(match end {
            _ if end == self.shared_object => Form::SharedObject,
            "" if !self.program.is_empty() => match is_script(file) {
                true => Form::Script,
                false => Form::Data,
            },
            "" if !content::counts_as_executable(file)? => Form::Data,
            _ => Form::Program,
        })
    }
}

/// Returns whether a file of a bundle is a shared object, by its name.
pub(crate) fn is_shared_object(path: &str) -> bool {
    Ends::here().split(path).1 == SHARED_OBJECT_SUFFIX
}

/// The plugins' directories in a directory that is laid out as a plugin directory: each contains an
/// executable or a shared object with the directory's own name.
///
/// # Errors
/// The directory cannot be read.
pub fn kinds(home: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    Ok(sorted_out(home)?.0)
}

/// Names of directories in modules of other tools, and what a bundle has for them.
const ELSEWHERE: [(&str, &str); 5] = [
    ("plugins", "plugins are in 'plugin'"),
    ("lib", "plugins are in 'plugin', kinds of resources in 'schemas'"),
    ("types", "kinds of resources are in 'schemas'"),
    ("functions", "a kustomization does not call functions"),
    ("facts.d", "a build does not gather facts"),
];

/// The parts of a bundle that builds do not read, each with the reason: directories beside `plugin`
/// and `schemas`, directories in `plugin` without a plugin that has their name, and files in
/// `schemas` that are not schemas.
///
/// # Errors
/// A directory cannot be read.
pub fn ignored(directory: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut ignored = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !path.is_dir() || name.starts_with('.') || [PLUGINS, SCHEMAS].contains(&&*name) {
            continue;
        }
        let known = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == name);
        let here = known.map_or_else(String::new, |(_, here)| format!("; {here}"));
        ignored.push((path, format!("a bundle has '{PLUGINS}' and '{SCHEMAS}'{here}")));
    }
    let home = directory.join(PLUGINS);
    if home.is_dir() {
        let why = "it is not named as <apiVersion>/<kind in lower case>/<Kind>";
        ignored.extend(sorted_out(&home)?.1.into_iter().map(|path| (path, why.to_owned())));
    }
    let folder = directory.join(SCHEMAS);
    if folder.is_dir() {
        let others = content::files(&folder)?.into_iter().filter(|(name, _)| !is_schema(name));
        let why = "the name of a schema ends in .yaml, .yml or .json";
        ignored.extend(others.map(|(_, path)| (path, why.to_owned())));
    }
    ignored.sort();
    Ok(ignored)
}

/// The directories with plugins, each with its kind, and those with something else.
type SortedOut = (Vec<(String, PathBuf)>, Vec<PathBuf>);

fn sorted_out(home: &Path) -> io::Result<SortedOut> {
    let (mut found, mut strays) = SortedOut::default();
    let mut queue = vec![(String::new(), home.to_owned())];
    while let Some((path, directory)) = queue.pop() {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut below = Vec::new();
        let (mut is_kind, mut has_files) = (false, false);
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let file = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                below.push((if path.is_empty() { file } else { format!("{path}/{file}") }, entry.path()));
            } else {
                has_files = true;
                is_kind |= !path.is_empty() && Ends::here().split(&file).0.to_lowercase() == name;
            }
        }
        match (is_kind, has_files) {
            (true, _) => found.push((path, directory)),
            (false, true) => {
                strays.push(directory);
                queue.extend(below);
            }
            (false, false) => queue.extend(below),
        }
    }
    found.sort();
    strays.sort();
    Ok((found, strays))
}

#[cfg(test)]
mod tests {
    use super::{BundlePlugins, Ends, contents, contents_on};
    use crate::diag::Error;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    /// Writes files into a bundle; those whose text begins with `#!` run.
    fn bundle(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join("plugin").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        folder
    }

    fn kinds(bundle: &Path) -> Vec<String> {
        let shown = |c: super::Component| format!("{}/{} {}", c.api_version, c.kind, c.entry);
        contents(bundle).unwrap().components.into_iter().map(shown).collect()
    }

    #[test]
    fn the_path_of_a_file_says_which_kind_it_is_for() {
        let folder = bundle(&[
            ("ex.io/v1/made/Made", "#!"),
            ("ex.io/v1/made/MADE", "#!"),
            ("ex.io/v1/made/data/Data", "#!"),
            ("ex.io/v1/made/README", ""),
            ("v1/loaded/Loaded.so", ""),
            ("v1/loaded/more/More", "#!"),
            ("Made", "#!"),
            ("made/Made", "#!"),
            ("a/b/c/made/Made", "#!"),
        ]);
        let want = [
            "ex.io/v1/MADE plugin/ex.io/v1/made/MADE",
            "ex.io/v1/Made plugin/ex.io/v1/made/Made",
            "v1/Loaded plugin/v1/loaded/Loaded.so",
        ];
        assert_eq!(kinds(folder.path()), want);
        assert!(contents(folder.path()).unwrap().is_native);
        assert!(!contents(bundle(&[("v1/made/Made", "#!")]).path()).unwrap().is_native);
        let none = contents(tempfile::tempdir().unwrap().path()).unwrap();
        assert!(matches!(none, BundlePlugins { ref components, is_native: false } if components.is_empty()));
    }

    #[test]
    fn a_kind_has_one_plugin_that_runs() {
        let error = |files: &[(&str, &str)]| contents(bundle(files).path()).unwrap_err().to_string();
        assert!(error(&[("v1/made/Made", "")]).contains("'plugin/v1/made/Made' is not executable"));
        let twice = error(&[("v1/made/Made", "#!"), ("v1/made/Made.so", "")]);
        assert!(twice.contains("is for the same kind as 'plugin/v1/made/Made"), "{twice}");
        // As in a plugin directory: a shared object counts where the other file cannot run.
        let folder = bundle(&[("v1/made/Made", ""), ("v1/made/Made.so", "")]);
        assert_eq!(kinds(folder.path()), ["v1/Made plugin/v1/made/Made.so"]);
    }

    #[test]
    fn windows_has_its_own_ends() {
        let ends = Ends { program: ".exe", shared_object: ".dll" };
        let read = |files: &[(&str, &str)]| {
            let contents = contents_on(&ends, bundle(files).path())?;
            Ok(contents.components.into_iter().map(|c| c.entry).collect::<Vec<_>>().join(" "))
        };
        let plugin = |files: &[(&str, &str)]| read(files).unwrap_or_else(|e: Error| e.to_string());
        let (program, script, object) = ("v1/made/Made.exe", "v1/made/Made", "v1/made/Made.dll");
        for (files, want) in [
            (&[(program, "MZ"), (script, "#!")][..], "plugin/v1/made/Made.exe"),
            (&[(script, "#!")], "plugin/v1/made/Made"),
            (&[(script, "#!"), (object, "MZ")], "plugin/v1/made/Made"),
            (&[(script, "\x7fELF"), (object, "MZ")], "plugin/v1/made/Made.dll"),
            (&[(script, "\x7fELF"), (program, "MZ")], "plugin/v1/made/Made.exe"),
            (&[("v1/made/Made.EXE", "MZ")], "plugin/v1/made/Made.EXE"),
            // A shared object of another system belongs to the plugin beside it.
            (&[("v1/made/Made.so", ""), (program, "MZ")], "plugin/v1/made/Made.exe"),
        ] {
            assert_eq!(plugin(files), want, "{files:?}");
        }
        for (files, want) in [
            (&[(program, "MZ"), (object, "MZ")][..], "'plugin/v1/made/Made.dll' is for the same kind as"),
            (&[(script, "\x7fELF")], "'plugin/v1/made/Made' is not executable"),
        ] {
            assert!(plugin(files).contains(want), "{files:?}: {}", plugin(files));
        }
    }

    #[test]
    fn links_and_special_files_are_refused() {
        let folder = bundle(&[("v1/made/Made", "#!")]);
        let link = folder.path().join("plugin/v1/made/link");
        symlink("/etc/passwd", &link).unwrap();
        let error = contents(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is neither a file nor a directory"), "{error}");
        fs::remove_file(&link).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &link, rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
        let error = contents(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is neither a file nor a directory"), "{error}");
        fs::remove_file(&link).unwrap();
        let whole = tempfile::tempdir().unwrap();
        symlink(folder.path().join("plugin"), whole.path().join("plugin")).unwrap();
        assert!(contents(whole.path()).is_err(), "the directory itself is a link");
    }
}
