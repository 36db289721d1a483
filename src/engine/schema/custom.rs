//! [`Custom`]: schemas from a kustomization's `openapi` file or from bundles, in the same kind of
//! table as the built-in one.

use super::Gvk;
use super::{Place, builtin};
use rustomize_base::meter::{FastIndexMap, FastMap, FastSet};
use rustomize_yaml::{Entry, Mapping, Node, Value};

/// The largest number of references in a chain: more than any schema needs.
const MAX_REFERENCES: usize = 64;

/// Types by name, each with its properties.
pub type Types<'n, 'a> = FastIndexMap<&'a str, &'n Mapping<'a>>;

/// A document with schemas.
#[derive(Clone, Debug)]
pub enum Document<'a> {
    /// `definitions` and `paths`, as Kubernetes publishes them.
    OpenApi(Node<'a>),
    /// The manifest of a CustomResourceDefinition: the kinds of its versions, each with an inline
    /// schema.
    Crd(Node<'a>),
}

/// Schema documents: their kinds, and the facts that merging needs about each schema object.
#[derive(Clone, Debug, Default)]
pub struct Custom<'a> {
    kinds: FastMap<Gvk<'a>, u32>,
    nodes: Vec<Object<'a>>,
    cluster_scoped: FastSet<Gvk<'a>>,
}

/// A schema object: the schema of a mapping, a list or a scalar.
#[derive(Clone, Debug, Default)]
struct Object<'a> {
    fields: FastMap<&'a str, Place>,
    /// The schema of all other fields.
    additional: Option<Place>,
    items: Option<Place>,
    /// The keys of a list that is merged.
    keys: Option<Vec<&'a str>>,
}

/// A schema object.
pub(super) struct Found<'s> {
    pub place: Place,
    /// The keys of its items, if it is a list that is merged.
    pub keys: Option<&'s [&'s str]>,
}

impl<'a> Custom<'a> {
    /// Reads schema documents: their `definitions` and `paths`; everything else is ignored. A
    /// document may refer to built-in definitions. If `with_builtin` is true, these win over its
    /// own. O(size).
    pub fn new(documents: &[Document<'a>], with_builtin: bool) -> Self {
        let (definitions, known, custom) = Default::default();
        let mut reader = Reader { definitions, known, custom, with_builtin, in_crd: false };
        // If two documents describe one kind, the first one wins: it is read last.
        for document in documents.iter().rev() {
            match document {
                Document::OpenApi(node) => {
                    for entry in definitions_of(node) {
                        reader.definitions.insert(entry.key().text(), entry.value().clone());
                        reader.known.remove(entry.key().text());
                    }
                    for entry in definitions_of(node) {
                        reader.definition(entry.key().text());
                    }
                    reader.scopes(node);
                }
                Document::Crd(node) => reader.crd(document, node),
            }
        }
        reader.custom
    }

    /// Adds the kinds of a CustomResourceDefinition that are not known yet, without their scope.
    /// O(size of the document).
    pub(super) fn add(&mut self, definition: &Document<'a>) {
        let custom = std::mem::take(self);
        let (definitions, known) = Default::default();
        let mut reader = Reader { definitions, known, custom, with_builtin: false, in_crd: true };
        for (gvk, schema) in definition.kinds() {
            if reader.custom.kind(&gvk).is_none() {
                let number = reader.reserve();
                reader.fill(number, schema);
                reader.custom.kinds.insert(gvk, number);
            }
        }
        *self = reader.custom;
    }

    pub(super) fn kind(&self, gvk: &Gvk<'_>) -> Option<u32> {
        self.kinds.get(gvk).copied()
    }

    pub(super) fn is_cluster_scoped(&self, gvk: &Gvk<'_>) -> bool {
        self.cluster_scoped.contains(gvk)
    }

    fn found(&self, place: Place) -> Found<'_> {
        let keys = match place {
            Place::Custom(node) => self.nodes[node as usize].keys.as_deref(),
            _ => None,
        };
        Found { place, keys }
    }

