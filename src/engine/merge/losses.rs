//! [`Losses`]: values that are lost where a patch meets a list whose items share a key or lack
//! one.
//!
//! kustomize takes two items for one if their keys agree, or if one of the two lacks a key: one
//! item then takes the place of the other. Lists whose items have one key with distinct texts lose
//! nothing, and are not looked at; nor are sets of scalars. A build that is not asked for findings
//! has none of this.

use super::DIRECTIVE;
use super::elements::text_at;
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_yaml::{Node, Pos, Value};
use std::cell::RefCell;

/// A value of a list that a merge has lost, or an item that it has put into the list twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pub kind: LossKind,
    /// The first value that is lost, or the beginning of the item.
    pub pos: Pos,
    /// The item that is in its place; [`Pos::NONE`] if none is known.
    pub winner: Pos,
    /// The reason, as the end of a sentence.
    pub reason: String,
    /// The advice.
    pub hint: String,
}

/// The kind of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// This many values of an item of the patch are lost.
    OfPatch(usize),
    /// An item of the resource is lost that the patch does not name.
    OfResource,
    /// An item is in the list twice.
    Twice,
}

/// The losses of one merge, and its deletions.
#[derive(Debug, Default)]
pub struct Losses {
    lost: RefCell<Vec<Loss>>,
    /// The values of the patch with `$patch: delete`, and whether there was something to delete.
    deletions: RefCell<Vec<(Pos, bool)>>,
}

impl Losses {
    /// The losses, those of inner lists first; and the values of the patch that delete, each with
    /// true if it has deleted something.
    pub fn into_inner(self) -> (Vec<Loss>, Vec<(Pos, bool)>) {
        (self.lost.into_inner(), self.deletions.into_inner())
    }

    /// Notes a value of the patch that deletes something, or would.
    pub(super) fn note_deletion(&self, pos: Pos, deletes: bool) {
        self.deletions.borrow_mut().push((pos, deletes));
    }

    /// Adds the losses of a list. A value that an inner list has lost counts once.
    fn add(&self, found: Vec<Loss>) {
        let mut known = self.lost.borrow_mut();
        for loss in found {
            if known.len() < MOST && known.iter().all(|other| other.pos != loss.pos) {
                known.push(loss);
            }
        }
    }
}

/// At most this many losses of a list, and of a resource, are reported.
const MOST: usize = 20;

/// At most this many pairs of items are compared for a list: what is lost in longer ones is not
/// looked for to the end.
const MOST_COMPARED: usize = 20_000;

/// A scalar of an item. One without a place in a file is known by its text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Leaf<'a> {
    At(Pos),
    Text(&'a str),
}

/// An item before the merge.
struct Before<'a> {
    pos: Pos,
    /// The texts of its keys.
    texts: Vec<Option<&'a str>>,
    leaves: Vec<Leaf<'a>>,
    /// True if it has a directive.
    is_directed: bool,
}

/// The items of a list before it is merged.
pub(super) struct Watch<'k, 'a> {
    keys: &'k [&'k str],
    base: Vec<Before<'a>>,
    patch: Vec<Before<'a>>,
}

