//! Sort order: the order of resources in the output.
//!
//! *Fields*: `sortOptions`.
//! *Entry*: `SortOptions`, `LegacySortOptions`.
//! *Order*: at the end of the build. The root's options count, else the flag `--reorder`, else
//! `legacy`.
//! *Cost*: O(resources x log resources), on keys that are made once.
//! *Quirks*: `legacy` without lists puts Namespaces, ServiceAccounts, roles, ConfigMaps, Secrets,
//! Services and workloads first and webhook configurations last; with `legacySortOptions` its own
//! lists count, and no others (case out-legacy-sort-custom-lists).
//! *Example*: `testdata/reference/order.txtar`

use super::{ResId, ResMap, Resource};
use crate::schema::Gvk;
use crate::schema::gvk::{compare_gvk, legacy_rank, or};
use rustomize_base::meter::FastMap;
use rustomize_yaml::Arena;
use std::cmp::Ordering;

/// The order of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order in which resources were accumulated.
    Fifo,
    /// By kind, then by name: kinds of one fixed list come first, kinds of another one last.
    Legacy,
    /// As `Legacy`, with lists that the user gives.
    Lists { first: Vec<String>, last: Vec<String> },
}

/// The rank of each kind in two lists: negative in the first, positive in the last.
fn ranks<'l>(first: &'l [String], last: &'l [String]) -> FastMap<&'l str, i32> {
    let of_first = first.iter().enumerate().map(|(k, kind)| (kind.as_str(), k as i32 - first.len() as i32));
    let of_last = last.iter().enumerate().map(|(k, kind)| (kind.as_str(), 1 + k as i32));
    of_first.chain(of_last).collect()
}

/// Sorts a map. O(n log n).
///
/// If the lists of a user leave out Namespace, there are Namespaces of several apiVersions, and
/// another kind sorts between them, upstream's comparison is not transitive and its result depends
/// on its sort routine. The order of the texts is used there instead.
pub fn sort<'a>(arena: Arena<'a>, map: &mut ResMap<'a>, order: &Order) {
    match order {
        Order::Fifo => {}
        Order::Legacy => sort_by_rank(arena, map, legacy_rank),
        Order::Lists { first, last } => {
            let ranks = ranks(first, last);
            sort_by_rank(arena, map, |kind| ranks.get(kind).copied().unwrap_or(0));
        }
    }
}

/// Sorts by the rank of kinds. There are few kinds and many resources: first the kinds are sorted,
/// by rank and by text, and then the resources by the place of their kind.
fn sort_by_rank<'a>(arena: Arena<'a>, map: &mut ResMap<'a>, rank: impl Fn(&str) -> i32) {
    let mut kinds: Vec<Gvk<'_>> = map.distinct(arena, |r| Some(r.id().gvk)).into_iter().collect();
    kinds.sort_unstable();
    kinds.sort_by(|a, b| rank(a.kind).cmp(&rank(b.kind)).then_with(|| compare_gvk(a, b, false)));
    if arena.compat().sorts_core_namespaces_first() {
        reverse_namespaces(&mut kinds);
    }
    let places: FastMap<Gvk<'_>, u32> = kinds.iter().copied().zip(0..).collect();
    let namespaces = namespace_places(arena, map);
    let kind_of = |id: &ResId<'_>| places.get(&id.gvk).copied().unwrap_or(0);
    let common = common_starts(arena, map, kinds.len(), kind_of);
    let key = |id: &ResId<'_>| {
        let kind = kind_of(id);
        match namespaces.get(id.namespace) {
            Some(&namespace) => (kind, namespace, start(&name(id).as_bytes()[common[kind as usize]..])),
            None => (kind, 0, 0),
        }
    };
    map.sort_by_key(arena, |r| key(r.id()), |a, b| compare_names(a.id(), b.id()));
}

/// Sorts Namespaces of several apiVersions among themselves as upstream does: those of the core
/// group come first, in reverse order. If another kind is between them, they stay.
fn reverse_namespaces(kinds: &mut [Gvk<'_>]) {
    let is_namespace = |gvk: &Gvk<'_>| gvk.kind == "Namespace";
    let Some(first) = kinds.iter().position(is_namespace) else { return };
    let count = kinds.iter().filter(|gvk| is_namespace(gvk)).count();
    let block = &mut kinds[first..first + count];
    if block.iter().all(is_namespace) {
        block.sort_by(|a, b| compare_gvk(a, b, true));
    }
}

/// The place of each namespace in their order. Empty if one of them contains the `|` that
/// [`compare_names`] uses.
fn namespace_places<'a>(arena: Arena<'a>, map: &ResMap<'a>) -> FastMap<&'a str, u32> {
    let namespaces = map.distinct(arena, |r| Some(r.id().namespace));
    if namespaces.iter().any(|namespace| namespace.contains('|')) {
        return FastMap::default();
    }
    let text = |namespace: &str| format!("{}|", or(namespace, "~X"));
    let mut texts: Vec<String> = namespaces.iter().map(|namespace| text(namespace)).collect();
    texts.sort_unstable();
    let place = |namespace: &str| texts.partition_point(|other| *other < text(namespace)) as u32;
    namespaces.into_iter().map(|namespace| (namespace, place(namespace))).collect()
}

/// The number of bytes that the names of each kind have in common at the start. Keys leave them
/// out, because they do not help to tell names apart.
fn common_starts<'a>(
    arena: Arena<'a>,
    map: &ResMap<'a>,
    kinds: usize,
    kind_of: impl Fn(&ResId<'a>) -> u32 + Sync,
) -> Vec<usize> {
    let shorten = |start: &mut Option<&'a [u8]>, name: &'a [u8]| {
        let known = start.unwrap_or(name);
        let length = known.iter().zip(name).take_while(|(a, b)| a == b).count();
        *start = Some(&known[..length]);
    };
    let mut runs = map.look_at_runs(arena, |run| {
        let mut starts: Vec<Option<&'a [u8]>> = vec![None; kinds];
        run.iter().map(Resource::id).for_each(|id| shorten(&mut starts[kind_of(id) as usize], name(id).as_bytes()));
        starts
    });
    let mut starts = runs.pop().unwrap_or_default();
    for run in runs {
        starts.iter_mut().zip(run).for_each(|(start, other)| other.iter().for_each(|other| shorten(start, other)));
    }
    starts.into_iter().map(|start| start.map_or(0, <[u8]>::len)).collect()
}

/// The name that is used in comparisons.
fn name<'a>(id: &ResId<'a>) -> &'a str {
    or(id.name, "~N")
}

/// The first bytes of a text, as a number that compares in the same way.
fn start(text: &[u8]) -> u64 {
    let mut start = [0; 8];
    start.iter_mut().zip(text).for_each(|(at, byte)| *at = *byte);
    u64::from_be_bytes(start)
}

/// Upstream compares `Kind.version.group|namespace|name` in a single text; the part before the
/// namespace is equal here.
fn compare_names(a: &ResId<'_>, b: &ResId<'_>) -> Ordering {
    let tail = |id: &ResId<'_>| format!("{}|{}", or(id.namespace, "~X"), name(id));
    if a.namespace == b.namespace { name(a).cmp(name(b)) } else { tail(a).cmp(&tail(b)) }
}
