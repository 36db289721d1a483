//! [`Uses`]: generated objects, and objects that the build itself reads.

use rustomize_base::meter::FastSet;
use rustomize_yaml::Pos;

/// The places of generated ConfigMaps and Secrets that something should refer to, and of resources
/// whose values the build copies elsewhere. Noted only if findings are asked for.
#[derive(Clone, Default)]
pub struct Uses {
    /// Objects whose names have a hash, and that have neither labels nor annotations by which
    /// another program could find them.
    pub generated: FastSet<Pos>,
    /// Sources of replacements.
    pub read: FastSet<Pos>,
}

impl Uses {
    /// Adds the notes of a layer.
    pub fn extend(&mut self, layer: &Uses) {
        self.generated.extend(&layer.generated);
        self.read.extend(&layer.read);
    }
}
