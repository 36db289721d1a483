//! ImageTagTransformer: gives container images new names, tags or digests.
//!
//! *Fields*: `images`, `imageTags`.
//! *Kinds*: `ImageTagTransformer`, with `imageTag` (one entry) and `fieldSpecs`.
//! *Entry*: `Image`.
//! *Selects*: all resources but CustomResourceDefinitions.
//! *Writes*: `image` of every element of a `containers` or `initContainers` list at any depth, then
//! the fields of the specs.
//! *Order*: after replicas, before replacements; entries in order, each after the changes of
//! earlier ones.
//! *Cost*: O(nodes) for all entries together: the outcome is remembered for each image text, and
//! most names are looked up in tables. Each different image is also compared with each name that
//! is a pattern with more than dots in it.
//! *Quirks*: an entry works twice on the fields that both passes reach, which shows with
//! `tagSuffix` (cases img-tagsuffix-applied-twice and img-tagsuffix-once-off-path). Its name is a
//! pattern whose alternatives are not grouped (img-name-alternation-not-grouped).
//! *Example*: `testdata/reference/image_tag.txtar`

use super::image_names::ImageNames;
use super::objects::ImageTag;
use crate::config::field_spec::{Create, Step, walk};
use crate::config::kustomization::Image;
use crate::config::{FieldSpecs, UsualSpecs};
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::resource::{ResMap, Resource, similar};
use crate::stage::{
    Build, Editor, Fields, Hit, Object, Overridden, Overriding, Planned, Stage, TransformEach, Watched,
};
use rustomize_base::compat::Compat;
use rustomize_base::meter::FastMap;
use rustomize_yaml::places::Places;
use rustomize_yaml::{Arena, Mapping, Node, Pos, Tag, Value, ValueMut};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::sync::{Mutex, PoisonError};

/// All entries of `images`: they stand next to each other, so one stage runs them all.
pub struct ImageTagTransformer<'a> {
    images: Vec<Image<'a>>,
    names: ImageNames<'a>,
    /// For each entry.
    hits: Vec<Hit>,
    specs: FieldSpecs<'a>,
    /// For each entry, the place of the images that it sets.
    set_at: Vec<Pos>,
    /// The values of patches that it replaces, if the build is asked for findings.
    overridden: Option<Overridden>,
    /// For each entry, the first resource with containers whose tags it makes the same.
    united: Mutex<BTreeMap<usize, United>>,
}

/// Two images of a resource that had different tags, and have the same now.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct United {
    resource: String,
    images: [String; 2],
    places: [Pos; 2],
    now: String,
}

/// Changes images on one thread.
struct ImageEditor<'s, 'a> {
    stage: &'s ImageTagTransformer<'a>,
    arena: Arena<'a>,
    /// The outcomes of image texts; `None` if no entry matches.
    outcomes: FastMap<State<'a>, Option<Outcome<'a>>>,
    /// Memory for the paths of a resource's specs, and for the way to a list of containers.
    paths: Vec<&'s [Step<'a>]>,
    keys: Vec<&'a str>,
    /// The images of the containers of a resource, if the build is asked for findings.
    seen: Vec<SeenImage<'a>>,
}

/// An image that entries have changed.
#[derive(Clone, Copy)]
struct SeenImage<'a> {
    old: &'a str,
    new: &'a str,
    pos: Pos,
}

/// The text that an image becomes.
#[derive(Clone, Copy)]
struct Outcome<'a> {
    text: &'a str,
    /// The entry that has changed the text last.
    by: usize,
}

/// An image text on its way through the entries.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State<'a> {
    text: &'a str,
    /// The entry that is next.
    entry: usize,
    /// How often each entry works on the text.
    times: usize,
    /// How often the next entry still does.
    left: usize,
}

