//! [`Schema`]: the JSON Schema (draft 2020-12) of a kind's configuration objects, compiled.
//!
//! A schema comes with a plugin, so it is somebody else's and is compiled and checked in the
//! process of a build: both take bounded time and memory, whatever it says. It has at most
//! [`SCHEMA_LIMIT`] bytes and [`MOST_RULES`] subschemas, patterns take linear time, references stay
//! inside the schema, and references that lead back to themselves are refused. Checking counts its
//! steps (`conform.rs`). docs/design.md says which libraries were weighed.
//!
//! Keywords that would change a verdict and are not implemented are refused. Other unknown keywords
//! are annotations, as the draft says, unless they look like a misspelled keyword.

use super::rules::{ExpectedValues, Number, Rules, TYPES, TextPattern, TypeSet, canonical, clipped, near, shape};
use percent_encoding::percent_decode_str;
use regex::RegexBuilder;
use rustomize_base::json_pointer::escaped;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Most bytes of a schema in a file of its own.
pub const SCHEMA_LIMIT: u64 = 1 << 20;

/// Most subschemas of a schema.
const MOST_RULES: usize = 10_000;

/// Deepest nesting of a schema.
const MOST_DEPTH: usize = 64;

/// Most patterns of a schema.
const MOST_PATTERNS: usize = 200;

/// Most bytes of a compiled pattern.
const PATTERN_SIZE: usize = 1 << 20;

/// The only dialect that `$schema` may name.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords that say something of a value, each with the form of its value.
const KEYWORDS: [(&str, Form); 42] = {
    use Form::{Bool, Count, List, Map, Names, NamesOf, Num, Rule, Text, Types, Values};
    [
        ("$schema", Text),
        ("$id", Text),
        ("$ref", Text),
        ("$defs", Map),
        ("definitions", Map),
        ("type", Types),
        ("enum", Values),
        ("const", Form::Any),
        ("minimum", Num),
        ("maximum", Num),
        ("exclusiveMinimum", Num),
        ("exclusiveMaximum", Num),
        ("multipleOf", Num),
        ("minLength", Count),
        ("maxLength", Count),
        ("minItems", Count),
        ("maxItems", Count),
        ("minContains", Count),
        ("maxContains", Count),
        ("minProperties", Count),
        ("maxProperties", Count),
        ("pattern", Text),
        ("properties", Map),
        ("patternProperties", Map),
        ("additionalProperties", Rule),
        ("propertyNames", Rule),
        ("unevaluatedProperties", Rule),
        ("required", Names),
        ("dependentRequired", NamesOf),
        ("dependentSchemas", Map),
        ("prefixItems", List),
        ("items", Rule),
        ("contains", Rule),
        ("unevaluatedItems", Rule),
        ("uniqueItems", Bool),
        ("allOf", List),
        ("anyOf", List),
        ("oneOf", List),
        ("not", Rule),
        ("title", Text),
        ("description", Text),
        ("deprecated", Bool),
    ]
};

/// Keywords with rules that may be used only together with `if`, and `if` itself.
const CONDITION: [&str; 3] = ["if", "then", "else"];

/// Keywords that say nothing of a value.
const ANNOTATIONS: [&str; 10] = [
    "$comment",
    "default",
    "examples",
    "readOnly",
    "writeOnly",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$vocabulary",
];

/// Keywords of this draft or of earlier ones that change a verdict, and what to write instead.
const REFUSED: [(&str, &str); 8] = [
    ("$anchor", "name the subschema by its path, as in '#/$defs/port'"),
    ("$dynamicRef", "use '$ref'"),
    ("$dynamicAnchor", "use '$ref' with a path, as in '#/$defs/port'"),
    ("$recursiveRef", "use '$ref'"),
    ("$recursiveAnchor", "use '$ref' with a path, as in '#'"),
    ("dependencies", "use 'dependentRequired' or 'dependentSchemas'"),
    ("additionalItems", "use 'prefixItems' and 'items'"),
    ("nullable", "use type: [string, 'null']"),
];

