//! Values that stand in several places of a tree: what an alias is in a YAML text, made by a build
//! step.
//!
//! Upstream's label and annotation transformers put one value node into every mapping that lacks
//! the key, so that a later step which sets one of the places sets them all (a label in a pod
//! template follows the one in metadata). Here each place has a node of its own; that they are one
//! value shows in their [`Pos`], and [`settle`] brings them together again.

use super::node::{Node, Pos, Scalar, Value};

/// Positions from here on stand for shared values, not for places in sources.
const FIRST: u32 = 1 << 31;

impl Pos {
    /// The position of the `n`th shared value; none is left after 2^30.
    pub(super) fn shared(n: u32) -> Pos {
        if n < FIRST / 2 { Pos(FIRST + 2 * n) } else { Pos::NONE }
    }

    /// Whether nodes at this position are one value.
    pub fn is_shared(self) -> bool {
        self.0 >= FIRST
    }

    /// Whether this is a place in a source.
    pub fn is_in_source(self) -> bool {
        self != Pos::NONE && !self.is_shared()
    }

    /// Whether a shared value was set here, and not yet in its other places.
    fn is_ahead(self) -> bool {
        self.is_shared() && self.0 & 1 == 1
    }

    fn ahead(self) -> Pos {
        if self.is_shared() { Pos(self.0 | 1) } else { self }
    }

    fn settled(self) -> Pos {
        if self.is_shared() { Pos(self.0 & !1) } else { self }
    }
}

impl<'a> Node<'a> {
    /// Sets the scalar that stands here. A shared one is then ahead of its other places until
    /// [`settle`] is called.
    pub fn set_scalar(&mut self, scalar: Scalar<'a>) {
        self.value = Value::Scalar(scalar);
        self.pos = self.pos.ahead();
    }
}

/// Gives every place of a shared value what was set in one of them; the last one in the order of
/// the tree wins. O(nodes).
pub fn settle(root: &mut Node<'_>) {
    let mut set: Vec<(Pos, Scalar<'_>)> = Vec::new();
    each_shared(root, &mut |pos, scalar| {
        if pos.is_ahead() {
            *pos = pos.settled();
            set.retain(|(p, _)| p != pos);
            set.push((*pos, *scalar));
        }
    });
    if set.is_empty() {
        return;
    }
    self::set(root, &set);
}

/// Sets shared values in all their places. O(nodes x values).
pub fn set<'a>(root: &mut Node<'a>, values: &[(Pos, Scalar<'a>)]) {
    each_shared(root, &mut |pos, scalar| {
        if let Some((_, new)) = values.iter().find(|(p, _)| p == pos) {
            *scalar = *new;
        }
    });
}

/// Makes every place a value of its own, as a copy or a detour through another format does.
/// O(nodes).
pub fn unshare(root: &mut Node<'_>) {
    each_shared(root, &mut |pos, _| *pos = Pos::NONE);
}

fn each_shared<'a>(node: &mut Node<'a>, visit: &mut dyn FnMut(&mut Pos, &mut Scalar<'a>)) {
    match &mut node.value {
        Value::Scalar(scalar) if node.pos.is_shared() => visit(&mut node.pos, scalar),
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter_mut().for_each(|item| each_shared(item, visit)),
        Value::Mapping(m) => m.iter_mut().for_each(|(_, value)| each_shared(value, visit)),
    }
}
