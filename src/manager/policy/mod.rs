//! [`Policy`]: the plugins that may be installed and used. A command makes it once.

pub mod amend;
pub mod environment;
pub mod image;
pub mod lock;
pub mod machine;
pub mod project_directory;
pub mod requirements;
pub mod trust;

use crate::diag::{Code, Error, Result};
use crate::id::shell::in_directory;
use std::path::Path;
use trust::Trust;

/// The command that requires and locks a plugin whose source an error does not know.
pub const ADD_SOURCE: &str = "rustomize plugin add SOURCE";

/// The plugins that may be installed and used.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// True if only placed and locked plugins may be used: no other installed plugin, no bundle, no
    /// program in PATH.
    pub is_frozen: bool,
    /// The rules for the sources of plugins.
    pub trust: Trust,
}

/// The end of the message about something that no lock file has.
pub const LOCKED_ALONE: &str = "only locked plugins may be used";

impl Policy {
    /// Returns true if a value of the variable `CI` means that no user watches: every value except
    /// an empty one, `false` and `0`.
    pub fn is_ci(value: &str) -> bool {
        !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "false" | "0")
    }

    /// Accepts something that no lock file has, unless the policy is frozen. `add` is the command
    /// that requires and locks it in a directory with `plugins.yaml`.
    ///
    /// # Errors
    /// Only locked plugins may be used.
    pub fn check_unlocked(&self, what: &str, add: &str, directory: &Path) -> Result<()> {
        if !self.is_frozen {
            return Ok(());
        }
        let error = Error::new(Code::PluginRefused, format!("{what} is not locked, and {LOCKED_ALONE}"));
        let command = in_directory(add, directory);
        Err(error
            .hint(format!("require and lock it, then commit plugins.yaml and plugins.lock: {command}"))
            .hint("--frozen is the default where CI is set; --frozen=false allows unlocked plugins"))
    }
}

#[cfg(test)]
mod tests {
    use super::Policy;

    #[test]
    fn ci_is_whatever_is_not_denied() {
        assert!(["true", "1", "TRUE", "yes", "no", "woodpecker"].iter().all(|value| Policy::is_ci(value)));
        assert!(!["", "0", "false", "False", " "].iter().any(|value| Policy::is_ci(value)));
    }
}
