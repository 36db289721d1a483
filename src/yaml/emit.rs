//! The printer: prints a tree as the text that upstream prints for it (go-yaml v2 after a detour
//! through JSON).
//!
//! Layout, key order, quoting, folding at 80 columns and number forms follow upstream's printer.
//! The property tests and the recorded experiments in testdata/yaml check this. Mappings are sorted
//! already ([`Mapping`]), so printing is one walk.

use super::bytes::Bytes;
use super::reprint::{self, Depth};
use super::scalar::{self, Kind};
use super::style::{Analysis, TextUse, is_break, is_printable};
use super::tree::mapping::{Entry, Key, Mapping};
use super::tree::node::{Node, Pos, Scalar, Style, Tag, Value};
use super::tree::sequence::Sequence;
use rustomize_base::memory::Budget;
use std::fmt::Write as _;

/// The width beyond which a value is folded at its next single space.
const WIDTH: usize = 80;

/// The length of the longest key, in bytes, that is printed without a `?`.
const SIMPLE_KEY: usize = 128;

/// The reason why a tree cannot be printed: upstream's later passes refuse it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unprintable {
    pub message: String,
    pub pos: Pos,
}

/// A step of the printer. The error is boxed, so that the usual result fits into a register.
type Emit<T = ()> = Result<T, Box<Unprintable>>;

/// Appends one document, without a separator, to `out`. It ends with one line break.
///
/// # Errors
/// A key is given twice, a key below the top is not a string, a number does not fit JSON, or a text
/// has control characters.
///
/// Cost: O(size of the text). On an error `out` holds a part of the document.
pub fn document(out: &mut String, node: &Node<'_>) -> Result<(), Unprintable> {
    print(Printer { in_braces: false, room: Room::endless(), parts: (), out }, node)
}

/// As [`document`], for a document that is about as long as `budget` has room for: one text may go
/// beyond it. Draws nothing from the budget.
///
/// # Errors
/// As [`document`], or the budget has no room for the document.
pub fn document_within(out: &mut String, node: &Node<'_>, budget: &Budget) -> Result<(), Unprintable> {
    print(Printer { in_braces: false, room: Room::of(budget, out.len()), parts: (), out }, node)
}

/// The most bytes that a document takes, if its keys and scalars alone show that it can be printed;
/// `None` if only printing tells, as for a text that is not printable ASCII. O(size of the tree),
/// without the copies of printing.
pub fn most_bytes(node: &Node<'_>) -> Option<usize> {
    value_bytes(node, 0)
}

/// As [`most_bytes`], for a value at an indentation.
fn value_bytes(node: &Node<'_>, indent: usize) -> Option<usize> {
    match &node.value {
        Value::Scalar(s) => is_surely_printed(s).then(|| scalar_bytes(s.text, indent)),
        Value::Sequence(items) => items.iter().try_fold(MARK, |most, item| {
            let item = value_bytes(item, indent + 2)?;
            Some(most.saturating_add(item).saturating_add(indent + MARK))
        }),
        Value::Mapping(mapping) => {
            let (mut most, mut previous) = (MARK, None);
            for Entry { key, value } in mapping.iter() {
                if !reprint::is_usual_key(key, previous) || key.text.len() > SIMPLE_KEY {
                    return None;
                }
                previous = Some(key);
                let value = value_bytes(value, indent + 2)?;
                most = most.saturating_add(value).saturating_add(indent + key.text.len() + MARK);
            }
            Some(most)
        }
    }
}

/// The bytes of `{}`, `- ` or `: ` with a line break.
const MARK: usize = 3;

/// The most bytes of a text: each may be escaped, in quotes, and begin a line.
fn scalar_bytes(text: &str, indent: usize) -> usize {
    text.len().saturating_add(2).saturating_mul(indent + 6)
}

/// Returns true for a scalar that can surely be printed.
fn is_surely_printed(s: &Scalar<'_>) -> bool {
    is_plain(s)
        || s.mismatch().is_none()
            && match s.kind() {
                Kind::Null | Kind::Bool | Kind::Int => true,
                Kind::Str => Bytes::of(s.text).are_usual,
                Kind::Float | Kind::Timestamp | Kind::Binary => false,
            }
}

