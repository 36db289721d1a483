//! [`Location`]: the place that the versions of a plugin are fetched from.

use super::source::Source;
use super::version::Version;
use crate::load::host::{self, is_protected, plain};
use crate::load::path::{self, is_absolute};
use crate::load::{RepoSpec, is_url};
use percent_encoding::percent_decode_str;
use rustomize_base::shown::is_unseen;
use std::fmt;
use std::path::{Path, PathBuf};

/// The place that a plugin is fetched from: the field `from` of a requirement, as it is read. Trust
/// rules see it as an `Origin` of the group `fetch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// Releases of the repository that the source names, as GitHub lays them out.
    Releases,
    /// A file or an archive behind a URL, which may have `{version}`, `{os}` and `{arch}` in it.
    Http(String),
    /// A directory of a git repository. Versions are its tags `v1.2.3`; a reference fixes one.
    Git(Box<RepoSpec>),
    /// A repository of an OCI registry, `host/path`. Versions are its tags.
    Oci(String),
    /// A file or directory of this machine; a relative path is one of whoever names it.
    Local(PathBuf),
}

/// The reason why a text is not a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocationError {
    /// It is of no form that is known.
    Form(String),
    /// Its host or its path is written in another way than the canonical one; which that is.
    Spelling { text: String, canonical: String },
    /// The path contains `.` or `..`, or the host is not valid.
    Path(String),
    /// It would be fetched without encryption, from another machine.
    Plain(String),
    /// A URL has braces around a word that stands for nothing; which word.
    Placeholder(String, String),
    /// It is a path of this machine that is not that of a file; why.
    File(String, &'static str),
}

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LocationError::Form(text) => write!(
                f,
                "'{}' is no place to fetch a plugin from: write 'https://host/file', \
                 'git::https://host/repository//directory', 'oci://host/repository' or './path'",
                host::without_user(text)
            ),
            LocationError::Spelling { text, canonical } => {
                let text = host::without_user(text);
                write!(f, "'{text}' is another spelling of '{canonical}', and each place has only one")
            }
            LocationError::Path(text) => {
                let text = host::without_user(text);
                write!(f, "'{text}' is not a plain address: its host is not a name or an address, or it has '..'")
            }
            LocationError::Plain(text) => write!(f, "{}", plain(text)),
            LocationError::Placeholder(text, word) => {
                let text = host::without_user(text);
                write!(f, "'{text}' has {{{word}}}, which stands for nothing: write {{version}}, {{os}} or {{arch}}")
            }
            LocationError::File(text, fault) => write!(f, "'{text}' {fault}"),
        }
    }
}

impl std::error::Error for LocationError {}

impl Location {
    /// Reads a location.
    ///
    /// # Errors
    /// The location has an unknown form.
    pub fn parse(text: &str) -> Result<Location, LocationError> {
        if text.contains(is_unseen) {
            return Err(LocationError::Form(text.to_owned()));
        }
        let location = Location::of(text)?;
        match is_protected(text) {
            true => check_spelling(text).map(|()| location),
            false => Err(LocationError::Plain(text.to_owned())),
        }
    }

    /// The part of the place that no trust rule sees: the directory in a repository with its
    /// reference, and the query of a URL. It tells the plugins of one place apart.
    pub fn within(&self) -> String {
        match self {
            Location::Git(spec) => {
                let path = if spec.path.is_empty() { String::new() } else { format!("//{}", spec.path) };
                let reference =
                    if spec.reference.is_empty() { String::new() } else { format!("?ref={}", spec.reference) };
                path + &reference
            }
            Location::Http(url) => url.find(['?', '#']).map_or_else(String::new, |at| url[at..].to_owned()),
            Location::Releases | Location::Oci(_) | Location::Local(_) => String::new(),
        }
    }

