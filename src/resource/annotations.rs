//! Annotations in which kustomize and its tools keep what a build knows of a resource.

/// How the annotations begin that upstream keeps for itself.
pub const INTERNAL: &str = "internal.config.kubernetes.io/";

/// The annotation that asks for a hash behind the name.
pub const NEEDS_HASH_SUFFIX: &str = "internal.config.kubernetes.io/needsHashSuffix";

/// Where a resource comes from.
pub const ORIGIN: &str = "config.kubernetes.io/origin";

/// What transformed a resource.
pub const TRANSFORMATIONS: &str = "alpha.config.kubernetes.io/transformations";

/// Whether an annotation is one that tools keep for themselves and that no output has.
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
