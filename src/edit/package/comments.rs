//! Comments and the order of fields: a function prints resources without comments and in its own
//! order, and both are copied from the resources that it was given.
//!
//! The rules are kustomize's. Items of a list are compared place by place first, so a comment can
//! move to another item; then by the keys by which Kubernetes merges the list, for comments that
//! are still missing.

use crate::merge::tuples::Tuples;
use crate::schema::{Gvk, Schema, Schemas};
use rustomize_base::meter::FastMap;
use rustomize_yaml::Style;
use rustomize_yaml::noted::{Noted, Notes, Shape};

/// Copies the comments of a resource to the same resource from a function. O(size · depth).
pub fn copy<'a>(schemas: &Schemas<'_>, from: &Noted<'a>, to: &mut Noted<'a>) {
    copy_notes(&from.notes, &mut to.notes);
    walk(schemas, schemas.unknown(), Some(from), to);
}

/// Copies comments to a node that has none of their kind.
fn copy_notes(from: &Notes, to: &mut Notes) {
    for (from, to) in [(&from.head, &mut to.head), (&from.line, &mut to.line), (&from.foot, &mut to.foot)] {
        if to.is_empty() {
            to.clone_from(from);
        }
    }
}

/// Copies the comments of a value and of the values below. Values of different kinds have nothing
/// in common; a null has something in common with a value of any kind.
fn walk<'a>(schemas: &Schemas<'_>, schema: Schema<'_>, from: Option<&Noted<'a>>, to: &mut Noted<'a>) {
    unfold(to);
    let Some(from) = from else { return };
    let is_alike = match (&from.shape, &to.shape) {
        (Shape::Alias(_), _) | (_, Shape::Alias(_)) => false,
        (Shape::Scalar(_), Shape::Scalar(_))
        | (Shape::Mapping { .. }, Shape::Mapping { .. })
        | (Shape::Sequence { .. }, Shape::Sequence { .. }) => true,
        _ => from.is_null() || to.is_null(),
    };
    if !is_alike {
        return;
    }
    copy_notes(&from.notes, &mut to.notes);
    let schema = if schema.is_unknown() { own_schema(schema, from, to) } else { schema };
    match (&from.shape, &mut to.shape) {
        (Shape::Mapping { entries: from, .. }, Shape::Mapping { entries: to, .. }) => {
            let old: FastMap<&str, &(Noted<'a>, Noted<'a>)> = from.iter().map(|old| (old.0.value(), old)).collect();
            for (key, value) in to {
                let old = old.get(key.value());
                unfold(key);
                if let Some((old_key, _)) = old {
                    copy_notes(&old_key.notes, &mut key.notes);
                }
                walk(schemas, schema.field(key.value()), old.map(|(_, old)| old), value);
            }
        }
        (Shape::Sequence { items: from, .. }, Shape::Sequence { items: to, .. }) => {
            for (old, item) in from.iter().zip(to.iter_mut()).filter(|(old, item)| own_text(old) == own_text(item)) {
                copy_notes(&old.notes, &mut item.notes);
                walk(schemas, schemas.unknown(), Some(old), item);
            }
            if let Some(keys) = schema.merge_keys() {
                for (old, item) in same_items(keys, from, to) {
                    walk(schemas, schema.items(), old.map(|old| &from[old]), &mut to[item]);
                }
            }
        }
        _ => {}
    }
}

/// The schema of the kind that a value names.
fn own_schema<'s>(schema: Schema<'s>, from: &Noted<'_>, to: &Noted<'_>) -> Schema<'s> {
    let gvk = |node: &Noted<'_>| {
        let (version, kind) = (node.get_text("apiVersion")?, node.get_text("kind")?);
        Some(schema.of(&Gvk::new(version, kind)))
    };
    gvk(from).or_else(|| gvk(to)).unwrap_or(schema)
}

/// Puts a folded text in quotes. kustomize does so because its printer may misplace comments after
/// a folded text.
fn unfold(node: &mut Noted<'_>) {
    if let Shape::Scalar(s) = &mut node.shape
        && s.style() == Style::Folded
        && node.tag.is_empty()
    {
        *s = s.with_style(Style::Double);
    }
}

/// The key of the items of a list of texts: their own text.
const OWN_TEXT: &[&str] = &[""];

