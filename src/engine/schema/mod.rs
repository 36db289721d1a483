//! Knowledge about Kubernetes kinds: the cluster-scoped ones, and the lists that are merged by key.
//!
//! The tables are static data: a build that merges nothing pays nothing for them.

mod builtin;
mod custom;
pub mod gvk;

pub use custom::{Custom, Document, Types};
pub use gvk::Gvk;

use custom::Found;
use rustomize_base::meter::FastMap;
use std::sync::LazyLock;

/// No definition: no list below the field is merged by key.
const NONE: u16 = u16::MAX;

/// The fields of a definition that are keyed lists or lead to some, sorted by name.
struct Definition(&'static [Field]);

struct Field {
    name: &'static str,
    /// The definition of the value, or of the items of a list.
    target: u16,
    list: List,
}

/// The keys by which a field is merged, if the field is a list that is merged.
#[derive(Clone, Copy)]
enum List {
    No,
    Keyed(&'static [&'static str]),
}

/// The schemas that a build uses: the built-in tables, or the schema of a kustomization's `openapi`
/// in their place.
#[derive(Clone, Debug, Default)]
pub struct Schemas<'a> {
    custom: Option<Custom<'a>>,
    /// The list keys of CustomResourceDefinitions in the tree, if the build asks for them.
    of_tree: Custom<'a>,
    /// True if the built-in tables were used before a custom schema came: as upstream, both are
    /// used then.
    with_builtin: bool,
}

impl<'a> Schemas<'a> {
    /// Makes schemas of a file. If `with_builtin` is true, the built-in tables are used as well and
    /// come first.
    pub fn custom(custom: Custom<'a>, with_builtin: bool) -> Self {
        Schemas { custom: Some(custom), of_tree: Custom::default(), with_builtin }
    }

    /// Adds the list keys that a CustomResourceDefinition in the tree names. If two definitions
    /// describe one kind, the first counts. O(size of the document).
    pub fn add_of_tree(&mut self, definition: &Document<'a>) {
        self.of_tree.add(definition);
    }

    /// The schema without knowledge: every list is replaced as a whole.
    pub fn unknown(&self) -> Schema<'_> {
        Schema { all: self, place: Place::Unknown, keys: None }
    }

    /// The schema of a kind; it is empty for an unknown kind. O(log kinds).
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

    /// The built-in schema of a kind for which an `openapi` file gives none: the file takes the
    /// place of the built-in tables, so that lists of the kind are replaced. O(log kinds).
    pub fn hidden(&self, gvk: &Gvk<'_>) -> Option<Schema<'_>> {
        if self.custom.is_none() || !self.of(gvk).is_unknown() {
            return None;
        }
        let place = builtin_place(gvk);
        (place != Place::Unknown).then_some(Schema { all: self, place, keys: None })
    }

    /// Returns true if a custom schema says that a kind is cluster-scoped.
    pub fn is_cluster_scoped(&self, gvk: &Gvk<'_>) -> bool {
        self.custom.as_ref().is_some_and(|custom| custom.is_cluster_scoped(gvk))
    }
}

/// Changes the place of a schema object to one in the table of CustomResourceDefinitions in the
/// tree.
fn of_tree(found: Found<'_>) -> Found<'_> {
    match found.place {
        Place::Custom(node) => Found { place: Place::OfTree(node), ..found },
        _ => found,
    }
}

fn builtin_place(wanted: &Gvk<'_>) -> Place {
    let &Gvk { group, version, kind } = wanted;
    if (group, version, kind) == ("kustomize.config.k8s.io", "v1beta1", "Kustomization") {
        return Place::Kustomization;
    }
    let compare = |(g, v, k, _): &(&str, &str, &str, u16)| {
        gvk::compare_texts(g, group).then_with(|| (*v, *k).cmp(&(version, kind)))
    };
    match builtin::KINDS.binary_search_by(compare) {
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
    /// `Kustomization`, the only kind of kustomize in upstream's schema.
    Kustomization,
}

/// A place in the schema, with the knowledge about a value. It moves along with a patch and the
/// resource.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'s> {
    all: &'s Schemas<'s>,
    place: Place,
    keys: Option<&'s [&'s str]>,
}

impl<'s> Schema<'s> {
    /// Returns true if nothing is known about the value and the values below it.
    pub fn is_unknown(&self) -> bool {
        self.place == Place::Unknown && self.keys.is_none()
    }

