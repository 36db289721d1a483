//! Explanations for people.

use crate::paint::Paint;
use rustomize_base::shown;
use rustomize_engine::stage::history::{Field, Write};
use rustomize_results::explain::field::{DottedPaths, Fields};
use rustomize_results::explain::view::{Hidden, Subject, View, label, origin_of};
use rustomize_yaml::Pos;
use std::fmt::Write as _;

/// The number of characters of a value that are shown at most.
const WIDEST_VALUE: usize = 60;

/// The largest column at which a place is aligned with the places of other lines.
const WIDEST_COLUMN: usize = 72;

/// The place of a value that is in no file.
const NO_PLACE: &str = "-";

/// A table. The cells of each column have one width, except in the last column.
#[derive(Default)]
pub(super) struct Table {
    /// The cells, each plain and with colours.
    rows: Vec<Vec<(String, String)>>,
}

impl Table {
    pub(super) fn add(&mut self, row: Vec<(String, String)>) {
        self.rows.push(row);
    }

    pub(super) fn print(&self, indent: &str, widest: usize, out: &mut String) {
        let width = |column: usize| {
            let cells = self.rows.iter().filter(|row| column + 1 < row.len()).map(|row| row[column].0.chars().count());
            cells.filter(|width| *width <= widest).max().unwrap_or(0)
        };
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            out.push_str(indent);
            for (i, (plain, colored)) in row.iter().enumerate() {
                out.push_str(colored);
                if i + 1 < row.len() {
                    let blanks = widths[i].saturating_sub(plain.chars().count()) + 2;
                    out.extend(std::iter::repeat_n(' ', blanks));
                }
            }
            out.push('\n');
        }
    }
}

/// All resources of the output, and the resources that a step has removed.
pub(super) fn all(view: &View<'_, '_>, is_colored: bool) -> String {
    let paint = Paint { is_colored };
    let mut table = Table::default();
    let bold = |text: &str| (text.to_owned(), paint.bold(text));
    let row = |subject: &Subject<'_, '_>, last: String| {
        let name = one_line(&label(&subject.id));
        let origin = subject.origin.and_then(|write| view.line(origin_of(write)));
        let origin = one_line(origin.as_deref().unwrap_or(NO_PLACE));
        vec![(name.clone(), paint.bold(&name)), (origin.clone(), origin), (last.clone(), last)]
    };
    table.add(vec![bold("RESOURCE"), bold("FROM"), bold("WRITES")]);
    for subject in view.subjects() {
        let writes = view.history.writes_of(subject.number).filter(|write| !write.path.is_empty()).count();
        table.add(row(&subject, writes.to_string()));
    }
    for subject in view.removed() {
        let by = subject.removal.map(|write| step(view, write, Paint::PLAIN)).unwrap_or_default();
        table.add(row(&subject, format!("removed by {by}")));
    }
    let mut out = String::new();
    table.print("", WIDEST_COLUMN, &mut out);
    out
}

/// Fields of a resource.
pub(super) fn one(view: &View<'_, '_>, subject: &Subject<'_, '_>, fields: &Fields<'_, '_>, is_colored: bool) -> String {
    let paint = Paint { is_colored };
    let mut out = format!("{}\n", paint.bold(&one_line(&label(&subject.id))));
    let mut table = Table::default();
    if let Some(write) = subject.origin {
        let place = view.place(origin_of(write)).map(|place| one_line(&place));
        table.add(vec![cell("from"), cell(place.as_deref().unwrap_or(NO_PLACE)), by(view, write, paint)]);
    }
    if let Some(write) = subject.removal {
        table.add(vec![cell("removed"), cell(""), by(view, write, paint)]);
    }
    table.print("  ", WIDEST_COLUMN, &mut out);
    let Some(node) = subject.node else { return out };
    let hidden = view.hidden(subject);
    let paths = DottedPaths::of(node);
    let mut plain = Table::default();
    for field in &fields.fields {
        let name = one_line(&paths.dotted(&field.path));
        let value = quoted(hidden.shown([&field.path; 2], field.value));
        let head = (format!("{name}: {value}"), format!("{}: {value}", paint.bold(&name)));
        if field.writes.is_empty() {
            let pos = field.origin.map_or(Pos::NONE, |(_, pos)| pos);
            let (place, _) = came_from(view, subject, pos, Paint::PLAIN);
            let dim = paint.dim(&place);
            plain.add(vec![head, (place, dim)]);
            continue;
        }
        flush(&mut plain, &mut out);
        let _ = writeln!(out, "\n{}", head.1);
        history(view, subject, &hidden, field, paint).print("    ", WIDEST_COLUMN, &mut out);
    }
    flush(&mut plain, &mut out);
    for write in &fields.removals {
        let name = one_line(&paths.dotted(&write.path));
        let _ = writeln!(out, "\n{}: {}", paint.bold(&name), paint.dim("removed"));
        let mut table = Table::default();
        table.add(vec![values(&hidden, &write.path, write, paint), by(view, write, paint)]);
        table.print("    ", WIDEST_COLUMN, &mut out);
    }
    out
}

