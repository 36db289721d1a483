//! A YAML text printed anew after a change, as go-yaml v3 prints what it has read: order and
//! comments stay, styles too, blank lines go, two blanks indent a mapping and none a list.

use super::json;
use super::scalar::{self, Kind};
use super::tree::mapping::Mapping;
use super::tree::node::{Node, Pos, Scalar, Style, Tag, Value};
use super::{Entry, Source};
use std::ops::Range;

/// What a tree does not say of its text: the comments.
#[derive(Debug)]
pub struct Layout<'a> {
    source: &'a Source,
    comments: Vec<Comment<'a>>,
}

#[derive(Debug)]
struct Comment<'a> {
    /// From the `#` to the end of its line.
    text: &'a str,
    offset: usize,
    column: usize,
    /// Whether nothing else stands in its line.
    own_line: bool,
    /// Whether an empty line stands before or behind it.
    blank_before: bool,
    blank_after: bool,
}

impl<'a> Layout<'a> {
    /// Finds the comments of a text that was read into `root`, before that is changed. `None` if
    /// the text has what is not printed anew: anchors, tags, explicit keys, folded blocks, and
    /// texts over several lines. O(size of the text).
    pub fn of(source: &'a Source, root: &Node<'_>) -> Option<Self> {
        let mut spans = Vec::new();
        collect(source, root, &mut spans)?;
        spans.sort_by_key(|span| span.start);
        let mut layout = Layout { source, comments: Vec::new() };
        let mut at = 0;
        for span in spans.into_iter().chain(std::iter::once(source.text.len()..source.text.len())) {
            layout.scan(at..span.start.max(at))?;
            at = at.max(span.end);
        }
        Some(layout)
    }

    /// Takes the comments of a stretch between scalars; `None` if anything but structure stands
    /// there.
    fn scan(&mut self, range: Range<usize>) -> Option<()> {
        let text = self.source.text.as_str();
        let mut rest = range.clone();
        while let Some(c) = text.get(rest.clone())?.chars().next() {
            let at = rest.start;
            let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
            match c {
                '#' => {
                    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
                    self.comments.push(self.comment(at, end, line_start));
                    rest.start = end.min(rest.end);
                }
                ' ' | '\n' | '\t' | ':' | '-' | ',' | '{' | '}' | '[' | ']' => rest.start += 1,
                _ => return None,
            }
        }
        Some(())
    }

    fn comment(&self, at: usize, end: usize, line_start: usize) -> Comment<'a> {
        let text = self.source.text.as_str();
        let is_blank = |line: Option<&str>| line.is_some_and(|line| line.trim().is_empty());
        let before = text[..line_start].strip_suffix('\n');
        let after = text[end..].strip_prefix('\n');
        Comment {
            text: text[at..end].trim_end(),
            offset: at,
            column: at - line_start,
            own_line: text[line_start..at].trim().is_empty(),
            blank_before: is_blank(before.and_then(|b| b.rsplit('\n').next())),
            blank_after: is_blank(after.and_then(|a| a.split('\n').next()))
                && after.is_some_and(|a| !a.trim().is_empty()),
        }
    }

    /// Prints the tree, without a line end behind it.
    pub fn print(&self, root: &Node<'_>) -> String {
        let mut printer = Printer { layout: self, next: 0, out: String::new(), foot: None, goes_on: false };
        match &root.value {
            Value::Scalar(s) => printer.scalar(s, 0),
            _ => printer.block(root, 0, self.source.text.len()),
        }
        let rest = &self.comments[printer.next..];
        if rest.first().is_some_and(|c| c.blank_before) {
            printer.out.push('\n');
        }
        rest.iter().for_each(|c| printer.line(0, c.text));
        printer.out.trim().to_owned()
    }
}

