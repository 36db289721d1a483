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
//! *Quirks*: a target that matches nothing is no error. JSON patches take the resource through
//! JSON, and its numbers and quotes with it (case smp-after-json-quoting). A resource that an
//! emptied patch deletes is gone at once (patch-deletes-then-checks).
//! *Example*: `testdata/reference/patch.txtar`

use super::json_patch::{self, Operation};
use super::merge;
use crate::config::kustomization::{Patch, PatchOptions};
use crate::config::{Selector, Written};
use crate::diag::{Error, Result};
use crate::load::Root;
use crate::resource::{Found, Hint, Matcher, ResId, ResMap, Resource, is_build_annotation, set_untyped, stringify};
use crate::schema::Schemas;
use crate::stage::{Build, Transformer, documents_to_resources};
use crate::yaml::{Arena, Mapping, Node, Pos, Source, documents, first_document, json};

/// A patch that was read.
#[derive(Debug)]
enum Content<'a> {
    StrategicMerge(Vec<Resource<'a>>),
    Json(Vec<Operation<'a>>),
}

/// One entry of `patches`, read and compiled.
struct Prepared<'a> {
    content: Content<'a>,
    target: Option<Matcher<'a>>,
    /// Whether the target is that of the patch before.
    has_same_target: bool,
    options: PatchOptions,
    /// What an error calls this patch.
    name: String,
    pos: Pos,
}

/// All entries of `patches`, in order.
pub struct PatchTransformer<'a>(Vec<Prepared<'a>>);

impl<'a> PatchTransformer<'a> {
    /// Reads the patches.
    ///
    /// # Errors
    /// One cannot be read, is neither a strategic merge patch nor a JSON patch, or does not go with
    /// its target.
    pub fn new(build: &mut Build<'a>, root: &Root, patches: &[Patch<'a>]) -> Result<Self> {
        let prepare = |patch: &Patch<'a>| {
            let at_entry = |e: Error| e.at(patch.pos);
            let prepared = prepare(build, root, patch, str::trim, content).map_err(at_entry)?;
            if let (Content::Json(operations), None) = (&prepared.content, &patch.target)
                && !operations.is_empty()
            {
                return Err(at_entry(Error::input("must specify a target for JSON patch")));
            }
            if let (Content::StrategicMerge(documents), Some(_)) = (&prepared.content, &patch.target)
                && documents.len() > 1
            {
                let message = "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` field";
                return Err(at_entry(Error::input(message).hint("write one entry for each patch")));
            }
            Ok(prepared)
        };
        let mut prepared = patches.iter().map(prepare).collect::<Result<Vec<_>>>()?;
        for (i, pair) in patches.windows(2).enumerate() {
            prepared[i + 1].has_same_target = match (&pair[0].target, &pair[1].target) {
                (Some(one), Some(next)) => one.is_same(next),
                (one, next) => one.is_none() && next.is_none(),
            };
        }
        Ok(PatchTransformer(prepared))
    }

    /// Splits the patches where a build that notes what transformed a resource must do so between
    /// them.
    pub fn apart(self) -> impl Iterator<Item = Self> {
        apart(self.0).into_iter().map(PatchTransformer)
    }

    /// How many patches there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
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
        let share = |a: &Prepared<'_>, b: &Prepared<'_>| are_wide(a, b) || are_same(a, b);
        let mut annotations_are_text = false;
        for group in self.0.chunk_by(share) {
            let patched = match group {
                [patch] => apply_one(map, build, patch)?,
                _ => apply_together(map, build, group)?,
            };
            // A JSON patch leaves texts.
            let are_text = annotations_are_text && group.iter().all(Prepared::is_json);
            if build.keeps_origins && !are_text {
                write_annotations(map, &patched, &mut annotations_are_text)?;
            }
        }
        map.drop_empty();
        Ok(())
    }
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

