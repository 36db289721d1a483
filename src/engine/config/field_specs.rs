//! [`FieldSpecs`]: a list of field specs, found by kind and by the fields that a resource has.

use super::FieldSpec;
use super::field_spec::{Step, split_into};
use crate::config::field_spec::MergedSpecs;
use crate::diag::Result;
use crate::schema::Gvk;
use rustomize_base::meter::{self, FastMap, FastSet};
use rustomize_yaml::{Arena, Node, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A list of field specs, with their paths split, and an index of the specs of each kind. Clones
/// share the list.
#[derive(Clone, Debug, Default)]
pub struct FieldSpecs<'a>(Arc<List<'a>>);

/// Field specs of the usual configuration: made when a build first asks for them, and kept for the
/// builds after it.
pub struct UsualSpecs(OnceLock<FieldSpecs<'static>>);

impl UsualSpecs {
    /// Specs that are not made yet.
    pub const fn unmade() -> Self {
        UsualSpecs(OnceLock::new())
    }

    /// The specs. `list` makes the list for them, the same one each time.
    ///
    /// # Errors
    /// The errors of `list`.
    pub fn get_or_make(&self, list: impl FnOnce() -> Result<MergedSpecs<'static>>) -> Result<FieldSpecs<'static>> {
        if let Some(known) = self.0.get() {
            return Ok(known.clone());
        }
        let made = FieldSpecs::with(keep_for_ever, list()?.in_order().iter().cloned());
        Ok(self.0.get_or_init(|| made).clone())
    }
}

/// Copies a text of a table that is made once in a process.
pub(crate) fn keep_for_ever(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// See [`FieldSpecs`].
#[derive(Debug, Default)]
struct List<'a> {
    specs: Paths<'a>,
    /// The specs of each kind.
    by_kind: FastMap<&'a str, Group<'a>>,
    /// The specs for all kinds.
    general: Group<'a>,
    /// Specs of `metadata/name`, the name of a resource.
    of_names: Vec<u32>,
}

/// Field specs, and the steps of their paths in one list.
#[derive(Clone, Debug, Default)]
struct Paths<'a> {
    /// Each with the end of its steps, which begin where those of the spec before it end.
    specs: Vec<(FieldSpec<'a>, usize)>,
    steps: Vec<Step<'a>>,
}

impl<'a> Paths<'a> {
    /// Adds a spec, and returns its number.
    fn add(&mut self, keep: impl Fn(&str) -> &'a str, spec: FieldSpec<'a>) -> u32 {
        let at = self.specs.len() as u32;
        split_into(keep, spec.path, &mut self.steps);
        self.specs.push((spec, self.steps.len()));
        at
    }

    fn iter(&self) -> impl Iterator<Item = &FieldSpec<'a>> {
        self.specs.iter().map(|(spec, _)| spec)
    }

    fn spec(&self, at: u32) -> &FieldSpec<'a> {
        &self.specs[at as usize].0
    }

    fn path(&self, at: u32) -> &[Step<'a>] {
        let at = at as usize;
        let begin = at.checked_sub(1).map_or(0, |before| self.specs[before].1);
        &self.steps[begin..self.specs[at].1]
    }
}

/// The specs of one kind, or the specs for all kinds.
#[derive(Clone, Debug, Default)]
struct Group<'a> {
    numbers: Vec<u32>,
    /// The paths as a tree, if there are more than [`FEW`].
    tree: Option<Tree<'a>>,
    /// Specs that are not in the tree and are tried for each resource.
    always: Vec<u32>,
}

/// Up to this number, specs are tried one after the other.
const FEW: usize = 16;

/// Paths with a common beginning.
#[derive(Clone, Debug, Default)]
struct Tree<'a> {
    /// Specs whose paths end here.
    here: Vec<u32>,
    below: BTreeMap<&'a str, Tree<'a>>,
}

impl<'a> FieldSpecs<'a> {
    /// Makes the list, with the paths split. O(specs).
    pub fn new(arena: Arena<'a>, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Self {
        FieldSpecs::with(|text| arena.text(text), specs)
    }

    /// As [`FieldSpecs::new`]; `keep` copies a text that has to live as long as the list.
    fn with(keep: impl Fn(&str) -> &'a str, specs: impl IntoIterator<Item = FieldSpec<'a>>) -> Self {
        let mut all = List::default();
        for spec in specs {
            let (kind, is_name) = (spec.gvk.kind, spec.path.trim_start_matches('/') == "metadata/name");
            let at = all.specs.add(&keep, spec);
            let group = match kind {
                "" => &mut all.general,
                kind => all.by_kind.entry(kind).or_default(),
            };
            group.numbers.push(at);
            all.of_names.extend(is_name.then_some(at));
        }
        let List { specs, by_kind, general, .. } = &mut all;
        let groups = by_kind.values_mut().chain([general]);
        let large: Vec<_> = groups.filter(|group| group.numbers.len() > FEW).collect();
        if !large.is_empty() {
            let mut made = Tree::default();
            for (at, _) in specs.iter().enumerate().filter(|(_, spec)| spec.create) {
                made.add(specs.path(at as u32), at as u32);
            }
            large.into_iter().for_each(|group| group.grow(specs, &made));
        }
        FieldSpecs(Arc::new(all))
    }

    /// Returns true if there is only one spec, with this path and for all kinds.
    pub fn is_one_for_all(&self, path: &str) -> bool {
        matches!(self.0.specs.specs.as_slice(), [(spec, _)] if spec.path == path && spec.gvk == Gvk::default())
    }

