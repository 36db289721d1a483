//! [`Groups`]: messages of many resources and roots, each once for the place that causes it.

use rustomize_base::meter::FastMap;
use rustomize_base::shown;
use rustomize_engine::diag::{Diagnostic, Warning};
use rustomize_yaml::Place;
use std::borrow::Borrow;
use std::rc::Rc;

/// The largest number of resources, and of roots, whose names a group keeps: more are counted.
const MOST_KEPT: usize = 1000;

/// The number of names in a sentence: more are counted.
const MOST_NAMED: usize = 3;

/// The rule by which messages are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// Code, place, field and text are the same.
    SameText,
    /// As [`Grouping::SameText`]; and a message about another resource is the same if only names
    /// in its text differ.
    SameCause,
    /// No message is like another one: `--each`.
    Each,
}

impl Grouping {
    /// The rule for findings, and for those of each resource with `is_each`.
    pub(super) fn found(is_each: bool) -> Grouping {
        if is_each { Grouping::Each } else { Grouping::SameCause }
    }

    /// The rule for errors and warnings, and for those of each root with `is_each`.
    pub(super) fn said(is_each: bool) -> Grouping {
        if is_each { Grouping::Each } else { Grouping::SameText }
    }
}

/// A message, and the resources and roots that have it.
pub(super) struct Group<M> {
    /// The message of the first resource.
    pub message: M,
    pub occurrences: Occurrences,
}

/// The resources and roots that have a message.
#[derive(Default)]
pub(super) struct Occurrences {
    /// The first ones, in order.
    pub kept: Vec<Occurrence>,
    /// The number of all.
    pub count: usize,
    /// The first roots, in order.
    pub roots: Vec<Rc<str>>,
    /// The number of all roots.
    pub root_count: usize,
    last: Option<Occurrence>,
}

/// A resource of a root that has a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    /// `None` if the command builds one root.
    pub root: Option<Rc<str>>,
    /// `None` if the message is not about a resource.
    pub resource: Option<String>,
}

/// Groups of messages, in the order of their first messages.
///
/// *Cost*: O(1) for each message; memory for each text, and for [`MOST_KEPT`] names of a group.
pub(super) struct Groups<M> {
    grouping: Grouping,
    groups: Vec<Group<M>>,
    /// The group of each message.
    by_text: FastMap<Key, usize>,
    /// The groups of messages that may differ in names.
    by_cause: FastMap<Key, Cause>,
    /// The root of the last message.
    root: Option<Rc<str>>,
}

/// The parts of a message that decide its group.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    code: &'static str,
    place: Option<(String, usize, usize)>,
    field: Option<String>,
    text: String,
    /// The resource of a message without a place.
    resource: Option<String>,
}

/// Groups whose messages differ in names alone: one group for each fault that a resource has at the
/// place.
#[derive(Default)]
struct Cause {
    groups: Vec<usize>,
    /// The index of the group for the next fault of `last`.
    next: usize,
    last: Option<Occurrence>,
}

impl<M: Borrow<Diagnostic> + Clone> Groups<M> {
    /// No groups.
    pub(super) fn new(grouping: Grouping) -> Self {
        Groups { grouping, groups: Vec::new(), by_text: FastMap::default(), by_cause: FastMap::default(), root: None }
    }

    /// Adds a message, for all resources that it is about. Messages of one root come one after the
    /// other.
    pub(super) fn add(&mut self, message: M, root: Option<&str>) {
        if self.root.as_deref() != root {
            self.root = root.map(Rc::from);
        }
        let known: &Diagnostic = message.borrow();
        let further = known.further().clone();
        let occurrence = Occurrence { root: self.root.clone(), resource: known.resource().map(str::to_owned) };
        let others = further.names.into_iter();
        let others = others.map(|name| Occurrence { root: self.root.clone(), resource: Some(name) });
        let all: Vec<Occurrence> = std::iter::once(occurrence).chain(others).collect();
        if self.grouping == Grouping::Each {
            all.into_iter().for_each(|occurrence| {
                let at = self.begin(message.clone());
                self.groups[at].occurrences.add(occurrence);
            });
            return;
        }
        let at = self.group_of(known, &all[0]).unwrap_or_else(|| self.begin(message));
        let occurrences = &mut self.groups[at].occurrences;
        let left_out = further.count.saturating_sub(all.len() - 1);
        all.into_iter().for_each(|occurrence| occurrences.add(occurrence));
        occurrences.count += left_out;
    }

