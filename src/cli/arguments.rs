//! The command line of this process: its commands, and their arguments as typed.

use crate::commands::affected::Affected;
use crate::commands::build::Build;
use crate::commands::cache::CacheCommand;
use crate::commands::cfg::Cfg;
use crate::commands::completion::Completion;
use crate::commands::create::Create;
use crate::commands::diff::args::Diff;
use crate::commands::doctor::Doctor;
use crate::commands::edit::args::EditCommand;
use crate::commands::explain::Explain;
use crate::commands::fn_run::Fn;
use crate::commands::hook::HookCommand;
use crate::commands::images::args::ImagesCommand;
use crate::commands::install_to::InstallTo;
use crate::commands::krm_function::KrmFunction;
use crate::commands::lint::Lint;
use crate::commands::localize::Localize;
use crate::commands::lsp::Lsp;
use crate::commands::man::Man;
use crate::commands::mcp::Mcp;
use crate::commands::openapi::Openapi;
use crate::commands::plugin::PluginCommand;
use crate::commands::promote::Promote;
use crate::commands::tree::Tree;
use crate::commands::validate::Validate;
use crate::commands::vendor::Vendor;
use crate::commands::version::Version;
use crate::commands::watch::Watch;
use crate::flags::build::BuildFlags;
use crate::flags::look::LookFlags;
use crate::flags::switch::Switch;
use crate::invoked_as::InvokedAs;
use crate::{help, kustomize_version, leading_flags, synonyms};
use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;

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
    #[arg(long, global = true, hide = true, switch())]
    stack_trace: Option<bool>,

    #[command(flatten)]
    look: LookFlags,
}

/// A command. The table of a command's flags is made when that command is named, so a build does
/// not pay for the flags of the other commands.
#[derive(Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Build a kustomization from a directory and print it
    Build(Named<Build>),
    /// Find entries without effect and likely mistakes in kustomizations
    Lint(Named<Lint>),
    /// Build a kustomization and run its validators, and print nothing
    Validate(Named<Validate>),
    /// Show the differences of two builds, field by field
    Diff(Named<Diff>),
    /// Say where the values of a build's output come from, and which steps have changed them
    Explain(Named<Explain>),
    /// Show the parts of kustomizations: bases, components, files, plugins, remote parts
    #[command(visible_alias = "graph")]
    Tree(Named<Tree>),
    /// List the kustomizations that a change of files can affect
    Affected(Named<Affected>),
    /// Lint or build again what a change of files touches
    Watch(Named<Watch>),
    /// List the images of kustomizations and where they are set, or set them everywhere
    Images(Named<ImagesCommand>),
    /// Change the kustomization file of the working directory, and keep all its other lines
    Edit(Named<EditCommand>),
    /// Copy the versions that one kustomization pins to another, as from staging to prod
    Promote(Named<Promote>),
    /// Write a new kustomization file into the working directory
    #[command(visible_alias = "init")]
    Create(Named<Create>),
    /// Copy the remote parts of a kustomization beside it, and lock their versions
    Vendor(Named<Vendor>),
    /// Copy a kustomization with all that it names; remote files and repositories become files
    Localize(Named<Localize>),
    /// Build the kustomizations that a commit changes, in a hook of git
    Hook(Named<HookCommand>),
    /// Make, install, pin and share plugins
    Plugin(Named<PluginCommand>),
    /// Say what this machine can do for builds: isolation of plugins, and the programs that some of
    /// them need
    Doctor(Named<Doctor>),
    /// Copy this program into a directory, under the names that callers look for
    InstallTo(Named<InstallTo>),
    /// Show or empty the directory that keeps remote parts between builds
    Cache(Named<CacheCommand>),
    /// Serve an editor: faults while you type, completion, docs, links to files and objects
    Lsp(Named<Lsp>),
    /// Serve programs that work with language models: tools that build and check, and write nothing
    Mcp(Named<Mcp>),
    /// Build as a KRM function: the items and the kustomization come in a ResourceList on stdin
    KrmFunction(Named<KrmFunction>),
    /// Count and show the resources of a directory
    Cfg(Named<Cfg>),
    /// Run functions on the resources of a directory
    Fn(Named<Fn>),
    /// Print or fetch the schema of Kubernetes' kinds
    Openapi(Named<Openapi>),
    /// Print the version
    Version(Named<Version>),
    /// Print a script that completes commands, flags and values in a shell
    Completion(Named<Completion>),
    /// Write a man page for each command into a directory
    #[command(hide = true)]
    Man(Named<Man>),
}

impl Command {
    /// The flags of the builds that a command makes; `None` for a command that builds nothing.
    pub(super) fn build_flags(&self) -> Option<&BuildFlags> {
        match self {
            Command::Build(build) => Some(&build.0.build),
            Command::Validate(validate) => Some(&validate.0.build),
            Command::Lint(lint) => Some(&lint.0.build),
            Command::Diff(diff) => Some(&diff.0.build),
            Command::Explain(explain) => Some(&explain.0.build),
            Command::Images(images) => Some(images.0.build_flags()),
            Command::KrmFunction(function) => Some(&function.0.build),
            Command::Vendor(vendor) => Some(&vendor.0.build),
            _ => None,
        }
    }
}

