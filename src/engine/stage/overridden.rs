//! [`Overridden`]: values of patches that a later stage or patch of the same kustomization replaces
//! or removes; [`Overriding`]: the stages that bring or replace such values.

use crate::diag::{Code, Warning};
use crate::resource::ResMap;
use rustomize_base::meter::FastSet;
use rustomize_yaml::{Arena, Node, Pos, Value};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The texts of patches, as ranges of positions in their order.
#[derive(Clone, Debug, Default)]
pub struct PatchTexts(Arc<[Range<u32>]>);

impl PatchTexts {
    /// The texts that hold the given positions. O(positions x log sources).
    pub fn of(arena: Arena<'_>, positions: impl IntoIterator<Item = Pos>) -> Self {
        let sources = positions.into_iter().filter_map(|pos| arena.source(pos));
        let end = |base: u32, text: &str| base.saturating_add(u32::try_from(text.len()).unwrap_or(u32::MAX));
        let mut ranges: Vec<Range<u32>> = sources.map(|s| s.base..end(s.base, &s.text)).collect();
        ranges.sort_by_key(|range| range.start);
        ranges.dedup();
        PatchTexts(ranges.into())
    }

    /// Returns true for a position in one of the texts. O(log texts).
    pub fn contains(&self, pos: Pos) -> bool {
        self.number(pos).is_some()
    }

    /// The number of the text that holds a position. O(log texts).
    pub fn number(&self, pos: Pos) -> Option<usize> {
        let at = self.0.partition_point(|range| range.start <= pos.0).checked_sub(1)?;
        self.0.get(at).filter(|range| range.contains(&pos.0)).map(|_| at)
    }

    /// Returns true if there are two texts at least.
    pub fn are_several(&self) -> bool {
        self.0.len() > 1
    }
}

/// The beginning of a document or operation of a patch.
#[derive(Clone, Copy, Debug)]
pub struct PatchPart {
    pub pos: Pos,
    /// True for an operation of a JSON patch.
    pub is_json: bool,
}

/// The patches whose values a stage may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Patches in several texts, its own ones included: the values are replaced by other patches.
    SeveralTexts,
    /// All patches, unless one of them finds its resources by labels or annotations.
    UnaskedFor,
    /// JSON patches: a merge patch says by its namespace which resource it is for.
    JsonPatches,
    /// All patches.
    All,
}

/// A stage that brings values by patches, or replaces such values.
pub trait Overriding {
    /// The parts of the patches that the stage applies.
    fn patches(&self) -> Vec<PatchPart> {
        Vec::new()
    }

    /// Returns true if an operation asks for a value that an earlier patch may have set.
    fn has_test(&self) -> bool {
        false
    }

    /// The patches whose values the stage may replace.
    fn watched(&self) -> Watched;

    /// Sets the set in which the stage notes these values.
    fn note_in(&mut self, overridden: Overridden);
}

/// The values of patches that a stage replaces by others, or removes. Clones are handles of the
/// same set: neighbouring stages may share one, and so may threads.
#[derive(Clone, Debug, Default)]
pub struct Overridden {
    pub patches: PatchTexts,
    /// Each value with the place of the later one, if it is known.
    found: Arc<Mutex<BTreeMap<Pos, Pos>>>,
    /// The places of the resources that patches have changed.
    patched: Arc<Mutex<FastSet<u32>>>,
    /// True if a later stage with the same set reports the values.
    is_left_to_later: bool,
}

impl Overridden {
    /// An empty set for the values of these patches.
    pub fn of(patches: PatchTexts) -> Self {
        Overridden { patches, ..Overridden::default() }
    }

    /// An empty set for the values of other patches, which knows the resources that patches have
    /// changed so far.
    #[must_use]
    pub fn with_texts(&self, patches: PatchTexts) -> Self {
        Overridden { patches, patched: Arc::clone(&self.patched), ..Overridden::default() }
    }

    /// The same set for a stage that leaves the report to a later stage.
    #[must_use]
    pub fn left_to_later(&self) -> Self {
        Overridden { is_left_to_later: true, ..self.clone() }
    }

    /// Notes that a patch changes the resource at a place. Returns true if an earlier patch has
    /// changed it, too: no other resource has values that a patch could replace. O(1).
    pub fn note_patched(&self, resource: Pos) -> bool {
        !self.patched.lock().unwrap_or_else(PoisonError::into_inner).insert(resource.0)
    }

    /// Notes that another value takes the place of this one, if a patch has it.
    pub fn note(&self, old: Pos) {
        if self.patches.contains(old) {
            self.add(old, Pos::NONE);
        }
    }

    /// Notes that a patch replaces or removes this value of another patch: `by` is a place in the
    /// later patch.
    pub fn note_by(&self, old: Pos, by: Pos) {
        let number = self.patches.number(old);
        if number.is_some() && number != self.patches.number(by) {
            self.add(old, by);
        }
    }

    /// Of two later values the first one in the texts is kept, whatever the order of the threads.
    fn add(&self, old: Pos, by: Pos) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.entry(old).and_modify(|known| *known = by.min(*known)).or_insert(by);
    }

    /// The findings about values of which nothing is left in any resource. O(1) if no value was
    /// replaced, else O(size of the resources).
    pub fn findings(&self, map: &ResMap<'_>, message: &str) -> Vec<Warning> {
        if self.is_left_to_later {
            return Vec::new();
        }
        let finding = |pos| Warning::new(Code::Overridden, message).at(pos).hint("remove one of the two");
        self.gone(map).into_keys().map(finding).collect()
    }

    /// Takes the values of which nothing is left in any resource, each with the place of the later
    /// one, and empties the set. O(1) if no value was replaced, else O(size of the resources).
    pub fn gone(&self, map: &ResMap<'_>) -> BTreeMap<Pos, Pos> {
        let mut found = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
        if !found.is_empty() {
            map.iter().for_each(|resource| keep_gone(resource.node(), &mut found));
        }
        found
    }
}

/// Removes the positions of values that are in a tree.
fn keep_gone(node: &Node<'_>, found: &mut BTreeMap<Pos, Pos>) {
    match node.value() {
        Value::Scalar(_) => {
            found.remove(&node.pos());
        }
        Value::Sequence(items) => items.iter().for_each(|item| keep_gone(item, found)),
        Value::Mapping(fields) => fields.iter().for_each(|entry| keep_gone(entry.value(), found)),
    }
}
