//! Build metadata: the origins and the transformers of resources, written into the output.
//!
//! *Fields*: `buildMetadata`.
//! *Reads*: the words `managedByLabel`, `originAnnotations` and `transformerAnnotations`; others
//! say nothing.
//! *Selects*: all resources.
//! *Writes*: the label `app.kubernetes.io/managed-by`, the annotations
//! `config.kubernetes.io/origin` and `alpha.config.kubernetes.io/transformations`.
//! *Order*: kept all along, written at the end. The root's list counts, not that of a base.
//! *Cost*: O(resources x transformers) for transformations, else O(resources).
//! *Quirks*: every transformer that ran while the resource was there is listed, whether it changed
//! it or not; commonLabels is listed as soon as there are `labels`.
//! *Example*: `testdata/reference/origin.txtar`

use super::Target;
use crate::config::{Decode, Decoder};
use crate::diag::{Code, Error, Result};
use crate::load::Root;
use crate::resource::{ORIGIN, ResMap, Resource, TRANSFORMATIONS};
use crate::stage::Build;
use rustomize_base::meter::FastMap;
use rustomize_yaml::{Node, Scalar, Value, emit, first_document};

/// The source of a resource, or of a change: a file, or a configuration in one.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    path: String,
    repo: String,
    reference: String,
    configured_in: String,
    /// apiVersion, kind, name and namespace of the configuration.
    configured_by: Option<[String; 4]>,
}

impl Origin {
    /// A file that a root names.
    pub(super) fn file(root: &Root, path: &str) -> Self {
        Origin { path: root.relative(path), ..Origin::of(root) }
    }

    fn of(root: &Root) -> Self {
        let (repo, reference) = root.remote().map_or_else(Default::default, |r| (r.url.clone(), r.reference.clone()));
        Origin { repo, reference, ..Origin::default() }
    }

    /// A built-in that a field of a kustomization asks for.
    pub(super) fn builtin(target: &Target<'_>, kind: &str) -> Self {
        let by = ["builtin".to_owned(), kind.to_owned(), String::new(), String::new()];
        Origin {
            configured_in: target.root.relative(&target.file_name),
            configured_by: Some(by),
            ..Origin::of(&target.root)
        }
    }

    /// The kind of the built-in or plugin.
    pub(super) fn tool(&self) -> &str {
        self.configured_by.as_ref().map_or("", |[_, kind, ..]| kind)
    }

    /// A plugin that a configuration object asks for. The object's own origin says where it was
    /// configured; an inline one was in the kustomization.
    pub(super) fn plugin(target: &Target<'_>, config: &Resource<'_>) -> Self {
        let mut origin = Origin::of(&target.root);
        origin.configured_in = match config.notes().and_then(|notes| notes.origin).and_then(path_of) {
            Some(path) => path,
            None => target.root.relative(&target.file_name),
        };
        let id = config.id();
        let api_version = config.node().get_text("apiVersion").unwrap_or_default();
        origin.configured_by = Some([api_version, id.gvk.kind, id.name, id.namespace].map(str::to_owned));
        origin
    }

    /// The text of the origin annotation.
    fn text(&self) -> Result<String> {
        self.printed("", "")
    }

    /// An item of the text of the transformations annotation.
    fn item(&self) -> Result<String> {
        self.printed("- ", "  ")
    }

    /// The fields, one a line: `first` is in front of the first one, and `next` of each other one.
    fn printed(&self, first: &str, next: &str) -> Result<String> {
        let mut lines: Vec<(&str, &str, &str)> = vec![
            ("", "path", &self.path),
            ("", "repo", &self.repo),
            ("", "ref", &self.reference),
            ("", "configuredIn", &self.configured_in),
        ];
        if let Some(by) = &self.configured_by {
            lines.push(("", "configuredBy", ""));
            let keys = ["apiVersion", "kind", "name", "namespace"];
            lines.extend(keys.into_iter().zip(by).map(|(key, value)| ("  ", key, value.as_str())));
        }
        lines.retain(|(_, key, value)| *key == "configuredBy" || !value.is_empty());
        let mut out = String::new();
        if lines.is_empty() {
            out.extend([first, "{}\n"]);
        }
        for (i, (indent, key, value)) in lines.into_iter().enumerate() {
            out.extend([if i == 0 { first } else { next }, indent, key, ":"]);
            if !value.is_empty() {
                out.push(' ');
                emit::scalar(&mut out, &Scalar::string(value)).map_err(|e| Error::new(Code::NotYaml, e.message))?;
            }
            out.push('\n');
        }
        Ok(out)
    }
}

