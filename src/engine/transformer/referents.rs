//! [`Referents`]: the resources that have or have had another name, for the references to them.

use crate::resource::{Places, ResMap, Resource};
use rustomize_base::meter::{FastMap, FastSet, RandomState};
use rustomize_yaml::Arena;
use smallvec::SmallVec;
use std::hash::BuildHasher;
use std::sync::{Mutex, OnceLock, PoisonError};

/// More combinations of affixes than this are not listed.
const MAX_AFFIXES: usize = 1024;

/// Renamed resources: found by kind, a name that they had, and their namespace.
pub(super) struct Referents<'m, 'a> {
    map: &'m ResMap<'a>,
    hasher: RandomState,
    /// By the hash of kind, name and namespace: there are many names, and few that are referred to.
    /// An answer is compared with the resource.
    by_namespace: FastMap<u64, Places>,
    /// The same with the namespace that the resource had at first, made when it is first asked for.
    by_original: OnceLock<FastMap<u64, Places>>,
    /// The same without the namespace.
    anywhere: OnceLock<FastMap<u64, Places>>,
    /// By the hash of the name.
    named: OnceLock<FastMap<u64, Places>>,
    /// The current namespaces of all resources by their original ones.
    pub(super) namespaces: FastMap<&'a str, FastSet<&'a str>>,
    /// For answers with many resources: which of them have some prefixes and suffixes.
    affixes: Mutex<FastMap<u64, FastMap<u64, Places>>>,
    /// The results of references to answers with many resources.
    known: Mutex<FastMap<u64, Option<u32>>>,
}

/// Resources that a name may refer to, in order. The key is that of this answer.
#[derive(Clone, Copy)]
pub(super) struct Answer<'t> {
    key: u64,
    pub(super) places: &'t [u32],
}

impl<'m, 'a> Referents<'m, 'a> {
    /// Only resources of kinds that may be referred to are looked at: a name after ten layers is
    /// ten names.
    pub(super) fn of(map: &'m ResMap<'a>, arena: Arena<'a>, kinds: &[&str]) -> Self {
        let is_wanted = |kind: &str| kinds.binary_search(&kind).is_ok();
        let hasher = RandomState::default();
        // The hashes of the names of each resource in a run, with its place in the run.
        let runs = map.look_at_runs(arena, |run| {
            let mut hashes = Vec::with_capacity(run.len());
            let wanted = |(resource, _): &(&Resource<'a>, u32)| resource.previous().iter().any(|p| is_wanted(p.kind));
            for (resource, i) in run.iter().zip(0u32..).filter(wanted) {
                let namespace = resource.id().effective_namespace();
                each_name(resource, |kind, name| hashes.push((hasher.hash_one((kind, name, namespace)), i)));
            }
            (run.len() as u32, hashes)
        });
        let names = runs.iter().map(|(_, hashes)| hashes.len()).sum();
        let mut by_namespace: FastMap<u64, Places> = FastMap::with_capacity_and_hasher(names, RandomState::default());
        let mut first = 0;
        for (count, hashes) in runs {
            hashes.into_iter().for_each(|(hash, i)| add(&mut by_namespace, hash, first + i));
            first += count;
        }
        let mut namespaces: FastMap<&str, FastSet<&str>> = FastMap::default();
        let moves =
            map.distinct(arena, |r| Some((r.original_id().effective_namespace(), r.id().effective_namespace())));
        for (from, to) in moves {
            namespaces.entry(from).or_default().insert(to);
        }
        let (by_original, anywhere, named, affixes, known) = Default::default();
        Referents { map, hasher, by_namespace, by_original, anywhere, named, namespaces, affixes, known }
    }

    /// The resource at a place.
    pub(super) fn get(&self, place: u32) -> &'m Resource<'a> {
        self.map.get(place as usize)
    }

    /// Resources of a kind that had a name and are in a namespace now.
    pub(super) fn in_namespace(&self, kind: &str, name: &str, namespace: &str) -> Answer<'_> {
        answer(&self.by_namespace, self.hasher.hash_one((kind, name, namespace)))
    }

