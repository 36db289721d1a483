//! `diff` as Markdown, for a comment on a pull request. Names and values are printed as code, so
//! that none of them is read as Markdown or HTML.

use crate::cli::commands::diff::listing::{Section, counts, images, name};
use crate::cli::commands::diff::report::Report;
use std::fmt::Write;

/// The differences as Markdown.
pub(crate) fn print(report: &Report<'_>) -> String {
    let Report { total, upgrade, compared } = report;
    let mut out = String::new();
    let _ = writeln!(out, "**{}**", counts(total));
    if let Some(upgrade) = upgrade {
        let _ = writeln!(out, "\nkustomize {} to {}:\n", upgrade.before, upgrade.after);
        for behaviour in &upgrade.behaviours {
            let _ = writeln!(out, "* {}:", behaviour.count());
            for version in [upgrade.before, upgrade.after] {
                let _ = writeln!(out, "  * {version}: {}", behaviour.question.says(version));
            }
        }
    }
    let mut lines = images(total).peekable();
    if lines.peek().is_some() {
        out.push('\n');
    }
    for (old, new, count) in lines {
        let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
        let _ = writeln!(out, "* image {} -> {}{times}", code(&old), code(&new));
    }
    for compared in compared.iter().filter(|compared| !compared.sections.is_empty()) {
        if let Some(root) = &compared.sides.root {
            let _ = writeln!(out, "\n### {}", code(&name(root)));
        }
        for Section { word, title, lines } in &compared.sections {
            let _ = writeln!(out, "\n{word} {}", code(title));
            if lines.is_empty() {
                continue;
            }
            let longest = lines.iter().map(|line| ticks(&line.text)).max().unwrap_or_default();
            let fence = "`".repeat(3.max(longest + 1));
            let _ = writeln!(out, "\n{fence}diff");
            for line in lines {
                let _ = writeln!(out, "{}", format!("{} {}", line.mark.character(), line.text).trim_end());
            }
            let _ = writeln!(out, "{fence}");
        }
    }
    out
}

/// A text as code in a line.
fn code(text: &str) -> String {
    let fence = "`".repeat(ticks(text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// The length of the longest row of backticks.
fn ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}
