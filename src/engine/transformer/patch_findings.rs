//! [`PatchFindings`]: likely mistakes in patches, found where a patch meets its resource and before
//! it is applied. A build that is not asked for findings has none of this.

use super::json_patch::Operation;
use super::patch_values;
use crate::check::{Kinds, MOST_UNKNOWN, Unknown};
use crate::config::kustomization::PatchOptions;
use crate::diag::{Code, Warning};
use crate::merge::losses::{Loss, LossKind, Losses};
use crate::resource::{ResId, ResMap, Resource};
use crate::schema::{Schema, Schemas};
use crate::stage::{Build, OfKind, Overridden};
use rustomize_base::meter::FastSet;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Mapping, Node, Pos, Sequence, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// The fields by which people tell the items of a list apart.
const NAMES_OF_ITEMS: [&str; 3] = ["name", "key", "id"];

/// The findings of a stage, by place and message: a finding about many resources counts once.
pub(super) struct PatchFindings<'a> {
    kinds: Kinds<'a>,
    found: Mutex<BTreeMap<(Pos, String), Warning>>,
    /// The findings about fields that a kind does not have.
    unknown: Mutex<BTreeMap<(Pos, String), OfKind<'a>>>,
    /// Values that lists have lost, by their places.
    lost: Mutex<BTreeMap<Pos, Lost>>,
    /// The items of patches with `$patch: delete`, and whether they have deleted something in any
    /// resource.
    deletions: Mutex<BTreeMap<Pos, bool>>,
    /// The patches so far, where values that a later one replaces are looked for.
    overridden: Option<Overridden>,
}

/// A value that a list of a resource has lost to a patch.
struct Lost {
    loss: Loss,
    patch: Pos,
    /// The resource.
    id: String,
}

impl Lost {
    fn finding(&self, places: &Places<'_>) -> Warning {
        let Loss { kind, pos, winner, reason, hint } = &self.loss;
        let place = |pos: Pos| places.place(pos).map(|place| place.to_string());
        let subject = match kind {
            LossKind::OfPatch(1) => "this value of the patch is lost".to_owned(),
            LossKind::OfPatch(count) => format!("{count} values of the patch from here on are lost"),
            LossKind::OfResource => "this item is lost where a patch is merged".to_owned(),
            LossKind::Twice => "this item is in the list twice where a patch is merged".to_owned(),
        };
        let winner = place(*winner).map_or_else(String::new, |place| format!(": the other item is at {place}"));
        let finding = Warning::new(Code::LostInMerge, format!("{subject}: {reason}")).at(*pos).at(self.patch);
        let finding = finding.in_resource(&self.id).hint(format!("{hint}{winner}"));
        let patch = place(self.patch).filter(|_| !matches!(kind, LossKind::OfPatch(_)));
        patch.map(|place| format!("the patch is at {place}")).into_iter().fold(finding, Warning::hint)
    }
}

/// The resources that a patch with a target deletes.
pub(super) struct Deletion<'p, 'a> {
    patch: &'p Resource<'a>,
    /// The resource that the patch names, if it is among them.
    named: Option<ResId<'a>>,
    /// The first of the other ones, and how many there are.
    other: Option<ResId<'a>>,
    others: usize,
}

impl<'p, 'a> Deletion<'p, 'a> {
    /// The deletion of nothing yet; `None` for a patch that deletes no resource.
    pub(super) fn of(patch: &'p Resource<'a>) -> Option<Self> {
        let deletes = patch.node().get_text("$patch") == Some("delete");
        deletes.then_some(Deletion { patch, named: None, other: None, others: 0 })
    }

    /// Adds a resource that is about to be deleted.
    pub(super) fn add(&mut self, resource: &Resource<'a>) {
        let (wanted, id) = (self.patch.id(), resource.id());
        let is_named = |had: ResId<'a>| had.name == wanted.name && had.gvk.kind == wanted.gvk.kind;
        if self.named.is_none() && resource.any_ids().any(is_named) {
            self.named = Some(*id);
        } else {
            self.other.get_or_insert(*id);
            self.others += 1;
        }
    }
}

