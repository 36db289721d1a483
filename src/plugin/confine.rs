//! What the process of a plugin may do and take, applied by that process to itself before it loads any of the plugin's code.

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::io;

/// What is applied. It travels as JSON, in an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Bytes of address space.
    pub memory: Option<u64>,
}

impl Confinement {
    /// Applies it to this process, which has one thread yet.
    ///
    /// # Errors
    /// The system refuses.
    pub fn apply(&self) -> io::Result<()> {
        // No memory dump: it would hold what the plugin was given.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        if let Some(bytes) = self.memory {
            setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
        }
        // Where memory ends for all, the plugin goes and not the build. A system without this file has no such choice.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        Ok(())
    }
}
