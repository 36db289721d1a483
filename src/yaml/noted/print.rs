//! A tree with comments into text, as go-yaml v3 prints a text that it has read: order, comments
//! and styles stay, blank lines are removed, mappings are indented by two blanks and lists by none.

use super::{Document, Noted, Notes, Shape};
use crate::scalar::{self, Kind};
use crate::tree::node::{Scalar, Style};
use crate::{emit, reprint, style};

/// Comments that a document left over for the next one: no sign of YAML followed that they could be
/// printed with.
#[derive(Debug, Default)]
pub struct Unprinted {
    line: String,
    key_line: String,
}

impl Document<'_> {
    /// Prints the document, with a line end after it. O(size).
    pub fn print(&self) -> String {
        self.print_behind(&mut Unprinted::default(), false)
    }

    /// As [`Document::print`], for one of several documents: `before` has the comments that the
    /// previous document left over, and gets those that this one leaves over. With `indents_lists`
    /// the lists in mappings are indented.
    pub fn print_behind(&self, before: &mut Unprinted, indents_lists: bool) -> String {
        let Unprinted { line, key_line } = std::mem::take(before);
        let notes = Notes { line, ..Notes::default() };
        let mut printer = Printer { notes, key_line, indents_lists, ..Printer::default() };
        printer.document(&self.root, &self.notes);
        *before = Unprinted {
            line: std::mem::take(&mut printer.notes.line),
            key_line: std::mem::take(&mut printer.key_line),
        };
        printer.finish()
    }
}

impl Noted<'_> {
    /// Prints this node as a document, with a line end after it. O(size).
    pub fn print(&self) -> String {
        let mut printer = Printer::default();
        printer.document(self, &Notes::default());
        printer.finish()
    }

    /// Prints this node on one line, in braces or brackets, without the line end. A text has quotes
    /// only if it needs them. Comments can add lines. O(size).
    pub fn print_in_braces(&self) -> String {
        let mut printer = Printer { in_braces: true, ..Printer::default() };
        let plain = |s: &Scalar<'_>| Noted {
            notes: self.notes.clone(),
            ..Noted::scalar(Scalar::new(self.value(), Style::Plain, s.resolved_tag()))
        };
        let plain = self.as_scalar().map(plain);
        printer.document(plain.as_ref().unwrap_or(self), &Notes::default());
        printer.out.trim().to_owned()
    }
}

/// Prints as go-yaml does, which holds at most one comment of each kind at a time.
struct Printer {
    out: String,
    /// The offset at which the current line starts.
    line_start: usize,
    /// True if the line has only indentation and dashes so far.
    is_indentation: bool,
    /// True if a blank precedes the next sign, or if the next sign needs no blank.
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
    /// True if the root is printed in braces or brackets, or without quotes.
    in_braces: bool,
    /// True if the lists in mappings are indented.
    indents_lists: bool,
}

impl Default for Printer {
    fn default() -> Self {
        Printer {
            out: String::new(),
            line_start: 0,
            is_indentation: true,
            is_blank: true,
            foot_depth: None,
            notes: Notes::default(),
            brackets: 0,
            key_line: String::new(),
            tail: String::new(),
            in_braces: false,
            indents_lists: false,
        }
    }
}

impl Printer {
    fn finish(mut self) -> String {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out
    }

    fn document(&mut self, root: &Noted<'_>, document: &Notes) {
        self.note(document, |notes| notes.foot.clear());
        if !self.notes.head.is_empty() {
            self.head(0);
            self.line_end();
        }
        match self.is_block(root) {
            true => {
                self.block(root, 0, false);
                self.behind_block(root, 0);
            }
            false => {
                self.note_of(root);
                self.head(0);
                self.flow(root, 0);
                self.behind(0);
            }
        }
        self.note(document, |notes| notes.head.clear());
        self.foot_depth = Some(0);
        self.foot(0);
    }

