//! Paths as texts: joined and cleaned without a look at links, as upstream does at first.

use rustomize_base::windows_path;

/// The character that the system has between the names of a path, beside `/`.
pub const SEPARATOR: char = if cfg!(windows) { '\\' } else { '/' };

/// Returns true for an absolute path. On Windows it begins at a drive or at a share.
pub fn is_absolute(path: &str) -> bool {
    if cfg!(windows) { windows_path::is_absolute(path) } else { path.starts_with('/') }
}

/// The last name of a path; the whole path if it has none.
pub fn last_name(path: &str) -> &str {
    if cfg!(windows) {
        return windows_path::last_name(path);
    }
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// The reason why a path in a file is not opened, although the system would open something: words
/// that follow the path in a message. Such paths exist only on Windows.
pub fn fault(path: &str) -> Option<&'static str> {
    if cfg!(windows) { windows_path::fault(path) } else { None }
}

/// Returns false if a path begins at another drive or share than a directory. Only to open it would
/// tell another machine who the user is.
pub fn is_on_same_drive(directory: &str, path: &str) -> bool {
    !cfg!(windows) || windows_path::have_same_prefix(directory, path)
}

/// Returns true if a path is the URL of a file.
pub fn is_url(path: &str) -> bool {
    let starts = |scheme: &str| path.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    starts("http://") || starts("https://")
}

/// Removes `.`, empty parts, and `..` after another part. An empty path becomes `.`. On Windows the
/// result has `/` between its parts, too.
pub fn clean(path: &str) -> String {
    if cfg!(windows) {
        return windows_path::clean(path);
    }
    if is_clean(path) {
        return path.to_owned();
    }
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    match (absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

/// Returns true if the path has neither an empty part nor a part with a dot at its start. `false`
/// says nothing.
fn is_clean(path: &str) -> bool {
    let parts = path.strip_prefix('/').unwrap_or(path).as_bytes();
    let may_be_unclean = |before: u8, byte: u8| before == b'/' && matches!(byte, b'/' | b'.');
    parts.last().is_some_and(|last| *last != b'/')
        && !may_be_unclean(b'/', parts[0])
        && !parts.array_windows().any(|&[before, byte]| may_be_unclean(before, byte))
}

/// Joins two paths and cleans the result; an absolute second path replaces the first.
pub fn join(base: &str, path: &str) -> String {
    if cfg!(windows) {
        return windows_path::join(base, path);
    }
    if path.starts_with('/') {
        return clean(path);
    }
    let joined = [base, "/", path].concat();
    if is_clean(&joined) { joined } else { clean(&joined) }
}

#[cfg(test)]
mod tests {
    use super::{clean, join};

    #[test]
    fn cleaning() {
        for (path, want) in [
            ("a/./b//c", "a/b/c"),
            ("a/../b", "b"),
            ("../../x", "../../x"),
            ("a/../..", ".."),
            ("/../a", "/a"),
            ("", "."),
            ("/", "/"),
            ("a/", "a"),
            ("a/.b/c..d", "a/.b/c..d"),
            ("./a", "a"),
            ("//a", "/a"),
        ] {
            assert_eq!(clean(path), want);
        }
        assert_eq!(join("overlays/prod", "../../base"), "base");
        assert_eq!(join("a", "/b"), "/b");
    }
}
