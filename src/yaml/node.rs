//! The tree: [`Node`], [`Scalar`], [`Mapping`].
//!
//! All text is borrowed from an [`Arena`](super::Arena) that outlives the build: a scalar that was
//! read verbatim is a slice of its source, a scalar that was made is a slice of the arena's own
//! memory. Text is therefore `Copy`, a scalar costs no allocation, and cloning a tree copies only
//! its lists.

use super::natural;
use super::scalar::{self, Kind};
use crate::meter::{self, Counted, List};
use std::cmp::Ordering;
use std::ops::{Deref, DerefMut};

/// Place of a node in the sources of a build: an offset into the concatenation of all texts an
/// [`Arena`](super::Arena) was given; [`Arena::place`](super::Arena::place) turns it into file,
/// line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Pos(pub u32);

impl Pos {
    /// The place of a node that no source text holds.
    pub const NONE: Pos = Pos(0);
}

/// How a scalar was written. It decides its type when no tag does: only a plain scalar can be
/// anything but a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

impl Style {
    /// The style of a text between two of these quotes.
    pub fn of_quote(quote: u8) -> Style {
        if quote == b'"' { Style::Double } else { Style::Single }
    }
}

/// The tag of a scalar. `Auto` is the usual case: the type follows from style and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Auto,
    Str,
    Int,
    Float,
    Bool,
    Null,
    Timestamp,
    Binary,
    /// A tag that kustomize does not know: the value is a string, but a key of that kind is none.
    Custom,
    /// Like `Auto`, of a scalar that a build step has set: whatever is put in its place later is
    /// typed anew.
    Untyped,
}

/// A scalar: its text with escapes and folding resolved, its style and its tag.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'a> {
    pub text: &'a str,
    pub style: Style,
    pub tag: Tag,
}

impl<'a> Scalar<'a> {
    /// A string, whatever its text looks like.
    pub fn string(text: &'a str) -> Self {
        Scalar { text, style: Style::Plain, tag: Tag::Str }
    }

    /// A plain scalar whose type follows from its text.
    pub fn plain(text: &'a str) -> Self {
        Scalar { text, style: Style::Plain, tag: Tag::Auto }
    }

    /// The explicit `null`.
    pub const NULL: Scalar<'static> = Scalar { text: "null", style: Style::Plain, tag: Tag::Null };

    /// The type the reference gives this scalar. O(length of the text), O(1) for most.
    pub fn kind(&self) -> Kind {
        match self.tag {
            Tag::Str | Tag::Custom => Kind::Str,
            Tag::Auto | Tag::Untyped if self.style == Style::Plain => scalar::resolve(self.text),
            Tag::Auto | Tag::Untyped => Kind::Str,
            tag => {
                let by_text = scalar::resolve(self.text);
                if Tag::from_kind(by_text) == tag && self.style != Style::Plain {
                    Kind::Str
                } else {
                    Kind::from_tag(tag)
                }
            }
        }
    }

    /// The type that this scalar was given and that its text is none of, as when a replacement has
    /// put a name where a number was. Upstream carries such values along until it reads them.
    /// O(length of the text), O(1) for most.
    pub fn mismatch(&self) -> Option<&'static str> {
        if matches!(self.tag, Tag::Auto | Tag::Untyped | Tag::Str | Tag::Custom) {
            return None;
        }
        match self.kind() {
            Kind::Str | Kind::Binary => None,
            Kind::Null => (scalar::resolve(self.text) != Kind::Null).then_some("null"),
            Kind::Bool => (scalar::resolve(self.text) != Kind::Bool).then_some("a boolean"),
            Kind::Int => scalar::int(self.text).is_none().then_some("an integer"),
            // A number that only an unsigned integer holds is not made a float.
            Kind::Float => (scalar::float(self.text).is_none()
                || matches!(scalar::int(self.text), Some(scalar::Int::Unsigned(_))))
            .then_some("a number"),
            Kind::Timestamp => scalar::timestamp(self.text).is_none().then_some("a date"),
        }
    }

    /// Whether this is a null, spelled or empty.
    pub fn is_null(&self) -> bool {
        match self.tag {
            // Upstream asks for the tag: what a build step has set has none.
            Tag::Str | Tag::Custom | Tag::Untyped => false,
            Tag::Auto => self.style == Style::Plain && scalar::is_null(self.text),
            _ => self.kind() == Kind::Null,
        }
    }

    /// Whether type and text are the same. O(1) for a copy.
    pub fn same(&self, other: &Scalar<'_>) -> bool {
        let is_copy = std::ptr::eq(self.text, other.text) && (self.style, self.tag) == (other.style, other.tag);
        is_copy || self.kind() == other.kind() && (self.text == other.text || self.kind() == Kind::Null)
    }

    /// The tag this scalar has once its style no longer speaks for it, as when a patch puts its
    /// value under the style of the value it replaces.
    pub fn resolved_tag(&self) -> Tag {
        match self.tag {
            Tag::Auto => Tag::from_kind(self.kind()),
            tag => tag,
        }
    }
}

