//! Strategic merge patches, put into the resources that they name or that a target selects.

use super::patch_findings::{Deletion, PatchFindings};
use crate::config::kustomization::PatchOptions;
use crate::diag::{Code, Error, Result};
use crate::merge::{self, losses::Losses};
use crate::resource::similar;
use crate::resource::{
    Changes, Found, Matcher, ResId, ResMap, Resource, empty_key, internal_annotations, set_untyped, stringify,
};
use crate::schema::Schemas;
use crate::stage::Build;
use rustomize_yaml::{Arena, Mapping, Node};
use std::sync::{Mutex, PoisonError};

/// How kustomize hands a patch to a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As it was read: an entry of `patches` that names its resource.
    AsItIs,
    /// A [`copied`] patch, with the apiVersion of the resource.
    Copied,
}

/// The way of a merge, and the search for mistakes.
#[derive(Clone, Copy)]
pub(super) struct Merging<'s, 'a> {
    /// By which keys lists are merged.
    pub schemas: &'s Schemas<'a>,
    /// The search for mistakes, if the build is asked for findings.
    pub findings: Option<&'s PatchFindings<'a>>,
    pub way: Way,
    pub options: PatchOptions,
}

/// Merges a patch into the resource that it names, by any id the resource has had, and returns its
/// place.
pub(super) fn merge_by_id<'a>(map: &mut ResMap<'a>, patch: &Resource<'a>, merging: Merging<'_, 'a>) -> Result<usize> {
    let i = find(map, patch)?;
    merge_into(map, i, patch, merging)?;
    Ok(i)
}

/// The place of the resource that a patch names, by any id that the resource has had.
fn find<'a>(map: &mut ResMap<'a>, patch: &Resource<'a>) -> Result<usize> {
    // A patch may say by hand that it had another name.
    let id = &patch.original_id();
    match map.find_any(id) {
        Found::One(i) => Ok(i),
        Found::None => {
            let error =
                Error::new(Code::NoMatch, format!("no resource matches strategic merge patch: there is no {id}"));
            Err(error.at(patch.pos()).hint(similar::advice(map.iter(), id)))
        }
        Found::Many(_) => {
            let error = Error::new(
                Code::AmbiguousMatch,
                format!("multiple matches for {id}; failed to find unique target for patch"),
            );
            Err(error
                .at(patch.pos())
                .hint("add the namespace, or patch in the kustomization where only one of them exists"))
        }
    }
}

/// Returns true if no patch finds its resource by a text that this patch changes: other resources
/// may be looked up before it is merged. The identity of the resource is put back anyway.
pub(super) fn leaves_ids(patch: &Node<'_>) -> bool {
    let has_metadata = patch.get("metadata").is_some_and(|metadata| metadata.as_mapping().is_some());
    has_metadata && patch.get("$patch").is_none() && !wipes_annotations(patch)
}

/// Faults of patches among several, each with the number of its patch, in order.
pub(super) type Failed = Vec<(usize, Error)>;

/// Merges patches that leave ids alone, each into the resource that it names, and returns the
/// places of these resources: on all cores if they are many. O(patches x log patches + size of the
/// resources).
///
/// # Errors
/// A patch names no resource, or cannot be merged. For each resource the first such patch
/// is reported.
pub(super) fn merge_each<'a>(
    map: &mut ResMap<'a>,
    arena: Arena<'a>,
    patches: &[&Resource<'a>],
    merging: Merging<'_, 'a>,
) -> Result<Vec<usize>, Failed> {
    let mut merges: Vec<(usize, usize)> = Vec::with_capacity(patches.len());
    let mut faults = Vec::new();
    for (number, patch) in patches.iter().enumerate() {
        match patch.check_annotations().and_then(|()| find(map, patch)) {
            Ok(place) => merges.push((place, number)),
            Err(e) => faults.push((number, e)),
        }
    }
    // Patches of one resource stay in order.
    merges.sort_by_key(|(place, _)| *place);
    let mut places: Vec<usize> = merges.iter().map(|(place, _)| *place).collect();
    places.dedup();
    let faults = Mutex::new(faults);
    let note = |number: usize, e: Error| faults.lock().unwrap_or_else(PoisonError::into_inner).push((number, e));
    let merge_all = |place: usize, resource: &mut Resource<'a>| {
        let from = merges.partition_point(|(other, _)| *other < place);
        for (_, number) in merges[from..].iter().take_while(|(other, _)| *other == place) {
            if let Err(e) = merge_in(resource, patches[*number], merging) {
                note(*number, e);
                break;
            }
        }
        Ok(())
    };
    let edited = map.edit_some(arena, &places, Changes::Names, |_| &merge_all);
    map.note_edits(&places);
    let mut faults = faults.into_inner().unwrap_or_else(PoisonError::into_inner);
    faults.sort_by_key(|(number, _)| *number);
    faults.extend(edited.err().map(|e| (0, e)));
    if faults.is_empty() { Ok(places) } else { Err(faults) }
}

