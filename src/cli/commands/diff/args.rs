//! Flags of `diff`, as typed.

use crate::commands::diff::since::is_range;
use crate::flags::build::BuildFlags;
use crate::flags::hidden::hidden;
use crate::flags::{compat, complete, heading};
use anyhow::{Result, bail};
use clap::{Arg, ArgAction, Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use std::path::Path;

const ABOUT: &str = "Show the differences of two builds: resource by resource, field by field. Each side is a directory with a \
    kustomization, or a file with resources; '-' is stdin. With --since, the sides are a commit and the working tree, or two \
    commits; a revision in place of the sides does the same, and without sides it is HEAD. With --compat OLD..NEW, the sides are \
    two versions of kustomize. Names with a hash, renamed resources and lists with keys are understood. A change that many \
    resources have is shown once. Values of Secrets are hidden.";

const EXAMPLES: &str = "Examples:
  # Two overlays
  rustomize diff overlays/test overlays/prod

  # The resources of a cluster, and an overlay
  kubectl get -f rendered.yaml -o yaml | rustomize diff - overlays/prod

  # The effects of uncommitted changes on the overlays
  rustomize diff --leaves

  # The same in short, since another branch
  rustomize diff main --leaves --stat

  # The effects of an upgrade of kustomize on all overlays
  rustomize diff --compat 5.7.1..5.8.3 --all --leaves deploy

  # The effects of a branch, as a comment for a pull request
  rustomize diff --since origin/main...HEAD --leaves -o github

Exit status: 0 nothing differs, 1 something differs, 2 error.";

const SIDE: &str =
    "The two sides, or a revision [default: HEAD]; with --since: the kustomizations [default: all below .]";

const EACH: &str = "Print each resource, also those with equal changes";

const ALL: &str = "With --since or two versions: look below the directories that are named, too";

const COMPAT: &str =
    "The version of kustomize that builds both sides; or compare two versions: OLD..NEW, as in 5.7.1..5.8.3";

const COMPAT_LONG: &str = "The version of kustomize that builds both sides, as in 5.7.1 or kubectl-1.34 [default: the newest]

Two versions, as in 5.7.1..5.8.3, compare each directory with itself: what an upgrade of kustomize changes, with the behaviours \
    that make the difference. A version that is left out is the newest.";

/// `diff`.
#[derive(Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
#[command(mut_arg("directory", |flag| flag.value_name("SIDE").help(SIDE).add(ArgValueCompleter::new(complete::files))))]
#[command(mut_arg("all", |flag| flag.help(ALL)), mut_arg("leaves", |_| leaves()))]
#[command(mut_arg("compat", |flag| flag.value_parser(compat::range).help(COMPAT).long_help(COMPAT_LONG)))]
#[command(mut_arg("each", |flag| flag.help(EACH).hide_short_help(false)))]
#[command(mut_arg("output", |flag| flag.short(None).long("build-output")))]
#[command(mut_args(hidden(["output", "layout", "depfile", "stdin_as", "shard", "affected_by"])))]
pub(crate) struct Diff {
    /// Compare this commit with the working tree, or two commits: OLD..NEW
    ///
    /// OLD...NEW compares NEW with the commit where it branched off from OLD. Only kustomizations
    /// that the changed files can affect are built.
    #[arg(long, value_name = "REVISION")]
    pub since: Option<String>,

    /// How to print the differences
    #[arg(id = "format", short = 'o', long = "output", value_name = "FORMAT", default_value = "human")]
    pub format: DiffFormat,

    /// Print a line for each kind of each root, with the number of resources and fields
    #[arg(long)]
    pub stat: bool,

    /// Show the values of Secrets
    #[arg(long)]
    pub show_secrets: bool,

    #[command(flatten)]
    pub build: BuildFlags,
}

/// `--leaves`, which works without `--all` here: with --since, all kustomizations are compared
/// unless the user names some.
fn leaves() -> Arg {
    let leaves = Arg::new("leaves").long("leaves").action(ArgAction::SetTrue).help_heading(heading::ROOTS);
    leaves.help("With --since or two versions: leave out the kustomizations that others use")
}

/// How differences are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For people, on a terminal
    Human,
    /// One JSON object, for programs
    Json,
    /// For a comment on a pull request
    Markdown,
    /// A comment on a pull request of GitHub: folded, and not longer than GitHub takes
    Github,
    /// One page that needs no other file
    Html,
}

impl Diff {
    /// Takes no argument for `--since HEAD`, and a revision in place of a side for `--since` that.
    pub(crate) fn resolved(mut self) -> Diff {
        let has_versions = self.build.output.compat.is_some_and(|versions| versions.old.is_some());
        if self.since.is_some() || has_versions {
            return self;
        }
        self.since = match self.build.directory.as_slice() {
            [] => Some("HEAD".to_owned()),
            [only] if only != "-" && !Path::new(only).exists() && is_range(only) => self.build.directory.pop(),
            _ => None,
        };
        self
    }

    /// Refuses the flags of `build` that `diff` ignores.
    ///
    /// # Errors
    /// Such a flag is given.
    pub(crate) fn check(&self) -> Result<()> {
        let build = &self.build;
        let is_of_roots = self.since.is_some() || build.output.compat.is_some_and(|versions| versions.old.is_some());
        let useless = [
            ("--build-output", build.output.output.is_some()),
            ("--layout", build.output.layout.is_some()),
            ("--depfile", build.output.depfile.is_some()),
            ("--stdin-as", build.files.stdin_as.is_some()),
            ("--shard", build.roots.shard.is_some()),
            ("--affected-by", build.roots.affected_by.is_some()),
            ("--leaves without --since", build.roots.leaves && !is_of_roots),
            ("--all without --since", build.roots.all && !is_of_roots),
        ];
        if let Some((flag, _)) = useless.into_iter().find(|(_, is_set)| *is_set) {
            bail!("'diff' does not take {flag}");
        }
        if self.stat && self.format != DiffFormat::Human {
            bail!("--stat prints lines for people: leave out --output, whose forms have the counts of each root");
        }
        Ok(())
    }
}
