//! Values that are in several places of a tree: like an alias in a YAML text, but made by a build
//! step.
//!
//! Upstream's label and annotation transformers put one value node into every mapping that lacks
//! the key. So a later step that sets one of the places sets them all (a label in a pod template
//! follows the one in metadata). Here each place has its own node, which knows the number of its
//! shared value; [`settle`] makes the places equal again.

use super::node::{Node, Pos, Scalar, Value};
use rustomize_base::meter;
use std::num::NonZero;

/// The number of a shared value. It is unique in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shared(NonZero<u16>);

/// Gives the shared values of a tree their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers(u16);

impl Numbers {
    /// The number of a new shared value; `None` after 16,383 of them: further values are not
    /// shared.
    pub fn give(&mut self) -> Option<Shared> {
        let number = NonZero::new(self.0 + 1).filter(|number| number.get() <= u16::MAX >> Sharing::FLAGS)?;
        self.0 = number.get();
        Some(Shared(number))
    }
}

/// Facts about a scalar, in two bytes. The upper 14 bits are the number of its shared value, or 0.
/// One bit is 1 if a file has a tag here, the other if the node is ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sharing(u16);

impl Sharing {
    pub(super) const NONE: Sharing = Sharing(0);
    /// The number of bits below the number.
    const FLAGS: u32 = 2;
    const TAGGED: u16 = 2;
    const AHEAD: u16 = 1;

    fn value(self) -> Option<Shared> {
        NonZero::new(self.0 >> Sharing::FLAGS).map(Shared)
    }

    /// The same facts with another shared value, or none. The node is not ahead.
    #[inline]
    pub(super) fn with_value(self, shared: Option<Shared>) -> Sharing {
        let number = shared.map_or(0, |Shared(number)| number.get() << Sharing::FLAGS);
        Sharing(number | self.0 & Sharing::TAGGED)
    }

    /// Returns true if the value was set here, but not yet in its other places.
    fn is_ahead(self) -> bool {
        self.0 & Sharing::AHEAD != 0
    }

    /// See [`Scalar::is_tagged`].
    pub(super) fn is_tagged(self) -> bool {
        self.0 & Sharing::TAGGED != 0
    }

    pub(super) fn tagged(self, is_tagged: bool) -> Sharing {
        if is_tagged { Sharing(self.0 | Sharing::TAGGED) } else { Sharing(self.0 & !Sharing::TAGGED) }
    }
}

impl<'a> Node<'a> {
    /// One of the places of a shared value. Without a number the node has a value of its own.
    pub fn shared_scalar(scalar: Scalar<'a>, pos: Pos, shared: Option<Shared>) -> Self {
        let mut node = Node::new(scalar, pos);
        node.share(shared);
        node
    }

    /// Notes that several items of a list are one mapping: all of them have one number, which is
    /// unique in their list. A later merge of the list edits them together.
    pub fn share_item(&mut self, number: Option<Shared>) {
        if let Value::Mapping(mapping) = &mut self.value {
            mapping.shared = number;
        }
    }

    /// The number of the mapping that several items of a list are, if this item is one of them.
    pub fn shared_item(&self) -> Option<Shared> {
        self.as_mapping()?.shared
    }

    /// The number of the shared value in this place; `None` if the value is not shared.
    pub fn shared(&self) -> Option<Shared> {
        self.as_scalar()?.sharing.value()
    }

    /// Returns true if a shared value was set here, but not yet in its other places.
    pub fn is_ahead(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| scalar.sharing.is_ahead())
    }

    /// Notes that a value was set in this place of a shared value, if it is one.
    pub(super) fn set_ahead(&mut self, shared: Option<Shared>) {
        if let (Value::Scalar(scalar), Some(_)) = (&mut self.value, shared) {
            let Sharing(number) = scalar.sharing.with_value(shared);
            scalar.sharing = Sharing(number | Sharing::AHEAD);
        }
    }
}

/// The latest state of a shared value, for all its places.
#[derive(Clone, Copy)]
struct Latest<'a> {
    shared: Shared,
    scalar: Scalar<'a>,
    pos: Pos,
}