/// A part of a printed document: a value, or the key in front of a mapping or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The offset in the text at which the value, or the key, begins.
    pub start: usize,
    /// The offset behind the line end.
    pub end: usize,
    /// The place of the key; `None` for a scalar, `{}` or `[]`.
    pub key: Option<Pos>,
}

/// As [`document`]. Appends the parts of the text in their order: those without a key are the
/// scalars and empty values of the tree, in its order.
///
/// # Errors
/// As [`document`].
pub fn document_in_parts(out: &mut String, parts: &mut Vec<Part>, node: &Node<'_>) -> Result<(), Unprintable> {
    print(Printer { out, in_braces: false, room: Room::endless(), parts }, node)
}

/// Is told of the parts of a document as they are printed.
trait Parts {
    fn note(&mut self, start: usize, end: usize, key: Option<Pos>);
}

/// Most documents are printed without a note of their parts.
impl Parts for () {
    #[inline(always)]
    fn note(&mut self, _: usize, _: usize, _: Option<Pos>) {}
}

impl Parts for &mut Vec<Part> {
    fn note(&mut self, start: usize, end: usize, key: Option<Pos>) {
        self.push(Part { start, end, key });
    }
}

/// Prints a document.
fn print<P: Parts>(mut printer: Printer<'_, P>, node: &Node<'_>) -> Result<(), Unprintable> {
    let printed = match &node.value {
        Value::Mapping(m) if !m.is_empty() => printer.mapping(m, 0, Start::SameLine, Depth::Top),
        Value::Sequence(s) if !s.is_empty() => printer.sequence(s, 0, Start::SameLine),
        _ => {
            let start = printer.out.len();
            printer.leaf(node, 0, start)
        }
    };
    printed.map_err(|e| *e)
}

/// Appends a scalar as it would be printed at the top of a document, without its line break.
///
/// # Errors
/// As [`document`].
pub fn scalar(out: &mut String, scalar: &Scalar<'_>) -> Result<(), Unprintable> {
    let line = out.rfind('\n').map_or(0, |i| i + 1);
    let mut printer = Printer { out, in_braces: false, room: Room::endless(), parts: () };
    if is_plain(scalar) {
        printer.words(scalar.text, Fold { line, indent: 2 }, Ends::Fold);
        return Ok(());
    }
    printer.rare_scalar(scalar, Pos::NONE, 0, line).map_err(|e| *e)
}

/// The line on which a mapping or list begins: after the dash or colon, or on a line of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    SameLine,
    OwnLine,
}

/// Whether a text may be folded at a space that is its first or last character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Fold,
    Stay,
}

struct Printer<'o, P> {
    out: &'o mut String,
    /// True if the next value is in a mapping that was written in braces, or in a list in brackets.
    in_braces: bool,
    room: Room<'o>,
    parts: P,
}

/// How long a document may become.
struct Room<'o> {
    /// The length of the output up to which nobody is asked.
    quiet: usize,
    /// The length of the output before the document.
    start: usize,
    /// The budget that is asked for more than `quiet`.
    budget: Option<&'o Budget>,
}

impl<'o> Room<'o> {
    const fn endless() -> Self {
        Room { quiet: usize::MAX, start: 0, budget: None }
    }

    fn of(budget: &'o Budget, start: usize) -> Self {
        Room { quiet: start.saturating_add(budget.left_for_sure()), start, budget: Some(budget) }
    }

    /// Returns true if the output may have this length.
    #[cold]
    fn holds(&mut self, length: usize) -> bool {
        if let Some(budget) = self.budget {
            self.quiet = self.start.saturating_add(budget.left());
        }
        length <= self.quiet
    }
}

const SPACES: &str = "                                                                                ";

