//! ReplacementTransformer: copies a value from one resource's field into fields of others.
//!
//! *Fields*: `replacements`.
//! *Kinds*: `ReplacementTransformer`, with `replacements`.
//! *Entry*: `Replacement`, `SourceSelector`, `TargetSelector`, `FieldOptions`.
//! *Selects*: the source by exact id, the targets by patterns.
//! *Writes*: the fields of the targets' paths. A path is keys between dots; `\.` is a dot in a key,
//! a number or `[name=x]` an item of a list, `*` everything. It may go on inside a text that holds
//! JSON or YAML: see [`super::structured_text`].
//! *Order*: last of the built-in transformers; entries in order, each after the changes of earlier
//! ones.
//! *Cost*: O(targets that may match + nodes on their paths); which may match is found as for
//! patches. Replacements that follow each other in one long list find its items by an index. A text
//! that holds YAML is read and written by each replacement in it; one with pieces or JSON once for
//! replacements that follow each other.
//! *Quirks*: a scalar gets a value as text, and keeps its type; a field that was made lacks a type,
//! and its text is read as YAML (case replacement-basics). The source is read again for every
//! target: a target that changes it changes the value for later ones. If a target has made the path
//! of the source lead nowhere, later ones get the value that was there (cases
//! replacement-source-moved and replacement-source-replaced).
//! *Example*: `testdata/reference/replacement.txtar`

use super::item_index::{ItemIndex, KnownItems};
use super::objects::Replacements;
use super::open_text::{OpenText, TextPath};
use super::replacement_source::Source;
use super::structured_text::{self, FieldPath, Texts, empty_like, lookup_mut, places_of, visit};
use super::text_pieces::{delimited, spliced};
use crate::config::field_path::{self, Part, parts, target_parts};
use crate::config::kustomization::{FieldOptions, Replacement, TargetSelector};
use crate::config::{Decode, Decoder, Selector, Written};
use crate::diag::{Code, Error, Result, Warning};
use crate::load::Root;
use crate::merge::copies::{Copies, check_depth, check_text};
use crate::resource::matcher::{Ids, Matcher};
use crate::resource::{Changes, Hint, ResMap, Resource, similar};
use crate::stage::{Build, Fields, Hit, NameCopy, Object, Planned, Stage, Transformer};
use rustomize_base::meter::FastSet;
use rustomize_yaml::{Arena, Node, Pos, Value, first_document, json};
use std::borrow::Cow;

/// All entries of `replacements`.
pub struct ReplacementTransformer<'a>(Vec<Prepared<'a>>);

struct Prepared<'a> {
    source: Source<'a>,
    targets: Vec<Target<'a>>,
}

struct Target<'a> {
    select: Matcher<'a>,
    reject: Vec<Matcher<'a>>,
    hit: Hit,
    pos: Pos,
    paths: Vec<FieldPath<'a>>,
    options: FieldOptions<'a>,
    texts: Texts,
}

impl<'a> ReplacementTransformer<'a> {
    /// The transformer of `replacements`.
    ///
    /// # Errors
    /// A file cannot be read, an entry lacks a source or targets, or a pattern is wrong.
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let replacements = &fields.kustomization.replacements;
        if replacements.is_empty() {
            return Ok(Vec::new());
        }
        let cx = Decoder::strict(fields.build.arena);
        let stage = ReplacementTransformer::new(fields.build, fields.root, replacements, &cx)?;
        Ok(vec![fields.whole(stage, fields.pos("replacements"))])
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// As [`ReplacementTransformer::from_fields`], or a field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let mut entries = Replacements::default();
        let cx = Decoder::unconverted(object.arena());
        entries.decode(object.config.node(), &cx)?;
        Ok(Stage::whole(ReplacementTransformer::new(object.build, object.root, &entries.replacements, &cx)?))
    }

    /// Reads the files of entries that name one, and compiles all.
    fn new(build: &mut Build<'a>, root: &Root, entries: &[Replacement<'a>], cx: &Decoder<'a>) -> Result<Self> {
        let arena = build.arena;
        let mut prepared = Vec::new();
        for entry in entries {
            let at_entry = |e: Error| e.through(entry.pos, "in an entry of 'replacements'");
            let has_targets = entry.targets.as_ref().is_some_and(|targets| !targets.is_empty());
            if entry.path.is_empty() {
                // The fields of a kustomization reach upstream's transformer without their empty
                // lists.
                if cx.strict && !has_targets {
                    return Err(at_entry(incomplete()));
                }
                prepared.push(prepare(arena, entry).map_err(at_entry)?);
                continue;
            }
            if entry.source.is_some() || has_targets {
                return Err(at_entry(Error::new(
                    Code::ConflictingFields,
                    "cannot specify both path and inline replacement",
                )));
            }
            for from_file in read(build, root, entry.path).map_err(at_entry)? {
                prepared.push(prepare(arena, &from_file).map_err(at_entry)?);
            }
        }
        Ok(ReplacementTransformer(prepared))
    }
}

