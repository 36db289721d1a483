//! A description in other forms: `plugin.yaml`, a page of documentation, a JSON Schema for editors.

use super::describe::{Component, Description, Protocol, Role};
use super::manifest::{BUNDLE, Manifest, PLUGIN};
use crate::diag::{Code, Error, Result};
use crate::stage::format::Format;
use rustomize_yaml::{Heap, emit, json};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Deepest field of a table.
const MOST_DEPTH: usize = 6;

/// Most fields of a table.
const MOST_FIELDS: usize = 500;

/// The fields that a manifest has in addition to those of a description.
pub struct ManifestFields<'h> {
    /// The plugin's name; empty for none.
    pub name: &'h str,
    /// The name of the runtime.
    pub runtime: &'h str,
    /// The file that is run.
    pub entry: &'h str,
}

/// The text of a `plugin.yaml` for a bundle: what is in the bundle, its files say.
///
/// # Errors
/// A text cannot be written as YAML.
pub fn bundle_manifest(manifest: &Manifest) -> Result<String> {
    let description = &manifest.description;
    let mut fields: Vec<(&str, Value)> = vec![
        ("apiVersion", crate::id::head::API_VERSION.into()),
        ("kind", BUNDLE.into()),
        ("name", manifest.name.clone().into()),
        ("version", description.version.clone().into()),
        ("api", description.api_version.clone().into()),
    ];
    if !description.permissions.is_empty() {
        fields.push(("permissions", value_of(&description.permissions)?));
    }
    let mut needs = Map::new();
    for need in &manifest.dependencies {
        let mut fields = Map::from_iter([("source".to_owned(), need.source.to_string().into())]);
        if !need.constraint.is_any() {
            fields.insert("version".to_owned(), need.constraint.to_string().into());
        }
        if !need.from.is_empty() {
            fields.insert("from".to_owned(), need.from.clone().into());
        }
        needs.insert(need.name.clone(), fields.into());
    }
    if !needs.is_empty() {
        fields.push(("dependencies", needs.into()));
    }
    fields.into_iter().map(|(field, value)| yaml(&json!({ field: value }))).collect()
}

/// The text of a `plugin.yaml` that says the same as a description.
///
/// # Errors
/// A text of the description cannot be written as YAML.
pub fn manifest(head: &ManifestFields<'_>, description: &Description) -> Result<String> {
    let mut fields: Vec<(&str, Value)> = vec![
        ("apiVersion", crate::id::head::API_VERSION.into()),
        ("kind", PLUGIN.into()),
        ("name", head.name.into()),
        ("version", description.version.trim_start_matches('v').into()),
        ("api", description.api_version.clone().into()),
        ("runtime", head.runtime.into()),
        ("entry", head.entry.into()),
    ];
    if description.protocol == Protocol::Krm {
        fields.push(("protocol", "krm".into()));
    }
    if description.format == Format::Json {
        fields.push(("format", "json".into()));
    }
    if description.worker {
        fields.push(("worker", true.into()));
    }
    if !description.permissions.is_empty() {
        fields.push(("permissions", value_of(&description.permissions)?));
    }
    for (role, field) in
        [(Role::Generator, "generators"), (Role::Transformer, "transformers"), (Role::Validator, "validators")]
    {
        let all = description.components().filter(|(own, _)| *own == role);
        let all: Vec<Value> = all.map(|(_, component)| written(component)).collect::<Result<_>>()?;
        if !all.is_empty() {
            fields.push((field, all.into()));
        }
    }
    let mut out = String::new();
    for (field, value) in fields.into_iter().filter(|(_, value)| value != &Value::from("")) {
        out.push_str(&yaml(&json!({ field: value }))?);
    }
    Ok(out)
}

/// A component as a manifest has it: no field that is empty.
fn written(component: &Component) -> Result<Value> {
    let mut value = value_of(component)?;
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, value| value != &Value::from(""));
    }
    Ok(value)
}

fn value_of(value: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| Error::new(Code::NotYaml, e.to_string()))
}