/// The `path` of an origin's text.
fn path_of(text: &str) -> Option<String> {
    let path = text.strip_prefix("path: ")?.lines().next()?;
    let heap = rustomize_yaml::Heap::new();
    let arena = heap.arena();
    let source = arena.add_source("origin", path.to_owned());
    let node = first_document(arena, source).ok()??;
    node.as_scalar().map(|s| s.text().to_owned())
}

/// Notes the file of each resource, if this build notes origins. An origin in the manifest itself
/// is ignored.
///
/// # Errors
/// A name that cannot be printed, or annotations that are not a mapping.
pub(super) fn note_origin<'a>(build: &mut Build<'a>, resources: &mut [Resource<'a>], origin: &Origin) -> Result<()> {
    let arena = build.arena;
    if !build.keeps_origins() || resources.is_empty() {
        return Ok(());
    }
    let text = arena.text(&origin.text()?);
    for resource in resources {
        if let Some(annotations) = annotations_of(resource)
            && !annotations.is_null()
        {
            let (pos, shape) = (annotations.pos(), annotations.shape());
            let Some(annotations) = annotations.as_mapping_mut() else {
                let message = format!("wrong node kind: the annotations of {} are {shape}", resource.id());
                let error = Error::new(Code::WrongType, message).at(pos);
                return Err(error.hint("write annotations as lines of 'name: value'"));
            };
            annotations.remove(ORIGIN);
        }
        resource.notes_mut().origin = Some(text);
    }
    Ok(())
}

/// Notes the generator of resources, if this build notes origins. A resource that brings its origin
/// keeps it.
///
/// # Errors
/// A name that cannot be printed.
pub(super) fn note_generated<'a>(build: &mut Build<'a>, resources: &mut [Resource<'a>], origin: &Origin) -> Result<()> {
    if build.keeps_origins() && !resources.is_empty() {
        let text = build.arena.text(&origin.text()?);
        for resource in resources {
            if resource.annotation(ORIGIN).is_none() {
                resource.notes_mut().origin.get_or_insert(text);
            }
        }
    }
    Ok(())
}

fn annotations_of<'r, 'a>(resource: &'r mut Resource<'a>) -> Option<&'r mut Node<'a>> {
    let root = resource.node_mut().as_mapping_mut()?;
    root.get_mut("metadata")?.as_mapping_mut()?.get_mut("annotations")
}

/// Moves the origin and the transformations in the annotations of a resource to the notes of the
/// build. A patch, another transformer or the manifest has written them.
pub(super) fn adopt(resource: &mut Resource<'_>) {
    let [origin, transformations] = resource.remove_annotations([ORIGIN, TRANSFORMATIONS]);
    if origin.is_some() {
        resource.notes_mut().origin = origin;
    }
    if let Some(text) = transformations {
        resource.notes_mut().transformations = vec![(text, 1)];
    }
}

/// Notes that a transformer ran, `times` times, on all present resources. For a resource without an
/// origin, the transformer is its origin.
///
/// # Errors
/// A name that cannot be printed, or an origin or transformations in a resource's annotations that
/// cannot be read.
pub(super) fn note_transformation<'a>(
    build: &mut Build<'a>,
    map: &mut ResMap<'a>,
    origin: &Origin,
    times: usize,
) -> Result<()> {
    let arena = build.arena;
    let text = arena.text(&origin.text()?);
    let item = arena.text(&origin.item()?);
    map.edit_content(|resource| {
        if times > 0 {
            // Upstream writes all annotations again with this one.
            resource.stringify_metadata("annotations");
        }
        let mut times = times;
        if times == 0 {
            return Ok(());
        }
        if let [Some(own)] = resource.remove_annotations([ORIGIN]) {
            listed(build, resource, own, |cx, node| listed_origin(cx, node).map(drop))?;
            resource.notes_mut().origin = Some(own);
        }
        if resource.notes().is_none_or(|notes| notes.origin.is_none()) {
            resource.notes_mut().origin = Some(text);
            times -= 1;
        }
        if times == 0 {
            return Ok(());
        }
        if let [Some(own)] = resource.remove_annotations([TRANSFORMATIONS]) {
            let texts = listed(build, resource, own, listed_transformations)?.unwrap_or_default();
            resource.notes_mut().transformations = texts.into_iter().map(|text| (text, 1)).collect();
        }
        resource.notes_mut().transformations.push((item, times));
        Ok(())
    })
}

