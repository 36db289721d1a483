//! Strategic merge: a patch into a resource, or values of a chart into others.
//!
//! For values of a chart, the patch overrides the base.
//!
//! The whole resource is walked, also where the patch says nothing, because upstream does: nulls
//! written as nothing go, and items of keyed lists that share a key become one. Lists are merged by
//! key where the [`Schema`] says so, otherwise replaced. A value that only the patch has is merged
//! with itself, which resolves the nulls and directives inside it.
//!
//! The patch is edited on the way, as upstream edits it: a directive that was obeyed is gone when
//! an item of the patch meets a second item of the resource.

pub mod copies;
mod elements;
mod list;
pub mod losses;
pub mod tuples;

use crate::diag::{Code, Error, Result};
use crate::schema::Gvk;
use crate::schema::{Schema, Schemas};
use losses::Losses;
use rustomize_yaml::scalar::{self, Kind};
use rustomize_yaml::{Entries, Entry, Items, Key, Mapping, Node, Pos, Scalar, Sequence, Style, Tag, Value, ValueMut};

/// The field of a patch with a directive for its mapping or item.
const DIRECTIVE: &str = "$patch";

/// The request of a `$patch` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// The texts that are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merging {
    /// A patch into a resource. New items come first in a list that is merged by key.
    Resource,
    /// Values of a chart into others. New items come last in such a list.
    Values,
}

/// The known facts about a value that is merged.
#[derive(Clone, Copy)]
struct Known<'s> {
    schema: Schema<'s>,
    merging: Merging,
    /// The set in which lists note what they lose, if the build is asked for findings.
    losses: Option<&'s Losses>,
}

impl<'s> Known<'s> {
    /// No fact is known.
    fn nothing(schemas: &'s Schemas<'_>, merging: Merging) -> Self {
        Known { schema: schemas.unknown(), merging, losses: None }
    }

    fn with(self, schema: Schema<'s>) -> Self {
        Known { schema, ..self }
    }

    fn field(self, name: &str) -> Self {
        self.with(self.schema.field(name))
    }

    fn items(self) -> Self {
        self.with(self.schema.items())
    }

    fn merge_keys(self) -> Option<&'s [&'s str]> {
        self.schema.merge_keys()
    }
}

/// The result of merging two values.
#[derive(Debug)]
enum Merged<'a> {
    /// No value.
    Gone,
    /// The value of the resource, which was edited.
    Base,
    /// The value of the patch, which was edited.
    Patch,
    /// A value of its own.
    New(Node<'a>),
}

/// Merges a patch into a resource; `false` if the resource is to be deleted. `losses` gets the
/// values that lists lose. O(size of both).
///
/// # Errors
/// Two values differ in shape, or a directive is unknown.
pub fn apply<'a>(
    base: &mut Node<'a>,
    mut patch: Node<'a>,
    schemas: &Schemas<'_>,
    losses: Option<&Losses>,
) -> Result<bool> {
    let had_null = has_null(base);
    let merged = merge(base, &mut patch, Known { losses, ..Known::nothing(schemas, Merging::Resource) })?;
    // A null key at the top is passed over where the resource is decoded; two of them are not.
    if has_null(base)
        && !had_null
        && let Some(fields) = base.as_mapping_mut()
    {
        fields.retain(|key, _| !is_null(key));
    }
    match merged {
        Merged::Gone => Ok(false),
        // A replacement at the top does nothing: upstream drops the result, and keeps the resource.
        Merged::Base | Merged::Patch | Merged::New(_) => Ok(true),
    }
}

/// The way out where values of a chart cannot be merged.
pub const NOT_MERGED: &str =
    "'valuesMerge: replace' passes 'valuesInline' alone to helm, which merges it with the values of the chart itself";

/// Merges values of a chart: those of `patch` win. `None` if nothing is left. `patch` is edited: a
/// directive that was obeyed, and a null that a null takes the place of, are gone. O(size of both).
///
/// # Errors
/// Two values differ in shape, or a directive is unknown.
pub fn values<'a>(base: Node<'a>, patch: &mut Node<'a>, schemas: &Schemas<'_>) -> Result<Option<Node<'a>>> {
    let mut base = base;
    Ok(match merge(&mut base, patch, Known::nothing(schemas, Merging::Values))? {
        Merged::Gone => None,
        Merged::Base => Some(base),
        Merged::Patch => Some(patch.clone()),
        Merged::New(node) => Some(node),
    })
}

/// Reads the text of a directive.
fn directive(text: &str) -> Result<Directive> {
    match text {
        "merge" => Ok(Directive::Merge),
        "replace" => Ok(Directive::Replace),
        "delete" => Ok(Directive::Delete),
        other => Err(Error::new(Code::BadPatch, format!("unknown patch strategy '{other}'"))
            .hint("$patch takes merge, replace or delete")),
    }
}

