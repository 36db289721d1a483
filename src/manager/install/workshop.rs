//! [`Workshop`]: where the tools of a language make what a plugin needs when it is installed.
//!
//! Every tool runs in a sandbox, and reads the system and the plugin. A step that fetches can use
//! the network, and writes to a directory that is removed afterwards. A step that makes the kept
//! files cannot use the network. Only the variables, files and settings of the user that are named
//! here reach a tool.

use crate::diag::{Code, Error, Result};
use crate::id::content::MADE;
use rustomize_base::search_path::SearchPath;
use rustomize_files::{self as files, Directory};
use rustomize_plugins::PluginOptions;
use rustomize_plugins::failure::bad_plugin;
use rustomize_plugins::isolation::{Isolation, parts};
use rustomize_plugins::permissions::real;
use rustomize_process::{Failed, Failure, Inherited, Launch, Limits, Variable};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

/// The time limit of one step: compilers and package managers fetch and build.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// Variables of the user that every step has; of `PATH` only what is absolute.
const LANGUAGE: [&str; 4] = ["LANG", "LC_ALL", "LC_CTYPE", "TZ"];

/// Variables of the user that a step has that fetches: the way out, and where packages come from.
const NETWORK: [&str; 13] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "PIP_INDEX_URL",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "GOPROXY",
    "DENO_TLS_CA_STORE",
];

/// Variables of the user with certificates, which a step reads that fetches.
const CERTIFICATES: [&str; 7] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "DENO_CERT",
];

/// Variables of the user that lead a tool to other files than its own.
const REDIRECTIONS: [&str; 5] = ["PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "GOFLAGS", "NODE_OPTIONS"];

/// The directories in which the tools of a language install one plugin.
pub(super) struct Workshop<'w> {
    options: &'w PluginOptions,
    /// The plugin's directory, which is read.
    pub(super) plugin: PathBuf,
    /// The directory of its results, which is written and kept.
    pub(super) made: PathBuf,
    /// A directory for the tools' own files: written, and gone afterwards.
    pub(super) work: PathBuf,
    /// The same directories, held: a tool may put links into the last two.
    pub(super) held: Held,
}

/// The directories of a [`Workshop`].
pub(super) struct Held {
    pub(super) plugin: Directory,
    pub(super) made: Directory,
    pub(super) work: Directory,
}

/// The task of a step, which decides its permissions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Fetches: it has the network, and writes to [`Workshop::work`] alone. No code of a plugin
    /// runs in it.
    Fetch,
    /// Makes the files that are kept: it cannot use the network, and also writes to
    /// [`Workshop::made`].
    Make,
    /// Does both at once, for a `rustomize-runtime-...` program that has one step.
    FetchAndMake,
}

/// One tool that is run.
pub(super) struct ToolRun<'s> {
    /// Its path.
    pub(super) program: &'s Path,
    pub(super) args: Vec<OsString>,
    pub(super) directory: &'s Path,
    pub(super) variables: Vec<Variable>,
    pub(super) task: Task,
    /// Paths that it reads, beside the system, its own folder and the plugin.
    pub(super) read: Vec<PathBuf>,
}

impl<'s> ToolRun<'s> {
    /// A run that makes the files that are kept.
    pub(super) fn new<A: Into<OsString>>(
        program: &'s Path,
        directory: &'s Path,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        ToolRun { program, args, directory, variables: Vec::new(), task: Task::Make, read: Vec::new() }
    }
}