/// The form of a keyword's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Any,
    Bool,
    /// A whole number from 0 on.
    Count,
    Num,
    Text,
    Types,
    Values,
    Names,
    NamesOf,
    Rule,
    List,
    Map,
}

/// A schema that was compiled. Clones share it.
#[derive(Clone)]
pub struct Schema(Arc<Compiled>);

struct Compiled {
    text: Value,
    rules: Vec<Rules>,
    /// True if a rule asks which fields or items other rules have looked at.
    has_unevaluated: bool,
}

/// Why a text is not a schema: the fault, and where in the schema it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// A JSON pointer.
    pub place: String,
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.place.is_empty() { "at the top".to_owned() } else { clipped_end(&self.place) };
        write!(f, "the schema is not valid ({place}): {}", self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for SchemaError {}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text == other.0.text
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.text.fmt(f)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Schema::compile(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// It is not valid, uses a keyword that is not implemented, leads back to itself, or is larger
    /// than the limits.
    pub fn compile(text: Value) -> Result<Schema, SchemaError> {
        let mut compiler = Compiler::default();
        if let Some(id) = text.get("$id").and_then(Value::as_str) {
            compiler.id = id.trim_end_matches('#').to_owned();
        }
        compiler.subschema(&text, &mut String::new(), 0)?;
        compiler.resolve(&text)?;
        let rules = compiler.rules;
        if let Some((_, to)) =
            looping(&rules).and_then(|at| compiler.references.into_iter().find(|(from, _)| *from == at))
        {
            let message =
                format!("the reference '{}' leads back to itself, with no field or item between", clipped(&to));
            return wrong("$ref", message, Some("remove one of the references of the circle".to_owned()));
        }
        let has_unevaluated = rules.iter().any(|rules| rules.unevaluated_fields.or(rules.unevaluated_items).is_some());
        Ok(Schema(Arc::new(Compiled { text, rules, has_unevaluated })))
    }

    /// The schema as its author has written it.
    pub fn text(&self) -> &Value {
        &self.0.text
    }

    pub(super) fn rules(&self) -> &[Rules] {
        &self.0.rules
    }

    pub(super) fn has_unevaluated(&self) -> bool {
        self.0.has_unevaluated
    }
}

/// A subschema that leads back to itself by subschemas that are for the same value. Without
/// recursion: a chain of references may be long.
fn looping(rules: &[Rules]) -> Option<usize> {
    let mut waiting = vec![0usize; rules.len()];
    rules.iter().flat_map(Rules::of_same_value).for_each(|to| waiting[to] += 1);
    let mut free: Vec<usize> = (0..rules.len()).filter(|at| waiting[*at] == 0).collect();
    let mut done = 0;
    while let Some(at) = free.pop() {
        done += 1;
        for to in rules[at].of_same_value() {
            waiting[to] -= 1;
            if waiting[to] == 0 {
                free.push(to);
            }
        }
    }
    if done == rules.len() {
        return None;
    }
    // Each waiting rule follows another waiting rule. So the way backwards from any of them leads
    // into the circle, and the circle has a reference, because nothing else leads upwards.
    let mut before = vec![None; rules.len()];
    for from in (0..rules.len()).filter(|at| waiting[*at] > 0) {
        rules[from].of_same_value().filter(|to| waiting[*to] > 0).for_each(|to| before[to] = Some(from));
    }
    let mut at = (0..rules.len()).find(|at| waiting[*at] > 0)?;
    for _ in 0..rules.len() {
        at = before[at]?;
    }
    while rules[at].reference.is_none() {
        at = before[at]?;
    }
    Some(at)
}

#[derive(Default)]
struct Compiler {
    rules: Vec<Rules>,
    /// The subschemas by where they are in memory, which a JSON pointer leads to.
    places: BTreeMap<usize, usize>,
    /// The rules with a reference, and the targets.
    references: Vec<(usize, String)>,
    patterns: usize,
    /// The schema's own `$id`.
    id: String,
}

fn wrong<T>(place: &str, message: impl Into<String>, hint: Option<String>) -> Result<T, SchemaError> {
    Err(SchemaError { place: place.to_owned(), message: message.into(), hint })
}

/// A field of a schema.
struct SchemaField<'f> {
    keyword: &'f str,
    value: &'f Value,
    /// The number of the schema that has it.
    number: usize,
    /// How deep that schema is in others.
    depth: usize,
}

