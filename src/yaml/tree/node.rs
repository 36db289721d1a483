//! The tree: [`Node`], [`Scalar`].
//!
//! All text is borrowed from an [`Arena`](crate::Arena) that outlives the build: a scalar
//! that was read verbatim is a slice of its source, a scalar that was made is a slice of the
//! arena's own memory. Text is therefore `Copy`, a scalar costs no allocation, and cloning a tree
//! copies only its lists.

use super::mapping::Mapping;
use super::sequence::Sequence;
use super::shared::{Shared, Sharing};
use crate::scalar::{self, Kind};
use rustomize_base::meter;

/// The place of a node in the sources of a build: an offset into the concatenation of all texts
/// that were added to an [`Arena`](crate::Arena); [`Arena::place`](crate::Arena::place)
/// turns it into file, line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Pos(pub u32);

impl Pos {
    /// The place of a node that is not in a source.
    pub const NONE: Pos = Pos(0);

    /// The place of all nodes in texts beyond the first 4 GiB.
    const BEHIND: Pos = Pos(u32::MAX);

    /// Returns true if this place is in a source.
    pub fn is_in_source(self) -> bool {
        !matches!(self, Pos::NONE | Pos::BEHIND)
    }
}

/// The style in which a scalar was written. It decides the type of a scalar without a tag: only a
/// plain scalar can have another type than a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

impl Style {
    /// The style of a text between two of these quotes.
    pub fn of_quote(quote: u8) -> Style {
        if quote == b'"' { Style::Double } else { Style::Single }
    }
}

/// The tag of a scalar. `Auto` is the usual case: the type follows from style and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    Auto,
    Str,
    Int,
    Float,
    Bool,
    Null,
    Timestamp,
    Binary,
    /// A tag that kustomize does not know: the value is a string, but a key with such a tag is not.
    Custom,
    /// Like `Auto`, for a scalar that a build step has set: the type is determined again for a
    /// later value in its place.
    Untyped,
}

/// A scalar: its text with escapes and folding resolved, its style and its tag. It also has room
/// for the place of its [`Node`]: see [`Value`].
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'a> {
    pub(crate) text: &'a str,
    pos: Pos,
    pub(super) sharing: Sharing,
    pub(crate) style: Style,
    pub(crate) tag: Tag,
}

impl<'a> Scalar<'a> {
    /// A scalar as it was written, or as a tag says.
    #[inline]
    pub const fn new(text: &'a str, style: Style, tag: Tag) -> Self {
        Scalar { text, pos: Pos::NONE, sharing: Sharing::NONE, style, tag }
    }

    /// Returns true if a file has a tag here. As upstream, the tag of a value that is set in this
    /// place then counts as well, whatever quotes the text has.
    pub fn is_tagged(&self) -> bool {
        self.sharing.is_tagged()
    }

    /// The same scalar, for which a file has a tag, or not.
    #[must_use]
    pub fn tagged(self, is_tagged: bool) -> Self {
        Scalar { sharing: self.sharing.tagged(is_tagged), ..self }
    }

    /// The text, with escapes and folding resolved.
    #[inline]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The style in which it is written.
    #[inline]
    pub fn style(&self) -> Style {
        self.style
    }

    /// The tag.
    #[inline]
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// Puts another value here. The place in the sources and the shared value stay.
    pub(crate) fn put(&mut self, new: Scalar<'a>) {
        *self = Scalar { pos: self.pos, sharing: self.sharing.tagged(new.is_tagged()), ..new };
    }

