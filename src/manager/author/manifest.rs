//! [`Manifest`]: `plugin.yaml`, which makes a directory a plugin and names the runtime that runs
//! it, or makes it a bundle of plugins and schemas.

use super::bundle;
use super::client::{NeededPlugin, clients};
use super::describe::{Component, Description, Protocol};
use super::{runtime_files, written_schema};
use crate::config::{Decode, Decoder, Written, read_alone};
use crate::diag::{Code, Error, Result};
use crate::id::head::{FileHead, check_head};
use crate::id::location::Location;
use crate::id::name::Platform;
use crate::id::requirement::{Requirement, requirements};
use crate::id::version::{ApiVersion, HOST_API, Version, VersionError};
use crate::load::FileLimit;
use crate::load::path::is_absolute;
use crate::stage::format::Format;
use rustomize_plugins::permissions::Permissions;
use rustomize_process::{Launch, Variable};
use rustomize_sources::ReadFile;
use rustomize_yaml::{Arena, Node, Pos, Value};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The names of the file, preferred one first. The second is Pulumi's.
pub const FILES: [&str; 2] = ["plugin.yaml", "PulumiPlugin.yaml"];

/// The `kind` of a plugin's manifest.
pub const PLUGIN: &str = "Plugin";

/// The `kind` of a bundle's manifest.
pub const BUNDLE: &str = "Bundle";

/// Most bytes of the file.
const MANIFEST_LIMIT: u64 = 1 << 20;

/// The runtime of a plugin's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runtime {
    Python,
    Nodejs,
    Go,
    Deno,
    Bash,
    /// A shared object, which the tool itself runs.
    SharedObject,
    /// None: each plugin of a bundle is a file of its own, an executable or a shared object.
    Bundle,
    /// A program in PATH that runs the files of one language, `rustomize-runtime-<name>`. It is
    /// called with `run FILE ARGUMENT...`. When a plugin is installed, it is called with
    /// `fetch-deps DIRECTORY FETCHED` and `install-deps DIRECTORY FETCHED` if it answers `steps`
    /// with these two words, and else with `install-deps DIRECTORY`.
    Program(String),
}

const RUNTIMES: [(&str, Runtime); 6] = [
    ("python", Runtime::Python),
    ("nodejs", Runtime::Nodejs),
    ("go", Runtime::Go),
    ("deno", Runtime::Deno),
    ("bash", Runtime::Bash),
    ("so", Runtime::SharedObject),
];

/// The runtime of a bundle in a lock file.
pub const BUNDLE_RUNTIME: &str = "bundle";

impl Runtime {
    /// Its name in the file.
    pub fn name(&self) -> &str {
        match self {
            Runtime::Program(name) => name,
            Runtime::Bundle => BUNDLE_RUNTIME,
            known => RUNTIMES.iter().find(|(_, runtime)| runtime == known).map_or("", |(name, _)| name),
        }
    }

    /// The one with a name.
    fn of(name: &str) -> Option<Runtime> {
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let is_name = is_name && name != BUNDLE_RUNTIME;
        let known = RUNTIMES.iter().find(|(known, _)| *known == name).map(|(_, runtime)| runtime.clone());
        known.or_else(|| is_name.then(|| Runtime::Program(name.to_owned())))
    }

    /// The file that is run where the manifest names none.
    fn entry(&self) -> &'static str {
        match self {
            Runtime::Python => "main.py",
            Runtime::Nodejs => "index.js",
            Runtime::Go => ".",
            Runtime::Deno => "main.ts",
            Runtime::Bash => "main.sh",
            Runtime::SharedObject => "plugin.so",
            Runtime::Bundle => bundle::PLUGINS,
            Runtime::Program(_) => "main",
        }
    }
}

/// The arguments with which deno runs a file: its packages are in deno's own directory, because
/// `node_modules` does not exist. Code that deno compiles is not kept: no checksum would cover it.
const DENO: [&str; 7] =
    ["run", "--quiet", "--no-prompt", "--node-modules-dir=none", "--allow-all", "--cached-only", "--no-code-cache"];

