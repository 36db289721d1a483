//! The whole output, with the file and line that each line comes from.

use super::digits;
use super::json::{identity, put_place};
use super::view::{HIDDEN, Subject, View};
use rustomize_base::meter::FastMap;
use rustomize_base::shown;
use rustomize_engine::diag::Result;
use rustomize_engine::resource::Resource;
use rustomize_engine::stage::history::{Seen, Write, each_value};
use rustomize_yaml::emit::Part;
use rustomize_yaml::{Pos, Source};
use serde_json::{Value, json};
use std::num::NonZero;

/// The place of a line that is in no file.
const NO_PLACE: &str = "-";

/// A run of resources as they are printed, with their secret values hidden.
#[derive(Default)]
pub struct Sheet {
    pub text: String,
    pub lines: Vec<Line>,
    /// The index behind the last line of each resource.
    pub ends: Vec<usize>,
    /// The names of the files of the lines, each masked once.
    names: Vec<String>,
}

/// A line of a printed resource. There are as many as the output has lines, so numbers are small.
pub struct Line {
    /// The offset behind the line end.
    pub end: u32,
    /// The place of the value that the line has a part of.
    pos: Pos,
    /// The index of the name of the file in [`Sheet::names`]; `None` for a place in no source.
    name: Option<Index>,
    /// The line in the file.
    number: u32,
    /// The number of characters of the place as it is shown.
    pub width: u32,
    /// The number of lines of the value above this one, if the file has the value in these lines.
    below: u32,
    /// The index of the field among those of its resource; `None` for a key above other lines.
    field: Option<Index>,
    /// The index of the run of the last step that has set the value.
    run: Option<Index>,
}

/// An index of 32 bits; `Option<Index>` has the same size.
#[derive(Clone, Copy)]
struct Index(NonZero<u32>);

impl Index {
    /// `None` for an index that does not fit.
    fn of(index: usize) -> Option<Index> {
        NonZero::new(u32::try_from(index).ok()?.checked_add(1)?).map(Index)
    }

    fn get(self) -> usize {
        self.0.get() as usize - 1
    }
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The cause of a value.
#[derive(Clone, Copy)]
struct Cause {
    pos: Pos,
    /// The index of the run of the last step that has set the value.
    run: Option<Index>,
}

/// The output for programs.
///
/// # Errors
/// A resource cannot be printed.
pub fn json(view: &View<'_, '_>) -> Result<Value> {
    let sheets = sheets(view)?;
    let mut subjects = view.subjects();
    let mut resources: Vec<Value> = Vec::new();
    for sheet in &sheets {
        let (mut start, mut first) = (0, 0);
        for (end, subject) in sheet.ends.iter().zip(&mut subjects) {
            let mut paths: Vec<String> = Vec::new();
            let node = subject.node.into_iter();
            node.for_each(|node| each_value(&mut String::new(), node, &mut |path, _| paths.push(path.to_owned())));
            let lines = sheet.lines[first..*end].iter().map(|line| {
                let text = sheet.line(start, line);
                start = line.end;
                let pointer = line.field.and_then(|field| paths.get(field.get()));
                let step = line.run.and_then(|run| view.history.runs.get(run.get())).map(|run| run.step);
                let mut value = json!({"text": text, "pointer": pointer, "step": step});
                put_place(view, &mut value, line.pos);
                if let Some(number) = value["line"].as_u64() {
                    value["line"] = (number + u64::from(line.below)).into();
                }
                value
            });
            let lines: Vec<Value> = lines.collect();
            first = *end;
            let mut value = identity(&subject.id);
            value["lines"] = lines.into();
            resources.push(value);
        }
    }
    Ok(json!({"root": shown::masked(view.root), "resources": resources}))
}

/// All resources, in runs that follow each other. O(size of their text, and their writes), on all
/// cores.
///
/// # Errors
/// A resource cannot be printed.
pub fn sheets(view: &View<'_, '_>) -> Result<Vec<Sheet>> {
    let sheets = view.on_all_cores(view.output.resources, |view, resources| {
        let mut writer = Writer { sheet: Sheet::default(), names: FastMap::default(), last: None };
        let mut room = Room::default();
        resources.iter().try_for_each(|resource| writer.add(view, resource, &mut room))?;
        Ok(writer.sheet)
    });
    sheets.into_iter().collect()
}

/// Memory for one resource after the other.
#[derive(Default)]
struct Room {
    parts: Vec<Part>,
    /// The cause of each field, and whether its value is hidden.
    fields: Vec<(Cause, bool)>,
}

/// Writes a sheet.
struct Writer {
    sheet: Sheet,
    /// The index in [`Sheet::names`] of the file of a source, by the base of the source, and the
    /// number of characters of the name.
    names: FastMap<u32, (Option<Index>, u32)>,
    /// The last source, and what the table has about it.
    last: Option<(u32, (Option<Index>, u32))>,
}

impl Writer {
    /// Adds a resource.
    fn add<'o, 'w>(&mut self, view: &View<'o, 'w>, resource: &'o Resource<'w>, room: &mut Room) -> Result<()> {
        let subject = view.subject(resource);
        let Room { parts, fields } = room;
        parts.clear();
        fields.clear();
        let hidden = view.hidden(&subject);
        // The values of the text are those of the tree, in the same order.
        view.history.each_field(subject.number, resource.node(), &|_| true, &mut |field| {
            fields.push((cause(view, &subject, &field), hidden.hides_now(field.path)));
        });
        let text = &mut self.sheet.text;
        let mut from = text.len();
        view.output.print_in_parts(resource, text, parts)?;
        if fields.iter().any(|(_, is_hidden)| *is_hidden) {
            hide(text, from, parts, fields);
        }
        let (first, mut next) = (self.sheet.lines.len(), 0);
        for part in parts {
            let field = (part.key.is_none() && next < fields.len()).then_some(next);
            let (mut cause, mut rows) = (Cause { pos: part.key.unwrap_or(Pos::NONE), run: None }, Rows::One);
            if let Some(field) = field {
                next += 1;
                let is_hidden;
                (cause, is_hidden) = fields[field];
                if !is_hidden && text[part.start..part.end].starts_with('|') {
                    rows = Rows::of(view, cause.pos);
                }
            }
            let Cause { pos, run } = cause;
            for (i, at) in memchr::memchr_iter(b'\n', &text.as_bytes()[from..part.end]).enumerate() {
                let (end, below, field) = (small(from + at + 1), rows.line(i), field.and_then(Index::of));
                self.sheet.lines.push(Line { end, pos, name: None, number: 0, width: 0, below, field, run });
            }
            from = part.end;
        }
        // A key without a place in a file has that of the value below it.
        let mut below = Pos::NONE;
        for i in (first..self.sheet.lines.len()).rev() {
            let line = &mut self.sheet.lines[i];
            if line.field.is_none() && !view.is_in_file(line.pos) {
                line.pos = below;
            }
            below = line.pos;
            let (name, number, width) = match view.line_of(line.pos) {
                None => (None, 0, small(NO_PLACE.len())),
                Some((source, number)) => {
                    let number = small(number) + line.below;
                    let (name, length) = self.name(source);
                    (name, number, length + 2 + number.checked_ilog10().unwrap_or(0))
                }
            };
            let line = &mut self.sheet.lines[i];
            (line.name, line.number, line.width) = (name, number, width);
        }
        self.sheet.ends.push(self.sheet.lines.len());
        Ok(())
    }

