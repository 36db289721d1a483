//! Transformers: what changes resources. One file each, named by its kustomize kind; the order in
//! which they run is in [`crate::pipeline::plan`].

pub mod annotations;
mod copies;
pub mod hash;
mod image_names;
pub mod image_tag;
pub mod json_patch;
pub mod label;
pub mod merge;
pub mod name_reference;
pub mod namespace;
mod open_text;
pub mod patch;
pub mod prefix;
mod referents;
pub mod ref_var;
pub mod replacement;
pub mod replica_count;
mod structured_text;
pub mod value_add;

use crate::diag::Result;
use crate::pipeline::Session;
use crate::resource::ResMap;

/// Changes resources.
pub trait Transformer<'a> {
    /// Works on all resources accumulated so far.
    ///
    /// # Errors
    /// A resource is not as the transformer needs it, or what it reads is missing or wrong.
    fn transform(&self, map: &mut ResMap<'a>, session: &Session<'a>) -> Result<()>;

    /// This transformer as one that looks at one resource at a time, if it is.
    fn as_each(&self) -> Option<&dyn TransformEach<'a>> {
        None
    }
}

/// A transformer whose work on a resource depends on that resource alone. Neighbours of this kind
/// run in one pass: a resource that has come into the processor's cache goes through all of them.
pub trait TransformEach<'a> {
    /// Changes one resource.
    ///
    /// # Errors
    /// The resource is not as the transformer needs it.
    fn edit(&self, resource: &mut Resource<'a>, session: &Session<'a>) -> Result<()>;

    /// Whether it changes identities.
    fn renames(&self) -> bool {
        false
    }

    /// Whether it changes identities in the same way for all resources of a kind.
    fn renames_alike(&self) -> bool {
        false
    }

    /// Looks at the result as a whole.
    ///
    /// # Errors
    /// The result cannot be.
    fn check(&self, _map: &mut ResMap<'a>, _session: &Session<'a>) -> Result<()> {
        Ok(())
    }
}

/// Runs neighbouring transformers, each with what its errors call it, in one pass. O(resources x
/// transformers).
///
/// # Errors
/// The first that one gives.
pub fn transform_each<'a>(
    stages: &[(&dyn TransformEach<'a>, &str)],
    map: &mut ResMap<'a>,
    session: &Session<'a>,
) -> Result<()> {
    let edit = |resource: &mut Resource<'a>| {
        stages.iter().try_for_each(|(stage, name)| {
            stage.edit(resource, session).map_err(|e| e.context(*name))?;
            if stage.renames() {
                resource.refresh_id();
            }
            Ok(())
        })
    };
    let mut renaming = stages.iter().filter(|(stage, _)| stage.renames()).peekable();
    if renaming.peek().is_none() {
        map.edit_content(edit)?
    } else if renaming.all(|(stage, _)| stage.renames_alike()) {
        map.rename_alike(edit)?
    } else {
        map.rename(edit)?
    }
    stages.iter().try_for_each(|(stage, name)| stage.check(map, session).map_err(|e| e.context(*name)))
}

use crate::config::field_spec::{Create, Step, walk};
use crate::config::{FieldSpec, FieldSpecs};
use crate::diag::Error;
use crate::resource::Resource;
use crate::yaml::Node;

/// Calls `edit` on every field of a resource that the specs lead to. Where `create` is not `No`,
/// specs that ask for it make missing fields. O(specs for the kind + nodes on their paths).
fn edit_fields<'a>(
    resource: &mut Resource<'a>,
    specs: &FieldSpecs<'a>,
    create: Create,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let id = *resource.id();
    let many = specs.are_many(id.gvk).then(|| specs.for_node(id.gvk, resource.node()));
    let mut apply = |(spec, path): (&FieldSpec<'a>, &[Step<'a>])| {
        let create = if spec.create { create } else { Create::No };
        let walked = walk(resource.node_mut(), path, create, edit);
        walked.map_err(|e| e.context(format!("considering field '{}' of object {id}", spec.path)))
    };
    match many {
        Some(specs) => specs.into_iter().try_for_each(&mut apply),
        None => specs.for_gvk(id.gvk).try_for_each(&mut apply),
    }
}

/// The scalar that a transformer sets, or an error that names what is there.
fn scalar_of<'n, 'a>(node: &'n mut Node<'a>) -> Result<&'n mut crate::yaml::Scalar<'a>> {
    let shape = node.shape();
    node.as_scalar_mut().ok_or_else(|| Error::input(format!("wrong node kind: expected a scalar, found {shape}")))
}
