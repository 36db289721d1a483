//! [`Union`]: fields of Kubernetes' own kinds of which a server takes one, as the sources of a
//! volume. The descriptions of the kinds do not say so: a type is known by its fields.

use rustomize_yaml::{Entry, Mapping, Node, Value};

/// Fields that exclude each other.
#[derive(Debug)]
pub(super) struct Union {
    /// The fields by which the type is known.
    signature: &'static [&'static str],
    excluded: Excluded,
}

/// The fields of a union that exclude each other.
#[derive(Debug)]
enum Excluded {
    /// Each of these fields excludes the others.
    These(&'static [&'static str]),
    /// Each field but these excludes the others.
    AllBut(&'static [&'static str]),
    /// The first field excludes the others.
    ByFirst(&'static str, &'static [&'static str]),
    /// `rollingUpdate` goes with this type alone: any other text of `type` excludes it.
    RollingUpdate(&'static [&'static str]),
}

use Excluded::{AllBut, ByFirst, RollingUpdate, These};

const fn union(signature: &'static [&'static str], excluded: Excluded) -> Union {
    Union { signature, excluded }
}

/// The unions. A type has the first one whose signature it has.
static UNIONS: [Union; 14] = [
    // Volume
    union(&["emptyDir", "hostPath", "name", "persistentVolumeClaim"], AllBut(&["name"])),
    // PersistentVolumeSpec
    union(
        &["accessModes", "capacity", "csi", "hostPath", "nfs"],
        These(&[
            "awsElasticBlockStore",
            "azureDisk",
            "azureFile",
            "cephfs",
            "cinder",
            "csi",
            "fc",
            "flexVolume",
            "flocker",
            "gcePersistentDisk",
            "glusterfs",
            "hostPath",
            "iscsi",
            "local",
            "nfs",
            "photonPersistentDisk",
            "portworxVolume",
            "quobyte",
            "rbd",
            "scaleIO",
            "storageos",
            "vsphereVolume",
        ]),
    ),
    // VolumeProjection
    union(&["configMap", "downwardAPI", "secret", "serviceAccountToken"], AllBut(&[])),
    // EnvVar
    union(&["name", "value", "valueFrom"], These(&["value", "valueFrom"])),
    // EnvVarSource
    union(&["configMapKeyRef", "fieldRef", "resourceFieldRef", "secretKeyRef"], AllBut(&[])),
    // EnvFromSource
    union(&["configMapRef", "prefix", "secretRef"], These(&["configMapRef", "secretRef"])),
    // Probe, LifecycleHandler
    union(&["exec", "httpGet", "tcpSocket"], These(&["exec", "grpc", "httpGet", "sleep", "tcpSocket"])),
    // IngressBackend
    union(&["resource", "service"], AllBut(&[])),
    // NetworkPolicyPeer
    union(&["ipBlock", "namespaceSelector", "podSelector"], ByFirst("ipBlock", &["namespaceSelector", "podSelector"])),
    // PodDisruptionBudgetSpec
    union(&["maxUnavailable", "minAvailable", "selector"], These(&["maxUnavailable", "minAvailable"])),
    // WebhookClientConfig
    union(&["caBundle", "service", "url"], These(&["service", "url"])),
    // MetricSpec
    union(&["containerResource", "external", "object", "pods", "resource", "type"], AllBut(&["type"])),
    // PolicyRule
    union(
        &["apiGroups", "nonResourceURLs", "resourceNames", "resources", "verbs"],
        ByFirst("nonResourceURLs", &["apiGroups", "resourceNames", "resources"]),
    ),
    // DeploymentStrategy, StatefulSetUpdateStrategy, DaemonSetUpdateStrategy
    union(&["rollingUpdate", "type"], RollingUpdate(&["Recreate", "OnDelete"])),
];

/// The union of a type that has the fields which `has` knows.
pub(super) fn of_type(has: impl Fn(&str) -> bool) -> Option<&'static Union> {
    UNIONS.iter().find(|union| union.signature.iter().all(|name| has(name)))
}

/// Two fields of which a server takes one.
pub(super) struct Pair<'n, 'a> {
    /// The field whose file was read first, as that of a base.
    pub old: &'n Entry<'a>,
    pub new: &'n Entry<'a>,
}

impl Union {
    /// The first two fields of a mapping that exclude each other. O(fields).
    pub(super) fn excluded<'n, 'a>(&self, kind: &str, mapping: &'n Mapping<'a>) -> Option<Pair<'n, 'a>> {
        let set = || mapping.iter().filter(|entry| is_set(entry.value()));
        let (one, other) = match &self.excluded {
            These(fields) => two(set().filter(|entry| fields.contains(&entry.key().text()))),
            AllBut(fields) => two(set().filter(|entry| !fields.contains(&entry.key().text()))),
            ByFirst(first, others) => {
                let one = set().find(|entry| entry.key().text() == *first);
                (one, set().find(|entry| others.contains(&entry.key().text())))
            }
            // A server takes `rollingUpdate` beside `OnDelete` of a DaemonSet.
            RollingUpdate(_) if kind == "DaemonSet" => (None, None),
            RollingUpdate(types) => {
                let is_other = |entry: &&Entry<'a>| types.contains(&entry.value().scalar_text());
                let other = set().find(|entry| entry.key().text() == "type").filter(is_other);
                (set().find(|entry| entry.key().text() == "rollingUpdate"), other)
            }
        };
        let (one, other) = (one?, other?);
        let place = |entry: &Entry<'_>| entry.key().pos().max(entry.value().pos());
        let is_first = place(one) <= place(other) || matches!(self.excluded, RollingUpdate(_));
        let (old, new) = if is_first { (one, other) } else { (other, one) };
        Some(Pair { old, new })
    }
}

fn two<T>(mut items: impl Iterator<Item = T>) -> (Option<T>, Option<T>) {
    (items.next(), items.next())
}

/// Returns true for a value that counts for a server: neither a null, nor an empty text or list.
fn is_set(value: &Node<'_>) -> bool {
    match value.value() {
        Value::Scalar(scalar) => !scalar.is_null() && !scalar.text().is_empty(),
        Value::Sequence(items) => !items.is_empty(),
        Value::Mapping(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::kubernetes::Known;
    use super::super::rules::Shape;
    use super::{UNIONS, of_type};

    /// Each signature fits a type of the newest version, and no type of another meaning: the number
    /// of types is known.
    #[test]
    fn signatures_fit_types() {
        let known = Known::new(None).unwrap();
        let mut counts = [0; UNIONS.len()];
        for rule in &known.table().rules {
            if let Shape::Struct(fields) = &rule.shape
                && let Some(union) = of_type(|name| fields.field(name).is_some())
            {
                counts[UNIONS.iter().position(|other| std::ptr::eq(other, union)).unwrap()] += 1;
            }
        }
        assert!(counts.iter().all(|count| (1..=4).contains(count)), "{counts:?}");
    }
}
