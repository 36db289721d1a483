//! Field paths with dots, as replacements and vars write them: `spec.template.spec.containers.[name=web].image`.

use crate::diag::{Error, Result};
use crate::yaml::{Arena, Node, Value, steps};
use regex::Regex;

/// One part of a field path.
#[derive(Debug)]
pub enum Part<'a> {
    Key(&'a str),
    /// `[key=value]`; an empty key is about scalar items.
    Element {
        key: &'a str,
        value: &'a str,
        pattern: Regex,
    },
    Index(usize),
    Last,
    All,
}

/// Splits a field path at its dots. `\.` is a dot in a key, as is one between brackets.
///
/// # Errors
/// The value of an `[key=value]` is no regular expression.
pub fn parts<'a>(arena: &'a Arena, path: &str) -> Result<Vec<Part<'a>>> {
    texts(path).iter().map(|text| part(arena.text(text))).collect()
}

/// As [`parts`], for the field path of a var, where `ports[0]` is an item too.
///
/// # Errors
/// As [`parts`].
pub fn var_parts<'a>(arena: &'a Arena, path: &str) -> Result<Vec<Part<'a>>> {
    let mut all = Vec::new();
    for text in texts(path) {
        let index = text
            .strip_suffix(']')
            .and_then(|t| t.rsplit_once('['))
            .filter(|(key, index)| !key.is_empty() && !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()));
        match index {
            Some((key, index)) => all.extend([part(arena.text(key))?, part(arena.text(index))?]),
            None => all.push(part(arena.text(&text))?),
        }
    }
    Ok(all)
}

fn texts(path: &str) -> Vec<String> {
    let mut texts: Vec<String> = vec![String::new()];
    let mut brackets = false;
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        let last = texts.len() - 1;
        match c {
            '\\' if chars.peek() == Some(&'.') => texts[last].extend(chars.next()),
            '.' if !brackets => texts.push(String::new()),
            c => {
                brackets = (brackets || c == '[') && c != ']';
                texts[last].push(c);
            }
        }
    }
    texts.retain(|t| !t.is_empty());
    texts
}

fn part(text: &str) -> Result<Part<'_>> {
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let Some((key, value)) = inner.split_once('=') else { return Ok(Part::Key(inner)) };
        let value = value.trim_matches(['"', '\'']);
        let fault = |e| Error::input(format!("'{value}' is no regular expression: {e}"));
        return Ok(Part::Element { key, value, pattern: Regex::new(value).map_err(fault)? });
    }
    Ok(match text {
        "*" => Part::All,
        "-" => Part::Last,
        _ if text.bytes().all(|b| b.is_ascii_digit()) => Part::Index(text.parse().unwrap_or(usize::MAX)),
        _ => Part::Key(text),
    })
}

/// The node at the path of a source or var. O(parts, and items of lists on the way).
///
/// # Errors
/// The path names many fields, or an item of a mapping.
pub fn lookup<'n, 'a>(node: &'n Node<'a>, path: &[Part<'a>]) -> Result<Option<&'n Node<'a>>> {
    let mut node = node;
    for part in path {
        let next = match (part, &node.value) {
            (Part::Key(key), Value::Mapping(m)) => m.get(key),
            (Part::Element { key, value, .. }, Value::Sequence(items)) => {
                items.iter().find(|item| element_text(item, key) == Some(*value))
            }
            (Part::Index(i), Value::Sequence(items)) => items.get(*i),
            (Part::Index(_), Value::Mapping(_)) => {
                return Err(Error::input("wrong node kind: expected a list, found a mapping")
                    .hint("a key of digits is not reached"));
            }
            (Part::Last, Value::Sequence(items)) => items.last(),
            (Part::All, _) => return Err(Error::input("a source's path names one field, '*' names many")),
            _ => None,
        };
        match next {
            Some(found) => node = found,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

/// The text of the item's field `key`; of the item itself if the key is empty.
pub fn element_text<'a>(item: &Node<'a>, key: &str) -> Option<&'a str> {
    steps::add(1);
    let node = if key.is_empty() { item } else { item.get(key)? };
    node.as_scalar().map(|s| s.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let arena = Arena::new();
        let show = |path| parts(&arena, path).unwrap().iter().map(|p| format!("{p:?}")).collect::<Vec<_>>();
        assert_eq!(show("a.b\\.c.[d.e/f]"), [r#"Key("a")"#, r#"Key("b.c")"#, r#"Key("d.e/f")"#]);
        assert_eq!(show("a.0.*.-"), [r#"Key("a")"#, "Index(0)", "All", "Last"]);
    }
}
