//! Differences as lines, for people: a section for each resource, with a line for each value that
//! was removed or added.

use rustomize_base::shown::{line, masked};
use rustomize_engine::diff::align::{AlignedItem, GapTreatment, align};
use rustomize_engine::diff::{Difference, FieldChange, Summary};
use rustomize_engine::resource::Resource;
use rustomize_yaml::{Node, Value, emit, json};
use std::hash::BuildHasher;

/// The number of equal lines of a text that are shown around a difference.
const CONTEXT: usize = 3;

/// The differences of a resource, or of a group of resources that have equal ones.
#[derive(Debug)]
pub(crate) struct Section {
    /// The word for the kind of difference, such as `changed`.
    pub word: &'static str,
    /// The resource, or the number of them.
    pub title: String,
    /// True if Kubernetes refuses one of the differences in an existing object.
    pub is_unchangeable: bool,
    pub lines: Vec<Line>,
}

/// A line of a section, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub mark: Mark,
    pub text: String,
}

/// The side that has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Both,
    Old,
    New,
    /// The line comments on the lines below it.
    Note,
}

impl Mark {
    /// The character in front of the line.
    pub(crate) fn character(self) -> char {
        match self {
            Mark::Both => ' ',
            Mark::Old => '-',
            Mark::New => '+',
            Mark::Note => '@',
        }
    }
}

/// The lines of a whole resource.
pub(crate) fn resource_lines(mark: Mark, resource: &Resource<'_>) -> Vec<Line> {
    let mut lines = Lines(Vec::new());
    lines.all(mark, "", &yaml(resource.node()));
    lines.0
}

/// The lines of a field that differs.
pub(crate) fn field_lines(change: &FieldChange<'_>) -> Vec<Line> {
    let mut lines = Lines(Vec::new());
    lines.field(change);
    lines.0
}

/// A line that comments on the lines below it.
pub(crate) fn note(text: &str) -> Line {
    Line { mark: Mark::Note, text: line(text).into_owned() }
}

