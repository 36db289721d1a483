//! JSON patches (RFC 6902) as kustomize applies them.

use super::patch_values::note_operation;
use super::pointer::{Pointer, bad_index, edit_container, existing, get, index, string};
use crate::config::{Decode, Decoder};
use crate::diag::{Code, Error, Result, nearest};
use crate::merge::copies::{Copies, check_depth};
use crate::resource::{INTERNAL, Resource, empty_key};
use crate::stage::{Hit, Overridden, wire};
use rustomize_yaml::{Arena, Key, Mapping, Node, Pos, Value, ValueMut, json, reprint, spelling};

/// One operation of a JSON patch. A missing field is an error when the operation is applied, not
/// before.
#[derive(Clone, Debug, Default)]
pub struct Operation<'a> {
    /// `None` if it is missing or not a string.
    pub(super) op: Option<&'a str>,
    op_pos: Pos,
    pub(super) path: Pointer<'a>,
    pub(super) from: Pointer<'a>,
    /// A value that is missing is null, except for `test`.
    pub(super) value: Option<Node<'a>>,
    /// The value as JSON text, in a patch with a `test`: see [`spelling`].
    pub(super) spelled: Option<Node<'a>>,
    /// True if the value has a text that [`reprint::check_dumped`] refuses.
    has_unreadable: bool,
    /// A field of the operation that is not known, if it may be meant as `value`.
    pub(super) mistyped: Option<&'a str>,
    /// Noted where a `replace` has made a field that was not there, or a `copy` has copied one.
    made: Hit,
    /// Noted where an `add` has replaced a list or mapping and lost a part of it, if findings are
    /// asked for.
    pub(super) covered: Hit,
    /// Noted where a path that ends in `-` has added a key to a mapping, if findings are asked
    /// for.
    pub(super) dashed: Hit,
    pos: Pos,
}

impl<'a> Operation<'a> {
    /// The place in the sources.
    pub(super) fn pos(&self) -> Pos {
        self.pos
    }

    /// The path, if this is a `replace` that has made a field that was not there; `from`, if it is
    /// a `copy` of such a field.
    pub(super) fn made(&self) -> Option<&'a str> {
        let path = if self.op == Some("copy") { &self.from } else { &self.path };
        self.made.is_noted().then(|| path.shown())
    }

    /// Where this puts a value, and the value if the operation has it.
    pub(super) fn brings(&self) -> Option<(&[&'a str], Option<&Node<'a>>)> {
        let value = match self.op? {
            "add" | "replace" => self.value.as_ref(),
            "move" | "copy" => None,
            _ => return None,
        };
        Some((self.path.parts.as_deref()?, value))
    }

    /// Returns true if this puts a scalar in the place of a whole resource.
    fn makes_a_scalar_of_all(&self) -> bool {
        self.op == Some("replace")
            && self.path.is_root()
            && self.value.as_ref().is_some_and(|value| value.as_scalar().is_some())
    }

    /// Returns true if this asks for a value.
    pub(super) fn is_test(&self) -> bool {
        self.op == Some("test")
    }

    /// Returns true if this can change the kind or the apiVersion of a resource.
    pub(super) fn changes_kind(&self) -> bool {
        self.path.parts.as_ref().is_none_or(|parts| matches!(parts.first(), Some(&("kind" | "apiVersion"))))
    }

    /// Returns true if this may change the metadata or the kind of a resource.
    pub fn touches_identity(&self) -> bool {
        let may_touch = |p: &Pointer<'_>| {
            p.parts
                .as_ref()
                .and_then(|parts| parts.first())
                .is_none_or(|first| matches!(*first, "metadata" | "kind" | "apiVersion"))
        };
        may_touch(&self.path) || (self.op == Some("move") && may_touch(&self.from))
    }

    /// Returns true if this reads or changes the annotations of a resource.
    pub(super) fn sees_annotations(&self) -> bool {
        let sees = |p: &Pointer<'_>| match p.parts.as_deref() {
            None | Some(["metadata"]) => true,
            Some(parts) => parts.starts_with(&["metadata", "annotations"]),
        };
        sees(&self.path) || (matches!(self.op, Some("move" | "copy")) && sees(&self.from))
    }
}