    /// The schema of a kind, for use where this one is unknown.
    pub fn of(&self, gvk: &Gvk<'_>) -> Schema<'s> {
        self.all.of(gvk)
    }

    fn at(&self, place: Place, keys: Option<&'s [&'s str]>) -> Schema<'s> {
        Schema { all: self.all, place, keys }
    }

    fn found(&self, found: Option<Found<'s>>) -> Schema<'s> {
        found.map_or(self.at(Place::Unknown, None), |found| self.at(found.place, found.keys))
    }

    /// The schema of a field of a mapping that has this schema. O(log fields).
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

    /// The keys by which the items of this list are matched, if it is a list that is merged. An
    /// empty list of keys means a set of scalars.
    pub fn merge_keys(&self) -> Option<&'s [&'s str]> {
        self.keys
    }

    /// The schema of the items of a list that has this schema.
    pub fn items(&self) -> Schema<'s> {
        match self.place {
            Place::Custom(node) => self.found(self.all.custom.as_ref().and_then(|custom| custom.items(node))),
            Place::OfTree(node) => self.found(self.all.of_tree.items(node).map(of_tree)),
            place => self.at(place, None),
        }
    }
}

/// The names of Kubernetes' own kinds that are known. A name occurs once for each of its groups and
/// versions.
pub fn builtin_kinds() -> impl Iterator<Item = &'static str> {
    builtin::KINDS.iter().map(|(_, _, kind, _)| *kind)
}

/// Kubernetes' own kinds, each with its groups.
static GROUPS: LazyLock<FastMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut groups: FastMap<&str, Vec<&str>> = FastMap::default();
    builtin::KINDS.iter().for_each(|(group, _, kind, _)| groups.entry(*kind).or_default().push(*group));
    groups
});

/// The groups that have one of Kubernetes' own kinds, in any version; none for other kinds. O(1).
pub fn builtin_groups(kind: &str) -> &'static [&'static str] {
    GROUPS.get(kind).map_or(&[], Vec::as_slice)
}

/// The newest stable apiVersion of one of Kubernetes' own kinds; `None` for a kind that several
/// groups have, or that has none.
pub fn newest_version(kind: &str) -> Option<String> {
    let is_stable = |version: &str| version.strip_prefix('v').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let mut versions = builtin::KINDS.iter().filter(|(_, version, known, _)| *known == kind && is_stable(version));
    let (group, version, ..) = versions.by_ref().last()?;
    let mut groups = builtin::KINDS.iter().filter(|(_, _, known, _)| *known == kind).map(|(group, ..)| *group);
    let is_only = groups.all(|other| other == *group || matches!(other, "extensions" | "events.k8s.io"));
    is_only.then(|| if group.is_empty() { (*version).to_owned() } else { format!("{group}/{version}") })
}

/// Returns true for a label of DNS of any length, as the names of Namespaces are.
pub fn is_label(bytes: &[u8]) -> bool {
    let is_alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    bytes.first().is_some_and(is_alphanumeric)
        && bytes.last().is_some_and(is_alphanumeric)
        && bytes.iter().all(|b| is_alphanumeric(b) || *b == b'-')
}

/// The most bytes of a key in the data of a ConfigMap or Secret.
pub const LONGEST_DATA_KEY: usize = 253;

/// Returns true if Kubernetes takes a text as a key in the data of a ConfigMap or Secret: it is the
/// name of a file in a volume.
pub fn is_data_key(text: &str) -> bool {
    let has_length = (1..=LONGEST_DATA_KEY).contains(&text.len());
    has_length && text.chars().all(is_of_data_key) && text != "." && !text.starts_with("..")
}

/// Returns true for a character that such a key may have.
pub fn is_of_data_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Returns true if kustomize knows, without a custom schema, whether a kind has a namespace. This
/// holds for Kubernetes' own kinds of objects that can be stored.
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

/// Returns true for the kinds of admission policies, whose scope kustomize knows since v5.8.2.
pub fn is_admission_policy(gvk: &Gvk<'_>) -> bool {
    (gvk.group, gvk.version) == ("admissionregistration.k8s.io", "v1")
        && matches!(gvk.kind, "ValidatingAdmissionPolicy" | "ValidatingAdmissionPolicyBinding")
}

/// Returns true if a kind is cluster-scoped. Unknown kinds are assumed to be namespaced.
pub fn is_cluster_scoped(gvk: &Gvk<'_>) -> bool {
    let stable = matches!(gvk.version, "v1" | "v1beta1");
    match gvk.kind {
        "ComponentStatus" | "Namespace" | "Node" | "NodeProxyOptions" | "PersistentVolume" => {
            gvk.group.is_empty() && gvk.version == "v1"
        }
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            gvk.group == "admissionregistration.k8s.io" && stable
        }
        "ValidatingAdmissionPolicy" | "ValidatingAdmissionPolicyBinding" => is_admission_policy(gvk),
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
