//! Identity: [`ResId`] and the [`PreviousId`]s a resource has had.

use crate::schema::gvk::is_same;
use crate::schema::{self, Gvk};
use rustomize_base::meter;
use std::fmt;

/// The namespace of cluster-scoped kinds in comparisons.
pub const NOT_NAMESPACED: &str = "_non_namespaceable_";

/// The namespace, in comparisons, of a resource that does not name one.
pub const DEFAULT_NAMESPACE: &str = "default";

/// The namespace of a resource that names none: an empty text. Unlike `""` it lies in memory, so
/// that comparing it is not slow: see `is_same`.
pub(super) const UNNAMED: &str = DEFAULT_NAMESPACE.split_at(0).0;

/// The identity of a resource. Two ids are equal if group, version, kind, name and *effective*
/// namespace are.
///
#[derive(Clone, Copy, Debug, Default)]
pub struct ResId<'a> {
    pub gvk: Gvk<'a>,
    pub name: &'a str,
    /// As written; empty if it is missing.
    pub namespace: &'a str,
    effective: &'a str,
}

impl<'a> ResId<'a> {
    /// Makes an id; the effective namespace follows from the kind and from `namespace`.
    pub fn new(gvk: Gvk<'a>, name: &'a str, namespace: &'a str) -> Self {
        let effective = if schema::is_cluster_scoped(&gvk) { NOT_NAMESPACED } else { or_default(namespace) };
        ResId { gvk, name, namespace, effective }
    }

    /// The same kind, in the same scope, with another name and namespace.
    pub fn renamed(&self, name: &'a str, namespace: &'a str) -> Self {
        if self.namespace == NOT_NAMESPACED {
            return ResId::new(self.gvk, name, namespace);
        }
        let effective = if self.is_cluster_scoped() { NOT_NAMESPACED } else { or_default(namespace) };
        ResId { gvk: self.gvk, name, namespace, effective }
    }

    /// The same id for a kind whose scope the built-in tables do not say.
    pub fn in_scope(self, scope: Scope) -> Self {
        let effective = match scope {
            Scope::Cluster => NOT_NAMESPACED,
            Scope::Namespace => or_default(self.namespace),
        };
        ResId { effective, ..self }
    }

    /// The namespace that is used in comparisons: a constant for cluster-scoped kinds, `default` if
    /// the resource names none.
    pub fn effective_namespace(&self) -> &'a str {
        self.effective
    }

    /// Returns true if the kind is cluster-scoped.
    pub fn is_cluster_scoped(&self) -> bool {
        std::ptr::eq(self.effective, NOT_NAMESPACED) || self.effective == NOT_NAMESPACED
    }
}

/// Where the objects of a kind are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Cluster,
    Namespace,
}

/// The namespace of a resource that is in one.
fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() { DEFAULT_NAMESPACE } else { namespace }
}

impl PartialEq for ResId<'_> {
    fn eq(&self, other: &Self) -> bool {
        meter::count(1);
        is_same(self.name, other.name) && self.gvk == other.gvk && is_same(self.effective, other.effective)
    }
}

impl Eq for ResId<'_> {}

impl std::hash::Hash for ResId<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.gvk.kind.hash(state);
        self.effective.hash(state);
    }
}

/// Prints `apps/v1 Deployment namespace/name`; parts that are empty are left out.
impl fmt::Display for ResId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.namespace, self.name) {
            (_, "") => write!(f, "{}", self.gvk),
            ("", name) => write!(f, "{} {name}", self.gvk),
            (namespace, name) => write!(f, "{} {namespace}/{name}", self.gvk),
        }
    }
}

/// A name a resource had before a step changed it. Group and version are always the current ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviousId<'a> {
    pub kind: &'a str,
    pub name: &'a str,
    /// The effective namespace of that moment.
    pub namespace: &'a str,
}
