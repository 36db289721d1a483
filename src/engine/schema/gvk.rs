//! Group, version and kind, and the order of kinds.

use rustomize_base::meter;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Group, version and kind.
#[derive(Clone, Copy, Debug, Eq, Default, PartialOrd, Ord)]
pub struct Gvk<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub kind: &'a str,
}

impl<'a> Gvk<'a> {
    /// Splits an apiVersion at its first slash; a text without a slash is the version.
    pub fn new(api_version: &'a str, kind: &'a str) -> Self {
        // An empty group, too, lies in memory: see `is_same`.
        let (group, version) = api_version.split_once('/').unwrap_or((&api_version[..0], api_version));
        Gvk { group, version, kind }
    }

    /// Returns false if [`Gvk::new`] may have split an apiVersion that begins with its slash: group
    /// and version are then two places of the text.
    pub fn is_whole(&self) -> bool {
        std::ptr::eq(self.group.as_ptr(), self.version.as_ptr())
    }

    /// Returns true if [`Gvk::new`] has made this of the same two texts in memory. `false` says
    /// nothing.
    pub fn is_made_of(&self, api_version: &str, kind: &str) -> bool {
        let (first, length) = match self.group {
            "" => (self.version, self.version.len()),
            group => (group, group.len() + 1 + self.version.len()),
        };
        std::ptr::eq(self.kind, kind)
            && std::ptr::eq(first.as_ptr(), api_version.as_ptr())
            && length == api_version.len()
    }

    /// Returns true if each part of `self` is empty or equal to the part of `other`. Field specs
    /// and targets select kinds in this way.
    pub fn selects(&self, other: &Gvk<'_>) -> bool {
        meter::count(1);
        let part = |mine: &str, theirs: &str| mine.is_empty() || mine == theirs;
        part(self.kind, other.kind) && part(self.group, other.group) && part(self.version, other.version)
    }
}

impl PartialEq for Gvk<'_> {
    fn eq(&self, other: &Self) -> bool {
        is_same(self.kind, other.kind) && is_same(self.version, other.version) && is_same(self.group, other.group)
    }
}

impl Hash for Gvk<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, self.version, self.group).hash(state);
    }
}

/// Prints `apps/v1 Deployment`, and `Service` without the `v1` that Kubernetes' own kinds have.
impl fmt::Display for Gvk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.group, self.version) {
            ("", "" | "v1") => {}
            ("", version) => write!(f, "{version} ")?,
            (group, "") => write!(f, "{group} ")?,
            (group, version) => write!(f, "{group}/{version} ")?,
        }
        f.write_str(or(self.kind, "object"))
    }
}

/// Returns true if two texts are equal. Two references to the same memory are equal without a read:
/// the texts of identities are rarely in the processor's cache. Empty texts are not read either:
/// where Rust says that `""` is, there is no memory, and glibc on a processor with AVX-512 takes 80
/// nanoseconds to find two of them equal.
#[inline]
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.is_empty() || std::ptr::eq(a, b) || a == b)
}

/// The order of two texts. As [`is_same`], it does not read empty ones.
pub(super) fn compare_texts(a: &str, b: &str) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}

/// The text, or `instead` if it is empty.
pub fn or<'t>(text: &'t str, instead: &'t str) -> &'t str {
    if text.is_empty() { instead } else { text }
}

/// Kinds that come first, in this order.
const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

/// Kinds that come last, in this order.
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// The rank of a kind in the default legacy order, in which field specs are sorted as well.
pub fn legacy_rank(kind: &str) -> i32 {
    rank(kind, &FIRST, &LAST)
}

pub(crate) fn rank(kind: &str, first: &[&str], last: &[&str]) -> i32 {
    if let Some(k) = last.iter().rposition(|l| *l == kind) {
        return 1 + k as i32;
    }
    first.iter().rposition(|f| *f == kind).map_or(0, |k| k as i32 - first.len() as i32)
}

/// Compares `group_version_kind`, with `~` words for empty parts, so that core kinds come after all
/// groups. If `reverse_namespaces` is true, two Namespaces compare the other way round if one of
/// them is in the core group.
pub(crate) fn compare_gvk(a: &Gvk<'_>, b: &Gvk<'_>, reverse_namespaces: bool) -> Ordering {
    let text = |g: &Gvk<'_>| format!("{}_{}_{}", or(g.group, "~G"), or(g.version, "~V"), or(g.kind, "~K"));
    let order = text(a).cmp(&text(b));
    let core_namespaces = a.kind == "Namespace" && b.kind == "Namespace" && (a.group.is_empty() || b.group.is_empty());
    if core_namespaces && reverse_namespaces { order.reverse() } else { order }
}

/// Compares two kinds as field specs are sorted: by legacy rank, then by text.
pub fn compare_kinds(a: &Gvk<'_>, b: &Gvk<'_>) -> Ordering {
    legacy_rank(a.kind).cmp(&legacy_rank(b.kind)).then_with(|| compare_gvk(a, b, true))
}
