//! [`Cache`]: the directories that keep clones between builds. What lies in them is trusted, so
//! only those that no other user can change are used.

use super::owner::{is_mine, is_sound, make};
use crate::diag::{Code, Error};
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// The place that a user has named for clones.
#[derive(Debug)]
pub struct Cache(PathBuf);

impl Cache {
    /// Nothing is looked at yet.
    pub fn new(directory: PathBuf) -> Self {
        Cache(directory)
    }

    /// The place as it was named.
    pub fn named(&self) -> &Path {
        &self.0
    }

    /// The directory of all repositories.
    pub fn repositories(&self) -> PathBuf {
        self.0.join("git")
    }

    /// The directory of a repository.
    pub fn repository(&self, url: &str) -> PathBuf {
        self.repositories().join(hash(url))
    }

    /// Whether nobody else can change a directory of the cache, or put another one into its place:
    /// it and all above it, as far as they exist, are directories of this user that others may not
    /// write to. The place that was named may be a link, and one where only owners rename entries.
    pub fn is_private(&self, path: &Path) -> bool {
        let below = path.ancestors().take_while(|above| *above != self.0);
        below.into_iter().all(is_mine) && is_sound(&self.0)
    }

    /// Makes a directory of the cache that only this user can enter.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(path: &Path) -> io::Result<()> {
        make(path)
    }

    /// Why a version is not to be had without the network.
    pub fn lacks(&self, path: &Path) -> Error {
        let error = Error::new(Code::Io, "the cache has no such version, and this build is offline");
        if self.is_private(path) {
            return error.hint("build once without --offline");
        }
        let error = error.context(format!("looking into '{}', which other users may change", path.display()));
        error.hint("--remote-cache or RUSTOMIZE_CACHE_DIR names a directory that only you can write to")
    }
}

/// A name for a text, which is a file name.
pub fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|b| format!("{b:02x}")).collect()
}
