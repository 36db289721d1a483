//! Blocks: mappings and lists that are held together by their indentation.

use super::property::Properties;
use super::scalar::Stop;
use super::{COMPLEX_KEY, LevelKind, Malformed, NO_COLON, NO_CONTENT, NO_TOKEN, Read, Reader, Written};
use crate::{Key, Node, Scalar, Style, Tag};
use std::cmp::Ordering;

/// The token before a node of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// No token: the node is the root.
    Nothing,
    /// The marker `---`.
    Marker,
    /// The dash of a list.
    Dash,
    /// The `?` of an explicit key, or the `:` of its value.
    Indicator,
    /// The colon of an implicit key.
    Colon,
    /// The indentation of a mapping: the node is a key.
    Entry,
}

impl Before {
    /// Returns true if a list may have its dashes in the parent's column.
    fn takes_list(self) -> bool {
        matches!(self, Before::Indicator | Before::Colon)
    }
}

/// The position of a node in a block.
#[derive(Clone, Copy)]
pub(super) struct NodePlace {
    /// The indentation of the block around it.
    parent: isize,
    before: Before,
    /// True if a mapping or list may start on the line.
    may_be_key: bool,
}

impl NodePlace {
    pub(super) fn after(before: Before, parent: isize) -> NodePlace {
        NodePlace { parent, before, may_be_key: !matches!(before, Before::Marker | Before::Colon) }
    }
}

/// A scalar of one line whose use is not known yet.
struct Token<'a> {
    text: &'a str,
    style: Style,
    /// The offset at which it starts.
    from: usize,
}

impl<'a, const RARE: bool> Reader<'a, RARE> {
    /// Reads entries until the root is complete.
    pub(super) fn blocks(&mut self) -> Read<()> {
        while let Some(level) = self.levels.last_mut() {
            let (kind, column) = (level.kind, level.column);
            match self.indent.cmp(&column) {
                Ordering::Equal if kind == LevelKind::BlockMapping => match level.key.take() {
                    None => self.entry(column)?,
                    Some(key) if std::mem::take(&mut level.has_colon) => self.value(column, key)?,
                    Some(key) => self.entry_after_explicit_key(column, key)?,
                },
                Ordering::Less => self.close()?,
                Ordering::Greater => return Err(self.misplaced(kind)),
                Ordering::Equal if self.at_indicator(b'-') => {
                    self.at += 1;
                    self.node(NodePlace::after(Before::Dash, column), Properties::default())?;
                }
                Ordering::Equal if kind == LevelKind::IndentlessSequence => self.close()?,
                Ordering::Equal => return Err(self.misplaced(kind)),
            }
        }
        Ok(())
    }

    /// The error for a token that is in the place of the next entry of a block, but cannot be one.
    #[cold]
    fn misplaced(&self, kind: LevelKind) -> Box<Malformed> {
        let message = match kind {
            LevelKind::BlockSequence => "did not find expected '-' indicator",
            _ => "did not find expected key",
        };
        self.error(message, self.at)
    }

    /// Reads an entry of the innermost block mapping.
    #[inline(always)]
    fn entry(&mut self, column: isize) -> Read<()> {
        let start = self.at;
        if !self.starts_plain() {
            return self.rare_entry(column);
        }
        match self.plain_key() {
            Some(text) => {
                let key = self.texts.key(text, Style::Plain, Tag::Auto, self.source.pos(start));
                self.value(column, key)
            }
            None => Err(self.error(NO_COLON, start)),
        }
    }

    /// Reads an entry whose key is quoted, explicit, or has properties.
    fn rare_entry(&mut self, column: isize) -> Read<()> {
        match self.bytes[self.at] {
            b'?' if self.at_indicator(b'?') => {
                self.at += 1;
                self.node(NodePlace::after(Before::Indicator, column), Properties::default())
            }
            b':' if self.at_indicator(b':') => Err(self.misplaced(LevelKind::BlockMapping)),
            _ => self.node(NodePlace::after(Before::Entry, column), Properties::default()),
        }
    }

    /// Reads the token after an explicit key: the colon before its value, or another entry.
    fn entry_after_explicit_key(&mut self, column: isize, key: Key<'a>) -> Read<()> {
        if self.at_indicator(b':') {
            self.at += 1;
            self.set_key(key);
            return self.node(NodePlace::after(Before::Indicator, column), Properties::default());
        }
        self.push_entry(key, self.empty(), Written::InPlace)?;
        self.entry(column)
    }

    /// Keeps the key of the entry whose value comes next.
    #[inline(always)]
    pub(super) fn set_key(&mut self, key: Key<'a>) {
        if let Some(level) = self.levels.last_mut() {
            level.key = Some(key);
        }
    }

