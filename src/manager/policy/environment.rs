//! [`Environment`]: a module path with bundles, and a `plugins.yaml` of its own.
//!
//! A bundle is a directory on a module path. Every build in the environment finds the plugins of
//! its `plugin` directory, which is laid out as a plugin directory, without a further step. The
//! environment `default` need not be named, and need not exist.

use super::trust::Trust;
use crate::author::bundle;
use crate::config::{Decode, Decoder, Written, read_alone};
use crate::diag::{Code, Error, Result};
use crate::id::head::{FileHead, check_head};
use crate::load::FileLimit;
use rustomize_base::shell::quoted;
use rustomize_files::{Directory, RECORD};
use rustomize_sources::ReadFile;
use rustomize_yaml::Node;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the environment that is meant where none is named.
pub const DEFAULT: &str = "default";

/// The file of an environment.
pub const FILE: &str = "environment.yaml";

const KIND: &str = "Environment";

/// The file of a synced bundle with the URL of its server.
pub(crate) const SERVER: &str = "server";

/// The link in a directory for synced bundles that leads to the bundle that counts. Where this
/// program makes no links, it is a file with the name of that bundle.
pub(crate) const CURRENT: &str = "current";

/// The name of the synced bundle that counts; `None` if there is none.
pub(crate) fn current(place: &Directory) -> Option<PathBuf> {
    let link = Path::new(CURRENT);
    place.target(link).ok().or_else(|| Some(PathBuf::from(place.read_text(link, RECORD).ok()?)))
}

/// Directories of version control beside bundles.
const IGNORED: [&str; 4] = [".git", ".hg", ".svn", "CVS"];

/// One of the places where builds find bundles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub name: String,
    /// The directory of the environment, which may contain `environment.yaml`, `modules`,
    /// `plugins.yaml` and `plugins.lock`.
    pub directory: PathBuf,
    /// The directories that hold bundles; earlier ones win.
    pub module_path: Vec<PathBuf>,
    /// The server that it is synced from.
    pub sync: Option<String>,
    /// The synced bundle, which comes after all others.
    pub synced: Option<PathBuf>,
}

/// A bundle of this machine: a directory on the module path of an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineBundle {
    pub name: String,
    pub directory: PathBuf,
}

impl MachineBundle {
    /// Returns true if the bundle was synced from a server: its author is not the user.
    pub fn is_synced(&self) -> bool {
        self.name.is_empty()
    }

    /// The directory of the module path that it is in.
    pub fn folder(&self) -> &Path {
        self.directory.parent().unwrap_or(&self.directory)
    }

    /// The server that it was synced from; `None` if no file says so.
    fn server(&self) -> Option<String> {
        let text = FileLimit::default().read_to_string(&self.directory.join(SERVER)).ok()?;
        Some(text.trim_end().to_owned())
    }

    /// Where its plugins are, laid out as a plugin home.
    pub fn home(&self) -> PathBuf {
        self.directory.join(bundle::PLUGINS)
    }

    /// Its files with schemas, by name; of a directory that cannot be read none.
    pub fn schemas(&self) -> Vec<PathBuf> {
        let files = bundle::schemas(&self.directory).unwrap_or_default();
        files.into_iter().map(|(_, path)| path).collect()
    }
}

/// The bundle that was synced for an environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncedBundle {
    /// The name of the environment.
    pub environment: String,
    pub bundle: MachineBundle,
}

impl SyncedBundle {
    /// Checks that its server is trusted for the environment.
    ///
    /// # Errors
    /// The server is not trusted, or the synced files do not name it.
    pub fn check(&self, trust: &Trust) -> Result<()> {
        if !trust.is_there() {
            return Ok(());
        }
        let Some(server) = self.bundle.server() else {
            let message = format!("the synced files of '{}' do not name their server", self.environment);
            let command = format!("rustomize plugin sync --environment {}", quoted(&self.environment));
            return Err(Error::new(Code::BadPlugin, message).hint(format!("sync it again: {command}")));
        };
        trust.check_server(&server, &self.environment)
    }
}

#[derive(Default, Decode)]
struct RawEnvironment<'a> {
    api_version: Written<'a>,
    kind: Written<'a>,
    module_path: Vec<&'a str>,
    sync: &'a str,
}

