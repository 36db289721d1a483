//! The memory of a build: source texts, and the texts that build steps make.

use super::encoding::Text;
use super::node::Pos;
use super::texts::Texts;
use crate::parallel;
use elsa::FrozenVec;
use std::cell::Cell;
use std::fmt;
use std::num::NonZero;

/// Owns every text of a build. Each source is loaded once and has its place in one address space of
/// [`Pos`], so that a node's place costs four bytes.
#[derive(Default)]
pub struct Arena {
    sources: FrozenVec<Box<Source>>,
    texts: Texts,
    /// Those that were made on other threads.
    lent: typed_arena::Arena<Texts>,
    /// How many shared values there are.
    shared: Cell<u32>,
    /// How many threads may work on its texts; `None` for one on each core.
    jobs: Option<NonZero<usize>>,
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

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Arena::default()
    }

    /// An empty arena on whose texts so many threads may work; `None` for one on each core.
    pub fn with_jobs(jobs: Option<NonZero<usize>>) -> Self {
        Arena { jobs, ..Arena::default() }
    }

    /// How many threads are worth having for work on a text of `size` bytes.
    pub fn threads(&self, size: usize) -> usize {
        parallel::threads(size, self.jobs)
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

    /// A position for the nodes of one new shared value.
    pub fn shared_pos(&self) -> Pos {
        let n = self.shared.get();
        self.shared.set(n.saturating_add(1));
        Pos::shared(n)
    }

    /// Memory for the texts of this thread.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Memory for the texts of another thread.
    pub fn lend_texts(&self) -> &mut Texts {
        self.lent.alloc(Texts::default())
    }

    /// As [`Texts::text`].
    pub fn text(&self, text: &str) -> &str {
        self.texts.text(text)
    }

    /// As [`Texts::concat`].
    pub fn concat(&self, parts: &[&str]) -> &str {
        self.texts.concat(parts)
    }

    /// As [`Texts::shared`].
    pub fn shared_text<'a>(&'a self, text: &'a str) -> &'a str {
        self.texts.shared(text)
    }

    /// Bytes that sources and the texts of this thread take.
    pub fn size(&self) -> usize {
        self.texts.size() + self.sources.iter().map(|s| s.text.len()).sum::<usize>()
    }
}