impl<'a> PatchFindings<'a> {
    /// Begins without findings, if the build is asked for some. `kinds` has the kinds that patches
    /// are for, and `None` for a patch that may be for any kind. O(resources + patches).
    pub(super) fn of<'k>(
        build: &Build<'a>,
        map: &ResMap<'a>,
        kinds: impl Iterator<Item = Option<&'k str>>,
        overridden: Option<&Overridden>,
    ) -> Option<PatchFindings<'a>> {
        build.findings.as_ref()?;
        let kinds: FastSet<Option<&str>> = kinds.collect();
        let kinds = Kinds::new(map, |kind| kinds.contains(&None) || kinds.contains(&Some(kind)));
        let (found, unknown, lost, deletions) = Default::default();
        Some(PatchFindings { kinds, found, unknown, lost, deletions, overridden: overridden.cloned() })
    }

    /// Adds all findings to the build, in the order of their places, once the patches are applied.
    pub(super) fn finish(self, map: &ResMap<'a>, build: &mut Build<'a>) {
        let overridden = self.overridden.map(|overridden| patch_values::findings(&overridden, build.arena, map));
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values();
        let lost = self.lost.into_inner().unwrap_or_else(PoisonError::into_inner);
        let places = Places::new(build.arena.heap());
        let lost = lost.into_values().map(|lost| lost.finding(&places));
        let deletions = self.deletions.into_inner().unwrap_or_else(PoisonError::into_inner);
        let idle = deletions.into_iter().filter(|(_, deletes)| !deletes).map(|(pos, _)| {
            let message = "'$patch: delete' deletes nothing: the resource does not have this";
            Warning::new(Code::NoEffect, message).at(pos).hint("correct the name, or remove this from the patch")
        });
        build.find(|| found.chain(overridden.into_iter().flatten()).chain(lost).chain(idle));
        build.of_kind.extend(self.unknown.into_inner().unwrap_or_else(PoisonError::into_inner).into_values());
    }

    /// The patches so far, where values that a later one replaces are looked for.
    pub(super) fn overridden(&self) -> Option<&Overridden> {
        self.overridden.as_ref()
    }

    /// Looks at a strategic merge patch and the resource that it is about to be merged into.
    /// O(size of the patch + lists that it replaces).
    pub(super) fn look_at_merge(
        &self,
        resource: &Resource<'a>,
        patch: &Node<'_>,
        options: PatchOptions,
        schemas: &Schemas<'_>,
    ) {
        let gvk = &resource.id().gvk;
        if let Some(overridden) = self.overridden()
            && overridden.note_patched(resource.pos())
        {
            patch_values::note_merge(overridden, resource.node(), patch, schemas.of(gvk));
        }
        if let Some(directive) = patch.get("$patch").filter(|_| patch.get_text("$patch") == Some("replace")) {
            let message = "'$patch: replace' for a whole resource does nothing: the resource stays as it is";
            let finding = Warning::new(Code::LostInMerge, message).at(directive.pos()).at(patch.pos());
            self.add(resource, finding.hint("put it into the mapping that it is meant for, as 'spec'"));
        }
        if !options.allow_kind_change {
            let unknown = self.kinds.unknown(gvk, patch);
            unknown.iter().for_each(|unknown| self.find_unknown(resource, unknown, Pos::NONE));
        }
        let hidden = schemas.hidden(gvk);
        if (hidden.is_some() || !self.kinds.is_of_kubernetes(gvk))
            && let (Some(fields), Some(patch)) = (resource.node().as_mapping(), patch.as_mapping())
        {
            let is_hidden = hidden.is_some();
            let of_lists = OfLists { schema: hidden.unwrap_or_else(|| schemas.of(gvk)), is_hidden };
            self.lists(resource, fields, patch, of_lists, &mut Vec::new());
        }
    }

    /// Adds what the lists of a resource have lost to a strategic merge patch.
    pub(super) fn note_losses(&self, id: &ResId<'a>, patch: Pos, losses: Losses) {
        let (losses, deletions) = losses.into_inner();
        if !deletions.is_empty() {
            let mut known = self.deletions.lock().unwrap_or_else(PoisonError::into_inner);
            let in_source = deletions.into_iter().filter(|(pos, _)| pos.is_in_source());
            in_source.for_each(|(pos, deletes)| *known.entry(pos).or_default() |= deletes);
        }
        for loss in losses {
            let pos = if loss.pos.is_in_source() { loss.pos } else { patch };
            let lost = Lost { loss, patch, id: id.to_string() };
            let mut known = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            // The result is the same in any order of the threads.
            match known.get(&pos) {
                Some(first) if (&first.id, first.patch) <= (&lost.id, lost.patch) => {}
                _ => drop(known.insert(pos, lost)),
            }
        }
    }

    /// Adds the finding about a deletion of more than the resource that the patch names. A patch
    /// whose name nothing has says by its target alone what it deletes.
    pub(super) fn note_deletion(&self, deletion: &Deletion<'_, 'a>) {
        let Deletion { patch, named: Some(named), other: Some(other), others } = deletion else { return };
        let more = if *others > 1 { format!(" and {} more", others - 1) } else { String::new() };
        let message = format!("the patch names {named}, and also deletes {other}{more}: its target selects them");
        let finding = Warning::new(Code::DeletesMore, message).at(patch.pos()).in_resource(other);
        let finding = finding.hint("remove 'target': the patch is then for the resource that it names");
        let key = (finding.pos().unwrap_or_default(), finding.message().to_owned());
        self.found.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(finding);
    }

    /// Looks at a JSON patch and the resource that it is about to be applied to. Returns true if
    /// the kind has all fields that the patch brings. O(size of the patch).
    pub(super) fn look_at_operations(&self, resource: &Resource<'a>, operations: &[Operation<'_>], entry: Pos) -> bool {
        if operations.iter().any(Operation::changes_kind) {
            return true;
        }
        let mut known: BTreeSet<String> = BTreeSet::new();
        for operation in operations {
            let Some((way, value)) = operation.brings() else { continue };
            for unknown in self.kinds.unknown_at(&resource.id().gvk, way, value) {
                // A later operation works on the field that this one brings.
                if known.len() < MOST_UNKNOWN && known.insert(unknown.path()) {
                    let place = Some(operation.pos()).filter(|pos| pos.is_in_source()).unwrap_or(entry);
                    self.find_unknown(resource, &unknown, place);
                }
            }
        }
        known.is_empty()
    }

    fn find_unknown(&self, resource: &Resource<'a>, unknown: &Unknown<'_>, place: Pos) {
        if unknown.is_in(resource.node()) {
            return;
        }
        let (path, kind) = (unknown.path(), resource.id().gvk.kind);
        let message = format!("the patch adds the field '{path}', which a {kind} does not have");
        let finding = Warning::new(Code::UnknownFieldInPatch, message).at(unknown.pos).at(place).in_field(path);
        let finding = unknown.hint.iter().fold(finding, Warning::hint);
        let key = (finding.pos().unwrap_or_default(), finding.message().to_owned());
        let mut known = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kind = known.entry(key).or_insert_with(|| OfKind { finding, kind, resources: Vec::new() });
        of_kind.resources.push((resource.pos(), *resource.id()));
    }

    /// Looks for lists that the patch replaces, although it seems to change some of their items.
    fn lists<'n>(
        &self,
        resource: &Resource<'_>,
        fields: &Mapping<'_>,
        patch: &'n Mapping<'_>,
        OfLists { schema, is_hidden }: OfLists<'_>,
        way: &mut Vec<&'n str>,
    ) {
        if patch.contains("$patch") {
            return;
        }
        for entry in patch.iter() {
            let name = entry.key().text();
            let Some(old) = fields.get(name) else { continue };
            let schema = schema.field(name);
            let is_replaced = schema.merge_keys().is_some() == is_hidden;
            way.push(name);
            match (old.value(), entry.value().value()) {
                (Value::Mapping(old), Value::Mapping(new)) => {
                    self.lists(resource, old, new, OfLists { schema, is_hidden }, way);
                }
                (Value::Sequence(old), Value::Sequence(new)) if is_replaced => {
                    if let Some(loss) = loss(old, new, is_hidden) {
                        let path = way.join(".");
                        let message = format!("the patch replaces the list '{path}' as a whole: {loss}");
                        let finding = Warning::new(Code::ListReplaced, message).at(entry.key().pos()).in_field(path);
                        let hint = match is_hidden {
                            true => format!(
                                "the schema of 'openapi' takes the place of the built-in one, and lacks the kind {}: add it there, as 'rustomize openapi fetch' prints it",
                                resource.id().gvk.kind
                            ),
                            false => "change items with a JSON patch, or name the keys of the list in 'openapi', or pass --crd-merge-keys if its CRD is in the tree".to_owned(),
                        };
                        self.add(resource, finding.hint(hint));
                    }
                }
                _ => {}
            }
            way.pop();
        }
    }

    /// Adds a finding. If several resources have it, the one with the first id is named.
    fn add(&self, resource: &Resource<'_>, finding: Warning) {
        let finding = finding.in_resource(resource.id());
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (finding.pos().unwrap_or_default(), finding.message().to_owned());
        let first = found.entry(key).or_insert_with(|| finding.clone());
        if finding.resource() < first.resource() {
            *first = finding;
        }
    }
}

