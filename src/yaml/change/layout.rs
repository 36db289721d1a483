//! [`Layout`]: the ranges of bytes in which the values of a tree are written.
//!
//! A node knows where it begins. This module finds where it ends: the text of a plain scalar is
//! matched with the source, the closing quote or bracket is searched, and a block ends with its
//! last entry. Values whose text differs from their nodes, such as aliases and merged mappings, are
//! [`Form::Opaque`]: they can only be replaced as a whole.

use super::super::tree::node::{Node, Pos, Scalar, Style, Value};
use super::super::{Key, Sequence, Source};
use std::ops::Range;

/// Characters at which a plain scalar may be folded.
const FOLDED: [char; 7] = [' ', '\t', '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The place of a value in the text.
#[derive(Debug)]
pub(super) struct Layout {
    /// From the first byte of the value, its properties included, to the last one. Comments and the
    /// line break after the value are outside. The range of a value that was left out is empty, and
    /// is after its dash or colon.
    pub range: Range<usize>,
    pub form: Form,
}

/// The form of a value in the text.
#[derive(Debug)]
pub(super) enum Form {
    Scalar,
    /// A list or mapping that is held together by its indentation.
    Block(Vec<Child>),
    /// A list or mapping in brackets.
    Flow(Vec<Child>),
    /// A value whose parts cannot be told apart.
    Opaque,
}

/// An item of a list or an entry of a mapping, in the order of the text.
#[derive(Debug)]
pub(super) struct Child {
    /// The dash of an item of a block, the item itself in brackets, or the key.
    pub start: usize,
    /// The offset after the dash or the colon.
    pub lead: usize,
    pub value: Layout,
}

impl Child {
    /// The offset after the last byte.
    pub(super) fn end(&self) -> usize {
        self.value.range.end.max(self.lead)
    }
}

/// The part of a block that a value is in, with the column of its dash or key.
#[derive(Clone, Copy)]
enum BlockPart {
    Item { column: usize },
    Entry { column: usize },
}

impl BlockPart {
    fn column(self) -> usize {
        match self {
            BlockPart::Item { column } | BlockPart::Entry { column } => column,
        }
    }
}

/// The block or brackets around a value.
#[derive(Clone, Copy)]
struct Around {
    /// The column of the dashes or keys of the block; -1 at the top of a document.
    column: isize,
    /// The value ends before this byte.
    bound: usize,
}

impl Layout {
    /// Finds the layout of the root of a document.
    pub(super) fn of(source: &Source, root: &Node<'_>) -> Layout {
        let scan = Scan { text: &source.text, base: source.base };
        let start = scan.offset(root.pos()).unwrap_or_default();
        let around = Around { column: -1, bound: scan.document_end(start) };
        scan.value(root, start, around).unwrap_or_else(|| scan.opaque(start, around.bound))
    }
}

/// The first byte of the line with the byte at `offset`.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |i| i + 1)
}

/// The line break at the end of the line with the byte at `offset`, or the end of the text.
pub(super) fn line_end(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |i| offset + i)
}

/// Returns true if only blanks precede the byte at `offset` on its line.
pub(super) fn begins_line(text: &str, offset: usize) -> bool {
    let before = text[..offset].trim_end_matches(' ');
    before.is_empty() || before.ends_with('\n')
}

/// The column of the byte at `offset`, from 0.
pub(super) fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}

/// Returns true if a scalar was left out.
pub(super) fn is_absent(scalar: &Scalar<'_>) -> bool {
    scalar.style() == Style::Plain && scalar.text().is_empty()
}

/// Reads layouts of one text.
struct Scan<'t> {
    text: &'t str,
    base: u32,
}

