//! Flags exactly as typed.

use super::command_word;
use super::edit_args::EditCommand;
use super::plugin_args::PluginCommand;
use super::plugin_flags::PluginFlags;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

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
    /// Build a kustomization and run its validators, and print nothing
    #[command(long_about = VALIDATE, after_long_help = VALIDATE_EXAMPLES)]
    #[command(mut_arg("output", |flag| flag.hide(true)), mut_arg("layout", |flag| flag.hide(true)))]
    #[command(mut_arg("depfile", |flag| flag.hide(true)))]
    Validate(Box<Build>),
    /// Change the kustomization file of the working directory; all other lines of it stay
    #[command(args_override_self = true)]
    Edit(Box<EditCommand>),
    /// Make, install, pin and share plugins
    Plugin(PluginCommand),
    /// Say what this machine can do for builds: isolation of plugins, and the programs that some of
    /// them need
    #[command(after_long_help = DOCTOR_EXAMPLES)]
    Doctor(Doctor),
    /// Print the version
    Version(Version),
}

const VALIDATE: &str = "Build a kustomization and run its validators, with the flags of 'build', and print nothing: the exit status \
    and the errors say whether it builds.";

const VALIDATE_EXAMPLES: &str = "Examples:
  # Check an overlay before a commit
  rustomize validate --enable-alpha-plugins overlays/prod

  # Check every overlay below a directory, and show all faults
  rustomize validate --all --leaves --keep-going deploy";

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

    /// What happens to the results: the command says it, and no flag.
    #[arg(skip)]
    pub results: Results,

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
    let matches = command.try_get_matches_from_mut(&arguments).or_else(|e| help_on_edit(&mut command, arguments, e))?;
    Ok(Cli::from_arg_matches(&matches)?.command)
}

/// kustomize answers `edit` with a verb that is missing or unknown with help, and that is no error.
fn help_on_edit(
    command: &mut clap::Command,
    mut arguments: Vec<OsString>,
    error: clap::Error,
) -> Result<clap::ArgMatches, clap::Error> {
    let kinds = [
        ErrorKind::InvalidSubcommand,
        ErrorKind::MissingSubcommand,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    if !kinds.contains(&error.kind()) || arguments.get(1).is_none_or(|word| word != "edit") {
        return Err(error);
    }
    let is_known = |word: &OsString| ["add", "set", "remove"].iter().any(|verb| word == verb);
    arguments.truncate(if arguments.get(2).is_some_and(is_known) { 3 } else { 2 });
    arguments.push("--help".into());
    command.try_get_matches_from_mut(arguments)
}

/// The program with its commands and their flags.
#[cfg(test)]
pub(super) fn program() -> clap::Command {
    Cli::command()
}

/// What a command does with the results of builds.
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

    #[test]
    fn units() {
        assert_eq!(duration("90s"), Ok(std::time::Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(std::time::Duration::from_secs(90)));
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert!(size("1XB").is_err() && duration("x").is_err() && duration("5 parsecs").is_err());
    }
}
