//! The fields in which two resources differ.

use super::align::{Place, Rest, align};
use super::path::{Path, Step, keys_of};
use crate::schema::Schema;
use rustomize_base::meter::{FastMap, FastSet};
use rustomize_yaml::{Mapping, Node, Sequence, Value, natural};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

/// A difference of a field.
#[derive(Clone, Copy, Debug)]
pub enum Difference<'n> {
    /// The value. At most one of the two is missing.
    Value { old: Option<&'n Node<'n>>, new: Option<&'n Node<'n>> },
    /// The order of the items that both lists have.
    Order { old: &'n Node<'n>, new: &'n Node<'n> },
}

/// A field in which two resources differ.
#[derive(Clone, Debug)]
pub struct FieldChange<'n> {
    pub path: Path<'n>,
    pub difference: Difference<'n>,
    /// True if the old and the new value are the old and the new name of a renamed resource.
    pub follows: bool,
    /// True if Kubernetes refuses another value in the object that is there.
    pub is_unchangeable: bool,
}

/// A comparison of two resources.
pub struct Comparison<'n, 'c> {
    before: &'n Node<'n>,
    after: &'n Node<'n>,
    new_names: &'c FastMap<&'n str, &'n str>,
    prints: Fingerprints,
    path: Vec<Step<'n>>,
    found: Vec<FieldChange<'n>>,
}

impl<'n, 'c> Comparison<'n, 'c> {
    /// A comparison of two resources. `new_names` are those of renamed resources, by their old
    /// names.
    pub fn of(before: &'n Node<'n>, after: &'n Node<'n>, new_names: &'c FastMap<&'n str, &'n str>) -> Self {
        let prints = Fingerprints::default();
        Comparison { before, after, new_names, prints, path: Vec::new(), found: Vec::new() }
    }

    /// The fields that differ, but for the name and the namespace. O(nodes), and O(n log n) for
    /// lists without keys.
    pub fn fields(mut self, schema: Schema<'n>) -> Vec<FieldChange<'n>> {
        if self.before.same(self.after) {
            return Vec::new();
        }
        self.prints.add(self.before);
        self.prints.add(self.after);
        self.node(self.before, self.after, schema);
        let is_identity =
            |path: &Path<'_>| matches!(path.0[..], [Step::Field("metadata"), Step::Field("name" | "namespace")]);
        self.found.retain(|change| !is_identity(&change.path));
        self.found
    }

    fn node(&mut self, before: &'n Node<'n>, after: &'n Node<'n>, schema: Schema<'n>) {
        match (before.value(), after.value()) {
            (Value::Scalar(old), Value::Scalar(new)) if old.same(new) => {}
            (Value::Mapping(old), Value::Mapping(new)) => self.mapping(old, new, schema),
            (Value::Sequence(old), Value::Sequence(new)) => match schema.merge_keys() {
                Some([]) => self.set((before, old), (after, new)),
                Some(keys) if has_keys(old, keys) && has_keys(new, keys) => {
                    self.keyed((before, old), (after, new), keys, schema.items());
                }
                _ => self.list(old, new, schema.items()),
            },
            _ => self.value(Some(before), Some(after)),
        }
    }

    /// Walks two mappings, whose entries are in one order.
    fn mapping(&mut self, before: &'n Mapping<'n>, after: &'n Mapping<'n>, schema: Schema<'n>) {
        let (mut olds, mut news) = (before.iter().peekable(), after.iter().peekable());
        loop {
            let order = match (olds.peek(), news.peek()) {
                (Some(old), Some(new)) if old.key().same_text(new.key()) => Ordering::Equal,
                (Some(old), Some(new)) => natural::compare(old.key().text(), new.key().text()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let old = if order == Ordering::Greater { None } else { olds.next() };
            // Two texts of the same rank are two fields.
            let is_one = |new: &&rustomize_yaml::Entry<'n>| old.is_none_or(|old| old.key().same_text(new.key()));
            let new = if order == Ordering::Less { None } else { news.next_if(is_one) };
            let Some(entry) = old.or(new) else { break };
            self.path.push(Step::Field(entry.key().text()));
            match (old, new) {
                (Some(old), Some(new)) => self.node(old.value(), new.value(), schema.field(entry.key().text())),
                (old, new) => self.value(old.map(|entry| entry.value()), new.map(|entry| entry.value())),
            }
            self.path.pop();
        }
    }

    /// Compares lists whose items are matched by keys.
    fn keyed(
        &mut self,
        before: (&'n Node<'n>, &'n Sequence<'n>),
        after: (&'n Node<'n>, &'n Sequence<'n>),
        keys: &'n [&'n str],
        items: Schema<'n>,
    ) {
        let keys_in = |list: &'n Sequence<'n>| list.iter().map(|item| keys_of(item, keys).unwrap_or_default());
        let (olds, news): (Vec<_>, Vec<_>) = (keys_in(before.1).collect(), keys_in(after.1).collect());
        let mut places = matched(olds.iter().collect(), news.iter().collect());
        // An item with one more key than before, such as the protocol of a port, is still the same.
        let is_open = |places: &[Option<usize>]| {
            let taken: FastSet<usize> = places.iter().flatten().copied().collect();
            move |i: &usize| !taken.contains(i)
        };
        let old: Vec<usize> = (0..olds.len()).filter(is_open(&places)).collect();
        let new: Vec<usize> = (0..news.len()).filter(|&j| places[j].is_none()).collect();
        let first =
            |all: &[Vec<(&'n str, &'n str)>], at: &[usize]| at.iter().map(|&i| all[i].first().copied()).collect();
        for (j, i) in new.iter().zip(matched::<Option<_>>(first(&olds, &old), first(&news, &new))) {
            places[*j] = i.map(|i| old[i]);
        }
        let removed: Vec<usize> = (0..olds.len()).filter(is_open(&places)).collect();
        for (j, place) in places.iter().enumerate() {
            self.path.push(Step::Keys(news[j].clone()));
            match place {
                Some(i) => self.node(&before.1[*i], &after.1[j], items),
                None => self.value(None, Some(&after.1[j])),
            }
            self.path.pop();
        }
        for i in removed {
            self.path.push(Step::Keys(olds[i].clone()));
            self.value(Some(&before.1[i]), None);
            self.path.pop();
        }
        self.order(before.0, after.0, &places);
    }

    /// Compares lists that are sets of scalars.
    fn set(&mut self, before: (&'n Node<'n>, &'n Sequence<'n>), after: (&'n Node<'n>, &'n Sequence<'n>)) {
        let prints = |list: &'n Sequence<'n>| list.iter().map(|item| self.prints.of(item)).collect::<Vec<u64>>();
        let places = matched(prints(before.1), prints(after.1));
        let taken: FastSet<usize> = places.iter().flatten().copied().collect();
        self.path.push(Step::Item);
        for (item, _) in after.1.iter().zip(&places).filter(|(_, place)| place.is_none()) {
            self.value(None, Some(item));
        }
        for (_, item) in before.1.iter().enumerate().filter(|(i, _)| !taken.contains(i)) {
            self.value(Some(item), None);
        }
        self.path.pop();
        self.order(before.0, after.0, &places);
    }

    /// Compares lists of which nothing is known.
    fn list(&mut self, before: &'n Sequence<'n>, after: &'n Sequence<'n>, items: Schema<'n>) {
        let prints = |list: &'n Sequence<'n>| list.iter().map(|item| self.prints.of(item)).collect::<Vec<u64>>();
        let (olds, news) = (prints(before), prints(after));
        for Place { before: i, after: j } in align(&olds, &news, Rest::Paired) {
            let Some(at) = j.or(i) else { continue };
            self.path.push(Step::Index(at));
            match (i, j) {
                (Some(i), Some(j)) => self.node(&before[i], &after[j], items),
                (i, j) => self.value(i.map(|i| &before[i]), j.map(|j| &after[j])),
            }
            self.path.pop();
        }
    }

    /// Notes that the items of a list that both sides have come in another order.
    fn order(&mut self, old: &'n Node<'n>, new: &'n Node<'n>, places: &[Option<usize>]) {
        if !places.iter().flatten().is_sorted() {
            self.note(Difference::Order { old, new }, false);
        }
    }

    fn value(&mut self, old: Option<&'n Node<'n>>, new: Option<&'n Node<'n>>) {
        let text = |node: Option<&'n Node<'n>>| node.and_then(Node::as_scalar).map(|scalar| scalar.text());
        let follows = text(old).and_then(|old| self.new_names.get(old)).is_some_and(|name| text(new) == Some(name));
        self.note(Difference::Value { old, new }, follows);
    }

    fn note(&mut self, difference: Difference<'n>, follows: bool) {
        self.found.push(FieldChange { path: Path(self.path.clone()), difference, follows, is_unchangeable: false });
    }
}

/// True if each item of a list has the first of the keys.
fn has_keys<'n>(list: &'n Sequence<'n>, keys: &[&'n str]) -> bool {
    list.iter().all(|item| keys_of(item, keys).is_some())
}

