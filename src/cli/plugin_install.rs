//! `plugin install`, `lock`, `add`, `trust`, `sync` and `serve`: what the user says, for the
//! installer and what stands around it.

use super::args::{Add, Install, Lock as LockArgs, Serve, Sync, Trust as TrustArgs};
use super::cache;
use super::managed::{environment, manager, policy, trust_file, variable};
use super::plugin::{constraint_of, halves, parse};
use super::progress::Progress;
use super::report::Report;
use super::signals;
use crate::atomic;
use crate::manager::fetch::origin::Origin;
use crate::manager::fetch::{Base, FetchLimits, Transfer, token_variable};
use crate::manager::id::name::Platform;
use crate::manager::id::pattern::Pattern;
use crate::manager::id::requirement::Requirement;
use crate::manager::id::source::{Source, SourceError};
use crate::manager::install::{Event, Installer};
use crate::manager::policy::Policy;
use crate::manager::policy::amend::{Amended, Amendment, quoted};
use crate::manager::policy::environment::Environment;
use crate::manager::policy::lock::{self, Lock};
use crate::manager::policy::requirements::{self, Requirements};
use crate::manager::resolve::Manager;
use crate::manager::share::placement;
use crate::manager::share::serve;
use crate::manager::share::sync::{self, Synced};
use crate::manager::store::discover::{Installed, candidates, choose};
use crate::manager::store::locked::LockedRoot;
use crate::manager::store::root;
use crate::plugin::PluginOptions;
use crate::plugin::permissions::Permissions;
use anyhow::{Result, anyhow, bail};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The root of installed plugins, which nobody else writes to then.
pub fn locked_root() -> Result<LockedRoot> {
    let waiting = || drop(writeln!(std::io::stderr(), "Waiting for another installation"));
    Ok(LockedRoot::lock(&root::root(variable)?, waiting)?)
}

