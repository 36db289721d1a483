//! Schemas of bundles: the kinds of an environment that Kubernetes does not have.
//!
//! *Reads*: manifests of CustomResourceDefinitions, and OpenAPI documents with `definitions` as
//! Kubernetes publishes them. Lists are merged by the keys that they name, kinds have the scope
//! that they name, and fields with `x-kubernetes-object-ref-kind` and the other extensions of
//! `crds` hold references, labels, annotations and names.
//! *Order*: before the build begins, for all roots. Kubernetes' own kinds stay as they are; a
//! kustomization's `openapi` file wins.
//! *Cost*: O(size of the files); nothing without an environment that has such files.

use super::crds;
use crate::config::TransformerConfig;
use crate::diag::{Code, Error, Result};
use crate::schema::Document;
use crate::schema::Gvk;
use crate::stage::{Context, Premises};
use rustomize_yaml::{Arena, Node, documents};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The premises of a build with the schema files that its options name.
///
/// # Errors
/// A file cannot be read, or is neither a CustomResourceDefinition nor an OpenAPI document.
pub(super) fn premises<'a>(cx: &Context<'a>) -> Result<Premises<'a>> {
    let arena = cx.arena;
    let mut all = Vec::new();
    for path in &cx.options.schemas {
        cx.files.note(path);
        let shown = path.display().to_string();
        let text = text(cx, path).map_err(|e| Error::io(&e, format!("cannot read the schema '{shown}': {e}")))?;
        let source = arena.add_source(shown, text);
        for node in documents(arena, source)?.into_iter().filter(|node| !node.is_null()) {
            all.push(document(node)?);
        }
    }
    if all.is_empty() {
        return Ok(Premises::default());
    }
    let mut config = TransformerConfig::defaults(cx.options.compat);
    for document in &all {
        config.merge(references(arena, document))?;
    }
    Ok(Premises { schemas: all, default_config: Some(Arc::new(config)), ..Premises::default() })
}

/// The text of a file of this machine.
fn text(cx: &Context<'_>, path: &Path) -> io::Result<String> {
    let opened = cx.files.machine().open(path).map_err(|e| e.error)?;
    let bytes = opened.read(cx.options.file_limit)?;
    String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
}

fn document<'a>(node: Node<'a>) -> Result<Document<'a>> {
    if node.get_text("kind") == Some("CustomResourceDefinition") {
        return Ok(Document::Crd(node));
    }
    if node.get("definitions").and_then(Node::as_mapping).is_some() {
        return Ok(Document::OpenApi(node));
    }
    let error = Error::new(
        Code::BadSchema,
        "a schema is a CustomResourceDefinition, or an OpenAPI document with 'definitions'",
    );
    Err(error.at(node.pos()))
}

/// The references in the fields of a document's kinds.
fn references<'a>(arena: Arena<'a>, document: &Document<'a>) -> TransformerConfig<'a> {
    let mut config = TransformerConfig::default();
    let (types, kinds) = (document.types(), document.kinds());
    for (gvk, schema) in kinds {
        let any_version = Gvk { version: "", ..gvk };
        crds::Walk { arena, types: &types, gvk: any_version, config: &mut config, open: Vec::new(), is_nested: true }
            .add_properties(schema, "");
    }
    config
}
