//! Mappings: [`Mapping`], [`Entry`], [`Key`].

use super::chunks::{self, Chunked, IterMut};
use super::node::{Node, Pos, Scalar, Style, Tag, Value};
use super::shared::Shared;
use crate::natural;
use crate::scalar::{self, Kind};
use rustomize_base::memory;
use rustomize_base::meter::{self, Counted, ThinList};
use std::cmp::Ordering;
use std::convert::Infallible;

/// A mapping key. Keys are scalars; upstream refuses other keys when it prints.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub(crate) text: &'a str,
    pub(crate) pos: Pos,
    pub(crate) style: Style,
    pub(crate) tag: Tag,
    /// A byte of the [`fingerprint`] of the text, which a look-up compares before it touches the
    /// text; [`OF_CHUNK`] in the key of a chunk.
    print: u8,
    /// See [`scalar::is_surely_plain`].
    is_plain: bool,
}

/// The byte of a chunk's key in place of a fingerprint. It is even, so that no look-up finds it.
const OF_CHUNK: u8 = 0;

/// The byte of a key's fingerprint that look-ups compare. It is odd.
#[inline]
fn look_up_byte(print: u16) -> u8 {
    print as u8 | 1
}

/// Two bytes that tell most different keys apart.
#[inline]
pub(crate) fn fingerprint(text: &str) -> u16 {
    let bytes = text.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return 0 };
    let middle = bytes[bytes.len() / 2];
    let mixed = u16::from(first)
        .wrapping_mul(31)
        .wrapping_add(u16::from(middle))
        .wrapping_mul(31)
        .wrapping_add(u16::from(last));
    mixed.wrapping_mul(31).wrapping_add(bytes.len() as u16)
}

/// Returns true if two short texts are equal, without the call that a comparison of slices needs.
/// Most keys have at most 16 bytes: two overlapping words cover them.
#[inline]
pub(crate) fn same(a: &str, b: &str) -> bool {
    meter::count(1);
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let n = a.len();
    n == b.len()
        && match n {
            0 => true,
            1..4 => a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1],
            4..8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
            8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
            // Word by word: with a call, each look-up would save the registers that it uses.
            _ => {
                let ((words, _), (others, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
                a.last_chunk::<8>() == b.last_chunk()
                    && words.iter().zip(others).all(|(a, b)| u64::from_ne_bytes(*a) == u64::from_ne_bytes(*b))
            }
        }
}

impl<'a> Key<'a> {
    /// The text, with escapes and folding resolved.
    #[inline]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The style in which it is written.
    #[inline]
    pub fn style(&self) -> Style {
        self.style
    }

    /// The tag.
    #[inline]
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// The place in the sources.
    #[inline]
    pub fn pos(&self) -> Pos {
        self.pos
    }

    /// The key as a value.
    pub fn as_scalar(&self) -> Scalar<'a> {
        Scalar::new(self.text, self.style, self.tag)
    }

    /// A key as it was written.
    pub fn new(text: &'a str, style: Style, tag: Tag, pos: Pos) -> Self {
        Key::known(text, style, tag, pos, fingerprint(text), scalar::is_surely_plain(text))
    }

    /// A key with the fingerprint of its text; `is_plain` is true if the text is surely printed
    /// plain.
    #[inline]
    pub(crate) fn known(text: &'a str, style: Style, tag: Tag, pos: Pos, print: u16, is_plain: bool) -> Self {
        Key { text, pos, style, tag, print: look_up_byte(print), is_plain }
    }

    /// Returns true if the bytes of the text show that it is a string that is printed plain;
    /// `false` means that a closer look is needed.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// The same key without a tag.
    #[must_use]
    pub fn untagged(self) -> Self {
        Key { tag: Tag::Auto, ..self }
    }

    /// A key that is a string, whatever its text looks like.
    pub fn string(text: &'a str) -> Self {
        Key::new(text, Style::Plain, Tag::Str, Pos::NONE)
    }

    /// The type of the key: see [`Scalar::kind`].
    pub fn kind(&self) -> Kind {
        self.as_scalar().kind()
    }

    /// Returns true if both keys have the same text. Shared texts are the same in memory.
    #[inline]
    pub fn same_text(&self, other: &Key<'_>) -> bool {
        self.print == other.print && self.has_text_of(other)
    }

    /// As [`Key::same_text`], however the keys are written.
    #[inline]
    pub(super) fn has_text_of(&self, other: &Key<'_>) -> bool {
        self.text.len() == other.text.len() && (std::ptr::eq(self.text, other.text) || same(self.text, other.text))
    }
}

