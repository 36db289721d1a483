//! The results of builds for programs, as JSON: the command prints them, and programs that embed
//! the engine get them.
//!
//! * [`message()`]: an error, a warning or a finding.
//! * [`explain`]: where the values of an output come from.
//! * [`diff`]: the differences of two outputs.

mod message;

pub mod diff;
pub mod explain;

pub use message::{message, severity};
