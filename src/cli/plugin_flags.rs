//! The flags of plugins, for builds and for single calls.

use super::args::{duration, heading, size};
use super::cache;
use super::plugin_share::sync_environment;
use super::switch::switch;
use super::{managed, plugin_host, signals, status_line, writer};
use crate::manager::policy::environment::{Environment, MachineBundle};
use crate::manager::policy::{ADD_SOURCE, image};
use crate::manager::resolve::plugins::{Managed, ManagedPlugins};
use crate::plugin::engine::{self, Engine};
use crate::plugin::isolation::{Isolation, Level};
use crate::plugin::options::{FailOn, FunctionOptions, Images};
use crate::plugin::permissions::real;
use crate::plugin::{PluginOptions, locate};
use crate::process::Limits;
use crate::shown;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// How long one call may take where no flag says it.
const TIMEOUT: Duration = Duration::from_mins(10);

/// How plugins run.
#[derive(Args, Default)]
pub struct PluginFlags {
    /// The environment whose bundles and plugins are there, too
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
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::PLUGINS)]
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

    /// Let isolated and installed plugins have a variable of yours; may be repeated
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
    #[arg(long, alias = "enable_exec", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::FUNCTIONS)]
    pub enable_exec: Option<bool>,

    /// Let functions in containers use the network if they ask for it
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::FUNCTIONS)]
    pub network: Option<bool>,

    /// Accepted, as by kustomize, without effect but that Go plugins see it
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
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", value_parser = switch, help_heading = heading::FUNCTIONS, hide_short_help = true)]
    pub as_current_user: Option<bool>,

    /// The results of KRM functions that fail the build
    #[arg(long, value_name = "SEVERITY", help_heading = heading::FUNCTIONS, hide_short_help = true)]
    pub fail_on_results: Option<Severity>,
}

/// How much of the user's rights plugins get.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum IsolationLevel {
    #[default]
    Off,
    Auto,
    Strict,
}

/// How grave a result of a KRM function is.
#[derive(Clone, Copy, ValueEnum)]
pub enum Severity {
    Error,
    Warning,
}

/// The options of plugins for the kustomization in a directory, and the files with facts about
/// kinds.
///
/// # Errors
/// The environment is not there, or cannot be synced.
pub fn options(
    flags: &PluginFlags,
    is_enabled: bool,
    directory: &Path,
    offline: bool,
    may_sync: bool,
) -> Result<(ManagedPlugins, Vec<PathBuf>)> {
    if !is_enabled {
        return Ok((ManagedPlugins::new(PluginOptions::default(), Managed::default()), Vec::new()));
    }
    let host = plugin_host::program();
    let (managed, schemas) = manager(flags, directory, offline, may_sync, host.clone())?;
    let variable = managed::variable;
    let isolation = isolation(flags, variable);
    if let Some(fault) = isolation.permissions().below_write(None) {
        bail!("{fault}");
    }
    let options = PluginOptions {
        enabled: is_enabled,
        timeout: timeout(flags),
        output_limit: flags.plugin_output_limit,
        isolation,
        memory_limit: limit(flags.plugin_memory_limit),
        process_limit: limit(flags.plugin_process_limit),
        host,
        homes: locate::homes(|name| variable(name).map(Into::into)),
        stderr: writer::relay,
        shows_stderr: true,
        variable: managed::variable,
        go_hosts: cache::go_hosts(),
        adopts_go: if flags.adopt_go_plugins { |_| true } else { ask_to_adopt },
        children: signals::children().clone(),
        functions: functions(flags, directory),
    };
    Ok((ManagedPlugins::new(options, managed), schemas))
}

/// Asks the user at the terminal whether a Go plugin may be adopted. Without a terminal, the answer
/// is no.
fn ask_to_adopt(path: &Path) -> bool {
    /// Earlier answers: roots of one command share their plugins.
    static ANSWERS: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answer) = answers.get(path) {
        return *answer;
    }
    let stdin = std::io::stdin();
    if managed::is_frozen(None) || !stdin.is_terminal() || !writer::stderr_is_terminal() {
        return false;
    }
    status_line::end();
    let mut line = String::new();
    let question = format!(
        "'{}' is a Go plugin. Before its first use Go has to build a program that can load it.\nBuild it now? [y/N] ",
        shown::line(&path.to_string_lossy())
    );
    writer::ask(&question);
    let answer = stdin.read_line(&mut line).is_ok() && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    answers.insert(path.to_owned(), answer);
    answer
}

/// A limit of a flag, for which 0 is none.
fn limit(most: u64) -> Option<u64> {
    Some(most).filter(|&most| most > 0)
}

/// How long one call may take; `None` for as long as it likes.
fn timeout(flags: &PluginFlags) -> Option<Duration> {
    Some(flags.plugin_timeout.unwrap_or(TIMEOUT)).filter(|t| !t.is_zero())
}

/// The limits of one call of helm, whose stderr is not shown.
pub(super) fn limits(flags: &PluginFlags) -> Limits {
    let memory = limit(flags.plugin_memory_limit);
    let processes = limit(flags.plugin_process_limit);
    Limits { timeout: timeout(flags), output: flags.plugin_output_limit, memory, processes, stderr: |_| {} }
}