/// The replacements of a file: one, or a list of them.
fn read<'a>(build: &mut Build<'a>, root: &Root, path: &str) -> Result<Vec<Replacement<'a>>> {
    let arena = build.arena;
    let cx = &Decoder::of_file(arena);
    let source = build.cx.files.text(root, path).map_err(Error::from)?;
    let empty = || Error::new(Code::MissingField, format!("'{path}' holds no replacement")).at(source.pos(0));
    let node = first_document(arena, source)?.ok_or_else(empty)?;
    json::check_keys(&node)?;
    let mut replacements: Vec<Replacement<'a>> = Vec::new();
    match node.value() {
        Value::Sequence(_) => replacements.decode(&node, cx)?,
        _ => {
            let mut one = Replacement::default();
            one.decode(&node, cx)?;
            replacements.push(one);
        }
    }
    Ok(replacements)
}

fn incomplete() -> Error {
    Error::new(Code::MissingField, "replacements must specify a source and at least one target")
        .hint("add 'source' with the resource and its field, and 'targets' with the resources and fields to change")
}

fn prepare<'a>(arena: Arena<'a>, entry: &Replacement<'a>) -> Result<Prepared<'a>> {
    let source = match (&entry.source, entry.source_value) {
        (Some(_), Some(_)) => {
            return Err(Error::new(Code::ConflictingFields, "value and resource selectors are mutually exclusive")
                .hint("remove 'source' or 'sourceValue'"));
        }
        (None, Some(value)) => Source::Value(value),
        (Some(selector), None) => {
            let path = if selector.field_path.is_empty() { "metadata.name" } else { selector.field_path.text };
            Source::Field { selector: selector.clone(), path: parts(arena, path)? }
        }
        (None, None) => return Err(incomplete()),
    };
    let targets =
        entry.targets.as_ref().ok_or_else(incomplete)?.iter().map(|t| target(arena, t)).collect::<Result<_>>()?;
    Ok(Prepared { source, targets })
}

fn target<'a>(arena: Arena<'a>, target: &TargetSelector<'a>) -> Result<Target<'a>> {
    let unselected = || {
        Error::new(Code::MissingField, "target must specify resources to select")
            .at(target.pos)
            .hint("add 'select', as in select: {kind: Deployment}")
    };
    let select = target.select.as_ref().ok_or_else(unselected)?;
    let matcher = |selector: &Selector<'a>| match arena.compat().replacement_targets_are_patterns() {
        true => Matcher::new(selector),
        false => Ok(Matcher::of_literals(selector)),
    };
    let default = [Written { text: "metadata.name", pos: target.pos }];
    let paths: &[Written<'a>] = if target.field_paths.is_empty() { &default } else { &target.field_paths };
    Ok(Target {
        select: matcher(select)?,
        hit: Hit::default(),
        pos: target.pos,
        reject: target.reject.iter().filter(|r| !r.is_empty()).map(matcher).collect::<Result<_>>()?,
        paths: paths
            .iter()
            .map(|path| {
                let parts = target_parts(arena, path).map_err(|e| e.at(path.pos))?;
                Ok(FieldPath { written: *path, parts, emptied: Hit::default() })
            })
            .collect::<Result<_>>()?,
        options: target.options.clone(),
        texts: Texts::of(arena.compat()),
    })
}

