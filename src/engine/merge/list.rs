//! Lists that are merged by key, and sets of scalars.
//!
//! Upstream works in two rounds, which explain every odd result. The first round visits the keys of
//! all items, those of the patch first: it merges the first item with these keys on either side,
//! and puts the result into a new list; if nothing is left of them, it removes *all* base items
//! with these keys. The second round puts each base item into the new list again, in the place of
//! the items with its keys. For values of a chart the keys of the base come first, and the second
//! round puts the items of the new list into the base. Both rounds write with [`Elements::set`]:
//! for it, an empty key is a question about presence, and it empties a list when it gets no keys
//! at all.
//!
//! Nearly all lists have items that all have the same of the keys, and no two items with the same
//! texts there. For these the rounds come to a walk: [`are_distinct`], [`merge_distinct`].
//!
//! Cost: O(items · log items) for the keys of Kubernetes' own schemas.

use super::copies::Copies;
use super::elements::{Elements, Test, is_blank, text_at};
use super::losses::Watch;
use super::tuples::Tuples;
use super::{DIRECTIVE, Directive, Known, Merged, Merging, directive, quote};
use crate::diag::{Code, Error, Result};
use rustomize_base::meter::{FastMap, FastSet, List};

use rustomize_yaml::shared::{Numbers, Shared};
use rustomize_yaml::{Items, Mapping, Node, Pos, Scalar, Style, Tag, ValueMut};
use smallvec::SmallVec;

type Keys<'s> = &'s [&'s str];

/// The key of the items of a set: their own text.
const OWN_TEXT: Keys<'static> = &[""];

/// Merges a patch list into a base list; `None` if the list is removed. The base's items are used
/// up.
pub(super) fn merge<'a>(
    base: &mut Items<'a>,
    patch: &mut Items<'a>,
    keys: Keys<'_>,
    items: Known<'_>,
) -> Result<Option<Items<'a>>> {
    match take_directive(patch)? {
        Directive::Delete => Ok(None),
        Directive::Replace => introduced(patch, keys, items).map(Some),
        Directive::Merge => {
            if items.merging == Merging::Resource
                && let (Some(own), Some(other)) = (distinct_texts(base, keys), distinct_texts(patch, keys))
                && (own.key == other.key || own.texts.is_empty() || other.texts.is_empty())
            {
                let base = DistinctItems { items: std::mem::take(base), texts: own.texts };
                return merge_distinct(base, patch, other.texts, items).map(Some);
            }
            let watch = watch(base, patch, keys, items);
            let mut merge = Merge::new(std::mem::take(base), Some(std::mem::take(patch)), keys, items.merging);
            merge.run(items)?;
            let left = merge.patch_items();
            let (result, left) = merge.into_nodes(left)?;
            *patch = left;
            compare(watch, &result, items);
            Ok(Some(result))
        }
    }
}

/// A list that a patch brings where there was none: it is merged with itself. The patch keeps its
/// items.
pub(super) fn introduced<'a>(list: &mut Items<'a>, keys: Keys<'_>, items: Known<'_>) -> Result<Items<'a>> {
    if are_distinct(list, keys) {
        each(list, |item| super::with_itself(item, items))?;
        return Ok(list.clone());
    }
    let watch = watch(&[], list, keys, items);
    let mut merge = Merge::new(std::mem::take(list), None, keys, items.merging);
    merge.is_patch_too = true;
    merge.run(items)?;
    let left = merge.left_of_base();
    let (result, left) = merge.into_nodes(left)?;
    *list = left;
    compare(watch, &result, items);
    Ok(result)
}

/// Merges a list with itself; `None` if the list is removed. Its items are used up.
pub(super) fn with_itself<'a>(list: &mut Items<'a>, keys: Keys<'_>, items: Known<'_>) -> Result<Option<Items<'a>>> {
    if take_directive(list)? == Directive::Delete {
        return Ok(None);
    }
    if are_distinct(list, keys) {
        each(list, |item| super::with_itself(item, items))?;
        return Ok(Some(std::mem::take(list)));
    }
    let watch = watch(&[], list, keys, items);
    let mut merge = Merge::new(std::mem::take(list), None, keys, items.merging);
    merge.is_patch_too = true;
    merge.run(items)?;
    let (result, _) = merge.into_nodes(Vec::new())?;
    compare(watch, &result, items);
    Ok(Some(result))
}