/// Merges a patch into every resource of a target, and returns their places.
pub(super) fn merge_into_target<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    document: &Resource<'a>,
    target: &Matcher<'a>,
    options: PatchOptions,
    findings: Option<&PatchFindings<'a>>,
) -> Result<Vec<usize>> {
    let arena = build.arena;
    let patch = copied(document);
    let mut patched = Vec::new();
    let is_looked_at = findings.is_some() && !target.is_meant_for_several();
    let mut deletion = is_looked_at.then(|| Deletion::of(document)).flatten();
    for i in map.candidates(&target.hint()) {
        if target.is_match(map.get(i))? {
            document.check_annotations()?;
            if let Some(deletion) = &mut deletion {
                deletion.add(map.get(i));
            }
            let schemas = &*build.schema.for_merging()?;
            merge_into(map, i, &patch, Merging { schemas, findings, way: Way::Copied, options })?;
            patched.push(i);
        }
    }
    map.check_unique(arena)?;
    if let (Some(findings), Some(deletion)) = (findings, deletion) {
        findings.note_deletion(&deletion);
    }
    Ok(patched)
}

/// Merges a patch into a resource, which keeps its identity unless the options allow a change.
fn merge_into<'a>(map: &mut ResMap<'a>, i: usize, patch: &Resource<'a>, merging: Merging<'_, 'a>) -> Result<()> {
    if !map.edit(i, |resource| merge_in(resource, patch, merging))? {
        map.delete(i);
    }
    Ok(())
}

/// As [`merge_into`]. Returns false if nothing is left of the resource.
fn merge_in<'a>(
    resource: &mut Resource<'a>,
    patch: &Resource<'a>,
    Merging { schemas, findings, way, options }: Merging<'_, 'a>,
) -> Result<bool> {
    let id = *resource.id();
    // Upstream looks at the history when it searches for the resource: the history in the patch
    // comes too late.
    resource.check_history()?;
    if let Some(findings) = findings {
        findings.look_at_merge(resource, patch.node(), options, schemas);
    }
    if options.allow_name_change || options.allow_kind_change {
        resource.record_previous();
    }
    let wipes = wipes_annotations(patch.node());
    check_notes(resource, patch.node()).map_err(|e| e.in_resource(id).context(format!("patching {id}")))?;
    let document = patch;
    let mut patch = patch.node().clone();
    if way == Way::Copied {
        copy_api_version(resource, &mut patch);
    }
    let losses = findings.map(|_| Losses::default());
    let merged = merge::apply(resource.node_mut(), patch, schemas, losses.as_ref());
    let keep = merged.map_err(|e| e.in_resource(id).context(format!("patching {id}")))?;
    if let (Some(findings), Some(losses)) = (findings, losses) {
        findings.note_losses(&id, document.pos(), losses);
    }
    resource.settle_shared();
    if wipes {
        resource.forget_history();
    }
    if let Some(annotations) = internal_annotations(document.node())
        && !displaces(document.node())
    {
        // Upstream fails where somebody looks at lists of two lengths, and few do.
        resource.adopt_history(annotations);
    }
    if keep {
        put_back_identity(resource, &id, options);
        note_options(resource, options);
    }
    Ok(keep)
}

