//! The packages that a plugin's files pin for its language: versions with their checksums. Anything
//! that would make a package manager look elsewhere, or run code from elsewhere, is refused.

use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use rustomize_sources::ReadFile;
use rustomize_yaml::Place;
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

/// A version with hashes, as pip writes it in its mode for hashes; extras and a marker may be
/// there. Nothing in a marker can be taken for an option.
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?";
    let version = r"[A-Za-z0-9][A-Za-z0-9.!+_-]*";
    let marker = r#"[A-Za-z0-9_.,'"()<>=!~\s]+"#;
    let hash = r"--hash=(?:sha256|sha384|sha512):[0-9a-fA-F]{64,128}";
    let extras = format!(r"\[\s*{name}(?:\s*,\s*{name})*\s*\]");
    Regex::new(&format!(r"^{name}\s*(?:{extras})?\s*==\s*{version}\s*(?:;{marker})?(?:\s+{hash})+$")).ok()
});

const REQUIREMENTS: &str =
    "write it as pip-compile --generate-hashes does: NAME==VERSION --hash=sha256:SUM, without options";

const LOCK: &str =
    "write it again with 'npm install --package-lock-only': it needs packages of a registry with their checksums";

fn read(path: &Path) -> Result<String> {
    FileLimit::default()
        .read_to_string(path)
        .map_err(|e| Error::io(&e, format!("cannot read '{}': {e}", path.display())))
}

/// The lines of a `requirements.txt`, without comments, each in one line.
///
/// # Errors
/// A line is not a version with hashes.
pub fn requirements(path: &Path) -> Result<Vec<String>> {
    let text = read(path)?;
    let mut found = Vec::new();
    let mut whole = String::new();
    let mut start = 1;
    for (i, line) in text.lines().enumerate() {
        if whole.is_empty() {
            start = i + 1;
        }
        let line = without_comment(line).trim();
        let (part, goes_on) = line.strip_suffix('\\').map_or((line, false), |part| (part.trim_end(), true));
        if !whole.is_empty() && !part.is_empty() {
            whole.push(' ');
        }
        whole.push_str(part);
        if !goes_on && !whole.is_empty() {
            found.push(requirement(path, start, std::mem::take(&mut whole))?);
        }
    }
    if !whole.is_empty() {
        found.push(requirement(path, start, whole)?);
    }
    Ok(found)
}

/// A line without its comment: behind a `#` at its start or behind a blank.
fn without_comment(line: &str) -> &str {
    let is_start = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    line.match_indices('#').find(|(at, _)| is_start(*at)).map_or(line, |(at, _)| &line[..at])
}

fn requirement(path: &Path, line: usize, text: String) -> Result<String> {
    if LINE.as_ref().is_some_and(|form| form.is_match(&text)) {
        return Ok(text);
    }
    let place = Place { file: path.display().to_string(), line, column: 1 };
    let shown: String = text.chars().take(80).collect();
    let message = format!("'{shown}' is not a version with --hash; nothing else is installed");
    Err(Error::new(Code::Checksum, message).at(Some(place)).hint(REQUIREMENTS))
}

/// The `package-lock.json` that npm gets: all its packages come from a registry, each with its
/// checksum.
///
/// # Errors
/// A package comes from elsewhere or lacks its checksum, or the file does not have this form.
pub fn package_lock(path: &Path) -> Result<String> {
    let (text, mut lock) = json(path)?;
    let wrong = |key: &str, why: &str| {
        let line = text.lines().position(|line| line.contains(&format!("\"{key}\""))).unwrap_or(0) + 1;
        let place = Place { file: path.display().to_string(), line, column: 1 };
        let message = format!("'{key}' of package-lock.json {why}");
        Error::new(Code::BadPlugin, message).at(Some(place)).hint(LOCK)
    };
    let Some(packages) = lock["packages"].as_object() else {
        return Err(wrong("lockfileVersion", "is of a version before 2"));
    };
    // The first is the plugin itself: its package.json says the same.
    for (key, package) in packages.iter().filter(|(key, _)| !key.is_empty()) {
        check_dependencies(package).map_err(|why| wrong(key, &why))?;
        if key.contains('\\')
            || key.split('/').any(|part| part == "..")
            || !key.starts_with("node_modules/")
            || package["link"] == true
        {
            return Err(wrong(key, "is a directory, not a package of a registry"));
        }
        let resolved = package.get("resolved").map(|url| url.as_str().unwrap_or_default());
        if let Some(url) = resolved.filter(|url| !is_web(url)) {
            return Err(wrong(key, &format!("comes from '{url}', which is not a registry")));
        }
        // Also of a package that another one is said to bring: npm fetches it if that does not.
        if !is_integrity(package) {
            return Err(wrong(key, "has no strong checksum (\"integrity\" with sha512)"));
        }
        // npm reads the lock file in such a package instead of this one.
        if !matches!(package["hasShrinkwrap"], Value::Null | Value::Bool(false)) {
            return Err(wrong(key, "has a lock file of its own (\"hasShrinkwrap\"), which is not checked"));
        }
    }
    // Older versions of npm read this field instead.
    if let Some(lock) = lock.as_object_mut() {
        lock.remove("dependencies");
    }
    Ok(lock.to_string())
}