/// The arguments that hold deno to the `deno.lock` of a plugin; none if the plugin lacks the file.
pub(crate) fn deno_lock(directory: &Path) -> Vec<OsString> {
    let file = directory.join("deno.lock");
    let mut lock = OsString::from("--lock=");
    lock.push(&file);
    if file.is_file() { vec!["--frozen".into(), lock] } else { Vec::new() }
}

/// The name of deno's directory, in what is made of a plugin.
pub(crate) const DENO_DIRECTORY: &str = "deno";

/// The variables of deno with its directory. It keeps no compiled code there, and does not look for
/// newer versions of itself.
pub(crate) fn deno_variables(directory: &Path) -> Vec<Variable> {
    vec![
        ("DENO_DIR".into(), directory.into()),
        ("DENO_EMIT_CACHE_MODE".into(), "disable".into()),
        ("DENO_NO_UPDATE_CHECK".into(), "1".into()),
    ]
}

/// A directory's plugin, or a bundle.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The name; empty if the file has none.
    pub name: String,
    /// `None` where the plugin itself says it.
    pub version: Option<Version>,
    pub api: ApiVersion,
    pub runtime: Runtime,
    /// The file that is run, in the directory; for Go the package, for a bundle the directory of
    /// its plugins.
    pub entry: String,
    /// The machines that the directory is for.
    pub platform: Platform,
    /// The description; without components if the plugin itself has to be asked.
    pub description: Description,
    /// The plugins that it needs; those and the bundles that a bundle brings.
    pub dependencies: Vec<Requirement>,
}

#[derive(Default, Decode)]
struct RawManifest<'a> {
    api_version: Written<'a>,
    kind: Written<'a>,
    name: &'a str,
    version: &'a str,
    api: &'a str,
    runtime: Node<'a>,
    entry: &'a str,
    protocol: &'a str,
    format: &'a str,
    worker: bool,
    permissions: Permissions,
    generators: Vec<RawComponent<'a>>,
    transformers: Vec<RawComponent<'a>>,
    validators: Vec<RawComponent<'a>>,
    dependencies: Node<'a>,
}

/// The manifest of a bundle. What is in the bundle, its files say.
#[derive(Default, Decode)]
struct RawBundle<'a> {
    api_version: Written<'a>,
    kind: Written<'a>,
    name: &'a str,
    version: &'a str,
    api: &'a str,
    permissions: Permissions,
    dependencies: Node<'a>,
}

#[derive(Default)]
struct RawComponent<'a> {
    pos: Pos,
    name: &'a str,
    api_version: &'a str,
    kind: &'a str,
    summary: &'a str,
    schema: Node<'a>,
}

// Not a record alone: a component may be just its name.
impl<'a> Decode<'a> for RawComponent<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos();
        if let Some(name) = node.as_scalar() {
            self.name = name.text();
            return Ok(());
        }
        cx.object(
            node,
            &mut [
                ("name", &mut self.name),
                ("apiVersion", &mut self.api_version),
                ("kind", &mut self.kind),
                ("summary", &mut self.summary),
                ("schema", &mut self.schema),
            ],
        )?;
        Ok(())
    }
}

impl RawComponent<'_> {
    /// The component. Files with schemas are below `directory`.
    fn component(&self, cx: &Decoder<'_>, directory: &Path) -> Result<Component> {
        let text = |text: &str| text.to_owned();
        let schema = written_schema::read(&self.schema, directory).map_err(|e| e.in_field("schema"))?;
        let (name, api_version, kind) = (text(self.name), text(self.api_version), text(self.kind));
        let component =
            Component { name, api_version, kind, summary: text(self.summary), schema, ..Component::default() };
        match component.fault() {
            None => Ok(component),
            Some(fault) => {
                let hint = "write it as in {apiVersion: example.com/v1, kind: TeamLabel}";
                Err(cx.error(self.pos, fault).hint(hint))
            }
        }
    }
}

