//! PatchTransformer, PatchStrategicMergeTransformer and PatchJson6902Transformer: change resources
//! by patches.
//!
//! *Fields*: `patches`, `patchesStrategicMerge`, `patchesJson6902`.
//! *Kinds*: `PatchTransformer`, with the fields of an entry; `PatchStrategicMergeTransformer`, with
//! `paths` and `patches`; `PatchJson6902Transformer`, with `target`, and `path` or `jsonOp`.
//! *Entry*: `Patch`, `PatchOptions`, `Selector`.
//! *Selects*: the resources of a `target`, or the one that a strategic merge patch names.
//! *Writes*: the fields of the patch. A strategic merge patch merges mappings, and lists by the
//! keys of the Kubernetes schema; `null` takes a field away, `$patch: delete` and `$patch: replace`
//! work on mappings and items. A JSON patch (RFC 6902) has its operations applied in order. Names,
//! kinds and namespaces stay, unless `options` allow a change.
//! *Order*: patchesStrategicMerge, then patches, before the namespace; patchesJson6902 after
//! annotations. Every patch is read before the first one is applied.
//! *Cost*: O(patches + size of the resources that they change). A target is compared with the
//! resources of its kind, name, namespace, label or annotation, or with names that begin as its
//! pattern does; a pattern without a beginning, as `.*-web`, with all of its kind.
//! *Quirks*: a target that matches nothing is not an error. JSON patches take the resource through
//! JSON, and its numbers and quotes with it (case smp-after-json-quoting). A resource that an
//! emptied patch deletes is gone at once (patch-deletes-then-checks).
//! *Example*: `testdata/reference/patch.txtar`

use super::json_patch::{self, Looking, Operation, Renames};
use super::merge_patch::{Merging, Way, copied, merge_by_id, merge_each, merge_into_target, with_text_annotations};
use super::objects::{self, MergePatches};
use super::operation_findings::in_operations;
use super::patch_entry::{PatchEntry, apart, has_test};
use super::patch_findings::PatchFindings;
use super::patch_source::{Content, EITHER, OPERATIONS, Read, read_all, resources};
use crate::config::Written;
use crate::config::kustomization::{Patch, PatchOptions};
use crate::diag::{Code, Diagnostic, Error, Errors, Result, Warning};
use crate::load::Root;
use crate::resource::{Changes, Hint, Matcher, ResMap, Resource, similar};
use crate::stage::{Build, Fields, Object, Overridden, Overriding, PatchPart, Planned, Stage, Transformer, Watched};
use rustomize_yaml::Arena;

/// The patches of a transformer.
struct Patches<'a> {
    entries: Vec<PatchEntry<'a>>,
    /// The values of earlier patches that these replace, if the build is asked for findings.
    overridden: Option<Overridden>,
}

impl<'a> Patches<'a> {
    fn new(entries: Vec<PatchEntry<'a>>) -> Patches<'a> {
        Patches { entries, overridden: None }
    }

    /// The transformers of a field: one, or several if a build has to note between them that they
    /// transformed a resource.
    fn planned<T: Transformer<'a> + 'a>(
        self,
        fields: &Fields<'_, 'a>,
        field: &'static str,
        stage: impl Fn(Patches<'a>) -> T,
    ) -> Vec<Planned<'a>> {
        let planned = |entries: Vec<PatchEntry<'a>>| {
            let instances = entries.len();
            Planned { instances, ..fields.whole(stage(Patches::new(entries)), fields.pos(field)) }
        };
        apart(self.entries).into_iter().map(planned).collect()
    }

    /// Begins the search for mistakes, if the build is asked for findings.
    fn looking(&self, build: &Build<'a>, map: &ResMap<'a>) -> Option<PatchFindings<'a>> {
        let kinds = self.entries.iter().flat_map(|patch| {
            let of_documents = patch.documents().iter().map(|document| Some(document.id().gvk.kind));
            of_documents.filter(|_| patch.target.is_none()).chain(patch.target.is_some().then(|| patch.kind()))
        });
        PatchFindings::of(build, map, kinds, self.overridden.as_ref())
    }

    /// Adds the findings about the patches, which have been applied.
    fn find_all(&self, found: Option<PatchFindings<'a>>, map: &ResMap<'a>, build: &mut Build<'a>) {
        build
            .find(|| without_effect(&self.entries, map).into_iter().chain(self.entries.iter().flat_map(in_operations)));
        if let Some(found) = found {
            found.finish(map, build);
        }
    }
}

