//! `tree` for people: each part below the part that names it, with lines between them.

use rustomize_base::shown;
use rustomize_engine::pipeline::outline::{Kind, Link, Outline};
use std::fmt::Write;

/// A part whose parts are being printed.
struct OpenPart<'o> {
    part: usize,
    rest: std::slice::Iter<'o, Link>,
    /// The length of the lines' prefix for its parts.
    prefix: usize,
}

/// The roots with their parts. The parts of a part are printed where it is named first; where it is
/// named again, it is marked. A root that an earlier root has shown is left out. O(links), times
/// the depth for the prefixes.
pub(crate) fn print(outline: &Outline) -> String {
    let mut out = String::new();
    let mut is_shown = vec![false; outline.parts.len()];
    let mut is_open = vec![false; outline.parts.len()];
    for &root in &outline.roots {
        if is_shown[root] {
            continue;
        }
        let _ = writeln!(out, "{}{}", name(&outline.parts[root].name), kind(outline.parts[root].kind));
        (is_shown[root], is_open[root]) = (true, true);
        let mut prefix = String::new();
        let mut open = vec![OpenPart { part: root, rest: outline.parts[root].links.iter(), prefix: 0 }];
        while let Some(top) = open.last_mut() {
            let Some(link) = top.rest.next() else {
                is_open[top.part] = false;
                open.pop();
                continue;
            };
            let is_last = top.rest.len() == 0;
            let part = &outline.parts[link.to];
            let again = match (is_open[link.to], is_shown[link.to] && !part.links.is_empty()) {
                (true, _) => " (cycle)",
                (false, true) => " (*)",
                (false, false) => "",
            };
            prefix.truncate(top.prefix);
            let branch = if is_last { "└── " } else { "├── " };
            let name = name(&part.name);
            let _ = writeln!(out, "{prefix}{branch}{}: {name}{}{again}", link.field, kind(part.kind));
            is_shown[link.to] = true;
            if again.is_empty() && !part.links.is_empty() {
                is_open[link.to] = true;
                prefix.push_str(if is_last { "    " } else { "│   " });
                open.push(OpenPart { part: link.to, rest: part.links.iter(), prefix: prefix.len() });
            }
        }
    }
    out
}

/// The name of a part in one line.
pub(crate) fn name(name: &str) -> String {
    shown::line(&shown::masked(name)).into_owned()
}

/// The word after a name, if the field does not say the kind of the part.
fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Remote => " (remote)",
        Kind::Missing => " (missing)",
        Kind::Unreadable => " (cannot be read)",
        Kind::Inline => " (inline)",
        Kind::Kustomization | Kind::Component | Kind::File | Kind::Plugin | Kind::Chart => "",
    }
}