    /// Returns true if each spec of another list is in this one, too: one with the same path for
    /// the same kinds. Whether they make missing fields does not count. O(specs).
    pub fn cover(&self, others: &FieldSpecs<'_>) -> bool {
        let own: FastSet<(Gvk<'_>, &str)> = self.0.specs.iter().map(|spec| (spec.gvk, spec.path)).collect();
        others.0.specs.iter().all(|spec| own.contains(&(spec.gvk, spec.path)))
    }

    /// Returns true if a spec is for the name of the resources of a kind.
    pub fn rename(&self, gvk: Gvk<'_>) -> bool {
        self.0.of_names.iter().any(|&at| self.0.specs.spec(at).gvk.selects(&gvk))
    }

    /// Returns true if a kind has many specs: searching for the right ones is faster then.
    fn are_many(&self, gvk: Gvk<'_>) -> bool {
        let own = self.0.by_kind.get(gvk.kind).is_some_and(|group| group.tree.is_some());
        own || self.0.general.tree.is_some()
    }

    /// The specs for one kind, in order. O(specs for that kind and for all).
    pub fn for_gvk<'s>(&'s self, gvk: Gvk<'s>) -> impl Iterator<Item = (&'s FieldSpec<'a>, &'s [Step<'a>])> + 's {
        let own = self.0.by_kind.get(gvk.kind).map_or(&[][..], |group| &group.numbers);
        self.select(gvk, merge_numbers(own, &self.0.general.numbers))
    }

    /// The specs for one kind that may lead to a field of a resource, or make one, in order; with
    /// others if they are few. O(fields on their paths).
    pub fn for_node<'s>(
        &'s self,
        gvk: Gvk<'s>,
        node: &Node<'_>,
    ) -> impl Iterator<Item = (&'s FieldSpec<'a>, &'s [Step<'a>])> + use<'s, 'a> {
        let many = self.are_many(gvk).then(|| self.search(gvk, node));
        let few = many.is_none().then(|| self.for_gvk(gvk));
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }

    fn search<'s>(&'s self, gvk: Gvk<'s>, node: &Node<'_>) -> Vec<(&'s FieldSpec<'a>, &'s [Step<'a>])> {
        let found = |group: &Group<'a>| match &group.tree {
            None => group.numbers.clone(),
            Some(tree) => {
                let mut found = group.always.clone();
                tree.find(node, &mut found);
                found.sort_unstable();
                found.dedup();
                found
            }
        };
        let own = self.0.by_kind.get(gvk.kind).map(found).unwrap_or_default();
        let general = found(&self.0.general);
        self.select(gvk, merge_numbers(&own, &general)).collect()
    }

    fn select<'s>(
        &'s self,
        gvk: Gvk<'s>,
        numbers: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = (&'s FieldSpec<'a>, &'s [Step<'a>])> {
        numbers.map(|at| (self.0.specs.spec(at), self.0.specs.path(at))).filter(move |(spec, _)| spec.gvk.selects(&gvk))
    }
}

impl<'a> Group<'a> {
    /// Makes the tree of paths. Some specs are tried for each resource instead: those that make
    /// fields, those that may lead to a field that is made, and those whose path is an error.
    fn grow(&mut self, specs: &Paths<'a>, made: &Tree<'a>) {
        let mut tree = Tree::default();
        for &at in &self.numbers {
            let path = specs.path(at);
            if made.meets(path) || path.iter().any(|step| step.check().is_err()) {
                self.always.push(at);
            } else {
                tree.add(path, at);
            }
        }
        self.tree = Some(tree);
    }
}

impl<'a> Tree<'a> {
    fn add(&mut self, path: &[Step<'a>], at: u32) {
        path.iter().fold(self, |tree, step| tree.below.entry(step.key).or_default()).here.push(at);
    }

    /// Returns true if the path is the beginning of a path in the tree, or continues one.
    fn meets(&self, path: &[Step<'a>]) -> bool {
        let mut tree = self;
        for step in path {
            if !tree.here.is_empty() {
                return true;
            }
            match tree.below.get(step.key) {
                Some(below) => tree = below,
                None => return false,
            }
        }
        true
    }

    /// Collects the specs whose paths a node has. At the end of a path the specs with longer paths
    /// are collected, too: a value that is set there may contain their fields. The same holds for a
    /// scalar, which is an error or becomes a list.
    fn find(&self, node: &Node<'_>, found: &mut Vec<u32>) {
        match node.value() {
            Value::Sequence(items) if self.here.is_empty() => items.iter().for_each(|item| self.find(item, found)),
            Value::Mapping(m) if self.here.is_empty() && self.below.len() < m.len() => {
                self.below
                    .iter()
                    .for_each(|(key, tree)| m.get(key).into_iter().for_each(|value| tree.find(value, found)));
            }
            Value::Mapping(m) if self.here.is_empty() => m.iter().for_each(|entry| {
                self.below.get(entry.key().text()).into_iter().for_each(|tree| tree.find(entry.value(), found));
            }),
            _ => self.all(found),
        }
    }

    fn all(&self, found: &mut Vec<u32>) {
        meter::count(1);
        found.extend(meter::counted(self.here.iter()));
        self.below.values().for_each(|tree| tree.all(found));
    }
}

/// The numbers of two ascending lists, ascending.
fn merge_numbers<'s>(a: &'s [u32], b: &'s [u32]) -> impl Iterator<Item = u32> + 's {
    let (mut a, mut b) = (a, b);
    std::iter::from_fn(move || {
        let next = if b.is_empty() || a.first().is_some_and(|x| x < &b[0]) { &mut a } else { &mut b };
        let (first, rest) = next.split_first()?;
        *next = rest;
        Some(*first)
    })
}
