//! [`ItemIndex`]: the items of a long list, found by a field. Replacements that follow each other
//! often change items of one list; each would look at all of them.

use crate::config::field_path::{Part, element_text, first_scalar, lookup, printed_field};
use crate::resource::Resource;
use rustomize_base::meter::{self, FastMap};
use rustomize_yaml::{Node, Sequence};

/// Lists with fewer items are searched.
const LONG: usize = 64;

/// The fields of a list are not indexed if one of them is longer than this: the memory of the index
/// is that of all ends of all fields.
const LONGEST: usize = 256;

/// The list that the last path led to, with its index from the second path on.
#[derive(Default)]
pub(super) struct ItemIndex<'s, 'a> {
    /// The place of the resource, for the list of a source.
    place: usize,
    /// The keys that lead to the list.
    path: &'s [Part<'a>],
    /// The field by which its items are found; empty if there is no list.
    key: &'s str,
    /// The first item with each text.
    firsts: Option<FastMap<&'a str, usize>>,
    texts: Option<Texts>,
}

/// The fields of all items, searched for texts in them.
#[derive(Default)]
struct Texts {
    /// All fields, one behind the other.
    all: String,
    /// The end of each field in `all`, and its item.
    ends: Vec<(usize, usize)>,
    /// The beginnings of the ends of all fields, with the number of the field, in the order of
    /// these texts.
    suffixes: Vec<(u32, u32)>,
}

impl<'s, 'a> ItemIndex<'s, 'a> {
    /// Forgets the list. It has to be done when a field by which items are found may have changed.
    pub(super) fn forget(&mut self) {
        *self = ItemIndex::default();
    }

    /// Forgets the list of a source if its resource is the one that is edited.
    pub(super) fn note_edit(&mut self, place: usize) {
        if self.place == place {
            self.forget();
        }
    }

    /// The items to which the path of a target leads, as their places, and the number of parts of
    /// the path that lead to the list. `None` if they have to be looked for, or if the path may
    /// change the field by which items are found. O(path + answer), after O(n log n) for a list.
    pub(super) fn places(&mut self, resource: &Resource<'a>, path: &'s [Part<'a>]) -> Option<(usize, Vec<usize>)> {
        let found = self.known_list(resource, path).and_then(|(at, list)| {
            let (Part::Element { key, value, pattern }, Some(Part::Key(next))) = (&path[at], path.get(at + 1)) else {
                return None;
            };
            let (text, firsts) = (pattern.text().filter(|_| next != key)?, self.firsts.as_ref()?);
            // A path into a text begins at the item that is equal to the value.
            let equal = firsts.get(value).and_then(|&i| list.get(i));
            if equal.is_some_and(|item| first_scalar(item, &path[at + 1..path.len() - 1]).is_some()) {
                return None;
            }
            if self.texts.is_none() {
                self.texts = Some(Texts::of(list, key)?);
            }
            let places = self.texts.as_ref()?.containing(text);
            (!places.is_empty()).then_some((at, places))
        });
        if found.is_none() && self.firsts.is_some() {
            self.forget();
        }
        found
    }

    /// The value at the path of a source in the resource at a place; `None` if it has to be looked
    /// for.
    pub(super) fn value<'r>(
        &mut self,
        place: usize,
        resource: &'r Resource<'a>,
        path: &'s [Part<'a>],
    ) -> Option<&'r Node<'a>> {
        if self.place != place {
            *self = ItemIndex { place, ..ItemIndex::default() };
        }
        let (at, list) = self.known_list(resource, path)?;
        let Part::Element { value, .. } = &path[at] else { return None };
        let item = list.get(*self.firsts.as_ref()?.get(value)?)?;
        lookup(item, &path[at + 1..]).ok()?
    }

    /// The list to which the beginning of a path leads, if it is that of the last path: then it has
    /// an index.
    fn known_list<'r>(
        &mut self,
        resource: &'r Resource<'a>,
        path: &'s [Part<'a>],
    ) -> Option<(usize, &'r Sequence<'a>)> {
        let at = path.iter().position(|part| !matches!(part, Part::Key(_)))?;
        let Part::Element { key, .. } = &path[at] else { return None };
        let is_same = |(a, b): (&Part<'a>, &Part<'a>)| matches!((a, b), (Part::Key(a), Part::Key(b)) if a == b);
        let is_last = self.key == *key && self.path.len() == at && self.path.iter().zip(path).all(is_same);
        if !is_last || key.is_empty() {
            *self = ItemIndex { place: self.place, path: &path[..at], key, firsts: None, texts: None };
            return None;
        }
        let list = lookup(resource.node(), self.path).ok()??.as_sequence()?;
        // A shared value may change without an edit of its place.
        if list.len() < LONG || resource.shares_values() {
            return None;
        }
        if self.firsts.is_none() {
            let mut firsts = FastMap::default();
            for (i, item) in list.iter().enumerate() {
                if let Some(text) = element_text(item, key) {
                    firsts.entry(text).or_insert(i);
                }
            }
            self.firsts = Some(firsts);
        }
        Some((at, list))
    }
}

