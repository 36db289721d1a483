//! Advice for an id that no resource has: the resource that was most likely meant.

use super::{ResId, Resource};
use crate::diag::nearest;

/// So many resources are listed, where none is like the wanted one.
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
