//! PatchTransformer, PatchStrategicMergeTransformer and PatchJson6902Transformer: change resources
//! by patches.
//!
//! *Fields*: `patches`, `patchesStrategicMerge`, `patchesJson6902`.
//! *Kinds*: `PatchTransformer`, with the fields of an entry; `PatchStrategicMergeTransformer`, with
//! `paths` and `patches`; `PatchJson6902Transformer`, with `target`, and `path` or `jsonOp`.
//! *Entry*: `Patch`, `PatchOptions`, `Selector`.
//! *Selects*: the resources of a `target`, or the one that a strategic merge patch names.
//! *Writes*: what the patch says. A strategic merge patch merges mappings, and lists by the keys of
//! the Kubernetes schema; `null` takes a field away, `$patch: delete` and `$patch: replace` work on
//! mappings and items. A JSON patch (RFC 6902) has its operations applied in order. Names, kinds
//! and namespaces stay, unless `options` allow a change.
//! *Order*: patchesStrategicMerge, then patches, before the namespace; patchesJson6902 after
//! annotations. Every patch is read before the first one is applied.
//! *Cost*: O(patches + size of what they touch). A target is compared with the resources of its
//! kind, name, namespace, label or annotation, or with names that begin as its pattern does; a
//! pattern without a beginning, as `.*-web`, with all of its kind.
//! *Quirks*: a target that matches nothing is not an error. JSON patches take the resource through
//! JSON, and its numbers and quotes with it (case smp-after-json-quoting). A resource that an
//! emptied patch deletes is gone at once (patch-deletes-then-checks).
//! *Example*: `testdata/reference/patch.txtar`

use super::json_patch::{self, Operation};
use super::merge_patch::{
    Merging, Way, copied, leaves_ids, merge_by_id, merge_each, merge_into_target, wipes_annotations,
    with_text_annotations,
};
use super::patch_findings::PatchFindings;
use super::patch_source::{Content, EITHER, OPERATIONS, Read, read_all, resources};
use crate::config::Written;
use crate::config::kustomization::{Patch, PatchOptions};
use crate::diag::{Code, Error, Errors, Result, Warning};
use crate::load::Root;
use crate::resource::{Hint, Matcher, ResMap, Resource, is_build_annotation};
use crate::schema::Gvk;
use crate::stage::{Build, Hit, Overridden, Transformer};
use rustomize_yaml::{Arena, Mapping, Node, Pos};
use std::sync::{Arc, OnceLock};

/// One entry of `patches`, read and compiled.
struct Prepared<'a> {
    content: Content<'a>,
    target: Option<Matcher<'a>>,
    /// True if the target is that of the patch before.
    has_same_target: bool,
    options: PatchOptions,
    hit: Hit,
    /// A kind that has all fields which this JSON patch brings, once it is known.
    fits: OnceLock<Gvk<'a>>,
    /// The name of this patch in errors.
    name: String,
    pos: Pos,
}

/// All entries of `patches`, in order.
pub struct PatchTransformer<'a> {
    patches: Vec<Prepared<'a>>,
    overridden: Option<Arc<Overridden>>,
}

