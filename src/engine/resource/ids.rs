//! [`Ids`]: the places of resources in a build, found by id; and [`Places`].
//!
//! The tables hold places and hashes, not ids: an id has 96 bytes, and a look-up reads the
//! resource anyway.

use super::{ResId, Resource};
use hashbrown::HashTable;
use rustomize_base::meter::{FastMap, List, RandomState};
use rustomize_base::parallel;
use std::hash::BuildHasher;

/// Places of resources in a [`ResMap`](super::ResMap). Nearly every id belongs to one resource.
#[derive(Clone, Debug)]
pub enum Places {
    /// The only place: the usual case.
    One(u32),
    /// The places, in order.
    #[expect(clippy::box_collection, reason = "an index has a place for nearly every id: half the size")]
    Many(Box<Vec<u32>>),
}

impl Places {
    /// All places.
    pub fn as_slice(&self) -> &[u32] {
        match self {
            Places::One(i) => std::slice::from_ref(i),
            Places::Many(list) => list,
        }
    }

    /// Adds a place, unless the list has it.
    pub fn add(&mut self, i: u32) {
        match self {
            Places::One(first) if *first == i => {}
            Places::One(first) => *self = Places::Many(Box::new(vec![(*first).min(i), i.max(*first)])),
            // Places are added in order, except by single edits.
            Places::Many(list) if list.last().is_none_or(|last| *last < i) => list.push(i),
            Places::Many(list) => {
                if let Err(at) = list.binary_search(&i) {
                    list.insert(at, i);
                }
            }
        }
    }
}

/// The places of the resources of a list, by id. Each table is made when it is first needed.
#[derive(Default, Debug)]
pub(super) struct Ids {
    hasher: RandomState,
    /// The places of all resources, by their current ids.
    current: Option<HashTable<u32>>,
    /// Places by the hashes of the ids that resources have or had.
    any: Option<FastMap<u64, Places>>,
}

impl Ids {
    /// Returns true if the current ids are indexed.
    pub(super) fn has_current(&self) -> bool {
        self.current.is_some()
    }

    /// The number of resources that are indexed by their current ids.
    pub(super) fn count_current(&self) -> usize {
        self.current.as_ref().map_or(0, HashTable::len)
    }

    /// Drops the index of current ids.
    pub(super) fn forget_current(&mut self) {
        self.current = None;
    }

    /// Makes room for the current ids of `more` more resources.
    pub(super) fn reserve(&mut self, more: usize, resources: &List<Resource<'_>>) {
        let hash = |&i: &u32| self.hasher.hash_one(resources[i as usize].id());
        self.current.get_or_insert_default().reserve(more, hash);
    }

    /// Indexes the current ids of all resources that are not emptied. O(n); ids are hashed on up to
    /// `threads` threads.
    ///
    /// # Errors
    /// The places of two resources that share an id, the first one first.
    pub(super) fn index_current(&mut self, resources: &List<Resource<'_>>, threads: usize) -> Result<(), (u32, u32)> {
        self.current = None;
        self.reserve(resources.len(), resources);
        let hash = |r: &Resource<'_>| (!r.is_deleted()).then(|| self.hasher.hash_one(r.id()));
        let hash_run = || |run: &[Resource<'_>]| run.iter().map(hash).collect::<Vec<_>>();
        let hashes = parallel::runs(resources, threads, hash_run);
        for (i, key) in hashes.into_iter().flatten().enumerate() {
            if let Some(first) = key.and_then(|key| self.add_hashed(i as u32, key, resources)) {
                return Err((first, i as u32));
            }
        }
        Ok(())
    }

    /// Adds a resource by its current id, if these are indexed. If another resource has the id
    /// already, its place is returned and stays in the index. O(1).
    pub(super) fn add_current(&mut self, i: u32, resources: &List<Resource<'_>>) -> Option<u32> {
        self.add_hashed(i, self.hasher.hash_one(resources[i as usize].id()), resources)
    }

    /// As [`Ids::add_current`], of an id with the hash `key`.
    fn add_hashed(&mut self, i: u32, key: u64, resources: &List<Resource<'_>>) -> Option<u32> {
        let table = self.current.as_mut()?;
        let is_same = |&other: &u32| resources[other as usize].id() == resources[i as usize].id();
        let first = table.find(key, is_same).copied();
        if first.is_none() {
            table.insert_unique(key, i, |&i| self.hasher.hash_one(resources[i as usize].id()));
        }
        first
    }

    /// Removes a resource that is indexed by its former id `before`, if current ids are indexed.
    /// O(1).
    pub(super) fn remove_current(&mut self, i: u32, before: &ResId<'_>) {
        if let Some(table) = &mut self.current
            && let Ok(entry) = table.find_entry(self.hasher.hash_one(before), |&other| other == i)
        {
            entry.remove();
        }
    }

    /// Adds a resource by its identities from number `first` on, if all ids are indexed. Entries
    /// for identities that the resource has given up stay.
    pub(super) fn add_any(&mut self, i: u32, resource: &Resource<'_>, first: usize) {
        if let Some(any) = &mut self.any {
            for id in resource.ids_from(first) {
                let key = self.hasher.hash_one(id);
                any.entry(key).and_modify(|places| places.add(i)).or_insert(Places::One(i));
            }
        }
    }

    /// The places of the resources that have or had an id, in order. O(1), once the index exists.
    pub(super) fn any(&mut self, id: &ResId<'_>, resources: &List<Resource<'_>>) -> Vec<usize> {
        if self.any.is_none() {
            // There may be room for resources that will be added.
            self.any = Some(FastMap::with_capacity_and_hasher(resources.capacity(), RandomState::default()));
            resources.iter().enumerate().for_each(|(i, resource)| self.add_any(i as u32, resource, 0));
        }
        let places = self.any.as_ref().and_then(|any| any.get(&self.hasher.hash_one(id)));
        // A change that left no history may have replaced an id; two ids may share a hash.
        let holds = |i: &&u32| resources[**i as usize].has_or_had(id);
        places.map_or(&[][..], Places::as_slice).iter().filter(holds).map(|&i| i as usize).collect()
    }
}
