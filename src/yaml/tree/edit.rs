//! Editing a tree: the methods by which build steps change its values.
//!
//! Each method takes `by`, the place of the entry that asks for the change. The value takes that
//! place, so that a later error about the value points to the entry. [`Pos::NONE`] keeps the old
//! place. Values that follow others keep their places as well (references to a renamed resource,
//! vars, hashes): no entry asks for them, and a user looks for them where they are written.
//!
//! A [`shared`](super::shared) value stays shared, except in [`Node::put`]: a change in one of its
//! places is copied to the others when they are settled.

use super::mapping::Mapping;
use super::node::{Node, Pos, Scalar, Style, Tag, Value};
use super::sequence::Sequence;

/// A value for editing. Lists and mappings are edited in place, a scalar by the methods of its
/// [`Node`].
pub enum ValueMut<'n, 'a> {
    Scalar(&'n Scalar<'a>),
    Sequence(&'n mut Sequence<'a>),
    Mapping(&'n mut Mapping<'a>),
}

impl<'a> Node<'a> {
    /// The value of the node, for editing.
    #[inline]
    pub fn value_mut(&mut self) -> ValueMut<'_, 'a> {
        match &mut self.value {
            Value::Scalar(scalar) => ValueMut::Scalar(scalar),
            Value::Sequence(items) => ValueMut::Sequence(items),
            Value::Mapping(mapping) => ValueMut::Mapping(mapping),
        }
    }

    /// Sets text and tag of a scalar, which keeps its style; anything else becomes a plain scalar.
    /// A tag that text and style imply is left out, unless the old scalar has a tag. If a file has
    /// a tag in this place, a number is a number here, whatever quotes the old text has (case
    /// tagged-text-in-quotes).
    pub fn set_text(&mut self, text: &'a str, tag: Tag, by: Pos) {
        let old = self.as_scalar();
        let has_tag = old.is_some_and(|old| !matches!(old.tag, Tag::Auto | Tag::Untyped));
        let style = old.map_or(Style::Plain, |old| old.style);
        let new = Scalar::new(text, style, tag).tagged(old.is_some_and(Scalar::is_tagged));
        self.set_scalar(if has_tag { new } else { new.without_implied_tag() }, by);
    }

    /// Sets the text of a scalar, which keeps its style and its tag. Anything else stays as it is.
    pub fn replace_text(&mut self, text: &'a str, by: Pos) {
        if let Some(tag) = self.as_scalar().map(Scalar::tag) {
            self.set_text(text, tag, by);
        }
    }

    /// Sets the text of a scalar and makes it untyped, as kustomize does: the type follows from
    /// style and text, and is determined again for a later value in this place.
    pub fn set_untyped(&mut self, text: &'a str, by: Pos) {
        self.set_text(text, Tag::Untyped, by);
    }

    /// Replaces a value by a scalar.
    pub fn set_scalar(&mut self, scalar: Scalar<'a>, by: Pos) {
        let shared = self.shared();
        self.replace(scalar.into(), by);
        self.set_ahead(shared);
    }

    /// Replaces a value by a value that is not shared.
    pub fn put(&mut self, value: impl Into<Value<'a>>, by: Pos) {
        self.replace(value.into(), by);
    }

    /// Replaces the value by one that is not shared. The place of the new value is `by`, or the old
    /// place if `by` is not in a source.
    fn replace(&mut self, value: Value<'a>, by: Pos) {
        *self = Node::new(value, if by.is_in_source() { by } else { self.pos() });
    }

    /// Changes the tag of a scalar, in this place only. Text, style and place stay.
    pub fn retag(&mut self, tag: Tag) {
        if let Value::Scalar(scalar) = &mut self.value {
            scalar.tag = tag;
        }
    }

    /// Changes the style of a scalar, in this place only. Text, tag and place stay.
    pub fn restyle(&mut self, style: Style) {
        if let Value::Scalar(scalar) = &mut self.value {
            scalar.style = style;
        }
    }

    /// Replaces the memory of a scalar's text by that of an equal text, which `find` returns.
    /// Returns the text.
    pub fn intern(&mut self, find: impl FnOnce(&'a str) -> &'a str) -> Option<&'a str> {
        let Value::Scalar(scalar) = &mut self.value else { return None };
        let text = find(scalar.text);
        debug_assert_eq!(text, scalar.text, "an interned text is the same text");
        scalar.text = text;
        Some(text)
    }
}
