//! The reader: reads one YAML document into a tree, in one pass.
//!
//! The grammar is that of go-yaml, a port of libyaml, which is YAML 1.1 with peculiarities of its
//! own. Open lists and mappings are on a stack of [`Level`]s, so that deep texts need no recursion.
//! [`block`] and [`flow`] read lists and mappings, [`scalar`] reads texts, [`property`] reads
//! anchors, tags and merge keys, [`characters`] finds line breaks, and [`rest`] checks the text
//! after the document.
//!
//! Nearly all texts have only LF as a line break. They are read by a version of the code that knows
//! only LF. The functions that handle nearly every line are always inlined, which saves a twelfth
//! of the instructions of a build (docs/performance.md).

mod block;
mod characters;
mod flow;
mod property;
mod rest;
mod scalar;

use super::document::{MAX_ALIAS_NODES, MAX_DEPTH, Malformed};
use super::texts::Texts;
use super::{Entries, Entry, Items, Key, Mapping, Node, Pos, Scalar, Sequence, Source, Style, Tag, Value};
use block::{Before, NodePlace};
use characters::Survey;
pub(crate) use property::sources;
use property::{Anchor, Anchors, Properties, TagHandles};
use rustomize_base::meter::ThinList;
use std::mem::take;
use std::ops::Range;

/// A step of the reader. The error is boxed, so that the usual result fits into a register.
type Read<T> = Result<T, Box<Malformed>>;

/// The column of the end of a document: left of every other.
const END: isize = -1;

/// The largest number of characters between the start of a key and its colon.
const MAX_KEY: usize = 1_024;

/// The YAML package of upstream that reads a text. The packages share the grammar, and differ in
/// tags and merge keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Package {
    /// go-yaml v3, for resources.
    V3,
    /// go-yaml v2, for kustomization files and all other files that are decoded into Go types.
    V2,
    /// go-yaml v3, for a text that is not decoded: the keys `<<` stay, and a key in braces may be a
    /// list or a mapping. Such a key becomes a key without text, with the tag of null.
    V3Text,
    /// go-yaml v3, for values of a chart, which are merged before they are decoded: the keys `<<`
    /// stay, and an empty document is a null.
    V3Values,
}

/// Reads the first document of a piece of a source; `None` if it has none. The text after the
/// document is ignored, as in kustomize, unless it is malformed within three tokens.
///
/// # Errors
/// The text is malformed. Cost: O(text + nodes that aliases add).
pub(crate) fn parse<'a>(
    texts: &'a Texts,
    source: &'a Source,
    piece: Range<usize>,
    package: Package,
) -> Result<Option<Node<'a>>, Malformed> {
    parse_in(&mut Room::default(), texts, source, piece, package)
}

/// As [`parse`], with memory that was used for another document.
///
/// # Errors
/// The text is malformed.
pub(crate) fn parse_in<'a>(
    room: &mut Room<'a>,
    texts: &'a Texts,
    source: &'a Source,
    piece: Range<usize>,
    package: Package,
) -> Result<Option<Node<'a>>, Malformed> {
    let mark = if source.text[piece.clone()].starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let piece = piece.start + mark..piece.end;
    let survey = characters::survey(source, piece.clone())?;
    let root = if survey.has_rare_breaks {
        Reader::<true>::new(room, texts, source, piece, survey, package).document(room)
    } else {
        Reader::<false>::new(room, texts, source, piece, survey, package).document(room)
    };
    root.map_err(|malformed| *malformed)
}

/// The memory that a reader works in. It is empty between two documents.
pub(crate) struct Room<'a> {
    levels: Vec<Level<'a>>,
    entries: Entries<'a>,
    items: Items<'a>,
    scratch: String,
}

impl Default for Room<'_> {
    /// Room for most documents: their stacks do not grow.
    fn default() -> Self {
        Room {
            levels: Vec::with_capacity(16),
            entries: Entries::with_capacity(48),
            items: Items::with_capacity(16),
            scratch: String::new(),
        }
    }
}

/// The way in which a node is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// The node is in its place.
    InPlace,
    /// An alias stands for the node.
    Alias,
}

