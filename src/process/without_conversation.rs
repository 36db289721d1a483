//! Children that answer more than once, on systems that are not Unix: they are refused.

use super::{Children, Failed, Launch};
use rustomize_plugin_abi::frame::Frame;
use std::io;

/// A running child.
pub struct Conversation(());

impl Conversation {
    /// Starts nothing.
    ///
    /// # Errors
    /// Always.
    pub fn start(_children: &Children, _launch: Launch) -> Result<Self, Failed> {
        Err(unsupported())
    }

    /// Returns true always: a child that was not started sends nothing.
    pub fn is_silent(&self) -> bool {
        true
    }

    /// Sends nothing.
    ///
    /// # Errors
    /// Always.
    pub fn exchange(&mut self, _parts: &[&[u8]]) -> Result<Frame, Failed> {
        Err(unsupported())
    }
}

fn unsupported() -> Failed {
    Failed::not_started(io::ErrorKind::Unsupported.into())
}