/// Runs `work` with `name` behind a JSON pointer.
fn below<T>(place: &mut String, name: &str, work: impl FnOnce(&mut String) -> T) -> T {
    let length = place.len();
    place.push('/');
    place.push_str(&escaped(name));
    let done = work(place);
    place.truncate(length);
    done
}

impl Compiler {
    /// Compiles a subschema, and gives its number.
    fn subschema(&mut self, value: &Value, place: &mut String, depth: usize) -> Result<usize, SchemaError> {
        if self.rules.len() == MOST_RULES {
            return wrong(place, format!("it has more than {MOST_RULES} subschemas"), None);
        }
        if depth > MOST_DEPTH {
            return wrong("", format!("it is nested more than {MOST_DEPTH} levels deep"), None);
        }
        let number = self.rules.len();
        self.rules.push(Rules::default());
        self.places.insert(address(value), number);
        let rules = match value {
            Value::Bool(always) => Rules { always: Some(*always), ..Rules::default() },
            Value::Object(fields) => self.object(number, fields, place, depth)?,
            other => {
                return wrong(
                    place,
                    format!("expected a schema (a mapping, true or false), found {}", shape(other)),
                    None,
                );
            }
        };
        self.rules[number] = rules;
        Ok(number)
    }

    fn object(
        &mut self,
        number: usize,
        fields: &Map<String, Value>,
        place: &mut String,
        depth: usize,
    ) -> Result<Rules, SchemaError> {
        let mut rules = Rules::default();
        for (keyword, value) in fields {
            below(place, keyword, |place| {
                self.keyword(&SchemaField { keyword, value, number, depth }, &mut rules, place)
            })?;
        }
        if rules.condition.is_none() && (rules.then.is_some() || rules.otherwise.is_some()) {
            (rules.then, rules.otherwise) = (None, None);
        }
        if rules.contains.is_some() {
            rules.contains_count.least.get_or_insert(1);
        }
        Ok(rules)
    }

