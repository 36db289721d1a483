//! From the text of a file to its documents.

use super::reader::{self, Package};
use super::{Arena, Node, Pos, Source};
use rustomize_base::parallel;
use std::ops::Range;

/// Mappings and lists nested deeper than this are refused; upstream's limit is 10,000.
pub const MAX_DEPTH: usize = 1_000;

/// The number of nodes that the aliases of one document may add to it. Upstream has no such limit:
/// a document of a few hundred bytes can fill its memory.
pub const MAX_ALIAS_NODES: usize = 1_000_000;

/// The reason why a text is not valid YAML: the error, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    pub message: String,
    pub pos: Pos,
}

/// Reads all documents of a resource file. Empty documents are left out.
///
/// # Errors
/// As [`read_documents`].
pub fn documents<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Vec<Node<'a>>, Malformed> {
    let runs = read_documents(arena, source, &Vec::with_capacity, &|run: &mut Vec<_>, _, node| run.push(node))?;
    Ok(runs.into_iter().flatten().collect())
}

/// Reads all documents of a resource file, and passes each to `take` on the thread that has read
/// it. `start` makes a collector of the results, for a run of at most the given number of
/// documents; the runs are returned in order. Empty documents are left out. As in kyaml
/// (`splitDocuments`), the text is split before it is parsed, so only the first YAML document of
/// each piece counts.
///
/// # Errors
/// The first piece that is not valid YAML, or a separator line with other text after its dashes.
///
/// Cost: O(text), on all cores if the text is large.
pub fn read_documents<'a, R: Send>(
    arena: Arena<'a>,
    source: &'a Source,
    start: &(impl Fn(usize) -> R + Sync),
    take: &(impl Fn(&mut R, Arena<'a>, Node<'a>) + Sync),
) -> Result<Vec<R>, Malformed> {
    let pieces = if source.is_wide { std::iter::once(0..source.text.len()).collect() } else { split(source)? };
    let reader = |arena: Arena<'a>| {
        move |run: &[Range<usize>]| {
            let (mut made, mut room) = (start(run.len()), reader::Room::default());
            for piece in run {
                if let Some(node) = reader::parse_in(&mut room, arena.texts(), source, piece.clone(), Package::V3)? {
                    take(&mut made, arena, node);
                }
            }
            Ok(made)
        }
    };
    let threads = arena.threads(source.text.len()).min(pieces.len());
    if threads == 1 {
        return reader(arena)(&pieces).map(|run| vec![run]);
    }
    let others = arena.others();
    parallel::runs(&pieces, threads, || reader(others.arena())).into_iter().collect()
}

/// Reads the first document of a text and ignores the rest, as kustomize does with a kustomization
/// file and other files that it decodes into Go types. `None` for a text without a document.
///
/// # Errors
/// The document is not valid YAML.
pub fn first_document<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Option<Node<'a>>, Malformed> {
    reader::parse(arena.texts(), source, 0..source.text.len(), Package::V2)
}

/// Reads the first document of a text that is not decoded, as kustomize does with a text in a
/// resource that a replacement leads into. A key in braces that is a list or a mapping becomes a
/// null key without a text. `None` for a text without a document.
///
/// # Errors
/// The document is not valid YAML.
pub fn document_in_text<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Option<Node<'a>>, Malformed> {
    reader::parse(arena.texts(), source, 0..source.text.len(), Package::V3Text)
}

/// Reads the first document of a file with values of a chart, as [`values`](super::values) needs
/// it. A document without content is a null. `None` for a text without a document.
///
/// # Errors
/// The document is not valid YAML.
pub fn values_document<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Option<Node<'a>>, Malformed> {
    reader::parse(arena.texts(), source, 0..source.text.len(), Package::V3Values)
}

/// Splits a file into pieces, which are separated by lines with `---` and at most a comment. A
/// first line `---`, and a last line `---` without a line break, belong to their piece.
pub(super) fn split(source: &Source) -> Result<Vec<Range<usize>>, Malformed> {
    let text = source.text.as_str();
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut from = 0;
    let separator = memchr::memmem::Finder::new(b"\n---");
    while let Some(found) = separator.find(&bytes[from..]) {
        let line = from + found + 1;
        let Some(len) = memchr::memchr(b'\n', &bytes[line..]) else {
            break;
        };
        let rest = text[line + 3..line + len].trim_matches([' ', '\t', '\r']);
        if !rest.is_empty() && !rest.starts_with('#') {
            let message = format!("invalid document separator: {}", text[line..line + len].trim_end());
            return Err(Malformed { message, pos: source.pos(line) });
        }
        pieces.push(start..line);
        start = line + len + 1;
        from = start;
    }
    pieces.push(start..text.len());
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::documents;
    use crate::Heap;

    fn large(bad: &[usize]) -> String {
        let document = |i| match bad.contains(&i) {
            true => format!("a: {i}\nb: [\n"),
            false => format!("a: {i}\ntext: {}\n", "x".repeat(1_000)),
        };
        (0..1_000).map(document).collect::<Vec<_>>().join("---\n")
    }

    #[test]
    fn a_large_text_is_read_in_order() {
        let text = large(&[]);
        assert!(
            Heap::new().arena().threads(text.len()) > 1
                || std::thread::available_parallelism().is_ok_and(|n| n.get() == 1)
        );
        let heap = Heap::new();
        let arena = heap.arena();
        let nodes = documents(arena, arena.add_source("large", text)).unwrap();
        let numbers: Vec<&str> = nodes.iter().filter_map(|node| node.get_text("a")).collect();
        assert_eq!(numbers, (0..1_000).map(|i| i.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_malformed_document_is_the_error() {
        let heap = Heap::new();
        let arena = heap.arena();
        let error = documents(arena, arena.add_source("large", large(&[300, 301, 900]))).unwrap_err();
        let before = 300 * 3;
        assert_eq!(arena.place(error.pos).map(|place| place.line), Some(before + 3), "{}", error.message);
    }
}
