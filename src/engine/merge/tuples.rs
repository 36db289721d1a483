//! [`Tuples`]: the texts of the keys of all items in a merge.

use super::elements::text_at;
use hashbrown::HashTable;
use rustomize_base::meter::RandomState;
use rustomize_yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hash, Hasher};

/// Texts of keys, each tuple once, in the order of the items. A key that an item does not have is
/// an empty text.
#[derive(Debug, Default)]
pub struct Tuples<'a> {
    width: usize,
    texts: Vec<&'a str>,
}

impl<'a> Tuples<'a> {
    /// The tuples of items. A null counts as no key; in a set it has a text like others.
    pub fn of<'n>(items: impl Iterator<Item = &'n Node<'a>>, keys: &[&str]) -> Self
    where
        'a: 'n,
    {
        let text = |item: &Node<'a>, key: &str| match key.is_empty() {
            true => text_at(item, key).unwrap_or_default(),
            false => item.get_text(key).unwrap_or_default(),
        };
        Tuples::new(keys.len(), items.map(|item| keys.iter().map(move |key| text(item, key))))
    }

    /// The tuples with these texts, as many for each as there are keys. O(tuples · keys).
    pub fn new(width: usize, tuples: impl Iterator<Item: Iterator<Item = &'a str>>) -> Self {
        let (state, mut seen) = (RandomState::default(), HashTable::new());
        let mut texts: Vec<&'a str> = Vec::new();
        for tuple in tuples {
            let from = texts.len();
            texts.extend(tuple);
            let same = |&at: &usize| texts[at..at + width] == texts[from..];
            let hash = |&at: &usize| state.hash_one(&texts[at..at + width]);
            match seen.entry(hash(&from), same, hash) {
                hashbrown::hash_table::Entry::Occupied(_) => texts.truncate(from),
                hashbrown::hash_table::Entry::Vacant(entry) => drop(entry.insert(from)),
            }
        }
        Tuples { width, texts }
    }

    /// The tuples, in order.
    pub fn iter(&self) -> std::slice::Chunks<'_, &'a str> {
        self.texts.chunks(self.width.max(1))
    }

    /// Drops the keys that are empty in all tuples, unless all are: the places of those that stay.
    pub fn keep_used(&mut self) -> Vec<usize> {
        let mut is_used = vec![false; self.width];
        for tuple in self.iter() {
            tuple.iter().zip(&mut is_used).for_each(|(text, used)| *used |= !text.is_empty());
        }
        if !is_used.contains(&true) {
            is_used.fill(true);
        }
        let mut places = is_used.iter().cycle();
        self.texts.retain(|_| places.next() == Some(&true));
        let used: Vec<usize> = (0..self.width).filter(|&i| is_used[i]).collect();
        self.width = used.len();
        used
    }

    /// Unites tuples that may mean the same item. If two tuples agree at some key, or both lack it,
    /// and differ only where one of them lacks a text, both become their union.
    ///
    /// Upstream compares each tuple with each: with the text that it has when its turn comes. Here
    /// the tuples are kept by the keys that they have, with an index of their texts. O(tuples · log
    /// tuples · sets of keys that occur).
    pub fn pair(&mut self) {
        let is_alone = self.texts.len() <= self.width;
        if is_alone || self.width > u64::BITS as usize || !self.texts.contains(&"") {
            return;
        }
        let mut classes = Classes::new(self);
        for i in 0..self.texts.len() / self.width {
            let mine: Vec<&'a str> = self.tuple(i).to_vec();
            let found = classes.partners(self, i, &mine);
            let Some(last) = found.last else { continue };
            let union = united(&mine, self.tuple(last));
            for j in found.lacking {
                let both = united(&mine, self.tuple(j));
                classes.change(self, j, &both);
            }
            classes.change(self, i, &union);
        }
    }

    fn tuple(&self, i: usize) -> &[&'a str] {
        &self.texts[i * self.width..(i + 1) * self.width]
    }
}