    fn keyword(&mut self, field: &SchemaField<'_>, rules: &mut Rules, place: &mut String) -> Result<(), SchemaError> {
        let SchemaField { keyword, value, number, depth } = *field;
        let Some(form) = form(keyword, place)? else { return Ok(()) };
        check_form(form, value, place)?;
        let depth = depth + 1;
        let one = |compiler: &mut Self, place: &mut String| compiler.subschema(value, place, depth).map(Some);
        match keyword {
            "$schema" => match value.as_str().map(|text| text.trim_end_matches('#')) {
                Some(DIALECT) => {}
                _ => return wrong(place, "it is of another draft than 2020-12", Some(format!("write '{DIALECT}'"))),
            },
            "$id" if number != 0 => return wrong(place, "only the schema itself has an '$id'", None),
            "$ref" => {
                let to = value.as_str().unwrap_or_default().to_owned();
                self.references.push((number, to));
            }
            "type" => rules.types = types(value, place)?,
            "enum" | "const" => rules.choices.push(choice(keyword, value)),
            "minimum" => rules.minimum = num(value),
            "maximum" => rules.maximum = num(value),
            "exclusiveMinimum" => rules.above = num(value),
            "exclusiveMaximum" => rules.below = num(value),
            "multipleOf" => {
                rules.multiple_of = num(value);
                if !rules.multiple_of.is_some_and(|of| Number::Int(0).is_less(of)) {
                    return wrong(place, "expected a number above 0", None);
                }
            }
            "minLength" => rules.length.least = count(value),
            "maxLength" => rules.length.most = count(value),
            "minItems" => rules.items_count.least = count(value),
            "maxItems" => rules.items_count.most = count(value),
            "minContains" => rules.contains_count.least = count(value),
            "maxContains" => rules.contains_count.most = count(value),
            "minProperties" => rules.fields_count.least = count(value),
            "maxProperties" => rules.fields_count.most = count(value),
            "pattern" => rules.pattern = Some(self.pattern(value.as_str().unwrap_or_default(), place)?),
            "properties" => rules.properties = self.map(value, place, depth)?.into_iter().collect(),
            "patternProperties" => {
                for (text, at) in self.map(value, place, depth)? {
                    let pattern = below(place, &text, |place| self.pattern(&text, place))?;
                    rules.pattern_properties.push((pattern, at));
                }
            }
            "dependentSchemas" => rules.dependent = self.map(value, place, depth)?,
            "$defs" | "definitions" => drop(self.map(value, place, depth)?),
            "additionalProperties" => rules.additional = one(self, place)?,
            "propertyNames" => rules.names = one(self, place)?,
            "unevaluatedProperties" => rules.unevaluated_fields = one(self, place)?,
            "required" => rules.required = texts(value),
            "dependentRequired" => {
                let all = value.as_object().into_iter().flatten();
                rules.dependent_required = all.map(|(name, names)| (name.clone(), texts(names))).collect();
            }
            "prefixItems" => rules.prefix = self.list(value, place, depth)?,
            "items" => rules.items = one(self, place)?,
            "contains" => rules.contains = one(self, place)?,
            "unevaluatedItems" => rules.unevaluated_items = one(self, place)?,
            "uniqueItems" => rules.is_unique = value == &Value::Bool(true),
            "allOf" => rules.all_of = self.list(value, place, depth)?,
            "anyOf" => rules.any_of = self.list(value, place, depth)?,
            "oneOf" => rules.one_of = self.list(value, place, depth)?,
            "not" => rules.not = one(self, place)?,
            "if" => rules.condition = one(self, place)?,
            "then" => rules.then = one(self, place)?,
            "else" => rules.otherwise = one(self, place)?,
            _ => {}
        }
        Ok(())
    }

    fn map(&mut self, value: &Value, place: &mut String, depth: usize) -> Result<Vec<(String, usize)>, SchemaError> {
        let fields = value.as_object().into_iter().flatten();
        let mut one = |(name, value): (&String, &Value)| {
            let number = below(place, name, |place| self.subschema(value, place, depth))?;
            Ok((name.clone(), number))
        };
        fields.map(&mut one).collect()
    }

    fn list(&mut self, value: &Value, place: &mut String, depth: usize) -> Result<Vec<usize>, SchemaError> {
        let items = value.as_array().into_iter().flatten().enumerate();
        let mut one =
            |(at, value): (usize, &Value)| below(place, &at.to_string(), |place| self.subschema(value, place, depth));
        items.map(&mut one).collect()
    }

