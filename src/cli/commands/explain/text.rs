//! Explanations for people.

use crate::paint::Paint;
use crate::writer::Shown;
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

/// An explanation for people, which may have colours.
pub(super) fn for_people(text: String, is_colored: bool) -> Shown {
    if is_colored { Shown::colored(&text) } else { Shown::owned_values(text) }
}

/// A text of a table.
pub(super) struct Cell {
    plain: String,
    /// The same text with colours, if it has some.
    colored: Option<String>,
}

impl Cell {
    /// A text that is printed as it is. One with colours counts its codes as characters: it is the
    /// last one of its row.
    pub(super) fn plain(text: impl Into<String>) -> Cell {
        Cell { plain: text.into(), colored: None }
    }

    /// A text with colours, if there are colours.
    fn painted(paint: Paint, plain: String, color: impl FnOnce(Paint, &str) -> String) -> Cell {
        let colored = paint.is_colored.then(|| color(paint, &plain));
        Cell { plain, colored }
    }

    /// The text as it is printed.
    fn shown(&self) -> &str {
        self.colored.as_ref().unwrap_or(&self.plain)
    }
}

/// A row of a table.
pub(super) type Row = Vec<Cell>;

/// A table. The cells of each column have one width, except in the last column.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(super) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(super) fn print(&self, indent: &str, widest: usize, out: &mut String) {
        let width = |column: usize| {
            let cells = self.rows.iter().filter(|row| column + 1 < row.len());
            let widths = cells.map(|row| row[column].plain.chars().count());
            widths.filter(|width| *width <= widest).max().unwrap_or(0)
        };
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            out.push_str(indent);
            for (i, cell) in row.iter().enumerate() {
                out.push_str(cell.shown());
                if i + 1 < row.len() {
                    let blanks = widths[i].saturating_sub(cell.plain.chars().count()) + 2;
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
    let bold = |text: &str| Cell::painted(paint, text.to_owned(), Paint::bold);
    let row = |view: &View<'_, '_>, subject: &Subject<'_, '_>, last: String| {
        let origin = subject.origin.and_then(|write| view.line(origin_of(write)));
        let origin = one_line(origin.as_deref().unwrap_or(NO_PLACE));
        vec![bold(&one_line(&label(&subject.id))), Cell::plain(origin), Cell::plain(last)]
    };
    let rows = view.on_all_cores(view.output.resources, |view, resources| {
        let of_resource = |resource| {
            let subject = view.subject(resource);
            let writes = view.history.writes_of(subject.number).iter().filter(|write| !write.path.is_empty()).count();
            row(view, &subject, writes.to_string())
        };
        resources.iter().map(of_resource).collect::<Vec<Row>>()
    });
    let mut table = Table::default();
    table.add(vec![bold("RESOURCE"), bold("FROM"), bold("WRITES")]);
    rows.into_iter().flatten().for_each(|row| table.add(row));
    for subject in view.removed() {
        let by = subject.removal.map(|write| step(view, write, Paint::PLAIN)).unwrap_or_default();
        table.add(row(view, &subject, format!("removed by {by}")));
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
        table.add(vec![Cell::plain("from"), Cell::plain(place.as_deref().unwrap_or(NO_PLACE)), by(view, write, paint)]);
    }
    if let Some(write) = subject.removal {
        table.add(vec![Cell::plain("removed"), Cell::plain(""), by(view, write, paint)]);
    }
    table.print("  ", WIDEST_COLUMN, &mut out);
    let Some(node) = subject.node else { return out };
    let hidden = view.hidden(subject);
    let paths = DottedPaths::of(node);
    let mut plain = Table::default();
    for field in &fields.fields {
        let name = one_line(&paths.dotted(&field.path));
        let value = quoted(hidden.shown([&field.path; 2], field.value));
        let head =
            Cell::painted(paint, format!("{name}: {value}"), |paint, _| format!("{}: {value}", paint.bold(&name)));
        if field.writes.is_empty() {
            let pos = field.origin.map_or(Pos::NONE, |(_, pos)| pos);
            let Cell { plain: place, .. } = came_from(view, subject, pos, Paint::PLAIN);
            plain.add(vec![head, Cell::painted(paint, place, Paint::dim)]);
            continue;
        }
        flush(&mut plain, &mut out);
        let _ = writeln!(out, "\n{}", head.shown());
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
        table.add(vec![Cell::plain(&value), came_from(view, subject, pos, paint)]);
    }
    for write in &field.writes {
        table.add(vec![values(hidden, &field.path, write, paint), by(view, write, paint)]);
    }
    table
}

/// The place of a value that was read, or the step that has generated it, with the place.
fn came_from(view: &View<'_, '_>, subject: &Subject<'_, '_>, pos: Pos, paint: Paint) -> Cell {
    let place = view.place(pos).map(|place| one_line(&place));
    match (place, view.generator(subject, pos), subject.origin) {
        (Some(place), Some(name), _) => {
            let name = one_line(name);
            let colored = |paint: Paint, _: &str| format!("{}, {place}", paint.cyan(&name));
            Cell::painted(paint, format!("{name}, {place}"), colored)
        }
        (Some(place), None, _) => Cell::plain(place),
        (None, _, Some(write)) => by(view, write, paint),
        (None, _, None) => Cell::plain(NO_PLACE),
    }
}

/// The values before and after a write in a field, which is at `path` now.
fn values(hidden: &Hidden<'_>, path: &str, write: &Write<'_>, paint: Paint) -> Cell {
    let text = |value: Option<&str>| match value {
        None => "none".to_owned(),
        Some(value) => quoted(hidden.shown([path, &write.path], value)),
    };
    let (before, after) = (text(write.before), text(write.after));
    Cell::painted(paint, format!("{before} -> {after}"), |paint, _| {
        format!("{} -> {}", paint.red(&before), paint.green(&after))
    })
}

/// The step of a write, with the place of its entry.
fn by(view: &View<'_, '_>, write: &Write<'_>, paint: Paint) -> Cell {
    Cell::painted(paint, step(view, write, Paint::PLAIN), |paint, _| step(view, write, paint))
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
