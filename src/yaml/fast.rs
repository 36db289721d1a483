//! The first layer of the reader: the grammar that nearly all Kubernetes files keep to, in one pass.
//!
//! Block mappings and lists, plain and quoted scalars on one line, literal blocks, flow collections and comments.
//! Whatever else turns up, an error included, is [`Unusual`]: the caller then reads the same text with [`super::full`].
//! This layer never reports an error, so it must refuse whatever it does not read exactly as the reference does.

use super::{Arena, Entry, Key, Mapping, Node, Scalar, Source, Style, Tag, Value};
use memchr::{memchr, memchr_iter, memchr2, memchr3};
use std::ops::Range;

/// The text holds something that this layer does not read.
#[derive(Debug)]
pub struct Unusual;

type Read<T> = Result<T, Unusual>;

/// Deeper texts go to the full parser, which does not recurse.
const MAX_DEPTH: usize = 64;

/// How far a plain text is searched byte by byte.
const NEAR: usize = 24;

/// Longer keys are refused by the reference.
const MAX_KEY: usize = 1_000;

/// The indentation of the end of the text: less than any.
const END: isize = -1;

/// Reads a piece of a source that holds one document; `None` if it holds none. O(text).
pub fn parse<'a>(arena: &'a Arena, source: &'a Source, piece: Range<usize>) -> Read<Option<Node<'a>>> {
    let text = &source.text[..piece.end];
    if !is_ordinary(&text[piece.start..]) {
        return Err(Unusual);
    }
    let mut reader = Reader {
        arena,
        source,
        text,
        bytes: text.as_bytes(),
        at: piece.start,
        indent: END,
        has_tabs: memchr(b'\t', &text.as_bytes()[piece.start..]).is_some(),
        depth: 0,
        entries: Vec::new(),
        items: Vec::new(),
        scratch: String::new(),
    };
    reader.document()
}

/// Whether every character is one that needs no thought: no controls, no exotic line breaks, no byte order mark.
fn is_ordinary(text: &str) -> bool {
    let bytes = text.as_bytes();
    let control = |b: u8| (b < 0x20 && b != b'\n' && b != b'\t') || b == 0x7f;
    if bytes.iter().fold(false, |found, &b| found | control(b)) {
        return false;
    }
    if text.is_ascii() {
        return true;
    }
    let after = |i: usize, k: usize| bytes.get(i + k).copied().unwrap_or(0);
    memchr_iter(0xc2, bytes).all(|i| after(i, 1) >= 0xa0)
        && memchr_iter(0xe2, bytes).all(|i| after(i, 1) != 0x80 || !matches!(after(i, 2), 0xa8 | 0xa9))
        && memchr_iter(0xef, bytes).all(|i| !matches!((after(i, 1), after(i, 2)), (0xbb, 0xbf) | (0xbf, 0xbe | 0xbf)))
}

