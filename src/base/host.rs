//! [`Host`]: the program around a build or an installation, and the user of that program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// The environment, the clock, the secrets and the terminal of a program. Each method has a
/// default, which says that the program does not have the thing. The variables that helm reads and
/// the clock of a trace are options of the build.
pub trait Host: fmt::Debug + Send + Sync {
    /// The value of a variable of the environment.
    fn variable(&self, _name: &str) -> Option<OsString> {
        None
    }

    /// The time, with which the age of a release is compared.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// The token, or `user:password`, for a server with this name.
    fn token(&self, _server: &str) -> Option<String> {
        None
    }

    /// A password that the user types; `None` where no user can be asked.
    fn password(&self, _question: &str) -> Option<String> {
        None
    }

    /// Returns true if the user says yes to a question; false where no user can be asked.
    fn confirms(&self, _question: &str) -> bool {
        false
    }

    /// Shows a text to the user.
    fn say(&self, _text: &str) {}

    /// Shows what a child writes to its stderr: whole lines, so that those of several children do
    /// not mix. A very long line comes in parts. At the end comes an empty text.
    fn relay(&self, _bytes: &[u8]) {}

    /// Begins to show an installation.
    fn progress(&self) -> Arc<dyn Progress> {
        Arc::new(NoProgress)
    }

    /// The program that keeps, confines and cleans up after children when it is started with the
    /// arguments for that; `None` for no such program.
    fn helper(&self) -> Option<PathBuf> {
        None
    }

    /// Called once, before the first child is started or the first private directory is made.
    fn prepare_for_children(&self) {}
}

impl dyn Host + '_ {
    /// The value of a variable that is not empty.
    pub fn set_variable(&self, name: &str) -> Option<OsString> {
        self.variable(name).filter(|value| !value.is_empty())
    }

    /// The user's home.
    pub fn home(&self) -> Option<PathBuf> {
        self.set_variable("HOME").map(PathBuf::from)
    }
}

/// Shows an installation, until it is dropped.
pub trait Progress: Send + Sync {
    /// Returns true if [`Progress::received`] shows each file: the file needs no line then.
    fn shows_files(&self) -> bool {
        false
    }

    /// Shows how many bytes of a file have come, and how many it has, if that is known.
    fn received(&self, _url: &str, _bytes: u64, _size: Option<u64>) {}

    /// Shows a text.
    fn say(&self, _text: &str) {}
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}

/// A host without an environment, without secrets and without a user.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {}

/// A host whose answers are given: for a program with an environment of its own, and for tests.
#[derive(Clone, Default)]
pub struct FixedHost {
    pub variables: BTreeMap<String, OsString>,
    /// Tokens, or `user:password`, by server.
    pub tokens: BTreeMap<String, String>,
    /// The program of [`Host::helper`].
    pub helper: Option<PathBuf>,
    /// The time; `None` for that of the system.
    pub now: Option<SystemTime>,
    /// True if the answer to every question is yes.
    pub confirms: bool,
}

// By hand: a secret is never shown.
impl fmt::Debug for FixedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedHost").field("helper", &self.helper).field("now", &self.now).finish_non_exhaustive()
    }
}

impl Host for FixedHost {
    fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).cloned()
    }

    fn now(&self) -> SystemTime {
        self.now.unwrap_or_else(SystemTime::now)
    }

    fn token(&self, server: &str) -> Option<String> {
        self.tokens.get(server).cloned()
    }

    fn confirms(&self, _question: &str) -> bool {
        self.confirms
    }

    fn helper(&self) -> Option<PathBuf> {
        self.helper.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{FixedHost, Host, NoHost};
    use std::path::Path;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let variables = [("HOME", "/home/u"), ("EMPTY", "")].map(|(name, value)| (name.to_owned(), value.into()));
        let host = FixedHost { variables: variables.into(), ..FixedHost::default() };
        let host: &dyn Host = &host;
        assert_eq!(host.home().as_deref(), Some(Path::new("/home/u")));
        assert!(host.variable("EMPTY").is_some() && host.set_variable("EMPTY").is_none());
        let none: &dyn Host = &NoHost;
        assert_eq!((none.home(), none.token("h.io"), none.confirms("?")), (None, None, false));
    }

    #[test]
    fn secrets_are_not_shown() {
        let tokens = [("h.io".to_owned(), "s3cret".to_owned())].into();
        let host = FixedHost { tokens, ..FixedHost::default() };
        assert_eq!(host.token("h.io").as_deref(), Some("s3cret"));
        assert!(!format!("{host:?}").contains("s3cret"));
    }
}