/// The annotations that operations read or change, by their keys; `None` if they may be any.
fn seen_annotations<'a>(operations: &[Operation<'a>]) -> Option<Vec<&'a str>> {
    let mut keys = Vec::new();
    let pointers = |operation: &'_ Operation<'a>| {
        let has_source = matches!(operation.op, Some("move" | "copy"));
        [Some(operation.path.clone()), has_source.then(|| operation.from.clone())]
    };
    for pointer in operations.iter().flat_map(pointers).flatten() {
        match pointer.parts.as_deref() {
            Some(["metadata", "annotations", key]) if !is_internal(key) => keys.push(*key),
            None | Some(["metadata"] | ["metadata", "annotations", ..]) => return None,
            Some(_) => {}
        }
    }
    Some(keys)
}

impl<'a> Decode<'a> for Operation<'a> {
    fn decode(&mut self, node: &Node<'a>, cx: &Decoder<'a>) -> Result<()> {
        self.pos = node.pos();
        let Value::Mapping(fields) = node.value() else {
            let fault = || cx.error(node.pos(), format!("expected an operation, found {}", node.shape()));
            return if node.is_null() { Ok(()) } else { Err(fault()) };
        };
        // Field names are matched exactly here: kustomize reads an operation into a map.
        for entry in fields.iter() {
            match entry.key().text() {
                "op" => {
                    self.op = string(entry.value(), cx);
                    self.op_pos = entry.value().pos();
                }
                "path" => self.path.decode(entry.value(), cx)?,
                "from" => self.from.decode(entry.value(), cx)?,
                "value" => self.value = Some(entry.value().clone()),
                field => self.mistyped = self.mistyped.or(nearest(field, ["value"]).map(|_| field)),
            }
        }
        Ok(())
    }
}

/// Returns true if an operation compares text of JSON.
fn has_test(operations: &[Operation<'_>]) -> bool {
    operations.iter().any(Operation::is_test)
}

/// Reads the operations of a patch that was written in YAML.
///
/// # Errors
/// The node is not a list of mappings, or a key or value is not one that JSON has.
pub fn from_yaml<'a>(arena: Arena<'a>, node: &Node<'a>) -> Result<Vec<Operation<'a>>> {
    json::check_keys(node)?;
    let mut operations: Vec<Operation<'a>> = Vec::new();
    operations.decode(node, &Decoder::strict(arena))?;
    let is_spelled = has_test(&operations);
    for operation in &mut operations {
        let Some(value) = &mut operation.value else { continue };
        json::from_yaml_1_1(arena, value);
        if is_spelled {
            let mut spelled = value.clone();
            reprint::into_json(arena, &mut spelled)?;
            spelling::spell(arena, &mut spelled);
            operation.spelled = Some(spelled);
        }
        operation.has_unreadable = reprint::through_json(arena, value)?;
    }
    Ok(operations)
}

/// Reads the operations of a patch that was written in JSON: `node` is the tree that `text` is
/// parsed to.
///
/// # Errors
/// As [`from_yaml`].
pub fn from_json<'a>(arena: Arena<'a>, text: &'a str, node: &Node<'a>) -> Result<Vec<Operation<'a>>> {
    let mut operations: Vec<Operation<'a>> = Vec::new();
    operations.decode(node, &Decoder::strict(arena))?;
    let spelled = has_test(&operations).then(|| spelling::read(arena, text));
    for (i, operation) in operations.iter_mut().enumerate() {
        let Some(value) = &mut operation.value else { continue };
        operation.spelled = spelled.as_ref().and_then(|list| list.as_sequence()?.get(i)?.get("value")).cloned();
        operation.has_unreadable = reprint::through_json(arena, value)?;
    }
    Ok(operations)
}

/// Whether the names that a patch changes are followed by references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renames {
    /// The old identity is recorded first, as for `patches`.
    Recorded,
    /// As for `patchesJson6902`: a reference keeps the old name.
    Unrecorded,
}

/// The search for mistakes while a patch is applied.
#[derive(Clone, Copy)]
pub struct Looking<'p> {
    /// The set in which a patch notes the values of earlier patches that it replaces or removes.
    pub overridden: Option<&'p Overridden>,
    /// The entry of the patch.
    pub entry: Pos,
}

