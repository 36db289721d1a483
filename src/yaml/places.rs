//! [`Places`]: the places of many positions.

use super::arena::{Heap, Place, Source};
use super::tree::node::Pos;
use rustomize_base::meter::{self, FastMap};
use std::cell::{Cell, RefCell};

/// Finds lines and columns of many positions: the line ends of a source are looked for once.
pub struct Places<'a> {
    heap: &'a Heap,
    /// The source of the last position: the next one is mostly in the same source.
    last: Cell<Option<&'a Source>>,
    lines: RefCell<KnownLines>,
}

/// The lines of the sources that were asked for.
#[derive(Default)]
struct KnownLines {
    all: Vec<Lines>,
    /// The index in `all` by the base of the source.
    by_base: FastMap<u32, usize>,
    /// The base and the index of the last source.
    last: Option<(u32, usize)>,
}

impl KnownLines {
    fn of(&mut self, source: &Source) -> &mut Lines {
        let at = match self.last {
            Some((base, at)) if base == source.base => at,
            _ => *self.by_base.entry(source.base).or_insert_with(|| {
                self.all.push(Lines::of(&source.text));
                self.all.len() - 1
            }),
        };
        self.last = Some((source.base, at));
        &mut self.all[at]
    }
}

/// A place in a source: line and column count from 1, columns in characters.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    pub source: &'a Source,
    pub line: usize,
    pub column: usize,
}

/// The lines of a source.
struct Lines {
    /// The offset of the first byte of each line.
    starts: Vec<u32>,
    /// The number of characters that begin before each block of the text. It is empty until a
    /// place in a long line is asked for.
    before: Vec<u32>,
    /// The last line that was asked for, from 1: the next offset may be in one of the next lines.
    last: usize,
}

/// The bytes of a block. In a line that is not longer than a block, characters are counted from its
/// start.
const BLOCK: usize = 1024;

/// The number of lines behind the last one that are looked at one after the other.
const NEAR: usize = 16;

impl<'a> Places<'a> {
    /// An index of the sources of a heap, which is empty yet.
    pub fn new(heap: &'a Heap) -> Self {
        Places { heap, last: Cell::default(), lines: RefCell::default() }
    }

    /// The heap with the sources.
    pub fn heap(&self) -> &'a Heap {
        self.heap
    }

    /// The place of a position as a value of its own: see [`Places::spot`].
    pub fn place(&self, pos: Pos) -> Option<Place> {
        let Spot { source, line, column } = self.spot(pos)?;
        Some(Place { file: source.name.clone(), line, column })
    }

    /// As [`Heap::outermost`], in less time for positions that follow each other.
    pub fn outermost(&self, pos: Pos) -> Option<(&'a Source, usize)> {
        if let Some(last) = self.last.get()
            && let Some(offset) = pos.0.checked_sub(last.base)
            && offset as usize <= last.text.len()
        {
            return Some((last, offset as usize));
        }
        let (source, offset) = self.heap.outermost(pos)?;
        // A position in a scalar that is a source of its own is somewhere else.
        if source.base as usize + offset == pos.0 as usize {
            self.last.set(Some(source));
        }
        Some((source, offset))
    }

    /// The place of a position; `None` if no source has it. The first position of a source costs
    /// O(size of the source), every other one O(log lines).
    pub fn spot(&self, pos: Pos) -> Option<Spot<'a>> {
        let (source, offset) = self.outermost(pos)?;
        let mut known = self.lines.borrow_mut();
        let (line, column) = known.of(source).at(&source.text, offset.min(source.text.len()));
        Some(Spot { source, line, column })
    }

    /// The source and the line of a position: as [`Places::spot`], without a look at the characters
    /// of the line.
    pub fn line(&self, pos: Pos) -> Option<(&'a Source, usize)> {
        let (source, offset) = self.outermost(pos)?;
        Some((source, self.lines.borrow_mut().of(source).line(offset.min(source.text.len()))))
    }
}