/// The counts in words.
pub(crate) fn counts(summary: &Summary) -> String {
    let counts = [
        (summary.added, "added"),
        (summary.removed, "removed"),
        (summary.changed, "changed"),
        (summary.renamed, "renamed"),
        (summary.moved, "moved"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let counts: Vec<String> = counts.collect();
    match counts.is_empty() {
        true => format!("Nothing differs in {} resources", summary.same),
        false => {
            let refused = match summary.unchangeable {
                0 => String::new(),
                count => format!("; {count} in fields that nobody can change in a cluster"),
            };
            format!("{}, {} the same{refused}", counts.join(", "), summary.same)
        }
    }
}

/// The number of images that are listed.
const MOST_IMAGES: usize = 10;

/// The first images that differ, and how many more there are.
pub(crate) struct ChangedImages {
    pub listed: Vec<ChangedImage>,
    /// The number of images that are not listed, in words.
    pub more: Option<String>,
}

/// An image that differs, in one line each.
pub(crate) struct ChangedImage {
    pub old: String,
    pub new: String,
    /// The number of changes, in words behind a blank; empty for one.
    pub times: String,
}

impl ChangedImages {
    /// The images of a summary.
    pub(crate) fn of(summary: &Summary) -> Self {
        let image = |((old, new), count): (&(String, String), &usize)| {
            let times = if *count == 1 { String::new() } else { format!(" ({count} times)") };
            ChangedImage { old: line(old).into_owned(), new: line(new).into_owned(), times }
        };
        let more = match summary.images.len().saturating_sub(MOST_IMAGES) {
            0 => None,
            1 => Some("and 1 more image".to_owned()),
            more => Some(format!("and {more} more images")),
        };
        ChangedImages { listed: summary.images.iter().take(MOST_IMAGES).map(image).collect(), more }
    }
}

/// A number of things, as `2 resources`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// Kind, group, namespace and name of a resource: `Deployment.apps shop/web`.
pub(crate) fn kind_and_name(resource: &Resource<'_>) -> String {
    let gvk = resource.id().gvk;
    let dot = if gvk.group.is_empty() { "" } else { "." };
    format!("{}{dot}{} {}", gvk.kind, gvk.group, full_name(resource))
}

/// Namespace and name of a resource: `shop/web`.
pub(crate) fn full_name(resource: &Resource<'_>) -> String {
    let id = resource.id();
    let slash = if id.namespace.is_empty() { "" } else { "/" };
    format!("{}{slash}{}", id.namespace, id.name)
}

/// The name of a root in one line.
pub(crate) fn name(root: &str) -> String {
    line(&masked(root)).into_owned()
}

/// A tree as YAML, or as JSON if the printer of YAML refuses it.
fn yaml(node: &Node<'_>) -> String {
    let mut text = String::new();
    if emit::document(&mut text, node).is_err() {
        text.clear();
        json::write_exact(&mut text, node);
        text.push('\n');
    }
    text
}

/// The lines of a section.
struct Lines(Vec<Line>);

impl Lines {
    fn add(&mut self, mark: Mark, text: &str) {
        self.0.push(Line { mark, text: line(text).into_owned() });
    }

    /// Adds all lines of a text.
    fn all(&mut self, mark: Mark, indent: &str, text: &str) {
        text.lines().for_each(|line| self.add(mark, &format!("{indent}{line}")));
    }

    fn field(&mut self, change: &FieldChange<'_>) {
        let path = change.path.to_string();
        if change.is_unchangeable {
            let note = "Kubernetes refuses this change: the object must be deleted and created again";
            self.add(Mark::Note, &format!("{path}: {note}"));
        }
        match change.difference {
            Difference::Order { .. } => self.add(Mark::Note, &format!("{path}: the items have another order")),
            Difference::Value { old: Some(old), new: Some(new) } => match (text_of(old), text_of(new)) {
                (Some(old), Some(new)) => self.text(&path, old, new),
                _ => {
                    self.value(Mark::Old, &path, old, "");
                    let note = if change.follows { "  # follows a new name" } else { "" };
                    self.value(Mark::New, &path, new, note);
                }
            },
            Difference::Value { old, new } => {
                old.into_iter().for_each(|old| self.value(Mark::Old, &path, old, ""));
                new.into_iter().for_each(|new| self.value(Mark::New, &path, new, ""));
            }
        }
    }

    fn value(&mut self, mark: Mark, path: &str, node: &Node<'_>, note: &str) {
        match (text_of(node), node.value()) {
            (Some(text), _) => {
                self.add(mark, &format!("{path}: |"));
                self.all(mark, "  ", text);
            }
            (None, Value::Scalar(_)) => self.add(mark, &format!("{path}: {}{note}", yaml(node).trim_end())),
            _ if node.is_null_or_empty() => self.add(mark, &format!("{path}: {}", yaml(node).trim_end())),
            _ => {
                self.add(mark, &format!("{path}:"));
                self.all(mark, "  ", &yaml(node));
            }
        }
    }

    /// Adds the lines in which two texts differ, with some lines around them.
    fn text(&mut self, path: &str, old: &str, new: &str) {
        self.add(Mark::Note, &format!("{path}: |"));
        let hasher = foldhash::quality::FixedState::default();
        let (mut olds, mut news): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
        if olds.last() == news.last() && olds.last() == Some(&"") {
            // Both texts end in a line break, and no line follows it.
            olds.pop();
            news.pop();
        }
        let prints = |lines: &[&str]| lines.iter().map(|line| hasher.hash_one(line)).collect::<Vec<u64>>();
        let places = align(&prints(&olds), &prints(&news), GapTreatment::Apart);
        let is_same = |place: &AlignedItem| matches!(place, AlignedItem { before: Some(i), after: Some(j) } if olds[*i] == news[*j]);
        let mut is_shown = vec![false; places.len()];
        let mut shown_up_to = 0;
        for at in (0..places.len()).filter(|&at| !is_same(&places[at])) {
            let end = (at + CONTEXT + 1).min(places.len());
            is_shown[at.saturating_sub(CONTEXT).max(shown_up_to)..end].fill(true);
            shown_up_to = end;
        }
        for (at, place) in places.iter().enumerate() {
            if !is_shown[at] {
                if at == 0 || is_shown[at - 1] {
                    self.add(Mark::Note, "  ...");
                }
                continue;
            }
            if let (true, Some(i)) = (is_same(place), place.before) {
                self.add(Mark::Both, &format!("  {}", olds[i]));
                continue;
            }
            place.before.into_iter().for_each(|i| self.add(Mark::Old, &format!("  {}", olds[i])));
            place.after.into_iter().for_each(|j| self.add(Mark::New, &format!("  {}", news[j])));
        }
    }
}

/// The text of a scalar with several lines.
fn text_of<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    node.as_scalar().map(|scalar| scalar.text()).filter(|text| text.contains('\n'))
}