    /// The index of the name of a source's file, and the number of its characters.
    fn name(&mut self, source: &Source) -> (Option<Index>, u32) {
        if let Some((base, known)) = self.last
            && base == source.base
        {
            return known;
        }
        let names = &mut self.sheet.names;
        let known = *self.names.entry(source.base).or_insert_with(|| {
            let name = shown::line(&shown::masked(&source.name)).into_owned();
            let length = small(name.chars().count());
            names.push(name);
            (Index::of(names.len() - 1), length)
        });
        self.last = Some((source.base, known));
        known
    }
}

/// Puts a text into the places of hidden values: in the text of a resource from `start` on, whose
/// parts are then those of the new text.
fn hide(text: &mut String, start: usize, parts: &mut [Part], fields: &[(Cause, bool)]) {
    let printed = text.split_off(start);
    let mut are_hidden = fields.iter().map(|(_, is_hidden)| *is_hidden);
    let mut from = 0;
    for part in parts {
        let is_hidden = part.key.is_none() && are_hidden.next().unwrap_or(false);
        text.push_str(&printed[from..part.start - start]);
        let begin = text.len();
        match is_hidden {
            true => text.extend([HIDDEN, "\n"]),
            false => text.push_str(&printed[part.start - start..part.end - start]),
        }
        from = part.end - start;
        (part.start, part.end) = (begin, text.len());
    }
    text.push_str(&printed[from..]);
}

impl Sheet {
    /// The text of a line that begins at an offset, without its end.
    pub fn line(&self, start: u32, line: &Line) -> &str {
        let text = &self.text[start as usize..line.end as usize];
        text.strip_suffix('\n').unwrap_or(text)
    }

    /// Adds the place of a line as `FILE:LINE`.
    pub fn label(&self, line: &Line, out: &mut String) {
        match line.name.and_then(|name| self.names.get(name.get())) {
            Some(name) => {
                out.extend([name, ":"]);
                digits(out, u64::from(line.number));
            }
            None => out.push_str(NO_PLACE),
        }
    }
}

/// The last step with a place that has set a field, or the place that the field was read from.
fn cause(view: &View<'_, '_>, subject: &Subject<'_, '_>, field: &Seen<'_, '_, '_>) -> Cause {
    let run = |write: &Write<'_>| Index::of(write.run as usize);
    let places = field.writes.iter().rev().map(|write| Cause { pos: view.cause(write), run: run(write) });
    if let Some(cause) = places.into_iter().find(|cause| view.is_in_file(cause.pos)) {
        return cause;
    }
    let run = field.writes.last().and_then(|write| run(write));
    let origin = field.origin.map_or(Pos::NONE, |(_, pos)| pos);
    let pos = if view.is_in_file(origin) { origin } else { subject.origin.map_or(Pos::NONE, |w| view.file_of(w)) };
    Cause { pos, run }
}

/// How the lines of a printed block are written in their file.
enum Rows {
    /// All in one line, or in an unknown way.
    One,
    /// As a block of YAML: below the line with the key.
    Block,
    /// From the first line of the file on.
    File,
}

impl Rows {
    fn of(view: &View<'_, '_>, pos: Pos) -> Rows {
        let Some(spot) = view.spot(pos) else { return Rows::One };
        let Some(at) = pos.0.checked_sub(spot.source.base) else { return Rows::One };
        match spot.source.text.get(at as usize..) {
            Some(written) if written.starts_with('|') => Rows::Block,
            Some(_) if at == 0 && view.is_in_file(pos) => Rows::File,
            _ => Rows::One,
        }
    }

    /// The number of lines between the place of a value and the printed line of an index.
    fn line(&self, i: usize) -> u32 {
        match self {
            Rows::One => 0,
            Rows::Block => small(i),
            Rows::File => small(i.saturating_sub(1)),
        }
    }
}
