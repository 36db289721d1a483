//! The pods that resources make: where a kind has its pod template.

use crate::resource::Resource;
use crate::yaml::Node;

/// The node of the pods that a resource makes, with `metadata` and `spec`; the resource itself if
/// it is a Pod.
pub fn template<'n, 'a>(resource: &'n Resource<'a>) -> Option<&'n Node<'a>> {
    let node = resource.node();
    let gvk = resource.id().gvk;
    match (gvk.group, gvk.kind) {
        ("", "Pod") => Some(node),
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("", "ReplicationController")
        | ("batch", "Job") => node.get("spec")?.get("template"),
        ("batch", "CronJob") => node.get("spec")?.get("jobTemplate")?.get("spec")?.get("template"),
        _ => None,
    }
}

/// The items of a list; none if the field is not a list.
pub fn items<'n, 'a>(node: &'n Node<'a>, field: &str) -> impl Iterator<Item = &'n Node<'a>> {
    node.get(field).and_then(Node::as_sequence).into_iter().flat_map(|list| list.iter())
}

/// The containers of a pod, those that begin it included.
pub fn containers<'n, 'a>(spec: &'n Node<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(|field| items(spec, field))
}
