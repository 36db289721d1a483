//! The variables of this process.

use std::ffi::OsString;

/// A variable of this process. On Windows, where few users set `HOME`, it is `USERPROFILE` then.
pub(super) fn variable(name: &str) -> Option<OsString> {
    let other = if cfg!(windows) && name == "HOME" { Some("USERPROFILE") } else { None };
    std::env::var_os(name).or_else(|| std::env::var_os(other?))
}
