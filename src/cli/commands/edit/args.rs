//! The arguments of `edit`.

use super::{add, fix, remove, set};
use crate::flags::compat::{self, Versions};
use crate::flags::complete;
use crate::flags::format::Format;
use crate::flags::switch::Switch;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

/// `edit`.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct EditCommand {
    #[command(subcommand)]
    pub verb: Edit,

    /// Change the kustomization file of this directory, not of the working directory
    #[arg(short = 'C', long, global = true, value_name = "DIR", add = ArgValueCompleter::new(complete::kustomizations))]
    pub directory: Option<String>,

    /// Change every kustomization at and below DIR, but components; may be repeated [DIR: .]
    ///
    /// The changed files are printed. If one of them cannot be changed, none is.
    #[arg(long, global = true, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", add = ArgValueCompleter::new(complete::kustomizations))]
    pub all: Option<Vec<String>>,

    /// With --all: leave out the kustomizations that others use
    #[arg(long, global = true)]
    pub leaves: bool,

    /// Show the lines that would change, and change nothing
    #[arg(long, global = true)]
    pub dry_run: bool,

    /// How to print the changed files: text or json [default: text; without --all nothing is
    /// printed]
    #[arg(
        short,
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub output: Format,

    /// The version of kustomize whose fields the file may have, as in 5.7.1 or kubectl-1.34
    /// [default: the newest]
    #[arg(long, global = true, value_name = "VERSION", value_parser = compat::version)]
    pub compat: Option<Versions>,
}

const EXAMPLES: &str = "Examples:
  # Set the namespace in another directory
  rustomize edit set namespace blue -C overlays/prod

  # Give every overlay below a directory a label, and see the lines before
  rustomize edit add label tier:web --without-selector --all overlays --leaves --dry-run
  rustomize edit add label tier:web --without-selector --all overlays --leaves";

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
