//! The lines that a change of a file changes, in the form of `diff -u`. `patch -p0` reads it.

use crate::paint::Paint;
use rustomize_base::meter::FastMap;
use rustomize_base::shown;
use rustomize_edit::Change;
use rustomize_engine::diag::Excerpt;
use rustomize_engine::diff::align::{AlignedItem, GapTreatment, align};
use std::fmt::Write;
use std::ops::Range;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// The most lines that are shown of one file.
const MOST: usize = 400;

/// The text in the place of a line that may have a secret.
const HIDDEN: &str = "(not shown: may have a secret)";

/// A text, and the offset of each of its lines.
struct Lines<'t> {
    text: &'t str,
    lines: Vec<(usize, &'t str)>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut offset = 0;
        let line = |line: &'t str| {
            offset += line.len();
            (offset - line.len(), line)
        };
        Lines { text, lines: text.split_inclusive('\n').map(line).collect() }
    }

    /// The number of each line among all different lines.
    fn fingerprints(&self, known: &mut FastMap<&'t str, u64>) -> Vec<u64> {
        let number = |(_, line): &(usize, &'t str)| {
            let next = known.len() as u64;
            *known.entry(line).or_insert(next)
        };
        self.lines.iter().map(number).collect()
    }

    /// A line as it is shown.
    fn shown(&self, at: usize) -> String {
        let (offset, line) = self.lines[at];
        match Excerpt::of(self.text, offset) {
            Some(_) => shown::line(line.trim_end_matches(['\n', '\r'])).into_owned(),
            None => HIDDEN.to_owned(),
        }
    }

    /// Returns true for a last line that has no end.
    fn is_open(&self, at: usize) -> bool {
        !self.lines[at].1.ends_with('\n')
    }
}

/// The changed lines of a file, with lines around them. O(size of the texts) for a change of few
/// lines.
pub(super) fn print(change: &Change, is_colored: bool) -> String {
    let paint = Paint { is_colored };
    let (before, after) = (Lines::of(&change.before), Lines::of(&change.after));
    let mut known = FastMap::default();
    let (old, new) = (before.fingerprints(&mut known), after.fingerprints(&mut known));
    let items = align(&old, &new, GapTreatment::Apart);
    let name = shown::line(&shown::masked(&change.name)).into_owned();
    let mut out = String::new();
    for mark in ["---", "+++"] {
        let _ = writeln!(out, "{}", paint.bold(&format!("{mark} {name}")));
    }
    let mut left = MOST;
    for hunk in hunks(&items) {
        if left == 0 {
            out.push_str("(more lines are not shown)\n");
            break;
        }
        let head = format!("@@ -{} +{} @@", range(&items, &hunk, |i| i.before), range(&items, &hunk, |i| i.after));
        let _ = writeln!(out, "{}", paint.cyan(&head));
        for item in &items[hunk] {
            if left == 0 {
                break;
            }
            left -= 1;
            let (mark, lines, at) = match *item {
                AlignedItem { before: Some(at), after: None } => ('-', &before, at),
                AlignedItem { before: None, after: Some(at) } => ('+', &after, at),
                AlignedItem { before: Some(at), .. } => (' ', &before, at),
                AlignedItem { before: None, after: None } => continue,
            };
            let line = format!("{mark}{}", lines.shown(at));
            let line = match mark {
                '-' => paint.red(&line),
                '+' => paint.green(&line),
                _ => line,
            };
            let _ = writeln!(out, "{line}");
            if lines.is_open(at) {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// The changed lines and the lines around them, as ranges of items.
fn hunks(items: &[AlignedItem]) -> Vec<Range<usize>> {
    let mut hunks: Vec<Range<usize>> = Vec::new();
    let is_changed = |item: &AlignedItem| item.before.is_none() || item.after.is_none();
    for (at, _) in items.iter().enumerate().filter(|(_, item)| is_changed(item)) {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(items.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

/// The first line of a hunk on one side, and the number of its lines, as `diff -u` writes them.
fn range(items: &[AlignedItem], hunk: &Range<usize>, side: impl Fn(&AlignedItem) -> Option<usize>) -> String {
    let above = items[..hunk.start].iter().filter(|item| side(item).is_some()).count();
    let count = items[hunk.clone()].iter().filter(|item| side(item).is_some()).count();
    match count {
        0 => format!("{above},0"),
        1 => format!("{}", above + 1),
        count => format!("{},{count}", above + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, want: &str) {
        let change = Change { name: "k".into(), path: "/k".into(), before: before.to_owned(), after: after.to_owned() };
        assert_eq!(print(&change, false), want);
    }

    #[test]
    fn lines_are_shown_as_by_diff() {
        check("", "", "--- k\n+++ k\n");
        check("a: 1\nb: 2\n", "a: 1\nb: 3\n", "--- k\n+++ k\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n");
        check("", "a: 1\n", "--- k\n+++ k\n@@ -0,0 +1 @@\n+a: 1\n");
        let lines = |from: i32, to: i32| (from..to).map(|i| format!("l{i}\n")).collect::<String>();
        let (old, new) = (lines(0, 30), format!("{}x\n{}", lines(0, 5), lines(6, 29)));
        let want = "--- k\n+++ k\n@@ -3,7 +3,7 @@\n l2\n l3\n l4\n-l5\n+x\n l6\n l7\n l8\n\
                    @@ -27,4 +27,3 @@\n l26\n l27\n l28\n-l29\n";
        check(&old, &new, want);
        check("a", "b\n", "--- k\n+++ k\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n");
    }

    #[test]
    fn a_line_with_a_secret_is_not_shown() {
        let old = "password: one\n";
        check(old, "password: two\n", &format!("--- k\n+++ k\n@@ -1 +1 @@\n-{HIDDEN}\n+{HIDDEN}\n"));
    }
}
