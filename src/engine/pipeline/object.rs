//! The built-in generators and transformers, with the fields of their configuration objects beside
//! `metadata`.

use crate::config::helm::{HelmChart, HelmGlobals};
use crate::config::kustomization::{GeneratorArgs, Patch};
use crate::config::{Described, Shape};
use crate::generator::IamPolicyGenerator;
use crate::stage::Specs;
use crate::transformer::objects::{
    Affixes, Annotations, ImageTag, JsonPatch, Labels, MergePatches, Namespace, Replacements, ReplicaCount,
};
use crate::transformer::value_add::ValueAdd;

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
