//! Quotes that a value has from the one that it replaced: `replicas`, replacements and patches keep
//! the style of the value that was there.

use super::way::Step;
use rustomize_yaml::{Heap, Node, Place, Pos, Style, documents};
use std::num::NonZero;

/// The hint to leave out the quotes of a value at `pos`. If the file has no quotes there, they are
/// those of an earlier value, which is looked for in the file of the resource at `of_resource`.
/// O(document of the resource).
pub(super) fn hint(heap: &Heap, pos: Pos, of_resource: Pos, way: &[Step<'_>]) -> String {
    if is_quoted(heap, pos) {
        return "leave out the quotes".to_owned();
    }
    let keeps = "the value keeps the quotes of the one that it replaces";
    match earlier(heap, of_resource, way) {
        Some(place) => format!("leave out the quotes at {place}: {keeps}"),
        None => format!("leave out the quotes where the field is set first: {keeps}"),
    }
}

/// Returns true if a file has quotes at a position, or if no file has the position.
fn is_quoted(heap: &Heap, pos: Pos) -> bool {
    let written = heap.outermost(pos).and_then(|(source, offset)| source.text.get(offset..));
    // A tag or an anchor is in front of quotes.
    written.is_none_or(|written| written.starts_with(['"', '\'', '!', '&']))
}

/// The place of the quoted value at a way into a resource, as its file has it.
fn earlier(heap: &Heap, of_resource: Pos, way: &[Step<'_>]) -> Option<Place> {
    let source = heap.source(of_resource)?;
    let start = (of_resource.0 - source.base) as usize;
    let rest = source.text.get(start..)?;
    let text = &rest[..rest.find("\n---").map_or(rest.len(), |end| end + 1)];
    let own = Heap::with_jobs(Some(NonZero::<usize>::MIN));
    let arena = own.arena();
    let copy = arena.add_file("", text.to_owned().into());
    let documents = documents(arena, copy).ok()?;
    let found = way.iter().try_fold(documents.first()?, |node, step| match step {
        Step::Field("") => Some(node),
        Step::Field(name) => node.get(name),
        Step::Item(i) => node.as_sequence()?.get(*i),
    })?;
    let is_quoted = |node: &Node<'_>| {
        node.as_scalar().is_some_and(|scalar| matches!(scalar.style(), Style::Single | Style::Double))
    };
    let offset = found.pos().0.checked_sub(copy.base).filter(|_| is_quoted(found))?;
    heap.place(source.pos(start + offset as usize))
}
