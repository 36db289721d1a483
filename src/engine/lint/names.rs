//! Names and labels that Kubernetes refuses.

use super::finding::finding;
use super::parts::Parts;
use crate::diag::{Code, Warning, is_placeholder};
use crate::schema::is_label;
use rustomize_yaml::Node;
use rustomize_yaml::scalar::Kind;

/// The form of a name.
#[derive(Clone, Copy)]
enum Form {
    /// Labels with dots between them, of at most this many characters (RFC 1123).
    Subdomain(usize),
    /// One label (RFC 1123).
    Label,
    /// One label that begins with a letter (RFC 1035).
    LetterLabel,
    /// A part of a path: no slash and no percent sign.
    PathPart,
}

/// The most characters of a subdomain, and of a label.
const LONGEST: usize = 253;
const LONGEST_LABEL: usize = 63;

/// The form of the names of a kind; `None` for kinds that are not known here.
fn form(group: &str, kind: &str) -> Option<Form> {
    let subdomain = Some(Form::Subdomain(LONGEST));
    match (group, kind) {
        ("", "Namespace") => Some(Form::Label),
        ("", "Service") => Some(Form::LetterLabel),
        ("batch", "CronJob") => Some(Form::Subdomain(52)),
        ("batch", "Job") => Some(Form::Subdomain(LONGEST_LABEL)),
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding") => {
            Some(Form::PathPart)
        }
        (
            "",
            "ConfigMap"
            | "Secret"
            | "ServiceAccount"
            | "Pod"
            | "PersistentVolume"
            | "PersistentVolumeClaim"
            | "ResourceQuota"
            | "LimitRange"
            | "ReplicationController"
            | "Endpoints"
            | "PodTemplate",
        )
        | ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("networking.k8s.io", "Ingress" | "IngressClass" | "NetworkPolicy")
        | ("autoscaling", "HorizontalPodAutoscaler")
        | ("policy", "PodDisruptionBudget")
        | ("storage.k8s.io", "StorageClass")
        | ("scheduling.k8s.io", "PriorityClass")
        | ("apiextensions.k8s.io", "CustomResourceDefinition")
        | ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
            subdomain
        }
        _ => None,
    }
}

impl Form {
    fn has(self, name: &str) -> bool {
        match self {
            Form::Subdomain(longest) => name.len() <= longest && name.as_bytes().split(|b| *b == b'.').all(is_label),
            Form::Label => name.len() <= LONGEST_LABEL && is_label(name.as_bytes()),
            Form::LetterLabel => Form::Label.has(name) && name.starts_with(|c: char| c.is_ascii_lowercase()),
            Form::PathPart => !matches!(name, "." | "..") && !name.contains(['/', '%']),
        }
    }

    fn rule(self) -> String {
        let letters = "lower case letters, digits and '-', and begins and ends with a letter or digit";
        match self {
            Form::Subdomain(LONGEST) => {
                "a name has lower case letters, digits, '-' and '.', and begins and ends with a letter or digit"
                    .to_owned()
            }
            Form::Subdomain(longest) => format!("a name of this kind has at most {longest} characters: {letters}"),
            Form::Label => format!("a name of this kind has at most {LONGEST_LABEL} {letters}"),
            Form::LetterLabel => {
                format!("the name of a Service has at most {LONGEST_LABEL} {letters}, the first a letter")
            }
            Form::PathPart => "a name of this kind has no '/' and no '%', and is not '.' or '..'".to_owned(),
        }
    }
}

/// A namespace that Kubernetes refuses, or a name that it refuses for its kind.
pub(super) fn bad_name(parts: &Parts<'_, '_>) -> Option<Warning> {
    let id = parts.resource.id();
    if !id.namespace.is_empty() && !Form::Label.has(id.namespace) && !is_placeholder(id.namespace) {
        let message = format!("Kubernetes refuses the namespace '{}'", id.namespace);
        let at = parts.metadata?.get("namespace")?;
        return Some(finding(Code::BadName, parts.resource, at, message).hint(Form::Label.rule()));
    }
    let form = form(id.gvk.group, id.gvk.kind)?;
    if form.has(id.name) || is_placeholder(id.name) {
        return None;
    }
    let message = format!("Kubernetes refuses the name '{}'", id.name);
    Some(finding(Code::BadName, parts.resource, parts.metadata?.get("name")?, message).hint(form.rule()))
}

/// The first label of a resource, of its pods or of its selector that Kubernetes refuses, or the
/// first annotation with a key that it refuses.
pub(super) fn bad_label(parts: &Parts<'_, '_>) -> Option<Warning> {
    let all_metadata = || [parts.metadata, parts.metadata_of_pods()].into_iter().flatten();
    let labels = all_metadata().filter_map(|metadata| metadata.get("labels"));
    let found = labels.chain(selector(parts)).find_map(refused);
    let of_annotations =
        || all_metadata().filter_map(|metadata| metadata.get("annotations")).find_map(refused_annotation);
    let (at, message, hint) = found.or_else(of_annotations)?;
    Some(finding(Code::BadLabel, parts.resource, at, message).hint(hint))
}

