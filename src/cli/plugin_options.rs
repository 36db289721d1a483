//! The options of plugins, from the flags, the environment and the files of the machine.

use crate::cli::flags::plugins::{IsolationLevel, PluginFlags, Severity};
use crate::cli::installer::install_missing;
use crate::cli::machine::{self, inputs};
use crate::cli::sync::sync_environment;
use crate::cli::variable::variable;
use crate::cli::{cache, plugin_host, signals, status_line, writer};
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
use crate::plugin::options::{FailOn, FunctionOptions, Images};
use crate::plugin::permissions::real;
use crate::plugin::{PluginOptions, locate};
use anyhow::{Context, Result, bail};
use rustomize_base::shown;
use rustomize_process::Limits;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// The time limit of one call, unless a flag sets one.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The plugins of a build without plugins.
pub fn disabled() -> ManagedPlugins {
    ManagedPlugins::new(PluginOptions::default(), Managed::default())
}

/// The use of the network to prepare plugins.
#[derive(Clone, Copy)]
pub struct NetworkUse {
    /// True if nothing is fetched.
    pub offline: bool,
    /// True if the environment may be synced.
    pub may_sync: bool,
}

/// The plugins for the kustomization in a directory, and the files with schemas.
///
/// # Errors
/// The environment does not exist, or cannot be synced.
pub fn of_directory(
    flags: &PluginFlags,
    directory: &Path,
    network: NetworkUse,
) -> Result<(ManagedPlugins, Vec<PathBuf>)> {
    let host = plugin_host::program();
    let (managed, schemas) = manager(flags, directory, network, host.clone())?;
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
        host,
        homes: locate::homes(|name| variable(name).map(Into::into)),
        stderr: writer::relay,
        shows_stderr: true,
        variable,
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
    if machine::is_frozen(None) || !stdin.is_terminal() || !writer::stderr_is_terminal() {
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

/// A limit of a flag; 0 means no limit.
fn limit(most: u64) -> Option<u64> {
    Some(most).filter(|&most| most > 0)
}

/// The time limit of one call; `None` for no limit.
fn timeout(flags: &PluginFlags) -> Option<Duration> {
    Some(flags.plugin_timeout.unwrap_or(TIMEOUT)).filter(|t| !t.is_zero())
}

/// The limits of one call of helm, whose stderr is not shown.
pub fn limits(flags: &PluginFlags) -> Limits {
    let memory = limit(flags.plugin_memory_limit);
    let processes = limit(flags.plugin_process_limit);
    Limits { timeout: timeout(flags), output: flags.plugin_output_limit, memory, processes, stderr: |_| {} }
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
        stderr: writer::relay,
        shows_stderr: true,
        variable,
        children: signals::children().clone(),
        functions: FunctionOptions { engine: engine().clone(), ..FunctionOptions::default() },
        ..PluginOptions::default()
    }
}

/// The user of this process, in the form of container engines.
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

/// The installed plugins, and the schemas of bundles. Files are read when an object asks for a
/// plugin; an environment is synced first.
fn manager(
    flags: &PluginFlags,
    directory: &Path,
    NetworkUse { offline, may_sync }: NetworkUse,
    host: Option<PathBuf>,
) -> Result<(Managed, Vec<PathBuf>)> {
    let is_frozen = machine::is_frozen(flags.frozen);
    let environment = machine::environment(flags.environment.as_deref())?;
    // Bundles are in no lock file. If only locked plugins may be used, bundles are not fetched.
    if let Some(environment) = &environment
        && let Some(server) =
            environment.sync.as_deref().filter(|_| may_sync && !offline && !flags.no_sync && !is_frozen)
    {
        sync_environment(environment, server, &machine::policy(Some(is_frozen))?).with_context(|| {
            format!("syncing the environment '{}' (--no-sync uses it as it was synced last)", environment.name)
        })?;
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
    let (variable, children) = (variable, signals::children().clone());
    // A plugin that the build installs gets the isolation of a plugin that runs.
    let isolation = Isolation { installed: isolation(flags, variable).installed, ..Isolation::default() };
    let options = PluginOptions { host, variable, children, isolation, ..PluginOptions::default() };
    let required = schemas(&directory, environment.as_ref(), is_frozen, offline, &options)?;
    // If two schemas describe one kind, the later one is used.
    let schemas = required.into_iter().chain(bundled).rev().collect();
    let make = move || for_build(&directory, environment.as_ref(), is_frozen, offline, &options);
    Ok((Managed::new(make), schemas))
}

/// The places where a build searches the plugins of a directory and an environment, and its policy.
/// Missing plugins are installed unless the build is offline. A machine without a home has no
/// plugins.
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

/// As [`inputs`]; missing plugins are installed unless the build is offline.
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

/// The schema files of the bundles that a directory and an environment require. A machine without a
/// home has none. Trust rules are read only if there is a bundle.
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
    // The first object that asks for a plugin gets the error about the root.
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
