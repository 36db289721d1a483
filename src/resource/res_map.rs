//! [`ResMap`]: the resources of a build, in order, and the indexes that find them.

use super::{ResId, Resource};
use crate::diag::{Error, Result};
use crate::yaml::{Arena, Node, steps};
use hashbrown::HashMap;

type Words<'a> = HashMap<&'a str, Places, foldhash::fast::RandomState>;

/// What is found by an id.
pub type Index<'a, V> = HashMap<ResId<'a>, V, foldhash::fast::RandomState>;

/// Resources in output order. Indexes are made when they are first asked for, kept up to date by single edits, and
/// dropped by steps that touch every resource: so no step scans all resources for one, and a build that never looks one
/// up pays for no index.
///
/// Invariant: identity changes only inside the methods of this type, which read it from the node again.
#[derive(Default, Debug)]
pub struct ResMap<'a> {
    resources: Vec<Resource<'a>>,
    /// Whether it is known that no two resources share an id. A step that renames all in the same way keeps it so, and the
    /// check between layers then costs nothing.
    unique: bool,
    /// Where each current id stands.
    current: Option<Index<'a, u32>>,
    /// Where each id stands that a resource has or has had.
    any: Option<Index<'a, Places>>,
    /// Where each name stands that a resource has or has had.
    names: Option<Words<'a>>,
    /// Where each kind stands that a resource has or has had.
    kinds: Option<Words<'a>>,
}

/// Places in a map. Nearly every id belongs to one resource.
#[derive(Clone, Debug)]
pub enum Places {
    /// The usual case.
    One(u32),
    /// In the order in which they were added.
    Many(Box<Vec<u32>>),
}

impl Places {
    /// All places.
    pub fn as_slice(&self) -> &[u32] {
        match self {
            Places::One(i) => std::slice::from_ref(i),
            Places::Many(list) => list,
        }
    }

    /// Adds a place, unless it is there.
    pub fn add(&mut self, i: u32) {
        match self {
            Places::One(first) if *first == i => {}
            Places::One(first) => *self = Places::Many(Box::new(vec![*first, i])),
            // Places come in order, but for those that single edits add.
            Places::Many(list) if list.last() == Some(&i) => {}
            Places::Many(list) => list.push(i),
        }
    }
}

/// How many resources answer to an id.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    None,
    One(usize),
    Many(Vec<usize>),
}

impl<'a> ResMap<'a> {
    /// An empty map.
    pub fn new() -> Self {
        ResMap::default()
    }

