//! A client of a plugin in Python, with the types that the plugin's schemas say: a dataclass for
//! each kind, a method for each role.

use super::describe::{Component, Description, Protocol, Role};
use rustomize_base::json_pointer::unescaped;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The beginning of every client.
const HEAD: &str = include_str!("plugin/sdk/python/client.py");

/// Words of Python, and names that a client uses itself: none of them is a field's name.
const TAKEN: [&str; 42] = [
    "API_VERSION",
    "False",
    "KIND",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "fields_",
    "finally",
    "for",
    "from",
    "generate",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "self",
    "transform",
    "try",
    "validate",
    "while",
    "with",
    "yield",
];

/// Deepest nesting of types; a value below that may be anything.
const MOST_DEPTH: usize = 16;

/// The Python client of a plugin; `name` is the plugin's name for readers. A component without a
/// kind gets no class. O(size of the schemas).
pub fn python(name: &str, description: &Description) -> String {
    let shown: String = name.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
    let protocol = if description.protocol == Protocol::Krm { "krm" } else { "exec" };
    let format = serde_json::to_value(description.format).unwrap_or_default();
    let head = HEAD.replace("@PROTOCOL@", protocol).replace("@FORMAT@", format.as_str().unwrap_or("yaml"));
    let mut client = ClientText { text: head.replace("@NAME@", &shown), known: BTreeSet::new() };
    for name in ["Failed", "dataclasses", "json", "os", "subprocess", "tempfile", "typing"] {
        client.known.insert(name.to_owned());
    }
    let mut kinds: Vec<(&Component, Vec<Role>)> = Vec::new();
    for (role, component) in description.components().filter(|(_, component)| !component.kind.is_empty()) {
        let same = |of: &Component| (&of.api_version, &of.kind) == (&component.api_version, &component.kind);
        match kinds.iter_mut().find(|(of, _)| same(of)) {
            Some((_, roles)) => roles.push(role),
            None => kinds.push((component, vec![role])),
        }
    }
    // Kinds have their own names, so types inside of them give way.
    let names: Vec<String> = kinds.iter().map(|(component, _)| client.class_name(&component.kind)).collect();
    for ((component, roles), name) in kinds.iter().zip(names) {
        client.kind(&name, component, roles);
    }
    client.text
}

/// The text of a client, as far as it is written.
struct ClientText {
    text: String,
    /// The names of the client's classes, and other names that a class must not have.
    known: BTreeSet<String>,
}

/// A field of a class.
struct Field {
    name: String,
    /// Its name in the object, if that is not a name of Python.
    written: Option<String>,
    hint: String,
    is_required: bool,
    doc: Option<String>,
}

impl ClientText {
    /// A name for a class that no other class has.
    fn class_name(&mut self, wanted: &str) -> String {
        let capital = capital(wanted);
        let mut name = capital.clone();
        let mut number = 2;
        while TAKEN.contains(&name.as_str()) || !self.known.insert(name.clone()) {
            name = format!("{capital}{number}");
            number += 1;
        }
        name
    }

    /// Writes the class of a kind.
    fn kind(&mut self, name: &str, component: &Component, roles: &[Role]) {
        let schema = component.schema.as_ref().and_then(|schema| schema.text().as_object());
        let fields = schema.map(|schema| {
            let mut inner = ClassTypes { whole: schema, client: self, known: BTreeMap::new() };
            inner.fields(schema, name, &["apiVersion", "kind", "metadata"], 0)
        });
        let mut class = format!("\n\n@dataclasses.dataclass\nclass {name}:\n");
        doc(&mut class, &component.summary);
        let [api_version, kind] = [&component.api_version, &component.kind].map(|text| literal(text));
        let _ = writeln!(class, "    API_VERSION, KIND = {api_version}, {kind}\n");
        match fields {
            Some(fields) => write_fields(&mut class, &fields),
            None => class.push_str(
                "    fields_: typing.Dict[str, typing.Any] = dataclasses.field(default_factory=dict)  # all fields\n",
            ),
        }
        for role in roles {
            let (method, given, resources, returns) = match role {
                Role::Generator => ("generate", "", "[]", "typing.List[dict]"),
                Role::Transformer => ("transform", "resources: typing.List[dict], ", "resources", "typing.List[dict]"),
                Role::Validator => ("validate", "resources: typing.List[dict], ", "resources", "None"),
            };
            let result = if *role == Role::Validator { "" } else { "return " };
            let _ = write!(
                class,
                "\n    def {method}(self, {given}name: str = \"call\") -> {returns}:\n        \
                 {result}_call(self, \"{role}\", {resources}, name)\n"
            );
        }
        self.text.push_str(&class);
    }
}

/// The types of a schema.
struct ClassTypes<'c> {
    whole: &'c Map<String, Value>,
    client: &'c mut ClientText,
    /// The types of the targets of references. A type that contains itself would never end: its
    /// inner values may be anything.
    known: BTreeMap<String, String>,
}