impl<P: Parts> Printer<'_, P> {
    /// Refuses a document that is too long already.
    #[inline]
    fn check_length(&mut self, pos: Pos) -> Emit {
        if self.out.len() > self.room.quiet && !self.room.holds(self.out.len()) {
            return Err(unprintable("the document is too long".to_owned(), pos));
        }
        Ok(())
    }

    fn pad(&mut self, mut n: usize) {
        while n > SPACES.len() {
            self.out.push_str(SPACES);
            n -= SPACES.len();
        }
        self.out.push_str(&SPACES[..n]);
    }

    fn mapping(&mut self, mapping: &Mapping<'_>, indent: usize, mut start: Start, depth: Depth) -> Emit {
        let mut previous: Option<&Key<'_>> = None;
        let outside = self.in_braces;
        self.in_braces |= mapping.is_in_braces();
        for entry in mapping.iter() {
            let key = &entry.key;
            self.check_length(key.pos)?;
            let is_usual = reprint::is_usual_key(key, previous) && key.text.len() <= SIMPLE_KEY;
            if !is_usual {
                reprint::check_printed_key(key, previous, depth).map_err(|message| unprintable(message, key.pos))?;
            }
            previous = Some(key);
            if start == Start::OwnLine {
                self.pad(indent);
            }
            start = Start::OwnLine;
            let line = self.out.len() - indent;
            if is_usual {
                self.out.push_str(key.text);
            } else if !self.rare_key(key)? {
                self.pad(indent);
                self.out.push_str(": ");
                self.item(&entry.value, indent)?;
                continue;
            }
            match &entry.value.value {
                Value::Mapping(m) if !m.is_empty() => {
                    self.out.push_str(":\n");
                    self.parts.note(line + indent, self.out.len(), Some(key.pos));
                    self.mapping(m, indent + 2, Start::OwnLine, Depth::Below)?;
                }
                Value::Sequence(s) if !s.is_empty() => {
                    self.out.push_str(":\n");
                    self.parts.note(line + indent, self.out.len(), Some(key.pos));
                    self.sequence(s, indent, Start::OwnLine)?;
                }
                _ => {
                    self.out.push_str(": ");
                    self.leaf(&entry.value, indent, line)?;
                }
            }
        }
        self.in_braces = outside;
        Ok(())
    }

    fn sequence(&mut self, items: &Sequence<'_>, indent: usize, mut start: Start) -> Emit {
        let outside = self.in_braces;
        self.in_braces |= items.is_in_brackets();
        for item in items.iter() {
            self.check_length(item.pos())?;
            if start == Start::OwnLine {
                self.pad(indent);
            }
            start = Start::OwnLine;
            self.out.push_str("- ");
            self.item(item, indent)?;
        }
        self.in_braces = outside;
        Ok(())
    }

    /// Prints the value after `- ` or `: `: a list or mapping starts on the same line.
    fn item(&mut self, value: &Node<'_>, indent: usize) -> Emit {
        match &value.value {
            Value::Mapping(m) if !m.is_empty() => self.mapping(m, indent + 2, Start::SameLine, Depth::Below),
            Value::Sequence(s) if !s.is_empty() => self.sequence(s, indent + 2, Start::SameLine),
            _ => {
                let line = self.out.len() - indent - 2;
                self.leaf(value, indent, line)
            }
        }
    }

    /// Prints a scalar, `{}` or `[]`, and ends its line.
    #[inline(always)]
    fn leaf(&mut self, node: &Node<'_>, indent: usize, line: usize) -> Emit {
        let start = self.out.len();
        match &node.value {
            Value::Scalar(s) if is_plain(s) => self.words(s.text, Fold { line, indent: indent + 2 }, Ends::Fold),
            Value::Scalar(s) => {
                self.rare_leaf(s, node.pos(), indent, line)?;
                self.parts.note(start, self.out.len(), None);
                return Ok(());
            }
            Value::Sequence(_) => self.out.push_str("[]"),
            Value::Mapping(_) => self.out.push_str("{}"),
        }
        self.out.push('\n');
        self.parts.note(start, self.out.len(), None);
        Ok(())
    }

    /// Prints a scalar that is not surely a plain string, and ends its line.
    fn rare_leaf(&mut self, s: &Scalar<'_>, pos: Pos, indent: usize, line: usize) -> Emit {
        self.rare_scalar(s, pos, indent, line)?;
        // A literal block that keeps its breaks has ended its line already.
        let may_be_break = self.out.as_bytes().last().is_some_and(|b| !(b' '..=b'~').contains(b));
        if !(may_be_break && self.out.ends_with(is_break)) {
            self.out.push('\n');
        }
        Ok(())
    }

    /// Prints a scalar that is not surely a plain string.
    fn rare_scalar(&mut self, s: &Scalar<'_>, pos: Pos, indent: usize, line: usize) -> Emit {
        if let Some(what) = s.mismatch() {
            // The text, which may come from a Secret, is not in the message.
            return Err(unprintable(format!("cannot decode the value as {what}"), pos));
        }
        match s.kind() {
            Kind::Null if reprint::is_empty_text(s, self.in_braces) => self.out.push_str("\"\""),
            Kind::Str | Kind::Binary => return self.string(s, pos, indent, line),
            Kind::Null => self.out.push_str("null"),
            Kind::Bool => self.out.push_str(if scalar::truth(s.text) { "true" } else { "false" }),
            Kind::Int if reprint::is_short_integer(s.text) => self.out.push_str(s.text),
            Kind::Int => match scalar::int(s.text) {
                Some(n) => drop(write!(self.out, "{n}")),
                None => self.out.push_str(s.text),
            },
            Kind::Float => match scalar::float(s.text) {
                Some(f) if f.is_finite() => self.out.push_str(&float(f)),
                Some(_) => {
                    return Err(unprintable(format!("the number {} has no form in JSON", s.text), pos));
                }
                None => self.out.push_str(s.text),
            },
            Kind::Timestamp if reprint::is_time_in_braces(s, self.in_braces) => {
                return self.string(s, pos, indent, line);
            }
            Kind::Timestamp => drop(write!(self.out, "\"{}\"", scalar::timestamp(s.text).as_deref().unwrap_or(s.text))),
        }
        Ok(())
    }

    /// Prints a key that may need quotes. Returns `false` for a long key: it is printed after a
    /// `?`, and its line has ended.
    #[cold]
    fn rare_key(&mut self, key: &Key<'_>) -> Emit<bool> {
        reprint::check_json_key(key.text).map_err(|message| unprintable(message, key.pos))?;
        let text = key.text;
        let analysis = Analysis::of(text);
        if text.len() <= SIMPLE_KEY && !analysis.multiline {
            match analysis.style(text, TextUse::SimpleKey) {
                Style::Plain => self.out.push_str(text),
                Style::Single => self.single(text, None),
                _ => self.double(text, None),
            }
            return Ok(true);
        }
        let line = self.out.rfind(is_break).map_or(0, |i| i + self.out[i..].chars().next().map_or(0, char::len_utf8));
        let indent = self.out.len() - line;
        self.out.push_str("? ");
        self.styled(text, analysis.style(text, TextUse::Other), indent, line);
        if !self.out.ends_with(is_break) {
            self.out.push('\n');
        }
        Ok(false)
    }

    fn string(&mut self, s: &Scalar<'_>, pos: Pos, indent: usize, line: usize) -> Emit {
        // A usual text is on one line, and no detour changes it.
        let bytes = Bytes::of(s.text);
        if s.tag != Tag::Binary && bytes.are_usual {
            self.styled(s.text, Analysis::of_known(s.text, bytes).style(s.text, TextUse::Other), indent, line);
            return Ok(());
        }
        if s.tag != Tag::Binary && is_plain_block(s.text) && s.style != Style::Folded {
            self.literal(s.text, indent);
            return Ok(());
        }
        let refused = |message| unprintable(message, pos);
        let reprinted = reprint::text(s, self.in_braces).map_err(refused)?;
        let text = reprint::read_json(&reprinted).map_err(refused)?;
        let analysis = Analysis::of(&text);
        self.styled(&text, analysis.style(&text, TextUse::Other), indent, line);
        Ok(())
    }

    /// Prints a text that may take several lines; `line` is the offset in the output at which the
    /// current line starts.
    fn styled(&mut self, text: &str, style: Style, indent: usize, line: usize) {
        let fold = Fold { line, indent: indent + 2 };
        match style {
            Style::Plain => self.plain(text, fold),
            Style::Single => self.single(text, Some(fold)),
            Style::Literal => self.literal(text, indent),
            _ => self.double(text, Some(fold)),
        }
    }

    /// The column, in characters, that the next character will have.
    fn column(&self, fold: Fold) -> usize {
        self.out[fold.line..].chars().count()
    }

    fn fold(&mut self, fold: &mut Fold) {
        self.out.push('\n');
        fold.line = self.out.len();
        self.pad(fold.indent);
    }

    fn plain(&mut self, text: &str, fold: Fold) {
        self.words(text, fold, Ends::Fold);
    }

    /// Writes a text and folds it at single spaces beyond the width.
    #[inline(always)]
    fn words(&mut self, text: &str, fold: Fold, ends: Ends) {
        if self.out.len() - fold.line + text.len() <= WIDTH {
            self.out.push_str(text);
        } else {
            self.long_words(text, fold, ends);
        }
    }

    /// As [`Printer::words`], for a text that may be wider than the line.
    fn long_words(&mut self, text: &str, mut fold: Fold, ends: Ends) {
        let bytes = text.as_bytes();
        let is_ascii = text.is_ascii();
        let is_lone = |i: usize| (i == 0 || bytes[i - 1] != b' ') && bytes.get(i + 1) != Some(&b' ');
        let mut column = self.column(fold);
        let mut start = 0;
        loop {
            let fits = (WIDTH + 1).saturating_sub(column);
            let beyond = match is_ascii {
                true => start + fits,
                false => text[start..].char_indices().nth(fits).map_or(bytes.len(), |(i, _)| start + i),
            };
            let rest = bytes.get(beyond..).unwrap_or_default();
            let may_fold = |i: &usize| is_lone(*i) && (ends == Ends::Fold || (*i > 0 && *i + 1 < bytes.len()));
            let Some(i) = memchr::memchr_iter(b' ', rest).map(|i| beyond + i).find(may_fold) else { break };
            self.out.push_str(&text[start..i]);
            self.fold(&mut fold);
            (column, start) = (fold.indent, i + 1);
        }
        self.out.push_str(&text[start..]);
    }

    fn single(&mut self, text: &str, fold: Option<Fold>) {
        self.out.push('\'');
        let doubled = text.replace('\'', "''");
        let broken = !doubled.is_ascii() && doubled.contains(['\u{2028}', '\u{2029}']);
        match fold {
            Some(fold) if broken => self.single_with_breaks(&doubled, fold),
            Some(fold) => self.words(&doubled, fold, Ends::Stay),
            None => self.out.push_str(&doubled),
        }
        self.out.push('\'');
    }

    /// U+2028 and U+2029 are line breaks for the printer, which indents the text after them and
    /// begins to count columns again.
    fn single_with_breaks(&mut self, text: &str, fold: Fold) {
        let is_break = |c| matches!(c, '\u{2028}' | '\u{2029}');
        for (i, line) in text.split_inclusive(is_break).enumerate() {
            let content = line.trim_end_matches(is_break);
            if i == 0 {
                self.words(content, fold, Ends::Stay);
            } else if !content.is_empty() {
                let start = self.out.len();
                self.pad(fold.indent);
                self.words(content, Fold { line: start, ..fold }, Ends::Stay);
            }
            self.out.push_str(&line[content.len()..]);
        }
    }

    fn double(&mut self, text: &str, fold: Option<Fold>) {
        let needs_escape = |b: u8| !(b' '..=b'~').contains(&b) || b == b'"' || b == b'\\';
        let fits = fold.is_none_or(|fold| self.out.len() - fold.line + text.len() < WIDTH);
        if fits && !text.bytes().fold(false, |found, b| found | needs_escape(b)) {
            self.out.extend(["\"", text, "\""]);
            return;
        }
        self.out.push('"');
        let all = text.starts_with('\u{feff}');
        let mut column = fold.map(|f| self.column(f));
        let mut previous_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((i, c)) = chars.next() {
            let written = self.out.len();
            if all || !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                escape(self.out, c);
                previous_space = false;
            } else if c == ' ' {
                let next = chars.peek().map(|&(_, n)| n);
                if let (Some(fold), Some(col)) = (fold, column)
                    && !previous_space
                    && col > WIDTH
                    && i > 0
                    && next.is_some()
                {
                    self.out.push('\n');
                    self.pad(fold.indent);
                    column = Some(fold.indent);
                    if next == Some(' ') {
                        self.out.push('\\');
                        column = Some(fold.indent + 1);
                    }
                    previous_space = true;
                    continue;
                }
                self.out.push(' ');
                previous_space = true;
            } else {
                self.out.push(c);
                previous_space = false;
            }
            column = column.map(|col| col + self.out[written..].chars().count());
        }
        self.out.push('"');
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with(' ') || text.starts_with(is_break) {
            self.out.push('2');
        }
        let mut ends = text.chars().rev();
        match (ends.next().is_some_and(is_break), ends.next().is_none_or(is_break)) {
            (false, _) => self.out.push('-'),
            (true, false) => {}
            (true, true) => self.out.push('+'),
        }
        self.out.push('\n');
        let ascii = text.is_ascii();
        let mut rest = text;
        while !rest.is_empty() {
            let end = match ascii {
                true => memchr::memchr(b'\n', rest.as_bytes()).map(|i| (i, i + 1)),
                false => rest.char_indices().find(|&(_, c)| is_break(c)).map(|(i, c)| (i, i + c.len_utf8())),
            };
            let (content, line) = end.unwrap_or((rest.len(), rest.len()));
            if content > 0 {
                self.pad(indent + 2);
            }
            self.out.push_str(&rest[..line]);
            rest = &rest[line..];
        }
    }
}

