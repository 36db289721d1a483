//! The memory of a build: source texts, and the texts that build steps make.

use super::encoding::Text;
use super::texts::Texts;
use super::tree::node::Pos;
use rustomize_base::compat::Compat;
use rustomize_base::memory::{Budget, Spent};
use rustomize_base::{meter, parallel};
use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memory that the arenas of a program share: source texts, and the texts that build steps
/// make. Each source is loaded once and has its place in one address space of [`Pos`], so that a
/// node's place costs four bytes.
#[derive(Default)]
pub struct Heap {
    /// In the order of their places, without gaps: a source is added under the lock of `end`, which
    /// [`Heap::source`] relies on.
    sources: boxcar::Vec<Source>,
    /// The [`Pos`] after the last source, less 1.
    end: Mutex<u32>,
    /// The texts of each arena. A thread that has an arena keeps its lock. Texts are large, and
    /// the vector makes room for 32 values at once.
    texts: boxcar::Vec<Box<Mutex<Texts>>>,
    /// The budgets of builds.
    budgets: boxcar::Vec<Budget>,
    /// The number of threads that may work on the texts of the heap; `None` for one thread on each
    /// core.
    jobs: Option<NonZero<usize>>,
}

/// The access of a thread to a [`Heap`]. Texts that it makes live as long as the heap.
#[derive(Clone, Copy)]
pub struct Arena<'a> {
    heap: &'a Heap,
    texts: &'a Texts,
    budget: &'a Budget,
    compat: Compat,
}

/// Makes arenas for the threads that work for one build.
#[derive(Clone, Copy)]
pub struct Arenas<'a> {
    heap: &'a Heap,
    budget: &'a Budget,
    compat: Compat,
}

impl<'a> Arenas<'a> {
    /// An arena for this thread, as [`Heap::arena`].
    pub fn arena(self) -> Arena<'a> {
        self.heap.arena_of(self.compat, self.budget)
    }

    /// See [`Arena::budget`].
    pub fn budget(self) -> &'a Budget {
        self.budget
    }

    /// See [`Arena::compat`].
    pub fn compat(self) -> Compat {
        self.compat
    }
}

/// A text that was added to a [`Heap`].
#[derive(Debug)]
pub struct Source {
    /// The name in messages: the path as the user wrote it, joined to the directory in which the
    /// build started.
    pub name: String,
    /// The text, with line ends normalised to LF.
    pub text: String,
    /// The [`Pos`] of the first byte.
    pub base: u32,
    /// True if this is the text of a file of that name; false for inline texts and the output of
    /// plugins.
    pub is_file: bool,
    /// True if the file was UTF-16: see [`Text`].
    pub is_wide: bool,
    /// True once resources were made of this text.
    is_read: AtomicBool,
    /// The scalar that contains this text, if the text is a scalar of another source.
    inside: Option<Inside>,
}

/// The place of a text in another source.
#[derive(Clone, Copy, Debug)]
struct Inside {
    /// The scalar.
    scalar: Pos,
    /// The number of lines of the scalar's text before this text.
    lines_before: usize,
}

/// The origin of a text.
#[derive(Clone, Copy, Debug)]
enum TextOrigin {
    File,
    /// A scalar of another source.
    Scalar(Inside),
    /// An inline text without a place, or the output of a plugin.
    Made,
}

/// A place in a file, for messages: line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
        meter::count_bytes(before);
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        Place {
            file: self.name.clone(),
            line: 1 + before.iter().filter(|&&b| b == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[line_start..]).chars().count(),
        }
    }

    /// Notes that resources are made of this text. Returns true if resources were made of it
    /// before: the new ones are then another copy.
    pub fn note_read(&self) -> bool {
        self.is_read.swap(true, Ordering::Relaxed)
    }

    /// The position of the byte at `offset`.
    pub fn pos(&self, offset: usize) -> Pos {
        Pos(self.base.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX)))
    }

    /// The offset of a place in this source; `None` for a place elsewhere.
    pub(crate) fn offset(&self, pos: Pos) -> Option<usize> {
        let at = usize::try_from(pos.0.checked_sub(self.base)?).ok()?;
        (pos.is_in_source() && at <= self.text.len()).then_some(at)
    }
}

impl Heap {
    /// An empty heap.
    pub fn new() -> Self {
        Heap::default()
    }

    /// An empty heap with texts that `jobs` threads may work on; `None` for one thread on each
    /// core.
    pub fn with_jobs(jobs: Option<NonZero<usize>>) -> Self {
        Heap { jobs, ..Heap::default() }
    }

