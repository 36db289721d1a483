//! Flags exactly as typed.

use super::called::Called;
use super::cfg::Cfg;
use super::compat::{self, Versions};
use super::completion::Completion;
use super::copy_args::{CREATE_EXAMPLES, Create, LOCALIZE, LOCALIZE_EXAMPLES, Localize};
use super::diff_args::{DIFF, DIFF_EXAMPLES, Diff};
use super::edit_args::EditCommand;
use super::explain::Explain;
use super::fn_run::Fn;
use super::hook_args::HookCommand;
use super::krm_function::KrmFunction;
use super::lint_args::{LINT, LINT_EXAMPLES, Lint};
use super::lsp::{LSP, Lsp};
use super::man::Man;
use super::messages::MessageFlags;
use super::openapi::Openapi;
use super::plugin_args::PluginCommand;
use super::plugin_flags::PluginFlags;
use super::remote_args::{CacheCommand, VENDOR, VENDOR_EXAMPLES, Vendor};
use super::switch::switch;
use super::tree::{TREE_EXAMPLES, Tree};
use super::watch::WatchFlags;
use super::{command_word, help, other_tools};
use crate::diag::Code;
use crate::observe::Observer;
use clap::builder::{OsStringValueParser, Resettable, StyledStr, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Parser)]
#[command(
    name = "rustomize",
    version = concat!(env!("CARGO_PKG_VERSION"), " (kustomize v5.8.3)"),
    about = "Builds kustomizations: the bytes of kustomize v5.8.3, in linear time",
    long_about = "Builds kustomizations: reads a kustomization.yaml, what it names, generates, patches and renames, and prints \
                  Kubernetes objects, byte for byte as kustomize v5.8.3 does, or the version that --compat names.\n\n  rustomize build overlays/prod | kubectl apply -f -",
    arg_required_else_help = true,
    args_override_self = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print a stack trace on errors; accepted for scripts that pass it, errors say where they come
    /// from anyway
    #[arg(long, global = true, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = switch)]
    stack_trace: Option<bool>,

    #[command(flatten)]
    messages: MessageFlags,
}

/// A command. The table of a command's flags is made when that command is named, so a build does
/// not pay for the flags of the other commands.
#[derive(Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Build a kustomization from a directory and print it
    #[command(after_long_help = BUILD_EXAMPLES)]
    Build(Named<Build>),
    /// Build a kustomization and run its validators, and print nothing
    #[command(long_about = VALIDATE, after_long_help = VALIDATE_EXAMPLES)]
    Validate(Named<Validate>),
    /// Show the differences of two builds, field by field
    #[command(long_about = DIFF, after_long_help = DIFF_EXAMPLES)]
    Diff(Named<Diff>),
    /// Show the parts of kustomizations: bases, components, files, plugins, remote parts
    #[command(visible_alias = "graph", after_long_help = TREE_EXAMPLES)]
    Tree(Named<Tree>),
    /// Say where the values of a build's output come from, and which steps have changed them
    #[command(long_about = EXPLAIN, after_long_help = EXPLAIN_EXAMPLES)]
    Explain(Named<Explain>),
    /// Find entries without effect and likely mistakes in kustomizations
    #[command(long_about = LINT, after_long_help = LINT_EXAMPLES)]
    Lint(Named<Lint>),
    /// Change the kustomization file of the working directory, and keep all its other lines
    Edit(Named<EditCommand>),
    /// Build the kustomizations that a commit changes, in a hook of git
    #[command(after_long_help = HOOK_EXAMPLES)]
    Hook(Named<HookCommand>),
    /// Build as a KRM function: the items and the kustomization come in a ResourceList on stdin
    #[command(long_about = KRM_FUNCTION)]
    KrmFunction(Named<KrmFunction>),
    /// Copy the remote parts of a kustomization beside it, and lock their versions
    #[command(long_about = VENDOR, after_long_help = VENDOR_EXAMPLES)]
    Vendor(Named<Vendor>),
    /// Show or empty the directory that keeps remote parts between builds
    Cache(Named<CacheCommand>),
    /// Write a new kustomization file into the working directory
    #[command(visible_alias = "init", after_long_help = CREATE_EXAMPLES)]
    Create(Named<Create>),
    /// Copy a kustomization with all that it names; remote files and repositories become files
    #[command(long_about = LOCALIZE, after_long_help = LOCALIZE_EXAMPLES)]
    Localize(Named<Localize>),
    /// Make, install, pin and share plugins
    Plugin(Named<PluginCommand>),
    /// Say what this machine can do for builds: isolation of plugins, and the programs that some of
    /// them need
    #[command(after_long_help = DOCTOR_EXAMPLES)]
    Doctor(Named<Doctor>),
    /// Print the version
    Version(Named<Version>),
    /// Print a script that completes commands, flags and values in a shell
    #[command(long_about = COMPLETION, after_long_help = COMPLETION_EXAMPLES)]
    Completion(Named<Completion>),
    /// Write a man page for each command into a directory
    #[command(hide = true)]
    Man(Named<Man>),
    /// Serve an editor: faults while you type, completion, docs, places of what is named
    #[command(long_about = LSP)]
    Lsp(Named<Lsp>),
    /// Print or fetch the schema of Kubernetes' kinds
    Openapi(Named<Openapi>),
    /// Count and show the resources of a directory
    Cfg(Named<Cfg>),
    /// Run functions on the resources of a directory
    Fn(Named<Fn>),
}