impl<'a> Key<'a> {
    /// A key that a build step makes, with the place of the entry that asks for it. As upstream, it
    /// is untyped, so that a text that reads as a number fails at output.
    pub fn made(text: &'a str, entry: Pos) -> Self {
        Key::new(text, Style::Plain, Tag::Auto, entry)
    }
}

impl<'a> From<&'a str> for Key<'a> {
    /// A key that a build step makes without a place.
    fn from(text: &'a str) -> Self {
        Key::made(text, Pos::NONE)
    }
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub(crate) key: Key<'a>,
    pub(crate) value: Node<'a>,
}

impl<'a> Entry<'a> {
    /// A key with its value.
    #[inline]
    pub fn new(key: impl Into<Key<'a>>, value: Node<'a>) -> Self {
        Entry { key: key.into(), value }
    }

    /// The key.
    #[inline]
    pub fn key(&self) -> &Key<'a> {
        &self.key
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> &Node<'a> {
        &self.value
    }

    /// The value, for editing.
    #[inline]
    pub fn value_mut(&mut self) -> &mut Node<'a> {
        &mut self.value
    }

    /// Key and value.
    #[inline]
    pub fn into_parts(self) -> (Key<'a>, Node<'a>) {
        (self.key, self.value)
    }
}

/// The entries of a mapping.
pub type Entries<'a> = ThinList<Entry<'a>>;

/// A mapping. Invariant: its entries are in output order ([`natural::compare`]), so that printing
/// is a plain walk, and a look-up in a large mapping is a binary search. Repeated keys are kept
/// side by side, in source order, and refused by the printer.
///
/// A large mapping is divided into chunks when an entry is inserted into it or removed from it far
/// from its end: each further change then moves the entries of one chunk only.
#[derive(Debug, Default)]
pub struct Mapping<'a> {
    /// The entries, or the chunks: then each value is a mapping that is not divided, with at least
    /// one entry, and each key is not greater than the keys in that mapping and greater than all
    /// keys before it. The key of the first chunk counts as less than all others.
    entries: Entries<'a>,
    /// See [`Value`](super::node::Value), as for the next field.
    pub(super) pos: Pos,
    pub(super) shared: Option<Shared>,
    in_braces: bool,
    has_chunks: bool,
}

impl Clone for Mapping<'_> {
    /// Copies the entries, and counts the memory of the copies.
    fn clone(&self) -> Self {
        memory::made(self.entries.len() * size_of::<Entry<'_>>());
        let (pos, shared, in_braces, has_chunks) = (self.pos, self.shared, self.in_braces, self.has_chunks);
        Mapping { entries: self.entries.clone(), pos, shared, in_braces, has_chunks }
    }
}

/// A look-up in a mapping of at most this many entries compares them one by one.
const LINEAR: usize = 24;

/// The number of entries in a new chunk. A chunk is divided when it has twice as many.
const CHUNK: usize = 512;

impl<'a> Mapping<'a> {
    /// An empty mapping.
    pub fn new() -> Self {
        Mapping::default()
    }

    /// Builds a mapping from entries in any order. O(n) if they come sorted, else O(n log n).
    pub fn from_entries(entries: Entries<'a>) -> Self {
        let mut mapping = Mapping::new();
        mapping.set_entries(entries);
        mapping
    }

    /// Sets whether the mapping is written in braces, which upstream keeps until it prints the
    /// tree.
    #[must_use]
    pub fn with_braces(self, in_braces: bool) -> Self {
        Mapping { in_braces, ..self }
    }

    /// See [`Mapping::with_braces`].
    pub fn set_braces(&mut self, in_braces: bool) {
        self.in_braces = in_braces;
    }

    /// Returns true if the mapping is written in braces. The values in it are then written in
    /// braces as well.
    pub fn is_in_braces(&self) -> bool {
        self.in_braces
    }