    /// Sets the comments to be printed next, except those that `drop` removes.
    fn note(&mut self, notes: &Notes, drop: impl FnOnce(&mut Notes)) {
        let mut notes = notes.clone();
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
    fn note_of(&mut self, node: &Noted<'_>) {
        let is_collection = node.is_collection();
        self.note(&node.notes, |notes| {
            if is_collection {
                notes.line.clear();
                notes.foot.clear();
            }
        });
    }

    /// Sets the comments at the end of a collection to be printed next.
    fn note_end(&mut self, node: &Noted<'_>) {
        self.note(&node.notes, |notes| notes.head.clear());
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Prints a sign of YAML. The next sign needs a blank before it.
    fn sign(&mut self, sign: &str) {
        self.put(sign);
        self.is_blank = false;
        self.is_indentation = false;
    }

    /// Prints an opening bracket. The next sign needs no blank before it.
    fn open(&mut self, bracket: &str) {
        self.sign(bracket);
        self.is_blank = true;
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

    /// Prints the comment below a block mapping. A comment after its end, and those at the end of a
    /// list that has become a block, are printed after the next key or dash.
    fn behind_block(&mut self, node: &Noted<'_>, depth: usize) {
        if !node.notes.foot.is_empty() && matches!(node.shape, Shape::Mapping { .. }) {
            self.foot(depth);
        }
    }

    fn is_block(&self, node: &Noted<'_>) -> bool {
        !self.in_braces
            && match &node.shape {
                Shape::Scalar(_) | Shape::Alias(_) => false,
                Shape::Mapping { entries, in_braces } => !entries.is_empty() && !in_braces,
                Shape::Sequence { items, in_brackets } => !items.is_empty() && !in_brackets,
            }
    }

    /// Prints the anchor and the tag of a node, but not the tag `!`, which names no type.
    fn properties(&mut self, node: &Noted<'_>) {
        if !node.anchor.is_empty() {
            self.blank();
            self.put("&");
            self.sign(node.anchor);
        }
        if !matches!(node.tag, "" | "!") {
            self.blank();
            match node.tag.strip_prefix("!<tag:yaml.org,2002:").and_then(|rest| rest.strip_suffix('>')) {
                Some(name) => self.sign(&format!("!!{name}")),
                None => self.sign(node.tag),
            }
        }
    }

    /// Prints a block mapping or list.
    fn block(&mut self, node: &Noted<'_>, depth: usize, is_noted: bool) {
        if !is_noted {
            self.note_of(node);
        }
        self.properties(node);
        match &node.shape {
            Shape::Mapping { entries, .. } => {
                let mut tail = String::new();
                for (key, value) in entries {
                    tail = self.entry(key, value, depth, tail);
                }
                self.note_end(node);
                self.tail = tail;
                self.head(depth);
            }
            Shape::Sequence { items, .. } => {
                items.iter().for_each(|item| self.item(item, depth));
                self.note_end(node);
            }
            Shape::Scalar(_) | Shape::Alias(_) => {}
        }
    }

    /// Prints an entry of a block mapping, after `tail`, the comment below the previous entry.
    /// Returns the comment below the entry.
    fn entry(&mut self, key: &Noted<'_>, value: &Noted<'_>, depth: usize, tail: String) -> String {
        self.tail = tail;
        self.note(&key.notes, |notes| notes.foot.clear());
        self.head(depth);
        self.indent(depth);
        if !self.notes.line.is_empty() {
            self.key_line = std::mem::take(&mut self.notes.line);
        }
        self.key(key, depth);
        self.note_of(value);
        self.sign(":");
        if value.as_scalar().is_some() && self.notes.line.is_empty() {
            self.notes.line = std::mem::take(&mut self.key_line);
        }
        if self.is_block(value) {
            if !self.key_line.is_empty() {
                let own = std::mem::replace(&mut self.notes.line, std::mem::take(&mut self.key_line));
                self.line(depth);
                self.notes.line = own;
            }
            let deeper = if matches!(value.shape, Shape::Mapping { .. }) || self.indents_lists { 2 } else { 0 };
            self.block(value, depth + deeper, true);
            self.behind_block(value, depth);
        } else {
            self.flow(value, depth);
            self.behind(depth);
        }
        key.notes.foot.clone()
    }

    /// Prints a key. The key of a merge has its tag.
    fn key(&mut self, key: &Noted<'_>, depth: usize) {
        if key.tag.is_empty() && key.as_scalar().is_some_and(|s| s.text() == "<<" && s.style() == Style::Plain) {
            self.blank();
            self.sign("!!merge");
        }
        self.leaf(key, depth);
    }

    /// Prints a scalar or an alias.
    fn leaf(&mut self, node: &Noted<'_>, depth: usize) {
        self.properties(node);
        match &node.shape {
            Shape::Scalar(s) if !matches!(node.tag, "" | "!") => {
                // Text and style need not fit the tag.
                let plain = Scalar::new(s.text(), s.style(), crate::Tag::Auto);
                match s.style() {
                    Style::Plain if s.text().is_empty() && self.brackets > 0 => self.single("", depth),
                    Style::Plain if !s.text().contains('\n') && fits_plain(s.text(), self.brackets > 0) => {
                        self.plain(s.text());
                    }
                    _ => self.scalar(&plain, depth),
                }
            }
            Shape::Scalar(s) => self.scalar(s, depth),
            Shape::Alias(name) => {
                self.blank();
                self.put("*");
                self.sign(name);
            }
            Shape::Mapping { .. } | Shape::Sequence { .. } => {}
        }
    }

    /// Prints an item of a block list.
    fn item(&mut self, item: &Noted<'_>, depth: usize) {
        self.note_of(item);
        self.head(depth);
        self.indent(depth);
        self.blank();
        self.put("-");
        self.is_blank = false;
        match self.is_block(item) {
            true => {
                // The comment after the previous dash.
                self.line(depth);
                self.block(item, depth + 2, true);
                self.behind_block(item, depth);
            }
            false => {
                self.flow(item, depth);
                self.behind(depth);
            }
        }
    }

    /// Prints a scalar, or a mapping or list in brackets, with the comments that were set.
    fn flow(&mut self, node: &Noted<'_>, depth: usize) {
        match &node.shape {
            Shape::Scalar(_) | Shape::Alias(_) => self.leaf(node, depth),
            Shape::Sequence { items, .. } => {
                self.properties(node);
                self.blank();
                self.open("[");
                self.brackets += 1;
                let mut goes_on = false;
                for item in items {
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
                self.sign("]");
            }
            Shape::Mapping { entries, .. } => {
                self.properties(node);
                self.blank();
                self.open("{");
                self.brackets += 1;
                let mut goes_on = false;
                let mut tail = String::new();
                for (key, value) in entries {
                    if std::mem::replace(&mut goes_on, true) {
                        self.comma();
                    }
                    self.tail = std::mem::take(&mut tail);
                    self.note(&key.notes, |notes| notes.foot.clear());
                    tail.clone_from(&key.notes.foot);
                    self.begin(depth + 2);
                    self.key(key, depth + 2);
                    self.sign(":");
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
                self.sign("}");
            }
        }
        if node.is_collection() {
            self.behind(depth);
        }
    }

    fn comma(&mut self) {
        self.sign(",");
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
        match s.style() {
            Style::Single => self.single(s.text(), depth),
            Style::Double => self.double(s.text()),
            Style::Folded => self.lines(s.text(), ">", &reprint::print_folded(s.text()), depth),
            Style::Plain if !s.text().contains('\n') => self.plain_or_quoted(s, depth),
            Style::Literal | Style::Plain => self.lines(s.text(), "|", s.text(), depth),
        }
    }

    /// Prints a text on one line that was written without quotes.
    fn plain_or_quoted(&mut self, s: &Scalar<'_>, depth: usize) {
        let by_text = scalar::resolve(s.text());
        match s.kind() {
            Kind::Str if by_text != Kind::Str => self.double(s.text()),
            Kind::Str if s.text().is_empty() => self.single(s.text(), depth),
            kind => {
                if kind != by_text {
                    self.blank();
                    self.sign(tag_of(kind));
                }
                match fits_plain(s.text(), self.brackets > 0) && !(s.text().is_empty() && self.brackets > 0) {
                    true => self.plain(s.text()),
                    false => self.single(s.text(), depth),
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
        self.sign("'");
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
        self.sign("\"");
    }

    /// Prints a text as a block that begins with `sign` and consists of `lines`.
    fn lines(&mut self, text: &str, sign: &str, lines: &str, depth: usize) {
        if self.brackets > 0 || !fits_block(text) {
            return self.double(text);
        }
        let breaks = text.len() - text.trim_end_matches('\n').len();
        self.blank();
        self.sign(sign);
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

/// The short tag of a kind of scalar.
pub(super) fn tag_of(kind: Kind) -> &'static str {
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
