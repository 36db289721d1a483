//! From the text of a file to its documents.

use super::reader::{self, Package};
use super::{Arena, Node, Pos, Source};
use std::ops::Range;

/// Mappings and lists nested deeper than this are refused; the reference stops at 10,000.
pub const MAX_DEPTH: usize = 1_000;

/// Nodes that the aliases of one document may add to it. The reference has no limit and can be made
/// to fill the memory with a few hundred bytes.
pub const MAX_ALIAS_NODES: usize = 1_000_000;

/// Why a text is no YAML: what is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    pub message: String,
    pub pos: Pos,
}

/// Reads all documents of a resource file. Empty documents are left out. The text is split as kyaml
/// does it (`splitDocuments`) before any of it is parsed, so that only the first YAML document of
/// each piece counts.
///
/// # Errors
/// The first piece that is no YAML, or a separator line with something behind its dashes.
///
/// Cost: O(text).
pub fn documents<'a>(arena: &'a Arena, source: &'a Source) -> Result<Vec<Node<'a>>, Malformed> {
    let pieces = if source.is_wide { std::iter::once(0..source.text.len()).collect() } else { split(source)? };
    let mut documents = Vec::with_capacity(pieces.len());
    for piece in pieces {
        documents.extend(reader::parse(arena, source, piece, Package::V3)?);
    }
    Ok(documents)
}

/// Reads the first document of a text and ignores what follows, as kustomize does with a
/// kustomization file and whatever else it decodes into Go types. `None` if there is none.
pub fn first_document<'a>(arena: &'a Arena, source: &'a Source) -> Result<Option<Node<'a>>, Malformed> {
    reader::parse(arena, source, 0..source.text.len(), Package::V2)
}

/// The pieces of a file: separated by lines that hold `---` and at most a comment. A first line
/// `---`, and one at the very end without a line break, belong to their piece.
fn split(source: &Source) -> Result<Vec<Range<usize>>, Malformed> {
    let text = source.text.as_str();
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(&bytes[from..], b"\n---") {
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
