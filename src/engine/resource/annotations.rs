//! Annotations in which kustomize and its tools keep notes about a resource.

/// The beginning of the names of upstream's internal annotations.
pub const INTERNAL: &str = "internal.config.kubernetes.io/";

/// The annotation that asks for a hash at the end of the name.
pub const NEEDS_HASH_SUFFIX: &str = "internal.config.kubernetes.io/needsHashSuffix";

/// The annotation by which the output of a plugin asks for a hash at the end of the name.
pub const NEEDS_HASH: &str = "kustomize.config.k8s.io/needs-hash";

/// The annotation that says where a resource comes from.
pub const ORIGIN: &str = "config.kubernetes.io/origin";

/// The annotation that lists the transformers that changed a resource.
pub const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// The annotation of a resource that a chart has made.
pub const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";

/// Returns true for an annotation that tools keep for themselves and that no output contains.
pub fn is_build_annotation(key: &str) -> bool {
    if let Some(name) = key.strip_prefix(INTERNAL) {
        return matches!(
            name,
            "previousKinds"
                | "previousNames"
                | "previousNamespaces"
                | "prefixes"
                | "suffixes"
                | "allowNameChange"
                | "allowKindChange"
                | "refBy"
                | "generatorBehavior"
                | "needsHashSuffix"
                | "path"
                | "index"
                | "seqindent"
                | "id"
                | "annotations-migration-resource-id"
                | "helm-generated"
        );
    }
    matches!(
        key,
        "config.kubernetes.io/path"
            | "config.kubernetes.io/index"
            | "config.k8s.io/id"
            | "config.kubernetes.io/origin"
            | "alpha.config.kubernetes.io/transformations"
    )
}
