//! Field paths with dots, as replacements and vars write them:
//! `spec.template.spec.containers.[name=web].image`.

use crate::diag::{Code, Error, Result, nearest};
use rustomize_go_regexp::{GoRegex, PatternError};
use rustomize_yaml::document::MAX_DEPTH;
use rustomize_yaml::{Arena, Node, Scalar, Sequence, Style, Value, emit};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The largest number of parts of a path: as many as a document may have levels.
const MAX_PARTS: usize = MAX_DEPTH;

/// One part of a field path.
#[derive(Clone, Debug)]
pub enum Part<'a> {
    Key(&'a str),
    /// `[key=value]`; an empty key is about scalar items. The items of a source must be equal to
    /// the value, those of a target must match it as a pattern.
    Element {
        key: &'a str,
        value: &'a str,
        pattern: ValuePattern<'a>,
    },
    Index(usize),
    Last,
    All,
    /// Text in brackets without a `=`.
    NotAnElement,
}

impl Part<'_> {
    /// The error for a [`Part::NotAnElement`] on a path.
    pub fn not_an_element() -> Error {
        Error::new(Code::BadPath, "list path element must contain fieldName=fieldValue for element to match")
            .hint("write it as in containers.[name=web].image")
    }
}

/// The value in `[key=value]` as a pattern. It is compiled when the path first reaches an item. As
/// in upstream, an invalid pattern that is never compared with an item is not an error.
#[derive(Clone, Debug)]
pub struct ValuePattern<'a> {
    text: &'a str,
    compiled: OnceLock<Result<GoRegex, PatternError>>,
}

impl ValuePattern<'_> {
    /// The text that a field must contain to match; `None` if the pattern says more.
    pub fn text(&self) -> Option<&str> {
        self.compiled.get_or_init(|| GoRegex::new(self.text)).as_ref().ok()?.as_text()
    }

    /// The places of the items whose field `key` matches; the items themselves count if the key
    /// is empty.
    ///
    /// # Errors
    /// The pattern is not a valid regular expression.
    pub fn matches(&self, items: &Sequence<'_>, key: &str) -> Result<Vec<usize>> {
        let mut matches = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let regex = self.compiled.get_or_init(|| GoRegex::new(self.text));
            let regex = regex.as_ref().map_err(|e| {
                Error::new(Code::BadPattern, format!("in '[{key}={}]': {e}", self.text)).hint(
                    "the value is a regular expression in Go's syntax: write '\\' in front of a sign that means itself",
                )
            })?;
            let field = if key.is_empty() { Some(item) } else { item.get(key) };
            if field.is_some_and(|field| regex.is_match(printed_field(field).trim())) {
                matches.push(i);
            }
        }
        Ok(matches)
    }
}

/// A value as upstream prints it to compare it with a pattern: with its quotes.
pub fn printed_field<'a>(node: &Node<'a>) -> Cow<'a, str> {
    match node.as_scalar() {
        Some(scalar) => printed_scalar(scalar),
        None => {
            let mut text = String::new();
            // A value that cannot be printed is refused when the resource is printed.
            let _ = emit::document(&mut text, node);
            Cow::Owned(text)
        }
    }
}

fn printed_scalar<'a>(scalar: &Scalar<'a>) -> Cow<'a, str> {
    let text = scalar.text();
    match scalar.style() {
        Style::Plain => Cow::Borrowed(text),
        Style::Single => Cow::Owned(format!("'{}'", text.replace('\'', "''"))),
        Style::Double => Cow::Owned(format!("\"{}\"", text.chars().map(escaped).collect::<String>())),
        Style::Literal | Style::Folded => {
            let mark = if scalar.style() == Style::Literal { '|' } else { '>' };
            let ending = match text.strip_suffix('\n') {
                None => "-",
                Some(text) if text.ends_with('\n') => "+",
                Some(_) => "",
            };
            Cow::Owned(format!("{mark}{ending}\n  {}", text.replace('\n', "\n  ")))
        }
    }
}

fn escaped(c: char) -> Cow<'static, str> {
    Cow::Borrowed(match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\n' => "\\n",
        '\t' => "\\t",
        '\r' => "\\r",
        '\0' => "\\0",
        c if c.is_control() => return Cow::Owned(format!("\\x{:02X}", u32::from(c))),
        c => return Cow::Owned(c.to_string()),
    })
}

