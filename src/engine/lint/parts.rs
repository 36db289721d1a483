//! [`Parts`]: the parts of a resource that several checks look at, found once.

use crate::resource::Resource;
use rustomize_yaml::Node;
use std::cell::OnceCell;

/// A resource and its parts; a part is `None` if the resource lacks it.
pub(super) struct Parts<'n, 'a> {
    pub resource: &'n Resource<'a>,
    pub metadata: Option<&'n Node<'a>>,
    pub spec: Option<&'n Node<'a>>,
    /// The node of the pods that the resource makes, with `metadata` and `spec`; the resource
    /// itself if it is a Pod.
    pub pods: Option<&'n Node<'a>>,
    pod: OnceCell<Option<Pod<'n, 'a>>>,
}

/// The parts of a pod.
#[derive(Default)]
pub(super) struct Pod<'n, 'a> {
    /// The containers of `containers`, `initContainers` and `ephemeralContainers`, in the order in
    /// which the pod has these fields.
    pub containers: Vec<Container<'n, 'a>>,
    pub volumes: Option<&'n Node<'a>>,
    pub service_account: Option<&'n Node<'a>>,
    pub pull_secrets: Option<&'n Node<'a>>,
}

/// The parts of a container.
pub(super) struct Container<'n, 'a> {
    pub node: &'n Node<'a>,
    pub name: Option<&'n Node<'a>>,
    pub image: Option<&'n Node<'a>>,
    pub command: Option<&'n Node<'a>>,
    pub args: Option<&'n Node<'a>>,
    pub env: Option<&'n Node<'a>>,
    pub env_from: Option<&'n Node<'a>>,
    pub ports: Option<&'n Node<'a>>,
    /// `volumeMounts` and `volumeDevices`.
    pub mounts: [Option<&'n Node<'a>>; 2],
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
        Parts { resource, metadata, spec, pods, pod: OnceCell::new() }
    }

    /// The parts of the pods that the resource makes. O(fields of the containers) the first time.
    pub(super) fn pod(&self) -> Option<&Pod<'n, 'a>> {
        self.pod.get_or_init(|| Some(Pod::of(self.pods?.get("spec")?))).as_ref()
    }

    /// The metadata of the pods, which the resource itself may be.
    pub(super) fn metadata_of_pods(&self) -> Option<&'n Node<'a>> {
        self.pods?.get("metadata")
    }
}

impl<'n, 'a> Pod<'n, 'a> {
    fn of(spec: &'n Node<'a>) -> Self {
        let mut pod = Pod::default();
        for (field, value) in fields(spec) {
            match field {
                "containers" | "initContainers" | "ephemeralContainers" => {
                    pod.containers.extend(list(value).map(Container::of));
                }
                "volumes" => pod.volumes = Some(value),
                "serviceAccountName" => pod.service_account = Some(value),
                "imagePullSecrets" => pod.pull_secrets = Some(value),
                _ => {}
            }
        }
        pod
    }
}

impl<'n, 'a> Container<'n, 'a> {
    fn of(node: &'n Node<'a>) -> Self {
        let mut container = Container {
            node,
            name: None,
            image: None,
            command: None,
            args: None,
            env: None,
            env_from: None,
            ports: None,
            mounts: [None; 2],
        };
        for (field, value) in fields(node) {
            let part = match field {
                "name" => &mut container.name,
                "image" => &mut container.image,
                "command" => &mut container.command,
                "args" => &mut container.args,
                "env" => &mut container.env,
                "envFrom" => &mut container.env_from,
                "ports" => &mut container.ports,
                "volumeMounts" => &mut container.mounts[0],
                "volumeDevices" => &mut container.mounts[1],
                _ => continue,
            };
            *part = Some(value);
        }
        container
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

/// The items of a list that may be missing.
pub(super) fn listed<'n, 'a>(node: Option<&'n Node<'a>>) -> impl Iterator<Item = &'n Node<'a>> {
    node.into_iter().flat_map(list)
}

/// The items of a node; none if it is not a list.
pub(super) fn list<'n, 'a>(node: &'n Node<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    node.as_sequence().into_iter().flat_map(|list| list.iter())
}

/// The fields of a node with their names; none if it is not a mapping.
pub(super) fn fields<'n, 'a>(node: &'n Node<'a>) -> impl Iterator<Item = (&'a str, &'n Node<'a>)> {
    node.as_mapping().into_iter().flat_map(|mapping| mapping.iter()).map(|entry| (entry.key().text(), entry.value()))
}
