//! The directory that a command of `plugin` is for.

use clap::Args;
use std::path::{Path, PathBuf};

/// The directory that a command is for.
#[derive(Args, Clone)]
pub(crate) struct Project {
    /// The directory with plugins.yaml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,

    /// The same as --directory DIR
    #[arg(hide = true, value_name = "DIR", conflicts_with = "directory")]
    pub positional: Option<PathBuf>,
}

impl Project {
    /// The directory that was given in either way.
    pub(crate) fn path(&self) -> &Path {
        self.positional.as_deref().unwrap_or(&self.directory)
    }
}
