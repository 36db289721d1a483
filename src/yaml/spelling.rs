//! Trees whose scalars are spelled as in a JSON text: strings with quotes and escapes, numbers
//! digit by digit.
//!
//! A JSON patch works on the text of JSON until its end, and `test` compares this text: `1.0` is
//! not `1`, and 9007199254740993 is not 9007199254740992, though both are the same 64-bit float.
//! [`spell`] makes such a tree of a resource or value, [`read`] of a patch in JSON, and [`restore`]
//! makes a tree of values of it again.

use super::json::{self, fresh_string};
use super::reprint::is_short_integer;
use super::scalar::{self, Kind};
use super::tree::mapping::{Key, Mapping};
use super::tree::node::{Node, Scalar, Value};
use super::{Arena, Entries, Entry, Items};

/// Spells the scalars of a tree as Go's encoder does: integers with all their digits, other numbers
/// as 64-bit floats. The tree is one that
/// [`into_json`](super::reprint::into_json) or [`through_json`](super::reprint::through_json) has
/// changed. O(size).
pub fn spell<'a>(arena: Arena<'a>, node: &mut Node<'a>) {
    each_scalar(node, &|s| {
        let mut text = String::new();
        match (s.kind(), scalar::int(s.text)) {
            (Kind::Null, _) => return s.put(Scalar::NULL),
            (Kind::Int, Some(int)) => text = int.to_string(),
            _ => json::write_scalar(&mut text, s),
        }
        s.put(match s.kind() {
            Kind::Str | Kind::Binary | Kind::Timestamp => Scalar::string(arena.text(&text)),
            _ => Scalar::plain(arena.text(&text)),
        });
    });
}

/// Reads the scalars of a spelled tree as Go decodes and dumps them: numbers become 64-bit floats.
/// O(size).
pub fn restore<'a>(arena: Arena<'a>, node: &mut Node<'a>) {
    each_scalar(node, &|s| {
        if s.text.starts_with('"') {
            let text: String = serde_json::from_str(s.text).unwrap_or_default();
            s.put(fresh_string(arena.text(&text)));
        } else if matches!(s.kind(), Kind::Int | Kind::Float) && !is_short_integer(s.text) {
            // Not `scalar::float`: JSON has a negative zero.
            let number = s.text.parse().map_or_else(|_| s.text.to_owned(), scalar::go_number);
            s.put(Scalar::plain(arena.text(&number)));
        }
    });
}

fn each_scalar<'a>(node: &mut Node<'a>, change: &impl Fn(&mut Scalar<'a>)) {
    match &mut node.value {
        Value::Scalar(s) => change(s),
        Value::Sequence(items) => items.iter_mut().for_each(|item| each_scalar(item, change)),
        Value::Mapping(m) => m.iter_mut().for_each(|(_, value)| each_scalar(value, change)),
    }
}

/// Reads JSON text that [`parse`](super::json::parse) has accepted, with the spelling of the text.
/// O(size of the text).
pub fn read<'a>(arena: Arena<'a>, text: &'a str) -> Node<'a> {
    Reader { arena, rest: text }.value()
}

struct Reader<'a> {
    arena: Arena<'a>,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Node<'a> {
        match self.peek() {
            Some(b'[') => {
                self.skip();
                let mut items = Items::new();
                while self.has_more() {
                    items.push(self.value());
                }
                Value::Sequence(items.into()).into()
            }
            Some(b'{') => {
                self.skip();
                let mut entries = Entries::new();
                while self.has_more() {
                    let name: String = serde_json::from_str(self.scalar()).unwrap_or_default();
                    entries.push(Entry { key: Key::string(self.arena.text(&name)), value: self.value() });
                }
                let mut mapping = Mapping::from_entries(entries);
                mapping.keep_last_of_each();
                mapping.into()
            }
            _ => match self.scalar() {
                "null" => Node::null(),
                text if text.starts_with('"') => Node::string(text),
                text => Scalar::plain(text).into(),
            },
        }
    }

    /// The next byte that is not blank or a separator.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',', ':']);
        self.rest.bytes().next()
    }

    /// Skips a bracket.
    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Returns true if another item follows; the closing bracket is skipped.
    fn has_more(&mut self) -> bool {
        let more = !matches!(self.peek(), None | Some(b']' | b'}'));
        if !more {
            self.skip();
        }
        more
    }

    /// Reads a scalar.
    fn scalar(&mut self) -> &'a str {
        self.peek();
        let bytes = self.rest.as_bytes();
        let is_string = bytes.first() == Some(&b'"');
        let mut end = usize::from(is_string);
        while end < bytes.len() {
            match bytes[end] {
                b'"' if is_string => {
                    end += 1;
                    break;
                }
                b'\\' if is_string => end += 2,
                b',' | b':' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' if !is_string => break,
                _ => end += 1,
            }
        }
        let (scalar, rest) = self.rest.split_at(end.min(bytes.len()));
        self.rest = rest;
        scalar
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Heap, first_document};

    #[track_caller]
    fn check(yaml: &str, spelled: &str, restored: &str) {
        let heap = Heap::new();
        let arena = heap.arena();
        let mut node = first_document(arena, arena.add_source("test", yaml.to_owned())).unwrap().unwrap();
        spell(arena, &mut node);
        assert_eq!(node.as_scalar().unwrap().text(), spelled, "{yaml}");
        restore(arena, &mut node);
        assert_eq!(node.as_scalar().unwrap().text(), restored, "{yaml}");
    }

    #[test]
    fn numbers() {
        check("1", "1", "1");
        check("-0", "0", "0");
        check("-0.0", "-0", "-0");
        check("1.0", "1", "1");
        check("0x10", "16", "16");
        check("1e3", "1000", "1000");
        check("1e21", "1e+21", "1e+21");
        check("9007199254740993", "9007199254740993", "9.007199254740992e+15");
        check("18446744073709551615", "18446744073709551615", "1.8446744073709552e+19");
        check("18446744073709551616", "18446744073709552000", "1.8446744073709552e+19");
    }

    #[test]
    fn texts_and_words() {
        check("a<b", r#""a\u003cb""#, "a<b");
        check("'1'", "\"1\"", "1");
        check("True", "true", "true");
        check("~", "null", "null");
    }

    #[test]
    fn json() {
        let heap = Heap::new();
        let text = r#"{"a": [1.0, "<\u003c", null], "a" : {"b":-0} , "c": true}"#;
        let mut node = read(heap.arena(), text);
        let item = |node: &Node<'_>, key: &str| node.get(key).unwrap().scalar_text().to_owned();
        assert_eq!(item(node.get("a").unwrap(), "b"), "-0");
        assert_eq!(item(&node, "c"), "true");
        restore(heap.arena(), &mut node);
        assert_eq!(item(node.get("a").unwrap(), "b"), "-0");
    }
}