fn yaml(value: &Value) -> Result<String> {
    let fault = |e: String| Error::new(Code::NotYaml, format!("what the plugin says has no form in YAML: {e}"));
    let heap = Heap::new();
    let node = json::parse(heap.arena(), &value.to_string()).map_err(|e| fault(e.to_string()))?;
    let mut out = String::new();
    emit::document(&mut out, &node).map_err(|e| fault(e.message))?;
    Ok(out)
}

/// The schema of the objects of one kind, for editors: the schema of the component, and the fields
/// of every object. `kind` chooses among several kinds.
///
/// # Errors
/// The plugin lacks a schema, or has several and `kind` names none of them.
pub fn schema(description: &Description, kind: Option<&str>) -> Result<Value> {
    let all: Vec<&Component> = description.components().map(|(_, c)| c).filter(|c| c.schema.is_some()).collect();
    let name =
        |component: &Component| if component.kind.is_empty() { component.name.clone() } else { component.kind.clone() };
    let names: BTreeSet<String> = all.iter().map(|component| name(component)).collect();
    let mut of_kind = all.iter().filter(|component| kind.is_none_or(|kind| kind == name(component)));
    let Some(component) = of_kind.next() else {
        return Err(match kind {
            Some(kind) if !names.is_empty() => {
                let names: Vec<String> = names.into_iter().collect();
                let message = format!("the plugin has no schema for '{kind}'");
                Error::new(Code::Usage, message).hint(format!("it has one for: {}", names.join(", ")))
            }
            _ => Error::new(Code::BadPlugin, "the plugin has no schema of its configuration")
                .hint("its author can write one in plugin.yaml, as 'schema' of a generator or transformer"),
        });
    };
    if kind.is_none() && names.len() > 1 {
        let names: Vec<String> = names.into_iter().collect();
        let error = Error::new(Code::Usage, "the plugin has schemas of several kinds");
        return Err(error.hint(format!("choose one: --kind {}", names.join(", --kind "))));
    }
    let mut whole = match component.schema.as_ref().map(|schema| schema.text().clone()) {
        Some(Value::Object(fields)) => fields,
        // `true` or `false`.
        _ => Map::new(),
    };
    whole.entry("$schema").or_insert_with(|| "https://json-schema.org/draft/2020-12/schema".into());
    if !component.kind.is_empty() {
        whole.entry("title").or_insert_with(|| component.kind.clone().into());
    }
    if let Value::Object(fields) = whole.entry("properties").or_insert_with(|| json!({})) {
        if !component.kind.is_empty() {
            fields.entry("apiVersion").or_insert_with(|| json!({ "const": component.api_version }));
            fields.entry("kind").or_insert_with(|| json!({ "const": component.kind }));
        }
        for field in ["apiVersion", "kind"] {
            fields.entry(field).or_insert_with(|| json!({ "type": "string" }));
        }
        fields.entry("metadata").or_insert_with(|| json!({ "type": "object" }));
    }
    Ok(whole.into())
}

