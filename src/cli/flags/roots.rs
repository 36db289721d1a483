//! The flags that choose roots, and split their builds.

use crate::flags::heading;
use clap::{Args, ValueEnum};
use std::num::NonZero;
use std::path::PathBuf;

/// The roots below the directories that are named, and the parts of them.
#[derive(Args)]
pub(crate) struct RootFlags {
    /// Take every kustomization at and below DIR, but components
    #[arg(long, help_heading = heading::ROOTS)]
    pub all: bool,

    /// With --all: leave out the kustomizations that others use
    #[arg(long, requires = "all", help_heading = heading::ROOTS)]
    pub leaves: bool,

    /// With --all: take only the kustomizations that these files can affect
    ///
    /// A directory stands for all files in it. '-' reads the names from stdin, one a line, or with
    /// NUL between them as 'git diff -z' prints them.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "all", help_heading = heading::ROOTS, hide_short_help = true)]
    pub affected_by: Option<Vec<PathBuf>>,

    /// Go on with the other roots when one fails
    ///
    /// The exit status is 1 all the same.
    #[arg(long, help_heading = heading::ROOTS)]
    pub keep_going: bool,

    /// Print each error, warning and finding for each resource and root that has it
    ///
    /// Without it, messages that one place causes are one message, which counts the resources and
    /// roots.
    #[arg(long, help_heading = heading::ROOTS, hide_short_help = true)]
    pub each: bool,

    /// Take one of N parts of the roots
    ///
    /// I is from 0 to N-1, or in JOB_COMPLETION_INDEX.
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = heading::ROOTS, hide_short_help = true)]
    pub shard: Option<Shard>,

    /// How many threads work at once [default: one for each core]
    #[arg(short, long, value_name = "N", help_heading = heading::ROOTS)]
    pub jobs: Option<NonZero<usize>>,
}

/// How the results of several roots are split into files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// One file for each root
    Root,
    /// One directory for each root, with a file for each object
    Resource,
}

/// A part of the roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Counted from 0; `None` if the environment has the number.
    pub index: Option<usize>,
    pub count: NonZero<usize>,
}

fn shard(text: &str) -> Result<Shard, String> {
    let number = |part: &str| part.parse::<usize>().map_err(|_| format!("'{part}' is not a number"));
    let (index, count) = match text.split_once('/') {
        Some((index, count)) => (Some(number(index)?), number(count)?),
        None => (None, number(text)?),
    };
    let count = NonZero::new(count).ok_or("the number of parts is at least 1")?;
    match index {
        Some(index) if index >= count.get() => Err(format!("the parts are 0 to {}", count.get() - 1)),
        _ => Ok(Shard { index, count }),
    }
}