impl Lines {
    fn of(text: &str) -> Lines {
        meter::count_text(text);
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| u32::try_from(i + 1).unwrap_or(u32::MAX));
        Lines { starts: std::iter::once(0).chain(ends).collect(), before: Vec::new(), last: 1 }
    }

    /// The line and column of an offset, from 1.
    fn at(&mut self, text: &str, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.starts[line - 1] as usize;
        let column = match offset - start {
            0..=BLOCK => characters(&text.as_bytes()[start..offset]),
            _ => self.characters_before(text, offset) - self.characters_before(text, start),
        };
        (line, column + 1)
    }

    /// The number of characters that begin before an offset. The first call costs O(text), every
    /// other one O(1).
    fn characters_before(&mut self, text: &str, offset: usize) -> usize {
        let bytes = text.as_bytes();
        if self.before.is_empty() {
            meter::count_text(text);
            let blocks = bytes.chunks(BLOCK).scan(0, |sum, block| {
                *sum += u32::try_from(characters(block)).unwrap_or(u32::MAX);
                Some(*sum)
            });
            self.before = std::iter::once(0).chain(blocks).collect();
        }
        let block = offset / BLOCK;
        self.before[block] as usize + characters(&bytes[block * BLOCK..offset])
    }

    /// The line of an offset, from 1. O(1) in one of the next lines, otherwise O(log lines).
    fn line(&mut self, offset: usize) -> usize {
        let is_reached = |start: &u32| *start as usize <= offset;
        let near = &self.starts[self.last - 1..];
        let more = near.iter().take(1 + NEAR).take_while(|start| is_reached(start)).count();
        self.last = match more {
            1..=NEAR => self.last - 1 + more,
            _ => self.starts.partition_point(is_reached).max(1),
        };
        self.last
    }
}

/// The number of characters that begin in these bytes of a text.
fn characters(bytes: &[u8]) -> usize {
    meter::count_bytes(bytes);
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Places};
    use crate::Heap;
    use rustomize_base::meter;

    #[test]
    fn places_are_those_of_the_heap_in_any_order() {
        let heap = Heap::new();
        let arena = heap.arena();
        let text = "a: é\n\nbé: [ü, é, x]\r\nend";
        let source = arena.add_file("file", text.to_owned().into());
        let places = Places::new(&heap);
        let bounds: Vec<usize> = source.text.char_indices().map(|(i, _)| i).chain([source.text.len()]).collect();
        for &offset in bounds.iter().chain(bounds.iter().rev()).chain(bounds.iter().step_by(3)) {
            let place = source.place(offset);
            let spot = places.spot(source.pos(offset)).unwrap();
            assert_eq!((spot.source.name.as_str(), spot.line, spot.column), ("file", place.line, place.column));
        }
    }

    #[test]
    fn places_in_long_lines_are_those_of_the_heap() {
        let heap = Heap::new();
        let text = format!("a: [é]\n[{}]\nb: c\n{}", "é, x, ".repeat(BLOCK), "€".repeat(BLOCK));
        let source = heap.arena().add_file("file", text.into());
        let places = Places::new(&heap);
        let bounds: Vec<usize> = source.text.char_indices().map(|(i, _)| i).chain([source.text.len()]).collect();
        for &offset in bounds.iter().step_by(97).chain(bounds.iter().rev().step_by(89)).chain(bounds.last()) {
            let place = source.place(offset);
            let spot = places.spot(source.pos(offset)).unwrap();
            assert_eq!((spot.line, spot.column), (place.line, place.column), "{offset}");
        }
    }

    #[test]
    fn places_in_one_long_line_take_linear_time() {
        let steps = |n: usize| {
            let heap = Heap::new();
            let source = heap.arena().add_file("file", format!("[{}]", "item, ".repeat(n)).into());
            let places = Places::new(&heap);
            meter::reset();
            // From both ends to the middle.
            for i in (0..n).map(|i| if i % 2 == 0 { i / 2 } else { n - i / 2 }) {
                places.spot(source.pos(6 * i)).unwrap();
            }
            meter::taken()
        };
        // A place costs a block, however long the line is.
        assert!(steps(8_000) <= 5 * steps(2_000), "{} steps, {}", steps(2_000), steps(8_000));
    }
}
