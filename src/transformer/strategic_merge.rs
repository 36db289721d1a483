//! Strategic merge patches on their way into resources: each waits until all that one resource gets are known.
//!
//! A merge costs the size of the resource, so patches for the same one are merged [together]. Patches that do more than merge
//! are not kept waiting: those that rename, delete or replace the resource, or take all its annotations off.

use super::merge::{self, together};
use crate::config::Matcher;
use crate::config::kustomization::PatchOptions;
use crate::diag::{Error, Result};
use crate::resource::{ResMap, Resource};
use crate::schema::Schemas;
use crate::yaml::{Arena, Node, Pos, Scalar, Style, Tag, scalar};
use hashbrown::HashMap;
use std::rc::Rc;

/// How kustomize hands a patch to a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As it was read: an entry of `patches` that names its resource.
    AsItIs,
    /// A copy with the apiVersion of the resource: `patchesStrategicMerge`.
    Copied,
    /// A copy with the apiVersion of the resource, whose own name does not count: an entry of `patches` with a target.
    ForTarget,
}

/// A patch, and how it is merged.
pub struct Job<'p, 'a> {
    pub patch: Resource<'a>,
    pub way: Way,
    pub options: PatchOptions,
    /// What an error calls the patch, and where it stands.
    pub name: &'p str,
    pub pos: Pos,
}

impl<'a> Job<'_, 'a> {
    /// An error in this patch.
    pub fn error(&self, arena: &Arena, error: Error) -> Error {
        error.at(arena.place(self.pos)).context(format!("applying {}", self.name))
    }

    /// Whether this merges fields into a resource and does nothing else to it.
    fn is_plain(&self, resource: &Resource<'a>) -> bool {
        let (patch, id) = (self.patch.node(), resource.id());
        let text = |node: &Node<'a>, field| node.get(field).and_then(Node::as_scalar).map(|s| s.text);
        let api_version = text(resource.node(), "apiVersion").filter(|text| !text.is_empty());
        let fits = |(field, own)| match patch.get("metadata").and_then(|m| m.get(field)) {
            None => true,
            Some(value) => value.as_scalar().is_some_and(|s| !s.is_null() && s.text == own),
        };
        !(self.options.allow_name_change || self.options.allow_kind_change)
            && patch.get("$patch").is_none()
            && patch.get("metadata").is_none_or(|m| m.as_mapping().is_some())
            && !wipes_annotations(patch)
            && !resource.shares_values()
            && api_version.is_some()
            && (self.way != Way::AsItIs || text(patch, "apiVersion") == api_version)
            && text(patch, "kind").is_some()
            && [("name", id.name), ("namespace", id.namespace)].into_iter().all(fits)
            && ![id.gvk.kind, id.name, id.namespace].into_iter().any(scalar::is_other_in_v2)
    }

    /// Whether this may change the labels or the annotations, whichever is named.
    fn changes(&self, map: &str) -> bool {
        self.patch.node().get("metadata").is_some_and(|m| m.get(map).is_some())
    }
}

/// Patches that wait for the others of their resources.
#[derive(Default)]
pub struct Waiting<'p, 'a> {
    /// For each place in the map the patches, with their numbers.
    jobs: HashMap<usize, Vec<(usize, Rc<Job<'p, 'a>>)>, foldhash::fast::RandomState>,
    /// The places, in the order in which the first patch came.
    places: Vec<usize>,
    count: usize,
    /// Whether a patch may change labels, and annotations: selectors look at both.
    changes: [bool; 2],
}