/// The arguments of a command whose table is made when the command is named. By then the command
/// has its description, which the type of the arguments must not replace.
pub struct Named<T>(pub Box<T>);

impl<T: FromArgMatches> FromArgMatches for Named<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Named(Box::new(T::from_arg_matches(matches)?)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Named<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        described(command, T::augment_args)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        described(command, T::augment_args_for_update)
    }
}

/// Adds arguments to a command, and keeps its description.
fn described(command: clap::Command, add: fn(clap::Command) -> clap::Command) -> clap::Command {
    let text = |text: Option<&StyledStr>| text.cloned().map_or(Resettable::Reset, Resettable::Value);
    let (about, long) = (text(command.get_about()), text(command.get_long_about()));
    add(command).about(about).long_about(long)
}

/// `validate`.
#[derive(Args, Default)]
#[command(mut_arg("output", |flag| flag.hide(true)), mut_arg("layout", |flag| flag.hide(true)))]
#[command(mut_arg("depfile", |flag| flag.hide(true)))]
pub struct Validate {
    #[command(flatten)]
    pub build: Build,

    /// Hold the resources to the schemas of their kinds
    ///
    /// Kubernetes' own kinds, and those that CustomResourceDefinitions in the output define; other
    /// kinds are left alone. Findings are errors, except a version of an API that is deprecated.
    /// Nothing is fetched.
    #[arg(long, help_heading = heading::SCHEMA, hide_short_help = true)]
    pub schema: bool,

    /// The version of Kubernetes whose kinds count, as in 1.31; implies --schema [default: the
    /// newest]
    #[arg(long, value_name = "VERSION", help_heading = heading::SCHEMA, hide_short_help = true)]
    pub kubernetes_version: Option<String>,
}

const COMPLETION: &str = "Print a script for bash, zsh, fish or powershell that completes commands, flags, and values: directories with \
    a kustomization, kinds, installed plugins. Called as kustomize, the script is for kustomize.";

const COMPLETION_EXAMPLES: &str = "Examples:
  # bash and zsh, for this shell; in ~/.bashrc or ~/.zshrc for all
  source <(rustomize completion bash)
  source <(rustomize completion zsh)

  # fish
  rustomize completion fish > ~/.config/fish/completions/rustomize.fish

  # PowerShell, in the profile
  rustomize completion powershell | Out-String | Invoke-Expression";

const VALIDATE: &str = "Build a kustomization and run its validators, with the flags of 'build', and print nothing: the exit status \
    and the errors say whether it builds.";

const VALIDATE_EXAMPLES: &str = "Examples:
  # Check an overlay before a commit
  rustomize validate --enable-alpha-plugins overlays/prod

  # Check every overlay below a directory, and show all faults
  rustomize validate --all --leaves --keep-going deploy

  # Hold the resources to the schemas of Kubernetes 1.31
  rustomize validate --kubernetes-version 1.31 overlays/prod

  # Check what the commits of a branch have changed
  git diff -z --name-only main... | rustomize validate --all --affected-by -";

