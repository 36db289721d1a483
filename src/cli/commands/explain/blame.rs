//! `--blame`: the whole output, with the file and line that each line comes from.

use super::json::{identity, put_place};
use super::text::Paint;
use super::view::{HIDDEN, Subject, View};
use crate::resource::Resource;
use crate::stage::history::Field;
use anyhow::Result;
use rustomize_base::meter::FastMap;
use rustomize_base::shown;
use rustomize_yaml::Pos;
use serde_json::{Value, json};

/// The largest width of the column with places; a longer place moves its own line alone.
const WIDEST_PLACE: usize = 60;

/// The smallest width of that column, and of the text beside it, on a terminal.
const NARROWEST: usize = 20;

/// The text between a place and its line.
const BAR: &str = " | ";

/// The sign in place of characters that have no room.
const CUT: char = '…';

/// A resource as it is printed, with its secret values hidden.
struct Blamed<'o, 'w> {
    subject: Subject<'o, 'w>,
    text: String,
    lines: Vec<Line<'w>>,
}

/// A line of a printed resource.
struct Line<'w> {
    /// The offset behind the line end.
    end: usize,
    /// The place of the value that the line has a part of.
    pos: Pos,
    /// The number of lines of the value above this one, if the file has the value in these lines.
    below: usize,
    /// The last step that has set the value.
    step: Option<&'w str>,
    /// The JSON pointer of the value; `None` for a key above other lines.
    pointer: Option<String>,
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
    let most = columns.map_or(WIDEST_PLACE, |columns| (columns * 2 / 5).max(NARROWEST));
    let lengths = all.iter().flat_map(|blamed| &blamed.lines).map(|line| names.label(view, line).chars().count());
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
            let mut value = json!({"text": text, "pointer": line.pointer, "step": line.step});
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
    let mut fields = view.history.fields(subject.number, resource.node()).into_iter();
    let (mut text, mut lines) = (String::with_capacity(printed.len()), Vec::new());
    let mut from = 0;
    for part in parts {
        let start = text.len();
        let (cause, pointer, rows) = match part.key {
            Some(pos) => (Cause { pos, step: None }, None, Rows::One),
            None => match fields.next() {
                Some(field) if hidden.hides_now(&field.path) => {
                    text.extend([&printed[from..part.start], HIDDEN, "\n"]);
                    (cause(view, &subject, &field), Some(field.path), Rows::One)
                }
                Some(field) => {
                    let cause = cause(view, &subject, &field);
                    let is_block = printed[part.start..part.end].starts_with('|');
                    let rows = if is_block { Rows::of(view, cause.pos) } else { Rows::One };
                    (cause, Some(field.path), rows)
                }
                None => (Cause { pos: Pos::NONE, step: None }, None, Rows::One),
            },
        };
        if text.len() == start {
            text.push_str(&printed[from..part.end]);
        }
        from = part.end;
        for (i, (at, _)) in text[start..].match_indices('\n').enumerate() {
            let below = rows.line(i);
            let end = start + at + 1;
            lines.push(Line { end, pos: cause.pos, below, step: cause.step, pointer: pointer.clone() });
        }
    }
    // A key without a place in a file has that of the value below it.
    let mut next = Pos::NONE;
    for line in lines.iter_mut().rev() {
        if line.pointer.is_none() && !view.is_in_file(line.pos) {
            line.pos = next;
        }
        next = line.pos;
    }
    Ok(Blamed { subject, text, lines })
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
    of_source: FastMap<u32, String>,
}

impl Names {
    /// The place of a line as `FILE:LINE`.
    fn label(&mut self, view: &View<'_, '_>, line: &Line<'_>) -> String {
        let Some(spot) = view.spot(line.pos) else { return "-".to_owned() };
        let masked = || shown::line(&shown::masked(&spot.source.name)).into_owned();
        let name = self.of_source.entry(spot.source.base).or_insert_with(masked);
        format!("{name}:{}", spot.line + line.below)
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