/// The keys that a tuple has: a bit for each.
fn mask(tuple: &[&str]) -> u64 {
    tuple.iter().enumerate().fold(0, |mask, (i, text)| mask | u64::from(!text.is_empty()) << i)
}

fn united<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<&'a str> {
    a.iter().zip(b).map(|(a, b)| if a.is_empty() { *b } else { *a }).collect()
}

/// Tuples by the keys that they have.
struct Classes {
    classes: BTreeMap<u64, Class>,
    state: RandomState,
}

/// The tuples with the same keys.
#[derive(Default)]
struct Class {
    members: BTreeSet<usize>,
    /// For each set of keys that was asked for: hashes of the texts there, with the tuples that
    /// have them.
    indexes: Vec<(u64, BTreeSet<(u64, usize)>)>,
}

/// The tuples that pair with one.
#[derive(Default)]
struct Partners {
    last: Option<usize>,
    /// The items that lack one of its texts.
    lacking: Vec<usize>,
}

impl Classes {
    fn new(tuples: &Tuples<'_>) -> Self {
        let mut classes: BTreeMap<u64, Class> = BTreeMap::new();
        for (i, tuple) in tuples.iter().enumerate() {
            classes.entry(mask(tuple)).or_default().members.insert(i);
        }
        Classes { classes, state: RandomState::default() }
    }

    fn hash(state: &RandomState, tuple: &[&str], keys: u64) -> u64 {
        let mut hasher = state.build_hasher();
        tuple.iter().enumerate().filter(|(i, _)| keys >> i & 1 == 1).for_each(|(_, text)| text.hash(&mut hasher));
        hasher.finish()
    }

    fn partners(&mut self, tuples: &Tuples<'_>, i: usize, mine: &[&str]) -> Partners {
        let (have, all) = (mask(mine), u64::MAX >> (u64::BITS as usize - mine.len()));
        let mut found = Partners::default();
        for (&theirs, class) in &mut self.classes {
            let common = have & theirs;
            if common == 0 && have | theirs == all {
                continue;
            }
            let hash = Self::hash(&self.state, mine, common);
            let agrees = |j: &usize| {
                let same = |(k, text): (usize, &&str)| common >> k & 1 == 0 || *text == mine[k];
                *j != i && tuples.tuple(*j).iter().enumerate().all(same)
            };
            let index = class.index(tuples, common, &self.state);
            let mut bucket = index.range((hash, 0)..=(hash, usize::MAX)).map(|(_, j)| *j).filter(agrees);
            if common == have {
                found.last = found.last.max(bucket.next_back());
            } else {
                found.lacking.extend(bucket);
                found.last = found.last.max(found.lacking.last().copied());
            }
        }
        found
    }

    /// Sets a tuple.
    fn change<'a>(&mut self, tuples: &mut Tuples<'a>, i: usize, to: &[&'a str]) {
        let from = mask(tuples.tuple(i));
        if let Some(class) = self.classes.get_mut(&from) {
            class.members.remove(&i);
            for (keys, index) in &mut class.indexes {
                index.remove(&(Self::hash(&self.state, tuples.tuple(i), *keys), i));
            }
        }
        tuples.texts[i * tuples.width..(i + 1) * tuples.width].copy_from_slice(to);
        let class = self.classes.entry(mask(to)).or_default();
        class.members.insert(i);
        for (keys, index) in &mut class.indexes {
            index.insert((Self::hash(&self.state, to, *keys), i));
        }
    }
}

impl Class {
    fn index(&mut self, tuples: &Tuples<'_>, keys: u64, state: &RandomState) -> &BTreeSet<(u64, usize)> {
        let at = self.indexes.iter().position(|(known, _)| *known == keys).unwrap_or_else(|| {
            let hashes = self.members.iter().map(|&i| (Classes::hash(state, tuples.tuple(i), keys), i));
            self.indexes.push((keys, hashes.collect()));
            self.indexes.len() - 1
        });
        &self.indexes[at].1
    }
}
