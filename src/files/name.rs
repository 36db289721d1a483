//! Names of files: which of them may enter, and how they are shown.

use std::ffi::OsStr;

/// The fault of a name or a path that comes from elsewhere, as from an archive: the words that
/// follow it in a message. `None` if it may be used. A name with a line break can pass for several
/// lines of a list, and one with a direction mark for another name.
pub fn name_fault(name: &OsStr) -> Option<&'static str> {
    match name.to_str() {
        None => Some("has a name that is not valid UTF-8"),
        Some(name) if name.chars().any(is_hidden) => Some("has a control character in its name"),
        Some(_) => None,
    }
}

/// Returns true for control characters, line separators and direction marks.
fn is_hidden(c: char) -> bool {
    let is_mark =
        |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_mark(c)
}

/// A name for a message: characters that a terminal would obey are shown as escapes.
pub fn shown(name: &OsStr) -> String {
    let mut text = String::new();
    for c in name.to_string_lossy().chars() {
        match is_hidden(c) {
            true => text.extend(c.escape_default()),
            false => text.push(c),
        }
    }
    text
}
