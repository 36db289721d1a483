//! The variables of this process.

use std::ffi::OsString;

/// A variable of this process.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
