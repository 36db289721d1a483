//! Findings in the resources that a build ends with, once names are final.

use super::finding::finding;
use super::parts::Parts;
use super::{copies, data, marks, names, old_names, pods, quotes, references, secrets, services, unused};
use crate::diag::{Code, Mend, Warning, is_placeholder, nearest};
use crate::resource::{NEEDS_HASH, ResMap, Resource};
use crate::schema::{Gvk, builtin_groups, builtin_kinds, newest_version};
use crate::stage::{OfKind, UsedEntries, Uses};
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Mapping, Node, Pos};
use std::collections::BTreeSet;

/// Finds at most one fault of a resource.
type Check = fn(&Parts<'_, '_>) -> Option<Warning>;

/// The checks that look at one resource.
const CHECKS: [Check; 14] = [
    no_api_version,
    kind_case,
    unknown_kind,
    names::bad_name,
    names::bad_label,
    data::bad_base64,
    data::bad_key,
    selector_mismatch,
    pods::bad_image,
    pods::dangling_mount,
    pods::duplicate_name,
    secrets::without_key,
    function_skipped,
    needs_hash,
];

/// The generated objects of a build, and the set that gets the entries of those that are used.
pub struct Generated<'u> {
    pub uses: &'u Uses,
    pub used: &'u UsedEntries,
}

/// The findings in all resources, in their order; on all cores if they are many. `generated` is
/// `None` for a component, whose objects its users may use. O(size of the resources).
pub fn findings<'a>(arena: Arena<'a>, map: &ResMap<'a>, generated: Option<&Generated<'_>>) -> Vec<Warning> {
    let (named, workloads) = (references::Named::of(arena, map), services::Workloads::of(arena, map));
    let renamed = old_names::Renamed::of(map);
    let of_resource = |resource: &Resource<'a>| {
        let parts = Parts::of(resource);
        let mut found: Vec<Warning> = CHECKS.iter().filter_map(|check| check(&parts)).collect();
        secrets::clear_text(resource, &mut found);
        quotes::texts(&parts, &mut found);
        references::dangling(&parts, &named, &mut found);
        references::stranded(&parts, &named, &mut found);
        old_names::find(resource, &renamed, &mut found);
        old_names::in_texts(&parts, &renamed, &mut found);
        services::find(&parts, &workloads, &mut found);
        found
    };
    let of_run = |run: &[Resource<'a>]| run.iter().flat_map(of_resource).collect::<Vec<_>>();
    let found = map.look_at_runs(arena, of_run).into_iter().flatten();
    let mut found: Vec<Warning> = found.map(|finding| quotes::advised(arena.heap(), finding)).collect();
    found.extend(generated.into_iter().flat_map(|g| unused::findings(arena, map, g.uses, g.used)));
    found.extend(generated.into_iter().flat_map(|g| copies::findings(arena, map, &g.uses.copies)));
    found.extend(marks::in_files(arena, map));
    found
}

/// The findings about resources that still have the kind which each is about, or that are no longer
/// there; each names the first id, and has the others. O(resources, if there are such findings + n
/// log n resources that they are about).
pub fn holding<'a>(map: &ResMap<'a>, found: Vec<OfKind<'a>>) -> Vec<Warning> {
    let mut kinds: FastMap<u32, Vec<&str>> = FastMap::default();
    for resource in map.iter().filter(|_| !found.is_empty()) {
        kinds.entry(resource.pos().0).or_default().push(resource.id().gvk.kind);
    }
    let name_first = |OfKind { finding, kind, resources }: OfKind<'a>| {
        let keeps = |pos: Pos| kinds.get(&pos.0).is_none_or(|kinds| kinds.contains(&kind));
        let ids = resources.into_iter().filter(|(pos, _)| keeps(*pos)).map(|(_, id)| id.to_string());
        let ids: BTreeSet<String> = ids.collect();
        let mut ids = ids.into_iter();
        Some(finding.in_resource(ids.next()?).also_in(ids))
    };
    found.into_iter().filter_map(name_first).collect()
}

/// A resource without an apiVersion, which kustomize takes, and Kubernetes does not.
fn no_api_version(parts: &Parts<'_, '_>) -> Option<Warning> {
    let resource = parts.resource;
    let node = resource.node();
    if node.get_text("apiVersion").is_some_and(|version| !version.is_empty()) {
        return None;
    }
    let kind = resource.id().gvk.kind;
    let at = node.get("apiVersion").or_else(|| node.get("kind"))?;
    let message = format!("the {kind} '{}' has no apiVersion: Kubernetes refuses it", resource.id().name);
    let hint = match newest_version(kind) {
        Some(version) => format!("add 'apiVersion: {version}'"),
        None => "add 'apiVersion', as in apiVersion: example.com/v1".to_owned(),
    };
    Some(finding(Code::NoApiVersion, resource, at, message).hint(hint))
}

