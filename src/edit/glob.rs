//! The files that a pattern matches, as in Go's `filepath`: `*` and `?` do not match a slash,
//! `[a-z]` and `[^a-z]` match one character, and the character after a backslash matches itself.

use super::Place;
use super::usage;
use crate::diag::Result;
use crate::load::{join, path};
use crate::stage::Context;
use rustomize_sources::{Disk, reach};
use rustomize_yaml::Heap;
use std::fs;
use std::path::Path;

/// The error for a malformed pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern;

impl From<BadPattern> for crate::diag::Error {
    fn from(_: BadPattern) -> Self {
        usage("syntax error in pattern")
    }
}

/// Returns true if a pattern matches all of a name.
///
/// # Errors
/// The pattern is malformed.
pub fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    check(&pattern)?;
    Ok(is_match(&pattern, &name))
}

/// Refuses brackets that are not closed, and a backslash at the end.
fn check(mut pattern: &[char]) -> Result<(), BadPattern> {
    while let Some((first, rest)) = pattern.split_first() {
        pattern = match first {
            '\\' => rest.split_first().ok_or(BadPattern)?.1,
            '[' => class(rest, '\0').ok_or(BadPattern)?.1,
            _ => rest,
        };
    }
    Ok(())
}

fn is_match(pattern: &[char], name: &[char]) -> bool {
    // The pattern after the last star, and the part of the name from which the star may take one
    // more character.
    let (mut star, mut p, mut n) = (None, pattern, name);
    loop {
        let step = match (p, n) {
            ([], []) => return true,
            (['*', rest @ ..], _) => {
                star = Some((rest, n));
                p = rest;
                continue;
            }
            ([], _) | (_, []) => None,
            (['?', rest @ ..], [c, ..]) => (*c != '/').then_some(rest),
            (['[', rest @ ..], [c, ..]) => class(rest, *c).and_then(|(is_in, rest)| is_in.then_some(rest)),
            (['\\', wanted, rest @ ..] | [wanted, rest @ ..], [c, ..]) => (wanted == c).then_some(rest),
        };
        match (step, star) {
            (Some(rest), _) => (p, n) = (rest, &n[1..]),
            (None, Some((rest, [c, after @ ..]))) if *c != '/' => {
                star = Some((rest, after));
                (p, n) = (rest, after);
            }
            (None, _) => return false,
        }
    }
}

/// Returns true if a character is in the class after a `[`, and the pattern after the class; `None`
/// if the class is malformed.
fn class(pattern: &[char], c: char) -> Option<(bool, &[char])> {
    let (is_negated, mut rest) = match pattern {
        ['^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut is_in, mut is_empty) = (false, true);
    loop {
        match rest {
            [']', after @ ..] if !is_empty => return Some((is_in != is_negated, after)),
            _ => {
                let (low, after) = bound(rest)?;
                let (high, after) = match after {
                    ['-', after @ ..] => bound(after)?,
                    _ => (low, after),
                };
                is_in |= (low..=high).contains(&c);
                (rest, is_empty) = (after, false);
            }
        }
    }
}

/// One end of a range, and the pattern after it, which is never empty: the class is not closed yet.
fn bound(pattern: &[char]) -> Option<(char, &[char])> {
    let (c, rest) = match pattern {
        ['-' | ']', ..] => return None,
        ['\\', c, rest @ ..] | [c, rest @ ..] => (*c, rest),
        [] => return None,
    };
    (!rest.is_empty()).then_some((c, rest))
}

/// The files and directories that a pattern matches, sorted. A hidden file is only matched by a
/// pattern whose last part begins with a dot. On Windows a backslash in a pattern is between names,
/// and the paths have slashes.
///
/// # Errors
/// The pattern is malformed.
pub fn files(pattern: &str) -> Result<Vec<String>> {
    let slashed = pattern.replace('\\', "/");
    let pattern = if cfg!(windows) { &slashed } else { pattern };
    let is_hidden =
        |path: &str| path.trim_end_matches('/').rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    let mut found = expand(pattern)?;
    if !is_hidden(pattern) {
        found.retain(|path| !is_hidden(path));
    }
    Ok(found)
}

/// Returns true if a pattern may match other names than its own text.
pub(super) fn has_meta(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '\\'])
}

