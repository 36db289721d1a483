//! Quotes that a value has from the one that it replaced: `replicas`, replacements and patches keep
//! the style of the value that was there.

use super::way::Step;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Heap, Node, Place, Pos, Source, Style, documents};
use std::cell::OnceCell;
use std::num::NonZero;

/// A resource as its file has it, which is read where the first value needs it.
pub(super) struct WrittenResource<'p, 'h, 'o> {
    places: &'p Places<'h>,
    /// The place of the resource in its file.
    pos: Pos,
    /// Memory for the copy.
    own: &'o OnceCell<Heap>,
    copy: OnceCell<Option<WrittenCopy<'h, 'o>>>,
}

/// The document of a resource, read again.
struct WrittenCopy<'h, 'o> {
    node: Node<'o>,
    /// The base of its text.
    base: u32,
    /// The file, and the offset of the document in it.
    source: &'h Source,
    start: usize,
}

impl<'p, 'h, 'o> WrittenResource<'p, 'h, 'o> {
    /// The resource at a place, which is not read yet. `own` is empty.
    pub(super) fn at(pos: Pos, places: &'p Places<'h>, own: &'o OnceCell<Heap>) -> Self {
        WrittenResource { places, pos, own, copy: OnceCell::new() }
    }

    /// The hint to leave out the quotes of a value at `pos`. If the file has no quotes there, they
    /// are those of an earlier value, which is looked for in the file of the resource. O(document
    /// of the resource) once, then O(way).
    pub(super) fn hint(&self, pos: Pos, way: &[Step<'_>]) -> String {
        if is_quoted(self.places.heap(), pos) {
            return "leave out the quotes".to_owned();
        }
        let keeps = "the value keeps the quotes of the one that it replaces";
        match self.earlier(way) {
            Some(place) => format!("leave out the quotes at {place}: {keeps}"),
            None => format!("leave out the quotes where the field is set first: {keeps}"),
        }
    }

    /// The place of the quoted value at a way into the resource, as its file has it.
    fn earlier(&self, way: &[Step<'_>]) -> Option<Place> {
        let WrittenCopy { node, base, source, start } = self.copy.get_or_init(|| self.read()).as_ref()?;
        let found = way.iter().try_fold(node, |node, step| match step {
            Step::Field("") => Some(node),
            Step::Field(name) => node.get(name),
            Step::Item(i) => node.as_sequence()?.get(*i),
        })?;
        let is_quoted = |node: &Node<'_>| {
            node.as_scalar().is_some_and(|scalar| matches!(scalar.style(), Style::Single | Style::Double))
        };
        let offset = found.pos().0.checked_sub(*base).filter(|_| is_quoted(found))?;
        self.places.place(source.pos(start + offset as usize))
    }

    fn read(&self) -> Option<WrittenCopy<'h, 'o>> {
        let source = self.places.heap().source(self.pos)?;
        let start = (self.pos.0 - source.base) as usize;
        let rest = source.text.get(start..)?;
        let text = &rest[..rest.find("\n---").map_or(rest.len(), |end| end + 1)];
        let arena = self.own.get_or_init(|| Heap::with_jobs(Some(NonZero::<usize>::MIN))).arena();
        let copy = arena.add_file("", text.to_owned().into());
        let node = documents(arena, copy).ok()?.into_iter().next()?;
        Some(WrittenCopy { node, base: copy.base, source, start })
    }
}

/// Returns true if a file has quotes at a position, or if no file has the position.
fn is_quoted(heap: &Heap, pos: Pos) -> bool {
    let written = heap.outermost(pos).and_then(|(source, offset)| source.text.get(offset..));
    // A tag or an anchor is in front of quotes.
    written.is_none_or(|written| written.starts_with(['"', '\'', '!', '&']))
}
