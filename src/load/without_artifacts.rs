//! Directories in OCI registries, in a program that was built without the feature `artifacts`: they
//! are refused.

use super::Secret;
use super::artifact_reference::ArtifactReference;
use super::http::Http;
use crate::diag::{Code, Error, Result};
use std::path::Path;

/// Fetches nothing.
pub struct Artifacts;

impl Artifacts {
    /// As with the feature `artifacts`.
    pub fn new(_http: Http, _secret: Secret) -> Self {
        Artifacts
    }

    /// Refuses to ask a registry.
    pub fn digest(&self, reference: &ArtifactReference) -> Result<String> {
        let message = format!("'{}' is in a registry, and this program has no registries", reference.name());
        Err(Error::new(Code::FetchFailed, message).hint("build it with the feature 'artifacts'"))
    }

    /// Refuses to fetch an artifact.
    pub fn fetch(&self, reference: &ArtifactReference, _digest: &str, _into: &Path) -> Result<()> {
        self.digest(reference).map(drop)
    }
}
