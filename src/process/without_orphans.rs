//! Processes that a child has started, on systems that are not Unix: they are not adopted, and keep
//! running.

use super::child::Child;
use std::sync::{Arc, Mutex};

/// The variable that marks a child, as on Unix.
pub(crate) const VARIABLE: &str = "RUSTOMIZE_CHILD";

/// Returns true always: this process never adopts children.
pub(crate) fn are_none() -> bool {
    true
}

/// Adopts nothing. On Windows, if all children are those of this process, they end with it.
pub(crate) fn adopt(strays: Strays) {
    #[cfg(windows)]
    if strays == Strays::All {
        use rustomize_plugin_abi::job::{Job, JobLimits};
        let _ = Job::of_this_process(JobLimits::default()).map(Job::for_life);
    }
    let _ = strays;
}

/// The adopted processes that belong to the children: none is adopted here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strays {
    /// Those with the mark of one of them.
    Marked,
    /// All.
    All,
}

/// The processes that would be ended.
#[expect(dead_code, reason = "nothing is ended here")]
pub(crate) enum Meant<'m> {
    /// The processes of one child.
    Mark(&'m str),
    /// The processes of all children whose marks begin in this way.
    Begin(&'m str),
}

/// Ends nothing.
pub(crate) fn end(_meant: &Meant<'_>, _strays: Strays, _running: &Mutex<Vec<Arc<Child>>>, _warden: Option<u32>) {}