/// Takes the directive out of a mapping of the patch; a mapping without one is merged.
fn take_directive(patch: &mut Mapping<'_>) -> Result<Directive> {
    let Some(value) = patch.get(DIRECTIVE) else { return Ok(Directive::Merge) };
    let found = directive(value.scalar_text()).map_err(|e| e.at(value.pos()))?;
    patch.remove(DIRECTIVE);
    Ok(found)
}

/// The schema of a mapping: the one it was reached with, or that of the kind it says it is, or else
/// of the kind that the patch says it is.
fn schema_of<'s>(known: Known<'s>, base: &Mapping<'_>, patch: Option<&Mapping<'_>>) -> Known<'s> {
    let schema = known.schema;
    if !schema.is_unknown() {
        return known;
    }
    let said_by = |mapping: &Mapping<'_>| {
        let text = |field| mapping.get(field)?.as_scalar().filter(|s| !s.is_null()).map(|s| s.text());
        match (text("apiVersion"), text("kind")) {
            (Some(api_version), Some(kind)) => schema.of(&Gvk::new(api_version, kind)),
            _ => schema,
        }
    };
    let found = said_by(base);
    known.with(match patch {
        Some(patch) if found.is_unknown() => said_by(patch),
        _ => found,
    })
}

/// Merges a patch value into a base value.
fn merge<'a>(base: &mut Node<'a>, patch: &mut Node<'a>, known: Known<'_>) -> Result<Merged<'a>> {
    if base.is_null() {
        return introduced(patch, known);
    }
    if patch.is_null() {
        return Ok(Merged::Gone);
    }
    let pos = patch.pos();
    match (base.value_mut(), patch.value_mut()) {
        (ValueMut::Mapping(b), ValueMut::Mapping(p)) => match take_directive(p)? {
            Directive::Delete => {
                known.losses.into_iter().for_each(|losses| losses.note_deletion(pos, true));
                Ok(Merged::Gone)
            }
            Directive::Replace => {
                fields_with_themselves(p, schema_of(known, b, Some(p)))?;
                Ok(Merged::Patch)
            }
            Directive::Merge => {
                merge_mapping(b, p, known)?;
                Ok(Merged::Base)
            }
        },
        (ValueMut::Sequence(b), ValueMut::Sequence(p)) => match known.merge_keys() {
            Some(keys) => {
                let in_brackets = if b.is_empty() { p.is_in_brackets() } else { b.is_in_brackets() };
                Ok(new_list(list::merge(b.items_mut(), p.items_mut(), keys, known.items())?, in_brackets, base.pos()))
            }
            None => Ok(Merged::Patch),
        },
        (ValueMut::Scalar(_), ValueMut::Scalar(_)) => Ok(Merged::Patch),
        _ => Err(differ(base, patch, known.merging)),
    }
}

/// The error for two values of different shapes.
fn differ(base: &Node<'_>, patch: &Node<'_>, merging: Merging) -> Error {
    let (message, hint) = match merging {
        Merging::Resource => (
            format!("wrong node kind: expected {}, the patch has {}", base.shape(), patch.shape()),
            format!("write {} in the patch, as the resource has it", base.shape()),
        ),
        Merging::Values => (
            format!("could not merge values: wrong node kind: {} cannot override {}", patch.shape(), base.shape()),
            NOT_MERGED.to_owned(),
        ),
    };
    Error::new(Code::WrongType, message).at(patch.pos()).hint(hint)
}

fn new_list(items: Option<Items<'_>>, in_brackets: bool, pos: Pos) -> Merged<'_> {
    let Some(items) = items else { return Merged::Gone };
    let mut list = Sequence::from(items);
    list.set_brackets(in_brackets);
    Merged::New(Node::new(list, pos))
}

/// Returns true if a new value of a field is written in braces or brackets: upstream keeps the
/// style of the old value, unless that is empty.
fn stays_in_braces(field: &Value<'_>, patch: &Value<'_>) -> bool {
    let is_in_braces = |value: &Value<'_>| match value {
        Value::Scalar(_) => false,
        Value::Sequence(items) => items.is_in_brackets(),
        Value::Mapping(m) => m.is_in_braces(),
    };
    let is_empty = match field {
        Value::Scalar(_) => false,
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(m) => m.is_empty(),
    };
    is_in_braces(if is_empty { patch } else { field })
}