const EXPLAIN: &str = "Build a kustomization, with the flags of 'build', and say of each field of a resource which file and line its \
    value comes from, and which steps have changed it. Without a resource, all resources are listed. A code of an error or a \
    warning in place of a directory prints the page of the code: what it means, why, an example, and how it is mended.";

const EXPLAIN_EXAMPLES: &str = "Examples:
  # List the resources of an overlay, and the files that they come from
  rustomize explain overlays/prod

  # Say who has set the number of replicas
  rustomize explain overlays/prod Deployment/web spec.replicas

  # Write a page for browsers with all resources, fields and steps
  rustomize explain overlays/prod --html prod.html

  # Say what the code of a message means, and list all codes
  rustomize explain no-match
  rustomize explain --list";

const KRM_FUNCTION: &str = "Build as a KRM function: reads a ResourceList on stdin, builds its functionConfig, which is of kind \
    Kustomization, with its items as the first resources, and prints a ResourceList. Files that the kustomization names \
    are looked for in DIR.";

const HOOK_EXAMPLES: &str = "Examples:
  # Refuse commits that break a kustomization, in this repository
  rustomize hook install

  # The same for pushes, with helm
  rustomize hook install --pre-push -- --enable-helm

Only kustomizations that the changed files can affect are built, from what is staged or pushed.
'git commit --no-verify' commits all the same.";

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

const BUILD_EXAMPLES: &str = "Examples:
  # Build the current directory
  rustomize build

  # Build an overlay and apply it
  rustomize build overlays/prod | kubectl apply -f -

  # Build with exec plugins from $XDG_CONFIG_HOME/kustomize/plugin
  rustomize build --enable-alpha-plugins overlays/prod

  # One file per object
  rustomize build overlays/prod -o rendered/

  # Patch what another tool prints: the kustomization has all.yaml among its resources
  helm template web charts/web | rustomize build overlays/helm --stdin-as all.yaml

  # Every overlay below a directory, one file each
  rustomize build --all --leaves deploy -o rendered/

Exit status: 0 success, 1 error, 130 interrupted, 141 the reader of the output has gone.";

/// The headings of flags of `build`.
pub(super) mod heading {
    pub const OUTPUT: &str = "Output";
    pub const ROOTS: &str = "Several kustomizations";
    pub const FILES: &str = "Files";
    pub const PLUGINS: &str = "Plugins";
    pub const FUNCTIONS: &str = "KRM functions";
    pub const HELM: &str = "Helm";
    pub const REMOTE: &str = "Remote files";
    pub const SCHEMA: &str = "Schemas";
    pub const WORK: &str = "Work of the build";
}

/// `build`.
#[derive(Args, Default)]
pub struct Build {
    /// The directory with the kustomization, or several [default: .]
    #[arg(value_name = "DIR", num_args = 0..)]
    pub directory: Vec<String>,

    /// Write to this file, or one file per object into this directory
    ///
    /// Of several roots, one file per root is written into this directory.
    #[arg(short, long, value_name = "PATH", value_parser = OsStringValueParser::new().map(PathBuf::from), help_heading = heading::OUTPUT)]
    pub output: Option<PathBuf>,

    /// How the results of several roots are split into files
    #[arg(long, value_name = "LAYOUT", requires = "output", help_heading = heading::OUTPUT, hide_short_help = true)]
    pub layout: Option<Layout>,

    /// Write the names of the files that were read, for make and ninja
    #[arg(long, value_name = "FILE", requires = "output", help_heading = heading::OUTPUT, hide_short_help = true)]
    pub depfile: Option<PathBuf>,

    /// Print the bytes of this version of kustomize [default: 5.8.3]
    ///
    /// 5.4.2 to 5.8.3, or what ships it: kubectl-1.34, argocd-3.2, flux-2.7. Otherwise
    /// RUSTOMIZE_COMPAT, the file of settings or the name of the program says it.
    #[arg(long, value_name = "VERSION", value_parser = compat::flag, help_heading = heading::OUTPUT)]
    pub compat: Option<Versions>,

    /// Order of the output: legacy or none
    ///
    /// Deprecated: use 'sortOptions' in the kustomization.
    #[arg(long, value_name = "ORDER", help_heading = heading::OUTPUT, hide_short_help = true)]
    pub reorder: Vec<String>,