impl<'a> PatchTransformer<'a> {
    /// Reads the patches.
    ///
    /// # Errors
    /// One cannot be read, is neither a strategic merge patch nor a JSON patch, or does not go with
    /// its target.
    pub fn new(build: &mut Build<'a>, root: &Root, patches: &[Patch<'a>]) -> Result<Self> {
        let compat = build.arena.compat();
        let prepare = |patch: &Patch<'a>, read: Read<'a>| {
            let at_entry = |e: Error| e.at(patch.pos);
            let prepared = Prepared::new(patch, read);
            if let (Content::Json(_), None) = (&prepared.content, &patch.target) {
                return Err(at_entry(
                    Error::new(Code::MissingField, "must specify a target for JSON patch")
                        .hint("add the resources that it is for, as in target: {kind: Deployment, name: web}"),
                ));
            }
            let mut documents = prepared.documents().iter();
            if patch.target.is_none()
                && !compat.goes_on_after_a_deletion()
                && documents.any(|document| document.node().get_text("$patch") == Some("delete"))
                && documents.next().is_some()
            {
                let message = format!("kustomize {compat} fails at a patch behind one that deletes a resource");
                return Err(at_entry(Error::new(Code::BadPatch, message).hint("write one entry for each patch")));
            }
            if let (Content::StrategicMerge(documents), Some(_)) = (&prepared.content, &patch.target)
                && documents.len() > 1
            {
                let message = "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` field";
                return Err(at_entry(
                    Error::new(Code::ConflictingFields, message).hint("write one entry for each patch"),
                ));
            }
            Ok(prepared)
        };
        let mut prepared = read_all(build, root, patches, &EITHER, prepare)?;
        for (i, pair) in patches.windows(2).enumerate() {
            prepared[i + 1].has_same_target = match (&pair[0].target, &pair[1].target) {
                (Some(one), Some(next)) => one.is_same(next),
                (one, next) => one.is_none() && next.is_none(),
            };
        }
        Ok(PatchTransformer { patches: prepared, overridden: None })
    }

    /// Splits the patches where a build that notes what transformed a resource must do so between
    /// them.
    pub fn apart(self) -> impl Iterator<Item = Self> {
        let PatchTransformer { patches, overridden } = self;
        apart(patches).into_iter().map(move |patches| PatchTransformer { patches, overridden: overridden.clone() })
    }

    /// How many patches there are.
    pub fn count(&self) -> usize {
        self.patches.len()
    }

    /// The same, which looks for values of earlier patches that a patch replaces or removes.
    #[must_use]
    pub fn overriding(self, overridden: Option<Arc<Overridden>>) -> Self {
        PatchTransformer { overridden, ..self }
    }

    /// Returns true if an operation asks for a value that an earlier patch may have set.
    pub fn has_test(&self) -> bool {
        has_test(&self.patches)
    }

    /// Positions in the texts of the patches; with `only_json` in those of JSON patches.
    pub fn positions(&self, only_json: bool) -> Vec<Pos> {
        self.patches.iter().filter(|patch| !only_json || patch.is_json()).flat_map(Prepared::positions).collect()
    }
}

fn has_test(patches: &[Prepared<'_>]) -> bool {
    patches.iter().any(|patch| match &patch.content {
        Content::Json(operations) => operations.iter().any(Operation::is_test),
        Content::StrategicMerge(_) => false,
    })
}

/// Lists of patches, in order: one that sees or changes the notes of a build about its resources is
/// alone.
fn apart(patches: Vec<Prepared<'_>>) -> Vec<Vec<Prepared<'_>>> {
    let mut lists: Vec<Vec<Prepared<'_>>> = Vec::new();
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

impl<'a> Transformer<'a> for PatchTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let are_wide = |a: &Prepared<'_>, b: &Prepared<'_>| a.is_wide() && b.is_wide() && a.kind() == b.kind();
        // Where a build notes what transformed a resource, kustomize writes all annotations after
        // each patch.
        let notes = build.keeps_origins;
        let are_same =
            |a: &Prepared<'_>, b: &Prepared<'_>| !notes && b.has_same_target && a.is_of_content() && b.is_of_content();
        let are_named = |a: &Prepared<'_>, b: &Prepared<'_>| !notes && a.names_resources() && b.names_resources();
        let share = |a: &Prepared<'_>, b: &Prepared<'_>| are_wide(a, b) || are_same(a, b) || are_named(a, b);
        let findings = looking(build, map, &self.patches, self.overridden.as_ref());
        let looking = findings.as_ref();
        let mut annotations_are_text = false;
        let mut errors = Errors::default();
        for group in self.patches.chunk_by(share) {
            let patched = match group {
                [patch] => apply_one(map, build, patch, looking),
                [patch, ..] if patch.names_resources() => merge_named(map, build, group, looking),
                _ => apply_together(map, build, group, looking),
            };
            // Behind a patch without a resource, only other ones without a resource are faults: a
            // patch may need what the missing one would have written.
            let counts = |e: &Error| e.code() == Code::NoMatch || errors.is_empty();
            let patched = match patched {
                Err(e) if !counts(&e) => break,
                Err(e) if e.code() != Code::NoMatch => return Err(e),
                patched => errors.note(patched),
            };
            let Some(patched) = patched else { continue };
            // A JSON patch leaves texts.
            let are_text = annotations_are_text && group.iter().all(Prepared::is_json);
            if build.keeps_origins && !are_text {
                write_annotations(map, &patched, &mut annotations_are_text)?;
            }
        }
        errors.end(())?;
        map.drop_empty();
        find_all(&self.patches, findings, map, build);
        Ok(())
    }
}

/// Begins the search for mistakes in patches, if the build is asked for findings.
fn looking<'a>(
    build: &Build<'a>,
    map: &ResMap<'a>,
    patches: &[Prepared<'a>],
    overridden: Option<&Arc<Overridden>>,
) -> Option<PatchFindings<'a>> {
    let kinds = patches.iter().flat_map(|patch| {
        let of_documents = patch.documents().iter().map(|document| Some(document.id().gvk.kind));
        of_documents.filter(|_| patch.target.is_none()).chain(patch.target.is_some().then(|| patch.kind()))
    });
    PatchFindings::of(build, map, kinds, overridden)
}

