//! `build`: from flags to options, and the result to where it is wanted.

use super::args::{Build, IsolationLevel, Severity};
use super::plugin_install::sync_environment;
use super::{managed, output, plugin_host};
use crate::generator::helm_chart::HelmOptions;
use crate::load::{RemoteOptions, Restrictor};
use crate::manager::environment::{Bundle, Environment};
use crate::manager::resolve::Managed;
use crate::pipeline::{self, Options, Session};
use crate::plugin::function::{FailOn, FunctionOptions};
use crate::plugin::isolation::{Isolation, Level};
use crate::plugin::{PluginOptions, locate};
use crate::resource::Order;
use crate::yaml::Arena;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Runs `build`.
///
/// # Errors
/// Flags that cannot be, a build that fails, output that cannot be written. Nothing is on stdout then.
pub fn run(args: &Build) -> Result<()> {
    let directory = match args.directory.as_slice() {
        [] => ".",
        [directory] => directory,
        _ => bail!("specify one path to kustomization.yaml"),
    };
    let options = options(args)?;
    // The process ends after this: freeing a million small lists one by one would only take time.
    let arena = std::mem::ManuallyDrop::new(Arena::new());
    let session = Session::new(&arena, options);
    let built = pipeline::build(&session, directory);
    for warning in session.take_warnings() {
        let _ = writeln!(std::io::stderr(), "{warning}");
    }
    let map = std::mem::ManuallyDrop::new(built?);
    output::write(&arena, &map, args.output.as_deref())
}

fn options(args: &Build) -> Result<Options> {
    let restrictor = match args.load_restrictor.as_str() {
        "LoadRestrictionsRootOnly" | "" => Restrictor::RootOnly,
        "LoadRestrictionsNone" => Restrictor::None,
        other => bail!(
            "illegal flag value --load-restrictor {other}; legal values: [LoadRestrictionsRootOnly LoadRestrictionsNone]"
        ),
    };
    let mut order = None;
    for value in &args.reorder {
        eprintln!("Flag --reorder has been deprecated, use the new 'sortOptions' field in kustomization.yaml instead.");
        order = Some(match value.as_str() {
            "legacy" => Order::Legacy,
            "none" => Order::Fifo,
            other => bail!("illegal flag value --reorder {other}; legal values: [legacy none]"),
        });
    }
    let managed_by_flag = args.enable_managedby_label.unwrap_or(false);
    if args.enable_managedby_label.is_some() {
        eprintln!(
            "Flag --enable-managedby-label has been deprecated, use 'buildMetadata' in kustomization.yaml instead."
        );
    }
    let (manager, schemas) = manager(args)?;
    let plugins_enabled = args.enable_alpha_plugins.unwrap_or(false);
    let variable = |name: &str| std::env::var_os(name);
    Ok(Options {
        restrictor,
        order,
        managed_by_label: managed_by_flag || variable("KUSTOMIZE_ENABLE_MANAGEDBY_LABEL").is_some_and(|v| v == "on"),
        plugins: PluginOptions {
            enabled: plugins_enabled,
            timeout: Some(args.plugin_timeout).filter(|t| !t.is_zero()),
            output_limit: args.plugin_output_limit,
            isolation: isolation(args, variable),
            memory_limit: Some(args.plugin_memory_limit).filter(|&bytes| bytes > 0),
            host: plugin_host::program(),
            homes: locate::homes(|name| variable(name).map(Into::into)),
            stderr: |bytes| drop(std::io::stderr().write_all(bytes)),
            variable: managed::variable,
            manager,
            go_hosts: go_hosts(|name| variable(name).map(Into::into)),
            functions: functions(args, variable),
        },
        remote: RemoteOptions {
            cache: args.remote_cache.clone().or_else(|| cache(|name| variable(name).map(Into::into))),
            offline: args.offline,
            timeout: args.remote_timeout,
            size_limit: args.remote_size_limit,
        },
        schemas,
        helm: HelmOptions {
            enabled: args.enable_helm.unwrap_or(false) || plugins_enabled,
            command: args.helm_command.clone(),
            api_versions: args.helm_api_versions.clone(),
            kube_version: args.helm_kube_version.clone(),
            debug: args.helm_debug.unwrap_or(false),
        },
    })
}

