//! [`Noted`]: a tree with its comments, in the order of its text, as go-yaml v3 holds a text that
//! it has read. Anchors, aliases and tags stay as they are written.
//!
//! * `tokens`: the tokens and comments of a text; `comments`: a text into the tree.
//! * `print`: the tree into text.
//! * [`dump`]: the tree into the JSON of go-yaml's nodes.
//!
//! A [`Node`] has none of these, because a build does not need them.

mod comments;
pub mod dump;
mod print;
mod tokens;

pub use print::Unprinted;

use super::document::split;
use super::reader::{self, Package};
use super::tree::mapping::{Entries, Entry, Key, Mapping};
use super::tree::node::{Node, Pos, Scalar, Style, Tag, Value};
use super::tree::sequence::Sequence;
use super::{Arena, Malformed, Source};
use std::ops::Range;

/// The comments of one node. Each may have several lines, or is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Above the node.
    pub head: String,
    /// After the node, on its line.
    pub line: String,
    /// Below the node.
    pub foot: String,
}

/// A node with its comments. A comment below a value belongs to its key.
#[derive(Clone, Debug)]
pub struct Noted<'a> {
    pub shape: Shape<'a>,
    pub notes: Notes,
    /// The name of the anchor, or an empty text.
    pub anchor: &'a str,
    /// The tag as it is written, or an empty text.
    pub tag: &'a str,
    /// The offset in the text; `None` for a node that was not read from a text.
    pub at: Option<usize>,
}

/// The content of a node.
#[derive(Clone, Debug)]
pub enum Shape<'a> {
    Scalar(Scalar<'a>),
    /// The name of an anchor.
    Alias(&'a str),
    Mapping {
        entries: Vec<(Noted<'a>, Noted<'a>)>,
        in_braces: bool,
    },
    Sequence {
        items: Vec<Noted<'a>>,
        in_brackets: bool,
    },
}

/// A document: its root, and the comments above and below all of it.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    pub root: Noted<'a>,
    pub notes: Notes,
    /// The place of the text that the offsets of the nodes count from; [`Pos::NONE`] for a document
    /// that was not read from a text.
    pub start: Pos,
}

/// The reason why a text has no tree with comments.
#[derive(Clone, Debug)]
pub enum Unread {
    /// The text is not YAML.
    Malformed(Malformed),
    /// The document at this place has parts that a tree with comments cannot hold, such as an
    /// explicit key.
    Unsupported(Pos),
}

impl<'a> Document<'a> {
    /// Reads the documents of a text. Empty ones are left out. As in kyaml, the text is split
    /// before it is read, so only the first YAML document of each piece counts. O(size).
    ///
    /// # Errors
    /// See [`Unread`].
    pub fn read_all(arena: Arena<'a>, source: &'a Source) -> Result<Vec<Self>, Unread> {
        let mut documents = Vec::new();
        for piece in split(source).map_err(Unread::Malformed)? {
            let node = reader::parse(arena.texts(), source, piece.clone(), Package::V3Text);
            let Some(node) = node.map_err(Unread::Malformed)?.filter(|node| !node.is_null()) else { continue };
            documents.push(Self::of(source, piece, &node).ok_or(Unread::Unsupported(node.pos()))?);
        }
        Ok(documents)
    }

    /// Reads the first document of a text. `None` for a text without a document, or for a null.
    /// O(size).
    ///
    /// # Errors
    /// See [`Unread`].
    pub fn read(arena: Arena<'a>, source: &'a Source) -> Result<Option<Self>, Unread> {
        let piece = 0..source.text.len();
        let node = reader::parse(arena.texts(), source, piece.clone(), Package::V3Text);
        let Some(node) = node.map_err(Unread::Malformed)?.filter(|node| !node.is_null()) else { return Ok(None) };
        Self::of(source, piece, &node).map(Some).ok_or(Unread::Unsupported(node.pos()))
    }

    /// Adds comments, anchors and the order of the text to a document that was read from a piece of
    /// it. `None` if the text has parts that a tree with comments cannot hold.
    pub(super) fn of(source: &'a Source, piece: Range<usize>, root: &Node<'a>) -> Option<Self> {
        let text = Piece { source, start: piece.start, text: source.text.get(piece)? };
        let mut scalars = Vec::new();
        text.collect(root, &mut scalars)?;
        scalars.retain(|(span, _)| !span.is_empty());
        scalars.sort_by_key(|(span, _)| span.start);
        // A value that has several aliases is in the tree several times.
        scalars.dedup_by_key(|(span, _)| span.start);
        let document = comments::document(text.text, &scalars)?;
        Some(Document { start: source.pos(text.start), ..document })
    }

    /// A document that was not read from a text.
    pub fn new(root: Noted<'a>) -> Self {
        Document { root, notes: Notes::default(), start: Pos::NONE }
    }

    /// The place of a node of this document; [`Pos::NONE`] for a node that was not read from a
    /// text.
    pub fn pos(&self, node: &Noted<'_>) -> Pos {
        let place = |at: usize| Pos(self.start.0.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)));
        node.at.filter(|_| self.start.is_in_source()).map_or(Pos::NONE, place)
    }
}

