//! OpenAPI schemas: which schema a build merges lists by.
//!
//! *Fields*: `openapi`.
//! *Entry*: `OpenApi`.
//! *Reads*: a schema in JSON or YAML, with `definitions` as Kubernetes publishes them.
//! *Order*: one build has one schema: that of the root, else that of the first base or component
//! that has one. It holds for everything that is merged afterwards.
//! *Cost*: O(size of the file); the built-in tables cost nothing until something is merged.
//! *Quirks*: a file takes the place of the built-in schema, it does not add to it. If the
//! file is not a schema, the first merge fails, and so does the first resource of a custom kind
//! (cases openapi-faulty-unused and openapi-faulty-used).
//! *Example*: `testdata/reference/openapi.txtar`

use super::Target;
use crate::config::Written;
use crate::diag::{Code, Error, Result, Warning};
use crate::lint::for_kinds;
use crate::schema::Document;
use crate::stage::{Build, KindField};
use rustomize_yaml::{Arena, Malformed, Mapping, Node, Source, Value, first_document};

/// The only built-in schema.
const BUILTIN_VERSION: &str = "v1.21.2";

/// Chooses the schema that a kustomization asks for, unless one was chosen before.
///
/// # Errors
/// The version is not built in, both a version and a file are named, or the file is not there. A
/// file that is not a schema is an error once the schema is asked for something.
pub(super) fn set<'a>(build: &mut Build<'a>, target: &Target<'a>) -> Result<()> {
    let arena = build.arena;
    let wanted = &target.kustomization.openapi;
    let in_field = |e: Error| e.through(wanted.pos, format!("in 'openapi' of {}", target.file));
    // The file must be there, whether or not its schema counts.
    let source = match wanted.path {
        "" => None,
        path => Some(build.cx.files.text(&target.root, path).map_err(|e| in_field(e.into()))?),
    };
    if build.schema.is_chosen() || (source.is_none() && wanted.version.is_empty()) {
        return Ok(());
    }
    let Some(source) = source else {
        if wanted.version != BUILTIN_VERSION {
            let error =
                target.error("openapi", format!("the specified OpenAPI version '{}' is not built in", wanted.version));
            return Err(in_field(error.hint(format!("it is {BUILTIN_VERSION}, or a 'path' to a schema"))));
        }
        build.schema.choose_builtin();
        return Ok(());
    };
    if !wanted.version.is_empty() {
        return Err(in_field(
            target
                .error("openapi", "builtin version and custom schema provided, cannot use both")
                .with_code(Code::ConflictingFields)
                .hint("remove 'version' or 'path'"),
        ));
    }
    match schema(arena, source) {
        Ok(node) => {
            let document = Document::OpenApi(node);
            let entry = Written { text: wanted.path, pos: wanted.pos };
            build.note_for_kinds(entry, KindField::OpenApi, || for_kinds::in_schema(&document));
            build.schema.choose(document);
        }
        Err(Malformed { message, pos }) => {
            build.find(|| {
                let asked = "the build fails as soon as it asks the schema for something";
                [Warning::new(Code::BadSchema, format!("{message}: {asked}")).at(pos)]
            });
            build.schema.choose_faulty(in_field(Error::new(Code::BadSchema, message).at(pos)));
        }
    }
    Ok(())
}

/// Reads a schema. A document without a value is a schema without kinds.
fn schema<'a>(arena: Arena<'a>, source: &'a Source) -> Result<Node<'a>, Malformed> {
    let fault = |found: &str, pos| {
        let message = format!("expected a schema with 'definitions', found {found}");
        Err(Malformed { message, pos })
    };
    if source.text.is_empty() {
        return fault("an empty file", source.pos(0));
    }
    let node = first_document(arena, source)?.unwrap_or(Node::null());
    match node.value() {
        Value::Mapping(_) => Ok(node),
        _ if node.is_null() => Ok(Mapping::new().into()),
        _ => fault(node.shape(), node.pos()),
    }
}
