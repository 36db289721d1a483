//! The schema of a build: by which lists are merged, and which kinds lack a namespace.

use crate::diag::{Error, Result};
use crate::resource::{RESOURCE, Resource, Scope, distinct};
use crate::schema::{self, Custom, Document, Gvk, Schemas};
use rustomize_yaml::Arena;
use std::rc::Rc;

/// The schema of a build, and whether it still can be chosen.
#[derive(Default)]
pub struct BuildSchema<'a> {
    chosen: Option<Rc<Schemas<'a>>>,
    /// The built-in tables, with what bundles add to them.
    builtin: Rc<Schemas<'a>>,
    bundled: Vec<Document<'a>>,
    /// CustomResourceDefinitions of the tree, for a schema that is chosen later.
    of_tree: Vec<Document<'a>>,
    /// True if the built-in tables were asked for before another schema was chosen.
    is_builtin_used: bool,
    /// The reason why the chosen schema cannot be read.
    fault: Option<Error>,
}

impl<'a> BuildSchema<'a> {
    /// The known facts about kinds, for merging.
    ///
    /// # Errors
    /// The chosen schema cannot be read.
    pub fn for_merging(&mut self) -> Result<Rc<Schemas<'a>>> {
        if self.chosen.is_none() {
            self.is_builtin_used = true;
        }
        self.check().map(|()| Rc::clone(self.known()))
    }

    /// Learns by which keys the lists of a CustomResourceDefinition of the tree are merged. Every
    /// other schema of a kind wins. O(size of the document).
    pub fn learn_keys(&mut self, definition: Document<'a>) {
        for schemas in self.chosen.iter_mut().chain([&mut self.builtin]) {
            Rc::make_mut(schemas).add_of_tree(&definition);
        }
        self.of_tree.push(definition);
    }

    fn known(&self) -> &Rc<Schemas<'a>> {
        self.chosen.as_ref().unwrap_or(&self.builtin)
    }

    /// Learns what bundles say of kinds, before anything is merged.
    pub fn learn(&mut self, bundled: Vec<Document<'a>>) {
        self.builtin = Rc::new(Schemas::custom(Custom::new(&bundled, true), true));
        self.bundled = bundled;
    }

    /// Returns true if a schema was chosen.
    pub fn is_chosen(&self) -> bool {
        self.chosen.is_some()
    }

    /// Returns true if the built-in tables were asked for.
    pub fn is_builtin_used(&self) -> bool {
        self.is_builtin_used
    }

    /// Notes that a layer has asked for the built-in tables.
    pub fn use_builtin(&mut self) {
        self.is_builtin_used = true;
    }

    /// Chooses the built-in schema.
    pub fn choose_builtin(&mut self) {
        self.chosen = Some(Rc::clone(&self.builtin));
    }

    /// Chooses the schema of a file.
    pub fn choose(&mut self, document: Document<'a>) {
        // The first one wins.
        let all = [vec![document], self.bundled.clone()].concat();
        let custom = Custom::new(&all, self.is_builtin_used);
        let mut schemas = Schemas::custom(custom, self.is_builtin_used);
        self.of_tree.iter().for_each(|definition| schemas.add_of_tree(definition));
        self.chosen = Some(Rc::new(schemas));
    }

    /// Chooses the schema of a file that cannot be read. As upstream, that is an error as soon as
    /// the schema is asked for something.
    pub fn choose_faulty(&mut self, fault: Error) {
        self.chosen = Some(Rc::default());
        self.fault = Some(fault);
    }

    fn check(&self) -> Result<()> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Lets resources know what the schema says about their scope. O(n), on all cores if there are
    /// many.
    ///
    /// # Errors
    /// The chosen schema cannot be read, and a kind is not one whose scope upstream knows by heart.
    pub fn note_scope(&mut self, arena: Arena<'_>, resources: &mut [Resource<'a>]) -> Result<()> {
        let kinds = distinct(resources, arena.threads(resources.len() * RESOURCE), |r| Some(r.id().gvk));
        // Upstream reads its tables for the scope of a kind that is not among those it knows by
        // heart.
        if !kinds.iter().all(schema::is_scope_known) {
            self.check()?;
            self.is_builtin_used |= self.chosen.is_none();
        }
        let schemas = self.known();
        let scope = |gvk: &Gvk<'_>| match schemas.is_cluster_scoped(gvk) {
            true => Some(Scope::Cluster),
            false => (schema::is_admission_policy(gvk) && !arena.compat().admission_policies_are_cluster_scoped())
                .then_some(Scope::Namespace),
        };
        if kinds.iter().all(|gvk| scope(gvk).is_none()) {
            return Ok(());
        }
        for resource in resources {
            if let Some(scope) = scope(&resource.id().gvk) {
                resource.rare_mut().scope = Some(scope);
                resource.refresh_id();
            }
        }
        Ok(())
    }
}
