//! [`Facets`]: finds the resources that a selector may select, without looking at the others.

use super::{DEFAULT_NAMESPACE, Places, Resource};
use crate::schema::Gvk;
use rustomize_base::meter::{self, FastMap, RandomState};
use rustomize_yaml::Node;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Bound;

/// The literal texts of a selector. The more of them are known, the fewer resources are looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hint<'h> {
    /// The kind, now or earlier.
    pub kind: Option<&'h str>,
    /// The API group.
    pub group: Option<&'h str>,
    /// The API version.
    pub version: Option<&'h str>,
    /// The name, now or earlier.
    pub name: Option<&'h str>,
    /// The namespace, now or earlier, as written or as it counts.
    pub namespace: Option<&'h str>,
    /// A label or an annotation, and the values that it may have.
    pub entry: Option<Metadatum<'h>>,
    /// The name, now or earlier, begins with one of these texts.
    pub name_starts: Option<&'h [String]>,
}

/// An entry of a mapping in the metadata.
#[derive(Clone, Copy, Debug)]
pub struct Metadatum<'h> {
    /// `labels` or `annotations`.
    pub map: &'static str,
    pub key: &'h str,
    /// The values that match; `None` for any value.
    pub values: Option<&'h [&'h str]>,
}

impl<'h> Hint<'h> {
    /// A hint for resources that have or had a name.
    pub fn named(name: &'h str) -> Self {
        Hint { name: Some(name), ..Hint::default() }
    }

    /// A hint for resources that have or had a kind; `None` stands for all resources.
    pub fn of_kind(kind: Option<&'h str>) -> Self {
        Hint { kind, ..Hint::default() }
    }

    /// Returns true if nothing is known but the kind.
    pub fn is_wide(&self) -> bool {
        let texts = [self.group, self.version, self.name, self.namespace];
        texts.iter().all(Option::is_none) && self.entry.is_none() && self.name_starts.is_none()
    }

    fn class(&self) -> Class {
        let bits = [self.kind, self.group, self.version, self.name, self.namespace];
        let texts = bits.iter().enumerate().filter(|(_, text)| text.is_some()).map(|(i, _)| 1 << i).sum();
        let has_value = self.entry.is_some_and(|entry| entry.values.is_some());
        Class { texts, map: self.entry.map(|entry| entry.map), has_value }
    }
}

/// The parts of a hint that are given: resources are found by exactly these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Class {
    /// A bit for each of kind, group, version, name and namespace.
    texts: u8,
    /// The mapping in the metadata, if the hint has an entry of a mapping.
    map: Option<&'static str>,
    /// True if the values of the entry matter.
    has_value: bool,
}

impl Class {
    const KIND_GROUP_VERSION: u8 = 0b111;

    /// Returns true if resources are found neither by a name nor by a namespace.
    fn is_of_kinds(self) -> bool {
        self.texts & !Class::KIND_GROUP_VERSION == 0
    }

    /// Returns true if resources are found by metadata, which any edit may change.
    fn is_of_metadata(self) -> bool {
        self.map.is_some()
    }
}

/// Places of resources, in order.
enum List<'t> {
    All(usize),
    Places(&'t [u32]),
}

impl List<'_> {
    fn len(&self) -> usize {
        match self {
            List::All(len) => *len,
            List::Places(places) => places.len(),
        }
    }

    fn add_to(&self, found: &mut Vec<usize>) {
        match self {
            List::All(len) => found.extend(meter::counted(0..*len)),
            List::Places(places) => found.extend(meter::counted(places.iter()).map(|&i| i as usize)),
        }
    }
}

type Table = FastMap<u64, Places>;

/// Indexes of resources, each made when it is first needed. An answer has all resources that match,
/// and may have others: resources that have changed since, or whose texts share a hash.
#[derive(Default, Debug)]
pub struct Facets<'a> {
    hasher: RandomState,
    tables: Vec<(Class, Table)>,
    names: Option<BTreeMap<&'a str, Places>>,
    /// Resources whose metadata may have changed since they were indexed by it: each of them is
    /// part of every answer.
    edited: Vec<u32>,
}

/// If there are more edited resources than this, they are indexed again.
const EDITED: usize = 16;