/// The offset in the output at which a folded value's line starts, and the indentation of its next
/// lines.
#[derive(Clone, Copy)]
struct Fold {
    line: usize,
    indent: usize,
}

/// Returns true if the bytes of a scalar show that it is a string that is printed plain.
#[inline]
fn is_plain(s: &Scalar<'_>) -> bool {
    matches!(s.tag, Tag::Auto | Tag::Untyped | Tag::Str | Tag::Custom) && scalar::is_surely_plain(s.text)
}

#[cold]
fn unprintable(message: String, pos: Pos) -> Box<Unprintable> {
    Box::new(Unprintable { message, pos })
}

/// The text of a number that is not an integer, or that exceeds 64 bits. The number has been
/// through JSON: if its value is whole and fits an integer, it is printed as one.
fn float(f: f64) -> String {
    let json = scalar::json_number(f);
    match scalar::int(&json) {
        Some(n) => n.to_string(),
        None => scalar::go_number(f),
    }
}

/// Returns true if the bytes of a text alone show that it is a literal block: several lines of
/// printable ASCII without blanks at their ends.
fn is_plain_block(text: &str) -> bool {
    let bytes = text.as_bytes();
    if memchr::memchr(b'\n', bytes).is_none() || bytes.last() == Some(&b' ') {
        return false;
    }
    let unfit = |b: u8| !(0x20..0x7f).contains(&b) && b != b'\n';
    let ends_in_blank = |before: u8, b: u8| before == b' ' && b == b'\n';
    // Without an early end, the compiler looks at many bytes at once.
    let pairs = bytes.iter().zip(&bytes[1..]);
    !pairs.fold(unfit(bytes[0]), |found, (&before, &b)| found | unfit(b) | ends_in_blank(before, b))
}