impl Environment {
    /// Reads an environment; `None` if `named` is `None` and the default environment does not
    /// exist. Environments are synced to `cache`.
    ///
    /// # Errors
    /// The named environment does not exist, or its file does not have the right form.
    pub fn read(configuration: &Path, cache: Option<&Path>, named: Option<&str>) -> Result<Option<Environment>> {
        let name = named.unwrap_or(DEFAULT);
        let directory = configuration.join("environments").join(name);
        let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
        if !is_name || !directory.is_dir() {
            let Some(named) = named else { return Ok(None) };
            let message =
                format!("the environment '{named}' does not exist: '{}' is not a directory", directory.display());
            return Err(Error::new(Code::Usage, message));
        }
        let path = directory.join(FILE);
        let text = match FileLimit::default().read_to_string(&path) {
            Ok(text) => Some(text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(Error::io(&e, format!("cannot read '{}': {e}", path.display()))),
        };
        let mut environment = Environment {
            name: name.to_owned(),
            module_path: vec![directory.join("modules")],
            synced: cache.map(|cache| cache.join("sync").join(name)),
            directory,
            sync: None,
        };
        if let Some(text) = text {
            environment.apply(&path, text)?;
        }
        Ok(Some(environment))
    }

    fn apply(&mut self, path: &Path, text: String) -> Result<()> {
        read_alone(path.display().to_string(), text, |arena, node| {
            let null = Node::null();
            let node = node.unwrap_or(&null);
            let cx = Decoder::strict(arena);
            let mut raw = RawEnvironment::default();
            raw.decode(node, &cx)?;
            check_head(&cx, node.pos(), FileHead { api_version: raw.api_version, kind: raw.kind }, KIND)?;
            if !raw.module_path.is_empty() {
                self.module_path = raw.module_path.iter().map(|path| self.directory.join(path)).collect();
            }
            self.sync = Some(raw.sync.trim_end_matches('/').to_owned()).filter(|url| !url.is_empty());
            Ok(())
        })
    }

    /// The synced bundle, if there is one: a bundle of [`Environment::bundles`].
    ///
    /// # Errors
    /// As [`Environment::bundles`].
    pub fn synced_bundle(&self) -> Result<Option<SyncedBundle>> {
        let synced = self.bundles()?.into_iter().find(MachineBundle::is_synced);
        Ok(synced.map(|bundle| SyncedBundle { environment: self.name.clone(), bundle }))
    }

    /// All bundles: in the order of the module path, then by name. The first bundle of a name
    /// counts. The synced bundle comes last.
    ///
    /// # Errors
    /// A directory of the module path exists and cannot be read.
    pub fn bundles(&self) -> Result<Vec<MachineBundle>> {
        let mut bundles: Vec<MachineBundle> = Vec::new();
        for folder in &self.module_path {
            let entries = match fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(Error::io(&e, format!("cannot read '{}': {e}", folder.display()))),
            };
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let mut names: Vec<String> = names.filter(|name| !IGNORED.contains(&name.as_str())).collect();
            names.sort();
            for name in names {
                let directory = folder.join(&name);
                if directory.is_dir() && !bundles.iter().any(|known| known.name == name) {
                    bundles.push(MachineBundle { name, directory });
                }
            }
        }
        // Where the link leads now: a sync beside this build puts another one there.
        let synced = self.synced.as_ref().and_then(|synced| {
            let name = current(&Directory::open(synced).ok()?).unwrap_or_else(|| CURRENT.into());
            dunce::canonicalize(synced.join(name)).ok()
        });
        bundles.extend(synced.map(|directory| MachineBundle { name: String::new(), directory }));
        Ok(bundles)
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use std::fs;

    #[test]
    fn bundles_are_the_directories_of_the_module_path_the_first_of_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let configuration = folder.path();
        assert_eq!(Environment::read(configuration, None, None).unwrap(), None);
        assert!(
            Environment::read(configuration, None, Some("prod"))
                .unwrap_err()
                .to_string()
                .contains("'prod' does not exist")
        );
        assert!(Environment::read(configuration, None, Some("../prod")).is_err());
        let prod = configuration.join("environments/prod");
        for bundle in ["modules/b", "modules/a", "modules/.git", "shared/b", "shared/c"] {
            fs::create_dir_all(prod.join(bundle)).unwrap();
        }
        fs::write(prod.join("modules/file"), "").unwrap();
        let names = || {
            let environment = Environment::read(configuration, None, Some("prod")).unwrap().unwrap();
            let bundles = environment.bundles().unwrap();
            bundles.iter().map(|b| b.directory.strip_prefix(&prod).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(), ["modules/a", "modules/b"]);
        let file = "apiVersion: rustomize.dev/v1\nkind: Environment\nmodulePath: [shared, nowhere, modules]\n";
        fs::write(prod.join("environment.yaml"), file).unwrap();
        assert_eq!(names(), ["shared/b", "shared/c", "modules/a"]);
        fs::write(prod.join("environment.yaml"), "apiVersion: rustomize.dev/v1\nkind: Environment\nmodules: []\n")
            .unwrap();
        assert!(
            Environment::read(configuration, None, Some("prod")).unwrap_err().to_string().contains("unknown field")
        );
    }
}
