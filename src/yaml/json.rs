//! JSON: a tree as JSON text, JSON text as a tree.

use super::scalar::{self, Int, Kind};
use super::tree::mapping::{Key, Mapping};
use super::tree::node::{Node, Pos, Scalar, Style, Tag, Value};
use super::{Arena, Entries, Entry, Items, Malformed, style};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Appends a tree as compact JSON with sorted keys, in the spelling of Go's encoder: `<`, `>`, `&`,
/// U+2028 and U+2029 escaped, numbers as 64-bit floats. This is the text that name hashes are made
/// from. O(size of the text).
pub fn write(out: &mut String, node: &Node<'_>) {
    let scalar = |out: &mut String, s: &Scalar<'_>| {
        write_scalar(out, s);
        true
    };
    write_with(out, node, None, &scalar);
}

/// Appends a tree as JSON with sorted keys, in one line, or with two blanks for each level from an
/// outer level on. `scalar` appends a scalar. If it returns `false`, the walk stops and returns
/// `false`. O(size of the text).
pub fn write_with(
    out: &mut String,
    node: &Node<'_>,
    level: Option<usize>,
    scalar: &impl Fn(&mut String, &Scalar<'_>) -> bool,
) -> bool {
    let (brackets, parts) = match &node.value {
        Value::Scalar(s) => return scalar(out, s),
        Value::Sequence(items) => (['[', ']'], items.iter().map(|item| (None, item)).collect()),
        Value::Mapping(m) => {
            let mut parts: Vec<_> = m.iter().map(|e| (Some(e.key.text), &e.value)).collect();
            parts.sort_by_key(|(key, _)| *key);
            (['{', '}'], parts)
        }
    };
    let new_line = |out: &mut String, level: Option<usize>| {
        if let Some(level) = level {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", level));
        }
    };
    let (inner, is_empty) = (level.map(|level| level + 1), parts.is_empty());
    out.push(brackets[0]);
    for (i, (key, value)) in parts.into_iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "," });
        new_line(out, inner);
        if let Some(key) = key {
            write_string(out, key);
            out.push_str(if level.is_some() { ": " } else { ":" });
        }
        if !write_with(out, value, inner, scalar) {
            return false;
        }
    }
    if !is_empty {
        new_line(out, level);
    }
    out.push(brackets[1]);
    true
}

/// Appends a tree as compact JSON with sorted keys, for programs to read: numbers keep their value,
/// with the digits of the text if JSON allows them; an infinite number becomes a string. O(size of
/// the text).
pub fn write_exact(out: &mut String, node: &Node<'_>) {
    let scalar = |out: &mut String, s: &Scalar<'_>| {
        match (s.kind(), scalar::int(s.text)) {
            (Kind::Int, Some(int)) => out.push_str(&int.to_string()),
            (Kind::Float, _) if serde_json::from_str::<f64>(s.text).is_ok() => out.push_str(s.text),
            (Kind::Timestamp, _) => write_string(out, s.text),
            _ => write_scalar(out, s),
        }
        true
    };
    write_with(out, node, None, &scalar);
}

/// Appends a scalar as [`write()`] does.
pub fn write_scalar(out: &mut String, s: &Scalar<'_>) {
    match s.kind() {
        Kind::Str | Kind::Binary => write_string(out, s.text),
        Kind::Null => out.push_str("null"),
        Kind::Bool => out.push_str(if scalar::truth(s.text) { "true" } else { "false" }),
        Kind::Int | Kind::Float => match scalar::float(s.text) {
            Some(f) if f.is_finite() => out.push_str(&scalar::json_number(f)),
            _ => write_string(out, s.text),
        },
        Kind::Timestamp => write_string(out, &scalar::timestamp(s.text).unwrap_or_else(|| s.text.to_owned())),
    }
}

/// Appends a JSON string as Go's encoder writes it.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Refuses keys that cannot be written in JSON.
///
/// # Errors
/// A key is null, or a number that only an unsigned integer can hold.
pub fn check_keys(node: &Node<'_>) -> Result<(), Malformed> {
    match &node.value {
        Value::Scalar(_) => Ok(()),
        Value::Sequence(items) => items.iter().try_for_each(check_keys),
        Value::Mapping(m) => m.iter().try_for_each(|Entry { key, value }| match key.kind() {
            Kind::Null => Err(Malformed { message: "a mapping key is null".to_owned(), pos: key.pos }),
            Kind::Int if matches!(scalar::int(key.text), Some(Int::Unsigned(_))) => Err(Malformed {
                message: format!("mapping key {} is too large a number: quote it", key.text),
                pos: key.pos,
            }),
            _ => check_keys(value),
        }),
    }
}

