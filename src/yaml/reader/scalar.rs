//! Texts: plain, quoted and block scalars, and the folding of their line breaks.

use super::characters::PLAIN_START;
use super::{END, NO_VALUE, Read, Reader, Scalar, Style, Tag};
use crate::bytes::{each, zeros};
use memchr::{memchr, memchr2, memchr3};

/// The number of words of a plain text that are searched one by one, before a search with vectors
/// is faster.
const NEAR: usize = 4;

/// The end of the plain text of a line: at the colon of a key, or at the end of the line, at a
/// comment or at the end of the document.
pub(super) enum Stop {
    Colon(usize),
    Line(usize),
}

impl Stop {
    fn offset(&self) -> usize {
        match *self {
            Stop::Colon(end) | Stop::Line(end) => end,
        }
    }
}

/// The treatment of the line breaks at the end of a block scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Clip,
    Strip,
    Keep,
}

impl<'a, const RARE: bool> Reader<'a, RARE> {
    /// The text between two offsets without the blanks at its end.
    #[inline(always)]
    pub(super) fn trimmed(&self, start: usize, mut end: usize) -> &'a str {
        while end > start && matches!(self.bytes[end - 1], b' ' | b'\t') {
            end -= 1;
        }
        &self.text[start..end]
    }

    /// Finds the end of the plain text at `at` on its line, in a block.
    #[inline(always)]
    pub(super) fn plain_line(&self) -> Stop {
        let mut i = self.at;
        let end = if RARE { self.line_end(i) } else { self.bytes.len() };
        loop {
            i = match find_plain_stop(&self.bytes[..end], i) {
                Some(i) => i,
                None => return Stop::Line(end),
            };
            match self.bytes[i] {
                b':' if self.is_blank_or_end(i + 1) => return Stop::Colon(i),
                b'#' if matches!(self.bytes[i - 1], b' ' | b'\t') => return Stop::Line(i),
                b'\n' => return Stop::Line(i),
                _ => i += 1,
            }
        }
    }

    /// Reads a plain scalar in a block with the indentation `parent`, from its first character to
    /// the next token.
    #[inline(always)]
    pub(super) fn plain_block(&mut self, parent: isize) -> Read<&'a str> {
        let start = self.at;
        if let Stop::Line(end) = self.plain_line()
            && self.next_entry(end, parent)
        {
            return Ok(self.trimmed(start, end));
        }
        let line = self.line;
        let text = self.plain_lines(parent)?;
        let is_deeper = (self.at - self.line) as isize > parent;
        if self.at_indicator(b':') && is_deeper {
            return Err(self.error(NO_VALUE, self.at));
        }
        if self.line > line {
            self.settle()?
        } else {
            self.end_of_line()?
        }
        Ok(text)
    }

    /// If a line ends at `end` and the next one begins with an entry of an open block, as most do,
    /// moves to the entry. Returns true if it has moved.
    fn next_entry(&mut self, end: usize, parent: isize) -> bool {
        if RARE || self.bytes.get(end) != Some(&b'\n') {
            return false;
        }
        let line = end + 1;
        let mut at = line;
        while self.bytes[at..].first_chunk() == Some(b"        ") {
            at += 8;
        }
        while self.bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        let column = (at - line) as isize;
        let is_entry = column <= parent && !matches!(self.bytes.get(at), None | Some(b'\n' | b'\t' | b'#'));
        if is_entry {
            (self.line, self.at, self.indent) = (line, at, column);
            if column == 0 && self.at_document_end() {
                self.indent = END;
            }
        }
        is_entry
    }

    /// Reads the lines of a plain scalar in a block. Afterwards `at` is at a comment, at the colon
    /// of a key, at the end, or at the first character of a line that does not belong to the
    /// scalar.
    pub(super) fn plain_lines(&mut self, parent: isize) -> Read<&'a str> {
        let start = self.at;
        let end = self.plain_line().offset();
        let text = self.trimmed(start, end);
        self.at = end;
        if self.break_len(end) == 0 {
            return Ok(text);
        }
        let mut folded: Option<String> = None;
        while self.break_len(self.at) > 0 {
            let gap = self.at;
            self.skip_gap(parent + 1)?;
            let from = self.at;
            let column = (from - self.line) as isize;
            let is_over =
                column <= parent || matches!(self.byte(), None | Some(b'#')) || (column == 0 && self.at_marker());
            if is_over || self.at_indicator(b':') {
                break;
            }
            let end = self.plain_line().offset();
            let out = folded.get_or_insert_with(|| {
                let mut out = std::mem::take(&mut self.scratch);
                out.clear();
                out.push_str(text);
                out
            });
            self.push_gap(out, gap, from, false);
            out.push_str(self.trimmed(from, end));
            self.at = end;
        }
        Ok(match folded {
            None => text,
            Some(out) => self.kept(out),
        })
    }

    /// Copies a text from the scratch memory.
    fn kept(&mut self, out: String) -> &'a str {
        let kept = self.texts.text(&out);
        self.scratch = out;
        kept
    }

    fn at_marker(&self) -> bool {
        self.starts_marker(b"---") || self.starts_marker(b"...")
    }

    /// Finds the next token; `at` is at the first character of a line that does not continue a
    /// plain scalar.
    fn settle(&mut self) -> Read<()> {
        match self.byte() {
            None => self.indent = END,
            Some(b'#') => {
                self.skip_comments();
                return self.next_line();
            }
            Some(_) => {
                self.indent = (self.at - self.line) as isize;
                if self.indent == 0 && self.at_document_end() {
                    self.indent = END;
                }
            }
        }
        Ok(())
    }

    /// Skips all blanks and line breaks from a line break inside a plain scalar on. A tab left of
    /// `column` is an error.
    pub(super) fn skip_gap(&mut self, column: isize) -> Read<()> {
        loop {
            match self.byte() {
                Some(b' ') => self.at += 1,
                Some(b'\t') if ((self.at - self.line) as isize) < column => {
                    return Err(self.error("found a tab character that violates indentation", self.at));
                }
                Some(b'\t') => self.at += 1,
                _ => match self.break_len(self.at) {
                    0 => return Ok(()),
                    n => {
                        self.at += n;
                        self.line = self.at;
                    }
                },
            }
        }
    }

    /// Writes the folded line breaks between two offsets: one becomes a space, several become one
    /// less. If the first one is escaped, nothing is written for it.
    pub(super) fn push_gap(&self, out: &mut String, from: usize, to: usize, is_escaped: bool) {
        let first = self.break_text(from);
        let mut at = from + self.break_len(from);
        if first != "\n" && !is_escaped {
            out.push_str(first);
        }
        let before = out.len();
        while at < to {
            match self.break_len(at) {
                0 => at += 1,
                n => {
                    out.push_str(self.break_text(at));
                    at += n;
                }
            }
        }
        if first == "\n" && out.len() == before && !is_escaped {
            out.push(' ');
        }
    }

    /// Reads a plain scalar between brackets, from its first character to the place after its last
    /// line break.
    pub(super) fn plain_flow(&mut self, column: isize) -> Read<&'a str> {
        let start = self.at;
        let end = self.flow_line();
        let text = self.trimmed(start, end);
        self.at = end;
        if self.break_len(end) == 0 {
            return Ok(text);
        }
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        out.push_str(text);
        while self.break_len(self.at) > 0 {
            let gap = self.at;
            self.skip_gap(column + 1)?;
            let from = self.at;
            let end = self.flow_line();
            let is_marker = from == self.line && self.at_marker();
            if end == from || self.bytes[from] == b'#' || is_marker {
                break;
            }
            self.push_gap(&mut out, gap, from, false);
            out.push_str(self.trimmed(from, end));
            self.at = end;
        }
        Ok(self.kept(out))
    }

    /// The end of the plain text at `at` on its line, between brackets.
    fn flow_line(&self) -> usize {
        let mut i = self.at;
        while i < self.bytes.len() {
            let is_end = match self.bytes[i] {
                b':' => self.is_blank_or_end(i + 1),
                b',' | b'?' | b'[' | b']' | b'{' | b'}' => true,
                b'#' => i > self.at && matches!(self.bytes[i - 1], b' ' | b'\t'),
                _ => self.break_len(i) > 0,
            };
            if is_end {
                break;
            }
            i += 1;
        }
        i
    }

    /// Returns true if a plain scalar may start at `at` between brackets.
    pub(super) fn starts_flow_plain(&self) -> bool {
        match self.byte() {
            Some(b'-') => !self.is_blank_or_end(self.at + 1),
            Some(b) => PLAIN_START[b as usize] && !(RARE && self.break_len(self.at) > 0),
            None => false,
        }
    }

    /// Reads a quoted scalar, from its opening quote to the place after its closing quote.
    pub(super) fn quoted(&mut self, quote: u8) -> Read<&'a str> {
        let opening = self.at;
        let start = opening + 1;
        let mut end = start;
        let mut has_escapes = false;
        loop {
            let found = match quote {
                b'"' => memchr2(b'"', b'\\', &self.bytes[end..]),
                _ => memchr(b'\'', &self.bytes[end..]),
            };
            match found {
                None => return Err(self.error("found unexpected end of stream", opening)),
                Some(n) => end += n,
            }
            match (self.bytes[end], self.bytes.get(end + 1)) {
                (b'\\', _) | (b'\'', Some(b'\'')) => {
                    has_escapes = true;
                    end = self.bytes.len().min(end + 2);
                }
                _ => break,
            }
        }
        self.at = end + 1;
        let raw = &self.text[start..end];
        let has_breaks = if RARE { self.line_end(start) < end } else { memchr(b'\n', raw.as_bytes()).is_some() };
        if has_breaks {
            return self.folded(quote, opening, end);
        }
        match (has_escapes, quote) {
            (false, _) => Ok(raw),
            (true, b'"') => {
                let mut out = std::mem::take(&mut self.scratch);
                out.clear();
                self.unescape(&mut out, start, end)?;
                Ok(self.kept(out))
            }
            (true, _) => Ok(self.texts.text(&raw.replace("''", "'"))),
        }
    }

    /// Reads a quoted scalar of several lines, with quotes at `opening` and `end`. Blanks around a
    /// line break are removed; a backslash before a break joins the lines.
    fn folded(&mut self, quote: u8, opening: usize, end: usize) -> Read<&'a str> {
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        let mut from = opening + 1;
        loop {
            let line_end = self.line_end(from).min(end);
            let is_last = line_end == end;
            let mut to = if is_last { end } else { from + self.trimmed(from, line_end).len() };
            let is_escape = quote == b'"' && !is_last && self.ends_in_escape(from, to);
            // The escape belongs to a blank, or to the line break.
            let joins = is_escape && to == line_end;
            if joins {
                to -= 1;
            } else if is_escape {
                to += 1;
            }
            match quote {
                b'"' => self.unescape(&mut out, from, to)?,
                _ => push_single(&mut out, &self.text[from..to]),
            }
            if is_last {
                break;
            }
            let mut next = line_end;
            while next < end {
                match self.break_len(next) {
                    0 if matches!(self.bytes[next], b' ' | b'\t') => next += 1,
                    0 => break,
                    n => {
                        next += n;
                        self.line = next;
                    }
                }
            }
            if next == self.line && self.marker_at(next) {
                return Err(self.error("found unexpected document indicator", opening));
            }
            self.push_gap(&mut out, line_end, next, joins);
            from = next;
        }
        Ok(self.kept(out))
    }

    fn marker_at(&self, at: usize) -> bool {
        let rest = &self.bytes[at..];
        (rest.starts_with(b"---") || rest.starts_with(b"...")) && self.is_blank_or_end(at + 3)
    }

    /// Returns true if the text between two offsets ends with the backslash of an escape.
    fn ends_in_escape(&self, from: usize, to: usize) -> bool {
        self.bytes[from..to].iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1
    }

    /// Writes the text between two offsets of one line, and resolves its escapes.
    fn unescape(&self, out: &mut String, from: usize, to: usize) -> Read<()> {
        let mut at = from;
        while let Some(n) = memchr(b'\\', &self.bytes[at..to]) {
            out.push_str(&self.text[at..at + n]);
            at += n;
            let code = self.bytes.get(at + 1).copied().unwrap_or(0);
            let digits = match code {
                b'x' => 2,
                b'u' => 4,
                b'U' => 8,
                _ => 0,
            };
            let c = if digits > 0 { self.code_point(at, digits)? } else { self.escaped(at, code)? };
            out.push(c);
            at += 2 + digits;
        }
        out.push_str(&self.text[at.min(to)..to]);
        Ok(())
    }

    fn code_point(&self, at: usize, digits: usize) -> Read<char> {
        let hex = self.text.get(at + 2..at + 2 + digits).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(code) = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
            return Err(self.error("did not find expected hexdecimal number", at));
        };
        char::from_u32(code).ok_or_else(|| self.error("found invalid Unicode character escape code", at))
    }

    fn escaped(&self, at: usize, code: u8) -> Read<char> {
        Ok(match code {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0b',
            b'f' => '\x0c',
            b'r' => '\r',
            b'e' => '\x1b',
            b' ' | b'"' | b'\'' | b'\\' => char::from(code),
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            _ => return Err(self.error("found unknown escape character", at)),
        })
    }

    /// Reads a block scalar in a block with the indentation `parent`, from its indicator to the
    /// next token.
    pub(super) fn block_scalar(&mut self, parent: isize) -> Read<Scalar<'a>> {
        let scalar = self.block_text(parent)?;
        self.next_line()?;
        Ok(scalar)
    }

    /// Reads a block scalar, from its indicator to the start of the first line after it.
    pub(super) fn block_text(&mut self, parent: isize) -> Read<Scalar<'a>> {
        let start = self.at;
        let style = if self.bytes[start] == b'|' { Style::Literal } else { Style::Folded };
        self.at += 1;
        let (chomp, hint) = self.block_header(start)?;
        let indent = match hint {
            0 => self.block_indent(parent, start)?,
            hint => hint + usize::try_from(parent).unwrap_or(0),
        };
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        if style == Style::Literal && !RARE {
            self.literal_lines(&mut out, indent, chomp, start)?;
        } else {
            self.block_lines(&mut out, indent, chomp, start, style)?;
        }
        self.line = self.at;
        Ok(Scalar::new(self.kept(out), style, Tag::Auto))
    }

    /// Reads the rest of the line of a block scalar's indicator: its chomping, and the hint for its
    /// indentation, or 0 without a hint.
    fn block_header(&mut self, start: usize) -> Read<(Chomp, usize)> {
        let (mut chomp, mut hint) = (None, 0);
        for _ in 0..2 {
            match self.byte() {
                Some(b'+') if chomp.is_none() => chomp = Some(Chomp::Keep),
                Some(b'-') if chomp.is_none() => chomp = Some(Chomp::Strip),
                Some(b'0') if hint == 0 => {
                    return Err(self.error("found an indentation indicator equal to 0", start));
                }
                Some(digit @ b'1'..=b'9') if hint == 0 => hint = usize::from(digit - b'0'),
                _ => break,
            }
            self.at += 1;
        }
        self.skip_blanks();
        if !self.at_line_end() {
            return Err(self.error("did not find expected comment or line break", start));
        }
        self.skip_line();
        Ok((chomp.unwrap_or(Chomp::Clip), hint))
    }

    /// The indentation of a block scalar without a hint: that of its first line with content, or
    /// that of a longer blank line before it.
    fn block_indent(&self, parent: isize, start: usize) -> Read<usize> {
        let mut indent = usize::try_from(parent + 1).unwrap_or(0).max(1);
        let mut at = self.at;
        loop {
            let blanks = self.bytes[at..].iter().take_while(|&&b| b == b' ').count();
            indent = indent.max(blanks);
            at += blanks;
            if self.bytes.get(at) == Some(&b'\t') {
                return Err(self.error(TAB, start));
            }
            match self.break_len(at) {
                0 => return Ok(indent),
                n => at += n,
            }
        }
    }

    /// Reads the lines of a literal scalar, if LF is the only line break.
    fn literal_lines(&mut self, out: &mut String, indent: usize, chomp: Chomp, start: usize) -> Read<()> {
        let mut content_end = 0;
        let mut at = self.at;
        while at < self.bytes.len() {
            let end = self.line_end(at);
            let blanks = self.bytes[at..end].iter().take(indent).take_while(|&&b| b == b' ').count();
            if blanks < indent && at + blanks < end {
                if self.bytes[at + blanks] == b'\t' {
                    return Err(self.error(TAB, start));
                }
                break;
            }
            // The last line may lack its break.
            let next = self.bytes.len().min(end + 1);
            out.push_str(&self.text[(at + indent).min(end)..next]);
            if at + indent < end {
                content_end = out.len() - usize::from(chomp == Chomp::Strip && end < next);
            }
            at = next;
        }
        if chomp != Chomp::Keep {
            out.truncate(content_end);
        }
        self.at = at;
        Ok(())
    }

    /// Reads the lines of a block scalar with any line breaks. They are folded if the style says
    /// so: a break between two lines that do not start with a blank becomes a space, and further
    /// breaks stay.
    fn block_lines(&mut self, out: &mut String, indent: usize, chomp: Chomp, start: usize, style: Style) -> Read<()> {
        let mut breaks = String::new();
        let mut last_break = "";
        let mut was_blank = false;
        loop {
            let line = self.at;
            let end = self.line_end(line);
            let blanks = self.bytes[line..end].iter().take(indent).take_while(|&&b| b == b' ').count();
            let at = line + blanks;
            if blanks < indent || at == end {
                match self.bytes.get(at) {
                    Some(b'\t') if at < end => return Err(self.error(TAB, start)),
                    Some(_) if at == end => {
                        breaks.push_str(self.break_text(end));
                        self.skip_line();
                        continue;
                    }
                    _ => break,
                }
            }
            let is_blank = matches!(self.bytes[at], b' ' | b'\t');
            if style == Style::Folded && !was_blank && !is_blank && last_break == "\n" {
                if breaks.is_empty() {
                    out.push(' ');
                }
            } else {
                out.push_str(last_break);
            }
            out.push_str(&breaks);
            breaks.clear();
            was_blank = is_blank;
            out.push_str(&self.text[at..end]);
            last_break = if end < self.bytes.len() { self.break_text(end) } else { "" };
            self.skip_line();
        }
        if chomp != Chomp::Strip {
            out.push_str(last_break);
        }
        if chomp == Chomp::Keep {
            out.push_str(&breaks);
        }
        Ok(())
    }
}

/// The first colon, `#` or line feed at or after an offset.
#[inline(always)]
fn find_plain_stop(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..NEAR {
        let Some(word) = bytes[at..].first_chunk() else {
            return bytes[at..].iter().position(|&b| matches!(b, b':' | b'#' | b'\n')).map(|n| at + n);
        };
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ each(b':')) | zeros(word ^ each(b'#')) | zeros(word ^ each(b'\n'));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr3(b':', b'#', b'\n', &bytes[at..]).map(|n| at + n)
}

const TAB: &str = "found a tab character where an indentation space is expected";

/// Writes a text between single quotes, where a quote is written twice.
fn push_single(out: &mut String, raw: &str) {
    let mut rest = raw;
    while let Some(at) = memchr(b'\'', rest.as_bytes()) {
        out.push_str(&rest[..=at]);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.push_str(rest);
}
