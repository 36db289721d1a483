//! The fields of a kustomization file as kustomize writes them: under their own names, without
//! empty fields, with texts as texts.

use crate::config::{Decode, Decoder, Described, Field, Kustomization, Record, Shape, StringMap};
use crate::diag::Result;
use rustomize_yaml::{Arena, Entry, Key, Mapping, Node, Pos, Scalar, Sequence, Value, json};

/// Fields that are written even if they are empty, each with its record.
const ALWAYS: [(&str, &str); 8] = [
    ("LegacySortOptions", "orderFirst"),
    ("LegacySortOptions", "orderLast"),
    ("ObjectReference", "name"),
    ("Replica", "count"),
    ("TargetSelector", "select"),
    ("Var", "fieldref"),
    ("Var", "name"),
    ("Var", "objref"),
];

/// The fields of a document that [`Kustomization::as_written`] takes. O(size of the document).
///
/// # Errors
/// A value does not fit its field.
pub(super) fn fields<'a>(arena: Arena<'a>, document: Option<&Node<'a>>) -> Result<Mapping<'a>> {
    let Shape::Record(kustomization) = Kustomization::SHAPE else { return Ok(Mapping::new()) };
    document.map_or_else(|| Ok(Mapping::new()), |node| Writer { arena }.record(kustomization, node))
}

struct Writer<'a> {
    arena: Arena<'a>,
}

impl<'a> Writer<'a> {
    fn record(&self, record: &Record, node: &Node<'a>) -> Result<Mapping<'a>> {
        let mut written = Mapping::new();
        let mut entries: Vec<&Entry<'a>> = node.as_mapping().into_iter().flat_map(Mapping::iter).collect();
        // If a field has several spellings, the last one in the order of their bytes counts.
        entries.sort_by_key(|entry| entry.key().text());
        for entry in entries {
            let is_it = |field: &&Field| field.name.eq_ignore_ascii_case(entry.key().text());
            if let Some(field) = record.fields.iter().find(is_it)
                && !entry.value().is_null()
            {
                written.insert(Key::string(field.name), self.value(&field.shape, entry.value())?);
            }
        }
        let is_always = |name: &str| ALWAYS.contains(&(record.name, name));
        written.retain(|key, value| is_always(key.text()) || !is_empty(value) || is_pointer(record, key.text()));
        for field in record.fields.iter().filter(|field| is_always(field.name)) {
            if !written.contains(field.name) {
                written.insert(Key::string(field.name), self.nothing(record.name, field)?);
            }
        }
        Ok(written)
    }

    /// The value that is written for a field that the file lacks.
    fn nothing(&self, record: &str, field: &Field) -> Result<Node<'a>> {
        Ok(match &field.shape {
            Shape::Record(inner) if record == "Var" => self.record(inner, &Node::null())?.into(),
            Shape::Text => Node::string(""),
            Shape::Number => Scalar::plain("0").into(),
            _ => Node::null(),
        })
    }

    fn value(&self, shape: &Shape, node: &Node<'a>) -> Result<Node<'a>> {
        let cx = Decoder::strict(self.arena);
        let value: Value<'a> = match shape {
            Shape::Text => {
                let mut text = "";
                text.decode(node, &cx)?;
                Scalar::string(text).into()
            }
            Shape::Number => {
                let mut number = 0_i64;
                number.decode(node, &cx)?;
                Scalar::plain(self.arena.text(&number.to_string())).into()
            }
            Shape::Boolean => {
                let mut is_true = false;
                is_true.decode(node, &cx)?;
                Scalar::plain(if is_true { "true" } else { "false" }).into()
            }
            Shape::Anything => {
                let mut node = node.clone();
                json::from_yaml_1_1(self.arena, &mut node);
                unflowed(node).into_value()
            }
            Shape::Record(record) if !record.is_open => self.record(record, node)?.into(),
            Shape::Texts | Shape::Record(_) => {
                let mut texts = StringMap::default();
                texts.decode(node, &cx)?;
                let mut written = Mapping::new();
                for (key, text) in texts.iter() {
                    written.insert(Key::string(key), Node::string(text));
                }
                written.into()
            }
            Shape::List(shape) => {
                let items = node.as_sequence().into_iter().flat_map(|items| items.iter());
                items.map(|item| self.value(shape, item)).collect::<Result<Sequence<'a>>>()?.into()
            }
        };
        Ok(Node::new(value, node.pos()))
    }
}

/// Returns true if a field with an empty value is written.
fn is_pointer(record: &Record, name: &str) -> bool {
    let field = record.fields.iter().find(|field| field.name == name);
    name == "sourceValue" || field.is_some_and(|field| matches!(field.shape, Shape::Record(record) if !record.is_open))
}

fn is_empty(value: &Node<'_>) -> bool {
    match value.as_scalar() {
        Some(scalar) => matches!((scalar.text(), scalar.is_null()), ("" | "0" | "false", _) | (_, true)),
        None => value.is_null_or_empty(),
    }
}

/// A tree in block style, without brackets and braces.
fn unflowed(node: Node<'_>) -> Node<'_> {
    match node.into_value() {
        Value::Mapping(mapping) => {
            let entries = mapping.into_entries().into_iter();
            let mut plain = Mapping::new();
            for (key, value) in entries.map(Entry::into_parts) {
                plain.insert(key, unflowed(value));
            }
            plain.into()
        }
        Value::Sequence(items) => {
            let items: Sequence<'_> = items.into_items().into_iter().map(unflowed).collect();
            Node::new(items, Pos::NONE)
        }
        Value::Scalar(scalar) => Node::new(scalar, Pos::NONE),
    }
}
