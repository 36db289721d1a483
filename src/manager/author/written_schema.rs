//! Reads the schema that a manifest has for a kind: in place, or in a file of its directory.

use super::schema::{SCHEMA_LIMIT, Schema};
use crate::config::read_alone;
use crate::diag::{Code, Error, Result};
use crate::load::FileLimit;
use rustomize_base::json_pointer::unescaped;
use rustomize_files::name_fault;
use rustomize_sources::ReadFile;
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::{Node, Pos, Value};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// Most values in a schema.
const MOST_VALUES: usize = 200_000;

/// Deepest nesting of the values in a schema: that of JSON, as it is read here.
const MOST_DEPTH: usize = 128;

/// Returns whether a path in a manifest leads out of the plugin's directory, on any system, or is
/// not that of a file there.
pub(super) fn leaves(path: &str) -> bool {
    let is_separator = |c| matches!(c, '/' | '\\');
    path.starts_with(is_separator)
        || path.split(is_separator).any(|part| part == "..")
        // A drive, or a stream of a file.
        || path.contains(':')
        || name_fault(OsStr::new(path)).is_some()
}

/// Reads a schema: a mapping, or the path of a file below `directory`. `None` without a schema.
///
/// # Errors
/// The schema is not valid, or its file cannot be read or is not the plugin's own.
pub(super) fn read(node: &Node<'_>, directory: &Path) -> Result<Option<Schema>> {
    match node.value() {
        _ if node.is_null() => Ok(None),
        Value::Scalar(scalar) if scalar.kind() == Kind::Str => {
            of_file(scalar.text(), directory).map(Some).map_err(|e| e.at(node.pos()))
        }
        _ => of_node(node).map(Some),
    }
}

/// Reads a file in JSON or YAML below a plugin's directory.
fn of_file(path: &str, directory: &Path) -> Result<Schema> {
    let fault = |why: &str| Error::new(Code::BadSchema, format!("the schema '{path}' {why}"));
    if path.is_empty() || leaves(path) {
        return Err(fault("is not in the plugin's directory").hint("write a path as in schema.json"));
    }
    let cannot = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => fault("does not exist").hint("add the file, or correct its path in 'schema'"),
        _ => fault(&format!("cannot be read: {e}")),
    };
    let real = dunce::canonicalize(directory.join(path)).map_err(cannot)?;
    if !real.starts_with(dunce::canonicalize(directory).map_err(cannot)?) {
        return Err(fault("is a link that leads out of the plugin's directory"));
    }
    // A pipe would be read without end.
    if !real.is_file() {
        return Err(fault("is not a file"));
    }
    let text = FileLimit(SCHEMA_LIMIT).read_to_string(&real).map_err(|e| match e.kind() {
        io::ErrorKind::FileTooLarge => {
            let hint = "a schema says which fields there are: it does not list all their values";
            fault(&format!("has more than {SCHEMA_LIMIT} bytes")).hint(hint)
        }
        _ => cannot(e),
    })?;
    if path.ends_with(".json") {
        let value = serde_json::from_str(&text).map_err(|e| fault(&format!("is not valid JSON: {e}")))?;
        return Schema::compile(value).map_err(|e| fault(&format!("is refused: {e}")));
    }
    read_alone(directory.join(path).display().to_string(), text, |_, node| match node {
        Some(node) => of_node(node),
        None => Err(fault("is empty")),
    })
}

fn of_node(node: &Node<'_>) -> Result<Schema> {
    let mut left = MOST_VALUES;
    let value = json_of(node, 0, &mut left)?;
    Schema::compile(value).map_err(|e| Error::new(Code::BadSchema, e.to_string()).at(place_of(node, &e.place)))
}

/// The place that a JSON pointer leads to, as far as the way exists.
fn place_of(node: &Node<'_>, pointer: &str) -> Pos {
    let mut at = node;
    for name in pointer.split('/').skip(1) {
        let item = at.as_sequence().and_then(|items| items.get(name.parse::<usize>().ok()?));
        let field = at.as_mapping().and_then(|mapping| mapping.get(&unescaped(name)));
        let Some(found) = item.or(field) else { break };
        at = found;
    }
    at.pos()
}

/// A tree of YAML as JSON.
fn json_of(node: &Node<'_>, depth: usize, left: &mut usize) -> Result<serde_json::Value> {
    let wrong = |message: String| Err(Error::new(Code::BadSchema, message).at(node.pos()));
    if depth > MOST_DEPTH {
        return wrong(format!("the schema is nested more than {MOST_DEPTH} levels deep"));
    }
    let Some(fewer) = left.checked_sub(1) else {
        return wrong(format!("the schema has more than {MOST_VALUES} values"));
    };
    *left = fewer;
    Ok(match node.value() {
        Value::Scalar(scalar) => match scalar.kind() {
            Kind::Null => serde_json::Value::Null,
            Kind::Bool => scalar::truth(scalar.text()).into(),
            Kind::Int | Kind::Float => match (scalar::int(scalar.text()), scalar::float(scalar.text())) {
                (Some(scalar::Int::Signed(n)), _) => n.into(),
                (Some(scalar::Int::Unsigned(n)), _) => n.into(),
                (None, Some(f)) if f.is_finite() => f.into(),
                _ => return wrong("the schema has a number that JSON has no text for".to_owned()),
            },
            _ => scalar.text().into(),
        },
        Value::Sequence(items) => {
            let items: Result<Vec<_>> = items.iter().map(|item| json_of(item, depth + 1, left)).collect();
            items?.into()
        }
        Value::Mapping(mapping) => {
            let mut object = serde_json::Map::new();
            for entry in mapping.iter() {
                object.insert(entry.key().text().to_owned(), json_of(entry.value(), depth + 1, left)?);
            }
            object.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::leaves;

    #[test]
    fn a_path_of_any_system_may_leave_the_directory() {
        for path in [
            "/a",
            "../a",
            "a/../../b",
            r"\a",
            r"..\a",
            r"a\..\..\b",
            "Z:/a",
            "Z:a",
            r"\\server\share\a",
            "a.js:b",
            "a\nb",
        ] {
            assert!(leaves(path), "{path}");
        }
        for path in ["main.py", "./src/main.ts", "cmd/plugin", "example.com/x/y", ".", "a..b"] {
            assert!(!leaves(path), "{path}");
        }
    }
}
