//! [`Policy`]: what may be installed and used. It is made once, and every command asks it.

pub mod amend;
pub mod environment;
pub mod image;
pub mod lock;
pub mod requirements;
pub mod trust;

use crate::diag::{Code, Error, Result};
use trust::Trust;

/// What may be installed and used.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Whether only what is placed by hand and what is locked may be: no other installed plugin, no
    /// bundle, no program in PATH.
    pub is_frozen: bool,
    /// Whose plugins may be.
    pub trust: Trust,
}

impl Policy {
    /// Whether a value of the variable `CI` says that nobody is there to look: every value but an
    /// empty one, `false` and `0`.
    pub fn is_ci(value: &str) -> bool {
        !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "false" | "0")
    }

    /// Lets something pass that no lock file knows.
    ///
    /// # Errors
    /// Only what is locked may be used.
    pub fn check_unlocked(&self, what: &str) -> Result<()> {
        if !self.is_frozen {
            return Ok(());
        }
        let error = Error::new(Code::Plugin, format!("{what} is not locked, and only locked plugins may be used"));
        Err(error
            .hint("require it in plugins.yaml, lock it, and commit plugins.lock: rustomize plugin lock")
            .hint("--frozen=false lifts this, which is the default where CI is set"))
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