/// The form in which an open list or mapping is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LevelKind {
    BlockMapping,
    BlockSequence,
    /// A list whose dashes are in the column of the mapping that holds it.
    IndentlessSequence,
    FlowMapping,
    FlowSequence,
    /// The only entry of `[a: b]`, a mapping without brackets of its own.
    FlowPair,
}

/// A list or mapping whose end has not been read.
struct Level<'a> {
    kind: LevelKind,
    /// The indentation while this level is the innermost one: the column of the entries of a block.
    column: isize,
    /// The index on the stack at which the entries or items of this level start.
    mark: usize,
    pos: Pos,
    anchor: Option<Anchor>,
    /// The key that waits for its value.
    key: Option<Key<'a>>,
    /// True if the colon of that key is read: its value comes next.
    has_colon: bool,
    /// True if one of the keys is `<<`.
    has_merge: bool,
}

/// The state of a pass over one document. If `RARE` is true, other line breaks than LF are
/// recognized.
struct Reader<'a, const RARE: bool> {
    package: Package,
    texts: &'a Texts,
    source: &'a Source,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The offset at which the current line starts.
    line: usize,
    /// The column of the token at `at`, if that is the first token of an entry; [`END`] after the
    /// last entry.
    indent: isize,
    has_tabs: bool,
    /// The lists and mappings that are open, the innermost one last.
    levels: Vec<Level<'a>>,
    /// The entries of all open mappings, one after the other.
    entries: Entries<'a>,
    /// The items of all open lists.
    items: Items<'a>,
    root: Option<Node<'a>>,
    /// The start of a root in brackets, if it could be a key.
    root_key: Option<usize>,
    /// Memory in which a text is put together before it is copied to the arena.
    scratch: String,
    anchors: Anchors<'a>,
    handles: TagHandles,
}

impl<'a, const RARE: bool> Reader<'a, RARE> {
    fn new(
        room: &mut Room<'a>,
        texts: &'a Texts,
        source: &'a Source,
        piece: Range<usize>,
        survey: Survey,
        package: Package,
    ) -> Self {
        let text = &source.text[..piece.end];
        Reader {
            package,
            texts,
            source,
            text,
            bytes: text.as_bytes(),
            at: piece.start,
            line: piece.start,
            indent: END,
            has_tabs: survey.has_tabs,
            levels: take(&mut room.levels),
            entries: take(&mut room.entries),
            items: take(&mut room.items),
            root: None,
            root_key: None,
            scratch: take(&mut room.scratch),
            anchors: Anchors::new(MAX_ALIAS_NODES),
            handles: TagHandles::default(),
        }
    }

    /// Reads the document, and gives the memory back.
    fn document(mut self, room: &mut Room<'a>) -> Read<Option<Node<'a>>> {
        let root = self.root()?;
        debug_assert!(self.levels.is_empty() && self.entries.is_empty() && self.items.is_empty());
        *room = Room { levels: self.levels, entries: self.entries, items: self.items, scratch: self.scratch };
        Ok(root)
    }

    fn root(&mut self) -> Read<Option<Node<'a>>> {
        self.next_line()?;
        let is_explicit = self.directives()?;
        // `---` and `...` are markers at the start of a line alone, and text behind blanks.
        let is_at_end = self.indent == END;
        if is_at_end && self.starts_marker(b"---") {
            self.at += 3;
            self.node(NodePlace::after(Before::Marker, END), Properties::default())?;
        } else if is_explicit {
            return Err(self.error("did not find expected <document start>", self.at));
        } else if is_at_end && self.starts_marker(b"...") {
            return Err(self.error(NO_CONTENT, self.at));
        } else if self.indent == END {
            return Ok(None);
        } else {
            self.node(NodePlace::after(Before::Nothing, END), Properties::default())?;
        }
        self.blocks()?;
        self.check_rest()?;
        let is_values = self.package == Package::V3Values;
        Ok(self.root.take().filter(|root| is_values || !is_absent(root)))
    }

