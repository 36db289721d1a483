//! [`ArtifactReference`]: references to directories in OCI registries, as Flux and oras push them.
//! They are an extension: kustomize takes them for paths.

use super::{clean, host};
use crate::diag::{Code, Error, Result};

/// The beginning of a reference.
const SCHEME: &str = "oci://";

/// `oci://host/repository:tag//directory` or `oci://host/repository@sha256:...//directory`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactReference {
    /// The reference as it was written.
    pub raw: String,
    /// `host/repository`.
    pub repository: String,
    /// A tag, or a digest that begins with `sha256:`.
    pub version: String,
    /// A directory in the artifact; empty for its top.
    pub path: String,
}

/// Returns true if a text begins like a reference to an artifact.
pub fn is_artifact(text: &str) -> bool {
    text.get(..SCHEME.len()).is_some_and(|head| head.eq_ignore_ascii_case(SCHEME))
}

impl ArtifactReference {
    /// Reads a reference.
    ///
    /// # Errors
    /// A part is missing or is not valid.
    pub fn parse(raw: &str) -> Result<Self> {
        let fault = |why: &str| {
            let error = Error::new(
                Code::BadReference,
                format!("'{}' is not a reference to an artifact: {why}", host::without_user(raw)),
            );
            error.hint("write 'oci://host/repository:tag' or 'oci://host/repository@sha256:...'")
        };
        let rest = raw.get(SCHEME.len()..).unwrap_or_default();
        let (name, path) = rest.split_once("//").unwrap_or((rest, ""));
        let path = Some(clean(path.trim_start_matches('/'))).filter(|path| path != ".").unwrap_or_default();
        if path.starts_with("..") {
            return Err(fault("its directory leads out of the artifact"));
        }
        let (name, digest) = name.split_once('@').map_or((name, None), |(name, digest)| (name, Some(digest)));
        let (host, below) = name.split_once('/').ok_or_else(|| fault("it has no repository"))?;
        if !host::is_canonical(host) {
            return Err(fault("its host is not a name or an address in lower case"));
        }
        let (repository, tag) = below.split_once(':').map_or((below, None), |(path, tag)| (path, Some(tag)));
        let is_part = |part: &str| {
            let is_known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
            !part.is_empty() && part.bytes().all(is_known) && part.as_bytes()[0].is_ascii_alphanumeric()
        };
        if !repository.split('/').all(is_part) {
            return Err(fault("its repository has an empty part, or a character that registries do not allow"));
        }
        let is_tag = |tag: &str| {
            let is_known = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
            (1..=128).contains(&tag.len()) && tag.bytes().all(is_known) && !tag.starts_with(['.', '-'])
        };
        let is_digest = |digest: &str| digest.strip_prefix("sha256:").is_some_and(is_sha256);
        let version = match (digest, tag) {
            (Some(digest), tag) if is_digest(digest) && tag.is_none_or(is_tag) => digest,
            (Some(_), _) => return Err(fault("its digest is not 'sha256:' with 64 digits")),
            (None, Some(tag)) if is_tag(tag) => tag,
            (None, Some(_)) => return Err(fault("its tag has a character that registries do not allow")),
            (None, None) => return Err(fault("it has neither a tag nor a digest")),
        };
        Ok(ArtifactReference {
            raw: raw.to_owned(),
            repository: format!("{host}/{repository}"),
            version: version.to_owned(),
            path,
        })
    }

    /// True if the reference always names the same content.
    pub fn is_digest(&self) -> bool {
        self.version.starts_with("sha256:")
    }

    /// The reference without its directory.
    pub fn name(&self) -> String {
        let separator = if self.is_digest() { '@' } else { ':' };
        format!("{SCHEME}{}{separator}{}", self.repository, self.version)
    }
}

/// True for a SHA-256 in hex, in lower case.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::ArtifactReference;

    #[test]
    fn references() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let check = |raw: &str, want: Option<(&str, &str, &str)>| {
            let got = ArtifactReference::parse(raw).ok();
            let got = got.as_ref().map(|r| (r.repository.as_str(), r.version.as_str(), r.path.as_str()));
            assert_eq!(got, want, "{raw}");
        };
        check("oci://h.io/a/b:v1", Some(("h.io/a/b", "v1", "")));
        check("OCI://h.io:5000/a:1//x/../y", Some(("h.io:5000/a", "1", "y")));
        check(&format!("oci://h.io/a:v1@{digest}//x"), Some(("h.io/a", &digest, "x")));
        check(&format!("oci://h.io/a@{digest}"), Some(("h.io/a", &digest, "")));
        for raw in [
            "oci://",
            "oci://h.io",
            "oci://h.io/a",
            "oci://h.io/a:",
            "oci://h.io/a:-x",
            "oci://h.io/A:v1",
            "oci://h.io/a/../b:v1",
            "oci://h.io/a:v1//../x",
            "oci://u:p@h.io/a:v1",
            "oci://h.io/a@sha256:00",
            "oci://-h/a:v1",
        ] {
            check(raw, None);
        }
        let error = ArtifactReference::parse("oci://u:word@h.io/a:v1").unwrap_err().to_string();
        assert!(!error.contains("word"), "{error}");
    }
}