impl<'a> Noted<'a> {
    /// A node that was not read from a text.
    pub fn new(shape: Shape<'a>) -> Self {
        Noted { shape, notes: Notes::default(), anchor: "", tag: "", at: None }
    }

    /// A scalar that was not read from a text.
    pub fn scalar(scalar: Scalar<'a>) -> Self {
        Noted::new(Shape::Scalar(scalar))
    }

    /// The text of a key or value in kustomize's own style.
    pub fn text(text: &'a str) -> Self {
        Noted::scalar(Scalar::string(text))
    }

    /// A block mapping that was not read from a text.
    pub fn mapping(entries: Vec<(Noted<'a>, Noted<'a>)>) -> Self {
        Noted::new(Shape::Mapping { entries, in_braces: false })
    }

    /// A block list that was not read from a text.
    pub fn sequence(items: Vec<Noted<'a>>) -> Self {
        Noted::new(Shape::Sequence { items, in_brackets: false })
    }

    fn at(self, at: usize) -> Self {
        Noted { at: Some(at), ..self }
    }

    /// Returns true for a mapping or list.
    pub fn is_collection(&self) -> bool {
        matches!(self.shape, Shape::Mapping { .. } | Shape::Sequence { .. })
    }

    /// Returns true for a null.
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// The scalar; `None` for another node.
    pub fn as_scalar(&self) -> Option<&Scalar<'a>> {
        match &self.shape {
            Shape::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The entries of a mapping; none for another node.
    pub fn entries(&self) -> &[(Noted<'a>, Noted<'a>)] {
        match &self.shape {
            Shape::Mapping { entries, .. } => entries,
            _ => &[],
        }
    }

    /// The entries of a mapping; `None` for another node.
    pub fn entries_mut(&mut self) -> Option<&mut Vec<(Noted<'a>, Noted<'a>)>> {
        match &mut self.shape {
            Shape::Mapping { entries, .. } => Some(entries),
            _ => None,
        }
    }

    /// The items of a list; `None` for another node.
    pub fn items(&self) -> Option<&[Noted<'a>]> {
        match &self.shape {
            Shape::Sequence { items, .. } => Some(items),
            _ => None,
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Noted<'a>> {
        self.entries().iter().find(|(k, _)| k.value() == key).map(|(_, value)| value)
    }

    /// The value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Noted<'a>> {
        self.entries_mut()?.iter_mut().find(|(k, _)| k.value() == key).map(|(_, value)| value)
    }

    /// The text of a scalar; empty for another node.
    pub fn value(&self) -> &'a str {
        self.as_scalar().map_or("", Scalar::text)
    }

    /// The text of a key's value, unless it is null.
    pub fn get_text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_scalar().filter(|s| !s.is_null()).map(Scalar::text)
    }

    /// The word for the kind of this node in kustomize's errors.
    pub fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Scalar(_) => "ScalarNode",
            Shape::Alias(_) => "AliasNode",
            Shape::Mapping { .. } => "MappingNode",
            Shape::Sequence { .. } => "SequenceNode",
        }
    }

    /// Removes the comments of this node and of all nodes below.
    pub fn strip_comments(&mut self) {
        self.notes = Notes::default();
        match &mut self.shape {
            Shape::Scalar(_) | Shape::Alias(_) => {}
            Shape::Mapping { entries, .. } => entries.iter_mut().for_each(|(key, value)| {
                key.strip_comments();
                value.strip_comments();
            }),
            Shape::Sequence { items, .. } => items.iter_mut().for_each(Noted::strip_comments),
        }
    }

    /// Returns true if the tree of a build does not have this node as it is written: the node, or
    /// one below it, has an anchor or a tag, or is an alias or a merge key.
    pub(super) fn is_resolved(&self) -> bool {
        let below = match &self.shape {
            Shape::Scalar(_) => false,
            Shape::Alias(_) => true,
            Shape::Mapping { entries, .. } => {
                entries.iter().any(|(key, value)| key.value() == "<<" || key.is_resolved() || value.is_resolved())
            }
            Shape::Sequence { items, .. } => items.iter().any(Noted::is_resolved),
        };
        below || !self.anchor.is_empty() || !self.tag.is_empty()
    }

    /// The node as it is written, without comments: an alias is a text of its sign and its name, as
    /// a key of its name alone, and `<<` is a key as any other. O(size).
    pub(super) fn as_written(&self, source: &'a Source) -> Node<'a> {
        let pos = |at: Option<usize>| at.map_or(Pos::NONE, |at| source.pos(at));
        let value: Value<'a> = match &self.shape {
            Shape::Scalar(s) => Value::from(*s),
            Shape::Alias(name) => {
                let text = self.at.and_then(|at| source.text.get(at..=at + name.len()));
                Value::from(Scalar::string(text.unwrap_or_default()))
            }
            Shape::Sequence { items, in_brackets } => {
                let mut items: Sequence<'a> = items.iter().map(|item| item.as_written(source)).collect();
                items.set_brackets(*in_brackets);
                Value::Sequence(items)
            }
            Shape::Mapping { entries, in_braces } => {
                let entry = |(key, value): &(Noted<'a>, Noted<'a>)| {
                    let (text, style, tag) = match &key.shape {
                        Shape::Scalar(s) => (s.text(), s.style(), s.tag()),
                        Shape::Alias(name) => (*name, Style::Plain, Tag::Str),
                        Shape::Mapping { .. } | Shape::Sequence { .. } => ("", Style::Plain, Tag::Null),
                    };
                    Entry::new(Key::new(text, style, tag, pos(key.at)), value.as_written(source))
                };
                let entries: Entries<'a> = entries.iter().map(entry).collect();
                Value::Mapping(Mapping::from_entries(entries).with_braces(*in_braces))
            }
        };
        Node::new(value, pos(self.at))
    }

    /// Calls `each` for this node and all nodes below, keys too.
    pub(super) fn walk<'n>(&'n self, each: &mut impl FnMut(&'n Noted<'a>)) {
        each(self);
        match &self.shape {
            Shape::Scalar(_) | Shape::Alias(_) => {}
            Shape::Mapping { entries, .. } => entries.iter().for_each(|(key, value)| {
                key.walk(each);
                value.walk(each);
            }),
            Shape::Sequence { items, .. } => items.iter().for_each(|item| item.walk(each)),
        }
    }
}