/// Returns true if an entry has checksums, and each of them is strong and complete: a tool takes an
/// unknown or a broken one for none.
fn is_integrity(package: &Value) -> bool {
    const KINDS: [(&str, usize); 3] = [("sha512-", 64), ("sha384-", 48), ("sha256-", 32)];
    let is_strong = |sum: &str| {
        let found = KINDS.iter().find_map(|(name, length)| Some((sum.strip_prefix(name)?, *length)));
        found.is_some_and(|(text, length)| STANDARD.decode(text).is_ok_and(|bytes| bytes.len() == length))
    };
    let sums = package["integrity"].as_str().unwrap_or_default();
    sums.split_whitespace().next().is_some() && sums.split_whitespace().all(is_strong)
}

/// Checks a `deno.lock`: everything that deno fetches by it has its checksum there.
///
/// # Errors
/// A package or module lacks its checksum, or the file does not have this form.
pub fn deno_lock(path: &Path) -> Result<()> {
    let (text, lock) = json(path)?;
    let wrong = |key: &str, why: &str| {
        let line = text.lines().position(|line| line.contains(&format!("\"{key}\""))).unwrap_or(0) + 1;
        let place = Place { file: path.display().to_string(), line, column: 1 };
        let error = Error::new(Code::BadPlugin, format!("'{key}' of deno.lock {why}")).at(Some(place));
        error.hint("write it again with 'deno install': each package and module needs its checksum")
    };
    let is_hex =
        |sum: &Value| sum.as_str().is_some_and(|sum| sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit()));
    // Before version 4 the packages were below a field of their own.
    let lists = |name: &str| {
        let lists = [&lock[name], &lock["packages"][name]];
        lists.into_iter().filter_map(Value::as_object).flatten()
    };
    for (key, package) in lists("npm") {
        if !is_integrity(package) {
            return Err(wrong(key, "has no strong checksum (\"integrity\" with sha512)"));
        }
        if package.get("tarball").is_some() {
            return Err(wrong(key, "comes from an address (\"tarball\"), which is not a registry"));
        }
    }
    for (key, package) in lists("jsr") {
        if !is_hex(&package["integrity"]) {
            return Err(wrong(key, "has no checksum (\"integrity\" with SHA-256)"));
        }
    }
    for (key, sum) in lists("remote") {
        if !is_hex(sum) {
            return Err(wrong(key, "has no checksum (SHA-256)"));
        }
    }
    Ok(())
}

/// The text of a `package.json` whose dependencies are versions.
///
/// # Errors
/// A dependency is a place, or the file is not a `package.json`.
pub fn package_json(path: &Path) -> Result<String> {
    let (text, package) = json(path)?;
    check_dependencies(&package).map_err(|why| {
        let place = Place { file: path.display().to_string(), line: 1, column: 1 };
        Error::new(Code::BadPlugin, format!("package.json {why}")).at(Some(place)).hint(LOCK)
    })?;
    Ok(text)
}

/// Returns whether a `package.json` names packages that the plugin runs with.
pub fn needs_packages(path: &Path) -> bool {
    let package = json(path).map(|(_, package)| package).unwrap_or_default();
    package["dependencies"].as_object().is_some_and(|dependencies| !dependencies.is_empty())
}

fn json(path: &Path) -> Result<(String, Value)> {
    let text = read(path)?;
    let value = serde_json::from_str(&text).map_err(|e| {
        let place = Place { file: path.display().to_string(), line: e.line(), column: e.column() };
        Error::new(Code::BadPlugin, format!("malformed JSON: {e}")).at(Some(place))
    })?;
    Ok((text, value))
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Checks that all dependencies of a package are versions, tags or other names of packages.
fn check_dependencies(package: &Value) -> std::result::Result<(), String> {
    const KINDS: [&str; 5] =
        ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides"];
    for (name, wanted) in KINDS.iter().filter_map(|kind| package[*kind].as_object()).flatten() {
        let wanted = wanted.as_str().unwrap_or_default();
        let is_version = !wanted.contains([':', '/']) || wanted.starts_with("npm:");
        if !is_version {
            return Err(format!("needs '{name}' from '{wanted}', which is not a registry"));
        }
    }
    Ok(())
}