/// A place of a shared value, before it is settled.
struct Place<'a> {
    is_ahead: bool,
    value: Latest<'a>,
}

/// Copies a change of a shared value to all its places, together with the place in the sources. The
/// last change in the order of the tree wins. O(nodes), in one walk if all places were set alike.
pub fn settle(root: &mut Node<'_>) {
    let mut places: Vec<Place<'_>> = Vec::new();
    each_shared(root, &mut |shared, node| {
        if let Value::Scalar(scalar) = node.value {
            places.push(Place { is_ahead: node.is_ahead(), value: Latest { shared, scalar, pos: node.pos() } });
        }
        node.share(Some(shared));
    });
    places.sort_by_key(|place| place.value.shared);
    let set: Vec<_> = places.chunk_by(|a, b| a.value.shared == b.value.shared).filter_map(outdated).collect();
    if !set.is_empty() {
        put(root, &set);
    }
}

/// The value that all places of a shared value must get; `None` if all have it already.
fn outdated<'a>(places: &[Place<'a>]) -> Option<Latest<'a>> {
    let latest = places.iter().rev().find(|place| place.is_ahead)?.value;
    let is_up_to_date = |place: &Place<'_>| {
        let (scalar, new) = (&place.value.scalar, &latest.scalar);
        std::ptr::eq(scalar.text, new.text)
            && (scalar.style, scalar.tag, place.value.pos) == (new.style, new.tag, latest.pos)
    };
    if places.iter().all(is_up_to_date) { None } else { Some(latest) }
}

/// Sets shared values in all their places, for the entry at `by`. O(nodes x log values).
pub fn set<'a>(root: &mut Node<'a>, values: &[(Shared, Scalar<'a>)], by: Pos) {
    let mut values: Vec<_> = values.iter().map(|&(shared, scalar)| Latest { shared, scalar, pos: by }).collect();
    values.sort_by_key(|latest| latest.shared);
    put(root, &values);
}

/// As [`set`], for values that are sorted by their numbers.
fn put<'a>(root: &mut Node<'a>, values: &[Latest<'a>]) {
    each_shared(root, &mut |shared, node| {
        meter::count(1);
        if let Ok(i) = values.binary_search_by_key(&shared, |latest| latest.shared) {
            let latest = &values[i];
            node.set_scalar(latest.scalar, latest.pos);
            node.share(Some(shared));
        }
    });
}

/// Gives every place a value of its own, as a copy or a detour through another format does.
/// O(nodes).
pub fn unshare(node: &mut Node<'_>) {
    node.unshare();
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.for_each_value(unshare),
        Value::Mapping(m) => m.for_each_value(unshare),
    }
}

/// Visits the places of shared values, in the order of the tree.
fn each_shared<'a>(node: &mut Node<'a>, visit: &mut dyn FnMut(Shared, &mut Node<'a>)) {
    // Most nodes are scalars without a shared value: they cost no call.
    let mut each = |node: &mut Node<'a>| match &node.value {
        Value::Scalar(scalar) => {
            if let Some(shared) = scalar.sharing.value() {
                visit(shared, node);
            }
        }
        Value::Sequence(_) | Value::Mapping(_) => each_shared(node, visit),
    };
    match &mut node.value {
        Value::Scalar(_) => each(node),
        Value::Sequence(items) => items.for_each_value(each),
        Value::Mapping(m) => m.for_each_value(each),
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, Sharing};

    #[test]
    fn numbers_differ_until_none_is_left() {
        let mut numbers = Numbers::default();
        let given: Vec<_> = std::iter::from_fn(|| numbers.give()).collect();
        assert_eq!(given.len(), 16_383);
        assert!(given.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(numbers.give(), None);
        // A scalar holds each of them, beside its two flags.
        for shared in given {
            let sharing = Sharing::NONE.tagged(true).with_value(Some(shared));
            assert_eq!((sharing.value(), sharing.is_tagged(), sharing.is_ahead()), (Some(shared), true, false));
        }
    }
}
