//! Lists that are merged by key.

use super::{
    DIRECTIVE, Directive, directive, introduced, merge as merge_value, remove_directive, untouched as untouched_value,
};
use crate::diag::{Error, Result};
use crate::schema::Schema;
use crate::yaml::{Node, Style, Tag, Value, steps};
use hashbrown::HashMap;
use indexmap::IndexMap;
use indexmap::map::Entry;

type Keys<'s> = &'s [&'s str];

/// Merges a patch list into a base list that is there; `false` if the list goes.
pub fn merge<'a>(base: &mut Vec<Node<'a>>, patch: Vec<Node<'a>>, keys: Keys<'_>, items: Schema<'_>) -> Result<bool> {
    with_directives(base, patch, keys, items)
}

/// As [`merge`]: looks for a directive that is about the list itself first. It is the first patch item with a `$patch`
/// field, if it has no other field.
pub fn with_directives<'a>(
    base: &mut Vec<Node<'a>>,
    mut patch: Vec<Node<'a>>,
    keys: Keys<'_>,
    items: Schema<'_>,
) -> Result<bool> {
    let first =
        patch.iter().find_map(|item| item.as_mapping().filter(|m| m.contains(DIRECTIVE)).map(|m| (item, m.len())));
    if let Some((item, 1)) = first {
        let found = directive(item)?;
        let same = |item: &Node<'_>| item.as_mapping().is_some() && directive(item).ok().flatten() == found;
        patch.retain(|item| !same(item));
        match found {
            Some(Directive::Delete) => return Ok(false),
            Some(Directive::Replace) => {
                *base = patch;
                merge_with_itself(base, keys, items)?;
                return Ok(true);
            }
            _ => {}
        }
    }
    merge_items(base, patch, keys, items)?;
    Ok(true)
}

/// A list that a patch brings where there was none: upstream merges it with itself.
pub fn merge_with_itself(list: &mut Vec<Node<'_>>, keys: Keys<'_>, items: Schema<'_>) -> Result<()> {
    let patch = list.clone();
    merge_items(list, patch, keys, items)
}

/// A base list that the patch does not mention.
pub fn untouched(list: &mut Vec<Node<'_>>, keys: Keys<'_>, items: Schema<'_>) -> Result<()> {
    merge_items(list, Vec::new(), keys, items)
}

/// The text of an item's key; empty if it has none.
fn key_text<'a>(item: &Node<'a>, key: &str) -> &'a str {
    steps::add(1);
    item.get_text(key).unwrap_or_default()
}

fn merge_items<'a>(base: &mut Vec<Node<'a>>, patch: Vec<Node<'a>>, keys: Keys<'_>, items: Schema<'_>) -> Result<()> {
    if keys.is_empty() {
        return merge_scalars(base, patch);
    }
    let is_given = |key: &&&str| base.iter().chain(&patch).any(|item| !key_text(item, key).is_empty());
    let mut effective: Vec<&str> = keys.iter().filter(is_given).copied().collect();
    if effective.is_empty() {
        effective = keys.to_vec();
    }
    let lacks = |list: &[Node<'_>]| list.iter().any(|item| effective.iter().any(|key| key_text(item, key).is_empty()));
    let complete = !lacks(base) && !lacks(&patch);
    match (&effective[..], complete) {
        ([key], true) => by_one_key(base, patch, key, items),
        ([key], false) => by_one_key_with_gaps(base, patch, key, items),
        (_, true) => by_all_keys(base, patch, &effective, items),
        (_, false) => by_all_keys_with_gaps(base, patch, keys, &effective, items),
    }
}

