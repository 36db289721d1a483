//! A document as the JSON of go-yaml's own nodes, which kustomize hashes for the names of resources
//! of most kinds: kinds, styles, tags, texts, comments, lines and columns.

use super::print;
use super::{Document, Noted, Notes, Shape};
use crate::Arena;
use crate::document::split;
use crate::json;
use crate::reader::{self, Package};
use crate::scalar::Kind;
use crate::tree::mapping::Entry;
use crate::tree::node::{Node, Style, Tag, Value};
use rustomize_base::meter::FastMap;

/// The reason why the JSON of a node's document is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The node was not read from a file.
    NotFromFile,
    /// The node is no longer the one that was read.
    Changed,
    /// The document has parts whose JSON is not known: merge keys, explicit keys, rare tags.
    Parts,
}

/// Appends the JSON of the document that a node was read from. O(size of the file).
///
/// # Errors
/// See [`Unknown`].
pub fn as_read<'a>(arena: Arena<'a>, node: &Node<'a>, out: &mut String) -> Result<(), Unknown> {
    let source = arena.source(node.pos()).filter(|source| source.is_file).ok_or(Unknown::NotFromFile)?;
    let at = source.offset(node.pos()).ok_or(Unknown::NotFromFile)?;
    let pieces = split(source).map_err(|_| Unknown::Parts)?;
    let piece = pieces.into_iter().find(|piece| piece.contains(&at)).ok_or(Unknown::NotFromFile)?;
    let read = reader::parse(arena.texts(), source, piece.clone(), Package::V3);
    let read = read.ok().flatten().ok_or(Unknown::Parts)?;
    if !is_same(&read, node) {
        return Err(Unknown::Changed);
    }
    let text = &source.text[piece.clone()];
    let document = Document::of(source, piece, &read).filter(|_| !text.contains('\r')).ok_or(Unknown::Parts)?;
    let mut dump = Dump { text, anchors: FastMap::default(), line: (0, 1), out };
    dump.node(&document.root).ok_or(Unknown::Parts)
}

/// Returns true if a tree has the same texts at the same places.
fn is_same(a: &Node<'_>, b: &Node<'_>) -> bool {
    a.pos() == b.pos()
        && match (&a.value, &b.value) {
            (Value::Scalar(a), Value::Scalar(b)) => {
                a.text() == b.text() && a.style() == b.style() && a.tag() == b.tag()
            }
            (Value::Sequence(a), Value::Sequence(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b))
            }
            (Value::Mapping(a), Value::Mapping(b)) => {
                let is_same_entry = |(a, b): (&Entry<'_>, &Entry<'_>)| {
                    a.key.text() == b.key.text() && a.key.pos() == b.key.pos() && is_same(&a.value, &b.value)
                };
                a.len() == b.len() && a.iter().zip(b.iter()).all(is_same_entry)
            }
            _ => false,
        }
}

/// go-yaml's numbers for kinds and styles.
mod number {
    pub(super) const SEQUENCE: u8 = 2;
    pub(super) const MAPPING: u8 = 4;
    pub(super) const SCALAR: u8 = 8;
    pub(super) const TAGGED: u8 = 1;
    pub(super) const DOUBLE: u8 = 2;
    pub(super) const SINGLE: u8 = 4;
    pub(super) const LITERAL: u8 = 8;
    pub(super) const FOLDED: u8 = 16;
    pub(super) const FLOW: u8 = 32;
}

struct Dump<'d, 'a> {
    text: &'a str,
    /// The nodes of the anchors so far.
    anchors: FastMap<&'a str, &'d Noted<'a>>,
    /// An offset at which a line starts, and the number of that line.
    line: (usize, usize),
    out: &'d mut String,
}

impl<'d, 'a> Dump<'d, 'a> {
    fn node(&mut self, node: &'d Noted<'a>) -> Option<()> {
        if !node.anchor.is_empty() {
            self.anchors.insert(node.anchor, node);
        }
        let (kind, style, tag, text) = match &node.shape {
            // An alias is a copy of its node, whose anchor is removed.
            Shape::Alias(name) => {
                let meant: &'d Noted<'a> = self.anchors.get(name)?;
                return self.node(meant);
            }
            Shape::Mapping { in_braces, .. } => (number::MAPPING, flow(*in_braces), "!!map", ""),
            Shape::Sequence { in_brackets, .. } => (number::SEQUENCE, flow(*in_brackets), "!!seq", ""),
            Shape::Scalar(s) => {
                let style = match s.style() {
                    Style::Plain => 0,
                    Style::Double => number::DOUBLE,
                    Style::Single => number::SINGLE,
                    Style::Literal => number::LITERAL,
                    Style::Folded => number::FOLDED,
                };
                if style == 0 && s.text() == "<<" {
                    return None;
                }
                (number::SCALAR, style, if node.tag.is_empty() { tag_of(s.tag(), s.kind())? } else { "" }, s.text())
            }
        };
        let style = if node.tag.is_empty() { style } else { style | number::TAGGED };
        let tag = match node.tag {
            "" => tag,
            own if own.len() > 1 && !own.starts_with("!<") && !own.contains('%') => own,
            _ => return None,
        };
        self.out.push_str(&format!("{{\"Kind\":{kind},\"Style\":{style},\"Tag\":"));
        json::write_string(self.out, tag);
        self.member("Value", text);
        self.out.push_str(",\"Anchor\":\"\",\"Alias\":null,\"Content\":");
        let children: Vec<&'d Noted<'a>> = match &node.shape {
            Shape::Mapping { entries, .. } => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
            Shape::Sequence { items, .. } => items.iter().collect(),
            Shape::Scalar(_) | Shape::Alias(_) => Vec::new(),
        };
        for (i, child) in children.iter().enumerate() {
            self.out.push(if i == 0 { '[' } else { ',' });
            self.node(child)?;
        }
        self.out.push_str(if children.is_empty() { "null" } else { "]" });
        let Notes { head, line, foot } = &node.notes;
        self.member("HeadComment", head);
        self.member("LineComment", line);
        self.member("FootComment", foot);
        let (line, column) = self.place(node.at?);
        self.out.push_str(&format!(",\"Line\":{line},\"Column\":{column}}}"));
        Some(())
    }

    fn member(&mut self, name: &str, text: &str) {
        self.out.push_str(&format!(",\"{name}\":"));
        json::write_string(self.out, text);
    }

    /// The line and the column of an offset, from 1. Lines are counted from the last place on: the
    /// nodes come in the order of the text, except those of aliases.
    fn place(&mut self, at: usize) -> (usize, usize) {
        let (start, number) = if at < self.line.0 { (0, 1) } else { self.line };
        let mut here = (start, number);
        for (i, line_break) in self.text[start..at].match_indices(LINE_BREAKS) {
            here = (start + i + line_break.len(), here.1 + 1);
        }
        self.line = here;
        (here.1, 1 + self.text[here.0..at].chars().count())
    }
}

/// The characters that end a line for go-yaml. A document with a carriage return was refused
/// earlier.
const LINE_BREAKS: [char; 4] = ['\n', '\u{85}', '\u{2028}', '\u{2029}'];

fn flow(is_flow: bool) -> u8 {
    if is_flow { number::FLOW } else { 0 }
}

/// The short tag of a scalar without a tag of its own.
fn tag_of(tag: Tag, kind: Kind) -> Option<&'static str> {
    (tag == Tag::Auto).then(|| print::tag_of(kind))
}
