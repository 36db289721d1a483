//! Paths of Windows as texts: which of them name what they seem to name. Nothing here asks the
//! system, so the rules are tested on every system.
//!
//! A path has `/` or `\` between its names. Its prefix is a drive, `C:`, or a share,
//! `//server/share`. A path without a prefix is relative, even if it begins with a separator: that
//! is how Go, and with it kustomize, sees it.

use std::path::PathBuf;

/// Names of devices, which are not those of files in any directory.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// The beginnings of the names of devices that have a number.
const NUMBERED: [&str; 2] = ["COM", "LPT"];

/// The prefix of a path, and the rest. The prefix is empty, a drive or a share.
fn split(path: &str) -> (&str, &str) {
    let bytes = path.as_bytes();
    if let [letter, b':', ..] = bytes
        && letter.is_ascii_alphabetic()
    {
        return path.split_at(2);
    }
    if !(bytes.starts_with(b"//") || bytes.starts_with(b"\\\\")) || path.len() < 3 {
        return ("", path);
    }
    let end = |from: usize| path[from..].find(is_separator).map_or(path.len(), |at| from + at);
    let server = end(2);
    let share = if server < path.len() { end(server + 1) } else { server };
    path.split_at(share)
}

fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// Returns true for a path that begins at a drive or at a share.
pub fn is_absolute(path: &str) -> bool {
    let (prefix, rest) = split(path);
    match prefix.len() {
        0 => false,
        2 => rest.starts_with(is_separator),
        _ => true,
    }
}

/// Removes `.`, empty parts, and `..` after another part, and puts `/` between the parts. An empty
/// path becomes `.`. The letter of a drive becomes a capital one.
pub fn clean(path: &str) -> String {
    let (prefix, rest) = split(path);
    let is_rooted = rest.starts_with(is_separator) || prefix.len() > 2;
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split(is_separator) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if is_rooted => {}
            part => parts.push(part),
        }
    }
    let mut prefix = prefix.replace('\\', "/");
    if prefix.len() == 2 {
        prefix.make_ascii_uppercase();
    }
    match (is_rooted, parts.is_empty()) {
        (true, _) => format!("{prefix}/{}", parts.join("/")),
        (false, true) => format!("{prefix}."),
        (false, false) => prefix + &parts.join("/"),
    }
}

/// Joins two paths and cleans the result; an absolute second path replaces the first.
pub fn join(base: &str, path: &str) -> String {
    if is_absolute(path) { clean(path) } else { clean(&format!("{base}/{path}")) }
}

/// The last name of a path; the whole path if it has none.
pub fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches(is_separator);
    path.rsplit(is_separator).next().unwrap_or(path)
}

/// Returns true if two absolute paths begin at the same drive or share.
pub fn have_same_prefix(one: &str, other: &str) -> bool {
    clean(split(one).0).eq_ignore_ascii_case(&clean(split(other).0))
}

/// The reason why a path that somebody else may have written is not opened: words that follow the
/// path in a message. `None` for a good path.
pub fn fault(path: &str) -> Option<&'static str> {
    let (prefix, rest) = split(path);
    if path.contains("://") {
        // The system has no such path. It is a URL that somebody has misspelt.
        return None;
    }
    let start = path.get(..4).unwrap_or_default().replace('\\', "/");
    if ["//?/", "//./", "/??/"].contains(&&*start) {
        return Some("is a path of the system's own, and not that of a file");
    }
    if prefix.len() == 2 && !rest.starts_with(is_separator) {
        return Some("is relative to the working directory of a drive: write the whole path");
    }
    rest.split(is_separator).find_map(name_fault)
}

/// The reason why a name is not that of an entry of a directory; see [`fault`].
pub fn name_fault(name: &str) -> Option<&'static str> {
    if matches!(name, "" | "." | "..") {
        return None;
    }
    if name.contains(':') {
        return Some("has a ':' in a name, which stands for a stream of a file");
    }
    if name.ends_with(['.', ' ']) {
        return Some("has a name that ends in a dot or a blank, which the system leaves out");
    }
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches(' ').to_uppercase();
    let is_numbered = NUMBERED.iter().any(|device| {
        let number = stem.strip_prefix(device).map(|number| number.chars().collect::<Vec<_>>());
        matches!(number.as_deref(), Some(['0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}']))
    });
    match is_numbered || DEVICES.contains(&&*stem) {
        true => Some("has the name of a device"),
        false => None,
    }
}