impl<'a> ImageTagTransformer<'a> {
    /// The transformer of `images`.
    ///
    /// # Errors
    /// A field spec is wrong, or a name is not a valid regular expression.
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let images = &fields.kustomization.images;
        if images.is_empty() {
            return Ok(Vec::new());
        }
        static USUAL: UsualSpecs = UsualSpecs::unmade();
        let (pos, specs) = (fields.pos("images"), fields.specs(&USUAL, |config| &config.images)?);
        let stage = ImageTagTransformer::new(fields.build.arena.compat(), images, specs, pos)?;
        fields.build.find(|| replaced_entries(images));
        Ok(vec![Planned { instances: images.len(), ..fields.each(stage, pos) }])
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// A field has a wrong type, or the name is not a valid regular expression.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let ImageTag { image_tag } = object.read()?;
        let (compat, specs) = (object.arena().compat(), object.specs()?);
        Ok(Stage::each(ImageTagTransformer::new(compat, &[image_tag], specs, object.pos())?))
    }

    /// Sorts and compiles the names of the entries.
    ///
    /// # Errors
    /// A name is not a valid regular expression.
    fn new(compat: Compat, images: &[Image<'a>], specs: FieldSpecs<'a>, pos: Pos) -> Result<Self> {
        let names = ImageNames::new(compat, images.iter().map(|image| image.name)).map_err(|(entry, e)| {
            let image = &images[entry];
            Error::new(Code::BadPattern, format!("in the image name '{}': {e}", image.name))
                .at(image.pos)
                .hint("write the name of the image without its tag; '\\' in front of a sign means the sign itself")
        })?;
        let hits = images.iter().map(|_| Hit::default()).collect();
        let set_at = images.iter().map(Image::set_at).map(|at| if at.is_in_source() { at } else { pos }).collect();
        Ok(ImageTagTransformer {
            images: images.to_vec(),
            names,
            hits,
            specs,
            set_at,
            overridden: None,
            united: Mutex::default(),
        })
    }
}

