//! `diff` for people: a summary, then each resource with its fields, in colours on a terminal.

use crate::commands::diff::listing::{MOST_IMAGES, Mark, Section, counts, images, name};
use crate::commands::diff::report::Report;
use std::fmt::Write;

pub(super) const BOLD: &str = "1";
pub(super) const RED: &str = "31";
pub(super) const GREEN: &str = "32";
const CYAN: &str = "36";

/// The differences as text; empty if there are none.
pub(crate) fn print(report: &Report<'_>, is_colored: bool) -> String {
    let Report { total, upgrade, groups, roots, .. } = report;
    let mut out = String::new();
    if total.is_same() {
        return out;
    }
    let paint = |style: &str, text: &str| paint(is_colored, style, text);
    let _ = writeln!(out, "{}", paint(BOLD, &counts(total)));
    if let Some(upgrade) = upgrade {
        let _ = writeln!(out, "kustomize {} -> {}", upgrade.before, upgrade.after);
        for behaviour in &upgrade.behaviours {
            let _ = writeln!(out, "{}:", behaviour.count());
            for (mark, style, version) in [('-', RED, upgrade.before), ('+', GREEN, upgrade.after)] {
                let line = format!("{mark} {}", behaviour.question.sentence(version));
                let _ = writeln!(out, "{}", paint(style, &line));
            }
        }
    }
    let (listed, more) = images(total, MOST_IMAGES);
    for (old, new, count) in listed {
        let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
        let _ = writeln!(out, "image {} -> {}{times}", paint(RED, &old), paint(GREEN, &new));
    }
    more.into_iter().for_each(|more| out.push_str(&format!("{more}\n")));
    let add = |Section { word, title, lines, .. }: &Section, out: &mut String| {
        let _ = writeln!(out, "\n{}", paint(BOLD, &format!("{word} {title}")));
        for line in lines {
            let text = format!("{} {}", line.mark.character(), line.text);
            let text = match line.mark {
                Mark::Both => text,
                Mark::Old => paint(RED, &text),
                Mark::New => paint(GREEN, &text),
                Mark::Note => paint(CYAN, &text),
            };
            let _ = writeln!(out, "{}", text.trim_end());
        }
    };
    groups.iter().for_each(|group| add(&group.section, &mut out));
    for compared in roots.iter().filter(|compared| !compared.sections.is_empty()) {
        if let Some(root) = &compared.sides.root {
            let _ = writeln!(out, "\n{}", paint(BOLD, &format!("# Root: {}", name(root))));
        }
        compared.sections.iter().for_each(|section| add(section, &mut out));
    }
    out
}

/// A text in a style of a terminal, if colours are used.
pub(super) fn paint(is_colored: bool, style: &str, text: &str) -> String {
    if is_colored { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
}
