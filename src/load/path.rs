//! Paths as texts: joined and cleaned without a look at links, as upstream does at first; and the
//! places that they lead to when links are followed.

use hashbrown::HashSet;
use std::fs::DirEntry;
use std::path::{Component, Path, PathBuf};

/// Returns true if a path is the URL of a file.
pub fn is_url(path: &str) -> bool {
    let starts = |scheme: &str| path.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    starts("http://") || starts("https://")
}

/// Removes `.`, empty parts, and `..` after another part. An empty path becomes `.`.
pub fn clean(path: &str) -> String {
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
    if path.starts_with('/') {
        return clean(path);
    }
    let joined = [base, "/", path].concat();
    if is_clean(&joined) { joined } else { clean(&joined) }
}

/// The place of a path when all links are followed. Parts that do not exist yet are appended as
/// they are. `None` if the place cannot be told.
pub fn real(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    let new = path.strip_prefix(existing).ok()?;
    if new.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let mut real = existing.canonicalize().ok()?;
    real.extend(new);
    Some(real)
}

/// Returns true if a path leads to a place in a directory, and so does every link below that place,
/// and below the targets of those links. The path of the directory must not contain links.
/// O(entries below them).
pub fn stays_in(directory: &Path, path: &Path) -> bool {
    let mut seen = HashSet::new();
    let mut queue = vec![path.to_owned()];
    while let Some(path) = queue.pop() {
        let Some(real) = real(&path).filter(|real| real.starts_with(directory)) else { return false };
        let entries = std::fs::read_dir(&real).into_iter().flatten().flatten();
        if seen.insert(real) {
            let leads_on = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
            queue.extend(entries.filter(leads_on).map(|entry| entry.path()));
        }
    }
    true
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
