//! `diff --stat`: a line for each kind of each root, with the number of resources and fields that
//! differ.

use crate::commands::diff::item::Item;
use crate::commands::diff::listing::{counts, name};
use crate::commands::diff::report::Compared;
use crate::commands::diff::text::{BOLD, GREEN, RED, paint};
use rustomize_engine::diff::Summary;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The longest row of signs.
const WIDEST: usize = 40;

/// The differences of a kind in a root.
#[derive(Default)]
struct Row {
    /// The root, if several are compared.
    root: String,
    kind: String,
    resources: usize,
    fields: usize,
    /// The number of values that are new, and of those that are gone.
    values: (usize, usize),
}

/// The lines, and the counts behind them; empty if nothing differs.
pub(crate) fn print(compared: &[Compared<'_>], total: &Summary, is_colored: bool) -> String {
    let mut out = String::new();
    if total.is_same() {
        return out;
    }
    let rows: Vec<Row> = compared.iter().flat_map(rows).collect();
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or_default();
    let (root_width, kind_width) = (width(|row| &row.root), width(|row| &row.kind));
    let most = rows.iter().map(|row| row.values.0 + row.values.1).max().unwrap_or_default();
    let texts: Vec<String> = rows.iter().map(|row| row.counts()).collect();
    let text_width = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    for (row, text) in rows.iter().zip(texts) {
        let gap = if root_width == 0 { "" } else { "  " };
        let signs = |sign: &str, style: &str, count: usize| match scaled(count, most) {
            0 => String::new(),
            count => paint(is_colored, style, &sign.repeat(count)),
        };
        let (new, old) = (signs("+", GREEN, row.values.0), signs("-", RED, row.values.1));
        let Row { root, kind, .. } = row;
        let line = format!(" {root:root_width$}{gap}{kind:kind_width$}  {text:text_width$}  {new}{old}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out, "{}", paint(is_colored, BOLD, &counts(total)));
    out
}

/// The rows of a root, in the order of kinds.
fn rows(compared: &Compared<'_>) -> Vec<Row> {
    let root = compared.sides.root.as_deref().map(name).unwrap_or_default();
    let mut rows: BTreeMap<(&str, &str), Row> = BTreeMap::new();
    for Item { kind, group, fields, values, .. } in &compared.items {
        let row = rows.entry((kind, group)).or_insert_with(|| {
            let dot = if group.is_empty() { "" } else { "." };
            Row { root: root.clone(), kind: format!("{kind}{dot}{group}"), ..Row::default() }
        });
        row.resources += 1;
        row.fields += fields;
        row.values = (row.values.0 + values.0, row.values.1 + values.1);
    }
    rows.into_values().collect()
}

impl Row {
    fn counts(&self) -> String {
        let many = |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
        format!("{}, {}", many(self.resources, "resource"), many(self.fields, "field"))
    }
}

/// The number of signs for a count, if the longest row stands for `most`: at least one for a count
/// that is not 0.
fn scaled(count: usize, most: usize) -> usize {
    if most <= WIDEST { count } else { (count * WIDEST / most).max(usize::from(count > 0)) }
}
