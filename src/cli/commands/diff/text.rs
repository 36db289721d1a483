//! `diff` for people: a summary, then each resource with its fields, in colours on a terminal.

use crate::cli::commands::diff::listing::{Mark, Section, counts, images, name};
use crate::cli::commands::diff::report::Report;
use std::fmt::Write;

const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";

/// The differences as text; empty if there are none.
pub(crate) fn print(report: &Report<'_>, is_colored: bool) -> String {
    let Report { total, upgrade, compared } = report;
    let mut out = String::new();
    if total.is_same() {
        return out;
    }
    let paint = |style: &str, text: &str| match is_colored {
        true => format!("\x1b[{style}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
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
    for (old, new, count) in images(total) {
        let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
        let _ = writeln!(out, "image {} -> {}{times}", paint(RED, &old), paint(GREEN, &new));
    }
    for compared in compared.iter().filter(|compared| !compared.sections.is_empty()) {
        if let Some(root) = &compared.sides.root {
            let _ = writeln!(out, "\n{}", paint(BOLD, &format!("# Root: {}", name(root))));
        }
        for Section { word, title, lines } in &compared.sections {
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
        }
    }
    out
}
