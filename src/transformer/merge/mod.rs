//! Strategic merge: a patch into a resource.
//!
//! The whole resource is walked, also where the patch says nothing, because upstream does: nulls written as nothing go,
//! and items of keyed lists that share a key become one. Lists are merged by key where the [`Schema`] says so, otherwise
//! replaced. What a patch adds is merged with itself, which resolves the nulls and directives inside it.

mod list;

use crate::diag::{Error, Result};
use crate::resource::Gvk;
use crate::schema::{Schema, Schemas};
use crate::yaml::scalar::{self, Kind};
use crate::yaml::{Entry, Mapping, Node, Scalar, Style, Tag, Value, natural, steps};
use std::cmp::Ordering;

/// The field of a patch that says what to do with the mapping or item it stands in.
const DIRECTIVE: &str = "$patch";

/// What a `$patch` field asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Merges a patch into a resource; `false` if the resource is to be deleted. O(size of both).
///
/// # Errors
/// The two differ in shape somewhere, or a directive is unknown.
pub fn apply<'a>(base: &mut Node<'a>, mut patch: Node<'a>, schemas: &Schemas<'_>) -> Result<bool> {
    match directive(&patch)? {
        Some(Directive::Delete) => return Ok(false),
        // Upstream drops the result of a replacement at the top.
        Some(Directive::Replace) => return Ok(true),
        Some(Directive::Merge) | None => {}
    }
    remove_directive(&mut patch);
    merge(base, patch, schemas.unknown())
}

/// The directive of a patch mapping; `None` if it has none.
fn directive(patch: &Node<'_>) -> Result<Option<Directive>> {
    let Some(text) = patch.get(DIRECTIVE).map(|d| d.as_scalar().map_or("", |s| s.text)) else {
        return Ok(None);
    };
    match text {
        "merge" => Ok(Some(Directive::Merge)),
        "replace" => Ok(Some(Directive::Replace)),
        "delete" => Ok(Some(Directive::Delete)),
        other => {
            Err(Error::input(format!("unknown patch strategy '{other}'")).hint("$patch takes merge, replace or delete"))
        }
    }
}

fn remove_directive(patch: &mut Node<'_>) {
    if let Some(m) = patch.as_mapping_mut() {
        m.remove(DIRECTIVE);
    }
}

/// The schema of a mapping: the one it was reached with, or that of the kind it says it is, or else of the kind that the
/// patch says it is.
fn schema_of<'s>(schema: Schema<'s>, base: &Mapping<'_>, patch: Option<&Mapping<'_>>) -> Schema<'s> {
    if !schema.is_unknown() {
        return schema;
    }
    let said_by = |first: Option<&Mapping<'_>>, second: Option<&Mapping<'_>>| {
        let text = |field| {
            let node = first.and_then(|m| m.get(field)).or_else(|| second?.get(field))?;
            node.as_scalar().filter(|s| !s.is_null()).map(|s| s.text)
        };
        match (text("apiVersion"), text("kind")) {
            (Some(api_version), Some(kind)) => schema.of(&Gvk::new(api_version, kind)),
            _ => schema,
        }
    };
    let found = said_by(Some(base), patch);
    if found.is_unknown() && patch.is_some() { said_by(patch, Some(base)) } else { found }
}

/// Merges a patch value into a base value; `false` if the field goes.
fn merge<'a>(base: &mut Node<'a>, patch: Node<'a>, schema: Schema<'_>) -> Result<bool> {
    steps::add(1);
    if patch.is_null() {
        return Ok(false);
    }
    // A null is a scalar like others under a scalar, whose style it keeps.
    if base.is_null() && !matches!(patch.value, Value::Scalar(_)) {
        *base = patch;
        return introduced(base, schema);
    }
    let keyed = schema.merge_keys();
    match (&mut base.value, patch.value) {
        (Value::Mapping(b), Value::Mapping(p)) => {
            let mut p = Node { value: Value::Mapping(p), pos: patch.pos };
            if b.is_empty() {
                *base = p;
                return introduced(base, schema);
            }
            match directive(&p)? {
                Some(Directive::Delete) => return Ok(false),
                Some(Directive::Replace) => {
                    remove_directive(&mut p);
                    *base = p;
                    return with_itself(base, schema);
                }
                Some(Directive::Merge) => {
                    remove_directive(&mut p);
                    // A list that is merged with itself has the directive on both sides.
                    b.remove(DIRECTIVE);
                }
                None => {}
            }
            let Value::Mapping(p) = p.value else {
                return Ok(true);
            };
            merge_mapping(b, p, schema)?;
            Ok(true)
        }
        (Value::Sequence(b), Value::Sequence(p)) => match keyed {
            None => {
                *b = p;
                Ok(true)
            }
            Some(keys) => list::merge(b, p, keys, schema.items()),
        },
        (Value::Scalar(b), Value::Scalar(p)) => {
            let merged = Scalar { text: p.text, style: b.style, tag: p.resolved_tag() };
            base.set_scalar(merged);
            if !base.pos.is_shared() {
                base.pos = patch.pos;
            }
            Ok(true)
        }
        (_, value) => {
            let patch = Node { value, pos: patch.pos };
            Err(Error::input(format!("wrong node kind: expected {}, the patch has {}", base.shape(), patch.shape())))
        }
    }
}

