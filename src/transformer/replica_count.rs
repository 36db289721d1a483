//! ReplicaCountTransformer: sets the number of replicas of the workloads of a name.
//!
//! *Fields*: `replicas`.
//! *Kinds*: `ReplicaCountTransformer`, with `replica` (one entry) and `fieldSpecs`.
//! *Entry*: `Replica`.
//! *Selects*: resources that have or have had the name, of a kind of the specs: Deployment, StatefulSet, ReplicaSet,
//! ReplicationController.
//! *Writes*: `spec/replicas`.
//! *Order*: after patchesJson6902, before images.
//! *Cost*: O(resources of the name).
//! *Quirks*: matching nothing is an error. A text in quotes keeps them (case replicas-by-any-id-keeps-style).
//! *Example*: `testdata/reference/replica_count.txtar`

use super::{Transformer, scalar_of};
use crate::config::field_spec::{Create, FieldSpecs, Step, walk};
use crate::diag::{Error, Result};
use crate::pipeline::Session;
use crate::resource::{Hint, ResMap};
use crate::yaml::Tag;
use std::rc::Rc;

/// One entry of `replicas`.
pub struct ReplicaCountTransformer<'a> {
    pub name: &'a str,
    pub count: i64,
    pub specs: Rc<FieldSpecs<'a>>,
}

impl<'a> Transformer<'a> for ReplicaCountTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, session: &Session<'a>) -> Result<()> {
        let count = session.arena.text(&self.count.to_string());
        let mut found = false;
        for i in map.candidates(&Hint::named(self.name)) {
            let ids: Vec<_> = map.get(i).any_ids().filter(|id| id.name == self.name).collect();
            let mut paths = Vec::new();
            for id in &ids {
                for (spec, path) in self.specs.for_gvk(id.gvk) {
                    if !paths.iter().any(|(_, known): &(bool, &[_])| std::ptr::eq(*known, path)) {
                        paths.push((spec.create, path));
                    }
                }
            }
            found |= !paths.is_empty();
            map.edit(i, |resource| {
                let id = *resource.id();
                // A kind that the resource has no more makes it a target; what is written is for the kind it has.
                let applies = |path: &[Step<'a>]| self.specs.for_gvk(id.gvk).any(|(_, own)| std::ptr::eq(own, path));
                paths.iter().filter(|(_, path)| applies(path)).try_for_each(|(create, path)| {
                    let create = if *create { Create::Scalar } else { Create::No };
                    walk(resource.node_mut(), path, create, &mut |node| {
                        let scalar = scalar_of(node)?;
                        (scalar.text, scalar.tag) = (count, Tag::Int);
                        Ok(())
                    })
                    .map_err(|e| e.context(format!("setting the replicas of {id}")))
                })
            })?;
        }
        if found {
            return Ok(());
        }
        Err(Error::input(format!(
            "resource with name {} does not match a config with the following GVK: a kind that has replicas",
            self.name
        )))
    }
}
