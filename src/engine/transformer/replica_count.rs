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

use super::objects::ReplicaCount;
use super::{edit_path, scalar_of};
use crate::config::field_spec::{Create, Step};
use crate::config::kustomization::Replica;
use crate::config::{FieldSpec, FieldSpecs, UsualSpecs};
use crate::diag::{Code, Error, Result, Warning, nearest};
use crate::resource::{Hint, ResMap, Resource};
use crate::schema::builtin_groups;
use crate::stage::{Build, Fields, Object, Overridden, Overriding, Planned, Stage, Transformer, Watched};
use rustomize_yaml::{Pos, Tag};

/// One entry of `replicas`.
pub struct ReplicaCountTransformer<'a> {
    name: &'a str,
    count: i64,
    specs: FieldSpecs<'a>,
    pos: Pos,
    /// The place of the count, which is the place of the numbers that are set.
    set_at: Pos,
    /// The values of patches that it replaces, if the build is asked for findings.
    overridden: Option<Overridden>,
}

impl<'a> ReplicaCountTransformer<'a> {
    fn new(replica: &Replica<'a>, specs: FieldSpecs<'a>, pos: Pos) -> Self {
        let set_at = replica.given.pos("count").unwrap_or(pos);
        ReplicaCountTransformer { name: replica.name, count: replica.count, specs, pos, set_at, overridden: None }
    }

    /// The transformers of `replicas`, one for each entry.
    ///
    /// # Errors
    /// A field spec is wrong.
    pub fn from_fields(fields: &mut Fields<'_, 'a>) -> Result<Vec<Planned<'a>>> {
        let replicas = &fields.kustomization.replicas;
        if replicas.is_empty() {
            return Ok(Vec::new());
        }
        static USUAL: UsualSpecs = UsualSpecs::unmade();
        let specs = fields.specs(&USUAL, |config| &config.replicas)?;
        let planned = |replica: &Replica<'a>| {
            let stage = ReplicaCountTransformer::new(replica, specs.clone(), replica.pos);
            fields.whole(stage, replica.pos)
        };
        Ok(replicas.iter().map(planned).collect())
    }

    /// The transformer of a configuration object.
    ///
    /// # Errors
    /// A field has a wrong type.
    pub fn from_object(object: &mut Object<'_, 'a>) -> Result<Stage<'a>> {
        let ReplicaCount { replica } = object.read()?;
        let specs = object.specs()?;
        Ok(Stage::whole(ReplicaCountTransformer::new(&replica, specs, object.pos())))
    }
}

impl Overriding for ReplicaCountTransformer<'_> {
    fn watched(&self) -> Watched {
        Watched::All
    }

    fn note_in(&mut self, overridden: Overridden) {
        self.overridden = Some(overridden);
    }
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
            build.find(|| self.overridden.iter().flat_map(|overridden| overridden.findings(map, message)));
            return Ok(());
        }
        let has_replicas = |r: &&Resource<'a>| self.specs.for_gvk(r.id().gvk).next().is_some();
        let names: Vec<&str> = map.iter().filter(has_replicas).map(|r| r.id().name).collect();
        let meant = nearest(self.name, names.iter().copied()).map(|name| format!("did you mean '{name}'?"));
        let kinds = "name a Deployment, StatefulSet, ReplicaSet or ReplicationController";
        let other = map.iter().find(|r| r.any_ids().any(|id| id.name == self.name)).map(|r| r.id().gvk.kind);
        let is_custom = |kind: &&str| builtin_groups(kind).is_empty();
        let of_other = other.filter(is_custom).map(|kind| {
            format!("for a {kind}, list a file under 'configurations' with: replicas: [{{kind: {kind}, path: spec/replicas}}]")
        });
        Err(Error::new(
            Code::NoMatch,
            format!(
                "resource with name {} does not match a config with the following GVK: a kind that has replicas",
                self.name
            ),
        )
        .hint(meant.or(of_other).unwrap_or_else(|| kinds.to_owned())))
    }

    fn overriding(&mut self) -> Option<&mut dyn Overriding> {
        Some(self)
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
                node.set_text(count, Tag::Int, self.set_at);
                Ok(())
            })
            .map_err(|e| e.in_resource(id).context(format!("setting the replicas of {id}")))
        });
        set.map(|()| has_set)
    }
}
