//! [`Location`]: where the versions of a plugin are fetched from (P01, P14).

use super::source::Source;
use crate::load::RepoSpec;
use crate::load::http::is_url;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// Where a plugin comes from.
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

/// Why a text is no location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationError(String);

impl fmt::Display for LocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is no place to fetch a plugin from: write 'https://host/file', 'git::https://host/repository//directory', \
             'oci://host/repository' or './path'",
            self.0
        )
    }
}

impl std::error::Error for LocationError {}

impl Location {
    /// Reads a location.
    ///
    /// # Errors
    /// It is of no form that is known.
    pub fn parse(text: &str) -> Result<Location, LocationError> {
        let wrong = || LocationError(text.to_owned());
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
            return Ok(Location::Http(text.to_owned()));
        }
        if text.starts_with('.') || text.starts_with('/') {
            return Ok(Location::Local(text.into()));
        }
        Err(wrong())
    }
}

/// The beginning of a URL for a host: encrypted, but on this machine itself, as with other clients
/// of registries.
pub fn scheme(host: &str) -> &'static str {
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    let bare = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(bare, _)| bare);
    let address: Option<IpAddr> = bare.trim_start_matches('[').trim_end_matches(']').parse().ok();
    if bare == "localhost" || address.is_some_and(|address| address.is_loopback()) { "http" } else { "https" }
}

/// The repository of the releases of a source.
pub fn repository_url(source: &Source) -> String {
    format!("{}://{}/{}", scheme(source.host()), source.host(), source.repository())
}

#[cfg(test)]
mod tests {
    use super::{Location, repository_url, scheme};
    fn parse(text: &str) -> Option<Location> {
        Location::parse(text).ok()
    }

    #[test]
    fn p01_places_to_fetch_from() {
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
    fn p14_releases_are_those_of_the_repository_with_the_prefix() {
        let url = |source: &str| repository_url(&source.parse().unwrap());
        assert_eq!(url("github.com/x/y"), "https://github.com/x/rustomize-plugin-y");
        assert_eq!(url("127.0.0.1:8080/x/y"), "http://127.0.0.1:8080/x/rustomize-plugin-y");
        assert_eq!(["localhost", "localhost:5000", "[::1]:5000", "127.0.0.1"].map(scheme), ["http"; 4]);
        assert_eq!(["127.0.0.1.h.io", "localhost.h.io:80", "h.io", "10.0.0.1:80"].map(scheme), ["https"; 4]);
    }
}
