//! Prints new values, in blocks and in brackets. Values that were only moved keep their text, with
//! its comments.

use super::super::emit;
use super::super::scalar::Kind;
use super::super::tree::node::{Node, Scalar, Style, Value};
use super::layout::{self, Form, Layout};
use std::collections::BTreeMap;

/// Values that are in the text already, by their places.
#[derive(Default)]
pub(super) struct Known<'n, 'a> {
    values: BTreeMap<u32, (&'n Node<'a>, &'n Layout)>,
}

impl<'n, 'a> Known<'n, 'a> {
    /// Adds a value and all values in it.
    pub(super) fn add(&mut self, node: &'n Node<'a>, layout: &'n Layout) {
        if !layout.range.is_empty() && !matches!(layout.form, Form::Opaque) {
            self.values.insert(node.pos().0, (node, layout));
        }
        let (Form::Block(children) | Form::Flow(children)) = &layout.form else { return };
        super::pairs(node, children).for_each(|(node, child)| self.add(node, &child.value));
    }
}

impl Known<'_, '_> {
    /// The layout of a value that is in the text already and was not changed.
    fn get(&self, node: &Node<'_>) -> Option<&Layout> {
        let (known, layout) = self.values.get(&node.pos().0)?;
        super::same(known, node).then_some(*layout)
    }
}

/// The data that printing needs in addition to the value.
pub(super) struct Printer<'p, 'n, 'a> {
    pub text: &'p str,
    pub known: &'p Known<'n, 'a>,
    /// The number of columns by which the dashes of a list are indented below its key.
    pub list_indent: usize,
    /// True if a moved value keeps the comment after it on its line.
    pub takes_tails: bool,
    /// True if a text of several lines is printed as a block.
    pub has_blocks: bool,
}

impl Printer<'_, '_, '_> {
    /// Prints a value after a dash; its content begins in `column`.
    pub(super) fn item(&self, out: &mut String, node: &Node<'_>, column: usize) {
        if self.moved(out, node, column) {
            return;
        }
        match &node.value {
            Value::Mapping(mapping) if !mapping.is_empty() => {
                for (i, entry) in mapping.iter().enumerate() {
                    if i > 0 {
                        new_line(out, column);
                    }
                    scalar(out, &entry.key.as_scalar(), Style::Plain, None);
                    out.push(':');
                    self.field(out, &entry.value, column);
                }
            }
            Value::Sequence(items) if !items.is_empty() => {
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        new_line(out, column);
                    }
                    out.push_str("- ");
                    self.item(out, item, column + 2);
                }
            }
            Value::Scalar(value) => scalar(out, value, value.style(), Some(column).filter(|_| self.has_blocks)),
            _ => flow(out, node),
        }
    }

    /// Prints the comments in the lines above a moved item of a list, above a dash in `column`.
    pub(super) fn comments_above(&self, out: &mut String, item: &Node<'_>, column: usize) {
        let Some((_, layout)) = self.known.values.get(&item.pos().0) else { return };
        let above = &self.text[..layout::line_start(self.text, layout.range.start)];
        let dash = self.text[above.len()..layout.range.start].trim();
        let lines = above.lines().rev().take_while(|line| line.trim_start().starts_with('#'));
        let comments: Vec<&str> = lines.filter(|_| dash == "-").collect();
        for comment in comments.into_iter().rev() {
            out.push_str(comment.trim());
            new_line(out, column);
        }
    }

    /// Prints a value after the colon of a key in `column`.
    pub(super) fn field(&self, out: &mut String, node: &Node<'_>, column: usize) {
        let inner = match &node.value {
            Value::Mapping(mapping) if !mapping.is_empty() => column + 2,
            Value::Sequence(items) if !items.is_empty() => column + self.list_indent,
            _ => {
                out.push(' ');
                return self.item(out, node, column + 2);
            }
        };
        match self.known.get(node) {
            Some(Layout { form: Form::Flow(_), .. }) => out.push(' '),
            _ => new_line(out, inner),
        }
        self.item(out, node, inner);
    }

    /// Prints the text of a value that is elsewhere in the text, with its lines indented for
    /// `column`. Returns false for a value that was not moved.
    fn moved(&self, out: &mut String, node: &Node<'_>, column: usize) -> bool {
        let Some(layout) = self.known.get(node) else { return false };
        let mut range = layout.range.clone();
        let tail = &self.text[range.end..layout::line_end(self.text, range.end)];
        if self.takes_tails && tail.trim_start().starts_with('#') {
            range.end += tail.trim_end().len();
        }
        let old = layout::column(self.text, range.start);
        for (i, line) in self.text[range].split('\n').enumerate() {
            let content = line.trim_start_matches(' ');
            match i {
                0 => out.push_str(line),
                _ if content.is_empty() => out.push('\n'),
                _ => {
                    new_line(out, (line.len() - content.len() + column).saturating_sub(old));
                    out.push_str(content);
                }
            }
        }
        true
    }
}

