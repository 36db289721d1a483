//! [`Elements`]: a list whose items are found by the texts of their keys.

use crate::diag::{Code, Error, Result};
use rustomize_yaml::{Node, Value};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, Hasher};

/// The text that an item has at a key: empty if the value is not a scalar, `None` if there is no
/// value. The empty key stands for the item itself.
pub(super) fn text_at<'a>(item: &Node<'a>, key: &str) -> Option<&'a str> {
    let value = if key.is_empty() { item } else { item.get(key)? };
    Some(value.scalar_text())
}

/// Returns true if an item counts as nothing: a null, or an empty mapping.
pub(super) fn is_blank(item: &Node<'_>) -> bool {
    item.is_null() || item.as_mapping().is_some_and(|m| m.is_empty())
}

/// A question about one of the keys of an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test<'a> {
    /// Nothing.
    Any,
    /// True if the key exists.
    Has,
    /// True if the key has this text.
    Is(&'a str),
}

impl Test<'_> {
    fn passes(self, item: &Node<'_>, key: &str) -> bool {
        match self {
            Test::Any => true,
            Test::Has => text_at(item, key).is_some(),
            Test::Is(text) => text_at(item, key) == Some(text),
        }
    }

    fn ask(self) -> Ask {
        match self {
            Test::Any => Ask::Nothing,
            Test::Has => Ask::Presence,
            Test::Is(_) => Ask::Text,
        }
    }
}

/// A [`Test`] without its text: the items of a list are indexed once for each combination that is
/// asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    Nothing,
    Presence,
    Text,
}

/// A list of items that live in a pool, known by their numbers there.
///
/// Upstream scans the list for each item that it looks up, sets or removes. Here an index leads to
/// the items that may pass; they are asked again, because items are edited and replaced.
pub(super) struct Elements<'k> {
    keys: Vec<&'k str>,
    /// The item of each slot, in the order of the list; `None` if it was removed, or if the slot is
    /// part of another one.
    items: Vec<Option<u32>>,
    /// The slot that a slot is part of, itself if none: slots whose items were replaced by one and
    /// the same item are one.
    parents: Vec<u32>,
    /// Slots whose items may be nulls or empty mappings.
    blank: Vec<u32>,
    /// Slots whose items may be of a kind without such keys.
    odd: Vec<u32>,
    asked: Vec<Vec<Ask>>,
    /// Hashes of a combination of questions and of the texts that answer them, with slots.
    index: BTreeSet<(u64, u32)>,
    hasher: rustomize_base::meter::RandomState,
}

