//! Pairs the resources of two lists that are one. Each round looks at the resources that the rounds
//! before it have left, and asks less of them.

use super::features::{self, Features};
use super::names::{Affix, without_hash};
use crate::resource::Resource;
use rustomize_base::meter::{FastMap, counted};
use std::collections::VecDeque;
use std::hash::Hash;

/// How two resources were found to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Group, kind, namespace and name are the same.
    Identity,
    /// The names differ in the hash of the content alone.
    Hash,
    /// The group differs: the kind has moved to another API.
    Group,
    /// The namespace differs.
    Namespace,
    /// The name differs, and the content is nearly the same, or the names differ as most renamed
    /// resources' names do.
    Rename,
}

impl Match {
    /// The word for people and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Match::Identity => "identity",
            Match::Hash => "hash",
            Match::Group => "group",
            Match::Namespace => "namespace",
            Match::Rename => "rename",
        }
    }
}

/// Two resources that are one: their places in the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub before: usize,
    pub after: usize,
    pub matched: Match,
}

/// Where the resources of two lists are.
#[derive(Debug, Default)]
pub struct Pairs {
    pub both: Vec<Pair>,
    /// The places of resources that the second list does not have.
    pub removed: Vec<usize>,
    /// The places of resources that the first list does not have.
    pub added: Vec<usize>,
}

/// Two resources with at least this likeness may be one that was renamed.
const ALIKE: f64 = 0.6;

/// A feature that more resources than this have says little of any of them, and is not used to
/// look for a renamed resource.
const RARE: usize = 8;

/// Finds the pairs. O(nodes and texts).
pub fn find<'n>(before: &'n [Resource<'n>], after: &'n [Resource<'n>]) -> Pairs {
    let mut rounds = Rounds {
        before,
        after,
        found: Pairs { both: Vec::new(), removed: (0..before.len()).collect(), added: (0..after.len()).collect() },
    };
    rounds.by_key(Match::Identity, |r| (r.id().gvk.group, r.id().gvk.kind, r.id().namespace, r.id().name));
    rounds.by_key(Match::Hash, |r| (r.id().gvk.group, r.id().gvk.kind, r.id().namespace, without_hash(r)));
    rounds.by_key(Match::Group, |r| (r.id().gvk.kind, r.id().namespace, r.id().name));
    rounds.by_key(Match::Namespace, |r| (r.id().gvk.group, r.id().gvk.kind, without_hash(r)));
    rounds.by_likeness();
    rounds.by_affix();
    rounds.found
}

struct Rounds<'n> {
    before: &'n [Resource<'n>],
    after: &'n [Resource<'n>],
    found: Pairs,
}

impl<'n> Rounds<'n> {
    /// Pairs resources that have the same key, in their order.
    fn by_key<K: Hash + Eq>(&mut self, matched: Match, key: impl Fn(&'n Resource<'n>) -> K) {
        let (before, after) = (self.before, self.after);
        self.pair(matched, |i| Some(key(&before[i])), |j| Some(key(&after[j])));
    }

    fn pair<K: Hash + Eq>(
        &mut self,
        matched: Match,
        before: impl Fn(usize) -> Option<K>,
        after: impl Fn(usize) -> Option<K>,
    ) {
        if self.found.removed.is_empty() || self.found.added.is_empty() {
            return;
        }
        let mut open: FastMap<K, VecDeque<usize>> = FastMap::default();
        for &i in &self.found.removed {
            if let Some(key) = before(i) {
                open.entry(key).or_default().push_back(i);
            }
        }
        let mut next = |j: usize| open.get_mut(&after(j)?)?.pop_front();
        let pairs: Vec<Pair> =
            self.found.added.iter().filter_map(|&j| Some(Pair { before: next(j)?, after: j, matched })).collect();
        self.take(pairs);
    }

    /// Moves pairs from what is open to what is found.
    fn take(&mut self, pairs: Vec<Pair>) {
        let mut is_paired = (vec![false; self.before.len()], vec![false; self.after.len()]);
        for pair in &pairs {
            (is_paired.0[pair.before], is_paired.1[pair.after]) = (true, true);
        }
        self.found.removed.retain(|&i| !is_paired.0[i]);
        self.found.added.retain(|&j| !is_paired.1[j]);
        self.found.both.extend(pairs);
    }

