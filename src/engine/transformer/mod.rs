//! Transformers: stages that change resources. One file each, named by its kustomize kind; the
//! order in which they run is in [`crate::pipeline::plan`].

pub mod annotations;
pub mod hash;
mod foreign_selectors;
mod image_names;
pub mod image_tag;
mod item_index;
pub mod json_patch;
mod pointer;
pub mod label;
mod left_variables;
mod merge_patch;
pub mod name_reference;
mod name_hash;
pub mod namespace;
pub mod objects;
mod open_text;
mod operation_findings;
pub mod patch;
mod patch_entry;
mod patch_findings;
mod patch_source;
mod patch_values;
pub mod prefix;
mod referents;
pub mod ref_var;
pub mod replacement;
mod replacement_source;
pub mod replica_count;
mod structured_text;
mod text_pieces;
pub mod value_add;

use crate::config::FieldSpecs;
use crate::config::field_spec::{Create, Step, walk};
use crate::diag::{Code, Error, Result};
use crate::resource::Resource;
use rustomize_yaml::{Node, Scalar};

/// Calls `edit` on every field of a resource that the specs lead to. Where `create` is not `No`,
/// specs that ask for it make missing fields. O(specs for the kind + nodes on their paths).
fn edit_fields<'a>(
    resource: &mut Resource<'a>,
    specs: &FieldSpecs<'a>,
    create: Create,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let id = *resource.id();
    specs.for_node(id.gvk, resource.node()).try_for_each(|(spec, path)| {
        let create = if spec.create { create } else { Create::No };
        let walked = edit_path(resource, path, create, edit);
        walked.map_err(|e| e.in_resource(id).context(format!("considering field '{}' of object {id}", spec.path)))
    })
}

/// Calls `edit` on every field of a resource that a path leads to. A shared value that it sets is
/// then set in all its places. O(nodes on the path); O(nodes) if a shared value was set.
fn edit_path<'a>(
    resource: &mut Resource<'a>,
    path: &[Step<'a>],
    create: Create,
    edit: &mut dyn FnMut(&mut Node<'a>) -> Result<()>,
) -> Result<()> {
    let mut is_ahead = false;
    let node = resource.node_mut_below(path.first().map_or("", |step| step.key));
    let walked = walk(node, path, create, &mut |node| {
        edit(node)?;
        is_ahead |= node.is_ahead();
        Ok(())
    });
    if is_ahead {
        resource.settle_shared();
    }
    walked
}

/// The scalar that a transformer sets, or an error that names the value that it found.
fn scalar_of<'n, 'a>(node: &'n Node<'a>) -> Result<&'n Scalar<'a>> {
    let wrong = || {
        Error::new(Code::WrongType, format!("wrong node kind: expected a scalar, found {}", node.shape()))
            .hint("write one text or number here")
    };
    node.as_scalar().ok_or_else(wrong)
}