/// The stretches of a text that its scalars take.
fn collect(source: &Source, node: &Node<'_>, spans: &mut Vec<Range<usize>>) -> Option<()> {
    match &node.value {
        Value::Scalar(s) => spans.push(span(source, node.pos, s.text, s.style, s.tag)?),
        Value::Sequence(items) => items.iter().try_for_each(|item| collect(source, item, spans))?,
        Value::Mapping(m) => {
            for Entry { key, value } in m.iter() {
                spans.push(span(source, key.pos, key.text, key.style, key.tag)?);
                collect(source, value, spans)?;
            }
        }
    }
    Some(())
}

fn span(source: &Source, pos: Pos, text: &str, style: Style, tag: Tag) -> Option<Range<usize>> {
    let at = usize::try_from(pos.0.checked_sub(source.base)?).ok()?;
    let rest = source.text.get(at..)?;
    let len = match style {
        _ if tag != Tag::Auto => return None,
        Style::Plain if rest.starts_with(text) => text.len(),
        Style::Single | Style::Double => quoted(rest)?,
        Style::Literal => literal(&source.text, at)?,
        _ => return None,
    };
    Some(at..at + len)
}

/// The length of a quoted scalar in one line.
fn quoted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.first()?;
    let mut i = 1;
    loop {
        match *bytes.get(i)? {
            b'\n' => return None,
            b'\\' if quote == b'"' => i += 1,
            b if b == quote && quote == b'\'' && bytes.get(i + 1) == Some(&quote) => i += 1,
            b if b == quote => return Some(i + 1),
            _ => {}
        }
        i += 1;
    }
}

/// The length of a literal block: its header, and the lines that are deeper than the line it starts
/// in.
fn literal(text: &str, at: usize) -> Option<usize> {
    let header = text[at..].find('\n')?;
    if text[at..at + header].contains('#') {
        return None;
    }
    let line_start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let own = text[line_start..at].trim_start_matches([' ', '-']);
    let parent = text[line_start..].len() - text[line_start..].trim_start_matches([' ', '-']).len();
    // An item of a list is as deep as its own dash.
    let parent = if own.is_empty() { text[line_start..at].rfind('-').unwrap_or(0) } else { parent };
    let mut end = at + header;
    for line in text[at + header + 1..].split('\n') {
        if !line.trim().is_empty() && depth(line) <= parent {
            break;
        }
        end += 1 + line.len();
    }
    Some(end.min(text.len()) - at)
}

struct Printer<'l, 'a> {
    layout: &'l Layout<'a>,
    /// The first comment that is not printed yet.
    next: usize,
    out: String,
    /// The depth of a comment that an empty line follows, if the next line is as deep.
    foot: Option<usize>,
    /// Whether the next entry or item stands in the line that was begun.
    goes_on: bool,
}

