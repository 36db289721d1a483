//! `--blame`: the whole output, with the file and line that each line comes from.

use super::text::Paint;
use anyhow::Result;
use rustomize_base::meter::FastMap;
use rustomize_base::shown;
use rustomize_engine::resource::Resource;
use rustomize_engine::stage::history::Field;
use rustomize_results::explain::json::{identity, put_place};
use rustomize_results::explain::view::{HIDDEN, Subject, View};
use rustomize_yaml::Pos;
use serde_json::{Value, json};

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

/// A resource as it is printed, with its secret values hidden.
struct Blamed<'o, 'w> {
    subject: Subject<'o, 'w>,
    text: String,
    lines: Vec<Line<'w>>,
    fields: Vec<Field<'o, 'w>>,
}

/// A line of a printed resource.
struct Line<'w> {
    /// The offset behind the line end.
    end: usize,
    /// The place of the value that the line has a part of.
    pos: Pos,
    /// The base of the source with the place, and the line; `None` for a place in no source.
    at: Option<(u32, usize)>,
    /// The number of lines of the value above this one, if the file has the value in these lines.
    below: usize,
    /// The last step that has set the value.
    step: Option<&'w str>,
    /// The index of the field in [`Blamed::fields`]; `None` for a key above other lines.
    field: Option<usize>,
}

/// The cause of a value.
struct Cause<'w> {
    pos: Pos,
    step: Option<&'w str>,
}

/// The output for people: the place, then the line. With a width each line fits into it.
///
/// # Errors
/// A resource cannot be printed.
pub(super) fn text(view: &View<'_, '_>, is_colored: bool, columns: Option<usize>) -> Result<String> {
    let all = all(view)?;
    let mut names = Names::default();
    let longest = || all.iter().flat_map(|blamed| blamed.text.lines()).map(|line| line.chars().count()).max();
    // Where lines are short, places may be long.
    let left = |columns: usize| columns.saturating_sub(BAR.len() + longest().unwrap_or(0));
    let most = columns.map_or(WIDEST_PLACE, |columns| (columns * 2 / 5).max(left(columns)).max(NARROWEST));
    let lengths = all.iter().flat_map(|blamed| &blamed.lines).map(|line| names.length(view, line));
    let width = match columns {
        Some(_) => lengths.max().unwrap_or(0).min(most),
        None => lengths.filter(|length| *length <= most).max().unwrap_or(0),
    };
    let room = columns.map(|columns| columns.saturating_sub(width + BAR.len()).max(NARROWEST));
    let paint = Paint { is_colored };
    let mut out = String::new();
    for (i, blamed) in all.iter().enumerate() {
        if i > 0 {
            out.extend([&*" ".repeat(width), BAR, "---\n"]);
        }
        let mut start = 0;
        for line in &blamed.lines {
            let label = names.label(view, line);
            let label = if columns.is_some() { tail(&label, width) } else { label };
            let blanks = " ".repeat(width.saturating_sub(label.chars().count()));
            let text = shown::line(blamed.text[start..line.end].trim_end_matches('\n')).into_owned();
            let text = room.map_or_else(|| text.clone(), |room| head(&text, room));
            out.extend([&*paint.dim(&label), &blanks, BAR, &text, "\n"]);
            start = line.end;
        }
    }
    Ok(out)
}

/// The output for programs.
///
/// # Errors
/// A resource cannot be printed.
pub(super) fn json(view: &View<'_, '_>) -> Result<Value> {
    let resources = all(view)?.into_iter().map(|blamed| {
        let mut start = 0;
        let lines = blamed.lines.iter().map(|line| {
            let text = blamed.text[start..line.end].trim_end_matches('\n');
            start = line.end;
            let mut value =
                json!({"text": text, "pointer": line.field.map(|i| &*blamed.fields[i].path), "step": line.step});
            put_place(view, &mut value, line.pos);
            if let Some(number) = value["line"].as_u64() {
                value["line"] = (number + line.below as u64).into();
            }
            value
        });
        let lines: Vec<Value> = lines.collect();
        let mut value = identity(&blamed.subject.id);
        value["lines"] = lines.into();
        value
    });
    let resources: Vec<Value> = resources.collect();
    Ok(json!({"root": shown::masked(view.root), "resources": resources}))
}

