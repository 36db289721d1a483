//! The flags for the remote parts of a build.

use crate::flags::heading;
use crate::flags::size::{duration, size};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// How remote parts are fetched and kept.
#[derive(Args)]
pub(crate) struct RemoteFlags {
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
    pub remote_timeout: Option<Duration>,

    /// How large a file over HTTP may be
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size, help_heading = heading::REMOTE, hide_short_help = true)]
    pub remote_size_limit: u64,
}