impl Printer<'_, '_> {
    fn indent(&mut self, depth: usize) {
        if self.foot.take() == Some(depth) {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', depth));
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.indent(depth);
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn offset(&self, pos: Pos) -> Option<usize> {
        self.layout.source.offset(pos)
    }

    /// Prints the comments above something.
    fn head(&mut self, before: Option<usize>, depth: usize) {
        let Some(before) = before else { return };
        while let Some(comment) = self.layout.comments.get(self.next).filter(|c| c.offset < before) {
            self.line(depth, comment.text);
            self.foot = comment.blank_after.then_some(depth);
            self.next += 1;
        }
    }

    /// Begins an entry or item, with the comments above it, or goes on where its list's dash
    /// stands.
    fn begin(&mut self, at: Option<usize>, depth: usize) {
        if !std::mem::take(&mut self.goes_on) {
            self.head(at, depth);
            self.indent(depth);
        }
    }

    /// Ends a line, with the comment that stands behind it.
    fn end_line(&mut self, at: Option<usize>) {
        let comment = self.layout.comments.get(self.next).filter(|c| !c.own_line);
        if let (Some(comment), Some(at)) = (comment, at)
            && self.layout.source.text.get(at..comment.offset).is_some_and(|between| !between.contains('\n'))
        {
            self.out.push(' ');
            self.out.push_str(comment.text);
            self.next += 1;
        }
        self.out.push('\n');
    }

    /// Prints a mapping or list in lines; what stands before `end` and deeper than it belongs to
    /// it.
    fn block(&mut self, node: &Node<'_>, depth: usize, end: usize) {
        let mut first_column = None;
        match &node.value {
            Value::Mapping(m) => {
                let entries = in_order(m);
                for (i, entry) in entries.iter().enumerate() {
                    let at = self.offset(entry.key.pos);
                    first_column = first_column.or(at.map(|at| self.column(at)));
                    let next = entries.get(i + 1).and_then(|e| self.offset(e.key.pos)).unwrap_or(end);
                    self.begin(at, depth);
                    self.entry(entry, depth, next);
                }
            }
            Value::Sequence(items) => {
                for (i, item) in items.iter().enumerate() {
                    let at = self.offset(start(item));
                    let next = items.get(i + 1).and_then(|n| self.offset(start(n))).unwrap_or(end);
                    let dash = at.and_then(|at| self.layout.source.text[..at].rfind('-'));
                    first_column = first_column.or(dash.map(|at| self.column(at)));
                    self.begin(dash, depth);
                    self.item(item, depth, next);
                }
            }
            Value::Scalar(_) => {}
        }
        // Comments at the end of the block, as deep as it is.
        let column = first_column.unwrap_or(0);
        if column > 0 {
            let own = self.layout.comments[self.next..].iter().take_while(|c| c.offset < end && c.column >= column);
            if let Some(last) = own.last() {
                let behind = last.offset + 1;
                self.head(Some(behind), depth);
            }
        }
    }

    fn column(&self, at: usize) -> usize {
        at - self.layout.source.text[..at].rfind('\n').map_or(0, |i| i + 1)
    }

    /// Prints an entry of a mapping, its indentation being there.
    fn entry(&mut self, entry: &Entry<'_>, depth: usize, end: usize) {
        let key = &entry.key;
        self.scalar(&key.as_scalar(), depth);
        self.out.push(':');
        let at = self.offset(key.pos);
        match &entry.value.value {
            Value::Mapping(m) if !m.is_empty() && !self.is_flow(&entry.value) => {
                self.end_line(at);
                self.block(&entry.value, depth + 2, end);
            }
            Value::Sequence(items) if !items.is_empty() && !self.is_flow(&entry.value) => {
                self.end_line(at);
                self.block(&entry.value, depth, end);
            }
            _ => self.value(&entry.value, depth, at),
        }
    }

    /// Prints an item of a list, its indentation being there.
    fn item(&mut self, item: &Node<'_>, depth: usize, end: usize) {
        self.out.push('-');
        let at = self.offset(start(item));
        let is_block = match &item.value {
            Value::Mapping(m) => !m.is_empty() && !self.is_flow(item),
            Value::Sequence(items) => !items.is_empty() && !self.is_flow(item),
            Value::Scalar(_) => false,
        };
        if !is_block {
            return self.value(item, depth, at);
        }
        let comment = self.layout.comments.get(self.next).filter(|c| at.is_some_and(|at| c.offset < at));
        match comment.map(|c| (c.own_line, c.text)) {
            None => {
                self.out.push(' ');
                self.goes_on = true;
            }
            Some((true, _)) => self.out.push('\n'),
            Some((false, text)) => {
                self.out.push_str(&format!(" {text}\n"));
                self.next += 1;
            }
        }
        self.block(item, depth + 2, end);
    }

    /// Prints what fits into the line, and ends it.
    fn value(&mut self, node: &Node<'_>, depth: usize, at: Option<usize>) {
        let is_nothing = node.as_scalar().is_some_and(|s| s.text.is_empty() && s.style == Style::Plain && s.is_null());
        if !is_nothing {
            self.out.push(' ');
            self.flow(node, depth);
        }
        self.end_line(at);
    }

    fn is_flow(&self, node: &Node<'_>) -> bool {
        let at = self.offset(node.pos);
        at.is_some_and(|at| self.layout.source.text[at..].starts_with(['{', '[']))
    }

    fn flow(&mut self, node: &Node<'_>, depth: usize) {
        match &node.value {
            Value::Scalar(s) => self.scalar(s, depth),
            Value::Sequence(items) => {
                self.out.push('[');
                for (i, item) in items.iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    self.flow(item, depth);
                }
                self.out.push(']');
            }
            Value::Mapping(m) => {
                self.out.push('{');
                for (i, Entry { key, value }) in in_order(m).into_iter().enumerate() {
                    self.out.push_str(if i > 0 { ", " } else { "" });
                    self.scalar(&key.as_scalar(), depth);
                    self.out.push_str(": ");
                    self.flow(value, depth);
                }
                self.out.push('}');
            }
        }
    }

    /// Prints a scalar in its style, with a tag where its text is not of its type.
    fn scalar(&mut self, s: &Scalar<'_>, depth: usize) {
        let by_text = scalar::resolve(s.text);
        match s.style {
            Style::Single => self.single(s.text),
            Style::Double => json_like(&mut self.out, s.text),
            _ if s.text.contains('\n') => self.literal(s.text, depth),
            _ => match s.kind() {
                Kind::Str if by_text != Kind::Str => json_like(&mut self.out, s.text),
                Kind::Str if !json::is_plain_syntax(s.text) || s.text.is_empty() => self.single(s.text),
                kind => {
                    if kind != by_text {
                        self.out.push_str(tag_of(kind));
                    }
                    match s.text.is_empty() || json::is_plain_syntax(s.text) {
                        true => self.out.push_str(s.text),
                        false => self.single(s.text),
                    }
                }
            },
        }
    }

    fn single(&mut self, text: &str) {
        self.out.push('\'');
        self.out.push_str(&text.replace('\'', "''"));
        self.out.push('\'');
    }

    fn literal(&mut self, text: &str, depth: usize) {
        let breaks = text.len() - text.trim_end_matches('\n').len();
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        self.out.push_str(match breaks {
            0 => "-",
            1 => "",
            _ => "+",
        });
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n(' ', depth + 2));
                self.out.push_str(line);
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

/// Where a node starts: a mapping in lines with its first key.
fn start(node: &Node<'_>) -> Pos {
    match &node.value {
        Value::Mapping(m) => in_order(m).first().map_or(node.pos, |e| e.key.pos.min(node.pos)),
        _ => node.pos,
    }
}

fn tag_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Str => "!!str ",
        Kind::Int => "!!int ",
        Kind::Float => "!!float ",
        Kind::Bool => "!!bool ",
        Kind::Null => "!!null ",
        Kind::Timestamp => "!!timestamp ",
        Kind::Binary => "!!binary ",
    }
}

