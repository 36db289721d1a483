//! Resources to bytes and back, as upstream's plugins see them: with the annotations in which
//! upstream keeps the notes of a build. They are written and read here and nowhere else.

use super::{Build, documents_to_resources, scoped_resources_in};
use crate::diag::{Code, Error, Result};
use crate::resource::{
    Behavior, BuildNotes, HELM_GENERATED, NEEDS_HASH, NEEDS_HASH_SUFFIX, ORIGIN, PreviousId, ResId, ResMap, Resource,
    TRANSFORMATIONS, Taken, print_one,
};
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Arena, Heap, Malformed, Mapping, Node, Scalar, Source, documents, emit, json};

const PREVIOUS_KINDS: &str = "internal.config.kubernetes.io/previousKinds";
const PREVIOUS_NAMES: &str = "internal.config.kubernetes.io/previousNames";
const PREVIOUS_NAMESPACES: &str = "internal.config.kubernetes.io/previousNamespaces";
const PREFIXES: &str = "internal.config.kubernetes.io/prefixes";
const SUFFIXES: &str = "internal.config.kubernetes.io/suffixes";
const GENERATOR_BEHAVIOR: &str = "internal.config.kubernetes.io/generatorBehavior";
/// The names of the variables whose values a resource has. Upstream keeps them beside the resource,
/// which a shared object of its own gets as it is.
const REF_BY: &str = "internal.config.kubernetes.io/refBy";
const ALLOW_NAME_CHANGE: &str = "internal.config.kubernetes.io/allowNameChange";
const ALLOW_KIND_CHANGE: &str = "internal.config.kubernetes.io/allowKindChange";
const ID: &str = "kustomize.config.k8s.io/id";
const BEHAVIOR: &str = "kustomize.config.k8s.io/behavior";

/// Prints a configuration object for a plugin, with its build annotations if it has any.
///
/// # Errors
/// The resource cannot be printed.
pub fn print_config(arena: Arena<'_>, config: &Resource<'_>) -> Result<String> {
    let mut text = String::new();
    print_one(arena.others(), &annotated_config(arena, config)?, &mut text)?;
    Ok(text)
}

/// A configuration object with its build annotations, if it has any.
///
/// # Errors
/// The id cannot be printed.
pub(super) fn annotated_config<'a>(arena: Arena<'a>, config: &Resource<'a>) -> Result<Resource<'a>> {
    let mut config = config.clone();
    annotate(arena, &mut config, Ids::Without)?;
    Ok(config)
}

/// Resources whose annotations share one piece of memory, which is freed before the next ones get
/// theirs.
const CHUNK: usize = 256;

/// True if each resource is printed with the annotation that holds its id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// Printed resources find their places by it.
    With,
    /// Printed resources keep the order of the output.
    Without,
}

/// Prints resources for a transformer, and frees each when it is printed: the output of the plugin
/// replaces them. O(size).
///
/// # Errors
/// A resource cannot be printed.
pub fn print<'a>(arena: Arena<'a>, resources: impl Iterator<Item = Resource<'a>>, ids: Ids) -> Result<String> {
    let mut text = String::new();
    // Memory that is not written to costs nothing. Where it is short, the text grows.
    let _ = text.try_reserve_exact(2 * arena.size());
    print_each(arena, resources, ids, &mut |printed| {
        text.push_str(if text.is_empty() { "" } else { "---\n" });
        text.push_str(printed);
    })?;
    Ok(text)
}

/// Prints resources one by one, as [`print()`] does.
///
/// # Errors
/// A resource cannot be printed.
pub fn print_each<'a>(
    arena: Arena<'a>,
    resources: impl Iterator<Item = Resource<'a>>,
    ids: Ids,
    each: &mut dyn FnMut(&str),
) -> Result<()> {
    let mut text = String::new();
    annotate_each(resources, ids, &mut |resource| {
        text.clear();
        print_one(arena.others(), resource, &mut text)?;
        each(&text);
        Ok(())
    })
}

/// Hands resources with their build annotations to `each`, and frees each one afterwards.
///
/// # Errors
/// The errors of `each`, or an id cannot be printed.
pub(super) fn annotate_each<'a>(
    resources: impl Iterator<Item = Resource<'a>>,
    ids: Ids,
    each: &mut dyn FnMut(&Resource<'_>) -> Result<()>,
) -> Result<()> {
    let mut rest = resources.peekable();
    while rest.peek().is_some() {
        let heap = Heap::new();
        let scratch = heap.arena();
        for mut resource in rest.by_ref().take(CHUNK) {
            annotate(scratch, &mut resource, ids)?;
            if ids == Ids::Without {
                annotate_vars(scratch, &mut resource);
            }
            each(&resource)?;
        }
    }
    Ok(())
}