    /// The group that a message belongs to; `None` for a message that begins the next group.
    fn group_of(&mut self, known: &Diagnostic, occurrence: &Occurrence) -> Option<usize> {
        let key = Key::of(known, known.message().to_owned());
        if let Some(&at) = self.by_text.get(&key) {
            return Some(at);
        }
        let next = self.groups.len();
        let has_names = self.grouping == Grouping::SameCause && known.place().is_some() && known.resource().is_some();
        if !has_names {
            self.by_text.insert(key, next);
            return None;
        }
        let cause = self.by_cause.entry(Key::of(known, nameless(known.message()))).or_default();
        if cause.last.as_ref() != Some(occurrence) {
            (cause.last, cause.next) = (Some(occurrence.clone()), 0);
        }
        let has_it = |at: &usize| self.groups[*at].occurrences.last.as_ref() == Some(occurrence);
        while cause.groups.get(cause.next).is_some_and(has_it) {
            cause.next += 1;
        }
        let at = cause.groups.get(cause.next).copied();
        if at.is_none() {
            cause.groups.push(next);
        }
        cause.next += 1;
        self.by_text.insert(key, at.unwrap_or(next));
        at
    }

    /// Begins a group, which has no resource or root yet.
    fn begin(&mut self, message: M) -> usize {
        self.groups.push(Group { message, occurrences: Occurrences::default() });
        self.groups.len() - 1
    }

    /// The groups so far.
    pub(super) fn end(self) -> Vec<Group<M>> {
        self.groups
    }
}

impl Key {
    fn of(message: &Diagnostic, text: String) -> Key {
        let place = message.place().map(|Place { file, line, column }| (file.clone(), *line, *column));
        let resource = if place.is_none() { message.resource().map(str::to_owned) } else { None };
        Key { code: message.code().as_str(), place, field: message.field(), text, resource }
    }
}

/// A message without the texts in its quotes.
fn nameless(message: &str) -> String {
    message.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

impl Occurrences {
    /// Adds an occurrence, unless it is the last one again.
    fn add(&mut self, occurrence: Occurrence) {
        if self.last.as_ref() == Some(&occurrence) {
            return;
        }
        let is_same_root = self.last.as_ref().is_some_and(|last| last.root == occurrence.root);
        if let Some(root) = occurrence.root.as_ref().filter(|_| !is_same_root) {
            self.root_count += 1;
            if self.roots.len() < MOST_KEPT {
                self.roots.push(root.clone());
            }
        }
        self.count += 1;
        if self.kept.len() < MOST_KEPT {
            self.kept.push(occurrence.clone());
        }
        self.last = Some(occurrence);
    }

    /// The resource of the first occurrence.
    pub(super) fn resource(&self) -> Option<&str> {
        self.kept.first()?.resource.as_deref()
    }

    /// The root of the first occurrence.
    pub(super) fn root(&self) -> Option<&str> {
        self.roots.first().map(|root| &**root)
    }

    /// Returns true if several resources or roots have the message.
    pub(super) fn are_many(&self) -> bool {
        self.count > 1
    }

    /// The roots in words: `a, b and c`, or `120 roots: a, b, c and 117 more`.
    pub(super) fn roots_in_words(&self) -> String {
        let named = named(self.roots.iter().map(|root| &**root), self.root_count);
        if self.root_count > MOST_NAMED { format!("{} roots: {named}", self.root_count) } else { named }
    }

    /// The number of further resources and of roots, in words; `None` if there is one of each.
    pub(super) fn counts(&self) -> Option<String> {
        let more = self.count.saturating_sub(1);
        let is_of_resource = self.kept.first().is_some_and(|first| first.resource.is_some());
        match (is_of_resource && more > 0, self.root_count > 1) {
            (true, true) => Some(format!("and {} in {} roots", resources(more), self.root_count)),
            (true, false) => Some(format!("and {}", resources(more))),
            (false, true) => Some(format!("in {} roots", self.root_count)),
            (false, false) => None,
        }
    }

    /// The further resources and the roots, with some of their names; `None` if there is one of
    /// each.
    pub(super) fn in_words(&self) -> Option<String> {
        let more = self.count.saturating_sub(1);
        let is_of_resource = self.kept.first().is_some_and(|first| first.resource.is_some());
        match (is_of_resource && more > 0, self.root_count > 1) {
            (true, true) => Some(format!("and {} in {}", resources(more), self.roots_in_words())),
            (true, false) => {
                let names = self.kept.iter().skip(1).filter_map(|further| further.resource.as_deref());
                Some(format!("and {}: {}", resources(more), named(names, more)))
            }
            (false, true) => Some(format!("in {}", self.roots_in_words())),
            (false, false) => None,
        }
    }
}

/// A number of further resources.
fn resources(more: usize) -> String {
    format!("{more} more resource{}", if more == 1 { "" } else { "s" })
}

/// The first names of `count`, in one line: `a, b, c and 7 more`.
fn named<'n>(names: impl Iterator<Item = &'n str>, count: usize) -> String {
    let names: Vec<String> =
        names.take(MOST_NAMED).map(|name| shown::line(&shown::masked(name)).into_owned()).collect();
    let more = count.saturating_sub(names.len());
    let text = names.join(", ");
    if more == 0 { text } else { format!("{text} and {more} more") }
}