impl Prepared<'_> {
    fn is_json(&self) -> bool {
        matches!(self.content, Content::Json(_))
    }

    /// Whether this is a JSON patch whose target may be any resource, or any of a kind.
    fn is_wide(&self) -> bool {
        self.is_json() && self.target.as_ref().is_some_and(|target| target.hint().is_wide())
    }

    /// Whether this is a JSON patch with a target whose operations leave alone what identifies a
    /// resource, and its metadata. The detour through JSON may spell them anew.
    fn is_of_content(&self) -> bool {
        let Content::Json(operations) = &self.content else { return false };
        self.target.is_some() && !operations.iter().any(Operation::touches_identity)
    }

    /// Whether this sees or changes the annotations in which kustomize notes what it knows about a
    /// resource.
    fn sees_notes(&self) -> bool {
        match &self.content {
            Content::Json(operations) => operations.iter().any(Operation::sees_annotations),
            Content::StrategicMerge(patches) => patches.iter().any(|patch| {
                let annotations = patch.node().get("metadata").and_then(|m| m.get("annotations"));
                let mut entries = annotations.and_then(Node::as_mapping).into_iter().flat_map(Mapping::iter);
                wipes_annotations(patch.node()) || entries.any(|entry| is_build_annotation(entry.key.text))
            }),
        }
    }

    fn kind(&self) -> Option<&str> {
        self.target.as_ref().and_then(|target| target.hint().kind)
    }
}

/// Applies JSON patches for the same kind, or the same target, in one pass: what one does to a
/// resource depends on that resource alone. Gives the places of the resources that they may have changed.
fn apply_together<'a>(map: &mut ResMap<'a>, build: &mut Build<'a>, patches: &[Prepared<'a>]) -> Result<Vec<usize>> {
    let arena = build.arena;
    let first = patches.first().and_then(|patch| patch.target.as_ref());
    let hint = first.map(Matcher::hint).unwrap_or_default();
    let are_same = patches.iter().skip(1).all(|patch| patch.has_same_target);
    let candidates = map.candidates(&if are_same { hint } else { Hint::of_kind(hint.kind) });
    // The detour through JSON respells a null apiVersion.
    let respells = || candidates.iter().any(|&i| map.get(i).node().get("apiVersion").is_some_and(Node::is_null));
    if patches.iter().all(Prepared::is_of_content) && !respells() {
        map.edit_some(arena, &candidates, |arena| {
            move |resource: &mut Resource<'a>| apply_all(resource, arena, patches)
        })?;
        return Ok(candidates);
    }
    for &i in &candidates {
        patches.iter().try_for_each(|patch| match (&patch.content, &patch.target) {
            (Content::Json(operations), Some(target)) => {
                let in_patch = |e: Error| e.at(patch.pos).context(format!("applying {}", patch.name));
                apply_json_to(map, i, arena, operations, target, true).map_err(in_patch)
            }
            _ => Ok(()),
        })?;
    }
    Ok(candidates)
}

/// Applies JSON patches whose operations leave identities and metadata alone to one resource, those for which it
/// is a target.
fn apply_all<'a>(resource: &mut Resource<'a>, arena: Arena<'a>, patches: &[Prepared<'a>]) -> Result<()> {
    // Whether the resource is the target of the patch before, where that is still so.
    let mut known = None;
    for patch in patches {
        let (Content::Json(operations), Some(target)) = (&patch.content, &patch.target) else { continue };
        let in_patch = |e: Error| e.at(patch.pos).context(format!("applying {}", patch.name));
        let is_target = match known {
            Some(known) if patch.has_same_target => known,
            _ => target.is_match(resource).map_err(in_patch)?,
        };
        // The first patch of a resource may respell its labels and annotations.
        known = Some(is_target).filter(|_| !is_target || resource.json_form);
        if is_target {
            let id = *resource.id();
            json_patch::apply(arena, resource, operations, true)
                .map_err(|e| in_patch(e.context(format!("patching {id}"))))?;
        }
    }
    Ok(())
}

