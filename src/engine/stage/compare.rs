//! The differences between two states of a resource, down to its scalars; the old state becomes the
//! new one, and values that are the same keep their old places.
//!
//! Items of a list are paired before they are compared: an item that moves is the same item. Items
//! are paired by their names ([`NAMES`]), then by their place.
//!
//! *Cost*: O(size of both states).

use rustomize_base::meter::FastMap;
use rustomize_yaml::{Entries, Mapping, Node, Pos, Sequence, Value};
use std::fmt::Write as _;

/// A step on the way from a resource to a value.
#[derive(Clone, Copy, Debug)]
pub enum Below<'a> {
    Key(&'a str),
    Item(usize),
}

/// A way from a resource to a value.
pub type Path<'a> = Vec<Below<'a>>;

/// The text of a scalar, `{}` or `[]`, and its place.
pub type Text<'a> = (&'a str, Pos);

/// A difference between two states of a resource, at a path.
#[derive(Clone, Copy, Debug)]
pub enum Difference<'a> {
    /// A value has come, has gone, or has changed.
    Value {
        before: Option<Text<'a>>,
        after: Option<Text<'a>>,
        /// True if an item of a list that holds the value has gone: the path is that of the old
        /// state. All other paths are those of the new state.
        is_in_gone_item: bool,
    },
    /// An item of a list that was at another index of its list, or that is new (`None`).
    Item { from: Option<usize> },
}

/// Fields that tell the items of a list apart, the first one that an item has.
const NAMES: [&str; 10] =
    ["mountPath", "devicePath", "name", "containerPort", "port", "ip", "topologyKey", "key", "uid", "type"];

/// Adds a step to a JSON pointer (RFC 6901).
pub fn push(pointer: &mut String, below: Below<'_>) {
    match below {
        Below::Key(key) if key.bytes().any(|byte| matches!(byte, b'~' | b'/')) => {
            pointer.push('/');
            pointer.push_str(&rustomize_base::json_pointer::escaped(key));
        }
        Below::Key(key) => {
            pointer.push('/');
            pointer.push_str(key);
        }
        Below::Item(i @ 0..10) => pointer.extend(['/', char::from(b'0' + i as u8)]),
        Below::Item(i) => {
            // Writing into a string cannot fail.
            let _ = write!(pointer, "/{i}");
        }
    }
}

/// Calls `found` with every difference between two states, and turns the old one into the new one:
/// values that are the same keep their places. O(size of both).
pub fn update<'a>(old: &mut Node<'a>, new: &Node<'a>, found: &mut dyn FnMut(&[Below<'a>], Difference<'a>)) {
    Comparison { path: Vec::new(), is_in_gone_item: false, found }.update(old, new);
}

/// As [`update`], for two states that differ in one field at most. O(size of the field).
pub fn update_field<'a>(
    old: &mut Node<'a>,
    new: &Node<'a>,
    field: &'a str,
    found: &mut dyn FnMut(&[Below<'a>], Difference<'a>),
) {
    match (old.as_mapping_mut().and_then(|old| old.get_mut(field)), new.get(field)) {
        (Some(old), Some(new)) => {
            Comparison { path: vec![Below::Key(field)], is_in_gone_item: false, found }.update(old, new);
        }
        // The field has come or has gone.
        _ => Comparison { path: Vec::new(), is_in_gone_item: false, found }.update(old, new),
    }
}

/// A comparison on its way through two states.
struct Comparison<'f, 'a> {
    path: Path<'a>,
    is_in_gone_item: bool,
    found: &'f mut dyn FnMut(&[Below<'a>], Difference<'a>),
}