    /// Reads the plain key at `at`, with its colon; `None` if the text is not a key.
    #[inline(always)]
    fn plain_key(&mut self) -> Option<&'a str> {
        let start = self.at;
        let Stop::Colon(end) = self.plain_line() else { return None };
        self.at = end;
        if !self.is_near(start, end) {
            return None;
        }
        self.at += 1;
        Some(self.trimmed(start, end))
    }

    /// Skips the colon of a key that started at `start`. Returns false if the colon is missing, on
    /// another line, or too far away.
    fn take_colon(&mut self, start: usize) -> bool {
        let end = self.at;
        self.skip_blanks();
        let is_key = self.at_indicator(b':') && self.is_near(start, self.at);
        self.at = if is_key { self.at + 1 } else { end };
        is_key
    }

    /// Reads the value of an implicit key; `at` is after its colon.
    #[inline(always)]
    fn value(&mut self, column: isize, key: Key<'a>) -> Read<()> {
        self.skip_blanks();
        let start = self.at;
        let scalar = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => {
                let text = self.quoted(quote)?;
                self.end_of_line()?;
                Scalar::new(text, Style::of_quote(quote), Tag::Auto)
            }
            Some(b'|' | b'>') => self.block_scalar(column)?,
            Some(_) if self.starts_plain() => Scalar::plain(self.plain_block(column)?),
            _ => {
                self.set_key(key);
                return self.value_below(column);
            }
        };
        let node = Node::new(scalar, self.source.pos(start));
        self.push_entry(key, node, Written::InPlace)
    }

    /// Reads the value of an implicit key that is not a scalar on the key's line.
    #[inline]
    fn value_below(&mut self, column: isize) -> Read<()> {
        let mut place = NodePlace::after(Before::Colon, column);
        if self.byte() != Some(b'\n') {
            return self.node(place, Properties::default());
        }
        let start = self.at;
        self.at += 1;
        self.next_line()?;
        if self.indent > column && self.starts_plain() {
            place.may_be_key = true;
            return self.content(self.at, place, Properties::default(), Properties::default());
        }
        self.node_below(start, place, Properties::default())
    }

    /// Reads a node of a block; `at` is after the indicator that announces it, or after its
    /// properties on earlier lines. It may have more properties on this line.
    pub(super) fn node(&mut self, place: NodePlace, outer: Properties) -> Read<()> {
        self.skip_to_content(place);
        let start = self.at;
        let mut own = Properties::default();
        while matches!(self.byte(), Some(b'&' | b'!')) {
            self.property(&mut own)?;
            self.skip_blanks();
        }
        if !self.at_line_end() {
            return self.content(start, place, outer, own);
        }
        if place.before == Before::Entry {
            return Err(self.error(NO_COLON, start));
        }
        let outer = self.both(outer, own, start)?;
        self.end_of_line()?;
        self.node_below(start, place, outer)
    }

    /// Reads a node of a block, at the first token of a line below the one that announces it.
    /// `start` is the place on that line where the node could have been.
    fn node_below(&mut self, start: usize, mut place: NodePlace, outer: Properties) -> Read<()> {
        if self.indent == place.parent && matches!(self.byte(), Some(b'|' | b'>')) && outer.is_empty() {
            // A block scalar cannot be a key, so it may start further left than other values.
            return self.content(self.at, place, outer, Properties::default());
        }
        if self.indent <= place.parent {
            if place.before.takes_list() && self.indent == place.parent && self.at_indicator(b'-') {
                return self.open(LevelKind::IndentlessSequence, place.parent, self.at, outer);
            }
            let empty = self.scalar("", Style::Plain, outer, self.source.pos(start))?;
            return self.complete(empty, Written::InPlace);
        }
        place.may_be_key = true;
        self.node(place, outer)
    }

    /// Skips blanks. A tab is allowed if no key can start here, or before a comment.
    fn skip_to_content(&mut self, place: NodePlace) {
        let start = self.at;
        self.skip_blanks();
        if self.has_tabs && place.may_be_key && (!place.before.takes_list() || self.byte() != Some(b'#')) {
            self.at = start;
            self.skip_spaces();
        }
    }

    /// Reads a node whose first token is on this line. `outer` are the properties on earlier lines,
    /// `own` those on this line, which start at `start`.
    fn content(&mut self, start: usize, place: NodePlace, outer: Properties, own: Properties) -> Read<()> {
        let from = self.at;
        if !self.starts_plain() {
            return self.rare_content(start, place, outer, own);
        }
        match self.plain_line() {
            Stop::Colon(end) if place.may_be_key && self.is_near(start, end) => {
                self.at = end + 1;
                let token = Token { text: self.trimmed(from, end), style: Style::Plain, from };
                let key = self.key(token, own)?;
                self.first_entry(start, place, outer, key)
            }
            _ if place.before == Before::Entry => Err(self.error(NO_COLON, start)),
            _ => {
                let both = self.both(outer, own, from)?;
                let text = self.plain_block(place.parent)?;
                let node = self.scalar(text, Style::Plain, both, self.source.pos(from))?;
                self.complete(node, Written::InPlace)
            }
        }
    }

    /// Reads a node whose first token is not a plain text.
    fn rare_content(&mut self, start: usize, place: NodePlace, outer: Properties, own: Properties) -> Read<()> {
        let from = self.at;
        let (text, style) = match self.bytes[from] {
            b'-' | b'?' => return self.open_block(start, place, outer, own),
            b':' if !own.is_empty() => ("", Style::Plain),
            quote @ (b'"' | b'\'') => (self.quoted(quote)?, Style::of_quote(quote)),
            b'*' => return self.alias_content(start, place, outer, own),
            b'[' | b'{' if place.before != Before::Entry => {
                let both = self.both(outer, own, from)?;
                let node = self.flow(both)?;
                if place.may_be_key && self.take_colon(start) {
                    return Err(self.error(COMPLEX_KEY, start));
                }
                self.root_key = place.may_be_key.then_some(start);
                self.complete(node, Written::InPlace)?;
                return self.end_of_line();
            }
            b'|' | b'>' if place.before != Before::Entry => {
                let both = self.both(outer, own, from)?;
                let scalar = self.block_scalar(place.parent)?;
                let node = self.scalar(scalar.text, scalar.style, both, self.source.pos(from))?;
                return self.complete(node, Written::InPlace);
            }
            b':' => return Err(self.misplaced(LevelKind::BlockMapping)),
            b',' | b']' | b'}' | b'[' | b'{' | b'|' | b'>' => return Err(self.error(NO_CONTENT, from)),
            _ => return Err(self.error(NO_TOKEN, from)),
        };
        if place.may_be_key && self.take_colon(start) {
            let key = self.key(Token { text, style, from }, own)?;
            return self.first_entry(start, place, outer, key);
        }
        if place.before == Before::Entry {
            return Err(self.error(NO_COLON, start));
        }
        let both = self.both(outer, own, from)?;
        let node = self.scalar(text, style, both, self.source.pos(from))?;
        self.complete(node, Written::InPlace)?;
        self.end_of_line()
    }

    /// Opens a list, or a mapping with an explicit key, whose indicator is at `at`.
    fn open_block(&mut self, start: usize, place: NodePlace, outer: Properties, own: Properties) -> Read<()> {
        let (kind, what) = match self.bytes[self.at] {
            b'-' => (LevelKind::BlockSequence, "block sequence entries"),
            _ => (LevelKind::BlockMapping, "mapping keys"),
        };
        if place.before == Before::Entry {
            return Err(self.misplaced(LevelKind::BlockMapping));
        }
        if !place.may_be_key || !own.is_empty() {
            return Err(self.error(format!("{what} are not allowed in this context"), self.at));
        }
        self.indent = (start - self.line) as isize;
        self.open(kind, self.indent, self.at, outer)
    }

    /// Reads an alias, as a key or a value. Properties of an alias are an error.
    fn alias_content(&mut self, start: usize, place: NodePlace, outer: Properties, own: Properties) -> Read<()> {
        let from = self.at;
        let node = self.alias()?;
        if place.may_be_key && self.take_colon(start) {
            if !own.is_empty() {
                return Err(self.error("did not find expected key", from));
            }
            let key = self.key_of(node)?;
            return self.first_entry(start, place, outer, key);
        }
        if place.before == Before::Entry {
            return Err(self.error(NO_COLON, start));
        }
        if !own.is_empty() || !outer.is_empty() {
            return Err(self.error(NO_CONTENT, from));
        }
        self.complete(node, Written::Alias)?;
        self.end_of_line()
    }

    /// Starts an entry whose colon was read: an entry whose key has properties, or the first entry
    /// of a mapping that starts at `start`.
    #[inline(always)]
    fn first_entry(&mut self, start: usize, place: NodePlace, properties: Properties, key: Key<'a>) -> Read<()> {
        if place.before == Before::Entry {
            return self.value(place.parent, key);
        }
        // The loop over blocks reads the value, so that nesting does not nest calls.
        self.indent = (start - self.line) as isize;
        self.open(LevelKind::BlockMapping, self.indent, start, properties)?;
        if let Some(level) = self.levels.last_mut() {
            (level.key, level.has_colon) = (Some(key), true);
        }
        Ok(())
    }

    /// A scalar as a key.
    #[inline(always)]
    fn key(&mut self, token: Token<'a>, own: Properties) -> Read<Key<'a>> {
        let pos = self.source.pos(token.from);
        if own.is_empty() {
            return Ok(self.texts.key(token.text, token.style, Tag::Auto, pos));
        }
        let node = self.scalar(token.text, token.style, own, pos)?;
        self.key_of(node)
    }

    /// Joins the properties on two lines before one node.
    #[inline(always)]
    fn both(&self, outer: Properties, own: Properties, from: usize) -> Read<Properties> {
        outer.and(own).ok_or_else(|| self.error(NO_CONTENT, from))
    }
}