/// Prints a value in brackets.
pub(super) fn flow(out: &mut String, node: &Node<'_>) {
    match &node.value {
        Value::Scalar(value) => scalar(out, value, value.style(), None),
        Value::Sequence(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                flow(out, item);
            }
            out.push(']');
        }
        Value::Mapping(mapping) => {
            out.push('{');
            for (i, entry) in mapping.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                scalar(out, &entry.key.as_scalar(), Style::Plain, None);
                out.push_str(": ");
                flow(out, &entry.value);
            }
            out.push('}');
        }
    }
}

/// Prints a scalar in the given style, if that can hold it. A text of several lines becomes a block
/// whose lines begin in `column`; without a column everything is on one line, as in brackets.
pub(super) fn scalar(out: &mut String, value: &Scalar<'_>, style: Style, column: Option<usize>) {
    let text = value.text();
    if value.kind() != Kind::Str {
        out.push_str(text);
        return;
    }
    if let Some(column) = column.filter(|_| fits_block(text)) {
        let chomp = match text.strip_suffix('\n') {
            None => "-",
            Some(rest) if rest.ends_with('\n') => "+",
            Some(_) => "",
        };
        out.push('|');
        out.push_str(chomp);
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            new_line(out, if line.is_empty() { 0 } else { column });
            out.push_str(line);
        }
        return;
    }
    let is_printable =
        text.chars().all(|c| !c.is_control() && c != '\u{feff}' && !('\u{2028}'..='\u{2029}').contains(&c));
    match style {
        _ if !is_printable => quote(out, text),
        Style::Single => single(out, text),
        Style::Double => quote(out, text),
        _ => match plain(text, column.is_none()) {
            true => out.push_str(text),
            false if text.contains('\'') => quote(out, text),
            false if style == Style::Plain => quote(out, text),
            false => single(out, text),
        },
    }
}

/// Returns true if a text without quotes reads as the same string.
fn plain(text: &str, is_flow: bool) -> bool {
    let mut printed = String::new();
    let string = Scalar::string(text);
    // Beyond 80 columns the printer folds.
    let unfolded = emit::scalar(&mut printed, &string).map(|()| printed.split_whitespace().eq(text.split_whitespace()));
    unfolded == Ok(true)
        && !printed.starts_with(['"', '\'', '|', '>'])
        && !(is_flow && text.contains([',', '[', ']', '{', '}', '?', ':', '#', '&', '*', '!', '|', '>', '%', '@', '`']))
}

fn single(out: &mut String, text: &str) {
    out.push('\'');
    out.push_str(&text.replace('\'', "''"));
    out.push('\'');
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns true if a text of several lines can be a literal block without an indentation of its
/// own.
fn fits_block(text: &str) -> bool {
    let first = text.split('\n').next().unwrap_or_default();
    let is_printable =
        |c: char| c == '\n' || c == '\t' || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    text.contains('\n') && !first.trim().is_empty() && !first.starts_with([' ', '\t']) && text.chars().all(is_printable)
}

fn new_line(out: &mut String, column: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', column));
}