    /// An arena for this thread, which keeps the lock of its texts for ever. Work with this arena
    /// has no limit.
    pub fn arena(&self) -> Arena<'_> {
        static NONE: Budget = Budget::none();
        self.arena_of(Compat::default(), &NONE)
    }

    /// An arena for a thread of a build that answers to a version of kustomize. The steps of the
    /// build may make `limit` bytes: see [`Budget::new`].
    pub fn arena_of_build(&self, compat: Compat, limit: Option<u64>) -> Arena<'_> {
        let budget = self.budgets.push(Budget::new(limit));
        self.arena_of(compat, &self.budgets[budget])
    }

    fn arena_of<'a>(&'a self, compat: Compat, budget: &'a Budget) -> Arena<'a> {
        let texts = &self.texts[self.texts.push(Box::default())];
        Arena { heap: self, texts: Box::leak(Box::new(lock(texts))), budget, compat }
    }

    /// The place that a position stands for; `None` for a node that is not in a source. If the
    /// source is a scalar of another source, the place in the other source is returned. O(log
    /// sources + size of the source).
    pub fn place(&self, pos: Pos) -> Option<Place> {
        self.outermost(pos).map(|(source, offset)| source.place(offset))
    }

    /// The source that holds a position and is not itself a scalar of another source, and the
    /// offset of the position in it. Otherwise as [`Heap::place`].
    pub fn outermost(&self, pos: Pos) -> Option<(&Source, usize)> {
        let source = self.source(pos)?;
        let offset = (pos.0 - source.base) as usize;
        match source.inside {
            Some(inside) => self.outermost(self.outer_pos(source, offset, inside).unwrap_or(inside.scalar)),
            None => Some((source, offset)),
        }
    }

    /// The position, in the source that holds the scalar, of a byte of the scalar's text; `None`
    /// for an escaped or folded scalar, in which the position is hard to tell.
    fn outer_pos(&self, source: &Source, offset: usize, inside: Inside) -> Option<Pos> {
        let outer = self.source(inside.scalar)?;
        let start = (inside.scalar.0 - outer.base) as usize;
        let written = outer.text.get(start..)?;
        let before = source.text.get(..offset)?;
        let line = before.bytes().filter(|&b| b == b'\n').count();
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let text = source.text[line_start..].lines().next().unwrap_or_default();
        let indent = match written.as_bytes().first()? {
            b'|' => {
                let mut lines = written.split_inclusive('\n');
                let above: usize = lines.by_ref().take(line + inside.lines_before + 1).map(str::len).sum();
                let written = lines.next().unwrap_or_default().trim_end_matches('\n');
                above + written.strip_suffix(text)?.len()
            }
            b'"' | b'\'' if line == 0 && written[1..].starts_with(text) => 1,
            _ if line == 0 && written.starts_with(text) => 0,
            _ => return None,
        };
        Some(outer.pos(start + indent + offset - line_start))
    }

    /// The source that holds a position. O(log sources).
    pub fn source(&self, pos: Pos) -> Option<&Source> {
        if !pos.is_in_source() {
            return None;
        }
        let sources = &self.sources;
        let (mut low, mut high) = (0, sources.count());
        while low + 1 < high {
            let mid = (low + high) / 2;
            if sources.get(mid)?.base <= pos.0 { low = mid } else { high = mid }
        }
        sources.get(low)
    }
}