/// For each of `after`: the place of the item in `before` that is the same, each only once.
fn matched<K: Hash + Eq>(before: Vec<K>, after: Vec<K>) -> Vec<Option<usize>> {
    let mut open: FastMap<K, VecDeque<usize>> = FastMap::default();
    for (i, key) in before.into_iter().enumerate() {
        open.entry(key).or_default().push_back(i);
    }
    after.into_iter().map(|key| open.get_mut(&key)?.pop_front()).collect()
}

/// Hashes of the items of lists, each made once: an item may be in a list that is an item itself.
/// Two items with one hash are paired, and then compared field by field, so a hash that two
/// different items share does no harm.
#[derive(Default)]
struct Fingerprints {
    hasher: foldhash::quality::FixedState,
    /// By the address of the item.
    items: FastMap<usize, u64>,
}

impl Fingerprints {
    /// Adds the items of all lists in a tree, and returns the hash of the tree.
    fn add(&mut self, node: &Node<'_>) -> u64 {
        match node.value() {
            Value::Scalar(scalar) => {
                rustomize_base::meter::count_text(scalar.text());
                self.hasher.hash_one((scalar.kind().word(), scalar.text()))
            }
            Value::Mapping(mapping) => mapping.iter().fold(1, |print, entry| {
                let value = self.add(entry.value());
                self.hasher.hash_one((print, entry.key().text(), value))
            }),
            Value::Sequence(items) => items.iter().fold(2, |print, item| {
                let value = self.add(item);
                self.items.insert(std::ptr::from_ref(item).addr(), value);
                self.hasher.hash_one((print, value))
            }),
        }
    }

    fn of(&self, item: &Node<'_>) -> u64 {
        self.items.get(&std::ptr::from_ref(item).addr()).copied().unwrap_or_default()
    }
}
