//! [`Pointer`]: the path of an operation of a JSON patch, and the walks along it.

use crate::config::{Decode, Decoder};
use crate::diag::{Code, Error, Result, nearest};
use rustomize_base::json_pointer;
use rustomize_yaml::{Arena, Node, Pos, Value, ValueMut};

/// A path, split once.
#[derive(Clone, Debug, Default)]
pub(super) struct Pointer<'a> {
    /// `None` if it is missing or not a string.
    pub(super) text: Option<&'a str>,
    /// `None` for a text without a slash, which is not a path.
    pub(super) parts: Option<Vec<&'a str>>,
    pub(super) pos: Pos,
}

impl<'a> Pointer<'a> {
    /// Splits a path at its slashes. The text before the first one is ignored. `~1` is a slash,
    /// `~0` a tilde.
    fn new(arena: Arena<'a>, text: &'a str) -> Self {
        let unescape = |part: &'a str| match part.contains('~') {
            true => arena.text(&json_pointer::unescaped(part)),
            false => part,
        };
        let parts = text.split_once('/').map(|(_, path)| path.split('/').map(unescape).collect());
        Pointer { text: Some(text), parts, pos: Pos::NONE }
    }

    /// The text, for messages.
    pub(super) fn shown(&self) -> &'a str {
        self.text.unwrap_or_default()
    }

    pub(super) fn is_root(&self) -> bool {
        self.text == Some("")
    }

    /// The last part, and the parts before it.
    ///
    /// # Errors
    /// The text is not a path.
    fn split(&self, op: &str) -> Result<(&'a str, &[&'a str])> {
        let parts = self.parts.as_ref().and_then(|parts| parts.split_last());
        let parts = parts.map(|(last, way)| (*last, way));
        parts.ok_or_else(|| missing(self, op).hint("a path begins with '/', as in /spec/replicas"))
    }

    /// How many parts it has.
    pub(super) fn len(&self) -> usize {
        self.parts.as_ref().map_or(0, Vec::len)
    }
}

impl<'a> Decode<'a> for Pointer<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        *self = string(node, cx).map(|text| Pointer::new(cx.arena, text)).unwrap_or_default();
        self.pos = node.pos();
        Ok(())
    }
}

/// The text of a string; `None` for anything else.
pub(super) fn string<'a>(node: &Node<'a>, cx: &Decoder<'a>) -> Option<&'a str> {
    let mut text = None::<&str>;
    text.decode(node, cx).ok()?;
    text
}

/// Calls `edit` with the mapping or list that a path leads into, and with the last part of the
/// path.
///
/// # Errors
/// The path leads nowhere, or `edit` fails.
pub(super) fn edit_container<'a, T>(
    root: &mut Node<'a>,
    path: &Pointer<'a>,
    op: &str,
    edit: impl FnOnce(&mut Node<'a>, &'a str) -> Result<T>,
) -> Result<T> {
    let (last, way) = path.split(op)?;
    walk_to_container(root, way, 0, |node, at| match at == way.len() && node.as_scalar().is_none() {
        true => edit(node, last),
        false => Err(stray(path, op, node, at)),
    })
}

