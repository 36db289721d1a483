//! The second layer of the reader: any YAML, from the events of a full parser.
//!
//! The grammar is the parser's; types, merge keys and limits are ours. What the reference's parser refuses and
//! this one would take is refused first ([`check_characters`]).

use super::document::{MAX_ALIAS_NODES, MAX_DEPTH, Malformed};
use super::{Arena, Entry, Key, Mapping, Node, Pos, Scalar, Source, Style, Tag, Value};
use base64::Engine;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag as EventTag};
use std::borrow::Cow;
use std::ops::Range;

/// Reads the first document of a piece of a source; `None` if it has none.
///
/// # Errors
/// What is wrong with the text, and where. Cost: O(text + nodes that aliases add).
pub fn parse<'a>(arena: &'a Arena, source: &'a Source, piece: Range<usize>) -> Result<Option<Node<'a>>, Malformed> {
    let text = &source.text[piece.clone()];
    check_characters(source, text, piece.start)?;
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut body = Body { text: body, start: piece.end - body.len(), indents: Vec::new() };
    loop {
        match attempt(arena, source, &body) {
            Err(Fault::Quoted(offset)) if body.indents.len() < MAX_INDENTS => body.indent_quoted(arena, offset),
            Err(Fault::Quoted(offset)) => {
                return Err(Malformed { message: QUOTED_INDENTATION.into(), pos: source.pos(body.original(offset)) });
            }
            Err(Fault::Malformed(m)) => return Err(m),
            Ok(root) => return Ok(root),
        }
    }
}

/// The parser's words for a quoted scalar whose later lines stand too far left for it. Upstream does not care where
/// they stand.
const QUOTED_INDENTATION: &str = "invalid indentation in quoted scalar";

/// How many lines of such scalars are helped; each scalar costs one more pass over the document.
const MAX_INDENTS: usize = 2_000;

/// Why an attempt to read a text failed.
enum Fault {
    /// The quoted scalar at this offset of the body is indented as only upstream takes it.
    Quoted(usize),
    Malformed(Malformed),
}

impl From<Malformed> for Fault {
    fn from(m: Malformed) -> Self {
        Fault::Malformed(m)
    }
}

/// What the parser reads: a piece of the source, with blanks put before lines of quoted scalars, where they mean nothing.
struct Body<'a> {
    text: &'a str,
    /// The offset of the text in the source.
    start: usize,
    /// Where blanks were put in, and how many; sorted.
    indents: Vec<(usize, usize)>,
}

impl<'a> Body<'a> {
    /// The offset in the source of an offset in the text.
    fn original(&self, offset: usize) -> usize {
        let put_in: usize = self.indents.iter().take_while(|(at, _)| *at < offset).map(|(_, n)| n).sum();
        self.start + offset.saturating_sub(put_in)
    }

    /// Indents the later lines of the quoted scalar at `offset` to its own column.
    fn indent_quoted(&mut self, arena: &'a Arena, offset: usize) {
        let bytes = self.text.as_bytes();
        let quote = bytes.get(offset).copied().unwrap_or(b'"');
        let blanks = 1 + offset - self.text[..offset].rfind('\n').map_or(0, |i| i + 1);
        let mut text = self.text[..offset].to_owned();
        let mut end = offset + 1;
        let mut breaks = Vec::new();
        while end < bytes.len() && bytes[end] != quote {
            match bytes[end] {
                b'\n' => breaks.push(end + 1),
                // An escape, which may hide a quote or a line break.
                b'\\' if quote == b'"' => {
                    end += 1;
                    if bytes.get(end) == Some(&b'\n') {
                        breaks.push(end + 1);
                    }
                }
                _ => {}
            }
            end += 1;
        }
        let mut from = offset;
        let mut indents: Vec<(usize, usize)> = Vec::new();
        for at in breaks {
            text.push_str(&self.text[from..at]);
            indents.push((text.len(), blanks));
            text.extend(std::iter::repeat_n(' ', blanks));
            from = at;
        }
        text.push_str(&self.text[from..]);
        // Nothing stands behind this scalar that was indented before: scalars are found in order.
        self.indents.extend(indents);
        self.text = arena.text(&text);
    }
}

