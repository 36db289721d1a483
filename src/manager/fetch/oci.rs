//! Plugins in OCI registries. A version is a tag. It stands for a manifest whose one layer is the
//! plugin, or for an index with such a manifest for each platform.

use super::{Download, fault};
use crate::diag::Result;
use crate::id::name::Platform;
use rustomize_sources::oci::{Descriptor, Manifest, Repository};

/// The downloads of a tag, one for each platform. Of several entries for one platform the first
/// counts.
///
/// # Errors
/// The registry cannot be asked, or the tag does not stand for a plugin.
pub fn downloads(repository: &Repository<'_>, tag: &str) -> Result<Vec<Download>> {
    let top = repository.manifest(tag)?;
    if top.manifests.is_empty() {
        return Ok(vec![download(repository, tag, &top, Platform::any())?]);
    }
    let mut downloads: Vec<Download> = Vec::new();
    for entry in &top.manifests {
        let Some(platform) = platform_of(entry)? else { continue };
        entry.sha256()?;
        if downloads.iter().all(|known| known.platform != platform) {
            let manifest = repository.manifest(&entry.digest)?;
            downloads.push(download(repository, tag, &manifest, platform)?);
        }
    }
    Ok(downloads)
}

/// The platform of an entry of an index; `None` for a note about an image, which builders add as an
/// entry for an unknown machine.
///
/// # Errors
/// A word of the platform has other characters than letters and digits: it would be a part of a
/// name in the lock.
fn platform_of(entry: &Descriptor) -> Result<Option<Platform>> {
    let platform = match &entry.platform {
        None => return Ok(Some(Platform::any())),
        Some(platform) if matches!(platform.os.as_str(), "" | "unknown") => return Ok(None),
        Some(platform) => Platform { os: platform.os.clone(), arch: platform.architecture.clone() },
    };
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    match is_word(&platform.os) && is_word(&platform.arch) {
        true => Ok(Some(platform)),
        false => Err(fault(format!("'{platform}' is not a platform: its words have lower-case letters and digits"))),
    }
}

fn download(repository: &Repository<'_>, tag: &str, manifest: &Manifest, platform: Platform) -> Result<Download> {
    let [layer] = manifest.layers.as_slice() else {
        let message = format!("'{}:{tag}' has {} layers", repository.shown(), manifest.layers.len());
        return Err(fault(message).hint("a plugin is one layer: its file or its archive"));
    };
    let sum = layer.sha256()?;
    let url = format!("{}@{}", repository.shown(), layer.digest);
    Ok(Download { platform, url, size: Some(layer.size), sha256: Some(sum.to_owned()) })
}