/// Adds the findings about patches that have been applied.
fn find_all<'a>(patches: &[Prepared<'a>], found: Option<PatchFindings<'a>>, map: &ResMap<'a>, build: &mut Build<'a>) {
    build.find(|| without_effect(patches).into_iter().chain(patches.iter().flat_map(nothing_to_replace)));
    if let Some(found) = found {
        found.finish(map, build);
    }
}

/// The findings about operations that replace fields which are not there.
fn nothing_to_replace(patch: &Prepared<'_>) -> Vec<Warning> {
    let Content::Json(operations) = &patch.content else { return Vec::new() };
    let finding = |operation: &Operation<'_>| {
        let message = format!("nothing to replace at '{}': the operation adds a field", operation.made()?);
        let finding = Warning::new(Code::NothingToReplace, message).at(operation.pos()).at(patch.pos);
        Some(finding.hint("correct the path, or write 'op: add'"))
    };
    operations.iter().filter_map(finding).collect()
}

/// The findings about patches whose target selects nothing.
fn without_effect(patches: &[Prepared<'_>]) -> Vec<Warning> {
    let unused = patches.iter().filter(|patch| patch.target.is_some() && !patch.hit.is_noted());
    let finding = |patch: &Prepared<'_>| {
        let message = format!("{} changes nothing: its target selects no resource", patch.name);
        let finding = Warning::new(Code::NoEffect, message).at(patch.pos);
        finding.hint("a target sees resources with the names that they have when the patch runs")
    };
    unused.map(finding).collect()
}

/// Turns annotations into texts: each entry is a transformer upstream, after which kustomize writes
/// all annotations. After the first entry only the resources that a strategic merge patch has
/// changed can have others.
fn write_annotations(map: &mut ResMap<'_>, patched: &[usize], are_text: &mut bool) -> Result<()> {
    let stringify = |resource: &mut Resource<'_>| {
        resource.stringify_metadata("annotations");
        Ok(())
    };
    if !std::mem::replace(are_text, true) {
        return map.edit_content(stringify);
    }
    patched
        .iter()
        .filter(|&&i| !map.get(i).is_deleted())
        .copied()
        .collect::<Vec<_>>()
        .into_iter()
        .try_for_each(|i| map.edit(i, stringify))
}

