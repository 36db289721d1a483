//! Comments that are meant to allow findings, and conflict markers of git, in the files of a build.

use crate::diag::{Code, Warning, allow, cause};
use crate::resource::ResMap;
use rustomize_base::meter::FastSet;
use rustomize_base::parallel;
use rustomize_yaml::{Arena, Pos, Source};
use std::ops::Range;

/// The size of a piece of a text in bytes. Several searches read it while it is in the cache.
const PIECE: usize = 64 << 10;

/// The findings in the text of a kustomization. O(size of the text).
pub(super) fn in_source(source: &Source) -> Vec<Warning> {
    in_piece(source, 0..source.text.len())
}

/// The findings in the files of resources, each file once. O(resources x log files + size of the
/// files), on all cores.
pub(super) fn in_files(arena: Arena<'_>, map: &ResMap<'_>) -> Vec<Warning> {
    let heap = arena.heap();
    let bases = map.distinct(arena, |resource| heap.source(resource.pos()).map(|source| source.base));
    let sources = bases.into_iter().filter_map(|base| heap.source(Pos(base))).filter(|source| source.is_file);
    let of_source = |source| pieces(source).map(move |range| (source, range));
    let mut pieces: Vec<(&Source, Range<usize>)> = sources.flat_map(of_source).collect();
    pieces.sort_unstable_by_key(|(source, range)| (source.base, range.start));
    let size = pieces.iter().map(|(_, range)| range.len()).sum();
    let found = parallel::runs(&pieces, arena.threads(size), || {
        |run: &[(&Source, Range<usize>)]| {
            let in_run = run.iter().flat_map(|(source, range)| in_piece(source, range.clone()));
            in_run.collect::<Vec<_>>()
        }
    });
    // The first conflict of a file counts.
    let mut conflicts = FastSet::default();
    let base = |found: &Warning| heap.source(found.pos()?).map(|source| source.base);
    let counts = |found: &Warning| found.code() != Code::ConflictMarker || conflicts.insert(base(found));
    found.into_iter().flatten().filter(counts).collect()
}

fn in_piece(source: &Source, range: Range<usize>) -> Vec<Warning> {
    let conflict = cause::conflict_in(source, range.clone());
    allow::comments(source, range).into_iter().chain(conflict).collect()
}

/// The pieces of a text. Each ends at the end of a line: no comment and no marker is in two.
fn pieces(source: &Source) -> impl Iterator<Item = Range<usize>> {
    let text = source.text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let line = memchr::memchr(b'\n', rest.get(PIECE..).unwrap_or_default());
        let end = line.map_or(text.len(), |at| start + PIECE + at + 1);
        Some(std::mem::replace(&mut start, end)..end)
    })
}

#[cfg(test)]
mod tests {
    use super::{PIECE, pieces};
    use rustomize_yaml::Heap;

    #[test]
    fn pieces_are_the_whole_text_and_end_at_line_ends() {
        let heap = Heap::new();
        let lines = format!("{}\n", "a".repeat(99)).repeat(2 * PIECE / 100);
        for text in [String::new(), "a".to_owned(), "a".repeat(3 * PIECE), lines.clone(), lines + "b"] {
            let source = heap.arena().add_source("a.yaml", text.clone());
            let found: Vec<_> = pieces(source).collect();
            assert_eq!(found.iter().map(|range| &text[range.clone()]).collect::<String>(), text);
            assert!(found.iter().rev().skip(1).all(|range| text[range.clone()].ends_with('\n')));
            assert!(found.len() > 1 || text.len() <= PIECE || !text.contains('\n'));
        }
    }
}