    /// Opens a list or mapping that starts at an offset.
    #[inline(always)]
    fn open(&mut self, kind: LevelKind, column: isize, start: usize, properties: Properties) -> Read<()> {
        if self.levels.len() >= MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH} levels"), self.at));
        }
        let mark = match kind {
            LevelKind::BlockMapping | LevelKind::FlowMapping | LevelKind::FlowPair => self.entries.len(),
            _ => self.items.len(),
        };
        let pos = self.source.pos(start);
        let anchor = properties.anchor;
        self.levels.push(Level { kind, column, mark, pos, anchor, key: None, has_colon: false, has_merge: false });
        Ok(())
    }

    /// Closes the innermost list or mapping, and adds it to its parent.
    #[inline(always)]
    fn close(&mut self) -> Read<()> {
        if let Some(key) = self.levels.last_mut().and_then(|level| level.key.take()) {
            self.push_entry(key, self.empty(), Written::InPlace)?;
        }
        match self.take_level()? {
            Some(node) => self.complete(node, Written::InPlace),
            None => Ok(()),
        }
    }

    /// Removes the innermost list or mapping from the stack.
    #[inline(always)]
    fn take_level(&mut self) -> Read<Option<Node<'a>>> {
        let Some(level) = self.levels.pop() else { return Ok(None) };
        let value = match level.kind {
            LevelKind::BlockMapping | LevelKind::FlowMapping | LevelKind::FlowPair => {
                let entries = take_from(&mut self.entries, level.mark);
                let mapping = if level.has_merge { self.merged(entries)? } else { Mapping::from_entries(entries) };
                Value::Mapping(mapping.with_braces(level.kind != LevelKind::BlockMapping))
            }
            kind => {
                let mut items = Sequence::from(take_from(&mut self.items, level.mark));
                items.set_brackets(kind == LevelKind::FlowSequence);
                Value::Sequence(items)
            }
        };
        let node = Node::new(value, level.pos);
        if let Some(anchor) = level.anchor {
            self.anchors.set(anchor, &node);
        }
        Ok(Some(node))
    }

    /// Adds a complete node to its parent: as an item, a key or a value of the innermost level, or
    /// as the root.
    #[inline(always)]
    fn complete(&mut self, node: Node<'a>, written: Written) -> Read<()> {
        let Some(level) = self.levels.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match level.kind {
            LevelKind::BlockSequence | LevelKind::IndentlessSequence | LevelKind::FlowSequence => self.items.push(node),
            _ => match level.key.take() {
                Some(key) => return self.push_entry(key, node, written),
                None => {
                    let key = self.key_of(node)?;
                    self.set_key(key);
                }
            },
        }
        Ok(())
    }

    fn key_of(&self, node: Node<'a>) -> Read<Key<'a>> {
        match &node.value {
            Value::Mapping(_) | Value::Sequence(_) if self.package == Package::V3Text => {
                Ok(Key::new("", Style::Plain, Tag::Null, node.pos()))
            }
            // Upstream prints a key that was left out as an empty string.
            Value::Scalar(s) if is_absent(&node) => Ok(Key::new(s.text, s.style, Tag::Str, node.pos())),
            // The type of a key does not depend on its quotes if it has a tag.
            Value::Scalar(s) => {
                let is_text = matches!(s.tag, Tag::Auto | Tag::Str | Tag::Custom);
                let style = if is_text { s.style } else { Style::Plain };
                Ok(self.texts.key(s.text, style, s.tag, node.pos()))
            }
            _ => Err(Box::new(Malformed { message: COMPLEX_KEY.into(), pos: node.pos() })),
        }
    }

    #[inline(always)]
    fn push_entry(&mut self, key: Key<'a>, value: Node<'a>, written: Written) -> Read<()> {
        if key.text == "<<" && !matches!(self.package, Package::V3Text | Package::V3Values) {
            self.note_merge(&key, &value, written)?;
        }
        self.entries.push(Entry { key, value });
        Ok(())
    }

    #[cold]
    fn note_merge(&mut self, key: &Key<'a>, value: &Node<'a>, written: Written) -> Read<()> {
        self.check_merge(key, value, written)?;
        if let Some(level) = self.levels.last_mut() {
            level.has_merge = true;
        }
        Ok(())
    }

    /// The value that is left out at `at`: null in a block.
    fn empty(&self) -> Node<'a> {
        Node::new(Scalar::plain(""), self.source.pos(self.at))
    }

    #[cold]
    fn error(&self, message: impl Into<String>, offset: usize) -> Box<Malformed> {
        Box::new(Malformed { message: message.into(), pos: self.source.pos(offset) })
    }

    /// Moves from the start of a line to its first token, or to that of a later line.
    fn next_line(&mut self) -> Read<()> {
        loop {
            self.line = self.at;
            self.skip_spaces();
            match self.byte() {
                None => {
                    self.indent = END;
                    return Ok(());
                }
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.skip_comments(),
                Some(b'\t') => return Err(self.error("found a tab where an indentation space is expected", self.at)),
                Some(_) if RARE && self.break_len(self.at) > 0 => self.at += self.break_len(self.at),
                Some(_) => {
                    self.indent = (self.at - self.line) as isize;
                    if self.indent == 0 && self.at_document_end() {
                        self.indent = END;
                    }
                    return Ok(());
                }
            }
        }
    }

    /// Returns true if the token at the start of a line ends the document: a marker or a directive.
    fn at_document_end(&self) -> bool {
        match self.bytes[self.at] {
            b'-' => self.starts_marker(b"---"),
            b'.' => self.starts_marker(b"..."),
            b => b == b'%',
        }
    }

    /// Moves from the comment at `at` to the start of the next line. Comments that follow are
    /// skipped as well, with the blank lines between them, which may then have tabs: upstream
    /// collects comments up to 512 bytes ahead.
    fn skip_comments(&mut self) {
        loop {
            self.skip_line();
            if !self.has_tabs {
                return;
            }
            let near = self.bytes.len().min(self.at + 512);
            let mut ahead = self.at;
            let mut line = self.at;
            while ahead < near {
                match self.bytes[ahead] {
                    b' ' | b'\t' => {}
                    b'\n' | b'\r' => line = ahead + 1,
                    _ => break,
                }
                ahead += 1;
            }
            if self.bytes[..near].get(ahead) != Some(&b'#') {
                return;
            }
            (self.at, self.line) = (ahead, line);
        }
    }

    /// Moves over blanks and a comment to the next token on a later line. A token on this line is
    /// an error, unless it follows the root.
    fn end_of_line(&mut self) -> Read<()> {
        self.skip_blanks();
        match self.byte() {
            None => {
                self.indent = END;
                Ok(())
            }
            Some(b'#') => {
                self.skip_line();
                self.next_line()
            }
            Some(_) => match self.break_len(self.at) {
                0 if self.root.is_some() => {
                    self.indent = END;
                    Ok(())
                }
                0 if self.at_indicator(b':') => Err(self.error(NO_VALUE, self.at)),
                0 => Err(self.error("did not find expected key", self.at)),
                n => {
                    self.at += n;
                    self.next_line()
                }
            },
        }
    }
}

const NO_COLON: &str = "could not find expected ':'";
const NO_VALUE: &str = "mapping values are not allowed in this context";
const COMPLEX_KEY: &str = "a mapping key must be a scalar";
const NO_CONTENT: &str = "did not find expected node content";
const NO_TOKEN: &str = "found character that cannot start any token";

/// Moves the last elements of a stack into a list of that size.
#[inline(always)]
fn take_from<T>(stack: &mut ThinList<T>, mark: usize) -> ThinList<T> {
    if mark > 0 {
        return stack.split_off(mark);
    }
    // `split_off` would give away the memory of the whole stack.
    let mut taken = ThinList::with_capacity(stack.len());
    taken.append(stack);
    taken
}

/// Returns true for an empty plain scalar, the root of a document that has only comments.
fn is_absent(node: &Node<'_>) -> bool {
    node.as_scalar().is_some_and(|s| s.style == Style::Plain && s.tag == Tag::Auto && s.text.is_empty())
}
