//! Services whose selector misses the pods that it is meant for.

use super::finding::finding;
use super::pods;
use crate::diag::{Code, Warning, is_placeholder};
use crate::meter::FastMap;
use crate::resource::{ResMap, Resource};
use crate::yaml::{Entry, Mapping, Node};

/// The labels of the pods that workloads make.
#[derive(Default)]
struct Workloads<'n, 'a> {
    /// By namespace and name.
    by_name: FastMap<(&'a str, &'a str), Vec<&'n Mapping<'a>>>,
    /// By namespace, key and value of a label.
    by_label: FastMap<(&'a str, &'a str, &'a str), Vec<&'n Mapping<'a>>>,
}

/// Adds a finding for each Service that selects no pods of the output, although a workload has its
/// name, and all labels of the selector but one. O(size of the labels + Services).
pub fn without_pods(map: &ResMap<'_>, found: &mut Vec<Warning>) {
    let services = || map.iter().filter(|r| r.id().gvk.kind == "Service" && r.id().gvk.group.is_empty());
    if services().next().is_none() {
        return;
    }
    let mut workloads = Workloads::default();
    for resource in map.iter() {
        let labels = pods::template(resource).and_then(|pods| pods.get("metadata")?.get("labels")?.as_mapping());
        let Some(labels) = labels else { continue };
        let (namespace, name) = (resource.id().effective_namespace(), resource.id().name);
        workloads.by_name.entry((namespace, name)).or_default().push(labels);
        for (key, value) in labels.iter().filter_map(|entry| Some((entry.key().text(), text(entry.value())?))) {
            workloads.by_label.entry((namespace, key, value)).or_default().push(labels);
        }
    }
    found.extend(services().filter_map(|service| missed(service, &workloads)));
}

fn text<'a>(node: &Node<'a>) -> Option<&'a str> {
    node.as_scalar().map(|scalar| scalar.text())
}

/// True if labels have an entry of a selector.
fn has(labels: &Mapping<'_>, wanted: &Entry<'_>) -> bool {
    labels.get(wanted.key().text()).and_then(text) == text(wanted.value())
}

/// The finding about a Service.
fn missed(service: &Resource<'_>, workloads: &Workloads<'_, '_>) -> Option<Warning> {
    let id = service.id();
    let selector = service.node().get("spec")?.get("selector")?.as_mapping()?;
    let namesake = *workloads.by_name.get(&(id.effective_namespace(), id.name))?.first()?;
    let mut others = selector.iter().filter(|entry| !has(namesake, entry));
    let (other, None) = (others.next()?, others.next()) else { return None };
    let (key, value) = (other.key().text(), text(other.value())?);
    let selected = workloads.by_label.get(&(id.effective_namespace(), key, value));
    let is_selected = selected.into_iter().flatten().any(|labels| selector.iter().all(|entry| has(labels, entry)));
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
