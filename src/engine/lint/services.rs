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
        // Selected pods have each label of the selector: the rarest one is in few workloads.
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

/// A Service that selects the pods of more workloads than these is not asked for its ports: many
/// such Services would take quadratic time.
const MOST_SELECTED: usize = 100;

/// A Service that selects pods.
struct Service<'s, 'n, 'a> {
    resource: &'s Resource<'a>,
    spec: &'s Node<'a>,
    selector: &'s Mapping<'a>,
    /// The workload that has its name.
    namesake: Option<&'n Resource<'a>>,
}

/// Adds the findings about a Service. O(size of its selector, of its ports, and of the labels of
/// the workload that has its name), and the cost of [`Workloads::selected`] if that workload lacks
/// a label or a port.
pub(super) fn find<'a>(parts: &Parts<'_, 'a>, workloads: &Workloads<'_, 'a>, found: &mut Vec<Warning>) {
    if let Some(service) = Service::of(parts, workloads) {
        found.extend(service.without_pods(workloads));
        found.extend(service.without_port(workloads));
    }
}

impl<'s, 'n, 'a> Service<'s, 'n, 'a> {
    /// `None` for other resources.
    fn of(parts: &Parts<'s, 'a>, workloads: &Workloads<'n, 'a>) -> Option<Self> {
        let resource = parts.resource;
        let id = resource.id();
        if id.gvk.kind != "Service" || !id.gvk.group.is_empty() {
            return None;
        }
        let spec = parts.spec?;
        let selector = spec.get("selector")?.as_mapping()?;
        let namesake = workloads.by_name.get(("", id.effective_namespace(), id.name));
        Some(Service { resource, spec, selector, namesake })
    }

    /// The workloads whose pods it selects.
    fn selected(&self, workloads: &Workloads<'n, 'a>) -> impl Iterator<Item = &'n Resource<'a>> {
        workloads.selected(self.resource.id().effective_namespace(), self.selector)
    }

    /// The finding about a Service that selects no pods of the output, although a workload has its
    /// name, and all labels of the selector but one.
    fn without_pods(&self, workloads: &Workloads<'n, 'a>) -> Option<Warning> {
        let (service, namesake) = (self.resource, labels(self.namesake?)?);
        let name = service.id().name;
        let mut others = self.selector.iter().filter(|entry| !has(namesake, entry));
        let (other, None) = (others.next()?, others.next()) else { return None };
        let (key, value) = entry(other)?;
        if self.selected(workloads).next().is_some() || is_set_later(key) || is_placeholder(value) {
            return None;
        }
        let message = match namesake.get(key).and_then(text) {
            Some(found) => format!("the Service selects no pods: those of '{name}' have '{key}: {found}'"),
            None => format!("the Service selects no pods: those of '{name}' have no label '{key}'"),
        };
        let hint = "give the selector and the pod template the same labels";
        Some(finding(Code::ServiceWithoutPods, service, other.value(), message).hint(hint))
    }

    /// The finding about a `targetPort` that names no port of the selected pods, although they name
    /// others.
    fn without_port(&self, workloads: &Workloads<'n, 'a>) -> Option<Warning> {
        let targets = items(self.spec, "ports").filter_map(|port| port.get("targetPort"));
        let is_name = |text: &str| text.contains(|c: char| c.is_ascii_alphabetic()) && !is_placeholder(text);
        let mut named = targets.filter(|target| is_name(target.scalar_text()));
        let is_selected =
            |workload: &Resource<'_>| labels(workload).is_some_and(|labels| selects(self.selector, labels));
        let has_it = |workload: &Resource<'_>, name: &str| is_selected(workload) && has_port(workload, name);
        let target = named.find(|target| !self.namesake.is_some_and(|w| has_it(w, target.scalar_text())))?;
        let name = target.scalar_text();
        let mut names = Vec::new();
        for (number, workload) in self.selected(workloads).enumerate() {
            names.extend(port_names(workload));
            if number >= MOST_SELECTED || names.contains(&name) {
                return None;
            }
        }
        let message = format!("no container of the pods that the Service selects has a port named '{name}'");
        let hint = match (nearest(name, names.iter().copied()), names.first()?) {
            (Some(near), _) => format!("did you mean '{near}'?"),
            (None, first) => {
                format!("write '{first}', which is a port of these pods, or give one of their ports the name '{name}'")
            }
        };
        Some(finding(Code::DanglingReference, self.resource, target, message).hint(hint))
    }
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