/// A page of documentation in Markdown.
///
/// # Errors
/// A text of the description cannot be written as YAML.
pub fn page(name: &str, description: &Description) -> Result<String> {
    let mut out = format!("# {}\n", inline(if name.is_empty() { "Plugin" } else { name }));
    if !description.version.is_empty() {
        out.push_str(&format!("\nVersion {}.\n", inline(&description.version)));
    }
    // One section for a kind, whatever roles it has.
    let mut kinds: Vec<(String, &Component)> = Vec::new();
    for (role, component) in description.components() {
        match kinds.iter_mut().find(|(_, known)| *known == component) {
            Some((roles, _)) => roles.push_str(&format!(", {role}")),
            None => kinds.push((role.to_string(), component)),
        }
    }
    for (roles, component) in kinds {
        let title = if component.kind.is_empty() { &component.name } else { &component.kind };
        out.push_str(&format!("\n## {}\n", inline(title)));
        if !component.summary.is_empty() {
            out.push_str(&format!("\n{}\n", inline(&component.summary)));
        }
        let rows = [
            ("role", roles),
            ("apiVersion", component.api_version.clone()),
            ("kind", component.kind.clone()),
            ("name", component.name.clone()),
        ];
        out.push_str("\n| | |\n|---|---|\n");
        for (label, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
            out.push_str(&format!("| {label} | `{}` |\n", code(text)));
        }
        let schema = component.schema.as_ref().map(|schema| schema.text());
        if let Some(schema) = schema {
            let mut table = FieldTable { root: schema, rows: Vec::new() };
            table.fields(schema, "", 0);
            if !table.rows.is_empty() {
                out.push_str("\n| field | type | required | default | |\n|---|---|---|---|---|\n");
                table.rows.iter().for_each(|row| out.push_str(row));
            }
        }
        if !component.kind.is_empty() {
            out.push_str(&format!("\n```yaml\n{}```\n", example(component, schema)?));
        }
    }
    out.push_str("\n## Permissions\n\n");
    let permissions = &description.permissions;
    if permissions.is_empty() {
        out.push_str("It asks for none.\n");
    }
    if permissions.network {
        out.push_str("- the network\n");
    }
    let lists = [
        ("reads", &permissions.read),
        ("writes", &permissions.write),
        ("connects to", &permissions.sockets),
        ("gets the variable", &permissions.env),
    ];
    for (verb, all) in lists {
        all.iter().for_each(|text| out.push_str(&format!("- {verb} `{}`\n", code(text))));
    }
    Ok(out)
}

/// A text in a line or a cell of Markdown.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '`' | '*' | '_' | '\\' | '[' | ']' | '#' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text between backticks, in a cell.
fn code(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '`' || c == '|' { ' ' } else { c }).collect()
}

/// The rows of a table of fields.
struct FieldTable<'s> {
    root: &'s Value,
    rows: Vec<String>,
}

impl<'s> FieldTable<'s> {
    /// The schema that the references of a schema lead to.
    fn resolved(&self, mut schema: &'s Value) -> &'s Value {
        // A reference leads to a schema; circles were refused when it was compiled.
        for _ in 0..MOST_FIELDS {
            let Some(to) = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.split_once('#')) else { break };
            let pointer = percent_encoding::percent_decode_str(to.1).decode_utf8_lossy();
            match self.root.pointer(&pointer) {
                Some(found) => schema = found,
                None => break,
            }
        }
        schema
    }