    /// The number of entries, repeated keys included. O(1), in a mapping with chunks O(chunks).
    #[inline]
    pub fn len(&self) -> usize {
        match self.has_chunks {
            true => self.entries.iter().map(|chunk| chunk.chunk().len()).sum(),
            false => self.entries.len(),
        }
    }

    /// Returns true if the mapping is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in output order.
    #[inline]
    pub fn iter(&self) -> Counted<Iter<'_, 'a>> {
        meter::counted(Iter::new(self.entries.as_slice(), self.has_chunks))
    }

    /// The values, with their keys, for editing in place.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Key<'a>, &mut Node<'a>)> {
        let entries = IterMut::new(self.entries.as_mut_slice(), self.has_chunks);
        meter::counted(entries).map(|e| (&e.key, &mut e.value))
    }

    /// Visits each value, for editing in place. In walks over whole trees, which visit many small
    /// mappings, it costs less than [`Mapping::iter_mut`]: chunks are asked for once.
    pub fn for_each_value(&mut self, mut visit: impl FnMut(&mut Node<'a>)) {
        let Ok(()) = self.try_for_each(|_, value| {
            visit(value);
            Ok::<(), Infallible>(())
        });
    }

    /// Visits each entry, for editing the value in place, up to the first fault. As
    /// [`Mapping::for_each_value`], it costs less than [`Mapping::iter_mut`].
    ///
    /// # Errors
    ///
    /// The fault that `visit` returns.
    pub fn try_for_each<E>(
        &mut self,
        mut visit: impl FnMut(&Key<'a>, &mut Node<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.has_chunks {
            return self.iter_mut().try_for_each(|(key, value)| visit(key, value));
        }
        let entries = meter::counted(self.entries.as_mut_slice().iter_mut());
        for entry in entries {
            visit(&entry.key, &mut entry.value)?;
        }
        Ok(())
    }

    /// Takes all entries out, in output order. O(1), in a mapping with chunks O(n).
    pub fn take_entries(&mut self) -> Entries<'a> {
        self.join();
        std::mem::take(&mut self.entries)
    }

    /// Puts entries, in any order, in place of all entries. O(n) if they come sorted, else
    /// O(n log n).
    pub fn set_entries(&mut self, mut entries: Entries<'a>) {
        natural::sort(&mut entries, |e| e.key.text);
        (self.entries, self.has_chunks) = (entries, false);
    }

    /// Returns the entries, in output order. O(1), in a mapping with chunks O(n).
    pub fn into_entries(mut self) -> Entries<'a> {
        self.take_entries()
    }

    /// The place of a key in a mapping without chunks; `None` in a mapping with chunks. The
    /// compiler computes the fingerprint of a key that is a literal in the code.
    #[inline(always)]
    fn find(&self, key: &str) -> Option<usize> {
        self.find_printed(key, look_up_byte(fingerprint(key)))
    }

    /// As [`Mapping::find`], with a byte of the key's fingerprint. The key of a chunk never has
    /// that byte, so a mapping with chunks needs no check of its own.
    fn find_printed(&self, key: &str, print: u8) -> Option<usize> {
        if self.entries.len() > LINEAR {
            return self.find_in_many(key, print);
        }
        let mut entries = self.entries.as_slice().iter();
        let at = entries.position(|e| e.key.print == print && same(e.key.text, key));
        // In a mapping with chunks, the search for the right chunk is counted instead.
        if !self.has_chunks {
            meter::count(at.map_or(self.entries.len(), |at| at + 1));
        }
        at
    }

    /// As [`Mapping::find_printed`], by a binary search. O(log n).
    #[inline(never)]
    fn find_in_many(&self, key: &str, print: u8) -> Option<usize> {
        let at = self.entries.partition_point(|e| natural::compare(e.key.text, key) == Ordering::Less);
        self.entries.get(at).is_some_and(|e| e.key.print == print && e.key.text == key).then_some(at)
    }

    /// The value of `key`: the first one if the key was given twice.
    #[inline(always)]
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        match self.find(key) {
            Some(at) => Some(&self.entries[at].value),
            None if self.has_chunks => self.get_in_chunks(key),
            None => None,
        }
    }

    /// The value of `key` for editing.
    #[inline(always)]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node<'a>> {
        match self.find(key) {
            Some(at) => Some(&mut self.entries[at].value),
            None if self.has_chunks => self.get_mut_in_chunks(key),
            None => None,
        }
    }

    /// Returns true if the mapping has the key.
    #[inline]
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of a key; a new key is inserted at its place. Returns the old value.
    /// O(log n).
    pub fn insert(&mut self, key: impl Into<Key<'a>>, value: Node<'a>) -> Option<Node<'a>> {
        let key = key.into();
        match self.get_mut(key.text) {
            Some(old) => Some(std::mem::replace(old, value)),
            None => {
                self.insert_new(key, value);
                None
            }
        }
    }

    /// Adds an entry for a key that the mapping does not have. Returns its value.
    fn insert_new(&mut self, key: Key<'a>, value: Node<'a>) -> &mut Node<'a> {
        memory::made(size_of::<Entry<'_>>());
        if !self.has_chunks {
            let at = self.place_behind(key.text);
            if self.is_far_from_end(at) {
                self.divide();
            } else {
                // Most mappings get one or two more entries: doubling would use more memory than is
                // needed.
                if self.entries.len() == self.entries.capacity() {
                    self.entries.reserve_exact(1 + self.entries.len() / 4);
                }
                self.entries.insert(at, Entry { key, value });
                return &mut self.entries[at].value;
            }
        }
        let mut at = self.chunk_of(key.text);
        if self.entries[at].chunk().len() >= 2 * CHUNK {
            let right = self.entries[at].chunk_mut().split_off_half();
            if let Some(right) = right {
                self.entries.insert(at + 1, Entry::of_chunk(right));
                at = self.chunk_of(key.text);
            }
        }
        let chunk = &mut self.entries[at].chunk_mut().entries;
        let place = chunk.partition_point(|e| natural::compare(e.key.text, key.text) != Ordering::Greater);
        chunk.insert(place, Entry { key, value });
        &mut chunk[place].value
    }

    /// The place after all keys that are not greater than `key`, in a mapping without chunks.
    fn place_behind(&self, key: &str) -> usize {
        self.entries.partition_point(|e| natural::compare(e.key.text, key) != Ordering::Greater)
    }

    /// Replaces the entries that have the same keys as `entries`, which are in output order.
    /// Entries with new keys are inserted at their places.
    pub fn put_all(&mut self, entries: Entries<'a>) {
        self.join();
        let mut new = Entries::new();
        for entry in entries {
            match self.find(entry.key.text) {
                Some(i) => self.entries[i] = entry,
                None => new.push(entry),
            }
        }
        self.add_all(new);
    }

    /// Adds entries with keys that the mapping does not have. O(n), for a few entries, or in a
    /// mapping with chunks, O(log n) for each.
    pub fn add_all(&mut self, mut new: Entries<'a>) {
        if new.len() <= LINEAR || self.has_chunks {
            for entry in new {
                self.insert_new(entry.key, entry.value);
            }
        } else {
            self.entries.append(&mut new);
            natural::sort(&mut self.entries, |e| e.key.text);
        }
    }

    /// The value of `key`, made by `value` if it is missing.
    pub fn get_or_insert_with(&mut self, key: &'a str, value: impl FnOnce() -> Node<'a>) -> &mut Node<'a> {
        if self.has_chunks {
            let at = self.chunk_of(key);
            if self.entries[at].chunk().contains(key) {
                return self.entries[at].chunk_mut().get_or_insert_with(key, value);
            }
        } else if let Some(at) = self.find(key) {
            return &mut self.entries[at].value;
        }
        self.insert_new(key.into(), value())
    }

    /// Removes the entry of `key`. Returns its value. O(log n).
    pub fn remove(&mut self, key: &str) -> Option<Node<'a>> {
        if !self.has_chunks {
            let i = self.find(key)?;
            if !self.is_far_from_end(i) {
                return Some(self.entries.remove(i).value);
            }
            self.divide();
        }
        let at = self.chunk_of(key);
        let chunk = self.entries[at].chunk_mut();
        let i = chunk.find(key)?;
        let removed = chunk.entries.remove(i).value;
        if chunk.entries.is_empty() {
            self.entries.remove(at);
            self.has_chunks = !self.entries.is_empty();
        }
        Some(removed)
    }

    /// Resolves repeated keys as YAML 1.1 readers and JSON do: the last one wins. O(n).
    pub fn keep_last_of_each(&mut self) {
        self.join();
        if !self.entries.windows(2).any(|w| w[0].key.same_text(&w[1].key)) {
            return;
        }
        let mut next: Vec<bool> = self.entries.windows(2).map(|w| w[0].key.text != w[1].key.text).collect();
        next.push(true);
        let mut keep = next.into_iter();
        self.entries.retain(|_| keep.next().unwrap_or(true));
    }

    /// Keeps the entries for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&Key<'a>, &Node<'a>) -> bool) {
        self.join();
        self.entries.retain(|e| keep(&e.key, &e.value));
    }
}

