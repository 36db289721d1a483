//! Strategic merge patches, put into the resources that they name or that a target selects.

use super::merge;
use crate::config::kustomization::PatchOptions;
use crate::diag::{Code, Error, Result};
use crate::resource::{
    Found, Matcher, ResId, ResMap, Resource, empty_key, internal_annotations, set_untyped, stringify,
};
use crate::schema::Schemas;
use crate::stage::Build;
use crate::yaml::{Arena, Mapping, Node};
use std::sync::{Mutex, PoisonError};

/// How kustomize hands a patch to a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As it was read: an entry of `patches` that names its resource.
    AsItIs,
    /// A [`copied`] patch, with the apiVersion of the resource.
    Copied,
}

/// Merges a patch into the resource that it names, by any id the resource has had, and gives its
/// place.
pub(super) fn merge_by_id<'a>(
    map: &mut ResMap<'a>,
    patch: &Resource<'a>,
    way: (PatchOptions, Way),
    schemas: &Schemas<'a>,
) -> Result<usize> {
    let i = find(map, patch)?;
    merge_into(map, i, patch, way, schemas)?;
    Ok(i)
}

/// The place of the resource that a patch names, by any id that the resource has had.
fn find<'a>(map: &mut ResMap<'a>, patch: &Resource<'a>) -> Result<usize> {
    // A patch may say by hand that it had another name.
    let id = &patch.original_id();
    match map.find_any(id) {
        Found::One(i) => Ok(i),
        Found::None => {
            let error = Error::new(
                Code::NoMatch,
                format!("no resource matches strategic merge patch \"{id}\": no matches for Id {id}"),
            );
            Err(error
                .at(patch.pos())
                .hint("apiVersion, kind, name and namespace of the patch must be those of the resource"))
        }
        Found::Many(_) => {
            let error = Error::new(
                Code::AmbiguousMatch,
                format!("multiple matches for Id {id}; failed to find unique target for patch {id}"),
            );
            Err(error
                .at(patch.pos())
                .hint("add the namespace, or patch in the kustomization where only one of them exists"))
        }
    }
}

/// Whether a patch leaves alone by what a resource is found: others may be looked up before it is
/// merged. What identifies a resource is put back anyway.
pub(super) fn leaves_ids(patch: &Node<'_>) -> bool {
    let has_metadata = patch.get("metadata").is_some_and(|metadata| metadata.as_mapping().is_some());
    has_metadata && patch.get("$patch").is_none() && !wipes_annotations(patch)
}

/// A patch among several, by its number, and what is wrong with it.
pub(super) type Failed = (usize, Error);

/// Merges patches that leave ids alone, each into the resource that it names, and gives the places
/// of these: on all cores if they are many. O(patches x log patches + size of what they touch).
///
/// # Errors
/// The first patch, in their order, that names no resource or cannot be merged.
pub(super) fn merge_each<'a>(
    map: &mut ResMap<'a>,
    arena: Arena<'a>,
    patches: &[&Resource<'a>],
    schemas: &Schemas<'a>,
) -> Result<Vec<usize>, Failed> {
    let mut merges: Vec<(usize, usize)> = Vec::with_capacity(patches.len());
    let mut fault = None;
    for (number, patch) in patches.iter().enumerate() {
        match patch.check_annotations().and_then(|()| find(map, patch)) {
            Ok(place) => merges.push((place, number)),
            Err(e) => {
                fault = Some((number, e));
                break;
            }
        }
    }
    // Patches of one resource stay in order.
    merges.sort_by_key(|(place, _)| *place);
    let mut places: Vec<usize> = merges.iter().map(|(place, _)| *place).collect();
    places.dedup();
    let fault = Mutex::new(fault);
    let note = |number: usize, e: Error| {
        let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
        if fault.as_ref().is_none_or(|(first, _)| number < *first) {
            *fault = Some((number, e));
        }
    };
    let merge_all = |place: usize, resource: &mut Resource<'a>| {
        let from = merges.partition_point(|(other, _)| *other < place);
        for (_, number) in merges[from..].iter().take_while(|(other, _)| *other == place) {
            let way = (PatchOptions::default(), Way::AsItIs);
            if let Err(e) = merge_in(resource, patches[*number], way, schemas) {
                note(*number, e);
                break;
            }
        }
        resource.refresh_id();
        Ok(())
    };
    let edited = map.edit_some(arena, &places, |_| &merge_all);
    map.note_edits(&places);
    match (fault.into_inner().unwrap_or_else(PoisonError::into_inner), edited) {
        (Some(failed), _) => Err(failed),
        (None, edited) => edited.map(|()| places).map_err(|e| (0, e)),
    }
}