    fn pattern(&mut self, text: &str, place: &str) -> Result<TextPattern, SchemaError> {
        self.patterns += 1;
        if self.patterns > MOST_PATTERNS {
            return wrong(place, format!("it has more than {MOST_PATTERNS} patterns"), None);
        }
        let regex = RegexBuilder::new(text).size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE).build();
        match regex {
            Ok(regex) => Ok(TextPattern { text: text.to_owned(), regex }),
            Err(regex::Error::CompiledTooBig(_)) => {
                wrong(place, "the pattern is too large", Some("repeat less in it".to_owned()))
            }
            Err(e) => {
                let why = e.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                let hint = "patterns take linear time: there is no look-around and no back-reference".to_owned();
                wrong(place, format!("the pattern is not valid: {why}"), Some(hint))
            }
        }
    }

    /// Finds the subschemas that references name.
    fn resolve(&mut self, text: &Value) -> Result<(), SchemaError> {
        for (from, to) in &self.references {
            let own = if self.id.is_empty() { Some(&**to) } else { to.strip_prefix(&*self.id).or(Some(to)) };
            let Some(fragment) = own.and_then(|own| own.strip_prefix('#')) else {
                let hint = "nothing is fetched: put the subschema below '$defs', and write '#/$defs/NAME'".to_owned();
                return wrong("$ref", format!("'{}' leads out of the schema", clipped(to)), Some(hint));
            };
            let pointer = percent_decode_str(fragment).decode_utf8_lossy();
            let number = text.pointer(&pointer).and_then(|value| self.places.get(&address(value)));
            let Some(number) = number else {
                let names =
                    ["$defs", "definitions"].into_iter().filter_map(|defs| Some((defs, text.get(defs)?.as_object()?)));
                let mut near = names.filter_map(|(defs, names)| {
                    let name = pointer.strip_prefix('/')?.strip_prefix(defs)?.strip_prefix('/')?;
                    Some(format!("did you mean '#/{defs}/{}'?", near(name, names.keys().map(String::as_str))?))
                });
                return wrong("$ref", format!("'{}' leads to no subschema", clipped(to)), near.next());
            };
            self.rules[*from].reference = Some(*number);
        }
        Ok(())
    }
}

/// The address of a value, which identifies it while the schema is compiled.
fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// The form of a keyword's value; `None` if the keyword says nothing of a value.
fn form(keyword: &str, place: &str) -> Result<Option<Form>, SchemaError> {
    if let Some((_, form)) = KEYWORDS.iter().find(|(known, _)| *known == keyword) {
        return Ok(Some(*form));
    }
    if CONDITION.contains(&keyword) {
        return Ok(Some(Form::Rule));
    }
    if let Some((_, hint)) = REFUSED.iter().find(|(known, _)| *known == keyword) {
        return wrong(place, format!("'{keyword}' is not supported"), Some((*hint).to_owned()));
    }
    if ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-") {
        return Ok(None);
    }
    let known = KEYWORDS.iter().map(|(known, _)| *known).chain(CONDITION).chain(ANNOTATIONS);
    match near(keyword, known).filter(|_| keyword.len() > 3) {
        Some(near) => {
            wrong(place, format!("unknown keyword '{}'", clipped(keyword)), Some(format!("did you mean '{near}'?")))
        }
        None => Ok(None),
    }
}

fn check_form(form: Form, value: &Value, place: &str) -> Result<(), SchemaError> {
    let is_texts = |value: &Value| value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
    let (is_right, wanted) = match form {
        // Subschemas say themselves what is wrong with them.
        Form::Any | Form::Rule => (true, ""),
        Form::Bool => (value.is_boolean(), "true or false"),
        Form::Count => (count(value).is_some(), "a whole number from 0 on"),
        Form::Num => (value.is_number(), "a number"),
        Form::Text => (value.is_string(), "a string"),
        Form::Types => (value.is_string() || is_texts(value), "the name of a type, or a list of such names"),
        Form::Values => (value.is_array(), "a list of values"),
        Form::Names => (is_texts(value), "a list of strings"),
        Form::NamesOf => {
            (value.as_object().is_some_and(|all| all.values().all(is_texts)), "a mapping to lists of strings")
        }
        Form::List => (value.as_array().is_some_and(|all| !all.is_empty()), "a list of at least one schema"),
        Form::Map => (value.is_object(), "a mapping to schemas"),
    };
    if is_right { Ok(()) } else { wrong(place, format!("expected {wanted}, found {}", shape(value)), None) }
}

fn types(value: &Value, place: &str) -> Result<TypeSet, SchemaError> {
    let mut all = TypeSet::default();
    for name in value.as_str().into_iter().chain(value.as_array().into_iter().flatten().filter_map(Value::as_str)) {
        let Some(one) = TypeSet::named(name) else {
            let names = TYPES.map(|(name, _)| name);
            let hint = match near(name, names.into_iter()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("the types are: {}", names.join(", ")),
            };
            return wrong(place, format!("'{}' is not a type", clipped(name)), Some(hint));
        };
        all = all.or(one);
    }
    if all.is_any() { wrong(place, "expected at least one type", None) } else { Ok(all) }
}