/// The schema by which the lists of a resource are looked at.
#[derive(Clone, Copy)]
struct OfLists<'s> {
    schema: Schema<'s>,
    /// True if it is the built-in schema, which merges lists, and that of `openapi` replaces them.
    is_hidden: bool,
}

/// Describes the loss when one list of mappings takes the place of another. `None` if the new list
/// seems to be meant as a whole: it has all items, or none of the old names. A list that is meant
/// to be merged has none of the old names where the patch adds an item.
fn loss(old: &Sequence<'_>, new: &Sequence<'_>, is_meant_to_merge: bool) -> Option<String> {
    let mut items = old.iter().chain(new.iter());
    if new.is_empty() || !items.all(|item| item.as_mapping().is_some_and(|item| !item.contains("$patch"))) {
        return None;
    }
    let is_name = |field: &&str| old.iter().chain(new.iter()).all(|item| item.get_text(field).is_some());
    let Some(name) = NAMES_OF_ITEMS.into_iter().find(is_name) else {
        let gone = old.len().checked_sub(new.len()).filter(|gone| *gone > 0)?;
        return Some(format!("{gone} of {} items are gone", old.len()));
    };
    let by_name: BTreeMap<&str, &Node<'_>> = new.iter().filter_map(|item| Some((item.get_text(name)?, item))).collect();
    let (mut kept, mut poorer) = (0, 0);
    for item in old.iter() {
        if let Some(new) = item.get_text(name).and_then(|name| by_name.get(name)) {
            kept += 1;
            let fields = item.as_mapping().into_iter().flat_map(Mapping::iter);
            poorer += usize::from(fields.into_iter().any(|field| new.get(field.key().text()).is_none()));
        }
    }
    match (kept, old.len() - kept, poorer) {
        (_, 0, 0) => None,
        (0, ..) if !is_meant_to_merge => None,
        (_, 0, poorer) => Some(format!("{poorer} of {} items lose fields", old.len())),
        (_, gone, _) => Some(format!("{gone} of {} items are gone", old.len())),
    }
}
