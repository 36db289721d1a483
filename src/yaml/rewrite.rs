//! Prints a YAML text again after a change, as go-yaml v3 prints a text that it has read. Order,
//! comments and styles stay, blank lines are removed, mappings are indented by two blanks and lists
//! by none.

use super::comments::{Comments, Notes};
use super::scalar::{self, Kind};
use super::tree::mapping::Mapping;
use super::tree::node::{Node, Pos, Scalar, Style, Tag, Value};
use super::{Entry, Source};
use super::{emit, reprint, style};
use std::ops::Range;

/// The comments of a text, which its tree does not hold.
#[derive(Debug)]
pub struct Layout<'a> {
    source: &'a Source,
    comments: Comments,
}

impl<'a> Layout<'a> {
    /// Finds the comments of a text that was read into `root`, before `root` is changed. `None` if
    /// the text has parts that cannot be printed again: anchors, tags and explicit keys. O(size of
    /// the text).
    pub fn of(source: &'a Source, root: &Node<'_>) -> Option<Self> {
        let mut spans = Vec::new();
        collect(source, root, &mut spans)?;
        spans.retain(|(span, _)| !span.is_empty());
        spans.sort_by_key(|(span, _)| span.start);
        Some(Layout { source, comments: Comments::of(&source.text, &spans)? })
    }

    /// Prints the tree, without a line end after it.
    pub fn print(&self, root: &Node<'_>) -> String {
        let mut printer = Printer::new(self);
        printer.document(root);
        printer.out.trim().to_owned()
    }
}

/// Collects the ranges of a text that its scalars take.
fn collect(source: &Source, node: &Node<'_>, spans: &mut Vec<(Range<usize>, Style)>) -> Option<()> {
    match &node.value {
        Value::Scalar(s) => spans.push((span(source, node.pos(), s.text, s.style, s.tag)?, s.style)),
        Value::Sequence(items) => items.iter().try_for_each(|item| collect(source, item, spans))?,
        Value::Mapping(m) => {
            for Entry { key, value } in m.iter() {
                spans.push((span(source, key.pos, key.text, key.style, key.tag)?, key.style));
                collect(source, value, spans)?;
            }
        }
    }
    Some(())
}