impl Tag {
    /// The tag that stands for a type.
    pub fn from_kind(kind: Kind) -> Tag {
        match kind {
            Kind::Str => Tag::Str,
            Kind::Int => Tag::Int,
            Kind::Float => Tag::Float,
            Kind::Bool => Tag::Bool,
            Kind::Null => Tag::Null,
            Kind::Timestamp => Tag::Timestamp,
            Kind::Binary => Tag::Binary,
        }
    }
}

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub value: Value<'a>,
    pub pos: Pos,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    Scalar(Scalar<'a>),
    Sequence(Sequence<'a>),
    Mapping(Mapping<'a>),
}

impl<'a> From<Value<'a>> for Node<'a> {
    fn from(value: Value<'a>) -> Self {
        Node { value, pos: Pos::NONE }
    }
}

impl<'a> From<Scalar<'a>> for Node<'a> {
    fn from(scalar: Scalar<'a>) -> Self {
        Value::Scalar(scalar).into()
    }
}

impl<'a> From<Mapping<'a>> for Node<'a> {
    fn from(mapping: Mapping<'a>) -> Self {
        Value::Mapping(mapping).into()
    }
}

impl<'a> Node<'a> {
    /// A string node without a place.
    pub fn string(text: &'a str) -> Self {
        Scalar::string(text).into()
    }

    /// An explicit null without a place.
    pub fn null() -> Self {
        Scalar::NULL.into()
    }

    /// The scalar, if this is one.
    pub fn as_scalar(&self) -> Option<&Scalar<'a>> {
        meter::count(1);
        match &self.value {
            Value::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The scalar for editing, if this is one.
    pub fn as_scalar_mut(&mut self) -> Option<&mut Scalar<'a>> {
        meter::count(1);
        match &mut self.value {
            Value::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    pub fn as_mapping(&self) -> Option<&Mapping<'a>> {
        meter::count(1);
        match &self.value {
            Value::Mapping(m) => Some(m),
            _ => None,
        }
    }

    /// The mapping for editing, if this is one.
    pub fn as_mapping_mut(&mut self) -> Option<&mut Mapping<'a>> {
        meter::count(1);
        match &mut self.value {
            Value::Mapping(m) => Some(m),
            _ => None,
        }
    }

