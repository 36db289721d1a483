//! [`BuildMetadata`]: the notes about its making that the root asks for in the output.

use crate::config::Written;

/// The words of the root's `buildMetadata`. Those of bases have no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildMetadata {
    /// True if the field has a word, known or unknown: the build then notes the origin of each
    /// resource, and kustomize writes all annotations again after each transformer.
    pub keeps_origins: bool,
    pub managed_by_label: bool,
    pub origin_annotations: bool,
    pub transformer_annotations: bool,
}

impl BuildMetadata {
    /// Reads the words of the field. Unknown words ask for no note.
    pub fn of(words: &[Written<'_>]) -> Self {
        let has = |word: &str| words.iter().any(|given| given.text == word);
        BuildMetadata {
            keeps_origins: !words.is_empty(),
            managed_by_label: has("managedByLabel"),
            origin_annotations: has("originAnnotations"),
            transformer_annotations: has("transformerAnnotations"),
        }
    }
}