/// A piece of a source.
struct Piece<'a> {
    source: &'a Source,
    start: usize,
    text: &'a str,
}

impl<'a> Piece<'a> {
    /// Collects the scalars of a tree, and the ranges of the text that they take.
    fn collect(&self, node: &Node<'a>, scalars: &mut Vec<(Range<usize>, Scalar<'a>)>) -> Option<()> {
        match &node.value {
            Value::Scalar(s) => scalars.push((self.span(node.pos(), s)?, *s)),
            Value::Sequence(items) => items.iter().try_for_each(|item| self.collect(item, scalars))?,
            Value::Mapping(m) => {
                for Entry { key, value } in m.iter() {
                    scalars.push((self.span(key.pos, &key.as_scalar())?, key.as_scalar()));
                    self.collect(value, scalars)?;
                }
            }
        }
        Some(())
    }

    /// The range that a scalar takes, without its tag and anchor.
    fn span(&self, pos: Pos, scalar: &Scalar<'_>) -> Option<Range<usize>> {
        let at = self.source.offset(pos)?.checked_sub(self.start)?;
        let rest = self.text.get(at..)?;
        let len = match scalar.style() {
            Style::Plain => plain(rest, scalar.text())?,
            Style::Single | Style::Double => quoted(rest)?,
            Style::Literal | Style::Folded => block(self.text, at)?,
        };
        Some(at..at + len)
    }
}

/// The length of a plain scalar that reads as `scalar`. Only the blanks and line ends between its
/// words may differ; `None` if other characters differ.
fn plain(text: &str, scalar: &str) -> Option<usize> {
    let is_between = |c: char| matches!(c, ' ' | '\t' | '\n');
    let mut rest = text;
    for word in scalar.split(is_between).filter(|word| !word.is_empty()) {
        rest = rest.trim_start_matches(is_between).strip_prefix(word)?;
    }
    Some(text.len() - rest.len())
}

/// The length of a quoted scalar.
fn quoted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.first()?;
    let mut i = 1;
    loop {
        match *bytes.get(i)? {
            b'\\' if quote == b'"' => i += 1,
            b if b == quote && quote == b'\'' && bytes.get(i + 1) == Some(&quote) => i += 1,
            b if b == quote => return Some(i + 1),
            _ => {}
        }
        i += 1;
    }
}

/// The length of a literal or folded block: its header, and the lines that are indented deeper than
/// the line in which it starts.
fn block(text: &str, at: usize) -> Option<usize> {
    let header = text[at..].find('\n')?;
    let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = text[line_start..at].trim_start_matches([' ', '-']);
    let parent = text[line_start..].len() - text[line_start..].trim_start_matches([' ', '-']).len();
    // An item of a list has the depth of its own dash.
    let parent = if own.is_empty() { text[line_start..at].rfind('-').unwrap_or(0) } else { parent };
    let lines = || text[at + header + 1..].split('\n');
    // The header gives the depth of the content; if it does not, the first line does.
    let sign = text[at..at + header].split('#').next().unwrap_or_default();
    let given = sign.chars().find_map(|c| c.to_digit(10));
    let first = lines().find(|line| !line.trim().is_empty()).map_or(0, depth);
    let content = given.map_or(first.max(parent + 1), |given| parent + given as usize);
    let mut end = at + header;
    for line in lines() {
        if !line.trim().is_empty() && depth(line) < content {
            break;
        }
        end += 1 + line.len();
    }
    Some(end.min(text.len()) - at)
}
