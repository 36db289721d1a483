//! Flags exactly as typed.

use super::command_word;
use super::plugin_flags::PluginFlags;
use crate::manager::fetch::FetchLimits;
use crate::manager::install::PARALLEL;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Parser)]
#[command(
    name = "rustomize",
    about = "Builds kustomizations: the bytes of kustomize v5.8.1, in linear time",
    long_about = "Builds kustomizations: reads a kustomization.yaml, what it names, generates, patches and renames, and prints \
                  Kubernetes objects, byte for byte as kustomize v5.8.1 does.\n\n  rustomize build overlays/prod | kubectl apply -f -",
    disable_version_flag = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print a stack trace on errors; accepted for scripts that pass it, errors say where they come
    /// from anyway
    #[arg(long, global = true, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    stack_trace: Option<bool>,
}

/// What is asked for.
#[derive(Subcommand)]
pub enum Command {
    /// Build a kustomization from a directory and print it
    #[command(after_long_help = BUILD_EXAMPLES)]
    Build(Box<Build>),
    /// Make, install, pin and share plugins
    Plugin(PluginCommand),
    /// Say what this machine can do for builds: isolation of plugins, and the programs that some of
    /// them need
    #[command(after_long_help = DOCTOR_EXAMPLES)]
    Doctor(Doctor),
    /// Print the version
    Version(Version),
}

const DOCTOR_EXAMPLES: &str = "Examples:
  # Fail a CI job on a machine that cannot isolate plugins
  rustomize doctor -o json | jq -e '.isolation.enforced'";

/// `doctor`.
#[derive(Args)]
pub struct Doctor {
    /// How to print: text or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}

/// How a report is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// `plugin`.
#[derive(Args)]
pub struct PluginCommand {
    #[command(subcommand)]
    pub command: Plugin,

