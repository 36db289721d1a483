//! Processes that a child has started, on systems that are not Unix: nothing is adopted, and they
//! stay.

use super::child::Child;
use std::sync::{Arc, Mutex};

/// The variable that marks a child, as on Unix.
pub const VARIABLE: &str = "RUSTOMIZE_CHILD";

/// Returns whether this process has no children of other processes: always.
pub fn are_none() -> bool {
    true
}

/// Adopts nothing.
pub fn adopt() {}

/// Whose processes would end.
pub enum Meant<'m> {
    /// Those of one child.
    Mark(&'m str),
    /// Those of all children whose marks begin so.
    Begin(String),
}

/// Ends nothing.
pub fn end(_meant: &Meant<'_>, _all: bool, _running: &Mutex<Vec<Arc<Child>>>) {}
