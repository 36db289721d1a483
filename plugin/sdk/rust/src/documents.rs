//! YAML documents to objects and back.

use crate::Result;
use kube_core::DynamicObject;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;

/// The texts of documents, and the objects that were read from them.
pub struct Documents<'t> {
    read: Vec<(&'t str, DynamicObject)>,
}

impl<'t> Documents<'t> {
    /// Reads documents that are separated by lines `---`. Such a line never belongs to a text in a
    /// document, because lines of texts are indented.
    ///
    /// # Errors
    /// A document is not valid YAML, or not a resource.
    pub fn parse(text: &'t str) -> Result<Self> {
        let mut read = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (document, after) = match rest.strip_prefix("---\n") {
                Some(after) => ("", after),
                None => match rest.find("\n---\n") {
                    Some(end) => (&rest[..=end], &rest[end + 5..]),
                    None => (rest, ""),
                },
            };
            if !document.trim().is_empty() {
                read.push((document, parse(document)?));
            }
            rest = after;
        }
        Ok(Documents { read })
    }

    /// The objects, in order.
    pub fn objects(&mut self) -> Vec<DynamicObject> {
        self.read.iter().map(|(_, object)| object.clone()).collect()
    }

    /// Prints objects. An unchanged object is printed as the text that it was read from.
    pub fn print(&self, objects: &[DynamicObject]) -> String {
        let known: HashMap<Id<'_>, &(&str, DynamicObject)> = self.read.iter().map(|pair| (id(&pair.1), pair)).collect();
        join(objects.iter().map(|object| match known.get(&id(object)) {
            Some((text, before)) if before == object => (*text).to_owned(),
            _ => print_one(object),
        }))
    }
}

/// Group, version and kind, namespace, name.
type Id<'o> = (&'o str, &'o str, &'o str, &'o str);

fn id(object: &DynamicObject) -> Id<'_> {
    let types = object.types.as_ref();
    (
        types.map_or("", |types| types.api_version.as_str()),
        types.map_or("", |types| types.kind.as_str()),
        object.metadata.namespace.as_deref().unwrap_or_default(),
        object.metadata.name.as_deref().unwrap_or_default(),
    )
}

/// Reads one document by the rules of kustomize's own reader. Errors show no content: it may be
/// secret.
///
/// # Errors
/// The text is not valid YAML, or does not have the form of the type.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    let options = serde_saphyr::options! {
        budget: None,
        strict_booleans: true,
        legacy_octal_numbers: true,
        with_snippet: false,
    };
    Ok(serde_saphyr::from_str_with_options(text, options)?)
}

/// Prints objects as documents.
pub fn print(objects: &[DynamicObject]) -> String {
    join(objects.iter().map(print_one))
}

fn join(documents: impl Iterator<Item = String>) -> String {
    documents.collect::<Vec<_>>().join("---\n")
}

fn print_one(object: &DynamicObject) -> String {
    // A DynamicObject is always a JSON object.
    print_value(&serde_json::to_value(object).unwrap_or_default())
}

/// Prints a value as a document.
pub fn print_value(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out
}

/// Prints a value in block style, after a line's start or `- `.
fn write(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (i, (key, value)) in fields.iter().enumerate() {
                if i > 0 || out.ends_with('\n') {
                    out.extend(std::iter::repeat_n(' ', indent));
                }
                write_text(out, key);
                out.push(':');
                match value {
                    Value::Object(inner) if !inner.is_empty() => {
                        out.push('\n');
                        write(out, value, indent + 2);
                    }
                    Value::Array(items) if !items.is_empty() => {
                        out.push('\n');
                        write(out, value, indent);
                    }
                    _ => {
                        out.push(' ');
                        write(out, value, indent);
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                if i > 0 || out.ends_with('\n') {
                    out.extend(std::iter::repeat_n(' ', indent));
                }
                out.push_str("- ");
                write(out, item, indent + 2);
            }
        }
        Value::String(text) => {
            write_text(out, text);
            out.push('\n');
        }
        // YAML has the syntax of JSON for `{}`, `[]`, null, booleans and numbers.
        other => {
            out.push_str(&other.to_string());
            out.push('\n');
        }
    }
}

/// Appends a text as it is if every YAML reader reads it as that text. Otherwise appends a JSON
/// string, which is also a YAML string.
fn write_text(out: &mut String, text: &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let other_types = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    if starts_well && text.chars().all(is_word) && !other_types.contains(&text.to_ascii_lowercase().as_str()) {
        out.push_str(text);
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::{Documents, parse, print, write};
    use serde_json::{Value, json};

    #[test]
    fn what_is_printed_is_read_as_the_same() {
        let values = json!({
            "a": ["x", ["y", [], {}], {"k": [1, {"l": null}], "m": ""}],
            "yes": "no", "1": "1", "": " a", "b": "line\ntwo\n", "c": "1e3", "d": 1.5, "e": -3, "f": u64::MAX,
            "g": "2020-01-01", "h": "- x", "i": "a: b", "j": "# c", "k/l.m": "é\u{2028}", "n": true, "o": "=", "p": "0x1F", "y": "Y",
        });
        let mut text = String::new();
        write(&mut text, &values, 0);
        assert_eq!(parse::<Value>(&text).map_err(|e| e.to_string()), Ok(values), "{text}");
    }

    #[test]
    fn what_was_not_changed_passes_as_it_came() {
        let text = "# a comment\napiVersion: v1\nkind: A\nmetadata: {name: a, unknown: 1}\nx: 010\n---\napiVersion: v1\nkind: A\nmetadata: {name: b}\nt: |\n  ---\n  y\n";
        let mut documents = Documents::parse(text).unwrap();
        let mut objects = documents.objects();
        assert_eq!(documents.print(&objects), text);
        objects.reverse();
        assert!(documents.print(&objects).starts_with("apiVersion: v1\nkind: A\nmetadata: {name: b}\n"));
        objects[1].data["x"] = json!(8);
        assert!(documents.print(&objects).ends_with("x: 010\n"));
        objects[1].data["x"] = json!("010");
        let printed = documents.print(&objects);
        assert!(printed.ends_with("---\napiVersion: v1\nkind: A\nmetadata:\n  name: a\nx: \"010\"\n"), "{printed}");
        assert_eq!(print(&[]), "");
        assert_eq!(Documents::parse("---\n---\n").unwrap().objects().len(), 0);
    }

    #[test]
    fn errors_show_no_content() {
        let error = parse::<Value>("password: [hunter2\n").unwrap_err().to_string();
        assert!(!error.contains("hunter2") && error.contains("line"), "{error}");
    }
}
