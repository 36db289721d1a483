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

/// The words that ask for a note.
const ORIGIN_ANNOTATIONS: &str = "originAnnotations";
const TRANSFORMER_ANNOTATIONS: &str = "transformerAnnotations";
const MANAGED_BY_LABEL: &str = "managedByLabel";

impl BuildMetadata {
    /// The words that kustomize knows.
    pub const WORDS: [&str; 3] = [ORIGIN_ANNOTATIONS, TRANSFORMER_ANNOTATIONS, MANAGED_BY_LABEL];

    /// Reads the words of the field. Unknown words ask for no note.
    pub fn of(words: &[Written<'_>]) -> Self {
        let has = |word: &str| words.iter().any(|given| given.text == word);
        BuildMetadata {
            keeps_origins: !words.is_empty(),
            managed_by_label: has(MANAGED_BY_LABEL),
            origin_annotations: has(ORIGIN_ANNOTATIONS),
            transformer_annotations: has(TRANSFORMER_ANNOTATIONS),
        }
    }
}