    /// Returns true if a URL belongs to this location, for a version of a source and for a platform
    /// in the spelling of a lock file.
    pub fn gives(&self, source: &Source, url: &str, version: Option<&Version>, platform: &str) -> bool {
        match self {
            Location::Releases => {
                let version = version.map(ToString::to_string).unwrap_or_default();
                let base = format!("{}/releases/download/v{version}/", repository_url(source));
                url.strip_prefix(&base).is_some_and(|name| !name.contains(['/', '\\', '?', '#', '%']))
            }
            Location::Http(template) => {
                let (os, arch) = platform.split_once('_').unwrap_or((platform, ""));
                let version = version.map(ToString::to_string).unwrap_or_default();
                let wanted = template.replace("{version}", &version).replace("{os}", os).replace("{arch}", arch);
                url == wanted
            }
            Location::Git(spec) => {
                RepoSpec::parse(url).is_some_and(|found| (&found.url, &found.path) == (&spec.url, &spec.path))
            }
            Location::Oci(name) => {
                url.strip_prefix("oci://").and_then(|url| url.split_once('@')).is_some_and(|u| u.0 == name)
            }
            Location::Local(path) => Path::new(url) == path,
        }
    }

    fn of(text: &str) -> Result<Location, LocationError> {
        let wrong = || LocationError::Form(text.to_owned());
        if text.is_empty() {
            return Ok(Location::Releases);
        }
        if text.starts_with("git::") || text.starts_with("git@") || text.starts_with("ssh://") {
            return RepoSpec::parse(text).map(|spec| Location::Git(Box::new(spec))).ok_or_else(wrong);
        }
        if let Some(rest) = text.strip_prefix("oci://") {
            let is_repository = rest.split_once('/').is_some_and(|(host, path)| !host.is_empty() && !path.is_empty());
            return if is_repository && !rest.contains(['@', '?', '#']) {
                Ok(Location::Oci(rest.to_owned()))
            } else {
                Err(wrong())
            };
        }
        if is_url(text) {
            return match other_placeholder(text) {
                Some(word) => Err(LocationError::Placeholder(text.to_owned(), word.to_owned())),
                None => Ok(Location::Http(text.to_owned())),
            };
        }
        if text.starts_with('.') || is_absolute(text) {
            return match path::fault(text) {
                Some(fault) => Err(LocationError::File(text.to_owned(), fault)),
                None => Ok(Location::Local(text.into())),
            };
        }
        Err(wrong())
    }
}

/// The first word in braces that a URL is not filled with.
fn other_placeholder(url: &str) -> Option<&str> {
    let words = url.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(word, _)| word);
    let is_word =
        |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.- $".contains(&b));
    words.filter(is_word).find(|word| !matches!(*word, "version" | "os" | "arch"))
}

/// Holds what is behind a scheme to the one spelling of its host, and to a path without detours:
/// rules are compared with these.
fn check_spelling(text: &str) -> Result<(), LocationError> {
    let Some((scheme, rest)) = text.split_once("://") else { return Ok(()) };
    if scheme.to_ascii_lowercase().ends_with("file") {
        return Ok(());
    }
    let at = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    // The user of a URL does not belong to the place.
    let (user, host) = match host.rsplit_once('@') {
        Some((user, host)) if scheme.ends_with("ssh") => (format!("{user}@"), host),
        _ => (String::new(), host),
    };
    let decoded = percent_decode_str(path.split(['?', '#']).next().unwrap_or_default()).decode_utf8_lossy();
    let is_detour = decoded.split(['/', '\\']).any(|part| matches!(part, "." | ".."));
    let Some(canonical) = host::canonical(host).filter(|_| !is_detour) else {
        return Err(LocationError::Path(text.to_owned()));
    };
    let canonical = format!("{}://{user}{canonical}{path}", scheme.to_ascii_lowercase());
    match canonical == text {
        true => Ok(()),
        false => Err(LocationError::Spelling { text: text.to_owned(), canonical }),
    }
}

