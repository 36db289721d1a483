//! Lists: [`Sequence`].

use super::chunks::{self, Chunked, IterMut};
use super::node::{Node, Pos, Value};
use rustomize_base::memory;
use rustomize_base::meter::{self, Counted, ThinList};
use std::ops::{Index, IndexMut};

/// The items of a list.
pub type Items<'a> = ThinList<Node<'a>>;

/// A list: its items, and the form in which it is written.
///
/// A large list is divided into chunks when an item is inserted into it or removed from it far from
/// its end: each further change then moves the items of one chunk only.
#[derive(Debug, Default)]
pub struct Sequence<'a> {
    /// The items, or the chunks: then each is a list that is not divided, with at least one item.
    items: Items<'a>,
    pub(super) pos: Pos,
    in_brackets: bool,
    has_chunks: bool,
}

impl Clone for Sequence<'_> {
    /// Copies the items, and counts the memory of the copies.
    fn clone(&self) -> Self {
        memory::made(self.items.len() * size_of::<Node<'_>>());
        let (pos, in_brackets, has_chunks) = (self.pos, self.in_brackets, self.has_chunks);
        Sequence { items: self.items.clone(), pos, in_brackets, has_chunks }
    }
}

/// The number of items in a new chunk. A chunk is divided when it has twice as many.
const CHUNK: usize = 512;

/// The number of chunks whose lengths are added up in one step.
const LENGTHS_IN_A_STEP: usize = 8;

impl<'a> Sequence<'a> {
    /// Returns true if the list is written in brackets. The values in it are then written in
    /// brackets as well.
    pub fn is_in_brackets(&self) -> bool {
        self.in_brackets
    }

    /// Sets whether the list is written in brackets, which upstream keeps until it prints the tree.
    pub fn set_brackets(&mut self, in_brackets: bool) {
        self.in_brackets = in_brackets;
    }

    /// The number of items. O(1), in a list with chunks O(chunks).
    pub fn len(&self) -> usize {
        match self.has_chunks {
            true => self.chunk_lens().sum(),
            false => self.items.len(),
        }
    }

    /// Returns true if the list is empty. O(1).
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items in order.
    #[inline]
    pub fn iter(&self) -> Counted<Iter<'_, 'a>> {
        meter::counted(Iter::new(self.items.as_slice(), self.has_chunks))
    }