/// Splits the field path of a source at its dots. `\.` is a dot in a key, and so is a dot between
/// brackets.
///
/// # Errors
/// The path has too many parts.
pub fn parts<'a>(arena: Arena<'a>, path: &str) -> Result<Vec<Part<'a>>> {
    let texts = texts(path)?;
    let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    Ok(texts.map(|text| part(arena.text(text))).collect())
}

/// As [`parts`], for the field path of a target, where blanks are significant.
///
/// # Errors
/// As [`parts`].
pub fn target_parts<'a>(arena: Arena<'a>, path: &str) -> Result<Vec<Part<'a>>> {
    Ok(texts(path)?.iter().map(|text| part(arena.text(text))).collect())
}

/// As [`parts`], for the field path of a var, where `ports[0]` is also an item.
///
/// # Errors
/// As [`parts`].
pub fn var_parts<'a>(arena: Arena<'a>, path: &str) -> Result<Vec<Part<'a>>> {
    let mut all = Vec::new();
    for text in texts(path)? {
        let index = text
            .strip_suffix(']')
            .and_then(|t| t.rsplit_once('['))
            .filter(|(_, index)| !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()));
        let (key, index) = index.map_or((&text[..], ""), |(key, index)| (key, index));
        let found = [key, index].map(str::trim).into_iter().filter(|text| !text.is_empty());
        all.extend(found.map(|text| part(arena.text(text))));
    }
    Ok(all)
}

/// The texts between the dots of a path, which may begin with a dot. A text that begins with `[`
/// extends to the next `]` before a dot; without `=` it loses its brackets.
fn texts(path: &str) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut pieces = escaped_split(path.strip_prefix('.').unwrap_or(path)).into_iter();
    while let Some(mut text) = pieces.next() {
        if text.starts_with('[') && !text.ends_with(']') {
            for piece in pieces.by_ref() {
                text.push('.');
                text.push_str(&piece);
                if piece.ends_with(']') {
                    break;
                }
            }
            if !text.contains('=') {
                text = text.trim_matches(['[', ']']).to_owned();
            }
        }
        texts.push(text);
    }
    if texts.len() > MAX_PARTS {
        let message = format!("a field path has {} parts, more than {MAX_PARTS}", texts.len());
        return Err(Error::new(Code::TooLarge, message));
    }
    Ok(texts)
}

/// Splits a path at the dots without a `\` before them; the `\` of others is removed.
fn escaped_split(path: &str) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in path.split('.') {
        match texts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('.');
                last.push_str(text);
            }
            _ => texts.push(text.to_owned()),
        }
    }
    texts
}

fn part(text: &str) -> Part<'_> {
    if let Ok(number) = text.parse::<i64>() {
        return usize::try_from(number).map_or(Part::Key(text), Part::Index);
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let Some((key, value)) = inner.split_once('=') else { return Part::NotAnElement };
        return Part::Element { key, value, pattern: ValuePattern { text: value, compiled: OnceLock::new() } };
    }
    match text {
        "*" => Part::All,
        "-" => Part::Last,
        _ => Part::Key(text),
    }
}

/// The node at the path of a source or var. O(parts, and items of lists on the way).
///
/// # Errors
/// The path names many fields, or an item of a mapping.
pub fn lookup<'n, 'a>(node: &'n Node<'a>, path: &[Part<'a>]) -> Result<Option<&'n Node<'a>>> {
    let mut node = node;
    for part in path {
        match step(node, part)? {
            Some(found) => node = found,
            None => return Ok(None),
        }
    }
    Ok(Some(node))
}

/// At most this many fields are listed if none is like the one that a path names.
const LISTED: usize = 8;

/// The advice for a part of a path that leads nowhere from `node`. O(parts, and items of lists and
/// fields of mappings on the way).
pub fn advice(node: &Node<'_>, path: &[Part<'_>]) -> String {
    let mut node = node;
    for part in path {
        match step(node, part) {
            Ok(Some(found)) => node = found,
            _ => return advice_at(node, part),
        }
    }
    "give the field a value first".to_owned()
}

