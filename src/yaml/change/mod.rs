//! Changes a text so that it reads as another tree, and keeps all its other bytes.
//!
//! The caller reads a text, changes a copy of its tree with the usual methods, and passes both
//! trees. [`apply`] compares them: entries are matched by their keys, items of lists by their
//! places. Where they differ, [`layout`] finds the bytes to change, and [`print`] makes the new
//! ones. At last the new text is read and compared with the wanted tree. So a text that cannot be
//! changed is an error, and never becomes a wrong text.
//!
//! *Cost*: O(size of the text × depth of its tree).

mod layout;
mod print;

use super::tree::node::{Node, Pos, Value};
use super::{Arena, Entry, Key, Mapping, Source, first_document};
use layout::{Child, Form, Layout, begins_line, line_end, line_start};
use print::{Known, Printer};
use rustomize_base::meter::{self, FastMap, FastSet};
use std::ops::Range;

/// The reason why a text cannot be changed as wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchangeable {
    pub message: String,
    pub pos: Pos,
}

/// The text of a file.
#[derive(Clone, Copy)]
pub struct FileText<'t> {
    /// The text as it was read, with line breaks normalised to LF.
    pub source: &'t Source,
    /// The same text with the line breaks of the file.
    pub written: &'t str,
}

/// A value before and after the change.
#[derive(Clone, Copy)]
struct BeforeAfter<'n, 'a> {
    old: &'n Node<'a>,
    new: &'n Node<'a>,
}

/// Bytes that are replaced by a text.
struct Edit {
    range: Range<usize>,
    text: String,
}

/// Changes a text, which reads as `before`, so that it reads as `after`. Items of lists in `after`
/// have the places that they have in `before`; the place of a new item is [`Pos::NONE`]. A value
/// that has the place of another value of `before` was moved, and keeps its text.
///
/// # Errors
/// A part of the text that must change has aliases or merge keys.
pub fn apply<'a>(
    arena: Arena<'a>,
    text: FileText<'_>,
    before: Option<&Node<'a>>,
    after: &Node<'a>,
) -> Result<String, Unchangeable> {
    // A comment after a block scalar becomes part of the scalar if it is indented as far. In that
    // case the text is put in quotes.
    for has_blocks in [true, false] {
        let changed = attempt(text, before, after, has_blocks)?;
        let read = first_document(arena, arena.add_source(text.source.name.clone(), changed.clone()));
        let is_wanted = match &read {
            Ok(Some(read)) => same(read, after),
            Ok(None) => after.as_mapping().is_some_and(Mapping::is_empty),
            Err(_) => false,
        };
        if is_wanted {
            return Ok(changed);
        }
    }
    Err(Unchangeable { message: UNCHANGEABLE.to_owned(), pos: before.map_or(Pos::NONE, Node::pos) })
}

/// Changes a text. Texts of several lines are printed as blocks, or else in quotes.
fn attempt(
    FileText { source, written }: FileText<'_>,
    before: Option<&Node<'_>>,
    after: &Node<'_>,
    has_blocks: bool,
) -> Result<String, Unchangeable> {
    let mut changes = Changes { text: &source.text, base: source.base, edits: Vec::new() };
    let mut known = Known::default();
    let layout = before.map(|before| (before, Layout::of(source, before)));
    let mut list_indent = 0;
    if let Some((before, layout)) = &layout {
        known.add(before, layout);
        list_indent = self::list_indent(&source.text, before, layout);
    }
    let printer = Printer { text: &source.text, known: &known, list_indent, takes_tails: true, has_blocks };
    match &layout {
        Some((before, layout)) => {
            changes.value(&printer, BeforeAfter { old: before, new: after }, layout, Host::Document)?
        }
        None => changes.begin(&printer, after),
    }
    changes.write(written)
}

const UNCHANGEABLE: &str =
    "the file is written in a way that cannot be changed here: it has aliases, merge keys or keys that are given twice";