impl Manifest {
    /// Returns whether a directory has one.
    pub fn is_in(directory: &Path) -> bool {
        FILES.iter().any(|name| directory.join(name).is_file())
    }

    /// The name of the manifest that a directory has; the preferred name if it has none.
    pub fn name_in(directory: &Path) -> &'static str {
        FILES.into_iter().find(|name| directory.join(name).is_file()).unwrap_or(FILES[0])
    }

    /// Reads the one of a directory.
    ///
    /// # Errors
    /// The file is missing, or malformed.
    pub fn read(directory: &Path) -> Result<Manifest> {
        let found = FILES.iter().map(|name| (*name, directory.join(name))).find(|(_, path)| path.is_file());
        let Some((name, path)) = found else {
            let message = format!("'{}' has no {}", directory.display(), FILES[0]);
            return Err(
                Error::new(Code::BadPlugin, message).hint("a directory is a plugin if that file says how it is run")
            );
        };
        let text = FileLimit(MANIFEST_LIMIT)
            .read_to_string(&path)
            .map_err(|e| Error::io(&e, format!("cannot read '{}': {e}", path.display())))?;
        let manifest = Manifest::parse(&path.display().to_string(), name == FILES[1], text, directory)?;
        if manifest.is_bundle() {
            return manifest.with_contents(directory).map_err(|e| e.context(format!("reading '{}'", path.display())));
        }
        Ok(manifest)
    }

    /// The manifest of a bundle with what is in its directory.
    fn with_contents(mut self, directory: &Path) -> Result<Manifest> {
        let bundle::BundlePlugins { components, is_native } = bundle::contents(directory)?;
        let schemas = bundle::schemas(directory)
            .map_err(|e| Error::new(Code::BadPlugin, format!("its schemas cannot be read: {e}")))?;
        if components.is_empty() && schemas.is_empty() && self.dependencies.is_empty() {
            let message = "the bundle has no plugin, no schema and no dependency";
            let layout = format!("{}/<apiVersion>/<kind in lower case>/<Kind>", bundle::PLUGINS);
            return Err(Error::new(Code::BadPlugin, message).hint(format!("the file of a plugin is {layout}")));
        }
        if is_native {
            self.platform = Platform::host();
        }
        // The field that lists an object says in which role its plugin is called.
        let description = &mut self.description;
        description.generators.clone_from(&components);
        description.transformers.clone_from(&components);
        description.validators = components;
        Ok(self)
    }

    /// Reads the text of a manifest, which errors call `shown`. `is_pulumi` says whose form it has.
    /// The files that it names are below `directory`. Of a bundle only the text is read: see
    /// [`Manifest::read`].
    ///
    /// # Errors
    /// The text is not a manifest.
    pub fn parse(shown: &str, is_pulumi: bool, text: String, directory: &Path) -> Result<Manifest> {
        read_alone(shown, text, |arena, node| match node {
            Some(node) => Manifest::decode(arena, node, is_pulumi, directory),
            None => Err(Error::new(Code::MissingField, format!("'{shown}' is empty"))),
        })
    }

    fn decode<'a>(arena: Arena<'a>, node: &Node<'a>, is_pulumi: bool, directory: &Path) -> Result<Manifest> {
        if !is_pulumi && node.get_text("kind").is_some_and(|kind| kind.eq_ignore_ascii_case(BUNDLE)) {
            return Manifest::of_bundle(&Decoder::strict(arena), node);
        }
        // Pulumi's file says more than concerns us.
        let cx = if is_pulumi { Decoder::lenient(arena) } else { Decoder::strict(arena) };
        let mut raw = RawManifest::default();
        raw.decode(node, &cx)?;
        if !is_pulumi {
            check_head(&cx, node.pos(), FileHead { api_version: raw.api_version, kind: raw.kind }, PLUGIN)?;
        }
        ManifestReader { cx, node, raw, directory }.manifest()
    }

    fn of_bundle<'a>(cx: &Decoder<'a>, node: &Node<'a>) -> Result<Manifest> {
        let mut raw = RawBundle::default();
        raw.decode(node, cx)?;
        check_head(cx, node.pos(), FileHead { api_version: raw.api_version, kind: raw.kind }, BUNDLE)?;
        let pos = |field: &str| node.as_mapping().and_then(|m| m.get(field)).map_or(node.pos(), Node::pos);
        for (field, text, example) in [("name", raw.name, "team-tools"), ("version", raw.version, "1.0.0")] {
            if text.is_empty() {
                let error = cx.error(pos(field), format!("missing field \"{field}\"")).with_code(Code::MissingField);
                return Err(error.hint(format!("a bundle has a name and a version, as in {field}: {example}")));
            }
        }
        let version: Version =
            raw.version.parse().map_err(|e: VersionError| cx.error(pos("version"), e.to_string()))?;
        let api = api_of(raw.api).map_err(|e| cx.error(pos("api"), e.to_string()))?;
        let description = Description {
            version: version.to_string(),
            api_version: api.to_string(),
            permissions: raw.permissions,
            ..Description::default()
        };
        Ok(Manifest {
            name: raw.name.to_owned(),
            version: Some(version),
            api,
            runtime: Runtime::Bundle,
            entry: Runtime::Bundle.entry().to_owned(),
            platform: Platform::any(),
            description,
            dependencies: dependencies(cx, &raw.dependencies)?,
        })
    }

    /// Returns whether the directory is a bundle.
    pub fn is_bundle(&self) -> bool {
        self.runtime == Runtime::Bundle
    }

    /// Checks that the directory has the file that the runtime runs; for Go, the package that it
    /// compiles.
    ///
    /// # Errors
    /// The directory does not have the entry.
    pub fn check_entry(&self, directory: &Path) -> Result<()> {
        let entry = directory.join(&self.entry);
        let exists = match self.runtime {
            // Its files are looked for when the manifest is read.
            Runtime::Bundle => true,
            Runtime::Go => is_import_path(&self.entry) || has_go_files(&entry),
            Runtime::Nodejs => node_finds(&entry),
            Runtime::Program(_) => entry.exists(),
            Runtime::Bash | Runtime::Deno | Runtime::Python | Runtime::SharedObject => entry.is_file(),
        };
        if exists {
            return Ok(());
        }
        let (entry, runtime) = (&self.entry, self.runtime.name());
        let message = match (&self.runtime, entry.as_str()) {
            (Runtime::Go, ".") => "the directory has no Go file, and its package is the plugin".to_owned(),
            (Runtime::Go, _) => format!("the entry '{entry}' has no Go file, and that package is the plugin"),
            _ => format!("the entry '{entry}' does not exist, and {runtime} runs that file"),
        };
        let error = Error::new(Code::BadPlugin, message);
        Err(match &self.runtime {
            Runtime::Program(name) => {
                let names = RUNTIMES.map(|(name, _)| name).join(", ");
                error.hint(format!(
                    "the runtimes are {names}; '{name}' stands for a program 'rustomize-runtime-{name}' in PATH"
                ))
            }
            _ => error.hint("'entry' in plugin.yaml names the file of the plugin"),
        })
    }

    /// The launch of the plugin in a directory; for a bundle, that of a plugin with no name.
    pub fn launch(&self, directory: &Path) -> Launch {
        let made = directory.join(crate::id::content::MADE);
        let entry = directory.join(&self.entry).into_os_string();
        let words = |words: &[&str]| words.iter().map(OsString::from).chain([entry.clone()]).collect();
        let (program, args): (PathBuf, Vec<OsString>) = match &self.runtime {
            Runtime::Python => {
                let own = runtime_files::python_of(&made.join("venv"));
                (if own.is_file() { own } else { "python3".into() }, words(&["-X", "utf8", "-B"]))
            }
            Runtime::Nodejs => ("node".into(), words(&[])),
            Runtime::Go => (runtime_files::go_program(&made), Vec::new()),
            Runtime::Deno => (
                "deno".into(),
                DENO.map(OsString::from).into_iter().chain(deno_lock(directory)).chain([entry]).collect(),
            ),
            Runtime::Bash => ("bash".into(), words(&[])),
            Runtime::SharedObject | Runtime::Bundle => (directory.join(&self.entry), Vec::new()),
            Runtime::Program(name) => (format!("rustomize-runtime-{name}").into(), words(&["run"])),
        };
        let of = |client: NeededPlugin| [Some(client.path), client.command.into_iter().next().map(PathBuf::from)];
        let calls = clients(directory).into_iter().flat_map(of).flatten().collect();
        let launch = Launch::new(program).args(args).reading([directory]).variables(self.variables(directory));
        Launch { calls, ..launch }
    }

    /// The variables that the runtime needs in a directory: where it keeps what it has fetched.
    pub fn variables(&self, directory: &Path) -> Vec<Variable> {
        match self.runtime {
            Runtime::Deno => deno_variables(&directory.join(crate::id::content::MADE).join(DENO_DIRECTORY)),
            _ => Vec::new(),
        }
    }

    /// The plugin's own description, with the protocol and the permissions of this file.
    pub fn complete(&self, said: Description) -> Description {
        let Description { protocol, format, worker, permissions, .. } = self.description.clone();
        let worker = worker || said.worker;
        // Without the field the format is YAML.
        let format = if format == Format::default() { said.format } else { format };
        Description { protocol, format, worker, permissions, ..said }
    }

    /// The description, if the file has one.
    pub fn says_what(&self) -> bool {
        self.is_bundle() || self.description.components().next().is_some()
    }
}