    /// Resources of a kind that had a name and were in a namespace at first.
    pub(super) fn at_first_in(&self, kind: &str, name: &str, namespace: &str) -> Answer<'_> {
        let key = |kind: &str, name: &str, namespace: &str| self.hasher.hash_one(("first", kind, name, namespace));
        let table = self
            .by_original
            .get_or_init(|| self.table(|r, kind, name| key(kind, name, r.original_id().effective_namespace())));
        answer(table, key(kind, name, namespace))
    }

    /// Resources of a kind that had a name, in any namespace.
    pub(super) fn anywhere(&self, kind: &str, name: &str) -> Answer<'_> {
        let key = |kind: &str, name: &str| self.hasher.hash_one((kind, name));
        let table = self.anywhere.get_or_init(|| self.table(|_, kind, name| key(kind, name)));
        answer(table, key(kind, name))
    }

    /// Resources of any kind that had a name.
    pub(super) fn named(&self, name: &str) -> Answer<'_> {
        let table = self.named.get_or_init(|| self.table(|_, _, name| self.hasher.hash_one(name)));
        answer(table, self.hasher.hash_one(name))
    }

    fn table(&self, key: impl Fn(&Resource<'a>, &str, &str) -> u64) -> FastMap<u64, Places> {
        let mut table = FastMap::default();
        for (i, resource) in self.map.iter().enumerate() {
            each_name(resource, |kind, name| add(&mut table, key(resource, kind, name), i as u32));
        }
        table
    }

    /// The result of references of one kind that have the same answers, if one of them was followed
    /// before: see [`Referents::key_of`].
    pub(super) fn known(&self, key: u64) -> Option<Option<u32>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
    }

    /// Remembers what such references lead to.
    pub(super) fn note(&self, key: u64, chosen: Option<u32>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, chosen);
    }

    /// A key for what references of one kind that have the same answers lead to.
    pub(super) fn key_of(&self, answers: &[Answer<'_>], rest: impl std::hash::Hash) -> u64 {
        let keys: Vec<u64> = answers.iter().map(|answer| answer.key).collect();
        self.hasher.hash_one((keys, rest))
    }

    /// Adds the resources of an answer whose prefixes and suffixes fit those of a referrer: of two
    /// lists one is the end of the other. O(answer) for the first referrer, O(affixes + result) for
    /// the others.
    pub(super) fn add_fitting(
        &self,
        answer: Answer<'_>,
        (prefixes, suffixes): (&[&str], &[&str]),
        into: &mut Vec<u32>,
    ) {
        let mut all = self.affixes.lock().unwrap_or_else(PoisonError::into_inner);
        let table = all.entry(answer.key).or_insert_with(|| self.by_affixes(answer.places));
        if table.is_empty() {
            into.extend(answer.places);
            return;
        }
        let lists = |own: &[&str]| (0..=own.len()).map(|from| (true, from)).chain([(false, 0)]).collect::<Vec<_>>();
        for (is_all_prefixes, p) in lists(prefixes) {
            for (is_all_suffixes, s) in lists(suffixes) {
                let key = self.hasher.hash_one(((is_all_prefixes, &prefixes[p..]), (is_all_suffixes, &suffixes[s..])));
                into.extend(table.get(&key).map_or(&[][..], Places::as_slice));
            }
        }
    }

    /// Places by what the prefixes and suffixes end in; with each end comes whether it is all of
    /// them. Empty if there are too many.
    fn by_affixes(&self, places: &[u32]) -> FastMap<u64, Places> {
        let mut table = FastMap::default();
        for &i in places {
            let resource = self.get(i);
            let (prefixes, suffixes) = (resource.prefixes(), resource.suffixes());
            if (prefixes.len() + 1) * (suffixes.len() + 1) > MAX_AFFIXES {
                return FastMap::default();
            }
            for p in 0..=prefixes.len() {
                for s in 0..=suffixes.len() {
                    let key = self.hasher.hash_one(((p == 0, &prefixes[p..]), (s == 0, &suffixes[s..])));
                    add(&mut table, key, i);
                }
            }
        }
        table
    }
}

fn answer(table: &FastMap<u64, Places>, key: u64) -> Answer<'_> {
    let places = table.get(&key).map_or(&[][..], Places::as_slice);
    Answer { key, places }
}

fn add(table: &mut FastMap<u64, Places>, key: u64, i: u32) {
    table.entry(key).and_modify(|places| places.add(i)).or_insert(Places::One(i));
}

/// Each different pair of a kind and a name that a resource has had; they need not have been
/// together.
fn each_name<'a>(resource: &Resource<'a>, mut take: impl FnMut(&'a str, &'a str)) {
    let previous = resource.previous();
    let (kinds, names) = (distinct(previous.iter().map(|p| p.kind)), distinct(previous.iter().map(|p| p.name)));
    for kind in &kinds {
        for name in &names {
            take(kind, name);
        }
    }
}

/// The different texts of a list. Neighbours are the same in most.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> SmallVec<[&'a str; 2]> {
    let mut all = SmallVec::new();
    for text in texts {
        if all.last() != Some(&text) {
            all.push(text);
        }
    }
    if all.len() > 2 {
        all.sort_unstable();
        all.dedup();
    }
    all
}
