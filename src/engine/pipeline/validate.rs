//! Validators: plugins that check resources, and fail the build if a check fails. [`Contents`]
//! shows whether a validator changed a resource, without a copy of the map.
//!
//! *Fields*: `validators`.
//! *Selects*: all resources of the layer, as its transformers left them.
//! *Order*: after `transformers`, last in each layer.
//! *Cost*: that of the plugin, and O(size of the resources) for the fingerprints.
//! *Quirks*: nothing may be changed but the label `validated-by`, which stays. A resource that an
//! executable or a function prints under another id, or leaves out, changes nothing: upstream
//! applies it to a list that it drops. A shared object and a built-in may not add, rename or remove
//! either. Content counts, not style or place; upstream also refuses a validator that prints the
//! same values in other lines (testdata/deviations/validator-style.md).
//! *Example*: `testdata/reference/validate.txtar`

use crate::diag::{Code, Error, Result};
use crate::resource::{Found, Index, ResMap, Resource, is_build_annotation};
use crate::stage::Plugin;
use rustomize_yaml::{Heap, Mapping, Node, json, reprint};
use std::hash::{BuildHasher, Hasher};

/// The label that a validator may add.
const VALIDATED_BY: &str = "validated-by";

/// A fingerprint of the content of every resource, by id.
pub(super) struct Contents<'a> {
    by_id: Index<'a, u64>,
    hasher: foldhash::quality::FixedState,
}

impl<'a> Contents<'a> {
    /// Takes the fingerprints. O(size of the resources), one of them at a time.
    pub(super) fn of(map: &ResMap<'a>) -> Self {
        let hasher = foldhash::quality::FixedState::default();
        let mut by_id = Index::with_capacity_and_hasher(map.len(), Default::default());
        for resource in map.iter() {
            by_id.insert(*resource.id(), fingerprint(&hasher, resource));
        }
        Contents { by_id, hasher }
    }

    /// Checks that there are the same resources as before, with the same content.
    ///
    /// # Errors
    /// A resource was added, renamed, removed or changed.
    pub(super) fn check_all<'r>(&self, resources: impl Iterator<Item = &'r Resource<'a>> + Clone) -> Result<()>
    where
        'a: 'r,
    {
        self.check(resources.clone())?;
        let mut count = 0;
        for resource in resources {
            if !self.by_id.contains_key(resource.id()) {
                return Err(modified(format!("it added {}", resource.id())));
            }
            count += 1;
        }
        match self.by_id.len() - count {
            0 => Ok(()),
            n => Err(modified(format!("it removed {n} of {}", self.by_id.len()))),
        }
    }

    /// Checks the content of the resources that were there before. Others have no effect.
    ///
    /// # Errors
    /// A resource was changed, or two resources have the same id.
    fn check<'r>(&self, resources: impl Iterator<Item = &'r Resource<'a>>) -> Result<()>
    where
        'a: 'r,
    {
        let mut seen: Index<'a, ()> = Index::default();
        for resource in resources {
            if seen.insert(*resource.id(), ()).is_some() {
                return Err(modified(format!("it printed {} twice", resource.id())));
            }
            if self.by_id.get(resource.id()).is_some_and(|before| *before != fingerprint(&self.hasher, resource)) {
                return Err(modified(format!("it changed {}", resource.id())));
            }
        }
        Ok(())
    }
}

/// Adds the labels that an external validator may add. The rest of its output has no effect.
/// Returns true if there was such a label.
///
/// # Errors
/// The validator changed a resource or printed one twice, or it is a shared object and did
/// not return each resource.
pub(super) fn adopt_labels<'a>(
    map: &mut ResMap<'a>,
    plugin: &dyn Plugin<'a>,
    printed: &[Resource<'a>],
) -> Result<bool> {
    if printed.is_empty() && !plugin.prints_all() {
        return Ok(false);
    }
    let contents = Contents::of(map);
    match plugin.prints_all() {
        true => contents.check_all(printed.iter())?,
        false => contents.check(printed.iter())?,
    }
    let labelled = printed.iter().filter_map(|r| Some((r, r.label(VALIDATED_BY)?)));
    let mut is_labelled = false;
    for (resource, label) in labelled {
        let Found::One(i) = map.find_any(resource.id()) else { continue };
        is_labelled = true;
        map.edit_in_place(i, |resource| {
            resource.add_metadata_entries("labels", [(VALIDATED_BY, label.into())]);
            Ok(())
        })?;
    }
    Ok(is_labelled)
}

fn modified(what: String) -> Error {
    let error = Error::new(Code::BadOutput, format!("validator shouldn't modify the resource map: {what}"));
    error.hint("what is to change resources belongs under 'transformers'")
}

fn fingerprint(hasher: &impl BuildHasher, resource: &Resource<'_>) -> u64 {
    let heap = Heap::new();
    let scratch = heap.arena();
    let mut node: Node<'_> = resource.node().clone();
    // Upstream compares the printed resources. A resource that cannot be printed is compared as it
    // is.
    let _ = reprint::reprinted(scratch, &mut node);
    if let Some(metadata) = node.as_mapping_mut().and_then(|m| m.get_mut("metadata")).and_then(Node::as_mapping_mut) {
        keep(metadata, "labels", |key| key != VALIDATED_BY);
        keep(metadata, "annotations", |key| !is_build_annotation(key) && key != "kustomize.config.k8s.io/id");
        crate::resource::stringify(metadata, "annotations");
    }
    let mut text = String::new();
    json::write(&mut text, &node);
    let mut state = hasher.build_hasher();
    state.write(text.as_bytes());
    state.finish()
}

/// Keeps some entries of a mapping in the metadata; an empty mapping is removed.
fn keep(metadata: &mut Mapping<'_>, map: &str, keep: impl Fn(&str) -> bool) {
    let Some(entries) = metadata.get_mut(map).and_then(Node::as_mapping_mut) else { return };
    entries.retain(|key, _| keep(key.text()));
    if entries.is_empty() {
        metadata.remove(map);
    }
}