impl<'a> Transformer<'a> for ReplacementTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        self.replace_all(map, build)?;
        build.find(|| {
            let targets = self.0.iter().flat_map(|replacement| &replacement.targets);
            let mut advised = 0;
            targets.flat_map(move |target| {
                let message = "the target of a replacement changes nothing: it selects no resource";
                let otherwise = "a target sees resources with the names that they have, or had before a change";
                let unused = || {
                    advised += 1;
                    let search = || similar::advice_for_selector(map.iter(), &target.select.hint());
                    let meant = if advised <= similar::MOST_ADVISED { search() } else { None };
                    let finding = Warning::new(Code::NoEffect, message).at(target.pos);
                    finding.hint(meant.unwrap_or_else(|| otherwise.to_owned()))
                };
                let emptied = target.paths.iter().filter(|path| path.emptied.is_noted()).map(emptied);
                (!target.hit.is_noted()).then(unused).into_iter().chain(emptied)
            })
        });
        Ok(())
    }
}

/// The finding about a text that has got a mapping or a list.
fn emptied(path: &FieldPath<'_>) -> Warning {
    let message = format!("the text at '{}' is empty now: the source is a mapping or a list", path.written);
    let hint = "name a field of the source that has a text";
    Warning::new(Code::EmptiedText, message).at(path.written.pos).hint(hint)
}

impl<'a> ReplacementTransformer<'a> {
    /// Runs all entries.
    fn replace_all(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let arena = build.arena;
        if self.0.len() > 1
            && let Some(run) = self.independent(map)?
        {
            return self.together(map, build, &run);
        }
        let mut open = Open::default();
        let mut sources = ItemIndex::default();
        for replacement in &self.0 {
            // A piece of a text is copied; a whole value is read again for each target, which may
            // be its source.
            let place = replacement.source.find(map)?;
            place.iter().for_each(|&i| build.note_source(map.get(i)));
            open.close_in(map, arena, place)?;
            let mut value = replacement.source.value_by(map, place, &mut sources)?;
            let mut is_stale = false;
            for target in &replacement.targets {
                for i in target.places(map)? {
                    sources.note_edit(i);
                    if is_stale {
                        open.close_in(map, arena, place)?;
                        // A target may have moved or replaced the source: then its value stays.
                        if let Ok(now) = replacement.source.value(map, place) {
                            value = now;
                        }
                    }
                    let own = Some(&replacement.source).filter(|source| source.is_live() && place == Some(i));
                    is_stale = own.is_some();
                    target.replace(map, i, arena, Sourced { value: &value, own }, &mut open)?;
                    replacement.note_copies(map, place, i, target, build);
                }
            }
        }
        open.close(map, arena)
    }
}

/// The resource that replacements change one after the other.
#[derive(Default)]
struct Open<'s, 'a> {
    place: usize,
    /// The text that is taken apart.
    text: Option<OpenText<'s, 'a>>,
    items: ItemIndex<'s, 'a>,
}

impl<'a> Open<'_, 'a> {
    fn close(&mut self, map: &mut ResMap<'a>, arena: Arena<'a>) -> Result<()> {
        match self.text {
            Some(_) => map.edit_in_place(self.place, |resource| OpenText::close(&mut self.text, resource, arena)),
            None => Ok(()),
        }
    }

    /// Puts the text together if it is in the resource at a place.
    fn close_in(&mut self, map: &mut ResMap<'a>, arena: Arena<'a>, place: Option<usize>) -> Result<()> {
        if Some(self.place) == place { self.close(map, arena) } else { Ok(()) }
    }
}

