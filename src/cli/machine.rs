//! The installed plugins of the user's machine: their directory, the environment, the trust rules.

use crate::cli::cache;
use crate::cli::variable::variable;
use crate::diag;
use crate::load::Root;
use crate::load::client::token_variable;
use crate::manager::policy::Policy;
use crate::manager::policy::environment::Environment;
use crate::manager::policy::project_directory::ProjectDirectory;
use crate::manager::policy::trust::{self, Trust};
use crate::manager::resolve::inputs::Inputs;
use crate::manager::resolve::project::upwards;
use crate::manager::store::root::{self, RootError};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The policy of a command. The flag decides if it is frozen; without the flag, `CI` does.
///
/// # Errors
/// The trust file cannot be read, or is not valid.
pub fn policy(said: Option<bool>) -> Result<Policy> {
    Ok(Policy { is_frozen: is_frozen(said), trust: trust()? })
}

/// The policy of a command that changes which plugins are locked.
///
/// # Errors
/// As [`policy`].
pub fn unfrozen_policy() -> Result<Policy> {
    policy(Some(false))
}

/// Returns true if only locked plugins may be used: by the flag, or without it by `CI`.
pub fn is_frozen(said: Option<bool>) -> bool {
    said.unwrap_or_else(|| variable("CI").is_some_and(|value| Policy::is_ci(&value.to_string_lossy())))
}

/// The file with the user's trust rules.
pub struct TrustFile {
    pub path: PathBuf,
    /// True if `RUSTOMIZE_TRUST` names the file.
    pub is_named: bool,
}

/// The trust file: the file in `RUSTOMIZE_TRUST`, or `trust.yaml` beside the directory of the
/// plugins.
///
/// # Errors
/// The home directory is unknown.
pub fn trust_file() -> Result<TrustFile> {
    match variable("RUSTOMIZE_TRUST").filter(|path| !path.is_empty()) {
        Some(named) => Ok(TrustFile { path: named.into(), is_named: true }),
        None => Ok(TrustFile { path: root::configuration(variable)?.join(trust::FILE), is_named: false }),
    }
}

/// The trust files of the other configuration roots, whose denials apply as well: so a new
/// directory earlier in the list cannot lift what the user has forbidden. Empty if
/// `RUSTOMIZE_TRUST` names a file, which applies alone.
pub fn other_trust_files() -> Vec<PathBuf> {
    let own = match trust_file() {
        Ok(TrustFile { is_named: true, .. }) => return Vec::new(),
        own => own.ok().and_then(|file| file.path.canonicalize().ok()),
    };
    let files = root::configurations(variable).into_iter().map(|directory| directory.join(trust::FILE));
    files.filter(|path| path.canonicalize().is_ok_and(|path| Some(path) != own)).collect()
}

/// The user's trust rules, with the denials in the files of other configuration roots.
///
/// # Errors
/// A file cannot be read, or is not valid.
pub fn trust() -> Result<Trust> {
    let TrustFile { path, is_named } = trust_file()?;
    let others = other_trust_files().into_iter().map(|path| Trust::read(&path, false));
    Ok(Trust::read(&path, is_named)?.with(others.collect::<diag::Result<_>>()?))
}

/// The environment of a command: the one that the flag names, else `RUSTOMIZE_ENVIRONMENT`, else
/// the default one.
///
/// # Errors
/// The environment does not exist, or its file is not valid.
pub fn environment(said: Option<&str>) -> Result<Option<Environment>> {
    let named =
        variable("RUSTOMIZE_ENVIRONMENT").and_then(|name| name.into_string().ok()).filter(|name| !name.is_empty());
    let named = said.map(str::to_owned).or(named);
    let configuration = match root::configuration(variable) {
        Err(RootError::NoHome) if named.is_none() => return Ok(None),
        found => found?,
    };
    let cache = cache::of_user();
    Ok(Environment::read(&configuration, cache.as_deref(), named.as_deref())?)
}

/// The token, or `user:password`, of the environment for a host.
pub fn secret(host: &str) -> Option<String> {
    variable(&token_variable(host)?)?.into_string().ok()
}

/// The directories whose files are used whoever owns the files.
pub fn safe_directories() -> Vec<PathBuf> {
    let safe = variable("RUSTOMIZE_SAFE_DIRECTORIES").unwrap_or_default();
    std::env::split_paths(&safe).filter_map(|safe| safe.canonicalize().ok()).collect()
}

/// The directories whose `plugins.lock` applies to the images of a root, nearest first: for a root
/// of this machine those from it upwards, then those from the built directory upwards. The lock of
/// a clone does not apply.
pub fn lock_directories(root: &Root, built: &Path) -> Vec<ProjectDirectory> {
    let safe = safe_directories();
    let mut found = if root.remote().is_none() { upwards(&root.real, None, &safe) } else { Vec::new() };
    if let Ok(built) = built.canonicalize() {
        found.extend(upwards(&built, None, &safe));
    }
    found
}

/// The places where the plugins of a directory and an environment are searched. Nothing is read
/// yet.
///
/// # Errors
/// The directory of plugins is unknown, or a file cannot be read or is not valid.
pub fn inputs(directory: &Path, environment: Option<&Environment>, policy: &Policy) -> Result<Inputs> {
    let is_ambient =
        !policy.is_frozen && variable("RUSTOMIZE_IGNORE_AMBIENT_PLUGINS").is_none_or(|value| value.is_empty());
    let path = variable("PATH").filter(|_| is_ambient).unwrap_or_default();
    let mut inputs = Inputs {
        root: root::root(variable)?,
        cache: cache::writable(),
        top: directory.canonicalize().ok(),
        safe: safe_directories(),
        path: std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect(),
        ..Inputs::default()
    };
    if let Some(environment) = environment {
        inputs.environment = Some(environment.directory.clone());
        inputs.bundles = environment.bundles()?;
        inputs.bundles.retain(|bundle| !bundle.is_synced());
        inputs.synced = environment.synced_bundle()?;
    }
    Ok(inputs)
}

/// The first file with a name in the directories of `PATH`.
pub fn in_path(name: impl AsRef<Path>) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|path| path.join(&name)).find(|path| path.is_file())
}
