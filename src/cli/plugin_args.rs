//! The flags of `plugin`, exactly as typed.

use super::args::{Format, size};
use super::plugin_author::{Describe, Header, Package};
use super::plugin_flags::PluginFlags;
use super::switch::switch;
use crate::manager::author::describe::Role;
use crate::manager::fetch::FetchLimits;
use crate::manager::install::PARALLEL;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
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
    /// Write a new plugin or bundle, with an example that tests it
    New {
        /// The directory to make; its name is that of the plugin or bundle
        #[arg(value_name = "DIR")]
        directory: PathBuf,

        /// The language of the plugin
        #[arg(long, value_name = "LANGUAGE", default_value = "bash")]
        lang: Language,

        /// The field of a kustomization that the plugin is for
        #[arg(long, value_name = "ROLE", default_value = "generator")]
        role: RunAs,

        /// Write a bundle, with a generator and a schema
        #[arg(long, conflicts_with_all = ["lang", "role"])]
        bundle: bool,
    },
    /// Add a plugin to plugins.yaml, and install and lock it
    Add(Add),
    /// Print what a plugin says of itself: as JSON, as a plugin.yaml, as a page of documentation,
    /// or the schema of its configuration; a plugin that is not installed is installed first
    #[command(after_long_help = DESCRIBE_EXAMPLES)]
    Describe(Describe),
    /// Print the C header of plugins that are shared objects
    Header(Header),
    /// Write the files of a release of a plugin or bundle: archives and their sums
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
    /// Add a trust rule to your trust.yaml: whose plugins may be installed, and what they may do
    #[command(long_about = TRUST_PLUGIN)]
    Trust(Trust),
    /// Remove installed versions that no plugins.lock names
    #[command(long_about = PRUNE_PLUGIN)]
    Prune(Prune),
    /// Get the bundles of an environment from its server
    #[command(long_about = SYNC_PLUGIN)]
    Sync(Sync),
    /// Write installed plugins for kustomize and kubectl, or bundles for a web server
    #[command(long_about = EXPORT_PLUGIN, after_long_help = EXPORT_EXAMPLES)]
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
        /// The source, with a constraint if only some versions are to be removed, as in
        /// 'github.com/acme/app@< 2'
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
    /// The file with the configuration object, or its kind, or the name of what a plugin provides
    #[arg(value_name = "CONFIG|APIVERSION/KIND|NAME")]
    pub what: String,

    /// The role in which it is called
    #[arg(long = "as", value_name = "ROLE", default_value = "generator")]
    pub role: RunAs,

    #[command(flatten)]
    pub plugins: PluginFlags,

    /// Fetch nothing: fail if a needed plugin is not installed
    #[arg(long)]
    pub offline: bool,
}

/// The role in which a plugin is called.
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
    /// The source, as in github.com/acme/app, with a constraint on the version; or the name in
    /// plugins.yaml
    #[arg(value_name = "SOURCE[@CONSTRAINT]|NAME")]
    pub what: Option<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Install SOURCE as the command line says, even if plugins.yaml requires it otherwise
    #[arg(long, requires = "what")]
    pub no_project: bool,

    /// An executable, or a directory with plugin.yaml, to install for SOURCE
    #[arg(long, value_name = "FILE", requires = "what", conflicts_with = "from")]
    pub path: Option<PathBuf>,

    /// Where to fetch SOURCE: https://..., git::..., oci://...
    /// [default: the releases of its repository]
    #[arg(long, value_name = "LOCATION", requires = "what")]
    pub from: Option<String>,

    /// Install a version that CONSTRAINT allows, even if a higher version is installed
    #[arg(long, requires = "what")]
    pub exact: bool,

    /// Install only locked plugins, and fail if plugins.lock does not match
    /// [default: whether CI is set]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
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
    /// Fetch nothing: use installed plugins and the cache
    #[arg(long)]
    pub offline: bool,

    /// The number of plugins that are fetched and unpacked at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = PARALLEL)]
    pub parallel: usize,

    /// The largest size of a plugin's file, as in 64MiB
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

    /// The role of the plugin [default: the first role that has a plugin]
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

    /// Print what would be removed, and remove nothing
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

    /// Take the newest version that a host offers, even if a higher one was locked before
    #[arg(long)]
    pub allow_older: bool,

    #[command(flatten)]
    pub transfer: TransferFlags,

    #[command(flatten)]
    pub printing: Printing,
}