    /// Adds the fields that a schema names, each behind the path `above`.
    fn fields(&mut self, schema: &'s Value, above: &str, depth: usize) {
        if depth > MOST_DEPTH {
            return;
        }
        let schema = self.resolved(schema);
        let is_required = |name: &str| {
            let all = schema.get("required").and_then(Value::as_array);
            all.is_some_and(|all| all.iter().any(|required| required == name))
        };
        for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if self.rows.len() == MOST_FIELDS {
                return;
            }
            let path = format!("{above}{name}");
            let own = self.resolved(field);
            let text = |key: &str| field.get(key).or_else(|| own.get(key));
            let default = text("default").map_or(String::new(), |value| format!("`{}`", code(&value.to_string())));
            let about = text("description").or_else(|| text("title")).and_then(Value::as_str).unwrap_or_default();
            let required = if is_required(name) { "yes" } else { "" };
            let kind = self.kind(own, 0);
            self.rows.push(format!("| `{}` | {kind} | {required} | {default} | {} |\n", code(&path), inline(about)));
            self.fields(own, &format!("{path}."), depth + 1);
            if let Some(items) = own.get("items") {
                self.fields(items, &format!("{path}[]."), depth + 1);
            }
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                self.fields(part, above, depth + 1);
            }
        }
    }

    /// The type of a value in words.
    fn kind(&self, schema: &'s Value, depth: usize) -> String {
        let schema = self.resolved(schema);
        let words = |values: &[Value]| {
            let shown = values.iter().take(12).map(|value| match value {
                Value::String(text) => format!("`{}`", code(text)),
                other => format!("`{}`", code(&other.to_string())),
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        if let Some(all) = schema.get("enum").and_then(Value::as_array) {
            return words(all);
        }
        if let Some(one) = schema.get("const") {
            return words(std::slice::from_ref(one));
        }
        let below = |key: &str| schema.get(key).filter(|_| depth < MOST_DEPTH).map(|inner| self.kind(inner, depth + 1));
        let of = |name: &str| match name {
            "array" => below("items")
                .filter(|inner| !inner.is_empty())
                .map_or("list".to_owned(), |inner| format!("list of {inner}")),
            "object" => match schema.get("additionalProperties").filter(|inner| inner.is_object()) {
                Some(_) => format!("mapping to {}", below("additionalProperties").unwrap_or_default()),
                None => "mapping".to_owned(),
            },
            other => inline(other),
        };
        match schema.get("type") {
            Some(Value::String(name)) => of(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(of).collect::<Vec<_>>().join(" or ")
            }
            _ => {
                let parts = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
                let parts = parts.into_iter().flatten().filter(|_| depth < MOST_DEPTH);
                let parts: Vec<String> =
                    parts.take(12).map(|part| self.kind(part, depth + 1)).filter(|kind| !kind.is_empty()).collect();
                parts.join(" or ")
            }
        }
    }

    /// A value that a field may have.
    fn value(&self, schema: &'s Value, depth: usize) -> Value {
        let own = self.resolved(schema);
        let known = |key: &str| schema.get(key).or_else(|| own.get(key));
        let first = |key: &str| known(key).and_then(Value::as_array).and_then(|all| all.first()).cloned();
        if let Some(value) = first("examples").or_else(|| known("const").cloned()).or_else(|| known("default").cloned())
        {
            return value;
        }
        if let Some(value) = first("enum") {
            return value;
        }
        let kind = match own.get("type") {
            Some(Value::Array(names)) => names.first().and_then(Value::as_str),
            kind => kind.and_then(Value::as_str),
        };
        match kind {
            Some("boolean") => true.into(),
            Some("integer" | "number") => own.get("minimum").cloned().unwrap_or_else(|| 1.into()),
            Some("string") => "text".into(),
            Some("array") => json!([]),
            Some("null") => Value::Null,
            _ => self.required(own, depth),
        }
    }

    /// The fields that a schema requires, with values that they may have.
    fn required(&self, schema: &'s Value, depth: usize) -> Value {
        let mut fields = Map::new();
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in names.filter(|_| depth < MOST_DEPTH).take(MOST_FIELDS) {
            let field = schema.get("properties").and_then(|all| all.get(name));
            fields.insert(name.to_owned(), field.map_or_else(|| "text".into(), |field| self.value(field, depth + 1)));
        }
        fields.into()
    }
}

/// A configuration object to begin with: the first example of the schema, or what it requires.
fn example(component: &Component, schema: Option<&Value>) -> Result<String> {
    let mut out = yaml(&json!({ "apiVersion": component.api_version }))?;
    out.push_str(&yaml(&json!({ "kind": component.kind }))?);
    let mut fields = match schema {
        Some(schema) => {
            let table = FieldTable { root: schema, rows: Vec::new() };
            let own = table.resolved(schema);
            let examples = own.get("examples").and_then(Value::as_array);
            let first = examples.and_then(|all| all.first()).filter(|first| first.is_object());
            first.cloned().unwrap_or_else(|| table.required(own, 0))
        }
        None => json!({}),
    };
    if let Value::Object(fields) = &mut fields {
        fields.remove("apiVersion");
        fields.remove("kind");
        let metadata = fields.remove("metadata").unwrap_or_else(|| json!({ "name": "example" }));
        out.push_str(&yaml(&json!({ "metadata": metadata }))?);
        for (name, value) in fields {
            out.push_str(&yaml(&json!({ name.as_str(): value }))?);
        }
    }
    Ok(out)
}