impl<'a> Facets<'a> {
    /// Places of resources that may match a hint, in order; `None` if there are more than `limit`.
    /// Resources are looked up by the texts that are known in full and by the beginnings of names;
    /// the shorter answer is used. O(answer), once the index exists.
    pub fn find(&mut self, resources: &meter::List<Resource<'a>>, hint: &Hint<'_>, limit: usize) -> Option<Vec<usize>> {
        self.index(resources, hint);
        if self.edited.len() > EDITED {
            self.index_edited(resources);
        }
        let mut in_full = self.in_full(resources.len(), hint);
        if hint.entry.is_some() {
            in_full.push(List::Places(&self.edited));
        }
        let count = in_full.iter().map(|places| places.len()).sum();
        let by_start = hint.name_starts.and_then(|starts| self.by_start(starts, limit.min(count)));
        let lists = match by_start {
            Some(lists) => lists,
            None if count <= limit => in_full,
            None => return None,
        };
        let is_several = lists.len() > 1;
        let mut found = Vec::new();
        lists.iter().for_each(|list| list.add_to(&mut found));
        if is_several {
            found.sort_unstable();
            found.dedup();
        }
        Some(found)
    }

    /// Notes that the metadata of a resource may have changed. O(1).
    pub fn note_edit(&mut self, i: u32) {
        let is_known = self.edited.len() <= EDITED && self.edited.contains(&i);
        if self.has_metadata() && !is_known {
            self.edited.push(i);
        }
    }

    fn index_edited(&mut self, resources: &meter::List<Resource<'a>>) {
        self.edited.sort_unstable();
        self.edited.dedup();
        for i in std::mem::take(&mut self.edited) {
            for (class, table) in self.tables.iter_mut().filter(|(class, _)| class.is_of_metadata()) {
                add(&self.hasher, (*class, table), &resources[i as usize], 0, i);
            }
        }
    }

    /// Makes the indexes that the look-up of a hint needs.
    fn index(&mut self, resources: &meter::List<Resource<'a>>, hint: &Hint<'_>) {
        let class = hint.class();
        if class != Class::default() && self.tables.iter().all(|(known, _)| *known != class) {
            let mut table = Table::default();
            for (i, resource) in resources.iter().enumerate() {
                add(&self.hasher, (class, &mut table), resource, 0, i as u32);
            }
            self.tables.push((class, table));
        }
        if hint.name_starts.is_some() && self.names.is_none() {
            let mut names = BTreeMap::new();
            resources.iter().enumerate().for_each(|(i, r)| add_names(&mut names, r, 0, i as u32));
            self.names = Some(names);
        }
    }

    /// Resources that have the texts of a hint that are known in full; all resources if it has
    /// none.
    fn in_full(&self, len: usize, hint: &Hint<'_>) -> Vec<List<'_>> {
        let class = hint.class();
        let Some((_, table)) = self.tables.iter().find(|(known, _)| *known == class) else {
            return vec![List::All(len)];
        };
        let texts = [hint.kind, hint.group, hint.version, hint.name, hint.namespace];
        let of_texts = hash_texts(&self.hasher, class, texts.map(Option::unwrap_or_default));
        let (key, values) = hint.entry.map_or(("", None), |entry| (entry.key, entry.values));
        let values = values.unwrap_or(&[""]);
        let places = |value: &&str| table.get(&hash_entry(&self.hasher, class, of_texts, (key, value)));
        values.iter().filter_map(places).map(|places| List::Places(places.as_slice())).collect()
    }

    /// Resources whose names begin with one of `starts`; `None` if there are more than `limit`.
    fn by_start<'s>(&'s self, starts: &[String], limit: usize) -> Option<Vec<List<'s>>> {
        let (mut found, mut count) = (Vec::new(), 0);
        for start in starts {
            let names = self
                .names
                .iter()
                .flat_map(|names| names.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded)));
            let starting = meter::counted(names).take_while(|(name, _)| name.starts_with(start.as_str()));
            for (_, places) in starting {
                count += places.as_slice().len();
                if count > limit {
                    return None;
                }
                found.push(List::Places(places.as_slice()));
            }
        }
        Some(found)
    }

    /// Adds the texts of a resource to the existing indexes: identities from number `first` on, and
    /// the metadata if `metadata` is true. Entries for texts that the resource no longer has stay.
    pub fn add(&mut self, resource: &Resource<'a>, first: usize, i: u32, metadata: bool) {
        for (class, table) in self.tables.iter_mut().filter(|(class, _)| metadata || !class.is_of_metadata()) {
            add(&self.hasher, (*class, table), resource, if class.is_of_metadata() { 0 } else { first }, i);
        }
        if let Some(names) = &mut self.names {
            add_names(names, resource, first, i);
        }
    }

    /// Returns true if an index finds resources by their metadata.
    fn has_metadata(&self) -> bool {
        self.tables.iter().any(|(class, _)| class.is_of_metadata())
    }

    /// Drops the indexes that an edit of all metadata makes stale.
    pub fn forget_metadata(&mut self) {
        self.tables.retain(|(class, _)| !class.is_of_metadata());
        self.edited.clear();
    }

    /// Drops the indexes that new names and namespaces for all resources make stale.
    pub fn keep_kinds(&mut self) {
        self.names = None;
        self.edited.clear();
        self.tables.retain(|(class, _)| class.is_of_kinds() && !class.is_of_metadata());
    }
}