/// Checks the origin that a resource says in its annotations. Upstream reads it when a generated
/// resource is merged into this one.
///
/// # Errors
/// The text of the annotation is not YAML, or not a mapping with strings.
pub(super) fn check_own<'a>(build: &mut Build<'a>, resource: &Resource<'a>) -> Result<()> {
    match resource.annotation(ORIGIN) {
        Some(own) => listed(build, resource, own, |cx, node| listed_origin(cx, node).map(drop)).map(drop),
        None => Ok(()),
    }
}

/// Reads the text of an annotation; `None` if it has no value.
fn listed<'a, T>(
    build: &mut Build<'a>,
    resource: &Resource<'a>,
    text: &str,
    read: impl FnOnce(&Decoder<'a>, &Node<'a>) -> Result<T>,
) -> Result<Option<T>> {
    let arena = build.arena;
    let name = format!("an annotation of {}", resource.id());
    let source = arena.add_source(name, text.to_owned());
    let node = first_document(arena, source)?;
    let read = node.filter(|node| !node.is_null()).map(|node| read(&Decoder::of_file(arena), &node));
    read.transpose().map_err(|e| e.at(resource.pos()))
}

/// The items of a list of transformations, printed.
fn listed_transformations<'a>(cx: &Decoder<'a>, node: &Node<'a>) -> Result<Vec<&'a str>> {
    let Value::Sequence(items) = node.value() else {
        return Err(cx.error(node.pos(), format!("the annotation {TRANSFORMATIONS} is {}, not a list", node.shape())));
    };
    let text = |item: &Node<'a>| match item.is_null() {
        true => Ok("- null\n"),
        false => Ok(cx.arena.text(&listed_origin(cx, item)?.item()?)),
    };
    items.iter().map(text).collect()
}

fn listed_origin<'a>(cx: &Decoder<'a>, item: &Node<'a>) -> Result<Origin> {
    let mut listed = ListedOrigin::default();
    listed.decode(item, cx)?;
    let ConfiguredBy { api_version, kind, name, namespace } = listed.configured_by;
    let by = [api_version, kind, name, namespace];
    Ok(Origin {
        path: listed.path.to_owned(),
        repo: listed.repo.to_owned(),
        reference: listed.reference.to_owned(),
        configured_in: listed.configured_in.to_owned(),
        configured_by: by.iter().any(|text| !text.is_empty()).then(|| by.map(str::to_owned)),
    })
}

/// An origin as an annotation has it.
#[derive(Default, Decode)]
struct ListedOrigin<'a> {
    path: &'a str,
    repo: &'a str,
    #[field(name = "ref")]
    reference: &'a str,
    configured_in: &'a str,
    configured_by: ConfiguredBy<'a>,
}

/// The configuration that made or changed a resource.
#[derive(Default, Decode)]
struct ConfiguredBy<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    namespace: &'a str,
}

/// Writes the annotations that the root asks for.
pub(super) fn annotate<'a>(build: &mut Build<'a>, map: &mut ResMap<'a>) -> Result<()> {
    let asked = build.metadata();
    if !asked.origin_annotations && !asked.transformer_annotations {
        return Ok(());
    }
    // Most resources were there for the same transformers: they have one text.
    let mut texts: FastMap<Vec<(&str, usize)>, &str> = FastMap::default();
    map.edit_content(|resource| {
        let Some(notes) = resource.notes() else { return Ok(()) };
        let mut entries: Vec<(&str, &str)> = Vec::new();
        if asked.origin_annotations {
            entries.extend(notes.origin.map(|text| (ORIGIN, text)));
        }
        if asked.transformer_annotations && !notes.transformations.is_empty() {
            let text = match texts.get(notes.transformations.as_slice()) {
                Some(known) => known,
                None => {
                    let text = build.arena.text(&notes.transformations_text());
                    texts.insert(notes.transformations.clone(), text);
                    text
                }
            };
            entries.push((TRANSFORMATIONS, text));
        }
        resource.add_metadata_entries("annotations", entries.iter().map(|(key, text)| (*key, (*text).into())));
        Ok(())
    })
}