/// Changes a tree to the values that a YAML 1.1 reader gives it in JSON: `yes` is a boolean, also
/// as a key, and dates are texts.
pub fn from_yaml_1_1<'a>(arena: Arena<'a>, node: &mut Node<'a>) {
    match &mut node.value {
        Value::Scalar(s) if s.style == Style::Plain && s.tag == Tag::Auto => match scalar::resolve_v2(s.text) {
            Kind::Bool => s.text = if scalar::truth(s.text) { "true" } else { "false" },
            Kind::Timestamp => s.tag = Tag::Str,
            Kind::Null => s.put(Scalar::NULL),
            _ => {}
        },
        // The style of a text is lost once it is decoded.
        Value::Scalar(s) if matches!(s.style, Style::Folded | Style::Literal) => s.style = Style::Double,
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter_mut().for_each(|item| from_yaml_1_1(arena, item)),
        Value::Mapping(m) => {
            let mut entries = m.take_entries();
            for entry in entries.iter_mut() {
                let key = &entry.key;
                let text = match scalar::resolve_v2(key.text) {
                    _ if key.style != Style::Plain || key.tag != Tag::Auto => key.text,
                    Kind::Bool if scalar::truth(key.text) => "true",
                    Kind::Bool => "false",
                    Kind::Int => match scalar::int(key.text) {
                        Some(Int::Signed(n)) => arena.text(&n.to_string()),
                        _ => key.text,
                    },
                    Kind::Float => scalar::float(key.text).map_or(key.text, |f| arena.text(&scalar::go_number_32(f))),
                    _ => key.text,
                };
                // The place stays, for errors about the key.
                entry.key = Key::new(text, Style::Plain, Tag::Str, key.pos);
                from_yaml_1_1(arena, &mut entry.value);
            }
            m.set_entries(entries);
            m.set_braces(false);
            m.keep_last_of_each();
        }
    }
}

/// A new string in the style that upstream gives it: quoted if YAML 1.1 reads the text as another
/// type. The style matters if a patch later replaces the value and keeps the style.
pub fn new_string(text: &str) -> Scalar<'_> {
    let style = if scalar::is_other_in_v2(text) { Style::Double } else { Style::Plain };
    Scalar::new(text, style, Tag::Str)
}

/// A string in the style that a fresh dump gives it. The style matters if a patch later replaces
/// the value and keeps the style.
pub fn fresh_string(text: &str) -> Scalar<'_> {
    let style = if scalar::is_surely_plain(text) {
        Style::Plain
    } else if memchr::memchr(b'\n', text.as_bytes()).is_some() {
        Style::Literal
    } else if scalar::resolve_v2(text) != Kind::Str || scalar::is_base60(text) || !style::may_be_plain(text) {
        Style::Double
    } else {
        Style::Plain
    };
    Scalar::new(text, style, Tag::Str)
}

/// Reads strict JSON. Integers keep their digits, other numbers are written as Go reads them.
///
/// # Errors
/// The parser's message, with line and column.
pub fn parse<'a>(arena: Arena<'a>, text: &str) -> Result<Node<'a>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let node = Seed(arena).deserialize(&mut reader)?;
    reader.end()?;
    Ok(node)
}

/// The message of the parser, without line and column.
pub fn message(fault: &serde_json::Error) -> String {
    let text = fault.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message).to_owned()
}

/// The offset of a fault in the text that the parser has read.
pub fn offset(fault: &serde_json::Error, text: &str) -> usize {
    let above: usize = text.split_inclusive('\n').take(fault.line().saturating_sub(1)).map(str::len).sum();
    text.floor_char_boundary(above + fault.column().saturating_sub(1))
}

/// Reads several JSON values, one after the other, as [`parse`] reads one.
///
/// # Errors
/// The parser's message, with line and column.
pub fn parse_all<'a>(arena: Arena<'a>, text: &str) -> Result<Vec<Node<'a>>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut nodes = Vec::new();
    while reader.end().is_err() {
        nodes.push(Seed(arena).deserialize(&mut reader)?);
    }
    Ok(nodes)
}

struct Seed<'a>(Arena<'a>);

impl<'a> Seed<'a> {
    fn number(&self, text: String) -> Node<'a> {
        Scalar::plain(self.0.text(&text)).into()
    }
}

impl<'de, 'a> DeserializeSeed<'de> for Seed<'a> {
    type Value = Node<'a>;

    fn deserialize<D: serde::Deserializer<'de>>(self, d: D) -> Result<Node<'a>, D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de, 'a> Visitor<'de> for Seed<'a> {
    type Value = Node<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, v: bool) -> Result<Node<'a>, E> {
        Ok(Scalar::plain(if v { "true" } else { "false" }).into())
    }

    fn visit_i64<E>(self, v: i64) -> Result<Node<'a>, E> {
        Ok(self.number(v.to_string()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Node<'a>, E> {
        Ok(self.number(v.to_string()))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Node<'a>, E> {
        let text = scalar::json_number(v);
        Ok(self.number(if matches!(scalar::int(&text), Some(Int::Signed(_) | Int::Unsigned(_))) {
            text + ".0"
        } else {
            text
        }))
    }

    fn visit_str<E>(self, v: &str) -> Result<Node<'a>, E> {
        Ok(fresh_string(self.0.text(v)).into())
    }

    fn visit_unit<E>(self) -> Result<Node<'a>, E> {
        Ok(Node::null())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node<'a>, A::Error> {
        let mut items = Items::new();
        while let Some(item) = seq.next_element_seed(Seed(self.0))? {
            items.push(item);
        }
        Ok(Value::Sequence(items.into()).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node<'a>, A::Error> {
        let mut entries: Entries<'a> = Entries::new();
        while let Some(name) = map.next_key::<String>()? {
            let key = Key::new(self.0.text(&name), Style::Double, Tag::Str, Pos::NONE);
            entries.push(Entry { key, value: map.next_value_seed(Seed(self.0))? });
        }
        let mut mapping = Mapping::from_entries(entries);
        mapping.keep_last_of_each();
        Ok(mapping.into())
    }
}