/// Chunks.
impl<'a> Mapping<'a> {
    /// Returns true if a change at this place moves so many entries that chunks are worth making.
    /// The mapping has no chunks yet.
    fn is_far_from_end(&self, at: usize) -> bool {
        self.entries.len() > 2 * CHUNK + at
    }

    /// The index of the chunk that has a key, or in which a new key belongs.
    fn chunk_of(&self, key: &str) -> usize {
        let after = self.entries.partition_point(|e| natural::compare(e.key.text, key) != Ordering::Greater);
        after.saturating_sub(1)
    }

    /// As [`Mapping::get`], in a mapping with chunks.
    #[cold]
    fn get_in_chunks(&self, key: &str) -> Option<&Node<'a>> {
        self.entries[self.chunk_of(key)].chunk().get(key)
    }

    /// As [`Mapping::get_mut`], in a mapping with chunks.
    #[cold]
    fn get_mut_in_chunks(&mut self, key: &str) -> Option<&mut Node<'a>> {
        let at = self.chunk_of(key);
        self.entries[at].chunk_mut().get_mut(key)
    }

    /// Divides the entries into chunks. O(n).
    fn divide(&mut self) {
        let mut chunks = Entries::with_capacity(self.entries.len() / CHUNK + 1);
        let mut chunk = Entries::with_capacity(2 * CHUNK);
        for entry in self.take_entries() {
            // Repeated keys stay together.
            let is_new = chunk.last().is_none_or(|last: &Entry<'_>| !last.key.same_text(&entry.key));
            if chunk.len() >= CHUNK && is_new {
                chunks.push(Entry::of_chunk(std::mem::replace(&mut chunk, Entries::with_capacity(2 * CHUNK))));
            }
            chunk.push(entry);
        }
        chunks.push(Entry::of_chunk(chunk));
        (self.entries, self.has_chunks) = (chunks, true);
    }

    /// Makes one list of the chunks. O(1) if there are none, else O(n).
    fn join(&mut self) {
        if std::mem::take(&mut self.has_chunks) {
            let mut joined = Entries::with_capacity(self.entries.iter().map(|chunk| chunk.chunk().len()).sum());
            for chunk in std::mem::take(&mut self.entries) {
                if let Value::Mapping(mut chunk) = chunk.value.into_value() {
                    joined.append(&mut chunk.entries);
                }
            }
            self.entries = joined;
        }
    }

    /// Removes the second half of a chunk, and returns it. `None` if all keys of the chunk are the
    /// same.
    fn split_off_half(&mut self) -> Option<Entries<'a>> {
        let entries = &self.entries;
        let is_first = |&i: &usize| !entries[i - 1].key.same_text(&entries[i].key);
        let middle = (entries.len() / 2..entries.len()).find(is_first)?;
        let mut half = Entries::with_capacity(2 * CHUNK);
        half.extend(self.entries.split_off(middle));
        Some(half)
    }
}