/// The arguments of a command, whose table is made when the command is named. The command has its
/// description by then, which must not be replaced by that of the arguments' type.
pub(super) struct Named<T>(pub Box<T>);

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
    let about = command.get_about().cloned().map_or(Resettable::Reset, Resettable::Value);
    help::grouped(with_look_last(add(command).about(about)))
}

/// Moves the flags for the look of messages to the end of a command. clap adds them before the
/// command's own flags, and a help has its headings in the order of the flags.
fn with_look_last(command: clap::Command) -> clap::Command {
    let has = |command: &clap::Command, name: &str| command.get_arguments().any(|flag| flag.get_id() == name);
    let behind = |command: clap::Command, name: &'static str| match has(&command, name) {
        // A flag that is changed becomes the last one.
        true => command.mut_arg(name, |flag| flag),
        false => command,
    };
    ["error_format", "color"].into_iter().fold(command, behind)
}

/// Parses the arguments of this process. If it was called as kustomize, the help says `kustomize`.
///
/// # Errors
/// The answer of the argument parser to wrong arguments, or to a call for help.
pub(super) fn parse(invoked_as: InvokedAs) -> Result<(Command, LookFlags), clap::Error> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let words = arguments.split_off(arguments.len().min(1));
    if words.is_empty() {
        // kustomize prints its help, and calls that a success.
        arguments.push("--help".into());
    }
    let is_help = words.first().is_none_or(|word| ["-h", "--help", "help"].iter().any(|help| word == help));
    let arranged = |program| if is_help { help::grouped_program(program) } else { program };
    let mut command = arranged(program(invoked_as));
    arguments.extend(leading_flags::first(words, &command));
    let answer = |command: &mut clap::Command| {
        command.try_get_matches_from_mut(&arguments).or_else(|e| help_on_edit(command, &arguments, e))
    };
    let matches = answer(&mut command).or_else(|e| match e.kind() {
        // The texts of all commands are made only if one of them is printed.
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            if invoked_as != InvokedAs::Rustomize =>
        {
            answer(&mut arranged(spoken(invoked_as)))
        }
        _ => Err(e),
    })?;
    let Cli { command, look, .. } = Cli::from_arg_matches(&matches)?;
    Ok((command, look))
}

/// Returns true if the arguments of this process are for `diff`, whether they are valid or not.
pub(super) fn names_diff(invoked_as: InvokedAs) -> bool {
    let words = std::env::args_os().skip(1).collect();
    leading_flags::first(words, &program(invoked_as)).first().is_some_and(|word| word == "diff")
}

/// The program with its commands, under the name by which it was called. A command gets its flags
/// and texts when it is built.
pub(super) fn program(invoked_as: InvokedAs) -> clap::Command {
    let (program, words) = (Cli::command(), invoked_as.words());
    match invoked_as {
        // The system's name of the program has an ending there.
        InvokedAs::Rustomize if cfg!(windows) => program.bin_name(words),
        InvokedAs::Rustomize => program,
        InvokedAs::Kustomize => {
            program.name(words).bin_name(words).version(kustomize_version::of_command(None).unwrap_or_default().tag())
        }
        InvokedAs::KubectlPlugin => program.bin_name(words),
    }
}

/// The program with the flags of all commands. Its texts name the tool that the caller believes to
/// have started.
pub(super) fn spoken(invoked_as: InvokedAs) -> clap::Command {
    let mut program = program(invoked_as);
    program.build();
    renamed(program, invoked_as.words())
}

/// Replaces the name of this program in the texts and examples of a command and its subcommands.
fn renamed(command: clap::Command, words: &str) -> clap::Command {
    let speak = |text: &clap::builder::StyledStr| text.to_string().replace("rustomize ", &format!("{words} "));
    let (long, examples) = (command.get_long_about().map(speak), command.get_after_long_help().map(speak));
    let command = long.into_iter().fold(command, clap::Command::long_about);
    let command = examples.into_iter().fold(command, clap::Command::after_long_help);
    command.mut_subcommands(|below| renamed(below, words))
}

/// Prints help for `edit` and other parents without a subcommand: for kustomize that is a success.
/// kustomize does the same for an unknown subcommand, which is an error here that names similar
/// ones.
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
    let (error, path) = (synonyms::explain_flag(error, above), path.join(" "));
    let error = synonyms::explain_foreign_flag(error, &path, program);
    Err(synonyms::explain(error, above, &path, program))
}

/// The flags of `validate`, from words that a user has given to another command.
///
/// # Errors
/// An unknown flag, or a value that is not valid.
pub(super) fn validate(flags: &[String]) -> Result<Validate, clap::Error> {
    let words = ["rustomize", "validate"].into_iter().map(str::to_owned).chain(flags.iter().cloned());
    match Cli::try_parse_from(words)?.command {
        Command::Validate(validate) => Ok(*validate.0),
        _ => Err(clap::Error::new(ErrorKind::InvalidSubcommand)),
    }
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
        let mut program = program(InvokedAs::Rustomize);
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
        let mut program = program(InvokedAs::Rustomize);
        program.build();
        for name in ["build", "validate"] {
            let help = program.find_subcommand_mut(name).unwrap().render_help().to_string();
            assert!(help.lines().count() <= 40, "{name}: {} lines", help.lines().count());
        }
    }
}