fn attempt<'a>(arena: &'a Arena, source: &'a Source, body: &Body<'a>) -> Result<Option<Node<'a>>, Fault> {
    let mut builder = Builder {
        arena,
        source,
        cursor: Cursor { text: body.text, chars: 0, bytes: 0 },
        body,
        frames: Vec::new(),
        anchors: Vec::new(),
        budget: MAX_ALIAS_NODES,
    };
    for event in Parser::new_from_str(body.text) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(e) if e.info() == QUOTED_INDENTATION => {
                return Err(Fault::Quoted(builder.cursor.byte(e.marker().index())));
            }
            Err(e) => return Err(builder.scan_error(&e).into()),
        };
        match event {
            Event::DocumentEnd | Event::StreamEnd => return Ok(None),
            event => {
                if let Some(root) = builder.event(event, span)? {
                    return Ok(Some(root).filter(|n| !is_absent(n)));
                }
            }
        }
    }
    Ok(None)
}

/// A document of nothing but comments has an empty plain scalar for its root.
fn is_absent(node: &Node<'_>) -> bool {
    node.as_scalar().is_some_and(|s| s.style == Style::Plain && s.tag == Tag::Auto && s.text.is_empty())
}

/// The characters the reference's reader takes; it stops at any other.
fn check_characters(source: &Source, text: &str, start: usize) -> Result<(), Malformed> {
    let printable = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    match text.char_indices().find(|&(_, c)| !printable(c)) {
        Some((at, _)) => {
            Err(Malformed { message: "control characters are not allowed".into(), pos: source.pos(start + at) })
        }
        None => Ok(()),
    }
}

/// Turns the parser's character counts into byte offsets. Events come in document order, so that a full pass costs
/// O(text).
struct Cursor<'a> {
    text: &'a str,
    chars: usize,
    bytes: usize,
}

impl Cursor<'_> {
    fn byte(&mut self, index: usize) -> usize {
        while self.chars < index {
            let Some(c) = self.text[self.bytes..].chars().next() else {
                break;
            };
            self.bytes += c.len_utf8();
            self.chars += 1;
        }
        while self.chars > index {
            let Some(c) = self.text[..self.bytes].chars().next_back() else {
                break;
            };
            self.bytes -= c.len_utf8();
            self.chars -= 1;
        }
        self.bytes
    }
}

/// A list or mapping whose end has not come yet.
struct Frame<'a> {
    anchor: usize,
    pos: Pos,
    flow: bool,
    items: Vec<Node<'a>>,
    /// The entries of a mapping, and the key that waits for its value.
    mapping: Option<(Vec<Entry<'a>>, Option<Key<'a>>, Vec<Mapping<'a>>)>,
}

struct Builder<'b, 'a> {
    arena: &'a Arena,
    source: &'a Source,
    cursor: Cursor<'a>,
    body: &'b Body<'a>,
    frames: Vec<Frame<'a>>,
    /// Nodes by the parser's anchor ids, which count from 1; `None` while the node is not complete.
    anchors: Vec<Option<Node<'a>>>,
    budget: usize,
}