/// The items of a new list, each with the item of the old list that has the same keys. If there are
/// no keys, the items are texts. O(items · keys).
fn same_items<'a>(keys: &[&str], old: &[Noted<'a>], new: &[Noted<'a>]) -> Vec<(Option<usize>, usize)> {
    let keys = if keys.is_empty() { OWN_TEXT } else { keys };
    let text = |item: &Noted<'a>, key: &str| match key.is_empty() {
        true => own_text(item),
        // A null counts as no key.
        false => item.get_text(key).unwrap_or_default(),
    };
    let mut tuples =
        Tuples::new(keys.len(), old.iter().chain(new).map(|item| keys.iter().map(move |key| text(item, key))));
    if keys.len() > 1 {
        tuples.pair();
    }
    let (mut old, mut new) = (Index::new(keys, old), Index::new(keys, new));
    tuples.iter().filter_map(|tuple| Some((old.first(tuple), new.first(tuple)?))).collect()
}

/// The text of a scalar, or the name of an alias; empty for another node.
fn own_text<'a>(node: &Noted<'a>) -> &'a str {
    match node.shape {
        Shape::Alias(name) => name,
        _ => node.value(),
    }
}

/// The text of an item at a key. The empty key stands for the item itself.
fn text_at<'a>(item: &Noted<'a>, key: &str) -> Option<&'a str> {
    if key.is_empty() { Some(own_text(item)) } else { item.get(key).map(Noted::value) }
}

/// The first items of a list, by the texts of their keys.
struct Index<'n, 'a> {
    keys: &'n [&'n str],
    items: &'n [Noted<'a>],
    /// An index for each set of keys that was asked for.
    by_keys: FastMap<Vec<usize>, FastMap<Vec<&'a str>, usize>>,
}

impl<'n, 'a> Index<'n, 'a> {
    fn new(keys: &'n [&'n str], items: &'n [Noted<'a>]) -> Self {
        Index { keys, items, by_keys: FastMap::default() }
    }

    /// The first item with these texts. Keys without a text are ignored. If no key has a text, it
    /// is the first item that has all keys.
    fn first(&mut self, tuple: &[&'a str]) -> Option<usize> {
        let Index { keys, items, by_keys } = self;
        let counts = |i: &usize| keys[*i].is_empty() || !tuple[*i].is_empty();
        let used: Vec<usize> = (0..keys.len()).filter(counts).collect();
        if used.is_empty() {
            return items.iter().position(|item| keys.iter().all(|key| item.get(key).is_some()));
        }
        let wanted: Vec<&'a str> = used.iter().map(|i| tuple[*i]).collect();
        let index = by_keys.entry(used).or_insert_with_key(|used| {
            let texts = |item: &Noted<'a>| used.iter().map(|i| text_at(item, keys[*i])).collect::<Option<Vec<_>>>();
            // Items that are added later replace earlier ones, so the first of several is added
            // last.
            let all = items.iter().enumerate().rev();
            all.filter_map(|(i, item)| Some((texts(item)?, i))).collect()
        });
        index.get(&wanted).copied()
    }
}

/// Gives the fields of a resource the order that they had before; new ones come last.
/// O(size · log size).
pub fn sync_order(from: &Noted<'_>, to: &mut Noted<'_>) {
    match (&from.shape, &mut to.shape) {
        (Shape::Mapping { entries: from, .. }, Shape::Mapping { entries: to, .. }) => {
            let old: FastMap<&str, (usize, &Noted<'_>)> =
                from.iter().enumerate().rev().map(|(i, (key, value))| (key.value(), (i, value))).collect();
            to.sort_by_key(|(key, _)| old.get(key.value()).map_or(usize::MAX, |(place, _)| *place));
            for (key, value) in to {
                if let Some((_, old)) = old.get(key.value()) {
                    sync_order(old, value);
                }
            }
        }
        (Shape::Sequence { items: from, .. }, Shape::Sequence { items: to, .. }) => {
            from.iter().zip(to).for_each(|(from, to)| sync_order(from, to));
        }
        _ => {}
    }
}

/// Moves a comment above the first part of an item to the item.
pub fn move_heads(node: &mut Noted<'_>) {
    match &mut node.shape {
        Shape::Scalar(_) | Shape::Alias(_) => {}
        Shape::Mapping { entries, .. } => entries.iter_mut().for_each(|(_, value)| move_heads(value)),
        Shape::Sequence { items, .. } => items.iter_mut().for_each(move_head),
    }
}

fn move_head(item: &mut Noted<'_>) {
    let first = match &mut item.shape {
        Shape::Mapping { entries, .. } => entries.first_mut().map(|(key, _)| key),
        Shape::Sequence { items, .. } => items.first_mut(),
        Shape::Scalar(_) | Shape::Alias(_) => None,
    };
    let Some(first) = first.filter(|first| first.as_scalar().is_some()) else { return };
    if item.notes.head.is_empty() {
        item.notes.head.clone_from(&first.notes.head);
    } else if !first.notes.head.is_empty() {
        item.notes.head = format!("{}\n{}", item.notes.head, std::mem::take(&mut first.notes.head));
    }
}