    pub(super) fn field(&self, node: u32, name: &str) -> Option<Found<'_>> {
        let object = &self.nodes[node as usize];
        object.fields.get(name).copied().or(object.additional).map(|n| self.found(n))
    }

    pub(super) fn items(&self, node: u32) -> Option<Found<'_>> {
        self.nodes[node as usize].items.map(|n| self.found(n))
    }
}

struct Reader<'a> {
    definitions: FastMap<&'a str, Node<'a>>,
    /// Definitions that have a number: references may form cycles.
    known: FastMap<&'a str, u32>,
    custom: Custom<'a>,
    with_builtin: bool,
    /// True if lists name their keys as CustomResourceDefinitions do.
    in_crd: bool,
}

/// The definitions of an OpenAPI schema.
fn definitions_of<'n, 'a>(node: &'n Node<'a>) -> impl Iterator<Item = &'n Entry<'a>> {
    node.get("definitions").and_then(Node::as_mapping).into_iter().flat_map(Mapping::iter)
}

impl<'a> Document<'a> {
    /// The types that the schemas refer to. O(definitions).
    pub fn types(&self) -> Types<'_, 'a> {
        match self {
            Document::OpenApi(node) => {
                let types = definitions_of(node)
                    .filter_map(|e| Some((e.key().text(), e.value().get("properties")?.as_mapping()?)));
                types.collect()
            }
            Document::Crd(_) => Types::default(),
        }
    }

    /// The kinds with their schemas. O(definitions).
    pub fn kinds(&self) -> Vec<(Gvk<'a>, &Node<'a>)> {
        match self {
            Document::OpenApi(node) => {
                definitions_of(node).flat_map(|e| gvks(e.value()).into_iter().map(|gvk| (gvk, e.value()))).collect()
            }
            Document::Crd(node) => {
                let text = |path: [&str; 2]| {
                    node.get("spec").and_then(|spec| match path {
                        ["", field] => spec.get_text(field),
                        [object, field] => spec.get(object)?.get_text(field),
                    })
                };
                let (group, kind) =
                    (text(["", "group"]).unwrap_or_default(), text(["names", "kind"]).unwrap_or_default());
                let versions = node.get("spec").and_then(|spec| spec.get("versions")).and_then(Node::as_sequence);
                let kinds = versions.into_iter().flatten().filter_map(|version| {
                    let schema = version.get("schema")?.get("openAPIV3Schema")?;
                    Some((Gvk { group, version: version.get_text("name")?, kind }, schema))
                });
                kinds.collect()
            }
        }
    }
}

impl<'a> Reader<'a> {
    fn crd(&mut self, document: &Document<'a>, node: &Node<'a>) {
        self.in_crd = true;
        let is_cluster_scoped = node.get("spec").and_then(|spec| spec.get_text("scope")) == Some("Cluster");
        for (gvk, schema) in document.kinds() {
            let number = self.reserve();
            self.fill(number, schema);
            self.custom.kinds.insert(gvk, number);
            match is_cluster_scoped {
                true => self.custom.cluster_scoped.insert(gvk),
                false => self.custom.cluster_scoped.remove(&gvk),
            };
        }
        self.in_crd = false;
    }

    fn definition(&mut self, name: &'a str) -> Option<u32> {
        if let Some(&number) = self.known.get(name) {
            return Some(number);
        }
        let node = self.definitions.get(name)?.clone();
        let number = self.reserve();
        self.known.insert(name, number);
        self.fill(number, &node);
        for gvk in gvks(&node) {
            self.custom.kinds.insert(gvk, number);
        }
        Some(number)
    }

    fn reserve(&mut self) -> u32 {
        self.custom.nodes.push(Object::default());
        (self.custom.nodes.len() - 1) as u32
    }

