//! What is known of Kubernetes kinds: which are cluster-scoped, and which of their lists are merged by key.
//!
//! The tables are static data: a build that merges nothing pays nothing for them.

mod builtin;

use crate::resource::Gvk;

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

/// A place in the schema: what is known about a value. Walks a patch along with the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    definition: u16,
    keys: Option<&'static [&'static str]>,
}

impl Schema {
    /// Nothing is known: lists are replaced as a whole.
    pub const UNKNOWN: Schema = Schema { definition: NONE, keys: None };

    /// The schema of a kind of Kubernetes 1.21; unknown kinds have none. O(log kinds).
    pub fn of(gvk: &Gvk<'_>) -> Schema {
        if (gvk.group, gvk.version, gvk.kind) == ("kustomize.config.k8s.io", "v1beta1", "Kustomization") {
            return Schema { definition: KUSTOMIZATION, keys: None };
        }
        let wanted = (gvk.group, gvk.version, gvk.kind);
        match builtin::KINDS.binary_search_by(|(g, v, k, _)| (*g, *v, *k).cmp(&wanted)) {
            Ok(i) => Schema { definition: builtin::KINDS[i].3, keys: None },
            Err(_) => Schema::UNKNOWN,
        }
    }

    /// Whether nothing is known from here on.
    pub fn is_unknown(&self) -> bool {
        self.definition == NONE && self.keys.is_none()
    }

    /// The schema of a field of a mapping with this one. O(log fields).
    pub fn field(&self, name: &str) -> Schema {
        if self.definition == KUSTOMIZATION {
            let keyed = matches!(name, "configMapGenerator" | "secretGenerator");
            return Schema { definition: NONE, keys: keyed.then_some(&["name"]) };
        }
        let Some(Definition(fields)) = builtin::DEFINITIONS.get(usize::from(self.definition)) else {
            return Schema::UNKNOWN;
        };
        match fields.binary_search_by(|f| f.name.cmp(name)) {
            Ok(i) => {
                let keys = match fields[i].list {
                    List::No => None,
                    List::Keyed(keys) => Some(keys),
                };
                Schema { definition: fields[i].target, keys }
            }
            Err(_) => Schema::UNKNOWN,
        }
    }

    /// If this is a list that is merged: the keys its items are matched by. No keys: a set of scalars.
    pub fn merge_keys(&self) -> Option<&'static [&'static str]> {
        self.keys
    }

    /// The schema of the items of a list with this one.
    pub fn items(&self) -> Schema {
        Schema { definition: self.definition, keys: None }
    }
}

/// The one kind of kustomize's own that upstream's schema holds.
const KUSTOMIZATION: u16 = u16::MAX - 1;

/// Whether a kind has no namespace (facts/behaviour-c.md, 2.3). Kinds that are not known have one.
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