/// The state: where we are, and the entries and items of all lists and mappings that are open, on two stacks.
struct Reader<'a> {
    arena: &'a Arena,
    source: &'a Source,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The column of the content at `at`, where `at` is the first content of a line.
    indent: isize,
    has_tabs: bool,
    depth: usize,
    entries: Vec<Entry<'a>>,
    items: Vec<Node<'a>>,
    /// Where a text is put together before the arena gets it in its final size.
    scratch: String,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Read<Option<Node<'a>>> {
        self.next_line()?;
        if self.starts_marker(b"---") {
            self.at += 3;
            self.end_of_line()?;
        }
        if self.indent == END {
            return Ok(None);
        }
        let root = match self.byte() {
            Some(b'{' | b'[') => {
                let root = self.flow()?;
                self.end_of_line()?;
                root
            }
            _ => self.block(self.indent)?,
        };
        if self.indent == END { Ok(Some(root)) } else { Err(Unusual) }
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn byte_after(&self, n: usize) -> Option<u8> {
        self.bytes.get(self.at + n).copied()
    }

    fn is_space_or_end(b: Option<u8>) -> bool {
        matches!(b, None | Some(b' ' | b'\n' | b'\t'))
    }

    fn starts_marker(&self, marker: &[u8; 3]) -> bool {
        self.bytes[self.at..].starts_with(marker) && Self::is_space_or_end(self.byte_after(3))
    }

    /// Whether the text here begins as a document marker does.
    fn starts_like_marker(&self) -> bool {
        let first = self.bytes[self.at];
        matches!(first, b'-' | b'.') && self.byte_after(1) == Some(first) && self.byte_after(2) == Some(first)
    }

    fn skip_spaces(&mut self) {
        while self.byte() == Some(b' ') {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// From the start of a line to the first content of it or of a later one.
    fn next_line(&mut self) -> Read<()> {
        loop {
            let start = self.at;
            self.skip_spaces();
            match self.byte() {
                None => {
                    self.indent = END;
                    return Ok(());
                }
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.skip_line(),
                Some(b'\t') => return Err(Unusual),
                Some(_) => {
                    self.indent = (self.at - start) as isize;
                    return Ok(());
                }
            }
        }
    }

    fn skip_line(&mut self) {
        self.at = memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |n| self.at + n + 1);
    }

    /// Over blanks and a comment to the next content line; anything else on this line is unusual.
    fn end_of_line(&mut self) -> Read<()> {
        let start = self.at;
        self.skip_blanks();
        match self.byte() {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(b'#') if self.at > start => self.skip_line(),
            Some(_) => return Err(Unusual),
        }
        self.next_line()
    }

    /// A block list or mapping whose first entry stands at `at` in column `column`.
    fn block(&mut self, column: isize) -> Read<Node<'a>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unusual);
        }
        let node = if self.at_dash() { self.sequence(column) } else { self.mapping(column) };
        self.depth -= 1;
        node
    }

    fn at_dash(&self) -> bool {
        self.byte() == Some(b'-') && Self::is_space_or_end(self.byte_after(1))
    }

    fn mapping(&mut self, column: isize) -> Read<Node<'a>> {
        let pos = self.source.pos(self.at);
        let mark = self.entries.len();
        loop {
            let key = self.key()?;
            let value = self.value(column, true)?;
            self.entries.push(Entry { key, value });
            if self.indent != column {
                if self.indent > column {
                    return Err(Unusual);
                }
                break;
            }
        }
        let entries = self.entries.drain(mark..).collect();
        Ok(Node { value: Value::Mapping(Mapping::from_entries(entries)), pos })
    }

    fn sequence(&mut self, column: isize) -> Read<Node<'a>> {
        let pos = self.source.pos(self.at);
        let mark = self.items.len();
        while self.indent == column || self.items.len() == mark {
            if !self.at_dash() {
                break;
            }
            self.at += 1;
            let item = self.value(column, false)?;
            self.items.push(item);
        }
        if self.indent > column {
            return Err(Unusual);
        }
        let items = self.items.drain(mark..).collect();
        Ok(Node { value: Value::Sequence(items), pos })
    }

    /// A key up to and including its colon.
    fn key(&mut self) -> Read<Key<'a>> {
        let start = self.at;
        let pos = self.source.pos(start);
        let (text, style) = match self.byte() {
            Some(q @ (b'"' | b'\'')) => (self.quoted(q)?, if q == b'"' { Style::Double } else { Style::Single }),
            _ => {
                if !self.starts_plain() || self.starts_like_marker() {
                    return Err(Unusual);
                }
                let Stop::Colon(end) = self.plain_end()? else {
                    return Err(Unusual);
                };
                self.at = end;
                (self.trimmed(start, end), Style::Plain)
            }
        };
        if text == "<<"
            || text.len() > MAX_KEY
            || self.byte() != Some(b':')
            || !Self::is_space_or_end(self.byte_after(1))
        {
            return Err(Unusual);
        }
        self.at += 1;
        Ok(Key::new(self.arena.key(text), style, Tag::Auto, pos))
    }

    fn trimmed(&self, start: usize, end: usize) -> &'a str {
        self.text[start..end].trim_end_matches(' ')
    }

    /// Whether the byte at `at` may start a plain scalar.
    fn starts_plain(&self) -> bool {
        match self.byte() {
            Some(b'-' | b'?' | b':') => !Self::is_space_or_end(self.byte_after(1)),
            Some(b) => PLAIN_START[b as usize],
            None => false,
        }
    }

    /// Where the plain scalar at `at` ends on its line.
    fn plain_end(&self) -> Read<Stop> {
        let mut i = self.at;
        let stop = loop {
            // Most texts are too short for a vector search to pay.
            let near = &self.bytes[i..self.bytes.len().min(i + NEAR)];
            i += match near.iter().position(|&b| matches!(b, b':' | b'#' | b'\n')) {
                Some(n) => n,
                None => match memchr3(b':', b'#', b'\n', &self.bytes[i + near.len()..]) {
                    Some(n) => near.len() + n,
                    None => break Stop::Line(self.bytes.len()),
                },
            };
            match self.bytes[i] {
                b':' if Self::is_space_or_end(self.bytes.get(i + 1).copied()) => break Stop::Colon(i),
                b'#' if self.bytes[i - 1] == b' ' => break Stop::Line(i),
                b'\n' => break Stop::Line(i),
                _ => i += 1,
            }
        };
        let (Stop::Colon(end) | Stop::Line(end)) = stop;
        if self.has_tabs && memchr(b'\t', &self.bytes[self.at..end]).is_some() {
            return Err(Unusual);
        }
        Ok(stop)
    }

    /// What follows a key's colon or a dash. `parent` is the column of the key or dash; afterwards `at` and `indent`
    /// stand at the next content line.
    fn value(&mut self, parent: isize, in_mapping: bool) -> Read<Node<'a>> {
        let from = self.at;
        if in_mapping {
            self.skip_blanks()
        } else {
            self.skip_spaces()
        }
        let pos = self.source.pos(self.at);
        let scalar = match self.byte() {
            None | Some(b'\n' | b'#') => return self.value_below(from, parent, in_mapping),
            Some(q @ (b'"' | b'\'')) => {
                let start = self.at;
                let text = self.quoted(q)?;
                if self.byte() == Some(b':') {
                    if in_mapping || self.bytes[start..self.at].contains(&b'\n') {
                        return Err(Unusual);
                    }
                    self.at = start;
                    return self.mapping_in_item(parent, from);
                }
                self.end_of_line()?;
                Scalar { text, style: if q == b'"' { Style::Double } else { Style::Single }, tag: Tag::Auto }
            }
            Some(b'|') => self.literal(parent)?,
            Some(b'[' | b'{') => {
                let node = self.flow()?;
                self.end_of_line()?;
                if self.indent > parent {
                    return Err(Unusual);
                }
                return Ok(node);
            }
            Some(b'-') if self.at_dash() && !in_mapping => {
                return self.block(parent + (self.at - from + 1) as isize);
            }
            _ if self.starts_plain() => match self.plain_end()? {
                Stop::Colon(_) if in_mapping => return Err(Unusual),
                Stop::Colon(_) => return self.mapping_in_item(parent, from),
                Stop::Line(end) => {
                    let text = self.trimmed(self.at, end);
                    self.at = end;
                    if self.byte() == Some(b'#') {
                        self.skip_line()
                    } else {
                        self.at += usize::from(end < self.bytes.len())
                    }
                    self.next_line()?;
                    Scalar { text, style: Style::Plain, tag: Tag::Auto }
                }
            },
            _ => return Err(Unusual),
        };
        // A deeper line would continue the scalar, or be an error.
        if self.indent > parent { Err(Unusual) } else { Ok(Node { value: Value::Scalar(scalar), pos }) }
    }

    /// A mapping that starts on the line of its dash. `from` is the place after the dash, `parent` the dash's column.
    fn mapping_in_item(&mut self, parent: isize, from: usize) -> Read<Node<'a>> {
        self.block(parent + (self.at - from + 1) as isize)
    }

    /// The value when nothing but a comment stands on the line of its key or dash.
    fn value_below(&mut self, from: usize, parent: isize, in_mapping: bool) -> Read<Node<'a>> {
        let pos = self.source.pos(from);
        self.at = from;
        self.end_of_line()?;
        if self.indent > parent {
            return self.block(self.indent);
        }
        if in_mapping && self.indent == parent && self.at_dash() {
            return self.block(self.indent);
        }
        Ok(Node { value: Value::Scalar(Scalar::plain("")), pos })
    }

    /// A quoted scalar, from its opening quote to behind its closing one.
    fn quoted(&mut self, quote: u8) -> Read<&'a str> {
        let start = self.at + 1;
        let mut end = start;
        let mut escapes = false;
        loop {
            let found = match quote {
                b'"' => memchr2(b'"', b'\\', &self.bytes[end..]),
                _ => memchr(b'\'', &self.bytes[end..]),
            };
            end += found.ok_or(Unusual)?;
            match (self.bytes[end], self.bytes.get(end + 1)) {
                (b'\\', Some(_)) | (b'\'', Some(b'\'')) => {
                    escapes = true;
                    end += 2;
                }
                (b'\\', None) => return Err(Unusual),
                _ => break,
            }
        }
        let raw = &self.text[start..end];
        self.at = end + 1;
        if memchr2(b'\n', b'\t', raw.as_bytes()).is_some() {
            return Ok(self.arena.text(&fold_lines(raw, quote).ok_or(Unusual)?));
        }
        match (escapes, quote) {
            (false, _) => Ok(raw),
            (true, b'"') => Ok(self.arena.text(&unescape(raw).ok_or(Unusual)?)),
            (true, _) => Ok(self.arena.text(&raw.replace("''", "'"))),
        }
    }

    /// A literal block, from its `|` to the line after it.
    fn literal(&mut self, parent: isize) -> Read<Scalar<'a>> {
        self.at += 1;
        let chomp = self.byte().filter(|b| matches!(b, b'-' | b'+'));
        self.at += usize::from(chomp.is_some());
        let rest = self.at;
        self.skip_spaces();
        match self.byte() {
            Some(b'\n') => self.at += 1,
            Some(b'#') if self.at > rest => self.skip_line(),
            _ => return Err(Unusual),
        }
        let start = self.at;
        let indent = self.literal_indent(parent)?;
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        let mut content_end = 0;
        let mut i = start;
        while i < self.bytes.len() {
            let end = memchr(b'\n', &self.bytes[i..]).map_or(self.bytes.len(), |n| i + n);
            let blanks = self.bytes[i..end].iter().take_while(|&&b| b == b' ').count();
            if blanks < indent && i + blanks < end {
                if self.bytes[i + blanks] == b'\t' {
                    return Err(Unusual);
                }
                break;
            }
            // The last line may lack its break.
            let next = (end + 1).min(self.bytes.len());
            text.push_str(&self.text[(i + indent).min(end)..next]);
            if i + indent < end {
                content_end = text.len() - usize::from(chomp == Some(b'-') && end < next);
            }
            i = next;
        }
        if chomp != Some(b'+') {
            text.truncate(content_end);
        }
        self.at = i;
        self.next_line()?;
        let kept = self.arena.text(&text);
        self.scratch = text;
        Ok(Scalar { text: kept, style: Style::Literal, tag: Tag::Auto })
    }

    /// The indentation of a literal block: that of its first line with content.
    fn literal_indent(&self, parent: isize) -> Read<usize> {
        let mut i = self.at;
        let mut widest_blank = 0;
        while i < self.bytes.len() {
            let blanks = self.bytes[i..].iter().take_while(|&&b| b == b' ').count();
            match self.bytes.get(i + blanks) {
                Some(b'\n') => widest_blank = widest_blank.max(blanks),
                Some(b'\t') | None => return Err(Unusual),
                Some(_) if blanks as isize > parent && widest_blank <= blanks => return Ok(blanks),
                Some(_) => return Err(Unusual),
            }
            i += blanks + 1;
        }
        Err(Unusual)
    }

    /// A flow list or mapping, or a scalar in one.
    fn flow(&mut self) -> Read<Node<'a>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Unusual);
        }
        let pos = self.source.pos(self.at);
        let value = match self.byte() {
            Some(b'[') => {
                let mark = self.items.len();
                self.flow_entries(b']', |reader| {
                    let item = reader.flow()?;
                    reader.items.push(item);
                    Ok(())
                })?;
                Value::Sequence(self.items.drain(mark..).collect())
            }
            Some(b'{') => {
                let mark = self.entries.len();
                self.flow_entries(b'}', Self::flow_entry)?;
                Value::Mapping(Mapping::from_entries(self.entries.drain(mark..).collect()).with_braces(true))
            }
            _ => Value::Scalar(self.flow_scalar()?),
        };
        self.depth -= 1;
        Ok(Node { value, pos })
    }

    /// Entries between brackets, with commas between them.
    fn flow_entries(&mut self, close: u8, mut entry: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.at += 1;
        self.flow_blanks();
        if self.byte() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            entry(self)?;
            self.flow_blanks();
            match self.byte() {
                Some(b',') => self.at += 1,
                Some(b) if b == close => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Unusual),
            }
            self.flow_blanks();
        }
    }

    fn flow_entry(&mut self) -> Read<()> {
        let from = self.at;
        let pos = self.source.pos(from);
        let key = self.flow_scalar()?;
        let is_one_line = !self.bytes[from..self.at].contains(&b'\n');
        if self.byte() != Some(b':') || !is_one_line || key.text == "<<" || key.text.len() > MAX_KEY {
            return Err(Unusual);
        }
        self.at += 1;
        let quoted = key.style != Style::Plain;
        if !quoted && !Self::is_space_or_end(self.byte()) {
            return Err(Unusual);
        }
        self.flow_blanks();
        let value = self.flow()?;
        let key = Key::new(self.arena.key(key.text), key.style, Tag::Auto, pos);
        self.entries.push(Entry { key, value });
        Ok(())
    }

    fn flow_blanks(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\n')) {
            self.at += 1;
        }
    }

    /// A quoted scalar, or a plain one of letters, digits and harmless punctuation.
    fn flow_scalar(&mut self) -> Read<Scalar<'a>> {
        if let Some(q @ (b'"' | b'\'')) = self.byte() {
            let text = self.quoted(q)?;
            return Ok(Scalar { text, style: if q == b'"' { Style::Double } else { Style::Single }, tag: Tag::Auto });
        }
        let start = self.at;
        if !self.byte().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'/' | b'.' | b'-')) {
            return Err(Unusual);
        }
        if self.starts_like_marker() {
            return Err(Unusual);
        }
        while let Some(b) = self.byte() {
            let inner_colon = b == b':' && self.byte_after(1).is_some_and(|n| n.is_ascii_alphanumeric() || n == b'/');
            if !(b.is_ascii_alphanumeric()
                || matches!(b, b'_' | b'/' | b'.' | b'-' | b' ' | b'=' | b'+' | b'$')
                || inner_colon)
            {
                break;
            }
            self.at += 1;
        }
        let text = self.trimmed(start, self.at);
        match self.byte() {
            Some(b',' | b']' | b'}' | b':') if text != "-" => Ok(Scalar { text, style: Style::Plain, tag: Tag::Auto }),
            _ => Err(Unusual),
        }
    }
}

