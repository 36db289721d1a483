//! ReplicaCountTransformer: sets the number of replicas of the workloads of a name.
//!
//! *Fields*: `replicas`.
//! *Kinds*: `ReplicaCountTransformer`, with `replica` (one entry) and `fieldSpecs`.
//! *Entry*: `Replica`.
//! *Selects*: resources that have or have had the name, of a kind of the specs: Deployment,
//! StatefulSet, ReplicaSet, ReplicationController.
//! *Writes*: `spec/replicas`.
//! *Order*: after patchesJson6902, before images.
//! *Cost*: O(resources of the name).
//! *Quirks*: matching nothing is an error. A text in quotes keeps them (case
//! replicas-by-any-id-keeps-style).
//! *Example*: `testdata/reference/replica_count.txtar`

use super::{edit_path, scalar_of};
use crate::config::field_spec::{Create, Step};
use crate::config::{FieldSpec, FieldSpecs};
use crate::diag::{Code, Error, Result};
use crate::resource::{Hint, ResMap, Resource};
use crate::stage::{Build, Transformer};
use crate::yaml::{Pos, Tag};
use std::rc::Rc;

/// One entry of `replicas`.
pub struct ReplicaCountTransformer<'a> {
    pub name: &'a str,
    pub count: i64,
    pub specs: Rc<FieldSpecs<'a>>,
    /// The entry, which is the place of what is set.
    pub pos: Pos,
}

impl<'a> Transformer<'a> for ReplicaCountTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let count = build.arena.text(&self.count.to_string());
        let mut found = false;
        for i in map.candidates(&Hint::named(self.name)) {
            let current = *map.get(i).id();
            let mut kinds: Vec<_> = map.get(i).any_ids().filter(|id| id.name == self.name).map(|id| id.gvk).collect();
            kinds.dedup();
            found |= kinds.iter().any(|gvk| self.specs.for_gvk(*gvk).next().is_some());
            map.edit(i, |resource| {
                let mut seen: Vec<*const FieldSpec<'_>> = Vec::new();
                for gvk in kinds {
                    // A kind that the resource has no more makes it a target; what is written is
                    // for the kind it has.
                    let mut paths = self.specs.for_node(gvk, resource.node());
                    paths.retain(|(spec, _)| {
                        spec.gvk.selects(&current.gvk) && !seen.contains(&std::ptr::from_ref(*spec))
                    });
                    seen.extend(paths.iter().map(|(spec, _)| std::ptr::from_ref(*spec)));
                    self.set(resource, &paths, count)?;
                }
                Ok(())
            })?;
        }
        if found {
            return Ok(());
        }
        Err(Error::new(
            Code::NoMatch,
            format!(
                "resource with name {} does not match a config with the following GVK: a kind that has replicas",
                self.name
            ),
        )
        .hint("correct the name: it is that of a Deployment, StatefulSet, ReplicaSet or ReplicationController"))
    }
}

impl<'a> ReplicaCountTransformer<'a> {
    fn set(&self, resource: &mut Resource<'a>, specs: &[(&FieldSpec<'a>, &[Step<'a>])], count: &'a str) -> Result<()> {
        let id = *resource.id();
        specs.iter().try_for_each(|(spec, path)| {
            let create = if spec.create { Create::Scalar } else { Create::No };
            edit_path(resource, path, create, &mut |node| {
                scalar_of(node)?;
                node.set_text(count, Tag::Int, self.pos);
                Ok(())
            })
            .map_err(|e| e.in_resource(id).context(format!("setting the replicas of {id}")))
        })
    }
}
