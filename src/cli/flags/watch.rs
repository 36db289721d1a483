//! The flags that show the work of a build.

use crate::flags::heading;
use clap::Args;
use std::path::PathBuf;

/// The flags that show the work of a build.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WatchFlags {
    /// Print to stderr how long each part took
    ///
    /// The time of a kustomization contains its bases, components and steps. Of parts that run side
    /// by side the times are added.
    #[arg(long, help_heading = heading::WORK, hide_short_help = true)]
    pub timings: bool,

    /// Write every part with its times, in the format of Chrome's traces
    ///
    /// ui.perfetto.dev and chrome://tracing show the file.
    #[arg(long, value_name = "FILE", help_heading = heading::WORK, hide_short_help = true)]
    pub trace: Option<PathBuf>,

    /// Print to stderr which files, remote parts, charts and plugins were used, and why
    #[arg(short, long, help_heading = heading::WORK, hide_short_help = true)]
    pub verbose: bool,
}