    /// Print what was found or done as JSON, for programs
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands of `plugin`.
#[derive(Subcommand)]
pub enum Plugin {
    /// Build a Go plugin, written for kustomize, from its unchanged source
    #[command(long_about = BUILD_PLUGIN, after_long_help = BUILD_PLUGIN_EXAMPLES)]
    Build {
        /// The directory with the source
        #[arg(value_name = "DIR", default_value = ".")]
        directory: PathBuf,

        /// Where to put the shared object [default: DIR/KIND.so]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Install the plugins that plugins.yaml names, or one
    #[command(long_about = INSTALL_PLUGIN, after_long_help = INSTALL_EXAMPLES)]
    Install(Install),
    /// Write a new plugin, a generator, with an example that tests it
    New {
        /// The directory, which is not there yet; its name is the plugin's
        #[arg(value_name = "DIR")]
        directory: PathBuf,

        /// What it is written in
        #[arg(long, value_name = "LANGUAGE", default_value = "bash")]
        lang: Language,
    },
    /// Add a plugin to plugins.yaml, and install and lock it
    Add(Add),
    /// Print what a plugin says of itself, as JSON; one that is not installed is installed first
    Describe {
        /// The source of a plugin, or its name in plugins.yaml, or the path of an executable or a
        /// directory
        #[arg(value_name = "SOURCE[@CONSTRAINT]|NAME|PATH")]
        what: String,

        /// Fetch nothing: the plugin is installed
        #[arg(long)]
        offline: bool,
    },
    /// Check every installed plugin: its name, its content, and what it says of itself
    Verify {
        /// A directory whose plugins.lock they are held to, too
        #[arg(value_name = "DIR", default_value = ".")]
        directory: PathBuf,
    },
    /// Say which plugin is used for a kind of configuration objects, and why: everything that was
    /// looked at
    Doctor {
        /// The kind, as in example.com/v1/Made; all that is installed without it
        #[arg(value_name = "APIVERSION/KIND")]
        kind: Option<String>,

        /// The directory with plugins.yaml
        #[arg(long, value_name = "DIR", default_value = ".")]
        directory: PathBuf,
    },
    /// Say whose plugins may be installed, in your own trust.yaml
    #[command(long_about = TRUST_PLUGIN)]
    Trust(Trust),
    /// Take away installed versions that nothing needs
    #[command(long_about = PRUNE_PLUGIN)]
    Prune {
        /// Directories whose plugins.lock names what is needed
        #[arg(value_name = "DIR", default_value = ".")]
        directories: Vec<PathBuf>,

        /// Say what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Serve an environment's bundles to machines that sync them
    #[command(long_about = SERVE_PLUGIN)]
    Serve(Serve),
    /// Lay installed plugins where kustomize and kubectl look for them, or bring an environment up
    /// to date
    #[command(long_about = SYNC_PLUGIN)]
    Sync(Sync),
    /// Write plugins.lock: the exact versions and sums of what plugins.yaml names
    #[command(long_about = LOCK_PLUGIN)]
    Lock(Lock),
    /// List installed plugins, and why some are not considered
    List {
        /// How to print: text or json
        #[arg(short, long, value_name = "FORMAT", default_value = "text")]
        output: Format,
    },
    /// Call a plugin once, outside of a build
    #[command(long_about = RUN_PLUGIN, after_long_help = RUN_EXAMPLES)]
    Run(Box<Run>),
    /// Take an installed plugin away
    Remove {
        /// Its source, or with a constraint on the versions to remove, as in 'github.com/acme/app@<
        /// 2'
        #[arg(value_name = "SOURCE[@CONSTRAINT]")]
        what: String,
    },
    /// Make a Go plugin usable that was built with -buildmode=plugin and whose source is lost
    #[command(long_about = ADOPT_PLUGIN)]
    Adopt {
        /// The Go plugin
        #[arg(value_name = "FILE.so")]
        file: PathBuf,
    },
}

const BUILD_PLUGIN: &str = "Build a Go plugin, written for kustomize, from its unchanged source: the package main that declares \
    KustomizePlugin, with or without a go.mod. The result is a shared object that any version of rustomize loads, without Go. The \
    source and its go.mod stay as they are. Needs Go 1.24 or later and a C compiler.";

const BUILD_PLUGIN_EXAMPLES: &str = "Examples:
  # Build StringPrefixer.go into StringPrefixer.so beside it
  rustomize plugin build ~/.config/kustomize/plugin/someteam.example.com/v1/stringprefixer";

const INSTALL_PLUGIN: &str = "Install the plugins that plugins.yaml in the directory names, or the one that SOURCE names.\n\n\
    What plugins.yaml names is installed as plugins.lock says, and plugins.lock is written where it says nothing yet. With --frozen, \
    and where CI is set (but to 'false' or '0'), nothing is installed that is not locked. A single plugin that plugins.yaml does not name is installed beside them, and neither file changes.";

const INSTALL_EXAMPLES: &str = "Examples:
  # what ./plugins.yaml names
  rustomize plugin install

  # one release, the highest that the constraint allows
  rustomize plugin install 'github.com/acme/app@~> 1.2'

  # from elsewhere
  rustomize plugin install --from oci://registry.example.com/acme/app example.com/acme/app@1.2.3

  # what was built here
  rustomize plugin install --path ./app example.com/acme/app
";

const TRUST_PLUGIN: &str = "Put a rule before all others in trust.yaml, which lies with your own files (or where RUSTOMIZE_TRUST says) and says whose plugins may be \
    installed. Once that file is there, every source needs a rule; the first that is for it counts. Without SOURCE, print the file.";

const PRUNE_PLUGIN: &str = "Take away installed versions that nothing needs: what is kept is what the directories' plugins.lock name, and of each source the \
    highest version. What was not installed to its end goes, too.";

const SERVE_PLUGIN: &str = "Serve what the bundles of an environment hold, over HTTP: 'rustomize plugin sync --environment NAME --from URL' brings it to another \
    machine. Everybody who reaches the address may read it. For encryption, put a server in front that speaks https.";

const SYNC_PLUGIN: &str = "With --environment: make the bundles that were synced for an environment what its server has. Only what differs is fetched, what the server does \
    not have goes, and until all is there the old ones stay.\n\nWith --placement: lay the plugins that plugins.yaml in the directory names into a plugin home, as KUSTOMIZE_PLUGIN_HOME names one, so that kustomize \
    and kubectl run them, too. Without plugins.yaml, all that are installed. What this command has laid before and is not among them any more \
    goes; what anybody else has put there stays.";

const LOCK_PLUGIN: &str = "Write plugins.lock, which stands beside plugins.yaml and belongs into the repository: for every plugin its version, what it \
    provides, and for every platform where it is, its size and its sums. Versions that are locked stay where plugins.yaml allows them.";

const ADOPT_PLUGIN: &str = "Make a Go plugin usable that was built with -buildmode=plugin and whose source is lost. Such a file can \
    only be loaded by a Go program of just its versions and flags: this builds that program, once, into the user's cache directory. \
    Needs the plugin's version of Go, its modules and a C compiler. Where there is the source, 'plugin build' is better.";

const RUN_PLUGIN: &str = "Call a plugin once, outside of a build, and print what comes of it. CONFIG is the file with its configuration object, as 'generators' and \
    'transformers' list it; or the kind of such an object, as in example.com/v1/Made; or the name of an installed plugin's component. As a transformer or \
    validator it gets the resources that stand on stdin.";

const RUN_EXAMPLES: &str = "Examples:
  # what a generator makes of its configuration
  rustomize plugin run generator.yaml

  # what a transformer makes of some resources
  rustomize plugin run transformer.yaml --as transformer < resources.yaml

  # a component of an installed plugin, by its name
  rustomize plugin run app-coffees";

const BUILD_EXAMPLES: &str = "Examples:
  # Build the current directory
  rustomize build

  # Build an overlay and apply it
  rustomize build overlays/prod | kubectl apply -f -

  # Build with exec plugins from $XDG_CONFIG_HOME/kustomize/plugin
  rustomize build --enable-alpha-plugins overlays/prod

  # One file per object
  rustomize build overlays/prod -o rendered/

  # Every overlay below a directory, one file each
  rustomize build --all --leaves deploy -o rendered/

Exit status: 0 success, 1 error, 130 interrupted, 141 the reader of the output has gone.";

/// `build`.
#[derive(Args, Default)]
pub struct Build {
    /// The directory with the kustomization, or several [default: .]
    #[arg(value_name = "DIR", num_args = 0..)]
    pub directory: Vec<String>,

    /// Write to this file, or one file per object into this directory, if it is one; of several
    /// roots, one file per root into this directory
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Build every kustomization at and below DIR, but for components
    #[arg(long)]
    pub all: bool,

    /// With --all: leave out the kustomizations that others use
    #[arg(long, requires = "all")]
    pub leaves: bool,

    /// How the results of several roots are split into files below --output
    #[arg(long, value_name = "LAYOUT", requires = "output")]
    pub layout: Option<Layout>,

    /// Write which files each result was made of to this file, for make and ninja
    #[arg(long, value_name = "FILE", requires = "output")]
    pub depfile: Option<PathBuf>,

    /// Build the other roots too when one fails; the exit status is 1 all the same
    #[arg(long)]
    pub keep_going: bool,

    /// Build one of N parts of the roots: I is from 0 to N-1, or in JOB_COMPLETION_INDEX
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,

    /// How many threads work at once [default: one for each core]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<std::num::NonZero<usize>>,

    /// LoadRestrictionsRootOnly keeps files in or below their kustomization's directory;
    /// LoadRestrictionsNone lifts that
    #[arg(long, value_name = "NAME", default_value = "LoadRestrictionsRootOnly", hide_default_value = true)]
    pub load_restrictor: String,

    /// Order of the output: legacy or none (deprecated: use 'sortOptions' in the kustomization)
    #[arg(long, value_name = "ORDER")]
    pub reorder: Vec<String>,

    /// Set the label app.kubernetes.io/managed-by on all objects (deprecated: use 'buildMetadata')
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub enable_managedby_label: Option<bool>,

    /// Let the build run plugins, which can do whatever you can do
    #[arg(long, alias = "enable_alpha_plugins", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub enable_alpha_plugins: Option<bool>,

    #[command(flatten)]
    pub plugins: PluginFlags,

    /// Let the build run helm for 'helmCharts'; charts can do what helm lets them
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub enable_helm: Option<bool>,

    /// The helm to run: a path, or a name in PATH
    #[arg(long, value_name = "COMMAND", default_value = "helm")]
    pub helm_command: String,

    /// An API version for helm's .Capabilities.APIVersions; may be repeated
    #[arg(long, value_name = "VERSION")]
    pub helm_api_versions: Vec<String>,

    /// The version of Kubernetes for helm's .Capabilities.KubeVersion
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true)]
    pub helm_kube_version: String,