fn span(source: &Source, pos: Pos, text: &str, style: Style, tag: Tag) -> Option<Range<usize>> {
    let at = source.offset(pos)?;
    let rest = source.text.get(at..)?;
    let len = match style {
        _ if tag != Tag::Auto => return None,
        Style::Plain => plain(rest, text)?,
        Style::Single | Style::Double => quoted(rest)?,
        Style::Literal | Style::Folded => block(&source.text, at)?,
    };
    Some(at..at + len)
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
    if text[at..at + header].contains('#') {
        return None;
    }
    let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = text[line_start..at].trim_start_matches([' ', '-']);
    let parent = text[line_start..].len() - text[line_start..].trim_start_matches([' ', '-']).len();
    // An item of a list has the depth of its own dash.
    let parent = if own.is_empty() { text[line_start..at].rfind('-').unwrap_or(0) } else { parent };
    let lines = || text[at + header + 1..].split('\n');
    // The header gives the depth of the content; if it does not, the first line does.
    let given = text[at..at + header].chars().find_map(|c| c.to_digit(10));
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

/// Prints as go-yaml does, which holds at most one comment of each kind at a time.
struct Printer<'l, 'a> {
    layout: &'l Layout<'a>,
    out: String,
    /// The offset at which the current line starts.
    line_start: usize,
    /// True if the line has only indentation and dashes so far.
    is_indentation: bool,
    /// True if a blank precedes the next sign, or if it needs no blank.
    is_blank: bool,
    /// The depth of a comment below a node: an empty line follows if the next line has the same
    /// depth.
    foot_depth: Option<usize>,
    /// The comments to be printed.
    notes: Notes,
    /// The number of open brackets.
    brackets: usize,
    /// The comment after a key, which is printed with the value.
    key_line: String,
    /// The comment below an entry, which is printed before the next one.
    tail: String,
}

impl<'l, 'a> Printer<'l, 'a> {
    fn new(layout: &'l Layout<'a>) -> Self {
        Printer {
            layout,
            out: String::new(),
            line_start: 0,
            is_indentation: true,
            is_blank: true,
            foot_depth: None,
            notes: Notes::default(),
            brackets: 0,
            key_line: String::new(),
            tail: String::new(),
        }
    }

    fn document(&mut self, root: &Node<'_>) {
        let document = &self.layout.comments.document;
        self.note(Some(document), |notes| notes.foot.clear());
        if !self.notes.head.is_empty() {
            self.head(0);
            self.line_end();
        }
        match self.is_block(root) {
            true => self.block(root, 0, false),
            false => {
                self.note_of(root);
                self.head(0);
                self.flow(root, 0);
            }
        }
        self.behind(0);
        self.note(Some(document), |notes| notes.head.clear());
        self.foot_depth = Some(0);
        self.foot(0);
    }

    /// Sets the comments to be printed next, except those that `drop` removes.
    fn note(&mut self, notes: Option<&Notes>, drop: impl FnOnce(&mut Notes)) {
        let Some(mut notes) = notes.cloned() else { return };
        drop(&mut notes);
        let Notes { head, line, foot } = notes;
        for (hand, comment) in
            [(&mut self.notes.head, head), (&mut self.notes.line, line), (&mut self.notes.foot, foot)]
        {
            if !comment.is_empty() {
                *hand = comment;
            }
        }
    }

    /// Sets the comments of a node to be printed next; for a collection those at its beginning.
    fn note_of(&mut self, node: &Node<'_>) {
        let comments = &self.layout.comments;
        match node.value {
            Value::Scalar(_) => {
                let at = self.offset(node.pos());
                self.note(at.and_then(|at| comments.scalars.get(&at)), |_| {});
            }
            _ => {
                let at = self.start(node);
                self.note(at.and_then(|at| comments.collections.get(&at)), |notes| {
                    notes.line.clear();
                    notes.foot.clear();
                });
            }
        }
    }

    /// Sets the comments at the end of a collection to be printed next.
    fn note_end(&mut self, node: &Node<'_>) {
        let at = self.start(node);
        let notes = at.and_then(|at| self.layout.comments.collections.get(&at));
        self.note(notes, |notes| notes.head.clear());
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A sign of YAML, with a blank before it where one is needed.
    fn sign(&mut self, sign: &str, is_blank: bool) {
        self.put(sign);
        self.is_blank = is_blank;
        self.is_indentation = false;
    }

    fn blank(&mut self) {
        if !self.is_blank {
            self.put(" ");
        }
    }

    fn column(&self) -> usize {
        self.out.len() - self.line_start
    }

    fn line_end(&mut self) {
        self.out.push('\n');
        self.line_start = self.out.len();
        self.is_indentation = true;
    }

    /// Moves to a depth, on a new line if this line has content.
    fn indent(&mut self, depth: usize) {
        if !self.is_indentation || self.column() > depth || self.column() == depth && !self.is_blank {
            self.line_end();
        }
        if self.foot_depth.take() == Some(depth) {
            self.line_end();
        }
        let missing = depth.saturating_sub(self.column());
        self.out.extend(std::iter::repeat_n(' ', missing));
        self.is_blank = true;
    }

    /// Prints a comment at a depth, and ends its line.
    fn comment(&mut self, text: &str, depth: usize) {
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.line_end();
            }
            if !line.is_empty() {
                if i > 0 {
                    self.indent(depth);
                }
                self.put(line);
                self.is_indentation = false;
            }
        }
        if !text.ends_with('\n') {
            self.line_end();
        }
        self.is_blank = true;
    }

    /// Prints the comment below the previous entry, and the comment above the next node.
    fn head(&mut self, depth: usize) {
        let tail = std::mem::take(&mut self.tail);
        if !tail.is_empty() {
            self.indent(depth);
            self.comment(&tail, depth);
            self.foot_depth = Some(depth);
        }
        let head = std::mem::take(&mut self.notes.head);
        if !head.is_empty() {
            self.indent(depth);
            self.comment(&head, depth);
        }
    }

    fn line(&mut self, depth: usize) {
        let line = std::mem::take(&mut self.notes.line);
        if !line.is_empty() {
            self.blank();
            self.comment(&line, depth);
        }
    }

    fn foot(&mut self, depth: usize) {
        let foot = std::mem::take(&mut self.notes.foot);
        if !foot.is_empty() {
            self.indent(depth);
            self.comment(&foot, depth);
            self.foot_depth = Some(depth);
        }
    }

    fn behind(&mut self, depth: usize) {
        self.line(depth);
        self.foot(depth);
    }

    fn offset(&self, pos: Pos) -> Option<usize> {
        self.layout.source.offset(pos)
    }

    /// The offset at which a node starts: a block mapping starts with its first key, a list with
    /// its dash.
    fn start(&self, node: &Node<'_>) -> Option<usize> {
        match &node.value {
            Value::Mapping(m) if self.is_block(node) => self.offset(in_order(m).first()?.key.pos),
            _ => self.offset(node.pos()),
        }
    }

    fn is_block(&self, node: &Node<'_>) -> bool {
        let is_empty = match &node.value {
            Value::Scalar(_) => return false,
            Value::Mapping(m) => m.is_empty(),
            Value::Sequence(items) => items.is_empty(),
        };
        let at = self.offset(node.pos());
        !is_empty && !at.is_some_and(|at| self.layout.source.text[at..].starts_with(['{', '[']))
    }

    /// Prints a block mapping or list.
    fn block(&mut self, node: &Node<'_>, depth: usize, is_noted: bool) {
        if !is_noted {
            self.note_of(node);
        }
        match &node.value {
            Value::Mapping(m) => {
                let mut tail = String::new();
                for entry in in_order(m) {
                    tail = self.entry(entry, depth, tail);
                }
                self.note_end(node);
                self.tail = tail;
                self.head(depth);
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.item(item, depth)),
            Value::Scalar(_) => {}
        }
    }

    /// Prints an entry of a block mapping, after `tail`, the comment below the previous entry.
    /// Returns the comment below the entry.
    fn entry(&mut self, entry: &Entry<'_>, depth: usize, tail: String) -> String {
        let notes = self.offset(entry.key.pos).and_then(|at| self.layout.comments.scalars.get(&at));
        self.tail = tail;
        self.note(notes, |notes| notes.foot.clear());
        self.head(depth);
        self.indent(depth);
        if !self.notes.line.is_empty() {
            self.key_line = std::mem::take(&mut self.notes.line);
        }
        self.scalar(&entry.key.as_scalar(), depth);
        self.note_of(&entry.value);
        self.sign(":", false);
        let is_scalar = entry.value.as_scalar().is_some();
        if is_scalar && self.notes.line.is_empty() {
            self.notes.line = std::mem::take(&mut self.key_line);
        }
        if self.is_block(&entry.value) {
            if !self.key_line.is_empty() {
                let own = std::mem::replace(&mut self.notes.line, std::mem::take(&mut self.key_line));
                self.line(depth);
                self.notes.line = own;
            }
            let deeper = if matches!(entry.value.value, Value::Mapping(_)) { 2 } else { 0 };
            self.block(&entry.value, depth + deeper, true);
        } else {
            self.flow(&entry.value, depth);
        }
        self.behind(depth);
        notes.map(|notes| notes.foot.clone()).unwrap_or_default()
    }

    /// Prints an item of a block list.
    fn item(&mut self, item: &Node<'_>, depth: usize) {
        self.note_of(item);
        self.head(depth);
        self.indent(depth);
        self.blank();
        self.put("-");
        self.is_blank = false;
        match self.is_block(item) {
            true => self.block(item, depth + 2, true),
            false => self.flow(item, depth),
        }
        self.behind(depth);
    }

    /// Prints a scalar, or a mapping or list in brackets, with the comments that were set.
    fn flow(&mut self, node: &Node<'_>, depth: usize) {
        match &node.value {
            Value::Scalar(s) => self.scalar(s, depth),
            Value::Sequence(items) => {
                self.blank();
                self.sign("[", true);
                self.brackets += 1;
                let mut goes_on = false;
                for item in items.iter() {
                    if std::mem::replace(&mut goes_on, true) {
                        self.comma();
                    }
                    self.note_of(item);
                    self.begin(depth + 2);
                    self.flow(item, depth + 2);
                    goes_on = self.end_in_brackets(depth + 2);
                }
                self.brackets -= 1;
                self.note_end(node);
                if self.column() == 0 {
                    self.indent(depth);
                }
                self.sign("]", false);
            }
            Value::Mapping(m) => {
                self.blank();
                self.sign("{", true);
                self.brackets += 1;
                let mut goes_on = false;
                let mut tail = String::new();
                for Entry { key, value } in in_order(m) {
                    if std::mem::replace(&mut goes_on, true) {
                        self.comma();
                    }
                    let notes = self.offset(key.pos).and_then(|at| self.layout.comments.scalars.get(&at));
                    self.tail = std::mem::take(&mut tail);
                    self.note(notes, |notes| notes.foot.clear());
                    tail = notes.map(|notes| notes.foot.clone()).unwrap_or_default();
                    self.begin(depth + 2);
                    self.scalar(&key.as_scalar(), depth + 2);
                    self.sign(":", false);
                    self.note_of(value);
                    self.flow(value, depth + 2);
                    goes_on = self.end_in_brackets(depth + 2);
                }
                self.brackets -= 1;
                self.note_end(node);
                self.tail = tail;
                if goes_on && !(self.notes.head.is_empty() && self.notes.foot.is_empty() && self.tail.is_empty()) {
                    self.comma();
                }
                self.head(depth + 2);
                self.sign("}", false);
            }
        }
        if !matches!(node.value, Value::Scalar(_)) {
            self.behind(depth);
        }
    }

    fn comma(&mut self) {
        self.sign(",", false);
    }

    /// Begins an item or entry in brackets.
    fn begin(&mut self, depth: usize) {
        self.head(depth);
        if self.column() == 0 {
            self.indent(depth);
        }
    }

    /// Ends an item or entry in brackets, with its comma if a comment follows. Returns true if the
    /// comma is still missing.
    fn end_in_brackets(&mut self, depth: usize) -> bool {
        let has_comment = !(self.notes.line.is_empty() && self.notes.foot.is_empty());
        if has_comment {
            self.comma();
        }
        self.behind(depth);
        !has_comment
    }

    /// Prints a scalar in its style, with a tag if its text does not fit its type.
    fn scalar(&mut self, s: &Scalar<'_>, depth: usize) {
        match s.style {
            Style::Single => self.single(s.text, depth),
            Style::Double => self.double(s.text),
            Style::Folded => self.lines(s.text, ">", &reprint::print_folded(s.text), depth),
            Style::Plain if !s.text.contains('\n') => self.plain_or_quoted(s, depth),
            Style::Literal | Style::Plain => self.lines(s.text, "|", s.text, depth),
        }
    }

    /// Prints a text on one line that was written without quotes.
    fn plain_or_quoted(&mut self, s: &Scalar<'_>, depth: usize) {
        let by_text = scalar::resolve(s.text);
        match s.kind() {
            Kind::Str if by_text != Kind::Str => self.double(s.text),
            Kind::Str if s.text.is_empty() => self.single(s.text, depth),
            kind => {
                if kind != by_text {
                    self.blank();
                    self.sign(tag_of(kind), false);
                }
                match fits_plain(s.text, self.brackets > 0) && !(s.text.is_empty() && self.brackets > 0) {
                    true => self.plain(s.text),
                    false => self.single(s.text, depth),
                }
            }
        }
    }

    fn plain(&mut self, text: &str) {
        if !text.is_empty() {
            self.blank();
            self.put(text);
            self.is_blank = false;
        }
        self.is_indentation = false;
    }

    /// Prints a text in single quotes. Of several line ends in a row the first one is written
    /// twice.
    fn single(&mut self, text: &str, depth: usize) {
        if !fits_single_quotes(text) {
            return self.double(text);
        }
        self.blank();
        self.put("'");
        let mut is_line_start = false;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches('\n');
            if !content.is_empty() {
                if is_line_start {
                    self.indent(depth + 2);
                }
                self.put(&content.replace('\'', "''"));
                self.is_indentation = false;
            }
            let has_end = content.len() < line.len();
            if has_end && !(content.is_empty() && is_line_start) {
                self.line_end();
            }
            if has_end {
                self.line_end();
            }
            is_line_start = has_end;
        }
        self.sign("'", false);
    }

    fn double(&mut self, text: &str) {
        self.blank();
        self.put("\"");
        let all = text.starts_with('\u{feff}');
        for c in text.chars() {
            match all || !style::is_printable(c) || matches!(c, '\n' | '"' | '\\') {
                true => emit::escape(&mut self.out, c),
                false => self.out.push(c),
            }
        }
        self.sign("\"", false);
    }

    /// Prints a text as a block that begins with `sign` and consists of `lines`.
    fn lines(&mut self, text: &str, sign: &str, lines: &str, depth: usize) {
        if self.brackets > 0 || !fits_block(text) {
            return self.double(text);
        }
        let breaks = text.len() - text.trim_end_matches('\n').len();
        self.blank();
        self.sign(sign, false);
        if text.starts_with([' ', '\n']) {
            self.put("2");
        }
        self.put(match breaks {
            0 => "-",
            1 if text.len() > 1 => "",
            _ => "+",
        });
        match self.notes.line.is_empty() {
            true => self.line_end(),
            false => self.line(depth),
        }
        self.is_blank = true;
        for (i, line) in lines.split('\n').enumerate() {
            if i > 0 {
                self.line_end();
            }
            if !line.is_empty() {
                self.indent(depth + 2);
                self.put(line);
                self.is_indentation = false;
            }
        }
    }
}