    /// The same scalar with another text.
    #[must_use]
    pub fn with_text<'b>(&self, text: &'b str) -> Scalar<'b> {
        Scalar { text, ..*self }
    }

    /// The same scalar with another style.
    #[must_use]
    pub fn with_style(&self, style: Style) -> Self {
        Scalar { style, ..*self }
    }

    /// A string, whatever its text looks like.
    pub fn string(text: &'a str) -> Self {
        Scalar::new(text, Style::Plain, Tag::Str)
    }

    /// A plain scalar whose type follows from its text.
    pub fn plain(text: &'a str) -> Self {
        Scalar::new(text, Style::Plain, Tag::Auto)
    }

    /// The explicit `null`.
    pub const NULL: Scalar<'static> = Scalar::new("null", Style::Plain, Tag::Auto);

    /// The type that upstream gives this scalar. O(length of the text), O(1) for most.
    pub fn kind(&self) -> Kind {
        match self.tag {
            Tag::Str | Tag::Custom => Kind::Str,
            Tag::Auto | Tag::Untyped if self.style == Style::Plain => scalar::resolve(self.text),
            Tag::Auto | Tag::Untyped => Kind::Str,
            // A tag that no file has is not printed if the text implies it, and quotes then count.
            tag if self.style != Style::Plain && !self.is_tagged() => {
                if Tag::from_kind(scalar::resolve(self.text)) == tag { Kind::Str } else { Kind::from_tag(tag) }
            }
            tag => Kind::from_tag(tag),
        }
    }

    /// The type that this scalar was given, if its text does not fit it. This occurs when a
    /// replacement has put a name in the place of a number; upstream keeps such a value until it
    /// reads it. O(length of the text), O(1) for most.
    pub fn mismatch(&self) -> Option<&'static str> {
        if matches!(self.tag, Tag::Auto | Tag::Untyped | Tag::Str | Tag::Custom) {
            return None;
        }
        match self.kind() {
            Kind::Str | Kind::Binary => None,
            Kind::Null => (scalar::resolve(self.text) != Kind::Null).then_some("null"),
            Kind::Bool => (scalar::resolve(self.text) != Kind::Bool).then_some("a boolean"),
            Kind::Int => scalar::int(self.text).is_none().then_some("an integer"),
            // A number that only an unsigned integer can hold is not turned into a float.
            Kind::Float => (scalar::float(self.text).is_none()
                || matches!(scalar::int(self.text), Some(scalar::Int::Unsigned(_))))
            .then_some("a number"),
            Kind::Timestamp => scalar::timestamp(self.text).is_none().then_some("a date"),
        }
    }

    /// Returns true if this is a null, spelled or empty.
    pub fn is_null(&self) -> bool {
        match self.tag {
            // Upstream looks at the tag: a value that a build step has set has none.
            Tag::Str | Tag::Custom | Tag::Untyped => false,
            Tag::Auto => self.style == Style::Plain && scalar::is_null(self.text),
            _ => self.kind() == Kind::Null,
        }
    }

    /// Returns true if both scalars have the same type and text. O(1) for a copy.
    pub fn same(&self, other: &Scalar<'_>) -> bool {
        let is_copy = std::ptr::eq(self.text, other.text) && (self.style, self.tag) == (other.style, other.tag);
        is_copy || self.kind() == other.kind() && (self.text == other.text || self.kind() == Kind::Null)
    }

    /// The same scalar, without its tag if text and style imply the tag.
    pub(super) fn without_implied_tag(self) -> Self {
        let untagged = Scalar { tag: Tag::Auto, ..self };
        if untagged.resolved_tag() == self.tag { untagged } else { self }
    }

    /// The tag of this scalar if its style no longer determines the type, as when a patch keeps the
    /// style of the value that it replaces.
    pub fn resolved_tag(&self) -> Tag {
        match self.tag {
            Tag::Auto => Tag::from_kind(self.kind()),
            tag => tag,
        }
    }
}

impl Tag {
    /// The tag that stands for a type.
    pub fn from_kind(kind: Kind) -> Tag {
        match kind {
            Kind::Str => Tag::Str,
            Kind::Int => Tag::Int,
            Kind::Float => Tag::Float,
            Kind::Bool => Tag::Bool,
            Kind::Null => Tag::Null,
            Kind::Timestamp => Tag::Timestamp,
            Kind::Binary => Tag::Binary,
        }
    }
}

/// A value with its place in the sources. If several places [share](super::shared) the value, it
/// also has the number of the shared value.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub(crate) value: Value<'a>,
}

/// The value of a node. Each kind of value has room for the place of its node and for the number of
/// a shared value, so that a node is no larger than a value. Both have no meaning until
/// [`Node::new`] sets them.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    Scalar(Scalar<'a>),
    Sequence(Sequence<'a>),
    Mapping(Mapping<'a>),
}

impl Default for Node<'_> {
    /// The null that is written as such.
    fn default() -> Self {
        Node::null()
    }
}

impl<'a> From<Value<'a>> for Node<'a> {
    fn from(value: Value<'a>) -> Self {
        Node::new(value, Pos::NONE)
    }
}

impl<'a> From<Scalar<'a>> for Node<'a> {
    fn from(scalar: Scalar<'a>) -> Self {
        Value::Scalar(scalar).into()
    }
}

impl<'a> From<Mapping<'a>> for Node<'a> {
    fn from(mapping: Mapping<'a>) -> Self {
        Value::Mapping(mapping).into()
    }
}

impl<'a> From<Scalar<'a>> for Value<'a> {
    fn from(scalar: Scalar<'a>) -> Self {
        Value::Scalar(scalar)
    }
}

impl<'a> From<Mapping<'a>> for Value<'a> {
    fn from(mapping: Mapping<'a>) -> Self {
        Value::Mapping(mapping)
    }
}

impl<'a> From<Sequence<'a>> for Value<'a> {
    fn from(items: Sequence<'a>) -> Self {
        Value::Sequence(items)
    }
}

impl<'a> Node<'a> {
    /// A value with its place.
    #[inline]
    pub fn new(value: impl Into<Value<'a>>, pos: Pos) -> Self {
        let mut node = Node { value: value.into() };
        node.set_pos(pos);
        node.unshare();
        node
    }