fn annotate<'a>(arena: Arena<'a>, resource: &mut Resource<'a>, ids: Ids) -> Result<()> {
    let mut added = build_annotations(arena, resource, &|_| true);
    if ids == Ids::With {
        added.push((ID, arena.text(&id_text(resource.id())?)));
    }
    if added.is_empty() {
        return Ok(());
    }
    if let Some(metadata) = resource.metadata_mut() {
        crate::resource::stringify(metadata, "annotations");
        put_annotations(metadata, added);
    }
    Ok(())
}

/// Notes the variables whose values the resource has; one without a name is not noted.
fn annotate_vars<'a>(arena: Arena<'a>, resource: &mut Resource<'a>) {
    let names = || resource.vars().iter().copied().filter(|name| !name.is_empty());
    if names().next().is_some() {
        let text = arena.text(&join(names()));
        resource.add_metadata_entries("annotations", [(REF_BY, text.into())]);
    }
}

/// Lets `edit` change a resource as upstream's transformers see it: with the annotations that hold
/// the notes of the build. Changes of the annotations that upstream calls internal are undone
/// afterwards; an origin or transformations that `edit` has changed stay annotations, and are read
/// from there. Annotations for which `sees` is false have empty texts, because the texts may be
/// long. O(texts that are seen), beside `edit`.
///
/// # Errors
/// The errors of `edit`.
pub fn with_build_annotations<'a>(
    arena: Arena<'a>,
    resource: &mut Resource<'a>,
    sees: &dyn Fn(&str) -> bool,
    edit: impl FnOnce(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let added = build_annotations(arena, resource, sees);
    if added.is_empty() {
        return edit(resource.node_mut());
    }
    let before = added.clone();
    if let Some(metadata) =
        resource.node_mut().as_mapping_mut().and_then(|m| crate::resource::mapping_in(m, "metadata"))
    {
        put_annotations(metadata, added);
    }
    edit(resource.node_mut())?;
    let metadata = resource.node_mut().as_mapping_mut().and_then(|m| m.get_mut("metadata"));
    let annotations = metadata.and_then(Node::as_mapping_mut).and_then(|m| m.get_mut("annotations"));
    let (mut is_same_origin, mut are_same_transformations) = (false, false);
    if let Some(annotations) = annotations.and_then(Node::as_mapping_mut) {
        for (key, text) in before {
            let is_same = annotations.get(key).is_some_and(|node| node.as_scalar().is_some_and(|s| s.text() == text));
            match key {
                ORIGIN => is_same_origin = is_same,
                TRANSFORMATIONS => are_same_transformations = is_same,
                _ => {}
            }
            if is_same || !matches!(key, ORIGIN | TRANSFORMATIONS) {
                annotations.remove(key);
            }
        }
    }
    if resource.notes().is_some() {
        let notes = resource.notes_mut();
        if !is_same_origin {
            notes.origin = None;
        }
        if !are_same_transformations {
            notes.transformations.clear();
        }
    }
    Ok(())
}

fn put_annotations<'a>(metadata: &mut Mapping<'a>, added: Vec<(&'a str, &'a str)>) {
    if let Some(annotations) = crate::resource::mapping_in(metadata, "annotations") {
        for (key, value) in added {
            annotations.insert(key, json::fresh_string(value).into());
        }
    }
}

/// The build's notes about a resource, in the annotations that upstream uses for them; without
/// texts where `sees` is false.
fn build_annotations<'a>(
    arena: Arena<'a>,
    resource: &Resource<'a>,
    sees: &dyn Fn(&str) -> bool,
) -> Vec<(&'a str, &'a str)> {
    let mut added: Vec<(&'a str, &'a str)> = Vec::new();
    let mut add = |key: &'static str, text: &dyn Fn() -> String| {
        added.push((key, if sees(key) { arena.text(&text()) } else { "" }));
    };
    let previous = resource.previous();
    let mut add_previous = |key: &'static str, part: fn(&PreviousId<'a>) -> &'a str| {
        // A manifest may have one of the three by hand. kustomize writes no empty text itself.
        if previous.len() > 1 || previous.first().is_some_and(|first| !part(first).is_empty()) {
            add(key, &|| join(previous.iter().map(part)));
        }
    };
    add_previous(PREVIOUS_KINDS, |p| p.kind);
    add_previous(PREVIOUS_NAMES, |p| p.name);
    add_previous(PREVIOUS_NAMESPACES, |p| p.namespace);
    for (key, affixes) in [(PREFIXES, resource.prefixes()), (SUFFIXES, resource.suffixes())] {
        if !affixes.is_empty() {
            add(key, &|| join(affixes.iter().copied()));
        }
    }
    if let Some(behavior) = resource.behavior {
        add(GENERATOR_BEHAVIOR, &|| behavior.as_str().to_owned());
    }
    if resource.needs_hash {
        add(NEEDS_HASH_SUFFIX, &|| "enabled".to_owned());
    }
    if let Some(notes) = resource.notes() {
        if let Some(origin) = notes.origin {
            add(ORIGIN, &|| origin.to_owned());
        }
        if !notes.transformations.is_empty() {
            add(TRANSFORMATIONS, &|| notes.transformations_text());
        }
        if notes.helm_generated {
            add(HELM_GENERATED, &|| "true".to_owned());
        }
        let allowed = [(ALLOW_NAME_CHANGE, notes.allows_name_change), (ALLOW_KIND_CHANGE, notes.allows_kind_change)];
        added.extend(allowed.into_iter().filter(|(_, is_allowed)| *is_allowed).map(|(key, _)| (key, "enabled")));
    }
    added
}

