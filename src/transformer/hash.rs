//! HashTransformer: puts a hash of the content behind the names of those that ask for it.
//!
//! *Selects*: generated ConfigMaps and Secrets whose hash is not turned off, and what plugins mark. *Writes*:
//! `metadata/name`. *Order*: once, at the root, after everything is accumulated. *Cost*: O(bytes of the content).

use super::Transformer;
use crate::diag::Result;
use crate::generator::name_hash;
use crate::pipeline::Session;
use crate::resource::{ResMap, Resource};
use crate::yaml::Tag;

/// The hash suffix of names.
pub struct HashTransformer;

impl<'a> Transformer<'a> for HashTransformer {
    fn transform(&self, map: &mut ResMap<'a>, session: &Session<'a>) -> Result<()> {
        if !map.iter().any(needs_hash) {
            return Ok(());
        }
        map.edit_all(|resource| {
            if !needs_hash(resource) {
                return Ok(());
            }
            let hash = name_hash::hash(resource).map_err(|e| e.at(session.arena.place(resource.pos())))?;
            resource.record_previous();
            let name = session.arena.concat(&[resource.id().name, "-", &hash]);
            if let Some(scalar) =
                resource.metadata_mut().and_then(|m| m.get_mut("name")).and_then(crate::yaml::Node::as_scalar_mut)
            {
                (scalar.text, scalar.tag) = (name, Tag::Auto);
            }
            Ok(())
        })
    }
}

/// Whether a resource asks for a hash: a generator said so, or its manifest does, by hand.
fn needs_hash(resource: &Resource<'_>) -> bool {
    resource.needs_hash || resource.annotation("internal.config.kubernetes.io/needsHashSuffix") == Some("enabled")
}