impl Scan<'_> {
    fn offset(&self, pos: Pos) -> Option<usize> {
        let offset = pos.0.checked_sub(self.base)? as usize;
        (pos.is_in_source() && offset <= self.text.len()).then_some(offset)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The offset of the line that ends the document whose root begins at `start`.
    fn document_end(&self, start: usize) -> usize {
        super::document_end(self.text, start)
    }

    /// Skips blanks, line breaks and comments.
    fn skip(&self, mut at: usize) -> usize {
        loop {
            match self.byte(at) {
                Some(b' ' | b'\t' | b'\n') => at += 1,
                Some(b'#') => at = line_end(self.text, at),
                _ => return at,
            }
        }
    }

    fn opaque(&self, start: usize, bound: usize) -> Layout {
        let mut end = bound;
        loop {
            end = start + self.text[start..end].trim_end().len();
            let line = line_start(self.text, end).max(start);
            if line > start && self.text[line..end].trim_start().starts_with('#') {
                end = line;
            } else {
                return Layout { range: start..end, form: Form::Opaque };
            }
        }
    }

    /// The layout of a value whose first byte is at `start`; `None` if its text differs from its
    /// node.
    fn value(&self, node: &Node<'_>, start: usize, around: Around) -> Option<Layout> {
        let mut at = start;
        while matches!(self.byte(at), Some(b'&' | b'!')) {
            let word = self.text[at..].find([' ', '\n', '\t']).unwrap_or(self.text.len() - at);
            at = self.skip(at + word);
        }
        let first = self.byte(at).filter(|_| at < around.bound)?;
        if first == b'*' {
            let end = self.text[at..].find(|c: char| " \n\t,]}".contains(c)).map_or(self.text.len(), |i| at + i);
            return Some(Layout { range: start..end, form: Form::Opaque });
        }
        let (end, form) = match (&node.value, first) {
            (Value::Scalar(scalar), _) => (self.scalar_end(scalar.text(), at, around)?, Form::Scalar),
            (Value::Sequence(items), b'[') => self.flow_items(items, at)?,
            (Value::Mapping(_), b'{') => self.flow_entries(node, at)?,
            (Value::Sequence(items), b'-') => self.items(items, at, around)?,
            (Value::Mapping(_), _) => self.entries(node, at, around)?,
            _ => return None,
        };
        Some(Layout { range: start..end, form })
    }

    /// The layout of a value after a dash or colon.
    fn behind(&self, lead: usize, node: &Node<'_>, around: Around) -> Option<Layout> {
        if node.as_scalar().is_some_and(is_absent) {
            return Some(Layout { range: lead..lead, form: Form::Scalar });
        }
        self.value(node, self.skip(lead), around)
    }

    /// The layout of a value in a block, whatever its form is.
    fn in_block(&self, lead: usize, node: &Node<'_>, part: BlockPart, bound: usize) -> Layout {
        let around = Around { column: part.column() as isize, bound: self.block_end(lead, part).min(bound) };
        self.behind(lead, node, around).unwrap_or_else(|| self.opaque(self.skip(lead).min(around.bound), around.bound))
    }

    /// The start of the first line after an entry of a block that does not belong to it.
    fn block_end(&self, lead: usize, part: BlockPart) -> usize {
        let (column, is_entry) = (part.column(), matches!(part, BlockPart::Entry { .. }));
        let mut at = line_end(self.text, lead);
        while at < self.text.len() {
            at += 1;
            let line = &self.text[at..line_end(self.text, at)];
            let content = line.trim_start_matches(' ');
            let indent = line.len() - content.len();
            let is_list = is_entry && indent == column && (content == "-" || content.starts_with("- "));
            if indent <= column && !content.trim().is_empty() && !content.starts_with('#') && !is_list {
                return at;
            }
            at += line.len();
        }
        self.text.len()
    }

    fn items(&self, items: &Sequence<'_>, start: usize, around: Around) -> Option<(usize, Form)> {
        let column = column(self.text, start);
        let (mut children, mut at) = (Vec::<Child>::new(), start);
        for item in items {
            let is_dash = self.byte(at) == Some(b'-') && matches!(self.byte(at + 1), None | Some(b' ' | b'\t' | b'\n'));
            if !is_dash || at >= around.bound || self::column(self.text, at) != column {
                return None;
            }
            let value = self.in_block(at + 1, item, BlockPart::Item { column }, around.bound);
            children.push(Child { start: at, lead: at + 1, value });
            at = self.skip(children.last()?.end());
        }
        Some((children.last()?.end(), Form::Block(children)))
    }

    fn entries(&self, node: &Node<'_>, start: usize, around: Around) -> Option<(usize, Form)> {
        let column = column(self.text, start);
        let (mut children, mut at) = (Vec::<Child>::new(), start);
        for (key, value) in in_text_order(node) {
            if self.offset(key.pos)? != at || at >= around.bound {
                return None;
            }
            let lead = self.key_end(key, at)?;
            let value = self.in_block(lead, value, BlockPart::Entry { column }, around.bound);
            children.push(Child { start: at, lead, value });
            at = self.skip(children.last()?.end());
        }
        Some((children.last()?.end(), Form::Block(children)))
    }

    /// The offset after the colon of the key at `start`.
    fn key_end(&self, key: &Key<'_>, start: usize) -> Option<usize> {
        let around = Around { column: -1, bound: self.text.len() };
        let end = self.scalar_end(key.text, start, around)?;
        let colon = end + self.text[end..].len() - self.text[end..].trim_start_matches([' ', '\t']).len();
        (self.byte(colon) == Some(b':')).then_some(colon + 1)
    }

    fn flow_items(&self, items: &Sequence<'_>, start: usize) -> Option<(usize, Form)> {
        let around = Around { column: -1, bound: self.text.len() };
        let (mut children, mut at) = (Vec::new(), self.skip_commas(start + 1));
        for item in items {
            let value = self.value(item, at, around)?;
            let end = value.range.end;
            children.push(Child { start: at, lead: at, value });
            at = self.skip_commas(end);
        }
        (self.byte(at) == Some(b']')).then_some((at + 1, Form::Flow(children)))
    }

    fn flow_entries(&self, node: &Node<'_>, start: usize) -> Option<(usize, Form)> {
        let around = Around { column: -1, bound: self.text.len() };
        let (mut children, mut at) = (Vec::new(), self.skip_commas(start + 1));
        for (key, value) in in_text_order(node) {
            if self.offset(key.pos)? != at {
                return None;
            }
            let lead = match self.key_end(key, at) {
                Some(lead) => lead,
                None => self.scalar_end(key.text, at, around)?,
            };
            let value = self.behind(lead, value, around)?;
            let child = Child { start: at, lead, value };
            at = self.skip_commas(child.end());
            children.push(child);
        }
        (self.byte(at) == Some(b'}')).then_some((at + 1, Form::Flow(children)))
    }

    fn skip_commas(&self, mut at: usize) -> usize {
        loop {
            at = self.skip(at);
            if self.byte(at) != Some(b',') {
                return at;
            }
            at += 1;
        }
    }

    /// The offset after the last byte of the scalar at `at`, which has this text.
    fn scalar_end(&self, text: &str, at: usize, around: Around) -> Option<usize> {
        match self.byte(at)? {
            b'"' => self.quote_end(at, b'"'),
            b'\'' => self.quote_end(at, b'\''),
            b'|' | b'>' => self.block_scalar_end(at, around),
            _ => {
                let mut written = self.text[at..].char_indices();
                let mut end = at;
                for wanted in text.chars().filter(|c| !FOLDED.contains(c)) {
                    let (i, c) = written.find(|(_, c)| !FOLDED.contains(c))?;
                    if c != wanted {
                        return None;
                    }
                    end = at + i + c.len_utf8();
                }
                (end > at).then_some(end)
            }
        }
    }

    fn quote_end(&self, start: usize, quote: u8) -> Option<usize> {
        let mut at = start + 1;
        loop {
            match self.byte(at)? {
                b'\\' if quote == b'"' => at += 2,
                b'\'' if quote == b'\'' && self.byte(at + 1) == Some(b'\'') => at += 2,
                b if b == quote => return Some(at + 1),
                _ => at += 1,
            }
        }
    }

    /// The offset after the last line of a block scalar that has a character, or that `+` keeps.
    fn block_scalar_end(&self, start: usize, around: Around) -> Option<usize> {
        let header = &self.text[start..line_end(self.text, start)];
        let indicators = header.find([' ', '\t']).map_or(header, |i| &header[..i]);
        let digit = indicators.chars().find_map(|c| c.to_digit(10));
        let mut indent = digit.map(|digit| around.column.max(0) as usize + digit as usize);
        let (mut end, mut at) = (start + indicators.len(), start + header.len());
        while at < around.bound.min(self.text.len()) {
            at += 1;
            let line = &self.text[at..line_end(self.text, at)];
            let content = line.trim_start_matches(' ');
            // Blanks beyond the indentation are content.
            let is_blank = content.is_empty() && indent.is_none_or(|indent| line.len() <= indent);
            let column = line.len() - content.len();
            let wanted = *indent.get_or_insert(if is_blank { 0 } else { column });
            if is_blank && indent == Some(0) {
                indent = None;
            } else if !is_blank && (column < wanted || column as isize <= around.column) {
                break;
            }
            at += line.len();
            if !is_blank || indicators.contains('+') {
                end = at;
            }
        }
        Some(end)
    }
}

/// The entries of a mapping in the order of the text.
fn in_text_order<'n, 'a>(node: &'n Node<'a>) -> Vec<(&'n Key<'a>, &'n Node<'a>)> {
    let Value::Mapping(mapping) = &node.value else { return Vec::new() };
    let mut entries: Vec<_> = mapping.iter().map(|entry| (&entry.key, &entry.value)).collect();
    entries.sort_by_key(|(key, _)| key.pos);
    entries
}
