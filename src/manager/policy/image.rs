//! [`Image`]: the name of a container function's image, and its digest in a lock.
//!
//! A registry may give another image for the same tag tomorrow. The lock keeps the digest that a
//! tag stood for when it was locked, and a build runs that. It is the digest of the index, where
//! there is one: it holds for the machines of everybody.

use super::lock::{self, Lock};
use super::project_directory::ProjectDirectory;
use crate::diag::{Code, Error, Result};
use rustomize_base::shell::quoted;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The registry of an image that names none, as docker has it, and the host that serves it.
const DOCKER: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// The name of an image, in the parts that docker sees in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub registry: String,
    /// The repository in the registry.
    pub path: String,
    /// `latest` for a name without a tag.
    pub tag: String,
    /// As in `sha256:0123...`.
    pub digest: Option<String>,
}

impl Image {
    /// Reads a name as docker reads it.
    ///
    /// # Errors
    /// The text is not the name of an image.
    pub fn parse(name: &str) -> Result<Image> {
        let invalid = || {
            Error::new(Code::BadReference, format!("'{}' is not a valid name of an image", name.escape_debug()))
                .hint("it is written as in ghcr.io/owner/function:v1.2.3, or with @sha256:... behind it")
        };
        let (named, digest) = match name.split_once('@') {
            Some((named, digest)) => (named, Some(digest.to_owned())),
            None => (name, None),
        };
        let (registry, rest) = match named.split_once('/') {
            Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest.to_owned()),
            Some(_) => (DOCKER.0, named.to_owned()),
            None => (DOCKER.0, format!("library/{named}")),
        };
        let (path, tag) = rest.split_once(':').unwrap_or((&rest, "latest"));
        let is_part = |part: &str| {
            let is_known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
            part.starts_with(|c: char| c.is_ascii_alphanumeric()) && part.bytes().all(is_known)
        };
        let is_tag = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        let is_valid = path.split('/').all(is_part)
            && (1..=128).contains(&tag.len())
            && tag.bytes().all(is_tag)
            && digest.as_deref().is_none_or(is_digest)
            && !registry.is_empty()
            && registry.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b));
        match is_valid {
            true => Ok(Image { registry: registry.to_owned(), path: path.to_owned(), tag: tag.to_owned(), digest }),
            false => Err(invalid()),
        }
    }

    /// The repository, behind the host that serves it.
    pub fn repository(&self) -> String {
        let host = if self.registry == DOCKER.0 { DOCKER.1 } else { &self.registry };
        format!("{host}/{}", self.path)
    }

    /// The image with a digest in place of its tag, written so that every engine reads the same
    /// name.
    fn pinned(&self, digest: &str) -> String {
        format!("{}/{}@{digest}", self.registry, self.path)
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.registry, self.path, self.tag)
    }
}

/// Returns whether a text is a digest that is known here.
pub fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:").unwrap_or_default();
    hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The image that a build runs where its files name `written`: what the first lock of `directories`
/// says that has the image; without one, what is written, as under kustomize. An image with a
/// digest is used as it is.
///
/// # Errors
/// Only what is locked may be used and the image is in none of the locks, or a lock cannot be read.
pub fn for_build(directories: &[ProjectDirectory], is_frozen: bool, written: &str) -> Result<String> {
    if written.contains('@') {
        return Ok(written.to_owned());
    }
    let mut nearest = None;
    for directory in directories {
        let Some(lock) = Lock::read_in(directory)? else { continue };
        let directory = &directory.path;
        if let Some(digest) = lock.images.get(written) {
            return pinned(&directory.join(lock::FILE), written, digest);
        }
        nearest = nearest.or(Some(directory));
    }
    match nearest {
        Some(directory) if is_frozen => Err(not_locked(&directory.join(lock::FILE), directory, written)),
        _ => Ok(written.to_owned()),
    }
}

fn pinned(path: &Path, written: &str, digest: &str) -> Result<String> {
    if !is_digest(digest) {
        let message = format!("'{}' has no valid digest for the image '{written}'", path.display());
        return Err(Error::new(Code::BadValue, message).hint("it is written as sha256: and 64 hexadecimal digits"));
    }
    Ok(Image::parse(written)?.pinned(digest))
}