impl<'k, 'a> Watch<'k, 'a> {
    /// Notes the items of both sides. Returns `None` if the list can lose nothing. O(size of the
    /// items).
    pub(super) fn of(base: &[Node<'a>], patch: &[Node<'a>], keys: &'k [&'k str]) -> Option<Self> {
        if keys.iter().all(|key| key.is_empty()) || are_distinct(base, patch, keys) {
            return None;
        }
        let before = |item: &Node<'a>| {
            let mut leaves = Vec::new();
            add_leaves(item, &mut leaves);
            let texts = keys.iter().map(|key| text_at(item, key).filter(|text| !text.is_empty())).collect();
            Before { pos: item.pos(), texts, leaves, is_directed: item.get(DIRECTIVE).is_some() }
        };
        let (base, patch) = (base.iter().map(before).collect(), patch.iter().map(before).collect());
        Some(Watch { keys, base, patch })
    }

    /// Compares the items with those of the result. O(size of all).
    pub(super) fn compare(self, result: &[Node<'a>], losses: &Losses) {
        let mut counts: FastMap<Leaf<'a>, usize> = FastMap::default();
        let mut leaves = Vec::new();
        result.iter().for_each(|item| add_leaves(item, &mut leaves));
        leaves.iter().for_each(|leaf| *counts.entry(*leaf).or_default() += 1);
        let is_left = |leaf: &Leaf<'a>| counts.contains_key(leaf);
        let mut found = Vec::new();
        for item in self.patch.iter().filter(|item| !item.is_directed) {
            let mut lost = item.leaves.iter().filter(|leaf| !is_left(leaf));
            if let Some(first) = lost.next() {
                let pos = if let Leaf::At(pos) = first { *pos } else { item.pos };
                found.push(self.loss(LossKind::OfPatch(1 + lost.count()), pos, item, &is_left));
            }
            if found.len() == MOST {
                break;
            }
        }
        let mut is_used = vec![false; self.patch.len()];
        let gone = self.base.iter().filter(|item| !item.leaves.is_empty() && !item.leaves.iter().any(is_left));
        for item in gone.take(MOST_COMPARED / self.patch.len().max(1)) {
            let names = |i: &usize| !is_used[*i] && self.patch[*i].agrees(item);
            match (0..self.patch.len()).find(names) {
                Some(i) => is_used[i] = true,
                None if found.len() < MOST => found.push(self.loss(LossKind::OfResource, item.pos, item, &is_left)),
                None => break,
            }
        }
        let mut had: FastMap<Leaf<'a>, usize> = FastMap::default();
        let before = || self.base.iter().chain(&self.patch);
        before().flat_map(|item| &item.leaves).for_each(|leaf| *had.entry(*leaf).or_default() += 1);
        let is_more = |leaf: &Leaf<'a>| matches!(leaf, Leaf::At(_)) && counts.get(leaf) > had.get(leaf);
        let mut known = FastSet::default();
        for item in before().filter(|item| item.leaves.iter().any(is_more)) {
            if known.insert(item.pos) && found.len() < MOST {
                found.push(self.loss(LossKind::Twice, item.pos, item, &|_| false));
            }
        }
        losses.add(found);
    }

    /// The loss of an item, with the item that took its place.
    fn loss(&self, kind: LossKind, pos: Pos, item: &Before<'a>, is_left: &dyn Fn(&Leaf<'a>) -> bool) -> Loss {
        let all = || self.base.iter().chain(&self.patch);
        let is_winner =
            |other: &&Before<'a>| !std::ptr::eq(*other, item) && other.agrees(item) && other.leaves.iter().any(is_left);
        let winner = all().find(is_winner).map_or(Pos::NONE, |winner| winner.pos);
        let has = |other: &Before<'a>, i: usize| other.texts[i].is_some();
        let mixed = (0..self.keys.len()).find(|&i| all().any(|o| has(o, i)) && all().any(|o| !has(o, i)));
        let (reason, hint) = match mixed.map(|i| self.keys[i]) {
            Some(key) => (
                format!("kustomize takes an item without '{key}' for one that has it"),
                format!("write '{key}' in each item of the list, in the patch too"),
            ),
            None => {
                let keys: Vec<String> = self
                    .keys
                    .iter()
                    .zip(&item.texts)
                    .filter_map(|(key, text)| Some(format!("{key}: {}", (*text)?)))
                    .collect();
                let keys = keys.join(", ");
                (
                    format!("the list has several items with '{keys}', which kustomize takes for one"),
                    "remove one of them".to_owned(),
                )
            }
        };
        Loss { kind, pos, winner, reason, hint }
    }
}

impl Before<'_> {
    /// Returns true if no key says that the two are different items.
    fn agrees(&self, other: &Before<'_>) -> bool {
        let mut is_any = false;
        self.texts.iter().zip(&other.texts).all(|(a, b)| {
            is_any |= a.is_some() && a == b;
            a.is_none() || b.is_none() || a == b
        }) && is_any
    }
}

/// Returns true if all items have a text for each key that any of them has, and no two items of one
/// side have the same texts. O(items x keys).
fn are_distinct(base: &[Node<'_>], patch: &[Node<'_>], keys: &[&str]) -> bool {
    let has = |item: &Node<'_>, key: &str| text_at(item, key).is_some_and(|text| !text.is_empty());
    let all = || base.iter().chain(patch);
    let (mut used, mut count) = ([""; MOST_KEYS], 0);
    for key in keys.iter().filter(|key| all().any(|item| has(item, key))) {
        if count == MOST_KEYS || !all().all(|item| has(item, key)) {
            return false;
        }
        used[count] = key;
        count += 1;
    }
    let used = &used[..count];
    let is_same = |a: &Node<'_>, b: &Node<'_>| used.iter().all(|key| text_at(a, key) == text_at(b, key));
    let are_distinct = |items: &[Node<'_>]| match items.len() {
        0..=FEW => (1..items.len()).all(|i| !items[..i].iter().any(|item| is_same(item, &items[i]))),
        count => {
            let texts =
                |item: &Node<'_>| used.iter().map(|key| text_at(item, key).map(str::to_owned)).collect::<Vec<_>>();
            items.iter().map(texts).collect::<FastSet<_>>().len() == count
        }
    };
    count > 0 && are_distinct(base) && are_distinct(patch)
}

/// Lists of Kubernetes' kinds have at most so many keys.
const MOST_KEYS: usize = 4;

/// Lists of at most this many items are searched from the start.
const FEW: usize = 8;

/// Adds the scalars of an item that a merge keeps: nulls and directives go, and what a directive
/// removes.
fn add_leaves<'a>(node: &Node<'a>, leaves: &mut Vec<Leaf<'a>>) {
    match node.value() {
        Value::Scalar(scalar) if scalar.is_null() => {}
        Value::Scalar(scalar) => {
            leaves.push(if node.pos().is_in_source() { Leaf::At(node.pos()) } else { Leaf::Text(scalar.text()) });
        }
        Value::Sequence(items) => items.iter().for_each(|item| add_leaves(item, leaves)),
        Value::Mapping(fields) => {
            if node.get_text(DIRECTIVE) != Some("delete") {
                let kept = fields.iter().filter(|entry| entry.key().text() != DIRECTIVE);
                kept.for_each(|entry| add_leaves(entry.value(), leaves));
            }
        }
    }
}