fn all<'o, 'w>(view: &View<'o, 'w>) -> Result<Vec<Blamed<'o, 'w>>> {
    view.output.resources().map(|resource| blamed(view, resource)).collect()
}

/// A resource with the causes of its lines. O(size of its text, and its writes).
fn blamed<'o, 'w>(view: &View<'o, 'w>, resource: &'o Resource<'w>) -> Result<Blamed<'o, 'w>> {
    let subject = view.subject(resource);
    let (printed, parts) = view.output.print_in_parts(resource)?;
    let hidden = view.hidden(&subject);
    // The values of the text are those of the tree, in the same order.
    let fields = view.history.fields(subject.number, resource.node());
    let (mut text, mut lines) = (String::with_capacity(printed.len()), Vec::new());
    let (mut from, mut next) = (0, 0);
    for part in parts {
        let start = text.len();
        let field = (part.key.is_none() && next < fields.len()).then_some(next);
        let (mut cause, mut rows) = (Cause { pos: part.key.unwrap_or(Pos::NONE), step: None }, Rows::One);
        let mut is_hidden = false;
        if let Some(field) = field.map(|i| &fields[i]) {
            next += 1;
            cause = self::cause(view, &subject, field);
            is_hidden = hidden.hides_now(&field.path);
            if !is_hidden && printed[part.start..part.end].starts_with('|') {
                rows = Rows::of(view, cause.pos);
            }
        }
        match is_hidden {
            true => text.extend([&printed[from..part.start], HIDDEN, "\n"]),
            false => text.push_str(&printed[from..part.end]),
        }
        from = part.end;
        let ends = text[start..].match_indices('\n').enumerate().map(|(i, (at, _))| (i, start + at + 1));
        let line = |(i, end)| Line { end, pos: cause.pos, at: None, below: rows.line(i), step: cause.step, field };
        lines.extend(ends.map(line));
    }
    // A key without a place in a file has that of the value below it.
    let mut below = Pos::NONE;
    for line in lines.iter_mut().rev() {
        if line.field.is_none() && !view.is_in_file(line.pos) {
            line.pos = below;
        }
        below = line.pos;
    }
    for line in &mut lines {
        line.at = view.spot(line.pos).map(|spot| (spot.source.base, spot.line + line.below));
    }
    Ok(Blamed { subject, text, lines, fields })
}

/// The last step with a place that has set a field, or the place that the field was read from.
fn cause<'w>(view: &View<'_, 'w>, subject: &Subject<'_, 'w>, field: &Field<'_, 'w>) -> Cause<'w> {
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

/// The names of files, each masked once.
#[derive(Default)]
struct Names {
    of_source: FastMap<u32, (String, usize)>,
}

impl Names {
    /// The name of the file of a line, and the length of the name in characters.
    fn name(&mut self, view: &View<'_, '_>, line: &Line<'_>, base: u32) -> (&str, usize) {
        let (name, length) = self.of_source.entry(base).or_insert_with(|| {
            let name = view.spot(line.pos).map(|spot| shown::line(&shown::masked(&spot.source.name)).into_owned());
            let name = name.unwrap_or_default();
            let length = name.chars().count();
            (name, length)
        });
        (name, *length)
    }

    /// The length of the place of a line, in characters.
    fn length(&mut self, view: &View<'_, '_>, line: &Line<'_>) -> usize {
        let Some((base, number)) = line.at else { return NO_PLACE.len() };
        self.name(view, line, base).1 + 2 + number.checked_ilog10().unwrap_or(0) as usize
    }

    /// The place of a line as `FILE:LINE`.
    fn label(&mut self, view: &View<'_, '_>, line: &Line<'_>) -> String {
        match line.at {
            Some((base, number)) => format!("{}:{number}", self.name(view, line, base).0),
            None => NO_PLACE.to_owned(),
        }
    }
}

/// The end of a text that has at most `width` characters.
fn tail(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = text.chars().skip(length + 1 - width);
    std::iter::once(CUT).chain(kept).collect()
}

/// The beginning of a text that has at most `width` characters.
fn head(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
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