/// A set: the patch's texts first, then the base's; where both have one, or the base twice, the base's last stays. Nulls
/// and empty mappings go, and tags: only texts and quotes are kept.
fn merge_scalars<'a>(base: &mut Vec<Node<'a>>, patch: Vec<Node<'a>>) -> Result<()> {
    let mut set: IndexMap<&'a str, Node<'a>, foldhash::fast::RandomState> = IndexMap::default();
    let from_patch = patch.into_iter().map(|item| (item, false));
    for (mut item, is_base) in from_patch.chain(base.drain(..).map(|item| (item, true))) {
        if item.is_null() || item.as_mapping().is_some_and(|m| m.is_empty()) {
            continue;
        }
        let Some(scalar) = item.as_scalar_mut() else {
            return Err(Error::input("wrong node kind: a list that is merged as a set holds more than scalars"));
        };
        let text = scalar.text;
        if scalar.style == Style::Plain {
            scalar.tag = Tag::Untyped;
        }
        match set.entry(text) {
            Entry::Vacant(entry) => drop(entry.insert(item)),
            Entry::Occupied(mut entry) if is_base => drop(entry.insert(item)),
            Entry::Occupied(_) => {}
        }
    }
    base.extend(set.into_values());
    Ok(())
}

/// Merges one pair of items into `base`; `false` if nothing is left of them.
fn merge_pair<'a>(base: &mut Node<'a>, patch: Option<&Node<'a>>, items: Schema<'_>) -> Result<bool> {
    let keep = match patch {
        None => untouched_value(base, items)?,
        // An item that asks to be replaced stays as it is: upstream's result is lost on the way.
        Some(p) if p.as_mapping().is_some() && directive(p)? == Some(Directive::Replace) => {
            remove_directive(base);
            true
        }
        Some(p) => merge_value(base, p.clone(), items)?,
    };
    Ok(keep && !base.is_null_or_empty())
}

/// An item that only the patch has; `None` if nothing is left of it.
fn new_item<'a>(patch: &Node<'a>, items: Schema<'_>) -> Result<Option<Node<'a>>> {
    let mut item = patch.clone();
    if item.as_mapping().is_some() && directive(&item)? == Some(Directive::Replace) {
        remove_directive(&mut item);
    }
    let keep = introduced(&mut item, items)?;
    Ok(Some(item).filter(|item| keep && !item.is_null_or_empty()))
}

/// Where each key text comes first in a list.
fn first_places<'a>(
    list: &[Node<'a>],
    text: impl Fn(&Node<'a>) -> &'a str,
) -> HashMap<&'a str, usize, foldhash::fast::RandomState> {
    let mut places = HashMap::with_capacity_and_hasher(list.len(), Default::default());
    for (i, item) in list.iter().enumerate() {
        places.entry(text(item)).or_insert(i);
    }
    places
}

/// The normal case: patched and new items first, in the patch's order, then the rest of the base. Of items in the base
/// that share a key the last one stays, unpatched, in the place of the first. O(items).
fn by_one_key<'a>(base: &mut Vec<Node<'a>>, patch: Vec<Node<'a>>, key: &str, items: Schema<'_>) -> Result<()> {
    let in_base = first_places(base, |item| key_text(item, key));
    let in_patch = first_places(&patch, |item| key_text(item, key));
    let mut slots: Vec<Option<Node<'a>>> = std::mem::take(base).into_iter().map(Some).collect();
    let keys_of_slots: Vec<&'a str> = slots.iter().map(|s| s.as_ref().map_or("", |n| key_text(n, key))).collect();
    let mut last = HashMap::<&'a str, usize, foldhash::fast::RandomState>::default();
    if in_base.len() < slots.len() {
        last.extend(keys_of_slots.iter().enumerate().map(|(i, k)| (*k, i)));
    }
    // A base item with a twin later on gives way to the twin.
    let take = |text: &str,
                i: usize,
                patch: Option<&Node<'a>>,
                slots: &mut Vec<Option<Node<'a>>>|
     -> Result<Option<Node<'a>>> {
        let twin = last.get(text).copied().filter(|&t| t != i);
        let Some(mut item) = slots[i].take() else {
            return Ok(None);
        };
        let keep = merge_pair(&mut item, patch, items)?;
        match twin {
            Some(t) => Ok(slots[t].take()),
            None => Ok(Some(item).filter(|_| keep)),
        }
    };
    let mut out = Vec::with_capacity(slots.len() + patch.len());
    for (i, p) in patch.iter().enumerate() {
        let text = key_text(p, key);
        if in_patch.get(text) != Some(&i) {
            continue;
        }
        let merged = match in_base.get(text) {
            Some(&b) => take(text, b, Some(p), &mut slots)?,
            None => new_item(p, items)?,
        };
        out.extend(merged);
    }
    for (i, text) in keys_of_slots.iter().enumerate() {
        if in_base.get(text) == Some(&i) && !in_patch.contains_key(text) {
            out.extend(take(text, i, None, &mut slots)?);
        }
    }
    *base = out;
    Ok(())
}