/// Variables that say where things are and how to speak, and nothing of the user.
const PLAIN_VARIABLES: [&str; 6] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ"];

fn isolation(flags: &PluginFlags, variable: impl Fn(&str) -> Option<OsString>) -> Isolation {
    let said = flags.plugin_isolation.map(|said| match said {
        IsolationLevel::Off => Level::Off,
        IsolationLevel::Auto => Level::Auto,
        IsolationLevel::Strict => Level::Strict,
    });
    let names = PLAIN_VARIABLES.into_iter().chain(flags.plugin_allow_env.iter().map(String::as_str));
    // Plugins run in other directories. What a link leads to now is granted, and not what it leads
    // to when a plugin has changed it.
    let place = |path: &PathBuf| real(&std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    let places = |paths: &[PathBuf]| -> Vec<PathBuf> { paths.iter().map(place).collect() };
    Isolation {
        // Placed plugins run as under kustomize.
        level: said.unwrap_or(Level::Off),
        installed: said.unwrap_or(Level::Auto),
        is_apart: false,
        read: places(&flags.plugin_allow_read),
        write: places(&flags.plugin_allow_write),
        network: flags.plugin_allow_net,
        sockets: places(&flags.plugin_allow_socket),
        modes: false,
        variables: names.map(|name| (name.to_owned(), variable(name))).collect(),
    }
}

/// The engine that runs containers, which all builds of this process share: it is looked for once.
pub(super) fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> =
        LazyLock::new(|| Engine::new(managed::variable(engine::VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from)));
    &ENGINE
}

/// The options of functions that run without a build, as `fn run` runs them.
pub fn for_functions() -> PluginOptions {
    PluginOptions {
        enabled: true,
        timeout: Some(TIMEOUT),
        stderr: writer::relay,
        shows_stderr: true,
        variable: managed::variable,
        children: signals::children().clone(),
        functions: FunctionOptions { engine: engine().clone(), ..FunctionOptions::default() },
        ..PluginOptions::default()
    }
}

/// The user of this process, as engines of containers name a user.
pub fn current_user() -> String {
    format!("{}:{}", rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw())
}

fn functions(flags: &PluginFlags, directory: &Path) -> FunctionOptions {
    let (directory, is_frozen) = (directory.to_owned(), managed::is_frozen(flags.frozen));
    FunctionOptions {
        exec: flags.enable_exec.unwrap_or(false),
        network: flags.network.unwrap_or(false),
        network_name: flags.network_name.clone(),
        mounts: flags.mount.clone(),
        variables: flags.env.clone(),
        user: flags.as_current_user.unwrap_or(false).then(current_user),
        engine: engine().clone(),
        notes_containers: flags.plugin_timeout.is_some(),
        images: Images::new(move |root, written| {
            image::for_build(&managed::lock_directories(root, &directory), is_frozen, written)
        }),
        fail_on: match flags.fail_on_results {
            None => FailOn::Nothing,
            Some(Severity::Error) => FailOn::Error,
            Some(Severity::Warning) => FailOn::Warning,
        },
    }
}

/// The installed plugins, and the facts of bundles about kinds. Their files are read when an object
/// asks for a plugin; an environment is synced first of all (M05).
fn manager(
    flags: &PluginFlags,
    directory: &Path,
    offline: bool,
    may_sync: bool,
    host: Option<PathBuf>,
) -> Result<(Managed, Vec<PathBuf>)> {
    let is_frozen = managed::is_frozen(flags.frozen);
    let environment = managed::environment(flags.environment.as_deref())?;
    // Bundles are in no lock file: where only what is locked may be used, they are not fetched.
    if let Some(environment) = &environment
        && let Some(server) =
            environment.sync.as_deref().filter(|_| may_sync && !offline && !flags.no_sync && !is_frozen)
    {
        sync_environment(environment, server, &managed::policy(Some(is_frozen))?)
            .with_context(|| format!("syncing the environment '{}' (--no-sync takes it as it is)", environment.name))?;
    }
    let bundles = environment.as_ref().map_or(Ok(Vec::new()), Environment::bundles)?;
    let bundled: Vec<PathBuf> = bundles.iter().flat_map(MachineBundle::schemas).collect();
    if let Some(synced) = environment.as_ref().map_or(Ok(None), Environment::synced_bundle)?
        && !synced.bundle.schemas().is_empty()
    {
        let policy = managed::policy(Some(is_frozen))?;
        policy.check_unlocked(
            &format!("a schema that was synced for '{}'", synced.environment),
            ADD_SOURCE,
            directory,
        )?;
        synced.check(&policy.trust)?;
    }
    let directory = directory.to_owned();
    let (variable, children) = (managed::variable, signals::children().clone());
    // A plugin that the build installs has the isolation of a plugin that runs.
    let isolation = Isolation { installed: isolation(flags, variable).installed, ..Isolation::default() };
    let options = PluginOptions { host, variable, children, isolation, ..PluginOptions::default() };
    let required = managed::schemas(&directory, environment.as_ref(), is_frozen, offline, &options)?;
    // Of two schemas for one kind the later counts.
    let schemas = required.into_iter().chain(bundled).rev().collect();
    let make = move || managed::for_build(&directory, environment.as_ref(), is_frozen, offline, &options);
    Ok((Managed::new(make), schemas))
}