    /// Set the label app.kubernetes.io/managed-by on all objects
    ///
    /// Deprecated: use 'buildMetadata' in the kustomization.
    #[arg(long, alias = "enable_managedby_label", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::OUTPUT, hide_short_help = true)]
    pub enable_managedby_label: Option<bool>,

    /// Read stdin in place of this file in DIR
    ///
    /// For post-renderers of helm. The kustomization has to name the file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "shard", "layout"], help_heading = heading::FILES, hide_short_help = true)]
    pub stdin_as: Option<PathBuf>,

    /// Build every kustomization at and below DIR, but components
    #[arg(long, help_heading = heading::ROOTS)]
    pub all: bool,

    /// With --all: leave out the kustomizations that others use
    #[arg(long, requires = "all", help_heading = heading::ROOTS)]
    pub leaves: bool,

    /// With --all: build only what these files can affect
    ///
    /// '-' reads the names from stdin, one a line, or with NUL between them as 'git diff -z' prints
    /// them.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "all", help_heading = heading::ROOTS, hide_short_help = true)]
    pub affected_by: Option<Vec<PathBuf>>,

    /// Build the other roots when one fails
    ///
    /// The exit status is 1 all the same.
    #[arg(long, help_heading = heading::ROOTS)]
    pub keep_going: bool,

    /// Build one of N parts of the roots
    ///
    /// I is from 0 to N-1, or in JOB_COMPLETION_INDEX.
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = heading::ROOTS, hide_short_help = true)]
    pub shard: Option<Shard>,

    /// How many threads work at once [default: one for each core]
    #[arg(short, long, value_name = "N", help_heading = heading::ROOTS)]
    pub jobs: Option<std::num::NonZero<usize>>,

    #[command(flatten)]
    pub watch: WatchFlags,

    /// Notes the work: the flags ask for it.
    #[arg(skip)]
    pub observer: Observer,

    /// Take warnings and findings of 'lint' for errors, and print nothing then
    #[arg(long, help_heading = heading::OUTPUT, hide_short_help = true)]
    pub strict: bool,

    /// True if findings are asked for: the command sets it, and no flag.
    #[arg(skip)]
    pub lint: bool,

    /// The codes of findings to look for that are off by default.
    #[arg(skip)]
    pub lint_also: Vec<Code>,

    /// The use of the results: the command sets it, and no flag.
    #[arg(skip)]
    pub results: Results,

    /// The kinds that resources are held to, where `validate` checks them.
    #[arg(skip)]
    pub known: Option<std::sync::Arc<crate::check::Known>>,

    /// LoadRestrictionsNone: files may be outside of their root
    ///
    /// LoadRestrictionsRootOnly, the default, keeps files in or below the directory of their
    /// kustomization.
    #[arg(long, alias = "load_restrictor", value_name = "NAME", default_value = "LoadRestrictionsRootOnly", hide_default_value = true, help_heading = heading::FILES)]
    pub load_restrictor: String,

    /// How large a file may be that the build reads
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size, help_heading = heading::FILES, hide_short_help = true)]
    pub file_size_limit: u64,

    /// How much the steps of the build may make: texts, copies of values, output
    ///
    /// [default: 4GiB, or a quarter of the memory that the system gives, if that is less]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = heading::FILES, hide_short_help = true)]
    pub build_size_limit: Option<u64>,

    /// Run plugins, which can do whatever you can do
    #[arg(long, alias = "enable_alpha_plugins", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::PLUGINS)]
    pub enable_alpha_plugins: Option<bool>,

    #[command(flatten)]
    pub plugins: PluginFlags,

    /// Run helm for 'helmCharts'; charts can do what helm lets them
    #[arg(long, alias = "enable_helm", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::HELM)]
    pub enable_helm: Option<bool>,

    /// The helm to run: a path, or a name in PATH
    #[arg(long, alias = "helm_command", value_name = "COMMAND", default_value = "helm", help_heading = heading::HELM, hide_short_help = true)]
    pub helm_command: String,

    /// An API version for .Capabilities.APIVersions; may be repeated
    #[arg(long, value_name = "VERSION", help_heading = heading::HELM, hide_short_help = true)]
    pub helm_api_versions: Vec<String>,

    /// The version of Kubernetes for .Capabilities.KubeVersion
    #[arg(long, value_name = "VERSION", default_value = "", hide_default_value = true, help_heading = heading::HELM, hide_short_help = true)]
    pub helm_kube_version: String,

    /// Let helm print its steps
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::HELM, hide_short_help = true)]
    pub helm_debug: Option<bool>,

    /// Let helm use your own logins and repositories
    ///
    /// Charts whose kustomization names a 'configHome' ignore it.
    #[arg(long, help_heading = heading::HELM, hide_short_help = true)]
    pub helm_user_config: bool,

    /// Merge lists of custom resources by the keys that CRDs in the tree name
    ///
    /// CustomResourceDefinitions count that are resources or are named in 'crds'. This is an
    /// extension: kustomize replaces these lists.
    #[arg(long, help_heading = heading::FILES, hide_short_help = true)]
    pub crd_merge_keys: bool,

    /// Fetch nothing: use the remote parts of earlier builds
    ///
    /// The error for missing parts names all of them.
    #[arg(long, help_heading = heading::REMOTE)]
    pub offline: bool,

    /// Use exactly the versions of kustomization.lock
    ///
    /// The lock is beside the kustomization. A remote part that is not locked, or that has changed,
    /// is an error.
    #[arg(long, help_heading = heading::REMOTE)]
    pub locked: bool,

    /// Where remote parts are kept between builds
    ///
    /// By default they are kept in the user's cache directory.
    #[arg(long, value_name = "DIR", help_heading = heading::REMOTE, hide_short_help = true)]
    pub remote_cache: Option<PathBuf>,

    /// How long one fetch of a file or one git command may take
    ///
    /// By default 60s for a file, and 27s for a git command.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = heading::REMOTE, hide_short_help = true)]
    pub remote_timeout: Option<std::time::Duration>,

    /// How large a file over HTTP may be
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size, help_heading = heading::REMOTE, hide_short_help = true)]
    pub remote_size_limit: u64,
}