fn not_locked(path: &Path, directory: &Path, written: &str) -> Error {
    let message = format!("the image '{written}' is not in '{}', and only what is locked may be used", path.display());
    let (directory, image) = (quoted(&directory.to_string_lossy()), quoted(written));
    Error::new(Code::BadPlugin, message)
        .hint(format!("lock it and commit the file: rustomize plugin lock {directory} --image {image}"))
        .hint("where CI is set only what is locked is used; --frozen=false says otherwise")
}

/// The digests of images, by their names: those that are known, and for the others what `resolve`
/// says. A name with a digest needs none.
///
/// # Errors
/// A name is not valid, or an error of `resolve`.
pub fn digests(
    names: impl IntoIterator<Item = String>,
    known: &BTreeMap<String, String>,
    resolve: impl Fn(&Image) -> Result<String>,
) -> Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for name in names {
        let image = Image::parse(&name)?;
        if image.digest.is_some() || digests.contains_key(&name) {
            continue;
        }
        let digest = match known.get(&name) {
            Some(digest) => digest.clone(),
            None => resolve(&image).map_err(|e| e.context(format!("locking the image '{name}'")))?,
        };
        digests.insert(name, digest);
    }
    Ok(digests)
}

/// The files below a directory that may name images: YAML files, without what is hidden. Links are
/// not followed.
///
/// # Errors
/// A directory cannot be read.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut queue = vec![directory.to_owned()];
    while let Some(folder) = queue.pop() {
        let unreadable = |e| Error::io(&e, format!("cannot read '{}': {e}", folder.display()));
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
            if kind.is_dir() && !is_hidden {
                queue.push(path);
            } else if kind.is_file() && is_yaml {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{Image, ProjectDirectory, for_build};
    use crate::policy::lock::Lock;

    #[test]
    fn names_are_read_as_docker_reads_them() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (name, registry, path, tag) in [
            ("alpine", "docker.io", "library/alpine", "latest"),
            ("owner/fn:v1", "docker.io", "owner/fn", "v1"),
            ("ghcr.io/o/fn:v1.2", "ghcr.io", "o/fn", "v1.2"),
            ("localhost/fn:1", "localhost", "fn", "1"),
            ("127.0.0.1:5000/a/b/c", "127.0.0.1:5000", "a/b/c", "latest"),
        ] {
            let image = Image::parse(name).unwrap();
            let parts = (image.registry.as_str(), image.path.as_str(), image.tag.as_str());
            assert_eq!((parts, image.digest.clone()), ((registry, path, tag), None), "{name}");
            assert_eq!(image.pinned(&digest), format!("{registry}/{path}@{digest}"));
            assert_eq!(Image::parse(&format!("{name}@{digest}")).unwrap().digest, Some(digest.clone()));
        }
        assert_eq!(Image::parse("alpine").unwrap().repository(), "registry-1.docker.io/library/alpine");
        for name in ["", "-x", "a b", "a:", "A", "a//b", "ghcr.io/", "a@sha256:0", "a@md5:00", "h.io/a/../b", "a\n"] {
            assert!(Image::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_lock_says_which_image_runs() {
        let folder = tempfile::tempdir().unwrap();
        let digest = format!("sha256:{}", "0a".repeat(32));
        let at = |is_frozen, written: &str| {
            for_build(&[ProjectDirectory::named(folder.path())], is_frozen, written).map_err(|e| e.to_string())
        };
        assert_eq!(at(true, "fn:v1").as_deref(), Ok("fn:v1"), "without a lock, as under kustomize");
        let mut lock = Lock::default();
        lock.images.insert("fn:v1".to_owned(), digest.clone());
        lock.images.insert("fn:bad".to_owned(), "sha256:x --privileged".to_owned());
        lock.write(folder.path()).unwrap();
        assert_eq!(at(true, "fn:v1"), Ok(format!("docker.io/library/fn@{digest}")));
        assert_eq!(at(false, "fn:v2").as_deref(), Ok("fn:v2"));
        assert!(at(true, "fn:v2").unwrap_err().contains("the image 'fn:v2' is not in"));
        assert!(at(false, "fn:bad").unwrap_err().contains("no valid digest"));
        let exact = format!("fn@{digest}");
        assert_eq!(at(true, &exact), Ok(exact.clone()));
    }
}
