//! The paths that files and kustomizations have in the copy.

use crate::diag::{Code, Error, Result};
use crate::load::artifact_reference::ArtifactReference;
use crate::load::remote::artifact_in;
use crate::load::{RepoSpec, clean, join};
use rustomize_base::windows_path::slashed;
use std::path::{Component, Path, PathBuf};

/// The directory in the copy of a kustomization that holds remote files and repositories.
pub(super) const REMOTE: &str = "localized-files";

/// The directory below [`REMOTE`] for repositories of this machine: without it their paths could be
/// the paths of a host.
const OF_THIS_MACHINE: &str = "file-schemed";

/// The directory below [`REMOTE`] for artifacts: a host may have a repository and an artifact of
/// the same name.
const OF_REGISTRIES: &str = "oci-schemed";

/// The path from a directory to a place, both absolute and without links.
///
/// # Errors
/// The path is not UTF-8.
pub(super) fn relative(from: &Path, to: &Path) -> Result<String> {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let ups = from.components().skip(common).map(|_| Component::ParentDir);
    let path: PathBuf = ups.chain(to.components().skip(common)).collect();
    match slashed(path.clone()).to_str() {
        Some("") => Ok(".".to_owned()),
        Some(path) => Ok(path.to_owned()),
        None => Err(Error::new(Code::Encoding, format!("the path '{}' is not UTF-8", path.display()))),
    }
}

/// The path in the copy of a file over HTTP. User, port and query are left out.
pub(super) fn of_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let path = rooted(&escaped(path));
    format!("{REMOTE}/{}{}", host(authority), if path == "/" { "" } else { &path })
}

/// The directory in the copy for the repository or artifact that a reference names. `None` for a
/// path of this machine.
///
/// # Errors
/// A reference to an artifact that is not valid.
pub(super) fn of_remote(reference: &str) -> Result<Option<String>> {
    match (RepoSpec::parse(reference), artifact_in(reference)) {
        (Some(spec), _) => Ok(Some(of_repository(&spec))),
        (None, Some(artifact)) => artifact.map(|artifact| Some(of_artifact(&artifact))),
        (None, None) => Ok(None),
    }
}

fn of_repository(spec: &RepoSpec) -> String {
    let (server, path) = spec.host_and_path();
    let host = match server.split_once("://") {
        Some(("file", _)) => OF_THIS_MACHINE,
        Some((_, authority)) => host(authority.trim_end_matches(['/', ':'])),
        None => host(server.trim_end_matches(['/', ':'])),
    };
    let path = path.strip_suffix(".git").unwrap_or(path);
    let path = rooted(path);
    join(REMOTE, &format!("{host}/{path}/{}", spec.reference))
}

/// The path of a URL, without `.` and `..`. Two slashes at its start are not those of a share.
fn rooted(path: &str) -> String {
    clean(&format!("/{}", path.trim_start_matches('/')))
}

fn of_artifact(reference: &ArtifactReference) -> String {
    let version = reference.version.replace(':', "-");
    format!("{REMOTE}/{OF_REGISTRIES}/{}/{version}", reference.repository.replace(':', "-"))
}

/// The host of an authority, without user, port and brackets.
fn host(authority: &str) -> &str {
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    match server.strip_prefix('[').and_then(|server| server.split_once(']')) {
        Some((address, _)) => address,
        None => server.split(':').next().unwrap_or_default(),
    }
}

/// A path in which the bytes are escaped that the path of a URL cannot have.
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@' | b'[' | b']'
            | b'-' | b'_' | b'.' | b'~' | b'/' | b'%' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{of_remote, of_url, relative};
    use crate::load::join;
    use std::path::Path;

    #[test]
    fn files_over_http() {
        for (url, path) in [
            ("https://raw.example.com/o/r/main/a.yaml", "localized-files/raw.example.com/o/r/main/a.yaml"),
            ("http://me:pw@127.0.0.1:8080/a/../../b.yaml?x=1#y", "localized-files/127.0.0.1/b.yaml"),
            ("https://h/a b/%2e%2E/c.yaml", "localized-files/h/a%20b/%2e%2E/c.yaml"),
            ("https://[::1]:80/a.yaml", "localized-files/::1/a.yaml"),
            ("https://h", "localized-files/h"),
        ] {
            assert_eq!(of_url(url), path);
        }
    }

    #[test]
    fn repositories() {
        for (raw, inside, path) in [
            ("https://github.com/o/r//a?ref=v1", "a", "localized-files/github.com/o/r/v1/a"),
            ("https://me:pw@h:8443/o/r.git/a?ref=x/y", "a", "localized-files/h/o/r/x/y/a"),
            ("git@h:o/r.git?ref=v1", ".", "localized-files/h/o/r/v1"),
            ("ssh://git@h:7999/o/r.git?ref=v1", ".", "localized-files/h/o/r/v1"),
            ("file:///srv/r.git//a/b?ref=v1", "a/b", "localized-files/file-schemed/srv/r/v1/a/b"),
            ("git@github.com:o/r?ref=v1", ".", "localized-files/github.com/o/r/v1"),
            ("oci://ghcr.io/o/r:v1//a", "a", "localized-files/oci-schemed/ghcr.io/o/r/v1/a"),
            ("oci://h:5000/r:v1", ".", "localized-files/oci-schemed/h-5000/r/v1"),
        ] {
            assert_eq!(join(&of_remote(raw).unwrap().unwrap(), inside), path, "{raw}");
        }
    }

    #[test]
    fn paths_between_directories() {
        for (from, to, path) in [("/a/b", "/a/b", "."), ("/a/b", "/a/c/d", "../c/d"), ("/", "/a", "a")] {
            assert_eq!(relative(Path::new(from), Path::new(to)).unwrap(), path);
        }
    }
}