impl<'a> Builder<'_, 'a> {
    fn offset(&mut self, span: Span) -> usize {
        self.body.original(self.cursor.byte(span.start.index()))
    }

    fn error(&self, message: impl Into<String>, offset: usize) -> Malformed {
        Malformed { message: message.into(), pos: self.source.pos(offset) }
    }

    fn scan_error(&mut self, e: &ScanError) -> Malformed {
        let offset = self.body.original(self.cursor.byte(e.marker().index()));
        self.error(e.info(), offset)
    }

    /// Takes one event; gives the root once it is complete.
    fn event(&mut self, event: Event<'a>, span: Span) -> Result<Option<Node<'a>>, Malformed> {
        let offset = self.offset(span);
        let pos = self.source.pos(offset);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let end = self.body.original(self.cursor.byte(span.end.index()));
                self.check_scalar(style, offset..end)?;
                let scalar = self.scalar(text, style, tag.as_deref(), offset..end)?;
                self.complete(anchor, Node { value: Value::Scalar(scalar), pos })
            }
            Event::Alias(id) => {
                let node = self.alias(id, offset)?;
                self.complete(0, node)
            }
            Event::SequenceStart(anchor, _) => self.open(anchor, pos, offset, false),
            Event::MappingStart(anchor, _) => self.open(anchor, pos, offset, true),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(frame) = self.frames.pop() else {
                    return Ok(None);
                };
                let value = match frame.mapping {
                    None => Value::Sequence(frame.items),
                    Some((entries, _, merged)) => Value::Mapping(merge(entries, merged).with_braces(frame.flow)),
                };
                self.complete(frame.anchor, Node { value, pos: frame.pos })
            }
            _ => Ok(None),
        }
    }

    fn open(&mut self, anchor: usize, pos: Pos, offset: usize, mapping: bool) -> Result<Option<Node<'a>>, Malformed> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH} levels"), offset));
        }
        self.reserve(anchor);
        let flow = self.frames.last().is_some_and(|f| f.flow) || self.opens_flow(offset);
        let mapping = mapping.then(|| (Vec::new(), None, Vec::new()));
        self.frames.push(Frame { anchor, pos, flow, items: Vec::new(), mapping });
        Ok(None)
    }

    /// Whether the list or mapping at `offset` is in flow style; an anchor or tag may stand before its bracket.
    fn opens_flow(&self, offset: usize) -> bool {
        let mut rest = &self.source.text[offset..];
        while rest.starts_with(['&', '!']) {
            rest = rest.trim_start_matches(|c: char| !c.is_whitespace()).trim_start();
        }
        rest.starts_with(['{', '['])
    }

    fn reserve(&mut self, anchor: usize) {
        if anchor >= self.anchors.len() {
            self.anchors.resize(anchor + 1, None);
        }
    }

    fn alias(&mut self, id: usize, offset: usize) -> Result<Node<'a>, Malformed> {
        let Some(node) = self.anchors.get(id).and_then(Option::as_ref) else {
            return Err(self.error("an alias stands inside the value it names", offset));
        };
        let size = node.size();
        let node = node.clone();
        self.budget = match self.budget.checked_sub(size) {
            Some(left) => left,
            None => {
                return Err(
                    self.error(format!("aliases add more than {MAX_ALIAS_NODES} nodes to this document"), offset)
                );
            }
        };
        Ok(node)
    }

    /// Puts a complete node where it belongs: into the innermost open list or mapping, or out as the root.
    fn complete(&mut self, anchor: usize, node: Node<'a>) -> Result<Option<Node<'a>>, Malformed> {
        if anchor > 0 {
            self.reserve(anchor);
            self.anchors[anchor] = Some(node.clone());
        }
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Some(node));
        };
        let Some((entries, waiting, merged)) = &mut frame.mapping else {
            frame.items.push(node);
            return Ok(None);
        };
        let Some(key) = waiting.take() else {
            let Value::Scalar(s) = node.value else {
                return Err(Malformed { message: "a mapping key must be a scalar".into(), pos: node.pos });
            };
            *waiting = Some(Key::new(self.arena.key(s.text), s.style, s.tag, node.pos));
            return Ok(None);
        };
        if key.text == "<<" {
            // Upstream merges what a plain `<<` names, and drops the key in any style.
            if key.style == Style::Plain {
                merged.extend(merge_sources(node)?);
            }
        } else {
            entries.push(Entry { key, value: node });
        }
        Ok(None)
    }

    fn scalar(
        &self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        tag: Option<&EventTag>,
        span: Range<usize>,
    ) -> Result<Scalar<'a>, Malformed> {
        let mut text: &'a str = match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.arena.text(&text),
        };
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let piece_end = self.body.original(self.cursor.text.len());
        if block && span.end >= piece_end && !self.cursor.text.ends_with('\n') {
            // A block that the end of the text cuts off has no last line break.
            text = text.strip_suffix('\n').unwrap_or(text);
        }
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let scalar = Scalar { text, style, tag: Tag::Auto };
        match tag {
            Some(tag) => self.tagged(scalar, tag, span.start),
            None => Ok(scalar),
        }
    }

    /// Refuses scalars that the parser takes and the reference does not.
    fn check_scalar(&self, style: ScalarStyle, span: Range<usize>) -> Result<(), Malformed> {
        let raw = &self.source.text[span.clone()];
        match style {
            ScalarStyle::Plain if self.frames.last().is_some_and(|f| f.flow) => match raw.find('?') {
                Some(at) => Err(self.error("'?' in a plain scalar between brackets: quote the text", span.start + at)),
                None => Ok(()),
            },
            ScalarStyle::DoubleQuoted => {
                let mut escapes = raw.match_indices('\\');
                while let Some((at, _)) = escapes.next() {
                    let code = &raw.as_bytes()[at + 1..];
                    match code {
                        [b'/', ..] => {
                            return Err(self.error("found unknown escape character", span.start + at));
                        }
                        [b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..] => {
                            return Err(self.error("found invalid Unicode character escape code", span.start + at));
                        }
                        [b'\\', ..] => drop(escapes.next()),
                        _ => {}
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Applies a tag. Tags the reference does not know are dropped; `!!binary` is decoded.
    fn tagged(&self, scalar: Scalar<'a>, tag: &EventTag, offset: usize) -> Result<Scalar<'a>, Malformed> {
        if tag.handle == "!" && tag.suffix.is_empty() {
            return Ok(Scalar { tag: Tag::Str, ..scalar });
        }
        let core = tag.is_yaml_core_schema() || tag.handle == "!!";
        let tag = match tag.suffix.as_str() {
            "str" if core => Tag::Str,
            "int" if core => Tag::Int,
            "float" if core => Tag::Float,
            "bool" if core => Tag::Bool,
            "null" if core => Tag::Null,
            "timestamp" if core => Tag::Timestamp,
            "binary" if core => return self.binary(scalar, offset),
            _ => {
                return Ok(Scalar { tag: Tag::Str, ..scalar });
            }
        };
        Ok(Scalar { tag, style: if tag == Tag::Str { scalar.style } else { Style::Plain }, ..scalar })
    }

    fn binary(&self, scalar: Scalar<'a>, offset: usize) -> Result<Scalar<'a>, Malformed> {
        let digits: String = scalar.text.split_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(digits);
        let bytes = bytes.map_err(|_| self.error("!!binary value contains invalid base64 data", offset))?;
        Ok(Scalar::string(self.arena.text(&String::from_utf8_lossy(&bytes))))
    }
}

/// The mappings that a `<<` entry names.
fn merge_sources(node: Node<'_>) -> Result<Vec<Mapping<'_>>, Malformed> {
    let wrong = |pos| Malformed { message: "map merge requires map or sequence of maps as the value".into(), pos };
    let pos = node.pos;
    match node.value {
        Value::Mapping(m) => Ok(vec![m]),
        Value::Sequence(items) => items
            .into_iter()
            .map(|item| match item.value {
                Value::Mapping(m) => Ok(m),
                _ => Err(wrong(item.pos)),
            })
            .collect(),
        Value::Scalar(_) => Err(wrong(pos)),
    }
}

/// A mapping with what it merges: its own keys win, then earlier sources.
fn merge<'a>(entries: Vec<Entry<'a>>, sources: Vec<Mapping<'a>>) -> Mapping<'a> {
    let mut mapping = Mapping::from_entries(entries);
    for source in sources {
        for entry in source.into_entries() {
            if !mapping.contains(entry.key.text) {
                mapping.insert(entry.key, entry.value);
            }
        }
    }
    mapping
}
