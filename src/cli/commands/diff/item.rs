//! [`Item`]: a resource that differs, in parts that can be compared with those of other resources.

use crate::commands::diff::listing::{
    Line, Mark, Section, field_lines, full_name, kind_and_name, note, resource_lines,
};
use crate::commands::diff::origins::{FileLine, Lines};
use rustomize_base::shown;
use rustomize_engine::diff::{Change, Difference, FieldChange, Match, without_hash};
use rustomize_engine::resource::Resource;
use rustomize_yaml::{Node, Value};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// The sum of the lines of a part.
pub(crate) type Sum = [u8; 32];

/// A resource that differs.
pub(crate) struct Item {
    /// The word for the kind of difference, such as `changed`.
    pub word: &'static str,
    /// The resource, in one line.
    pub title: String,
    pub kind: String,
    pub group: String,
    pub namespace: String,
    /// The new name, or the old one of a resource that was removed.
    pub name: String,
    /// The change of the name, namespace or group, with `*` for the part that stays; empty if all
    /// stay.
    pub identity: String,
    /// The texts that a group writes as `*`: the name of the resource, and of one that was added or
    /// removed its namespace.
    pub own: Vec<String>,
    /// The fields that differ, in the order of the resource; the whole of a resource that was added
    /// or removed.
    pub parts: Vec<Part>,
    /// The number of fields that differ.
    pub fields: usize,
    pub values: ValueCounts,
}

/// The numbers of values in which an item differs.
#[derive(Clone, Copy, Default)]
pub(crate) struct ValueCounts {
    pub new: usize,
    pub gone: usize,
}

/// A difference of an item.
pub(crate) struct Part {
    /// The sum of the lines, with `*` for the texts of [`Item::own`]: equal parts of two items are
    /// one difference.
    pub starred: Sum,
    /// The sum of the lines.
    pub exact: Sum,
    pub lines: Vec<Line>,
    /// The path of a field whose new value is only the new name of another resource.
    pub follows: Option<String>,
    /// True if a value is masked: equal masks of two comparisons may stand for different values.
    pub is_masked: bool,
    pub is_unchangeable: bool,
    /// The line that the new value comes from.
    pub origin: Option<FileLine>,
    /// The difference for programs; null for a whole resource.
    pub json: Json,
}

