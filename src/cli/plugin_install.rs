//! `plugin install`, `add`, `lock` and `update`: the command line of the installer.

use super::cache;
use super::managed::{policy, secret, variable};
use super::plugin::{constraint_of, halves, parse};
use super::plugin_args::{Add, Install, Lock as LockArgs, TransferFlags, Update};
use super::plugin_images;
use super::progress::Progress;
use super::report::Report;
use super::{signals, writer};
use crate::files;
use crate::manager::fetch::{Base, FetchLimits, Transfer};
use crate::manager::id::requirement::Requirement;
use crate::manager::id::shell::in_directory;
use crate::manager::install::project::{Addition, RelockOptions, Upgrade, alone, required, sufficient};
use crate::manager::install::{InstallEvent, Installer};
use crate::manager::policy::Policy;
use crate::manager::policy::lock::{self, Lock};
use crate::manager::policy::project_directory::ProjectDirectory;
use crate::manager::policy::requirements::{self, Requirements};
use crate::manager::resolve::inputs::forget_failure;
use crate::manager::store::discover::Installed;
use crate::manager::store::exclusive::ExclusiveRoot;
use crate::manager::store::root;
use crate::plugin::PluginOptions;
use crate::shell::quoted;
use anyhow::{Result, bail};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// The directory of installed plugins, which no other process writes to meanwhile.
///
/// # Errors
/// The directory does not exist and cannot be made.
pub fn locked_root() -> Result<ExclusiveRoot> {
    let waiting = || writer::say("Waiting until another installation ends");
    Ok(ExclusiveRoot::lock(&root::root(variable)?, waiting)?)
}

/// Makes the client that fetches files, with the tokens of the environment.
pub fn transfer(offline: bool, size: u64, progress: Option<&Progress>) -> Transfer {
    let cache = cache::writable();
    let transfer =
        Transfer::new(FetchLimits { size, ..FetchLimits::default() }, cache, offline, signals::children().clone())
            .with_secrets(secret);
    match progress.and_then(Progress::watch) {
        Some(watch) => transfer.watched(watch),
        None => transfer,
    }
}