fn hash_texts(hasher: &RandomState, class: Class, texts: [&str; 5]) -> u64 {
    let mut state = hasher.build_hasher();
    for (bit, text) in texts.iter().enumerate().filter(|(bit, _)| class.texts & 1 << bit != 0) {
        (bit, text).hash(&mut state);
    }
    state.finish()
}

fn hash_entry(hasher: &RandomState, class: Class, texts: u64, entry: (&str, &str)) -> u64 {
    if class.map.is_some() { hasher.hash_one((texts, entry)) } else { texts }
}

/// Adds a resource to a table by each combination of texts that a selector may find it by.
fn add(hasher: &RandomState, (class, table): (Class, &mut Table), resource: &Resource<'_>, first: usize, i: u32) {
    // Without texts all identities have the same key.
    let first = if class.texts == 0 { resource.previous().len() } else { first };
    let mut last = None;
    let mut insert = |key: u64| {
        if last != Some(key) {
            table.entry(key).and_modify(|places| places.add(i)).or_insert(Places::One(i));
            last = Some(key);
        }
    };
    let each = if class.is_of_kinds() { each_kind } else { each_identity };
    each(resource, first, &mut |texts| {
        let of_texts = hash_texts(hasher, class, texts);
        let Some(map) = class.map else { return insert(of_texts) };
        let entries = resource.node().get("metadata").and_then(|m| m.get(map)).and_then(Node::as_mapping);
        for entry in entries.into_iter().flat_map(|m| m.iter()) {
            let value = if class.has_value { entry.value().scalar_text() } else { "" };
            insert(hash_entry(hasher, class, of_texts, (entry.key().text(), value)));
        }
    });
}

/// The kinds of a resource, with its group and version.
fn each_kind(resource: &Resource<'_>, first: usize, take: &mut dyn FnMut([&str; 5])) {
    let Gvk { group, version, kind } = resource.id().gvk;
    let kinds = resource.ids_from(first).map(|id| id.gvk.kind).filter(|former| *former != kind);
    kinds.chain([kind]).for_each(|kind| take([kind, group, version, "", ""]));
}

/// Kind, group, version, name and namespace of a resource, in each combination that selectors look
/// at: the texts of each identity, and the current kind with the name and the namespace of the
/// original and the current one. The namespace is taken as it is written and as it counts in
/// comparisons.
fn each_identity(resource: &Resource<'_>, first: usize, take: &mut dyn FnMut([&str; 5])) {
    let current = *resource.id();
    let original = resource.original_id();
    let mut with = |kind, name, namespaces: [&str; 3]| {
        let mut last = None;
        for namespace in namespaces {
            if last != Some(namespace) {
                take([kind, current.gvk.group, current.gvk.version, name, namespace]);
                last = Some(namespace);
            }
        }
    };
    let written = if current.namespace.is_empty() { DEFAULT_NAMESPACE } else { current.namespace };
    let now = [current.namespace, current.effective_namespace(), written];
    for id in resource.ids_from(first) {
        with(id.gvk.kind, id.name, [id.namespace, id.effective_namespace(), id.effective_namespace()]);
    }
    with(current.gvk.kind, current.name, now);
    with(current.gvk.kind, original.name, now);
    with(current.gvk.kind, current.name, [original.effective_namespace(); 3]);
    with(current.gvk.kind, original.name, [original.effective_namespace(); 3]);
}

fn add_names<'a>(names: &mut BTreeMap<&'a str, Places>, resource: &Resource<'a>, first: usize, i: u32) {
    let previous = resource.previous().iter().skip(first).map(|p| p.name);
    for name in previous.chain([resource.id().name]) {
        names.entry(name).and_modify(|places| places.add(i)).or_insert(Places::One(i));
    }
}