/// `plugin export`
#[derive(Args)]
#[command(group(ArgGroup::new("place").required(true).args(["placement", "mounts"])))]
pub struct Export {
    /// The plugin directory to write to, as KUSTOMIZE_PLUGIN_HOME names it
    #[arg(value_name = "DIR")]
    pub placement: Option<PathBuf>,

    /// Write the bundles of an environment for a web server, which machines sync from
    #[arg(long, value_name = "DIR", conflicts_with_all = ["directory", "dry_run", "frozen"])]
    pub mounts: Option<PathBuf>,

    /// The environment whose bundles are written [default: RUSTOMIZE_ENVIRONMENT, or 'default']
    #[arg(long, value_name = "NAME", requires = "mounts")]
    pub environment: Option<String>,

    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Print what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Export only locked plugins [default: whether CI is set]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
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
    /// The source, as in github.com/acme/app, with a constraint on the version
    /// [default: the highest version and above, below the next major version]
    #[arg(value_name = "SOURCE[@CONSTRAINT]")]
    pub what: String,

    /// The name in plugins.yaml [default: the last part of SOURCE]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Where to fetch it: https://..., git::..., oci://..., ./path
    /// [default: the releases of its repository]
    #[arg(long, value_name = "LOCATION")]
    pub from: Option<String>,

    /// The directory with plugins.yaml; the file is made if it is missing
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
    /// The source of the plugins; * matches a part, as in 'github.com/acme/*'
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,

    /// The place that they are fetched from, if it is not the source's own: as in plugins.yaml, or
    /// '**' for any place
    #[arg(long, value_name = "LOCATION", requires = "source")]
    pub from: Option<String>,

    /// A public key of minisign; every plugin must be signed with one of them; may be repeated
    #[arg(long = "key", value_name = "KEY", requires = "source", conflicts_with = "deny")]
    pub keys: Vec<String>,

    /// The least age of a release, as in 72h or 7d
    #[arg(long, value_name = "TIME", requires = "source", conflicts_with = "deny")]
    pub min_release_age: Option<String>,

    /// Never install or use them
    #[arg(long, requires = "source")]
    pub deny: bool,

    /// Grant them the network, if they ask for it
    #[arg(long, requires = "source", conflicts_with = "deny")]
    pub allow_net: bool,

    /// A file or directory that they may read, if they ask for it, as /etc/app or ~/.app; may be
    /// repeated
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_read: Vec<String>,

    /// A file or directory that they may write, if they ask for it; may be repeated
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_write: Vec<String>,

    /// A UNIX socket that they may connect to, if they ask for it; this opens every UNIX socket
    /// that you can connect to, because the system cannot tell them apart; may be repeated
    #[arg(long, value_name = "PATH", requires = "source", conflicts_with = "deny")]
    pub allow_socket: Vec<String>,

    /// A variable of the environment that they get, if they ask for it; * matches any part of its
    /// name; may be repeated
    #[arg(long, value_name = "NAME", requires = "source", conflicts_with = "deny")]
    pub allow_env: Vec<String>,
}

/// `plugin sync`
#[derive(Args)]
pub struct Sync {
    /// The environment [default: RUSTOMIZE_ENVIRONMENT, or 'default']
    #[arg(long, value_name = "NAME")]
    pub environment: Option<String>,

    /// The URL of the server [default: the one in environment.yaml]
    #[arg(long, value_name = "URL")]
    pub from: Option<String>,

    /// The same as 'rustomize plugin export DIR'
    #[arg(long, hide = true, value_name = "DIR", conflicts_with_all = ["environment", "from"])]
    pub placement: Option<PathBuf>,

    /// The directory with plugins.yaml
    #[arg(hide = true, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// Print what would be done, and do nothing
    #[arg(long, hide = true, requires = "placement")]
    pub dry_run: bool,

    /// Sync nothing, because synced bundles are not locked [default: whether CI is set]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub frozen: Option<bool>,

    #[command(flatten)]
    pub printing: Printing,
}

/// `plugin lock`
#[derive(Args)]
pub struct Lock {
    #[command(flatten)]
    pub project: Project,

    /// Write nothing, and fail if plugins.lock would change
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
    Required plugins are installed as plugins.lock says; plugins that are not locked yet are added to it. With --frozen, which is the default where CI is \
    set and is not 'false' or '0', only locked plugins are installed. A plugin that plugins.yaml does not name is installed without a change to either file.";

const INSTALL_EXAMPLES: &str = "Examples:
  # The plugins of ./plugins.yaml
  rustomize plugin install

  # One plugin, in the highest version that the constraint allows
  rustomize plugin install 'github.com/acme/app@~> 1.2'

