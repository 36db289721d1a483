//! Custom resource types: which of their fields hold annotations, labels, names and references.
//!
//! *Fields*: `crds`.
//! *Reads*: files that map names of types to objects with a `Schema`; a manifest of a
//! CustomResourceDefinition is an error, or with `--crd-merge-keys` says by which keys lists are
//! merged. The extensions `x-kubernetes-annotation`,
//! `x-kubernetes-label-selector`, `x-kubernetes-identity` and `x-kubernetes-object-ref-api-version`
//! with `x-kubernetes-object-ref-kind` count.
//! *Order*: before the resources of the layer; what was learnt holds for the layers above too.
//! *Cost*: O(size of the files).
//! *Quirks*: only `$ref` is followed, no properties in place and no items of lists. A prefix is for
//! names, a suffix is not.
//! *Example*: `testdata/reference/crds.txtar`

use super::Target;
use crate::config::field_spec::{FieldSpec, MergedSpecs};
use crate::config::transformer_config::NameBackReferences;
use crate::config::{TransformerConfig, Written};
use crate::diag::{Code, Error, Errors, Result};
use crate::lint::for_kinds;
use crate::load::remote::is_remote;
use crate::schema::Gvk;
use crate::schema::{Document, Types};
use crate::stage::{Build, KindField, NamedKind};
use rustomize_yaml::{Arena, Node, first_document};

/// The field specs that the files of `crds` give. If `has_faults` is true, the build fails anyway,
/// and nothing is fetched.
///
/// # Errors
/// Files cannot be read, or are not of this form: a CustomResourceDefinition is not.
pub(super) fn config<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    has_faults: bool,
) -> Result<TransformerConfig<'a>> {
    let mut config = TransformerConfig::default();
    let mut errors = Errors::default();
    for path in &target.kustomization.crds {
        if (errors.is_empty() && !has_faults) || !is_remote(path) {
            let in_file = |e: Error| e.through(path.pos, format!("in crds entry '{path}' of {}", target.file));
            errors.note(add_file(build, target, *path, &mut config).map_err(in_file));
        }
    }
    errors.end(config)
}

/// Adds the field specs that a file gives.
fn add_file<'a>(
    build: &mut Build<'a>,
    target: &Target<'a>,
    path: Written<'a>,
    config: &mut TransformerConfig<'a>,
) -> Result<()> {
    let arena = build.arena;
    let source = build.cx.files.text(&target.root, &path)?;
    let Some(node) = first_document(arena, source)? else { return Ok(()) };
    if build.cx.options.crd_merge_keys && node.get_text("kind") == Some("CustomResourceDefinition") {
        let definition = Document::Crd(node);
        build.note_for_kinds(path, KindField::Crds, || for_kinds::in_schema(&definition));
        build.schema.learn_keys(definition);
        return Ok(());
    }
    let types = types(&node)?;
    let mut kinds = Vec::new();
    for (name, properties) in &types {
        let is_kind = ["kind", "apiVersion", "metadata"].into_iter().all(|field| properties.contains(field));
        if is_kind {
            let kind = name.rsplit('.').next().unwrap_or(name);
            let gvk = Gvk { kind, ..Gvk::default() };
            let count = spec_count(config);
            Walk { arena, types: &types, gvk, config, open: Vec::new(), is_nested: false }.add(name, "");
            if spec_count(config) > count {
                kinds.push(NamedKind { gvk, pos: path.pos });
            }
        }
    }
    build.note_for_kinds(path, KindField::Crds, || Some(kinds));
    Ok(())
}

/// The number of the field specs and name references that types can give.
fn spec_count(config: &TransformerConfig<'_>) -> usize {
    let specs = [&config.common_annotations, &config.common_labels, &config.name_prefix];
    specs.into_iter().map(MergedSpecs::len).sum::<usize>() + config.name_reference.len()
}

/// The types of a file, each with its properties.
fn types<'n, 'a>(node: &'n Node<'a>) -> Result<Types<'n, 'a>> {
    let fault = |node: &Node<'_>| {
        let error = Error::new(Code::BadSchema, "unable to parse open API definition").at(node.pos());
        error.hint("each entry is the name of a type with a 'Schema'; a CustomResourceDefinition does not go here")
    };
    let mut types = Types::default();
    for entry in node.as_mapping().ok_or_else(|| fault(node))?.iter() {
        let of_type = entry.value().as_mapping().ok_or_else(|| fault(entry.value()))?;
        let schema = of_type.iter().find(|e| e.key().text().eq_ignore_ascii_case("schema"));
        if let Some(properties) = schema.and_then(|s| s.value().get("properties")).and_then(Node::as_mapping) {
            types.entry(entry.key().text()).or_insert(properties);
        }
    }
    Ok(types)
}

/// A walk over the properties of a type, and of the types they refer to.
pub(super) struct Walk<'w, 'n, 'a> {
    pub(super) arena: Arena<'a>,
    pub(super) types: &'w Types<'n, 'a>,
    /// The kind whose fields these are.
    pub(super) gvk: Gvk<'a>,
    pub(super) config: &'w mut TransformerConfig<'a>,
    /// Types on the way here: a type that refers to itself would never end.
    pub(super) open: Vec<&'a str>,
    /// True if properties in place and items of lists are followed, too.
    pub(super) is_nested: bool,
}

impl<'a> Walk<'_, '_, 'a> {
    fn add(&mut self, name: &'a str, path: &str) {
        let Some(properties) = self.types.get(name) else { return };
        if self.open.contains(&name) {
            return;
        }
        self.open.push(name);
        for entry in properties.iter() {
            self.add_property(entry.value(), &below(path, entry.key().text()));
        }
        self.open.pop();
    }

    /// The properties of a schema at its place, and those of a list's items.
    pub(super) fn add_properties(&mut self, schema: &Node<'a>, path: &str) {
        for entry in schema.get("properties").and_then(Node::as_mapping).into_iter().flat_map(|m| m.iter()) {
            self.add_property(entry.value(), &below(path, entry.key().text()));
        }
        if let Some(items) = schema.get("items") {
            self.add_property(items, path);
        }
    }

    fn add_property(&mut self, property: &Node<'a>, path: &str) {
        let says = |extension: &str| property.get(extension).and_then(Node::as_scalar).map(|s| s.text());
        let gvk = self.gvk;
        let spec = |path: &str| FieldSpec { gvk, path: self.arena.text(path), create: false };
        if says("x-kubernetes-annotation").is_some() {
            self.config.common_annotations.push(spec(path));
        }
        if says("x-kubernetes-label-selector").is_some() {
            self.config.common_labels.push(spec(path));
        }
        if says("x-kubernetes-identity").is_some() {
            self.config.name_prefix.push(spec(path));
        }
        if let (Some(version), Some(kind)) =
            (says("x-kubernetes-object-ref-api-version"), says("x-kubernetes-object-ref-kind"))
        {
            let key = says("x-kubernetes-object-ref-name-key").unwrap_or("name");
            let fields = vec![spec(&format!("{path}/{key}"))].into();
            self.config.name_reference.push(NameBackReferences { gvk: Gvk { version, kind, group: "" }, fields });
        }
        if let Some(reference) = property.get_text("$ref") {
            self.add(reference.strip_prefix("#/definitions/").filter(|_| self.is_nested).unwrap_or(reference), path);
        }
        if self.is_nested {
            self.add_properties(property, path);
        }
    }
}

fn below(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}/{field}") }
}