/// Calls `install` with an installer that reports on stderr. Returns the installed plugins, the
/// lock, and the result of `install`.
fn installing<T>(
    flags: TransferFlags,
    policy: &Policy,
    options: &PluginOptions,
    install: impl FnOnce(&mut Installer<'_>) -> crate::diag::Result<T>,
) -> Result<(Vec<Installed>, Lock, T)> {
    let root = locked_root()?;
    let progress = Progress::new();
    let transfer = transfer(flags.offline, flags.size_limit, Some(&progress));
    let tell = |event: InstallEvent<'_>| progress.tell(event);
    let mut installer = Installer::new(&root, &transfer, options, policy, &tell);
    installer.parallel = flags.parallel;
    let given = install(&mut installer)?;
    for (installed, cache) in installer.done.values().zip(std::iter::repeat(cache::writable())) {
        cache.inspect(|cache| forget_failure(cache, &installed.sum));
    }
    Ok((installer.done.into_values().collect(), installer.lock, given))
}

/// Waits until no other command changes the files of a directory that say which plugins it needs.
/// Taken before [`locked_root`], so that two commands never wait for each other.
fn lock_project(directory: &Path) -> Option<File> {
    files::lock(directory, || writer::say("Waiting until another command ends"))
}

/// Runs `plugin install`.
///
/// # Errors
/// The installer fails.
pub fn install(args: &Install, is_json: bool, options: &PluginOptions) -> Result<()> {
    let installed = match &args.what {
        Some(what) => install_one(args, what, options)?,
        None => {
            required(&args.directory)?;
            let policy = policy(args.frozen)?;
            let _lock = lock_project(&args.directory);
            let directory = ProjectDirectory::named(&args.directory);
            installing(args.transfer, &policy, options, |installer| installer.install_project(&directory))?.0
        }
    };
    report(&installed).print(is_json)
}

/// Installs what the `plugins.yaml` of a directory names, for a build that needs it.
///
/// # Errors
/// The installer fails.
pub fn install_missing(directory: &ProjectDirectory, is_frozen: bool, options: &PluginOptions) -> Result<()> {
    let policy = policy(Some(is_frozen))?;
    let flags = TransferFlags::default();
    let _lock = lock_project(&directory.path);
    installing(flags, &policy, options, |installer| installer.install_project(directory)).map(drop)
}

fn report(done: &[Installed]) -> Report {
    let mut report = Report::default();
    for installed in done {
        let (source, version) = (installed.source.to_string(), installed.file.version.to_string());
        let line = format!("{source} v{version}: {}", installed.path.display());
        let value = json!({ "source": source, "version": version, "sha256": installed.sum, "path": installed.path });
        report.add(line, value);
    }
    report
}

/// Installs a single plugin, and what it needs. Where the `plugins.yaml` of the directory names it,
/// as that and `plugins.lock` say (U32).
///
/// # Errors
/// The installer fails.
pub fn install_one(args: &Install, what: &str, options: &PluginOptions) -> Result<Vec<Installed>> {
    let policy = policy(args.frozen)?;
    if !args.no_project && args.path.is_none() && args.from.is_none() {
        let is_named = |r: &Requirement| r.name == what || r.source.to_string() == what;
        let named = Requirements::read(&args.directory)?.plugins.into_iter().find(is_named);
        if let Some(wanted) = named {
            let _lock = lock_project(&args.directory);
            let done = installing(args.transfer, &policy, options, |installer| {
                installer.install_required(&args.directory, wanted)
            })?;
            return Ok(done.0);
        }
    }
    let (source, constraint) = halves(what);
    let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
    let from = match (&args.path, &args.from) {
        (Some(_), _) if !constraint.is_any() => {
            bail!("'{what}' has a constraint, and --path names the exact plugin\n  hint: leave the constraint out")
        }
        (Some(path), _) => std::path::absolute(path)?.display().to_string(),
        (None, Some(from)) => from.clone(),
        (None, None) => String::new(),
    };
    let add = format!("rustomize plugin add {}", quoted(what));
    let add = if from.is_empty() { add } else { format!("{add} --from {}", quoted(&from)) };
    policy.check_unlocked(&format!("'{source}'"), &add, &args.directory)?;
    let wanted = alone(source, constraint, from);
    let base = Base::new(&args.directory);
    if args.path.is_none()
        && !args.exact
        && let Some(there) = sufficient(&root::root(variable)?, &wanted, &base, &policy)?
    {
        let constraint = &wanted.constraint;
        if !constraint.allows(&there.file.version) {
            let version = &there.file.version;
            writer::say(&format!(
                "v{version} is installed, which is higher, and is kept; --exact installs {constraint}"
            ));
        }
        return Ok(vec![there]);
    }
    let done =
        installing(args.transfer, &policy, options, |installer| installer.install_alone(&args.directory, wanted))?;
    Ok(done.0)
}

/// Runs `plugin lock`.
///
/// # Errors
/// The installer fails, or with `--check` the file would change.
pub fn lock(args: &LockArgs, is_json: bool, options: &PluginOptions) -> Result<()> {
    let upgrade = match args.upgrade.as_deref() {
        None => Upgrade::Nothing,
        Some([]) => Upgrade::All,
        Some(names) => Upgrade::Named(names),
    };
    let directory = args.project.path();
    let policy = policy(Some(args.check))?;
    let _lock = lock_project(directory);
    let images = images(directory, &args.image, (upgrade, args.check), args.transfer)?;
    let (_, lock, is_other) = installing(args.transfer, &policy, options, |installer| {
        installer.lock_project(directory, &RelockOptions { upgrade, allows_older: false, is_check: args.check, images })
    })?;
    if !args.check {
        return locked(&lock).print(is_json);
    }
    if is_other {
        bail!(
            "'{}' does not match '{}'\n  hint: lock again, then commit it: {}",
            directory.join(lock::FILE).display(),
            requirements::FILE,
            in_directory("rustomize plugin lock", directory)
        );
    }
    Ok(())
}

/// Runs `plugin update`.
///
/// # Errors
/// The installer fails.
pub fn update(args: &Update, is_json: bool, options: &PluginOptions) -> Result<()> {
    let upgrade = if args.names.is_empty() { Upgrade::All } else { Upgrade::Named(&args.names) };
    let _lock = lock_project(&args.directory);
    let before = Lock::read(&args.directory)?.unwrap_or_default();
    let images = images(&args.directory, &[], (upgrade, false), args.transfer)?;
    let (_, lock, _) = installing(args.transfer, &policy(Some(false))?, options, |installer| {
        installer.lock_project(
            &args.directory,
            &RelockOptions { upgrade, allows_older: args.allow_older, is_check: false, images },
        )
    })?;
    let mut report = Report::default();
    for (source, locked) in &lock.plugins {
        let old = before.plugins.get(source).map(|old| old.version.clone());
        let version = &locked.version;
        let line = match &old {
            Some(old) if old == version => format!("{source} v{version}: the newest that is allowed"),
            Some(old) => format!("{source} v{old} -> v{version}"),
            None => format!("{source} v{version}: new"),
        };
        report.add(line, json!({ "source": source, "oldVersion": old, "version": version }));
    }
    for (image, digest) in lock.images.iter().filter(|(image, digest)| before.images.get(*image) != Some(*digest)) {
        let old = before.images.get(image);
        report.add(format!("{image} -> {digest}"), json!({ "image": image, "oldDigest": old, "digest": digest }));
    }
    report.print(is_json)
}

/// The digests of the images that a directory names, and of `named` ones.
fn images(
    directory: &Path,
    named: &[String],
    (upgrade, is_check): (Upgrade<'_>, bool),
    flags: TransferFlags,
) -> Result<BTreeMap<String, String>> {
    let known = Lock::read(directory)?;
    let wanted = plugin_images::wanted(directory, named, upgrade, known.as_ref())?;
    let transfer = transfer(flags.offline, flags.size_limit, None);
    plugin_images::digests(wanted, (upgrade, is_check), known.as_ref(), &transfer)
}

/// The report of a lock file, for people and programs.
fn locked(lock: &Lock) -> Report {
    let mut report = Report::default();
    for (source, locked) in &lock.plugins {
        let platforms: Vec<&str> = locked.platforms.keys().map(String::as_str).collect();
        let value = json!({ "source": source, "version": locked.version, "platforms": platforms });
        report.add(format!("{source} v{}: {}", locked.version, platforms.join(", ")), value);
    }
    for (image, digest) in &lock.images {
        report.add(format!("{image}: {digest}"), json!({ "image": image, "digest": digest }));
    }
    report
}

/// Runs `plugin add`. Neither file changes before the plugin is installed.
///
/// # Errors
/// The plugin is required already, or the installer fails.
pub fn add(args: &Add, is_json: bool, options: &PluginOptions) -> Result<()> {
    let (source, constraint) = halves(&args.what);
    let (source, constraint) = (parse(source)?, constraint_of(constraint)?);
    let name = args.name.clone().unwrap_or_else(|| source.name().to_owned());
    let from = args.from.as_deref().unwrap_or_default();
    let addition = Addition { name: &name, source, constraint, from };
    let _lock = lock_project(&args.directory);
    let done = installing(args.transfer, &policy(Some(false))?, options, |installer| {
        installer.add(&args.directory, &addition)
    })?;
    report(&done.0).print(is_json)
}