/// Applies operations to a resource, in order. The annotations that upstream keeps for itself are
/// there while the operations run. In a patch with a `test` the operations work on a
/// [spelled](spelling) tree. O(operations + size of the resource, once).
///
/// # Errors
/// The first operation that does not apply; the resource is then half patched.
pub fn apply<'a>(
    arena: Arena<'a>,
    resource: &mut Resource<'a>,
    operations: &[Operation<'a>],
    renames: Renames,
    looking: Option<Looking<'_>>,
) -> Result<()> {
    if renames == Renames::Recorded {
        resource.record_previous();
    }
    let is_new = !resource.is_in_json_form();
    let is_spelled = has_test(operations);
    let mut has_unreadable = operations.iter().any(|operation| operation.has_unreadable);
    if is_new {
        resource.unshare();
        has_unreadable |= match is_spelled {
            true => reprint::into_json(arena, resource.node_mut())?,
            false => reprint::through_json(arena, resource.node_mut())?,
        };
    }
    let run_all = |node: &mut Node<'a>| {
        let mut copies = Copies::default();
        if is_spelled {
            spelling::spell(arena, node);
        }
        let skips = |operation: &&Operation<'a>| {
            operation.makes_a_scalar_of_all() && arena.compat().skips_scalars_for_whole_resources()
        };
        for operation in operations.iter().filter(|operation| !skips(operation)) {
            let old = run(node, operation, &mut copies).map_err(|e| located(e, operation))?;
            let Some(Looking { overridden, entry }) = looking else { continue };
            operation.look_at_change(node, old.as_ref());
            if let (Some(overridden), Some(mut old)) = (overridden, old)
                && let Some(path) = &operation.path.parts
            {
                if is_spelled {
                    spelling::restore(arena, &mut old);
                }
                // A node that was read from JSON lacks a position.
                let by = if operation.pos.is_in_source() { operation.pos } else { entry };
                note_operation(overridden, path, &old, operation.value.as_ref(), by);
            }
        }
        if is_spelled {
            spelling::restore(arena, node);
        }
        check_whole(node)?;
        // Upstream dumps the patched resource, and reads it again.
        if has_unreadable { Ok(reprint::check_dumped(node)?) } else { Ok(()) }
    };
    match seen_annotations(operations) {
        Some(keys) if keys.is_empty() => run_all(resource.node_mut())?,
        Some(keys) => {
            wire::with_build_annotations(arena, resource, &|key| keys.contains(&key), run_all)?;
            check_written(resource, renames)?;
            resource.stringify_annotations(&keys);
        }
        None => {
            let internal = internal_annotations(resource);
            wire::with_build_annotations(arena, resource, &|_| true, run_all)?;
            resource.check_annotations()?;
            check_written(resource, renames)?;
            resource.stringify_metadata("annotations");
            // Upstream puts back the annotations of tools, whatever the patch has done to them.
            if !resource.has_null_metadata() {
                resource.add_metadata_entries("annotations", internal.iter().map(|(key, text)| (*key, (*text).into())));
            }
        }
    }
    if is_new {
        resource.check_annotations()?;
        check_written(resource, renames)?;
        resource.stringify_metadata("annotations");
    }
    resource.note_json_form();
    Ok(())
}

/// Looks for metadata that is not a mapping, and for an annotation with an empty key: kustomize
/// cannot write its annotations then, and the history, which is among them, is lost. Only
/// `patchesJson6902`, which does not record the old identity, asks whether they were written.
fn check_written(resource: &mut Resource<'_>, renames: Renames) -> Result<()> {
    let metadata = resource.node().get("metadata");
    let is_recorded = renames == Renames::Recorded;
    if is_recorded && metadata.is_some_and(|metadata| metadata.as_mapping().is_none()) {
        resource.forget_history();
        return Ok(());
    }
    let annotations = metadata.and_then(|m| m.get("annotations"));
    let Some(pos) = annotations.and_then(empty_key) else { return Ok(()) };
    if !is_recorded {
        let error = Error::new(Code::BadPatch, "an annotation has an empty key").at(pos);
        return Err(error.hint("a path that ends with '/' names the empty key: remove the '/', or add a key"));
    }
    if let Some(metadata) = resource.metadata_mut() {
        metadata.remove("annotations");
    }
    resource.forget_history();
    Ok(())
}

