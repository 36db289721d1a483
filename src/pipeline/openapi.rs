//! OpenAPI schemas: which schema a build merges lists by.
//!
//! *Fields*: `openapi`.
//! *Entry*: `OpenApi`.
//! *Reads*: a schema in JSON or YAML, with `definitions` as Kubernetes publishes them.
//! *Order*: one build has one schema: that of the root, else that of the first base or component
//! that has one. It holds for everything that is merged afterwards.
//! *Cost*: O(size of the file); the built-in tables cost nothing until something is merged.
//! *Quirks*: a file takes the place of the built-in schema, it does not add to it.
//! *Example*: `testdata/reference/openapi.txtar`

use super::{Session, Target};
use crate::diag::{Error, Result};
use crate::resource::Resource;
use crate::schema::{self, Custom, Document, Schemas};
use crate::yaml::{Node, first_document};
use std::cell::{Cell, OnceCell};

/// The only built-in schema.
const BUILTIN_VERSION: &str = "v1.21.2";

/// The schema of a build, and whether it still can be chosen.
#[derive(Default)]
pub(super) struct SessionSchema<'a> {
    chosen: OnceCell<Schemas<'a>>,
    /// The built-in tables, with what bundles add to them.
    builtin: OnceCell<Schemas<'a>>,
    bundled: OnceCell<Vec<Document<'a>>>,
    /// Whether the built-in tables were asked for before another schema was chosen.
    builtin_used: Cell<bool>,
}

impl<'a> SessionSchema<'a> {
    pub(super) fn for_merging(&self) -> &Schemas<'a> {
        self.chosen.get().unwrap_or_else(|| {
            self.builtin_used.set(true);
            self.builtin()
        })
    }

    fn builtin(&self) -> &Schemas<'a> {
        self.builtin.get_or_init(Schemas::default)
    }

    /// What bundles add, once, before anything is merged.
    pub(super) fn learn(&self, with_builtin: Schemas<'a>, documents: Vec<Document<'a>>) {
        drop(self.builtin.set(with_builtin));
        drop(self.bundled.set(documents));
    }

    fn documents(&self) -> Vec<Document<'a>> {
        self.bundled.get().cloned().unwrap_or_default()
    }
}

/// Chooses the schema that a kustomization asks for, unless one was chosen before.
///
/// # Errors
/// The version is not built in, both a version and a file are named, or the file cannot be read or
/// is no schema.
pub(super) fn set<'a>(session: &Session<'a>, target: &Target<'a>) -> Result<()> {
    let wanted = &target.kustomization.openapi;
    let schema = &session.schema;
    let in_field = |e: Error| e.context(format!("in 'openapi' of {}", target.file));
    // The file must be there, whether or not its schema counts.
    let source = match wanted.path {
        "" => None,
        path => Some(session.files.text(&target.root, path).map_err(|e| in_field(e.into()))?),
    };
    if schema.chosen.get().is_some() || (source.is_none() && wanted.version.is_empty()) {
        return Ok(());
    }
    let Some(source) = source else {
        if wanted.version != BUILTIN_VERSION {
            let error = target.error(format!("the specified OpenAPI version '{}' is not built in", wanted.version));
            return Err(in_field(error.hint(format!("it is {BUILTIN_VERSION}, or a 'path' to a schema"))));
        }
        let bundled = schema.documents();
        let builtin =
            if bundled.is_empty() { Schemas::default() } else { Schemas::custom(Custom::new(&bundled, true), true) };
        drop(schema.chosen.set(builtin));
        return Ok(());
    };
    if !wanted.version.is_empty() {
        return Err(in_field(target.error("builtin version and custom schema provided, cannot use both")));
    }
    let fault = |message: String, pos| in_field(Error::input(message).at(session.arena.place(pos)));
    let node = first_document(session.arena, source).map_err(|m| fault(m.message, m.pos))?.unwrap_or(Node::null());
    if node.as_mapping().is_none() {
        return Err(fault(format!("expected a schema with 'definitions', found {}", node.shape()), node.pos));
    }
    let with_builtin = schema.builtin_used.get();
    // The first one wins.
    let all = [vec![Document::OpenApi(node)], schema.documents()].concat();
    drop(schema.chosen.set(Schemas::custom(Custom::new(&all, with_builtin), with_builtin)));
    Ok(())
}

/// Lets resources know what a custom schema says about their scope.
pub(super) fn note_scope<'a>(session: &Session<'a>, resources: &mut [Resource<'a>]) {
    let chosen = session.schema.chosen.get();
    // Upstream reads its tables for the scope of a kind that is not among those it knows by heart.
    if chosen.is_none() && !resources.iter().all(|r| schema::is_scope_known(&r.id().gvk)) {
        session.schema.builtin_used.set(true);
    }
    let schemas = chosen.unwrap_or_else(|| session.schema.builtin());
    for resource in resources.iter_mut().filter(|r| schemas.is_cluster_scoped(&r.id().gvk)) {
        resource.rare_mut().cluster_scoped = true;
        resource.refresh_id();
    }
}