impl<'a> Prepared<'a> {
    fn new(patch: &Patch<'a>, Read { content, target, name }: Read<'a>) -> Self {
        Prepared {
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
    fn documents(&self) -> &[Resource<'a>] {
        match &self.content {
            Content::StrategicMerge(documents) => documents,
            Content::Json(_) => &[],
        }
    }

    /// The beginnings of its documents and operations.
    fn positions(&self) -> Vec<Pos> {
        match &self.content {
            Content::StrategicMerge(documents) => documents.iter().map(Resource::pos).collect(),
            Content::Json(operations) => operations.iter().map(Operation::pos).collect(),
        }
    }

    /// Returns true if the entry has strategic merge patches, each for the resource that it names,
    /// which leave ids alone.
    fn names_resources(&self) -> bool {
        let is_plain = !self.is_json() && self.target.is_none() && !self.options.given;
        is_plain && self.documents().iter().all(|document| leaves_ids(document.node()))
    }
}

impl Prepared<'_> {
    fn is_json(&self) -> bool {
        matches!(self.content, Content::Json(_))
    }

    /// Returns true if this is a JSON patch whose target may be any resource, or any of a kind.
    fn is_wide(&self) -> bool {
        self.is_json() && self.target.as_ref().is_some_and(|target| target.hint().is_wide())
    }

    /// Returns true if this is a JSON patch with a target whose operations leave alone what
    /// identifies a resource, and its metadata. The detour through JSON can spell them in another
    /// way.
    fn is_of_content(&self) -> bool {
        let Content::Json(operations) = &self.content else { return false };
        self.target.is_some() && !operations.iter().any(Operation::touches_identity)
    }

    /// Returns true if this sees or changes the annotations in which kustomize notes what it knows
    /// about a resource.
    fn sees_notes(&self) -> bool {
        match &self.content {
            Content::Json(operations) => operations.iter().any(Operation::sees_annotations),
            Content::StrategicMerge(patches) => patches.iter().any(|patch| {
                let annotations = patch.node().get("metadata").and_then(|m| m.get("annotations"));
                let mut entries = annotations.and_then(Node::as_mapping).into_iter().flat_map(Mapping::iter);
                wipes_annotations(patch.node()) || entries.any(|entry| is_build_annotation(entry.key().text()))
            }),
        }
    }

    fn kind(&self) -> Option<&str> {
        self.target.as_ref().and_then(|target| target.hint().kind)
    }
}

/// Applies JSON patches for the same kind, or the same target, in one pass: what one does to a
/// resource depends on that resource alone. Gives the places of the resources that they may have
/// changed.
fn apply_together<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    patches: &[Prepared<'a>],
    findings: Option<&PatchFindings<'a>>,
) -> Result<Vec<usize>> {
    let arena = build.arena;
    let first = patches.first().and_then(|patch| patch.target.as_ref());
    let hint = first.map(Matcher::hint).unwrap_or_default();
    let are_same = patches.iter().skip(1).all(|patch| patch.has_same_target);
    let candidates = map.candidates(&if are_same { hint } else { Hint::of_kind(hint.kind) });
    let respells = || candidates.iter().any(|&i| map.get(i).may_be_respelled());
    if patches.iter().all(Prepared::is_of_content) && !respells() {
        map.edit_some(arena, &candidates, |arena| {
            move |_, resource: &mut Resource<'a>| apply_all(resource, arena, patches, findings)
        })?;
        return Ok(candidates);
    }
    for &i in &candidates {
        patches.iter().try_for_each(|patch| match (&patch.content, &patch.target) {
            (Content::Json(operations), Some(target)) => {
                let in_patch = |e: Error| e.through(patch.pos, format!("applying {}", patch.name));
                let json = JsonPatch { operations, patch, findings };
                apply_json_to(map, i, arena, json, (target, true)).map_err(in_patch)
            }
            _ => Ok(()),
        })?;
    }
    Ok(candidates)
}

/// Applies JSON patches whose operations leave identities and metadata alone to one resource, those
/// for which it is a target.
fn apply_all<'a>(
    resource: &mut Resource<'a>,
    arena: Arena<'a>,
    patches: &[Prepared<'a>],
    findings: Option<&PatchFindings<'a>>,
) -> Result<()> {
    // True if the resource is the target of the patch before, where that is still so.
    let mut known = None;
    for patch in patches {
        let (Content::Json(operations), Some(target)) = (&patch.content, &patch.target) else { continue };
        let in_patch = |e: Error| e.through(patch.pos, format!("applying {}", patch.name));
        let is_target = match known {
            Some(known) if patch.has_same_target => known,
            _ => target.is_match(resource).map_err(in_patch)?,
        };
        // The first patch of a resource may respell its labels and annotations.
        known = Some(is_target).filter(|_| !is_target || resource.is_in_json_form());
        if is_target {
            let json = JsonPatch { operations, patch, findings };
            json.meets(resource);
            let id = *resource.id();
            json_patch::apply(arena, resource, operations, (true, json.overridden()))
                .map_err(|e| in_patch(e.in_resource(id).context(format!("patching {id}"))))?;
        }
    }
    Ok(())
}

/// Merges patches, each into the resource that it names, and gives the places of these.
fn merge_named<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    patches: &[Prepared<'a>],
    findings: Option<&PatchFindings<'a>>,
) -> Result<Vec<usize>> {
    let of_patch = |patch| Prepared::documents(patch).iter().map(move |document| (patch, document));
    let named: Vec<(&Prepared<'a>, &Resource<'a>)> = patches.iter().flat_map(of_patch).collect();
    let documents: Vec<&Resource<'a>> = named.iter().map(|(_, document)| *document).collect();
    let merging = Merging { schemas: &*build.schema.for_merging()?, findings };
    let merged = merge_each(map, build.arena, &documents, merging);
    merged.or_else(|failed| {
        let mut errors = Errors::default();
        for (number, e) in failed {
            let (patch, _) = named[number];
            errors.note::<()>(Err(e.through(patch.pos, format!("applying {}", patch.name))));
        }
        errors.end(Vec::new())
    })
}

/// Applies a patch, and gives the places of the resources that it changed.
fn apply_one<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    patch: &Prepared<'a>,
    findings: Option<&PatchFindings<'a>>,
) -> Result<Vec<usize>> {
    let arena = build.arena;
    let mut patched = Vec::new();
    let in_patch = |e: Error| e.through(patch.pos, format!("applying {}", patch.name));
    match (&patch.content, &patch.target) {
        (Content::Json(operations), target) => {
            let json = JsonPatch { operations, patch, findings };
            patched = apply_json(map, arena, json, (target.as_ref(), true)).map_err(in_patch)?;
        }
        (Content::StrategicMerge(documents), Some(target)) => {
            for document in documents {
                let merged = merge_into_target(map, build, document, (target, patch.options), findings);
                let merged = merged.map_err(in_patch)?;
                if !merged.is_empty() {
                    patch.hit.note();
                }
                patched.extend(merged);
            }
        }
        (Content::StrategicMerge(documents), None) => {
            for document in documents {
                document.check_annotations().map_err(in_patch)?;
                let document = if patch.options.given { with_text_annotations(document) } else { document.clone() };
                let way = (patch.options, Way::AsItIs);
                let merging = Merging { schemas: &*build.schema.for_merging()?, findings };
                patched.push(merge_by_id(map, &document, way, merging).map_err(in_patch)?);
            }
        }
    }
    Ok(patched)
}

