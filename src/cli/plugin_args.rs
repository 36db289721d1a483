//! The flags of `plugin`, exactly as typed.

use super::args::{Format, size};
use super::plugin_author::{Describe, Header, Package};
use super::plugin_flags::PluginFlags;
use crate::manager::author::describe::Role;
use crate::manager::fetch::FetchLimits;
use crate::manager::install::PARALLEL;
use clap::{Args, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

/// `plugin`.
#[derive(Args)]
pub struct PluginCommand {
    #[command(subcommand)]
    pub command: Plugin,

    /// The same as `-o json`
    #[arg(long, global = true, hide = true)]
    pub json: bool,
}

/// How a command of `plugin` prints what it found or did.
#[derive(Args, Clone, Copy)]
pub struct Printing {
    /// How to print: text or json
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
}

/// The directory that a command is for.
#[derive(Args, Clone)]
pub struct Project {
    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// The same as --directory DIR
    #[arg(hide = true, value_name = "DIR", conflicts_with = "directory")]
    pub positional: Option<PathBuf>,
}

impl Project {
    /// The directory that was said, in either way.
    pub fn path(&self) -> &Path {
        self.positional.as_deref().unwrap_or(&self.directory)
    }
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
    /// Write a new plugin, with an example that tests it
    New {
        /// The directory, which does not exist yet; its name is the plugin's
        #[arg(value_name = "DIR")]
        directory: PathBuf,

        /// The language of the plugin
        #[arg(long, value_name = "LANGUAGE", default_value = "bash")]
        lang: Language,

        /// The field of a kustomization that the plugin is for
        #[arg(long, value_name = "ROLE", default_value = "generator")]
        role: RunAs,
    },
    /// Add a plugin to plugins.yaml, and install and lock it
    Add(Add),
    /// Print what a plugin says of itself: as JSON, as a plugin.yaml, as a page of documentation,
    /// or the schema of its configuration; a plugin that is not installed is installed first
    #[command(after_long_help = DESCRIBE_EXAMPLES)]
    Describe(Describe),
    /// Print the C header of plugins that are shared objects
    Header(Header),
    /// Write the files of a release of a plugin: an archive for each platform and their sums
    #[command(long_about = PACKAGE_PLUGIN, after_long_help = PACKAGE_EXAMPLES)]
    Package(Package),
    /// Check every installed plugin: its name, its content, and its description
    Verify {
        #[command(flatten)]
        project: Project,

        #[command(flatten)]
        printing: Printing,
    },
    /// Show which plugin a build uses for a kind of configuration objects, and why
    #[command(alias = "doctor", alias = "explain", long_about = WHY_PLUGIN, after_long_help = WHY_EXAMPLES)]
    Why(Why),
    /// Say whose plugins may be installed, in your own trust.yaml
    #[command(long_about = TRUST_PLUGIN)]
    Trust(Trust),
    /// Remove installed versions that no plugins.lock needs
    #[command(long_about = PRUNE_PLUGIN)]
    Prune(Prune),
    /// Serve an environment's bundles to machines that sync them
    #[command(long_about = SERVE_PLUGIN)]
    Serve(Serve),
    /// Get the bundles of an environment from its server
    #[command(long_about = SYNC_PLUGIN)]
    Sync(Sync),
    /// Lay installed plugins where kustomize and kubectl look for them
    #[command(long_about = EXPORT_PLUGIN)]
    Export(Export),
    /// Take the newest versions that plugins.yaml allows
    #[command(alias = "upgrade", long_about = UPDATE_PLUGIN, after_long_help = UPDATE_EXAMPLES)]
    Update(Update),
    /// Write plugins.lock: the exact versions and sums of what plugins.yaml names
    #[command(long_about = LOCK_PLUGIN)]
    Lock(Lock),
    /// List installed and required plugins: their state, and what each provides
    #[command(alias = "ls", long_about = LIST_PLUGIN)]
    List {
        /// The directory with plugins.yaml
        #[arg(long, value_name = "DIR", default_value = ".")]
        directory: PathBuf,

        #[command(flatten)]
        printing: Printing,
    },
    /// Call a plugin once, outside of a build
    #[command(long_about = RUN_PLUGIN, after_long_help = RUN_EXAMPLES)]
    Run(Box<Run>),
    /// Remove an installed plugin
    #[command(alias = "uninstall", alias = "rm")]
    Remove {
        /// Its source, or with a constraint on the versions to remove, as in 'github.com/acme/app@<
        /// 2'
        #[arg(value_name = "SOURCE[@CONSTRAINT]")]
        what: String,

        #[command(flatten)]
        printing: Printing,
    },
    /// Make a Go plugin usable that was built with -buildmode=plugin and whose source is lost
    #[command(long_about = ADOPT_PLUGIN)]
    Adopt {
        /// The Go plugin
        #[arg(value_name = "FILE.so")]
        file: PathBuf,
    },
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

impl From<RunAs> for Role {
    fn from(role: RunAs) -> Role {
        match role {
            RunAs::Generator => Role::Generator,
            RunAs::Transformer => Role::Transformer,
            RunAs::Validator => Role::Validator,
        }
    }
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

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
}

impl Install {
    /// The flags that install one plugin for the current directory.
    pub fn of(what: &str, transfer: TransferFlags) -> Install {
        let (path, from, frozen, no_project, exact) = Default::default();
        let (what, directory) = (Some(what.to_owned()), PathBuf::from("."));
        let printing = Printing { output: Format::Text };
        Install { what, directory, no_project, path, from, exact, frozen, transfer, printing }
    }
}

/// How plugins are fetched.
#[derive(Args, Clone, Copy)]
pub struct TransferFlags {
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

impl Default for TransferFlags {
    fn default() -> Self {
        TransferFlags { offline: false, parallel: PARALLEL, size_limit: FetchLimits::default().size }
    }
}

/// `plugin why`
#[derive(Args)]
pub struct Why {
    /// The kind, as in example.com/v1/Made, or the file with a configuration object; without it,
    /// everything that is installed
    #[arg(value_name = "APIVERSION/KIND|FILE")]
    pub what: Option<String>,

    /// The role that it is asked for [default: the first that has a plugin]
    #[arg(long = "as", value_name = "ROLE")]
    pub role: Option<RunAs>,

    /// The directory of the kustomization that lists the object
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    #[command(flatten)]
    pub printing: Printing,
}

/// `plugin prune`
#[derive(Args)]
pub struct Prune {
    /// A directory whose plugins.lock names what is needed; may be repeated
    #[arg(long = "directory", value_name = "DIR", default_value = ".")]
    pub directories: Vec<PathBuf>,

    /// The same as --directory DIR
    #[arg(hide = true, value_name = "DIR", conflicts_with = "directories")]
    pub positional: Vec<PathBuf>,

    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub printing: Printing,
}

/// `plugin update`
#[derive(Args)]
pub struct Update {
    /// The names of plugins in plugins.yaml [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
}

/// `plugin export`
#[derive(Args)]
pub struct Export {
    /// The plugin directory of kustomize to lay the plugins into, as KUSTOMIZE_PLUGIN_HOME names it
    #[arg(value_name = "DIR")]
    pub placement: PathBuf,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Lay only locked plugins [default: whether CI is set]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub frozen: Option<bool>,

    #[command(flatten)]
    pub printing: Printing,
}

/// The languages of `plugin new`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Language {
    Bash,
    Python,
    Go,
    Rust,
    C,
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

    /// The directory with plugins.yaml, which is made where it is missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
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
    /// The environment [default: RUSTOMIZE_ENVIRONMENT, or 'default']
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,

    /// The server, by its URL [default: what environment.yaml says]
    #[arg(long, value_name = "URL")]
    pub from: Option<String>,

    /// The same as 'rustomize plugin export DIR'
    #[arg(long, hide = true, value_name = "DIR", conflicts_with_all = ["environment", "from"])]
    pub placement: Option<PathBuf>,

    /// The directory with plugins.yaml
    #[arg(hide = true, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Say what would be done, and do nothing
    #[arg(long, hide = true, requires = "placement")]
    pub dry_run: bool,

    /// Sync nothing, because nothing that is synced is locked [default: whether CI is set]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub frozen: Option<bool>,

    #[command(flatten)]
    pub printing: Printing,
}

/// `plugin lock`
#[derive(Args)]
pub struct Lock {
    #[command(flatten)]
    pub project: Project,

    /// Write nothing, and fail if something would be written
    #[arg(long)]
    pub check: bool,

    /// Lock an image, too, that no YAML file below the directory names, as that of a function in a
    /// remote base; may be repeated
    #[arg(long, value_name = "IMAGE")]
    pub image: Vec<String>,

    /// The same as 'rustomize plugin update [NAME]...'
    #[arg(long, hide = true, num_args = 0.., value_name = "NAME")]
    pub upgrade: Option<Vec<String>>,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
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

const WHY_PLUGIN: &str = "Show which plugin a build uses for a kind of configuration objects, and why: each place where plugins are looked for, in \
    order, what is there, and why it is used or not. A build asks the same places in the same order.\n\nWithout a kind: everything that is installed or \
    required, and the kinds that it is for.";

const WHY_EXAMPLES: &str = "Examples:
  # Which plugin is used for this kind here?
  rustomize plugin why example.com/v1/Made

  # And for the object in this file, below 'transformers'?
  rustomize plugin why overlays/prod/label.yaml --as transformer

  # Everything that is installed, for programs
  rustomize plugin why -o json";

const LIST_PLUGIN: &str = "List the installed plugins and the required ones, with the state of each: installed; present (an installation did not end); refused (it cannot be \
    used); absent (required and not installed). Each row says what the plugin provides, and which plugins.yaml requires it.";

const PRUNE_PLUGIN: &str = "Remove installed versions that nothing needs. Kept are the versions that the plugins.lock of the directories name, and the highest version of each \
    source. Plugins that were not installed to their end are removed.";

const SERVE_PLUGIN: &str = "Serve what the bundles of an environment hold, over HTTP: 'rustomize plugin sync --environment NAME --from URL' brings it to another \
    machine. Everybody who reaches the address may read it. For encryption, put a server in front that speaks https.";

const SYNC_PLUGIN: &str = "Make the bundles that were synced for an environment the same as those of its server. Only files that differ are fetched. Files that the \
    server no longer has are deleted. The old files stay in use until all new ones have arrived.";

const EXPORT_PLUGIN: &str = "Lay the plugins that plugins.yaml requires into a plugin directory, as KUSTOMIZE_PLUGIN_HOME names one, so that kustomize and kubectl run them. \
    Without plugins.yaml, all installed plugins.\n\nA file that this command laid before, and that is not among the plugins any more, is removed. Files of others \
    stay as they are.";

const UPDATE_PLUGIN: &str = "Install the newest versions that plugins.yaml allows, and write them to plugins.lock.";

const UPDATE_EXAMPLES: &str = "Examples:
  # All plugins of ./plugins.yaml
  rustomize plugin update

  # Only the plugin 'app'
  rustomize plugin update app";

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

const DESCRIBE_EXAMPLES: &str = "Examples:
  # a plugin.yaml to begin with, for a script that describes itself
  rustomize plugin describe ./label.py -o yaml > plugin.yaml

  # a page of documentation
  rustomize plugin describe ./label -o markdown > docs/label.md

  # the schema of a kind, for an editor
  rustomize plugin describe github.com/acme/label --schema --kind TeamLabel > team-label.json";

const PACKAGE_PLUGIN: &str = "Write the files of a release of a plugin, as installing from a release reads them: an archive for each platform, \
    <name>_SHA256SUMS with the sums, and with --key a signature of each. What could not be installed is not packaged, and the same input gives the same \
    archives.\n\nPATH is a directory with plugin.yaml, or with plugin/plugin.yaml as 'plugin new' makes it, or an executable for this machine.";

const PACKAGE_EXAMPLES: &str = "Examples:
  # a plugin in a language that a runtime runs: one archive for all platforms
  rustomize plugin package -o dist

  # a compiled plugin, for two platforms, signed
  rustomize plugin package target/release/label --name label \\
    --platform linux_arm64=target/aarch64-unknown-linux-gnu/release/label --key ~/.minisign/minisign.key -o dist";
