//! [`ResMap`]: the resources of a build, in order, and the indexes that find them.

use super::changes::Changes;
use super::distinct::distinct;
use super::ids::Ids;
use super::untraced::Untraced;
use super::{Facets, Hint, ResId, Resource, Touched};
use crate::diag::{Code, Error, Result};
use crate::schema::gvk::is_same;
use rustomize_base::memory::Budget;
use rustomize_base::meter::{Counted, FastMap, FastSet, List};
use rustomize_base::parallel;
use rustomize_yaml::{Arena, Node, Source, first_document};
use std::hash::Hash;
use std::sync::Arc;

/// A table from ids to values.
pub type Index<'a, V> = FastMap<ResId<'a>, V>;

/// Facts about the resources that a plugin gets, by which those that it prints find their places.
#[derive(Default)]
pub struct Taken<'a> {
    /// Where each id stood.
    pub places: Index<'a, u32>,
    /// By place, the names of the variables whose values the resource has, if it has any.
    pub vars: FastMap<u32, Vec<&'a str>>,
}

/// Resources in output order. Indexes are made when they are first needed, kept up to date by
/// single edits, and dropped by steps that touch every resource. So no step scans all resources to
/// find one, and a build that never looks up a resource makes no index.
///
/// Invariant: identity changes only inside the methods of this type, which read it from the node
/// again.
#[derive(Default, Debug)]
pub struct ResMap<'a> {
    resources: List<Resource<'a>>,
    /// True if it is known that no two resources share an id. A step that renames all resources in
    /// the same way keeps the value, and the check between layers then costs nothing.
    unique: bool,
    /// The index of resources by id.
    ids: Ids,
    /// The index of resources by the properties that selectors ask for.
    facets: Facets<'a>,
    /// True if a resource may be empty.
    may_have_empty: bool,
    /// The changes since a trace looked at the resources.
    changes: Untraced,
    /// The budget of the build, which edits of single resources check; `None` for a map without
    /// resources.
    budget: Option<&'a Budget>,
}

/// The size of a usual resource in bytes. It decides how many threads the work on resources is
/// worth.
pub const RESOURCE: usize = 1 << 10;

/// Checks that the edit of a resource has not used up the budget of the build.
#[inline]
fn check(budget: Option<&Budget>, resource: &Resource<'_>) -> Result<()> {
    let spent = budget.map_or(Ok(()), Budget::check);
    spent.map_err(|spent| Error::from(spent).in_resource(resource.id()))
}

