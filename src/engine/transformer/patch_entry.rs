//! [`PatchEntry`]: one entry of `patches` or `patchesJson6902`, read and compiled.

use super::json_patch::Operation;
use super::merge_patch::{leaves_ids, wipes_annotations};
use super::patch_source::{Content, Read};
use crate::config::kustomization::{Patch, PatchOptions};
use crate::resource::{Matcher, Resource, is_build_annotation};
use crate::schema::Gvk;
use crate::stage::{Hit, PatchPart};
use rustomize_yaml::{Mapping, Node, Pos};
use std::sync::OnceLock;

/// One entry of `patches`, read and compiled.
pub(super) struct PatchEntry<'a> {
    pub content: Content<'a>,
    pub target: Option<Matcher<'a>>,
    /// True if the target is that of the patch before.
    pub has_same_target: bool,
    pub options: PatchOptions,
    pub hit: Hit,
    /// A kind that has all fields which this JSON patch brings, once it is known.
    pub fits: OnceLock<Gvk<'a>>,
    /// The name of this patch in errors.
    pub name: String,
    pub pos: Pos,
}

impl<'a> PatchEntry<'a> {
    /// A patch that was read, with the options of its entry.
    pub(super) fn new(patch: &Patch<'a>, Read { content, target, name }: Read<'a>) -> Self {
        PatchEntry {
            content,
            target,
            has_same_target: false,
            options: patch.options,
            hit: Hit::default(),
            fits: OnceLock::new(),
            name,
            pos: patch.pos,
        }
    }

    /// The strategic merge patches of the entry.
    pub(super) fn documents(&self) -> &[Resource<'a>] {
        match &self.content {
            Content::StrategicMerge(documents) => documents,
            Content::Json(_) => &[],
        }
    }

    /// The beginnings of its documents and operations.
    pub(super) fn parts(&self) -> Vec<PatchPart> {
        let part = |pos| PatchPart { pos, is_json: self.is_json() };
        match &self.content {
            Content::StrategicMerge(documents) => documents.iter().map(Resource::pos).map(part).collect(),
            Content::Json(operations) => operations.iter().map(Operation::pos).map(part).collect(),
        }
    }

    /// Returns true if the entry has strategic merge patches, each for the resource that it names,
    /// which leave ids alone.
    pub(super) fn names_resources(&self) -> bool {
        let is_plain = !self.is_json() && self.target.is_none() && !self.options.given;
        is_plain && self.documents().iter().all(|document| leaves_ids(document.node()))
    }
}

impl PatchEntry<'_> {
    /// Returns true for a JSON patch.
    pub(super) fn is_json(&self) -> bool {
        matches!(self.content, Content::Json(_))
    }

    /// Returns true if this is a JSON patch whose target may be any resource, or any of a kind.
    pub(super) fn is_wide(&self) -> bool {
        self.is_json() && self.target.as_ref().is_some_and(|target| target.hint().is_wide())
    }

    /// Returns true if this is a JSON patch with a target whose operations leave the identity and
    /// the metadata of a resource alone. The detour through JSON can still spell them in another
    /// way.
    pub(super) fn is_of_content(&self) -> bool {
        let Content::Json(operations) = &self.content else { return false };
        self.target.is_some() && !operations.iter().any(Operation::touches_identity)
    }

    /// Returns true if this sees or changes the annotations in which kustomize keeps its notes
    /// about a resource.
    pub(super) fn sees_notes(&self) -> bool {
        match &self.content {
            Content::Json(operations) => operations.iter().any(Operation::sees_annotations),
            Content::StrategicMerge(patches) => patches.iter().any(|patch| {
                let annotations = patch.node().get("metadata").and_then(|m| m.get("annotations"));
                let mut entries = annotations.and_then(Node::as_mapping).into_iter().flat_map(Mapping::iter);
                wipes_annotations(patch.node()) || entries.any(|entry| is_build_annotation(entry.key().text()))
            }),
        }
    }

    /// The kind of the target's resources, if it names one.
    pub(super) fn kind(&self) -> Option<&str> {
        self.target.as_ref().and_then(|target| target.hint().kind)
    }
}

/// Returns true if an operation of a patch asks for a value that an earlier patch may have set.
pub(super) fn has_test(patches: &[PatchEntry<'_>]) -> bool {
    patches.iter().any(|patch| match &patch.content {
        Content::Json(operations) => operations.iter().any(Operation::is_test),
        Content::StrategicMerge(_) => false,
    })
}

/// Lists of patches, in order: one that sees or changes the notes of a build about its resources is
/// alone.
pub(super) fn apart(patches: Vec<PatchEntry<'_>>) -> Vec<Vec<PatchEntry<'_>>> {
    let mut lists: Vec<Vec<PatchEntry<'_>>> = Vec::new();
    let mut is_open = false;
    for patch in patches {
        let is_alone = patch.sees_notes();
        match lists.last_mut() {
            Some(list) if is_open && !is_alone => list.push(patch),
            _ => lists.push(vec![patch]),
        }
        is_open = !is_alone;
    }
    lists
}
