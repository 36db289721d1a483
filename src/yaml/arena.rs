//! The memory of a build: source texts, and the texts that build steps make.

use super::encoding::Text;
use super::node::{Key, Pos, Style, Tag, fingerprint, same};
use super::scalar::is_surely_plain;
use bumpalo::Bump;
use elsa::{FrozenVec, index_set::FrozenIndexSet};
use std::cell::Cell;
use std::fmt;

/// Longer keys are rarely the same.
const MAX_SHARED_KEY: usize = 48;

/// How many fingerprints are told apart.
const RECENT: usize = 2_048;

/// The place of a key among all keys, and in the lowest bit whether it is surely printed plain.
#[derive(Clone, Copy)]
struct Known(u32);

impl Known {
    fn new(place: usize, is_plain: bool) -> Self {
        Known((place as u32) << 1 | u32::from(is_plain))
    }

    fn place(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_plain(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Owns every text of a build. Each source is loaded once and has its place in one address space of
/// [`Pos`], so that a node's place costs four bytes.
pub struct Arena {
    sources: FrozenVec<Box<Source>>,
    bump: Bump,
    keys: FrozenIndexSet<Box<str>, foldhash::fast::RandomState>,
    /// Where in `keys` the last key with a fingerprint is, and whether it is surely plain: most
    /// keys are found there.
    recent: [Cell<Known>; RECENT],
    /// How many shared values there are.
    shared: Cell<u32>,
}

/// A text that was added to an [`Arena`].
#[derive(Debug)]
pub struct Source {
    /// What messages call it: the path as the user wrote it, joined from the directory the build
    /// started in.
    pub name: String,
    /// The text, with line ends normalised to LF.
    pub text: String,
    /// The [`Pos`] of the first byte.
    pub base: u32,
    /// Whether this is the text of a file of that name; false for inline texts and the output of
    /// plugins.
    pub is_file: bool,
    /// Whether the file was UTF-16: see [`Text`].
    pub is_wide: bool,
}

/// A place in a file, for messages: line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Source {
    /// The place of the byte at `offset` in this source. O(offset).
    pub fn place(&self, offset: usize) -> Place {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        Place {
            file: self.name.clone(),
            line: 1 + before.iter().filter(|&&b| b == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[line_start..]).chars().count(),
        }
    }

    /// The position of the byte at `offset`.
    pub fn pos(&self, offset: usize) -> Pos {
        Pos(self.base.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX)))
    }
}

impl Default for Arena {
    fn default() -> Self {
        Arena {
            sources: FrozenVec::new(),
            bump: Bump::new(),
            keys: FrozenIndexSet::default(),
            recent: [const { Cell::new(Known(0)) }; RECENT],
            shared: Cell::new(0),
        }
    }
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Arena::default()
    }

    /// Takes the text of a file in. CRLF becomes LF. Texts beyond 2 GiB in all have no places,
    /// nothing else.
    pub fn add_file(&self, name: impl Into<String>, text: Text) -> &Source {
        self.add(name.into(), text, true)
    }

    /// Takes a text in that is no file of its own: an inline patch, the output of a plugin.
    pub fn add_source(&self, name: impl Into<String>, text: String) -> &Source {
        self.add(name.into(), text.into(), false)
    }

    fn add(&self, name: String, text: Text, is_file: bool) -> &Source {
        let Text { text, is_wide } = text;
        let text = if memchr::memchr(b'\r', text.as_bytes()).is_some() { text.replace("\r\n", "\n") } else { text };
        let base = match self.sources.len().checked_sub(1).and_then(|last| self.sources.get(last)) {
            Some(last) => last.base.saturating_add(u32::try_from(last.text.len() + 1).unwrap_or(u32::MAX)),
            None => 1,
        };
        self.sources.push_get(Box::new(Source { name, text, base, is_file, is_wide }))
    }

    /// The place a position stands for; `None` for nodes that no source holds. O(log sources + size
    /// of the source).
    pub fn place(&self, pos: Pos) -> Option<Place> {
        let source = self.source(pos)?;
        Some(source.place((pos.0 - source.base) as usize))
    }

    /// The source that holds a position. O(log sources).
    pub fn source(&self, pos: Pos) -> Option<&Source> {
        if pos == Pos::NONE || pos.is_shared() {
            return None;
        }
        let (mut low, mut high) = (0, self.sources.len());
        while low + 1 < high {
            let mid = (low + high) / 2;
            if self.sources[mid].base <= pos.0 { low = mid } else { high = mid }
        }
        self.sources.get(low)
    }

    /// A key of a mapping. Keys come again and again: each text that is not long is kept once.
    /// Looked up and printed from one small place, keys stay in the processor's cache, where their
    /// places in the sources would not.
    #[inline(always)]
    pub fn key<'a>(&'a self, text: &'a str, style: Style, tag: Tag, pos: Pos) -> Key<'a> {
        let print = fingerprint(text);
        let (text, is_plain) = self.known(text, print);
        Key::known(text, style, tag, pos, print, is_plain)
    }

    /// The one copy of a text that comes again and again.
    pub fn shared_text<'a>(&'a self, text: &'a str) -> &'a str {
        self.known(text, fingerprint(text)).0
    }

    /// The one copy of a text with a fingerprint, and whether it is surely printed plain.
    #[inline(always)]
    fn known<'a>(&'a self, text: &'a str, print: u16) -> (&'a str, bool) {
        let slot = &self.recent[usize::from(print) % RECENT];
        let known = slot.get();
        match self.keys.get_index(known.place()) {
            Some(text_there) if same(text_there, text) => (text_there, known.is_plain()),
            _ => self.find_known(text, slot),
        }
    }

    fn find_known<'a>(&'a self, text: &'a str, slot: &Cell<Known>) -> (&'a str, bool) {
        let is_plain = is_surely_plain(text);
        if text.len() > MAX_SHARED_KEY {
            return (text, is_plain);
        }
        let (at, shared) = match self.keys.get_full(text) {
            Some(known) => known,
            None => self.keys.insert_full(text.into()),
        };
        slot.set(Known::new(at, is_plain));
        (shared, is_plain)
    }

    /// A position for the nodes of one new shared value.
    pub fn shared_pos(&self) -> Pos {
        let n = self.shared.get();
        self.shared.set(n.saturating_add(1));
        Pos::shared(n)
    }

    /// Copies a text into the arena.
    pub fn text(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// Joins texts in the arena.
    pub fn concat(&self, parts: &[&str]) -> &str {
        let mut joined =
            bumpalo::collections::String::with_capacity_in(parts.iter().map(|p| p.len()).sum(), &self.bump);
        for part in parts {
            joined.push_str(part);
        }
        joined.into_bump_str()
    }

    /// Bytes that sources and made texts take.
    pub fn size(&self) -> usize {
        self.bump.allocated_bytes() + self.sources.iter().map(|s| s.text.len()).sum::<usize>()
    }
}