/// `patchesStrategicMerge`: every document finds its own resource.
pub struct PatchStrategicMergeTransformer<'a> {
    documents: Vec<(Resource<'a>, String)>,
    overridden: Option<Arc<Overridden>>,
}

impl<'a> PatchStrategicMergeTransformer<'a> {
    /// Reads the patches: each entry is a patch if it reads as one, else the path of a file with
    /// some; `inline` is a text with patches, or empty.
    ///
    /// # Errors
    /// A patch cannot be read, or the entries contain no patch at all.
    pub fn new(build: &mut Build<'a>, root: &Root, entries: &[Written<'a>], inline: Written<'a>) -> Result<Self> {
        let arena = build.arena;
        let mut all = Vec::new();
        for entry in entries {
            let inline = arena.add_inline(format!("patchesStrategicMerge in {}", root.shown), entry, entry.pos, 0);
            let is_path = !entry.contains('\n') && !entry.contains(": ");
            let (name, documents) = match if is_path { None } else { resources(build, inline).ok() } {
                Some(documents) => ("an inline patch".to_owned(), documents),
                None => {
                    let source = build.cx.files.text(root, entry).map_err(|e| Error::from(e).at(entry.pos))?;
                    (source.name.clone(), resources(build, source).map_err(|e| e.at(entry.pos))?)
                }
            };
            all.extend(documents.into_iter().map(|d| (d, name.clone())));
        }
        if !inline.is_empty() {
            let source = arena.add_inline(format!("patches in {}", root.shown), &inline, inline.pos, 0);
            all.extend(resources(build, source)?.into_iter().map(|d| (d, "an inline patch".to_owned())));
        }
        if all.is_empty() {
            return Err(Error::new(Code::MissingField, "patch appears to be empty; files=patchesStrategicMerge"));
        }
        Ok(PatchStrategicMergeTransformer { documents: all, overridden: None })
    }

    /// See [`PatchTransformer::overriding`].
    #[must_use]
    pub fn overriding(self, overridden: Option<Arc<Overridden>>) -> Self {
        PatchStrategicMergeTransformer { overridden, ..self }
    }

    /// See [`PatchTransformer::positions`].
    pub fn positions(&self) -> Vec<Pos> {
        self.documents.iter().map(|(document, _)| document.pos()).collect()
    }
}

