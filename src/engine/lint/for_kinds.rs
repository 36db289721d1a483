//! Findings about files of `configurations`, `crds` and `openapi`, once all resources of the build
//! are there: nothing has a kind that the file is for.

use crate::diag::{Code, Warning, nearest};
use crate::resource::ResMap;
use crate::schema::{Document, Gvk, builtin_groups};
use crate::stage::{ForKinds, KindField, NamedKind};
use rustomize_yaml::{Mapping, Node, Pos, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The kinds of all resources, with those that they had before, by their names.
type Present<'a> = BTreeMap<&'a str, BTreeSet<Gvk<'a>>>;

/// The findings about files that bases and components have, too. Most files are for more kinds than
/// one root has, so that a file counts as a whole. `note_used` gets the places of entries whose
/// files are for a kind that exists. O(kinds in the files + resources).
pub fn findings<'a>(map: &ResMap<'a>, files: &[ForKinds<'a>], note_used: impl Fn(Pos)) -> Vec<Warning> {
    if files.is_empty() || map.is_empty() {
        return Vec::new();
    }
    let mut present = Present::new();
    for gvk in map.iter().flat_map(|resource| resource.any_ids()).map(|id| id.gvk) {
        present.entry(gvk.kind).or_default().insert(gvk);
    }
    // A base that two layers share is read twice.
    let mut known = BTreeSet::new();
    let files = files.iter().filter(|file| known.insert(file.entry.pos));
    files.flat_map(|file| in_file(&present, file, &note_used)).collect()
}

/// The findings about a file. In `configurations`, a custom kind is a finding of its own if it is
/// nearly one that exists.
fn in_file<'a>(present: &Present<'a>, file: &ForKinds<'a>, note_used: &impl Fn(Pos)) -> Vec<Warning> {
    let is_idle = |named: &&NamedKind<'a>| {
        !present.get(named.gvk.kind).is_some_and(|gvks| gvks.iter().any(|gvk| named.gvk.selects(gvk)))
    };
    let idle: Vec<&NamedKind<'a>> = file.kinds.iter().filter(is_idle).collect();
    if idle.len() < file.kinds.len() {
        note_used(file.entry.pos);
    }
    let misspelt: Vec<Warning> = match file.field {
        KindField::Configurations => idle.iter().filter_map(|named| misspelt(present, named)).collect(),
        KindField::Crds | KindField::OpenApi => Vec::new(),
    };
    if !misspelt.is_empty() || idle.len() < file.kinds.len() {
        return misspelt;
    }
    let entry = &file.entry;
    let message = match (file.field, file.kinds.is_empty()) {
        (KindField::Configurations, _) => format!("'{entry}' changes nothing: no resource is of a kind that it names"),
        (KindField::Crds, true) => format!("'{entry}' changes nothing: no field of its types has an extension"),
        (KindField::Crds, false) => format!("'{entry}' changes nothing: no resource is of a kind that it describes"),
        (KindField::OpenApi, true) => format!("'{entry}' is not used: no definition in it says its kind"),
        (KindField::OpenApi, false) => {
            format!("'{entry}' is not used: no resource has a kind and version that it describes")
        }
    };
    let finding = Warning::new(Code::NoEffect, message).at(entry.pos);
    vec![match (file.field, file.kinds.is_empty()) {
        (KindField::Crds, true) => {
            finding.hint("kustomize reads extensions such as x-kubernetes-object-ref-kind from these files, no more")
        }
        (KindField::OpenApi, true) => finding.hint("add 'x-kubernetes-group-version-kind' to the definitions of kinds"),
        _ => finding,
    }]
}

/// The finding about a kind of a configuration that differs in few letters from one that exists.
fn misspelt(present: &Present<'_>, named: &NamedKind<'_>) -> Option<Warning> {
    let kind = named.gvk.kind;
    if !builtin_groups(kind).is_empty() {
        return None;
    }
    let near = nearest(kind, present.keys().copied()).filter(|near| *near != kind)?;
    let message = format!("no resource is of the kind '{kind}': the field spec changes nothing");
    Some(Warning::new(Code::NoEffect, message).at(named.pos).hint(format!("did you mean '{near}'?")))
}

/// The findings about paths of field specs with dots between their parts: kustomize takes such a
/// path for the name of a single field. O(size of the value).
pub fn dotted_paths(node: &Node<'_>) -> Vec<Warning> {
    let mut found = Vec::new();
    match node.value() {
        Value::Scalar(_) => {}
        Value::Sequence(items) => found.extend(items.iter().flat_map(dotted_paths)),
        Value::Mapping(fields) => {
            let path = fields.get("path").filter(|path| is_dotted(path.scalar_text()));
            found.extend(path.map(|path| {
                let text = path.scalar_text();
                let message = format!("the path '{text}' has dots, and names no field");
                let hint = format!("write '/' between the parts: {}", text.replace('.', "/"));
                Warning::new(Code::NoEffect, message).at(path.pos()).hint(hint)
            }));
            found.extend(fields.iter().flat_map(|field| dotted_paths(field.value())));
        }
    }
    found
}

/// True for a path with dots in the place of slashes, from a field that most kinds have.
fn is_dotted(path: &str) -> bool {
    let first = path.split_once('.').map_or("", |(first, _)| first);
    matches!(first, "metadata" | "spec" | "data" | "status" | "template") && !path.contains('/')
}

/// The kinds that a configuration names. Returns `None` if a section of it is for all kinds: such a
/// file has an effect on any resource. O(size of the file).
pub fn in_configuration<'a>(node: &Node<'a>) -> Option<Vec<NamedKind<'a>>> {
    let mut named = Vec::new();
    let has_kinds = node.as_mapping().into_iter().flat_map(Mapping::iter).all(|e| add_kinds(e.value(), &mut named));
    Some(named).filter(|named| has_kinds && !named.is_empty())
}

/// Adds the kinds that a value names. Returns false if one of its mappings lacks a kind.
fn add_kinds<'a>(node: &Node<'a>, named: &mut Vec<NamedKind<'a>>) -> bool {
    match node.value() {
        Value::Scalar(_) => true,
        Value::Sequence(items) => items.iter().all(|item| add_kinds(item, named)),
        Value::Mapping(fields) => {
            let Some(kind) = fields.get("kind").and_then(Node::as_scalar).filter(|kind| !kind.text().is_empty()) else {
                return false;
            };
            let part = |name| node.get_text(name).unwrap_or_default();
            let gvk = Gvk { group: part("group"), version: part("version"), kind: kind.text() };
            named.push(NamedKind { gvk, pos: fields.get("kind").map_or(Pos::NONE, Node::pos) });
            fields.get("fieldSpecs").is_none_or(|specs| add_kinds(specs, named))
        }
    }
}

/// The kinds that a schema describes; `None` if it has `paths`, which say the scope of kinds.
/// O(definitions).
pub fn in_schema<'a>(document: &Document<'a>) -> Option<Vec<NamedKind<'a>>> {
    if let Document::OpenApi(node) = document
        && node.get("paths").is_some_and(|paths| !paths.is_null_or_empty())
    {
        return None;
    }
    let kinds = document.kinds().into_iter();
    let kinds: Vec<_> = kinds.map(|(gvk, node)| NamedKind { gvk, pos: node.pos() }).collect();
    // A CustomResourceDefinition without a schema describes nothing.
    Some(kinds).filter(|kinds| !kinds.is_empty() || matches!(document, Document::OpenApi(_)))
}
