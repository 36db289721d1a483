//! [`Uses`]: generated objects, and objects that the build itself reads.

use rustomize_base::meter::FastSet;
use rustomize_yaml::Pos;
use std::sync::Arc;

/// The places of generated ConfigMaps and Secrets that something should refer to, and of resources
/// whose values the build copies elsewhere. Noted only if findings are asked for.
#[derive(Clone, Default)]
pub struct Uses {
    /// Objects whose names have a hash, and that have neither labels nor annotations by which
    /// another program could find them.
    pub generated: FastSet<Pos>,
    /// Sources of replacements.
    pub read: FastSet<Pos>,
    /// Names that replacements copy.
    pub copies: Vec<NameCopy>,
}

/// A name that a replacement has copied as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameCopy {
    /// The place of the resource that had the name.
    pub source: Pos,
    /// The name at that time.
    pub name: Arc<str>,
    /// The place of the resource that has the copy, and the path to it.
    pub target: Pos,
    pub path: Arc<str>,
    /// The place of the path.
    pub pos: Pos,
}

impl Uses {
    /// The most copies of names that a kustomization notes.
    pub const MOST_COPIES: usize = 10_000;

    /// Adds the notes of a layer.
    pub fn extend(&mut self, layer: &Uses) {
        self.generated.extend(&layer.generated);
        self.read.extend(&layer.read);
        self.copies.extend(layer.copies.iter().cloned());
    }
}
