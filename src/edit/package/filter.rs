//! The steps of `cfg cat`: which resources are shown, and the order of their fields.

use super::Item;
use super::annotations;
use crate::diag::{Code, Error, Result};
use rustomize_yaml::noted::{Noted, Shape};

/// The annotation of resources that are not for the cluster.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

/// The annotation that says how a resource is formatted.
const FORMATTING: &str = "config.kubernetes.io/formatting";

/// The choice of resources by the annotation of those that are not for the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalChoice {
    /// True if resources with the annotation are shown.
    pub with_local: bool,
    /// True if resources without the annotation are left out.
    pub without_others: bool,
}

/// Leaves out the resources that are not shown.
pub fn local<'a>(mut items: Vec<Item<'a>>, which: LocalChoice) -> Vec<Item<'a>> {
    items.retain(|item| match annotations::has(item, LOCAL_CONFIG) {
        true => which.with_local,
        false => !which.without_others,
    });
    items
}

/// The fields of resources in the order in which people write them.
const ORDER: [&str; 112] = [
    "name",
    "generateName",
    "namespace",
    "clusterName",
    "apiVersion",
    "kind",
    "metadata",
    "type",
    "labels",
    "annotations",
    "spec",
    "status",
    "stringData",
    "data",
    "binaryData",
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "replicas",
    "selector",
    "manualSelector",
    "template",
    "ttlSecondsAfterFinished",
    "volumeClaimTemplates",
    "service",
    "serviceName",
    "podManagementPolicy",
    "updateStrategy",
    "strategy",
    "minReadySeconds",
    "revision",
    "revisionHistoryLimit",
    "paused",
    "progressDeadlineSeconds",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "dnsPolicy",
    "serviceAccountName",
    "serviceAccount",
    "automountServiceAccountToken",
    "nodeName",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "hostname",
    "subdomain",
    "schedulerName",
    "priorityClassName",
    "priority",
    "runtimeClassName",
    "enableServiceLinks",
    "nodeSelector",
    "hostAliases",
    "initContainers",
    "containers",
    "volumes",
    "securityContext",
    "imagePullSecrets",
    "affinity",
    "tolerations",
    "dnsConfig",
    "readinessGates",
    "image",
    "command",
    "args",
    "workingDir",
    "ports",
    "envFrom",
    "env",
    "resources",
    "volumeMounts",
    "volumeDevices",
    "livenessProbe",
    "readinessProbe",
    "lifecycle",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "securityContext",
    "stdin",
    "stdinOnce",
    "tty",
    "clusterIP",
    "externalIPs",
    "loadBalancerIP",
    "loadBalancerSourceRanges",
    "externalName",
    "externalTrafficPolicy",
    "sessionAffinity",
    "protocol",
    "port",
    "targetPort",
    "hostPort",
    "containerPort",
    "hostIP",
    "readOnly",
    "mountPath",
    "subPath",
    "subPathExpr",
    "mountPropagation",
    "value",
    "valueFrom",
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "prefix",
    "configMapRef",
    "secretRef",
];

/// The place of a field in the order; `None` for a field that comes after all these fields. A field
/// that is listed twice has its last place.
pub fn place(field: &str) -> Option<usize> {
    ORDER.iter().rposition(|known| *known == field)
}

/// Compares the names of two fields: fields of the order first, all others by name.
pub fn compare(a: &str, b: &str) -> std::cmp::Ordering {
    match (place(a), place(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// The kinds and versions of resources whose lists are sorted.
const SORTED_KINDS: [&str; 7] =
    ["CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet", "ValidatingWebhookConfiguration"];
const SORTED_VERSIONS: [&str; 8] = [
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "batch/v1",
    "batch/v1beta1",
    "extensions/v1beta1",
    "v1",
    "admissionregistration.k8s.io/v1",
];

/// Sorts the fields of a resource, and lists whose order means nothing. A document without kind or
/// version stays as it is.
///
/// # Errors
/// The annotation that says how it is formatted has another value than `standard` and `none`.
pub fn format(item: &mut Item<'_>) -> Result<()> {
    let root = item.root();
    let formatting = root.get("metadata").and_then(|m| m.get("annotations")).and_then(|a| a.get(FORMATTING));
    match formatting.map(Noted::value) {
        None | Some("standard") => {}
        Some("none") => return Ok(()),
        Some(other) => {
            let fault = format!("formatting annotation has illegal value {other}");
            return Err(Error::new(Code::BadValue, fault));
        }
    }
    let (Some(kind), Some(version)) = (root.get("kind"), root.get("apiVersion")) else { return Ok(()) };
    let is_sorted = SORTED_KINDS.contains(&kind.value()) && SORTED_VERSIONS.contains(&version.value());
    sort(&mut item.document.root, "", is_sorted);
    Ok(())
}

fn sort(node: &mut Noted<'_>, path: &str, is_sorted: bool) {
    match &mut node.shape {
        Shape::Scalar(_) | Shape::Alias(_) => {}
        Shape::Mapping { entries, .. } => {
            entries.sort_by(|(a, _), (b, _)| compare(a.value(), b.value()));
            for (key, value) in entries {
                sort(value, &format!("{path}.{}", key.value()), is_sorted);
            }
        }
        Shape::Sequence { items, .. } => {
            match path {
                ".spec.template.spec.containers" if is_sorted => {
                    items.sort_by_key(|item| item.get("name").map(Noted::value).unwrap_or_default());
                }
                ".webhooks.rules.operations" if is_sorted => items.sort_by_key(Noted::value),
                _ => {}
            }
            items.iter_mut().for_each(|item| sort(item, path, is_sorted));
        }
    }
}