impl<'a> ReplacementTransformer<'a> {
    /// The hint for the resources of all replacements, if each replacement is for all resources of
    /// one kind, or of all kinds. The resources of most other targets are found one by one.
    fn common_kind(&self) -> Option<Hint<'_>> {
        let mut targets = self.0.iter().flat_map(|replacement| &replacement.targets);
        let first = targets.next()?;
        let is_like_first =
            |target: &Target<'a>| target.is_wide() && target.select.hint().kind == first.select.hint().kind;
        (first.is_wide() && targets.all(is_like_first)).then(|| Hint::of_kind(first.select.hint().kind))
    }

    /// The resources that all replacements are for, and the places of the sources, if no
    /// replacement changes a source, or the identity of a resource. The resources and the value of
    /// each replacement are then known from the start.
    fn independent(&self, map: &mut ResMap<'a>) -> Result<Option<Together>> {
        let Some(hint) = self.common_kind() else { return Ok(None) };
        let targets = map.candidates(&hint);
        let mut sources = Vec::with_capacity(self.0.len());
        for replacement in &self.0 {
            let place = replacement.source.find(map)?;
            if place.is_some_and(|i| targets.binary_search(&i).is_ok()) {
                return Ok(None);
            }
            sources.push(place);
        }
        Ok(Some(Together { targets, sources }))
    }

    /// Runs independent replacements in one pass: a resource that has come into the cache passes
    /// all of them.
    fn together(&self, map: &mut ResMap<'a>, build: &mut Build<'a>, run: &Together) -> Result<()> {
        let arena = build.arena;
        let (mut values, mut sources) = (Vec::with_capacity(run.sources.len()), ItemIndex::default());
        for (replacement, place) in self.0.iter().zip(&run.sources) {
            place.iter().for_each(|&i| build.note_source(map.get(i)));
            values.push(replacement.source.value_by(map, *place, &mut sources)?);
        }
        let is_asked = build.findings.is_some();
        for (replacement, place) in self.0.iter().zip(&run.sources).filter(|_| is_asked) {
            for target in replacement.targets.iter().filter(|_| replacement.source.is_name()) {
                for &i in &run.targets {
                    if target.select.is_match_by(map.get(i), Ids::Any)? {
                        replacement.note_copies(map, *place, i, target, build);
                    }
                }
            }
        }
        let values = &values;
        map.edit_some(arena, &run.targets, Changes::Content, |arena| {
            move |_, resource: &mut Resource<'a>| {
                let mut open = Open::default();
                for (replacement, value) in self.0.iter().zip(values) {
                    for target in &replacement.targets {
                        if target.select.is_match_by(resource, Ids::Any)? {
                            target.replace_in(resource, arena, Sourced { value, own: None }, &mut open)?;
                        }
                    }
                }
                OpenText::close(&mut open.text, resource, arena)
            }
        })
    }
}

impl<'a> Prepared<'a> {
    /// Notes the copies of a name in a target, if findings are asked for. A path with `*` leads to
    /// several places, and is not noted.
    fn note_copies(
        &self,
        map: &ResMap<'a>,
        place: Option<usize>,
        i: usize,
        target: &Target<'a>,
        build: &mut Build<'a>,
    ) {
        let Some(place) = place.filter(|&place| place != i && self.source.is_name()) else { return };
        let whole = target.paths.iter().filter(|path| !path.written.contains('*'));
        for path in whole.filter(|_| target.options.delimiter.is_empty()) {
            build.note_copy(|| NameCopy {
                source: map.get(place).pos(),
                name: map.get(place).id().name.into(),
                target: map.get(i).pos(),
                path: path.written.text.into(),
                pos: path.written.pos,
            });
        }
    }
}

/// Replacements that run in one pass.
struct Together {
    /// Places of the resources that any of them may be for.
    targets: Vec<usize>,
    /// The place of the source of each.
    sources: Vec<Option<usize>>,
}

impl<'a> Target<'a> {
    /// Returns true if a path may lead to the identity of a resource.
    fn renames(&self) -> bool {
        let is_content = |path: &[Part<'_>]| matches!(path.first(), Some(Part::Key(k)) if !matches!(*k, "metadata" | "kind" | "apiVersion"));
        !self.paths.iter().all(|path| is_content(&path.parts))
    }

    /// Puts a value into one resource.
    fn replace<'s>(
        &'s self,
        map: &mut ResMap<'a>,
        i: usize,
        arena: Arena<'a>,
        value: Sourced<'_, 'a>,
        open: &mut Open<'s, 'a>,
    ) -> Result<()> {
        if open.place != i {
            open.close(map, arena)?;
            open.place = i;
            open.items.forget();
        }
        let replace = |resource: &mut Resource<'a>| self.replace_in(resource, arena, value, open);
        if self.renames() { map.edit(i, replace) } else { map.edit_in_place(i, replace) }
    }

