//! `--blame`: the whole output, with the file and line that each line comes from.

use super::text::{Paint, digits};
use anyhow::Result;
use rustomize_base::meter::FastMap;
use rustomize_base::shown;
use rustomize_engine::resource::Resource;
use rustomize_engine::stage::history::{Seen, each_value};
use rustomize_results::explain::json::{identity, put_place};
use rustomize_results::explain::view::{HIDDEN, Subject, View};
use rustomize_yaml::emit::Part;
use rustomize_yaml::{Pos, Source};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The largest width of the column with places; a longer place moves its own line alone.
const WIDEST_PLACE: usize = 60;

/// The smallest width of that column, and of the text beside it, on a terminal.
const NARROWEST: usize = 20;

/// The text between a place and its line.
const BAR: &str = " | ";

/// The place of a line that is in no file.
const NO_PLACE: &str = "-";

/// The sign in place of characters that have no room.
const CUT: char = '…';

/// A run of resources as they are printed, with their secret values hidden.
#[derive(Default)]
struct Sheet<'w> {
    text: String,
    lines: Vec<Line<'w>>,
    /// The index behind the last line of each resource.
    ends: Vec<usize>,
    /// The names of the files of the lines, each masked once.
    names: Vec<String>,
}

/// A line of a printed resource.
struct Line<'w> {
    /// The offset behind the line end.
    end: usize,
    /// The place of the value that the line has a part of.
    pos: Pos,
    /// The index of the name of the file in [`Sheet::names`], and the line; `None` for a place in
    /// no source.
    at: Option<(u32, usize)>,
    /// The number of characters of the place as it is shown.
    width: usize,
    /// The number of lines of the value above this one, if the file has the value in these lines.
    below: usize,
    /// The last step that has set the value.
    step: Option<&'w str>,
    /// The index of the field among those of its resource; `None` for a key above other lines.
    field: Option<usize>,
}

/// The cause of a value.
#[derive(Clone, Copy)]
struct Cause<'w> {
    pos: Pos,
    step: Option<&'w str>,
}