impl<'a> Comparison<'_, 'a> {
    /// Compares two values, and turns the old one into the new one.
    fn update(&mut self, old: &mut Node<'a>, new: &Node<'a>) {
        match (old.value(), new.value()) {
            (Value::Scalar(a), Value::Scalar(b)) if a.same(b) => {}
            (Value::Mapping(a), Value::Mapping(b)) if a.is_empty() == b.is_empty() => {
                if let Some(old) = old.as_mapping_mut() {
                    self.mappings(old, b);
                }
            }
            (Value::Sequence(a), Value::Sequence(b)) if a.is_empty() == b.is_empty() => {
                if let Some(old) = old.as_sequence_mut() {
                    self.lists(old, b);
                }
            }
            _ => {
                self.note(text(old), text(new));
                self.each_below(old, Self::gone);
                self.each_below(new, Self::come);
                *old = new.clone();
            }
        }
    }

    /// Reports a value that was removed.
    fn gone(&mut self, old: &Node<'a>) {
        self.note(text(old), None);
        self.each_below(old, Self::gone);
    }

    /// Reports a value that was added.
    fn come(&mut self, new: &Node<'a>) {
        self.note(None, text(new));
        self.each_below(new, Self::come);
    }

    /// Reports a value, unless there are other values in it.
    fn note(&mut self, before: Option<Text<'a>>, after: Option<Text<'a>>) {
        if before.is_some() || after.is_some() {
            let is_in_gone_item = self.is_in_gone_item;
            (self.found)(&self.path, Difference::Value { before, after, is_in_gone_item });
        }
    }

    fn mappings(&mut self, old: &mut Mapping<'a>, new: &Mapping<'a>) {
        let has_same_keys =
            old.len() == new.len() && old.iter().zip(new.iter()).all(|(a, b)| a.key().same_text(b.key()));
        if has_same_keys {
            for ((_, old), new) in old.iter_mut().zip(new.iter()) {
                // Most values are the same: they need no path.
                if let (Value::Scalar(old), Value::Scalar(new)) = (old.value(), new.value().value())
                    && old.same(new)
                {
                    continue;
                }
                self.below(Below::Key(new.key().text()), |this| this.update(old, new.value()));
            }
            return;
        }
        for entry in old.iter().filter(|entry| !new.contains(entry.key().text())) {
            self.below(Below::Key(entry.key().text()), |this| this.gone(entry.value()));
        }
        old.retain(|key, _| new.contains(key.text()));
        for entry in new.iter() {
            let key = entry.key().text();
            self.below(Below::Key(key), |this| match old.get_mut(key) {
                Some(old) => this.update(old, entry.value()),
                None => this.come(entry.value()),
            });
        }
        let added = new.iter().filter(|entry| !old.contains(entry.key().text())).cloned().collect::<Entries<'a>>();
        old.put_all(added);
    }

    fn lists(&mut self, old: &mut Sequence<'a>, new: &Sequence<'a>) {
        // Most lists are the same: their items need no names.
        if old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.same(new)) {
            return;
        }
        let found = pairs(&old.iter().collect::<Vec<_>>(), &new.iter().collect::<Vec<_>>());
        let Some(Pairs { old_of_new, gone }) = found else {
            for (i, (old, new)) in old.iter_mut().zip(new).enumerate() {
                self.below(Below::Item(i), |this| this.update(old, new));
            }
            return;
        };
        let was_in_gone_item = std::mem::replace(&mut self.is_in_gone_item, true);
        for i in gone {
            self.below(Below::Item(i), |this| this.gone(&old[i]));
        }
        self.is_in_gone_item = was_in_gone_item;
        let mut items: Vec<Option<Node<'a>>> = old.take_items().into_iter().map(Some).collect();
        for (i, (new, from)) in new.iter().zip(old_of_new).enumerate() {
            self.below(Below::Item(i), |this| {
                if from != Some(i) {
                    (this.found)(&this.path, Difference::Item { from });
                }
                match from.and_then(|from| items.get_mut(from)?.take()) {
                    Some(mut item) => {
                        this.update(&mut item, new);
                        old.push(item);
                    }
                    None => {
                        this.come(new);
                        old.push(new.clone());
                    }
                }
            });
        }
    }

    /// Works on the values in a value.
    fn each_below(&mut self, node: &Node<'a>, work: impl Fn(&mut Self, &Node<'a>)) {
        match node.value() {
            Value::Mapping(mapping) => {
                mapping.iter().for_each(|e| self.below(Below::Key(e.key().text()), |this| work(this, e.value())));
            }
            Value::Sequence(items) => {
                items.iter().enumerate().for_each(|(i, item)| self.below(Below::Item(i), |this| work(this, item)));
            }
            Value::Scalar(_) => {}
        }
    }

    /// Works with the path of a child.
    fn below(&mut self, step: Below<'a>, work: impl FnOnce(&mut Self)) {
        self.path.push(step);
        work(self);
        self.path.pop();
    }
}