/// The value behind a lock, also after another thread panicked while it had the lock: no value of a
/// heap is ever half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Arena<'a> {
    /// The number of threads that a text of `size` bytes is worth.
    pub fn threads(self, size: usize) -> usize {
        parallel::threads(size, self.heap.jobs)
    }

    /// The heap.
    pub fn heap(self) -> &'a Heap {
        self.heap
    }

    /// Makes arenas for other threads that work for the same build.
    pub fn others(self) -> Arenas<'a> {
        Arenas { heap: self.heap, budget: self.budget, compat: self.compat }
    }

    /// The version of kustomize that the build answers to.
    pub fn compat(self) -> Compat {
        self.compat
    }

    /// The bytes that the steps of the build may make.
    pub fn budget(self) -> &'a Budget {
        self.budget
    }

    /// Draws what this thread has made from the budget of the build: see [`Budget::check`].
    ///
    /// # Errors
    /// The budget is spent.
    #[inline]
    pub fn check(self) -> Result<(), Spent> {
        self.budget.check()
    }

    /// Adds the text of a file. CRLF becomes LF. Texts beyond the first 4 GiB have no places, but
    /// work otherwise.
    pub fn add_file(self, name: impl Into<String>, text: Text) -> &'a Source {
        self.add(name.into(), text, TextOrigin::File)
    }

    /// Adds the text of a scalar of another source, without its first `lines_before` lines. Places
    /// in the new text are places in the other source.
    pub fn add_inline(self, name: impl Into<String>, text: &str, scalar: Pos, lines_before: usize) -> &'a Source {
        let origin = match scalar.is_in_source() {
            true => TextOrigin::Scalar(Inside { scalar, lines_before }),
            false => TextOrigin::Made,
        };
        self.add(name.into(), text.to_owned().into(), origin)
    }

    /// Adds a text that is not a file of its own: an inline patch, the output of a plugin.
    pub fn add_source(self, name: impl Into<String>, text: String) -> &'a Source {
        self.add(name.into(), text.into(), TextOrigin::Made)
    }

    fn add(self, name: String, text: Text, origin: TextOrigin) -> &'a Source {
        let Text { text, is_wide } = text;
        meter::count_text(&text);
        let text = if memchr::memchr(b'\r', text.as_bytes()).is_some() { text.replace("\r\n", "\n") } else { text };
        let mut end = lock(&self.heap.end);
        let base = end.saturating_add(1);
        *end = base.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
        let number = self.heap.sources.push(Source {
            name,
            text,
            base,
            is_file: matches!(origin, TextOrigin::File),
            is_wide,
            is_read: AtomicBool::new(false),
            inside: match origin {
                TextOrigin::Scalar(inside) => Some(inside),
                TextOrigin::File | TextOrigin::Made => None,
            },
        });
        &self.heap.sources[number]
    }

    /// As [`Heap::place`].
    pub fn place(self, pos: Pos) -> Option<Place> {
        self.heap.place(pos)
    }

    /// As [`Heap::source`].
    pub fn source(self, pos: Pos) -> Option<&'a Source> {
        self.heap.source(pos)
    }

    /// Memory for the texts of this thread.
    pub(super) fn texts(self) -> &'a Texts {
        self.texts
    }

    /// As [`Texts::text`].
    pub fn text(self, text: &str) -> &'a str {
        self.texts.text(text)
    }

    /// As [`Texts::concat`].
    pub fn concat(self, parts: &[&str]) -> &'a str {
        self.texts.concat(parts)
    }

    /// As [`Texts::shared`].
    pub fn shared_text(self, text: &'a str) -> &'a str {
        self.texts.shared(text)
    }

    /// The number of bytes that the sources and the texts of this thread take.
    pub fn size(self) -> usize {
        self.texts.size() + *lock(&self.heap.end) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Heap;
    use crate::first_document;

    /// The place of the first `x` in the text of `field`, when the text is read by itself without
    /// the blanks before it.
    #[track_caller]
    fn place_of_x(file: &str) -> String {
        let heap = Heap::new();
        let arena = heap.arena();
        let node = first_document(arena, arena.add_source("file", file.to_owned())).unwrap().unwrap();
        let field = node.get("field").unwrap();
        let text = field.as_scalar().unwrap().text;
        let part = text.trim_start();
        let before = text[..text.len() - part.len()].matches('\n').count();
        let inline = arena.add_inline("a text", part, field.pos(), before);
        arena.place(inline.pos(part.find('x').unwrap())).unwrap().to_string()
    }

    #[test]
    fn places_in_a_text_inside_a_file_are_places_of_the_file() {
        assert_eq!(place_of_x("a: b\nfield: |-\n  b: 1\n   c: x\n"), "file:4:7");
        assert_eq!(place_of_x("field: |\n\n  é: 1\n  éé: x\n"), "file:4:7");
        assert_eq!(place_of_x("a: b\nfield: 'a: x'\n"), "file:2:12");
        assert_eq!(place_of_x("{a: b, field: \"a: x\"}"), "file:1:19");
        assert_eq!(place_of_x("field: a x\n"), "file:1:10");
        // If the position is hard to tell, the place is that of the whole text.
        assert_eq!(place_of_x("field: >\n  a\n  x\n"), "file:1:8");
        assert_eq!(place_of_x("field: \"\\ta: x\"\n"), "file:1:8");
        assert_eq!(place_of_x("field: 'a''\n\n  x'\n"), "file:1:8");
    }
}
