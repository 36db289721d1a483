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
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::resource::{Hint, ResMap, Resource};
use crate::stage::{Build, Overridden, Transformer};
use rustomize_yaml::{Pos, Tag};
use std::rc::Rc;

/// One entry of `replicas`.
pub struct ReplicaCountTransformer<'a> {
    pub name: &'a str,
    pub count: i64,
    pub specs: Rc<FieldSpecs<'a>>,
    /// The entry, which is the place of what is set.
    pub pos: Pos,
    /// The patches of the kustomization, if the build is asked for findings.
    pub overridden: Option<Rc<Overridden>>,
    /// True for the last entry, which reports the values that any entry has replaced.
    pub is_last: bool,
}

impl<'a> Transformer<'a> for ReplicaCountTransformer<'a> {
    fn transform(&self, map: &mut ResMap<'a>, build: &mut Build<'a>) -> Result<()> {
        let count = build.arena.text(&self.count.to_string());
        let (mut found, mut has_set) = (false, false);
        for i in map.candidates(&Hint::named(self.name)) {
            let current = *map.get(i).id();
            let mut kinds: Vec<_> = map.get(i).any_ids().filter(|id| id.name == self.name).map(|id| id.gvk).collect();
            kinds.dedup();
            found |= kinds.iter().any(|gvk| self.specs.for_gvk(*gvk).next().is_some());
            map.edit(i, |resource| {
                let mut seen: Vec<*const FieldSpec<'_>> = Vec::new();
                for gvk in kinds {
                    // A kind that the resource had before makes it a target; the fields of its
                    // present kind are written.
                    let mut paths: Vec<_> = self.specs.for_node(gvk, resource.node()).collect();
                    paths.retain(|(spec, _)| {
                        spec.gvk.selects(&current.gvk) && !seen.contains(&std::ptr::from_ref(*spec))
                    });
                    seen.extend(paths.iter().map(|(spec, _)| std::ptr::from_ref(*spec)));
                    has_set |= self.set(resource, &paths, count)?;
                }
                Ok(())
            })?;
        }
        if found {
            build.find(|| (!has_set).then(|| self.without_effect()));
            let message = "this value is not in the output: 'replicas' replaces it";
            let overridden = self.overridden.iter().filter(|_| self.is_last);
            build.find(|| overridden.flat_map(|overridden| overridden.findings(map, message)));
            return Ok(());
        }
        let has_replicas = |r: &&Resource<'a>| self.specs.for_gvk(r.id().gvk).next().is_some();
        let names: Vec<&str> = map.iter().filter(has_replicas).map(|r| r.id().name).collect();
        let meant = nearest(self.name, names.iter().copied()).map(|name| format!("did you mean '{name}'?"));
        let kinds = "name a Deployment, StatefulSet, ReplicaSet or ReplicationController";
        Err(Error::new(
            Code::NoMatch,
            format!(
                "resource with name {} does not match a config with the following GVK: a kind that has replicas",
                self.name
            ),
        )
        .hint(meant.unwrap_or_else(|| kinds.to_owned())))
    }
}

impl<'a> ReplicaCountTransformer<'a> {
    /// The finding about an entry whose resources lack the field, which their spec does not make.
    fn without_effect(&self) -> Warning {
        let message = format!("the number of replicas of '{}' is set nowhere: the field is missing", self.name);
        let finding = Warning::new(Code::NoEffect, message).at(self.pos);
        finding.hint("'create: true' in the field spec of 'replicas' makes the field")
    }

    /// Sets the fields of a resource. Returns false if the resource has none of them.
    fn set(
        &self,
        resource: &mut Resource<'a>,
        specs: &[(&FieldSpec<'a>, &[Step<'a>])],
        count: &'a str,
    ) -> Result<bool> {
        let id = *resource.id();
        let mut has_set = false;
        let set = specs.iter().try_for_each(|(spec, path)| {
            let create = if spec.create { Create::Scalar } else { Create::No };
            edit_path(resource, path, create, &mut |node| {
                let is_other = scalar_of(node)?.text() != count;
                if let Some(overridden) = self.overridden.as_ref().filter(|_| is_other) {
                    overridden.note(node.pos());
                }
                has_set = true;
                node.set_text(count, Tag::Int, self.pos);
                Ok(())
            })
            .map_err(|e| e.in_resource(id).context(format!("setting the replicas of {id}")))
        });
        set.map(|()| has_set)
    }
}