/// Runs `plugin trust`.
///
/// # Errors
/// The rule is none, or the file cannot be written.
pub fn add_trust(args: &TrustArgs, is_json: bool) -> Result<()> {
    let (path, _) = trust_file()?;
    let old = match std::fs::read_to_string(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let Some(source) = &args.source else {
        write!(std::io::stdout(), "{old}")?;
        return Ok(());
    };
    let wrong = |e: SourceError| {
        let hint = e.hint().map_or_else(String::new, |hint| format!("\n  {hint}"));
        anyhow!("the pattern '{source}' {e}{hint}")
    };
    let granted = Permissions {
        network: args.allow_net,
        read: args.allow_read.clone(),
        write: args.allow_write.clone(),
        sockets: args.allow_socket.clone(),
        env: args.allow_env.clone(),
    };
    if let Some(fault) = granted.fault() {
        bail!("{fault}");
    }
    let amendment = Amendment {
        pattern: Pattern::parse(source).map_err(wrong)?,
        from: Origin::of_rule(source, args.from.as_deref().unwrap_or_default(), Path::new("."))?,
        is_denied: args.deny,
        keys: args.keys.clone(),
        min_age: args.min_release_age.clone(),
        granted,
    };
    let Amended { text, rule } = amendment.amend(&path, &old)?;
    replace(&path, &text)?;
    let mut report = Report::default();
    report.add(format!("{}: - {rule}", path.display()), json!({ "path": path, "rule": rule }));
    report.print(is_json)
}

/// Writes a file of the user, and makes its directory.
fn replace(path: &Path, text: &str) -> Result<()> {
    std::fs::create_dir_all(atomic::folder_of(path))?;
    Ok(atomic::write(path, text.as_bytes(), 0o644)?)
}

fn transfer(offline: bool, size: u64, progress: Option<&Progress>) -> Transfer {
    let cache = cache::writable();
    let secret = |host: &str| variable(&token_variable(host)?)?.into_string().ok();
    let transfer =
        Transfer::new(FetchLimits { size, ..FetchLimits::default() }, cache, offline, signals::children().clone())
            .with_secrets(secret);
    match progress.and_then(Progress::watch) {
        Some(watch) => transfer.watched(watch),
        None => transfer,
    }
}

/// Runs `plugin install`.
///
/// # Errors
/// What the installer says.
pub fn install(args: &Install, is_json: bool, options: &PluginOptions) -> Result<()> {
    match &args.what {
        Some(what) => one(args, what, is_json, options),
        None => project(args, is_json, options),
    }
}

/// Everything that `plugins.yaml` names.
fn project(args: &Install, is_json: bool, options: &PluginOptions) -> Result<()> {
    required(&args.directory)?;
    let installed = install_project(args, options)?;
    report(installed.values()).print(is_json)
}

/// Installs what the `plugins.yaml` of a directory names, and locks what was not locked. Whoever
/// needs those plugins calls this.
///
/// # Errors
/// What the installer says; or only what is locked may be installed, and nothing is.
pub fn install_project(args: &Install, options: &PluginOptions) -> Result<BTreeMap<Source, Installed>> {
    let (directory, policy) = (args.directory.as_path(), policy(args.frozen)?);
    let wanted = Requirements::read(directory)?.plugins;
    let known = Lock::read(directory)?;
    if policy.is_frozen && known.is_none() {
        bail!(
            "there is no {} in '{}', and nothing may be installed that is not locked\n  run 'rustomize plugin lock' and commit it",
            lock::FILE,
            directory.display()
        );
    }
    let done = run(args, &wanted, known.clone().unwrap_or_default(), (&policy, !policy.is_frozen), options)?;
    if !policy.is_frozen && known.as_ref() != Some(&done.lock) {
        done.lock.write(directory)?;
    }
    Ok(done.installed)
}

/// What came of an installation.
struct Done {
    installed: BTreeMap<Source, Installed>,
    lock: Lock,
}

/// Installs what is wanted, and what that needs, and tells on stderr what happens. `known` is what
/// is locked; with the policy comes whether all platforms are locked.
fn run(
    args: &Install,
    wanted: &[Requirement],
    known: Lock,
    (policy, all_platforms): (&Policy, bool),
    options: &PluginOptions,
) -> Result<Done> {
    let root = locked_root()?;
    let progress = Progress::new();
    let transfer = transfer(args.offline, args.size_limit, Some(&progress));
    let tell = |event: Event<'_>| progress.tell(event);
    let mut installer = Installer::new(&root, &transfer, options, policy, &tell);
    (installer.known, installer.all_platforms) = (known, all_platforms);
    installer.parallel = args.parallel;
    installer.install(wanted, &Base::new(&args.directory))?;
    Ok(Done { installed: installer.done, lock: installer.lock })
}

/// Installs what a directory needs, if something of it is not there, and gives whether it was not.
/// It costs a look at what is.
///
/// # Errors
/// As [`install_project`].
pub fn ensure(manager: &Manager, options: &PluginOptions) -> Result<bool> {
    let mut has_installed = false;
    for project in &manager.projects {
        // What cannot be used is said where it is asked for, with its place.
        let is_missing = |wanted: &Requirement| matches!(manager.installed(project, wanted), Ok(None));
        if project.requirements.plugins.iter().any(is_missing) {
            let args = Install { frozen: Some(manager.policy.is_frozen), ..Install::of(&project.directory) };
            install_project(&args, options)?;
            has_installed = true;
        }
    }
    Ok(has_installed)
}

fn report<'d>(done: impl Iterator<Item = &'d Installed>) -> Report {
    let mut report = Report::default();
    for installed in done {
        let (source, version) = (installed.source.to_string(), installed.file.version.to_string());
        let line = format!("{source} v{version}: {}", installed.path.display());
        let value = json!({ "source": source, "version": version, "sha256": installed.sum, "path": installed.path });
        report.add(line, value);
    }
    report
}

/// A single plugin, which no file names.
fn one(args: &Install, what: &str, is_json: bool, options: &PluginOptions) -> Result<()> {
    report(install_one(args, what, options)?.iter()).print(is_json)
}

/// Installs a single plugin, and what it needs. Where the `plugins.yaml` of the directory names it,
/// as that and `plugins.lock` say (U32).
///
/// # Errors
/// What the installer says.
pub fn install_one(args: &Install, what: &str, options: &PluginOptions) -> Result<Vec<Installed>> {
    if !args.no_project && args.path.is_none() && args.from.is_none() {
        let required = Requirements::read(&args.directory)?.plugins.into_iter();
        let named = required.into_iter().find(|r| r.name == what || r.source.to_string() == what);
        if let Some(required) = named {
            return install_required(args, required, options);
        }
    }
    let (source, constraint) = halves(what);
    let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
    let policy = policy(args.frozen)?;
    policy.check_unlocked(&format!("'{source}'"))?;
    let from = match (&args.path, &args.from) {
        (Some(_), _) if !constraint.is_any() => {
            bail!("--path says which plugin is meant: '{what}' may not have a constraint")
        }
        (Some(path), _) => std::path::absolute(path)?.display().to_string(),
        (None, Some(from)) => from.clone(),
        (None, None) => String::new(),
    };
    // What is there will do (U29, U30), but where that is not what is asked for (U31).
    if args.path.is_none() && !args.exact {
        let wanted = if constraint.exact().is_some() { Default::default() } else { constraint.clone() };
        let found = candidates(&root::root(variable)?, &source, &Platform::host());
        if let Some(there) = choose(found, &wanted).map(|verified| verified.installed)
            && constraint.exact().is_none_or(|exact| there.file.version >= exact)
            && policy.trust.check_installed(&there).is_ok()
        {
            if !constraint.allows(&there.file.version) {
                let version = &there.file.version;
                writeln!(
                    std::io::stderr(),
                    "v{version} is installed, which is higher: it stays; --exact installs {constraint}"
                )?;
            }
            return Ok(vec![there]);
        }
    }
    let name = source.name().to_owned();
    let wanted =
        Requirement { name, source, constraint, from, parameters: String::new(), provides: Vec::new(), place: None };
    Ok(run(args, &[wanted], Lock::default(), (&policy, false), options)?.installed.into_values().collect())
}