/// Applies a patch, and gives the places of the resources that it changed.
fn apply_one<'a>(map: &mut ResMap<'a>, build: &mut Build<'a>, patch: &Prepared<'a>) -> Result<Vec<usize>> {
    let arena = build.arena;
    let mut patched = Vec::new();
    let in_patch = |e: Error| e.at(patch.pos).context(format!("applying {}", patch.name));
    match (&patch.content, &patch.target) {
        (Content::Json(operations), target) => {
            patched = apply_json(map, arena, operations, target.as_ref(), true).map_err(in_patch)?;
        }
        (Content::StrategicMerge(documents), Some(target)) => {
            for document in documents {
                patched.extend(merge_into_target(map, build, document, target, patch.options).map_err(in_patch)?);
            }
        }
        (Content::StrategicMerge(documents), None) => {
            for document in documents {
                document.check_annotations().map_err(in_patch)?;
                let document = if patch.options.given { with_text_annotations(document) } else { document.clone() };
                let way = (patch.options, Way::AsItIs);
                patched.push(merge_by_id(map, &document, way, &build.schema.for_merging()).map_err(in_patch)?);
            }
        }
    }
    Ok(patched)
}

/// `patchesStrategicMerge`: every document finds its own resource.
pub struct PatchStrategicMergeTransformer<'a> {
    documents: Vec<(Resource<'a>, String)>,
}

impl<'a> PatchStrategicMergeTransformer<'a> {
    /// Reads the patches: each entry is a patch if it reads as one, else the path of a file with
    /// some; `inline` is a text with patches, or empty.
    ///
    /// # Errors
    /// One cannot be read, or there is none in all of them.
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
            return Err(Error::input("patch appears to be empty; files=patchesStrategicMerge"));
        }
        Ok(PatchStrategicMergeTransformer { documents: all })
    }
}

impl<'a> Transformer<'a> for PatchStrategicMergeTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        for (document, name) in &self.documents {
            let in_patch = |e: Error| e.at(document.pos()).context(format!("applying {name}"));
            document.check_annotations().map_err(in_patch)?;
            let patch = with_text_metadata(document);
            merge_by_id(map, &patch, (PatchOptions::default(), Way::Copied), &build.schema.for_merging())
                .map_err(in_patch)?;
            map.check_unique(arena).map_err(in_patch)?;
        }
        map.drop_empty();
        Ok(())
    }
}

/// `patchesJson6902`: JSON patches that see prefixed names, and whose renames no reference follows.
pub struct PatchJson6902Transformer<'a>(Vec<Prepared<'a>>);

impl<'a> PatchJson6902Transformer<'a> {
    /// Reads the patches.
    ///
    /// # Errors
    /// One cannot be read, has no operations, or no target with a name.
    pub fn new(build: &mut Build<'a>, root: &Root, patches: &[Patch<'a>]) -> Result<Self> {
        let prepare = |patch: &Patch<'a>| {
            let fault = |message: &str| Error::input(message).at(patch.pos);
            if patch.target.as_ref().is_none_or(|t| t.name.is_empty()) {
                return Err(fault("must specify the target name"));
            }
            let prepared = prepare(build, root, patch, |text| text, operations).map_err(|e| e.at(patch.pos))?;
            match &prepared.content {
                Content::Json(operations) if operations.is_empty() => Err(fault("the patch has no operations")),
                _ => Ok(prepared),
            }
        };
        patches.iter().map(prepare).collect::<Result<_>>().map(PatchJson6902Transformer)
    }

    /// See [`PatchTransformer::apart`].
    pub fn apart(self) -> impl Iterator<Item = Self> {
        apart(self.0).into_iter().map(PatchJson6902Transformer)
    }

    /// How many patches there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl<'a> Transformer<'a> for PatchJson6902Transformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        for patch in &self.0 {
            let Content::Json(operations) = &patch.content else {
                continue;
            };
            let in_patch = |e: Error| e.at(patch.pos).context(format!("applying {}", patch.name));
            apply_json(map, arena, operations, patch.target.as_ref(), false).map_err(in_patch)?;
        }
        map.drop_empty();
        Ok(())
    }
}

