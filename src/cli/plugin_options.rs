//! The options of plugins, from the flags, the environment and the files of the machine.

use crate::cli::flags::plugins::{IsolationLevel, PluginFlags, Severity};
use crate::cli::installer::install_missing;
use crate::cli::machine::{self, inputs};
use crate::cli::sync::sync_environment;
use crate::cli::variable::variable;
use crate::cli::{cache, host};
use crate::diag::{Code, Error};
use crate::manager::policy::Policy;
use crate::manager::policy::environment::{Environment, MachineBundle};
use crate::manager::policy::project_directory::ProjectDirectory;
use crate::manager::policy::{ADD_SOURCE, image};
use crate::manager::resolve;
use crate::manager::resolve::inputs::Inputs;
use crate::manager::resolve::plugins::{Managed, ManagedPlugins};
use crate::manager::resolve::project::Project;
use crate::manager::store::root::{self, RootError};
use crate::plugin::engine::{self, Engine};
use crate::plugin::isolation::{Isolation, Level};
use crate::plugin::options::{FailOn, FunctionOptions, GoAdoption, Images};
use crate::plugin::permissions::real;
use crate::plugin::{PluginOptions, locate};
use anyhow::{Context, Result, bail};
use rustomize_process::Limits;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::LazyLock;
use std::time::Duration;

/// How long one call may take where no flag says it.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The plugins of a build that runs none.
pub fn disabled() -> ManagedPlugins {
    ManagedPlugins::new(PluginOptions::default(), Managed::default())
}

/// The plugins for the kustomization in a directory, and the files with facts about kinds.
///
/// # Errors
/// The environment is not there, or cannot be synced.
pub fn of_directory(
    flags: &PluginFlags,
    directory: &Path,
    offline: bool,
    may_sync: bool,
) -> Result<(ManagedPlugins, Vec<PathBuf>)> {
    let (managed, schemas) = manager(flags, directory, offline, may_sync)?;
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
        functions: functions(flags, directory),
    };
    Ok((ManagedPlugins::new(options, managed), schemas))
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
pub fn limits(flags: &PluginFlags) -> Limits {
    let memory = limit(flags.plugin_memory_limit);
    let processes = limit(flags.plugin_process_limit);
    Limits { timeout: timeout(flags), output: flags.plugin_output_limit, memory, processes }
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
pub fn engine() -> &'static Engine {
    static ENGINE: LazyLock<Engine> =
        LazyLock::new(|| Engine::new(variable(engine::VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from)));
    &ENGINE
}

/// The options of functions that run without a build, as `fn run` runs them.
pub fn for_functions() -> PluginOptions {
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

/// The user of this process, as engines of containers name a user.
pub fn current_user() -> String {
    format!("{}:{}", rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw())
}

fn functions(flags: &PluginFlags, directory: &Path) -> FunctionOptions {
    let (directory, is_frozen) = (directory.to_owned(), machine::is_frozen(flags.frozen));
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
            image::for_build(&machine::lock_directories(root, &directory), is_frozen, written)
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
fn manager(flags: &PluginFlags, directory: &Path, offline: bool, may_sync: bool) -> Result<(Managed, Vec<PathBuf>)> {
    let is_frozen = machine::is_frozen(flags.frozen);
    let environment = machine::environment(flags.environment.as_deref())?;
    // Bundles are in no lock file: where only what is locked may be used, they are not fetched.
    if let Some(environment) = &environment
        && let Some(server) =
            environment.sync.as_deref().filter(|_| may_sync && !offline && !flags.no_sync && !is_frozen)
    {
        sync_environment(environment, server, &machine::policy(Some(is_frozen))?)
            .with_context(|| format!("syncing the environment '{}' (--no-sync takes it as it is)", environment.name))?;
    }
    let bundles = environment.as_ref().map_or(Ok(Vec::new()), Environment::bundles)?;
    let bundled: Vec<PathBuf> = bundles.iter().flat_map(MachineBundle::schemas).collect();
    if let Some(synced) = environment.as_ref().map_or(Ok(None), Environment::synced_bundle)?
        && !synced.bundle.schemas().is_empty()
    {
        let policy = machine::policy(Some(is_frozen))?;
        policy.check_unlocked(
            &format!("a schema that was synced for '{}'", synced.environment),
            ADD_SOURCE,
            directory,
        )?;
        synced.check(&policy.trust)?;
    }
    let directory = directory.to_owned();
    // A plugin that the build installs has the isolation of a plugin that runs.
    let isolation = Isolation { installed: isolation(flags, variable).installed, ..Isolation::default() };
    let options =
        PluginOptions { host: host::host(), children: host::children().clone(), isolation, ..PluginOptions::default() };
    let required = schemas(&directory, environment.as_ref(), is_frozen, offline, &options)?;
    // Of two schemas for one kind the later counts.
    let schemas = required.into_iter().chain(bundled).rev().collect();
    let make = move || for_build(&directory, environment.as_ref(), is_frozen, offline, &options);
    Ok((Managed::new(make), schemas))
}

/// Where a build looks for the plugins of a directory and an environment, and its policy. Missing
/// plugins are installed unless the build is offline. A machine without a home has no plugins.
///
/// # Errors
/// As [`inputs`].
fn for_build(
    directory: &Path,
    environment: Option<&Environment>,
    is_frozen: bool,
    offline: bool,
    options: &PluginOptions,
) -> Result<(Inputs, Policy), Error> {
    let is_homeless = matches!(root::root(variable), Err(RootError::NoHome));
    if is_homeless && Project::read(&ProjectDirectory::named(directory))?.is_empty() {
        return Ok(Default::default());
    }
    let policy = machine::policy(Some(is_frozen)).map_err(plain)?;
    Ok((installing_inputs(directory, environment, &policy, offline, options)?, policy))
}

/// [`inputs`] that install missing plugins unless the build is offline.
fn installing_inputs(
    directory: &Path,
    environment: Option<&Environment>,
    policy: &Policy,
    offline: bool,
    options: &PluginOptions,
) -> Result<Inputs, Error> {
    let mut inputs = inputs(directory, environment, policy).map_err(plain)?;
    if !offline {
        let (options, is_frozen) = (options.clone(), policy.is_frozen);
        let install =
            move |directory: &ProjectDirectory| install_missing(directory, is_frozen, &options).map_err(plain);
        inputs.install = Some(Arc::new(install));
    }
    Ok(inputs)
}

/// The files with schemas of the bundles that a directory and an environment require. A machine
/// without a home has none. Trust rules are read where there is a bundle.
///
/// # Errors
/// A required bundle cannot be installed or used.
fn schemas(
    directory: &Path,
    environment: Option<&Environment>,
    is_frozen: bool,
    offline: bool,
    options: &PluginOptions,
) -> Result<Vec<PathBuf>, Error> {
    // A fault of the root is reported to the first object that asks for a plugin.
    if root::root(variable).is_err() {
        return Ok(Vec::new());
    }
    let unread = Policy { is_frozen, ..Policy::default() };
    let bundles = installing_inputs(directory, environment, &unread, offline, options)?.required_bundles(&unread)?;
    let trust = || machine::trust().map_err(plain);
    if bundles.is_empty() { Ok(Vec::new()) } else { resolve::schemas::schemas(&bundles, &trust()?) }
}

/// Turns an error of a command into an error of the library.
fn plain(error: anyhow::Error) -> Error {
    error.downcast().unwrap_or_else(|error| Error::new(Code::BadPlugin, format!("{error:#}")))
}
