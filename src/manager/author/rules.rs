//! [`Rules`]: one subschema of a [`Schema`](super::schema::Schema), compiled, and the values that
//! it speaks of.

use crate::diag::nearest;
use regex::Regex;
use rustomize_yaml::scalar::Kind;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Most characters of a text of the schema in a message.
const MOST_OF_TEXT: usize = 60;

/// Most names among which the nearest one is looked for.
const MOST_NEAR: usize = 200;

/// A number, exact where it is whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    pub(super) fn of_float(f: f64) -> Number {
        // Beyond this not every whole number is a float of its own.
        if f.fract() == 0.0 && f.abs() < 9e15 { Number::Int(f as i128) } else { Number::Float(f) }
    }

    pub(super) fn of(number: &serde_json::Number) -> Number {
        let int = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        int.map_or_else(|| Number::of_float(number.as_f64().unwrap_or(f64::NAN)), Number::Int)
    }

    fn float(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(f) => f,
        }
    }

    pub(super) fn is_less(self, other: Number) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a < b,
            _ => self.float() < other.float(),
        }
    }

    pub(super) fn is_multiple(self, of: Number) -> bool {
        match (self, of) {
            (Number::Int(a), Number::Int(b)) => b != 0 && a % b == 0,
            _ => (self.float() / of.float()).fract() == 0.0,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(n) => write!(f, "{n}"),
            Number::Float(n) => write!(f, "{n:?}"),
        }
    }
}

/// The types that a value may have, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

pub(super) const TYPES: [(&str, &str); 7] = [
    ("null", "null"),
    ("boolean", "true or false"),
    ("integer", "an integer"),
    ("number", "a number"),
    ("string", "a string"),
    ("array", "a list"),
    ("object", "a mapping"),
];

impl TypeSet {
    pub(super) const ARRAY: TypeSet = TypeSet(1 << 5);
    pub(super) const OBJECT: TypeSet = TypeSet(1 << 6);
    const NUMBER: TypeSet = TypeSet(1 << 3);

    /// The types that a scalar has: an integer is a number too.
    pub(super) fn of_scalar(kind: Kind, number: Option<Number>) -> TypeSet {
        match kind {
            Kind::Null => TypeSet(1),
            Kind::Bool => TypeSet(1 << 1),
            Kind::Int | Kind::Float => match number {
                Some(Number::Int(_)) => TypeSet(1 << 2 | 1 << 3),
                // A whole number that is too large to be exact.
                Some(Number::Float(f)) if f.fract() == 0.0 => TypeSet(1 << 2 | 1 << 3),
                _ => TypeSet::NUMBER,
            },
            Kind::Str | Kind::Binary | Kind::Timestamp => TypeSet(1 << 4),
        }
    }

    pub(super) fn named(name: &str) -> Option<TypeSet> {
        TYPES.iter().position(|(known, _)| *known == name).map(|at| TypeSet(1 << at))
    }

    /// These types and others.
    pub(super) fn or(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub(super) fn is_any(self) -> bool {
        self.0 == 0
    }

    pub(super) fn meets(self, other: TypeSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The types in words, as in `a string or null`.
    pub(super) fn words(self) -> String {
        let words = (0..TYPES.len()).filter(|at| self.0 & 1 << at != 0).map(|at| TYPES[at].1);
        words.collect::<Vec<_>>().join(" or ")
    }

    /// The one word for the type of a value.
    pub(super) fn word(self) -> &'static str {
        (0..TYPES.len()).find(|at| self.0 & 1 << at != 0).map_or("nothing", |at| TYPES[at].1)
    }
}

/// A pattern and its text.
#[derive(Clone, Debug)]
pub(super) struct TextPattern {
    pub(super) text: String,
    pub(super) regex: Regex,
}

/// Values of which one is expected: `enum` or `const`.
#[derive(Clone, Debug)]
pub(super) struct ExpectedValues {
    /// Each as a text that only equal values have.
    pub(super) canonical: Vec<String>,
    pub(super) words: Vec<String>,
    pub(super) is_const: bool,
}

/// Bounds that are counts: of characters, items, fields.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

/// One subschema. Other subschemas are numbers in the list of all.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// The schema `true` or `false`.
    pub(super) always: Option<bool>,
    pub(super) types: TypeSet,
    pub(super) choices: Vec<ExpectedValues>,
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    pub(super) above: Option<Number>,
    pub(super) below: Option<Number>,
    pub(super) multiple_of: Option<Number>,
    pub(super) length: Counts,
    pub(super) items_count: Counts,
    pub(super) contains_count: Counts,
    pub(super) fields_count: Counts,
    pub(super) pattern: Option<TextPattern>,
    pub(super) properties: BTreeMap<String, usize>,
    pub(super) pattern_properties: Vec<(TextPattern, usize)>,
    pub(super) additional: Option<usize>,
    pub(super) names: Option<usize>,
    pub(super) required: Vec<String>,
    pub(super) dependent_required: Vec<(String, Vec<String>)>,
    pub(super) dependent: Vec<(String, usize)>,
    pub(super) prefix: Vec<usize>,
    pub(super) items: Option<usize>,
    pub(super) contains: Option<usize>,
    pub(super) is_unique: bool,
    pub(super) all_of: Vec<usize>,
    pub(super) any_of: Vec<usize>,
    pub(super) one_of: Vec<usize>,
    pub(super) not: Option<usize>,
    pub(super) condition: Option<usize>,
    pub(super) then: Option<usize>,
    pub(super) otherwise: Option<usize>,
    pub(super) reference: Option<usize>,
    pub(super) unevaluated_fields: Option<usize>,
    pub(super) unevaluated_items: Option<usize>,
}

impl Rules {
    /// The subschemas that are for the same value.
    pub(super) fn of_same_value(&self) -> impl Iterator<Item = usize> + '_ {
        let single = [self.not, self.condition, self.then, self.otherwise, self.reference];
        let lists = self.all_of.iter().chain(&self.any_of).chain(&self.one_of).copied();
        lists.chain(self.dependent.iter().map(|(_, rules)| *rules)).chain(single.into_iter().flatten())
    }
}

/// Appends a text that is the same for equal values alone.
pub(super) fn canonical(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => out.push_str(&Number::of(number).to_string()),
        Value::String(text) => canonical_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(out, item);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (name, value) in fields {
                canonical_text(out, name);
                out.push(':');
                canonical(out, value);
                out.push(',');
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Appends a string in the same form: no text of another type begins as this does.
pub(super) fn canonical_text(out: &mut String, text: &str) {
    out.push('"');
    out.push_str(&text.len().to_string());
    out.push(':');
    out.push_str(text);
}

/// A text of the schema's author, short enough for a message and on one line.
pub(super) fn clipped(text: &str) -> String {
    let line: String = text.chars().take(MOST_OF_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST_OF_TEXT).is_some() { format!("{line}...") } else { line }
}

/// As [`nearest`], where that takes few steps.
pub(super) fn near<'n>(typed: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if typed.len() > MOST_OF_TEXT {
        None
    } else {
        nearest(typed, known.take(MOST_NEAR).filter(|name| name.len() <= MOST_OF_TEXT))
    }
}

/// The form of a value in words.
pub(super) fn shape(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}