fn prepare<'a>(
    build: &mut Build<'a>,
    root: &Root,
    patch: &Patch<'a>,
    trim: fn(&'a str) -> &'a str,
    read: fn(&mut Build<'a>, &'a Source) -> Result<Content<'a>>,
) -> Result<Prepared<'a>> {
    let inline = trim(patch.patch.text);
    let (source, name) = match (inline.is_empty(), patch.path.is_empty()) {
        (true, true) => {
            return Err(Error::input("must specify one of patch and path in patches entry"));
        }
        (false, false) => return Err(Error::input("patch and path can't be set at the same time")),
        (true, false) => {
            let source = build.cx.files.text(root, patch.path).map_err(Error::from)?;
            (source, format!("the patch {}", source.name))
        }
        (false, true) => {
            let cut = patch.patch.find(inline).map_or(0, |at| patch.patch[..at].matches('\n').count());
            let name = format!("an inline patch in {}", root.shown);
            let source = build.arena.add_inline(name, inline, patch.patch.pos, cut);
            (source, "an inline patch".to_owned())
        }
    };
    let matcher = |target: &Selector<'a>| Matcher::new(target).map_err(|e| e.at(target.pos));
    let target = patch.target.as_ref().map(matcher).transpose()?;
    let content = read(build, source)?;
    Ok(Prepared { content, target, has_same_target: false, options: patch.options, name, pos: patch.pos })
}

/// Reads a patch: strategic merge if its documents read as resources, else JSON.
fn content<'a>(build: &mut Build<'a>, source: &'a Source) -> Result<Content<'a>> {
    if source.text.starts_with('[') {
        return operations(build, source);
    }
    let fault = match resources(build, source) {
        Ok(documents) => return Ok(Content::StrategicMerge(documents)),
        Err(e) => e,
    };
    match first_document(build.arena, source) {
        Ok(None) => Ok(Content::Json(Vec::new())),
        Ok(Some(node)) if node.as_sequence().is_some() => operations(build, source),
        _ => Err(fault.context(format!("unable to parse SM or JSON patch from '{}'", source.name))),
    }
}

/// Reads a JSON patch, which may be written in YAML.
fn operations<'a>(build: &mut Build<'a>, source: &'a Source) -> Result<Content<'a>> {
    let arena = build.arena;
    let text = source.text.as_str();
    if text.starts_with('[') {
        let node = json::parse(arena, text).map_err(|e| {
            let error = Error::input(format!("unable to parse SM or JSON patch from '{}': {e}", source.name));
            error.hint("a patch that starts with '[' must be strict JSON")
        })?;
        return json_patch::from_json(arena, text, &node).map(Content::Json);
    }
    match first_document(arena, source)? {
        None => Ok(Content::Json(Vec::new())),
        Some(node) if node.as_sequence().is_some() => json_patch::from_yaml(arena, &node).map(Content::Json),
        Some(node) => {
            let message = format!("a JSON patch is a list of operations, found {}", node.shape());
            Err(Error::input(message).at(node.pos))
        }
    }
}

/// The documents of a text as resources; a list is replaced by its items.
fn resources<'a>(build: &mut Build<'a>, source: &'a Source) -> Result<Vec<Resource<'a>>> {
    let arena = build.arena;
    let nodes = documents(arena, source)?;
    documents_to_resources(build, nodes)
}

/// Applies a JSON patch to the resources of a target, and gives their places.
fn apply_json<'a>(
    map: &mut ResMap<'a>,
    arena: Arena<'a>,
    operations: &[Operation<'a>],
    target: Option<&Matcher<'a>>,
    record: bool,
) -> Result<Vec<usize>> {
    let Some(target) = target else { return Ok(Vec::new()) };
    let candidates = map.candidates(&target.hint());
    candidates.iter().try_for_each(|&i| apply_json_to(map, i, arena, operations, target, record))?;
    Ok(candidates)
}

/// Applies a JSON patch to one resource, if it is a target.
fn apply_json_to<'a>(
    map: &mut ResMap<'a>,
    i: usize,
    arena: Arena<'a>,
    operations: &[Operation<'a>],
    target: &Matcher<'a>,
    record: bool,
) -> Result<()> {
    if !target.is_match(map.get(i))? {
        return Ok(());
    }
    let id = *map.get(i).id();
    let patch = |resource: &mut Resource<'a>| json_patch::apply(arena, resource, operations, record);
    // The detour through JSON respells a null apiVersion.
    let respells = map.get(i).node().get("apiVersion").is_some_and(Node::is_null);
    let renames = respells || operations.iter().any(Operation::touches_identity);
    let patched = if renames { map.edit(i, patch) } else { map.edit_in_place(i, patch) };
    patched.map_err(|e| e.context(format!("patching {id}")))
}

