//! The fields of the configuration objects of built-in transformers, beside `metadata` and
//! `fieldSpecs`.

use crate::config::kustomization::{Image, PatchOptions, Replacement, Replica};
use crate::config::{Decode, Described, Selector, Written, WrittenMap};

/// An object of AnnotationsTransformer.
#[derive(Default, Decode, Described)]
pub struct Annotations<'a> {
    /// The annotations to set.
    pub annotations: WrittenMap<'a>,
}

/// An object of LabelTransformer.
#[derive(Default, Decode, Described)]
pub struct Labels<'a> {
    /// The labels to set.
    pub labels: WrittenMap<'a>,
}

/// An object of ImageTagTransformer.
#[derive(Default, Decode, Described)]
pub struct ImageTag<'a> {
    /// The image to change, and what it becomes.
    pub image_tag: Image<'a>,
}

/// An object of NamespaceTransformer; the namespace is that of its metadata.
#[derive(Default, Decode, Described)]
pub struct Namespace<'a> {
    /// Leaves resources alone that have a namespace.
    pub unset_only: bool,
    /// The subjects of role bindings that get the namespace; `defaultOnly` if it is empty.
    #[field(words("defaultOnly", "allServiceAccounts", "none"))]
    pub set_role_binding_subjects: &'a str,
}

/// An object of PrefixTransformer, SuffixTransformer or PrefixSuffixTransformer.
#[derive(Default, Decode, Described)]
pub struct Affixes<'a> {
    /// Put before every name.
    pub prefix: &'a str,
    /// Put behind every name.
    pub suffix: &'a str,
}

/// An object of ReplicaCountTransformer.
#[derive(Default, Decode, Described)]
pub struct ReplicaCount<'a> {
    /// The name of the workload, and the number of replicas it gets.
    pub replica: Replica<'a>,
}

/// An object of ReplacementTransformer.
#[derive(Default, Decode, Described)]
pub struct Replacements<'a> {
    /// Values copied from one resource into others.
    pub replacements: Vec<Replacement<'a>>,
}

/// An object of PatchJson6902Transformer.
#[derive(Default, Decode, Described)]
pub struct JsonPatch<'a> {
    /// A file with the patch.
    pub path: &'a str,
    /// The patch itself.
    pub json_op: Written<'a>,
    /// The resources that it changes.
    pub target: Option<Selector<'a>>,
    /// The parts that the patch may change beside content.
    pub options: PatchOptions,
}

/// An object of PatchStrategicMergeTransformer.
#[derive(Default, Decode, Described)]
pub struct MergePatches<'a> {
    /// Files with patches, or patches.
    pub paths: Vec<Written<'a>>,
    /// Patches, as documents of one text.
    pub patches: Written<'a>,
}