/// Where a plain scalar ends: at the colon of a key, or with its line (at a comment, a line break or the text's end).
enum Stop {
    Colon(usize),
    Line(usize),
}

/// Bytes that may start a plain scalar whatever follows them.
const PLAIN_START: [bool; 256] = {
    let mut t = [true; 256];
    let indicators = b" \t\n-?:,[]{}#&*!|>'\"%@`";
    let mut i = 0;
    while i < indicators.len() {
        t[indicators[i] as usize] = false;
        i += 1;
    }
    t
};

/// A quoted scalar of several lines: blanks around a line break go, one break becomes a space, more become one less. In
/// double quotes a backslash before a break joins the lines. Where the lines start does not matter, as upstream. `None`
/// for what needs a closer look.
fn fold_lines(raw: &str, quote: u8) -> Option<String> {
    let blank = [' ', '\t'];
    let odd_backslashes = |line: &str| quote == b'"' && (line.len() - line.trim_end_matches('\\').len()) % 2 == 1;
    let mut out = String::with_capacity(raw.len());
    let mut lines = raw.split('\n').enumerate().peekable();
    let (mut breaks, mut joined) = (0, false);
    while let Some((i, line)) = lines.next() {
        if i > 0 && (line.starts_with("---") || line.starts_with("...")) {
            return None;
        }
        let is_last = lines.peek().is_none();
        let mut piece = if i > 0 { line.trim_start_matches(blank) } else { line };
        let joins = !is_last && odd_backslashes(piece);
        if joins {
            piece = &piece[..piece.len() - 1];
        } else if !is_last {
            piece = piece.trim_end_matches(blank);
            if odd_backslashes(piece) {
                return None;
            }
        }
        if piece.is_empty() && !is_last && i > 0 && !joins {
            breaks += 1;
            continue;
        }
        match (i, joined, breaks) {
            (0, ..) => {}
            (_, true, n) => out.extend(std::iter::repeat_n('\n', n)),
            (_, false, 0) => out.push(' '),
            (_, false, n) => out.extend(std::iter::repeat_n('\n', n)),
        }
        match quote {
            b'"' => out.push_str(&unescape(piece)?),
            _ => out.push_str(&piece.replace("''", "'")),
        }
        (breaks, joined) = (0, joins);
    }
    Some(out)
}

/// Resolves the escapes of a double-quoted scalar on one line; `None` for an escape that is not valid here.
fn unescape(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(i) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..i]);
        let code = *rest.as_bytes().get(i + 1)?;
        rest = rest.get(i + 2..)?;
        let digits = match code {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => 0,
        };
        out.push(match code {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' => '\t',
            b'n' => '\n',
            b'v' => '\x0b',
            b'f' => '\x0c',
            b'r' => '\r',
            b'e' => '\x1b',
            b' ' => ' ',
            b'"' => '"',
            b'\'' => '\'',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' | b'u' | b'U' => {
                let hex = rest.get(..digits).filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?;
                rest = &rest[digits..];
                char::from_u32(u32::from_str_radix(hex, 16).ok()?)?
            }
            _ => return None,
        });
    }
    out.push_str(rest);
    Some(out)
}
