//! [`Table`]: the rules for values, whether they come from Kubernetes' own descriptions or from a
//! CustomResourceDefinition.

use super::unions::{self, Union};
use rustomize_go_regexp::GoRegex;
use std::sync::OnceLock;

/// The number of a rule in its table.
pub(super) type RuleId = u32;

/// Rules that name each other by number.
#[derive(Debug, Default)]
pub(super) struct Table<'a> {
    pub rules: Vec<Rule<'a>>,
}

/// The rule for one value.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    pub shape: Shape<'a>,
    /// True if a null counts as a value. Otherwise it counts as a field that is missing.
    pub is_nullable: bool,
    pub limit: Option<Box<Limit<'a>>>,
}

impl<'a> Rule<'a> {
    /// A rule without limits, for a value that may be null.
    pub(super) fn of(shape: Shape<'a>) -> Self {
        Rule { shape, is_nullable: true, limit: None }
    }
}

/// The type of a value, as a server decodes it from JSON.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    Any,
    Text,
    Int32,
    Int64,
    Number,
    Bool,
    /// A text or a number, as `500m` and `2`.
    Quantity,
    /// A text or an integer, as `http` and `80`.
    IntOrString,
    List(RuleId),
    /// A mapping with any keys.
    Map(RuleId),
    Struct(Struct<'a>),
}

impl Shape<'_> {
    /// The type in words, with its article.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Shape::Any => "any value",
            Shape::Text => "a string",
            Shape::Int32 => "an integer of 32 bits",
            Shape::Int64 => "an integer",
            Shape::Number => "a number",
            Shape::Bool => "a boolean",
            Shape::Quantity => "a string or a number",
            Shape::IntOrString => "a string or an integer",
            Shape::List(_) => "a list",
            Shape::Map(_) | Shape::Struct(_) => "a mapping",
        }
    }
}

/// A mapping with known fields.
#[derive(Debug)]
pub(super) struct Struct<'a> {
    content: Content<'a>,
    /// The rule for fields that are not known. Without one they are faults.
    pub rest: Option<RuleId>,
}

#[derive(Debug)]
enum Content<'a> {
    Read(Fields<'a>),
    /// A type of Kubernetes: a check asks for few of them.
    Unread(Unread, OnceLock<Fields<'static>>),
}

#[derive(Debug, Default)]
struct Fields<'a> {
    /// Sorted by name.
    sorted: Vec<Field<'a>>,
    /// How many fields are required.
    required: usize,
    union: Option<&'static Union>,
}

/// The text of a type of Kubernetes, which is read when its fields are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unread {
    pub lines: &'static str,
    /// The versions whose fields count.
    pub versions: u32,
    /// The number of types in the table.
    pub types: RuleId,
    pub read: fn(Unread) -> Vec<Field<'static>>,
}

impl Default for Struct<'_> {
    /// A mapping that has no fields.
    fn default() -> Self {
        Struct::new(Vec::new(), None)
    }
}

impl<'a> Fields<'a> {
    /// O(n log n).
    fn new(mut sorted: Vec<Field<'a>>) -> Self {
        sorted.sort_by_key(|field| field.name);
        sorted.dedup_by_key(|field| field.name);
        let required = sorted.iter().filter(|field| field.is_required).count();
        Fields { sorted, required, union: None }
    }

    fn get(&self, name: &str) -> Option<&Field<'a>> {
        let at = self.sorted.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.sorted.get(at)
    }
}

impl<'a> Struct<'a> {
    /// A mapping with these fields. O(n log n).
    pub(super) fn new(fields: Vec<Field<'a>>, rest: Option<RuleId>) -> Self {
        Struct { content: Content::Read(Fields::new(fields)), rest }
    }

    /// A type of Kubernetes. O(1).
    pub(super) fn of_kubernetes(unread: Unread) -> Self {
        Struct { content: Content::Unread(unread, OnceLock::new()), rest: None }
    }

    fn content(&self) -> &Fields<'a> {
        match &self.content {
            Content::Read(fields) => fields,
            Content::Unread(unread, read) => read.get_or_init(|| {
                let fields = Fields::new((unread.read)(*unread));
                Fields { union: unions::of_type(|name| fields.get(name).is_some()), ..fields }
            }),
        }
    }

    /// The known fields.
    pub(super) fn fields(&self) -> &[Field<'a>] {
        &self.content().sorted
    }

    /// How many of them are required.
    pub(super) fn required(&self) -> usize {
        self.content().required
    }

    /// The fields that exclude each other, in a type of Kubernetes.
    pub(super) fn union(&self) -> Option<&'static Union> {
        self.content().union
    }

    /// The field of a name. O(log fields).
    pub(super) fn field(&self, name: &str) -> Option<&Field<'a>> {
        self.content().get(name)
    }
}

/// A known field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub name: &'a str,
    pub rule: RuleId,
    pub is_required: bool,
}

/// The values of a type that a definition allows.
#[derive(Debug)]
pub(super) struct Limit<'a> {
    /// The texts of the values that are allowed; empty if all are.
    pub choices: Vec<&'a str>,
    /// The pattern that a text has to match, compiled and as it is written.
    pub pattern: Option<(GoRegex, &'a str)>,
}
