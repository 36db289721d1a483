//! The arguments of `images`.

use crate::flags::build::BuildFlags;
use crate::flags::complete;
use crate::flags::format::Format;
use crate::flags::heading;
use crate::flags::hidden::hidden;
use clap::{Arg, ArgAction, Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

const ABOUT: &str = "List the images of kustomizations: each image, the line that decides its tag, and the kustomizations that have it. \
    They are built, with the flags of 'build'. 'images set' changes those lines.";

const EXAMPLES: &str = "Examples:
  # The images of all kustomizations below a directory
  rustomize images deploy

  # Those that are deployed: without the kustomizations that others use
  rustomize images deploy --leaves

  # Raise an image everywhere, and see the lines before
  rustomize images set registry.example:5000/web:1.5 --all deploy --dry-run
  rustomize images set registry.example:5000/web:1.5 --all deploy";

const SET_ABOUT: &str = "Give an image another tag or digest wherever it is set: in 'images', in resources and in patches at and below \
    the directories. An image that is set elsewhere, as in a remote base or a chart, gets an entry in the 'images' of its \
    kustomization. The result is built before anything is written: if an image does not get the tag, or another image \
    changes, no file changes.";

const SET_EXAMPLES: &str = "Examples:
  # A tag; a digest; a tag and a digest
  rustomize images set web:1.5 --all deploy
  rustomize images set web@sha256:0a1b --all deploy
  rustomize images set web:1.5@sha256:0a1b --all deploy

  # In one overlay: what its bases set stays, and the overlay gets an entry
  rustomize images set web:1.5 overlays/prod

An image is named as the output has it, or by the end of that name: 'web' is 'registry.example:5000/web' if no other image ends \
    so. A name of a directory begins with './' if it has a colon.";

/// `images`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ImagesCommand {
    #[command(subcommand)]
    pub verb: Option<Verb>,

    #[command(flatten)]
    pub list: List,
}

/// The list of images.
#[derive(Args)]
#[command(mut_arg("directory", |flag| flag.help("The directories with the kustomizations, or above them [default: .]")))]
#[command(mut_arg("leaves", |_| leaves()))]
#[command(mut_arg("output", |flag| flag.short(None).long("build-output")))]
#[command(mut_args(hidden(["output", "layout", "depfile", "strict", "stdin_as", "all", "shard", "keep_going", "affected_by"])))]
#[command(mut_arg("format", |flag| flag.help("How to print: text, with a line for each image and place, or json")))]
pub(crate) struct List {
    #[command(flatten)]
    pub printing: ReportPrinting,

    #[command(flatten)]
    pub build: BuildFlags,
}

/// The form of a report, beside the flags of a build, which have an `--output` of their own.
#[derive(Args)]
pub(crate) struct ReportPrinting {
    /// How to print the changes: text or json
    #[arg(
        id = "format",
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub format: Format,
}

/// `--leaves`, which works without `--all` here.
fn leaves() -> Arg {
    let leaves = Arg::new("leaves").long("leaves").action(ArgAction::SetTrue).help_heading(heading::ROOTS);
    leaves.help("Leave out the kustomizations that others use")
}

/// The commands of `images`.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Give images another tag or digest wherever they are set: NAME:TAG, NAME@DIGEST
    #[command(long_about = SET_ABOUT, after_long_help = SET_EXAMPLES)]
    Set(Box<Set>),
}

/// `images set`.
#[derive(Args)]
#[command(mut_arg("directory", |words| words.value_name("IMAGE|DIR").required(true)
    .help("The images, as NAME:TAG or NAME@DIGEST, and the kustomizations [default: .]")
    .add(ArgValueCompleter::new(complete::kustomizations))))]
#[command(mut_arg("output", |flag| flag.short(None).long("build-output")))]
#[command(mut_args(hidden(["output", "layout", "depfile", "strict", "stdin_as", "shard", "keep_going", "affected_by"])))]
pub(crate) struct Set {
    /// Show the lines that would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub printing: ReportPrinting,

    #[command(flatten)]
    pub build: BuildFlags,
}

impl ImagesCommand {
    /// The flags of the builds.
    pub(crate) fn build_flags(&self) -> &BuildFlags {
        match &self.verb {
            None => &self.list.build,
            Some(Verb::Set(set)) => &set.build,
        }
    }
}