/// The manifest of a plugin, while its fields are read.
struct ManifestReader<'r, 'a> {
    cx: Decoder<'a>,
    node: &'r Node<'a>,
    raw: RawManifest<'a>,
    directory: &'r Path,
}

impl<'a> ManifestReader<'_, 'a> {
    fn manifest(&self) -> Result<Manifest> {
        let ManifestReader { cx, raw, .. } = self;
        let runtime = self.runtime()?;
        let protocol = self.protocol(&runtime)?;
        let format = self.format(protocol)?;
        let version = (!raw.version.is_empty()).then(|| raw.version.parse()).transpose();
        let version = version.map_err(|e: VersionError| self.wrong("version", e.to_string()))?;
        let api = api_of(raw.api).map_err(|e| self.wrong("api", e.to_string()))?;
        let entry = self.entry(&runtime)?;
        let description = Description {
            version: version.as_ref().map(ToString::to_string).unwrap_or_default(),
            api_version: api.to_string(),
            generators: self.components("generators", &raw.generators)?,
            transformers: self.components("transformers", &raw.transformers)?,
            validators: self.components("validators", &raw.validators)?,
            protocol,
            format,
            worker: raw.worker,
            permissions: raw.permissions.clone(),
            ..Description::default()
        };
        let is_shared_object = runtime == Runtime::SharedObject;
        if is_shared_object && description.components().next().is_none() {
            return Err(self
                .wrong("runtime", "it says nothing of what the shared object does".to_owned())
                .hint("as in generators: [{apiVersion: example.com/v1, kind: Made}]"));
        }
        Ok(Manifest {
            name: raw.name.to_owned(),
            version,
            api,
            runtime,
            entry,
            platform: if is_shared_object { Platform::host() } else { Platform::any() },
            description,
            dependencies: dependencies(cx, &raw.dependencies)?,
        })
    }

    /// The error about the value of a field, at its place.
    fn wrong(&self, field: &str, message: String) -> Error {
        let value = self.node.as_mapping().and_then(|manifest| manifest.get(field));
        self.cx.error(value.map_or(self.node.pos(), Node::pos), message)
    }

    fn runtime(&self) -> Result<Runtime> {
        // Pulumi writes a name, or a mapping with one.
        let name = match self.raw.runtime.value() {
            Value::Scalar(scalar) if !scalar.is_null() => scalar.text(),
            Value::Mapping(mapping) => mapping.get("name").map_or("", Node::scalar_text),
            _ => "",
        };
        Runtime::of(name).ok_or_else(|| {
            let names = RUNTIMES.map(|(name, _)| name).join(", ");
            if name.is_empty() {
                let hint = format!("it is one of {names}, or NAME for a program 'rustomize-runtime-NAME' in PATH");
                return self.wrong("runtime", "missing field \"runtime\"".to_owned()).hint(hint);
            }
            let message = format!(
                "the runtime '{name}' is none of {names}, nor the name of a program 'rustomize-runtime-<name>'"
            );
            self.wrong("runtime", message)
        })
    }

    fn protocol(&self, runtime: &Runtime) -> Result<Protocol> {
        match (runtime, self.raw.protocol) {
            (Runtime::SharedObject, "") => Ok(Protocol::SharedObject),
            (_, "" | "exec") => Ok(Protocol::Exec),
            (_, "krm") => Ok(Protocol::Krm),
            (_, other) => Err(self.wrong("protocol", format!("the protocol is 'exec' or 'krm', not '{other}'"))),
        }
    }

    /// The format of the documents that the plugin reads. Only a plugin with the protocol 'exec'
    /// reads JSON, or is a worker.
    fn format(&self, protocol: Protocol) -> Result<Format> {
        let RawManifest { format, worker, .. } = self.raw;
        if format == "json" && protocol != Protocol::Exec {
            let message = "only a plugin with the protocol 'exec' has the format 'json'".to_owned();
            let hint = "leave 'format' out: a function reads a ResourceList, a shared object YAML";
            return Err(self.wrong("format", message).hint(hint));
        }
        if worker && protocol != Protocol::Exec {
            let message = "only a plugin with the protocol 'exec' is a worker".to_owned();
            let hint = "leave 'worker' out: a shared object is started once in any case";
            return Err(self.wrong("worker", message).hint(hint));
        }
        match format {
            "" => Ok(Format::default()),
            name => Format::named(name)
                .ok_or_else(|| self.wrong("format", format!("the format is 'yaml' or 'json', not '{name}'"))),
        }
    }

    fn entry(&self, runtime: &Runtime) -> Result<String> {
        let entry = if self.raw.entry.is_empty() { runtime.entry() } else { self.raw.entry };
        if entry.starts_with('-') {
            let error = self.wrong("entry", format!("the entry '{entry}' begins with '-', as an option does"));
            return Err(error.hint(format!("write ./{entry}, if the file is called so")));
        }
        if written_schema::leaves(entry) {
            return Err(self.wrong("entry", format!("the entry '{entry}' is not in the directory")));
        }
        Ok(entry.to_owned())
    }

    fn components(&self, field: &'static str, raw: &[RawComponent<'a>]) -> Result<Vec<Component>> {
        let all = raw.iter().map(|raw| raw.component(&self.cx, self.directory));
        all.collect::<Result<_>>().map_err(|e| e.in_field(field))
    }
}

