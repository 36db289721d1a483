//! The options of plugins, from the flags, the environment and the files of the machine.

use crate::flags::plugins::{IsolationLevel, PluginFlags, Severity};
use crate::machine::machine;
use crate::variable::variable;
use crate::{cache, host, user};
use anyhow::{Result, bail};
use rustomize_manager::resolve::build_scope::BuildScope;
use rustomize_manager::resolve::plugins::{Managed, ManagedPlugins};
use rustomize_manager::share::synced::Syncing;
use rustomize_plugins::container_engine::{self, ContainerEngine};
use rustomize_plugins::isolation::{Isolation, Level};
use rustomize_plugins::options::{FailOn, FunctionOptions, GoAdoption};
use rustomize_plugins::permissions::real;
use rustomize_plugins::{PluginOptions, locate};
use rustomize_process::Limits;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The time limit of one call, unless a flag sets one.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The plugins of a build without plugins.
pub(super) fn disabled() -> ManagedPlugins {
    ManagedPlugins::new(PluginOptions::default(), Managed::default())
}

/// The directory that plugins are for, and the servers that they may come from.
pub(super) struct PluginPlace<'p> {
    pub directory: &'p Path,
    /// True if nothing is fetched.
    pub offline: bool,
    /// Whether the environment is synced.
    pub syncing: Syncing,
}

/// The plugins of a build.
pub(super) struct BuildPlugins {
    pub plugins: ManagedPlugins,
    /// The files with schemas of bundles.
    pub schemas: Vec<PathBuf>,
}

/// The plugins for the kustomization in a directory.
///
/// # Errors
/// The environment does not exist, or cannot be synced.
pub(super) fn of_directory(flags: &PluginFlags, place: PluginPlace<'_>) -> Result<BuildPlugins> {
    let scope = scope(flags, &place)?;
    let syncing = if place.offline || flags.no_sync { Syncing::UsesLastSync } else { place.syncing };
    let schemas = scope.schemas(syncing)?;
    let isolation = isolation(flags, variable);
    if let Some(fault) = isolation.permissions().below_write(None) {
        bail!("{fault}");
    }
    let options = PluginOptions {
        enabled: true,
        timeout: timeout(flags),
        output_limit: flags.plugin_output_limit,
        isolation,
        memory_limit: limit(flags.plugin_memory_limit),
        process_limit: limit(flags.plugin_process_limit),
        host: host::host(),
        homes: locate::homes(|name| variable(name).map(Into::into)),
        shows_stderr: true,
        go_hosts: cache::go_hosts(),
        go_adoption: if flags.adopt_go_plugins { GoAdoption::Always } else { GoAdoption::Asked },
        children: host::children().clone(),
        functions: functions(flags, &scope),
    };
    Ok(BuildPlugins { plugins: ManagedPlugins::new(options, Managed::in_scope(scope)), schemas })
}

/// Where the build of a directory looks for installed plugins. Missing plugins are installed,
/// unless the build is offline.
fn scope(flags: &PluginFlags, place: &PluginPlace<'_>) -> Result<BuildScope> {
    let machine = machine();
    let environment = machine.environment(flags.environment.as_deref())?;
    // A plugin that the build installs has the isolation of a plugin that runs.
    let isolation = Isolation { installed: isolation(flags, variable).installed, ..Isolation::default() };
    let options = || PluginOptions {
        host: Arc::clone(&machine.host),
        children: machine.children.clone(),
        isolation,
        ..PluginOptions::default()
    };
    Ok(BuildScope {
        directory: place.directory.to_owned(),
        environment,
        is_frozen: machine.is_frozen(flags.frozen),
        installs: (!place.offline).then(options),
        machine,
    })
}

/// A limit of a flag; 0 means no limit.
fn limit(most: u64) -> Option<u64> {
    Some(most).filter(|&most| most > 0)
}

/// The time limit of one call; `None` for no limit.
fn timeout(flags: &PluginFlags) -> Option<Duration> {
    Some(flags.plugin_timeout.unwrap_or(TIMEOUT)).filter(|t| !t.is_zero())
}

/// The limits of one call of helm, whose stderr is not shown.
pub(super) fn limits(flags: &PluginFlags) -> Limits {
    let memory = limit(flags.plugin_memory_limit);
    let processes = limit(flags.plugin_process_limit);
    Limits { timeout: timeout(flags), output: flags.plugin_output_limit, memory, processes }
}

/// Variables for the places of programs and the language of messages, without data of the user.
const PLAIN_VARIABLES: [&str; 6] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ"];

fn isolation(flags: &PluginFlags, variable: impl Fn(&str) -> Option<OsString>) -> Isolation {
    let said = flags.plugin_isolation.map(|said| match said {
        IsolationLevel::Off => Level::Off,
        IsolationLevel::Auto => Level::Auto,
        IsolationLevel::Strict => Level::Strict,
    });
    let names = PLAIN_VARIABLES.into_iter().chain(flags.plugin_allow_env.iter().map(String::as_str));
    // Plugins run in other directories. The present target of a link is granted, and not the target
    // that a plugin may give the link later.
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

/// The engine that runs containers. All builds of this process share it, and it is searched once.
pub(super) fn engine() -> &'static ContainerEngine {
    static ENGINE: LazyLock<ContainerEngine> = LazyLock::new(|| {
        ContainerEngine::new(variable(container_engine::VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from))
    });
    &ENGINE
}

/// The options of functions that run without a build, as `fn run` runs them.
pub(super) fn for_functions() -> PluginOptions {
    PluginOptions {
        enabled: true,
        timeout: Some(TIMEOUT),
        shows_stderr: true,
        host: host::host(),
        children: host::children().clone(),
        functions: FunctionOptions { engine: engine().clone(), ..FunctionOptions::default() },
        ..PluginOptions::default()
    }
}

fn functions(flags: &PluginFlags, scope: &BuildScope) -> FunctionOptions {
    FunctionOptions {
        exec: flags.enable_exec.unwrap_or(false),
        network: flags.network.unwrap_or(false),
        network_name: flags.network_name.clone(),
        mounts: flags.mount.clone(),
        variables: flags.env.clone(),
        user: flags.as_current_user.unwrap_or(false).then(user::for_containers).flatten(),
        engine: engine().clone(),
        notes_containers: flags.plugin_timeout.is_some(),
        images: scope.images(),
        fail_on: match flags.fail_on_results {
            None => FailOn::Nothing,
            Some(Severity::Error) => FailOn::Error,
            Some(Severity::Warning) => FailOn::Warning,
        },
    }
}
