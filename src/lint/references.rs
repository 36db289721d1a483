//! References that lead nowhere, where the output says that they are meant to lead to a resource
//! in it.

use super::finding::finding;
use super::pods;
use crate::diag::{Code, Warning, is_placeholder};
use crate::meter::FastMap;
use crate::resource::{ResMap, Resource};
use crate::yaml::Node;

/// The resources that are referred to, by kind, namespace and name.
#[derive(Default)]
struct Named<'n, 'a> {
    now: FastMap<(&'a str, &'a str, &'a str), &'n Resource<'a>>,
    /// By names that resources had before prefixes, suffixes and hashes.
    before: FastMap<(&'a str, &'a str, &'a str), &'n Resource<'a>>,
}

/// The kinds that are referred to here.
fn is_target(resource: &Resource<'_>) -> bool {
    let gvk = resource.id().gvk;
    match gvk.group {
        "" => matches!(gvk.kind, "ConfigMap" | "Secret" | "ServiceAccount" | "PersistentVolumeClaim"),
        "apps" => matches!(gvk.kind, "Deployment" | "StatefulSet" | "ReplicaSet"),
        _ => false,
    }
}

/// A reference in a resource.
struct Reference<'n, 'a> {
    kind: &'a str,
    /// The node with the name.
    name: &'n Node<'a>,
    /// The nodes with keys of the object that must exist.
    keys: Vec<&'n Node<'a>>,
}

/// Adds a finding for each reference that surely leads nowhere. O(size of the pods + resources).
///
/// A name is reported if nothing has it and kind, and a resource of that kind had the name before
/// it got another one, or a resource of another kind that is easily confused has the name. A key is
/// reported if the ConfigMap or Secret is in the output, has keys, and lacks it.
pub fn dangling(map: &ResMap<'_>, found: &mut Vec<Warning>) {
    let mut named = Named::default();
    for resource in map.iter().filter(|resource| is_target(resource)) {
        let id = resource.id();
        named.now.insert((id.gvk.kind, id.effective_namespace(), id.name), resource);
        for previous in resource.previous().iter() {
            named.before.insert((previous.kind, id.effective_namespace(), previous.name), resource);
        }
    }
    if named.now.is_empty() {
        return;
    }
    for resource in map.iter() {
        let mut references = Vec::new();
        if let Some(spec) = pods::template(resource).and_then(|pods| pods.get("spec")) {
            of_pods(spec, &mut references);
        }
        references.extend(scaled(resource));
        found.extend(references.iter().filter_map(|reference| fault(resource, reference, &named)));
    }
}

/// Adds the references of pods.
fn of_pods<'n, 'a>(spec: &'n Node<'a>, references: &mut Vec<Reference<'n, 'a>>) {
    for container in pods::containers(spec) {
        for from in pods::items(container, "env").filter_map(|env| env.get("valueFrom")) {
            for (kind, field) in [("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")] {
                references.extend(from.get(field).and_then(|node| reference(kind, node, "name", node.get("key"))));
            }
        }
        for from in pods::items(container, "envFrom") {
            for (kind, field) in [("ConfigMap", "configMapRef"), ("Secret", "secretRef")] {
                references.extend(from.get(field).and_then(|node| reference(kind, node, "name", None)));
            }
        }
    }
    for volume in pods::items(spec, "volumes") {
        let projected = volume.get("projected").into_iter().flat_map(|projected| pods::items(projected, "sources"));
        let keys = |node: &'n Node<'a>| pods::items(node, "items").filter_map(|item| item.get("key"));
        for (source, name_of_secret) in projected.map(|source| (source, "name")).chain([(volume, "secretName")]) {
            for (kind, field, name) in [("ConfigMap", "configMap", "name"), ("Secret", "secret", name_of_secret)] {
                references.extend(source.get(field).and_then(|node| reference(kind, node, name, keys(node))));
            }
        }
        let claim = volume.get("persistentVolumeClaim");
        references.extend(claim.and_then(|node| reference("PersistentVolumeClaim", node, "claimName", None)));
    }
    references.extend(reference("ServiceAccount", spec, "serviceAccountName", None));
}

/// The reference in a node, unless the node says that its target may be missing.
fn reference<'n, 'a>(
    kind: &'a str,
    node: &'n Node<'a>,
    name: &str,
    keys: impl IntoIterator<Item = &'n Node<'a>>,
) -> Option<Reference<'n, 'a>> {
    let is_optional = node.get("optional").and_then(Node::as_scalar).is_some_and(|s| s.text() == "true");
    let name = node.get(name).filter(|_| !is_optional)?;
    Some(Reference { kind, name, keys: keys.into_iter().collect() })
}

/// The workload that a HorizontalPodAutoscaler scales.
fn scaled<'n, 'a>(resource: &'n Resource<'a>) -> Option<Reference<'n, 'a>> {
    let gvk = resource.id().gvk;
    if (gvk.group, gvk.kind) != ("autoscaling", "HorizontalPodAutoscaler") {
        return None;
    }
    let target = resource.node().get("spec")?.get("scaleTargetRef")?;
    let is_workload = target.get_text("apiVersion").is_some_and(|version| version.starts_with("apps/"));
    let kind = target.get_text("kind").filter(|_| is_workload)?;
    Some(Reference { kind, name: target.get("name")?, keys: Vec::new() })
}

/// The kinds that one is easily confused with.
fn confused(kind: &str) -> &'static [&'static str] {
    match kind {
        "ConfigMap" => &["Secret"],
        "Secret" => &["ConfigMap"],
        "Deployment" => &["StatefulSet"],
        "StatefulSet" => &["Deployment"],
        _ => &[],
    }
}

/// The finding about a reference of a resource.
fn fault(resource: &Resource<'_>, reference: &Reference<'_, '_>, named: &Named<'_, '_>) -> Option<Warning> {
    let (kind, namespace) = (reference.kind, resource.id().effective_namespace());
    let name = reference.name.as_scalar().map(|s| s.text()).filter(|name| !name.is_empty() && !is_placeholder(name))?;
    let about = |at: &Node<'_>, message| finding(Code::DanglingReference, resource, at, message);
    if let Some(target) = named.now.get(&(kind, namespace, name)) {
        let key = reference.keys.iter().find(|key| lacks(target, key))?;
        let message = format!("the {kind} '{name}' has no key '{}'", key.as_scalar()?.text());
        return Some(about(key, message));
    }
    let message = format!("the output has no {kind} '{name}' in this namespace");
    let had = named.before.get(&(kind, namespace, name)).map(|target| {
        format!("the resource got the name '{}' later: kustomize does not update this reference", target.id().name)
    });
    let is_named =
        |kind| named.now.contains_key(&(kind, namespace, name)) || named.before.contains_key(&(kind, namespace, name));
    let other = || confused(kind).iter().find(|other| is_named(other));
    let hint = had.or_else(|| other().map(|other| format!("it has a {other} of this name: refer to that")))?;
    Some(about(reference.name, message).hint(hint))
}

/// True if a ConfigMap or Secret has keys, and lacks one.
fn lacks(target: &Resource<'_>, key: &Node<'_>) -> bool {
    let Some(key) = key.as_scalar().map(|scalar| scalar.text()).filter(|key| !is_placeholder(key)) else {
        return false;
    };
    let fields =
        ["data", "stringData", "binaryData"].into_iter().filter_map(|field| target.node().get(field)?.as_mapping());
    let mut has_keys = false;
    for mapping in fields {
        has_keys |= !mapping.is_empty();
        if mapping.contains(key) {
            return false;
        }
    }
    has_keys
}