    /// Let helm print what it does
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub helm_debug: Option<bool>,

    /// Fetch nothing: use the clones of earlier builds, and fail where one is missing
    #[arg(long)]
    pub offline: bool,

    /// How large a file may be that the build reads
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    pub file_size_limit: u64,

    /// Where clones of git repositories are kept between builds
    /// [default: in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    pub remote_cache: Option<PathBuf>,

    /// How long one fetch of a file or one git command may take
    /// [default: 60s for a file, 27s for a git command]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub remote_timeout: Option<std::time::Duration>,

    /// How large a file over HTTP may be
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size)]
    pub remote_size_limit: u64,
}

/// `plugin run`
#[derive(Args)]
pub struct Run {
    /// The file with the configuration object, or its kind, or the name of a component
    #[arg(value_name = "CONFIG|APIVERSION/KIND|NAME")]
    pub what: String,

    /// What it is called as
    #[arg(long = "as", value_name = "ROLE", default_value = "generator")]
    pub role: RunAs,

    #[command(flatten)]
    pub plugins: PluginFlags,

    /// Fetch nothing: what is needed is installed
    #[arg(long)]
    pub offline: bool,
}

/// What a plugin is called as.
#[derive(Clone, Copy, ValueEnum)]
pub enum RunAs {
    Generator,
    Transformer,
    Validator,
}