/// Calls `visit` with the node that a way leads to, or with the last node that is on the way, and
/// with the number of parts that lead to this node.
fn walk_to_container<'a, T>(
    node: &mut Node<'a>,
    way: &[&'a str],
    at: usize,
    visit: impl FnOnce(&mut Node<'a>, usize) -> Result<T>,
) -> Result<T> {
    if let Some(part) = way.get(at) {
        let next = match node.value_mut() {
            ValueMut::Mapping(m) => m.get_mut(part),
            ValueMut::Sequence(items) => existing(part, items.len()).and_then(|i| items.get_mut(i)),
            ValueMut::Scalar(_) => None,
        };
        if let Some(next) = next {
            return walk_to_container(next, way, at + 1, visit);
        }
    }
    visit(node, at)
}

/// The error for a path whose first `at` parts lead to a node that has no field or item of the next
/// part.
fn stray(path: &Pointer<'_>, op: &str, node: &Node<'_>, at: usize) -> Error {
    let parts = path.parts.as_deref().unwrap_or_default();
    let part = parts.get(at).copied().unwrap_or_default();
    // The last part may be new, so it is half of no key.
    let next = parts.get(at + 1).copied();
    missing(path, op).hint(advice(node, part, next, &parts[..at]))
}

/// The error for a path that leads nowhere.
fn missing(path: &Pointer<'_>, op: &str) -> Error {
    let message = format!("{op} operation does not apply: doc is missing path: \"{}\": missing value", path.shown());
    Error::new(Code::MissingPath, message)
}

/// The advice for a part of a path that `node` does not have. `way` are the parts before it, and
/// `next` is the part behind it.
fn advice(node: &Node<'_>, part: &str, next: Option<&str>, way: &[&str]) -> String {
    match node.value() {
        Value::Mapping(m) => {
            // A part with a dot is the first half of a key, as in app.kubernetes.io/name.
            let is_half = |whole: &String| part.contains('.') || m.contains(whole);
            let whole = next.map(|next| format!("{part}/{next}")).filter(is_half);
            match (whole, nearest(part, m.iter().map(|entry| entry.key().text()))) {
                (Some(whole), _) => format!("write '~1' for a '/' in a key: {}", whole.replace('/', "~1")),
                (None, Some(name)) => format!("did you mean '{name}'?"),
                (None, None) => {
                    let path: String =
                        way.iter().chain([&part]).map(|part| format!("/{}", json_pointer::escaped(part))).collect();
                    let value = if next.is_some_and(|next| next == "-" || index(next).is_some()) { "[]" } else { "{}" };
                    format!(
                        "the resource has no '{part}' there: correct the path, or add it first: {{op: add, path: {path}, value: {value}}}"
                    )
                }
            }
        }
        Value::Sequence(items) if index(part).is_none() => {
            let path: String = way.iter().map(|part| format!("/{}", json_pointer::escaped(part))).collect();
            let named = items.iter().position(|item| item.get_text("name") == Some(part));
            match (named, items.len()) {
                (Some(nth), _) => format!("items of lists have numbers: write {path}/{nth} for the item '{part}'"),
                (None, 0) => format!("the list has no items: '-' adds one: {path}/-"),
                (None, 1) => format!("items of lists have numbers: write {path}/0/{part} for its only item"),
                (None, count) => format!("items of lists have numbers: write {path}/0/{part}, or up to {}", count - 1),
            }
        }
        Value::Sequence(items) => format!("the list has {} items, and the first one has the number 0", items.len()),
        Value::Scalar(_) if node.is_null() => format!("'{part}' is in a field without a value: add a value first"),
        Value::Scalar(_) => format!("'{part}' is in {}, which has no fields", node.shape()),
    }
}

/// An index as Go reads it, with an optional sign.
pub(super) fn index(part: &str) -> Option<i64> {
    let digits = part.strip_prefix(['+', '-']).unwrap_or(part);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) { None } else { part.parse().ok() }
}

/// The place of an existing element; a negative index counts from the end.
pub(super) fn existing(part: &str, len: usize) -> Option<usize> {
    let i = index(part)?;
    let i = if i < 0 { i + len as i64 } else { i };
    usize::try_from(i).ok().filter(|&i| i < len)
}

pub(super) fn bad_index(op: &str, path: &Pointer<'_>, part: &str) -> Error {
    Error::new(
        Code::MissingPath,
        format!("error in {op} for path: '{}': Unable to access invalid index: {part}", path.shown()),
    )
    .hint("an item of a list has a number from 0 on; '-' is the place behind the last one")
}

/// The node at a path; `None` for a key that is not in its mapping.
pub(super) fn get<'n, 'a>(root: &'n Node<'a>, path: &Pointer<'a>, op: &str) -> Result<Option<&'n Node<'a>>> {
    let (last, way) = path.split(op)?;
    let mut node = root;
    for (at, part) in way.iter().enumerate() {
        let next = match node.value() {
            Value::Mapping(m) => m.get(part),
            Value::Sequence(items) => existing(part, items.len()).and_then(|i| items.get(i)),
            Value::Scalar(_) => None,
        };
        node = next.ok_or_else(|| stray(path, op, node, at))?;
    }
    match node.value() {
        Value::Mapping(m) => Ok(m.get(last)),
        Value::Sequence(items) => match existing(last, items.len()) {
            Some(i) => Ok(items.get(i)),
            None => Err(bad_index(op, path, last)),
        },
        Value::Scalar(_) => Err(stray(path, op, node, way.len())),
    }
}