/// The advice for a part that leads nowhere from `node` itself.
fn advice_at(node: &Node<'_>, part: &Part<'_>) -> String {
    match (node.value(), part) {
        (Value::Mapping(m), Part::Key(key)) => {
            let names: Vec<&str> = m.iter().map(|entry| entry.key().text()).collect();
            let is_begun = |name: &&&str| name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
            if let Some(whole) = names.iter().find(is_begun) {
                let whole = whole.replace('.', "\\.");
                return format!("write '\\' in front of each dot of a key, as in {whole}");
            }
            match (nearest(key, names.iter().copied()), key.split_once('/')) {
                (Some(name), _) => format!("did you mean '{name}'?"),
                (_, Some((first, _))) if m.contains(first) => {
                    format!("the parts of a path have dots between them, as in {}", key.replace('/', "."))
                }
                _ if names.len() > LISTED => format!("'{key}' is not among the {} fields there", names.len()),
                _ => format!("there is no '{key}'; the fields there are: {}", names.join(", ")),
            }
        }
        (Value::Sequence(items), Part::Index(_)) => {
            format!("the list has {} items, and the first one has the index 0", items.len())
        }
        (Value::Sequence(_), Part::Element { key, value, .. }) => format!("no item of the list has '{key}: {value}'"),
        (Value::Sequence(_), _) => "name an item of the list, as in containers.0 or containers.[name=web]".to_owned(),
        _ => format!("there is {} on the way", node.shape()),
    }
}

/// The first scalar on a path, and how many parts of the path lead to it. O(parts, and items of
/// lists on the way).
pub fn first_scalar<'a>(node: &Node<'a>, path: &[Part<'a>]) -> Option<(usize, Scalar<'a>)> {
    let mut node = node;
    for (at, part) in path.iter().enumerate() {
        node = step(node, part).ok()??;
        if let Some(scalar) = node.as_scalar() {
            return Some((at + 1, *scalar));
        }
    }
    None
}

/// The node that one part of a path leads to.
fn step<'n, 'a>(node: &'n Node<'a>, part: &Part<'a>) -> Result<Option<&'n Node<'a>>> {
    Ok(match (part, node.value()) {
        (Part::Key(key), Value::Mapping(m)) => m.get(key),
        (Part::Element { key, value, .. }, Value::Sequence(items)) => {
            items.iter().find(|item| element_text(item, key) == Some(*value))
        }
        (Part::Index(i), Value::Sequence(items)) => items.get(*i),
        (Part::Index(_), Value::Mapping(_)) => {
            return Err(Error::new(Code::WrongType, "wrong node kind: expected a list, found a mapping")
                .hint("a key of digits is not reached"));
        }
        (Part::Last, Value::Sequence(items)) => items.last(),
        (Part::NotAnElement, _) => return Err(Part::not_an_element()),
        (Part::All, _) => {
            return Err(Error::new(Code::BadPath, "a source's path names one field, '*' names many")
                .hint("write a number in place of '*'"));
        }
        _ => None,
    })
}

/// The text of the item's field `key`, or of the item itself if the key is empty.
pub fn element_text<'a>(item: &Node<'a>, key: &str) -> Option<&'a str> {
    let node = if key.is_empty() { item } else { item.get(key)? };
    node.as_scalar().map(|s| s.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::Heap;

    #[test]
    fn paths() {
        let heap = Heap::new();
        let arena = heap.arena();
        let show = |path| target_parts(arena, path).unwrap().iter().map(|p| format!("{p:?}")).collect::<Vec<_>>();
        assert_eq!(show("a.b\\.c.[d.e/f]"), [r#"Key("a")"#, r#"Key("b.c")"#, r#"Key("d.e/f")"#]);
        assert_eq!(show("a.0.*.-"), [r#"Key("a")"#, "Index(0)", "All", "Last"]);
        assert_eq!(show(".a..+7.-7"), [r#"Key("a")"#, r#"Key("")"#, "Index(7)", r#"Key("-7")"#]);
        assert_eq!(
            show("[a.b=c.d]")[0].split_inclusive("pattern").next(),
            Some(r#"Element { key: "a.b", value: "c.d", pattern"#)
        );
        assert_eq!(show("[a/b].[c.d].[e.f"), ["NotAnElement", r#"Key("c.d")"#, r#"Key("e.f")"#]);
    }
}
