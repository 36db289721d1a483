//! What is known of Kubernetes kinds: which are cluster-scoped, and which of their lists are merged
//! by key.
//!
//! The tables are static data: a build that merges nothing pays nothing for them.

mod builtin;
mod custom;
pub mod gvk;

pub use custom::{Custom, Document, Types};
pub use gvk::Gvk;

/// No definition: nothing below this field is merged by key.
const NONE: u16 = u16::MAX;

/// The fields of a definition that are keyed lists or lead to some, sorted by name.
struct Definition(&'static [Field]);

struct Field {
    name: &'static str,
    /// The definition of the value, or of the items of a list.
    target: u16,
    list: List,
}

/// Whether a field is a list that is merged by key.
#[derive(Clone, Copy)]
enum List {
    No,
    Keyed(&'static [&'static str]),
}

/// All that a build knows of kinds: the built-in tables, or what a kustomization's `openapi` puts
/// in their place.
#[derive(Clone, Debug, Default)]
pub struct Schemas<'a> {
    custom: Option<Custom<'a>>,
    /// What CustomResourceDefinitions in the tree say of lists, where a build asks for that.
    of_tree: Custom<'a>,
    /// Whether the built-in tables were read before a custom schema came: upstream then has both.
    with_builtin: bool,
}

impl<'a> Schemas<'a> {
    /// A schema from a file. Where the built-in tables have been used already, they stay and come
    /// first.
    pub fn custom(custom: Custom<'a>, with_builtin: bool) -> Self {
        Schemas { custom: Some(custom), of_tree: Custom::default(), with_builtin }
    }

    /// Adds the keys of lists that a CustomResourceDefinition in the tree names; of two that say
    /// something of one kind, the first counts. O(size of the document).
    pub fn add_of_tree(&mut self, definition: &Document<'a>) {
        self.of_tree.add(definition);
    }

    /// Nothing is known: lists are replaced as a whole, until a kind says more.
    pub fn unknown(&self) -> Schema<'_> {
        Schema { all: self, place: Place::Unknown, keys: None }
    }

    /// The schema of a kind; unknown kinds have none. O(log kinds).
    pub fn of(&self, gvk: &Gvk<'_>) -> Schema<'_> {
        let place = match &self.custom {
            None => builtin_place(gvk),
            Some(custom) => {
                let builtin = if self.with_builtin { builtin_place(gvk) } else { Place::Unknown };
                match (builtin, custom.kind(gvk)) {
                    (Place::Unknown, Some(node)) => Place::Custom(node),
                    (builtin, _) => builtin,
                }
            }
        };
        let place = match (place, self.of_tree.kind(gvk)) {
            (Place::Unknown, Some(node)) => Place::OfTree(node),
            (place, _) => place,
        };
        Schema { all: self, place, keys: None }
    }

    /// Whether a custom schema says that a kind has no namespace.
    pub fn is_cluster_scoped(&self, gvk: &Gvk<'_>) -> bool {
        self.custom.as_ref().is_some_and(|custom| custom.is_cluster_scoped(gvk))
    }
}

/// The place of a schema object that the table of CustomResourceDefinitions in the tree has.
fn of_tree<'s>((place, keys): (Place, Option<&'s [&'s str]>)) -> (Place, Option<&'s [&'s str]>) {
    match place {
        Place::Custom(node) => (Place::OfTree(node), keys),
        place => (place, keys),
    }
}

fn builtin_place(gvk: &Gvk<'_>) -> Place {
    let wanted = (gvk.group, gvk.version, gvk.kind);
    if wanted == ("kustomize.config.k8s.io", "v1beta1", "Kustomization") {
        return Place::Kustomization;
    }
    match builtin::KINDS.binary_search_by(|(g, v, k, _)| (*g, *v, *k).cmp(&wanted)) {
        Ok(i) => Place::Builtin(builtin::KINDS[i].3),
        Err(_) => Place::Unknown,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Unknown,
    Builtin(u16),
    Custom(u32),
    /// A schema object of a CustomResourceDefinition in the tree.
    OfTree(u32),
    /// The one kind of kustomize's own that upstream's schema holds.
    Kustomization,
}

/// A place in the schema: what is known about a value. Walks a patch along with the resource.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'s> {
    all: &'s Schemas<'s>,
    place: Place,
    keys: Option<&'s [&'s str]>,
}

impl<'s> Schema<'s> {
    /// Whether nothing is known from here on.
    pub fn is_unknown(&self) -> bool {
        self.place == Place::Unknown && self.keys.is_none()
    }

