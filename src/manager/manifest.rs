//! [`Manifest`]: `plugin.yaml`, which makes a directory a plugin and names the runtime that runs it (U09 to U12).

use super::describe::{Command, Component, Description};
use super::location::Location;
use super::requirements::{Requirement, check_head, requirements};
use super::version::{ApiVersion, HOST_API, Version};
use crate::config::{Decode, Decoder};
use crate::diag::{Error, ErrorKind, Result};
use crate::yaml::{Arena, Node, Value, first_document};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// The names of the file, first that is there. The second is Pulumi's.
pub const FILES: [&str; 2] = ["plugin.yaml", "PulumiPlugin.yaml"];

/// What runs the files of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    Python,
    Nodejs,
    Go,
    Deno,
    Bash,
}

const RUNTIMES: [(&str, Runtime); 5] = [
    ("python", Runtime::Python),
    ("nodejs", Runtime::Nodejs),
    ("go", Runtime::Go),
    ("deno", Runtime::Deno),
    ("bash", Runtime::Bash),
];

impl Runtime {
    /// Its name in the file.
    pub fn name(self) -> &'static str {
        RUNTIMES.iter().find(|(_, runtime)| *runtime == self).map_or("", |(name, _)| name)
    }

    /// The file that is run where the manifest names none.
    fn entry(self) -> &'static str {
        match self {
            Runtime::Python => "main.py",
            Runtime::Nodejs => "index.js",
            Runtime::Go => ".",
            Runtime::Deno => "main.ts",
            Runtime::Bash => "main.sh",
        }
    }
}

/// A directory's plugin.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// What it says that it is called; empty if it does not.
    pub name: String,
    /// `None` where the plugin itself says it.
    pub version: Option<Version>,
    pub api: ApiVersion,
    pub runtime: Runtime,
    /// The file that is run, in the directory; for Go the package.
    pub entry: String,
    /// What the plugin does; empty where it says so when it is asked.
    pub description: Description,
    /// The plugins that it needs.
    pub dependencies: Vec<Requirement>,
}

#[derive(Default)]
struct Raw<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    version: &'a str,
    api: &'a str,
    runtime: Node<'a>,
    entry: &'a str,
    generators: Vec<RawComponent<'a>>,
    transformers: Vec<RawComponent<'a>>,
    validators: Vec<RawComponent<'a>>,
    dependencies: Node<'a>,
}

#[derive(Default)]
struct RawComponent<'a> {
    name: &'a str,
    api_version: &'a str,
    kind: &'a str,
}

impl<'a> Decode<'a> for RawComponent<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        if let Some(name) = node.as_scalar() {
            self.name = name.text;
            return Ok(());
        }
        cx.object(
            node,
            &mut [("name", &mut self.name), ("apiVersion", &mut self.api_version), ("kind", &mut self.kind)],
        )?;
        Ok(())
    }
}

impl<'a> Decode<'a> for Raw<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        cx.object(
            node,
            &mut [
                ("apiVersion", &mut self.api_version),
                ("kind", &mut self.kind),
                ("name", &mut self.name),
                ("version", &mut self.version),
                ("api", &mut self.api),
                ("runtime", &mut self.runtime),
                ("entry", &mut self.entry),
                ("generators", &mut self.generators),
                ("transformers", &mut self.transformers),
                ("validators", &mut self.validators),
                ("dependencies", &mut self.dependencies),
            ],
        )?;
        Ok(())
    }
}