impl<'p, 'a> Waiting<'p, 'a> {
    /// Merges a patch into a resource now or later. O(1), or the size of both.
    ///
    /// # Errors
    /// A patch cannot be merged.
    pub fn add(
        &mut self,
        map: &mut ResMap<'a>,
        i: usize,
        job: &Rc<Job<'p, 'a>>,
        (arena, schemas): (&Arena, &Schemas<'a>),
    ) -> Result<()> {
        if !job.is_plain(map.get(i)) {
            self.finish(map, (arena, schemas))?;
            return merge_into(map, i, job, schemas).map_err(|e| job.error(arena, e));
        }
        let jobs = self.jobs.entry(i).or_default();
        if jobs.is_empty() {
            self.places.push(i);
        }
        jobs.push((self.count, job.clone()));
        self.count += 1;
        self.changes[0] |= job.changes("labels");
        self.changes[1] |= job.changes("annotations");
        Ok(())
    }

    /// Makes sure that a target is compared with what patches have made of the resources.
    ///
    /// # Errors
    /// A patch cannot be merged.
    pub fn before(
        &mut self,
        target: &Matcher<'a>,
        map: &mut ResMap<'a>,
        context: (&Arena, &Schemas<'a>),
    ) -> Result<()> {
        let asks = target.asks_for_labels() && self.changes[0] || target.asks_for_annotations() && self.changes[1];
        if asks { self.finish(map, context) } else { Ok(()) }
    }

    /// Merges all patches that wait. O(size of the patches and of their resources).
    ///
    /// # Errors
    /// A patch cannot be merged; the error is that of the first one.
    pub fn finish(&mut self, map: &mut ResMap<'a>, (arena, schemas): (&Arena, &Schemas<'a>)) -> Result<()> {
        let mut all = std::mem::take(self);
        let mut first: Option<(usize, Error)> = None;
        for i in all.places {
            let jobs = all.jobs.remove(&i).unwrap_or_default();
            if jobs.len() > 1 && merge_together(map, i, &jobs, schemas)? {
                continue;
            }
            let failed = jobs.iter().find_map(|(number, job)| {
                let error = merge_into(map, i, job, schemas).err()?;
                Some((*number, job.error(arena, error)))
            });
            if let Some((number, error)) = failed
                && first.as_ref().is_none_or(|(before, _)| number < *before)
            {
                first = Some((number, error));
            }
        }
        first.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Merges patches into one resource in one walk; `false` if they have to be merged one after the other.
fn merge_together<'a>(
    map: &mut ResMap<'a>,
    i: usize,
    jobs: &[(usize, Rc<Job<'_, 'a>>)],
    schemas: &Schemas<'a>,
) -> Result<bool> {
    let id = *map.get(i).id();
    map.edit(i, |resource| {
        let kind = resource.node().get("kind").cloned();
        let before = resource.node().clone();
        let patch = |(_, job): &(usize, Rc<Job<'_, 'a>>)| {
            let mut patch = job.patch.node().clone();
            if job.way != Way::AsItIs {
                copy_api_version(resource, &mut patch)?;
            }
            Ok(patch)
        };
        let patches: Vec<Node<'a>> = jobs.iter().map(patch).collect::<Result<_>>()?;
        // The error of the first patch that fails is found where they are merged one after the other.
        if !together::apply(resource.node_mut(), patches, schemas).unwrap_or(false) {
            *resource.node_mut() = before;
            return Ok(false);
        }
        restore_identity(resource, &id, kind, PatchOptions::default());
        forget_types(resource);
        Ok(true)
    })
}

/// Merges a patch into one resource.
fn merge_into<'a>(map: &mut ResMap<'a>, i: usize, job: &Job<'_, 'a>, schemas: &Schemas<'a>) -> Result<()> {
    let (patch, options, way) = (&job.patch, job.options, job.way);
    let wipes = wipes_annotations(patch.node());
    let id = *map.get(i).id();
    // A patch for a target gets the name of the resource from upstream: it is merged, and keeps its style.
    let unnamed =
        ["name", "namespace"].map(|field| (field, patch.node().get("metadata").and_then(|m| m.get(field)).is_none()));
    let keep = map.edit(i, |resource| {
        let styles = unnamed.map(|(field, is_unnamed)| {
            (field, style_of(resource, field).filter(|_| way == Way::ForTarget && is_unnamed))
        });
        if options.allow_name_change || options.allow_kind_change {
            resource.record_previous();
        }
        let kind = resource.node().get("kind").cloned();
        let mut patch = patch.node().clone();
        if way != Way::AsItIs {
            copy_api_version(resource, &mut patch)?;
        }
        let keep = merge::apply(resource.node_mut(), patch, schemas)?;
        resource.settle_shared();
        if wipes {
            resource.forget_history();
        }
        if keep {
            styles.into_iter().for_each(|(field, style)| set_style(resource, field, style));
            restore_identity(resource, &id, kind, options);
            forget_types(resource);
        }
        Ok(keep)
    });
    if !keep.map_err(|e| e.context(format!("patching {id}")))? {
        map.delete(i);
    }
    Ok(())
}

/// Gives a patch the apiVersion of a resource, without a type. That of a resource without one is empty, and is written to
/// the resource, unless the patch asks to be the resource: nothing comes of such a patch.
///
/// # Errors
/// The apiVersion of the resource is a mapping or a list, which cannot be merged with that of the patch.
fn copy_api_version<'a>(resource: &mut Resource<'a>, patch: &mut Node<'a>) -> Result<()> {
    let api_version = resource.node().get("apiVersion");
    let text = api_version.and_then(Node::as_scalar).map_or("", |scalar| scalar.text);
    let untyped = Node::from(Scalar { text, style: Style::Plain, tag: Tag::Untyped });
    let replaces = matches!(patch.get_text("$patch"), Some("replace" | "delete"));
    if let Some(other) = api_version.filter(|node| node.as_scalar().is_none() && !replaces) {
        return Err(Error::input(format!("wrong node kind: the apiVersion of the resource is {}", other.shape())));
    }
    let (Some(root), Some(patch)) = (resource.node_mut().as_mapping_mut(), patch.as_mapping_mut()) else {
        return Ok(());
    };
    if text.is_empty() {
        patch.remove("apiVersion");
        if !replaces {
            root.insert("apiVersion", untyped);
        }
    } else {
        patch.insert("apiVersion", untyped);
    }
    Ok(())
}