    /// How many resources there are, emptied ones included.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The resources in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Resource<'a>> {
        steps::add(self.resources.len());
        self.resources.iter()
    }

    /// The resource at a place.
    pub fn get(&self, i: usize) -> &Resource<'a> {
        &self.resources[i]
    }

    /// The resources in order, by value.
    pub fn into_resources(self) -> Vec<Resource<'a>> {
        self.resources
    }

    /// Appends a resource. O(1).
    ///
    /// # Errors
    /// Its id is there already; the message names both places.
    pub fn append(&mut self, arena: &'a Arena, resource: Resource<'a>) -> Result<()> {
        self.index_current(arena)?;
        let i = self.resources.len() as u32;
        let index = self.current.get_or_insert_default();
        if let Some(&first) = index.get(resource.id()) {
            return Err(duplicate(arena, &self.resources[first as usize], &resource));
        }
        index.insert(*resource.id(), i);
        if let Some(any) = &mut self.any {
            add_ids(any, &resource, i);
        }
        if let Some(names) = &mut self.names {
            add_words(names, &resource, i, |(_, name)| name);
        }
        if let Some(kinds) = &mut self.kinds {
            add_words(kinds, &resource, i, |(kind, _)| kind);
        }
        self.resources.push(resource);
        Ok(())
    }

    /// Appends all resources of another map, in order. O(their number); the first map to come in is moved.
    ///
    /// # Errors
    /// An id is there already.
    pub fn append_all(&mut self, arena: &'a Arena, other: ResMap<'a>) -> Result<()> {
        if self.resources.is_empty() {
            *self = other;
            return self.check_unique(arena);
        }
        self.resources.reserve(other.resources.len());
        other.resources.into_iter().try_for_each(|r| self.append(arena, r))
    }

    fn drop_indexes(&mut self) {
        (self.current, self.any, self.names, self.kinds) = (None, None, None, None);
    }

    fn index_current(&mut self, arena: &'a Arena) -> Result<()> {
        if self.current.is_some() {
            return Ok(());
        }
        steps::add(self.resources.len());
        let mut index = Index::with_capacity_and_hasher(self.resources.len(), Default::default());
        for (i, resource) in self.resources.iter().enumerate().filter(|(_, r)| !r.is_deleted()) {
            if let Some(first) = index.insert(*resource.id(), i as u32) {
                return Err(duplicate(arena, &self.resources[first as usize], resource));
            }
        }
        (self.current, self.unique) = (Some(index), true);
        Ok(())
    }

    /// Checks that no two resources share an id. O(n) after a step that touched all, else O(1).
    ///
    /// # Errors
    /// Two do.
    pub fn check_unique(&mut self, arena: &'a Arena) -> Result<()> {
        if self.unique { Ok(()) } else { self.index_current(arena) }
    }

    /// The resources that have or have had an id. O(1).
    pub fn find_any(&mut self, id: &ResId<'a>) -> Found {
        let resources = &self.resources;
        let any = self.any.get_or_insert_with(|| {
            let mut index = Index::with_capacity_and_hasher(resources.len(), Default::default());
            resources.iter().enumerate().for_each(|(i, r)| add_ids(&mut index, r, i as u32));
            index
        });
        // An id may have been given up by a change that left no history.
        let holds = |i: &&u32| resources[**i as usize].any_ids().any(|held| held == *id);
        let mut places: Vec<usize> =
            any.get(id).map_or(&[][..], Places::as_slice).iter().filter(holds).map(|&i| i as usize).collect();
        places.sort_unstable();
        places.dedup();
        match places.len() {
            0 => Found::None,
            1 => Found::One(places[0]),
            _ => Found::Many(places),
        }
    }

    /// Empties the map: where each id stood, and the resources in order. O(n).
    ///
    /// # Errors
    /// Two resources share an id.
    pub fn take_all(&mut self, arena: &'a Arena) -> Result<(Index<'a, u32>, Vec<Resource<'a>>)> {
        self.index_current(arena)?;
        let all = std::mem::take(self);
        Ok((all.current.unwrap_or_default(), all.resources))
    }

    /// Edits one resource and brings the indexes up to date. O(edit).
    ///
    /// # Errors
    /// Those of the edit.
    pub fn edit<T>(&mut self, i: usize, edit: impl FnOnce(&mut Resource<'a>) -> Result<T>) -> Result<T> {
        let resource = &mut self.resources[i];
        let (before, history) = (*resource.id(), resource.previous().len());
        let out = edit(resource);
        resource.refresh_id();
        self.reindex(i, &before, history);
        out
    }

    /// Edits every resource, in order, in ways that leave identities alone. O(edits).
    ///
    /// # Errors
    /// The first that an edit gives.
    pub fn edit_content(&mut self, edit: impl FnMut(&mut Resource<'a>) -> Result<()>) -> Result<()> {
        steps::add(self.resources.len());
        self.resources.iter_mut().try_for_each(edit)
    }

    /// Edits every resource, in order; who edits reads identities again where they change. O(edits).
    ///
    /// # Errors
    /// The first that an edit gives.
    pub fn rename(&mut self, edit: impl FnMut(&mut Resource<'a>) -> Result<()>) -> Result<()> {
        steps::add(self.resources.len());
        self.drop_indexes();
        self.unique = false;
        self.resources.iter_mut().try_for_each(edit)
    }

    /// As [`ResMap::rename`], for edits that change names or namespaces in the same way for all resources whose kind is and
    /// was the same: what was told apart before is told apart after, and kinds stay.
    ///
    /// # Errors
    /// The first that an edit gives.
    pub fn rename_alike(&mut self, mut edit: impl FnMut(&mut Resource<'a>) -> Result<()>) -> Result<()> {
        let (unique, kinds) = (self.unique, self.kinds.take());
        let mut alike = true;
        self.rename(|resource| {
            edit(resource)?;
            alike &= resource.previous().first().is_none_or(|first| first.kind == resource.id().gvk.kind);
            Ok(())
        })?;
        if alike {
            (self.unique, self.kinds) = (unique, kinds);
        }
        Ok(())
    }

    /// Edits one resource in ways that leave its identity alone, its history aside. O(edit).
    ///
    /// # Errors
    /// Those of the edit.
    pub fn edit_in_place<T>(&mut self, i: usize, edit: impl FnOnce(&mut Resource<'a>) -> Result<T>) -> Result<T> {
        let resource = &mut self.resources[i];
        let (before, history) = (*resource.id(), resource.previous().len());
        let out = edit(resource);
        self.reindex(i, &before, history);
        out
    }

    /// Brings the indexes up to date after a change of one resource. Ids that were given up stay in `any` and in
    /// `names`; who looks there asks the resource.
    fn reindex(&mut self, i: usize, before: &ResId<'a>, history: usize) {
        let resource = &self.resources[i];
        let moved = *resource.id() != *before;
        if !moved && resource.previous().len() == history {
            return;
        }
        if let Some(any) = &mut self.any {
            add_ids(any, resource, i as u32);
        }
        if let Some(names) = &mut self.names {
            add_words(names, resource, i as u32, |(_, name)| name);
        }
        if let Some(kinds) = &mut self.kinds {
            add_words(kinds, resource, i as u32, |(kind, _)| kind);
        }
        if moved && self.current.is_none() {
            self.unique = false;
        }
        if moved && let Some(current) = &mut self.current {
            if current.get(before) == Some(&(i as u32)) {
                current.remove(before);
            }
            // Where the new id is taken, the next check has to find that out.
            if current.insert(*resource.id(), i as u32).is_some() {
                (self.current, self.unique) = (None, false);
            }
        }
    }

    /// Puts another resource in the place of one. O(1).
    pub fn replace(&mut self, i: usize, resource: Resource<'a>) {
        let before = std::mem::replace(&mut self.resources[i], resource);
        self.reindex(i, before.id(), usize::MAX);
    }

    /// Empties a resource: no look-up finds it, and [`ResMap::drop_empty`] takes it out. O(1).
    pub fn delete(&mut self, i: usize) {
        let before = std::mem::replace(&mut self.resources[i], Resource::unchecked(Node::null()));
        if let Some(current) = &mut self.current {
            current.remove(before.id());
        }
    }

    /// Places of resources that a selector may select: all that have or have had its name if it names one, else its kind,
    /// else all. In order. O(answer), once the index is there.
    pub fn candidates(&mut self, name: Option<&str>, kind: Option<&str>) -> Vec<usize> {
        let live = |i: &usize| !self.resources[*i].is_deleted();
        let resources = &self.resources;
        let places = match (name, kind) {
            (Some(name), _) => {
                let names = self.names.get_or_insert_with(|| words(resources, |(_, name)| name));
                names.get(name).map_or(&[][..], Places::as_slice)
            }
            (None, Some(kind)) => {
                let kinds = self.kinds.get_or_insert_with(|| words(resources, |(kind, _)| kind));
                kinds.get(kind).map_or(&[][..], Places::as_slice)
            }
            (None, None) => {
                steps::add(self.resources.len());
                return (0..self.resources.len()).filter(live).collect();
            }
        };
        steps::add(places.len());
        let mut places: Vec<usize> = places.iter().map(|&i| i as usize).filter(live).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Takes out the resources that were emptied. O(n).
    pub fn drop_empty(&mut self) {
        if self.resources.iter().any(Resource::is_deleted) {
            self.retain(|r| !r.is_deleted());
        }
    }

    /// Keeps the resources for which `keep` holds. O(n).
    pub fn retain(&mut self, keep: impl FnMut(&Resource<'a>) -> bool) {
        steps::add(self.resources.len());
        self.drop_indexes();
        self.resources.retain(keep);
    }

    /// Reorders the resources, by a key that is made once for each, then by a comparison. O(n log n).
    pub fn sort_by_key(
        &mut self,
        key: impl Fn(&Resource<'a>) -> usize,
        mut compare: impl FnMut(&Resource<'a>, &Resource<'a>) -> std::cmp::Ordering,
    ) {
        self.drop_indexes();
        let mut order: Vec<(usize, u32)> = self.resources.iter().enumerate().map(|(i, r)| (key(r), i as u32)).collect();
        let resources = &self.resources;
        order.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| compare(&resources[a.1 as usize], &resources[b.1 as usize])));
        permute(&mut self.resources, order.iter().map(|(_, from)| *from));
    }

    /// Edits all nodes while the rest of what is known about the resources, their identities above all, can be read.
    /// Identities are read again afterwards. O(n + edits).
    ///
    /// # Errors
    /// Those of the edit.
    pub fn edit_nodes(&mut self, edit: impl FnOnce(&Self, &mut [Node<'a>]) -> Result<()>) -> Result<()> {
        let mut nodes: Vec<Node<'a>> =
            self.resources.iter_mut().map(|r| std::mem::take(r.node_mut_in_form())).collect();
        let out = edit(self, &mut nodes);
        for (resource, node) in self.resources.iter_mut().zip(nodes) {
            *resource.node_mut_in_form() = node;
            let before = *resource.id();
            resource.refresh_id();
            self.unique &= before == *resource.id();
        }
        self.drop_indexes();
        out
    }
}

impl<'a> ResMap<'a> {
    /// A map of resources in the order of their keys, which are all different. O(n log n), in place.
    pub fn by_keys(mut resources: Vec<Resource<'a>>, keys: &[u32]) -> Self {
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_unstable_by_key(|&i| keys[i as usize]);
        permute(&mut resources, order.into_iter());
        ResMap { resources, ..ResMap::default() }
    }
}

/// Puts the items into the order in which `order` names their places. Following the cycles moves each once, in place.
fn permute<T>(items: &mut [T], order: impl ExactSizeIterator<Item = u32>) {
    let mut goes_to = vec![0u32; order.len()];
    order.enumerate().for_each(|(to, from)| goes_to[from as usize] = to as u32);
    for i in 0..goes_to.len() {
        while goes_to[i] as usize != i {
            let to = goes_to[i] as usize;
            items.swap(i, to);
            goes_to.swap(i, to);
        }
    }
}

impl<'a> FromIterator<Resource<'a>> for ResMap<'a> {
    fn from_iter<I: IntoIterator<Item = Resource<'a>>>(resources: I) -> Self {
        ResMap { resources: resources.into_iter().collect(), ..ResMap::default() }
    }
}

/// Counted: an index that is made anew for each look-up is a scan.
fn add_ids<'a>(index: &mut Index<'a, Places>, resource: &Resource<'a>, i: u32) {
    for id in resource.any_ids() {
        steps::add(1);
        index.entry(id).and_modify(|places| places.add(i)).or_insert(Places::One(i));
    }
}

fn words<'a>(resources: &[Resource<'a>], word: impl Fn((&'a str, &'a str)) -> &'a str + Copy) -> Words<'a> {
    let mut index = Words::default();
    resources.iter().enumerate().for_each(|(i, r)| add_words(&mut index, r, i as u32, word));
    index
}

/// Adds the word of each pair of kind and name that a resource has or has had.
fn add_words<'a>(index: &mut Words<'a>, resource: &Resource<'a>, i: u32, word: impl Fn((&'a str, &'a str)) -> &'a str) {
    let current = (resource.id().gvk.kind, resource.id().name);
    let mut last = None;
    for pair in resource.previous().iter().map(|p| (p.kind, p.name)).chain([current]) {
        steps::add(1);
        let word = word(pair);
        if last != Some(word) {
            index.entry(word).and_modify(|places| places.add(i)).or_insert(Places::One(i));
            last = Some(word);
        }
    }
}

fn duplicate(arena: &Arena, first: &Resource<'_>, second: &Resource<'_>) -> Error {
    let error = Error::input(format!("may not add resource with an already registered id: {}", second.id()));
    let error = error.at(arena.place(second.pos()));
    match arena.place(first.pos()) {
        Some(place) => error.context(format!("the first one is at {place}")),
        None => error,
    }
}