    /// The value of the node.
    #[inline]
    pub fn value(&self) -> &Value<'a> {
        &self.value
    }

    /// Returns the value of the node.
    #[inline]
    pub fn into_value(self) -> Value<'a> {
        self.value
    }

    /// Returns the list.
    ///
    /// # Errors
    /// The node, if it is not a list.
    pub fn into_sequence(self) -> Result<Sequence<'a>, Self> {
        match self.value {
            Value::Sequence(items) => Ok(items),
            _ => Err(self),
        }
    }

    /// Returns the mapping.
    ///
    /// # Errors
    /// The node, if it is not a mapping.
    pub fn into_mapping(self) -> Result<Mapping<'a>, Self> {
        match self.value {
            Value::Mapping(mapping) => Ok(mapping),
            _ => Err(self),
        }
    }

    /// The place in the sources.
    #[inline]
    pub fn pos(&self) -> Pos {
        match &self.value {
            Value::Scalar(scalar) => scalar.pos,
            Value::Sequence(items) => items.pos,
            Value::Mapping(mapping) => mapping.pos,
        }
    }

    /// Sets the place in the sources.
    #[inline]
    pub(super) fn set_pos(&mut self, pos: Pos) {
        match &mut self.value {
            Value::Scalar(scalar) => scalar.pos = pos,
            Value::Sequence(items) => items.pos = pos,
            Value::Mapping(mapping) => mapping.pos = pos,
        }
    }

    /// Gives this node a value of its own, which no other place shares.
    #[inline]
    pub(crate) fn unshare(&mut self) {
        self.share(None);
    }

    /// Makes this node a place of a shared value; with `None` its value becomes its own.
    #[inline]
    pub(super) fn share(&mut self, shared: Option<Shared>) {
        match &mut self.value {
            Value::Scalar(scalar) => scalar.sharing = scalar.sharing.with_value(shared),
            Value::Sequence(_) => {}
            Value::Mapping(mapping) => mapping.shared = shared,
        }
    }

    /// A string node without a place.
    pub fn string(text: &'a str) -> Self {
        Scalar::string(text).into()
    }

    /// An explicit null without a place.
    pub fn null() -> Self {
        Scalar::NULL.into()
    }

    /// The scalar, if this is one.
    pub fn as_scalar(&self) -> Option<&Scalar<'a>> {
        meter::count(1);
        match &self.value {
            Value::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    pub fn as_mapping(&self) -> Option<&Mapping<'a>> {
        meter::count(1);
        match &self.value {
            Value::Mapping(m) => Some(m),
            _ => None,
        }
    }

    /// The mapping for editing, if this is one.
    pub fn as_mapping_mut(&mut self) -> Option<&mut Mapping<'a>> {
        meter::count(1);
        match &mut self.value {
            Value::Mapping(m) => Some(m),
            _ => None,
        }
    }

    /// The list, if this is one.
    pub fn as_sequence(&self) -> Option<&Sequence<'a>> {
        meter::count(1);
        match &self.value {
            Value::Sequence(s) => Some(s),
            _ => None,
        }
    }

    /// The list for editing, if this is one.
    pub fn as_sequence_mut(&mut self) -> Option<&mut Sequence<'a>> {
        meter::count(1);
        match &mut self.value {
            Value::Sequence(s) => Some(s),
            _ => None,
        }
    }

    /// The value of `key` if this is a mapping that has it.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.as_mapping()?.get(key)
    }

    /// The text of the scalar at `key`, unless it is missing, null or not a scalar.
    #[inline]
    pub fn get_text(&self, key: &str) -> Option<&'a str> {
        let s = self.get(key)?.as_scalar()?;
        if s.is_null() { None } else { Some(s.text) }
    }

    /// The text of a scalar as it is spelled, null too; empty for a list and a mapping.
    pub fn scalar_text(&self) -> &'a str {
        self.as_scalar().map_or("", |s| s.text)
    }

    /// Returns true if this is a null, spelled or empty.
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// Returns true if this is a null, `{}` or `[]`.
    pub fn is_null_or_empty(&self) -> bool {
        meter::count(1);
        match &self.value {
            Value::Scalar(s) => s.is_null(),
            Value::Sequence(s) => s.is_empty(),
            Value::Mapping(m) => m.is_empty(),
        }
    }

    /// The word for this node's shape in messages.
    pub fn shape(&self) -> &'static str {
        match &self.value {
            Value::Scalar(s) => s.kind().word(),
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }

    /// The number of nodes in this tree, itself included.
    pub fn size(&self) -> usize {
        match &self.value {
            Value::Scalar(_) => 1,
            Value::Sequence(items) => 1 + items.iter().map(Node::size).sum::<usize>(),
            Value::Mapping(m) => 1 + m.iter().map(|e| e.value.size()).sum::<usize>(),
        }
    }

    /// Returns true if both trees hold the same values: types and texts are compared, styles and
    /// places are not.
    pub fn same(&self, other: &Node<'_>) -> bool {
        match (&self.value, &other.value) {
            (Value::Scalar(a), Value::Scalar(b)) => a.same(b),
            (Value::Sequence(a), Value::Sequence(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| x.same(y))
            }
            (Value::Mapping(a), Value::Mapping(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b.iter()).all(|(x, y)| x.key.has_text_of(&y.key) && x.value.same(&y.value))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, Scalar};
    use crate::Entry;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_tree_is_small() {
        assert_eq!([size_of::<Scalar<'_>>(), size_of::<Node<'_>>(), size_of::<Entry<'_>>()], [24, 24, 48]);
    }
}
