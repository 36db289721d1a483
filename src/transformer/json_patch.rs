//! JSON patches (RFC 6902) as kustomize applies them.

use crate::config::{Decode, Decoder};
use crate::diag::{Error, Result};
use crate::plugin::wire;
use crate::resource::Resource;
use crate::yaml::{Arena, Key, Mapping, Node, Value, json, reprint, scalar};

/// One operation of a JSON patch.
#[derive(Clone, Debug, Default)]
pub struct Operation<'a> {
    pub op: &'a str,
    pub path: Pointer<'a>,
    pub from: Pointer<'a>,
    /// Missing is null.
    pub value: Option<Node<'a>>,
    /// Whether the patch was JSON, not YAML: `test` then compares numbers by their text.
    pub is_json: bool,
}

/// A path, split once.
#[derive(Clone, Debug, Default)]
pub struct Pointer<'a> {
    text: &'a str,
    /// `None` for a text without a slash, which is no path.
    parts: Option<Vec<&'a str>>,
}

impl<'a> Pointer<'a> {
    /// Splits a path at its slashes; what stands before the first one does not count. `~1` is a slash, `~0` a tilde.
    pub fn new(arena: &'a Arena, text: &'a str) -> Self {
        let unescape = |part: &'a str| match part.contains('~') {
            true => arena.text(&part.replace("~1", "/").replace("~0", "~")),
            false => part,
        };
        let parts = text.split_once('/').map(|(_, path)| path.split('/').map(unescape).collect());
        Pointer { text, parts }
    }
}

impl Operation<'_> {
    /// Whether this may change the metadata of a resource, or what kind it is.
    pub fn touches_identity(&self) -> bool {
        let may_touch = |p: &Pointer<'_>| {
            p.parts
                .as_ref()
                .and_then(|parts| parts.first())
                .is_none_or(|first| matches!(*first, "metadata" | "kind" | "apiVersion"))
        };
        may_touch(&self.path) || (self.op == "move" && may_touch(&self.from))
    }

    /// Whether this reads or changes the annotations of a resource.
    fn sees_annotations(&self) -> bool {
        let sees = |p: &Pointer<'_>| match p.parts.as_deref() {
            None | Some(["metadata"]) => true,
            Some(parts) => parts.starts_with(&["metadata", "annotations"]),
        };
        sees(&self.path) || (matches!(self.op, "move" | "copy") && sees(&self.from))
    }
}

impl<'a> Decode<'a> for Pointer<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut text = "";
        text.decode(node, cx)?;
        *self = Pointer::new(cx.arena, text);
        Ok(())
    }
}

impl<'a> Decode<'a> for Operation<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        let mut value = Node::null();
        let given = cx.object(
            node,
            &mut [("op", &mut self.op), ("path", &mut self.path), ("from", &mut self.from), ("value", &mut value)],
        )?;
        self.value = Some(value).filter(|_| given.contains(&"value"));
        Ok(())
    }
}

/// Reads the operations of a patch.
///
/// # Errors
/// The node is no list of mappings.
pub fn operations<'a>(arena: &'a Arena, node: &Node<'a>, is_json: bool) -> Result<Vec<Operation<'a>>> {
    let mut operations: Vec<Operation<'a>> = Vec::new();
    operations.decode(node, &Decoder::lenient(arena))?;
    for operation in &mut operations {
        operation.is_json = is_json;
        if let Some(value) = &mut operation.value {
            if !is_json {
                json::from_yaml_1_1(arena, value);
            }
            if !(is_json && operation.op == "test") {
                reprint::through_json(arena, value).map_err(|m| Error::malformed(arena, m))?;
            }
        }
    }
    Ok(operations)
}

