//! References that lead nowhere, where the output says that they are meant to lead to a resource
//! in it.

use super::finding::finding;
use super::index::{Index, Key};
use super::parts::{Parts, fields, items, list};
use crate::diag::{Code, Warning, is_placeholder};
use crate::resource::{ResMap, Resource};
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_yaml::{Arena, Node};
use std::sync::OnceLock;

/// The resources that are referred to.
pub(super) struct Named<'n, 'a> {
    map: &'n ResMap<'a>,
    now: Index<'n, 'a>,
    /// By names that resources had before prefixes, suffixes and hashes. It is made for the first
    /// reference that leads nowhere.
    before: OnceLock<ByName<'n, 'a>>,
    /// The names that references in the output name, by kind and namespace. It is made for the
    /// first reference that may name a resource of another kind by mistake.
    referred: OnceLock<FastSet<Key<'a>>>,
}

/// Resources by kind, namespace and name.
type ByName<'n, 'a> = FastMap<Key<'a>, &'n Resource<'a>>;

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

impl<'n, 'a> Named<'n, 'a> {
    /// The resources of these kinds. O(resources).
    pub(super) fn of(arena: Arena<'a>, map: &'n ResMap<'a>) -> Self {
        let key_of = |r: &Resource<'a>| {
            let id = is_target(r).then(|| r.id())?;
            Some((id.gvk.kind, id.effective_namespace(), id.name))
        };
        Named { map, now: Index::of(arena, map, key_of), before: OnceLock::new(), referred: OnceLock::new() }
    }

    /// The resources by their earlier names. O(all earlier names) the first time, then O(1).
    fn before(&self) -> &ByName<'n, 'a> {
        self.before.get_or_init(|| {
            let targets = self.map.iter().filter(|resource| is_target(resource));
            let names =
                targets.flat_map(|resource| resource.previous().iter().map(move |previous| (previous, resource)));
            names.map(|(p, r)| ((p.kind, r.id().effective_namespace(), p.name), r)).collect()
        })
    }

    /// The resource of another kind that a reference names by mistake. There is none if somebody
    /// refers to that resource by its own kind: a ConfigMap and a Secret often have one name, and
    /// one of the two is not in the output. Nor if it lacks a key that the reference names.
    /// O(references in the output) the first time, then O(1).
    fn mistaken(&self, reference: &Reference<'_, 'a>, namespace: &'a str, name: &'a str) -> Option<&'static str> {
        let is_referred = |key: &Key<'a>| self.referred.get_or_init(|| self.all_referred()).contains(key);
        let is_meant = |kind: &'static str| {
            let key = (kind, namespace, name);
            let Some(target) = self.now.get(key).or_else(|| self.before().get(&key).copied()) else { return false };
            // References by its own kind have followed its name.
            let is_known = || is_referred(&(kind, namespace, target.id().name));
            !reference.keys.iter().any(|key| lacks(target, key)) && !is_known()
        };
        confused(reference.kind).iter().copied().find(|kind| is_meant(kind))
    }

    /// The names that references in the output name.
    fn all_referred(&self) -> FastSet<Key<'a>> {
        let mut all = FastSet::default();
        for resource in self.map.iter() {
            let namespace = resource.id().effective_namespace();
            each_reference(&Parts::of(resource), &mut |reference| {
                all.extend(reference.name.as_scalar().map(|name| (reference.kind, namespace, name.text())));
            });
        }
        all
    }
}

/// Adds a finding for each reference of a resource that surely leads nowhere. O(size of its pods).
///
/// A name is reported if nothing has it and kind, and a resource of that kind had the name before
/// it got another one, or a resource of another kind that is easily confused has the name and no
/// reference by its own kind. A key is reported if the ConfigMap or Secret is in the output, has
/// keys, and lacks it.
pub(super) fn dangling<'a>(parts: &Parts<'_, 'a>, named: &Named<'_, 'a>, found: &mut Vec<Warning>) {
    if !named.now.is_empty() {
        each_reference(parts, &mut |reference| found.extend(fault(parts.resource, &reference, named)));
    }
}