    /// The list, if this is one.
    pub fn as_sequence(&self) -> Option<&Sequence<'a>> {
        meter::count(1);
        match &self.value {
            Value::Sequence(s) => Some(s),
            _ => None,
        }
    }

    /// The list for editing, if this is one.
    pub fn as_sequence_mut(&mut self) -> Option<&mut Sequence<'a>> {
        meter::count(1);
        match &mut self.value {
            Value::Sequence(s) => Some(s),
            _ => None,
        }
    }

    /// The value of `key` if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.as_mapping()?.get(key)
    }

    /// The text of the scalar at `key`, unless it is missing, null or no scalar.
    pub fn get_text(&self, key: &str) -> Option<&'a str> {
        let s = self.get(key)?.as_scalar()?;
        if s.is_null() { None } else { Some(s.text) }
    }

    /// Whether this is a null, spelled or empty.
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// Whether this is a null, `{}` or `[]`.
    pub fn is_null_or_empty(&self) -> bool {
        meter::count(1);
        match &self.value {
            Value::Scalar(s) => s.is_null(),
            Value::Sequence(s) => s.is_empty(),
            Value::Mapping(m) => m.is_empty(),
        }
    }

    /// The word for this node's shape in messages.
    pub fn shape(&self) -> &'static str {
        match &self.value {
            Value::Scalar(s) => s.kind().word(),
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }

    /// How many nodes this tree has, itself included.
    pub fn size(&self) -> usize {
        match &self.value {
            Value::Scalar(_) => 1,
            Value::Sequence(items) => 1 + items.iter().map(Node::size).sum::<usize>(),
            Value::Mapping(m) => 1 + m.iter().map(|e| e.value.size()).sum::<usize>(),
        }
    }

    /// Whether both trees hold the same values: types and texts count, styles and places do not.
    pub fn same(&self, other: &Node<'_>) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar(a), Value::Scalar(b)) => a.same(b),
            (Value::Sequence(a), Value::Sequence(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| x.same(y))
            }
            (Value::Mapping(a), Value::Mapping(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b.iter()).all(|(x, y)| x.key.text == y.key.text && x.value.same(&y.value))
            }
            _ => false,
        }
    }
}

/// A mapping key. Keys are scalars; the reference refuses others when it prints.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub text: &'a str,
    pub pos: Pos,
    pub style: Style,
    pub tag: Tag,
    /// A byte of the [`fingerprint`] of the text: a look-up compares it before it touches the text.
    print: u8,
    /// See [`scalar::is_surely_plain`].
    is_plain: bool,
}

/// Two bytes that tell most different keys apart.
#[inline]
pub(super) fn fingerprint(text: &str) -> u16 {
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

/// Whether two short texts are the same, without the call that comparing slices is. Most keys have
/// at most 16 bytes: two overlapping words cover them.
#[inline]
pub(super) fn same(a: &str, b: &str) -> bool {
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
    /// A key as it was written.
    pub fn new(text: &'a str, style: Style, tag: Tag, pos: Pos) -> Self {
        Key::known(text, style, tag, pos, fingerprint(text), scalar::is_surely_plain(text))
    }

    /// A key with the fingerprint of its text, and whether the text is surely printed plain.
    #[inline]
    pub(super) fn known(text: &'a str, style: Style, tag: Tag, pos: Pos, print: u16, is_plain: bool) -> Self {
        Key { text, pos, style, tag, print: print as u8, is_plain }
    }

    /// Whether the text is a string that is printed plain, by its bytes alone; `false` means that a
    /// closer look is needed.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// A key that is a string, whatever its text looks like.
    pub fn string(text: &'a str) -> Self {
        Key::new(text, Style::Plain, Tag::Str, Pos::NONE)
    }

    /// The type of the key: see [`Scalar::kind`].
    pub fn kind(&self) -> Kind {
        Scalar { text: self.text, style: self.style, tag: self.tag }.kind()
    }

    /// Whether both keys have the same text. Shared texts are the same in memory.
    pub fn same_text(&self, other: &Key<'_>) -> bool {
        self.print == other.print
            && self.text.len() == other.text.len()
            && (std::ptr::eq(self.text, other.text) || same(self.text, other.text))
    }
}

impl<'a> Key<'a> {
    /// A key that a build step makes because of what stands at a place: untyped, as upstream's are,
    /// so that a text that reads as a number fails at output just as it does there.
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

/// A list: its items, and how it is written.
#[derive(Clone, Debug, Default)]
pub struct Sequence<'a> {
    items: List<Node<'a>>,
    in_brackets: bool,
}

impl<'a> Sequence<'a> {
    /// Whether the list is written in brackets. What lies inside is then written in them too.
    pub fn is_in_brackets(&self) -> bool {
        self.in_brackets
    }

    /// Sets whether the list is written in brackets, which upstream keeps until it prints the tree.
    pub fn set_brackets(&mut self, in_brackets: bool) {
        self.in_brackets = in_brackets;
    }

    /// The items by value.
    pub fn into_items(self) -> Vec<Node<'a>> {
        self.items.into()
    }
}

impl<'a> From<Vec<Node<'a>>> for Sequence<'a> {
    /// A list that is written in lines.
    fn from(items: Vec<Node<'a>>) -> Self {
        Sequence { items: items.into(), in_brackets: false }
    }
}