/// The resources that have an id.
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

    /// A copy of the resources, without indexes. O(size of their trees).
    #[must_use]
    pub fn copy(&self) -> Self {
        let (unique, may_have_empty) = (self.unique, self.may_have_empty);
        let budget = self.budget;
        ResMap { resources: self.resources.clone(), unique, may_have_empty, budget, ..ResMap::default() }
    }

    /// The number of resources, emptied ones included.
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Returns true if the map is empty.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The number of threads that work on all resources is worth.
    pub fn threads(&self, arena: Arena<'_>) -> usize {
        arena.threads(self.resources.len() * RESOURCE)
    }

    /// The resources in order.
    pub fn iter(&self) -> Counted<std::slice::Iter<'_, Resource<'a>>> {
        self.resources.iter()
    }

    /// The resources in order, for work whose steps are not counted here.
    pub fn as_slice(&self) -> &[Resource<'a>] {
        &self.resources
    }

    /// The resource at a place.
    pub fn get(&self, i: usize) -> &Resource<'a> {
        &self.resources[i]
    }

    /// The resources in order, by value.
    pub fn into_resources(self) -> Vec<Resource<'a>> {
        self.resources.into()
    }

    /// Appends a resource, at the last place. O(1).
    ///
    /// # Errors
    /// Another resource has the same id. The message names both places.
    pub fn append(&mut self, arena: Arena<'a>, resource: Resource<'a>) -> Result<()> {
        self.budget = Some(arena.budget());
        self.index_current(arena)?;
        let i = self.resources.len() as u32;
        self.resources.push(resource);
        if let Some(first) = self.ids.add_current(i, &self.resources) {
            let error = duplicate(arena, &self.resources[first as usize], &self.resources[i as usize]);
            self.resources.truncate(i as usize);
            return Err(error);
        }
        let resource = &self.resources[i as usize];
        self.ids.add_any(i, resource, 0);
        self.facets.add(resource, i);
        self.may_have_empty |= resource.is_deleted();
        self.changes.note(i as usize);
        self.changes.forget_numbers();
        Ok(())
    }

    /// Appends all resources of another map, in order. O(their number). The first map that is
    /// appended is moved.
    ///
    /// # Errors
    /// Two resources have the same id.
    pub fn append_all(&mut self, arena: Arena<'a>, mut other: ResMap<'a>) -> Result<()> {
        (self.budget, other.budget) = (Some(arena.budget()), Some(arena.budget()));
        if self.resources.is_empty() {
            *self = other;
            return self.check_unique(arena);
        }
        self.index_current(arena)?;
        self.reserve(other.len());
        other.resources.into_iter().try_for_each(|r| self.append(arena, r))
    }

    /// Makes room for `more` resources. Without room, an index hashes all its ids again each time
    /// it grows.
    pub fn reserve(&mut self, more: usize) {
        self.resources.reserve(more);
        if self.ids.has_current() {
            self.ids.reserve(more, &self.resources);
        }
    }

    fn drop_indexes(&mut self) {
        (self.ids, self.facets) = (Ids::default(), Facets::default());
    }

    fn index_current(&mut self, arena: Arena<'a>) -> Result<()> {
        if self.ids.has_current() {
            return Ok(());
        }
        if let Err((first, second)) = self.ids.index_current(&self.resources, self.threads(arena)) {
            self.ids.forget_current();
            return Err(duplicate(arena, &self.resources[first as usize], &self.resources[second as usize]));
        }
        self.unique = true;
        self.may_have_empty = self.ids.count_current() < self.resources.len();
        Ok(())
    }

    /// Checks that no two resources share an id. O(n) after a step that touched all, else O(1).
    ///
    /// # Errors
    /// Two resources share an id.
    pub fn check_unique(&mut self, arena: Arena<'a>) -> Result<()> {
        if self.unique { Ok(()) } else { self.index_current(arena) }
    }

    /// As [`ResMap::check_unique`], but the resources for which `counts` does not hold may share an
    /// id with each other. O(n) if two resources share an id.
    ///
    /// # Errors
    /// Another resource has the id of a resource for which `counts` holds.
    pub fn check_unique_among(&mut self, arena: Arena<'a>, counts: impl Fn(&Resource<'a>) -> bool) -> Result<()> {
        if self.check_unique(arena).is_ok() {
            return Ok(());
        }
        // The first resource of each id, and true if it counts.
        let mut firsts: FastMap<ResId<'a>, (&Resource<'a>, bool)> = FastMap::default();
        for resource in self.resources.iter().filter(|resource| !resource.is_deleted()) {
            let is_counted = counts(resource);
            let Some((first, has_counted)) = firsts.get(resource.id()).copied() else {
                firsts.insert(*resource.id(), (resource, is_counted));
                continue;
            };
            if is_counted || has_counted {
                return Err(duplicate(arena, first, resource));
            }
        }
        Ok(())
    }

    /// The resources that have or have had an id. O(1), once the index exists.
    pub fn find_any(&mut self, id: &ResId<'a>) -> Found {
        let places = self.ids.any(id, &self.resources);
        match places.len() {
            0 => Found::None,
            1 => Found::One(places[0]),
            _ => Found::Many(places),
        }
    }

    /// The places of the resources that have an id now, in order. O(1), once the index exists.
    pub fn find_current(&mut self, id: &ResId<'a>) -> Vec<usize> {
        let mut places = self.ids.any(id, &self.resources);
        places.retain(|&i| self.resources[i].id() == id);
        places
    }

    /// Empties the map: the facts that [`Taken`] has about the resources, and the resources in
    /// order. O(n).
    ///
    /// # Errors
    /// Two resources share an id.
    pub fn take_all(&mut self, arena: Arena<'a>) -> Result<(Taken<'a>, Vec<Resource<'a>>)> {
        self.index_current(arena)?;
        let resources = std::mem::take(self).resources;
        let mut taken = Taken::default();
        for (i, resource) in resources.iter().enumerate().filter(|(_, resource)| !resource.is_deleted()) {
            taken.places.insert(*resource.id(), i as u32);
            if !resource.vars().is_empty() {
                taken.vars.insert(i as u32, resource.vars().to_vec());
            }
        }
        Ok((taken, resources.into()))
    }

    /// Edits one resource and brings the indexes up to date. O(edit).
    ///
    /// # Errors
    /// The errors of the edit.
    pub fn edit<T>(&mut self, i: usize, edit: impl FnOnce(&mut Resource<'a>) -> Result<T>) -> Result<T> {
        let resource = &mut self.resources[i];
        let (before, history) = (*resource.id(), resource.previous().len());
        let out = edit(resource);
        resource.refresh_id();
        self.changes.note(i);
        self.reindex(i, &before, history);
        self.facets.note_edit(i as u32);
        let out = out?;
        self.check_budget(i)?;
        Ok(out)
    }

    /// Checks that an edit has not used up the budget of the build.
    fn check_budget(&self, i: usize) -> Result<()> {
        check(self.budget, &self.resources[i])
    }

    /// Edits every resource, in order; the edits do not change identities. O(edits).
    ///
    /// # Errors
    /// The first error of an edit.
    pub fn edit_content(&mut self, mut edit: impl FnMut(&mut Resource<'a>) -> Result<()>) -> Result<()> {
        self.facets.forget_metadata();
        self.may_have_empty = true;
        self.changes.note_all();
        let budget = self.budget;
        self.resources.iter_mut().try_for_each(|resource| edit(resource).and_then(|()| check(budget, resource)))
    }

    /// The numbers by which a trace knows the resources that exist, in their order. A new resource
    /// has the number 0. O(1) if no resource was added, removed or moved since the last call, else
    /// O(n), on all cores if there are many.
    pub fn numbers(&mut self, arena: Arena<'a>) -> Arc<[u32]> {
        if let Some(known) = self.changes.numbers() {
            return known;
        }
        let of_run = |run: &[Resource<'a>]| -> Vec<u32> {
            run.iter().filter(|resource| !resource.is_deleted()).map(Resource::number).collect()
        };
        let numbers: Arc<[u32]> = self.look_at_runs(arena, of_run).concat().into();
        self.changes.set_numbers(&numbers);
        numbers
    }

    /// Sets the number of every resource in a trace.
    pub fn number_each(&mut self, mut number: impl FnMut(&Resource<'a>) -> u32) {
        self.changes.forget_numbers();
        self.resources.iter_mut().for_each(|resource| resource.set_number(number(resource)));
    }

    /// Sets the number of a resource in a trace, which has looked at the changes of the resource.
    pub fn number(&mut self, i: usize, number: u32) {
        self.changes.forget_numbers();
        self.resources[i].set_number(number);
        self.resources[i].take_touched();
    }

    /// Edits every resource, in order; the edits may change identities. O(edits).
    ///
    /// # Errors
    /// The first error of an edit.
    pub fn rename(&mut self, mut edit: impl FnMut(&mut Resource<'a>) -> Result<()>) -> Result<()> {
        self.drop_indexes();
        self.changes.note_all();
        (self.unique, self.may_have_empty) = (false, true);
        let budget = self.budget;
        self.resources.iter_mut().try_for_each(|resource| {
            resource.edit(Changes::Names, &mut edit)?;
            check(budget, resource)
        })
    }

    /// Looks at each resource that may have changed since the last call; on all cores if there are
    /// many. `look` adds to the result of its run; the results are in the order of the resources.
    /// O(changes) if single resources were edited since the last call, else O(n).
    pub fn look_at_touched<R: Default + Send>(
        &mut self,
        arena: Arena<'a>,
        look: impl Fn(&Resource<'a>, Touched, &mut R) + Sync,
    ) -> Vec<R> {
        let look = |resource: &mut Resource<'a>, result: &mut R| match resource.take_touched() {
            Touched::Nothing => {}
            touched => look(resource, touched, result),
        };
        if let Some(places) = self.changes.take_places() {
            let mut result = R::default();
            for i in places {
                if let Some(resource) = self.resources.get_mut(i as usize) {
                    look(resource, &mut result);
                }
            }
            return vec![result];
        }
        let threads = self.threads(arena);
        let look_at_run = || {
            |run: &mut [Resource<'a>]| {
                let mut result = R::default();
                run.iter_mut().for_each(|resource| look(resource, &mut result));
                result
            }
        };
        parallel::runs_mut(&mut self.resources, threads, look_at_run)
    }

    /// The result of a look at each resource by itself, in order, on all cores if there are many.
    ///
    /// # Errors
    /// The error of the first resource, in order, for which `look` fails.
    pub fn look_at_each<R: Send>(
        &self,
        arena: Arena<'a>,
        look: impl Fn(&Resource<'a>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let runs = self.look_at_runs(arena, |run| run.iter().map(&look).collect::<Result<Vec<R>>>());
        runs.into_iter().collect::<Result<Vec<_>>>().map(|runs| runs.into_iter().flatten().collect())
    }

    /// The results of a look at runs of resources, in order, on all cores if there are many.
    pub fn look_at_runs<'m, R: Send>(
        &'m self,
        arena: Arena<'a>,
        look: impl Fn(&'m [Resource<'a>]) -> R + Sync,
    ) -> Vec<R> {
        parallel::runs(&self.resources, self.threads(arena), || &look)
    }

    /// The places of the resources for which `is_wanted` holds, in order. O(n), on all cores if
    /// there are many.
    pub fn places(&self, arena: Arena<'a>, is_wanted: impl Fn(&Resource<'a>) -> bool + Sync) -> Vec<usize> {
        let wanted = self.look_at_runs(arena, |run| run.iter().map(&is_wanted).collect::<Vec<_>>());
        wanted.into_iter().flatten().enumerate().filter_map(|(i, is_wanted)| is_wanted.then_some(i)).collect()
    }

    /// As [`distinct`], of all resources.
    pub fn distinct<K: Copy + Hash + Eq + Send>(
        &self,
        arena: Arena<'a>,
        ask: impl Fn(&Resource<'a>) -> Option<K> + Sync,
    ) -> FastSet<K> {
        distinct(&self.resources, self.threads(arena), ask)
    }

    /// Edits the resources at `places`, which are in ascending order, each by itself; on all cores
    /// if they are many. `editor` is as for [`ResMap::edit_each`]. O(n + edits).
    ///
    /// # Errors
    /// The error of the first resource, in order, whose edit fails.
    pub fn edit_some<W>(
        &mut self,
        arena: Arena<'a>,
        places: &[usize],
        changes: Changes,
        editor: impl Fn(Arena<'a>) -> W + Sync,
    ) -> Result<()>
    where
        W: FnMut(usize, &mut Resource<'a>) -> Result<()>,
    {
        let mut wanted = places.iter().peekable();
        let is_wanted = |(i, _): &(usize, &mut Resource<'a>)| wanted.next_if_eq(&i).is_some();
        let mut chosen: Vec<_> = self.resources.iter_mut().enumerate().filter(is_wanted).collect();
        let edit_run = |arena: Arena<'a>| {
            let mut edit = editor(arena);
            move |run: &mut [(usize, &mut Resource<'a>)]| {
                let mut changed = Vec::new();
                for (i, resource) in run {
                    let (before, history) = (*resource.id(), resource.previous().len());
                    resource.edit(changes, |resource| edit(*i, resource))?;
                    check(Some(arena.budget()), resource)?;
                    if *resource.id() != before || resource.previous().len() != history || resource.is_deleted() {
                        changed.push((*i, before, history));
                    }
                }
                Ok(changed)
            }
        };
        places.iter().for_each(|&i| self.changes.note(i));
        let (others, threads) = (arena.others(), arena.threads(chosen.len() * RESOURCE));
        let runs: Vec<Result<Vec<_>>> = match threads {
            1 => vec![edit_run(arena)(&mut chosen)],
            _ => parallel::runs_mut(&mut chosen, threads, || edit_run(others.arena())),
        };
        for run in runs {
            run?.into_iter().for_each(|(i, before, history)| self.reindex(i, &before, history));
        }
        Ok(())
    }

    /// Notes that the metadata of some resources may have changed.
    pub fn note_edits(&mut self, places: &[usize]) {
        places.iter().for_each(|&i| self.facets.note_edit(i as u32));
    }

    /// Edits every resource by itself, on all cores if there are many. `editor` makes the edit
    /// function of a thread, given the arena of the thread. An edit that changes identities reads
    /// them again, by [`Resource::edit`]. O(edits).
    ///
    /// # Errors
    /// The error of the first resource, in order, whose edit fails.
    pub fn edit_each<W>(
        &mut self,
        arena: Arena<'a>,
        changes: Changes,
        editor: impl Fn(Arena<'a>) -> W + Sync,
    ) -> Result<()>
    where
        W: FnMut(&mut Resource<'a>) -> Result<()>,
    {
        self.changes.note_all();
        let (unique, mut facets) = (self.unique, std::mem::take(&mut self.facets));
        if changes == Changes::Content {
            facets.forget_metadata();
        } else {
            (self.ids, self.unique) = (Ids::default(), false);
        }
        let edit_run = |arena: Arena<'a>| {
            let mut edit = editor(arena);
            move |run: &mut [Resource<'a>]| {
                let (mut keeps_kinds, mut has_empty) = (true, false);
                for resource in run {
                    edit(resource)?;
                    check(Some(arena.budget()), resource)?;
                    keeps_kinds &= resource.keeps_kind();
                    has_empty |= resource.is_deleted();
                }
                Ok((keeps_kinds, has_empty))
            }
        };
        let (others, threads) = (arena.others(), self.threads(arena));
        let runs: Vec<Result<_>> = match threads {
            1 => vec![edit_run(arena)(&mut self.resources)],
            _ => parallel::runs_mut(&mut self.resources, threads, || edit_run(others.arena())),
        };
        let runs = runs.into_iter().collect::<Result<Vec<(bool, bool)>>>()?;
        self.may_have_empty |= runs.iter().any(|(_, has_empty)| *has_empty);
        match changes {
            Changes::Content => self.facets = facets,
            Changes::NamesAlike if runs.into_iter().all(|(keeps_kinds, _)| keeps_kinds) => {
                facets.keep_kinds();
                (self.unique, self.facets) = (unique, facets);
            }
            Changes::NamesAlike | Changes::Names => {}
        }
        Ok(())
    }

    /// Edits one resource without changing its identity or its metadata; only its history may
    /// change. O(edit).
    ///
    /// # Errors
    /// The errors of the edit.
    pub fn edit_in_place<T>(&mut self, i: usize, edit: impl FnOnce(&mut Resource<'a>) -> Result<T>) -> Result<T> {
        let resource = &mut self.resources[i];
        let (before, history) = (*resource.id(), resource.previous().len());
        let out = edit(resource);
        self.changes.note(i);
        self.reindex(i, &before, history);
        let out = out?;
        self.check_budget(i)?;
        Ok(out)
    }

    /// Brings the indexes up to date after a change of one resource, which had `history` earlier
    /// identities. Entries for identities that it gave up stay: every answer is compared with the
    /// resource.
    fn reindex(&mut self, i: usize, before: &ResId<'a>, history: usize) {
        let resource = &self.resources[i];
        if resource.is_deleted() {
            self.may_have_empty = true;
            self.changes.forget_numbers();
        }
        let moved = *resource.id() != *before;
        if !moved && resource.previous().len() == history {
            return;
        }
        // Earlier identities have the group and the version of the current one.
        let (api, api_before) = (resource.id().gvk, before.gvk);
        let is_same_api = is_same(api.group, api_before.group) && is_same(api.version, api_before.version);
        let first = if is_same_api && history <= resource.previous().len() { history } else { 0 };
        self.ids.add_any(i as u32, resource, first);
        self.facets.add_identities(resource, first, i as u32);
        if moved {
            self.ids.remove_current(i as u32, before);
            // If another resource has the new id, the next check has to find that out.
            if !self.ids.has_current() || self.ids.add_current(i as u32, &self.resources).is_some() {
                self.ids.forget_current();
                self.unique = false;
            }
        }
    }

    /// Replaces a resource by the one that `make` makes from it, and reads the new identity. O(1),
    /// plus the cost of `make`.
    pub fn replace_with(&mut self, i: usize, make: impl FnOnce(Resource<'a>) -> Resource<'a>) {
        let before = std::mem::replace(&mut self.resources[i], Resource::unchecked(Node::null()));
        let id = *before.id();
        self.resources[i] = make(before);
        self.resources[i].refresh_id();
        self.changes.note(i);
        self.changes.forget_numbers();
        self.reindex(i, &id, usize::MAX);
        self.facets.note_edit(i as u32);
    }

    /// Empties a resource: no look-up finds it, and [`ResMap::drop_empty`] removes it. O(1).
    pub fn delete(&mut self, i: usize) {
        let before = std::mem::replace(&mut self.resources[i], Resource::unchecked(Node::null()));
        self.may_have_empty = true;
        self.changes.forget_numbers();
        self.ids.remove_current(i as u32, before.id());
    }

    /// Places of resources that a selector may select, in order: see [`Facets`]. O(answer), once
    /// the index exists.
    pub fn candidates(&mut self, hint: &Hint<'_>) -> Vec<usize> {
        self.few_candidates(hint, usize::MAX).unwrap_or_default()
    }

    /// As [`ResMap::candidates`]; `None` if there are more than `limit`. O(limit), once the index
    /// exists.
    pub fn few_candidates(&mut self, hint: &Hint<'_>, limit: usize) -> Option<Vec<usize>> {
        let mut places = self.facets.find(&self.resources, hint, limit)?;
        if self.may_have_empty {
            places.retain(|&i| !self.resources[i].is_deleted());
        }
        Some(places)
    }

    /// Removes the resources that were emptied. O(n), O(1) if no edit can have emptied a resource.
    pub fn drop_empty(&mut self) {
        if std::mem::take(&mut self.may_have_empty) && self.iter().any(Resource::is_deleted) {
            self.retain(|r| !r.is_deleted());
        }
    }

    /// Keeps the resources for which `keep` holds. O(n).
    pub fn retain(&mut self, keep: impl FnMut(&Resource<'a>) -> bool) {
        self.drop_indexes();
        self.changes.note_all();
        self.resources.retain(keep);
    }

    /// Reorders the resources by a key, which is made once for each, on all cores if there are
    /// many, and equal keys by a comparison. O(n log n).
    pub fn sort_by_key<K: Ord + Send>(
        &mut self,
        arena: Arena<'a>,
        key: impl Fn(&Resource<'a>) -> K + Sync,
        mut compare: impl FnMut(&Resource<'a>, &Resource<'a>) -> std::cmp::Ordering,
    ) {
        self.drop_indexes();
        self.changes.note_all();
        let keys = self.look_at_runs(arena, |run| run.iter().map(&key).collect::<Vec<_>>());
        let mut order: Vec<(K, u32)> = keys.into_iter().flatten().zip(0..).collect();
        let resources = &self.resources;
        let mut by_rest = |a: u32, b: u32| compare(&resources[a as usize], &resources[b as usize]).then(a.cmp(&b));
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| by_rest(a.1, b.1)));
        permute(&mut self.resources, order.iter().map(|(_, from)| *from));
    }

    /// Takes the nodes out, for edits that need to know the identities of all resources. Until
    /// [`ResMap::put_nodes`] is called the resources are empty. O(n).
    pub fn take_nodes(&mut self) -> Vec<Node<'a>> {
        self.changes.note_all();
        self.resources.iter_mut().map(Resource::take_node).collect()
    }

    /// Puts the nodes back that [`ResMap::take_nodes`] took out. `renamed` has the place and the
    /// new identity of each resource whose identity has changed. O(n).
    pub fn put_nodes(&mut self, nodes: Vec<Node<'a>>, renamed: Vec<(usize, ResId<'a>)>) {
        for (resource, node) in self.resources.iter_mut().zip(nodes) {
            resource.put_node(node);
        }
        self.unique &= renamed.is_empty();
        renamed.into_iter().for_each(|(i, id)| self.resources[i].set_id(id));
        self.may_have_empty = true;
        self.drop_indexes();
    }
}

impl<'a> ResMap<'a> {
    /// A map of resources in the order of their keys, which are all different. O(n log n); the
    /// resources are reordered in place.
    pub fn by_keys(mut resources: Vec<Resource<'a>>, keys: &[u32]) -> Self {
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_unstable_by_key(|&i| keys[i as usize]);
        permute(&mut resources, order.into_iter());
        ResMap { resources: resources.into(), may_have_empty: true, ..ResMap::default() }
    }
}

/// Reorders the items: item `order[k]` moves to place k. Each item moves once, along the cycles, in
/// place.
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
        ResMap { resources: resources.into_iter().collect(), may_have_empty: true, ..ResMap::default() }
    }
}

/// Returns true if a text is the file of a component. O(size of the text), for an error.
fn is_component<'a>(arena: Arena<'a>, source: &'a Source) -> bool {
    first_document(arena, source).is_ok_and(|node| node.is_some_and(|node| node.get_text("kind") == Some("Component")))
}

fn duplicate(arena: Arena<'_>, first: &Resource<'_>, second: &Resource<'_>) -> Error {
    let message = format!("may not add resource with an already registered id: {}", second.id());
    let error = Error::new(Code::DuplicateId, message).in_resource(second.id());
    if first.pos() == second.pos() && first.pos().is_in_source() {
        // The entry is at fault that leads to the file once more.
        let again = error.hint(match arena.source(first.pos()).is_some_and(|source| is_component(arena, source)) {
            true => "its component is used twice: name the component once, under 'components' of the kustomization that has both, or give each of them its own namePrefix or namespace",
            false => "it is read twice: remove one of the entries that lead to its file, or give each of them its own name or namespace, as with namePrefix",
        });
        return match arena.place(first.pos()) {
            Some(place) => again.context(format!("both are at {place}")),
            None => again,
        };
    }
    let error = error.at(second.pos()).hint(
        "remove one of them, or give it another name or namespace; to change a resource of a base, write a patch",
    );
    match arena.place(first.pos()) {
        Some(place) => error.through(first.pos(), format!("the first one is at {place}")),
        None => error,
    }
}