impl<'w> Workshop<'w> {
    /// The workshop for a plugin's directory. `work` is an empty directory.
    ///
    /// # Errors
    /// Its directories cannot be made.
    pub(super) fn new(plugin: &Path, work: &Directory, options: &'w PluginOptions) -> Result<Self> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let open = || -> std::io::Result<Held> {
            let (plugin, work) = (files::directory(plugin)?, work.try_clone()?);
            let made = plugin.make(Path::new(MADE), 0o755)?;
            for folder in ["home", "tmp"] {
                work.make(Path::new(folder), 0o755)?;
            }
            Ok(Held { plugin, made, work })
        };
        let held = open().map_err(|e| Error::io(&e, format!("cannot write to '{}': {e}", plugin.display())))?;
        let (plugin, work) = (absolute(plugin), absolute(work.path()));
        let made = plugin.join(MADE);
        Ok(Workshop { options, plugin, made, work, held })
    }

    /// The directories of `PATH`.
    fn path(&self) -> SearchPath {
        SearchPath::of(&*self.options.host)
    }

    /// A program of this machine.
    ///
    /// # Errors
    /// The program is not in PATH.
    pub(super) fn program(&self, name: &str) -> Result<PathBuf> {
        self.path().find(name, rustomize_files::is_program).ok_or_else(|| {
            bad_plugin(format!("'{name}' is not in PATH, and the plugin needs it"))
                .with_code(Code::PluginMissing)
                .hint("install it, then install the plugin again")
        })
    }

    /// The answer of a program of this machine about itself, such as the path of the real program
    /// behind a shim of pyenv. It runs as if the user had called it, in an empty directory, and so
    /// sees nothing of the plugin.
    ///
    /// # Errors
    /// The program fails, or its answer is not UTF-8.
    pub(super) fn ask(&self, program: &Path, args: &[&str]) -> Result<PathBuf> {
        let variables = [("PATH".into(), self.path().value()), ("GOTOOLCHAIN".into(), "local".into())];
        let launch = Launch::new(program).args(args).in_directory(&self.work).variables(variables);
        let launch = Launch { inherits: Inherited::AllBut(&REDIRECTIONS), ..launch };
        let said = self.options.children.run(launch.limited(self.limits()));
        let said = said.map_err(|failed| failed_step(&shown(program, args), failed))?;
        let said = String::from_utf8(said)
            .map_err(|_| bad_plugin(format!("'{}' has not answered in UTF-8", shown(program, args))))?;
        Ok(PathBuf::from(said.trim()))
    }

    fn limits(&self) -> Limits {
        Limits { timeout: Some(TIMEOUT), ..self.options.limits() }
    }

    /// Runs a tool in its sandbox: the one way in which an installation runs anything that sees the
    /// plugin.
    ///
    /// # Errors
    /// The tool fails, or the system lacks a part of a strict sandbox.
    pub(super) fn run(&self, step: ToolRun<'_>) -> Result<()> {
        self.say_what_is_missing();
        let words: Vec<String> = step.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let shown = shown(step.program, &words.iter().map(String::as_str).collect::<Vec<_>>());
        let isolation = self.isolation(&step);
        let not_started = |e| failed_step(&shown, Failed::not_started(e));
        let launch = Launch::new(step.program).args(step.args).in_directory(step.directory).reading([&self.plugin]);
        let launch = self.options.confined(launch, &isolation).map_err(not_started)?;
        // In place of those that the sandbox has.
        let own = [
            ("PATH", self.path().value()),
            ("HOME", self.work.join("home").into()),
            ("TMPDIR", self.work.join("tmp").into()),
        ];
        let own = own.map(|(name, value)| (name.into(), value));
        let launch = launch.variables(own).variables(step.variables).limited(self.limits());
        self.options.children.run(launch).map(drop).map_err(|failed| failed_step(&shown, failed))
    }

    /// The restrictions of a step. It runs in a sandbox even if installed plugins run without one.
    fn isolation(&self, step: &ToolRun<'_>) -> Isolation {
        let level = self.options.isolation.installed.at_least_auto();
        let value = |name: &&str| self.options.host.set_variable(name);
        let named = |names: &[&str]| -> Vec<(String, Option<OsString>)> {
            names.iter().map(|name| ((*name).to_owned(), value(name))).collect()
        };
        let mut variables = named(&LANGUAGE);
        let mut read = [&self.options.isolation.read[..], &step.read].concat();
        let fetches = step.task != Task::Make;
        if fetches {
            variables.extend([&NETWORK[..], &CERTIFICATES].iter().flat_map(|names| named(names)));
            let certificates = CERTIFICATES.iter().filter_map(value).map(PathBuf::from);
            read.extend(certificates.filter(|path| path.is_absolute()));
        }
        let read: Vec<PathBuf> = read.iter().map(|path| real(path)).collect();
        let mut write = vec![real(&self.work)];
        if step.task != Task::Fetch {
            write.push(real(&self.made));
        }
        Isolation {
            level,
            is_apart: true,
            read,
            write,
            network: fetches,
            modes: true,
            variables,
            ..Isolation::default()
        }
    }

    /// Warns once of the parts that this system cannot enforce. Where isolation is strict, each
    /// step fails.
    fn say_what_is_missing(&self) {
        static SAID: Once = Once::new();
        SAID.call_once(|| {
            let parts = self
                .options
                .host
                .helper()
                .and_then(|helper| parts(&self.options.children, &helper))
                .unwrap_or_default();
            for missing in parts.into_iter().filter_map(|part| part.missing) {
                self.options.say(&format!("Warning: plugin isolation: {missing}"));
            }
        });
    }
}

fn shown(program: &Path, args: &[&str]) -> String {
    [&[&*program.to_string_lossy()], args].concat().join(" ")
}

fn failed_step(shown: &str, failed: Failed) -> Error {
    let said = failed.stderr.trim_end().replace('\n', "\n    ");
    match failed.failure {
        Failure::Status(status) | Failure::Ended(status) => {
            bad_plugin(format!("'{shown}' failed: {status}\n    {said}"))
        }
        Failure::TimedOut(t) => bad_plugin(format!("'{shown}' took longer than {} s", t.as_secs())),
        Failure::NotStarted(e) => bad_plugin(format!("'{shown}' cannot be started: {e}")),
        other => bad_plugin(format!("'{shown}' failed: {other:?}")),
    }
}