impl Overriding for Patches<'_> {
    fn patches(&self) -> Vec<PatchPart> {
        self.entries.iter().flat_map(PatchEntry::parts).collect()
    }

    fn has_test(&self) -> bool {
        has_test(&self.entries)
    }

    fn watched(&self) -> Watched {
        Watched::SeveralTexts
    }

    fn note_in(&mut self, overridden: Overridden) {
        self.overridden = Some(overridden);
    }
}

/// All entries of `patches`, in order.
pub struct PatchTransformer<'a>(Patches<'a>);

impl<'a> PatchTransformer<'a> {
    /// The transformers of `patches`: see [`Patches::planned`].
    ///
    /// # Errors
    /// As [`PatchTransformer::new`].
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let PatchTransformer(patches) =
            PatchTransformer::new(fields.build, fields.root, &fields.kustomization.patches)?;
        Ok(patches.planned(fields, "patches", PatchTransformer))
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// As [`PatchTransformer::new`], or a field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let patch = Patch { pos: object.pos(), ..object.read()? };
        Ok(Stage::whole(PatchTransformer::new(object.build, object.root, &[patch])?))
    }

    /// Reads the patches.
    ///
    /// # Errors
    /// A patch cannot be read, is neither a strategic merge patch nor a JSON patch, or is
    /// of the wrong kind for its target.
    fn new(build: &mut Build<'a>, root: &Root, patches: &[Patch<'a>]) -> Result<Self> {
        let compat = build.arena.compat();
        let prepare = |patch: &Patch<'a>, read: Read<'a>| {
            let at_entry = |e: Error| e.at(patch.pos);
            let prepared = PatchEntry::new(patch, read);
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
                let hint = "remove 'target': each document names its resource; or write one entry for each document";
                let error = Error::new(Code::ConflictingFields, message).at(documents[1].pos()).at(patch.pos);
                return Err(error.context(format!("{} has {} documents", prepared.name, documents.len())).hint(hint));
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
        Ok(PatchTransformer(Patches::new(prepared)))
    }
}

impl<'a> Transformer<'a> for PatchTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let are_wide = |a: &PatchEntry<'_>, b: &PatchEntry<'_>| a.is_wide() && b.is_wide() && a.kind() == b.kind();
        // If a build notes the transformers of a resource, kustomize writes all annotations after
        // each patch.
        let notes = build.keeps_origins();
        let are_same = |a: &PatchEntry<'_>, b: &PatchEntry<'_>| {
            !notes && b.has_same_target && a.is_of_content() && b.is_of_content()
        };
        let are_named = |a: &PatchEntry<'_>, b: &PatchEntry<'_>| !notes && a.names_resources() && b.names_resources();
        let share = |a: &PatchEntry<'_>, b: &PatchEntry<'_>| are_wide(a, b) || are_same(a, b) || are_named(a, b);
        let findings = self.0.looking(build, map);
        let looking = findings.as_ref();
        let mut annotations_are_text = false;
        let mut errors = Errors::default();
        for group in self.0.entries.chunk_by(share) {
            let patched = match group {
                [patch] => apply_one(map, build, patch, looking),
                [patch, ..] if patch.names_resources() => merge_named(map, build, group, looking),
                _ => apply_together(map, build, group, looking),
            };
            // Behind a patch without a resource, only other ones without a resource are faults: a
            // patch may need a value that the missing resource would have got.
            let counts = |e: &Error| e.code() == Code::NoMatch || errors.is_empty();
            let patched = match patched {
                Err(e) if !counts(&e) => break,
                Err(e) if e.code() != Code::NoMatch => return Err(e),
                patched => errors.note(patched),
            };
            let Some(patched) = patched else { continue };
            // A JSON patch leaves texts.
            let are_text = annotations_are_text && group.iter().all(PatchEntry::is_json);
            if build.keeps_origins() && !are_text {
                write_annotations(map, &patched, &mut annotations_are_text)?;
            }
        }
        errors.end(())?;
        map.drop_empty();
        self.0.find_all(findings, map, build);
        Ok(())
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(&mut self.0)
    }
}

