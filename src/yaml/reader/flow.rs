//! Lists and mappings in brackets.

use super::property::Properties;
use super::{COMPLEX_KEY, END, LevelKind, NO_TOKEN, Package, Read, Reader, Written};
use crate::{Node, Style, Value, reprint};

/// The tokens that may come next between brackets.
enum Next {
    /// An item, a key or the closing bracket.
    Entry,
    /// The value after the colon of a key.
    Value,
    /// A comma or the closing bracket.
    Separator,
}

/// A scalar or alias whose use is not known yet.
struct Token<'a> {
    node: Node<'a>,
    written: Written,
    is_key: bool,
}

impl<'a, const RARE: bool> Reader<'a, RARE> {
    /// Reads a list or mapping, from its opening bracket to the place after its closing bracket.
    pub(super) fn flow(&mut self, properties: Properties) -> Read<Node<'a>> {
        let outside = self.levels.len();
        let column = self.levels.last().map_or(END, |level| level.column);
        self.open_flow(column, properties)?;
        let mut next = Next::Entry;
        loop {
            self.skip_flow_blanks()?;
            let Some(level) = self.levels.last() else { return Err(self.error(UNCLOSED, self.at)) };
            let (kind, column) = (level.kind, level.column);
            let Some(byte) = self.byte() else { return Err(self.error(unclosed(kind), self.at)) };
            next = match next {
                Next::Entry if closes(kind, byte) => Next::Separator,
                Next::Entry => self.flow_entry(kind, column, byte)?,
                Next::Value => self.flow_value(kind, column, byte)?,
                Next::Separator if kind == LevelKind::FlowPair => {
                    self.close()?;
                    Next::Separator
                }
                Next::Separator if byte == b',' => {
                    self.at += 1;
                    Next::Entry
                }
                Next::Separator if closes(kind, byte) => {
                    self.at += 1;
                    let node = self.take_level()?.unwrap_or_default();
                    if self.levels.len() == outside {
                        return Ok(node);
                    }
                    if self
                        .levels
                        .last()
                        .is_some_and(|level| level.kind == LevelKind::FlowMapping && level.key.is_none())
                    {
                        self.key_in_brackets(node)?
                    } else {
                        self.complete(node, Written::InPlace)?;
                        Next::Separator
                    }
                }
                Next::Separator => return Err(self.error(unclosed(kind), self.at)),
            };
        }
    }

    fn open_flow(&mut self, column: isize, properties: Properties) -> Read<()> {
        let kind = if self.bytes[self.at] == b'[' { LevelKind::FlowSequence } else { LevelKind::FlowMapping };
        self.open(kind, column, self.at, properties)?;
        self.at += 1;
        Ok(())
    }

    /// Reads an item or key. A key without a value gets an empty value.
    fn flow_entry(&mut self, kind: LevelKind, column: isize, byte: u8) -> Read<Next> {
        if byte == b'?' {
            self.at += 1;
            return self.explicit_flow_key(kind, column);
        }
        let start = self.at;
        let mut own = Properties::default();
        let byte = self.flow_properties(&mut own)?;
        if matches!(byte, Some(b'[' | b'{')) {
            if kind == LevelKind::FlowMapping && self.package != Package::V3Text {
                return Err(self.error(COMPLEX_KEY, start));
            }
            self.open_flow(column, own)?;
            return Ok(Next::Entry);
        }
        let token = self.flow_token(start, column, own)?;
        match (kind, token.is_key) {
            (LevelKind::FlowSequence, false) => {
                self.complete(token.node, token.written)?;
                Ok(Next::Separator)
            }
            (LevelKind::FlowSequence, true) => {
                self.open(LevelKind::FlowPair, column, self.at, Properties::default())?;
                self.set_flow_key(token.node)?;
                Ok(Next::Value)
            }
            (_, true) => {
                self.set_flow_key(token.node)?;
                Ok(Next::Value)
            }
            (_, false) => {
                self.set_flow_key(token.node)?;
                self.end_flow_key()?;
                Ok(Next::Separator)
            }
        }
    }

    /// Reads a key after its question mark; such a key may have any length and several lines.
    fn explicit_flow_key(&mut self, kind: LevelKind, column: isize) -> Read<Next> {
        if kind == LevelKind::FlowSequence {
            self.open(LevelKind::FlowPair, column, self.at, Properties::default())?;
        }
        self.skip_flow_blanks()?;
        let start = self.at;
        let mut own = Properties::default();
        let key = match self.flow_properties(&mut own)? {
            Some(b']') if own.is_empty() && kind == LevelKind::FlowSequence => {
                // go-yaml's parser drops the token after a `?` without a key. Without its bracket
                // the list never ends.
                return Err(self.error(UNCLOSED, start));
            }
            Some(b',' | b':' | b']' | b'}') if own.is_empty() => {
                if kind == LevelKind::FlowSequence {
                    // go-yaml's parser drops this token as well: a comma, or the colon of the pair.
                    self.at += 1;
                }
                self.empty()
            }
            Some(b'[' | b'{') => return Err(self.error(COMPLEX_KEY, start)),
            _ => self.flow_token(usize::MAX, column, own)?.node,
        };
        self.set_flow_key(key)?;
        self.skip_flow_blanks()?;
        if self.byte() == Some(b':') {
            self.at += 1;
            return Ok(Next::Value);
        }
        self.end_flow_key()?;
        Ok(Next::Separator)
    }

    /// Reads the value after a colon.
    fn flow_value(&mut self, kind: LevelKind, column: isize, byte: u8) -> Read<Next> {
        let end = if kind == LevelKind::FlowPair { b']' } else { b'}' };
        if byte == b',' || byte == end {
            self.end_flow_key()?;
            return Ok(Next::Separator);
        }
        let mut own = Properties::default();
        if let Some(b'[' | b'{') = self.flow_properties(&mut own)? {
            self.open_flow(column, own)?;
            return Ok(Next::Entry);
        }
        let token = self.flow_token(usize::MAX, column, own)?;
        self.complete(token.node, token.written)?;
        Ok(Next::Separator)
    }

    /// Reads the properties of a node. Returns the byte after them.
    fn flow_properties(&mut self, own: &mut Properties) -> Read<Option<u8>> {
        while matches!(self.byte(), Some(b'&' | b'!')) {
            self.property(own)?;
            self.skip_flow_blanks()?;
        }
        Ok(self.byte())
    }

    /// Reads a scalar or alias. It is a key if a colon follows on its line, near `start`.
    /// [`usize::MAX`] for `start` means that it cannot be a key.
    fn flow_token(&mut self, start: usize, column: isize, own: Properties) -> Read<Token<'a>> {
        let from = self.at;
        let pos = self.source.pos(from);
        let mut written = Written::InPlace;
        let mut node = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => {
                let text = self.quoted(quote)?;
                self.scalar(text, Style::of_quote(quote), own, pos)?
            }
            Some(b'*') if own.is_empty() => {
                written = Written::Alias;
                self.alias()?
            }
            Some(_) if self.starts_flow_plain() => {
                let text = self.plain_flow(column)?;
                self.scalar(text, Style::Plain, own, pos)?
            }
            _ if !own.is_empty() => self.scalar("", Style::Plain, own, pos)?,
            Some(b'%' | b'@' | b'`') => return Err(self.error(NO_TOKEN, from)),
            _ => return Err(self.error("did not find expected node content", from)),
        };
        let end = self.at;
        self.skip_blanks();
        let is_key = start != usize::MAX && self.byte() == Some(b':') && self.is_near(start, self.at);
        self.at = if is_key { self.at + 1 } else { end };
        if let Value::Scalar(s) = &mut node.value
            && is_key
            && reprint::is_time_in_braces(s, true)
        {
            // Upstream's printer quotes a colon in braces, and a key is treated as if it had been
            // printed.
            s.style = Style::Single;
        }
        Ok(Token { node, written, is_key })
    }

    /// Reads the rest of an entry whose key is a list or a mapping, from its closing bracket.
    fn key_in_brackets(&mut self, key: Node<'a>) -> Read<Next> {
        let start = self.source.offset(key.pos());
        self.set_flow_key(key)?;
        let end = self.at;
        self.skip_blanks();
        if self.byte() == Some(b':') && start.is_some_and(|start| self.is_near(start, self.at)) {
            self.at += 1;
            return Ok(Next::Value);
        }
        self.at = end;
        self.end_flow_key()?;
        Ok(Next::Separator)
    }

    fn set_flow_key(&mut self, node: Node<'a>) -> Read<()> {
        let key = self.key_of(node)?;
        self.set_key(key);
        Ok(())
    }

    /// Gives an empty value to the key that waits for its value.
    fn end_flow_key(&mut self) -> Read<()> {
        let empty = self.empty();
        self.complete(empty, Written::InPlace)
    }

    /// Skips blanks, comments and line breaks.
    pub(super) fn skip_flow_blanks(&mut self) -> Read<()> {
        loop {
            match self.byte() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'#') => self.at = self.line_end(self.at),
                Some(b) => match self.break_len(self.at) {
                    0 if self.at > self.line => return Ok(()),
                    0 if self.at_document_end() && (b != b'-' || self.starts_marker(b"---")) => {
                        return Err(self.error("did not find expected ',' or a closing bracket", self.at));
                    }
                    0 => return Ok(()),
                    n => {
                        self.at += n;
                        self.line = self.at;
                    }
                },
                None => return Ok(()),
            }
        }
    }
}

const UNCLOSED: &str = "did not find expected ',' or ']'";

fn closes(kind: LevelKind, byte: u8) -> bool {
    match kind {
        LevelKind::FlowSequence => byte == b']',
        LevelKind::FlowMapping => byte == b'}',
        _ => false,
    }
}

fn unclosed(kind: LevelKind) -> &'static str {
    if kind == LevelKind::FlowMapping { "did not find expected ',' or '}'" } else { UNCLOSED }
}