/// A base list that the patch does not mention. Its items are used up.
pub(super) fn untouched<'a>(list: &mut Items<'a>, keys: Keys<'_>, items: Known<'_>) -> Result<Items<'a>> {
    if are_distinct(list, keys) {
        each(list, |item| super::untouched(item, items))?;
        return Ok(std::mem::take(list));
    }
    let watch = watch(list, &[], keys, items);
    let mut merge = Merge::new(std::mem::take(list), None, keys, items.merging);
    merge.run(items)?;
    let (result, _) = merge.into_nodes(Vec::new())?;
    compare(watch, &result, items);
    Ok(result)
}

/// The items of both sides before a merge, if the build is asked for findings.
fn watch<'k, 'a>(base: &[Node<'a>], patch: &[Node<'a>], keys: Keys<'k>, items: Known<'_>) -> Option<Watch<'k, 'a>> {
    items.losses.and_then(|_| Watch::of(base, patch, keys))
}

/// Notes what a list has lost.
fn compare<'a>(watch: Option<Watch<'_, 'a>>, result: &[Node<'a>], items: Known<'_>) {
    if let (Some(watch), Some(losses)) = (watch, items.losses) {
        watch.compare(result, losses);
    }
}

/// Takes the directive for the list itself out of the list: that of the first item with a
/// directive, if the item has only this field. All items with the same directive are removed, and
/// blank ones.
fn take_directive(patch: &mut Items<'_>) -> Result<Directive> {
    let first = patch.iter().find_map(|item| item.as_mapping().filter(|m| m.contains(DIRECTIVE)));
    let text = match first {
        Some(m) if m.len() == 1 => m.get(DIRECTIVE).and_then(|d| text_at(d, "")).unwrap_or_default(),
        _ => return Ok(Directive::Merge),
    };
    let found = directive(text)?;
    patch.retain(|item| !is_blank(item) && (item.as_mapping().is_none() || text_at(item, DIRECTIVE) != Some(text)));
    Ok(found)
}

/// The keys that the items of a list have: each item is a mapping without a directive, and has a
/// text at all of these keys and nothing at the others. `None` for other lists, and for a set.
fn common_keys<'k>(items: &[Node<'_>], keys: Keys<'k>) -> Option<SmallVec<[&'k str; 2]>> {
    if keys.is_empty() || keys.contains(&"") {
        return None;
    }
    let Some((first, others)) = items.split_first() else { return Some(SmallVec::new()) };
    let first = first.as_mapping()?;
    let common: SmallVec<[&str; 2]> = keys.iter().copied().filter(|key| first.contains(key)).collect();
    let has_them = |item: &Mapping<'_>| {
        let text =
            |key: &&str| item.get(key).and_then(Node::as_scalar).filter(|s| !s.is_null() && !s.text().is_empty());
        common.iter().all(|key| text(key).is_some())
            && (common.len() == keys.len() || keys.iter().all(|key| common.contains(key) || !item.contains(key)))
            && !item.contains(DIRECTIVE)
    };
    let is_usual = !common.is_empty() && has_them(first);
    (is_usual && others.iter().all(|item| item.as_mapping().is_some_and(has_them))).then_some(common)
}

/// The texts of a key, one for each item of a list.
struct Texts<'k, 'a> {
    /// The key; nothing for a list without items.
    key: Option<&'k str>,
    texts: List<&'a str>,
}

