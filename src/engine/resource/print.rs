//! Printing: resources to a text, on all cores.
//!
//! The whole text is made before the first byte is written, so that an error never leaves half an
//! output. Each resource is printed without regard to others, so that threads can print runs of
//! them.

use super::{ResMap, Resource};
use crate::diag::{Error, Result};
use rustomize_base::parallel;
use rustomize_yaml::emit::{self, Part};
use rustomize_yaml::{Arena, Arenas, Heap, Malformed, reprint};

/// Prints resources into a text: documents with separators between them. O(size of the text).
///
/// # Errors
/// A resource that upstream cannot print either; see [`emit::document`].
pub fn print(arena: Arena<'_>, map: &ResMap<'_>) -> Result<String> {
    let resources: Vec<Numbered<'_, '_>> = map.iter().enumerate().collect();
    // Memory that is not written to costs nothing; growing would copy everything.
    let one = run(arena.others(), &resources, 2 * arena.size(), usize::MAX)?;
    Ok(one.into_iter().next().unwrap_or_default())
}

/// Prints resources as [`print()`] does, in pieces that follow each other. O(size of the text), on
/// all cores if the text is large.
///
/// # Errors
/// As [`print()`], for the first resource that cannot be printed.
pub fn print_in_pieces(arena: Arena<'_>, map: &ResMap<'_>) -> Result<Vec<String>> {
    let resources: Vec<Numbered<'_, '_>> = map.iter().enumerate().collect();
    let build = arena.others();
    let printer = || |part: &[_]| run(build, part, PIECE, PIECE);
    let runs = parallel::runs(&resources, arena.threads(arena.size()), printer);
    let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// Looks whether [`print()`] prints resources. Most need no more than a look at their trees; the
/// others are printed, and the text is dropped. O(size of the text), on all cores if it is large;
/// the memory of one resource's text for each.
///
/// # Errors
/// As [`print()`], for the first resource that cannot be printed.
pub fn check_printable(arena: Arena<'_>, map: &ResMap<'_>) -> Result<()> {
    let resources: Vec<&Resource<'_>> = map.iter().collect();
    let build = arena.others();
    let printer = || {
        let mut out = String::new();
        move |part: &[&Resource<'_>]| {
            let room = build.budget().left_for_sure();
            part.iter().try_for_each(|resource| {
                if emit::most_bytes(resource.node()).is_some_and(|most| most <= room) {
                    return Ok(());
                }
                out.clear();
                print_one(build, resource, &mut out)
            })
        }
    };
    parallel::runs(&resources, arena.threads(arena.size()), printer).into_iter().collect()
}

/// Appends one resource of a build to `out`.
///
/// # Errors
/// As [`print()`], or the text is longer than the rest of the budget of the build.
pub fn print_one(build: Arenas<'_>, resource: &Resource<'_>, out: &mut String) -> Result<()> {
    let budget = build.budget();
    let start = out.len();
    let mut printed = emit::document_within(out, resource.node(), budget);
    if printed.is_err() && build.compat().takes_keys_that_are_not_texts() {
        let heap = Heap::new();
        let mut node = resource.node().clone();
        if reprint::make_keys_texts(heap.arena(), &mut node) {
            out.truncate(start);
            printed = emit::document_within(out, &node, budget);
        }
    }
    budget.has_room(out.len() - start)?;
    printed.map_err(|e| error(resource, e))
}

/// As [`print_one`]. Appends the parts of the text, in their order.
///
/// # Errors
/// As [`print_one`].
pub fn print_in_parts(
    build: Arenas<'_>,
    resource: &Resource<'_>,
    out: &mut String,
    parts: &mut Vec<Part>,
) -> Result<()> {
    let (start, first) = (out.len(), parts.len());
    let mut printed = emit::document_in_parts(out, parts, resource.node());
    if printed.is_err() && build.compat().takes_keys_that_are_not_texts() {
        let heap = Heap::new();
        let mut node = resource.node().clone();
        if reprint::make_keys_texts(heap.arena(), &mut node) {
            out.truncate(start);
            parts.truncate(first);
            printed = emit::document_in_parts(out, parts, &node);
        }
    }
    build.budget().has_room(out.len() - start)?;
    printed.map_err(|e| error(resource, e))
}

/// A resource and its place among all resources.
type Numbered<'r, 'a> = (usize, &'r Resource<'a>);

/// The size of a piece of text: small enough for the allocator to put pieces side by side. Each
/// large piece would take whole huge pages.
const PIECE: usize = 256 << 10;

/// Prints resources, with a separator before each except the first of all, in pieces of about
/// `limit` bytes; each piece has room for `room` bytes. The length of the text is drawn from the
/// budget.
fn run<'r, 'a>(build: Arenas<'_>, resources: &[Numbered<'r, 'a>], room: usize, limit: usize) -> Result<Vec<String>> {
    let mut pieces = Vec::new();
    let (mut out, mut drawn) = (text(room), 0);
    for &(i, resource) in resources {
        // The next resource should fit, too: growing copies.
        if out.len() >= limit - limit / 16 {
            pieces.push(std::mem::replace(&mut out, text(room)));
            drawn = 0;
        }
        if i > 0 {
            out.push_str("---\n");
        }
        print_one(build, resource, &mut out)?;
        if out.len() - drawn >= PIECE / 2 {
            build.budget().spend(out.len() - drawn)?;
            drawn = out.len();
        }
    }
    // When many small builds run at once, none of them must hold a large piece.
    out.shrink_to_fit();
    pieces.push(out);
    Ok(pieces)
}

/// An empty text with room, or without where memory is short.
fn text(room: usize) -> String {
    let mut text = String::new();
    let _ = text.try_reserve_exact(room);
    text
}

fn error(resource: &Resource<'_>, e: emit::Unprintable) -> Error {
    let error = Error::from(Malformed { message: e.message, pos: e.pos }).at(resource.pos());
    error.in_resource(resource.id()).context(format!("printing {}", resource.id()))
}
