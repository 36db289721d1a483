//! Services that miss the pods, or the port, that they are meant for.

use super::finding::finding;
use super::index::Index;
use super::parts::{Parts, items, listed, makes_pods};
use crate::diag::{Code, Warning, is_placeholder, nearest};
use crate::resource::{ResMap, Resource};
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Entry, Mapping, Node};
use std::sync::OnceLock;

/// The workloads of the output, and the labels of their pods.
pub(super) struct Workloads<'n, 'a> {
    map: &'n ResMap<'a>,
    by_name: Index<'n, 'a>,
    /// By namespace, key and value of a label. It is made for the first Service that misses the
    /// pods of its namesake.
    by_label: OnceLock<ByLabel<'n, 'a>>,
}

/// Workloads by their namespace, and the key and value of a label of their pods.
type ByLabel<'n, 'a> = FastMap<(&'a str, &'a str, &'a str), Vec<&'n Resource<'a>>>;

impl<'n, 'a> Workloads<'n, 'a> {
    /// The workloads among resources. O(resources).
    pub(super) fn of(arena: Arena<'a>, map: &'n ResMap<'a>) -> Self {
        let key_of = |r: &Resource<'a>| makes_pods(r).then(|| ("", r.id().effective_namespace(), r.id().name));
        Workloads { map, by_name: Index::of(arena, map, key_of), by_label: OnceLock::new() }
    }

    /// The workloads whose pods have a label, in their order. O(size of all labels) the first time,
    /// then O(1).
    fn with_label(&self, namespace: &'a str, key: &'a str, value: &'a str) -> &[&'n Resource<'a>] {
        let by_label = self.by_label.get_or_init(|| {
            let mut by_label = ByLabel::default();
            for resource in self.map.iter() {
                let namespace = resource.id().effective_namespace();
                for (key, value) in labels(resource).into_iter().flat_map(Mapping::iter).filter_map(entry) {
                    by_label.entry((namespace, key, value)).or_default().push(resource);
                }
            }
            by_label
        });
        by_label.get(&(namespace, key, value)).map_or(&[], Vec::as_slice)
    }

    /// The workloads whose pods a selector selects. O(size of the selector and of the labels of the
    /// workloads with its rarest label), and more the first time: see [`Workloads::with_label`].
    fn selected(&self, namespace: &'a str, selector: &Mapping<'a>) -> impl Iterator<Item = &'n Resource<'a>> {
        // Pods that are selected have each label of the selector: the rarest one is in few workloads.
        let with_label = selector.iter().filter_map(entry).map(|(key, value)| self.with_label(namespace, key, value));
        let candidates = with_label.min_by_key(|workloads| workloads.len()).unwrap_or_default();
        candidates.iter().copied().filter(|workload| labels(workload).is_some_and(|labels| selects(selector, labels)))
    }
}

/// The labels of the pods that a resource makes.
fn labels<'n, 'a>(resource: &'n Resource<'a>) -> Option<&'n Mapping<'a>> {
    Parts::of(resource).metadata_of_pods()?.get("labels")?.as_mapping()
}

/// The key and the value of a label.
fn entry<'a>(entry: &Entry<'a>) -> Option<(&'a str, &'a str)> {
    Some((entry.key().text(), text(entry.value())?))
}

fn text<'a>(node: &Node<'a>) -> Option<&'a str> {
    node.as_scalar().map(|scalar| scalar.text())
}

/// True if labels have all entries of a selector.
fn selects(selector: &Mapping<'_>, labels: &Mapping<'_>) -> bool {
    selector.iter().all(|wanted| has(labels, wanted))
}

/// True if labels have an entry of a selector.
fn has(labels: &Mapping<'_>, wanted: &Entry<'_>) -> bool {
    labels.get(wanted.key().text()).and_then(text) == text(wanted.value())
}