/// The texts of the only key that the items of a list have, if no two items have the same text
/// there.
fn distinct_texts<'k, 'a>(items: &[Node<'a>], keys: Keys<'k>) -> Option<Texts<'k, 'a>> {
    let common = common_keys(items, keys)?;
    let key = match common.as_slice() {
        [] => return Some(Texts { key: None, texts: List::new() }),
        [key] => *key,
        _ => return None,
    };
    let texts: List<&str> = items.iter().map(|item| item.get(key).map(Node::scalar_text)).collect::<Option<_>>()?;
    let is_distinct = match texts.len() {
        0..=FEW => (1..texts.len()).all(|i| texts.iter().take(i).all(|text| *text != texts[i])),
        _ => texts.iter().collect::<FastSet<_>>().len() == texts.len(),
    };
    is_distinct.then_some(Texts { key: Some(key), texts })
}

/// Returns true if the two rounds keep the items of a list apart and in their order, when it meets
/// no other list: they all have the same keys, and no two have the same texts there.
fn are_distinct<'a>(items: &[Node<'a>], keys: Keys<'_>) -> bool {
    let Some(common) = common_keys(items, keys) else { return false };
    let texts = |item: &Node<'a>| -> SmallVec<[_; 2]> { common.iter().map(|key| item.get_text(key)).collect() };
    match items.len() {
        0..=FEW => (1..items.len()).all(|i| {
            let new = texts(&items[i]);
            items[..i].iter().all(|item| texts(item) != new)
        }),
        _ => items.iter().map(texts).collect::<FastSet<_>>().len() == items.len(),
    }
}

/// Lists of at most this many items are searched from the start.
const FEW: usize = 8;

/// Items with the texts of their key, by [`distinct_texts`].
struct DistinctItems<'a> {
    items: Items<'a>,
    texts: List<&'a str>,
}

/// Merges the items of a patch, whose keys have these texts, into those of a base: the items of the
/// patch come first.
fn merge_distinct<'a>(
    DistinctItems { items: base, texts }: DistinctItems<'a>,
    patch: &mut [Node<'a>],
    patch_texts: List<&'a str>,
    items: Known<'_>,
) -> Result<Items<'a>> {
    let places: FastMap<&str, usize> = match texts.len() {
        0..=FEW => FastMap::default(),
        _ => texts.iter().enumerate().map(|(i, text)| (*text, i)).collect(),
    };
    let mut base: Vec<Option<Node<'a>>> = base.into_iter().map(Some).collect();
    let mut merged = Items::with_capacity(base.len() + patch.len());
    for (item, text) in patch.iter_mut().zip(patch_texts) {
        let place = if places.is_empty() { texts.iter().position(|t| *t == text) } else { places.get(text).copied() };
        match place.and_then(|i| base[i].take()) {
            Some(mut own) => {
                super::merge(&mut own, item, items)?;
                merged.push(own);
            }
            None => {
                super::introduced(item, items)?;
                merged.push(item.clone());
            }
        }
    }
    let mut rest: Items<'a> = base.into_iter().flatten().collect();
    each(&mut rest, |item| super::untouched(item, items))?;
    merged.append(&mut rest);
    Ok(merged)
}

/// Edits items that stay themselves.
fn each<'a>(items: &mut [Node<'a>], mut edit: impl FnMut(&mut Node<'a>) -> Result<Merged<'a>>) -> Result<()> {
    items.iter_mut().try_for_each(|item| edit(item).map(drop))
}

/// Puts the items of a list into a pool: those that are one mapping once. Returns their numbers in
/// the pool.
fn pooled<'a>(list: Items<'a>, pool: &mut Vec<Node<'a>>) -> Vec<u32> {
    let mut known: FastMap<Shared, u32> = FastMap::default();
    let mut number = |item: Node<'a>| {
        let new = pool.len() as u32;
        let number = item.shared_item().map_or(new, |shared| *known.entry(shared).or_insert(new));
        if number == new {
            pool.push(item);
        }
        number
    };
    list.into_iter().map(&mut number).collect()
}