/// Findings in the order of files and lines.
pub(super) fn sort_by_place(groups: &mut [Group<Warning>]) {
    groups.sort_by_cached_key(|Group { message, .. }| message.order());
}

/// Groups of warnings: `root` is that of each.
pub(super) fn grouped(
    warnings: impl IntoIterator<Item = Warning>,
    root: Option<&str>,
    grouping: Grouping,
) -> Vec<Group<Warning>> {
    let mut groups = Groups::new(grouping);
    warnings.into_iter().for_each(|warning| groups.add(warning, root));
    groups.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_engine::diag::Code;

    fn finding(line: usize, resource: &str, message: &str) -> Warning {
        let place = Place { file: "a.yaml".to_owned(), line, column: 1 };
        Warning::new(Code::BadName, message).at(Some(place)).in_resource(resource)
    }

    /// The groups of findings: the message, the number of occurrences, that of roots.
    #[track_caller]
    fn check(grouping: Grouping, findings: &[(&str, usize, &str, &str)], want: &[(&str, usize, usize)]) {
        let mut groups = Groups::new(grouping);
        for (root, line, resource, message) in findings {
            groups.add(finding(*line, resource, message), Some(root));
        }
        let groups = groups.end();
        let found: Vec<_> =
            groups.iter().map(|g| (g.message.message(), g.occurrences.count, g.occurrences.root_count)).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn messages_of_one_cause_are_one() {
        let findings = [
            ("a", 1, "Pod x", "'a-x' has 'k'"),
            ("a", 1, "Pod x", "'a-x' has 'l'"),
            ("a", 1, "Pod x", "'a-x' has 'l'"),
            ("a", 2, "Pod x", "'a-x' has 'k'"),
            ("b", 1, "Pod y", "'b-x' has 'k'"),
            ("b", 1, "Pod y", "'b-x' has 'l'"),
            ("b", 1, "Pod z", "'a-x' has 'l'"),
            ("b", 1, "Pod z", "'b-z' has 'm'"),
            ("b", 1, "Pod z", "'b-z' is 'k'"),
        ];
        let cause = [("'a-x' has 'k'", 3, 2), ("'a-x' has 'l'", 3, 2), ("'a-x' has 'k'", 1, 1), ("'b-z' is 'k'", 1, 1)];
        check(Grouping::SameCause, &findings, &cause);
        let text = [
            ("'a-x' has 'k'", 1, 1),
            ("'a-x' has 'l'", 2, 2),
            ("'a-x' has 'k'", 1, 1),
            ("'b-x' has 'k'", 1, 1),
            ("'b-x' has 'l'", 1, 1),
            ("'b-z' has 'm'", 1, 1),
            ("'b-z' is 'k'", 1, 1),
        ];
        check(Grouping::SameText, &findings, &text);
        check(
            Grouping::Each,
            &findings[..3],
            &[("'a-x' has 'k'", 1, 1), ("'a-x' has 'l'", 1, 1), ("'a-x' has 'l'", 1, 1)],
        );
    }

    #[test]
    fn counts_and_names_are_bounded() {
        let mut groups = Groups::new(Grouping::SameCause);
        for root in 0..20 {
            for i in 0..500 {
                groups.add(finding(1, &format!("Pod p{i}"), &format!("'p{i}' is bad")), Some(&format!("r{root}\n")));
            }
        }
        let [Group { occurrences, .. }] = &groups.end()[..] else { panic!() };
        assert_eq!((occurrences.count, occurrences.root_count, occurrences.kept.len()), (10_000, 20, MOST_KEPT));
        let words = "and 9999 more resources in 20 roots: r0\\n, r1\\n, r2\\n and 17 more";
        assert_eq!(occurrences.in_words().as_deref(), Some(words));
        assert_eq!(occurrences.counts().as_deref(), Some("and 9999 more resources in 20 roots"));
    }

    #[test]
    fn one_root_names_its_resources() {
        let findings = ["x", "y", "z"].map(|name| finding(1, &format!("Pod {name}"), "bad"));
        let groups = grouped(findings, None, Grouping::SameCause);
        assert_eq!(groups[0].occurrences.in_words().as_deref(), Some("and 2 more resources: Pod y, Pod z"));
        let alone = grouped([finding(1, "Pod x", "bad")], Some("a"), Grouping::SameCause);
        assert_eq!((alone[0].occurrences.in_words(), alone[0].occurrences.root()), (None, Some("a")));
    }
}
