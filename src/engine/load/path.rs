//! Paths as texts: joined and cleaned without a look at links, as upstream does at first.

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
