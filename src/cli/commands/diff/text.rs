//! `diff` for people: a summary, then each resource with its fields, in colours on a terminal.

use crate::commands::diff::listing::{ChangedImage, ChangedImages, Mark, Section, counts, name};
use crate::commands::diff::report::Report;
use crate::paint::Paint;
use std::fmt::Write;

/// The differences as text; empty if there are none.
pub(crate) fn print(report: &Report<'_>, is_colored: bool) -> String {
    let Report { total, upgrade, groups, roots, .. } = report;
    let mut out = String::new();
    if total.is_same() {
        return out;
    }
    let paint = Paint { is_colored };
    let _ = writeln!(out, "{}", paint.bold(&counts(total)));
    if let Some(upgrade) = upgrade {
        let _ = writeln!(out, "kustomize {} -> {}", upgrade.before, upgrade.after);
        for behaviour in &upgrade.behaviours {
            let _ = writeln!(out, "{}:", behaviour.count());
            let sentence = |version| behaviour.question.sentence(version);
            let _ = writeln!(out, "{}", paint.red(&format!("- {}", sentence(upgrade.before))));
            let _ = writeln!(out, "{}", paint.green(&format!("+ {}", sentence(upgrade.after))));
        }
    }
    let ChangedImages { listed, more } = ChangedImages::of(total);
    for ChangedImage { old, new, times } in listed {
        let _ = writeln!(out, "image {} -> {}{times}", paint.red(&old), paint.green(&new));
    }
    more.into_iter().for_each(|more| out.push_str(&format!("{more}\n")));
    let add = |Section { word, title, lines, .. }: &Section, out: &mut String| {
        let _ = writeln!(out, "\n{}", paint.bold(&format!("{word} {title}")));
        for line in lines {
            let text = format!("{} {}", line.mark.character(), line.text);
            let text = match line.mark {
                Mark::Both => text,
                Mark::Old => paint.red(&text),
                Mark::New => paint.green(&text),
                Mark::Note => paint.cyan(&text),
            };
            let _ = writeln!(out, "{}", text.trim_end());
        }
    };
    groups.iter().for_each(|group| add(&group.section, &mut out));
    for compared in roots.iter().filter(|compared| !compared.sections.is_empty()) {
        if let Some(root) = &compared.sides.root {
            let _ = writeln!(out, "\n{}", paint.bold(&format!("# Root: {}", name(root))));
        }
        compared.sections.iter().for_each(|section| add(section, &mut out));
    }
    out
}