/// `plugin install`
#[derive(Args)]
pub struct Install {
    /// Whose plugin, as in github.com/acme/app, with a constraint on its version; or its name in
    /// plugins.yaml
    #[arg(value_name = "SOURCE[@CONSTRAINT]|NAME")]
    pub what: Option<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Install SOURCE as the command line says, whatever plugins.yaml says of it
    #[arg(long, requires = "what")]
    pub no_project: bool,

    /// An executable, or a directory with plugin.yaml, to install for SOURCE
    #[arg(long, value_name = "FILE", requires = "what", conflicts_with = "from")]
    pub path: Option<PathBuf>,

    /// Where SOURCE is fetched from: https://..., git::..., oci://...
    /// [default: the releases of its repository]
    #[arg(long, value_name = "LOCATION", requires = "what")]
    pub from: Option<String>,

    /// Install just what CONSTRAINT allows, also where something is installed
    #[arg(long, requires = "what")]
    pub exact: bool,

    /// Install only what plugins.lock says, and fail where it does not
    /// [default: whether CI is set]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub frozen: Option<bool>,

    /// Fetch nothing: what is needed is installed, or lies in the cache
    #[arg(long)]
    pub offline: bool,

    /// How many plugins are fetched and unpacked at once
    #[arg(long, value_name = "NUMBER", default_value_t = PARALLEL)]
    pub parallel: usize,

    /// How large a file of a plugin may be, as in 64MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub size_limit: u64,
}

impl Install {
    /// What is meant where nothing is said but the directory.
    pub fn of(directory: &Path) -> Install {
        let (what, path, from, frozen) = Default::default();
        let (directory, parallel, size_limit) = (directory.to_owned(), PARALLEL, FetchLimits::default().size);
        let (no_project, exact, offline) = Default::default();
        Install { what, directory, no_project, path, from, exact, frozen, offline, parallel, size_limit }
    }
}

/// The languages of `plugin new`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Language {
    Bash,
    Python,
    Go,
    Rust,
}

/// `plugin add`
#[derive(Args)]
pub struct Add {
    /// Whose plugin, as in github.com/acme/app, with a constraint on its version
    /// [default: that of the highest one, and above, below the next major one]
    #[arg(value_name = "SOURCE[@CONSTRAINT]")]
    pub what: String,

    /// What plugins.yaml calls it [default: the last part of SOURCE]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Where it is fetched from: https://..., git::..., oci://..., ./path
    /// [default: the releases of its repository]
    #[arg(long, value_name = "LOCATION")]
    pub from: Option<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
}

/// `plugin trust`
#[derive(Args)]
pub struct Trust {
    /// Whose plugins: a source, in which * stands for a part of it, as in 'github.com/acme/*'
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    /// Where they come from, if that is not what the source names: as in plugins.yaml, '**' for any
    /// place
    #[arg(long, value_name = "LOCATION", requires = "source")]
    pub from: Option<String>,

    /// A public key of minisign that has to have signed them; several may be given
    #[arg(long = "key", value_name = "KEY", requires = "source", conflicts_with = "deny")]
    pub keys: Vec<String>,

    /// How long a release has to have been there, as in 72h or 7d
    #[arg(long, value_name = "TIME", requires = "source", conflicts_with = "deny")]
    pub min_release_age: Option<String>,

    /// Never install or use them
    #[arg(long, requires = "source")]
    pub deny: bool,

    /// Grant them the network, where they ask for it
    #[arg(long, requires = "source", conflicts_with = "deny")]
    pub allow_net: bool,

    /// A file or directory that they may read, where they ask for it, as /etc/app or ~/.app;
    /// several may be given
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_read: Vec<String>,

    /// A file or directory that they may write, where they ask for it; several may be given
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_write: Vec<String>,

    /// A UNIX socket that they may connect to, where they ask for it; it opens every UNIX socket
    /// that you may connect to, because the system cannot tell them apart; several may be given
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_socket: Vec<String>,

    /// A variable of the environment that they get, where they ask for it; * stands for any part of
    /// its name; several may be given
    #[arg(long, value_name = "NAME", requires = "source", conflicts_with = "deny")]
    pub allow_env: Vec<String>,
}