impl<'a> Transformer<'a> for PatchStrategicMergeTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        let kinds = self.documents.iter().map(|(document, _)| Some(document.id().gvk.kind));
        let findings = PatchFindings::of(build, map, kinds, self.overridden.as_ref());
        for (document, name) in &self.documents {
            let in_patch = |e: Error| e.through(document.pos(), format!("applying {name}"));
            document.check_annotations().map_err(in_patch)?;
            let patch = copied(document);
            let merging = Merging { schemas: &*build.schema.for_merging()?, findings: findings.as_ref() };
            merge_by_id(map, &patch, (PatchOptions::default(), Way::Copied), merging).map_err(in_patch)?;
            map.check_unique(arena).map_err(in_patch)?;
        }
        map.drop_empty();
        if let Some(findings) = findings {
            findings.finish(map, build);
        }
        Ok(())
    }
}

/// `patchesJson6902`: JSON patches that see prefixed names, and whose renames no reference follows.
pub struct PatchJson6902Transformer<'a> {
    patches: Vec<Prepared<'a>>,
    overridden: Option<Arc<Overridden>>,
}

impl<'a> PatchJson6902Transformer<'a> {
    /// Reads the patches.
    ///
    /// # Errors
    /// A patch cannot be read, lacks operations, or lacks a target with a name.
    pub fn new(build: &mut Build<'a>, root: &Root, patches: &[Patch<'a>]) -> Result<Self> {
        let is_named = |patch: &&Patch<'a>| patch.target.as_ref().is_some_and(|target| !target.name.is_empty());
        let named = patches.iter().take_while(is_named).count();
        let prepare = |patch: &Patch<'a>, read: Read<'a>| match &read.content {
            Content::Json(operations) if operations.is_empty() => {
                Err(Error::new(Code::BadPatch, "the patch has no operations")
                    .at(patch.pos)
                    .hint("add an operation, or remove the entry"))
            }
            _ => Ok(Prepared::new(patch, read)),
        };
        let prepared = read_all(build, root, &patches[..named], &OPERATIONS, prepare)?;
        match patches.get(named) {
            Some(patch) => Err(Error::new(Code::MissingField, "must specify the target name")
                .at(patch.pos)
                .hint("add the name to 'target'")),
            None => Ok(PatchJson6902Transformer { patches: prepared, overridden: None }),
        }
    }

    /// See [`PatchTransformer::apart`].
    pub fn apart(self) -> impl Iterator<Item = Self> {
        let PatchJson6902Transformer { patches, overridden } = self;
        apart(patches)
            .into_iter()
            .map(move |patches| PatchJson6902Transformer { patches, overridden: overridden.clone() })
    }

    /// How many patches there are.
    pub fn count(&self) -> usize {
        self.patches.len()
    }

    /// See [`PatchTransformer::overriding`].
    #[must_use]
    pub fn overriding(self, overridden: Option<Arc<Overridden>>) -> Self {
        PatchJson6902Transformer { overridden, ..self }
    }

    /// See [`PatchTransformer::has_test`].
    pub fn has_test(&self) -> bool {
        has_test(&self.patches)
    }

    /// See [`PatchTransformer::positions`].
    pub fn positions(&self) -> Vec<Pos> {
        self.patches.iter().flat_map(Prepared::positions).collect()
    }
}