impl<'k> Elements<'k> {
    /// A list without items.
    pub(super) fn new(keys: &[&'k str]) -> Self {
        Elements {
            keys: keys.to_vec(),
            items: Vec::new(),
            parents: Vec::new(),
            blank: Vec::new(),
            odd: Vec::new(),
            asked: Vec::new(),
            index: BTreeSet::new(),
            hasher: Default::default(),
        }
    }

    /// The items, in order. An item may occur more than once.
    pub(super) fn items(&mut self) -> Vec<u32> {
        let slots = 0..self.parents.len() as u32;
        slots.filter_map(|slot| Some(self.root(slot) as usize).and_then(|root| self.items[root])).collect()
    }

    /// Appends an item, whatever it is.
    pub(super) fn push(&mut self, pool: &[Node<'_>], item: u32) {
        let slot = self.parents.len() as u32;
        self.parents.push(slot);
        self.items.push(None);
        self.fill(pool, slot, item);
    }

    /// The slot and number of the first item that passes.
    pub(super) fn first(&mut self, pool: &[Node<'_>], tests: &[Test<'_>]) -> Option<(u32, u32)> {
        let hash = self.ask(pool, tests);
        loop {
            let entry = self.index.range((hash, 0)..=(hash, u32::MAX)).copied().find(|&(_, slot)| {
                let item = self.items[slot as usize];
                item.is_none_or(|item| self.passes(&pool[item as usize], tests))
            })?;
            match self.items[entry.1 as usize] {
                Some(item) => return Some((entry.1, item)),
                None => self.index.remove(&entry),
            };
        }
    }

    /// Sets the item with these texts: it takes the place of *each* item that has them, or is
    /// appended if no item has them; without an item the items with the texts are removed. An empty
    /// text stands for any text, a missing one for a missing key. Blank items are removed on the
    /// way, and without texts all.
    ///
    /// # Errors
    /// The list has an item that is not a mapping, or not a scalar where the list is a set.
    pub(super) fn set(&mut self, pool: &[Node<'_>], texts: &[&str], item: Option<u32>) -> Result<()> {
        self.remove_blank(pool);
        let is_set = self.keys[0].is_empty();
        match texts.first() {
            None => self.clear(),
            Some(first) if (is_set || first.is_empty()) && self.has_odd(pool) => {
                let expected = if is_set { "a scalar" } else { "a mapping" };
                return Err(Error::new(
                    Code::WrongType,
                    format!("wrong node kind: expected {expected} in a list that is merged"),
                ));
            }
            Some(_) => {}
        }
        let tests: Vec<Test<'_>> = (0..self.keys.len())
            .map(|i| match texts.get(i) {
                Some(text) if text.is_empty() && !is_set => Test::Has,
                Some(text) => Test::Is(text),
                None => Test::Any,
            })
            .collect();
        let found = self.take(pool, &tests);
        match (item, found.first()) {
            (None, _) => {}
            (Some(item), Some(&slot)) => {
                found.iter().for_each(|&other| self.parents[other as usize] = slot);
                self.fill(pool, slot, item);
            }
            (Some(item), None) if !pool[item as usize].is_null() => self.push(pool, item),
            (Some(_), None) => {}
        }
        Ok(())
    }

    /// Notes that the item of a slot was edited.
    pub(super) fn note(&mut self, pool: &[Node<'_>], slot: u32) {
        let Some(item) = self.items[slot as usize] else { return };
        let node = &pool[item as usize];
        if is_blank(node) {
            self.blank.push(slot);
        }
        for i in 0..self.asked.len() {
            self.enter(node, i, slot);
        }
    }

    fn fill(&mut self, pool: &[Node<'_>], slot: u32, item: u32) {
        self.items[slot as usize] = Some(item);
        if self.is_odd(&pool[item as usize]) {
            self.odd.push(slot);
        }
        self.note(pool, slot);
    }

    fn has_odd(&mut self, pool: &[Node<'_>]) -> bool {
        while let Some(&slot) = self.odd.last() {
            if self.items[slot as usize].is_some_and(|item| self.is_odd(&pool[item as usize])) {
                return true;
            }
            self.odd.pop();
        }
        false
    }

    /// Returns true if an item lacks such keys.
    fn is_odd(&self, item: &Node<'_>) -> bool {
        let has_keys = match item.value() {
            Value::Scalar(_) => self.keys[0].is_empty(),
            Value::Mapping(_) => !self.keys[0].is_empty(),
            Value::Sequence(_) => false,
        };
        !has_keys && !is_blank(item)
    }

    fn remove_blank(&mut self, pool: &[Node<'_>]) {
        for slot in std::mem::take(&mut self.blank) {
            self.items[slot as usize].take_if(|item| is_blank(&pool[*item as usize]));
        }
    }

    fn clear(&mut self) {
        self.items.clear();
        self.parents.clear();
        self.blank.clear();
        self.index.clear();
        self.odd.clear();
    }

    /// Takes the items that pass out of the list: their slots, in order.
    fn take(&mut self, pool: &[Node<'_>], tests: &[Test<'_>]) -> Vec<u32> {
        let hash = self.ask(pool, tests);
        let entries: Vec<(u64, u32)> = self.index.range((hash, 0)..=(hash, u32::MAX)).copied().collect();
        let mut found = Vec::new();
        for entry in entries {
            let slot = entry.1;
            let passes = self.items[slot as usize].map(|item| self.passes(&pool[item as usize], tests));
            if passes == Some(true) {
                self.items[slot as usize] = None;
                found.push(slot);
            }
            if passes != Some(false) {
                self.index.remove(&entry);
            }
        }
        found
    }

    fn passes(&self, item: &Node<'_>, tests: &[Test<'_>]) -> bool {
        self.keys.iter().zip(tests).all(|(key, test)| test.passes(item, key))
    }

    /// The hash of the questions, after the items are indexed by them.
    fn ask(&mut self, pool: &[Node<'_>], tests: &[Test<'_>]) -> u64 {
        let asked = |known: &Vec<Ask>| known.iter().zip(tests).all(|(ask, test)| *ask == test.ask());
        let i = self.asked.iter().position(asked).unwrap_or_else(|| {
            self.asked.push(tests.iter().map(|test| test.ask()).collect());
            let i = self.asked.len() - 1;
            for slot in 0..self.items.len() {
                if let Some(item) = self.items[slot] {
                    self.enter(&pool[item as usize], i, slot as u32);
                }
            }
            i
        });
        let mut hasher = self.hasher.build_hasher();
        i.hash(&mut hasher);
        for test in tests {
            if let Test::Is(text) = test {
                text.hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Enters an item into the index for one combination, if it can pass.
    fn enter(&mut self, item: &Node<'_>, asked: usize, slot: u32) {
        let mut hasher = self.hasher.build_hasher();
        asked.hash(&mut hasher);
        for (key, ask) in self.keys.iter().zip(&self.asked[asked]) {
            match (ask, text_at(item, key)) {
                (Ask::Nothing, _) => {}
                (_, None) => return,
                (Ask::Presence, Some(_)) => {}
                (Ask::Text, Some(text)) => text.hash(&mut hasher),
            }
        }
        self.index.insert((hasher.finish(), slot));
    }

    fn root(&mut self, slot: u32) -> u32 {
        let mut at = slot;
        while self.parents[at as usize] != at {
            let next = self.parents[at as usize];
            self.parents[at as usize] = self.parents[next as usize];
            at = next;
        }
        at
    }
}