fn style_of(resource: &Resource<'_>, field: &str) -> Option<Style> {
    resource.node().get("metadata")?.get(field)?.as_scalar().map(|scalar| scalar.style)
}

fn set_style<'a>(resource: &mut Resource<'a>, field: &'a str, style: Option<Style>) {
    let metadata = resource.node_mut().as_mapping_mut().and_then(|m| m.get_mut("metadata"));
    let scalar = metadata.and_then(|m| m.as_mapping_mut()?.get_mut(field)?.as_scalar_mut());
    if let (Some(style), Some(scalar)) = (style, scalar) {
        scalar.style = style;
    }
}

/// Puts back what a strategic merge patch may not change.
fn restore_identity<'a>(
    resource: &mut Resource<'a>,
    id: &crate::resource::ResId<'a>,
    kind: Option<Node<'a>>,
    options: PatchOptions,
) {
    if !options.allow_kind_change
        && let (Some(root), Some(kind)) = (resource.node_mut().as_mapping_mut(), kind)
    {
        root.insert("kind", kind);
    }
    let text_of = |resource: &Resource<'a>, field| {
        resource.node().get("metadata").and_then(|m| m.get_text(field)).unwrap_or_default()
    };
    if !options.allow_name_change && text_of(resource, "name") != id.name {
        resource.put_back("name", id.name);
    }
    if text_of(resource, "namespace") != id.namespace {
        if id.namespace.is_empty() {
            resource.metadata_mut().map(|m| m.remove("namespace"));
        } else {
            resource.put_back("namespace", id.namespace);
        }
    }
}

/// Upstream writes what identifies a resource anew after a merge, without types: what is put there later is typed anew.
fn forget_types(resource: &mut Resource<'_>) {
    let forget = |node: Option<&mut Node<'_>>| {
        if let Some(scalar) = node.and_then(Node::as_scalar_mut).filter(|s| s.style == Style::Plain) {
            scalar.tag = Tag::Untyped;
        }
    };
    let Some(root) = resource.node_mut().as_mapping_mut() else { return };
    forget(root.get_mut("kind"));
    if let Some(metadata) = root.get_mut("metadata").and_then(Node::as_mapping_mut) {
        ["name", "namespace"].into_iter().for_each(|field| forget(metadata.get_mut(field)));
    }
}

/// Whether a patch takes all annotations off, and with them what upstream keeps there.
pub fn wipes_annotations(patch: &Node<'_>) -> bool {
    let replaces = |node: &Node<'_>| node.get_text("$patch").is_some_and(|d| d == "replace" || d == "delete");
    let Some(metadata) = patch.get("metadata") else {
        return false;
    };
    replaces(metadata) || metadata.get("annotations").is_some_and(|a| a.is_null() || replaces(a))
}