impl<'a> Transformer<'a> for PatchJson6902Transformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        let findings = looking(build, map, &self.patches, self.overridden.as_ref());
        for patch in &self.patches {
            let Content::Json(operations) = &patch.content else {
                continue;
            };
            let in_patch = |e: Error| e.through(patch.pos, format!("applying {}", patch.name));
            let json = JsonPatch { operations, patch, findings: findings.as_ref() };
            apply_json(map, arena, json, (patch.target.as_ref(), false)).map_err(in_patch)?;
        }
        map.drop_empty();
        find_all(&self.patches, findings, map, build);
        Ok(())
    }
}

/// A JSON patch, its entry, and the search for mistakes.
#[derive(Clone, Copy)]
struct JsonPatch<'p, 'a> {
    operations: &'p [Operation<'a>],
    patch: &'p Prepared<'a>,
    findings: Option<&'p PatchFindings<'a>>,
}

impl<'p, 'a> JsonPatch<'p, 'a> {
    /// The patches so far, where values that this one replaces are looked for, and its entry.
    fn overridden(self) -> Option<(&'p Overridden, Pos)> {
        self.findings?.overridden().map(|overridden| (overridden, self.patch.pos))
    }

    /// Notes that the patch has found a resource, to which it is applied next.
    fn meets(self, resource: &Resource<'a>) {
        let JsonPatch { operations, patch, findings } = self;
        patch.hit.note();
        let gvk = resource.id().gvk;
        if let Some(findings) = findings.filter(|_| patch.fits.get() != Some(&gvk))
            && findings.look_at_operations(resource, operations, patch.pos)
        {
            // Another thread may have noted another kind.
            let _ = patch.fits.set(gvk);
        }
    }
}

/// Applies a JSON patch to the resources of a target, and gives their places. The bool is true if
/// the old identities are remembered.
fn apply_json<'a>(
    map: &mut ResMap<'a>,
    arena: Arena<'a>,
    json: JsonPatch<'_, 'a>,
    (target, record): (Option<&Matcher<'a>>, bool),
) -> Result<Vec<usize>> {
    let Some(target) = target else { return Ok(Vec::new()) };
    let candidates = map.candidates(&target.hint());
    candidates.iter().try_for_each(|&i| apply_json_to(map, i, arena, json, (target, record)))?;
    Ok(candidates)
}

/// Applies a JSON patch to one resource, if it is a target.
fn apply_json_to<'a>(
    map: &mut ResMap<'a>,
    i: usize,
    arena: Arena<'a>,
    json: JsonPatch<'_, 'a>,
    (target, record): (&Matcher<'a>, bool),
) -> Result<()> {
    if !target.is_match(map.get(i))? {
        return Ok(());
    }
    json.meets(map.get(i));
    let id = *map.get(i).id();
    let operations = json.operations;
    let patch =
        |resource: &mut Resource<'a>| json_patch::apply(arena, resource, operations, (record, json.overridden()));
    let renames = map.get(i).may_be_respelled() || operations.iter().any(Operation::touches_identity);
    let patched = if renames { map.edit(i, patch) } else { map.edit_in_place(i, patch) };
    patched.map_err(|e| e.in_resource(id).context(format!("patching {id}")))
}