fn choice(keyword: &str, value: &Value) -> ExpectedValues {
    let is_const = keyword == "const";
    let values = if is_const { std::slice::from_ref(value) } else { value.as_array().map_or(&[][..], Vec::as_slice) };
    let text = |value: &Value| {
        let mut out = String::new();
        canonical(&mut out, value);
        out
    };
    let word = |value: &Value| match value {
        Value::String(text) => clipped(text),
        other => clipped(&other.to_string()),
    };
    ExpectedValues { canonical: values.iter().map(text).collect(), words: values.iter().map(word).collect(), is_const }
}

fn num(value: &Value) -> Option<Number> {
    value.as_number().map(Number::of)
}

/// A count; one that no value has more of is the greatest.
fn count(value: &Value) -> Option<u64> {
    match num(value)? {
        Number::Int(n) if n >= 0 => Some(u64::try_from(n).unwrap_or(u64::MAX)),
        Number::Float(f) if f > 0.0 && f.fract() == 0.0 => Some(u64::MAX),
        _ => None,
    }
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// The end of a JSON pointer, short enough for a message.
fn clipped_end(place: &str) -> String {
    const MOST: usize = 200;
    let extra = place.chars().count().saturating_sub(MOST);
    let end: String = place.chars().skip(extra).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if extra > 0 { format!("...{end}") } else { end }
}

#[cfg(test)]
mod tests {
    use super::Schema;

    #[track_caller]
    fn refused(text: &str, words: &[&str]) {
        let error = Schema::compile(serde_json::from_str(text).unwrap()).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{text}: '{word}' is not in: {error}");
        }
    }

    #[test]
    fn what_is_not_a_schema_is_refused_with_its_place() {
        for (text, words) in [
            ("3", &["at the top", "found a number"][..]),
            (r#"{"type": "objct"}"#, &["(/type)", "'objct' is not a type", "'object'"]),
            (r#"{"properties": {"a/b": {"type": 3}}}"#, &["/properties/a~1b/type", "the name of a type"]),
            (r#"{"propertes": {}}"#, &["unknown keyword", "'properties'"]),
            (r#"{"required": "a"}"#, &["/required", "a list of strings"]),
            (r#"{"minLength": -1}"#, &["whole number"]),
            (r#"{"multipleOf": 0}"#, &["above 0"]),
            (r#"{"allOf": []}"#, &["at least one schema"]),
            (r#"{"pattern": "(?=a)b"}"#, &["/pattern", "look-around"]),
            (r#"{"pattern": "(a{99}){99}{99}{99}"}"#, &["too large"]),
            (r#"{"$schema": "http://json-schema.org/draft-07/schema#"}"#, &["another draft"]),
            (r##"{"$dynamicRef": "#x"}"##, &["'$dynamicRef' is not supported", "'$ref'"]),
            (r##"{"$ref": "#/$defs/prt", "$defs": {"port": {}}}"##, &["no subschema", "'#/$defs/port'"]),
            (r#"{"$ref": "https://h.io/s.json"}"#, &["leads out of the schema", "nothing is fetched"]),
            (r##"{"$ref": "#"}"##, &["leads back to itself"]),
            (
                r##"{"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}"##,
                &["leads back"],
            ),
        ] {
            refused(text, words);
        }
    }

    #[test]
    fn annotations_and_recursion_through_a_field_are_fine() {
        for text in [
            r#"{"x-own": 1, "format": "email", "title": "t", "ui": {}, "examples": [1]}"#,
            r##"{"properties": {"next": {"$ref": "#"}}}"##,
            r##"{"$id": "https://h.io/s", "$ref": "https://h.io/s#/$defs/a%20b", "$defs": {"a b": true}}"##,
        ] {
            assert!(Schema::compile(serde_json::from_str(text).unwrap()).is_ok(), "{text}");
        }
    }
}
