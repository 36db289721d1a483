//! Printing: resources as one text, on all cores.
//!
//! Nothing is written before all is printed, so that an error leaves nothing half done. A resource
//! is printed without a look at another one: threads take turns at runs of them, and each run is a
//! piece of the text.

use crate::diag::{Error, Result};
use crate::resource::{ResMap, Resource};
use crate::yaml::{Arena, emit};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A build with fewer bytes than this is printed sooner than a thread is started.
const WORTH_A_THREAD: usize = 512 << 10;

/// Runs for each thread: with several, one run of large resources does not keep the others waiting.
const RUNS: usize = 8;

/// The stack of a thread, which nested mappings and lists need.
const STACK: usize = 8 << 20;

/// Prints resources as one text: documents with separators between them. O(size of the text).
///
/// # Errors
/// A resource that the reference cannot print either; see [`emit::document`].
pub fn print(arena: &Arena, map: &ResMap<'_>) -> Result<String> {
    let resources: Vec<&Resource<'_>> = map.iter().collect();
    run(&resources, true, 2 * arena.size()).map_err(|unprintable| error(arena, unprintable))
}

/// Prints resources as [`print`] does, in pieces that follow each other. O(size of the text), on
/// all cores if the text is large.
///
/// # Errors
/// As [`print`], for the first resource that cannot be printed.
pub fn print_in_pieces(arena: &Arena, map: &ResMap<'_>) -> Result<Vec<String>> {
    let resources: Vec<&Resource<'_>> = map.iter().collect();
    let threads = match arena.size() {
        ..WORTH_A_THREAD => 1,
        _ => thread::available_parallelism().map_or(1, NonZero::get),
    };
    let length = resources.len().div_ceil(if threads == 1 { 1 } else { threads * RUNS }).max(1);
    let runs: Vec<&[&Resource<'_>]> = resources.chunks(length).collect();
    let room = 2 * arena.size() / runs.len().max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < runs.len());
        std::iter::from_fn(take).map(|i| (i, run(runs[i], i == 0, room))).collect::<Vec<_>>()
    };
    let mut pieces = thread::scope(|scope| {
        let start = || thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        // Where no thread can be started, this one does all.
        let others: Vec<_> = (1..threads.min(runs.len())).map_while(|_| start()).collect();
        let mut pieces = work();
        for other in others {
            pieces.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        pieces
    });
    pieces.sort_unstable_by_key(|(i, _)| *i);
    pieces.into_iter().map(|(_, piece)| piece.map_err(|unprintable| error(arena, unprintable))).collect()
}

/// Appends one resource to `out`.
///
/// # Errors
/// As [`print`].
pub fn print_one(arena: &Arena, resource: &Resource<'_>, out: &mut String) -> Result<()> {
    emit::document(out, resource.node()).map_err(|e| error(arena, (resource, e)))
}

/// A resource, and why it cannot be printed.
type Unprintable<'r, 'a> = (&'r Resource<'a>, emit::Unprintable);

/// Prints resources, with a separator before each; not before the first one if it starts the text.
fn run<'r, 'a>(resources: &[&'r Resource<'a>], is_start: bool, room: usize) -> Result<String, Unprintable<'r, 'a>> {
    // Memory that is not written to costs nothing; growing would copy everything.
    let mut out = String::with_capacity(room);
    for (i, resource) in resources.iter().enumerate() {
        if i > 0 || !is_start {
            out.push_str("---\n");
        }
        emit::document(&mut out, resource.node()).map_err(|e| (*resource, e))?;
    }
    Ok(out)
}

fn error(arena: &Arena, (resource, e): Unprintable<'_, '_>) -> Error {
    let place = arena.place(e.pos).or_else(|| arena.place(resource.pos()));
    Error::input(e.message).at(place).context(format!("printing {}", resource.id()))
}