impl<'a> ImageEditor<'_, 'a> {
    /// The text that an image becomes if each entry works on it `times` times; `None` if no entry
    /// matches. Two images that become the same text share the rest of their way.
    fn outcome(&mut self, image: &'a str, times: usize) -> Option<Outcome<'a>> {
        let (arena, stage) = (self.arena, self.stage);
        let mut state = State { text: image, entry: 0, times, left: times };
        let (mut way, mut by) = (Vec::new(), None);
        let end = loop {
            if let Some(known) = self.outcomes.get(&state) {
                break *known;
            }
            way.push(state);
            let Some(entry) = stage.names.next(state.text, state.entry) else { break None };
            stage.hits[entry].note();
            let left = if entry == state.entry { state.left } else { times };
            let text = arena.text(&rewrite(state.text, &stage.images[entry]));
            by = by.filter(|_| text == state.text).or(Some(entry));
            let (entry, left) = if left > 1 { (entry, left - 1) } else { (entry + 1, times) };
            state = State { text, entry, left, ..state };
        };
        let last = by.map(|by| Outcome { text: state.text, by });
        let outcome_of = |passed: State<'a>| if passed == state { end } else { end.or(last) };
        self.outcomes.extend(way.iter().map(|&passed| (passed, outcome_of(passed))));
        way.first().map_or(end, |&first| outcome_of(first))
    }

    fn set(&mut self, node: &mut Node<'a>, times: usize) -> Result<()> {
        let shape = node.shape();
        match node.value() {
            // A null counts as the text that it is written with.
            Value::Scalar(s) => {
                if let Some(Outcome { text, by }) = self.outcome(s.text(), times) {
                    node.set_text(text, Tag::Untyped, self.stage.set_at[by]);
                }
            }
            _ => {
                return Err(Error::new(
                    Code::WrongType,
                    format!("wrong node kind: expected an image text, found {shape}"),
                )
                .at(node.pos()));
            }
        }
        Ok(())
    }

    /// Notes the tag of an image that a patch has given to a container, if it becomes another one.
    /// A container that the patch has made needs an image, and may say any tag.
    fn note_tag(&mut self, container: &Mapping<'a>, overridden: &Overridden, times: usize) {
        let Some(entry) = container.iter().find(|entry| entry.key().text() == "image") else { return };
        let Some(image) = entry.value().as_scalar().map(|scalar| scalar.text()) else { return };
        let is_of_patch = |pos| overridden.patches.contains(pos);
        if !is_of_patch(entry.value().pos()) || is_of_patch(entry.key().pos()) {
            return;
        }
        let version =
            |image: &'a str| Some(split(image)).map(|(_, tag, digest)| (tag, digest)).filter(|v| *v != ("", ""));
        if let (Some(old), Some(new)) =
            (version(image), self.outcome(image, times).and_then(|outcome| version(outcome.text)))
            && old != new
        {
            overridden.note(entry.value().pos());
        }
    }

    /// The first pass: lists of containers, wherever they stand. `keys` is the way here.
    fn containers(&mut self, node: &mut Node<'a>, keys: &mut Vec<&'a str>, specs: &[&[Step<'a>]]) -> Result<()> {
        match node.value_mut() {
            ValueMut::Scalar(_) => Ok(()),
            ValueMut::Sequence(items) => items.iter_mut().try_for_each(|item| self.containers(item, keys, specs)),
            ValueMut::Mapping(m) => m.try_for_each(|key, value| {
                if value.as_scalar().is_some() {
                    return Ok(());
                }
                keys.push(key.text());
                if is_container_list(key.text())
                    && let ValueMut::Sequence(items) = value.value_mut()
                {
                    let again = specs.iter().filter(|path| leads_to_images_of(path, keys)).count();
                    items.iter_mut().try_for_each(|item| self.container(item, 1 + again))?;
                }
                self.containers(value, keys, specs)?;
                keys.pop();
                Ok(())
            }),
        }
    }

    fn container(&mut self, item: &mut Node<'a>, times: usize) -> Result<()> {
        if item.is_null() {
            return Ok(());
        }
        let (shape, pos) = (item.shape(), item.pos());
        let Some(m) = item.as_mapping_mut() else {
            return Err(Error::new(Code::WrongType, format!("wrong node kind: expected a container, found {shape}"))
                .at(pos)
                .hint("write containers as a list of mappings, each with 'name' and 'image'"));
        };
        if let Some(overridden) = &self.stage.overridden {
            self.note_tag(m, overridden, times);
        }
        let Some(image) = m.get_mut("image") else { return Ok(()) };
        let (old, pos) = (image.as_scalar().map(|scalar| scalar.text()), image.pos());
        self.set(image, times)?;
        if self.stage.overridden.is_some()
            && let (Some(old), Some(new)) = (old, image.as_scalar().map(|scalar| scalar.text()))
            && old != new
        {
            self.seen.push(SeenImage { old, new, pos });
        }
        Ok(())
    }
}

impl<'a> TransformEach<'a> for ImageTagTransformer<'a> {
    fn editor(&self, arena: Arena<'a>) -> Editor<'_, 'a> {
        let mut editor = ImageEditor {
            stage: self,
            arena,
            outcomes: FastMap::default(),
            paths: Vec::new(),
            keys: Vec::new(),
            seen: Vec::new(),
        };
        Box::new(move |resource| editor.edit(resource))
    }

    fn check(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        build.find(|| {
            let unused = self.images.iter().zip(&self.hits).filter(|(_, hit)| !hit.is_noted());
            let unused: Vec<&Image<'a>> = unused.map(|(image, _)| image).collect();
            let names = if unused.is_empty() { ImagesHere::default() } else { ImagesHere::of(map) };
            unused.into_iter().enumerate().map(move |(nth, image)| {
                let message = format!("no image is named '{}': the entry changes nothing", image.name);
                let finding = Warning::new(Code::NoEffect, message).at(image.pos);
                if nth < similar::MOST_ADVISED { finding.hint(meant(image.name, &names)) } else { finding }
            })
        });
        let message = "the tag of this image is not in the output: 'images' replaces it";
        let overridden = self.overridden.iter().flat_map(|overridden| overridden.findings(map, message));
        build.find(|| overridden);
        let places = Places::new(build.arena.heap());
        build.find(|| {
            let united = self.united.lock().unwrap_or_else(PoisonError::into_inner);
            united.iter().map(|(entry, united)| self.finding(*entry, united, &places)).collect::<Vec<_>>()
        });
        Ok(())
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(self)
    }
}

/// The findings about entries whose tag or digest a later entry with the same name replaces.
/// O(entries).
fn replaced_entries(images: &[Image<'_>]) -> Vec<Warning> {
    let sets = |image: &Image<'_>| !image.new_tag.is_empty() || !image.digest.is_empty();
    let mut later: FastMap<&str, Pos> = FastMap::default();
    let mut found = Vec::new();
    for image in images.iter().rev().filter(|image| sets(image)) {
        // 'newName' renames the image, so that the later entry does not meet it.
        if later.contains_key(image.name) && image.new_name.is_empty() {
            let message = format!("this tag of '{}' is not in the output: a later entry has the same name", image.name);
            found.push(Warning::new(Code::Overridden, message).at(image.set_at()).hint("remove one of the two"));
        }
        later.entry(image.name).or_insert(image.pos);
    }
    found.reverse();
    found
}

/// At most this many names of images are listed in a hint.
const LISTED: usize = 5;

/// The advice about an entry whose name no image has.
fn meant(name: &str, images: &ImagesHere<'_>) -> String {
    let names = &images.names;
    if let Some((kind, path)) = images.elsewhere.get(name) {
        return format!(
            "'{path}' of a {kind} has it: list a file under 'configurations' with: images: [{{kind: {kind}, path: {path}}}]"
        );
    }
    if let Some(near) = nearest(name, names.iter().copied()) {
        return format!("did you mean '{near}'?");
    }
    // People leave the registry out, or the tag in.
    let last = |name: &str| split(name).0.rsplit('/').next().unwrap_or_default().to_owned();
    if let Some(same) = names.iter().find(|known| last(known) == last(name)) {
        return format!("did you mean '{same}'?");
    }
    let some: Vec<&str> = names.iter().take(LISTED).copied().collect();
    match (some.is_empty(), names.len() - some.len()) {
        (true, _) => "no resource here has an image".to_owned(),
        (false, 0) => format!("the images here are: {}", some.join(", ")),
        (false, more) => format!("the images here are: {} and {more} more", some.join(", ")),
    }
}

/// The images of resources, for the advice about names that none of them has.
#[derive(Default)]
struct ImagesHere<'m> {
    /// The names in all fields `image`.
    names: BTreeSet<&'m str>,
    /// The kind and the path of a field outside of containers, by the name of its image: no entry
    /// reaches it without a field spec.
    elsewhere: BTreeMap<&'m str, (&'m str, String)>,
}