impl Item {
    /// An item for a change. `lines` has the lines of the new resource, `json` makes the data of a
    /// field.
    pub(crate) fn of(
        change: &Change<'_>,
        lines: Option<&[Option<FileLine>]>,
        json: impl Fn(&FieldChange<'_>) -> Json,
    ) -> Item {
        let resource = change.resource();
        let mut item = Item::empty(resource);
        match change {
            Change::Added(_) | Change::Removed(_) => {
                let is_new = matches!(change, Change::Added(_));
                let mark = if is_new { Mark::New } else { Mark::Old };
                item.word = if is_new { "added" } else { "removed" };
                item.own.extend(Some(item.namespace.clone()).filter(|namespace| !namespace.is_empty()));
                item.fields = values(resource.node());
                match is_new {
                    true => item.values.new = item.fields,
                    false => item.values.gone = item.fields,
                }
                let origin = lines.and_then(|lines| lines.first()?.clone());
                let part = Part { origin, ..Part::of(resource_lines(mark, resource)) };
                item.add(part);
            }
            Change::Changed { before, after, matched, fields } => {
                (item.word, item.identity) = match matched {
                    Match::Identity | Match::Hash => ("changed", String::new()),
                    Match::Group => ("moved", format!("{} -> {}", before.id().gvk.group, after.id().gvk.group)),
                    Match::Namespace => ("moved", format!("{}/* -> {}/*", before.id().namespace, after.id().namespace)),
                    Match::Rename => ("renamed", starred_names(without_hash(before), without_hash(after))),
                };
                let (old, new) = (before.id().gvk, after.id().gvk);
                item.title = match (old.kind, old.group) == (new.kind, new.group) {
                    true if matched == &Match::Identity => kind_and_name(after),
                    true => format!("{} -> {}", kind_and_name(before), full_name(after)),
                    false => format!("{} -> {}", kind_and_name(before), kind_and_name(after)),
                };
                let lines = lines.map(|lines| Lines::of(after, lines));
                item.fields = fields.len();
                for field in fields {
                    let (old, new) = match field.difference {
                        Difference::Value { old, new } => (old, new),
                        Difference::Order { old, new } => (Some(old), Some(new)),
                    };
                    item.values.new += usize::from(new.is_some());
                    item.values.gone += usize::from(old.is_some());
                    let origin = lines.as_ref().zip(new).and_then(|(lines, new)| lines.of_node(new));
                    let follows = Some(field.path.to_string()).filter(|_| field.follows);
                    let is_unchangeable = field.is_unchangeable;
                    let part = Part::of(field_lines(field));
                    item.add(Part { origin, follows, is_unchangeable, json: json(field), ..part });
                }
                if fields.is_empty() {
                    item.add(Part::of(Vec::new()));
                }
            }
        }
        item.title = shown::line(&item.title).into_owned();
        item
    }

    /// The item of a resource, without differences.
    fn empty(resource: &Resource<'_>) -> Item {
        let id = resource.id();
        let line = |text: &str| shown::line(text).into_owned();
        Item {
            word: "",
            title: kind_and_name(resource),
            kind: line(id.gvk.kind),
            group: line(id.gvk.group),
            namespace: line(id.namespace),
            name: line(id.name),
            identity: String::new(),
            own: vec![line(without_hash(resource))],
            parts: Vec::new(),
            fields: 0,
            values: ValueCounts::default(),
        }
    }

    /// Adds a difference, with its sums.
    fn add(&mut self, mut part: Part) {
        let sum = |lines: &[Line]| {
            let mut sum = Sha256::new();
            let head = [self.word, &self.identity];
            let marked = lines.iter().map(|line| (line.mark.character(), &*line.text));
            for (mark, text) in head.iter().map(|text| ('#', *text)).chain(marked) {
                sum.update(format!("{mark}{text}\n"));
            }
            <Sum>::from(sum.finalize())
        };
        part.is_masked = part.lines.iter().any(|line| line.text.contains(MASK));
        (part.exact, part.starred) = (sum(&part.lines), sum(&self.starred_lines(&part)));
        self.parts.push(part);
    }

    /// The lines of a part, with `*` for the texts that are of this item alone.
    pub(crate) fn starred_lines(&self, part: &Part) -> Vec<Line> {
        match &part.follows {
            Some(path) => vec![note(&format!("{}: follows a new name", self.starred(path)))],
            None => part.lines.iter().map(|line| Line { text: self.starred(&line.text), ..*line }).collect(),
        }
    }

    /// The data of a part, with `*` for the texts that are of this item alone.
    pub(crate) fn starred_json(&self, part: &Part) -> Json {
        let mut json = part.json.clone();
        if part.follows.is_some()
            && let Some(members) = json.as_object_mut()
        {
            members.retain(|name, _| name != "old" && name != "new");
        }
        self.starred_value(json)
    }

    fn starred_value(&self, value: Json) -> Json {
        match value {
            Json::String(text) => self.starred(&text).into(),
            Json::Array(items) => items.into_iter().map(|item| self.starred_value(item)).collect(),
            Json::Object(members) => {
                members.into_iter().map(|(name, value)| (name, self.starred_value(value))).collect()
            }
            other => other,
        }
    }

    /// A text with `*` for the texts of [`Item::own`], and without the numbers of masks.
    fn starred(&self, text: &str) -> String {
        let text = self.own.iter().fold(Cow::Borrowed(text), |text, own| match starred(&text, own) {
            Some(starred) => Cow::Owned(starred),
            None => text,
        });
        let mut parts = text.split(MASK);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out.push_str(MASK.trim_end());
            out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        out
    }

    /// The differences of the item as a section.
    pub(crate) fn section(self) -> Section {
        let is_unchangeable = self.parts.iter().any(|part| part.is_unchangeable);
        let lines = self.parts.into_iter().flat_map(|part| part.lines).collect();
        Section { word: self.word, title: self.title, is_unchangeable, lines }
    }
}

impl Part {
    fn of(lines: Vec<Line>) -> Part {
        Part {
            starred: Sum::default(),
            exact: Sum::default(),
            lines,
            follows: None,
            is_masked: false,
            is_unchangeable: false,
            origin: None,
            json: Json::Null,
        }
    }
}

/// The beginning of the label of a masked value.
const MASK: &str = "(masked ";

/// A text with `*` for each place of a name that no letter or digit is beside; `None` if there is
/// no such place. O(text).
fn starred(text: &str, name: &str) -> Option<String> {
    if name.is_empty() || !text.contains(name) {
        return None;
    }
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(name) {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if !is_letter(before.chars().next_back()) && !is_letter(after.chars().next()) {
            out.push_str(&text[end..at]);
            out.push('*');
            end = at + name.len();
        }
    }
    (end > 0).then(|| out + &text[end..])
}

/// Two names with `*` for the text that both end or begin with.
fn starred_names(old: &str, new: &str) -> String {
    let tail = old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b);
    let tail: usize = tail.map(|(c, _)| c.len_utf8()).sum();
    let head: usize = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let head_is_longer = head > tail;
    let cut = |name: &str| match head_is_longer {
        true => format!("*{}", &name[head..]),
        false => format!("{}*", &name[..name.len() - tail]),
    };
    shown::line(&format!("{} -> {}", cut(old), cut(new))).into_owned()
}

/// The number of scalars and empty values of a tree.
fn values(node: &Node<'_>) -> usize {
    match node.value() {
        Value::Scalar(_) => 1,
        Value::Sequence(items) => items.iter().map(values).sum::<usize>().max(1),
        Value::Mapping(mapping) => mapping.iter().map(|entry| values(entry.value())).sum::<usize>().max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::{starred, starred_names};

    #[test]
    fn names_are_starred_where_they_are_words() {
        let check = |text: &str, name: &str, want: Option<&str>| assert_eq!(starred(text, name).as_deref(), want);
        check("h/shop/web:1 web-db webs", "web", Some("h/shop/*:1 *-db webs"));
        check("webs", "web", None);
        check("web", "", None);
        check("üweb web", "web", Some("üweb *"));
    }

    #[test]
    fn new_names_are_starred() {
        assert_eq!(starred_names("a-web", "b-web"), "a* -> b*");
        assert_eq!(starred_names("web-a", "web-b"), "*a -> *b");
        assert_eq!(starred_names("web", "web-b"), "* -> *-b");
        assert_eq!(starred_names("aa", "a"), "a* -> *");
    }
}