    /// The schema of a kind, where this one says nothing.
    pub fn of(&self, gvk: &Gvk<'_>) -> Schema<'s> {
        self.all.of(gvk)
    }

    fn at(&self, place: Place, keys: Option<&'s [&'s str]>) -> Schema<'s> {
        Schema { all: self.all, place, keys }
    }

    fn found(&self, found: Option<(Place, Option<&'s [&'s str]>)>) -> Schema<'s> {
        let (place, keys) = found.unwrap_or((Place::Unknown, None));
        self.at(place, keys)
    }

    /// The schema of a field of a mapping with this one. O(log fields).
    pub fn field(&self, name: &str) -> Schema<'s> {
        match self.place {
            Place::Unknown => self.at(Place::Unknown, None),
            Place::Kustomization => {
                let keyed = matches!(name, "configMapGenerator" | "secretGenerator");
                self.at(Place::Unknown, keyed.then_some(&["name"]))
            }
            Place::Builtin(definition) => self.builtin_field(definition, name),
            Place::Custom(node) => self.found(self.all.custom.as_ref().and_then(|custom| custom.field(node, name))),
            Place::OfTree(node) => self.found(self.all.of_tree.field(node, name).map(of_tree)),
        }
    }

    fn builtin_field(&self, definition: u16, name: &str) -> Schema<'s> {
        let Some(Definition(fields)) = builtin::DEFINITIONS.get(usize::from(definition)) else {
            return self.at(Place::Unknown, None);
        };
        match fields.binary_search_by(|f| f.name.cmp(name)) {
            Ok(i) => {
                let keys = match fields[i].list {
                    List::No => None,
                    List::Keyed(keys) => Some(keys),
                };
                let target = fields[i].target;
                self.at(if target == NONE { Place::Unknown } else { Place::Builtin(target) }, keys)
            }
            Err(_) => self.at(Place::Unknown, None),
        }
    }

    /// If this is a list that is merged: the keys its items are matched by. No keys: a set of
    /// scalars.
    pub fn merge_keys(&self) -> Option<&'s [&'s str]> {
        self.keys
    }

    /// The schema of the items of a list with this one.
    pub fn items(&self) -> Schema<'s> {
        match self.place {
            Place::Custom(node) => self.found(self.all.custom.as_ref().and_then(|custom| custom.items(node))),
            Place::OfTree(node) => self.found(self.all.of_tree.items(node).map(of_tree)),
            place => self.at(place, None),
        }
    }
}

/// The names of Kubernetes' own kinds that are known; a name that several groups or versions have
/// comes several times.
pub fn builtin_kinds() -> impl Iterator<Item = &'static str> {
    builtin::KINDS.iter().map(|(_, _, kind, _)| *kind)
}

/// Whether kustomize knows by heart if a kind has a namespace: it is one of Kubernetes' own, and
/// can be stored.
pub fn is_scope_known(gvk: &Gvk<'_>) -> bool {
    let is_call = matches!(
        (gvk.group, gvk.kind),
        ("authentication.k8s.io" | "authorization.k8s.io", _)
            | ("batch", "JobTemplate")
            | ("policy", "Eviction")
            | ("", "Binding" | "EphemeralContainers")
    );
    let are_options = matches!(
        gvk.kind,
        "NodeProxyOptions"
            | "PodAttachOptions"
            | "PodExecOptions"
            | "PodPortForwardOptions"
            | "PodProxyOptions"
            | "ServiceProxyOptions"
    );
    match builtin_place(gvk) {
        Place::Builtin(_) => !is_call,
        _ => are_options && gvk.group.is_empty() && gvk.version == "v1",
    }
}

/// Whether a kind has no namespace. Kinds that are not known have one.
pub fn is_cluster_scoped(gvk: &Gvk<'_>) -> bool {
    let stable = matches!(gvk.version, "v1" | "v1beta1");
    match gvk.kind {
        "ComponentStatus" | "Namespace" | "Node" | "NodeProxyOptions" | "PersistentVolume" => {
            gvk.group.is_empty() && gvk.version == "v1"
        }
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            gvk.group == "admissionregistration.k8s.io" && stable
        }
        "CustomResourceDefinition" => gvk.group == "apiextensions.k8s.io" && stable,
        "APIService" => gvk.group == "apiregistration.k8s.io" && stable,
        "CertificateSigningRequest" => gvk.group == "certificates.k8s.io" && stable,
        "IngressClass" => gvk.group == "networking.k8s.io" && stable,
        "RuntimeClass" => gvk.group == "node.k8s.io" && stable,
        "ClusterRole" | "ClusterRoleBinding" => gvk.group == "rbac.authorization.k8s.io" && stable,
        "PriorityClass" => gvk.group == "scheduling.k8s.io" && stable,
        "CSIDriver" | "CSINode" | "StorageClass" | "VolumeAttachment" => gvk.group == "storage.k8s.io" && stable,
        "FlowSchema" | "PriorityLevelConfiguration" => {
            gvk.group == "flowcontrol.apiserver.k8s.io" && gvk.version == "v1beta1"
        }
        "PodSecurityPolicy" => gvk.group == "policy" && gvk.version == "v1beta1",
        _ => false,
    }
}