/// The labels that a resource selects.
fn selector<'n, 'a>(parts: &Parts<'n, 'a>) -> Option<&'n Node<'a>> {
    let gvk = parts.resource.id().gvk;
    match (gvk.group, gvk.kind) {
        ("", "Service" | "ReplicationController") => parts.spec?.get("selector"),
        ("apps", _) | ("policy", "PodDisruptionBudget") => parts.spec?.get("selector")?.get("matchLabels"),
        _ => None,
    }
}

/// The first key or value that Kubernetes refuses, with a message and a hint.
fn refused<'n, 'a>(labels: &'n Node<'a>) -> Option<(&'n Node<'a>, String, &'static str)> {
    labels.as_mapping()?.iter().find_map(|entry| {
        let (key, value) = (entry.key().text(), entry.value());
        let scalar = value.as_scalar()?;
        let (message, hint) = if !is_label_key(key) {
            (format!("Kubernetes refuses '{key}' as the key of a label"), KEY_RULE)
        } else if matches!(scalar.kind(), Kind::Int | Kind::Float | Kind::Bool) {
            (format!("the value of the label '{key}' is not a text"), "put quotes around the value")
        } else if !scalar.is_null() && !is_label_value(scalar.text()) {
            (
                format!("Kubernetes refuses the value of the label '{key}'"),
                "a value has at most 63 letters, digits, '-', '_' and '.', and begins and ends with a letter or digit",
            )
        } else {
            return None;
        };
        (!is_placeholder(key) && !is_placeholder(scalar.text())).then_some((value, message, hint))
    })
}

/// The first key of an annotation that Kubernetes refuses, with a message and a hint.
fn refused_annotation<'n, 'a>(annotations: &'n Node<'a>) -> Option<(&'n Node<'a>, String, &'static str)> {
    // Kubernetes does not look at the case of these keys.
    let is_good =
        |key: &str| is_label_key(key) || key == "-" || is_placeholder(key) || is_label_key(&key.to_ascii_lowercase());
    let entry = annotations.as_mapping()?.iter().find(|entry| !is_good(entry.key().text()))?;
    let message = format!("Kubernetes refuses '{}' as the key of an annotation", entry.key().text());
    Some((entry.value(), message, KEY_RULE))
}

/// The form of the keys of labels and annotations.
const KEY_RULE: &str = "a key has at most 63 letters, digits, '-', '_' and '.', and may have a domain and '/' in front";

fn is_label_key(key: &str) -> bool {
    // Most keys are a name alone, without a domain and `/` in front of it.
    is_label_name(key)
        || key.split_once('/').is_some_and(|(domain, name)| Form::Subdomain(LONGEST).has(domain) && is_label_name(name))
}

fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_label_name(value)
}

fn is_label_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.len() <= LONGEST_LABEL
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().copied().all(is_in_labels)
}

/// Returns true for a byte that a label, or a part of the name of an image, may have inside: a
/// letter, a digit, `-`, `_` or `.`.
pub(super) fn is_in_labels(byte: u8) -> bool {
    IN_LABELS[usize::from(byte)]
}

const IN_LABELS: [bool; 256] = {
    let mut table = [false; 256];
    let mut b: u8 = 0;
    while b < 128 {
        table[b as usize] = b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        b += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (form, good, bad) in [
            (Form::Subdomain(LONGEST), ["a.b-c", "0"], ["a..b", "-a"]),
            (Form::Subdomain(3), ["abc", "a.b"], ["abcd", "A"]),
            (Form::Label, ["a-b", "0a"], ["a.b", "a_b"]),
            (Form::LetterLabel, ["a0", "a"], ["0a", "a.b"]),
            (Form::PathPart, ["system:A_b", "a b"], ["a/b", ".."]),
        ] {
            assert!(good.iter().all(|name| form.has(name)) && !bad.iter().any(|name| form.has(name)), "{good:?}");
        }
    }

    #[test]
    fn labels() {
        let long = "a".repeat(64);
        for key in ["a", "example.com/A_b.c-d", "a/b"] {
            assert!(is_label_key(key), "{key}");
        }
        for key in ["", "/a", "a/", "a/b/c", "A.com/b", "a b", "-a", long.as_str()] {
            assert!(!is_label_key(key), "{key}");
        }
        assert!(is_label_value("") && is_label_value("v1.2_x") && !is_label_value("a/b") && !is_label_value(&long));
    }
}