/// Appends the escape of a character in double quotes, for a character that must be escaped.
pub(super) fn escape(out: &mut String, c: char) {
    let short = match c {
        '\0' => '0',
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '\x1b' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        '\u{a0}' => '_',
        _ => {
            let code = c as u32;
            let _ = match code {
                0..=0xff => write!(out, "\\x{code:02X}"),
                0x100..=0xffff => write!(out, "\\u{code:04X}"),
                _ => write!(out, "\\U{code:08X}"),
            };
            return;
        }
    };
    out.push('\\');
    out.push(short);
}

#[cfg(test)]
mod tests {
    use super::{document, most_bytes};
    use crate::{Heap, documents};

    #[test]
    fn what_looks_printable_is_printed_in_as_many_bytes() {
        let words = "word ".repeat(60);
        let deep = "a: {".repeat(60) + &format!("a: {words}") + &"}".repeat(60);
        for (text, is_sure) in [
            ("a: b\nc: [d, 1, ~, true, {}, [], 0x10, \"e 'f'\"]\n", true),
            (&*format!("a: {words}\nb: \"{words}'\"\n"), true),
            (&deep, true),
            ("~", true),
            ("a: ü", false),
            ("a: |\n  two\n  lines\n", false),
            ("a: 1.5", false),
            ("? [a]\n: b", false),
            ("a: !!int b", false),
            ("1: b", false),
            ("a: {true: b}", false),
        ] {
            let heap = Heap::new();
            let arena = heap.arena();
            let Ok(nodes) = documents(arena, arena.add_source("a", text.to_owned())) else {
                assert!(!is_sure, "{text}");
                continue;
            };
            let mut out = String::new();
            let (most, printed) = (most_bytes(&nodes[0]), document(&mut out, &nodes[0]));
            assert_eq!(most.is_some(), is_sure, "{text}");
            assert!(most.is_none_or(|most| printed.is_ok() && out.len() <= most), "{text}: {most:?}, {}", out.len());
        }
    }
}
