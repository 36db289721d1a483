//! Paths as text: joined and cleaned by their words alone, as upstream does before it looks at
//! links.

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

#[cfg(test)]
mod tests {
    use super::*;

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
