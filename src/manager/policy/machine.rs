//! [`Machine`]: the user's machine: where plugins, rules and caches are.

use super::Policy;
use super::environment::Environment;
use super::trust::{self, Trust};
use crate::diag::{self, Error};
use crate::store::exclusive::ExclusiveRoot;
use crate::store::root::{self, RootError};
use rustomize_base::host::Host;
use rustomize_files as files;
use rustomize_process::Children;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A machine, and its user.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The environment, the secrets and the terminal of the user.
    pub host: Arc<dyn Host>,
    /// The children that run plugins and the programs that they need.
    pub children: Children,
    /// The directory for what can be fetched or made again, which can be written to; `None` for
    /// nowhere.
    pub cache: Option<PathBuf>,
    /// The cache of the user, which has the synced files of environments; `None` for nowhere.
    pub user_cache: Option<PathBuf>,
}

/// The reason why the machine does not give an answer.
#[derive(Debug)]
pub enum MachineError {
    /// The machine lacks a directory: the message, with its hints.
    Lack(String),
    /// A file or a server has a fault.
    Fault(Error),
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineError::Lack(message) => f.write_str(message),
            MachineError::Fault(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MachineError {}

impl From<Error> for MachineError {
    fn from(error: Error) -> Self {
        MachineError::Fault(error)
    }
}

impl From<RootError> for MachineError {
    fn from(error: RootError) -> Self {
        MachineError::Lack(error.to_string())
    }
}

impl From<MachineError> for Error {
    fn from(error: MachineError) -> Self {
        match error {
            MachineError::Lack(message) => Error::new(diag::Code::BadPlugin, message),
            MachineError::Fault(error) => error,
        }
    }
}

impl MachineError {
    /// The error with words around it.
    #[must_use]
    pub fn context(self, words: String) -> MachineError {
        match self {
            MachineError::Lack(message) => MachineError::Lack(format!("{words}: {message}")),
            MachineError::Fault(error) => MachineError::Fault(error.context(words)),
        }
    }
}

/// A result of a question to the machine.
pub type Result<T> = std::result::Result<T, MachineError>;

/// The file with the trust rules of the user.
#[derive(Clone, Debug)]
pub struct TrustFile {
    pub path: PathBuf,
    /// True if `RUSTOMIZE_TRUST` names the file: it has to exist, and counts alone.
    pub is_named: bool,
}

impl Machine {
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        self.host.variable(name)
    }

    /// The directory of installed plugins, which need not exist.
    ///
    /// # Errors
    /// The directory is not known.
    pub fn plugins(&self) -> std::result::Result<PathBuf, RootError> {
        root::root(|name| self.variable(name))
    }

    /// The directory with the user's own files for this program.
    ///
    /// # Errors
    /// The home of the user is not known.
    pub fn configuration(&self) -> std::result::Result<PathBuf, RootError> {
        root::configuration(|name| self.variable(name))
    }

    /// The directory of installed plugins, which no other process writes to meanwhile.
    ///
    /// # Errors
    /// The directory is not known, or cannot be made or written to.
    pub fn lock_plugins(&self) -> Result<ExclusiveRoot> {
        let waiting = || self.host.say("Waiting until another installation ends");
        Ok(ExclusiveRoot::lock(&self.plugins()?, waiting)?)
    }

    /// Waits until no other command changes the files of a directory that say which plugins it
    /// needs. Called before [`Machine::lock_plugins`], so that two commands never wait for each
    /// other.
    pub fn lock_project(&self, directory: &Path) -> Option<File> {
        files::lock(directory, || self.host.say("Waiting until another command ends"))
    }

    /// The policy of a command. It is frozen as the flag says, or without the flag if `CI` is set.
    ///
    /// # Errors
    /// A file with trust rules cannot be read, or is not valid.
    pub fn policy(&self, frozen: Option<bool>) -> Result<Policy> {
        Ok(Policy { is_frozen: self.is_frozen(frozen), trust: self.trust()? })
    }

    /// Returns true if only locked plugins may be used: as the flag says, or if `CI` is set.
    pub fn is_frozen(&self, flag: Option<bool>) -> bool {
        flag.unwrap_or_else(|| self.variable("CI").is_some_and(|value| Policy::is_ci(&value.to_string_lossy())))
    }

    /// The file with the trust rules of the user: `RUSTOMIZE_TRUST`, or `trust.yaml` beside the
    /// directory of the plugins.
    ///
    /// # Errors
    /// The home of the user is not known.
    pub fn trust_file(&self) -> std::result::Result<TrustFile, RootError> {
        Ok(match self.host.set_variable("RUSTOMIZE_TRUST") {
            Some(named) => TrustFile { path: named.into(), is_named: true },
            None => TrustFile { path: self.configuration()?.join(trust::FILE), is_named: false },
        })
    }

    /// The files with rules of the other configuration roots, whose denials hold in addition: a
    /// directory that appears in front of another one takes nothing back that the user has
    /// forbidden. None beside a file that `RUSTOMIZE_TRUST` names.
    pub fn other_trust_files(&self) -> Vec<PathBuf> {
        let own = match self.trust_file() {
            Ok(file) if file.is_named => return Vec::new(),
            own => own.ok().and_then(|file| dunce::canonicalize(&file.path).ok()),
        };
        let directories = root::configurations(|name| self.variable(name)).into_iter();
        let files = directories.map(|directory| directory.join(trust::FILE));
        files.filter(|path| dunce::canonicalize(path).is_ok_and(|path| Some(path) != own)).collect()
    }

    /// The trust rules of the user, and the denials of other configuration roots.
    ///
    /// # Errors
    /// A file cannot be read, or is not valid.
    pub fn trust(&self) -> Result<Trust> {
        let file = self.trust_file()?;
        let others = self.other_trust_files().into_iter().map(|path| Trust::read(&path));
        let others = others.collect::<diag::Result<_>>()?;
        let own = if file.is_named { Trust::read_existing(&file.path) } else { Trust::read(&file.path) };
        Ok(own?.with(others))
    }

    /// The environment with a name; without a name that of `RUSTOMIZE_ENVIRONMENT`, or the default
    /// one. `None` if the default one does not exist.
    ///
    /// # Errors
    /// The environment does not exist, or its file is not valid.
    pub fn environment(&self, named: Option<&str>) -> Result<Option<Environment>> {
        let variable = || self.host.set_variable("RUSTOMIZE_ENVIRONMENT").and_then(|name| name.into_string().ok());
        let named = named.map(str::to_owned).or_else(variable);
        let configuration = match self.configuration() {
            Err(RootError::NoHome) if named.is_none() => return Ok(None),
            found => found?,
        };
        Ok(Environment::read(&configuration, self.user_cache.as_deref(), named.as_deref())?)
    }

    /// The directories whose files are used whoever owns them.
    pub fn safe_directories(&self) -> Vec<PathBuf> {
        let safe = self.variable("RUSTOMIZE_SAFE_DIRECTORIES").unwrap_or_default();
        std::env::split_paths(&safe).filter_map(|safe| dunce::canonicalize(safe).ok()).collect()
    }
}