impl Texts {
    /// The fields of the items of a list; `None` if one is very long. O(n log n).
    fn of(list: &Sequence<'_>, key: &str) -> Option<Self> {
        let mut texts = Texts::default();
        for (i, item) in list.iter().enumerate() {
            let Some(field) = item.get(key) else { continue };
            let printed = printed_field(field);
            let (text, start, number) = (printed.trim(), texts.all.len(), texts.ends.len());
            if text.len() > LONGEST {
                return None;
            }
            let begin = |(at, _)| Some((u32::try_from(start + at).ok()?, number as u32));
            texts.suffixes.extend(text.char_indices().map_while(begin));
            texts.all.push_str(text);
            texts.ends.push((texts.all.len(), i));
        }
        u32::try_from(texts.all.len()).ok()?;
        let mut suffixes = std::mem::take(&mut texts.suffixes);
        meter::count(suffixes.len());
        suffixes.sort_unstable_by(|a, b| texts.suffix(*a).cmp(texts.suffix(*b)));
        texts.suffixes = suffixes;
        Some(texts)
    }

    fn suffix(&self, (start, number): (u32, u32)) -> &str {
        &self.all[start as usize..self.ends[number as usize].0]
    }

    /// The places of the items whose field contains a text, in order. O(log n + answer).
    fn containing(&self, text: &str) -> Vec<usize> {
        let from = self.suffixes.partition_point(|suffix| self.suffix(*suffix) < text);
        let rest = meter::counted(self.suffixes[from..].iter());
        let found = rest.take_while(|suffix| self.suffix(**suffix).starts_with(text));
        let mut places: Vec<usize> = found.map(|(_, number)| self.ends[*number as usize].1).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

#[cfg(test)]
mod tests {
    use super::{ItemIndex, LONG};
    use crate::config::field_path::{Part, target_parts};
    use crate::resource::Resource;
    use rustomize_yaml::{Heap, first_document};

    #[test]
    fn the_index_finds_the_items_that_the_pattern_matches() {
        let heap = Heap::new();
        let arena = heap.arena();
        let names = ["ab", "b", "'a b'", "aba", "ü", "\"b\\n\"", "", "1"];
        let items: String =
            (0..LONG).map(|i| format!("- {{name: {}, v: 1}}\n- {{v: 2}}\n", names[i % names.len()])).collect();
        let source = arena.add_source("text", format!("kind: A\nlist:\n{items}"));
        let resource = Resource::unchecked(first_document(arena, source).unwrap().unwrap());
        let list = resource.node().get("list").unwrap().as_sequence().unwrap();
        for text in ["a", "b", "ab", "ba", " ", "'", "'a", "ü", "n", "1", "x", "null"] {
            let paths = [0, 1].map(|_| target_parts(arena, &format!("list.[name={text}].v")).unwrap());
            let mut index = ItemIndex::default();
            assert!(index.places(&resource, &paths[0]).is_none(), "the first path of a list");
            let found = index.places(&resource, &paths[1]);
            let Part::Element { pattern, .. } = &paths[1][1] else { panic!("{paths:?}") };
            let want = pattern.matches(list, "name").unwrap();
            assert_eq!(found, Some((1, want)).filter(|(_, places)| !places.is_empty()), "{text}");
        }
        for path in ["list.[name=b].name", "list.[name=b]", "list.[name=b.].v", "list.[name=b].*"] {
            let paths = [0, 1].map(|_| target_parts(arena, path).unwrap());
            let mut index = ItemIndex::default();
            assert!(paths.iter().all(|path| index.places(&resource, path).is_none()), "{path}");
        }
    }
}