/// One merge of lists. Items are known by their numbers in a pool: those of the base first, then
/// those of the patch.
struct Merge<'k, 'a> {
    keys: Vec<&'k str>,
    tuples: Tuples<'a>,
    pool: Vec<Node<'a>>,
    base_len: usize,
    base: Elements<'k>,
    patch: Option<Elements<'k>>,
    /// True if the base is the patch as well: each item is merged with itself.
    is_patch_too: bool,
    merging: Merging,
    result: Elements<'k>,
}

impl<'k, 'a> Merge<'k, 'a> {
    fn new(base: Items<'a>, patch: Option<Items<'a>>, keys: Keys<'k>, merging: Merging) -> Self {
        let keys = if keys.is_empty() { OWN_TEXT } else { keys };
        let mut pool: Vec<Node<'a>> = Vec::with_capacity(base.len() + patch.as_ref().map_or(0, Items::len));
        let base = pooled(base, &mut pool);
        let base_len = pool.len();
        let patch = patch.map(|patch| pooled(patch, &mut pool));
        let (from_base, from_patch) = pool.split_at(base_len);
        let mut tuples = match merging {
            Merging::Resource => Tuples::of(from_patch.iter().chain(from_base), keys),
            Merging::Values => Tuples::of(from_base.iter().chain(from_patch), keys),
        };
        if keys.len() > 1 {
            tuples.pair();
        }
        let used = tuples.keep_used();
        let keys: Vec<&str> = used.into_iter().map(|i| keys[i]).collect();
        let elements = |items: Vec<u32>| {
            let mut elements = Elements::new(&keys);
            items.into_iter().for_each(|item| elements.push(&pool, item));
            elements
        };
        let (base, patch, result) = (elements(base), patch.map(&elements), elements(Vec::new()));
        Merge { keys, tuples, pool, base_len, base, patch, is_patch_too: false, merging, result }
    }

    fn run(&mut self, items: Known<'_>) -> Result<()> {
        let tuples = std::mem::take(&mut self.tuples);
        for texts in tuples.iter() {
            match self.merge_items(texts, items)? {
                None => self.base.set(&self.pool, texts, None)?,
                Some(item) => self.result.set(&self.pool, texts, Some(item))?,
            }
        }
        if self.merging == Merging::Values {
            std::mem::swap(&mut self.base, &mut self.result);
        }
        for item in self.base.items() {
            self.put_again(item)?;
        }
        Ok(())
    }

    /// Merges the first items with these keys; `None` if nothing is left of them.
    fn merge_items(&mut self, texts: &[&'a str], items: Known<'_>) -> Result<Option<u32>> {
        let all_empty = texts.iter().all(|text| text.is_empty());
        let test = |text: &&'a str| if text.is_empty() && !all_empty { Test::Any } else { Test::Is(text) };
        let tests: Vec<Test<'_>> = texts.iter().map(test).collect();
        let base = self.base.first(&self.pool, &tests);
        let patch = self.patch.as_mut().and_then(|patch| patch.first(&self.pool, &tests));
        let null_keys =
            [base, patch].into_iter().flatten().flat_map(|(_, item)| self.null_keys(item)).collect::<Vec<_>>();
        let merged = match (base.map(|b| b.1 as usize), patch.map(|p| p.1 as usize)) {
            (Some(b), _) if self.is_patch_too => super::with_itself(&mut self.pool[b], items)?,
            (Some(b), None) => super::untouched(&mut self.pool[b], items)?,
            (None, Some(p)) => super::introduced(&mut self.pool[p], items)?,
            (Some(b), Some(p)) => {
                let (from_base, from_patch) = self.pool.split_at_mut(self.base_len);
                super::merge(&mut from_base[b], &mut from_patch[p - self.base_len], items)?
            }
            (None, None) => Merged::Gone,
        };
        if let Some((slot, _)) = base {
            self.base.note(&self.pool, slot);
        }
        if let (Some(elements), Some((slot, _))) = (&mut self.patch, patch) {
            elements.note(&self.pool, slot);
        }
        let item = match merged {
            Merged::Gone => None,
            Merged::Base => base.map(|b| b.1),
            Merged::Patch => patch.map(|p| p.1),
            Merged::New(node) => {
                self.pool.push(node);
                Some(self.pool.len() as u32 - 1)
            }
        };
        let item = item.filter(|&item| !is_blank(&self.pool[item as usize]));
        if let Some(item) = item {
            self.set_keys(item, &null_keys, texts);
        }
        Ok(item)
    }

    /// The names of keys at which an item has a null.
    fn null_keys(&self, item: u32) -> Vec<&'a str> {
        let Some(m) = self.pool[item as usize].as_mapping() else { return Vec::new() };
        if self.keys.iter().all(|key| m.get(key).is_none_or(|value| !value.is_null())) {
            return Vec::new();
        }
        m.iter().filter(|entry| entry.value().is_null()).map(|entry| entry.key().text()).collect()
    }

