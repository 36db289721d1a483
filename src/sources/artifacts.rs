//! [`Artifacts`]: directories in OCI registries.
//!
//! The layer with the directory is the layer with Flux's media type, or else the only layer. It is
//! an archive, whose entries are files and directories.

use super::Secrets;
use super::archive::{is_archive, unpack};
use super::client::Client;
use super::http::Http;
use super::oci::{Manifest, Repository, check_digest};
use crate::diag::{Code, Error, Result};
use rustomize_engine::load::artifact_reference::ArtifactReference;
use std::path::Path;

/// The layers that Flux pushes.
const FLUX: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

/// Fetches directories from registries.
pub struct Artifacts(Client);

impl Artifacts {
    /// Access to registries, with the secrets of the user.
    pub fn new(http: Http, secrets: Secrets) -> Self {
        Artifacts(Client::new(http).with_secrets(secrets))
    }

    /// The digest that a reference stands for now. It takes one round trip, unless the reference is
    /// a digest.
    ///
    /// # Errors
    /// The registry cannot be asked, or lacks the tag.
    pub fn digest(&self, reference: &ArtifactReference) -> Result<String> {
        match reference.is_digest() {
            true => Ok(reference.version.clone()),
            false => Repository::new(&self.0, &reference.repository).digest(&reference.version),
        }
    }

    /// Writes the content of an artifact into an empty directory.
    ///
    /// # Errors
    /// The registry cannot be asked, or the artifact is not a directory.
    pub fn fetch(&self, reference: &ArtifactReference, digest: &str, into: &Path) -> Result<()> {
        let repository = Repository::new(&self.0, &reference.repository);
        let layer = layer(reference, repository.manifest(digest)?)?;
        let content = repository.blob(&layer)?;
        check_digest(&reference.name(), &content, &layer)?;
        if !is_archive(&content) {
            return Err(fault(reference, "its layer is not an archive"));
        }
        unpack(&reference.name(), &content, "", into, |name| name.eq_ignore_ascii_case(".git"))
    }
}

/// The digest of the layer with the directory.
fn layer(reference: &ArtifactReference, manifest: Manifest) -> Result<String> {
    if !manifest.manifests.is_empty() {
        return Err(fault(reference, "it is an index of several artifacts").hint("name the digest of one of them"));
    }
    let count = manifest.layers.len();
    let is_flux = manifest.layers.iter().position(|layer| layer.media_type == FLUX);
    let layer = match is_flux.or((count == 1).then_some(0)) {
        Some(at) => manifest.layers.into_iter().nth(at),
        None => None,
    };
    let layer =
        layer.ok_or_else(|| fault(reference, &format!("it has {count} layers, and none of Flux's media type")))?;
    match layer.sha256() {
        Ok(_) => Ok(layer.digest),
        Err(_) => Err(fault(reference, "its layer has no SHA-256")),
    }
}

fn fault(reference: &ArtifactReference, why: &str) -> Error {
    let error =
        Error::new(Code::FetchFailed, format!("'{}' is not a directory of kustomizations: {why}", reference.name()));
    error.hint("push a directory with 'flux push artifact', or with 'oras push HOST/REPOSITORY:TAG DIRECTORY'")
}