/// Prints fields that no step has changed, below an empty line.
fn flush(plain: &mut Table, out: &mut String) {
    if !plain.rows.is_empty() {
        out.push('\n');
        std::mem::take(plain).print("", WIDEST_COLUMN, out);
    }
}

/// A row for the origin of a field, then one for each write.
fn history(
    view: &View<'_, '_>,
    subject: &Subject<'_, '_>,
    hidden: &Hidden<'_>,
    field: &Field<'_, '_>,
    paint: Paint,
) -> Table {
    let mut table = Table::default();
    if let Some((value, pos)) = field.origin {
        let value = quoted(hidden.shown([&field.path; 2], value));
        table.add(vec![cell(&value), came_from(view, subject, pos, paint)]);
    }
    for write in &field.writes {
        table.add(vec![values(hidden, &field.path, write, paint), by(view, write, paint)]);
    }
    table
}

/// The place of a value that was read, or the step that has generated it, with the place: plain,
/// and with colours.
fn came_from(view: &View<'_, '_>, subject: &Subject<'_, '_>, pos: Pos, paint: Paint) -> (String, String) {
    let place = view.place(pos).map(|place| one_line(&place));
    match (place, view.generator(subject, pos), subject.origin) {
        (Some(place), Some(name), _) => {
            let name = one_line(name);
            (format!("{name}, {place}"), format!("{}, {place}", paint.cyan(&name)))
        }
        (Some(place), None, _) => cell(&place),
        (None, _, Some(write)) => by(view, write, paint),
        (None, _, None) => cell(NO_PLACE),
    }
}

fn cell(text: &str) -> (String, String) {
    (text.to_owned(), text.to_owned())
}

/// The values before and after a write in a field, which is at `path` now.
fn values(hidden: &Hidden<'_>, path: &str, write: &Write<'_>, paint: Paint) -> (String, String) {
    let text = |value: Option<&str>| match value {
        None => "none".to_owned(),
        Some(value) => quoted(hidden.shown([path, &write.path], value)),
    };
    let (before, after) = (text(write.before), text(write.after));
    (format!("{before} -> {after}"), format!("{} -> {}", paint.red(&before), paint.green(&after)))
}

/// The step of a write, with the place of its entry: plain, and with colours.
fn by(view: &View<'_, '_>, write: &Write<'_>, paint: Paint) -> (String, String) {
    (step(view, write, Paint::PLAIN), step(view, write, paint))
}

fn step(view: &View<'_, '_>, write: &Write<'_>, paint: Paint) -> String {
    let name = paint.cyan(&one_line(write.step));
    match view.place(view.cause(write)) {
        Some(place) => format!("{name}, {}", one_line(&place)),
        None => name,
    }
}

/// A value in one line, cut if it is long; an empty text in quotes.
pub(super) fn quoted(value: &str) -> String {
    if value.is_empty() {
        return "\"\"".to_owned();
    }
    let line = one_line(value);
    match line.char_indices().nth(WIDEST_VALUE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// A text in one line.
pub(super) fn one_line(text: &str) -> String {
    shown::line(text).into_owned()
}