/// `version`.
#[derive(Args)]
pub struct Version {
    /// Print just the version, in braces (deprecated)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch)]
    pub short: Option<bool>,

    /// yaml or json
    #[arg(short, long, value_name = "FORMAT")]
    pub output: Option<String>,

    /// The version of kustomize that counts, as in 5.7.1 or kubectl-1.34 [default: the newest]
    #[arg(long, value_name = "VERSION", value_parser = compat::flag)]
    pub compat: Option<Versions>,

    #[arg(hide = true)]
    pub ignored: Vec<String>,
}

/// Parses the arguments of this process. Called as kustomize, the help speaks as kustomize.
///
/// # Errors
/// The answer of the argument parser to wrong arguments, or to a call for help.
pub fn parse(called: Called) -> Result<(Command, MessageFlags), clap::Error> {
    let mut command = program(called);
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let words = arguments.split_off(arguments.len().min(1));
    if words.is_empty() {
        // As kustomize does, which calls that a success.
        arguments.push("--help".into());
    }
    if words.first().is_none_or(|word| ["-h", "--help", "help"].iter().any(|help| word == help)) {
        command = help::grouped(command);
    }
    arguments.extend(command_word::first(words, &command));
    let matches =
        command.try_get_matches_from_mut(&arguments).or_else(|e| help_on_edit(&mut command, &arguments, e))?;
    let Cli { mut command, messages, .. } = Cli::from_arg_matches(&matches)?;
    if let Command::Build(build) = &mut command {
        // kustomize takes an empty path for stdout.
        build.0.output.take_if(|path| path.as_os_str().is_empty());
    }
    Ok((command, messages))
}

/// Returns true if the arguments of this process are for `diff`, whether they are right or not.
pub fn names_diff(called: Called) -> bool {
    let words = std::env::args_os().skip(1).collect();
    command_word::first(words, &program(called)).first().is_some_and(|word| word == "diff")
}

/// The program with its commands, under the name by which it was called. The flags of a command are
/// there once the command is built.
pub fn program(called: Called) -> clap::Command {
    let program = Cli::command();
    let words = called.words();
    match called {
        Called::Rustomize => program,
        Called::Kustomize => renamed(program, words)
            .name(words)
            .bin_name(words)
            .version(compat::of_command(None).unwrap_or_default().tag()),
        Called::KubectlPlugin => {
            // The texts of a command whose definition is deferred exist once it is built.
            let mut program = program.bin_name(words);
            program.build();
            renamed(program, words)
        }
    }
}