    /// The place of a schema object, or of the definition that it refers to.
    fn object(&mut self, node: &Node<'a>) -> Option<Place> {
        let mut node = node.clone();
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = node.get_text("$ref") else {
                let number = self.reserve();
                self.fill(number, &node);
                return Some(Place::Custom(number));
            };
            let name = reference.strip_prefix("#/definitions/")?;
            if self.with_builtin
                && let Some(builtin) = builtin_definition(name)
            {
                return Some(builtin);
            }
            match self.definitions.get(name).and_then(|target| target.get_text("$ref")) {
                None => return self.definition(name).map(Place::Custom),
                Some(_) => node = self.definitions.get(name)?.clone(),
            }
        }
        None
    }

    fn fill(&mut self, number: u32, node: &Node<'a>) {
        let keys = merge_keys(node).or_else(|| list_map_keys(node).filter(|_| self.in_crd));
        let mut object = Object { keys, ..Object::default() };
        for entry in node.get("properties").and_then(Node::as_mapping).into_iter().flat_map(|m| m.iter()) {
            if let Some(field) = self.object(entry.value()) {
                object.fields.insert(entry.key().text(), field);
            }
        }
        object.additional = node.get("additionalProperties").and_then(|n| self.object(n));
        let is_list = node.get_text("type") == Some("array");
        object.items = node.get("items").filter(|_| is_list).and_then(|n| self.object(n));
        self.custom.nodes[number as usize] = object;
    }

    /// A path without a namespace makes a kind cluster-scoped, unless another path of the kind has
    /// one.
    fn scopes(&mut self, document: &Node<'a>) {
        let mut namespaced: FastSet<Gvk<'a>> = FastSet::default();
        for entry in document.get("paths").and_then(Node::as_mapping).into_iter().flat_map(|m| m.iter()) {
            let Some(gvk) =
                entry.value().get("get").and_then(|get| get.get("x-kubernetes-group-version-kind")).map(gvk)
            else {
                continue;
            };
            if entry.key().text().contains("namespaces/{namespace}") {
                namespaced.insert(gvk);
                self.custom.cluster_scoped.remove(&gvk);
            } else if !namespaced.contains(&gvk) {
                self.custom.cluster_scoped.insert(gvk);
            }
        }
    }
}

/// The built-in definition with a name such as `io.k8s.api.core.v1.PodSpec`.
fn builtin_definition(name: &str) -> Option<Place> {
    let mut parts = name.strip_prefix("io.k8s.")?.rsplit('.');
    let (kind, version, group) = (parts.next()?, parts.next()?, parts.next()?);
    let at = builtin::NAMES.binary_search_by(|known| (*known).cmp(&format!("{group}/{version}.{kind}"))).ok()?;
    Some(Place::Builtin(at as u16))
}

fn gvks<'a>(node: &Node<'a>) -> Vec<Gvk<'a>> {
    match node.get("x-kubernetes-group-version-kind").map(|n| n.value()) {
        Some(Value::Sequence(items)) => items.iter().map(gvk).collect(),
        _ => Vec::new(),
    }
}

fn gvk<'a>(node: &Node<'a>) -> Gvk<'a> {
    let text = |key| node.get_text(key).unwrap_or_default();
    Gvk { group: text("group"), version: text("version"), kind: text("kind") }
}

fn merge_keys<'a>(node: &Node<'a>) -> Option<Vec<&'a str>> {
    let strategy = node.get_text("x-kubernetes-patch-strategy")?;
    if !strategy.split(',').any(|s| s == "merge") {
        return None;
    }
    let keys = map_keys(node);
    Some(keys.unwrap_or_else(|| node.get_text("x-kubernetes-patch-merge-key").into_iter().collect()))
}

/// The keys of a list that is a map, in the format of CustomResourceDefinitions.
fn list_map_keys<'a>(node: &Node<'a>) -> Option<Vec<&'a str>> {
    map_keys(node).filter(|_| node.get_text("x-kubernetes-list-type") == Some("map"))
}

fn map_keys<'a>(node: &Node<'a>) -> Option<Vec<&'a str>> {
    let items = node.get("x-kubernetes-list-map-keys").and_then(Node::as_sequence)?;
    Some(items.iter().filter_map(|n| n.as_scalar().map(|s| s.text())).collect())
}