  # From a registry
  rustomize plugin install --from oci://registry.example.com/acme/app example.com/acme/app@1.2.3

  # From a file that was built on this machine
  rustomize plugin install --path ./app example.com/acme/app
";

const TRUST_PLUGIN: &str = "Add a trust rule to your trust.yaml (RUSTOMIZE_TRUST names another file). The rules say whose plugins may be installed, and which permissions they \
    get. Without the file any source may be installed. With it every source needs a rule, and the first rule that matches decides. Without SOURCE, print the file.";

const WHY_PLUGIN: &str = "Show which plugin a build uses for a kind of configuration objects, and why: each place where plugins are looked for, in \
    order, with the plugins there, and the reason why each is used or not. A build asks the same places in the same order.\n\nWithout a kind, show all installed and required plugins with their kinds.";

const WHY_EXAMPLES: &str = "Examples:
  # Which plugin is used for this kind here?
  rustomize plugin why example.com/v1/Made

  # And for the object in this file, below 'transformers'?
  rustomize plugin why overlays/prod/label.yaml --as transformer

  # Everything that is installed, for programs
  rustomize plugin why -o json";

const LIST_PLUGIN: &str = "List the installed and the required plugins, with the state of each: installed; present (its installation did not finish); refused (it cannot be \
    used); absent (required and not installed). Each row says what the plugin provides, and which plugins.yaml requires it.";

const PRUNE_PLUGIN: &str = "Remove installed versions that nothing needs. The versions in plugins.lock of each directory are kept, and so is the highest version of each \
    source. Plugins whose installation did not finish are removed.";

const SYNC_PLUGIN: &str = "Make the bundles that were synced for an environment the same as those of its server. Only files that differ are fetched. Files that the \
    server no longer has are deleted. The old files stay in use until all new ones have arrived.";

const EXPORT_PLUGIN: &str = "Write the required plugins into a plugin directory, as KUSTOMIZE_PLUGIN_HOME names it, so that kustomize and kubectl run them. Without \
    plugins.yaml, all installed plugins are written.\n\nFiles of an earlier export that are not needed any more are removed. Other files stay as they are.\n\n\
    With --mounts, write the bundles on the module path of an environment as files that any web server serves: 'rustomize plugin sync --environment NAME --from URL' \
    copies them to another machine. The directory is for one environment. A server gives the old state or the new one, also while this command runs.";

const EXPORT_EXAMPLES: &str = "Examples:
  # For kustomize and kubectl
  rustomize plugin export ~/.config/kustomize/plugin

  # For the machines that sync from https://plugins.example.com/prod
  rustomize plugin export --mounts /srv/www/prod --environment prod";

const UPDATE_PLUGIN: &str = "Install the newest versions that plugins.yaml allows, and write them to plugins.lock.\n\n\
    The lock remembers the highest version of each plugin. If a host offers only lower versions than that, the command fails: --allow-older takes them.";

const UPDATE_EXAMPLES: &str = "Examples:
  # All plugins of ./plugins.yaml
  rustomize plugin update

  # Only the plugin 'app'
  rustomize plugin update app";

const LOCK_PLUGIN: &str = "Write plugins.lock beside plugins.yaml, for you to commit. It has the version of each plugin, what the plugin provides, and for each platform \
    the address, size and checksums of its file. Locked versions stay if plugins.yaml allows them.";

const ADOPT_PLUGIN: &str = "Make a Go plugin usable that was built with -buildmode=plugin and whose source is lost. Such a file can \
    only be loaded by a Go program of just its versions and flags: this builds that program, once, into the user's cache directory. \
    Needs the plugin's version of Go, its modules and a C compiler. Where there is the source, 'plugin build' is better.";

const RUN_PLUGIN: &str = "Call a plugin once, outside of a build, and print its output. CONFIG is the file with its configuration object, as 'generators' and \
    'transformers' list it, or the kind of such an object, as in example.com/v1/Made, or the name of what an installed plugin provides. A transformer or \
    validator gets the resources on stdin.";

const RUN_EXAMPLES: &str = "Examples:
  # Run a generator with its configuration object
  rustomize plugin run generator.yaml

  # Run a transformer on resources
  rustomize plugin run transformer.yaml --as transformer < resources.yaml

  # The generator 'coffees' of the installed plugin 'app'
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
    --platform linux_arm64=target/aarch64-unknown-linux-gnu/release/label \\
    --key ~/.minisign/minisign.key --source github.com/acme/label -o dist";