/// The annotations that a manifest has by hand, and that upstream counts among its own.
fn internal_annotations<'a>(resource: &Resource<'a>) -> Vec<(&'a str, &'a str)> {
    let annotations = resource.node().get("metadata").and_then(|m| m.get("annotations"));
    let entries = annotations.and_then(Node::as_mapping).into_iter().flat_map(Mapping::iter);
    let internal = entries.filter(|entry| is_internal(entry.key().text()));
    internal.map(|entry| (entry.key().text(), entry.value().scalar_text())).collect()
}

fn is_internal(key: &str) -> bool {
    let is_older = matches!(key, "config.kubernetes.io/path" | "config.kubernetes.io/index" | "config.k8s.io/id");
    is_older || key.starts_with(INTERNAL)
}

/// The rest of a resource must be a mapping with at least one entry.
fn check_whole(node: &Node<'_>) -> Result<()> {
    match node.value() {
        Value::Mapping(m) if !m.is_empty() => Ok(()),
        Value::Mapping(_) => {
            Err(Error::new(Code::BadPatch, "missing Resource metadata: the patch leaves nothing of the resource")
                .hint("to delete a resource, use a strategic merge patch with `$patch: delete`"))
        }
        _ => Err(Error::new(Code::BadPatch, format!("the patch turns the resource into {}", node.shape()))
            .hint("the path \"\" is the resource as a whole: name a field of it")),
    }
}

/// The operations of JSON patches.
const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];

/// An error of an operation at its path if that leads nowhere, else at its value.
fn located(error: Error, operation: &Operation<'_>) -> Error {
    let value = operation.value.as_ref().map_or(Pos::NONE, |value| value.pos());
    let spot = if error.code() == Code::MissingPath { operation.path.pos } else { value };
    error.at(spot).at(operation.pos)
}

/// Applies an operation, and returns the value that it has replaced or removed. The result is
/// `None` for a move and a copy.
fn run<'a>(root: &mut Node<'a>, operation: &Operation<'a>, copies: &mut Copies) -> Result<Option<Node<'a>>> {
    let op = operation.op.unwrap_or("unknown");
    if !OPERATIONS.contains(&op) {
        let hint = match nearest(op, OPERATIONS) {
            Some(name) => format!("did you mean '{name}'?"),
            None => format!("the 'op' of an operation is one of: {}", OPERATIONS.join(", ")),
        };
        let spot = if operation.op.is_some() { operation.op_pos } else { operation.pos };
        return Err(Error::new(Code::BadPatch, format!("Unexpected kind: {op}")).at(spot).hint(hint));
    }
    let given = |pointer: &Pointer<'a>, field: &str| match pointer.text {
        Some(_) => Ok(()),
        None => Err(Error::new(
            Code::BadPatch,
            format!("{op} operation failed to decode {field}: it is missing or not a string"),
        )
        .hint(format!("write it as in {field}: /spec/replicas"))),
    };
    given(&operation.path, "path")?;
    if matches!(op, "move" | "copy") {
        given(&operation.from, "from")?;
    }
    let value = || operation.spelled.as_ref().or(operation.value.as_ref()).cloned().unwrap_or_default();
    let path = &operation.path;
    match op {
        "add" => add(root, path, value()),
        "remove" => remove(root, path).map(Some),
        "replace" if path.is_root() => replace_root(root, value()).map(|()| None),
        "replace" => replace(root, path, value(), &operation.made),
        "move" => {
            let taken = remove(root, &operation.from)
                .map_err(|e| e.at(operation.from.pos).context("in the 'from' of a move"))?;
            // Where it is not deeper than it was, its depth need not be looked at.
            let put = match path.len() > operation.from.len() {
                true => add(root, path, taken),
                false => put(root, path, taken),
            };
            put.map(|_| None)
        }
        "copy" => {
            let copied = get(root, &operation.from, op)
                .map_err(|e| e.at(operation.from.pos).context("in the 'from' of a copy"))?;
            if copied.is_none() {
                operation.made.note();
            }
            let copied = copied.map_or_else(|| Ok(Node::default()), |node| copies.copy(node))?;
            add(root, path, copied).map(|_| None)
        }
        _ => test(root, operation).map(|()| None),
    }
}