fn components(raw: &[RawComponent<'_>]) -> Vec<Component> {
    raw.iter()
        .map(|c| Component { name: c.name.to_owned(), api_version: c.api_version.to_owned(), kind: c.kind.to_owned() })
        .collect()
}

impl Manifest {
    /// Whether a directory has one.
    pub fn is_in(directory: &Path) -> bool {
        FILES.iter().any(|name| directory.join(name).is_file())
    }

    /// Reads the one of a directory.
    ///
    /// # Errors
    /// There is none, or it is not of its form.
    pub fn read(directory: &Path) -> Result<Manifest> {
        let found = FILES.iter().map(|name| (*name, directory.join(name))).find(|(_, path)| path.is_file());
        let Some((name, path)) = found else {
            let message = format!("'{}' has no {}", directory.display(), FILES[0]);
            return Err(
                Error::new(ErrorKind::Plugin, message).hint("a directory is a plugin if that file says how it is run")
            );
        };
        let text = fs::read_to_string(&path)
            .map_err(|e| Error::new(ErrorKind::Io, format!("cannot read '{}': {e}", path.display())))?;
        Manifest::parse(&path.display().to_string(), name == FILES[1], text)
    }

    fn parse(shown: &str, is_pulumi: bool, text: String) -> Result<Manifest> {
        let arena = Arena::new();
        let source = arena.add_source(shown.to_owned(), text);
        let node = first_document(&arena, source).map_err(|m| Error::malformed(&arena, m))?;
        let node = node.ok_or_else(|| Error::input(format!("'{shown}' is empty")))?;
        // Pulumi's file says more than concerns us.
        let cx = if is_pulumi { Decoder::lenient(&arena) } else { Decoder::strict(&arena) };
        let mut raw = Raw::default();
        raw.decode(&node, &cx)?;
        let wrong = |message: String| cx.error(node.pos, message);
        if !is_pulumi {
            check_head(&cx, node.pos, (raw.api_version, raw.kind), "Plugin")?;
        }
        let runtime = match &raw.runtime.value {
            Value::Scalar(scalar) if !scalar.is_null() => scalar.text,
            Value::Mapping(m) => m.get("name").and_then(Node::as_scalar).map_or("", |s| s.text),
            _ => "",
        };
        let known = RUNTIMES.iter().find(|(name, _)| *name == runtime).map(|(_, runtime)| *runtime);
        let names = RUNTIMES.map(|(name, _)| name).join(", ");
        let runtime = known.ok_or_else(|| wrong(format!("the runtime '{runtime}' is none of {names}")))?;
        let version = (!raw.version.is_empty()).then(|| raw.version.parse()).transpose();
        let version = version.map_err(|e: super::version::VersionError| wrong(e.to_string()))?;
        let api = if raw.api.is_empty() { Ok(HOST_API) } else { raw.api.parse() };
        let api: ApiVersion = api.map_err(|e: super::version::VersionError| wrong(e.to_string()))?;
        let entry = if raw.entry.is_empty() { runtime.entry() } else { raw.entry };
        let leaves = |entry: &str| entry.starts_with('/') || entry.split('/').any(|part| part == "..");
        if leaves(entry) {
            return Err(wrong(format!("the entry '{entry}' is not in the directory")));
        }
        let description = Description {
            version: version.as_ref().map(ToString::to_string).unwrap_or_default(),
            api_version: api.to_string(),
            generators: components(&raw.generators),
            transformers: components(&raw.transformers),
            validators: components(&raw.validators),
            ..Description::default()
        };
        let dependencies = requirements(&cx, &raw.dependencies, "dependencies")?;
        let is_path = |r: &&Requirement| matches!(r.location(), Ok(Location::Local(_)));
        if let Some(local) = dependencies.iter().find(is_path).filter(|r| r.from.starts_with('/')) {
            return Err(wrong(format!("the dependency '{}' is a path of one machine", local.name)));
        }
        Ok(Manifest {
            name: raw.name.to_owned(),
            version,
            api,
            runtime,
            entry: entry.to_owned(),
            description,
            dependencies,
        })
    }

    /// The command that runs the plugin in a directory.
    pub fn command(&self, directory: &Path) -> Command {
        let made = directory.join(super::content::MADE);
        let entry = directory.join(&self.entry).into_os_string();
        let words = |words: &[&str]| words.iter().map(OsString::from).chain([entry.clone()]).collect();
        let (program, args) = match self.runtime {
            Runtime::Python => {
                let own = made.join("venv").join("bin").join("python");
                (if own.is_file() { own } else { "python3".into() }, words(&["-B"]))
            }
            Runtime::Nodejs => ("node".into(), words(&[])),
            Runtime::Go => (made.join("bin").join("plugin"), Vec::new()),
            Runtime::Deno => ("deno".into(), words(&["run", "--quiet", "--no-prompt", "--cached-only"])),
            Runtime::Bash => ("bash".into(), words(&[])),
        };
        Command { program, args, directory: Some(directory.to_owned()) }
    }

    /// What the plugin does, if the file says that.
    pub fn says_what(&self) -> bool {
        self.description.components().next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{Manifest, Runtime};

    const HEAD: &str = "apiVersion: rustomize.dev/v1\nkind: Plugin\n";

    fn parse(text: &str) -> Result<Manifest, String> {
        Manifest::parse("plugin.yaml", false, format!("{HEAD}{text}")).map_err(|e| e.to_string())
    }

    #[test]
    fn u09_u10_a_directory_names_its_runtime() {
        let manifest =
            parse("name: app\nversion: 1.2.3\nruntime: python\ngenerators: [{apiVersion: ex.io/v1, kind: Made}]\n")
                .unwrap();
        assert_eq!((manifest.runtime, manifest.entry.as_str()), (Runtime::Python, "main.py"));
        assert_eq!(manifest.description.generators[0].kind, "Made");
        assert_eq!(manifest.version.unwrap().to_string(), "1.2.3");
        let pulumi =
            "runtime:\n  name: nodejs\n  options: {typescript: true}\nrequiredPulumiVersion: '>=3'\npackages: {}\n";
        let pulumi = Manifest::parse("PulumiPlugin.yaml", true, pulumi.to_owned()).unwrap();
        assert_eq!((pulumi.runtime, pulumi.entry.as_str()), (Runtime::Nodejs, "index.js"));
    }

    #[test]
    fn u12_no_shim_is_needed() {
        let manifest = parse("runtime: bash\nentry: run.sh\n").unwrap();
        let command = manifest.command(std::path::Path::new("/p"));
        assert_eq!((command.program.to_str(), command.args[0].to_str()), (Some("bash"), Some("/p/run.sh")));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("runtime: cobol\n", "none of python, nodejs, go, deno, bash"),
            ("version: 1.2.3\n", "the runtime ''"),
            ("runtime: bash\nversion: 1.2\n", "quotes"),
            ("runtime: bash\nversion: 1.2.3-rc1\n", "pre-release"),
            ("runtime: bash\nentry: ../x.sh\n", "not in the directory"),
            ("runtime: bash\nrun: x\n", "unknown field"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
