//! [`Index`]: resources that checks find by a name.

use crate::resource::{ResMap, Resource};
use hashbrown::HashTable;
use rustomize_base::meter::RandomState;
use rustomize_yaml::Arena;
use std::hash::BuildHasher;

/// Kind, namespace and name; the kind is empty where any kind counts.
pub(super) type Key<'a> = (&'a str, &'a str, &'a str);

/// Returns the key of a resource; `None` for a resource that no check looks for.
type KeyOf<'a> = fn(&Resource<'a>) -> Option<Key<'a>>;

/// Resources by their keys, with the hashes of the keys: the texts are not read again.
pub(super) struct Index<'n, 'a> {
    hasher: RandomState,
    key_of: KeyOf<'a>,
    table: HashTable<(u64, &'n Resource<'a>)>,
}

impl<'n, 'a> Index<'n, 'a> {
    /// The resources that have a key. Of several with the same key the first counts. O(resources);
    /// keys are hashed on all cores if there are many.
    pub(super) fn of(arena: Arena<'a>, map: &'n ResMap<'a>, key_of: KeyOf<'a>) -> Self {
        let hasher = RandomState::default();
        let runs = map.look_at_runs(arena, |run| {
            let hashed = |resource: &'n Resource<'a>| Some((hasher.hash_one(key_of(resource)?), resource));
            run.iter().filter_map(hashed).collect::<Vec<_>>()
        });
        let mut index = Index { hasher, key_of, table: HashTable::with_capacity(runs.iter().map(Vec::len).sum()) };
        for (hash, resource) in runs.into_iter().flatten() {
            if index.find(hash, |other| key_of(other) == key_of(resource)).is_none() {
                index.table.insert_unique(hash, (hash, resource), |(hash, _)| *hash);
            }
        }
        index
    }

    /// Returns true if no resource has a key.
    pub(super) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The resource that has a key. O(1).
    pub(super) fn get(&self, key: Key<'_>) -> Option<&'n Resource<'a>> {
        self.find(self.hasher.hash_one(key), |other| (self.key_of)(other) == Some(key))
    }

    fn find(&self, hash: u64, is_meant: impl Fn(&Resource<'a>) -> bool) -> Option<&'n Resource<'a>> {
        self.table.find(hash, |(known, other)| *known == hash && is_meant(other)).map(|(_, found)| *found)
    }
}