    /// As [`Target::replace`], in a resource whose text may be taken apart.
    fn replace_in<'s>(
        &'s self,
        resource: &mut Resource<'a>,
        arena: Arena<'a>,
        value: Sourced<'_, 'a>,
        open: &mut Open<'s, 'a>,
    ) -> Result<()> {
        self.hit.note();
        if let (None, [path], false) = (value.own, &self.paths[..], self.renames())
            && let Some(scalar) = value.value.as_scalar()
            && OpenText::put(&mut open.text, resource, arena, self.text_path(path), scalar)?
        {
            open.items.forget();
            return Ok(());
        }
        OpenText::close(&mut open.text, resource, arena)?;
        let id = *resource.id();
        self.apply(arena, resource, value, &mut open.items)
            .map_err(|e| e.in_resource(id).context(format!("replacing in {id}")))
    }

    /// Returns true if this target may be any resource of a kind, and the paths leave the identity
    /// alone.
    fn is_wide(&self) -> bool {
        self.select.hint().is_wide() && self.reject.is_empty() && !self.renames()
    }

    /// The places of the resources that are selected and not rejected, in order.
    fn places(&self, map: &mut ResMap<'a>) -> Result<Vec<usize>> {
        let mut selected = Vec::new();
        for i in map.candidates(&self.select.hint()) {
            if self.select.is_match_by(map.get(i), Ids::Any)? {
                selected.push(i);
            }
        }
        if selected.is_empty() || self.reject.is_empty() {
            return Ok(selected);
        }
        let mut rejected = FastSet::default();
        for reject in &self.reject {
            for hint in reject.reject_hints() {
                let few = map.few_candidates(&hint, selected.len());
                for &i in few.as_ref().unwrap_or(&selected) {
                    if selected.binary_search(&i).is_ok() && !rejected.contains(&i) && reject.rejects(map.get(i))? {
                        rejected.insert(i);
                    }
                }
            }
        }
        selected.retain(|i| !rejected.contains(i));
        Ok(selected)
    }

    fn text_path<'s>(&'s self, path: &'s FieldPath<'a>) -> TextPath<'s, 'a> {
        TextPath { path: &path.parts, options: &self.options, texts: self.texts }
    }

    fn apply<'s>(
        &'s self,
        arena: Arena<'a>,
        resource: &mut Resource<'a>,
        Sourced { value, own }: Sourced<'_, 'a>,
        items: &mut ItemIndex<'s, 'a>,
    ) -> Result<()> {
        let mut value = Cow::Borrowed(value);
        let mut copies = Copies::default();
        for field in &self.paths {
            let text = &field.written;
            let create = self.options.create.then(|| empty_like(&value));
            let known = if own.is_none() { items.places(resource, &field.parts) } else { None };
            if own.is_some() {
                items.forget();
            }
            let pieces = Some(&self.options).filter(|o| self.texts == Texts::AsElsewhere && !o.delimiter.is_empty());
            if known.is_none()
                && self.texts != Texts::Closed
                && structured_text::replace(arena, resource, field, create.as_ref(), &value, pieces)?
            {
                resource.settle_shared();
                continue;
            }
            let to = &mut Destination { arena, field, create: create.as_ref(), copies: &mut copies };
            let found = match (own, known) {
                (None, Some(known)) => self.copy_to_items(to, resource, known, &value),
                (Some(source), _) if value.as_scalar().is_none() => self.copy_within(to, resource, &mut value, source),
                (own, _) => self.copy(to, resource, &mut value, own),
            };
            let found = found.map_err(|e| e.through(text.pos, format!("at the field path '{text}'")))?;
            if copies.take_ahead() {
                resource.settle_shared();
            }
            if found == 0 {
                let find = if self.options.create { "find or create" } else { "find" };
                let message = format!("unable to {find} field \"{text}\" in replacement target");
                let error = Error::new(Code::MissingPath, message)
                    .at(text.pos)
                    .hint(field_path::advice(resource.node(), &field.parts));
                return Err(match self.options.create {
                    true => error,
                    false => error.hint("a field that is missing is added with 'options: {create: true}'"),
                });
            }
        }
        Ok(())
    }

    /// The arena for the content of texts on the way, if a path may lead into them.
    fn texts_in(&self, arena: Arena<'a>) -> Option<Arena<'a>> {
        Some(arena).filter(|_| self.texts != Texts::Closed)
    }

    /// Puts a value at a path, and returns the number of places. If the value is a text of the same
    /// resource, it changes with its source.
    fn copy(
        &self,
        to: &mut Destination<'_, 'a>,
        resource: &mut Resource<'a>,
        value: &mut Cow<'_, Node<'a>>,
        own: Option<&Source<'a>>,
    ) -> Result<usize> {
        let source = own.and_then(|source| source.place(resource));
        let (texts, field, create) = (self.texts_in(to.arena), to.field, to.create);
        let mut found = 0;
        visit(texts, resource.node_mut(), &field.parts, create, &mut |node| {
            found += 1;
            self.set(to, node, value)?;
            if source.is_some_and(|source| std::ptr::eq(source, node))
                && let Some(new) = node.as_scalar()
            {
                value.to_mut().replace_text(new.text(), Pos::NONE);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Puts a value into items of the list to which a path leads, and returns the number of places
    /// that have got it.
    fn copy_to_items(
        &self,
        to: &mut Destination<'_, 'a>,
        resource: &mut Resource<'a>,
        items: KnownItems,
        value: &Node<'a>,
    ) -> Result<usize> {
        let (texts, path, create) = (self.texts_in(to.arena), &to.field.parts, to.create);
        let mut found = 0;
        let list = lookup_mut(resource.node_mut(), &path[..items.depth]).and_then(Node::as_sequence_mut);
        let Some(list) = list else { return Ok(found) };
        for i in items.places {
            let Some(item) = list.get_mut(i) else { continue };
            visit(texts, item, &path[items.depth + 1..], create, &mut |node| {
                found += 1;
                self.set(to, node, value)
            })?;
        }
        Ok(found)
    }

    /// Puts a mapping or a list of the same resource at a path. If a place is inside the source,
    /// the fields that are made on the way to it are part of the copy, and so is each copy of the
    /// places before it.
    fn copy_within(
        &self,
        to: &mut Destination<'_, 'a>,
        resource: &mut Resource<'a>,
        value: &mut Cow<'_, Node<'a>>,
        source: &Source<'a>,
    ) -> Result<usize> {
        let (texts, path, create) = (self.texts_in(to.arena), &to.field.parts, to.create);
        let mut found = 0;
        visit(texts, resource.node_mut(), path, create, &mut |_| {
            found += 1;
            Ok(())
        })?;
        let mut places = Vec::new();
        places_of(resource.node(), path, &mut Vec::new(), &mut places)?;
        for place in places {
            // A copy may have taken the place of a value around the source, which then stays as it
            // was.
            if let Ok(now) = source.value_now(resource) {
                *value = Cow::Owned(now);
            }
            visit(texts, resource.node_mut(), &place, create, &mut |node| self.set(to, node, value))?;
        }
        Ok(found)
    }

    /// Puts a value into a node: as text into a scalar, which keeps its type and style; else in
    /// place of the old value.
    fn set(&self, to: &mut Destination<'_, 'a>, node: &mut Node<'a>, value: &Node<'a>) -> Result<()> {
        let options = &self.options;
        let (arena, depth, by) = (to.arena, to.field.parts.len(), to.field.written.pos);
        let Value::Scalar(old) = node.value() else {
            if !options.delimiter.is_empty() {
                return Err(delimited());
            }
            check_depth(depth, value)?;
            node.put(to.copies.copy(value)?.into_value(), by);
            return Ok(());
        };
        if value.as_scalar().is_none() && !old.is_null() {
            to.field.emptied.note();
        }
        let text = value.scalar_text();
        let text = match options.delimiter.is_empty() {
            true => text,
            false => arena.text(check_text(&spliced(old.text(), text, options))?),
        };
        // Nothing in place of a null is a null still.
        let tag = if text.is_empty() && old.is_null() { old.tag() } else { old.resolved_tag() };
        // A text in place of a null mostly cannot be printed: the error is at the null, its cause.
        let at = if old.is_null() && !text.is_empty() { node.pos() } else { by };
        node.set_text(text, tag, at);
        to.copies.note(node);
        Ok(())
    }
}

/// A value for a resource.
#[derive(Clone, Copy)]
struct Sourced<'v, 'a> {
    value: &'v Node<'a>,
    /// The source of the value, if it is in the same resource.
    own: Option<&'v Source<'a>>,
}

/// A path of a target in one resource.
struct Destination<'d, 'a> {
    arena: Arena<'a>,
    field: &'d FieldPath<'a>,
    /// The value at the end of the path where it is missing, if it is made there.
    create: Option<&'d Node<'a>>,
    copies: &'d mut Copies,
}