impl<'a> Entry<'a> {
    /// A chunk of at least one entry.
    fn of_chunk(entries: Entries<'a>) -> Self {
        let key = Key { print: OF_CHUNK, ..entries[0].key };
        Entry { key, value: Mapping { entries, ..Mapping::default() }.into() }
    }

    /// The chunk in an entry of a mapping with chunks.
    fn chunk(&self) -> &Mapping<'a> {
        match &self.value.value {
            Value::Mapping(chunk) => chunk,
            _ => unreachable!("a chunk is a mapping"),
        }
    }

    /// As [`Entry::chunk`], for editing.
    fn chunk_mut(&mut self) -> &mut Mapping<'a> {
        match &mut self.value.value {
            Value::Mapping(chunk) => chunk,
            _ => unreachable!("a chunk is a mapping"),
        }
    }
}

/// The entries of a mapping, in order.
pub type Iter<'m, 'a> = chunks::Iter<'m, Entry<'a>>;

impl Chunked for Entry<'_> {
    fn items(&self) -> &[Self] {
        self.chunk().entries.as_slice()
    }

    fn items_mut(&mut self) -> &mut [Self] {
        self.chunk_mut().entries.as_mut_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Entry, IterMut, Mapping, Pos, Scalar, chunks};
    use crate::{Heap, Node};
    use std::collections::BTreeMap;

    /// Random edits of a large mapping, beside those of a map of the standard library.
    #[test]
    fn chunks_are_not_seen() {
        let heap = Heap::new();
        let arena = heap.arena();
        let mut random = fastrand::Rng::with_seed(5);
        let keys: Vec<&str> = (0..6 * CHUNK).map(|i| arena.text(&format!("k{i}"))).collect();
        let mut large = Mapping::from_entries(keys.iter().map(|key| Entry::new(*key, Node::string("old"))).collect());
        let mut plain: BTreeMap<usize, (&str, &str)> = keys.iter().map(|key| (*key, "old")).enumerate().collect();
        for round in 0..20 * CHUNK {
            let i = random.usize(..keys.len());
            // Long runs of removals empty whole chunks.
            let removes =
                if (round / (4 * CHUNK)).is_multiple_of(2) { random.u8(..8) > 0 } else { random.u8(..8) == 0 };
            let (is_found, was_there) = if removes {
                (large.remove(keys[i]).is_some(), plain.remove(&i).is_some())
            } else if random.bool() {
                let old = large.insert(keys[i], Node::string("new"));
                (old.is_some(), plain.insert(i, (keys[i], "new")).is_some())
            } else {
                let is_found = large.contains(keys[i]);
                large.get_or_insert_with(keys[i], Node::null).put(Scalar::string("new"), Pos::NONE);
                (is_found, plain.insert(i, (keys[i], "new")).is_some())
            };
            assert_eq!(is_found, was_there);
            assert_eq!(large.contains(keys[i]), !removes);
        }
        assert!(large.has_chunks, "the test is about chunks");
        let want: Vec<_> = plain.into_values().collect();
        assert_eq!((texts(&large), large.len(), large.iter().len()), (want.clone(), want.len(), want.len()));
        let edited: Vec<_> = large.iter_mut().map(|(key, value)| (key.text(), value.scalar_text())).collect();
        assert_eq!(edited, want);
        // A release build folds where others ask for one entry after the other.
        assert_eq!(chunks::Iter::new(large.entries.as_slice(), true).fold(Vec::new(), list), want);
        let folded = IterMut::new(large.entries.as_mut_slice(), true).fold(Vec::new(), |all, entry| list(all, entry));
        assert_eq!(folded, want);
        let mut visited = Vec::new();
        large.for_each_value(|value| visited.push(value.scalar_text()));
        assert!(visited.iter().eq(want.iter().map(|(_, value)| value)));
        let mut copy = large.clone();
        copy.retain(|_, _| true);
        assert!(!copy.has_chunks);
        assert_eq!(texts(&copy), want);
        for (key, _) in want {
            large.remove(key);
        }
        assert!(large.is_empty() && large.iter().next().is_none() && !large.contains("k1"));
        assert!(large.insert("k1", Node::null()).is_none() && large.len() == 1);
    }

    fn list<'a>(mut all: Vec<(&'a str, &'a str)>, entry: &Entry<'a>) -> Vec<(&'a str, &'a str)> {
        all.push((entry.key.text, entry.value.scalar_text()));
        all
    }

    fn texts<'a>(mapping: &Mapping<'a>) -> Vec<(&'a str, &'a str)> {
        mapping.iter().map(|entry| (entry.key().text(), entry.value().scalar_text())).collect()
    }
}