    /// The items in order, for editing.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Node<'a>> {
        meter::counted(IterMut::new(self.items.as_mut_slice(), self.has_chunks))
    }

    /// Visits each item, for editing in place: see [`Mapping::for_each_value`].
    ///
    /// [`Mapping::for_each_value`]: super::mapping::Mapping::for_each_value
    pub fn for_each_value(&mut self, visit: impl FnMut(&mut Node<'a>)) {
        if self.has_chunks {
            return self.iter_mut().for_each(visit);
        }
        meter::counted(self.items.as_mut_slice().iter_mut()).for_each(visit);
    }

    /// The items as one list. O(1), in a list with chunks O(n).
    pub fn items_mut(&mut self) -> &mut Items<'a> {
        self.join();
        &mut self.items
    }

    /// Takes all items out. O(1), in a list with chunks O(n).
    pub fn take_items(&mut self) -> Items<'a> {
        std::mem::take(self.items_mut())
    }

    /// Returns the items. O(1), in a list with chunks O(n).
    pub fn into_items(mut self) -> Items<'a> {
        self.take_items()
    }

    /// The item at a place. O(1), in a list with chunks O(chunks).
    pub fn get(&self, i: usize) -> Option<&Node<'a>> {
        match self.has_chunks {
            true => {
                let (at, i) = self.find(i)?;
                chunk(&self.items[at]).get(i)
            }
            false => self.items.get(i),
        }
    }

    /// As [`Sequence::get`], for editing.
    pub fn get_mut(&mut self, i: usize) -> Option<&mut Node<'a>> {
        match self.has_chunks {
            true => {
                let (at, i) = self.find(i)?;
                chunk_mut(&mut self.items[at]).get_mut(i)
            }
            false => self.items.get_mut(i),
        }
    }

    /// The first item. O(1).
    pub fn first(&self) -> Option<&Node<'a>> {
        self.iter().next()
    }

    /// The last item. O(1).
    pub fn last(&self) -> Option<&Node<'a>> {
        let last = self.items.last()?;
        if self.has_chunks { chunk(last).last() } else { Some(last) }
    }

    /// The last item, for editing. O(1).
    pub fn last_mut(&mut self) -> Option<&mut Node<'a>> {
        let last = self.items.last_mut()?;
        if self.has_chunks { chunk_mut(last).last_mut() } else { Some(last) }
    }

    /// Appends an item. O(1).
    pub fn push(&mut self, item: Node<'a>) {
        match self.has_chunks {
            true => self.insert(self.len(), item),
            false => self.items.push(item),
        }
    }

    /// Inserts an item at a place, which is at most the number of items. O(chunks).
    pub fn insert(&mut self, i: usize, item: Node<'a>) {
        if !self.has_chunks {
            if !self.is_far_from_end(i) {
                return self.items.insert(i, item);
            }
            self.divide();
        }
        // The place behind the last item is in the last chunk.
        let (mut at, mut i) = match self.find(i) {
            Some(found) => found,
            None => (self.items.len() - 1, self.items.last().map_or(0, |last| chunk(last).len())),
        };
        let items = chunk_mut(&mut self.items[at]);
        if items.len() >= 2 * CHUNK {
            let mut half = Items::with_capacity(2 * CHUNK);
            half.extend(items.split_off(CHUNK));
            self.items.insert(at + 1, chunk_of(half));
            if i > CHUNK {
                (at, i) = (at + 1, i - CHUNK);
            }
        }
        chunk_mut(&mut self.items[at]).insert(i, item);
    }

    /// Removes the item at a place, which must exist. O(chunks).
    pub fn remove(&mut self, i: usize) -> Node<'a> {
        if !self.has_chunks {
            if !self.is_far_from_end(i) {
                return self.items.remove(i);
            }
            self.divide();
        }
        let Some((at, i)) = self.find(i) else { return self.items.remove(usize::MAX) };
        let items = chunk_mut(&mut self.items[at]);
        let removed = items.remove(i);
        if items.is_empty() {
            self.items.remove(at);
            self.has_chunks = !self.items.is_empty();
        }
        removed
    }

    /// Keeps the items for which `keep` holds. O(n).
    pub fn retain(&mut self, keep: impl FnMut(&Node<'a>) -> bool) {
        self.items_mut().retain(keep);
    }

    /// Returns true if a change at this place moves so many items that chunks are worth making. The
    /// list has no chunks yet.
    fn is_far_from_end(&self, at: usize) -> bool {
        self.items.len() > 2 * CHUNK + at
    }

    /// The chunk with an item, and the place of the item in it; `None` behind the last item.
    fn find(&self, i: usize) -> Option<(usize, usize)> {
        let mut rest = i;
        for (at, len) in self.chunk_lens().enumerate() {
            if rest < len {
                return Some((at, rest));
            }
            rest -= len;
        }
        None
    }

    /// The numbers of items of the chunks.
    fn chunk_lens(&self) -> impl Iterator<Item = usize> {
        meter::count(1 + self.items.len() / LENGTHS_IN_A_STEP);
        self.items.as_slice().iter().map(|item| chunk(item).len())
    }

    /// Divides the items into chunks. O(n).
    fn divide(&mut self) {
        let mut chunks = Items::with_capacity(self.items.len() / CHUNK + 1);
        let mut items = self.take_items().into_iter();
        while items.len() > 0 {
            let mut chunk = Items::with_capacity(2 * CHUNK);
            chunk.extend(items.by_ref().take(CHUNK));
            chunks.push(chunk_of(chunk));
        }
        (self.items, self.has_chunks) = (chunks, true);
    }

    /// Makes one list of the chunks. O(1) if there are none, else O(n).
    fn join(&mut self) {
        if std::mem::take(&mut self.has_chunks) {
            let mut joined = Items::with_capacity(self.items.iter().map(|item| chunk(item).len()).sum());
            for item in std::mem::take(&mut self.items) {
                if let Value::Sequence(mut chunk) = item.into_value() {
                    joined.append(&mut chunk.items);
                }
            }
            self.items = joined;
        }
    }
}

