//! [`Table`]: the rules for values, whether they come from Kubernetes' own descriptions or from a
//! CustomResourceDefinition.

use super::unions::{self, Union};
use rustomize_go_regexp::GoRegex;

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
#[derive(Debug, Default)]
pub(super) struct Struct<'a> {
    /// Sorted by name.
    fields: Vec<Field<'a>>,
    /// How many fields are required.
    required: usize,
    /// The rule for fields that are not known. Without one they are faults.
    pub rest: Option<RuleId>,
    /// The fields that exclude each other, in a type of Kubernetes.
    pub union: Option<&'static Union>,
}

impl<'a> Struct<'a> {
    /// A mapping with these fields. O(n log n).
    pub(super) fn new(mut fields: Vec<Field<'a>>, rest: Option<RuleId>) -> Self {
        fields.sort_by_key(|field| field.name);
        fields.dedup_by_key(|field| field.name);
        let required = fields.iter().filter(|field| field.is_required).count();
        Struct { fields, required, rest, union: None }
    }

    /// As [`Struct::new`], of a type of Kubernetes.
    pub(super) fn of_kubernetes(fields: Vec<Field<'a>>) -> Self {
        let fields = Struct::new(fields, None);
        Struct { union: unions::of_type(|name| fields.field(name).is_some()), ..fields }
    }

    /// The known fields.
    pub(super) fn fields(&self) -> &[Field<'a>] {
        &self.fields
    }

    /// How many of them are required.
    pub(super) fn required(&self) -> usize {
        self.required
    }

    /// The field of a name. O(log fields).
    pub(super) fn field(&self, name: &str) -> Option<&Field<'a>> {
        let at = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        self.fields.get(at)
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
