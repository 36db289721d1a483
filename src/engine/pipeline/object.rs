//! The fields of the configuration objects of built-ins, beside `metadata`.

use crate::config::helm::{HelmChart, HelmGlobals};
use crate::config::kustomization::{GeneratorArgs, Image, Metadata, Patch, PatchOptions, Replacement, Replica};
use crate::config::{Decode, Described, FieldSpec, Selector, Shape, StringMap, Written};
use crate::generator::IamPolicyGenerator;
use crate::transformer::value_add;

/// A kind that `apiVersion: builtin` names.
pub struct Builtin {
    pub kind: &'static str,
    /// The records whose fields its objects have.
    pub records: &'static [Shape],
}

const fn builtin(kind: &'static str, records: &'static [Shape]) -> Builtin {
    Builtin { kind, records }
}

/// The generators, by name.
pub static GENERATORS: [Builtin; 4] = [
    builtin("ConfigMapGenerator", &[GeneratorArgs::SHAPE]),
    builtin("HelmChartInflationGenerator", &[HelmChart::SHAPE, HelmGlobals::SHAPE]),
    builtin("IAMPolicyGenerator", &[IamPolicyGenerator::SHAPE]),
    builtin("SecretGenerator", &[GeneratorArgs::SHAPE]),
];

/// The transformers, by name.
pub static TRANSFORMERS: [Builtin; 14] = [
    builtin("AnnotationsTransformer", &[Annotations::SHAPE, Specs::SHAPE]),
    builtin("HashTransformer", &[]),
    builtin("ImageTagTransformer", &[ImageTag::SHAPE, Specs::SHAPE]),
    builtin("LabelTransformer", &[Labels::SHAPE, Specs::SHAPE]),
    builtin("NamespaceTransformer", &[Namespace::SHAPE, Specs::SHAPE]),
    builtin("PatchJson6902Transformer", &[JsonPatch::SHAPE]),
    builtin("PatchStrategicMergeTransformer", &[MergePatches::SHAPE]),
    builtin("PatchTransformer", &[Patch::SHAPE]),
    builtin("PrefixSuffixTransformer", &[Affixes::SHAPE, Specs::SHAPE]),
    builtin("PrefixTransformer", &[Affixes::SHAPE, Specs::SHAPE]),
    builtin("ReplacementTransformer", &[Replacements::SHAPE]),
    builtin("ReplicaCountTransformer", &[ReplicaCount::SHAPE, Specs::SHAPE]),
    builtin("SuffixTransformer", &[Affixes::SHAPE, Specs::SHAPE]),
    builtin("ValueAddTransformer", &[ValueAdd::SHAPE]),
];

/// The metadata of an object of ConfigMapGenerator, SecretGenerator or NamespaceTransformer, which
/// use its name or namespace.
#[derive(Default, Decode)]
pub(super) struct Identified<'a> {
    pub metadata: Metadata<'a>,
}

/// The fields that a transformer works on.
#[derive(Default, Decode, Described)]
pub(super) struct Specs<'a> {
    /// The fields to work on.
    pub field_specs: Option<Vec<FieldSpec<'a>>>,
}

/// An object of AnnotationsTransformer.
#[derive(Default, Decode, Described)]
pub(super) struct Annotations<'a> {
    /// The annotations to set.
    pub annotations: StringMap<'a>,
}

/// An object of LabelTransformer.
#[derive(Default, Decode, Described)]
pub(super) struct Labels<'a> {
    /// The labels to set.
    pub labels: StringMap<'a>,
}

/// An object of ImageTagTransformer.
#[derive(Default, Decode, Described)]
pub(super) struct ImageTag<'a> {
    /// The image to change, and what it becomes.
    pub image_tag: Image<'a>,
}

/// An object of NamespaceTransformer; the namespace is that of its metadata.
#[derive(Default, Decode, Described)]
pub(super) struct Namespace<'a> {
    /// Leaves resources alone that have a namespace.
    pub unset_only: bool,
    /// The subjects of role bindings that get the namespace; `defaultOnly` if it is empty.
    #[field(words("defaultOnly", "allServiceAccounts", "none"))]
    pub set_role_binding_subjects: &'a str,
}

/// An object of PrefixTransformer, SuffixTransformer or PrefixSuffixTransformer.
#[derive(Default, Decode, Described)]
pub(super) struct Affixes<'a> {
    /// Put before every name.
    pub prefix: &'a str,
    /// Put behind every name.
    pub suffix: &'a str,
}

/// An object of ReplicaCountTransformer.
#[derive(Default, Decode, Described)]
pub(super) struct ReplicaCount<'a> {
    /// The name of the workload, and the number of replicas it gets.
    pub replica: Replica<'a>,
}

/// An object of ReplacementTransformer.
#[derive(Default, Decode, Described)]
pub(super) struct Replacements<'a> {
    /// Values copied from one resource into others.
    pub replacements: Vec<Replacement<'a>>,
}

/// An object of PatchJson6902Transformer.
#[derive(Default, Decode, Described)]
pub(super) struct JsonPatch<'a> {
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
pub(super) struct MergePatches<'a> {
    /// Files with patches, or patches.
    pub paths: Vec<Written<'a>>,
    /// Patches, as documents of one text.
    pub patches: Written<'a>,
}

/// An object of ValueAddTransformer.
#[derive(Default, Decode, Described)]
pub(super) struct ValueAdd<'a> {
    /// The value; the name of the kustomization's directory if it is empty.
    pub value: &'a str,
    /// The place of the value.
    pub targets: Vec<value_add::Target<'a>>,
    /// A file with more targets.
    pub target_file_path: &'a str,
}
