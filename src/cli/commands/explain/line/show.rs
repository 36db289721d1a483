//! The answer about a line, for people and for programs.

use super::super::text::{Cell, Table, one_line, quoted};
use super::answer::Answer;
use super::effects::{Cause, FieldEffect, Outcome, StepEffect};
use super::extent::Reason;
use super::place::FileLine;
use crate::paint::Paint;

use rustomize_base::meter::FastIndexMap;
use rustomize_base::shown;
use rustomize_yaml::Place;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The number of resources that are listed for one field.
const MOST_ROWS: usize = 12;

/// The largest column of a resource or root at which the next column is aligned.
const WIDEST: usize = 60;

/// The answer for people.
pub(super) fn text(answer: &Answer<'_>, is_colored: bool) -> String {
    let paint = Paint { is_colored };
    let FileLine { file, line } = answer.place;
    let place = format!("{}:{line}", one_line(&shown::masked(file)));
    let mut out = paint.bold(&place);
    let fields = || answer.roots.iter().flat_map(|(root, effects)| effects.fields.iter().map(move |one| (root, one)));
    let steps = || answer.roots.iter().flat_map(|(root, effects)| effects.steps.iter().map(move |one| (root, one)));
    if fields().next().is_none() && steps().next().is_none() {
        let _ = writeln!(out, " has no effect: {}", without_effect(answer));
        return out;
    }
    match answer.lines {
        (from, to) if (from, to) != (line, line) => drop(writeln!(out, ", a part of the lines {from} to {to}")),
        _ => out.push('\n'),
    }
    let mut by_field: FastIndexMap<(&str, &str), Vec<(&String, &FieldEffect)>> = FastIndexMap::default();
    for (root, effect) in fields() {
        by_field.entry((&effect.field, &effect.value)).or_default().push((root, effect));
    }
    for ((field, value), effects) in by_field {
        let _ = writeln!(out, "\n{}: {}", paint.bold(&one_line(field)), quoted(value));
        rows(&mut out, effects.iter().map(|(root, effect)| (*root, &*effect.resource, Some(&effect.outcome))), paint);
    }
    let mut by_step: FastIndexMap<String, Vec<(&String, &StepEffect)>> = FastIndexMap::default();
    for (root, effect) in steps() {
        let head = match &effect.layer {
            Some(file) => paint.bold(&one_line(file)),
            None => paint.cyan(&one_line(&effect.step)),
        };
        by_step.entry(head).or_default().push((root, effect));
    }
    for (head, effects) in by_step {
        let _ = writeln!(out, "\n{head}");
        let all =
            effects.iter().flat_map(|(root, effect)| effect.resources.iter().map(move |one| (*root, &**one, None)));
        rows(&mut out, all, paint);
    }
    out
}

/// A row for each resource: the resource, its root, and the end of the value.
fn rows<'a>(
    out: &mut String,
    all: impl Iterator<Item = (&'a String, &'a str, Option<&'a Outcome>)> + Clone,
    paint: Paint,
) {
    let count = all.clone().count();
    let most = if count > MOST_ROWS { MOST_ROWS - 2 } else { count };
    let mut table = Table::default();
    for (root, resource, outcome) in all.take(most) {
        let root = one_line(&shown::masked(root));
        let mut row = vec![Cell::plain(one_line(resource)), Cell::plain(root)];
        if let Some(end) = outcome.map(|outcome| ended(outcome, paint)).filter(|end| !end.is_empty()) {
            row.push(Cell::plain(end));
        }
        table.add(row);
    }
    table.print("    ", WIDEST, out);
    if count > most {
        let _ = writeln!(out, "    and {} more: '-o json' lists them", count - most);
    }
}

/// The end of a value; empty if the value is in the output.
fn ended(outcome: &Outcome, paint: Paint) -> String {
    let by = |cause: &Cause| {
        let step = paint.cyan(&one_line(&cause.step));
        match &cause.place {
            Some(Place { file, line, column }) => format!("{step}, {}:{line}:{column}", one_line(file)),
            None => step,
        }
    };
    match outcome {
        Outcome::Kept => String::new(),
        Outcome::Changed { into, by: cause } => format!("becomes {}: {}", paint.green(&quoted(into)), by(cause)),
        Outcome::Overridden { with, by: cause } => format!("overridden, {}: {}", paint.green(&quoted(with)), by(cause)),
        Outcome::Removed { by: cause } => format!("{}: {}", paint.red("removed"), by(cause)),
    }
}

/// The reason for which a line has no effect.
fn without_effect(answer: &Answer<'_>) -> String {
    let reason = match answer.reason {
        Reason::Blank => return "the line is empty".to_owned(),
        Reason::Comment => return "the line is a comment".to_owned(),
        Reason::Separator => return "the line divides documents".to_owned(),
        Reason::Text => "no value of the output comes from the line, or the value was there before",
    };
    let roots: Vec<String> =
        answer.roots.iter().take(MOST_ROWS).map(|(root, _)| one_line(&shown::masked(root))).collect();
    let more = answer.roots.len() - roots.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{reason}, in {}{more}", roots.join(", "))
}

/// The answer for programs.
pub(super) fn json(answer: &Answer<'_>) -> Value {
    let reason = match answer.reason {
        _ if answer.roots.iter().any(|(_, effects)| !effects.is_empty()) => None,
        Reason::Blank => Some("blank"),
        Reason::Comment => Some("comment"),
        Reason::Separator => Some("separator"),
        Reason::Text => Some("noEffect"),
    };
    let cause = |cause: &Cause| {
        let place = cause.place.as_ref();
        json!({
            "step": cause.step,
            "file": place.map(|place| &place.file),
            "line": place.map(|place| place.line),
            "column": place.map(|place| place.column),
        })
    };
    let roots = answer.roots.iter().map(|(root, effects)| {
        let fields = effects.fields.iter().map(|effect| {
            let (outcome, value, by) = match &effect.outcome {
                Outcome::Kept => ("kept", Some(&effect.value), None),
                Outcome::Changed { into, by } => ("changed", Some(into), Some(by)),
                Outcome::Overridden { with, by } => ("overridden", Some(with), Some(by)),
                Outcome::Removed { by } => ("removed", None, Some(by)),
            };
            json!({
                "resource": effect.identity,
                "pointer": effect.pointer,
                "field": effect.field,
                "value": effect.value,
                "isHidden": effect.is_hidden,
                "outcome": outcome,
                "becomes": value,
                "by": by.map(cause),
            })
        });
        let steps = effects
            .steps
            .iter()
            .map(|effect| json!({"step": effect.step, "layer": effect.layer, "resources": effect.resources}));
        json!({
            "root": shown::masked(root),
            "fields": fields.collect::<Vec<_>>(),
            "steps": steps.collect::<Vec<_>>(),
        })
    });
    json!({
        "file": shown::masked(answer.place.file),
        "line": answer.place.line,
        "firstLine": answer.lines.0,
        "lastLine": answer.lines.1,
        "reason": reason,
        "roots": roots.collect::<Vec<_>>(),
    })
}