/// One of the plugins that `plugins.yaml` names, and what it needs.
fn install_required(args: &Install, wanted: Requirement, options: &PluginOptions) -> Result<Vec<Installed>> {
    let known = Lock::read(&args.directory)?;
    let policy = policy(args.frozen)?;
    let done = run(args, &[wanted], known.clone().unwrap_or_default(), (&policy, !policy.is_frozen), options)?;
    if !policy.is_frozen {
        let mut lock = known.clone().unwrap_or_default();
        lock.plugins.extend(done.lock.plugins);
        if known.as_ref() != Some(&lock) {
            lock.write(&args.directory)?;
        }
    }
    Ok(done.installed.into_values().collect())
}

/// Runs `plugin lock`.
///
/// # Errors
/// What the installer says, or with `--check` that the file would change.
pub fn lock(args: &LockArgs, is_json: bool, options: &PluginOptions) -> Result<()> {
    let wanted = required(&args.directory)?;
    let old = Lock::read(&args.directory)?;
    let mut known = old.clone().unwrap_or_default();
    if let Some(names) = &args.upgrade {
        if let Some(unknown) = names.iter().find(|name| !wanted.iter().any(|w| w.name == **name)) {
            bail!("{} names no plugin '{unknown}'", requirements::FILE);
        }
        let is_upgraded = |source: &str| {
            let named = wanted.iter().find(|w| w.source.to_string() == source);
            names.is_empty() || named.is_some_and(|w| names.contains(&w.name))
        };
        known.plugins.retain(|source, _| !is_upgraded(source));
    }
    let (parallel, size_limit) = (args.parallel, args.size_limit);
    let install = Install { parallel, size_limit, ..Install::of(&args.directory) };
    let lock = run(&install, &wanted, known, (&policy(Some(args.check))?, true), options)?.lock;
    let is_other = old.as_ref() != Some(&lock);
    if args.check {
        if is_other {
            bail!(
                "'{}' is not what '{}' asks for\n  run 'rustomize plugin lock' and commit it",
                args.directory.join(lock::FILE).display(),
                requirements::FILE
            );
        }
        return Ok(());
    }
    if is_other {
        lock.write(&args.directory)?;
    }
    let mut report = Report::default();
    for (source, locked) in &lock.plugins {
        let platforms: Vec<&str> = locked.platforms.keys().map(String::as_str).collect();
        let value = json!({ "source": source, "version": locked.version, "platforms": platforms });
        report.add(format!("{source} v{}: {}", locked.version, platforms.join(", ")), value);
    }
    report.print(is_json)
}

