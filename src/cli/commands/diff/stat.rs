//! `diff --stat`: a line for each kind of each root, with the number of resources and fields that
//! differ.

use crate::commands::diff::item::{Item, ValueCounts};
use crate::commands::diff::listing::{counted, counts, name};
use crate::commands::diff::report::Compared;
use crate::paint::Paint;
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
    values: ValueCounts,
}

/// The lines, and the counts behind them; empty if nothing differs.
pub(crate) fn print(compared: &[Compared<'_>], total: &Summary, is_colored: bool) -> String {
    let mut out = String::new();
    if total.is_same() {
        return out;
    }
    let paint = Paint { is_colored };
    let rows: Vec<Row> = compared.iter().flat_map(rows).collect();
    let width = |cell: fn(&Row) -> &str| rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or_default();
    let (root_width, kind_width) = (width(|row| &row.root), width(|row| &row.kind));
    let most = rows.iter().map(|row| row.values.new + row.values.gone).max().unwrap_or_default();
    let texts: Vec<String> = rows.iter().map(|row| row.counts()).collect();
    let text_width = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
    for (row, text) in rows.iter().zip(texts) {
        let gap = if root_width == 0 { "" } else { "  " };
        let signs = |sign: &str, count: usize| sign.repeat(scaled(count, most));
        let (new, old) = (signs("+", row.values.new), signs("-", row.values.gone));
        let new = if new.is_empty() { new } else { paint.green(&new) };
        let old = if old.is_empty() { old } else { paint.red(&old) };
        let Row { root, kind, .. } = row;
        let line = format!(" {root:root_width$}{gap}{kind:kind_width$}  {text:text_width$}  {new}{old}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out, "{}", paint.bold(&counts(total)));
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
        row.values.new += values.new;
        row.values.gone += values.gone;
    }
    rows.into_values().collect()
}

impl Row {
    fn counts(&self) -> String {
        format!("{}, {}", counted(self.resources, "resource"), counted(self.fields, "field"))
    }
}

/// The number of signs for a count, if the longest row stands for `most`: at least one for a count
/// that is not 0.
fn scaled(count: usize, most: usize) -> usize {
    if most <= WIDEST { count } else { (count * WIDEST / most).max(usize::from(count > 0)) }
}