/// Variables that say where things are and how to speak, and nothing of the user.
const PLAIN_VARIABLES: [&str; 6] = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ"];

fn isolation(args: &Build, variable: impl Fn(&str) -> Option<OsString>) -> Isolation {
    let said = args.plugin_isolation.map(|said| match said {
        IsolationLevel::Off => Level::Off,
        IsolationLevel::Auto => Level::Auto,
        IsolationLevel::Strict => Level::Strict,
    });
    let names = PLAIN_VARIABLES.into_iter().chain(args.plugin_allow_env.iter().map(String::as_str));
    // Plugins run in other directories.
    let absolute = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())).collect()
    };
    Isolation {
        // What somebody has placed runs as under kustomize.
        level: said.unwrap_or(Level::Off),
        installed: said.unwrap_or(Level::Auto),
        is_apart: false,
        read: absolute(&args.plugin_allow_read),
        write: absolute(&args.plugin_allow_write),
        network: args.plugin_allow_net,
        variables: names.filter_map(|name| Some((name.to_owned(), variable(name)?))).collect(),
    }
}

/// What runs containers, first that is there.
pub const ENGINES: [&str; 3] = ["docker", "podman", "nerdctl"];

/// The first file of a name in the directories of `PATH`.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|path| path.join(name)).find(|path| path.is_file())
}

fn functions(args: &Build, variable: impl Fn(&str) -> Option<OsString>) -> FunctionOptions {
    let engine = variable("KRM_FN_RUNTIME").filter(|v| !v.is_empty()).map(PathBuf::from);
    let found = || ENGINES.into_iter().find(|name| in_path(name).is_some()).unwrap_or(ENGINES[0]);
    let current_user = || format!("{}:{}", rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    FunctionOptions {
        exec: args.enable_exec.unwrap_or(false),
        network: args.network.unwrap_or(false),
        mounts: args.mount.clone(),
        variables: args.env.clone(),
        user: args.as_current_user.unwrap_or(false).then(current_user),
        runtime: engine.unwrap_or_else(|| found().into()),
        fail_on: match args.fail_on_results {
            None => FailOn::Nothing,
            Some(Severity::Error) => FailOn::Error,
            Some(Severity::Warning) => FailOn::Warning,
        },
    }
}

/// What will be known of installed plugins, and what bundles say of kinds. What is needed for that is looked at when an object asks for one; an environment is synced first of all (M05).
fn manager(args: &Build) -> Result<(Managed, Vec<PathBuf>)> {
    if !args.enable_alpha_plugins.unwrap_or(false) {
        return Ok(Default::default());
    }
    let environment = managed::environment(args.environment.as_deref())?;
    if let Some(environment) = &environment
        && let Some(server) = environment.sync.as_deref().filter(|_| !args.offline && !args.no_sync)
    {
        sync_environment(environment, server)
            .with_context(|| format!("syncing the environment '{}' (--no-sync takes it as it is)", environment.name))?;
    }
    let bundles = environment.as_ref().map_or(Ok(Vec::new()), Environment::bundles)?;
    let schemas = bundles.iter().flat_map(Bundle::schemas).collect();
    let directory = PathBuf::from(args.directory.first().map_or(".", String::as_str));
    let (is_frozen, offline) = (managed::is_frozen(args.frozen), args.offline);
    let managed = Managed::new(move || {
        let (host, variable) = (plugin_host::program(), managed::variable);
        let options = PluginOptions { host, variable, ..PluginOptions::default() };
        managed::for_build(&directory, environment.as_ref(), is_frozen, offline, &options)
    });
    Ok((managed, schemas))
}

/// Where the programs are that load genuine Go plugins.
pub fn go_hosts(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    Some(cache(variable)?.join("go-hosts"))
}

/// Where this system keeps what can be fetched again.
pub fn cache(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|v| v.is_absolute());
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(caches.join("rustomize"))
}
