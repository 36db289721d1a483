//! `diff` as Markdown, for a comment on a pull request. Names and values are printed as code, so
//! that none of them is read as Markdown or HTML.

use crate::commands::diff::listing::{ChangedImage, ChangedImages, Line, Section, counts, name};
use crate::commands::diff::report::Report;
use std::fmt::Write;

/// The differences as Markdown.
pub(crate) fn print(report: &Report<'_>) -> String {
    let mut out = head(report);
    let add = |Section { word, title, lines, .. }: &Section, out: &mut String| {
        let _ = writeln!(out, "\n{word} {}", code(title));
        if !lines.is_empty() {
            out.push('\n');
            out.push_str(&fenced(lines));
        }
    };
    report.groups.iter().for_each(|group| add(&group.section, &mut out));
    for compared in report.roots.iter().filter(|compared| !compared.sections.is_empty()) {
        if let Some(root) = &compared.sides.root {
            let _ = writeln!(out, "\n### {}", code(&name(root)));
        }
        compared.sections.iter().for_each(|section| add(section, &mut out));
    }
    out
}

/// The counts, the changes of behaviour, and the images that differ.
pub(super) fn head(Report { total, upgrade, .. }: &Report<'_>) -> String {
    let mut out = format!("**{}**\n", counts(total));
    if let Some(upgrade) = upgrade {
        let _ = writeln!(out, "\nkustomize {} to {}:\n", upgrade.before, upgrade.after);
        for behaviour in &upgrade.behaviours {
            let _ = writeln!(out, "* {}:", behaviour.count());
            for version in [upgrade.before, upgrade.after] {
                let _ = writeln!(out, "  * {version}: {}", behaviour.question.says(version));
            }
        }
    }
    let ChangedImages { listed, more } = ChangedImages::of(total);
    if !listed.is_empty() {
        out.push('\n');
    }
    for ChangedImage { old, new, times } in listed {
        let _ = writeln!(out, "* image {} -> {}{times}", code(&old), code(&new));
    }
    more.into_iter().for_each(|more| out.push_str(&format!("* {more}\n")));
    out
}

/// Lines as a block of code that none of them ends.
pub(super) fn fenced(lines: &[Line]) -> String {
    let longest = lines.iter().map(|line| ticks(&line.text)).max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    let mut out = format!("{fence}diff\n");
    for line in lines {
        let _ = writeln!(out, "{}", format!("{} {}", line.mark.character(), line.text).trim_end());
    }
    let _ = writeln!(out, "{fence}");
    out
}

/// A text as code in a line.
pub(super) fn code(text: &str) -> String {
    let fence = "`".repeat(ticks(text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// The length of the longest row of backticks.
fn ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}
