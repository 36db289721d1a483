//! Namespaces of cluster-scoped resources.

use crate::diag::{Code, Warning};
use crate::resource::Resource;
use crate::schema;

/// Custom kinds that are well known and cluster-scoped, by their groups.
const WELL_KNOWN: [(&str, &str); 12] = [
    ("argoproj.io", "ClusterWorkflowTemplate"),
    ("cert-manager.io", "ClusterIssuer"),
    ("cilium.io", "CiliumClusterwideNetworkPolicy"),
    ("external-secrets.io", "ClusterExternalSecret"),
    ("external-secrets.io", "ClusterSecretStore"),
    ("gateway.networking.k8s.io", "GatewayClass"),
    ("karpenter.sh", "NodePool"),
    ("kueue.x-k8s.io", "ClusterQueue"),
    ("kueue.x-k8s.io", "ResourceFlavor"),
    ("kyverno.io", "ClusterPolicy"),
    ("snapshot.storage.k8s.io", "VolumeSnapshotClass"),
    ("snapshot.storage.k8s.io", "VolumeSnapshotContent"),
];

/// The finding about the namespace of a cluster-scoped resource: the kind is one of Kubernetes, a
/// well-known one, or its CustomResourceDefinition in the output says so in `scope`.
pub(super) fn finding(resource: &Resource<'_>, scope: Option<&str>) -> Option<Warning> {
    let gvk = &resource.id().gvk;
    let is_cluster_scoped = match scope {
        Some(scope) => scope == "Cluster",
        None => schema::is_cluster_scoped(gvk) || WELL_KNOWN.contains(&(gvk.group, gvk.kind)),
    };
    let namespace = resource.node().get("metadata")?.get("namespace")?;
    if !is_cluster_scoped || namespace.is_null() || namespace.scalar_text().is_empty() {
        return None;
    }
    let message = format!("{} '{}' has a namespace, and its kind is cluster-scoped", gvk.kind, resource.id().name);
    let finding = Warning::new(Code::NeedlessNamespace, message).at(namespace.pos()).at(resource.pos());
    let finding = finding.in_field("metadata.namespace").in_resource(resource.id());
    // kustomize knows these kinds, and gives them none.
    let hint = match schema::is_cluster_scoped(gvk) {
        true => "remove it: a server leaves it out",
        false => "a server leaves it out: build the resource in a kustomization without 'namespace'",
    };
    Some(finding.hint(hint))
}
