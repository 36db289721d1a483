//! The flags of plugins, for builds and for single calls.

use crate::flags::heading;
use crate::flags::size::{duration, size};
use crate::flags::switch::Switch;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// How plugins run.
#[derive(Args)]
pub(crate) struct PluginFlags {
    /// Use the bundles and plugins of this environment, too
    ///
    /// By default RUSTOMIZE_ENVIRONMENT, or the environment 'default' if there is one.
    #[arg(long, value_name = "NAME", help_heading = heading::PLUGINS, hide_short_help = true)]
    pub environment: Option<String>,

    /// Take the environment's bundles as they were synced last
    #[arg(long, help_heading = heading::PLUGINS, hide_short_help = true)]
    pub no_sync: bool,

    /// Use installed plugins only as plugins.lock says
    ///
    /// By default if CI is set.
    #[arg(long, switch(), help_heading = heading::PLUGINS)]
    pub frozen: Option<bool>,

    /// How long one call may take, as in 90s; 0 for no limit
    ///
    /// By default 10m. With this flag a container that does not end in time is removed, too.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = heading::PLUGINS)]
    pub plugin_timeout: Option<Duration>,

    /// How much one call of a plugin may print, as in 64MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size, help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_output_limit: u64,

    /// How much memory one call of a plugin, or helm, may have, as in 2GiB; 0 for no limit
    #[arg(long, value_name = "SIZE", default_value = "8GiB", value_parser = size, help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_memory_limit: u64,

    /// How many processes and threads one call of a plugin, or helm, may have; 0 for no limit
    #[arg(long, value_name = "NUMBER", default_value_t = 4096, help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_process_limit: u64,

    /// How much of your rights plugins get: off, auto or strict
    ///
    /// off: all rights, as under kustomize. auto: what plugins need and are granted, as far as this
    /// system can enforce it. strict: the same and a cleared environment, or an error. The command
    /// 'doctor' says what this system can enforce. By default off for placed plugins, and auto with
    /// a cleared environment for installed plugins.
    #[arg(long, value_name = "LEVEL", hide_possible_values = true, help_heading = heading::PLUGINS)]
    pub plugin_isolation: Option<IsolationLevel>,

    /// Let isolated plugins read a file or directory; may be repeated
    #[arg(long, value_name = "PATH", help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_allow_read: Vec<PathBuf>,

    /// Let isolated plugins read and write a file or directory; may be repeated
    #[arg(long, value_name = "PATH", help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_allow_write: Vec<PathBuf>,

    /// Let isolated plugins use the network
    #[arg(long, help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_allow_net: bool,

    /// Let isolated plugins connect to a UNIX socket; may be repeated
    ///
    /// The system cannot tell sockets apart: a plugin that may connect to one may connect to every
    /// socket that you may connect to.
    #[arg(long, value_name = "PATH", help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_allow_socket: Vec<PathBuf>,

    /// Pass a variable of yours to isolated and installed plugins; may be repeated
    #[arg(long, value_name = "NAME", help_heading = heading::PLUGINS, hide_short_help = true)]
    pub plugin_allow_env: Vec<String>,

    /// Adopt Go plugins made with 'go build -buildmode=plugin'
    ///
    /// The build makes a program that can load them, once, with the Go of this machine. The command
    /// 'plugin adopt' does it beforehand.
    #[arg(long, help_heading = heading::PLUGINS, hide_short_help = true)]
    pub adopt_go_plugins: bool,

    /// Run functions that are executables
    ///
    /// --enable-alpha-plugins is needed, too.
    #[arg(long, alias = "enable_exec", switch(), help_heading = heading::FUNCTIONS)]
    pub enable_exec: Option<bool>,

    /// Let functions in containers use the network if they ask for it
    #[arg(long, switch(), help_heading = heading::FUNCTIONS)]
    pub network: Option<bool>,

    /// Accepted for compatibility: only Go plugins see it
    #[arg(long, hide = true, default_value = "bridge")]
    pub network_name: String,

    /// Mount something into all containers; may be repeated
    ///
    /// As in type=bind,src=DIR,dst=DIR,rw=true.
    #[arg(long, value_name = "MOUNT", help_heading = heading::FUNCTIONS, hide_short_help = true)]
    pub mount: Vec<String>,

    /// Set a variable for all functions; may be repeated
    ///
    /// As in NAME=value. NAME alone passes the variable on into containers.
    #[arg(short, long, value_name = "VARIABLE", help_heading = heading::FUNCTIONS)]
    pub env: Vec<String>,

    /// Run containers as the user who runs the build, not as nobody
    #[arg(long, switch(), help_heading = heading::FUNCTIONS, hide_short_help = true)]
    pub as_current_user: Option<bool>,

    /// The results of KRM functions that fail the build
    #[arg(long, value_name = "SEVERITY", help_heading = heading::FUNCTIONS, hide_short_help = true)]
    pub fail_on_results: Option<Severity>,
}

/// How much of the user's rights plugins get.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum IsolationLevel {
    #[default]
    Off,
    Auto,
    Strict,
}

/// How grave a result of a KRM function is.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Severity {
    Error,
    Warning,
}
