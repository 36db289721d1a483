//! [`Parts`]: the parts of a resource that several checks look at, found once.

use crate::resource::Resource;
use rustomize_yaml::Node;

/// A resource and its parts; a part is `None` if the resource lacks it.
pub(super) struct Parts<'n, 'a> {
    pub resource: &'n Resource<'a>,
    pub metadata: Option<&'n Node<'a>>,
    pub spec: Option<&'n Node<'a>>,
    /// The node of the pods that the resource makes, with `metadata` and `spec`; the resource
    /// itself if it is a Pod.
    pub pods: Option<&'n Node<'a>>,
}

impl<'n, 'a> Parts<'n, 'a> {
    /// The parts of a resource. O(1).
    pub(super) fn of(resource: &'n Resource<'a>) -> Self {
        let node = resource.node();
        let (metadata, spec) = (node.get("metadata"), node.get("spec"));
        let pods = match fields_to_pods(resource) {
            None => None,
            Some([]) => Some(node),
            Some([_, inner @ ..]) => spec.and_then(|spec| inner.iter().try_fold(spec, |node, field| node.get(field))),
        };
        Parts { resource, metadata, spec, pods }
    }

    /// The metadata of the pods, which the resource itself may be.
    pub(super) fn metadata_of_pods(&self) -> Option<&'n Node<'a>> {
        self.pods?.get("metadata")
    }
}

/// Returns true if resources of this kind make pods. O(1): the resource's tree is not read.
pub(super) fn makes_pods(resource: &Resource<'_>) -> bool {
    fields_to_pods(resource).is_some()
}

/// The fields that lead to the pod template of a kind, the first of which is `spec`; `None` for a
/// kind without one.
fn fields_to_pods(resource: &Resource<'_>) -> Option<&'static [&'static str]> {
    let gvk = resource.id().gvk;
    match (gvk.group, gvk.kind) {
        ("", "Pod") => Some(&[]),
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("", "ReplicationController")
        | ("batch", "Job") => Some(&["spec", "template"]),
        ("batch", "CronJob") => Some(&["spec", "jobTemplate", "spec", "template"]),
        _ => None,
    }
}

/// The items of a list; none if the field is not a list.
pub(super) fn items<'n, 'a>(node: &'n Node<'a>, field: &str) -> impl Iterator<Item = &'n Node<'a>> {
    node.get(field).into_iter().flat_map(list)
}

/// The items of a node; none if it is not a list.
pub(super) fn list<'n, 'a>(node: &'n Node<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    node.as_sequence().into_iter().flat_map(|list| list.iter())
}

/// The fields of a node with their names; none if it is not a mapping.
pub(super) fn fields<'n, 'a>(node: &'n Node<'a>) -> impl Iterator<Item = (&'a str, &'n Node<'a>)> {
    node.as_mapping().into_iter().flat_map(|mapping| mapping.iter()).map(|entry| (entry.key().text(), entry.value()))
}
