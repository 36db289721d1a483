//! HashTransformer: puts a hash of the content behind the names of those that ask for it.
//!
//! *Kinds*: `HashTransformer`.
//! *Selects*: generated ConfigMaps and Secrets whose hash is not turned off, what plugins mark with
//! the annotation `kustomize.config.k8s.io/needs-hash`, and resources whose file asks for it.
//! *Writes*: `metadata/name`.
//! *Order*: once, at the root, after everything is accumulated and before references are fixed.
//! *Cost*: O(bytes of the content).
//! *Quirks*: patches count, as the hash is of what the resource holds at the end (case
//! hash-after-patches). An annotation that a user wrote into a file asks for nothing
//! (hash-annotation-by-hand).
//! *Example*: `testdata/reference/hash.txtar`

use super::name_hash;
use crate::diag::Result;
use crate::resource::{NEEDS_HASH_SUFFIX, ResMap, Resource};
use crate::stage::{Build, Transformer};
use rustomize_yaml::{Arena, Pos};

/// The hash suffix of names.
pub struct HashTransformer;

impl<'a> Transformer<'a> for HashTransformer {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let places = map.places(build.arena, needs_hash);
        map.edit_some(build.arena, &places, |arena| {
            let mut text = String::new();
            move |_, resource| add_hash(arena, resource, &mut text)
        })?;
        map.note_edits(&places);
        Ok(())
    }
}

/// Puts the hash behind the name of a resource. `text` is memory for what is hashed.
fn add_hash<'a>(arena: Arena<'a>, resource: &mut Resource<'a>, text: &mut String) -> Result<()> {
    let hash = name_hash::hash(arena, resource, text).map_err(|e| e.at(resource.pos()))?;
    resource.record_previous();
    let name = arena.concat(&[resource.id().name, "-", &hash]);
    if !resource.has_null_metadata() {
        match resource.metadata_mut().and_then(|metadata| metadata.get_mut("name")) {
            Some(node) if node.as_scalar().is_some() => node.set_untyped(name, Pos::NONE),
            // A patch has taken the name away: the hash is the name.
            _ => resource.set_name(name),
        }
    }
    resource.refresh_id();
    Ok(())
}

/// Returns true if a resource asks for a hash: a generator said so, or its manifest does, by hand.
fn needs_hash(resource: &Resource<'_>) -> bool {
    resource.needs_hash || resource.annotation(NEEDS_HASH_SUFFIX) == Some("enabled")
}
