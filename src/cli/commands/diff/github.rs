//! `diff` as a comment on a pull request of GitHub: Markdown with folded details that fits into one
//! comment. What does not fit is counted.

use crate::commands::diff::html::escaped;
use crate::commands::diff::listing::{Line, Mark, Section, name};
use crate::commands::diff::markdown::{fenced, head};
use crate::commands::diff::report::Report;
use rustomize_base::shown;
use std::borrow::Cow;

/// The length of a comment that GitHub takes, in bytes: its limit is as many characters.
const LONGEST: usize = 65_536;

/// The length that is left for the sentence about what does not fit.
const RESERVED: usize = 256;

/// The lines of a difference that are left if all of them do not fit.
const MOST_LINES: usize = 40;

/// The longest line of a difference, in bytes, if all of them do not fit.
const LONGEST_LINE: usize = 400;

/// The differences as a comment.
pub(crate) fn print(report: &Report<'_>) -> String {
    let mut out = bounded_head(report);
    let room = LONGEST - RESERVED;
    let mut left_out = 0;
    let groups = report.groups.iter().map(|group| (None, &group.section));
    let roots = report
        .roots
        .iter()
        .flat_map(|compared| compared.sections.iter().map(|section| (compared.sides.root.as_deref(), section)));
    for (root, section) in groups.chain(roots) {
        let fits = |block: &String| out.len() + block.len() <= room;
        let whole = Some(details(root, section, &section.lines)).filter(fits);
        match whole.or_else(|| Some(details(root, section, &cut(&section.lines))).filter(fits)) {
            Some(block) => out.push_str(&block),
            None => left_out += 1,
        }
    }
    let sentence = match left_out {
        0 => return out,
        1 => "1 more difference does not fit into this comment.".to_owned(),
        count => format!("{count} more differences do not fit into this comment."),
    };
    out + "\n" + &sentence + "\n"
}

/// The counts, without lines that are too long for a comment.
fn bounded_head(report: &Report<'_>) -> String {
    let head = head(report);
    let fits = |line: &&str| line.len() <= LONGEST / 64;
    head.lines().filter(fits).map(|line| safe(&format!("{line}\n"))).collect()
}

/// A folded section.
fn details(root: Option<&str>, section: &Section, lines: &[Line]) -> String {
    let Section { word, title, is_unchangeable, .. } = section;
    // An HTML block of Markdown ends at an empty line, and no name has one.
    let named = |text: &str| format!("<code>{}</code>", escaped(&shortened(text)));
    let of = root.map(|root| format!("{}: ", named(&name(root)))).unwrap_or_default();
    let refused = if *is_unchangeable { ": Kubernetes refuses this change" } else { "" };
    let lines = if lines.is_empty() { String::new() } else { fenced(lines) + "\n" };
    safe(&format!("\n<details><summary>{of}{word} {}{refused}</summary>\n\n{lines}</details>\n", named(title)))
}

/// The first lines of a section, none of them long.
fn cut(lines: &[Line]) -> Vec<Line> {
    let short = |line: &Line| Line { text: shortened(&line.text).into_owned(), ..*line };
    let mut cut: Vec<Line> = lines.iter().take(MOST_LINES).map(short).collect();
    if lines.len() > MOST_LINES {
        cut.push(Line { mark: Mark::Note, text: format!("{} more lines", lines.len() - MOST_LINES) });
    }
    cut
}

/// A text that is not longer than a line may be.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.len() > LONGEST_LINE {
        true => format!("{}...", &text[..text.floor_char_boundary(LONGEST_LINE)]).into(),
        false => text.into(),
    }
}

/// A text as it is written to stdout, so that its length is known.
fn safe(text: &str) -> String {
    shown::tamed(&shown::lines(text)).into_owned()
}