    /// Makes sure that an item has the keys that it was found by: a null has a text to be found by,
    /// and is gone after the merge. A text in a set gets its type again.
    fn set_keys(&mut self, item: u32, null_keys: &[&'a str], texts: &[&'a str]) {
        for (key, text) in self.keys.iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
            let node = &mut self.pool[item as usize];
            match (node.value_mut(), null_keys.iter().find(|name| *name == key)) {
                (ValueMut::Scalar(_), _) => node.set_untyped(text, Pos::NONE),
                (ValueMut::Mapping(m), Some(name)) if !m.contains(name) => {
                    let mut value = Node::from(Scalar::new(text, Style::Plain, Tag::Untyped));
                    quote(&mut value);
                    m.insert(*name, value);
                }
                _ => {}
            }
        }
    }

    /// The second round: puts an item of the base into the result. An item that lacks keys is
    /// appended once for each of them, and its other texts count as those of its first keys.
    fn put_again(&mut self, item: u32) -> Result<()> {
        let node = &self.pool[item as usize];
        let is_set = self.keys[0].is_empty();
        if !is_set && !node.is_null() && node.as_mapping().is_none() {
            let message = format!("wrong node kind: expected a mapping in a list, found {}", node.shape());
            let error = Error::new(Code::WrongType, message).at(node.pos());
            return Err(error.hint("write each item as lines of 'name: value'"));
        }
        let mut texts = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            match text_at(node, key) {
                Some(text) => texts.push(text),
                None => self.result.push(&self.pool, item),
            }
        }
        if self.keys.len() > 1 {
            self.result.set(&self.pool, &texts, None)?;
        }
        self.result.set(&self.pool, &texts, Some(item))
    }

    /// The items of a base that is the patch as well.
    fn left_of_base(&mut self) -> Vec<u32> {
        match self.merging {
            Merging::Resource => self.base.items(),
            // The base has become the result.
            Merging::Values => self.result.items(),
        }
    }

    fn patch_items(&mut self) -> Vec<u32> {
        self.patch.as_mut().map(Elements::items).unwrap_or_default()
    }

    /// The result, and those items that are `left`, both as nodes.
    ///
    /// # Errors
    /// The merge makes too many copies of items. Each patch doubles an item that lacks one of two
    /// keys.
    fn into_nodes(mut self, left: Vec<u32>) -> Result<(Items<'a>, Items<'a>)> {
        let result = self.result.items();
        let mut uses = vec![0usize; self.pool.len()];
        result.iter().chain(&left).for_each(|&item| uses[item as usize] += 1);
        let mut numbers = Numbers::default();
        for (node, &uses) in self.pool.iter_mut().zip(&uses) {
            node.share_item(if uses > 1 { numbers.give() } else { None });
        }
        let mut pool: Vec<Option<Node<'a>>> = self.pool.into_iter().map(Some).collect();
        let mut copies = Copies::default();
        let mut node = |item: u32| {
            let item = item as usize;
            uses[item] -= 1;
            if uses[item] == 0 { pool[item].take().map(Ok) } else { pool[item].as_ref().map(|node| copies.copy(node)) }
        };
        let result = result.into_iter().filter_map(&mut node).collect::<Result<_>>()?;
        Ok((result, left.into_iter().filter_map(node).collect::<Result<_>>()?))
    }
}
