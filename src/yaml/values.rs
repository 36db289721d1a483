//! Values of charts. kustomize merges them before it decodes them, so their aliases and `<<` keys
//! are still there during the merge.
//!
//! The reader puts a copy of the anchor's node in the place of an alias. The copy keeps the place
//! of the anchor, which is before the key or the list that the alias belongs to. This place tells
//! an alias from other values.

use super::reader::sources;
use super::tree::edit::ValueMut;
use super::{Entries, Entry, Key, Malformed, Mapping, Node, Pos, Style, Tag, Value};
use std::collections::BTreeMap;

/// Returns true if the value of an entry was read from an alias.
pub fn is_alias(key: &Key<'_>, value: &Node<'_>) -> bool {
    value.pos() < key.pos()
}

/// Gives each alias in a list the value that its anchor has after an edit. `edited` is the edited
/// tree; an alias whose anchor was removed from it keeps the value that was read. O(nodes of both ·
/// log).
pub fn update_aliases<'a>(node: &mut Node<'a>, edited: &Node<'a>) {
    let mut anchors = BTreeMap::new();
    note(edited, &mut anchors);
    update(node, &anchors);
}

/// Notes the places of the nodes that are not in a list.
fn note<'n, 'a>(node: &'n Node<'a>, places: &mut BTreeMap<Pos, &'n Node<'a>>) {
    places.entry(node.pos()).or_insert(node);
    if let Value::Mapping(m) = node.value() {
        m.iter().for_each(|entry| note(entry.value(), places));
    }
}

fn update<'a>(node: &mut Node<'a>, anchors: &BTreeMap<Pos, &Node<'a>>) {
    let at = node.pos();
    match node.value_mut() {
        ValueMut::Scalar(_) => {}
        ValueMut::Mapping(m) => m.iter_mut().for_each(|(_, value)| update(value, anchors)),
        ValueMut::Sequence(items) => items.iter_mut().for_each(|item| update_alias(item, at, anchors)),
    }
}

/// Updates a node of a list; `before` is the place of its parent.
fn update_alias<'a>(node: &mut Node<'a>, before: Pos, anchors: &BTreeMap<Pos, &Node<'a>>) {
    if node.pos() < before
        && let Some(anchor) = anchors.get(&node.pos())
    {
        *node = (*anchor).clone();
        return;
    }
    let at = node.pos();
    match node.value_mut() {
        ValueMut::Scalar(_) => {}
        ValueMut::Mapping(m) => m.iter_mut().for_each(|(key, value)| update_alias(value, key.pos(), anchors)),
        ValueMut::Sequence(items) => items.iter_mut().for_each(|item| update_alias(item, at, anchors)),
    }
}

/// Resolves the keys `<<` of a tree, as go-yaml v3 decodes it: a mapping's own keys win over merged
/// ones, and earlier sources win over later ones. O(nodes).
///
/// # Errors
/// The value of such a key is neither a mapping nor a list of mappings, or a mapping has two of
/// them.
pub fn resolve_merges(node: &mut Node<'_>) -> Result<(), Malformed> {
    match node.value_mut() {
        ValueMut::Scalar(_) => Ok(()),
        ValueMut::Sequence(items) => items.iter_mut().try_for_each(resolve_merges),
        ValueMut::Mapping(m) => {
            m.iter_mut().try_for_each(|(_, value)| resolve_merges(value))?;
            if m.contains("<<") { resolve(m) } else { Ok(()) }
        }
    }
}

fn resolve(m: &mut Mapping<'_>) -> Result<(), Malformed> {
    let is_merge = |entry: &Entry<'_>| {
        let key = entry.key();
        key.text() == "<<" && key.style() == Style::Plain && matches!(key.tag(), Tag::Auto | Tag::Untyped)
    };
    let (mut merges, own): (Entries<'_>, Entries<'_>) = m.take_entries().into_iter().partition(is_merge);
    m.set_entries(own);
    let Some(merge) = merges.pop() else { return Ok(()) };
    let malformed = |message: &str, pos| Err(Malformed { message: message.to_owned(), pos });
    if !merges.is_empty() {
        return malformed("mapping key \"<<\" already defined", merge.key().pos());
    }
    let (key, value) = merge.into_parts();
    let is_fine = match value.value() {
        Value::Mapping(_) => true,
        Value::Sequence(items) => items.iter().all(|item| item.as_mapping().is_some()),
        Value::Scalar(_) => false,
    };
    if !is_fine {
        return malformed("map merge requires map or sequence of maps as the value", key.pos());
    }
    for (key, value) in sources(value).into_iter().flat_map(Mapping::into_entries).map(Entry::into_parts) {
        if !m.contains(key.text()) {
            m.insert(key, value);
        }
    }
    Ok(())
}