    /// Pairs resources of one kind whose content is the same, then those whose content is alike.
    fn by_likeness(&mut self) {
        if self.found.removed.is_empty() || self.found.added.is_empty() {
            return;
        }
        let features = |resources: &[Resource<'n>], open: &[usize]| {
            let mut all: Vec<Option<Features>> = Vec::new();
            all.resize_with(resources.len(), || None);
            open.iter().for_each(|&i| all[i] = Some(features::of(&resources[i])));
            all
        };
        let old = features(self.before, &self.found.removed);
        let new = features(self.after, &self.found.added);
        let (before, after) = (self.before, self.after);
        let content = |resources: &'n [Resource<'n>], all: &[Option<Features>], i: usize| {
            let gvk = resources[i].id().gvk;
            Some((gvk.group, gvk.kind, all[i].as_ref()?.content?))
        };
        self.pair(Match::Rename, |i| content(before, &old, i), |j| content(after, &new, j));
        let pairs = self.alike(&old, &new);
        self.take(pairs);
    }

    /// Pairs resources whose names differ in the affix that most of those differ in that were found
    /// to be renamed: another `namePrefix` renames all.
    fn by_affix(&mut self) {
        let (before, after) = (self.before, self.after);
        let renamed = self.found.both.iter().filter(|pair| pair.matched == Match::Rename);
        let names = renamed.map(|pair| (without_hash(&before[pair.before]), without_hash(&after[pair.after])));
        let Some(affix) = Affix::most_common(names) else { return };
        let key = |resource: &'n Resource<'n>, name: Option<&'n str>| {
            Some((resource.id().gvk.group, resource.id().gvk.kind, name?))
        };
        self.pair(
            Match::Rename,
            |i| key(&before[i], affix.off_old(without_hash(&before[i]))),
            |j| key(&after[j], affix.off_new(without_hash(&after[j]))),
        );
    }

    /// The open resources that are most alike. A resource is compared with the ones that share most
    /// of its rare features, and with no others.
    fn alike(&self, old: &[Option<Features>], new: &[Option<Features>]) -> Vec<Pair> {
        let of = |resource: &'n Resource<'n>| (resource.id().gvk.group, resource.id().gvk.kind);
        let mut holders: FastMap<(&str, &str, u64), Vec<usize>> = FastMap::default();
        for &i in &self.found.removed {
            let (group, kind) = of(&self.before[i]);
            for &feature in old[i].iter().flat_map(|features| &features.all) {
                let holders = holders.entry((group, kind, feature)).or_default();
                if holders.len() <= RARE && holders.last() != Some(&i) {
                    holders.push(i);
                }
            }
        }
        let mut candidates: Vec<(f64, usize, usize)> = Vec::new();
        for &j in &self.found.added {
            let (Some(features), (group, kind)) = (&new[j], of(&self.after[j])) else { continue };
            let mut shared: FastMap<usize, usize> = FastMap::default();
            for &feature in &features.all {
                let holders = holders.get(&(group, kind, feature)).filter(|holders| holders.len() <= RARE);
                for &i in counted(holders.into_iter().flatten()) {
                    *shared.entry(i).or_default() += 1;
                }
            }
            let mut most: Vec<(usize, usize)> = shared.into_iter().map(|(i, count)| (count, i)).collect();
            most.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            for (_, i) in most.into_iter().take(RARE) {
                let likeness = old[i].as_ref().map_or(0.0, |old| features::likeness(&old.all, &features.all));
                if likeness >= ALIKE {
                    candidates.push((likeness, i, j));
                }
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut is_paired = (vec![false; self.before.len()], vec![false; self.after.len()]);
        let mut pairs = Vec::new();
        for (_, before, after) in candidates {
            if !is_paired.0[before] && !is_paired.1[after] {
                (is_paired.0[before], is_paired.1[after]) = (true, true);
                pairs.push(Pair { before, after, matched: Match::Rename });
            }
        }
        pairs
    }
}