/// A chunk of some items.
fn chunk_of(items: Items<'_>) -> Node<'_> {
    Value::Sequence(items.into()).into()
}

/// The items of a chunk.
fn chunk<'n, 'a>(item: &'n Node<'a>) -> &'n Items<'a> {
    match &item.value {
        Value::Sequence(chunk) => &chunk.items,
        _ => unreachable!("a chunk is a list"),
    }
}

/// As [`chunk`], for editing.
fn chunk_mut<'n, 'a>(item: &'n mut Node<'a>) -> &'n mut Items<'a> {
    match &mut item.value {
        Value::Sequence(chunk) => &mut chunk.items,
        _ => unreachable!("a chunk is a list"),
    }
}

/// The items of a list, in order.
pub type Iter<'s, 'a> = chunks::Iter<'s, Node<'a>>;

impl Chunked for Node<'_> {
    fn items(&self) -> &[Self] {
        chunk(self).as_slice()
    }

    fn items_mut(&mut self) -> &mut [Self] {
        chunk_mut(self).as_mut_slice()
    }
}

impl<'a> Index<usize> for Sequence<'a> {
    type Output = Node<'a>;

    #[expect(clippy::expect_used, reason = "as with a slice")]
    fn index(&self, i: usize) -> &Node<'a> {
        self.get(i).expect("the list has the item")
    }
}

impl IndexMut<usize> for Sequence<'_> {
    #[expect(clippy::expect_used, reason = "as with a slice")]
    fn index_mut(&mut self, i: usize) -> &mut Self::Output {
        self.get_mut(i).expect("the list has the item")
    }
}

impl<'a> From<Items<'a>> for Sequence<'a> {
    /// A list that is written as a block.
    fn from(items: Items<'a>) -> Self {
        Sequence { items, ..Sequence::default() }
    }
}

impl<'a> FromIterator<Node<'a>> for Sequence<'a> {
    fn from_iter<I: IntoIterator<Item = Node<'a>>>(items: I) -> Self {
        Items::from_iter(items).into()
    }
}

impl<'a> Extend<Node<'a>> for Sequence<'a> {
    fn extend<I: IntoIterator<Item = Node<'a>>>(&mut self, items: I) {
        self.items_mut().extend(items);
    }
}

impl<'s, 'a> IntoIterator for &'s Sequence<'a> {
    type Item = &'s Node<'a>;
    type IntoIter = Counted<Iter<'s, 'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for Sequence<'a> {
    type Item = Node<'a>;
    type IntoIter = <Items<'a> as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.into_items().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Sequence};
    use crate::{Heap, Node};

    /// Random edits of a large list, beside those of a vector.
    #[test]
    fn chunks_are_not_seen() {
        let heap = Heap::new();
        let arena = heap.arena();
        let mut random = fastrand::Rng::with_seed(5);
        let mut plain: Vec<&str> = (0..6 * CHUNK).map(|i| arena.text(&format!("i{i}"))).collect();
        let mut large: Sequence<'_> = plain.iter().map(|text| Node::string(text)).collect();
        for round in 0..20 * CHUNK {
            // Long runs of removals empty whole chunks.
            let removes =
                if (round / (5 * CHUNK)).is_multiple_of(2) { random.u8(..8) == 0 } else { random.u8(..8) > 0 };
            if removes {
                let i = if random.bool() { 0 } else { random.usize(..plain.len()) };
                assert_eq!(large.remove(i).scalar_text(), plain.remove(i));
            } else {
                let i = if random.bool() { 0 } else { random.usize(..=plain.len()) };
                let text = arena.text(&format!("n{round}"));
                large.insert(i, Node::string(text));
                plain.insert(i, text);
                assert_eq!(large[i].scalar_text(), text);
            }
            assert_eq!(large.last().map(Node::scalar_text), plain.last().copied());
        }
        assert!(large.has_chunks, "the test is about chunks");
        large.push(Node::string("last"));
        plain.push("last");
        assert_eq!((texts(&large), large.len(), large.iter().len()), (plain.clone(), plain.len(), plain.len()));
        assert_eq!(large.iter_mut().map(|item| item.scalar_text()).collect::<Vec<_>>(), plain);
        assert!(large.get(plain.len()).is_none() && large.get_mut(plain.len()).is_none());
        let mut copy = large.clone();
        copy.retain(|_| true);
        assert!(!copy.has_chunks);
        assert_eq!(texts(&copy), plain);
        for text in plain {
            assert_eq!(large.remove(0).scalar_text(), text);
        }
        assert!(large.is_empty() && large.iter().next().is_none() && large.last().is_none());
    }

    fn texts<'a>(list: &Sequence<'a>) -> Vec<&'a str> {
        list.iter().map(Node::scalar_text).collect()
    }
}