/// `plugin serve`
#[derive(Args)]
pub struct Serve {
    /// The environment [default: RUSTOMIZE_ENVIRONMENT, or 'default']
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,

    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8140")]
    pub listen: String,
}

/// `plugin sync`
#[derive(Args)]
pub struct Sync {
    /// The plugin home to lay them into
    #[arg(long, value_name = "DIR", required_unless_present = "environment")]
    pub placement: Option<PathBuf>,

    /// The environment to bring up to what its server has
    #[arg(long, value_name = "NAME", conflicts_with = "placement")]
    pub environment: Option<String>,

    /// The server, by its URL [default: what environment.yaml says]
    #[arg(long, value_name = "URL", requires = "environment")]
    pub from: Option<String>,

    /// The directory with plugins.yaml
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Lay nothing that is not locked [default: whether CI is set]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub frozen: Option<bool>,
}

/// `plugin lock`
#[derive(Args)]
pub struct Lock {
    /// The directory with plugins.yaml
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Write nothing, and fail if something would be written
    #[arg(long)]
    pub check: bool,

    /// Take the highest versions that plugins.yaml allows, whatever is locked; with names, of these
    /// alone
    #[arg(long, num_args = 0.., value_name = "NAME")]
    pub upgrade: Option<Vec<String>>,

    /// How many plugins are fetched and unpacked at once
    #[arg(long, value_name = "NUMBER", default_value_t = PARALLEL)]
    pub parallel: usize,

    /// How large a file of a plugin may be, as in 64MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size)]
    pub size_limit: u64,
}

/// `version`.
#[derive(Args)]
pub struct Version {
    /// Print just the version, in braces (deprecated)
    #[arg(long)]
    pub short: bool,

    /// yaml or json
    #[arg(short, long, value_name = "FORMAT")]
    pub output: Option<String>,
}

/// Parses the arguments of this process. Called as kustomize, the help speaks as kustomize.
///
/// # Errors
/// What the argument parser has to say, help included.
pub fn parse(as_kustomize: bool) -> Result<Command, clap::Error> {
    let mut command = Cli::command();
    if as_kustomize {
        let speak = |text: &str| text.replace("rustomize", "kustomize");
        command = command.name("kustomize").bin_name("kustomize");
        let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
        command = command
            .long_about(speak(&about))
            .mut_subcommand("build", |build| build.after_long_help(speak(BUILD_EXAMPLES)));
    }
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let words = arguments.split_off(arguments.len().min(1));
    arguments.extend(command_word::first(words, &command));
    let matches = command.try_get_matches_from(arguments)?;
    Ok(Cli::from_arg_matches(&matches)?.command)
}

/// The program with its commands and their flags.
#[cfg(test)]
pub(super) fn program() -> clap::Command {
    Cli::command()
}

/// How the results of several roots are split into files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// One file for each root
    Root,
    /// One directory for each root, with a file for each object
    Resource,
}

/// A part of the roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 0; `None` where the environment says it.
    pub index: Option<usize>,
    pub count: std::num::NonZero<usize>,
}

fn shard(text: &str) -> Result<Shard, String> {
    let number = |part: &str| part.parse::<usize>().map_err(|_| format!("'{part}' is no number"));
    let (index, count) = match text.split_once('/') {
        Some((index, count)) => (Some(number(index)?), number(count)?),
        None => (None, number(text)?),
    };
    let count = std::num::NonZero::new(count).ok_or("the number of parts is at least 1")?;
    match index {
        Some(index) if index >= count.get() => Err(format!("the parts are 0 to {}", count.get() - 1)),
        _ => Ok(Shard { index, count }),
    }
}

pub(super) fn duration(text: &str) -> Result<std::time::Duration, String> {
    let (number, unit) = split_unit(text)?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("'{unit}' is no unit of time: use ms, s, m or h")),
    };
    std::time::Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text)?;
    let factor = match unit {
        "" | "B" => 1u64,
        "KiB" | "K" | "k" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        _ => {
            return Err(format!("'{unit}' is no unit of size: use B, KiB, MiB or GiB"));
        }
    };
    Ok((number * factor as f64) as u64)
}

fn split_unit(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.parse().map_err(|_| format!("'{text}' does not start with a number"))?;
    Ok((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn units() {
        assert_eq!(duration("90s"), Ok(std::time::Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(std::time::Duration::from_secs(90)));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert!(size("1XB").is_err() && duration("x").is_err() && duration("5 parsecs").is_err());
    }
}
