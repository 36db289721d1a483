//! Plugins in OCI registries. A version is a tag. It stands for a manifest whose one layer is the
//! plugin, or for an index with such a manifest for each platform.

use super::{Download, fault};
use crate::diag::Result;
use crate::id::name::Platform;
use rustomize_sources::oci::{Descriptor, Manifest, Repository};

/// The downloads of a tag, one for each platform.
///
/// # Errors
/// The registry cannot be asked, or the tag does not stand for a plugin.
pub fn downloads(repository: &Repository<'_>, tag: &str) -> Result<Vec<Download>> {
    let top = repository.manifest(tag)?;
    if top.manifests.is_empty() {
        return Ok(vec![download(repository, tag, &top, Platform::any())?]);
    }
    let mut downloads = Vec::new();
    // Builders add notes about an image to its index, as an entry for an unknown machine.
    let is_known = |entry: &&Descriptor| entry.platform.as_ref().is_none_or(|platform| platform.os != "unknown");
    for entry in top.manifests.iter().filter(is_known) {
        let platform = entry.platform.as_ref();
        let platform = platform.map(|p| Platform { os: p.os.clone(), arch: p.architecture.clone() });
        let manifest = repository.manifest(&entry.digest)?;
        downloads.push(download(repository, tag, &manifest, platform.unwrap_or_else(Platform::any))?);
    }
    Ok(downloads)
}

fn download(repository: &Repository<'_>, tag: &str, manifest: &Manifest, platform: Platform) -> Result<Download> {
    let [layer] = manifest.layers.as_slice() else {
        let message = format!("'{}:{tag}' has {} layers", repository.shown(), manifest.layers.len());
        return Err(fault(message).hint("a plugin is one layer: its file or its archive"));
    };
    let sum = layer.digest.strip_prefix("sha256:").filter(|sum| sum.len() == 64);
    let sum = sum.ok_or_else(|| fault(format!("'{}' is not the SHA-256 of a layer", layer.digest)))?;
    let url = format!("{}@{}", repository.shown(), layer.digest);
    Ok(Download { platform, url, size: Some(layer.size), sha256: Some(sum.to_owned()) })
}