/// Returns whether the entry of a Go plugin is a package by its import path, which Go looks up in
/// the modules of the plugin. Other entries are directories and files of the plugin.
fn is_import_path(entry: &str) -> bool {
    entry != "." && !entry.starts_with("./") && !entry.ends_with(".go")
}

/// Returns whether Go finds a package: a Go file, or a directory with one.
fn has_go_files(entry: &Path) -> bool {
    let is_go = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".go") && !name.ends_with("_test.go") && path.is_file()
    };
    let mut inside = std::fs::read_dir(entry).into_iter().flatten().filter_map(std::result::Result::ok);
    is_go(entry) || inside.any(|file| is_go(&file.path()))
}

/// Returns whether Node finds an entry: as a file, by its name without the ending, or as a
/// directory with the file of a package.
fn node_finds(entry: &Path) -> bool {
    let with = |end: &str| {
        let mut path = entry.as_os_str().to_owned();
        path.push(end);
        PathBuf::from(path)
    };
    let file = ["", ".js", ".json", ".node"].iter().any(|end| with(end).is_file());
    let directory = ["package.json", "index.js", "index.json", "index.node"].iter();
    file || directory.map(|name| entry.join(name)).any(|path| path.is_file())
}

/// The version of the interface that a text names; an empty one is that of this program.
fn api_of(text: &str) -> std::result::Result<ApiVersion, VersionError> {
    if text.is_empty() { Ok(HOST_API) } else { text.parse() }
}