/// Merges the fields of a mapping, after a walk over those that the patch does not name.
fn merge_mapping<'a>(base: &mut Mapping<'a>, patch: &mut Mapping<'a>, known: Known<'_>) -> Result<()> {
    let known = schema_of(known, base, Some(patch));
    // The braces of an empty mapping are not kept.
    let in_braces = if base.is_empty() { patch.is_in_braces() } else { base.is_in_braces() };
    retain(base, |name, value| Ok(patch.contains(name) || untouched_field(value, name, known)?))?;
    // Of a key that stands twice in one of them, upstream finds the first.
    let (mut new, mut last) = (Entries::new(), None);
    for (key, value) in patch.iter_mut().filter(|(key, _)| is_first(key, &mut last)) {
        let name = key.text();
        let Some(field) = base.get_mut(name) else {
            introduce(&mut new, *key, value, known)?;
            continue;
        };
        let merged = merge(field, value, known.field(name)).map_err(|e| e.in_field(name))?;
        if !set(field, merged, Some(value)) {
            remove(base, name);
        }
    }
    base.add_all(new);
    base.set_braces(in_braces);
    Ok(())
}

/// Removes a field that a patch has removed, unless its key is null: upstream finds no field by it.
fn remove(base: &mut Mapping<'_>, name: &str) {
    let is_own = |entry: &&Entry<'_>| entry.key().text() == name;
    if !scalar::is_null(name) || !base.iter().find(is_own).is_some_and(|entry| is_null(entry.key())) {
        base.remove(name);
    }
}

/// Adds a field that the base lacks.
fn introduce<'a>(out: &mut Entries<'a>, key: Key<'a>, patch: &mut Node<'a>, known: Known<'_>) -> Result<()> {
    check_key(key.text())?;
    let mut value = match introduced(patch, known.field(key.text()))? {
        Merged::Gone => return Ok(()),
        Merged::New(node) => node,
        Merged::Base | Merged::Patch => patch.clone(),
    };
    quote(&mut value);
    // A new key has the style of the patch's, and no tag.
    out.push(Entry::new(key.untagged(), value));
    Ok(())
}

/// Puts the result for a field into its place; `false` if the field is removed.
fn set<'a>(field: &mut Node<'a>, merged: Merged<'a>, patch: Option<&Node<'a>>) -> bool {
    match (merged, patch) {
        (Merged::Gone, _) => return false,
        (Merged::New(node), _) => *field = node,
        (Merged::Patch, Some(patch)) => match (field.value(), patch.value()) {
            // The style stays that of the value that was there.
            (Value::Scalar(_), Value::Scalar(p)) => field.set_text(p.text(), p.resolved_tag(), patch.pos()),
            (old, new) => {
                let in_braces = stays_in_braces(old, new);
                *field = patch.clone();
                match field.value_mut() {
                    ValueMut::Scalar(_) => {}
                    ValueMut::Sequence(items) => items.set_brackets(in_braces),
                    ValueMut::Mapping(m) => m.set_braces(in_braces),
                }
            }
        },
        (Merged::Base | Merged::Patch, _) => {
            quote(field);
        }
    }
    true
}

/// Merges a patch value with itself, for a place where there is nothing. An unknown directive is
/// kept, and a directive in a list says nothing about the list.
fn introduced<'a>(patch: &mut Node<'a>, known: Known<'_>) -> Result<Merged<'a>> {
    let pos = patch.pos();
    match patch.value_mut() {
        ValueMut::Scalar(s) if s.is_null() => Ok(Merged::Gone),
        ValueMut::Scalar(_) => Ok(Merged::Patch),
        ValueMut::Mapping(m) => {
            if let Ok(Directive::Delete) = take_directive(m) {
                known.losses.into_iter().for_each(|losses| losses.note_deletion(pos, false));
                return Ok(Merged::Gone);
            }
            fields_with_themselves(m, known)?;
            Ok(Merged::Patch)
        }
        ValueMut::Sequence(items) => match known.merge_keys() {
            Some(keys) => {
                let list = list::introduced(items.items_mut(), keys, known.items())?;
                let in_brackets = false;
                Ok(new_list(Some(list), in_brackets, patch.pos()))
            }
            None => Ok(Merged::Patch),
        },
    }
}

/// Merges a value with itself: the value of the resource is that of the patch.
fn with_itself<'a>(node: &mut Node<'a>, known: Known<'_>) -> Result<Merged<'a>> {
    match node.value_mut() {
        ValueMut::Scalar(s) if s.is_null() => Ok(Merged::Gone),
        ValueMut::Scalar(_) => Ok(Merged::Base),
        ValueMut::Mapping(m) => {
            if take_directive(m)? == Directive::Delete {
                return Ok(Merged::Gone);
            }
            fields_with_themselves(m, known)?;
            Ok(Merged::Base)
        }
        ValueMut::Sequence(items) => match known.merge_keys() {
            Some(keys) => {
                let in_brackets = items.is_in_brackets();
                Ok(new_list(list::with_itself(items.items_mut(), keys, known.items())?, in_brackets, node.pos()))
            }
            None => Ok(Merged::Base),
        },
    }
}

