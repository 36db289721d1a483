//! Paths as text: joined and cleaned by their words alone, as upstream does before it looks at
//! links; and where they lead when links are followed.

use std::path::{Path, PathBuf};

/// Removes `.`, empty parts and `..` that have something before them. An empty path becomes `.`.
pub fn clean(path: &str) -> String {
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

/// Joins two paths and cleans the result; an absolute second one stands alone.
pub fn join(base: &str, path: &str) -> String {
    if path.starts_with('/') { clean(path) } else { clean(&format!("{base}/{path}")) }
}

/// The place of a path when all links are followed; what does not exist yet has none. `None` where
/// that cannot be told.
pub fn real(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(clean(path));
    let existing = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    let mut real = existing.canonicalize().ok()?;
    real.extend(path.strip_prefix(existing).ok()?);
    Some(real)
}

/// Whether a path, and every link below it, leads to a place in a directory, which has no links in
/// its own path. O(entries below the path).
pub fn stays_in(directory: &Path, path: &str) -> bool {
    let is_inside = |path: &Path| real(&path.to_string_lossy()).is_some_and(|real| real.starts_with(directory));
    let mut queue = vec![PathBuf::from(path)];
    while let Some(path) = queue.pop() {
        if !is_inside(&path) {
            return false;
        }
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let kinds = entries.filter_map(|entry| Some((entry.file_type().ok()?, entry.path())));
        for (kind, path) in kinds {
            match kind.is_symlink() {
                // What is inside is met there.
                true if !is_inside(&path) => return false,
                false if kind.is_dir() => queue.push(path),
                _ => {}
            }
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
        ] {
            assert_eq!(clean(path), want);
        }
        assert_eq!(join("overlays/prod", "../../base"), "base");
        assert_eq!(join("a", "/b"), "/b");
    }
}