/// Most plugins that one plugin needs.
const MOST_DEPENDENCIES: usize = 1000;

fn dependencies<'a>(cx: &Decoder<'a>, node: &Node<'a>) -> Result<Vec<Requirement>> {
    let all = requirements(cx, node, "dependencies", MOST_DEPENDENCIES)?;
    let is_path = |r: &&Requirement| matches!(r.location(), Ok(Location::Local(_)));
    match all.iter().find(is_path).filter(|r| is_absolute(&r.from)) {
        None => Ok(all),
        Some(local) => Err(cx.error(node.pos(), format!("the dependency '{}' is a path of one machine", local.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Manifest, Runtime};
    use std::path::Path;

    const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: Plugin\n";

    fn parse(text: &str) -> Result<Manifest, String> {
        Manifest::parse("plugin.yaml", false, format!("{HEAD}{text}"), Path::new(".")).map_err(|e| e.to_string())
    }

    #[test]
    fn a_directory_names_its_runtime() {
        let manifest =
            parse("name: app\nversion: 1.2.3\nruntime: python\ngenerators: [{apiVersion: ex.io/v1, kind: Made}]\n")
                .unwrap();
        assert_eq!((manifest.runtime, manifest.entry.as_str()), (Runtime::Python, "main.py"));
        assert_eq!(manifest.description.generators[0].kind, "Made");
        assert_eq!(manifest.version.unwrap().to_string(), "1.2.3");
        let pulumi =
            "runtime:\n  name: nodejs\n  options: {typescript: true}\nrequiredPulumiVersion: '>=3'\npackages: {}\n";
        let pulumi = Manifest::parse("PulumiPlugin.yaml", true, pulumi.to_owned(), Path::new(".")).unwrap();
        assert_eq!((pulumi.runtime, pulumi.entry.as_str()), (Runtime::Nodejs, "index.js"));
        let other = parse("runtime: ruby\n").unwrap();
        assert_eq!(other.launch(Path::new("/p")).program.to_str(), Some("rustomize-runtime-ruby"));
    }

    #[test]
    fn no_shim_is_needed() {
        let manifest = parse("runtime: bash\nentry: run.sh\n").unwrap();
        let launch = manifest.launch(Path::new("/p"));
        assert_eq!((launch.program.to_str(), launch.args[0].to_str()), (Some("bash"), Some("/p/run.sh")));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("runtime: Cobol!\n", "none of python, nodejs, go, deno, bash, so"),
            ("runtime: so\n", "what the shared object does"),
            ("runtime: bash\nprotocol: grpc\n", "'exec' or 'krm'"),
            ("runtime: bash\npermissions: {read: [x]}\n", "for no path"),
            ("version: 1.2.3\n", "missing field \"runtime\""),
            ("runtime: bash\nformat: toml\n", "'yaml' or 'json'"),
            ("runtime: bash\ngenerators: [{kind: X}]\n", "no apiVersion"),
            ("runtime: bash\ngenerators: [{name: x, schema: {type: objct}}]\n", "plugin.yaml:4:39"),
            ("runtime: bash\ngenerators: [{name: x, schema: ../s.json}]\n", "not in the plugin's directory"),
            ("runtime: bash\nversion: 1.2\n", "quotes"),
            ("runtime: bash\nversion: 1.2.3-rc1\n", "pre-release"),
            ("runtime: bash\nentry: ../x.sh\n", "not in the directory"),
            ("runtime: go\nentry: -toolexec=./x\n", "begins with '-'"),
            ("runtime: bash\nrun: x\n", "unknown field"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