/// The findings about patches whose target selects nothing.
fn without_effect(patches: &[PatchEntry<'_>], map: &ResMap<'_>) -> Vec<Warning> {
    let with_target = patches.iter().filter_map(|patch| Some((patch, patch.target.as_ref()?)));
    let unused = with_target.filter(|(patch, _)| !patch.hit.is_noted()).enumerate();
    let finding = |(nth, (patch, target)): (usize, (&PatchEntry<'_>, &Matcher<'_>))| {
        let search = || similar::advice_for_selector(map.iter(), &target.hint());
        let meant = if nth < similar::MOST_ADVISED { search() } else { None };
        let message = format!("{} changes nothing: its target selects no resource", patch.name);
        let finding = Warning::new(Code::NoEffect, message).at(patch.pos);
        let otherwise = "a target sees resources with the names that they have when the patch runs";
        finding.hint(meant.unwrap_or_else(|| otherwise.to_owned()))
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

/// Applies JSON patches for the same kind, or the same target, in one pass: the effect on a
/// resource depends on that resource alone. Returns the places of the resources that they may have
/// changed.
fn apply_together<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    patches: &[PatchEntry<'a>],
    findings: Option<&PatchFindings<'a>>,
) -> Result<Vec<usize>> {
    let arena = build.arena;
    let first = patches.first().and_then(|patch| patch.target.as_ref());
    let hint = first.map(Matcher::hint).unwrap_or_default();
    let are_same = patches.iter().skip(1).all(|patch| patch.has_same_target);
    let candidates = map.candidates(&if are_same { hint } else { Hint::of_kind(hint.kind) });
    let respells = || candidates.iter().any(|&i| map.get(i).may_be_respelled());
    if patches.iter().all(PatchEntry::is_of_content) && !respells() {
        map.edit_some(arena, &candidates, Changes::Content, |arena| {
            move |_, resource: &mut Resource<'a>| apply_all(resource, arena, patches, findings)
        })?;
        return Ok(candidates);
    }
    for &i in &candidates {
        patches.iter().try_for_each(|patch| match (&patch.content, &patch.target) {
            (Content::Json(operations), Some(target)) => {
                let in_patch = |e: Error| e.through(patch.pos, format!("applying {}", patch.name));
                let json = JsonPatch { operations, patch, renames: Renames::Recorded, findings };
                apply_json_to(map, i, arena, json, target).map_err(in_patch)
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
    patches: &[PatchEntry<'a>],
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
            let json = JsonPatch { operations, patch, renames: Renames::Recorded, findings };
            json.meets(resource);
            let id = *resource.id();
            json.apply(arena, resource).map_err(|e| in_patch(e.in_resource(id).context(format!("patching {id}"))))?;
        }
    }
    Ok(())
}

/// Merges patches, each into the resource that it names, and returns the places of these resources.
fn merge_named<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    patches: &[PatchEntry<'a>],
    findings: Option<&PatchFindings<'a>>,
) -> Result<Vec<usize>> {
    let of_patch = |patch| PatchEntry::documents(patch).iter().map(move |document| (patch, document));
    let named: Vec<(&PatchEntry<'a>, &Resource<'a>)> = patches.iter().flat_map(of_patch).collect();
    let documents: Vec<&Resource<'a>> = named.iter().map(|(_, document)| *document).collect();
    let merging = Merging {
        schemas: &*build.schema.for_merging()?,
        findings,
        way: Way::AsItIs,
        options: PatchOptions::default(),
    };
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

/// Applies a patch, and returns the places of the resources that it changed.
fn apply_one<'a>(
    map: &mut ResMap<'a>,
    build: &mut Build<'a>,
    patch: &PatchEntry<'a>,
    findings: Option<&PatchFindings<'a>>,
) -> Result<Vec<usize>> {
    let arena = build.arena;
    let mut patched = Vec::new();
    let in_patch = |e: Error| e.through(patch.pos, format!("applying {}", patch.name));
    match (&patch.content, &patch.target) {
        (Content::Json(operations), target) => {
            let json = JsonPatch { operations, patch, renames: Renames::Recorded, findings };
            patched = apply_json(map, arena, json, target.as_ref()).map_err(in_patch)?;
        }
        (Content::StrategicMerge(documents), Some(target)) => {
            for document in documents {
                let merged = merge_into_target(map, build, document, target, patch.options, findings);
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
                let schemas = &*build.schema.for_merging()?;
                let merging = Merging { schemas, findings, way: Way::AsItIs, options: patch.options };
                patched.push(merge_by_id(map, &document, merging).map_err(in_patch)?);
            }
        }
    }
    Ok(patched)
}

/// `patchesStrategicMerge`: every document finds its own resource.
pub struct PatchStrategicMergeTransformer<'a> {
    documents: Vec<(Resource<'a>, String)>,
    /// The values of patches that it replaces, if the build is asked for findings.
    overridden: Option<Overridden>,
}

impl<'a> PatchStrategicMergeTransformer<'a> {
    /// The transformer of `patchesStrategicMerge`.
    ///
    /// # Errors
    /// As [`PatchStrategicMergeTransformer::new`].
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let entries = &fields.kustomization.patches_strategic_merge;
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let stage = PatchStrategicMergeTransformer::new(fields.build, fields.root, entries, Written::default())?;
        Ok(vec![fields.whole(stage, fields.pos("patchesStrategicMerge"))])
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// As [`PatchStrategicMergeTransformer::new`], or a field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let MergePatches { paths, patches } = object.read()?;
        Ok(Stage::whole(PatchStrategicMergeTransformer::new(object.build, object.root, &paths, patches)?))
    }

    /// Reads the patches: each entry is a patch if it reads as one, else the path of a file with
    /// some; `inline` is a text with patches, or empty.
    ///
    /// # Errors
    /// A patch cannot be read, or the entries contain no patch at all.
    fn new(build: &mut Build<'a>, root: &Root, entries: &[Written<'a>], inline: Written<'a>) -> Result<Self> {
        let arena = build.arena;
        let mut all = Vec::new();
        for entry in entries {
            let inline = arena.add_inline(format!("patchesStrategicMerge in {}", root.shown), entry, entry.pos, 0);
            let (name, documents) = match resources(build, inline) {
                Ok(documents) => ("an inline patch".to_owned(), documents),
                // A text of several lines cannot be a path: its own fault says more than a missing
                // file would.
                Err(e) if entry.contains('\n') => return Err(advised_of_json(e, true).at(entry.pos)),
                Err(_) => {
                    let source = build.cx.files.text(root, entry).map_err(|e| Error::from(e).at(entry.pos))?;
                    let documents = resources(build, source).map_err(|e| advised_of_json(e, false).at(entry.pos))?;
                    (source.name.clone(), documents)
                }
            };
            all.extend(documents.into_iter().map(|d| (d, name.clone())));
        }
        if !inline.is_empty() {
            let source = arena.add_inline(format!("patches in {}", root.shown), &inline, inline.pos, 0);
            all.extend(resources(build, source)?.into_iter().map(|d| (d, "an inline patch".to_owned())));
        }
        if all.is_empty() {
            // An empty text has no patch. As a path it has a fault, which says more than the error
            // below.
            if let Some(empty) = entries.iter().find(|entry| entry.is_empty()) {
                build.cx.files.text(root, empty).map_err(|e| Error::from(e).at(empty.pos))?;
            }
            return Err(Error::new(Code::MissingField, "patch appears to be empty; files=patchesStrategicMerge"));
        }
        Ok(PatchStrategicMergeTransformer { documents: all, overridden: None })
    }
}

/// The error about an entry of `patchesStrategicMerge`, with the field for JSON patches if it is
/// one.
fn advised_of_json(error: Error, is_inline: bool) -> Error {
    let is_list = |fault: &Diagnostic| fault.code() == Code::NotAResource && fault.message().ends_with("found a list");
    let key = if is_inline { "patch: |-" } else { "path: FILE" };
    let hint = format!(
        "a JSON patch has a target: list it under 'patches', with '{key}' and 'target: {{kind: KIND, name: NAME}}'"
    );
    error.advised(|fault| is_list(fault).then(|| hint.clone()))
}

impl Overriding for PatchStrategicMergeTransformer<'_> {
    fn patches(&self) -> Vec<PatchPart> {
        self.documents.iter().map(|(document, _)| PatchPart { pos: document.pos(), is_json: false }).collect()
    }

    fn watched(&self) -> Watched {
        Watched::SeveralTexts
    }

    fn note_in(&mut self, overridden: Overridden) {
        self.overridden = Some(overridden);
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
            let schemas = &*build.schema.for_merging()?;
            let options = PatchOptions::default();
            let merging = Merging { schemas, findings: findings.as_ref(), way: Way::Copied, options };
            merge_by_id(map, &patch, merging).map_err(in_patch)?;
            map.check_unique(arena).map_err(in_patch)?;
        }
        map.drop_empty();
        if let Some(findings) = findings {
            findings.finish(map, build);
        }
        Ok(())
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(self)
    }
}

/// `patchesJson6902`: JSON patches that see prefixed names, and whose renames no reference follows.
pub struct PatchJson6902Transformer<'a>(Patches<'a>);

impl<'a> PatchJson6902Transformer<'a> {
    /// The transformers of `patchesJson6902`: see [`Patches::planned`].
    ///
    /// # Errors
    /// As [`PatchJson6902Transformer::new`].
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let PatchJson6902Transformer(patches) =
            PatchJson6902Transformer::new(fields.build, fields.root, &fields.kustomization.patches_json6902)?;
        Ok(patches.planned(fields, "patchesJson6902", PatchJson6902Transformer))
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// As [`PatchJson6902Transformer::new`], or a field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let objects::JsonPatch { path, json_op, target, options } = object.read()?;
        let patch = Patch { path, patch: json_op, target, options, pos: object.pos() };
        Ok(Stage::whole(PatchJson6902Transformer::new(object.build, object.root, &[patch])?))
    }

    /// Reads the patches.
    ///
    /// # Errors
    /// A patch cannot be read, lacks operations, or lacks a target with a name.
    fn new(build: &mut Build<'a>, root: &Root, patches: &[Patch<'a>]) -> Result<Self> {
        let is_named = |patch: &&Patch<'a>| patch.target.as_ref().is_some_and(|target| !target.name.is_empty());
        let named = patches.iter().take_while(is_named).count();
        let prepare = |patch: &Patch<'a>, read: Read<'a>| match &read.content {
            Content::Json(operations) if operations.is_empty() => {
                Err(Error::new(Code::BadPatch, "the patch has no operations")
                    .at(patch.pos)
                    .hint("add an operation, or remove the entry"))
            }
            _ => Ok(PatchEntry::new(patch, read)),
        };
        let prepared = read_all(build, root, &patches[..named], &OPERATIONS, prepare)?;
        match patches.get(named) {
            Some(patch) => Err(Error::new(Code::MissingField, "must specify the target name")
                .at(patch.pos)
                .hint("add the name to 'target'")),
            None => Ok(PatchJson6902Transformer(Patches::new(prepared))),
        }
    }
}