/// The output for people: the place, then the line. With a width each line fits into it. The texts
/// follow each other.
///
/// # Errors
/// A resource cannot be printed.
pub(super) fn text(view: &View<'_, '_>, is_colored: bool, columns: Option<usize>) -> Result<Vec<String>> {
    let sheets = sheets(view)?;
    let lines = || sheets.iter().flat_map(|sheet| &sheet.lines);
    let longest = || sheets.iter().flat_map(|sheet| sheet.text.lines()).map(|line| line.chars().count()).max();
    // Where lines are short, places may be long.
    let left = |columns: usize| columns.saturating_sub(BAR.len() + longest().unwrap_or(0));
    let most = columns.map_or(WIDEST_PLACE, |columns| (columns * 2 / 5).max(left(columns)).max(NARROWEST));
    let width = match columns {
        Some(_) => lines().map(|line| line.width).max().unwrap_or(0).min(most),
        None => lines().map(|line| line.width).filter(|width| *width <= most).max().unwrap_or(0),
    };
    let look = Look {
        paint: Paint { is_colored },
        width,
        is_cut: columns.is_some(),
        room: columns.map(|columns| columns.saturating_sub(width + BAR.len()).max(NARROWEST)),
    };
    let numbered: Vec<(usize, &Sheet<'_>)> = sheets.iter().enumerate().collect();
    let shown = view.on_all_cores(&numbered, |_, sheets| {
        let mut out = String::new();
        sheets.iter().for_each(|(i, sheet)| look.show(sheet, *i == 0, &mut out));
        out
    });
    Ok(shown)
}

/// How lines are shown.
struct Look {
    paint: Paint,
    /// The width of the column with places.
    width: usize,
    /// True if a longer place loses its beginning.
    is_cut: bool,
    /// The largest number of characters of a line, if there is one.
    room: Option<usize>,
}

impl Look {
    /// Adds the lines of a sheet, which may be the first one.
    fn show(&self, sheet: &Sheet<'_>, is_first: bool, out: &mut String) {
        let blanks = " ".repeat(self.width);
        out.reserve(sheet.text.len() + (sheet.lines.len() + sheet.ends.len()) * (self.width + 2 * BAR.len()));
        let (mut start, mut first) = (0, 0);
        for (i, end) in sheet.ends.iter().enumerate() {
            if i > 0 || !is_first {
                out.extend([&*blanks, BAR, "---\n"]);
            }
            for line in &sheet.lines[first..*end] {
                self.place(sheet, line, out);
                out.push_str(&blanks[line.width.min(self.width)..]);
                out.push_str(BAR);
                let text = shown::line(sheet.text[start..line.end].trim_end_matches('\n'));
                match self.room {
                    Some(room) => out.push_str(&head(&text, room)),
                    None => out.push_str(&text),
                }
                out.push('\n');
                start = line.end;
            }
            first = *end;
        }
    }

    /// Adds the place of a line.
    fn place(&self, sheet: &Sheet<'_>, line: &Line<'_>, out: &mut String) {
        if !self.is_cut && !self.paint.is_colored {
            return sheet.label(line, out);
        }
        let mut label = String::new();
        sheet.label(line, &mut label);
        let label = if self.is_cut { tail(&label, self.width) } else { label.into() };
        out.push_str(&self.paint.dim(&label));
    }
}

/// The output for programs.
///
/// # Errors
/// A resource cannot be printed.
pub(super) fn json(view: &View<'_, '_>) -> Result<Value> {
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
                let text = sheet.text[start..line.end].trim_end_matches('\n');
                start = line.end;
                let pointer = line.field.and_then(|i| paths.get(i));
                let mut value = json!({"text": text, "pointer": pointer, "step": line.step});
                put_place(view, &mut value, line.pos);
                if let Some(number) = value["line"].as_u64() {
                    value["line"] = (number + line.below as u64).into();
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
fn sheets<'w>(view: &View<'_, 'w>) -> Result<Vec<Sheet<'w>>> {
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
struct Room<'w> {
    printed: String,
    parts: Vec<Part>,
    /// The cause of each field, and whether its value is hidden.
    fields: Vec<(Cause<'w>, bool)>,
}

/// Writes a sheet.
struct Writer<'w> {
    sheet: Sheet<'w>,
    /// The index in [`Sheet::names`] of the file of a source, by the base of the source, and the
    /// number of characters of the name.
    names: FastMap<u32, (u32, usize)>,
    /// The last source, and what the table has about it.
    last: Option<(u32, (u32, usize))>,
}

impl<'w> Writer<'w> {
    /// Adds a resource.
    fn add<'o>(&mut self, view: &View<'o, 'w>, resource: &'o Resource<'w>, room: &mut Room<'w>) -> Result<()> {
        let subject = view.subject(resource);
        let Room { printed, parts, fields } = room;
        printed.clear();
        parts.clear();
        fields.clear();
        view.output.print_in_parts(resource, printed, parts)?;
        let hidden = view.hidden(&subject);
        // The values of the text are those of the tree, in the same order.
        view.history.each_field(subject.number, resource.node(), &|_| true, &mut |field| {
            fields.push((cause(view, &subject, &field), hidden.hides_now(field.path)));
        });
        let first = self.sheet.lines.len();
        let (mut from, mut next) = (0, 0);
        for part in parts {
            let field = (part.key.is_none() && next < fields.len()).then_some(next);
            let (mut cause, mut rows) = (Cause { pos: part.key.unwrap_or(Pos::NONE), step: None }, Rows::One);
            let mut is_hidden = false;
            if let Some(field) = field {
                next += 1;
                (cause, is_hidden) = fields[field];
                if !is_hidden && printed[part.start..part.end].starts_with('|') {
                    rows = Rows::of(view, cause.pos);
                }
            }
            let written = if is_hidden { &printed[from..part.start] } else { &printed[from..part.end] };
            let mut end = self.sheet.text.len();
            self.sheet.text.push_str(written);
            if is_hidden {
                self.sheet.text.extend([HIDDEN, "\n"]);
            }
            from = part.end;
            for (i, text) in self.sheet.text[end..].split_inclusive('\n').enumerate() {
                if text.ends_with('\n') {
                    end += text.len();
                    let below = rows.line(i);
                    let line = Line { end, pos: cause.pos, at: None, width: 0, below, step: cause.step, field };
                    self.sheet.lines.push(line);
                }
            }
        }
        // A key without a place in a file has that of the value below it.
        let mut below = Pos::NONE;
        for line in self.sheet.lines[first..].iter_mut().rev() {
            if line.field.is_none() && !view.is_in_file(line.pos) {
                line.pos = below;
            }
            below = line.pos;
        }
        for i in first..self.sheet.lines.len() {
            let line = &self.sheet.lines[i];
            let (at, width) = match view.spot(line.pos) {
                None => (None, NO_PLACE.len()),
                Some(spot) => {
                    let number = spot.line + line.below;
                    let (name, length) = self.name(spot.source);
                    (Some((name, number)), length + 2 + number.checked_ilog10().unwrap_or(0) as usize)
                }
            };
            (self.sheet.lines[i].at, self.sheet.lines[i].width) = (at, width);
        }
        self.sheet.ends.push(self.sheet.lines.len());
        Ok(())
    }

    /// The index of the name of a source's file, and the number of its characters.
    fn name(&mut self, source: &Source) -> (u32, usize) {
        if let Some((base, known)) = self.last
            && base == source.base
        {
            return known;
        }
        let names = &mut self.sheet.names;
        let known = *self.names.entry(source.base).or_insert_with(|| {
            let name = shown::line(&shown::masked(&source.name)).into_owned();
            let length = name.chars().count();
            names.push(name);
            (names.len() as u32 - 1, length)
        });
        self.last = Some((source.base, known));
        known
    }
}

impl Sheet<'_> {
    /// Adds the place of a line as `FILE:LINE`.
    fn label(&self, line: &Line<'_>, out: &mut String) {
        match line.at {
            Some((name, number)) => {
                out.extend([&*self.names[name as usize], ":"]);
                digits(out, number as u64);
            }
            None => out.push_str(NO_PLACE),
        }
    }
}

/// The last step with a place that has set a field, or the place that the field was read from.
fn cause<'w>(view: &View<'_, 'w>, subject: &Subject<'_, 'w>, field: &Seen<'_, '_, 'w>) -> Cause<'w> {
    let places = field.writes.iter().rev().map(|write| (view.cause(write), write.step));
    if let Some((pos, step)) = places.into_iter().find(|(pos, _)| view.is_in_file(*pos)) {
        return Cause { pos, step: Some(step) };
    }
    let step = field.writes.last().map(|write| write.step);
    let origin = field.origin.map_or(Pos::NONE, |(_, pos)| pos);
    let pos = if view.is_in_file(origin) { origin } else { subject.origin.map_or(Pos::NONE, |w| view.file_of(w)) };
    Cause { pos, step }
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
    fn line(&self, i: usize) -> usize {
        match self {
            Rows::One => 0,
            Rows::Block => i,
            Rows::File => i.saturating_sub(1),
        }
    }
}

/// The end of a text that has at most `width` characters.
fn tail(text: &str, width: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= width {
        return text.into();
    }
    let kept = text.chars().skip(length + 1 - width);
    std::iter::once(CUT).chain(kept).collect()
}

/// The beginning of a text that has at most `width` characters.
fn head(text: &str, width: usize) -> Cow<'_, str> {
    match text.char_indices().nth(width) {
        None => text.into(),
        Some(_) => text.chars().take(width - 1).chain([CUT]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{head, tail};

    #[test]
    fn texts_are_cut_at_the_side_that_matters_less() {
        assert_eq!(tail("base/web.yaml:7", 9), "…b.yaml:7");
        assert_eq!(tail("a:7", 9), "a:7");
        assert_eq!(head("spec: {}", 5), "spec…");
        assert_eq!(head("spec:", 5), "spec:");
    }
}