fn replace_root<'a>(root: &mut Node<'a>, value: Node<'a>) -> Result<()> {
    if value.as_scalar().is_some() {
        return Err(Error::new(Code::BadPatch, "replace operation value must be object or array")
            .hint("the path \"\" is the resource as a whole"));
    }
    *root = value;
    Ok(())
}

/// Adds a value, and returns the old value of the key.
fn add<'a>(root: &mut Node<'a>, path: &Pointer<'a>, value: Node<'a>) -> Result<Option<Node<'a>>> {
    check_depth(path.len(), &value)?;
    put(root, path, value)
}

fn put<'a>(root: &mut Node<'a>, path: &Pointer<'a>, value: Node<'a>) -> Result<Option<Node<'a>>> {
    edit_container(root, path, "add", |node, last| match node.value_mut() {
        ValueMut::Mapping(m) => Ok(insert(m, last, value)),
        ValueMut::Sequence(items) => {
            let len = items.len();
            let place = match index(last) {
                _ if last == "-" => Some(len),
                Some(i) if i < 0 => usize::try_from(i + len as i64 + 1).ok(),
                Some(i) => usize::try_from(i).ok().filter(|&i| i <= len),
                None => None,
            };
            items.insert(place.ok_or_else(|| bad_index("add", path, last))?, value);
            Ok(None)
        }
        ValueMut::Scalar(_) => Ok(None),
    })
}

/// Sets the value of a key, and returns the old one.
fn insert<'a>(m: &mut Mapping<'a>, key: &'a str, value: Node<'a>) -> Option<Node<'a>> {
    let old = m.insert(Key::string(key), value);
    m.set_braces(false);
    old
}

fn remove<'a>(root: &mut Node<'a>, path: &Pointer<'a>) -> Result<Node<'a>> {
    edit_container(root, path, "remove", |node, last| match node.value_mut() {
        ValueMut::Mapping(m) => {
            let removed = m.remove(last);
            // The dump behind the patch writes an empty mapping in braces.
            m.set_braces(m.is_empty());
            let near = removed.is_none().then(|| nearest(last, m.iter().map(|entry| entry.key().text())));
            let hint = match near.flatten() {
                Some(name) => format!("did you mean '{name}'?"),
                None => "correct the path, or remove the operation".to_owned(),
            };
            removed.ok_or_else(|| {
                Error::new(
                    Code::MissingPath,
                    format!(
                        "error in remove for path: '{}': Unable to remove nonexistent key: {last}: missing value",
                        path.shown()
                    ),
                )
                .hint(hint)
            })
        }
        ValueMut::Sequence(items) => match existing(last, items.len()) {
            Some(i) => Ok(items.remove(i)),
            None => Err(bad_index("remove", path, last)),
        },
        ValueMut::Scalar(_) => Ok(Node::null()),
    })
}

/// Replaces a value, and returns the old one. kustomize makes a missing field: `made` notes that.
fn replace<'a>(root: &mut Node<'a>, path: &Pointer<'a>, value: Node<'a>, made: &Hit) -> Result<Option<Node<'a>>> {
    check_depth(path.len(), &value)?;
    edit_container(root, path, "replace", |node, last| match node.value_mut() {
        ValueMut::Mapping(m) => {
            let old = insert(m, last, value);
            if old.is_none() {
                made.note();
            }
            Ok(old)
        }
        ValueMut::Sequence(items) => {
            let i = existing(last, items.len());
            let missing = || {
                Error::new(
                    Code::MissingPath,
                    format!("replace operation does not apply: doc is missing key: {}: missing value", path.shown()),
                )
                .hint(match last {
                    "-" => "'-' is the place behind the last item: put an item there with 'op: add', or write the number of an item, from 0 on",
                    _ => "an item of a list has a number from 0 on",
                })
            };
            Ok(Some(std::mem::replace(&mut items[i.ok_or_else(missing)?], value)))
        }
        ValueMut::Scalar(_) => Ok(None),
    })
}