/// Runs `plugin add`. Neither file changes before the plugin is installed.
///
/// # Errors
/// It is there already, or what the installer says.
pub fn add(args: &Add, is_json: bool, options: &PluginOptions) -> Result<()> {
    let (source, constraint) = halves(&args.what);
    let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
    let name = args.name.as_deref().unwrap_or(source.name());
    let path = args.directory.join(requirements::FILE);
    let old = match std::fs::read_to_string(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let from = args.from.as_deref().unwrap_or_default();
    let line = |constraint: &str| {
        let version = if constraint.is_empty() { String::new() } else { format!(", version: {}", quoted(constraint)) };
        let from = if from.is_empty() { String::new() } else { format!(", from: {}", quoted(from)) };
        format!("{{source: {source}{version}{from}}}")
    };
    let text = requirements::with(
        &old,
        name,
        &line(&if constraint.is_any() { String::new() } else { constraint.to_string() }),
    )?;
    let wanted = Requirements::parse(&path.display().to_string(), text.clone())?.plugins;
    let known = Lock::read(&args.directory)?.unwrap_or_default();
    let Done { installed, mut lock } =
        run(&Install::of(&args.directory), &wanted, known, (&policy(Some(false))?, true), options)?;
    // As cargo does it: whatever is compatible with what was found.
    let found = installed.get(&source).map(|installed| installed.file.version.to_string());
    let is_released = !from.starts_with('.') && !from.starts_with('/') && !from.contains("{version}");
    let compatible = found.filter(|_| constraint.is_any() && is_released).map(|version| {
        let (minor, _) = version.rsplit_once('.').unwrap_or((&version, ""));
        format!("~> {minor}")
    });
    let text = match compatible {
        None => text,
        Some(compatible) => {
            if let Some(locked) = lock.plugins.get_mut(&source.to_string()) {
                locked.constraint.clone_from(&compatible);
            }
            requirements::with(&old, name, &line(&compatible))?
        }
    };
    replace(&path, &text)?;
    lock.write(&args.directory)?;
    report(installed.values()).print(is_json)
}

/// Runs `plugin sync`.
///
/// # Errors
/// A plugin is not installed, or something else is in its place; or the server of an environment
/// cannot be asked.
pub fn sync(args: &Sync, is_json: bool, options: &PluginOptions) -> Result<()> {
    let mut report = Report::default();
    let Some(placement) = &args.placement else {
        let Some(environment) = environment(args.environment.as_deref())? else { bail!("there is no environment") };
        let Some(server) = args.from.as_deref().or(environment.sync.as_deref()) else {
            bail!(
                "nothing says from which server '{}' is synced\n  say it: --from URL, or 'sync: URL' in its environment.yaml",
                environment.name
            );
        };
        let done = sync_environment(&environment, server, &policy(args.frozen)?)?;
        let Synced { files, fetched, removed } = done;
        let value = json!({ "environment": environment.name, "files": files, "fetched": fetched, "removed": removed });
        report.add(format!("{}: {files} files, {fetched} fetched, {removed} removed", environment.name), value);
        return report.print(is_json);
    };
    let policy = policy(args.frozen)?;
    ensure(&manager(&args.directory, None, policy.clone())?, options)?;
    let everything = manager(&args.directory, None, policy)?.everything(options)?;
    let changes = placement::lay(placement, &everything, args.dry_run)?;
    for (source, why) in &changes.left_out {
        writeln!(std::io::stderr(), "Left out: {source}: {why}")?;
    }
    for (sign, paths) in [("+", &changes.written), ("-", &changes.removed)] {
        for path in paths {
            let change = if sign == "+" { "written" } else { "removed" };
            report.add(format!("{sign} {}", path.display()), json!({ "path": path, "change": change }));
        }
    }
    report.print(is_json)
}

/// Makes what was synced for an environment what its server has.
///
/// # Errors
/// The server is not trusted or cannot be asked, or it cannot be written.
pub fn sync_environment(environment: &Environment, server: &str, policy: &Policy) -> Result<Synced> {
    let server = server.trim_end_matches('/');
    policy.trust.check_server(server, &environment.name)?;
    let Some(place) = &environment.synced else {
        bail!("no place to sync to: set HOME, XDG_CACHE_HOME or RUSTOMIZE_CACHE_DIR")
    };
    Ok(sync::sync(&transfer(false, FetchLimits::default().size, None), server, &environment.name, place)?)
}

/// Runs `plugin serve`, until it is ended.
///
/// # Errors
/// There is no environment, or it cannot listen.
pub fn serve(args: &Serve) -> Result<()> {
    let Some(environment) = environment(args.environment.as_deref())? else {
        bail!(
            "there is no environment 'default'\n  make one below '{}'",
            root::configuration(variable)?.join("environments").display()
        );
    };
    let listener = std::net::TcpListener::bind(&args.listen)?;
    writeln!(std::io::stdout(), "Serving '{}' on http://{}", environment.name, listener.local_addr()?)?;
    std::io::stdout().flush()?;
    serve::serve(&listener, &environment, &|line| drop(writeln!(std::io::stderr(), "{line}")));
    Ok(())
}

/// What the file of a directory names, which has to be there.
fn required(directory: &Path) -> Result<Vec<Requirement>> {
    let path: PathBuf = directory.join(requirements::FILE);
    if !path.is_file() {
        bail!(
            "there is no '{}'\n  it names the plugins that a kustomization needs; to install one without it: rustomize plugin install SOURCE",
            path.display()
        );
    }
    Ok(Requirements::read(directory)?.plugins)
}