/// One key, and some item lacks it: upstream loses most of the list.
fn by_one_key_with_gaps<'a>(
    base: &mut Vec<Node<'a>>,
    patch: Vec<Node<'a>>,
    key: &str,
    items: Schema<'_>,
) -> Result<()> {
    let is_scalar = |item: &&Node<'_>| {
        matches!(&item.value, Value::Scalar(s) if !s.is_null()) || matches!(item.value, Value::Sequence(_))
    };
    if base.iter().chain(&patch).find(is_scalar).is_some() {
        return Err(Error::input(format!(
            "wrong node kind: expected a mapping with '{key}' in a list, found something else"
        )));
    }
    if let Some(last) = base.iter().rposition(|item| !item.is_null_or_empty() && key_text(item, key).is_empty()) {
        // It passes as it is: nobody looks for nulls in it.
        let item = base.swap_remove(last);
        *base = vec![item];
        return Ok(());
    }
    // For each text the first item of either list that has it.
    let mut values: IndexMap<&'a str, [Option<&Node<'a>>; 2], foldhash::fast::RandomState> = IndexMap::default();
    for (side, item) in patch.iter().map(|item| (0, item)).chain(base.iter().map(|item| (1, item))) {
        steps::add(1);
        values.entry(key_text(item, key)).or_default()[side].get_or_insert(item);
    }
    let gap = values.get_index_of("").unwrap_or(values.len());
    let mut out = Vec::new();
    for (i, (_, [p, b])) in values.iter().enumerate().filter(|(_, (text, _))| !text.is_empty()) {
        match (*b, *p) {
            (Some(b), p) if i < gap => {
                let mut item = b.clone();
                if merge_pair(&mut item, p, items)? {
                    out.push(item);
                }
            }
            (_, Some(p)) => out.extend(new_item(p, items)?),
            _ => {}
        }
    }
    *base = out;
    Ok(())
}

/// Several keys, and every item has them all: new items first, then the base in its order, merged in place; of items
/// in the base that share their keys the last one stays, unpatched, in its own place. O(items).
fn by_all_keys<'a>(base: &mut Vec<Node<'a>>, patch: Vec<Node<'a>>, keys: &[&str], items: Schema<'_>) -> Result<()> {
    let tuple = |item: &Node<'a>| -> Vec<&'a str> { keys.iter().map(|key| key_text(item, key)).collect() };
    let mut in_patch: HashMap<Vec<&'a str>, usize, foldhash::fast::RandomState> = HashMap::default();
    for (i, p) in patch.iter().enumerate() {
        in_patch.entry(tuple(p)).or_insert(i);
    }
    let mut count: HashMap<Vec<&'a str>, usize, foldhash::fast::RandomState> = HashMap::default();
    for b in base.iter() {
        *count.entry(tuple(b)).or_default() += 1;
    }
    let mut out = Vec::with_capacity(base.len() + patch.len());
    for (i, p) in patch.iter().enumerate() {
        let t = tuple(p);
        if in_patch.get(&t) == Some(&i) && !count.contains_key(&t) {
            out.extend(new_item(p, items)?);
        }
    }
    let mut seen: HashMap<Vec<&'a str>, usize, foldhash::fast::RandomState> = HashMap::default();
    for mut item in base.drain(..) {
        let t = tuple(&item);
        let total = count.get(&t).copied().unwrap_or(1);
        let nth = seen.entry(t.clone()).or_default();
        *nth += 1;
        if total > 1 {
            if *nth == total {
                out.push(item);
            }
            continue;
        }
        if merge_pair(&mut item, in_patch.get(&t).map(|&i| &patch[i]), items)? {
            out.push(item);
        }
    }
    *base = out;
    Ok(())
}

