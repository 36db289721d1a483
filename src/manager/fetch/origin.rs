//! [`Origin`]: where a plugin came from. A source is what it is called; whoever requires it says
//! with `from` where it is fetched, and that may be anywhere.

use crate::diag::{Code, Error, Result};
use crate::fetch::Base;
use crate::id::location::{Location, LocationError};
use crate::id::name::PREFIX;
use crate::id::requirement::Requirement;
use crate::id::source::{Source, canonical};
use crate::load::host;
use crate::load::path::is_absolute;
use rustomize_base::shell::quoted;
use rustomize_base::windows_path::slashed;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The place that a plugin was fetched from: the host of its source, or another place. It is
/// written beside an installed plugin, and trust rules depend on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The place that its source names.
    Own,
    /// Another place, as a trust rule says it: `https://...`, `git::...`, `oci://...` or an
    /// absolute path.
    Elsewhere(String),
}

impl Origin {
    /// The origin of what is required. Relative paths are those of `base`.
    ///
    /// # Errors
    /// The requirement's `from` is not valid.
    pub fn of(wanted: &Requirement, base: &Base) -> Result<Origin> {
        let location = wanted.location().map_err(|e| Error::new(Code::BadPlugin, e.to_string()))?;
        Ok(Origin::at(&wanted.source, &location, base))
    }

    /// The origin of a source's plugin at a location. Relative paths are those of `base`.
    pub fn at(source: &Source, location: &Location, base: &Base) -> Origin {
        match place(location, base).filter(|place| !is_of(source, place)) {
            None => Origin::Own,
            Some(place) => Origin::Elsewhere(place),
        }
    }

    /// Reads the `from` of a rule for a source, or for a pattern of sources.
    ///
    /// # Errors
    /// No plugin can come from there.
    pub fn of_rule(sources: &str, from: &str, directory: &Path) -> std::result::Result<Option<String>, LocationError> {
        if from.contains('*') {
            return Ok(Some(from.to_owned()));
        }
        let place = place(&Location::parse(from)?, &Base::new(directory));
        let is_own = |place: &String| sources.parse().is_ok_and(|source| is_of(&source, place));
        Ok(place.filter(|place| !is_own(place)))
    }

    /// The address that is asked, as a source would write it: for rules that deny. `None` for a
    /// path of this machine.
    pub fn address(&self) -> Option<String> {
        let Origin::Elsewhere(text) = self else { return None };
        let canonical = canonical(&raw_address(text)?);
        let parts = canonical.split('/').filter(|part| !matches!(*part, "" | "."));
        let parts: Vec<&str> = parts.map(|part| part.strip_prefix(PREFIX).unwrap_or(part)).collect();
        Some(parts.join("/"))
    }

    /// The origin as a file in `directory` writes it: a path of this machine relative to the
    /// directory, everything else as it is; an empty text for the place that the source names.
    pub fn written_in(&self, directory: &Path) -> String {
        match self {
            Origin::Own => String::new(),
            Origin::Elsewhere(place) if is_absolute(place) => relative(Path::new(place), &absolute(directory)),
            Origin::Elsewhere(place) => place.clone(),
        }
    }

    /// Reads what [`Origin::written_in`] wrote.
    pub fn read_in(text: &str, directory: &Path) -> Origin {
        match text {
            "" => Origin::Own,
            path if path.starts_with(['.', '/']) => {
                Origin::Elsewhere(absolute(&directory.join(path)).display().to_string())
            }
            place => Origin::Elsewhere(place.to_owned()),
        }
    }

    /// What `plugin trust` is told to mean it, with a blank behind.
    pub fn flag(&self) -> String {
        match self {
            Origin::Own => String::new(),
            Origin::Elsewhere(text) => format!("--from {} ", quoted(text)),
        }
    }
}

/// A place, as [`Origin`] keeps it; `None` for the one that a source names.
fn place(location: &Location, base: &Base) -> Option<String> {
    Some(match location {
        Location::Releases => return None,
        Location::Http(url) => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        Location::Git(spec) => format!("git::{}", spec.url),
        Location::Oci(name) => format!("oci://{name}"),
        Location::Local(path) => match &base.within {
            Some(clone) => format!("git::{}", clone.url),
            None => absolute(&base.directory.join(path)).display().to_string(),
        },
    })
}

impl fmt::Display for Origin {
    /// As it follows the name of a source.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Own => Ok(()),
            Origin::Elsewhere(text) => write!(f, " from '{text}'"),
        }
    }
}

/// `host/path` of what is behind a scheme, or of `user@host:path`.
fn raw_address(text: &str) -> Option<String> {
    let text = text.strip_prefix("git::").unwrap_or(text);
    if is_absolute(text) {
        return None;
    }
    match text.split_once("://") {
        Some(("file", _)) => None,
        Some((scheme, rest)) if scheme.ends_with("ssh") => Some(without_ssh_port(rest)),
        Some((_, rest)) => Some(rest.to_owned()),
        None => {
            let (_, rest) = text.split_once('@')?;
            Some(rest.replacen(':', "/", 1))
        }
    }
}

