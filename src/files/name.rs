//! Names of files: which of them may enter, and how they are shown.

use rustomize_base::shown::{is_unseen, line};
use rustomize_base::windows_path;
use std::ffi::OsStr;

/// The reason to refuse a name or a path that comes from elsewhere, such as an archive: words that
/// follow the name in a message. `None` for a good name. A name with a line break can look like
/// several lines of a list, and a name with a direction mark like another name.
pub fn name_fault(name: &OsStr) -> Option<&'static str> {
    match name.to_str() {
        None => Some("has a name that is not valid UTF-8"),
        Some(name) if name.chars().any(is_unseen) => Some("has a character in its name that cannot be seen"),
        Some(name) if cfg!(windows) => windows_path::fault(name),
        Some(_) => None,
    }
}

/// A name or a path for a message, in one line.
pub fn shown(name: &OsStr) -> String {
    line(&name.to_string_lossy()).into_owned()
}
