//! Services whose selector misses the pods that it is meant for.

use super::finding::finding;
use super::index::Index;
use super::parts::{Parts, makes_pods};
use crate::diag::{Code, Warning, is_placeholder};
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

/// The labels of pods, by the namespace of the workload, and the key and value of a label.
type ByLabel<'n, 'a> = FastMap<(&'a str, &'a str, &'a str), Vec<&'n Mapping<'a>>>;

impl<'n, 'a> Workloads<'n, 'a> {
    /// The workloads among resources. O(resources).
    pub(super) fn of(arena: Arena<'a>, map: &'n ResMap<'a>) -> Self {
        let key_of = |r: &Resource<'a>| makes_pods(r).then(|| ("", r.id().effective_namespace(), r.id().name));
        Workloads { map, by_name: Index::of(arena, map, key_of), by_label: OnceLock::new() }
    }

    /// The labels of all pods that have a label, in the order of the workloads. O(size of all
    /// labels) the first time, then O(1).
    fn with_label(&self, namespace: &'a str, key: &'a str, value: &'a str) -> &[&'n Mapping<'a>] {
        let by_label = self.by_label.get_or_init(|| {
            let mut by_label = ByLabel::default();
            for resource in self.map.iter() {
                let namespace = resource.id().effective_namespace();
                let labels = labels(resource);
                for (key, value) in labels.into_iter().flat_map(Mapping::iter).filter_map(entry) {
                    by_label.entry((namespace, key, value)).or_default().extend(labels);
                }
            }
            by_label
        });
        by_label.get(&(namespace, key, value)).map_or(&[], Vec::as_slice)
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

/// True if labels have an entry of a selector.
fn has(labels: &Mapping<'_>, wanted: &Entry<'_>) -> bool {
    labels.get(wanted.key().text()).and_then(text) == text(wanted.value())
}

/// The finding about a Service that selects no pods of the output, although a workload has its
/// name, and all labels of the selector but one. O(size of its selector and of those labels, and
/// workloads with its rarest label), and more for the first one: see [`Workloads::with_label`].
pub(super) fn without_pods<'a>(parts: &Parts<'_, 'a>, workloads: &Workloads<'_, 'a>) -> Option<Warning> {
    let service = parts.resource;
    let id = service.id();
    if id.gvk.kind != "Service" || !id.gvk.group.is_empty() {
        return None;
    }
    let selector = parts.spec?.get("selector")?.as_mapping()?;
    let namesake = labels(workloads.by_name.get(("", id.effective_namespace(), id.name))?)?;
    let mut others = selector.iter().filter(|entry| !has(namesake, entry));
    let (other, None) = (others.next()?, others.next()) else { return None };
    let (key, value) = entry(other)?;
    // Pods that the Service selects have each of its labels: the rarest one is in few workloads.
    let rarest = selector
        .iter()
        .filter_map(entry)
        .map(|(key, value)| workloads.with_label(id.effective_namespace(), key, value));
    let candidates = rarest.min_by_key(|workloads| workloads.len()).unwrap_or_default();
    let is_selected = candidates.iter().any(|labels| selector.iter().all(|entry| has(labels, entry)));
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

/// True for a label that controllers set on running pods.
fn is_set_later(key: &str) -> bool {
    let name = key.rsplit('/').next().unwrap_or(key);
    matches!(name, "role" | "leader" | "pod-name" | "pod-index" | "controller-revision-hash" | "pod-template-hash")
}