impl<'a> Deref for Sequence<'a> {
    type Target = List<Node<'a>>;

    fn deref(&self) -> &Self::Target {
        &self.items
    }
}

impl DerefMut for Sequence<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.items
    }
}

impl<'s, 'a> IntoIterator for &'s Sequence<'a> {
    type Item = &'s Node<'a>;
    type IntoIter = Counted<std::slice::Iter<'s, Node<'a>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for Sequence<'a> {
    type Item = Node<'a>;
    type IntoIter = std::vec::IntoIter<Node<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_items().into_iter()
    }
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub key: Key<'a>,
    pub value: Node<'a>,
}

/// A mapping. Invariant: its entries stand in output order ([`natural::compare`]), so that printing
/// is a plain walk and a look-up in a large mapping a binary search. Keys that were given twice
/// stay side by side, in source order, for the printer to refuse.
#[derive(Clone, Debug, Default)]
pub struct Mapping<'a> {
    entries: List<Entry<'a>>,
    in_braces: bool,
}

/// Up to this many entries a look-up compares text after text.
const LINEAR: usize = 12;

impl<'a> Mapping<'a> {
    /// An empty mapping.
    pub fn new() -> Self {
        Mapping::default()
    }

    /// Builds a mapping from entries in any order. O(n) if they come sorted, else O(n log n).
    pub fn from_entries(mut entries: Vec<Entry<'a>>) -> Self {
        natural::sort(&mut entries, |e| e.key.text);
        Mapping { entries: entries.into(), in_braces: false }
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

    /// Whether the mapping is written in braces. What lies inside is then written in them too.
    pub fn is_in_braces(&self) -> bool {
        self.in_braces
    }

    /// How many entries there are, repeated keys included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
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

    /// The entries, in output order, by value.
    pub fn into_entries(self) -> Vec<Entry<'a>> {
        self.entries.into()
    }

    /// The place of a key, or else the place in a mapping of more than [`LINEAR`] entries where it
    /// would be.
    fn find(&self, key: &str) -> Result<usize, usize> {
        if self.entries.len() <= LINEAR {
            let print = fingerprint(key) as u8;
            return self.entries.iter().position(|e| e.key.print == print && same(e.key.text, key)).ok_or(0);
        }
        let at = self.entries.partition_point(|e| natural::compare(e.key.text, key) == Ordering::Less);
        if self.entries.get(at).is_some_and(|e| e.key.text == key) { Ok(at) } else { Err(at) }
    }

    /// The value of `key`: the first one if the key was given twice.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.find(key).ok().map(|i| &self.entries[i].value)
    }

    /// The value of `key` for editing.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node<'a>> {
        self.find(key).ok().map(|i| &mut self.entries[i].value)
    }

    /// Whether the key is there.
    pub fn contains(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    /// Sets the value of a key; a new key goes to its place. Returns the value that was there.
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

    /// Adds an entry whose key [`Mapping::find`] has not found; gives its place.
    fn insert_new(&mut self, at: usize, key: Key<'a>, value: Node<'a>) -> usize {
        // Most mappings get one or two more entries: doubling would keep more room than is used.
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(1 + self.entries.len() / 4);
        }
        let at = if self.entries.len() <= LINEAR { self.place_behind(key.text) } else { at };
        self.entries.insert(at, Entry { key, value });
        at
    }

    /// The place behind all keys that are not greater.
    fn place_behind(&self, key: &str) -> usize {
        self.entries.partition_point(|e| natural::compare(e.key.text, key) != Ordering::Greater)
    }

    /// Puts entries, in output order, in the place of those that have the same keys; new ones go to
    /// their places.
    pub fn put_all(&mut self, entries: Vec<Entry<'a>>) {
        let mut new = Vec::new();
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

    /// Takes the entry of `key` out. O(n).
    pub fn remove(&mut self, key: &str) -> Option<Node<'a>> {
        let i = self.find(key).ok()?;
        Some(self.entries.remove(i).value)
    }

    /// Resolves keys that were given twice as YAML 1.1 readers and JSON do: the last one wins.
    /// O(n).
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