/// Refuses annotations that are not a mapping for a resource of which kustomize keeps something in
/// annotations: it merges a mapping with a mapping alone.
fn check_notes(resource: &Resource<'_>, patch: &Node<'_>) -> Result<()> {
    let Some(metadata) = patch.get("metadata") else { return Ok(()) };
    let Some(annotations) = metadata.get("annotations") else { return Ok(()) };
    // The annotations of the resource are not merged then.
    if displaces(patch) || displaces(metadata) {
        return Ok(());
    }
    let is_mapping = annotations.is_null() || annotations.as_mapping().is_some();
    // Without annotations, kustomize takes the patch's value, and prints only a mapping.
    if is_mapping || !resource.has_notes() {
        return Ok(());
    }
    let message = format!("wrong node kind: expected a mapping, the patch has {}", annotations.shape());
    let error = Error::new(Code::WrongType, message).at(annotations.pos()).in_field("metadata.annotations");
    Err(error.hint("write annotations as lines of 'name: value'"))
}

/// A patch that kustomize has copied: labels and annotations are text, and the identity of the
/// patch is set again.
pub(super) fn copied<'a>(document: &Resource<'a>) -> Resource<'a> {
    let mut patch = with_text_metadata(document);
    let id = *document.id();
    patch.set_name(id.name);
    patch.set_namespace(id.namespace);
    if let Some(root) = patch.node_mut().as_mapping_mut() {
        set_untyped(root, "kind", id.gvk.kind);
    }
    patch
}

/// Sets the apiVersion of a patch to that of a resource, without a slash in front: upstream makes
/// it of the group and the version.
fn copy_api_version<'a>(resource: &Resource<'a>, patch: &mut Node<'a>) {
    let api_version = resource.node().get("apiVersion").and_then(Node::as_scalar);
    if let Some(patch) = patch.as_mapping_mut() {
        let text = api_version.map_or("", |scalar| scalar.text());
        set_untyped(patch, "apiVersion", text.strip_prefix('/').unwrap_or(text));
    }
}

/// Puts back the fields that a strategic merge patch cannot change.
fn put_back_identity<'a>(resource: &mut Resource<'a>, id: &ResId<'a>, options: PatchOptions) {
    if !options.allow_kind_change
        && let Some(root) = resource.node_mut().as_mapping_mut()
    {
        set_untyped(root, "kind", id.gvk.kind);
    }
    if !options.allow_name_change {
        resource.set_name(id.name);
    }
    resource.set_namespace(id.namespace);
}

/// Upstream keeps the options of a patch in the annotations of the resource, where a JSON patch may
/// find them.
fn note_options(resource: &mut Resource<'_>, options: PatchOptions) {
    if options.allow_name_change || options.allow_kind_change {
        let notes = resource.notes_mut();
        notes.allows_name_change |= options.allow_name_change;
        notes.allows_kind_change |= options.allow_kind_change;
    }
}

/// Returns true if a patch removes all annotations, and with them the notes that upstream keeps
/// there.
pub(super) fn wipes_annotations(patch: &Node<'_>) -> bool {
    let Some(metadata) = patch.get("metadata") else {
        return false;
    };
    // Replacing the whole resource does nothing.
    !displaces(patch)
        && (displaces(metadata) || metadata.get("annotations").is_some_and(|a| a.is_null() || displaces(a)))
}

/// Returns true if a mapping of a patch replaces or deletes that of the resource, into which it is
/// not merged then.
fn displaces(patch: &Node<'_>) -> bool {
    patch.get_text("$patch").is_some_and(|directive| directive == "replace" || directive == "delete")
}

/// A patch whose annotations are text, whatever they look like; an empty map of them is removed.
pub(super) fn with_text_annotations<'a>(patch: &Resource<'a>) -> Resource<'a> {
    let mut patch = patch.clone();
    if let Some(metadata) =
        patch.node_mut().as_mapping_mut().and_then(|m| m.get_mut("metadata")).and_then(Node::as_mapping_mut)
    {
        stringify(metadata, "annotations");
    }
    patch
}

/// As [`with_text_annotations`], labels too. kustomize stops at a map with an empty key, of which
/// it writes nothing.
fn with_text_metadata<'a>(patch: &Resource<'a>) -> Resource<'a> {
    let mut patch = patch.clone();
    if let Some(metadata) =
        patch.node_mut().as_mapping_mut().and_then(|m| m.get_mut("metadata")).and_then(Node::as_mapping_mut)
    {
        for map in ["labels", "annotations"] {
            if metadata.get(map).and_then(empty_key).is_some() {
                metadata.insert(map, Mapping::new().into());
                break;
            }
            stringify(metadata, map);
        }
    }
    patch
}