/// Returns true if two trees are equal for a reader of YAML 1.1.
fn same(a: &Node<'_>, b: &Node<'_>) -> bool {
    a.same(b)
}

/// The line, at column 0, that ends the document whose root begins at `start`; the length of the
/// text if nothing follows the document.
fn document_end(text: &str, start: usize) -> usize {
    let mut at = line_end(text, start);
    while at < text.len() {
        at += 1;
        let line = &text[at..line_end(text, at)];
        let is_marker = |marker| {
            line.strip_prefix(marker).is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with([' ', '\t']))
        };
        if is_marker("---") || is_marker("...") {
            return at;
        }
        at += line.len();
    }
    text.len()
}

/// The items or values of a node, each with its place in the text.
fn pairs<'n, 'a>(node: &'n Node<'a>, children: &'n [Child]) -> impl Iterator<Item = (&'n Node<'a>, &'n Child)> {
    let mut values: Vec<&'n Node<'a>> = Vec::new();
    match &node.value {
        Value::Sequence(items) => values.extend(items.iter()),
        Value::Mapping(mapping) => {
            let mut entries: Vec<_> = mapping.iter().collect();
            entries.sort_by_key(|entry| entry.key.pos);
            values.extend(entries.into_iter().map(|entry| &entry.value));
        }
        Value::Scalar(_) => {}
    }
    values.into_iter().zip(children)
}

/// The number of columns by which the dashes of lists are indented below their keys, as in the
/// first list of the fields.
fn list_indent(text: &str, root: &Node<'_>, layout: &Layout) -> usize {
    let Form::Block(children) = &layout.form else { return 0 };
    let lists = pairs(root, children).filter(|(node, _)| node.as_sequence().is_some());
    let indent = |child: &Child| match &child.value.form {
        Form::Block(items) => {
            let dash = items.first().filter(|item| begins_line(text, item.start))?;
            layout::column(text, dash.start).checked_sub(layout::column(text, child.start))
        }
        _ => None,
    };
    lists.filter_map(|(_, child)| indent(child)).next().unwrap_or(0)
}

/// The surroundings of a value.
#[derive(Clone, Copy)]
enum Host {
    Document,
    /// Brackets.
    Flow,
    /// An entry or item of a block, whose key or dash is in `column`.
    Field {
        column: usize,
        lead: usize,
    },
    Item {
        column: usize,
        lead: usize,
    },
}

/// The changes of one text.
struct Changes<'t> {
    text: &'t str,
    base: u32,
    edits: Vec<Edit>,
}

/// The changes to the items or entries of a value.
struct Plan<'p, 'n, 'a> {
    children: &'p [Child],
    stays: Vec<bool>,
    /// New items or entries, each with the old one that it comes after.
    added: Vec<(Option<usize>, Added<'n, 'a>)>,
}

#[derive(Clone, Copy)]
enum Added<'n, 'a> {
    Item(&'n Node<'a>),
    Entry(&'n Key<'a>, &'n Node<'a>),
}

/// The entries of a mapping: of several with the same key or place, the first.
#[derive(Default)]
struct KnownEntries<'n, 'a> {
    by_key: FastMap<&'a str, &'n Entry<'a>>,
    by_key_place: FastMap<Pos, &'n Entry<'a>>,
    by_value_place: FastMap<Pos, &'n Entry<'a>>,
}

impl<'n, 'a> KnownEntries<'n, 'a> {
    fn of(mapping: &'n Mapping<'a>) -> Self {
        let mut known = KnownEntries::default();
        for entry in mapping.iter() {
            known.by_key.entry(entry.key.text).or_insert(entry);
            known.by_key_place.entry(entry.key.pos).or_insert(entry);
            if entry.value.pos().is_in_source() {
                known.by_value_place.entry(entry.value.pos()).or_insert(entry);
            }
        }
        known
    }
}

