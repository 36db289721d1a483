//! The variables of this process.

use std::ffi::OsString;

/// A variable of this process.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