/// Both mappings come sorted, so merging them is one pass.
fn merge_mapping<'a>(base: &mut Mapping<'a>, patch: Mapping<'a>, schema: Schema<'_>) -> Result<()> {
    let schema = schema_of(schema, base, Some(&patch));
    let mut out: Vec<Entry<'a>> = Vec::with_capacity(base.len().max(patch.len()));
    let mut patches = patch.into_entries().into_iter().peekable();
    for mut entry in std::mem::take(base).into_entries() {
        while let Some(new) = patches.next_if(|p| natural::compare(p.key.text, entry.key.text) == Ordering::Less) {
            introduce(&mut out, new, schema)?;
        }
        let field = schema.field(entry.key.text);
        let in_field = |e: Error| e.context(format!("at '{}'", entry.key.text));
        let keep = match patches.next_if(|p| p.key.text == entry.key.text) {
            Some(patch) => merge(&mut entry.value, patch.value, field).map_err(in_field)?,
            None => untouched(&mut entry.value, field).map_err(in_field)?,
        };
        if keep {
            out.push(entry);
        }
    }
    for new in patches {
        introduce(&mut out, new, schema)?;
    }
    *base = Mapping::from_entries(out);
    Ok(())
}

/// Adds a field that the base lacks.
fn introduce<'a>(out: &mut Vec<Entry<'a>>, mut entry: Entry<'a>, schema: Schema<'_>) -> Result<()> {
    let keep = introduced(&mut entry.value, schema.field(entry.key.text))?;
    if keep {
        out.push(entry);
    }
    Ok(())
}

/// Prepares a patch value for a place where there is nothing: as it is, then merged with itself. A directive that is
/// unknown stays, and one that stands in a list says nothing about the list. `false` if it vanishes.
fn introduced(node: &mut Node<'_>, schema: Schema<'_>) -> Result<bool> {
    if node.is_null() {
        return Ok(false);
    }
    match &node.value {
        Value::Mapping(m) if m.contains(DIRECTIVE) => match directive(node) {
            Ok(Some(Directive::Delete)) => return Ok(false),
            Ok(_) => remove_directive(node),
            Err(_) => {}
        },
        _ => {}
    }
    match &mut node.value {
        Value::Mapping(m) => {
            fields_with_themselves(m, schema)?;
            Ok(true)
        }
        Value::Sequence(items) => {
            if let Some(keys) = schema.merge_keys() {
                list::merge_with_itself(items, keys, schema.items())?;
            }
            Ok(true)
        }
        Value::Scalar(_) => Ok(true),
    }
}

/// Merges a value with itself; `false` if it vanishes.
fn with_itself(node: &mut Node<'_>, schema: Schema<'_>) -> Result<bool> {
    match directive_of(node)? {
        Some(Directive::Delete) => return Ok(false),
        Some(_) => remove_directive(node),
        None => {}
    }
    match &mut node.value {
        Value::Scalar(s) => Ok(!s.is_null()),
        Value::Mapping(m) => {
            fields_with_themselves(m, schema)?;
            Ok(true)
        }
        Value::Sequence(items) => match schema.merge_keys() {
            Some(keys) => {
                let patch = items.clone();
                list::with_directives(items, patch, keys, schema.items())
            }
            None => Ok(true),
        },
    }
}

fn directive_of(node: &Node<'_>) -> Result<Option<Directive>> {
    if node.as_mapping().is_some() { directive(node) } else { Ok(None) }
}

fn fields_with_themselves(m: &mut Mapping<'_>, schema: Schema<'_>) -> Result<()> {
    let schema = schema_of(schema, m, None);
    retain(m, |key, value| with_itself(value, schema.field(key)))
}

/// Walks a base value that the patch does not mention; `false` if it vanishes.
fn untouched(node: &mut Node<'_>, schema: Schema<'_>) -> Result<bool> {
    steps::add(1);
    match &mut node.value {
        Value::Scalar(s) => {
            quote(s);
            // A null stays only if it was spelled out; a place that a build step has made is none.
            Ok(!s.text.is_empty() || s.tag == Tag::Untyped || !s.is_null())
        }
        Value::Mapping(m) => {
            let schema = schema_of(schema, m, None);
            retain(m, |key, value| untouched(value, schema.field(key)))?;
            Ok(true)
        }
        Value::Sequence(items) => {
            if let Some(keys) = schema.merge_keys() {
                list::untouched(items, keys, schema.items())?;
            }
            Ok(true)
        }
    }
}

/// Upstream puts quotes around strings that YAML 1.1 reads as something else when it passes them: the style counts when
/// another value is put there. What a build step has set counts as a string.
fn quote(scalar: &mut Scalar<'_>) {
    let is_string = || scalar.tag == Tag::Untyped || scalar.kind() == Kind::Str;
    if scalar.style == Style::Plain && scalar::is_other_in_v2(scalar.text) && is_string() {
        scalar.style = Style::Double;
    }
}

/// Keeps the fields for which `keep` holds; it may edit them.
fn retain<'a>(m: &mut Mapping<'a>, mut keep: impl FnMut(&'a str, &mut Node<'a>) -> Result<bool>) -> Result<()> {
    let mut gone = Vec::new();
    for (i, (key, value)) in m.iter_mut().enumerate() {
        let key = key.text;
        if !keep(key, value).map_err(|e| e.context(format!("at '{key}'")))? {
            gone.push(i);
        }
    }
    if !gone.is_empty() {
        let mut i = 0;
        m.retain(|_, _| {
            i += 1;
            gone.binary_search(&(i - 1)).is_err()
        });
    }
    Ok(())
}