/// The entries in the order of the text, new ones last.
fn in_order<'m, 'a>(m: &'m Mapping<'a>) -> Vec<&'m Entry<'a>> {
    let mut entries: Vec<_> = m.iter().collect();
    entries.sort_by_key(|e| if e.key.pos == Pos::NONE { u32::MAX } else { e.key.pos.0 });
    entries
}

/// Returns true if a text can be written without quotes.
fn fits_plain(text: &str, in_brackets: bool) -> bool {
    let ends_there = |c| matches!(c, ',' | '?' | '[' | ']' | '{' | '}' | ':');
    let starts_with_sign =
        text.starts_with(['#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ' ']);
    let starts_with_mark = ["---", "...", "- ", "? "].iter().any(|mark| text.starts_with(mark));
    let has_sign = text.contains(": ") || text.contains(" #") || text.contains('\t') || text.ends_with([' ', ':']);
    !(starts_with_sign || starts_with_mark || has_sign || in_brackets && text.contains(ends_there))
}

/// Returns true if a text keeps all its characters in single quotes.
fn fits_single_quotes(text: &str) -> bool {
    is_simple(text) && !text.contains("\n ") && !text.contains('\t')
}

/// Returns true if a text keeps all its characters in a block.
fn fits_block(text: &str) -> bool {
    is_simple(text) && !text.is_empty() && !text.ends_with(' ')
}

fn is_simple(text: &str) -> bool {
    !text.contains(" \n") && text.chars().all(|c| c == '\t' || style::is_printable(c))
}

fn tag_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Str => "!!str",
        Kind::Int => "!!int",
        Kind::Float => "!!float",
        Kind::Bool => "!!bool",
        Kind::Null => "!!null",
        Kind::Timestamp => "!!timestamp",
        Kind::Binary => "!!binary",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Heap, first_document};

    #[track_caller]
    fn check(input: &str, expect: &str) {
        let heap = Heap::new();
        let arena = heap.arena();
        let source = arena.add_source("text", input.to_owned());
        let root = first_document(arena, source).unwrap().unwrap();
        let layout = Layout::of(source, &root).expect("it is printed anew");
        assert_eq!(layout.print(&root), expect);
    }

    #[test]
    fn keeps_order_styles_and_comments() {
        check("b: 1\na: 'x'   # why\n\n# above c\nc:\n    d: \"q\"\n", "b: 1\na: 'x' # why\n# above c\nc:\n  d: \"q\"");
        check(
            "l:\n  - a\n  - b: 1\n    c: {x: 1,  y: [1,2]}\n  - - n\n    - m\n",
            "l:\n- a\n- b: 1\n  c: {x: 1, y: [1, 2]}\n- - n\n  - m",
        );
        check(
            "# top\n\na: 1\n# under a\n\nb: # here\n  c: 1\n  # end of b\nd: 2\n# last\n",
            "# top\n\na: 1\n# under a\n\nb: # here\n  c: 1\n  # end of b\nd: 2\n# last",
        );
        check("---\na:\nb: ~\nc: |\n  x\n   y\n\nd: []\n", "a:\nb: ~\nc: |\n  x\n   y\nd: []");
    }

    #[test]
    fn texts_over_several_lines() {
        check("a: one\n  two  # c\nb: 1\n", "a: one two # c\nb: 1");
        check("a: one\n\n  two\n", "a: |-\n  one\n  two");
        check("a: 'it''s\n\n\n  b'\n", "a: 'it''s\n\n\n  b'");
        check("a: \"x\n\n  b\\\n  c\"\n", "a: \"x\\nbc\"");
        // The printer writes the line end of a folded text twice.
        check("l:\n- >\n  a\n  b\n- 1\n", "l:\n- >\n  a b\n\n- 1");
        check("a: >-\n  a\n\n  b\n", "a: >-\n  a\n\n  b");
        check("a: [one\n  two, 'b\n\n c']\n", "a: [one two, 'b\n\n    c']");
    }

    /// The printer's treatment of comments, which is that of kustomize.
    #[test]
    fn comments_stand_where_go_yaml_puts_them() {
        // An empty line separates a foot from a line of the same depth.
        check("a: 1\n# foot\n\nb: 2\n", "a: 1\n# foot\n\nb: 2");
        check("a:\n  b: 1\n# left of it\nc: 2\n", "a:\n  b: 1\n# left of it\nc: 2");
        check("a: 1\n\n# of the document\n", "a: 1\n\n# of the document");
        // After a quoted text in the first line no foot is searched.
        check("a: \"1\"\n# head\n\nb: 2\n", "a: \"1\"\n# head\nb: 2");
        check("- # of the entry\n  a: 1\n", "- # of the entry\n  a: 1");
        check("# of the item\n- a: 1\n", "# of the item\n- a: 1");
        check("- a: 1\n  # end of the item\n# end of the list\n", "- a: 1\n  # end of the item\n\n# end of the list");
        check("a: [1, # one\n    2]\n", "a: [1, # one\n  2]");
        check("a: # of the key\n  'text'\n", "a: 'text' # of the key");
    }

    #[test]
    fn some_texts_are_left_alone() {
        let refused = |input: &str| {
            let heap = Heap::new();
            let arena = heap.arena();
            let source = arena.add_source("text", input.to_owned());
            let root = first_document(arena, source).unwrap().unwrap();
            Layout::of(source, &root).is_none()
        };
        for text in ["a: &x 1\nb: *x\n", "a: !!str 1\n", "? a\n: b\n"] {
            assert!(refused(text), "{text}");
        }
    }

    /// A random text: mappings and lists, comments, empty lines, odd indentation.
    fn text(rng: &mut fastrand::Rng, depth: usize, indent: usize, out: &mut String) {
        let gap = |rng: &mut fastrand::Rng, out: &mut String| {
            for _ in 0..rng.usize(..3) {
                match rng.u8(..4) {
                    0 => out.push('\n'),
                    1 => out.push_str(&format!("{:indent$}# note {}\n", "", rng.u8(..9))),
                    _ => {}
                }
            }
        };
        let scalars =
            ["1", "'it''s'", "\"a\\tb\"", "plain text", "~", "", "[1, {a: b}]", "{}", "true", "a-b", "\"#no\""];
        let is_list = depth > 0 && rng.u8(..3) == 0;
        for n in 0..1 + rng.usize(..3) {
            gap(rng, out);
            out.push_str(&format!("{:indent$}{}", "", if is_list { "-".to_owned() } else { format!("k{n}:") }));
            let comment = if rng.u8(..4) == 0 { " # behind" } else { "" };
            match rng.u8(..5) {
                0 if depth < 3 => {
                    out.push_str(comment);
                    out.push('\n');
                    let deeper = indent + 1 + rng.usize(..3);
                    text(rng, depth + 1, deeper, out);
                }
                1 => out.push_str(&format!(" |\n{:indent$}    some\n\n{:indent$}    lines\n", "", "")),
                _ => out.push_str(&format!(" {}{comment}\n", scalars[rng.usize(..scalars.len())])),
            }
        }
        gap(rng, out);
    }

    #[test]
    fn what_is_printed_reads_the_same() {
        for seed in 0..3000 {
            let mut input = String::new();
            text(&mut fastrand::Rng::with_seed(seed), 0, 0, &mut input);
            let heap = Heap::new();
            let arena = heap.arena();
            let read = |text: &str| {
                let source = arena.add_source("text", text.to_owned());
                (source, first_document(arena, source).ok().flatten())
            };
            let (source, Some(root)) = read(&input) else { continue };
            let Some(layout) = Layout::of(source, &root) else { continue };
            let printed = layout.print(&root);
            // Upstream cuts off the last line end. Without it, a block at the end would lose its
            // own line end.
            let (_, again) = read(&format!("{printed}\n"));
            let again = again.unwrap_or_else(|| panic!("{input}\n-- becomes --\n{printed}"));
            assert!(again.same(&root), "other values:\n{input}\n-- becomes --\n{printed}");
            // As in go-yaml, this may lose a comment.
            let comments = |text: &str| text.matches("# ").count();
            assert!(comments(&printed) <= comments(&input), "{input}\n-- becomes --\n{printed}");
        }
    }
}