impl<'m> ImagesHere<'m> {
    /// The images of all resources. O(size of the resources).
    fn of(map: &'m ResMap<'_>) -> Self {
        let mut images = ImagesHere::default();
        for resource in map.iter() {
            images.add(resource.node(), resource.id().gvk.kind, &mut Vec::new());
        }
        images
    }

    /// Adds the images below a node. `way` has the fields that lead to it from the resource.
    fn add(&mut self, node: &'m Node<'_>, kind: &'m str, way: &mut Vec<&'m str>) {
        match node.value() {
            Value::Mapping(fields) => {
                for field in fields.iter() {
                    let key = field.key().text();
                    way.push(key);
                    match field.value().as_scalar() {
                        Some(image) if key == "image" => self.add_image(split(image.text()).0, kind, way),
                        Some(_) => {}
                        None => self.add(field.value(), kind, way),
                    }
                    way.pop();
                }
            }
            Value::Sequence(items) => items.iter().for_each(|item| self.add(item, kind, way)),
            Value::Scalar(_) => {}
        }
    }

    fn add_image(&mut self, name: &'m str, kind: &'m str, way: &[&str]) {
        self.names.insert(name);
        let is_of_container = way.len() > 1 && is_container_list(way[way.len() - 2]);
        if !is_of_container {
            let path = || way.iter().map(|key| key.replace('/', "\\/")).collect::<Vec<_>>().join("/");
            self.elsewhere.entry(name).or_insert_with(|| (kind, path()));
        }
    }
}

impl<'a> ImageTagTransformer<'a> {
    /// Notes the images of a resource that had different tags, and have the same now. O(images).
    fn note_united(&self, resource: &Resource<'a>, seen: &[SeenImage<'a>]) {
        let mut first: FastMap<(&str, &str), SeenImage<'a>> = FastMap::default();
        for image in seen {
            let (name, tag, digest) = split(image.old);
            if (tag, digest) == ("", "") {
                continue;
            }
            let known = *first.entry((name, image.new)).or_insert(*image);
            if known.old == image.old {
                continue;
            }
            let Some(entry) = self.names.next(image.old, 0) else { continue };
            let united = United {
                resource: resource.id().to_string(),
                images: [known.old.to_owned(), image.old.to_owned()],
                places: [known.pos, image.pos],
                now: image.new.to_owned(),
            };
            let mut all = self.united.lock().unwrap_or_else(PoisonError::into_inner);
            // The result is the same in any order of the threads.
            match all.get(&entry) {
                Some(known) if *known <= united => {}
                _ => drop(all.insert(entry, united)),
            }
        }
    }

    /// The finding about an entry that makes the tags of two containers the same.
    fn finding(&self, entry: usize, united: &United, places: &Places<'_>) -> Warning {
        let United { resource, images, places: at, now } = united;
        let shown = |i: usize| match places.place(at[i]) {
            Some(place) => format!("'{}' ({place})", images[i]),
            None => format!("'{}'", images[i]),
        };
        let message =
            format!("two containers of one resource get the same image '{now}': {} and {}", shown(0), shown(1));
        let hint = format!("write an entry for each, whose name has the tag, as in name: '{}'", images[0]);
        let pos = self.images.get(entry).map_or(Pos::NONE, |image| image.pos);
        Warning::new(Code::DifferentTags, message).at(pos).in_resource(resource).hint(hint)
    }
}

