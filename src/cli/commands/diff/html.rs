//! `diff` as a page of HTML, self-contained and without scripts.

use crate::commands::diff::listing::{ChangedImage, ChangedImages, Mark, Section, counts, name};
use crate::commands::diff::report::Report;
use std::fmt::Write;

/// The beginning of the page. Its policy forbids scripts and all fetches.
const HEAD: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>rustomize diff</title>
<style>
:root { color-scheme: light dark; --old: #ffebe9; --new: #dafbe1; --note: #57606a; --line: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --old: #4b1113; --new: #0d3a1d; --note: #9198a1; --line: #3d444d; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { margin-top: 2rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; } h2 code { font-size: 1.1rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .7rem 0; overflow: hidden; }
summary { padding: .4rem .8rem; cursor: pointer; overflow-wrap: anywhere; }
pre { margin: 0; padding: .3rem 0; overflow-x: auto; border-top: 1px solid var(--line); }
pre > * { display: block; padding: 0 .8rem; min-width: max-content; text-decoration: none; white-space: pre; }
del { background: var(--old); } ins { background: var(--new); } i { color: var(--note); font-style: normal; }
</style>
"#;

/// The differences as a page.
pub(crate) fn print(report: &Report<'_>) -> String {
    let Report { total, upgrade, groups, roots, .. } = report;
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "<h1>{}</h1>", escaped(&counts(total)));
    if let Some(upgrade) = upgrade {
        let _ = writeln!(out, "<p>kustomize {} &rarr; {}</p>\n<ul>", upgrade.before, upgrade.after);
        for behaviour in &upgrade.behaviours {
            let [old, new] = [upgrade.before, upgrade.after].map(|v| escaped(&behaviour.question.sentence(v)));
            let count = behaviour.count();
            let _ = writeln!(out, "<li>{count}:<br><del>{old}</del><br><ins>{new}</ins></li>");
        }
        out.push_str("</ul>\n");
    }
    let ChangedImages { listed, more } = ChangedImages::of(total);
    if !listed.is_empty() {
        out.push_str("<ul>\n");
        for ChangedImage { old, new, times } in listed {
            let (old, new) = (escaped(&old), escaped(&new));
            let _ = writeln!(out, "<li>image <code>{old}</code> &rarr; <code>{new}</code>{times}</li>");
        }
        more.into_iter().for_each(|more| out.push_str(&format!("<li>{more}</li>\n")));
        out.push_str("</ul>\n");
    }
    groups.iter().for_each(|group| section(&group.section, &mut out));
    for compared in roots.iter().filter(|compared| !compared.sections.is_empty()) {
        if let Some(root) = &compared.sides.root {
            let _ = writeln!(out, "<h2><code>{}</code></h2>", escaped(&name(root)));
        }
        compared.sections.iter().for_each(|of_root| section(of_root, &mut out));
    }
    out.push_str("</html>\n");
    out
}

/// Adds a section.
fn section(Section { word, title, lines, .. }: &Section, out: &mut String) {
    let _ = writeln!(out, "<details open>\n<summary>{word} <code>{}</code></summary>", escaped(title));
    out.push_str("<pre>");
    for line in lines {
        let tag = match line.mark {
            Mark::Both => "span",
            Mark::Old => "del",
            Mark::New => "ins",
            Mark::Note => "i",
        };
        let _ = write!(out, "<{tag}>{} {}</{tag}>", line.mark.character(), escaped(&line.text));
    }
    out.push_str("</pre>\n</details>\n");
}

/// A text with the characters of HTML escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