impl<'a> Transformer<'a> for PatchJson6902Transformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        let findings = self.0.looking(build, map);
        for patch in &self.0.entries {
            let Content::Json(operations) = &patch.content else {
                continue;
            };
            let in_patch = |e: Error| e.through(patch.pos, format!("applying {}", patch.name));
            let json = JsonPatch { operations, patch, renames: Renames::Unrecorded, findings: findings.as_ref() };
            apply_json(map, arena, json, patch.target.as_ref()).map_err(in_patch)?;
        }
        map.drop_empty();
        self.0.find_all(findings, map, build);
        Ok(())
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(&mut self.0)
    }
}

/// A JSON patch, its entry, and the search for mistakes.
#[derive(Clone, Copy)]
struct JsonPatch<'p, 'a> {
    operations: &'p [Operation<'a>],
    patch: &'p PatchEntry<'a>,
    renames: Renames,
    findings: Option<&'p PatchFindings<'a>>,
}

impl<'a> JsonPatch<'_, 'a> {
    /// Applies the patch to a resource.
    fn apply(self, arena: Arena<'a>, resource: &mut Resource<'a>) -> Result<()> {
        let entry = self.patch.pos;
        let looking = self.findings.map(|findings| Looking { overridden: findings.overridden(), entry });
        if let Some(Looking { overridden: Some(overridden), .. }) = looking {
            overridden.note_patched(resource.pos());
        }
        json_patch::apply(arena, resource, self.operations, self.renames, looking)
    }

    /// Notes that the patch has found a resource, to which it is applied next.
    fn meets(self, resource: &Resource<'a>) {
        let JsonPatch { operations, patch, findings, .. } = self;
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

/// Applies a JSON patch to the resources of a target, and returns their places.
fn apply_json<'a>(
    map: &mut ResMap<'a>,
    arena: Arena<'a>,
    json: JsonPatch<'_, 'a>,
    target: Option<&Matcher<'a>>,
) -> Result<Vec<usize>> {
    let Some(target) = target else { return Ok(Vec::new()) };
    let candidates = map.candidates(&target.hint());
    candidates.iter().try_for_each(|&i| apply_json_to(map, i, arena, json, target))?;
    Ok(candidates)
}

/// Applies a JSON patch to one resource, if it is a target.
fn apply_json_to<'a>(
    map: &mut ResMap<'a>,
    i: usize,
    arena: Arena<'a>,
    json: JsonPatch<'_, 'a>,
    target: &Matcher<'a>,
) -> Result<()> {
    if !target.is_match(map.get(i))? {
        return Ok(());
    }
    json.meets(map.get(i));
    let id = *map.get(i).id();
    let patch = |resource: &mut Resource<'a>| json.apply(arena, resource);
    let renames = map.get(i).may_be_respelled() || json.operations.iter().any(Operation::touches_identity);
    let patched = if renames { map.edit(i, patch) } else { map.edit_in_place(i, patch) };
    patched.map_err(|e| e.in_resource(id).context(format!("patching {id}")))
}