/// Applies operations to a resource, in order. `record` says whether the old identity is remembered first. The annotations
/// that upstream keeps for itself are there while the operations run. O(operations + size of the resource, once).
///
/// # Errors
/// The first operation that does not apply; the resource is then half patched.
pub fn apply<'a>(
    arena: &'a Arena,
    resource: &mut Resource<'a>,
    operations: &[Operation<'a>],
    record: bool,
) -> Result<()> {
    if record {
        resource.record_previous();
    }
    let is_new = !resource.json_form;
    if is_new {
        resource.unshare();
        reprint::through_json(arena, resource.node_mut()).map_err(|m| Error::malformed(arena, m))?;
    }
    let run_all = |node: &mut Node<'a>| {
        operations.iter().try_for_each(|operation| {
            run(node, operation).map_err(|e| e.at(operation.value.as_ref().and_then(|v| arena.place(v.pos))))
        })
    };
    if operations.iter().any(Operation::sees_annotations) {
        wire::with_build_annotations(arena, resource, run_all)?;
    } else {
        run_all(resource.node_mut_in_form())?;
    }
    if is_new || operations.iter().any(Operation::touches_identity) {
        resource.stringify_metadata("annotations");
    }
    resource.json_form = true;
    Ok(())
}

fn run<'a>(root: &mut Node<'a>, operation: &Operation<'a>) -> Result<()> {
    let value = || operation.value.clone().unwrap_or_default();
    let path = &operation.path;
    match operation.op {
        "add" => add(root, path, value()),
        "remove" => remove(root, path).map(drop),
        "replace" if path.text.is_empty() => {
            *root = value();
            Ok(())
        }
        "replace" => replace(root, path, value()),
        "move" => {
            let taken = remove(root, &operation.from).map_err(|e| e.context("in the 'from' of a move"))?;
            add(root, path, taken)
        }
        "copy" => {
            let copied = get(root, &operation.from)
                .map_err(|e| e.context("in the 'from' of a copy"))?
                .cloned()
                .unwrap_or_default();
            add(root, path, copied)
        }
        "test" => test(root, operation),
        other => Err(Error::input(format!("Unexpected kind: {other}"))
            .hint("an operation is add, remove, replace, move, copy or test")),
    }
}

/// The mapping or list that holds what a path names, and the last part of the path.
fn container<'n, 'a>(root: &'n mut Node<'a>, path: &Pointer<'a>, op: &str) -> Result<(&'n mut Node<'a>, &'a str)> {
    let missing = || {
        Error::input(format!("{op} operation does not apply: doc is missing path: \"{}\": missing value", path.text))
    };
    let Some((last, way)) = path.parts.as_ref().and_then(|parts| parts.split_last()) else {
        return Err(missing().hint("a path starts with '/'"));
    };
    let mut node = root;
    for part in way {
        node = match &mut node.value {
            Value::Mapping(m) => m.get_mut(part),
            Value::Sequence(items) => existing(part, items.len()).and_then(|i| items.get_mut(i)),
            Value::Scalar(_) => None,
        }
        .ok_or_else(missing)?;
    }
    if node.as_scalar().is_some() { Err(missing()) } else { Ok((node, last)) }
}

/// An index as Go reads it, with an optional sign.
fn index(part: &str) -> Option<i64> {
    let digits = part.strip_prefix(['+', '-']).unwrap_or(part);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) { None } else { part.parse().ok() }
}

/// The place of an element that is there; a negative index counts from the end.
fn existing(part: &str, len: usize) -> Option<usize> {
    let i = index(part)?;
    let i = if i < 0 { i + len as i64 } else { i };
    usize::try_from(i).ok().filter(|&i| i < len)
}

fn bad_index(op: &str, path: &Pointer<'_>, part: &str) -> Error {
    Error::input(format!("error in {op} for path: '{}': Unable to access invalid index: {part}", path.text))
}

fn add<'a>(root: &mut Node<'a>, path: &Pointer<'a>, value: Node<'a>) -> Result<()> {
    let (node, last) = container(root, path, "add")?;
    match &mut node.value {
        Value::Mapping(m) => insert(m, last, value),
        Value::Sequence(items) => {
            let len = items.len();
            let place = match index(last) {
                _ if last == "-" => Some(len),
                Some(i) if i < 0 => usize::try_from(i + len as i64 + 1).ok(),
                Some(i) => usize::try_from(i).ok().filter(|&i| i <= len),
                None => None,
            };
            items.insert(place.ok_or_else(|| bad_index("add", path, last))?, value);
        }
        Value::Scalar(_) => {}
    }
    Ok(())
}

