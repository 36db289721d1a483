//! Likely mistakes in the operations of JSON patches. A build that is not asked for findings has
//! none of this.

use super::json_patch::Operation;
use super::patch_entry::PatchEntry;
use super::patch_source::Content;
use super::pointer::existing;
use crate::diag::{Code, Warning};
use crate::resource::is_build_annotation;
use rustomize_yaml::{Entry, Node, Value};

/// The findings about the operations of a JSON patch.
pub(super) fn in_operations(patch: &PatchEntry<'_>) -> Vec<Warning> {
    let Content::Json(operations) = &patch.content else { return Vec::new() };
    let at = |code, message, operation: &Operation<'_>| Warning::new(code, message).at(operation.pos()).at(patch.pos);
    let of_operation = |operation: &Operation<'_>| {
        let made = operation.made().map(|path| {
            let is_copy = operation.op == Some("copy");
            let (message, hint) = match is_copy {
                true => (format!("nothing to copy at '{path}': the operation adds null"), "correct 'from'"),
                false => {
                    let message = format!("nothing to replace at '{path}': the operation adds a field");
                    (message, "correct the path, or write 'op: add'")
                }
            };
            at(Code::NothingToReplace, message, operation).hint(hint)
        });
        let covered = operation.covered().map(|path| {
            let message = format!("'add' replaces the value that is at '{path}', and parts of it are gone");
            let hint = "name the new field or item in the path, as with '/-' behind a list; or write 'op: replace'";
            at(Code::AddReplaces, message, operation).hint(hint)
        });
        let dashed = operation.dashed().map(|path| {
            let message = format!("the path '{path}' leads into a mapping, which gets the key '-'");
            at(Code::BadOperation, message, operation).hint("write the key in place of '-', which is for lists")
        });
        let valueless = operation.lacks_value().map(|(op, mistyped)| {
            let message = format!("the operation '{op}' has no 'value': kustomize takes null");
            let hint = match mistyped {
                Some(field) => format!("did you mean 'value' by '{field}'?"),
                None => "add 'value'; write 'value: null' if null is meant".to_owned(),
            };
            at(Code::BadOperation, message, operation).hint(hint)
        });
        [made, covered, dashed, valueless].into_iter().flatten()
    };
    operations.iter().flat_map(of_operation).collect()
}

impl<'a> Operation<'a> {
    /// Notes mistakes that a change shows: `node` is the changed resource, `old` the value that
    /// was at the path. O(length of the path + size of a list or mapping that was replaced).
    pub(super) fn look_at_change(&self, node: &Node<'a>, old: Option<&Node<'a>>) {
        if self.op == Some("add")
            && let (Some(old), Some(new)) = (old, self.spelled.as_ref().or(self.value.as_ref()))
            && old.as_scalar().is_none()
            && !has_all_of(new, old)
        {
            self.covered.note();
        }
        if let Some((&"-", way)) = self.path.parts.as_ref().and_then(|parts| parts.split_last())
            && matches!(self.op, Some("add" | "move" | "copy" | "replace"))
            && way.iter().try_fold(node, |node, part| part_of(node, part)).is_some_and(|at| at.as_mapping().is_some())
        {
            self.dashed.note();
        }
    }

    /// The path, if this is an `add` that has replaced a list or mapping and lost a part of it.
    fn covered(&self) -> Option<&'a str> {
        self.covered.is_noted().then(|| self.path.shown())
    }

    /// The path, if it ends in `-` and has led into a mapping.
    fn dashed(&self) -> Option<&'a str> {
        self.dashed.is_noted().then(|| self.path.shown())
    }

    /// The operation, if it lacks the value that it needs, and the field that may be meant as the
    /// value.
    fn lacks_value(&self) -> Option<(&'a str, Option<&'a str>)> {
        let op = self.op.filter(|op| matches!(*op, "add" | "replace" | "test"))?;
        self.value.is_none().then_some((op, self.mistyped))
    }
}

/// The value in a mapping or list that a part of a path names.
fn part_of<'n, 'a>(node: &'n Node<'a>, part: &str) -> Option<&'n Node<'a>> {
    match node.value() {
        Value::Mapping(m) => m.get(part),
        Value::Sequence(items) => items.get(existing(part, items.len())?),
        Value::Scalar(_) => None,
    }
}

/// Returns true if a value has all fields, items and texts of another one, and maybe more. The
/// items of lists are in the same order. Annotations that the build alone has do not count. O(size
/// of both).
fn has_all_of(new: &Node<'_>, old: &Node<'_>) -> bool {
    match (new.value(), old.value()) {
        (Value::Scalar(new), Value::Scalar(old)) => new.text() == old.text(),
        (Value::Mapping(new), Value::Mapping(old)) => {
            let has = |entry: &Entry<'_>| {
                let key = entry.key().text();
                is_build_annotation(key) || new.get(key).is_some_and(|new| has_all_of(new, entry.value()))
            };
            old.iter().all(has)
        }
        (Value::Sequence(new), Value::Sequence(old)) => {
            let mut rest = new.iter();
            old.iter().all(|old| rest.any(|new| has_all_of(new, old)))
        }
        (_, Value::Mapping(old)) => old.iter().all(|entry| is_build_annotation(entry.key().text())),
        (_, Value::Sequence(old)) => old.is_empty(),
        _ => false,
    }
}
