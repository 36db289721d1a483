//! Texts that build steps make, and the keys of mappings, each kept once.

use super::scalar::is_surely_plain;
use super::tree::mapping::{Key, fingerprint, same};
use super::tree::node::{Pos, Style, Tag};
use bumpalo::Bump;
use elsa::index_set::FrozenIndexSet;
use rustomize_base::{memory, meter};
use std::cell::Cell;

/// The length of the longest key that is kept once, in bytes. Longer keys rarely occur twice.
const MAX_SHARED_KEY: usize = 48;

/// The number of fingerprints with a cached key.
const RECENT: usize = 2_048;

/// The place of a key among all keys; the lowest bit is 1 if the key is surely printed plain.
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

/// Memory for texts, for one thread at a time.
pub struct Texts {
    bump: Bump,
    keys: FrozenIndexSet<Box<str>, meter::RandomState>,
    /// For each fingerprint, the index in `keys` of the last key with that fingerprint, and true if
    /// that key is surely printed plain. Most keys are found here.
    recent: [Cell<Known>; RECENT],
}

impl Default for Texts {
    fn default() -> Self {
        Texts { bump: Bump::new(), keys: FrozenIndexSet::default(), recent: [const { Cell::new(Known(0)) }; RECENT] }
    }
}

impl Texts {
    /// Copies a text.
    pub fn text(&self, text: &str) -> &str {
        meter::count_text(text);
        memory::made(text.len());
        self.bump.alloc_str(text)
    }

    /// Joins texts.
    pub fn concat(&self, parts: &[&str]) -> &str {
        let length = parts.iter().map(|p| p.len()).sum();
        memory::made(length);
        let mut joined = bumpalo::collections::String::with_capacity_in(length, &self.bump);
        for part in parts {
            meter::count_text(part);
            joined.push_str(part);
        }
        joined.into_bump_str()
    }

    /// A key of a mapping. The same keys occur many times, so each short text is kept once. All
    /// these texts are in one small region, which stays in the processor's cache while keys are
    /// compared and printed; the sources would not.
    #[inline(always)]
    pub fn key<'a>(&'a self, text: &'a str, style: Style, tag: Tag, pos: Pos) -> Key<'a> {
        let print = fingerprint(text);
        let (text, is_plain) = self.known(text, print);
        Key::known(text, style, tag, pos, print, is_plain)
    }

    /// The only copy of a text that occurs many times.
    pub fn shared<'a>(&'a self, text: &'a str) -> &'a str {
        self.known(text, fingerprint(text)).0
    }

    /// The only copy of a text with a fingerprint, and true if the text is surely printed plain.
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

    /// The number of bytes that the texts take.
    pub fn size(&self) -> usize {
        self.bump.allocated_bytes()
    }
}
