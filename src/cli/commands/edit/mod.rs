//! `edit`: changes of the kustomization file of the working directory.

pub(crate) mod add;
pub(crate) mod set;
pub(crate) mod remove;
pub(crate) mod fix;
pub(crate) mod notes;
pub(crate) mod words;

use self::notes::show_notes;
use crate::cli::flags::compat::{self, Versions};
use crate::cli::flags::switch::{Switch, is_on};
use crate::cli::request::plain_options;
use crate::cli::writer::{self, Shown};

use crate::pipeline::object;
use anyhow::Result;
use clap::{Args, Subcommand};
use rustomize_edit::Place;

/// `edit`.
#[derive(Args)]
pub(crate) struct EditCommand {
    #[command(subcommand)]
    pub verb: Edit,

    /// The version of kustomize whose fields the file may have, as in 5.7.1 or kubectl-1.34
    /// [default: the newest]
    #[arg(long, global = true, value_name = "VERSION", value_parser = compat::version)]
    pub compat: Option<Versions>,
}

/// The commands of `edit`.
#[derive(Subcommand)]
pub(crate) enum Edit {
    /// Add an item to the kustomization file
    #[command(after_long_help = add::EXAMPLES)]
    Add {
        #[command(subcommand)]
        what: add::Add,
    },
    /// Set the value of a field of the kustomization file
    #[command(after_long_help = set::EXAMPLES)]
    Set {
        #[command(subcommand)]
        what: set::Set,
    },
    /// Remove items from the kustomization file
    #[command(after_long_help = remove::EXAMPLES)]
    Remove {
        #[command(subcommand)]
        what: remove::Remove,
    },
    /// Turn deprecated fields of the kustomization file into current ones
    #[command(long_about = fix::ABOUT)]
    Fix {
        /// Turn variables into replacements, too: the resource files that use them are changed
        #[arg(long, switch())]
        vars: Option<bool>,

        #[arg(hide = true)]
        ignored: Vec<String>,
    },
    /// List the plugins that are built in
    AlphaListBuiltinPlugin {
        #[arg(hide = true)]
        ignored: Vec<String>,
    },
}

/// Runs `edit`.
///
/// # Errors
/// The arguments do not fit, or the file cannot be changed.
pub(crate) fn run(command: &EditCommand) -> Result<()> {
    let mut place = Place::new(plain_options(command.compat)?);
    let result = match &command.verb {
        Edit::Add { what } => add::run(&mut place, what),
        Edit::Set { what } => set::run(&mut place, what),
        Edit::Remove { what } => remove::run(&mut place, what),
        Edit::Fix { vars, .. } => return fix::run(&mut place, is_on(*vars)),
        Edit::AlphaListBuiltinPlugin { .. } => return list_builtin_plugins(),
    };
    show_notes(&mut place);
    Ok(result?)
}

fn list_builtin_plugins() -> Result<()> {
    let mut names: Vec<&str> =
        object::GENERATORS.iter().chain(&object::TRANSFORMERS).map(|builtin| builtin.kind).collect();
    names.sort_unstable();
    let lines = names.iter().map(|name| format!(" * {name}\n"));
    Ok(writer::print(&Shown::message(&format!("Builtin plugins:\n\n{}", lines.collect::<String>())))?)
}
