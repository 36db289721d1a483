//! The fields of built-in kinds that Kubernetes lets nobody change in an existing object.

use super::path::Step;
use crate::schema::Gvk;
use rustomize_yaml::Node;

/// The unchangeable fields of a kind.
struct Fixed {
    group: &'static str,
    kind: &'static str,
    fields: Fields,
}

enum Fields {
    /// These fields, and all fields below them.
    These(&'static [&'static str]),
    /// All fields of `spec` except these.
    AllOfSpecBut(&'static [&'static str]),
}

use Fields::{AllOfSpecBut, These};

const fn fixed(group: &'static str, kind: &'static str, fields: Fields) -> Fixed {
    Fixed { group, kind, fields }
}

const KINDS: &[Fixed] = &[
    fixed("apps", "Deployment", These(&["spec.selector"])),
    fixed("apps", "DaemonSet", These(&["spec.selector"])),
    fixed("apps", "ReplicaSet", These(&["spec.selector"])),
    fixed(
        "apps",
        "StatefulSet",
        AllOfSpecBut(&[
            "minReadySeconds",
            "ordinals",
            "persistentVolumeClaimRetentionPolicy",
            "replicas",
            "revisionHistoryLimit",
            "template",
            "updateStrategy",
        ]),
    ),
    fixed("batch", "Job", These(&["spec.selector", "spec.template", "spec.completionMode", "spec.podFailurePolicy"])),
    fixed(
        "",
        "Pod",
        AllOfSpecBut(&[
            "activeDeadlineSeconds",
            "containers",
            "ephemeralContainers",
            "initContainers",
            "resources",
            "schedulingGates",
            "terminationGracePeriodSeconds",
            "tolerations",
        ]),
    ),
    fixed("", "PersistentVolumeClaim", AllOfSpecBut(&["resources", "volumeAttributesClassName"])),
    fixed("", "Service", These(&["spec.clusterIP", "spec.clusterIPs"])),
    fixed("", "Secret", These(&["type"])),
    fixed(
        "storage.k8s.io",
        "StorageClass",
        These(&["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"]),
    ),
    fixed("rbac.authorization.k8s.io", "RoleBinding", These(&["roleRef"])),
    fixed("rbac.authorization.k8s.io", "ClusterRoleBinding", These(&["roleRef"])),
    fixed("networking.k8s.io", "IngressClass", These(&["spec.controller"])),
    fixed("discovery.k8s.io", "EndpointSlice", These(&["addressType"])),
    fixed("node.k8s.io", "RuntimeClass", These(&["handler"])),
    fixed("scheduling.k8s.io", "PriorityClass", These(&["preemptionPolicy", "value"])),
    fixed("apiextensions.k8s.io", "CustomResourceDefinition", These(&["spec.group", "spec.names.kind", "spec.scope"])),
];

/// Returns true if Kubernetes refuses every change of a field in an existing object. A field that
/// allows some changes counts as changeable, such as the size of a claim.
pub(super) fn is_unchangeable(gvk: &Gvk<'_>, path: &[Step<'_>]) -> bool {
    let Some(fixed) = KINDS.iter().find(|fixed| fixed.group == gvk.group && fixed.kind == gvk.kind) else {
        return false;
    };
    let field = |at: usize| match path.get(at) {
        Some(Step::Field(name)) => Some(*name),
        _ => None,
    };
    match &fixed.fields {
        AllOfSpecBut(free) => field(0) == Some("spec") && !field(1).is_some_and(|name| free.contains(&name)),
        // A change of the field's parent changes the field.
        These(fields) => fields
            .iter()
            .any(|known| known.split('.').enumerate().take(path.len()).all(|(at, name)| field(at) == Some(name))),
    }
}

/// Returns true for a ConfigMap or Secret that says of itself that it cannot be changed.
pub(super) fn is_sealed(gvk: &Gvk<'_>, node: &Node<'_>) -> bool {
    gvk.group.is_empty() && matches!(gvk.kind, "ConfigMap" | "Secret") && node.get_text("immutable") == Some("true")
}

/// Returns true for a field of a ConfigMap or Secret that `immutable: true` protects.
pub(super) fn is_content(path: &[Step<'_>]) -> bool {
    matches!(path.first(), Some(Step::Field("data" | "binaryData" | "stringData" | "immutable")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_kinds() {
        let says = |group: &str, kind: &str, path: &[&str]| {
            let path: Vec<Step<'_>> = path.iter().map(|name| Step::Field(name)).collect();
            is_unchangeable(&Gvk { group, version: "v1", kind }, &path)
        };
        assert!(says("apps", "StatefulSet", &["spec", "volumeClaimTemplates"]));
        assert!(says("apps", "Deployment", &["spec", "selector", "matchLabels", "app"]));
        assert!(says("rbac.authorization.k8s.io", "RoleBinding", &["roleRef", "name"]));
        assert!(says("", "Pod", &["spec", "serviceAccountName"]) && !says("", "Pod", &["spec", "containers"]));
        assert!(!says("apps", "StatefulSet", &["spec", "template", "metadata"]));
        assert!(!says("apps", "StatefulSet", &["metadata", "labels"]));
        assert!(!says("example.com", "Deployment", &["spec", "selector"]));
    }
}