/// Merges a patch into every resource of a target, and gives their places.
pub(super) fn merge_into_target<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    document: &Resource<'a>,
    target: &Matcher<'a>,
    options: PatchOptions,
) -> Result<Vec<usize>> {
    let arena = build.arena;
    let patch = copied(document);
    let mut patched = Vec::new();
    for i in map.candidates(&target.hint()) {
        if target.is_match(map.get(i))? {
            document.check_annotations()?;
            merge_into(map, i, &patch, (options, Way::Copied), &build.schema.for_merging())?;
            patched.push(i);
        }
    }
    map.check_unique(arena)?;
    Ok(patched)
}

/// Merges a patch into a resource, which keeps what identifies it unless the options allow a
/// change.
fn merge_into<'a>(
    map: &mut ResMap<'a>,
    i: usize,
    patch: &Resource<'a>,
    way: (PatchOptions, Way),
    schemas: &Schemas<'a>,
) -> Result<()> {
    if !map.edit(i, |resource| merge_in(resource, patch, way, schemas))? {
        map.delete(i);
    }
    Ok(())
}

/// As [`merge_into`]; `false` says that nothing is left of the resource.
fn merge_in<'a>(
    resource: &mut Resource<'a>,
    patch: &Resource<'a>,
    (options, way): (PatchOptions, Way),
    schemas: &Schemas<'a>,
) -> Result<bool> {
    let id = *resource.id();
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
    let merged = merge::apply(resource.node_mut(), patch, schemas);
    let keep = merged.map_err(|e| e.in_resource(id).context(format!("patching {id}")))?;
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
    Err(Error::new(Code::WrongType, message).at(annotations.pos()).in_field("metadata.annotations"))
}

/// A patch that kustomize has copied: labels and annotations are text, and what identifies the
/// patch is set anew.
fn copied<'a>(document: &Resource<'a>) -> Resource<'a> {
    let mut patch = with_text_metadata(document);
    let id = *document.id();
    patch.set_name(id.name);
    patch.set_namespace(id.namespace);
    if let Some(root) = patch.node_mut().as_mapping_mut() {
        set_untyped(root, "kind", id.gvk.kind);
    }
    patch
}

/// Gives a patch the apiVersion of a resource.
fn copy_api_version<'a>(resource: &Resource<'a>, patch: &mut Node<'a>) {
    let api_version = resource.node().get("apiVersion").and_then(Node::as_scalar);
    if let Some(patch) = patch.as_mapping_mut() {
        set_untyped(patch, "apiVersion", api_version.map_or("", |scalar| scalar.text()));
    }
}

/// Puts back what a strategic merge patch may not change.
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
        let rare = resource.rare_mut();
        rare.allows_name_change |= options.allow_name_change;
        rare.allows_kind_change |= options.allow_kind_change;
    }
}

/// Whether a patch takes all annotations off, and with them what upstream keeps there.
pub(super) fn wipes_annotations(patch: &Node<'_>) -> bool {
    let Some(metadata) = patch.get("metadata") else {
        return false;
    };
    // A replacement of the whole resource has no effect.
    !displaces(patch)
        && (displaces(metadata) || metadata.get("annotations").is_some_and(|a| a.is_null() || displaces(a)))
}

/// Whether a mapping of a patch replaces or deletes that of the resource, into which it is not
/// merged then.
fn displaces(patch: &Node<'_>) -> bool {
    patch.get_text("$patch").is_some_and(|directive| directive == "replace" || directive == "delete")
}

/// A patch whose annotations are text, whatever they look like; an empty map of them goes.
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
pub(super) fn with_text_metadata<'a>(patch: &Resource<'a>) -> Resource<'a> {
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