/// The text and place of a scalar or of an empty mapping or list.
pub fn text<'a>(node: &Node<'a>) -> Option<Text<'a>> {
    let text = match node.value() {
        Value::Scalar(scalar) => Some(scalar.text()),
        Value::Mapping(mapping) => mapping.is_empty().then_some("{}"),
        Value::Sequence(items) => items.is_empty().then_some("[]"),
    };
    text.map(|text| (text, node.pos()))
}

/// The pairs of items of two states of a list.
struct Pairs {
    /// For each new item, the index of the old one; `None` if it is new.
    old_of_new: Vec<Option<usize>>,
    /// The old items that have gone, in order.
    gone: Vec<usize>,
}

/// The name of an item of a list: a field of [`NAMES`] and its value.
fn name<'a>(item: &Node<'a>) -> Option<(&'static str, &'a str)> {
    match item.value() {
        Value::Scalar(scalar) => Some(("", scalar.text())),
        Value::Mapping(mapping) => NAMES.iter().find_map(|key| Some((*key, mapping.get(key)?.as_scalar()?.text()))),
        Value::Sequence(_) => None,
    }
}

/// Pairs the items of two lists; `None` if all are where they were. Items of one name are paired in
/// their order. Of items without a partner, those at one index are one item where neither has a
/// name, or where the lists are of one length: it has another name now.
fn pairs(old: &[&Node<'_>], new: &[&Node<'_>]) -> Option<Pairs> {
    let are_of_one_length = old.len() == new.len();
    if are_of_one_length && old.iter().zip(new).all(|(old, new)| name(old) == name(new)) {
        return None;
    }
    let mut old_of_new: Vec<Option<usize>> = vec![None; new.len()];
    let mut is_taken = vec![false; old.len()];
    let mut named: FastMap<(&str, &str), Vec<usize>> = FastMap::default();
    for (i, item) in old.iter().enumerate().rev() {
        if let Some(name) = name(item) {
            named.entry(name).or_default().push(i);
        }
    }
    for (item, from) in new.iter().zip(&mut old_of_new) {
        *from = name(item).and_then(|name| named.get_mut(&name)?.pop());
        from.iter().for_each(|&i| is_taken[i] = true);
    }
    if are_of_one_length {
        for (i, from) in old_of_new.iter_mut().enumerate().filter(|(i, from)| from.is_none() && !is_taken[*i]) {
            *from = Some(i);
        }
        old_of_new.iter().flatten().for_each(|&i| is_taken[i] = true);
    } else {
        pair_nameless(old, new, &mut old_of_new, &mut is_taken);
    }
    let gone: Vec<usize> = (0..old.len()).filter(|&i| !is_taken[i]).collect();
    let are_in_place =
        gone.is_empty() && are_of_one_length && old_of_new.iter().enumerate().all(|(i, f)| *f == Some(i));
    (!are_in_place).then_some(Pairs { old_of_new, gone })
}