/// How kustomize hands a patch to a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As it was read: an entry of `patches` that names its resource.
    AsItIs,
    /// A [`copied`] patch, with the apiVersion of the resource.
    Copied,
}

/// Merges a patch into the resource that it names, by any id the resource has had, and gives its
/// place.
fn merge_by_id<'a>(
    map: &mut ResMap<'a>,
    patch: &Resource<'a>,
    way: (PatchOptions, Way),
    schemas: &Schemas<'a>,
) -> Result<usize> {
    // A patch may say by hand that it had another name.
    let id = &patch.original_id();
    let i = match map.find_any(id) {
        Found::One(i) => i,
        Found::None => {
            let error =
                Error::input(format!("no resource matches strategic merge patch \"{id}\": no matches for Id {id}"));
            return Err(error.hint("apiVersion, kind, name and namespace of the patch must be those of the resource"));
        }
        Found::Many(_) => {
            return Err(Error::input(format!(
                "multiple matches for Id {id}; failed to find unique target for patch {id}"
            )));
        }
    };
    merge_into(map, i, patch, way, schemas)?;
    Ok(i)
}

/// Merges a patch into every resource of a target, and gives their places.
fn merge_into_target<'a>(
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

/// Merges a patch into a resource, which keeps what identifies it unless the options allow a change.
fn merge_into<'a>(
    map: &mut ResMap<'a>,
    i: usize,
    patch: &Resource<'a>,
    (options, way): (PatchOptions, Way),
    schemas: &Schemas<'a>,
) -> Result<()> {
    let wipes = wipes_annotations(patch.node());
    let id = *map.get(i).id();
    let keep = map.edit(i, |resource| {
        if options.allow_name_change || options.allow_kind_change {
            resource.record_previous();
        }
        let mut patch = patch.node().clone();
        if way == Way::Copied {
            copy_api_version(resource, &mut patch);
        }
        let keep = merge::apply(resource.node_mut(), patch, schemas)?;
        resource.settle_shared();
        if wipes {
            resource.forget_history();
        }
        if keep {
            put_back_identity(resource, &id, options);
            note_options(resource, options);
        }
        Ok(keep)
    });
    if !keep.map_err(|e: Error| e.context(format!("patching {id}")))? {
        map.delete(i);
    }
    Ok(())
}

/// A patch that kustomize has copied: labels and annotations are text, and what identifies the patch
/// is set anew.
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
        set_untyped(patch, "apiVersion", api_version.map_or("", |scalar| scalar.text));
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
fn wipes_annotations(patch: &Node<'_>) -> bool {
    let replaces = |node: &Node<'_>| node.get_text("$patch").is_some_and(|d| d == "replace" || d == "delete");
    let Some(metadata) = patch.get("metadata") else {
        return false;
    };
    replaces(metadata) || metadata.get("annotations").is_some_and(|a| a.is_null() || replaces(a))
}

/// A patch whose annotations are text, whatever they look like; an empty map of them goes.
fn with_text_annotations<'a>(patch: &Resource<'a>) -> Resource<'a> {
    let mut patch = patch.clone();
    if let Some(metadata) =
        patch.node_mut().as_mapping_mut().and_then(|m| m.get_mut("metadata")).and_then(Node::as_mapping_mut)
    {
        stringify(metadata, "annotations");
    }
    patch
}

/// As [`with_text_annotations`], labels too.
fn with_text_metadata<'a>(patch: &Resource<'a>) -> Resource<'a> {
    let mut patch = with_text_annotations(patch);
    if let Some(metadata) =
        patch.node_mut().as_mapping_mut().and_then(|m| m.get_mut("metadata")).and_then(Node::as_mapping_mut)
    {
        stringify(metadata, "labels");
    }
    patch
}