impl Changes<'_> {
    fn edit(&mut self, range: Range<usize>, text: impl Into<String>) {
        let text = text.into();
        if !(range.is_empty() && text.is_empty()) {
            self.edits.push(Edit { range, text });
        }
    }

    /// Changes the text of one value so that it reads as another.
    fn value<'a>(
        &mut self,
        printer: &Printer<'_, '_, 'a>,
        values: BeforeAfter<'_, 'a>,
        layout: &Layout,
        host: Host,
    ) -> Result<(), Unchangeable> {
        let BeforeAfter { old, new } = values;
        if same(old, new) {
            return Ok(());
        }
        let (Form::Block(children) | Form::Flow(children)) = &layout.form else {
            self.replace(printer, values, layout, host);
            return Ok(());
        };
        let plan = match (&old.value, &new.value) {
            (Value::Sequence(_), Value::Sequence(_)) => self.items(printer, values, layout, children)?,
            (Value::Mapping(_), Value::Mapping(_)) => self.entries(printer, values, layout, children)?,
            _ => None,
        };
        let is_block = matches!(layout.form, Form::Block(_));
        let stays = |plan: &Plan<'_, '_, '_>| plan.stays.contains(&true) || is_block && matches!(host, Host::Document);
        match plan.filter(stays) {
            Some(plan) if is_block => self.splice_block(printer, &plan, host),
            Some(plan) => self.splice_flow(&plan),
            None => self.replace(printer, values, layout, host),
        }
        Ok(())
    }

    /// Compares lists. Returns `None` if items change places.
    fn items<'p, 'n, 'a>(
        &mut self,
        printer: &Printer<'_, '_, 'a>,
        BeforeAfter { old, new }: BeforeAfter<'n, 'a>,
        layout: &Layout,
        children: &'p [Child],
    ) -> Result<Option<Plan<'p, 'n, 'a>>, Unchangeable> {
        let (Value::Sequence(before), Value::Sequence(after)) = (&old.value, &new.value) else { return Ok(None) };
        let mut plan = Plan { children, stays: vec![false; children.len()], added: Vec::new() };
        // An item that the list has got from elsewhere, such as another list, has a place as well.
        let known: FastSet<Pos> = before.iter().map(Node::pos).filter(|pos| pos.is_in_source()).collect();
        let mut olds = before.iter().enumerate();
        let (mut last, mut kept) = (None, Vec::new());
        for item in after.iter() {
            if !known.contains(&item.pos()) {
                plan.added.push((last, Added::Item(item)));
                continue;
            }
            let Some((i, old)) = olds.find(|(_, old)| old.pos() == item.pos()) else { return Ok(None) };
            last = Some(i);
            plan.stays[i] = true;
            kept.push((i, BeforeAfter { old, new: item }));
        }
        for (i, values) in kept {
            let host = self.item_host(layout, &children[i]);
            self.value(printer, values, &children[i].value, host)?;
        }
        Ok(Some(plan))
    }

    /// Compares mappings.
    fn entries<'p, 'n, 'a>(
        &mut self,
        printer: &Printer<'_, '_, 'a>,
        BeforeAfter { old, new }: BeforeAfter<'n, 'a>,
        layout: &Layout,
        children: &'p [Child],
    ) -> Result<Option<Plan<'p, 'n, 'a>>, Unchangeable> {
        let (Value::Mapping(before), Value::Mapping(after)) = (&old.value, &new.value) else { return Ok(None) };
        let mut plan = Plan { children, stays: vec![false; children.len()], added: Vec::new() };
        let known = KnownEntries::of(before);
        let base = self.base;
        let at = |pos: Pos| {
            let start = pos.0.checked_sub(base)? as usize;
            children.binary_search_by_key(&start, |child| child.start).ok()
        };
        let mut pending = Vec::new();
        let mut kept = Vec::new();
        for entry in after.iter() {
            let old = match entry.key.pos.is_in_source() {
                true => known.by_key_place.get(&entry.key.pos),
                false => known.by_key.get(entry.key.text),
            };
            match old.and_then(|old| Some((at(old.key.pos)?, *old))) {
                Some((i, old)) => {
                    plan.stays[i] = true;
                    kept.push((i, old, entry));
                }
                None => pending.push(entry),
            }
        }
        for entry in pending {
            // If the value has moved under another key, the key is written again.
            let source = known.by_value_place.get(&entry.value.pos());
            let source = source.and_then(|old| Some((at(old.key.pos)?, *old)));
            match source.filter(|(i, _)| !plan.stays[*i]) {
                Some((i, old)) => {
                    plan.stays[i] = true;
                    let key = &children[i];
                    let end = self.text[..key.lead].trim_end_matches(':').trim_end().len();
                    let mut name = String::new();
                    print::scalar(&mut name, &entry.key.as_scalar(), entry.key.style(), None);
                    self.edit(key.start..end, name);
                    kept.push((i, old, entry));
                }
                None => plan.added.push((None, Added::Entry(&entry.key, &entry.value))),
            }
        }
        let last = plan.stays.iter().rposition(|stays| *stays);
        for (behind, _) in &mut plan.added {
            *behind = last;
        }
        for (i, old, entry) in kept {
            let host = self.field_host(layout, &children[i]);
            let values = BeforeAfter { old: &old.value, new: &entry.value };
            self.value(printer, values, &children[i].value, host)?;
        }
        Ok(Some(plan))
    }

    fn item_host(&self, layout: &Layout, child: &Child) -> Host {
        match layout.form {
            Form::Flow(_) => Host::Flow,
            _ => Host::Item { column: layout::column(self.text, child.start), lead: child.lead },
        }
    }

    fn field_host(&self, layout: &Layout, child: &Child) -> Host {
        match layout.form {
            Form::Flow(_) => Host::Flow,
            _ => Host::Field { column: layout::column(self.text, child.start), lead: child.lead },
        }
    }

    /// Writes a value in the place of another value.
    fn replace<'a>(
        &mut self,
        printer: &Printer<'_, '_, 'a>,
        BeforeAfter { old, new }: BeforeAfter<'_, 'a>,
        layout: &Layout,
        host: Host,
    ) {
        let printer = Printer { takes_tails: false, ..*printer };
        let range = layout.range.clone();
        let mut out = String::new();
        let style = old.as_scalar().map(super::Scalar::style);
        let is_block = match &new.value {
            Value::Scalar(value) => {
                let column = match host {
                    Host::Document => Some(0),
                    Host::Flow => None,
                    Host::Field { column, .. } | Host::Item { column, .. } => Some(column + 2),
                };
                print::scalar(&mut out, value, style.unwrap_or(value.style()), column.filter(|_| printer.has_blocks));
                false
            }
            Value::Sequence(items) => !items.is_empty(),
            Value::Mapping(mapping) => !mapping.is_empty(),
        };
        let on_own_line = begins_line(self.text, range.start) && !range.is_empty();
        match host {
            Host::Flow => {
                if out.is_empty() {
                    print::flow(&mut out, new);
                }
                let blank = if range.is_empty() { " " } else { "" };
                self.edit(range, format!("{blank}{out}"));
            }
            Host::Document => {
                if out.is_empty() {
                    printer.item(&mut out, new, 0);
                }
                self.edit(range, out);
            }
            Host::Item { column, .. } if is_block => {
                let column = if range.is_empty() { column + 2 } else { layout::column(self.text, range.start) };
                printer.item(&mut out, new, column);
                let blank = if range.is_empty() { " " } else { "" };
                self.edit(range, format!("{blank}{out}"));
            }
            Host::Field { column, lead } if is_block => {
                printer.field(&mut out, new, column);
                if on_own_line {
                    let out = out.trim_start_matches('\n');
                    self.edit(line_start(self.text, range.start)..range.end, out);
                } else {
                    // A comment after the old value stays in the line of the key.
                    self.edit(lead..range.end, "");
                    let end = line_end(self.text, range.end);
                    self.edit(end..end, out);
                }
            }
            Host::Field { lead, .. } | Host::Item { lead, .. } => {
                if out.is_empty() {
                    print::flow(&mut out, new);
                }
                if on_own_line {
                    self.edit(lead..lead, format!(" {out}"));
                    self.edit(line_end(self.text, lead)..range.end, "");
                } else {
                    let blank = if range.is_empty() { " " } else { "" };
                    // A comment after the old value stays in the line where the new value begins.
                    let (first, lines) = out.split_at(out.find('\n').unwrap_or(out.len()));
                    let end = line_end(self.text, range.end);
                    self.edit(range, format!("{blank}{first}"));
                    self.edit(end..end, lines);
                }
            }
        }
    }

    /// Removes and adds lines of a block.
    fn splice_block(&mut self, printer: &Printer<'_, '_, '_>, plan: &Plan<'_, '_, '_>, host: Host) {
        let children = plan.children;
        let Some(first) = children.first() else { return };
        let column = layout::column(self.text, first.start);
        // The first entry of an item is on the line of the dash.
        let shares_line = !begins_line(self.text, first.start);
        let survivor = plan.stays.iter().position(|stays| *stays);
        if shares_line && let Some(survivor) = survivor.filter(|survivor| *survivor > 0) {
            self.edit(first.start..children[survivor].start, "");
        }
        for (i, child) in children.iter().enumerate().filter(|(i, _)| !plan.stays[*i]) {
            if shares_line && survivor.is_some_and(|survivor| i < survivor) {
                continue;
            }
            // The line break before the line is removed as well: a value that is added after the
            // last line is put there.
            let (start, end) = (line_start(self.text, child.start), line_end(self.text, child.end()));
            match start {
                0 => self.edit(0..(end + 1).min(self.text.len()), ""),
                _ => self.edit(start - 1..end, ""),
            }
        }
        let mut at_end = Vec::new();
        for (behind, added) in &plan.added {
            let mut out = String::new();
            match added {
                Added::Item(item) => {
                    printer.comments_above(&mut out, item, column);
                    out.push_str("- ");
                    printer.item(&mut out, item, column + 2);
                }
                Added::Entry(key, value) => {
                    print::scalar(&mut out, &key.as_scalar(), key.style(), None);
                    out.push(':');
                    printer.field(&mut out, value, column);
                }
            }
            let pad = " ".repeat(column);
            match behind {
                None => match line_start(self.text, first.start).checked_sub(1).filter(|_| !shares_line) {
                    Some(above) => self.edit(above..above, format!("\n{pad}{out}")),
                    None => self.edit(first.start..first.start, format!("{out}\n{pad}")),
                },
                Some(_) if matches!(host, Host::Document) => at_end.push(out),
                Some(i) => {
                    let end = line_end(self.text, children[*i].end());
                    self.edit(end..end, format!("\n{pad}{out}"));
                }
            }
        }
        if !at_end.is_empty() {
            let pad = " ".repeat(column);
            self.append(&at_end.join(&format!("\n{pad}")), &pad, children);
        }
    }

    /// Adds entries at the end of a document, after its comments. An empty line comes before them
    /// if there is one between the last two entries.
    fn append(&mut self, entries: &str, pad: &str, children: &[Child]) {
        let Some(last) = children.last() else { return };
        let content = self.text[..document_end(self.text, last.start)].trim_end().len();
        let end = line_end(self.text, content.max(last.end()));
        let gap = children.iter().rev().nth(1).map(|previous| &self.text[previous.end()..last.start]);
        let is_apart = gap.is_some_and(|gap| gap.contains("\n\n"));
        let blank = if is_apart { "\n" } else { "" };
        let close = if end == self.text.len() { "\n" } else { "" };
        self.edit(end..end, format!("\n{blank}{pad}{entries}{close}"));
    }

    /// Writes the first values of a document.
    fn begin(&mut self, printer: &Printer<'_, '_, '_>, root: &Node<'_>) {
        if root.as_mapping().is_some_and(Mapping::is_empty) {
            return;
        }
        let mut out = String::new();
        printer.item(&mut out, root, 0);
        let end = self.text.len();
        let open = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
        self.edit(end..end, format!("{open}{out}\n"));
    }

    /// Removes and adds items or entries in brackets.
    fn splice_flow(&mut self, plan: &Plan<'_, '_, '_>) {
        let children = plan.children;
        let last_kept = plan.stays.iter().rposition(|stays| *stays);
        for (i, child) in children.iter().enumerate().filter(|(i, _)| !plan.stays[*i]) {
            match (children.get(i + 1), last_kept) {
                // Items after the last one that stays are removed together with the commas before
                // them.
                (_, Some(kept)) if i > kept => self.edit(children[i - 1].end()..child.end(), ""),
                (Some(next), _) => self.edit(child.start..next.start, ""),
                (None, _) => self.edit(child.start..child.end(), ""),
            }
        }
        for (behind, added) in &plan.added {
            let mut out = String::new();
            match added {
                Added::Item(item) => print::flow(&mut out, item),
                Added::Entry(key, value) => {
                    print::scalar(&mut out, &key.as_scalar(), key.style(), None);
                    out.push_str(": ");
                    print::flow(&mut out, value);
                }
            }
            let Some(i) = *behind else {
                let start = children.first().map_or(0, |first| first.start);
                self.edit(start..start, format!("{out}, "));
                continue;
            };
            let child = &children[i];
            let end = line_end(self.text, child.end());
            let rest = self.text[child.end()..end].trim_start();
            let (comma, rest) = rest.strip_prefix(',').map_or(("", rest), |rest| (",", rest.trim_start()));
            if begins_line(self.text, child.start) && (rest.is_empty() || rest.starts_with('#')) {
                let pad = " ".repeat(layout::column(self.text, child.start));
                if comma.is_empty() {
                    self.edit(child.end()..child.end(), ",");
                }
                self.edit(end..end, format!("\n{pad}{out}{comma}"));
            } else {
                self.edit(child.end()..child.end(), format!(", {out}"));
            }
        }
    }

    /// Makes the edits in the text of the file, whose line breaks may be CRLF.
    fn write(mut self, written: &str) -> Result<String, Unchangeable> {
        self.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let has_crlf = written.find('\n').is_some_and(|i| written[..i].ends_with('\r'));
        let (mut out, mut at) = (String::with_capacity(written.len() + 64), 0);
        let mut places = Places { written, offset: 0, at: 0 };
        for Edit { range, text } in self.edits {
            let (start, end) = (places.of(range.start), places.of(range.end));
            if start < at {
                return Err(Unchangeable { message: UNCHANGEABLE.to_owned(), pos: Pos::NONE });
            }
            out.push_str(&written[at..start]);
            out.push_str(&if has_crlf { text.replace('\n', "\r\n") } else { text });
            at = end.max(start);
        }
        out.push_str(&written[at..]);
        Ok(out)
    }
}

/// Converts places in a text without carriage returns to places in the text that has them.
struct Places<'t> {
    written: &'t str,
    /// A place in the text without carriage returns; `at` is the same place in the other text.
    offset: usize,
    at: usize,
}

impl Places<'_> {
    /// The place of `offset`; a place at a line break is before the carriage return.
    fn of(&mut self, offset: usize) -> usize {
        if offset < self.offset {
            (self.offset, self.at) = (0, 0);
        }
        while self.offset < offset {
            // A line break that begins before `offset` ends at most one byte behind it.
            let rest = &self.written.as_bytes()[self.at..];
            let rest = &rest[..rest.len().min(offset - self.offset + 1)];
            meter::count_bytes(rest);
            let line = memchr::memmem::find(rest, b"\r\n").unwrap_or(rest.len());
            let step = line.min(offset - self.offset);
            (self.offset, self.at) = (self.offset + step, self.at + step);
            if self.offset < offset {
                (self.offset, self.at) = (self.offset + 1, self.at + 2);
            }
        }
        self.at
    }
}

#[cfg(test)]
mod tests;