/// A kind that a group of Kubernetes lacks, but has in other upper and lower case letters.
fn kind_case(parts: &Parts<'_, '_>) -> Option<Warning> {
    let resource = parts.resource;
    let Gvk { group, kind, .. } = resource.id().gvk;
    let is_of_kubernetes = matches!(group, "" | "apps" | "batch" | "autoscaling" | "policy");
    if !is_of_kubernetes || !builtin_groups(kind).is_empty() {
        return None;
    }
    let known = builtin_kinds().find(|known| known.eq_ignore_ascii_case(kind))?;
    let message = format!("Kubernetes has no kind '{kind}' in this group");
    let finding = finding(Code::KindCase, resource, resource.node().get("kind")?, message);
    Some(finding.hint(format!("did you mean '{known}'?")).mended(Mend::text(kind, known)))
}

/// A kind of Kubernetes in a group that does not have it. A group with a dot may be that of a
/// custom kind, unless it is nearly the right one.
fn unknown_kind(parts: &Parts<'_, '_>) -> Option<Warning> {
    let resource = parts.resource;
    let Gvk { group, version, kind } = resource.id().gvk;
    let groups = builtin_groups(kind);
    let is_right = groups.is_empty() || groups.contains(&group) || group == "extensions";
    if is_right || version.is_empty() || is_placeholder(group) {
        return None;
    }
    let right = newest_version(kind)?;
    let right_group = right.rsplit_once('/').map_or("", |(group, _)| group);
    if group.contains('.') && nearest(group, [right_group]).is_none() {
        return None;
    }
    let at = resource.node().get("apiVersion")?;
    let message = format!("Kubernetes has no kind '{kind}' in '{}'", at.scalar_text());
    Some(finding(Code::UnknownKind, resource, at, message).hint(format!("did you mean '{right}'?")))
}

/// A workload whose selector asks for a label that its own pod template does not have.
fn selector_mismatch(parts: &Parts<'_, '_>) -> Option<Warning> {
    let resource = parts.resource;
    let gvk = resource.id().gvk;
    if gvk.group != "apps" || !matches!(gvk.kind, "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") {
        return None;
    }
    let wanted = parts.spec?.get("selector")?.get("matchLabels")?.as_mapping()?;
    parts.pods?;
    let labels = parts.metadata_of_pods().and_then(|metadata| metadata.get("labels")).and_then(Node::as_mapping);
    let has = |key: &str, value: &Node<'_>| {
        let label = labels.and_then(|labels: &Mapping<'_>| labels.get(key)).and_then(Node::as_scalar);
        label.map(|s| s.text()) == value.as_scalar().map(|s| s.text())
    };
    let missing = wanted.iter().find(|entry| !has(entry.key().text(), entry.value()))?;
    let message =
        format!("the selector asks for the label '{}', which the pod template does not have", missing.key().text());
    let label = missing.key().text();
    let hint = match labels.is_some_and(|labels| labels.contains(label)) {
        true => format!("give '{label}' one value, here and in 'labels' of the pod template"),
        false => format!("add '{label}' to 'labels' of the pod template, or remove it here"),
    };
    Some(finding(Code::SelectorMismatch, resource, missing.value(), message).hint(hint))
}

/// A resource that configures a function: kustomize runs functions that are named as generators,
/// transformers or validators, and prints others.
fn function_skipped(parts: &Parts<'_, '_>) -> Option<Warning> {
    let annotations = parts.metadata?.get("annotations")?;
    let at = FUNCTIONS.iter().find_map(|key| annotations.get(key))?;
    let message = "kustomize does not run a function that is among the resources".to_owned();
    let hint = "name the file under 'generators', 'transformers' or 'validators', or leave it to another tool";
    Some(finding(Code::FunctionSkipped, parts.resource, at, message).hint(hint))
}

/// A resource of a file with the annotation by which a plugin asks for a name hash.
fn needs_hash(parts: &Parts<'_, '_>) -> Option<Warning> {
    let at = parts.metadata?.get("annotations")?.get(NEEDS_HASH)?;
    let message = format!("kustomize prints the annotation '{NEEDS_HASH}' of a file, and adds no hash to the name");
    let hint = "make the object with a 'configMapGenerator' or 'secretGenerator', or remove the annotation";
    Some(finding(Code::NoEffect, parts.resource, at, message).hint(hint))
}

/// The annotations that ask for a function.
const FUNCTIONS: [&str; 2] = ["config.kubernetes.io/function", "config.k8s.io/function"];