/// The finding about a Service that selects no pods of the output, although a workload has its
/// name, and all labels of the selector but one. O(size of its selector and of those labels), and
/// the cost of [`Workloads::selected`] if one label is missing.
pub(super) fn without_pods<'a>(parts: &Parts<'_, 'a>, workloads: &Workloads<'_, 'a>) -> Option<Warning> {
    let selector = selector(parts)?;
    let service = parts.resource;
    let id = service.id();
    let namesake = labels(workloads.by_name.get(("", id.effective_namespace(), id.name))?)?;
    let mut others = selector.iter().filter(|entry| !has(namesake, entry));
    let (other, None) = (others.next()?, others.next()) else { return None };
    let (key, value) = entry(other)?;
    let is_selected = workloads.selected(id.effective_namespace(), selector).next().is_some();
    if is_selected || is_set_later(key) || is_placeholder(value) {
        return None;
    }
    let message = match namesake.get(key).and_then(text) {
        Some(found) => format!("the Service selects no pods: those of '{}' have '{key}: {found}'", id.name),
        None => format!("the Service selects no pods: those of '{}' have no label '{key}'", id.name),
    };
    let hint = "give the selector and the pod template the same labels";
    Some(finding(Code::ServiceWithoutPods, service, other.value(), message).hint(hint))
}

/// The selector of a Service; `None` for other resources.
fn selector<'n, 'a>(parts: &Parts<'n, 'a>) -> Option<&'n Mapping<'a>> {
    let gvk = parts.resource.id().gvk;
    let is_service = gvk.kind == "Service" && gvk.group.is_empty();
    parts.spec.filter(|_| is_service)?.get("selector")?.as_mapping()
}

/// The finding about a `targetPort` of a Service that names no port of the pods that it selects,
/// although they name others. O(size of the ports), and the cost of [`Workloads::selected`] if the
/// workload with the name of the Service lacks the port.
pub(super) fn without_port<'a>(parts: &Parts<'_, 'a>, workloads: &Workloads<'_, 'a>) -> Option<Warning> {
    let selector = selector(parts)?;
    let service = parts.resource;
    let id = service.id();
    let namesake = workloads.by_name.get(("", id.effective_namespace(), id.name));
    let namesake = namesake.filter(|workload| labels(workload).is_some_and(|labels| selects(selector, labels)));
    let mut named = items(parts.spec?, "ports").filter_map(|port| port.get("targetPort")).filter(|port| {
        let name = port.scalar_text();
        name.contains(|c: char| c.is_ascii_alphabetic()) && !is_placeholder(name)
    });
    let target = named.find(|port| !namesake.is_some_and(|workload| has_port(workload, port.scalar_text())))?;
    let selected: Vec<&Resource<'_>> = workloads.selected(id.effective_namespace(), selector).collect();
    let name = target.scalar_text();
    if selected.iter().any(|workload| has_port(workload, name)) {
        return None;
    }
    let names: Vec<&str> = selected.iter().flat_map(|workload| port_names(workload)).collect();
    let first = names.first()?;
    let message = format!("no container of the pods that the Service selects has a port named '{name}'");
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("name a port that they have, as '{first}', or name one of theirs '{name}'"),
    };
    Some(finding(Code::DanglingReference, service, target, message).hint(hint))
}

/// True if a container of a workload's pods has a port of a name.
fn has_port(workload: &Resource<'_>, name: &str) -> bool {
    port_names(workload).contains(&name)
}

/// The names of the ports of a workload's pods.
fn port_names<'a>(workload: &Resource<'a>) -> Vec<&'a str> {
    let parts = Parts::of(workload);
    let containers = parts.pod().into_iter().flat_map(|pod| &pod.containers);
    containers.flat_map(|container| listed(container.ports)).filter_map(|port| port.get_text("name")).collect()
}

/// True for a label that controllers set on running pods.
fn is_set_later(key: &str) -> bool {
    let name = key.rsplit('/').next().unwrap_or(key);
    matches!(name, "role" | "leader" | "pod-name" | "pod-index" | "controller-revision-hash" | "pod-template-hash")
}