fn join<'t>(parts: impl Iterator<Item = &'t str>) -> String {
    parts.collect::<Vec<_>>().join(",")
}

/// The current id as the text of a mapping.
fn id_text(id: &ResId<'_>) -> Result<String> {
    let mut text = String::with_capacity(128);
    let fields = [
        ("group", id.gvk.group),
        ("kind", id.gvk.kind),
        ("name", id.name),
        ("namespace", id.namespace),
        ("version", id.gvk.version),
    ];
    for (key, value) in fields {
        if !value.is_empty() {
            text.push_str(key);
            text.push_str(": ");
            emit::scalar(&mut text, &Scalar::string(value)).map_err(|e| Error::new(Code::NotYaml, e.message))?;
            text.push('\n');
        }
    }
    Ok(text)
}

/// Reads the documents that a plugin printed. `name` is the name of the text in errors, which show
/// the plugin's own lines.
///
/// # Errors
/// The output is not valid UTF-8 or not valid YAML.
pub fn read<'a>(arena: Arena<'a>, name: String, bytes: Vec<u8>) -> Result<Vec<Node<'a>>> {
    documents(arena, source(arena, name, bytes)?).map_err(malformed)
}

fn source<'a>(arena: Arena<'a>, name: String, bytes: Vec<u8>) -> Result<&'a Source> {
    let text = String::from_utf8(bytes).map_err(|e| {
        let message = format!("{name} is not valid UTF-8 at byte {}", e.utf8_error().valid_up_to());
        Error::new(Code::BadOutput, message)
    })?;
    Ok(arena.add_source(name, text))
}

fn malformed(m: Malformed) -> Error {
    Error::from(m).with_code(Code::BadOutput).prefixed("the output of the plugin is not YAML: ")
}

/// Makes resources of the output of a plugin.
///
/// # Errors
/// A document is not a resource.
pub fn resources<'a>(build: &mut Build<'a>, nodes: Vec<Node<'a>>) -> Result<Vec<Resource<'a>>> {
    documents_to_resources(build, nodes).map_err(in_output)
}

/// Reads the output of a plugin, and makes resources of it.
///
/// # Errors
/// The output is not valid UTF-8 or YAML, or a document is not a resource.
pub fn parse<'a>(build: &mut Build<'a>, name: String, bytes: Vec<u8>) -> Result<Vec<Resource<'a>>> {
    let source = source(build.arena, name, bytes)?;
    scoped_resources_in(build, source, malformed).map_err(in_output)
}

fn in_output(e: Error) -> Error {
    e.context("reading what the plugin printed")
}

/// Removes the options that generators write into the annotations of their resources.
///
/// # Errors
/// As [`take_generator_options`].
pub fn generated<'a>(build: &mut Build<'a>, mut resources: Vec<Resource<'a>>) -> Result<Vec<Resource<'a>>> {
    for resource in &mut resources {
        if let Some(warning) = take_generator_options(resource)? {
            build.warn(Code::PluginMessage, warning);
        }
    }
    Ok(resources)
}

/// Removes the options that a generator may set in the annotations of its resources.
///
/// # Errors
/// `needs-hash` is not a boolean.
pub fn take_generator_options(resource: &mut Resource<'_>) -> Result<Option<String>> {
    let mut warning = None;
    take_build_annotations(resource);
    if let Some(value) = resource.take_annotation(NEEDS_HASH) {
        resource.needs_hash = match value.text() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
            "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
            other => {
                let message = format!("the annotation \"{NEEDS_HASH}\" contains an invalid value (\"{other}\")");
                let error = Error::new(Code::BadOutput, message).at(resource.pos());
                return Err(error.hint("it is \"true\" or \"false\""));
            }
        };
    }
    let behavior = resource.take_annotation(BEHAVIOR).map(|value| value.text());
    if let Some(other) = behavior
        && Behavior::parse(other) == Behavior::Unspecified
    {
        warning =
            Some(format!("the annotation \"{BEHAVIOR}\" of {} is \"{other}\", which counts as none", resource.id()));
    }
    resource.behavior = Some(Behavior::parse(behavior.unwrap_or_default()));
    Ok(warning)
}

