//! Names of files: which of them may enter, and how they are shown.

use rustomize_base::shown::{is_unseen, line};
use std::ffi::OsStr;

/// The fault of a name or a path that comes from elsewhere, as from an archive: the words that
/// follow it in a message. `None` if it may be used. A name with a line break can pass for several
/// lines of a list, and one with a direction mark for another name.
pub fn name_fault(name: &OsStr) -> Option<&'static str> {
    match name.to_str() {
        None => Some("has a name that is not valid UTF-8"),
        Some(name) if name.chars().any(is_unseen) => Some("has a character in its name that cannot be seen"),
        Some(_) => None,
    }
}

/// A name or a path for a message, in one line.
pub fn shown(name: &OsStr) -> String {
    line(&name.to_string_lossy()).into_owned()
}