/// Pairs items without names: equal ones at both ends of the lists, then the others in order.
fn pair_nameless(old: &[&Node<'_>], new: &[&Node<'_>], old_of_new: &mut [Option<usize>], is_taken: &mut [bool]) {
    let nameless = |items: &[&Node<'_>]| -> Vec<usize> {
        items.iter().enumerate().filter(|(_, item)| name(item).is_none()).map(|(i, _)| i).collect()
    };
    let (olds, news) = (nameless(old), nameless(new));
    let are_same = |(i, j): &(&usize, &usize)| old[**i].same(new[**j]);
    let start = olds.iter().zip(&news).take_while(are_same).count();
    let most = olds.len().min(news.len()) - start;
    let end = olds.iter().rev().zip(news.iter().rev()).take(most).take_while(are_same).count();
    let front = olds[..olds.len() - end].iter().zip(&news[..news.len() - end]);
    for (&i, &j) in front.chain(olds.iter().rev().zip(news.iter().rev()).take(end)) {
        (old_of_new[j], is_taken[i]) = (Some(i), true);
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, push, update};
    use rustomize_yaml::{Heap, first_document};

    /// The differences between two texts, each as `PATH: BEFORE -> AFTER`, or `PATH was at INDEX`.
    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        let heap = Heap::new();
        let arena = heap.arena();
        let [old, new] = [old, new].map(|text| arena.add_source("text", text.to_owned()));
        let [mut old, new] = [old, new].map(|source| first_document(arena, source).unwrap().unwrap());
        let mut found = Vec::new();
        update(&mut old, &new, &mut |path, difference| {
            let path = path.iter().fold(String::new(), |mut pointer, below| {
                push(&mut pointer, *below);
                pointer
            });
            found.push(match difference {
                Difference::Item { from: Some(from) } => format!("{path} was at {from}"),
                Difference::Item { from: None } => format!("{path} is new"),
                Difference::Value { before, after, is_in_gone_item } => {
                    let [before, after] = [before, after].map(|text| text.map_or("none", |(text, _)| text));
                    format!("{path}: {before} -> {after}{}", if is_in_gone_item { " gone" } else { "" })
                }
            });
        });
        assert_eq!(found, want);
        assert!(old.same(&new), "the old state is the new one");
    }

    #[test]
    fn values_that_change_come_and_go() {
        check(
            "{a: 1, b: {c: 2}, d: 3}",
            "{a: 1, b: {c: 4}, e: 5}",
            &["/d: 3 -> none", "/b/c: 2 -> 4", "/e: none -> 5"],
        );
        check("a: 1", "a: {b: 1}", &["/a: 1 -> none", "/a/b: none -> 1"]);
        check("a: {b: 1}", "a: {}", &["/a: none -> {}", "/a/b: 1 -> none"]);
        check("a~/b: 1", "a~/b: 2", &["/a~0~1b: 1 -> 2"]);
    }

    #[test]
    fn an_item_that_moves_is_the_same_item() {
        let image = "a: [{name: web, image: x}]";
        check(image, "a: [{name: web, image: y}]", &["/a/0/image: x -> y"]);
        check(
            image,
            "a: [{name: log, image: z}, {name: web, image: y}]",
            &["/a/0 is new", "/a/0/image: none -> z", "/a/0/name: none -> log", "/a/1 was at 0", "/a/1/image: x -> y"],
        );
        check("a: [{name: log}, {name: web, image: x}]", image, &["/a/0/name: log -> none gone", "/a/0 was at 1"]);
        // The mount path tells mounts of one volume apart.
        check(
            "a: [{name: v, mountPath: /a}, {name: v, mountPath: /b}]",
            "a: [{name: v, mountPath: /b}, {name: v, mountPath: /a}]",
            &["/a/0 was at 1", "/a/1 was at 0"],
        );
        check("a: [{name: web}]", "a: [{name: shop}]", &["/a/0/name: web -> shop"]);
    }

    #[test]
    fn scalars_are_called_by_their_text_and_others_by_their_place() {
        check("[a, b]", "[z, a, b]", &["/0 is new", "/0: none -> z", "/1 was at 0", "/2 was at 1"]);
        check("[a, b, c]", "[a, x, c]", &["/1: b -> x"]);
        check("[a, b]", "[b]", &["/0: a -> none gone", "/0 was at 1"]);
        check("[a, b]", "[b, a]", &["/0 was at 1", "/1 was at 0"]);
        check("[{x: 1}, {x: 2}]", "[{x: 3}, {x: 2}]", &["/0/x: 1 -> 3"]);
        check("[{x: 1}, {x: 2}, {x: 3}]", "[{x: 1}, {x: 3}]", &["/1/x: 2 -> none gone", "/1 was at 2"]);
        check("[{x: 1}]", "[{x: 1}, {x: 2}]", &["/1 is new", "/1/x: none -> 2"]);
    }
}