/// The repository of the releases of a source.
pub fn repository_url(source: &Source) -> String {
    format!("{}://{}/{}", host::scheme(source.host()), source.host(), source.repository())
}

#[cfg(test)]
mod tests {
    use super::{Location, LocationError, is_protected, repository_url};
    fn parse(text: &str) -> Option<Location> {
        Location::parse(text).ok()
    }

    #[test]
    fn a_location_is_a_url_a_repository_a_registry_or_a_path() {
        assert_eq!(parse(""), Some(Location::Releases));
        assert_eq!(parse("https://h.io/a_{version}"), Some(Location::Http("https://h.io/a_{version}".to_owned())));
        assert_eq!(parse("oci://h.io/acme/app"), Some(Location::Oci("h.io/acme/app".to_owned())));
        assert_eq!(parse("./app"), Some(Location::Local("./app".into())));
        let Some(Location::Git(spec)) = parse("git::https://h.io/repo.git//dir?ref=v1.0.0") else { panic!("no git") };
        assert_eq!((spec.url.as_str(), spec.path.as_str()), ("https://h.io/repo.git", "dir"));
        for text in ["oci://h.io", "oci://h.io/a@sha256:0", "app", "git::", "ftp://h.io/a"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_url_has_no_other_placeholder() {
        assert!(parse("https://h.io/{version}/{os}_{arch}.tar.gz").is_some());
        for word in ["ver", "VERSION", "platform"] {
            let text = format!("https://h.io/{{{word}}}/a");
            assert_eq!(Location::parse(&text), Err(LocationError::Placeholder(text.clone(), word.to_owned())));
        }
    }

    #[test]
    fn a_place_has_one_spelling() {
        for (text, want) in [
            ("https://H.io/a", "https://h.io/a"),
            ("HTTPS://h.io/a", "https://h.io/a"),
            ("git::https://h.io.:443/A.git", "git::https://h.io/A.git"),
            ("oci://u@h.io/a", "oci://h.io/a"),
            ("ssh://git@H.io/a/b", "ssh://git@h.io/a/b"),
        ] {
            let canonical = want.to_owned();
            let text = text.to_owned();
            // The address of a registry cannot contain a user.
            let is_form = Location::parse(&text) == Err(LocationError::Form(text.clone()));
            assert!(is_form || Location::parse(&text) == Err(LocationError::Spelling { text, canonical }), "{want}");
        }
        for text in ["https://h.io/a/../b", "https://h.io/a/%2e%2E/b", "https://h..io/a"] {
            assert_eq!(Location::parse(text), Err(LocationError::Path(text.to_owned())));
        }
    }

    #[test]
    fn without_encryption_only_from_this_machine() {
        for text in ["http://127.0.0.1:1/a", "git::http://localhost/a/b", "https://h.io/a", "./a", "git@h.io:a/b"] {
            assert!(is_protected(text) && parse(text).is_some(), "{text}");
        }
        for text in
            ["http://h.io/a", "HTTP://h.io/a", "git::http://h.io/a.git", "http://0.0.0.0/a", "http://127.0.0.1@h.io/a"]
        {
            assert_eq!(Location::parse(text), Err(LocationError::Plain(text.to_owned())));
        }
    }

    #[test]
    fn a_password_is_in_no_message() {
        for text in ["https://u:word@h.io/a", "http://u:word@h.io/a", "oci://u:word@h.io/a", "https://u:word@h..io/a"] {
            let error = Location::parse(text).unwrap_err().to_string();
            assert!(error.contains("://...@h.") && !error.contains("word"), "{error}");
        }
    }

    #[test]
    fn releases_are_those_of_the_repository_with_the_prefix() {
        let url = |source: &str| repository_url(&source.parse().unwrap());
        assert_eq!(url("github.com/x/y"), "https://github.com/x/rustomize-plugin-y");
        assert_eq!(url("127.0.0.1:8080/x/y"), "http://127.0.0.1:8080/x/rustomize-plugin-y");
    }
}
