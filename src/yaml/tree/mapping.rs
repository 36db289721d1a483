//! Mappings: [`Mapping`], [`Entry`], [`Key`].

use super::node::{Node, Pos, Scalar, Style, Tag};
use super::shared::Shared;
use crate::meter::{self, Counted, ThinList};
use crate::yaml::natural;
use crate::yaml::scalar::{self, Kind};
use std::cmp::Ordering;

/// A mapping key. Keys are scalars; upstream refuses other keys when it prints.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub(in crate::yaml) text: &'a str,
    pub(in crate::yaml) pos: Pos,
    pub(in crate::yaml) style: Style,
    pub(in crate::yaml) tag: Tag,
    /// A byte of the [`fingerprint`] of the text: a look-up compares it before it touches the text.
    print: u8,
    /// See [`scalar::is_surely_plain`].
    is_plain: bool,
}

/// Two bytes that tell most different keys apart.
#[inline]
pub(in crate::yaml) fn fingerprint(text: &str) -> u16 {
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
pub(in crate::yaml) fn same(a: &str, b: &str) -> bool {
    meter::count(1);
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let n = a.len();
    n == b.len()
        && match n {
            0 => true,
            1..4 => a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1],
            4..8 => a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk(),
            8..=16 => a.first_chunk::<8>() == b.first_chunk() && a.last_chunk::<8>() == b.last_chunk(),
            _ => a == b,
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
    pub(in crate::yaml) fn known(text: &'a str, style: Style, tag: Tag, pos: Pos, print: u16, is_plain: bool) -> Self {
        Key { text, pos, style, tag, print: print as u8, is_plain }
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
    pub fn same_text(&self, other: &Key<'_>) -> bool {
        self.print == other.print && self.has_text_of(other)
    }

    /// As [`Key::same_text`], however the keys are written.
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
    pub(in crate::yaml) key: Key<'a>,
    pub(in crate::yaml) value: Node<'a>,
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
#[derive(Clone, Debug, Default)]
pub struct Mapping<'a> {
    entries: Entries<'a>,
    /// See [`Value`](super::node::Value), as for the next field.
    pub(super) pos: Pos,
    pub(super) shared: Option<Shared>,
    in_braces: bool,
}

/// Up to this number of entries a look-up compares one text after the other.
const LINEAR: usize = 24;

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

    /// The number of entries, repeated keys included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the mapping is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in output order.
    pub fn iter(&self) -> Counted<std::slice::Iter<'_, Entry<'a>>> {
        self.entries.iter()
    }

    /// The values, with their keys, for editing in place.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Key<'a>, &mut Node<'a>)> {
        self.entries.iter_mut().map(|e| (&e.key, &mut e.value))
    }

    /// Takes all entries out, in output order.
    pub fn take_entries(&mut self) -> Entries<'a> {
        std::mem::take(&mut self.entries)
    }

    /// Puts entries, in any order, in place of all entries. O(n) if they come sorted, else
    /// O(n log n).
    pub fn set_entries(&mut self, mut entries: Entries<'a>) {
        natural::sort(&mut entries, |e| e.key.text);
        self.entries = entries;
    }

    /// Returns the entries, in output order.
    pub fn into_entries(self) -> Entries<'a> {
        self.entries
    }

    /// The place of a key. If the key is missing, the error is the place where it would be, for a
    /// mapping of more than [`LINEAR`] entries. The compiler knows the fingerprint of a key that is
    /// written in the code.
    #[inline(always)]
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.find_printed(key, fingerprint(key) as u8)
    }

    /// As [`Mapping::find`], with a byte of the fingerprint of the key.
    fn find_printed(&self, key: &str, print: u8) -> Result<usize, usize> {
        if self.entries.len() <= LINEAR {
            return self.entries.iter().position(|e| e.key.print == print && same(e.key.text, key)).ok_or(0);
        }
        let at = self.entries.partition_point(|e| natural::compare(e.key.text, key) == Ordering::Less);
        if self.entries.get(at).is_some_and(|e| e.key.text == key) { Ok(at) } else { Err(at) }
    }

    /// The value of `key`: the first one if the key was given twice.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.find(key).ok().map(|i| &self.entries[i].value)
    }

    /// The value of `key` for editing.
    #[inline]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node<'a>> {
        self.find(key).ok().map(|i| &mut self.entries[i].value)
    }

    /// Returns true if the mapping has the key.
    #[inline]
    pub fn contains(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// Sets the value of a key; a new key is inserted at its place. Returns the old value.
    pub fn insert(&mut self, key: impl Into<Key<'a>>, value: Node<'a>) -> Option<Node<'a>> {
        let key = key.into();
        match self.find(key.text) {
            Ok(i) => Some(std::mem::replace(&mut self.entries[i].value, value)),
            Err(at) => {
                self.insert_new(at, key, value);
                None
            }
        }
    }

    /// Adds an entry for a key that [`Mapping::find`] has not found. Returns its place.
    fn insert_new(&mut self, at: usize, key: Key<'a>, value: Node<'a>) -> usize {
        // Most mappings get one or two more entries: doubling would use more memory than is needed.
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(1 + self.entries.len() / 4);
        }
        let at = if self.entries.len() <= LINEAR { self.place_behind(key.text) } else { at };
        self.entries.insert(at, Entry { key, value });
        at
    }

    /// The place after all keys that are not greater.
    fn place_behind(&self, key: &str) -> usize {
        self.entries.partition_point(|e| natural::compare(e.key.text, key) != Ordering::Greater)
    }

    /// Replaces the entries that have the same keys as `entries`, which are in output order.
    /// Entries with new keys are inserted at their places.
    pub fn put_all(&mut self, entries: Entries<'a>) {
        let mut new = Entries::new();
        for entry in entries {
            match self.find(entry.key.text) {
                Ok(i) => self.entries[i] = entry,
                Err(_) => new.push(entry),
            }
        }
        if new.len() <= LINEAR {
            for entry in new {
                self.insert_new(self.place_behind(entry.key.text), entry.key, entry.value);
            }
        } else {
            self.entries.append(&mut new);
            natural::sort(&mut self.entries, |e| e.key.text);
        }
    }

    /// The value of `key`, made by `value` if it is missing.
    pub fn get_or_insert_with(&mut self, key: &'a str, value: impl FnOnce() -> Node<'a>) -> &mut Node<'a> {
        let at = match self.find(key) {
            Ok(i) => i,
            Err(at) => self.insert_new(at, key.into(), value()),
        };
        &mut self.entries[at].value
    }

    /// Removes the entry of `key`. Returns its value. O(n).
    pub fn remove(&mut self, key: &str) -> Option<Node<'a>> {
        let i = self.find(key).ok()?;
        Some(self.entries.remove(i).value)
    }

    /// Resolves repeated keys as YAML 1.1 readers and JSON do: the last one wins. O(n).
    pub fn keep_last_of_each(&mut self) {
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
        self.entries.retain(|e| keep(&e.key, &e.value));
    }
}