/// A real path with `/` between its names. `\\?\` in front of it is left out: the standard library
/// puts it there where the length of a path asks for it.
fn with_slashes(real: &str) -> Option<String> {
    let path = match (real.strip_prefix(r"\\?\UNC\"), real.strip_prefix(r"\\?\")) {
        (Some(share), _) => format!("//{share}"),
        (_, Some(path)) => path.to_owned(),
        _ => real.to_owned(),
    };
    let path = path.replace('\\', "/");
    fault(&path).is_none().then_some(path)
}

/// A real path with `/` between its names, on Windows; elsewhere the path as it is.
pub fn slashed(path: PathBuf) -> PathBuf {
    if !cfg!(windows) {
        return path;
    }
    path.to_str().and_then(with_slashes).map_or(path, PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::{clean, fault, have_same_prefix, is_absolute, join, last_name, with_slashes};

    #[test]
    fn paths_are_cleaned_as_kustomize_does_on_windows() {
        for (path, want) in [
            ("", "."),
            (r"a\.\b\\c", "a/b/c"),
            (r"a\..\..", ".."),
            (r"c:\a\..\..\b", "C:/b"),
            ("C:/", "C:/"),
            ("C:a", "C:a"),
            ("C:", "C:."),
            (r"\a\b", "/a/b"),
            (r"\\server\share\a\..\..\b", "//server/share/b"),
            ("//server/share", "//server/share/"),
        ] {
            assert_eq!(clean(path), want, "{path}");
        }
        assert_eq!(join("C:/root/app", r"..\base"), "C:/root/base");
        assert_eq!(join("C:/root", r"d:\x"), "D:/x");
        assert_eq!(join("C:/root", "/x"), "C:/root/x");
        assert_eq!((last_name(r"config\app.yaml"), last_name("a/b/"), last_name("x")), ("app.yaml", "b", "x"));
    }

    #[test]
    fn absolute_paths_have_a_drive_or_a_share() {
        for path in ["C:/a", r"c:\", r"\\server\share\x", "//server/share"] {
            assert!(is_absolute(path), "{path}");
        }
        for path in ["/a", r"\a", "C:a", "", "//"] {
            assert!(!is_absolute(path), "{path}");
        }
        assert!(have_same_prefix("C:/a", r"c:\b") && have_same_prefix("//s/x/a", r"\\S\X"));
        assert!(!have_same_prefix("C:/a", "D:/a") && !have_same_prefix("//s/x/a", "//s/y/a"));
    }

    #[test]
    fn real_paths_have_slashes() {
        for (path, want) in [
            (r"\\?\C:\a\b", Some("C:/a/b")),
            (r"\\?\UNC\server\share\a", Some("//server/share/a")),
            (r"C:\a", Some("C:/a")),
            // What only the system's own form can name keeps it.
            (r"\\?\C:\a\nul", None),
            (r"\\?\Volume{1}\a.", None),
        ] {
            assert_eq!(with_slashes(path).as_deref(), want, "{path}");
        }
    }

    #[test]
    fn paths_that_are_not_what_they_seem_are_refused() {
        for (path, words) in [
            (r"\\?\C:\x", "system's own"),
            (r"\\.\PhysicalDrive0", "system's own"),
            ("//?/C:/x", "system's own"),
            (r"\??\C:\x", "system's own"),
            ("C:x", "working directory of a drive"),
            ("C:", "working directory of a drive"),
            ("file.yaml:stream", "stream"),
            ("a/b::$DATA", "stream"),
            ("con", "device"),
            ("a/NUL", "device"),
            ("a/nul.yaml", "device"),
            ("COM1 .yaml", "device"),
            ("lpt\u{b9}", "device"),
            ("CONIN$", "device"),
            ("a./b", "dot or a blank"),
            ("a /b", "dot or a blank"),
            ("x...", "dot or a blank"),
        ] {
            assert!(fault(path).is_some_and(|fault| fault.contains(words)), "{path}: {:?}", fault(path));
        }
        for path in [
            "htps://example.com/x",
            "a/b.yaml",
            r"..\base",
            "C:/x",
            r"\\server\share\x",
            "/a",
            ".",
            "",
            "com",
            "com10",
            "console",
            "nulls",
            ".a",
        ] {
            assert_eq!(fault(path), None, "{path}");
        }
    }
}