impl Overriding for ImageTagTransformer<'_> {
    fn watched(&self) -> Watched {
        Watched::All
    }

    fn note_in(&mut self, overridden: Overridden) {
        self.overridden = Some(overridden);
    }
}

impl<'a> ImageEditor<'_, 'a> {
    fn edit(&mut self, resource: &mut Resource<'a>) -> Result<()> {
        let id = *resource.id();
        if id.gvk.kind == "CustomResourceDefinition" {
            return Ok(());
        }
        let (mut paths, mut keys) = (take(&mut self.paths), take(&mut self.keys));
        paths.clear();
        paths.extend(self.stage.specs.for_node(id.gvk, resource.node()).map(|(_, path)| path));
        let node = resource.node_mut();
        let in_object = |e: Error| e.in_resource(id).context(format!("changing the images of object {id}"));
        self.containers(node, &mut keys, &paths).map_err(in_object)?;
        paths.iter().try_for_each(|path| self.field(node, path)).map_err(in_object)?;
        (self.paths, self.keys) = (paths, keys);
        if self.seen.len() > 1 {
            self.stage.note_united(resource, &self.seen);
        }
        self.seen.clear();
        Ok(())
    }

    /// The second pass, for one spec. Lists of containers are done already.
    fn field(&mut self, node: &mut Node<'a>, path: &[Step<'a>]) -> Result<()> {
        let edit = &mut |node: &mut Node<'a>| self.set(node, 1);
        match path {
            [.., list, image] if image.key == "image" && is_container_list(list.key) => {
                let way = &path[..path.len() - 1];
                walk(node, way, Create::No, &mut |found| match found.value() {
                    Value::Sequence(_) => Ok(()),
                    // Any other value is an image, as the spec says.
                    _ => walk(found, std::slice::from_ref(image), Create::No, edit),
                })
            }
            _ => walk(node, path, Create::No, edit),
        }
    }
}

/// The entries of `images` in a kustomization file, for commands that say which of them sets a tag.
#[derive(Debug)]
pub struct ImageEntries<'a> {
    /// Those of `images`, then those of `imageTags`.
    pub entries: Vec<Image<'a>>,
    /// For each entry: the position of its digest, or else of its tag.
    pub tags: Vec<Pos>,
    names: ImageNames<'a>,
}

impl<'a> ImageEntries<'a> {
    /// The entries of a kustomization; `None` if a name is not a valid pattern. The letter case of
    /// keys is ignored, as by kustomize. O(size of the entries).
    pub fn of(arena: Arena<'a>, kustomization: &Node<'a>) -> Option<Self> {
        let get = |node: &Node<'a>, key: &str| {
            let mut entries = node.as_mapping()?.iter();
            entries.find(|entry| entry.key().text().eq_ignore_ascii_case(key)).map(|entry| entry.value().clone())
        };
        let lists = ["images", "imageTags"].into_iter().filter_map(|field| get(kustomization, field));
        let (mut entries, mut tags) = (Vec::new(), Vec::new());
        for item in lists.filter_map(|list| list.into_sequence().ok()).flat_map(|list| list.into_items()) {
            let value = |key| get(&item, key).filter(|value| !value.is_null());
            let text = |key| value(key).and_then(|value| Some(value.as_scalar()?.text())).unwrap_or_default();
            let image = Image {
                name: text("name"),
                new_name: text("newName"),
                tag_suffix: text("tagSuffix"),
                new_tag: text("newTag"),
                digest: text("digest"),
                pos: item.pos(),
                ..Image::default()
            };
            let tag = ["digest", "newTag", "tagSuffix"].into_iter().find_map(value);
            tags.push(tag.map_or(item.pos(), |tag| tag.pos()));
            entries.push(image);
        }
        let names = ImageNames::new(arena.compat(), entries.iter().map(|image| image.name)).ok()?;
        Some(ImageEntries { entries, tags, names })
    }

    /// The entries that work on an image, in order, and the image that they make of it. O(entries
    /// of that image).
    pub fn way(&self, image: &str) -> (Vec<usize>, String) {
        let (mut text, mut way, mut from) = (image.to_owned(), Vec::new(), 0);
        while let Some(entry) = self.names.next(&text, from) {
            text = rewrite(&text, &self.entries[entry]);
            way.push(entry);
            from = entry + 1;
        }
        (way, text)
    }
}

