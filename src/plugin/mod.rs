//! The host side of plugins; the author side is /plugin.
//!
//! * [`locate`]: where the plugin for a kind is found.
//! * [`wire`]: resources to bytes and back, with the annotations that plugins see.
//! * [`exec`]: plugins that are executables.
//!
//! Children run with the limits of [`crate::process`].

pub mod exec;
pub mod locate;
pub mod wire;

use crate::process::Limits;
use std::path::PathBuf;
use std::time::Duration;

/// Whether and how external plugins run.
#[derive(Clone, Debug)]
pub struct PluginOptions {
    /// Without it a build that needs an external plugin fails.
    pub enabled: bool,
    /// How long one call may take; `None` for as long as it likes.
    pub timeout: Option<Duration>,
    /// How many bytes one call may print.
    pub output_limit: u64,
    /// The directories that may hold plugins, first that exists.
    pub homes: Vec<PathBuf>,
    /// Takes what plugins print on stderr, as it comes.
    pub stderr: fn(&[u8]),
}

impl Default for PluginOptions {
    fn default() -> Self {
        PluginOptions {
            enabled: false,
            timeout: Some(Duration::from_secs(600)),
            output_limit: 1 << 30,
            homes: Vec::new(),
            stderr: |_| {},
        }
    }
}

impl PluginOptions {
    /// What one call may take.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.timeout, output: self.output_limit, stderr: self.stderr }
    }
}

/// The plugins of a build.
pub struct Plugins {
    pub options: PluginOptions,
}

impl Plugins {
    /// Nothing is started yet.
    pub fn new(options: PluginOptions) -> Self {
        Plugins { options }
    }
}