/// Several keys, and some item lacks one: upstream's procedure, which pairs incomplete tuples with complete ones
/// Quadratic in the list, as the pairing is.
fn by_all_keys_with_gaps<'a>(
    base: &mut Vec<Node<'a>>,
    patch: Vec<Node<'a>>,
    keys: Keys<'_>,
    effective: &[&str],
    items: Schema<'_>,
) -> Result<()> {
    let tuple = |item: &Node<'a>| -> Vec<&'a str> { effective.iter().map(|key| key_text(item, key)).collect() };
    let mut tuples: Vec<Vec<&'a str>> = Vec::new();
    for item in patch.iter().chain(base.iter()) {
        let t = tuple(item);
        if !tuples.contains(&t) {
            tuples.push(t);
        }
    }
    pair_tuples(&mut tuples);
    let matches =
        |item: &Node<'a>, t: &[&str]| t.iter().zip(effective).all(|(v, key)| v.is_empty() || key_text(item, key) == *v);
    let mut out: Vec<Node<'a>> = Vec::new();
    for t in &tuples {
        let is_empty = t.iter().all(|v| v.is_empty());
        let b = if is_empty { None } else { base.iter().position(|item| matches(item, t)) };
        let p = if is_empty { None } else { patch.iter().find(|item| matches(item, t)) };
        let merged = match (b, p) {
            (Some(b), p) => {
                let keep = merge_pair(&mut base[b], p, items)?;
                Some(base[b].clone()).filter(|_| keep)
            }
            (None, Some(p)) => new_item(p, items)?,
            (None, None) => None,
        };
        let values: Vec<Option<&'a str>> = t.iter().map(|v| Some(*v)).collect();
        match merged {
            Some(item) => set(&mut out, keys, &values, Some(item)),
            None => set(base, keys, &values, None),
        }
    }
    for item in std::mem::take(base) {
        let mut present: Vec<Option<&'a str>> = Vec::new();
        for key in effective {
            match item.get(key) {
                Some(_) => present.push(Some(key_text(&item, key))),
                None => out.push(item.clone()),
            }
        }
        if effective.len() > 1 {
            set(&mut out, keys, &present, None);
        }
        set(&mut out, keys, &present, Some(item));
    }
    *base = out;
    Ok(())
}

/// Two tuples that agree somewhere, and differ only where one of them is empty, become their union.
fn pair_tuples(tuples: &mut [Vec<&str>]) {
    for i in 0..tuples.len() {
        for j in 0..tuples.len() {
            let (a, b) = (&tuples[i], &tuples[j]);
            let agree = a.iter().zip(b).any(|(x, y)| x == y);
            let clash = a.iter().zip(b).any(|(x, y)| x != y && !x.is_empty() && !y.is_empty());
            if agree && !clash {
                let union: Vec<&str> = a.iter().zip(b).map(|(x, y)| if x.is_empty() { *y } else { *x }).collect();
                tuples[i].clone_from(&union);
                tuples[j] = union;
            }
        }
    }
}

/// Upstream's list setter: every item that matches the key values is replaced by `item`, or removed; if none matched,
/// `item` is appended. There may be fewer values than keys; a missing one repeats the answer of the key before it.
fn set<'a>(list: &mut Vec<Node<'a>>, keys: Keys<'_>, values: &[Option<&'a str>], item: Option<Node<'a>>) {
    let mut matched = false;
    let mut out = Vec::with_capacity(list.len() + 1);
    for have in list.drain(..) {
        if have.is_null_or_empty() {
            continue;
        }
        let mut previous = false;
        let mut matches_key = |(j, key): (usize, &&str)| {
            previous = match values.get(j) {
                Some(Some(v)) if !v.is_empty() => key_text(&have, key) == *v,
                Some(_) => have.get(key).is_some(),
                None => previous,
            };
            previous
        };
        // Every key is asked: an answer carries over to keys without a value.
        let misses = keys.iter().enumerate().filter(|k| !matches_key(*k)).count();
        let is_match = misses == 0;
        if is_match {
            matched = true;
            out.extend(item.clone());
        } else if !values.is_empty() {
            out.push(have);
        }
    }
    if !matched {
        out.extend(item);
    }
    *list = out;
}
