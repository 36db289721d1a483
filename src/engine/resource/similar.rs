//! Advice for an id that no resource has: the resource that was most likely meant.

use super::{Hint, Metadatum, ResId, Resource};
use crate::diag::nearest;
use crate::schema::builtin_kinds;

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
    let ids: Vec<ResId<'a>> = resources.flat_map(Resource::any_ids).collect();
    let is_of_kind = |id: &&ResId<'a>| wanted.kind.is_none_or(|kind| id.gvk.kind == kind);
    let of_kind: Vec<&ResId<'a>> = ids.iter().filter(is_of_kind).collect();
    if let (Some(kind), true) = (wanted.kind, of_kind.is_empty()) {
        let is_known = builtin_kinds().any(|known| known == kind);
        let known = || nearest(kind, builtin_kinds()).filter(|_| !is_known);
        let near = nearest(kind, ids.iter().map(|id| id.gvk.kind)).or_else(known);
        return near.map(|near| format!("did you mean the kind '{near}'?"));
    }
    let Some(name) = wanted.name else {
        let Metadatum { map, key, .. } = wanted.entry?;
        let word = map.trim_end_matches('s');
        return Some(format!("the target asks for the {word} '{key}': see whether the resources have it"));
    };
    match of_kind.iter().find(|id| id.name == name) {
        Some(id) => {
            let is_version = wanted.version.is_none_or(|version| id.gvk.version == version);
            let is_group = wanted.group.is_none_or(|group| id.gvk.group == group);
            let is_namespace = wanted.namespace.is_none_or(|namespace| id.namespace == namespace);
            let part = [(is_group, "group"), (is_version, "version"), (is_namespace, "namespace")];
            let wrong = part.iter().find(|(is_right, _)| !is_right).map(|(_, part)| *part)?;
            Some(format!("there is {id}: correct the {wrong} of the target, or leave it out"))
        }
        None => nearest(name, of_kind.iter().map(|id| id.name)).map(|near| format!("did you mean '{near}'?")),
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
        0 => "the build has no resource with a name at this point".to_owned(),
        _ if count <= LISTED => format!("the resources here are: {}", shown.join(", ")),
        _ => format!("the resources here are: {} and {} more", shown.join(", "), count - LISTED),
    }
}