/// Looks at each reference of a resource. O(size of its pods).
fn each_reference<'n, 'a>(parts: &Parts<'n, 'a>, look: &mut impl FnMut(Reference<'n, 'a>)) {
    for (field, value) in parts.pods.and_then(|pods| pods.get("spec")).into_iter().flat_map(fields) {
        match field {
            "initContainers" | "containers" | "ephemeralContainers" => {
                list(value).flat_map(fields).for_each(|(field, value)| in_container(field, value, &mut *look));
            }
            "volumes" => list(value).for_each(|volume| in_volume(volume, &mut *look)),
            "serviceAccountName" => look(Reference { kind: "ServiceAccount", name: value, keys: Vec::new() }),
            _ => {}
        }
    }
    scaled(parts).map(look);
}

/// Looks at the references in a field of a container.
fn in_container<'n, 'a>(field: &str, value: &'n Node<'a>, look: &mut impl FnMut(Reference<'n, 'a>)) {
    let is_env = field == "env";
    if !is_env && field != "envFrom" {
        return;
    }
    let sources = list(value).filter_map(|item| if is_env { item.get("valueFrom") } else { Some(item) });
    for (field, node) in sources.flat_map(fields) {
        let kind = match field {
            "configMapKeyRef" | "configMapRef" => "ConfigMap",
            "secretKeyRef" | "secretRef" => "Secret",
            _ => continue,
        };
        reference(kind, node, "name", node.get("key")).map(&mut *look);
    }
}

/// Looks at the references in a volume.
fn in_volume<'n, 'a>(volume: &'n Node<'a>, look: &mut impl FnMut(Reference<'n, 'a>)) {
    for (field, node) in fields(volume) {
        match field {
            "persistentVolumeClaim" => {
                reference("PersistentVolumeClaim", node, "claimName", None).map(&mut *look);
            }
            "projected" => items(node, "sources")
                .flat_map(fields)
                .for_each(|(field, node)| in_source(field, node, "name", &mut *look)),
            _ => in_source(field, node, "secretName", &mut *look),
        }
    }
}

/// Looks at a volume that is a ConfigMap or a Secret, whose name is in the field `name_of_secret`.
fn in_source<'n, 'a>(field: &str, node: &'n Node<'a>, name_of_secret: &str, look: &mut impl FnMut(Reference<'n, 'a>)) {
    let (kind, name) = match field {
        "configMap" => ("ConfigMap", "name"),
        "secret" => ("Secret", name_of_secret),
        _ => return,
    };
    let keys = items(node, "items").filter_map(|item| item.get("key"));
    reference(kind, node, name, keys).map(look);
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
fn scaled<'n, 'a>(parts: &Parts<'n, 'a>) -> Option<Reference<'n, 'a>> {
    let gvk = parts.resource.id().gvk;
    if (gvk.group, gvk.kind) != ("autoscaling", "HorizontalPodAutoscaler") {
        return None;
    }
    let target = parts.spec?.get("scaleTargetRef")?;
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
fn fault<'a>(resource: &Resource<'a>, reference: &Reference<'_, 'a>, named: &Named<'_, 'a>) -> Option<Warning> {
    let (kind, namespace) = (reference.kind, resource.id().effective_namespace());
    let name = reference.name.as_scalar().map(|s| s.text()).filter(|name| !name.is_empty() && !is_placeholder(name))?;
    let about = |at: &Node<'_>, message| finding(Code::DanglingReference, resource, at, message);
    if let Some(target) = named.now.get((kind, namespace, name)) {
        let key = reference.keys.iter().find(|key| lacks(target, key))?;
        let message = format!("the {kind} '{name}' has no key '{}'", key.as_scalar()?.text());
        return Some(about(key, message));
    }
    let had = named.before().get(&(kind, namespace, name)).map(|target| {
        format!("the resource got the name '{}' later: kustomize does not update this reference", target.id().name)
    });
    let other = || named.mistaken(reference, namespace, name);
    let hint = had.or_else(|| other().map(|other| format!("it has a {other} of this name: refer to that")))?;
    let message = format!("the output has no {kind} '{name}' in this namespace");
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