/// Returns true for an entry that decides the tag or the digest of an image.
pub fn decides_tag(image: &Image<'_>) -> bool {
    !(image.new_tag.is_empty() && image.digest.is_empty() && image.tag_suffix.is_empty())
}

/// Returns true for the key of a list of containers.
pub fn is_container_list(key: &str) -> bool {
    matches!(key, "containers" | "initContainers")
}

/// Returns true if a spec's path is that of the images of the container list at `keys`.
fn leads_to_images_of(path: &[Step<'_>], keys: &[&str]) -> bool {
    path.len() == keys.len() + 1
        && path[keys.len()].key == "image"
        && path.iter().zip(keys).all(|(step, key)| step.key == *key)
}

/// Name, tag and digest of an image text.
pub fn split(image: &str) -> (&str, &str, &str) {
    let from = image.find('/').filter(|&i| i > 0).map_or(0, |i| i + 1);
    let (rest, digest) = image[from..].split_once('@').map_or((&image[from..], ""), |(rest, digest)| (rest, digest));
    let (name, tag) = rest.split_once(':').unwrap_or((rest, ""));
    (&image[..from + name.len()], tag, digest)
}

fn rewrite(image: &str, rule: &Image<'_>) -> String {
    let (name, old_tag, old_digest) = split(image);
    let name = if rule.new_name.is_empty() { name } else { rule.new_name };
    let suffixed = format!("{old_tag}{}", rule.tag_suffix);
    let (tag, digest) = match (rule.new_tag, rule.digest) {
        (tag, digest) if !tag.is_empty() && !digest.is_empty() => (tag, digest),
        (tag, "") if !tag.is_empty() => (tag, ""),
        ("", digest) if !digest.is_empty() => ("", digest),
        _ if !rule.tag_suffix.is_empty() => (suffixed.as_str(), ""),
        _ => (old_tag, old_digest),
    };
    let mut text = name.to_owned();
    for (mark, part) in [(':', tag), ('@', digest)] {
        if !part.is_empty() {
            text.push(mark);
            text.push_str(part);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting() {
        assert_eq!(split("nginx:1@sha256:abc"), ("nginx", "1", "sha256:abc"));
        assert_eq!(split("h:80/a/b:1"), ("h:80/a/b", "1", ""));
        assert_eq!(split("nginx"), ("nginx", "", ""));
    }

    #[test]
    fn the_way_of_an_image() {
        let heap = rustomize_yaml::Heap::new();
        let arena = heap.arena();
        let text = "Images:\n- {name: web, newName: reg:5000/web}\n- name: reg:5000/web\n  newTag: '2'\n\
                    imageTags: [{name: db, digest: 'sha256:a'}, {name: 'd.', newTag: 3}]\n";
        let document = rustomize_yaml::first_document(arena, arena.add_source("k", text.to_owned())).unwrap().unwrap();
        let entries = ImageEntries::of(arena, &document).unwrap();
        let way = |image| entries.way(image);
        assert_eq!(way("web:1"), (vec![0, 1], "reg:5000/web:2".to_owned()));
        assert_eq!(way("db"), (vec![2, 3], "db:3".to_owned()));
        assert_eq!(way("other:1"), (vec![], "other:1".to_owned()));
        let lines: Vec<usize> = entries.tags.iter().map(|&tag| arena.place(tag).unwrap().line).collect();
        assert_eq!(lines, [2, 4, 5, 5]);
        assert_eq!(entries.entries.iter().map(decides_tag).collect::<Vec<_>>(), [false, true, true, true]);
    }

    #[test]
    fn rewriting() {
        let rule = |f: fn(&mut Image<'static>)| {
            let mut image = Image::default();
            f(&mut image);
            image
        };
        assert_eq!(rewrite("nginx:1", &rule(|i| i.new_tag = "2")), "nginx:2");
        assert_eq!(rewrite("nginx:1@sha256:a", &rule(|i| i.new_name = "x/y")), "x/y:1@sha256:a");
        assert_eq!(rewrite("nginx:1", &rule(|i| i.digest = "sha256:b")), "nginx@sha256:b");
        assert_eq!(rewrite("nginx", &rule(|i| i.tag_suffix = "-s")), "nginx:-s");
    }
}
