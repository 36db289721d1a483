//! The differences of two lists of resources: resources that were added, removed, renamed or moved,
//! and fields that differ. Values are compared, and not their spelling.
//!
//! * [`secrets`]: finds secret values; [`mask`]: hides them, before anything is compared.
//! * [`pairs`]: pairs each old resource with the new resource that it became; [`names`]: names
//!   without hash, prefix or suffix; [`features`]: the likeness of two resources.
//! * [`fields`]: the fields in which two resources differ; [`path`]: the path of a field.
//! * [`unchangeable`]: the fields that Kubernetes lets nobody change in an existing object.
//! * [`align`]: pairs of equal items in lists without keys.
//! * [`summary`]: counts, and the images that differ.
//!
//! Nothing is read or printed here.
//! Cost: O(nodes and texts of both lists), times the logarithm of the number of equal items in a
//! list.

pub mod align;
mod features;
pub mod fields;
pub mod mask;
mod names;
pub mod pairs;
pub mod path;
pub mod secrets;
pub mod summary;
mod unchangeable;

pub use fields::{Difference, FieldChange};
pub use mask::Masks;
pub use names::without_hash;
pub use pairs::Match;
pub use path::Step;
pub use summary::Summary;

use crate::resource::Resource;
use crate::schema::Schemas;
use fields::Comparison;
use pairs::{Pair, Pairs};
use rustomize_base::meter::FastMap;
use unchangeable::{is_content, is_sealed, is_unchangeable};

/// The difference of a resource.
#[derive(Clone, Debug)]
pub enum Change<'n> {
    Added(&'n Resource<'n>),
    Removed(&'n Resource<'n>),
    /// The resource is in both lists, and has another identity or other fields.
    Changed {
        before: &'n Resource<'n>,
        after: &'n Resource<'n>,
        /// The rule that paired the two resources.
        matched: Match,
        /// The changed fields in the order of the resource, without name and namespace.
        fields: Vec<FieldChange<'n>>,
    },
}

impl<'n> Change<'n> {
    /// The new resource, or the old one if it was removed.
    pub fn resource(&self) -> &'n Resource<'n> {
        match self {
            Change::Added(resource) | Change::Removed(resource) => resource,
            Change::Changed { after, .. } => after,
        }
    }
}

/// The differences of two lists of resources.
#[derive(Clone, Debug, Default)]
pub struct Changes<'n> {
    /// Sorted by kind, namespace and name.
    pub resources: Vec<Change<'n>>,
    /// The number of resources that are the same in both lists.
    pub same: usize,
}

/// Compares two lists of resources. The schemas say by which keys the items of lists are matched.
/// The order of resources does not count.
pub fn compare<'n>(before: &'n [Resource<'n>], after: &'n [Resource<'n>], schemas: &'n Schemas<'_>) -> Changes<'n> {
    let Pairs { both, removed, added } = pairs::find(before, after);
    let new_names = new_names(before, after, &both);
    let mut changes = Changes::default();
    for Pair { before: i, after: j, matched } in both {
        let (before, after) = (&before[i], &after[j]);
        let schema = schemas.of(&after.id().gvk);
        let mut fields = Comparison::of(before.node(), after.node(), &new_names).fields(schema);
        if matched == Match::Identity {
            let gvk = &after.id().gvk;
            let is_sealed = is_sealed(gvk, before.node());
            let is_fixed = |path: &[_]| is_unchangeable(gvk, path) || is_sealed && is_content(path);
            fields.iter_mut().for_each(|field| field.is_unchangeable = is_fixed(&field.path.0));
        }
        match (matched, fields.is_empty()) {
            (Match::Identity, true) => changes.same += 1,
            _ => changes.resources.push(Change::Changed { before, after, matched, fields }),
        }
    }
    changes.resources.extend(removed.into_iter().map(|i| Change::Removed(&before[i])));
    changes.resources.extend(added.into_iter().map(|j| Change::Added(&after[j])));
    let order = |change: &Change<'n>| {
        let id = change.resource().id();
        (id.gvk.kind, id.gvk.group, id.namespace, id.name)
    };
    changes.resources.sort_by_key(order);
    changes
}

/// The new names of renamed resources, by their old names.
fn new_names<'n>(before: &[Resource<'n>], after: &[Resource<'n>], both: &[Pair]) -> FastMap<&'n str, &'n str> {
    let names = both.iter().map(|pair| (before[pair.before].id().name, after[pair.after].id().name));
    names.filter(|(old, new)| old != new).collect()
}

#[cfg(test)]
mod tests;