/// Reads the build annotations that a plugin passed on, and removes them. All annotations become
/// text. O(annotations).
fn take_build_annotations(resource: &mut Resource<'_>) {
    let annotations = resource.node_mut().as_mapping_mut().and_then(|m| m.get_mut("metadata"));
    let Some(metadata) = annotations.and_then(Node::as_mapping_mut) else { return };
    crate::resource::stringify(metadata, "annotations");
    let Some(annotations) = metadata.get_mut("annotations").and_then(Node::as_mapping_mut) else { return };
    let [mut kinds, mut names, mut namespaces, mut prefixes, mut suffixes] = [""; 5];
    let (mut behavior, mut needs_hash) = (None, false);
    let mut notes = BuildNotes::default();
    let mut is_noted = false;
    annotations.retain(|key, value| {
        let text = value.scalar_text();
        match key.text() {
            ID => {}
            PREVIOUS_KINDS => kinds = text,
            PREVIOUS_NAMES => names = text,
            PREVIOUS_NAMESPACES => namespaces = text,
            PREFIXES => prefixes = text,
            SUFFIXES => suffixes = text,
            GENERATOR_BEHAVIOR => behavior = Some(Behavior::parse(text)),
            NEEDS_HASH_SUFFIX => needs_hash = text == "enabled",
            ORIGIN => notes.origin = Some(text),
            TRANSFORMATIONS => notes.transformations.push((text, 1)),
            HELM_GENERATED => notes.helm_generated = true,
            ALLOW_NAME_CHANGE => notes.allows_name_change = true,
            ALLOW_KIND_CHANGE => notes.allows_kind_change = true,
            _ => return true,
        }
        is_noted |=
            matches!(key.text(), ORIGIN | TRANSFORMATIONS | HELM_GENERATED | ALLOW_NAME_CHANGE | ALLOW_KIND_CHANGE);
        false
    });
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    if is_noted {
        *resource.notes_mut() = notes;
    }
    let ids = kinds.split(',').zip(names.split(',')).zip(namespaces.split(','));
    let counts = [kinds, names, namespaces].map(|list| list.split(',').count());
    if !kinds.is_empty() && counts == [counts[0]; 3] {
        resource.set_previous(ids.map(|((kind, name), namespace)| PreviousId { kind, name, namespace }).collect());
    }
    if !prefixes.is_empty() {
        resource.set_prefixes(prefixes.split(','));
    }
    if !suffixes.is_empty() {
        resource.set_suffixes(suffixes.split(','));
    }
    (resource.behavior, resource.needs_hash) = (behavior, needs_hash);
}

/// The map after a transformer. A printed resource replaces the one with its id, and keeps its
/// variables. Resources with a new id are appended, and resources that were not printed are
/// removed. O(n).
///
/// # Errors
/// Two of the printed resources have one id.
pub fn merge_output<'a>(old: &Taken<'a>, mut printed: Vec<Resource<'a>>, plugin: &str) -> Result<ResMap<'a>> {
    let Taken { places: old, vars } = old;
    let mut keys: Vec<u32> = Vec::with_capacity(printed.len());
    let mut taken = vec![false; old.len()];
    let mut appended: FastMap<ResId<'a>, ()> = FastMap::default();
    for resource in &mut printed {
        take_build_annotations(resource);
        let id = *resource.id();
        let (key, is_new) = match old.get(&id) {
            Some(&i) => (i, !std::mem::replace(&mut taken[i as usize], true)),
            None => ((old.len() + appended.len()) as u32, appended.insert(id, ()).is_none()),
        };
        if !is_new {
            let error = Error::new(Code::BadOutput, format!("plugin {plugin} generated duplicate resource: {id}"))
                .hint("the plugin must print each resource once");
            return Err(error.at(resource.pos()));
        }
        if let Some(names) = vars.get(&key) {
            resource.notes_mut().vars.clone_from(names);
        }
        keys.push(key);
    }
    Ok(ResMap::by_keys(printed, &keys))
}

/// The map after a transformer whose output replaces all of it, in its order. O(n).
///
/// # Errors
/// Two of the printed resources have one id.
pub fn replace_by_output<'a>(arena: Arena<'a>, printed: Vec<Resource<'a>>, plugin: &str) -> Result<ResMap<'a>> {
    let mut map = ResMap::new();
    for mut resource in printed {
        take_build_annotations(&mut resource);
        if let Some(names) = resource.take_annotation(REF_BY) {
            resource.notes_mut().vars = names.text().split(',').collect();
        }
        map.append(arena, resource).map_err(|e| e.context(format!("reading what {plugin} printed")))?;
    }
    Ok(map)
}