fn expand(pattern: &str) -> Result<Vec<String>, BadPattern> {
    matches(pattern, "")?;
    if !has_meta(pattern) {
        let is_there = !pattern.is_empty() && is_in_reach(pattern) && fs::symlink_metadata(pattern).is_ok();
        return Ok(is_there.then(|| pattern.to_owned()).into_iter().collect());
    }
    let (folder, name) = match pattern.rfind('/') {
        Some(0) => ("/", &pattern[1..]),
        Some(i) => (&pattern[..i], &pattern[i + 1..]),
        None => ("", pattern),
    };
    let folders = if has_meta(folder) { expand(folder)? } else { vec![folder.to_owned()] };
    let mut found = Vec::new();
    for folder in folders {
        let named = if folder.is_empty() { "." } else { &folder };
        let Some(Ok(entries)) = is_in_reach(named).then(|| fs::read_dir(named)) else { continue };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        for entry in names {
            if matches(name, &entry)? && path::fault(&entry).is_none() {
                found.push(if folder.is_empty() { entry } else { join(&folder, &entry) });
            }
        }
    }
    Ok(found)
}

/// Returns true if this process may look at a path, and the path is that of a file or directory.
fn is_in_reach(path: &str) -> bool {
    path::fault(path).is_none() && reach::check(Path::new(path)).is_ok()
}

/// The files that patterns match. A note is made for a pattern without a match.
///
/// # Errors
/// A pattern is malformed.
pub fn noted(place: &mut Place, patterns: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for pattern in patterns {
        let found = files(pattern)?;
        if found.is_empty() {
            place.note(format!("{pattern} has no match"));
        }
        all.extend(found);
    }
    Ok(all)
}

/// The files and directories that patterns match. A reference to a repository is returned
/// unchanged.
///
/// # Errors
/// A pattern is malformed, or matches nothing and is not a repository that can be cloned.
pub fn references(place: &Place, patterns: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for pattern in patterns {
        let found = files(pattern).map_err(|e| e.prefixed("error checking the filesystem: "))?;
        if found.is_empty() {
            load(place, pattern)?;
            all.push(pattern.clone());
        }
        all.extend(found);
    }
    Ok(all)
}

fn load(place: &Place, reference: &str) -> Result<()> {
    let heap = Heap::new();
    let disk = Disk::new();
    let cx = Context::new(&heap, &disk, place.options().clone());
    let base = cx.files.root(".").and_then(|root| cx.files.base(&root, reference, false));
    base.map(drop).map_err(|e| e.prefixed(&format!("{reference} has no match: ")))
}

/// Returns true if a path leads to a file or directory.
pub fn exists(path: &str) -> bool {
    is_in_reach(path) && Path::new(path).exists()
}

#[cfg(test)]
mod tests {
    use super::{BadPattern, matches};

    #[test]
    fn patterns_of_go() {
        let yes = [
            ("abc", "abc"),
            ("*", "abc"),
            ("*c", "abc"),
            ("a*", "a"),
            ("a*/b", "abc/b"),
            ("a*b*c*d*e*/f", "axbxcxdxe/f"),
            ("a*b?c*x", "abxbbxdbxebxczzx"),
            ("ab[c]", "abc"),
            ("ab[b-d]", "abc"),
            ("ab[^e-g]", "abc"),
            ("a\\*b", "a*b"),
            ("a?b", "a☺b"),
            ("[a-ζ]*", "α"),
            ("[\\]a]", "]"),
            ("[\\-x]", "-"),
            ("[x\\-]", "-"),
            ("*x", "xxx"),
            ("", ""),
            ("d/*.yaml", "d/a.yaml"),
            ("a[^a]b", "a☺b"),
        ];
        for (pattern, name) in yes {
            assert_eq!(matches(pattern, name), Ok(true), "{pattern} {name}");
        }
        let no = [
            ("a*", "ab/c"),
            ("a*/b", "a/c/b"),
            ("a*b*c*d*e*/f", "axbxcxdxe/xxx/f"),
            ("a*b?c*x", "abxbbxdbxebxczzy"),
            ("ab[e-g]", "abc"),
            ("ab[^c]", "abc"),
            ("a\\*b", "ab"),
            ("a???b", "a☺b"),
            ("*a", "α"),
            ("a?b", "a/b"),
            ("a*b", "a/b"),
            ("*.yaml", "d/a.yaml"),
            ("", "a"),
            ("a", ""),
        ];
        for (pattern, name) in no {
            assert_eq!(matches(pattern, name), Ok(false), "{pattern} {name}");
        }
        for pattern in ["[]a]", "[-]", "[x-]", "[-x]", "[a-b-c]", "[", "[^", "[^bc", "a[", "a\\", "[\\"] {
            assert_eq!(matches(pattern, "a"), Err(BadPattern), "{pattern}");
        }
    }
}