fn insert<'a>(m: &mut Mapping<'a>, key: &'a str, value: Node<'a>) {
    m.insert(Key::string(key), value);
    m.set_braces(false);
}

fn remove<'a>(root: &mut Node<'a>, path: &Pointer<'a>) -> Result<Node<'a>> {
    let (node, last) = container(root, path, "remove")?;
    match &mut node.value {
        Value::Mapping(m) => {
            let removed = m.remove(last);
            // The dump behind the patch writes an empty mapping in braces.
            m.set_braces(m.is_empty());
            removed.ok_or_else(|| {
                Error::input(format!(
                    "error in remove for path: '{}': Unable to remove nonexistent key: {last}: missing value",
                    path.text
                ))
            })
        }
        Value::Sequence(items) => match existing(last, items.len()) {
            Some(i) => Ok(items.remove(i)),
            None => Err(bad_index("remove", path, last)),
        },
        Value::Scalar(_) => Ok(Node::null()),
    }
}

fn replace<'a>(root: &mut Node<'a>, path: &Pointer<'a>, value: Node<'a>) -> Result<()> {
    let (node, last) = container(root, path, "replace")?;
    match &mut node.value {
        Value::Mapping(m) => insert(m, last, value),
        Value::Sequence(items) => {
            let i = existing(last, items.len());
            let missing = || {
                Error::input(format!(
                    "replace operation does not apply: doc is missing key: {}: missing value",
                    path.text
                ))
            };
            items[i.ok_or_else(missing)?] = value;
        }
        Value::Scalar(_) => {}
    }
    Ok(())
}

/// What a path names; `None` for a key that is not in its mapping.
fn get<'n, 'a>(root: &'n mut Node<'a>, path: &Pointer<'a>) -> Result<Option<&'n Node<'a>>> {
    if path.text.is_empty() {
        return Ok(Some(root));
    }
    let (node, last) = container(root, path, "test")?;
    match &node.value {
        Value::Mapping(m) => Ok(m.get(last)),
        Value::Sequence(items) => match existing(last, items.len()) {
            Some(i) => Ok(items.get(i)),
            None => Err(bad_index("test", path, last)),
        },
        Value::Scalar(_) => Ok(None),
    }
}

fn test<'a>(root: &mut Node<'a>, operation: &Operation<'a>) -> Result<()> {
    let found = get(root, &operation.path)?;
    let is_equal = match (found, &operation.value) {
        (None, None) => true,
        (Some(node), None) | (None, Some(node)) => node.is_null(),
        (Some(found), Some(wanted)) => equal(found, wanted, operation.is_json),
    };
    if is_equal {
        Ok(())
    } else {
        Err(Error::input(format!("testing value {} failed: test failed", operation.path.text)))
    }
}

/// Compares as upstream does: scalars by their JSON text. A JSON patch keeps the text it was written with, so `1.0` is not
/// `1`, and `<`, which the other side escapes, is never equal.
fn equal(found: &Node<'_>, wanted: &Node<'_>, is_json: bool) -> bool {
    match (&found.value, &wanted.value) {
        (Value::Mapping(a), Value::Mapping(b)) => {
            a.len() == b.len() && a.iter().all(|e| b.get(e.key.text).is_some_and(|v| equal(&e.value, v, is_json)))
        }
        (Value::Sequence(a), Value::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b, is_json))
        }
        (Value::Scalar(a), Value::Scalar(b)) => {
            let (mut x, mut y) = (String::new(), String::new());
            json::write(&mut x, found);
            match (is_json, b.kind()) {
                (true, scalar::Kind::Float | scalar::Kind::Int) => y.push_str(b.text),
                (true, scalar::Kind::Str) if b.text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) => {
                    return false;
                }
                _ => json::write(&mut y, wanted),
            }
            a.is_null() == b.is_null() && x == y
        }
        _ => false,
    }
}