impl ClassTypes<'_> {
    /// The fields of an object but for `without`, those that it must have first.
    fn fields(&mut self, schema: &Map<String, Value>, class: &str, without: &[&str], depth: usize) -> Vec<Field> {
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut taken = BTreeSet::new();
        let mut fields: Vec<Field> = Vec::new();
        for (written, of) in properties.into_iter().flatten().filter(|(name, _)| !without.contains(&name.as_str())) {
            let mut name = identifier(written);
            while TAKEN.contains(&name.as_str()) || !taken.insert(name.clone()) {
                name.push('_');
            }
            let is_required = required.contains(&written.as_str());
            let hint = self.hint(of, &format!("{class} {written}"), depth + 1);
            let hint = if is_required { hint } else { format!("typing.Optional[{hint}]") };
            let doc = of.get("description").and_then(Value::as_str).map(str::to_owned);
            let written = (name != *written).then(|| written.clone());
            fields.push(Field { name, written, hint, is_required, doc });
        }
        fields.sort_by_key(|field| !field.is_required);
        fields
    }

    /// The type of a value; a class that it needs is called by `path`.
    fn hint(&mut self, schema: &Value, path: &str, depth: usize) -> String {
        const ANY: &str = "typing.Any";
        let Some(schema) = schema.as_object().filter(|_| depth < MOST_DEPTH) else { return ANY.to_owned() };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            if let Some(hint) = self.known.get(reference) {
                return hint.clone();
            }
            self.known.insert(reference.to_owned(), ANY.to_owned());
            let whole = self.whole;
            let target = reference.strip_prefix("#/").and_then(|pointer| at(whole, pointer));
            let hint = target.map_or(ANY.to_owned(), |target| self.hint(target, path, depth + 1));
            self.known.insert(reference.to_owned(), hint.clone());
            return hint;
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let texts: Vec<String> = values.iter().filter_map(Value::as_str).map(literal).collect();
            let is_all = !texts.is_empty() && texts.len() == values.len();
            return if is_all { format!("typing.Literal[{}]", texts.join(", ")) } else { ANY.to_owned() };
        }
        let (name, is_optional) = match schema.get("type") {
            Some(Value::String(name)) => (name.as_str(), false),
            // One type, or null.
            Some(Value::Array(names)) => {
                let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                match (others.next(), others.next()) {
                    (Some(name), None) => (name, names.len() > 1),
                    _ => return ANY.to_owned(),
                }
            }
            _ => return ANY.to_owned(),
        };
        let hint = match name {
            "string" => "str".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "array" => match schema.get("items") {
                Some(items) => format!("typing.List[{}]", self.hint(items, &format!("{path} item"), depth + 1)),
                None => "list".to_owned(),
            },
            "object" if schema.contains_key("properties") => self.class(schema, path, depth),
            "object" => match schema.get("additionalProperties").filter(|values| values.is_object()) {
                Some(values) => {
                    let values = self.hint(values, &format!("{path} value"), depth + 1);
                    format!("typing.Dict[str, {values}]")
                }
                None => "dict".to_owned(),
            },
            _ => return ANY.to_owned(),
        };
        if is_optional { format!("typing.Optional[{hint}]") } else { hint }
    }

    /// Writes the class of an object inside of a kind, and gives its name.
    fn class(&mut self, schema: &Map<String, Value>, path: &str, depth: usize) -> String {
        let words: String = path.split(' ').map(capital).collect();
        let name = self.client.class_name(&words);
        let fields = self.fields(schema, path, &[], depth);
        let mut class = format!("\n\n@dataclasses.dataclass\nclass {name}:\n");
        doc(&mut class, schema.get("description").and_then(Value::as_str).unwrap_or_default());
        write_fields(&mut class, &fields);
        self.client.text.push_str(&class);
        name
    }
}

/// The value that a pointer leads to.
fn at<'s>(schema: &'s Map<String, Value>, pointer: &str) -> Option<&'s Value> {
    let mut steps = pointer.split('/').map(unescaped);
    let first = schema.get(&*steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(&*step))
}

fn write_fields(class: &mut String, fields: &[Field]) {
    if fields.is_empty() {
        class.push_str("    pass\n");
    }
    for Field { name, written, hint, is_required, doc } in fields {
        for line in doc.iter().flat_map(|doc| doc.lines()).map(str::trim).filter(|line| !line.is_empty()) {
            let _ = writeln!(class, "    # {}", line.replace(char::is_control, " "));
        }
        let default = if *is_required { "" } else { "default=None" };
        let value = match (written, is_required) {
            (None, true) => String::new(),
            (None, false) => " = None".to_owned(),
            (Some(written), _) => {
                let comma = if default.is_empty() { "" } else { ", " };
                format!(" = dataclasses.field({default}{comma}metadata={{\"name\": {}}})", literal(written))
            }
        };
        let _ = writeln!(class, "    {name}: {hint}{value}");
    }
}

/// Writes the documentation of a class.
fn doc(class: &mut String, text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    if !words.is_empty() {
        let _ = writeln!(class, "    {}\n", literal(&words.join(" ")));
    }
}

/// A text as a literal of Python. JSON's escapes mean the same there.
fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

/// A name of Python that is like a text, with a capital.
fn capital(text: &str) -> String {
    let word = identifier(text);
    word[..1].to_uppercase() + &word[1..]
}

/// A name of Python that is like a text.
fn identifier(text: &str) -> String {
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    // A leading underscore is for what is not for users.
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "a_");
    }
    name
}