/// `host/path` without the port that ssh implies.
fn without_ssh_port(rest: &str) -> String {
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    match host.rsplit_once(':') {
        Some((host, port)) if port.trim_start_matches('0') == "22" => format!("{host}/{path}"),
        _ => rest.to_owned(),
    }
}

/// Returns true if a place belongs to a source: its releases, its repository, or its path in a
/// registry. Other files of a host may be anybody's, such as attachments of an issue. A place in an
/// unusual spelling does not belong to a source.
fn is_of(source: &Source, text: &str) -> bool {
    let Some(address) = raw_address(text) else { return false };
    let (user_and_host, path) = address.split_once('/').unwrap_or((&address, ""));
    let is_ssh = text.contains("ssh://");
    let host = user_and_host.rsplit_once('@').filter(|_| is_ssh).map_or(user_and_host, |(_, host)| host);
    let is_plain = path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains(['%', '\\']);
    if !is_plain || !host::is_canonical(host) {
        return false;
    }
    let address = format!("{host}/{path}");
    let own = [format!("{}/{}", source.host(), source.repository()), source.to_string()];
    own.iter().filter_map(|own| address.strip_prefix(own.as_str())).any(|rest| match text.starts_with("http") {
        true => rest.starts_with("/releases/"),
        false => rest.is_empty() || rest == ".git" || rest.starts_with('/'),
    })
}

/// An absolute path without detours, as far as that is known.
fn absolute(path: &Path) -> PathBuf {
    if let Ok(real) = dunce::canonicalize(path) {
        return slashed(real);
    }
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.components().fold(PathBuf::new(), |mut clean, part| {
        match part {
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
        slashed(clean)
    })
}

/// A path without links, as one that begins in a directory without links.
fn relative(path: &Path, directory: &Path) -> String {
    let shared = path.components().zip(directory.components()).take_while(|(a, b)| a == b).count();
    let up = directory.components().skip(shared).map(|_| "..".to_owned());
    let down = path.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let start = if directory.components().count() == shared { Some(".".to_owned()) } else { None };
    start.into_iter().chain(up).chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::{Base, Location, Origin};
    use std::path::Path;

    fn origin(source: &str, from: &str) -> Origin {
        Origin::at(&source.parse().unwrap(), &Location::parse(from).unwrap(), &Base::new(Path::new("/w")))
    }

    #[test]
    fn a_source_is_at_home_on_its_host_under_its_name_alone() {
        for from in [
            "",
            "https://h.io/a/rustomize-plugin-p/releases/{version}",
            "git::https://h.io/a/rustomize-plugin-p.git//dir?ref=v1",
            "git@h.io:a/p.git",
            "oci://h.io/a/p",
        ] {
            assert_eq!(origin("h.io/a/p", from), Origin::Own, "{from}");
        }
        for (from, text) in [
            ("./p", "/w/p"),
            ("../p", "/p"),
            ("https://h.io/a/other?x", "https://h.io/a/other"),
            ("https://h.io/a/p/releases//evil", "https://h.io/a/p/releases//evil"),
            ("https://h.io/a/p/files/1/evil.zip", "https://h.io/a/p/files/1/evil.zip"),
            ("https://h.io/a/p/raw/refs/pull/1/head/evil", "https://h.io/a/p/raw/refs/pull/1/head/evil"),
            ("https://h.io/a/%70/releases/x", "https://h.io/a/%70/releases/x"),
            ("git::https://evil.io/a/p", "git::https://evil.io/a/p"),
            ("oci://h.io/a/pp", "oci://h.io/a/pp"),
        ] {
            assert_eq!(origin("h.io/a/p", from), Origin::Elsewhere(text.to_owned()), "{from}");
        }
    }

    #[test]
    fn an_origin_of_this_machine_is_written_as_a_relative_path() {
        let written = |place: &str, directory: &str| {
            let origin = Origin::Elsewhere(place.to_owned());
            let text = origin.written_in(Path::new(directory));
            assert_eq!(Origin::read_in(&text, Path::new(directory)), origin);
            text
        };
        assert_eq!(written("/w/plugins/app", "/w"), "./plugins/app");
        assert_eq!(written("/w/app", "/w/x/y"), "../../app");
        assert_eq!(written("https://h.io/x", "/w"), "https://h.io/x");
        assert_eq!(Origin::read_in(&Origin::Own.written_in(Path::new("/w")), Path::new("/w")), Origin::Own);
    }

    #[test]
    fn the_address_is_as_a_source_would_be_written() {
        for (from, want) in [
            ("https://h.io/a/b%61d/x", "h.io/a/bad/x"),
            ("git::https://h.io/A/rustomize-plugin-bad.git", "h.io/a/bad"),
            ("git@h.io:a/bad.git", "h.io/a/bad"),
            ("git::ssh://git@h.io:22/a/bad.git", "h.io/a/bad"),
            ("oci://h.io/a//bad", "h.io/a/bad"),
        ] {
            assert_eq!(origin("x.io/a/p", from).address().as_deref(), Some(want), "{from}");
        }
        assert_eq!(origin("x.io/a/p", "./p").address(), None);
    }
}