/// Double quotes, with the escapes of YAML.
fn json_like(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c if (c as u32) < 0x20 || c == '\u{7f}' => out.push_str(&format!("\\x{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
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
    fn some_texts_are_left_alone() {
        let refused = |input: &str| {
            let heap = Heap::new();
            let arena = heap.arena();
            let source = arena.add_source("text", input.to_owned());
            let root = first_document(arena, source).unwrap().unwrap();
            Layout::of(source, &root).is_none()
        };
        for text in ["a: &x 1\nb: *x\n", "a: !!str 1\n", "a: >\n  folded\n", "a: one\n  two\n", "? a\n: b\n"] {
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
    fn what_is_printed_reads_the_same_and_stays() {
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
            // Without the line end that upstream cuts off, too, a block at the end would lose its
            // own.
            let (source, again) = read(&format!("{printed}\n"));
            let again = again.unwrap_or_else(|| panic!("{input}\n-- becomes --\n{printed}"));
            assert!(again.same(&root), "other values:\n{input}\n-- becomes --\n{printed}");
            let layout = Layout::of(source, &again).expect("what was printed is plain");
            assert_eq!(layout.print(&again), printed, "from\n{input}");
            let count = |text: &str| text.matches("# ").count();
            assert_eq!(count(&printed), count(&input), "other comments:\n{input}\n-- becomes --\n{printed}");
        }
    }
}
