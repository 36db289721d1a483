//! Advice for an id that no resource has: the resource that was most likely meant.

use super::{Hint, Metadatum, ResId, Resource};
use crate::diag::nearest;
use crate::schema::{builtin_groups, builtin_kinds};

/// At most this many entries without effect of one stage are compared with all resources: a search
/// costs as much as a walk over them.
pub const MOST_ADVISED: usize = 20;

/// At most this many resources are listed if none is like the wanted one.
const LISTED: usize = 5;

/// The advice for an id that no resource has. Earlier names of resources count as theirs.
/// O(resources).
pub fn advice<'a, 'r>(resources: impl Iterator<Item = &'r Resource<'a>>, wanted: &ResId<'_>) -> String
where
    'a: 'r,
{
    // A patch can take a name away.
    let ids: Vec<ResId<'a>> = resources.flat_map(Resource::any_ids).filter(|id| !id.name.is_empty()).collect();
    let is_of_kind = |id: &&ResId<'a>| id.gvk.kind == wanted.gvk.kind;
    let is_of_name = |id: &&ResId<'a>| id.name == wanted.name;
    if let Some(id) = ids.iter().filter(is_of_kind).find(is_of_name) {
        return other_part(id, wanted);
    }
    if wanted.name.contains('*') {
        let pattern = wanted.name.replace(".*", "*").replace('*', ".*");
        let kind = wanted.gvk.kind;
        return format!("a name is a pattern in a target alone: target: {{kind: {kind}, name: {pattern}}}");
    }
    let names = ids.iter().filter(is_of_kind).map(|id| id.name);
    if let Some(name) = nearest(wanted.name, names) {
        return format!("did you mean '{name}'?");
    }
    let kinds = || ids.iter().filter(is_of_name).map(|id| id.gvk.kind);
    if let Some(kind) = nearest(wanted.gvk.kind, kinds()).or_else(|| kinds().next()) {
        return format!("did you mean the {kind} '{}'?", wanted.name);
    }
    listed(&ids)
}

/// The advice for a selector that selects no resource: the kind or the name that was most likely
/// meant. `None` if its kind and name are no plain texts, or resemble nothing. O(resources).
pub fn advice_for_selector<'a, 'r>(
    resources: impl Iterator<Item = &'r Resource<'a>>,
    wanted: &Hint<'_>,
) -> Option<String>
where
    'a: 'r,
{
    let resources: Vec<&Resource<'a>> = resources.collect();
    let ids: Vec<ResId<'a>> = resources.iter().flat_map(|resource| resource.any_ids()).collect();
    let is_of_kind = |id: &&ResId<'a>| wanted.kind.is_none_or(|kind| id.gvk.kind == kind);
    let of_kind: Vec<&ResId<'a>> = ids.iter().filter(is_of_kind).collect();
    if let (Some(kind), true) = (wanted.kind, of_kind.is_empty()) {
        let is_known = !builtin_groups(kind).is_empty();
        let known = || nearest(kind, builtin_kinds()).filter(|_| !is_known);
        let near = nearest(kind, ids.iter().map(|id| id.gvk.kind)).or_else(known);
        return near.map(|near| format!("did you mean the kind '{near}'?"));
    }
    let Some(name) = wanted.name else {
        let of_pattern = || of_pattern(&of_kind, wanted.name_starts?);
        let of_namespace = || of_namespace(&of_kind, wanted.namespace?);
        return of_pattern().or_else(|| Some(of_entry(&resources, wanted.entry?))).or_else(of_namespace);
    };
    match of_kind.iter().find(|id| id.name == name) {
        Some(id) => {
            let is_version = wanted.version.is_none_or(|version| id.gvk.version == version);
            let is_group = wanted.group.is_none_or(|group| id.gvk.group == group);
            let is_namespace = wanted.namespace.is_none_or(|namespace| id.namespace == namespace);
            let part = [(is_group, "group"), (is_version, "version"), (is_namespace, "namespace")];
            let wrong = part.iter().find(|(is_right, _)| !is_right).map(|(_, part)| *part)?;
            let group_and_version = wanted.version.filter(|version| version.contains('/'));
            Some(match (group_and_version.and_then(|version| version.split_once('/')), wrong, id.namespace) {
                (Some((group, version)), ..) => {
                    format!("write the parts of an apiVersion as fields: group: {group}, version: {version}")
                }
                (None, "namespace", "") => {
                    format!("there is {id}, which names no namespace at this point: leave 'namespace' out")
                }
                _ => format!("there is {id}: correct the {wrong} of the target, or leave it out"),
            })
        }
        None => nearest(name, of_kind.iter().map(|id| id.name)).map(|near| format!("did you mean '{near}'?")),
    }
}

/// The advice for a pattern of names that matches no whole name. `starts` are the beginnings of its
/// names.
fn of_pattern(ids: &[&ResId<'_>], starts: &[String]) -> Option<String> {
    let with_start =
        |id: &&ResId<'_>| starts.iter().find(|start| !start.is_empty() && id.name.starts_with(*start)).cloned();
    let (id, start) = ids.iter().find_map(|id| Some((id, with_start(id)?)))?;
    Some(format!("a name is a regular expression for whole names: '{start}.*' would select '{}'", id.name))
}

/// The advice for a namespace that no resource is in.
fn of_namespace(ids: &[&ResId<'_>], wanted: &str) -> Option<String> {
    if ids.iter().any(|id| id.namespace == wanted) {
        return None;
    }
    match nearest(wanted, ids.iter().map(|id| id.namespace)) {
        Some(near) if !near.is_empty() => Some(format!("did you mean the namespace '{near}'?")),
        _ => ids.iter().any(|id| id.namespace.is_empty()).then(|| {
            "the resources have no namespace when the patch runs: leave 'namespace' out of the target".to_owned()
        }),
    }
}

/// The advice for a label or an annotation that no resource has with a wanted value.
fn of_entry(resources: &[&Resource<'_>], Metadatum { map, key, values }: Metadatum<'_>) -> String {
    let word = map.trim_end_matches('s');
    let known = || resources.iter().filter_map(|resource| resource.node().get("metadata")?.get(map)?.as_mapping());
    let found: Vec<&str> = known().filter_map(|entries| entries.get(key)?.as_scalar().map(|s| s.text())).collect();
    // The value of an annotation may be a secret.
    let values = values.filter(|_| map == "labels").unwrap_or_default();
    let near = values.iter().find_map(|value| nearest(value, found.iter().copied()));
    match (near, found.is_empty()) {
        (Some(near), _) => format!("did you mean {key}={near}?"),
        (None, false) => format!("the target asks for another value of the {word} '{key}' than the resources have"),
        (None, true) => {
            match nearest(key, known().flat_map(|entries| entries.iter()).map(|entry| entry.key().text())) {
                Some(near) => format!("did you mean the {word} '{near}'?"),
                None => format!("the target asks for the {word} '{key}', which no resource has at this point"),
            }
        }
    }
}

/// The part of an id in which a resource of the same kind and name differs.
fn other_part(id: &ResId<'_>, wanted: &ResId<'_>) -> String {
    let version = |id: &ResId<'_>| match id.gvk.group {
        "" => id.gvk.version.to_owned(),
        group => format!("{group}/{}", id.gvk.version),
    };
    if id.gvk != wanted.gvk {
        return format!("there is {id}: write 'apiVersion: {}'", version(id));
    }
    match (id.namespace, wanted.namespace) {
        ("", _) => format!("there is {id}, which names no namespace at this point: leave 'namespace' out"),
        (namespace, _) => format!("there is {id}: write 'namespace: {namespace}'"),
    }
}

/// The first resources of all.
fn listed(ids: &[ResId<'_>]) -> String {
    let mut shown: Vec<String> = ids.iter().map(|id| format!("{} {}", id.gvk.kind, id.name)).collect();
    shown.dedup();
    let count = shown.len();
    shown.truncate(LISTED);
    match count {
        0 => "the build has no resource with a name at this point: a kustomization changes the resources of its own 'resources', and not those of the kustomization that lists it".to_owned(),
        _ if count <= LISTED => format!("the resources here are: {}", shown.join(", ")),
        _ => format!("the resources here are: {} and {} more", shown.join(", "), count - LISTED),
    }
}