fn fields_with_themselves(m: &mut Mapping<'_>, known: Known<'_>) -> Result<()> {
    let known = schema_of(known, m, None);
    retain(m, |key, value| {
        let merged = with_itself(value, known.field(key))?;
        Ok(set(value, merged, None))
    })
}

/// Walks a base value that the patch does not mention.
fn untouched<'a>(node: &mut Node<'a>, known: Known<'_>) -> Result<Merged<'a>> {
    match node.value_mut() {
        ValueMut::Scalar(s) if is_unwritten_null(s) => Ok(Merged::Gone),
        ValueMut::Scalar(_) => Ok(Merged::Base),
        ValueMut::Mapping(m) => {
            let known = schema_of(known, m, None);
            retain(m, |key, value| untouched_field(value, key, known))?;
            Ok(Merged::Base)
        }
        ValueMut::Sequence(items) => match known.merge_keys() {
            Some(keys) => {
                let in_brackets = items.is_in_brackets();
                Ok(new_list(Some(list::untouched(items.items_mut(), keys, known.items())?), in_brackets, node.pos()))
            }
            None => Ok(Merged::Base),
        },
    }
}

/// Walks a field, of a mapping that is `known`, that the patch does not mention; `false` if the
/// field is removed.
fn untouched_field<'a>(field: &mut Node<'a>, name: &str, known: Known<'_>) -> Result<bool> {
    let Some(scalar) = field.as_scalar() else {
        let merged = untouched(field, known.field(name))?;
        return Ok(set(field, merged, None));
    };
    let is_kept = !is_unwritten_null(scalar);
    quote(field);
    Ok(is_kept)
}

/// Returns true for a null that is written as nothing: other nulls stay where no patch says
/// something.
fn is_unwritten_null(scalar: &Scalar<'_>) -> bool {
    scalar.text().is_empty() && scalar.is_null()
}

/// Upstream puts quotes around strings that YAML 1.1 reads as something else when it passes them:
/// the style counts when another value is put there. A value that a build step has set counts as a
/// string. A string that has a tag in the file gets no quotes.
fn quote(node: &mut Node<'_>) {
    if node.as_scalar().is_some_and(needs_quotes) {
        node.restyle(Style::Double);
    }
}

fn needs_quotes(scalar: &Scalar<'_>) -> bool {
    let is_string = || scalar.tag() == Tag::Untyped || scalar.kind() == Kind::Str;
    let is_plain = scalar.style() == Style::Plain && !scalar.is_tagged();
    is_plain && scalar::is_other_in_v2(scalar.text()) && is_string()
}

/// Refuses an empty key: upstream sets every field of a mapping that it merges, and takes a field
/// without a name for the mapping itself.
fn check_key(key: &str) -> Result<()> {
    if key.is_empty() {
        return Err(Error::new(Code::WrongType, "wrong node kind: a mapping with an empty key cannot be merged")
            .hint("remove the entry whose key is empty"));
    }
    Ok(())
}

/// Returns true if a key is another one than the last; it is the last one then.
fn is_first<'a>(key: &Key<'a>, last: &mut Option<Key<'a>>) -> bool {
    !last.replace(*key).is_some_and(|last| last.same_text(key))
}

/// Returns true if a mapping has a null key.
fn has_null(node: &Node<'_>) -> bool {
    node.as_mapping().is_some_and(|fields| fields.iter().any(|entry| is_null(entry.key())))
}

/// Returns true if a key is null: upstream finds no field by it, and clears none. It stays until it
/// is refused where it is printed.
pub fn is_null(key: &Key<'_>) -> bool {
    !key.is_plain() && key.kind() == Kind::Null
}

/// Keeps the fields for which `keep` holds; it may edit them.
fn retain<'a>(m: &mut Mapping<'a>, mut keep: impl FnMut(&'a str, &mut Node<'a>) -> Result<bool>) -> Result<()> {
    let (mut at, mut gone, mut last) = (0, Vec::new(), None);
    m.try_for_each(|key, value| -> Result<()> {
        let name = key.text();
        check_key(name)?;
        if is_first(key, &mut last) && !keep(name, value).map_err(|e| e.in_field(name))? && !is_null(key) {
            gone.push(at);
        }
        at += 1;
        Ok(())
    })?;
    if !gone.is_empty() {
        let mut i = 0;
        m.retain(|_, _| {
            i += 1;
            gone.binary_search(&(i - 1)).is_err()
        });
    }
    Ok(())
}