fn test<'a>(root: &mut Node<'a>, operation: &Operation<'a>) -> Result<()> {
    let found = match operation.path.is_root() {
        true => Some(&*root),
        false => get(root, &operation.path, "test")?,
    };
    let is_equal = match (found, &operation.spelled) {
        (None, None) => true,
        (Some(node), None) | (None, Some(node)) => node.is_null(),
        (Some(found), Some(wanted)) => equal(found, wanted),
    };
    let hint = "the resource has another value there: see whether the patch still fits, then correct 'value'";
    if is_equal { Ok(()) } else { Err(failed_test(operation).hint(hint)) }
}

fn failed_test(operation: &Operation<'_>) -> Error {
    Error::new(Code::TestFailed, format!("testing value {} failed: test failed", operation.path.shown()))
}

/// Compares the text of JSON: a patch in JSON keeps the text it was written with, so `1.0` is not
/// `1`, and `<`, which Go's encoder escapes, is not the `<` of a resource. Upstream crashes where
/// it compares a null in a list.
fn equal(found: &Node<'_>, wanted: &Node<'_>) -> bool {
    match (found.value(), wanted.value()) {
        (Value::Mapping(a), Value::Mapping(b)) => {
            a.len() == b.len() && a.iter().all(|e| b.get(e.key().text()).is_some_and(|v| equal(e.value(), v)))
        }
        (Value::Sequence(a), Value::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| !a.is_null() && equal(a, b))
        }
        (Value::Scalar(a), Value::Scalar(b)) => a.text() == b.text(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustomize_yaml::{Heap, emit, first_document};

    const ROOT: &str = "kind: A\nl: [1, x, 2]\nm: {a: null, b: {}}\nt: text\n";

    /// The result of one operation on [`ROOT`], or the end of its message.
    fn patched(operation: &str) -> std::result::Result<String, String> {
        let heap = Heap::new();
        let arena = heap.arena();
        let read = |text: &str| first_document(arena, arena.add_source("test", text.to_owned())).unwrap().unwrap();
        let operations = from_yaml(arena, &read(&format!("[{operation}]"))).map_err(|e| e.to_string())?;
        let mut resource = Resource::unchecked(read(ROOT));
        apply(arena, &mut resource, &operations, Renames::Unrecorded, None).map_err(|e| e.message().to_owned())?;
        let mut out = String::new();
        emit::document(&mut out, resource.node()).unwrap();
        Ok(out)
    }

    #[track_caller]
    fn gives(operation: &str, line: &str) {
        let out = patched(operation).unwrap();
        assert!(out.replace("\n  ", " ").lines().any(|l| l == line), "{operation}:\n{out}");
    }

    #[track_caller]
    fn fails(operation: &str, message: &str) {
        let got = patched(operation).unwrap_err();
        assert!(got.contains(message), "{operation}: {got}");
    }

    #[test]
    fn fields() {
        for (operation, message) in [
            ("{path: /t, value: z}", "Unexpected kind: unknown"),
            ("{op: null, path: /t}", "Unexpected kind: unknown"),
            ("{op: 5, path: /t}", "Unexpected kind: unknown"),
            ("{op: Add, path: /t}", "Unexpected kind: Add"),
            ("null", "Unexpected kind: unknown"),
            ("5", "expected an operation"),
            ("{op: add, Path: /t}", "failed to decode path"),
            ("{op: add, path: 5}", "failed to decode path"),
            ("{op: test, path: null}", "failed to decode path"),
            ("{op: remove}", "failed to decode path"),
            ("{op: move, path: /t}", "failed to decode from"),
            ("{op: copy, path: /t, From: /m}", "failed to decode from"),
            ("{op: copy, path: /t, from: {a: b}}", "failed to decode from"),
        ] {
            fails(operation, message);
        }
        gives("{op: add, path: /t, from: {a: b}, Value: z}", "t: null");
        gives("{op: add, path: /t, value: z, more: 1}", "t: z");
    }

    #[test]
    fn paths() {
        gives("{op: add, path: junk/t, value: z}", "t: z");
        gives("{op: add, path: /t~2~, value: z}", "t~2~: z");
        gives("{op: add, path: /~01~1, value: z}", "~1/: z");
        gives("{op: add, path: /, value: z}", "\"\": z");
        for path in ["t", "\"\"", "/none/t", "/t/x", "/m/a/x"] {
            fails(&format!("{{op: add, path: {path}, value: z}}"), "doc is missing path");
        }
        fails("{op: copy, from: \"\", path: /t}", "doc is missing path");
        fails("{op: move, from: \"\", path: /t}", "doc is missing path");
        gives("{op: copy, from: /none, path: /t}", "t: null");
        fails("{op: move, from: /none, path: /t}", "nonexistent key");
        gives("{op: copy, from: /t, path: /t}", "t: text");
    }

    #[test]
    fn indexes() {
        for (index, added) in
            [("-", "1 x 2 9"), ("3", "1 x 2 9"), ("01", "1 9 x 2"), ("+1", "1 9 x 2"), ("-0", "9 1 x 2")]
        {
            let line = added.split(' ').fold("l:".to_owned(), |line, item| line + " - " + item);
            let out = patched(&format!("{{op: add, path: /l/{index}, value: 9}}")).unwrap();
            assert!(out.replace('\n', " ").contains(&line), "{index}: {out}");
        }
        for index in ["4", "-5", "a", "1_0", "99999999999999999999"] {
            fails(&format!("{{op: add, path: /l/{index}, value: 9}}"), "invalid index");
        }
        for index in ["-", "3", "-4", "a"] {
            fails(&format!("{{op: remove, path: /l/{index}}}"), "invalid index");
            fails(&format!("{{op: test, path: /l/{index}, value: null}}"), "invalid index");
            fails(&format!("{{op: replace, path: /l/{index}, value: 1}}"), "doc is missing key");
        }
        gives("{op: test, path: /l/-3, value: 1}", "kind: A");
    }

    #[test]
    fn tests() {
        for operation in [
            "{op: test, path: /none}",
            "{op: test, path: /m/a}",
            "{op: test, path: /m, value: {b: {}, a: null}}",
            "{op: test, path: /l, value: [1, x, 2]}",
        ] {
            gives(operation, "kind: A");
        }
        for operation in [
            "{op: test, path: \"\"}",
            "{op: test, path: \"\", value: null}",
            "{op: test, path: /t}",
            "{op: test, path: /m/b, value: []}",
            "{op: test, path: /m, value: {b: {}}}",
            "{op: test, path: /l, value: [1]}",
        ] {
            fails(operation, "test failed");
        }
    }

    #[test]
    fn tests_compare_digits() {
        let added = |value: &str, wanted: &str| {
            format!("{{op: add, path: /t, value: {value}}}, {{op: test, path: /t, value: {wanted}}}")
        };
        for (value, wanted, printed) in [
            ("9007199254740993", "9007199254740993", "t: 9007199254740992"),
            ("18446744073709551615", "0xFFFF_FFFF_FFFF_FFFF", "t: 1.8446744073709552e+19"),
            ("1e3", "1_000", "t: 1000"),
            ("-0.0", "-0.0", "t: 0"),
            ("-0", "0", "t: 0"),
            ("yes", "true", "t: true"),
            ("{a: [1.0]}", "{a: [1]}", "t: a: - 1"),
        ] {
            gives(&added(value, wanted), printed);
        }
        for (value, wanted) in [
            ("9007199254740993", "9007199254740992"),
            ("9223372036854775808", "9223372036854775809"),
            ("18446744073709551615", "18446744073709551616"),
            ("-0.0", "0"),
            ("1", "'1'"),
        ] {
            fails(&added(value, wanted), "test failed");
        }
    }

    #[test]
    fn the_root() {
        fails("{op: replace, path: \"\"}", "must be object or array");
        fails("{op: replace, path: \"\", value: text}", "must be object or array");
        fails("{op: replace, path: \"\", value: []}", "turns the resource into a list");
        fails("{op: replace, path: \"\", value: {}}", "leaves nothing of the resource");
        gives("{op: replace, path: \"\", value: {kind: B}}", "kind: B");
    }
}
