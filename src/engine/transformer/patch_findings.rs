//! [`PatchFindings`]: likely mistakes in patches, found where a patch meets its resource and before
//! it is applied. A build that is not asked for findings has none of this.

use super::json_patch::Operation;
use super::patch_values;
use crate::check::{Kinds, MOST_UNKNOWN, Unknown};
use crate::config::kustomization::PatchOptions;
use crate::diag::{Code, Warning};
use crate::resource::{ResMap, Resource};
use crate::schema::{Schema, Schemas};
use crate::stage::{Build, OfKind, Overridden};
use rustomize_base::meter::FastSet;
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
    /// The patches so far, where values that a later one replaces are looked for.
    overridden: Option<Overridden>,
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
        let (found, unknown) = Default::default();
        Some(PatchFindings { kinds, found, unknown, overridden: overridden.cloned() })
    }

    /// Adds all findings to the build, in the order of their places, once the patches are applied.
    pub(super) fn finish(self, map: &ResMap<'a>, build: &mut Build<'a>) {
        let overridden = self.overridden.map(|overridden| patch_values::findings(&overridden, build.arena, map));
        let found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner).into_values();
        build.find(|| found.chain(overridden.into_iter().flatten()));
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
        if let Some(overridden) = self.overridden() {
            patch_values::note_merge(overridden, resource.node(), patch, schemas.of(gvk));
        }
        if !options.allow_kind_change {
            let unknown = self.kinds.unknown(gvk, patch);
            unknown.iter().for_each(|unknown| self.find_unknown(resource, unknown, Pos::NONE));
        }
        if !self.kinds.is_of_kubernetes(gvk)
            && let (Some(fields), Some(patch)) = (resource.node().as_mapping(), patch.as_mapping())
        {
            self.lists(resource, fields, patch, schemas.of(gvk), &mut Vec::new());
        }
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
        schema: Schema<'_>,
        way: &mut Vec<&'n str>,
    ) {
        if patch.contains("$patch") {
            return;
        }
        for entry in patch.iter() {
            let name = entry.key().text();
            let Some(old) = fields.get(name) else { continue };
            let schema = schema.field(name);
            way.push(name);
            match (old.value(), entry.value().value()) {
                (Value::Mapping(old), Value::Mapping(new)) => self.lists(resource, old, new, schema, way),
                (Value::Sequence(old), Value::Sequence(new)) if schema.merge_keys().is_none() => {
                    if let Some(loss) = loss(old, new) {
                        let path = way.join(".");
                        let message = format!("the patch replaces the list '{path}' as a whole: {loss}");
                        let finding = Warning::new(Code::ListReplaced, message).at(entry.key().pos()).in_field(path);
                        let hint = "change items with a JSON patch, or name the keys of the list in 'openapi', or pass --crd-merge-keys if its CRD is in the tree";
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

/// Describes the loss when one list of mappings takes the place of another. `None` if the new list
/// seems to be meant as a whole: it has all items, or none of the old names.
fn loss(old: &Sequence<'_>, new: &Sequence<'_>) -> Option<String> {
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
        (0, ..) | (_, 0, 0) => None,
        (_, 0, poorer) => Some(format!("{poorer} of {} items lose fields", old.len())),
        (_, gone, _) => Some(format!("{gone} of {} items are gone", old.len())),
    }
}