/// Replaces the name of this program in the texts and examples of a command, and of all below it.
fn renamed(command: clap::Command, words: &str) -> clap::Command {
    let speak = |text: &clap::builder::StyledStr| text.to_string().replace("rustomize ", &format!("{words} "));
    let (long, examples) = (command.get_long_about().map(speak), command.get_after_long_help().map(speak));
    let command = long.into_iter().fold(command, clap::Command::long_about);
    let command = examples.into_iter().fold(command, clap::Command::after_long_help);
    command.mut_subcommands(|below| renamed(below, words))
}

/// kustomize answers a command of commands without a word with help, and that is not an error. It
/// does the same for an unknown word, which is an error here: it names the commands that are meant.
fn help_on_edit(
    command: &mut clap::Command,
    arguments: &[OsString],
    error: clap::Error,
) -> Result<ArgMatches, clap::Error> {
    let words = || arguments.iter().skip(1).map_while(|word| word.to_str());
    let is_missing = [ErrorKind::MissingSubcommand, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand];
    if is_missing.contains(&error.kind())
        && words().next().is_some_and(|word| ["edit", "cfg", "fn", "openapi"].contains(&word))
    {
        let mut asked = arguments.to_vec();
        asked.push("--help".into());
        return command.try_get_matches_from_mut(asked);
    }
    let (mut above, mut path) = (&*command, Vec::new());
    for word in words() {
        let Some(below) = above.find_subcommand(word) else { break };
        (above, path) = (below, [&path[..], &[word]].concat());
    }
    let program = command.get_bin_name().unwrap_or("rustomize");
    Err(other_tools::explain(error, above, &path.join(" "), program))
}

/// The flags of `validate`, from words that a user has given to another command.
///
/// # Errors
/// Unknown flags, or values that cannot be.
pub fn validate(flags: &[String]) -> Result<Validate, clap::Error> {
    let words = ["rustomize", "validate"].into_iter().map(str::to_owned).chain(flags.iter().cloned());
    match Cli::try_parse_from(words)?.command {
        Command::Validate(validate) => Ok(*validate.0),
        _ => Ok(Validate::default()),
    }
}

/// The use that a command makes of the results of builds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Results {
    /// `build`: they are written to stdout or to files.
    #[default]
    Written,
    /// `validate`: they are made and dropped.
    Dropped,
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

    /// Each row of the table in docs/compatibility.md says whether a flag of kustomize exists here.
    #[test]
    fn the_table_of_flags_is_true() {
        let mut program = program(Called::Rustomize);
        program.build();
        let table = include_str!("../../docs/compatibility.md");
        let table = table.split("| command | flag | here | test |").nth(1).unwrap().split("\n## ").next().unwrap();
        let mut rows = 0;
        for row in table.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [command, flag, here, _] = cells[..] else { panic!("{row}") };
            let path = command.trim_matches('`').strip_prefix("kustomize").map_or(command.trim_matches('`'), str::trim);
            let mut words = path.split(' ').filter(|word| !word.is_empty());
            let found = words.try_fold(&program, |above, word| above.find_subcommand(word));
            let long = flag.trim_matches('`').rsplit("--").next().unwrap();
            let has_flag = |command: &clap::Command| {
                long.is_empty() || command.get_arguments().any(|argument| argument.get_long() == Some(long))
            };
            assert_eq!(found.is_some_and(has_flag), here == "yes", "{row}");
            rows += 1;
        }
        assert!(rows > 150, "{rows} rows");
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        let mut program = program(Called::Rustomize);
        program.build();
        for name in ["build", "validate"] {
            let help = program.find_subcommand_mut(name).unwrap().render_help().to_string();
            assert!(help.lines().count() <= 40, "{name}: {} lines", help.lines().count());
        }
    }

    #[test]
    fn units() {
        assert_eq!(duration("90s"), Ok(std::time::Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(std::time::Duration::from_secs(90)));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert!(size("1XB").is_err() && duration("x").is_err() && duration("5 parsecs").is_err());
    }
}
