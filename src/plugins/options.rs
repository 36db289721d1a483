//! [`PluginOptions`]: whether and how external plugins run.

use super::container_engine::ContainerEngine;
use super::isolation::{Isolation, Level};
use crate::diag::Result;
use crate::load::Root;
use rustomize_base::host::{Host, NoHost};
use rustomize_process::{Children, Launch, Limits, Stderr};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Options of external plugins: if they run, and how.
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
    /// True if the host shows what plugins print on stderr, as it comes: errors do not repeat it
    /// then.
    pub shows_stderr: bool,
    /// How much of the user's rights plugins get.
    pub isolation: Isolation,
    /// How many bytes of memory the processes of one call may have; `None` for no limit.
    pub memory_limit: Option<u64>,
    /// How many processes and threads one call may have at a time; `None` for no limit.
    pub process_limit: Option<u64>,
    /// The program around the build, and its user. Its helper runs shared objects, as `PROGRAM`
    /// [`ARGUMENT`](super::isolation::ARGUMENT) `CONFINEMENT PATH`: only Unix has such a process.
    /// Its variables are given to plugins that were granted them.
    pub host: Arc<dyn Host>,
    /// Where the programs are that load genuine Go plugins; `None` for nowhere.
    pub go_hosts: Option<PathBuf>,
    /// Whether a build adopts genuine Go plugins that the user has placed.
    pub go_adoption: GoAdoption,
    /// The children that run plugins and the programs that they need.
    pub children: Children,
    /// Options of functions alone.
    pub functions: FunctionOptions,
}

impl Default for PluginOptions {
    fn default() -> Self {
        let Limits { timeout, output, memory, processes } = Limits::default();
        PluginOptions {
            enabled: false,
            timeout,
            output_limit: output,
            homes: Vec::new(),
            shows_stderr: false,
            isolation: Isolation { installed: Level::Auto, ..Isolation::default() },
            memory_limit: memory,
            process_limit: processes,
            host: Arc::new(NoHost),
            go_hosts: None,
            go_adoption: GoAdoption::Never,
            children: Children::new(),
            functions: FunctionOptions::default(),
        }
    }
}

impl PluginOptions {
    /// The user's home.
    pub fn home(&self) -> Option<PathBuf> {
        self.host.home()
    }

    /// The program that is asked to be the process of a plugin.
    ///
    /// # Errors
    /// This command cannot start such a process. The error is the beginning of a sentence, which
    /// the caller completes.
    pub(super) fn helper(&self) -> std::result::Result<PathBuf, &'static str> {
        if cfg!(not(any(unix, windows))) {
            return Err("on this system no program has a process");
        }
        // A program finds its own file there.
        let is_seen = || cfg!(not(target_os = "linux")) || Path::new("/proc/self").exists();
        self.host.helper().ok_or_else(|| match is_seen() {
            true => "this program has no process",
            false => "without /proc this program has no process",
        })
    }

    /// The limits of one call.
    pub fn limits(&self) -> Limits {
        Limits {
            timeout: self.timeout,
            output: self.output_limit,
            memory: self.memory_limit,
            processes: self.process_limit,
        }
    }

    /// The reader of the stderr of plugins.
    fn relayed_stderr(&self) -> Stderr {
        if self.shows_stderr { Stderr::Relayed(Arc::clone(&self.host)) } else { Stderr::Kept }
    }

    /// Shows a line to the user where the stderr of plugins is shown.
    pub fn say(&self, line: &str) {
        if self.shows_stderr {
            self.host.relay(format!("{line}\n").as_bytes());
        }
    }

    /// The launch of a plugin, with the limits of one call.
    #[must_use]
    pub fn limited(&self, launch: Launch) -> Launch {
        Launch { limits: self.limits(), stderr: self.relayed_stderr(), ..launch }
    }
}

/// Whether a build adopts a genuine Go plugin that it meets for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GoAdoption {
    #[default]
    Never,
    /// If the user says yes.
    Asked,
    Always,
}

/// Finds the image that runs in place of one that an object of a root names.
type FindImage = dyn Fn(&Root, &str) -> Result<String> + Send + Sync;

/// The images that run: those that objects name, unless a lock names others.
#[derive(Clone, Default)]
pub struct Images(Option<Arc<FindImage>>);

impl Images {
    /// `find` gives the image that runs in place of one that an object of a root names.
    pub fn new(find: impl Fn(&Root, &str) -> Result<String> + Send + Sync + 'static) -> Images {
        Images(Some(Arc::new(find)))
    }

    /// The image that runs where an object that `root` lists names `written`.
    ///
    /// # Errors
    /// The image must not be used.
    pub(super) fn of(&self, root: &Root, written: &str) -> Result<String> {
        self.0.as_ref().map_or_else(|| Ok(written.to_owned()), |find| find(root, written))
    }
}

impl fmt::Debug for Images {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Images").field(&self.0.is_some()).finish()
    }
}

/// Options of functions, beside those of all plugins: if they run, and how.
#[derive(Clone, Debug, Default)]
pub struct FunctionOptions {
    /// Without it a build that needs a function which is an executable fails.
    pub exec: bool,
    /// True if containers that ask for the network of this machine get it.
    pub network: bool,
    /// The requested network. Containers ignore it, as in kustomize; Go plugins see it.
    pub network_name: String,
    /// Mounts for all containers, as `type=bind,src=DIR,dst=DIR,rw=true`.
    pub mounts: Vec<String>,
    /// `NAME=value` for all functions, `NAME` alone for containers.
    pub variables: Vec<String>,
    /// `uid:gid` for containers; `None` for `nobody`.
    pub user: Option<String>,
    /// The program that runs containers.
    pub engine: ContainerEngine,
    /// True if the engine notes the ids of containers (`--cidfile`, which kustomize does not pass),
    /// so that one which fails or does not end is removed.
    pub notes_containers: bool,
    /// The images that run.
    pub images: Images,
    /// The results that fail the build.
    pub fail_on: FailOn,
}

/// The results of functions that fail a build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// None, as upstream, which drops them.
    #[default]
    Nothing,
    Error,
    /// Errors and warnings.
    Warning,
}
