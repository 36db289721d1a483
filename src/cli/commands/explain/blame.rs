//! `--blame`: the whole output, with the file and line that each line comes from.

use super::text;
use crate::paint::Paint;
use crate::writer::Shown;
use anyhow::Result;
use rustomize_base::{parallel, shown};
use rustomize_results::explain::blame::{Line, Sheet, sheets};
use rustomize_results::explain::view::View;
use std::borrow::Cow;

/// The largest width of the column with places; a longer place moves its own line alone.
const WIDEST_PLACE: usize = 60;

/// The smallest width of that column, and of the text beside it, on a terminal.
const NARROWEST: usize = 20;

/// The text between a place and its line.
const BAR: &str = " | ";

/// The sign in place of characters that have no room.
const CUT: char = '…';

/// The output for people: the place, then the line. With a width each line fits into it. The texts
/// follow each other. They are made on all cores, each from a sheet whose memory is then free.
///
/// # Errors
/// A resource cannot be printed.
pub(super) fn text(view: &View<'_, '_>, is_colored: bool, columns: Option<usize>) -> Result<Vec<Shown>> {
    let sheets = sheets(view)?;
    let lines = || sheets.iter().flat_map(|sheet| &sheet.lines);
    let longest = || sheets.iter().flat_map(|sheet| sheet.text.lines()).map(|line| line.chars().count()).max();
    // Where lines are short, places may be long.
    let left = |columns: usize| columns.saturating_sub(BAR.len() + longest().unwrap_or(0));
    let most = columns.map_or(WIDEST_PLACE, |columns| (columns * 2 / 5).max(left(columns)).max(NARROWEST));
    let width = match columns {
        Some(_) => lines().map(|line| line.width as usize).max().unwrap_or(0).min(most),
        None => lines().map(|line| line.width as usize).filter(|width| *width <= most).max().unwrap_or(0),
    };
    let look = Look {
        paint: Paint { is_colored },
        width,
        is_cut: columns.is_some(),
        room: columns.map(|columns| columns.saturating_sub(width + BAR.len()).max(NARROWEST)),
    };
    let mut numbered: Vec<(usize, Sheet)> = sheets.into_iter().enumerate().collect();
    let shown = parallel::runs_mut(&mut numbered, view.output.threads, || {
        |run: &mut [(usize, Sheet)]| {
            let mut out = String::new();
            for (number, sheet) in run {
                look.show(&std::mem::take(sheet), *number == 0, &mut out);
            }
            text::for_people(out, is_colored)
        }
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
    fn show(&self, sheet: &Sheet, is_first: bool, out: &mut String) {
        let blanks = " ".repeat(self.width);
        out.reserve(sheet.text.len() + (sheet.lines.len() + sheet.ends.len()) * (self.width + 2 * BAR.len()));
        // One look at all lines: most have nothing that would be escaped.
        let is_plain = matches!(shown::lines(&sheet.text), Cow::Borrowed(_));
        let (mut start, mut first) = (0, 0);
        for (i, end) in sheet.ends.iter().enumerate() {
            if i > 0 || !is_first {
                out.extend([&*blanks, BAR, "---\n"]);
            }
            for line in &sheet.lines[first..*end] {
                self.place(sheet, line, out);
                out.push_str(&blanks[self.width.min(line.width as usize)..]);
                out.push_str(BAR);
                let text = sheet.line(start, line);
                let text = if is_plain { text.into() } else { shown::line(text) };
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
    fn place(&self, sheet: &Sheet, line: &Line, out: &mut String) {
        if !self.is_cut && !self.paint.is_colored {
            return sheet.label(line, out);
        }
        let mut label = String::new();
        sheet.label(line, &mut label);
        let label = if self.is_cut { tail(&label, self.width) } else { label.into() };
        out.push_str(&self.paint.dim(&label));
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
